"""Designs of many categories whose columns are one pattern: two integers instead of a table of t × t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design.base import Design
from naysay.design.chances import Truth
from naysay.design.drawing import Source
from naysay.design.exact import LIMIT, blended, integer
from naysay.design.form import TABLED
from naysay.errors import DesignError
from naysay.responses import Codes, Labels

__all__ = ["Pattern"]

_BLOCK = 2**14  # responses drawn at a time, so that what belongs to them stays in the cache

LEAST = 4
"""From so many categories on, a family whose columns are one pattern makes a `Pattern`: its JSON is then shorter than a
table's, with any labels and weights."""

MANY = TABLED
"""With more categories than this, a table of one pattern is read as a `Pattern`; JSON of so many or fewer stays as it
is, so that a design that is open keeps its form."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pattern(Design):
    """A design in which the true category has one chance, and every other category has another.

    P[j, j] = own / D and P[i, j] = other / D for i ≠ j, with D = own + (t - 1) other. Such designs are k-ary randomized
    response, the uniform negative survey (own = 0), pure noise (own = other) and the direct question (other = 0).
    Memory, JSON and privacy take O(t). Only `matrix`, `weights` and `expected_statistic` are (t, t), and they are made
    when asked for.

    Parameters
    ----------
    own : int
        The weight of the true category.
    other : int
        The weight of each other category.

    Raises
    ------
    DesignError
        Weights that are negative, or that sum to zero or to more than 2⁵³.

    Examples
    --------
    >>> design = Pattern.of(("a", "b", "c"), own=2, other=1)
    >>> design.matrix
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    """

    own: int
    other: int
    space: Labels
    kind: ClassVar[str] = "pattern"
    rule: ClassVar[str] = (
        "Draw u below own + (t - 1) * other, for t categories, numbered from 0, and truth x. If u < x * other, the "
        "response is category floor(u / other); otherwise, if u < x * other + own, it is x; otherwise it is category "
        "floor((u - own) / other) + 1."
    )
    one_pattern = True
    pure = True
    tabular: ClassVar[bool] = True
    exchangeable = True  # renaming the categories changes nothing, so one response stands for all

    def __post_init__(self) -> None:
        if self.space.labels != self.categories:
            raise DesignError("a pattern reports its own categories; other responses need a table")
        if integer(self.own) < 0 or integer(self.other) < 0 or not 0 < self.denominator <= LIMIT:
            raise DesignError(
                "the two weights of a pattern must not be negative, and a column of them must sum to 1 to 2**53; got "
                f"own={self.own}, other={self.other} for {len(self.categories)} categories"
            )

    @classmethod
    def of(cls, categories: Sequence[Any], own: int, other: int, **fields: Any) -> Self:
        """The design over these categories, with weights in lowest terms."""
        labels, shared = tuple(categories), math.gcd(integer(own), integer(other)) or 1
        return cls(categories=labels, space=Labels(labels), own=own // shared, other=other // shared, **fields)

    @property
    def denominator(self) -> int:
        """D, the sum of every column of weights."""
        return self.own + (len(self.categories) - 1) * self.other

    @property
    def weights(self) -> NDArray[np.int64]:
        """The table of integers, (t, t)."""
        return self.integers(self.space.listing())

    @property
    def chances_named(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.own, self.denominator), Fraction(self.other, self.denominator)

    def integers(self, codes: Codes) -> NDArray[np.int64]:
        result = np.full((len(codes), len(self.categories)), self.other, dtype=np.int64)
        result[np.arange(len(codes)), codes[:, 0]] = self.own
        return result

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        return self.integers(codes) / self.denominator

    def draw(self, truth: Truth, source: Source) -> Codes:
        return drawn_even(self.own, self.other, len(self.categories), truth, source)

    def impossible(self, codes: Codes) -> NDArray[np.bool_]:
        return np.zeros(len(codes), dtype=bool)

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        return _checks.read_only(self.matrix)

    @cached_property
    def even_mean(self) -> tuple[float, float]:
        """(α, β) of the matrix αI + β11ᵀ, which is the mean of the linear statistic."""
        beta = self.other / self.denominator
        return self.own / self.denominator - beta, beta

    @property
    def typical_codes(self) -> Codes:
        return np.zeros((1, 1), dtype=np.int64)

    @property
    def pieces(self) -> tuple[tuple[Fraction, Fraction, int], ...]:
        return ((Fraction(self.own, self.denominator), Fraction(self.other, self.denominator), len(self.categories)),)

    def faded(self, keep: int, whole: int) -> Pattern:
        if not self.own > self.other:
            raise DesignError("only a design in which the truth is the likeliest answer can be remembered")
        t = len(self.categories)
        own, other = blended(self.own, self.other, (1, t - 1), keep, whole)
        return Pattern.of(self.categories, own=own, other=other)

    def redrawn(self, codes: Codes, keep: int, whole: int, source: Source) -> Codes:
        stays = source.below(whole, len(codes)) < keep
        other = source.below(len(self.categories), len(codes))
        return np.where(stays, codes[:, 0], other).reshape(-1, 1)

    def guessed(self, prior: NDArray[np.float64]) -> float:
        """Σ_y max(own π_y, other max_{j ≠ y} π_j) / D."""
        second, first = np.sort(prior)[-2:]
        others = np.where(np.arange(len(prior)) == prior.argmax(), second, first)
        return float(np.maximum(self.own * prior, self.other * others).sum() / self.denominator)


def drawn_even(own: int, other: int, t: int, truth: Truth, source: Source) -> Codes:
    """The responses that a table with these two weights would draw from the same integers, without running sums."""
    said = np.empty((len(truth), 1), dtype=np.int64)
    for start in range(0, len(truth), _BLOCK):
        x = truth[start : start + _BLOCK]
        drawn = source.below(own + (t - 1) * other, len(x))
        before = x * other
        # Above the truth's own weight all places move up by `own - other`; within it, they move to its start.
        moved = np.maximum(drawn - (own - other), before) if other else before
        said[start : start + _BLOCK, 0] = np.where(drawn < before, drawn, moved) // other if other else x
    return said
