"""Three ways to count who is like a record with gaps: k, c and m. Only k is a promise after suppression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naysay.microdata.keys.tuples import grouped
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.matches import matches_of_tuples

Counts = NDArray[np.int64]

_LONG = 1e9  # patterns times tuples


@dataclass(frozen=True, eq=False)
class Readings:
    """k, c and m of every record of a table, held once for each distinct tuple of keys: k ≤ c ≤ m.

    Parameters
    ----------
    keys : Keys
    rule : {"worst", "intersect", "first"}
        How uncertain cells match.
    same : (distinct,) int
        k: records that show the same, a gap being a value of its own. Whatever an intruder knows of the keys, they pick
        the right record of these with probability at most 1/k.
    possible : (distinct,) int
        m: records that may be the same person, where a gap may be anything.

    Notes
    -----
    c and m are no bounds of an intruder's success. Two emptied records raise m to 3 for everybody, and protect nobody.
    """

    keys: Keys
    rule: str
    same: Counts
    possible: Counts

    @cached_property
    def showing(self) -> Counts:
        """Number c of each distinct tuple: records that hold, known, all that it shows. Gaps of others do not count."""
        keys, tuples = self.keys, self.keys.tuples
        showing = np.zeros(keys.distinct, np.int64)
        known_columns = [column > 0 for column in tuples.columns]
        first, pattern = grouped(known_columns, [2] * len(known_columns))
        for number, row in enumerate(first):
            places = [place for place, known_column in enumerate(known_columns) if known_column[row]]
            pattern_rows = np.flatnonzero((pattern == number) & keys.kept)
            holding = np.logical_and.reduce([keys.kept, *(known_columns[place] for place in places)])
            showing[pattern_rows] = _matches_on_keys(keys, pattern_rows, np.flatnonzero(holding), places, self.rule)
        return showing

    @property
    def long(self) -> bool:
        """Whether c takes long: it is counted once for each pattern of gaps."""
        return float(self.keys.tuples.patterns) * self.keys.distinct > _LONG

    @property
    def k(self) -> Counts:
        """Size k of each respondent, (n,)."""
        return np.asarray(self.same[self.keys.owner], np.int64)

    @property
    def c(self) -> Counts:
        """Number c of each respondent, (n,)."""
        return np.asarray(self.showing[self.keys.owner], np.int64)

    @property
    def m(self) -> Counts:
        """Number m of each respondent, (n,)."""
        return np.asarray(self.possible[self.keys.owner], np.int64)

    @property
    def least_k(self) -> int:
        """The least k: the guarantee of a release; 0 where the policy "drop" leaves nobody in."""
        return self._least(self.same)

    @property
    def least_c(self) -> int:
        """The least c."""
        return self._least(self.showing)

    @property
    def least_m(self) -> int:
        """The least m."""
        return self._least(self.possible)

    def _least(self, sizes: Counts) -> int:
        return int(sizes[self.keys.kept].min()) if self.keys.kept.any() else 0


def readings(keys: Keys, *, rule: str = "worst") -> Readings:
    """k, c and m of a table: three answers to how many records are like one that has gaps.

    Parameters
    ----------
    keys : Keys
        Records that the policy "drop" leaves out have 0.
    rule : {"worst", "intersect", "first"}
        How uncertain cells match, see `matches`; for k two sets of candidates are alike if they are equal.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, 40, 40, None], "sex": ["f", "f", None, "m"]}, ["age", "sex"])
    >>> found = readings(keys)
    >>> found.k, found.c, found.m
    (array([2, 2, 1, 1]), array([2, 2, 3, 1]), array([3, 3, 4, 2]))
    >>> found.least_k
    1

    Notes
    -----
    Where the rule takes a candidate as known (``worst``, ``first``), it does so for c, too.
    """
    return Readings(keys, rule, np.where(keys.kept, keys.tuples.count, 0), matches_of_tuples(keys, rule=rule))


def _matches_on_keys(keys: Keys, asked_tuples: Counts, holding: Counts, places: Sequence[int], rule: str) -> Counts:
    """How many of some records match each tuple on keys that all of them hold."""
    if not places:
        return np.full(len(asked_tuples), keys.tuples.count[holding].sum())
    part_tuples, place = keys.tuples.take(holding).only(places)
    part_keys = keys.of_tuples([keys.variables[key_place] for key_place in places], part_tuples)
    match_counts = matches_of_tuples(part_keys, rule=rule)[place]
    return np.asarray(match_counts[np.searchsorted(holding, asked_tuples)], np.int64)
