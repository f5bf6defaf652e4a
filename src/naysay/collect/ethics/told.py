"""The numbers of a statement for an ethics board: those of the respondent's page, of each question at its most open."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from naysay.questionnaire import Questionnaire, in_words, statements
from naysay.questionnaire.statements import private_questions, times

__all__ = ["Told", "after", "rounded", "told"]


class Told(NamedTuple):
    """What an answer to one private question tells, at the level that tells most."""

    name: str
    label: str
    many: int
    levels: int
    hand: bool
    device: bool
    innocuous: bool
    possible: tuple[int, int]
    categories: int
    odds: float
    epsilon: float
    bits: float

    @property
    def reveals(self) -> bool:
        """Whether an answer may show the true category."""
        return self.possible[0] == 1


def told(form: Questionnaire, language: str) -> list[Told]:
    """Every private question in the order in which it is asked; see `naysay.questionnaire.statements`.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> [(each.name, each.odds) for each in told(sample(), "en")][:2]
    [('income', 4.0), ('smoking', 2.333...)]
    """
    measured = statements(form)
    found = []
    for question, private in private_questions(form):
        levels = measured[question.name]
        own = {each["level"] for each in levels} - set(private.by_hand)
        found.append(
            Told(
                question.name,
                in_words(question.label[language], form, language),
                times(question),
                len(levels),
                hand="hand" in private.modes or bool(private.by_hand),
                device="device" in private.modes and bool(own),
                innocuous=bool(private.innocuous),
                possible=(min(_all(levels, 0)), max(_all(levels, 1))),
                categories=levels[0]["categories"],
                odds=max(_finite(each["odds"]) for each in levels),
                epsilon=max(_finite(each["epsilon"]) for each in levels),
                bits=max(each["bits"] for each in levels),
            )
        )
    return found


def _all(levels: list[dict[str, Any]], end: int) -> list[int]:
    most = min(each["still_possible"][0] for each in levels)
    return [each["still_possible"][end] for each in levels if each["still_possible"][0] == most]


def _finite(value: float | None) -> float:
    return math.inf if value is None else value


def after(odds: float, before: float = 0.1) -> int:
    """What a suspicion, of 10 in 100, may become after an answer that changes the odds by this factor; rounded up.

    Examples
    --------
    >>> after(3.0), after(math.inf)
    (25, 100)
    """
    return 100 if math.isinf(odds) else math.ceil(100 * before * odds / (1 - before + before * odds) - 1e-9)


def rounded(value: float, digits: int = 3) -> str:
    """A number with a few digits that is never less than the value: what a statement promises must hold.

    Examples
    --------
    >>> rounded(2.33333), rounded(math.inf), rounded(4.0), rounded(1234.5)
    ('2.34', '∞', '4', '1240')
    """
    if math.isinf(value) or value == 0:
        return "∞" if value else "0"
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    up = math.ceil(value / unit - 1e-9) * unit
    return f"{up:.{digits}g}" if up < 10**digits else f"{up:.0f}"
