"""Questionnaires from files: canonical JSON or XLSForm, with every problem that they have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from naysay.errors import DataError
from naysay.questionnaire.checker import check
from naysay.questionnaire.content import content_of
from naysay.questionnaire.items import Group, Item
from naysay.questionnaire.problems import Problem, QuestionnaireError, located, of_validation
from naysay.questionnaire.questionnaire import Questionnaire
from naysay.questionnaire.xlsform import Draft, read_xlsform

__all__ = ["Examined", "examine", "load", "of_form"]

_MOST_NESTED = 12
_ITEM: TypeAdapter[Any] = TypeAdapter(Item)


@dataclass(frozen=True)
class Examined:
    """What a file holds.

    Parameters
    ----------
    questionnaire : Questionnaire or None
        None where there are errors.
    problems : tuple of Problem
        Errors first.

    Examples
    --------
    >>> from naysay.questionnaire import of_form, sample
    >>> found = of_form(sample().form())
    >>> found.questionnaire.name, found.problems
    ('sample', ())
    """

    questionnaire: Questionnaire | None
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that keep it from being fielded."""
        return tuple(each for each in self.problems if each.severity == "error")


def load(path: str | Path) -> Questionnaire:
    """The questionnaire in a file, ready to be fielded.

    Parameters
    ----------
    path : str or Path
        Canonical JSON (.json), or an XLSForm (.xlsx, .csv, .md).

    Returns
    -------
    Questionnaire

    Raises
    ------
    QuestionnaireError
        A questionnaire with errors: all of them, in ``problems``.
    DataError
        A file that cannot be read, or must not be opened.

    Examples
    --------
    >>> import tempfile
    >>> from naysay.questionnaire import sample
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "sample.json")
    ...     written = path.write_bytes(sample().to_json())
    ...     load(path) == sample()
    True
    """
    examined = examine(path)
    if examined.questionnaire is None:
        raise QuestionnaireError(Path(path).name, examined.problems)
    return examined.questionnaire


def examine(path: str | Path) -> Examined:
    """The questionnaire in a file, and every problem that it has.

    Parameters
    ----------
    path : str or Path
        Canonical JSON (.json), or an XLSForm (.xlsx, .csv, .md).

    Returns
    -------
    Examined

    Raises
    ------
    DataError
        A file that cannot be read, or must not be opened.

    Examples
    --------
    >>> import tempfile
    >>> from naysay.questionnaire import sample
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "survey.json")
    ...     written = path.write_bytes(sample().to_json())
    ...     examine(path).problems
    ()
    """
    path = Path(path)
    return _examined(Draft(_json(path)) if path.suffix.lower() == ".json" else read_xlsform(path))


def of_form(form: Mapping[str, Any]) -> Examined:
    """The questionnaire that a JSON object describes, and every problem that it has.

    Parameters
    ----------
    form : object
        The canonical form.

    Returns
    -------
    Examined

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> of_form(sample().form()).errors
    ()
    """
    return _examined(Draft(dict(form)))


def _json(path: Path) -> dict[str, Any]:
    try:
        form = json.loads(content_of(path).decode("utf-8-sig"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path.name!r} must be JSON in UTF-8; {error}") from None
    if not isinstance(form, dict) or form.get("naysay") != "questionnaire":
        raise DataError(f'{path.name!r} must be an object with "naysay": "questionnaire"')
    return form


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _examined(draft: Draft) -> Examined:
    problems = list(draft.problems)
    questionnaire = _Reader(problems, draft.omitted).questionnaire(draft.form)
    problems += check(questionnaire, omitted=draft.omitted)
    if any(each.rule == "form" and each.path.startswith("languages") for each in problems):
        problems = [each for each in problems if each.rule != "languages"]
    found = _sorted(located(problems, draft.places))
    broken = any(each.severity == "error" for each in found)
    return Examined(None if broken else questionnaire, tuple(found))


def _sorted(problems: list[Problem]) -> list[Problem]:
    """Errors first, in the order of the sheets; a choice that several questions share has its problem once."""
    once = {(each.rule, each.message, each.place or each.path): each for each in problems}
    return sorted(once.values(), key=lambda each: (each.severity, *_order(each)))


def _order(problem: Problem) -> tuple[int, int]:
    place = problem.place
    sheets = ("settings", "survey", "choices")
    return (0, 0) if place is None else (sheets.index(place.sheet) if place.sheet in sheets else 3, place.row or 0)


class _Reader:
    """Makes a questionnaire of what can be read; what cannot is noted, and a note stands in its place.

    So every path keeps its meaning, and the rest is checked.
    """

    def __init__(self, problems: list[Problem], omitted: set[str]) -> None:
        self.problems, self.omitted = problems, omitted
        self.languages: tuple[str, ...] = ()
        self.replaced = 0

    def questionnaire(self, form: Mapping[str, Any]) -> Questionnaire:
        head = {name: value for name, value in form.items() if name != "items"}
        raw = form.get("items")
        if not isinstance(raw, list):
            self.problems.append(Problem("form", "items must be a list of questions", path="items"))
            raw = []
        try:
            whole = Questionnaire.model_validate({**head, "items": []})
        except ValidationError as error:
            self.problems += of_validation(error)
            whole = self._salvaged(head, error)
        self.languages = whole.languages
        items = tuple(self._item(each, f"items[{place}]", 0) for place, each in enumerate(raw))
        return whole.model_copy(update={"items": items})

    def _salvaged(self, head: Mapping[str, Any], error: ValidationError) -> Questionnaire:
        """The rest of a questionnaire whose own fields are wrong."""
        wrong = {each["loc"][0] for each in error.errors() if each["loc"]}
        kept = {name: value for name, value in head.items() if name not in wrong}
        languages = kept.get("languages", ("en",))
        spare = {"name": "unread", "languages": languages, "title": dict.fromkeys(languages, "-")}
        return Questionnaire.model_validate({**spare, **kept, "items": []})

    def _item(self, raw: Any, path: str, depth: int) -> Any:
        inner = raw.get("items") if isinstance(raw, dict) and raw.get("kind") == "group" else None
        if isinstance(inner, list):
            return self._group(raw, inner, path, depth)
        try:
            return _ITEM.validate_python(raw)
        except ValidationError as error:
            self.problems += of_validation(error, path)
            if isinstance(raw, dict):
                self.omitted.add(str(raw.get("name")))
            return _ITEM.validate_python({"kind": "note", **self._spare()})

    def _group(self, raw: dict[str, Any], inner: list[Any], path: str, depth: int) -> Any:
        if depth >= _MOST_NESTED:
            message = f"groups must be nested {_MOST_NESTED} deep at most"
            self.problems.append(Problem("form", message, "", "put some of them side by side", path=path))
            inner = []
        try:
            group = Group.model_validate({**raw, "items": []})
        except ValidationError as error:
            self.problems += of_validation(error, path)
            group = Group.model_validate({"items": [], **self._spare()})
        items = tuple(self._item(each, f"{path}.items[{place}]", depth + 1) for place, each in enumerate(inner))
        return group.model_copy(update={"items": items})

    def _spare(self) -> dict[str, Any]:
        self.replaced += 1
        return {"name": f"unread-{self.replaced}", "label": dict.fromkeys(self.languages, "-")}
