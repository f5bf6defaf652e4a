"""The sheets of an XLSForm, read with caution: a workbook is a stranger's zip file full of XML.

The columns of an XLSForm: which ones are understood, in which language, and the way out for others.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from naysay import _checks
from naysay.collect.questionnaire.offers import SENT_PLAINLY, names_privacy, reads_as_design
from naysay.collect.questionnaire.questionnaire import TEXTS
from naysay.collect.questionnaire.questions import Place, Problem, Severity
from naysay.errors import DataError, NaysayError

if TYPE_CHECKING:
    from openpyxl import Workbook


_LARGEST = 5_000_000  # bytes; a questionnaire of 200 questions in four languages takes a hundredth of it
_LARGEST_CONTENT = 16_000_000  # bytes of a workbook when unpacked
_MOST_PARTS = 500
_LONGEST_CELL = 10_000
_MOST_ROWS = 10_000
_ROWS_APART, _COLUMNS_APART = 60, 20  # empty ones, behind which pyxform reads no more
_RATIO = 200  # XML shrinks 10 to 30 times when packed; a zip bomb, thousands of times
_SUFFIXES = (".xlsx", ".csv", ".md")
_SHEETS = ("survey", "choices", "settings")
_ROW = re.compile(rb"<(?:\w+:)?row[\s>/]")
_DECLARED = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_NOTE_PARTS = re.compile(
    r"xl/(?:comments|threadedComments|drawings)[^.]*\.xml"
)  # what is pinned to cells, or above them
_OLE = b"\xd0\xcf\x11\xe0"


Merged = tuple[tuple[str, int, int], ...]
"""Ranges of merged cells, such as ``A3:A5``, with their first and last row."""


Cells = tuple[tuple[int, str], ...]
"""Texts, each with the number of its row."""


@dataclass(frozen=True)
class Sheet:
    """A sheet as texts.

    Parameters
    ----------
    columns : tuple of str
        The header.
    rows : tuple of (int, {column: text})
        The number of each row that is not empty, counted from the header as 1, and its cells that are not empty.
    merged : Merged
    unnamed : Cells
        Cells in columns without a name.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[int, Mapping[str, str]], ...] = ()
    merged: Merged = ()
    unnamed: Cells = ()


def content_of(path: Path) -> bytes:
    """The bytes of a questionnaire's file, up to the greatest size that one may have.

    Raises
    ------
    DataError
        The file is not there, cannot be read, or is too large. Reading stops at the greatest size of a questionnaire.

    Examples
    --------
    >>> content_of(Path("nowhere.json"))
    Traceback (most recent call last):
    naysay.errors.DataError: there is no file 'nowhere.json'
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    if len(content) > _LARGEST:
        raise DataError(f"a questionnaire must have at most {_LARGEST:,} bytes; {path.name!r} has more")
    return content


def read_sheets(path: str | Path) -> tuple[dict[str, Sheet], dict[str, Cells], Cells]:
    """The sheets survey, choices and settings of an XLSForm, cells of sheets by other names, and what no cell holds.

    Parameters
    ----------
    path : str or Path
        A workbook (.xlsx), or the same as .csv or .md in the ways of pyxform.

    Returns
    -------
    {name: Sheet}
        A sheet that is not there is empty.
    {name: Cells}
        The other sheets, of which nothing is asked.
    Cells
        Lines of notes, comments and text boxes; the row is that of the cell, or 0.

    Raises
    ------
    DataError
        The file cannot be read, is too large, or holds something that has no place in a questionnaire.
    NaysayError
        The extra ``collect`` is not installed.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise DataError(f"a questionnaire must be .json, .xlsx, .csv or .md; got {str(path)!r} (save it as .xlsx)")
    content = content_of(path)
    if suffix == ".xlsx":
        content = _checked_workbook(path.name, content)
    elif content.startswith((b"PK\x03\x04", _OLE)):
        raise DataError(f"{path.name!r} holds a workbook, not text; name it .xlsx")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DataError(f"{path.name!r} must be UTF-8; byte {error.start + 1} is not (save it as UTF-8)") from None
        _check_rows(path.name, text.count("\n"))
    definition = _definition(path.name, _rows_of_sheets(content) if suffix == ".csv" else content, suffix)
    cells_of_sheet = _cells(content) if suffix == ".xlsx" else _text_cells(content, suffix)
    sheets = {
        sheet_name: _sheet(path.name, definition, sheet_name, cells_of_sheet.get(sheet_name, _OtherCells()))
        for sheet_name in _SHEETS
    }
    is_only_sheet = len(cells_of_sheet) == 1  # whatever its name, it is read as the survey
    other_sheets = {
        sheet_name: other_cells.all
        for sheet_name, other_cells in cells_of_sheet.items()
        if sheet_name not in _SHEETS and not is_only_sheet
    }
    return sheets, other_sheets, _note_lines(content) if suffix == ".xlsx" else ()


