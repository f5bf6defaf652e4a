"""A survey from the question to the report, on real counts: collect, tally, estimate, report."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from naysay import designs, estimate, report
from naysay.data import gvu_counts
from naysay.design import Levels
from naysay.errors import DataError
from naysay.estimate import Estimate, Intervals
from naysay.report.page import holds
from naysay.responses import Responses

__all__ = ["Collect", "Question", "Result", "Results", "page", "run", "simulated"]

REPORT = "report.html"

_TITLES = {
    "falsification_of_information": "How often people falsify information",
    "race": "Race",
    "sexual_preference": "Sexual preference",
    "household_income": "Household income, in thousands of dollars",
    "age": "Age, in years",
}


@dataclass(frozen=True, eq=False)
class Question:
    """A question whose answers are known, so that estimates can be held against them.

    Parameters
    ----------
    name, title : str
    counts : {category: count}
        The true answers.
    """

    name: str
    title: str
    counts: Mapping[str, int]

    @cached_property
    def design(self) -> Levels:
        """The offer: each respondent chooses how many categories she rules out."""
        return designs.negative_levels(tuple(self.counts))

    @property
    def people(self) -> NDArray[np.object_]:
        """The true category of each person, (n,); only who simulates the respondents may look."""
        return np.repeat(np.array(tuple(self.counts), dtype=object), tuple(self.counts.values()))

    @property
    def truth(self) -> NDArray[np.float64]:
        """The true proportions, (t,)."""
        counts = np.array(tuple(self.counts.values()), dtype=float)
        return np.asarray(counts / counts.sum())


class Collect(Protocol):
    """How answers come in: whatever asks the people, and returns what they said under the question's design."""

    def __call__(self, question: Question) -> Responses: ...


def simulated(seed: int | None = None) -> Collect:
    """Respondents who choose their level at random and answer truthfully.

    Parameters
    ----------
    seed : int, optional
        To repeat a run. Without it the operating system's randomness is used, as in collection.
    """
    rng = None if seed is None else np.random.default_rng(seed)
    return lambda question: question.design.randomize(question.people, rng=rng)


@dataclass(frozen=True, eq=False)
class Result:
    """One question: the truth, and the estimate from the randomized answers alone."""

    question: Question
    fit: Estimate
    found: Intervals

    @property
    def holds(self) -> NDArray[np.bool_]:
        """Whether each interval holds the true share, (t,)."""
        return holds(self.found, self.question.truth)


@dataclass(frozen=True, eq=False)
class Results:
    """All questions, and how well the intervals did."""

    each: tuple[Result, ...]

    @property
    def intervals(self) -> int:
        """How many intervals there are."""
        return sum(len(result.holds) for result in self.each)

    @property
    def holding(self) -> int:
        """How many of them hold the truth."""
        return sum(int(result.holds.sum()) for result in self.each)

    @property
    def people(self) -> int:
        """Respondents, each of whom answers every question."""
        return max(result.fit.n for result in self.each)

    @property
    def revealing(self) -> tuple[int, int]:
        """Answers given at the most open level, which reveals them, and all answers."""
        levels = [result.fit.tally.by_level for result in self.each]
        return sum(own[max(own)].n for own in levels), sum(result.fit.n for result in self.each)


def questions() -> tuple[Question, ...]:
    """The five questions."""
    return tuple(Question(name, _TITLES[name], counts) for name, counts in gvu_counts().items())


def run(out: Path, *, seed: int | None = None, console: Console, collect: Collect | None = None) -> Path | None:
    """The survey from the question to the report: tables on the console, and one HTML file in the folder `out`.

    Parameters
    ----------
    out : Path
        The folder, made where it does not exist.
    seed : int, optional
        To repeat a run; without it the operating system's randomness is used.
    console : rich Console
    collect : Collect, optional
        How answers come in; `simulated` respondents by default.

    Returns
    -------
    Path or None
        The report; None where the extra ``plots`` is not installed.

    Raises
    ------
    DataError
        If `out` cannot be a folder.
    """
    began = time.perf_counter()
    if out.exists() and not out.is_dir():
        raise DataError(f"the report goes into a folder, and {str(out)!r} is a file; name another with --out")
    results = survey(questions(), simulated(seed) if collect is None else collect, console=console)
    for result in results.each:
        _show(result, console)
    _say(console, "estimate: stratified over the levels; diff.: that less the pooled estimate; !: misses the truth")
    told = f"{results.holding} of {results.intervals} intervals hold the truth; about 95 in 100 should."
    console.print(Text(told, style="bold"))
    try:
        path = _written(page(results, seed=seed, simulation=collect is None), out)
    except report.ExtraMissing as error:
        _say(console, f"No report was written: {error}")
        path = None
    _say(console, f"It took {time.perf_counter() - began:.1f} seconds.")
    if path is not None:
        _say(console, f"The report: {path}")
    return path


