"""``naysay survey``: everything that is done to the surveys of a database.

Its commands stand in the order in which the help lists them; `invite` is in a file of its own.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

from naysay._checks import several
from naysay.collect.commands import database, invite
from naysay.collect.commands.database import DATA, Data, Database, log_act, opened
from naysay.console import output
from naysay.console.options import Force, Separator
from naysay.console.output import takes
from naysay.errors import DataError

if TYPE_CHECKING:
    from naysay.collect import Published


Survey = Annotated[str, typer.Argument(metavar="NAME", help="The name of the survey.")]


_OF_LISTS = ("invited", "taken")
"""What is known of surveys that invite; others are told without it."""


_MOST_DIFFERENCES = 5  # differences that are told one by one


_PAGE, _MARKDOWN = (".html", ".htm"), (".md", ".markdown")


app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Open, invite to, close, export, share and delete surveys. Also copy, schedule, renew and back them up.

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
    yes: Annotated[bool, typer.Option("--yes", help=database.YES)] = False,
) -> None:
    """Open a survey: from then on it does not change. A server that runs on the database serves it within a second.

    What the checker warns of is printed, and which answers are sent as they are. If no question is private, the command
    asks before it opens the survey.

    \b
    Example:
      naysay survey open survey.json
    """
    from naysay.collect.admin import drafts
    from naysay.collect.questionnaire import of_form

    is_file = bool(Path(survey).suffix) and Path(survey).is_file()
    with opened(db, data, "make" if is_file else "change") as store:
        if is_file:
            from naysay.collect import Published

            published = Published.of(
                database.confirmed(Path(survey), yes=yes, opened_before=() if replace else store.standing())
            )
            store.open(published, replace=replace)
            survey = published.name
        elif replace:
            raise DataError(f"--replace needs the new questionnaire as a file; got {survey!r}")
        elif survey in {draft.name for draft in drafts.listed(store)}:
            database.confirm(of_form(drafts.find(store, survey).questionnaire.form()), survey, yes=yes)
            drafts.publish(store, survey)
        was_closed = any(
            listed_survey.name == survey and listed_survey.closed is not None for listed_survey in store.surveys()
        )
        store.reopen(survey)
        log_act(store, "opened", about=survey)
        output.say(f"{survey} is open, with the hash {store.published(survey).hash}")
        if was_closed:
            output.note("its replies have new ids; a reply that is sent a second time now counts as another one")


@app.command("close")
def close(survey: Survey, db: Database = None, data: Data = DATA) -> None:
    """Close a survey: it takes no more answers. The ids on receipts no longer find a reply.

    \b
    Example:
      naysay survey close sample
    """
    with opened(db, data, "change") as store:
        store.close(survey)
        log_act(store, "closed", about=survey)
    output.say(f"{survey} is closed")


@app.command("renew")
def renew(survey: Survey, db: Database = None, data: Data = DATA) -> None:
    """Give a survey the respondents' page of this naysay. It may mend faults of the survey's own page.

    Questions, designs and replies stay. The survey gets a new hash; the page and receipts show the old hash beside it.
    Publish both. A server that runs on the database notices within a second.

    \b
    Example:
      naysay survey renew sample
    """
    with opened(db, data, "change") as store:
        hash_before, hash_after = store.published(survey).hash, store.renew(survey).hash
        log_act(store, "renewed", about=survey)
    if hash_after == hash_before:
        output.say(f"{survey} has the page of this naysay already; its hash stays {hash_after}")
        return
    output.say(f"{survey} is renewed\nhash before: {hash_before}\nhash now:    {hash_after}")


@app.command("list")
def survey_list(
    db: Database = None,
    data: Data = DATA,
    form: Annotated[Literal["table", "json"], typer.Option("--format", help="How the list is printed.")] = "table",
) -> None:
    """List the surveys of a database, and how many answered.

    \b
    Example:
      naysay survey list --format json
    """
    from naysay.collect.admin import drafts

    with opened(db, data, "read") as store:
        surveys, waiting_drafts = store.surveys(), drafts.listed(store)
    survey_rows: list[dict[str, object]] = [
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
    empty_cells = dict.fromkeys((*_OF_LISTS, "opened", "closed", "hash"))
    survey_rows += [{"name": draft.name, "state": "draft", "replies": 0, **empty_cells} for draft in waiting_drafts]
    if form == "json":
        shown_rows = [
            {
                column_name: cell
                for column_name, cell in survey_row.items()
                if column_name not in _OF_LISTS or cell is not None
            }
            for survey_row in survey_rows
        ]
        output.say(output.json_text({"surveys": shown_rows}))
        return
    table = Table("survey", "state", "replies", "invited", "begun", "opened", "closed", "hash", box=None)
    for survey_row in survey_rows:
        count_texts = {
            column_name: "" if survey_row[column_name] is None else f"{survey_row[column_name]:,}"
            for column_name in ("replies", "invited", "taken")
        }
        row_cells = {**survey_row, **count_texts, "hash": str(survey_row["hash"] or "")[:12]}
        table.add_row(*("" if cell is None else str(cell) for cell in row_cells.values()))
    output.show(table)


app.command("invite")(invite.command)


@dataclass(frozen=True)
class ExportOptions:
    """Which survey is exported to where."""

    survey: Survey
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


@app.command("export")
@takes(ExportOptions)
def export(options: ExportOptions) -> None:
    """Write the replies to a survey as data. SPSS, Stata, R, Excel and Python read it.

    Beside the data go its codebook, for people (Markdown) and for archives (DDI-Codebook 2.5), and the design of every
    private column (JSON). As long as they lie together, naysay estimate and naysay risk need no design from you.
    Rows come in a random order, another each time.

    \b
    Examples:
      naysay survey export sample --to data.sav
      naysay survey export sample --to data.csv --language de --force
    """
    from naysay.collect.export import export as export_files
    from naysay.collect.export import places

    for file_place in places(options.to):
        output.check_free(file_place, force=options.force)
    with opened(options.db, options.data, "read") as store:
        export_result = export_files(
            store, options.survey, options.to, language=options.language, separator=options.separator
        )
    data_file, *other_files = export_result.files
    output.say(
        f"{data_file}: {several(export_result.replies, 'reply', 'replies')} in {export_result.columns} columns, "
        "in random order"
    )
    for file_place in other_files:
        output.say(f"{file_place}: written")
    if export_result.withheld:
        output.note(
            f"without the answers to controls of {', '.join(export_result.withheld)}: while the survey is open, or few "
            "people answered alike, they could tell of one person whether they followed the instruction; "
            f"naysay estimate --survey {options.survey} counts them"
        )
    output.say(f"hash: {export_result.hash}")
    output.note("direct answers are as people gave them; before you share the file, see naysay risk --help")


@dataclass(frozen=True)
class ShareOptions:
    """Whose results are shared, and in which steps."""

    survey: Survey
    by: Annotated[str | None, typer.Option(metavar="QUESTION", help="A direct question whose answers make groups.")] = (
        None
    )
    least: Annotated[
        int | None,
        typer.Option(metavar="N", help="The fewest answers that are shown, and that a table moves by. [default: 20]"),
    ] = None
    revoke: Annotated[bool, typer.Option("--revoke", help="End the link.")] = False
    db: Database = None
    data: Data = DATA


@app.command("share")
@takes(ShareOptions)
def share(options: ShareOptions) -> None:
    """Make a link to the results of a survey. Its readers may read them and nothing else.

    Nobody can guess the link, and the database holds only its hash. A new link ends the one before. The page shows
    nothing about fewer than 20 answers, and changes by at least as many: else whoever looks before and after an answer
    would learn it. So groups, too, are settled when results are first shared. Your own page shows everything at once.

    \b
    Examples:
      naysay survey share sample
      naysay survey share sample --by area --least 30
      naysay survey share sample --revoke
    """
    from naysay.collect.results import sharing

    with opened(options.db, options.data, "change") as store:
        if options.revoke:
            if options.by is not None or options.least is not None:
                raise DataError("--revoke ends the link; leave --by and --least out")
            sharing.revoke(store, options.survey)
            log_act(store, "ended the link to the results", about=options.survey)
            output.say(f"the link to the results of {options.survey} has ended")
            return
        link_path = sharing.share(store, options.survey, by=options.by, least=options.least)
        log_act(store, "shared the results", about=options.survey)
    output.say(link_path)
    output.note("put it behind your server's address, such as https://survey.example.org; it is not shown again")


@app.command("recount")
def recount(
    survey: Survey,
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Check the tallies of a survey against its replies. Count them anew if they differ.

    The page of results reads tallies, which are kept while replies come. They are exact; this command proves it.

    \b
    Example:
      naysay survey recount sample
    """
    from naysay.collect.results import counting

    with opened(db, data, "change") as store:
        wrong_counts = counting.differing(store, survey)
        if not wrong_counts:
            reply_count = sum(
                listed_survey.replies for listed_survey in store.surveys() if listed_survey.name == survey
            )
            output.say(f"the tallies of {survey} hold its {several(reply_count, 'reply', 'replies')}")
            return
        for tally_key, (kept_count, right_count) in sorted(wrong_counts.items())[:_MOST_DIFFERENCES]:
            tally_text = f"{tally_key.question or 'replies'} {tally_key.cell}" + (
                f" by {tally_key.beside}" if tally_key.beside else ""
            )
            output.note(f"{tally_text}: {kept_count:,} kept, {right_count:,} right")
        reply_count = counting.recount(store, survey)
    replies_text = several(reply_count, "reply is", "replies are")
    output.say(f"{several(len(wrong_counts), 'tally', 'tallies')} of {survey} differed; {replies_text} counted anew")


