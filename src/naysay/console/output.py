"""Output of commands: results on stdout, notes and errors on stderr, on any terminal.

Pages that commands write.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naysay.errors import DataError, ExtraMissing, NaysayError, need

if TYPE_CHECKING:
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


def result(printable: Any, form: str) -> None:
    """Write a result to stdout in the form that ``--format`` names: table, json or csv."""
    if form == "table":
        say(str(printable))
    else:
        say(json_text(printable.to_dict()) if form == "json" else printable.to_csv())


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

    console_text = io.StringIO()
    Console(file=console_text, width=_WIDTH, color_system=None, legacy_windows=False).print(table)
    say("\n".join((indent + line).rstrip() for line in console_text.getvalue().splitlines()))


def json_text(value: Any) -> str:
    """JSON text. Letters that stdout cannot show are escaped."""
    stream_encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    return json.dumps(value, ensure_ascii=stream_encoding != "utf8", indent=1, allow_nan=False)


def check(path: Path | None) -> None:
    """Raise, before any work is done, if a page cannot be drawn or cannot be written to this path."""
    if path is None:
        return
    drawable()
    if path.is_dir():
        raise DataError(f"cannot write to {str(path)!r}: it is a folder")
    if not path.parent.is_dir():
        raise DataError(f"cannot write to {str(path)!r}: there is no folder {str(path.parent)!r}")


def check_free(path: Path, *, force: bool) -> None:
    """Raise unless a file can be written there: in a folder that exists, and over another only with ``--force``."""
    if path.is_dir():
        raise DataError(f"cannot write to {str(path)!r}: it is a folder")
    if path.exists() and not force:
        raise DataError(f"{str(path)!r} exists; add --force to overwrite it")
    if not path.parent.is_dir():
        raise DataError(f"cannot write to {str(path)!r}: there is no folder {str(path.parent)!r}")


def drawable() -> None:
    """Raise, before any work is done, if nothing can be drawn."""
    try:
        for module in ("altair", "jinja2", "vl_convert"):
            need(module)
    except ExtraMissing as error:
        raise NaysayError(str(error)) from None


def write(path: Path | None, page: Callable[[], str]) -> None:
    """Draw the page and write it to its path."""
    if path is None:
        return
    try:
        path.write_text(page(), encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
