"""Behavior of simulated respondents: their choice of level, lies, random answers, and nonresponse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Levels
from naysay.design.base import check_design
from naysay.design.several import choice, lies, place_of, share
from naysay.errors import DataError

__all__ = ["HONEST", "Behavior", "skewed", "tied"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Behavior:
    """How many people do not follow the instructions. By default everybody does.

    Parameters
    ----------
    liars : float
        The share of people in `among` who follow the design as if they belonged to another category.
    among : sequence of label, optional
        The categories whose members may lie: by default all; with `says`, all others.
    says : label, optional
        What liars claim to be, such as "no" for people who deny. By default they claim each other category equally
        often.
    at_random : float
        The share of all people who pick any possible response, each equally often, whatever the truth.
    nonresponse : float or {category: float}
        The share of people, or of each category, who give no answer. Categories that are left out answer.

    Examples
    --------
    >>> Behavior(liars=0.2, among=("yes",), says="no").stated(("yes", "no"))
    array([[0.8, 0. ],
           [0.2, 1. ]])
    """

    liars: float = 0.0
    among: Sequence[Any] | None = None
    says: Any = None
    at_random: float = 0.0
    nonresponse: float | Mapping[Any, float] = 0.0

    def __post_init__(self) -> None:
        share(self.liars, what="the share of liars")
        share(self.at_random, what="the share that answers at random")
        each = self.nonresponse.values() if isinstance(self.nonresponse, Mapping) else [self.nonresponse]
        for value in each:
            share(value, what="the share that does not answer")

    def stated(self, categories: Sequence[Any]) -> Floats:
        """P(stated category | true category), (t, t)."""
        return lies(categories, self.liars, among=self.among, says=self.says)

    def silent(self, categories: Sequence[Any]) -> Floats:
        """P(no answer | category), (t,)."""
        if not isinstance(self.nonresponse, Mapping):
            return np.full(len(categories), float(self.nonresponse))
        result = np.zeros(len(categories))
        for category, value in self.nonresponse.items():
            result[place_of(category, tuple(categories))] = value
        if (result == 1).all():
            raise DataError("nobody answers: the share of nonresponse is 1 in every category")
        return result

    def __str__(self) -> str:
        told = []
        if self.liars:
            who = "" if self.among is None else f" of {_checks.shown(map(_checks.label, self.among))}"
            what = "another category" if self.says is None else repr(_checks.label(self.says))
            told.append(f"{self.liars:.4g}{who} say {what}")
        if self.at_random:
            told.append(f"{self.at_random:.4g} answer at random")
        if isinstance(self.nonresponse, Mapping):
            each = (f"{value:.4g} of {_checks.label(label)!r}" for label, value in self.nonresponse.items())
            told.append(f"no answer from {', '.join(each)}")
        elif self.nonresponse:
            told.append(f"no answer from {self.nonresponse:.4g}")
        return "; ".join(told) or "all do as asked"


HONEST = Behavior()
"""Everybody answers and follows the instructions."""


def skewed(design: Levels, *, toward: str = "private", ratio: float = 2.0) -> Floats:
    """Preferences over levels (levels,): from one end on, each level is `ratio` times as popular as the next.

    Parameters
    ----------
    design : Levels
    toward : {"private", "open"}
        Which end is the most popular.
    ratio : float
        At least 1. With 1, all levels are equally popular.

    Examples
    --------
    >>> from naysay import designs
    >>> skewed(designs.negative_levels(("a", "b", "c", "d"))).round(3)
    array([0.571, 0.286, 0.143])
    """
    check_design(design)
    if toward not in ("private", "open"):
        raise DataError(f"preferences are skewed toward 'private' or 'open'; got {toward!r}")
    if not 1 <= ratio < np.inf:
        raise DataError(f"ratio must be at least 1; got {ratio!r}")
    popular = float(ratio) ** -np.arange(len(design.levels))
    popular = popular if toward == "private" else popular[::-1]
    return np.asarray(popular / popular.sum())


def tied(design: Levels, *, hiding: Sequence[Any], share_of: float = 1.0) -> Floats:
    """Preferences (levels, t) that depend on the category: some of those who hide something pick the first level.

    Parameters
    ----------
    design : Levels
    hiding : sequence of label
        The categories whose members hide.
    share_of : float
        The share of them who always choose the most private level. All others choose uniformly.

    Examples
    --------
    >>> from naysay import designs
    >>> tied(designs.negative_levels(("a", "b", "c")), hiding=("c",))
    array([[0.5, 0.5, 1. ],
           [0.5, 0.5, 0. ]])
    """
    result, amount = choice(design), share(share_of, what="the share that hides")
    for category in hiding:
        place = place_of(category, design.categories)
        result[:, place] *= 1 - amount
        result[0, place] += amount
    return result
