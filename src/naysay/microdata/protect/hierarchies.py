"""Hierarchies: what each value of a variable becomes on coarser and coarser levels.

They are read from CSV files, or written as tables that a person edits: a sheet of a workbook for each key, or a CSV
file for each.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import JsonNode
from naysay.errors import DataError
from naysay.files.statistical import MOST_ROWS
from naysay.files.text import library
from naysay.microdata.keys.codes import check_names
from naysay.microdata.protect.method import Method, texts
from naysay.microdata.protect.recoding import Coarser, Dates, enum_of_labels, label_between


@dataclass(frozen=True)
class Hierarchy:
    """Levels of a variable, each coarser than the one before.

    Parameters
    ----------
    levels : mapping of value to (levels,) sequence of label
        For each value, written as a text, its labels from the finest level to the coarsest, where all are one.

    Raises
    ------
    DataError
        A value without one of its labels, a label with two parents, a last level of several labels.

    Examples
    --------
    >>> jobs = Hierarchy({"nurse": ["care", "any"], "doctor": ["care", "any"], "smith": ["craft", "any"]})
    >>> jobs.height
    2
    >>> jobs.at("nurse", 1)
    'care'
    """

    levels: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        labels_of_leaf = {str(leaf): tuple(map(str, labels)) for leaf, labels in self.levels.items()}
        object.__setattr__(self, "levels", labels_of_leaf)
        if not labels_of_leaf:
            raise DataError("a hierarchy needs at least one value")
        height = len(next(iter(labels_of_leaf.values())))
        if not height:
            raise DataError("a hierarchy needs a level above its values")
        for leaf, labels in labels_of_leaf.items():
            if len(labels) != height or not all(label.strip() for label in labels):
                complaint = f"{leaf!r} has {sum(bool(label.strip()) for label in labels)}"
                raise DataError(
                    f"every value of a hierarchy needs its {height} coarser labels; {complaint}", value=leaf
                )
        for level in range(height - 1):
            parent_of_label: dict[str, tuple[str, str]] = {}
            for leaf, labels in labels_of_leaf.items():
                parent, first_leaf = parent_of_label.setdefault(labels[level], (labels[level + 1], leaf))
                if parent != labels[level + 1]:
                    complaint = (
                        f"{labels[level]!r} is in {parent!r} (as of {first_leaf!r}) and in {labels[level + 1]!r}"
                    )
                    raise DataError(f"a label must have one parent; {complaint} (as of {leaf!r})", value=labels[level])
        last_labels = sorted({labels[-1] for labels in labels_of_leaf.values()})
        if len(last_labels) > 1:
            complaint = f"the last level of a hierarchy must be one label; got {_checks.listing_text(last_labels)}"
            raise DataError(f"{complaint}: add a level such as 'any'", value=last_labels[1])

    @property
    def height(self) -> int:
        """Levels above the values themselves."""
        return len(next(iter(self.levels.values())))

    def at(self, value: str, level: int) -> str:
        """The label of a value at a level; at level 0 the value."""
        return value if level == 0 else self.levels[value][level - 1]

    def check(self, values: Sequence[str], name: str) -> None:
        """Raise for the first value that the hierarchy does not hold."""
        missing_values = [value for value in values if value not in self.levels]
        blank_leaves = (leaf for leaf in self.levels if leaf != leaf.strip() and leaf.strip() in missing_values)
        blank_leaf = next(blank_leaves, None)
        if blank_leaf is not None:
            complaint = f"the hierarchy of {name!r} holds {blank_leaf!r}, and the file {blank_leaf.strip()!r}"
            raise DataError(f"{complaint}: take the blank out of the hierarchy", column=name, value=blank_leaf)
        if missing_values:
            complaint = (
                f"the hierarchy of {name!r} does not hold {_checks.listing_text(missing_values)}, which the file does"
            )
            raise DataError(f"{complaint}; add a row for each", column=name, value=missing_values[0])

    def numbers(self, values: Sequence[str]) -> NDArray[np.int64]:
        """The group of each value at each level, (height + 1, values), counted from 0."""
        level_groups = [np.arange(len(values))]
        for level in range(1, self.height + 1):
            value_labels = [self.at(value, level) for value in values]
            order = {label: number for number, label in enumerate(dict.fromkeys(value_labels))}
            level_groups.append(np.array([order[label] for label in value_labels]))
        return np.array(level_groups, np.int64)

    def shares(self, values: Sequence[str]) -> NDArray[np.float64]:
        """The share of the hierarchy's values that stand under the group of each value at each level."""
        leaves = list(self.levels)
        leaf_groups = self.numbers(leaves)
        leaf_places = {leaf: number for number, leaf in enumerate(leaves)}
        under = np.array([np.bincount(level_groups)[level_groups] / len(leaves) for level_groups in leaf_groups])
        value_shares: NDArray[np.float64] = under[:, [leaf_places[value] for value in values]]
        return value_shares

    def form(self) -> dict[str, list[str]]:
        """The levels as plain data."""
        return {leaf: list(labels) for leaf, labels in self.levels.items()}

    @classmethod
    def read(cls, path: Path, *, separator: str = ",") -> Hierarchy:
        """The hierarchy of a CSV file without a header: a row for each value, a column for each level.

        Raises
        ------
        DataError
            A file that cannot be read, rows of different length, a value twice.

        Notes
        -----
        Blanks around labels are left out. See `rows_of_csv` for what spreadsheet programs write.
        """
        csv_rows = rows_of_csv(path, separator)
        labels_of_leaf: dict[str, list[str]] = {}
        for row_number, (leaf, *label_cells) in csv_rows:
            if len(label_cells) + 1 != len(csv_rows[0][1]) or not label_cells:
                complaint = f"row {row_number} has {len(label_cells) + 1} of {max(len(csv_rows[0][1]), 2)}"
                raise DataError(
                    f"every row of the hierarchy {str(path)!r} needs its cells; {complaint}", row=row_number - 1
                )
            row_labels = [label.strip() for label in label_cells]
            if leaf in labels_of_leaf and labels_of_leaf[leaf] != row_labels:
                complaint = f"the hierarchy {str(path)!r} has {leaf!r} twice, with other labels in row {row_number}"
                raise DataError(complaint, row=row_number - 1, value=leaf)
            labels_of_leaf[leaf] = row_labels
        try:
            return cls(labels_of_leaf)
        except DataError as error:
            last = [leaf_labels[-1] for leaf_labels in labels_of_leaf.values()]
            if len(last) > 2 and last[0] != last[1] and len(set(last[1:])) == 1:
                complaint = f"the hierarchy {str(path)!r} begins with a header, {_checks.listing_text(csv_rows[0][1])}"
                raise DataError(
                    f"{complaint}: remove that row, so that each row is a value with its labels", row=0
                ) from None
            raise DataError(f"the hierarchy {str(path)!r}: {error}", value=error.value) from None


