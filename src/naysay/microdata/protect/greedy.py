"""Which keys each unit keeps, so that nobody stands out and few cells are lost: greedy over sets of keys.

The least number of suppressed cells is hard to find (Meyerson & Williams 2004). Both ways go through the sets of keys
from the cheapest loss to the dearest, 2^q of them, and count the units projected on each set once or a few times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.protect.conditions import Secret
from naysay.microdata.protect.merging import MOST, merged
from naysay.microdata.protect.units import Ints, Units, totals

MOST_KEYS = 16
_ROUNDS = 4  # in which sets of equal cost compete; then they take turns


def strict(units: Units, least: int, costs: Sequence[float]) -> tuple[Ints, NDArray[np.bool_]]:
    """The mask of keys that each unit keeps so that every released class has `least` members, and whom nothing helps.

    A gap is a value of its own: a class is what reads the same, gaps included. From cheap to dear, each set of keys
    takes all units that are not safe yet and that are together enough on it, with those who show exactly that set
    already. Who is taken once is safe for good.

    Source: METHODS, protection, local suppression (a).
    """
    known = units.known | _floor(costs)  # where a key must stay, a gap is one of its values
    keep = known.copy()
    bad = totals(units.shown(-1, np.arange(len(units))), units.count) < least
    for level in levels(costs):
        for _ in range(_ROUNDS if len(level) > 1 else 0):
            if not bad.any() or not _compete(units, known, level, keep, bad, least):
                break
        if not bad.any():
            break
        _in_turn(units, known, level, keep, bad, least)
    if bad.any() and units.single:
        _join(units, costs, keep, bad)
    other = merged(units, least, costs) if units.single and len(units) <= MOST else None
    if other is not None and _lost(units, other, costs) < _lost(units, np.where(bad, _floor(costs), keep), costs):
        return other, np.zeros(len(units), bool)
    return keep, bad


def conditioned(
    units: Units, least: int, costs: Sequence[float], keep: Ints, left: NDArray[np.bool_], secret: Secret
) -> tuple[Ints, NDArray[np.bool_]]:
    """Masks that make every class meet conditions on sensitive columns, too; who is still left must be deleted.

    Units of classes that fail are taken again, from the cheapest loss to the dearest: by a set of keys on which they,
    with those who show exactly that set, are enough and meet the conditions. Classes are only ever joined as a whole
    with units that fail, so that nobody who is safe loses a cell. Deleting people moves the shares of all that
    closeness compares with, so it begins again until nothing fails.
    """
    keep, left = keep.copy(), left.copy()
    while True:
        there = np.flatnonzero(~left)
        group = _released(units, keep, there)
        bad = np.zeros(len(units), bool)
        bad[there] = _failing(units, group, keep[there], there, left, secret)
        if not bad.any():
            return keep, left
        known = units.known | _floor(costs)
        for level in levels(costs):
            for mask in level:
                which = np.flatnonzero(~left & ((bad & (known & mask == mask)) | (~bad & (keep == mask))))
                if not bad[which].any():
                    continue
                shown = units.shown(mask, which)
                enough = totals(shown, units.count[which]) >= least
                fits = enough & ~_failing(units, shown, np.full(len(which), mask), which, left, secret)
                chosen = which[fits & bad[which]]
                keep[chosen], bad[chosen] = mask, False
        if bad.any() and units.single:  # with all keys empty, households of different sizes still read differently
            _open_up(units, costs, keep, bad, left, secret)
        if not bad.any():
            return keep, left
        left |= bad


def _failing(
    units: Units, group: NDArray[np.uint64], mask: Ints, which: Ints, left: NDArray[np.bool_], secret: Secret
) -> NDArray[np.bool_]:
    """Which of some units have a member in a class that fails: alike, in units that are in one group."""
    members, classes, begin = units.apart(group, mask, which)
    there = np.zeros(len(units.member), bool)
    there[units.members(np.flatnonzero(~left))[0]] = True
    failed = secret.failing(members, classes.view(np.int64), there)
    return np.logical_or.reduceat(failed, begin) if len(begin) else failed


def _open_up(
    units: Units,
    costs: Sequence[float],
    keep: Ints,
    bad: NDArray[np.bool_],
    left: NDArray[np.bool_],
    secret: Secret,
) -> None:
    """Safe classes, the small ones first, lose all their keys to units that fail, if that is cheaper than these."""
    floor = _floor(costs)
    if floor:
        return  # where keys must stay, they tell classes apart that cannot be joined
    safe = np.flatnonzero(~bad & ~left & (keep != 0))
    _, owner = np.unique(_released(units, keep, safe), return_inverse=True)
    joined = bad | (~left & (keep == 0))
    price = np.array(costs)
    own = price.sum() * units.count[bad].sum()
    for number in np.argsort(np.bincount(owner, units.count[safe]), kind="stable"):
        members = safe[owner == number]
        own -= sum(
            price[place] * units.count[members[keep[members] >> place & 1 > 0]].sum() for place in range(len(price))
        )
        if own < 0:
            return
        joined[members] = True
        if joined[~left].all():
            return
        which = np.flatnonzero(joined)
        if not secret.failing(which, np.zeros(len(which), np.int64), ~left).any():
            keep[joined], bad[joined] = 0, False
            return


def _lost(units: Units, keep: Ints, costs: Sequence[float]) -> float:
    """What the emptied cells cost."""
    gone = units.known & ~keep
    lost = (units.count[gone >> place & 1 > 0].sum() for place in range(len(costs)))
    return float(sum(cost * cells for cost, cells in zip(costs, lost, strict=True) if cells))


def _join(units: Units, costs: Sequence[float], keep: Ints, bad: NDArray[np.bool_]) -> None:
    """Those who are too few even with every key empty join the class that loses least by taking them in.

    They do not if others would lose more cells than their own records hold: then they are better deleted.
    """
    columns, price = units.keys.tuples.columns, np.array(costs)
    for one in np.flatnonzero(bad):
        safe = np.flatnonzero(~bad)
        shared, lost = np.zeros(len(safe), np.int64), np.zeros(len(safe))
        for place, column in enumerate(columns):
            alike = (column[safe] == column[one]) & (keep[safe] >> place & 1 > 0)
            shared |= alike.astype(np.int64) << place
            lost[(keep[safe] >> place & 1 > 0) & ~alike] += price[place]
        _, owner = np.unique(_released(units, keep, safe), return_inverse=True)
        whole = np.bincount(owner, lost * units.count[safe])
        own = price[np.isfinite(price)].sum() * units.count[one]
        if len(whole) and whole.min() <= own:
            best = owner == whole.argmin()
            keep[safe[best]], keep[one], bad[one] = shared[best], shared[best][0], False


def _released(units: Units, keep: Ints, which: Ints) -> NDArray[np.uint64]:
    """What tuples show with the keys that they keep, as numbers: the same text, the same number."""
    found = np.zeros(len(which), np.uint64)
    for mask in np.unique(keep[which]).tolist():
        own = keep[which] == mask
        found[own] = units.shown(mask, which[own])
    return found


def _around(
    units: Units, known: Ints, mask: int, keep: Ints, bad: NDArray[np.bool_]
) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Units that are bad and know these keys, or show just them; how many read the same; which of them are bad."""
    which = np.flatnonzero((bad & (known & mask == mask)) | (~bad & (keep == mask)))
    return which, totals(units.shown(mask, which), units.count[which]), bad[which]


