"""How many respondents may match each of some tuples: the question, and three algorithms that agree on the answer.

Every rule of matching asks the same. On each variable, a tuple that is asked about names a *symbol* (0: unknown). Each
cell agrees with that symbol or not, and a respondent matches when their cells agree on every variable. Under
`intersect` a symbol is a cell, and agrees with the cells that share a candidate with it. Under `first` and `worst` a
symbol is a value, and agrees with the cells that hold it. `worst` asks about every combination of a tuple's own
candidates, and takes the least count.

`Bitmaps` have one bit a distinct tuple, one bitmap a variable and symbol. The bitmap of a value holds the tuples whose
cell holds it or is missing; that of a set is the OR of its values; that of an unknown cell is full. The tuples that
match are the AND over variables, counted by popcount where tuples stand for one respondent each. The file is taken in
blocks, of which only the values that occur have bitmaps, so that a block's bitmaps stay in the processor's cache.

A `Cube` is a table of all combinations, for keys whose combinations can be listed. Let F be the array of how many
respondents have each tuple of cells, one axis a variable, place 0 for missing. Whether two tuples match is a product
over variables, so matches are F transformed along one axis after the other:
G[symbol] = F[missing] + Σ F[cells that agree with the symbol], G[unknown] = Σ F. The cost is axes × combinations,
whatever the number of respondents and of patterns. Variables without missing or uncertain cells need no transform:
they make up one axis, of the combinations that occur.

A `Join` is relational algebra, as it is done on engines: see `engines`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from itertools import count
from typing import Protocol

import narwhals as nw
import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from naysay._values import Array
from naysay.errors import DataError
from naysay.microdata.keys.cells import CellSet, Tuples, expanded, grouped, packed
from naysay.microdata.keys.codes import check_choice
from naysay.microdata.keys.engines import AMOUNT, Algebra, digit, symbol
from naysay.microdata.keys.variables import Keys

BLOCK = 4_096  # tuples: 64 words a bitmap
_QUESTIONS_AT_ONCE = 2_048  # questions
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
        maps_and_rows = [_bitmaps(pool, key_place, pool.tuples.columns[key_place][rows]) for key_place in columns]
        block_amount = pool.amount[rows]
        row_starts = np.cumsum([0, *(len(maps) for maps, _ in maps_and_rows)])
        # the first bitmap of each variable is the same, the full one: all share that of the first variable
        maps_and_starts = zip(maps_and_rows, row_starts[:-1], strict=True)
        symbol_rows = np.concatenate(
            [np.where(symbol_rows == 0, 0, symbol_rows + row_start) for (_, symbol_rows), row_start in maps_and_starts]
        )
        maps = np.concatenate([maps for maps, _ in maps_and_rows])
        padded_amount = np.zeros(maps.shape[1] * 64, block_amount.dtype)
        padded_amount[: len(block_amount)] = block_amount
        return cls(maps, symbol_rows.astype(np.int32), padded_amount, bool((block_amount == 1).all()))


def _bitmaps(pool: Pool, place: int, column: Array) -> tuple[Words, NDArray[np.int64]]:
    """Bitmaps of the symbols that some tuple of the block agrees with, and which one each symbol has.

    The first bitmap is full. The second holds the tuples with a missing cell: only they agree with a symbol that no
    cell of the block holds.
    """
    cell_set, is_missing = pool.cells[place], column == 0
    known_rows = np.flatnonzero(~is_missing)
    known_cells = column[known_rows].astype(np.int64)
    held_values = cell_set.members[expanded(cell_set.starts, known_cells - 1)]
    holder_rows = np.repeat(known_rows, cell_set.lengths[known_cells])
    present_values, present_places = np.unique(held_values, return_inverse=True)
    n = len(column)
    value_bits = np.zeros((2 + len(present_values), -(-n // 64) * 64), bool)
    value_bits[0, :n] = True  # not the padding: it must never be counted
    value_bits[2 + present_places, holder_rows] = True
    value_bits[1:, :n] |= is_missing
    maps = np.packbits(value_bits, axis=1, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)
    row_of_value = np.ones(len(cell_set.values), np.int64)
    row_of_value[present_values] = 2 + np.arange(len(present_values))
    row_of_symbol = np.zeros(pool.symbols(place), np.int64)
    if pool.by_value or cell_set.certain:
        row_of_symbol[1:] = row_of_value
        return maps, row_of_symbol
    row_of_symbol[1:] = 2 + np.arange(cell_set.size)
    return np.concatenate(
        [maps[:2], *_united_maps(maps, row_of_value[cell_set.members], cell_set.starts)]
    ), row_of_symbol


def _united_maps(maps: Words, rows: NDArray[np.int64], starts: NDArray[np.int64]) -> Iterator[Words]:
    """The OR of the bitmaps from each start to the next, some sets at a time."""
    first_set = 0
    while first_set < len(starts) - 1:
        next_set = max(first_set + 1, int(np.searchsorted(starts, starts[first_set] + _MEMBERS, side="right")) - 1)
        set_starts, first_set = starts[first_set : next_set + 1], next_set
        yield np.bitwise_or.reduceat(
            maps[rows[set_starts[0] : set_starts[-1]]], set_starts[:-1] - set_starts[0], axis=0
        )


@dataclass(frozen=True, eq=False)
class DistinctQuestions:
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
    def of(cls, columns: Sequence[Array], starts: NDArray[np.int64]) -> DistinctQuestions:
        """Questions by their columns, given where the symbols of each variable begin."""
        symbol_table = np.ascontiguousarray(np.column_stack(columns), np.int32)
        return cls(symbol_table + starts.astype(np.int32), symbol_table > 0)

    @cached_property
    def compact(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The known symbols one after the other, where those of each question begin, how many the one before shares."""
        is_same = np.logical_and.accumulate(self.symbols[1:] == self.symbols[:-1], axis=1)
        shared_counts = np.concatenate([[0], (is_same & self.is_known[1:]).sum(axis=1)])
        question_starts = np.concatenate([[0], np.cumsum(self.is_known.sum(axis=1))])
        return self.symbols[self.is_known], question_starts, shared_counts


