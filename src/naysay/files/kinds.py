"""What a file is, by its suffix, and what goes wrong when it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
from narwhals.exceptions import NarwhalsError

from naysay.errors import DataError

__all__ = ["kind", "no_rows", "readable"]

_WRITTEN = {".csv": "csv", ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_READ = _WRITTEN | {".sav": "spss", ".zsav": "spss", ".por": "spss", ".dta": "stata"}


def kind(path: Path, *, to_write: bool = False) -> str:
    """What the suffix says that a file is: csv, parquet or jsonl; spss or stata unless it is to be written.

    Examples
    --------
    >>> kind(Path("survey.sav"))
    'spss'

    Raises
    ------
    DataError
        Another suffix, or a file of SPSS or Stata that is to be written.
    """
    known = _WRITTEN if to_write else _READ
    suffix = path.suffix.lower()
    if suffix not in known:
        hint = "; files of SPSS and Stata are read, not written" if suffix in _READ else ""
        what = "file to write" if to_write else "file of answers"
        raise DataError(f"the name of a {what} must end in {', '.join(known)}; got {str(path)!r}{hint}")
    return known[suffix]


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
