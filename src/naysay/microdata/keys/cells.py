"""Cells and tuples: what every distinct cell of a key may hold, and every distinct row of a table once.

A cell is one value, a set of candidate values (with chances, where they are known), or missing. Cells are numbered: 0
is missing, 1…V are the V values known for certain, and higher numbers are the uncertain cells, each with its candidates
in their order. A row of a table is a tuple of cell numbers; the distinct tuples and their numbers of respondents are
all that anonymity and matches need.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Array, Floats, Integers, Label

Codes = Array
"""(n,) unsigned: the cell number of each respondent, 0 where it is missing, in the smallest type that holds them."""


@dataclass(frozen=True, eq=False)
class CellSet:
    """The distinct cells of a key variable.

    Parameters
    ----------
    values : tuple of label
        The V values, of one kind, in their order. A None behind the others means that missing is a category of its own.
    starts : (cells + 1,) int
        Where the candidates of each cell begin in `members`; the first V cells are the values themselves.
    members : (candidates,) int
        Candidates as places among the values, counted from 0, in their order.
    chances : (candidates,) float
        Probability of each candidate, summing to one over a cell; equal where nothing is known.

    Examples
    --------
    >>> months = CellSet.of(("March", "April"), [(0, 1)])
    >>> months.size, months.certain
    (3, False)
    >>> months.candidates(3)
    ('March', 'April')
    """

    values: tuple[Any, ...]
    starts: NDArray[np.int64]
    members: NDArray[np.int64]
    chances: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name in ("starts", "members", "chances"):
            object.__setattr__(self, name, _checks.read_only(getattr(self, name)))

    @classmethod
    def of(
        cls,
        values: Sequence[Label | None],
        sets: Sequence[Sequence[int] | Integers] = (),
        chances: Sequence[Sequence[float] | Floats] | None = None,
    ) -> CellSet:
        """Cells of single values, followed by cells of two or more candidates."""
        value_count = len(values)
        lengths = np.array([1] * value_count + [len(value_places) for value_places in sets], np.int64)
        set_members = (np.asarray(value_places, np.int64) for value_places in sets)
        members = np.concatenate([np.arange(value_count), *set_members]).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        candidate_chances = np.repeat(1 / lengths, lengths)
        if chances is not None:
            candidate_chances[value_count:] = [chance for set_chances in chances for chance in set_chances]
        return cls(tuple(values), starts, members, candidate_chances)

    @property
    def size(self) -> int:
        """How many distinct cells there are, without the missing one."""
        return len(self.starts) - 1

    @property
    def certain(self) -> bool:
        """Whether every known cell holds a single value."""
        return self.size == len(self.values)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Number of candidates of each cell, (cells + 1,); a missing cell, number 0, counts as one unknown."""
        return np.concatenate([[1], np.diff(self.starts)])

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Cell number of each cell's first candidate, (cells + 1,), 0 for the missing one."""
        return np.concatenate([[0], 1 + self.members[self.starts[:-1]]])

    @cached_property
    def membership(self) -> scipy.sparse.csr_array:
        """Which values a cell may hold, (cells, values); entries are 1."""
        return self._matrix(np.ones(len(self.members)))

    @cached_property
    def likely(self) -> scipy.sparse.csr_array:
        """P(value) given the cell, (cells, values)."""
        return self._matrix(self.chances)

    def _matrix(self, entries: NDArray[np.float64]) -> scipy.sparse.csr_array:
        return scipy.sparse.csr_array((entries, self.members, self.starts), shape=(self.size, len(self.values)))

    def agreeing(self, *, by_value: bool) -> scipy.sparse.csr_array:
        """Which cells (columns) agree with each symbol (rows), both counted from 0; entries are 1.

        A symbol is either a value, which agrees with the cells that hold it, or a cell, which agrees with the cells
        that share a candidate with it.
        """
        holds = self.membership
        agreement_matrix = scipy.sparse.csr_array(holds.T if by_value else holds @ holds.T)
        agreement_matrix.data[:] = 1
        return agreement_matrix

    def known_pairs(self, rule: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs (cell, value) of numbers that a rule takes as known: a cell's first candidate, or each of them."""
        cell_of_member = np.repeat(np.arange(self.size), self.lengths[1:])
        member_places = self.starts[:-1] if rule == "first" else np.arange(len(self.members))
        return np.append(cell_of_member[member_places] + 1, 0), np.append(self.members[member_places] + 1, 0)

    def candidates(self, cell: int) -> tuple[Any, ...]:
        """The values that a cell may hold; none listed for cell 0, which may hold any."""
        if cell == 0:
            return ()
        return tuple(self.values[place] for place in self.members[self.starts[cell - 1] : self.starts[cell]])

    def under(self, policy: str, codes: Array) -> tuple[Array, CellSet]:
        """Codes and cells under a policy; "category" makes a missing cell the value None, behind the others."""
        if policy != "category" or codes.all():
            return codes, self
        value_count = len(self.values)
        starts = np.concatenate([self.starts[: value_count + 1], self.starts[value_count:] + 1])
        members, chances = np.insert(self.members, value_count, value_count), np.insert(self.chances, value_count, 1.0)
        moved_codes = np.where(codes == 0, value_count + 1, codes.astype(np.int64) + (codes > value_count))
        return moved_codes, CellSet((*self.values, None), starts, members, chances)

    def merged(self, into: Array) -> tuple[CellSet, NDArray[np.int64]]:
        """Cells of fewer values (value i becomes into[i]), and the new number of each cell, (cells + 1,)."""
        value_count, merged_count = len(self.values), int(into.max()) + 1
        set_numbers: dict[tuple[tuple[int, float], ...], int] = {}
        cell_numbers = np.concatenate([[0], 1 + into, np.zeros(self.size - value_count, np.int64)]).astype(np.int64)
        for cell in range(value_count + 1, self.size + 1):
            member_slice = slice(self.starts[cell - 1], self.starts[cell])
            chance_of_value: dict[int, float] = {}
            for value_number, chance in zip(
                into[self.members[member_slice]].tolist(), self.chances[member_slice].tolist(), strict=True
            ):
                chance_of_value[value_number] = chance_of_value.get(value_number, 0.0) + chance
            if len(chance_of_value) == 1:
                cell_numbers[cell] = 1 + next(iter(chance_of_value))
            else:
                set_number = set_numbers.setdefault((*chance_of_value.items(),), len(set_numbers) + 1)
                cell_numbers[cell] = merged_count + set_number
        value_sets = [[value_number for value_number, _ in candidate_set] for candidate_set in set_numbers]
        set_chances = [[chance for _, chance in candidate_set] for candidate_set in set_numbers]
        return CellSet.of(range(merged_count), value_sets, set_chances), cell_numbers


def compact(codes: Array, most: int) -> Codes:
    """The same codes in the smallest unsigned integers that reach `most`."""
    return _checks.read_only(np.ascontiguousarray(codes, dtype=np.min_scalar_type(max(most, 1))))


def expanded(starts: NDArray[np.int64], which: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places starts[w] … starts[w + 1] - 1 for each w, one after another."""
    run_lengths = starts[which + 1] - starts[which]
    places_before = np.cumsum(run_lengths) - run_lengths
    return np.asarray(np.arange(run_lengths.sum()) + np.repeat(starts[which] - places_before, run_lengths), np.int64)


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

    columns: tuple[Array, ...]
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

    def by_pattern(self, rows: Integers) -> Iterator[tuple[Integers, list[int]]]:
        """Some of the tuples, those that know the same variables together, with the places of these."""
        known_columns = [column[rows] > 0 for column in self.columns]
        first_places, pattern_of_row = grouped(known_columns, [2] * len(known_columns))
        for pattern, first_place in enumerate(first_places):
            known_places = [place for place, is_known in enumerate(known_columns) if is_known[first_place]]
            yield rows[pattern_of_row == pattern], known_places

    def take(self, rows: Array) -> Tuples:
        """Some of the tuples."""
        weight = None if self.weight is None else self.weight[rows]
        return Tuples(tuple(column[rows] for column in self.columns), self.sizes, self.count[rows], weight)

    def only(self, places: Sequence[int]) -> tuple[Tuples, NDArray[np.intp]]:
        """Distinct tuples of some of the variables, and the new place of each of the old tuples."""
        columns, sizes = [self.columns[place] for place in places], [self.sizes[place] for place in places]
        first_rows, moved_places = grouped(columns, sizes)
        tuple_counts = np.bincount(moved_places, self.count, len(first_rows)).astype(np.int64)
        tuple_weights = None
        if self.weight is not None:
            tuple_weights = np.bincount(moved_places, self.weight, len(first_rows)).astype(np.float64)
        some_columns = tuple(column[first_rows] for column in columns)
        return Tuples(some_columns, tuple(sizes), tuple_counts, tuple_weights), moved_places


def grouped(columns: Sequence[Array], sizes: Sequence[int]) -> tuple[NDArray[np.intp], Array]:
    """A row of each distinct combination, in lexicographic order, and the combination of each row.

    Column values lie in 0 … size - 1. They are packed into one integer, which is ranked anew before it would need more
    than 62 bits.
    """
    distinct_rows, row_ranks, _ = tallied(columns, sizes, count=False)
    return distinct_rows, row_ranks


def tallied(
    columns: Sequence[Array], sizes: Sequence[int], *, count: bool = True
) -> tuple[NDArray[np.intp], Array, NDArray[np.int64]]:
    """As `grouped`, and how many rows have each combination; without `count` these may be left out."""
    row_keys, key_span = packed(columns[:1], sizes[:1]), sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if key_span * size > _LARGEST:  # rank anew before the product overflows
            row_keys, key_span = ranked(row_keys, key_span)
        row_keys, key_span = packed([row_keys, column], [key_span, size]), key_span * size
    if len(row_keys) >= _COMPILED and key_span <= 64 * len(row_keys) and len(row_keys) < 2**31 and find_spec("numba"):
        from naysay.microdata.compiled import ranked_by_bits

        return ranked_by_bits(row_keys, key_span)
    row_ranks, distinct_count = ranked(row_keys, key_span)
    distinct_rows = np.empty(distinct_count, np.intp)
    distinct_rows[row_ranks] = np.arange(len(row_ranks))
    row_counts = np.bincount(row_ranks, minlength=distinct_count) if count else np.zeros(0, np.int64)
    return distinct_rows, row_ranks, row_counts


def packed(columns: Sequence[Array], sizes: Sequence[int]) -> Array:
    """Columns as one number for each row, below 2⁶²; in lexicographic order rows stay in order."""
    key_type = np.uint32 if math.prod(sizes) <= 2**32 else np.int64
    row_keys: Array = columns[0].astype(key_type)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        row_keys *= key_type(size)
        row_keys += column.astype(key_type, copy=False)
    return row_keys


def ranked(key: Array, span: int) -> tuple[Array, int]:
    """The rank of each key among the distinct ones, and how many there are."""
    if span > min(max(_DENSE, 8 * len(key)), 2**31):
        distinct_keys, row_ranks = np.unique(key, return_inverse=True)
        return row_ranks.astype(np.int32 if len(distinct_keys) < 2**31 else np.int64), len(distinct_keys)
    is_present = np.zeros(span, np.bool_)
    is_present[key] = True
    rank_of_key = np.cumsum(is_present, dtype=np.int32)
    rank_of_key -= 1
    return rank_of_key[key], int(rank_of_key[-1]) + 1


def by_size(sizes: Array, records: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """Each size once, rising, and how many records have it."""
    largest_size = int(sizes.max(initial=0))
    if sizes.dtype.kind == "f":
        distinct_sizes, size_places = np.unique(sizes, return_inverse=True)
    elif largest_size < _DENSE:
        record_counts = np.bincount(sizes, records).astype(np.int64)
        distinct_sizes = np.flatnonzero(record_counts)
        return distinct_sizes, record_counts[distinct_sizes]
    else:
        first_rows, size_places = grouped([sizes], [largest_size + 1])
        distinct_sizes = sizes[first_rows]
    return distinct_sizes, np.bincount(size_places, records, len(distinct_sizes)).astype(np.int64)
