"""How many people named each category under a design that is stored as one pattern, and its estimates in O(t).

P = αI + β11ᵀ, so a category's proportion depends only on the share λ_j of answers that name it: π_j = (λ_j - β) / α.
The log-likelihood Σ n_j log(β + α π_j) is a sum over categories. At its maximum every positive π_j has the same slope,
so that π_j = n_j / μ - β / α with one μ for all. The numbers equal those of the general estimators.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from naysay.errors import NotEstimable
from naysay.estimate.information import Maximum
from naysay.estimate.linear import Floats, tangent
from naysay.tally import Tally

__all__ = ["Named", "named"]


@dataclass(frozen=True)
class Named:
    """How many people named each category, under a design αI + β11ᵀ.

    Parameters
    ----------
    counts : (t,) float
    alpha, beta : float
    """

    counts: Floats
    alpha: float
    beta: float

    @property
    def n(self) -> float:
        """Respondents."""
        return float(self.counts.sum())

    @property
    def weight(self) -> Floats:
        """The counts, (t,), because there are no survey weights."""
        return self.counts

    @property
    def weight_squared(self) -> Floats:
        """The counts, (t,)."""
        return self.counts

    @property
    def share(self) -> Floats:
        """λ, the share of the answers that name each category, (t,)."""
        return np.asarray(self.counts / self.n)

    @property
    def low(self) -> Floats:
        """Each category's indicator for an answer that names another category, (t,)."""
        return np.full(len(self.counts), -self.beta / self.alpha)

    @property
    def high(self) -> Floats:
        """Each category's indicator for an answer that names it, (t,)."""
        return np.full(len(self.counts), (1 - self.beta) / self.alpha)

    @property
    def mean(self) -> Floats:
        """The unbiased proportions, (t,)."""
        return np.asarray((self.share - self.beta) / self.alpha)

    @property
    def variances(self) -> Floats:
        """Estimated variances of the unbiased proportions, (t,)."""
        if self.n < 2:
            return np.full(len(self.counts), np.nan)
        return np.asarray(self.share * (1 - self.share) / (self.alpha**2 * (self.n - 1)))

    def noncompliance(self, share: float, *, alike: bool) -> Floats:
        """The band (t, 2) if a share of the respondents gave any answer; see `noncompliance_band`.

        Their answer y moves π_j by -share [y = j] / α. Their hidden category moves it back. If they may be any people,
        that is by share (κ_j + β / α); if they are like all others, by what remains of the estimate itself.
        """
        said = np.array([0.0, -1 / self.alpha])
        if alike:
            moved = share / (1 - share) * (self.share / self.alpha + said[:, None])
        else:
            ends = np.sort(said) + self.beta / self.alpha + np.array([0.0, 1.0])
            moved = np.broadcast_to(share * ends[:, None], (2, len(self.counts)))
        low, high = np.minimum(moved.min(axis=0), 0.0), np.maximum(moved.max(axis=0), 0.0)
        return np.asarray(np.clip(np.column_stack([self.mean + low, self.mean + high]), 0.0, 1.0))

    @cached_property
    def maximum(self) -> Maximum:
        """The proportions that make the answers most likely, with the certificate of the general solver."""
        proportions, undetermined = self._most_likely()
        fitted, seen = self.beta + self.alpha * proportions, self.counts > 0
        slope = np.divide(self.share, fitted, out=np.zeros_like(fitted), where=seen)
        gap = max(float(self.beta * slope.sum() + (self.alpha * slope).max()) - 1, 0.0)
        value = float(self.counts[seen] @ np.log(fitted[seen]))
        return Maximum(proportions, value, gap, self.n * gap, 1, undetermined)

    def _most_likely(self) -> tuple[Floats, Floats]:
        t, unnamed = len(self.counts), np.flatnonzero(self.counts == 0)
        proportions, undetermined = np.zeros(t), np.zeros((t, 0))
        # categories that nobody ruled out take everything; the data do not tell the split
        if self.alpha < 0 and len(unnamed):
            proportions[unnamed] = 1 / len(unnamed)
            if len(unnamed) > 1:
                undetermined = np.zeros((t, len(unnamed) - 1))
                undetermined[unnamed] = tangent(len(unnamed))
            return proportions, undetermined
        # With α > 0 the most named categories are positive, with α < 0 the least named; the first m of them as long as
        # the m-th stays positive, where Σ n_j / μ - m β / α = 1 over them gives μ.
        order = np.argsort(-np.sign(self.alpha) * self.counts, kind="stable")
        sorted_, many, ratio = self.counts[order], np.arange(1, t + 1), self.beta / self.alpha
        with np.errstate(divide="ignore"):  # a negative survey has no solution with one positive category
            mu = np.cumsum(sorted_) / (1 + many * ratio)
        valid = np.isfinite(mu) & (mu * np.sign(self.alpha) > 0)
        positive = valid & (np.divide(sorted_, mu, out=np.zeros(t), where=valid) - ratio > 0)
        last = int(np.flatnonzero(positive)[-1])
        kept = order[: last + 1]
        proportions[kept] = np.maximum(self.counts[kept] / mu[last] - ratio, 0.0)
        return proportions / proportions.sum(), undetermined

    @property
    def likelihood_variances(self) -> Floats:
        """Variances of the likelihood estimate from the observed information, (t,); NaN where it is not determined.

        On the directions that keep Σπ = 1 the information is diagonal: α² n_j / λ_j². Categories that nobody named add
        no information, so that they share evenly what the others leave; this is the pseudo-inverse.
        """
        fitted = self.beta + self.alpha * self.maximum.proportions
        seen = self.counts > 0
        each = np.divide((fitted / self.alpha) ** 2, self.counts, out=np.zeros_like(fitted), where=seen)
        rest = int((~seen).sum())
        variances = np.where(seen, each, each.sum() / max(rest, 1) ** 2) if rest else each - each**2 / each.sum()
        return np.asarray(np.where(self.maximum.open, np.nan, variances))


def named(tally: Tally) -> Named:
    """How many people named each category, from a tally of a design that is one pattern.

    Raises
    ------
    NotEstimable
        Every response is equally likely for every true category.
    """
    part, t = tally.parts[0], len(tally.categories)
    alpha, beta = part.design.even_mean or (0.0, 1 / t)
    if alpha == 0:
        first, second = tally.categories[:2]
        raise NotEstimable(
            f"the answers cannot tell {first} from {second}, nor any other categories: every response is as likely "
            f"whatever the truth (rank 0, {t - 1} needed); change the design",
            contrast=[1.0, -1.0, *[0.0] * (t - 2)],
            rank=0,
        )
    counts = np.zeros(t)
    counts[part.codes[:, 0]] = part.count
    return Named(counts, alpha, beta)
