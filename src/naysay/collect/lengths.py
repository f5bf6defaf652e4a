"""How long a body of answers can become, so that all can be made equally long."""

from __future__ import annotations

import json
from collections.abc import Iterable

from naysay.design import Answerable
from naysay.questionnaire import (
    Choice,
    Date,
    Decimal,
    Grid,
    Integer,
    Private,
    Question,
    Questionnaire,
    Ranking,
    Rating,
    SelectMultiple,
    SelectOne,
    Text,
)

__all__ = ["STEP", "body_length"]

STEP = 1_024
NUMBER = 25  # characters of the longest number that JavaScript writes: -1.2345678901234567e-300, and one to spare
_ENVELOPE = len('{"naysay":"answers","version":1,"survey":"","id":"","answers":{},"padding":""}') + 64 + 32


def body_length(questionnaire: Questionnaire) -> int:
    """Bytes of the longest possible body, rounded up to a multiple of `STEP`.

    Every body is padded to it, so that the size of what leaves the device tells nothing.

    Examples
    --------
    >>> from naysay.questionnaire import Questionnaire, Text
    >>> one = Text(name="why", label={"en": "Why?"}, max_length=500)
    >>> body_length(Questionnaire(name="short", title={"en": "Short"}, languages=("en",), items=(one,)))
    3072
    """
    entries = (_quoted(question.name) + 2 + _longest(question) for question in questionnaire.questions)
    return -(-(_ENVELOPE + sum(entries)) // STEP) * STEP


def _longest(question: Question) -> int:
    """Bytes of the longest answer to a question, as compact JSON; null has 4."""
    private = getattr(question, "private", None)
    if private is not None:
        return _longest_private(question, private)
    match question:
        case SelectOne():
            size = _most(question.choices)
        case SelectMultiple() | Ranking():
            size = 2 + sum(_quoted(choice.name) + 1 for choice in question.choices)
        case Integer() | Decimal() | Rating():
            size = NUMBER
        case Text():
            size = 2 + 4 * question.max_length
        case Date():
            size = len('"2026-11-20"')
        case Grid():
            size = 2 + sum(_quoted(row.name) + 2 + max(4, _most(question.choices)) for row in question.rows)
    return max(4, size)


def _longest_private(question: Question, private: Private) -> int:
    level = max(_quoted(name) if name is not None else 4 for name in private.levels)
    one = len('{"level":,"response":}') + level + _longest_response(private.offer)
    if isinstance(question, SelectMultiple):
        return 2 + sum(_quoted(choice.name) + 2 + one for choice in question.choices)
    return one


def _longest_response(offer: Answerable) -> int:
    """Bytes of the longest response: a label, or a set with all labels."""
    labels = {str(label) for level in offer.levels for label in offer.channel(level).space.labels}
    return 2 + sum(len(json.dumps(label, ensure_ascii=False).encode()) - 1 for label in labels)


def _most(choices: Iterable[Choice]) -> int:
    return max((_quoted(choice.name) for choice in choices), default=0)


def _quoted(name: str) -> int:
    """Bytes of a name as JSON; those of questions and choices are plain letters, those of levels need not be."""
    return len(json.dumps(name, ensure_ascii=False).encode())
