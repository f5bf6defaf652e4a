"""Privacy of several answers of one person: to several questions, or in several waves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from naysay.design import Design
from naysay.design.base import check_channel
from naysay.errors import DesignError
from naysay.privacy.statement import epsilon, information, odds, still_possible

__all__ = ["Composition", "compose", "unexcluded"]


@dataclass(frozen=True)
class Composition:
    """The privacy of several answers of one person.

    Parameters
    ----------
    epsilon : float
        The sum of the questions' ε. It bounds what all answers together reveal; it is ∞ if one of them is.
    bits : float
        An upper bound on the bits that all answers together reveal. If questions are related, the answer to one may add
        to what is known about another.
    still_possible : tuple of (int, int)
        Fewest and most categories left, for each question.
    largest_odds : tuple of float
        Posterior over prior odds in the worst case, for each question, under uniform priors.
    """

    epsilon: float
    bits: float
    still_possible: tuple[tuple[int, int], ...]
    largest_odds: tuple[float, ...]


def compose(designs: Sequence[Design]) -> Composition:
    """The privacy of one person's answers to several questions, randomized independently.

    Likelihood rows multiply, so ε and bits add. If one ε is ∞, the sum is ∞ and says no more; then look at the
    categories left and at the odds.

    Parameters
    ----------
    designs : sequence of Design
        One design for each question. Repeat a design that is answered again.

    Returns
    -------
    Composition

    Raises
    ------
    DesignError
        No design, or an offer of levels (give one of its designs instead).

    Examples
    --------
    >>> from naysay import designs
    >>> round(compose([designs.two_coins()] * 2).epsilon, 4)
    2.1972
    """
    if not designs:
        raise DesignError("at least one design is needed")
    for design in designs:
        check_channel(design, "an answer to compose")
    return Composition(
        epsilon=math.fsum(epsilon(design) for design in designs),
        bits=math.fsum(information(design) for design in designs),
        still_possible=tuple(still_possible(design) for design in designs),
        largest_odds=tuple(float(odds(design).max()) for design in designs),
    )


def unexcluded(categories: int, waves: int) -> float:
    """Probability that no answer of several waves rules out a given false category.

    ((t - 2) / (t - 1))^w for the uniform negative survey. If every wave draws afresh, the answers together reveal more
    and more. If the first draw is repeated, later answers reveal nothing new.

    Parameters
    ----------
    categories : int
        t, at least 3.
    waves : int
        w, the number of times the question is answered.

    Returns
    -------
    float

    Raises
    ------
    DesignError
        Fewer than three categories, or a negative number of waves.

    Examples
    --------
    >>> round(unexcluded(5, waves=10), 4)
    0.0563
    """
    if categories < 3 or waves < 0:
        raise DesignError(f"at least three categories and 0 or more waves are needed; got {categories} and {waves}")
    return ((categories - 2) / (categories - 1)) ** waves
