"""``naysay survey share`` and ``naysay survey recount``: a page of results for others, and the tallies behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from naysay._checks import several
from naysay.collect.commands.database import DATA, Data, Database, opened
from naysay.console import output
from naysay.console.commands import takes
from naysay.errors import DataError

_MOST_DIFFERENCES = 5  # differences that are told one by one


@dataclass(frozen=True)
class ShareOptions:
    """Whose results are shared, and in which steps."""

    survey: Annotated[str, typer.Argument(metavar="NAME", help="The name of the survey.")]
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


@takes(ShareOptions)
def command(options: ShareOptions) -> None:
    """Make a link to the results of a survey, for people who may read them and nothing else.

    Nobody can guess the link, and the database holds only its hash. A new link ends the one before. The page shows
    nothing about fewer than 20 answers, and changes by at least as many: else whoever looks before and after an answer
    would learn it. So groups, too, are settled when results are first shared. Your own page shows everything at once.

    \b
    Examples:
      naysay survey share sample
      naysay survey share sample --by area --least 30
      naysay survey share sample --revoke
    """
    from naysay.collect.admin.log import COMMAND_LINE, record
    from naysay.collect.results import sharing

    with opened(options.db, options.data, "change") as store:
        if options.revoke:
            if options.by is not None or options.least is not None:
                raise DataError("--revoke ends the link; leave --by and --least out")
            sharing.revoke(store, options.survey)
            record(store, "ended the link to the results", who=COMMAND_LINE, about=options.survey)
            output.say(f"the link to the results of {options.survey} has ended")
            return
        path = sharing.share(store, options.survey, by=options.by, least=options.least)
        record(store, "shared the results", who=COMMAND_LINE, about=options.survey)
    output.say(path)
    output.note("put it behind your server's address, such as https://survey.example.org; it is not shown again")


def recount(
    survey: Annotated[str, typer.Argument(metavar="NAME", help="The name of the survey.")],
    db: Database = None,
    data: Data = DATA,
) -> None:
    """Check the tallies of a survey against its replies, and count them anew if they differ.

    The page of results reads tallies, which are kept while replies come. They are exact; this command proves it.

    \b
    Example:
      naysay survey recount sample
    """
    from naysay.collect.results import counting

    with opened(db, data, "change") as store:
        wrong = counting.differing(store, survey)
        if not wrong:
            replies = sum(listed_survey.replies for listed_survey in store.surveys() if listed_survey.name == survey)
            output.say(f"the tallies of {survey} hold its {several(replies, 'reply', 'replies')}")
            return
        for key, (kept_count, right_count) in sorted(wrong.items())[:_MOST_DIFFERENCES]:
            tally_text = f"{key.question or 'replies'} {key.cell}" + (f" by {key.beside}" if key.beside else "")
            output.note(f"{tally_text}: {kept_count:,} kept, {right_count:,} right")
        replies = counting.recount(store, survey)
    replies_text = several(replies, "reply is", "replies are")
    output.say(f"{several(len(wrong), 'tally', 'tallies')} of {survey} differed; {replies_text} counted anew")