def _check_rows(name: str, rows: int) -> None:
    if rows > _MOST_ROWS:
        raise DataError(f"a questionnaire must have at most {_MOST_ROWS:,} rows; {name!r} has {rows:,}")


def _checked_workbook(name: str, content: bytes) -> bytes:
    """The workbook, packed anew from checked parts, so that exactly what was checked is read.

    A workbook that must not be opened is refused before any of it is parsed.
    """
    if content.startswith(_OLE):
        raise DataError(f"{name!r} is encrypted, or of the old .xls kind; save it as .xlsx without a password")
    packed_bytes = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(packed_bytes, "w") as safe_archive:
            _check_directory(name, archive)
            for part in archive.infolist():
                if not part.filename.lower().endswith((".xml", ".rels")):
                    continue
                with archive.open(part) as file:
                    part_content = file.read(part.file_size + 1)  # a bound: the directory may lie about the size
                if b"\0" in part_content[:200] or _DECLARED.search(part_content):
                    raise DataError(
                        f"{name!r} is not opened: its part {part.filename!r} declares entities, or is not written in "
                        "UTF-8, as no spreadsheet program does; save it again"
                    )
                _check_rows(name, sum(1 for _ in _ROW.finditer(part_content)))
                safe_archive.writestr(part.filename, part_content)
    except DataError:
        raise
    except Exception as error:  # errors of decompressors, such as zlib.error and LZMAError, share no narrower class
        raise DataError(f"{name!r} is no .xlsx workbook, or a damaged one: {error} (save it again)") from None
    return packed_bytes.getvalue()


def _check_directory(name: str, archive: zipfile.ZipFile) -> None:
    archive_parts = archive.infolist()
    if len(archive_parts) > _MOST_PARTS:
        raise DataError(f"a workbook must have at most {_MOST_PARTS} parts; {name!r} has {len(archive_parts):,}")
    part_names = [part.filename for part in archive_parts]
    if len(set(part_names)) != len(part_names):
        raise DataError(f"the parts of a workbook must differ in name; those of {name!r} do not")
    for part in archive_parts:
        part_path, lowered_name = PurePosixPath(part.filename), part.filename.lower()
        if part_path.is_absolute() or ".." in part_path.parts or "\\" in part.filename or ":" in part.filename:
            raise DataError(f"{name!r} is not opened: its part {part.filename!r} points out of the workbook")
        if "vbaproject" in lowered_name or lowered_name.startswith(("xl/macrosheets", "xl/activex")):
            raise DataError(f"{name!r} holds macros; save it as .xlsx without them")
        if lowered_name.startswith("xl/externallinks"):
            raise DataError(f"{name!r} refers to other files; replace what comes from them by values")
        if part.flag_bits & 1:
            raise DataError(f"{name!r} is encrypted; save it without a password")
        if part.file_size > 100_000 and part.file_size > _RATIO * max(part.compress_size, 1):
            raise DataError(
                f"{name!r} is not opened: its part {part.filename!r} grows from {part.compress_size:,} to "
                f"{part.file_size:,} bytes (a zip bomb); write the questionnaire into a new workbook"
            )
    total_size = sum(part.file_size for part in archive_parts)
    if total_size > _LARGEST_CONTENT:
        raise DataError(
            f"a workbook must hold at most {_LARGEST_CONTENT:,} bytes unpacked; {name!r} holds {total_size:,} "
            "(copy the rows of the questionnaire into a new one)"
        )


