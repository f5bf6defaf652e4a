"""The smallest sets of keys that tell a respondent from all others: minimal hitting sets.

A choice is one key of the respondent, known by one of its candidates. It tells some people apart from the respondent;
these people are the bits of a whole number. The search looks for the smallest sets of choices that tell everybody
apart, with at most one choice for each key. It takes one person who is not told apart yet, and tries each choice that
does so. It gives up where an earlier choice has become idle: other choices then tell apart all the people whom it alone
told apart (Murakami & Uno 2014, Discrete Applied Mathematics 170, 83-94).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["hitting_sets"]

_SHORTEST = 256  # rows, the hardest ones, that all others are compared with: a bound on the time of the check


def hitting_sets(
    differs: NDArray[np.bool_], group: Sequence[int], *, most: int, progress: Callable[[float], None] | None = None
) -> list[tuple[int, ...]]:
    """The smallest sets of keys whose choices tell everybody apart, fewest keys first; no set contains another.

    Parameters
    ----------
    differs : (persons, choices) bool
        Whether a choice tells a person apart from the respondent.
    group : (choices,) int
        The key of each choice; a set has at most one choice of each key.
    most : int
        The largest number of keys in a set.
    progress : callable, optional
        Called with the share that is done.

    Examples
    --------
    >>> differs = np.array([[True, False, True], [False, True, True]])
    >>> hitting_sets(differs, [0, 1, 2], most=2)
    [(2,), (0, 1)]
    """
    needed = _hardest(differs)
    if not needed.any(axis=1).all():
        return []
    tells = [int.from_bytes(np.packbits(column, bitorder="little").tobytes(), "little") for column in needed.T]
    told_by = [np.flatnonzero(person).tolist() for person in needed]
    found: set[tuple[int, ...]] = set()

    def extend(chosen: tuple[int, ...], alone: tuple[int, ...], left: int, barred: frozenset[int]) -> None:
        """Complete `chosen`; `alone` holds whom each choice alone tells apart, `left` who is not told apart yet."""
        if not left:
            found.add(tuple(sorted(group[choice] for choice in chosen)))
        if not left or len(chosen) == most:
            return
        used = {group[choice] for choice in chosen}
        person = (left & -left).bit_length() - 1
        options = [c for c in told_by[person] if c not in barred and group[c] not in used]
        for done, choice in enumerate(options):
            if progress is not None and not chosen:
                progress(done / len(options))
            others = tuple(own & ~tells[choice] for own in alone)
            if all(others):
                own = left & tells[choice]
                extend((*chosen, choice), (*others, own), left & ~own, barred.union(options[:done]))

    extend((), (), (1 << len(needed)) - 1, frozenset())
    kept: list[tuple[int, ...]] = []
    for candidate in sorted(found, key=lambda each: (len(each), each)):
        if not any(set(candidate).issuperset(smaller) for smaller in kept):
            kept.append(candidate)
    return kept


def _hardest(differs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows without those whose differences contain another row's (a cheap, partial check); the hardest first."""
    packed = np.unique(np.packbits(differs, axis=1), axis=0) if differs.shape[1] else np.zeros((len(differs), 0), int)
    rows = np.unpackbits(packed.astype(np.uint8), axis=1, count=differs.shape[1]).astype(bool)
    order = np.argsort(rows.sum(axis=1), kind="stable")
    rows, packed = rows[order], packed[order]
    left = np.ones(len(rows), bool)
    for place in range(min(_SHORTEST, len(rows))):
        if left[place]:
            left &= ((packed & packed[place]) != packed[place]).any(axis=1)
            left[place] = True
    return np.asarray(rows[left])
