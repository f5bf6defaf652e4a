"""Hierarchies as tables that a person edits: a sheet of a workbook for each key, or a CSV file for each."""

from __future__ import annotations

import csv
import datetime
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from naysay.errors import DataError
from naysay.files.kinds import library
from naysay.files.workbook import MOST_ROWS
from naysay.microdata.keys.table import check_names
from naysay.microdata.protect.lattice import Hierarchy, nesting, rows_of_csv
from naysay.microdata.protect.recoding import Dates, label_between
from naysay.microdata.protect.tables import texts

_TOP = "any"
_FEW_VALUES = 8  # numbers with fewer values are words like others
_PARTS = 50  # the narrowest bins of numbers that are not whole
_LONGEST_TITLE = 31  # letters that Excel takes as the name of a sheet
_COUNT = "count"


def hierarchy_of_values(column: pl.Series) -> Hierarchy:
    """Levels to begin with: bins of rising width for numbers; months, quarters and years for days; a copy for words.

    Over all values stands ``any``. Words have one level to edit, in which each is still a group of its own.

    Examples
    --------
    >>> hierarchy_of_values(pl.Series("job", ["smith", "nurse", None])).levels["nurse"]
    ('nurse', 'any')
    >>> hierarchy_of_values(pl.Series("age", range(18, 40))).levels["23"]
    ('20 to 24', '20 to 29', '20 to 39', 'any')
    """
    flat = column.explode() if isinstance(column.dtype, pl.List | pl.Array) else column
    value_texts = texts(flat).drop_nulls().unique().sort()
    if not value_texts.len():
        raise DataError(f"column {column.name!r} holds no value, and so has no levels", column=column.name)
    number = value_texts.cast(pl.Float64, strict=False)
    if not number.null_count() and number.is_finite().all() and value_texts.len() >= _FEW_VALUES:
        order = np.argsort(number.to_numpy(), kind="stable")
        return _bins([value_texts[int(place)] for place in order], np.sort(number.to_numpy(), kind="stable"))
    days = value_texts.str.slice(0, 10).str.to_date(strict=False)
    if not days.null_count():
        frame = pl.DataFrame({column.name: days})
        levels = [Dates(variable=column.name, to=to).values(frame).to_list() for to in ("month", "quarter", "year")]
        return Hierarchy({leaf: (*labels, _TOP) for leaf, *labels in zip(value_texts.to_list(), *levels, strict=True)})
    return Hierarchy({leaf: (leaf, _TOP) for leaf in value_texts.to_list()})


