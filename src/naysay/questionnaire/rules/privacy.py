"""Rules about privacy: which designs can be asked, and which categories betray something when they are ruled out.

Rules about who carries a design out: the device, or respondents, with a coin or an innocuous question.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from naysay import _checks, privacy
from naysay.design import Answerable, Design
from naysay.design.memory import memory_of
from naysay.designs.randomized import PREVALENCE
from naysay.errors import DesignError
from naysay.questionnaire.by_hand import letters, way_by_hand
from naysay.questionnaire.kinds.base import YES_NO, Choice, Label, Private, Question
from naysay.questionnaire.problems import Problem
from naysay.questionnaire.rules.meanings import complement, none_of_them, refusal
from naysay.questionnaire.rules.walk import Walk

MOST_ODDS = 20
"""The largest factor by which an answer may change the odds between two categories without a warning.

A larger factor is a warning to the author and a sentence on the page. The page has the number as ``LOUD`` in
``measures.js``: change both.
"""

_MOST_EPSILON = round(math.log(MOST_ODDS), 1)  # 3, rounded: authors write k_ary(epsilon=3), whose odds are 20.09


def offers(walk: Walk) -> Iterator[tuple[str, Question, Private]]:
    """Private questions whose design can be read and has their categories."""
    for entry, question in walk.questions():
        if question.privacy is not None and not list(_unfit(entry.path, question, question.privacy)):
            yield entry.path, question, question.privacy


def designs_fit(walk: Walk) -> Iterator[Problem]:
    """A design must be readable, ask one sample for one response, and have the question's categories."""
    for entry, question in walk.questions():
        if question.privacy is not None:
            yield from _unfit(entry.path, question, question.privacy)


def _unfit(path: str, question: Question, private: Private) -> Iterator[Problem]:
    path, names = f"{path}.private.design", question.categories
    try:
        offer = private.offer
    except DesignError as error:
        yield Problem("designs", f"the design cannot be read: {error}", path=path)
        return
    if offer.estimates != "proportions":
        message = f"the page of a survey does not draw for {offer.name or offer.kind}"
        way_out = "ask for ordered choices, such as with frequency(epsilon=1), or collect from an app of your own"
        yield Problem("designs", message, "numbers and hierarchies are drawn by apps", way_out, path=path)
        return
    if offer.assigned_by == "researcher" or offer.finer:
        message = f"a questionnaire is one sample; {offer.name or 'this design'} needs several, or cells of its own"
        way_out = "make a questionnaire for each sample, or take another design, such as warner(p=0.7)"
        yield Problem("designs", message, "everybody gets the same page", way_out, path=path)
        return
    if offer.assigned_by == "respondent" and not all(type(name) in (str, int) for name in offer.levels):
        message = f"levels must be called by texts or whole numbers; got {_checks.listing_text(offer.levels)}"
        reason = "the page would write the others in another way"
        yield Problem("levels", message, reason, "put quotation marks around them", path=path)
    elif offer.space.answers > 1 or any(isinstance(label, tuple) for label in offer.categories):
        message = "a question takes one response; this design asks for several"
        yield Problem("designs", message, "", "ask two questions, each with its own design", path=path)
    elif any(map(_remembers, offer.parts.values())):
        message = "the page keeps nothing from one survey to the next, so that it cannot remember an answer"
        way_out = "take the design without memory, such as frequency(epsilon=1); apps remember with a ledger"
        yield Problem("designs", message, "", way_out, path=path)
    elif tuple(map(str, offer.categories)) != names:
        about = _checks.listing_text(offer.categories)
        message = f"the design must be about {_checks.listing_text(names)} in this order; it is about {about}"
        way_out = "make it from the names of the choices (yes and no for each choice of a select multiple)"
        yield Problem("designs", message, "answers would stand for other categories", way_out, path=path)


def _remembers(design: Answerable) -> bool:
    """Whether the design, or one that it is made of, keeps a report."""
    return memory_of(design) is not None or any(map(_remembers, design.made_of))


def levels(walk: Walk) -> Iterator[Problem]:
    """Levels that reveal the answer, nearly reveal it, or tell nothing are reported; the most private come first."""
    for item_path, _, private in offers(walk):
        path = f"{item_path}.private.design"
        for level, channel in private.channels:
            yield from _disclosure_problems(channel, "the design" if level is None else f"level {level!r}", path)
        bits = [privacy.information(channel) for level, channel in private.channels if level not in private.by_hand]
        if any(first > second + 1e-9 for first, second in pairwise(bits)):
            message = "levels must run from the most private to the most open"
            reason = "respondents read them in this order, and the first is what they begin with"
            yield Problem("levels", message, reason, "put them in order", "warning", path=path)
        begins_at, device_levels = (
            private.begins_at,
            [offered_level for offered_level in private.levels if offered_level not in private.by_hand],
        )
        if begins_at is not None and begins_at not in device_levels:
            message = f"the page must begin at a level that the device draws; got {begins_at!r}"
            named_levels = [offered_level for offered_level in device_levels if offered_level is not None]
            way_out = (
                _checks.nearest(begins_at, named_levels)
                if named_levels
                else "leave it out, or offer levels, such as 1..3"
            )
            yield Problem("levels", message, "", way_out, path=f"{item_path}.private.begins_at")


