"""The types of questions of SurveyJS, and the question that each becomes.

The validators of a question of SurveyJS as one constraint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from naysay.errors import DataError
from naysay.questionnaire.expressions.evaluation import Answer, Apply, Expression, Value
from naysay.questionnaire.surveyjs.elements import Element, codes_of
from naysay.questionnaire.surveyjs.expressions import condition
from naysay.questionnaire.surveyjs.names import key_of

Members = list[dict[str, Any]]

_WORDS = {
    "other": {"en": "Other (describe)", "de": "Anderes", "es": "Otro (describa)", "ar": "غير ذلك"},
    "none": {"en": "None", "de": "Nichts davon", "es": "Ninguno", "ar": "لا شيء"},
    "dontknow": {"en": "Don't know", "de": "Weiß nicht", "es": "No sé", "ar": "لا أعرف"},
    "refused": {"en": "Refuse to answer", "de": "Keine Angabe", "es": "No contesto", "ar": "أفضّل عدم الإجابة"},
    "yes": {"en": "Yes", "de": "Ja", "es": "Sí", "ar": "نعم"},
    "no": {"en": "No", "de": "Nein", "es": "No", "ar": "لا"},
}
_SPECIAL = {
    "none": (("showNoneItem", "hasNone"), "noneText"),
    "refused": (("showRefuseItem",), "refuseText"),
    "dontknow": (("showDontKnowItem",), "dontKnowText"),
    "other": (("showOtherItem", "hasOther"), "otherText"),
}
_FILES = "files betray who sent them; ask for a description with text"
WAYS_OUT = {
    **dict.fromkeys(("file", "signaturepad"), _FILES),
    **dict.fromkeys(
        ("image", "imagepicker", "imagemap"), "a page shows no pictures; describe them, and ask with radiogroup"
    ),
    **dict.fromkeys(("matrixdynamic", "paneldynamic"), "each person answers each question once; ask how many"),
    "matrixdropdown": "ask each column as a matrix of its own",
    "multipletext": "ask each text as a question of its own, in a panel",
    "expression": "nothing is computed between questions; compute it from the collected answers",
}
"""What to do instead of a type that is not asked here."""

_TEXTS = ("text", "email", "tel", "url", "search")


def members_of(element: Element) -> Members:
    """The choices of a question, with those that SurveyJS adds; those of a boolean and a scale, too."""
    if element.type == "boolean":
        values = (
            ("yes", element.get("valueTrue", True), "labelTrue"),
            ("no", element.get("valueFalse", False), "labelFalse"),
        )
        return [{"value": value, "text": element.get(key) or _word(element, name)} for name, value, key in values]
    if element.type == "matrix":
        return element.members_of_list("columns")
    if element.type == "rating":
        return element.members_of_list("rateValues") or _scale(element)
    members = element.members_of_list("choices")
    for name, (flags, text) in _SPECIAL.items():
        if any(element.get(flag) is True for flag in flags):
            members.append({"value": name, "text": element.get(text) or _word(element, name)})
    return members


def _word(element: Element, name: str) -> dict[str, str]:
    """What SurveyJS calls a choice that it adds, in the languages that are known here."""
    base_of_language = {language: language.partition("-")[0].lower() for language in element.source.languages}
    return {language: _WORDS[name][base] for language, base in base_of_language.items() if base in _WORDS[name]}


def _scale(element: Element) -> Members:
    low, step = element.number("rateMin", 1) or 0, element.number("rateStep", 1) or 1
    count = element.number("rateCount")
    high = low + step * (count - 1) if count and "rateMax" not in element.raw else element.number("rateMax", 5) or 0
    if not 0 < (high - low) / step < 200:
        element.problem("rateMax", f"a rating must run upwards in steps; got {low:g} to {high:g} in steps of {step:g}")
        return []
    return [{"value": low + step * step_number} for step_number in range(int((high - low) / step + 1e-9) + 1)]


def _choices_reader(kind: str) -> Callable[[Element, str], dict[str, Any]]:
    def question_fields(element: Element, path: str) -> dict[str, Any]:
        members = members_of(element)
        return {"kind": kind, "choices": element.choices(members, codes_of(members), f"{path}.choices")}

    return question_fields


def _boolean(element: Element, path: str) -> dict[str, Any]:
    members = members_of(element)
    codes = {key_of(member["value"]): name for member, name in zip(members, ("yes", "no"), strict=True)}
    choices = [
        {
            "name": codes[key_of(member["value"])],
            "label": element.source.text(member["text"], f"{element.path}.labelTrue"),
        }
        for member in members
    ]
    return {"kind": "select_one", "choices": choices}


def _rating(element: Element, path: str) -> dict[str, Any]:
    members = members_of(element)
    values = [member["value"] for member in members]
    all_whole = all(type(value) in (int, float) and float(value).is_integer() for value in values)
    has_no_text = not any(member.get("text") for member in members)
    if not (
        values
        and all_whole
        and has_no_text
        and [int(value) for value in values] == list(range(int(values[0]), int(values[-1]) + 1))
    ):
        return {"kind": "select_one", "choices": element.choices(members, codes_of(members), f"{path}.choices")}
    ends = {"low_label": element.text("minRateDescription"), "high_label": element.text("maxRateDescription")}
    return {"kind": "rating", "low": int(values[0]), "high": int(values[-1]), **{k: v for k, v in ends.items() if v}}


def _matrix(element: Element, path: str) -> dict[str, Any]:
    columns, rows = members_of(element), element.members_of_list("rows")
    if element.get("cellType", "radio") != "radio":
        element.problem("cellType", "a row of a matrix takes one choice here", "ask a checkbox for each row")
    required = element.get("eachRowRequired") or element.get("isAllRowRequired")
    return {
        "kind": "grid",
        "rows": element.choices(rows, codes_of(rows), f"{path}.rows"),
        "choices": element.choices(columns, codes_of(columns), f"{path}.choices"),
        **({"required": True} if required else {}),
    }


def _text(element: Element, path: str) -> dict[str, Any]:
    kind = str(element.get("inputType", "text"))
    numeric = any(
        isinstance(validator, dict) and validator.get("type") == "numeric"
        for validator in element.raw_members("validators")
    )
    if kind in ("number", "range") or (numeric and kind in _TEXTS):
        return _number(element)
    if kind == "date":
        return {"kind": "date"}
    if kind not in _TEXTS:
        way_out = "ask with text, number or date; a time of day may tell who answered"
        element.problem("inputType", f"the input type {kind!r} is not asked here", way_out)
    elif kind in ("email", "tel"):
        element.problem("inputType", f"a question for {kind} tells who answered", "leave it out", severity="warning")
    return {"kind": "text", **_length(element)}


def _number(element: Element) -> dict[str, Any]:
    step = element.number("step")
    kind = "integer" if step is not None and step.is_integer() and step > 0 else "decimal"
    if step is not None and step not in (0, 1):
        element.problem("step", f"steps of {step:g} are not held to", severity="warning")
    ends = {"low": element.number("min"), "high": element.number("max")}
    for validator in element.raw_members("validators"):
        if isinstance(validator, dict) and validator.get("type") == "numeric":
            for end, key in (("low", "minValue"), ("high", "maxValue")):
                value = validator.get(key)
                ends[end] = float(value) if isinstance(value, int | float) else ends[end]
    known_ends = {end: value for end, value in ends.items() if value is not None}
    is_whole = kind == "integer"
    return {
        "kind": kind,
        **{end: int(value) if is_whole and value.is_integer() else value for end, value in known_ends.items()},
    }


def _length(element: Element) -> dict[str, Any]:
    longest = element.number("maxLength", -1) or -1
    return {"max_length": int(longest)} if longest > 0 else {}


def _comment(element: Element, path: str) -> dict[str, Any]:
    lines = int(element.number("rows", 4) or 4)
    return {"kind": "text", "lines": min(max(lines, 1), 20), **({"max_length": 2_000} | _length(element))}


def _slider(element: Element, path: str) -> dict[str, Any]:
    if element.get("sliderType", "single") != "single":
        element.problem("sliderType", "a slider takes one number here", "ask for both ends, each with a number")
    ends = {end: element.number(key, default) for end, key, default in (("low", "min", 0.0), ("high", "max", 100.0))}
    return {"kind": "decimal", **ends}


TYPES: Mapping[str, Callable[[Element, str], dict[str, Any]]] = {
    "text": _text,
    "comment": _comment,
    "boolean": _boolean,
    "rating": _rating,
    "matrix": _matrix,
    "slider": _slider,
    "ranking": _choices_reader("ranking"),
    **dict.fromkeys(("radiogroup", "dropdown", "buttongroup"), _choices_reader("select_one")),
    **dict.fromkeys(("checkbox", "tagbox"), _choices_reader("select_multiple")),
}
"""From an element and the path of its item to the fields that its kind has."""

FIELDS = {
    "label": "title",
    "hint": "description",
    "relevant": "visibleIf",
    "constraint": "validators",
    "private": "naysay",
}
"""The property that a field of an item comes from."""


_OWN_ANSWER = Answer(of=".")
_LENGTH, _COUNT = Apply(op="string_length", args=(_OWN_ANSWER,)), Apply(op="count_selected", args=(_OWN_ANSWER,))
_BOUNDS = {
    "text": (_LENGTH, (">=", "minLength"), ("<=", "maxLength")),
    "answercount": (_COUNT, (">=", "minCount"), ("<=", "maxCount")),
}
_PATTERNS = "patterns differ from browser to browser; ask with the type that fits, or bound the length"

_MESSAGES = {
    "minSelectedChoices": {"en": "At least {}.", "de": "Mindestens {}.", "es": "Al menos {}.", "ar": "{} على الأقل."},
    "maxSelectedChoices": {"en": "At most {}.", "de": "Höchstens {}.", "es": "Como máximo {}.", "ar": "{} على الأكثر."},
    "min": {"en": "From {} on.", "de": "Ab {}.", "es": "Desde {}.", "ar": "ابتداءً من {}."},
    "max": {"en": "Until {}.", "de": "Bis {}.", "es": "Hasta {}.", "ar": "حتى {}."},
}
"""What respondents read of a bound, for which SurveyJS has words of its own."""

Requirement = tuple[Expression, dict[str, str]]


def constraint_of(element: Element, kind: str) -> dict[str, Any]:
    """The field `constraint` of a question, from its validators and bounds; empty where there are none."""
    requirements = [*_of_validators(element), *_of_bounds(element, kind)]
    if not requirements:
        return {}
    expressions = tuple(expression for expression, _ in requirements)
    joint_expression = expressions[0] if len(expressions) == 1 else Apply(op="and", args=expressions)
    message: dict[str, str] = {}
    for _, bound_message in requirements:
        for language, text in bound_message.items():
            message[language] = f"{message[language]} {text}" if language in message else text
    return {"constraint": {"expression": joint_expression.model_dump(mode="json"), "message": message}}


def _of_validators(element: Element) -> Iterator[Requirement]:
    for place, validator in enumerate(element.raw_members("validators")):
        validator_path = f"validators[{place}]"
        kind = validator.get("type") if isinstance(validator, dict) else None
        if kind == "numeric":
            continue  # the question asks for a number, which has its range
        bound_message = (
            element.source.text(validator.get("text"), f"{element.path}.{validator_path}.text") if kind else {}
        )
        if kind in _BOUNDS:
            measure, *bounds = _BOUNDS[kind]
            for op, key in bounds:
                if type(validator.get(key)) is int and validator[key] > 0:
                    yield Apply(op=op, args=(measure, Value(value=validator[key]))), bound_message
        elif kind == "expression":
            try:
                yield (
                    condition(str(validator.get("expression", "")), element.source.questions, own_name=element.name),
                    bound_message,
                )
            except DataError as error:
                element.problem(f"{validator_path}.expression", str(error))
        elif kind in ("regex", "email"):
            element.problem(
                validator_path, f"a validator of the type {kind!r} has no place here", _PATTERNS, severity="warning"
            )
        else:
            element.problem(validator_path, f"there is no validator of the type {kind!r}", "leave it out")


def _of_bounds(element: Element, kind: str) -> Iterator[Requirement]:
    counts = (("minSelectedChoices", ">="), ("maxSelectedChoices", "<="))
    for key, op in counts if kind == "select_multiple" else ():
        bound = element.number(key, 0)
        if bound:
            yield Apply(op=op, args=(_COUNT, Value(value=int(bound)))), _bound_message(element, key, int(bound))
    for key, op in (("min", ">="), ("max", "<=")) if kind == "date" else ():
        day = element.get(key)
        if isinstance(day, str) and day:
            yield Apply(op=op, args=(_OWN_ANSWER, Value(value=day))), _bound_message(element, key, day)


def _bound_message(element: Element, key: str, bound: object) -> dict[str, str]:
    base_of_language = {language: language.partition("-")[0].lower() for language in element.source.languages}
    words = _MESSAGES[key]
    return {language: words[base].format(bound) for language, base in base_of_language.items() if base in words}
