"""A frame written to a file, whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

import polars as pl
from polars.io.plugins import register_io_source

from naysay.errors import DataError
from naysay.files.codebook import Codebook
from naysay.files.escapes import escaped
from naysay.files.kinds import kind
from naysay.files.statistical import write_statistical
from naysay.files.workbook import write_workbook

_WITH_LISTS = ("parquet", "jsonl")


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write, which takes its place only when all of it is written, and which leaves nothing otherwise."""
    # beside its place, for only within one file system does a move replace a file at once
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write(frame: pl.DataFrame, path: Path, *, separator: str = ",") -> None:
    """Write a frame as the suffix says, whole or not at all.

    A file of SPSS or Stata gets names that the program takes; labels say what they were.

    Raises
    ------
    DataError
        What the file cannot hold, or the disk.
    """
    if kind(path, to_write=True) == "csv":
        frame = frame.with_columns(_whole(frame))
    write_pieces([frame], path, separator=separator)


def write_pieces(
    pieces: Iterable[pl.DataFrame], path: Path, *, separator: str = ",", book: Codebook | None = None
) -> None:
    """Write pieces of a frame, one after the other, with what its columns mean.

    CSV, Parquet, JSON lines and Excel are written piece by piece; files of SPSS and Stata take all at once.

    Parameters
    ----------
    pieces : iterable of DataFrame
        One at least, all with the same columns.
    path : Path
    separator : str
        Between the cells of a CSV file.
    book : Codebook, optional
        Labels for files that hold them; of a CSV file which columns are people's own words, so that none is a formula.
    """
    system = kind(path, to_write=True)
    checked = pieces if system in _WITH_LISTS else (_without_lists(piece, path) for piece in pieces)
    try:
        with whole(path) as file:
            _write_pieces(checked, file, path=path, system=system, separator=separator, book=book)
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    except pl.exceptions.PolarsError as error:
        raise DataError(f"cannot write {str(path)!r}: {str(error).splitlines()[0]}") from None


def _write_pieces(pieces: Iterable[pl.DataFrame], file: IO[bytes], *, path: Path, system: str, **settings: Any) -> None:
    book: Codebook | None = settings["book"]
    if system == "csv":
        texts = [entry.column for entry in book.entries if entry.holds == "texts"] if book is not None else []
        for place, piece in enumerate(pieces):
            safe = piece.with_columns(escaped(name) for name in texts)
            safe.write_csv(file, separator=settings["separator"], include_header=place == 0)
    elif system == "jsonl":
        for piece in pieces:
            piece.write_ndjson(file)
    elif system == "parquet":
        _write_parquet(pieces, file, book)
    elif system == "xlsx":
        write_workbook(pieces, file, path=path, book=book)
    else:
        write_statistical(pl.concat(pieces), file.name, path=path, system=system, book=book)


def _write_parquet(pieces: Iterable[pl.DataFrame], file: IO[bytes], book: Codebook | None) -> None:
    """Parquet, of which polars holds no more than a few pieces at a time."""
    later_pieces = iter(pieces)
    first = next(later_pieces)
    metadata = {} if book is None else {"naysay.survey": book.survey, "naysay.hash": book.hash}
    source = register_io_source(lambda *_: chain([first], later_pieces), schema=first.schema)
    source.sink_parquet(file, metadata=metadata, maintain_order=True)


def _without_lists(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The frame, after checking that it holds no lists, which only Parquet and JSON lines take."""
    nested = next((name for name, dtype in frame.schema.items() if dtype.is_nested()), None)
    if nested is not None:
        problem = f"cannot write {str(path)!r}: column {nested!r} holds {frame.schema[nested]}"
        raise DataError(f"{problem}; take .parquet or .jsonl, or join lists to texts", column=nested)
    return frame


def _whole(frame: pl.DataFrame) -> list[pl.Series]:
    """The columns of floats that are all whole, as integers: SPSS knows floats only, and in CSV 1.0 is not 1."""
    floats = [column for column in frame if column.dtype.is_float()]
    return [column.cast(pl.Int64) for column in floats if ((column % 1 == 0) & (column.abs() < 2**53)).all()]
