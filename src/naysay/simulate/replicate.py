"""Repeated surveys, on one or more processes. The number of processes never changes the result."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import secrets
import signal
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from naysay import _checks
from naysay._values import Floats
from naysay.design import Answerable
from naysay.design.base import check_design
from naysay.design.several import choice
from naysay.errors import DataError, NaysayError
from naysay.estimate.intervals import METHODS
from naysay.estimate.likelihood import checked_target
from naysay.estimate.registry import ESTIMATORS, suitable
from naysay.simulate.result import Runs, Simulation
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
