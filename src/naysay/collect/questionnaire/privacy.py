"""Rules about privacy: which designs can be asked, and which categories betray something when they are ruled out.

Rules about who carries a design out: the device, or respondents, with a coin or an innocuous question.

What a choice means, as far as its words tell, in English, German, Spanish and Arabic.

The designs that people can carry out themselves on the page: with a coin, a die, or an innocuous question.

What the answers to a questionnaire tell: question by question, level by level, and all together.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from naysay import _checks, designs, privacy
from naysay.collect.questionnaire.arms import asked_arms, never_together, sights, truth_shares
from naysay.collect.questionnaire.questionnaire import Entry, Questionnaire, Walk
from naysay.collect.questionnaire.questions import YES_NO, Bin, Choice, Label, Private, Problem, Question
from naysay.design import Answerable, Design
from naysay.design.algebra import memory_of
from naysay.designs.randomized import PREVALENCE
from naysay.errors import DesignError
from naysay.show.result import rounded_up

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
    path, category_names = f"{path}.private.design", question.categories
    try:
        offer = private.offer
    except DesignError as error:
        yield Problem("designs", f"the design cannot be read: {error}", path=path)
        return
    if offer.structure.estimates != "proportions" or any(map(_only_by_apps, offer.parts.values())):
        message = f"the page of a survey does not draw for {offer.name or offer.kind}"
        way_out = "ask for ordered choices, such as with frequency(epsilon=1), or collect from an app of your own"
        yield Problem("designs", message, "numbers and hierarchies are drawn by apps", way_out, path=path)
        return
    if offer.offer.assigned_by == "researcher" or offer.structure.finer:
        message = f"a question is drawn by one design; {offer.name or 'this design'} needs several, or cells of its own"
        way_out = "write the design into a sheet, which makes a question for each arm, or ask one question in each arm"
        yield Problem("designs", message, "everybody gets the same page", way_out, path=path)
        return
    if offer.offer.assigned_by == "respondent" and not all(
        type(level_name) in (str, int) for level_name in offer.levels
    ):
        message = f"levels must be called by texts or whole numbers; got {_checks.listing_text(offer.levels)}"
        reason = "the page would write the others in another way"
        yield Problem("levels", message, reason, "put quotation marks around them", path=path)
    elif offer.space.answers > 1 or any(isinstance(category_label, tuple) for category_label in offer.categories):
        message = "a question takes one response; this design asks for several"
        yield Problem("designs", message, "", "ask two questions, each with its own design", path=path)
    elif any(map(_remembers, offer.parts.values())):
        message = "the page keeps nothing from one survey to the next, so that it cannot remember an answer"
        way_out = "take the design without memory, such as frequency(epsilon=1); apps remember with a ledger"
        yield Problem("designs", message, "", way_out, path=path)
    elif tuple(map(str, offer.categories)) != category_names:
        about = _checks.listing_text(offer.categories)
        message = f"the design must be about {_checks.listing_text(category_names)} in this order; it is about {about}"
        way_out = "make it from the names of the choices (yes and no for each choice of a select multiple)"
        yield Problem("designs", message, "answers would stand for other categories", way_out, path=path)


_ONLY_BY_APPS = {"grouped", "window"}
"""Kinds that look like a design of one question, and that the page does not draw; trust.js lists what it draws."""


def _only_by_apps(design: Answerable) -> bool:
    """Whether the page cannot draw the design, or one that it is made of; it never names the hash of an affine one."""
    is_undrawn = design.kind in _ONLY_BY_APPS or getattr(design, "named", False)
    return is_undrawn or any(map(_only_by_apps, design.structure.made_of))


def _remembers(design: Answerable) -> bool:
    """Whether the design, or one that it is made of, keeps a report."""
    return memory_of(design) is not None or any(map(_remembers, design.structure.made_of))


def levels(walk: Walk) -> Iterator[Problem]:
    """Levels that reveal the answer, nearly reveal it, or tell nothing are reported; the most private come first."""
    for item_path, _, private in offers(walk):
        design_path = f"{item_path}.private.design"
        for level, channel in private.channels:
            yield from _disclosure_problems(channel, "the design" if level is None else f"level {level!r}", design_path)
        level_bits = [
            privacy.information(channel) for level, channel in private.channels if level not in private.by_hand
        ]
        if any(first_bits > second_bits + 1e-9 for first_bits, second_bits in pairwise(level_bits)):
            message = "levels must run from the most private to the most open"
            reason = "respondents read them in this order, and the first is what they begin with"
            yield Problem("levels", message, reason, "put them in order", "warning", path=design_path)
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
    for item_path, question, private in offers(walk):
        for label in sorted(private.responses.keys() & set(question.categories)):
            message = f"the response {label!r} is a category; its words are those of the choice"
            reason, responses_path = "other words could turn an answer around", f"{item_path}.private.responses.{label}"
            yield Problem("words", message, reason, "leave its words out of private.responses", path=responses_path)
        worded_labels = {*question.categories, *YES_NO, *private.responses}
        response_spaces = [channel.space for _, channel in private.channels]
        response_labels = [
            str(response_label)
            for response_space in response_spaces
            if response_space.one_label or response_space.sets
            for response_label in response_space.labels
        ]
        for response_label in dict.fromkeys(response_labels):
            if response_label not in worded_labels:
                message = f"the response {response_label!r} has no words of its own, and is shown as it is written"
                way_out = "write them into private.responses of the JSON"
                responses_path = f"{item_path}.private.responses"
                yield Problem("words", message, "it is in one language only", way_out, "warning", path=responses_path)


def apart(walk: Walk) -> Iterator[Problem]:
    """A private answer is drawn once: no other choice and no other private question may say the same on its screen.

    The page knows a question again by all that is read on its screen, and refuses the second one; see ``memory.js``.
    """
    earlier_questions: list[tuple[Entry, set[str], set[str]]] = []  # the question, words of its label, all other words
    for entry, question in walk.questions():
        if question.privacy is None:
            continue
        choices: Sequence[Choice] = getattr(question, "choices", ())
        name_of_text: dict[tuple[str, str], str] = {}
        for choice_place, choice in enumerate(choices):
            for language_tag, choice_text in choice.label.items():
                twin_name = name_of_text.setdefault((language_tag, _seen(choice_text)), choice.name)
                if twin_name != choice.name:
                    message = (
                        "the choices of a private question must differ in words; "
                        f"{choice.name!r} reads as {twin_name!r}"
                    )
                    reason = "the answer to one of them would be drawn twice"
                    text_path = f"{entry.path}.choices[{choice_place}].label.{language_tag}"
                    yield Problem("apart", message, reason, "leave one out", path=text_path)
        label_texts = set(_words(question.label))
        other_labels = [label for field_name, label in question.labels() if field_name != "label"]
        other_labels += [label for group in walk.around(entry) for _, label in group.item.labels()]
        other_labels += [choice.label for choice in choices]
        other_texts = {text for label in other_labels for text in _words(label)}
        for earlier_entry, earlier_texts, earlier_others in earlier_questions:
            is_twin = label_texts & (earlier_texts | earlier_others) or other_texts & earlier_texts
            if is_twin and not never_together(walk, entry, earlier_entry):
                message = (
                    "a private question must say in its own words what it asks; "
                    f"{earlier_entry.item.name!r} has the same words"
                )
                reason = "their answers would be two draws for one question, so the page refuses the second"
                yield Problem("apart", message, reason, "leave one out, or ask in other words", path=entry.path)
                break
        earlier_questions.append((entry, label_texts, other_texts))


def _seen(text: str) -> str:
    """What a text looks like: its letters, each as the Latin letter that it looks like."""
    return letters(unicodedata.normalize("NFKC", text).translate(_LOOKALIKE)) or text


def _words(label: Label) -> list[str]:
    return [visible_text for text in label.values() if (visible_text := letters(text))]


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
        odds_text = (
            f"an answer changes the odds between two categories by up to {math.ceil(math.exp(epsilon) - 1e-6):,} to 1"
        )
        message = f"{subject} protects little: its ε is {epsilon:.3g}, and {odds_text}"
        reason = "all categories stay possible, but one of them is nearly certain"
        way_out = f"leave more to chance, until ε is {_MOST_EPSILON:g} or less (odds of {MOST_ODDS} to 1)"
        yield Problem("reveals", message, reason, way_out, "warning", path=path)
    elif epsilon == 0:
        message = f"{subject} tells nothing"
        reason = "the response does not depend on the answer, so nothing can be estimated"
        yield Problem("designs", message, reason, "take a design that tells something", path=path)


def categories(walk: Walk) -> Iterator[Problem]:
    """No "none of the above" where two options are shown; a sink where ruling out a category betrays something."""
    for item_path, question, private in offers(walk):
        if len(question.categories) < 3:
            continue
        level_designs = [level_design for _, level_design in private.channels]
        shows_options = bool(private.by_hand) or any(
            level_design.structure.shown is not None for level_design in level_designs
        )
        is_nameable = np.any([_nameable(level_design) for level_design in level_designs], axis=0)
        for category_place, part in enumerate(dict(question.lists())[question.categories_in]):
            label_path = f"{item_path}.{question.categories_in}[{category_place}].label"
            meanings = meanings_of(part)
            if shows_options and "none" in meanings:
                message = f"{part.name!r} must not be offered where only some of the options are shown"
                reason = (
                    "respondents see it beside one other option and read it as 'neither of these two', and nobody "
                    "knows how likely it then is (Esponda 2006, section 3.1.1)"
                )
                way_out = "say what it holds, such as 'another party', or leave the coin and two_option out"
                yield Problem("none_of_the_above", message, reason, way_out, path=label_path)
            elif is_nameable[category_place] and meanings:
                admission = (
                    "that there is an answer to hide" if "refusal" in meanings else "that something else is true"
                )
                message = f"ruling out {part.name!r} says {admission}"
                reason = "some categories reveal something when they are ruled out (Esponda, Huerta & Guerrero 2016)"
                way_out = f"never rule it out: write {part.name} into bind::naysay_sink"
                yield Problem("sinks", message, reason, way_out, "warning", path=label_path)


def _nameable(design: Design) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which categories a response can rule out, (t,); none for a direct question."""
    t = len(design.categories)
    if not math.isinf(privacy.epsilon(design)) or privacy.still_possible(design)[1] == 1:
        return np.zeros(t, dtype=bool)
    if design.structure.exchangeable:
        return np.ones(t, dtype=bool)
    typical_rows = design.rows(design.structure.typical_codes)
    return np.asarray((typical_rows[typical_rows.max(axis=1) > 0] == 0).any(axis=0))


