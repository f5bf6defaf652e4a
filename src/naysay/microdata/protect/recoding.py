"""Recoding: coarser values in place of fine ones, by a table, in bins, between bounds, and dates to periods."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.protect.engines import recoded
from naysay.microdata.protect.log import Done, Log
from naysay.microdata.protect.method import Method, numbers_of
from naysay.microdata.protect.tables import texts

__all__ = ["Bins", "Coarser", "Dates", "Intervals", "Recode", "label_between", "ordered"]

_COARSER = "values are coarser: people who read alike still do; how many others do is counted, not promised"


@dataclass(frozen=True, kw_only=True)
class Coarser(Method):
    """A method that puts a coarser value, a text, in place of each value of one variable; gaps stay."""

    variable: str

    @property
    def foretold(self) -> bool:
        return True

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.variable,)

    @property
    def promise(self) -> str:
        return _COARSER

    def done(self, frame: pl.DataFrame) -> Done:
        column = frame[self.variable]
        if isinstance(column.dtype, pl.List | pl.Array):  # candidates become the candidates of their groups
            flat = column.cast(pl.List(column.dtype.inner)).explode().unique().drop_nulls()
            known = dict(zip(texts(flat).to_list(), self.values(flat.to_frame(self.variable)).to_list(), strict=True))
            made = pl.Series(
                self.variable,
                [None if cell is None else list(dict.fromkeys(known[text] for text in texts(cell).to_list()))
                 for cell in column],
                dtype=pl.List(pl.String),
            )  # fmt: skip
            return Done(frame.with_columns(made))
        return Done(frame.with_columns(self.values(frame.select(self.variable)).alias(self.variable)))

    @abstractmethod
    def values(self, frame: pl.DataFrame) -> pl.Series:
        """The coarser value of each cell, as an Enum whose categories stand in their order."""

    def apply_on(self, engine: str, table: Any) -> tuple[Any, Log]:
        return recoded(self, table, self.values)


def ordered(cells: Sequence[str | None], order: Sequence[str]) -> pl.Series:
    """Texts as an Enum: files of SPSS and Stata number its categories in this order."""
    return pl.Series(cells, dtype=pl.Enum(list(dict.fromkeys(order))))


@dataclass(frozen=True, kw_only=True)
class Recode(Coarser):
    """Values replaced as a table says.

    Parameters
    ----------
    variable : str
    into : mapping of value to value
        Values are written as texts, 1.0 as ``1``.
    others : str, optional
        What all values become that the table does not name. By default every value must be named.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Recode(variable="job", into={"nurse": "care", "doctor": "care"}, others="other").apply(
    ...     {"job": ["nurse", "cook", None]}
    ... )
    >>> safe["job"]
    ['care', 'other', None]
    """

    name: ClassVar[str] = "recode"
    into: Mapping[str, str]
    others: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "into", {str(old): str(new) for old, new in self.into.items()})
        if not self.into and self.others is None:
            raise DataError(f"a recoding of {self.variable!r} must name at least one value")

    def values(self, frame: pl.DataFrame) -> pl.Series:
        cells = texts(frame[self.variable])
        missed = cells.drop_nulls().unique().sort().to_list() if self.others is None else []
        unknown = [value for value in missed if value not in self.into]
        if unknown:
            told = f"the recoding of {self.variable!r} does not say what becomes of {_checks.shown(unknown)}"
            raise DataError(f"{told}; name them, or say what all others become", column=self.variable, value=unknown[0])
        order = [*self.into.values(), *([] if self.others is None else [self.others])]
        found = [None if cell is None else self.into.get(cell, self.others) for cell in cells.to_list()]
        return ordered(found, order)


@dataclass(frozen=True, kw_only=True)
class Bins(Coarser):
    """Numbers in bins of one width: 36 becomes ``35 to 39``.

    Parameters
    ----------
    variable : str
    width : float
    base : float
        Where a bin begins.
    keep : sequence of str
        Values that are no numbers and stay as they are, such as ``refused``.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Bins(variable="age", width=5).apply({"age": [36, 39, 40, None]})
    >>> safe["age"]
    ['35 to 39', '35 to 39', '40 to 44', None]
    """

    name: ClassVar[str] = "bins"
    width: float
    base: float = 0
    keep: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.width > 0:
            raise DataError(f"bins must be wider than 0; got {self.width!r} for {self.variable!r}")
        object.__setattr__(self, "keep", tuple(map(str, self.keep)))

    def values(self, frame: pl.DataFrame) -> pl.Series:
        number, stay = _apart(frame, self.variable, self.keep, self.name)
        low = np.floor((number - self.base) / self.width) * self.width + self.base
        found = np.unique(low[~np.isnan(low)])
        whole = _whole(number) and float(self.width).is_integer() and float(self.base).is_integer()
        words = {each: label_between(each, each + self.width, whole=whole) for each in found.tolist()}
        return _named(low, words, stay, self.keep)


@dataclass(frozen=True, kw_only=True)
class Intervals(Coarser):
    """Numbers between bounds: below the first, from each to the next, and from the last on.

    Parameters
    ----------
    variable : str
    bounds : sequence of float
        Rising; each begins an interval.
    keep : sequence of str
        Values that are no numbers and stay as they are.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Intervals(variable="age", bounds=[18, 65]).apply({"age": [17, 18, 64, 65]})
    >>> safe["age"]
    ['under 18', '18 to 64', '18 to 64', '65 or more']
    """

    name: ClassVar[str] = "intervals"
    bounds: Sequence[float]
    keep: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", tuple(self.bounds))
        object.__setattr__(self, "keep", tuple(map(str, self.keep)))
        if not self.bounds or any(low >= high for low, high in zip(self.bounds, self.bounds[1:], strict=False)):
            raise DataError(f"bounds of {self.variable!r} must rise, one at least; got {_checks.shown(self.bounds)}")

    def values(self, frame: pl.DataFrame) -> pl.Series:
        number, stay = _apart(frame, self.variable, self.keep, self.name)
        place = np.searchsorted(np.array(self.bounds, float), number, side="right").astype(float)
        place[np.isnan(number)] = np.nan
        whole = _whole(number) and all(float(each).is_integer() for each in self.bounds)
        inner = [label_between(low, high, whole=whole) for low, high in zip(self.bounds, self.bounds[1:], strict=False)]
        words = [f"under {_text(self.bounds[0])}", *inner, f"{_text(self.bounds[-1])} or more"]
        return _named(place, dict(enumerate(words)), stay, self.keep)


@dataclass(frozen=True, kw_only=True)
class Dates(Coarser):
    """Dates to the month, quarter or year in which they are.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Dates(variable="born", to="quarter").apply({"born": ["1984-05-03", None]})
    >>> safe["born"]
    ['1984 Q2', None]
    """

    name: ClassVar[str] = "dates"
    to: Literal["month", "quarter", "year"]

    def __post_init__(self) -> None:
        if self.to not in ("month", "quarter", "year"):
            raise DataError(f"dates are coarsened to the month, quarter or year; got {self.to!r}")

    def values(self, frame: pl.DataFrame) -> pl.Series:
        column = frame[self.variable]
        days = column if column.dtype.is_temporal() else texts(column).str.slice(0, 10).str.to_date(strict=False)
        wrong = days.is_null() & texts(column).is_not_null()
        if wrong.any():
            row = wrong.arg_max() or 0
            told = f"column {self.variable!r}, row {row + 1}, holds {str(column[row])[:40]!r}, which is no date"
            raise DataError(f"{told} such as 1984-05-03", row=row, column=self.variable, value=column[row])
        year = days.dt.year().cast(pl.String)
        if self.to == "quarter":
            found = year + " Q" + days.dt.quarter().cast(pl.String)
        else:
            found = year if self.to == "year" else days.dt.strftime("%Y-%m")
        return ordered(found.to_list(), sorted(found.drop_nulls().unique().to_list()))


def _apart(frame: pl.DataFrame, name: str, keep: Sequence[str], what: str) -> tuple[np.ndarray, list[str | None]]:
    """Numbers, NaN where there are none, and the values that stay as they are."""
    if not keep:
        return numbers_of(frame, name, what=what), [None] * frame.height
    cells = texts(frame[name])
    stays = cells.is_in(list(keep)).fill_null(value=False)
    rest = frame.with_columns(cells.set(stays, None).alias(name))
    return numbers_of(rest, name, what=what), cells.set(~stays, None).to_list()


def _named(
    number: np.ndarray, words: Mapping[float, str], stay: Sequence[str | None], keep: Sequence[str]
) -> pl.Series:
    cells = [own if np.isnan(each) else words[each] for each, own in zip(number.tolist(), stay, strict=True)]
    return ordered(cells, [*words.values(), *keep])


def _whole(number: np.ndarray) -> bool:
    known = number[~np.isnan(number)]
    return bool((known == np.floor(known)).all())


def label_between(low: float, high: float, *, whole: bool) -> str:
    """What the numbers from `low` to `high`, which is not among them, are called: ``20 to 24`` for whole numbers."""
    if not whole:
        return f"{_text(low)} to under {_text(high)}"
    return _text(low) if high - low == 1 else f"{_text(low)} to {_text(high - 1)}"


def _text(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else f"{number:.10g}"
