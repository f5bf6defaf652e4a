"""``naysay survey export``: a survey's replies as files for other programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from naysay._checks import several
from naysay.collect.commands.database import DATA, Data, Database, opened
from naysay.console import output
from naysay.console.commands import takes
from naysay.console.options import Force, Separator
from naysay.errors import DataError


@dataclass(frozen=True)
class ExportOptions:
    """Which survey is exported to where."""

    survey: Annotated[str, typer.Argument(metavar="NAME", help="The name of the survey.")]
    to: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The data: .sav, .zsav, .dta, .csv, .parquet, .jsonl or .xlsx, by suffix."),
    ]
    language: Annotated[
        str | None, typer.Option(metavar="TAG", help="Of the labels, such as de. [default: the questionnaire's first]")
    ] = None
    db: Database = None
    data: Data = DATA
    force: Force = False
    separator: Separator = ","


@takes(ExportOptions)
def command(options: ExportOptions) -> None:
    """Write the replies to a survey as data for SPSS, Stata, R, Excel or Python.

    Beside the data go its codebook, for people (Markdown) and for archives (DDI-Codebook 2.5), and the design of every
    private column (JSON). As long as they lie together, naysay estimate and naysay risk need no design from you.
    Rows come in a random order, another each time.

    \b
    Examples:
      naysay survey export sample --to data.sav
      naysay survey export sample --to data.csv --language de --force
    """
    from naysay.collect import export

    for place in export.places(options.to):
        if place.exists() and not options.force:
            raise DataError(f"{str(place)!r} exists; add --force to overwrite it, or give another name with --to")
    if not options.to.parent.is_dir():
        raise DataError(f"there is no folder {str(options.to.parent)!r} to write to")
    with opened(options.db, options.data, "read") as store:
        export_result = export.export(
            store, options.survey, options.to, language=options.language, separator=options.separator
        )
    data, *beside = export_result.files
    output.say(
        f"{data}: {several(export_result.replies, 'reply', 'replies')} in {export_result.columns} columns, "
        "in random order"
    )
    for place in beside:
        output.say(f"{place}: written")
    output.say(f"hash: {export_result.hash}")
    output.note("direct answers are as people gave them; before you share the file, see naysay risk --help")
