"""``naysay risk``: who stands out in a file of respondents, on which keys, and how sure an intruder could be."""

from __future__ import annotations

import typer

from naysay.console import output
from naysay.console.commands import takes
from naysay.microdata.commands.options import RiskOptions

_INTERRUPTED = 130


@takes(RiskOptions)
def command(options: RiskOptions) -> None:
    """Show how identifiable the respondents of a file are.

    The file has one row for each respondent. A quasi-identifier is a set of key variables that an intruder may know.
    For each of them the command counts the respondents who are alone with their keys (k = 1) after those with a missing
    key are deleted. It counts those who match only themselves (m = 1) when a missing key matches everything. It says
    how often an intruder who knows these keys of a person in the file picks the right record. With --population it also
    gives the probability that a match with a person who is alone is right (θ). It prints no respondent's values. The
    page on risk in the documentation explains the numbers.

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
    output.check(options.html)
    answers = request.answers()
    if options.per_row is not None:
        answers.write(options.per_row, options.separator)
    {"table": answers.table, "json": answers.json, "csv": answers.csv}[options.format_]()
    output.write(options.html, answers.page)
    if answers.search is not None and answers.search.stopped == "interrupted":
        raise typer.Exit(_INTERRUPTED)
