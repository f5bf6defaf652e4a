"""The privacy of one answer: ε, the categories still possible, the information, and a statement in words.

What an answer changes in a reader's knowledge: posterior, gain in bits, odds, Bayes vulnerability.

What answers in several samples reveal about the categories alone, if their cells are finer.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design import Answerable, Design, Share, Table
from naysay.design.base import check_design
from naysay.design.drawing import GeneratorSource
from naysay.design.exact import table_weights
from naysay.errors import DesignError
from naysay.responses import Labels, Responses

_OF_DESIGNS = "privacy is a property of a design"
_DRAWS = 200_000  # Monte Carlo draws for the information of designs too large to list
_LARGEST = 30_000_000  # largest matrix that a bound is computed from, in entries
_SEED = 2006
_ROUNDING = 1e-14  # larger than any floating-point error in a product of a few tables


def each_level(measure: Callable[..., Any]) -> Callable[..., Any]:
    """Let a measure of one design also take several levels or samples; it then returns ``{name: value}``."""

    @functools.wraps(measure)
    def measure_parts(design: Answerable, *arguments: Any, **keywords: Any) -> Any:
        check_design(design, needed_text=_OF_DESIGNS, error=DesignError)
        if design.several:
            return {name: measure(channel, *arguments, **keywords) for name, channel in design.parts.items()}
        return measure(design, *arguments, **keywords)

    return measure_parts


def prior_of(prior: ArrayLike | None, design: Answerable) -> NDArray[np.float64]:
    """The prior (t,), what is known before an answer. By default all categories are equally likely."""
    check_design(design, needed_text=_OF_DESIGNS, error=DesignError)
    t = len(design.categories)
    return np.full(t, 1 / t) if prior is None else _checks.probability_vector(prior, t, what="the prior")


@each_level
def epsilon(design: Design) -> float:
    """Local differential privacy of one answer, in nats: ε = ln max P[y, j] / P[y, j'].

    It is ∞ if some answer is possible for one category and impossible for another, as in every negative survey. It is
    rounded up, so that the promise holds.

    Parameters
    ----------
    design : Design, Levels or Samples

    Returns
    -------
    float, or {level: float}

    Examples
    --------
    >>> from naysay import designs
    >>> round(epsilon(designs.two_coins()), 6), epsilon(designs.negative(("a", "b", "c")))
    (1.098612, inf)
    """
    if len(design.factors) > 1:
        return float(sum(epsilon(factor) for factor in design.factors))
    if design.odds is not None:
        return log_ratio(*design.odds)
    codes = design.typical_codes
    weights = design.integers(codes)
    if weights is not None:
        return max(log_ratio(int(row.max()), int(row.min())) for row in weights if row.any())
    rows = design.rows(codes)
    rows = rows[rows.max(axis=1) > 0]
    if (rows == 0).any():
        return math.inf
    largest = float(np.log((rows.max(axis=1) / rows.min(axis=1)).max()))
    return largest * (1 + _ROUNDING)


def log_ratio(above: int, below: int) -> float:
    """ln(above / below), never rounded down."""
    if below == 0:
        return math.inf
    if above == below:
        return 0.0
    with localcontext() as context:
        context.prec, context.rounding = 40, ROUND_CEILING
        exact = (Decimal(above) / Decimal(below)).ln()
    nearest = float(exact)
    return nearest if Decimal(nearest) >= exact else math.nextafter(nearest, math.inf)


@each_level
def still_possible(design: Design) -> tuple[int, int]:
    """How many categories stay possible after an answer: the fewest and the most over all answers.

    This counts one answer alone. The categories need not be equally likely.

    Parameters
    ----------
    design : Design, Levels or Samples

    Returns
    -------
    (int, int), or {level: (int, int)}

    Examples
    --------
    >>> from naysay import designs
    >>> still_possible(designs.negative(("a", "b", "c", "d", "e"), discards=3))
    (2, 2)
    """
    if len(design.factors) > 1:
        few, many = zip(*(still_possible(factor) for factor in design.factors), strict=True)
        return math.prod(few), math.prod(many)
    if design.odds is not None:
        return (len(design.categories),) * 2
    possible = (design.rows(design.typical_codes) > 0).sum(axis=1)
    possible = possible[possible > 0]
    return int(possible.min()), int(possible.max())


def entropy(probabilities: NDArray[np.float64]) -> Any:
    """Shannon entropy in bits along the last axis."""
    logs = np.log2(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    return -(probabilities * logs).sum(axis=-1)


@each_level
def information(design: Design, prior: ArrayLike | None = None) -> float:
    """Bits that an answer reveals about the person on average: I(X; Y) = H(π) - Σ_y λ_y H(π | y).

    Under the uniform prior it is log₂(t/(t-k)) for a negative survey with k discards. It never exceeds H(π).

    Parameters
    ----------
    design : Design, Levels or Samples
    prior : (t,) float, optional
        What is known before the answer; uniform by default. Always report the prior with the bits: they depend on it.

    Returns
    -------
    float, or {level: float}
        Exact if responses can be listed, or if the prior is uniform and one response stands for all. Otherwise it comes
        from 200,000 seeded draws, with an error of about 0.01 bits.

    Examples
    --------
    >>> from naysay import designs
    >>> information(designs.negative(("a", "b", "c", "d"), discards=2))
    1.0
    """
    pi = prior_of(prior, design)
    if len(design.factors) > 1 and prior is None:
        return float(sum(information(factor) for factor in design.factors))
    is_exchangeable = design.exchangeable and prior is None  # one response stands for all
    if design.one_pattern and design.even_mean is not None and not is_exchangeable:
        # H(Y) - H(Y | X). All columns hold the same chances, and the matrix is symmetric: one row gives H(Y | X).
        alpha, beta = design.even_mean
        return float(entropy(beta + alpha * pi) - entropy(design.rows(design.typical_codes)[0]))
    if (bits := design.told_bits(pi)) is not None:
        return bits
    is_listed = design.space.listable and not is_exchangeable
    if is_exchangeable or is_listed:
        codes = design.space.listing() if is_listed else design.typical_codes[:1]
    else:
        rng = np.random.default_rng(_SEED)
        codes = design.draw(rng.choice(len(pi), size=_DRAWS, p=pi), GeneratorSource(rng))
    rows = design.rows(codes) * pi
    totals = rows.sum(axis=1)
    is_possible = totals > 0
    remaining_entropy = entropy(rows[is_possible] / totals[is_possible, None])
    expected = (totals[is_possible] * remaining_entropy).sum() if is_listed else remaining_entropy.mean()
    return float(entropy(pi) - expected)


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
        few, many = self.still_possible
        possible_text = str(few) if few == many else f"{few} to {many}"
        verb = "stays" if many == 1 else "stay"
        value = "∞" if math.isinf(self.epsilon) else f"{self.epsilon:.4g}"
        if not self.categories:
            return "; ".join((f"every text stays possible; ε = {value} ({self.reason})", *self.notes))
        line = (
            f"{possible_text} of {self.categories} categories {verb} possible, from this answer alone; "
            f"ε = {value} ({self.reason}); {self.bits:.3g} of {math.log2(self.categories):.3g} bits "
            f"under a {self.prior} prior"
        )
        return "; ".join((line, *self.notes))


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
        value = epsilon(design)
        return Statement(value, _reason(value, (0, 0)), math.nan, "uniform", 0, (0, 0), design.notes)
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
    if choice.assigned_by != "respondent":
        raise DesignError(f"{requirement}; got {choice.name or choice.kind}")
    answer_bits = max(_capacity(channel) for channel in choice.parts.values())
    return min(math.log2(len(choice.categories)), math.log2(len(choice.levels)) + answer_bits)


def _capacity(design: Design) -> float:
    """An upper bound on the information of an answer under any prior, in bits."""
    if design.exchangeable:
        return float(information(design))
    if not design.space.listable or design.space.size * len(design.categories) > _LARGEST:
        return math.log2(len(design.categories))
    rows = design.matrix
    answers = rows.mean(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(rows > 0, rows * np.log2(rows / answers), 0.0)
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
    check_design(design, needed_text=_OF_DESIGNS, error=DesignError)
    channels = channels_if(design, nuisance or {})
    return None if channels is None else {name: statement(channel) for name, channel in channels.items()}


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
    check_design(design, needed_text=_OF_DESIGNS, error=DesignError)
    if not design.several:
        return [f"privacy: {statement(design)}"]
    if design.assigned_by == "lot":
        worst_statement = max(
            statement(design).values(),
            key=lambda part_statement: (round(part_statement.epsilon, 9), part_statement.bits),
        )
        return [f"privacy, at any level: {'; '.join((str(worst_statement), *design.notes))}"]
    if design.assigned_by != "respondent":
        each_sample = (about_categories(design, nuisance) or statement(design)).items()
        return [
            f"privacy{'' if name is None else f', sample {name}'}: {part_statement}"
            for name, part_statement in each_sample
        ]
    level_lines = [f"privacy, level {level}: {part_statement}" for level, part_statement in statement(design).items()]
    return [
        *level_lines,
        "privacy: choosing a level tells something of its own where the choice goes with the category; level and "
        f"answer together tell {choosing(design):.3g} of {math.log2(len(design.categories)):.3g} bits at most",
    ]


def posterior(design: Answerable, responses: Any, prior: ArrayLike | None = None) -> NDArray[np.float64]:
    """The probability of each category given each answer: P(X = j | y) ∝ P(y | j) π_j.

    Parameters
    ----------
    design : Design, Levels or Samples
    responses : Responses or sequence (n,)
        Answers. After a missing answer the posterior is the prior.
    prior : (t,) float, optional
        Uniform by default.

    Returns
    -------
    (n, t) float
        Rows sum to one.

    Raises
    ------
    DesignError
        An answer that is impossible under the prior.

    Examples
    --------
    >>> from naysay import designs
    >>> posterior(designs.two_coins(), ["yes"], prior=(0.15, 0.85)).round(3)
    array([[0.346, 0.654]])
    """
    pi = prior_of(prior, design)
    joint = _likelihood_rows(design, responses) * pi
    totals = joint.sum(axis=1, keepdims=True)
    if (totals == 0).any():
        row = int((totals[:, 0] == 0).argmax())
        raise DesignError(
            f"answer {row + 1} is impossible under this prior: every category that it leaves possible has prior 0"
        )
    return np.asarray(joint / totals)


def _likelihood_rows(design: Answerable, responses: Any) -> NDArray[np.float64]:
    """The likelihood rows, (n, t), or numbers in proportion to them where they may be too small for a float."""
    odds = None if design.several else design.channel().odds
    if odds is None:
        return design.likelihood(responses)
    encoded_responses = responses if isinstance(responses, Responses) else design.encode(responses)
    rows = np.ones((len(encoded_responses), len(design.categories)))
    rows[~encoded_responses.missing] = design.channel().integers(encoded_responses.codes[~encoded_responses.missing])
    return rows


def gain(design: Design, responses: Any, prior: ArrayLike | None = None) -> NDArray[np.float64]:
    """How many bits each answer takes off the uncertainty about the person: H(π) - H(π | y).

    The mean gain over all answers is the information. A single gain may be negative: the answer then makes a reader
    doubt who was almost certain before.

    Parameters
    ----------
    design : Design
    responses : Responses or sequence (n,)
    prior : (t,) float, optional

    Returns
    -------
    (n,) float

    References
    ----------
    Esponda (2006), equation 2.

    Examples
    --------
    >>> from naysay import designs
    >>> gain(designs.negative(("a", "b", "c")), ["a"], prior=(0.9, 0.05, 0.05)).round(2)
    array([-0.43])
    """
    return np.asarray(entropy(prior_of(prior, design)) - entropy(posterior(design, responses, prior)))


@each_level
def odds(design: Design, prior: ArrayLike | None = None) -> NDArray[np.float64]:
    """Posterior odds over prior odds of each category, for each response, (responses, t).

    P(y | j) / P(y | not j), where the prior averages P(y | not j) over the other categories. It is 0 where the answer
    rules the category out, and ∞ where it proves it. If there are too many responses to list, there is one row, for a
    response that stands for all.

    Parameters
    ----------
    design : Design, Levels or Samples
    prior : (t,) float, optional
        Uniform by default.

    Returns
    -------
    (responses, t) float, or {level: (responses, t) float}

    Raises
    ------
    DataError
        A prior that is no vector of t probabilities.

    Examples
    --------
    >>> from naysay import designs
    >>> odds(designs.warner(p=0.75)).round(3)
    array([[3.   , 0.333],
           [0.333, 3.   ]])
    """
    pi = prior_of(prior, design)
    rows = design.rows(design.typical_codes)
    if design.odds is not None:  # in proportion to the likelihood, which may be too small for a float
        rows = np.asarray(design.integers(design.typical_codes), dtype=float)
    rows = rows[rows.max(axis=1) > 0]
    # Add the other categories from both ends: subtracting one from the total would lose all digits at odds of 10^12.
    joint, none = rows * pi, np.zeros((len(rows), 1))
    before, after = np.cumsum(joint, axis=1)[:, :-1], np.cumsum(joint[:, ::-1], axis=1)[:, -2::-1]
    other_mass = np.hstack([none, before]) + np.hstack([after, none])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = rows * (1 - pi) / other_mass
    return np.asarray(np.where(rows == 0, 0.0, ratio))


@each_level
def vulnerability(design: Design, prior: ArrayLike | None = None) -> tuple[float, float]:
    """How often the best guess of a person's category is right: after their answer, and before it.

    Bayes vulnerability Σ_y max_j π_j P(y | j), compared with max_j π_j before the answer.

    Parameters
    ----------
    design : Design, Levels or Samples
    prior : (t,) float, optional
        Uniform by default.

    Returns
    -------
    (float, float), or {level: (float, float)}
        Probabilities: after the answer, and before it.

    Raises
    ------
    DataError
        A prior that is no vector of t probabilities.
    DesignError
        There are too many responses to list, and there is no closed form.

    Examples
    --------
    >>> from naysay import designs
    >>> vulnerability(designs.two_coins(), prior=(0.15, 0.85))
    (0.85, 0.85)
    """
    pi = prior_of(prior, design)
    return design.guessed(pi), float(pi.max())


_EVEN = 0.5  # the value of a nuisance share that is not given
_NOTHING = 1e-12  # shares below this count as 0


def channels_if(design: Answerable, nuisance: Mapping[Any, float]) -> dict[Any, Design] | None:
    """P(response | category) in each sample, given these nuisance shares; see `about_categories`."""
    within = _within(design, nuisance)
    if within is None:
        return None
    nuisance_text = ", ".join(
        f"{_checks.label(share.name)} = {_value(share, nuisance):.3g}" for share in design.nuisance
    )
    nuisance_text += "" if nuisance else " (assumed; ε depends on it)"
    return channels_about(design, within, notes=(f"about the sensitive category alone, if {nuisance_text}",))


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
    for name, channel in design.parts.items():
        space = channel.space
        if not space.one_label:
            return None
        weights = table_weights((channel.matrix @ within).tolist(), columns=design.categories)
        all_notes = (*notes, *channel.notes)
        channel_of_sample[name] = Table(
            categories=design.categories, space=Labels(space.labels), weights=weights, notes=all_notes
        )
    return channel_of_sample


def _within(design: Answerable, nuisance_shares: Mapping[Any, float]) -> NDArray[np.float64] | None:
    """How common each cell is within each category, (cells, t)."""
    for name, value in nuisance_shares.items():
        if name not in {share.name for share in design.nuisance} or not 0 <= value <= 1:
            raise DesignError(f"nuisance shares of this design, within [0, 1], are needed; got {name!r}: {value!r}")
    if not any(len(share.of) > 1 for share in design.shares):
        return None
    columns = []
    for category in design.shares:
        category_cells, is_divided = set(category.of), False
        column = np.array([cell in category_cells for cell in design.cells], dtype=float)
        for share in design.nuisance:
            if (
                not category_cells & set(share.of)
                or not category_cells - set(share.of)
                or not (not share.among or set(share.among) == category_cells)
            ):
                continue  # this share does not divide the category
            is_divided, value = True, _value(share, nuisance_shares)
            column *= [value if cell in share.of else 1 - value for cell in design.cells]
        if category.among or (len(category_cells) > 1 and not is_divided) or abs(column.sum() - 1) > 1e-9:
            return None
        columns.append(np.where(column < _NOTHING, 0.0, column))
    return np.column_stack(columns)


def _value(share: Share, nuisance_shares: Mapping[Any, float]) -> float:
    return float(nuisance_shares.get(share.name, _EVEN))
