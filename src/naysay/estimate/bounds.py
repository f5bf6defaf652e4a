"""What stays open where nothing tested whether people complied: sharp bounds, and how many would overturn a result.

Let a_j be the share of people in category j who comply, k_j of those who do not, and b the shares of what the latter
answer. Then Pa + b = λ and Σb = Σk ≤ r. The share of category j is a_j + k_j, and its ends are linear programs. People
who answer at random have b = ρq with equal chances q of all possible answers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design.base import Design
from naysay.errors import DataError
from naysay.estimate.fit import Fit
from naysay.estimate.likelihood import evidence, maximize
from naysay.estimate.linear import linear_map

ANSWERS = ("random", "any")
"""What people who do not comply may answer: at random, or whatever they like."""

_BAD = 0.01
_MOST = 5_000  # responses × categories up to which the programs take less than about a second


def is_open(fit: Fit) -> bool:
    """Whether the bounds can be computed: one design, whose few responses are drawn by chance."""
    if fit.design.offer.several or fit.tally.summed or not isinstance(fit.design, Design) or fit.target == "file":
        return False
    space = fit.design.space
    listed = space.listable and space.answers == 1 and space.size * len(fit.categories) <= _MOST
    return listed and bool((fit.design.rows(space.listing()).max(axis=0) < 1).any())


def answer_bounds(fit: Fit, *, share: float = 0.3, answers: str = "random", sharp: bool = True) -> Floats:
    """The least and largest share of each category, (t, 2), if up to a share of the respondents did not comply.

    The bounds hold whatever is true of those people. They do not include sampling error. The sharp ones are narrower
    where some share of people would leave less than nobody in a category; near 0 this rests on few answers.

    Parameters
    ----------
    fit : Estimate
        Of one design with responses that can be listed.
    share : float
        r, in [0, 1].
    answers : {"random", "any"}
        What those people answer.
    sharp : bool
        Whether nobody may be left with less than nobody; if not, the ends are π̂ - r max u and π̂ + r (1 - min u).

    Raises
    ------
    DataError
        The share or `answers` is not one of these, or the design has levels, samples or too many responses.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.crosswise(prevalence=0.25)
    >>> fit = estimate.moments(survey, survey.tally(count=[6915, 3085]))
    >>> answer_bounds(fit, share=0.2).round(3)[0], answer_bounds(fit, share=0.2, answers="any").round(3)[0]
    (array([0.017, 0.217]), array([0.   , 0.417]))
    """
    return np.clip(_ends(fit, share, answers, sharp=sharp)[0], 0.0, 1.0)


def bounds_interval(
    fit: Fit, *, share: float = 0.3, answers: str = "random", sharp: bool = True, confidence: float = 0.95
) -> Floats:
    """The interval of each category, (t, 2), for the share that `answer_bounds` leaves open, with sampling error.

    It holds the true share of a category, wherever it lies between the bounds, with the confidence: low - C·se and
    high + C·se, with Φ(C + Δ / se) - Φ(-C) = confidence for bounds Δ apart and se the larger standard error of the two.
    Each bound is linear in the shares of answers, which gives its standard error. As in the interval of Agresti & Coull
    (1998), z²/2 answers are added at either extreme: else few answers, of which none tells, would have no error.

    Parameters
    ----------
    fit, share, answers, sharp
        As in `answer_bounds`.
    confidence : float

    References
    ----------
    Imbens & Manski (2004), "Confidence intervals for partially identified parameters"; Agresti & Coull (1998).

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.crosswise(prevalence=0.25)
    >>> fit = estimate.moments(survey, survey.tally(count=[691, 309]))
    >>> bounds_interval(fit, share=0.2).round(3)[0], fit.interval().round(3)[0]
    (array([0.   , 0.267]), array([0.062, 0.177]))
    """
    level = _checks.confidence(confidence)
    ends, gradients, chances = _ends(fit, share, answers, sharp=sharp)
    below: Callable[[float], Any] = scipy.special.ndtr
    if fit.tally.complex is not None:
        below = functools.partial(scipy.special.stdtr, fit.tally.complex.degrees_of_freedom)
    added = float(scipy.optimize.brentq(lambda z: below(z) - 0.5 - level / 2, 0.0, 1e3)) ** 2
    size = _worth(fit, gradients, chances)
    is_possible = fit.design.channel().matrix.max(axis=1) > 0
    extremes = np.stack([gradients[..., is_possible].min(axis=-1), gradients[..., is_possible].max(axis=-1)])
    means = (size * (gradients @ chances) + added * extremes.mean(axis=0)) / (size + added)
    squares = (size * (gradients**2 @ chances) + added * (extremes**2).mean(axis=0)) / (size + added)
    errors = np.sqrt(np.maximum(squares - means**2, 0.0) / (size + added))
    bounds, centers = np.clip(ends, 0.0, 1.0), ends + means - gradients @ chances
    for place, largest in enumerate(errors.max(axis=1).tolist()):
        if largest > 0:
            apart = float(np.ptp(bounds[place])) / largest
            quantile = scipy.optimize.brentq(lambda c, apart=apart: below(c + apart) - below(-c) - level, 0.0, 1e3)
            low, high = centers[place] + quantile * errors[place] * (-1, 1)
            bounds[place] = min(low, bounds[place, 0]), max(high, bounds[place, 1])
    return np.clip(bounds, 0.0, 1.0)


def _worth(fit: Fit, gradients: Floats, chances: Floats) -> Floats:
    """How many unweighted answers of people drawn by themselves would be as precise, for each end, (t, 2)."""
    sizes = np.full(gradients.shape[:2], float(fit.tally.effective))
    [part] = [part for part in fit.tally.parts if part.n]
    if not fit.tally.weighted and fit.tally.complex is None:
        return sizes
    from_mean = gradients - (gradients @ chances)[..., None]
    plain = (from_mean**2 @ chances).ravel() / fit.tally.effective
    influence = from_mean.reshape(-1, len(chances))[:, part.design.space.places(part.codes)].T / part.weight.sum()
    if fit.tally.complex is None:
        linearized = part.weight_squared @ influence**2
    else:
        [people] = [people for sampled, people in fit.tally.apart if sampled.n]
        linearized = np.sum(np.square(people.deviations(influence)), axis=0)
    ratios = np.divide(linearized, plain, out=np.ones_like(plain), where=plain > 0)
    return np.asarray(sizes / np.maximum(ratios, 1.0).reshape(sizes.shape))


def _ends(fit: Fit, share: float, answers: str, *, sharp: bool) -> tuple[Floats, Floats, Floats]:
    """The ends (t, 2), how they move with the shares of answers (t, 2, responses), and these shares."""
    if not 0 <= share <= 1 or answers not in ANSWERS:
        raise DataError(
            f"share must lie in [0, 1], and answers be one of {', '.join(ANSWERS)}; got {share!r}, {answers!r}"
        )
    matrix, fitted, observed = _program(fit)
    if not sharp:
        least, look, most = _indicators(fit)
        low, high = (most, least) if answers == "any" else (look, look)
        ends = np.column_stack([fit.proportions - share * low, fit.proportions + share * (1 - high)])
        design = fit.design.channel()
        slopes = linear_map(design, fit.solution)(design.space.statistic(design.space.listing())).T
        return ends, np.stack([slopes, slopes], axis=1), observed
    t, m = matrix.shape[1], len(matrix)
    is_possible = matrix.max(axis=1) > 0
    others = np.eye(m)[:, is_possible] if answers == "any" else (is_possible / is_possible.sum())[:, None]
    width = others.shape[1]
    equalities = np.zeros((m + 1, 2 * t + width))  # the unknowns are a, k and the amounts of each way to answer
    equalities[:m, :t], equalities[:m, 2 * t :] = matrix, others
    equalities[m, t : 2 * t], equalities[m, 2 * t :] = 1, -1
    right_side = np.append(fitted, 0.0)
    at_most = np.concatenate([np.zeros(2 * t), np.ones(width)])[None]
    ends, gradients = np.zeros((t, 2)), np.zeros((t, 2, m))
    for category in range(t):
        cost = np.zeros(2 * t + width)
        cost[[category, t + category]] = 1
        for place, sign in enumerate((1, -1)):
            least_cost, prices = _solved(sign * cost, equalities, right_side, at_most, share)
            ends[category, place], gradients[category, place] = sign * least_cost, sign * prices[:m]
    return ends, gradients, fitted


def fits_badly(fit: Fit) -> bool:
    """Whether hardly any proportions give these answers: p < 0.01 of Pearson's X² at the most likely ones."""
    _, fitted, observed = _program(fit)
    is_possible = fitted > 1e-12
    if observed[~is_possible].any():
        return True
    squares = (observed[is_possible] - fitted[is_possible]) ** 2 / fitted[is_possible]
    return bool(scipy.special.chdtrc(max(int(is_possible.sum()) - 1, 1), fit.tally.effective * squares.sum()) < _BAD)


