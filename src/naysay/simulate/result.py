"""Repeated surveys, on one or more processes. The number of processes never changes the result.

Their results: bias, spread, whether standard errors and intervals are correct; and their page.
"""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
import secrets
import signal
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design import Answerable
from naysay.design.base import check_design
from naysay.design.several import choice, place_of
from naysay.errors import DataError, NaysayError
from naysay.estimate.intervals import METHODS
from naysay.estimate.likelihood import checked_target
from naysay.estimate.registry import ESTIMATORS, suitable
from naysay.show import Chart, Column, Content, Points, Records, Result, Table, charts, finish, plain
from naysay.show.finish import Axis
from naysay.show.page import Section, html
from naysay.show.result import percent
from naysay.show.rows import Mark, marks_in_rows
from naysay.simulate.survey import HONEST, Behavior, Population, Survey, population, shares
from naysay.tally import Tally

_BATCH = 0.25  # seconds of work per batch of a worker: Ctrl-C waits at most this long for a batch
_SOON = 3.0  # for less work than this (in seconds), starting workers would take longer than the work


def replicate(
    design: Answerable,
    people: Population | ArrayLike | str,
    *,
    n: int,
    replicates: int = 1_000,
    estimators: Sequence[str] | None = None,
    preferences: ArrayLike | None = None,
    behavior: Behavior = HONEST,
    target: str = "population",
    interval: str | None = "wald",
    confidence: float = 0.95,
    seed: int | None = None,
    workers: int = 1,
    console: Console | None = None,
) -> Simulation:
    """The same survey many times, with the results of its estimators.

    Each replicate has its own random generator, spawned from the seed. So neither the number of workers nor an
    interruption changes a result. If responses can be listed, their counts are drawn at once: a million respondents
    cost no more than a hundred.

    Parameters
    ----------
    design : Design, Levels or Samples
    people : Population, (t,) float, or str
        Who is asked: a population, its proportions, or a call such as "normal(sd=0.5)".
    n : int
        How many people are asked each time.
    replicates : int
        How many times the survey is tried.
    estimators : sequence of str, optional
        Names from `ESTIMATORS`; all are applied to the same answers. By default maximum likelihood and moments; for
        levels, stratified and pooled.
    preferences : (levels,) or (levels, t) float, optional
        How often each level is chosen, overall or by category (see `skewed` and `tied`). Equal by default.
    behavior : Behavior
        How many people lie, answer at random, or give no answer.
    target : {"population", "file"}
        file: the same people each time, randomized anew.
    interval : {"score", "agresti_coull", "wald", "profile", "bootstrap"}, optional
        The interval method. None means the default method of each estimate, which may take many times as long.
    confidence : float
    seed : int, optional
        The same seed repeats the simulation. Without a seed, one is drawn and kept in the result.
    workers : int
        Number of processes. A script that asks for more than one must call this under ``if __name__ == "__main__":``.
    console : rich Console, optional
        The console that shows progress.

    Returns
    -------
    Simulation
        If Ctrl-C ends it early, it holds the replicates that were finished.

    Raises
    ------
    DataError
        Zero replicates, respondents or workers; unknown populations and estimators; shares that do not sum to one.
    NotEstimable
        A design from which the proportions cannot be estimated.

    Examples
    --------
    >>> from naysay import designs, simulate
    >>> survey = designs.negative(("low", "middle", "high"))
    >>> found = simulate.replicate(survey, (0.5, 0.3, 0.2), n=500, replicates=200, estimators=["moments"], seed=1)
    >>> summary = found.summary("moments")
    >>> bool((abs(summary.bias.values) < 4 * summary.bias.errors).all())
    True
    """
    start_time = time.perf_counter()
    check_design(design)
    if interval is not None and interval not in METHODS:
        raise DataError(f"the interval methods are {', '.join(METHODS)}; got {interval!r}")
    checked_target(target)
    estimator_names = _estimator_names(design, estimators, target)
    if isinstance(people, str):
        people = population(people, design.cells)
    named_population = people if isinstance(people, Population) else shares(people, design.cells)
    survey = Survey(
        design=design,
        population=named_population.of(design),
        n=_positive(n, "the number of people asked"),
        preferences=choice(design, preferences),
        behavior=behavior,
        target=target,
    )
    replicate_count = _positive(replicates, "replicates")
    seed_used = secrets.randbits(32) if seed is None else _checks.whole_number(seed, 0, 2**128, what="seed")
    job = _Job(survey, estimator_names, interval, _checks.confidence(confidence), seed_used)
    outcomes_by_place = _run(job, replicate_count, _positive(workers, "workers"), console)
    return Simulation(
        survey=survey,
        runs=_runs(estimator_names, [outcomes_by_place[place] for place in sorted(outcomes_by_place)]),
        asked=replicate_count,
        confidence=confidence,
        seed=seed_used,
        seconds=time.perf_counter() - start_time,
    )


