"""What all kinds of questions share, and what each kind must define.

Before it is checked, a questionnaire is a draft, as it was written. A problem says where, what must hold, why, and the
way out.
"""

from __future__ import annotations

import datetime
import json
import operator
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from naysay import _checks
from naysay.collect.questionnaire.expressions import Expression
from naysay.design import Answerable, Design, read
from naysay.errors import DataError

Severity = Literal["error", "warning"]
_SHEETS = ("settings", "survey", "choices")
_NUMBER = re.compile(r"\[(\d{1,9})\]")


@dataclass(frozen=True)
class Place:
    """Where something stands in the file of another program: in the sheets of an XLSForm, or in JSON.

    Parameters
    ----------
    sheet : str
    row : int, optional
        Counted as spreadsheets do: the header is row 1.
    column : str, optional
        As the header writes it.
    path : str
        In JSON, such as ``pages[0].elements[2].visibleIf``.

    Examples
    --------
    >>> print(Place("survey", 4, "relevant"), Place(path="pages[0].title"), sep="; ")
    survey, row 4, column 'relevant'; pages[0].title
    """

    sheet: str = ""
    row: int | None = None
    column: str | None = None
    path: str = ""

    def __str__(self) -> str:
        row = "" if self.row is None else f", row {self.row}"
        return self.path or f"{self.sheet}{row}{'' if self.column is None else f', column {self.column!r}'}"

    @property
    def order(self) -> tuple[int, ...]:
        """Problems are told in this order."""
        if self.path:
            return tuple(map(int, _NUMBER.findall(self.path)))
        return _SHEETS.index(self.sheet) if self.sheet in _SHEETS else len(_SHEETS), self.row or 0


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, or that the author should know.

    Parameters
    ----------
    rule : str
        The name of the rule, such as ``piping``.
    message : str
        What must hold, and what was found.
    reason : str
        Why.
    way_out : str
        What to do about it.
    severity : "error" or "warning"
        An error keeps the questionnaire from being fielded.
    path : str
        Where it stands in the canonical JSON, such as ``items[3].label.de``; empty where it has no place there.
    place : Place, optional
        Where it stands in the file of another program.

    Examples
    --------
    >>> print(Problem("names", "names must differ; got 'age' twice", "data would mix them up", "rename one"))
    error: names must differ; got 'age' twice (data would mix them up): rename one
    """

    rule: str
    message: str
    reason: str = ""
    way_out: str = ""
    severity: Severity = "error"
    path: str = ""
    place: Place | None = None

    @property
    def where(self) -> str:
        """Sheet, row and column, or the path in JSON."""
        return self.path if self.place is None else str(self.place)

    def __str__(self) -> str:
        where_text = f"{self.where}: " if self.where else ""
        reason_text = f" ({self.reason})" if self.reason else ""
        return f"{self.severity}: {where_text}{self.message}{reason_text}{f': {self.way_out}' if self.way_out else ''}"

    def form(self) -> dict[str, Any]:
        """The problem as a JSON object."""
        return {
            "severity": self.severity,
            "rule": self.rule,
            **{
                place_field: getattr(self.place, place_field, None) or None
                for place_field in ("sheet", "row", "column")
            },
            "path": getattr(self.place, "path", "") or self.path or None,
            **{text_field: getattr(self, text_field) for text_field in ("message", "reason", "way_out")},
        }


class QuestionnaireError(DataError):
    """A questionnaire that cannot be fielded, with every problem that it has.

    Parameters
    ----------
    source : str
        What was read.
    problems : sequence of Problem

    Examples
    --------
    >>> error = QuestionnaireError("q.json", [Problem("names", "names must differ; got 'age' twice")])
    >>> error.problems[0].rule
    'names'
    """

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        errors = [problem for problem in problems if problem.severity == "error"]
        count_text = _checks.several(len(errors), "problem", "problems")
        self.problems = tuple(problems)
        self.lines = (f"{source} cannot be fielded; {count_text}:", *map(str, errors))
        super().__init__("\n  ".join(self.lines))


def located(problems: Iterable[Problem], places: Mapping[str, Place]) -> list[Problem]:
    """The problems with their places in the file; each takes the place of the longest known beginning of its path."""
    located_problems = []
    for problem in problems:
        problem_path = problem.path
        while problem_path and problem_path not in places:
            problem_path = problem_path[: max(problem_path.rfind("."), problem_path.rfind("["), 0)]
        located_problems.append(problem if problem.place else replace(problem, place=places.get(problem_path)))
    return located_problems


Lists = Mapping[str, Sequence[tuple[int, Mapping[str, str]]]]
"""The rows of each list of choices, numbered as in the sheet."""


@dataclass
class Draft:
    """A questionnaire as it was written, before it is checked.

    Parameters
    ----------
    form : object
        The canonical form, as far as it could be read.
    problems : list of Problem
        The problems of what could not be read.
    places : {path: Place}
        Where the parts of the form stand in the file.
    omitted : set of str
        Names of questions that could not be read.
    """

    form: dict[str, Any]
    problems: list[Problem] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)
    omitted: set[str] = field(default_factory=set)


Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$", max_length=64)]
"""The name of a question or another item in data; never shown to respondents."""

Code = Annotated[str, Field(pattern=r"^-?[A-Za-z0-9_][A-Za-z0-9_-]*$", max_length=64)]
"""The name of a choice, a bin or a row in data. It may be a number, such as ``1`` or ``-99``, stored as text."""

YES_NO = ("yes", "no")
"""Categories of each choice of a private select multiple."""

Label = dict[str, Annotated[str, Field(max_length=10_000)]]
"""A text in each language: {language: text}. Shown as text, never as HTML."""


class Model(BaseModel):
    """A frozen part of a questionnaire; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ignored_types=(cached_property,))


