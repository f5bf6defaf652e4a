"""From true answers to what is sent: which questions are asked, and one draw for each private answer."""

from __future__ import annotations

import datetime
import graphlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from naysay.collect.device.people import People
from naysay.collect.survey.submission import Conditions, conditioned, response_of
from naysay.errors import DataError
from naysay.questionnaire import Answer, Expression, Private, Question, Questionnaire, Sent, evaluate, truth
from naysay.questionnaire.rules.walk import nodes

__all__ = ["Drawn", "drawn"]


@dataclass(frozen=True)
class Drawn:
    """What n people send.

    Parameters
    ----------
    answers : (n,) list of {question: answer}
        Every question in order; null where it was not asked or left out.
    unasked : int
        How many answers people had to questions that they were not asked.
    """

    answers: list[dict[str, Any]]
    unasked: int


@dataclass
class _Device:
    """One respondent's device while they answer: what will be sent, and what conditions read of it."""

    sent: dict[str, Any] = field(default_factory=dict)
    plain: dict[str, Any] = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=dict)

    def holds(self, conditions: Sequence[Expression], today: str) -> bool:
        return all(truth(evaluate(each, self.plain, sent=self.said, today=today)) for each in conditions)

    def answer(self, question: Question, answer: Any) -> None:
        self.sent[question.name] = answer
        seen = self.plain if question.privacy is None else self.said
        seen[question.name] = answer if question.privacy is None else response_of(question, answer)


def drawn(questionnaire: Questionnaire, people: People, *, today: datetime.date | None = None) -> Drawn:
    """What these people send: plain answers as they are, private ones drawn by the operating system's randomness.

    Questions are asked under the conditions of the respondent's page; an answer to a question that is not asked is not
    sent.

    Parameters
    ----------
    questionnaire : Questionnaire
    people : People
        What they would answer, and at which level; checked before.
    today : date, optional
        For conditions; that of this computer by default.

    Raises
    ------
    DataError
        A required question has no answer, or an answer breaks its constraint; the message names the row and the
        question.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> from naysay.collect.device.people import checked
    >>> people = checked(sample(), {"age": [30], "smoking": ["yes"]})
    >>> answers = drawn(sample(), people).answers[0]
    >>> answers["age"], answers["smoking"]["response"] in ("yes", "no"), answers["area"]
    (30, True, None)
    """
    day = today or datetime.datetime.now().astimezone().date()
    devices = [_Device() for _ in range(people.size)]
    unasked = 0
    for question, conditions in _in_order_of_reference(questionnaire):
        true = people.column(question.name)
        asked = [device.holds(conditions, day.isoformat()) for device in devices]
        values = [value if ask else None for ask, value in zip(asked, true, strict=True)]
        unasked += values.count(None) - true.count(None)
        levels: Sequence[str | None] = people.levels.get(question.name) or [None] * people.size
        for device, answer in zip(devices, _drawn(question, values, levels), strict=True):
            device.answer(question, answer)
    answers = [{each.name: device.sent[each.name] for each in questionnaire.questions} for device in devices]
    rules = Conditions(questionnaire)
    for row, sent in enumerate(answers):
        problem = rules.complaint(sent, today=day)
        if problem is not None:
            place = people.places[row]
            raise DataError(f"row {place + 1}: {problem}; correct the row, or leave it out", row=place)
    return Drawn(answers, unasked)


def _drawn(question: Question, values: list[Any], levels: Sequence[str | None]) -> list[Any]:
    """What is sent for the answers to one question; all are drawn in one call, each independently."""
    if question.privacy is None:
        return values
    if not question.parts:
        return _drawn_column(question.privacy, values, levels)
    truths = [None if value is None else question.category_of(value) for value in values]
    columns = [
        _drawn_column(question.privacy, [each and each[part] for each in truths], levels) for part in question.parts
    ]
    rows = zip(*columns, strict=True)
    return [None if None in parts else dict(zip(question.parts, parts, strict=True)) for parts in rows]


def _drawn_column(private: Private, truths: list[Any], levels: Sequence[str | None]) -> list[dict[str, Any] | None]:
    """One draw for each answer; `randomize` without a generator takes the operating system's randomness."""
    sent: list[dict[str, Any] | None] = [None] * len(truths)
    for level, channel in zip(private.levels, private.offer.parts.values(), strict=True):
        rows = [row for row, chosen in enumerate(levels) if chosen == level and truths[row] is not None]
        responses = channel.randomize([truths[row] for row in rows]).texts() if rows else ()
        for row, response in zip(rows, responses, strict=True):
            sent[row] = {"level": level, "response": response}
    return sent


def _in_order_of_reference(questionnaire: Questionnaire) -> list[tuple[Question, Sequence[Expression]]]:
    """Each question with its conditions, after all questions that these refer to."""
    found = {question.name: (question, conditions) for question, conditions in conditioned(questionnaire.items)}
    needs = {
        name: [each.of for condition in conditions for each in nodes(condition) if isinstance(each, Answer | Sent)]
        for name, (_, conditions) in found.items()
    }
    try:
        order = graphlib.TopologicalSorter(needs).static_order()
        return [
            found[name] for name in order if name in found
        ]  # a condition may also name something that is no question
    except graphlib.CycleError:
        raise DataError("some questions are asked under conditions on one another, in a circle") from None
