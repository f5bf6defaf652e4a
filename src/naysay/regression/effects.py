"""What a regression says in shares: effects, margins and predictions, with delta-method standard errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.regression.fitted import Fitted
from naysay.regression.reading import table_of

Floats = NDArray[np.float64]

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
            half = quantile * self.standard_errors / (self.probabilities * (1 - self.probabilities))
            logit = scipy.special.logit(self.probabilities)
            return np.asarray(np.stack([scipy.special.expit(logit - half), scipy.special.expit(logit + half)], axis=-1))


def effects(fit: Fitted, variables: Sequence[str] | None) -> Effects:
    """Average marginal effects of variables, all of them by default."""
    variable_names = fit.data.formula.variables
    for name in variables or ():
        if name not in variable_names:
            raise DataError(
                f"{name!r} is no variable of the formula; {_checks.nearest(name, variable_names)}", column=name
            )
    names, values, gradients = [], [], []
    for name in variable_names if variables is None else variables:
        for label, value, gradient in _changes(fit, name):
            names.append(label)
            values.append(value)
            gradients.append(gradient)
    t = len(fit.categories)
    effect_sizes, slopes = np.reshape(values, (-1, t)), np.reshape(gradients, (-1, t, fit.model.size))
    return Effects(tuple(names), fit.categories, effect_sizes, _errors(fit, slopes), fit.degrees_of_freedom)


def _changes(fit: Fitted, name: str) -> Iterator[tuple[str, Floats, Floats]]:
    """The effects of one variable: name, change of the mean shares (t,), and its gradient (t, P)."""
    levels = _levels(fit, name)
    if levels:
        first_shares, first_slopes = _average_shares(fit, {name: levels[0]})
        for level in levels[1:]:
            level_shares, level_slopes = _average_shares(fit, {name: level})
            yield f"{name}: {level} - {levels[0]}", level_shares - first_shares, level_slopes - first_slopes
        return
    value, gradient = _derivative(fit, name)
    yield name, value, gradient


def _derivative(fit: Fitted, name: str) -> tuple[Floats, Floats]:
    """The mean derivative of the shares by a number, (t,), and its gradient (t, P).

    Steps are small beside the number itself, so that a logarithm stays one, and do not leave the range that a spline
    knows. Where there is no derivative, such as that of a square root at 0, it is NaN.
    """
    numbers = fit.data.table[name].to_numpy().astype(float)
    spread = float(numbers.std()) or 1.0
    step = _STEP * np.clip(np.abs(numbers), 1e-4 * spread, spread)
    low, high = numbers - step, numbers + step
    try:
        return _slopes(fit, name, low, high)
    except DataError:
        return _slopes(fit, name, np.maximum(low, numbers.min()), np.minimum(high, numbers.max()))


def _slopes(fit: Fitted, name: str, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Mean changes from low to high, by the distance between them."""
    weights = fit.data.model.weight / (high - low)
    (below, slopes_below), (above, slopes_above) = (
        _average_shares(fit, {name: changed_numbers}, weights) for changed_numbers in (low, high)
    )
    scale = weights.sum() / fit.data.model.weight.sum()
    return (above - below) * scale, (slopes_above - slopes_below) * scale


def _levels(fit: Fitted, name: str) -> list[Any]:
    """The values between which a variable changes, where it is a text, 0 or 1, or stands in ``C(…)``; else none."""
    column = fit.data.table[name]
    if hasattr(column, "cat"):
        return list(column.cat.categories)
    numbers = column.to_numpy()
    binary = set(numbers[:1000].tolist()) <= {0, 1} and bool(np.isin(numbers, (0, 1)).all())
    return sorted(set(numbers.tolist())) if binary or name in fit.data.formula.factors else []


