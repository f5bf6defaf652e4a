"""``naysay survey``: everything that is done to the surveys of a database.

``naysay survey copy, schedule, backup, restore``: from wave to wave, on a day, and after an accident.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from naysay._checks import several
from naysay.collect.commands import ethics, export, invite, opening, share
from naysay.collect.commands.database import DATA, Data, Database, opened
from naysay.console import output
from naysay.errors import DataError


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
    from naysay.collect.admin.log import COMMAND_LINE, record
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
    from naysay.collect.admin.log import COMMAND_LINE, record
    from naysay.questionnaire import of_form

    days_of_option = {
        "opens": day_of(opens, "--opens"),
        "closes": day_of(closes, "--closes"),
        "keeps": day_of(keeps, "--keep-until"),
    }
    given_days = {name: day for name, day in days_of_option.items() if day is not None}
    changes = bool(given_days) or clear
    with opened(db, data, "change" if changes or run else "read") as store:
        if "opens" in given_days and survey in {draft.name for draft in drafts.listed(store)}:
            opening.confirm(of_form(drafts.find(store, survey).questionnaire.form()), survey, yes=yes)
        if changes:
            before = {} if clear else vars(plans.find(store, survey))
            plans.schedule(store, survey, plans.Plan(**{**before, **given_days}))
            dates_text = ", ".join(f"{name} {day}" for name, day in given_days.items()) or "no dates"
            record(store, "scheduled", who=COMMAND_LINE, about=survey, detail=dates_text)
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
        copy_counts = backups.backup(store, file)
    output.say(f"{file}: {copy_counts}")


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
    from naysay.collect.admin.log import COMMAND_LINE, record

    if not file.is_file():
        raise DataError(f"there is no file {str(file)!r}")
    with opened(db, data, "make") as store:
        had_password = Account(store).has_password
        copy_counts = backups.restore(store, file)
        takes_password = Account(store).has_password and not had_password
        record(store, "restored a backup", who=COMMAND_LINE, detail=str(copy_counts))
        hashes = {name: backups.hashes(store, name) for name in copy_counts.renewed}
        for name, change in hashes.items():
            record(store, "renewed", who=COMMAND_LINE, about=name, detail=change)
        for name in copy_counts.undated:
            record(store, "struck out a first day", who=COMMAND_LINE, about=name, detail="it has no private question")
    output.say(f"restored {copy_counts}")
    if takes_password:
        output.note("the admin pages have the password of the backup; for another one: naysay admin password")
    for name, change in hashes.items():
        output.note(f"{name}: its page was not the one of this naysay, and is now; it has a new hash: {change}")
    for name in copy_counts.undated:
        output.note(
            f"{name}: this draft has no private question, so its first day of answers was struck out; "
            f"set it again with: naysay survey schedule {name} --opens DATE"
        )


Survey = Annotated[str, typer.Argument(metavar="NAME", help="The name of the survey.")]

_OF_LISTS = ("invited", "taken")
"""What is known of surveys that invite; others are told without it."""

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Open, invite to, renew, close, list, export, share, copy, schedule, back up and delete surveys.

    \b
    Example:
      naysay survey list
    """
    if context.invoked_subcommand is None:
        output.say(context.get_help())


@app.command("open")
def open_survey(
    survey: Annotated[
        str, typer.Argument(metavar="FILE|NAME", help="A questionnaire, or the name of a draft or closed survey.")
    ],
    db: Database = None,
    data: Data = DATA,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a survey of that name that nobody has answered.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help=opening.YES)] = False,
) -> None:
    """Open a survey: from then on it does not change. A server that runs on the database serves it within a second.

    What the checker warns of is printed, and which answers are sent as they are. If no question is private, the command
    asks before it opens the survey.

    \b
    Example:
      naysay survey open survey.json
    """
    from naysay.collect.admin import drafts
    from naysay.collect.admin.log import COMMAND_LINE, record
    from naysay.questionnaire import of_form

    is_file = bool(Path(survey).suffix) and Path(survey).is_file()
    with opened(db, data, "make" if is_file else "change") as store:
        if is_file:
            from naysay.collect import Published

            published = Published.of(
                opening.confirmed(Path(survey), yes=yes, opened_before=() if replace else store.standing())
            )
            store.open(published, replace=replace)
            survey = published.name
        elif replace:
            raise DataError(f"--replace needs the new questionnaire as a file; got {survey!r}")
        elif survey in {draft.name for draft in drafts.listed(store)}:
            opening.confirm(of_form(drafts.find(store, survey).questionnaire.form()), survey, yes=yes)
            drafts.publish(store, survey)
        closed = any(
            listed_survey.name == survey and listed_survey.closed is not None for listed_survey in store.surveys()
        )
        store.reopen(survey)
        record(store, "opened", who=COMMAND_LINE, about=survey)
        output.say(f"{survey} is open, with the hash {store.published(survey).hash}")
        if closed:
            output.note("its replies have new ids; a reply that is sent a second time now counts as another one")


