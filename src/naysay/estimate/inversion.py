"""Intervals by inverting a test: all values of one proportion that it does not reject.

The test of a *profile* is the likelihood ratio: the other proportions are those that are most likely beside the
tested one. The test of a *score* interval is of the mean of the indicators. An estimate is, or is as precise as, the
mean ū of one unbiased indicator u per answer. If π_j = c, then

    n Var(ū_j) = V(c) = Σ_i π_i E[u_j² | X = i] - c²      (for a file - c, without what drawing the people adds)

The design gives E[u_j² | X = i]. Only one thing must be estimated: how the other categories share 1 - c. The interval
{c: n (ū_j - c)² ≤ z² V(c)} lies between the roots of a quadratic; where u_j takes two values it is Wilson's (1927).
We widen it to z standard errors at its center, like Agresti & Coull (1998), so that it also holds near 0 and 1.

The variance is that of the tested value, not of the estimate. Therefore a category that nobody named does not look
certain, while Wald's interval makes it look so. No other share is pressed against a boundary, while a profile can
press it there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay._values import Floats
from naysay.design.drawing import GeneratorSource
from naysay.errors import NaysayError, NotEstimable
from naysay.estimate.fit import Fit
from naysay.estimate.likelihood import answering, information, inverse, maximize, tangent
from naysay.estimate.linear import LinearMaps, linear_map
from naysay.responses.spaces import MISSING
from naysay.tally import Channel, Part, Tally

_BEYOND = 1 + 1e-9  # a share just above 1


def mean_profile(u: Floats, weight: Floats, n: float, quantile: float, extremes: Floats) -> tuple[float, float]:
    """The empirical-likelihood interval of a mean.

    All means c = Σ λ_r u_r with -2 log Π (λ_r / λ̂_r)^{n_r} ≤ quantile. On the upper side λ_r ∝ n_r/(θ - u_r) for some
    θ above every value that an answer could give; if even that θ is not rejected, the rest of the mass goes to that
    extreme answer, even if nobody gave it. (So for a square design this is the profile of the multinomial likelihood.)

    Parameters
    ----------
    u : (distinct,) float
        Values.
    weight : (distinct,) float
        How often each value occurs, or its weight.
    n : float
        The number of answers; the ratio is n times the weighted mean of logs.
    quantile : float
        Of χ² with one degree of freedom, times any variance ratio.
    extremes : (2,) float
        Smallest and largest value that any answer could have given.
    """
    distinct_values, value_places = np.unique(np.asarray(u).round(12), return_inverse=True)
    value_shares = np.bincount(value_places, weight) / weight.sum()
    distinct_values, value_shares = distinct_values[value_shares > 0], value_shares[value_shares > 0]
    upper_end = _upper_end(distinct_values, value_shares, n, quantile, max(float(extremes[1]), distinct_values[-1]))
    lower_end = -_upper_end(
        -distinct_values[::-1], value_shares[::-1], n, quantile, max(-float(extremes[0]), -distinct_values[0])
    )
    return lower_end, upper_end


def _upper_end(values: Floats, share: Floats, n: float, quantile: float, extreme: float) -> float:
    span = float(extreme - values[0])
    if quantile <= 0 or span == 0:
        return float(share @ values)

    def tilted(distance: float) -> tuple[float, float]:
        """Ratio and mean of the tilt whose θ lies `distance` beyond the extreme value."""
        tilted_shares = share / (extreme - values + distance)
        tilted_shares = tilted_shares / tilted_shares.sum()
        return max(float(2 * n * share @ np.log(share / tilted_shares)), 0.0), float(tilted_shares @ values)

    is_observed = extreme <= values[-1]
    if not is_observed:  # θ may fall as far as the extreme value itself; from there on, mass moves to that value
        edge_ratio, edge_mean = tilted(0.0)
        if edge_ratio <= quantile:
            moved_mass = -np.expm1(-(quantile - edge_ratio) / (2 * n))
            return float((1 - moved_mass) * edge_mean + moved_mass * extreme)
    low_log, high_log = np.log(1e-14 * span), np.log(1e8 * span)
    if tilted(np.exp(low_log))[0] <= quantile:
        return extreme if is_observed else tilted(0.0)[1]
    if tilted(np.exp(high_log))[0] >= quantile:
        return float(share @ values)
    root_log = scipy.optimize.brentq(
        lambda log: np.sqrt(tilted(np.exp(log))[0]) - np.sqrt(quantile), low_log, high_log, xtol=1e-10
    )
    return tilted(np.exp(root_log))[1]


def simplex_profile(rows: Floats, weights: Floats, best: Floats, quantile: Floats) -> Floats:
    """Profile-likelihood bounds of every proportion over the simplex, (t, 2).

    It is used in two cases: answers can prove a category, so that no proportion may be negative; or the likelihood
    leaves a split open. With π_j held at c the other proportions are (1 - c)ρ, so that the rows c·L[:, j] + (1 -
    c)·L[:, others] make the profile a maximization of the same kind.

    Parameters
    ----------
    rows, weights : (distinct, t), (distinct,) float
        Likelihood rows and how often each occurred.
    best : (t,) float
        The maximizer.
    quantile : (t,) float
        Of χ² with one degree of freedom, times any variance ratio.
    """
    top = float(weights @ np.log(rows @ best))

    def root_excess(c: float, category: int) -> float:
        """How far the signed root of the likelihood ratio at π_j = c exceeds the root of the quantile."""
        other_rows = np.delete(rows, category, axis=1)
        fixed_share_rows = c * rows[:, [category]] + (1 - c) * other_rows
        if (fixed_share_rows.max(axis=1) <= 0).any():
            return 1e6
        try:
            log_likelihood = maximize(fixed_share_rows, weights, tolerance=1e-3, polish=0).log_likelihood
        except NaysayError:
            return 1e6
        return float(np.sqrt(max(2 * (top - log_likelihood), 0.0)) - np.sqrt(quantile[category]))

    def profile_end(category: int, limit: float) -> float:
        if root_excess(limit, category) <= 0 or root_excess(best[category], category) >= 0:
            return limit
        return float(scipy.optimize.brentq(root_excess, best[category], limit, args=(category,), xtol=1e-6, rtol=1e-6))

    return np.array([[profile_end(category, 0.0), profile_end(category, 1.0)] for category in range(len(best))])


def likelihood_profile(rows: Floats, weights: Floats, start: Floats, quantile: Floats) -> Floats:
    """Profile-likelihood bounds of every proportion over {Σπ = 1, Lπ > 0}, (t, 2).

    Each bound solves for the point where the likelihood, maximized over the other proportions, has fallen by half the
    quantile (Venzon & Moolgavkar 1988).

    Parameters
    ----------
    rows, weights : (distinct, t), (distinct,) float
        Likelihood rows and how often each occurred.
    start : (t,) float
        Proportions with Lπ > 0.
    quantile : (t,) float
        Of χ² with one degree of freedom, times any variance ratio.
    """
    summit = summit_of(rows, weights, start, tangent(rows.shape[1]))
    unit_quantiles = list(zip(np.eye(len(quantile)), quantile.tolist(), strict=True))
    return np.array([[_bound(summit, sign * unit, q) @ unit for sign in (-1.0, 1.0)] for unit, q in unit_quantiles])


def told_summit(rows: Floats, weights: Floats, start: Floats) -> Summit:
    """The free maximum over cells, and the likelihood around it in the directions that the answers tell.

    Parameters
    ----------
    rows, weights : (distinct, cells), (distinct,) float
        Likelihood rows and how often each occurred.
    start : (cells,) float
        Cells with Lc > 0.
    """
    basis = tangent(rows.shape[1])
    _, singular_values, right_vectors = np.linalg.svd(rows @ basis)
    rank = int((singular_values > 1e-11 * max(singular_values.max(initial=0.0), 1.0)).sum())
    return summit_of(rows, weights, start, np.asarray(basis @ right_vectors[:rank].T))


def share_profile(summit: Summit, above: Floats, below: Floats, quantile: float) -> tuple[float, float]:
    """Profile-likelihood bounds of a share of cells, above·c / below·c, over {Σc = 1, Lc > 0}.

    A share r is not rejected if (above - r below)·c can be 0 among the cells that are not rejected (Fieller 1954).
    Where the denominator can be 0 there too, nothing is known: the interval is all of [0, 1]. An interval that lies
    beyond 0 or 1 is given as a point just beyond.

    Parameters
    ----------
    summit : Summit
        Of the likelihood over cells.
    above, below : (cells,) float
        Numerator and denominator.
    quantile : float
        Of χ² with one degree of freedom, times any variance ratio.
    """

    def largest_contrast(contrast: Floats) -> float:
        """The largest contrast·c that is not rejected."""
        return float(contrast @ _bound(summit, contrast, quantile))

    if (below == below[0]).all():  # a plain sum of cells
        return -largest_contrast(-above) / below[0], largest_contrast(above) / below[0]
    if -largest_contrast(-below) <= 0:
        return 0.0, 1.0

    def farthest_contrast(share: float, sign: int) -> float:
        """The largest (sign 1) or smallest (sign -1) value of the contrast that is 0 at this share."""
        return sign * largest_contrast(sign * (above - share * below))

    def share_root(sign: int) -> float:
        return float(scipy.optimize.brentq(farthest_contrast, 0.0, 1.0, args=(sign,), xtol=1e-9))

    low_end = 0.0 if farthest_contrast(0.0, -1) <= 0 else _BEYOND if farthest_contrast(1.0, -1) > 0 else share_root(-1)
    high_end = (
        1.0 if farthest_contrast(1.0, 1) >= 0 else 1 - _BEYOND if farthest_contrast(0.0, 1) < 0 else share_root(1)
    )
    return low_end, high_end


class Summit(NamedTuple):
    """A likelihood around its maximum: the covariance is of the coordinates in the basis."""

    rows: Floats
    weights: Floats
    best: Floats
    basis: Floats
    covariance: Floats
    top: float


def summit_of(rows: Floats, weights: Floats, start: Floats, basis: Floats) -> Summit:
    """The free maximum and the likelihood around it, in the coordinates of a basis."""
    best = free_maximum(rows, weights, start, basis)
    covariance = np.asarray(np.linalg.inv(basis.T @ information(rows, weights, best) @ basis), dtype=float)
    return Summit(rows, weights, best, basis, covariance, float(weights @ np.log(rows @ best)))


def _bound(summit: Summit, contrast: Floats, quantile: float) -> Floats:
    """Where contrast·π is largest subject to ℓ(π) = top - quantile/2, by Newton's method."""
    rows, weights, best, basis, covariance, top = summit
    if quantile <= 0:
        return best
    contrast_coordinates = contrast @ basis
    contrast_error = float(np.sqrt(contrast_coordinates @ covariance @ contrast_coordinates))
    multiplier = np.sqrt(quantile) / contrast_error
    pi = _inside(rows, best, basis @ (covariance @ contrast_coordinates) * (np.sqrt(quantile) / contrast_error))
    for _ in range(60):
        fitted_chances = rows @ pi
        if (fitted_chances <= 0).any():  # rounding moved it over the edge
            break
        slope = basis.T @ (rows.T @ (weights / fitted_chances))
        curvature = basis.T @ information(rows, weights, pi) @ basis
        likelihood_excess = float(weights @ np.log(fitted_chances)) - top + quantile / 2
        newton_solutions = np.linalg.solve(
            curvature, np.column_stack([slope + multiplier * contrast_coordinates, contrast_coordinates])
        )
        pull = float(slope @ newton_solutions[:, 1])
        multiplier_change = (-likelihood_excess - float(slope @ newton_solutions[:, 0])) / pull
        step = basis @ (newton_solutions[:, 0] + newton_solutions[:, 1] * multiplier_change)
        moved_proportions = _inside(rows, pi, step)
        is_settled = abs(likelihood_excess) < max(1e-7, 1e-14 * abs(top)) and np.abs(step).max() < 1e-7
        multiplier, pi = max(multiplier + multiplier_change, 0.1 * multiplier), moved_proportions
        if is_settled:
            return pi
    raise NotEstimable("the profile of the likelihood could not be followed; use method='wald' or 'bootstrap'")


