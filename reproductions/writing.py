"""A reproduction in a folder: tables, JSON, a page, and each picture for a light and for a dark page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from naysay.errors import DataError
from naysay.report import html
from naysay.show import charts
from naysay.show.page import Section
from reproductions import printing
from reproductions.result import Reproduction

__all__ = ["to_html", "write"]

_SIZE = 640


def write(found: Reproduction, out: Path) -> Path:
    """The folder in which the reproduction stands: ``results.md``, ``results.json``, ``report.html``, pictures.

    Parameters
    ----------
    found : Reproduction
    out : Path
        Made where it does not exist; the reproduction goes into a folder of its name there.

    Raises
    ------
    DataError
        If nothing can be written there.
    ExtraMissing
        Without the extra ``plots``.
    """
    folder = out / found.name
    texts = dict(_texts(found))  # drawn before anything is written
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write to {str(folder)!r}: {error.strerror or error}") from None
    return folder


def _texts(found: Reproduction) -> Iterator[tuple[str, str]]:
    yield "results.md", found.to_markdown()
    yield "results.json", json.dumps(found.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    yield "report.html", to_html(found)
    for picture in found.pictures:
        svg = picture.draw(_SIZE)
        yield f"{picture.name}.svg", svg + "\n"
        yield f"{picture.name}-dark.svg", charts.dark(svg) + "\n"


def to_html(found: Reproduction) -> str:
    """The reproduction as a whole page: what the source says beside what came out, pictures, tables.

    Parameters
    ----------
    found : Reproduction

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    return html(
        found.title,
        list(_sections(found)),
        facts=[
            (f"{found.agreeing} of {len(found.checks)}", "agree"),
            (f"{found.runs:,}", "surveys in each simulation"),
        ],
        lead=[found.source],
    )


def _sections(found: Reproduction) -> Iterator[Section]:
    yield charts.section(
        "The source, and naysay",
        names=printing.CHECKED,
        rows=printing.check_cells(found.checks),
        notes=printing.remarks(found),
    )
    for picture in found.pictures:
        yield charts.section(picture.title, plots=[picture.draw])
    for table in found.tables:
        yield charts.section(table.title, names=table.columns, rows=printing.cells(table))
