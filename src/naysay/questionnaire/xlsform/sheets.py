"""The sheets of an XLSForm, read with caution: a workbook is a stranger's zip file full of XML."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from naysay import _checks
from naysay.errors import DataError, NaysayError

if TYPE_CHECKING:
    from openpyxl import Workbook

__all__ = ["Cells", "Sheet", "content_of", "read_sheets"]

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
_BESIDE = re.compile(r"xl/(?:comments|threadedComments|drawings)[^.]*\.xml")  # what is pinned to cells, or above them
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
        _check_text(path.name, content)
    read = _definition(path.name, _known_rows(content) if suffix == ".csv" else content, suffix)
    cells = _cells(content) if suffix == ".xlsx" else _text_cells(content, suffix)
    sheets = {name: _sheet(path.name, read, name, cells.get(name, _OtherCells())) for name in _SHEETS}
    alone = len(cells) == 1  # whatever its name, it is read as the survey
    others = {name: each.all for name, each in cells.items() if name not in _SHEETS and not alone}
    return sheets, others, _beside(content) if suffix == ".xlsx" else ()


def _check_text(name: str, content: bytes) -> None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name!r} must be UTF-8; byte {error.start + 1} is not (save it as UTF-8)") from None
    _check_rows(name, text.count("\n"))


def _check_rows(name: str, rows: int) -> None:
    if rows > _MOST_ROWS:
        raise DataError(f"a questionnaire must have at most {_MOST_ROWS:,} rows; {name!r} has {rows:,}")


def _checked_workbook(name: str, content: bytes) -> bytes:
    """The workbook, packed anew from checked parts, so that exactly what was checked is read.

    A workbook that must not be opened is refused before any of it is parsed.
    """
    if content.startswith(_OLE):
        raise DataError(f"{name!r} is encrypted, or of the old .xls kind; save it as .xlsx without a password")
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(out, "w") as safe:
            _check_directory(name, archive)
            for part in archive.infolist():
                if part.filename.lower().endswith((".xml", ".rels")):
                    safe.writestr(part.filename, _checked_part(name, part, archive))
    except DataError:
        raise
    except Exception as error:  # errors of decompressors, such as zlib.error and LZMAError, share no narrower class
        raise DataError(f"{name!r} is no .xlsx workbook, or a damaged one: {error} (save it again)") from None
    return out.getvalue()


def _check_directory(name: str, archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    if len(parts) > _MOST_PARTS:
        raise DataError(f"a workbook must have at most {_MOST_PARTS} parts; {name!r} has {len(parts):,}")
    names = [part.filename for part in parts]
    if len(set(names)) != len(names):
        raise DataError(f"the parts of a workbook must differ in name; those of {name!r} do not")
    for part in parts:
        _check_name(name, part.filename)
        if part.flag_bits & 1:
            raise DataError(f"{name!r} is encrypted; save it without a password")
        if part.file_size > 100_000 and part.file_size > _RATIO * max(part.compress_size, 1):
            raise DataError(
                f"{name!r} is not opened: its part {part.filename!r} grows from {part.compress_size:,} to "
                f"{part.file_size:,} bytes (a zip bomb); write the questionnaire into a new workbook"
            )
    total = sum(part.file_size for part in parts)
    if total > _LARGEST_CONTENT:
        raise DataError(
            f"a workbook must hold at most {_LARGEST_CONTENT:,} bytes unpacked; {name!r} holds {total:,} "
            "(copy the rows of the questionnaire into a new one)"
        )


def _check_name(name: str, part: str) -> None:
    path = PurePosixPath(part)
    if path.is_absolute() or ".." in path.parts or "\\" in part or ":" in part:
        raise DataError(f"{name!r} is not opened: its part {part!r} points out of the workbook")
    lowered = part.lower()
    if "vbaproject" in lowered or lowered.startswith(("xl/macrosheets", "xl/activex")):
        raise DataError(f"{name!r} holds macros; save it as .xlsx without them")
    if lowered.startswith("xl/externallinks"):
        raise DataError(f"{name!r} refers to other files; replace what comes from them by values")


def _checked_part(name: str, info: zipfile.ZipInfo, archive: zipfile.ZipFile) -> bytes:
    part = info.filename
    with archive.open(info) as file:
        content = file.read(info.file_size + 1)  # a bound: the directory may lie about the size
    if b"\0" in content[:200] or _DECLARED.search(content):
        raise DataError(
            f"{name!r} is not opened: its part {part!r} declares entities, or is not written in UTF-8, as no "
            "spreadsheet program does; save it again"
        )
    _check_rows(name, sum(1 for _ in _ROW.finditer(content)))
    return content


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


def _beside(content: bytes) -> Cells:
    """The lines of a workbook's notes, comments and text boxes."""
    from openpyxl.xml.functions import fromstring

    lines: list[tuple[int, str]] = []
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for part in filter(_BESIDE.match, archive.namelist()):
            for element in fromstring(archive.read(part)).iter():
                if str(element.tag).rpartition("}")[2] in ("comment", "threadedComment", "p"):
                    row = re.search(r"\d+", element.get("ref", ""))
                    text = "".join(element.itertext())
                    lines += [(int(row[0]) if row else 0, line.strip()) for line in text.splitlines() if line.strip()]
    return tuple(lines)


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
    found = {}
    for sheet in book.worksheets:
        merged = tuple((each.coord, each.min_row, each.max_row) for each in sheet.merged_cells.ranges)
        rows = list(
            sheet.iter_rows(max_row=min(sheet.max_row, _MOST_ROWS), values_only=True)
        )  # one cell far below makes a million rows
        nameless = [at for at, header in enumerate(rows[0] if rows else ()) if not str(header or "").strip()]
        unnamed = tuple(
            (number, str(row[at]))
            for number, row in enumerate(rows[1:], start=2)
            for at in nameless
            if row[at] is not None
        )
        name = sheet.title.lower()  # as pyxform knows it
        if name in _SHEETS:
            _check_reached(name, rows)
        found[name] = _OtherCells(merged, unnamed, () if name in _SHEETS else _numbered(rows))
    _check_computed(content, book)
    return found


