"""A frame written to a file, whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import polars as pl

from naysay.errors import DataError
from naysay.files.kinds import kind

__all__ = ["whole", "write"]


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
    """Write a frame as the suffix says, whole or not at all."""
    suffix = kind(path, to_write=True)
    try:
        with whole(path) as file:
            _written(frame, file, suffix, separator)
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    except pl.exceptions.PolarsError as error:
        raise DataError(f"cannot write {str(path)!r}: {str(error).splitlines()[0]}") from None


def _written(frame: pl.DataFrame, file: IO[bytes], suffix: str, separator: str) -> None:
    if suffix == "csv":
        frame.with_columns(_whole(frame)).write_csv(file, separator=separator)
    elif suffix == "parquet":
        frame.write_parquet(file)
    else:
        frame.write_ndjson(file)


def _whole(frame: pl.DataFrame) -> list[pl.Series]:
    """The columns of floats that are all whole, as integers: SPSS knows floats only, and in CSV 1.0 is not 1."""
    floats = [column for column in frame if column.dtype.is_float()]
    return [column.cast(pl.Int64) for column in floats if ((column % 1 == 0) & (column.abs() < 2**53)).all()]
