"""How often the interval that `estimate` prints excludes a value.

Two answers of a yes-or-no design, and any other design whose indicators take two values, make a count: binomial, or in
a file the sum of two binomial counts, of members and of the others. There the chance is exact: the interval's ends rise
with the count, so the counts that exclude a value are those up to one number and those from another. With three or
more categories the interval of a likelihood is extended to hold its estimate, and so excludes less in a few surveys;
drawn ones tell how much. Elsewhere the printed interval is that of the score test: it holds the values c that the
estimate does not reject with the variance V(c) of the value itself. Where it ends is computed as in
`naysay.estimate.inversion`, and the estimate is taken as normal. Fewer respondents than that law is good for are drawn
and estimated: as many surveys as a plan may take time for, with a fixed seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay._values import Floats
from naysay.design import Answerable
from naysay.design.several import whole_people
from naysay.errors import DataError, NotEstimable
from naysay.estimate.fit import reliable_errors
from naysay.estimate.intervals import more_is_told, share_ends, share_within, two_values
from naysay.estimate.inversion import score_ends
from naysay.estimate.linear import linear_map
from naysay.estimate.registry import ESTIMATORS
from naysay.estimate.result import Estimate
from naysay.planning.variance import Arguments, Variance, variance_of
from naysay.tally import Part, Tally

Value = TypeVar("Value")

SURVEYS = 200
"""How many surveys are drawn where few people answer."""

_SEED = 1965
_LISTED = 2_000  # responses from which such surveys are drawn
_HALVINGS = 60
_MOST = 4_000_000  # pairs of counts of two groups
_ALL = 1_000  # so many members of a file are counted one by one; of more, those within eight standard deviations
_NEVER = 1e-12  # a chance of counts that is left out
_INSIDE = 1e-6  # a likelihood has a variance only for proportions at least this far inside [0, 1]


@dataclass(frozen=True)
class BinomialCount:
    """An estimate that is low + (high - low) · count / n, for the count of answers that name a category.

    Parameters
    ----------
    low, high : float
        The values of the indicator, low < high. Its mean is 1 over members of the category and 0 over the others.
    shares : (t,) float
        The true proportions.
    place : int
        The category's place in them.
    likelihood : bool
        Whether the estimate is cut to [0, 1].
    file : bool
        Whether people are fixed, as many of each category as is closest to the shares, and only answers are random.
    """

    low: float
    high: float
    shares: Floats
    place: int
    likelihood: bool
    file: bool = False

    @property
    def share(self) -> float:
        """The chance that an answer has the value `high`."""
        return self._chance(float(self.shares[self.place]))

    def _chance(self, mean: float) -> float:
        """The chance of `high` where the indicator has this mean."""
        return min(max((mean - self.low) / (self.high - self.low), 0.0), 1.0)

    def exclusion_chance(self, null: float, n: Floats, z: float) -> Floats:
        """The chance that the interval from n answers excludes the null value, for each n."""
        people_counts = np.floor(n)

        def ends(count: Floats) -> Floats:
            high_share = share_within(count / people_counts, self.low, self.high)
            value_width = self.high - self.low
            if self.file:
                member, other = (
                    value_width**2 * chance * (1 - chance) for chance in (self._chance(1.0), self._chance(0.0))
                )
                variance = np.array([other, member - other, 0.0])
                return np.clip(score_ends(self.low + value_width * high_share, people_counts, variance, z**2), 0.0, 1.0)
            return np.clip(self.low + value_width * share_ends(high_share, people_counts, z), 0.0, 1.0)

        least_above = _least_count(people_counts, lambda count: ends(count)[:, 0] > null)
        most_below = _least_count(people_counts, lambda count: ends(count)[:, 1] >= null) - 1
        if not self.file:
            law = scipy.stats.binom(people_counts, self.share)
            return np.asarray(law.cdf(most_below) + law.sf(least_above - 1))
        up_to = [
            self._up_to(ends, int(people))
            for ends, people in zip(np.array([most_below, least_above - 1]).T, people_counts, strict=True)
        ]
        return np.array([1 + low - high for low, high in up_to])

    def _up_to(self, counts: Floats, n: int) -> Floats:
        """The chances of at most so many answers `high` in a file of n people."""
        member_total = int(whole_people(self.shares, n)[self.place])
        member_law = scipy.stats.binom(member_total, self._chance(1.0))
        low, high = (
            member_law.support()
            if member_total < _ALL
            else member_law.mean() + np.array([-1, 1]) * (8 * member_law.std() + 1)
        )
        member_counts = np.arange(max(math.floor(low), 0), min(math.ceil(high), member_total) + 1)
        other_counts = np.clip(counts[:, None] - member_counts, -1, n - member_total)
        below = scipy.special.bdtr(np.maximum(other_counts, 0), n - member_total, self._chance(0.0))
        return np.asarray(np.where(other_counts < 0, 0.0, below) @ member_law.pmf(member_counts))

    def counts(self, n: int) -> tuple[Floats, Floats, Floats]:
        """The counts that come: their chances, the estimates, and their printed variances (NaN where none is)."""
        count_law = scipy.stats.binom(n, self.share)
        answer_counts = np.arange(count_law.ppf(_NEVER), count_law.isf(_NEVER) + 1)
        high_shares, value_width = answer_counts / n, self.high - self.low
        count_estimates = self.low + value_width * high_shares
        estimate_variances = high_shares * (1 - high_shares) * value_width**2 / max(n if self.likelihood else n - 1, 1)
        is_edge = (
            (count_estimates < 1e-9) | (count_estimates > 1 - 1e-9)
            if self.likelihood
            else (answer_counts == 0) | (answer_counts == n)
        )
        return (
            count_law.pmf(answer_counts),
            np.clip(count_estimates, 0, 1) if self.likelihood else count_estimates,
            np.where(is_edge, np.nan, estimate_variances),
        )


def _least_count(size: Floats, reached: Callable[[Floats], NDArray[np.bool_]]) -> Floats:
    """The least count from 0 to size at which a rising condition holds, for each size; size + 1 where it never does."""
    low, high = np.zeros_like(size), size + 1
    while (low < high).any():
        middle = np.floor((low + high) / 2)
        holds = reached(np.minimum(middle, size)) & (middle <= size)
        low, high = (
            np.where(~holds & (low < high), middle + 1, low),
            np.where(holds | (low >= high), np.minimum(middle, high), high),
        )
    return low


def binomial_count(design: Answerable, design_variance: Variance, place: int) -> BinomialCount | None:
    """The binomial count on which the printed interval of a value rests; None where it rests on more."""
    first_channel = next(iter(design.parts.values()))
    is_likelihood = (
        design_variance.ask.estimator.principle == "likelihood" and first_channel.structure.by_transform is None
    )
    if design.offer.several or design.structure.finer or (is_likelihood and more_is_told(first_channel)):
        return None
    channel_values = two_values(first_channel, linear_map(first_channel))
    if channel_values is None:
        return None
    low_value, high_value = sorted((float(channel_values[0][place]), float(channel_values[1][place])))
    return BinomialCount(
        low_value,
        high_value,
        design_variance.ask.proportions,
        place,
        is_likelihood,
        design_variance.ask.target == "file",
    )


@dataclass(frozen=True)
class NormalScore:
    """An estimate that is normal, with an interval by the score test.

    Parameters
    ----------
    value, variance : float
        The true value, and the variance of one respondent there.
    curve : (3,) float
        V(c), the variance of one respondent at the value c: constant, slope and curvature.
    """

    value: float
    variance: float
    curve: Floats

    def exclusion_chance(self, null: float, n: Floats, z: float) -> Floats:
        """The chance that the interval from n answers excludes the null value, for each n."""
        people_counts = np.asarray(n, dtype=float)

        def excludes(estimate: Floats, end: int) -> NDArray[np.bool_]:
            ends = np.clip(score_ends(np.clip(estimate, 0.0, 1.0), people_counts, self.curve, z**2), 0.0, 1.0)
            return np.asarray(ends[:, 0] > null if end == 0 else ends[:, 1] < null)

        estimate_error = np.sqrt(self.variance / people_counts)
        chance = np.zeros_like(people_counts)
        for end, sign in ((0, 1.0), (1, -1.0)):
            near = np.full_like(people_counts, null)
            far = self.value + sign * 40 * estimate_error + sign * abs(self.value - null)
            possible = excludes(far, end)
            for _ in range(_HALVINGS):
                middle = (near + far) / 2
                outside = excludes(middle, end)
                near, far = np.where(outside, near, middle), np.where(outside, middle, far)
            with np.errstate(divide="ignore", invalid="ignore"):
                beyond = scipy.special.ndtr(sign * (self.value - far) / estimate_error)
            certain = sign * (self.value - far) > 0
            chance += np.where(possible, np.where(estimate_error > 0, beyond, certain), 0.0)
        return chance


def normal_score(design: Answerable, design_variance: Variance, place: int, null: float) -> NormalScore:
    """The variance of a value as a curve from the true value to the null value; the others keep their mutual shares."""
    pi = design_variance.ask.proportions
    true_value, other_shares = float(design_variance.values[place]), np.delete(pi, place)
    other_shares = (
        other_shares / other_shares.sum()
        if other_shares.sum() > 0
        else np.full(len(other_shares), 1 / len(other_shares))
    )
    inside = 0.0 if design_variance.ask.averages else _INSIDE
    curve_shares = np.clip(np.linspace(true_value, null, 3), inside, 1 - inside)
    shifted_shares = (np.insert((1 - share) * other_shares, place, share) for share in curve_shares)
    curve_variances = [
        variance_of(design, design_variance.ask._replace(proportions=shares)).each[place] for shares in shifted_shares
    ]
    curvature, slope, constant = np.polyfit(curve_shares, curve_variances, 2)
    return NormalScore(true_value, float(design_variance.each[place]), np.array([constant, slope, curvature]))


def difference_excluded(groups: tuple[BinomialCount, BinomialCount], sizes: tuple[int, int], z: float) -> float | None:
    """The chance that the printed interval of the difference of two groups excludes 0; None with too many counts."""
    deviations = [(n * group.share * (1 - group.share)) ** 0.5 for group, n in zip(groups, sizes, strict=True)]
    if np.prod([15 * deviation + 10 for deviation in deviations]) > _MOST:
        return None
    (p, x, v), (q, y, w) = (group.counts(n) for group, n in zip(groups, sizes, strict=True))
    with np.errstate(invalid="ignore"):
        is_excluded = (x[:, None] - y) ** 2 > z**2 * (v[:, None] + w)
    return float(p @ is_excluded @ q)


def simulated_exclusion(
    design: Answerable, design_variance: Variance, place: int, null: float, confidence: float
) -> Callable[[int], float] | None:
    """The share of drawn surveys of n people whose interval excludes the null value; None where none can be drawn."""
    surveys = DrawnSurveys.of(design, design_variance)
    if surveys is None:
        return None

    def excludes_null(fit: Estimate) -> bool:
        low, high = fit.interval(confidence)[place]
        return not low <= null <= high

    return lambda n: float(np.mean(surveys.read_surveys(n, excludes_null, without=False)))


def less_excluded(
    design: Answerable, design_variance: Variance, place: int, null: float, confidence: float
) -> Callable[[int], float] | None:
    """How much more often the interval of moments excludes the null value than that of the likelihood, where drawn."""
    moments_variance = replace(design_variance, ask=design_variance.ask._replace(estimator=ESTIMATORS["moments"]))
    moments_exclusion, likelihood_exclusion = (
        simulated_exclusion(design, either_variance, place, null, confidence)
        for either_variance in (moments_variance, design_variance)
    )
    return (
        None
        if moments_exclusion is None or likelihood_exclusion is None
        else lambda n: moments_exclusion(n) - likelihood_exclusion(n)
    )


def difference_simulated(
    groups: Sequence[tuple[Answerable, Variance, int]], z: float
) -> Callable[[tuple[int, int]], float] | None:
    """The share of pairs of drawn surveys whose printed difference excludes 0; None where none can be drawn.

    A group whose standard error says nothing (its estimate is 0 or 1) has no interval of the difference, and tells
    nothing apart.
    """
    drawn_groups = [
        (surveys, place)
        for design, design_variance, place in groups
        if (surveys := DrawnSurveys.of(design, design_variance))
    ]
    if len(drawn_groups) < len(groups):
        return None

    def share(sizes: tuple[int, int]) -> float:
        estimates, variances = [], []
        for group_number, ((surveys, category_place), n) in enumerate(zip(drawn_groups, sizes, strict=True)):

            def share_and_variance(fit: Estimate, place: int = category_place) -> tuple[float, float]:
                return float(fit.proportions[place]), float(reliable_errors(fit)[place]) ** 2

            drawn_estimates = np.array(
                surveys.read_surveys(n, share_and_variance, without=(np.nan, np.nan), seed=_SEED + group_number)
            )
            estimates.append(drawn_estimates[:, 0])
            variances.append(drawn_estimates[:, 1])
        (x, y), (v, w) = estimates, variances
        with np.errstate(invalid="ignore"):
            return float(np.mean((x[:, None] - y) ** 2 > z**2 * (v[:, None] + w)))

    return share


@dataclass(frozen=True)
class DrawnSurveys:
    """Surveys that are drawn from a design and its assumed proportions.

    Parameters
    ----------
    design : Design, Levels or Samples
    ask : the assumptions of the plan
    codes : list of (responses, width) int
        All responses of each part.
    chances : (responses of all parts, cells) float
        P(response | cell).
    """

    design: Answerable
    ask: Arguments
    codes: list[NDArray[np.int64]]
    chances: Floats

    @classmethod
    def of(cls, design: Answerable, design_variance: Variance) -> DrawnSurveys | None:
        """None where the responses are too many to list."""
        ask, design_channels = design_variance.ask, list(design.parts.values())
        if (
            not all(channel.structure.listed for channel in design_channels)
            or sum(channel.space.size for channel in design_channels) > _LISTED
        ):
            return None
        response_codes = [channel.space.listing() for channel in design_channels]
        response_chances = [
            channel.rows(part_codes) * preference
            for channel, part_codes, preference in zip(design_channels, response_codes, ask.preferences, strict=True)
        ]
        together = np.vstack(response_chances)
        return cls(design, ask, response_codes, together / together.sum(axis=0))

    def read_surveys(
        self, n: int, read_estimate: Callable[[Estimate], Value], *, without: Value, seed: int = _SEED
    ) -> list[Value]:
        """What `read_estimate` takes from the estimate of each survey of n people; `without`, where there is none."""
        rng = np.random.default_rng(seed)
        if self.ask.target == "file":
            people = whole_people(self.ask.proportions, n)
            survey_counts = rng.multinomial(people, self.chances.T, (SURVEYS, len(people))).sum(axis=1)
        else:
            survey_counts = rng.multinomial(n, self.chances @ self.ask.proportions, SURVEYS)
        surveys, survey_places = np.unique(survey_counts, axis=0, return_inverse=True)
        values, ends = [], np.cumsum([len(part_codes) for part_codes in self.codes])[:-1]
        for counts in surveys:
            part_counts = zip(self.design.parts.items(), self.codes, np.split(counts, ends), strict=True)
            survey_tally = Tally(
                tuple(Part.of(channel, y[c > 0], level=level, count=c[c > 0]) for (level, channel), y, c in part_counts)
            )
            try:
                fit = self.ask.estimator.fit(self.design, survey_tally, target=self.ask.target)
                values.append(read_estimate(fit))
            except (DataError, NotEstimable):  # such answers give no interval
                values.append(without)
        return [values[at] for at in survey_places.ravel().tolist()]
