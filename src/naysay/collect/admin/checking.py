"""An uploaded questionnaire: what the checker says of it, at the very cells."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from naysay.errors import DataError
from naysay.questionnaire import Examined, Problem, examine
from naysay.questionnaire.xlsform.sheets import Sheet, read_sheets

__all__ = ["Cell", "Excerpt", "Line", "checked", "excerpts"]

_SUFFIXES = (".xlsx", ".csv", ".md", ".json")
_KNOWN_BY = ("type", "list_name", "list name", "name")
_NAME = re.compile(r"[^\w .-]+")


@dataclass(frozen=True)
class Cell:
    """A cell as it was uploaded, and whether a problem is there."""

    text: str
    wrong: bool


@dataclass(frozen=True)
class Line:
    """A row of a sheet, by the number that spreadsheets give it: the cells that matter, and what is wrong with them."""

    number: int
    columns: Sequence[str]
    cells: Sequence[Cell]
    problems: Sequence[Problem]


@dataclass(frozen=True)
class Excerpt:
    """The rows of a sheet in which there are problems, and the problems of the sheet as a whole."""

    sheet: str
    lines: Sequence[Line]
    problems: Sequence[Problem]


def checked(name: str, content: bytes) -> tuple[Examined, Mapping[str, Sheet]]:
    """What is in an uploaded file, its problems, and its sheets.

    Parameters
    ----------
    name : str
        As the browser sent it; only its last part counts.
    content : bytes

    Raises
    ------
    DataError
        The file is of another kind, or must not be opened.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> examined, sheets = checked("../../survey.json", sample().to_json())
    >>> examined.errors, dict(sheets)
    ((), {})
    """
    plain = _NAME.sub("_", PureWindowsPath(name).name)[-80:].lstrip(".") or "unnamed"
    if not plain.lower().endswith(_SUFFIXES):
        raise DataError(f"a questionnaire is a file in .xlsx, .csv, .md or .json; got {plain!r}")
    with tempfile.TemporaryDirectory(prefix="naysay-") as folder:
        path = Path(folder, plain)
        path.write_bytes(content)
        examined = examine(path)
        is_form = path.suffix.lower() != ".json"
        return examined, read_sheets(path)[0] if is_form and examined.problems else {}


def excerpts(problems: Sequence[Problem], sheets: Mapping[str, Sheet]) -> list[Excerpt]:
    """The rows that have problems, sheet by sheet. Problems without a sheet are left out."""
    found = []
    for name, sheet in sheets.items():
        here = [each for each in problems if each.place is not None and each.place.sheet == name]
        texts = dict(sheet.rows) | {1: {column: column for column in sheet.columns}}
        rows = sorted({each.place.row for each in here if each.place and each.place.row in texts})
        lines = [_line(number, texts[number], sheet.columns, here) for number in rows]
        rest = [each for each in here if each.place and each.place.row not in texts]
        if here:
            found.append(Excerpt(name, lines, rest))
    return found


def _line(number: int, row: Mapping[str, str], columns: Sequence[str], here: Sequence[Problem]) -> Line:
    """The cells that are wrong, beside those by which an author finds the row again."""
    mine = [each for each in here if each.place and each.place.row == number]
    wrong = {each.place.column for each in mine if each.place}
    label = next((column for column in columns if column.startswith("label") and column in row), None)
    known_by = [each for each in columns if each in _KNOWN_BY and each in row]
    shown = [*dict.fromkeys([*known_by, *(each for each in columns if each in wrong), *([label] if label else [])])]
    return Line(number, shown, [Cell(row.get(each, ""), each in wrong) for each in shown], mine)
