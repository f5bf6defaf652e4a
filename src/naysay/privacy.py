"""What an answer tells about the person who gave it.

The same rows P(response | category) that estimation reads, read from the other side. An ε of ∞ is legal, and always
comes with its reason and with what the answer does leave open. For an offer of levels every function answers level by
level, as a dict.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design import Answerable, Design, Levels, Product, Subset, Table
from naysay.design.base import check_channel
from naysay.design.drawing import GeneratorSource
from naysay.errors import DesignError
from naysay.responses import Responses

__all__ = [
    "Composition",
    "Statement",
    "choosing",
    "compose",
    "epsilon",
    "gain",
    "information",
    "lines",
    "odds",
    "posterior",
    "statement",
    "still_possible",
    "unexcluded",
    "vulnerability",
]

_DRAWS = 200_000  # Monte Carlo draws for the information of designs too large to list
_SEED = 2006
_ROUNDING = 1e-14  # more than floating point can be off in a product of a few tables


def _each_level(measure: Callable[..., Any]) -> Callable[..., Any]:
    """Let a measure of one design answer for an offer, as ``{level: value}``."""

    @functools.wraps(measure)
    def measured(design: Answerable, *arguments: Any, **named: Any) -> Any:
        if isinstance(design, Levels):
            return {level: measure(design.channel(level), *arguments, **named) for level in design.levels}
        if not isinstance(design, Design):
            raise DesignError(f"privacy is a property of a design; got {type(design).__name__}")
        return measure(design, *arguments, **named)

    return measured


def _prior(prior: ArrayLike | None, design: Answerable) -> NDArray[np.float64]:
    t = len(design.categories)
    return np.full(t, 1 / t) if prior is None else _checks.probability_vector(prior, t, what="the prior")


@_each_level
def epsilon(design: Design) -> float:
    """Local differential privacy of one answer, in nats: ε = ln max P[y, j] / P[y, j'].

    ∞ where some answer is possible for one category and impossible for another: every negative survey. Rounded up, so
    that the promise holds.

    Parameters
    ----------
    design : Design or Levels

    Returns
    -------
    float, or {level: float}

    Examples
    --------
    >>> from naysay import designs
    >>> round(epsilon(designs.two_coins()), 6), epsilon(designs.negative(("a", "b", "c")))
    (1.098612, inf)
    """
    if isinstance(design, Product):
        return float(epsilon(design.first)) + float(epsilon(design.second))
    if isinstance(design, Table):
        return max(_log_ratio(int(row.max()), int(row.min())) for row in design.weights if row.any())
    rows = design.rows(design.typical_codes)
    rows = rows[rows.max(axis=1) > 0]
    if (rows == 0).any():
        return math.inf
    largest = float(np.log((rows.max(axis=1) / rows.min(axis=1)).max()))
    return largest * (1 + _ROUNDING)


def _log_ratio(above: int, below: int) -> float:
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


@_each_level
def still_possible(design: Design) -> tuple[int, int]:
    """How many categories stay possible after an answer: the fewest and the most over all answers.

    From this answer alone; they need not be equally likely.

    Parameters
    ----------
    design : Design or Levels

    Returns
    -------
    (int, int), or {level: (int, int)}

    Examples
    --------
    >>> from naysay import designs
    >>> still_possible(designs.negative(("a", "b", "c", "d", "e"), discards=3))
    (2, 2)
    """
    if isinstance(design, Product):
        (few, many), (fewer, more) = still_possible(design.first), still_possible(design.second)
        return few * fewer, many * more
    possible = (design.rows(design.typical_codes) > 0).sum(axis=1)
    possible = possible[possible > 0]
    return int(possible.min()), int(possible.max())


def posterior(design: Answerable, responses: Any, prior: ArrayLike | None = None) -> NDArray[np.float64]:
    """What each answer leaves probable: P(X = j | y) ∝ P(y | j) π_j.

    Parameters
    ----------
    design : Design or Levels
    responses : Responses or sequence (n,)
        Answers; a missing one leaves the prior.
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
    joint = design.likelihood(responses) * _prior(prior, design)
    totals = joint.sum(axis=1, keepdims=True)
    if (totals == 0).any():
        row = int((totals[:, 0] == 0).argmax())
        raise DesignError(f"answer {row + 1} is impossible under this prior: every category that it leaves has prior 0")
    return np.asarray(joint / totals)


def gain(design: Design, responses: Any, prior: ArrayLike | None = None) -> NDArray[np.float64]:
    """Bits that each single answer takes off the uncertainty about the person: H(π) - H(π | y).

    One term of the information; a single one may be negative, where an answer makes a near-certain reader doubt.

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
    return np.asarray(_entropy(_prior(prior, design)) - _entropy(posterior(design, responses, prior)))


def _entropy(probabilities: NDArray[np.float64]) -> Any:
    """Shannon entropy in bits along the last axis."""
    logs = np.log2(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    return -(probabilities * logs).sum(axis=-1)


@_each_level
def information(design: Design, prior: ArrayLike | None = None) -> float:
    """Bits that an answer tells about its person on average: I(X; Y) = H(π) - Σ_y λ_y H(π | y).

    Under the uniform prior log₂(t/(t-k)) for k discards; never more than H(π).

    Parameters
    ----------
    design : Design or Levels
    prior : (t,) float, optional
        What is known before, uniform by default. A number in bits means nothing without its prior: name it.

    Returns
    -------
    float, or {level: float}
        Exact where the responses can be listed or the prior is uniform, otherwise by 200,000 draws (seeded), to about
        0.01 bits.

    Examples
    --------
    >>> from naysay import designs
    >>> information(designs.negative(("a", "b", "c", "d"), discards=2))
    1.0
    """
    pi = _prior(prior, design)
    if isinstance(design, Product) and prior is None:
        return float(information(design.first)) + float(information(design.second))
    if design.exchangeable and prior is None:
        return float(gain(design, Responses(design.typical_codes[:1], design.space), pi)[0])
    if design.space.listable:
        codes, chance = design.space.listing(), None
    else:
        rng = np.random.default_rng(_SEED)
        truth = rng.choice(len(pi), size=_DRAWS, p=pi)
        codes, chance = design.draw(truth, GeneratorSource(rng)), 1 / _DRAWS
    rows = design.rows(codes) * pi
    totals = rows.sum(axis=1)
    seen = totals > 0
    left = _entropy(rows[seen] / totals[seen, None])
    expected = (totals[seen] * left).sum() if chance is None else left.mean()
    return float(_entropy(pi) - expected)


@_each_level
def odds(design: Design, prior: ArrayLike | None = None) -> NDArray[np.float64]:
    """Posterior odds over prior odds of each category, for each response, (responses, t).

    P(y | j) / P(y | not j), the second averaged over the other categories by the prior: 0 where the answer rules the
    category out, ∞ where it proves it. Where responses are too many to list, of one that stands for all.

    Parameters
    ----------
    design : Design or Levels
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
    pi = _prior(prior, design)
    rows = design.rows(design.typical_codes)
    rows = rows[rows.max(axis=1) > 0]
    others = (rows @ pi)[:, None] - rows * pi
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = rows * (1 - pi) / np.where(others < 1e-15 * rows.max(), 0.0, others)
    return np.asarray(np.where(rows == 0, 0.0, ratio))


@_each_level
def vulnerability(design: Design, prior: ArrayLike | None = None) -> tuple[float, float]:
    """How often the best guess of a person's category is right: after her answer, and before it.

    Bayes vulnerability Σ_y max_j π_j P(y | j), against max_j π_j.

    Parameters
    ----------
    design : Design or Levels
    prior : (t,) float, optional
        Uniform by default.

    Returns
    -------
    (float, float), or {level: (float, float)}
        Shares of one.

    Raises
    ------
    DataError
        A prior that is no vector of t probabilities.
    DesignError
        Responses too many to list, where no closed form does without.

    Examples
    --------
    >>> from naysay import designs
    >>> vulnerability(designs.two_coins(), prior=(0.15, 0.85))
    (0.85, 0.85)
    """
    pi = _prior(prior, design)
    if isinstance(design, Subset) and design.truthful:
        return _subset_vulnerability(design, pi), float(pi.max())
    if design.exchangeable and prior is None:
        share = float(posterior(design, Responses(design.typical_codes[:1], design.space)).max())
        return share, 1 / len(pi)
    codes = design.space.listing()
    return float((design.rows(codes) * pi).max(axis=1).sum()), float(pi.max())


def _subset_vulnerability(design: Subset, pi: NDArray[np.float64]) -> float:
    """Σ_r π_(r) C(t - r, k - r + 1) / C(t - 1, k), the categories ranked from the likeliest on.

    The r-th likeliest category is the best guess if those before it are ruled out and it is not.
    """
    t, k = len(pi), design.discards
    ranked = np.sort(pi)[::-1]
    return math.fsum(ranked[r] * math.comb(t - r - 1, k - r) for r in range(k + 1)) / math.comb(t - 1, k)


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


@_each_level
def statement(design: Design) -> Statement:
    """The privacy of one answer under a design, to be printed beside every estimate.

    Parameters
    ----------
    design : Design or Levels

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


def lines(design: Answerable) -> list[str]:
    """The privacy of one answer as text: one line, or one for each level and one about choosing it.

    Parameters
    ----------
    design : Design or Levels

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
    if not isinstance(design, Levels):
        return [f"privacy: {statement(design)}"]
    told = [f"privacy, level {level}: {each}" for level, each in statement(design).items()]
    return [
        *told,
        "privacy: choosing a level tells something of its own where the choice goes with the category; level and "
        f"answer together tell {choosing(design):.3g} of {math.log2(len(design.categories)):.3g} bits at most",
    ]


def choosing(choice: Levels) -> float:
    """Bits that level and answer together can tell about a person, at most, however she chooses her level.

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
    if not isinstance(choice, Levels):
        raise DesignError(f"only an offer of levels is chosen from; got {getattr(choice, 'name', choice)!s}")
    most = max(_capacity(choice.channel(level)) for level in choice.levels)
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
