"""Groups side by side: differences with their covariance, and whether all could be alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.design import Design
from naysay.errors import DataError
from naysay.estimate.information import evidence
from naysay.estimate.linear import rank_of
from naysay.estimate.result import Estimate
from naysay.estimate.solver import maximize
from naysay.tally import Tally

__all__ = ["Differences", "differences"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Differences:
    """Each group's proportions less those of a reference group, and a test of whether all groups are alike.

    Parameters
    ----------
    reference : label
        The group that the others are compared with.
    groups : tuple of label
        The G - 1 others.
    categories : tuple of label
    difference : (G - 1, t) float
    covariance : ((G - 1) t, (G - 1) t) float
        Of the differences in row order; they share the reference group.
    test : str
        What the test is: a likelihood ratio, or Wald's.
    statistic : float
    degrees_of_freedom : int
    p_value : float
        By χ²; NaN where it cannot be computed.
    """

    reference: Any
    groups: tuple[Any, ...]
    categories: tuple[Any, ...]
    difference: Floats
    covariance: Floats
    test: str
    statistic: float
    degrees_of_freedom: int
    p_value: float

    @property
    def standard_errors(self) -> Floats:
        """Of the differences, (G - 1, t)."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)).reshape(self.difference.shape))

    def interval(self, confidence: float = 0.95) -> Floats:
        """Normal intervals of the differences, (G - 1, t, 2)."""
        half = scipy.stats.norm.ppf(0.5 + confidence / 2) * self.standard_errors
        return np.stack([self.difference - half, self.difference + half], axis=-1)

    def __str__(self) -> str:
        value = "< 0.001" if self.p_value < 0.001 else f"= {self.p_value:.3f}"
        told = "no test" if math.isnan(self.p_value) else f"p {value}"
        return f"equality of the groups: {self.test} = {self.statistic:.2f} on {self.degrees_of_freedom} df, {told}"


def differences(fits: Mapping[Any, Estimate], *, reference: Any = ...) -> Differences:
    """The differences between groups that were estimated one by one.

    Groups are taken as independent, so that variances add. All groups are tested for equal proportions: maximum
    likelihood under one design by the likelihood ratio of one set of proportions against one a group; everything else
    (moments, levels, several samples, survey weights, a file) by Wald's test on the differences themselves.

    Parameters
    ----------
    fits : {group: Estimate}
        Two or more, all about the same categories.
    reference : label, optional
        The group to compare with; by default the first that has a name.

    Raises
    ------
    DataError
        Fewer than two groups, an unknown reference, or different categories.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.warner(p=0.8)
    >>> fits = {
    ...     g: estimate.maximum_likelihood(survey, survey.tally(count=n))
    ...     for g, n in {"a": [300, 700], "b": [420, 580]}.items()
    ... }
    >>> found = estimate.differences(fits)
    >>> found.difference.round(3), found.standard_errors.round(4)
    (array([[ 0.2, -0.2]]), array([[0.0355, 0.0355]]))
    >>> print(found)
    equality of the groups: LR = 31.36 on 1 df, p < 0.001
    """
    names = list(fits)
    if len(names) < 2:
        raise DataError(f"differences need two groups or more; got {len(names)}")
    named = [name for name in names if name is not None]
    first = (named or names)[0] if reference is ... else reference
    if first not in fits:
        raise DataError(f"the reference must be one of the groups; got {first!r}")
    categories = fits[first].categories
    if any(fit.categories != categories for fit in fits.values()):
        raise DataError("the groups must be about the same categories")
    others = [name for name in names if name != first]
    difference = np.array([fits[name].proportions - fits[first].proportions for name in others])
    covariance = _covariance([fits[name] for name in others], fits[first])
    test, statistic, df = _equality(list(fits.values()), difference, covariance)
    p_value = float(scipy.stats.chi2.sf(statistic, df)) if df > 0 and math.isfinite(statistic) else math.nan
    return Differences(first, tuple(others), categories, difference, covariance, test, statistic, df, p_value)


def _covariance(others: list[Estimate], reference: Estimate) -> Floats:
    t = len(reference.categories)
    blocks = np.kron(np.ones((len(others),) * 2), reference.covariance)
    for place, fit in enumerate(others):
        own = slice(place * t, (place + 1) * t)
        blocks[own, own] += fit.covariance
    return np.asarray(blocks)


def _equality(fits: list[Estimate], difference: Floats, covariance: Floats) -> tuple[str, float, int]:
    """The test, its statistic and its degrees of freedom."""
    if not all(_plain(fit) and fit.design == fits[0].design for fit in fits):
        usable = np.isfinite(covariance).all()
        df = int(np.linalg.matrix_rank(covariance, tol=1e-12)) if usable else 0
        if not df:
            return "Wald", math.nan, 0
        inverse = np.linalg.pinv(covariance, rcond=1e-10, hermitian=True)
        return "Wald", float(difference.ravel() @ inverse @ difference.ravel()), df
    pooled: Tally = reduce(add, (fit.tally for fit in fits))
    apart = sum(_log_likelihood(fit.tally) for fit in fits)
    df = (len(fits) - 1) * rank_of(np.vstack([part.design.expected_statistic for part in pooled.parts if part.n]))
    return "LR", max(2 * (apart - _log_likelihood(pooled)), 0.0), df


def _plain(fit: Estimate) -> bool:
    """Whether an estimate is the most likely one under a single design, for a population without weights."""
    single = isinstance(fit.design, Design)
    return single and fit.maximum is not None and fit.target == "population" and not fit.tally.weighted


def _log_likelihood(tally: Tally) -> float:
    rows, weights, _ = evidence(tally)
    return maximize(rows, weights, tolerance=1e-6).log_likelihood
