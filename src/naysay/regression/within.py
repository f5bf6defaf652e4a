"""Cells within a category: what a design with nuisance parameters adds to the likelihood of an answer.

The channels of some designs tell finer cells apart than the categories, such as carriers who lie. Given their category,
people are taken to be in each cell with the same chance, whatever their covariates: Q(ν) = P(cell | category), of shape
(cells, t). So the likelihood of an answer with row L is (L Q(ν)) · π(z): that of a plain design with rows L Q(ν).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Answerable, Share
from naysay.errors import DesignError

__all__ = ["CHEATERS", "Evenly", "Within", "evenly", "within"]

Floats = NDArray[np.float64]
Path = tuple[tuple[int, bool], ...]

CHEATERS = {
    "within": "the same share of everyone in the category within which they are",
    "CDM": "the same share of everybody, taken off the honest others: the CDM of RRreg (Heck & Moshagen 2018)",
}
"""Which share of whom cheaters are, whatever people's covariates."""


@dataclass(frozen=True)
class Within:
    """P(cell | category), each entry a product of ν_k and 1 - ν_k.

    Parameters
    ----------
    parameters : tuple of Share
        The shares that split categories, each with the same chance in every category that it splits.
    paths : {(cell, category): tuple of (k, bool)}
        The chances whose product the entry is: ν_k, or with False 1 - ν_k.
    shape : (cells, t)
    told : tuple of str
        What is taken to be the same for everyone, in words.
    """

    parameters: tuple[Share, ...]
    paths: dict[tuple[int, int], Path]
    shape: tuple[int, int]
    told: tuple[str, ...]

    def chances(self, nu: Floats, *by: int) -> Floats:
        """Q(ν), (cells, t), or its derivative by the parameters in these places."""
        found = np.zeros(self.shape)
        for place, path in self.paths.items():
            inside = [k for k, _ in path]
            if len(set(by)) == len(by) and set(by) <= set(inside):  # linear in each: second derivatives are zero
                factors = ((1.0 if up else -1.0) if k in by else nu[k] if up else 1 - nu[k] for k, up in path)
                found[place] = float(np.prod(list(factors)))
        return found


@dataclass(frozen=True)
class Evenly(Within):
    """Cheaters who are a share γ of everybody, whatever the covariates, and lack among the honest others.

    The cells have the chances π, 1 - π - γ and γ: Q(ν) takes γ off one cell and adds it to another in every category.
    So an entry may be negative, and with π > 1 - γ a chance may be; P(response | category), L Q(ν), is none the less
    from 0 to 1 for the designs that have cheaters.

    Parameters
    ----------
    cheaters, others : int
        The cells.
    """

    cheaters: int
    others: int

    def chances(self, nu: Floats, *by: int) -> Floats:
        found = np.zeros(self.shape)
        if len(by) < 2:  # linear in γ
            share = 1.0 if by else nu[0]
            found[self.cheaters], found[self.others] = share, -share
        if not by:
            for cell, category in self.paths:
                found[cell, category] += cell != self.cheaters
        return found


def evenly(design: Answerable) -> Evenly:
    """The cells of a design with cheaters, who are a share of everybody.

    Raises
    ------
    DesignError
        A design without cheaters.

    Examples
    --------
    >>> from naysay import designs
    >>> evenly(designs.cheating_detection(p=(0.25, 0.75))).chances(np.array([0.1]))
    array([[ 1. ,  0. ],
           [-0.1,  0.9],
           [ 0.1,  0.1]])
    """
    found = within(design)
    if [share.name for share in found.parameters] != ["cheaters"]:
        raise DesignError(
            f"cheaters='CDM' needs cheating_detection or cheating_detection_symmetric; {design.name or design.kind} "
            "has no cheaters"
        )
    (cheaters,), (others,) = (
        [cell for (cell, _), path in found.paths.items() if path == ((0, up),)] for up in (True, False)
    )
    told = ("the share of “cheaters” among everybody (CDM)",)
    return Evenly(found.parameters, found.paths, found.shape, told, cheaters, others)


def within(design: Answerable) -> Within:
    """How the cells of a design lie within its categories.

    Raises
    ------
    DesignError
        Cells of one category that no nuisance parameter of the design tells apart.

    Examples
    --------
    >>> from naysay import designs
    >>> found = within(designs.stochastic_lie_detector(p=(0.2, 0.8)))
    >>> found.chances(np.array([0.75]))
    array([[0.75, 0.  ],
           [0.  , 1.  ],
           [0.25, 0.  ]])
    >>> found.told
    ('“truth-tellers” within “yes”',)
    """
    cells, t = design.cells, len(design.categories)
    reached = []
    for share in design.shares:
        above, below = share.weights(cells)
        reached.append(np.flatnonzero((above > 0) | (below == 0)))  # its own cells, and those of no category
    groups: list[dict[tuple[int, ...], list[tuple[int, bool]]]] = [{tuple(each): []} for each in reached]
    used: list[Share] = []
    told: list[str] = []
    for share in design.nuisance:
        of, among = (each.astype(bool) for each in share.weights(cells))
        split = [_split(group, of, among, len(used)) for group in groups]
        if any(len(new) > len(old) for new, old in zip(split, groups, strict=True)):
            where = [j for j in range(t) if len(split[j]) > len(groups[j])]
            names = " and ".join(f"“{_checks.label(design.categories[j])}”" for j in where)
            told.append(f"“{_checks.label(share.name)}” within {names}")
            groups, used = split, [*used, share]
    for group in itertools.chain.from_iterable(groups):
        if len(group) > 1:
            names = _checks.shown(cells[place] for place in group)
            raise DesignError(f"regression needs a nuisance parameter that tells the cells {names} apart")
    paths = {(cell, j): tuple(path) for j, group in enumerate(groups) for (cell,), path in group.items()}
    return Within(tuple(used), paths, (len(cells), t), tuple(told))


def _split(
    groups: dict[tuple[int, ...], list[tuple[int, bool]]], of: NDArray[np.bool_], among: NDArray[np.bool_], k: int
) -> dict[tuple[int, ...], list[tuple[int, bool]]]:
    """The groups of one category, each divided where a share holds a part of it."""
    found: dict[tuple[int, ...], list[tuple[int, bool]]] = {}
    for group, path in groups.items():
        inside = tuple(cell for cell in group if of[cell])
        outside = tuple(cell for cell in group if not of[cell])
        if inside and outside and among[list(group)].all():
            found |= {inside: [*path, (k, True)], outside: [*path, (k, False)]}
        else:
            found[group] = path
    return found