def words(walk: Walk) -> Iterator[Problem]:
    """A response that is not a choice needs words of its own."""
    for path, question, private in offers(walk):
        worded_labels = {*question.categories, *YES_NO, *private.responses}
        spaces = [channel.space for _, channel in private.channels]
        labels = [str(label) for space in spaces if space.one_label or space.sets for label in space.labels]
        for label in dict.fromkeys(labels):
            if label not in worded_labels:
                message = f"the response {label!r} has no words of its own, and is shown as it is written"
                way_out = "write them into private.responses of the JSON"
                responses_path = f"{path}.private.responses"
                yield Problem("words", message, "it is in one language only", way_out, "warning", path=responses_path)


def apart(walk: Walk) -> Iterator[Problem]:
    """A private answer is drawn once: no other choice and no other private question may say the same on its screen.

    The page knows a question again by all that is read on its screen, and refuses the second one; see ``memory.js``.
    """
    earlier: list[tuple[str, set[str], set[str]]] = []  # name, words of the label, all other words
    for entry, question in walk.questions():
        if question.privacy is None:
            continue
        yield from _equal_choices(f"{entry.path}.choices", getattr(question, "choices", ()))
        texts = set(_words(question.label))
        labels = [label for name, label in question.labels() if name != "label"]
        labels += [label for group in walk.around(entry) for _, label in group.item.labels()]
        labels += [choice.label for choice in getattr(question, "choices", ())]
        other_texts = {text for label in labels for text in _words(label)}
        for name, earlier_texts, earlier_others in earlier:
            if texts & (earlier_texts | earlier_others) or other_texts & earlier_texts:
                message = f"a private question must say in its own words what it asks; {name!r} has the same words"
                reason = "their answers would be two draws for one question, so the page refuses the second"
                yield Problem("apart", message, reason, "leave one out, or ask in other words", path=entry.path)
                break
        earlier.append((question.name, texts, other_texts))


def _equal_choices(path: str, choices: Sequence[Choice]) -> Iterator[Problem]:
    name_of_text: dict[tuple[str, str], str] = {}
    for place, choice in enumerate(choices):
        for tag, text in choice.label.items():
            twin = name_of_text.setdefault((tag, letters(text) or text), choice.name)
            if twin != choice.name:
                message = f"the choices of a private question must differ in words; {choice.name!r} reads as {twin!r}"
                reason = "the answer to one of them would be drawn twice"
                yield Problem("apart", message, reason, "leave one out", path=f"{path}[{place}].label.{tag}")


def _words(label: Label) -> Iterator[str]:
    return filter(None, map(letters, label.values()))


def _disclosure_problems(design: Design, subject: str, path: str) -> Iterator[Problem]:
    fewest_possible, most_possible = privacy.still_possible(design)
    epsilon = privacy.epsilon(design)
    if most_possible == 1 and len(design.categories) == 2 and not (np.diagonal(design.matrix) > 0).any():
        message = f"{subject} rules one of two categories out, which reveals the other"
        reason = "a negative survey needs three categories or more"
        yield Problem("negative", message, reason, "take warner() or two_coins(), or add categories", path=path)
    elif fewest_possible == 1:
        effect = "reveals the answer" if most_possible == 1 else "reveals the answer of some respondents"
        reason = "one category stays possible; the page says so where it is chosen"
        way_out = "leave it out where nobody should tell their answer"
        yield Problem("reveals", f"{subject} {effect}", reason, way_out, "warning", path=path)
    elif _MOST_EPSILON < epsilon < math.inf:
        odds = f"an answer changes the odds between two categories by up to {math.exp(epsilon):,.0f} to 1"
        message = f"{subject} protects little: its ε is {epsilon:.3g}, and {odds}"
        reason = "all categories stay possible, but one of them is nearly certain"
        way_out = f"leave more to chance, until ε is {_MOST_EPSILON:g} or less (odds of {MOST_ODDS} to 1)"
        yield Problem("reveals", message, reason, way_out, "warning", path=path)
    elif epsilon == 0:
        message = f"{subject} tells nothing"
        reason = "the response does not depend on the answer, so nothing can be estimated"
        yield Problem("designs", message, reason, "take a design that tells something", path=path)


