"""Unbiased estimation: each answer becomes an unbiased indicator u of its respondent's category.

With T(y) the statistic of an answer y, u = c + B T(y), E[u | X = j] = e_j (the unit vector) and Σu = 1. So the mean
of u is unbiased for the proportions, whatever the mix of designs and levels. The structure of the design decides how
B is computed (closed form, inverse, or least squares under Σπ = 1); each way gives a map of this one form.

Under a pure design it is enough how many answers speak for each category (`Named`), in O(t): the mean of T_j, whether
an answer speaks for category j, is λ_j = β + α π_j: a category's proportion depends only on the share λ_j of answers
that speak for it, and π_j = (λ_j - β) / α. For n people drawn at random the number of such answers is binomial.

Where an answer speaks for one category only, the log-likelihood Σ n_j log(β + α π_j) is a sum over categories. At its
maximum every positive π_j has the same slope, so that π_j = n_j / μ - β / α with one μ for all. The numbers equal
those of the general estimators.

Variances are made of the `second_moments` of T under a design, listed or in closed form.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, singledispatch

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay._values import Floats, Label
from naysay.design.algebra import Mixture, Remembered
from naysay.design.base import Product, Then
from naysay.design.channels import Subset, WeightedSubset, symmetric_sums
from naysay.design.pure import AffineHash, SubsetSelection, Unary
from naysay.errors import DataError, NotEstimable
from naysay.estimate.likelihood import Maximum, check_rank, likelihood_covariance, tangent
from naysay.sampling import Sampled
from naysay.tally import Channel, Part, Sums, Tally

_SOLUTIONS = ("mean", "least_squares")
_SUMS = ("count", "weight", "weight_squared")


@dataclass(frozen=True)
class LinearMap:
    """u = constant + slope @ T.

    Parameters
    ----------
    constant : (t,) float
    slope : (t, d) float
    structure : str
        How it was found: closed form, inverse, constrained least squares, or mean of answers.
    """

    constant: Floats
    slope: Floats
    structure: str

    def __call__(self, statistic: Floats) -> Floats:
        return self.constant + statistic @ self.slope.T


@dataclass(frozen=True)
class Indicators:
    """The unbiased indicators of distinct answers, and how many people gave them.

    Parameters
    ----------
    u : (distinct, t) float
    count : (distinct,) float
    weight, weight_squared : (distinct,) float
        Sums of survey weights and of their squares; without survey weights both equal the count.
    sampled : Sampled
        How these people were sampled.
    """

    u: Floats
    count: Floats
    weight: Floats
    weight_squared: Floats
    sampled: Sampled

    @property
    def n(self) -> float:
        """Respondents."""
        return float(self.count.sum())

    @property
    def effective(self) -> float:
        """Unweighted answers that would be as precise (Kish 1965)."""
        return float(self.weight.sum() ** 2 / self.weight_squared.sum())

    @property
    def mean(self) -> Floats:
        """The weighted mean of u, (t,): the estimate."""
        return np.asarray(self.weight @ self.u / self.weight.sum())

    @classmethod
    def of(cls, part: Part, sampled: Sampled) -> Indicators:
        """The unbiased indicators of a part's answers."""
        count, weight, squared = (getattr(part, name).astype(float) for name in _SUMS)
        return cls(unbiased(part), count, weight, squared, sampled)

    @property
    def influence(self) -> Floats:
        """The change of the mean per unit of weight on each answer, (distinct, t)."""
        return np.asarray((self.u - self.mean) / self.weight.sum())

    def covariance(self, target: str) -> Floats:
        """Estimated covariance of the mean (t, t), linearized.

        For a population it is the covariance under the sampling; for independent people this is
        n/(n-1) Σw²(u - ū)(u - ū)ᵀ/(Σw)². The correction for a finite population must not shrink the randomization, so
        that part is put back. For a file, where only the randomization is random, it is Σw²(uuᵀ - Diag u)/(Σw)².
        """
        if target == "file":
            return self.randomization(self.weight_squared)
        if self.n < 2:
            return np.full((self.u.shape[1],) * 2, np.nan)
        return np.asarray(self.sampled.covariance(self.influence) + self.randomization(self.sampled.kept))

    def randomization(self, squared: Floats) -> Floats:
        """The covariance (t, t) that the randomization of answers adds, for sums of squared weights (distinct,)."""
        if not squared.any():
            return np.zeros((self.u.shape[1],) * 2)
        covariance = self.u.T @ (self.u * squared[:, None]) - np.diag(squared @ self.u)
        return np.asarray(covariance / self.weight.sum() ** 2)

    @property
    def variances(self) -> Floats:
        """Estimated variances of the mean for a population, (t,)."""
        return np.asarray(np.diagonal(self.covariance("population")))


