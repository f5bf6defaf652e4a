"""``naysay risk``, with `risk search` and `risk report`, and ``naysay protect``: a file made safer by a plan.

What they do is in `request` and `protecting`, which are loaded when a command runs.
"""

from __future__ import annotations

import typer

from naysay.console import output
from naysay.console.output import takes
from naysay.microdata.commands.options import (
    OF_REPORT,
    OF_SEARCH,
    ProtectOptions,
    ReportOptions,
    RiskOptions,
    SearchOptions,
)

_INTERRUPTED = 130


_FOUND_BY_SEARCH = ("search", *OF_SEARCH)
_WRITTEN_BY_REPORT = ("html", *OF_REPORT)


@takes(RiskOptions, hidden=(*_FOUND_BY_SEARCH, *_WRITTEN_BY_REPORT))
def command(options: RiskOptions) -> None:
    """Show how identifiable the respondents of a file are.

    The file has one row for each respondent. A quasi-identifier is a set of key variables that an intruder may know.
    For each of them the command counts the respondents who are alone with their keys (k = 1) after those with a missing
    key are deleted. It counts those who match only themselves (m = 1) when a missing key matches everything. It says
    how often an intruder who knows these keys of a person in the file picks the right record. With --population it also
    gives the probability that a match with a person who is alone is right (θ). It prints no respondent's values. The
    page on risk in the documentation explains the numbers.

    `naysay risk search` tries the combinations of keys, and `naysay risk report` writes a page for a review board.

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
    """
    _answer(options)
    for option, command_name in (("search", "risk search"), ("html", "risk report")):
        if getattr(options, option) is not None:
            output.note(f"--{option} has a command of its own now: naysay {command_name}; it is the same here")


@takes(SearchOptions, hidden=_WRITTEN_BY_REPORT)
def search(options: SearchOptions) -> None:
    """Rank every combination of keys by who stands out.

    Beside what `naysay risk` says of the keys as they are named, it counts every combination of up to Q of them, and
    says which keys, and which of their values, add most. A search that is stopped by --most, --minutes or Ctrl-C goes
    on later from the file of --resume.

    \b
    Examples:
      naysay risk search panel.csv --keys age,gender,job,income --up-to 3
      naysay risk search panel.csv --keys age,gender,job,income --up-to 4 \\
          --minutes 10 --resume found.jsonl
    """
    _answer(options)


@takes(ReportOptions)
def report(options: ReportOptions) -> None:
    """Write a page on the risk for a review board.

    It holds what `naysay risk` prints, the readings that a board asks for (the least k, c and m), and what the numbers
    mean, on one page that loads nothing. It takes all options of `naysay risk`; with --search it also holds the ranked
    combinations of `naysay risk search`.

    \b
    Examples:
      naysay risk report panel.csv --keys age,gender,job \\
          --population 16700000 --html risk.html
      naysay risk report panel.csv --keys age,gender,job,income \\
          --population 16700000 --search 3 --html risk.html --by "Data desk"
    """
    _answer(options)


def _answer(options: RiskOptions) -> None:
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


@takes(ProtectOptions)
def protect(options: ProtectOptions) -> None:
    """Protect a file before release, and show what that costs.

    The command proposes a plan that reaches the target with few losses, says what it changes, and writes the release
    in the format that its name says, with labels and all. Beside it stands a log that repeats it: keep the log as
    secret as the original. Risk before and after is that of the file as written. Without --out nothing is written.

    \b
    Examples:
      naysay protect survey.sav --keys age,gender,occupation
      naysay protect survey.sav --keys age,gender,occupation --target "k >= 3" \\
          --importance occupation=high --out safe.sav
      naysay protect survey.sav --keys age,gender,occupation --bins age=5 \\
          --save proposed.toml
      naysay protect survey.sav --plan plan.toml --out safe.sav
      naysay protect survey.sav --keys age,gender,occupation \\
          --write-hierarchies levels.xlsx
      naysay protect survey.sav --keys age,gender,occupation \\
          --hierarchies levels.xlsx --out safe.sav --html board.html
    """
    from naysay.microdata.commands.protecting import Protecting
    from naysay.microdata.protect.releases import protect_html

    output.check(options.html)
    work = Protecting(options)
    if options.write_hierarchies is not None:
        key_hierarchies = work.levels(options.write_hierarchies)
        hierarchy_sizes = {
            key_name: {"values": len(hierarchy.levels), "levels": hierarchy.height}
            for key_name, hierarchy in key_hierarchies.items()
        }
        if options.format_ == "json":
            output.say(output.json_text({"hierarchies": hierarchy_sizes}))
        else:
            output.say(
                "\n".join(
                    f"{key_name}: {size_of['values']:,} values, {size_of['levels']} levels"
                    for key_name, size_of in hierarchy_sizes.items()
                )
            )
    else:
        release = work.run_plan()
        output.write(options.html, lambda: protect_html(release))
        output.result(release, options.format_)
    for note in work.notes:
        output.note(note)
