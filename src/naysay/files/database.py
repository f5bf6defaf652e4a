"""A table of a DuckDB database as a Parquet file, which is there for as long as the program runs.

The order of its rows is that of the table. So whoever reads it a second time reads the same rows, in pieces or whole.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from naysay import _checks
from naysay.errors import DataError
from naysay.files.kinds import library

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
    waiting = path.with_name(f"{path.name}.wal")
    if waiting.is_file() and waiting.stat().st_size:
        raise DataError(
            f"{str(path)!r} has changes that are still in {waiting.name!r}: close the program that has it open, or run "
            "CHECKPOINT there"
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
    copy = Path(folder) / "table.parquet"
    place = str(copy).replace("'", "''")
    try:
        with duckdb.connect(str(absolute), read_only=True) as database:
            source = _quoted_table(database, path, table)
            columns = database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
            cells = ", ".join(_cell(str(name), str(kind)) for name, kind, *_ in columns)
            database.execute("SET preserve_insertion_order = true")
            database.execute(f"COPY (SELECT {cells} FROM {source}) TO '{place}' (FORMAT parquet)")
    except duckdb.Error as error:
        raise DataError(f"cannot read {str(path)!r}: {str(error).splitlines()[0]}") from None
    return copy


def _quoted_table(database: Any, path: Path, table: str | None) -> str:
    """The table, quoted."""
    rows = database.execute(
        "SELECT schema_name, table_name, 'table' FROM duckdb_tables() WHERE NOT internal AND NOT temporary UNION ALL "
        "SELECT schema_name, view_name, 'view' FROM duckdb_views() WHERE NOT internal AND NOT temporary ORDER BY ALL"
    ).fetchall()
    tables = [(schema, name) for schema, name, kind in rows if kind == "table"]
    table_names = [name if schema == "main" else f"{schema}.{name}" for schema, name in tables]
    if not tables:
        raise DataError(f"{str(path)!r} holds no table")
    if table is None and len(tables) > 1:
        copy = f"COPY {'.'.join(map(_quoted, tables[0]))} TO '{tables[0][1]}.parquet'"
        raise DataError(
            f"{str(path)!r} holds several tables, {_checks.listing_text(table_names)}: say which one with --table, or "
            f"where a command has no such option, write it to a file: {copy}"
        )
    if table is not None and table in [name for schema, name, kind in rows if kind == "view"]:
        raise DataError(f"{table!r} is a view, whose rows have no fixed order; make a table of it: CREATE TABLE … AS")
    matching_tables = [
        schema_and_name
        for schema_and_name, name in zip(tables, table_names, strict=True)
        if table in (None, name, ".".join(schema_and_name))
    ]
    if not matching_tables:
        raise DataError(f"{str(path)!r} has no table {table!r}; {_checks.nearest(table, table_names)}")
    return ".".join(map(_quoted, matching_tables[0]))


def _cell(name: str, kind: str) -> str:
    cast = "VARCHAR" if kind in _AS_TEXT else "BIGINT" if kind in _WIDE else ""
    return f"CAST({_quoted(name)} AS {cast}) AS {_quoted(name)}" if cast else _quoted(name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
