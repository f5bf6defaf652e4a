"""Designs that draw k categories: they have too many responses for a table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design.base import Design
from naysay.design.chances import Truth
from naysay.design.drawing import Source
from naysay.design.exact import LIMIT, flag, integer
from naysay.errors import DesignError
from naysay.responses import WORD, Codes, Subsets

_SET = "The response is the set of discarded categories; as text, in the order of the categories, joined by ';'."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _Discarded(Design):
    """A design whose response is a set of `discards` categories."""

    discards: int
    space: Subsets

    def __post_init__(self) -> None:
        t = len(self.categories)
        if not 1 <= integer(self.discards) <= t - 1:
            raise DesignError(f"discards must lie between 1 and {t - 1} for {t} categories; got {self.discards}")

    @classmethod
    def of(cls, categories: Sequence[Any], discards: int, **fields: Any) -> Self:
        """The design over these categories."""
        labels = tuple(categories)
        return cls(categories=labels, space=Subsets(labels, discards, discards), discards=discards, **fields)

    def impossible(self, codes: Codes) -> NDArray[np.bool_]:
        return np.zeros(len(codes), dtype=bool)  # every set of the right size leaves out a category that can give it


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Subset(_Discarded):
    """k categories drawn with equal chances: out of the t - 1 false ones (``truthful``), or out of all t.

    P(S | j) = 1 / C(t - 1, k) for every k-subset S that does not hold j. Sets are never listed, so that t = 60, k = 30
    costs time and memory only for the sets that were drawn.

    Parameters
    ----------
    discards : int
        k, from 1 to t - 1. At t - 1 a truthful answer reveals the true category.
    truthful : bool
        Whether the true category stays out of the set. If not, the answer is pure noise.
    """

    truthful: bool = True
    kind: ClassVar[str] = "subset"
    rule: ClassVar[str] = (
        "With t categories, truth x and k to discard: visit x+1, x+2, ... (modulo t, x itself left out). At each visit "
        "draw an integer below the number of categories not yet visited, this one included; discard this one if the "
        "integer is less than the number still to be discarded. If truthful is false, visit 0, 1, ..., t-1 instead. "
        + _SET
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        flag(self.truthful)

    exchangeable = True

    @property
    def _candidates(self) -> int:
        return len(self.categories) - self.truthful

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        probability = 1 / math.comb(self._candidates, self.discards)
        if not self.truthful:
            return np.full((len(codes), len(self.categories)), probability)
        return np.where(self.space.decode(codes), 0.0, probability)

    def draw(self, truth: Truth, source: Source) -> Codes:
        """Selection sampling: go through the candidates, take each with chance (still needed) / (still to come)."""
        t, n = len(self.categories), len(truth)
        first = truth + 1 if self.truthful else np.zeros(n, dtype=np.int64)
        needed = np.full(n, self.discards, dtype=np.int64)
        codes = np.zeros((n, self.space.width), dtype=np.int64)
        for step in range(self._candidates):
            is_taken = source.below(self._candidates - step, n) < needed
            needed -= is_taken
            _set_bits(codes, (first + step) % t, is_taken)
        return codes

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        """E[M_i | X = j] = k / (t - 1) for i ≠ j, and 0 for i = j."""
        t = len(self.categories)
        expected = np.full((t, t), self.discards / self._candidates)
        if self.truthful:
            np.fill_diagonal(expected, 0.0)
        return _checks.read_only(expected)

    def _second_moments(self) -> NDArray[np.float64]:
        """k(k-1)/(m(m-1)) off the diagonal and k/m on it, for m candidates; 0 for the true category."""
        t, k, m = len(self.categories), self.discards, self._candidates
        joint = np.full((t, t), k * (k - 1) / (m * (m - 1)) if m > 1 else 0.0)
        np.fill_diagonal(joint, k / m)
        all_moments = np.tile(joint, (t, 1, 1))
        if self.truthful:
            places = np.arange(t)
            all_moments[places, places, :] = 0.0
            all_moments[places, :, places] = 0.0
        return all_moments

    def guessed(self, prior: NDArray[np.float64]) -> float:
        """Σ_r π_(r) C(t - r, k - r + 1) / C(t - 1, k), the categories ranked from the likeliest on.

        The r-th likeliest category is the best guess if the answer rules out all likelier ones, but not this one.
        """
        if not self.truthful:
            return float(prior.max())
        t, k, ranked = len(prior), self.discards, np.sort(prior)[::-1]
        return math.fsum(ranked[r] * math.comb(t - r - 1, k - r) for r in range(k + 1)) / math.comb(t - 1, k)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WeightedSubset(_Discarded):
    """k false categories drawn with probability in proportion to the product of their weights.

    P(S | j) = Π_{i ∈ S} w_i / e_k(w without j) for j ∉ S. Here e_k is the elementary symmetric polynomial of degree k.

    Parameters
    ----------
    discards : int
        k, from 1 to t - 1.
    weights : tuple of int
        Positive integers, one for each category; their e_k must not exceed 2⁵³.
    """

    weights: tuple[int, ...]
    kind: ClassVar[str] = "weighted_subset"
    rule: ClassVar[str] = (
        "Visit 0, 1, ..., t-1 without x. Let c be the number still to be discarded and e(c, S) the sum over the "
        "c-subsets of S of the products of their weights (e(0, S) = 1). Draw an integer below e(c, this and the rest); "
        "discard this one if the integer is less than its weight times e(c-1, the rest). " + _SET
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        t, kinds = len(self.categories), set(map(type, self.weights))
        if len(self.weights) != t or kinds != {int} or min(self.weights) < 1:
            raise DesignError(f"weights must be {t} positive integers, one a category; got {self.weights}")
        if symmetric_sums(self.weights, self.discards)[-1] > LIMIT:
            raise DesignError("the weights are too fine: their e_k exceeds 2**53; use smaller integers")

    @cached_property
    def _totals(self) -> NDArray[np.float64]:
        """e_k of the weights without each category, (t,)."""
        w = self.weights
        return np.array([symmetric_sums(w[:j] + w[j + 1 :], self.discards)[-1] for j in range(len(w))], dtype=float)

    def rows(self, codes: Codes) -> NDArray[np.float64]:
        members = self.space.decode(codes)
        product = np.where(members, np.array(self.weights, dtype=float), 1.0).prod(axis=1)
        return np.where(members, 0.0, product[:, None] / self._totals)

    @property
    def typical_codes(self) -> Codes:
        """All responses; if too many, the most revealing one: it leaves the heaviest category and the lightest ones."""
        if self.space.listable:
            return self.space.listing()
        heaviest = sorted(range(len(self.weights)), key=lambda place: -self.weights[place])
        members = np.zeros((1, len(self.weights)), dtype=bool)
        members[0, heaviest[1 : self.discards + 1]] = True
        return self.space.pack(members)

    def draw(self, truth: Truth, source: Source) -> Codes:
        codes = np.zeros((len(truth), self.space.width), dtype=np.int64)
        for category in np.unique(truth).tolist():
            category_rows = np.flatnonzero(truth == category)
            codes[category_rows] = self._draw_for(category, len(category_rows), source)
        return codes

    def _draw_for(self, category: int, n: int, source: Source) -> Codes:
        codes = np.zeros((n, self.space.width), dtype=np.int64)
        needed = np.full(n, self.discards, dtype=np.int64)
        candidates = [i for i in range(len(self.weights)) if i != category]
        for place, candidate in enumerate(candidates):
            with_this = symmetric_sums([self.weights[i] for i in candidates[place:]], self.discards)
            without = symmetric_sums([self.weights[i] for i in candidates[place + 1 :]], self.discards)
            is_taken = np.zeros(n, dtype=bool)
            for c in range(1, self.discards + 1):
                waiting = np.flatnonzero(needed == c)
                if len(waiting):
                    draws = source.below(with_this[c], len(waiting))
                    is_taken[waiting] = draws < self.weights[candidate] * without[c - 1]
            needed -= is_taken
            _set_bits(codes, np.full(n, candidate), is_taken)
        return codes

    @cached_property
    def expected_statistic(self) -> NDArray[np.float64]:
        """E[M_i | X = j] = w_i e_{k-1}(w without i, j) / e_k(w without j)."""
        w, k = self.weights, self.discards
        expected = np.zeros((len(w), len(w)))
        for i, j in itertools.permutations(range(len(w)), 2):
            other_weights = [weight for place, weight in enumerate(w) if place not in (i, j)]
            expected[i, j] = w[i] * symmetric_sums(other_weights, k - 1)[-1] / self._totals[j]
        return _checks.read_only(expected)

    def _second_moments(self) -> NDArray[np.float64]:
        """w_a w_b e_{k-2}(w without a, b, j) / e_k(w without j) for two false categories a and b."""
        w, k, t = self.weights, self.discards, len(self.weights)
        all_moments = np.zeros((t, t, t))
        for j in range(t):
            np.fill_diagonal(all_moments[j], self.expected_statistic[:, j])
            others = [place for place in range(t) if place != j]
            for a, b in itertools.combinations(others, 2) if k > 1 else ():
                other_weights = [weight for place, weight in enumerate(w) if place not in (a, b, j)]
                all_moments[j, a, b] = all_moments[j, b, a] = (
                    w[a] * w[b] * symmetric_sums(other_weights, k - 2)[-1] / self._totals[j]
                )
        return all_moments


def symmetric_sums(weights: Sequence[int], k: int) -> list[int]:
    """Elementary symmetric polynomials e_0 … e_k of the weights.

    Examples
    --------
    >>> symmetric_sums((1, 2, 3), 2)
    [1, 6, 11]
    """
    sums = [1] + [0] * k
    for weight in weights:
        for size in range(k, 0, -1):
            sums[size] += weight * sums[size - 1]
    return sums


def _set_bits(codes: Codes, positions: NDArray[np.int64], is_taken: NDArray[np.bool_]) -> None:
    """Add each taken position to the set of its row."""
    if codes.shape[1] == 1:
        codes[:, 0] |= is_taken.astype(np.int64) << positions
    else:
        codes[np.arange(len(codes)), positions // WORD] |= is_taken.astype(np.int64) << (positions % WORD)