class Outcome(NamedTuple):
    """The result of one estimator in one replicate."""

    proportions: Floats
    standard_errors: Floats
    bounds: Floats
    method: str
    problem: str


ReplicateOutcomes = dict[int, tuple[Outcome, ...]]


@dataclass(frozen=True)
class _Job:
    """The work that replicates share; each worker has its own copy."""

    survey: Survey
    estimators: tuple[str, ...]
    interval: str | None
    confidence: float
    seed: int

    def batch(self, places: Sequence[int]) -> ReplicateOutcomes:
        """The results of these replicates."""
        return {place: self.outcomes_at(place) for place in places}

    def rng(self, place: int) -> np.random.Generator:
        """The generator of one replicate. Its seed is the child with this number from `SeedSequence.spawn`."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(place,)))

    def outcomes_at(self, place: int) -> tuple[Outcome, ...]:
        """The results of one replicate."""
        rng = self.rng(place)
        tally = self.survey.draw(rng)
        return tuple(self._fit(estimator_name, tally, rng) for estimator_name in self.estimators)

    def _fit(self, name: str, tally: Tally, rng: np.random.Generator) -> Outcome:
        try:
            if tally.n == 0:
                raise DataError("nobody answered")
            fit = ESTIMATORS[name](self.survey.design, tally, self.survey.target)
            intervals = fit.intervals(self.confidence, method=self.interval, rng=rng)
        except NaysayError as error:
            undefined_numbers = np.full((len(self.survey.design.categories), 4), np.nan)
            return Outcome(undefined_numbers[:, 0], undefined_numbers[:, 1], undefined_numbers[:, 2:], "", str(error))
        return Outcome(fit.proportions, fit.standard_errors, intervals.bounds, intervals.method, "")


def _run(job: _Job, number: int, workers: int, console: Console | None) -> ReplicateOutcomes:
    """All replicates, or those finished before Ctrl-C; at least one."""
    progress_columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    outcomes_by_place = job.batch([0])
    later_outcomes = (outcome for place in range(1, min(number, 4)) for outcome in job.outcomes_at(place))
    if all(outcome.problem for outcome in itertools.chain(outcomes_by_place[0], later_outcomes)):
        # no estimator works in the first surveys: raise the reason before running all of them
        tally = job.survey.draw(job.rng(0))
        if tally.n == 0:
            raise DataError("nobody answered in the first surveys; ask more people, or lower the nonresponse")
        ESTIMATORS[job.estimators[0]](job.survey.design, tally, job.survey.target)
        raise DataError(f"no estimator gives a result: {outcomes_by_place[0][0].problem}")
    start_time = time.perf_counter()  # time the second survey: the first one also loads modules and caches
    outcomes_by_place |= job.batch(range(1, min(number, 2)))
    seconds_per_survey = max(time.perf_counter() - start_time, 1e-6)
    batch_size = max(1, min(int(_BATCH / seconds_per_survey), -(-number // workers)))
    batches = [
        range(batch_start, min(batch_start + batch_size, number))
        for batch_start in range(len(outcomes_by_place), number, batch_size)
    ]
    # If it is no terminal, a progress bar would leave an empty line.
    is_hidden = console is None or not console.is_terminal
    with Progress(*progress_columns, console=console, transient=True, disable=is_hidden) as progress:
        progress_task = progress.add_task("surveys", total=number, completed=len(outcomes_by_place))
        in_one_process = workers == 1 or len(batches) < 2 or seconds_per_survey * number < _SOON
        try:
            for batch_outcomes in (
                map(job.batch, batches) if in_one_process else _together(job, batches, min(workers, len(batches)))
            ):
                outcomes_by_place |= batch_outcomes
                progress.update(progress_task, completed=len(outcomes_by_place))
        except KeyboardInterrupt:
            if console is not None:
                console.print(f"interrupted after {len(outcomes_by_place):,} of {number:,} surveys", highlight=False)
    return outcomes_by_place


def _together(job: _Job, batches: Sequence[range], workers: int) -> Iterator[ReplicateOutcomes]:
    """Batches from several processes, in the order they finish. After Ctrl-C, running batches are waited for."""
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_start, initargs=(job,))
    with _one_thread_each(), executor as pool:
        try:
            with _deaf_to_interrupts():
                batch_futures = [pool.submit(_work, places) for places in batches]
            for future in as_completed(batch_futures):
                yield future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Block Ctrl-C while workers start: until `_start` has run in them, they would print a traceback."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:  # a Ctrl-C that came meanwhile is delivered now
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Give each worker that starts only one thread: together the workers fill the cores."""
    variable_names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
    previous_variables = {name: os.environ[name] for name in variable_names if name in os.environ}
    os.environ.update(dict.fromkeys(variable_names, "1"))
    try:
        yield
    finally:
        for name in variable_names:
            del os.environ[name]
        os.environ.update(previous_variables)


