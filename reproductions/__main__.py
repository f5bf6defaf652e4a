"""``python -m reproductions``: the results of the sources, computed again, and a panel with known truth."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import reproductions
from naysay import cli, files
from naysay.console import output
from naysay.errors import DataError
from reproductions.panel import generate

__all__ = ["main", "panel", "source"]

SELF = "python -m reproductions"


def source(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which; without it all are listed.")] = None,
    runs: Annotated[int | None, typer.Option(metavar="N", help="Surveys in each simulation.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draw other surveys.")] = 2016,
    workers: Annotated[
        int | None, typer.Option(help="Processes; by default one a core. They change no number.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where tables, JSON, a page and pictures go, in a folder of that name."),
    ] = None,
    format_: Annotated[
        Literal["table", "json", "markdown"], typer.Option("--format", help="Numbers in json are not rounded.")
    ] = "table",
) -> None:
    """Compute the results of the published sources again.

    Simulates what a source reports, and sets its numbers beside those that come out, with Monte Carlo errors. With
    the usual seed the same numbers come out again; Ctrl-C leaves nothing behind. The word panel in the place of NAME
    makes up a panel instead: see python -m reproductions panel --help.

    \b
    Examples:
      python -m reproductions
      python -m reproductions two_coins --runs 500
      python -m reproductions esponda2006 --runs 100 --format json
      python -m reproductions bao2013 --runs 50 --seed 7 --out reproduced
    """
    if name is None:
        _list(format_)
        return
    if out is not None:
        output.drawable()
        if out.exists() and not out.is_dir():
            raise DataError(f"the results go into a folder, and {str(out)!r} is a file; name another with --out")
    cores = (os.cpu_count() or 1) if workers is None else workers
    console = Console(stderr=True)
    shown = console if console.is_terminal else None
    found = reproductions.reproduce(name, runs=runs, seed=seed, workers=cores, console=shown)
    if format_ == "table":
        output.say(str(found))
    elif format_ == "json":
        output.say(output.json_text(found.to_dict()))
    else:
        output.say(found.to_markdown().rstrip("\n"))
    if out is not None:
        output.note(f"written to {reproductions.write(found, out)}")


def _list(format_: str) -> None:
    rows = [(name, each.told, each.runs) for name, each in reproductions.SOURCES.items()]
    if format_ == "json":
        output.say(output.json_text([dict(zip(("name", "description", "runs"), row, strict=True)) for row in rows]))
        return
    if format_ == "markdown":
        output.say("| name | what | surveys |\n|---|---|--:|")
        output.say("\n".join(f"| {name} | {told} | {runs:,} |" for name, told, runs in rows))
        return
    table = Table(show_edge=False, pad_edge=False, box=None, header_style="bold")
    for heading in ("name", "what", "surveys"):
        table.add_column(heading, justify="right" if heading == "surveys" else "left")
    for name, told, runs in rows:
        table.add_row(Text(name), Text(told), f"{runs:,}")
    output.show(table)


def panel(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where its files go.")],
    respondents: Annotated[int, typer.Option(metavar="N", help="Members who answer for themselves.")] = 10_997,
    background_only: Annotated[int, typer.Option(metavar="N", help="Members known by proxy only.")] = 6_927,
    population: Annotated[int, typer.Option(metavar="N", help="People from whom they are sampled.")] = 16_700_000,
    waves: Annotated[int, typer.Option(metavar="N", help="Months.")] = 60,
    start: Annotated[str, typer.Option(metavar="MONTH", help="The first month.")] = "2007-11",
    gaps: Annotated[float, typer.Option(metavar="P", help="The chance of a household to miss a wave.")] = 0.005,
    seed: Annotated[int, typer.Option(min=0, help="The same number gives the same panel.")] = 1,
    kind: Annotated[Literal["csv", "parquet"], typer.Option(help="The kind of its files.")] = "csv",
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
) -> None:
    """Make up a panel of which the truth is known.

    Writes the background waves, the modules, and truth: everybody as they are, with the date of birth and the months
    in which things changed. By default a panel of the size, and with the gaps, of the one in Mulder's paper.

    \b
    Examples:
      python -m reproductions panel --out panel --respondents 300 \\
          --background-only 200
      python -m reproductions panel --out small --respondents 90 \\
          --background-only 60 --waves 24 --kind parquet --seed 7
    """
    made = generate(
        respondents=respondents,
        background_only=background_only,
        population=population,
        waves=waves,
        start=start,
        gaps=gaps,
        rng=seed,
    )
    tables = {"background": made.background, **made.modules, "truth": made.truth}
    try:
        out.mkdir(exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot make the folder {str(out)!r}: {error.strerror or error}") from None
    paths = {name: out / f"{name}.{kind}" for name in tables}
    taken = [path for path in paths.values() if path.exists() and not force]
    if taken:
        raise DataError(f"{str(taken[0])!r} exists; add --force to overwrite it")
    for name, path in paths.items():
        files.write(tables[name], path)
        output.say(f"{path}: {tables[name].height:,} rows")


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of one command: 0 done, 2 the user's input, 130 interrupted."""
    words = sys.argv[1:] if argv is None else list(argv)
    app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
    if words[:1] == ["panel"]:
        app.command()(panel)
        return cli.main(words[1:], commands=app, name=f"{SELF} panel")
    app.command()(source)
    return cli.main(words, commands=app, name=SELF)


if __name__ == "__main__":
    raise SystemExit(main())
