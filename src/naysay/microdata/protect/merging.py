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


def merged(units: Units, least: int, costs: Sequence[float]) -> Ints | None:
    """The mask of keys that each tuple keeps; None where some cannot be helped.

    Each step takes the pair of classes, one of them too small, whose merging empties the fewest cells (by their costs).
    Other than `greedy.strict` it may break up classes that are large enough, which pays where most are too small.
    """
    shown = np.column_stack([column.astype(np.int64) for column in units.keys.tuples.columns])
    count, price = units.count.astype(float), np.array(costs)
    owner, alive = np.arange(len(shown)), np.ones(len(shown), bool)
    small = count < least
    every = np.arange(len(shown))
    cost = np.full((len(shown), len(shown)), np.inf)
    for row in np.flatnonzero(small):
        cost[row] = _cost(shown, count, price, row)
    cost[every, every] = np.inf
    best = cost.argmin(axis=1)
    while small.any():
        rows = np.flatnonzero(small)
        one = rows[cost[rows, best[rows]].argmin()]
        other = best[one]
        if not np.isfinite(cost[one, other]):
            return None
        shown[other] = np.where(shown[one] == shown[other], shown[one], 0)
        count[other] += count[one]
        owner[owner == one] = other
        alive[one] = small[one] = False
        small[other] = count[other] < least
        cost[one], cost[:, one] = np.inf, np.inf
        fresh = np.where(alive, _cost(shown, count, price, other), np.inf)
        fresh[other] = np.inf
        cost[other] = fresh if small[other] else np.inf
        cost[small, other] = fresh[small]
        cost[other, other] = np.inf
        stale = np.flatnonzero(small & ((best == one) | (best == other) | (cost[every, other] < cost[every, best])))
        best[stale] = cost[stale].argmin(axis=1)
        best[other] = cost[other].argmin()
    kept = (shown[owner] > 0) | np.isinf(price)
    masks: Ints = (kept.astype(np.int64) << np.arange(kept.shape[1])).sum(axis=1)
    return masks


def _cost(shown: NDArray[np.int64], count: Floats, price: Floats, row: Any) -> Floats:
    """What merging each class with that of a row would cost."""
    differs = shown != shown[row]
    with np.errstate(invalid="ignore"):
        own = np.where(differs & (shown[row] > 0), price, 0.0).sum(axis=1) * count[row]
        others = np.where(differs & (shown > 0), price, 0.0).sum(axis=1) * count
    return np.asarray(own + others, float)
