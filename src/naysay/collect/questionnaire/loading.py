"""Questionnaires from files: canonical JSON, XLSForm or SurveyJS, with every problem that they have."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from naysay import _checks
from naysay.collect.questionnaire.arms import complete_controls
from naysay.collect.questionnaire.kinds import KINDS
from naysay.collect.questionnaire.questionnaire import ITEM, Group, Item, Note, Questionnaire
from naysay.collect.questionnaire.questions import Draft, Problem, QuestionnaireError, located
from naysay.collect.questionnaire.rules import check
from naysay.collect.questionnaire.surveyjs import is_surveyjs, read_surveyjs
from naysay.collect.questionnaire.xlsform import read_xlsform
from naysay.collect.questionnaire.xlsform_sheets import content_of
from naysay.errors import DataError

_MOST_NESTED = 12
_SHAPES = {
    "string_type": "a text, in quotation marks",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "tuple_type": "a list",
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type", "dataclass_type"), "an object"),
}  # by pydantic's names of errors


@dataclass(frozen=True)
class Examined:
    """The questionnaire in a file, and its problems.

    Parameters
    ----------
    questionnaire : Questionnaire or None
        None where there are errors.
    problems : tuple of Problem
        Errors first.

    Examples
    --------
    >>> from naysay.collect.questionnaire import of_form, sample
    >>> found = of_form(sample().form())
    >>> found.questionnaire.name, found.problems
    ('sample', ())
    """

    questionnaire: Questionnaire | None
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that keep the questionnaire from being fielded."""
        return tuple(problem for problem in self.problems if problem.severity == "error")


def load(path: str | Path) -> Questionnaire:
    """The questionnaire in a file, ready to be fielded.

    Parameters
    ----------
    path : str or Path
        Canonical JSON or that of SurveyJS (.json), or an XLSForm (.xlsx, .csv, .md).

    Returns
    -------
    Questionnaire

    Raises
    ------
    QuestionnaireError
        The questionnaire has errors; ``problems`` holds all of them.
    DataError
        A file that cannot be read, or must not be opened.

    Examples
    --------
    >>> import tempfile
    >>> from naysay.collect.questionnaire import sample
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
        Canonical JSON or that of SurveyJS (.json), or an XLSForm (.xlsx, .csv, .md).

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
    >>> from naysay.collect.questionnaire import sample
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "survey.json")
    ...     written = path.write_bytes(sample().to_json())
    ...     examine(path).problems
    ()
    """
    path = Path(path)
    if path.suffix.lower() != ".json":
        return _examine_draft(read_xlsform(path))
    form = _json(path)
    return _examine_draft(read_surveyjs(form, name=path.stem) if is_surveyjs(form) else Draft(form))


def of_form(form: Mapping[str, object]) -> Examined:
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
    >>> from naysay.collect.questionnaire import sample
    >>> of_form(sample().form()).errors
    ()
    """
    return _examine_draft(Draft(copy.deepcopy(dict(form))))  # what a control leaves out is filled in


def _json(path: Path) -> dict[str, object]:
    try:
        file_text = content_of(path).decode("utf-8-sig")
        form = json.loads(file_text, parse_constant=_no_number, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path.name!r} must be JSON in UTF-8; {error}") from None
    if not isinstance(form, dict) or not (form.get("naysay") == "questionnaire" or is_surveyjs(form)):
        expected_content = 'an object with "naysay": "questionnaire", or a survey of SurveyJS with its pages'
        raise DataError(f"{path.name!r} must be {expected_content}")
    return form


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose fields differ: of two "private", the last would silently undo the first."""
    fields: dict[str, object] = {}
    for field_name, value in pairs:
        if field_name in fields:
            raise ValueError(f"the field {field_name!r} is there twice in one object; leave one out")
        fields[field_name] = value
    return fields


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _examine_draft(draft: Draft) -> Examined:
    """Errors first, in the order of the sheets. If several questions share a choice, its problem appears once."""
    problems = list(draft.problems)
    complete_controls(draft.form)
    questionnaire = _Reader(problems, draft.omitted).questionnaire(draft.form)
    problems += check(questionnaire, omitted=draft.omitted)
    if any(problem.rule == "form" and problem.path.startswith("languages") for problem in problems):
        problems = [problem for problem in problems if problem.rule != "languages"]
    distinct_problems = {
        (problem.rule, problem.message, problem.place or problem.path): problem
        for problem in located(problems, draft.places)
    }
    sorted_problems = sorted(
        distinct_problems.values(), key=lambda problem: (problem.severity, problem.place.order if problem.place else ())
    )
    return Examined(
        None if any(problem.severity == "error" for problem in sorted_problems) else questionnaire,
        tuple(sorted_problems),
    )


