"""The privacy of one answer as it is told: a statement in words, for each level or sample, and a chart.

Where the cells of samples are finer than the categories, it says what answers reveal about the categories alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design import Answerable, Design, Share, Table
from naysay.design.base import check_design
from naysay.design.drawing import table_weights
from naysay.errors import DesignError
from naysay.privacy.measures import ABOUT_DESIGNS, each_level, epsilon, information, posterior, still_possible
from naysay.responses import Labels
from naysay.show import charts, finish

_LARGEST = 30_000_000  # largest matrix that a bound is computed from, in entries
_EVEN = 0.5  # the value of a nuisance share that is not given
_NOTHING = 1e-12  # shares below this count as 0


@dataclass(frozen=True)
class Statement:
    """The privacy of one answer, in numbers and in one line.

    Parameters
    ----------
    epsilon : float
        In nats; ∞ if an answer rules something out, NaN if it was not computed.
    reason : str
        Why ε is what it is.
    bits : float
        Information under the prior; NaN if it was not computed.
    prior : str
        The prior of `bits`.
    categories : int
        t.
    still_possible : (int, int)
        Fewest and most categories that an answer leaves.
    notes : tuple of str
        The design's own notes.
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
        fewest_possible, most_possible = self.still_possible
        possible_text = (
            str(fewest_possible) if fewest_possible == most_possible else f"{fewest_possible} to {most_possible}"
        )
        verb = "stays" if most_possible == 1 else "stay"
        epsilon_text = "∞" if math.isinf(self.epsilon) else f"{self.epsilon:.4g}"
        if not self.categories:
            return "; ".join((f"every text stays possible; ε = {epsilon_text} ({self.reason})", *self.notes))
        possible_line = (
            f"{possible_text} of {self.categories} categories {verb} possible, from this answer alone; "
            f"ε = {epsilon_text} ({self.reason}); {self.bits:.3g} of {math.log2(self.categories):.3g} bits "
            f"under a {self.prior} prior"
        )
        return "; ".join((possible_line, *self.notes))


@each_level
def statement(design: Design) -> Statement:
    """The privacy of one answer under a design. Every estimate is printed with it.

    Parameters
    ----------
    design : Design, Levels or Samples

    Returns
    -------
    Statement, or {level: Statement}
        ε in nats, information in bits under a uniform prior. They are NaN, with the reason, if they cannot be computed.

    Examples
    --------
    >>> from naysay import designs
    >>> print(statement(designs.warner(p=0.75)))
    2 of 2 categories stay possible, from this answer alone; ε = 1.099 (an answer changes the odds between two \
categories by 3 at most); 0.189 of 1 bits under a uniform prior
    """
    t = len(design.categories)
    if not t:  # an open domain without candidates
        answer_epsilon = epsilon(design)
        return Statement(answer_epsilon, _reason(answer_epsilon, (0, 0)), math.nan, "uniform", 0, (0, 0), design.notes)
    try:
        answer_epsilon, possible_range, answer_bits = epsilon(design), still_possible(design), information(design)
    except DesignError as error:
        return Statement(math.nan, f"not computed: {error}", math.nan, "uniform", t, (1, t), design.notes)
    return Statement(
        answer_epsilon, _reason(answer_epsilon, possible_range), answer_bits, "uniform", t, possible_range, design.notes
    )


def _reason(value: float, possible: tuple[int, int]) -> str:
    """Why ε is what it is."""
    if math.isinf(value):
        return "an answer can reveal the truth" if possible[0] == 1 else "an answer rules categories out for certain"
    if value == 0:
        return "an answer says nothing"
    return f"an answer changes the odds between two categories by {math.exp(value):.3g} at most"


