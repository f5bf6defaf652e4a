"""Questions that are answered with a number, a text or a day."""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from naysay import _checks
from naysay.questionnaire.kinds.base import Bin, Label, Private, Question, Row, RowCells, Sheets, number_of
from naysay.questionnaire.problems import Problem
from naysay.questionnaire.xlsform.offers import bins_of

SAFE = 2**53 - 1
"""The largest whole number that JavaScript holds exactly."""

_LONGEST_NUMBER = 25  # characters: one more than JavaScript's longest number, -1.2345678901234567e-300
_SPAN = 130  # width of random numbers without both bounds: years of age fit, and most counts
_MOST_POINTS = 21
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

    def complaint(self, value: Any) -> str | None:
        bottom = max(-SAFE, -SAFE if self.low is None else self.low)
        top = min(SAFE, SAFE if self.high is None else self.high)
        inside = type(value) is int and bottom <= value <= top  # True is an int to Python, but no number here
        return None if inside else f"must be a whole number from {bottom} to {top}"

    def value_of(self, cell: Any) -> Any:
        is_whole_text = isinstance(cell, str) and _WHOLE.fullmatch(cell.strip())
        return int(cell) if is_whole_text or (isinstance(cell, float) and cell.is_integer()) else cell


class _Number(Question):
    bins: tuple[Bin, ...] = ()
    private: Private | None = None

    if TYPE_CHECKING:  # each kind declares this field: declared here, it would come before `kind` in JSON
        low: float | None
        high: float | None

    categories_in: ClassVar[str] = "bins"
    fields: ClassVar[Mapping[str, str]] = {"bins": "naysay_bins", "low": "naysay_range", "high": "naysay_range"}

    def bin_of(self, value: float) -> str:
        """The name of the bin that a number falls into, the category of a private number.

        Examples
        --------
        >>> ends = [("small", 10), ("large", None)]
        >>> bins = [Bin(name=name, label={}, below=below) for name, below in ends]
        >>> Integer(name="n", label={}, bins=bins).bin_of(10)
        'large'
        """
        return next(number_bin.name for number_bin in self.bins if number_bin.below is None or value < number_bin.below)

    def category_of(self, value: Any) -> Any:
        return self.bin_of(value)

    def uncategorized(self, value: Any) -> str | None:
        top = self.bins[-1].below
        return None if top is None or value < top else f"must be a number below {top:g}"

    @property
    def longest(self) -> int:
        return _LONGEST_NUMBER

    def _limits(self) -> tuple[float, float]:
        """The range to draw from: the limits, or the bounds of the bins plus one bin beyond them."""
        bounds = [number_bin.below for number_bin in self.bins if number_bin.below is not None]
        width = (bounds[-1] - bounds[0]) / (len(bounds) - 1) if len(bounds) > 1 else _SPAN
        low = self.low if self.low is not None else min(0.0, *bounds[:1], 0.0)
        high = self.high if self.high is not None else (bounds[-1] + width if bounds else low + _SPAN)
        last = self.bins[-1].below if self.bins else None
        return float(low), float(high if last is None else min(high, last - 1))

    def flaws(self, path: str) -> Iterator[Problem]:
        if self.low is not None and self.high is not None and self.low > self.high:
            message = f"a range must run upwards; got {self.low} to {self.high}"
            yield Problem("scales", message, "", "exchange the ends", path=f"{path}.low")
        yield from self._bin_flaws(f"{path}.bins")

    def _bin_flaws(self, path: str) -> Iterator[Problem]:
        """Problems of bins: they must rise and, for a private number, cover all numbers."""
        if self.private is None:
            if self.bins:
                message = "bins of a direct number are not used"
                yield Problem("bins", message, "its answer is sent as it is", "leave them out", "warning", path=path)
            return
        if len(self.bins) < 2:
            message = f"a private number needs at least two bins; got {len(self.bins)}"
            way_out = "write where they end, such as 20,40,60"
            yield Problem("bins", message, "a design is about categories", way_out, path=path)
            return
        ends = [number_bin.below for number_bin in self.bins]
        for place, (first, second) in enumerate(pairwise(ends[:-1]), start=1):
            if first is not None and second is not None and not first < second:
                message, way_out = f"bins must go up; {second:g} follows {first:g}", "put them in order"
                yield Problem("bins", message, "a bin would be empty", way_out, path=f"{path}[{place}].below")
        for place, end in enumerate(ends, start=1):
            if (end is None) != (place == len(ends)):
                message = "every bin but the last must say below what it ends, and the last must take all other numbers"
                end_path, way_out = f"{path}[{place - 1}].below", "write null there only"
                yield Problem("bins", message, "some numbers would have no bin", way_out, path=end_path)

    @classmethod
    def of_row(cls, row: Row) -> dict[str, Any]:
        bins = cls._bins_of(row)
        return cls._range_of(row) | ({"bins": bins} if bins else {})

    @classmethod
    def _range_of(cls, row: Row) -> dict[str, Any]:
        text = row.text("naysay_range")
        low, dots, high = text.partition("..")
        ends = {name: number_of(end) for name, end in (("low", low), ("high", high)) if end.strip()}
        if text and (not dots or None in ends.values()):
            row.problem("naysay_range", f"a range is written as 0..20, or 0.. without an upper end; got {text!r}")
            return {}
        return {name: cls._as_written(end) for name, end in ends.items() if end is not None}

    @classmethod
    def _bins_of(cls, row: Row) -> list[dict[str, Any]]:
        text = row.text("naysay_bins")
        if not text:
            return []
        list_name, colon, bounds_text = text.rpartition(":")
        bounds = [number_of(bound_text) for bound_text in bounds_text.split(",")]
        whole_bounds = [cls._as_written(bound) for bound in bounds if bound is not None]
        if len(whole_bounds) < len(bounds):
            message = f"bins are written as the numbers between them, such as 20,40,60; got {text!r}"
            row.problem("naysay_bins", message)
            return []
        bins = bins_of(whole_bounds, row.languages, whole=cls is Integer)
        return _with_words(row, list_name.strip(), bins) if colon else bins

    @classmethod
    def _as_written(cls, value: float) -> float | int:
        """A number as JSON holds it: without a decimal point if the question asks for whole numbers."""
        return int(value) if cls is Integer and value == int(value) else value

    def written(self, sheets: Sheets) -> list[RowCells]:
        ends = ["" if end is None else f"{end:.15g}" for end in (self.low, self.high)]
        [first] = super().written(sheets)
        if any(ends):
            first["range"] = "..".join(ends)
        if self.bins:
            bounds = ", ".join(
                f"{number_bin.below:.15g}" for number_bin in self.bins[:-1] if number_bin.below is not None
            )
            first["bins"] = f"{sheets.list_of(self.name, self.bins)}: {bounds}"
        return [first]