def _bins(leaves: Sequence[str], numbers: np.ndarray) -> Hierarchy:
    """Bins whose widths are multiples of the narrowest: numbered as whole numbers, they nest however a number ends."""
    whole = bool((numbers == np.floor(numbers)).all())
    if whole:
        unit, widths = 1.0, [int(width) for width in nesting(numbers.tolist())]
    else:
        unit, widths = float(f"{(numbers[-1] - numbers[0]) / _PARTS:.0e}"), [1, 2, 10, 20]
    places = np.floor(numbers / unit).astype(np.int64)
    levels: dict[str, list[str]] = {}
    for leaf, place in zip(leaves, places.tolist(), strict=True):
        lows = [(place // width * width * unit, width * unit) for width in widths]
        levels[leaf] = [*(label_between(low, low + wide, whole=whole) for low, wide in lows), _TOP]
    return Hierarchy(levels)


def write_hierarchies(path: Path, frame: pl.DataFrame, keys: Sequence[str]) -> dict[str, Hierarchy]:
    """Write levels for each key: to a sheet each of a workbook (.xlsx), or to a CSV file each in a folder.

    The first row names the key, ``count``, and the levels from the finest to the coarsest. Below it stands a row for
    each value, with the rows that hold it.

    Returns
    -------
    mapping of key to Hierarchy
        What was written.

    Raises
    ------
    DataError
        A column that is not there or holds no value, more values than a sheet has rows, or a place that cannot be
        written to.
    """
    check_names(keys, frame.columns)
    hierarchies = {name: hierarchy_of_values(frame[name]) for name in keys}
    tables: dict[str, list[list[str | int]]] = {}
    for name, hierarchy in hierarchies.items():
        if len(hierarchy.levels) >= MOST_ROWS:
            complaint = f"{name!r} has {len(hierarchy.levels):,} values, and a sheet {MOST_ROWS:,} rows"
            raise DataError(f"{complaint}; round it first, or put it in bins (--bins)", column=name)
        cells = frame[name].explode() if frame[name].dtype.is_nested() else frame[name]
        counts = Counter(texts(cells).drop_nulls().to_list())
        head: list[str | int] = [name, _COUNT, *(f"level {level}" for level in range(1, hierarchy.height + 1))]
        body: list[list[str | int]] = [[leaf, counts[leaf], *labels] for leaf, labels in hierarchy.levels.items()]
        tables[name] = [head, *body]
    titles = _titles(keys)
    try:
        if path.suffix.lower() == ".xlsx":
            _write_workbook(path, {titles[name]: rows for name, rows in tables.items()})
        else:
            path.mkdir(exist_ok=True)
            for name, rows in tables.items():
                with (path / f"{titles[name]}.csv").open("w", encoding="utf-8", newline="") as file:
                    csv.writer(file).writerows(rows)
    except OSError as error:
        raise DataError(f"cannot write to {str(path)!r}: {error.strerror or error}") from None
    return hierarchies


def _titles(keys: Sequence[str]) -> dict[str, str]:
    """A name of a sheet or file for each key; the key itself stands in the sheet."""
    titles: dict[str, str] = {}
    for name in keys:
        title = first = re.sub(r"[\[\]:*?/\\<>|\"\x00-\x1f]", "_", name).strip(" '.")[: _LONGEST_TITLE - 4] or "key"
        number = 2
        while title.lower() in {other.lower() for other in titles.values()}:
            title, number = f"{first} {number}", number + 1
        titles[name] = title
    return titles


def _write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[str | int]]]) -> None:
    """All texts as texts: a spreadsheet takes no value for a formula, and no label such as 1-5 for a day."""
    openpyxl = library(path)
    book = openpyxl.Workbook(write_only=True)
    try:
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            sheet.freeze_panes = "C2"
            for place in range(1, len(rows[0]) + 1):
                letter = openpyxl.utils.get_column_letter(place)
                sheet.column_dimensions[letter].width = 8 if place == 2 else 20
            for row in rows:
                sheet.append([_text_cell(openpyxl, sheet, cell) if isinstance(cell, str) else cell for cell in row])
    except openpyxl.utils.exceptions.IllegalCharacterError:
        complaint = f"sheet {title!r}: a value holds control characters, which Excel refuses"
        raise DataError(f"{complaint}; write CSV files into a folder instead") from None
    book.save(path)


def _text_cell(openpyxl: Any, sheet: Any, text: str) -> Any:
    cell = openpyxl.cell.WriteOnlyCell(sheet, value=text)
    cell.data_type, cell.number_format, cell.quotePrefix = "s", "@", True
    return cell


def read_hierarchies(path: Path, *, separator: str = ",") -> dict[str, Hierarchy]:
    """The hierarchies that `write_hierarchies` wrote and a person changed, by key.

    A column ``count`` in second place is not read; levels may be added and taken out. Sheets without a cell are
    skipped.

    Raises
    ------
    DataError
        A cell that is empty, or that breaks the nesting, with its sheet, row and column; a value or key that stands
        twice; a file that cannot be read.
    """
    hierarchies: dict[str, Hierarchy] = {}
    for where, rows in _tables(path, separator):
        if rows:
            key, hierarchy = _hierarchy(where, rows)
            if key in hierarchies:
                raise DataError(f"{where}: the key {key!r} has a sheet already; remove one of them", column=key)
            hierarchies[key] = hierarchy
    if not hierarchies:
        raise DataError(f"{str(path)!r} holds no hierarchy; write one with --write-hierarchies")
    return hierarchies


def _tables(path: Path, separator: str) -> Iterable[tuple[str, list[tuple[int, list[Any]]]]]:
    """The name of each sheet or file, and its rows with their numbers, without those that are empty."""
    if path.is_dir():
        for file in sorted(path.glob("*.csv")):
            yield f"file {file.name!r}", [(number, list(row)) for number, row in rows_of_csv(file, separator)]
        return
    if path.suffix.lower() != ".xlsx":
        raise DataError(f"hierarchies stand in a workbook (.xlsx) or in a folder of CSV files; got {str(path)!r}")
    openpyxl = library(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}") from None
    except Exception as error:  # a damaged workbook fails in zipfile, XML or openpyxl, each with errors of its own
        raise DataError(f"cannot read {str(path)!r}: it is damaged or no workbook of Excel ({error})") from None
    try:
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # some programs write a range that leaves out later rows
            yield f"sheet {sheet.title!r}", _filled_rows(sheet.iter_rows(values_only=True))
    finally:
        book.close()