class Choice(Model):
    """A choice, or a row of a grid: its name in data, and what respondents read.

    Examples
    --------
    >>> Choice(name="yes", label={"en": "Yes", "de": "Ja"}).label["de"]
    'Ja'
    """

    name: Code
    label: Label


class Bin(Model):
    """A range of numbers that stands for a category of a private number: below `below`, and not in an earlier bin.

    Examples
    --------
    >>> Bin(name="under_20", label={"en": "Below 20"}, below=20).below
    20.0
    """

    name: Code
    label: Label
    below: float | None = None


class Constraint(Model):
    """A condition on an answer, and the message where it fails. ``.`` in the expression is the answer.

    Examples
    --------
    >>> from naysay.collect.questionnaire import parse_expression
    >>> Constraint(expression=parse_expression(". >= 18"), message={"en": "From 18 on."}).message
    {'en': 'From 18 on.'}
    """

    expression: Expression
    message: Label = {}


class Arm(Model):
    """A group into which the device puts respondents by lot: its name in data, and its share as a whole number.

    Examples
    --------
    >>> Arm(name="masked", share=2).share
    2
    """

    name: Code
    share: Annotated[int, Field(ge=1, le=1_000)] = 1


class KnownTruth(Model):
    """What is known of the true answer to a control; one of its fields is there.

    Parameters
    ----------
    category : str, optional
        The category that holds for everybody.
    lot : bool
        Whether the device draws a category for each respondent, all alike. It is shown to them and sent with the reply.
    shares : {category: share}, optional
        How many belong to each category, as measured on `people`.
    people : int, optional
        On how many the shares were measured.
    file : str, optional
        The plain question with the same choices whose answer is the truth.

    Examples
    --------
    >>> KnownTruth(shares={"yes": 0.2, "no": 0.8}, people=400).people
    400
    """

    category: Code | None = Field(None, exclude_if=operator.not_)
    lot: bool = Field(False, exclude_if=operator.not_)
    shares: dict[Code, Annotated[float, Field(ge=0, le=1)]] = Field({}, exclude_if=operator.not_)
    people: Annotated[int, Field(ge=1)] | None = Field(None, exclude_if=operator.not_)
    file: Name | None = Field(None, exclude_if=operator.not_)


class Control(Model):
    """That a question tests whether people do as they are told: which question it is a control of, and its known truth.

    Examples
    --------
    >>> Control(of="income", truth=KnownTruth(lot=True)).truth.lot
    True
    """

    of: Name
    truth: KnownTruth