@dataclass(frozen=True)
class EthicsOptions:
    """Of which survey, in which language, and what the researchers add."""

    survey: Annotated[
        str,
        typer.Argument(metavar="NAME|FILE", help="A survey in the database, or a questionnaire that is not open yet."),
    ]
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where it goes: .html or .md. [default: Markdown, on the screen]"),
    ] = None
    language: Annotated[
        str | None, typer.Option(metavar="TAG", help="Of the questions, such as de. [default: English if it is there]")
    ] = None
    until: Annotated[
        str | None,
        typer.Option(metavar="DAY", help="When the replies will be deleted: 2027-12-31. [default: as scheduled]"),
    ] = None
    smallest: Annotated[
        int | None,
        typer.Option(min=1, metavar="PEOPLE", help="The fewest people for whom you will publish an estimate."),
    ] = None
    db: Database = None
    data: Data = DATA
    force: Force = False


@app.command("ethics")
@takes(EthicsOptions)
def ethics(options: EthicsOptions) -> None:
    """Write what an ethics board must know. The statement has two pages.

    It says what happens to an answer, what is stored, what each private answer tells and all together, who could do
    harm, and what invitations hide. The numbers are those that respondents see. Blanks are left for what only you know.

    \b
    Examples:
      naysay survey ethics sample --out statement.html
      naysay survey ethics survey.xlsx --until 2027-12-31 --out statement.md
    """
    from naysay.collect.ethics import Statement

    _check_out(options)
    given_until = day_of(options.until, "--until", "is a day such as 2027-12-31")
    published, kept_until = _published(options)
    statement = Statement(
        published, language=options.language, until=given_until or kept_until, smallest=options.smallest
    )
    if published.key is None:
        opened_text = f"naysay survey open {options.survey}, then " if _is_file(options) else ""
        output.note(
            f"the first invitation changes the hash; if you will invite, first do so ({opened_text}naysay survey "
            f"invite {published.name} --count N, which sends nothing), then: naysay survey ethics {published.name}"
        )
    if options.out is None:
        output.say(statement.to_markdown().rstrip())
        return
    output.write(options.out, statement.to_html if options.out.suffix.lower() in _PAGE else statement.to_markdown)
    output.say(f"{options.out}: written; fill in the blanks before you hand it in")