@dataclass(frozen=True, eq=False)
class Bitmaps:
    """A file ready to be asked, block by block."""

    pool: Pool
    progress: Callable[[float], None] | None = field(default=None, repr=False)

    def count(self, question_set: Questions) -> Amounts:
        key_places, tuple_order = self._ordered
        first_questions, question_ranks = grouped(
            [question_set.symbols[p] for p in key_places], [self.pool.symbols(p) for p in key_places]
        )
        distinct_questions = DistinctQuestions.of(
            [question_set.symbols[key_place][first_questions] for key_place in key_places],
            Block.starts(self.pool, key_places),
        )
        question_totals = np.zeros(len(first_questions), self.pool.amount.dtype)
        add_block = adder(len(first_questions) * len(tuple_order) * len(key_places))
        for start in range(0, len(tuple_order), BLOCK):
            block_rows = tuple_order[start : start + BLOCK]
            add_block(Block.of(self.pool, key_places, block_rows), distinct_questions, question_totals)
            if self.progress is not None:
                self.progress(min(1.0, (start + BLOCK) / len(tuple_order)))
        return np.asarray(question_totals[question_ranks])

    @cached_property
    def _ordered(self) -> tuple[list[int], NDArray[np.intp]]:
        """Variables, the one that distinguishes most tuples first, and tuples sorted by them.

        A block then holds few of the first variables' values, so that most questions end there.
        """
        tuples = self.pool.tuples
        share_alike = [
            float(np.square(np.bincount(column, minlength=1) / len(tuples)).sum()) for column in tuples.columns
        ]
        share_missing = [float((column == 0).mean()) for column in tuples.columns]
        key_places = sorted(
            range(len(share_alike)), key=lambda key_place: share_alike[key_place] + 2 * share_missing[key_place]
        )
        tuple_order, _ = grouped(
            [tuples.columns[key_place] for key_place in key_places],
            [tuples.sizes[key_place] for key_place in key_places],
        )
        return key_places, tuple_order


