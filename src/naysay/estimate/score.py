"""Score intervals: all values of a proportion that the mean of the indicators does not reject.

An estimate is, or is as precise as, the mean ū of one unbiased indicator u per answer. If π_j = c, then

    n Var(ū_j) = V(c) = Σ_i π_i E[u_j² | X = i] - c²      (for a file - c, without what drawing the people adds)

The design gives E[u_j² | X = i]. Only one thing must be estimated: how the other categories share 1 - c. The interval
{c: n (ū_j - c)² ≤ z² V(c)} lies between the roots of a quadratic; where u_j takes two values it is Wilson's (1927). We
widen it to z standard errors at its center, like Agresti & Coull (1998), so that it also holds near 0 and 1.

The variance is that of the tested value, not of the estimate. Therefore a category that nobody named does not look
certain, while Wald's interval makes it look so. No other share is pressed against a boundary, while a profile can press
it there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.design.drawing import GeneratorSource
from naysay.estimate.information import inverse
from naysay.estimate.linear import Floats, linear_map
from naysay.estimate.result import Estimate
from naysay.responses.spaces import MISSING
from naysay.tally import Part, Tally

EMPTY = 1e-6
"""A cell of a likelihood's maximum below this counts as 0: the maximum is known to about as much."""

_DRAWN_ENTRIES = 400_000  # responses × categories that are drawn to represent all, where there are many more
_MORE = 3  # times as many are listed instead: with many categories few are drawn, and these would not represent all
_LEAST = 0.1  # least share of independent people's variance that strata or a finite population may leave
_ROUNDING = 1e-12  # a variance below this share of the largest one is only rounding
_SEED = 0  # of these draws, so that a printed interval can be reproduced


def score_bounds(fit: Estimate, confidence: float, *, within: bool = True) -> Floats:
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
    if (law := _LAWS.get(fit)) is None:
        law = _LAWS[fit] = _law(fit)
    mean = np.clip(law.mean, 0.0, 1.0) if within else law.mean
    df = law.degrees_of_freedom
    if df is None:
        quantile = scipy.stats.norm.ppf(0.5 + confidence / 2) ** 2
    else:
        quantile = scipy.stats.f.ppf(confidence, 1, max(df, 1.0))
    return score_ends(mean, law.size, law.variance, float(quantile))


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


_LAWS: WeakKeyDictionary[Estimate, _Law] = WeakKeyDictionary()
"""The laws of estimates that are still in use: a print asks for its intervals several times."""


