"""One row of the survey sheet to one question: its type, its texts, its conditions, its privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from naysay import _checks
from naysay.errors import DataError, DesignError
from naysay.questionnaire import types
from naysay.questionnaire.columns import Columns
from naysay.questionnaire.offers import YES_NO, bins_of, private_of, sink_words
from naysay.questionnaire.parsing import parse_expression
from naysay.questionnaire.problems import Place, Problem

__all__ = ["Rows"]

Row = Mapping[str, str]

_YES, _NO = {"yes", "true", "true()", "1"}, {"", "no", "false", "false()", "0"}
_FIELDS = {
    "name": "name", "label": "label", "hint": "hint", "relevant": "relevant", "constraint": "constraint",
    "constraint.expression": "constraint", "constraint.message": "constraint_message", "required": "required",
    "kind": "type", "private": "naysay_design", "private.by_hand": "naysay_levels", "bins": "naysay_bins",
    "low": "naysay_range", "high": "naysay_range",
    "low_label": "naysay_low_label", "high_label": "naysay_high_label", "max_length": "naysay_max_length",
    "lines": "naysay_lines",
}  # fmt: skip
_WORDS = ("naysay_sink_label", "naysay_sink", "naysay_design")  # what has words for responses, or asks for some
_PRIVACY = ("naysay_design", "naysay_levels", "naysay_sink")
_MOST_LIKERT = 21


class Rows:
    """Reads rows; what cannot be read becomes a problem, and the rest goes on.

    Parameters
    ----------
    columns, choice_columns : Columns
    lists : {list: rows}
    languages : sequence of str
    problems : list of Problem
        Added to.
    places : {path: Place}
        Added to.
    """

    def __init__(
        self,
        columns: Columns,
        choice_columns: Columns,
        lists: Mapping[str, Sequence[tuple[int, Row]]],
        languages: Sequence[str],
        problems: list[Problem],
        places: dict[str, Place],
    ) -> None:
        self.columns, self.choice_columns, self.lists, self.languages = columns, choice_columns, lists, languages
        self.problems, self.places = problems, places

    def problem(self, number: int, meaning: str, message: str, way_out: str = "", reason: str = "") -> None:
        """Note what is wrong with a cell."""
        place = Place("survey", number, self.columns.plain.get(meaning))
        self.problems.append(Problem("cells", message, reason, way_out, place=place))

    def _unused(self, number: int, meaning: str, message: str) -> None:
        place = Place("survey", number, self.columns.plain[meaning])
        self.problems.append(Problem("cells", message, severity="warning", place=place))

    def head(self, number: int, row: Row, path: str) -> dict[str, Any]:
        """What every row may have: name, texts, and when it is asked."""
        worded = next(name for name in _WORDS if name == "naysay_design" or self._filled(row, name))
        self.places.update(self.columns.places(path, number, _FIELDS | {"private.responses": worded}))
        head: dict[str, Any] = {"name": self.columns.text(row, "name"), "label": self.columns.label(row, "label")}
        head["hint"] = self.columns.label(row, "hint")
        relevant = self._expression(number, row, "relevant")
        return head | ({} if relevant is None else {"relevant": relevant})

    def item(self, number: int, row: Row, path: str) -> dict[str, Any] | None:
        """The question or note of a row; None where it cannot be read at all."""
        text = self.columns.text(row, "type")
        found = types.listed(text)
        kind = found[0] if found else types.PLAIN.get(text.lower())
        if text.lower() in types.RECORDED:
            self._unused(number, "type", f"{text!r} is not recorded, since it would tell who answered")
            return None
        if kind is None:
            message = f"type {text!r} is not asked here" if text else "a row must have a type"
            self.problem(number, "type", message, types.way_out(text))
            return None
        item = {"kind": kind, **self.head(number, row, path)}
        if kind == "note":
            return item
        item |= self._asked(number, row)
        if found:
            item |= self._listed(number, found, path)
            if not item["choices"]:
                return None
            if kind == "select_one" and "likert" in self.columns.text(row, "appearance").lower():
                item = _likert(item)
        if self.columns.text(row, "parameters") and kind != "rating":
            self._unused(number, "parameters", f"parameters of {text!r} are not used: leave them out")
        item |= self._extras(number, row, item["kind"])
        return item | self._private(number, row, item)

    def _filled(self, row: Row, meaning: str) -> bool:
        return bool(self.columns.text(row, meaning) or self.columns.label(row, meaning))

    def _asked(self, number: int, row: Row) -> dict[str, Any]:
        asked: dict[str, Any] = {"required": self._required(number, row)}
        constraint = self._expression(number, row, "constraint")
        message = self.columns.label(row, "constraint_message")
        if constraint is not None:
            asked["constraint"] = {"expression": constraint, "message": message}
        return asked

    def _required(self, number: int, row: Row) -> bool:
        text = self.columns.text(row, "required").lower()
        if text not in _YES | _NO:
            self.problem(number, "required", f"required must be yes or no; got {text!r}", "use relevant for conditions")
        return text in _YES

    def _expression(self, number: int, row: Row, meaning: str) -> Any:
        text = self.columns.text(row, meaning)
        if not text:
            return None
        try:
            return parse_expression(text).model_dump(mode="json")
        except DataError as error:
            self.problem(number, meaning, str(error))
            return None

    def _listed(self, number: int, found: tuple[str, str, str], path: str) -> dict[str, Any]:
        _, name, rest = found
        if rest:
            reason = "a free text beside a list is a question of its own"
            way_out = "add a choice other, and a text question with relevant selected(${…}, 'other')"
            self.problem(number, "type", f"{rest!r} after a list is not understood", way_out, reason)
        return {"choices": self.choices(number, name, f"{path}.choices")}

    def choices(self, number: int, name: str, path: str) -> list[dict[str, Any]]:
        """The choices of a list, with their places."""
        rows = self.lists.get(name, ())
        if not rows:
            hint = _checks.nearest(name, self.lists) if self.lists else "the sheet choices is empty"
            self.problem(number, "type", f"the sheet choices has no list {name!r}; {hint}")
        found = []
        for place, (line, row) in enumerate(rows):
            fields = {"name": "name", "label": "label"}
            self.places.update(self.choice_columns.places(f"{path}[{place}]", line, fields))
            named, label = self.choice_columns.text(row, "name"), self.choice_columns.label(row, "label")
            found.append({"name": named, "label": label})
        return found

    def _extras(self, number: int, row: Row, kind: str) -> dict[str, Any]:
        """What only some kinds have."""
        if kind == "rating":
            labels = {name: self.columns.label(row, f"naysay_{name}") for name in ("low_label", "high_label")}
            ends = self._scale(number, row) if self.columns.text(row, "type").lower() == "range" else {}
            return ends | {name: label for name, label in labels.items() if label}
        if kind == "text":
            lines = {"lines": 4} if "multiline" in self.columns.text(row, "appearance") else {}
            numbers = {name: self._whole(number, row, f"naysay_{name}") for name in ("max_length", "lines")}
            return lines | {name: value for name, value in numbers.items() if value is not None}
        if kind in ("integer", "decimal"):
            return self._range(number, row, kind)
        return {}

    def _scale(self, number: int, row: Row) -> dict[str, int]:
        given = dict(
            part.partition("=")[::2] for part in self.columns.text(row, "parameters").replace(",", " ").split()
        )
        ends = {}
        for name, key, default in (("low", "start", 1), ("high", "end", 5), ("", "step", 1)):
            text = given.pop(key, str(default))
            value = _number(text)
            if value is None or value != int(value) or (key == "step" and value != 1):
                only = "1" if key == "step" else "a whole number"
                way_out = "ask with integer or decimal and bind::naysay_range"
                self.problem(number, "parameters", f"{key} must be {only}; got {text!r}", way_out)
            elif name:
                ends[name] = int(value)
        if given:
            self.problem(
                number, "parameters", f"parameters {_checks.shown(given)} are not understood", "leave them out"
            )
        return ends

    def _whole(self, number: int, row: Row, meaning: str) -> int | None:
        text = self.columns.text(row, meaning)
        if text and not (text.isdecimal() and len(text) < 6):
            self.problem(number, meaning, f"here must stand a whole number; got {text!r}")
            return None
        return int(text) if text else None

    def _range(self, number: int, row: Row, kind: str) -> dict[str, Any]:
        text = self.columns.text(row, "naysay_range")
        if not text:
            return {}
        low, dots, high = text.partition("..")
        ends = {name: _number(end) for name, end in (("low", low), ("high", high)) if end.strip()}
        if not dots or None in ends.values():
            self.problem(
                number, "naysay_range", f"a range is written as 0..20, or 0.. without an upper end; got {text!r}"
            )
            return {}
        return {name: _as(kind, value) for name, value in ends.items() if value is not None}

    def _private(self, number: int, row: Row, item: dict[str, Any]) -> dict[str, Any]:
        design, levels, sink = (self.columns.text(row, meaning) for meaning in _PRIVACY)
        bins = self._bins(number, row, item["kind"])
        extra: dict[str, Any] = {"bins": bins} if bins else {}
        if not (design or levels or sink):
            return extra
        names = [each["name"] for each in item.get("choices", bins)]
        meaning = next(name for name, text in zip(_PRIVACY, (design, levels, sink), strict=True) if text)
        if item["kind"] not in ("select_one", "select_multiple", "integer", "decimal"):
            way_out = "ask with select_one, select_multiple, or integer and bind::naysay_bins"
            self.problem(
                number, meaning, f"a {item['kind']} cannot be private", way_out, "designs are about categories"
            )
        elif item["kind"] in ("integer", "decimal") and not bins:
            way_out = "write where they end into bind::naysay_bins, as 20,40,60"
            self.problem(number, meaning, "a private number needs bins", way_out, "a design is about categories")
        elif names:
            categories = YES_NO if item["kind"] == "select_multiple" else names
            return extra | self._offer(number, row, meaning, categories)
        return extra

    def _offer(self, number: int, row: Row, meaning: str, categories: Sequence[str]) -> dict[str, Any]:
        cells = {name.removeprefix("naysay_"): self.columns.text(row, name) for name in _PRIVACY}
        words = self.columns.label(row, "naysay_sink_label") or sink_words(self.languages)
        try:
            return {"private": private_of(categories, **cells, words=words)}
        except (DesignError, DataError) as error:
            self.problem(number, meaning, str(error))
            return {}

    def _bins(self, number: int, row: Row, kind: str) -> list[dict[str, Any]]:
        text = self.columns.text(row, "naysay_bins")
        if not text or kind not in ("integer", "decimal"):
            if text:
                self.problem(number, "naysay_bins", f"a {kind} has no bins", "bins are for integer and decimal")
            return []
        named, colon, listed = text.rpartition(":")
        bounds = [_number(each) for each in listed.split(",")]
        known = [each for each in bounds if each is not None]
        if len(known) < len(bounds):
            message = f"bins are written as the numbers between them, as 20,40,60; got {text!r}"
            self.problem(number, "naysay_bins", message)
            return []
        edges = [_as(kind, each) for each in known]
        made = bins_of(edges, self.languages, whole=kind == "integer")
        return self._worded(number, named.strip(), made) if colon else made

    def _worded(self, number: int, name: str, bins: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Bins with the names and words of a list of choices."""
        choices = self.choices(number, name, f"lists.{name}")
        if len(choices) != len(bins):
            message = f"{len(bins) - 1} numbers make {len(bins)} bins; the list {name!r} has {len(choices)} choices"
            self.problem(number, "naysay_bins", message, "write one choice for each bin")
            return bins
        return [each | choice for each, choice in zip(bins, choices, strict=True)]

    def grid(
        self, number: int, head: dict[str, Any], members: Sequence[tuple[int, Row]], path: str
    ) -> dict[str, Any] | None:
        """A grid, from the rows of a group that share a list."""
        rows: list[dict[str, Any]] = []
        lists, required = [], []
        for line, row in members:
            found = types.listed(self.columns.text(row, "type"))
            if found is None or found[0] != "select_one":
                self.problem(line, "type", "a row of a grid must be a select_one", "move it out of the group")
                continue
            lists.append(found[1])
            if "label" in self.columns.text(row, "appearance").lower().split():
                continue  # the header of a table, in the old way of writing grids
            rows.append(self._grid_row(line, row, f"{path}.rows[{len(rows)}]"))
            required.append(self._required(line, row))
        if len(set(lists)) > 1:
            way_out = "take one list for all rows"
            self.problem(number, "type", f"the rows of a grid must share one list; got {_checks.shown(lists)}", way_out)
        if not rows:
            self.problem(number, "type", "a grid must have rows", "add select_one rows before end_group")
            return None
        made = {**head, "kind": "grid", "rows": rows, "required": bool(required) and all(required)}
        return made | {"choices": self.choices(number, lists[0], f"{path}.choices")}

    def _grid_row(self, number: int, row: Row, path: str) -> dict[str, Any]:
        for meaning in ("relevant", "constraint", *_PRIVACY):
            if self.columns.text(row, meaning):
                way_out = "write it on the group, or ask a question of its own"
                self.problem(number, meaning, f"a row of a grid has no {meaning} of its own", way_out)
        self.places.update(self.columns.places(path, number, {"name": "name", "label": "label"}))
        return {"name": self.columns.text(row, "name"), "label": self.columns.label(row, "label")}


def _likert(item: dict[str, Any]) -> dict[str, Any]:
    """A rating, where the names of the choices are numbers that go up by one; with others it stays a select one."""
    choices = item["choices"]
    names = [choice["name"] for choice in choices]
    if not all(name.lstrip("-").isdecimal() and len(name) < 6 for name in names) or not names:
        return item
    low, high = int(names[0]), int(names[-1])
    if [str(each) for each in range(low, high + 1)] != names or len(names) > _MOST_LIKERT:
        return item
    rating = {name: value for name, value in item.items() if name != "choices"}
    ends = {"low_label": choices[0]["label"], "high_label": choices[-1]["label"]}
    return rating | {"kind": "rating", "low": low, "high": high, **ends}


def _number(text: str) -> float | None:
    """A decimal number as people write it; None for anything else."""
    stripped = text.strip()
    if len(stripped) > 15 or not stripped.lstrip("-").replace(".", "", 1).isdecimal():
        return None
    return float(stripped) if stripped.count("-") == stripped.startswith("-") else None


def _as(kind: str, value: float) -> float | int:
    return int(value) if kind == "integer" and value == int(value) else value
