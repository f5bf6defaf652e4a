"""How precise n answers are, and how many answers a precision needs."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design import Answerable
from naysay.design.respondents import positive, share
from naysay.errors import DataError
from naysay.planning.power import Curve, Curves, chance_of_rejection, checked_power, two_groups
from naysay.planning.variance import Variance, variance

__all__ = ["MOST", "checked_error", "difference_sample_size", "people_for", "sample_size", "standard_error"]

MOST = 10**10
"""More respondents than there are people; a target that needs more is out of reach."""


def standard_error(design: Answerable, proportions: ArrayLike, *, n: float, **assumed: Any) -> NDArray[np.float64]:
    """Standard errors of the estimated proportions with n answers, (t,).

    sqrt(V_jj / n) with V of `variance`.

    Parameters
    ----------
    design : Design, Levels or Samples
    proportions : (t,) float
        What the population is assumed to be.
    n : int
        Respondents who answer.
    **assumed
        As in `variance`: estimator, preferences, target.

    Raises
    ------
    DataError
        Fewer than one respondent; what `variance` refuses.

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
    """The fewest answers that reach a standard error, or the power to tell a proportion from a null value.

    n = V_jj / SE², rounded up; for power the least n at which `power` is reached.

    Parameters
    ----------
    design : Design, Levels or Samples
    proportions : (t,) float
        What the population is assumed to be.
    standard_error : float, optional
        To be reached for the category, or for every category where none is named.
    null : float, optional
        Instead of a standard error: the value that the proportion is to be told from.
    power : float
        With `null`: how often the difference should be found.
    confidence : float
        With `null`: of the interval that leaves the null value out.
    category : label, optional
        With `null` it is needed where there are more than two.
    **assumed
        As in `variance`: estimator, preferences, target.

    Returns
    -------
    int

    Raises
    ------
    DataError
        A target that no number of respondents reaches, with the reason; neither or both targets.
    NotEstimable
        A design from which the proportions cannot be estimated.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> planning.sample_size(designs.warner(p=0.7), (0.1, 0.9), standard_error=0.02)
    3507
    >>> planning.sample_size(designs.warner(p=0.7), (0.1, 0.9), null=0.05, power=0.8)
    4377
    """
    if (standard_error is None) == (null is None):
        raise DataError("give standard_error= or null=, one of the two: what should the sample size reach?")
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
    curve = Curve.of(design, found, place)
    return _least(Curves((curve,), (1.0,)), share(null, what="null"), checked_power(power, confidence), confidence)


def people_for(found: Variance, standard_error: float, category: Any = None) -> int:
    """The fewest answers whose standard error is at most this one, for a category, or for all of them."""
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
    """A standard error to aim at."""
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
    """The fewest answers in two groups that find the difference of a proportion with this power.

    Parameters
    ----------
    design : Design, Levels or Samples
    first, second : (t,) float
        What the two groups are assumed to be.
    power, confidence, category
        As in `sample_size`.
    ratio : float
        Respondents of the second group for each of the first.
    other : Design or Levels, optional
        The design of the second group, where it is another.
    **assumed
        As in `variance`.

    Returns
    -------
    (int, int)

    Raises
    ------
    DataError
        Equal proportions, which no number of respondents tells apart; what `sample_size` refuses.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> planning.difference_sample_size(designs.warner(p=0.8), (0.1, 0.9), (0.2, 0.8), power=0.8)
    (895, 895)
    """
    sizes = (1.0, positive(ratio, what="ratio"))
    curves = two_groups([(design, first), (other or design, second)], sizes, category, **assumed)
    if curves.value == 0:
        raise DataError(
            f"no number of respondents tells two equal proportions apart; both groups have {curves.each[0].value:g}"
        )
    n = _least(curves, 0.0, checked_power(power, confidence), confidence)
    return n, math.ceil(n * ratio)


def _least(curves: Curves, null: float, power: float, confidence: float) -> int:
    """The least n of the first group with that power: doubled until enough, then halved in between."""
    enough = 2
    while chance_of_rejection(curves, null, enough, confidence) < power:
        enough *= 2
        if enough > MOST:
            raise DataError(
                f"a power of {power:g} needs more respondents than there are people: {curves.value:g} lies only "
                f"{abs(curves.value - null):.3g} from {null:g}"
            )
    least = enough // 2 + 1  # half of them were not enough
    reached = bisect_left(
        range(least, enough), True, key=lambda n: chance_of_rejection(curves, null, n, confidence) >= power
    )
    return least + reached
