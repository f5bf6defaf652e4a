"""The designs that people can carry out themselves on the page: with a coin, a die, or an innocuous question."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from naysay import designs
from naysay.design import Design

Way = Literal["crosswise", "triangular", "unrelated", "coins", "options"]
"""How a design is carried out by hand."""

_LOTS = (Fraction(1, 2), *(Fraction(side, 6) for side in range(1, 6)))
"""The chances that people have at hand: those of a coin and of a die."""

_UNSEEN = "\u115f\u1160\u3164\uffa0"  # letters that take up space but show nothing


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
        return _way_by_coin(design)
    if not design.tabular or len(design.categories) != 2 or design.space.size != 2 or not design.space.one_label:
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


def _way_by_coin(design: Design) -> Way | None:
    coin_design = by_hand_design(design.categories)
    # with more categories people see two options; the same probabilities from other means are no coin
    if len(design.categories) > 2:
        return "options" if design == coin_design else None
    same_space = design.space == coin_design.space and design.space.listable
    return "coins" if same_space and (design.matrix == coin_design.matrix).all() else None


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
    plain = unicodedata.normalize("NFKC", text).lower()
    return "".join(
        character for character in plain if unicodedata.category(character)[0] in "LN" and character not in _UNSEEN
    )
