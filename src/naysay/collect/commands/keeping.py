"""``naysay survey copy, schedule, backup, restore``: from wave to wave, on a day, and after an accident."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated

import typer

from naysay.collect.commands import opening
from naysay.collect.commands.database import DATA, Data, Database, opened
from naysay.console import output
from naysay.errors import DataError

__all__ = ["backup", "copy", "day_of", "restore", "schedule"]

Survey = Annotated[str, typer.Argument(metavar="NAME", help="The name of the survey.")]


def day_of(text: str | None, option: str) -> datetime.date | None:
    """The day that an option names; None where it is not given.

    Raises
    ------
    DataError
        It is no date.
    """
    try:
        return None if text is None else datetime.date.fromisoformat(text)
    except ValueError:
        raise DataError(f"{option} takes a date such as 2027-01-31; got {text!r}") from None


def copy(
    survey: Survey,
    new: Annotated[str, typer.Argument(metavar="NEW", help="The name of the copy, in links.")],
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the copy to a file, .xlsx or .json, so that you can change it."),
    ] = None,
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Copy what a survey asks for a next wave, under another name and without its replies.

    The copy is a draft: naysay survey open NEW opens it. With --to it is a file instead.

    \b
    Examples:
      naysay survey copy sample sample-2
      naysay survey copy sample sample-2 --to wave-2.xlsx
    """
    from naysay.collect.admin import drafts, plans
    from naysay.collect.admin.drafts import COMMAND_LINE, record
    from naysay.collect.commands.questionnaire import check_target, write

    if to is not None:
        check_target(to, force=False)
    with opened(db, data, "read" if to else "change") as store:
        form = drafts.copied(store, survey, new)
        if to is not None:
            write(form, to)
            output.say(f"{to}: written; change it, then: naysay survey open {to}")
            return
        first_day = plans.find(store, new).opens
        drafts.keep(store, form)
        record(store, "copied", who=COMMAND_LINE, about=survey, detail=f"to {new}")
        if plans.find(store, new).opens != first_day:
            output.note(f"{new} was a draft that asked something else; its first day of answers was struck out")
    output.say(f"{new} is a draft now; open it with: naysay survey open {new}")


def schedule(
    survey: Survey,
    opens: Annotated[str | None, typer.Option(metavar="DATE", help="The first day of answers.")] = None,
    closes: Annotated[str | None, typer.Option(metavar="DATE", help="The last day of answers.")] = None,
    keeps: Annotated[
        str | None, typer.Option("--keep-until", metavar="DATE", help="The last day on which answers are kept.")
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Strike out all dates.")] = False,
    run: Annotated[bool, typer.Option("--run", help="Do what is due now, without a server.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help=opening.YES)] = False,
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Open, close and delete a survey on a day (UTC); without options, show its dates.

    A server that runs on the database does what is due, within a minute. It opens the survey when its first day
    begins, closes it when its last day is over, and deletes it with all replies when the last day on which they are
    kept is over. Each date that you give replaces the earlier one. A draft without private questions gets a first day
    only after a yes.

    \b
    Examples:
      naysay survey schedule sample --closes 2036-03-31 --keep-until 2037-03-31
      naysay survey schedule sample
    """
    from naysay.collect.admin import drafts, plans
    from naysay.collect.admin.drafts import COMMAND_LINE, record
    from naysay.questionnaire import of_form

    given = {
        "opens": day_of(opens, "--opens"),
        "closes": day_of(closes, "--closes"),
        "keeps": day_of(keeps, "--keep-until"),
    }
    named = {name: day for name, day in given.items() if day is not None}
    changes = bool(named) or clear
    with opened(db, data, "change" if changes or run else "read") as store:
        if "opens" in named and survey in {each.name for each in drafts.listed(store)}:
            opening.confirm(of_form(drafts.find(store, survey).questionnaire.form()), survey, yes=yes)
        if changes:
            before = {} if clear else vars(plans.find(store, survey))
            plans.schedule(store, survey, plans.Plan(**{**before, **named}))
            told = ", ".join(f"{name} {day}" for name, day in named.items()) or "no dates"
            record(store, "scheduled", who=COMMAND_LINE, about=survey, detail=told)
        for done in plans.carry_out(store) if run else ():
            output.say(done)
        plans.check(store, survey)
        plan = plans.find(store, survey)
    words = {"opens": "opens when {} begins", "closes": "closes when {} is over", "keeps": "is deleted when {} is over"}
    lines = [words[name].format(day) for name, day in vars(plan).items() if day]
    output.say(f"{survey} {'; '.join(lines)} (UTC)" if lines else f"{survey} has no dates")


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where it goes: a file that is not there yet.")],
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Write everything in the database to one file, as it is at one moment, also while a server runs.

    The file holds all replies, so keep it as safe as the database. Deleting a survey does not reach into it. Sessions
    and tokens of the admin pages are left out.

    \b
    Example:
      naysay survey backup monday.db
    """
    from naysay.collect.admin import backup as backups

    with opened(db, data, "read") as store:
        found = backups.backup(store, file)
    output.say(f"{file}: {found}")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup, of this naysay or an earlier one.")],
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Copy a backup into a database without surveys, whichever kind of database it came from.

    A survey whose page is not the one that this naysay ships gets the page of this naysay, and a new hash. A
    draft without a private question loses its first day, on which it would open by itself.

    \b
    Example:
      naysay survey restore monday.db --data study
    """
    from naysay.collect.admin import backup as backups
    from naysay.collect.admin.account import Account
    from naysay.collect.admin.drafts import COMMAND_LINE, record

    if not file.is_file():
        raise DataError(f"there is no file {str(file)!r}")
    with opened(db, data, "make") as store:
        had_password = Account(store).has_password
        found = backups.restore(store, file)
        takes_password = Account(store).has_password and not had_password
        record(store, "restored a backup", who=COMMAND_LINE, detail=str(found))
        hashes = {name: backups.hashes(store, name) for name in found.renewed}
        for name, change in hashes.items():
            record(store, "renewed", who=COMMAND_LINE, about=name, detail=change)
        for name in found.undated:
            record(store, "struck out a first day", who=COMMAND_LINE, about=name, detail="it has no private question")
    output.say(f"restored {found}")
    if takes_password:
        output.note("the admin pages have the password of the backup; for another one: naysay admin password")
    for name, change in hashes.items():
        output.note(f"{name}: its page was not the one of this naysay, and is now; it has a new hash: {change}")
    for name in found.undated:
        output.note(
            f"{name}: this draft has no private question, so its first day of answers was struck out; "
            f"set it again with: naysay survey schedule {name} --opens DATE"
        )