_INNOCUOUS = "write the innocuous question into bind::naysay_innocuous"


def by_hand(walk: Walk) -> Iterator[Problem]:
    """A level drawn by hand must be on offer, and people must be able to draw it with a coin."""
    for item_path, _, private in offers(walk):
        by_hand_path, by_name = f"{item_path}.private.by_hand", dict(private.channels)
        for level in private.by_hand:
            if level not in by_name:
                hint = _checks.nearest(level, [level_name for level_name in by_name if level_name is not None])
                message = f"a level drawn by hand must be on offer; there is no level {level!r}"
                yield Problem("by_hand", message, "", hint, path=by_hand_path)
            elif way_by_hand(by_name[level], innocuous=False) is None:
                message = f"level {level!r} must be one that people can draw with a coin"
                reason = "the page shows two options of which one is named, or tells respondents to toss two coins"
                way_out = "take two_option(shown=2), for two categories two_coins()"
                yield Problem("by_hand", message, reason, way_out, path=by_hand_path)


def modes(walk: Walk) -> Iterator[Problem]:
    """Each mode is named once, and people must be able to carry out a mode by hand."""
    for item_path, _, private in offers(walk):
        modes_path, mode_names = f"{item_path}.private.modes", private.modes
        if not mode_names or len(set(mode_names)) < len(mode_names):
            message = f"modes must be hand, device or both, each once; got {_checks.listing_text(mode_names)}"
            yield Problem("modes", message, "", "write hand, device, the first one to begin with", path=modes_path)
        elif "hand" in mode_names and private.levels != (None,):
            message = "a mode by hand goes with one design; this question offers levels"
            way_out = "leave the mode out, and put a level drawn by hand on offer: bind::naysay_levels with coin"
            yield Problem("modes", message, "a level is sent, a mode is not", way_out, path=modes_path)
        elif "hand" in mode_names:
            if way_by_hand(private.channels[0][1], innocuous=bool(private.innocuous)) is None:
                message = "the page cannot tell people how to carry this design out"
                way_out = (
                    "take crosswise, triangular, unrelated_question with p = 1/2 or sixths, two_coins, or two_option"
                )
                if assumes_prevalence(private.offer) and not private.innocuous:
                    way_out = _INNOCUOUS
                reason = "they have a coin, a die, or an innocuous question"
                yield Problem("modes", message, reason, way_out, path=modes_path)
        elif assumes_prevalence(private.offer) and not private.innocuous:
            message = "respondents cannot carry this design out themselves: its innocuous question is not there"
            reason = "the device draws the innocuous answer, and must be told the sensitive one"
            yield Problem("modes", message, reason, _INNOCUOUS, "warning", path=modes_path)


