"""Unary designs: one bit for each category, each randomized by itself. For aggregators that can only add bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.design.chances import Diagnostic, Truth, of_counts
from naysay.design.drawing import Source
from naysay.design.exact import integer
from naysay.design.pure import SUMS_ONLY, Pure, bits
from naysay.errors import DesignError
from naysay.responses import Bits, Codes

__all__ = ["Unary"]

Floats = NDArray[np.float64]

_WHOLE = 2**32


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Unary(Pure):
    """A bit for each category: one with chance p for the true category, and with chance q for each other.

    Parameters
    ----------
    own, other : int
        p and q in units of 2⁻³², with own > other.

    Examples
    --------
    >>> design = Unary.of(("a", "b"), own=2**31, other=2**30)
    >>> design.even_mean, design.odds
    ((0.25, 0.25), (3, 1))
    """

    own: int
    other: int
    space: Bits
    kind: ClassVar[str] = "unary"
    rule: ClassVar[str] = (
        "For each category, in order, draw u below 2^32; the category is named if u < own for the true category, and "
        "if u < other for any other. The response is the set of named categories; as text, in the order of the "
        "categories, joined by ';'; the empty set is ';'."
    )

    def __post_init__(self) -> None:
        if not 0 < integer(self.other) < integer(self.own) < _WHOLE:
            raise DesignError(f"0 < other < own < 2**32 must hold; got own={self.own}, other={self.other}")

    @classmethod
    def of(cls, categories: Sequence[Any], own: int, other: int, **fields: Any) -> Self:
        labels = tuple(categories)
        return cls(categories=labels, space=Bits(labels), own=own, other=other, **fields)

    @cached_property
    def odds(self) -> tuple[int, int]:
        ratio = Fraction(self.own * (_WHOLE - self.other), self.other * (_WHOLE - self.own))
        return ratio.numerator, ratio.denominator

    @property
    def pieces(self) -> tuple[tuple[Fraction, Fraction, int], ...]:
        """The bit of the true category, and that of another."""
        p, q = self.chances_named
        return (p, q, 2), (1 - q, 1 - p, 2)

    def faded(self, keep: int, whole: int) -> Unary:
        half = _WHOLE // 2
        own, other = (half + Fraction(keep * (each - half), whole) for each in (self.own, self.other))
        if own.denominator > 1 or other.denominator > 1:
            raise DesignError(
                "the chances of both steps together must be multiples of 2**-32; designs.remembered() finds steps for "
                "any two values of ε"
            )
        return replace(self, own=int(own), other=int(other), name="", notes=())

    def redrawn(self, codes: Codes, keep: int, whole: int, source: Source) -> Codes:
        named = self.space.statistic(codes) == 1
        for place in range(len(self.categories)):
            stays = source.below(whole, len(codes)) < keep
            named[:, place] = np.where(stays, named[:, place], source.below(2, len(codes)) == 1)
        return self.space.pack(named)

    @property
    def chances_named(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.own, _WHOLE), Fraction(self.other, _WHOLE)

    def integers(self, codes: Codes) -> NDArray[Any]:
        return np.where(self.space.statistic(codes) == 1, *(np.array(each, dtype=object) for each in self.odds))

    def rows(self, codes: Codes) -> Floats:
        """C(y) (p/q) if the category is named, and C(y) (1-p)/(1-q) otherwise; C(y) = q^s (1-q)^(t-s), with s named."""
        p, q = map(float, self.chances_named)
        named = self.space.statistic(codes)
        size = named.sum(axis=1, keepdims=True)
        scale = np.exp(size * np.log(q) + (len(self.categories) - size) * np.log1p(-q))
        return np.asarray(scale * np.where(named == 1, p / q, (1 - p) / (1 - q)))

    @property
    def typical_codes(self) -> Codes:
        named = np.zeros((1, len(self.categories)), dtype=bool)
        named[0, 0] = True
        return self.space.pack(named)

    def _draw(self, truth: Truth, source: Source) -> Codes:
        named = np.empty((len(truth), len(self.categories)), dtype=bool)
        for place in range(len(self.categories)):
            drawn = source.below(_WHOLE, len(truth))
            named[:, place] = drawn < np.where(truth == place, self.own, self.other)
        return self.space.pack(named)

    @property
    def keeps_sums(self) -> bool:
        return not self.space.listable

    @property
    def moments_only(self) -> str:
        return "" if self.space.listable else SUMS_ONLY

    def told_bits(self, prior: Floats) -> float | None:
        """For a uniform prior the sum over the sizes of sets, otherwise over drawn responses."""
        if (prior != prior[0]).any():
            return super().told_bits(prior)
        (p, q), t = map(float, self.chances_named), len(prior)
        return bits(np.arange(t + 1) / t, _binomial(t, q), p / q, (1 - p) / (1 - q))

    def guessed(self, prior: Floats) -> float:
        """The sum over the likeliest named category, by its rank r: the first r bits are zero and the next is one."""
        (p, q), ranked = map(float, self.chances_named), np.sort(prior)[::-1]
        first = q * (1 - q) ** np.arange(len(prior))
        best = np.maximum(p / q * ranked, (1 - p) / (1 - q) * ranked[0])
        return float(first @ best + (1 - q) ** len(prior) * (1 - p) / (1 - q) * ranked[0])

    def diagnosed(self, part: Any) -> Diagnostic | None:
        """One bit of chance p and t - 1 bits of chance q, whatever the truth."""
        t, (p, q) = len(self.categories), map(float, self.chances_named)
        sizes = part.sizes if part.summed else np.bincount(self.space.sizes(part.codes), part.count, minlength=t + 1)
        others = np.pad(_binomial(t - 1, q), 1)
        chances = p * others[:-1] + (1 - p) * others[1:]
        return of_counts(np.rint(sizes).astype(np.int64), chances, "sizes of sets come as often as published")

    def products(self, measure: Floats) -> Floats:
        """Bits are independent given the category: E[T_u T_v] = q² + (π_u + π_v) q (p - q)."""
        p, q = map(float, self.chances_named)
        total = measure.sum()
        result = q * q * total + q * (p - q) * (measure[:, None] + measure)
        np.fill_diagonal(result, q * total + (p - q) * measure)
        return np.asarray(result)


def _binomial(n: int, q: float) -> Floats:
    """The chances of 0, 1, …, n ones among n bits, (n + 1,)."""
    k, log = np.arange(n + 1), scipy.special.gammaln
    return np.asarray(np.exp(log(n + 1) - log(k + 1) - log(n - k + 1) + k * np.log(q) + (n - k) * np.log1p(-q)))