def indicator_variances(design: Channel) -> Floats:
    """Variance of one answer's unbiased indicator of each category, (t,), if all categories are equally common.

    Divided by n, it is the variance of the estimated proportion. The responses must be few enough to list.

    Raises
    ------
    NotEstimable
        If the design cannot tell some proportions apart.
    """
    u = linear_map(design)(design.space.statistic(design.space.listing()))
    return _variances(u, design.matrix)


def linear_map(design: Channel, solution: str | None = None) -> LinearMap:
    """The unbiased linear map of a design.

    Where there are more answers than categories, several maps are unbiased. For two categories and numbers as answers,
    such as counts of red cards, the default is the map with the smaller variance when both categories are equally
    common. The design alone makes this choice, not the answers, so the estimate stays unbiased.

    Parameters
    ----------
    design : Channel
    solution : {"mean", "least_squares"}, optional
        The mean of the numbers that were answered, or least squares on the frequencies of the answers.

    Raises
    ------
    NotEstimable
        If the design cannot tell some proportions apart; the error holds the contrast and the rank.
    DataError
        If the solution is unknown, or is "mean" for a design without two categories and three or more numeric answers.
    """
    if solution not in (None, *_SOLUTIONS):
        raise DataError(f"solution must be {' or '.join(map(repr, _SOLUTIONS))}; got {solution!r}")
    if solution is None and design.structure.pure and design.structure.plainly_apart:
        return _usual_map(design)
    expected_statistic = design.expected_statistic
    if not design.structure.plainly_apart:
        check_rank(expected_statistic, design.categories)
    mean_map = _mean_of_answers(design, expected_statistic) if solution != "least_squares" else None
    if solution == "mean":
        if mean_map is None:
            raise DataError("the mean is for two categories and answers that are numbers, such as in kuk(draws=5)")
        return mean_map
    usual_map = _usual_map(design) if solution is None else _least_squares(design, expected_statistic)
    if mean_map is None:
        return usual_map
    return min(
        usual_map,
        mean_map,
        key=lambda candidate_map: float(
            _variances(candidate_map(np.eye(len(expected_statistic))), expected_statistic)[0]
        ),
    )


class LinearMaps:
    """The unbiased maps of the parts of a tally, each made once, when it is first asked for.

    Parameters
    ----------
    solution : {"mean", "least_squares"}, optional
        See `linear_map`.
    """

    def __init__(self, solution: str | None = None) -> None:
        self.solution = solution
        self._maps: dict[Label, tuple[Channel, LinearMap]] = {}

    def __call__(self, part: Part) -> LinearMap:
        """The map of the design of a part."""
        design, mapping = self._maps.get(part.level, (None, None))
        if mapping is None or design is not part.design:
            mapping = linear_map(part.design, self.solution)
            self._maps[part.level] = part.design, mapping
        return mapping


def _usual_map(design: Channel) -> LinearMap:
    """The map in closed form, by the inverse, or by least squares under Σπ = 1."""
    if design.structure.even_mean is not None:
        (alpha, beta), t = design.structure.even_mean, len(design.categories)
        return LinearMap(np.full(t, -beta / alpha), np.eye(t) / alpha, "closed form")
    return _least_squares(design, design.expected_statistic)


def _least_squares(design: Channel, expected: Floats) -> LinearMap:
    t = expected.shape[1]
    if design.space.one_label and len(expected) == t:
        return LinearMap(np.zeros(t), scipy.linalg.inv(expected), "inverse")
    basis = tangent(t)
    reduced_statistic = expected @ basis
    cholesky_factor = scipy.linalg.cho_factor(reduced_statistic.T @ reduced_statistic)
    slope = basis @ scipy.linalg.cho_solve(cholesky_factor, reduced_statistic.T)
    even_shares = np.full(t, 1 / t)
    return LinearMap(even_shares - slope @ (expected @ even_shares), slope, "constrained least squares")