_job: _Job
"""The job of this worker process."""


def _start(job: _Job) -> None:
    global _job  # noqa: PLW0603 (one job, given once, when the worker starts)
    _job = job
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the parent process reacts to Ctrl-C


def _work(places: Sequence[int]) -> ReplicateOutcomes:
    return _job.batch(places)


def _runs(names: Sequence[str], done: Sequence[tuple[Outcome, ...]]) -> Mapping[str, Runs]:
    """The results by estimator."""
    runs_by_estimator = {}
    for estimator_name, estimator_outcomes in zip(names, zip(*done, strict=True), strict=True):
        proportions, standard_errors, bounds, methods, problems = zip(*estimator_outcomes, strict=True)
        methods_by_count = tuple(method for method, _ in Counter(filter(None, methods)).most_common())
        first_problem = next(filter(None, problems), "")
        runs_by_estimator[estimator_name] = Runs(
            np.array(proportions), np.array(standard_errors), np.array(bounds), methods_by_count, first_problem
        )
    return runs_by_estimator


def _estimator_names(design: Answerable, estimators: Sequence[str] | None, target: str) -> tuple[str, ...]:
    """The names of the estimators to try; if none are given, those that suit the design."""
    if estimators is None:
        return tuple(estimator.name for estimator in suitable(design, target) if estimator.usual)
    chosen_names = (estimators,) if isinstance(estimators, str) else tuple(estimators)
    if not chosen_names or len(set(chosen_names)) < len(chosen_names):
        raise DataError(f"name each estimator once, at least one; got {_checks.listing_text(chosen_names)}")
    for estimator_name in chosen_names:
        if estimator_name not in ESTIMATORS:
            raise DataError(
                f"no estimator is called {estimator_name!r}; {_checks.nearest(estimator_name, ESTIMATORS)}",
                value=estimator_name,
            )
        refusal = ESTIMATORS[estimator_name].refusal(design, target)
        if refusal is not None:
            raise DataError(refusal, value=estimator_name)
    return chosen_names