def _filled_rows(rows: Iterable[Sequence[Any]]) -> list[tuple[int, list[Any]]]:
    return [
        (number, list(row))
        for number, row in enumerate(rows, 1)
        if any(cell is not None and str(cell).strip() for cell in row)
    ]


def _hierarchy(where: str, rows: Sequence[tuple[int, list[Any]]]) -> tuple[str, Hierarchy]:
    """The key of a sheet and its levels."""
    head = ["" if cell is None else str(cell).strip() for cell in rows[0][1]]
    while head and not head[-1]:
        head.pop()
    first = 2 if head[1:2] == [_COUNT] else 1
    if not head or not head[0] or len(head) <= first or not all(head):
        complaint = f"the first row must name the key, {_COUNT!r} and each level; got {head}"
        raise DataError(f"{where}: {complaint}", row=0)
    levels = head[first:]
    leaves: dict[str, tuple[int, list[str]]] = {}
    for number, cells in rows[1:]:
        texts_of_row = [
            _cell(cell, f"{where}, row {number}, column {(head[place] if place < len(head) else '')!r}")
            for place, cell in enumerate(cells)
            if place == 0 or place >= first
        ]
        leaf, *labels = texts_of_row
        labels = [label.strip() for label in labels]
        beyond = next((label for label in labels[len(levels) :] if label), None)
        if beyond is not None:
            raise DataError(f"{where}, row {number}: {beyond!r} stands in a column without a name", row=number - 1)
        labels = (labels + [""] * len(levels))[: len(levels)]
        if "" in (leaf, *labels):
            column = [head[0], *levels][[leaf, *labels].index("")]
            complaint = f"the cell is empty; every value needs a label on each of {len(levels)} levels"
            raise DataError(f"{where}, row {number}, column {column!r}: {complaint}", row=number - 1, column=column)
        if leaf in leaves:
            complaint = f"{leaf!r} stands in row {leaves[leaf][0]} already; remove one of the rows"
            raise DataError(f"{where}, row {number}, column {head[0]!r}: {complaint}", row=number - 1, value=leaf)
        leaves[leaf] = (number, labels)
    if not leaves:
        raise DataError(f"{where}: no value stands below the first row")
    _check_nesting(where, levels, leaves)
    return head[0], Hierarchy({leaf: labels for leaf, (_, labels) in leaves.items()})


def _cell(cell: Any, place: str) -> str:
    """A cell as text: 1.0 as ``1``.

    Raises
    ------
    DataError
        A day or time, into which spreadsheet programs turn labels such as 1-5.
    """
    if isinstance(cell, datetime.date | datetime.time):
        complaint = (
            f"the spreadsheet holds a day or time here, {cell.isoformat()}, perhaps in place of a label such as 1-5"
        )
        raise DataError(f"{place}: {complaint}; format the column as text and type it again")
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)


def _check_nesting(where: str, levels: Sequence[str], leaves: Mapping[str, tuple[int, Sequence[str]]]) -> None:
    """Raise for the first cell that differs from most others of the same label one level below."""
    for level in range(1, len(levels)):
        pairs = [(number, labels[level - 1], labels[level]) for number, labels in leaves.values()]
        usual: dict[str, str] = {}
        for (label, parent), _ in Counter(pair[1:] for pair in pairs).most_common():
            usual.setdefault(label, parent)
        for number, label, parent in pairs:
            if parent != usual[label]:
                usual_row = next(row for row, *pair in pairs if pair == [label, usual[label]])
                complaint = (
                    f"{parent!r}, but in row {usual_row} {label!r} ({levels[level - 1]}) is in {usual[label]!r}; a "
                    "label belongs to one label of the next level: change one of the two"
                )
                place = f"{where}, row {number}, column {levels[level]!r}"
                raise DataError(f"{place}: {complaint}", row=number - 1, column=levels[level], value=parent)
    tops = [(number, labels[-1]) for number, labels in leaves.values()]
    top = Counter(label for _, label in tops).most_common(1)[0][0]
    for number, label in tops:
        if label != top:
            complaint = f"{label!r}, but other rows have {top!r}; the last level must be one label"
            place = f"{where}, row {number}, column {levels[-1]!r}"
            raise DataError(f"{place}: {complaint}: add a level such as {_TOP!r}", row=number - 1, column=levels[-1])
