"""Against a server from outside: ``naysay respond`` answers a survey, ``naysay verify`` compares what is served."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import naysay
from naysay import files
from naysay._checks import several
from naysay.collect import respond
from naysay.collect.commands.log import Within, Witnesses, say_later, text_of, witnesses_text
from naysay.collect.respond import People, Sent, Survey
from naysay.console import output
from naysay.console.options import Codes, Encoding, Separator
from naysay.console.output import takes
from naysay.errors import DataError


@dataclass(frozen=True)
class RespondOptions:
    """Who answers which survey, and how the answers are sent."""

    url: Annotated[str, typer.Argument(metavar="URL", help="The survey's link.")]
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="True answers: CSV, Parquet, JSON lines, SPSS or Stata.")
    ] = None
    level: Annotated[
        list[str] | None,
        typer.Option(metavar="QUESTION=LEVEL", help="Everybody's level, for a question whose level has no column."),
    ] = None
    concurrency: Annotated[int, typer.Option(min=1, help="The most people who answer at once.")] = 50
    random: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="N people with random answers, instead of FILE.")
    ] = None
    seed: Annotated[
        int | None, typer.Option(min=0, help="Gives the same random people again; what they send is drawn afresh.")
    ] = None
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keeps each draw until it is acknowledged. [default: FILE.sent]")
    ] = None
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column of FILE that is no answer, such as a name.")
    ] = None
    expected: Annotated[
        str | None, typer.Option("--hash", metavar="HASH", help="Answer only if the survey has this hash.")
    ] = None
    invitations: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where the survey invites: a table with a column link, a row for each person."
        ),
    ] = None
    patience: Annotated[float, typer.Option(min=1, help="Seconds for which one answer is tried again.")] = 600
    separator: Separator = ","
    encoding: Encoding = None
    codes: Codes = False


@takes(RespondOptions)
def command(options: RespondOptions) -> None:
    """Answer a survey, as devices, sensors and tests do.

    FILE holds true answers: a row for each respondent, and a column for each question. A cell names a choice; 'a;b'
    stands for several choices and for rankings. A grid has columns question/row. Several choices may also have columns
    question/choice with yes and no. A column question_level holds levels of privacy. An empty cell is no answer.
    Private answers are randomized here, by the operating system's chance and as the survey publishes it. Only what was
    drawn is sent and kept. The file of --state keeps each draw until the server acknowledges it. After an
    interruption, run the same command again: it sends only what is missing, as it was drawn.

    \b
    Examples:
      naysay respond http://127.0.0.1:8000/s/sample people.csv --level income=2
      naysay respond http://127.0.0.1:8000/s/sample --random 100 --seed 1
    """
    if (options.file is None) == (options.random is None):
        raise DataError("give either a FILE of true answers, or --random N")
    if options.random is None and options.seed is not None:
        raise DataError("--seed is for --random; the draws for answers of a file are never seeded")
    levels = dict(map(_level, options.level or ()))
    survey = respond.fetch(options.url, hash=options.expected)
    state_path = options.state
    if options.file is not None:
        with files.readable(options.file):  # cells as they are written, lists as lists
            frame = files.scan(
                options.file, separator=options.separator, encoding=options.encoding, codes=options.codes
            )
            ignored_columns = options.ignore or []
            files.check_columns(frame, ignored_columns)
            table: pl.DataFrame = frame.drop(ignored_columns).collect()
        people = respond.checked(survey.questionnaire, table.to_dict(as_series=False), levels=levels)
        state_path = state_path or options.file.with_name(f"{options.file.name}.sent")
    elif levels:
        raise DataError("--level is for a FILE; random people choose their levels at random")
    else:
        output.note(
            "random people give random answers at random levels, for trying out; the estimates will mean nothing"
        )
        people = respond.anybody(survey.questionnaire, options.random or 1, seed=options.seed)
    links: list[str] | None = None
    if options.invitations is not None:  # as naysay survey invite has written them
        with files.readable(options.invitations):
            frame = files.scan(options.invitations, separator=options.separator, encoding=options.encoding, codes=True)
            files.check_columns(frame, ["link"])
            links = frame.select("link").collect()["link"].to_list()
    _send(survey, people, options, state_path, links)


def _level(text: str) -> tuple[str, str]:
    question, equals_sign, level = text.partition("=")
    if not (question and equals_sign and level):
        raise DataError(f"--level must be QUESTION=LEVEL, such as smoking=2; got {text!r}")
    return question, level


def _send(survey: Survey, people: People, options: RespondOptions, state: Path | None, links: list[str] | None) -> None:
    """Send, and show a progress bar; however it ends, say how much is stored."""
    counts = Sent(people.size)
    progress_columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    stderr_console = Console(file=sys.stderr)
    with Progress(
        *progress_columns, console=stderr_console, transient=True, disable=not stderr_console.is_terminal
    ) as progress:
        progress_task = progress.add_task("answers acknowledged", total=people.size)

        def on_acknowledged(latest_counts: Sent) -> None:
            nonlocal counts
            counts = latest_counts
            progress.update(progress_task, completed=latest_counts.stored)

        try:
            counts = respond.many(
                survey,
                people,
                concurrency=options.concurrency,
                state=state,
                invitations=links,
                patience=options.patience,
                on_acknowledged=on_acknowledged,
            )
        except BaseException:
            progress.stop()
            if counts.stored:
                open_count = counts.people - counts.stored
                advice = "run the same command again for the rest" if state is not None else "the others are forgotten"
                output.note(
                    f"{counts.stored:,} of {counts.people:,} answers are acknowledged, {open_count:,} are not; {advice}"
                )
            raise
    stored_text = several(counts.acknowledged, "answer", "answers")
    output.say(f"{stored_text} stored in {survey.published.name!r}, hash {survey.hash}")
    if counts.before:
        output.note(f"{counts.before:,} more were stored in an earlier run; {str(state)!r} remembers them")
    if counts.unasked and state is not None:
        output.note(f"{counts.unasked:,} single answers were not sent: their questions were not asked")


@dataclass(frozen=True)
class VerifyOptions:
    """Which link is compared, and with which hash."""

    url: Annotated[str, typer.Argument(metavar="URL", help="The link that respondents are sent.")]
    hash: Annotated[
        str | None,
        typer.Option(
            metavar="HASH",
            help="The survey's hash, from somebody who does not run the server; its first 16 digits are enough.",
        ),
    ] = None
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A log in which the survey and its page must be announced.")
    ] = None
    public: Annotated[
        str | None, typer.Option(metavar="KEY", help="With --log: the public key of whoever signs it.")
    ] = None
    witness: Witnesses = None
    within: Within = None


@takes(VerifyOptions)
def verify(options: VerifyOptions) -> None:
    """Compare what a server serves with what was published.

    Compares the page, the pages on threats, the client's files and the headers on which they depend, byte for byte,
    with the files of this version of naysay. Give the whole link, as it is sent. Ends with 0 if all is the same, and
    with 2 if anything differs. Without --hash it cannot tell whether the survey is the one that was approved: compare
    the printed hash with the one that others publish. A server can serve one person something else, or know this
    command by how it connects: so compare from several networks, on several days, and what a browser has saved, too.

    \b
    Examples:
      naysay verify https://survey.example.org/s/survey --hash 4f0c…
      naysay verify https://survey.example.org/s/survey --log surveys.log --public board.example.org+…
    """
    from naysay.collect.log import Log
    from naysay.collect.verify import verify

    if (options.log is None) != (options.public is None) or (
        options.log is None and (options.witness or options.within)
    ):
        raise DataError("give --log FILE and --public KEY together; --witness and --within are of a log")
    log_text = "" if options.log is None else text_of(options.log)
    announced_log = None if options.public is None else Log.read(log_text, options.public)
    cosigned_text = witnesses_text(log_text, options.public, options.witness, options.within) if options.public else ""
    verdict = verify(options.url, hash=options.hash)
    if verdict.differences:
        output.complain(*verdict.differences)
        raise typer.Exit(2)
    documents_text = f"{len(verdict.compared)} documents and their headers are those of naysay {naysay.__version__}"
    output.say(f"{documents_text}, byte for byte.")
    if announced_log is not None:
        place, entry = announced_log.entry_of(verdict.published)
        output.say(f"{announced_log.name} announced this survey and this page on {entry.day}.\n{cosigned_text}")
        say_later(announced_log, place)
    elif options.hash is None:
        output.say("Compare the hash of the survey with the one that others publish:")
    output.say(f"hash: {verdict.hash}")
