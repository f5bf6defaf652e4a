"""How many people are unique in the population, as a model says from a sample: the result that all models share.

People unique in the population, by the Pitman model of a partition (Hoshino 2001); α = 0 is Ewens' model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, expit, gammaln, poch, polygamma

from naysay.errors import DataError
from naysay.microdata.population.theta import FEWEST, sampling_fraction
from naysay.show import number

NOWHERE = (math.nan, math.nan)


@dataclass(frozen=True, eq=False)
class Sample:
    """How often each size of an anonymity set occurs in a file, and the population that it is a sample of.

    Parameters
    ----------
    sizes : (distinct,) int
        Rising sizes, from 1.
    cells : (distinct,) int
        How many anonymity sets have each.
    population : float
        People.
    """

    sizes: NDArray[np.int64]
    cells: NDArray[np.int64]
    population: float

    @classmethod
    def of(cls, sizes: ArrayLike, population: float) -> Sample:
        """From the size of each anonymity set.

        Raises
        ------
        DataError
            Sizes that are no whole numbers above zero, a population smaller than the file.
        """
        set_sizes = np.asarray(sizes)
        if set_sizes.ndim != 1 or set_sizes.dtype.kind not in "iu" or not set_sizes.size or set_sizes.min() < 1:
            raise DataError("sizes of anonymity sets are whole numbers above zero, one a set, and at least one set")
        values, cells = np.unique(set_sizes.astype(np.int64), return_counts=True)
        sampling_fraction(int((values * cells).sum()), population)
        return cls(values, cells.astype(np.int64), float(population))

    @property
    def records(self) -> int:
        """Records n."""
        return int((self.sizes * self.cells).sum())

    @property
    def sets(self) -> int:
        """Anonymity sets u."""
        return int(self.cells.sum())

    @property
    def fraction(self) -> float:
        """Share π of the population that is in the file."""
        return self.records / self.population

    def of_size(self, size: int) -> int:
        """How many sets have a size."""
        return int(self.cells[self.sizes == size].sum())

    @property
    def reason(self) -> str:
        """Why no model can answer; empty if they may."""
        if self.fraction == 1:
            return ""
        if self.sets == self.records:
            return "all records are unique: nothing tells how often people are alike"
        if self.sets == 1:
            return "all records are alike"
        least = min(self.of_size(1), self.of_size(2))
        if least < FEWEST:
            return f"fewer than {FEWEST} unique records, or fewer than {FEWEST} pairs"
        return ""


@dataclass(frozen=True)
class Uniques:
    """How many people are unique in the population on some keys, as a model estimates it.

    Parameters
    ----------
    model, assumption : str
        Its name, and what it takes for granted.
    people : float
        U, people who share their keys with nobody in the population; NaN where the model has no answer.
    interval : (float, float)
        Of the given confidence; NaN where there is none.
    sample : Sample
    parameters : {name: number}
        Of the fitted model.
    reason : str
        Why the number is withheld; empty if it is not.
    without : str
        Why there is no interval; empty if there is one.
    confidence : float
    """

    model: str
    assumption: str
    people: float
    interval: tuple[float, float]
    sample: Sample
    parameters: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    without: str = ""
    confidence: float = 0.95

    @property
    def withheld(self) -> bool:
        """Whether tables leave the number out."""
        return bool(self.reason)

    @property
    def share(self) -> float:
        """U/N, the share of the population that is unique."""
        return self.people / self.sample.population

    @property
    def right(self) -> float:
        """πU/n₁: how many of the records that are unique in the file are unique in the population; NaN without any."""
        unique = self.sample.of_size(1)
        return self.sample.fraction * self.people / unique if unique else math.nan

    def fields(self) -> dict[str, Any]:
        """The fields of a JSON object; undefined numbers are None."""
        return {
            "people": number(self.people),
            "people_interval": [number(bound) for bound in self.interval],
            "share": number(self.share),
            "unique_right": number(self.right),
            "withheld": self.reason or None,
            "interval_missing": self.without or None,
            "parameters": {name: number(value) for name, value in self.parameters.items()},
        }


ASSUMPTION = "people fall into classes as in Pitman's random partition, and all were equally likely to be in the file"

_EWENS = 1e-6  # α below this is fitted as zero: θ/α would lose its digits
Pair = tuple[float, float]


def pitman(sample: Sample, *, confidence: float = 0.95) -> Uniques:
    """The number of people unique in the population, with an interval.

    log L = Σ_{i<u} log(θ + iα) - Σ_{i<n} log(θ + i) + Σ_j n_j Σ_{i<j} log(i - α)

    The interval is on the scale of log U. Its variance is that of U given the file, plus what not knowing θ and α adds
    (observed information, carried to the mean of U given the file).

    Examples
    --------
    >>> import numpy as np
    >>> found = pitman(Sample.of(np.repeat([1, 2, 3, 9], [300, 80, 30, 20]), 10_000))
    >>> round(found.people), [round(bound) for bound in found.interval]
    (1240, [878, 1751])

    Notes
    -----
    Hoshino (2001), Applying Pitman's sampling formula to microdata disclosure risk assessment, Journal of Official
    Statistics 17(4), 499-520. U is the exact mean; the textbook's N^α Γ(θ+1)/Γ(θ+α) is its limit.
    """
    if sample.fraction == 1:
        unique_records = float(sample.of_size(1))
        return Uniques(
            "pitman", ASSUMPTION, unique_records, (unique_records, unique_records), sample, confidence=confidence
        )
    if sample.sets in (1, sample.records):
        no_interval = "there is no estimate"
        return Uniques("pitman", ASSUMPTION, math.nan, NOWHERE, sample, {}, sample.reason, no_interval, confidence)
    theta, alpha = _fit_parameters(sample)
    people = expected_uniques(theta, alpha, sample.population)
    half_width = float(scipy.stats.norm.ppf((1 + confidence) / 2)) * _relative_error(sample, theta, alpha)
    bounds = (people * math.exp(-half_width), people * math.exp(half_width))
    parameters = {"theta": theta, "alpha": alpha}
    return Uniques("pitman", ASSUMPTION, people, bounds, sample, parameters, sample.reason, "", confidence)


def expected_uniques(theta: float, alpha: float, population: float) -> float:
    """E U = N Γ(θ+1) Γ(θ+α+N-1) / (Γ(θ+α) Γ(θ+N)).

    Examples
    --------
    >>> round(expected_uniques(50, 0.3, 400), 1)
    86.2
    """
    return float(population * poch(theta + alpha, 1 - alpha) * poch(theta + population, alpha - 1))


def _fit_parameters(sample: Sample) -> Pair:
    """θ and α of the largest likelihood."""
    starts = product((-1.0, 1.0), (-2.0, 1.0))
    scale = math.log(sample.sets)
    optima = [
        scipy.optimize.minimize(_negative_likelihood, (scale + shift, start), args=(sample,), jac=True, method="BFGS")
        for shift, start in starts
    ]
    best = min(optima, key=lambda optimum: optimum.fun)
    theta, alpha = math.exp(best.x[0]), float(expit(best.x[1]))
    line = scipy.optimize.minimize_scalar(
        lambda log: -_log_likelihood(math.exp(log), 0.0, sample), bounds=(scale - 12, scale + 12), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    if alpha < _EWENS or line.fun <= best.fun:
        return math.exp(line.x), 0.0
    return _newton_steps(sample, theta, alpha)


def _newton_steps(sample: Sample, theta: float, alpha: float) -> Pair:
    """A few of Newton's steps: BFGS stops some digits too early."""
    for _ in range(20):
        score, curvature = _score(theta, alpha, sample), _curvature(theta, alpha, sample)
        step = np.linalg.solve(curvature, -score) if np.linalg.det(curvature) > 0 else np.zeros(2)
        after = theta + step[0], alpha + step[1]
        if after[0] <= 0 or not 0 < after[1] < 1 or np.abs(step / (theta, alpha)).max() < 1e-13:
            break
        theta, alpha = map(float, after)
    return theta, alpha


