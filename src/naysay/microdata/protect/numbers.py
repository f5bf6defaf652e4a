"""Rounding and noise: numbers that are near the true ones.

Microaggregation: groups of near records, each of which gets the group's mean.

Rank swapping: values change places with values of nearly the same rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats
from naysay.errors import DataError
from naysay.microdata.keys.codes import check_choice
from naysay.microdata.protect.method import Done, OfColumns, Random, numbers_of, rows_of_strata, several, texts
from naysay.microdata.protect.recoding import with_gaps


@dataclass(frozen=True, kw_only=True)
class Round(OfColumns, Random):
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
    base: float
    how: Literal["nearest", "random"] = "nearest"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "rounding"))
        check_choice(self.how, ("nearest", "random"), what="how")
        if not self.base > 0:
            raise DataError(f"numbers are rounded to multiples of a base above 0; got {self.base!r}")

    @property
    def promise(self) -> str:
        mean = "sums are right on average" if self.how == "random" else "sums may be off by half a base a record"
        return f"{mean}; exact multiples of {self.base:g} stay as they are, so nobody is promised company"

    @property
    def foretold(self) -> bool:
        return self.how == "nearest"

    def done(self, frame: pl.DataFrame) -> Done:
        rounded_columns = []
        for column_place, column_name in enumerate(self.columns):
            scaled_numbers = numbers_of(frame, column_name, what=self.name) / self.base
            lower_multiples = np.floor(scaled_numbers)
            multiples = np.round(scaled_numbers)
            if self.how == "random":
                draws = self.rng(column_place).random(len(scaled_numbers))
                multiples = lower_multiples + (draws < scaled_numbers - lower_multiples)
            rounded_columns.append(with_gaps(frame[column_name], multiples * self.base))
        return Done(frame.with_columns(rounded_columns))


@dataclass(frozen=True, kw_only=True)
class Noise(OfColumns, Random):
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
    percent: float
    how: Literal["independent", "correlated", "masked"] = "independent"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "noise"))
        check_choice(self.how, ("independent", "correlated", "masked"), what="how")
        most_percent = 100 if self.how == "masked" else float("inf")
        if not 0 < self.percent <= most_percent:
            raise DataError(
                f"the noise must be above 0 percent{' and at most 100' * (most_percent == 100)}; got {self.percent!r}"
            )

    @property
    def promise(self) -> str:
        what_stays = {
            "independent": "means stay right on average; variances grow and correlations shrink",
            "correlated": "correlations stay right on average; variances grow",
            "masked": "means and covariances stay right on average",
        }
        return f"{what_stays[self.how]}; outliers stay outliers, so nobody is promised company"

    def done(self, frame: pl.DataFrame) -> Done:
        x = np.column_stack([numbers_of(frame, column_name, what=self.name) for column_name in self.columns])
        if np.isinf(x).any():
            infinite_row, column_place = np.argwhere(np.isinf(x))[0]
            complaint = f"column {self.columns[column_place]!r}, row {infinite_row + 1}, holds an infinite number"
            raise DataError(
                f"{complaint}, whose deviation has no size; empty the cell, or top-code it first",
                row=int(infinite_row),
                column=self.columns[column_place],
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
        notes = []
        for column_name, deviation, before, after in zip(self.columns, sd, x.T, noisy_numbers.T, strict=True):
            is_known = ~np.isnan(before)
            varies = is_known.sum() > 1 and np.ptp(before[is_known]) > 0
            r = np.corrcoef(before[is_known], after[is_known])[0, 1] if varies else np.nan
            notes.append(
                f"the standard deviation of the noise in {column_name!r} is {delta * deviation:.6g}, r(x, y) is {r:.3f}"
            )
        columns = [
            with_gaps(frame[column_name], noisy_numbers[:, column_place])
            for column_place, column_name in enumerate(self.columns)
        ]
        return Done(frame.with_columns(columns), None, tuple(notes))


Ints = NDArray[np.int64]

BLOCK = 20_000
"""Records up to which all distances are compared; larger files are cut into blocks along their main direction."""


@dataclass(frozen=True, kw_only=True)
class Microaggregate(OfColumns):
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
    least: int = 3
    how: Literal["jointly", "each"] = "jointly"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "microaggregation"))
        check_choice(self.how, ("jointly", "each"), what="how")
        _checks.whole_number(self.least, 2, 2**31, what="least")

    @property
    def promise(self) -> str:
        if self.how == "each" and len(self.columns) > 1:
            return f"{self.least} records or more share each value; several variables together are promised nothing"
        return f"{self.least} records or more read the same on {', '.join(self.columns)} together; means are kept"

    def done(self, frame: pl.DataFrame) -> Done:
        x = np.column_stack([numbers_of(frame, column_name, what=self.name) for column_name in self.columns])
        averaged_numbers, lost_variance, total_variance = x.copy(), 0.0, 0.0
        places = range(x.shape[1])
        for joint_places in [[*places]] if self.how == "jointly" else [[place] for place in places]:
            is_complete = ~np.isnan(x[:, joint_places]).any(axis=1)
            if is_complete.sum() < self.least:
                joint_columns = [self.columns[column_place] for column_place in joint_places]
                complaint = f"{int(is_complete.sum())} records have all of {joint_columns}"
                raise DataError(f"groups need {self.least} records or more; {complaint}")
            joint_numbers = x[is_complete][:, joint_places]
            sd = joint_numbers.std(axis=0, ddof=1)
            standard_scores = (joint_numbers - joint_numbers.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
            group_numbers = (
                optimal(standard_scores[:, 0], self.least)
                if len(joint_places) == 1
                else mdav(standard_scores, self.least)
            )
            means, centers = (
                np.stack([np.bincount(group_numbers, column) for column in numbers.T], axis=1)
                / np.bincount(group_numbers)[:, None]
                for numbers in (joint_numbers, standard_scores)
            )
            averaged_numbers[np.flatnonzero(is_complete)[:, None], joint_places] = means[group_numbers]
            lost_variance += float(np.square(standard_scores - centers[group_numbers]).sum())
            total_variance += float(np.square(standard_scores).sum())
            averaged_numbers[~is_complete] = np.where(np.isnan(x[~is_complete]), np.nan, averaged_numbers[~is_complete])
        notes = [
            f"information lost: {100 * lost_variance / total_variance:.6g} % of the variance of standardized variables"
            if total_variance
            else "nothing varies"
        ]
        is_partial = np.isnan(x).any(axis=1) & ~np.isnan(x).all(axis=1)
        if self.how == "jointly" and is_partial.any():
            missing_sentence = _checks.several(int(is_partial.sum()), "record misses", "records miss")
            notes.append(f"{missing_sentence} one of the variables and stay as they are, without company")
        columns = [
            with_gaps(frame[column_name], averaged_numbers[:, column_place])
            for column_place, column_name in enumerate(self.columns)
        ]
        return Done(frame.with_columns(columns), None, tuple(notes))


def mdav(x: Floats, least: int) -> Ints:
    """The group of each record, (n,), by maximum distance to the average vector; groups of `least` to 2·`least` − 1.

    O(n²/least) in blocks of 20,000 records.
    """
    group_numbers = np.zeros(len(x), np.int64)
    blocks = [np.arange(len(x))]
    if len(x) > BLOCK:
        _, _, axes = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
        order = np.argsort(x @ axes[0], kind="stable")
        blocks = np.array_split(order, -(-len(x) // BLOCK))
    first_number = 0
    for block_rows in blocks:
        block_groups = _mdav(np.ascontiguousarray(x[block_rows]), least)
        group_numbers[block_rows] = block_groups + first_number
        first_number += int(block_groups.max()) + 1
    return group_numbers


def _mdav(x: Floats, least: int) -> Ints:
    group_numbers, ungrouped_rows, group_number = np.zeros(len(x), np.int64), np.arange(len(x)), 0

    def around(center: Floats) -> None:
        nonlocal ungrouped_rows, group_number
        distance = np.square(x[ungrouped_rows] - center).sum(axis=1)
        nearest = np.argpartition(distance, least - 1)[:least]
        group_numbers[ungrouped_rows[nearest]] = group_number
        ungrouped_rows, group_number = np.delete(ungrouped_rows, nearest), group_number + 1

    def farthest(center: Floats) -> Floats:
        far_record: Floats = x[ungrouped_rows[np.square(x[ungrouped_rows] - center).sum(axis=1).argmax()]]
        return far_record

    while len(ungrouped_rows) >= 3 * least:
        first_center = farthest(x[ungrouped_rows].mean(axis=0))
        around(first_center)
        around(farthest(first_center))
    if len(ungrouped_rows) >= 2 * least:
        around(farthest(x[ungrouped_rows].mean(axis=0)))
    group_numbers[ungrouped_rows] = group_number
    return group_numbers


def optimal(x: Floats, least: int) -> Ints:
    """The grouping of one variable that loses least variance, (n,), by dynamic programming in O(n·least).

    Groups are runs of the sorted values, of `least` to 2·`least` − 1 records.
    """
    rank_order = np.argsort(x, kind="stable")
    sorted_numbers = x[rank_order]
    n = len(sorted_numbers)
    running_sums = np.concatenate([[0], np.cumsum(sorted_numbers)])
    running_squares = np.concatenate([[0], np.cumsum(sorted_numbers**2)])
    least_costs, last_starts = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    least_costs[0] = 0.0
    for group_stop in range(least, n + 1):
        group_starts = np.arange(max(0, group_stop - 2 * least + 1), group_stop - least + 1)
        spread = (
            running_squares[group_stop]
            - running_squares[group_starts]
            - (running_sums[group_stop] - running_sums[group_starts]) ** 2 / (group_stop - group_starts)
        )
        total_cost = least_costs[group_starts] + spread
        best = int(total_cost.argmin())
        least_costs[group_stop], last_starts[group_stop] = total_cost[best], group_starts[best]
    group_numbers, group_stop, group_number = np.zeros(n, np.int64), n, 0
    while group_stop > 0:
        group_numbers[rank_order[last_starts[group_stop] : group_stop]] = group_number
        group_stop, group_number = int(last_starts[group_stop]), group_number + 1
    return group_numbers


@dataclass(frozen=True, kw_only=True)
class RankSwap(OfColumns, Random):
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
    def needs(self) -> tuple[str, ...]:
        return (*self.columns, *self.within)

    @property
    def promise(self) -> str:
        return (
            f"each column holds the same values, none moved by more than {self.percent:g} % of the ranks; rare values "
            "stay rare, so nobody is promised company"
        )

    def done(self, frame: pl.DataFrame) -> Done:
        strata = rows_of_strata(frame, self.within)
        swapped_columns = []
        for column_place, column_name in enumerate(self.columns):
            column, source_rows = frame[column_name], np.arange(frame.height)
            sortable = column
            if column.dtype == pl.String:  # numbers in texts count as numbers
                number = column.cast(pl.Float64, strict=False)
                sortable = number if number.null_count() == column.null_count() else column
            elif column.dtype.is_nested():
                sortable = pl.Series([str(cell) for cell in column])
            elif isinstance(column.dtype, pl.Enum):
                sortable = column.to_physical()
            if not (sortable.dtype.is_numeric() or sortable.dtype.is_temporal()):
                sortable = texts(sortable)
            cell_ranks = sortable.rank("ordinal").fill_null(0).to_numpy()
            for stratum_number, rows in enumerate(strata):
                filled_rows = rows[column.is_not_null().to_numpy()[rows]]
                rows_by_rank = filled_rows[np.argsort(cell_ranks[filled_rows], kind="stable")]
                source_rows[rows_by_rank] = rows_by_rank[
                    _swap_partners(len(rows_by_rank), self.percent, self.rng(column_place, stratum_number))
                ]
            swapped_columns.append(column.gather(source_rows).alias(column_name))
        return Done(frame.with_columns(swapped_columns))


def _swap_partners(n: int, percent: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Partners: each place not taken yet takes another one at random, at most so many places further up."""
    reach = int(percent * n / 100)
    partner_places, is_free = np.arange(n), np.ones(n, bool)
    if not reach:
        return partner_places
    for place, uniform_draw in enumerate(rng.random(n)):
        if not is_free[place]:
            continue
        free_places = np.flatnonzero(is_free[place + 1 : place + 1 + reach])
        if len(free_places):
            other_place = place + 1 + free_places[int(uniform_draw * len(free_places))]
            partner_places[place], partner_places[other_place] = other_place, place
            is_free[other_place] = False
        is_free[place] = False
    return partner_places
