"""Text files: CSV, where every cell is text, and JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import polars as pl

from naysay import _checks
from naysay.errors import DataError

_LONGEST_CELL = 2**31 - 1


def scan_csv(path: Path, separator: str, encoding: str) -> pl.LazyFrame:
    """A CSV file as a lazy frame of text, after checking that its rows are alike."""
    if len(separator.encode()) != 1 or separator in '"\r\n':
        raise DataError(f"the separator must be one plain character, such as ';'; got {separator!r}")
    source = _text(path, encoding)
    rows = _count_rows(path, source, separator)
    _check_header(path, source, separator)
    return pl.scan_csv(source, separator=separator, infer_schema=False, n_rows=rows, glob=False)


def _check_header(path: Path, source: Path | bytes, separator: str) -> None:
    """Raise where two columns have one name: which of them is meant, nobody could say."""
    with _opened(source) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        names = next(csv.reader(text, delimiter=separator), [])
    for place, name in enumerate(names):
        if name and name in names[:place]:
            problem = f"{str(path)!r} has the column {name!r} twice, as columns {names.index(name) + 1} and {place + 1}"
            raise DataError(f"{problem}; give one of them another name", column=name)


def scan_lines(path: Path, encoding: str) -> pl.LazyFrame:
    """A file of JSON lines as a lazy frame."""
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
    alike, last, number, line = True, 0, 0, b""
    for number, line in _lines(path, source):
        if line.strip(b"\r\n"):
            last = number
        lengths = lengths or [line.count(cut)]
        alike = alike and line.count(cut) == lengths[0] and b'"' not in line
    if number == 1 and b"\r" in line.strip():  # all of an old Macintosh's file is one line
        raise DataError(f"the lines of {str(path)!r} end in CR alone; save the file with LF or CRLF line ends")
    single = lengths == [0]
    return (number if single else last) - 1 if alike else _count_records(path, source, separator)


def _lines(path: Path, source: Path | bytes) -> Iterator[tuple[int, bytes]]:
    """The lines by their numbers, counted from 1, after checking that each is UTF-8."""
    before = 0
    with _opened(source) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{str(path)!r} is not UTF-8: byte 0x{line[error.start]:02x} at byte {before + error.start + 1}, "
                    f"line {number}; if an older program wrote it, add --encoding latin-1 (or cp1252)"
                ) from None
            before += len(line)
            yield number, line


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
    for number, line in _lines(path, source):
        try:
            good = not line.strip() or isinstance(json.loads(line), dict)
        except ValueError:
            good = False
        if not good:
            return DataError(f"{str(path)!r}, line {number}, is not a JSON object; each line must hold one")
    return DataError(f"cannot read {str(path)!r}: {str(error).splitlines()[0]}")