def _with_words(row: Row, name: str, bins: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Bins with the names and words of a list of choices."""
    choices = row.choices(name)
    if len(choices) != len(bins):
        message = f"{len(bins) - 1} numbers make {len(bins)} bins; the list {name!r} has {len(choices)} choices"
        row.problem("naysay_bins", message, "write one choice for each bin")
        return bins
    return [number_bin | choice for number_bin, choice in zip(bins, choices, strict=True)]


class Integer(_Whole, _Number):
    """A whole number; if it is private, the bin that it falls into.

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

    types: ClassVar[tuple[str, ...]] = ("integer", "int")

    def draw(self, rng: np.random.Generator) -> Any:
        low, high = self._limits()
        return int(rng.integers(int(low), int(high) + 1))


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
    types: ClassVar[tuple[str, ...]] = ("decimal",)

    def complaint(self, value: Any) -> str | None:
        # JSON may hold an integer of 400 digits, which is no float
        if type(value) not in (int, float) or abs(value) > 1e308:
            return "must be a number"
        bottom, top = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
        return None if bottom <= value <= top else f"must be a number from {bottom:g} to {top:g}"

    def value_of(self, cell: Any) -> Any:
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

    types: ClassVar[tuple[str, ...]] = ("range",)
    fields: ClassVar[Mapping[str, str]] = {"low_label": "naysay_low_label", "high_label": "naysay_high_label"}

    def draw(self, rng: np.random.Generator) -> Any:
        return int(rng.integers(self.low, self.high + 1))

    def flaws(self, path: str) -> Iterator[Problem]:
        if not 1 <= self.high - self.low < _MOST_POINTS:
            message = f"a rating must run upwards over 2 to {_MOST_POINTS} points; got {self.low} to {self.high}"
            yield Problem("scales", message, "", "ask with integer for more", path=f"{path}.low")

    @classmethod
    def of_row(cls, row: Row) -> dict[str, Any]:
        parameters = dict(part.partition("=")[::2] for part in row.text("parameters").replace(",", " ").split())
        rating_fields: dict[str, Any] = {}
        for name, key, default in (("low", "start", 1), ("high", "end", 5), ("", "step", 1)):
            text = parameters.pop(key, str(default))
            value = number_of(text)
            if value is None or value != int(value) or (key == "step" and value != 1):
                allowed_text = "1" if key == "step" else "a whole number"
                way_out = "ask with integer or decimal and bind::naysay_range"
                row.problem("parameters", f"{key} must be {allowed_text}; got {text!r}", way_out)
            elif name:
                rating_fields[name] = int(value)
        if parameters:
            row.problem(
                "parameters", f"parameters {_checks.listing_text(parameters)} are not understood", "leave them out"
            )
        return rating_fields | cls._worded_ends(row)

    @classmethod
    def _worded_ends(cls, row: Row) -> dict[str, Any]:
        labels = {field: row.label(column) for field, column in cls.fields.items()}
        return {field: label for field, label in labels.items() if label}

    def written(self, sheets: Sheets) -> list[RowCells]:
        [first] = super().written(sheets)
        ends = {"low_label": self.low_label, "high_label": self.high_label}
        return [{**first, "parameters": f"start={self.low} end={self.high} step=1", **ends}]


def likert(row: Row, choices: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The fields of a rating, if the names of these choices are numbers that rise by one; else None."""
    names = [choice["name"] for choice in choices]
    if not names or not all(name.lstrip("-").isdecimal() and len(name) < 6 for name in names):
        return None
    low, high = int(names[0]), int(names[-1])
    if [str(point) for point in range(low, high + 1)] != names or len(names) > _MOST_POINTS:
        return None
    ends = {"low_label": choices[0]["label"], "high_label": choices[-1]["label"]}
    return {"kind": "rating", "low": low, "high": high, **ends, **Rating._worded_ends(row)}


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
    types: ClassVar[tuple[str, ...]] = ("text", "string")
    fields: ClassVar[Mapping[str, str]] = {"max_length": "naysay_max_length", "lines": "naysay_lines"}

    def complaint(self, value: Any) -> str | None:
        if not isinstance(value, str) or len(value) > self.max_length:
            return f"must be a text of {self.max_length:,} characters at most"
        if any(unicodedata.category(letter) in _FORBIDDEN and letter != "\n" for letter in value):
            return "must be a text without control characters other than new lines"
        return None

    @property
    def longest(self) -> int:
        return 2 + 4 * self.max_length

    def value_of(self, cell: Any) -> Any:
        return cell

    def draw(self, rng: np.random.Generator) -> Any:
        return " ".join(rng.choice(_WORDS, 4))[: self.max_length]

    @classmethod
    def of_row(cls, row: Row) -> dict[str, Any]:
        text_fields: dict[str, Any] = {"lines": 4} if "multiline" in row.text("appearance") else {}
        for field, column in cls.fields.items():
            text = row.text(column)
            if text and not (text.isdecimal() and len(text) < 6):
                row.problem(column, f"here must stand a whole number; got {text!r}")
            elif text:
                text_fields[field] = int(text)
        return text_fields

    def written(self, sheets: Sheets) -> list[RowCells]:
        [first] = super().written(sheets)
        lines = {"lines": str(self.lines)} if self.lines != 1 else {}
        return [{**first, "max_length": str(self.max_length), **lines}]


class Date(Question):
    """A day.

    Examples
    --------
    >>> Date(name="moved_in", label={"en": "Since when?"}, required=True).required
    True
    """

    kind: Literal["date"] = "date"

    stored: ClassVar[type] = datetime.date
    types: ClassVar[tuple[str, ...]] = ("date",)

    def complaint(self, value: Any) -> str | None:
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

    def columns(self, values: Sequence[Any]) -> dict[str, list[Any]]:
        return {self.name: [value and datetime.date.fromisoformat(value) for value in values]}

    def value_of(self, cell: Any) -> Any:
        day = cell.date() if isinstance(cell, datetime.datetime) else cell
        return day.isoformat() if isinstance(day, datetime.date) else day

    def draw(self, rng: np.random.Generator) -> Any:
        today = datetime.datetime.now().astimezone().date()
        return str(today - datetime.timedelta(days=int(rng.integers(1, 36_500))))