def _definition(name: str, content: bytes, suffix: str) -> object:
    try:
        from pyxform.xls2json_backends import get_xlsform
    except ImportError:
        raise NaysayError("XLSForms are read with pyxform; install it with: pip install 'naysay[collect]'") from None
    try:
        return get_xlsform(io.BytesIO(content.removeprefix(b"\xef\xbb\xbf")), file_type=suffix)
    except Exception as error:  # on a broken workbook openpyxl raises nearly anything
        if suffix != ".xlsx":
            way_out = "name the sheets survey, choices and settings there, or save the workbook as .xlsx"
            raise DataError(f"{name!r} is no questionnaire: its first column names no sheet ({way_out})") from None
        raise DataError(f"cannot read {name!r}: {' '.join(str(error).split()) or type(error).__name__}") from None


def _note_lines(content: bytes) -> Cells:
    """The lines of a workbook's notes, comments and text boxes."""
    from openpyxl.xml.functions import fromstring

    note_lines: list[tuple[int, str]] = []
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for part_name in filter(_NOTE_PARTS.match, archive.namelist()):
            for element in fromstring(archive.read(part_name)).iter():
                if str(element.tag).rpartition("}")[2] in ("comment", "threadedComment", "p"):
                    row_match = re.search(r"\d+", element.get("ref", ""))
                    row_number = int(row_match[0]) if row_match else 0
                    stripped_lines = map(str.strip, "".join(element.itertext()).splitlines())
                    note_lines += [(row_number, line) for line in stripped_lines if line]
    return tuple(note_lines)


@dataclass(frozen=True)
class _OtherCells:
    """What pyxform does not read of a sheet: merged cells, of which only the first holds text, and nameless columns.

    ``all`` are the cells of a sheet that it does not read at all.
    """

    merged: Merged = ()
    unnamed: Cells = ()
    all: Cells = ()


def _cells(content: bytes) -> dict[str, _OtherCells]:
    """What pyxform does not read, of each sheet of a workbook."""
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(content))
    cells_of_sheet = {}
    for sheet in book.worksheets:
        merged_ranges = tuple(
            (merged_range.coord, merged_range.min_row, merged_range.max_row)
            for merged_range in sheet.merged_cells.ranges
        )
        # one cell far below makes a million rows
        sheet_rows = list(sheet.iter_rows(max_row=min(sheet.max_row, _MOST_ROWS), values_only=True))
        headers = sheet_rows[0] if sheet_rows else ()
        nameless_places = [place for place, header in enumerate(headers) if not str(header or "").strip()]
        unnamed_cells = tuple(
            (row_number, str(row[column_place]))
            for row_number, row in enumerate(sheet_rows[1:], start=2)
            for column_place in nameless_places
            if row[column_place] is not None
        )
        sheet_name = sheet.title.lower()  # as pyxform knows it
        if sheet_name in _SHEETS:
            _check_reached(sheet_name, sheet_rows)
        all_cells = () if sheet_name in _SHEETS else _numbered_cells(sheet_rows)
        cells_of_sheet[sheet_name] = _OtherCells(merged_ranges, unnamed_cells, all_cells)
    _check_computed(content, book)
    return cells_of_sheet