class Practice(Model):
    """A harmless question on which respondents try a private answer; nothing of it is ever sent.

    Parameters
    ----------
    label : {language: text}
        What is asked.
    choices : tuple of Choice
        Three or more.

    Examples
    --------
    >>> meals = tuple(Choice(name=name, label={"en": name}) for name in ("breakfast", "lunch", "dinner"))
    >>> len(Practice(label={"en": "Which meal do you like best?"}, choices=meals).choices)
    3
    """

    label: Label
    choices: tuple[Choice, ...]


Mode = Literal["hand", "device"]
"""Who carries out a design: respondents, who enter the response; or their device, to which they enter the answer."""


class Private(Model):
    """The privacy of a question: its answer leaves the device only as a response drawn under `design`.

    Parameters
    ----------
    design : object
        The JSON form of a design, or of an offer of levels. Its categories are the names of the choices in their order;
        for a number, the names of the bins; for each choice of a select multiple, yes and no.
    by_hand : tuple of str
        Levels that respondents draw themselves: they enter the response, and the device never learns the answer.
    responses : {response: {language: text}}
        What respondents read for responses that are not choices, such as a sink.
    modes : tuple of "hand" and "device"
        Who carries the design out; the page begins with the first mode. What is sent does not tell the modes apart.
    innocuous : {language: text}
        The innocuous question beside this one, of designs that have one, such as the crosswise model.
    begins_at : str, optional
        The level at which the page begins; by default the most private one that the device draws.

    Examples
    --------
    >>> import json
    >>> from naysay import designs
    >>> offer = designs.negative_levels(("low", "middle", "high"))
    >>> Private(design=json.loads(offer.to_json())).levels
    ('1', '2')
    """

    design: dict[str, Any]
    by_hand: tuple[str, ...] = ()
    responses: dict[str, Label] = {}
    modes: tuple[Mode, ...] = Field(("device",), exclude_if=("device",).__eq__)
    innocuous: Label = Field({}, exclude_if=operator.not_)
    begins_at: str | None = Field(None, exclude_if=operator.not_)

    @cached_property
    def offer(self) -> Answerable:
        """The design, or the offer of levels."""
        return read(self.design)

    @property
    def levels(self) -> tuple[str | None, ...]:
        """The levels as text, most private first; None alone where there is nothing to choose."""
        return tuple(None if level is None else str(level) for level in self.offer.levels)

    @property
    def channels(self) -> tuple[tuple[str | None, Design], ...]:
        """Each level with the design that draws its answers."""
        # pairs, not a dict: the levels 1 and "1" have the same text, and each must be checked
        return tuple(zip(self.levels, self.offer.parts.values(), strict=True))


class BaseItem(Model):
    """An item of a questionnaire: a question, a note or a group."""

    name: Name
    label: Label
    hint: Label = {}
    relevant: Expression | None = None
    arms: tuple[Code, ...] = Field((), exclude_if=operator.not_)
    """Where lot divides respondents: the arms in which it stands; empty for all."""

    if TYPE_CHECKING:  # a field of each kind, with its own name as the only value
        kind: str

    @property
    def privacy(self) -> Private | None:
        """The privacy of the answer; None where it is plain, or where there is no answer."""
        return getattr(self, "private", None)

    @classmethod
    def flavor(cls) -> str:
        """The name of the kind in JSON."""
        return str(cls.model_fields["kind"].default)

    def labels(self) -> Iterator[tuple[str, Label]]:
        """Each of its texts with the name of the field; a kind need not declare which of its fields are texts."""
        for field_name, model_field in type(self).model_fields.items():
            if model_field.annotation == Label:
                yield field_name, getattr(self, field_name)

    def lists(self) -> Iterator[tuple[str, Sequence[Choice | Bin]]]:
        """Every list of choices, rows or bins with the name of the field."""
        for field_name, model_field in type(self).model_fields.items():
            if model_field.annotation in (tuple[Choice, ...], tuple[Bin, ...]):
                yield field_name, getattr(self, field_name)


