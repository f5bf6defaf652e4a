"""Matches by bitmaps: one bit a distinct tuple, one bitmap a variable and symbol.

The bitmap of a value holds the tuples whose cell holds it or is missing; that of a set is the OR of its values; that of
an unknown cell is full. The tuples that match are the AND over variables, counted by popcount where tuples stand for
one respondent each. The file is taken in blocks, of which only the values that occur have bitmaps, so that all of a
block's bitmaps stay in the processor's cache.

Matches by a table of all combinations: for keys whose combinations can be listed.

Let F be the array of how many respondents have each tuple of cells, one axis a variable, place 0 for missing. Whether
two tuples match is a product over variables, so matches are F transformed along one axis after the other:
G[symbol] = F[missing] + Σ F[cells that agree with the symbol], G[unknown] = Σ F. The cost is axes × combinations,
whatever the number of respondents and of patterns. Variables without missing or uncertain cells need no transform:
they make up one axis, of the combinations that occur.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.cells import expanded
from naysay.microdata.keys.tuples import grouped, packed
from naysay.microdata.matching.question import Amounts, Pool, Questions

BLOCK = 4_096  # tuples: 64 words a bitmap
_AT_ONCE = 2_048  # questions
_MEMBERS = 100_000  # bitmaps of values that are united at a time
_WORTH_COMPILING = 10**9  # questions × tuples × variables

Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Block:
    """Bitmaps of a run of tuples.

    Parameters
    ----------
    maps : (rows, words) uint64
        Bitmaps of all variables.
    row : (symbols of all variables,) int
        The bitmap of each symbol; the first is the full one.
    amount : (64 words,) int or float
        What each tuple adds, 0 beyond the last.
    single : bool
        Whether every tuple adds one.
    """

    maps: Words
    row: NDArray[np.int32]
    amount: Amounts
    single: bool

    @staticmethod
    def starts(pool: Pool, columns: Sequence[int]) -> NDArray[np.int64]:
        """Where the symbols of each variable begin in `row`."""
        return np.cumsum([0, *(pool.symbols(place) for place in columns[:-1])])

    @classmethod
    def of(cls, pool: Pool, columns: Sequence[int], rows: NDArray[np.intp]) -> Block:
        """The bitmaps of some of a file's tuples, its variables in the order given."""
        maps_and_rows, amount = (
            [_bitmaps(pool, place, pool.tuples.columns[place][rows]) for place in columns],
            pool.amount[rows],
        )
        heights = np.cumsum([0, *(len(maps) for maps, _ in maps_and_rows)])
        # the first bitmap of each variable is the same, the full one: all share that of the first variable
        pairs = zip(maps_and_rows, heights[:-1], strict=True)
        row = np.concatenate([np.where(row == 0, 0, row + height) for (_, row), height in pairs])
        maps = np.concatenate([maps for maps, _ in maps_and_rows])
        padded_amount = np.zeros(maps.shape[1] * 64, amount.dtype)
        padded_amount[: len(amount)] = amount
        return cls(maps, row.astype(np.int32), padded_amount, bool((amount == 1).all()))


def _bitmaps(pool: Pool, place: int, column: NDArray[Any]) -> tuple[Words, NDArray[np.int64]]:
    """Bitmaps of the symbols that some tuple of the block agrees with, and which one each symbol has.

    The first bitmap is full. The second holds the tuples with a missing cell: only they agree with a symbol that no
    cell of the block holds.
    """
    cells, missing = pool.cells[place], column == 0
    known_rows = np.flatnonzero(~missing)
    cell = column[known_rows].astype(np.int64)
    held_values, holder = cells.members[expanded(cells.starts, cell - 1)], np.repeat(known_rows, cells.lengths[cell])
    present_values, which = np.unique(held_values, return_inverse=True)
    n = len(column)
    bits = np.zeros((2 + len(present_values), -(-n // 64) * 64), bool)
    bits[0, :n] = True  # not the padding: it must never be counted
    bits[2 + which, holder] = True
    bits[1:, :n] |= missing
    maps = np.packbits(bits, axis=1, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)
    value = np.ones(len(cells.values), np.int64)
    value[present_values] = 2 + np.arange(len(present_values))
    row = np.zeros(pool.symbols(place), np.int64)
    if pool.by_value or cells.certain:
        row[1:] = value
        return maps, row
    row[1:] = 2 + np.arange(cells.size)
    return np.concatenate([maps[:2], *_united_maps(maps, value[cells.members], cells.starts)]), row


def _united_maps(maps: Words, rows: NDArray[np.int64], starts: NDArray[np.int64]) -> Iterator[Words]:
    """The OR of the bitmaps from each start to the next, some sets at a time."""
    begin = 0
    while begin < len(starts) - 1:
        end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + _MEMBERS, side="right")) - 1)
        part, begin = starts[begin : end + 1], end
        yield np.bitwise_or.reduceat(maps[rows[part[0] : part[-1]]], part[:-1] - part[0], axis=0)


