"""XLSForm in and out: workbooks that spreadsheet programs and other survey tools open.

In: from the sheets survey, choices and settings to the canonical form, and the place of each part. Out: the same
sheets, and one that explains each column beside the questions. What one row asks is in `xlsform_rows`.

x.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from naysay import _checks
from naysay.collect.questionnaire.arms import arms_of, written_control
from naysay.collect.questionnaire.expressions import write_expression
from naysay.collect.questionnaire.offers import (
    SENT_PLAINLY,
    asks_for_privacy,
    names_privacy,
    reads_as_design,
    stacked_items,
    written_carried,
    written_measured,
    written_private,
)
from naysay.collect.questionnaire.questionnaire import TEXTS, Group, Item, Questionnaire, truth_column
from naysay.collect.questionnaire.questions import (
    BaseItem,
    Bin,
    Choice,
    Draft,
    Label,
    Lists,
    Place,
    Practice,
    Problem,
    Question,
    Severity,
)
from naysay.collect.questionnaire.xlsform_rows import (
    CHECK,
    GROUP_ENDS,
    GROUP_STARTS,
    HELP,
    HELP_SHEET,
    REPEAT_ENDS,
    REPEAT_STARTS,
    Row,
    RowCells,
    Workbook,
    cells_of,
    own_columns,
)
from naysay.collect.questionnaire.xlsform_sheets import (
    SURVEY,
    Cells,
    Columns,
    Sheet,
    columns_of,
    read_sheets,
    tag_of,
    translated,
)
from naysay.errors import DataError, DesignError, NaysayError

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
    settings_row_number, settings = sheets["settings"].rows[0] if sheets["settings"].rows else (2, {})
    language_text = settings.get("default_language", "")
    default_tag = tag_of(language_text) or "en"
    columns_of_sheet = {
        sheet_name: columns_of(sheet, sheet_name, default=default_tag, own=own_columns())
        for sheet_name, sheet in sheets.items()
    }
    draft = Draft(
        {"languages": _languages(columns_of_sheet, sheets, default_tag)},
        list(_unclear_language(language_text, sheets, settings_row_number)),
    )
    draft.problems += [problem for sheet_columns in columns_of_sheet.values() for problem in sheet_columns.problems]
    _settings(draft, columns_of_sheet["settings"], settings_row_number, settings, stem=Path(path).stem)
    workbook = Workbook(draft, columns_of_sheet, _lists(draft, columns_of_sheet["choices"], sheets["choices"]))
    draft.form |= practice(draft, columns_of_sheet, workbook.lists, settings_row_number, settings)
    if not sheets["survey"].rows:
        message = "the sheet 'survey' must hold the questions, a row each"
        way_out = "naysay questionnaire new writes an example"
        draft.problems.append(Problem("survey", message, "", way_out, place=Place("survey")))
    draft.form["items"] = _Nesting(workbook, sheets["survey"]).items()
    question_names = {columns_of_sheet["survey"].text(row, "name") for _, row in sheets["survey"].rows} - {""}
    draft.problems += [
        problem
        for sheet_name, sheet_cells in other_sheets.items()
        for problem in _unread(sheet_name, sheet_cells, question_names)
    ]
    draft.problems += _pinned(note_lines)
    error_rows = {
        draft_problem.place.row
        for draft_problem in draft.problems
        if draft_problem.place and draft_problem.severity == "error"
    } - {None}
    upstream_problems = _upstream(sheets, columns_of_sheet["survey"])
    draft.problems += [
        upstream_problem
        for upstream_problem in upstream_problems
        if upstream_problem.place is None or upstream_problem.place.row not in error_rows
    ]
    _tell_merged(draft, sheets)  # last: it removes problems that earlier steps recorded
    return draft


def _unread(name: str, cells: Cells, questions: Collection[str]) -> Iterator[Problem]:
    """A design in a sheet that is not read; or one that names questions, and is called as if it made them private."""
    header_texts = [cell_text for row_number, cell_text in cells if row_number == 1]
    if name == HELP_SHEET and header_texts == HELP[0]:
        return
    design_cell = next(((row_number, cell_text) for row_number, cell_text in cells if reads_as_design(cell_text)), None)
    message = f"the sheet {name!r} is not read"
    way_out = "write each design into the column bind::naysay_design of the sheet survey, or delete this sheet"
    if design_cell is not None:
        message += f", and its cell {design_cell[1][:60]!r} reads as a design"
        yield Problem("columns", message, SENT_PLAINLY, way_out, place=Place(name, design_cell[0]))
    elif any(cell_text.strip(" ${}") in questions for _, cell_text in cells) and any(
        map(names_privacy, (name, *header_texts))
    ):
        message += ", and is called as if it made answers private"
        yield Problem("columns", message, SENT_PLAINLY, way_out, place=Place(name))
    elif cells:
        way_out = "leave it out, or keep it for yourself"
        yield Problem("columns", message, "", way_out, "warning", place=Place(name))


def _pinned(lines: Cells) -> Iterator[Problem]:
    """A design or a word for privacy in a note, comment or text box of a workbook; or that there are some."""
    for row_number, note_line in lines:
        note_words = note_line.rpartition(": ")[2]  # Excel writes the author before a note
        if reads_as_design(note_line) or reads_as_design(note_words) or asks_for_privacy(note_words):
            message = f"notes and text boxes are not read, and this one reads as a design: {note_line[:60]!r}"
            way_out = "write the design into the column bind::naysay_design, or delete the note"
            yield Problem("columns", message, SENT_PLAINLY, way_out, place=Place("workbook", row_number or None))
            return
    if lines:
        message, way_out = "notes and text boxes are not read", "keep them for yourself"
        yield Problem("columns", message, "", way_out, "warning", place=Place("workbook", lines[0][0] or None))


def _tell_merged(draft: Draft, sheets: Mapping[str, Sheet]) -> None:
    """Report merged cells, instead of what seems to be missing in their rows."""
    reason, way_out = "the text stands in the first cell, and the others are empty", "unmerge them, and fill in each"
    for sheet_name, sheet in sheets.items():
        for cell_range, first_row, last_row in sheet.merged:
            # a range, not a list: a stranger's file may merge a million rows
            row_range = range(first_row, last_row + 1 if last_row > first_row else first_row)
            problem_places = ((problem, problem.place) for problem in draft.problems)
            draft.problems = [
                problem
                for problem, problem_place in problem_places
                if not (problem_place and problem_place.sheet == sheet_name and problem_place.row in row_range)
            ]
            severity: Severity = "error" if row_range else "warning"
            message, merged_place = f"the cells {cell_range} are merged", Place(sheet_name, first_row)
            draft.problems.append(Problem("cells", message, reason, way_out, severity, place=merged_place))


def _unclear_language(language_text: str, sheets: Mapping[str, Sheet], number: int) -> Iterator[Problem]:
    """What is unclear about the language of texts that name none."""
    reason = "screen readers need it"
    unnamed_columns = (
        Place(sheet_name, 1, column) for sheet_name, sheet in sheets.items() for column in sheet.columns
        if column.strip().lower() == "label"
    )  # fmt: skip
    if language_text and tag_of(language_text) is None:
        message = f"a language must be named with its tag; got {language_text!r}"
        cell_place = Place("settings", number, "default_language")
        yield Problem("columns", message, reason, "write English (en), or what it is", place=cell_place)
    elif not language_text and (first_unnamed := next(unnamed_columns, None)):
        message = f"column {first_unnamed.column!r} names no language, and is read as English (en)"
        way_out = "write label::Deutsch (de), or what it is, or set default_language"
        yield Problem("columns", message, reason, way_out, "warning", place=first_unnamed)


def _languages(columns: Mapping[str, Columns], sheets: Mapping[str, Sheet], default: str) -> list[str]:
    """The languages of labels and titles, and of other texts that are there; the default one first."""
    filled_columns = {
        (sheet_name, header) for sheet_name, sheet in sheets.items() for _, row in sheet.rows for header in row
    }
    language_tags = [
        language
        for sheet_name, sheet_columns in columns.items()
        for meaning, header_of_language in sheet_columns.translated.items()
        for language, header in header_of_language.items()
        if meaning in ("label", "form_title") or (sheet_name, header) in filled_columns
    ]
    return sorted(dict.fromkeys(language_tags or [default]), key=lambda language: language != default)


def _settings(draft: Draft, columns: Columns, number: int, row: Mapping[str, str], *, stem: str) -> None:
    """Name, title and texts of the questionnaire; by default the name is that of the file."""
    language_tags = draft.form["languages"]
    form_name = (
        columns.text(row, "form_id") or re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).strip("-_") or "questionnaire"
    )
    form_title = columns.label(row, "form_title")
    if len(form_title) == 1:  # XLSForm's form_title has no languages
        form_title = dict.fromkeys(language_tags, next(iter(form_title.values()))) | form_title
    column_of_text = {text_name: f"naysay_{text_name}" for text_name in TEXTS}
    meaning_of_field = {"name": "form_id", "title": "form_title", **column_of_text}
    draft.form |= {"name": form_name, "title": form_title or dict.fromkeys(language_tags, form_name)}
    draft.form |= {text_name: columns.label(row, column) for text_name, column in column_of_text.items()}
    try:
        arm_forms = arms_of(columns.text(row, "naysay_arms"))
    except DataError as error:
        cell_place = Place("settings", number, columns.plain.get("naysay_arms"))
        draft.problems.append(Problem("arms", str(error), place=cell_place))
        arm_forms = []
    strata = columns.text(row, "naysay_strata")
    draft.form |= ({"arms": arm_forms} if arm_forms else {}) | ({"strata": strata} if strata else {})
    meaning_of_field |= {"arms": "naysay_arms", "strata": "naysay_strata"}
    draft.places |= {
        field_path.lstrip("."): field_place for field_path, field_place in columns.places("", number, meaning_of_field)
    }


def _lists(draft: Draft, columns: Columns, sheet: Sheet) -> dict[str, list[tuple[int, Mapping[str, str]]]]:
    """The rows of each list of choices."""
    rows_of_list: dict[str, list[tuple[int, Mapping[str, str]]]] = {}
    for row_number, row in sheet.rows:
        list_name = columns.text(row, "list_name")
        if list_name:
            rows_of_list.setdefault(list_name, []).append((row_number, row))
        else:
            message = "a choice must name its list"
            cell_place = Place("choices", row_number, columns.plain.get("list_name"))
            draft.problems.append(Problem("choices", message, "", "fill in list_name", place=cell_place))
    return rows_of_list


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
        self.rows = [Row(workbook, row_number, row_cells) for row_number, row_cells in sheet.rows]
        self.open = [_Open(Row(workbook, 0, {}), "items")]
        self.brought: dict[str, str] = {}  # controls that a design brings along, each with its question
        # the rows that begin a grid: a table-list, or a group with rows that are shown without their labels
        self.grids: set[int] = set()
        open_groups: list[int] = []
        for row in self.rows:
            row_type, appearance = row.text("type").lower(), row.text("appearance").lower()
            if row_type in GROUP_STARTS:
                open_groups.append(row.number)
                self.grids |= {row.number} if "table-list" in appearance else set()
            elif row_type in GROUP_ENDS:
                open_groups = open_groups[:-1]
            elif open_groups and "list-nolabel" in appearance.split():
                self.grids.add(open_groups[-1])

    def items(self) -> list[Any]:
        for row in self.rows:
            self._row(row, self.open[-1])
        for open_group in self.open[:0:-1]:
            self._problem(open_group.row, "a group must be closed", "add a row of type end_group after its questions")
            self._close()
        return self.open[0].items

    def _row(self, row: Row, group: _Open) -> None:
        row_type = row.text("type").lower()
        row.path = f"{group.path}[{len(group.items)}]"
        if row_type in GROUP_ENDS:
            row.has_no_privacy("the end of a group has no answer")
        if row_type in REPEAT_STARTS:
            self._problem(row, "repeats are not asked", "ask for a number, or write the questions out")
        elif row_type in GROUP_STARTS:
            self._begin(row)
        elif row_type in GROUP_ENDS and len(self.open) == 1:
            self._problem(row, "end_group must close a group", "leave it out, or add begin_group before")
        elif row_type in GROUP_ENDS:
            self._close()
        elif group.grid and row_type not in REPEAT_ENDS:
            group.members.append(row)
        elif row_type not in REPEAT_ENDS:
            self._add(row.item(), row, row.text("name"))

    def _add(self, item: dict[str, Any] | None, row: Row, name: str) -> None:
        group = self.open[-1]
        if name in self.brought:
            row.problem("name", f"the design of {self.brought[name]!r} brings this control along", "leave the row out")
            return
        try:
            added_items = [] if item is None else stacked_items(item, self.draft.form)
            self.brought |= {other["name"]: name for other in added_items[1:] if "control" in other}
            for added_item in added_items:
                self.draft.places.setdefault(f"{group.path}[{len(group.items)}]", Place("survey", row.number))
                group.items.append(added_item)
        except DesignError as error:
            row.problem("naysay_design", str(error))
            item = None
        if item is None:
            self.draft.omitted.add(name)

    def _begin(self, row: Row) -> None:
        if len(self.open) > _MOST_NESTED:
            self._problem(row, f"groups must be nested {_MOST_NESTED} deep at most", "put some of them side by side")
        if self.open[-1].grid:
            self._problem(row, "a grid must not hold groups", "put the group after the end_group of the grid")
        row.has_no_privacy("a group or grid cannot be private")
        self.open.append(_Open(row, f"{row.path}.items", row.head(), row.number in self.grids))

    def _close(self) -> None:
        closed_group = self.open.pop()
        group_item: dict[str, Any] | None = {**closed_group.head, "kind": "group", "items": closed_group.items}
        if closed_group.grid:
            group_item = closed_group.row.grid(closed_group.head, closed_group.members)
        self._add(group_item, closed_group.row, closed_group.head["name"])

    def _problem(self, row: Row, message: str, way_out: str) -> None:
        cell_place = Place("survey", row.number, self.columns.plain.get("type"))
        self.draft.problems.append(Problem("types", message, "", way_out, place=cell_place))


def _upstream(sheets: Mapping[str, Sheet], columns: Columns) -> list[Problem]:
    """The errors and warnings of pyxform's own conversion, which ends at the first error.

    Parameters
    ----------
    sheets : {name: Sheet}
        Pyxform takes them without naysay's own columns; rows keep their numbers.
    columns : Columns
        Of the survey sheet.

    Returns
    -------
    list of Problem
    """
    from pyxform.errors import PyXFormError
    from pyxform.xls2xform import convert

    header_of_meaning = {meaning: [header] for meaning, header in columns.plain.items()}
    header_of_meaning |= {meaning: list(headers.values()) for meaning, headers in columns.translated.items()}
    own_headers = {header for meaning in columns.own for header in header_of_meaning.get(meaning, ())}
    book: dict[str, object] = {"sheet_names": list(sheets)}
    for sheet_name, sheet in sheets.items():
        # pyxform takes these for the beginning of a header such as bind::type, and fails on them alone
        groups_alone = {header for header in sheet.columns if header.lower() in ("bind", "body", "control", "media")}
        dropped_headers = own_headers | groups_alone if sheet_name == "survey" else set()
        if sheet_name == "settings":
            dropped_headers = {header for header in sheet.columns if header.startswith("naysay_") or "::" in header}
        row_of_number = dict(sheet.rows)
        pyxform_rows: list[dict[str, str]] = [{} for _ in range(2, max(row_of_number, default=1) + 1)]
        for row_number, row in sheet.rows:
            for header in (header for header in sheet.columns if header in row and header not in dropped_headers):
                # sent() and the check of understanding are naysay's own; the type today needs no label
                is_check = row[header].strip().lower() == CHECK
                pyxform_rows[row_number - 2][header] = "today" if is_check else _SENT_CALL.sub(r"\1", row[header])
            if (
                columns.text(row, "naysay_control") and sheet_name == "survey"
            ):  # a control may leave its words to naysay
                labels = dict.fromkeys(header_of_meaning.get("label", ()), "control")
                gap = re.compile(rf"\$\{{\s*{re.escape(truth_column(columns.text(row, 'name')))}\s*\}}")
                own_texts = {header: gap.sub("…", text) for header, text in pyxform_rows[row_number - 2].items()}
                pyxform_rows[row_number - 2] = labels | own_texts
        book[sheet_name] = pyxform_rows
        book[f"{sheet_name}_header"] = [
            dict.fromkeys(header for header in sheet.columns if header not in dropped_headers)
        ]
    warnings: list[str] = []
    try:
        convert(book, warnings=warnings, form_name="data")
    except PyXFormError as error:
        return [_pyxform_problem(str(error), "error")]
    except Exception as error:  # pyxform fails unforeseen on a form that naysay has understood
        return [_pyxform_problem(f"{type(error).__name__} in pyxform: {error}", "warning")]
    return [_pyxform_problem(warning, "warning") for warning in warnings]


def _pyxform_problem(text: str, severity: Severity) -> Problem:
    row_match = _ROW.search(text)
    place = Place("survey", int(row_match[1])) if row_match else Place("workbook")
    return Problem("pyxform", "pyxform: " + " ".join(text.split()), severity=severity, place=place)


_LANGUAGES = {"en": "English", "de": "Deutsch", "es": "Español", "ar": "العربية", "fr": "Français"}
_WIDE, _NARROW = 40, 16


def write_xlsform(questionnaire: Questionnaire, path: str | Path) -> None:
    """Write a questionnaire as an XLSForm; `load` reads the same questionnaire back.

    Parameters
    ----------
    questionnaire : Questionnaire
    path : str or Path
        Of the workbook, .xlsx.

    Raises
    ------
    DataError
        The file cannot be written, or XLSForm has no cell for something, such as a constraint on a grid.
    NaysayError
        The extra ``collect`` is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from naysay.collect.questionnaire import load, sample
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_xlsform(sample(), Path(folder, "sample.xlsx"))
    ...     load(Path(folder, "sample.xlsx")).fingerprint == sample().fingerprint
    True
    """
    try:
        from openpyxl import Workbook
        from openpyxl.styles import Alignment, Font
        from openpyxl.utils import get_column_letter
        from openpyxl.utils.exceptions import IllegalCharacterError
    except ImportError:
        raise NaysayError(
            "workbooks are written with openpyxl; install it with: pip install 'naysay[collect]'"
        ) from None
    writer = _Writer(questionnaire)
    writer.items(questionnaire.items)
    book = Workbook()
    book.remove(book.worksheets[0])
    for sheet_name, sheet_rows in {**writer.sheets(), HELP_SHEET: HELP}.items():
        sheet = book.create_sheet(sheet_name)
        sheet.freeze_panes = "C2" if sheet_name == "survey" else "A2"
        for column_number, header in enumerate(sheet_rows[0], start=1):
            is_wide = header.startswith(("label", "hint", "form_title", "naysay_", "what"))
            sheet.column_dimensions[get_column_letter(column_number)].width = _WIDE if is_wide else _NARROW
        for row_number, row in enumerate(sheet_rows, start=1):
            for column_number, value in enumerate(row, start=1):
                if value in ("", None):
                    continue
                try:
                    cell = sheet.cell(row_number, column_number, value)
                except IllegalCharacterError:
                    raise DataError(f"a workbook cannot hold the control characters in {value!r}") from None
                cell.data_type = "s"  # text, even if a label begins with =: it must not become a formula
                cell.font = Font(bold=row_number == 1)
                cell.alignment = Alignment(wrap_text=row_number > 1, vertical="top")
    try:
        book.save(path)
    except OSError as error:
        raise DataError(f"cannot write to {str(path)!r}: {error.strerror or error}") from None


class _Writer:
    """Gathers the rows of the sheets."""

    def __init__(self, questionnaire: Questionnaire) -> None:
        self.questionnaire = questionnaire
        self.rows: list[RowCells] = []
        self.known: dict[str, list[tuple[str, Label]]] = {}
        self.measures: set[str] = set()

    def items(self, items: Sequence[Item]) -> None:
        form = self.questionnaire
        for item in items:
            if isinstance(item, Group):
                self.rows.append({"type": "begin_group", **_head(item)})
                self.items(item.items)
                self.rows.append({"type": "end_group"})
            elif isinstance(item, Question):
                question_cells: RowCells = {**_head(item), "required": "yes" if item.required else ""}
                if item.constraint is not None:
                    question_cells["constraint"] = write_expression(item.constraint.expression)
                    question_cells["constraint_message"] = item.constraint.message
                if item.measures is not None:
                    stacked = form.measured.get(item.measures) if item.measures not in self.measures else None
                    self.measures.add(item.measures)
                    design_text = "" if stacked is None else f" = {written_measured(item.categories, stacked)}"
                    question_cells["measures"] = item.measures + design_text
                if item.control is not None:
                    question_cells["control"] = written_control(item.control)
                question_cells["order"] = getattr(item, "order", None) or ""
                if item.privacy is not None:
                    question_cells |= written_private(item.privacy) | written_carried(item.privacy)
                first_row, *other_rows = cells_of(item, self.list_of)
                self.rows += [question_cells | first_row, *other_rows]
            else:
                self.rows.append({"type": "note", **_head(item)})

    def list_of(self, name: str, choices: Sequence[Choice | Bin]) -> str:
        """The name of a list with these choices; questions with the same choices share it."""
        choice_pairs = [(choice.name, choice.label) for choice in choices]
        shared_name = next(
            (list_name for list_name, other_pairs in self.known.items() if other_pairs == choice_pairs), name
        )
        self.known[shared_name] = choice_pairs
        return shared_name

    def sheets(self) -> dict[str, list[list[Any]]]:
        """Header and rows of each sheet."""
        form, practice = self.questionnaire, self.questionnaire.practice
        settings_cells = {"form_id": form.name, "default_language": _language(form.languages[0])}
        if form.arms:
            settings_cells["naysay_arms"] = ", ".join(f"{arm.name} {arm.share}" for arm in form.arms)
        if form.strata:
            settings_cells["naysay_strata"] = form.strata
        label_of_column = {"form_title": form.title, **{f"naysay_{n}": getattr(form, n) for n in TEXTS}}
        if isinstance(practice, Practice):
            settings_cells[_COLUMN] = self.list_of("practice", practice.choices)
            label_of_column["naysay_practice_label"] = practice.label
        elif not practice:
            settings_cells[_COLUMN] = "no"
        choice_rows = [
            {"list_name": list_name, "name": choice_name, "label": choice_label}
            for list_name, choice_pairs in self.known.items()
            for choice_name, choice_label in choice_pairs
        ]
        for column_name, column_label in label_of_column.items():
            settings_cells |= {f"{column_name}::{_language(tag)}": words for tag, words in column_label.items()}
        return {
            "survey": _table(self.rows, (*SURVEY, *own_columns()), form.languages),
            "choices": _table(choice_rows, ("list_name", "name", "label"), form.languages),
            "settings": [list(settings_cells), list(settings_cells.values())],
        }


def _language(tag: str) -> str:
    return f"{_LANGUAGES[tag]} ({tag})" if tag in _LANGUAGES else tag


def _head(item: BaseItem) -> RowCells:
    relevant = {} if item.relevant is None else {"relevant": write_expression(item.relevant)}
    return {"name": item.name, "label": item.label, "hint": item.hint, "arms": ", ".join(item.arms), **relevant}


def _table(rows: Sequence[RowCells], columns: Sequence[str], languages: Sequence[str]) -> list[list[Any]]:
    """Header and rows, a text in a column for each language, without columns that stay empty."""
    header_cells, column_cells = [], []
    for column_name in columns:
        cell_name = column_name.removeprefix("naysay_")
        column_texts = [row.get(cell_name, "") for row in rows]
        header_name = f"bind::{column_name}" if cell_name != column_name else column_name
        if any(column_texts) and translated(column_name, own_columns()):
            header_cells += [f"{header_name}::{_language(language)}" for language in languages]
            column_cells += [[(text or {}).get(language, "") for text in column_texts] for language in languages]
        elif any(column_texts):
            header_cells.append(header_name)
            column_cells.append(column_texts)
    return [header_cells, *map(list, zip(*column_cells, strict=True))]


_COLUMN = "naysay_practice"
_YES_NO = {"": True, "yes": True, "no": False}
_PRACTICE_FIELDS = {"practice": _COLUMN, "practice.choices": _COLUMN, "practice.label": "naysay_practice_label"}


def practice(
    draft: Draft, columns: Mapping[str, Columns], lists: Lists, number: int, row: Mapping[str, str]
) -> dict[str, Any]:
    """The practice question that the settings ask for: none, the page's own, or one with a list of choices."""
    settings, choice_columns = columns["settings"], columns["choices"]
    practice_cell, practice_label = settings.text(row, _COLUMN), settings.label(row, "naysay_practice_label")
    field_places = settings.places("", number, _PRACTICE_FIELDS)
    draft.places |= {field_path.lstrip("."): field_place for field_path, field_place in field_places}
    if practice_cell.lower() in _YES_NO and not practice_label:
        return {"practice": _YES_NO[practice_cell.lower()]}
    if practice_cell not in lists:
        hint = _checks.nearest(practice_cell, lists) if lists else "the sheet choices is empty"
        missing_text = f"there is no list {practice_cell!r}" if practice_cell else "none is named"
        message = f"a practice question must have a list of choices; {missing_text}"
        cell_place = Place("settings", number, settings.plain.get(_COLUMN, _COLUMN))
        way_out = f"write its name, yes or no into {_COLUMN}; {hint}"
        draft.problems.append(Problem("cells", message, "", way_out, place=cell_place))
        return {}
    choice_forms = choice_columns.choices(lists[practice_cell], "practice.choices", draft.places)
    return {"practice": {"label": practice_label, "choices": choice_forms}}
