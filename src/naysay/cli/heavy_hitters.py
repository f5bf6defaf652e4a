"""``naysay heavy-hitters``: values that many devices have, found without a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console

from naysay import estimate, files
from naysay.console import options, output
from naysay.console.commands import takes
from naysay.errors import DataError
from naysay.show.page import Section, html


@dataclass(frozen=True)
class HeavyHittersOptions:
    """The options of ``naysay heavy-hitters``."""

    file: options.File
    response: Annotated[str, options.column("The reports: whole numbers.")]
    level: Annotated[str, options.column("The group that each device drew.")]
    design: options.DesignText
    count: options.Count = None
    keep: Annotated[int, typer.Option(help="How many beginnings are kept from group to group.")] = 32
    target: Annotated[
        options.Target, typer.Option(help="file: the records themselves, where `naysay randomize` made the reports.")
    ] = "population"
    confidence: options.Confidence = 0.95
    format_: options.Format = "table"
    separator: options.Separator = ","
    encoding: options.Encoding = None
    html: options.Html = None


@takes(HeavyHittersOptions)
def command(request: HeavyHittersOptions) -> None:
    """Find the values that many devices have, without a list of them.

    Reads a file with one row for each report, or with --count for each distinct report. The first group tells which
    beginnings of a value are common, the next one how these go on, and so forth. The last group is fresh: its reports
    have chosen nothing, so that its shares are unbiased. With the probability --confidence no value is accepted that
    nobody has, and the intervals hold for all candidates at once. The output says how many forged reports would put a
    chosen value into the list.

    json and csv hold all candidates of the last group, accepted or not. If you have a list of the values, use a design
    such as affine() over it and `naysay estimate`: all reports then tell about all values.

    \b
    Examples:
      naysay randomize words.csv --response word --out reports.csv \\
          --design "heavy_hitters(length=8, epsilon=4)"
      naysay heavy-hitters reports.csv --response word --level word_level \\
          --design "heavy_hitters(length=8, epsilon=4)"
    """
    output.check(request.html)
    design = options.design_of(request.design, None)
    if design.estimates != "heavy_hitters":
        raise DataError(f"{design.name or design.kind} lists its values; use naysay estimate")
    frame = files.scan(request.file, separator=request.separator, encoding=request.encoding)
    with files.readable(request.file):
        files.check_columns(frame, [request.response, request.level, *([request.count] if request.count else [])])
        frame = files.as_text(frame, [request.response, request.level])
        if request.count is not None:
            frame = files.as_numbers(frame, request.count, what="counts")
        tally = design.tally(frame, request.response, level=request.level, count=request.count)
    common_values = estimate.heavy_hitters(
        design,
        tally,
        keep=request.keep,
        confidence=request.confidence,
        target=request.target,
        console=Console(stderr=True),
    )
    title = "Values that many people have"
    output.write(request.html, lambda: html(title, [Section("Heavy hitters", common_values.sections())]))
    output.result(common_values, request.format_)
