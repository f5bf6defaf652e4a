"""Which questions are asked, and what their answers must fulfill: the rules of the page, evaluated again."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from naysay.questionnaire import Expression, Group, Item, Question, Questionnaire, truth
from naysay.questionnaire.expressions.evaluation import Meaning, compiled
from naysay.responses import JOINER

__all__ = ["Conditions", "conditioned", "response_of"]

_Conditions = Sequence[Expression]
_CLOCKS = (0, -1, 1)  # days by which a device's calendar may differ


@dataclass(frozen=True)
class _Asked:
    """A question with the meaning of its conditions and of its constraint."""

    question: Question
    conditions: tuple[Meaning, ...]
    rule: Meaning | None


class Conditions:
    """The rules of a questionnaire, made ready once for all who answer.

    Parameters
    ----------
    questionnaire : Questionnaire

    Examples
    --------
    >>> import datetime
    >>> from naysay.questionnaire import sample
    >>> survey = sample()
    >>> nothing = dict.fromkeys(question.name for question in survey.questions)
    >>> Conditions(survey).complaint(nothing, today=datetime.date(2026, 11, 20))
    "question 'age' must be answered"
    """

    def __init__(self, questionnaire: Questionnaire) -> None:
        self._private = [each for each in questionnaire.questions if each.privacy is not None]
        self._asked = [
            _Asked(question, tuple(map(compiled, conditions)), _rule(question))
            for question, conditions in conditioned(questionnaire.items)
        ]

    def complaint(self, answers: Mapping[str, Any], *, today: datetime.date) -> str | None:
        """What is wrong with answers today; None where nothing is wrong today, yesterday or tomorrow.

        Parameters
        ----------
        answers : {question: answer}
            Of every question, as they are sent.
        today : date
        """
        sent = {each.name: response_of(each, answers[each.name]) for each in self._private}
        plain = {name: value for name, value in answers.items() if sent.get(name) is None}
        days = ((today + datetime.timedelta(days=shift)).isoformat() for shift in _CLOCKS)
        found = (self._complaint(plain, sent, answers, day) for day in days)  # lazy: most answers need one day only
        first = next(found)
        return None if first is None or None in found else first

    def _complaint(
        self, plain: Mapping[str, Any], sent: Mapping[str, Any], answers: Mapping[str, Any], day: str
    ) -> str | None:
        for each in self._asked:
            question, value, problem = each.question, answers[each.question.name], None
            if not all(truth(condition(plain, sent, day)) for condition in each.conditions):
                problem = None if value is None else "is not asked after these answers: it must be null"
            elif question.empty(value):
                problem = "must be answered" if question.required else None
            elif each.rule is not None and not truth(each.rule({**plain, ".": value}, sent, day)):
                problem = "must fulfill its constraint"
            if problem is not None:
                return f"question {question.name!r} {problem}"
        return None


def _rule(question: Question) -> Meaning | None:
    """The constraint of a plain question; that of a private one holds for its true answer, on the device."""
    if question.constraint is None or question.privacy is not None:
        return None
    return compiled(question.constraint.expression)


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
