"""Words: the privacy of one answer in a line, level by level, and of choosing a level."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from naysay.design import Answerable, Design
from naysay.errors import DesignError
from naysay.privacy.measures import each_level, epsilon, information, still_possible

__all__ = ["Statement", "choosing", "statement"]


@dataclass(frozen=True)
class Statement:
    """The privacy of one answer, in numbers and in one line.

    Parameters
    ----------
    epsilon : float
        In nats; ∞ where an answer rules something out, NaN where it was not computed.
    reason : str
        Why ε is what it is.
    bits : float
        Information under the prior; NaN where it was not computed.
    prior : str
        The prior of `bits`.
    categories : int
        t.
    still_possible : (int, int)
        Fewest and most categories that an answer leaves.
    notes : tuple of str
        What the design adds.
    """

    epsilon: float
    reason: str
    bits: float
    prior: str
    categories: int
    still_possible: tuple[int, int]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if math.isnan(self.epsilon):
            return "; ".join((self.reason, *self.notes))
        few, many = self.still_possible
        left = str(few) if few == many else f"{few} to {many}"
        stay = "stays" if many == 1 else "stay"
        value = "∞" if math.isinf(self.epsilon) else f"{self.epsilon:.4g}"
        line = (
            f"{left} of {self.categories} categories {stay} possible, from this answer alone; "
            f"ε = {value} ({self.reason}); {self.bits:.3g} of {math.log2(self.categories):.3g} bits "
            f"under a {self.prior} prior"
        )
        return "; ".join((line, *self.notes))


@each_level
def statement(design: Design) -> Statement:
    """The privacy of one answer under a design, to be printed beside every estimate.

    Parameters
    ----------
    design : Design, Levels or Samples

    Returns
    -------
    Statement, or {level: Statement}
        ε in nats, information in bits under a uniform prior; NaN with the reason where they cannot be computed.

    Examples
    --------
    >>> from naysay import designs
    >>> print(statement(designs.warner(p=0.75)))
    2 of 2 categories stay possible, from this answer alone; ε = 1.099 (an answer changes the odds between two \
categories by 3 at most); 0.189 of 1 bits under a uniform prior
    """
    t = len(design.categories)
    try:
        value, possible, bits = epsilon(design), still_possible(design), information(design)
    except DesignError as error:
        return Statement(math.nan, f"not computed: {error}", math.nan, "uniform", t, (1, t), design.notes)
    return Statement(value, _reason(value, possible), bits, "uniform", t, possible, design.notes)


def _reason(value: float, possible: tuple[int, int]) -> str:
    """Why ε is what it is."""
    if math.isinf(value):
        return "an answer can reveal the truth" if possible[0] == 1 else "an answer rules categories out for certain"
    if value == 0:
        return "an answer says nothing"
    return f"an answer changes the odds between two categories by {math.exp(value):.3g} at most"


def choosing(choice: Answerable) -> float:
    """Bits that level and answer together can tell about a person, at most, however they choose their level.

    The level tells log₂ (levels) at most, and the answer at level k at most its capacity, bounded by
    max_j D(P_k[:, j] ‖ λ_k) with λ_k the answers under equal shares; together never more than log₂ t.

    Parameters
    ----------
    choice : Levels

    Returns
    -------
    float

    Raises
    ------
    DesignError
        If the design is no offer of levels.

    Examples
    --------
    >>> from naysay import designs
    >>> round(choosing(designs.negative_levels(tuple("abcdefgh"), most=2)), 3)
    1.415
    """
    if choice.assigned_by != "respondent":
        raise DesignError(f"only an offer of levels is chosen from; got {choice.name or choice.kind}")
    most = max(_capacity(channel) for channel in choice.parts.values())
    return min(math.log2(len(choice.categories)), math.log2(len(choice.levels)) + most)


def _capacity(design: Design) -> float:
    """An upper bound on the information of an answer under any prior, in bits."""
    if design.exchangeable:
        return float(information(design))
    if not design.space.listable:
        return math.log2(len(design.categories))
    rows = design.matrix
    answers = rows.mean(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(rows > 0, rows * np.log2(rows / answers), 0.0)
    return float(terms.sum(axis=0).max())
