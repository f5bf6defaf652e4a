"""How many people are unique in the population: three models that need only the sizes of anonymity sets.

Pitman's model of a partition (Hoshino 2001), of which α = 0 is Ewens'; a shifted negative binomial law of class sizes
(Chen & Keller-McNulty 1998); and the sizes of the file taken for those of the population (Zayatz 1991).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import ClassVar, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, expit, gammaln, poch, polygamma

from naysay.errors import DataError
from naysay.microdata.keys.variables import Keys
from naysay.microdata.risk.measure import Case, OnRequest, ShareRow
from naysay.microdata.risk.theta import FEWEST, sampling_fraction
from naysay.show.result import DASH, percent

NOWHERE = (math.nan, math.nan)

ASSUMPTIONS = {
    "pitman": "people fall into classes as in Pitman's random partition, and all were equally likely to be in the file",
    "zayatz": "classes of the population are of the sizes that those of the file are, so it suits large fractions only",
    "snb": "class sizes minus one are negative binomial, and the number of classes is Haas & Stokes' estimate",
}
WITHOUT = {
    "zayatz": "its bias at small fractions is many times its error, which an interval would not show",
    "snb": "the error of the estimated number of classes is not known",
}
"""Why a model has no interval."""


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
        distinct_sizes, size_counts = np.unique(set_sizes.astype(np.int64), return_counts=True)
        sampling_fraction(int((distinct_sizes * size_counts).sum()), population)
        return cls(distinct_sizes, size_counts.astype(np.int64), float(population))

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
        least_count = min(self.of_size(1), self.of_size(2))
        if least_count < FEWEST:
            return f"fewer than {FEWEST} unique records, or fewer than {FEWEST} pairs"
        return ""


@dataclass(frozen=True)
class Uniques:
    """How many people are unique in the population on some keys, as a model estimates it.

    Parameters
    ----------
    model : str
        One of `MODELS`.
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
    people: float
    interval: tuple[float, float]
    sample: Sample
    parameters: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    without: str = ""
    confidence: float = 0.95

    @classmethod
    def counted(cls, model: str, sample: Sample, confidence: float) -> Uniques:
        """Of a file that holds everybody: no model is needed."""
        unique_people = float(sample.of_size(1))
        return cls(model, unique_people, (unique_people, unique_people), sample, confidence=confidence)

    @property
    def assumption(self) -> str:
        """What the model takes for granted."""
        return ASSUMPTIONS[self.model]

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
        unique_count = self.sample.of_size(1)
        return self.sample.fraction * self.people / unique_count if unique_count else math.nan

    def numbers(self) -> dict[str, object]:
        """The numbers under the stable names of JSON."""
        return {
            "people": self.people,
            "people_interval": self.interval,
            "share": self.share,
            "unique_right": self.right,
            "withheld": self.reason or None,
            "interval_missing": self.without or None,
            "parameters": self.parameters,
        }


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
        return Uniques.counted("pitman", sample, confidence)
    if sample.sets in (1, sample.records):
        return Uniques("pitman", math.nan, NOWHERE, sample, {}, sample.reason, "there is no estimate", confidence)
    theta, alpha = _fit_parameters(sample)
    unique_people = expected_uniques(theta, alpha, sample.population)
    half_width = float(scipy.stats.norm.ppf((1 + confidence) / 2)) * _relative_error(sample, theta, alpha)
    interval_bounds = (unique_people * math.exp(-half_width), unique_people * math.exp(half_width))
    parameters = {"theta": theta, "alpha": alpha}
    return Uniques("pitman", unique_people, interval_bounds, sample, parameters, sample.reason, "", confidence)


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
    start_points = product((-1.0, 1.0), (-2.0, 1.0))
    scale = math.log(sample.sets)
    optima = [
        scipy.optimize.minimize(
            _negative_likelihood, (scale + scale_shift, alpha_start), args=(sample,), jac=True, method="BFGS"
        )
        for scale_shift, alpha_start in start_points
    ]
    best_optimum = min(optima, key=lambda optimum: optimum.fun)
    theta, alpha = math.exp(best_optimum.x[0]), float(expit(best_optimum.x[1]))
    ewens_optimum = scipy.optimize.minimize_scalar(
        lambda log: -_log_likelihood(math.exp(log), 0.0, sample), bounds=(scale - 12, scale + 12), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    if alpha < _EWENS or ewens_optimum.fun <= best_optimum.fun:
        return math.exp(ewens_optimum.x), 0.0
    for _ in range(20):  # a few of Newton's steps: BFGS stops some digits too early
        score, curvature = _score(theta, alpha, sample), _curvature(theta, alpha, sample)
        step = np.linalg.solve(curvature, -score) if np.linalg.det(curvature) > 0 else np.zeros(2)
        next_parameters = theta + step[0], alpha + step[1]
        if next_parameters[0] <= 0 or not 0 < next_parameters[1] < 1 or np.abs(step / (theta, alpha)).max() < 1e-13:
            break
        theta, alpha = map(float, next_parameters)
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


SNB_LEAST = 0.1  # the fraction below which the number of classes is far off


def snb(sample: Sample, *, confidence: float = 0.95, among: float | None = None) -> Uniques:
    """The number of people unique in the population, U = K β^α.

    With d = (1-π)(1-β), α and β solve E n₁ = Kπ (β/(1-d))^α (1 + αd/(1-d)) and
    E n₂ = ½Kπ² α(1-β) β^α (1-d)^{-α-2} (2 - (1-α)d). K is `classes`, unless `among` gives it. Below a fraction of
    `SNB_LEAST`, K fails, and the number is withheld.

    Examples
    --------
    >>> import numpy as np
    >>> found = snb(Sample.of(np.repeat([1, 2, 3, 9], [300, 80, 30, 20]), 4_000))
    >>> round(found.people), round(found.parameters["classes"])
    (711, 1269)

    Notes
    -----
    Chen & Keller-McNulty (1998), Estimation of identification disclosure risk in microdata, Journal of Official
    Statistics 14(1), 79-95.
    """
    if sample.fraction == 1:
        return Uniques.counted("snb", sample, confidence)
    reason = sample.reason
    if not reason and sample.fraction < SNB_LEAST:
        reason = f"less than {SNB_LEAST:g} of the population is in the file: the number of classes cannot be told"
    if sample.sets in (1, sample.records):
        return Uniques("snb", math.nan, NOWHERE, sample, {}, reason, WITHOUT["snb"], confidence)
    class_count = classes(sample) if among is None else among
    solutions = [
        scipy.optimize.least_squares(
            _equation_errors, start_point, args=(sample, class_count), xtol=1e-15, ftol=1e-15, gtol=1e-15
        )
        for start_point in product((-2.0, 0.0, 2.0), (-4.0, -1.0, 1.0))
    ]
    best_solution = min(solutions, key=lambda solution: solution.cost)
    alpha, beta = math.exp(best_solution.x[0]), float(expit(best_solution.x[1]))
    is_solved = bool(np.abs(best_solution.fun).max() < 1e-6)
    if not is_solved:
        reason = reason or "no negative binomial law has so many unique records and pairs"
    parameters = {"alpha": alpha, "beta": beta, "classes": class_count}
    unique_people = class_count * beta**alpha if is_solved else math.nan
    return Uniques("snb", unique_people, NOWHERE, sample, parameters, reason, WITHOUT["snb"], confidence)


def classes(sample: Sample) -> float:
    """The number K of classes in the population, by the modified estimator of Shlosser.

    K = u + n₁ [Σ jπ²(1-π²)^{j-1} n_j / Σ (1-π)^j((1+π)^j - 1) n_j] [Σ (1-π)^j n_j / Σ jπ(1-π)^{j-1} n_j]²

    Notes
    -----
    Haas & Stokes (1998), Estimating the number of classes in a finite population, JASA 93(444), 1475-1487.
    """
    part, j, cells = sample.fraction, sample.sizes.astype(np.float64), sample.cells
    outside = (1 - part) ** j
    above = (j * part**2 * (1 - part**2) ** (j - 1) * cells).sum()
    # (1-π)^j (1+π)^j is (1-π²)^j: the power of 1 + π alone would overflow
    below = (((1 - part**2) ** j - outside) * cells).sum()
    ratio = (outside * cells).sum() / (j * part * (1 - part) ** (j - 1) * cells).sum()
    return float(sample.sets + sample.of_size(1) * above / below * ratio**2)


def _equation_errors(place: NDArray[np.float64], sample: Sample, number: float) -> NDArray[np.float64]:
    """By how much each expected number misses the counted one, as logarithms."""
    alpha, beta = math.exp(np.clip(place[0], -30, 30)), float(np.clip(expit(place[1]), 1e-300, 1 - 1e-15))
    part = sample.fraction
    d = (1 - part) * (1 - beta)
    log_shared = math.log(number * part) + alpha * (math.log(beta) - math.log1p(-d))
    log_ones = log_shared + math.log1p(alpha * d / (1 - d))
    log_twos = log_shared + math.log(part / 2 * alpha * (1 - beta)) - 2 * math.log1p(-d) + math.log(2 - (1 - alpha) * d)
    log_counts = np.log([max(sample.of_size(1), 0.5), max(sample.of_size(2), 0.5)])
    return np.array([log_ones, log_twos]) - log_counts


def zayatz(sample: Sample, *, confidence: float = 0.95) -> Uniques:
    """The number of people unique in the population: U = (n₁/π) · n₁h(1)/Σ n_j h(j).

    h(j) is the probability that just one of a class of j people is drawn. It has no interval: see `WITHOUT`.

    Examples
    --------
    >>> import numpy as np
    >>> round(zayatz(Sample.of(np.repeat([1, 2, 3, 9], [300, 80, 30, 20]), 10_000)).people)
    1976

    Notes
    -----
    Zayatz (1991), Estimation of the percent of unique population elements on a microdata file using the sample, Bureau
    of the Census, SRD Research Report RR-91/08.
    """
    unique_count = sample.of_size(1)
    if sample.fraction == 1:
        return Uniques.counted("zayatz", sample, confidence)
    chance_of_one = one_drawn(sample)
    total_chance = float((sample.cells * chance_of_one).sum())
    right_share = (
        unique_count * float(chance_of_one[sample.sizes == 1].sum()) / total_chance if unique_count else math.nan
    )
    reason = sample.reason or ("" if unique_count else "no record is unique")
    unique_people = unique_count * right_share / sample.fraction
    return Uniques("zayatz", unique_people, NOWHERE, sample, {}, reason, WITHOUT["zayatz"], confidence)


def one_drawn(sample: Sample) -> NDArray[np.float64]:
    """The probability that just one of a class of each size is in the file: hypergeometric (N, j, n).

    h(j) = jπ Π_{i=0}^{j-2} (N - n - i)/(N - 1 - i); logarithms, as factors of N above 2³¹ must not be multiplied.
    """
    n, people = sample.records, sample.population
    before = np.arange(int(sample.sizes.max()) - 1, dtype=np.float64)
    others_outside = np.maximum(people - n - before, 0)  # nobody else can be left out
    with np.errstate(divide="ignore"):
        log_chances = np.concatenate([[0.0], np.cumsum(np.log(others_outside) - np.log(people - 1 - before))])
    return np.asarray(sample.sizes * sample.fraction * np.exp(log_chances[sample.sizes - 1]), np.float64)


MODELS: Mapping[str, Callable[..., Uniques]] = {"pitman": pitman, "zayatz": zayatz, "snb": snb}
"""Models that need only the sizes of anonymity sets; the first is the default."""


UNEQUAL = "takes everybody as equally likely to be in the file; the weights, which it does not use, say otherwise"


def population_uniques(keys: Keys, *, population: float, model: str = "pitman", confidence: float = 0.95) -> Uniques:
    """How many people of the population are unique on some keys, as a model says from a sample.

    Records with a gap are set aside, as for k; the others must be a random sample of the population.

    Parameters
    ----------
    keys : Keys
    population : float
        People.
    model : {"pitman", "zayatz", "snb"}
    confidence : float
        Of the interval, where the model has one.

    Raises
    ------
    DataError
        A model that is not known, no record with every key, a population smaller than the file.

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import microdata
    >>> rng = np.random.default_rng(4)
    >>> keys = microdata.Keys({"town": rng.zipf(1.5, 800).clip(max=900)}, ["town"])
    >>> found = population_uniques(keys, population=8_000)
    >>> round(found.people), [round(bound) for bound in found.interval]
    (345, [235, 507])
    """
    if model not in MODELS:
        raise DataError(f"model must be one of {', '.join(MODELS)}; got {model!r}")
    return MODELS[model](Sample.of(keys.tuples.count[keys.complete], population), confidence=confidence)


@dataclass(frozen=True)
class _Modeled(OnRequest, ShareRow):
    """People unique in the population, by one of `MODELS`."""

    needs = ("population",)
    columns = ("unique people", "interval", "of the population", "of k=1")
    page_columns: ClassVar[tuple[str, ...]] = ("unique people", "of the population", "of those alone in the file")
    known_as: ClassVar[str]

    estimate: Uniques
    weighted: bool = False

    @classmethod
    def measure_case(cls, case: Case) -> Self | None:
        set_sizes = case.keys.tuples.count[case.keys.complete]
        if case.population is None or not len(set_sizes):
            return None
        sample = Sample.of(set_sizes, case.population)
        return cls(MODELS[cls.name](sample, confidence=case.confidence), case.scale is not None)

    @classmethod
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
        return f"People unique in the population, by {cls.known_as}"

    def row(self, write_share: Callable[[float], str]) -> tuple[str, ...]:
        if self.estimate.withheld:
            return (DASH,) * len(self.columns)
        estimate, (low, high) = self.estimate, self.estimate.interval
        return (
            f"{estimate.people:,.0f}",
            DASH if math.isnan(low) else f"{low:,.0f} to {high:,.0f}",
            write_share(estimate.share),
            write_share(estimate.right),
        )

    def page_cells(self) -> tuple[str, ...]:
        people_text, interval_text, *shares = self.row(percent)
        return (people_text, interval_text, *shares) if "between" in self.page_columns else (people_text, *shares)

    def numbers(self) -> dict[str, object]:
        return self.estimate.numbers()

    @property
    def reservation(self) -> str:
        if self.estimate.withheld:
            return f"{self.name} is withheld: {self.estimate.reason}"
        return f"{self.name} {UNEQUAL}" if self.weighted else ""


class Pitman(_Modeled):
    """People unique in the population, by the Pitman model."""

    page_columns = ("unique people", "between", "of the population", "of those alone in the file")
    name, known_as = "pitman", "the Pitman model"
    explanation = (
        f"Pitman: {ASSUMPTIONS['pitman']}.",
        "Of k=1: how many who are unique in the file are so in the population.",
    )


class Zayatz(_Modeled):
    """People unique in the population, by Zayatz' method."""

    name, known_as = "zayatz", "Zayatz' method"
    explanation = (f"Zayatz: {ASSUMPTIONS['zayatz']}; no interval: {WITHOUT['zayatz']}.",)


class Snb(_Modeled):
    """People unique in the population, by the shifted negative binomial model."""

    name, known_as = "snb", "the shifted negative binomial model"
    explanation = (f"Negative binomial: {ASSUMPTIONS['snb']}; no interval: {WITHOUT['snb']}.",)
