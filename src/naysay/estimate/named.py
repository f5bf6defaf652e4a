"""How many answers speak for each category, and the estimates that follow from that alone, in O(t).

Under a pure design the mean of T_j, whether an answer speaks for category j, is λ_j = β + α π_j: a category's
proportion depends only on the share λ_j of answers that speak for it, and π_j = (λ_j - β) / α. For n people drawn at
random the number of such answers is binomial.

Where an answer speaks for one category only, the log-likelihood Σ n_j log(β + α π_j) is a sum over categories. At its
maximum every positive π_j has the same slope, so that π_j = n_j / μ - β / α with one μ for all. The numbers equal those
of the general estimators.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from naysay.errors import NotEstimable
from naysay.estimate.information import Maximum
from naysay.estimate.linear import Floats, tangent

_LARGEST = 30_000_000  # largest covariance, in entries (240 MB)


@dataclass(frozen=True)
class Named:
    """How many answers speak for each category, under a pure design with mean αI + β11ᵀ.

    Parameters
    ----------
    part : Part or Sums
        The answers, or their sums.
    counts, squared : (t,) float
        Σ w and Σ w² over the answers that speak for each category; both are their number if there are no weights.
    alpha, beta : float
    """

    part: Any
    counts: Floats
    squared: Floats
    alpha: float
    beta: float

    @property
    def n(self) -> float:
        """Respondents."""
        return float(self.part.n)

    @cached_property
    def weight(self) -> float:
        """Σ w, the sum of the weights of all respondents."""
        return float(self.part.weight.sum())

    @cached_property
    def heavy(self) -> float:
        """Σ w²."""
        return float(self.part.weight_squared.sum())

    @property
    def effective(self) -> float:
        """Unweighted answers that would be as precise (Kish 1965)."""
        return self.weight**2 / self.heavy

    @property
    def share(self) -> Floats:
        """λ, the share of the answers that speak for each category, (t,)."""
        return np.asarray(self.counts / self.weight)

    @property
    def low(self) -> Floats:
        """Each category's indicator for an answer that does not speak for it, (t,)."""
        return np.full(len(self.counts), -self.beta / self.alpha)

    @property
    def high(self) -> Floats:
        """Each category's indicator for an answer that speaks for it, (t,)."""
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
        if self.heavy == self.weight == self.n:
            return np.asarray(self.share * (1 - self.share) / (self.alpha**2 * (self.n - 1)))
        squared_deviations = self.squared * (1 - 2 * self.share) + self.share**2 * self.heavy
        return np.asarray(self.n / (self.n - 1) * squared_deviations / (self.alpha * self.weight) ** 2)

    @property
    def file_variances(self) -> Floats:
        """The same for a file, where only the randomization is random: Σ w² (u² - u) / (Σ w)², unbiased, (t,)."""
        squares = (self.squared * (1 - 2 * self.beta) + self.beta**2 * self.heavy) / self.alpha**2
        return np.asarray((squares - (self.squared - self.beta * self.heavy) / self.alpha) / self.weight**2)

    def spread(self, target: str) -> Floats:
        """The variances (t,) for a target."""
        return self.file_variances if target == "file" else self.variances

    def covariance(self, target: str) -> Floats:
        """The covariance (t, t) for a target: its diagonal is that of the answers.

        The rest is what the answers show, or where only sums are known, what the design implies at the estimate.
        """
        t = len(self.counts)
        if t * t > _LARGEST:
            raise NotEstimable(f"the covariance of {t:,} proportions has too many entries; see standard_errors")
        if self.part.summed or self.part.distinct * t > _LARGEST:
            products, heavy = self.part.design.products(self.mean), self.share
            if products is None:
                raise NotEstimable("from sums of an open domain only variances are known; tally with sums=False")
        else:
            statistic = self.part.design.space.statistic(self.part.codes)
            products, heavy = (
                statistic.T @ (statistic * self.part.weight_squared[:, None]) / self.heavy,
                self.squared / self.heavy,
            )
        # Σ w² (T_i - c_i)(T_j - c_j), with c the mean for a population, and q* for a file, where people are not drawn
        centre = self.share if target == "population" else np.full(t, self.beta)
        cross_terms = np.outer(centre, heavy)
        covariance = (
            (products - cross_terms - cross_terms.T + np.outer(centre, centre))
            * self.heavy
            / (self.alpha * self.weight) ** 2
        )
        if target == "population":
            covariance *= self.n / max(self.n - 1, 1)
        np.fill_diagonal(covariance, self.spread(target))
        return np.asarray(covariance)

    def noncompliance(self, proportions: Floats, share: float, *, alike: bool) -> Floats:
        """The band (t, 2) around proportions if a share of the respondents gave any answer; see `noncompliance_band`.

        Their answer y moves π_j by -share [y speaks for j] / α. Their hidden category moves it back. If they may be any
        people, that is by share (κ_j + β / α); if they are like all others, by what remains of the estimate itself.
        """
        extremes = np.array([0.0, -1 / self.alpha])
        if alike:
            shifts = share / (1 - share) * (proportions + self.beta / self.alpha + extremes[:, None])
        else:
            ends = np.sort(extremes) + self.beta / self.alpha + np.array([0.0, 1.0])
            shifts = np.broadcast_to(share * ends[:, None], (2, len(self.counts)))
        low, high = np.minimum(shifts.min(axis=0), 0.0), np.maximum(shifts.max(axis=0), 0.0)
        return np.asarray(np.clip(np.column_stack([proportions + low, proportions + high]), 0.0, 1.0))

    @cached_property
    def maximum(self) -> Maximum:
        """The proportions that make the answers most likely, with the certificate of the general solver."""
        proportions, undetermined = self._most_likely()
        fitted, is_observed = self.beta + self.alpha * proportions, self.counts > 0
        slope = np.divide(self.share, fitted, out=np.zeros_like(fitted), where=is_observed)
        gap = max(float(self.beta * slope.sum() + (self.alpha * slope).max()) - 1, 0.0)
        value = float(self.counts[is_observed] @ np.log(fitted[is_observed]))
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
        positive_places = order[: last + 1]
        proportions[positive_places] = np.maximum(self.counts[positive_places] / mu[last] - ratio, 0.0)
        return proportions / proportions.sum(), undetermined

    @property
    def likelihood_variances(self) -> Floats:
        """Variances of the likelihood estimate from the observed information, (t,); NaN where it is not determined.

        On the directions that keep Σπ = 1 the information is diagonal: α² n_j / λ_j². Categories that nobody named add
        no information, so that they share evenly what the others leave; this is the pseudo-inverse.
        """
        fitted = self.beta + self.alpha * self.maximum.proportions
        is_observed = self.counts > 0
        free_variances = np.divide(
            (fitted / self.alpha) ** 2, self.counts, out=np.zeros_like(fitted), where=is_observed
        )
        unnamed_count = int((~is_observed).sum())
        variances = (
            np.where(is_observed, free_variances, free_variances.sum() / max(unnamed_count, 1) ** 2)
            if unnamed_count
            else free_variances - free_variances**2 / free_variances.sum()
        )
        return np.asarray(np.where(self.maximum.open, np.nan, variances))


def named(part: Any) -> Named:
    """How many answers speak for each category, from a part of a tally whose design is pure.

    Raises
    ------
    NotEstimable
        Every response is equally likely for every true category.
    """
    categories, t = part.design.categories, len(part.design.categories)
    alpha, beta = part.design.even_mean or (0.0, 1 / t)
    if alpha == 0:
        first, second = categories[:2]
        raise NotEstimable(
            f"the answers cannot tell {first} from {second}, nor any other categories: every response is as likely "
            f"whatever the truth (rank 0, {t - 1} needed); change the design",
            contrast=[1.0, -1.0, *[0.0] * (t - 2)],
            rank=0,
        )
    counts, squared = part.total()
    return Named(part, counts.astype(float), squared.astype(float), alpha, beta)