def _check_reached(name: str, rows: Sequence[Sequence[object]]) -> None:
    """Refuse what stands so far away that it would be lost in silence, a question or a column of designs."""
    filled_cells = [[bool(str("" if cell is None else cell).strip()) for cell in row] for row in rows]
    filled_headers = filled_cells[0] if filled_cells else []
    filled_rows = [
        any(is_filled for is_filled, has_header in zip(row, filled_headers, strict=False) if has_header)
        for row in filled_cells
    ]
    both_lines = (("row", filled_rows, _ROWS_APART), ("column", filled_headers, _COLUMNS_APART))
    for line_kind, filled_lines, widest_gap in both_lines:
        filled_places = [place for place, is_filled in enumerate(filled_lines) if is_filled]
        for last_place, place in pairwise([-1, *filled_places]):
            if place - last_place > widest_gap:
                raise DataError(
                    f"{line_kind} {place + 1} of the sheet {name!r} stands behind {place - last_place - 1} empty "
                    f"{line_kind}s, and would not be read; delete the empty {line_kind}s"
                )


def _check_computed(content: bytes, book: Workbook) -> None:
    """Refuse formulas without their value, which are read as empty cells: a design would be missing."""
    from openpyxl import load_workbook

    formula_places = [
        (sheet.title, cell.row, cell.column)
        for sheet in book.worksheets
        if sheet.title.lower() in _SHEETS
        for sheet_row in sheet.iter_rows(max_row=min(sheet.max_row, _MOST_ROWS))
        for cell in sheet_row
        if cell.data_type == "f"
    ]
    if not formula_places:
        return
    value_workbook = load_workbook(io.BytesIO(content), data_only=True)
    for title, row_number, column_number in formula_places:
        cell = value_workbook[title].cell(row_number, column_number)
        if cell.value is None:
            raise DataError(
                f"cell {cell.coordinate} of the sheet {title!r} holds a formula whose value is not in the file; open "
                "and save it in a spreadsheet program, or write the value"
            )


def _rows_of_sheets(content: bytes) -> bytes:
    """A text without the rows of other sheets, on which pyxform fails; one that names no sheet stays as it is."""
    kept_rows, sheet_name, names_sheet = io.StringIO(newline=""), "", False
    writer = csv.writer(kept_rows)
    for row in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")):
        sheet_name = (row[0].strip().lower() if row else "") or sheet_name
        if sheet_name in _SHEETS:
            writer.writerow(row)
            names_sheet = True
    return kept_rows.getvalue().encode() if names_sheet else content


