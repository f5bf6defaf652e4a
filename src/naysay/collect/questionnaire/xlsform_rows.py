"""One row of an XLSForm: the question that it asks, its texts, conditions and privacy; and the kinds in rows.

`ROW_KINDS` is the one table of the kinds in XLSForm: the types of their rows, naysay's own columns, how such a row is
read, and how it is written. `HELP` explains the columns to authors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from naysay import _checks
from naysay.collect.questionnaire.arms import control_of
from naysay.collect.questionnaire.expressions import parse_expression
from naysay.collect.questionnaire.kinds import (
    MOST_POINTS,
    Date,
    Decimal,
    Grid,
    Integer,
    Ranking,
    Rating,
    SelectMultiple,
    SelectOne,
    Text,
)
from naysay.collect.questionnaire.offers import (
    SENT_PLAINLY,
    bins_of,
    carried_out,
    measured_form,
    private_of,
    sink_words,
    stacked_offer,
)
from naysay.collect.questionnaire.questions import (
    Bin,
    Choice,
    Draft,
    Kind,
    Label,
    Lists,
    Place,
    Problem,
    Question,
    Severity,
    in_languages,
)
from naysay.collect.questionnaire.xlsform_sheets import NAME_FIELDS, Columns
from naysay.errors import DataError, DesignError

CHECK = "naysay_check"
"""The type of a row that asks the check of understanding in naysay's own words."""

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
    "arms": "naysay_arms", "measures": "naysay_measures", "control": "naysay_control",
}  # fmt: skip
# columns with words for the responses; without them the design has its own
_WORDS = ("naysay_first_label", "naysay_sink_label", "naysay_sink")
_DESIGN = ("naysay_design", "naysay_levels", "naysay_sink")
_PRIVACY_DETAILS = (
    "naysay_mode", "naysay_begins_at", "naysay_innocuous", "naysay_first_label", "naysay_second_label",
    "naysay_sink_label",
)  # fmt: skip

