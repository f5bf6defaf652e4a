"""Matches by a table of all combinations: for keys whose combinations can be listed.

Let F be the array of how many respondents have each tuple of cells, one axis a variable, place 0 for missing. Whether
two tuples match is a product over variables, so matches are F transformed along one axis after the other:
G[symbol] = F[missing] + Σ F[cells that agree with the symbol], G[unknown] = Σ F. The cost is axes × combinations,
whatever the number of respondents and of patterns. Variables without missing or uncertain cells need no transform:
they make up one axis, of the combinations that occur.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.tuples import grouped, packed
from naysay.microdata.matching.question import Amounts, Pool, Questions

__all__ = ["Cube", "combinations"]

_MOST = 4_000_000_000


def _axes(pool: Pool) -> tuple[list[int], list[int]]:
    """Variables with an axis of their own, uncertain ones first, and the plain ones, which share the last axis."""
    gaps = [place for place, gap in enumerate(pool.gaps) if gap and not pool.uncertain[place]]
    own = [*(place for place, _, _ in pool.several), *gaps]
    return own, [place for place in range(len(pool.cells)) if place not in own]


def combinations(pool: Pool) -> float:
    """Size of the array: combinations of the known variables that occur times all of the others."""
    own, plain = _axes(pool)
    occurring = min(float(len(pool.tuples)), float(np.prod([float(pool.tuples.sizes[place]) for place in plain])))
    return occurring * float(np.prod([float(max(pool.symbols(p), pool.tuples.sizes[p])) for p in own]))


@dataclass(frozen=True, eq=False)
class Cube:
    """The transformed array of a file."""

    pool: Pool
    array: Amounts
    own: list[int]
    group: NDArray[np.intp]

    @classmethod
    def of(cls, pool: Pool) -> Cube:
        """The array of a file, transformed along every axis that needs it.

        Raises
        ------
        DataError
            More combinations than memory holds.
        """
        if combinations(pool) > _MOST:
            raise DataError(
                f"these keys have {combinations(pool):.3g} combinations, too many for an array of them all; leave the"
                " algorithm out, or ask for 'bitmap' or 'join'"
            )
        (own, plain), groups = _axes(pool), 1
        group = np.zeros(len(pool.tuples), np.intp)
        if plain:
            first, group = grouped([pool.tuples.columns[p] for p in plain], [pool.tuples.sizes[p] for p in plain])
            groups = len(first)
        shape = [*(pool.tuples.sizes[place] for place in own), groups]
        whole = pool.amount.dtype.kind in "iu"
        # the smallest type that holds every sum: the array may be large
        array = np.zeros(math.prod(shape), np.int32 if whole and pool.amount.sum() < 2**31 else pool.amount.dtype)
        cube = cls(pool, array, own, group)
        array[cube._key(np.arange(len(pool.tuples)), pool.tuples.columns, shape)] = pool.amount  # tuples are distinct
        for number, place in enumerate(own):
            array = _transformed(array, shape, number, pool, place)
            shape[number] = pool.symbols(place)
        return replace(cube, array=array.reshape(shape))

    def count(self, asked: Questions) -> Amounts:
        key = self._key(asked.owner, asked.symbols, self.array.shape)
        return self.array.reshape(-1)[key].astype(self.pool.amount.dtype)

    def _key(self, owner: NDArray[np.intp], columns: Sequence[NDArray[Any]], shape: Sequence[int]) -> NDArray[np.intp]:
        """Places in the flat array."""
        # the last axis is the joint one
        return packed([*(columns[place] for place in self.own), self.group[owner]], shape).astype(np.intp)


def _transformed(array: Amounts, shape: list[int], axis: int, pool: Pool, place: int) -> Amounts:
    before, size, after = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    cube = array.reshape(before, size, after)
    if not pool.uncertain[place] and pool.symbols(place) == size:
        total = cube.sum(axis=1, dtype=array.dtype)
        cube[:, 1:] += cube[:, :1]  # before the next line, which overwrites the missing cell
        cube[:, 0] = total
        return cube.reshape(-1)
    agree = pool.agreement(place).astype(array.dtype)
    result = np.empty((before, agree.shape[0], after), array.dtype)
    for slab in range(before):
        result[slab] = agree @ cube[slab]
    return result.reshape(-1)
