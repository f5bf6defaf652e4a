"""Rules about privacy: which designs can be asked, which categories betray something when they are ruled out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from naysay import _checks, privacy
from naysay.design import Answerable, Design, Levels, Samples, TwoOption
from naysay.errors import DesignError
from naysay.questionnaire.items import Choice, Integer, Private, SelectMultiple
from naysay.questionnaire.items import Decimal as DecimalNumber
from naysay.questionnaire.meanings import complement, none_of_them, refusal
from naysay.questionnaire.offers import YES_NO, by_hand_design
from naysay.questionnaire.problems import Problem
from naysay.questionnaire.questionnaire import Questionnaire
from naysay.questionnaire.walk import Entry, private_of_item
from naysay.responses import Labels, Pair

__all__ = ["bins", "by_hand", "categories", "designs_fit", "levels", "words"]

_MOST_EPSILON = 3.0  # odds of 20 to 1; more is a warning


def _offers(walked: Sequence[Entry]) -> Iterator[tuple[Entry, Private, Answerable]]:
    """Private questions whose design can be read and is about their categories."""
    for entry in walked:
        private = private_of_item(entry.item)
        if private is not None and not list(_unfit(entry, private)):
            yield entry, private, private.offer


def _named(entry: Entry) -> tuple[str, ...]:
    """The categories that a design of this question must have."""
    if isinstance(entry.item, SelectMultiple):
        return YES_NO
    return tuple(part.name for part in _parts(entry))


def _parts(entry: Entry) -> Sequence[Choice]:
    kind = "bins" if isinstance(entry.item, Integer | DecimalNumber) else "choices"
    parts: Sequence[Choice] = getattr(entry.item, kind)
    return parts


def designs_fit(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """A design can be read, asks one sample for one response, and is about the question's categories."""
    for entry in walked:
        private = private_of_item(entry.item)
        if private is not None:
            yield from _unfit(entry, private)


def _unfit(entry: Entry, private: Private) -> Iterator[Problem]:
    path, names = f"{entry.path}.private.design", _named(entry)
    try:
        offer = private.offer
    except DesignError as error:
        yield Problem("designs", f"the design cannot be read: {error}", path=path)
        return
    if isinstance(offer, Samples):
        message = f"a questionnaire is one sample; {offer.name or 'this design'} needs several, or cells of its own"
        way_out = "make a questionnaire for each sample, or take another design, such as warner(p=0.7)"
        yield Problem("designs", message, "everybody gets the same page", way_out, path=path)
        return
    if isinstance(offer, Levels) and not all(type(name) in (str, int) for name in offer.levels):
        message = f"levels must be called by texts or whole numbers; got {_checks.shown(offer.levels)}"
        reason = "the page would write the others in another way"
        yield Problem("levels", message, reason, "put quotation marks around them", path=path)
    elif isinstance(offer.space, Pair) or any(isinstance(label, tuple) for label in offer.categories):
        message = "a question takes one response; this design asks for several"
        yield Problem("designs", message, "", "ask two questions, each with its own design", path=path)
    elif tuple(map(str, offer.categories)) != names:
        about = _checks.shown(offer.categories)
        message = f"the design must be about {_checks.shown(names)} in this order; it is about {about}"
        way_out = "make it from the names of the choices (yes and no for each choice of a select multiple)"
        yield Problem("designs", message, "answers would stand for other categories", way_out, path=path)


