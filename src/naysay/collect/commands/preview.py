"""``naysay questionnaire preview``: the respondent's page to be played with; nothing is stored."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from naysay.collect.commands.serve import Host, Port, heard, of_host
from naysay.console import output

__all__ = ["preview"]


def preview(
    questionnaire: Annotated[Path, typer.Argument(metavar="FILE", help="XLSForm or JSON.")],
    port: Port = 8000,
    host: Host = "127.0.0.1",
) -> None:
    """Serve a questionnaire without storing anything.

    Answers are checked as they are in a survey, and forgotten. Stop with Ctrl+C.

    \b
    Example:
      naysay questionnaire preview survey.json
    """
    from naysay.collect import serving
    from naysay.collect.app import create_app
    from naysay.questionnaire import load

    heard()
    asked = load(questionnaire)
    app = create_app([asked])
    with serving.bound(host, port) as listening:
        output.say(f"{serving.url_of(listening)}/s/{asked.name}")
        for line in of_host(listening):
            output.note(line)
        sys.stdout.flush()
        serving.serve(app, listening)
