"""Numbers that are read from an estimated table, such as an odds ratio or a share of a row, each with its interval.

All take tables that need not sum to one, and none changes where a table is multiplied by a number. So they serve the
layers of a table of three variables too.

The bounds of a profile interval are the smallest and the largest value among the tables whose log-likelihood is within
half a quantile of the maximum. At the edge, where cells are 0 and standard errors mean little, the likelihood still
holds; the delta method does not (see ``docs/reference/coverage_crosstab.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from naysay._values import Floats
from naysay.crosstab.independence import cell_information, indicators_at, information_of_more
from naysay.crosstab.variables import answered_alike
from naysay.estimate import Estimate
from naysay.estimate.inversion import EMPTY, foretold
from naysay.estimate.likelihood import evidence, information, inverse, maximize

MOST_PROFILED = 25
"""Cells of a table up to which profiles are sought; they take long where there are more."""

_CERTAIN = 1e-9
_NO_VARIANCE = 1e-20  # only rounding: all answers to a question are alike
_MORE = 4.0  # people that are added for standard errors: z² for 0.95


@dataclass(frozen=True, eq=False)
class Derived:
    """What is read from an estimate of a table: by its likelihood, or by the delta method from moments.

    Parameters
    ----------
    fit : Estimate
    shape : tuple of int
        Rows, columns and layers.
    """

    fit: Estimate
    shape: tuple[int, ...]

    @cached_property
    def likelihood(self) -> Likelihood:
        """The likelihood of the cells around its maximum; where cells there are 0, of the answers foretold."""
        answer_rows, answer_weights, _ = evidence(self.fit.tally)
        best_cells = (
            self.fit.maximum.proportions
            if self.fit.maximum is not None
            else maximize(answer_rows, answer_weights).proportions
        )
        if (best_cells < EMPTY).any():
            answer_rows, answer_weights = foretold(self.fit.tally, best_cells)
        return Likelihood(answer_rows, answer_weights, best_cells)

    def layer_table(self, layer: int | None) -> Floats:
        """The estimated table (rows, columns) of a layer, or over all layers."""
        return self._table(self.fit.proportions, layer)

    def _table(self, shares: Floats, layer: int | None) -> Floats:
        table = shares.reshape((*self.shape, 1)[:3])
        return np.asarray(table.sum(axis=2) if layer is None else table[:, :, layer])

    def _number(self, measure: Measured, layer: int | None) -> Smooth:
        """A measure of a layer as a number of all categories."""

        def number(shares: Floats) -> tuple[float, Floats]:
            value, table_gradient = measure(self._table(shares, layer))
            gradient = np.zeros((*self.shape, 1)[:3])
            if layer is None:
                gradient += table_gradient[:, :, None]
            else:
                gradient[:, :, layer] = table_gradient
            return value, gradient.ravel()

        return number

    def _of_cells(self, number: Smooth) -> Smooth:
        """A number of the categories as one of the cells, of which the categories are shares."""
        fitted_cells = self.fit.cells
        if fitted_cells is None:
            return number
        part_weights, whole_weights = (
            np.array(share_weights)
            for share_weights in zip(*(s.weights(fitted_cells.cells) for s in fitted_cells.categories), strict=True)
        )

        def of_cells(cells: Floats) -> tuple[float, Floats]:
            whole_totals = np.maximum(whole_weights @ cells, _CERTAIN)
            category_shares = part_weights @ cells / whole_totals
            value, gradient = number(category_shares)
            return value, np.asarray(
                gradient @ ((part_weights - category_shares[:, None] * whole_weights) / whole_totals[:, None])
            )

        return of_cells

    def value_and_interval(
        self, measure: Measured, layer: int | None, confidence: float, ends: tuple[float, float]
    ) -> tuple[float, tuple[float, float], str]:
        """The value of a measure with its interval, within the ends of its scale, and the method of the interval.

        The profile, or for large tables, where it takes long, the longer to each side of two intervals by the delta
        method: on the scale of the measure, and on the logistic scale between its ends.
        """
        measure_of_shares = self._number(measure, layer)
        with np.errstate(all="ignore"):
            value = measure_of_shares(self.fit.proportions)[0]
        if self.fit.maximum is None:
            return (
                value,
                self._delta(measure_of_shares, self.fit.proportions, self.fit.covariance, confidence, ends),
                "delta",
            )
        of_cells = self._of_cells(measure_of_shares)
        padded_cells, cell_covariance = self._padded_cells
        padded_value, cell_gradient = of_cells(padded_cells)
        method = "profile" if len(padded_cells) <= MOST_PROFILED else "delta"
        if method == "profile":
            low, high = self.likelihood.bounds(of_cells, self._quantile(cell_gradient, confidence))
        else:
            low, high = self._delta(of_cells, padded_cells, cell_covariance, confidence, ends)
            half_width = self._critical(confidence) * self._variance(cell_gradient, cell_covariance) ** 0.5
            low, high = min(low, padded_value - half_width), max(high, padded_value + half_width)
        low, high = (end if np.isnan(bound) else bound for bound, end in zip((low, high), ends, strict=True))
        return value, (max(min(low, value), ends[0]), min(max(high, value), ends[1])), method

    @cached_property
    def _model_covariance(self) -> tuple[Floats, Floats]:
        """Cells with a few people more, spread evenly, and their covariance by the model, (cells, cells).

        So no cell is empty, and its variance is not 0 (as in the interval of Agresti & Coull 1998).
        """
        best_cells, n = self.likelihood.best, self.fit.tally.effective
        padded_cells = (n * best_cells + _MORE / len(best_cells)) / (n + _MORE)
        return padded_cells, inverse(cell_information(self.fit.tally, padded_cells))

    @cached_property
    def _padded_cells(self) -> tuple[Floats, Floats]:
        """The same cells, and their covariance by the sampling design where there are survey weights.

        Nobody may be in a cell, and the sample then tells no variance of it. Those who were added do: as that of the
        model, times the design effect of all cells together.
        """
        tally, (padded_cells, model_covariance) = self.fit.tally, self._model_covariance
        if not tally.weighted:
            return padded_cells, model_covariance
        design_covariance = indicators_at(tally, padded_cells, model_covariance).covariance("population")
        design_effect = max(float(np.trace(design_covariance) / np.trace(model_covariance)), 1.0)
        people_added = np.full(
            len(padded_cells), design_effect * tally.n * _MORE / (tally.effective + _MORE) / len(padded_cells)
        )
        return padded_cells, design_covariance + model_covariance @ information_of_more(
            tally, padded_cells, people_added
        ) @ model_covariance

    def _quantile(self, gradient: Floats, confidence: float) -> float:
        """What the likelihood ratio is referred to: χ², or under weights F times design-based over model variance."""
        if not self.fit.tally.weighted:
            return float(scipy.stats.chi2.ppf(confidence, 1))
        design_variance, model_variance = (
            float(gradient @ cells_and_covariance[1] @ gradient)
            for cells_and_covariance in (self._padded_cells, self._model_covariance)
        )
        tally = self.fit.tally
        is_silent = any(answered_alike(tally, place) for place in range(len(self.shape)))
        # Only strata and known populations make the variance smaller; answers that are all alike show none at all.
        least_ratio = 1.0 if tally.complex is None or is_silent else 0.0
        variance_ratio = max(design_variance / max(model_variance, 1e-300), least_ratio)
        return self._critical(confidence) ** 2 * variance_ratio

    def _critical(self, confidence: float) -> float:
        """How many standard errors an interval reaches to both sides."""
        tally = self.fit.tally
        df = tally.sampled.degrees_of_freedom if tally.weighted else np.inf
        return float(scipy.stats.t.ppf(0.5 + confidence / 2, df))

    def _delta(
        self, number: Smooth, cells: Floats, covariance: Floats, confidence: float, ends: tuple[float, float]
    ) -> tuple[float, float]:
        """Value ± standard errors on the logistic scale between the ends.

        The ends where the answers show no variance, which is then not known; NaN for a value beyond the ends.
        """
        with np.errstate(all="ignore"):
            value, gradient = number(cells)
            if ends[0] <= value <= ends[1] and self._variance(gradient, covariance) < _NO_VARIANCE:
                return ends
            scale_share, scale_span = (value - ends[0]) / (ends[1] - ends[0]), ends[1] - ends[0]
            half_width = (
                self._critical(confidence)
                * np.sqrt(gradient @ covariance @ gradient)
                / scale_span
                / (scale_share * (1 - scale_share))
            )
            bounds = ends[0] + scale_span * scipy.special.expit(
                scipy.special.logit(scale_share) + np.array([-1, 1]) * half_width
            )
        return float(bounds[0]), float(bounds[1])

    def cramers_v(self, layer: int | None, confidence: float) -> tuple[float, tuple[float, float]]:
        """Cramér's V with its interval: all V with which V̂² is compatible as a noncentral χ².

        V̂²/s² is taken for a noncentral χ² with (rows - 1)(columns - 1) degrees of freedom and noncentrality V²/s²,
        where s is the standard error of V̂. Without randomization this is what intervals of V commonly are; it holds at
        V = 0 too, where V̂ has no normal distribution. Where many cells are empty V̂ is not as much too large as that law
        says, and its upper bound falls short; so the bound is V̂ + z s, if that is larger.
        """
        measure_of_shares = self._number(cramers_v, layer)
        value = measure_of_shares(self.fit.proportions)[0]
        if self.fit.maximum is None:
            variance = self._variance(measure_of_shares(self.fit.proportions)[1], self.fit.covariance)
        else:
            padded_cells, cell_covariance = self._padded_cells
            variance = self._variance(self._of_cells(measure_of_shares)(padded_cells)[1], cell_covariance)
        if not variance > 0:
            return value, (0.0, 1.0)
        df = (self.shape[0] - 1) * (self.shape[1] - 1)
        tail_chance = (1 - confidence) / 2
        statistic = value**2 / variance
        noncentrality_ends = [_noncentrality(statistic, df, chance) for chance in (1 - tail_chance, tail_chance)]
        low, high = (float(min(np.sqrt(noncentrality_end * variance), 1.0)) for noncentrality_end in noncentrality_ends)
        wald_end = min(value + self._critical(confidence) * float(np.sqrt(variance)), 1.0)
        return value, (min(low, value), max(high, wald_end))

    @staticmethod
    def _variance(gradient: Floats, covariance: Floats) -> float:
        return float(gradient @ covariance @ gradient)


def _noncentrality(statistic: float, df: int, chance: float) -> float:
    """The noncentrality at which so small a statistic, or a smaller one, has this chance; 0 where none has."""

    def excess(noncentrality: float) -> float:
        return float(scipy.stats.ncx2.cdf(statistic, df, noncentrality)) - chance

    if statistic <= 0 or scipy.stats.chi2.cdf(statistic, df) <= chance:
        return 0.0
    return float(scipy.optimize.brentq(excess, 1e-12, 4 * statistic + 100))


Measured = Callable[[Floats], tuple[float, Floats]]
"""The value at a table (rows, columns), and its derivatives by the cells, (rows, columns)."""

_TRACE = 1e-9  # of a share: keeps measures finite where cells are empty


def yules_q(table: Floats) -> tuple[float, Floats]:
    """Yule's Q = (ad - bc)/(ad + bc) of a table of two by two: the odds ratio on a scale from -1 to 1.

    The odds ratio is (1 + Q)/(1 - Q). Q stays finite where a cell is empty, so that intervals are sought in it.

    Examples
    --------
    >>> round(yules_q(np.array([[0.4, 0.1], [0.2, 0.3]]))[0], 4)
    0.7143
    """
    (a, b), (c, d) = np.maximum(table / table.sum(), 0.0) + _TRACE
    diagonal_product, off_diagonal_product = a * d, b * c
    slope = 2 * diagonal_product * off_diagonal_product / (diagonal_product + off_diagonal_product) ** 2
    gradient = slope * np.array([[1 / a, -1 / b], [-1 / c, 1 / d]]) / table.sum()
    return float((diagonal_product - off_diagonal_product) / (diagonal_product + off_diagonal_product)), gradient


def odds_ratio(q: float) -> float:
    """The odds ratio that belongs to a value of Yule's Q; ∞ where an empty cell makes it so.

    Examples
    --------
    >>> odds_ratio(0.5), odds_ratio(1.0)
    (3.0, inf)
    """
    return float("inf") if q > 1 - 1e-7 else 0.0 if q < -1 + 1e-7 else (1 + q) / (1 - q)


def correlation(rows: Floats, columns: Floats) -> Measured:
    """Pearson's correlation of scores of the rows and of the columns; for two by two categories φ.

    Examples
    --------
    >>> phi = correlation(np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    >>> round(phi(np.array([[0.4, 0.1], [0.2, 0.3]]))[0], 4)
    0.4082
    """

    def value_and_gradient(table: Floats) -> tuple[float, Floats]:
        table_total = table.sum()
        shares = table / table_total
        x, y = (_standard_scores(s, shares.sum(axis=a)) for s, a in ((rows, 1), (columns, 0)))
        value = float(x @ shares @ y)
        gradient = np.outer(x, y) - value / 2 * (x[:, None] ** 2 + y**2)
        return value, np.asarray(gradient / table_total)

    return value_and_gradient


def _standard_scores(scores: Floats, shares: Floats) -> Floats:
    centered_scores = scores - scores @ shares
    variance, least_variance = float(shares @ centered_scores**2), _TRACE * float(np.ptp(scores)) ** 2
    # Moments may estimate a variance below zero; nothing is a correlation then.
    return np.asarray(
        centered_scores / np.sqrt(max(variance, least_variance) if variance > -least_variance else np.nan)
    )


def cramers_v(table: Floats) -> tuple[float, Floats]:
    """Cramér's V = sqrt(φ²/min(rows - 1, columns - 1)), φ² = Σ π_ij²/(π_i. π_.j) - 1.

    Examples
    --------
    >>> round(cramers_v(np.array([[0.4, 0.1], [0.2, 0.3]]))[0], 4)
    0.4082
    """
    table_total = table.sum()
    shares = table / table_total
    row_shares, column_shares = shares.sum(axis=1, keepdims=True), shares.sum(axis=0, keepdims=True)
    row_shares, column_shares = np.maximum(row_shares, _TRACE), np.maximum(column_shares, _TRACE)
    cell_ratios = shares / (row_shares * column_shares)
    phi_squared = float((shares * cell_ratios).sum() - 1)
    gradient = 2 * cell_ratios - (cell_ratios * shares).sum(axis=1, keepdims=True) / row_shares
    gradient -= (cell_ratios * shares).sum(axis=0, keepdims=True) / column_shares
    least_dimension = min(table.shape) - 1
    value = np.sqrt(max(phi_squared, 0.0) / least_dimension)
    # homogeneous of degree 0: less the mean, so that moving the whole table changes nothing
    gradient -= (gradient * shares).sum()
    return float(value), np.asarray(gradient / (2 * least_dimension * max(value, 1e-6)) / table_total)


def row_share(row: int, column: int) -> Measured:
    """The share of a row that lies in a column, π_ij/π_i."""

    def value_and_gradient(table: Floats) -> tuple[float, Floats]:
        row_total = max(float(table[row].sum()), _TRACE)
        value = float(table[row, column]) / row_total
        gradient = np.zeros_like(table)
        gradient[row] = -value / row_total
        gradient[row, column] += 1 / row_total
        return value, gradient

    return value_and_gradient


Smooth = Callable[[Floats], tuple[float, Floats]]
"""A number of the cells, and its gradient."""

_EDGE = 0.02  # how far starts are drawn inside, in shares of the even distribution
_WITHIN = 1e-3  # of log-likelihood, by which a bound may miss the quantile


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood of a table around its maximum.

    Parameters
    ----------
    rows, weights : (distinct, cells), (distinct,) float
        Likelihood rows of the answers, and how often each was given.
    best : (cells,) float
        The maximizer.
    """

    rows: Floats
    weights: Floats
    best: Floats

    def value(self, cells: Floats) -> float:
        """The log-likelihood of some cells."""
        return float(self.weights @ np.log(np.maximum(self.rows @ cells, 1e-300)))

    @cached_property
    def top(self) -> float:
        """The largest log-likelihood."""
        return self.value(self.best)

    @cached_property
    def inside(self) -> Floats:
        """Cells near the best ones, none of them empty."""
        return np.asarray((1 - _EDGE) * self.best + _EDGE / len(self.best))

    @cached_property
    def covariance(self) -> Floats:
        """The inverse observed information there, (cells, cells)."""
        return inverse(information(self.rows, self.weights, self.inside))

    def bounds(self, number: Smooth, quantile: float) -> tuple[float, float]:
        """The smallest and the largest value that the likelihood ratio does not reject.

        Parameters
        ----------
        number : callable
            Of cells (cells,): the value and its gradient.
        quantile : float
            Of χ² with one degree of freedom, times any variance ratio.

        Returns
        -------
        (float, float)
            NaN for a bound that was not found.
        """
        bounds_by_sign: dict[float, list[float]] = {-1.0: [], 1.0: []}
        for sign, bounds in bounds_by_sign.items():
            for start in self._starts(number, quantile, sign):
                if (bound := self._bound_from(number, quantile, sign, start)) is not None:
                    bounds.append(bound)
        return min(bounds_by_sign[-1.0], default=float("nan")), max(bounds_by_sign[1.0], default=float("nan"))

    def _starts(self, number: Smooth, quantile: float, sign: float) -> list[Floats]:
        """Where to begin: most of the way to the bound of the tangent ellipsoid, and nearer."""
        tangent_direction = self.covariance @ number(self.inside)[1]
        tangent_spread = np.sqrt(
            max(
                float(tangent_direction @ information(self.rows, self.weights, self.inside) @ tangent_direction), 1e-300
            )
        )
        start_points = (
            self.inside + sign * way_part * np.sqrt(quantile) / tangent_spread * tangent_direction
            for way_part in (0.7, 0.2)
        )
        least_share = 1e-4 / len(self.best)
        return [
            np.maximum(start_point, least_share) / np.maximum(start_point, least_share).sum()
            for start_point in start_points
        ]

    def _bound_from(self, number: Smooth, quantile: float, sign: float, start: Floats) -> float | None:
        """The bound from one start, by sequential quadratic programming; None where the search went astray."""
        cell_scales = np.sqrt(np.maximum(np.diagonal(self.covariance), 1e-14))
        likelihood_floor = self.top - quantile / 2

        def cells_at(x: Floats) -> Floats:
            return np.asarray(self.best + cell_scales * x)

        def likelihood_slope(x: Floats) -> Floats:
            return np.asarray(self.rows.T @ (self.weights / np.maximum(self.rows @ cells_at(x), 1e-300)) * cell_scales)

        minimize: Any = scipy.optimize.minimize
        options: Any = {"maxiter": 300, "ftol": 1e-9}
        constraints: Any = [
            {"type": "eq", "fun": lambda x: [cells_at(x).sum() - 1], "jac": lambda x: [cell_scales]},
            {"type": "ineq", "fun": lambda x: self.value(cells_at(x)) - likelihood_floor, "jac": likelihood_slope},
        ]
        with np.errstate(all="ignore"):
            search_result = minimize(
                lambda x: -sign * number(cells_at(x))[0],
                (start - self.best) / cell_scales,
                jac=lambda x: np.asarray(-sign * number(cells_at(x))[1] * cell_scales),
                method="SLSQP",
                bounds=scipy.optimize.Bounds(-self.best / cell_scales, (1 - self.best) / cell_scales),
                constraints=constraints,
                options=options,
            )
        value = number(cells_at(search_result.x))[0]
        is_bound = (
            np.isfinite(value)
            and self.value(cells_at(search_result.x)) >= likelihood_floor - _WITHIN
            and abs(cells_at(search_result.x).sum() - 1) < 1e-6
        )
        return float(value) if is_bound else None