def _inside(rows: Floats, pi: Floats, step: Floats) -> Floats:
    """π moved along the step; it stops before the edge where an answer becomes impossible."""
    fitted_chances, chance_change = rows @ pi, rows @ step
    is_falling = chance_change < 0
    longest_step = (
        float((fitted_chances[is_falling] / -chance_change[is_falling]).min()) if is_falling.any() else np.inf
    )
    return pi + step * min(1.0, 0.9 * longest_step)


def free_maximum(rows: Floats, weights: Floats, start: Floats, basis: Floats) -> Floats:
    """The maximizer over {Σπ = 1, Lπ > 0} along a basis of directions, where proportions may be negative.

    Raises
    ------
    NotEstimable
        If the likelihood has no maximum there: too few different answers.
    """
    pi = start
    for _ in range(200):
        fitted_chances = rows @ pi
        slope = basis.T @ (rows.T @ (weights / fitted_chances))
        curvature = basis.T @ information(rows, weights, pi) @ basis
        try:
            step = basis @ np.linalg.solve(curvature, slope)
        except np.linalg.LinAlgError:
            break
        decrement = float(slope @ (basis.T @ step))
        if decrement < 1e-11:
            return pi
        pi = pi + _length(fitted_chances, rows @ step, weights, decrement) * step
        if np.abs(pi).max() > 1e4:
            break
    raise NotEstimable(
        "a profile interval needs every proportion to be determined by the answers alone; there are too few different "
        "answers here, use method='agresti_coull', 'wald' or 'bootstrap'"
    )


