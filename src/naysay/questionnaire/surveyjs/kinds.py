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
        return element.listed("columns")
    if element.type == "rating":
        return element.listed("rateValues") or _scale(element)
    members = element.listed("choices")
    for name, (flags, text) in _SPECIAL.items():
        if any(element.get(flag) is True for flag in flags):
            members.append({"value": name, "text": element.get(text) or _word(element, name)})
    return members


def _word(element: Element, name: str) -> dict[str, str]:
    """What SurveyJS calls a choice that it adds, in the languages that are known here."""
    known = {language: language.partition("-")[0].lower() for language in element.source.languages}
    return {language: _WORDS[name][base] for language, base in known.items() if base in _WORDS[name]}


def _scale(element: Element) -> Members:
    low, step = element.number("rateMin", 1) or 0, element.number("rateStep", 1) or 1
    count = element.number("rateCount")
    high = low + step * (count - 1) if count and "rateMax" not in element.raw else element.number("rateMax", 5) or 0
    if not 0 < (high - low) / step < 200:
        element.problem("rateMax", f"a rating must run upwards in steps; got {low:g} to {high:g} in steps of {step:g}")
        return []
    return [{"value": low + step * each} for each in range(int((high - low) / step + 1e-9) + 1)]


def _choosing(kind: str) -> Callable[[Element, str], dict[str, Any]]:
    def made(element: Element, path: str) -> dict[str, Any]:
        members = members_of(element)
        return {"kind": kind, "choices": element.choices(members, codes_of(members), f"{path}.choices")}

    return made


def _boolean(element: Element, path: str) -> dict[str, Any]:
    members = members_of(element)
    codes = {key_of(each["value"]): name for each, name in zip(members, ("yes", "no"), strict=True)}
    choices = [
        {"name": codes[key_of(each["value"])], "label": element.source.text(each["text"], f"{element.path}.labelTrue")}
        for each in members
    ]
    return {"kind": "select_one", "choices": choices}


def _rating(element: Element, path: str) -> dict[str, Any]:
    members = members_of(element)
    values = [each["value"] for each in members]
    whole = all(type(each) in (int, float) and float(each).is_integer() for each in values)
    bare = not any(each.get("text") for each in members)
    if not (
        values and whole and bare and [int(each) for each in values] == list(range(int(values[0]), int(values[-1]) + 1))
    ):
        return {"kind": "select_one", "choices": element.choices(members, codes_of(members), f"{path}.choices")}
    ends = {"low_label": element.text("minRateDescription"), "high_label": element.text("maxRateDescription")}
    return {"kind": "rating", "low": int(values[0]), "high": int(values[-1]), **{k: v for k, v in ends.items() if v}}


def _matrix(element: Element, path: str) -> dict[str, Any]:
    columns, rows = members_of(element), element.listed("rows")
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
    numeric = any(isinstance(each, dict) and each.get("type") == "numeric" for each in element.listed_raw("validators"))
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
    for each in element.listed_raw("validators"):
        if isinstance(each, dict) and each.get("type") == "numeric":
            for end, key in (("low", "minValue"), ("high", "maxValue")):
                value = each.get(key)
                ends[end] = float(value) if isinstance(value, int | float) else ends[end]
    known = {end: value for end, value in ends.items() if value is not None}
    whole = kind == "integer"
    return {
        "kind": kind,
        **{end: int(value) if whole and value.is_integer() else value for end, value in known.items()},
    }


def _length(element: Element) -> dict[str, Any]:
    most = element.number("maxLength", -1) or -1
    return {"max_length": int(most)} if most > 0 else {}


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
    "ranking": _choosing("ranking"),
    **dict.fromkeys(("radiogroup", "dropdown", "buttongroup"), _choosing("select_one")),
    **dict.fromkeys(("checkbox", "tagbox"), _choosing("select_multiple")),
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


_OWN = Answer(of=".")
_LENGTH, _COUNT = Apply(op="string_length", args=(_OWN,)), Apply(op="count_selected", args=(_OWN,))
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

Found = tuple[Expression, dict[str, str]]


def constraint_of(element: Element, kind: str) -> dict[str, Any]:
    """The field `constraint` of a question, from its validators and bounds; empty where there are none."""
    found = [*_validated(element), *_bounded(element, kind)]
    if not found:
        return {}
    expressions = tuple(each for each, _ in found)
    whole = expressions[0] if len(expressions) == 1 else Apply(op="and", args=expressions)
    message: dict[str, str] = {}
    for _, told in found:
        for language, text in told.items():
            message[language] = f"{message[language]} {text}" if language in message else text
    return {"constraint": {"expression": whole.model_dump(mode="json"), "message": message}}


def _validated(element: Element) -> Iterator[Found]:
    for place, each in enumerate(element.listed_raw("validators")):
        at = f"validators[{place}]"
        kind = each.get("type") if isinstance(each, dict) else None
        if kind == "numeric":
            continue  # the question asks for a number, which has its range
        told = element.source.text(each.get("text"), f"{element.path}.{at}.text") if kind else {}
        if kind in _BOUNDS:
            counted, *bounds = _BOUNDS[kind]
            for op, key in bounds:
                if type(each.get(key)) is int and each[key] > 0:
                    yield Apply(op=op, args=(counted, Value(value=each[key]))), told
        elif kind == "expression":
            try:
                yield condition(str(each.get("expression", "")), element.source.questions, own=element.name), told
            except DataError as error:
                element.problem(f"{at}.expression", str(error))
        elif kind in ("regex", "email"):
            element.problem(at, f"a validator of the type {kind!r} has no place here", _PATTERNS, severity="warning")
        else:
            element.problem(at, f"there is no validator of the type {kind!r}", "leave it out")


def _bounded(element: Element, kind: str) -> Iterator[Found]:
    counts = (("minSelectedChoices", ">="), ("maxSelectedChoices", "<="))
    for key, op in counts if kind == "select_multiple" else ():
        most = element.number(key, 0)
        if most:
            yield Apply(op=op, args=(_COUNT, Value(value=int(most)))), _told(element, key, int(most))
    for key, op in (("min", ">="), ("max", "<=")) if kind == "date" else ():
        day = element.get(key)
        if isinstance(day, str) and day:
            yield Apply(op=op, args=(_OWN, Value(value=day))), _told(element, key, day)


def _told(element: Element, key: str, bound: object) -> dict[str, str]:
    known = {language: language.partition("-")[0].lower() for language in element.source.languages}
    words = _MESSAGES[key]
    return {language: words[base].format(bound) for language, base in known.items() if base in words}
