"""XLSForm in: from the sheets survey, choices and settings to the canonical form, and the place of each part.

From one row of the survey sheet to one question: its type, texts, conditions and privacy.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from naysay import _checks
from naysay.errors import DataError, DesignError
from naysay.questionnaire.expressions.parsing import parse_expression
from naysay.questionnaire.items import KINDS
from naysay.questionnaire.kinds.base import Question
from naysay.questionnaire.kinds.choices import SelectOne
from naysay.questionnaire.problems import Place, Problem, Severity
from naysay.questionnaire.questionnaire import TEXTS
from naysay.questionnaire.unread import SENT_PLAINLY, asks_for_privacy, names_privacy, reads_as_design
from naysay.questionnaire.xlsform.drafts import Draft, Lists
from naysay.questionnaire.xlsform.learning import CHECK, check_of, practice
from naysay.questionnaire.xlsform.offers import carried_out, private_of, sink_words
from naysay.questionnaire.xlsform.sheets import Cells, Columns, Sheet, columns_of, own_columns, read_sheets, tag_of
from naysay.questionnaire.xlsform.writing import HELP, HELP_SHEET

_MOST_NESTED = 10
_ROW = re.compile(r"(?:\[row ?: |[Rr]ow )(\d+)")
_SENT_CALL = re.compile(r"sent\(\s*(\$\{[^}]*\})\s*\)")


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
    sheets, other_sheets, note_lines = read_sheets(path)
    number, settings = sheets["settings"].rows[0] if sheets["settings"].rows else (2, {})
    language_text = settings.get("default_language", "")
    default = tag_of(language_text) or "en"
    columns = {name: columns_of(sheet, name, default=default) for name, sheet in sheets.items()}
    draft = Draft(
        {"languages": _languages(columns, sheets, default)}, list(_unclear_language(language_text, sheets, number))
    )
    draft.problems += [problem for sheet_columns in columns.values() for problem in sheet_columns.problems]
    _settings(draft, columns["settings"], number, settings, stem=Path(path).stem)
    workbook = Workbook(draft, columns, _lists(draft, columns["choices"], sheets["choices"]))
    draft.form |= practice(draft, columns, workbook.lists, number, settings)
    if not sheets["survey"].rows:
        message = "the sheet 'survey' must hold the questions, a row each"
        way_out = "naysay questionnaire new writes an example"
        draft.problems.append(Problem("survey", message, "", way_out, place=Place("survey")))
    draft.form["items"] = _Nesting(workbook, sheets["survey"]).items()
    names = {columns["survey"].text(row, "name") for _, row in sheets["survey"].rows} - {""}
    draft.problems += [problem for name, cells in other_sheets.items() for problem in _unread(name, cells, names)]
    draft.problems += _pinned(note_lines)
    error_rows = {
        draft_problem.place.row
        for draft_problem in draft.problems
        if draft_problem.place and draft_problem.severity == "error"
    } - {None}
    upstream_problems = _upstream(sheets, columns["survey"])
    draft.problems += [
        upstream_problem
        for upstream_problem in upstream_problems
        if upstream_problem.place is None or upstream_problem.place.row not in error_rows
    ]
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
            places = ((problem, problem.place) for problem in draft.problems)
            draft.problems = [
                problem
                for problem, problem_place in places
                if not (problem_place and problem_place.sheet == name and problem_place.row in rows)
            ]
            severity: Severity = "error" if rows else "warning"
            message, place = f"the cells {cells} are merged", Place(name, first)
            draft.problems.append(Problem("cells", message, reason, way_out, severity, place=place))


def _unclear_language(language_text: str, sheets: Mapping[str, Sheet], number: int) -> Iterator[Problem]:
    """What is unclear about the language of texts that name none."""
    reason = "screen readers need it"
    unnamed = (
        Place(name, 1, column) for name, sheet in sheets.items() for column in sheet.columns
        if column.strip().lower() == "label"
    )  # fmt: skip
    if language_text and tag_of(language_text) is None:
        message = f"a language must be named with its tag; got {language_text!r}"
        place = Place("settings", number, "default_language")
        yield Problem("columns", message, reason, "write English (en), or what it is", place=place)
    elif not language_text and (first := next(unnamed, None)):
        message = f"column {first.column!r} names no language, and is read as English (en)"
        way_out = "write label::Deutsch (de), or what it is, or set default_language"
        yield Problem("columns", message, reason, way_out, "warning", place=first)


def _languages(columns: Mapping[str, Columns], sheets: Mapping[str, Sheet], default: str) -> list[str]:
    """The languages of labels and titles, and of other texts that are there; the default one first."""
    filled = {(name, header) for name, sheet in sheets.items() for _, row in sheet.rows for header in row}
    language_tags = [
        language
        for name, sheet_columns in columns.items()
        for meaning, headers in sheet_columns.translated.items()
        for language, header in headers.items()
        if meaning in ("label", "form_title") or (name, header) in filled
    ]
    return sorted(dict.fromkeys(language_tags or [default]), key=lambda language: language != default)


def _settings(draft: Draft, columns: Columns, number: int, row: Mapping[str, str], *, stem: str) -> None:
    """Name, title and texts of the questionnaire; by default the name is that of the file."""
    languages = draft.form["languages"]
    form_name = (
        columns.text(row, "form_id") or re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).strip("-_") or "questionnaire"
    )
    title = columns.label(row, "form_title")
    if len(title) == 1:  # XLSForm's form_title has no languages
        title = dict.fromkeys(languages, next(iter(title.values()))) | title
    meanings = {"name": "form_id", "title": "form_title", **{name: f"naysay_{name}" for name in TEXTS}}
    draft.form |= {"name": form_name, "title": title or dict.fromkeys(languages, form_name)}
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
        plain_group = {**group.head, "kind": "group", "items": group.items}
        group_item = group.row.grid(group.head, group.members) if group.grid else plain_group
        self._add(group_item, group.head["name"])

    def _problem(self, row: Row, message: str, way_out: str) -> None:
        place = Place("survey", row.number, self.columns.plain.get("type"))
        self.draft.problems.append(Problem("types", message, "", way_out, place=place))


def _grids(sheet: Sheet, columns: Columns) -> set[int]:
    """The rows that begin a grid: a table-list, or a group with rows that are shown without their labels."""
    grid_rows, open_groups = set(), []
    for number, row in sheet.rows:
        kind, appearance = (columns.text(row, column).lower() for column in ("type", "appearance"))
        if kind in GROUP_STARTS:
            open_groups.append(number)
            grid_rows |= {number} if "table-list" in appearance else set()
        elif kind in GROUP_ENDS:
            open_groups = open_groups[:-1]
        elif open_groups and "list-nolabel" in appearance.split():
            grid_rows.add(open_groups[-1])
    return grid_rows


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
        return [_pyxform_problem(str(error), "error")]
    except Exception as error:  # pyxform fails unforeseen on a form that naysay has understood
        return [_pyxform_problem(f"{type(error).__name__} in pyxform: {error}", "warning")]
    return [_pyxform_problem(warning, "warning") for warning in warnings]


def _workbook(sheets: Mapping[str, Sheet], columns: Columns) -> dict[str, Any]:
    """The sheets as pyxform takes them, without naysay's own columns; rows keep their numbers."""
    ours = {header for meaning, header in columns.plain.items() if meaning in own_columns()}
    ours |= {
        header
        for meaning, headers in columns.translated.items()
        if meaning in own_columns()
        for header in headers.values()
    }
    book: dict[str, Any] = {"sheet_names": list(sheets)}
    for name, sheet in sheets.items():
        dropped = ours if name == "survey" else set()
        if name == "settings":
            dropped = {header for header in sheet.columns if header.startswith("naysay_") or "::" in header}
        kept_headers = [header for header in sheet.columns if header not in dropped]
        numbered = dict(sheet.rows)
        rows = [numbered.get(number, {}) for number in range(2, max(numbered, default=1) + 1)]
        book[name] = [{header: _pyxform_cell(row[header]) for header in kept_headers if header in row} for row in rows]
        book[f"{name}_header"] = [dict.fromkeys(kept_headers)]
    return book


