"""What one answer tells: ε, the categories still possible, information, and all of it in one line and as a chart.

Where the cells of samples are finer than the categories, the line says what answers reveal about the categories alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal, localcontext
from functools import singledispatch
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design import (
    AffineHash,
    Answerable,
    Design,
    Grouped,
    Pattern,
    Pure,
    Remembered,
    Share,
    Subset,
    SubsetSelection,
    Table,
    Unary,
    Window,
)
from naysay.design.base import check_design
from naysay.design.drawing import GeneratorSource, blocks, table_weights
from naysay.design.pure import binomial
from naysay.errors import DesignError
from naysay.responses import Labels, Responses
from naysay.show import charts, finish
from naysay.show.result import rounded_up

ABOUT_DESIGNS = "privacy is a property of a design"
_DRAWS = 200_000  # Monte Carlo draws for the information of designs too large to list
_SEED = 2006
_ROUNDING = 1e-14  # larger than any floating-point error in a product of a few tables
_LARGEST = 30_000_000  # largest matrix that a bound is computed from, in entries
_EVEN = 0.5  # the value of a nuisance share that is not given
_NOTHING = 1e-12  # shares below this count as 0


def each_level(measure: Callable[..., object]) -> Callable[..., Any]:
    """Let a measure of one design also take several levels or samples; it then returns ``{name: value}``."""

    @functools.wraps(measure)
    def measure_parts(design: Answerable, *arguments: object, **keywords: object) -> object:
        check_design(design, needed_text=ABOUT_DESIGNS, error=DesignError)
        if design.offer.several:
            return {name: measure(channel, *arguments, **keywords) for name, channel in design.parts.items()}
        return measure(design, *arguments, **keywords)

    return measure_parts


def prior_of(prior: ArrayLike | None, design: Answerable) -> NDArray[np.float64]:
    """The prior (t,), what is known before an answer. By default all categories are equally likely."""
    check_design(design, needed_text=ABOUT_DESIGNS, error=DesignError)
    t = len(design.categories)
    if not t:
        raise DesignError(f"{design.name or design.kind} lists no categories, so there is no prior over them")
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
        return float(sum(epsilon(question_design) for question_design in design.factors))
    if design.structure.odds is not None:
        return log_ratio(*design.structure.odds)
    typical_codes = design.structure.typical_codes
    integer_rows = design.integers(typical_codes)
    if integer_rows is not None:
        return max(
            log_ratio(int(integer_row.max()), int(integer_row.min()))
            for integer_row in integer_rows
            if integer_row.any()
        )
    likelihood_rows = design.rows(typical_codes)
    likelihood_rows = likelihood_rows[likelihood_rows.max(axis=1) > 0]
    if (likelihood_rows == 0).any():
        return math.inf
    largest_log_ratio = float(np.log((likelihood_rows.max(axis=1) / likelihood_rows.min(axis=1)).max()))
    return largest_log_ratio * (1 + _ROUNDING)


def log_ratio(above: int, below: int) -> float:
    """ln(above / below), never rounded down."""
    if below == 0:
        return math.inf
    if above == below:
        return 0.0
    with localcontext() as context:
        context.prec, context.rounding = 40, ROUND_CEILING
        exact_log = (Decimal(above) / Decimal(below)).ln()
    nearest_float = float(exact_log)
    return nearest_float if Decimal(nearest_float) >= exact_log else math.nextafter(nearest_float, math.inf)


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
        fewest_by_factor, most_by_factor = zip(
            *(still_possible(question_design) for question_design in design.factors), strict=True
        )
        return math.prod(fewest_by_factor), math.prod(most_by_factor)
    if design.structure.odds is not None:
        return (len(design.categories),) * 2
    possible_counts = (design.rows(design.structure.typical_codes) > 0).sum(axis=1)
    possible_counts = possible_counts[possible_counts > 0]
    return int(possible_counts.min()), int(possible_counts.max())


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
        return float(sum(information(question_design) for question_design in design.factors))
    is_exchangeable = design.structure.exchangeable and prior is None  # one response stands for all
    if design.structure.one_pattern and design.structure.even_mean is not None and not is_exchangeable:
        # H(Y) - H(Y | X). All columns hold the same chances, and the matrix is symmetric: one row gives H(Y | X).
        alpha, beta = design.structure.even_mean
        return float(entropy(beta + alpha * pi) - entropy(design.rows(design.structure.typical_codes)[0]))
    if (bits := closed_bits(design, pi)) is not None:
        return bits
    is_listed = design.space.listable and not is_exchangeable
    if is_exchangeable or is_listed:
        codes = design.space.listing() if is_listed else design.structure.typical_codes[:1]
    else:
        rng = np.random.default_rng(_SEED)
        codes = design.draw(rng.choice(len(pi), size=_DRAWS, p=pi), GeneratorSource(rng))
    joint_rows = design.rows(codes) * pi
    response_chances = joint_rows.sum(axis=1)
    is_possible = response_chances > 0
    remaining_entropy = entropy(joint_rows[is_possible] / response_chances[is_possible, None])
    expected_entropy = (
        (response_chances[is_possible] * remaining_entropy).sum() if is_listed else remaining_entropy.mean()
    )
    return float(entropy(pi) - expected_entropy)


def posterior(
    design: Answerable, responses: Responses | Iterable[object], prior: ArrayLike | None = None
) -> NDArray[np.float64]:
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
    if design.offer.several or design.channel().structure.odds is None:
        likelihood_rows = design.likelihood(responses)
    else:  # numbers in proportion to the likelihood, which may be too small for a float
        encoded_responses = responses if isinstance(responses, Responses) else design.encode(responses)
        likelihood_rows = np.ones((len(encoded_responses), len(design.categories)))
        likelihood_rows[~encoded_responses.missing] = design.channel().integers(
            encoded_responses.codes[~encoded_responses.missing]
        )
    joint_chances = likelihood_rows * pi
    answer_totals = joint_chances.sum(axis=1, keepdims=True)
    if (answer_totals == 0).any():
        impossible_row = int((answer_totals[:, 0] == 0).argmax())
        raise DesignError(
            f"answer {impossible_row + 1} is impossible under this prior: "
            "every category that it leaves possible has prior 0"
        )
    return np.asarray(joint_chances / answer_totals)


def gain(
    design: Design, responses: Responses | Iterable[object], prior: ArrayLike | None = None
) -> NDArray[np.float64]:
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
    likelihood_rows = design.rows(design.structure.typical_codes)
    if design.structure.odds is not None:  # in proportion to the likelihood, which may be too small for a float
        likelihood_rows = np.asarray(design.integers(design.structure.typical_codes), dtype=float)
    likelihood_rows = likelihood_rows[likelihood_rows.max(axis=1) > 0]
    # Add the other categories from both ends: subtracting one from the total would lose all digits at odds of 10^12.
    joint_chances, zero_column = likelihood_rows * pi, np.zeros((len(likelihood_rows), 1))
    mass_before = np.cumsum(joint_chances, axis=1)[:, :-1]
    mass_after = np.cumsum(joint_chances[:, ::-1], axis=1)[:, -2::-1]
    other_mass = np.hstack([zero_column, mass_before]) + np.hstack([mass_after, zero_column])
    with np.errstate(divide="ignore", invalid="ignore"):
        odds_ratios = likelihood_rows * (1 - pi) / other_mass
    return np.asarray(np.where(likelihood_rows == 0, 0.0, odds_ratios))


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
    return guess_success(design, pi), float(pi.max())


# Closed forms, by the kind of design.

_SAMPLED = 100_000  # Monte Carlo draws for responses too many to list


@singledispatch
def closed_bits(design: Design, prior: Floats) -> float | None:
    """The information of an answer under a prior, in bits, by a closed form; None where there is none."""
    return None


@closed_bits.register
def _(design: Remembered, prior: Floats) -> float | None:
    return closed_bits(design.wave, prior)


@closed_bits.register
def _sampled_bits(design: Pure, prior: Floats) -> float | None:
    """The mean of log₂ P(y | x) / P(y) over drawn responses; it needs only the share that each speaks for."""
    if design.space.listable:
        return None
    rng, (a, b), log_ratios = np.random.default_rng(_SEED), design.odds, []
    drawn_truth = rng.choice(len(prior), size=_SAMPLED, p=prior)
    for rows in blocks(_SAMPLED):
        true_places = drawn_truth[rows]
        is_named = design.space.statistic(design.draw(design.truth_numbers[true_places], GeneratorSource(rng)))
        named_share, names_truth = is_named @ prior, is_named[np.arange(len(true_places)), true_places]
        log_ratios.append(np.log2(np.where(names_truth, a, b) / (a * named_share + b * (1 - named_share))))
    return float(np.concatenate(log_ratios).mean())


@closed_bits.register
def _(design: SubsetSelection, prior: Floats) -> float | None:
    """Under equal shares every set speaks for the same share."""
    if (prior != prior[0]).any():
        return _sampled_bits(design, prior)
    t = len(prior)
    return _bits_of_support(np.array([design.size / t]), np.array([t / design.whole]), design.inside, design.outside)


@closed_bits.register
def _(design: Unary, prior: Floats) -> float | None:
    """For a uniform prior the sum over the sizes of sets, otherwise over drawn responses."""
    if (prior != prior[0]).any():
        return _sampled_bits(design, prior)
    (p, q), t = map(float, design.named_chances), len(prior)
    return _bits_of_support(np.arange(t + 1) / t, binomial(t, q), p / q, (1 - p) / (1 - q))


@closed_bits.register
def _(design: AffineHash, prior: Floats) -> float | None:
    if design.named:
        return _sampled_bits(design, prior)
    shares = design.space.over_supports(prior, np.add, 0.0)
    return _bits_of_support(
        shares, np.ones(len(shares)) / design.whole / design.space.hashes, design.inside, design.outside
    )


@closed_bits.register
def _(design: Window, prior: Floats) -> float:
    """The information: each place speaks for the points whose window holds it."""
    running_sums, response_place = np.concatenate([[0.0], np.cumsum(prior)]), np.arange(design.space.size)
    window_top = np.minimum(response_place, design.steps) + 1
    window_bottom = np.maximum(response_place - design.width + 1, 0)
    place_shares = np.maximum(running_sums[window_top] - running_sums[window_bottom], 0.0)
    return _bits_of_support(place_shares, np.full(len(place_shares), 1 / design.whole), design.inside, design.outside)


@closed_bits.register
def _(design: Grouped, prior: Floats) -> float | None:
    """An answer tells of a category what it tells of its group."""
    group_shares = np.bincount(design.places, prior).astype(np.float64)
    if design.design.structure.one_pattern and design.design.structure.even_mean is not None:
        alpha, beta = design.design.structure.even_mean
        likelihood_row = design.design.rows(design.design.structure.typical_codes[:1])[0]
        return float(
            likelihood_row @ np.log2(likelihood_row)
            - (response_chances := beta + alpha * group_shares) @ np.log2(response_chances)
        )
    if (group_bits := closed_bits(design.design, group_shares)) is not None or not design.space.listable:
        return group_bits
    likelihood_rows = design.design.rows(design.space.listing())
    return float(
        (likelihood_rows * group_shares * np.log2(likelihood_rows / (likelihood_rows @ group_shares)[:, None])).sum()
    )


def _bits_of_support(shares: Floats, scale: Floats, inside: float, outside: float) -> float:
    """I(X; Y) = Σ_y Σ_j π_j P(y | j) log₂ (P(y | j) / P(y)), from the share of people for whom each y speaks."""
    outer = np.maximum(1 - shares, 0.0)
    mean = inside * shares + outside * outer
    terms = inside * shares * np.log2(inside / mean) + outside * outer * np.log2(outside / mean)
    return float(scale @ terms)


def _listed_guess(design: Design, prior: Floats) -> float:
    """How often the likeliest category, given the response, is the true one: Σ_y max_j π_j P(y | j).

    Raises
    ------
    DesignError
        Where there are too many responses to list, and there is no closed form.
    """
    if design.structure.exchangeable and (prior == prior[0]).all():
        likelihood_row = design.rows(design.structure.typical_codes[:1])
        return float(likelihood_row.max() / likelihood_row.sum())
    return float((design.rows(design.space.listing()) * prior).max(axis=1).sum())


guess_success = singledispatch(_listed_guess)


@guess_success.register
def _(design: Remembered, prior: Floats) -> float:
    return guess_success(design.wave, prior)


@guess_success.register
def _(design: Pattern, prior: Floats) -> float:
    """Σ_y max(own π_y, other max_{j ≠ y} π_j) / D."""
    second_share, largest_share = np.sort(prior)[-2:]
    largest_other = np.where(np.arange(len(prior)) == prior.argmax(), second_share, largest_share)
    return float(np.maximum(design.own * prior, design.other * largest_other).sum() / design.denominator)


@guess_success.register
def _(design: Subset, prior: Floats) -> float:
    """Σ_r π_(r) C(t - r, k - r + 1) / C(t - 1, k), the categories ranked from the likeliest on.

    The r-th likeliest category is the best guess if the answer rules out all likelier ones, but not this one.
    """
    if not design.truthful:
        return float(prior.max())
    t, k, ranked = len(prior), design.discards, np.sort(prior)[::-1]
    return math.fsum(ranked[r] * math.comb(t - r - 1, k - r) for r in range(k + 1)) / math.comb(t - 1, k)


@guess_success.register
def _(design: SubsetSelection, prior: Floats) -> float:
    """Σ_S max(a max_S π, b max_{∉ S} π) / …: only the likeliest category of S matters, and the likeliest of all."""
    t, k, ranked_prior = len(prior), design.size, np.sort(prior)[::-1]
    best = np.maximum(design.inside * ranked_prior, design.outside * ranked_prior[0])
    rank_chances = [math.comb(t - 1 - best_rank, k - 1) / math.comb(t, k) for best_rank in range(t - k + 1)]
    return float(math.fsum(best[: t - k + 1] * rank_chances) * t / design.whole)


@guess_success.register
def _(design: Unary, prior: Floats) -> float:
    """The sum over the likeliest named category, by its rank r: the first r bits are zero and the next is one."""
    (p, q), ranked_prior = map(float, design.named_chances), np.sort(prior)[::-1]
    first = q * (1 - q) ** np.arange(len(prior))
    best = np.maximum(p / q * ranked_prior, (1 - p) / (1 - q) * ranked_prior[0])
    return float(first @ best + (1 - q) ** len(prior) * (1 - p) / (1 - q) * ranked_prior[0])


@guess_success.register
def _(design: AffineHash, prior: Floats) -> float:
    if design.named:
        return _listed_guess(design, prior)
    first = design.space.over_supports(prior, np.maximum, 0.0)
    return float(
        np.maximum(design.inside * first, design.outside * prior.max()).sum() / design.whole / design.space.hashes
    )


@guess_success.register
def _(design: Window, prior: Floats) -> float:
    """Σ_o max(a max of the points that o speaks for, b max of all): a sliding maximum."""
    padded_prior = np.concatenate([prior, np.zeros(design.width - 1)])
    window_maxima = scipy.ndimage.maximum_filter1d(
        padded_prior, design.width, mode="constant", cval=0.0, origin=(design.width - 1) // 2
    )
    return float(np.maximum(design.inside * window_maxima, design.outside * prior.max()).sum() / design.whole)


@guess_success.register
def _(design: Grouped, prior: Floats) -> float:
    likeliest = np.maximum.reduceat(prior, np.arange(0, len(prior), design.width))
    return guess_success(design.design, likeliest / likeliest.sum()) * float(likeliest.sum())


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
    unit : str
        What is counted: categories, or kinds of people such as cheaters, where these are finer.
    """

    epsilon: float
    reason: str
    bits: float
    prior: str
    categories: int
    still_possible: tuple[int, int]
    notes: tuple[str, ...] = ()
    unit: str = "categories"

    def __str__(self) -> str:
        if math.isnan(self.epsilon):
            return "; ".join((self.reason, *self.notes))
        fewest_possible, most_possible = self.still_possible
        possible_text = (
            str(fewest_possible) if fewest_possible == most_possible else f"{fewest_possible} to {most_possible}"
        )
        verb = "stays" if most_possible == 1 else "stay"
        reason = self.reason.replace("categories", self.unit)
        bits_word = "bit" if self.categories == 2 else "bits"
        epsilon_text = "∞" if math.isinf(self.epsilon) else f"{self.epsilon:.4g}"
        if not self.categories:
            return "; ".join((f"every text stays possible; ε = {epsilon_text} ({self.reason})", *self.notes))
        possible_line = (
            f"{possible_text} of {self.categories} {self.unit} {verb} possible, from this answer alone; "
            f"ε = {epsilon_text} ({reason}); {self.bits:.3g} of {math.log2(self.categories):.3g} {bits_word} "
            f"under a {self.prior} prior"
        )
        return "; ".join((possible_line, *self.notes))


