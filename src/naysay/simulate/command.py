"""``naysay simulate``: try a survey many times before it is fielded."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.console import Console

from naysay import _checks, files, simulate
from naysay._values import Floats
from naysay.console import options, output
from naysay.console.options import numbers, record_cells
from naysay.console.output import takes
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.estimate.registry import TriedInterval, estimators
from naysay.simulate import Behavior, Population
from naysay.simulate.result import simulation_html

_INTERRUPTED = 130

Preferences = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="How people choose levels: uniform, skewed, skewed:open, tied:CATEGORY, or a share for each level, "
        "such as 0.5,0.3,0.2.",
    ),
]


@dataclass(frozen=True)
class SimulateOptions:
    """The options of ``naysay simulate``."""

    design: options.DesignText
    categories: options.Categories = None
    population: Annotated[
        str,
        typer.Option(
            metavar="WHO",
            help="equal, uniform, normal, exponential or log_normal, such as 'normal(mean=3, sd=0.67)'; one "
            "share for each category, such as 0.2,0.8; or a file of true answers, with --column.",
        ),
    ] = "equal"
    column: Annotated[str | None, options.column("The column of true answers, if WHO is a file.")] = None
    count: options.Count = None
    n: int = 1_000
    replicates: int = 1_000
    estimator: Annotated[list[str] | None, typer.Option(metavar="METHOD", help=f"Repeatable: {estimators()}")] = None
    preferences: Preferences = None
    liars: Annotated[float, "SHARE"] = 0.0
    among: Annotated[str | None, "RECORD"] = None
    says: Annotated[str | None, "CATEGORY"] = None
    at_random: Annotated[float, "SHARE"] = 0.0
    nonresponse: Annotated[
        str,
        typer.Option(
            metavar="SHARES",
            help="Share of people who do not answer, or shares by category such as 'high=0.3,low=0.1'.",
        ),
    ] = "0"
    always: Annotated[
        str | None,
        typer.Option(
            metavar="SHARES", help="Share of people who always give one answer, also in controls, such as 'a=0.2'."
        ),
    ] = None
    positive: Annotated[float, "SHARE"] = 0.0
    target: options.Target = "population"
    interval: Annotated[
        TriedInterval, typer.Option(help="usual: the one that `naysay estimate` uses, which may be slow.")
    ] = "wald"
    confidence: options.Confidence = 0.95
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed repeats a simulation.")] = None
    workers: Annotated[int | None, typer.Option(help="Number of processes; by default one for each core.")] = None
    format_: options.Format = "table"
    html: options.Html = None


@takes(SimulateOptions, simulate.replicate, Behavior)
def command(request: SimulateOptions) -> None:
    """Try a survey many times, before it is fielded.

    Draws people, lets them answer (or lie, or give no answer), and estimates. The result says how far the estimates lie
    from the truth, and whether standard errors and intervals are correct. Each number has its Monte Carlo error. Ctrl-C
    ends the simulation early and shows the results so far.

    \b
    Examples:
      naysay simulate --design "negative(discards=2)" --categories "1,2,3,4,5" \\
          --population normal --n 500 --replicates 200 --seed 1
      naysay simulate --design "warner(p=0.7)" --population 0.15,0.85 --n 800 \\
          --liars 0.2 --among yes --says no --replicates 100 --format json
      naysay simulate --design "negative_levels()" --population truth.csv \\
          --categories "low,middle,high,none" --column income \\
          --preferences tied:none --replicates 50 --html simulation.html
    """
    output.check(request.html)
    design = options.design_of(request.design, request.categories)
    simulation = simulate.replicate(
        design,
        _population(design, request),
        n=request.n,
        replicates=request.replicates,
        estimators=request.estimator or None,
        preferences=preferences_of(request.preferences, design),
        behavior=Behavior(
            liars=request.liars,
            among=None if request.among is None else record_cells(request.among),
            says=request.says,
            at_random=request.at_random,
            nonresponse=shares_by_label(request.nonresponse, "--nonresponse"),
            always=_habits(request.always),
            positive=request.positive,
        ),
        target=request.target,
        interval=None if request.interval == "usual" else request.interval,
        confidence=request.confidence,
        seed=request.seed,
        workers=(os.cpu_count() or 1) if request.workers is None else request.workers,
        console=Console(stderr=True),
    )
    output.result(simulation, request.format_)
    output.write(request.html, lambda: simulation_html(simulation))
    if simulation.interrupted:
        raise typer.Exit(_INTERRUPTED)


def _population(design: Answerable, request: SimulateOptions) -> Population:
    """The population that ``--population`` names."""
    population_text = request.population
    if request.column is not None:
        return _of_file(design, Path(population_text), request.column, request.count)
    if request.count is not None:
        raise DataError("--count is for a file of true answers; name their column with --column")
    if population_text[:1].isdigit() or population_text[:1] in (".", "-"):
        return simulate.shares(numbers(population_text, "--population"), design.cells)
    if Path(population_text).suffix and Path(population_text).is_file():
        raise DataError(
            f"--population {population_text!r} is a file; name the column of the true answers with --column"
        )
    return simulate.population(population_text, design.cells)


def _of_file(design: Answerable, path: Path, column: str, count: str | None) -> Population:
    frame = files.scan(path)
    files.check_columns(frame, [column_name for column_name in (column, count) if column_name is not None])
    with files.readable(path):
        frame = files.as_text(frame, [column])
        if count is None:
            return simulate.column(frame, column, categories=design.cells)
        frame = files.as_numbers(frame, count, what="counts")
        label_counts = frame.group_by(column).agg(pl.col(count).sum()).collect()
    people_of_label = {label: people for label, people in label_counts.iter_rows() if label is not None}
    return simulate.counts(people_of_label).of(design)


def shares_by_label(text: str, option: str) -> float | dict[str, float]:
    """One number, or numbers by category such as ``low=0.1,high=0.3``."""
    if "=" not in text:
        share_list = numbers(text, option)
        if len(share_list) != 1:
            raise DataError(f"{option} must be one share, or shares by category, such as high=0.3; got {text!r}")
        return share_list[0]
    share_of_label = {}
    for record_cell in record_cells(text):
        label, _, share_text = record_cell.rpartition("=")
        if not label:
            raise DataError(
                f"{option} must name a category in each of its shares, such as high=0.3; got {record_cell!r}"
            )
        share_of_label[label] = numbers(share_text, option)[0]
    return share_of_label


def _habits(text: str | None) -> dict[str, float]:
    """The shares of people who always give an answer, by answer."""
    shares = {} if text is None else shares_by_label(text, "--always")
    if isinstance(shares, float):
        raise DataError(f"--always needs the answer that people give, such as a=0.2; got {text!r}")
    return shares


def preferences_of(text: str | None, design: Answerable) -> Floats | Sequence[float] | None:
    """The preferences over levels that ``--preferences`` describes."""
    if text is None:
        return None
    if design.offer.assigned_by != "respondent":
        raise DataError(f"{design.name or design.kind} offers no levels; leave --preferences out")
    preference_name, _, argument = text.strip().partition(":")
    if preference_name == "tied" and not argument:
        first_category = _checks.label(design.categories[0])
        raise DataError(f"--preferences tied needs the categories whose members hide, such as tied:{first_category}")
    preference_makers: dict[str, Callable[[], Floats | None]] = {
        "uniform": lambda: None,
        "skewed": lambda: simulate.skewed(design, toward=argument or "private"),
        "tied": lambda: simulate.tied(design, hiding=record_cells(argument)),
    }
    if preference_name in preference_makers:
        return preference_makers[preference_name]()
    if not preference_name[:1].isdigit() and preference_name[:1] not in (".", "-"):
        raise DataError(f"--preferences {text!r} is not known; {_checks.nearest(preference_name, preference_makers)}")
    return numbers(text, "--preferences")
