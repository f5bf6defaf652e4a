"""Workbooks of Excel: the first sheet is the table, a row a respondent."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, TYPE_CHECKING
from zipfile import BadZipFile

import polars as pl

from naysay.errors import DataError
from naysay.files.codebook import Codebook
from naysay.files.kinds import library

if TYPE_CHECKING:
    from openpyxl.worksheet._write_only import WriteOnlyWorksheet

MOST_ROWS = 1_048_576
_VARIABLES = "variables"  # the sheet with what columns mean


def scan_workbook(path: Path) -> pl.LazyFrame:
    """The first sheet, its cells as text as in a CSV file: 1.0 as ``1``, a day as ``2026-11-20``."""
    openpyxl = library(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (BadZipFile, KeyError, ValueError, openpyxl.utils.exceptions.InvalidFileException) as error:
        raise DataError(f"cannot read {str(path)!r}: it is damaged or no workbook of Excel ({error})") from None
    try:
        sheet_rows = (
            [_text(cell) for cell in sheet_row] for sheet_row in book.worksheets[0].iter_rows(values_only=True)
        )
        column_names = [str(name) for name in next(sheet_rows, []) if name is not None]
        filled_rows = [
            (sheet_row + [None] * len(column_names))[: len(column_names)] for sheet_row in sheet_rows
        ]  # empty cells at the end are not kept
    finally:
        book.close()
    repeated_name = next((name for name in column_names if column_names.count(name) > 1), None)
    if repeated_name is not None or not column_names:
        problem = "no names of columns" if repeated_name is None else f"two columns {repeated_name!r}"
        raise DataError(f"{str(path)!r} has {problem} in its first row")
    return pl.LazyFrame(filled_rows, schema=dict.fromkeys(column_names, pl.String), orient="row")


def labels_in(path: Path) -> dict[str, str]:
    """The labels of the columns, by name, from the sheet of variables that an export has; none without it."""
    with closing(library(path).load_workbook(path, read_only=True, data_only=True)) as book:
        if _VARIABLES not in book.sheetnames:
            return {}
        rows = list(book[_VARIABLES].iter_rows(values_only=True))  # its first row says whether the sheet is naysay's
        return {
            str(row[0]): str(row[1]) for row in rows if rows[0][:2] == ("column", "label") and all(row[:2]) and row[1:]
        }


def _text(cell: object) -> str | None:
    if cell is None or cell == "":
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, datetime.date) else str(cell)


def write_workbook(pieces: Iterable[pl.DataFrame], file: IO[bytes], *, path: Path, book: Codebook | None) -> None:
    """Write pieces of a table to a workbook, row by row, with the codebook on two further sheets.

    A text is written as a text, whatever it begins with: Excel takes no cell for a formula, not even when it is edited.
    """
    openpyxl = library(path)
    workbook = openpyxl.Workbook(write_only=True)
    data_sheet, row_count = workbook.create_sheet("data"), 0
    with closing(data_sheet):
        for piece in pieces:
            _check_letters(piece, path)
            if not row_count:
                data_sheet.append([_safe(data_sheet, column_name) for column_name in piece.columns])
            row_count += piece.height
            if row_count >= MOST_ROWS:
                raise DataError(f"{path.name!r}: Excel takes {MOST_ROWS - 1:,} rows; write .parquet or .csv instead")
            for table_row in piece.iter_rows():
                data_sheet.append([_safe(data_sheet, cell) for cell in table_row])
    for sheet_title, sheet_rows in _sheets(book):
        codebook_sheet = workbook.create_sheet(sheet_title)
        for sheet_row in sheet_rows:
            codebook_sheet.append([_safe(codebook_sheet, cell) for cell in sheet_row])
    workbook.save(file)


def _check_letters(piece: pl.DataFrame, path: Path) -> None:
    """Raise for control characters, of which Excel takes the tab and new lines only."""
    for column in piece.select(pl.col(pl.String)):
        if column.str.contains(r"[\x00-\x08\x0b\x0c\x0e-\x1f]").any():
            problem = (
                f"cannot write {str(path)!r}: column {column.name!r} holds control characters, which Excel refuses"
            )
            raise DataError(f"{problem}; write .csv or .parquet instead", column=column.name)


def _safe(sheet: WriteOnlyWorksheet, cell: object) -> object:
    """A cell that is a text even where it looks like a formula."""
    if not isinstance(cell, str) or cell[:1] not in _FORMULA:
        return cell
    from openpyxl.cell import WriteOnlyCell

    text_cell = WriteOnlyCell(sheet, value=cell)
    text_cell.data_type, text_cell.quotePrefix = "s", True
    return text_cell


_FORMULA = tuple("=+-@\t\r＝＋－＠")


def _sheets(book: Codebook | None) -> Iterator[tuple[str, Sequence[Sequence[object]]]]:
    """What the columns and their values mean, a sheet each."""
    if book is None:
        return
    column_titles = ["column", "label", "meaning", "holds", "measure", "after randomization", "level"]
    entry_rows = [
        [
            entry.column,
            entry.label,
            entry.meaning,
            entry.holds,
            entry.measure,
            "yes" if entry.asked else "",
            entry.asked and entry.asked.level,
        ]
        for entry in book.entries
    ]
    yield (
        _VARIABLES,
        [column_titles, *entry_rows, [], ["survey", book.survey], ["hash", book.hash], ["language", book.language]],
    )
    value_rows = [
        [entry.column, value.name, value.label, value.meaning] for entry in book.entries for value in entry.values
    ]
    yield "values", [["column", "value", "label", "meaning"], *value_rows]
