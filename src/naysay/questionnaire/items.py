"""What a questionnaire is made of: questions of every kind, groups, and the privacy of an answer."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from naysay.design import Answerable, Levels, read
from naysay.questionnaire.expressions import Expression

__all__ = [
    "Bin",
    "Choice",
    "Code",
    "Constraint",
    "Date",
    "Decimal",
    "Grid",
    "Group",
    "Integer",
    "Item",
    "Label",
    "Name",
    "Note",
    "Private",
    "Question",
    "Ranking",
    "Rating",
    "SelectMultiple",
    "SelectOne",
    "Text",
]

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$", max_length=64)]
"""What data call a question or another item; never shown to respondents."""

Code = Annotated[str, Field(pattern=r"^-?[A-Za-z0-9_][A-Za-z0-9_-]*$", max_length=64)]
"""What data call a choice, a bin or a row. It may be a number, as ``1`` or ``-99``, and is a text all the same."""

Label = dict[str, Annotated[str, Field(max_length=10_000)]]
"""A text in each language: {language: text}. Shown as text, never as HTML."""


class Model(BaseModel):
    """A frozen part of a questionnaire; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ignored_types=(cached_property,))


class Choice(Model):
    """A choice, or a row of a grid: what data call it, and what respondents read.

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
    """What an answer must fulfill, and what is said where it does not. ``.`` in the expression is the answer.

    Examples
    --------
    >>> from naysay.questionnaire import parse_expression
    >>> Constraint(expression=parse_expression(". >= 18"), message={"en": "From 18 on."}).message
    {'en': 'From 18 on.'}
    """

    expression: Expression
    message: Label = {}


class Private(Model):
    """That an answer leaves the device only as a response drawn under `design`.

    Parameters
    ----------
    design : object
        The JSON form of a design, or of an offer of levels, about the names of the choices in their order (of the
        bins for numbers; about yes and no for each choice of a select multiple).
    by_hand : tuple of str
        Levels that the respondent draws herself: she enters the response, and the device never learns the answer.
    responses : {response: {language: text}}
        What respondents read for responses that are no choice, such as a sink.

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

    @cached_property
    def offer(self) -> Answerable:
        """The design, or the offer of levels."""
        return read(self.design)

    @property
    def levels(self) -> tuple[str | None, ...]:
        """The levels as text, most private first; None alone where there is nothing to choose."""
        return tuple(map(str, self.offer.levels)) if isinstance(self.offer, Levels) else (None,)


class _Asked(Model):
    name: Name
    label: Label
    hint: Label = {}
    relevant: Expression | None = None


class _Question(_Asked):
    required: bool = False
    constraint: Constraint | None = None


class SelectOne(_Question):
    """One of several choices.

    Examples
    --------
    >>> sizes = tuple(Choice(name=name, label={"en": name}) for name in ("small", "large"))
    >>> SelectOne(name="size", label={"en": "Which size?"}, choices=sizes).private is None
    True
    """

    kind: Literal["select_one"] = "select_one"
    choices: tuple[Choice, ...]
    private: Private | None = None


class SelectMultiple(_Question):
    """Any of several choices; where it is private, each choice is a yes-or-no answer of its own.

    Examples
    --------
    >>> papers = tuple(Choice(name=name, label={"en": name}) for name in ("Times", "Post"))
    >>> SelectMultiple(name="papers", label={"en": "Which do you read?"}, choices=papers).kind
    'select_multiple'
    """

    kind: Literal["select_multiple"] = "select_multiple"
    choices: tuple[Choice, ...]
    private: Private | None = None


class _Number(_Question):
    bins: tuple[Bin, ...] = ()
    private: Private | None = None

    def bin_of(self, value: float) -> str:
        """The name of the bin that a number falls into, the category of a private number.

        Examples
        --------
        >>> ends = [("small", 10), ("large", None)]
        >>> bins = [Bin(name=name, label={}, below=below) for name, below in ends]
        >>> Integer(name="n", label={}, bins=bins).bin_of(10)
        'large'
        """
        return next(each.name for each in self.bins if each.below is None or value < each.below)


class Integer(_Number):
    """A whole number; where it is private, the bin that it falls into.

    Examples
    --------
    >>> few = Bin(name="few", label={"en": "Up to four"}, below=5)
    >>> many = Bin(name="many", label={"en": "Five or more"})
    >>> Integer(name="drinks", label={"en": "How many drinks?"}, bins=(few, many)).bin_of(7)
    'many'
    """

    kind: Literal["integer"] = "integer"
    low: int | None = None
    high: int | None = None


class Decimal(_Number):
    """A number; where it is private, the bin that it falls into.

    Examples
    --------
    >>> Decimal(name="sleep", label={"en": "How many hours?"}, low=0, high=24).high
    24.0
    """

    kind: Literal["decimal"] = "decimal"
    low: float | None = None
    high: float | None = None


class Text(_Question):
    """A text in the respondent's own words; always plain.

    Examples
    --------
    >>> Text(name="remarks", label={"en": "Anything else?"}).max_length
    500
    """

    kind: Literal["text"] = "text"
    max_length: Annotated[int, Field(ge=1, le=5_000)] = 500
    lines: Annotated[int, Field(ge=1, le=20)] = 1


class Date(_Question):
    """A day.

    Examples
    --------
    >>> Date(name="moved_in", label={"en": "Since when?"}, required=True).required
    True
    """

    kind: Literal["date"] = "date"


class Note(_Asked):
    """A text that asks nothing.

    Examples
    --------
    >>> Note(name="thanks", label={"en": "Nearly there."}).kind
    'note'
    """

    kind: Literal["note"] = "note"


class Rating(_Question):
    """A scale of whole numbers, with words at its ends.

    Examples
    --------
    >>> Rating(name="health", label={"en": "How do you feel?"}, high=10).low
    1
    """

    kind: Literal["rating"] = "rating"
    low: int = 1
    high: int = 5
    low_label: Label = {}
    high_label: Label = {}


class Grid(_Question):
    """Several statements judged on one scale: a choice for each row.

    Examples
    --------
    >>> rows = tuple(Choice(name=name, label={"en": name}) for name in ("state", "press"))
    >>> scale = tuple(Choice(name=name, label={"en": name}) for name in ("trust", "distrust"))
    >>> len(Grid(name="trust", label={"en": "Do you trust"}, rows=rows, choices=scale).rows)
    2
    """

    kind: Literal["grid"] = "grid"
    rows: tuple[Choice, ...]
    choices: tuple[Choice, ...]


class Ranking(_Question):
    """All choices, put in order.

    Examples
    --------
    >>> aims = tuple(Choice(name=name, label={"en": name}) for name in ("schools", "roads"))
    >>> Ranking(name="aims", label={"en": "What comes first?"}, choices=aims).kind
    'ranking'
    """

    kind: Literal["ranking"] = "ranking"
    choices: tuple[Choice, ...]


class Group(_Asked):
    """Items under one heading, asked together or not at all.

    Examples
    --------
    >>> note = Note(name="intro", label={"en": "About you"})
    >>> len(Group(name="you", label={"en": "You"}, items=(note,)).items)
    1
    """

    kind: Literal["group"] = "group"
    items: tuple[Item, ...]


Question = SelectOne | SelectMultiple | Integer | Decimal | Text | Date | Rating | Grid | Ranking
Item = Annotated[Question | Note | Group, Field(discriminator="kind")]

Group.model_rebuild()
