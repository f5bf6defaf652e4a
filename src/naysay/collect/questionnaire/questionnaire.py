"""A questionnaire: its items, its canonical JSON, what it asks in order, and its fingerprint."""

from __future__ import annotations

import contextlib
import hashlib
import json
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Annotated, Any, Literal, Union

from pydantic import Field, GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema

from naysay.collect.questionnaire.expressions import Answer, Apply, Expression, Value
from naysay.collect.questionnaire.kinds import KINDS, Lot, list_kind
from naysay.collect.questionnaire.questions import (
    Arm,
    BaseItem,
    Choice,
    Constraint,
    Kind,
    Label,
    Model,
    Name,
    Practice,
    Question,
    in_languages,
)
from naysay.errors import DataError
from naysay.files.codebook import arm_words

_TAG = r"^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))?$"
"""Language, script, region and variant: browsers take all of these as a language."""

TEXTS = ("about", "contact", "thanks")
"""The texts of a questionnaire beside its title; any of them may be left out."""


def canonical(value: object) -> bytes:
    """A value as canonical JSON: keys sorted, no spaces, UTF-8.

    Examples
    --------
    >>> canonical({"b": 1, "a": "é"}) == '{"a":"é","b":1}'.encode()
    True
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


class Note(BaseItem):
    """A text that asks nothing.

    Examples
    --------
    >>> Note(name="thanks", label={"en": "Nearly there."}).kind
    'note'
    """

    kind: Literal["note"] = "note"


class _OneOfKinds:
    """Makes pydantic look up the kinds when it builds a model, so that a kind can be added later."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        kind_union: Any = Union[(*KINDS.values(), Note, Group)]
        return handler.generate_schema(Annotated[kind_union, Field(discriminator="kind")])


class Group(BaseItem):
    """Items under one heading, asked together or not at all.

    Examples
    --------
    >>> note = Note(name="intro", label={"en": "About you"})
    >>> len(Group(name="you", label={"en": "You"}, items=(note,)).items)
    1
    """

    kind: Literal["group"] = "group"
    items: tuple[Item, ...]


Item = Annotated[Question | Note | Group, _OneOfKinds()]

Group.model_rebuild()


