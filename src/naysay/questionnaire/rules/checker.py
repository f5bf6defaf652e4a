"""Everything that keeps a questionnaire from being fielded, and what its author should know."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from naysay.questionnaire.piping import piped
from naysay.questionnaire.problems import Problem
from naysay.questionnaire.questionnaire import Questionnaire
from naysay.questionnaire.rules import carried_out, logic, privacy, texts
from naysay.questionnaire.rules.walk import Walk

__all__ = ["RULES", "check"]

Rule = Callable[[Walk], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    texts.names, texts.languages, texts.wording, texts.scales, texts.piping,
    logic.conditions, logic.behind_sent, logic.constraints,
    privacy.designs_fit, privacy.levels, privacy.words, privacy.categories, privacy.apart,
    carried_out.by_hand, carried_out.modes, carried_out.innocuous,
)  # fmt: skip
"""The rules that are checked; each yields problems with their path."""


def check(questionnaire: Questionnaire, *, omitted: Collection[str] = ()) -> tuple[Problem, ...]:
    """Every problem of a questionnaire: errors, which keep it from being fielded, and warnings.

    Parameters
    ----------
    questionnaire : Questionnaire
    omitted : collection of str, optional
        Names of questions that could not be read; a reference to one of them is not a further problem.

    Returns
    -------
    tuple of Problem
        Each problem has its path, what must hold, why, and the way out. Empty where there is no problem.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> [each.rule for each in check(sample()) if each.severity == "error"]
    []
    """
    walk, unread = Walk(questionnaire), set(omitted)
    # a dict, not a set: problems keep the order of the rules
    found = dict.fromkeys(problem for rule in RULES for problem in rule(walk))
    about_unread = {each for each in found if each.rule == "references" and not unread.isdisjoint(piped(each.message))}
    return tuple(each for each in found if each not in about_unread)
