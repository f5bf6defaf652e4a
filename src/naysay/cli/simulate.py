"""``naysay simulate``: try a survey many times before it is fielded."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.console import Console

from naysay import files, simulate
from naysay.console import options, output
from naysay.console.commands import takes
from naysay.console.methods import TriedInterval, estimators
from naysay.console.people import Preferences, numbers, preferences_of, record_cells, shares_by_label
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.simulate import Behavior, Population, page

_INTERRUPTED = 130


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
    people: Annotated[int, typer.Option("--n", help="How many people are asked each time.")] = 1_000
    replicates: Annotated[int, typer.Option(help="How many times the survey is tried.")] = 1_000
    estimator: Annotated[list[str] | None, typer.Option(metavar="METHOD", help=f"Repeatable: {estimators()}")] = None
    preferences: Preferences = None
    liars: Annotated[float, options.share("Share of people who answer as if in another category.")] = 0.0
    among: Annotated[str | None, typer.Option(metavar="RECORD", help="The categories of the liars.")] = None
    says: Annotated[str | None, typer.Option(metavar="CATEGORY", help="What all liars claim to be.")] = None
    at_random: Annotated[float, options.share("Share of people who give a random response, each equally often.")] = 0.0
    nonresponse: Annotated[
        str,
        typer.Option(
            metavar="SHARES",
            help="Share of people who do not answer, or shares by category such as 'high=0.3,low=0.1'.",
        ),
    ] = "0"
    target: Annotated[options.Target, typer.Option(help="file: the same people each time, randomized anew.")] = (
        "population"
    )
    interval: Annotated[
        TriedInterval, typer.Option(help="usual: the one that `naysay estimate` uses, which may be slow.")
    ] = "wald"
    confidence: options.Confidence = 0.95
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed repeats a simulation.")] = None
    workers: Annotated[int | None, typer.Option(help="Number of processes; by default one for each core.")] = None
    format_: options.Format = "table"
    html: options.Html = None


@takes(SimulateOptions)
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
        n=request.people,
        replicates=request.replicates,
        estimators=request.estimator or None,
        preferences=preferences_of(request.preferences, design),
        behavior=Behavior(
            liars=request.liars,
            among=None if request.among is None else record_cells(request.among),
            says=request.says,
            at_random=request.at_random,
            nonresponse=shares_by_label(request.nonresponse, "--nonresponse"),
        ),
        target=request.target,
        interval=None if request.interval == "usual" else request.interval,
        confidence=request.confidence,
        seed=request.seed,
        workers=(os.cpu_count() or 1) if request.workers is None else request.workers,
        console=Console(stderr=True),
    )
    output.result(simulation, request.format_)
    output.write(request.html, lambda: page.simulation_html(simulation))
    if simulation.interrupted:
        raise typer.Exit(_INTERRUPTED)


def _population(design: Answerable, request: SimulateOptions) -> Population:
    """The population that ``--population`` names."""
    text = request.population
    if request.column is not None:
        return _of_file(design, Path(text), request.column, request.count)
    if request.count is not None:
        raise DataError("--count is for a file of true answers; name their column with --column")
    if text[:1].isdigit() or text[:1] in (".", "-"):
        return simulate.shares(numbers(text, "--population"), design.cells)
    if Path(text).suffix and Path(text).is_file():
        raise DataError(f"--population {text!r} is a file; name the column of the true answers with --column")
    return simulate.population(text, design.cells)


def _of_file(design: Answerable, path: Path, column: str, count: str | None) -> Population:
    frame = files.scan(path)
    files.check_columns(frame, [name for name in (column, count) if name is not None])
    with files.readable(path):
        frame = files.as_text(frame, [column])
        if count is None:
            return simulate.column(frame, column, categories=design.cells)
        frame = files.as_numbers(frame, count, what="counts")
        summed = frame.group_by(column).agg(pl.col(count).sum()).collect()
    people_of_label = {label: people for label, people in summed.iter_rows() if label is not None}
    return simulate.counts(people_of_label).of(design)