def _pyxform_cell(cell: str) -> str:
    """A cell in pyxform's words: sent() and the check of understanding are naysay's own; type today needs no label."""
    return "today" if cell.strip().lower() == CHECK else _SENT_CALL.sub(r"\1", cell)


def _pyxform_problem(text: str, severity: Severity) -> Problem:
    match = _ROW.search(text)
    row = int(match[1]) if match else None
    message = "pyxform: " + " ".join(text.split())
    return Problem("pyxform", message, severity=severity, place=Place("survey" if row else "workbook", row))


GROUP_STARTS, GROUP_ENDS = {"begin_group", "begin group"}, {"end_group", "end group"}
REPEAT_STARTS, REPEAT_ENDS = {"begin_repeat", "begin repeat"}, {"end_repeat", "end repeat"}
_METADATA_TYPES = {
    "start", "end", "today", "deviceid", "phonenumber", "simserial", "subscriberid", "username", "email", "audit",
    "start-geopoint", "background-audio", "background-geopoint",
}  # fmt: skip

_FILES = "files betray who sent them; ask for a description with text"
_PLACES = "a place tells who answered; offer regions as choices"
_UNLISTED = "name its list of choices, such as select_one yes_no"
_WAYS_OUT = {
    "calculate": "nothing is computed between questions; compute it from the collected answers",
    "hidden": "what respondents do not see is not sent; leave it out",
    "acknowledge": "ask a select_one with yes and no",
    "trigger": "ask a select_one with yes and no",
    "time": "ask for the hour with integer, or offer choices",
    "datetime": "ask for the day with date; a time of day may tell who answered",
    "barcode": "ask for it with text",
    "xml-external": "no other file leaves with a survey; write the choices out",
    "csv-external": "no other file leaves with a survey; write the choices out",
    "select_one_external": "no other file leaves with a survey; write the choices into the sheet choices",
    **dict.fromkeys(("image", "audio", "video", "file"), _FILES),
    **dict.fromkeys(("geopoint", "geotrace", "geoshape"), _PLACES),
    **dict.fromkeys(("select", "select1"), _UNLISTED),
}

