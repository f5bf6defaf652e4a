"""``naysay survey invite``: one-time links, for the researcher to keep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from naysay import files
from naysay._checks import several
from naysay.collect.commands.database import DATA, Data, Database, opened
from naysay.console import output
from naysay.console.commands import takes
from naysay.console.options import Encoding, Force, Separator
from naysay.errors import DataError

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    from naysay.collect.storage import Store


_HERE = "http://127.0.0.1:8000"
_LINK = "link"


@dataclass(frozen=True)
class Options:
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
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file of links, as its suffix says. [default: NAME-invitations.csv]"),
    ] = None
    at: Annotated[str, typer.Option(metavar="URL", help="How links begin: where respondents reach the server.")] = _HERE
    db: Database = None
    data: Data = DATA
    force: Force = False
    separator: Separator = ","
    encoding: Encoding = None


@takes(Options)
def command(asked: Options) -> None:
    """Write links with which one person answers once; no answer is stored with its link.

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
      naysay survey invite sample --replace 'https://survey.example.org/s/sample#…'
    """
    ways = {"--count": asked.count, "--names": asked.names, "--replace": asked.lost, "--remind": asked.remind}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) > 1:
        raise DataError(f"give one of --count, --names, --replace and --remind; got {' and '.join(given)}")
    if not asked.at.startswith(("http://", "https://")):
        raise DataError(f"links begin with http:// or https://; got --at {asked.at!r}")
    with opened(asked.db, asked.data, "change" if given and given != ["--remind"] else "read") as store:
        if not given:
            _told(store, asked)
        elif asked.lost is not None:
            _replaced(store, asked, asked.lost)
        elif asked.remind is not None:
            _reminded(store, asked, asked.remind)
        else:
            _invited(store, asked)


def _invited(store: Store, asked: Options) -> None:
    """Write the links first, then let them in: a link that somebody holds must not be one that nobody wrote down."""
    from naysay.collect import invitations
    from naysay.collect.admin.log import COMMAND_LINE, record

    place = _free(asked)
    people = pl.DataFrame() if asked.names is None else _read(asked.names, asked)
    if _LINK in people.columns:
        raise DataError(f"{str(asked.names)!r} has a column {_LINK!r} already; rename it, for the links go there")
    before = store.published(asked.survey)
    drawn = invitations.codes(people.height if asked.count is None else asked.count)
    links = pl.Series(_LINK, [invitations.link(asked.at, asked.survey, code) for code in drawn])
    _write(people.with_columns(links) if people.width else links.to_frame(), place, asked)
    try:
        invitations.enlist(store, asked.survey, drawn)
    except BaseException:
        place.unlink()
        raise
    told = several(len(drawn), "link", "links")
    record(store, "invited", who=COMMAND_LINE, about=asked.survey, detail=told)
    output.say(f"{place}: {told}")
    after = store.published(asked.survey).hash
    if after != before.hash:
        output.say(f"{asked.survey} now asks for invitations\nhash before: {before.hash}\nhash now:    {after}")
    output.note("keep the file to yourself: whoever has a link can answer with it, and it is stored nowhere else")
    if asked.at == _HERE:
        output.note(f"links begin with {_HERE}, which works on this computer alone; see --at")


def _replaced(store: Store, asked: Options, lost: str) -> None:
    from naysay.collect import invitations
    from naysay.collect.admin.log import COMMAND_LINE, record

    code = invitations.replace(store, asked.survey, invitations.code_of(lost), taken=asked.taken)
    record(store, "replaced an invitation", who=COMMAND_LINE, about=asked.survey)
    output.say(invitations.link(lost.partition("/s/")[0] if "/s/" in lost else asked.at, asked.survey, code))
    output.note("put it in your file in place of the old link, which opens nothing any more")


def _reminded(store: Store, asked: Options, file: Path) -> None:
    from naysay.collect import invitations

    place = _free(asked)
    people = _read(file, asked)
    if _LINK not in people.columns:
        raise DataError(f"{str(file)!r} has no column {_LINK!r}; give the file that naysay survey invite has written")
    drawn = [invitations.code_of(str(link)) for link in people[_LINK]]
    waits = invitations.untaken(store, asked.survey, drawn)
    _write(people.filter(pl.Series(waits)), place, asked)
    output.say(f"{place}: {sum(waits):,} of {len(waits):,} have not begun")
    output.note("whether those who have begun have also answered, nobody can know")


def _told(store: Store, asked: Options) -> None:
    from naysay.collect import invitations

    found = invitations.counts(store, asked.survey)
    if found is None:
        output.say(f"{asked.survey}: anybody with the link can answer; for invitations give --count or --names")
        return
    output.say(
        f"{asked.survey}: {found.invited:,} invited, {found.taken:,} have begun, {found.replies:,} have answered"
    )
    if found.replies > found.taken + found.again:
        output.note("more have answered than have begun: somebody with the survey's key has made tokens")
    if found.again:
        output.note(
            f"{several(found.again, 'invitation was', 'invitations were')} replaced after use, so at most "
            f"{several(found.again, 'reply is a second one', 'replies are second ones')}"
        )


def _read(path: Path, asked: Options) -> pl.DataFrame:
    with files.readable(path):
        frame: pl.DataFrame = files.scan(path, separator=asked.separator, encoding=asked.encoding).collect()
    return frame


def _free(asked: Options) -> Path:
    place = asked.to or Path(f"{asked.survey}-invitations.csv")
    if place.exists() and not asked.force:
        raise DataError(f"{str(place)!r} exists; add --force to overwrite it, or give another name with --to")
    return place


def _write(frame: pl.DataFrame, place: Path, asked: Options) -> None:
    files.write(frame, place, separator=asked.separator)
    place.chmod(0o600)
