"""People who answer at random, for trying a survey out."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from naysay.collect.device.cells import reader_of
from naysay.collect.device.people import People, offers
from naysay.errors import DataError
from naysay.questionnaire import (
    Date,
    Decimal,
    Grid,
    Integer,
    Question,
    Questionnaire,
    Ranking,
    Rating,
    SelectMultiple,
    SelectOne,
    evaluate,
    truth,
)

__all__ = ["anybody"]

_TRIES = 500  # draws of one plain answer until its constraint holds
_SPAN = 130  # of numbers that are bounded on one side or on none: years of age fit, and most counts

_WORDS = ("yes", "no", "sometimes", "rarely", "often", "it", "depends", "work", "home", "friends")


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
    """One person's answers, each given to whoever is asked; conditions on what will be sent come later."""
    answers: dict[str, Any] = {}
    for question in questionnaire.questions:
        draw = _draw(question, rng)
        answers[question.name] = next(
            (value for value in (draw() for _ in range(_TRIES)) if _fits(question, value, answers)), None
        )
        if answers[question.name] is None and question.required:
            raise DataError(
                f"no random answer to {question.name!r} met its constraint in {_TRIES} tries; "
                "give answers in a file instead"
            )
    return answers


def _fits(question: Question, value: Any, answers: Mapping[str, Any]) -> bool:
    """Whether a plain answer fulfills the constraint of its question, given those before."""
    if question.constraint is None or getattr(question, "private", None) is not None:
        return True
    with_own = {**answers, ".": value}
    return truth(evaluate(question.constraint.expression, with_own, today=_today().isoformat()))


def _draw(question: Question, rng: np.random.Generator) -> Callable[[], Any]:
    """What draws one answer to a question."""
    match question:
        case SelectOne():
            names = [choice.name for choice in question.choices]
            return lambda: str(rng.choice(names))
        case SelectMultiple():
            names = [choice.name for choice in question.choices]
            return lambda: [name for name in names if rng.random() < 0.5]
        case Integer() | Rating() | Decimal():
            low, high = _limits(question)
            if isinstance(question, Decimal):
                return lambda: round(float(rng.uniform(low, high)), 2)
            return lambda: int(rng.integers(int(low), int(high) + 1))
        case Date():
            return lambda: str(_today() - datetime.timedelta(days=int(rng.integers(1, 36_500))))
        case Grid():
            rows, names = [row.name for row in question.rows], [choice.name for choice in question.choices]
            return lambda: {row: str(rng.choice(names)) for row in rows}
        case Ranking():
            names = [choice.name for choice in question.choices]
            return lambda: rng.permutation(names).tolist()
    most = question.max_length
    return lambda: " ".join(rng.choice(_WORDS, 4))[:most]


def _limits(question: Integer | Rating | Decimal) -> tuple[float, float]:
    """Between which numbers to draw: the limits, or the bounds of the bins and a bin beyond them."""
    bounds = [] if isinstance(question, Rating) else [each.below for each in question.bins if each.below is not None]
    width = (bounds[-1] - bounds[0]) / (len(bounds) - 1) if len(bounds) > 1 else _SPAN
    low = question.low if question.low is not None else min(0.0, *bounds[:1], 0.0)
    high = question.high if question.high is not None else (bounds[-1] + width if bounds else low + _SPAN)
    last = None if isinstance(question, Rating) or not question.bins else question.bins[-1].below
    return float(low), float(high if last is None else min(high, last - 1))


def _today() -> datetime.date:
    return datetime.datetime.now().astimezone().date()
