"""What a cell may hold: the candidates of every distinct cell of one key variable.

A cell is one value, a set of candidate values (with chances, where they are known), or missing. Cells are numbered: 0
is missing, 1…V are the V values known for certain, and higher numbers are the uncertain cells, each with its candidates
in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks

Codes = NDArray[Any]
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
        cls, values: Sequence[Any], sets: Sequence[Sequence[int]] = (), chances: Sequence[Sequence[float]] | None = None
    ) -> CellSet:
        """Cells of single values, followed by cells of two or more candidates."""
        value_count = len(values)
        lengths = np.concatenate([np.ones(value_count, np.int64), np.array([len(places) for places in sets], np.int64)])
        members = np.concatenate([np.arange(value_count), *(np.asarray(places, np.int64) for places in sets)]).astype(
            np.int64
        )
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        likely = np.repeat(1 / lengths, lengths)
        if chances is not None:
            likely[value_count:] = np.concatenate(
                [np.zeros(0), *(np.asarray(set_chances, float) for set_chances in chances)]
            )
        return cls(tuple(values), starts, members, likely)

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
        inner = scipy.sparse.csr_array(holds.T if by_value else holds @ holds.T)
        inner.data[:] = 1
        return inner

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

    def under(self, policy: str, codes: NDArray[Any]) -> tuple[NDArray[Any], CellSet]:
        """Codes and cells under a policy; "category" makes a missing cell the value None, behind the others."""
        if policy != "category" or codes.all():
            return codes, self
        value_count = len(self.values)
        starts = np.concatenate([self.starts[: value_count + 1], self.starts[value_count:] + 1])
        members, chances = np.insert(self.members, value_count, value_count), np.insert(self.chances, value_count, 1.0)
        moved_codes = np.where(codes == 0, value_count + 1, codes.astype(np.int64) + (codes > value_count))
        return moved_codes, CellSet((*self.values, None), starts, members, chances)

    def merged(self, into: NDArray[Any]) -> tuple[CellSet, NDArray[np.int64]]:
        """Cells of fewer values (value i becomes into[i]), and the new number of each cell, (cells + 1,)."""
        value_count, merged_count = len(self.values), int(into.max()) + 1
        set_numbers: dict[tuple[tuple[int, float], ...], int] = {}
        number = np.concatenate([[0], 1 + into, np.zeros(self.size - value_count, np.int64)]).astype(np.int64)
        for cell in range(value_count + 1, self.size + 1):
            part = slice(self.starts[cell - 1], self.starts[cell])
            chance_of_value: dict[int, float] = {}
            for value, chance in zip(into[self.members[part]].tolist(), self.chances[part].tolist(), strict=True):
                chance_of_value[value] = chance_of_value.get(value, 0.0) + chance
            single = len(chance_of_value) == 1
            number[cell] = (
                1 + next(iter(chance_of_value))
                if single
                else merged_count + set_numbers.setdefault((*chance_of_value.items(),), len(set_numbers) + 1)
            )
        sets = [[value for value, _ in candidates] for candidates in set_numbers]
        return CellSet.of(
            range(merged_count), sets, [[chance for _, chance in candidates] for candidates in set_numbers]
        ), number


def compact(codes: NDArray[Any], most: int) -> Codes:
    """The same codes in the smallest unsigned integers that reach `most`."""
    return _checks.read_only(np.ascontiguousarray(codes, dtype=np.min_scalar_type(max(most, 1))))


def expanded(starts: NDArray[np.int64], which: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places starts[w] … starts[w + 1] - 1 for each w, one after another."""
    lengths = starts[which + 1] - starts[which]
    begun = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(starts[which] - begun, lengths), np.int64)
