"""From true answers to what is sent: which questions are asked, and one draw for each private answer."""

from __future__ import annotations

import datetime
import graphlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from naysay.collect.device.people import People
from naysay.collect.survey.conditions import complaint
from naysay.errors import DataError
from naysay.questionnaire import (
    Answer,
    Apply,
    Expression,
    Group,
    Item,
    Private,
    Question,
    Questionnaire,
    Sent,
    evaluate,
    truth,
)
from naysay.responses import JOINER

__all__ = ["Drawn", "drawn"]


@dataclass(frozen=True)
class Drawn:
    """What n people send.

    Parameters
    ----------
    answers : (n,) list of {question: answer}
        Every question in order; null where it was not asked or left out.
    unasked : int
        Answers that people had and were not asked for.
    """

    answers: list[dict[str, Any]]
    unasked: int


@dataclass
class _Device:
    """One respondent's device while they answer: what will be sent, and what conditions see of it."""

    sent: dict[str, Any] = field(default_factory=dict)
    plain: dict[str, Any] = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=dict)

    def holds(self, conditions: Sequence[Expression], today: str) -> bool:
        return all(truth(evaluate(each, self.plain, sent=self.said, today=today)) for each in conditions)


def drawn(questionnaire: Questionnaire, people: People, *, today: datetime.date | None = None) -> Drawn:
    """What these people send: plain answers as they are, private ones drawn by the operating system's randomness.

    Questions are asked under the conditions of the respondent's page; what is not asked is not sent.

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
        A required question without an answer, or one against its constraint: the row and the question.

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
        asked = [device.holds(conditions, day.isoformat()) for device in devices]
        values = [value if ask else None for ask, value in zip(asked, people.column(question.name), strict=True)]
        unasked += sum(value is not None for value in people.column(question.name))
        unasked -= sum(value is not None for value in values)
        _answer(question, devices, values, people.levels.get(question.name))
    answers = [{each.name: device.sent[each.name] for each in questionnaire.questions} for device in devices]
    for row, sent in enumerate(answers):
        problem = complaint(questionnaire, sent, today=day)
        if problem is not None:
            place = people.places[row]
            raise DataError(f"row {place + 1}: {problem}; correct the row, or leave it out", row=place)
    return Drawn(answers, unasked)


def _answer(question: Question, devices: list[_Device], values: list[Any], levels: Sequence[str | None] | None) -> None:
    """Put the answers to one question into the devices: all of them are drawn at once, each by itself."""
    private = question.privacy
    if private is None:
        for device, value in zip(devices, values, strict=True):
            device.sent[question.name] = device.plain[question.name] = value
        return
    chosen = list(levels or [None] * len(values))
    if question.parts:
        truths = [None if value is None else question.category_of(value) for value in values]
        columns = [_drawn_column(private, [each and each[part] for each in truths], chosen) for part in question.parts]
        for device, parts in zip(devices, zip(*columns, strict=True), strict=True):
            device.sent[question.name] = None if None in parts else dict(zip(question.parts, parts, strict=True))
        return
    for device, sent in zip(devices, _drawn_column(private, values, chosen), strict=True):
        device.sent[question.name] = sent
        if sent is not None:
            said = sent["response"]
            device.said[question.name] = said.split(JOINER) if private.offer.space.sets else said


def _drawn_column(private: Private, truths: list[Any], levels: list[str | None]) -> list[dict[str, Any] | None]:
    """One draw for each; `randomize` without a generator takes the operating system's randomness."""
    sent: list[dict[str, Any] | None] = [None] * len(truths)
    for level, channel in zip(private.levels, private.offer.parts.values(), strict=True):
        rows = [row for row, chosen in enumerate(levels) if chosen == level and truths[row] is not None]
        responses = channel.randomize([truths[row] for row in rows]).texts() if rows else ()
        for row, response in zip(rows, responses, strict=True):
            sent[row] = {"level": level, "response": response}
    return sent


def _in_order_of_reference(questionnaire: Questionnaire) -> list[tuple[Question, list[Expression]]]:
    """Each question with its conditions, after all questions that these refer to."""
    found = {question.name: (question, conditions) for question, conditions in _conditions(questionnaire.items, [])}
    needs = {
        name: [other for condition in conditions for other in _references(condition) if other in found]
        for name, (_, conditions) in found.items()
    }
    try:
        return [found[name] for name in graphlib.TopologicalSorter(needs).static_order()]
    except graphlib.CycleError:
        raise DataError("some questions are asked under conditions on one another, in a circle") from None


def _conditions(items: Sequence[Item], around: list[Expression]) -> Iterator[tuple[Question, list[Expression]]]:
    for item in items:
        own = around if item.relevant is None else [*around, item.relevant]
        if isinstance(item, Group):
            yield from _conditions(item.items, own)
        elif isinstance(item, Question):
            yield item, own


def _references(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Answer | Sent):
        yield expression.of
    elif isinstance(expression, Apply):
        for part in expression.args:
            yield from _references(part)