def _check_out(options: EthicsOptions) -> None:
    """Raise, before any work is done, if the statement cannot be written to its place."""
    if options.out is None:
        return
    file_suffix = options.out.suffix.lower()
    if file_suffix not in (*_PAGE, *_MARKDOWN):
        raise DataError(f"a statement is written as .html or .md; got {options.out.name!r}")
    output.check_free(options.out, force=options.force)
    if file_suffix in _PAGE:
        output.check(options.out)


def _is_file(options: EthicsOptions) -> bool:
    path = Path(options.survey)
    return bool(path.suffix) and path.is_file()


def _published(options: EthicsOptions) -> tuple[Published, datetime.date | None]:
    """The survey as it was opened, and the last day on which it is kept; or as this naysay would open a file."""
    from naysay.collect import Published
    from naysay.collect.admin import plans
    from naysay.collect.questionnaire import load

    if _is_file(options):
        return Published.of(load(Path(options.survey))), None
    with opened(options.db, options.data, "read") as store:
        return store.published(options.survey), plans.find(store, options.survey).keeps


@app.command("copy")
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
    """Copy what a survey asks for a next wave. The copy has another name and no replies.

    The copy is a draft: naysay survey open NEW opens it. With --to it is a file instead.

    \b
    Examples:
      naysay survey copy sample sample-2
      naysay survey copy sample sample-2 --to wave-2.xlsx
    """
    from naysay.collect.admin import drafts, plans
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
        log_act(store, "copied", about=survey, detail=f"to {new}")
        if plans.find(store, new).opens != first_day:
            output.note(f"{new} was a draft that asked something else; its first day of answers was struck out")
    output.say(f"{new} is a draft now; open it with: naysay survey open {new}")