def _law(fit: Estimate) -> _Law:
    """The law of an estimate; it may take seconds where many levels have responses that cannot be listed."""
    parts = [_Answers.of(part) for part in fit.tally.parts if part.weight.sum() > 0]
    mixing = _mixing(fit, parts)
    effective = fit.tally.effective
    equal = np.full(len(fit.categories), 1 / len(fit.categories))
    first = _efficient_means(parts, mixing, equal)
    center = first.mean if fit.maximum is None else fit.proportions
    near = _pull_toward(center, toward=equal, distance=first.mean - equal, variance=first.variance / effective)
    if fit.maximum is not None:
        means, shares = _efficient_means(parts, mixing, near), np.tile(near, (len(parts), 1))
    else:
        means = _unbiased_means(parts, mixing, fit.solution)
        shares = _shares(parts, means, near) if fit.level_weights is None else np.tile(near, (len(parts), 1))
    spread = np.array(
        [z**2 * effective / part_answers.part.effective for z, part_answers in zip(mixing, parts, strict=True)]
    )
    variance = _variance(means.squares, shares, mixing, spread, file=fit.target == "file")
    df: float | None = None
    size = np.full(len(equal), effective)
    if fit.indicators is not None and len(parts) > 1:
        size = size / _choosing(parts, means, mixing, variance, file=fit.target == "file")
    if fit.tally.weighted and not (fit.tally.complex is not None and fit.target == "file"):  # a file was not sampled
        ratio, complex_ = _weighting(fit, parts, means, mixing), fit.tally.complex
        size = size / np.maximum(ratio, 1.0 if complex_ is None else _LEAST)
        df = effective - 1 if complex_ is None else min(effective - 1, complex_.degrees_of_freedom)
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
        space, rows = design.space, design.rows(part.codes)
        t = rows.shape[1]
        draw_count = max(_DRAWN_ENTRIES // t, 2 * t)
        if space.listable and space.size <= _MORE * draw_count:
            codes = space.listing()
            chances = design.rows(codes)
        else:
            source = GeneratorSource(np.random.default_rng(_SEED))
            codes = design.draw(np.arange(draw_count) % t, source)  # each category equally often
            chances = design.rows(codes)
            chances = chances / (chances.mean(axis=1, keepdims=True) * len(codes))
        patterns, place = np.unique(part.codes == MISSING, axis=0, return_inverse=True)
        pattern_shares = np.bincount(place.ravel(), part.weight) / part.weight.sum()
        codes = np.vstack([np.where(pattern, MISSING, codes) for pattern in patterns])
        return cls(part, rows, codes, design.rows(codes), np.vstack([chances * share for share in pattern_shares]))

    @cached_property
    def share(self) -> Floats:
        """Each answer's share of the part's weight, (distinct,)."""
        return np.asarray(self.part.weight / self.part.weight.sum())

    def expected(self, values: Floats) -> Floats:
        """Σ_y P(y | i) values(y), (t, …), over the possible responses."""
        return np.asarray(self.chances.T @ values)


def foretold(tally: Tally, cells: Floats) -> tuple[Floats, Floats]:
    """Likelihood rows of all possible answers, and how many of each these cells foretell.

    A likelihood of answers that lie beyond what the design allows falls steeply from its maximum at the edge, and would
    make the cells there look certain. That of the foretold answers has the same maximum, and falls as it does where the
    answers fit.
    """
    answers = [_Answers.of(part) for part in tally.parts if part.weight.sum() > 0]
    scale = tally.n / tally.weight
    weights = [
        scale * float(part_answers.part.weight.sum()) * (part_answers.chances @ cells) for part_answers in answers
    ]
    rows, amounts = np.vstack([part_answers.possible for part_answers in answers]), np.concatenate(weights)
    return rows[amounts > 0], amounts[amounts > 0]


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


def _mixing(fit: Estimate, parts: list[_Answers]) -> Floats:
    """The weight of each part's mean in the estimate, (parts,)."""
    if fit.level_weights is not None:
        return np.array([fit.level_weights.get(part_answers.part.level, 0.0) for part_answers in parts])
    weight = np.array([part_answers.part.weight.sum() for part_answers in parts])
    return np.asarray(weight / weight.sum())


def _efficient_means(parts: list[_Answers], mixing: Floats, reference: Floats) -> _Means:
    """Indicators u = π + I⁻¹(L/(L·π) - 1) of weighted least squares: unbiased, and most precise at the reference π."""

    def ratios(rows: Floats) -> Floats:
        fitted = (rows @ reference)[:, None]
        return np.asarray(np.divide(rows, fitted, out=np.ones_like(rows), where=fitted > 0))

    information = np.sum(
        [
            z * part_answers.expected(ratios(part_answers.possible))
            for z, part_answers in zip(mixing, parts, strict=True)
        ],
        axis=0,
    )
    covariance = inverse(information)
    u = [reference + (ratios(part_answers.rows) - 1) @ covariance for part_answers in parts]
    possible = [reference + (ratios(part_answers.possible) - 1) @ covariance for part_answers in parts]
    return _means(parts, mixing, u, possible)._replace(variance=float(np.trace(covariance)))


def _unbiased_means(parts: list[_Answers], mixing: Floats, solution: str | None) -> _Means:
    """The indicators of moments, made for each part by itself."""
    u, possible = [], []
    for part_answers in parts:
        mapping, space = linear_map(part_answers.part.design, solution), part_answers.part.design.space
        u.append(mapping(space.statistic(part_answers.part.codes)))
        possible.append(mapping(space.statistic(part_answers.codes)))
    return _means(parts, mixing, u, possible)


def _means(parts: list[_Answers], mixing: Floats, u: list[Floats], possible: list[Floats]) -> _Means:
    """Means of the indicators `u`, whose values at all possible responses are known."""
    mean = np.sum(
        [
            z * (part_answers.share @ part_indicators)
            for z, part_answers, part_indicators in zip(mixing, parts, u, strict=True)
        ],
        axis=0,
    )
    squares = np.array([part_answers.expected(values**2) for part_answers, values in zip(parts, possible, strict=True)])
    return _Means(mean, u, squares, variance=np.nan)


def _pull_toward(proportions: Floats, *, toward: Floats, distance: Floats, variance: float) -> Floats:
    """Proportions, none below zero, drawn toward others by their variance over the observed squared distance."""
    squared = float(distance @ distance)
    pull = 1.0 if squared <= variance else variance / squared
    inside = np.maximum(proportions, 0.0)
    return np.asarray(pull * toward + (1 - pull) * inside / inside.sum())


def _shares(parts: list[_Answers], means: _Means, near: Floats) -> Floats:
    """The proportions at each level, (parts, t): the level's own estimate, drawn toward the common one.

    People may choose their level by their category, so levels are not assumed to be alike.
    """
    if len(parts) == 1:
        return near[None, :]
    shares = []
    for part_answers, u in zip(parts, means.u, strict=True):
        level_shares = part_answers.share @ u
        variance = float(part_answers.share @ ((u - level_shares) ** 2).sum(axis=1)) / part_answers.part.effective
        shares.append(_pull_toward(level_shares, toward=near, distance=level_shares - near, variance=variance))
    return np.array(shares)


def _variance(squares: Floats, shares: Floats, mixing: Floats, spread: Floats, *, file: bool) -> Floats:
    """V(c) of every category as constant, slope and curvature in c, (3, t).

    If a level's share of the category differs from the whole by d, its share is c + d. The other categories of the
    level keep their estimated mutual proportions.
    """
    t = shares.shape[1]
    rest = 1 - shares
    others = np.einsum("pi,pij->pj", shares, squares) - shares * np.einsum("pjj->pj", squares)
    among = np.divide(others, rest, out=np.zeros_like(others), where=rest > 1e-12)
    members = np.einsum("pjj->pj", squares)
    apart = shares - mixing @ shares
    constant = spread @ (apart * members + (1 - apart) * among)
    slope = spread @ (members - among) - (1.0 if file else 0.0)
    return np.array([constant, slope, np.full(t, (1.0 if file else 0.0) - spread.sum())])


def _choosing(parts: list[_Answers], means: _Means, mixing: Floats, variance: Floats, *, file: bool) -> Floats:
    """The variance that the answers show, divided by the one that the levels' proportions imply, (t,), at least 1.

    Where people choose their level by their category, few answers at a level say little about the people there. Their
    proportions, drawn toward the common ones, may look more alike than their answers do.
    """
    constant, slope, curvature = variance
    mean = np.clip(means.mean, 0.0, 1.0)
    modeled = constant + slope * mean + curvature * mean**2
    squares = np.sum(
        [z * (part_answers.share @ u**2) for z, part_answers, u in zip(mixing, parts, means.u, strict=True)], axis=0
    )
    shown_variance = squares - (means.mean if file else means.mean**2)
    return np.asarray(
        np.maximum(np.divide(shown_variance, modeled, out=np.ones_like(shown_variance), where=modeled > 0), 1.0)
    )


def _weighting(fit: Estimate, parts: list[_Answers], means: _Means, mixing: Floats) -> Floats:
    """Linearized variance, divided by the one that Kish's effective number of answers implies, (t,)."""
    sampled_at_level = {part.level: sampled for part, sampled in fit.tally.apart}
    linearized, plain = np.zeros((2, len(means.mean)))
    deviations: Any = 0.0
    for z, part_answers, u in zip(mixing, parts, means.u, strict=True):
        from_mean, sampled = (
            u - (means.mean if fit.level_weights is None else part_answers.share @ u),
            sampled_at_level[part_answers.part.level],
        )
        plain += z**2 * (part_answers.share @ from_mean**2) / part_answers.part.effective
        influence = z * from_mean / part_answers.part.weight.sum()
        if fit.tally.complex is None:
            linearized += part_answers.part.weight_squared @ influence**2 * (fit.n / max(fit.n - 1, 1))
        else:
            deviations = deviations + sampled.deviations(influence)
            corrected_squares = sampled.kept / part_answers.part.weight.sum() ** 2
            linearized += z**2 * (corrected_squares @ u**2 - corrected_squares @ u)
    linearized += np.sum(np.square(deviations), axis=0)
    is_varying = plain > _ROUNDING * plain.max()
    if not is_varying.any():  # all answers are alike: no more is known than that as many independent units are
        units = fit.n if fit.tally.complex is None else fit.tally.complex.degrees_of_freedom + 1
        return np.full_like(plain, max(fit.tally.effective / units, 1.0))
    overall = (
        linearized[is_varying].sum() / plain[is_varying].sum()
    )  # for categories of which every answer says the same
    return np.where(is_varying, linearized / np.where(is_varying, plain, 1.0), max(float(overall), 1.0))


def score_ends(mean: Floats, n: Floats, variance: Floats, quantile: float) -> Floats:
    """{c: n (mean - c)² ≤ quantile · V(c)}, (t, 2), widened to √quantile standard errors at its center."""
    constant, slope, curvature = variance
    lead = n - quantile * curvature
    middle = (n * mean + quantile * slope / 2) / lead
    roots = middle**2 - (n * mean**2 - quantile * constant) / lead
    at_middle = quantile * (constant + slope * middle + curvature * middle**2) / lead
    half = np.sqrt(np.maximum(np.maximum(roots, at_middle), 0.0))
    return np.column_stack([middle - half, middle + half])
