"""The kinds of questions, and the rules of their values: what an answer must be, how long it gets, how it is stored.

A kind knows no format of files: how it stands in an XLSForm, in SurveyJS and on the page is told by one table for each.
"""

from __future__ import annotations

import datetime
import math
import operator
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from naysay import _checks
from naysay.collect.questionnaire.questions import (
    YES_NO,
    Bin,
    Choice,
    Code,
    Kind,
    Label,
    Private,
    Problem,
    Question,
    described,
    names_of,
    quoted,
)
from naysay.errors import DataError
from naysay.responses import JOINER

SAFE = 2**53 - 1
"""The largest whole number that JavaScript holds exactly."""

_LONGEST_NUMBER = 25  # characters: one more than JavaScript's longest number, -1.2345678901234567e-300
_SPAN = 130  # width of random numbers without both bounds: years of age fit, and most counts
MOST_POINTS = 21
"""The most points of a rating."""

_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_FORBIDDEN = {"Cc", "Cs"}  # control characters and lone surrogates; new lines are allowed nevertheless
_WORDS = ("yes", "no", "sometimes", "rarely", "often", "it", "depends", "work", "home", "friends")


class _Whole(Question):
    """A question that is answered with a whole number."""

    if TYPE_CHECKING:  # each kind declares these fields: declared here, they would come before `kind` in JSON
        low: int | None
        high: int | None

    stored: ClassVar[type] = int

    @property
    def longest(self) -> int:
        return _LONGEST_NUMBER

    def complaint(self, value: object) -> str | None:
        bottom = max(-SAFE, -SAFE if self.low is None else self.low)
        top = min(SAFE, SAFE if self.high is None else self.high)
        is_inside = type(value) is int and bottom <= value <= top  # True is an int to Python, but no number here
        return None if is_inside else f"must be a whole number from {bottom} to {top}"

    def value_of(self, cell: object) -> Any:
        if isinstance(cell, str):
            return int(cell) if _WHOLE.fullmatch(cell.strip()) else cell
        return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


class _Number(Question):
    bins: tuple[Bin, ...] = ()
    private: Private | None = None

    if TYPE_CHECKING:  # each kind declares this field: declared here, it would come before `kind` in JSON
        low: float | None
        high: float | None

    categories_in: ClassVar[str] = "bins"

    def category_of(self, value: Any) -> Any:
        """The name of the bin that a number falls into, the category of a private number."""
        return next(number_bin.name for number_bin in self.bins if number_bin.below is None or value < number_bin.below)

    def uncategorized(self, value: Any) -> str | None:
        last_bound = self.bins[-1].below
        return None if last_bound is None or value < last_bound else f"must be a number below {last_bound:g}"

    @property
    def longest(self) -> int:
        return _LONGEST_NUMBER

    def _limits(self) -> tuple[float, float]:
        """The range to draw from: the limits, or the bounds of the bins plus one bin beyond them."""
        bin_bounds = [number_bin.below for number_bin in self.bins if number_bin.below is not None]
        bin_width = (bin_bounds[-1] - bin_bounds[0]) / (len(bin_bounds) - 1) if len(bin_bounds) > 1 else _SPAN
        low_limit = self.low if self.low is not None else min(0.0, *bin_bounds[:1], 0.0)
        highest = bin_bounds[-1] + bin_width if bin_bounds else low_limit + _SPAN
        high_limit = highest if self.high is None else self.high
        last_bound = self.bins[-1].below if self.bins else None
        return float(low_limit), float(high_limit if last_bound is None else min(high_limit, last_bound - 1))

    def flaws(self, path: str) -> Iterator[Problem]:
        """Problems of the range and of the bins, which must rise and, for a private number, cover all numbers."""
        bins_path, bin_ends = f"{path}.bins", [number_bin.below for number_bin in self.bins]
        if self.low is not None and self.high is not None and self.low > self.high:
            message = f"a range must run upwards; got {self.low} to {self.high}"
            yield Problem("scales", message, "", "exchange the ends", path=f"{path}.low")
        if self.private is None:
            if self.bins:
                message, reason = "bins of a direct number are not used", "its answer is sent as it is"
                yield Problem("bins", message, reason, "leave them out", "warning", path=bins_path)
            return
        if len(self.bins) < 2:
            message = f"a private number needs at least two bins; got {len(self.bins)}"
            way_out = "write where they end, such as 20,40,60"
            yield Problem("bins", message, "a design is about categories", way_out, path=bins_path)
            return
        for bin_place, (first_end, second_end) in enumerate(pairwise(bin_ends[:-1]), start=1):
            if first_end is not None and second_end is not None and not first_end < second_end:
                message, way_out = f"bins must go up; {second_end:g} follows {first_end:g}", "put them in order"
                yield Problem("bins", message, "a bin would be empty", way_out, path=f"{bins_path}[{bin_place}].below")
        for bin_place, bin_end in enumerate(bin_ends, start=1):
            if (bin_end is None) != (bin_place == len(bin_ends)):
                message = "every bin but the last must say below what it ends, and the last must take all other numbers"
                end_path, way_out = f"{bins_path}[{bin_place - 1}].below", "write null there only"
                yield Problem("bins", message, "some numbers would have no bin", way_out, path=end_path)


