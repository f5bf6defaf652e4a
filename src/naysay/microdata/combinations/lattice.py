"""Anonymity sets and matches on many combinations of the same keys, each built on smaller ones.

Two facts carry the work from a combination S to larger ones. First, the tuples of S with one more key v are the tuples
of S, each split by v: this costs one multiplication a row, and a count. Second, a missing cell discards nobody:
respondents who miss a key of S match the same people on S as on S without that key. So only respondents who have every
key are counted afresh. A complete tuple t is matched by the tuples that hold the values of t on some part of S, and are
missing elsewhere.

Three cases are left to the algorithms that `matches` chooses from: keys with sets of candidates, few combinations of
values, and very many patterns of missing keys.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.microdata.combinations.finished import Combination
from naysay.microdata.keys.tuples import Tuples, grouped, packed
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.bitmaps import combinations as combinations_of
from naysay.microdata.matching.matches import matches_of_tuples
from naysay.microdata.matching.question import pool_of
from naysay.microdata.population.theta import Sizes

Places = tuple[int, ...]
Whole = NDArray[Any]

_ROOM = 2**30  # bytes of matches kept for the combinations that build on them
_LARGEST = 2**62
_DENSE = 1 << 20  # combinations of values: up to so many are looked up in a table of them all, more by bisection
_PATTERNS = 128  # patterns of missing keys; with more of them bitmaps are faster


def number_of(variables: int, size: int) -> int:
    """How many combinations of 1 … size variables there are."""
    return sum(math.comb(variables, key_count) for key_count in range(1, size + 1))


def all_keys(keys: Keys, rule: str) -> Combination:
    """Who stands out on all of these keys together."""
    return Lattice(keys, rule).combination_on(tuple(range(len(keys.columns))))


@dataclass(frozen=True, eq=False)
class _Part:
    """The distinct tuples of a combination, in lexicographic order.

    Parameters
    ----------
    places : Places
    first : (distinct,) int
        One row of each tuple; a row is a distinct tuple of all keys.
    rank : (rows,) int
        The tuple of each row.
    """

    places: Places
    first: Whole
    rank: Whole


class Lattice:
    """All combinations of some keys.

    Parameters
    ----------
    keys : Keys
    rule : {"worst", "intersect", "first"}
        How uncertain cells match.
    size : int
        Matches on combinations of fewer keys than this are kept, for as many sizes as memory holds.
    """

    def __init__(self, keys: Keys, rule: str, size: int = 1) -> None:
        self.keys, self.rule, self.rows, self.n = keys, rule, keys.distinct, keys.n
        self.type = np.min_scalar_type(self.n)
        combination_bytes, variables = self.rows * self.type.itemsize, len(keys.columns)
        needed = accumulate(math.comb(variables, number) * combination_bytes for number in range(1, size))
        # nothing is read from smaller combinations if nobody misses a key
        self.kept = (
            sum(room <= _ROOM for room in needed) if any((column == 0).any() for column in keys.tuples.columns) else 0
        )
        self._held: dict[Places, Whole] = {}
        everybody = np.zeros(self.rows, np.int32)
        self._path = [_Part((), everybody[:1], everybody)]

    def combinations(self, size: int) -> Iterator[Places]:
        """All combinations of so many keys; neighbors in the order share most of their keys.

        The key that tells most people apart comes first, so that even an unfinished search has tried it.
        """
        columns, count = self.keys.tuples.columns, self.keys.tuples.count
        alike = [float(np.square(np.bincount(column, count) / self.n).sum()) for column in columns]
        return combinations(sorted(range(len(alike)), key=lambda place: (alike[place], place)), size)

    def combination_on(self, places: Places) -> Combination:
        """The sizes k after listwise deletion, and m over everybody who is not dropped."""
        names = tuple(self.keys.columns[place] for place in sorted(places))
        keys, m = self._keys_and_matches(places)
        count = keys.tuples.count
        k = count[keys.complete]
        return Combination(names, self.n, Sizes.of_counts(k, k), Sizes.of_counts(m[keys.kept], count[keys.kept]))

    def matches(self, places: Places) -> Whole:
        """M of each row on a combination, (rows,); 0 where a policy drops it."""
        if not places:
            return np.broadcast_to(np.array(self.n, self.type), self.rows)
        if places not in self._held:
            _, m = self._keys_and_matches(places)
            if len(places) > self.kept:
                return np.asarray(m[self.part(places).rank])
        return self._held[places]

    def part(self, places: Places) -> _Part:
        """The tuples of a combination, built on the longest beginning that it shares with the last ones."""
        while self._path[-1].places != places[: len(self._path[-1].places)]:
            self._path.pop()  # ends at the empty beginning, which every combination shares
        tuples = self.keys.tuples
        for place in places[len(self._path[-1].places) :]:
            last = self._path[-1]
            first_and_rank = grouped([last.rank, tuples.columns[place]], [len(last.first), tuples.sizes[place]])
            self._path.append(_Part((*last.places, place), *first_and_rank))
        return self._path[-1]

    def _keys_and_matches(self, places: Places) -> tuple[Keys, Whole]:
        """The keys of a combination, and M of each of their tuples; 0 where a policy drops it."""
        part, tuples = self.part(places), self.keys.tuples
        count = np.bincount(part.rank, None if self.rows == self.n else tuples.count, len(part.first))
        columns = tuple(tuples.columns[place][part.first] for place in places)
        part_tuples = Tuples(columns, tuple(tuples.sizes[place] for place in places), count.astype(np.int64))
        keys = self.keys.of_tuples([self.keys.variables[place] for place in places], part_tuples)
        m = self._matches(keys, part)
        if len(places) <= self.kept:
            self._held[places] = m.astype(self.type)[part.rank]
        return keys, m

    def _matches(self, keys: Keys, part: _Part) -> Whole:
        pool, count = pool_of(keys, self.rule, None), keys.tuples.count
        if not any(pool.uncertain):
            gaps = [number for number, gap in enumerate(pool.gaps) if gap]
            if not gaps:
                return np.where(keys.kept, count, 0)
            cells, patterns = combinations_of(pool), 2 ** len(gaps)
            if cells * (1 + len(gaps)) < 4 * patterns * len(pool.tuples):
                return matches_of_tuples(keys, rule=self.rule, algorithm="cube")
            if patterns <= _PATTERNS and math.prod(keys.sizes) <= _LARGEST and len(part.places) <= self.kept + 1:
                match_counts, complete = self._matches_with_gaps(keys, part, gaps), np.flatnonzero(keys.complete)
                match_counts[complete] = count[complete] + _incomplete_matches(keys, complete, gaps)
                return match_counts
        return matches_of_tuples(keys, rule=self.rule)

    def _matches_with_gaps(self, keys: Keys, part: _Part, gaps: list[int]) -> Whole:
        """M of the tuples that miss a key, read from the combinations without it."""
        match_counts, is_pending = np.zeros(keys.distinct, np.int64), keys.kept.copy()
        for number in gaps:
            gap_rows = np.flatnonzero(is_pending & (keys.tuples.columns[number] == 0))
            match_counts[gap_rows] = self.matches(part.places[:number] + part.places[number + 1 :])[
                part.first[gap_rows]
            ]
            is_pending[gap_rows] = False
        return match_counts


class Trial(Lattice):
    """A lattice for timing: it takes the matches on smaller combinations as known."""

    def matches(self, places: Places) -> Whole:
        return np.broadcast_to(np.ones(1, self.type), self.rows)


def _incomplete_matches(keys: Keys, complete: Whole, gaps: list[int]) -> Whole:
    """For each complete tuple, how many respondents miss a key and have the same values elsewhere."""
    codes, sizes = keys.tuples.columns, keys.tuples.sizes
    total = np.zeros(len(complete), np.int64)
    pattern = packed([(codes[number] == 0) & keys.kept for number in gaps], [2] * len(gaps))
    present = np.flatnonzero(np.bincount(pattern))
    for bits in present[present > 0].tolist():  # pattern 0: respondents who miss nothing, or are dropped
        known_flags = np.ones(len(codes), np.uint8)
        known_flags[[number for bit, number in enumerate(reversed(gaps)) if bits >> bit & 1]] = 0
        spans = [size if is_known else 1 for size, is_known in zip(sizes, known_flags, strict=True)]
        rows = np.flatnonzero(pattern == bits)
        pattern_keys = packed([code[rows] for code in codes], spans)  # 0 already where they miss a key
        complete_keys = packed(
            [code[complete] * is_known for code, is_known in zip(codes, known_flags, strict=True)], spans
        )
        total += _amounts_of_keys(pattern_keys, keys.tuples.count[rows], complete_keys, math.prod(spans))
    return total


def _amounts_of_keys(keys: Whole, amounts: Whole, sought_keys: Whole, span: int) -> Whole:
    """The amount of each key that is asked for, 0 where it is not among the (rising) keys."""
    if span <= max(_DENSE, 2 * len(sought_keys)):
        table = np.zeros(span, np.int64)
        table[keys] = amounts
        return table[sought_keys]
    place = np.minimum(np.searchsorted(keys, sought_keys), len(keys) - 1)
    return np.where(keys[place] == sought_keys, amounts[place], 0)
