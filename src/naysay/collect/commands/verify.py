"""``naysay verify``: whether a server serves what was published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

import naysay
from naysay.console import output
from naysay.console.commands import takes


@dataclass(frozen=True)
class VerifyOptions:
    """Which link is compared, and with which hash."""

    url: Annotated[str, typer.Argument(metavar="URL", help="The link that respondents are sent.")]
    hash: Annotated[
        str | None, typer.Option(metavar="HASH", help="The survey's hash, from somebody who does not run the server.")
    ] = None


@takes(VerifyOptions)
def command(options: VerifyOptions) -> None:
    """Compare what a server serves with what was published.

    Compares the page, the pages on threats, the client's files and the headers on which they depend, byte for byte,
    with the files of this version of naysay. Give the whole link, as it is sent. Ends with 0 if all is the same, and
    with 2 if anything differs. Without --hash it cannot tell whether the survey is the one that was approved: compare
    the printed hash with the one that others publish. A server can serve one person something else, or know this
    command by how it connects: so compare from several networks, on several days, and what a browser has saved, too.

    \b
    Examples:
      naysay verify https://survey.example.org/s/survey --hash 4f0c…
    """
    from naysay.collect.verify import verify

    verdict = verify(options.url, hash=options.hash)
    if verdict.differences:
        output.complain(*verdict.differences)
        raise typer.Exit(2)
    same = f"{len(verdict.compared)} documents and their headers are those of naysay {naysay.__version__}"
    output.say(f"{same}, byte for byte.")
    if options.hash is None:
        output.say("Compare the hash of the survey with the one that others publish:")
    output.say(f"hash: {verdict.hash}")
