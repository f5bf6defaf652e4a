"""The mean of a number, from reports that each are an unbiased number of their respondent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from naysay import _checks
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.estimate.information import answered_under, checked_target
from naysay.estimate.linear import Floats
from naysay.estimate.moments import moments
from naysay.estimate.quantity import QUANTITIES, Measured, Quantity, Row
from naysay.tally import Tally

__all__ = ["Mean", "mean"]


@dataclass(frozen=True, eq=False)
class Mean(Measured):
    """A mean with its standard error.

    Parameters
    ----------
    design : Design or Levels
    tally : Tally
    target : {"population", "file"}
    value, standard_error : float
        Unbiased; it may lie outside the bounds. The standard error is NaN for a single answer.
    degrees_of_freedom : float
        Of the quantile of t for intervals.
    bounds : (float, float)
        The least and the largest number.
    """

    value: float
    standard_error: float
    degrees_of_freedom: float
    bounds: tuple[float, float]

    quantity: ClassVar[str] = "mean"
    method: ClassVar[str] = "mean of unbiased numbers"

    @property
    def errors(self) -> str:
        rests = "the randomization only" if self.target == "file" else "their spread"
        return f"Wald with t, from {rests}"

    def interval(self, confidence: float = 0.95) -> Floats:
        """The confidence interval (2,), cut to the bounds.

        Parameters
        ----------
        confidence : float
        """
        z = scipy.stats.t.ppf(0.5 + _checks.confidence(confidence) / 2, self.degrees_of_freedom)
        ends = self.value + np.array([-z, z]) * self.standard_error
        return np.asarray(np.clip(ends, *self.bounds))

    def rows(self, confidence: float = 0.95) -> list[Row]:
        return [Row("mean", self.value, self.standard_error, *self.interval(confidence))]

    def remarks(self) -> list[str]:
        low, high = self.bounds
        if low <= self.value <= high:
            return []
        return [f"outside [{low:g}, {high:g}], as an unbiased estimate may be; the interval is cut to it"]


def mean(design: Answerable, tally: Tally, *, target: str = "population") -> Mean:
    """The unbiased mean of a number, with its variance for n reports.

    Each report o becomes a number u(o) with E[u | x] = x, for windows that of its place; the estimate is their
    weighted mean. For a population its variance is n/(n-1) Σw²(u - ū)²/(Σw)², or that of the complex sample. For a
    file, where only the randomization is random, it is Σw² Var(u | x)/(Σw)²; the square of x is known up to the
    variance of rounding it to the grid, which counts as randomization at its largest, so that this variance is never
    too small.

    Parameters
    ----------
    design : Design or Levels
        One of `designs.number` or `designs.window`; or any design whose categories are numbers.
    tally : Tally
        Of counts or weights.
    target : {"population", "file"}

    Returns
    -------
    Mean

    Raises
    ------
    DataError
        If the categories are no numbers, or the tally was collected under another design.
    NotEstimable
        If the design cannot tell some categories apart.

    References
    ----------
    Duchi, Jordan & Wainwright (2018); N. Wang et al. (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import designs
    >>> survey, truth = designs.number(low=0, high=100, epsilon=2), np.repeat([20, 50, 80], [400, 300, 300])
    >>> fit = mean(survey, survey.tally(survey.randomize(truth, rng=np.random.default_rng(1))))
    >>> round(fit.value, 2), round(fit.standard_error, 2), fit.interval().round(1)
    (47.51, 1.62, array([44.3, 50.7]))
    """
    answered_under(design, tally)
    checked_target(target)
    bounds = _bounds(design)
    parts = [part for part in tally.parts if part.n]
    if any(part.design.numbers(part.codes[:1]) is None for part in parts):
        value, variance = _of_categories(design, tally, target)
    else:
        value, variance = _of_numbers(tally, parts, target)
    freedom = tally.n - 1.0 if tally.complex is None else tally.complex.degrees_of_freedom
    return Mean(design, tally, target, value, math.sqrt(variance), max(freedom, 1.0), bounds)


def _bounds(design: Answerable) -> tuple[float, float]:
    """The least and the largest category, if all are numbers."""
    odd = next(
        (each for each in design.categories if isinstance(each, bool) or not isinstance(each, int | float)), None
    )
    if odd is not None:
        raise DataError(f"a mean needs categories that are numbers; {odd!r} is none", value=odd)
    return float(min(design.categories)), float(max(design.categories))


def _of_categories(design: Answerable, tally: Tally, target: str) -> tuple[float, float]:
    """The mean of the categories under their unbiased proportions, and its variance."""
    fit, labels = moments(design, tally, target=target), np.array(design.categories, dtype=float)
    return float(labels @ fit.proportions), max(float(labels @ fit.covariance @ labels), 0.0)


def _of_numbers(tally: Tally, parts: list[Any], target: str) -> tuple[float, float]:
    """The mean of the reports' numbers, and its variance."""
    number, square = (np.concatenate([part.design.numbers(part.codes, power) for part in parts]) for power in (1, 2))
    weight, squared = (np.concatenate([getattr(part, name) for part in parts]) for name in ("weight", "weight_squared"))
    total = float(weight.sum())
    value = float(weight @ number / total)
    rounding = max(part.design.step for part in parts) ** 2 / 4

    def randomized(heavy: Floats) -> float:
        """Σ w² Var(u | x): the mean of u² less that of x², for which Jensen gives a lower bound, too."""
        known = max(float(heavy @ square) - rounding * heavy.sum(), value**2 * heavy.sum())
        return float(max(heavy @ number**2 - known, 0.0)) / total**2

    if target == "file":
        return value, randomized(squared)
    if tally.n < 2:
        return value, math.nan
    sampled = tally.sampled.take(np.concatenate([np.full(len(part.codes), part.n > 0) for part in tally.parts]))
    spread = float(sampled.covariance((number - value).reshape(-1, 1) / total)[0, 0])
    kept = sampled.kept
    return value, spread + (randomized(kept) if kept.any() else 0.0)


QUANTITIES["mean"] = Quantity("mean", mean, "the mean of a number, unbiased", ("mean",))