def _log_likelihood(theta: float, alpha: float, sample: Sample) -> float:
    u, n = sample.sets, sample.records
    rising = (u - 1) * math.log(theta)
    if alpha:
        rising = (u - 1) * math.log(alpha) + gammaln(theta / alpha + u) - gammaln(theta / alpha + 1)
    within = gammaln(sample.sizes - alpha) - gammaln(1 - alpha)
    return float(rising - gammaln(theta + n) + gammaln(theta + 1) + (sample.cells * within).sum())


def _score(theta: float, alpha: float, sample: Sample) -> NDArray[np.float64]:
    """Derivatives of log L by θ and α, α > 0."""
    u, n, x = sample.sets, sample.records, theta / alpha
    rise = digamma(x + u) - digamma(x + 1)
    within = (sample.cells * (digamma(sample.sizes - alpha) - digamma(1 - alpha))).sum()
    by_theta = rise / alpha - digamma(theta + n) + digamma(theta + 1)
    return np.array([by_theta, (u - 1) / alpha - x / alpha * rise - within])


def _curvature(theta: float, alpha: float, sample: Sample) -> NDArray[np.float64]:
    """Second derivatives of log L by θ and α, α > 0."""
    u, n, x = sample.sets, sample.records, theta / alpha
    rise, bend = digamma(x + u) - digamma(x + 1), polygamma(1, x + u) - polygamma(1, x + 1)
    within = (sample.cells * (polygamma(1, sample.sizes - alpha) - polygamma(1, 1 - alpha))).sum()
    twice = bend / alpha**2 - polygamma(1, theta + n) + polygamma(1, theta + 1)
    mixed = -rise / alpha**2 - x / alpha**2 * bend
    last = -(u - 1) / alpha**2 + 2 * x / alpha**2 * rise + x**2 / alpha**2 * bend + within
    return np.array([[twice, mixed], [mixed, last]])


