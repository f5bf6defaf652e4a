"""``naysay demo``: a survey from the question to the report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from naysay.errors import DataError

__all__ = ["command"]


def command(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the report goes.")] = Path("naysay-demo"),
    seed: Annotated[int | None, typer.Option(min=0, help="Draw the same answers again.")] = None,
) -> None:
    """Run a survey end to end, and leave a report to look at.

    Five questions to 10,108 people: each chooses a level of privacy, answers are randomized, tallied and estimated,
    and the truth stands beside the estimate.

    \b
    Example:
      naysay demo --out naysay-demo --seed 1
    """
    from naysay import demo  # with the data and the charts

    try:
        demo.run(out, seed=seed, console=Console(file=sys.stdout))
    except OSError as error:
        raise DataError(f"cannot write to {str(out)!r}: {error.strerror or error}") from None