@each_level
def statement(design: Design, *, unit: str = "categories") -> Statement:
    """The privacy of one answer under a design. Every estimate is printed with it.

    Parameters
    ----------
    design : Design, Levels or Samples
    unit : str
        What the columns of the design are; see `unit_of`.

    Returns
    -------
    Statement, or {level: Statement}
        ε in nats, information in bits under a uniform prior. They are NaN, with the reason, if they cannot be computed.

    Examples
    --------
    >>> from naysay import designs
    >>> print(statement(designs.warner(p=0.75)))
    2 of 2 categories stay possible, from this answer alone; ε = 1.099 (an answer changes the odds between two \
categories by 3 at most); 0.189 of 1 bit under a uniform prior
    """
    t = len(design.categories)
    if not t:  # an open domain without candidates
        answer_epsilon = epsilon(design)
        return Statement(
            answer_epsilon, _reason(answer_epsilon, (0, 0)), math.nan, "uniform", 0, (0, 0), design.notes, unit
        )
    try:
        answer_epsilon, possible_range, answer_bits = epsilon(design), still_possible(design), information(design)
    except DesignError as error:
        return Statement(math.nan, f"not computed: {error}", math.nan, "uniform", t, (1, t), design.notes, unit)
    reason, notes = _reason(answer_epsilon, possible_range), design.notes
    return Statement(answer_epsilon, reason, answer_bits, "uniform", t, possible_range, notes, unit)