class Questionnaire(Model):
    """What respondents are asked, in every language, and how private each answer is.

    Parameters
    ----------
    name : str
        The name in links, files and on the command line.
    title, about, contact, thanks : {language: text}
        What it is called, why it is asked and by whom, whom to turn to, and what is said at the end.
    languages : tuple of str
        BCP 47 tags; every label has a text in each language, and the first is the default.
    items : tuple of questions, notes and groups
        The items, in the order in which they are asked.
    practice : bool or Practice
        Whether a harmless question comes before the first private one, so that respondents can try a private answer. It
        is the page's own ("In which season were you born?"), or another. Nothing of it is sent.
    arms : tuple of Arm
        Groups into which the device puts respondents by lot; empty where all are asked the same.
    strata : str, optional
        The plain question within whose answers arms are compared; all answer it before the arms differ.
    measured : {measure: object}
        The JSON form of the design that several questions, each in its arm, make together, where it is not
        ``samples`` of their own designs: see `measurements`.

    Examples
    --------
    >>> from naysay.collect.questionnaire import Text
    >>> item = Text(name="remarks", label={"en": "Anything else?"})
    >>> form = Questionnaire(name="short", title={"en": "Short"}, languages=("en",), items=(item,))
    >>> [question.name for question in form.questions], len(form.fingerprint)
    (['remarks'], 64)
    """

    naysay: Literal["questionnaire"] = "questionnaire"
    version: Literal[1] = 1
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=64)]
    title: Label
    about: Label = Field(default_factory=dict)
    contact: Label = Field(default_factory=dict)
    thanks: Label = Field(default_factory=dict)
    languages: tuple[Annotated[str, Field(pattern=_TAG)], ...]
    items: tuple[Item, ...]
    # the page's own is not written, so that old fingerprints stay
    practice: bool | Practice = Field(True, exclude_if=lambda practice: practice is True)
    arms: tuple[Arm, ...] = Field((), exclude_if=operator.not_)
    strata: Name | None = Field(None, exclude_if=operator.not_)
    measured: dict[Name, dict[str, Any]] = Field({}, exclude_if=operator.not_)

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions in order, those in groups included; notes are left out. Before them stands what lot draws."""
        return tuple(question for question, _ in self.questions_with_conditions)

    @property
    def asked(self) -> tuple[Question, ...]:
        """The questions that people answer: all but what lot draws."""
        return tuple(question for question in self.questions if not isinstance(question, Lot))

    @cached_property
    def questions_with_conditions(self) -> tuple[tuple[Question, tuple[Expression, ...]], ...]:
        """Each question with the conditions under which it is asked: its own, those of its arms, and of its groups."""
        arm_choices = tuple(
            Choice(name=arm.name, label=dict.fromkeys(self.languages, arm_words(arm.name))) for arm in self.arms
        )
        arm_lot = Lot(
            name=ARM,
            label=self._lot_label(_ARM_LABEL),
            choices=arm_choices,
            weights=tuple(arm.share for arm in self.arms),
            required=True,
        )
        first: list[tuple[Question, tuple[Expression, ...]]] = [(arm_lot, ())] if self.arms else []
        return (*first, *self._conditioned(self.items, ()))

    def _conditioned(
        self, items: Sequence[Item], outer_conditions: tuple[Expression, ...]
    ) -> Iterator[tuple[Question, tuple[Expression, ...]]]:
        for item in items:
            own_conditions = outer_conditions if item.relevant is None else (*outer_conditions, item.relevant)
            if item.arms:
                own_conditions = (*own_conditions, in_arms(item.arms))
            if isinstance(item, Group):
                yield from self._conditioned(item.items, own_conditions)
            elif isinstance(item, Question):
                if item.control is not None and item.control.truth.lot and item.categories_in:
                    yield self._truth_lot(item), own_conditions
                yield item, own_conditions

    def _truth_lot(self, control: Question) -> Lot:
        """The true answer to a control, drawn so that each category has the same chance."""
        parts = getattr(control, control.categories_in)
        return Lot(
            name=truth_column(control.name),
            label=self._lot_label(_TRUTH_LABEL),
            choices=tuple(Choice(name=part.name, label=part.label) for part in parts),
            weights=(1,) * len(parts),
            required=True,
        )

    def _lot_label(self, words: Mapping[str, str]) -> Label:
        return dict.fromkeys(self.languages, words["en"]) | in_languages(words, self.languages)

    def language(self, tag: str | None) -> str:
        """The language of this tag, or the first one.

        Raises
        ------
        DataError
            The questionnaire has no texts in it.
        """
        if tag is not None and tag not in self.languages:
            raise DataError(f"survey {self.name!r} has no texts in {tag!r}; it has {', '.join(self.languages)}")
        return tag or self.languages[0]

    @property
    def chancy(self) -> bool:
        """Whether the device draws something beside private answers: an arm, the truth of a control, an order."""
        return bool(self.arms) or any(
            question.control is not None or getattr(question, "order", None) is not None for question in self.questions
        )

    @property
    def has_innocuous(self) -> bool:
        """Whether an innocuous question stands beside a private one, which respondents answer in their heads."""
        privacies = (getattr(question, "private", None) for question in self.questions)
        return any(private.innocuous for private in privacies if private is not None)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal."""
        return hashlib.sha256(self.to_json()).hexdigest()

    def to_json(self) -> bytes:
        """The canonical JSON."""
        return canonical(self.form())

    def form(self) -> dict[str, Any]:
        """The questionnaire as a JSON object, complete with each `kind`."""
        return self.model_dump(mode="json")


ARM = "arm"
"""The column of replies with the arm."""

_ARM_LABEL = {
    "en": "Group, drawn by lot on the device",
    "de": "Gruppe, auf dem Gerät ausgelost",
    "es": "Grupo, sorteado en el dispositivo",
    "ar": "المجموعة، بالقرعة على الجهاز",
}
_TRUTH_LABEL = {
    "en": "Answer to suppose, drawn by lot on the device",
    "de": "Angenommene Antwort, auf dem Gerät ausgelost",
    "es": "Respuesta supuesta, sorteada en el dispositivo",
    "ar": "الإجابة المفترضة، بالقرعة على الجهاز",
}


def truth_column(control: str) -> str:
    """The column of replies with the truth that lot has drawn for a control.

    Examples
    --------
    >>> truth_column("income_control")
    'income_control_truth'
    """
    return f"{control}_truth"


def in_arms(arms: Sequence[str]) -> Expression:
    """The condition that holds in these arms.

    Examples
    --------
    >>> from naysay.collect.questionnaire import write_expression
    >>> write_expression(in_arms(("a", "b")))
    "${arm} = 'a' or ${arm} = 'b'"
    """
    tests = [Apply(op="=", args=(Answer(of=ARM), Value(value=arm))) for arm in arms]
    return tests[0] if len(tests) == 1 else Apply(op="or", args=tuple(tests))


