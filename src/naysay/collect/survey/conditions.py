"""Which questions are asked, and what their answers must fulfill: the rules of the page, evaluated again."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from naysay.questionnaire import Expression, Group, Item, Question, Questionnaire, evaluate, truth
from naysay.responses import JOINER

__all__ = ["complaint"]

_CLOCKS = (0, -1, 1)  # days by which a device's calendar may differ


def complaint(questionnaire: Questionnaire, answers: Mapping[str, Any], *, today: datetime.date) -> str | None:
    """What an answer does not fulfill, on the day, the day before and the day after; None where all is well.

    Parameters
    ----------
    questionnaire : Questionnaire
    answers : {question: answer}
        Of every question, as they are sent.
    today : date

    Examples
    --------
    >>> import datetime
    >>> from naysay.questionnaire import sample
    >>> survey = sample()
    >>> nothing = dict.fromkeys(question.name for question in survey.questions)
    >>> complaint(survey, nothing, today=datetime.date(2026, 11, 20))
    "question 'age' must be answered"
    """
    days = [(today + datetime.timedelta(days=shift)).isoformat() for shift in _CLOCKS]
    sent = {question.name: _sent(question, answers[question.name]) for question in questionnaire.questions}
    plain = {name: value for name, value in answers.items() if sent[name] is None}
    first = None
    for day in days:
        found = next(_complaints(questionnaire.items, plain, answers, sent, day, asked=True), None)
        if found is None:
            return None
        first = first or found
    return first


def _sent(question: Question, answer: Any) -> str | list[str] | None:
    """The response to a private question as expressions see it: a label as text, a set as a list."""
    if question.privacy is None or answer is None or question.parts:
        return None
    response: str = answer["response"]
    return [each for each in response.split(JOINER) if each] if question.privacy.offer.space.sets else response


def _complaints(
    items: Sequence[Item],
    plain: Mapping[str, Any],
    answers: Mapping[str, Any],
    sent: Mapping[str, Any],
    day: str,
    *,
    asked: bool,
) -> Iterator[str]:
    for item in items:
        here = asked and (item.relevant is None or _holds(item.relevant, plain, sent, day))
        if isinstance(item, Group):
            yield from _complaints(item.items, plain, answers, sent, day, asked=here)
        elif isinstance(item, Question):
            problem = _problem(item, answers[item.name], plain, sent, day, asked=here)
            if problem is not None:
                yield f"question {item.name!r} {problem}"


def _problem(
    question: Question, value: Any, plain: Mapping[str, Any], sent: Mapping[str, Any], day: str, *, asked: bool
) -> str | None:
    if not asked:
        return None if value is None else "is not asked after these answers: it must be null"
    if question.empty(value):
        return "must be answered" if question.required else None
    rule = question.constraint
    if rule is None or question.privacy is not None:
        return None
    return None if _holds(rule.expression, {**plain, ".": value}, sent, day) else "must fulfill its constraint"


def _holds(expression: Expression, plain: Mapping[str, Any], sent: Mapping[str, Any], day: str) -> bool:
    return truth(evaluate(expression, plain, sent=sent, today=day))