def choosing(choice: Answerable) -> float:
    """An upper bound on the bits that level and answer together reveal, however people choose their level.

    The level reveals at most log₂ (levels). The answer at level k reveals at most its capacity. This is bounded by
    max_j D(P_k[:, j] ‖ λ_k), where λ_k are the response probabilities under equal shares. Together they never reveal
    more than log₂ t.

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
    requirement = "respondents choose only from an offer of levels"
    check_design(choice, needed_text=requirement, error=DesignError)
    if choice.offer.assigned_by != "respondent":
        raise DesignError(f"{requirement}; got {choice.name or choice.kind}")
    answer_bits = max(_capacity(level_channel) for level_channel in choice.parts.values())
    return min(math.log2(len(choice.categories)), math.log2(len(choice.levels)) + answer_bits)


def _capacity(design: Design) -> float:
    """An upper bound on the information of an answer under any prior, in bits."""
    if design.structure.exchangeable:
        return float(information(design))
    if not design.space.listable or design.space.size * len(design.categories) > _LARGEST:
        return math.log2(len(design.categories))
    likelihood_rows = design.matrix
    mean_chances = likelihood_rows.mean(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(likelihood_rows > 0, likelihood_rows * np.log2(likelihood_rows / mean_chances), 0.0)
    return float(terms.sum(axis=0).max())


def about_categories(design: Answerable, nuisance: Mapping[Any, float] | None = None) -> dict[Any, Statement] | None:
    """What one answer reveals about the sensitive category alone: {sample: Statement}.

    P(y | category) = Σ P(y | cell) P(cell | category) over the cells of a category. The nuisance shares say how common
    each cell is. For the unrelated question with prevalence u, P(yes | yes) = p + (1 - p) u and P(yes | no) = (1 - p)
    u.

    Parameters
    ----------
    design : Design, Levels or Samples
    nuisance : {name: float}, optional
        The nuisance shares, each within [0, 1]; 0.5 for a share that is not given.

    Returns
    -------
    {sample: Statement}, or None
        None if the cells are the categories, or if the nuisance shares do not say how cells make up the categories.

    Raises
    ------
    DesignError
        A nuisance share that the design does not have, or one outside [0, 1].

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.unrelated_question_unknown(p=(0.7, 0.3))
    >>> round(about_categories(survey, {"innocuous yes": 0.3})[1].epsilon, 3)
    2.172
    """
    check_design(design, needed_text=ABOUT_DESIGNS, error=DesignError)
    channels_by_name = channels_if(design, nuisance or {})
    return (
        None
        if channels_by_name is None
        else {sample_name: statement(sample_channel) for sample_name, sample_channel in channels_by_name.items()}
    )


def lines(design: Answerable, nuisance: Mapping[Any, float] | None = None) -> list[str]:
    """The privacy of one answer as text: one line for each level or sample, and one about choosing a level.

    Parameters
    ----------
    design : Design, Levels or Samples
    nuisance : {name: float}, optional
        If the cells of samples are finer than the categories: how common the cells are; see `about_categories`.

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
    check_design(design, needed_text=ABOUT_DESIGNS, error=DesignError)
    if not design.offer.several:
        return [f"privacy: {statement(design)}"]
    if design.offer.assigned_by == "lot":
        worst_statement = max(
            statement(design).values(),
            key=lambda part_statement: (round(part_statement.epsilon, 9), part_statement.bits),
        )
        return [f"privacy, at any level: {'; '.join((str(worst_statement), *design.notes))}"]
    if design.offer.assigned_by != "respondent":
        each_sample = (about_categories(design, nuisance) or statement(design)).items()
        return [
            f"privacy{'' if sample_name is None else f', sample {sample_name}'}: {part_statement}"
            for sample_name, part_statement in each_sample
        ]
    level_lines = [
        f"privacy, level {level_name}: {part_statement}" for level_name, part_statement in statement(design).items()
    ]
    return [
        *level_lines,
        "privacy: choosing a level tells something of its own where the choice goes with the category; level and "
        f"answer together tell {choosing(design):.3g} of {math.log2(len(design.categories)):.3g} bits at most",
    ]


def channels_if(design: Answerable, nuisance: Mapping[Any, float]) -> dict[Any, Design] | None:
    """P(response | category) in each sample, given these nuisance shares; see `about_categories`."""
    shares_within = _within(design, nuisance)
    if shares_within is None:
        return None
    nuisance_text = ", ".join(
        f"{_checks.label(nuisance_share.name)} = {_value(nuisance_share, nuisance):.3g}"
        for nuisance_share in design.nuisance
    )
    nuisance_text += "" if nuisance else " (assumed; ε depends on it)"
    return channels_about(design, shares_within, notes=(f"about the sensitive category alone, if {nuisance_text}",))


