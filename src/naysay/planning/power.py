"""Power: how often a survey will detect a difference that exists.

Answers have equal weight. The test rejects if the interval that `estimate` prints excludes the null value; see
`naysay.planning.exclusion`. The intervals of differences between groups, and of several samples, are Wald's: estimate
± z standard errors. Their standard error is itself estimated: a lower estimate also has another standard error. So the
critical values c are those with (c - null)² = z² V(c)/n, where V(c) is the variance that goes with an estimate of c.
The estimate is taken as normal, except where two groups give two binomial counts; these are enumerated.

The precision of n answers, and the number of answers for a precision.

Which categories exist at all: the least share that stands out of the noise, before a survey and after it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design import Answerable, Design
from naysay.design.several import number, positive, share
from naysay.errors import DataError
from naysay.estimate.ranks import critical_values, difference_errors, normal_draws, tie_ratios
from naysay.estimate.result import Estimate
from naysay.planning.exclusion import (
    SURVEYS,
    BinomialCount,
    binomial_count,
    difference_excluded,
    difference_simulated,
    less_excluded,
    normal_score,
    simulated_exclusion,
)
from naysay.planning.variance import Variance, respondents, variance, variance_of

Chance = Callable[[Floats], Floats]
"""How often an interval excludes a value, for each number of respondents (of the first group)."""

_MANY = 200  # with so many respondents the estimate may be taken as normal
_MOST_DRAWN = 2_000  # beyond, the estimate is taken as normal: a likelihood's also where it can come out as 0
_TRIED_OF_TWO = 20  # numbers of respondents of two groups: each takes long
_STEP = 1e-3
_MARGIN = 1e-6  # a likelihood has a variance only for proportions at least this far inside [0, 1]


@dataclass(frozen=True)
class Curve:
    """The variance of one respondent as a curve in the estimate: variance + slope x + bend x².

    x is the estimate minus the true value. The other proportions move as they do on average if this one is off by x:
    along V[:, j] / V_jj. The cells of samples move in the same way.

    Parameters
    ----------
    value, variance, slope, bend : float
    """

    value: float
    variance: float
    slope: float
    bend: float

    @classmethod
    def of(cls, design: Answerable, design_variance: Variance, place: int) -> Curve:
        """The curve of one value at `place`."""
        true_value, person_variance = float(design_variance.values[place]), float(design_variance.each[place])
        if person_variance <= 0:
            return cls(true_value, 0.0, 0.0, 0.0)
        shifted_shares = [design_variance.at + step * design_variance.moves[place] for step in (_STEP, -_STEP)]
        if not design_variance.ask.averages and (
            np.min(shifted_shares) < _MARGIN or np.max(shifted_shares) > 1 - _MARGIN
        ):
            return cls(
                true_value, person_variance, 0.0, 0.0
            )  # outside [0, 1] a likelihood has no variance, so there is no slope
        shifted_variances = (
            variance_of(design, design_variance.ask._replace(proportions=kind_shares)) for kind_shares in shifted_shares
        )
        variance_above, variance_below = (
            float(shifted_variance.covariance[place, place]) for shifted_variance in shifted_variances
        )
        bend = (variance_above + variance_below - 2 * person_variance) / (2 * _STEP**2)
        return cls(true_value, person_variance, (variance_above - variance_below) / (2 * _STEP), min(bend, 0.0))


@dataclass(frozen=True)
class Curves:
    """A proportion, or the difference of one between two groups.

    Parameters
    ----------
    curves : tuple of Curve
        One or two.
    sizes : tuple of float
        Respondents of each group, per respondent of the first group.
    """

    curves: tuple[Curve, ...]
    sizes: tuple[float, ...]

    @property
    def value(self) -> float:
        """The true value, or the first minus the second."""
        return self.curves[0].value - sum(curve.value for curve in self.curves[1:])

    @property
    def value_curve(self) -> Curve:
        """The curve of the value itself: each group is off in proportion to its part of the variance."""
        variance_parts = [curve.variance / size for curve, size in zip(self.curves, self.sizes, strict=True)]
        total_variance = sum(variance_parts)
        if total_variance == 0:
            return Curve(self.value, 0.0, 0.0, 0.0)
        signed_parts = [part / total_variance * sign for part, sign in zip(variance_parts, (1, -1), strict=False)]
        slope = sum(t * c.slope / s for t, c, s in zip(signed_parts, self.curves, self.sizes, strict=True))
        bend = sum(t * t * c.bend / s for t, c, s in zip(signed_parts, self.curves, self.sizes, strict=True))
        return Curve(self.value, total_variance, slope, bend)


def _wald_excluded(curves: Curves, null: float, n: float, z: float) -> float:
    """How often the Wald interval excludes the null value, with n answers in the first group."""
    value_curve = curves.value_curve
    gap = value_curve.value - null
    if value_curve.variance == 0:
        return float(gap != 0)
    k = z**2 / n
    # (x + gap)² = k (variance + slope x + bend x²), a quadratic in the distance x of the estimate from the truth
    a, b, c = 1 - k * value_curve.bend, 2 * gap - k * value_curve.slope, gap**2 - k * value_curve.variance
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    estimate_error = math.sqrt(value_curve.variance / n)
    low, high = (-b - root) / (2 * a), (-b + root) / (2 * a)
    accepted = scipy.stats.norm.cdf(high / estimate_error) - scipy.stats.norm.cdf(low / estimate_error)
    return float(1 - accepted)


@dataclass(frozen=True)
class Exclusion:
    """How often the printed interval of a value excludes another one.

    Parameters
    ----------
    chance : callable
        For many respondents.
    few : callable or None
        For fewer than `many`, by drawn surveys; None where `chance` serves these too.
    exact : bool
        Whether `chance` is exact; otherwise it takes the estimate as normal.
    many : int
        With so many respondents the estimate may be taken as normal.
    off : float
        How far `few` may be off.
    tried : int
        How many numbers of respondents can be tried in a second or two.
    """

    chance: Chance
    few: Callable[[int], float] | None = None
    exact: bool = False
    many: int = _MANY
    off: float = 0.07
    tried: int = 20_000

    def rests_on(self, n: float) -> str:
        """What the chance with n respondents rests on; empty where it is exact."""
        if self.is_drawn(n):
            source = "corrected by" if self.exact else "the share of"
            return f"the power is {source} {SURVEYS} drawn surveys, so it is right within about ± {self.off:g}"
        return "" if self.exact else "the power takes the estimate as normal; naysay simulate shows how good that is"

    def is_drawn(self, n: float) -> bool:
        """Whether the chance with n respondents comes from drawn surveys."""
        return self.few is not None and n < self.many

    def at(self, n: float) -> float:
        """The chance with n respondents."""
        if self.few is not None and self.is_drawn(n):
            return self.few(math.floor(n))
        return float(self.chance(np.array([n]))[0])

    def enough(self, n: int, power: float) -> int:
        """As many respondents as reach the power, from the n that `chance` asks for upwards."""
        z = float(scipy.special.ndtri(0.975))
        while self.is_drawn(n) and (reached := self.at(n)) < power:
            more = (z + scipy.special.ndtri(power)) / max(z + float(scipy.special.ndtri(reached)), 1.0)
            n = min(max(n + 1, math.ceil(n * more**2)), self.many)
        return n


def exclusion(design: Answerable, design_variance: Variance, place: int, null: float, confidence: float) -> Exclusion:
    """How often the printed interval of the value at `place` excludes the null value."""
    z = _quantile(confidence)
    has_samples = design.structure.finer or design.offer.assigned_by == "researcher"
    answer_count = binomial_count(design, design_variance, place)
    if answer_count is not None:
        surplus_chance = None
        if answer_count.likelihood and len(design.categories) > 2:  # its interval is extended to hold the estimate
            surplus_chance = less_excluded(design, design_variance, place, null, confidence)
        return Exclusion(
            lambda n: answer_count.exclusion_chance(null, n, z),
            None
            if surplus_chance is None
            else lambda n: float(answer_count.exclusion_chance(null, np.array([float(n)]), z)[0]) - surplus_chance(n),
            exact=True,
            off=0.03,
            tried=2_000 if answer_count.file else 20_000,
        )
    drawn_exclusion = simulated_exclusion(design, design_variance, place, null, confidence)
    if has_samples:
        curves = Curves((Curve.of(design, design_variance, place),), (1.0,))
        return Exclusion(
            lambda n: np.array([_wald_excluded(curves, null, people, z) for people in n.tolist()]),
            drawn_exclusion,
        )
    score = normal_score(design, design_variance, place, null)
    return Exclusion(lambda n: score.exclusion_chance(null, n, z), drawn_exclusion)


def _quantile(confidence: float) -> float:
    return float(scipy.special.ndtri(0.5 + _checks.confidence(confidence) / 2))


def power(
    design: Answerable,
    proportions: ArrayLike,
    *,
    n: float,
    null: float,
    category: Label | None = None,
    confidence: float = 0.95,
    **assumed: Any,
) -> float:
    """How often the interval of a proportion will exclude a null value.

    Parameters
    ----------
    design : Design, Levels or Samples
    proportions : (t,) float
        The assumed proportions of the population.
    n : int
        Respondents who answer.
    null : float
        The value from which the proportion shall be distinguished.
    category : label, optional
        The category of the proportion. Needed if there are more than two; of two, it is the first, sensitive one.
    confidence : float
        Confidence of the interval; the test has a size of about 1 - confidence.
    **assumed
        As in `variance`: estimator, preferences, target.

    Returns
    -------
    float
        Exact for yes-or-no designs and others whose intervals rest on one count, also in a file, whose people are whole
        and as close to the proportions as possible. Where fewer than 200 people answer and such a design has three or
        more categories, drawn surveys mend the power of a likelihood, within about 0.03. Elsewhere it is the share
        of 200 drawn surveys where fewer than 200 people answer; beyond, the estimate is taken as normal.

    Raises
    ------
    DataError
        A null value that lies outside [0, 1] or equals the assumed proportion; anything that `variance` refuses.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> round(planning.power(designs.warner(p=0.7), (0.1, 0.9), n=4_377, null=0.05), 3)
    0.803
    """
    design_variance = variance(design, proportions, **assumed)
    category_place = design_variance.place(category)
    null_share = share(null, what="null")
    if design_variance.values[category_place] == null_share:
        raise DataError(
            "power is for a difference; the assumed proportion "
            f"of {_checks.label(design_variance.names[category_place])!r} is the null value, {null:g}"
        )
    return exclusion(design, design_variance, category_place, null_share, confidence).at(respondents(n))


def difference_power(
    design: Answerable,
    first: ArrayLike,
    second: ArrayLike,
    *,
    n: tuple[float, float],
    category: Label | None = None,
    confidence: float = 0.95,
    other: Answerable | None = None,
    **assumed: Any,
) -> float:
    """How often the interval of the difference between two groups will exclude zero.

    Parameters
    ----------
    design : Design, Levels or Samples
    first, second : (t,) float
        The assumed proportions of the two groups.
    n : (int, int)
        Respondents who answer in each group.
    category, confidence
        As in `power`.
    other : Design or Levels, optional
        The design of the second group, if it differs.
    **assumed
        As in `variance`.

    Returns
    -------
    float

    Raises
    ------
    DataError
        Equal proportions, which nothing tells apart; anything that `variance` refuses.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> round(planning.difference_power(designs.warner(p=0.8), (0.1, 0.9), (0.2, 0.8), n=(895, 895)), 3)
    0.8
    """
    if np.shape(n) != (2,):
        raise DataError(f"n must be the respondents of two groups, such as (500, 500); got {n!r}")
    first_n, second_n = map(respondents, n)
    return two_groups(
        [(design, first), (other or design, second)], (1.0, second_n / first_n), category, confidence, **assumed
    ).at(first_n)


def two_groups(
    groups: Sequence[tuple[Answerable, ArrayLike]],
    sizes: tuple[float, float],
    category: Label | None,
    confidence: float,
    **assumed: Any,
) -> Exclusion:
    """How often the interval of the difference in a category between two groups, each with its design, excludes 0."""
    z, group_curves, group_counts, groups_to_draw = _quantile(confidence), [], list[BinomialCount](), []
    for design, proportions in groups:
        design_variance = variance(design, proportions, **assumed)
        category_place = design_variance.place(category)
        group_curves.append(Curve.of(design, design_variance, category_place))
        groups_to_draw.append((design, design_variance, category_place))
        answer_count = binomial_count(design, design_variance, category_place)
        if (
            answer_count is not None
            and not answer_count.file
            and (len(design.categories) == 2 or design_variance.ask.averages)
        ):
            group_counts.append(answer_count)
    both_curves = Curves(tuple(group_curves), sizes)
    if both_curves.value == 0:
        raise DataError(
            f"no number of respondents tells two equal proportions apart; both groups have {group_curves[0].value:g}"
        )

    def people(n: float) -> tuple[int, int]:
        return math.floor(n), math.ceil(n * sizes[1] - 1e-9)

    def exclusion_chance(n: float) -> float:
        exact = (
            difference_excluded((group_counts[0], group_counts[1]), people(n), z) if len(group_counts) == 2 else None
        )
        return _wald_excluded(both_curves, 0.0, n, z) if exact is None else exact

    def chance(n: Floats) -> Floats:
        return np.array([exclusion_chance(first_n) for first_n in n.tolist()])

    if len(group_counts) == 2:
        return Exclusion(chance, exact=True, tried=_TRIED_OF_TWO)
    pair_exclusion = difference_simulated(groups_to_draw, z)
    normal_from = math.ceil(
        max(
            [
                _MANY / min(sizes),
                *(
                    _far(design_variance, category_place, size)
                    for (_, design_variance, category_place), size in zip(groups_to_draw, sizes, strict=True)
                ),
            ]
        )
    )
    return Exclusion(
        chance,
        None if pair_exclusion is None else lambda n: pair_exclusion(people(n)),
        many=min(normal_from, _MOST_DRAWN),
        tried=_TRIED_OF_TWO,
    )


def _far(design_variance: Variance, place: int, size: float) -> float:
    """From how many respondents of the first group on a likelihood is four standard errors away from 0 and 1."""
    value = float(design_variance.values[place])
    room = min(value, 1 - value)
    if design_variance.ask.averages:
        return 0.0
    return _MOST_DRAWN if room <= 0 else 16 * float(design_variance.each[place]) / room**2 / size


def checked_power(power: float, confidence: float) -> float:
    """A target for power: above the size of the test and below one."""
    test_size = 1 - _checks.confidence(confidence)
    must_sentence = (
        f"power must lie between {test_size:.4g}, what a test of this confidence finds where nothing is, and 1, which "
        "no number of respondents reaches"
    )
    return number(power, lambda target_power: test_size < target_power < 1, must=must_sentence)


MOST = 10**10
"""A target that needs more respondents than this is out of reach: there are not that many people."""

_FEW = 400  # up to so many at least are tried, since whole counts matter most there


def standard_error(design: Answerable, proportions: ArrayLike, *, n: float, **assumed: Any) -> NDArray[np.float64]:
    """Standard errors of the estimated proportions with n answers, (t,).

    sqrt(V_jj / n), with V from `variance`.

    Parameters
    ----------
    design : Design, Levels or Samples
    proportions : (t,) float
        The assumed proportions of the population.
    n : int
        Respondents who answer.
    **assumed
        As in `variance`: estimator, preferences, target.

    Raises
    ------
    DataError
        Fewer than one respondent; anything that `variance` refuses.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> planning.standard_error(designs.warner(p=0.7), (0.1, 0.9), n=1_000).round(4)
    array([0.0374, 0.0374])
    """
    return variance(design, proportions, **assumed).standard_errors(n)


def dependable_level(
    design: Answerable, proportions: ArrayLike, *, n: float, within: float, **assumed: Any
) -> NDArray[np.float64]:
    """The chance that each estimated proportion lies within a distance of the truth, (t,).

    2 Φ(within / SE) - 1, by the normal law.

    Parameters
    ----------
    design : Design, Levels or Samples
    proportions : (t,) float
        The assumed proportions of the population.
    n : int
        Respondents who answer.
    within : float
        The distance, a share such as 0.03.
    **assumed
        As in `variance`: estimator, preferences, target.

    Raises
    ------
    DataError
        A distance that is not above 0; anything that `variance` refuses.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> planning.dependable_level(designs.negative(("a", "b", "c")), (0.5, 0.3, 0.2), n=1_000, within=0.05).round(2)
    array([0.93, 0.9 , 0.89])

    Source: Bao, Luo & Lu 2014 (dependable level); Liu, Peng & Tang 2015 (by the central limit theorem).
    """
    if not within > 0:
        raise DataError(f"within must be a distance above 0, such as 0.03; got {within!r}")
    return np.asarray(scipy.special.erf(within / standard_error(design, proportions, n=n, **assumed) / math.sqrt(2)))


def sample_size(
    design: Answerable,
    proportions: ArrayLike,
    *,
    standard_error: float | None = None,
    null: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    category: Label | None = None,
    **assumed: Any,
) -> int:
    """The smallest number of answers for a standard error, or for the power to reject a null value.

    n = V_jj / SE², rounded up. For power it is the least n from which on the survey reaches `power`: counts are whole,
    so one respondent more may tell a little less.

    Parameters
    ----------
    design : Design, Levels or Samples
    proportions : (t,) float
        The assumed proportions of the population.
    standard_error : float, optional
        The standard error to reach; gives the number of respondents.

        Of `category`, or of every category if none is named.
    null : float, optional
        A value from which to distinguish the proportion.

        Instead of a standard error.
    power : float
        How often the test shall detect the difference.

        With `null`.
    confidence : float
        Confidence of intervals; a test has size 1 - confidence.

        With `null`: of the interval that excludes it.
    category : label, optional
        The category whose proportion counts; of two, by default the first.

        With `null` it is needed if there are more than two categories.
    **assumed
        As in `variance`: estimator, preferences, target.

    Returns
    -------
    int

    Raises
    ------
    DataError
        A target that no number of respondents reaches (the message gives the reason); no target, or both.
    NotEstimable
        A design from which the proportions cannot be estimated.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> planning.sample_size(designs.warner(p=0.7), (0.1, 0.9), standard_error=0.02)
    3507
    >>> planning.sample_size(designs.warner(p=0.7), (0.1, 0.9), null=0.05, power=0.8)
    4344
    """
    if (standard_error is None) == (null is None):
        raise DataError("give either standard_error= or null=: what shall the sample size reach?")
    design_variance = variance(design, proportions, **assumed)
    if standard_error is not None:
        return people_for(design_variance, standard_error, category)
    category_place = design_variance.place(category)
    category_name = _checks.label(design_variance.names[category_place])
    true_value = float(design_variance.values[category_place])
    if true_value == null:
        raise DataError(
            f"no number of respondents tells {true_value:g} from {null:g}: the assumed proportion "
            f"of {category_name!r} is the null value"
        )
    null_share, wanted_power = share(null, what="null"), checked_power(power, confidence)
    far_sentence = f"{true_value:g} lies only {abs(true_value - null_share):.3g} from {null_share:g}"
    test = exclusion(design, design_variance, category_place, null_share, confidence)
    return test.enough(_least(test, wanted_power, far=far_sentence), wanted_power)


def people_for(design_variance: Variance, standard_error: float, category: Label | None = None) -> int:
    """The smallest number of answers whose standard error is at most `wanted_error`, for one category or for all."""
    wanted_error = checked_error(standard_error)
    person_variance = float(
        design_variance.each[: design_variance.categories].max()
        if category is None
        else design_variance.each[design_variance.place(category)]
    )
    needed_people = person_variance / wanted_error**2
    if needed_people > MOST:
        raise DataError(
            f"a standard error of {wanted_error:g} needs {needed_people:.3g} respondents, more than there are people; "
            f"one respondent has a standard deviation of {math.sqrt(person_variance):.4g} under this design, so choose "
            "one that tells more, or a larger standard error"
        )
    return max(1, math.ceil(needed_people - 1e-9))


def checked_error(standard_error: float) -> float:
    """A target for the standard error of a share: above 0 and below 1."""
    hint = " (no number of respondents makes an estimate exact)"
    wanted_error = positive(standard_error, what="standard_error", hint=hint)
    if wanted_error >= 1:
        raise DataError(
            f"standard_error must be below 1, because it is that of a share; got {wanted_error:g} "
            f"(for {wanted_error:g} percentage points write {wanted_error / 100:g})"
        )
    return wanted_error


def difference_sample_size(
    design: Answerable,
    first: ArrayLike,
    second: ArrayLike,
    *,
    power: float = 0.8,
    confidence: float = 0.95,
    category: Label | None = None,
    ratio: float = 1.0,
    other: Answerable | None = None,
    **assumed: Any,
) -> tuple[int, int]:
    """The smallest number of answers in two groups that detects their difference with this power.

    Parameters
    ----------
    design : Design, Levels or Samples
    first, second : (t,) float
        The assumed proportions of the two groups.
    power, confidence, category
        As in `sample_size`.
    ratio : float
        Respondents of the second group per respondent of the first.
    other : Design or Levels, optional
        The design of the second group, if it differs.
    **assumed
        As in `variance`.

    Returns
    -------
    (int, int)

    Raises
    ------
    DataError
        Equal proportions, which no number of respondents tells apart; anything that `sample_size` refuses.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> planning.difference_sample_size(designs.warner(p=0.8), (0.1, 0.9), (0.2, 0.8), power=0.8)
    (894, 894)
    """
    sizes = (1.0, positive(ratio, what="ratio"))
    wanted_power = checked_power(power, confidence)
    test = two_groups([(design, first), (other or design, second)], sizes, category, confidence, **assumed)
    n = test.enough(_least(test, wanted_power, far="the groups differ too little"), wanted_power)
    return n, math.ceil(n * ratio)


@dataclass(frozen=True)
class Lead:
    """A lead that a survey shall show, with normal draws around the true shares, as in `estimate.ranks`.

    Parameters
    ----------
    ahead : (t, t) float
        How far the first of two is ahead of the second, less the margin.
    errors, deviations : (t, t), (draws, t) float
        Of one respondent: standard errors of differences, and deviations from the truth.
    critical : (t,) float
    leader : int
    """

    ahead: Floats
    errors: Floats
    deviations: Floats
    critical: Floats
    leader: int

    @classmethod
    def of(cls, design_variance: Variance, margin: float, confidence: float) -> Lead:
        """The lead of the largest assumed share."""
        t = design_variance.categories
        shares, covariance = design_variance.values[:t], design_variance.covariance[:t, :t]
        leader, runner_up = np.argsort(-shares, kind="stable")[:2].tolist()
        if not 0 <= margin < 1:
            raise DataError(f"the margin of a lead must be at least 0 and below 1; got {margin!r} (3 points are 0.03)")
        true_lead = float(shares[leader] - shares[runner_up])
        if true_lead <= margin + _MARGIN:
            names = [_checks.label(design_variance.names[place]) for place in (leader, runner_up)]
            raise DataError(
                f"no number of respondents shows a lead of more than {margin:g}: the assumed shares of {names[0]!r} "
                f"and {names[1]!r} differ by {true_lead:.4g}; assume a larger lead, or ask for a smaller one"
            )
        deviations, errors = normal_draws(covariance, np.random.default_rng(20)), difference_errors(covariance)
        critical = critical_values(deviations, errors, _checks.confidence(confidence)).leader
        return cls(shares[:, None] - shares - margin, errors, deviations, critical, leader)

    def at(self, n: float) -> float:
        """How often the set of the leader holds the true leader alone."""
        is_alone = np.ones(len(self.deviations), dtype=np.bool_)
        for place in range(len(self.critical)):
            ahead = self.ahead[:, place] + (self.deviations - self.deviations[:, [place]]) / math.sqrt(n)
            ratios = tie_ratios(ahead, self.errors[:, place] / math.sqrt(n), n)
            is_alone &= (ratios > self.critical[place]).any(axis=1) == (place != self.leader)
        return float(is_alone.mean())


def lead_power(
    design: Answerable,
    proportions: ArrayLike,
    *,
    n: float,
    margin: float = 0.0,
    confidence: float = 0.95,
    **assumed: Any,
) -> float:
    """How often a survey will show who leads: the confidence set of the leader (`estimate.ranks`) holds one category.

    Parameters
    ----------
    design : Design, Levels or Samples
    proportions : (t,) float
        The assumed proportions of the population; the largest leads.
    n : int
        Respondents who answer.
    margin : float
        Show that it leads by more than this, such as 0.03 for 3 points.
    confidence : float
        Of the set of the leader.
    **assumed
        As in `variance`: estimator, preferences, target.

    Raises
    ------
    DataError
        Proportions whose lead is not larger than the margin; anything that `variance` refuses.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> ballot = designs.negative(("Ada", "Ben", "Cleo", "Dan"))
    >>> round(planning.lead_power(ballot, (0.4, 0.31, 0.2, 0.09), n=2_000), 2)
    0.48
    """
    return Lead.of(variance(design, proportions, **assumed), margin, confidence).at(respondents(n))


def lead_sample_size(
    design: Answerable,
    proportions: ArrayLike,
    *,
    margin: float = 0.0,
    power: float = 0.8,
    confidence: float = 0.95,
    **assumed: Any,
) -> int:
    """The smallest number of answers that shows who leads with this power; see `lead_power`.

    Parameters
    ----------
    design, proportions, margin, confidence, **assumed
        As in `lead_power`.
    power : float
        How often the set of the leader shall hold the true leader alone.

    Raises
    ------
    DataError
        Anything that `lead_power` refuses.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> ballot = designs.negative(("Ada", "Ben", "Cleo", "Dan"))
    >>> planning.lead_sample_size(ballot, (0.4, 0.31, 0.2, 0.09), margin=0.03)
    9277
    """
    lead, wanted_power = Lead.of(variance(design, proportions, **assumed), margin, confidence), power
    checked_power(wanted_power, confidence)
    enough = 2
    while lead.at(enough) < wanted_power:
        enough *= 2
        if enough > MOST:
            raise DataError(f"a power of {wanted_power:g} needs more than {MOST:,} respondents: the lead is too small")
    return 1 + bisect_left(range(1, enough), True, key=lambda n: lead.at(n) >= wanted_power)


def _least(test: Exclusion, power: float, *, far: str) -> int:
    """The least n from which on the power is reached; counts are whole, so power does not rise with every respondent.

    The number is doubled until it is enough, and then found by bisection; numbers around it are tried.
    """
    exclusion_chance, tried_count = test.chance, test.tried

    def enough(n: int) -> bool:
        return bool(exclusion_chance(np.array([float(n)]))[0] >= power)

    doubled_size = 2
    while not enough(doubled_size):
        doubled_size *= 2
        if doubled_size > MOST:
            raise DataError(f"a power of {power:g} needs more respondents than there are people: {far}")
    low_size, high_size = doubled_size // 2 + 1, max(4 * doubled_size, _FEW)
    if high_size - low_size > tried_count:
        about = low_size + bisect_left(range(low_size, doubled_size), True, key=enough)
        low_size, high_size = max(2, about - tried_count // 2), about + tried_count // 2
    while True:
        tried_sizes = np.arange(low_size, high_size + 1)
        failing_sizes = tried_sizes[exclusion_chance(tried_sizes.astype(float)) < power]
        if not len(failing_sizes):
            return low_size
        if failing_sizes[-1] < high_size:
            return int(failing_sizes[-1]) + 1
        low_size, high_size = high_size, high_size + tried_count


def detectable(design: Answerable, *, n: float, confidence: float = 0.95) -> float:
    """The least estimated share that shows that a category exists: z_{1-α/t} √(q*(1 - q*)/n) / (p* - q*).

    If nobody has a category, its estimate exceeds this with a chance of at most α/t. So with a chance of at least 1 - α
    no category out of all t appears by noise alone.

    Parameters
    ----------
    design : Design
        A design with a finite ε for any number of categories: k-ary, subset selection, affine or unary.
    n : int
        Respondents who answer.
    confidence : float
        1 - α, for all categories together.

    Raises
    ------
    DataError
        Another design; fewer than one respondent.

    Examples
    --------
    >>> from naysay import designs
    >>> [round(detectable(designs.frequency(1024, epsilon=1), n=n), 4) for n in (10_000, 1_000_000)]
    [0.0756, 0.0076]
    """
    even_mean = design.structure.even_mean if isinstance(design, Design) else None
    if even_mean is None or not (even_mean[0] > 0 and 0 < even_mean[1] < 1):
        raise DataError("a least share is known for k_ary, subset_selection, affine and unary designs with a finite ε")
    alpha, q = even_mean
    tail = (1 - _checks.confidence(confidence)) / max(len(design.categories), 1)
    return float(-scipy.special.ndtri(tail) * np.sqrt(q * (1 - q) / respondents(n)) / alpha)


def standing_out(fit: Estimate, *, confidence: float = 0.95) -> NDArray[np.bool_]:
    """Which categories exist for sure, (t,): their estimates exceed the least share that stands out of the noise.

    Parameters
    ----------
    fit : Estimate
        Unbiased, such as from `estimate.moments`.
    confidence : float
        For all categories together.

    Raises
    ------
    DataError
        A likelihood estimate, or a design without such a least share.

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import designs, estimate
    >>> survey, rng = designs.frequency(1024, epsilon=2), np.random.default_rng(4)
    >>> said = survey.randomize(np.resize([3, 7, 7, 7], 20_000), rng=rng)
    >>> np.flatnonzero(standing_out(estimate.moments(survey, survey.tally(said))))
    array([3, 7])
    """
    if fit.maximum is not None:
        raise DataError("a likelihood estimate is never below 0, so that noise moves it up; use estimate.moments")
    least = detectable(fit.design.channel(), n=fit.tally.effective, confidence=confidence)
    return np.asarray(fit.proportions > least)
