"""What follows from fitted coefficients: their covariance, tests, effects on shares, and predictions.

Standard errors of shares are those of the delta method.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import narwhals as nw
import numpy as np
import polars as pl
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Floats
from naysay.design import Answerable
from naysay.errors import DataError, NaysayError
from naysay.estimate.fit import Value
from naysay.estimate.likelihood import KINDS
from naysay.regression.likelihood import Model, collapse_rows
from naysay.regression.reading import Data, formulaic, table_of
from naysay.regression.solving import Optimum, Penalty, solve


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
        free_categories = [self.categories[j] for j in self.model.free]
        return tuple((category, column) for category in free_categories for column in self.data.matrix.columns)

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
        return coefficient_covariance(self.model, self.optimum, self.standard_error_name, self.penalty, self._meat)

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
        coefficient_count = len(self.names)
        return np.asarray(self.whole_covariance[:coefficient_count, :coefficient_count])

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
        half_width = self.quantile(confidence) * self.standard_errors
        return np.column_stack([self.coefficients - half_width, self.coefficients + half_width])

    @cached_property
    def nuisance(self) -> dict[Any, Value]:
        """What the design estimates beside the categories, by name, each with its delta-method standard error.

        Shares of everybody are those at the average of the people in the model.
        """
        return nuisance_values(self.data.design, self.model, self.optimum, self.whole_covariance)

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
        is_multinomial = self.model.t > 2
        term_index = pandas.MultiIndex.from_tuples(self.names, names=["category", "term"]) if is_multinomial else terms
        return (pandas.Series if numbers.ndim == 1 else pandas.DataFrame)(numbers, index=term_index)

    @property
    def bic(self) -> float:
        """Schwarz's criterion, P log n - 2 log L."""
        return self.optimum.theta.size * float(np.log(self.n)) - 2 * self.log_likelihood

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 P - 2 log L."""
        return 2 * self.optimum.theta.size - 2 * self.log_likelihood


_LISTED = 10_000  # responses up to which the expected information is summed over all of them


def coefficient_covariance(
    model: Model, optimum: Optimum, kind: str, penalty: Penalty | None, meat: Callable[[], Floats]
) -> Floats:
    """The covariance (P, P) of coefficients and nuisance parameters.

    With I the information and J the covariance of the sum of the scores, `meat`: I⁻¹, or the sandwich I⁻¹JI⁻¹. A
    nuisance parameter at 0 or 1 is held there: the others' covariance is given it, and its own is NaN.
    """
    if kind == "expected" and any(channel.space.size > _LISTED for channel in model.answers.channels):
        raise DataError("expected information needs all responses written out, and there are too many; use 'observed'")
    bread = model.evaluate(optimum.theta, "observed" if kind == "sandwich" else kind).information
    if penalty is not None:
        bread = bread + penalty.prior_terms(model, optimum.theta).information
    free_parameters = np.flatnonzero(~optimum.bound)
    free_covariance = np.linalg.inv(bread[np.ix_(free_parameters, free_parameters)])
    if kind == "sandwich":
        free_covariance = free_covariance @ meat()[np.ix_(free_parameters, free_parameters)] @ free_covariance
    full_matrix = np.full((model.size, model.size), np.nan)
    full_matrix[np.ix_(free_parameters, free_parameters)] = free_covariance
    return full_matrix


def nuisance_values(design: Answerable, model: Model, optimum: Optimum, covariance: Floats) -> dict[Any, Value]:
    """The nuisance shares of a design at the average of the people in the model."""
    if not design.nuisance:
        return {}
    _, nu = model.split(optimum.theta)
    mean_shares, share_slopes = model.average(optimum.theta)
    cell_chances = model.within.chances(nu)
    cell_shares, cell_slopes = cell_chances @ mean_shares, cell_chances @ share_slopes
    for k in range(model.q):
        cell_slopes[:, model.size - model.q + k] = model.within.chances(nu, k) @ mean_shares
    is_free = ~optimum.bound
    value_of_share = {}
    for share in design.nuisance:
        part_weights, whole_weights = share.weights(design.cells)
        share_estimate = float(part_weights @ cell_shares / (whole_weights @ cell_shares))
        gradient = ((part_weights - share_estimate * whole_weights) @ cell_slopes / (whole_weights @ cell_shares))[
            is_free
        ]
        is_inside = not optimum.bound[np.abs((part_weights - share_estimate * whole_weights) @ cell_slopes) > 0].any()
        variance = float(gradient @ covariance[np.ix_(is_free, is_free)] @ gradient)
        value_of_share[share.name] = Value(share_estimate, float(np.sqrt(variance)) if is_inside else math.nan)
    return value_of_share


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
    term_places = [j * p + column for j in range(fit.model.t - 1) for column in terms[term]]
    term_coefficients = fit.coefficients[term_places]
    statistic = float(
        term_coefficients @ np.linalg.solve(fit.covariance[np.ix_(term_places, term_places)], term_coefficients)
    )
    return Test.of("Wald", statistic, len(term_places), fit.degrees_of_freedom)


def likelihood_ratio(fit: Fitted, smaller: Fitted) -> Test:
    """Twice the difference of the log-likelihoods of a regression and of one with fewer terms."""
    for regression in (fit, smaller):
        if regression.weighted or regression.penalty is not None:
            reason = "survey weights" if regression.weighted else "a penalty"
            raise DataError(f"with {reason} the likelihood ratio has no known distribution; use the Wald test")
    extra_coefficients = fit.optimum.theta.size - smaller.optimum.theta.size
    if extra_coefficients <= 0:
        raise DataError("the other regression must have fewer coefficients; give the smaller one")
    _check_nested(fit, smaller)
    return Test.of("likelihood ratio", _ratio(fit.log_likelihood, smaller.log_likelihood), extra_coefficients)


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
    larger_model, smaller_model = fit.data.model, smaller.data.model
    if larger_model.within != smaller_model.within:
        raise DataError("a likelihood ratio compares regressions with the same cheaters; these have 'within' and 'CDM'")
    if not np.array_equal(fit.data.rows, smaller.data.rows) or not np.array_equal(
        larger_model.weight, smaller_model.weight
    ):
        raise DataError("a likelihood ratio compares regressions of the same people; these have other rows or counts")
    if not np.array_equal(
        larger_model.answers.rows[larger_model.answer], smaller_model.answers.rows[smaller_model.answer]
    ):
        raise DataError("a likelihood ratio compares regressions of the same answers; these have others")
    offsets = [np.zeros(1) if model.offset is None else model.offset for model in (larger_model, smaller_model)]
    if not np.array_equal(offsets[0], offsets[1]):
        raise DataError("a likelihood ratio compares regressions with the same offset; these have different ones")
    if larger_model.offset is not None and larger_model.t > 2 and larger_model.reference != smaller_model.reference:
        raise DataError("with an offset a likelihood ratio needs the same reference category in both regressions")
    is_outside = _outside(larger_model, smaller_model)
    if is_outside.any():
        column_name = smaller.data.matrix.columns[int(is_outside.argmax())]
        raise DataError(
            f"the smaller regression is not part of the larger one: its column {column_name!r} does not follow from "
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
    column_scale = np.sqrt((larger.x**2).sum(axis=0))
    x = larger.x / column_scale
    column_residuals = fewer.x - x @ np.linalg.lstsq(x, fewer.x, rcond=None)[0]
    return np.asarray((column_residuals**2).sum(axis=0) > _COMBINED**2 * (fewer.x**2).sum(axis=0))


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


_POINTS = 21  # values along a number at which shares are predicted
_STEP = 1e-4  # of a number or its standard deviation, to either side: the error of the derivative is its square


@dataclass(frozen=True, eq=False)
class Effects:
    """Average marginal effects on the shares of the categories.

    Parameters
    ----------
    names : tuple of str
        A variable, or for a text ``gender: m - f``.
    categories : tuple of label
    values : (effects, t) float
        Changes of shares; those of one effect sum to 0.
    standard_errors : (effects, t) float
        Of people with these covariates.
    degrees_of_freedom : float
    """

    names: tuple[str, ...]
    categories: tuple[Any, ...]
    values: Floats
    standard_errors: Floats
    degrees_of_freedom: float = np.inf

    def interval(self, confidence: float = 0.95) -> Floats:
        """Wald intervals, (effects, t, 2)."""
        quantile = scipy.stats.t.ppf((1 + _checks.confidence(confidence)) / 2, self.degrees_of_freedom)
        return np.stack([self.values + side * quantile * self.standard_errors for side in (-1, 1)], axis=-1)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted shares of the categories.

    Parameters
    ----------
    categories : tuple of label
    probabilities, standard_errors : (rows, t) float
    degrees_of_freedom : float
    """

    categories: tuple[Any, ...]
    probabilities: Floats
    standard_errors: Floats
    degrees_of_freedom: float = np.inf

    def interval(self, confidence: float = 0.95) -> Floats:
        """Intervals (rows, t, 2), symmetric on the logit scale and so within [0, 1]."""
        quantile = scipy.stats.t.ppf((1 + _checks.confidence(confidence)) / 2, self.degrees_of_freedom)
        with np.errstate(divide="ignore", invalid="ignore"):
            half_width = quantile * self.standard_errors / (self.probabilities * (1 - self.probabilities))
            logit = scipy.special.logit(self.probabilities)
            return np.asarray(
                np.stack([scipy.special.expit(logit - half_width), scipy.special.expit(logit + half_width)], axis=-1)
            )