def channels_about(
    design: Answerable, within: NDArray[np.float64], *, notes: tuple[str, ...] = ()
) -> dict[Any, Design] | None:
    """P(response | category) in each sample, averaged over the cells that make up each category.

    Parameters
    ----------
    design : Design, Levels or Samples
    within : (cells, t) float
        How common each cell is within each category; columns sum to one.
    notes : tuple of str
        Notes for the reader, besides the design's own notes.

    Returns
    -------
    {sample: Design}, or None
        None if a response is not a single label.

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.stochastic_lie_detector(p=("2/12", "10/12"))
    >>> channels_about(survey, np.array([[0.7, 0], [0, 1], [0.3, 0]]))[1].matrix.round(2)
    array([[0.7 , 0.83],
           [0.3 , 0.17]])
    """
    check_design(design, needed_text="privacy is a property of a design", error=DesignError)
    channel_of_sample: dict[Any, Design] = {}
    for sample_name, sample_channel in design.parts.items():
        space = sample_channel.space
        if not space.one_label:
            return None
        integer_weights = table_weights((sample_channel.matrix @ within).tolist(), columns=design.categories)
        all_notes = (*notes, *sample_channel.notes)
        channel_of_sample[sample_name] = Table(
            categories=design.categories, space=Labels(space.labels), weights=integer_weights, notes=all_notes
        )
    return channel_of_sample


def _within(design: Answerable, nuisance_shares: Mapping[Any, float]) -> NDArray[np.float64] | None:
    """How common each cell is within each category, (cells, t)."""
    for nuisance_name, assumed_share in nuisance_shares.items():
        if nuisance_name not in {share.name for share in design.nuisance} or not 0 <= assumed_share <= 1:
            raise DesignError(
                f"nuisance shares of this design, within [0, 1], are needed; got {nuisance_name!r}: {assumed_share!r}"
            )
    if not any(len(share.of) > 1 for share in design.shares):
        return None
    share_columns = []
    for category_share in design.shares:
        category_cells, is_divided = set(category_share.of), False
        share_column = np.array([cell_name in category_cells for cell_name in design.cells], dtype=float)
        for share in design.nuisance:
            if (
                not category_cells & set(share.of)
                or not category_cells - set(share.of)
                or not (not share.among or set(share.among) == category_cells)
            ):
                continue  # this share does not divide the category
            is_divided, assumed_share = True, _value(share, nuisance_shares)
            share_column *= [
                assumed_share if cell_name in share.of else 1 - assumed_share for cell_name in design.cells
            ]
        if category_share.among or (len(category_cells) > 1 and not is_divided) or abs(share_column.sum() - 1) > 1e-9:
            return None
        share_columns.append(np.where(share_column < _NOTHING, 0.0, share_column))
    return np.column_stack(share_columns)


def _value(share: Share, nuisance_shares: Mapping[Any, float]) -> float:
    return float(nuisance_shares.get(share.name, _EVEN))


def posterior_chart(
    design: Answerable,
    response: Any,
    *,
    prior: ArrayLike | None = None,
    level: Any = None,
    title: str | None = None,
    size: int = 640,
    room: int = 26,
) -> str:
    """An SVG image of the posterior of one answer beside the prior, one row for each category.

    P(X = j | y) ∝ P(y | j) π_j. Where both marks of a category coincide, the answer reveals nothing about it.

    Parameters
    ----------
    design : Design, Levels or Samples
    response : label, set, or pair of labels
        The answer.
    prior : (t,) float, optional
        What is known about the person before the answer; uniform by default.
    level : optional
        The level, or the sample, under which the answer was given.
    title : str, optional
        Read aloud for the whole image.
    size, room : int
        As in `charts.dots`.

    Raises
    ------
    AnswerError
        An answer that the design cannot produce.
    DataError
        The design has several levels or samples, and `level` names none; the prior is no vector of t probabilities.
    DesignError
        An answer that is impossible under the prior.
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs
    >>> svg = posterior_chart(designs.two_coins(), "yes", prior=(0.15, 0.85))
    >>> "yes: after 34.62%" in svg, "no: before 85.00%" in svg
    (True, True)
    """
    check_design(design)
    channel = design.channel(level)
    is_pair = channel.space.answers > 1
    encoded_response = channel.encode(tuple([answer] for answer in response) if is_pair else [response])
    # A missing answer, whose posterior is the prior.
    missing_response = channel.encode(([None],) * channel.space.answers if is_pair else [None])
    chart_marks = [
        charts.Mark("pooled", "before", posterior(channel, missing_response, prior)[0]),
        charts.Mark("estimate", "after", posterior(channel, encoded_response, prior)[0]),
    ]
    heading = (
        title
        or f"{channel.name or channel.kind}: what the answer “{finish.label_line(encoded_response.texts()[0])}” tells"
    )
    axis = "probability for this person"
    return charts.dots(channel.categories, chart_marks, title=heading, size=size, room=room, axis=axis)
