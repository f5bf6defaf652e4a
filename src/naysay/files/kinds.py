"""What a file is, by its suffix, and what goes wrong when it is opened."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from narwhals.exceptions import NarwhalsError

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
