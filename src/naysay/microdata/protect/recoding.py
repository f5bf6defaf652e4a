"""Recoding: coarser values in place of fine ones, by a table, in bins, between bounds, and dates to periods.

Top and bottom coding: values beyond a threshold become one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import check_choice, check_names
from naysay.microdata.protect.engines import recode_on_engine
from naysay.microdata.protect.log import Done, Log
from naysay.microdata.protect.method import Method, numbers_of
from naysay.microdata.protect.tables import texts

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
            coarser_of = dict(
                zip(texts(flat).to_list(), self.values(flat.to_frame(self.variable)).to_list(), strict=True)
            )
            coarser_cells = pl.Series(
                self.variable,
                [None if cell is None else list(dict.fromkeys(coarser_of[text] for text in texts(cell).to_list()))
                 for cell in column],
                dtype=pl.List(pl.String),
            )  # fmt: skip
            return Done(frame.with_columns(coarser_cells))
        return Done(frame.with_columns(self.values(frame.select(self.variable)).alias(self.variable)))

    @abstractmethod
    def values(self, frame: pl.DataFrame) -> pl.Series:
        """The coarser value of each cell, as an Enum whose categories stand in their order."""

    def apply_on(self, engine: str, table: Any) -> tuple[Any, Log]:
        return recode_on_engine(self, table, self.values)


def enum_of_labels(cells: Sequence[str | None], order: Sequence[str]) -> pl.Series:
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
        file_values = cells.drop_nulls().unique().sort().to_list() if self.others is None else []
        unknown = [value for value in file_values if value not in self.into]
        if unknown:
            complaint = (
                f"the recoding of {self.variable!r} does not say what becomes of {_checks.listing_text(unknown)}"
            )
            raise DataError(
                f"{complaint}; name them, or say what all others become", column=self.variable, value=unknown[0]
            )
        order = [*self.into.values(), *([] if self.others is None else [self.others])]
        recoded_cells = [None if cell is None else self.into.get(cell, self.others) for cell in cells.to_list()]
        return enum_of_labels(recoded_cells, order)


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
        bin_starts = np.unique(low[~np.isnan(low)])
        whole = _is_whole(number) and float(self.width).is_integer() and float(self.base).is_integer()
        words = {
            bin_start: label_between(bin_start, bin_start + self.width, whole=whole)
            for bin_start in bin_starts.tolist()
        }
        return _label_cells(low, words, stay, self.keep)


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
            raise DataError(
                f"bounds of {self.variable!r} must rise, one at least; got {_checks.listing_text(self.bounds)}"
            )

    def values(self, frame: pl.DataFrame) -> pl.Series:
        number, stay = _apart(frame, self.variable, self.keep, self.name)
        place = np.searchsorted(np.array(self.bounds, float), number, side="right").astype(float)
        place[np.isnan(number)] = np.nan
        whole = _is_whole(number) and all(float(bound).is_integer() for bound in self.bounds)
        inner = [label_between(low, high, whole=whole) for low, high in zip(self.bounds, self.bounds[1:], strict=False)]
        words = [f"under {_text(self.bounds[0])}", *inner, f"{_text(self.bounds[-1])} or more"]
        return _label_cells(place, dict(enumerate(words)), stay, self.keep)


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
            complaint = f"column {self.variable!r}, row {row + 1}, holds {str(column[row])[:40]!r}, which is no date"
            raise DataError(f"{complaint} such as 1984-05-03", row=row, column=self.variable, value=column[row])
        year = days.dt.year().cast(pl.String)
        if self.to == "quarter":
            periods = year + " Q" + days.dt.quarter().cast(pl.String)
        else:
            periods = year if self.to == "year" else days.dt.strftime("%Y-%m")
        return enum_of_labels(periods.to_list(), sorted(periods.drop_nulls().unique().to_list()))


def _apart(frame: pl.DataFrame, name: str, keep: Sequence[str], what: str) -> tuple[np.ndarray, list[str | None]]:
    """Numbers, NaN where there are none, and the values that stay as they are."""
    if not keep:
        return numbers_of(frame, name, what=what), [None] * frame.height
    cells = texts(frame[name])
    stays = cells.is_in(list(keep)).fill_null(value=False)
    numeric_frame = frame.with_columns(cells.set(stays, None).alias(name))
    return numbers_of(numeric_frame, name, what=what), cells.set(~stays, None).to_list()


def _label_cells(
    number: np.ndarray, words: Mapping[float, str], stay: Sequence[str | None], keep: Sequence[str]
) -> pl.Series:
    cells = [
        stay_text if np.isnan(cell_number) else words[cell_number]
        for cell_number, stay_text in zip(number.tolist(), stay, strict=True)
    ]
    return enum_of_labels(cells, [*words.values(), *keep])


def _is_whole(number: np.ndarray) -> bool:
    known_numbers = number[~np.isnan(number)]
    return bool((known_numbers == np.floor(known_numbers)).all())


def label_between(low: float, high: float, *, whole: bool) -> str:
    """What the numbers from `low` to `high`, which is not among them, are called: ``20 to 24`` for whole numbers."""
    if not whole:
        return f"{_text(low)} to under {_text(high)}"
    return _text(low) if high - low == 1 else f"{_text(low)} to {_text(high - 1)}"


def _text(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else f"{number:.10g}"


Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Top(Method):
    """The highest values replaced by one number for all of them.

    Parameters
    ----------
    variable : str
    above : float, optional
        The threshold; values above it are coded.
    share : float, optional
        Instead: the share of records to be coded, at most; the threshold is a value of the file.
    least : int
        Records that must lie beyond the threshold, or it would tell about single people.
    by : {"mean", "median", "threshold"}
        What stands in their place. The mean keeps the mean of the column, with `weight` the weighted one.
    weight : str, optional
        Column of sampling weights.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Top(variable="income", above=100, least=3).apply({"income": [40, 90, 110, 150, 400]})
    >>> safe["income"]
    [40, 90, 220, 220, 220]
    """

    name: ClassVar[str] = "top"
    arithmetic: ClassVar[bool] = True
    variable: str
    above: float | None = None
    share: float | None = None
    least: int = 3
    by: Literal["mean", "median", "threshold"] = "mean"
    weight: str | None = None

    _sign: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if (self._threshold is None) == (self.share is None):
            raise DataError(f"say where {self.variable!r} is coded: by a threshold, or by a share of the records")
        if self.share is not None and not 0 < self.share < 1:
            raise DataError(f"the share of records to be coded must lie between 0 and 1; got {self.share!r}")
        check_choice(self.by, ("mean", "median", "threshold"), what="by")
        _checks.whole_number(self.least, 1, 2**31, what="least")

    @property
    def _threshold(self) -> float | None:
        return self.above

    @property
    def foretold(self) -> bool:
        return True

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.variable,)

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.variable, *([] if self.weight is None else [self.weight]))

    @property
    def promise(self) -> str:
        what_stays = (
            "the mean is kept, the variance is not" if self.by == "mean" else "neither mean nor variance is kept"
        )
        return f"{self.least} records or more share the coded value; {what_stays}"

    def done(self, frame: pl.DataFrame) -> Done:
        check_names(self.needs, frame.columns)
        number = self._sign * numbers_of(frame, self.variable, what=self.name)
        limit = self._limit(number)
        beyond = number > limit
        if 0 < beyond.sum() < self.least:
            complaint = f"{int(beyond.sum())} records lie beyond {self._sign * limit:g} of {self.variable!r}"
            raise DataError(f"{complaint}, fewer than {self.least}: take a threshold that more of them pass")
        if not beyond.any():
            return Done(frame, None, (f"no value lies beyond {self._sign * limit:g}: nothing was changed",))
        weight = np.ones(len(number)) if self.weight is None else numbers_of(frame, self.weight, what="a weight")
        coded_numbers = number.copy()
        coded_numbers[beyond] = {"threshold": limit, "median": float(np.median(number[beyond]))}.get(
            self.by, float(np.average(number[beyond], weights=weight[beyond]))
        )
        lost = 1 - np.nanvar(coded_numbers) / np.nanvar(number) if np.nanvar(number) else 0.0
        coded_value = self._sign * coded_numbers[beyond][0]
        notes = (
            f"{int(beyond.sum()):,} records beyond {self._sign * limit:g} got {coded_value:.6g}",
            f"the variance falls by {100 * lost:.1f} %",
        )
        return Done(frame.with_columns(with_gaps(frame[self.variable], self._sign * coded_numbers)), None, notes)

    def _limit(self, number: Floats) -> float:
        """The threshold: given, or the value that at most the share of the records exceed."""
        if self._threshold is not None:
            return self._sign * self._threshold
        sorted_numbers = np.sort(number[~np.isnan(number)])
        if not len(sorted_numbers):
            raise DataError(f"column {self.variable!r} holds no number", column=self.variable)
        return float(sorted_numbers[max(int(np.ceil(len(sorted_numbers) * (1 - (self.share or 0)) - 1e-9)) - 1, 0)])


@dataclass(frozen=True, kw_only=True)
class Bottom(Top):
    """The lowest values replaced by one number for all of them: `Top`, turned around.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Bottom(variable="age", below=20, by="threshold").apply({"age": [17, 18, 18, 35]})
    >>> safe["age"]
    [20, 20, 20, 35]
    """

    name: ClassVar[str] = "bottom"
    below: float | None = None
    _sign: ClassVar[int] = -1

    @property
    def _threshold(self) -> float | None:
        if self.above is not None:
            raise DataError("bottom coding takes 'below'; 'above' is for top coding")
        return self.below


def with_gaps(column: pl.Series, number: Floats) -> pl.Series:
    """A column's new numbers with gaps where they are NaN: whole numbers again where the column held no others."""
    gapped_numbers = pl.Series(column.name, number).fill_nan(None)
    is_whole = bool(((gapped_numbers == gapped_numbers.round(0)) & (gapped_numbers.abs() < 2**53)).all())
    return gapped_numbers.cast(pl.Int64) if is_whole and not column.dtype.is_float() else gapped_numbers