@cache
def sample() -> Questionnaire:
    """The questionnaire in the package: every kind of question, in English, German, Spanish and Arabic.

    Examples
    --------
    >>> len(sample().questions), sample().languages
    (21, ('en', 'de', 'es', 'ar'))
    """
    text = resources.files("naysay.collect.questionnaire").joinpath("sample.json").read_text(encoding="utf-8")
    return Questionnaire.model_validate_json(text)


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) that every canonical questionnaire fulfills.

    `check` covers what a schema cannot say, such as that every label has all languages.

    Examples
    --------
    >>> schema()["title"]
    'Questionnaire'
    """
    schema_form = Questionnaire.model_json_schema(mode="validation", ref_template="#/$defs/{model}")
    for model_schema in (schema_form, *schema_form["$defs"].values()):
        model_schema["description"] = model_schema["description"].partition("\n\nExamples\n")[0]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema_form}


ITEM: TypeAdapter[Item] = TypeAdapter(Item)
"""Makes a question, note or group of the JSON object that describes it; else it raises pydantic's `ValidationError`."""


@contextlib.contextmanager
def added(kind: Kind) -> Iterator[None]:
    """A kind of question that is known as long as the context lasts; naysay's own are listed in `KINDS`.

    Parameters
    ----------
    kind : subclass of Question
        With a field ``kind`` whose default is its only value.

    Raises
    ------
    TypeError
        The kind leaves something out, or has the name of another kind.

    Examples
    --------
    >>> class Nothing(Question):
    ...     kind: Literal["nothing"] = "nothing"
    >>> with added(Nothing):
    ...     pass
    Traceback (most recent call last):
        ...
    TypeError: the kind 'nothing' does not say: complaint, draw, longest, stored, value_of
    """
    list_kind(kind)
    _compile()
    try:
        yield
    finally:
        del KINDS[kind.flavor()]
        _compile()


def _compile() -> None:
    """Make pydantic rebuild its validators with the present kinds."""
    models_with_items = [model for model in Model.__subclasses__() if "items" in model.model_fields]
    rebuilt_models: list[type[Model]] = [Group, *models_with_items]  # a group first: all other models hold it
    for model in rebuilt_models:
        model.model_rebuild(force=True)
    ITEM.rebuild(force=True)


_PIPED = re.compile(r"\$\{\s*+([^}\s]*+)\s*+\}")


ANSWER_TO = {
    "en": "[answer to: {question}]",
    "de": "[Antwort auf: {question}]",
    "es": "[respuesta a: {question}]",
    "ar": "[الإجابة عن: {question}]",
}
"""What stands for an answer where nobody has given it yet, by language; other languages get the English words."""


def piped(text: str) -> list[str]:
    """The questions whose answers a text repeats.

    Examples
    --------
    >>> piped("How many of the ${household_size} are children?")
    ['household_size']
    """
    return _PIPED.findall(text)


def in_words(text: str, form: Questionnaire, language: str) -> str:
    """The text for readers of all replies: the question itself stands where respondents read their own answer to it.

    Parameters
    ----------
    text : str
    form : Questionnaire
        The one that the text is from.
    language : str
        Of the text.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> in_words("How many of the ${household_size} are children?", sample(), "en")
    'How many of the [answer to: How many people live in your household, with you?] are children?'
    """
    label_of_question = {question.name: question.label.get(language, "") for question in form.questions}
    answer_pattern = ANSWER_TO.get(language.partition("-")[0].lower(), ANSWER_TO["en"])
    # a question may repeat an answer itself
    short_labels = {name: _PIPED.sub("…", label).strip() for name, label in label_of_question.items()}
    return _PIPED.sub(lambda match: answer_pattern.format(question=short_labels.get(match[1]) or match[1]), text)


_TEXT_NAMES = {"label": "a label", "hint": "the hint"}


@dataclass(frozen=True)
class Entry:
    """An item and its place in the questionnaire.

    Parameters
    ----------
    path : str
    item : Item
    order : int
        How many items stand before it; a group stands before its own items.
    last : int
        The order of the last item in it; its own order if it holds none.
    """

    path: str
    item: Item
    order: int
    last: int

    @property
    def constraint(self) -> Constraint | None:
        """The condition on a plain answer; None where there is none, and for notes and groups."""
        return getattr(self.item, "constraint", None)


@dataclass(frozen=True)
class ShownText:
    """A text that respondents read.

    Parameters
    ----------
    path : str
    label : Label
    needed : bool
        Whether the text is required.
    what : str
    entry : Entry, optional
        The item to which it belongs; none for texts of the questionnaire itself.
    """

    path: str
    label: Label
    needed: bool
    what: str
    entry: Entry | None = None


