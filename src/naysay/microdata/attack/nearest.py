"""Linkage by distance: the record that is nearest in standardized values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.microdata.attack.aligned import texts
from naysay.microdata.attack.register import Register
from naysay.microdata.attack.success import Linked

__all__ = ["nearest", "nearest_records"]

Floats = NDArray[np.float64]

_CELLS = 4_000_000  # distances held at once
_STRANGERS, _GAP = 2.0, 1.0  # squared standard deviations between two random people; and for a gap
_ALIKE = 1e-6  # squared standard deviations: two records at one distance


def nearest(register: Register, *, seed: int = 1) -> dict[str, Linked]:
    """Name the nearest record; of several that are equally near, one at random.

    Numbers count by their squared difference in standard deviations of the release. Other values that differ count 2,
    as two random people do on average on a number. A gap is no evidence: it counts 1, halfway between a value that
    agrees and one of a stranger. Were it 0, a record with a gap would be nearer than the right one after some noise.

    Parameters
    ----------
    register : Register
    seed : int
        Not used: what a random pick achieves is computed.
    """
    people = register.people.height
    right, made = np.zeros(people), np.zeros(people, bool)
    for rows, close in nearest_records(register):
        number, own = close.sum(axis=1), register.own[rows]
        made[rows] = number > 0
        hit = (own >= 0) & close[np.arange(len(rows)), np.maximum(own, 0)]
        right[rows] = np.where(hit, 1 / np.maximum(number, 1), 0.0)
    return {"nearest": Linked(made, right)}


def nearest_records(register: Register) -> Iterator[tuple[NDArray[np.intp], NDArray[np.bool_]]]:
    """Which records are nearest to some people, in pieces: their rows, and (rows, records)."""
    columns = [_comparable(register, name) for name in register.keys]
    people, records = register.people.height, register.release.height
    step = max(1, _CELLS // records)
    for start in range(0, people, step):
        rows = np.arange(start, min(people, start + step))
        far, shown = np.zeros((len(rows), records), np.float32), np.zeros((len(rows), records), bool)
        for mine, theirs, numeric in columns:
            apart = mine[rows, None] - theirs[None, :]
            there = ~np.isnan(apart)
            shown |= there
            far += np.where(there, apart**2 if numeric else _STRANGERS * (apart != 0), _GAP).astype(np.float32)
        far[~shown] = np.inf
        yield rows, shown & (far <= far.min(axis=1, keepdims=True) + _ALIKE)


def _comparable(register: Register, name: str) -> tuple[Floats, Floats, bool]:
    """A key on both sides: numbers in standard deviations, or codes; NaN for gaps."""
    mine, theirs = register.people[name], register.release[name]
    if mine.dtype.is_numeric() and theirs.dtype.is_numeric():
        x, y = (each.cast(pl.Float64).to_numpy() for each in (mine, theirs))
        unit = np.nanstd(y) if (~np.isnan(y)).any() else 1.0
        return x / (unit or 1.0), y / (unit or 1.0), True
    both = pl.concat([texts(mine).rename(name), texts(theirs).rename(name)])
    codes = both.rank("dense").cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return codes[: len(mine)], codes[len(mine) :], False