@app.command("close")
def close(survey: Survey, db: Database = None, data: Data = DATA) -> None:
    """Close a survey: it takes no more answers, and the ids on receipts no longer find a reply.

    \b
    Example:
      naysay survey close sample
    """
    from naysay.collect.admin.log import COMMAND_LINE, record

    with opened(db, data, "change") as store:
        store.close(survey)
        record(store, "closed", who=COMMAND_LINE, about=survey)
    output.say(f"{survey} is closed")


@app.command("renew")
def renew(survey: Survey, db: Database = None, data: Data = DATA) -> None:
    """Give a survey the respondents' page of this version of naysay, which may mend faults of the survey's own page.

    Questions, designs and replies stay. The survey gets a new hash; the page and receipts show the old hash beside it.
    Publish both. A server that runs on the database notices within a second.

    \b
    Example:
      naysay survey renew sample
    """
    from naysay.collect.admin.log import COMMAND_LINE, record

    with opened(db, data, "change") as store:
        before, after = store.published(survey).hash, store.renew(survey).hash
        record(store, "renewed", who=COMMAND_LINE, about=survey)
    if after == before:
        output.say(f"{survey} has the page of this naysay already; its hash stays {after}")
        return
    output.say(f"{survey} is renewed\nhash before: {before}\nhash now:    {after}")


@app.command("list")
def survey_list(
    db: Database = None,
    data: Data = DATA,
    form: Annotated[Literal["table", "json"], typer.Option("--format", help="How the list is printed.")] = "table",
) -> None:
    """List the surveys of a database, with how many have answered.

    \b
    Example:
      naysay survey list --format json
    """
    from naysay.collect.admin import drafts

    with opened(db, data, "read") as store:
        surveys, waiting = store.surveys(), drafts.listed(store)
    rows: list[dict[str, object]] = [
        {
            "name": listed_survey.name,
            "state": "open" if listed_survey.closed is None else "closed",
            "replies": listed_survey.replies,
            "invited": listed_survey.invited,
            "taken": listed_survey.taken,
            "opened": listed_survey.opened.isoformat(),
            "closed": listed_survey.closed.isoformat() if listed_survey.closed else None,
            "hash": listed_survey.hash,
        }
        for listed_survey in surveys
    ]
    nothing = dict.fromkeys((*_OF_LISTS, "opened", "closed", "hash"))
    rows += [{"name": draft.name, "state": "draft", "replies": 0, **nothing} for draft in waiting]
    if form == "json":
        shown_rows = [
            {key: cell for key, cell in row.items() if key not in _OF_LISTS or cell is not None} for row in rows
        ]
        output.say(output.json_text({"surveys": shown_rows}))
        return
    table = Table("survey", "state", "replies", "invited", "begun", "opened", "closed", "hash", box=None)
    for row in rows:
        counts = {key: "" if row[key] is None else f"{row[key]:,}" for key in ("replies", "invited", "taken")}
        cells = {**row, **counts, "hash": str(row["hash"] or "")[:12]}
        table.add_row(*("" if cell is None else str(cell) for cell in cells.values()))
    output.show(table)


app.command("invite")(invite.command)
app.command("export")(export.command)
app.command("share")(share.command)
app.command("recount")(share.recount)
app.command("ethics")(ethics.command)
app.command("copy")(copy)
app.command("schedule")(schedule)
app.command("backup")(backup)
app.command("restore")(restore)


@app.command("delete")
def delete(
    survey: Survey,
    db: Database = None,
    data: Data = DATA,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    receipt: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the receipt there, too, as JSON.")] = None,
) -> None:
    """Delete a survey with all replies to it, and print a receipt.

    Their place on disk is overwritten; backups and exports are not touched. The receipt stays in the database.

    \b
    Example:
      naysay survey delete sample --yes
    """
    from naysay.collect.admin.log import COMMAND_LINE, record

    if receipt is not None and receipt.exists():
        raise DataError(f"{str(receipt)!r} exists; give another name with --receipt")
    with opened(db, data, "change") as store:
        replies = {listed_survey.name: listed_survey.replies for listed_survey in store.surveys()}.get(survey, 0)
        if not yes and not opening.agreed(f"Delete {survey} with {several(replies, 'reply', 'replies')}? "):
            raise DataError(f"{survey!r} was not deleted; confirm with y, or give --yes")
        deletion_receipt = store.delete(survey)
        record(
            store,
            "deleted",
            who=COMMAND_LINE,
            about=survey,
            detail=several(deletion_receipt.replies, "reply", "replies"),
        )
    output.say(f"{survey} is deleted\n{deletion_receipt}")
    if receipt is not None:
        receipt.write_text(deletion_receipt.to_json() + "\n", encoding="utf-8")
