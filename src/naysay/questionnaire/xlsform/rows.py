"""From one row of the survey sheet to one question: its type, texts, conditions and privacy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from naysay import _checks
from naysay.errors import DataError, DesignError
from naysay.questionnaire.expressions.parsing import parse_expression
from naysay.questionnaire.items import KINDS
from naysay.questionnaire.kinds.base import Question
from naysay.questionnaire.kinds.choices import SelectOne
from naysay.questionnaire.problems import Place, Problem, Severity
from naysay.questionnaire.unread import SENT_PLAINLY
from naysay.questionnaire.xlsform.carried import carried_out
from naysay.questionnaire.xlsform.columns import Columns
from naysay.questionnaire.xlsform.drafts import Draft, Lists
from naysay.questionnaire.xlsform.learning import CHECK, check_of
from naysay.questionnaire.xlsform.offers import private_of, sink_words

__all__ = ["GROUP_ENDS", "GROUP_STARTS", "REPEAT_ENDS", "REPEAT_STARTS", "Row", "Workbook"]

GROUP_STARTS, GROUP_ENDS = {"begin_group", "begin group"}, {"end_group", "end group"}
REPEAT_STARTS, REPEAT_ENDS = {"begin_repeat", "begin repeat"}, {"end_repeat", "end repeat"}
_RECORDED = {
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
_NAMED = {"name": "name", "label": "label"}
_WORDS = (
    "naysay_first_label",
    "naysay_sink_label",
    "naysay_sink",
)  # columns with words for the responses; without them the design has its own
_DESIGN = ("naysay_design", "naysay_levels", "naysay_sink")
_BESIDE = (
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
        own = {name: column for kind in KINDS.values() for name, column in kind.fields.items()}
        worded = next((name for name in _WORDS if self.text(name) or self.label(name)), "naysay_design")
        relevant = self._expression("relevant")
        head = {**self._named(_FIELDS | own | {"private.responses": worded}), "hint": self.label("hint")}
        return head | ({} if relevant is None else {"relevant": relevant})

    def _named(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """Name and label; the places of these fields are recorded."""
        self.workbook.draft.places.update(self.columns.places(self.path, self.number, fields))
        return {"name": self.text("name"), "label": self.label("label")}

    def item(self) -> dict[str, Any] | None:
        """The question or note of the row; None where it cannot be read at all."""
        text = self.text("type")
        if text.lower() in _RECORDED:
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
            own = check_of(self.languages)
            head = self.head()
            return own | head | {"label": own["label"] | head["label"], "required": self.required()}
        found = _kind_asked(text)
        if found is None:
            message = f"type {text!r} is not asked here" if text else "a row must have a type"
            self.problem("type", message, _way_out(text))
            return None
        kind, self._list, rest = found
        item = {"kind": kind.flavor(), **self.head()}
        if constraint := self._expression("constraint"):
            item["constraint"] = {"expression": constraint, "message": self.label("constraint_message")}
        item["required"] = self.required()
        if rest:
            reason = "a free text beside a list is a question of its own"
            way_out = "add a choice other, and a text question with relevant selected(${…}, 'other')"
            self.problem("type", f"{rest!r} after a list is not understood", way_out, reason)
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
        for column in (*_DESIGN, *_BESIDE):
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
            book.draft.places.update(columns.places(f"{path}[{place}]", line, _NAMED))
        return [{"name": columns.text(row, "name"), "label": columns.label(row, "label")} for _, row in rows]

    def _private(self, item: dict[str, Any]) -> dict[str, Any]:
        kind = KINDS[item["kind"]]
        if kind.categories_in != "bins" and self.text("naysay_bins"):
            self.problem("naysay_bins", f"a {item['kind']} has no bins", "bins are for integer and decimal")
        column = next((name for name in _DESIGN if self.text(name)), None)
        if column is None:
            beside = next((name for name in _BESIDE if self.text(name) or self.label(name)), None)
            if beside is not None:
                way_out = "write bind::naysay_design, such as crosswise(prevalence=1/4), or leave it out"
                message = f"bind::{beside} goes with a private question, and this one has no design"
                self.problem(beside, message, way_out, SENT_PLAINLY)
            return {}
        names = [each["name"] for each in item.get(kind.categories_in, ())]
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
                told = {
                    "mode": self.text("naysay_mode"),
                    "several": kind.categories_of(("a",)) != ("a",),
                    **self._told(),
                }
                begins = {"begins_at": self.text("naysay_begins_at")} if self.text("naysay_begins_at") else {}
                return {"private": carried_out(private, self.languages, **told) | begins}
            except (DesignError, DataError) as error:
                self.problem(column, str(error))
        return {}

    def _told(self) -> dict[str, Any]:
        """The words with which a design is carried out."""
        columns = {"innocuous": "naysay_innocuous", "first": "naysay_first_label", "second": "naysay_second_label"}
        return {name: self.label(column) for name, column in columns.items()}

    def grid(self, head: dict[str, Any], members: Sequence[Row]) -> dict[str, Any] | None:
        """A grid, from the rows of a group that share a list; this row begins the group."""
        rows: list[dict[str, Any]] = []
        lists, required = [], []
        for row in members:
            found = _kind_asked(row.text("type"))
            if found is None or found[0] is not SelectOne:
                row.problem("type", "a row of a grid must be a select_one", "move it out of the group")
                continue
            lists.append(found[1])
            if "label" in row.text("appearance").lower().split():
                continue  # the header row of a table, from XLSForm's old way of writing grids
            row.path = f"{self.path}.rows[{len(rows)}]"
            rows.append(row._of_grid())
            required.append(row.required())
        if len(set(lists)) > 1:
            way_out = "take one list for all rows"
            self.problem("type", f"the rows of a grid must share one list; got {_checks.shown(lists)}", way_out)
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
        return self._named(_NAMED)


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
            found = re.fullmatch(pattern, text, re.IGNORECASE)
            if found is not None:
                return kind, found[1], found[2].strip()
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
    known = [kind.types[0] for kind in KINDS.values() if kind.types]
    return _WAYS_OUT.get(word) or f"the types are {', '.join([*known, 'note', CHECK, 'begin_group', 'end_group'])}"