def least_share(fit: Fit) -> float:
    """The least share of respondents who cannot have complied: the least Σb with Pa + b = λ̂, a, b ≥ 0.

    It is what the answers alone prove, before sampling error; 0 where some proportions explain all of them.

    Examples
    --------
    Of 729 people of whom at least one sixth were told to say yes, 98 said yes:

    >>> from naysay import designs, estimate
    >>> survey = designs.forced_response(forced_yes="1/6", forced_no="1/12")
    >>> round(least_share(estimate.moments(survey, survey.tally(count=[98, 631]))), 6)
    0.193416
    """
    matrix, _, observed = _program(fit)
    cost = np.concatenate([np.zeros(matrix.shape[1]), np.ones(len(matrix))])
    return max(_solved(cost, np.hstack([matrix, np.eye(len(matrix))]), observed)[0], 0.0)


def _program(fit: Fit) -> tuple[Floats, Floats, Floats]:
    """P, the shares of answers that are expected at the most likely proportions, and those that came."""
    if not is_open(fit):
        raise DataError("bounds are for one design whose responses are drawn by chance and can be listed")
    [part] = [part for part in fit.tally.parts if part.n]
    matrix = fit.design.channel().matrix
    most_likely = fit.proportions if fit.maximum is not None else maximize(*evidence(fit.tally)[:2]).proportions
    observed = np.zeros(len(matrix))
    np.add.at(observed, part.design.space.places(part.codes), part.weight / part.weight.sum())
    return matrix, matrix @ most_likely, observed


