"""Which questions are asked, and what their answers must fulfill: the rules of the page, evaluated again."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from naysay.questionnaire import Expression, Group, Item, Question, Questionnaire, evaluate, truth
from naysay.responses import JOINER

__all__ = ["complaint", "conditioned", "response_of"]

_Conditions = Sequence[Expression]
_CLOCKS = (0, -1, 1)  # days by which a device's calendar may differ


def complaint(questionnaire: Questionnaire, answers: Mapping[str, Any], *, today: datetime.date) -> str | None:
    """What is wrong with answers today; None where nothing is wrong today, yesterday or tomorrow.

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
    days = ((today + datetime.timedelta(days=shift)).isoformat() for shift in _CLOCKS)
    found = (
        _complaint(questionnaire, answers, day) for day in days
    )  # lazy: most answers are held against one day only
    first = next(found)
    return None if first is None or None in found else first


def conditioned(items: Sequence[Item], around: Sequence[Expression] = ()) -> Iterator[tuple[Question, _Conditions]]:
    """Each question with the conditions under which it is asked: those of the groups around it, and its own."""
    for item in items:
        own = around if item.relevant is None else (*around, item.relevant)
        if isinstance(item, Group):
            yield from conditioned(item.items, own)
        elif isinstance(item, Question):
            yield item, own


def response_of(question: Question, answer: Any) -> str | list[str] | None:
    """The response to a private question as expressions see it: a label as text, a set as a list."""
    if question.privacy is None or answer is None or question.parts:
        return None
    response: str = answer["response"]
    return [each for each in response.split(JOINER) if each] if question.privacy.offer.space.sets else response


def _complaint(questionnaire: Questionnaire, answers: Mapping[str, Any], day: str) -> str | None:
    sent = {question.name: response_of(question, answers[question.name]) for question in questionnaire.questions}
    plain = {name: value for name, value in answers.items() if sent[name] is None}

    def holds(expression: Expression, **own: Any) -> bool:
        return truth(evaluate(expression, {**plain, **own}, sent=sent, today=day))

    for question, conditions in conditioned(questionnaire.items):
        value, rule, problem = answers[question.name], question.constraint, None
        if not all(map(holds, conditions)):
            problem = None if value is None else "is not asked after these answers: it must be null"
        elif question.empty(value):
            problem = "must be answered" if question.required else None
        elif rule is not None and question.privacy is None and not holds(rule.expression, **{".": value}):
            problem = "must fulfill its constraint"
        if problem is not None:
            return f"question {question.name!r} {problem}"
    return None
