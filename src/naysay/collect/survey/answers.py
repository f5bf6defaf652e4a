"""What an answer must look like as it is sent. Pure: a value in, a complaint or nothing out.

A complaint is the rest of a sentence that begins with the question's name. It says what must hold, and never repeats
the value: complaints are sent back, and a proxy may log them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from naysay.design import Design
from naysay.errors import NaysayError
from naysay.questionnaire import Question

__all__ = ["Check", "check_of"]

Check = Callable[[Any], str | None]

_MOST_LISTED = 10_000  # responses; of more, each is read when it comes


def check_of(question: Question) -> Check:
    """What to hold an answer that is not null against.

    Examples
    --------
    >>> from naysay.questionnaire import Rating
    >>> check = check_of(Rating(name="pain", label={"en": "How bad?"}))
    >>> check(4), check(6)
    (None, 'must be a whole number from 1 to 5')
    """
    private = question.privacy
    if private is None:
        return question.complaint
    levels = {level: _Channel(channel) for level, channel in private.channels}
    return partial(_private_parts, levels, question.parts) if question.parts else partial(_private_one, levels)


@dataclass(frozen=True)
class _Channel:
    """The responses that one design can give, as texts."""

    design: Design

    @cached_property
    def _listed(self) -> frozenset[str | None] | None:
        if self.design.space.size > _MOST_LISTED:
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
        offered = ", ".join("null" if name is None else repr(name) for name in levels)
        return f"must name a level that is offered ({offered})"
    if not (isinstance(response, str) and levels[level].gives(response)):
        return "must have a response that its design can give at this level"
    return None


def _private_parts(levels: _Levels, names: tuple[str, ...], value: Any) -> str | None:
    if not (isinstance(value, dict) and value.keys() == set(names)):  # JavaScript moves names such as "1" to the front
        return "is private: it must be an object of all its choices, each with a level and a response"
    complaint = next(filter(None, (_private_one(levels, each) for each in value.values())), None)
    if complaint is not None:
        return complaint
    same = len({each["level"] for each in value.values()}) == 1
    return None if same else "must be answered at one level for all its choices"
