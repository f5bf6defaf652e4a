"""What an answer to each kind of question must look like. Pure: a value in, a complaint or nothing out.

A complaint is the rest of a sentence that begins with the question's name. It says what must hold, and never repeats
the value: complaints are sent back, and a proxy may log them.
"""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from naysay.design import Design
from naysay.errors import NaysayError
from naysay.questionnaire import (
    Choice,
    Date,
    Decimal,
    Grid,
    Integer,
    Private,
    Question,
    Ranking,
    Rating,
    SelectMultiple,
    SelectOne,
    Text,
)

__all__ = ["SAFE", "Check", "check_of", "unanswered"]

SAFE = 2**53 - 1
"""The largest whole number that JavaScript holds exactly."""

Check = Callable[[Any], str | None]

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_FORBIDDEN = frozenset({"Cc", "Cs"}), frozenset("\n")  # control characters and half characters, but for new lines


def unanswered(question: Question, value: Any) -> bool:
    """Whether an answer says nothing: null, an empty text or list, or a grid with a row left out."""
    return value in (None, "", []) or (isinstance(question, Grid) and None in value.values())


def check_of(question: Question) -> Check:
    """What to hold an answer that is not null against.

    Examples
    --------
    >>> check = check_of(Rating(name="pain", label={"en": "How bad?"}))
    >>> check(4), check(6)
    (None, 'must be a whole number from 1 to 5')
    """
    private = getattr(question, "private", None)
    if private is not None:
        return _check_private(question, private)
    match question:
        case SelectOne():
            return partial(_one, _names(question.choices))
        case SelectMultiple():
            return partial(_several, _names(question.choices))
        case Integer():
            return partial(_whole, question.low, question.high)
        case Rating():
            return partial(_whole, question.low, question.high)
        case Decimal():
            return partial(_number, question.low, question.high)
        case Text():
            return partial(_text, question.max_length)
        case Date():
            return _date
        case Grid():
            return partial(_grid, _names(question.rows), _names(question.choices))
        case Ranking():
            return partial(_ranking, _names(question.choices))


def _names(choices: Sequence[Choice]) -> tuple[str, ...]:
    return tuple(choice.name for choice in choices)


def _one(names: tuple[str, ...], value: Any) -> str | None:
    return None if isinstance(value, str) and value in names else "must be the name of one of its choices"


def _several(names: tuple[str, ...], value: Any) -> str | None:
    kept = isinstance(value, list) and value == [name for name in names if name in value]
    return None if kept else "must be a list of its choices, each once, in their order"


def _ranking(names: tuple[str, ...], value: Any) -> str | None:
    ranked = isinstance(value, list) and all(isinstance(each, str) for each in value) and sorted(value) == sorted(names)
    return None if ranked else "must be a list of all its choices, each once"


def _grid(rows: tuple[str, ...], names: tuple[str, ...], value: Any) -> str | None:
    whole = _entries(value, rows)
    if whole and all(each is None or (isinstance(each, str) and each in names) for each in value.values()):
        return None
    return "must be an object of all its rows, each with the name of a choice or null"


def _entries(value: Any, names: tuple[str, ...]) -> bool:
    """Whether there is an entry for each name, in any order: JavaScript moves names such as "1" to the front."""
    return isinstance(value, dict) and value.keys() == set(names)


def _whole(low: int | None, high: int | None, value: Any) -> str | None:
    bottom, top = max(-SAFE, -SAFE if low is None else low), min(SAFE, SAFE if high is None else high)
    inside = type(value) is int and bottom <= value <= top
    return None if inside else f"must be a whole number from {bottom} to {top}"


def _number(low: float | None, high: float | None, value: Any) -> str | None:
    if type(value) not in (int, float) or abs(value) > 1e308:
        return "must be a number"
    bottom, top = -math.inf if low is None else low, math.inf if high is None else high
    return None if bottom <= value <= top else f"must be a number from {bottom:g} to {top:g}"


def _text(most: int, value: Any) -> str | None:
    if not isinstance(value, str) or len(value) > most:
        return f"must be a text of {most:,} characters at most"
    kinds, allowed = _FORBIDDEN
    if any(unicodedata.category(letter) in kinds and letter not in allowed for letter in value):
        return "must be a text without control characters other than new lines"
    return None


def _date(value: Any) -> str | None:
    try:
        if isinstance(value, str) and _DAY.fullmatch(value):
            datetime.date.fromisoformat(value)
            return None
    except ValueError:  # a thirteenth month
        pass
    return "must be a day, written like 2026-11-20"


def _check_private(question: Question, private: Private) -> Check:
    levels = {
        level: _Channel(private.offer.channel(name))
        for level, name in zip(private.levels, private.offer.levels, strict=True)
    }
    if isinstance(question, SelectMultiple):
        return partial(_private_items, levels, _names(question.choices))
    return partial(_private_one, levels)


@dataclass(frozen=True)
class _Channel:
    """The responses that one design can give, as texts."""

    design: Design

    @cached_property
    def _listed(self) -> frozenset[str | None] | None:
        if self.design.space.size > 10_000:
            return None
        codes = self.design.space.listing()
        return frozenset(self.design.space.texts(codes[~self.design.impossible(codes)]))

    def gives(self, text: str) -> bool:
        """Whether some category can give this response, written just as the design writes it."""
        if self._listed is not None:
            return text in self._listed
        try:
            codes = self.design.space.encode([text])
        except NaysayError:
            return False
        return self.design.space.texts(codes) == [text] and not self.design.impossible(codes)[0]


_Levels = dict[str | None, _Channel]


def _private_one(levels: _Levels, value: Any) -> str | None:
    if not (isinstance(value, dict) and tuple(value) == ("level", "response")):
        return "is private: it must be an object of a level and a response"
    level, response = value["level"], value["response"]
    if not (level is None or isinstance(level, str)) or level not in levels:
        return f"must name a level that is offered ({_offered(levels)})"
    if not (isinstance(response, str) and levels[level].gives(response)):
        return "must have a response that its design can give at this level"
    return None


def _private_items(levels: _Levels, names: tuple[str, ...], value: Any) -> str | None:
    if not _entries(value, names):
        return "is private: it must be an object of all its choices, each with a level and a response"
    complaints = (_private_one(levels, each) for each in value.values())
    for complaint in complaints:
        if complaint is not None:
            return complaint
    same = len({each["level"] for each in value.values()}) == 1
    return None if same else "must be answered at one level for all its choices"


def _offered(levels: _Levels) -> str:
    return ", ".join("null" if level is None else repr(level) for level in levels)