def _length(fitted: Floats, change: Floats, weights: Floats, decrement: float) -> float:
    """A step length that keeps Lπ > 0 and raises the likelihood."""
    start_likelihood, step_length = float(weights @ np.log(fitted)), 1.0
    for _ in range(60):
        next_fitted = fitted + step_length * change
        sufficient_likelihood = start_likelihood + 1e-4 * step_length * decrement - 1e-10 * abs(start_likelihood)
        if (next_fitted > 0).all() and float(weights @ np.log(next_fitted)) >= sufficient_likelihood:
            return step_length
        step_length /= 2
    return 0.0


EMPTY = 1e-6
"""A cell of a likelihood's maximum below this counts as 0: the maximum is known to about as much."""

_DRAWN_ENTRIES = 400_000  # responses × categories that are drawn to represent all, where there are many more
_MORE = 3  # times as many are listed instead: with many categories few are drawn, and these would not represent all
_LEAST = 0.1  # least share of independent people's variance that strata or a finite population may leave
_ROUNDING = 1e-12  # a variance below this share of the largest one is only rounding
_SEED = 0  # of these draws, so that a printed interval can be reproduced


def score_bounds(fit: Fit, confidence: float, *, within: bool = True) -> Floats:
    """The score interval of every proportion, (t, 2), before it is cut to [0, 1].

    Likelihood estimates rest on the most precise indicators: those of weighted least squares, with weights for
    proportions near the estimate. The indicators stay unbiased with any weights. So we draw these proportions toward
    equal shares, by as much as they are uncertain (James & Stein 1961). Weights that follow the noise would hide it.

    Parameters
    ----------
    fit : Estimate
        The estimate of one design or of levels.
    confidence : float
    within : bool
        Whether a mean beyond 0 or 1 gets the interval of a mean at that end.

    Raises
    ------
    NotEstimable
        If moments cannot tell the proportions apart.
    """
    if (score_law := _LAWS.get(fit)) is None:
        score_law = _LAWS[fit] = _law(fit)
    indicator_means = np.clip(score_law.mean, 0.0, 1.0) if within else score_law.mean
    df = score_law.degrees_of_freedom
    if df is None:
        quantile = scipy.stats.norm.ppf(0.5 + confidence / 2) ** 2
    else:
        quantile = scipy.stats.f.ppf(confidence, 1, max(df, 1.0))
    return score_ends(indicator_means, score_law.size, score_law.variance, float(quantile))


