"""Power: how often a survey will detect a difference that exists.

The test rejects if the Wald interval, estimate ± z standard errors, excludes the null value. The standard error is
itself estimated: a lower estimate also has another standard error. So the critical values c are those with (c - null)²
= z² V(c)/n, where V(c) is the variance that goes with an estimate of c. The estimate is taken as normal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from naysay import _checks
from naysay.design import Answerable
from naysay.design.respondents import number, share
from naysay.errors import DataError
from naysay.planning.variance import Variance, respondents, variance, variance_of

__all__ = ["Curve", "Curves", "chance_of_rejection", "checked_power", "difference_power", "power", "two_groups"]

_STEP = 1e-3
_MARGIN = 1e-6  # a likelihood has a variance only for proportions at least this far inside [0, 1]


@dataclass(frozen=True)
class Curve:
    """The variance of one respondent as a curve in the estimate: variance + slope x + bend x².

    x is the estimate minus the true value. The other proportions move as they do on average if this one is off by x:
    along V[:, j] / V_jj. The cells of samples move in the same way.

    Parameters
    ----------
    value, variance, slope, bend : float
    """

    value: float
    variance: float
    slope: float
    bend: float

    @classmethod
    def of(cls, design: Answerable, found: Variance, place: int) -> Curve:
        """The curve of one value at `place`."""
        value, one = float(found.values[place]), float(found.each[place])
        if one <= 0:
            return cls(value, 0.0, 0.0, 0.0)
        moved = [found.at + step * found.moves[place] for step in (_STEP, -_STEP)]
        if not found.ask.averages and (np.min(moved) < _MARGIN or np.max(moved) > 1 - _MARGIN):
            return cls(value, one, 0.0, 0.0)  # outside [0, 1] a likelihood has no variance, so there is no slope
        varied = (variance_of(design, found.ask._replace(proportions=each)) for each in moved)
        above, below = (float(each.covariance[place, place]) for each in varied)
        bend = (above + below - 2 * one) / (2 * _STEP**2)
        return cls(value, one, (above - below) / (2 * _STEP), min(bend, 0.0))


@dataclass(frozen=True)
class Curves:
    """A proportion, or the difference of one between two groups.

    Parameters
    ----------
    each : tuple of Curve
        One or two.
    sizes : tuple of float
        Respondents of each group, per respondent of the first group.
    """

    each: tuple[Curve, ...]
    sizes: tuple[float, ...]

    @property
    def value(self) -> float:
        """The true value, or the first minus the second."""
        return self.each[0].value - sum(curve.value for curve in self.each[1:])

    @property
    def whole(self) -> Curve:
        """The curve of the value itself: each group is off in proportion to its part of the variance."""
        parts = [curve.variance / size for curve, size in zip(self.each, self.sizes, strict=True)]
        total = sum(parts)
        if total == 0:
            return Curve(self.value, 0.0, 0.0, 0.0)
        taken = [part / total * sign for part, sign in zip(parts, (1, -1), strict=False)]
        slope = sum(t * c.slope / s for t, c, s in zip(taken, self.each, self.sizes, strict=True))
        bend = sum(t * t * c.bend / s for t, c, s in zip(taken, self.each, self.sizes, strict=True))
        return Curve(self.value, total, slope, bend)


def chance_of_rejection(curves: Curves, null: float, n: float, confidence: float) -> float:
    """How often the Wald interval excludes the null value, with n answers in the first group."""
    whole = curves.whole
    gap = whole.value - null
    if whole.variance == 0:
        return float(gap != 0)
    k = float(scipy.stats.norm.ppf(0.5 + confidence / 2)) ** 2 / n
    # (x + gap)² = k (variance + slope x + bend x²), a quadratic in the distance x of the estimate from the truth
    a, b, c = 1 - k * whole.bend, 2 * gap - k * whole.slope, gap**2 - k * whole.variance
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    error = math.sqrt(whole.variance / n)
    low, high = (-b - root) / (2 * a), (-b + root) / (2 * a)
    accepted = scipy.stats.norm.cdf(high / error) - scipy.stats.norm.cdf(low / error)
    return float(1 - accepted)


def power(
    design: Answerable,
    proportions: ArrayLike,
    *,
    n: float,
    null: float,
    category: Any = None,
    confidence: float = 0.95,
    **assumed: Any,
) -> float:
    """How often the interval of a proportion will exclude a null value.

    Parameters
    ----------
    design : Design, Levels or Samples
    proportions : (t,) float
        The assumed proportions of the population.
    n : int
        Respondents who answer.
    null : float
        The value from which the proportion shall be distinguished.
    category : label, optional
        The category of the proportion. Needed if there are more than two; of two, it is the first, sensitive one.
    confidence : float
        Confidence of the Wald interval; the test has size 1 - confidence.
    **assumed
        As in `variance`: estimator, preferences, target.

    Returns
    -------
    float
        In the normal approximation.

    Raises
    ------
    DataError
        A null value that lies outside [0, 1] or equals the assumed proportion; anything that `variance` refuses.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> round(planning.power(designs.warner(p=0.7), (0.1, 0.9), n=4_377, null=0.05), 3)
    0.8
    """
    found = variance(design, proportions, **assumed)
    place = found.place(category)
    told_from = share(null, what="null")
    if found.values[place] == told_from:
        raise DataError(
            f"power is for a difference; the assumed proportion of {_checks.label(found.names[place])!r} is the null "
            f"value, {null:g}"
        )
    curve = Curve.of(design, found, place)
    return chance_of_rejection(Curves((curve,), (1.0,)), told_from, respondents(n), _checks.confidence(confidence))


def difference_power(
    design: Answerable,
    first: ArrayLike,
    second: ArrayLike,
    *,
    n: tuple[float, float],
    category: Any = None,
    confidence: float = 0.95,
    other: Answerable | None = None,
    **assumed: Any,
) -> float:
    """How often the interval of the difference between two groups will exclude zero.

    Parameters
    ----------
    design : Design, Levels or Samples
    first, second : (t,) float
        The assumed proportions of the two groups.
    n : (int, int)
        Respondents who answer in each group.
    category, confidence
        As in `power`.
    other : Design or Levels, optional
        The design of the second group, if it differs.
    **assumed
        As in `variance`.

    Returns
    -------
    float

    Raises
    ------
    DataError
        Equal proportions; anything that `variance` refuses.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> round(planning.difference_power(designs.warner(p=0.8), (0.1, 0.9), (0.2, 0.8), n=(895, 895)), 3)
    0.8
    """
    if np.shape(n) != (2,):
        raise DataError(f"n must be the respondents of two groups, such as (500, 500); got {n!r}")
    one, two = map(respondents, n)
    curves = two_groups([(design, first), (other or design, second)], (1.0, two / one), category, **assumed)
    if curves.value == 0:
        raise DataError(f"power is for a difference; both groups have {curves.each[0].value:g}")
    return chance_of_rejection(curves, 0.0, one, _checks.confidence(confidence))


def two_groups(
    groups: Sequence[tuple[Answerable, ArrayLike]], sizes: tuple[float, float], category: Any, **assumed: Any
) -> Curves:
    """The difference in a category's proportion between two groups, each with its own design."""
    curves = []
    for each, proportions in groups:
        found = variance(each, proportions, **assumed)
        curves.append(Curve.of(each, found, found.place(category)))
    return Curves(tuple(curves), sizes)


def checked_power(power: Any, confidence: Any) -> float:
    """A target for power: above the size of the test and below one."""
    size = 1 - _checks.confidence(confidence)
    must = (
        f"power must lie between {size:.4g}, what a test of this confidence finds where nothing is, and 1, which "
        "no number of respondents reaches"
    )
    return number(power, lambda it: size < it < 1, must=must)
