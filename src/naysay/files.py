"""Files of answers: CSV, Parquet and JSON lines, by suffix.

Files are scanned, not loaded: what a tally needs is grouped while the file is read. In a CSV file every cell is text,
so that labels such as ``1`` and ``007`` stay as they are written; an empty cell is missing.
"""

from __future__ import annotations

import csv
import io
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl

from naysay import _checks
from naysay.errors import DataError

__all__ = ["as_booleans", "as_numbers", "as_text", "check_columns", "kind", "readable", "scan", "write"]

_KINDS = {".csv": "csv", ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_LONGEST_CELL = 2**31 - 1
_TRUE, _FALSE = ("1", "true", "t", "yes"), ("0", "false", "f", "no")


def kind(path: Path) -> str:
    """What the suffix says that a file is: csv, parquet or jsonl."""
    found = _KINDS.get(path.suffix.lower())
    if found is None:
        raise DataError(f"the name of a file of answers must end in {', '.join(_KINDS)}; got {str(path)!r}")
    return found


def scan(path: Path, *, separator: str = ",", encoding: str = "utf-8") -> pl.LazyFrame:
    """The file as a lazy frame, after checking that it can be read.

    Parameters
    ----------
    path : Path
        A file whose name ends in .csv, .parquet, .jsonl or .ndjson.
    separator : str
        Between the cells of a CSV file.
    encoding : str
        Of a text file, as Python names it; a byte order mark is fine.

    Raises
    ------
    DataError
        A file that is not there, empty, without rows, in another encoding, or with rows of different length; names
        the line.
    """
    read = {"csv": _scan_csv, "parquet": _scan_parquet, "jsonl": _scan_lines}[kind(path)]
    with readable(path):
        if not path.stat().st_size:
            raise DataError(f"{str(path)!r} is empty (0 bytes)")
        frame = read(path, separator, encoding)
        if not frame.head(1).collect().height:
            raise DataError(f"{str(path)!r} holds no rows, only the names of its columns")
    return frame


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what goes wrong while a file is read into one clear error."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    except pl.exceptions.PolarsError as error:
        raise DataError(f"cannot read {str(path)!r}: {str(error).splitlines()[0]}") from None


def _scan_parquet(path: Path, separator: str, encoding: str) -> pl.LazyFrame:
    frame = pl.scan_parquet(path, glob=False)
    frame.collect_schema()
    return frame


def _scan_csv(path: Path, separator: str, encoding: str) -> pl.LazyFrame:
    if len(separator.encode()) != 1 or separator in '"\r\n':
        raise DataError(f"the separator must be one plain character, such as ';'; got {separator!r}")
    source = _text(path, encoding)
    rows = _count_rows(path, source, separator)
    return pl.scan_csv(source, separator=separator, infer_schema=False, n_rows=rows, glob=False)


def _scan_lines(path: Path, separator: str, encoding: str) -> pl.LazyFrame:
    source = _text(path, encoding)
    if isinstance(source, Path) and any(mark in str(source) for mark in "*?["):
        source = source.read_bytes()  # or polars takes the name for a pattern
    try:
        frame = pl.scan_ndjson(source, infer_schema_length=None)
        frame.collect_schema()
    except pl.exceptions.PolarsError as error:
        raise _bad_line(path, source, error) from None
    return frame


def _text(path: Path, encoding: str) -> Path | bytes:
    """The file itself if it is UTF-8, otherwise its text in UTF-8."""
    with path.open("rb") as file:
        start = file.read(200)
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        if start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start[:4]:
            raise DataError(f"{str(path)!r} looks like UTF-16, not UTF-8; add --encoding utf-16")
        return path
    data = path.read_bytes()
    try:
        return data.decode(encoding).removeprefix("\ufeff").encode()
    except LookupError:
        raise DataError(f"no encoding is called {encoding!r}; known are utf-8, utf-16, latin-1, cp1252, …") from None
    except UnicodeError as error:
        at = getattr(error, "start", 0)
        line = data.count(b"\n", 0, at) + 1
        raise DataError(f"{str(path)!r} is not {encoding}: it cannot be read at byte {at + 1}, line {line}") from None


def _opened(source: Path | bytes) -> IO[bytes]:
    return io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def _count_rows(path: Path, source: Path | bytes, separator: str) -> int:
    """Rows below the header of a CSV file, blank lines at its end left out, after checking that all are alike."""
    cut = separator.encode()
    lengths: list[int] = []
    alike, last, number = True, 0, 0
    with _opened(source) as file:
        at = 0
        for number, line in enumerate(file, start=1):
            _check_utf8(path, line, number, at)
            at += len(line)
            if line.strip(b"\r\n"):
                last = number
            lengths = lengths or [line.count(cut)]
            alike = alike and line.count(cut) == lengths[0] and b'"' not in line
    single = lengths == [0]
    _check_line_ends(path, source, number)
    return (number if single else last) - 1 if alike else _count_records(path, source, separator)


def _check_utf8(path: Path, line: bytes, number: int, before: int) -> None:
    try:
        line.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{str(path)!r} is not UTF-8: byte 0x{line[error.start]:02x} at byte {before + error.start + 1}, "
            f"line {number}; if an older program wrote it, add --encoding latin-1 (or cp1252)",
            row=None,
        ) from None


def _check_line_ends(path: Path, source: Path | bytes, lines: int) -> None:
    if lines == 1:
        with _opened(source) as file:
            if b"\r" in file.read().strip():
                raise DataError(f"the lines of {str(path)!r} end in CR alone; save the file with LF or CRLF line ends")


