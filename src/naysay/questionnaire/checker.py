"""Everything that keeps a questionnaire from being fielded, and what its author should know."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from naysay.questionnaire import logic_rules, privacy_rules, text_rules
from naysay.questionnaire.problems import Problem
from naysay.questionnaire.questionnaire import Questionnaire
from naysay.questionnaire.walk import Entry, entries, piped

__all__ = ["RULES", "check"]

Rule = Callable[[Questionnaire, Sequence[Entry]], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    text_rules.names,
    text_rules.languages,
    text_rules.wording,
    text_rules.scales,
    text_rules.piping,
    logic_rules.conditions,
    logic_rules.behind_sent,
    logic_rules.constraints,
    privacy_rules.designs_fit,
    privacy_rules.levels,
    privacy_rules.words,
    privacy_rules.by_hand,
    privacy_rules.categories,
    privacy_rules.bins,
)
"""What is checked; each yields problems with their path."""


def check(questionnaire: Questionnaire, *, omitted: Collection[str] = ()) -> tuple[Problem, ...]:
    """Every problem of a questionnaire: errors, which keep it from being fielded, and warnings.

    Parameters
    ----------
    questionnaire : Questionnaire
    omitted : collection of str, optional
        Names of questions that could not be read; references to them are no problem of their own.

    Returns
    -------
    tuple of Problem
        Each with its path, what must hold, why, and the way out; empty where all is well.

    Examples
    --------
    >>> from naysay.questionnaire import sample
    >>> [each.rule for each in check(sample()) if each.severity == "error"]
    []
    """
    walked, unread = entries(questionnaire), set(omitted)
    found = [problem for rule in RULES for problem in rule(questionnaire, walked)]
    return tuple(
        each
        for each in dict.fromkeys(found)
        if each.rule != "references" or not unread.intersection(piped(each.message))
    )