class _Reader:
    """Makes a questionnaire from what can be read. An item that cannot is recorded, and a note stands in its place.

    So every path keeps its meaning, and the rest is checked.
    """

    def __init__(self, problems: list[Problem], omitted: set[str]) -> None:
        self.problems, self.omitted = problems, omitted
        self.languages: tuple[str, ...] = ()
        self.replaced = 0

    def questionnaire(self, form: Mapping[str, object]) -> Questionnaire:
        head_fields = {field_name: value for field_name, value in form.items() if field_name != "items"}
        raw_items = form.get("items")
        if not isinstance(raw_items, list):
            self.problems.append(Problem("form", "items must be a list of questions", path="items"))
            raw_items = []
        try:
            bare_questionnaire = Questionnaire.model_validate({**head_fields, "items": []})
        except ValidationError as error:
            self.problems += _of_validation(error)
            wrong_fields = {error_detail["loc"][0] for error_detail in error.errors() if error_detail["loc"]}
            right_fields: dict[str, Any] = {
                field_name: value for field_name, value in head_fields.items() if field_name not in wrong_fields
            }
            languages = right_fields.get("languages", ("en",))
            spare_fields = {"name": "unread", "languages": languages, "title": dict.fromkeys(languages, "-")}
            bare_questionnaire = Questionnaire.model_validate({**spare_fields, **right_fields, "items": []})
        self.languages = bare_questionnaire.languages
        return bare_questionnaire.model_copy(update={"items": self._items(raw_items, "items", 0)})

    def _items(self, raw_items: list[object], path: str, depth: int) -> tuple[Item, ...]:
        items: list[Item] = []
        for item_place, raw in enumerate(raw_items):
            item_path = f"{path}[{item_place}]"
            if isinstance(raw, dict) and raw.get("kind") == "group" and isinstance(raw.get("items"), list):
                items.append(self._group(raw, raw["items"], item_path, depth))
                continue
            try:
                items.append(ITEM.validate_python(raw))
            except ValidationError as error:
                self.problems += _of_validation(error, item_path)
                if isinstance(raw, dict):
                    self.omitted.add(str(raw.get("name")))
                items.append(Note.model_validate(self._spare()))
        return tuple(items)

    def _group(self, raw: dict[str, object], inner: list[object], path: str, depth: int) -> Group:
        if depth >= _MOST_NESTED:
            message = f"groups must be nested {_MOST_NESTED} deep at most"
            self.problems.append(Problem("form", message, "", "put some of them side by side", path=path))
            inner = []
        try:
            group = Group.model_validate({**raw, "items": []})
        except ValidationError as error:
            self.problems += _of_validation(error, path)
            group = Group.model_validate({"items": [], **self._spare()})
        return group.model_copy(update={"items": self._items(inner, f"{path}.items", depth + 1)})

    def _spare(self) -> dict[str, Any]:
        self.replaced += 1
        return {"name": f"unread-{self.replaced}", "label": dict.fromkeys(self.languages, "-")}


def _of_validation(error: ValidationError, path: str = "") -> list[Problem]:
    """The problems for which an object cannot be part of a questionnaire."""
    # pydantic's path also names the member of a union that it tried
    union_members = {*KINDS, Note.flavor(), Group.flavor(), *_NODES, *_PRACTICE}
    problems = []
    for error_detail in error.errors(include_url=False, include_context=False):
        path_steps = [path_step for path_step in error_detail["loc"] if path_step not in union_members]
        inner_path = "".join(
            f"[{path_step}]" if isinstance(path_step, int) else f".{path_step}" for path_step in path_steps
        )
        field_name = str(path_steps[-1]) if path_steps else ""
        in_coded_list, wrong_input = bool(_CODED & set(path_steps)), error_detail.get("input")
        message, way_out = _message_and_way_out(
            error_detail["type"], error_detail["msg"], wrong_input, field_name, coded=in_coded_list, whole=not path
        )
        problems.append(Problem("form", message, "", way_out, path=(path + inner_path).lstrip(".")))
    return problems


def _message_and_way_out(
    kind: str, pydantic_message: str, value: object, field: str, *, coded: bool, whole: bool
) -> tuple[str, str]:
    """The problem of a field, and the way out."""
    got_text = f"got {_checks.listing_text([value])}"
    if kind in _SHAPES:
        return f"{field or 'an item'} must be {_SHAPES[kind]}; got {value!r:.60}", ""
    if kind == "string_pattern_mismatch" and field == "name" and whole:
        message = "the name of a questionnaire must hold lower-case letters, digits, _ and - only"
        return f"{message}; {got_text}", "it stands in links; write it as survey-1"
    if kind == "string_pattern_mismatch" and field == "name" and coded:
        way_out = "write it without spaces, such as so_so, c1 or 1; what respondents read is the label"
        return f"the name of a choice must hold letters, digits, _ and - only; {got_text}", way_out
    if kind == "string_pattern_mismatch" and field == "name":
        message = f"a name must begin with a letter and hold letters, digits, _ and - only; {got_text}"
        return message, "write a letter first, such as c1, and no spaces"
    if kind.startswith("union_tag"):
        given_kind = value.get("kind") if isinstance(value, dict) else value
        kind_names = sorted((*KINDS, Note.flavor(), Group.flavor()))
        return f"kind must be one of those that there are; got {given_kind!r}", f"items are {', '.join(kind_names)}"
    if kind == "missing":
        return f"{field} is missing", "fill it in"
    if kind == "extra_forbidden":
        return f"there is no field {field!r}", "leave it out"
    reworded_message = pydantic_message.replace("Input should", f"{field or 'an item'} must").replace("should", "must")
    return f"{reworded_message[:1].lower()}{reworded_message[1:]}; {got_text}", ""


_CODED = {"choices", "bins", "rows"}  # names in these lists may be numbers
_PRACTICE = {"bool", "Practice"}
_NODES = {"value", "answer", "sent", "apply"}  # of expressions
