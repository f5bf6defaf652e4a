"""A file of answers as a lazy frame."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import polars as pl

from naysay.errors import DataError
from naysay.files import statistical, text
from naysay.files.codebook import codebook_of
from naysay.files.database import scan_table
from naysay.files.kinds import kind, no_rows, readable
from naysay.files.meanings import explained, is_randomized
from naysay.files.workbook import labels_in, scan_workbook


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
    listed = [entry.column for entry in book.entries if entry.listed or entry.holds == "numbers"]
    bare = True if codes is True else [*(codes or ()), *listed]
    frame = _scan_plain(path, separator=separator, encoding=encoding, codes=bare, table=table)
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
    texts = {name: [None if cell is None else str(cell) for cell in column] for name, column in cells_of.items()}
    return pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String))


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
        labels = {entry.column: explained(entry).label for entry in book.entries if entry.asked is not None}
    elif kind(path) == "xlsx":
        labels = labels_in(path)
    else:
        labels = variable_labels(path, encoding=encoding)
    return tuple(name for name, label in labels.items() if is_randomized(label))
