"""Several answers of one person: over questions, and over waves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from naysay.design import Design
from naysay.design.base import check_channel
from naysay.errors import DesignError
from naysay.privacy.measures import odds
from naysay.privacy.statement import epsilon, information, still_possible

__all__ = ["Composition", "compose", "unexcluded"]


@dataclass(frozen=True)
class Composition:
    """The privacy of several answers of one person.

    Parameters
    ----------
    epsilon : float
        The sum of the questions' ε: about all answers together; ∞ if one of them is.
    bits : float
        At most so many bits in all about the answers; other answers may add about one question.
    still_possible : tuple of (int, int)
        Categories left, question by question.
    largest_odds : tuple of float
        Worst-case posterior over prior odds, question by question, under uniform priors.
    """

    epsilon: float
    bits: float
    still_possible: tuple[tuple[int, int], ...]
    largest_odds: tuple[float, ...]


def compose(designs: Sequence[Design]) -> Composition:
    """The privacy of one person's answers to several questions, randomized independently.

    Likelihood rows multiply, so ε and bits add. Where one ε is ∞ the sum says nothing more; look at the categories
    left and at the odds.

    Parameters
    ----------
    designs : sequence of Design
        One a question; a design that is answered again is repeated.

    Returns
    -------
    Composition

    Raises
    ------
    DesignError
        No design, or an offer of levels: choose one of its designs.

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
    """Probability that a false category is never ruled out in so many fresh uniform negative answers.

    ((t - 2) / (t - 1))^w. Asked again with fresh chance, a negative answer wears thin; the same draw repeated adds
    nothing.

    Parameters
    ----------
    categories : int
        t, at least 3.
    waves : int
        w, how often the question is answered.

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
        raise DesignError(f"three categories and no negative number of waves are needed; got {categories} and {waves}")
    return ((categories - 2) / (categories - 1)) ** waves
