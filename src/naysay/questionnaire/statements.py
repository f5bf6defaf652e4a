"""What the answers to a questionnaire tell: question by question, level by level, and all together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from naysay import designs, privacy
from naysay.design import Answerable, Design
from naysay.questionnaire.kinds.base import Private, Question
from naysay.questionnaire.questionnaire import Questionnaire


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
    >>> from naysay.questionnaire import sample
    >>> statements(sample())["smoking"][0]["still_possible"]
    [2, 2]
    """
    return {
        question.name: [
            {"level": level, "by_hand": level in private.by_hand, **_measures(channel)}
            for level, channel in private.channels
        ]
        for question, private in private_questions(questionnaire)
    }


def private_questions(questionnaire: Questionnaire) -> Iterator[tuple[Question, Private]]:
    """Each private question with its privacy."""
    for question in questionnaire.questions:
        if question.privacy is not None:
            yield question, question.privacy


def _measures(design: Design) -> dict[str, Any]:
    possible = list(privacy.still_possible(design))
    return {
        "categories": len(design.categories),
        "still_possible": possible,
        "epsilon": _finite(privacy.epsilon(design)),
        "odds": _finite(float(privacy.odds(design).max())),
        "bits": float(privacy.information(design)),
        "reveals": possible[0] == 1,
    }


def _finite(number: float) -> float | None:
    return None if math.isinf(number) else number


def together(questionnaire: Questionnaire) -> dict[str, float | None]:
    """The privacy of all answers of one person; of each question, at the level that tells most.

    Questions are randomized independently, so likelihood rows multiply: ε and bits add. Where one ε is ∞, the sum says
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
    >>> from naysay.questionnaire import sample
    >>> together(sample())["epsilon"] is None
    True
    """
    answers = [(private.offer, times(question)) for question, private in private_questions(questionnaire)]
    channels = [(list(offer.parts.values()), repeats) for offer, repeats in answers]
    return {
        "epsilon": _finite(
            math.fsum(repeats * max(map(privacy.epsilon, level_designs)) for level_designs, repeats in channels)
        ),
        "bits": math.fsum(repeats * _at_most(offer) for offer, repeats in answers),
        "odds": _finite(
            max(
                (float(privacy.odds(design).max()) for level_designs, _ in channels for design in level_designs),
                default=1.0,
            )
        ),
    }


def times(question: Question) -> int:
    """How many randomized answers a private question takes: one, or one for each choice of a select multiple."""
    return len(question.parts) or 1


def _at_most(offer: Answerable) -> float:
    """The most bits that an answer and its level can tell under any prior."""
    return privacy.choosing(offer if offer.assigned_by == "respondent" else designs.levels({"only": offer}))


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
    >>> from naysay.questionnaire import sample
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
    return [*statement_lines, _sum_line(together(questionnaire))]


def _sum_line(total: dict[str, float | None]) -> str:
    epsilon, odds = total["epsilon"], total["odds"]
    every = "∞ (some answers rule something out for certain, so the sum says no more)"
    odds_shown = "∞: it may reveal the category" if odds is None else f"{odds:.3g} at most under a uniform prior"
    return (
        f"all answers together: ε = {every if epsilon is None else f'{epsilon:.4g}'}; one answer changes the odds of a "
        f"category by {odds_shown}; {total['bits']:.3g} bits at most; other answers may add about one question"
    )