def _indicators(fit: Fit) -> tuple[Floats, Floats, Floats]:
    """The least, the mean and the largest unbiased indicator of each category over the possible answers, (t,) each."""
    design = fit.design.channel()
    possible_codes = design.space.listing()[design.matrix.max(axis=1) > 0]
    indicators = linear_map(design, fit.solution)(design.space.statistic(possible_codes))
    return indicators.min(axis=0), indicators.mean(axis=0), indicators.max(axis=0)


def shifts(fit: Fit, share: float, answers: str = "random") -> tuple[float, float]:
    """By how much some category's share could be lower and higher if up to this share of people answered so."""
    least, look, most = _indicators(fit)
    low, high = (most, least) if answers == "any" else (look, look)
    return float(share * low.max()), float(share * (1 - high.min()))


def _solved(
    cost: Floats, equalities: Floats, right: Floats, at_most: Floats | None = None, limit: float | None = None
) -> tuple[float, Floats]:
    """The least cost of non-negative unknowns that satisfy the equalities, and of which a sum is at most the limit.

    With it comes how it moves with the right sides of the equalities.
    """
    bound: dict[str, Any] = {} if at_most is None else {"A_ub": at_most, "b_ub": [limit]}
    solution: Any = scipy.optimize.linprog(cost, A_eq=equalities, b_eq=right, bounds=(0, None), method="highs", **bound)
    return float(solution.fun), np.asarray(solution.eqlin.marginals)


class Tipping(NamedTuple):
    """How many people would have to answer otherwise until a category's estimate is no longer above 0.

    Parameters
    ----------
    category : label
    random : float
        The share who answer at random; NaN if no share of them could do it.
    random_at_end : float
        The same for the lower end of the interval.
    any_answers : float
        The share, if they give the answers that move the estimate most.
    """

    category: Label
    random: float
    random_at_end: float
    any_answers: float


def tipping(fit: Fit, bounds: Floats) -> Tipping | None:
    """What overturns first that a category is above 0; None if no interval (t, 2) lies above 0.

    Random answers look like v, so that the estimate is (π̂ - ρv) / (1 - ρ), which is 0 at ρ = π̂ / v.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.crosswise(prevalence=0.25)
    >>> fit = estimate.moments(survey, survey.tally(count=[691_500, 308_500]))
    >>> tipping(fit, fit.interval()).any_answers
    0.078
    """
    if not is_open(fit):
        return None
    _, look, reach = _indicators(fit)
    found = [
        Tipping(
            category,
            _share(float(fit.proportions[place]), float(look[place])),
            _share(float(bounds[place, 0]), float(look[place])),
            round(min(float(fit.proportions[place] / reach[place]), 1.0), 12),
        )
        for place, category in enumerate(fit.categories)
        if bounds[place, 0] > 0
    ]
    if fit.design.space.one_label and len(fit.categories) == 2:
        found = [each for each in found if each.category == fit.categories[0]]
    return min(found, key=lambda each: (math.isnan(each.random), each.random, each.any_answers), default=None)


def _share(value: float, look: float) -> float:
    return value / look if 0 < value < look else math.nan
