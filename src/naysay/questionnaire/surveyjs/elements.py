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
        given = {DEFAULT: value} if isinstance(value, str) else value
        if given is None:
            return {}
        if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
            self.problem(path, "a text must be written in quotes, or as an object with a text for each language")
            return {}
        named = {self.languages[0] if name == DEFAULT else name: text for name, text in given.items()}
        return {name: _PIPED.sub(self._piped, text) for name, text in named.items() if name in self.languages}

    def _piped(self, found: re.Match[str]) -> str:
        asked = self.questions.get(found[1].strip())
        return f"${{{asked.name}}}" if asked else found[0]


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

    def condition(self, key: str, *, own: str = "") -> Any:
        """A condition in its canonical form; None where there is none, or none that can be read."""
        text = self.get(key)
        if text in (None, ""):
            return None
        try:
            if not isinstance(text, str):
                raise DataError(f"a condition must be a text; got {type(text).__name__}")
            return condition(text, self.source.questions, own=own).model_dump(mode="json")
        except DataError as error:
            self.problem(key, str(error))
            return None

    def listed(self, key: str) -> list[dict[str, Any]]:
        """The members of a list, such as choices or rows, each as an object with a value."""
        found = self.get(key, [])
        if not isinstance(found, list):
            self.problem(key, f"{key} must be a list")
            return []
        members = []
        for place, each in enumerate(found):
            member = each if isinstance(each, dict) else {"value": each}
            if not isinstance(member.get("value"), str | int | float | bool):
                self.problem(f"{key}[{place}]", "a choice must have a value", "write one, such as 1 or yes")
                continue
            for rule in ("visibleIf", "enableIf", "elements"):
                if member.get(rule):
                    way_out = "offer it to everybody, or ask a question for each group, each with visibleIf"
                    self.problem(f"{key}[{place}].{rule}", f"one choice by itself has no {rule} here", way_out)
            members.append(member | {"at": f"{self.path}.{key}[{place}]"})
        return members

    def listed_raw(self, key: str) -> list[Any]:
        """The members of a list as they are written; empty where there is no list."""
        found = self.get(key, [])
        return found if isinstance(found, list) else []

    def choices(
        self, members: Sequence[Mapping[str, Any]], codes: Mapping[str, str], path: str
    ) -> list[dict[str, Any]]:
        """Choices or rows in their canonical form; `path` is where they stand in it."""
        found = []
        for place, each in enumerate(members):
            value, at = each["value"], str(each.get("at", self.path))
            told = self.source.text(each.get("text"), f"{at}.text")
            label = told or dict.fromkeys(self.source.languages, key_of(value))
            self.source.draft.places[f"{path}[{place}]"] = Place(path=at)
            found.append({"name": codes[key_of(value)], "label": label})
            if told and codes[key_of(value)] != key_of(value):
                message = f"the value {key_of(value)!r} is called {codes[key_of(value)]!r} in data"
                self.source.problem(at, message, severity="warning")
        return found

    def private(self, item: dict[str, Any], codes: Mapping[str, str]) -> dict[str, Any]:
        """The privacy that the custom property describes, with bins where a number has them."""
        told = self.get(PRIVACY)
        self.source.privacy.add(f"{self.path}.{PRIVACY}")
        if told in (None, ""):
            return {}
        whole = isinstance(told, str) or (isinstance(told, dict) and told.get("naysay") == "design")
        wanted = {"design": told} if whole else told
        if not isinstance(wanted, dict) or not set(wanted) <= set(_PRIVACY):
            self.problem(PRIVACY, f"it must be a design, or an object of {', '.join(_PRIVACY)}")
            return {}
        kind = KINDS[item["kind"]]
        if not kind.categories_in:
            way_out = "ask with radiogroup, dropdown, checkbox, boolean, or a number with bins"
            self.problem(PRIVACY, f"a {self.type} cannot be private", way_out, "designs are about categories")
            return {}
        try:
            return self._private(item, {name: wanted.get(name, "") for name in _PRIVACY}, codes)
        except (DesignError, DataError, TypeError, ValueError, RecursionError) as error:
            self.problem(PRIVACY, str(error))
            return {}

    def _private(self, item: dict[str, Any], wanted: dict[str, Any], codes: Mapping[str, str]) -> dict[str, Any]:
        kind, languages = KINDS[item["kind"]], self.source.languages
        bins = {}
        if kind.categories_in == "bins":
            ends = [float(each) for each in _list_of(wanted["bins"])]
            if not ends:
                raise DataError("a private number needs bins: write where they end, such as [20, 40, 60]")
            bins = {"bins": bins_of(ends, languages, whole=item["kind"] == "integer")}
        elif wanted["bins"]:
            raise DataError("bins are for numbers; choices are categories already")
        names = kind.categories_of([each["name"] for each in (item | bins)[kind.categories_in]])
        design, sinks = wanted["design"], [codes.get(key_of(each), str(each)) for each in _list_of(wanted["sink"])]
        texts = {
            name: self.source.text(wanted[name] or None, f"{self.path}.{PRIVACY}.{name}")
            for name in ("sinkLabel", "innocuous", "firstLabel", "secondLabel")
        }
        form = private_of(
            names,
            design=json.dumps(design) if isinstance(design, dict) else str(design),
            levels=", ".join(map(str, _list_of(wanted["levels"]))),
            sink=", ".join(sinks),
            words=texts["sinkLabel"] or sink_words(languages),
        )
        told = {name: texts[f"{name}Label"] for name in ("first", "second")}
        mode, several = ", ".join(_list_of(wanted["mode"])), item["kind"] == "select_multiple"
        form = carried_out(form, languages, mode=mode, several=several, innocuous=texts["innocuous"], **told)
        begins = {"begins_at": str(wanted["beginsAt"])} if wanted["beginsAt"] else {}
        return {**bins, "private": form | begins}


def _list_of(value: Any) -> list[Any]:
    """Several values: a list, or a text with commas between them."""
    if isinstance(value, list):
        return value
    return [each.strip() for each in str(value).split(",") if each.strip()]


def codes_of(members: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The names of choices, by their values."""
    return coded(each["value"] for each in members)