class Integer(_Whole, _Number):
    """A whole number; if it is private, the bin that it falls into.

    Examples
    --------
    >>> few = Bin(name="few", label={"en": "Up to four"}, below=5)
    >>> many = Bin(name="many", label={"en": "Five or more"})
    >>> Integer(name="drinks", label={"en": "How many drinks?"}, bins=(few, many)).category_of(7)
    'many'
    """

    kind: Literal["integer"] = "integer"
    low: int | None = None
    high: int | None = None

    def draw(self, rng: np.random.Generator) -> Any:
        low_limit, high_limit = self._limits()
        return int(rng.integers(int(low_limit), int(high_limit) + 1))


class Decimal(_Number):
    """A number; if it is private, the bin that it falls into.

    Examples
    --------
    >>> Decimal(name="sleep", label={"en": "How many hours?"}, low=0, high=24).high
    24.0
    """

    kind: Literal["decimal"] = "decimal"
    low: float | None = None
    high: float | None = None

    stored: ClassVar[type] = float

    def complaint(self, value: object) -> str | None:
        # JSON may hold an integer of 400 digits, which is no float
        if not isinstance(value, int | float) or type(value) not in (int, float) or abs(value) > 1e308:
            return "must be a number"
        bottom, top = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
        return None if bottom <= value <= top else f"must be a number from {bottom:g} to {top:g}"

    def value_of(self, cell: object) -> Any:
        return float(cell) if isinstance(cell, str) and _DECIMAL.fullmatch(cell.strip()) else cell

    def draw(self, rng: np.random.Generator) -> Any:
        return round(float(rng.uniform(*self._limits())), 2)


class Rating(_Whole):
    """A scale of whole numbers, with words at its ends.

    Examples
    --------
    >>> Rating(name="health", label={"en": "How do you feel?"}, high=10).low
    1
    """

    kind: Literal["rating"] = "rating"
    low: int = 1
    high: int = 5
    low_label: Label = Field(default={})
    high_label: Label = Field(default={})

    def draw(self, rng: np.random.Generator) -> Any:
        return int(rng.integers(self.low, self.high + 1))

    def flaws(self, path: str) -> Iterator[Problem]:
        if not 1 <= self.high - self.low < MOST_POINTS:
            message = f"a rating must run upwards over 2 to {MOST_POINTS} points; got {self.low} to {self.high}"
            yield Problem("scales", message, "", "ask with integer for more", path=f"{path}.low")


class Text(Question):
    """A text in the respondent's own words; always plain.

    Examples
    --------
    >>> Text(name="remarks", label={"en": "Anything else?"}).max_length
    500
    """

    kind: Literal["text"] = "text"
    max_length: Annotated[int, Field(ge=1, le=5_000)] = 500
    lines: Annotated[int, Field(ge=1, le=20)] = 1

    stored: ClassVar[type] = str

    def complaint(self, value: object) -> str | None:
        if not isinstance(value, str) or len(value) > self.max_length:
            return f"must be a text of {self.max_length:,} characters at most"
        if any(unicodedata.category(letter) in _FORBIDDEN and letter != "\n" for letter in value):
            return "must be a text without control characters other than new lines"
        return None

    @property
    def longest(self) -> int:
        return 2 + 4 * self.max_length

    def value_of(self, cell: object) -> Any:
        return cell

    def draw(self, rng: np.random.Generator) -> Any:
        return " ".join(rng.choice(_WORDS, 4))[: self.max_length]


