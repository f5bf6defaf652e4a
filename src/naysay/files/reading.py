"""A file of answers as a lazy frame, whatever program it is from, and what the file calls its columns.

A table of a DuckDB database becomes a Parquet file, which is there for as long as the program runs. The order of its
rows is that of the table: whoever reads it a second time reads the same rows, in pieces or whole.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from naysay import _checks
from naysay.errors import DataError
from naysay.files import statistical, text
from naysay.files.codebook import codebook_of, explained, is_randomized
from naysay.files.statistical import labels_in, scan_workbook
from naysay.files.text import kind, library, no_rows, readable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def scan(
    path: Path,
    *,
    separator: str = ",",
    encoding: str | None = None,
    codes: bool | Collection[str] = False,
    table: str | None = None,
) -> pl.LazyFrame:
    r"""The file as a lazy frame, after checking that it can be read.

    In a file of SPSS or Stata a coded cell becomes its value label, a cell whose code has no label becomes the code
    as text (1.0 as ``1``), and user-missing values and blank texts are missing. Dates become dates; times of day,
    which may exceed a day there, stay seconds. What concerns one column only, such as two codes with the same label,
    is found when that column is read. Where the codebook of an export lies beside the file, its labels are read, and
    people's own words as they wrote them.

    Parameters
    ----------
    path : Path
        A file whose name ends in .csv, .parquet, .jsonl, .ndjson, .sav, .zsav, .por, .dta, .xlsx or .duckdb.
    separator : str
        Between the cells of a CSV file.
    encoding : str, optional
        Of a text file, as Python names it; UTF-8 by default, and a byte order mark is fine. Of a file of SPSS or
        Stata, where it does not say its encoding or says the wrong one.
    codes : bool or names of columns
        Codes instead of value labels in a file of SPSS or Stata: everywhere, or in these columns. Of the export of a
        survey, which has its codebook beside it, the names in the questionnaire instead of labels, whatever the file.
    table : str, optional
        Of a database of DuckDB; not needed where it holds one.

    Raises
    ------
    DataError
        A file that is not there, empty, without rows, damaged, in another encoding, or with rows of different length;
        names the line. SPSS and Stata: pyreadstat is not installed, or labels collide; names the column.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answers.csv"
    ...     _ = path.write_text("income\nlow\nhigh\n")
    ...     scan(path).collect()["income"].to_list()
    ['low', 'high']
    """
    book = codebook_of(path)
    if book is None:
        return _scan_plain(path, separator=separator, encoding=encoding, codes=codes, table=table)
    listed_columns = [entry.column for entry in book.entries if entry.listed or entry.holds == "numbers"]
    coded_columns = True if codes is True else [*(codes or ()), *listed_columns]
    frame = _scan_plain(path, separator=separator, encoding=encoding, codes=coded_columns, table=table)
    return book.read(frame, names=codes is True, escaped=kind(path) == "csv")


def _scan_plain(
    path: Path, *, separator: str, encoding: str | None, codes: bool | Collection[str], table: str | None = None
) -> pl.LazyFrame:
    """The file as it is, whatever lies beside it."""
    file_kind = kind(path)
    if table is not None and file_kind != "duckdb":
        raise DataError(f"--table is for databases of DuckDB; {str(path)!r} is none")
    with readable(path):
        if not path.stat().st_size:
            raise DataError(f"{str(path)!r} is empty (0 bytes)")
        if file_kind == "csv":
            frame = text.scan_csv(path, separator, encoding or "utf-8")
        elif file_kind == "jsonl":
            frame = text.scan_lines(path, encoding or "utf-8")
        elif file_kind == "parquet":
            frame = pl.scan_parquet(path, glob=False)
            frame.collect_schema()
        elif file_kind == "xlsx":
            frame = scan_workbook(path)
        elif file_kind == "duckdb":
            frame = scan_table(path, table)
        else:
            return statistical.scan_labelled(path, encoding=encoding, codes=codes)
        if not frame.head(1).collect().height:
            raise no_rows(path)
    return frame


def stored_cells(path: Path, *, separator: str = ",", encoding: str | None = None) -> pl.DataFrame:
    r"""All cells as the file holds them: codes in place of labels, and why a cell is missing where that is kept.

    Of SPSS and Stata they are texts: user-missing codes are numbers there, or letters.

    Parameters
    ----------
    path, separator, encoding
        As for `scan`.

    Raises
    ------
    DataError
        A file that cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answers.csv"
    ...     _ = path.write_text("income\n-9\n1.0\n")
    ...     stored_cells(path)["income"].to_list()
    ['-9', '1.0']
    """
    if kind(path) not in ("spss", "stata"):
        return _scan_plain(path, separator=separator, encoding=encoding, codes=False).collect()
    cells_of, _ = statistical.stored(path, encoding=encoding)
    texts_of = {
        column_name: [None if cell is None else str(cell) for cell in column_cells]
        for column_name, column_cells in cells_of.items()
    }
    return pl.DataFrame(texts_of, schema=dict.fromkeys(texts_of, pl.String))


def value_labels(path: Path, name: str, *, encoding: str | None = None) -> dict[str, str]:
    """What the codes of one column mean, by code as text; empty unless a file of SPSS or Stata says so.

    Labels of user-missing codes are left out.
    """
    return statistical.variable_labels(path, name, encoding=encoding) if kind(path) in ("spss", "stata") else {}


def variable_labels(path: Path, *, encoding: str | None = None) -> dict[str, str]:
    """What the columns of a file are called, by name: labels of SPSS and Stata, questions of a survey's export.

    Columns without a label are left out; other files have none.
    """
    book = codebook_of(path)
    if book is not None:
        return {entry.column: entry.label for entry in book.entries if entry.label.strip()}
    return statistical.titles_of(path, encoding=encoding) if kind(path) in ("spss", "stata") else {}


def randomized_columns(path: Path, *, encoding: str | None = None) -> tuple[str, ...]:
    """The columns in whose values chance had a part, as the file or the codebook beside it tells.

    The codebook holds designs; files of SPSS and Stata, and a workbook's sheet of variables, say it in labels. Other
    files without a codebook tell of none.
    """
    book = codebook_of(path)
    if book is not None:
        label_of = {entry.column: explained(entry).label for entry in book.entries if entry.asked is not None}
    elif kind(path) == "xlsx":
        label_of = labels_in(path)
    else:
        label_of = variable_labels(path, encoding=encoding)
    return tuple(column_name for column_name, label in label_of.items() if is_randomized(label))


_AS_TEXT = ("UUID", "INTERVAL", "BIT", "TIME WITH TIME ZONE")  # types that Parquet, or polars, has not
_WIDE = ("HUGEINT", "UHUGEINT")  # of sums; Parquet would round them


def scan_table(path: Path, table: str | None) -> pl.LazyFrame:
    """A table of a database, streamed to a temporary file once, as a lazy frame.

    Parameters
    ----------
    path : Path
    table : str, optional
        Its name, or ``schema.name``; not needed where the database holds one table.

    Raises
    ------
    DataError
        A table that is not there, or is not named where there are several; a view, whose rows have no order; a database
        that cannot be read, or whose last changes are not in the file.
    """
    log_path = path.with_name(f"{path.name}.wal")
    if log_path.is_file() and log_path.stat().st_size:
        raise DataError(
            f"{str(path)!r} has changes that are still in {log_path.name!r}: close the program that has it open, or "
            "run CHECKPOINT there"
        )
    file_status = path.stat()
    return pl.scan_parquet(
        _parquet_copy(path, path.resolve(), table, file_status.st_mtime_ns, file_status.st_size), glob=False
    )


@functools.cache
def _parquet_copy(path: Path, absolute: Path, table: str | None, changed: int, size: int) -> Path:
    """The copy of a table; a database that changed is copied anew."""
    duckdb = library(path)
    folder = tempfile.mkdtemp(prefix="naysay-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy_path = Path(folder) / "table.parquet"
    quoted_path = str(copy_path).replace("'", "''")
    try:
        with duckdb.connect(str(absolute), read_only=True) as database:
            source_table = _quoted_table(database, path, table)
            column_rows = database.execute(f"DESCRIBE SELECT * FROM {source_table}").fetchall()
            cells_text = ", ".join(
                _cell(str(column_name), str(column_type)) for column_name, column_type, *_ in column_rows
            )
            database.execute("SET preserve_insertion_order = true")
            database.execute(f"COPY (SELECT {cells_text} FROM {source_table}) TO '{quoted_path}' (FORMAT parquet)")
    except duckdb.Error as error:
        raise DataError(f"cannot read {str(path)!r}: {str(error).splitlines()[0]}") from None
    return copy_path


def _quoted_table(database: DuckDBPyConnection, path: Path, table: str | None) -> str:
    """The table, quoted."""
    table_rows = database.execute(
        "SELECT schema_name, table_name, 'table' FROM duckdb_tables() WHERE NOT internal AND NOT temporary UNION ALL "
        "SELECT schema_name, view_name, 'view' FROM duckdb_views() WHERE NOT internal AND NOT temporary ORDER BY ALL"
    ).fetchall()
    tables = [(schema_name, table_name) for schema_name, table_name, table_kind in table_rows if table_kind == "table"]
    table_names = [
        table_name if schema_name == "main" else f"{schema_name}.{table_name}" for schema_name, table_name in tables
    ]
    if not tables:
        raise DataError(f"{str(path)!r} holds no table")
    if table is None and len(tables) > 1:
        copy_command = f"COPY {'.'.join(map(_quoted, tables[0]))} TO '{tables[0][1]}.parquet'"
        raise DataError(
            f"{str(path)!r} holds several tables, {_checks.listing_text(table_names)}: say which one with --table, or "
            f"where a command has no such option, write it to a file: {copy_command}"
        )
    if table is not None and table in [
        table_name for schema_name, table_name, table_kind in table_rows if table_kind == "view"
    ]:
        raise DataError(f"{table!r} is a view, whose rows have no fixed order; make a table of it: CREATE TABLE … AS")
    matching_tables = [
        schema_and_name
        for schema_and_name, table_name in zip(tables, table_names, strict=True)
        if table in (None, table_name, ".".join(schema_and_name))
    ]
    if not matching_tables:
        raise DataError(f"{str(path)!r} has no table {table!r}; {_checks.nearest(table, table_names)}")
    return ".".join(map(_quoted, matching_tables[0]))


def _cell(name: str, kind: str) -> str:
    cast = "VARCHAR" if kind in _AS_TEXT else "BIGINT" if kind in _WIDE else ""
    return f"CAST({_quoted(name)} AS {cast}) AS {_quoted(name)}" if cast else _quoted(name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