def innocuous(walk: Walk) -> Iterator[Problem]:
    """An innocuous question protects only one answer and is asked nowhere else; its prevalence is an assumption."""
    innocuous_texts: dict[str, list[str]] = {}
    question_of_text: dict[str, str] = {}
    for _, question in walk.questions():  # its label, and each line of it that has an answer of its own
        answered_lines = getattr(question, "rows", getattr(question, "choices", ())) if question.parts else ()
        for label in (question.label, *(line.label for line in answered_lines)):
            question_of_text |= {letters(text): question.name for text in label.values()}
    for item_path, question, private in offers(walk):
        innocuous_path = f"{item_path}.private.innocuous"
        if not private.innocuous:
            continue
        yield from _fit(innocuous_path, question, private)
        own_texts = _words(private.innocuous)
        own_entry = walk.by_name[question.name]
        twin_names = (name for text in own_texts for name in innocuous_texts.get(text, ()))
        twin_question = next(
            (name for name in twin_names if not never_together(walk, own_entry, walk.by_name[name])), None
        )
        if twin_question is not None:
            message = f"an innocuous question must protect one answer only; {twin_question!r} has the same"
            reason = "the two responses together would tell whether both answers are alike"
            way_out = "ask another, such as about another person's birthday"
            yield Problem("innocuous", message, reason, way_out, path=innocuous_path)
        plain_question = next((question_of_text[text] for text in own_texts if text in question_of_text), None)
        if plain_question is not None:
            message = f"an innocuous question must be asked nowhere else; {plain_question!r} asks it"
            reason = "with its answer the response tells the truth"
            yield Problem("innocuous", message, reason, "leave one of them out", path=innocuous_path)
        for text in own_texts:
            innocuous_texts.setdefault(text, []).append(question.name)


