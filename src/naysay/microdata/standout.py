"""Which keys make people stand out: the smallest sets of key variables on which somebody matches only herself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys import Keys
from naysay.microdata.matches import matches_of_tuples
from naysay.microdata.question import RULES

__all__ = ["KeySet", "StandOut", "stand_out", "stand_out_of"]


@dataclass(frozen=True)
class KeySet:
    """Key variables on which some respondents match only themselves, though on none of its parts.

    Parameters
    ----------
    keys : tuple of str
    respondents : int
        For how many it is such a smallest set; one respondent can have several.
    """

    keys: tuple[str, ...]
    respondents: int


@dataclass(frozen=True, eq=False)
class StandOut:
    """Who stands out, on how few keys.

    Parameters
    ----------
    keys : Keys
    fewest : (distinct,) int
        Keys that suffice to tell each distinct tuple's respondent from all others; 0 where even `most` do not.
    sets : tuple of KeySet
        Those that make anybody stand out, fewest keys first, then most respondents.
    most : int
        The largest number of keys that was tried.
    """

    keys: Keys
    fewest: NDArray[np.int64]
    sets: tuple[KeySet, ...]
    most: int

    @property
    def size(self) -> NDArray[np.int64]:
        """Keys that suffice to tell each respondent from all others, (n,); 0 where even `most` do not."""
        return np.asarray(self.fewest[self.keys.owner])

    @property
    def respondents(self) -> dict[int, int]:
        """How many respondents stand out on 1 … `most` keys, and not on fewer."""
        counts = np.bincount(self.fewest, self.keys.tuples.count, self.most + 1)
        return {size: int(counts[size]) for size in range(1, self.most + 1)}

    def __str__(self) -> str:
        lines = [
            f"{number:,} of {self.keys.n:,} respondents stand out on {_keys(size)}, and not on fewer"
            for size, number in self.respondents.items()
        ]
        return "\n".join([*lines, *(f"  {' + '.join(found.keys)}: {found.respondents:,}" for found in self.sets)])


def _keys(size: int) -> str:
    return _checks.several(size, "key", "keys")


def stand_out(
    keys: Keys, *, most: int | None = None, rule: str = "worst", progress: Callable[[str, float], None] | None = None
) -> StandOut:
    """The smallest key sets on which m = 1, for everybody.

    More keys never give more matches, so a set is tried by its size, and counts for those only who match others on
    each of its parts.

    Parameters
    ----------
    keys : Keys
        All key variables to choose from.
    most : int, optional
        The largest number of keys to try; by default 3, or all if there are fewer. The number of sets, and so the
        time, grows with it quickly.
    rule : {"worst", "intersect", "first"}
        How uncertain cells match, see `matches`.
    progress : callable, optional
        Called with each set, as ``age + gender``, before it is tried, and the share of the sets that are done.

    Raises
    ------
    DataError
        A `most` below one or above the number of keys.

    Examples
    --------
    >>> people = {"age": [40, 36, 40, 40], "gender": ["f", "m", "m", "m"], "job": ["a", "a", "b", "a"]}
    >>> found = stand_out(Keys(people, ["age", "gender", "job"]))
    >>> found.size
    array([1, 1, 1, 3])
    >>> found.sets[0]
    KeySet(keys=('age',), respondents=1)
    >>> [each.keys for each in found.sets]
    [('age',), ('gender',), ('job',), ('age', 'gender', 'job')]
    """
    every = len(keys.columns)
    largest = _most(most, every)
    alone: dict[tuple[str, ...], NDArray[np.bool_]] = {(): np.zeros(keys.distinct, bool)}
    size = np.zeros(keys.distinct, np.int64)
    sets = []
    done, total = 0, sum(math.comb(every, number) for number in range(1, largest + 1))
    for number in range(1, largest + 1):
        closed = {}
        for names in combinations(keys.columns, number):
            if progress is not None:
                progress(" + ".join(names), done / total)
            done += 1
            before = np.logical_or.reduce([alone[part] for part in combinations(names, number - 1)])
            now = before if before.all() else before | _alone(keys, names, rule)
            fresh = now & ~before
            if fresh.any():
                sets.append(KeySet(names, int(keys.tuples.count[fresh].sum())))
                size[fresh & (size == 0)] = number
            closed[names] = now
        alone = closed
    sets.sort(key=lambda found: (len(found.keys), -found.respondents))
    return StandOut(keys, _checks.read_only(size), tuple(sets), largest)


def _most(most: Any, every: int) -> int:
    if most is None:
        return min(3, every)
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= every:
        raise DataError(f"most must be a number of keys, from 1 to {every}; got {most!r}", value=most)
    return int(most)


def _alone(keys: Keys, names: tuple[str, ...], rule: str) -> NDArray[np.bool_]:
    """Which distinct tuples match only themselves on these keys."""
    found = matches_of_tuples(keys.only(names), rule=rule) == 1
    _, moved = keys.tuples.only([keys.columns.index(name) for name in names])
    return np.asarray(found[moved])


def stand_out_of(keys: Keys, row: int, *, rule: str = "worst") -> tuple[tuple[str, ...], ...]:
    """The smallest key sets on which one respondent matches only herself, of any size; empty where she never does.

    Parameters
    ----------
    keys : Keys
    row : int
        Her position, counted from 0.
    rule : {"worst", "intersect", "first"}
        How her uncertain cells match, see `matches`.

    Raises
    ------
    DataError
        A `row` that is not in the file, or an unknown rule.

    Examples
    --------
    >>> people = {"age": [40, 36, 40, 40], "gender": ["f", "m", "m", "m"], "job": ["a", "a", "b", "a"]}
    >>> stand_out_of(Keys(people, ["age", "gender", "job"]), 3)
    (('age', 'gender', 'job'),)
    """
    if rule not in RULES:
        raise DataError(f"rule must be one of {_checks.shown(RULES)}; got {rule!r}")
    own = int(keys.owner[_position(row, keys.n)])
    if keys.tuples.count[own] > 1 or not keys.kept[own]:
        return ()
    differing = [np.unique(masks) for masks in _differing(keys, own, rule)]
    found: list[tuple[int, ...]] = []
    for size in range(1, len(keys.columns) + 1):
        for places in combinations(range(len(keys.columns)), size):
            part = sum(1 << place for place in places)
            if not any(set(smaller) <= set(places) for smaller in found) and any(
                ((masks & np.uint64(part)) != 0).all() for masks in differing
            ):
                found.append(places)
    return tuple(tuple(keys.columns[place] for place in places) for places in found)


def _position(row: Any, n: int) -> int:
    if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < n:
        raise DataError(f"row must be a position in the file, from 0 to {n - 1:,}; got {row!r}", value=row)
    return int(row)


def _differing(keys: Keys, own: int, rule: str) -> Iterator[NDArray[np.uint64]]:
    """For each way to know her: on which keys, as bits, every other tuple cannot be the same."""
    others = keys.kept.copy()
    others[own] = False
    for symbols in _known_as(keys, own, rule):
        masks = np.zeros(keys.distinct, np.uint64)
        for place, symbol in enumerate(symbols):
            masks |= (~_agrees(keys, place, symbol)).astype(np.uint64) << np.uint64(place)
        yield masks[others]


def _known_as(keys: Keys, own: int, rule: str) -> Iterator[tuple[tuple[int, ...], ...]]:
    """What an intruder may know of her on each key: candidates, as places among the values; none is unknown."""
    candidates = []
    for variable, column in zip(keys.variables, keys.tuples.columns, strict=True):
        cell, cells = int(column[own]), variable.cells
        candidates.append(
            () if cell == 0 else tuple(cells.members[cells.starts[cell - 1] : cells.starts[cell]].tolist())
        )
    if rule == "worst":
        unknown: list[tuple[int, ...]] = [()]
        yield from product(*([(each,) for each in known] or unknown for known in candidates))
    else:
        yield tuple(known[:1] if rule == "first" else known for known in candidates)


def _agrees(keys: Keys, place: int, known: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which distinct tuples may hold one of these values on a key; all where nothing is known."""
    column, cells = keys.tuples.columns[place], keys.variables[place].cells
    if not known:
        return np.ones(len(column), bool)
    holds = np.zeros(cells.size + 1, bool)
    holds[0] = True
    for cell in range(1, cells.size + 1):
        holds[cell] = not set(known).isdisjoint(cells.members[cells.starts[cell - 1] : cells.starts[cell]].tolist())
    return np.asarray(holds[column])