class Date(Question):
    """A day.

    Examples
    --------
    >>> Date(name="moved_in", label={"en": "Since when?"}, required=True).required
    True
    """

    kind: Literal["date"] = "date"

    stored: ClassVar[type] = datetime.date

    def complaint(self, value: object) -> str | None:
        try:
            if isinstance(value, str) and _DAY.fullmatch(value):
                datetime.date.fromisoformat(value)
                return None
        except ValueError:  # such as a thirteenth month
            pass
        return "must be a day, written like 2026-11-20"

    @property
    def longest(self) -> int:
        return len('"2026-11-20"')

    def columns(self, values: Sequence[object]) -> dict[str, list[Any]]:
        return {self.name: [datetime.date.fromisoformat(value) if isinstance(value, str) else None for value in values]}

    def value_of(self, cell: object) -> Any:
        day = cell.date() if isinstance(cell, datetime.datetime) else cell
        return day.isoformat() if isinstance(day, datetime.date) else day

    def draw(self, rng: np.random.Generator) -> Any:
        today = datetime.datetime.now().astimezone().date()
        return str(today - datetime.timedelta(days=int(rng.integers(1, 36_500))))


_MOST_RANKED = 20
_ANSWERS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


class _Choosing(Question):
    """A question with a list of choices."""

    if TYPE_CHECKING:  # each kind declares this field: declared here, it would come before `kind` in JSON
        choices: tuple[Choice, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the choices."""
        return names_of(self.choices)

    def flaws(self, path: str) -> Iterator[Problem]:
        if len(self.choices) < 2:
            message = f"at least two choices are needed; got {len(self.choices)}"
            yield Problem("choices", message, "", "add choices", path=f"{path}.choices")


def _names_in_cell(cell: object) -> Any:
    """Several names in one cell, ``a;b`` or a list."""
    if isinstance(cell, str):
        return [name.strip() for name in cell.split(JOINER)]
    return list(cell) if isinstance(cell, Sequence | set | frozenset) else cell


class _ChoosingOne(_Choosing):
    """A question that is answered with the name of one of its choices."""

    stored: ClassVar[type] = str

    def complaint(self, value: object) -> str | None:
        is_choice = isinstance(value, str) and value in self.names
        return None if is_choice else "must be the name of one of its choices"

    @property
    def longest(self) -> int:
        return max((quoted(name) for name in self.names), default=0)

    def value_of(self, cell: object) -> Any:
        return cell

    def draw(self, rng: np.random.Generator) -> Any:
        return str(rng.choice(self.names))


class Lot(_ChoosingOne):
    """What the device draws, and sends openly with the answers: the respondent's arm, or the truth of a control.

    Nobody is asked, so it is no item of a questionnaire: `Questionnaire.questions` makes it.

    Parameters
    ----------
    weights : tuple of int
        The chances of the choices.

    Examples
    --------
    >>> halves = tuple(Choice(name=name, label={"en": name}) for name in ("a", "b"))
    >>> Lot(name="arm", label={"en": "Arm"}, choices=halves, weights=(1, 1), required=True).complaint("c")
    'must be the name of one of its choices'
    """

    kind: Literal["lot"] = "lot"
    choices: tuple[Choice, ...]
    weights: tuple[int, ...]


class SelectOne(_ChoosingOne):
    """One of several choices.

    Parameters
    ----------
    right : str, optional
        The name of the right choice: the question then checks whether respondents have understood. Its answer is plain
        and is counted like any other. It cannot be changed, because the page then says what is right.
    explanation : {language: text}
        What the page says after the answer.
    order : {"shuffled", "reversed"}, optional
        In which order the device shows the choices, by lot for each respondent: any order, or theirs or its reverse.
        The order is not sent.

    Examples
    --------
    >>> sizes = tuple(Choice(name=name, label={"en": name}) for name in ("small", "large"))
    >>> SelectOne(name="size", label={"en": "Which size?"}, choices=sizes).private is None
    True
    """

    kind: Literal["select_one"] = "select_one"
    choices: tuple[Choice, ...]
    private: Private | None = None
    right: Code | None = Field(None, exclude_if=operator.not_)
    explanation: Label = Field({}, exclude_if=operator.not_)
    order: Literal["shuffled", "reversed"] | None = Field(None, exclude_if=operator.not_)

    categories_in: ClassVar[str] = "choices"

    def flaws(self, path: str) -> Iterator[Problem]:
        yield from super().flaws(path)
        choice_names = _checks.listing_text(self.names)
        if self.right is None and self.explanation:
            message, way_out = "an explanation must belong to a choice that is right", "name the choice in right"
            yield Problem("understanding", message, "", way_out, path=f"{path}.explanation")
        elif self.right is not None and self.private is not None:
            message = "a question that checks what respondents have understood must not be private"
            reason = "it is counted answer by answer"
            yield Problem("understanding", message, reason, "take the design or right away", path=f"{path}.right")
        elif self.right is not None and self.right not in self.names:
            message = f"the right choice must be one of {choice_names}; got {self.right!r}"
            yield Problem("understanding", message, "", "write its name", path=f"{path}.right")


class SelectMultiple(_Choosing):
    """Any of several choices. If it is private, each choice is a yes-or-no answer of its own.

    Examples
    --------
    >>> papers = tuple(Choice(name=name, label={"en": name}) for name in ("Times", "Post"))
    >>> SelectMultiple(name="papers", label={"en": "Which do you read?"}, choices=papers).kind
    'select_multiple'
    """

    kind: Literal["select_multiple"] = "select_multiple"
    choices: tuple[Choice, ...]
    private: Private | None = None

    stored: ClassVar[type] = list
    categories_in: ClassVar[str] = "choices"
    yes_or_no: ClassVar[bool] = True

    @property
    def parts(self) -> tuple[str, ...]:
        return self.names

    def category_of(self, value: Any) -> Any:
        return {choice_name: YES_NO[choice_name not in value] for choice_name in self.parts}

    def complaint(self, value: object) -> str | None:
        in_order = isinstance(value, list) and value == [name for name in self.parts if name in value]
        return None if in_order else "must be a list of its choices, each once, in their order"

    @property
    def longest(self) -> int:
        return 2 + sum(quoted(name) + 1 for name in self.parts)

    def value_of(self, cell: object) -> Any:
        """The choices that apply, in their order."""
        if isinstance(cell, Mapping):
            filled_cells = {name: cell[name] for name in self.parts if not _checks.is_missing(cell.get(name))}
            for part_cell in filled_cells.values():
                if _flag_text(part_cell) not in _ANSWERS:
                    raise DataError(f"must be yes or no (1 or 0); it is {described(part_cell)}")
            if 0 < len(filled_cells) < len(self.parts):
                raise DataError("must say yes or no (1 or 0) for every choice, or for none of them")
            chosen_names = [name for name, part_cell in filled_cells.items() if _ANSWERS[_flag_text(part_cell)]]
            return chosen_names if filled_cells else None
        chosen_names = _names_in_cell(cell)
        if (
            isinstance(chosen_names, list)
            and set(map(str, chosen_names)) <= set(self.parts)
            and len(set(chosen_names)) == len(chosen_names)
        ):
            return [choice_name for choice_name in self.parts if choice_name in chosen_names]
        return chosen_names

    def draw(self, rng: np.random.Generator) -> Any:
        return [name for name in self.parts if rng.random() < 0.5]

    def flaws(self, path: str) -> Iterator[Problem]:
        if not self.choices:
            yield Problem("choices", "at least one choice is needed", "", "add choices", path=f"{path}.choices")


def _flag_text(cell: object) -> str:
    return str(cell).strip().lower().removesuffix(".0")


class Grid(_Choosing):
    """Several statements judged on one scale: a choice for each row.

    Examples
    --------
    >>> rows = tuple(Choice(name=name, label={"en": name}) for name in ("state", "press"))
    >>> scale = tuple(Choice(name=name, label={"en": name}) for name in ("trust", "distrust"))
    >>> Grid(name="trust", label={"en": "Do you trust"}, rows=rows, choices=scale).parts
    ('state', 'press')
    """

    kind: Literal["grid"] = "grid"
    rows: tuple[Choice, ...]
    choices: tuple[Choice, ...]

    stored: ClassVar[type] = str
    comparable: ClassVar[bool] = False

    @property
    def parts(self) -> tuple[str, ...]:
        return names_of(self.rows)

    def empty(self, value: object) -> bool:
        return not isinstance(value, Mapping) or None in value.values()

    def complaint(self, value: object) -> str | None:
        allowed_names = {*self.names, None}  # rows in any order: JavaScript moves names such as "1" to the front
        if (
            isinstance(value, dict)
            and value.keys() == set(self.parts)
            and all(isinstance(name, str | None) and name in allowed_names for name in value.values())
        ):
            return None
        return "must be an object of all its rows, each with the name of a choice or null"

    @property
    def longest(self) -> int:
        longest_name = max((quoted(choice_name) for choice_name in self.names), default=0)
        return 2 + sum(quoted(row_name) + 2 + max(4, longest_name) for row_name in self.parts)

    def columns(self, values: Sequence[object]) -> dict[str, list[Any]]:
        answers = [value if isinstance(value, Mapping) else {} for value in values]
        return {f"{self.name}/{row_name}": [answer.get(row_name) for answer in answers] for row_name in self.parts}

    def value_of(self, cell: object) -> Any:
        if not isinstance(cell, Mapping):
            return cell
        choice_of_row = {
            row_name: None if _checks.is_missing(cell.get(row_name)) else cell[row_name] for row_name in self.parts
        }
        return None if all(choice_name is None for choice_name in choice_of_row.values()) else choice_of_row

    def draw(self, rng: np.random.Generator) -> Any:
        return {row_name: str(rng.choice(self.names)) for row_name in self.parts}

    def flaws(self, path: str) -> Iterator[Problem]:
        yield from super().flaws(path)
        if not self.rows:
            yield Problem("choices", "a grid must have rows", "", "add rows", path=f"{path}.rows")


class Ranking(_Choosing):
    """All choices, put in order.

    Examples
    --------
    >>> aims = tuple(Choice(name=name, label={"en": name}) for name in ("schools", "roads"))
    >>> Ranking(name="aims", label={"en": "What comes first?"}, choices=aims).kind
    'ranking'
    """

    kind: Literal["ranking"] = "ranking"
    choices: tuple[Choice, ...]

    stored: ClassVar[type] = list

    def complaint(self, value: object) -> str | None:
        if (
            isinstance(value, list)
            and all(isinstance(name, str) for name in value)
            and sorted(value) == sorted(self.names)
        ):
            return None
        return "must be a list of all its choices, each once"

    @property
    def longest(self) -> int:
        return 2 + sum(quoted(name) + 1 for name in self.names)

    def value_of(self, cell: object) -> Any:
        return _names_in_cell(cell)

    def draw(self, rng: np.random.Generator) -> Any:
        return rng.permutation(self.names).tolist()

    def flaws(self, path: str) -> Iterator[Problem]:
        yield from super().flaws(path)
        if len(self.choices) > _MOST_RANKED:
            message = f"at most {_MOST_RANKED} choices can be ranked; got {len(self.choices)}"
            yield Problem("choices", message, "nobody orders more", "leave some out", path=f"{path}.choices")


KINDS: dict[str, Kind] = {}
"""The kinds of questions by their names in JSON."""


def list_kind(kind: Kind) -> None:
    """Make a kind one of `KINDS`.

    Raises
    ------
    TypeError
        The kind leaves something out, or has the name of another kind.
    """
    left_out = {*getattr(kind, "__abstractmethods__", ()), *({"stored"} - set(dir(kind)))}
    if left_out:
        raise TypeError(f"the kind {kind.flavor()!r} does not say: {', '.join(sorted(left_out))}")
    if kind.flavor() in KINDS:
        raise TypeError(f"there is a kind {kind.flavor()!r} already; give this one another name")
    KINDS[kind.flavor()] = kind


for _kind in (SelectOne, SelectMultiple, Integer, Decimal, Text, Date, Rating, Grid, Ranking):
    list_kind(_kind)