class _Law(NamedTuple):
    """What the score intervals of an estimate rest on, at every confidence.

    Parameters
    ----------
    mean, size : (t,) float
        The means of the indicators, and the number of answers that they are worth.
    variance : (3, t) float
        V(c) as constant, slope and curvature.
    degrees_of_freedom : float or None
        Of the quantile of t; None for the normal law.
    """

    mean: Floats
    size: Floats
    variance: Floats
    degrees_of_freedom: float | None


_LAWS: WeakKeyDictionary[Fit, _Law] = WeakKeyDictionary()
"""The laws of estimates that are still in use: a print asks for its intervals several times."""


def _law(fit: Fit) -> _Law:
    """The law of an estimate; it may take seconds where many levels have responses that cannot be listed."""
    answers_by_part = [_Answers.of(part) for part in answering(fit.tally)]
    mixing = np.array([part_answers.part.weight.sum() for part_answers in answers_by_part])
    mixing = mixing / mixing.sum()  # the weight of each part's mean in the estimate
    if fit.level_weights is not None:
        mixing = np.array([fit.level_weights.get(part_answers.part.level, 0.0) for part_answers in answers_by_part])
    effective_answers = fit.tally.effective
    equal_shares = np.full(len(fit.categories), 1 / len(fit.categories))
    first_means = _efficient_means(answers_by_part, mixing, equal_shares)
    center_shares = first_means.mean if fit.maximum is None else fit.proportions
    near_shares = _pull_toward(
        center_shares,
        toward=equal_shares,
        distance=first_means.mean - equal_shares,
        variance=first_means.variance / effective_answers,
    )
    if fit.maximum is not None:
        means = _efficient_means(answers_by_part, mixing, near_shares)
        shares_by_level = np.tile(near_shares, (len(answers_by_part), 1))
    else:
        means = _unbiased_means(answers_by_part, mixing, fit.linear_maps)
        shares_by_level = (
            _shares(answers_by_part, means, near_shares)
            if fit.level_weights is None
            else np.tile(near_shares, (len(answers_by_part), 1))
        )
    part_spreads = np.array(
        [
            z**2 * effective_answers / part_answers.part.effective
            for z, part_answers in zip(mixing, answers_by_part, strict=True)
        ]
    )
    variance = _variance(means.squares, shares_by_level, mixing, part_spreads, file=fit.target == "file")
    df: float | None = None
    size = np.full(len(equal_shares), effective_answers)
    if fit.indicators is not None and len(answers_by_part) > 1:
        size = size / _choosing(answers_by_part, means, mixing, variance, file=fit.target == "file")
    if fit.tally.weighted and not (fit.tally.complex is not None and fit.target == "file"):  # a file was not sampled
        variance_ratios, complex_sample = _weighting(fit, answers_by_part, means, mixing), fit.tally.complex
        size = size / np.maximum(variance_ratios, 1.0 if complex_sample is None else _LEAST)
        df = (
            effective_answers - 1
            if complex_sample is None
            else min(effective_answers - 1, complex_sample.degrees_of_freedom)
        )
    return _Law(means.mean, size, variance, df)


