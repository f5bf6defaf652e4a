"""Tests of a regression: Wald, for a term; likelihood ratio, against a smaller one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError, NaysayError
from naysay.regression.collapsing import collapse_rows
from naysay.regression.fitted import Fitted
from naysay.regression.likelihood import Model
from naysay.regression.solving import solve

_COMBINED = 1e-7  # length of a column, of what other columns leave of it, that counts as none
_ROUNDING = 1e-8  # relative difference of log-likelihoods that rounding explains


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
    term_coefficients = fit.coefficients[places]
    statistic = float(term_coefficients @ np.linalg.solve(fit.covariance[np.ix_(places, places)], term_coefficients))
    return Test.of("Wald", statistic, len(places), fit.degrees_of_freedom)


def likelihood_ratio(fit: Fitted, smaller: Fitted) -> Test:
    """Twice the difference of the log-likelihoods of a regression and of one with fewer terms."""
    for regression in (fit, smaller):
        if regression.weighted or regression.penalty is not None:
            reason = "survey weights" if regression.weighted else "a penalty"
            raise DataError(f"with {reason} the likelihood ratio has no known distribution; use the Wald test")
    fewer = fit.optimum.theta.size - smaller.optimum.theta.size
    if fewer <= 0:
        raise DataError("the other regression must have fewer coefficients; give the smaller one")
    _check_nested(fit, smaller)
    return Test.of("likelihood ratio", _ratio(fit.log_likelihood, smaller.log_likelihood), fewer)


def _check_nested(fit: Fitted, smaller: Fitted) -> None:
    """Raise unless the smaller regression is the larger one with some coefficients at 0."""
    for larger_part, smaller_part, part_name in (
        (fit.data.design, smaller.data.design, "the same design"),
        (fit.data.formula.response, smaller.data.formula.response, "the same answers"),
    ):
        if larger_part != smaller_part:
            raise DataError(
                f"a likelihood ratio compares regressions of {part_name}; "
                f"these have {larger_part!r} and {smaller_part!r}"
            )
    larger, fewer = fit.data.model, smaller.data.model
    if larger.within != fewer.within:
        raise DataError("a likelihood ratio compares regressions with the same cheaters; these have 'within' and 'CDM'")
    if not np.array_equal(fit.data.rows, smaller.data.rows) or not np.array_equal(larger.weight, fewer.weight):
        raise DataError("a likelihood ratio compares regressions of the same people; these have other rows or counts")
    if not np.array_equal(larger.answers.rows[larger.answer], fewer.answers.rows[fewer.answer]):
        raise DataError("a likelihood ratio compares regressions of the same answers; these have others")
    offsets = [np.zeros(1) if model.offset is None else model.offset for model in (larger, fewer)]
    if not np.array_equal(offsets[0], offsets[1]):
        raise DataError("a likelihood ratio compares regressions with the same offset; these have different ones")
    if larger.offset is not None and larger.t > 2 and larger.reference != fewer.reference:
        raise DataError("with an offset a likelihood ratio needs the same reference category in both regressions")
    outside = _outside(larger, fewer)
    if outside.any():
        name = smaller.data.matrix.columns[int(outside.argmax())]
        raise DataError(
            f"the smaller regression is not part of the larger one: its column {name!r} does not follow from "
            f"{_checks.listing_text(fit.data.matrix.columns)}; a likelihood ratio needs {fit.data.formula.text!r} to "
            f"hold every term of {smaller.data.formula.text!r}"
        )
    for regression in (fit, smaller):
        if regression.optimum.search.above:
            raise DataError(
                f"the likelihood of {regression.data.formula.text!r} is higher where some coefficients grow without "
                "end than at its highest finite maximum, so that the ratio has no known distribution; use the Wald test"
            )


def _outside(larger: Model, fewer: Model) -> NDArray[np.bool_]:
    """Which columns of the smaller model are no combinations of those of the larger one, (p,)."""
    scale = np.sqrt((larger.x**2).sum(axis=0))
    x = larger.x / scale
    remaining = fewer.x - x @ np.linalg.lstsq(x, fewer.x, rcond=None)[0]
    return np.asarray((remaining**2).sum(axis=0) > _COMBINED**2 * (fewer.x**2).sum(axis=0))


def _ratio(larger: float, smaller: float) -> float:
    """Twice the difference of two log-likelihoods, of which the first is at least the second.

    Raises
    ------
    NaysayError
        It is less by more than rounding: a search has missed the maximum.
    """
    if larger < smaller - _ROUNDING * (1 + abs(smaller)):
        raise NaysayError(
            f"the larger regression has the log-likelihood {larger:.6f}, below the {smaller:.6f} of the smaller one "
            "that it holds; a search has missed its maximum, which is an error of naysay: please report it"
        )
    return max(2 * (larger - smaller), 0.0)


def against_constant(fit: Fitted) -> Test | None:
    """The likelihood-ratio test against the constant alone, with the same offset and nuisance parameters."""
    constant_column = fit.data.formula.constant(fit.data.table)
    if constant_column is None or fit.weighted or fit.penalty is not None or fit.optimum.search.above:
        return None
    constant_model, _ = collapse_rows(fit.data.model.with_columns(constant_column.values), fit.data.squared)
    constant_optimum = solve(constant_model)
    if constant_optimum.search.above or constant_optimum.endless.size:
        return None
    statistic = _ratio(fit.log_likelihood, constant_optimum.log_likelihood)
    return Test.of("likelihood ratio", statistic, fit.optimum.theta.size - constant_optimum.theta.size)
