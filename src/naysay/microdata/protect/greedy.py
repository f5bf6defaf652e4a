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
from naysay.microdata.protect.merging import MOST, merge_classes
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
    known_keys = units.known | _floor(costs)  # where a key must stay, a gap is one of its values
    keep = known_keys.copy()
    bad = totals(units.shown_numbers(-1, np.arange(len(units))), units.count) < least
    for level in levels(costs):
        for _ in range(_ROUNDS if len(level) > 1 else 0):
            if not bad.any() or not _compete(units, known_keys, level, keep, bad, least):
                break
        if not bad.any():
            break
        _in_turn(units, known_keys, level, keep, bad, least)
    if bad.any() and units.single:
        _join(units, costs, keep, bad)
    merged_masks = merge_classes(units, least, costs) if units.single and len(units) <= MOST else None
    if merged_masks is not None and _lost(units, merged_masks, costs) < _lost(
        units, np.where(bad, _floor(costs), keep), costs
    ):
        return merged_masks, np.zeros(len(units), bool)
    return keep, bad


def meet_conditions(
    units: Units, least: int, costs: Sequence[float], keep: Ints, to_delete: NDArray[np.bool_], secret: Secret
) -> tuple[Ints, NDArray[np.bool_]]:
    """Masks that make every class meet conditions on sensitive columns, too; who is still left must be deleted.

    Units of classes that fail are taken again, from the cheapest loss to the dearest: by a set of keys on which they,
    with those who show exactly that set, are enough and meet the conditions. Classes are only ever joined as a whole
    with units that fail, so that nobody who is safe loses a cell. Deleting people moves the shares of all that
    closeness compares with, so it begins again until nothing fails.
    """
    keep, to_delete = keep.copy(), to_delete.copy()
    while True:
        remaining = np.flatnonzero(~to_delete)
        group = _released_numbers(units, keep, remaining)
        bad = np.zeros(len(units), bool)
        bad[remaining] = _failing(units, group, keep[remaining], remaining, to_delete, secret)
        if not bad.any():
            return keep, to_delete
        known_keys = units.known | _floor(costs)
        for level in levels(costs):
            for mask in level:
                unit_numbers = np.flatnonzero(
                    ~to_delete & ((bad & (known_keys & mask == mask)) | (~bad & (keep == mask)))
                )
                if not bad[unit_numbers].any():
                    continue
                shown_numbers = units.shown_numbers(mask, unit_numbers)
                enough = totals(shown_numbers, units.count[unit_numbers]) >= least
                fits = enough & ~_failing(
                    units, shown_numbers, np.full(len(unit_numbers), mask), unit_numbers, to_delete, secret
                )
                helped_units = unit_numbers[fits & bad[unit_numbers]]
                keep[helped_units], bad[helped_units] = mask, False
        if bad.any() and units.single:  # with all keys empty, households of different sizes still read differently
            _open_up(units, costs, keep, bad, to_delete, secret)
        if not bad.any():
            return keep, to_delete
        to_delete |= bad


def _failing(
    units: Units,
    group: NDArray[np.uint64],
    mask: Ints,
    unit_numbers: Ints,
    to_delete: NDArray[np.bool_],
    secret: Secret,
) -> NDArray[np.bool_]:
    """Which of some units have a member in a class that fails: alike, in units that are in one group."""
    members, classes, begin = units.apart(group, mask, unit_numbers)
    is_present = np.zeros(len(units.member), bool)
    is_present[units.members(np.flatnonzero(~to_delete))[0]] = True
    is_failing = secret.failing(members, classes.view(np.int64), is_present)
    return np.logical_or.reduceat(is_failing, begin) if len(begin) else is_failing


def _open_up(
    units: Units,
    costs: Sequence[float],
    keep: Ints,
    bad: NDArray[np.bool_],
    to_delete: NDArray[np.bool_],
    secret: Secret,
) -> None:
    """Safe classes, the small ones first, lose all their keys to units that fail, if that is cheaper than these."""
    floor = _floor(costs)
    if floor:
        return  # where keys must stay, they tell classes apart that cannot be joined
    safe = np.flatnonzero(~bad & ~to_delete & (keep != 0))
    _, owner = np.unique(_released_numbers(units, keep, safe), return_inverse=True)
    is_opened = bad | (~to_delete & (keep == 0))
    price = np.array(costs)
    saved_cost = price.sum() * units.count[bad].sum()
    for number in np.argsort(np.bincount(owner, units.count[safe]), kind="stable"):
        members = safe[owner == number]
        saved_cost -= sum(
            price[place] * units.count[members[keep[members] >> place & 1 > 0]].sum() for place in range(len(price))
        )
        if saved_cost < 0:
            return
        is_opened[members] = True
        if is_opened[~to_delete].all():
            return
        unit_numbers = np.flatnonzero(is_opened)
        if not secret.failing(unit_numbers, np.zeros(len(unit_numbers), np.int64), ~to_delete).any():
            keep[is_opened], bad[is_opened] = 0, False
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
    for bad_unit in np.flatnonzero(bad):
        safe = np.flatnonzero(~bad)
        shared, lost = np.zeros(len(safe), np.int64), np.zeros(len(safe))
        for place, column in enumerate(columns):
            alike = (column[safe] == column[bad_unit]) & (keep[safe] >> place & 1 > 0)
            shared |= alike.astype(np.int64) << place
            lost[(keep[safe] >> place & 1 > 0) & ~alike] += price[place]
        _, owner = np.unique(_released_numbers(units, keep, safe), return_inverse=True)
        class_costs = np.bincount(owner, lost * units.count[safe])
        record_cost = price[np.isfinite(price)].sum() * units.count[bad_unit]
        if len(class_costs) and class_costs.min() <= record_cost:
            best = owner == class_costs.argmin()
            keep[safe[best]], keep[bad_unit], bad[bad_unit] = shared[best], shared[best][0], False


