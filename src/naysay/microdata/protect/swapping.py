"""Rank swapping: values change places with values of nearly the same rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.protect.log import Done
from naysay.microdata.protect.method import Random
from naysay.microdata.protect.numbers import several
from naysay.microdata.protect.tables import texts

__all__ = ["RankSwap"]


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
        made = []
        for place, name in enumerate(self.columns):
            column, order = frame[name], np.arange(frame.height)
            rank = _ordered(column)
            for number, rows in enumerate(parts):
                known = rows[column.is_not_null().to_numpy()[rows]]
                ranked = known[np.argsort(rank[known], kind="stable")]
                order[ranked] = ranked[_swapped(len(ranked), self.percent, self.rng(place, number))]
            made.append(column.gather(order).alias(name))
        return Done(frame.with_columns(made))


def _ordered(column: pl.Series) -> NDArray[np.float64]:
    """The rank of each cell; numbers in texts count as numbers."""
    if column.dtype == pl.String:
        number = column.cast(pl.Float64, strict=False)
        column = number if number.null_count() == column.null_count() else column
    if column.dtype.is_nested():
        column = pl.Series([str(cell) for cell in column])
    if isinstance(column.dtype, pl.Enum):
        column = column.to_physical()
    own = column if column.dtype.is_numeric() or column.dtype.is_temporal() else texts(column)
    return own.rank("ordinal").fill_null(0).to_numpy().astype(float)


def _swapped(n: int, percent: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Partners: each place not taken yet takes another one at random, at most so many places further up."""
    reach = int(percent * n / 100)
    partner, free = np.arange(n), np.ones(n, bool)
    if not reach:
        return partner
    for place, drawn in enumerate(rng.random(n)):
        if not free[place]:
            continue
        open_ = np.flatnonzero(free[place + 1 : place + 1 + reach])
        if len(open_):
            other = place + 1 + open_[int(drawn * len(open_))]
            partner[place], partner[other] = other, place
            free[other] = False
        free[place] = False
    return partner
