"""``naysay serve``: surveys on the web, until it is stopped."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from naysay.cli import output
from naysay.cli.database import DATA, Data, Database, opened
from naysay.errors import DataError

__all__ = ["Host", "Port", "command", "heard"]

Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen; 0.0.0.0 is everywhere.")]
Port = Annotated[int, typer.Option(min=0, max=65_535, help="0 takes any free one.")]


def command(
    questionnaires: Annotated[
        list[Path] | None, typer.Argument(metavar="QUESTIONNAIRE…", help="XLSForm or JSON; opened if they are not yet.")
    ] = None,
    db: Database = None,
    port: Port = 8000,
    host: Host = "127.0.0.1",
    data: Data = DATA,
    rate: Annotated[
        int, typer.Option(min=0, help="Answers a minute from one address; 0 for any number. No address is kept.")
    ] = 600,
) -> None:
    """Serve surveys, and store what respondents send.

    Open surveys in the database are served, too. An answer is acknowledged when it is stored. Stop with Ctrl+C: what
    has been sent is stored first.

    \b
    Examples:
      naysay serve survey.json
      naysay serve survey.json --port 8080 --data study
    """
    from naysay.collect import serving
    from naysay.collect.app import create_app
    from naysay.questionnaire import load

    forms = [load(path) for path in questionnaires or ()]
    with (
        serving.bound(host, port) as listening,
        opened(db, data, "make") as store,
    ):  # no survey is opened that is not served
        heard()
        app = create_app(forms, store, each=rate)
        names = [each.name for each in store.surveys() if each.closed is None]
        closed = sorted(set(app.state.service.catalog.surveys) - set(names))
        if closed:
            output.note(f"closed, and not opened by serving: {', '.join(closed)}; see naysay survey open --help")
        if not names:
            raise DataError("there is no open survey to serve; name a questionnaire, as in naysay serve survey.json")
        for name in names:
            output.say(f"{serving.url_of(listening)}/s/{name}")
        sys.stdout.flush()
        serving.serve(app, listening)


def heard() -> None:
    """Log what goes wrong, and counts, on stderr. No line holds an address, a header or an answer."""
    from naysay.collect.connections import Throttle

    handler = logging.StreamHandler()
    handler.addFilter(Throttle())
    handler.setFormatter(logging.Formatter("naysay: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("naysay").setLevel(logging.INFO)