def _fit(path: str, question: Question, private: Private) -> Iterator[Problem]:
    """Whether an innocuous question fits the design, and protects only one answer."""
    if question.parts:
        message = "a select_multiple must have no innocuous question: it would protect several answers"
        reason = "the responses together would tell which answers are alike"
        yield Problem("innocuous", message, reason, "ask a question for each choice, or take two_coins", path=path)
    elif not assumes_prevalence(private.offer):
        message = "an innocuous question must stand beside a design that has one; this design has none"
        way_out = "leave the question out, or take a design such as crosswise(prevalence=1/4)"
        yield Problem("innocuous", message, "", way_out, path=path)
    elif "hand" not in private.modes:
        message = "an innocuous question is shown in the mode by hand only"
        yield Problem("innocuous", message, "", "write hand, device into bind::naysay_mode", path=path)
    elif not getattr(private.channels[0][1], "alternatives", ()):  # no range is stated
        message = "the prevalence of the innocuous question is an assumption"
        reason = "if it is another one, the estimate is wrong, and its interval does not say so"
        way_out = "state the range in which it lies: between=(0.23, 0.27); estimates then have a band"
        yield Problem("innocuous", message, reason, way_out, "warning", path=path)


def assumes_prevalence(offer: Answerable) -> bool:
    """Whether a design has an innocuous question, whose prevalence it assumes."""
    return offer.protocol is not None and PREVALENCE in offer.protocol.assumes


