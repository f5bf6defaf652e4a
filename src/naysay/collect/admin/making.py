"""A question of a draft is made private in the browser: what each design promises, and what respondents then see.

The page runs no script, so a choice is a form that is sent, and the draft has it at once. It shows the words of the
respondents' page, read from its own files; ``tests/collect/page/test_admin.py`` holds them to the real screen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from starlette.responses import Response

from naysay import planning
from naysay.collect.admin.surveys import draft_of, keep_draft
from naysay.collect.admin.visits import Visit
from naysay.collect.client import Client
from naysay.collect.questionnaire import Question, Questionnaire, of_form
from naysay.collect.questionnaire.arms import innocuous_of
from naysay.collect.questionnaire.kinds import Decimal, Integer, SelectMultiple, SelectOne
from naysay.collect.questionnaire.offers import bins_of, carried_out, parted, private_of
from naysay.collect.questionnaire.privacy import statements
from naysay.collect.questionnaire.xlsform_rows import number_of
from naysay.collect.survey.submission import Refusal
from naysay.design import read
from naysay.errors import DataError

Askable = SelectOne | SelectMultiple | Integer | Decimal
"""A question that can be made private."""

PLAIN = "plain"
"""The choice of no design: the answer is sent as it is."""

_BOUNDS = "20, 40, 60"  # an example of where ranges end


@dataclass(frozen=True)
class Promise:
    """A design, chosen by what it promises.

    Parameters
    ----------
    key : str
        What the form sends.
    title : str
        What is promised to respondents.
    sentence : str
        The key of the sentence on the respondents' page.
    design, levels, mode : str
        The cells of a sheet.
    """

    key: str
    title: str
    sentence: str
    design: str
    levels: str = ""
    mode: str = ""


@dataclass(frozen=True)
class Offer:
    """A promise, made of one question.

    Parameters
    ----------
    promise : Promise
    questionnaire : Questionnaire
        As it is then.
    fold : float or None
        How far the odds of an answer grow at most, for a reader who knew nothing; None for ∞.
    possible : sequence of int
        How many answers stay possible at least, and how many there are.
    answers : float
        How many times as many answers as the direct question the same precision takes, where all are equally common.
    """

    promise: Promise
    questionnaire: Questionnaire
    fold: float | None
    possible: Sequence[int]
    answers: float


@dataclass(frozen=True)
class Screen:
    """What respondents see of a question before they tap.

    Parameters
    ----------
    label : str
    second : str
        The innocuous question; empty where there is none.
    options : sequence of str
        What is tapped; empty where a number is written.
    boxes : bool
        Whether several can be tapped.
    levels : sequence of str
        The two ends of the control of how much to tell; empty where there is none.
    sentence : str
        What the bar says.
    """

    label: str
    second: str
    options: Sequence[str]
    boxes: bool
    levels: Sequence[str]
    sentence: str


def promises(question: Question, categories: int) -> tuple[Promise, ...]:
    """The designs on offer for a question with so many categories.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> question = {question.name: question for question in sample().questions}
    >>> [promise.key for promise in promises(question["smoking"], 2)]
    ['swapped', 'coins', 'crosswise']
    >>> [promise.key for promise in promises(question["party"], 5)]
    ['struck', 'chosen', 'swapped']
    """
    if isinstance(question, SelectMultiple):
        title = "Chance may change each line, so that nobody can be sure of it."
        return (Promise("swapped", title, "does.each", "warner(p=0.7)"),)
    is_number = isinstance(question, Integer | Decimal)
    title = "Chance may change the answer, so that nobody can be sure."
    sentence = "does.range" if is_number else "does.noise"
    if categories == 2:
        swapped = Promise("swapped", title, sentence, "warner(p=0.7)")
        coins = "Respondents toss a coin themselves. Their device need not learn the answer."
        second = "A harmless second question hides the answer. Their device need not learn it."
        by_hand = (
            Promise("coins", coins, "hand.coins", "two_coins", mode="hand, device"),
            Promise("crosswise", second, "beside.crosswise", "crosswise(prevalence=1/4)", mode="hand, device"),
        )
        return (swapped,) if is_number else (swapped, *by_hand)
    struck = "does.ranges" if is_number else "does.strikes"
    true = "Only what is true is sent: that one answer is not theirs."
    choice = "The same, and respondents choose how many answers are ruled out."
    chosen = Promise("chosen", choice, struck, "negative", levels=f"1..{categories - 2}")
    return (
        Promise("struck", true, struck, "negative(discards=1)"),
        *((chosen,) if categories > 3 else ()),
        Promise("swapped", title, sentence, "k_ary(epsilon=1)"),
    )


def page(visit: Visit) -> Response:
    """The designs for a question of a draft, what each promises, and the screen of the one that it has."""
    form, question = _asked(visit, visit.request.query_params.get("question", ""))
    bounds = ", ".join(f"{one.below:g}" for one in getattr(question, "bins", ()) if one.below is not None)
    offers = _offers(form, question, bounds or _BOUNDS)
    is_private = question.privacy is not None
    chosen = next((offer.promise for offer in offers if offer.questionnaire == form), None)
    return visit.page(
        "private.html",
        draft=draft_of(visit),
        question=question,
        text=question.label[form.languages[0]],
        offers=offers,
        chosen=chosen.key if chosen else "" if is_private else PLAIN,
        bounds=bounds or _BOUNDS,
        is_number=isinstance(question, Integer | Decimal),
        dropped=[name for name in ("low", "high", "constraint") if getattr(question, name, None) is not None],
        screen=_screen(form, question, chosen, visit.desk.client),
        is_private=is_private,
        plain=PLAIN,
    )


def make(visit: Visit) -> Response:
    """Make a question of a draft private, or plain again."""
    form, question = _asked(visit, visit["question"])
    key = visit["design"]
    if key == PLAIN:
        bins: dict[str, Any] = {"bins": []} if isinstance(question, Integer | Decimal) else {}
        made = _changed(form, question, {"private": None, **bins})
    else:
        made_by = {offer.promise.key: offer.questionnaire for offer in _offers(form, question, visit["bounds"])}
        if key not in made_by:
            raise DataError("choose one of the designs first")
        made = made_by[key]
    keep_draft(visit, made, "made plain" if key == PLAIN else "made private")
    return visit.to(f"/admin/drafts/{visit.name}/private", f"made&question={question.name}")


def _asked(visit: Visit, name: str) -> tuple[Questionnaire, Askable]:
    form = draft_of(visit).questionnaire
    for question in form.questions:
        if question.name == name and isinstance(question, Askable):
            return form, question
    raise Refusal("unknown", "the draft has no question of this name that can be made private")


def _offers(form: Questionnaire, question: Askable, bounds: str) -> list[Offer]:
    """Each promise, with its numbers."""
    fields: dict[str, Any] = {"constraint": None}
    if isinstance(question, Integer | Decimal):
        fields |= {"bins": _bins(form, question, bounds), "low": None, "high": None}
        names = tuple(one["name"] for one in fields["bins"])
    else:
        is_several = isinstance(question, SelectMultiple)
        names = ("yes", "no") if is_several else tuple(choice.name for choice in question.choices)
    share = 1 / len(names)
    offers: list[Offer] = []
    refusals: list[DataError] = []
    for promise in promises(question, len(names)):
        cells = private_of(names, design=promise.design, levels=promise.levels)
        several = isinstance(question, SelectMultiple)
        private: Mapping[str, Any] = carried_out(cells, form.languages, mode=promise.mode, several=several)
        another = innocuous_of(private, form.languages)  # where this one protects another question already
        try:
            made = _first_of(form, question, [fields | {"private": {**private, **words}} for words in ({}, another)])
        except DataError as refusal:
            refusals.append(refusal)
            continue
        levels = statements(made)[question.name]
        folds = [level["odds"] for level in levels]
        variance = planning.variance(read(private["design"]), np.full(len(names), share)).standard_errors(1)[0] ** 2
        offers.append(
            Offer(
                promise,
                made,
                fold=None if None in folds else max(folds),
                possible=(min(level["still_possible"][0] for level in levels), len(names)),
                answers=float(variance / (share * (1 - share))),
            )
        )
    if not offers:
        raise refusals[0]
    return offers


def _first_of(form: Questionnaire, question: Question, changes: Sequence[Mapping[str, Any]]) -> Questionnaire:
    """The questionnaire with the first of these changes with which it can be fielded."""
    *others, last = changes
    for fields in others:
        with suppress(DataError):
            return _changed(form, question, fields)
    return _changed(form, question, last)


def _bins(form: Questionnaire, question: Integer | Decimal, bounds: str) -> list[dict[str, Any]]:
    numbers = [number_of(piece) for piece in parted(bounds)]
    known = [number for number in numbers if number is not None]
    if not known or len(known) < len(numbers) or known != sorted(set(known)):
        raise DataError(
            f"write where one range ends and the next begins, rising, such as {_BOUNDS}; got {bounds[:60]!r}"
        )
    is_whole = isinstance(question, Integer)
    current = [one.below for one in question.bins if one.below is not None]
    if current == known:  # their words may be the author's
        return [one.model_dump(mode="json") for one in question.bins]
    return bins_of([int(number) if is_whole else number for number in known], form.languages, whole=is_whole)


def _changed(form: Questionnaire, question: Question, fields: Mapping[str, Any]) -> Questionnaire:
    """The questionnaire with other fields of one question.

    Raises
    ------
    DataError
        It cannot be fielded so, such as where another question depends on the answer.
    """
    document = form.form()
    item = next(item for item in _items(document["items"]) if item["name"] == question.name)
    item.update(json.loads(json.dumps(fields)))
    examined = of_form(document)
    if examined.questionnaire is None:
        problem = examined.errors[0]
        raise DataError(f"{question.name!r} is not made private: {problem.message} ({problem.way_out})")
    return examined.questionnaire


def _items(items: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for item in items:
        yield item
        yield from _items(item.get("items", ()))


def _screen(form: Questionnaire, question: Askable, chosen: Promise | None, client: Client) -> Screen:
    language = form.languages[0]
    say = _Words(client, language)
    options = [choice.label[language] for choice in getattr(question, "choices", ())]
    private = question.privacy
    second = private.innocuous.get(language, "") if private is not None else ""
    if private is not None and private.responses and second:
        options = [
            private.responses[name][language] for name in private.offer.space.labels if name in private.responses
        ]
    sentence = ""
    if chosen is not None:
        gaps = dict(zip(("yes", "no"), (say("quoted", text=option) for option in options), strict=False))
        sentence = say(chosen.sentence, **gaps)
    elif private is None:
        sentence = say("asked.plain")
    ends = (say("levels.private"), say("levels.useful"))
    has_levels = chosen is not None and bool(chosen.levels)
    is_several = isinstance(question, SelectMultiple)
    if is_several and private is not None:
        options.append(say("asked.none"))
    return Screen(question.label[language], second, options, is_several, ends if has_levels else (), sentence)


class _Words:
    """The words of the respondents' page in a language, or in English."""

    def __init__(self, client: Client, language: str) -> None:
        tag = language.lower().partition("-")[0]
        tag = tag if f"words/{tag}.js" in client.files else "en"
        self._code = "".join(client.files.get(f"{folder}/{tag}.js", b"").decode() for folder in ("words", "extras"))

    def __call__(self, key: str, **gaps: str) -> str:
        """A text with its gaps filled; empty where the page has none of this key."""
        *sections, last = key.split(".")
        code = self._code
        for section in sections:
            code = code.partition(f"{section}:{{")[2]
        found = re.search(rf'[{{,]{last}:"((?:[^"\\]|\\.)*)"', "{" + code)
        text = json.loads(f'"{found[1]}"') if found else ""
        return re.sub(r"\{(\w+)\}", lambda gap: gaps.get(gap[1], ""), text)
