"""The precision of n answers, and the number of answers for a precision."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design import Answerable
from naysay.design.several import positive, share
from naysay.errors import DataError
from naysay.planning.power import Exclusion, checked_power, exclusion, two_groups
from naysay.planning.variance import Variance, variance

__all__ = ["MOST", "checked_error", "difference_sample_size", "people_for", "sample_size", "standard_error"]

MOST = 10**10
"""A target that needs more respondents than this is out of reach: there are not that many people."""

_FEW = 400  # up to so many at least are tried, since whole counts matter most there


def standard_error(design: Answerable, proportions: ArrayLike, *, n: float, **assumed: Any) -> NDArray[np.float64]:
    """Standard errors of the estimated proportions with n answers, (t,).

    sqrt(V_jj / n), with V from `variance`.

    Parameters
    ----------
    design : Design, Levels or Samples
    proportions : (t,) float
        The assumed proportions of the population.
    n : int
        Respondents who answer.
    **assumed
        As in `variance`: estimator, preferences, target.

    Raises
    ------
    DataError
        Fewer than one respondent; anything that `variance` refuses.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> planning.standard_error(designs.warner(p=0.7), (0.1, 0.9), n=1_000).round(4)
    array([0.0374, 0.0374])
    """
    return variance(design, proportions, **assumed).standard_errors(n)


def sample_size(
    design: Answerable,
    proportions: ArrayLike,
    *,
    standard_error: float | None = None,
    null: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    category: Any = None,
    **assumed: Any,
) -> int:
    """The smallest number of answers for a standard error, or for the power to reject a null value.

    n = V_jj / SE², rounded up. For power it is the least n from which on the survey reaches `power`: counts are whole,
    so one respondent more may tell a little less.

    Parameters
    ----------
    design : Design, Levels or Samples
    proportions : (t,) float
        The assumed proportions of the population.
    standard_error : float, optional
        The standard error to reach, for `category`, or for every category if none is named.
    null : float, optional
        Instead of a standard error: the value from which the proportion shall be distinguished.
    power : float
        With `null`: how often the test shall detect the difference.
    confidence : float
        With `null`: confidence of the interval that excludes the null value.
    category : label, optional
        With `null` it is needed if there are more than two categories.
    **assumed
        As in `variance`: estimator, preferences, target.

    Returns
    -------
    int

    Raises
    ------
    DataError
        A target that no number of respondents reaches (the message gives the reason); no target, or both.
    NotEstimable
        A design from which the proportions cannot be estimated.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> planning.sample_size(designs.warner(p=0.7), (0.1, 0.9), standard_error=0.02)
    3507
    >>> planning.sample_size(designs.warner(p=0.7), (0.1, 0.9), null=0.05, power=0.8)
    4344
    """
    if (standard_error is None) == (null is None):
        raise DataError("give either standard_error= or null=: what shall the sample size reach?")
    found = variance(design, proportions, **assumed)
    if standard_error is not None:
        return people_for(found, standard_error, category)
    place = found.place(category)
    name = _checks.label(found.names[place])
    value = float(found.values[place])
    if value == null:
        raise DataError(
            f"no number of respondents tells {value:g} from {null:g}: the assumed proportion of {name!r} is the null "
            "value"
        )
    told_from, wanted = share(null, what="null"), checked_power(power, confidence)
    far = f"{value:g} lies only {abs(value - told_from):.3g} from {told_from:g}"
    test = exclusion(design, found, place, told_from, confidence)
    return test.enough(_least(test, wanted, far=far), wanted)


def people_for(found: Variance, standard_error: float, category: Any = None) -> int:
    """The smallest number of answers whose standard error is at most `wanted`, for one category or for all."""
    wanted = checked_error(standard_error)
    one = float(found.each[: found.categories].max() if category is None else found.each[found.place(category)])
    needed = one / wanted**2
    if needed > MOST:
        raise DataError(
            f"a standard error of {wanted:g} needs {needed:.3g} respondents, more than there are people; one "
            f"respondent has a standard deviation of {math.sqrt(one):.4g} under this design, so choose one that tells "
            "more, or a larger standard error"
        )
    return max(1, math.ceil(needed - 1e-9))


def checked_error(standard_error: Any) -> float:
    """A target for the standard error: above 0."""
    hint = " (no number of respondents makes an estimate exact)"
    return positive(standard_error, what="standard_error", hint=hint)


def difference_sample_size(
    design: Answerable,
    first: ArrayLike,
    second: ArrayLike,
    *,
    power: float = 0.8,
    confidence: float = 0.95,
    category: Any = None,
    ratio: float = 1.0,
    other: Answerable | None = None,
    **assumed: Any,
) -> tuple[int, int]:
    """The smallest number of answers in two groups that detects their difference with this power.

    Parameters
    ----------
    design : Design, Levels or Samples
    first, second : (t,) float
        The assumed proportions of the two groups.
    power, confidence, category
        As in `sample_size`.
    ratio : float
        Respondents of the second group per respondent of the first.
    other : Design or Levels, optional
        The design of the second group, if it differs.
    **assumed
        As in `variance`.

    Returns
    -------
    (int, int)

    Raises
    ------
    DataError
        Equal proportions, which no number of respondents tells apart; anything that `sample_size` refuses.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> planning.difference_sample_size(designs.warner(p=0.8), (0.1, 0.9), (0.2, 0.8), power=0.8)
    (894, 894)
    """
    sizes = (1.0, positive(ratio, what="ratio"))
    wanted = checked_power(power, confidence)
    test = two_groups([(design, first), (other or design, second)], sizes, category, confidence, **assumed)
    n = test.enough(_least(test, wanted, far="the groups differ too little"), wanted)
    return n, math.ceil(n * ratio)


def _least(test: Exclusion, power: float, *, far: str) -> int:
    """The least n from which on the power is reached; counts are whole, so power does not rise with every respondent.

    The number is doubled until it is enough, and then found by bisection; numbers around it are tried.
    """
    chance, tried = test.chance, test.tried

    def enough(n: int) -> bool:
        return bool(chance(np.array([float(n)]))[0] >= power)

    most = 2
    while not enough(most):
        most *= 2
        if most > MOST:
            raise DataError(f"a power of {power:g} needs more respondents than there are people: {far}")
    low, high = most // 2 + 1, max(4 * most, _FEW)
    if high - low > tried:
        about = low + bisect_left(range(low, most), True, key=enough)
        low, high = max(2, about - tried // 2), about + tried // 2
    while True:
        sizes = np.arange(low, high + 1)
        failing = sizes[chance(sizes.astype(float)) < power]
        if not len(failing):
            return low
        if failing[-1] < high:
            return int(failing[-1]) + 1
        low, high = high, high + tried
