"""The validators of a question of SurveyJS as one constraint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from naysay.errors import DataError
from naysay.questionnaire.expressions.evaluation import Answer, Apply, Expression, Value
from naysay.questionnaire.surveyjs.elements import Element
from naysay.questionnaire.surveyjs.expressions import condition

__all__ = ["constraint_of"]

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