@dataclass(frozen=True)
class _Answers:
    """The answers of one part, and all responses that were possible.

    The weights of efficient indicators must not follow the noise of the answers. Where the possible responses are too
    many to list, responses that the design draws therefore represent them, not the answers that came. Where respondents
    left one of two questions out, the possible responses leave it out equally often. The model takes people who
    leave it out to be like the others; so does the likelihood.

    Parameters
    ----------
    part : Part
    rows : (distinct, t) float
        Likelihood rows of the answers that came.
    codes : (responses, width) int
        All possible responses, or those that represent them.
    possible : (responses, t) float
        Their likelihood rows.
    chances : (responses, t) float
        Chance of each response in each category, times the number of responses that it represents.
    """

    part: Part
    rows: Floats
    codes: NDArray[np.int64]
    possible: Floats
    chances: Floats

    @classmethod
    def of(cls, part: Part) -> _Answers:
        design: Any = part.design
        answer_rows = design.rows(part.codes)
        response_codes, response_chances = _representatives(design, answer_rows.shape[1])
        missing_patterns, pattern_places = np.unique(part.codes == MISSING, axis=0, return_inverse=True)
        pattern_shares = np.bincount(pattern_places.ravel(), part.weight) / part.weight.sum()
        response_codes = np.vstack([np.where(pattern, MISSING, response_codes) for pattern in missing_patterns])
        return cls(
            part,
            answer_rows,
            response_codes,
            design.rows(response_codes),
            np.vstack([response_chances * pattern_share for pattern_share in pattern_shares]),
        )

    @cached_property
    def share(self) -> Floats:
        """Each answer's share of the part's weight, (distinct,)."""
        return np.asarray(self.part.weight / self.part.weight.sum())

    def expected(self, values: Floats) -> Floats:
        """Σ_y P(y | i) values(y), (t, …), over the possible responses."""
        return np.asarray(self.chances.T @ values)