def categories(walk: Walk) -> Iterator[Problem]:
    """No "none of the above" where two options are shown; a sink where ruling out a category betrays something."""
    for path, question, private in offers(walk):
        if len(question.categories) < 3:
            continue
        channels = [channel for _, channel in private.channels]
        shows_options = bool(private.by_hand) or any(channel.shown is not None for channel in channels)
        is_nameable = np.any([_nameable(channel) for channel in channels], axis=0)
        for place, part in enumerate(dict(question.lists())[question.categories_in]):
            label_path = f"{path}.{question.categories_in}[{place}].label"
            if shows_options and none_of_them(part):
                message = f"{part.name!r} must not be offered where only some of the options are shown"
                reason = (
                    "none of which? beside one other option it is read as none of these two, and its chances are "
                    "unknown (Esponda 2006, section 3.1.1)"
                )
                way_out = "say what it holds, such as 'another party', or leave the coin and two_option out"
                yield Problem("none_of_the_above", message, reason, way_out, path=label_path)
            elif is_nameable[place] and (refusal(part) or complement(part) or none_of_them(part)):
                admission = "that there is an answer to hide" if refusal(part) else "that something else is true"
                message = f"ruling out {part.name!r} says {admission}"
                reason = "some categories reveal something when they are ruled out (Esponda, Huerta & Guerrero 2016)"
                way_out = f"never rule it out: write {part.name} into bind::naysay_sink"
                yield Problem("sinks", message, reason, way_out, "warning", path=label_path)


def _nameable(design: Design) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which categories a response can rule out, (t,); none for a direct question."""
    t = len(design.categories)
    if not math.isinf(privacy.epsilon(design)) or privacy.still_possible(design)[1] == 1:
        return np.zeros(t, dtype=bool)
    if design.exchangeable:
        return np.ones(t, dtype=bool)
    rows = design.rows(design.typical_codes)
    return np.asarray((rows[rows.max(axis=1) > 0] == 0).any(axis=0))


_INNOCUOUS = "write the innocuous question into bind::naysay_innocuous"


def by_hand(walk: Walk) -> Iterator[Problem]:
    """A level drawn by hand must be on offer, and people must be able to draw it with a coin."""
    for item_path, _, private in offers(walk):
        path, by_name = f"{item_path}.private.by_hand", dict(private.channels)
        for level in private.by_hand:
            if level not in by_name:
                hint = _checks.nearest(level, [level_name for level_name in by_name if level_name is not None])
                message = f"a level drawn by hand must be on offer; there is no level {level!r}"
                yield Problem("by_hand", message, "", hint, path=path)
            elif way_by_hand(by_name[level], innocuous=False) is None:
                message = f"level {level!r} must be one that people can draw with a coin"
                reason = "the page shows two options of which one is named, or tells respondents to toss two coins"
                way_out = "take two_option(shown=2), for two categories two_coins()"
                yield Problem("by_hand", message, reason, way_out, path=path)


def modes(walk: Walk) -> Iterator[Problem]:
    """Each mode is named once, and people must be able to carry out a mode by hand."""
    for item_path, question, private in offers(walk):
        path, mode_names = f"{item_path}.private.modes", private.modes
        if not mode_names or len(set(mode_names)) < len(mode_names):
            message = f"modes must be hand, device or both, each once; got {_checks.listing_text(mode_names)}"
            yield Problem("modes", message, "", "write hand, device, the first one to begin with", path=path)
        elif "hand" in mode_names and private.levels != (None,):
            message = "a mode by hand goes with one design; this question offers levels"
            way_out = "leave the mode out, and put a level drawn by hand on offer: bind::naysay_levels with coin"
            yield Problem("modes", message, "a level is sent, a mode is not", way_out, path=path)
        elif "hand" in mode_names:
            yield from _not_carried_out(path, question, private)
        elif _assumes_prevalence(private) and not private.innocuous:
            message = "respondents cannot carry this design out themselves: its innocuous question is not there"
            reason = "the device draws the innocuous answer, and must be told the sensitive one"
            yield Problem("modes", message, reason, _INNOCUOUS, "warning", path=path)


def _not_carried_out(path: str, question: Question, private: Private) -> Iterator[Problem]:
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
    innocuous_texts: dict[str, str] = {}
    question_of_text = {
        letters(text): question.name for _, question in walk.questions() for text in _question_texts(question)
    }
    for item_path, question, private in offers(walk):
        path = f"{item_path}.private.innocuous"
        if not private.innocuous:
            continue
        yield from _fit(path, question, private)
        own_texts = _letters(private.innocuous)
        twin_question = next((innocuous_texts[text] for text in own_texts if text in innocuous_texts), None)
        if twin_question is not None:
            message = f"an innocuous question must protect one answer only; {twin_question!r} has the same"
            reason = "the two responses together would tell whether both answers are alike"
            yield Problem(
                "innocuous", message, reason, "ask another, such as about another person's birthday", path=path
            )
        plain = next((question_of_text[text] for text in own_texts if text in question_of_text), None)
        if plain is not None:
            message = f"an innocuous question must be asked nowhere else; {plain!r} asks it"
            reason = "with its answer the response tells the truth"
            yield Problem("innocuous", message, reason, "leave one of them out", path=path)
        innocuous_texts |= dict.fromkeys(own_texts, question.name)


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


def _question_texts(question: Question) -> Iterator[str]:
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