def _mean_of_answers(design: Channel, expected: Floats) -> LinearMap | None:
    """The map (y - E[y | 2]) / (E[y | 1] - E[y | 2]), for two categories and more than two answers that are numbers."""
    labels = design.space.labels
    are_numbers = all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels)
    if not design.space.one_label or expected.shape[1] != 2 or len(labels) < 3 or not are_numbers:
        return None
    answer_numbers = np.array(labels, dtype=float)
    first_mean, second_mean = answer_numbers @ expected
    if abs(first_mean - second_mean) < 1e-12 * np.abs(answer_numbers).max():
        return None
    slope = answer_numbers / (first_mean - second_mean)
    low = second_mean / (first_mean - second_mean)
    return LinearMap(np.array([-low, 1 + low]), np.vstack([slope, -slope]), "mean of answers")


def _variances(u: Floats, chances: Floats) -> Floats:
    """Variance of the indicators of one answer, (t,), if all categories are equally common."""
    chance = chances.mean(axis=1)
    return np.asarray(chance @ u**2 - (chance @ u) ** 2)


def indicators(tally: Tally, map_of: Callable[[Part], LinearMap] | None = None) -> Indicators:
    """The unbiased indicators of all distinct answers in all parts of a tally; `map_of` gives the map of a part."""
    answered_parts = [part for part in tally.parts if part.n]
    u = np.vstack([unbiased(part, map_of) for part in answered_parts])
    count, weight, weight_squared = (
        np.concatenate([getattr(part, array_name) for part in answered_parts]).astype(float) for array_name in _SUMS
    )
    has_weight = weight > 0
    return Indicators(
        u[has_weight], count[has_weight], weight[has_weight], weight_squared[has_weight], tally.sampled.take(has_weight)
    )


