"""Exact linkage: an intruder picks among the records that are consistent with all that they know of a person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.attack.aligned import texts
from naysay.microdata.attack.register import Register
from naysay.microdata.attack.success import Linked
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.matches import matches_of_tuples

__all__ = ["Candidates", "candidates", "exact"]

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Records among which an intruder picks, for each person of a register.

    Parameters
    ----------
    number : (people,) int
        Records that are consistent with the person and show most of what is known of them; 0 where there is none, or
        where nothing is known of the person.
    hit : (people,) bool
        Whether the person's own record is among them.
    """

    number: Places
    hit: NDArray[np.bool_]


def exact(register: Register, *, seed: int = 1) -> dict[str, Linked]:
    """Pick at random among the consistent records with fewest gaps; or name one only where it is the only one.

    Parameters
    ----------
    register : Register
    seed : int
        Not used: what a random pick achieves is computed.
    """
    found = candidates(register)
    chance = np.where(found.hit, 1 / np.maximum(found.number, 1), 0.0)
    return {
        "exact, any candidate": Linked(found.number > 0, chance),
        "exact, a single candidate": Linked(found.number == 1, found.hit.astype(float)),
    }


def candidates(register: Register) -> Candidates:
    """The records among which the intruder picks.

    A gap of either side is no evidence: it contradicts nothing, and shows nothing. Among the consistent records the
    intruder prefers those that show most of the keys that are known of the person. The number is found by matching,
    once for each pattern of what is known of people and each number of gaps.

    Parameters
    ----------
    register : Register
    """
    people = register.people.height
    keys = Keys(_stacked(register), register.keys)
    number, hit = np.zeros(people, np.int64), np.zeros(people, bool)
    known = np.column_stack([column[keys.owner[:people]] > 0 for column in keys.tuples.columns])
    patterns, place = np.unique(known, axis=0, return_inverse=True)
    for pattern, shown in enumerate(patterns):
        names = [name for name, is_known in zip(register.keys, shown, strict=True) if is_known]
        rows = np.flatnonzero(place.ravel() == pattern)
        if names:
            part = keys.only(names)
            number[rows], hit[rows] = _picked(part, rows, people, register.own[rows])
    return Candidates(number, hit)


def _picked(part: Keys, rows: NDArray[np.intp], people: int, own: Places) -> tuple[Places, NDArray[np.bool_]]:
    """Candidates of people of whom all of these keys are known, and whether their own record is one."""
    released = np.bincount(part.owner[people:], minlength=part.distinct)
    gaps = np.sum([column == 0 for column in part.tuples.columns], axis=0)
    asked = part.owner[rows]
    number, least = np.zeros(len(rows), np.int64), np.full(len(rows), -1)
    for level in np.unique(gaps[released > 0]):
        if level == len(part.columns) or (number > 0).all():
            break  # a record that shows none of the keys says nothing
        found = matches_of_tuples(part, np.where(gaps == level, released, 0), rule="intersect")[asked]
        fresh = (number == 0) & (found > 0)
        number[fresh], least[fresh] = found[fresh], level
    record = part.owner[people:][np.maximum(own, 0)]
    hit = (own >= 0) & (gaps[record] == least)
    for variable, column in zip(part.variables, part.tuples.columns, strict=True):
        one, other = column[asked].astype(np.int64), column[record].astype(np.int64)
        same = (one == other) | (one == 0) | (other == 0)
        several = ~same & (np.maximum(one, other) > len(variable.cells.values))
        if several.any():
            agree = variable.cells.agreeing(by_value=False)
            same[several] = np.asarray(agree[one[several] - 1, other[several] - 1]).ravel() > 0
        hit &= same
    return number, hit


def _stacked(register: Register) -> dict[str, object]:
    """The keys of the people, and below them those of the records."""
    stacked: dict[str, object] = {}
    for name in register.keys:
        pair = [register.people[name], register.release[name]]
        lists = [isinstance(each.dtype, pl.List | pl.Array) for each in pair]
        if any(lists):
            cells = [
                each.cast(pl.List(pl.String)) if is_list else texts(each)
                for each, is_list in zip(pair, lists, strict=True)
            ]
            stacked[name] = [*cells[0].to_list(), *cells[1].to_list()]
        else:
            stacked[name] = pl.concat([texts(each).rename(name) for each in pair])
    if not register.people.height:
        raise DataError("the register has nobody to look for")
    return stacked
