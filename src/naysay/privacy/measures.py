"""Numbers: ε, what stays possible, posterior, information, odds, Bayes vulnerability."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design import Answerable, Design
from naysay.design.base import check_design
from naysay.design.drawing import GeneratorSource
from naysay.errors import DesignError
from naysay.responses import Responses

__all__ = [
    "each_level",
    "epsilon",
    "gain",
    "information",
    "odds",
    "posterior",
    "still_possible",
    "vulnerability",
]

_DRAWS = 200_000  # Monte Carlo draws for the information of designs too large to list
_SEED = 2006
_ROUNDING = 1e-14  # more than floating point can be off in a product of a few tables


def each_level(measure: Callable[..., Any]) -> Callable[..., Any]:
    """Let a measure of one design answer for an offer or for several samples, as ``{name: value}``."""

    @functools.wraps(measure)
    def measured(design: Answerable, *arguments: Any, **named: Any) -> Any:
        check_design(design, told="privacy is a property of a design", error=DesignError)
        if design.several:
            return {name: measure(channel, *arguments, **named) for name, channel in design.parts.items()}
        return measure(design, *arguments, **named)

    return measured


def _prior(prior: ArrayLike | None, design: Answerable) -> NDArray[np.float64]:
    t = len(design.categories)
    return np.full(t, 1 / t) if prior is None else _checks.probability_vector(prior, t, what="the prior")


@each_level
def epsilon(design: Design) -> float:
    """Local differential privacy of one answer, in nats: ε = ln max P[y, j] / P[y, j'].

    ∞ where some answer is possible for one category and impossible for another: every negative survey. Rounded up, so
    that the promise holds.

    Parameters
    ----------
    design : Design, Levels or Samples

    Returns
    -------
    float, or {level: float}

    Examples
    --------
    >>> from naysay import designs
    >>> round(epsilon(designs.two_coins()), 6), epsilon(designs.negative(("a", "b", "c")))
    (1.098612, inf)
    """
    if len(design.factors) > 1:
        return float(sum(epsilon(factor) for factor in design.factors))
    codes = design.typical_codes
    weights = design.integers(codes)
    if weights is not None:
        return max(_log_ratio(int(row.max()), int(row.min())) for row in weights if row.any())
    rows = design.rows(codes)
    rows = rows[rows.max(axis=1) > 0]
    if (rows == 0).any():
        return math.inf
    largest = float(np.log((rows.max(axis=1) / rows.min(axis=1)).max()))
    return largest * (1 + _ROUNDING)


def _log_ratio(above: int, below: int) -> float:
    """ln(above / below), never rounded down."""
    if below == 0:
        return math.inf
    if above == below:
        return 0.0
    with localcontext() as context:
        context.prec, context.rounding = 40, ROUND_CEILING
        exact = (Decimal(above) / Decimal(below)).ln()
    nearest = float(exact)
    return nearest if Decimal(nearest) >= exact else math.nextafter(nearest, math.inf)


@each_level
def still_possible(design: Design) -> tuple[int, int]:
    """How many categories stay possible after an answer: the fewest and the most over all answers.

    From this answer alone; they need not be equally likely.

    Parameters
    ----------
    design : Design, Levels or Samples

    Returns
    -------
    (int, int), or {level: (int, int)}

    Examples
    --------
    >>> from naysay import designs
    >>> still_possible(designs.negative(("a", "b", "c", "d", "e"), discards=3))
    (2, 2)
    """
    if len(design.factors) > 1:
        few, many = zip(*(still_possible(factor) for factor in design.factors), strict=True)
        return math.prod(few), math.prod(many)
    possible = (design.rows(design.typical_codes) > 0).sum(axis=1)
    possible = possible[possible > 0]
    return int(possible.min()), int(possible.max())


def posterior(design: Answerable, responses: Any, prior: ArrayLike | None = None) -> NDArray[np.float64]:
    """What each answer leaves probable: P(X = j | y) ∝ P(y | j) π_j.

    Parameters
    ----------
    design : Design, Levels or Samples
    responses : Responses or sequence (n,)
        Answers; a missing one leaves the prior.
    prior : (t,) float, optional
        Uniform by default.

    Returns
    -------
    (n, t) float
        Rows sum to one.

    Raises
    ------
    DesignError
        An answer that is impossible under the prior.

    Examples
    --------
    >>> from naysay import designs
    >>> posterior(designs.two_coins(), ["yes"], prior=(0.15, 0.85)).round(3)
    array([[0.346, 0.654]])
    """
    joint = design.likelihood(responses) * _prior(prior, design)
    totals = joint.sum(axis=1, keepdims=True)
    if (totals == 0).any():
        row = int((totals[:, 0] == 0).argmax())
        raise DesignError(f"answer {row + 1} is impossible under this prior: every category that it leaves has prior 0")
    return np.asarray(joint / totals)


def gain(design: Design, responses: Any, prior: ArrayLike | None = None) -> NDArray[np.float64]:
    """Bits that each single answer takes off the uncertainty about the person: H(π) - H(π | y).

    One term of the information; a single one may be negative, where an answer makes a near-certain reader doubt.

    Parameters
    ----------
    design : Design
    responses : Responses or sequence (n,)
    prior : (t,) float, optional

    Returns
    -------
    (n,) float

    References
    ----------
    Esponda (2006), equation 2.

    Examples
    --------
    >>> from naysay import designs
    >>> gain(designs.negative(("a", "b", "c")), ["a"], prior=(0.9, 0.05, 0.05)).round(2)
    array([-0.43])
    """
    return np.asarray(_entropy(_prior(prior, design)) - _entropy(posterior(design, responses, prior)))


def _entropy(probabilities: NDArray[np.float64]) -> Any:
    """Shannon entropy in bits along the last axis."""
    logs = np.log2(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    return -(probabilities * logs).sum(axis=-1)


@each_level
def information(design: Design, prior: ArrayLike | None = None) -> float:
    """Bits that an answer tells about its person on average: I(X; Y) = H(π) - Σ_y λ_y H(π | y).

    Under the uniform prior log₂(t/(t-k)) for k discards; never more than H(π).

    Parameters
    ----------
    design : Design, Levels or Samples
    prior : (t,) float, optional
        What is known before, uniform by default. A number in bits means nothing without its prior: name it.

    Returns
    -------
    float, or {level: float}
        Exact where the responses can be listed or the prior is uniform, otherwise by 200,000 draws (seeded), to about
        0.01 bits.

    Examples
    --------
    >>> from naysay import designs
    >>> information(designs.negative(("a", "b", "c", "d"), discards=2))
    1.0
    """
    pi = _prior(prior, design)
    if len(design.factors) > 1 and prior is None:
        return float(sum(information(factor) for factor in design.factors))
    if design.exchangeable and prior is None:
        return float(gain(design, Responses(design.typical_codes[:1], design.space), pi)[0])
    if design.one_pattern and design.even_mean is not None:  # H(Y) - H(Y | X): all columns hold the same chances
        alpha, beta = design.even_mean
        return float(_entropy(beta + alpha * pi) - _entropy(design.rows(design.typical_codes)[0]))
    if design.space.listable:
        codes, chance = design.space.listing(), None
    else:
        rng = np.random.default_rng(_SEED)
        truth = rng.choice(len(pi), size=_DRAWS, p=pi)
        codes, chance = design.draw(truth, GeneratorSource(rng)), 1 / _DRAWS
    rows = design.rows(codes) * pi
    totals = rows.sum(axis=1)
    seen = totals > 0
    left = _entropy(rows[seen] / totals[seen, None])
    expected = (totals[seen] * left).sum() if chance is None else left.mean()
    return float(_entropy(pi) - expected)


@each_level
def odds(design: Design, prior: ArrayLike | None = None) -> NDArray[np.float64]:
    """Posterior odds over prior odds of each category, for each response, (responses, t).

    P(y | j) / P(y | not j), the second averaged over the other categories by the prior: 0 where the answer rules the
    category out, ∞ where it proves it. Where responses are too many to list, of one that stands for all.

    Parameters
    ----------
    design : Design, Levels or Samples
    prior : (t,) float, optional
        Uniform by default.

    Returns
    -------
    (responses, t) float, or {level: (responses, t) float}

    Raises
    ------
    DataError
        A prior that is no vector of t probabilities.

    Examples
    --------
    >>> from naysay import designs
    >>> odds(designs.warner(p=0.75)).round(3)
    array([[3.   , 0.333],
           [0.333, 3.   ]])
    """
    pi = _prior(prior, design)
    rows = design.rows(design.typical_codes)
    rows = rows[rows.max(axis=1) > 0]
    # The others are added up from both ends: the whole less one of them loses all digits at odds of 10^12.
    joint, none = rows * pi, np.zeros((len(rows), 1))
    before, after = np.cumsum(joint, axis=1)[:, :-1], np.cumsum(joint[:, ::-1], axis=1)[:, -2::-1]
    others = np.hstack([none, before]) + np.hstack([after, none])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = rows * (1 - pi) / others
    return np.asarray(np.where(rows == 0, 0.0, ratio))


@each_level
def vulnerability(design: Design, prior: ArrayLike | None = None) -> tuple[float, float]:
    """How often the best guess of a person's category is right: after their answer, and before it.

    Bayes vulnerability Σ_y max_j π_j P(y | j), against max_j π_j.

    Parameters
    ----------
    design : Design, Levels or Samples
    prior : (t,) float, optional
        Uniform by default.

    Returns
    -------
    (float, float), or {level: (float, float)}
        Shares of one.

    Raises
    ------
    DataError
        A prior that is no vector of t probabilities.
    DesignError
        Responses too many to list, where no closed form does without.

    Examples
    --------
    >>> from naysay import designs
    >>> vulnerability(designs.two_coins(), prior=(0.15, 0.85))
    (0.85, 0.85)
    """
    pi = _prior(prior, design)
    return design.guessed(pi), float(pi.max())