def effects(fit: Fitted, variables: Sequence[str] | None) -> Effects:
    """Average marginal effects of variables, all of them by default."""
    variable_names = fit.data.formula.variables
    for variable_name in variables or ():
        if variable_name not in variable_names:
            raise DataError(
                f"{variable_name!r} is no variable of the formula; {_checks.nearest(variable_name, variable_names)}",
                column=variable_name,
            )
    effect_names, share_changes, change_gradients = [], [], []
    for variable_name in variable_names if variables is None else variables:
        for effect_name, share_change, change_gradient in _changes(fit, variable_name):
            effect_names.append(effect_name)
            share_changes.append(share_change)
            change_gradients.append(change_gradient)
    t = len(fit.categories)
    effect_sizes, effect_slopes = (
        np.reshape(share_changes, (-1, t)),
        np.reshape(change_gradients, (-1, t, fit.model.size)),
    )
    return Effects(
        tuple(effect_names), fit.categories, effect_sizes, _errors(fit, effect_slopes), fit.degrees_of_freedom
    )


def _changes(fit: Fitted, name: str) -> Iterator[tuple[str, Floats, Floats]]:
    """The effects of one variable: name, change of the mean shares (t,), and its gradient (t, P)."""
    levels = _levels(fit, name)
    if levels:
        first_shares, first_slopes = _average_shares(fit, {name: levels[0]})
        for level in levels[1:]:
            level_shares, level_slopes = _average_shares(fit, {name: level})
            yield f"{name}: {level} - {levels[0]}", level_shares - first_shares, level_slopes - first_slopes
        return
    share_change, change_gradient = _derivative(fit, name)
    yield name, share_change, change_gradient