_QUESTION = {
    "en": "Who can see your answer to a private question?",
    "de": "Wer kann Ihre Antwort auf eine private Frage sehen?",
    "es": "¿Quién puede ver su respuesta a una pregunta privada?",
    "ar": "من يستطيع أن يرى إجابتك عن سؤال خاص؟",
}
_CHOICES = {
    "nobody": {"en": "Nobody but me", "de": "Niemand außer mir", "es": "Nadie más que yo", "ar": "لا أحد غيري"},
    "researchers": {
        "en": "Those who run the survey",
        "de": "Alle, die die Umfrage leiten",
        "es": "Quienes hacen la encuesta",
        "ar": "القائمون على الاستبيان",
    },
    "readers": {
        "en": "All who read what is sent",
        "de": "Alle, die das Gesendete lesen",
        "es": "Quienes leen lo que se envía",
        "ar": "كل من يقرأ ما يُرسل",
    },
}
_EXPLANATION = {
    "en": "Chance decides what is sent. Nobody can be sure that it is your answer.",
    "de": "Der Zufall entscheidet, was gesendet wird. Ob es Ihre Antwort ist, weiß niemand sicher.",
    "es": "El azar decide qué se envía. Nadie puede estar seguro de que sea su respuesta.",
    "ar": "القرعة تقرر ما يُرسل، ولا أحد يعلم يقينًا هل هو إجابتك.",
}


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
        cell_place = Place("survey", self.number, header)
        self.workbook.draft.problems.append(Problem("cells", message, reason, way_out, severity, place=cell_place))

    def head(self) -> dict[str, Any]:
        """The fields that every row may have: name, texts, and the condition for asking."""
        kind_fields = {field_name: column for row_kind in ROW_KINDS for field_name, column in row_kind.columns.items()}
        words_column = next(self._filled(_WORDS), "naysay_design")
        relevant = self._expression("relevant")
        head_fields = {
            **self._name_and_label(_FIELDS | kind_fields | {"private.responses": words_column}),
            "hint": self.label("hint"),
        }
        arm_names = [name.strip() for name in self.text("naysay_arms").split(",") if name.strip()]
        head_fields |= {"arms": arm_names} if arm_names else {}
        return head_fields | ({} if relevant is None else {"relevant": relevant})

    def _filled(self, columns: Sequence[str]) -> Iterator[str]:
        return (column_name for column_name in columns if self.text(column_name) or self.label(column_name))

    def _name_and_label(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """Name and label; the places of these fields are recorded."""
        self.workbook.draft.places.update(self.columns.places(self.path, self.number, fields))
        return {"name": self.text("name"), "label": self.label("label")}

    def item(self) -> dict[str, Any] | None:
        """The question or note of the row; None where it cannot be read at all."""
        type_text = self.text("type")
        if type_text.lower() in _METADATA_TYPES:
            message = f"{type_text!r} is not recorded, since it would tell who answered"
            self.problem("type", message, severity="warning")
            return None
        if type_text.lower() == "note":
            self.has_no_privacy("a note has no answer")
            return {"kind": "note", **self.head()}
        if type_text.lower() == CHECK:
            own_answer = "a check of understanding in naysay's words has its own answer"
            self.has_no_privacy(own_answer, "or ask with select_one")
            if self.text("naysay_right"):
                self.problem("naysay_right", own_answer, "leave bind::naysay_right out, or ask with select_one")
            check_form, head_fields = check_of(self.languages), self.head()
            joint_label = check_form["label"] | head_fields["label"]
            return check_form | head_fields | {"label": joint_label, "required": self.required()}
        kind_parts = kind_of_type(type_text)
        if kind_parts is None:
            message = f"type {type_text!r} is not asked here" if type_text else "a row must have a type"
            self.problem("type", message, _way_out(type_text))
            return None
        row_kind, self._list, type_remainder = kind_parts
        item_form = self.head()
        if constraint_form := self._expression("constraint"):
            item_form["constraint"] = {"expression": constraint_form, "message": self.label("constraint_message")}
        item_form["required"] = self.required()
        if type_remainder:
            reason = "a free text beside a list is a question of its own"
            way_out = "add a choice other, and a text question with relevant selected(${…}, 'other')"
            self.problem("type", f"{type_remainder!r} after a list is not understood", way_out, reason)
        kind, kind_fields = row_kind.kind, row_kind.read(self)
        if kind is SelectOne and (rating_fields := _likert(self, kind_fields["choices"])):
            kind, kind_fields = Rating, rating_fields
        item_form |= {"kind": kind.flavor(), **kind_fields}
        if item_form.get("choices") == []:
            return None
        if "naysay_right" not in self._looked_at and self.text("naysay_right"):
            self.problem("naysay_right", f"a {item_form['kind']} has no right choice", "ask with select_one")
        if "parameters" not in self._looked_at and self.text("parameters") and not _randomizes(self):
            self.problem("parameters", f"parameters of {type_text!r} are not used: leave them out", severity="warning")
        return item_form | self._compared(kind, item_form) | self._private(kind, item_form)

    def _compared(self, kind: Kind, item: Mapping[str, Any]) -> dict[str, Any]:
        """What the question measures beside others, and of which question it is a control."""
        fields: dict[str, Any] = {}
        measure, equals, design_text = map(str.strip, self.text("naysay_measures").partition("="))
        if (not measure and equals) or "(" in measure:
            message = f"a design stands after the name of what is measured; got {self.text('naysay_measures')!r}"
            self.problem("naysay_measures", message, "write drugs = item_count(items=4)")
            equals = ""
        elif measure:
            fields["measures"] = measure
        order = self.text("naysay_order") or ("shuffled" if kind is SelectOne and _randomizes(self) else "")
        if order and kind is not SelectOne:
            self.problem("naysay_order", "only the choices of a select_one have an order by lot", "leave it out")
        elif order:
            fields["order"] = order
        category_names = [category["name"] for category in item.get(kind.categories_in, ())]
        for blamed_column, needs in (
            ("naysay_control", not kind.categories_in),
            ("naysay_measures", not category_names and kind.stored is not int),
        ):
            if needs and self.text(blamed_column):
                message = f"{item['kind']} has no categories{' without bins' if kind.categories_in else ''}"
                self.problem(blamed_column, message, "ask with select_one, or leave it out")
                return {}
        try:
            blamed_column = "naysay_control"
            if self.text(blamed_column):
                fields["control"] = control_of(self.text(blamed_column))
            blamed_column = "naysay_measures"
            if equals:
                stacked = measured_form(kind.categories_of(category_names), design_text)
                if self.workbook.draft.form.setdefault("measured", {}).setdefault(measure, stacked) != stacked:
                    raise DesignError(f"{measure!r} has another design in a row before: write it into one of them")
        except (DataError, DesignError) as error:
            self.problem(blamed_column, str(error))
        return fields

    def has_no_privacy(self, message: str, way_out: str = "or write it on each question") -> None:
        """Note each cell that would make an answer private, in a row that has no answer of its own to protect."""
        for privacy_column in self._filled((*_DESIGN, *_PRIVACY_DETAILS)):
            self.problem(privacy_column, message, f"leave bind::{privacy_column} out, {way_out}", SENT_PLAINLY)

    def required(self) -> bool:
        """Whether an answer is needed."""
        required_text = self.text("required").lower()
        if required_text not in _YES | _NO:
            message = f"required must be yes or no; got {required_text!r}"
            self.problem("required", message, "use relevant for conditions")
        return required_text in _YES

    def _expression(self, column: str) -> dict[str, Any] | None:
        condition_text = self.text(column)
        if not condition_text:
            return None
        try:
            return parse_expression(condition_text).model_dump(mode="json")
        except DataError as error:
            self.problem(column, str(error))
            return None

    def choices(self, name: str = "") -> list[dict[str, Any]]:
        """The choices of a list with their places: of the one that the row's type names, or of another."""
        list_path = f"lists.{name}" if name else f"{self.path}.choices"
        name = name or self._list
        book, list_rows = self.workbook, self.workbook.lists.get(name, ())
        if not list_rows:
            hint = _checks.nearest(name, book.lists) if book.lists else "the sheet choices is empty"
            self.problem("type", f"the sheet choices has no list {name!r}; {hint}")
        return book.columns["choices"].choices(list_rows, list_path, book.draft.places)

    def _private(self, question_kind: Kind, item: dict[str, Any]) -> dict[str, Any]:
        if question_kind.categories_in != "bins" and self.text("naysay_bins"):
            self.problem("naysay_bins", f"a {item['kind']} has no bins", "bins are for integer and decimal")
        blamed_column = next((column_name for column_name in _DESIGN if self.text(column_name)), None)
        if blamed_column is None and "control" in item and not next(self._filled(_PRIVACY_DETAILS), None):
            return {}  # asked as its question is: see `complete_controls`
        if blamed_column is None:
            if stray_column := next(self._filled(_PRIVACY_DETAILS), None):
                way_out = "write bind::naysay_design, such as crosswise(prevalence=1/4), or leave it out"
                message = f"bind::{stray_column} goes with a private question, and this one has no design"
                self.problem(stray_column, message, way_out, SENT_PLAINLY)
            return {}
        category_names = [category["name"] for category in item.get(question_kind.categories_in, ())]
        if not question_kind.categories_in:
            way_out = "ask with select_one, select_multiple, or integer and bind::naysay_bins"
            self.problem(blamed_column, f"a {item['kind']} cannot be private", way_out, "designs are about categories")
        elif question_kind.categories_in == "bins" and not category_names:
            way_out = "write where they end into bind::naysay_bins, such as 20,40,60"
            self.problem(blamed_column, "a private number needs bins", way_out, "a design is about categories")
        elif category_names:
            design_cells = {column_name.removeprefix("naysay_"): self.text(column_name) for column_name in _DESIGN}
            sink_label = self.label("naysay_sink_label") or sink_words(self.languages)
            try:
                categories = question_kind.categories_of(category_names)
                if stacked := stacked_offer(categories, design_cells["design"]):
                    stacked_fields = {"stacked": json.loads(stacked.to_json())}
                    return stacked_fields | {"stacked_innocuous": self.label("naysay_innocuous")}
                private_form = private_of(categories, **design_cells, words=sink_label)
                blamed_column = "naysay_mode"  # the only cell that can be wrong from here on
                private_form = carried_out(
                    private_form,
                    self.languages,
                    mode=self.text("naysay_mode"),
                    several=question_kind.yes_or_no,
                    innocuous=self.label("naysay_innocuous"),
                    first=self.label("naysay_first_label"),
                    second=self.label("naysay_second_label"),
                )
                if self.text("naysay_begins_at"):
                    private_form["begins_at"] = self.text("naysay_begins_at")
                return {"private": private_form}
            except (DesignError, DataError) as error:
                self.problem(blamed_column, str(error))
        return {}

    def grid(self, head: Mapping[str, object], members: Sequence[Row]) -> dict[str, Any] | None:
        """A grid, from the rows of a group that share a list; this row begins the group."""
        grid_rows: list[dict[str, Any]] = []
        list_names, required_flags = [], []
        for member_row in members:
            kind_parts = kind_of_type(member_row.text("type"))
            if kind_parts is None or kind_parts[0].kind is not SelectOne:
                member_row.problem("type", "a row of a grid must be a select_one", "move it out of the group")
                continue
            list_names.append(kind_parts[1])
            if "label" in member_row.text("appearance").lower().split():
                continue  # the header row of a table, from XLSForm's old way of writing grids
            member_row.path = f"{self.path}.rows[{len(grid_rows)}]"
            for condition_column in filter(member_row.text, ("relevant", "constraint")):
                message = f"a row of a grid has no {condition_column} of its own"
                member_row.problem(condition_column, message, "write it on the group, or ask a question of its own")
            member_row.has_no_privacy("a row of a grid cannot be private", "and ask a question of its own")
            grid_rows.append(member_row._name_and_label(NAME_FIELDS))
            required_flags.append(member_row.required())
        if len(set(list_names)) > 1:
            message = f"the rows of a grid must share one list; got {_checks.listing_text(list_names)}"
            self.problem("type", message, "take one list for all rows")
        if not grid_rows:
            self.problem("type", "a grid must have rows", "add select_one rows before end_group")
            return None
        self._list = list_names[0]
        return {**head, "kind": "grid", "rows": grid_rows, "required": all(required_flags), "choices": self.choices()}


def check_of(languages: Sequence[str]) -> dict[str, Any]:
    """A check of understanding in naysay's own words, as a question without a name.

    Examples
    --------
    >>> check_of(("en-GB",))["right"], check_of(("en-GB",))["label"]
    ('nobody', {'en-GB': 'Who can see your answer to a private question?'})
    """
    return {
        "kind": "select_one",
        "label": in_languages(_QUESTION, languages),
        "explanation": in_languages(_EXPLANATION, languages),
        "choices": [{"name": name, "label": in_languages(words, languages)} for name, words in _CHOICES.items()],
        "right": "nobody",
    }


ListOf = Callable[[str, Sequence[Choice | Bin]], str]
"""Gives the name of a list with these choices, for a question of this name; questions with equal choices share one."""

RowCells = dict[str, Any]
"""The cells of a row by their column; a label is ``{language: text}``."""


@dataclass(frozen=True)
class RowKind:
    """How a kind of question stands in an XLSForm.

    Parameters
    ----------
    kind : type of Question
    types : tuple of str
        The types of a row that ask it; the first is the one that is written. Empty if it takes several rows.
    listed : bool
        Whether the name of a list of choices follows the type.
    columns : {field: naysay_column}
        Naysay's own columns that hold fields of only this kind.
    read : callable
        From a row to the fields that only this kind has.
    write : callable
        From a question to the cells of its rows; name, texts, conditions and privacy are added to the first.
    """

    kind: Kind
    types: tuple[str, ...] = ()
    listed: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    read: Callable[[Row], dict[str, Any]] = lambda row: {}
    write: Callable[[Any, ListOf], list[RowCells]] = lambda question, list_of: [{}]


def _choices_of_row(row: Row) -> dict[str, Any]:
    return {"choices": row.choices()}


def _select_one_of_row(row: Row) -> dict[str, Any]:
    check_fields = {"right": row.text("naysay_right"), "explanation": row.label("naysay_explanation")}
    return _choices_of_row(row) | {field_name: content for field_name, content in check_fields.items() if content}


def _grid_cells(question: Grid, list_of: ListOf) -> list[RowCells]:
    """A grid is a group of rows that share a list."""
    if question.constraint is not None:
        raise DataError(
            f"XLSForm has no constraint on a grid, as {question.name!r} has; keep this questionnaire as JSON"
        )
    required_cell = "yes" if question.required else ""
    shared_cells = {"type": f"select_one {list_of(question.name, question.choices)}", "required": required_cell}
    grid_rows = [shared_cells | {"name": row.name, "label": row.label} for row in question.rows]
    first_row = {"type": "begin_group", "required": "", "appearance": "table-list"}
    return [first_row, *grid_rows, {"type": "end_group"}]


def _number_of_row(row: Row, *, whole: bool) -> dict[str, Any]:
    """The range and the bins of a number, as JSON holds them: whole numbers without a decimal point."""

    def as_written(number: float) -> float | int:
        return int(number) if whole and number == int(number) else number

    bins = _bins_of_row(row, as_written, whole=whole)
    range_text = row.text("naysay_range")
    low_text, dots, high_text = range_text.partition("..")
    end_texts = {name: end_text for name, end_text in (("low", low_text), ("high", high_text)) if end_text.strip()}
    range_ends = {name: end for name, end_text in end_texts.items() if (end := number_of(end_text)) is not None}
    if range_text and (not dots or range_ends.keys() < end_texts.keys()):
        row.problem("naysay_range", f"a range is written as 0..20, or 0.. without an upper end; got {range_text!r}")
        range_ends = {}
    number_fields: dict[str, Any] = {end_name: as_written(range_end) for end_name, range_end in range_ends.items()}
    return number_fields | ({"bins": bins} if bins else {})


def _bins_of_row(row: Row, as_written: Callable[[float], float], *, whole: bool) -> list[dict[str, Any]]:
    bins_text = row.text("naysay_bins")
    if not bins_text:
        return []
    list_name, colon, bounds_text = bins_text.rpartition(":")
    bounds = [number_of(bound_text) for bound_text in bounds_text.split(",")]
    known_bounds = [as_written(bound) for bound in bounds if bound is not None]
    if len(known_bounds) < len(bounds):
        message = f"bins are written as the numbers between them, such as 20,40,60; got {bins_text!r}"
        row.problem("naysay_bins", message)
        return []
    bins = bins_of(known_bounds, row.languages, whole=whole)
    if not colon:
        return bins
    choices = row.choices(list_name.strip())  # the names and words of the bins
    if len(choices) != len(bins):
        list_text = f"the list {list_name.strip()!r} has {len(choices)} choices"
        message = f"{len(bins) - 1} numbers make {len(bins)} bins; {list_text}"
        row.problem("naysay_bins", message, "write one choice for each bin")
        return bins
    return [number_bin | choice for number_bin, choice in zip(bins, choices, strict=True)]


def _number_cells(question: Integer | Decimal, list_of: ListOf) -> list[RowCells]:
    end_texts = ["" if range_end is None else f"{range_end:.15g}" for range_end in (question.low, question.high)]
    cells: RowCells = {"range": "..".join(end_texts)} if any(end_texts) else {}
    if question.bins:
        bounds = [number_bin.below for number_bin in question.bins[:-1] if number_bin.below is not None]
        bounds_text = ", ".join(f"{bound:.15g}" for bound in bounds)
        cells["bins"] = f"{list_of(question.name, question.bins)}: {bounds_text}"
    return [cells]


def _rating_of_row(row: Row) -> dict[str, Any]:
    parameters = dict(part.partition("=")[::2] for part in row.text("parameters").replace(",", " ").split())
    rating_fields: dict[str, Any] = {}
    for field_name, parameter_name, default_number in (("low", "start", 1), ("high", "end", 5), ("", "step", 1)):
        parameter_text = parameters.pop(parameter_name, str(default_number))
        number = number_of(parameter_text)
        if number is None or number != int(number) or (parameter_name == "step" and number != 1):
            allowed_text = "1" if parameter_name == "step" else "a whole number"
            way_out = "ask with integer or decimal and bind::naysay_range"
            row.problem("parameters", f"{parameter_name} must be {allowed_text}; got {parameter_text!r}", way_out)
        elif field_name:
            rating_fields[field_name] = int(number)
    if parameters:
        row.problem("parameters", f"parameters {_checks.listing_text(parameters)} are not understood", "leave them out")
    return rating_fields | _worded_ends(row)


def _worded_ends(row: Row) -> dict[str, Any]:
    end_labels = {field_name: row.label(column_name) for field_name, column_name in _END_COLUMNS.items()}
    return {field_name: end_label for field_name, end_label in end_labels.items() if end_label}


def _randomizes(row: Row) -> bool:
    """Whether choices are shuffled, as XLSForm writes it."""
    is_select_one = row.text("type").lower().startswith(("select_one", "select one"))
    return is_select_one and row.text("parameters").lower().replace(" ", "") == "randomize=true"


def _likert(row: Row, choices: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The fields of a rating, if a likert row has choices whose names are numbers that rise by one; else None."""
    choice_names = [choice["name"] for choice in choices]
    if "likert" not in row.text("appearance").lower() or not choice_names:
        return None
    if not all(choice_name.lstrip("-").isdecimal() and len(choice_name) < 6 for choice_name in choice_names):
        return None
    low_point, high_point = int(choice_names[0]), int(choice_names[-1])
    if [str(point) for point in range(low_point, high_point + 1)] != choice_names or len(choice_names) > MOST_POINTS:
        return None
    end_labels = {"low_label": choices[0]["label"], "high_label": choices[-1]["label"]}
    return {"low": low_point, "high": high_point, **end_labels, **_worded_ends(row)}


def _rating_cells(question: Rating, list_of: ListOf) -> list[RowCells]:
    parameters_cell = f"start={question.low} end={question.high} step=1"
    return [{"parameters": parameters_cell, "low_label": question.low_label, "high_label": question.high_label}]


def _text_of_row(row: Row) -> dict[str, Any]:
    text_fields: dict[str, Any] = {"lines": 4} if "multiline" in row.text("appearance") else {}
    for field_name, column_name in _TEXT_COLUMNS.items():
        cell_text = row.text(column_name)
        if cell_text and not (cell_text.isdecimal() and len(cell_text) < 6):
            row.problem(column_name, f"here must stand a whole number; got {cell_text!r}")
        elif cell_text:
            text_fields[field_name] = int(cell_text)
    return text_fields


def _text_cells(question: Text, list_of: ListOf) -> list[RowCells]:
    lines = {"lines": str(question.lines)} if question.lines != 1 else {}
    return [{"max_length": str(question.max_length), **lines}]


def number_of(text: str) -> float | None:
    """A decimal number as people write it; None for anything else.

    Examples
    --------
    >>> number_of(" 2.5"), number_of("1e3"), number_of("--1")
    (2.5, None, None)
    """
    stripped_text = text.strip()
    if len(stripped_text) > 15 or not stripped_text.lstrip("-").replace(".", "", 1).isdecimal():
        return None
    return float(stripped_text) if stripped_text.count("-") == stripped_text.startswith("-") else None


_END_COLUMNS = {"low_label": "naysay_low_label", "high_label": "naysay_high_label"}
_TEXT_COLUMNS = {"max_length": "naysay_max_length", "lines": "naysay_lines"}
_CHECK_COLUMNS = {"right": "naysay_right", "explanation": "naysay_explanation"}
_NUMBER_COLUMNS = {"bins": "naysay_bins", "low": "naysay_range", "high": "naysay_range"}

ROW_KINDS: tuple[RowKind, ...] = (
    RowKind(
        SelectOne,
        ("select_one", "select one"),
        True,
        _CHECK_COLUMNS,
        read=_select_one_of_row,
        write=lambda question, list_of: [{"right": question.right or "", "explanation": question.explanation}],
    ),
    RowKind(SelectMultiple, ("select_multiple", "select multiple"), True, read=_choices_of_row),
    RowKind(Integer, ("integer", "int"), False, _NUMBER_COLUMNS, partial(_number_of_row, whole=True), _number_cells),
    RowKind(Decimal, ("decimal",), False, _NUMBER_COLUMNS, partial(_number_of_row, whole=False), _number_cells),
    RowKind(Text, ("text", "string"), columns=_TEXT_COLUMNS, read=_text_of_row, write=_text_cells),
    RowKind(Date, ("date",)),
    RowKind(Rating, ("range",), columns=_END_COLUMNS, read=_rating_of_row, write=_rating_cells),
    RowKind(Grid, write=_grid_cells),  # a group of rows; see `Row.grid`
    RowKind(Ranking, ("rank",), True, read=_choices_of_row),
)
"""The kinds of questions in XLSForm."""


HELP_SHEET = "help"

_TABLE = """
column | what it is for | example
type | What is asked. begin_group and end_group put questions under one heading. | select_one yes_no
name | Its name in the data: a letter, then letters, digits, _ and -. | income
label::English (en) | What respondents read, a column for each language; the tag in parentheses. | Do you smoke?
hint::English (en) | A smaller text below it. | In years
required | yes where an answer is needed. | yes
relevant | When it is asked. A private question counts as it is sent: sent(${smoking}). | ${age} >= 18
constraint | The condition that a direct answer must meet; . is the answer. | . <= today()
constraint_message::English (en) | The message if the answer does not meet it. | This day is still to come.
appearance | table-list on a group: a grid. likert: numbers as a rating. multiline: a longer text. | table-list
parameters | Ends of a range, which is shown as a rating. | start=1 end=5 step=1
bind::naysay_design | Makes a question private: how its answer is randomized on the device. | negative
bind::naysay_levels | Levels that respondents choose from, and whether they may toss a coin instead. | 1..3, coin
bind::naysay_begins_at | The level at which the page begins; by default the most private one. | 2
bind::naysay_sink | Choices that are never ruled out, because that would say too much. | zero_to_two
bind::naysay_sink_label::English (en) | What stands in their place among the responses. | Nothing is ruled out
bind::naysay_mode | Who carries out the design: respondents (hand) or their device; the usual one first. | hand, device
bind::naysay_innocuous::English (en) | The innocuous question beside it. | Was your mother born in March?
bind::naysay_first_label::English (en) | Words of the first of two responses, if they are not choices. | The same
bind::naysay_second_label::English (en) | Words of the second. | Different
bind::naysay_right | Makes a select_one a check of understanding: the choice that is right. | nobody
type naysay_check | A check in naysay's own words: a row with this type and a name. | naysay_check
bind::naysay_explanation::English (en) | What is said after it. | Nobody sees your answer: it stays on your device.
bind::naysay_bins | Where the bins of a private number end; a list of choices before it names them. | 20, 40, 60
bind::naysay_arms | The arms in which it is asked; without it, in all. The settings name them. | masked
bind::naysay_measures | What questions of different arms measure together. | drugs
bind::naysay_control | Makes it a control of another question, and says what is known of its truth. | income: lot
bind::naysay_order | shuffled, or reversed by lot where choices have an order, for each respondent. | shuffled
bind::naysay_range | Ends of a direct number, which is sent as it is. | 0..24
bind::naysay_max_length | How many characters a text may have. | 500
bind::naysay_lines | How many lines are shown for a text. | 4
bind::naysay_low_label::English (en) | What stands at the lower end of a rating. | Very bad
bind::naysay_high_label::English (en) | What stands at its upper end. | Very good
"""

HELP = [line.split(" | ") for line in _TABLE.strip().splitlines()]
"""The rows of the help sheet, the header first."""


def kind_of_type(text: str) -> tuple[RowKind, str, str] | None:
    """The kind of question that a type asks, its list of choices, and what follows; None where it asks no question.

    Examples
    --------
    >>> row_kind, name, rest = kind_of_type("select_one yes_no or_other")
    >>> row_kind.kind.__name__, name, rest
    ('SelectOne', 'yes_no', 'or_other')
    """
    for row_kind in ROW_KINDS:
        for type_word in row_kind.types:
            pattern = rf"{re.escape(type_word)}\s+(\S+)\s*(.*)" if row_kind.listed else rf"{re.escape(type_word)}()()"
            type_match = re.fullmatch(pattern, text, re.IGNORECASE)
            if type_match is not None:
                return row_kind, type_match[1], type_match[2].strip()
    return None


def _way_out(text: str) -> str:
    """What to do instead of a type that is not asked here.

    Examples
    --------
    >>> _way_out("geopoint")
    'a place tells who answered; offer regions as choices'
    """
    type_word = text.lower().partition(" ")[0]
    if any(type_word in row_kind.types for row_kind in ROW_KINDS if row_kind.listed):
        return _UNLISTED
    if type_word.endswith("_from_file"):
        return _WAYS_OUT["select_one_external"]
    type_names = [*(row_kind.types[0] for row_kind in ROW_KINDS if row_kind.types), "note", CHECK, "begin_group"]
    return _WAYS_OUT.get(type_word) or f"the types are {', '.join([*type_names, 'end_group'])}"


def cells_of(question: Question, list_of: ListOf) -> list[RowCells]:
    """The cells of the rows that ask a question, without what every question has.

    Raises
    ------
    DataError
        XLSForm has no row for it.
    """
    row_kind = next((row_kind for row_kind in ROW_KINDS if row_kind.kind is type(question)), None)
    if row_kind is None:
        raise DataError(
            f"XLSForm has no row for {question.kind}, as {question.name!r} is; keep this questionnaire as JSON"
        )
    list_suffix = f" {list_of(question.name, dict(question.lists())['choices'])}" if row_kind.listed else ""
    type_cell = {"type": row_kind.types[0] + list_suffix} if row_kind.types else {}
    first_cells, *other_cells = row_kind.write(question, list_of)
    return [type_cell | first_cells, *other_cells]


_PRIVACY_COLUMNS = {
    "naysay_design": False, "naysay_levels": False, "naysay_begins_at": False,
    "naysay_sink": False, "naysay_sink_label": True,
    "naysay_mode": False, "naysay_innocuous": True, "naysay_first_label": True, "naysay_second_label": True,
    "naysay_arms": False, "naysay_measures": False, "naysay_control": False, "naysay_order": False,
}  # fmt: skip


def own_columns() -> dict[str, bool]:
    """Naysay's own columns of the survey sheet, and whether they hold texts in each language.

    They are written with the prefix ``bind::``, too, so that other tools leave them alone.
    """
    return _PRIVACY_COLUMNS | {
        column: row_kind.kind.model_fields[field_name].annotation == Label
        for row_kind in ROW_KINDS
        for field_name, column in row_kind.columns.items()
    }
