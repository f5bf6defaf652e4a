"""A survey's replies as files for other programs: the data, and beside it what its columns mean."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import polars as pl

from naysay import files
from naysay.collect.export.columns import Columns
from naysay.collect.export.ddi import ddi, markdown
from naysay.collect.storage import Store
from naysay.collect.survey import repeated
from naysay.collect.survey.published import Published
from naysay.errors import DataError
from naysay.files.codebook import place_of
from naysay.files.kinds import PROGRAMS, library
from naysay.files.writing import whole

__all__ = ["Columns", "Exported", "export", "places"]

_SYSTEMS = ("spss", "stata")


class Exported(NamedTuple):
    """What was written: how many replies in how many columns, of the survey with which hash, and which files."""

    replies: int
    columns: int
    hash: str
    files: tuple[Path, ...]


def places(path: Path) -> tuple[Path, Path, Path, Path]:
    """The files of an export: the data, its codebook for people, for archives, and with the designs for programs.

    Examples
    --------
    >>> [place.name for place in places(Path("data.sav"))]
    ['data.sav', 'data.sav.codebook.md', 'data.sav.codebook.xml', 'data.sav.designs.json']
    """
    readable, archived = (path.with_name(f"{path.name}.codebook.{end}") for end in ("md", "xml"))
    return path, readable, archived, place_of(path)


def export(store: Store, survey: str, path: Path, *, language: str | None = None, separator: str = ",") -> Exported:
    """Write the replies to a survey to a file, and beside it what its columns mean and how private ones were drawn.

    Rows are in random order, drawn afresh each time. CSV, Parquet, JSON lines and Excel are written piece by piece.

    Parameters
    ----------
    store : Store
    survey : str
    path : Path
        Its suffix says which kind of file: .csv, .parquet, .jsonl, .sav, .zsav, .dta or .xlsx.
    language : str, optional
        Of the labels; by default the first of the questionnaire.
    separator : str
        Between the cells of a CSV file.

    Raises
    ------
    DataError
        No such survey or language, nobody has answered yet, or the files cannot be written.
    """
    system = files.kind(path, to_write=True)
    if system in PROGRAMS:
        library(path)
    published = store.published(survey)
    columns = Columns(published, language=language, system=system if system in _SYSTEMS else None)
    reply_count = 0

    def pieces() -> Iterator[pl.DataFrame]:
        nonlocal reply_count
        for replies in store.shuffled(published):
            reply_count += len(replies.rows)
            yield columns.table(replies)

    data, readable, archived, designs = places(path)
    files.write_pieces(_pieces_or_error(pieces(), survey), data, separator=separator, book=columns.book)
    with data.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    book, caution = columns.book, _caution(published)
    codebook_text = markdown(book, file=data.name, replies=reply_count, caution=caution, escaped=system == "csv")
    _write(readable, codebook_text.encode())
    _write(
        archived, ddi(book, file=data.name, replies=reply_count, digest=digest, software=f"naysay {version('naysay')}")
    )
    _write(designs, json.dumps(book.form(), ensure_ascii=False, indent=1).encode() + b"\n")
    return Exported(reply_count, len(columns.book.entries), published.hash, (data, readable, archived, designs))


def _pieces_or_error(pieces: Iterator[pl.DataFrame], survey: str) -> Iterator[pl.DataFrame]:
    """The pieces, after checking that there is one."""
    first_piece = next(pieces, None)
    if first_piece is None:
        raise DataError(f"nobody has answered {survey!r} yet; export when answers have come")
    yield first_piece
    yield from pieces


def _caution(published: Published) -> str:
    """How many may have answered more than once, and what that would move."""
    if published.key is not None:
        return f"{repeated.BY_INVITATION[:1].upper()}{repeated.BY_INVITATION[1:]}."
    moved = repeated.moved_points_text(published.questionnaire)
    effect_text = f"; 1 % of repeated or dishonest answers moves a share by {moved}" if moved else ""
    return f"{repeated.OPEN_LINK[:1].upper()}{repeated.OPEN_LINK[1:]}{effect_text}."


def _write(path: Path, content: bytes) -> None:
    try:
        with whole(path) as file:
            file.write(content)
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
