"""Linkage of whole households: a household is the multiset of its members' keys."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.attack.register import Register, texts
from naysay.microdata.attack.success import Linked, Success
from naysay.microdata.keys.variables import Keys

__all__ = ["households"]

Places = NDArray[np.int64]
Flags = NDArray[np.bool_]

_PERMUTED = 4  # members up to which all assignments are tried at once
_CELLS = 20_000_000  # agreements of members held at once


def households(register: Register, column: str, *, confidence: float, seed: int) -> Success:
    """Pick at random among the released households that may be this one, and have fewest gaps.

    A released household may be a known one if both have as many members, and each member of one can be assigned to a
    member of the other so that all keys that are known of both agree. A household counts as in the release if all of
    the members whom the register holds are, in one household there.

    Raises
    ------
    DataError
        Keys with several possible values in a cell.
    """
    people = register.people.height
    stacked = {
        name: [*texts(register.people[name]).to_list(), *texts(register.release[name]).to_list()]
        for name in register.keys
    }
    keys = Keys(stacked, register.keys)
    cells = np.column_stack([column[keys.owner] for column in keys.tuples.columns]).astype(np.int64)
    if register.clusters is None:
        raise DataError("households are found by a column that names them")
    theirs = texts(register.release[column]).rank("dense").fill_null(0).to_numpy().astype(np.int64)
    known, released = _members(register.clusters), _members(theirs)
    found = [
        _linked(cells[:people], known[size], cells[people:], released.get(size), theirs, register.own) for size in known
    ]
    made, right, inside = (np.concatenate(each) for each in zip(*found, strict=True))
    return Success.of("exact, whole households", Linked(made, right), inside, None, confidence=confidence, seed=seed)


def _members(clusters: Places) -> dict[int, Places]:
    """The rows of each household, (households, members), by number of members."""
    order = np.argsort(clusters, kind="stable")
    _, starts, sizes = np.unique(clusters[order], return_index=True, return_counts=True)
    return {
        int(size): np.array([order[start : start + size] for start in starts[sizes == size]])
        for size in np.unique(sizes)
    }


def _linked(
    mine: Places, known: Places, theirs: Places, released: Places | None, names: Places, own: Places
) -> tuple[Flags, NDArray[np.float64], Flags]:
    """For households of one size: whether a link was made, the chance that it is right, whether they are there."""
    there = own[known]
    inside = (there >= 0).all(axis=1) & (names[there] == names[there[:, :1]]).all(axis=1)
    made, right = np.zeros(len(known), bool), np.zeros(len(known))
    if released is None:
        return made, right, inside
    gaps = (theirs[released] == 0).sum(axis=(1, 2))
    names_of = names[released[:, 0]]
    step = max(1, _CELLS // (len(released) * known.shape[1] ** 2))
    for start in range(0, len(known), step):
        rows = slice(start, start + step)
        agree = np.ones((len(known[rows]), len(released), known.shape[1], known.shape[1]), bool)
        for key in range(mine.shape[1]):
            one, other = mine[known[rows]][:, None, :, None, key], theirs[released][None, :, None, :, key]
            agree &= (one == other) | (one == 0) | (other == 0)
        fits = _assigned(agree)
        fewest = np.where(fits, gaps, np.iinfo(gaps.dtype).max).min(axis=1)
        picked = fits & (gaps == fewest[:, None])
        number = picked.sum(axis=1)
        hit = (picked & (names_of == names[there[rows, 0]][:, None])).any(axis=1) & inside[rows]
        made[rows], right[rows] = number > 0, np.where(hit, 1 / np.maximum(number, 1), 0.0)
    return made, right, inside


def _assigned(agree: Flags) -> Flags:
    """Whether members can be assigned to each other, (known, released), from which pairs agree."""
    members = agree.shape[-1]
    every = np.arange(members)
    if members <= _PERMUTED:
        orders = permutations(range(members))
        return np.asarray(np.any([agree[:, :, every, list(order)].all(axis=-1) for order in orders], axis=0))
    fits: Flags = np.asarray(agree.any(axis=-1).all(axis=-1) & agree.any(axis=-2).all(axis=-1))
    for one, other in zip(*np.nonzero(fits), strict=True):
        graph = scipy.sparse.csr_array(agree[one, other])
        matched = scipy.sparse.csgraph.maximum_bipartite_matching(graph, perm_type="column")
        fits[one, other] = (matched >= 0).all()
    return fits