def _check_reached(name: str, rows: Sequence[Sequence[object]]) -> None:
    """Refuse what stands so far away that it would be lost in silence, a question or a column of designs."""
    table = [[bool(str("" if cell is None else cell).strip()) for cell in row] for row in rows]
    header = table[0] if table else []
    filled = [any(there for there, named in zip(row, header, strict=False) if named) for row in table]
    for what, places, apart in (("row", filled, _ROWS_APART), ("column", header, _COLUMNS_APART)):
        last = -1
        for at in (at for at, there in enumerate(places) if there):
            if at - last > apart:
                raise DataError(
                    f"{what} {at + 1} of the sheet {name!r} stands behind {at - last - 1} empty {what}s, and would not "
                    f"be read; delete the empty {what}s"
                )
            last = at


def _check_computed(content: bytes, book: Workbook) -> None:
    """Refuse formulas without their value, which are read as empty cells: a design would be missing."""
    from openpyxl import load_workbook

    formulas = [
        (sheet.title, cell.row, cell.column)
        for sheet in book.worksheets
        if sheet.title.lower() in _SHEETS
        for row in sheet.iter_rows(max_row=min(sheet.max_row, _MOST_ROWS))
        for cell in row
        if cell.data_type == "f"
    ]
    if not formulas:
        return
    values = load_workbook(io.BytesIO(content), data_only=True)
    for title, row, column in formulas:
        cell = values[title].cell(row, column)
        if cell.value is None:
            raise DataError(
                f"cell {cell.coordinate} of the sheet {title!r} holds a formula whose value is not in the file; open "
                "and save it in a spreadsheet program, or write the value"
            )


def _known_rows(content: bytes) -> bytes:
    """A text without the rows of other sheets, on which pyxform fails; one that names no sheet stays as it is."""
    out, name, known = io.StringIO(newline=""), "", False
    writer = csv.writer(out)
    for row in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")):
        name = (row[0].strip().lower() if row else "") or name
        if name in _SHEETS:
            writer.writerow(row)
            known = True
    return out.getvalue().encode() if known else content


def _text_cells(content: bytes, suffix: str) -> dict[str, _OtherCells]:
    """The cells of each sheet of a text: its name stands in the first column, before the first row of the sheet."""
    text = content.decode("utf-8-sig")
    lines = csv.reader(io.StringIO(text, newline="")) if suffix == ".csv" else map(_marked_down, text.splitlines())
    rows: dict[str, list[list[str]]] = {}
    name = ""
    for first, *others in filter(None, lines):
        named, last = first.strip().lower(), name
        if named and named not in _SHEETS and last in _SHEETS and any(cell.strip() for cell in others):
            raise DataError(
                f"the first column names sheets, each in a row of its own; {first.strip()[:40]!r} stands beside "
                f"{next(cell for cell in others if cell.strip())[:40]!r}, which would not be read"
            )
        name = named or last
        rows.setdefault(name, []).extend([others] if any(others) else [])
    return {
        name: _OtherCells(unnamed=_beyond(each) if name in _SHEETS else (), all=_numbered(each))
        for name, each in rows.items()
        if name
    }


def _beyond(rows: Sequence[Sequence[str]]) -> Cells:
    """The cells that stand to the right of the last header."""
    end = len(rows[0]) if rows else 0
    return tuple((number, cell) for number, row in enumerate(rows, start=1) for cell in row[end:] if cell.strip())


def _marked_down(line: str) -> list[str]:
    """The cells of a line of a Markdown table."""
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")] if "|" in line else []


def _numbered(rows: Iterable[Sequence[object]]) -> Cells:
    return tuple(
        (number, str(cell))
        for number, row in enumerate(rows, start=1)
        for cell in row
        if cell is not None and str(cell).strip()
    )


def _sheet(name: str, read: object, sheet: str, other: _OtherCells) -> Sheet:
    header = getattr(read, f"{sheet}_header", None) or []
    columns = tuple(str(column) for column in (header[0] if header else {}) if column)
    repeated = {column for column in columns if columns.count(column) > 1}
    if repeated:
        raise DataError(f"{name!r}: the columns of sheet {sheet!r} must differ; got {_checks.shown(repeated)} twice")
    rows, unnamed = [], list(other.unnamed)
    for number, row in enumerate(getattr(read, sheet, None) or [], start=2):
        for column, text in row.items():
            if len(str(text)) > _LONGEST_CELL:
                raise DataError(
                    f"a cell must have at most {_LONGEST_CELL:,} characters; {name!r} has more in sheet {sheet!r}, "
                    f"row {number}, column {column!r}"
                )
        filled = {str(column): str(text).strip() for column, text in row.items() if column and str(text).strip()}
        rows += [(number, filled)] if filled else []
        unnamed += [(number, str(text)) for column, text in row.items() if not column]
    return Sheet(columns, tuple(rows), other.merged, tuple(unnamed))