@app.command("schedule")
def schedule(
    survey: Survey,
    opens: Annotated[str | None, typer.Option(metavar="DATE", help="The first day of answers.")] = None,
    closes: Annotated[str | None, typer.Option(metavar="DATE", help="The last day of answers.")] = None,
    keeps: Annotated[
        str | None, typer.Option("--keep-until", metavar="DATE", help="The last day on which answers are kept.")
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Strike out all dates.")] = False,
    run: Annotated[bool, typer.Option("--run", help="Do what is due now, without a server.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help=database.YES)] = False,
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Open, close and delete a survey on a day (UTC). Without options, show its dates.

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
    from naysay.collect.questionnaire import of_form

    days_of_option = {
        "opens": day_of(opens, "--opens"),
        "closes": day_of(closes, "--closes"),
        "keeps": day_of(keeps, "--keep-until"),
    }
    given_days = {date_name: day for date_name, day in days_of_option.items() if day is not None}
    changes_dates = bool(given_days) or clear
    with opened(db, data, "change" if changes_dates or run else "read") as store:
        if "opens" in given_days and survey in {draft.name for draft in drafts.listed(store)}:
            database.confirm(of_form(drafts.find(store, survey).questionnaire.form()), survey, yes=yes)
        if changes_dates:
            earlier_dates = {} if clear else vars(plans.find(store, survey))
            plans.schedule(store, survey, plans.Plan(**{**earlier_dates, **given_days}))
            dates_text = ", ".join(f"{date_name} {day}" for date_name, day in given_days.items()) or "no dates"
            log_act(store, "scheduled", about=survey, detail=dates_text)
        for done_text in plans.carry_out(store) if run else ():
            output.say(done_text)
        plans.check(store, survey)
        plan = plans.find(store, survey)
    date_words = {
        "opens": "opens when {} begins",
        "closes": "closes when {} is over",
        "keeps": "is deleted when {} is over",
    }
    date_lines = [date_words[date_name].format(day) for date_name, day in vars(plan).items() if day]
    output.say(f"{survey} {'; '.join(date_lines)} (UTC)" if date_lines else f"{survey} has no dates")


def day_of(text: str | None, option: str, rule: str = "takes a date such as 2027-01-31") -> datetime.date | None:
    """The day that an option names; None where it is not given.

    Raises
    ------
    DataError
        It is no date.
    """
    try:
        return None if text is None else datetime.date.fromisoformat(text)
    except ValueError:
        raise DataError(f"{option} {rule}; got {text!r}") from None


@app.command("backup")
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where it goes: a file that is not there yet.")],
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Write everything in the database to one file. It holds one moment, also while a server runs.

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


@app.command("restore")
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup, of this naysay or an earlier one.")],
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Copy a backup into a database without surveys. It may come from any kind of database.

    A survey whose page is not the one that this naysay ships gets the page of this naysay, and a new hash. A
    draft without a private question loses its first day, on which it would open by itself.

    \b
    Example:
      naysay survey restore monday.db --data study
    """
    from naysay.collect.admin import backup as backups
    from naysay.collect.admin.account import Account

    if not file.is_file():
        raise DataError(f"there is no file {str(file)!r}")
    with backups.readied(file) as copied_into, opened(db, data, "make") as store:
        had_password = Account(store).has_password
        copy_counts = copied_into(store)
        takes_password = Account(store).has_password and not had_password
        log_act(store, "restored a backup", detail=str(copy_counts))
        hash_changes = {survey_name: backups.hashes(store, survey_name) for survey_name in copy_counts.renewed}
        for survey_name, hash_change in hash_changes.items():
            log_act(store, "renewed", about=survey_name, detail=hash_change)
        for survey_name in copy_counts.undated:
            log_act(
                store,
                "struck out a first day",
                about=survey_name,
                detail="it has no private question",
            )
    output.say(f"restored {copy_counts}")
    if takes_password:
        output.note("the admin pages have the password of the backup; for another one: naysay admin password")
    for survey_name, hash_change in hash_changes.items():
        output.note(
            f"{survey_name}: its page was not the one of this naysay, and is now; it has a new hash: {hash_change}"
        )
    for survey_name in copy_counts.undated:
        output.note(
            f"{survey_name}: this draft has no private question, so its first day of answers was struck out; "
            f"set it again with: naysay survey schedule {survey_name} --opens DATE"
        )


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
    from naysay.collect.admin.log import COMMAND_LINE

    if receipt is not None and receipt.exists():
        raise DataError(f"{str(receipt)!r} exists; give another name with --receipt")
    with opened(db, data, "change") as store:
        reply_count = {listed_survey.name: listed_survey.replies for listed_survey in store.surveys()}.get(survey, 0)
        if not yes and not database.agreed(f"Delete {survey} with {several(reply_count, 'reply', 'replies')}? "):
            raise DataError(f"{survey!r} was not deleted; confirm with y, or give --yes")
        deletion_receipt = store.delete(survey, by=COMMAND_LINE)
    output.say(f"{survey} is deleted\n{deletion_receipt}")
    if receipt is not None:
        receipt.write_text(deletion_receipt.to_json() + "\n", encoding="utf-8")
