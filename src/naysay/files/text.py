"""What a file is, by its suffix; and text files, CSV or JSON lines, read after their rows are checked."""

from __future__ import annotations

import codecs
import csv
import hashlib
import importlib
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl
from narwhals.exceptions import NarwhalsError

from naysay import _checks
from naysay.errors import DataError

_WRITABLE_KINDS = {
    **{".csv": "csv", ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"},
    **{".sav": "spss", ".zsav": "spss", ".dta": "stata", ".xlsx": "xlsx"},
}
_READABLE_KINDS = _WRITABLE_KINDS | {".por": "spss", ".duckdb": "duckdb"}

PROGRAMS = {"spss": "SPSS", "stata": "Stata", "xlsx": "Excel", "duckdb": "DuckDB"}
"""The kinds of files that take a library to read and write, and the programs that they come from."""

_LIBRARIES = {"spss": "pyreadstat", "stata": "pyreadstat", "xlsx": "openpyxl", "duckdb": "duckdb"}


def kind(path: Path, *, to_write: bool = False) -> str:
    """What the suffix says that a file is: csv, parquet, jsonl, spss, stata, xlsx or duckdb.

    Examples
    --------
    >>> kind(Path("survey.sav"))
    'spss'

    Raises
    ------
    DataError
        Another suffix; a portable file of SPSS, or a database of DuckDB, that is to be written.
    """
    kind_of_suffix = _WRITABLE_KINDS if to_write else _READABLE_KINDS
    suffix = path.suffix.lower()
    if suffix not in kind_of_suffix:
        hints = {
            ".por": "; portable files of SPSS are read, not written: take .sav",
            ".duckdb": "; databases of DuckDB are read, not written: take .parquet",
        }
        hint = hints.get(suffix, "")
        file_title = "file to write" if to_write else "file of answers"
        raise DataError(f"the name of a {file_title} must end in {', '.join(kind_of_suffix)}; got {str(path)!r}{hint}")
    return kind_of_suffix[suffix]


def library(path: Path) -> Any:
    """The library that reads a file of SPSS, Stata, Excel or DuckDB.

    Raises
    ------
    DataError
        It is not installed.
    """
    file_kind = kind(path)
    try:
        return importlib.import_module(_LIBRARIES[file_kind])
    except ModuleNotFoundError as error:
        extra_name = "duckdb" if file_kind == "duckdb" else "files"
        raise DataError(
            f"{str(path)!r} is a file of {PROGRAMS[file_kind]}, and {error.name}, which reads and writes it, is not "
            f'installed; get it with: pip install "naysay[{extra_name}]"'
        ) from None


def hash_of(path: Path) -> str:
    """SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def no_rows(path: Path) -> DataError:
    """The error of a file that has columns at most."""
    return DataError(f"{str(path)!r} holds no rows, only the names of its columns")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what goes wrong while a file is read into one clear error."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    except (pl.exceptions.PolarsError, NarwhalsError) as error:
        raise DataError(f"cannot read {str(path)!r}: {str(error).splitlines()[0]}") from None


_LONGEST_CELL = 2**31 - 1


def scan_csv(path: Path, separator: str, encoding: str) -> pl.LazyFrame:
    """A CSV file as a lazy frame of text, after checking that its rows are alike."""
    if len(separator.encode()) != 1 or separator in '"\r\n':
        raise DataError(f"the separator must be one plain character, such as ';'; got {separator!r}")
    source = _text(path, encoding)
    row_count = _count_rows(path, source, separator)
    with _opened(source) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text_file:
        column_names = next(csv.reader(text_file, delimiter=separator), [])
    for column_number, column_name in enumerate(column_names):
        if column_name and column_name in column_names[:column_number]:  # which of both is meant, nobody could say
            problem = (
                f"{str(path)!r} has the column {column_name!r} twice, as columns "
                f"{column_names.index(column_name) + 1} and {column_number + 1}"
            )
            raise DataError(f"{problem}; give one of them another name", column=column_name)
    return pl.scan_csv(source, separator=separator, infer_schema=False, n_rows=row_count, glob=False)


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
        first_bytes = file.read(200)
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        if first_bytes[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in first_bytes[:4]:
            raise DataError(f"{str(path)!r} looks like UTF-16, not UTF-8; add --encoding utf-16")
        return path
    file_bytes = path.read_bytes()
    try:
        return file_bytes.decode(encoding).removeprefix("\ufeff").encode()
    except LookupError:
        raise DataError(f"no encoding is called {encoding!r}; known are utf-8, utf-16, latin-1, cp1252, …") from None
    except UnicodeError as error:
        fault_byte = getattr(error, "start", 0)
        fault_line = file_bytes.count(b"\n", 0, fault_byte) + 1
        raise DataError(
            f"{str(path)!r} is not {encoding}: it cannot be read at byte {fault_byte + 1}, line {fault_line}"
        ) from None


def _opened(source: Path | bytes) -> IO[bytes]:
    return io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def _count_rows(path: Path, source: Path | bytes, separator: str) -> int:
    """Rows below the header of a CSV file, blank lines at its end left out, after checking that all are alike."""
    separator_bytes = separator.encode()
    separator_counts: list[int] = []
    are_alike, last_filled, line_number, line, header = True, 0, 0, b"", b""
    for line_number, line in _lines(path, source):
        if line.strip(b"\r\n"):
            last_filled = line_number
        header = header or line.removeprefix(codecs.BOM_UTF8).rstrip(b"\r\n")
        if line_number > 1 and separator_bytes in header and line.rstrip(b"\r\n") == header:
            raise _header_again(path, line_number)
        separator_counts = separator_counts or [line.count(separator_bytes)]
        are_alike = are_alike and line.count(separator_bytes) == separator_counts[0] and b'"' not in line
    if line_number == 1 and b"\r" in line.strip():  # all of an old Macintosh's file is one line
        raise DataError(f"the lines of {str(path)!r} end in CR alone; save the file with LF or CRLF line ends")
    has_one_column = separator_counts == [0]
    return (
        (line_number if has_one_column else last_filled) - 1 if are_alike else _count_records(path, source, separator)
    )


def _lines(path: Path, source: Path | bytes) -> Iterator[tuple[int, bytes]]:
    """The lines by their numbers, counted from 1, after checking that each is UTF-8."""
    bytes_before = 0
    with _opened(source) as file:
        for line_number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{str(path)!r} is not UTF-8: byte 0x{line[error.start]:02x} at byte "
                    f"{bytes_before + error.start + 1}, line {line_number}; "
                    "if an older program wrote it, add --encoding latin-1 (or cp1252)"
                ) from None
            bytes_before += len(line)
            yield line_number, line


def _count_records(path: Path, source: Path | bytes, separator: str) -> int:
    """The same by the rules of quoting, where a cell may hold separators and line breaks."""
    csv.field_size_limit(_LONGEST_CELL)
    with _opened(source) as file:
        reader = csv.reader(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""), delimiter=separator, strict=True)
        row_count, blank_lines, header_width, line_number = -1, 0, 0, 1
        header_cells: list[str] = []
        try:
            for cells in reader:
                if not cells and header_width != 1:
                    blank_lines += header_width > 0
                elif header_width == 0:
                    header_cells, header_width, row_count = cells, len(cells), 0
                else:
                    if blank_lines:
                        raise DataError(
                            f"{str(path)!r} has a blank line above line {line_number}; every row needs its "
                            f"{header_width} cells"
                        )
                    if len(cells) not in (header_width, 0):
                        raise DataError(
                            f"{str(path)!r}, line {line_number}, has {_checks.several(len(cells), 'cell', 'cells')} "
                            f"where the header has {header_width}; a cell that holds the separator must stand in quotes"
                        )
                    if cells == header_cells and header_width > 1:
                        raise _header_again(path, line_number)
                    row_count += 1
                line_number = reader.line_num + 1
        except csv.Error as error:
            raise DataError(
                f"{str(path)!r}, line {line_number}: a quoted cell is not closed as it should be ({error})"
            ) from None
    return max(row_count, 0)


def _header_again(path: Path, line_number: int) -> DataError:
    return DataError(
        f"{str(path)!r}, line {line_number}, repeats the header, as where files were joined; delete that line (if the "
        "file has no header, write one above its rows)"
    )


def _bad_line(path: Path, source: Path | bytes, error: Exception) -> DataError:
    """Where a file of JSON lines goes wrong."""
    for line_number, line in _lines(path, source):
        try:
            is_good = not line.strip() or isinstance(json.loads(line), dict)
        except ValueError:
            is_good = False
        if not is_good:
            return DataError(f"{str(path)!r}, line {line_number}, is not a JSON object; each line must hold one")
    return DataError(f"cannot read {str(path)!r}: {str(error).splitlines()[0]}")


# A formula may also begin in the middle of a text: a spreadsheet that separates cells by semicolons or tabs splits a
# file of commas there, and takes a new line for a new row. Spaces before it are skipped, full-width signs taken too.
_AT = r"(^|[;,|\t\n\r])"
_FORMULA = r"('*[^\S\t\n\r]*[=+\-@＝＋－＠])"


def escaped(name: str) -> pl.Expr:
    """A column of texts with an apostrophe before each formula, and before what looks escaped already.

    Examples
    --------
    >>> frame = pl.DataFrame({"said": ["=1+1", "'=1+1", "a;=1+1", "1+1", "'t was"]})
    >>> marked = frame.select(escaped("said"))
    >>> marked["said"].to_list()
    ["'=1+1", "''=1+1", "a;'=1+1", '1+1', "'t was"]
    >>> marked.select(unescaped("said")).equals(frame)
    True
    """
    return pl.col(name).str.replace_all(_AT + _FORMULA, "$1'$2")


def unescaped(name: str) -> pl.Expr:
    """The column of texts from which `escaped` was made."""
    return pl.col(name).str.replace_all(f"{_AT}'{_FORMULA}", "$1$2")


_TRUE, _FALSE = ("1", "true", "t", "yes"), ("0", "false", "f", "no")


def check_columns(frame: pl.LazyFrame, names: Sequence[str]) -> None:
    """Raise unless the frame has all these columns; lists those that it has."""
    frame_columns = frame.collect_schema().names()
    for column_name in names:
        if column_name in frame_columns:
            continue
        problem = _checks.no_column(column_name, frame_columns)
        for separator, flag in ((";", "';'"), ("\t", "$'\\t'"), ("|", "'|'")):
            if len(frame_columns) == 1 and separator in frame_columns[0]:
                problem += f" (the file seems to be separated by {separator!r}: add --separator {flag})"
        raise DataError(problem, column=column_name)


def as_text(frame: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """The frame with these columns as text, 1.0 written as 1; lists stay."""
    schema = frame.collect_schema()
    return frame.with_columns(text_of(name, schema[name]) for name in names if not schema[name].is_nested())


def together(frame: pl.LazyFrame, names: Sequence[str], name: str) -> pl.LazyFrame:
    """The frame with a column more, in which the texts of these stand side by side; empty where one is."""
    check_columns(frame, names)
    return as_text(frame, list(dict.fromkeys(names))).with_columns(pl.concat_str(names, separator="; ").alias(name))


def text_of(name: str, dtype: pl.DataType) -> pl.Expr:
    """One column as text, 1.0 written as 1."""
    cell = pl.col(name)
    if not dtype.is_float():
        return cell.cast(pl.String)
    cell = cell.fill_nan(None)
    is_whole = (cell == cell.round()) & (cell.abs() < 2**53)
    return pl.when(is_whole).then(cell.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(cell.cast(pl.String))


def as_gaps(frame: pl.LazyFrame, names: Iterable[str], missing: Sequence[str]) -> pl.LazyFrame:
    """The frame with gaps in these columns where cells, as text, mean missing; lists stay."""
    schema = frame.collect_schema()
    flat_columns = [name for name in dict.fromkeys(names) if missing and not schema[name].is_nested()]
    return frame.with_columns(
        pl.when(~text_of(name, schema[name]).is_in(list(missing))).then(name).alias(name) for name in flat_columns
    )


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
    cell_number = pl.col(name).cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    _check_cells(frame, name, cell_number.is_null(), f"which is not a number; {what} must be numbers")
    return frame.with_columns(cell_number.alias(name))


def as_measured(frame: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """The frame with those of these columns as numbers that hold nothing else (1.0 as 1), and other texts as they are.

    An empty cell is missing in both.
    """
    schema = frame.collect_schema()
    text_columns = [name for name in names if schema[name] == pl.String]
    number_cells = {name: pl.col(name).str.strip_chars().cast(pl.Float64, strict=False) for name in text_columns}
    has_cell = {name: (pl.col(name).is_not_null() & (pl.col(name) != "")) for name in text_columns}
    has_texts = frame.select(
        (has_cell[name] & number_cells[name].is_null()).any().alias(name) for name in text_columns
    ).collect()
    frame = frame.with_columns(number_cells[name].alias(name) for name in text_columns if not has_texts[name][0])
    number_columns = [name for name in text_columns if not has_texts[name][0]]
    are_whole = frame.select((pl.col(name) == pl.col(name).round()).all() for name in number_columns).collect()
    return frame.with_columns(pl.col(name).cast(pl.Int64) for name in number_columns if are_whole[name][0])


def as_booleans(frame: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """The frame with these columns as booleans, from 0 and 1, true and false, t and f, yes and no, in any case.

    Raises
    ------
    DataError
        A cell that is none of them, with its row.
    """
    frame = as_text(frame, names)
    truth_of = dict.fromkeys(_TRUE, True) | dict.fromkeys(_FALSE, False)
    for column_name in names:
        cell_text = pl.col(column_name).str.to_lowercase().str.strip_chars()
        truth_value = cell_text.replace_strict(truth_of, default=None, return_dtype=pl.Boolean)
        is_bad = truth_value.is_null() & cell_text.is_not_null() & (cell_text != "")
        _check_cells(frame, column_name, is_bad, "which is neither 0 nor 1, neither true nor false")
        frame = frame.with_columns(truth_value.alias(column_name))
    return frame


def _check_cells(frame: pl.LazyFrame, name: str, bad: pl.Expr, problem: str) -> None:
    """Raise for the first cell of a column that is bad."""
    first_bad = frame.select(name).with_row_index("__naysay_row").filter(bad).head(1).collect()
    if first_bad.height:
        row, bad_cell = first_bad.row(0)
        cell_text = "is empty" if bad_cell is None or bad_cell == "" else f"holds {str(bad_cell)[:80]!r}"
        raise DataError(f"column {name!r}, row {row + 1}, {cell_text}, {problem}", column=name, row=row, value=bad_cell)
