"""``naysay survey ethics``: a two-page statement for an ethics board, written from the survey at hand."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from naysay.collect.commands.database import DATA, Data, Database, opened
from naysay.console import output
from naysay.console.commands import takes
from naysay.console.options import Force
from naysay.errors import DataError

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    from naysay.collect import Published


_PAGE, _MARKDOWN = (".html", ".htm"), (".md", ".markdown")


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


@takes(EthicsOptions)
def command(options: EthicsOptions) -> None:
    """Write what an ethics board must know about a survey, on two pages.

    It says what happens to an answer, what is stored, what each private answer tells and all together, who could do
    harm, and what invitations hide. The numbers are those that respondents see. Blanks are left for what only you know.

    \b
    Examples:
      naysay survey ethics sample --out statement.html
      naysay survey ethics survey.xlsx --until 2027-12-31 --out statement.md
    """
    from naysay.collect.ethics import Statement

    _check(options)
    until = _day(options.until)
    published, keeps = _survey(options)
    statement = Statement(published, language=options.language, until=until or keeps, smallest=options.smallest)
    if options.out is None:
        output.say(statement.to_markdown().rstrip())
        return
    output.write(options.out, statement.to_html if options.out.suffix.lower() in _PAGE else statement.to_markdown)
    output.say(f"{options.out}: written; fill in the blanks before you hand it in")


def _check(options: EthicsOptions) -> None:
    """Raise, before any work is done, if the statement cannot be written to its place."""
    if options.out is None:
        return
    kind = options.out.suffix.lower()
    if kind not in (*_PAGE, *_MARKDOWN):
        raise DataError(f"a statement is written as .html or .md; got {options.out.name!r}")
    if options.out.exists() and not options.force:
        raise DataError(f"{str(options.out)!r} is there already; give another name, or --force to overwrite it")
    if kind in _PAGE:
        output.check(options.out)


def _day(text: str | None) -> datetime.date | None:
    try:
        return None if text is None else datetime.date.fromisoformat(text)
    except ValueError:
        raise DataError(f"--until is a day such as 2027-12-31; got {text!r}") from None


def _survey(options: EthicsOptions) -> tuple[Published, datetime.date | None]:
    """The survey as it was opened, and the last day on which it is kept; or as this naysay would open a file."""
    from naysay.collect import Published
    from naysay.collect.admin import plans
    from naysay.questionnaire import load

    path = Path(options.survey)
    if path.suffix and path.is_file():
        return Published.of(load(path)), None
    with opened(options.db, options.data, "read") as store:
        return store.published(options.survey), plans.find(store, options.survey).keeps
