"""The question for an algorithm: how many respondents may match each of some tuples.

Every rule has the same form. On each variable, a tuple that is asked about names a *symbol* (0: unknown). Each cell
agrees with that symbol or not, and a respondent matches when their cells agree on every variable. Under `intersect` a
symbol is a cell, and agrees with the cells that share a candidate with it. Under `first` and `worst` a symbol is a
value, and agrees with the cells that hold it. `worst` asks about every combination of a tuple's own candidates, and
takes the least count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.cells import CellSet, expanded
from naysay.microdata.keys.table import check_choice
from naysay.microdata.keys.tuples import Tuples, grouped
from naysay.microdata.keys.variables import Keys

RULES = ("worst", "intersect", "first")
Amounts = NDArray[Any]

_AT_ONCE = 4_000_000  # combinations of candidates held in memory
_MOST = 50_000_000  # combinations of one respondent's candidates


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
        pairs = zip(self.cells, self.tuples.columns, strict=True)
        return tuple(bool((column > len(cells.values)).any()) for cells, column in pairs)

    @cached_property
    def several(self) -> list[tuple[int, CellSet, NDArray[Any]]]:
        """The place, the cells and the column of each uncertain variable."""
        variables = zip(count(), self.cells, self.tuples.columns)
        return [(place, cells, column) for place, cells, column in variables if self.uncertain[place]]

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
        inner = cells.agreeing(by_value=self.by_value)
        unknown_row = scipy.sparse.csr_array(np.ones((1, cells.size + 1)))
        unknown_column = scipy.sparse.csr_array(np.ones((inner.shape[0], 1)))
        return scipy.sparse.csr_array(scipy.sparse.vstack([unknown_row, scipy.sparse.hstack([unknown_column, inner])]))

    @cached_property
    def agreements(self) -> float:
        """An upper bound on the pairs of cells and symbols that agree, over the uncertain variables."""
        holder_counts = (np.bincount(cells.members).astype(np.float64) for _, cells, _ in self.several)
        return float(
            sum(
                value_holders.sum() if self.by_value else np.square(value_holders).sum()
                for value_holders in holder_counts
            )
        )

    @cached_property
    def candidate_count(self) -> float:
        """How many values the cells of the tuples may hold, added up over the uncertain variables."""
        return float(sum(cells.lengths[column].sum() for _, cells, column in self.several))

    @cached_property
    def spread(self) -> float:
        """An upper bound on the tuples of symbols that the pool's tuples agree with, where no key is missing."""
        result = np.ones(len(self.tuples))
        for _, cells, column in self.several:
            holders = np.ones(len(cells.values)) if self.by_value else np.bincount(cells.members).astype(np.float64)
            agreeing = np.minimum(cells.membership @ holders, float(cells.size))
            result *= np.concatenate([[1.0], agreeing])[column]
        return float(result.sum())


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

    symbols: tuple[NDArray[Any], ...]
    owner: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def distinct(self) -> tuple[Questions, NDArray[np.intp]]:
        """The same questions, each once, and where each went."""
        sizes = [int(column.max(initial=0)) + 1 for column in self.symbols]
        first, inverse = grouped(self.symbols, sizes)
        return Questions(tuple(column[first] for column in self.symbols), self.owner[first]), inverse


class Counter(Protocol):
    """An algorithm that has seen a pool."""

    def count(self, question_set: Questions) -> Amounts:
        """The amount that matches each tuple asked about, (asked,)."""


def pool_of(keys: Keys, rule: str, weight: NDArray[np.float64] | None) -> Pool:
    """The tuples that are assessed under a rule."""
    check_choice(rule, RULES, what="rule")
    tuples, amount = keys.tuples, keys.tuples.count if weight is None else weight
    if not keys.kept.all():
        tuples, amount = tuples.take(keys.kept), amount[keys.kept]
    return feasible(Pool(tuples, amount, tuple(variable.cells for variable in keys.variables), rule))


def feasible(pool: Pool) -> Pool:
    """The same pool, after checking that no tuple has more combinations of candidates than can be listed."""
    most = combinations(pool).max(initial=0) if pool.rule == "worst" else 0
    if most > _MOST:
        raise DataError(
            f"the candidates of one respondent combine in {most:.3g} ways, too many to take each as known;"
            " coarsen the keys, take fewer of them, or ask for rule='intersect' or 'first'"
        )
    return pool


def questions_of(pool: Pool, rows: NDArray[np.intp]) -> Questions:
    """What the rule asks on behalf of some tuples of the pool."""
    columns: list[NDArray[Any]] = [column[rows] for column in pool.tuples.columns]
    for place, cells, _ in pool.several:
        if pool.rule == "first":
            columns[place] = cells.first[columns[place]]
        elif pool.rule == "worst":
            columns, repeat, _ = combined(columns, place, cells)
            rows = rows[repeat]
    return Questions(tuple(columns), rows)


def combined(
    columns: Sequence[NDArray[Any]], number: int, cells: CellSet
) -> tuple[list[NDArray[Any]], NDArray[np.intp], NDArray[np.float64]]:
    """Columns with a row for each candidate of one variable, the row that each comes from, and its chance."""
    cell = columns[number]
    repeat = np.repeat(np.arange(len(cell)), cells.lengths[cell])
    where, is_known = expanded(cells.starts, cell[cell > 0].astype(np.int64) - 1), cell[repeat] > 0
    symbol, chance = np.zeros(len(repeat), np.int64), np.ones(len(repeat))
    symbol[is_known], chance[is_known] = 1 + cells.members[where], cells.chances[where]
    repeated_columns = [column[repeat] for column in columns]
    repeated_columns[number] = symbol
    return repeated_columns, repeat, chance


def combinations(pool: Pool) -> NDArray[np.float64]:
    """How many combinations of candidates each tuple has, (distinct,)."""
    result = np.ones(len(pool.tuples))
    for _, cells, column in pool.several:
        result *= cells.lengths[column]
    return result


def answers(pool: Pool, counter: Counter) -> Amounts:
    """The matches of each tuple of the pool, (distinct,)."""
    result = np.empty(len(pool.tuples), pool.amount.dtype)
    batches = [np.arange(len(pool.tuples))]
    if pool.rule == "worst" and pool.several:  # so many tuples at once that their combinations fit into memory
        batch = (np.cumsum(combinations(pool)) // _AT_ONCE).astype(np.int64)
        batches = np.split(batches[0], np.flatnonzero(np.diff(batch)) + 1)
    for rows in batches:
        question_set = questions_of(pool, rows)
        if pool.several and pool.by_value:
            distinct_questions, inverse = question_set.distinct
            counts = counter.count(distinct_questions)[inverse]
        else:
            counts = counter.count(question_set)
        if len(question_set) > len(rows):
            counts = np.minimum.reduceat(counts, np.flatnonzero(np.diff(question_set.owner, prepend=-1)))
        result[rows] = counts
    return result