class Walk:
    """A questionnaire as its rules read it: its items in order and by name, and its texts.

    Parameters
    ----------
    questionnaire : Questionnaire

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> Walk(sample()).entries[4].path
    'items[3].items[0]'
    """

    def __init__(self, questionnaire: Questionnaire) -> None:
        self.whole = questionnaire
        self.languages = questionnaire.languages
        practice = questionnaire.practice
        self.practice = practice.choices if isinstance(practice, Practice) else None
        self.entries: list[Entry] = []
        self._enter(questionnaire.items, "items")
        self.by_name = {entry.item.name: entry for entry in self.entries}
        self._shared_places: dict[str, list[str]] = {}  # of a question and its controls
        for _, question in self.questions():
            if question.control is not None:
                self._shared_places.setdefault(question.control.of, [question.control.of]).append(question.name)
        self.texts = [*_texts(questionnaire), *(shown_text for entry in self.entries for shown_text in _within(entry))]

    def _enter(self, items: Sequence[Item], path: str) -> None:
        for item_place, item in enumerate(items):
            item_path, order = f"{path}[{item_place}]", len(self.entries)
            self.entries.append(Entry(item_path, item, order, order))
            if isinstance(item, Group):
                self._enter(item.items, f"{item_path}.items")
                self.entries[order] = Entry(item_path, item, order, len(self.entries) - 1)

    def questions(self) -> Iterator[tuple[Entry, Question]]:
        """Every question with its place; notes and groups are left out."""
        return ((entry, entry.item) for entry in self.entries if isinstance(entry.item, Question))

    def around(self, entry: Entry) -> Iterator[Entry]:
        """The groups in which an item stands, the outermost first."""
        return (group for group in self.entries if group.order < entry.order <= group.last)

    def precedes(self, first: Entry, second: Entry) -> bool:
        """Whether an item is asked first whatever lot says, which orders a question and its controls."""
        return max(self._orders(first)) < min(self._orders(second))

    def _orders(self, entry: Entry) -> list[int]:
        control = getattr(entry.item, "control", None)
        names = self._shared_places.get(control.of if control else entry.item.name, ())
        return [entry.order, *(self.by_name[name].order for name in names if name in self.by_name)]

    def wordings(self) -> Iterator[tuple[ShownText, str, str]]:
        """Every text in every language, with its path there and its words."""
        return (
            (shown_text, f"{shown_text.path}.{language_tag}", words)
            for shown_text in self.texts
            for language_tag, words in shown_text.label.items()
        )


def _texts(questionnaire: Questionnaire) -> Iterator[ShownText]:
    """Every text of the questionnaire itself."""
    yield ShownText("title", questionnaire.title, True, "a title")
    for text_name in TEXTS:
        yield ShownText(text_name, getattr(questionnaire, text_name), False, text_name)
    if isinstance(questionnaire.practice, Practice):
        yield ShownText("practice.label", questionnaire.practice.label, True, "the practice question")
        for choice_place, choice in enumerate(questionnaire.practice.choices):
            yield ShownText(f"practice.choices[{choice_place}].label", choice.label, True, "a label")


def _within(entry: Entry) -> Iterator[ShownText]:
    """Every text of one item."""
    item, item_path = entry.item, entry.path
    for field_name, label in item.labels():
        text_name = _TEXT_NAMES.get(field_name, field_name)
        yield ShownText(f"{item_path}.{field_name}", label, field_name == "label", text_name, entry)
    if entry.constraint is not None:
        yield ShownText(f"{item_path}.constraint.message", entry.constraint.message, False, "the message", entry)
    for field_name, list_parts in item.lists():
        for part_place, part in enumerate(list_parts):
            yield ShownText(f"{item_path}.{field_name}[{part_place}].label", part.label, True, "a label", entry)
    if item.privacy is not None:
        for response, label in item.privacy.responses.items():
            yield ShownText(f"{item_path}.private.responses.{response}", label, True, "words", entry)
        innocuous_path = f"{item_path}.private.innocuous"
        yield ShownText(innocuous_path, item.privacy.innocuous, False, "the innocuous question", entry)


def expressions(entry: Entry) -> Iterator[tuple[str, Expression]]:
    """The conditions of an item, with their paths."""
    if entry.item.relevant is not None:
        yield f"{entry.path}.relevant", entry.item.relevant
    if entry.constraint is not None:
        yield f"{entry.path}.constraint.expression", entry.constraint.expression


def nodes(expression: Expression) -> Iterator[Expression]:
    """An expression and everything in it."""
    yield expression
    if isinstance(expression, Apply):
        for argument in expression.args:
            yield from nodes(argument)
