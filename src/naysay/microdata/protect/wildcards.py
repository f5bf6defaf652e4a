"""Suppression until enough records may be the same, a gap matching anything: m, which is no promise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.tuples import Tuples
from naysay.microdata.matching.matches import counter_of
from naysay.microdata.matching.question import Pool, answers
from naysay.microdata.protect.greedy import covered, levels
from naysay.microdata.protect.units import Ints, Units

__all__ = ["matched", "matches_of"]


def matched(units: Units, least: int, costs: Sequence[float]) -> tuple[Ints, NDArray[np.bool_]]:
    """The mask of keys that each tuple keeps, so that it may be `least` people, and those who could not be helped.

    A record that lost more than half of its keys is no match of another: emptying `least` - 1 records would otherwise
    give everybody their matches, and protect nobody.
    """
    for variable in units.keys.variables:
        if not variable.cells.certain:
            told = f"the target m is for keys that hold one value a cell; {variable.name!r} holds sets of candidates"
            raise DataError(f"{told}; ask for the target 'k >= {least}'", column=variable.name)
    keep, every = units.known.copy(), np.arange(len(units))
    masks = [mask for level in levels(costs) for mask in level if 2 * mask.bit_count() >= len(costs)]
    while (bad := matches_of(units, keep, every, keep) < least).any():
        before = keep.copy()
        for mask in masks:
            open_ = np.flatnonzero(bad & (keep & mask == mask) & (keep != mask))
            if len(open_):
                enough = open_[matches_of(units, keep, open_, np.full(len(open_), mask)) >= least]
                keep[enough] = mask
                bad = matches_of(units, keep, every, keep) < least
        if (keep == before).all():  # records that would have to lose more than half: the way of c helps them, too
            return covered(units, least, costs)
    return keep, bad


def matches_of(units: Units, keep: Ints, asked: Ints, masks: Ints) -> Ints:
    """How many may be the same as some tuples that show these keys, in the file as it is suppressed."""
    tuples = units.keys.tuples
    lost, q = np.bitwise_count(units.known & ~keep), len(tuples.columns)
    amount = np.where(lost * 2 > q, 0, tuples.count)
    own = np.where(lost * 2 > q, tuples.count, 0)[asked]  # it is a match of itself
    columns = tuple(np.where(keep >> place & 1, column, 0) for place, column in enumerate(tuples.columns))
    cells = tuple(variable.cells for variable in units.keys.variables)
    symbols = tuple(np.where(masks >> place & 1, column[asked], 0) for place, column in enumerate(tuples.columns))
    both = tuple(np.append(*pair) for pair in zip(columns, symbols, strict=True))  # the pool must hold their gaps
    amounts = np.append(amount, np.zeros(len(asked), np.int64))
    distinct, place = Tuples(both, tuples.sizes, amounts).only(range(q))  # what was emptied may read the same now
    pool = Pool(distinct, distinct.count, cells, "first")
    found: Ints = answers(pool, counter_of(pool, None))[place[len(columns[0]) :]] + own
    return found