_NONE = (
    r"none( of (the above|these|those|them))?", r"(nothing|neither)( of (these|those|them))?", r"not any( of these)?",
    r"no(ne)? (answer )?(applies|fits)", r"other|others|something else|any other",
    r"kein(e|er|es|en|s)?( davon| der (genannten|obigen)| von (diesen|beiden|ihnen))?", r"nichts( davon)?",
    r"weder noch", r"trifft nichts zu", r"andere(s|r)?|sonstige(s)?",
    r"ningun[oa]?|ningún( de (los|las|estos|estas) ?(anteriores)?)?", r"ningun[oa] de .+",
    r"nada( de (esto|eso|lo anterior))?",
    r"otr[oa]s?", r"لا شيء( مما (سبق|ذكر))?", r"لا أحد", r"لا يوجد", r"ولا واحد.*", r"أي مما سبق", r"غير ذلك", r"أخرى",
)  # fmt: skip
_REFUSAL = (
    r"(would |i'd |i would )?(rather|prefer) not( to)? (say|answer|tell).*", r"no answer", r"refused?",
    r"(i )?don'?t know",     r"not sure", r"no opinion", r"decline to .*", r"keine angabe",
    r"(möchte|will) ich nicht (sagen|beantworten)",
    r"weiß (ich )?nicht", r"ich weiß (es )?nicht", r"verweigert", r"prefiero no (decirlo|decir|contestar|responder)",
    r"no (lo )?s[eé]|no sabe.*", r"sin respuesta", r"no (contesta|responde|quiere contestar)",
    r"أفضل (عدم|ألا) .+", r"لا أعرف",
    r"لا أدري", r"لا إجابة", r"بدون إجابة", r"أرفض .*",
)  # fmt: skip
_COMPLEMENT = (
    r"never", r"no", r"not", r"zero", r"0", r"(no|not) (at all|ever)",
    r"nie(mals)?", r"nein", r"null", r"gar nicht", r"überhaupt nicht",
    r"nunca|jamás", r"cero", r"لا", r"أبد[اًا]+|مطلقًا", r"صفر", r"0( to | bis | a |-|–).+", r"(de|من) 0 .+",
)  # fmt: skip


_MEANINGS = {
    meaning: re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
    for meaning, patterns in {"none": _NONE, "refusal": _REFUSAL, "complement": _COMPLEMENT}.items()
}


def meanings_of(choice: Choice | Bin) -> set[str]:
    """What a choice means beside the other choices, as far as its name or a label tells.

    "none" stands for everything beside them: "none of the above", "something else". "refusal" says that there is no
    answer: "rather not say", "don't know". "complement" denies what the others admit, such as "never", "no", "0 to 2":
    ruling it out admits the thing.

    Examples
    --------
    >>> meanings_of(Choice(name="x", label={"de": "Keine davon"}))
    {'none'}
    >>> meanings_of(Choice(name="x", label={"es": "Prefiero no decirlo"})), meanings_of(Choice(name="never", label={}))
    ({'refusal'}, {'complement'})
    """
    plain_labels = [
        re.sub(r"\s+", " ", label_text).strip(" .,;:!?()[]«»\"'“”„…،؟") for label_text in choice.label.values()
    ]
    choice_texts = (choice.name.replace("_", " "), *plain_labels)
    return {meaning for meaning, pattern in _MEANINGS.items() if any(map(pattern.fullmatch, choice_texts))}


Way = Literal["crosswise", "triangular", "unrelated", "coins", "options"]
"""How a design is carried out by hand."""

_LOTS = (Fraction(1, 2), *(Fraction(side, 6) for side in range(1, 6)))
"""The chances that people have at hand: those of a coin and of a die."""

_UNSEEN = "\u115f\u1160\u3164\uffa0"  # letters that take up space but show nothing


_LOOKALIKE = str.maketrans(
    "авекмнорстухіјѕԁһԛԝүѵαβεικμνορτυχϳɑɡɩАВЕКМНОРСТУХІЈЅԌԚԜҮΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "abekmhopctyxijsdhqwyvabeikuvoptuxjagiABEKMHOPCTYXIJSGQWYABEZHIKMNOPTYX",
)
"""Cyrillic and Greek letters, each with the Latin letter that it looks like."""


