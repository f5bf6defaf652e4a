"""XLSForm in: from the sheets survey, choices and settings to the canonical form, and the place of each part."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from naysay.questionnaire.problems import Place, Problem, Severity
from naysay.questionnaire.questionnaire import TEXTS
from naysay.questionnaire.unread import SENT_PLAINLY, asks_for_privacy, names_privacy, reads_as_design
from naysay.questionnaire.xlsform.columns import Columns, columns_of, own, tag_of
from naysay.questionnaire.xlsform.drafts import Draft
from naysay.questionnaire.xlsform.help_sheet import HELP, HELP_SHEET
from naysay.questionnaire.xlsform.learning import CHECK, practice
from naysay.questionnaire.xlsform.rows import GROUP_ENDS, GROUP_STARTS, REPEAT_ENDS, REPEAT_STARTS, Row, Workbook
from naysay.questionnaire.xlsform.sheets import Cells, Sheet, read_sheets

__all__ = ["read_xlsform"]

_MOST_NESTED = 10
_ROW = re.compile(r"(?:\[row ?: |[Rr]ow )(\d+)")
_SENT = re.compile(r"sent\(\s*(\$\{[^}]*\})\s*\)")


def read_xlsform(path: str | Path) -> Draft:
    """The questionnaire that an XLSForm describes, with every problem of its sheets.

    Parameters
    ----------
    path : str or Path
        .xlsx, or .csv or .md as pyxform reads them.

    Returns
    -------
    Draft

    Raises
    ------
    DataError
        A file that cannot be read, or must not be opened.
    NaysayError
        The extra ``collect`` is not installed.
    """
    sheets, others, beside = read_sheets(path)
    number, settings = sheets["settings"].rows[0] if sheets["settings"].rows else (2, {})
    named = settings.get("default_language", "")
    default = tag_of(named) or "en"
    columns = {name: columns_of(sheet, name, default=default) for name, sheet in sheets.items()}
    draft = Draft({"languages": _languages(columns, sheets, default)}, list(_unclear_language(named, sheets, number)))
    draft.problems += [problem for each in columns.values() for problem in each.problems]
    _settings(draft, columns["settings"], number, settings, stem=Path(path).stem)
    workbook = Workbook(draft, columns, _lists(draft, columns["choices"], sheets["choices"]))
    draft.form |= practice(draft, columns, workbook.lists, number, settings)
    if not sheets["survey"].rows:
        message = "the sheet 'survey' must hold the questions, a row each"
        way_out = "naysay questionnaire new writes an example"
        draft.problems.append(Problem("survey", message, "", way_out, place=Place("survey")))
    draft.form["items"] = _Nesting(workbook, sheets["survey"]).items()
    names = {columns["survey"].text(row, "name") for _, row in sheets["survey"].rows} - {""}
    draft.problems += [problem for name, cells in others.items() for problem in _unread(name, cells, names)]
    draft.problems += _pinned(beside)
    known = {each.place.row for each in draft.problems if each.place and each.severity == "error"} - {None}
    told = _upstream(sheets, columns["survey"])
    draft.problems += [each for each in told if each.place is None or each.place.row not in known]
    _tell_merged(draft, sheets)  # last: it removes problems that earlier steps recorded
    return draft


def _unread(name: str, cells: Cells, questions: Collection[str]) -> Iterator[Problem]:
    """A design in a sheet that is not read; or one that names questions, and is called as if it made them private."""
    header = [text for row, text in cells if row == 1]
    if name == HELP_SHEET and header == HELP[0]:
        return
    design = next(((row, text) for row, text in cells if reads_as_design(text)), None)
    message = f"the sheet {name!r} is not read"
    way_out = "write each design into the column bind::naysay_design of the sheet survey, or delete this sheet"
    if design is not None:
        message += f", and its cell {design[1][:60]!r} reads as a design"
        yield Problem("columns", message, SENT_PLAINLY, way_out, place=Place(name, design[0]))
    elif any(text.strip(" ${}") in questions for _, text in cells) and any(map(names_privacy, (name, *header))):
        message += ", and is called as if it made answers private"
        yield Problem("columns", message, SENT_PLAINLY, way_out, place=Place(name))
    elif cells:
        way_out = "leave it out, or keep it for yourself"
        yield Problem("columns", message, "", way_out, "warning", place=Place(name))


def _pinned(lines: Cells) -> Iterator[Problem]:
    """A design or a word for privacy in a note, comment or text box of a workbook; or that there are some."""
    for row, line in lines:
        words = line.rpartition(": ")[2]  # Excel writes the author before a note
        if reads_as_design(line) or reads_as_design(words) or asks_for_privacy(words):
            message = f"notes and text boxes are not read, and this one reads as a design: {line[:60]!r}"
            way_out = "write the design into the column bind::naysay_design, or delete the note"
            yield Problem("columns", message, SENT_PLAINLY, way_out, place=Place("workbook", row or None))
            return
    if lines:
        message, way_out = "notes and text boxes are not read", "keep them for yourself"
        yield Problem("columns", message, "", way_out, "warning", place=Place("workbook", lines[0][0] or None))


def _tell_merged(draft: Draft, sheets: Mapping[str, Sheet]) -> None:
    """Report merged cells, instead of what seems to be missing in their rows."""
    reason, way_out = "the text stands in the first cell, and the others are empty", "unmerge them, and fill in each"
    for name, sheet in sheets.items():
        for cells, first, last in sheet.merged:
            # a range, not a list: a stranger's file may merge a million rows
            rows = range(first, last + 1 if last > first else first)
            places = ((each, each.place) for each in draft.problems)
            draft.problems = [each for each, at in places if not (at and at.sheet == name and at.row in rows)]
            severity: Severity = "error" if rows else "warning"
            message, place = f"the cells {cells} are merged", Place(name, first)
            draft.problems.append(Problem("cells", message, reason, way_out, severity, place=place))


def _unclear_language(named: str, sheets: Mapping[str, Sheet], number: int) -> Iterator[Problem]:
    """What is unclear about the language of texts that name none."""
    reason = "screen readers need it"
    unnamed = (
        Place(name, 1, column) for name, sheet in sheets.items() for column in sheet.columns
        if column.strip().lower() == "label"
    )  # fmt: skip
    if named and tag_of(named) is None:
        message = f"a language must be named with its tag; got {named!r}"
        place = Place("settings", number, "default_language")
        yield Problem("columns", message, reason, "write English (en), or what it is", place=place)
    elif not named and (first := next(unnamed, None)):
        message = f"column {first.column!r} names no language, and is read as English (en)"
        way_out = "write label::Deutsch (de), or what it is, or set default_language"
        yield Problem("columns", message, reason, way_out, "warning", place=first)


def _languages(columns: Mapping[str, Columns], sheets: Mapping[str, Sheet], default: str) -> list[str]:
    """The languages of labels and titles, and of other texts that are there; the default one first."""
    filled = {(name, header) for name, sheet in sheets.items() for _, row in sheet.rows for header in row}
    found = [
        language
        for name, each in columns.items()
        for meaning, headers in each.translated.items()
        for language, header in headers.items()
        if meaning in ("label", "form_title") or (name, header) in filled
    ]
    return sorted(dict.fromkeys(found or [default]), key=lambda language: language != default)


def _settings(draft: Draft, columns: Columns, number: int, row: Mapping[str, str], *, stem: str) -> None:
    """Name, title and texts of the questionnaire; by default the name is that of the file."""
    languages = draft.form["languages"]
    named = columns.text(row, "form_id") or re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).strip("-_") or "questionnaire"
    title = columns.label(row, "form_title")
    if len(title) == 1:  # XLSForm's form_title has no languages
        title = dict.fromkeys(languages, next(iter(title.values()))) | title
    meanings = {"name": "form_id", "title": "form_title", **{name: f"naysay_{name}" for name in TEXTS}}
    draft.form |= {"name": named, "title": title or dict.fromkeys(languages, named)}
    draft.form |= {name: columns.label(row, meanings[name]) for name in TEXTS}
    draft.places |= {path.lstrip("."): place for path, place in columns.places("", number, meanings)}


def _lists(draft: Draft, columns: Columns, sheet: Sheet) -> dict[str, list[tuple[int, Mapping[str, str]]]]:
    """The rows of each list of choices."""
    lists: dict[str, list[tuple[int, Mapping[str, str]]]] = {}
    for number, row in sheet.rows:
        name = columns.text(row, "list_name")
        if name:
            lists.setdefault(name, []).append((number, row))
        else:
            message, place = "a choice must name its list", Place("choices", number, columns.plain.get("list_name"))
            draft.problems.append(Problem("choices", message, "", "fill in list_name", place=place))
    return lists


@dataclass
class _Open:
    """A group that is not closed yet: the row that began it, its shared fields, and its items."""

    row: Row
    path: str
    head: dict[str, Any] = field(default_factory=dict)
    grid: bool = False
    items: list[Any] = field(default_factory=list)
    members: list[Row] = field(default_factory=list)


class _Nesting:
    """Puts rows into their groups."""

    def __init__(self, workbook: Workbook, sheet: Sheet) -> None:
        self.draft, self.columns = workbook.draft, workbook.columns["survey"]
        self.rows = [Row(workbook, number, cells) for number, cells in sheet.rows]
        self.grids = _grids(sheet, self.columns)
        self.open = [_Open(Row(workbook, 0, {}), "items")]

    def items(self) -> list[Any]:
        for row in self.rows:
            self._row(row, self.open[-1])
        for group in self.open[:0:-1]:
            self._problem(group.row, "a group must be closed", "add a row of type end_group after its questions")
            self._close()
        return self.open[0].items

    def _row(self, row: Row, group: _Open) -> None:
        kind = row.text("type").lower()
        row.path = f"{group.path}[{len(group.items)}]"
        if kind in GROUP_ENDS:
            row.has_no_privacy("the end of a group has no answer")
        if kind in REPEAT_STARTS:
            self._problem(row, "repeats are not asked", "ask for a number, or write the questions out")
        elif kind in GROUP_STARTS:
            self._begin(row)
        elif kind in GROUP_ENDS and len(self.open) == 1:
            self._problem(row, "end_group must close a group", "leave it out, or add begin_group before")
        elif kind in GROUP_ENDS:
            self._close()
        elif group.grid and kind not in REPEAT_ENDS:
            group.members.append(row)
        elif kind not in REPEAT_ENDS:
            self._add(row.item(), row.text("name"))

    def _add(self, item: dict[str, Any] | None, name: str) -> None:
        if item is None:
            self.draft.omitted.add(name)
        else:
            self.open[-1].items.append(item)

    def _begin(self, row: Row) -> None:
        if len(self.open) > _MOST_NESTED:
            self._problem(row, f"groups must be nested {_MOST_NESTED} deep at most", "put some of them side by side")
        if self.open[-1].grid:
            self._problem(row, "a grid must not hold groups", "put the group after the end_group of the grid")
        row.has_no_privacy("a group or grid cannot be private")
        self.open.append(_Open(row, f"{row.path}.items", row.head(), row.number in self.grids))

    def _close(self) -> None:
        group = self.open.pop()
        whole = {**group.head, "kind": "group", "items": group.items}
        made = group.row.grid(group.head, group.members) if group.grid else whole
        self._add(made, group.head["name"])

    def _problem(self, row: Row, message: str, way_out: str) -> None:
        place = Place("survey", row.number, self.columns.plain.get("type"))
        self.draft.problems.append(Problem("types", message, "", way_out, place=place))


def _grids(sheet: Sheet, columns: Columns) -> set[int]:
    """The rows that begin a grid: a table-list, or a group with rows that are shown without their labels."""
    found, opened = set(), []
    for number, row in sheet.rows:
        kind, appearance = (columns.text(row, each).lower() for each in ("type", "appearance"))
        if kind in GROUP_STARTS:
            opened.append(number)
            found |= {number} if "table-list" in appearance else set()
        elif kind in GROUP_ENDS:
            opened = opened[:-1]
        elif opened and "list-nolabel" in appearance.split():
            found.add(opened[-1])
    return found


def _upstream(sheets: Mapping[str, Sheet], columns: Columns) -> list[Problem]:
    """The errors and warnings of pyxform's own conversion, without the columns that it does not know.

    Parameters
    ----------
    sheets : {name: Sheet}
    columns : Columns
        Of the survey sheet.

    Returns
    -------
    list of Problem
        pyxform ends at the first error.
    """
    from pyxform.errors import PyXFormError
    from pyxform.xls2xform import convert

    warnings: list[str] = []
    try:
        convert(_workbook(sheets, columns), warnings=warnings, form_name="data")
    except PyXFormError as error:
        return [_told(str(error), "error")]
    except Exception as error:  # pyxform fails unforeseen on a form that naysay has understood
        return [_told(f"{type(error).__name__} in pyxform: {error}", "warning")]
    return [_told(each, "warning") for each in warnings]


def _workbook(sheets: Mapping[str, Sheet], columns: Columns) -> dict[str, Any]:
    """The sheets as pyxform takes them, without naysay's own columns; rows keep their numbers."""
    ours = {header for meaning, header in columns.plain.items() if meaning in own()}
    ours |= {header for meaning, named in columns.translated.items() if meaning in own() for header in named.values()}
    book: dict[str, Any] = {"sheet_names": list(sheets)}
    for name, sheet in sheets.items():
        dropped = ours if name == "survey" else set()
        if name == "settings":
            dropped = {header for header in sheet.columns if header.startswith("naysay_") or "::" in header}
        kept = [header for header in sheet.columns if header not in dropped]
        numbered = dict(sheet.rows)
        rows = [numbered.get(number, {}) for number in range(2, max(numbered, default=1) + 1)]
        book[name] = [{header: _theirs(row[header]) for header in kept if header in row} for row in rows]
        book[f"{name}_header"] = [dict.fromkeys(kept)]
    return book


def _theirs(cell: str) -> str:
    """A cell in pyxform's words: sent() and the check of understanding are naysay's own; type today needs no label."""
    return "today" if cell.strip().lower() == CHECK else _SENT.sub(r"\1", cell)


def _told(text: str, severity: Severity) -> Problem:
    found = _ROW.search(text)
    row = int(found[1]) if found else None
    message = "pyxform: " + " ".join(text.split())
    return Problem("pyxform", message, severity=severity, place=Place("survey" if row else "workbook", row))