_YES, _NO = {"yes", "true", "true()", "1"}, {"", "no", "false", "false()", "0"}
_FIELDS = {
    "name": "name", "label": "label", "hint": "hint", "relevant": "relevant", "constraint": "constraint",
    "constraint.expression": "constraint", "constraint.message": "constraint_message", "required": "required",
    "kind": "type", "private": "naysay_design", "private.by_hand": "naysay_levels",
    "private.begins_at": "naysay_begins_at",
    "private.modes": "naysay_mode", "private.innocuous": "naysay_innocuous",
}  # fmt: skip
_NAME_FIELDS = {"name": "name", "label": "label"}
_WORDS = (
    "naysay_first_label",
    "naysay_sink_label",
    "naysay_sink",
)  # columns with words for the responses; without them the design has its own
_DESIGN = ("naysay_design", "naysay_levels", "naysay_sink")
_PRIVACY_DETAILS = (
    "naysay_mode", "naysay_begins_at", "naysay_innocuous", "naysay_first_label", "naysay_second_label",
    "naysay_sink_label",
)  # fmt: skip


@dataclass(frozen=True)
class Workbook:
    """What all rows of the survey sheet share. What cannot be read becomes a problem, and reading goes on.

    Parameters
    ----------
    draft : Draft
        The draft that rows add to.
    columns : {sheet: Columns}
    lists : {list: rows}
    """

    draft: Draft
    columns: Mapping[str, Columns]
    lists: Lists


