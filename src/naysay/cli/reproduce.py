"""``naysay reproduce``: the results of the sources, computed again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from naysay.console import output, pages
from naysay.errors import DataError

if TYPE_CHECKING:
    from naysay.reproduce import Reproduction, Source

__all__ = ["command"]


def command(
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
    the usual seed the same numbers come out again; Ctrl-C leaves nothing behind.

    \b
    Examples:
      naysay reproduce
      naysay reproduce two_coins --runs 500
      naysay reproduce esponda2006 --runs 100 --format json
      naysay reproduce bao2013 --runs 50 --seed 7 --out reproductions
    """
    from naysay import reproduce  # with the data and the charts

    if name is None:
        _list(reproduce.SOURCES, format_)
        return
    if out is not None:
        pages.drawable()
        if out.exists() and not out.is_dir():
            raise DataError(f"the results go into a folder, and {str(out)!r} is a file; name another with --out")
    cores = (os.cpu_count() or 1) if workers is None else workers
    console = Console(stderr=True)
    shown = console if console.is_terminal else None
    found = reproduce.reproduce(name, runs=runs, seed=seed, workers=cores, console=shown)
    _SHOW[format_](found)
    if out is not None:
        output.note(f"written to {reproduce.write(found, out)}")


def _table(found: Reproduction) -> None:
    output.say(str(found))


def _json(found: Reproduction) -> None:
    output.say(output.json_text(found.to_dict()))


def _markdown(found: Reproduction) -> None:
    output.say(found.to_markdown().rstrip("\n"))


_SHOW = {"table": _table, "json": _json, "markdown": _markdown}


def _list(sources: Mapping[str, Source], format_: str) -> None:
    rows = [(name, source.told, source.runs) for name, source in sources.items()]
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
