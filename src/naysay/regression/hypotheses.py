"""Tests of a regression: Wald, for a term; likelihood ratio, against a smaller one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from naysay import _checks
from naysay.errors import DataError
from naysay.regression.collapsing import collapsed
from naysay.regression.fitted import Fitted
from naysay.regression.solving import solve

__all__ = ["Test", "against_constant", "likelihood_ratio", "wald"]


@dataclass(frozen=True)
class Test:
    """A test of a hypothesis about coefficients.

    Parameters
    ----------
    name : str
        Wald or likelihood ratio.
    statistic : float
    degrees_of_freedom : int
    denominator : float
        Degrees of freedom of the variances, with which the Wald statistic over its degrees is referred to F; infinite
        for χ².
    p_value : float
    """

    __test__ = False  # pytest takes a class of this name for a test

    name: str
    statistic: float
    degrees_of_freedom: int
    denominator: float
    p_value: float

    @classmethod
    def of(cls, name: str, statistic: float, degrees_of_freedom: int, denominator: float = np.inf) -> Test:
        """The test of a χ² statistic, or of one whose variances have few degrees of freedom."""
        if np.isinf(denominator):
            p_value = float(scipy.stats.chi2.sf(statistic, degrees_of_freedom))
        else:
            p_value = float(scipy.stats.f.sf(statistic / degrees_of_freedom, degrees_of_freedom, denominator))
        return cls(name, float(statistic), degrees_of_freedom, denominator, p_value)

    def __str__(self) -> str:
        below = "" if np.isinf(self.denominator) else f" and {self.denominator:.4g}"
        return f"{self.name} χ² = {self.statistic:.2f} on {self.degrees_of_freedom}{below} df, p = {self.p_value:.3g}"


def wald(fit: Fitted, term: str) -> Test:
    """The test that all coefficients of a term are 0: bᵀ V⁻¹ b."""
    terms = fit.data.matrix.terms
    if term not in terms:
        raise DataError(f"{term!r} is no term of the formula; {_checks.nearest(term, terms)}")
    p = len(fit.data.matrix.columns)
    places = [j * p + column for j in range(fit.model.t - 1) for column in terms[term]]
    own = fit.coefficients[places]
    statistic = float(own @ np.linalg.solve(fit.covariance[np.ix_(places, places)], own))
    return Test.of("Wald", statistic, len(places), fit.degrees_of_freedom)


def likelihood_ratio(fit: Fitted, smaller: Fitted) -> Test:
    """Twice the difference of the log-likelihoods of a regression and of one with fewer terms."""
    for each in (fit, smaller):
        if each.weighted or each.penalty is not None:
            what = "survey weights" if each.weighted else "a penalty"
            raise DataError(f"with {what} the likelihood ratio has no known distribution; use the Wald test")
    asked = [(each.data.design, each.data.formula.response) for each in (fit, smaller)]
    if asked[0] != asked[1] or not np.array_equal(fit.data.rows, smaller.data.rows):
        raise DataError("a likelihood ratio compares regressions of the same people and answers; these have others")
    fewer = fit.optimum.theta.size - smaller.optimum.theta.size
    if fewer <= 0:
        raise DataError("the other regression must have fewer coefficients; give the smaller one")
    statistic = max(2 * (fit.log_likelihood - smaller.log_likelihood), 0.0)
    return Test.of("likelihood ratio", statistic, fewer)


def against_constant(fit: Fitted) -> Test | None:
    """The likelihood-ratio test against the constant alone, with the same offset and nuisance parameters."""
    constant = fit.data.formula.constant(fit.data.table)
    if constant is None or fit.weighted or fit.penalty is not None:
        return None
    model, _ = collapsed(fit.data.model.with_columns(constant.values), fit.data.squared)
    beta, nu = fit.model.split(fit.optimum.theta)
    average, _ = fit.model.average(fit.optimum.theta)
    start = np.log(average[fit.model.free] / average[fit.model.reference])
    if model.offset is not None:
        start -= model.weight @ model.offset / model.weight.sum()
    found = solve(model, np.concatenate([start, nu]))
    statistic = max(2 * (fit.log_likelihood - found.log_likelihood), 0.0)
    return Test.of("likelihood ratio", statistic, beta.size - (fit.model.t - 1))