def way_by_hand(design: Design, *, innocuous: bool) -> Way | None:
    """How people carry a design out themselves; None where the page cannot tell them how.

    The way is read from the design's probabilities, not from its name: what people are told to do must give exactly
    these probabilities. The page does the same (``by_hand.js``).

    Parameters
    ----------
    design : Design
    innocuous : bool
        Whether an innocuous question stands beside the sensitive one.

    Examples
    --------
    >>> way_by_hand(designs.crosswise(prevalence=0.25), innocuous=True)
    'crosswise'
    >>> way_by_hand(designs.unrelated_question(p="2/3", prevalence=0.25), innocuous=True)
    'unrelated'
    >>> way_by_hand(designs.two_coins(), innocuous=False)
    'coins'
    """
    if not innocuous:
        coin_design = by_hand_design(design.categories)
        # with more categories people see two options; the same probabilities from other means are no coin
        if len(design.categories) > 2:
            return "options" if design == coin_design else None
        same_space = design.space == coin_design.space and design.space.listable
        return "coins" if same_space and (design.matrix == coin_design.matrix).all() else None
    has_two = len(design.categories) == 2 and design.space.size == 2
    if not design.structure.tabular or not has_two or not design.space.one_label:
        return None
    weights = design.integers(design.space.listing())
    if weights is None:
        return None
    (a, b), (c, d) = weights.tolist()  # chances of the first and the second response, for members and for others
    if tuple(map(str, design.space.labels)) == tuple(map(str, design.categories)):
        return "unrelated" if Fraction(a - b, a + c) in _LOTS and b and c else None
    if (a, b) == (d, c) and a and b and a != b:
        return "crosswise"
    return "triangular" if not c and b and d else None


def has_innocuous(question: Question) -> bool:
    """Whether people answer by hand, with an innocuous question whose answer others may know."""
    return question.privacy is not None and bool(question.privacy.innocuous)


_TOLD = {  # for either innocuous answer, which responses people of the first category may give, and those of the second
    "crosswise": (((0,), (1,)), ((1,), (0,))),
    "triangular": (((0,), (0,)), ((0,), (1,))),
    "unrelated": (((0,), (0, 1)), ((0, 1), (1,))),
}


def as_told(control: Question, response: str, truth: str | None) -> tuple[bool, ...]:
    """Whether somebody with either innocuous answer can have complied with this answer to a control.

    Where shares are all that is known of the truth, for somebody of each category. Without an innocuous question: ().
    """
    if control.control is None or control.privacy is None or not has_innocuous(control):
        return ()
    channel = control.privacy.channels[0][1]
    way = way_by_hand(channel, innocuous=True)
    [truth_share, *other_shares] = truth_shares(control.control, control.categories)
    truths = np.flatnonzero(truth_share).tolist() if not other_shares else [control.categories.index(str(truth))]
    said = channel.space.encode([response])[0]
    return tuple(said in told[place] for told in _TOLD.get(str(way), ()) for place in truths)


def by_hand_design(names: Sequence[str]) -> Design:
    """The design that respondents draw themselves, with a coin.

    Respondents see two options and name one that is not true of them. With two categories, they toss two coins.

    Examples
    --------
    >>> by_hand_design(("yes", "no"))
    <two_coins(): 2 categories>
    """
    return designs.two_coins(categories=names) if len(names) == 2 else designs.two_option(names, shown=2)


def letters(text: str) -> str:
    """The visible letters and digits of a text, so that one blank more or less does not make another question.

    Examples
    --------
    >>> letters("Do you smoke?") == letters("do you  smoke")
    True
    """
    plain_text = unicodedata.normalize("NFKC", text).lower()
    return "".join(
        character for character in plain_text if unicodedata.category(character)[0] in "LN" and character not in _UNSEEN
    )


def statements(questionnaire: Questionnaire) -> dict[str, list[dict[str, Any]]]:
    """The privacy of one answer to each private question, a list of levels, most private first.

    The respondent's page shows it beside each level. For a select multiple it is the privacy of one of its choices.

    Parameters
    ----------
    questionnaire : Questionnaire

    Returns
    -------
    {question: list of object}
        level (None where there is nothing to choose), by_hand, categories, still_possible (fewest and most), epsilon in
        nats (None for ∞), odds (largest ratio of posterior to prior odds; None for ∞), bits under a uniform prior,
        reveals.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> statements(sample())["smoking"][0]["still_possible"]
    [2, 2]
    """
    statements_of_question: dict[str, list[dict[str, Any]]] = {}
    for question, private in private_questions(questionnaire):
        level_statements = statements_of_question[question.name] = []
        for level, design in private.channels:
            possible_counts = list(privacy.still_possible(design))
            level_statements.append(
                {
                    "level": level,
                    "by_hand": level in private.by_hand,
                    "categories": len(design.categories),
                    "still_possible": possible_counts,
                    "epsilon": _finite(privacy.epsilon(design)),
                    "odds": _finite(float(privacy.odds(design).max())),
                    "bits": float(privacy.information(design)),
                    "reveals": possible_counts[0] == 1,
                }
            )
    return statements_of_question


