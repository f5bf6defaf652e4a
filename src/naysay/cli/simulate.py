"""``naysay simulate``: a survey tried many times before it is fielded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
import typer
from rich.console import Console

from naysay import files, simulate
from naysay.console import output, pages
from naysay.console.options import Categories, DesignText, design_of
from naysay.console.people import PREFERENCES, labeled, listed, numbers, preferences_of
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.report import study_page
from naysay.simulate import Behavior, Population, Simulation

__all__ = ["command"]

_INTERRUPTED = 130


def command(
    design: DesignText,
    categories: Categories = None,
    population: Annotated[
        str,
        typer.Option(
            metavar="WHO",
            help="equal, uniform, normal, exponential or log_normal, with arguments as 'normal(mean=3, sd=0.67)'; one "
            "share for each category, as 0.2,0.8; or a file of true answers, with --column.",
        ),
    ] = "equal",
    column: Annotated[str | None, typer.Option(metavar="COLUMN", help="The true answers, where WHO is a file.")] = None,
    count: Annotated[str | None, typer.Option(metavar="COLUMN", help="How many people each row stands for.")] = None,
    people: Annotated[int, typer.Option("--n", help="People who are asked, each time.")] = 1_000,
    replicates: Annotated[int, typer.Option(help="How many times.")] = 1_000,
    estimator: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METHOD",
            help="Once for each: maximum_likelihood, moments; for negative surveys with one answer nstops, nstops_i, "
            "nstops_ii; for levels stratified, stratified_equal, stratified_variance, pooled.",
        ),
    ] = None,
    preferences: Annotated[str | None, typer.Option(metavar="TEXT", help=f"Of levels: {PREFERENCES}")] = None,
    liars: Annotated[float, typer.Option(metavar="SHARE", help="Who answer as if in another category.")] = 0.0,
    among: Annotated[str | None, typer.Option(metavar="RECORD", help="The categories of the liars.")] = None,
    says: Annotated[str | None, typer.Option(metavar="CATEGORY", help="What all liars claim to be.")] = None,
    at_random: Annotated[float, typer.Option(metavar="SHARE", help="Who give any response, each as often.")] = 0.0,
    nonresponse: Annotated[
        str, typer.Option(metavar="SHARES", help="Who do not answer: a share, or by category as 'high=0.3,low=0.1'.")
    ] = "0",
    target: Annotated[
        Literal["population", "file"], typer.Option(help="file: the same people each time, randomized anew.")
    ] = "population",
    interval: Annotated[
        Literal["score", "agresti_coull", "wald", "profile", "bootstrap", "usual"],
        typer.Option(help="usual: the one that `naysay estimate` takes, which may be slow."),
    ] = "wald",
    confidence: Annotated[float, typer.Option(help="Of each interval.")] = 0.95,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeat a simulation.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; by default one a core.")] = None,
    format_: Annotated[
        Literal["table", "json", "csv"], typer.Option("--format", help="Numbers in json and csv are not rounded.")
    ] = "table",
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write plots and numbers as a page.")] = None,
) -> None:
    """Try a survey many times, before it is fielded.

    Draws people, lets them answer as they would, estimates, and says how far the estimates lie from the truth, and
    whether standard errors and intervals keep what they promise, each number with its Monte Carlo error. Ctrl-C ends
    it early and shows what is done.

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
    pages.check(html)
    asked = design_of(design, categories)
    found = simulate.replicate(
        asked,
        _population(asked, population, column, count),
        n=people,
        replicates=replicates,
        estimators=estimator or None,
        preferences=preferences_of(preferences, asked),
        behavior=Behavior(
            liars=liars,
            among=None if among is None else listed(among),
            says=says,
            at_random=at_random,
            nonresponse=labeled(nonresponse, "--nonresponse"),
        ),
        target=target,
        interval=None if interval == "usual" else interval,
        confidence=confidence,
        seed=seed,
        workers=(os.cpu_count() or 1) if workers is None else workers,
        console=Console(stderr=True),
    )
    {"table": _table, "json": _json, "csv": _csv}[format_](found)
    pages.write(html, lambda: study_page.simulation_html(found))
    if found.interrupted:
        raise typer.Exit(_INTERRUPTED)


def _population(design: Answerable, text: str, column: str | None, count: str | None) -> Population:
    """The population that ``--population`` describes."""
    if column is not None:
        return _of_file(design, Path(text), column, count)
    if count is not None:
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
    known = {label: people for label, people in summed.iter_rows() if label is not None}
    return simulate.counts(known).of(design)


def _table(found: Simulation) -> None:
    output.say(str(found))


def _json(found: Simulation) -> None:
    output.say(output.json_text(found.to_dict()))


def _csv(found: Simulation) -> None:
    output.say(found.to_csv())
