"""Strict suppression of small files: classes that are too small merge with the class that makes it cheapest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.microdata.protect.units import Ints, Units

MOST = 1_500
"""Tuples up to which all pairs are compared."""

Floats = NDArray[np.float64]


def merge_classes(units: Units, least: int, costs: Sequence[float]) -> Ints | None:
    """The mask of keys that each tuple keeps; None where some cannot be helped.

    Each step takes the pair of classes, one of them too small, whose merging empties the fewest cells (by their costs).
    Other than `greedy.strict` it may break up classes that are large enough, which pays where most are too small.
    """
    shown_codes = np.column_stack([column.astype(np.int64) for column in units.keys.tuples.columns])
    count, price = units.count.astype(float), np.array(costs)
    owner, alive = np.arange(len(shown_codes)), np.ones(len(shown_codes), bool)
    small = count < least
    class_numbers = np.arange(len(shown_codes))
    cost = np.full((len(shown_codes), len(shown_codes)), np.inf)
    for row in np.flatnonzero(small):
        cost[row] = _cost(shown_codes, count, price, row)
    cost[class_numbers, class_numbers] = np.inf
    best = cost.argmin(axis=1)
    while small.any():
        rows = np.flatnonzero(small)
        small_class = rows[cost[rows, best[rows]].argmin()]
        other_class = best[small_class]
        if not np.isfinite(cost[small_class, other_class]):
            return None
        shown_codes[other_class] = np.where(
            shown_codes[small_class] == shown_codes[other_class], shown_codes[small_class], 0
        )
        count[other_class] += count[small_class]
        owner[owner == small_class] = other_class
        alive[small_class] = small[small_class] = False
        small[other_class] = count[other_class] < least
        cost[small_class], cost[:, small_class] = np.inf, np.inf
        fresh = np.where(alive, _cost(shown_codes, count, price, other_class), np.inf)
        fresh[other_class] = np.inf
        cost[other_class] = fresh if small[other_class] else np.inf
        cost[small, other_class] = fresh[small]
        cost[other_class, other_class] = np.inf
        stale = np.flatnonzero(
            small
            & (
                (best == small_class)
                | (best == other_class)
                | (cost[class_numbers, other_class] < cost[class_numbers, best])
            )
        )
        best[stale] = cost[stale].argmin(axis=1)
        best[other_class] = cost[other_class].argmin()
    is_kept = (shown_codes[owner] > 0) | np.isinf(price)
    masks: Ints = (is_kept.astype(np.int64) << np.arange(is_kept.shape[1])).sum(axis=1)
    return masks


def _cost(shown_codes: NDArray[np.int64], count: Floats, price: Floats, row: Any) -> Floats:
    """What merging each class with that of a row would cost."""
    differs = shown_codes != shown_codes[row]
    with np.errstate(invalid="ignore"):
        row_cost = np.where(differs & (shown_codes[row] > 0), price, 0.0).sum(axis=1) * count[row]
        class_costs = np.where(differs & (shown_codes > 0), price, 0.0).sum(axis=1) * count
    return np.asarray(row_cost + class_costs, float)