def _representatives(design: Any, t: int) -> tuple[NDArray[np.int64], Floats]:
    """All possible responses, or drawn ones that represent them, and how much of each category's each stands for."""
    draw_count = max(_DRAWN_ENTRIES // t, 2 * t)
    if design.space.listable and design.space.size <= _MORE * draw_count:
        response_codes = design.space.listing()
        return response_codes, design.rows(response_codes)
    chance_source = GeneratorSource(np.random.default_rng(_SEED))
    response_codes = design.draw(np.arange(draw_count) % t, chance_source)  # each category equally often
    response_chances = design.rows(response_codes)
    return response_codes, response_chances / (response_chances.mean(axis=1, keepdims=True) * len(response_codes))


def mean_squares(design: Channel) -> Floats:
    """E[h_j² | X = i] of the unbiased indicators h of moments as [i, j], (t, t).

    Examples
    --------
    >>> from naysay import designs
    >>> mean_squares(designs.warner(p=0.75)).round(4)
    array([[1.75, 0.75],
           [0.75, 1.75]])
    """
    codes, chances = _representatives(design, len(design.categories))
    return np.asarray(chances.T @ linear_map(design)(design.space.statistic(codes)) ** 2)


def foretold(tally: Tally, cells: Floats) -> tuple[Floats, Floats]:
    """Likelihood rows of all possible answers, and how many of each these cells foretell.

    A likelihood of answers that lie beyond what the design allows falls steeply from its maximum at the edge, and would
    make the cells there look certain. That of the foretold answers has the same maximum, and falls as it does where the
    answers fit.
    """
    answers_by_part = [_Answers.of(part) for part in answering(tally)]
    weight_scale = tally.n / tally.weight
    foretold_counts = [
        weight_scale * float(part_answers.part.weight.sum()) * (part_answers.chances @ cells)
        for part_answers in answers_by_part
    ]
    possible_rows = np.vstack([part_answers.possible for part_answers in answers_by_part])
    answer_amounts = np.concatenate(foretold_counts)
    return possible_rows[answer_amounts > 0], answer_amounts[answer_amounts > 0]


class _Means(NamedTuple):
    """Means of indicators, and what the designs say about their variances.

    Parameters
    ----------
    mean : (t,) float
    u : list of (distinct, t) float
        The indicators of the answers that came, part by part.
    squares : (parts, t, t) float
        E[u_j² | X = i] as [part, i, j].
    variance : float
        The variance of one answer's indicators, summed over the categories, at the proportions for which the indicators
        were made.
    """

    mean: Floats
    u: list[Floats]
    squares: Floats
    variance: float


def _efficient_means(parts: list[_Answers], mixing: Floats, reference: Floats) -> _Means:
    """Indicators u = π + I⁻¹(L/(L·π) - 1) of weighted least squares: unbiased, and most precise at the reference π."""

    def chance_ratios(rows: Floats) -> Floats:
        fitted_chances = (rows @ reference)[:, None]
        return np.asarray(np.divide(rows, fitted_chances, out=np.ones_like(rows), where=fitted_chances > 0))

    information = np.sum(
        [
            z * part_answers.expected(chance_ratios(part_answers.possible))
            for z, part_answers in zip(mixing, parts, strict=True)
        ],
        axis=0,
    )
    covariance = inverse(information)
    u = [reference + (chance_ratios(part_answers.rows) - 1) @ covariance for part_answers in parts]
    possible_indicators = [
        reference + (chance_ratios(part_answers.possible) - 1) @ covariance for part_answers in parts
    ]
    return _means(parts, mixing, u, possible_indicators)._replace(variance=float(np.trace(covariance)))


def _unbiased_means(parts: list[_Answers], mixing: Floats, maps: LinearMaps) -> _Means:
    """The indicators of moments, made for each part by itself."""
    u, possible_indicators = [], []
    for part_answers in parts:
        mapping, space = maps(part_answers.part), part_answers.part.design.space
        u.append(mapping(space.statistic(part_answers.part.codes)))
        possible_indicators.append(mapping(space.statistic(part_answers.codes)))
    return _means(parts, mixing, u, possible_indicators)


def _means(parts: list[_Answers], mixing: Floats, u: list[Floats], possible: list[Floats]) -> _Means:
    """Means of the indicators `u`, whose values at all possible responses are known."""
    indicator_means = np.sum(
        [
            z * (part_answers.share @ part_indicators)
            for z, part_answers, part_indicators in zip(mixing, parts, u, strict=True)
        ],
        axis=0,
    )
    expected_squares = np.array(
        [part_answers.expected(values**2) for part_answers, values in zip(parts, possible, strict=True)]
    )
    return _Means(indicator_means, u, expected_squares, variance=np.nan)


def _pull_toward(proportions: Floats, *, toward: Floats, distance: Floats, variance: float) -> Floats:
    """Proportions, none below zero, drawn toward others by their variance over the observed squared distance."""
    squared_distance = float(distance @ distance)
    pull = 1.0 if squared_distance <= variance else variance / squared_distance
    inside_proportions = np.maximum(proportions, 0.0)
    return np.asarray(pull * toward + (1 - pull) * inside_proportions / inside_proportions.sum())


def _shares(parts: list[_Answers], means: _Means, near: Floats) -> Floats:
    """The proportions at each level, (parts, t): the level's own estimate, drawn toward the common one.

    People may choose their level by their category, so levels are not assumed to be alike.
    """
    if len(parts) == 1:
        return near[None, :]
    shares_by_level = []
    for part_answers, u in zip(parts, means.u, strict=True):
        level_shares = part_answers.share @ u
        level_variance = float(part_answers.share @ ((u - level_shares) ** 2).sum(axis=1)) / part_answers.part.effective
        shares_by_level.append(
            _pull_toward(level_shares, toward=near, distance=level_shares - near, variance=level_variance)
        )
    return np.array(shares_by_level)


def _variance(squares: Floats, shares: Floats, mixing: Floats, spread: Floats, *, file: bool) -> Floats:
    """V(c) of every category as constant, slope and curvature in c, (3, t).

    If a level's share of the category differs from the whole by d, its share is c + d. The other categories of the
    level keep their estimated mutual proportions.
    """
    t = shares.shape[1]
    rest = 1 - shares
    other_squares = np.einsum("pi,pij->pj", shares, squares) - shares * np.einsum("pjj->pj", squares)
    squares_among_others = np.divide(other_squares, rest, out=np.zeros_like(other_squares), where=rest > 1e-12)
    member_squares = np.einsum("pjj->pj", squares)
    share_deviations = shares - mixing @ shares
    constant = spread @ (share_deviations * member_squares + (1 - share_deviations) * squares_among_others)
    slope = spread @ (member_squares - squares_among_others) - (1.0 if file else 0.0)
    return np.array([constant, slope, np.full(t, (1.0 if file else 0.0) - spread.sum())])


def _choosing(parts: list[_Answers], means: _Means, mixing: Floats, variance: Floats, *, file: bool) -> Floats:
    """The variance that the answers show, divided by the one that the levels' proportions imply, (t,), at least 1.

    Where people choose their level by their category, few answers at a level say little about the people there. Their
    proportions, drawn toward the common ones, may look more alike than their answers do.
    """
    constant, slope, curvature = variance
    indicator_means = np.clip(means.mean, 0.0, 1.0)
    modeled_variance = constant + slope * indicator_means + curvature * indicator_means**2
    mean_squares = np.sum(
        [z * (part_answers.share @ u**2) for z, part_answers, u in zip(mixing, parts, means.u, strict=True)], axis=0
    )
    shown_variance = mean_squares - (means.mean if file else means.mean**2)
    return np.asarray(
        np.maximum(
            np.divide(shown_variance, modeled_variance, out=np.ones_like(shown_variance), where=modeled_variance > 0),
            1.0,
        )
    )


def _weighting(fit: Fit, parts: list[_Answers], means: _Means, mixing: Floats) -> Floats:
    """Linearized variance, divided by the one that Kish's effective number of answers implies, (t,)."""
    sampled_at_level = {part.level: part_sample for part, part_sample in fit.tally.apart}
    linearized_variances, plain_variances = np.zeros((2, len(means.mean)))
    sample_deviations: Any = 0.0
    for z, part_answers, u in zip(mixing, parts, means.u, strict=True):
        from_mean = u - (means.mean if fit.level_weights is None else part_answers.share @ u)
        part_sample = sampled_at_level[part_answers.part.level]
        plain_variances += z**2 * (part_answers.share @ from_mean**2) / part_answers.part.effective
        influence = z * from_mean / part_answers.part.weight.sum()
        if fit.tally.complex is None:
            linearized_variances += part_answers.part.weight_squared @ influence**2 * (fit.n / max(fit.n - 1, 1))
        else:
            sample_deviations = sample_deviations + part_sample.deviations(influence)
            corrected_squares = part_sample.kept / part_answers.part.weight.sum() ** 2
            linearized_variances += z**2 * (corrected_squares @ u**2 - corrected_squares @ u)
    linearized_variances += np.sum(np.square(sample_deviations), axis=0)
    is_varying = plain_variances > _ROUNDING * plain_variances.max()
    if not is_varying.any():  # all answers are alike: no more is known than that as many independent units are
        independent_units = fit.n if fit.tally.complex is None else fit.tally.complex.degrees_of_freedom + 1
        return np.full_like(plain_variances, max(fit.tally.effective / independent_units, 1.0))
    # for categories of which every answer says the same
    overall_ratio = linearized_variances[is_varying].sum() / plain_variances[is_varying].sum()
    return np.where(
        is_varying, linearized_variances / np.where(is_varying, plain_variances, 1.0), max(float(overall_ratio), 1.0)
    )


def score_ends(mean: Floats, n: Floats, variance: Floats, quantile: float) -> Floats:
    """{c: n (mean - c)² ≤ quantile · V(c)}, (t, 2), widened to √quantile standard errors at its center."""
    constant, slope, curvature = variance
    lead_coefficient = n - quantile * curvature
    middle = (n * mean + quantile * slope / 2) / lead_coefficient
    roots = middle**2 - (n * mean**2 - quantile * constant) / lead_coefficient
    at_middle = quantile * (constant + slope * middle + curvature * middle**2) / lead_coefficient
    half_widths = np.sqrt(np.maximum(np.maximum(roots, at_middle), 0.0))
    return np.column_stack([middle - half_widths, middle + half_widths])
