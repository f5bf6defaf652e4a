"""Everything that keeps a questionnaire from being fielded, and what its author should know.

Rules about names and texts: unique names, every label in every language, nothing private repeated.

Rules about conditions: they refer only to earlier questions, and never to a true private answer.

Then the door: questionnaires from files, canonical JSON, XLSForm or SurveyJS, with every problem that they have.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from naysay import _checks
from naysay.collect.questionnaire import arms, privacy
from naysay.collect.questionnaire.arms import complete_controls
from naysay.collect.questionnaire.expressions import ARITY, Answer, Apply, Sent, Value, has_order
from naysay.collect.questionnaire.kinds import KINDS
from naysay.collect.questionnaire.questionnaire import (
    ITEM,
    Entry,
    Group,
    Item,
    Note,
    Questionnaire,
    Walk,
    expressions,
    nodes,
    piped,
    truth_column,
)
from naysay.collect.questionnaire.questions import Draft, Problem, Question, QuestionnaireError, located
from naysay.collect.questionnaire.surveyjs import is_surveyjs, read_surveyjs
from naysay.collect.questionnaire.xlsform import read_xlsform
from naysay.collect.questionnaire.xlsform_sheets import content_of
from naysay.errors import DataError

_MANY = 200  # questions; among more of them the nearest name takes long to find
_ASK_ALL = "ask everybody, or branch on a direct answer"


def conditions(walk: Walk) -> Iterator[Problem]:
    """A condition refers only to plain answers and sent responses that are already there."""
    for entry in walk.entries:
        for condition_path, expression in expressions(entry):
            for node in nodes(expression):
                if isinstance(node, Apply):
                    least, most = ARITY[node.op]
                    if not least <= len(node.args) <= most:
                        expected_count = _checks.several(least, "argument", "arguments")
                        message = f"{node.op} takes {expected_count}; got {len(node.args)}"
                        yield Problem("expressions", message, "", "correct the condition", path=condition_path)
                    for argument in node.args if node.op in ("<", "<=", ">", ">=") else ():
                        text = argument.value if isinstance(argument, Value) else None
                        if isinstance(text, str) and not has_order(text):
                            message, reason = (
                                f"{node.op} must compare numbers or days; {text!r} is neither",
                                "it never holds",
                            )
                            way_out = "write a number such as 8.5, or a day such as 2026-11-20"
                            yield Problem("expressions", message, reason, way_out, "warning", path=condition_path)
                elif isinstance(node, Sent) or (isinstance(node, Answer) and node.of != "."):
                    yield from _reference(node, entry, condition_path, walk)
                elif isinstance(node, Answer) and condition_path.endswith(".relevant"):
                    message = "relevant must not refer to the answer itself, '.'"
                    reason = "it is decided before the question is asked"
                    yield Problem("references", message, reason, "refer to another question", path=condition_path)


def _reference(node: Answer | Sent, entry: Entry, path: str, walk: Walk) -> Iterator[Problem]:
    target_entry = walk.by_name.get(node.of)
    if target_entry is None or not isinstance(target_entry.item, Question):
        question_names = [question_entry.item.name for question_entry, _ in walk.questions()]
        hint = _checks.nearest(node.of, question_names) if len(question_names) < _MANY else ""
        message = f"${{{node.of}}} must be a question; there is none of that name"
        yield Problem("references", message, "", hint, path=path)
        return
    if not (target_entry is entry and path.endswith(".constraint.expression")):
        yield from _too_late(target_entry, entry, path, walk)
    if arms.never_together(walk, target_entry, entry):
        message = f"${{{node.of}}} is asked in other arms than {entry.item.name!r}"
        yield Problem("references", message, "there is no answer", "refer to a question of the same arm", path=path)
    question, target = target_entry.item, f"${{{node.of}}}"
    if isinstance(node, Sent):
        if question.privacy is None:
            message, way_out = f"sent() is of a private question; {target} is direct", f"write {target}"
            yield Problem("references", message, "its answer is sent as it is", way_out, path=path)
        elif question.parts:
            message = f"sent() must not be of the select multiple {target}"
            way_out = "ask a select one, or branch on something else"
            yield Problem("references", message, "it sends one response for each choice", way_out, path=path)
        elif question.control is not None:
            message = f"what is asked must not depend on the control {target}"
            reason = "which questions a person answers would tell whether they followed the instruction"
            yield Problem("skip_logic", message, reason, "ask everybody, or branch on another answer", path=path)
        return
    if question.privacy is not None and question is not entry.item:
        rule_name, what, telling = (
            ("skip_logic", "asked", "which questions a person answers")
            if path.endswith(".relevant")
            else ("validation", "accepted", "which answers pass")
        )
        message = f"what is {what} must not depend on the private answer {target}"
        yield Problem(rule_name, message, f"{telling} would tell their true answer", _ASK_ALL, path=path)
    if not question.comparable:
        message = f"a condition must not refer to the {question.kind} {target}"
        reason = "its answer is one choice for each row, which compares with nothing"
        yield Problem("references", message, reason, "ask the row as a question of its own", path=path)


def _too_late(target_entry: Entry, entry: Entry, path: str, walk: Walk) -> Iterator[Problem]:
    """A question is referred to that is not asked before, or not before in every order that lot may give."""
    if walk.precedes(target_entry, entry):
        return
    later, reason, way_out = "it comes later", "there is no answer yet", "move the question up"
    if target_entry.order < entry.order:
        later, way_out = "lot may put it later", "let nothing between a question and its control refer to them"
    message = f"${{{target_entry.item.name}}} must be asked before; {later}"
    yield Problem("references", message, reason, way_out, path=path)


def behind_sent(walk: Walk) -> Iterator[Problem]:
    """A plain question whose condition is a response is a warning: its answers tell whose response was true.

    Respondents whose forced "yes" leads them to "How often?" answer "never" there. All others who are asked it have
    told the truth about the first question.
    """
    for entry, question in walk.questions():
        for outer_entry in (*walk.around(entry), entry) if question.privacy is None else ():
            relevant = outer_entry.item.relevant
            for node in () if relevant is None else nodes(relevant):
                if isinstance(node, Sent):
                    private = f"${{{node.of}}}"
                    message = f"the direct question {question.name!r} is asked after some responses to {private} only"
                    reason = (
                        f"its answers are sent as they are; they tell who gave a true response to {private}, and who a "
                        "random one"
                    )
                    way_out = f"ask {question.name!r} of everybody, make it private, or leave it out"
                    relevant_path = f"{outer_entry.path}.relevant"
                    yield Problem("skip_logic", message, reason, way_out, "warning", path=relevant_path)


def constraints(walk: Walk) -> Iterator[Problem]:
    """A private answer has no constraint; a constraint on a plain answer must have a message."""
    for entry, question in walk.questions():
        constraint, constraint_path = question.constraint, f"{entry.path}.constraint"
        if question.privacy is not None:
            reason = "its message, shown or not, would tell the true answer"
            if constraint is not None:
                message = "a private question must have no constraint"
                yield Problem("validation", message, reason, "leave it out", path=constraint_path)
            bounded_ends = [end_name for end_name in ("low", "high") if getattr(question, end_name, None) is not None]
            if bounded_ends:
                message = "a private number must have no range"
                way_out = "leave it out; the first and the last bin take all numbers"
                yield Problem("validation", message, reason, way_out, path=f"{entry.path}.{bounded_ends[0]}")
        elif constraint is not None and not any(message_text.strip() for message_text in constraint.message.values()):
            message, reason = "a constraint must say what must hold", "respondents cannot guess it"
            yield Problem(
                "validation", message, reason, "write a message", "warning", path=f"{constraint_path}.message"
            )


_MARKUP = re.compile(r"<[A-Za-z/!][^<>]*>")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LEAST, _MOST = 3, 6  # choices of a practice question
_OF_OBJECTS = frozenset(
    ["constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"]
)
"""Names that every JavaScript object has by itself, apart from names that begin with __."""


def names(walk: Walk) -> Iterator[Problem]:
    """Names must differ within the questionnaire and within a list, and be safe in any programming language."""
    yield from _unsafe(walk.whole.name, "name")
    path_of_name: dict[str, str] = {}
    reserved_names = {"day": "the day of the reply"} | (arms.RESERVED if walk.whole.arms else {})
    for _, question in walk.questions():
        if question.control is not None and question.control.truth.lot:
            reserved_names[truth_column(question.name)] = f"the truth of {question.name!r} that lot has drawn"
        # the raw form: the design may be unreadable
        design_form = question.privacy and question.privacy.design.get("design")
        if isinstance(design_form, dict) and "levels" in design_form:
            reserved_names[f"{question.name}_level"] = f"the level of {question.name!r}"
    for measure, entry in {question.measures: entry for entry, question in reversed(list(walk.questions()))}.items():
        if measure in reserved_names:
            message = f"nothing measured must be called {measure!r}: a column of the replies is, with "
            message += reserved_names[measure]
            yield Problem("names", message, "data would mix them up", "rename it", path=f"{entry.path}.measures")
    for entry in walk.entries:
        name, name_path = entry.item.name, f"{entry.path}.name"
        if name in reserved_names and isinstance(entry.item, Question):
            message = f"no question must be called {name!r}: a column of the replies is, with {reserved_names[name]}"
            yield Problem("names", message, "data would mix them up", "rename it", path=name_path)
        if name in path_of_name:
            yield _twice(name, name_path, f"it is at {path_of_name[name]}, too")
        path_of_name.setdefault(name, entry.path)
        yield from _unsafe(name, name_path)
        for list_name, list_parts in entry.item.lists():
            name_counts = Counter(part.name for part in list_parts)
            for part_place, part in enumerate(list_parts):
                part_path = f"{entry.path}.{list_name}[{part_place}].name"
                if name_counts[part.name] > 1:
                    yield _twice(part.name, part_path, f"{name_counts[part.name]} {list_name} of {name!r} have it")
                yield from _unsafe(part.name, part_path)


def _unsafe(name: str, path: str) -> Iterator[Problem]:
    if name.startswith("__") or name in _OF_OBJECTS:
        message = f"names must not begin with __, nor be {', '.join(sorted(_OF_OBJECTS))}; got {name!r}"
        yield Problem("names", message, "JavaScript uses them for itself", "rename it", path=path)


def _twice(name: str, path: str, where: str) -> Problem:
    message = f"names must differ; {name!r} is there twice, {where}"
    return Problem("names", message, "data would mix them up", "rename one", path=path)


def languages(walk: Walk) -> Iterator[Problem]:
    """Every text must be there in every language."""
    language_tags = walk.languages
    if not language_tags:
        yield Problem("languages", "at least one language is needed", "", "name its tag, such as en", path="languages")
    if len(set(language_tags)) < len(language_tags):
        message = f"languages must differ; got {_checks.listing_text(language_tags)}"
        yield Problem("languages", message, "", "leave one out", path="languages")
    for shown_text in walk.texts:
        present_tags = {language_tag for language_tag, label_text in shown_text.label.items() if label_text.strip()}
        if not (shown_text.needed or present_tags):
            continue
        for language_tag in language_tags:
            if language_tag not in present_tags:
                message = f"{shown_text.what} must be there in every language; {language_tag!r} is missing"
                way_out, text_path = "translate it" if present_tags else "write it", f"{shown_text.path}.{language_tag}"
                yield Problem("languages", message, "respondents choose their language", way_out, path=text_path)
        for language_tag in sorted(present_tags - set(language_tags)):
            message = f"{shown_text.what} is in {language_tag!r}, which the questionnaire does not offer"
            way_out = f"add {language_tag!r} to the languages, or leave the text out"
            yield Problem("languages", message, "", way_out, "warning", path=f"{shown_text.path}.{language_tag}")


def wording(walk: Walk) -> Iterator[Problem]:
    """Texts are shown as they are written, so they must hold no markup and nothing invisible."""
    for _, text_path, text in walk.wordings():
        if markup := _MARKUP.search(text):
            message, reason = f"markup is shown as it is written; got {markup[0]!r}", "texts are never read as HTML"
            yield Problem("wording", message, reason, "write plain text", "warning", path=text_path)
        if control := _CONTROL.search(text):
            message = f"texts must hold no control characters; got U+{ord(control[0]):04X}"
            reason = "they can make a text read other than it is written"
            yield Problem("wording", message, reason, "type the text again", path=text_path)


def piping(walk: Walk) -> Iterator[Problem]:
    """``${question}`` in a text may repeat an earlier plain answer, never a private one."""
    for shown_text, text_path, text in walk.wordings():
        for question_name in piped(text):
            target_entry = walk.by_name.get(question_name)
            own_control = getattr(shown_text.entry and shown_text.entry.item, "control", None)
            own_truth = "" if shown_text.entry is None else truth_column(shown_text.entry.item.name)
            if own_control is not None and own_control.truth.lot and question_name == own_truth:
                continue
            if shown_text.entry is None:
                message = f"{shown_text.what} of the questionnaire must repeat no answer; got ${{{question_name}}}"
                yield Problem("piping", message, "it stands before or after all questions", path=text_path)
            elif target_entry is None or not isinstance(target_entry.item, Question):
                message = f"${{{question_name}}} must be a question; there is none of that name"
                yield Problem("references", message, "", "correct the name", path=text_path)
            elif target_entry.item.privacy is not None:
                message = f"a text must not repeat the private answer ${{{question_name}}}"
                reason = "whoever looks at the screen, or at its size, would see the true answer"
                way_out = "leave it out, or ask in words that fit every answer"
                yield Problem("piping", message, reason, way_out, path=text_path)
            else:
                yield from _too_late(target_entry, shown_text.entry, text_path, walk)


def scales(walk: Walk) -> Iterator[Problem]:
    """The rules of each kind of question, such as enough choices and ranges that run upwards."""
    if walk.practice is not None and not _LEAST <= len(walk.practice) <= _MOST:
        message = f"a practice question must have {_LEAST} to {_MOST} choices; got {len(walk.practice)}"
        reason = "it shows that some options are struck out, and others stay"
        yield Problem("choices", message, reason, "such as the four seasons", path="practice.choices")
    for entry in walk.entries:
        if isinstance(entry.item, Question):
            yield from entry.item.flaws(entry.path)
        elif isinstance(entry.item, Group) and not entry.item.items:
            yield Problem("choices", "a group must hold something", "", "leave it out", path=entry.path)


Rule = Callable[[Walk], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    names, languages, wording, scales, piping,
    conditions, behind_sent, constraints,
    privacy.designs_fit, privacy.levels, privacy.words, privacy.categories, privacy.apart,
    privacy.by_hand, privacy.modes, privacy.innocuous,
    arms.arms, arms.controls,
)  # fmt: skip
"""The rules that are checked; each yields problems with their path."""


def check(questionnaire: Questionnaire, *, omitted: Collection[str] = ()) -> tuple[Problem, ...]:
    """Every problem of a questionnaire: errors, which keep it from being fielded, and warnings.

    Parameters
    ----------
    questionnaire : Questionnaire
    omitted : collection of str, optional
        Names of questions that could not be read; a reference to one of them is not a further problem.

    Returns
    -------
    tuple of Problem
        Each problem has its path, what must hold, why, and the way out. Empty where there is no problem.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> [each.rule for each in check(sample()) if each.severity == "error"]
    []
    """
    walk, unread_names = Walk(questionnaire), set(omitted)
    # a dict, not a set: problems keep the order of the rules
    all_problems = dict.fromkeys(problem for rule in RULES for problem in rule(walk))
    about_unread = {
        found_problem
        for found_problem in all_problems
        if found_problem.rule == "references" and not unread_names.isdisjoint(piped(found_problem.message))
    }
    return tuple(found_problem for found_problem in all_problems if found_problem not in about_unread)


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
    version = form.get("version")
    if form.get("naysay") == "questionnaire" and type(version) is int and version > 1:
        raise DataError(f"{path.name!r} is of version {version}; it was made by a newer naysay: upgrade naysay")
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
