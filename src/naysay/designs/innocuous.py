"""Randomized response without a device: an innocuous question of known prevalence protects the sensitive one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from naysay.design import Branch, Chance, Design, Say, Step, draw_lots
from naysay.designs._family import YES_NO, ask, chance, family, of_steps, truth, two
from naysay.errors import DesignError

__all__ = ["crosswise", "triangular", "unrelated_question"]

INDEPENDENT = "the innocuous answer has nothing to do with the sensitive one"
PREVALENCE = "the innocuous prevalence is the one stated"
SAME = ("same", "different")
COMPARE = (
    "think of your answers to the sensitive and to the innocuous question, and say only whether they are the “same” or "
    "“different”"
)
_EITHER = (
    "say “at least one” if the sensitive or the innocuous statement, or both, are true of you, otherwise “neither”"
)
INNOCUOUS = "say truthfully whether the innocuous statement is true of you"


@family("Yu, Tian & Tang (2008)", assumes=(INDEPENDENT, PREVALENCE))
def crosswise(*, prevalence: Any, between: Sequence[Any] | None = None, categories: Sequence[Any] = YES_NO) -> Design:
    """The crosswise model: people say whether their answers to a sensitive and an innocuous question agree.

    This is Warner's design without a device. If p is the innocuous prevalence, P(same | yes) = p and P(same | no) = 1 -
    p.

    Parameters
    ----------
    prevalence : probability
        p, the share of people with a yes to the innocuous question; not 1/2. For a birthday in the first three months
        it is about 1/4.
    between : (2,) sequence of probability, optional
        The range in which the prevalence is known to lie; estimates then come with a band.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        A prevalence outside [0, 1], or 1/2; a range that does not hold it, or that holds 1/2.

    References
    ----------
    Yu, Tian & Tang (2008).

    Examples
    --------
    >>> crosswise(prevalence=0.25).matrix
    array([[0.25, 0.75],
           [0.75, 0.25]])
    """
    p = chance(prevalence, name="prevalence")
    if 2 * p == 1:
        raise DesignError(f"prevalence must not be 1/2; got {prevalence!r} (the answer would carry no information)")
    yes, no = two(categories)
    alike, unlike = Say(SAME[0]), Say(SAME[1])
    first = innocuous(p, ask((yes, alike), (no, unlike)), ask((yes, unlike), (no, alike)), told=COMPARE)
    made = of_steps(first, (yes, no), SAME, yes_no=True)
    return _ranged(made, between, p, lambda end: crosswise(prevalence=end, categories=categories))


@family("Yu, Tian & Tang (2008)", assumes=(INDEPENDENT, PREVALENCE))
def triangular(*, prevalence: Any, between: Sequence[Any] | None = None, categories: Sequence[Any] = YES_NO) -> Design:
    """The triangular model: people say whether a sensitive or an innocuous statement, or both, are true of them.

    P(at least one | yes) = 1, P(at least one | no) = p. People who say "neither" are known not to be members.

    Parameters
    ----------
    prevalence : probability
        p, the share of people of whom the innocuous statement is true; not 1.
    between : (2,) sequence of probability, optional
        The range in which the prevalence is known to lie; estimates then come with a band.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        A prevalence outside [0, 1], or 1; a range that does not hold it.

    References
    ----------
    Yu, Tian & Tang (2008).

    Examples
    --------
    >>> triangular(prevalence=0.25).matrix
    array([[1.  , 0.25],
           [0.  , 0.75]])
    """
    p = chance(prevalence, name="prevalence")
    if p == 1:
        raise DesignError(f"prevalence must not be 1; got {prevalence!r} (everybody would say the same)")
    yes, no = two(categories)
    some, none = Say("at least one"), Say("neither")
    first = innocuous(p, some, ask((yes, some), (no, none)), told=_EITHER)
    made = of_steps(first, (yes, no), (some.response, none.response), yes_no=True)
    return _ranged(made, between, p, lambda end: triangular(prevalence=end, categories=categories))


@family("Horvitz, Shah & Simmons (1967); Greenberg et al. (1969)", assumes=(INDEPENDENT, PREVALENCE))
def unrelated_question(
    *, p: Any, prevalence: Any, between: Sequence[Any] | None = None, categories: Sequence[Any] = YES_NO
) -> Design:
    """The unrelated question: chance decides whether people answer a sensitive or an innocuous question.

    If u is the innocuous prevalence, P(yes | yes) = p + (1 - p)u and P(yes | no) = (1 - p)u.

    Parameters
    ----------
    p : probability
        Probability that the sensitive question is the one answered; not 0.
    prevalence : probability
        u, the share of people with a yes to the innocuous question. If it is unknown, use `unrelated_question_unknown`.
    between : (2,) sequence of probability, optional
        The range in which the prevalence is known to lie; estimates then come with a band.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        p or the prevalence outside [0, 1]; p = 0.

    References
    ----------
    Horvitz, Shah & Simmons (1967); Greenberg, Abul-Ela, Simmons & Horvitz (1969).

    Examples
    --------
    >>> unrelated_question(p=0.7, prevalence=0.25).matrix[0]
    array([0.775, 0.075])
    """
    share, u = chance(p, name="p"), chance(prevalence, name="prevalence")
    if share == 0:
        raise DesignError("p must not be 0: nobody would answer the sensitive question")
    yes, no = two(categories)
    honest, other = truth((yes, no)), innocuous(u, Say(yes), Say(no), told=INNOCUOUS)
    made = of_steps(draw_lots((share, honest), (1 - share, other)), (yes, no), yes_no=True)
    return _ranged(made, between, u, lambda end: unrelated_question(p=p, prevalence=end, categories=categories))


def innocuous(prevalence: Fraction, if_yes: Step, if_no: Step, *, told: str = "") -> Chance:
    """A chance step whose device is an innocuous question; nobody else knows its answer."""
    ways = (Branch("yes", if_yes, chance=prevalence), Branch("no", if_no, chance=1 - prevalence))
    return Chance("think of your answer to the innocuous question", tuple(way for way in ways if way.chance), told)


def _ranged(made: Design, between: Sequence[Any] | None, value: Fraction, at: Callable[[Fraction], Design]) -> Design:
    """The design; its `alternatives` are the designs at both ends of the uncertain prevalence's range."""
    if between is None:
        return made
    if isinstance(between, str) or np.ndim(between) != 1 or len(between) != 2:
        raise DesignError(f"between must be the lowest and highest prevalence; got {between!r}")
    low, high = (chance(end, name="an end of between") for end in between)
    if not low <= value <= high:
        raise DesignError(f"between must hold the prevalence, {float(value):g}; got {between!r}")
    ends = (at(low), at(high))
    if len({bool(design.matrix[0, 0] > design.matrix[0, 1]) for design in (made, *ends)}) > 1:
        raise DesignError(f"between must stay on one side of 1/2, or the answer may mean the opposite; got {between!r}")
    return replace(made, alternatives=ends)
