"""``naysay survey invite``: one-time links, for the researcher to keep."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from naysay import files
from naysay._checks import several
from naysay.collect.commands.database import DATA, Data, Database, log_act, opened
from naysay.console import output
from naysay.console.options import Encoding, Separator
from naysay.console.output import takes
from naysay.errors import DataError

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    from naysay.collect.storage import Store


_HERE = "http://127.0.0.1:8000"
_LINK = "link"


@dataclass(frozen=True)
class InviteOptions:
    """Who is invited to which survey, and where the links go."""

    survey: Annotated[str, typer.Argument(metavar="NAME", help="The name of the survey.")]
    count: Annotated[int | None, typer.Option(metavar="N", help="Write N links.")] = None
    names: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a link for each row of a table; its columns go into your file alone."),
    ] = None
    lost: Annotated[
        str | None,
        typer.Option("--replace", metavar="LINK", help="Print a new link in place of a lost one, which then ends."),
    ] = None
    taken: Annotated[
        bool, typer.Option("--taken", help="With --replace: even if a token was taken with the lost link.")
    ] = False
    remind: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Of the links in this file, write the rows whose person has not begun."),
    ] = None
    letters: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Of the links in this file, write letters to print: a page for each person."),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN,…", help="With --letters: columns that stand above the letter, a line each. [default: none]"
        ),
    ] = None
    language: Annotated[
        str | None, typer.Option(metavar="TAG", help="Of letters, such as de. [default: the questionnaire's first]")
    ] = None
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A new file: of links, as its suffix says, or of letters, .html. "
            "[default: NAME-invitations.csv, NAME-letters.html]",
        ),
    ] = None
    at: Annotated[str, typer.Option(metavar="URL", help="How links begin: where respondents reach the server.")] = _HERE
    db: Database = None
    data: Data = DATA
    separator: Separator = ","
    encoding: Encoding = None


@takes(InviteOptions)
def command(options: InviteOptions) -> None:
    """Write links with which one person answers once. No answer is stored with its link.

    From the first invitations on, the survey takes answers from those alone who are invited, and has a new hash. It
    must not have been answered yet. Keep the file: names and links are stored nowhere else. Without any option, the
    command says how many are invited, have begun and have answered.

    When a person presses Start, their device turns the invitation into a token, and spends it with the reply. The
    database knows which invitations were taken, and which tokens are spent, but not which belong together.

    \b
    Examples:
      naysay survey invite sample --count 500 --at https://survey.example.org
      naysay survey invite sample --names people.csv --to links.csv
      naysay survey invite sample --remind links.csv --to reminders.csv
      naysay survey invite sample --letters links.csv --address name,street,town
      naysay survey invite sample --replace 'https://survey.example.org/s/sample#…'
    """
    ways = {
        "--count": options.count,
        "--names": options.names,
        "--replace": options.lost,
        "--remind": options.remind,
        "--letters": options.letters,
    }
    ways_used = [option_name for option_name, value in ways.items() if value is not None]
    if len(ways_used) > 1:
        raise DataError(
            f"give one of --count, --names, --replace, --remind and --letters; got {' and '.join(ways_used)}"
        )
    if options.letters is None and (options.address is not None or options.language is not None):
        raise DataError("--address and --language are of letters; give --letters, and the file with the links")
    if not options.at.startswith(("http://", "https://")):
        raise DataError(f"links begin with http:// or https://; got --at {options.at!r}")
    if options.at != _HERE and (options.letters or options.remind):
        raise DataError("--at is of new links; those in the file keep the address with which they were written")
    with opened(options.db, options.data, "change" if {*ways_used} - {"--remind", "--letters"} else "read") as store:
        if not ways_used:
            _say_counts(store, options)
        elif options.lost is not None:
            _replace(store, options, options.lost)
        elif options.remind is not None:
            _remind(store, options, options.remind)
        elif options.letters is not None:
            _write_letters(store, options, options.letters)
        else:
            _invite(store, options)


def _invite(store: Store, options: InviteOptions) -> None:
    """Write the links first, then let them in: a link that somebody holds must not be one that nobody wrote down."""
    from naysay.collect import invitations

    file_place = _free_place(options, "invitations.csv")
    people = pl.DataFrame() if options.names is None else _read_table(options.names, options)
    if _LINK in people.columns:
        raise DataError(f"{str(options.names)!r} has a column {_LINK!r} already; rename it, for the links go there")
    survey_before = store.published(options.survey)
    codes = invitations.codes(people.height if options.count is None else options.count)
    links = pl.Series(_LINK, [invitations.link(options.at, options.survey, code) for code in codes])
    _write(people.with_columns(links) if people.width else links.to_frame(), file_place, options)
    try:
        invitations.enlist(store, options.survey, codes)
    except BaseException:
        file_place.unlink()
        raise
    links_text = several(len(codes), "link", "links")
    log_act(store, "invited", about=options.survey, detail=links_text)
    output.say(f"{file_place}: {links_text}")
    hash_after = store.published(options.survey).hash
    if hash_after != survey_before.hash:
        output.say(
            f"{options.survey} now asks for invitations\nhash before: {survey_before.hash}\nhash now:    {hash_after}"
        )
        output.note(
            "a statement for an ethics board, a log or a registration with the hash before is of an open survey; for "
            f"the one that invites: naysay survey ethics {options.survey}"
        )
    elif counts := invitations.counts(store, options.survey):
        output.note(f"{counts.invited:,} are invited now; whoever has a link in an earlier file, too, can answer twice")
    output.note("keep the file to yourself: whoever has a link can answer with it, and it is stored nowhere else")
    if options.at == _HERE:
        output.note(f"links begin with {_HERE}, which works on this computer alone; see --at")


def _replace(store: Store, options: InviteOptions, lost: str) -> None:
    from naysay.collect import invitations

    replacement_code = invitations.replace(
        store, options.survey, invitations.code_of(lost), although_taken=options.taken
    )
    log_act(store, "replaced an invitation", about=options.survey)
    output.say(
        invitations.link(lost.partition("/s/")[0] if "/s/" in lost else options.at, options.survey, replacement_code)
    )
    output.note("put it in your file in place of the old link, which opens nothing any more")


def _remind(store: Store, options: InviteOptions, file: Path) -> None:
    from naysay.collect import invitations

    file_place = _free_place(options, "invitations.csv")
    people, codes = _linked_people(store, file, options)
    person_waits = invitations.untaken(store, options.survey, codes)
    _write(people.filter(pl.Series(person_waits)), file_place, options)
    output.say(f"{file_place}: {sum(person_waits):,} of {len(person_waits):,} have not begun")
    output.note("whether those who have begun have also answered, nobody can know")


def _write_letters(store: Store, options: InviteOptions, file: Path) -> None:
    """Write a letter for each link. Links that are not of this survey are refused: a code is scanned and not read."""
    from naysay.collect import invitations

    file_place = _free_place(options, "letters.html")
    if file_place.suffix.lower() not in (".html", ".htm"):
        raise DataError(f"letters are written as .html; got {file_place.name!r}")
    people, codes = _linked_people(store, file, options)
    columns = [name.strip() for name in options.address.split(",")] if options.address is not None else []
    for column in columns:
        if column not in people.columns or column == _LINK:
            names = ", ".join(name for name in people.columns if name != _LINK) or "no column beside the links"
            raise DataError(f"--address names columns of {str(file)!r}, which has {names}; got {column!r}")
        if columns.count(column) > 1:
            raise DataError(f"--address names {column!r} {columns.count(column)} times; name it once")
    invitations.untaken(store, options.survey, codes)  # raises where one is not of this survey
    cells = people.select(pl.col(columns).cast(pl.String).fill_null("")).rows() if columns else [()] * people.height
    addresses = ["\n".join(" ".join(cell.split()) for cell in row if cell.strip()) for row in cells]
    published = store.published(options.survey)
    links = [str(link) for link in people[_LINK]]
    text = invitations.letters(published, links, addresses, language=options.language)
    try:
        with _private(), file_place.open("x", encoding="utf-8") as letters:
            letters.write(text)
    except OSError as error:
        raise DataError(f"cannot write {str(file_place)!r}: {error.strerror or error}") from None
    server = links[0].partition("/s/")[0]
    output.say(f"{file_place}: {several(len(links), 'letter', 'letters')}, with links to {server}")
    output.say(f"the hash in them: {published.hash}")
    output.note("keep the file to yourself, and delete it when it is printed: whoever has a link can answer with it")
    if not columns:
        output.note("letters have no address; --address name,street,town prints columns of your file above each")
    if server == _HERE:
        output.note(f"the links begin with {_HERE}, which works on this computer alone; invite with --at")


def _linked_people(store: Store, file: Path, options: InviteOptions) -> tuple[pl.DataFrame, list[str]]:
    """A file that holds links, and the codes in them."""
    from naysay.collect import invitations

    store.published(options.survey)  # raises where there is none: its links would seem to be replaced ones
    people = _read_table(file, options)
    if _LINK not in people.columns:
        raise DataError(f"{str(file)!r} has no column {_LINK!r}; give the file that naysay survey invite has written")
    return people, [invitations.code_of(str(link)) for link in people[_LINK]]


def _say_counts(store: Store, options: InviteOptions) -> None:
    from naysay.collect import invitations

    counts = invitations.counts(store, options.survey)
    if counts is None:
        output.say(f"{options.survey}: anybody with the link can answer; for invitations give --count or --names")
        return
    output.say(
        f"{options.survey}: {counts.invited:,} invited, {counts.taken:,} have begun, {counts.replies:,} have answered"
    )
    if counts.replies > counts.taken + counts.again:
        output.note("more have answered than have begun: somebody with the survey's key has made tokens")
    if counts.again:
        output.note(
            f"{several(counts.again, 'invitation was', 'invitations were')} replaced after use, so at most "
            f"{several(counts.again, 'reply is a second one', 'replies are second ones')}"
        )


def _read_table(path: Path, options: InviteOptions) -> pl.DataFrame:
    with files.readable(path):
        frame: pl.DataFrame = files.scan(path, separator=options.separator, encoding=options.encoding).collect()
    return frame


def _free_place(options: InviteOptions, default: str) -> Path:
    """Where the file goes: never over another, for links are stored nowhere else."""
    file_place = options.to or Path(f"{options.survey}-{default}")
    if file_place.exists():
        raise DataError(f"{str(file_place)!r} exists; name a new file with --to: links are stored nowhere else")
    output.check_free(file_place, force=False)
    return file_place


def _write(frame: pl.DataFrame, place: Path, options: InviteOptions) -> None:
    with _private():
        files.write(frame, place, separator=options.separator)


@contextlib.contextmanager
def _private() -> Iterator[None]:
    """Within it, files are made readable for their owner alone, from their first moment on."""
    earlier_mask = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(earlier_mask)