@dataclass(frozen=True, eq=False)
class Asked:
    """Distinct questions in lexicographic order, for blocks of one file.

    Parameters
    ----------
    symbols : (asked, variables) int32
        The place of each symbol among those of all variables.
    is_known : (asked, variables) bool
        Which of them say anything.
    """

    symbols: NDArray[np.int32]
    is_known: NDArray[np.bool_]

    @classmethod
    def of(cls, columns: Sequence[NDArray[Any]], starts: NDArray[np.int64]) -> Asked:
        """Questions by their columns, given where the symbols of each variable begin."""
        table = np.ascontiguousarray(np.column_stack(columns), np.int32)
        return cls(table + starts.astype(np.int32), table > 0)

    @cached_property
    def compact(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The known symbols one after the other, where those of each question begin, how many the one before shares."""
        same = np.logical_and.accumulate(self.symbols[1:] == self.symbols[:-1], axis=1)
        shared = np.concatenate([[0], (same & self.is_known[1:]).sum(axis=1)])
        starts = np.concatenate([[0], np.cumsum(self.is_known.sum(axis=1))])
        return self.symbols[self.is_known], starts, shared


@dataclass(frozen=True, eq=False)
class Bitmaps:
    """A file ready to be asked, block by block."""

    pool: Pool
    progress: Callable[[float], None] | None = field(default=None, repr=False)

    def count(self, question_set: Questions) -> Amounts:
        columns, order = self._ordered
        first, rank = grouped([question_set.symbols[p] for p in columns], [self.pool.symbols(p) for p in columns])
        distinct = Asked.of([question_set.symbols[place][first] for place in columns], Block.starts(self.pool, columns))
        total = np.zeros(len(first), self.pool.amount.dtype)
        add = adder(len(first) * len(order) * len(columns))
        for start in range(0, len(order), BLOCK):
            block_rows = order[start : start + BLOCK]
            add(Block.of(self.pool, columns, block_rows), distinct, total)
            if self.progress is not None:
                self.progress(min(1.0, (start + BLOCK) / len(order)))
        return np.asarray(total[rank])

    @cached_property
    def _ordered(self) -> tuple[list[int], NDArray[np.intp]]:
        """Variables, the one that distinguishes most tuples first, and tuples sorted by them.

        A block then holds few of the first variables' values, so that most questions end there.
        """
        tuples = self.pool.tuples
        share_alike = [
            float(np.square(np.bincount(column, minlength=1) / len(tuples)).sum()) for column in tuples.columns
        ]
        missing = [float((column == 0).mean()) for column in tuples.columns]
        columns = sorted(range(len(share_alike)), key=lambda place: share_alike[place] + 2 * missing[place])
        rows, _ = grouped([tuples.columns[place] for place in columns], [tuples.sizes[place] for place in columns])
        return columns, rows


def adder(work: int) -> Callable[[Block, Asked, Amounts], None]:
    """The function that counts: compiled code on all cores if numba is installed and the work is large enough."""
    if work < _WORTH_COMPILING or find_spec("numba") is None:
        return add_matches
    from naysay.microdata.matching import compiled

    return compiled.add_matches


def add_matches(block: Block, questions: Asked, total: Amounts) -> None:
    """Add what matches in a block to the total of each question, in place."""
    for start in range(0, len(questions.symbols), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        rows = block.row[questions.symbols[part]]
        matching_bits = block.maps[rows[:, 0]]
        for place in range(1, rows.shape[1]):
            matching_bits &= block.maps[rows[:, place]]
        total[part] += _amounts(matching_bits, block)


def _amounts(matching_bits: Words, block: Block) -> Amounts:
    """The sum of the amounts of the tuples found, exact if amounts are whole."""
    if block.single:
        return np.asarray(np.bitwise_count(matching_bits).sum(axis=1, dtype=np.int64), block.amount.dtype)
    bits = np.unpackbits(matching_bits.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    if block.amount.dtype.kind == "f":
        return np.asarray(bits @ block.amount)
    result = np.zeros(len(matching_bits), np.int64)
    for place in range(int(block.amount.max()).bit_length()):  # one popcount for each binary place of the amounts
        place_bits = np.packbits((block.amount >> place) & 1 == 1, bitorder="little").view("<u8").astype(np.uint64)
        result += np.bitwise_count(matching_bits & place_bits).sum(axis=1, dtype=np.int64) << place
    return result


_MOST = 4_000_000_000


def _axes(pool: Pool) -> tuple[list[int], list[int]]:
    """Variables with an axis of their own, uncertain ones first, and the plain ones, which share the last axis."""
    gaps = [place for place, gap in enumerate(pool.gaps) if gap and not pool.uncertain[place]]
    axis_places = [*(place for place, _, _ in pool.several), *gaps]
    return axis_places, [place for place in range(len(pool.cells)) if place not in axis_places]


def combinations(pool: Pool) -> float:
    """Size of the array: combinations of the known variables that occur times all of the others."""
    axis_places, plain = _axes(pool)
    occurring = min(float(len(pool.tuples)), float(np.prod([float(pool.tuples.sizes[place]) for place in plain])))
    return occurring * float(np.prod([float(max(pool.symbols(p), pool.tuples.sizes[p])) for p in axis_places]))


@dataclass(frozen=True, eq=False)
class Cube:
    """The transformed array of a file."""

    pool: Pool
    array: Amounts
    axis_places: list[int]
    group: NDArray[np.intp]

    @classmethod
    def of(cls, pool: Pool) -> Cube:
        """The array of a file, transformed along every axis that needs it.

        Raises
        ------
        DataError
            More combinations than memory holds.
        """
        if combinations(pool) > _MOST:
            raise DataError(
                f"these keys have {combinations(pool):.3g} combinations, too many for an array of them all; leave the"
                " algorithm out, or ask for 'bitmap' or 'join'"
            )
        (axis_places, plain), groups = _axes(pool), 1
        group = np.zeros(len(pool.tuples), np.intp)
        if plain:
            first, group = grouped([pool.tuples.columns[p] for p in plain], [pool.tuples.sizes[p] for p in plain])
            groups = len(first)
        shape = [*(pool.tuples.sizes[place] for place in axis_places), groups]
        is_whole = pool.amount.dtype.kind in "iu"
        # the smallest type that holds every sum: the array may be large
        array = np.zeros(math.prod(shape), np.int32 if is_whole and pool.amount.sum() < 2**31 else pool.amount.dtype)
        cube = cls(pool, array, axis_places, group)
        array[cube._key(np.arange(len(pool.tuples)), pool.tuples.columns, shape)] = pool.amount  # tuples are distinct
        for number, place in enumerate(axis_places):
            array = _transform_axis(array, shape, number, pool, place)
            shape[number] = pool.symbols(place)
        return replace(cube, array=array.reshape(shape))

    def count(self, question_set: Questions) -> Amounts:
        key = self._key(question_set.owner, question_set.symbols, self.array.shape)
        return self.array.reshape(-1)[key].astype(self.pool.amount.dtype)

    def _key(self, owner: NDArray[np.intp], columns: Sequence[NDArray[Any]], shape: Sequence[int]) -> NDArray[np.intp]:
        """Places in the flat array."""
        # the last axis is the joint one
        return packed([*(columns[place] for place in self.axis_places), self.group[owner]], shape).astype(np.intp)


def _transform_axis(array: Amounts, shape: list[int], axis: int, pool: Pool, place: int) -> Amounts:
    before, size, after = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    cube = array.reshape(before, size, after)
    if not pool.uncertain[place] and pool.symbols(place) == size:
        total = cube.sum(axis=1, dtype=array.dtype)
        cube[:, 1:] += cube[:, :1]  # before the next line, which overwrites the missing cell
        cube[:, 0] = total
        return cube.reshape(-1)
    agree = pool.agreement(place).astype(array.dtype)
    result = np.empty((before, agree.shape[0], after), array.dtype)
    for slab in range(before):
        result[slab] = agree @ cube[slab]
    return result.reshape(-1)
