"""``naysay demo``: a survey from the questionnaire to the report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from naysay.cli.samples import write_samples
from naysay.console import output
from naysay.errors import DataError

__all__ = ["command"]


def command(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the report and the answers go.")] = Path(
        "naysay-demo"
    ),
    seed: Annotated[
        int | None, typer.Option(min=0, help="Ask the same people again; what they send is drawn afresh.")
    ] = None,
    stay: Annotated[
        bool, typer.Option("--open", help="Leave the server running, to answer yourself; Ctrl+C stops it.")
    ] = False,
    files: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Instead: write small files of made-up people, to try other commands on."),
    ] = None,
) -> None:
    """Run a survey end to end, and leave a report to look at.

    A server is started on this computer. 2,000 people, drawn from a published survey of 10,108, answer five questions
    over HTTP: each chooses a level of privacy, devices randomize, the server stores what they send. The shares are
    estimated from its database, and the truth stands beside them.

    \b
    Examples:
      naysay demo --out naysay-demo --seed 1
      naysay demo --open
      naysay demo --files samples
    """
    try:
        if files is not None:
            for path in write_samples(files, seed=1 if seed is None else seed):
                output.say(f"{path}: written")
            return
        from naysay import demo  # with the data and the charts

        demo.run(out, seed=seed, console=Console(file=sys.stdout), stay=demo.forever if stay else None)
    except OSError as error:
        raise DataError(f"cannot write to {str(files or out)!r}: {error.strerror or error}") from None