class Row:
    """One row, and the path of the item that it becomes.

    Parameters
    ----------
    workbook : Workbook
    number : int
        Counted as spreadsheets count.
    cells : {header: text}
    path : str
        The path in the canonical form; it may be set later.
    """

    def __init__(self, workbook: Workbook, number: int, cells: Mapping[str, str], path: str = "") -> None:
        self.workbook, self.number, self.path = workbook, number, path
        self.columns, self.languages = workbook.columns["survey"], workbook.draft.form["languages"]
        self._cells = cells
        self._list = ""
        self._looked_at: set[str] = set()

    def text(self, column: str) -> str:
        """A cell's text, empty where there is none."""
        self._looked_at.add(column)
        return self.columns.text(self._cells, column)

    def label(self, column: str) -> dict[str, str]:
        """A text in each language in which it is there."""
        return self.columns.label(self._cells, column)

    def problem(
        self, column: str, message: str, way_out: str = "", reason: str = "", severity: Severity = "error"
    ) -> None:
        """Note what is wrong with a cell."""
        header = self.columns.plain.get(column) or next(iter(self.columns.translated.get(column, {}).values()), None)
        place = Place("survey", self.number, header)
        self.workbook.draft.problems.append(Problem("cells", message, reason, way_out, severity, place=place))

    def head(self) -> dict[str, Any]:
        """The fields that every row may have: name, texts, and the condition for asking."""
        kind_fields = {name: column for kind in KINDS.values() for name, column in kind.fields.items()}
        words_column = next((name for name in _WORDS if self.text(name) or self.label(name)), "naysay_design")
        relevant = self._expression("relevant")
        head = {
            **self._name_and_label(_FIELDS | kind_fields | {"private.responses": words_column}),
            "hint": self.label("hint"),
        }
        return head | ({} if relevant is None else {"relevant": relevant})

    def _name_and_label(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """Name and label; the places of these fields are recorded."""
        self.workbook.draft.places.update(self.columns.places(self.path, self.number, fields))
        return {"name": self.text("name"), "label": self.label("label")}

    def item(self) -> dict[str, Any] | None:
        """The question or note of the row; None where it cannot be read at all."""
        text = self.text("type")
        if text.lower() in _METADATA_TYPES:
            message = f"{text!r} is not recorded, since it would tell who answered"
            self.problem("type", message, severity="warning")
            return None
        if text.lower() == "note":
            self.has_no_privacy("a note has no answer")
            return {"kind": "note", **self.head()}
        if text.lower() == CHECK:
            own_answer = "a check of understanding in naysay's words has its own answer"
            self.has_no_privacy(own_answer, "or ask with select_one")
            if self.text("naysay_right"):
                self.problem("naysay_right", own_answer, "leave bind::naysay_right out, or ask with select_one")
            check_form = check_of(self.languages)
            head = self.head()
            return check_form | head | {"label": check_form["label"] | head["label"], "required": self.required()}
        kind_parts = _kind_asked(text)
        if kind_parts is None:
            message = f"type {text!r} is not asked here" if text else "a row must have a type"
            self.problem("type", message, _way_out(text))
            return None
        kind, self._list, type_remainder = kind_parts
        item = {"kind": kind.flavor(), **self.head()}
        if constraint := self._expression("constraint"):
            item["constraint"] = {"expression": constraint, "message": self.label("constraint_message")}
        item["required"] = self.required()
        if type_remainder:
            reason = "a free text beside a list is a question of its own"
            way_out = "add a choice other, and a text question with relevant selected(${…}, 'other')"
            self.problem("type", f"{type_remainder!r} after a list is not understood", way_out, reason)
        item |= kind.of_row(self)
        if item.get("choices") == []:
            return None
        if "naysay_right" not in self._looked_at and self.text("naysay_right"):
            self.problem("naysay_right", f"a {item['kind']} has no right choice", "ask with select_one")
        if "parameters" not in self._looked_at and self.text("parameters"):
            self.problem("parameters", f"parameters of {text!r} are not used: leave them out", severity="warning")
        return item | self._private(item)

    def has_no_privacy(self, message: str, way_out: str = "or write it on each question") -> None:
        """Note each cell that would make an answer private, in a row that has no answer of its own to protect."""
        for column in (*_DESIGN, *_PRIVACY_DETAILS):
            if self.text(column) or self.label(column):
                self.problem(column, message, f"leave bind::{column} out, {way_out}", SENT_PLAINLY)

    def required(self) -> bool:
        """Whether an answer is needed."""
        text = self.text("required").lower()
        if text not in _YES | _NO:
            self.problem("required", f"required must be yes or no; got {text!r}", "use relevant for conditions")
        return text in _YES

    def _expression(self, column: str) -> Any:
        text = self.text(column)
        if not text:
            return None
        try:
            return parse_expression(text).model_dump(mode="json")
        except DataError as error:
            self.problem(column, str(error))
            return None

    def choices(self, name: str = "") -> list[dict[str, Any]]:
        """The choices of a list with their places: of the one that the row's type names, or of another."""
        path = f"lists.{name}" if name else f"{self.path}.choices"
        name = name or self._list
        book, columns = self.workbook, self.workbook.columns["choices"]
        rows = book.lists.get(name, ())
        if not rows:
            hint = _checks.nearest(name, book.lists) if book.lists else "the sheet choices is empty"
            self.problem("type", f"the sheet choices has no list {name!r}; {hint}")
        for place, (line, _) in enumerate(rows):
            book.draft.places.update(columns.places(f"{path}[{place}]", line, _NAME_FIELDS))
        return [{"name": columns.text(row, "name"), "label": columns.label(row, "label")} for _, row in rows]

    def _private(self, item: dict[str, Any]) -> dict[str, Any]:
        kind = KINDS[item["kind"]]
        if kind.categories_in != "bins" and self.text("naysay_bins"):
            self.problem("naysay_bins", f"a {item['kind']} has no bins", "bins are for integer and decimal")
        column = next((name for name in _DESIGN if self.text(name)), None)
        if column is None:
            stray_column = next((name for name in _PRIVACY_DETAILS if self.text(name) or self.label(name)), None)
            if stray_column is not None:
                way_out = "write bind::naysay_design, such as crosswise(prevalence=1/4), or leave it out"
                message = f"bind::{stray_column} goes with a private question, and this one has no design"
                self.problem(stray_column, message, way_out, SENT_PLAINLY)
            return {}
        names = [category["name"] for category in item.get(kind.categories_in, ())]
        if not kind.categories_in:
            way_out = "ask with select_one, select_multiple, or integer and bind::naysay_bins"
            self.problem(column, f"a {item['kind']} cannot be private", way_out, "designs are about categories")
        elif kind.categories_in == "bins" and not names:
            way_out = "write where they end into bind::naysay_bins, such as 20,40,60"
            self.problem(column, "a private number needs bins", way_out, "a design is about categories")
        elif names:
            cells = {name.removeprefix("naysay_"): self.text(name) for name in _DESIGN}
            words = self.label("naysay_sink_label") or sink_words(self.languages)
            try:
                categories = kind.categories_of(names)
                private = private_of(categories, **cells, words=words)
                column = "naysay_mode"  # the only cell that can be wrong from here on
                procedure = {
                    "mode": self.text("naysay_mode"),
                    "several": kind.categories_of(("a",)) != ("a",),
                    **self._procedure_words(),
                }
                begins = {"begins_at": self.text("naysay_begins_at")} if self.text("naysay_begins_at") else {}
                return {"private": carried_out(private, self.languages, **procedure) | begins}
            except (DesignError, DataError) as error:
                self.problem(column, str(error))
        return {}

    def _procedure_words(self) -> dict[str, Any]:
        """The words with which a design is carried out."""
        columns = {"innocuous": "naysay_innocuous", "first": "naysay_first_label", "second": "naysay_second_label"}
        return {name: self.label(column) for name, column in columns.items()}

    def grid(self, head: dict[str, Any], members: Sequence[Row]) -> dict[str, Any] | None:
        """A grid, from the rows of a group that share a list; this row begins the group."""
        rows: list[dict[str, Any]] = []
        lists, required = [], []
        for row in members:
            kind_parts = _kind_asked(row.text("type"))
            if kind_parts is None or kind_parts[0] is not SelectOne:
                row.problem("type", "a row of a grid must be a select_one", "move it out of the group")
                continue
            lists.append(kind_parts[1])
            if "label" in row.text("appearance").lower().split():
                continue  # the header row of a table, from XLSForm's old way of writing grids
            row.path = f"{self.path}.rows[{len(rows)}]"
            rows.append(row._of_grid())
            required.append(row.required())
        if len(set(lists)) > 1:
            way_out = "take one list for all rows"
            self.problem("type", f"the rows of a grid must share one list; got {_checks.listing_text(lists)}", way_out)
        if not rows:
            self.problem("type", "a grid must have rows", "add select_one rows before end_group")
            return None
        self._list = lists[0]
        return {**head, "kind": "grid", "rows": rows, "required": all(required), "choices": self.choices()}

    def _of_grid(self) -> dict[str, Any]:
        for column in ("relevant", "constraint"):
            if self.text(column):
                way_out = "write it on the group, or ask a question of its own"
                self.problem(column, f"a row of a grid has no {column} of its own", way_out)
        self.has_no_privacy("a row of a grid cannot be private", "and ask a question of its own")
        return self._name_and_label(_NAME_FIELDS)


def _kind_asked(text: str) -> tuple[type[Question], str, str] | None:
    """The kind of question that a type asks, its list of choices, and what follows; None where it asks no question.

    Examples
    --------
    >>> kind, name, rest = _kind_asked("select_one yes_no or_other")
    >>> kind.__name__, name, rest
    ('SelectOne', 'yes_no', 'or_other')
    """
    for kind in KINDS.values():
        for word in kind.types:
            pattern = rf"{re.escape(word)}\s+(\S+)\s*(.*)" if kind.listed else rf"{re.escape(word)}()()"
            match = re.fullmatch(pattern, text, re.IGNORECASE)
            if match is not None:
                return kind, match[1], match[2].strip()
    return None


def _way_out(text: str) -> str:
    """What to do instead of a type that is not asked here.

    Examples
    --------
    >>> _way_out("geopoint")
    'a place tells who answered; offer regions as choices'
    """
    word = text.lower().partition(" ")[0]
    if any(word in kind.types for kind in KINDS.values() if kind.listed):
        return _UNLISTED
    if word.endswith("_from_file"):
        return _WAYS_OUT["select_one_external"]
    type_names = [kind.types[0] for kind in KINDS.values() if kind.types]
    return _WAYS_OUT.get(word) or f"the types are {', '.join([*type_names, 'note', CHECK, 'begin_group', 'end_group'])}"
