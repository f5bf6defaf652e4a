"""What follows from fitted coefficients: their covariance, tests, effects on shares, and predictions.

Standard errors of shares are those of the delta method.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw
import numpy as np
import polars as pl
import scipy
from numpy.typing import ArrayLike

from naysay import _checks
from naysay._values import Floats, Label
from naysay.errors import DataError, NaysayError
from naysay.estimate.fit import Value
from naysay.estimate.likelihood import KINDS
from naysay.regression.likelihood import Model, collapse_rows
from naysay.regression.reading import Data, Formula, Matrix, formulaic, table_of
from naysay.regression.solving import Optimum, Penalty, solve

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame


@dataclass(frozen=True)
class Equation:
    """One equation of a regression: what its log odds are of.

    Parameters
    ----------
    label : label
        A category, or a share of people who comply or do not.
    comparison : str
        What is compared with what, in words.
    columns : tuple of str
        What has coefficients.
    """

    label: Any
    comparison: str
    columns: tuple[str, ...]


def equations(data: Data) -> list[Equation]:
    """An equation for each category but the reference, and, where they have covariates, for those who do not comply."""
    categories, model = data.design.categories, data.model
    reference = f"against “{_checks.label(categories[model.reference])}”"
    of_categories = [
        Equation(categories[j], f"“{_checks.label(categories[j])}” {reference}", data.matrix.columns)
        for j in model.free
    ]
    if data.compliance is None:
        return of_categories
    of_compliance, earlier = [], ""
    for share, assumption in zip(model.within.parameters, model.within.assumptions, strict=True):
        name = f"“{_checks.label(share.name)}”"
        comparison = assumption if share.among else f"{name} against all others{earlier}"
        of_compliance.append(Equation(share.name, comparison, data.compliance[1].columns))
        earlier = f"{earlier or ' but'} {name}"
    return of_categories + of_compliance


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
        """Category and column of each coefficient, (P,); of those who do not comply, the share and its column."""
        return tuple((equation.label, column) for equation in self.equations for column in equation.columns)

    @cached_property
    def equations(self) -> list[Equation]:
        """One for each category but the reference, and for those who do not comply, where they have covariates."""
        return equations(self.data)

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
        """Covariance (P, P) of coefficients and nuisance parameters; NaN for a nuisance parameter at 0 or 1.

        With I the information and J the covariance of the sum of the weighted scores: I⁻¹, or the sandwich I⁻¹JI⁻¹. A
        nuisance parameter at 0 or 1 is held there: the others' covariance is given it.
        """
        model, theta, kind, sampled = self.model, self.optimum.theta, self.standard_error_name, self.data.sampled
        if kind == "expected" and any(channel.space.size > _LISTED for channel in model.answers.channels):
            raise DataError(
                "expected information needs all responses written out, and there are too many; use 'observed'"
            )
        bread = model.evaluate(theta, "observed" if kind == "sandwich" else kind).information
        if self.penalty is not None:
            bread = bread + self.penalty.prior_terms(model, theta).information
        free_parameters = np.flatnonzero(~self.optimum.bound)
        free_covariance = np.linalg.inv(bread[np.ix_(free_parameters, free_parameters)])
        if kind == "sandwich":
            if sampled is None:
                n = model.weight.sum() ** 2 / self.squared.sum()
                meat = model.weighted_information(theta, "outer_product", self.squared) * (n / max(n - 1, 1))
            else:
                meat = sampled.covariance(model.scores(theta))
                if sampled.kept.any():  # a finite population takes off what sampling adds, and answers stay random
                    meat = meat + model.weighted_information(theta, "randomization", sampled.kept)
                meat = meat * self.data.scale**2
            free_covariance = free_covariance @ meat[np.ix_(free_parameters, free_parameters)] @ free_covariance
        full_matrix = np.full((model.size, model.size), np.nan)
        full_matrix[np.ix_(free_parameters, free_parameters)] = free_covariance
        return full_matrix

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
    def nuisance(self) -> dict[Label, Value]:
        """What the design estimates beside the categories, by name, each with its delta-method standard error.

        Shares of everybody are those at the average of the people in the model.
        """
        design, model, is_free = self.data.design, self.model, ~self.optimum.bound
        if not design.nuisance:
            return {}
        cell_shares, cell_slopes = model.cells(self.optimum.theta)
        value_of_share = {}
        for share in design.nuisance:
            part_weights, whole_weights = share.weights(design.cells)
            share_estimate = float(part_weights @ cell_shares / (whole_weights @ cell_shares))
            slopes = (part_weights - share_estimate * whole_weights) @ cell_slopes
            gradient = (slopes / (whole_weights @ cell_shares))[is_free]
            is_inside = is_free[np.abs(slopes) > 0].all()
            variance = float(gradient @ self.whole_covariance[np.ix_(is_free, is_free)] @ gradient)
            value_of_share[share.name] = Value(share_estimate, float(np.sqrt(variance)) if is_inside else math.nan)
        return value_of_share

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
        is_several = len(self.equations) > 1
        term_index = pandas.MultiIndex.from_tuples(self.names, names=["category", "term"]) if is_several else terms
        return (pandas.Series if numbers.ndim == 1 else pandas.DataFrame)(numbers, index=term_index)

    @property
    def bic(self) -> float:
        """Schwarz's criterion, P log n - 2 log L."""
        return self.optimum.theta.size * float(np.log(self.n)) - 2 * self.log_likelihood

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 P - 2 log L."""
        return 2 * self.optimum.theta.size - 2 * self.log_likelihood

    @cached_property
    def against_constant(self) -> Test | None:
        """The likelihood-ratio test against the constant alone; None where that says nothing."""
        constant_column = self.data.formula.constant(self.data.table)
        if constant_column is None or self.weighted or self.penalty is not None or self.optimum.search.above:
            return None
        constant_model, _ = collapse_rows(replace(self.data.model, x=constant_column.values), self.data.squared)
        constant_optimum = solve(constant_model)
        if constant_optimum.search.above or constant_optimum.endless.size:
            return None
        statistic = _ratio(self.log_likelihood, constant_optimum.log_likelihood)
        return Test.of("likelihood ratio", statistic, self.optimum.theta.size - constant_optimum.theta.size)

    @cached_property
    def equal_compliance(self) -> Test | None:
        """The test that who complies depends on no covariate; None without covariates of it, or without its constant.

        The likelihood ratio, for equal shares in G groups on G - 1 degrees of freedom; with survey weights or a penalty
        the Wald test.
        """
        if self.data.compliance is None:
            return None
        terms = self.data.compliance[1].terms
        if "1" not in terms or len(terms) == 1:
            return None
        if self.weighted or self.penalty is not None or self.optimum.search.above:
            places = self.model.places[self.model.t - 1 :]
            varying = [column for term, columns in terms.items() if term != "1" for column in columns]
            return self._wald([place.start + column for place in places for column in varying])
        equal_model, _ = collapse_rows(replace(self.data.model, w=None), self.data.squared)
        equal_optimum = solve(equal_model)
        if equal_optimum.search.above or equal_optimum.endless.size:
            return None
        statistic = _ratio(self.log_likelihood, equal_optimum.log_likelihood)
        return Test.of("likelihood ratio", statistic, self.optimum.theta.size - equal_optimum.theta.size)

    def wald(self, term: str) -> Test:
        """The Wald test that all coefficients of a term are 0, such as ``gender`` or ``age:gender``."""
        terms = self.data.matrix.terms
        if term not in terms:
            raise DataError(f"{term!r} is no term of the formula; {_checks.nearest(term, terms)}")
        p = len(self.data.matrix.columns)
        return self._wald([j * p + column for j in range(self.model.t - 1) for column in terms[term]])

    def _wald(self, term_places: list[int]) -> Test:
        """The Wald test that the coefficients in these places are 0."""
        term_coefficients, sampled, k = self.coefficients[term_places], self.data.sampled, len(term_places)
        units = np.inf if sampled is None else sampled.degrees_of_freedom
        if units < k:
            return Test.of("Wald", np.nan, k, 1.0)
        statistic = float(
            term_coefficients @ np.linalg.solve(self.covariance[np.ix_(term_places, term_places)], term_coefficients)
        )
        if sampled is not None:  # the inverse of a covariance from few units is too large (Korn & Graubard 1990)
            statistic *= (units - k + 1) / units
        return Test.of("Wald", statistic, k, min(self.degrees_of_freedom, units - k + 1))

    def likelihood_ratio(self, smaller: Fitted) -> Test:
        """The likelihood-ratio test against a regression of the same answers with fewer terms.

        Raises
        ------
        DataError
            Other people, no fewer coefficients, weights or a penalty, under which the ratio has no known distribution.
        """
        for regression in (self, smaller):
            if regression.weighted or regression.penalty is not None:
                reason = "survey weights" if regression.weighted else "a penalty"
                raise DataError(f"with {reason} the likelihood ratio has no known distribution; use the Wald test")
        extra_coefficients = self.optimum.theta.size - smaller.optimum.theta.size
        if extra_coefficients <= 0:
            raise DataError("the other regression must have fewer coefficients; give the smaller one")
        _check_nested(self, smaller)
        return Test.of("likelihood ratio", _ratio(self.log_likelihood, smaller.log_likelihood), extra_coefficients)

    def effects(self, variables: Sequence[str] | None = None) -> Effects:
        """Average marginal effects: how the shares change with each variable, on average over the people in the model.

        Of a number the mean derivative; of a text the mean difference from its first category. Other variables stay as
        they are.

        Parameters
        ----------
        variables : sequence of str, optional
            All variables of the formula by default.
        """
        changed_names = self.data.formula.variables if variables is None else variables
        _check_variables(self, changed_names)
        changes = [change for variable_name in changed_names for change in _changes(self, variable_name)]
        t = len(self.categories)
        effect_sizes = np.reshape([share_change for _, share_change, _ in changes], (-1, t))
        effect_slopes = np.reshape([gradient for _, _, gradient in changes], (-1, t, self.model.size))
        return Effects(
            tuple(effect_name for effect_name, _, _ in changes),
            self.categories,
            effect_sizes,
            _errors(self, effect_slopes),
            self.degrees_of_freedom,
        )

    def margins(self, /, **values: object) -> Predictions:
        """Shares predicted with some variables at one value for everybody, averaged over the people in the model.

        Examples
        --------
        >>> from naysay import designs, regression
        >>> table = {"said": ["yes", "no"] * 2, "old": [0, 0, 1, 1], "people": [30, 70, 60, 40]}
        >>> fit = regression.regress(designs.direct(("yes", "no")), "said ~ old", table, count="people")
        >>> fit.margins(old=1).probabilities.round(3)
        array([[0.6, 0.4]])
        """
        _check_variables(self, values)
        mean_shares, share_slopes = _average_shares(
            self, {variable_name: _known_level(self, variable_name, value) for variable_name, value in values.items()}
        )
        return Predictions(
            self.categories, mean_shares[None], _errors(self, share_slopes[None]), self.degrees_of_freedom
        )

    def along(self, variable: str) -> tuple[tuple[Any, ...], Predictions]:
        """Shares predicted along one variable: its values, and the shares if everybody had each of them.

        The values are the categories of a text; of a number its own values, or 21 between the least and the largest.
        Other variables stay as they are.

        Examples
        --------
        >>> from naysay import designs, regression
        >>> table = {"said": ["yes", "no"] * 2, "old": [0, 0, 1, 1], "people": [30, 70, 60, 40]}
        >>> fit = regression.regress(designs.direct(("yes", "no")), "said ~ old", table, count="people")
        >>> values, shares = fit.along("old")
        >>> values, shares.probabilities[:, 0].round(3)
        ((0, 1), array([0.3, 0.6]))
        """
        _check_variables(self, [variable])
        levels = _levels(self, variable)
        if not levels:
            distinct_numbers = np.unique(self.data.table[variable].to_numpy().astype(float))
            levels = (
                distinct_numbers
                if len(distinct_numbers) <= _POINTS
                else np.linspace(distinct_numbers[0], distinct_numbers[-1], _POINTS)
            ).tolist()
        level_averages = (_average_shares(self, {variable: level}) for level in levels)
        level_shares, level_slopes = map(np.array, zip(*level_averages, strict=True))
        return tuple(levels), Predictions(
            self.categories, level_shares, _errors(self, level_slopes), self.degrees_of_freedom
        )

    def predict(self, data: IntoFrame | Mapping[str, Iterable[object]], *, offset: ArrayLike = 0.0) -> Predictions:
        """The shares of people with given covariates.

        Parameters
        ----------
        data : dataframe or mapping of columns
            The variables of the formula, one row for each kind of people.
        offset : float or (rows,) float
            Added to the linear predictors.
        """
        narwhals_frame: Any = nw.from_native(
            pl.DataFrame(dict(data), strict=False) if isinstance(data, Mapping) else data
        )
        frame = narwhals_frame.collect() if isinstance(narwhals_frame, nw.LazyFrame) else narwhals_frame
        variables = self.data.formula.variables
        for variable_name in variables:
            if variable_name not in frame.columns:
                raise DataError(
                    f"there is no column {variable_name!r} to predict from; "
                    f"needed are {_checks.listing_text(variables)}"
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
                _known_level(self, variable_name, value)
        x = self.data.matrix.of(covariate_table)
        row_shares = self.model.shares(self.optimum.theta, x, np.broadcast_to(np.asarray(offset, dtype=float), len(x)))
        share_slopes = np.zeros((len(x), len(row_shares), self.model.size))
        p = x.shape[1]
        for equation_place, k in enumerate(self.model.free):
            logit_slopes = row_shares * ((np.arange(len(row_shares)) == k)[:, None] - row_shares[k])
            share_slopes[:, :, equation_place * p : (equation_place + 1) * p] = (
                logit_slopes.T[:, :, None] * x[:, None, :]
            )
        return Predictions(self.categories, row_shares.T, _errors(self, share_slopes), self.degrees_of_freedom)


_LISTED = 10_000  # responses up to which the expected information is summed over all of them
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
        NaN, as the statistic is, where the sample has fewer degrees of freedom than there are coefficients.
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
        if np.isnan(self.statistic):
            return f"{self.name} on {self.degrees_of_freedom} df, more than the sample's degrees of freedom can test"
        below = "" if np.isinf(self.denominator) else f" and {self.denominator:.4g}"
        return f"{self.name} χ² = {self.statistic:.2f} on {self.degrees_of_freedom}{below} df, p = {self.p_value:.3g}"


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
    _check_part((fit.data.formula, fit.data.matrix), (smaller.data.formula, smaller.data.matrix))
    if fit.data.compliance is not None or smaller.data.compliance is not None:
        if fit.data.compliance is None:
            raise DataError("the smaller regression has covariates of who complies, and the larger one has none")
        constant = Formula("1", fit.data.formula.response, (), frozenset(), formulaic().Formula("1"))
        _check_part(fit.data.compliance, smaller.data.compliance or (constant, constant.matrix(smaller.data.table)))
    for regression in (fit, smaller):
        if regression.optimum.search.above:
            raise DataError(
                f"the likelihood of {regression.data.formula.text!r} is higher where some coefficients grow without "
                "end than at its highest finite maximum, so that the ratio has no known distribution; use the Wald test"
            )


def _check_part(larger: tuple[Formula, Matrix], smaller: tuple[Formula, Matrix]) -> None:
    """Raise if some column of the smaller formula is no combination of those of the larger one."""
    (larger_formula, larger_matrix), (smaller_formula, smaller_matrix) = larger, smaller
    x, fewer = larger_matrix.values / np.sqrt((larger_matrix.values**2).sum(axis=0)), smaller_matrix.values
    column_residuals = fewer - x @ np.linalg.lstsq(x, fewer, rcond=None)[0]
    is_outside = (column_residuals**2).sum(axis=0) > _COMBINED**2 * (fewer**2).sum(axis=0)
    if is_outside.any():
        column_name = smaller_matrix.columns[int(is_outside.argmax())]
        raise DataError(
            f"the smaller regression is not part of the larger one: its column {column_name!r} does not follow from "
            f"{_checks.listing_text(larger_matrix.columns)}; a likelihood ratio needs {larger_formula.text!r} to "
            f"hold every term of {smaller_formula.text!r}"
        )


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


def _check_variables(fit: Fitted, names: Iterable[str]) -> None:
    variable_names = fit.data.formula.variables
    for name in names:
        if name not in variable_names:
            raise DataError(
                f"{name!r} is no variable of the formula; {_checks.nearest(name, variable_names)}", column=name
            )


def _changes(fit: Fitted, name: str) -> Iterator[tuple[str, Floats, Floats]]:
    """The effects of one variable: name, change of the mean shares (t,), and its gradient (t, P).

    Of a text these are differences, of a number the mean derivative.
    """
    levels = _levels(fit, name)
    if levels:
        first_shares, first_slopes = _average_shares(fit, {name: levels[0]})
        for level in levels[1:]:
            level_shares, level_slopes = _average_shares(fit, {name: level})
            yield f"{name}: {level} - {levels[0]}", level_shares - first_shares, level_slopes - first_slopes
        return
    # Steps are small beside the number itself, so that a logarithm stays one, and do not leave the range that a spline
    # knows. Where there is no derivative, such as that of a square root at 0, it is NaN.
    column_numbers = fit.data.table[name].to_numpy().astype(float)
    number_spread = float(column_numbers.std()) or 1.0
    step = _STEP * np.clip(np.abs(column_numbers), 1e-4 * number_spread, number_spread)
    low_numbers, high_numbers = column_numbers - step, column_numbers + step
    try:
        yield name, *_slopes(fit, name, low_numbers, high_numbers)
    except DataError:
        inner_low, inner_high = column_numbers.min(), column_numbers.max()
        yield name, *_slopes(fit, name, np.maximum(low_numbers, inner_low), np.minimum(high_numbers, inner_high))


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
    return replace(model, x=fit.data.matrix.of(covariate_table)).average(fit.optimum.theta)


def _errors(fit: Fitted, slopes: Floats) -> Floats:
    """Delta-method standard errors of quantities with gradients (..., P)."""
    is_free = ~fit.optimum.bound
    free_covariance = fit.whole_covariance[np.ix_(is_free, is_free)]
    free_slopes = slopes[..., is_free]
    return np.asarray(
        np.sqrt(np.maximum(np.einsum("...p,pq,...q->...", free_slopes, free_covariance, free_slopes), 0.0))
    )


def _known_level(fit: Fitted, name: str, value: object) -> object:
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
