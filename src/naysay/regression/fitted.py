"""A fitted regression: its coefficients with their covariance, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.estimate.information import KINDS
from naysay.estimate.result import Value
from naysay.regression.covariance import covariance, nuisance
from naysay.regression.likelihood import Model
from naysay.regression.reading import Data, formulaic
from naysay.regression.solving import Optimum, Penalty

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """The numbers of a regression; `Regression` describes the parameters."""

    data: Data
    optimum: Optimum
    standard_error_name: str
    penalty: Penalty | None
    model: Model
    squared: Floats

    @property
    def categories(self) -> tuple[Any, ...]:
        """The t categories."""
        return self.data.design.categories

    @property
    def reference(self) -> Any:
        """The category with which the others are compared."""
        return self.categories[self.model.reference]

    @cached_property
    def names(self) -> tuple[tuple[Any, str], ...]:
        """Category and column of each coefficient, (P,)."""
        free = [self.categories[j] for j in self.model.free]
        return tuple((category, column) for category in free for column in self.data.matrix.columns)

    @property
    def n(self) -> int:
        """People in the model."""
        return self.data.n

    @property
    def weighted(self) -> bool:
        """Whether people have survey weights, so that there is no likelihood to compare."""
        return self.data.tally.weighted

    @property
    def log_likelihood(self) -> float:
        """Σ w log f; with survey weights a pseudo-likelihood."""
        return self.optimum.log_likelihood

    @property
    def coefficients(self) -> Floats:
        """Log odds, (P,)."""
        return np.asarray(self.optimum.theta[: len(self.names)])

    @property
    def odds_ratios(self) -> Floats:
        """By what the odds against the reference are multiplied, (P,)."""
        return np.asarray(np.exp(self.coefficients))

    @cached_property
    def whole_covariance(self) -> Floats:
        """Covariance of coefficients and nuisance parameters; NaN for a nuisance parameter at 0 or 1."""
        return covariance(self.model, self.optimum, self.standard_error_name, self.penalty, self._meat)

    def _meat(self) -> Floats:
        """The covariance of the sum of the weighted scores, (P, P)."""
        theta, sampled = self.optimum.theta, self.data.sampled
        if sampled is None:
            n = self.model.weight.sum() ** 2 / self.squared.sum()
            return np.asarray(
                self.model.weighted_information(theta, "outer_product", self.squared) * (n / max(n - 1, 1))
            )
        score_covariance = sampled.covariance(self.model.scores(theta))
        if sampled.kept.any():  # a finite population takes off what sampling adds, and answers stay random
            score_covariance = score_covariance + self.model.weighted_information(theta, "randomization", sampled.kept)
        return np.asarray(score_covariance * self.data.scale**2)

    @property
    def covariance(self) -> Floats:
        """Covariance of the coefficients, (P, P)."""
        size = len(self.names)
        return np.asarray(self.whole_covariance[:size, :size])

    @property
    def standard_errors(self) -> Floats:
        """Of the coefficients, (P,)."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))

    @property
    def standard_error_kind(self) -> str:
        """What standard errors rest on, in words."""
        kind_text, sampled = KINDS[self.standard_error_name], self.data.sampled
        sampling_text = "linearized for the weights" if sampled is None else f"{sampled}"
        return kind_text + (f", {sampling_text}" if self.weighted else "")

    @property
    def degrees_of_freedom(self) -> float:
        """Of the variances: of a complex sample units less strata, less the columns but one; otherwise infinite."""
        if self.data.sampled is None:
            return np.inf
        return max(self.data.sampled.degrees_of_freedom - len(self.data.matrix.columns) + 1, 1.0)

    @property
    def statistics(self) -> Floats:
        """Coefficients over their standard errors, (P,)."""
        return self.coefficients / self.standard_errors

    @property
    def p_values(self) -> Floats:
        """Two-sided, of each coefficient against 0, (P,)."""
        return np.asarray(2 * scipy.stats.t.sf(np.abs(self.statistics), self.degrees_of_freedom))

    def quantile(self, confidence: float) -> float:
        """How many standard errors an interval reaches to either side."""
        return float(scipy.stats.t.ppf((1 + _checks.confidence(confidence)) / 2, self.degrees_of_freedom))

    def interval(self, confidence: float = 0.95) -> Floats:
        """Wald intervals of the coefficients, (P, 2)."""
        half = self.quantile(confidence) * self.standard_errors
        return np.column_stack([self.coefficients - half, self.coefficients + half])

    @cached_property
    def nuisance(self) -> dict[Any, Value]:
        """What the design estimates beside the categories, by name, each with its delta-method standard error.

        Shares of everybody are those at the average of the people in the model.
        """
        return nuisance(self.data.design, self.model, self.optimum, self.whole_covariance)

    def with_standard_errors(self, kind: str) -> Self:
        """The same regression with standard errors of another kind.

        Parameters
        ----------
        kind : {"observed", "expected", "outer_product", "sandwich"}
        """
        if kind not in KINDS:
            raise DataError(f"standard_errors must be one of {', '.join(KINDS)}; got {kind!r}")
        if self.weighted and kind != "sandwich":
            raise DataError(f"with survey weights only the sandwich is valid; got standard_errors={kind!r}")
        return replace(self, standard_error_name=kind)

    @property
    def params(self) -> Any:
        """Coefficients as a pandas Series by term, as in statsmodels; of several categories by category and term."""
        return self._labeled(self.coefficients)

    @property
    def bse(self) -> Any:
        """Standard errors as a pandas Series, named as `params`."""
        return self._labeled(self.standard_errors)

    @property
    def pvalues(self) -> Any:
        """Two-sided p-values as a pandas Series, named as `params`."""
        return self._labeled(self.p_values)

    def conf_int(self, alpha: float = 0.05) -> Any:
        """Wald intervals of 1 - alpha as a pandas DataFrame with the columns 0 and 1, as in statsmodels."""
        return self._labeled(self.interval(1 - alpha))

    def _labeled(self, numbers: Floats) -> Any:
        """Numbers (P,) or (P, columns), by term; of more than two categories by category and term."""
        pandas = formulaic("pandas")
        terms = [term for _, term in self.names]
        several = self.model.t > 2
        index = pandas.MultiIndex.from_tuples(self.names, names=["category", "term"]) if several else terms
        return (pandas.Series if numbers.ndim == 1 else pandas.DataFrame)(numbers, index=index)

    @property
    def bic(self) -> float:
        """Schwarz's criterion, P log n - 2 log L."""
        return self.optimum.theta.size * float(np.log(self.n)) - 2 * self.log_likelihood

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 P - 2 log L."""
        return 2 * self.optimum.theta.size - 2 * self.log_likelihood