def adder(work: int) -> Callable[[Block, DistinctQuestions, Amounts], None]:
    """The function that counts: compiled code on all cores if numba is installed and the work is large enough."""
    if work < _WORTH_COMPILING or find_spec("numba") is None:
        return add_matches
    from naysay.microdata import compiled

    return compiled.add_matches


def add_matches(block: Block, questions: DistinctQuestions, total: Amounts) -> None:
    """Add what matches in a block to the total of each question, in place."""
    for start in range(0, len(questions.symbols), _QUESTIONS_AT_ONCE):
        question_slice = slice(start, start + _QUESTIONS_AT_ONCE)
        map_rows = block.row[questions.symbols[question_slice]]
        matching_bits = block.maps[map_rows[:, 0]]
        for key_place in range(1, map_rows.shape[1]):
            matching_bits &= block.maps[map_rows[:, key_place]]
        total[question_slice] += _amounts(matching_bits, block)


def _amounts(matching_bits: Words, block: Block) -> Amounts:
    """The sum of the amounts of the tuples found, exact if amounts are whole."""
    if block.single:
        return np.asarray(np.bitwise_count(matching_bits).sum(axis=1, dtype=np.int64), block.amount.dtype)
    tuple_bits = np.unpackbits(matching_bits.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    if block.amount.dtype.kind == "f":
        return np.asarray(tuple_bits @ block.amount)
    matching_amounts = np.zeros(len(matching_bits), np.int64)
    for place in range(int(block.amount.max()).bit_length()):  # one popcount for each binary place of the amounts
        place_bits = np.packbits((block.amount >> place) & 1 == 1, bitorder="little").view("<u8").astype(np.uint64)
        matching_amounts += np.bitwise_count(matching_bits & place_bits).sum(axis=1, dtype=np.int64) << place
    return matching_amounts


_MOST_CELLS = 4_000_000_000


def _axes(pool: Pool) -> tuple[list[int], list[int]]:
    """Variables with an axis of their own, uncertain ones first, and the plain ones, which share the last axis."""
    gap_places = [key_place for key_place, has_gap in enumerate(pool.gaps) if has_gap and not pool.uncertain[key_place]]
    axis_places = [*(key_place for key_place, _, _ in pool.several), *gap_places]
    return axis_places, [key_place for key_place in range(len(pool.cells)) if key_place not in axis_places]


def cube_cells(pool: Pool) -> float:
    """Size of the array: combinations of the known variables that occur times all of the others."""
    axis_places, plain_places = _axes(pool)
    occurring = min(
        float(len(pool.tuples)), float(np.prod([float(pool.tuples.sizes[key_place]) for key_place in plain_places]))
    )
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
        if cube_cells(pool) > _MOST_CELLS:
            raise DataError(
                f"these keys have {cube_cells(pool):.3g} combinations, too many for an array of them all; leave the"
                " algorithm out, or ask for 'bitmap' or 'join'"
            )
        (axis_places, plain_places), group_count = _axes(pool), 1
        group_of_tuple = np.zeros(len(pool.tuples), np.intp)
        if plain_places:
            first_tuples, group_of_tuple = grouped(
                [pool.tuples.columns[p] for p in plain_places], [pool.tuples.sizes[p] for p in plain_places]
            )
            group_count = len(first_tuples)
        shape = [*(pool.tuples.sizes[key_place] for key_place in axis_places), group_count]
        is_whole = pool.amount.dtype.kind in "iu"
        # the smallest type that holds every sum: the array may be large
        array = np.zeros(math.prod(shape), np.int32 if is_whole and pool.amount.sum() < 2**31 else pool.amount.dtype)
        cube = cls(pool, array, axis_places, group_of_tuple)
        array[cube._key(np.arange(len(pool.tuples)), pool.tuples.columns, shape)] = pool.amount  # tuples are distinct
        for axis_number, key_place in enumerate(axis_places):
            array = _transform_axis(array, shape, axis_number, pool, key_place)
            shape[axis_number] = pool.symbols(key_place)
        return replace(cube, array=array.reshape(shape))

    def count(self, question_set: Questions) -> Amounts:
        key = self._key(question_set.owner, question_set.symbols, self.array.shape)
        return self.array.reshape(-1)[key].astype(self.pool.amount.dtype)

    def _key(self, owner: NDArray[np.intp], columns: Sequence[Array], shape: Sequence[int]) -> NDArray[np.intp]:
        """Places in the flat array."""
        # the last axis is the joint one
        return packed([*(columns[place] for place in self.axis_places), self.group[owner]], shape).astype(np.intp)


def _transform_axis(array: Amounts, shape: list[int], axis: int, pool: Pool, place: int) -> Amounts:
    outer_count, axis_size, inner_count = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    cube = array.reshape(outer_count, axis_size, inner_count)
    if not pool.uncertain[place] and pool.symbols(place) == axis_size:
        axis_total = cube.sum(axis=1, dtype=array.dtype)
        cube[:, 1:] += cube[:, :1]  # before the next line, which overwrites the missing cell
        cube[:, 0] = axis_total
        return cube.reshape(-1)
    agreement_matrix = pool.agreement(place).astype(array.dtype)
    transformed_cube = np.empty((outer_count, agreement_matrix.shape[0], inner_count), array.dtype)
    for slab in range(outer_count):
        transformed_cube[slab] = agreement_matrix @ cube[slab]
    return transformed_cube.reshape(-1)


RULES = ("worst", "intersect", "first")
Amounts = Array

_COMBINATIONS_AT_ONCE = 4_000_000  # combinations of candidates held in memory
_MOST_COMBINATIONS = 50_000_000  # combinations of one respondent's candidates


@dataclass(frozen=True, eq=False)
class Pool:
    """Distinct tuples among which matches are counted.

    Parameters
    ----------
    tuples : Tuples
    amount : (distinct,) int or float
        What each tuple adds to a count: its respondents, or their weights.
    cells : tuple of CellSet
        One for each variable.
    rule : {"worst", "intersect", "first"}
    """

    tuples: Tuples
    amount: Amounts
    cells: tuple[CellSet, ...]
    rule: str

    @property
    def by_value(self) -> bool:
        """Whether symbols are values (otherwise they are cells)."""
        return self.rule != "intersect"

    @property
    def questions(self) -> float:
        """How many tuples of symbols will be asked about."""
        return float(combinations(self).sum()) if self.rule == "worst" else float(len(self.tuples))

    def symbols(self, place: int) -> int:
        """Symbols of a variable, the unknown one included."""
        cells = self.cells[place]
        return 1 + (len(cells.values) if self.by_value else cells.size)

    @cached_property
    def uncertain(self) -> tuple[bool, ...]:
        """Whether a variable has cells with several candidates in this pool."""
        cells_and_columns = zip(self.cells, self.tuples.columns, strict=True)
        return tuple(bool((code_column > len(cell_set.values)).any()) for cell_set, code_column in cells_and_columns)

    @cached_property
    def several(self) -> list[tuple[int, CellSet, Array]]:
        """The place, the cells and the column of each uncertain variable."""
        variables = zip(count(), self.cells, self.tuples.columns)
        return [
            (key_place, cell_set, code_column)
            for key_place, cell_set, code_column in variables
            if self.uncertain[key_place]
        ]

    @cached_property
    def gaps(self) -> tuple[bool, ...]:
        """Whether a variable is missing somewhere."""
        return tuple(bool((column == 0).any()) for column in self.tuples.columns)

    @property
    def plain(self) -> bool:
        """Whether every cell is known for certain."""
        return not any(self.gaps) and not any(self.uncertain)

    def agreement(self, place: int) -> scipy.sparse.csr_array:
        """Which cells (columns) agree with each symbol (rows), the unknown of either first; entries are 1."""
        cells = self.cells[place]
        agreement_matrix = cells.agreeing(by_value=self.by_value)
        unknown_row = scipy.sparse.csr_array(np.ones((1, cells.size + 1)))
        unknown_column = scipy.sparse.csr_array(np.ones((agreement_matrix.shape[0], 1)))
        return scipy.sparse.csr_array(
            scipy.sparse.vstack([unknown_row, scipy.sparse.hstack([unknown_column, agreement_matrix])])
        )

    @cached_property
    def agreements(self) -> float:
        """An upper bound on the pairs of cells and symbols that agree, over the uncertain variables."""
        holder_counts = (np.bincount(cells.members).astype(np.float64) for _, cells, _ in self.several)
        power = 1 if self.by_value else 2
        return float(sum((value_holders**power).sum() for value_holders in holder_counts))

    @cached_property
    def candidate_count(self) -> float:
        """How many values the cells of the tuples may hold, added up over the uncertain variables."""
        return float(sum(cells.lengths[column].sum() for _, cells, column in self.several))

    @cached_property
    def spread(self) -> float:
        """An upper bound on the tuples of symbols that the pool's tuples agree with, where no key is missing."""
        tuple_spread = np.ones(len(self.tuples))
        for _, cell_set, code_column in self.several:
            holder_counts = (
                np.ones(len(cell_set.values)) if self.by_value else np.bincount(cell_set.members).astype(np.float64)
            )
            agreeing_counts = np.minimum(cell_set.membership @ holder_counts, float(cell_set.size))
            tuple_spread *= np.concatenate([[1.0], agreeing_counts])[code_column]
        return float(tuple_spread.sum())


@dataclass(frozen=True, eq=False)
class Questions:
    """Tuples of symbols to be counted, each belonging to a tuple of the pool.

    Parameters
    ----------
    symbols : tuple of (asked,) int
        One column for each variable.
    owner : (asked,) int
        The tuple of the pool that asks.
    """

    symbols: tuple[Array, ...]
    owner: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def distinct(self) -> tuple[Questions, NDArray[np.intp]]:
        """The same questions, each once, and where each went."""
        symbol_counts = [int(column.max(initial=0)) + 1 for column in self.symbols]
        first_questions, question_places = grouped(self.symbols, symbol_counts)
        return Questions(
            tuple(column[first_questions] for column in self.symbols), self.owner[first_questions]
        ), question_places


class Counter(Protocol):
    """An algorithm that has seen a pool."""

    def count(self, question_set: Questions) -> Amounts:
        """The amount that matches each tuple asked about, (asked,)."""


def pool_of(keys: Keys, rule: str, weight: NDArray[np.float64] | None) -> Pool:
    """The tuples that are assessed under a rule."""
    check_choice(rule, RULES, what="rule")
    tuples, tuple_amounts = keys.tuples, keys.tuples.count if weight is None else weight
    if not keys.kept.all():
        tuples, tuple_amounts = tuples.take(keys.kept), tuple_amounts[keys.kept]
    pool = Pool(tuples, tuple_amounts, tuple(variable.cells for variable in keys.variables), rule)
    most_combinations = combinations(pool).max(initial=0) if rule == "worst" else 0
    if most_combinations > _MOST_COMBINATIONS:
        raise DataError(
            f"the candidates of one respondent combine in {most_combinations:.3g} ways, too many to take each as known;"
            " coarsen the keys, take fewer of them, or ask for rule='intersect' or 'first'"
        )
    return pool


def questions_of(pool: Pool, rows: NDArray[np.intp]) -> Questions:
    """What the rule asks on behalf of some tuples of the pool."""
    symbol_columns: list[Array] = [column[rows] for column in pool.tuples.columns]
    for key_place, cells, _ in pool.several:
        if pool.rule == "first":
            symbol_columns[key_place] = cells.first[symbol_columns[key_place]]
        elif pool.rule == "worst":
            symbol_columns, repeated_rows, _ = combined(symbol_columns, key_place, cells)
            rows = rows[repeated_rows]
    return Questions(tuple(symbol_columns), rows)


def combined(
    columns: Sequence[Array], number: int, cells: CellSet
) -> tuple[list[Array], NDArray[np.intp], NDArray[np.float64]]:
    """Columns with a row for each candidate of one variable, the row that each comes from, and its chance."""
    cell_numbers = columns[number]
    repeated_rows = np.repeat(np.arange(len(cell_numbers)), cells.lengths[cell_numbers])
    member_places = expanded(cells.starts, cell_numbers[cell_numbers > 0].astype(np.int64) - 1)
    is_known = cell_numbers[repeated_rows] > 0
    candidate_symbols, candidate_chances = np.zeros(len(repeated_rows), np.int64), np.ones(len(repeated_rows))
    candidate_symbols[is_known] = 1 + cells.members[member_places]
    candidate_chances[is_known] = cells.chances[member_places]
    repeated_columns = [column[repeated_rows] for column in columns]
    repeated_columns[number] = candidate_symbols
    return repeated_columns, repeated_rows, candidate_chances


def combinations(pool: Pool) -> NDArray[np.float64]:
    """How many combinations of candidates each tuple has, (distinct,)."""
    combination_counts = np.ones(len(pool.tuples))
    for _, cell_set, code_column in pool.several:
        combination_counts *= cell_set.lengths[code_column]
    return combination_counts


def answers(pool: Pool, counter: Counter) -> Amounts:
    """The matches of each tuple of the pool, (distinct,)."""
    tuple_matches = np.empty(len(pool.tuples), pool.amount.dtype)
    row_batches = [np.arange(len(pool.tuples))]
    if pool.rule == "worst" and pool.several:  # so many tuples at once that their combinations fit into memory
        batch_numbers = (np.cumsum(combinations(pool)) // _COMBINATIONS_AT_ONCE).astype(np.int64)
        row_batches = np.split(row_batches[0], np.flatnonzero(np.diff(batch_numbers)) + 1)
    for batch_rows in row_batches:
        question_set = questions_of(pool, batch_rows)
        if pool.several and pool.by_value:
            distinct_questions, question_places = question_set.distinct
            match_counts = counter.count(distinct_questions)[question_places]
        else:
            match_counts = counter.count(question_set)
        if len(question_set) > len(batch_rows):
            match_counts = np.minimum.reduceat(match_counts, np.flatnonzero(np.diff(question_set.owner, prepend=-1)))
        tuple_matches[batch_rows] = match_counts
    return tuple_matches


_TUPLES_AT_ONCE = 4_000_000  # reduced tuples held in memory


def patterns_of(columns: tuple[Array, ...]) -> NDArray[np.bool_]:
    """Distinct patterns of known variables, (patterns, variables)."""
    known_columns = [np.asarray(column > 0) for column in columns]
    pattern_rows, _ = grouped(known_columns, [2] * len(known_columns))
    return np.column_stack([known_column[pattern_rows] for known_column in known_columns])


@dataclass(frozen=True, eq=False)
class Join:
    """A pool ready to be asked, some patterns at a time."""

    pool: Pool
    progress: Callable[[float], None] | None = field(default=None, repr=False)

    def count(self, question_set: Questions) -> Amounts:
        pool = self.pool
        algebra = Algebra.of(
            pool.cells, pool.uncertain, lambda table: nw.from_native(table.lazy()), by_value=pool.by_value
        )
        patterns, asked_patterns = patterns_of(pool.tuples.columns), patterns_of(question_set.symbols)
        digit_columns = {digit(p): column.astype(np.int64) for p, column in enumerate(pool.tuples.columns)}
        tuple_file = pl.DataFrame(digit_columns | {AMOUNT: pool.amount}).lazy()
        symbol_columns = {symbol(p): np.asarray(column, np.int64) for p, column in enumerate(question_set.symbols)}
        questions = pl.DataFrame(symbol_columns | {"naysay_id": np.arange(len(question_set))}).lazy()
        question_totals = np.zeros(len(question_set), pool.amount.dtype)
        pattern_step = max(1, _TUPLES_AT_ONCE // max(len(pool.tuples), 1))
        for first_pattern in range(0, len(asked_patterns), pattern_step):
            question_amounts = algebra.matching_amounts(
                nw.from_native(tuple_file),
                nw.from_native(questions),
                identity=["naysay_id"],
                patterns=patterns,
                asked_patterns=asked_patterns[first_pattern : first_pattern + pattern_step],
            ).collect()
            question_totals[question_amounts["naysay_id"].to_numpy()] = question_amounts[AMOUNT].to_numpy()
            if self.progress is not None:
                self.progress(min(1.0, (first_pattern + pattern_step) / len(asked_patterns)))
        return question_totals
