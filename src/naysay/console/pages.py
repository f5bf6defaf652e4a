"""Pages that commands write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from naysay.errors import DataError, ExtraMissing, NaysayError, need


def check(path: Path | None) -> None:
    """Raise, before any work is done, if a page cannot be drawn or cannot be written to this path."""
    if path is None:
        return
    drawable()
    if path.is_dir():
        raise DataError(f"cannot write to {str(path)!r}: it is a folder")
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
