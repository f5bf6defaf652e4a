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


def command(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder for the report and the answers.")] = Path(
        "naysay-demo"
    ),
    seed: Annotated[
        int | None, typer.Option(min=0, help="Ask the same people again; what they send is still drawn afresh.")
    ] = None,
    stay: Annotated[
        bool, typer.Option("--open", help="Leave the server running, to answer yourself; Ctrl+C stops it.")
    ] = False,
    files: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Only write small files of made-up people, to try other commands on."),
    ] = None,
) -> None:
    """Run a survey end to end, and leave a report to look at.

    A server starts on this computer. 2,000 people, drawn from a published survey of 10,108, answer five questions over
    HTTP. Each person chooses a level of privacy, their device randomizes the answer, and the server stores what it
    sends. The report shows the shares estimated from the database, beside the truth.

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
        from naysay import demo  # imports the data and the charts, which the help does not need

        demo.run(out, seed=seed, console=Console(file=sys.stdout), stay=demo.forever if stay else None)
    except OSError as error:
        raise DataError(f"cannot write to {str(files or out)!r}: {error.strerror or error}") from None
