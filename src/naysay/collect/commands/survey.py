"""``naysay survey``: everything that is done to the surveys of a database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from naysay._checks import several
from naysay.collect.commands import ethics, export, invite, keeping, opening, share
from naysay.collect.commands.database import DATA, Data, Database, opened
from naysay.console import output
from naysay.errors import DataError

__all__ = ["app", "close", "delete", "group", "open_survey", "renew", "survey_list"]

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
    from naysay.collect.admin.drafts import COMMAND_LINE, record
    from naysay.questionnaire import of_form

    is_file = bool(Path(survey).suffix) and Path(survey).is_file()
    with opened(db, data, "make" if is_file else "change") as store:
        if is_file:
            from naysay.collect import Published

            published = Published.of(
                opening.confirmed(Path(survey), yes=yes, known=() if replace else store.standing())
            )
            store.open(published, replace=replace)
            survey = published.name
        elif replace:
            raise DataError(f"--replace needs the new questionnaire as a file; got {survey!r}")
        elif survey in {each.name for each in drafts.listed(store)}:
            opening.confirm(of_form(drafts.find(store, survey).questionnaire.form()), survey, yes=yes)
            drafts.publish(store, survey)
        closed = any(each.name == survey and each.closed is not None for each in store.surveys())
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
    from naysay.collect.admin.drafts import COMMAND_LINE, record

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
    from naysay.collect.admin.drafts import COMMAND_LINE, record

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
        found, waiting = store.surveys(), drafts.listed(store)
    rows: list[dict[str, object]] = [
        {
            "name": each.name,
            "state": "open" if each.closed is None else "closed",
            "replies": each.replies,
            "invited": each.invited,
            "taken": each.taken,
            "opened": each.opened.isoformat(),
            "closed": each.closed.isoformat() if each.closed else None,
            "hash": each.hash,
        }
        for each in found
    ]
    nothing = dict.fromkeys((*_OF_LISTS, "opened", "closed", "hash"))
    rows += [{"name": each.name, "state": "draft", "replies": 0, **nothing} for each in waiting]
    if form == "json":
        told = [{key: cell for key, cell in row.items() if key not in _OF_LISTS or cell is not None} for row in rows]
        output.say(output.json_text({"surveys": told}))
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
app.command("copy")(keeping.copy)
app.command("schedule")(keeping.schedule)
app.command("backup")(keeping.backup)
app.command("restore")(keeping.restore)


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
    from naysay.collect.admin.drafts import COMMAND_LINE, record

    if receipt is not None and receipt.exists():
        raise DataError(f"{str(receipt)!r} exists; give another name with --receipt")
    with opened(db, data, "change") as store:
        replies = {each.name: each.replies for each in store.surveys()}.get(survey, 0)
        if not yes and not opening.agreed(f"Delete {survey} with {several(replies, 'reply', 'replies')}? "):
            raise DataError(f"{survey!r} was not deleted; confirm with y, or give --yes")
        found = store.delete(survey)
        record(store, "deleted", who=COMMAND_LINE, about=survey, detail=several(found.replies, "reply", "replies"))
    output.say(f"{survey} is deleted\n{found}")
    if receipt is not None:
        receipt.write_text(found.to_json() + "\n", encoding="utf-8")