def _count_records(path: Path, source: Path | bytes, separator: str) -> int:
    """The same by the rules of quoting, where a cell may hold separators and line breaks."""
    csv.field_size_limit(_LONGEST_CELL)
    with _opened(source) as file:
        reader = csv.reader(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""), delimiter=separator, strict=True)
        rows, blank, width, line = -1, 0, 0, 1
        try:
            for cells in reader:
                if not cells and width != 1:
                    blank += width > 0
                elif width == 0:
                    width, rows = len(cells), 0
                else:
                    _check_width(path, cells, width, line, blank)
                    rows += 1
                line = reader.line_num + 1
        except csv.Error as error:
            raise DataError(
                f"{str(path)!r}, line {line}: a quoted cell is not closed as it should be ({error})"
            ) from None
    return max(rows, 0)


def _check_width(path: Path, cells: Sequence[str], width: int, line: int, blank: int) -> None:
    if blank:
        raise DataError(f"{str(path)!r} has a blank line above line {line}; every row needs its {width} cells")
    if len(cells) not in (width, 0):
        raise DataError(
            f"{str(path)!r}, line {line}, has {_checks.several(len(cells), 'cell', 'cells')} where the header has "
            f"{width}; a cell that holds the separator must stand in quotes"
        )


def _bad_line(path: Path, source: Path | bytes, error: Exception) -> DataError:
    """Where a file of JSON lines goes wrong."""
    with _opened(source) as file:
        at = 0
        for number, line in enumerate(file, start=1):
            _check_utf8(path, line, number, at)
            at += len(line)
            try:
                good = not line.strip() or isinstance(json.loads(line), dict)
            except ValueError:
                good = False
            if not good:
                return DataError(f"{str(path)!r}, line {number}, is not a JSON object; each line must hold one")
    return DataError(f"cannot read {str(path)!r}: {str(error).splitlines()[0]}")


def check_columns(frame: pl.LazyFrame, names: Sequence[str]) -> None:
    """Raise unless the frame has all these columns; lists those that it has."""
    there = frame.collect_schema().names()
    for name in names:
        if name in there:
            continue
        near = _checks.nearest(name, there)
        hint = f" ({near})" if near.startswith("did you mean") else ""
        for separator, flag in ((";", "';'"), ("\t", "$'\\t'"), ("|", "'|'")):
            if len(there) == 1 and separator in there[0]:
                hint = f" (the file seems to be separated by {separator!r}: add --separator {flag})"
        raise DataError(f"there is no column {name!r}; the columns are {_checks.shown(there, 40)}{hint}", column=name)


def as_text(frame: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """The frame with these columns as text, 1.0 written as 1; lists stay."""
    schema = frame.collect_schema()
    return frame.with_columns(_texts(name, schema[name]) for name in names if not schema[name].is_nested())


def _texts(name: str, dtype: pl.DataType) -> pl.Expr:
    cell = pl.col(name)
    if not dtype.is_float():
        return cell.cast(pl.String)
    cell = cell.fill_nan(None)
    whole = (cell == cell.round()) & (cell.abs() < 2**53)
    return pl.when(whole).then(cell.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(cell.cast(pl.String))


def as_numbers(frame: pl.LazyFrame, name: str, *, what: str) -> pl.LazyFrame:
    """The frame with this column as numbers.

    Raises
    ------
    DataError
        A cell that is no number, with its row.
    """
    dtype = frame.collect_schema()[name]
    if dtype.is_numeric():
        return frame
    number = pl.col(name).cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    _check_cells(frame, name, number.is_null(), f"which is not a number; {what} must be numbers")
    return frame.with_columns(number.alias(name))


def as_booleans(frame: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """The frame with these columns as booleans, from 0 and 1, true and false, t and f, yes and no, in any case.

    Raises
    ------
    DataError
        A cell that is none of them, with its row.
    """
    frame = as_text(frame, names)
    values = dict.fromkeys(_TRUE, True) | dict.fromkeys(_FALSE, False)
    for name in names:
        cell = pl.col(name).str.to_lowercase().str.strip_chars()
        found = cell.replace_strict(values, default=None, return_dtype=pl.Boolean)
        bad = found.is_null() & cell.is_not_null() & (cell != "")
        _check_cells(frame, name, bad, "which is neither 0 nor 1, neither true nor false")
        frame = frame.with_columns(found.alias(name))
    return frame


def _check_cells(frame: pl.LazyFrame, name: str, bad: pl.Expr, problem: str) -> None:
    """Raise for the first cell of a column that is bad."""
    first = frame.select(name).with_row_index("__naysay_row").filter(bad).head(1).collect()
    if first.height:
        row, value = first.row(0)
        held = "is empty" if value is None or value == "" else f"holds {str(value)[:80]!r}"
        raise DataError(f"column {name!r}, row {row + 1}, {held}, {problem}", column=name, row=row, value=value)


def write(frame: pl.DataFrame, path: Path, *, separator: str = ",") -> None:
    """Write a frame as the suffix says, whole or not at all: beside the place first, then moved there."""
    suffix = kind(path)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as file:
            _written(frame, file, suffix, separator)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    except pl.exceptions.PolarsError as error:
        raise DataError(f"cannot write {str(path)!r}: {str(error).splitlines()[0]}") from None
    finally:
        beside.unlink(missing_ok=True)


def _written(frame: pl.DataFrame, file: Any, suffix: str, separator: str) -> None:
    if suffix == "csv":
        frame.write_csv(file, separator=separator)
    elif suffix == "parquet":
        frame.write_parquet(file)
    else:
        frame.write_ndjson(file)
