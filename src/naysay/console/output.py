"""Output of commands: results on stdout, notes and errors on stderr, on any terminal."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # every command imports this module, but not every command shows a table
    from rich.table import Table

_WIDTH = 120


def encodable() -> None:
    """Let both streams write characters that they cannot encode as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str = "") -> None:
    """Write one result to stdout unchanged: not wrapped, not cut."""
    sys.stdout.write(text + "\n")


def result(found: Any, form: str) -> None:
    """Write a result to stdout in the form that ``--format`` names: table, json or csv."""
    if form == "table":
        say(str(found))
    else:
        say(json_text(found.to_dict()) if form == "json" else found.to_csv())


def note(text: str) -> None:
    """Write one note to stderr."""
    sys.stderr.write(f"naysay: note: {_line(text)}\n")


def complain(*texts: str) -> None:
    """Write errors to stderr, one line for each."""
    sys.stderr.write("naysay: " + "\n  ".join(map(_line, texts)) + "\n")


def _line(text: str) -> str:
    return " ".join(text.split("\n")).replace("\r", " ")


def show(table: Table, *, indent: str = "") -> None:
    """Write content to stdout."""
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=_WIDTH, color_system=None, legacy_windows=False).print(table)
    say("\n".join((indent + line).rstrip() for line in out.getvalue().splitlines()))


def json_text(value: Any) -> str:
    """JSON text. Letters that stdout cannot show are escaped."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    return json.dumps(value, ensure_ascii=encoding != "utf8", indent=1, allow_nan=False)
