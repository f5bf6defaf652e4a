"""Results of replicated surveys: bias, spread, and whether standard errors and intervals are correct."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design.several import place_of
from naysay.errors import DataError
from naysay.show import Column, Points, Table, plain, text
from naysay.show.html import notebook
from naysay.show.text import csv_text
from naysay.simulate.survey import Survey

Floats = NDArray[np.float64]

_COLUMNS = {
    "bias": "bias",
    "standard_deviation": "s.d.",
    "rmse": "rmse",
    "mean_standard_error": "mean s.e.",
    "coverage": "coverage",
    "width": "width",
}

MEASURES = tuple(_COLUMNS)
"""The measures of a summary, each with its Monte Carlo error."""


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure for each category, and its Monte Carlo error: the standard error from the number of replicates.

    Parameters
    ----------
    values, errors : (t,) float
        NaN where the measure is undefined.
    """

    values: Floats
    errors: Floats


@dataclass(frozen=True, eq=False)
class Summary:
    """One estimator over all replicates.

    Parameters
    ----------
    estimator : str
    used : int
        The number of replicates in which the estimator gave a result.
    bias, standard_deviation, rmse, mean_standard_error, coverage, width : Measure
        In this order: mean of estimate - truth; standard deviation of the estimates; root mean square of estimate -
        truth; mean of the estimated standard errors; how often the interval holds the truth; its mean width.
    interval_methods : tuple of str
        The methods of the intervals, the most frequent first.

    References
    ----------
    Monte Carlo errors: Morris, White & Crowther (2019), "Using simulation studies to evaluate statistical methods",
    table 6. The error of the standard deviation uses the fourth moment.
    """

    estimator: str
    used: int
    bias: Measure
    standard_deviation: Measure
    rmse: Measure
    mean_standard_error: Measure
    coverage: Measure
    width: Measure
    interval_methods: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The measures as a JSON object; undefined numbers are None."""
        json_fields = {"estimator": self.estimator, "used": self.used, "interval_methods": self.interval_methods}
        for name in MEASURES:
            measure = getattr(self, name)
            json_fields |= {name: measure.values, f"{name}_monte_carlo_error": measure.errors}
        return dict(plain(json_fields))


@dataclass(frozen=True, eq=False)
class Runs:
    """The results of one estimator in each replicate; NaN where it gave no result.

    Parameters
    ----------
    proportions, standard_errors : (replicates, t) float
    bounds : (replicates, t, 2) float
    methods : tuple of str
        The methods of the intervals.
    problem : str
        Why the first failed replicate gave no result; empty if none failed.
    """

    proportions: Floats
    standard_errors: Floats
    bounds: Floats
    methods: tuple[str, ...]
    problem: str = ""


@dataclass(frozen=True, eq=False)
class Simulation:
    """Replicated surveys; `replicate` makes them.

    Parameters
    ----------
    survey : Survey
        The survey that was repeated.
    runs : {estimator: Runs}
    asked : int
        The number of replicates asked for. After an interruption `runs` holds fewer.
    confidence : float
    seed : int
        The seed that repeats the simulation, with any number of workers.
    seconds : float
        Duration of the simulation.
    """

    survey: Survey
    runs: Mapping[str, Runs]
    asked: int
    confidence: float
    seed: int
    seconds: float

    @property
    def categories(self) -> tuple[Any, ...]:
        """The t categories."""
        return self.survey.design.categories

    @property
    def truth(self) -> Floats:
        """The proportions to be estimated, (t,)."""
        return self.survey.truth

    @property
    def replicates(self) -> int:
        """How many surveys were simulated."""
        return len(next(iter(self.runs.values())).proportions)

    @property
    def interrupted(self) -> bool:
        """Whether the simulation ended before all replicates were done."""
        return self.replicates < self.asked

    def summary(self, estimator: str | None = None) -> Summary:
        """The measures of an estimator; by default of the first one.

        Raises
        ------
        DataError
            An estimator that was not simulated.
        """
        name = next(iter(self.runs)) if estimator is None else estimator
        if name not in self.runs:
            raise DataError(f"{name!r} was not simulated; {_checks.nearest(name, self.runs)}")
        return _summary(name, self.runs[name], self.truth)

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """The measures of all estimators."""
        return tuple(self.summary(name) for name in self.runs)

    def power(self, null: float, *, category: Any = None, estimator: str | None = None) -> tuple[float, float]:
        """How often the interval of a proportion excluded a null value, and the Monte Carlo error of this share.

        The interval is that of the simulation: of `replicate(..., interval=None)` the one that `estimate` prints, by
        default Wald's. A survey without an interval excludes nothing.

        Parameters
        ----------
        null : float
        category : label, optional
            By default the first.
        estimator : str, optional
            By default the first.
        """
        place = 0 if category is None else place_of(category, self.categories)
        bounds = self.runs[self.summary(estimator).estimator].bounds[:, place]
        share = float(np.mean((null < bounds[:, 0]) | (null > bounds[:, 1])))
        return share, float(np.sqrt(share * (1 - share) / len(bounds)))

    def to_dict(self) -> dict[str, Any]:
        """The simulation as one JSON object; undefined numbers are None."""
        survey = self.survey
        json_fields = {
            "design": survey.design.name or survey.design.kind,
            "n": survey.n,
            "replicates": self.replicates,
            "asked": self.asked,
            "interrupted": self.interrupted,
            "seed": self.seed,
            "seconds": self.seconds,
            "target": survey.target,
            "population": survey.population.name,
            "behavior": str(survey.behavior),
            "categories": self.categories,
            "truth": self.truth,
            "preferences": survey.preferences if survey.design.assigned_by == "respondent" else None,
            "confidence": self.confidence,
            "estimators": [summary.to_dict() for summary in self.summaries],
            "notes": self._failures(),
        }
        return dict(plain(json_fields))

    def to_csv(self) -> str:
        """One line for each estimator and category; numbers are not rounded."""
        names = [name for measure in MEASURES for name in (measure, f"{measure}_monte_carlo_error")]
        rows: list[list[Any]] = [["estimator", "category", "truth", *names, "replicates", "used", "n", "seed"]]
        for summary in self.summaries:
            summary_measures = [getattr(summary, measure) for measure in MEASURES]
            for row, category in enumerate(self.categories):
                cells = [
                    array[row]
                    for summary_measure in summary_measures
                    for array in (summary_measure.values, summary_measure.errors)
                ]
                number_cells = ["" if np.isnan(cell) else float(cell) for cell in (self.truth[row], *cells)]
                ends = [self.replicates, summary.used, self.survey.n, self.seed]
                rows.append([summary.estimator, _checks.label(category), *number_cells, *ends])
        return csv_text(rows)

    def sections(self) -> tuple[Points, *tuple[Table, ...], Points]:
        """What was simulated, a table for each estimator, and notes on how to read the numbers."""
        survey, surveys_text = self.survey, f"{self.replicates:,} surveys"
        if self.interrupted:
            surveys_text = f"interrupted: {self.replicates:,} of {self.asked:,} surveys"
        people_text = (
            f"the same {survey.n:,} people each time" if survey.target == "file" else f"{survey.n:,} people each"
        )
        basis_lines = [
            f"{survey.design.name or survey.design.kind}: {surveys_text}, {people_text}; target: the {survey.target}",
            f"Population: {survey.population.name}; {survey.behavior}",
        ]
        if survey.design.assigned_by == "respondent":
            shares = survey.preferences @ survey.population.proportions
            tie_text = "" if np.allclose(survey.preferences, survey.preferences[:, :1]) else ", going with the category"
            levels = (f"{level}: {share:.3g}" for level, share in zip(survey.design.levels, shares, strict=True))
            basis_lines.append(f"Levels chosen: {', '.join(levels)}{tie_text}")
        basis_lines.append(f"Seed {self.seed}; {self.seconds:.1f} s")
        notes = ["±: Monte Carlo error, one standard error of the number before it", *self._failures()]
        tables = [self._table(summary) for summary in self.summaries]
        return Points(tuple(basis_lines)), *tables, Points(tuple(notes), small=True)

    def _table(self, summary: Summary) -> Table:
        columns = ("truth", *_COLUMNS.values())
        measures, truth = [getattr(summary, name) for name in MEASURES], self.truth
        rows = []
        for row, category in enumerate(self.categories):
            numbers = (_with_error(float(measure.values[row]), float(measure.errors[row])) for measure in measures)
            rows.append((_checks.label(category), f"{truth[row]:.4f}", *numbers))
        methods = ", ".join(summary.interval_methods) or "none"
        return Table(
            (Column("category", words=True, width=24), *map(Column, columns)),
            tuple(rows),
            caption=f"{summary.estimator}; {self.confidence:.4g} intervals: {methods}",
        )

    def _failures(self) -> list[str]:
        """Which estimators gave no result, how often, and why."""
        return [
            f"{summary.estimator} gave no result in {self.replicates - summary.used:,} of {self.replicates:,} surveys: "
            f"{self.runs[summary.estimator].problem}"
            for summary in self.summaries
            if summary.used < self.replicates
        ]

    def __str__(self) -> str:
        return text(self.sections())

    def _repr_html_(self) -> str:
        return notebook(self.sections())

    def __repr__(self) -> str:
        return f"<{self.replicates} surveys of {self.survey.n}: {', '.join(self.runs)} (seed {self.seed})>"


def _with_error(value: float, error: float) -> str:
    """A number with its Monte Carlo error: ``0.9510 ±.0048``."""
    if np.isnan(value):
        return "–"
    return f"{value:.4f} ±" + ("–" if np.isnan(error) else f"{error:.4f}".removeprefix("0"))


def _summary(name: str, run: Runs, truth: Floats) -> Summary:
    usable = np.isfinite(run.proportions).all(axis=1)
    estimates = run.proportions[usable]
    if len(estimates) < 2:
        undefined_measures = dict.fromkeys(MEASURES, Measure(*np.full((2, len(truth)), np.nan)))
        return Summary(estimator=name, used=len(estimates), interval_methods=run.methods, **undefined_measures)
    misses = estimates - truth
    low, high = np.moveaxis(run.bounds[usable], 2, 0)
    # A bound that equals the truth, but for rounding in the last digit, counts as holding it.
    holds = np.where(np.isnan(low) | np.isnan(high), np.nan, (low <= truth + 1e-12) & (truth - 1e-12 <= high))
    coverage = _mean(holds).values
    return Summary(
        estimator=name,
        used=len(estimates),
        bias=_mean(misses),
        standard_deviation=_spread(estimates),
        rmse=_root_mean_square(misses),
        mean_standard_error=_mean(run.standard_errors[usable]),
        coverage=Measure(coverage, np.sqrt(coverage * (1 - coverage) / np.isfinite(holds).sum(axis=0))),
        width=_mean(high - low),
        interval_methods=run.methods,
    )


def _mean(values: Floats) -> Measure:
    """The mean over the replicates in which the value is defined."""
    is_defined = np.isfinite(values)
    number = is_defined.sum(axis=0)
    defined_values = np.where(is_defined, values, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = defined_values.sum(axis=0) / number
        spread = (np.where(is_defined, values - mean, 0.0) ** 2).sum(axis=0) / (number - 1)
        return Measure(mean, np.sqrt(spread / number))


def _spread(estimates: Floats) -> Measure:
    """The standard deviation. Its error uses the fourth moment, because the estimates need not be normal."""
    number = len(estimates)
    deviations = estimates - estimates.mean(axis=0)
    variance = (deviations**2).sum(axis=0) / (number - 1)
    of_variance = np.sqrt(np.maximum((deviations**4).mean(axis=0) - variance**2, 0.0) / number)
    return Measure(np.sqrt(variance), _root_error(of_variance, variance))


def _root_mean_square(misses: Floats) -> Measure:
    square = (misses**2).mean(axis=0)
    error = (misses**2).std(axis=0, ddof=1) / np.sqrt(len(misses))
    return Measure(np.sqrt(square), _root_error(error, square))


def _root_error(error: Floats, value: Floats) -> Floats:
    """The Monte Carlo error of a square root (delta method)."""
    return np.asarray(np.divide(error, 2 * np.sqrt(value), out=np.zeros_like(error), where=value > 0))
