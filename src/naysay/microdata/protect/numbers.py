"""Rounding and noise: numbers that are near the true ones.

Microaggregation: groups of near records, each of which gets the group's mean.

Rank swapping: values change places with values of nearly the same rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import check_choice
from naysay.microdata.protect.log import Done
from naysay.microdata.protect.method import Method, Random, numbers_of
from naysay.microdata.protect.recoding import with_gaps
from naysay.microdata.protect.tables import texts

Floats = NDArray[np.float64]


def several(names: Any, what: str) -> tuple[str, ...]:
    """Names of variables as a tuple, one at least and each once."""
    column_names = (names,) if isinstance(names, str) else tuple(names)
    if not column_names or len(set(column_names)) < len(column_names):
        raise DataError(f"{what} needs one variable or more, each named once; got {names!r}")
    return column_names


@dataclass(frozen=True, kw_only=True)
class Round(Random):
    """Numbers rounded to multiples of a base.

    Parameters
    ----------
    columns : sequence of str
    base : float
    how : {"nearest", "random"}
        To the nearest multiple; or up with a probability equal to the rest, so that every sum stays right on average
        (the variance added to x is b²·f(1 − f), f being the rest of x/b).
    seed : int, optional

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> protect.Round(columns=["income"], base=10).apply({"income": [12, 25, 38]})[0]["income"]
    [10, 20, 40]
    """

    name: ClassVar[str] = "round"
    arithmetic: ClassVar[bool] = True
    columns: Sequence[str]
    base: float
    how: Literal["nearest", "random"] = "nearest"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "rounding"))
        check_choice(self.how, ("nearest", "random"), what="how")
        if not self.base > 0:
            raise DataError(f"numbers are rounded to multiples of a base above 0; got {self.base!r}")

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def promise(self) -> str:
        mean = "sums are right on average" if self.how == "random" else "sums may be off by half a base a record"
        return f"{mean}; exact multiples of {self.base:g} stay as they are, so nobody is promised company"

    @property
    def foretold(self) -> bool:
        return self.how == "nearest"

    def done(self, frame: pl.DataFrame) -> Done:
        rounded_columns = []
        for place, name in enumerate(self.columns):
            number = numbers_of(frame, name, what=self.name) / self.base
            low = np.floor(number)
            up = self.rng(place).random(len(low)) < number - low if self.how == "random" else None
            rounded_columns.append(with_gaps(frame[name], (np.round(number) if up is None else low + up) * self.base))
        return Done(frame.with_columns(rounded_columns))


@dataclass(frozen=True, kw_only=True)
class Noise(Random):
    """Numbers plus noise from a normal distribution.

    Parameters
    ----------
    columns : sequence of str
    percent : float
        The standard deviation of the noise, in percent of the variable's.
    how : {"independent", "correlated", "masked"}
        Independent; correlated as the variables are, which keeps correlations (Kim 1986); or correlated and shrunk,
        which keeps means and covariances, too: y = √(1 − δ²)·x + δ·e around the mean, δ = percent/100.
    seed : int, optional

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Noise(columns=["income"], percent=10, seed=1).apply({"income": [12.0, 25.0, 38.0]})
    >>> [round(each) for each in safe["income"]]
    [12, 26, 38]
    """

    name: ClassVar[str] = "noise"
    arithmetic: ClassVar[bool] = True
    columns: Sequence[str]
    percent: float
    how: Literal["independent", "correlated", "masked"] = "independent"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "noise"))
        check_choice(self.how, ("independent", "correlated", "masked"), what="how")
        most = 100 if self.how == "masked" else float("inf")
        if not 0 < self.percent <= most:
            raise DataError(
                f"the noise must be above 0 percent{' and at most 100' * (most == 100)}; got {self.percent!r}"
            )

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def promise(self) -> str:
        what_stays = {
            "independent": "means stay right on average; variances grow and correlations shrink",
            "correlated": "correlations stay right on average; variances grow",
            "masked": "means and covariances stay right on average",
        }
        return f"{what_stays[self.how]}; outliers stay outliers, so nobody is promised company"

    def done(self, frame: pl.DataFrame) -> Done:
        x = np.column_stack([numbers_of(frame, name, what=self.name) for name in self.columns])
        if np.isinf(x).any():
            row, place = np.argwhere(np.isinf(x))[0]
            complaint = f"column {self.columns[place]!r}, row {row + 1}, holds an infinite number"
            raise DataError(
                f"{complaint}, whose deviation has no size; empty the cell, or top-code it first",
                row=int(row),
                column=self.columns[place],
            )
        is_complete = ~np.isnan(x).any(axis=1)
        if is_complete.sum() < 2:
            raise DataError(
                f"noise needs two records or more with all of {list(self.columns)}; got {int(is_complete.sum())}"
            )
        sd = np.nanstd(x, axis=0, ddof=1)
        delta = self.percent / 100
        standard_noise = self.rng().standard_normal(x.shape)
        if self.how == "independent":
            e = standard_noise * sd
        else:
            values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(x[is_complete], rowvar=False)))
            e = standard_noise @ (vectors * np.sqrt(np.maximum(values, 0))).T
        mean = np.nanmean(x, axis=0)
        noisy_numbers = mean + np.sqrt(1 - delta**2) * (x - mean) + delta * e if self.how == "masked" else x + delta * e
        notes = [
            f"the standard deviation of the noise in {name!r} is {delta * deviation:.6g}, r(x, y) is {r:.3f}"
            for name, deviation, r in zip(self.columns, sd, _correlations(x, noisy_numbers), strict=True)
        ]
        columns = [with_gaps(frame[name], noisy_numbers[:, place]) for place, name in enumerate(self.columns)]
        return Done(frame.with_columns(columns), None, tuple(notes))


def _correlations(x: Floats, y: Floats) -> list[float]:
    correlations = []
    for numbers_before, numbers_after in zip(x.T, y.T, strict=True):
        is_known = ~np.isnan(numbers_before)
        varies = is_known.sum() > 1 and np.ptp(numbers_before[is_known]) > 0
        correlations.append(
            float(np.corrcoef(numbers_before[is_known], numbers_after[is_known])[0, 1]) if varies else float("nan")
        )
    return correlations


Ints = NDArray[np.int64]

BLOCK = 20_000
"""Records up to which all distances are compared; larger files are cut into blocks along their main direction."""


@dataclass(frozen=True, kw_only=True)
class Microaggregate(Method):
    """Numbers replaced by the means of groups of `least` records or more that are near one another.

    Parameters
    ----------
    columns : sequence of str
    least : int
        The size k of a group; groups have k to 2k − 1 records.
    how : {"jointly", "each"}
        One grouping for all variables by MDAV, which gives every record k − 1 others that read the same on all of them;
        or one for each variable, which loses less and gives that on each variable only, the optimal one.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Microaggregate(columns=["income"], least=2).apply({"income": [1, 2, 10, 12]})
    >>> safe["income"]
    [1.5, 1.5, 11.0, 11.0]

    Source: Domingo-Ferrer & Mateo-Sanz 2002 (MDAV); Hansen & Mukherjee 2003 (the optimum for one variable).
    """

    name: ClassVar[str] = "microaggregate"
    arithmetic: ClassVar[bool] = True
    columns: Sequence[str]
    least: int = 3
    how: Literal["jointly", "each"] = "jointly"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "microaggregation"))
        check_choice(self.how, ("jointly", "each"), what="how")
        _checks.whole_number(self.least, 2, 2**31, what="least")

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def promise(self) -> str:
        if self.how == "each" and len(self.columns) > 1:
            return f"{self.least} records or more share each value; several variables together are promised nothing"
        return f"{self.least} records or more read the same on {', '.join(self.columns)} together; means are kept"

    def done(self, frame: pl.DataFrame) -> Done:
        x = np.column_stack([numbers_of(frame, name, what=self.name) for name in self.columns])
        averaged_numbers, lost, total = x.copy(), 0.0, 0.0
        jointly = [list(range(x.shape[1]))] if self.how == "jointly" else [[place] for place in range(x.shape[1])]
        for places in jointly:
            is_complete = ~np.isnan(x[:, places]).any(axis=1)
            if is_complete.sum() < self.least:
                complaint = f"{int(is_complete.sum())} records have all of {[self.columns[place] for place in places]}"
                raise DataError(f"groups need {self.least} records or more; {complaint}")
            standard_scores = _standard(x[is_complete][:, places])
            group = (
                optimal(standard_scores[:, 0], self.least) if len(places) == 1 else mdav(standard_scores, self.least)
            )
            means = np.stack([np.bincount(group, column) for column in x[is_complete][:, places].T], axis=1)
            averaged_numbers[np.flatnonzero(is_complete)[:, None], places] = (means / np.bincount(group)[:, None])[
                group
            ]
            centers = (
                np.stack([np.bincount(group, column) for column in standard_scores.T], axis=1)
                / np.bincount(group)[:, None]
            )
            lost += float(np.square(standard_scores - centers[group]).sum())
            total += float(np.square(standard_scores).sum())
            averaged_numbers[~is_complete] = np.where(np.isnan(x[~is_complete]), np.nan, averaged_numbers[~is_complete])
        notes = [
            f"information lost: {100 * lost / total:.6g} % of the variance of standardized variables"
            if total
            else "nothing varies"
        ]
        is_partial = np.isnan(x).any(axis=1) & ~np.isnan(x).all(axis=1)
        if self.how == "jointly" and is_partial.any():
            missing_sentence = _checks.several(int(is_partial.sum()), "record misses", "records miss")
            notes.append(f"{missing_sentence} one of the variables and stay as they are, without company")
        columns = [with_gaps(frame[name], averaged_numbers[:, place]) for place, name in enumerate(self.columns)]
        return Done(frame.with_columns(columns), None, tuple(notes))


def _standard(x: Floats) -> Floats:
    sd = x.std(axis=0, ddof=1)
    return np.asarray((x - x.mean(axis=0)) / np.where(sd > 0, sd, 1.0))


def mdav(x: Floats, least: int) -> Ints:
    """The group of each record, (n,), by maximum distance to the average vector; groups of `least` to 2·`least` − 1.

    O(n²/least) in blocks of 20,000 records.
    """
    group = np.zeros(len(x), np.int64)
    blocks = [np.arange(len(x))]
    if len(x) > BLOCK:
        _, _, axes = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
        order = np.argsort(x @ axes[0], kind="stable")
        blocks = np.array_split(order, -(-len(x) // BLOCK))
    number = 0
    for rows in blocks:
        block_groups = _mdav(np.ascontiguousarray(x[rows]), least)
        group[rows] = block_groups + number
        number += int(block_groups.max()) + 1
    return group


def _mdav(x: Floats, least: int) -> Ints:
    group, ungrouped_rows, number = np.zeros(len(x), np.int64), np.arange(len(x)), 0

    def around(center: Floats) -> None:
        nonlocal ungrouped_rows, number
        distance = np.square(x[ungrouped_rows] - center).sum(axis=1)
        nearest = np.argpartition(distance, least - 1)[:least]
        group[ungrouped_rows[nearest]] = number
        ungrouped_rows, number = np.delete(ungrouped_rows, nearest), number + 1

    def farthest(center: Floats) -> Floats:
        far_record: Floats = x[ungrouped_rows[np.square(x[ungrouped_rows] - center).sum(axis=1).argmax()]]
        return far_record

    while len(ungrouped_rows) >= 3 * least:
        first_center = farthest(x[ungrouped_rows].mean(axis=0))
        around(first_center)
        around(farthest(first_center))
    if len(ungrouped_rows) >= 2 * least:
        around(farthest(x[ungrouped_rows].mean(axis=0)))
    group[ungrouped_rows] = number
    return group


def optimal(x: Floats, least: int) -> Ints:
    """The grouping of one variable that loses least variance, (n,), by dynamic programming in O(n·least).

    Groups are runs of the sorted values, of `least` to 2·`least` − 1 records.
    """
    order = np.argsort(x, kind="stable")
    values = x[order]
    n = len(values)
    first, second = np.concatenate([[0], np.cumsum(values)]), np.concatenate([[0], np.cumsum(values**2)])
    cost, last = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    cost[0] = 0.0
    for stop in range(least, n + 1):
        starts = np.arange(max(0, stop - 2 * least + 1), stop - least + 1)
        spread = second[stop] - second[starts] - (first[stop] - first[starts]) ** 2 / (stop - starts)
        total_cost = cost[starts] + spread
        best = int(total_cost.argmin())
        cost[stop], last[stop] = total_cost[best], starts[best]
    group, stop, number = np.zeros(n, np.int64), n, 0
    while stop > 0:
        group[order[last[stop] : stop]] = number
        stop, number = int(last[stop]), number + 1
    return group


@dataclass(frozen=True, kw_only=True)
class RankSwap(Random):
    """Each value swaps its place with one whose rank differs by at most so many percent of the records.

    Every margin is kept exactly: the column holds the same values. Associations with other columns shrink with the
    distance. Numbers are ordered as numbers, other values as texts; gaps stay where they are.

    Parameters
    ----------
    columns : sequence of str
    percent : float
        The largest difference of ranks, in percent of the values.
    within : sequence of str
        Columns within whose values swaps stay, such as a region or the size of a household.
    seed : int, optional

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.RankSwap(columns=["age"], percent=40, seed=1).apply({"age": [23, 36, 41, 58, 60]})
    >>> sorted(safe["age"]) == [23, 36, 41, 58, 60]
    True

    Source: Moore 1996; METHODS, section 3.
    """

    name: ClassVar[str] = "rank_swap"
    columns: Sequence[str]
    percent: float
    within: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "rank swapping"))
        object.__setattr__(self, "within", tuple(self.within))
        if not 0 < self.percent <= 100:
            raise DataError(f"ranks may differ by more than 0 and at most 100 percent; got {self.percent!r}")
        if set(self.within) & set(self.columns):
            raise DataError(f"what is swapped cannot be what swaps stay within; got {sorted(set(self.within))}")

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def needs(self) -> tuple[str, ...]:
        return (*self.columns, *self.within)

    @property
    def promise(self) -> str:
        return (
            f"each column holds the same values, none moved by more than {self.percent:g} % of the ranks; rare values "
            "stay rare, so nobody is promised company"
        )

    def done(self, frame: pl.DataFrame) -> Done:
        parts = [np.arange(frame.height)]
        if self.within:
            groups = frame.select(pl.struct(self.within).rank("dense")).to_series().to_numpy()
            parts = [np.flatnonzero(groups == group) for group in np.unique(groups)]
        swapped_columns = []
        for place, name in enumerate(self.columns):
            column, order = frame[name], np.arange(frame.height)
            rank = _cell_ranks(column)
            for number, rows in enumerate(parts):
                filled_rows = rows[column.is_not_null().to_numpy()[rows]]
                rows_by_rank = filled_rows[np.argsort(rank[filled_rows], kind="stable")]
                order[rows_by_rank] = rows_by_rank[
                    _swap_partners(len(rows_by_rank), self.percent, self.rng(place, number))
                ]
            swapped_columns.append(column.gather(order).alias(name))
        return Done(frame.with_columns(swapped_columns))


def _cell_ranks(column: pl.Series) -> NDArray[np.float64]:
    """The rank of each cell; numbers in texts count as numbers."""
    if column.dtype == pl.String:
        number = column.cast(pl.Float64, strict=False)
        column = number if number.null_count() == column.null_count() else column
    if column.dtype.is_nested():
        column = pl.Series([str(cell) for cell in column])
    if isinstance(column.dtype, pl.Enum):
        column = column.to_physical()
    sortable = column if column.dtype.is_numeric() or column.dtype.is_temporal() else texts(column)
    return sortable.rank("ordinal").fill_null(0).to_numpy().astype(float)


def _swap_partners(n: int, percent: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Partners: each place not taken yet takes another one at random, at most so many places further up."""
    reach = int(percent * n / 100)
    partner, free = np.arange(n), np.ones(n, bool)
    if not reach:
        return partner
    for place, uniform_draw in enumerate(rng.random(n)):
        if not free[place]:
            continue
        free_places = np.flatnonzero(free[place + 1 : place + 1 + reach])
        if len(free_places):
            other_place = place + 1 + free_places[int(uniform_draw * len(free_places))]
            partner[place], partner[other_place] = other_place, place
            free[other_place] = False
        free[place] = False
    return partner
