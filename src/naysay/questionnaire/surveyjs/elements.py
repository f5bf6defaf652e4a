"""One element of a survey of SurveyJS: its texts, choices, conditions and privacy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from naysay.errors import DataError, DesignError
from naysay.questionnaire.items import KINDS
from naysay.questionnaire.problems import Place, Problem, Severity
from naysay.questionnaire.surveyjs.expressions import Asked, condition
from naysay.questionnaire.surveyjs.names import DEFAULT, coded, key_of
from naysay.questionnaire.xlsform.drafts import Draft
from naysay.questionnaire.xlsform.offers import bins_of, carried_out, private_of, sink_words

PRIVACY = "naysay"
"""The custom property of a question that holds its privacy."""

_PIPED = re.compile(r"\{([^{}]{1,200})\}")
_PRIVACY = (
    "design", "levels", "sink", "sinkLabel", "bins", "mode", "beginsAt", "innocuous", "firstLabel", "secondLabel",
)  # fmt: skip


@dataclass
class Source:
    """A survey of SurveyJS while it is read.

    Parameters
    ----------
    draft : Draft
        What has been read.
    languages : tuple of str
        The survey's own language first.
    questions : {name: Asked}
        Every question by its name in SurveyJS.
    privacy : set of str
        Where privacy has been read, such as ``pages[0].elements[2].naysay``.
    """

    draft: Draft
    languages: tuple[str, ...]
    questions: dict[str, Asked] = field(default_factory=dict)
    privacy: set[str] = field(default_factory=set)

    def problem(
        self, path: str, message: str, way_out: str = "", reason: str = "", severity: Severity = "error"
    ) -> None:
        """Note what is wrong at a place."""
        self.draft.problems.append(Problem("surveyjs", message, reason, way_out, severity, place=Place(path=path)))

    def text(self, value: Any, path: str) -> dict[str, str]:
        """A text in each language that it has; names of questions in braces become those of the questionnaire."""
        text_of_tag = {DEFAULT: value} if isinstance(value, str) else value
        if text_of_tag is None:
            return {}
        if not isinstance(text_of_tag, dict) or not all(isinstance(text, str) for text in text_of_tag.values()):
            self.problem(path, "a text must be written in quotes, or as an object with a text for each language")
            return {}
        text_of_language = {self.languages[0] if name == DEFAULT else name: text for name, text in text_of_tag.items()}
        return {
            name: _PIPED.sub(self._own_reference, text)
            for name, text in text_of_language.items()
            if name in self.languages
        }

    def _own_reference(self, match: re.Match[str]) -> str:
        question = self.questions.get(match[1].strip())
        return f"${{{question.name}}}" if question else match[0]


class Element:
    """A page, panel or question.

    Parameters
    ----------
    source : Source
    raw : object
        As it was written.
    path : str
        Where it stands in SurveyJS, such as ``pages[0].elements[2]``.
    """

    def __init__(self, source: Source, raw: Mapping[str, Any], path: str) -> None:
        self.source, self.raw, self.path = source, raw, path
        self.read: set[str] = set()

    @property
    def type(self) -> str:
        """What kind of element it is, as SurveyJS calls it."""
        return str(self.get("type", "text"))

    @property
    def name(self) -> str:
        """Its name in SurveyJS."""
        return str(self.raw.get("name", ""))

    def get(self, key: str, default: Any = None) -> Any:
        """A property; it counts as read."""
        self.read.add(key)
        return self.raw.get(key, default)

    def problem(
        self, key: str, message: str, way_out: str = "", reason: str = "", severity: Severity = "error"
    ) -> None:
        """Note what is wrong with a property."""
        self.source.problem(f"{self.path}.{key}" if key else self.path, message, way_out, reason, severity)

    def text(self, key: str) -> dict[str, str]:
        """A text in each language that it has; empty where there is none."""
        return self.source.text(self.get(key), f"{self.path}.{key}")

    def label(self) -> dict[str, str]:
        """The title, or else the name, which SurveyJS shows in its place."""
        return self.text("title") or dict.fromkeys(self.source.languages, self.name)

    def number(self, key: str, default: float | None = None) -> float | None:
        """A property that is a number; numbers in quotes count."""
        value = self.get(key)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                value = None
        if value is None and self.raw.get(key) in (None, ""):
            return default
        if type(value) not in (int, float):
            self.problem(key, f"{key} must be a number; got {str(self.raw[key])[:60]!r}")
            return default
        return float(value) if abs(value) < 2**53 else default

    def condition(self, key: str, *, own_name: str = "") -> Any:
        """A condition in its canonical form; None where there is none, or none that can be read."""
        text = self.get(key)
        if text in (None, ""):
            return None
        try:
            if not isinstance(text, str):
                raise DataError(f"a condition must be a text; got {type(text).__name__}")
            return condition(text, self.source.questions, own_name=own_name).model_dump(mode="json")
        except DataError as error:
            self.problem(key, str(error))
            return None

    def members_of_list(self, key: str) -> list[dict[str, Any]]:
        """The members of a list, such as choices or rows, each as an object with a value."""
        raw_list = self.get(key, [])
        if not isinstance(raw_list, list):
            self.problem(key, f"{key} must be a list")
            return []
        members = []
        for place, raw_member in enumerate(raw_list):
            member = raw_member if isinstance(raw_member, dict) else {"value": raw_member}
            if not isinstance(member.get("value"), str | int | float | bool):
                self.problem(f"{key}[{place}]", "a choice must have a value", "write one, such as 1 or yes")
                continue
            for rule in ("visibleIf", "enableIf", "elements"):
                if member.get(rule):
                    way_out = "offer it to everybody, or ask a question for each group, each with visibleIf"
                    self.problem(f"{key}[{place}].{rule}", f"one choice by itself has no {rule} here", way_out)
            members.append(member | {"at": f"{self.path}.{key}[{place}]"})
        return members

    def raw_members(self, key: str) -> list[Any]:
        """The members of a list as they are written; empty where there is no list."""
        raw_list = self.get(key, [])
        return raw_list if isinstance(raw_list, list) else []

    def choices(
        self, members: Sequence[Mapping[str, Any]], codes: Mapping[str, str], path: str
    ) -> list[dict[str, Any]]:
        """Choices or rows in their canonical form; `path` is where they stand in it."""
        choice_forms = []
        for place, choice in enumerate(members):
            value, choice_path = choice["value"], str(choice.get("at", self.path))
            choice_text = self.source.text(choice.get("text"), f"{choice_path}.text")
            label = choice_text or dict.fromkeys(self.source.languages, key_of(value))
            self.source.draft.places[f"{path}[{place}]"] = Place(path=choice_path)
            choice_forms.append({"name": codes[key_of(value)], "label": label})
            if choice_text and codes[key_of(value)] != key_of(value):
                message = f"the value {key_of(value)!r} is called {codes[key_of(value)]!r} in data"
                self.source.problem(choice_path, message, severity="warning")
        return choice_forms

    def private(self, item: dict[str, Any], codes: Mapping[str, str]) -> dict[str, Any]:
        """The privacy that the custom property describes, with bins where a number has them."""
        raw_privacy = self.get(PRIVACY)
        self.source.privacy.add(f"{self.path}.{PRIVACY}")
        if raw_privacy in (None, ""):
            return {}
        is_whole_design = isinstance(raw_privacy, str) or (
            isinstance(raw_privacy, dict) and raw_privacy.get("naysay") == "design"
        )
        privacy_cells = {"design": raw_privacy} if is_whole_design else raw_privacy
        if not isinstance(privacy_cells, dict) or not set(privacy_cells) <= set(_PRIVACY):
            self.problem(PRIVACY, f"it must be a design, or an object of {', '.join(_PRIVACY)}")
            return {}
        kind = KINDS[item["kind"]]
        if not kind.categories_in:
            way_out = "ask with radiogroup, dropdown, checkbox, boolean, or a number with bins"
            self.problem(PRIVACY, f"a {self.type} cannot be private", way_out, "designs are about categories")
            return {}
        try:
            return self._private(item, {name: privacy_cells.get(name, "") for name in _PRIVACY}, codes)
        except (DesignError, DataError, TypeError, ValueError, RecursionError) as error:
            self.problem(PRIVACY, str(error))
            return {}

    def _private(self, item: dict[str, Any], privacy_cells: dict[str, Any], codes: Mapping[str, str]) -> dict[str, Any]:
        kind, languages = KINDS[item["kind"]], self.source.languages
        bins = {}
        if kind.categories_in == "bins":
            ends = [float(end) for end in _list_of(privacy_cells["bins"])]
            if not ends:
                raise DataError("a private number needs bins: write where they end, such as [20, 40, 60]")
            bins = {"bins": bins_of(ends, languages, whole=item["kind"] == "integer")}
        elif privacy_cells["bins"]:
            raise DataError("bins are for numbers; choices are categories already")
        names = kind.categories_of([category["name"] for category in (item | bins)[kind.categories_in]])
        design, sinks = (
            privacy_cells["design"],
            [codes.get(key_of(sink), str(sink)) for sink in _list_of(privacy_cells["sink"])],
        )
        texts = {
            name: self.source.text(privacy_cells[name] or None, f"{self.path}.{PRIVACY}.{name}")
            for name in ("sinkLabel", "innocuous", "firstLabel", "secondLabel")
        }
        form = private_of(
            names,
            design=json.dumps(design) if isinstance(design, dict) else str(design),
            levels=", ".join(map(str, _list_of(privacy_cells["levels"]))),
            sink=", ".join(sinks),
            words=texts["sinkLabel"] or sink_words(languages),
        )
        response_labels = {name: texts[f"{name}Label"] for name in ("first", "second")}
        mode, several = ", ".join(_list_of(privacy_cells["mode"])), item["kind"] == "select_multiple"
        form = carried_out(form, languages, mode=mode, several=several, innocuous=texts["innocuous"], **response_labels)
        begins = {"begins_at": str(privacy_cells["beginsAt"])} if privacy_cells["beginsAt"] else {}
        return {**bins, "private": form | begins}


def _list_of(value: Any) -> list[Any]:
    """Several values: a list, or a text with commas between them."""
    if isinstance(value, list):
        return value
    return [piece.strip() for piece in str(value).split(",") if piece.strip()]


def codes_of(members: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The names of choices, by their values."""
    return coded(member["value"] for member in members)