def private_questions(questionnaire: Questionnaire) -> Iterator[tuple[Question, Private]]:
    """Each private question with its privacy."""
    for question in questionnaire.questions:
        if question.privacy is not None:
            yield question, question.privacy


def _finite(number: float) -> float | None:
    return None if math.isinf(number) else number


def together(questionnaire: Questionnaire) -> dict[str, float | None]:
    """The privacy of all answers of one person; of each question, at the level that tells most.

    Of several arms it is the one that tells most. Questions are randomized independently, so likelihood rows multiply:
    ε and bits add. Where one ε is ∞, the sum says
    nothing more. Then look at the odds, which are the largest of any question from its own answer, and at what stays
    possible.

    Parameters
    ----------
    questionnaire : Questionnaire

    Returns
    -------
    object
        epsilon (None for ∞), bits (an upper bound for any choice of levels: the choice may tell, too), odds (None for
        ∞).

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> together(sample())["epsilon"] is None
    True
    """
    walk = Walk(questionnaire)
    private = [(question.name, question, question.privacy) for _, question in walk.questions() if question.privacy]
    in_arm = [
        _together([(question, how) for name, question, how in private if arm in asked_arms(walk, walk.by_name[name])])
        for arm in (arm.name for arm in questionnaire.arms)
    ] or [_together([(question, how) for _, question, how in private])]
    epsilon, bits, odds = (max(numbers) for numbers in zip(*in_arm, strict=True))
    return {"epsilon": _finite(epsilon), "bits": bits, "odds": _finite(odds)}


def _together(private_questions: Sequence[tuple[Question, Private]]) -> tuple[float, float, float]:
    """ε, bits and odds of the answers of one person to these questions."""
    epsilons, bits, odds = [], [], []
    for question, private in private_questions:
        repeats, offer, level_designs = times(question), private.offer, list(private.offer.parts.values())
        epsilons.append(repeats * max(map(privacy.epsilon, level_designs)))
        # the most bits that an answer and its level can tell under any prior
        chosen_offer = offer if offer.offer.assigned_by == "respondent" else designs.levels({"only": offer})
        bits.append(repeats * privacy.choosing(chosen_offer))
        odds += [float(privacy.odds(design).max()) for design in level_designs]
    return math.fsum(epsilons), math.fsum(bits), max(odds, default=1.0)


def times(question: Question) -> int:
    """How many randomized answers a private question takes: one, or one for each choice of a select multiple."""
    return len(question.parts) or 1


def lines(questionnaire: Questionnaire) -> list[str]:
    """The privacy of the whole questionnaire as text: a line for each private question and level, and the sum.

    Parameters
    ----------
    questionnaire : Questionnaire

    Returns
    -------
    list of str

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> print(lines(sample())[-1])
    all answers together: ε = ∞ ...
    """
    statement_lines = []
    for question, private in private_questions(questionnaire):
        repeats = times(question)
        subject = question.name if repeats == 1 else f"{question.name}, each of {repeats} choices"
        privacy_lines = (
            line.removeprefix("privacy: ").removeprefix("privacy, ") for line in privacy.lines(private.offer)
        )
        statement_lines += [f"{subject}: {line}" for line in privacy_lines]
        if private.innocuous:
            statement_lines.append(
                f"{subject}: by hand this holds for readers who do not know a person's innocuous answer"
            )
    if not statement_lines:
        return ["privacy: no question is private; every answer is sent as it is"]
    total = together(questionnaire)
    epsilon, odds = total["epsilon"], total["odds"]
    every = "∞ (some answers rule something out for certain, so the sum says no more)"
    odds_shown = (
        "∞: it may reveal the category" if odds is None else f"{rounded_up(odds)} at most under a uniform prior"
    )
    sum_line = (
        f"all answers together: ε = {every if epsilon is None else f'{epsilon:.4g}'}; one answer changes the odds of a "
        f"category by {odds_shown}; {rounded_up(total['bits'] or 0.0)} bits at most; other answers may add about one "
        "question"
    )
    whole = sum(arm.share for arm in questionnaire.arms)
    arms_text = ", ".join(f"{arm.name} {arm.share}/{whole}" for arm in questionnaire.arms)
    arm_lines = [f"arms, drawn by lot on each device and sent with the reply: {arms_text}"] if arms_text else []
    return [*statement_lines, *arm_lines, *(sight.line() for sight in sights(Walk(questionnaire))), sum_line]
