"""People who answer at random, for trying a survey out."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import numpy as np

from naysay.collect.device.cells import reader_of
from naysay.collect.device.people import People, offers
from naysay.errors import DataError
from naysay.questionnaire import Question, Questionnaire, evaluate, truth

__all__ = ["anybody"]

_TRIES = 500  # draws of one plain answer until its constraint holds


def anybody(questionnaire: Questionnaire, size: int, *, seed: int | None = None) -> People:
    """People with random answers at random levels: every plain answer within its limits, every category alike.

    Constraints are met by drawing again; a question whose constraint is not met then is left out where that is
    allowed.

    Parameters
    ----------
    questionnaire : Questionnaire
    size : int
        How many.
    seed : int, optional
        To have the same people again. What they send is drawn by the operating system all the same.

    Raises
    ------
    DataError
        A required question whose constraint no random answer met.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> people = anybody(sample(), 3, seed=1)
    >>> people.size, all(18 <= age <= 120 for age in people.column("age"))
    (3, True)
    """
    if size < 1:
        raise DataError(f"there must be one respondent or more; got {size}")
    rng = np.random.default_rng(seed)
    rows = [_person(questionnaire, rng) for _ in range(size)]
    readers = {question.name: reader_of(question) for question in questionnaire.questions}
    answers = {name: [read(row[name]) for row in rows] for name, read in readers.items()}
    levels = {name: rng.choice(names, size).tolist() for name, names in offers(questionnaire.questions).items()}
    return People(size, answers, levels, range(size))


def _person(questionnaire: Questionnaire, rng: np.random.Generator) -> dict[str, Any]:
    """One person's answers to all questions; which of them are asked depends on what will be sent."""
    answers: dict[str, Any] = {}
    for question in questionnaire.questions:
        drawn = (question.draw(rng) for _ in range(_TRIES))
        answers[question.name] = next((value for value in drawn if _fits(question, value, answers)), None)
        if answers[question.name] is None and question.required:
            raise DataError(
                f"no random answer to {question.name!r} met its constraint in {_TRIES} tries; "
                "give answers in a file instead"
            )
    return answers


def _fits(question: Question, value: Any, answers: Mapping[str, Any]) -> bool:
    """Whether a plain answer fulfills the constraint of its question, given those before."""
    if question.constraint is None or question.privacy is not None:
        return True
    today = datetime.datetime.now().astimezone().date()
    with_own = {**answers, ".": value}
    return truth(evaluate(question.constraint.expression, with_own, today=today.isoformat()))