def _derivative(fit: Fitted, name: str) -> tuple[Floats, Floats]:
    """The mean derivative of the shares by a number, (t,), and its gradient (t, P).

    Steps are small beside the number itself, so that a logarithm stays one, and do not leave the range that a spline
    knows. Where there is no derivative, such as that of a square root at 0, it is NaN.
    """
    column_numbers = fit.data.table[name].to_numpy().astype(float)
    number_spread = float(column_numbers.std()) or 1.0
    step = _STEP * np.clip(np.abs(column_numbers), 1e-4 * number_spread, number_spread)
    low_numbers, high_numbers = column_numbers - step, column_numbers + step
    try:
        return _slopes(fit, name, low_numbers, high_numbers)
    except DataError:
        return _slopes(
            fit, name, np.maximum(low_numbers, column_numbers.min()), np.minimum(high_numbers, column_numbers.max())
        )


def _slopes(fit: Fitted, name: str, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Mean changes from low to high, by the distance between them."""
    slope_weights = fit.data.model.weight / (high - low)
    (shares_below, slopes_below), (shares_above, slopes_above) = (
        _average_shares(fit, {name: changed_numbers}, slope_weights) for changed_numbers in (low, high)
    )
    scale = slope_weights.sum() / fit.data.model.weight.sum()
    return (shares_above - shares_below) * scale, (slopes_above - slopes_below) * scale


def _levels(fit: Fitted, name: str) -> list[Any]:
    """The values between which a variable changes, where it is a text, 0 or 1, or stands in ``C(…)``; else none."""
    column = fit.data.table[name]
    if hasattr(column, "cat"):
        return list(column.cat.categories)
    column_numbers = column.to_numpy()
    is_binary = set(column_numbers[:1000].tolist()) <= {0, 1} and bool(np.isin(column_numbers, (0, 1)).all())
    return sorted(set(column_numbers.tolist())) if is_binary or name in fit.data.formula.factors else []


def _average_shares(fit: Fitted, values: Mapping[str, object], weight: Floats | None = None) -> tuple[Floats, Floats]:
    """Mean shares (t,) with some variables changed for everybody, and their gradient (t, P)."""
    covariate_table = fit.data.table.copy(deep=False)
    for variable_name, value in values.items():
        column = covariate_table[variable_name]
        is_text = hasattr(column, "cat")
        covariate_table[variable_name] = (
            type(column.array)([value] * len(column), column.cat.categories) if is_text else value
        )
    model = fit.data.model if weight is None else replace(fit.data.model, weight=weight)
    return model.with_columns(fit.data.matrix.of(covariate_table)).average(fit.optimum.theta)


def _errors(fit: Fitted, slopes: Floats) -> Floats:
    """Delta-method standard errors of quantities with gradients (..., P)."""
    is_free = ~fit.optimum.bound
    free_covariance = fit.whole_covariance[np.ix_(is_free, is_free)]
    free_slopes = slopes[..., is_free]
    return np.asarray(
        np.sqrt(np.maximum(np.einsum("...p,pq,...q->...", free_slopes, free_covariance, free_slopes), 0.0))
    )


def margins(fit: Fitted, values: Mapping[str, object]) -> Predictions:
    """Mean shares with some variables at one value for everybody."""
    variable_names = fit.data.formula.variables
    for variable_name in values:
        if variable_name not in variable_names:
            raise DataError(
                f"{variable_name!r} is no variable of the formula; {_checks.nearest(variable_name, variable_names)}",
                column=variable_name,
            )
    mean_shares, share_slopes = _average_shares(
        fit, {variable_name: _known_level(fit, variable_name, value) for variable_name, value in values.items()}
    )
    return Predictions(fit.categories, mean_shares[None], _errors(fit, share_slopes[None]), fit.degrees_of_freedom)


def along(fit: Fitted, name: str) -> tuple[tuple[Any, ...], Predictions]:
    """Values of a variable, and the mean shares with the variable at each of them for everybody.

    The values are the categories of a text, and places between the least and the largest of a number.
    """
    levels = _levels(fit, name)
    if not levels:
        distinct_numbers = np.unique(fit.data.table[name].to_numpy().astype(float))
        levels = (
            distinct_numbers
            if len(distinct_numbers) <= _POINTS
            else np.linspace(distinct_numbers[0], distinct_numbers[-1], _POINTS)
        ).tolist()
    level_averages = [_average_shares(fit, {name: level}) for level in levels]
    level_shares, level_slopes = (
        np.array([share for share, _ in level_averages]),
        np.array([slope for _, slope in level_averages]),
    )
    return tuple(levels), Predictions(fit.categories, level_shares, _errors(fit, level_slopes), fit.degrees_of_freedom)


def predict(fit: Fitted, data: Any, offset: ArrayLike) -> Predictions:
    """The shares of people with given covariates, a row each."""
    covariate_table = _covariate_table(fit, data)
    x = fit.data.matrix.of(covariate_table)
    row_shares = fit.model.shares(fit.optimum.theta, x, np.broadcast_to(np.asarray(offset, dtype=float), len(x)))
    share_slopes = np.zeros((len(x), len(row_shares), fit.model.size))
    p = x.shape[1]
    for equation_place, k in enumerate(fit.model.free):
        logit_slopes = row_shares * ((np.arange(len(row_shares)) == k)[:, None] - row_shares[k])
        share_slopes[:, :, equation_place * p : (equation_place + 1) * p] = logit_slopes.T[:, :, None] * x[:, None, :]
    return Predictions(fit.categories, row_shares.T, _errors(fit, share_slopes), fit.degrees_of_freedom)


def _covariate_table(fit: Fitted, data: Any) -> Any:
    """Covariates to predict from as a pandas table, after checking that the regression knows their categories."""
    narwhals_frame: Any = nw.from_native(pl.DataFrame(dict(data), strict=False) if isinstance(data, Mapping) else data)
    frame = narwhals_frame.collect() if isinstance(narwhals_frame, nw.LazyFrame) else narwhals_frame
    variables = fit.data.formula.variables
    for variable_name in variables:
        if variable_name not in frame.columns:
            raise DataError(
                f"there is no column {variable_name!r} to predict from; needed are {_checks.listing_text(variables)}"
            )
        if frame[variable_name].is_null().any():
            raise DataError(
                f"column {variable_name!r} has an empty cell; predictions need every variable", column=variable_name
            )
    covariate_table = table_of(
        {variable_name: frame[variable_name] for variable_name in variables}, np.arange(len(frame))
    )
    for variable_name in variables:
        for value in dict.fromkeys(covariate_table[variable_name].tolist()):
            _known_level(fit, variable_name, value)
    return covariate_table


def _known_level(fit: Fitted, name: str, value: Any) -> Any:
    """A value of a variable as the regression knows it.

    Raises
    ------
    DataError
        A category that nobody has, or something that is no number.
    """
    column = fit.data.table[name]
    if hasattr(column, "cat"):
        level_of_text = {str(level): level for level in column.cat.categories}
        if str(value) not in level_of_text:
            raise DataError(
                f"{name!r} is never {value!r} here; {_checks.nearest(str(value), level_of_text)}", column=name
            )
        return level_of_text[str(value)]
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not np.isfinite(value):
        raise DataError(f"{name!r} must be a number; got {value!r}", column=name, value=value)
    levels = _levels(fit, name)
    if name in fit.data.formula.factors and value not in levels:
        raise DataError(f"{name!r} is never {value!r} here; {_checks.nearest(str(value), levels)}", column=name)
    return value
