"""How often a difference that is there will be found.

The test is whether the Wald interval, estimate ± z standard errors, leaves the null value out. Its standard error is
itself estimated: an estimate that comes out low also has another standard error. So the critical values are where
(c - null)² = z² V(c)/n, with V(c) the variance that goes with an estimate of c; between them the estimate is normal.
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
_MARGIN = 1e-6  # a proportion that the likelihood needs to stay inside [0, 1]


@dataclass(frozen=True)
class Curve:
    """The variance of one respondent that goes with an estimate of a proportion: variance + slope x + bend x².

    x is the distance of the estimate from the true value; the other proportions move as they do on average when this
    one is misjudged by x, along V[:, j] / V_jj; cells of samples likewise.

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
            return cls(value, one, 0.0, 0.0)  # a likelihood has no variance beyond the ends to take a slope from
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
        Respondents of each, for every one of the first.
    """

    each: tuple[Curve, ...]
    sizes: tuple[float, ...]

    @property
    def value(self) -> float:
        """The true value, or the first less the second."""
        return self.each[0].value - sum(curve.value for curve in self.each[1:])

    @property
    def whole(self) -> Curve:
        """The curve of the value itself: each group is misjudged by its part of the variance."""
        parts = [curve.variance / size for curve, size in zip(self.each, self.sizes, strict=True)]
        total = sum(parts)
        if total == 0:
            return Curve(self.value, 0.0, 0.0, 0.0)
        taken = [part / total * sign for part, sign in zip(parts, (1, -1), strict=False)]
        slope = sum(t * c.slope / s for t, c, s in zip(taken, self.each, self.sizes, strict=True))
        bend = sum(t * t * c.bend / s for t, c, s in zip(taken, self.each, self.sizes, strict=True))
        return Curve(self.value, total, slope, bend)


def chance_of_rejection(curves: Curves, null: float, n: float, confidence: float) -> float:
    """How often the Wald interval leaves the null value out, with n answers in the first group."""
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
    """How often the interval of a proportion will leave a null value out.

    Parameters
    ----------
    design : Design, Levels or Samples
    proportions : (t,) float
        What the population is assumed to be.
    n : int
        Respondents who answer.
    null : float
        The value that the proportion is to be told from.
    category : label, optional
        Which proportion; needed where there are more than two. Of two the first, the sensitive one.
    confidence : float
        Of the Wald interval; the test has size 1 - confidence.
    **assumed
        As in `variance`: estimator, preferences, target.

    Returns
    -------
    float
        In the normal approximation.

    Raises
    ------
    DataError
        A null value outside [0, 1], or the assumed proportion itself; what `variance` refuses.

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
    """How often the interval of the difference between two groups will leave zero out.

    Parameters
    ----------
    design : Design, Levels or Samples
    first, second : (t,) float
        What the two groups are assumed to be.
    n : (int, int)
        Respondents who answer in each.
    category, confidence
        As in `power`.
    other : Design or Levels, optional
        The design of the second group, where it is another.
    **assumed
        As in `variance`.

    Returns
    -------
    float

    Raises
    ------
    DataError
        Equal proportions; what `variance` refuses.

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
    """The difference of a category's proportion between two groups, each with its design."""
    curves = []
    for each, proportions in groups:
        found = variance(each, proportions, **assumed)
        curves.append(Curve.of(each, found, found.place(category)))
    return Curves(tuple(curves), sizes)


def checked_power(power: Any, confidence: Any) -> float:
    """A power to aim at: above the size of the test and below one."""
    size = 1 - _checks.confidence(confidence)
    must = (
        f"power must lie between {size:.4g}, what a test of this confidence finds where nothing is, and 1, which "
        "no number of respondents reaches"
    )
    return number(power, lambda it: size < it < 1, must=must)