def _released_numbers(units: Units, keep: Ints, unit_numbers: Ints) -> NDArray[np.uint64]:
    """What tuples show with the keys that they keep, as numbers: the same text, the same number."""
    shown_numbers = np.zeros(len(unit_numbers), np.uint64)
    for mask in np.unique(keep[unit_numbers]).tolist():
        same_mask = keep[unit_numbers] == mask
        shown_numbers[same_mask] = units.shown_numbers(mask, unit_numbers[same_mask])
    return shown_numbers


def _around(
    units: Units, known_keys: Ints, mask: int, keep: Ints, bad: NDArray[np.bool_]
) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Units that are bad and know these keys, or show just them; how many read the same; which of them are bad."""
    unit_numbers = np.flatnonzero((bad & (known_keys & mask == mask)) | (~bad & (keep == mask)))
    return unit_numbers, totals(units.shown_numbers(mask, unit_numbers), units.count[unit_numbers]), bad[unit_numbers]


def _in_turn(
    units: Units, known_keys: Ints, level: Sequence[int], keep: Ints, bad: NDArray[np.bool_], least: int
) -> None:
    for mask in level:
        unit_numbers, alike, still_bad = _around(units, known_keys, mask, keep, bad)
        helped_units = unit_numbers[(alike >= least) & still_bad]
        keep[helped_units], bad[helped_units] = mask, False


def _compete(
    units: Units, known_keys: Ints, level: Sequence[int], keep: Ints, bad: NDArray[np.bool_], least: int
) -> int:
    """Sets of equal cost: each unit goes where most are alike, and stays there if enough came."""
    best, where = np.zeros(len(units), np.int64), np.full(len(units), -1)
    for mask in level:
        unit_numbers, alike, still_bad = _around(units, known_keys, mask, keep, bad)
        better = still_bad & (alike >= least) & (alike > best[unit_numbers])
        best[unit_numbers[better]], where[unit_numbers[better]] = alike[better], mask
    helped_count = 0
    for mask in level:
        unit_numbers = np.flatnonzero((where == mask) | (~bad & (keep == mask)))
        alike = totals(units.shown_numbers(mask, unit_numbers), units.count[unit_numbers])
        helped_units = unit_numbers[(alike >= least) & bad[unit_numbers]]
        keep[helped_units], bad[helped_units] = mask, False
        helped_count += len(helped_units)
    return helped_count


def covered(units: Units, least: int, costs: Sequence[float]) -> tuple[Ints, NDArray[np.bool_]]:
    """The same so that `least` units hold, known, every value that a unit shows (c): gaps of others do not count.

    Whoever knows the true value behind a gap may still tell people apart: c is no bound of their success.
    """
    keep, to_delete = strict(units, least, costs)
    keep = np.where(to_delete, _floor(costs), keep)
    while True:
        wider = _refund_cells(units, least, costs, keep)
        if (wider == keep).all():
            return keep, shown_by(units, keep) < least
        keep = wider


def _floor(costs: Sequence[float]) -> int:
    """The keys that must stay."""
    return sum(1 << place for place, cost in enumerate(costs) if np.isinf(cost))


def shown_by(units: Units, keep: Ints) -> Ints:
    """The number c of each unit: how many show all that it shows."""
    shown_counts = np.zeros(len(units), np.int64)
    for mask in np.unique(keep).tolist():
        unit_numbers = np.flatnonzero(keep & mask == mask)
        exact = keep[unit_numbers] == mask
        shown_counts[unit_numbers[exact]] = totals(units.shown_numbers(mask, unit_numbers), units.count[unit_numbers])[
            exact
        ]
    return shown_counts


def _refund_cells(units: Units, least: int, costs: Sequence[float], keep: Ints) -> Ints:
    """Cells given back, dearest first, to all who are enough when they show them; others can only gain."""
    keep = keep.copy()
    for place in sorted(range(len(costs)), key=lambda key_place: -costs[key_place]):
        bit = 1 << place
        lost = (units.known & ~keep & bit) > 0
        for mask in np.unique(keep[lost]).tolist():
            wider = mask | bit
            may_widen = lost & (keep == mask)
            unit_numbers = np.flatnonzero(may_widen | (keep & wider == wider))
            alike = totals(units.shown_numbers(wider, unit_numbers), units.count[unit_numbers])
            keep[unit_numbers[(alike >= least) & may_widen[unit_numbers]]] = wider
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
