"""``naysay risk``: who stands out in a file of respondents, on which keys, and how sure an intruder could be."""

from __future__ import annotations

import typer

from naysay.console import pages
from naysay.console.commands import takes
from naysay.microdata.commands.risk_options import Options

__all__ = ["command"]

_INTERRUPTED = 130


@takes(Options)
def command(options: Options) -> None:
    """Tell how identifiable the respondents of a file are.

    For each quasi-identifier: how many respondents are alone with their key variables (k = 1) after those with a
    missing key are deleted; how many match only themselves (m = 1) when what is missing matches everything; how often
    an intruder who knows these keys of a person in the file picks the right record; and, with --population, θ, the
    probability that a match with a person who is alone is right. Reads a file with one row for each respondent. Values
    of respondents are not printed. What the numbers mean: the page on risk in the documentation.

    \b
    Examples:
      naysay risk panel.csv --keys age,gender
      naysay risk panel.csv --keys age,gender --keys age,gender,job \\
          --population 16700000
      naysay risk panel.csv --keys age,gender,job --population 16700000 \\
          --missing wildcard --missing age=drop,job=category --na "refused,-9"
      naysay risk panel.csv --keys age,month --joined month \\
          --population 16700000 --weight weight --sensitive illness --format json
      naysay risk panel.csv --keys age,income --population 16700000 \\
          --design "income=negative()" --categories "income=low,middle,high"
      naysay risk panel.csv --keys age,gender,job --population 16700000 \\
          --stand-out 2 --attempt acquaintance=0.05 --per-row risk.parquet
      naysay risk panel.csv --keys age,gender,job,income \\
          --population 16700000 --search 3 --resume found.jsonl --html risk.html
    """
    from naysay.microdata.commands.request import Request

    request = Request(options)
    pages.check(options.html)
    answers = request.answers()
    if options.per_row is not None:
        answers.write(options.per_row, options.separator)
    {"table": answers.table, "json": answers.json, "csv": answers.csv}[options.format_]()
    pages.write(options.html, answers.page)
    if answers.search is not None and answers.search.stopped == "interrupted":
        raise typer.Exit(_INTERRUPTED)