def _in_turn(units: Units, known: Ints, level: Sequence[int], keep: Ints, bad: NDArray[np.bool_], least: int) -> None:
    for mask in level:
        which, alike, open_ = _around(units, known, mask, keep, bad)
        chosen = which[(alike >= least) & open_]
        keep[chosen], bad[chosen] = mask, False


def _compete(units: Units, known: Ints, level: Sequence[int], keep: Ints, bad: NDArray[np.bool_], least: int) -> int:
    """Sets of equal cost: each unit goes where most are alike, and stays there if enough came."""
    best, where = np.zeros(len(units), np.int64), np.full(len(units), -1)
    for mask in level:
        which, alike, open_ = _around(units, known, mask, keep, bad)
        better = open_ & (alike >= least) & (alike > best[which])
        best[which[better]], where[which[better]] = alike[better], mask
    taken = 0
    for mask in level:
        which = np.flatnonzero((where == mask) | (~bad & (keep == mask)))
        alike = totals(units.shown(mask, which), units.count[which])
        chosen = which[(alike >= least) & bad[which]]
        keep[chosen], bad[chosen] = mask, False
        taken += len(chosen)
    return taken


def covered(units: Units, least: int, costs: Sequence[float]) -> tuple[Ints, NDArray[np.bool_]]:
    """The same so that `least` units hold, known, every value that a unit shows (c): gaps of others do not count.

    Whoever knows the true value behind a gap may still tell people apart: c is no bound of their success.
    """
    keep, left = strict(units, least, costs)
    keep = np.where(left, _floor(costs), keep)
    while True:
        wider = _refunded(units, least, costs, keep)
        if (wider == keep).all():
            return keep, shown_by(units, keep) < least
        keep = wider


def _floor(costs: Sequence[float]) -> int:
    """The keys that must stay."""
    return sum(1 << place for place, cost in enumerate(costs) if np.isinf(cost))


def shown_by(units: Units, keep: Ints) -> Ints:
    """The number c of each unit: how many show all that it shows."""
    found = np.zeros(len(units), np.int64)
    for mask in np.unique(keep).tolist():
        which = np.flatnonzero(keep & mask == mask)
        exact = keep[which] == mask
        found[which[exact]] = totals(units.shown(mask, which), units.count[which])[exact]
    return found


def _refunded(units: Units, least: int, costs: Sequence[float], keep: Ints) -> Ints:
    """Cells given back, dearest first, to all who are enough when they show them; others can only gain."""
    keep = keep.copy()
    for place in sorted(range(len(costs)), key=lambda each: -costs[each]):
        bit = 1 << place
        lost = (units.known & ~keep & bit) > 0
        for mask in np.unique(keep[lost]).tolist():
            wider = mask | bit
            asks = lost & (keep == mask)
            which = np.flatnonzero(asks | (keep & wider == wider))
            alike = totals(units.shown(wider, which), units.count[which])
            keep[which[(alike >= least) & asks[which]]] = wider
    return keep


def levels(costs: Sequence[float]) -> Iterator[list[int]]:
    """Sets of keys as masks, those of equal cost together, from the cheapest loss to the dearest.

    A key whose cost is infinite is in each of them.
    """
    if len(costs) > MOST_KEYS:
        raise DataError(f"suppression goes through every set of keys, of at most {MOST_KEYS}; got {len(costs)} keys")
    lost: dict[float, list[int]] = {}
    for mask in range(1 << len(costs)):
        price = sum(cost for place, cost in enumerate(costs) if not mask >> place & 1)
        if np.isfinite(price):
            lost.setdefault(round(price, 9), []).append(mask)
    for price in sorted(lost):
        yield lost[price]