def rows_of_csv(path: Path, separator: str) -> list[tuple[int, list[str]]]:
    """The rows of a CSV file that a person edited, with their numbers from 1, without those that are empty.

    Programs of countries with a decimal comma write semicolons: they are read, too, and tabs, where commas are expected
    and semicolons or tabs give each row as many cells, and more of them.

    Raises
    ------
    DataError
        A file that cannot be read, or is not UTF-8.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            file_text = file.read()
    except UnicodeError:
        raise DataError(f"{str(path)!r} is not UTF-8: save it as 'CSV UTF-8' in the spreadsheet program") from None
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    csv_rows = _split(file_text, separator)
    if isinstance(csv_rows, csv.Error):
        raise DataError(f"cannot read {str(path)!r}: {csv_rows}")
    for mark in (";", "\t") if separator == "," else ():
        split_rows = _split(file_text, mark)
        if isinstance(split_rows, csv.Error):
            continue
        is_wider = _width(csv_rows) == 1 and min(len(row) for _, row in split_rows) > 1
        if is_wider or _width(split_rows) > max(1, _width(csv_rows)):
            csv_rows = split_rows
    return csv_rows


def _split(text: str, mark: str) -> list[tuple[int, list[str]]] | csv.Error:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
    except csv.Error as error:
        return error
    return [(number, row) for number, row in enumerate(rows, 1) if any(cell.strip() for cell in row)]


def _width(rows: Sequence[tuple[int, Sequence[str]]]) -> int:
    """The cells of each row; 0 where they are not equally many."""
    widths = {len(row) for _, row in rows}
    return widths.pop() if len(widths) == 1 else 0


def nesting(values: Sequence[float]) -> list[float]:
    """Widths of bins for whole numbers, each a multiple of the one before and narrower than the whole range.

    Examples
    --------
    >>> nesting(range(18, 96))
    [5, 10, 20, 40]
    """
    span = max(values, default=0) - min(values, default=0) + 1
    fitting_widths = [width for width in (5, 10, 20, 40, 200, 1_000, 5_000, 20_000, 100_000) if width < span]
    return [*fitting_widths] or [max(span, 2)]


def hierarchy_of_numbers(values: Sequence[float], *, widths: Sequence[float] = ()) -> Hierarchy:
    """Bins of rising width over whole numbers, each width a multiple of the one before, and all together.

    Examples
    --------
    >>> hierarchy_of_numbers([18, 23, 41], widths=[5, 20]).levels["23"]
    ('20 to 24', '20 to 39', 'any')
    """
    whole_numbers = sorted({int(whole_number) for whole_number in values})
    widths = widths or nesting(whole_numbers)
    for narrower_width, wider_width in pairwise(widths):
        if wider_width % narrower_width:
            raise DataError(
                "bins must nest: each width a multiple of the one before; "
                f"got {narrower_width:g} and then {wider_width:g}"
            )
    labels_of_leaf = {}
    for whole_number in whole_numbers:
        lows = [int(whole_number // width * width) for width in widths]
        bins = [f"{bin_start} to {bin_start + int(width) - 1}" for bin_start, width in zip(lows, widths, strict=True)]
        labels_of_leaf[str(whole_number)] = [*bins, "any"]
    return Hierarchy(labels_of_leaf)


@dataclass(frozen=True, kw_only=True)
class Generalize(Coarser):
    """Values replaced by their labels at a level of a hierarchy.

    Parameters
    ----------
    variable : str
    level : int
        From 0, where values stay, to the height of the hierarchy, where all are one.
    hierarchy : Hierarchy, mapping or path of a CSV file

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> jobs = protect.Hierarchy({"nurse": ["care", "any"], "smith": ["craft", "any"]})
    >>> safe, log = protect.Generalize(variable="job", level=1, hierarchy=jobs).apply({"job": ["smith", None, "nurse"]})
    >>> safe["job"]
    ['craft', None, 'care']
    """

    name: ClassVar[str] = "generalize"
    level: int
    hierarchy: Any

    def __post_init__(self) -> None:
        hierarchy = self.hierarchy if isinstance(self.hierarchy, Hierarchy) else Hierarchy(self.hierarchy)
        object.__setattr__(self, "hierarchy", hierarchy)
        _checks.whole_number(self.level, 0, hierarchy.height, what=f"level of {self.variable!r}")

    def values(self, frame: pl.DataFrame) -> pl.Series:
        cells = texts(frame[self.variable])
        self.hierarchy.check(cells.drop_nulls().unique().sort().to_list(), self.variable)
        cell_labels = [None if cell is None else self.hierarchy.at(cell, self.level) for cell in cells.to_list()]
        return enum_of_labels(cell_labels, [self.hierarchy.at(leaf, self.level) for leaf in self.hierarchy.levels])

    @classmethod
    def of_form(cls, node: JsonNode, *, folder: Path | None = None) -> Method:
        """As of any method; a hierarchy may be the path of a CSV file, from the folder of the plan."""
        parameters = dict(node)
        if isinstance(parameters.get("hierarchy"), str):
            parameters["hierarchy"] = Hierarchy.read((folder or Path()) / parameters["hierarchy"])
        return super().of_form(parameters)


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
    value_numbers = value_texts.cast(pl.Float64, strict=False)
    if not value_numbers.null_count() and value_numbers.is_finite().all() and value_texts.len() >= _FEW_VALUES:
        order = np.argsort(value_numbers.to_numpy(), kind="stable")
        return _bins([value_texts[int(place)] for place in order], np.sort(value_numbers.to_numpy(), kind="stable"))
    value_days = value_texts.str.slice(0, 10).str.to_date(strict=False)
    if not value_days.null_count():
        frame = pl.DataFrame({column.name: value_days})
        levels = [Dates(variable=column.name, to=to).values(frame).to_list() for to in ("month", "quarter", "year")]
        return Hierarchy({leaf: (*labels, _TOP) for leaf, *labels in zip(value_texts.to_list(), *levels, strict=True)})
    return Hierarchy({leaf: (leaf, _TOP) for leaf in value_texts.to_list()})


def _bins(leaves: Sequence[str], numbers: np.ndarray) -> Hierarchy:
    """Bins whose widths are multiples of the narrowest: numbered as whole numbers, they nest however a number ends."""
    is_whole = bool((numbers == np.floor(numbers)).all())
    if is_whole:
        number_unit, bin_widths = 1.0, [int(bin_width) for bin_width in nesting(numbers.tolist())]
    else:
        number_unit, bin_widths = float(f"{(numbers[-1] - numbers[0]) / _PARTS:.0e}"), [1, 2, 10, 20]
    unit_counts = np.floor(numbers / number_unit).astype(np.int64)
    labels_of_leaf: dict[str, list[str]] = {}
    for leaf, unit_count in zip(leaves, unit_counts.tolist(), strict=True):
        lows = [unit_count // bin_width * bin_width * number_unit for bin_width in bin_widths]
        bins = zip(lows, bin_widths, strict=True)
        labels_of_leaf[leaf] = [
            *(label_between(low, low + width * number_unit, whole=is_whole) for low, width in bins),
            _TOP,
        ]
    return Hierarchy(labels_of_leaf)


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
    hierarchies = {key_name: hierarchy_of_values(frame[key_name]) for key_name in keys}
    sheets: dict[str, list[list[str | int]]] = {}
    for key_name, hierarchy in hierarchies.items():
        if len(hierarchy.levels) >= MOST_ROWS:
            complaint = f"{key_name!r} has {len(hierarchy.levels):,} values, and a sheet {MOST_ROWS:,} rows"
            raise DataError(f"{complaint}; round it first, or put it in bins (--bins)", column=key_name)
        cells = frame[key_name].explode() if frame[key_name].dtype.is_nested() else frame[key_name]
        value_counts = Counter(texts(cells).drop_nulls().to_list())
        head_row: list[str | int] = [key_name, _COUNT, *(f"level {level}" for level in range(1, hierarchy.height + 1))]
        body: list[list[str | int]] = [[leaf, value_counts[leaf], *labels] for leaf, labels in hierarchy.levels.items()]
        # a name that sheets and files can have; the key itself stands in the sheet
        plain_title = re.sub(r"[\[\]:*?/\\<>|\"\x00-\x1f]", "_", key_name).strip(" '.")[: _LONGEST_TITLE - 4] or "key"
        titles = chain([plain_title], (f"{plain_title} {number}" for number in count(2)))
        used_titles = {title.lower() for title in sheets}
        sheets[next(title for title in titles if title.lower() not in used_titles)] = [head_row, *body]
    try:
        if path.suffix.lower() == ".xlsx":
            _write_workbook(path, sheets)
        else:
            path.mkdir(exist_ok=True)
            for sheet_title, sheet_rows in sheets.items():
                with (path / f"{sheet_title}.csv").open("w", encoding="utf-8", newline="") as file:
                    csv.writer(file).writerows(sheet_rows)
    except OSError as error:
        raise DataError(f"cannot write to {str(path)!r}: {error.strerror or error}") from None
    return hierarchies


def _write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[str | int]]]) -> None:
    """All texts as texts: a spreadsheet takes no value for a formula, and no label such as 1-5 for a day."""
    openpyxl = library(path)
    workbook = openpyxl.Workbook(write_only=True)
    try:
        for sheet_title, sheet_rows in sheets.items():
            sheet = workbook.create_sheet(sheet_title)
            sheet.freeze_panes = "C2"
            for column_number in range(1, len(sheet_rows[0]) + 1):
                letter = openpyxl.utils.get_column_letter(column_number)
                sheet.column_dimensions[letter].width = 8 if column_number == 2 else 20
            for row in sheet_rows:
                cells = [openpyxl.cell.WriteOnlyCell(sheet, value=value) for value in row]
                for cell in cells:
                    if isinstance(cell.value, str):
                        cell.data_type, cell.number_format, cell.quotePrefix = "s", "@", True
                sheet.append(cells)
    except openpyxl.utils.exceptions.IllegalCharacterError:
        complaint = f"sheet {sheet_title!r}: a value holds control characters, which Excel refuses"
        raise DataError(f"{complaint}; write CSV files into a folder instead") from None
    workbook.save(path)


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
    for sheet_words, sheet_rows in _tables(path, separator):
        if sheet_rows:
            key_name, hierarchy = _hierarchy(sheet_words, sheet_rows)
            if key_name in hierarchies:
                raise DataError(
                    f"{sheet_words}: the key {key_name!r} has a sheet already; remove one of them", column=key_name
                )
            hierarchies[key_name] = hierarchy
    if not hierarchies:
        raise DataError(f"{str(path)!r} holds no hierarchy; write one with --write-hierarchies")
    return hierarchies


def _tables(path: Path, separator: str) -> Iterable[tuple[str, list[tuple[int, list[object]]]]]:
    """The name of each sheet or file, and its rows with their numbers, without those that are empty."""
    if path.is_dir():
        for file in sorted(path.glob("*.csv")):
            yield f"file {file.name!r}", [(number, list(row)) for number, row in rows_of_csv(file, separator)]
        return
    if path.suffix.lower() != ".xlsx":
        raise DataError(f"hierarchies stand in a workbook (.xlsx) or in a folder of CSV files; got {str(path)!r}")
    openpyxl = library(path)
    try:
        workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}") from None
    except Exception as error:  # a damaged workbook fails in zipfile, XML or openpyxl, each with errors of its own
        raise DataError(f"cannot read {str(path)!r}: it is damaged or no workbook of Excel ({error})") from None
    try:
        for sheet in workbook.worksheets:
            sheet.reset_dimensions()  # some programs write a range that leaves out later rows
            sheet_rows = enumerate(sheet.iter_rows(values_only=True), 1)
            filled_rows = [
                (row_number, list(row))
                for row_number, row in sheet_rows
                if any(cell is not None and str(cell).strip() for cell in row)
            ]
            yield f"sheet {sheet.title!r}", filled_rows
    finally:
        workbook.close()


def _hierarchy(where: str, rows: Sequence[tuple[int, list[object]]]) -> tuple[str, Hierarchy]:
    """The key of a sheet and its levels."""
    head_cells = ["" if cell_content is None else str(cell_content).strip() for cell_content in rows[0][1]]
    while head_cells and not head_cells[-1]:
        head_cells.pop()
    first_level = 2 if head_cells[1:2] == [_COUNT] else 1
    if not head_cells or not head_cells[0] or len(head_cells) <= first_level or not all(head_cells):
        complaint = f"the first row must name the key, {_COUNT!r} and each level; got {head_cells}"
        raise DataError(f"{where}: {complaint}", row=0)
    level_names = head_cells[first_level:]
    row_of_leaf: dict[str, tuple[int, list[str]]] = {}
    for row_number, row_cells in rows[1:]:
        texts_of_row = [
            _cell(
                cell_content,
                f"{where}, row {row_number}, "
                f"column {(head_cells[cell_place] if cell_place < len(head_cells) else '')!r}",
            )
            for cell_place, cell_content in enumerate(row_cells)
            if cell_place == 0 or cell_place >= first_level
        ]
        leaf, *leaf_labels = texts_of_row
        leaf_labels = [label.strip() for label in leaf_labels]
        surplus_label = next((label for label in leaf_labels[len(level_names) :] if label), None)
        if surplus_label is not None:
            raise DataError(
                f"{where}, row {row_number}: {surplus_label!r} stands in a column without a name", row=row_number - 1
            )
        leaf_labels = (leaf_labels + [""] * len(level_names))[: len(level_names)]
        if "" in (leaf, *leaf_labels):
            empty_column = [head_cells[0], *level_names][[leaf, *leaf_labels].index("")]
            complaint = f"the cell is empty; every value needs a label on each of {len(level_names)} levels"
            raise DataError(
                f"{where}, row {row_number}, column {empty_column!r}: {complaint}",
                row=row_number - 1,
                column=empty_column,
            )
        if leaf in row_of_leaf:
            complaint = f"{leaf!r} stands in row {row_of_leaf[leaf][0]} already; remove one of the rows"
            raise DataError(
                f"{where}, row {row_number}, column {head_cells[0]!r}: {complaint}", row=row_number - 1, value=leaf
            )
        row_of_leaf[leaf] = (row_number, leaf_labels)
    if not row_of_leaf:
        raise DataError(f"{where}: no value stands below the first row")
    _check_nesting(where, level_names, row_of_leaf)
    return head_cells[0], Hierarchy({leaf: leaf_labels for leaf, (_, leaf_labels) in row_of_leaf.items()})


def _cell(cell: object, place: str) -> str:
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
        label_pairs = [
            (row_number, leaf_labels[level - 1], leaf_labels[level]) for row_number, leaf_labels in leaves.values()
        ]
        usual_parents: dict[str, str] = {}
        for (child_label, parent), _ in Counter(label_pair[1:] for label_pair in label_pairs).most_common():
            usual_parents.setdefault(child_label, parent)
        for row_number, child_label, parent in label_pairs:
            if parent != usual_parents[child_label]:
                usual_row = next(
                    row for row, *label_pair in label_pairs if label_pair == [child_label, usual_parents[child_label]]
                )
                complaint = (
                    f"{parent!r}, but in row {usual_row} {child_label!r} ({levels[level - 1]}) "
                    f"is in {usual_parents[child_label]!r}; "
                    "a label belongs to one label of the next level: change one of the two"
                )
                cell_place = f"{where}, row {row_number}, column {levels[level]!r}"
                raise DataError(f"{cell_place}: {complaint}", row=row_number - 1, column=levels[level], value=parent)
    top_labels = [(row_number, leaf_labels[-1]) for row_number, leaf_labels in leaves.values()]
    usual_top = Counter(top_label for _, top_label in top_labels).most_common(1)[0][0]
    for row_number, top_label in top_labels:
        if top_label != usual_top:
            complaint = f"{top_label!r}, but other rows have {usual_top!r}; the last level must be one label"
            cell_place = f"{where}, row {row_number}, column {levels[-1]!r}"
            raise DataError(
                f"{cell_place}: {complaint}: add a level such as {_TOP!r}", row=row_number - 1, column=levels[-1]
            )
