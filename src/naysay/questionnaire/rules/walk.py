"""A questionnaire walked through in order: every item with its path, every text, every expression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from naysay.questionnaire.expressions.evaluation import Apply, Expression
from naysay.questionnaire.items import Group, Item
from naysay.questionnaire.kinds.base import Constraint, Label, Practice, Question
from naysay.questionnaire.questionnaire import TEXTS, Questionnaire

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
    >>> from naysay.questionnaire import sample
    >>> Walk(sample()).entries[4].path
    'items[3].items[0]'
    """

    def __init__(self, questionnaire: Questionnaire) -> None:
        self.languages = questionnaire.languages
        practice = questionnaire.practice
        self.practice = practice.choices if isinstance(practice, Practice) else None
        self.entries: list[Entry] = []
        _enter(questionnaire.items, "items", self.entries)
        self.by_name = {entry.item.name: entry for entry in self.entries}
        self.texts = [*_texts(questionnaire), *(shown_text for entry in self.entries for shown_text in _within(entry))]

    def questions(self) -> Iterator[tuple[Entry, Question]]:
        """Every question with its place; notes and groups are left out."""
        return ((entry, entry.item) for entry in self.entries if isinstance(entry.item, Question))

    def around(self, entry: Entry) -> Iterator[Entry]:
        """The groups in which an item stands, the outermost first."""
        return (group for group in self.entries if group.order < entry.order <= group.last)

    def wordings(self) -> Iterator[tuple[ShownText, str, str]]:
        """Every text in every language, with its path there and its words."""
        return (
            (shown_text, f"{shown_text.path}.{tag}", words)
            for shown_text in self.texts
            for tag, words in shown_text.label.items()
        )


def _enter(items: Sequence[Item], path: str, entries: list[Entry]) -> None:
    for place, item in enumerate(items):
        item_path, order = f"{path}[{place}]", len(entries)
        entries.append(Entry(item_path, item, order, order))
        if isinstance(item, Group):
            _enter(item.items, f"{item_path}.items", entries)
            entries[order] = Entry(item_path, item, order, len(entries) - 1)


def _texts(questionnaire: Questionnaire) -> Iterator[ShownText]:
    """Every text of the questionnaire itself."""
    yield ShownText("title", questionnaire.title, True, "a title")
    for name in TEXTS:
        yield ShownText(name, getattr(questionnaire, name), False, name)
    if isinstance(questionnaire.practice, Practice):
        yield ShownText("practice.label", questionnaire.practice.label, True, "the practice question")
        for place, choice in enumerate(questionnaire.practice.choices):
            yield ShownText(f"practice.choices[{place}].label", choice.label, True, "a label")


def _within(entry: Entry) -> Iterator[ShownText]:
    """Every text of one item."""
    item, path = entry.item, entry.path
    for name, label in item.labels():
        yield ShownText(f"{path}.{name}", label, name == "label", _TEXT_NAMES.get(name, name), entry)
    if entry.constraint is not None:
        yield ShownText(f"{path}.constraint.message", entry.constraint.message, False, "the message", entry)
    for name, parts in item.lists():
        for place, part in enumerate(parts):
            yield ShownText(f"{path}.{name}[{place}].label", part.label, True, "a label", entry)
    for response, label in ({} if item.privacy is None else item.privacy.responses).items():
        yield ShownText(f"{path}.private.responses.{response}", label, True, "words", entry)
    if item.privacy is not None:
        yield ShownText(f"{path}.private.innocuous", item.privacy.innocuous, False, "the innocuous question", entry)


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
