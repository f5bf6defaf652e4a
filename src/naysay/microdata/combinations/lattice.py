"""Anonymity sets and matches on many combinations of the same keys, each built on smaller ones.

Two facts carry the work from a combination to those that hold it. The tuples of S with v are the tuples of S, each
split by v: one multiplication a row, and a count. And a missing cell discards nobody: respondents who miss a key of S
match on S the same people as on S without it. So only respondents who have every key are counted afresh: a complete
tuple t is matched by the tuples that hold, for some part of S, the values of t, and nothing elsewhere.

Keys with sets of candidates, few combinations of values, and very many patterns of missing keys are left to the
algorithms that `matches` chooses from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.microdata.keys.tuples import Tuples, ranked
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.cost import counter_of
from naysay.microdata.matching.cube import combinations as combinations_of
from naysay.microdata.matching.question import Pool, answers, feasible
from naysay.microdata.population.sizes import Sizes

__all__ = ["Lattice", "Places", "Shelf", "Unknown", "number_of"]

Places = tuple[int, ...]
Whole = NDArray[Any]

_ROOM = 2**30  # bytes of matches kept for the combinations that build on them
_LARGEST = 2**62
_DENSE = 1 << 20  # combinations of values that are looked up in a table of them all, not by bisection
_PATTERNS = 128  # of missing keys, beyond which bitmaps are faster


def number_of(variables: int, size: int) -> int:
    """How many combinations of 1 … size variables there are."""
    return sum(math.comb(variables, each) for each in range(1, size + 1))


@dataclass(frozen=True, eq=False)
class _Group:
    """The distinct tuples of a combination, in lexicographic order.

    Parameters
    ----------
    rank : (rows,) int
        The tuple of each row, a row being a distinct tuple of all keys.
    first : (distinct,) int
        A row of each tuple.
    count : (distinct,) int
        Its respondents.
    """

    rank: Whole
    first: Whole
    count: NDArray[np.int64]

    def split(self, column: Whole, size: int, count: NDArray[np.int64], *, single: bool) -> _Group:
        """The tuples with one key more."""
        span = len(self.first) * size
        key = _packed([self.rank, column], [len(self.first), size], len(column))
        rank, distinct = ranked(key, span)
        first = np.empty(distinct, np.intp)
        first[rank] = np.arange(len(rank))
        held = np.bincount(rank, None if single else count, distinct)
        return _Group(rank, first, held.astype(np.int64))


@dataclass
class Shelf:
    """Matches on small combinations, as many sizes as memory holds; what is not there is counted when it is needed."""

    lattice: Lattice
    most: int
    held: dict[Places, Whole] = field(default_factory=dict)

    @classmethod
    def of_lattice(cls, lattice: Lattice, size: int) -> Shelf:
        """Shelves for all sizes below `size` that fit, the smallest first; none where nobody misses a key."""
        variables, taken, most = len(lattice.keys.columns), 0, 0
        each = lattice.rows * lattice.type.itemsize
        while lattice.open and most < size - 1:
            taken += math.comb(variables, most + 1) * each
            if taken > _ROOM:
                break
            most += 1
        return cls(lattice, most)

    def of(self, places: Places) -> Whole | None:
        """M of each row on a combination, (rows,); None where it is not to be had cheaply."""
        if not places:
            return np.broadcast_to(np.array(self.lattice.n, self.lattice.type), self.lattice.rows)
        if len(places) > self.most:
            return None
        if places not in self.held:
            self.lattice.counted(places, self)
        return self.held[places]

    def keep(self, places: Places, group: _Group, m: Whole) -> None:
        """Take the matches on a combination."""
        if len(places) <= self.most:
            self.held[places] = m.astype(self.lattice.type)[group.rank]


class Unknown(Shelf):
    """Matches that were never counted, for a trial of how long the work takes."""

    def of(self, places: Places) -> Whole:
        return np.broadcast_to(np.ones(1, self.lattice.type), self.lattice.rows)

    def keep(self, places: Places, group: _Group, m: Whole) -> None:
        m.astype(self.lattice.type)[group.rank]  # as long as keeping takes


class Lattice:
    """All combinations of some keys.

    Parameters
    ----------
    keys : Keys
    rule : {"worst", "intersect", "first"}
        How uncertain cells match.
    """

    def __init__(self, keys: Keys, rule: str) -> None:
        self.keys, self.rule = keys, rule
        self.rows, self.n = keys.distinct, keys.n
        self.type = np.min_scalar_type(self.n)
        columns = keys.tuples.columns
        self.open = any(bool((column == 0).any()) for column in columns)
        self._single = self.rows == self.n
        whole = np.zeros(self.rows, np.int32)
        self._path: list[tuple[Places, _Group]] = [((), _Group(whole, whole[:1], np.array([self.n])))]

    def combinations(self, size: int) -> Iterator[Places]:
        """All combinations of so many keys; neighbors share all but few of theirs.

        The key that tells most people apart comes first, so that an unfinished search has looked there.
        """
        columns, count = self.keys.tuples.columns, self.keys.tuples.count
        alike = [float(np.square(np.bincount(column, count) / self.n).sum()) for column in columns]
        return combinations(sorted(range(len(alike)), key=lambda place: (alike[place], place)), size)

    def counted(self, places: Places, parents: Shelf) -> tuple[Sizes, Sizes]:
        """The sizes k after listwise deletion, and m over everybody who is not dropped."""
        group = self.group(places)
        found = _Combination(self, places, group)
        m = found.matches(parents)
        parents.keep(places, group, m)
        k = group.count[found.sure]
        return Sizes.counted(k, k), Sizes.counted(m[found.kept], group.count[found.kept])

    def group(self, places: Places) -> _Group:
        """The tuples of a combination, from the longest of its beginnings that the last ones shared."""
        while self._path[-1][0] != places[: len(self._path[-1][0])]:
            self._path.pop()
        count = self.keys.tuples.count
        for length in range(len(self._path[-1][0]), len(places)):
            place = places[length]
            column, size = self.keys.tuples.columns[place], self.keys.tuples.sizes[place]
            group = self._path[-1][1].split(column, size, count, single=self._single)
            self._path.append((places[: length + 1], group))
        return self._path[-1][1]


class _Combination:
    """The distinct tuples of one combination.

    Parameters
    ----------
    lattice : Lattice
    places : Places
    group : _Group
    """

    def __init__(self, lattice: Lattice, places: Places, group: _Group) -> None:
        self.places, self.group, self.rule = places, group, lattice.rule
        self.variables = tuple(lattice.keys.variables[place] for place in places)
        self.codes = tuple(lattice.keys.tuples.columns[place][group.first] for place in places)

    @property
    def sure(self) -> NDArray[np.bool_]:
        """Which tuples have one value on every key."""
        pairs = zip(self.codes, self.variables, strict=True)
        certain = [(code > 0) & (code <= len(each.cells.values)) for code, each in pairs]
        return np.asarray(np.logical_and.reduce(certain))

    @cached_property
    def kept(self) -> NDArray[np.bool_]:
        """Which tuples no policy drops."""
        pairs = zip(self.codes, self.variables, strict=True)
        needed = [code > 0 for code, variable in pairs if variable.policy == "drop"]
        return np.asarray(np.logical_and.reduce([np.ones(len(self.group.first), bool), *needed]))

    @cached_property
    def gaps(self) -> list[int]:
        """The keys, by their number in the combination, that somebody misses who is not dropped."""
        return [number for number, code in enumerate(self.codes) if (code[self.kept] == 0).any()]

    @cached_property
    def pool(self) -> Pool:
        """What the algorithms of `matches` count."""
        sizes = tuple(each.cells.size + 1 for each in self.variables)
        tuples = Tuples(self.codes, sizes, self.group.count)
        tuples = tuples if self.kept.all() else tuples.take(self.kept)
        return feasible(Pool(tuples, tuples.count, tuple(each.cells for each in self.variables), self.rule))

    def matches(self, parents: Shelf) -> Whole:
        """M of each tuple, (distinct,); 0 where a policy drops it."""
        if any(self.pool.uncertain):
            return self._apart(None)
        if not self.gaps:
            return np.where(self.kept, self.group.count, 0)
        cells, patterns = combinations_of(self.pool), 2 ** len(self.gaps)
        if cells * (1 + len(self.gaps)) < 4 * patterns * len(self.pool.tuples):
            return self._apart("cube")
        found = None if patterns > _PATTERNS or cells > _LARGEST else self._given(parents)
        if found is None:
            return self._apart(None)
        complete = np.flatnonzero(self.kept & np.logical_and.reduce([code > 0 for code in self.codes]))
        found[complete] = self.group.count[complete] + self._joined(complete)
        return found

    def _apart(self, algorithm: str | None) -> Whole:
        """The matches by an algorithm of `matches`."""
        result = np.zeros(len(self.group.first), np.int64)
        if len(self.pool.tuples):
            result[self.kept] = answers(self.pool, counter_of(self.pool, algorithm))
        return result

    def _given(self, parents: Shelf) -> Whole | None:
        """M of the tuples that miss a key, read from the combinations without it; None where one is not to be had."""
        found = np.zeros(len(self.group.first), np.int64)
        left = self.kept.copy()
        for number in self.gaps:
            mine = np.flatnonzero(left & (self.codes[number] == 0))
            parent = parents.of(self.places[:number] + self.places[number + 1 :])
            if parent is None:
                return None
            found[mine] = parent[self.group.first[mine]]
            left[mine] = False
        return found

    def _joined(self, complete: Whole) -> Whole:
        """Of each complete tuple, the respondents that miss a key and have the same values elsewhere."""
        total = np.zeros(len(complete), np.int64)
        pattern = np.zeros(len(self.kept), np.int64)
        for bit, number in enumerate(self.gaps):
            pattern |= (self.codes[number] == 0).astype(np.int64) << bit
        pattern[~self.kept] = 0
        present = np.flatnonzero(np.bincount(pattern))
        for bits in present[present > 0].tolist():
            absent = {number for bit, number in enumerate(self.gaps) if bits >> bit & 1}
            held = [number for number in range(len(self.codes)) if number not in absent]
            rows = np.flatnonzero(pattern == bits)
            sizes = [self.pool.tuples.sizes[number] for number in held]
            there = _packed([self.codes[number][rows] for number in held], sizes, len(rows))
            asked = _packed([self.codes[number][complete] for number in held], sizes, len(complete))
            total += _looked_up(there, self.group.count[rows], asked, math.prod(sizes))
        return total


def _packed(columns: list[Whole], sizes: list[int], rows: int) -> Whole:
    """Codes as one number; tuples in lexicographic order stay in order."""
    kind = np.int32 if math.prod(sizes) < 2**31 else np.int64
    key: Whole = np.zeros(rows, kind)
    for column, size in zip(columns, sizes, strict=True):
        key = key * kind(size) + column.astype(kind, copy=False)
    return key


def _looked_up(keys: Whole, amounts: Whole, asked: Whole, span: int) -> Whole:
    """The amount of each key that is asked for, 0 where it is not among the (rising) keys."""
    if span <= max(_DENSE, 2 * len(asked)):
        table = np.zeros(span, np.int64)
        table[keys] = amounts
        return table[asked]
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[place] == asked, amounts[place], 0)
