"""Later variants of Warner's and of the unrelated question."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from naysay.design import Branch, Chance, Design, Say, Step, draw_lots
from naysay.designs._family import YES_NO, ask, chance, family, of_steps, truth, two
from naysay.designs.randomized import INDEPENDENT, INNOCUOUS, PREVALENCE, innocuous
from naysay.errors import DesignError

__all__ = ["christofides", "mangat_singh_singh", "singh_joarder"]


@family("Christofides (2003)")
def christofides(*, p: Sequence[Any], categories: Sequence[Any] = YES_NO) -> Design:
    """Christofides' design: a card shows a number; members report the number counted from the other end.

    Card k of m comes up with probability p_k. Others report k, members report m + 1 - k. Nobody says yes or no.

    Parameters
    ----------
    p : (m,) sequence of probability
        Probabilities of the cards 1 to m. They sum to one, and they differ when read backwards.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        Fewer than two cards, probabilities that do not sum to one, or that read the same backwards.

    References
    ----------
    Christofides (2003).

    Examples
    --------
    >>> christofides(p=(0.2, 0.3, 0.5)).matrix
    array([[0.5, 0.2],
           [0.3, 0.3],
           [0.2, 0.5]])
    """
    yes, no = two(categories)
    if isinstance(p, str) or np.ndim(p) != 1:
        raise DesignError(f"p must be the probabilities of two cards or more; got {p!r}")
    shares = [chance(each, name="p") for each in p]
    m = len(shares)
    if m < 2 or sum(shares, Fraction(0)) != 1:
        raise DesignError(f"p must be the probabilities of two cards or more and sum to one; got {p!r}")
    if shares == shares[::-1]:
        raise DesignError(f"p must not read the same backwards; got {p!r} (the number would carry no information)")
    told = f"draw a card; say its number k, or {m + 1} - k if the sensitive statement is true of you"

    def cards(number: Any) -> Step:
        ways = (Branch(f"card {k}", Say(number(k)), chance=share) for k, share in enumerate(shares, start=1) if share)
        return Chance("draw a card", tuple(ways))

    first = ask((yes, cards(lambda k: m + 1 - k)), (no, cards(lambda k: k)), told=told)
    return of_steps(first, (yes, no), range(1, m + 1))


@family("Singh & Joarder (1997)")
def singh_joarder(*, p: Any, categories: Sequence[Any] = YES_NO) -> Design:
    """Singh and Joarder's design: as Warner's, but a member whose card says no draws once more.

    P(yes | yes) = p + (1 - p)p, P(yes | no) = 1 - p.

    Parameters
    ----------
    p : probability
        Share of cards with the sensitive statement; 3p - p² differs from 1.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        p outside [0, 1], or a p at which both columns are alike.

    References
    ----------
    Singh & Joarder (1997).

    Examples
    --------
    >>> singh_joarder(p=0.7).matrix[0].round(2)
    array([0.91, 0.3 ])
    """
    yes, no = two(categories)
    share = chance(p, name="p")
    if 2 * share - share**2 == 1 - share:
        raise DesignError(f"p must tell members from others; got {p!r}")
    again = draw_lots((share, Say(yes)), (1 - share, Say(no)), again=True)
    member = draw_lots((share, Say(yes)), (1 - share, again))
    return of_steps(
        ask((yes, member), (no, draw_lots((share, Say(no)), (1 - share, Say(yes))))), (yes, no), yes_no=True
    )


@family(
    "Mangat, Singh & Singh (1992)", assumes=(INDEPENDENT, PREVALENCE, "everybody in the sensitive category says so")
)
def mangat_singh_singh(*, p: Any, prevalence: Any, categories: Sequence[Any] = YES_NO) -> Design:
    """Mangat, Singh and Singh's design: members say yes; the others get the unrelated question.

    P(yes | yes) = 1, P(yes | no) = (1 - p)u.

    Parameters
    ----------
    p : probability
        Probability that the others are asked the sensitive question.
    prevalence : probability
        u, the share of people with a yes to the innocuous question.
    categories : two labels
        The sensitive one first.

    Raises
    ------
    DesignError
        A probability outside [0, 1]; (1 - p)u = 1: everybody would say yes.

    References
    ----------
    Mangat, Singh & Singh (1992).

    Examples
    --------
    >>> mangat_singh_singh(p=0.6, prevalence=0.25).matrix[0].round(2)
    array([1. , 0.1])
    """
    yes, no = two(categories)
    share, u = chance(p, name="p"), chance(prevalence, name="prevalence")
    if (1 - share) * u == 1:
        raise DesignError("(1 - p) · prevalence must be less than 1: everybody would say yes")
    other = draw_lots((share, truth((yes, no))), (1 - share, innocuous(u, Say(yes), Say(no), told=INNOCUOUS)))
    return of_steps(ask((yes, Say(yes)), (no, other)), (yes, no), yes_no=True)