def _text_cells(content: bytes, suffix: str) -> dict[str, _OtherCells]:
    """The cells of each sheet of a text: its name stands in the first column, before the first row of the sheet."""
    text = content.decode("utf-8-sig")
    table_lines = (line.strip() for line in text.splitlines() if "|" in line)  # of Markdown
    line_cells = (
        csv.reader(io.StringIO(text, newline=""))
        if suffix == ".csv"
        else ([cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")] for line in table_lines)
    )
    rows_of_sheet: dict[str, list[list[str]]] = {}
    name = ""
    for first_cell, *other_cells in filter(None, line_cells):
        sheet_name, last_sheet = first_cell.strip().lower(), name
        filled_cell = next((cell for cell in other_cells if cell.strip()), None)
        if sheet_name and sheet_name not in _SHEETS and last_sheet in _SHEETS and filled_cell is not None:
            raise DataError(
                f"the first column names sheets, each in a row of its own; {first_cell.strip()[:40]!r} stands beside "
                f"{filled_cell[:40]!r}, which would not be read"
            )
        name = sheet_name or last_sheet
        rows_of_sheet.setdefault(name, []).extend([other_cells] if any(other_cells) else [])
    cells_of_sheet = {}
    for name, sheet_rows in rows_of_sheet.items():
        header_count = len(sheet_rows[0]) if sheet_rows and name in _SHEETS else 0
        cells_beyond = _numbered_cells(row[header_count:] for row in sheet_rows) if name in _SHEETS else ()
        if name:
            cells_of_sheet[name] = _OtherCells(unnamed=cells_beyond, all=_numbered_cells(sheet_rows))
    return cells_of_sheet


def _numbered_cells(rows: Iterable[Sequence[object]]) -> Cells:
    return tuple(
        (row_number, str(cell))
        for row_number, row in enumerate(rows, start=1)
        for cell in row
        if cell is not None and str(cell).strip()
    )


def _sheet(name: str, definition: object, sheet: str, other_cells: _OtherCells) -> Sheet:
    header_rows = getattr(definition, f"{sheet}_header", None) or []
    column_names = tuple(str(column_name) for column_name in (header_rows[0] if header_rows else {}) if column_name)
    repeated_names = {column_name for column_name in column_names if column_names.count(column_name) > 1}
    if repeated_names:
        raise DataError(
            f"{name!r}: the columns of sheet {sheet!r} must differ; got {_checks.listing_text(repeated_names)} twice"
        )
    numbered_rows, unnamed_cells = [], list(other_cells.unnamed)
    for row_number, row in enumerate(getattr(definition, sheet, None) or [], start=2):
        filled_cells: dict[str, str] = {}
        for column_name, cell in row.items():
            cell_text = str(cell)
            if len(cell_text) > _LONGEST_CELL:
                raise DataError(
                    f"a cell must have at most {_LONGEST_CELL:,} characters; {name!r} has more in sheet {sheet!r}, "
                    f"row {row_number}, column {column_name!r}"
                )
            if not column_name:
                unnamed_cells.append((row_number, cell_text))
            elif cell_text.strip():
                filled_cells[str(column_name)] = cell_text.strip()
        numbered_rows += [(row_number, filled_cells)] if filled_cells else []
    return Sheet(column_names, tuple(numbered_rows), other_cells.merged, tuple(unnamed_cells))


SURVEY = (
    "type", "name", "label", "hint", "required", "relevant", "constraint", "constraint_message", "appearance",
    "parameters",
)  # fmt: skip
"""The columns of the survey sheet that every XLSForm may have, in the order in which they are written."""

_TEXTS = ("form_title", *(f"naysay_{name}" for name in TEXTS), "naysay_practice_label")
_TRANSLATED = {"label", "hint", "constraint_message", *_TEXTS}
_COLUMNS_OF_SHEET = {
    "survey": SURVEY,
    "choices": ("list_name", "name", "label"),
    "settings": ("form_id", "default_language", "version", "naysay_practice", "naysay_arms", "naysay_strata", *_TEXTS),
}
_ALIASES = {
    "relevance": "relevant", "bind::relevant": "relevant", "bind::required": "required", "caption": "label",
    "bind::constraint": "constraint", "constraint message": "constraint_message", "list name": "list_name",
    "bind::jr:constraintmsg": "constraint_message", "command": "type", "form_name": "form_title",
    "title": "form_title", "set form title": "form_title", "set form id": "form_id", "id_string": "form_id",
    "value": "name",
}  # fmt: skip
_REFUSED = {
    "calculation": "nothing is computed between questions; compute it from the collected answers",
    "choice_filter": "choices are the same for everyone; make a question for each case, with relevant",
    "repeat_count": "repeats are not asked; ask for a number, or write out the questions",
    "default": "an answer that stands there already is not the respondent's; leave it out",
    "readonly": "show a text with the type note",
    "trigger": "nothing is computed between questions; leave it out",
    "image": "a file that is fetched would tell which question is looked at; describe it in the label",
    "audio": "a file that is fetched would tell which question is looked at; write the words in the label",
    "video": "a file that is fetched would tell which question is looked at; write the words in the label",
}
NAME_FIELDS = {"name": "name", "label": "label"}
"""The columns of a choice, or of a row of a grid."""

_WAY_OUT = "call the column bind::naysay_design, or leave it out"
_NAMES = ("type", "name", "list_name", "form_id")  # whatever is wrong in them is an error already
_FOR_PROGRAMS = ("appearance", "parameters", "required")  # no respondent reads these words
_TAG, _LONGEST_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*"), 35


def translated(column: str, own: Mapping[str, bool]) -> bool:
    """Whether a column holds a text in each language; `own` are naysay's own columns, each with the same."""
    return column in _TRANSLATED or own.get(column, False)


@dataclass
class Columns:
    """The columns of one sheet, by what they mean.

    Parameters
    ----------
    sheet : str
    own : {meaning: bool}
        Naysay's own columns of the survey sheet, and whether they hold texts in each language.
    plain : {meaning: header}
    translated : {meaning: {language: header}}
    problems : list of Problem
    """

    sheet: str
    own: Mapping[str, bool]
    plain: dict[str, str] = field(default_factory=dict)
    translated: dict[str, dict[str, str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def names(self, sheet: str) -> set[str]:
        """What columns may be called in a sheet."""
        return {*_COLUMNS_OF_SHEET[sheet], *(self.own if sheet == "survey" else ())}

    def text(self, row: Mapping[str, str], meaning: str) -> str:
        """A cell's text, empty where there is none."""
        return row.get(self.plain.get(meaning, ""), "")

    def label(self, row: Mapping[str, str], meaning: str) -> dict[str, str]:
        """A text in each language in which it is there."""
        header_of_language = self.translated.get(meaning, {})
        return {language: row[header] for language, header in header_of_language.items() if header in row}

    def choices(
        self, rows: Iterable[tuple[int, Mapping[str, str]]], path: str, places: dict[str, Place]
    ) -> list[dict[str, Any]]:
        """The choices in the rows of a list; their places are recorded below a path."""
        choice_forms = []
        for choice_place, (row_number, row) in enumerate(rows):
            places.update(self.places(f"{path}[{choice_place}]", row_number, NAME_FIELDS))
            choice_forms.append({"name": self.text(row, "name"), "label": self.label(row, "label")})
        return choice_forms

    def places(self, path: str, number: int, meanings: Mapping[str, str]) -> Iterator[tuple[str, Place]]:
        """The places of the fields below a path; `meanings` names each field's column."""
        yield path, Place(self.sheet, number)
        for field_name, meaning in meanings.items():
            header_of_language = self.translated.get(meaning, {})
            for language, header in header_of_language.items():
                yield f"{path}.{field_name}.{language}", Place(self.sheet, number, header)
            if column := self.plain.get(meaning) or next(iter(header_of_language.values()), None):
                yield f"{path}.{field_name}", Place(self.sheet, number, column)


def columns_of(sheet: Sheet, name: str, *, default: str, own: Mapping[str, bool]) -> Columns:
    """The meaning of a sheet's columns; a text without a language is in the default language.

    Parameters
    ----------
    sheet : Sheet
    name : str
        survey, choices or settings.
    default : str
        The language of columns that name none, as a BCP 47 tag.
    own : {meaning: bool}
        Naysay's own columns of the survey sheet, and whether they hold texts in each language.

    Returns
    -------
    Columns
        With a problem for each column that cannot be used.
    """
    columns = Columns(name, own)
    for header in sheet.columns:
        base_name, _, language_name = (header_part.strip() for header_part in _split(header))
        meaning = _ALIASES.get(base_name.lower(), base_name.lower())
        last_part = "image" if name == "survey" and meaning == "media" else meaning.split("::")[-1]
        if last_part in _REFUSED:
            _refuse(columns, header, _REFUSED[last_part])
        elif meaning not in columns.names(name):
            _tell_unused(columns, sheet, header, base_name)
        elif translated(meaning, own):
            language_tag = tag_of(language_name) if language_name else default
            header_of_language = columns.translated.setdefault(meaning, {}) if language_tag else {}
            if language_tag is None:
                message = f"a language must be named with its tag; got {language_name!r}"
                way_out = f"write {header} (en), or what it is"
                _problem(columns, header, message, "browsers and screen readers need it", way_out)
            elif language_tag in header_of_language:
                twin_header = header_of_language[language_tag]
                _refuse(columns, header, f"column {twin_header!r} holds the same language; leave one out")
            else:
                header_of_language[language_tag] = header
            _tell_misplaced(columns, sheet, header, meaning)
        elif meaning in columns.plain:
            _refuse(columns, header, f"column {columns.plain[meaning]!r} says it already; leave one out")
        else:
            columns.plain[meaning] = header
            _tell_misplaced(columns, sheet, header, meaning)
    for row_number, cell_text in sheet.unnamed:
        if reads_as_design(cell_text):
            message = f"a column without a name is not used, and its cell {cell_text[:60]!r} reads as a design"
            _problem(columns, None, message, SENT_PLAINLY, _WAY_OUT, row=row_number)
    return columns


def _split(header: str) -> tuple[str, str, str]:
    """Base and language of a header; `bind::` before one of naysay's columns is dropped."""
    header_text = re.sub(r"^bind\s*::\s*(?=naysay_)", "", header.strip(), flags=re.IGNORECASE)
    if header_text.lower().startswith(("media::", "bind::", "control::", "body::")):
        return header_text, "", ""
    return header_text.partition("::")


def tag_of(language: str) -> str | None:
    """The BCP 47 tag of a language as XLSForm names it, such as "German (de)" or "de"; None without a tag.

    Examples
    --------
    >>> tag_of("Deutsch (de)"), tag_of("pt-BR"), tag_of("Swahili")
    ('de', 'pt-BR', None)
    """
    tag_match = re.search(r"\(([^()]*)\)\s*$", language)
    tag = tag_match[1].strip() if tag_match else language.strip()
    return tag if _TAG.fullmatch(tag) and len(tag) <= _LONGEST_TAG else None


def _tell_unused(columns: Columns, sheet: Sheet, header: str, base: str) -> None:
    """A column that is not understood: a warning, unless it was meant to make answers private."""
    hint = _checks.nearest(base, sorted(columns.names(columns.sheet)))
    column_cells = [(row_number, row[header]) for row_number, row in sheet.rows if header in row]
    design_cell = next((cell for cell in column_cells if reads_as_design(cell[1])), None)
    if "naysay" in header.lower():
        other_sheets = (name for name in _COLUMNS_OF_SHEET if name != columns.sheet and base in columns.names(name))
        if other_sheet := next(other_sheets, None):
            hint = f"write it into the sheet {other_sheet}"
        _problem(columns, header, f"there is no column {header!r}", SENT_PLAINLY, hint)
    elif design_cell is not None:
        message = f"column {header!r} is not used, and its cell {design_cell[1][:60]!r} reads as a design"
        _problem(columns, header, message, SENT_PLAINLY, _WAY_OUT, row=design_cell[0])
    elif column_cells and names_privacy(header):
        message = f"column {header!r} is not used, and is called as if it made answers private"
        _problem(columns, header, message, SENT_PLAINLY, _WAY_OUT, row=column_cells[0][0])
    else:
        hint = hint if hint.startswith("did") else "leave it out, or keep it for yourself"
        _problem(columns, header, f"column {header!r} is not used", "", hint, "warning")


def _tell_misplaced(columns: Columns, sheet: Sheet, header: str, meaning: str) -> None:
    """A design in a column that is used for something else, such as appearance, or a word that asks for one."""
    if meaning in columns.own or meaning in _NAMES:
        return
    for row_number, row in sheet.rows:
        cell = row.get(header, "")
        if reads_as_design(cell, alone=meaning in _FOR_PROGRAMS) or (meaning == "appearance" and names_privacy(cell)):
            message = f"column {header!r} holds no designs; got {cell[:60]!r}"
            way_out = "write it into the column bind::naysay_design"
            _problem(columns, header, message, SENT_PLAINLY, way_out, row=row_number)


def _refuse(columns: Columns, header: str, way_out: str) -> None:
    _problem(columns, header, f"column {header!r} cannot be used", "", way_out)


def _problem(
    columns: Columns,
    header: str | None,
    message: str,
    reason: str,
    way_out: str,
    severity: Severity = "error",
    *,
    row: int = 1,
) -> None:
    cell_place = Place(columns.sheet, row, header)
    columns.problems.append(Problem("columns", message, reason, way_out, severity, place=cell_place))