def _negative_likelihood(place: NDArray[np.float64], sample: Sample) -> tuple[float, NDArray[np.float64]]:
    """-log L and its derivatives by log θ and logit α."""
    theta, alpha = math.exp(min(place[0], 700)), float(np.clip(expit(place[1]), 1e-9, 1 - 1e-9))
    scale = np.array([theta, alpha * (1 - alpha)])
    return -_log_likelihood(theta, alpha, sample), -_score(theta, alpha, sample) * scale


def _relative_error(sample: Sample, theta: float, alpha: float) -> float:
    """The standard error of U, given the file, over its mean."""
    mean, variance = _mean_and_variance(sample, theta, alpha)
    step = 1e-4
    if alpha:
        up = [(theta * (1 + step), alpha), (theta, alpha + step * alpha * (1 - alpha))]
        down = [(theta * (1 - step), alpha), (theta, alpha - step * alpha * (1 - alpha))]
        scale = np.array([theta, alpha * (1 - alpha)])  # derivatives by log θ and logit α
        information = -_curvature(theta, alpha, sample) * np.outer(scale, scale)
    else:
        up, down = [(theta * (1 + step), 0.0)], [(theta * (1 - step), 0.0)]
        u, n = sample.sets, sample.records
        bend = (u - 1) / theta**2 - polygamma(1, theta + 1) + polygamma(1, theta + n)
        information = np.array([[bend * theta**2]])
    gradient = np.array(
        [_mean_and_variance(sample, *a)[0] - _mean_and_variance(sample, *b)[0] for a, b in zip(up, down, strict=True)]
    )
    gradient /= 2 * step
    fit_variance = float(gradient @ np.linalg.solve(information, gradient))
    return math.sqrt(max(variance + fit_variance, 0.0)) / mean


def _mean_and_variance(sample: Sample, theta: float, alpha: float) -> Pair:
    """Mean and variance of U given the file: unique records that nobody joins, and new people whom nobody joins."""
    n, u, unique, people_outside = sample.records, sample.sets, sample.of_size(1), sample.population - sample.records

    def one(people: float) -> float:
        return float(poch(theta + people, alpha - 1))

    def two(people: float) -> float:
        return one(people) * float(poch(theta + people + alpha - 1, alpha - 1))

    first = (theta + u * alpha) / (theta + n)
    second = (theta + (u + 1) * alpha) / (theta + n + 1)
    last, both = one(sample.population), two(sample.population)
    mean = unique * last / one(n) + people_outside * first * last / one(n + 1)
    pairs = unique * (unique - 1) * both / two(n) + people_outside * (people_outside - 1) * first * second * both / two(
        n + 2
    )
    pairs += 2 * unique * people_outside * first * both / two(n + 1)
    return mean, pairs + mean - mean**2