def _average_shares(fit: Fitted, values: Mapping[str, Any], weight: Floats | None = None) -> tuple[Floats, Floats]:
    """Mean shares (t,) with some variables changed for everybody, and their gradient (t, P)."""
    table = fit.data.table.copy(deep=False)
    for name, value in values.items():
        column = table[name]
        text = hasattr(column, "cat")
        table[name] = type(column.array)([value] * len(column), column.cat.categories) if text else value
    model = fit.data.model if weight is None else replace(fit.data.model, weight=weight)
    return model.with_columns(fit.data.matrix.of(table)).average(fit.optimum.theta)


def _errors(fit: Fitted, slopes: Floats) -> Floats:
    """Delta-method standard errors of quantities with gradients (..., P)."""
    free = ~fit.optimum.bound
    free_covariance = fit.whole_covariance[np.ix_(free, free)]
    free_slopes = slopes[..., free]
    return np.asarray(
        np.sqrt(np.maximum(np.einsum("...p,pq,...q->...", free_slopes, free_covariance, free_slopes), 0.0))
    )


def margins(fit: Fitted, values: Mapping[str, Any]) -> Predictions:
    """Mean shares with some variables at one value for everybody."""
    variable_names = fit.data.formula.variables
    for name in values:
        if name not in variable_names:
            raise DataError(
                f"{name!r} is no variable of the formula; {_checks.nearest(name, variable_names)}", column=name
            )
    shares, slopes = _average_shares(fit, {name: _known_level(fit, name, value) for name, value in values.items()})
    return Predictions(fit.categories, shares[None], _errors(fit, slopes[None]), fit.degrees_of_freedom)


def along(fit: Fitted, name: str) -> tuple[tuple[Any, ...], Predictions]:
    """Values of a variable, and the mean shares with the variable at each of them for everybody.

    The values are the categories of a text, and places between the least and the largest of a number.
    """
    levels = _levels(fit, name)
    if not levels:
        numbers = np.unique(fit.data.table[name].to_numpy().astype(float))
        levels = (numbers if len(numbers) <= _POINTS else np.linspace(numbers[0], numbers[-1], _POINTS)).tolist()
    averages = [_average_shares(fit, {name: level}) for level in levels]
    shares, slopes = np.array([share for share, _ in averages]), np.array([slope for _, slope in averages])
    return tuple(levels), Predictions(fit.categories, shares, _errors(fit, slopes), fit.degrees_of_freedom)


def predict(fit: Fitted, data: Any, offset: Any) -> Predictions:
    """The shares of people with given covariates, a row each."""
    table = _covariate_table(fit, data)
    x = fit.data.matrix.of(table)
    shares = fit.model.shares(fit.optimum.theta, x, np.broadcast_to(np.asarray(offset, dtype=float), len(x)))
    slopes = np.zeros((len(x), len(shares), fit.model.size))
    p = x.shape[1]
    for place, k in enumerate(fit.model.free):
        logit_slopes = shares * ((np.arange(len(shares)) == k)[:, None] - shares[k])
        slopes[:, :, place * p : (place + 1) * p] = logit_slopes.T[:, :, None] * x[:, None, :]
    return Predictions(fit.categories, shares.T, _errors(fit, slopes), fit.degrees_of_freedom)


def _covariate_table(fit: Fitted, data: Any) -> Any:
    """Covariates to predict from as a pandas table, after checking that the regression knows their categories."""
    narwhals_frame: Any = nw.from_native(pl.DataFrame(dict(data), strict=False) if isinstance(data, Mapping) else data)
    frame = narwhals_frame.collect() if isinstance(narwhals_frame, nw.LazyFrame) else narwhals_frame
    variables = fit.data.formula.variables
    for name in variables:
        if name not in frame.columns:
            raise DataError(
                f"there is no column {name!r} to predict from; needed are {_checks.listing_text(variables)}"
            )
        if frame[name].is_null().any():
            raise DataError(f"column {name!r} has an empty cell; predictions need every variable", column=name)
    table = table_of({name: frame[name] for name in variables}, np.arange(len(frame)))
    for name in variables:
        for value in dict.fromkeys(table[name].tolist()):
            _known_level(fit, name, value)
    return table


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