def _positive(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise DataError(f"{what} must be at least 1; got {value!r}", value=value)
    return int(value)


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

    def numbers(self) -> dict[str, object]:
        """The measures by the names of their JSON."""
        json_fields: dict[str, object] = {
            "estimator": self.estimator,
            "used": self.used,
            "interval_methods": self.interval_methods,
        }
        for measure_name in MEASURES:
            measure = getattr(self, measure_name)
            json_fields |= {measure_name: measure.values, f"{measure_name}_monte_carlo_error": measure.errors}
        return json_fields

    def to_dict(self) -> dict[str, Any]:
        """The measures as a JSON object; undefined numbers are None."""
        return dict(plain(self.numbers()))


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
class Simulation(Result):
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
        estimator_name = next(iter(self.runs)) if estimator is None else estimator
        if estimator_name not in self.runs:
            raise DataError(f"{estimator_name!r} was not simulated; {_checks.nearest(estimator_name, self.runs)}")
        runs, truth = self.runs[estimator_name], self.truth
        is_usable = np.isfinite(runs.proportions).all(axis=1)
        estimates = runs.proportions[is_usable]
        if len(estimates) < 2:
            undefined_measures = dict.fromkeys(MEASURES, Measure(*np.full((2, len(truth)), np.nan)))
            return Summary(estimator_name, len(estimates), interval_methods=runs.methods, **undefined_measures)
        misses = estimates - truth
        mean_square = (misses**2).mean(axis=0)
        square_error = (misses**2).std(axis=0, ddof=1) / np.sqrt(len(misses))
        low_bounds, high_bounds = np.moveaxis(runs.bounds[is_usable], 2, 0)
        # A bound that equals the truth, but for rounding in the last digit, counts as holding it.
        holds_truth = np.where(
            np.isnan(low_bounds) | np.isnan(high_bounds),
            np.nan,
            (low_bounds <= truth + 1e-12) & (truth - 1e-12 <= high_bounds),
        )
        coverage = _mean(holds_truth).values
        return Summary(
            estimator_name,
            len(estimates),
            bias=_mean(misses),
            standard_deviation=_spread(estimates),
            rmse=Measure(np.sqrt(mean_square), _root_error(square_error, mean_square)),
            mean_standard_error=_mean(runs.standard_errors[is_usable]),
            coverage=Measure(coverage, np.sqrt(coverage * (1 - coverage) / np.isfinite(holds_truth).sum(axis=0))),
            width=_mean(high_bounds - low_bounds),
            interval_methods=runs.methods,
        )

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """The measures of all estimators."""
        return tuple(self.summary(estimator_name) for estimator_name in self.runs)

    def power(self, null: float, *, category: Label | None = None, estimator: str | None = None) -> tuple[float, float]:
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
        category_place = 0 if category is None else place_of(category, self.categories)
        category_bounds = self.runs[self.summary(estimator).estimator].bounds[:, category_place]
        share = float(np.mean((null < category_bounds[:, 0]) | (null > category_bounds[:, 1])))
        return share, float(np.sqrt(share * (1 - share) / len(category_bounds)))

    def numbers(self) -> dict[str, object]:
        """The simulation by the names of its JSON."""
        survey = self.survey
        return {
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
            "preferences": survey.preferences if survey.design.offer.assigned_by == "respondent" else None,
            "confidence": self.confidence,
            "estimators": [summary.numbers() for summary in self.summaries],
            "notes": self._failures(),
        }

    def records(self) -> Records:
        """One row for each estimator and category."""
        rows: list[list[object]] = []
        for summary in self.summaries:
            measures: list[Measure] = [getattr(summary, measure_name) for measure_name in MEASURES]
            arrays = [array for measure in measures for array in (measure.values, measure.errors)]
            for place, category in enumerate(self.categories):
                category_numbers = [self.truth[place], *(array[place] for array in arrays)]
                survey_numbers = [self.replicates, summary.used, self.survey.n, self.seed]
                rows.append([summary.estimator, _checks.label(category), *category_numbers, *survey_numbers])
        number_names = [
            name for measure_name in MEASURES for name in (measure_name, f"{measure_name}_monte_carlo_error")
        ]
        return Records(["estimator", "category", "truth", *number_names, "replicates", "used", "n", "seed"], rows)

    def parts(self) -> list[Content]:
        """What was simulated, a table for each estimator, and notes on how to read the numbers."""
        tables = [self.table(summary) for summary in self.summaries]
        return [Points(tuple(self.basis)), *tables, Points(tuple(self.remarks()), small=True)]

    @property
    def basis(self) -> list[str]:
        """What was simulated."""
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
        if survey.design.offer.assigned_by == "respondent":
            level_shares = survey.preferences @ survey.population.proportions
            tie_text = "" if np.allclose(survey.preferences, survey.preferences[:, :1]) else ", going with the category"
            level_texts = (
                f"{level}: {share:.3g}" for level, share in zip(survey.design.levels, level_shares, strict=True)
            )
            basis_lines.append(f"Levels chosen: {', '.join(level_texts)}{tie_text}")
        return [*basis_lines, f"Seed {self.seed}; {self.seconds:.1f} s"]

    def remarks(self) -> list[str]:
        """How the numbers are to be read, and which estimators gave no result."""
        return ["±: Monte Carlo error, one standard error of the number before it", *self._failures()]

    def table(self, summary: Summary) -> Table:
        """The measures of an estimator, each with its Monte Carlo error."""
        column_names = ("truth", *_COLUMNS.values())
        summary_measures, truth = [getattr(summary, measure_name) for measure_name in MEASURES], self.truth
        table_rows = []
        for category_place, category in enumerate(self.categories):
            number_texts = (
                _with_error(float(measure.values[category_place]), float(measure.errors[category_place]))
                for measure in summary_measures
            )
            table_rows.append((_checks.label(category), f"{truth[category_place]:.4f}", *number_texts))
        method_text = ", ".join(summary.interval_methods) or "none"
        return Table(
            (Column("category", words=True, width=24), *map(Column, column_names)),
            tuple(table_rows),
            caption=f"{summary.estimator}; {self.confidence:.4g} intervals: {method_text}",
        )

    def _failures(self) -> list[str]:
        """Which estimators gave no result, how often, and why."""
        return [
            f"{summary.estimator} gave no result in {self.replicates - summary.used:,} of {self.replicates:,} surveys: "
            f"{self.runs[summary.estimator].problem}"
            for summary in self.summaries
            if summary.used < self.replicates
        ]

    def __repr__(self) -> str:
        return f"<{self.replicates} surveys of {self.survey.n}: {', '.join(self.runs)} (seed {self.seed})>"


def _with_error(value: float, error: float) -> str:
    """A number with its Monte Carlo error: ``0.9510 ±.0048``."""
    if np.isnan(value):
        return "–"
    return f"{value:.4f} ±" + ("–" if np.isnan(error) else f"{error:.4f}".removeprefix("0"))


def _mean(values: Floats) -> Measure:
    """The mean over the replicates in which the value is defined."""
    is_defined = np.isfinite(values)
    defined_count = is_defined.sum(axis=0)
    defined_values = np.where(is_defined, values, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = defined_values.sum(axis=0) / defined_count
        replicate_variance = (np.where(is_defined, values - mean, 0.0) ** 2).sum(axis=0) / (defined_count - 1)
        return Measure(mean, np.sqrt(replicate_variance / defined_count))


def _spread(estimates: Floats) -> Measure:
    """The standard deviation. Its error uses the fourth moment, because the estimates need not be normal."""
    replicate_count = len(estimates)
    deviations = estimates - estimates.mean(axis=0)
    variance = (deviations**2).sum(axis=0) / (replicate_count - 1)
    of_variance = np.sqrt(np.maximum((deviations**4).mean(axis=0) - variance**2, 0.0) / replicate_count)
    return Measure(np.sqrt(variance), _root_error(of_variance, variance))


def _root_error(error: Floats, value: Floats) -> Floats:
    """The Monte Carlo error of a square root (delta method)."""
    return np.asarray(np.divide(error, 2 * np.sqrt(value), out=np.zeros_like(error), where=value > 0))


_STYLES = (
    ("estimate", "circle"),
    ("pooled", "diamond"),
    ("text", "square"),
    ("muted", "triangle-up"),
    ("estimate", "cross"),
    ("pooled", "triangle-down"),
)
_AXES = {
    "bias": "bias, points",
    "standard_deviation": "standard deviation, points",
    "rmse": "root mean square error, points",
    "mean_standard_error": "mean standard error, points",
    "coverage": "coverage of the intervals",
    "width": "width of the intervals, points",
}


def spread(simulation: Simulation, estimator: str, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of the truth and the estimates: their mean, and the range of the middle 95 %.

    Parameters
    ----------
    simulation : Simulation
    estimator : str
    size : int
        Width in pixels at which text has its natural size.
    room : int
        Letters in a line of a label.

    Raises
    ------
    DataError
        An estimator that was not simulated.
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, simulate
    >>> found = simulate.replicate(designs.two_coins(), (0.2, 0.8), n=100, replicates=50, seed=1)
    >>> spread(found, "moments")[:4]
    '<svg'
    """
    simulation.summary(estimator)
    estimates = simulation.runs[estimator].proportions
    estimates = estimates[np.isfinite(estimates).all(axis=1)]
    middle_bounds = np.quantile(estimates, [0.025, 0.975], axis=0).T
    marks = [
        charts.Mark("truth", "truth", simulation.truth),
        charts.Mark("estimate", f"{estimator}: mean and 95 of 100", estimates.mean(axis=0), middle_bounds),
    ]
    title = f"{estimator}: {len(estimates):,} estimates beside the truth"
    return charts.dots(simulation.categories, marks, title=title, size=size, room=room, axis="share")


def measure(simulation: Simulation, name: str, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of one measure: a mark for each estimator in each category, with twice its Monte Carlo error.

    Parameters
    ----------
    simulation : Simulation
        A simulation with at most six estimators.
    name : {"bias", "standard_deviation", "rmse", "mean_standard_error", "coverage", "width"}
    size : int
        Width in pixels at which text has its natural size.
    room : int
        Letters in a line of a label.

    Raises
    ------
    DataError
        An unknown measure.
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, simulate
    >>> found = simulate.replicate(designs.two_coins(), (0.2, 0.8), n=100, replicates=50, seed=1)
    >>> svg = measure(found, "coverage")
    >>> svg[:4], "coverage of the intervals" in svg
    ('<svg', True)
    """
    if name not in _AXES:
        raise DataError(f"the measures are {', '.join(_AXES)}; got {name!r}")
    is_coverage = name == "coverage"
    unit_factor, aim = (1.0, simulation.confidence) if is_coverage else (100.0, 0.0 if name == "bias" else None)
    marks = []
    for (role, shape), summary in zip(_STYLES * len(simulation.runs), simulation.summaries, strict=False):
        summary_measure = getattr(summary, name)
        monte_carlo_errors = np.nan_to_num(summary_measure.errors)
        error_bounds = summary_measure.values[:, None] + 2 * monte_carlo_errors[:, None] * [-1.0, 1.0]
        error_bounds = np.clip(error_bounds, 0.0, 1.0) if is_coverage else error_bounds
        values_and_errors = zip(summary_measure.values.tolist(), monte_carlo_errors.tolist(), strict=True)
        mark_texts = [
            f"{percent(v, 1)} ± {percent(e, 1)}" if is_coverage else f"{100 * v:.2f} ± {100 * e:.2f} points"
            for v, e in values_and_errors
        ]
        marks.append(
            Mark(
                role,
                summary.estimator,
                unit_factor * summary_measure.values,
                unit_factor * error_bounds,
                shape=shape,
                told=mark_texts,
            )
        )
    bound_ends = [float(end) for mark in marks for end in np.ravel(np.asarray(mark.bounds)) if math.isfinite(end)]
    bound_ends.append(0.0 if aim is None else aim)
    lowest_end, highest_end = min(bound_ends), max(bound_ends)
    axis_margin = max(highest_end - lowest_end, 1e-6) * 0.04
    axis_domain = (
        lowest_end if aim is None and lowest_end == 0 else lowest_end - axis_margin,
        highest_end + axis_margin,
    )
    description = "; ".join(
        f"{finish.label_line(category)}: " + ", ".join(f"{mark.name} {mark.told[category_place]}" for mark in marks)
        for category_place, category in enumerate(simulation.categories)
    )
    return marks_in_rows(
        simulation.categories,
        marks,
        Axis(_AXES[name], axis_domain, ".0%" if is_coverage else ".3~f", ticks=6),
        title=f"{_AXES[name]}, {simulation.replicates:,} surveys",
        description=description,
        size=size,
        room=room,
        aim=aim,
    )


def simulation_html(simulation: Simulation, *, title: str = "A survey, tried many times") -> str:
    """A simulation as a whole page: the estimates, every measure, the numbers.

    Parameters
    ----------
    simulation : Simulation
    title : str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, simulate
    >>> found = simulate.replicate(designs.two_coins(), (0.2, 0.8), n=100, replicates=50, seed=1)
    >>> simulation_html(found).startswith("<!doctype html>")
    True
    """
    measure_charts = [
        Chart(lambda size, room, measure_name=measure_name: measure(simulation, measure_name, size=size, room=room))  # type: ignore[misc]
        for measure_name in ("bias", "rmse", "coverage", "width")
    ]
    marks_text = "Lines at the marks: two Monte Carlo errors to each side."
    remarks = Points((marks_text, *simulation.remarks()), small=True)
    page_sections = [
        Section("Measures, estimator by estimator", [*measure_charts, remarks]),
        *(
            Section(f"Estimates: {summary.estimator}", _estimator(simulation, summary))
            for summary in simulation.summaries
        ),
    ]
    lead_lines = [f"{line}." for line in simulation.basis]
    return html(title, page_sections, lead=lead_lines, facts=[(f"{simulation.replicates:,}", "surveys")])


def _estimator(simulation: Simulation, summary: Summary) -> list[Content]:
    """The plot and the numbers of one estimator."""
    name, table = summary.estimator, simulation.table(summary)
    table_rows = tuple(
        (finish.label_line(category), *row[1:]) for category, row in zip(simulation.categories, table.rows, strict=True)
    )
    return [
        Chart(lambda size, room: spread(simulation, name, size=size, room=room)),
        replace(table, rows=table_rows, caption=f"{name}, each number with its Monte Carlo error"),
    ]
