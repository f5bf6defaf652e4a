"""``naysay ledger``: what a schedule of waves costs each respondent."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from naysay.console import options, output
from naysay.console.commands import takes
from naysay.errors import DataError
from naysay.privacy.repeated import Schedule, of_tables
from naysay.show.text import csv_text


@dataclass(frozen=True)
class LedgerOptions:
    """The options of ``naysay ledger``."""

    schedule: Annotated[Path, typer.Argument(metavar="SCHEDULE", help="A TOML or JSON file, by suffix.")]
    format_: options.Format = "table"


@takes(LedgerOptions)
def command(request: LedgerOptions) -> None:
    """Say what a public schedule of questions and waves costs each respondent.

    Three lines: ε of all answers if an answer never changed, what each change adds, and the most that it can be; then
    the same up to each wave. A question of the schedule has a name, a design and, where the design needs them,
    categories; waves (how many, or a list of their numbers); a rule of asking again (fresh, kept or memory); and a lot,
    if it is one of several of which a lot picks one. "cap" is the most that respondents were promised.

    \b
    Examples:
      naysay ledger schedule.toml
    with a file such as
      cap = 8
      [[questions]]
      name = "crash"
      design = "remembered(epsilon=1, lifetime=2)"
      categories = ["none", "start", "save", "print"]
      waves = 52
    """
    schedule = _read_schedule(request.schedule)
    if request.format_ == "csv":
        rows = [(wave, *schedule.until(wave)) for wave in range(1, schedule.last + 1)]
        output.say(csv_text([("wave", "unchanged", "at_most"), *rows]))
    else:
        output.result(schedule, request.format_)


def _read_schedule(path: Path) -> Schedule:
    try:
        text = path.read_text(encoding="utf-8-sig")
        content: Any = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"cannot read the schedule {str(path)!r}: {error}") from None
    if not isinstance(content, dict):
        raise DataError(f"the schedule {str(path)!r} must be an object with a list of questions")
    return of_tables(content, _design)


def _design(text: Any, categories: Any) -> Any:
    if not isinstance(text, str) or not isinstance(categories, list | None):
        raise DataError(f"a design is a text such as 'warner(p=0.7)', with a list of categories; got {text!r}")
    return options.design_of(text, None if categories is None else options.record_text(categories).strip())
