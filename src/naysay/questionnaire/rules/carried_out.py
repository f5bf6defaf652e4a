"""Rules about who carries a design out: the device, or respondents, with a coin or an innocuous question."""

from __future__ import annotations

from collections.abc import Iterator

from naysay import _checks
from naysay.design import Design
from naysay.designs.randomized import PREVALENCE
from naysay.questionnaire.by_hand import letters, way_by_hand
from naysay.questionnaire.kinds.base import Label, Private, Question
from naysay.questionnaire.problems import Problem
from naysay.questionnaire.rules.privacy import offers
from naysay.questionnaire.rules.walk import Walk

__all__ = ["by_hand", "innocuous", "modes"]

_INNOCUOUS = "write the innocuous question into bind::naysay_innocuous"


def by_hand(walk: Walk) -> Iterator[Problem]:
    """A level drawn by hand must be on offer, and people must be able to draw it with a coin."""
    for at, _, private in offers(walk):
        path, by_name = f"{at}.private.by_hand", dict(private.channels)
        for level in private.by_hand:
            if level not in by_name:
                hint = _checks.nearest(level, [each for each in by_name if each is not None])
                message = f"a level drawn by hand must be on offer; there is no level {level!r}"
                yield Problem("by_hand", message, "", hint, path=path)
            elif way_by_hand(by_name[level], innocuous=False) is None:
                message = f"level {level!r} must be one that people can draw with a coin"
                reason = "the page shows two options of which one is named, or tells respondents to toss two coins"
                way_out = "take two_option(shown=2), for two categories two_coins()"
                yield Problem("by_hand", message, reason, way_out, path=path)


def modes(walk: Walk) -> Iterator[Problem]:
    """Each mode is named once, and people must be able to carry out a mode by hand."""
    for at, question, private in offers(walk):
        path, named = f"{at}.private.modes", private.modes
        if not named or len(set(named)) < len(named):
            message = f"modes must be hand, device or both, each once; got {_checks.shown(named)}"
            yield Problem("modes", message, "", "write hand, device, the first one to begin with", path=path)
        elif "hand" in named and private.levels != (None,):
            message = "a mode by hand goes with one design; this question offers levels"
            way_out = "leave the mode out, and put a level drawn by hand on offer: bind::naysay_levels with coin"
            yield Problem("modes", message, "a level is sent, a mode is not", way_out, path=path)
        elif "hand" in named:
            yield from _told(path, question, private)
        elif _assumes_prevalence(private) and not private.innocuous:
            message = "respondents cannot carry this design out themselves: its innocuous question is not there"
            reason = "the device draws the innocuous answer, and must be told the sensitive one"
            yield Problem("modes", message, reason, _INNOCUOUS, "warning", path=path)


def _told(path: str, question: Question, private: Private) -> Iterator[Problem]:
    """The problem for which people cannot carry the design out."""
    channel = private.channels[0][1]
    if way_by_hand(channel, innocuous=bool(private.innocuous)) is not None:
        return
    message = "the page cannot tell people how to carry this design out"
    reason = "they have a coin, a die, or an innocuous question"
    way_out = "take crosswise, triangular, unrelated_question with p = 1/2 or sixths, two_coins, or two_option"
    if _assumes_prevalence(private) and not private.innocuous:
        way_out = _INNOCUOUS
    yield Problem("modes", message, reason, way_out, path=path)


def innocuous(walk: Walk) -> Iterator[Problem]:
    """An innocuous question protects only one answer and is asked nowhere else; its prevalence is an assumption."""
    seen: dict[str, str] = {}
    asked = {letters(text): question.name for _, question in walk.questions() for text in _asked(question)}
    for at, question, private in offers(walk):
        path = f"{at}.private.innocuous"
        if not private.innocuous:
            continue
        yield from _fit(path, question, private)
        own = _letters(private.innocuous)
        other = next((seen[text] for text in own if text in seen), None)
        if other is not None:
            message = f"an innocuous question must protect one answer only; {other!r} has the same"
            reason = "the two responses together would tell whether both answers are alike"
            yield Problem(
                "innocuous", message, reason, "ask another, such as about another person's birthday", path=path
            )
        plain = next((asked[text] for text in own if text in asked), None)
        if plain is not None:
            message = f"an innocuous question must be asked nowhere else; {plain!r} asks it"
            reason = "with its answer the response tells the truth"
            yield Problem("innocuous", message, reason, "leave one of them out", path=path)
        seen |= dict.fromkeys(own, question.name)


def _fit(path: str, question: Question, private: Private) -> Iterator[Problem]:
    """Whether an innocuous question fits the design, and protects only one answer."""
    if question.parts:
        message = "a select_multiple must have no innocuous question: it would protect several answers"
        reason = "the responses together would tell which answers are alike"
        yield Problem("innocuous", message, reason, "ask a question for each choice, or take two_coins", path=path)
    elif not _assumes_prevalence(private):
        message = "an innocuous question must stand beside a design that has one; this design has none"
        way_out = "leave the question out, or take a design such as crosswise(prevalence=1/4)"
        yield Problem("innocuous", message, "", way_out, path=path)
    elif "hand" not in private.modes:
        message = "an innocuous question is shown in the mode by hand only"
        yield Problem("innocuous", message, "", "write hand, device into bind::naysay_mode", path=path)
    elif not _ranged(private.channels[0][1]):
        message = "the prevalence of the innocuous question is an assumption"
        reason = "if it is another one, the estimate is wrong, and its interval does not say so"
        way_out = "state the range in which it lies: between=(0.23, 0.27); estimates then have a band"
        yield Problem("innocuous", message, reason, way_out, "warning", path=path)


def _asked(question: Question) -> Iterator[str]:
    """What a question asks: its label, and each line of it that has an answer of its own."""
    lines = getattr(question, "rows", getattr(question, "choices", ())) if question.parts else ()
    for label in (question.label, *(line.label for line in lines)):
        yield from label.values()


def _letters(label: Label) -> list[str]:
    return [letters(text) for text in label.values() if letters(text)]


def _assumes_prevalence(private: Private) -> bool:
    protocol = private.offer.protocol
    return protocol is not None and PREVALENCE in protocol.assumes


def _ranged(design: Design) -> bool:
    """Whether the range of an uncertain prevalence is stated."""
    return bool(getattr(design, "alternatives", ()))
