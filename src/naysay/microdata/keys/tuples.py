"""Distinct rows of cell numbers and how many respondents have each: all that anonymity and matches need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks

_LARGEST = 2**62
_COMPILED = 1 << 19  # rows from which loading the compiled code is worth its time
_DENSE = 1 << 20  # keys below this, or below eight times their number, are grouped by counting, not by sorting


@dataclass(frozen=True, eq=False)
class Tuples:
    """Distinct tuples of cell numbers, one column for each key variable.

    Parameters
    ----------
    columns : tuple of (distinct,) unsigned int
        Cell numbers; 0 is missing.
    sizes : tuple of int
        Cells of each variable, the missing one included.
    count : (distinct,) int
        Respondents with each tuple.
    weight : (distinct,) float, optional
        Sum of their survey weights.
    """

    columns: tuple[NDArray[Any], ...]
    sizes: tuple[int, ...]
    count: NDArray[np.int64]
    weight: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        for array in (*self.columns, self.count, *(() if self.weight is None else (self.weight,))):
            _checks.read_only(array)

    def __len__(self) -> int:
        return len(self.count)

    @property
    def n(self) -> int:
        """Respondents."""
        return int(self.count.sum())

    @cached_property
    def patterns(self) -> int:
        """How many patterns of known and missing variables there are."""
        return len(grouped([column > 0 for column in self.columns], [2] * len(self.columns))[0])

    def take(self, rows: NDArray[Any]) -> Tuples:
        """Some of the tuples."""
        weight = None if self.weight is None else self.weight[rows]
        return Tuples(tuple(column[rows] for column in self.columns), self.sizes, self.count[rows], weight)

    def only(self, places: Sequence[int]) -> tuple[Tuples, NDArray[np.intp]]:
        """Distinct tuples of some of the variables, and the new place of each of the old tuples."""
        columns, sizes = [self.columns[place] for place in places], [self.sizes[place] for place in places]
        first, inverse = grouped(columns, sizes)
        count = np.bincount(inverse, self.count, len(first)).astype(np.int64)
        weight = None if self.weight is None else np.bincount(inverse, self.weight, len(first)).astype(np.float64)
        return Tuples(tuple(column[first] for column in columns), tuple(sizes), count, weight), inverse


def grouped(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """A row of each distinct combination, in lexicographic order, and the combination of each row.

    Column values lie in 0 … size - 1. They are packed into one integer, which is ranked anew before it would need more
    than 62 bits.
    """
    row, rank, _ = tallied(columns, sizes, count=False)
    return row, rank


def tallied(
    columns: Sequence[NDArray[Any]], sizes: Sequence[int], *, count: bool = True
) -> tuple[NDArray[np.intp], NDArray[Any], NDArray[np.int64]]:
    """As `grouped`, and how many rows have each combination; without `count` these may be left out."""
    key, span = packed(columns[:1], sizes[:1]), sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if span * size > _LARGEST:  # rank anew before the product overflows
            key, span = ranked(key, span)
        key, span = packed([key, column], [span, size]), span * size
    if len(key) >= _COMPILED and span <= 64 * len(key) and len(key) < 2**31 and find_spec("numba"):
        from naysay.microdata.keys.bitset import ranked_by_bits

        return ranked_by_bits(key, span)
    rank, distinct = ranked(key, span)
    row = np.empty(distinct, np.intp)
    row[rank] = np.arange(len(rank))
    return row, rank, np.bincount(rank, minlength=distinct) if count else np.zeros(0, np.int64)


def packed(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> NDArray[Any]:
    """Columns as one number for each row, below 2⁶²; in lexicographic order rows stay in order."""
    kind = np.uint32 if math.prod(sizes) <= 2**32 else np.int64
    key: NDArray[Any] = columns[0].astype(kind)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        key *= kind(size)
        key += column.astype(kind, copy=False)
    return key


def ranked(key: NDArray[Any], span: int) -> tuple[NDArray[Any], int]:
    """The rank of each key among the distinct ones, and how many there are."""
    if span > min(max(_DENSE, 8 * len(key)), 2**31):
        distinct, rank = np.unique(key, return_inverse=True)
        return rank.astype(np.int32 if len(distinct) < 2**31 else np.int64), len(distinct)
    present = np.zeros(span, np.bool_)
    present[key] = True
    place = np.cumsum(present, dtype=np.int32)
    place -= 1
    return place[key], int(place[-1]) + 1
