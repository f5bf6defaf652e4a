"""Words: the privacy of one answer, level by level and of choosing a level, and about the categories alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Answerable, Design, Share, Table
from naysay.design.exact import table_weights
from naysay.errors import DesignError
from naysay.privacy.measures import each_level, epsilon, information, still_possible
from naysay.responses import Labels

__all__ = ["Statement", "about_categories", "channels_about", "choosing", "lines", "statement"]

_EVEN = 0.5  # a nuisance share of which nothing is known
_NOTHING = 1e-12  # a share below this is none


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


def about_categories(design: Answerable, nuisance: Mapping[Any, float] | None = None) -> dict[Any, Statement] | None:
    """What one answer tells about the sensitive category, whatever else it tells: {sample: Statement}.

    P(y | category) = Σ P(y | cell) P(cell | category) over the cells of a category, of which the nuisance shares say
    how common they are: for the unrelated question with prevalence u, P(yes | yes) = p + (1 - p) u and
    P(yes | no) = (1 - p) u.

    Parameters
    ----------
    design : Design, Levels or Samples
    nuisance : {name: float}, optional
        The nuisance shares, each within [0, 1]; 0.5 where none is given.

    Returns
    -------
    {sample: Statement}, or None
        None where the cells are the categories, or where no nuisance share says how categories are made of cells.

    Raises
    ------
    DesignError
        A nuisance share that the design does not have, or outside [0, 1].

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.unrelated_question_unknown(p=(0.7, 0.3))
    >>> round(about_categories(survey, {"innocuous yes": 0.3})[1].epsilon, 3)
    2.172
    """
    within = _within(design, dict(nuisance or {}))
    if within is None:
        return None
    given = ", ".join(f"{_checks.label(share.name)} = {_value(share, nuisance):.3g}" for share in design.nuisance)
    given += "" if nuisance else " (assumed; ε depends on it)"
    channels = channels_about(design, within, notes=(f"about the sensitive category alone, if {given}",))
    return None if channels is None else {name: statement(channel) for name, channel in channels.items()}


def channels_about(
    design: Answerable, within: NDArray[np.float64], *, notes: tuple[str, ...] = ()
) -> dict[Any, Design] | None:
    """P(response | category) in each sample, whatever else a response tells, where cells share out each category.

    Parameters
    ----------
    design : Design, Levels or Samples
    within : (cells, t) float
        How common each cell is within each category; columns sum to one.
    notes : tuple of str
        What a reader must know beside those of the design.

    Returns
    -------
    {sample: Design}, or None
        None where a response is not one label.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.stochastic_lie_detector(p=("2/12", "10/12"))
    >>> channels_about(survey, np.array([[0.7, 0], [0, 1], [0.3, 0]]))[1].matrix.round(2)
    array([[0.7 , 0.83],
           [0.3 , 0.17]])
    """
    told: dict[Any, Design] = {}
    for name, channel in design.parts.items():
        space = channel.space
        if not space.one_label:
            return None
        weights = table_weights((channel.matrix @ within).tolist(), columns=design.categories)
        noted = (*notes, *channel.notes)
        told[name] = Table(categories=design.categories, space=Labels(space.labels), weights=weights, notes=noted)
    return told


def _within(design: Answerable, given: dict[Any, float]) -> NDArray[np.float64] | None:
    """How common each cell is within each category, (cells, t)."""
    for name, value in given.items():
        if name not in {share.name for share in design.nuisance} or not 0 <= value <= 1:
            raise DesignError(f"nuisance shares of this design, within [0, 1], are needed; got {name!r}: {value!r}")
    columns = []
    for category in design.shares:
        own, ruled = set(category.of), False
        column = np.array([cell in own for cell in design.cells], dtype=float)
        for share in design.nuisance:
            if not own & set(share.of) or not own - set(share.of) or not (not share.among or set(share.among) == own):
                continue  # it does not divide this category
            ruled, value = True, _value(share, given)
            column *= [value if cell in share.of else 1 - value for cell in design.cells]
        if category.among or (len(own) > 1 and not ruled) or abs(column.sum() - 1) > 1e-9:
            return None
        columns.append(np.where(column < _NOTHING, 0.0, column))
    return np.column_stack(columns) if any(len(share.of) > 1 for share in design.shares) else None


def _value(share: Share, given: Mapping[Any, float] | None) -> float:
    return float((given or {}).get(share.name, _EVEN))


def lines(design: Answerable, nuisance: Mapping[Any, float] | None = None) -> list[str]:
    """The privacy of one answer as text: one line, one a sample, or one for each level and one about choosing it.

    Parameters
    ----------
    design : Design, Levels or Samples
    nuisance : {name: float}, optional
        Where samples tell finer cells apart than the categories: how common these are, see `about_categories`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from naysay import designs
    >>> print(lines(designs.negative_levels(("a", "b", "c")))[-1])
    privacy: choosing a level tells something of its own where the choice goes with the category; level and answer \
together tell 1.58 of 1.58 bits at most
    """
    if not design.several:
        return [f"privacy: {statement(design)}"]
    if design.assigned_by != "respondent":
        each_sample = (about_categories(design, nuisance) or statement(design)).items()
        return [f"privacy{'' if name is None else f', sample {name}'}: {each}" for name, each in each_sample]
    told = [f"privacy, level {level}: {each}" for level, each in statement(design).items()]
    return [
        *told,
        "privacy: choosing a level tells something of its own where the choice goes with the category; level and "
        f"answer together tell {choosing(design):.3g} of {math.log2(len(design.categories)):.3g} bits at most",
    ]
