"""Methods that tell less: coarser values, columns left out, new numbers, and rows in another order.

Values are recoded by a table, in bins, between bounds, from dates to periods, and in tails. On DuckDB and Spark that is
decided on distinct values, and done where the table is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats, JsonObject
from naysay.errors import DataError
from naysay.microdata.keys.codes import check_choice, check_names
from naysay.microdata.keys.engines import engine_for
from naysay.microdata.protect.method import (
    Cells,
    Done,
    Log,
    Method,
    OfColumns,
    Random,
    Step,
    alike,
    numbers_of,
    several,
    texts,
)

if TYPE_CHECKING:
    from narwhals.typing import IntoLazyFrame

_NEW, _VALUE, _ROWS = "naysay_new", "naysay_value", "naysay_rows"


@dataclass(frozen=True, kw_only=True)
class Coarser(Method):
    """A method that puts a coarser value, a text, in place of each value of one variable; gaps stay."""

    variable: str
    foretold = True
    promise = "values are coarser: people who read alike still do; how many others do is counted, not promised"

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.variable,)

    def done(self, frame: pl.DataFrame) -> Done:
        column = frame[self.variable]
        if isinstance(column.dtype, pl.List | pl.Array):  # candidates become the candidates of their groups
            candidate_values = column.cast(pl.List(column.dtype.inner)).explode().unique().drop_nulls()
            labels = self.values(candidate_values.to_frame(self.variable)).to_list()
            coarser_of = dict(zip(texts(candidate_values).to_list(), labels, strict=True))
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

    def apply_on(self, engine: str, table: IntoLazyFrame) -> tuple[Any, Log]:
        # decided on distinct values, and joined back
        engine_place = engine_for(engine, table)
        engine_table, variable_name = nw.from_native(table), self.variable
        table_columns = engine_table.collect_schema().names()
        check_names([variable_name], table_columns)
        distinct_values = engine_place.collected(engine_table.group_by(variable_name).agg(nw.len().alias(_ROWS)))
        coarser_values = self.values(distinct_values.select(variable_name)).cast(pl.String).alias(_NEW)
        recoded_values = distinct_values.with_columns(coarser_values).filter(pl.col(variable_name).is_not_null())
        lifted_values = engine_place.lift(
            recoded_values.select(pl.col(variable_name).alias(_VALUE), _NEW), {_VALUE: variable_name}
        )
        joined_rows = engine_table.join(lifted_values, left_on=variable_name, right_on=_VALUE, how="left")
        recoded_table = joined_rows.with_columns(nw.col(_NEW).alias(variable_name)).select(*table_columns)
        differs = recoded_values.filter(~alike(recoded_values[variable_name], recoded_values[_NEW]))[_ROWS].sum()
        cells = Cells(variable_name, int(recoded_values[_ROWS].sum()), int(differs), 0)
        return recoded_table.to_native(), Log((Step(self, int(distinct_values[_ROWS].sum()), 0, (cells,)),))


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
        cell_texts = texts(frame[self.variable])
        file_values = cell_texts.drop_nulls().unique().sort().to_list() if self.others is None else []
        unknown_values = [value for value in file_values if value not in self.into]
        if unknown_values:
            complaint = (
                f"the recoding of {self.variable!r} does not say what becomes of {_checks.listing_text(unknown_values)}"
            )
            raise DataError(
                f"{complaint}; name them, or say what all others become", column=self.variable, value=unknown_values[0]
            )
        label_order = [*self.into.values(), *([] if self.others is None else [self.others])]
        recoded_cells = [None if cell is None else self.into.get(cell, self.others) for cell in cell_texts.to_list()]
        return enum_of_labels(recoded_cells, label_order)


@dataclass(frozen=True, kw_only=True)
class Areas(Coarser):
    """Areas below a threshold of people put together, so that no released area holds fewer.

    The smallest areas become one. If all of them together still hold too few people, the next larger area joins them.
    Only areas with a record count.

    Parameters
    ----------
    variable : str
    people : mapping of area to number
        How many people live in each area, from official statistics and not from the file.
    least : int
        The threshold.
    others : str
        What the small areas become.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> towns = protect.Areas(variable="town", people={"a": 800_000, "b": 90_000, "c": 70_000}, least=100_000)
    >>> towns.apply({"town": ["a", "b", "c", None]})[0]["town"]
    ['a', 'other areas', 'other areas', None]
    >>> towns.below
    ('c', 'b')

    Source: Mulder, section 2.6 (after Hawala 2003): no geographic information on areas of fewer than 100,000 people.
    """

    name: ClassVar[str] = "areas"
    people: Mapping[str, float]
    least: int = 100_000
    others: str = "other areas"

    def __post_init__(self) -> None:
        object.__setattr__(self, "people", {str(area): number for area, number in self.people.items()})
        _checks.whole_number(self.least, 2, 2**53, what="least")
        wrong_area = next((area for area, number in self.people.items() if not number >= 0), None)
        if wrong_area is not None:
            raise DataError(f"the people of area {wrong_area!r} must be a number from 0 on", column=self.variable)
        if sum(self.people.values()) < self.least:
            raise DataError(f"all areas of {self.variable!r} together hold fewer than {self.least:,} people: drop it")

    def verdict(self, column: pl.Series) -> JsonObject:
        """The areas of a column with fewer people than the threshold, and how many records are in them.

        Raises
        ------
        DataError
            An area whose people are not said.
        """
        cell_texts = texts(column)
        self._check_known(cell_texts)
        is_below = cell_texts.is_in(list(self.below)).fill_null(value=False)
        shown_areas = set(cell_texts.filter(is_below))
        return {
            "column": self.variable,
            "least": self.least,
            "areas": cell_texts.drop_nulls().n_unique(),
            "areas_below": [area for area in self.below if area in shown_areas],
            "records_below": int(is_below.sum()),
        }

    @property
    def below(self) -> tuple[str, ...]:
        """The areas that hold fewer people than the threshold, smallest first."""
        areas_by_size = sorted(self.people, key=lambda area: self.people[area])
        return tuple(area for area in areas_by_size if self.people[area] < self.least)

    def joined(self, column: pl.Series) -> tuple[str, ...]:
        """The areas of a column that become one: those below the threshold, and larger ones until they reach it.

        Only areas that the column holds count. People of any other area are no shield: nobody of them can be meant.

        Raises
        ------
        DataError
            An area whose people are not said, or areas that hold fewer people all together.
        """
        cell_texts = texts(column)
        self._check_known(cell_texts)
        areas_by_size = sorted(set(cell_texts.drop_nulls().to_list()), key=lambda area: (self.people[area], area))
        number = sum(self.people[area] < self.least for area in areas_by_size)
        while number and sum(self.people[area] for area in areas_by_size[:number]) < self.least:
            number += 1
            if number > len(areas_by_size):
                raise DataError(
                    f"all areas of {self.variable!r} with a record together hold fewer than {self.least:,} people: "
                    "drop it",
                    column=self.variable,
                )
        return tuple(areas_by_size[:number])

    @property
    def promise(self) -> str:  # type: ignore[override]
        return f"every area that is told, by this variable alone, holds {self.least:,} people or more"

    def values(self, frame: pl.DataFrame) -> pl.Series:
        if self.others in self.people:
            raise DataError(f"{self.others!r} is an area itself; name the small areas otherwise with others=")
        cell_texts = texts(frame[self.variable])
        joined = set(self.joined(cell_texts))
        cells = [self.others if cell in joined else cell for cell in cell_texts.to_list()]
        return enum_of_labels(cells, [*(area for area in self.people if area not in joined), self.others])

    def check_left(self, frame: pl.DataFrame, row_origins: pl.Series, area_rows: pl.DataFrame) -> None:
        """Hold each text of a released column against the areas whose records are left behind it.

        Parameters
        ----------
        frame : (n,) table
            The release, after all steps.
        row_origins : (n,) int
            The row of the original that each row of it was; where rows are new, nothing is held.
        area_rows : table of row and area
            The area of each row of the original, before this step.

        Raises
        ------
        DataError
            Later steps emptied areas, so that a text stands for fewer people than the threshold.
        """
        if self.variable not in frame.columns or frame.height != len(row_origins):
            return
        told_rows = pl.DataFrame({"row": row_origins, "told": texts(frame[self.variable])})
        told_areas = told_rows.join(area_rows, on="row").drop_nulls().select("told", "area").unique().sort("told")
        for told, left_areas in told_areas.group_by("told", maintain_order=True).agg("area").iter_rows():
            people_left = sum(self.people[area] for area in left_areas)
            if max(people_left, self.people.get(told, 0)) < self.least:
                emptied = sorted(set(self.joined(area_rows["area"])) - set(left_areas))
                raise DataError(
                    f"the steps after the rule on areas left no record of {_checks.listing_text(emptied)}: the rest of "
                    f"{told!r} holds {people_left:,.0f} people, not {self.least:,}; give these areas 0 people in "
                    "the list, so that a larger one joins",
                    column=self.variable,
                )

    def _check_known(self, cell_texts: pl.Series) -> None:
        unknown_areas = sorted(set(cell_texts.drop_nulls().to_list()) - set(self.people))
        if unknown_areas:
            raise DataError(
                f"how many people live in {unknown_areas[0]!r} is not said; add a row for it to the list of people "
                f"({_checks.nearest(unknown_areas[0], self.people)})",
                column=self.variable,
                value=unknown_areas[0],
            )


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
        cell_numbers, stay_texts = _apart(frame, self.variable, self.keep, self.name)
        cell_starts = np.floor((cell_numbers - self.base) / self.width) * self.width + self.base
        bin_starts = np.unique(cell_starts[~np.isnan(cell_starts)])
        is_whole = _is_whole(cell_numbers) and float(self.width).is_integer() and float(self.base).is_integer()
        bin_labels = {
            bin_start: label_between(bin_start, bin_start + self.width, whole=is_whole)
            for bin_start in bin_starts.tolist()
        }
        return _label_cells(cell_starts, bin_labels, stay_texts, self.keep)


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
        cell_numbers, stay_texts = _apart(frame, self.variable, self.keep, self.name)
        interval_places = np.searchsorted(np.array(self.bounds, float), cell_numbers, side="right").astype(float)
        interval_places[np.isnan(cell_numbers)] = np.nan
        is_whole = _is_whole(cell_numbers) and all(float(bound).is_integer() for bound in self.bounds)
        inner = [
            label_between(low, high, whole=is_whole) for low, high in zip(self.bounds, self.bounds[1:], strict=False)
        ]
        words = [f"under {_text(self.bounds[0])}", *inner, f"{_text(self.bounds[-1])} or more"]
        return _label_cells(interval_places, dict(enumerate(words)), stay_texts, self.keep)


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
        is_wrong = days.is_null() & texts(column).is_not_null()
        if is_wrong.any():
            wrong_row = is_wrong.arg_max() or 0
            complaint = (
                f"column {self.variable!r}, row {wrong_row + 1}, "
                f"holds {str(column[wrong_row])[:40]!r}, which is no date"
            )
            raise DataError(
                f"{complaint} such as 1984-05-03", row=wrong_row, column=self.variable, value=column[wrong_row]
            )
        year_texts = days.dt.year().cast(pl.String)
        if self.to == "quarter":
            period_texts = year_texts + " Q" + days.dt.quarter().cast(pl.String)
        else:
            period_texts = year_texts if self.to == "year" else days.dt.strftime("%Y-%m")
        return enum_of_labels(period_texts.to_list(), sorted(period_texts.drop_nulls().unique().to_list()))


def _apart(frame: pl.DataFrame, name: str, keep: Sequence[str], what: str) -> tuple[np.ndarray, list[str | None]]:
    """Numbers, NaN where there are none, and the values that stay as they are."""
    if not keep:
        return numbers_of(frame, name, what=what), [None] * frame.height
    cell_texts = texts(frame[name])
    stays = cell_texts.is_in(list(keep)).fill_null(value=False)
    numeric_frame = frame.with_columns(cell_texts.set(stays, None).alias(name))
    return numbers_of(numeric_frame, name, what=what), cell_texts.set(~stays, None).to_list()


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
    foretold = True
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
        cell_numbers = self._sign * numbers_of(frame, self.variable, what=self.name)
        if self._threshold is not None:
            coding_limit = self._sign * self._threshold
        else:  # the value that at most the share of the records exceed
            sorted_numbers = np.sort(cell_numbers[~np.isnan(cell_numbers)])
            if not len(sorted_numbers):
                raise DataError(f"column {self.variable!r} holds no number", column=self.variable)
            least_place = int(np.ceil(len(sorted_numbers) * (1 - (self.share or 0)) - 1e-9)) - 1
            coding_limit = float(sorted_numbers[max(least_place, 0)])
        is_beyond = cell_numbers > coding_limit
        if 0 < is_beyond.sum() < self.least:
            complaint = f"{int(is_beyond.sum())} records lie beyond {self._sign * coding_limit:g} of {self.variable!r}"
            raise DataError(f"{complaint}, fewer than {self.least}: take a threshold that more of them pass")
        if not is_beyond.any():
            return Done(frame, None, (f"no value lies beyond {self._sign * coding_limit:g}: nothing was changed",))
        row_weights = (
            np.ones(len(cell_numbers)) if self.weight is None else numbers_of(frame, self.weight, what="a weight")
        )
        coded_numbers = cell_numbers.copy()
        coded_numbers[is_beyond] = {"threshold": coding_limit, "median": float(np.median(cell_numbers[is_beyond]))}.get(
            self.by, float(np.average(cell_numbers[is_beyond], weights=row_weights[is_beyond]))
        )
        lost_variance = 1 - np.nanvar(coded_numbers) / np.nanvar(cell_numbers) if np.nanvar(cell_numbers) else 0.0
        coded_value = self._sign * coded_numbers[is_beyond][0]
        notes = (
            f"{int(is_beyond.sum()):,} records beyond {self._sign * coding_limit:g} got {coded_value:.6g}",
            f"the variance falls by {100 * lost_variance:.1f} %",
        )
        return Done(frame.with_columns(with_gaps(frame[self.variable], self._sign * coded_numbers)), None, notes)


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


@dataclass(frozen=True, kw_only=True)
class Drop(OfColumns):
    """Columns left out, such as numbers of respondents.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> protect.Drop(columns=["id"]).apply({"id": [1, 2], "age": [36, 40]})[0]
    {'age': [36, 40]}
    """

    name: ClassVar[str] = "drop"
    foretold = True
    promise = "nobody learns what is not there"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "leaving out"))

    def done(self, frame: pl.DataFrame) -> Done:
        if frame.width == len(self.columns):
            raise DataError("no column would be left; leave out fewer")
        return Done(frame.drop(self.columns))


@dataclass(frozen=True, kw_only=True)
class Shuffle(Random):
    """Rows in random order.

    In the order of the original, a row is linked with the same row of any other release, and with what somebody saw or
    sorted: the order is a name.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> sorted(protect.Shuffle().apply({"age": [40, 36, 23]})[0]["age"])
    [23, 36, 40]
    """

    name: ClassVar[str] = "shuffle"
    foretold = True
    promise = "the place of a row tells nothing"

    @property
    def variables(self) -> tuple[str, ...]:
        return ()

    def done(self, frame: pl.DataFrame) -> Done:
        rows = self.order(frame.height)
        return Done(frame[rows], rows)

    def order(self, rows: int) -> NDArray[np.int64]:
        """The old place of each row, (rows,)."""
        return self.rng().permutation(rows)


@dataclass(frozen=True, kw_only=True)
class Renumber(OfColumns):
    """New numbers in place of the ones that name people or households: 1, 2, … in the order of rows.

    Rows that had one number have one again. After `Shuffle` the new numbers say nothing about the old ones.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> protect.Renumber(columns=["id"]).apply({"id": [907, 311, 907]})[0]
    {'id': [1, 2, 1]}
    """

    name: ClassVar[str] = "renumber"
    foretold = True
    promise = "old numbers, which other files have, are gone"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "renumbering"))

    def done(self, frame: pl.DataFrame) -> Done:
        numbered_columns = []
        for column_name in self.columns:
            cells, column_type = texts(frame[column_name]), frame.schema[column_name]
            order = cells.drop_nulls().unique(maintain_order=True)
            kind = pl.String if column_type in (pl.String, pl.Enum, pl.Categorical) else pl.Int64
            numbers = pl.Series(range(1, len(order) + 1), dtype=pl.Int64).cast(kind)
            numbered_columns.append(
                cells.replace_strict(order, numbers, default=None, return_dtype=kind).alias(column_name)
            )
        return Done(frame.with_columns(numbered_columns))