def unbiased(part: Part, map_of: Callable[[Part], LinearMap] | None = None) -> Floats:
    """The unbiased indicators (distinct, t) of one part's answers; by default under the usual map of its design."""
    try:
        statistic = part.design.space.statistic(part.codes)
        if np.isnan(statistic).any():
            raise DataError("answers to only one of two questions have no unbiased indicator; use maximum_likelihood")
        return (linear_map(part.design) if map_of is None else map_of(part))(statistic)
    except NotEstimable as error:
        if part.level is None:
            raise
        raise NotEstimable(f"at level {part.level!r} {error}", contrast=error.contrast, rank=error.rank) from None


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

    part: Part | Sums
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

    def spread(self, target: str) -> Floats:
        """The variances (t,) for a target; for a file only the randomization is random: Σ w² (u² - u) / (Σ w)²."""
        if target == "population":
            return self.variances
        squares = (self.squared * (1 - 2 * self.beta) + self.beta**2 * self.heavy) / self.alpha**2
        return np.asarray((squares - (self.squared - self.beta * self.heavy) / self.alpha) / self.weight**2)

    def covariance(self, target: str) -> Floats:
        """The covariance (t, t) for a target: its diagonal is that of the answers.

        The rest is what the answers show, or where only sums are known, what the design implies at the estimate.
        """
        t = len(self.counts)
        if t * t > _LARGEST:
            raise NotEstimable(f"the covariance of {t:,} proportions has too many entries; see standard_errors")
        if isinstance(self.part, Sums) or len(self.part.codes) * t > _LARGEST:
            mean_products, weighted_shares = products(self.part.design, self.mean), self.share
            if mean_products is None:
                raise NotEstimable("from sums of an open domain only variances are known; tally with sums=False")
        else:
            statistic = self.part.design.space.statistic(self.part.codes)
            mean_products = statistic.T @ (statistic * self.part.weight_squared[:, None]) / self.heavy
            weighted_shares = self.squared / self.heavy
        # Σ w² (T_i - c_i)(T_j - c_j), with c the mean for a population, and q* for a file, where people are not drawn
        statistic_center = self.share if target == "population" else np.full(t, self.beta)
        cross_terms = np.outer(statistic_center, weighted_shares)
        covariance = (
            (mean_products - cross_terms - cross_terms.T + np.outer(statistic_center, statistic_center))
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
        answer_moves = np.array([0.0, -1 / self.alpha])
        if alike:
            proportion_shifts = share / (1 - share) * (proportions + self.beta / self.alpha + answer_moves[:, None])
        else:
            move_ends = np.sort(answer_moves) + self.beta / self.alpha + np.array([0.0, 1.0])
            proportion_shifts = np.broadcast_to(share * move_ends[:, None], (2, len(self.counts)))
        low_shifts = np.minimum(proportion_shifts.min(axis=0), 0.0)
        high_shifts = np.maximum(proportion_shifts.max(axis=0), 0.0)
        return np.asarray(np.clip(np.column_stack([proportions + low_shifts, proportions + high_shifts]), 0.0, 1.0))

    @cached_property
    def maximum(self) -> Maximum:
        """The proportions that make the answers most likely, with the certificate of the general solver."""
        proportions, undetermined = self._most_likely()
        fitted_shares, is_observed = self.beta + self.alpha * proportions, self.counts > 0
        slope = np.divide(self.share, fitted_shares, out=np.zeros_like(fitted_shares), where=is_observed)
        gap = max(float(self.beta * slope.sum() + (self.alpha * slope).max()) - 1, 0.0)
        log_likelihood = float(self.counts[is_observed] @ np.log(fitted_shares[is_observed]))
        return Maximum(proportions, log_likelihood, gap, self.n * gap, 1, undetermined)

    def _most_likely(self) -> tuple[Floats, Floats]:
        t, unnamed_places = len(self.counts), np.flatnonzero(self.counts == 0)
        proportions, undetermined = np.zeros(t), np.zeros((t, 0))
        # categories that nobody ruled out take everything; the data do not tell the split
        if self.alpha < 0 and len(unnamed_places):
            proportions[unnamed_places] = 1 / len(unnamed_places)
            if len(unnamed_places) > 1:
                undetermined = np.zeros((t, len(unnamed_places) - 1))
                undetermined[unnamed_places] = tangent(len(unnamed_places))
            return proportions, undetermined
        # With α > 0 the most named categories are positive, with α < 0 the least named; the first m of them as long as
        # the m-th stays positive, where Σ n_j / μ - m β / α = 1 over them gives μ.
        count_order = np.argsort(-np.sign(self.alpha) * self.counts, kind="stable")
        sorted_counts, positive_counts, ratio = self.counts[count_order], np.arange(1, t + 1), self.beta / self.alpha
        with np.errstate(divide="ignore"):  # a negative survey has no solution with one positive category
            mu = np.cumsum(sorted_counts) / (1 + positive_counts * ratio)
        is_valid = np.isfinite(mu) & (mu * np.sign(self.alpha) > 0)
        is_positive = is_valid & (np.divide(sorted_counts, mu, out=np.zeros(t), where=is_valid) - ratio > 0)
        last_place = int(np.flatnonzero(is_positive)[-1])
        positive_places = count_order[: last_place + 1]
        proportions[positive_places] = np.maximum(self.counts[positive_places] / mu[last_place] - ratio, 0.0)
        return proportions / proportions.sum(), undetermined

    @property
    def likelihood_variances(self) -> Floats:
        """Variances of the likelihood estimate from the observed information, (t,); NaN where it is not determined.

        On the directions that keep Σπ = 1 the information is diagonal: α² n_j / λ_j². Categories that nobody named add
        no information, so that they share evenly what the others leave; this is the pseudo-inverse.
        """
        fitted_shares = self.beta + self.alpha * self.maximum.proportions
        is_observed = self.counts > 0
        free_variances = np.divide(
            (fitted_shares / self.alpha) ** 2, self.counts, out=np.zeros_like(fitted_shares), where=is_observed
        )
        unnamed_count = int((~is_observed).sum())
        variances = (
            np.where(is_observed, free_variances, free_variances.sum() / max(unnamed_count, 1) ** 2)
            if unnamed_count
            else free_variances - free_variances**2 / free_variances.sum()
        )
        return np.asarray(np.where(self.maximum.open, np.nan, variances))


def named(part: Part | Sums) -> Named:
    """How many answers speak for each category, from a part of a tally whose design is pure.

    Raises
    ------
    NotEstimable
        Every response is equally likely for every true category.
    """
    categories, t = part.design.categories, len(part.design.categories)
    alpha, beta = part.design.structure.even_mean or (0.0, 1 / t)
    if alpha == 0:
        first_category, second_category = categories[:2]
        raise NotEstimable(
            f"the answers cannot tell {first_category} from {second_category}, nor any other categories: "
            f"every response is as likely whatever the truth (rank 0, {t - 1} needed); change the design",
            contrast=[1.0, -1.0, *[0.0] * (t - 2)],
            rank=0,
        )
    named_counts, named_squares = part.total()
    return Named(part, named_counts.astype(float), named_squares.astype(float), alpha, beta)


def efficient_indicators(rows: Floats, weights: Floats, sampled: Sampled, maximum: Maximum) -> Indicators:
    """Each answer's indicator of its category under the model: π plus its influence on the estimate.

    Their mean is the estimate and their spread gives its variance, as with the unbiased indicators of moments.
    """
    inverse_information = likelihood_covariance(rows, weights, sampled, maximum)
    answer_scores = rows / (rows @ maximum.proportions)[:, None] - 1
    u = maximum.proportions + weights.sum() * (answer_scores @ inverse_information)
    return Indicators(u, weights, weights, sampled.squared, sampled)


_ENTRIES = 30_000_000  # largest array of second moments, in entries (240 MB)


def second_moments(design: Channel) -> Floats | None:
    """E[T Tᵀ | X = j] of the linear statistic T for each category j, (t, d, d).

    None where it would be too large, or where there are too many responses to list and there is no closed form.
    """
    if design.space.dimension**2 * len(design.categories) > _ENTRIES:
        return None
    return _second_moments(design)


@singledispatch
def products(design: Channel, measure: Floats) -> Floats | None:
    """Σ_j measure_j E[T Tᵀ | X = j], (d, d); None where `second_moments` is None and there is no closed form."""
    moments = second_moments(design)
    return None if moments is None else np.asarray(np.tensordot(measure, moments, axes=1))


@products.register
def _(design: Remembered, measure: Floats) -> Floats | None:
    return products(design.wave, measure)


@products.register
def _(design: SubsetSelection, measure: Floats) -> Floats:
    t, k, total = len(design.categories), design.size, measure.sum()
    p, q = map(float, design.named_chances)
    chance_with_truth = p * (k - 1) / (t - 1)
    chance_of_others = (p * (k - 1) * (k - 2) + (1 - p) * k * (k - 1)) / ((t - 1) * (t - 2)) if t > 2 else 0.0
    pair = measure[:, None] + measure
    return _pairs(pair * chance_with_truth, (total - pair) * chance_of_others, q * total + (p - q) * measure)


@products.register
def _(design: Unary, measure: Floats) -> Floats:
    """Bits are independent given the category: E[T_u T_v] = q² + (π_u + π_v) q (p - q)."""
    p, q = map(float, design.named_chances)
    total = measure.sum()
    product_matrix = q * q * total + q * (p - q) * (measure[:, None] + measure)
    np.fill_diagonal(product_matrix, q * total + (p - q) * measure)
    return np.asarray(product_matrix)


@products.register
def _(design: AffineHash, measure: Floats) -> Floats | None:
    """E[T_u T_v] depends on the share of the line through u and v: hashes that agree there agree on all of it."""
    if design.named:
        return None  # the line through two names holds texts that are no candidates
    g, vector_count, category_numbers = design.base, design.base**design.space.digits, design.space.numbers
    p, other_chance = design.inside / design.whole, design.outside / design.whole
    chance_of_two = (vector_count // g - 1) / (vector_count - 1)
    chance_of_three = (vector_count // g**2 - 1) / (vector_count - 1) if design.space.digits > 1 else 0.0
    line_sums = measure[:, None] + measure
    padded_measure = np.zeros(vector_count)
    padded_measure[: len(measure)] = measure
    for step in range(2, g):
        line_sums += padded_measure[_combine_digits(category_numbers, step, g)]
    alike = chance_of_three * p + (chance_of_two - chance_of_three) * other_chance
    _, q = map(float, design.named_chances)
    diagonal_moments = q * measure.sum() + (p - q) * measure
    return _pairs(
        alike * measure.sum(), (chance_of_two - chance_of_three) * (p - other_chance) * line_sums, diagonal_moments
    )


def _combine_digits(numbers: NDArray[np.int64], step: int, base: int) -> NDArray[np.int64]:
    """U + step (v - u), digit by digit modulo the base, for all pairs of numbers."""
    combined_numbers, digit_weight, digits_left = np.zeros((len(numbers),) * 2, dtype=np.int64), 1, numbers
    while digits_left.any():
        digits_left, last_digits = np.divmod(digits_left, base)
        combined_numbers += digit_weight * ((last_digits[:, None] + step * (last_digits - last_digits[:, None])) % base)
        digit_weight *= base
    return combined_numbers


def _pairs(alike: Floats | float, apart: Floats | float, diagonal: Floats) -> Floats:
    """A matrix with these entries off its diagonal, `alike` + `apart`, and with this diagonal."""
    result = np.array(np.broadcast_to(alike + apart, (len(diagonal),) * 2))
    np.fill_diagonal(result, diagonal)
    return result


@singledispatch
def _second_moments(design: Channel) -> Floats | None:
    if not design.structure.listed:
        return None
    codes = design.space.listing()
    statistic = design.space.statistic(codes)
    return np.asarray(np.einsum("yj,ya,yb->jab", design.rows(codes), statistic, statistic, optimize=True))


@_second_moments.register
def _(design: Remembered) -> Floats | None:
    return second_moments(design.wave)


@_second_moments.register
def _(design: Mixture) -> Floats | None:
    component_moments = [second_moments(component) for component in design.components]
    weighted_moments = [
        weight * moments
        for weight, moments in zip(design.weights, component_moments, strict=True)
        if moments is not None
    ]
    return (
        np.asarray(sum(weighted_moments)) / sum(design.weights)
        if len(weighted_moments) == len(component_moments)
        else None
    )


@_second_moments.register
def _(design: Then) -> Floats | None:
    last = second_moments(design.second)
    return None if last is None else np.asarray(np.tensordot(design.first.matrix.T, last, axes=1))


@_second_moments.register
def _(design: Product) -> Floats | None:
    of_first, of_second = second_moments(design.first), second_moments(design.second)
    if of_first is None or of_second is None:
        return None
    size = of_first.shape[1] * of_second.shape[1]
    pair_moments = np.einsum("iab,jcd->ijacbd", of_first, of_second)
    return np.asarray(pair_moments.reshape(len(design.categories), size, size))


@_second_moments.register
def _(design: Subset) -> Floats:
    """k(k-1)/(m(m-1)) off the diagonal and k/m on it, for m candidates; 0 for the true category."""
    t, k, m = len(design.categories), design.discards, design.candidates
    joint_chances = np.full((t, t), k * (k - 1) / (m * (m - 1)) if m > 1 else 0.0)
    np.fill_diagonal(joint_chances, k / m)
    all_moments = np.tile(joint_chances, (t, 1, 1))
    if design.truthful:
        category_places = np.arange(t)
        all_moments[category_places, category_places, :] = 0.0
        all_moments[category_places, :, category_places] = 0.0
    return all_moments


@_second_moments.register
def _(design: WeightedSubset) -> Floats:
    """w_a w_b e_{k-2}(w without a, b, j) / e_k(w without j) for two false categories a and b."""
    w, k, t = design.weights, design.discards, len(design.weights)
    all_moments = np.zeros((t, t, t))
    for j in range(t):
        np.fill_diagonal(all_moments[j], design.expected_statistic[:, j])
        other_places = [place for place in range(t) if place != j]
        for a, b in itertools.combinations(other_places, 2) if k > 1 else ():
            other_weights = [weight for place, weight in enumerate(w) if place not in (a, b, j)]
            all_moments[j, a, b] = all_moments[j, b, a] = (
                w[a] * w[b] * symmetric_sums(other_weights, k - 2)[-1] / design.totals[j]
            )
    return all_moments