class Question(BaseItem):
    """A question of any kind.

    A kind is a subclass with a field ``kind``, listed in `naysay.collect.questionnaire.kinds`. The kind defines how it
    is checked, stored and answered at random, and nothing of files. If it leaves something out, listing it is an error.

    Parameters
    ----------
    required : bool
        Whether an answer is needed.
    constraint : Constraint, optional
        The condition that a plain answer must meet.
    measures : str, optional
        What it measures together with questions of other arms; by default the question itself.
    control : Control, optional
        Of which question it is a control.
    """

    required: bool = False
    constraint: Constraint | None = None
    measures: Name | None = Field(None, exclude_if=operator.not_)
    control: Control | None = Field(None, exclude_if=operator.not_)

    stored: ClassVar[type]
    """The type of its column in a table of replies: str, int, float, date, or list for a list of names."""

    categories_in: ClassVar[str] = ""
    """The field whose names are the categories of a design; empty where an answer cannot be private."""

    yes_or_no: ClassVar[bool] = False
    """Whether a private answer says yes or no to each choice, so that each is randomized by itself."""

    comparable: ClassVar[bool] = True
    """Whether a condition can refer to its answer."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of rows or choices that have answers of their own; empty where there is one answer.

        In a table of true answers each part may have a column. A private question randomizes each part by itself.
        """
        return ()

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories that its design must have."""
        return self.categories_of(names_of(getattr(self, self.categories_in))) if self.categories_in else ()

    @classmethod
    def categories_of(cls, names: Sequence[str]) -> tuple[str, ...]:
        """The categories of a design, if `names` are the names in the field `categories_in`."""
        return YES_NO if cls.yes_or_no else tuple(names)

    def category_of(self, value: Any) -> Any:
        """The true category, or the categories of all parts, of a plain answer."""
        return value

    def uncategorized(self, value: Any) -> str | None:
        """What an answer must be to have a category, if it has none, worded as in `complaint`; else None."""
        return None

    def empty(self, value: object) -> bool:
        """Whether an answer says nothing."""
        return value in (None, "", [])

    @abstractmethod
    def complaint(self, value: object) -> str | None:
        """What a plain answer must be, if it is not that; None where it is valid. The answer is not null.

        It is the rest of a sentence that begins with the question's name. It never repeats the value: complaints are
        sent back, and a proxy may log them.
        """

    @property
    @abstractmethod
    def longest(self) -> int:
        """Bytes of the longest plain answer, as compact JSON."""

    def columns(self, values: Sequence[object]) -> dict[str, list[Any]]:
        """The columns of a table that hold these plain answers; their cells have the type `stored`."""
        return {self.name: list(values)}

    @abstractmethod
    def value_of(self, cell: object) -> Any:
        """The answer in a cell of a table of true answers; an unreadable cell stays as it is, for `complaint`."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Any:
        """A random plain answer, for trying a survey out."""

    def flaws(self, path: str) -> Iterator[Problem]:
        """Problems of this question by itself, such as too few choices or a range that runs downwards."""
        yield from ()


Text = TypeVar("Text")

Kind = type[Question]
"""A kind of questions is its class."""


def names_of(parts: Sequence[Choice | Bin]) -> tuple[str, ...]:
    """The names of these choices, rows or bins in data."""
    return tuple(part.name for part in parts)


def in_languages(text_of_base: Mapping[str, Text], languages: Sequence[str]) -> dict[str, Text]:
    """Texts that naysay has by language, for those of the languages, such as en-GB, that have one.

    Examples
    --------
    >>> in_languages({"en": "Yes", "de": "Ja"}, ("en-GB", "fr"))
    {'en-GB': 'Yes'}
    """
    base_of_language = {language: language.partition("-")[0].lower() for language in languages}
    return {language: text_of_base[base] for language, base in base_of_language.items() if base in text_of_base}


def quoted(name: str) -> int:
    """Bytes of a name as JSON. Names of questions and choices are ASCII; names of levels need not be."""
    return len(json.dumps(name, ensure_ascii=False).encode())


def described(cell: object) -> str:
    """The kind of value in a cell; never the value itself, which may be a true answer."""
    kind_names = ((bool, "a truth value"), (int | float, "a number"), (str, "a text"), (datetime.date, "a day"))
    return next((kind_name for kind, kind_name in kind_names if isinstance(cell, kind)), "a list")