def unit_of(design: Answerable) -> str:
    """What answers tell apart: categories, or kinds of people, such as cheaters, of whom the category stays open."""
    return "kinds of people" if design.cells != design.categories else "categories"


def _reason(value: float, possible: tuple[int, int]) -> str:
    """Why ε is what it is."""
    if math.isinf(value):
        return "an answer can reveal the truth" if possible[0] == 1 else "an answer rules categories out for certain"
    if value == 0:
        return "an answer says nothing"
    return f"an answer changes the odds between two categories by {rounded_up(math.exp(value))} at most"


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


def about_categories(design: Answerable, nuisance: Mapping[str, float] | None = None) -> dict[Any, Statement] | None:
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
        Where some people do not comply, it is about those who do.

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
    shares_within = _within(design, nuisance or {})
    if shares_within is None:
        return None
    if any(share.among for share in design.shares):
        note_text = "about the category alone, of those who comply"
    else:
        nuisance_text = ", ".join(
            f"{_checks.label(share.name)} = {_value(share, nuisance or {}):.3g}" for share in design.nuisance
        )
        nuisance_text += "" if nuisance else " (assumed; ε depends on it)"
        note_text = f"about the sensitive category alone, if {nuisance_text}"
    channels_by_name = channels_about(design, shares_within, notes=(note_text,))
    return {sample_name: statement(sample_channel) for sample_name, sample_channel in channels_by_name.items()}