def levels(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """A level that reveals the answer, or nearly, says so, one that tells nothing too; the most private come first."""
    for entry, private, offer in _offers(walked):
        path = f"{entry.path}.private.design"
        for level, name in zip(private.levels, offer.levels, strict=True):
            called = "the design" if level is None else f"level {level!r}"
            yield from _told(offer.channel(name), called, path)
        drawn = [name for level, name in zip(private.levels, offer.levels, strict=True) if level not in private.by_hand]
        bits = [privacy.information(offer.channel(name)) for name in drawn]
        if any(first > second + 1e-9 for first, second in pairwise(bits)):
            message = "levels must run from the most private to the most open"
            reason = "respondents read them in this order, and the first is what they begin with"
            yield Problem("levels", message, reason, "put them in order", "warning", path=path)


def words(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """A response that is no choice has words of its own."""
    for entry, private, offer in _offers(walked):
        known = {*_named(entry), *YES_NO, *private.responses}
        spaces = [offer.channel(level).space for level in offer.levels]
        labels = [str(label) for space in spaces if isinstance(space, Labels) for label in space.labels]
        for label in dict.fromkeys(labels):
            if label not in known:
                message = f"the response {label!r} has no words of its own, and is shown as it is written"
                way_out = "write them into private.responses of the JSON"
                path = f"{entry.path}.private.responses"
                yield Problem("words", message, "it is in one language only", way_out, "warning", path=path)


def _told(design: Design, called: str, path: str) -> Iterator[Problem]:
    few, many = privacy.still_possible(design)
    epsilon = privacy.epsilon(design)
    if many == 1 and len(design.categories) == 2 and not (np.diagonal(design.matrix) > 0).any():
        message = f"{called} rules one of two categories out, which reveals the other"
        reason = "a negative survey needs three categories or more"
        yield Problem("negative", message, reason, "take warner() or two_coins(), or add categories", path=path)
    elif few == 1:
        what = "reveals the answer" if many == 1 else "reveals the answer of some respondents"
        reason = "one category stays possible; the page says so where it is chosen"
        way_out = "leave it out where nobody should tell her answer"
        yield Problem("reveals", f"{called} {what}", reason, way_out, "warning", path=path)
    elif _MOST_EPSILON < epsilon < math.inf:
        odds = f"an answer changes the odds between two categories by up to {math.exp(epsilon):,.0f} to 1"
        message = f"{called} protects little: its ε is {epsilon:.3g}, and {odds}"
        reason = "all categories stay possible, but one of them is nearly certain"
        way_out = f"leave more to chance, until ε is {_MOST_EPSILON:g} or less (odds of 20 to 1)"
        yield Problem("reveals", message, reason, way_out, "warning", path=path)
    elif epsilon == 0:
        message = f"{called} tells nothing"
        reason = "the response does not depend on the answer, so nothing can be estimated"
        yield Problem("designs", message, reason, "take a design that tells something", path=path)


def by_hand(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """A level drawn by hand is on offer, and can be drawn with a coin."""
    for entry, private, offer in _offers(walked):
        path = f"{entry.path}.private.by_hand"
        by_name = dict(zip(private.levels, offer.levels, strict=True))
        for level in private.by_hand:
            if level not in by_name:
                hint = _checks.nearest(level, [each for each in by_name if each is not None])
                message = f"a level drawn by hand must be on offer; there is no level {level!r}"
                yield Problem("by_hand", message, "", hint, path=path)
            elif not _by_coin(offer.channel(by_name[level])):
                message = f"level {level!r} must be one that people can draw with a coin"
                reason = "the page shows two options of which one is named, or tells her to toss two coins"
                way_out = "take two_option(shown=2), for two categories two_coins()"
                yield Problem("by_hand", message, reason, way_out, path=path)


def _by_coin(design: Design) -> bool:
    wanted = by_hand_design(design.categories)
    if isinstance(wanted, TwoOption) and not (isinstance(design, TwoOption) and design.shown == wanted.shown):
        return False
    if design.space != wanted.space or not design.space.listable:
        return False
    return bool((design.matrix == wanted.matrix).all())


def categories(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """No "none of the above" where two options are shown; a sink where ruling a category out betrays something."""
    for entry, private, offer in _offers(walked):
        if isinstance(entry.item, SelectMultiple) or len(offer.categories) < 3:
            continue
        channels = [offer.channel(level) for level in offer.levels]
        shown = any(isinstance(channel, TwoOption) for channel in channels) or bool(private.by_hand)
        named = np.any([_nameable(channel) for channel in channels], axis=0)
        for place, part in enumerate(_parts(entry)):
            kind = "bins" if isinstance(entry.item, Integer | DecimalNumber) else "choices"
            path = f"{entry.path}.{kind}[{place}].label"
            if shown and none_of_them(part):
                yield _none_of_them(part, path)
            elif named[place] and (refusal(part) or complement(part) or none_of_them(part)):
                yield _telling(part, path)


def _none_of_them(part: Choice, path: str) -> Problem:
    return Problem(
        "none_of_the_above",
        f"{part.name!r} must not be offered where only some of the options are shown",
        "none of which? beside one other option it is read as none of these two, and its chances are unknown "
        "(Esponda 2006, section 3.1.1)",
        "say what it holds, as 'another party', or leave the coin and two_option out",
        path=path,
    )


def _telling(part: Choice, path: str) -> Problem:
    what = "that there is an answer to hide" if refusal(part) else "that something else is true"
    return Problem(
        "sinks",
        f"ruling out {part.name!r} says {what}",
        "some categories reveal something when they are ruled out (Esponda, Huerta & Guerrero 2016)",
        f"never rule it out: write {part.name} into bind::naysay_sink",
        "warning",
        path=path,
    )


def _nameable(design: Design) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which categories a response can rule out, (t,); none where the design is a direct question."""
    t = len(design.categories)
    if not math.isinf(privacy.epsilon(design)) or privacy.still_possible(design)[1] == 1:
        return np.zeros(t, dtype=bool)
    if design.exchangeable:
        return np.ones(t, dtype=bool)
    rows = design.rows(design.typical_codes)
    return np.asarray((rows[rows.max(axis=1) > 0] == 0).any(axis=0))


def bins(questionnaire: Questionnaire, walked: Sequence[Entry]) -> Iterator[Problem]:
    """Bins of a number go up and cover all numbers."""
    for entry in walked:
        if isinstance(entry.item, Integer | DecimalNumber):
            yield from _bins(entry, entry.item)


def _bins(entry: Entry, item: Integer | DecimalNumber) -> Iterator[Problem]:
    path = f"{entry.path}.bins"
    if item.private is None:
        if item.bins:
            message = "bins of a plain number are not used"
            yield Problem("bins", message, "its answer is sent as it is", "leave them out", "warning", path=path)
        return
    if len(item.bins) < 2:
        message = f"a private number needs at least two bins; got {len(item.bins)}"
        yield Problem("bins", message, "a design is about categories", "write where they end, as 20,40,60", path=path)
        return
    ends = [each.below for each in item.bins]
    for place, (first, second) in enumerate(pairwise(ends[:-1])):
        if first is not None and second is not None and not first < second:
            message = f"bins must go up; {second:g} follows {first:g}"
            yield Problem(
                "bins", message, "a bin would be empty", "put them in order", path=f"{path}[{place + 1}].below"
            )
    for place, end in enumerate(ends):
        if (end is None) != (place == len(ends) - 1):
            message = "every bin but the last must say below what it ends, and the last must take all other numbers"
            yield Problem(
                "bins",
                message,
                "some numbers would have no bin",
                "write null there only",
                path=f"{path}[{place}].below",
            )
