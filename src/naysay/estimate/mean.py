"""The mean of a number, from reports that each are an unbiased number of their respondent.

What estimates other than proportions share: a few named numbers with intervals, told and written alike.

The distribution of a number, by expectation maximization with smoothing: a display, beside the unbiased mean.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from naysay import _checks, privacy
from naysay._values import Floats
from naysay.design import Answerable
from naysay.design.window import Window, numbers_of
from naysay.errors import DataError
from naysay.estimate.estimators import moments
from naysay.estimate.fit import alike, decimals, mean_finding, number_text
from naysay.estimate.likelihood import answered_under, checked_target, suspicions
from naysay.estimate.result import PrintOptions
from naysay.show import Column, Content, Note, Points, Sentence, Table, plain
from naysay.show.result import Records, Result
from naysay.tally import Part, Tally


class Row(NamedTuple):
    """A named number, or a category, with its standard error (NaN where there is none) and interval."""

    name: str
    estimate: Any
    standard_error: float
    low: Any
    high: Any


@dataclass(frozen=True, eq=False)
class Measured(Result):
    """An estimate that is not one of proportions, such as a mean or quantiles.

    Parameters
    ----------
    design : Design, Levels or Hierarchy
    tally : Tally
    target : {"population", "file"}
    """

    design: Answerable
    tally: Tally
    target: str

    quantity: ClassVar[str]
    """Its name among the `QUANTITIES`."""
    method: ClassVar[str]
    """How it is estimated, in words."""

    @property
    def n(self) -> int:
        """Respondents who answered."""
        return self.tally.n

    @property
    def missing(self) -> int:
        """Respondents who gave no answer."""
        return self.tally.missing

    @property
    @abstractmethod
    def errors(self) -> str:
        """What standard errors and intervals rest on, in words."""

    @abstractmethod
    def rows(self, confidence: float = 0.95) -> list[Row]:
        """The numbers that are printed."""

    def finding(self, confidence: float = 0.95) -> str:
        """What is found, in one line: the mean, or where there is none the median, with its interval."""
        by_name = {row.name: row for row in self.rows(_checks.confidence(confidence))}
        if (mean_row := by_name.get("mean")) is not None:
            return mean_finding(*map(float, (mean_row.estimate, mean_row.low, mean_row.high)))
        median_row = list(by_name.values())[len(by_name) // 2]
        ends_text = f", between {_checks.label(median_row.low)} and {_checks.label(median_row.high)}"
        return f"Median {_checks.label(median_row.estimate)}{ends_text}"

    def remarks(self) -> list[str]:
        """What a reader must know beside the numbers."""
        return []

    def beside(self, confidence: float) -> list[Content]:
        """Further content below the table."""
        return []

    def _reservations(self) -> list[str]:
        error_warnings = ["a single answer has no standard error"] if self.n == 1 else alike(self.tally)
        return [*self.remarks(), *error_warnings, *suspicions(self.tally)]

    def parts(self, options: PrintOptions | None = None) -> list[Content]:
        heading = f"{self.tally.question or 'Estimate'}: {self.design.name or self.design.kind}"
        return [Sentence(heading), *self.body(options)]

    def body(self, options: PrintOptions | None = None) -> list[Content]:
        """The parts below the heading."""
        confidence = (options or PrintOptions()).confidence
        number_rows = self.rows(_checks.confidence(confidence))
        decimal_places = decimals([number_row.standard_error for number_row in number_rows]) or 3
        table_rows = tuple(
            (number_row.name, *(_cell_text(number, decimal_places) for number in number_row[1:]))
            for number_row in number_rows
        )
        missing_text = f"{self.missing:,} missing" if self.missing else "none missing"
        weighted_text = f", weighted (sum of weights {self.tally.weight:,.6g})" if self.tally.weighted else ""
        return [
            Sentence(f"{self.n:,} answers, {missing_text}{weighted_text}; target: the {self.target}"),
            Sentence(f"{self.method}; {confidence:.4g} intervals: {self.errors}"),
            Table((Column("", words=True), *map(Column, ("estimate", "s.e.", "low", "high"))), table_rows),
            *self.beside(confidence),
            Points(tuple(dict.fromkeys(privacy.lines(self.design)))),
            *map(Note, self._reservations()),
        ]

    def numbers(self, options: PrintOptions | None = None) -> dict[str, object]:
        """Its numbers, under the stable names of JSON."""
        confidence = (options or PrintOptions()).confidence
        field_names = ("n", "missing", "target", "method")
        return {
            "question": self.tally.question,
            "design": self.design.name or self.design.kind,
            "quantity": self.quantity,
            **{field_name: getattr(self, field_name) for field_name in field_names},
            "estimates": [row._asdict() for row in self.rows(_checks.confidence(confidence))],
            "confidence": confidence,
            "interval_method": self.errors,
            "warnings": self._reservations(),
        }

    def records(self) -> Records:
        """The numbers that are printed."""
        return Records(Row._fields, self.rows())

    def to_dict(self, options: PrintOptions | None = None) -> dict[str, Any]:
        """The estimate as one JSON object; undefined numbers are None."""
        json_object: dict[str, Any] = plain(self.numbers(options))
        return json_object

    def __repr__(self) -> str:
        first = self.rows()[0]
        return f"<{self.quantity}: {first.name} {first.estimate} (n = {self.n})>"


def _cell_text(value: object, places: int) -> str:
    return number_text(value, places) if isinstance(value, float) else _checks.label(value)


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
        interval_ends = self.value + np.array([-z, z]) * self.standard_error
        return np.asarray(np.clip(interval_ends, *self.bounds))

    def rows(self, confidence: float = 0.95) -> list[Row]:
        return [Row("mean", self.value, self.standard_error, *self.interval(confidence))]

    def remarks(self) -> list[str]:
        least_number, largest_number = self.bounds
        if least_number <= self.value <= largest_number:
            return []
        return [
            f"outside [{least_number:g}, {largest_number:g}], as an unbiased estimate may be; the interval is cut to it"
        ]


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
    odd_categories = [
        category
        for category in design.categories
        if isinstance(category, bool) or not isinstance(category, int | float)
    ]
    if odd_categories:
        odd_category = odd_categories[0]
        raise DataError(f"a mean needs categories that are numbers; {odd_category!r} is none", value=odd_category)
    number_bounds = float(min(design.categories)), float(max(design.categories))
    answered_parts = [part for part in tally.parts if part.n]
    if any(numbers_of(part.design, part.codes[:1]) is None for part in answered_parts):
        fit, category_numbers = moments(design, tally, target=target), np.array(design.categories, dtype=float)
        mean_estimate = float(category_numbers @ fit.proportions)
        variance = max(float(category_numbers @ fit.covariance @ category_numbers), 0.0)
    else:
        mean_estimate, variance = _of_numbers(tally, answered_parts, target)
    degrees_of_freedom = tally.n - 1.0 if tally.complex is None else tally.complex.degrees_of_freedom
    return Mean(design, tally, target, mean_estimate, math.sqrt(variance), max(degrees_of_freedom, 1.0), number_bounds)


def _of_numbers(tally: Tally, parts: list[Part], target: str) -> tuple[float, float]:
    """The mean of the reports' numbers, and its variance."""
    report_numbers, report_squares = (
        np.concatenate([numbers_of(part.design, part.codes, power) for part in parts]) for power in (1, 2)
    )
    weight, weight_squared = (
        np.concatenate([getattr(part, array_name) for part in parts]) for array_name in ("weight", "weight_squared")
    )
    total_weight = float(weight.sum())
    mean_estimate = float(weight @ report_numbers / total_weight)
    rounding_variance = max(part.design.step for part in parts if isinstance(part.design, Window)) ** 2 / 4

    def randomization_variance(heavy: Floats) -> float:
        """Σ w² Var(u | x): the mean of u² less that of x², for which Jensen gives a lower bound, too."""
        true_squares = max(
            float(heavy @ report_squares) - rounding_variance * heavy.sum(), mean_estimate**2 * heavy.sum()
        )
        return float(max(heavy @ report_numbers**2 - true_squares, 0.0)) / total_weight**2

    if target == "file":
        return mean_estimate, randomization_variance(weight_squared)
    if tally.n < 2:
        return mean_estimate, math.nan
    sampled = tally.sampled.take(np.concatenate([np.full(len(part.codes), part.n > 0) for part in tally.parts]))
    sampling_variance = float(sampled.covariance((report_numbers - mean_estimate).reshape(-1, 1) / total_weight)[0, 0])
    corrected_squares = sampled.kept
    return mean_estimate, sampling_variance + (
        randomization_variance(corrected_squares) if corrected_squares.any() else 0.0
    )


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The quantiles that are printed."""

_LARGEST = 4_000_000  # entries of P: a step of the algorithm takes milliseconds
_STEPS, _EVERY = 10_000, 10  # at most; the likelihood is looked at now and then
_REPLICATES, _SEED = 100, 2020


@dataclass(frozen=True, eq=False)
class Distribution(Measured):
    """A smoothed distribution over the points of the grid, and what redrawing the whole chain makes of it.

    Smoothing biases it, and no interval covers at its promise; the mean stands beside it, unbiased.

    Parameters
    ----------
    design : Design
    tally : Tally
    target : {"population"}
    points : (t,) float
        The points of the grid.
    shares : (t,) float
        At least zero, with sum one.
    smooth : bool
    """

    points: Floats
    shares: Floats
    smooth: bool

    quantity: ClassVar[str] = "distribution"

    @property
    def method(self) -> str:  # type: ignore[override]
        return f"display: expectation maximization{' with smoothing' if self.smooth else ''}, biased by design"

    @property
    def errors(self) -> str:
        return f"of quantiles, {_REPLICATES} bootstraps of the whole chain; of the mean, Wald"

    def quantile(self, p: ArrayLike) -> Floats:
        """The quantiles of the display, between points in proportion.

        Parameters
        ----------
        p : float or (q,) float
        """
        return np.asarray(_quantiles(self.points, self.shares[None], np.atleast_1d(p))[0])

    @cached_property
    def replicates(self) -> Floats:
        """The shares from answers that were drawn again, (replicates, t)."""
        part, rng = self.tally.parts[0], np.random.default_rng(_SEED)
        n = max(round(part.effective), 1)
        replicate_counts = rng.multinomial(n, part.weight / part.weight.sum(), size=_REPLICATES)
        return _maximize_shares(part.design.rows(part.codes), replicate_counts / n * part.n, smooth=self.smooth)

    def rows(self, confidence: float = 0.95) -> list[Row]:
        tail_share = (1 - confidence) / 2
        replicate_quantiles = _quantiles(self.points, self.replicates, np.array(QUANTILES))
        quantile_ends = np.quantile(replicate_quantiles, [tail_share, 1 - tail_share], axis=0)
        quantile_numbers = zip(
            QUANTILES, self.quantile(QUANTILES), replicate_quantiles.std(axis=0), *quantile_ends, strict=True
        )
        quantile_rows = [
            Row(f"p{100 * p:g} (display)", *map(float, row_numbers)) for p, *row_numbers in quantile_numbers
        ]
        return [*quantile_rows, mean(self.design, self.tally).rows(confidence)[0]]

    def remarks(self) -> list[str]:
        return [
            "the distribution and its quantiles are a display: smoothing pulls them together, and their bands show "
            "how much chance moves them, not how far they are off; the mean is unbiased"
        ]

    def numbers(self, options: PrintOptions | None = None) -> dict[str, object]:
        return super().numbers(options) | {"points": self.points, "display": self.shares}


def distribution(design: Answerable, tally: Tally, *, target: str = "population", smooth: bool = True) -> Distribution:
    """The distribution of a number as a display: expectation maximization, smoothed at each step.

    Each step takes π to π_j Σ_o (n_o/n) P(o | j)/(Pπ)_o; with `smooth` each share is then averaged with its
    neighbors by weights ¼, ½, ¼. It ends when a step raises the
    log-likelihood by less than a thousandth.

    Parameters
    ----------
    design : Design
        One of `designs.number` with ``aim="distribution"``, or any other whose categories are numbers in order.
    tally : Tally
        Of people who were drawn independently of each other.
    target : {"population"}
    smooth : bool
        Without it, the steps lead to the maximum of the likelihood, which is rough.

    Returns
    -------
    Distribution

    Raises
    ------
    DataError
        Levels, a complex sample, a file as target; categories that are no numbers, or too many of them.

    References
    ----------
    Li, Wang, Lopuhaä-Zwakenberg, Li & Škorić (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import designs
    >>> survey, rng = designs.number(low=0, high=1, epsilon=2, aim="distribution"), np.random.default_rng(5)
    >>> fit = distribution(survey, survey.tally(survey.randomize(rng.beta(5, 2, 20_000), rng=rng)))
    >>> fit.quantile(0.5).round(2)
    array([0.73])
    """
    answered_under(design, tally)
    checked_target(target)
    if target == "file" or design.offer.several or tally.complex is not None:
        refused_case = "a file" if target == "file" else "levels" if design.offer.several else "a complex sample"
        raise DataError(
            f"a distribution is for a population, one design, and people drawn independently; got {refused_case}"
        )
    grid_points = design.categories
    if any(
        isinstance(grid_point, bool) or not isinstance(grid_point, int | float) for grid_point in grid_points
    ) or list(grid_points) != sorted(grid_points):
        raise DataError(
            f"a distribution needs categories that are numbers in order; got {_checks.listing_text(grid_points)}"
        )
    part = tally.parts[0]
    if len(grid_points) < 3:
        raise DataError("a distribution needs a grid of three points or more; use number(…, aim='distribution')")
    if part.summed or len(part.codes) * len(grid_points) > _LARGEST:
        raise DataError(
            f"a distribution over {len(grid_points):,} points takes too long; use a hierarchy, or fewer steps"
        )
    shares = _maximize_shares(
        part.design.rows(part.codes), part.weight[None] / part.weight.sum() * part.n, smooth=smooth
    )
    return Distribution(design, tally, target, np.array(grid_points, dtype=float), _checks.read_only(shares[0]), smooth)


def _maximize_shares(rows: Floats, counts: Floats, *, smooth: bool) -> Floats:
    """The shares for each row of counts, (replicates, t), all replicates at once."""
    shares = np.full((len(counts), rows.shape[1]), 1 / rows.shape[1])
    earlier_likelihood = np.full(len(counts), -math.inf)
    going_rows = np.arange(len(counts))
    for step in range(_STEPS):
        answer_chances = shares[going_rows] @ rows.T
        stepped_shares = shares[going_rows] * ((counts[going_rows] / answer_chances) @ rows)
        if smooth:
            padded_shares = np.pad(stepped_shares, ((0, 0), (1, 1)), mode="edge")
            stepped_shares = (padded_shares[:, :-2] + 2 * padded_shares[:, 1:-1] + padded_shares[:, 2:]) / 4
        shares[going_rows] = stepped_shares / stepped_shares.sum(axis=1, keepdims=True)
        if step % _EVERY == 0:
            reached_likelihood = (counts[going_rows] * np.log(answer_chances)).sum(axis=1)
            has_gained = reached_likelihood - earlier_likelihood[going_rows] > 1e-3 * _EVERY
            earlier_likelihood[going_rows] = reached_likelihood
            going_rows = going_rows[has_gained]
        if not len(going_rows):
            break
    return shares


def _quantiles(points: Floats, shares: Floats, p: Floats) -> Floats:
    """The quantiles of each row of shares, (rows, q): the share of a point is spread evenly around it."""
    point_edges = np.concatenate([points[:1], (points[1:] + points[:-1]) / 2, points[-1:]])
    cumulative_shares = np.pad(np.cumsum(shares, axis=1), ((0, 0), (1, 0)))
    return np.array([np.interp(p, share_row / share_row[-1], point_edges) for share_row in cumulative_shares])