def lines(design: Answerable, nuisance: Mapping[str, float] | None = None) -> list[str]:
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
together tell 1.59 of 1.59 bits at most
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
        sample_statements = {
            name: str(part)
            for name, part in (about_categories(design, nuisance) or statement(design, unit=unit_of(design))).items()
        }
        if len(set(sample_statements.values())) == 1:
            return [f"privacy: {next(iter(sample_statements.values()))}"]
        return [f"privacy, sample {sample_name}: {text}" for sample_name, text in sample_statements.items()]
    level_lines = [
        f"privacy, level {level_name}: {part_statement}" for level_name, part_statement in statement(design).items()
    ]
    return [
        *level_lines,
        "privacy: choosing a level tells something of its own where the choice goes with the category; level and "
        f"answer together tell {rounded_up(choosing(design))} of {rounded_up(math.log2(len(design.categories)))} "
        f"{'bit' if len(design.categories) == 2 else 'bits'} at most",
    ]


def channels_about(
    design: Answerable, within: NDArray[np.float64], *, notes: tuple[str, ...] = ()
) -> dict[Any, Design]:
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
    {sample: Design}

    Examples
    --------
    >>> from naysay import designs
    >>> survey = designs.stochastic_lie_detector(p=("2/12", "10/12"))
    >>> channels_about(survey, np.array([[0.7, 0], [0, 1], [0.3, 0]]))[1].matrix.round(2)
    array([[0.7 , 0.83],
           [0.3 , 0.17]])
    """
    check_design(design, needed_text=ABOUT_DESIGNS, error=DesignError)
    channel_of_sample: dict[Any, Design] = {}
    for sample_name, sample_channel in design.parts.items():
        space = sample_channel.space
        if not space.one_label:  # sets, or several answers: a cell of the category is drawn first
            cell_weights = table_weights(within.tolist(), columns=design.categories)
            cell_of_category = Table(categories=design.categories, space=Labels(design.cells), weights=cell_weights)
            channel_of_sample[sample_name] = replace(cell_of_category.then(sample_channel), notes=notes)
            continue
        integer_weights = table_weights((sample_channel.matrix @ within).tolist(), columns=design.categories)
        all_notes = (*notes, *sample_channel.notes)
        channel_of_sample[sample_name] = Table(
            categories=design.categories, space=Labels(space.labels), weights=integer_weights, notes=all_notes
        )
    return channel_of_sample


def _within(design: Answerable, nuisance_shares: Mapping[str, float]) -> NDArray[np.float64] | None:
    """How common each cell is within each category, (cells, t)."""
    for nuisance_name, assumed_share in nuisance_shares.items():
        if nuisance_name not in {share.name for share in design.nuisance} or not 0 <= assumed_share <= 1:
            raise DesignError(
                f"nuisance shares of this design, within [0, 1], are needed; got {nuisance_name!r}: {assumed_share!r}"
            )
    if not any(len(share.of) > 1 or share.among for share in design.shares):
        return None
    share_columns = []
    for category_share in design.shares:
        category_cells, is_divided = set(category_share.of), False
        share_column = np.array([cell_name in category_cells for cell_name in design.cells], dtype=float)
        chances = {
            share.of[0]: _value(share, nuisance_shares)
            for share in design.nuisance
            if len(share.of) == 1 and set(share.among) == category_cells
        }
        if len(chances) == len(category_cells) - 1 > 1:  # of all responses but one
            rest = max(1 - sum(chances.values()), 0.0)
            share_columns.append(share_column * [chances.get(cell_name, rest) for cell_name in design.cells])
            share_columns[-1] /= share_columns[-1].sum()
            continue
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
        if (len(category_cells) > 1 and not is_divided) or abs(share_column.sum() - 1) > 1e-9:
            return None
        share_columns.append(np.where(share_column < _NOTHING, 0.0, share_column))
    return np.column_stack(share_columns)


def _value(share: Share, nuisance_shares: Mapping[str, float]) -> float:
    return float(nuisance_shares.get(share.name, _EVEN))


def posterior_chart(
    design: Answerable,
    response: Any,
    *,
    prior: ArrayLike | None = None,
    level: Label = None,
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
    >>> "yes: after 34.62\u00a0%" in svg, "no: before 85.00\u00a0%" in svg
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