def survey(asked: Sequence[Question], collect: Collect, *, console: Console) -> Results:
    """Collect, tally and estimate each question; the estimator sees the tally of what was said, and nothing else."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    results = []
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(asked) * 3)
        for question in asked:
            progress.update(task, description=f"{question.title}: collect")
            said = collect(question)
            progress.update(task, advance=1, description=f"{question.title}: tally")
            tally = replace(question.design.tally(said), question=question.title)
            progress.update(task, advance=1, description=f"{question.title}: estimate")
            fit = estimate.stratified(question.design, tally, target="file")
            results.append(Result(question, fit, fit.intervals()))
            _ = fit.comparison  # here, while there is a progress bar to look at
            progress.update(task, advance=1)
    return Results(tuple(results))


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _show(result: Result, console: Console) -> None:
    """One question as a table: truth beside estimate, in percent."""
    fit, beside = result.fit, result.fit.comparison
    if beside is None:
        raise DataError("the demo compares stratified with pooled; its questions offer levels that are estimable alone")
    table = Table(title=Text(result.question.title, style="bold"), title_justify="left", box=None, pad_edge=False)
    table.add_column("percent", overflow="fold", min_width=12, max_width=40)
    for name in ("truth", "estimate", "s.e.", "95 % interval", "pooled", "s.e.", "diff.", "s.e."):
        table.add_column(name, justify="right", no_wrap=True)
    shares = np.column_stack(
        [
            result.question.truth,
            fit.proportions,
            fit.standard_errors,
            result.found.bounds,
            beside.pooled.proportions,
            beside.pooled.standard_errors,
            beside.difference,
            beside.standard_errors,
        ]
    )
    for category, row, holding in zip(fit.categories, (100 * shares).tolist(), result.holds, strict=True):
        truth, share, error, low, high, *compared = (f"{value:.2f}" for value in row)
        table.add_row(
            Text(str(category)),
            Text(truth, style="bold"),
            Text(share, style="bold cyan"),
            error,
            Text(f"{low}–{high} ") if holding else Text(f"{low}–{high}!", style="yellow"),
            *compared,
        )
    console.print(table)
    _say(console, f"{beside.test}")
    _say(console, f"{_given_away(fit)}\n")


def _given_away(fit: Estimate) -> str:
    """What one answer at each level tells, in one line."""
    told = [
        f"{level}: reveals the answer" if each.still_possible[0] == 1 else f"{level}: {each.still_possible[0]} left"
        for level, each in fit.privacy.items()
    ]
    return f"privacy by level, ε = ∞ throughout; of {len(fit.categories)} categories {', '.join(told)}"


def page(results: Results, *, seed: int | None = None, simulation: bool = True) -> str:
    """The report as one HTML text."""
    return report.html(
        "Five sensitive questions, asked in the negative",
        [report.estimate_section(result.fit, truth=result.question.truth) for result in results.each],
        facts=[
            (f"{results.people:,}", "people"),
            (f"{len(results.each)}", "questions"),
            (f"{results.holding} of {results.intervals}", "intervals hold the truth"),
        ],
        lead=_lead(results),
        footnotes=[*_NOTES, ("Chance", _chance(seed, simulation=simulation)), *_SOURCES],
    )


def _lead(results: Results) -> list[str]:
    revealing, answers = results.revealing
    return [
        f"{results.people:,} people were asked five sensitive questions. Instead of the answer, each named categories "
        "that do not apply, picked by chance, and each chose how many. From these answers alone the shares below are "
        "estimated. The true answers are known here, because this is a published survey repeated on its own counts; "
        "they served to draw what each person would have said, and stand in the plots as a yardstick. The estimates "
        "never use them.",
        "Who rules out one category of seven leaves six possible; who rules out all but one reveals the answer. Levels "
        f"were chosen at random here, so {revealing:,} of the {answers:,} answers were given at the most open level, "
        "which reveals them. Under each question stands what every level gives away.",
        "The plots show shares, and how far they lie from the truth. The upright bar is the truth, the round dot with "
        "its line is the stratified estimate with its 95 % interval, and the diamond is the pooled estimate: sharper, "
        "but right only if the choice of a level has nothing to do with the answer. "
        f"{results.holding} of the {results.intervals} intervals hold the truth; about 95 in 100 should.",
    ]


def _chance(seed: int | None, *, simulation: bool) -> str:
    if not simulation:
        return "The answers were randomized where they were given."
    if seed is None:
        return "The operating system's randomness, as in collection: another run gives other answers."
    return f"Seed {seed}: the same seed gives the same report. A real survey is never seeded."


_NOTES = (
    (
        "Method",
        "At every level the unbiased moment estimate, weighted by how many people chose the level (stratified, "
        "proportional weights). It holds however people choose their level. The pooled estimate is the maximum of "
        "the likelihood over all levels together.",
    ),
    (
        "Standard errors and target",
        "The target is the file: the people who answered, not a larger population. So the standard errors cover the "
        "chance in the answers, and no sampling.",
    ),
    (
        "What it does not protect against",
        "An answer at the most open level is a direct answer. Even a private answer rules something out for certain, "
        "so ε is infinite. Several answers of one person add up, above all if the same question is asked again with "
        "fresh chance. The chosen level may itself tell something. Randomizing hides neither that someone took part "
        "nor who it was, and it cannot notice a person who does not follow the instructions.",
    ),
)

_SOURCES = (
    (
        "Sources",
        "Esponda F, Huerta K, Guerrero VM (2016). A statistical approach to provide individualized privacy for "
        "surveys. PLoS ONE 11(1): e0147314, doi:10.1371/journal.pone.0147314. Counts: Graphic, Visualization & "
        "Usability Center, 8th WWW User Survey, October and November 1997; UCI KDD Archive, Internet Usage Data. Age "
        "is in ten bins of equal width, where the first holds those who did not say, as in that paper.",
    ),
)


def _written(text: str, out: Path) -> Path:
    """The report in its folder: whole, or not at all."""
    out.mkdir(parents=True, exist_ok=True)
    target = out / REPORT
    handle, name = tempfile.mkstemp(dir=out, prefix=".report-", suffix=".tmp")
    draft = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        draft.chmod(0o644)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return target
