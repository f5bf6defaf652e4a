"""From sizes of anonymity sets to an intruder's success, and from the file to the population.

θ is the probability that a match with a unique record is the right person; with sampling weights it is estimated from
them. An informed intruder knows all keys of a person, and that this person is in the file. Where nothing is missing,
everybody who matches is equally likely, and they are right in the mean of 1/m. Where values are missing, that is not
so: a record that shows all keys of a person is more likely theirs than a record that may be anybody's.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Array
from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.keys.cells import by_size
from naysay.microdata.keys.matches import matches, matches_of_tuples
from naysay.microdata.keys.variables import Keys
from naysay.show import number, plain
from naysay.show.result import DASH, percent

FEWEST = 10  # θ is withheld with fewer unique records, or fewer pairs; the page on risk shows what few pairs do to it


@dataclass(frozen=True)
class Theta:
    """The estimated probability that a match with a unique record is the right person.

    Parameters
    ----------
    estimate : float
        In [0, 1]; NaN where there are neither unique records nor pairs, or the population is not known.
    interval : (float, float)
        Of the given confidence; NaN where it is undefined.
    unique, pairs : float
        Records alone in their anonymity set, and sets of two. Counted on matches, pairs may be a half.
    fraction : float
        Share of the population that is in the file; NaN where the population is not known.
    confidence : float
        Of the interval.

    Examples
    --------
    >>> theta(269, 150, fraction=10_997 / 16_700_000).withheld
    False
    >>> print(theta(3, 1, fraction=0.01).reason)
    only 3 unique records and 1 pair; at least 10 of each are needed
    """

    estimate: float
    interval: tuple[float, float]
    unique: float
    pairs: float
    fraction: float
    confidence: float

    @property
    def reason(self) -> str:
        """Why nobody should rely on the number; empty if they may."""
        if math.isnan(self.fraction):
            return "the population is not known"
        if min(self.unique, self.pairs) >= FEWEST or self.fraction == 1:
            return ""
        records_text = f"{self.unique:,.6g} unique record{'' if self.unique == 1 else 's'}"
        pairs_text = f"{self.pairs:,.6g} pair{'' if self.pairs == 1 else 's'}"  # on matches, half a pair is possible
        return f"only {records_text} and {pairs_text}; at least {FEWEST} of each are needed"

    @property
    def withheld(self) -> bool:
        """Whether tables leave the number out: it rests on too few records."""
        return bool(self.reason)

    def numbers(self) -> dict[str, object]:
        """The numbers under the stable names of JSON."""
        return {
            "theta": number(self.estimate),
            "theta_interval": [number(bound) for bound in self.interval],
            "theta_withheld": self.reason or None,
        }


def theta(
    unique: float, pairs: float, *, fraction: float, triples: float | None = None, confidence: float = 0.95
) -> Theta:
    """The probability that a unique match is correct, estimated from the file alone.

    θ̂ = π n₁ / (π n₁ + 2 (1 - π) n₂)

    with n₁ unique records, n₂ pairs and the sampling fraction π. Somebody meets a person of the population whose key
    variables fit exactly one record of the file: θ is how often that record is that person's. The estimate needs no
    model of the population, but all people must have had the same chance to be in the file.

    The interval is logit θ̂ ± z s. With the number of triples n₃, s² = 1/n₂ + π/(2(1-π) n₂) + 3n₃/(2n₂²), which is the
    unbiased variance of 1/θ̂ - 1/θ, carried to the logit, and holds its level at every fraction. Without n₃, s² = 1/n₁
    + 1/n₂, and the interval is too short where the fraction is large. Where there are no pairs, θ̂ = 1 and only a lower
    bound remains: that of a Poisson count of zero.

    Parameters
    ----------
    unique, pairs : float
        n₁ and n₂. On matches: #{m = 1} and #{m = 2}/2, a heuristic, because matching is not transitive.
    fraction : float
        π, records over population, in (0, 1].
    triples : float, optional
        n₃; on matches #{m = 3}/3.
    confidence : float
        Of the interval.

    Raises
    ------
    DataError
        A negative count, or a fraction outside (0, 1].

    Examples
    --------
    >>> found = theta(100, 50, fraction=0.01, triples=20)
    >>> round(found.estimate, 5), [round(bound, 4) for bound in found.interval]
    (0.01, [0.0071, 0.0141])
    >>> theta(0, 0, fraction=0.01).estimate
    nan

    Notes
    -----
    Skinner & Elliot (2002), A measure of disclosure risk for microdata, JRSS B 64(4), 855-867. The variance: a cell
    of F people, f of them in the file, adds 2qI(f = 2) - (F - 1)I(f = 1) to n₁(1/θ̂ - 1/θ), q = (1-π)/π. That has
    mean zero and variance 4q²P(f = 2) + E (F - 1)²I(f = 1), and the last term is 2qP(f = 2) + 6q²P(f = 3).
    """
    for count_name, value in (("unique", unique), ("pairs", pairs), ("triples", triples or 0)):
        if not math.isfinite(value) or value < 0:
            raise DataError(f"{count_name} must be a count, not negative; got {value!r}", value=value)
    if not 0 < fraction <= 1:
        raise DataError(f"fraction must be a share of the population, in (0, 1]; got {fraction!r}", value=fraction)
    _checks.confidence(confidence)
    q = (1 - fraction) / fraction
    wrong_matches = 2 * q * pairs
    if triples is None:
        variance = wrong_matches**2 * (1 / unique + 1 / pairs) if unique and pairs else 0.0
    else:
        variance = 2 * q * wrong_matches + wrong_matches + 6 * q**2 * triples
    return theta_with_variance(unique, pairs, wrong_matches, variance, fraction, confidence)


def theta_with_variance(
    unique: float, pairs: float, wrong_matches: float, variance: float, fraction: float, confidence: float
) -> Theta:
    """θ from unique records, the expected number of wrong unique matches, and the variance of that number's error."""
    unique_matches = unique + wrong_matches
    estimate = unique / unique_matches if unique_matches else math.nan
    if not unique:
        bounds = (math.nan, math.nan)
    elif fraction == 1:
        bounds = (1.0, 1.0)
    elif not pairs or not wrong_matches:  # no variance to estimate: the upper bound of a Poisson count of zero
        most_wrong = -math.log((1 - confidence) / 2) * 2 * (1 - fraction) / fraction
        bounds = (unique / (unique + most_wrong), 1.0)
    else:
        half_width = float(scipy.stats.norm.ppf((1 + confidence) / 2)) * math.sqrt(variance) / wrong_matches
        low_odds, high_odds = (unique / wrong_matches * math.exp(side) for side in (-half_width, half_width))
        bounds = (low_odds / (1 + low_odds), high_odds / (1 + high_odds))
    return Theta(estimate, bounds, unique, pairs, fraction, confidence)


def theta_of(sizes: Sizes, population: float | None, confidence: float) -> Theta:
    """θ from the sizes of a file; undetermined where the population is not known."""
    if population is None:
        return Theta(math.nan, (math.nan, math.nan), sizes.unique, sizes.pairs, math.nan, confidence)
    fraction = sampling_fraction(max(sizes.records, 1), population)
    return theta(sizes.unique, sizes.pairs, triples=sizes.triples, fraction=fraction, confidence=confidence)


def sampling_fraction(records: int, population: float) -> float:
    """Records over population.

    Raises
    ------
    DataError
        A population that is no positive number, or smaller than the file.

    Examples
    --------
    >>> sampling_fraction(10_000, 1_000_000)
    0.01
    """
    if isinstance(population, bool) or not isinstance(population, int | float | np.number):
        raise DataError(f"population must be a number of people; got {population!r}", value=population)
    if not math.isfinite(population) or population <= 0:
        raise DataError(f"population must be a number of people, above zero; got {population:,}", value=population)
    if population < records:
        message = (
            f"the population must be at least as large as the sample; got {population:,} people for {records:,} records"
        )
        raise DataError(message, value=population)
    return records / float(population)


@dataclass(frozen=True)
class Intrusion:
    """The results of an intruder who met people of the population and looked for each of them in the file.

    Parameters
    ----------
    tried : int
        People drawn from the population.
    unique : int
        Of these, how many matched exactly one record.
    correct : int
        Of these, how many times the record was theirs.
    theta : Theta
        What the file alone says.
    """

    tried: int
    unique: int
    correct: int
    theta: Theta

    @property
    def rate(self) -> float:
        """Share of the unique matches that were right; NaN where there was none."""
        return self.correct / self.unique if self.unique else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson interval of that share over the draws."""
        if not self.unique:
            return math.nan, math.nan
        wilson_interval = scipy.stats.binomtest(self.correct, self.unique).proportion_ci(
            self.theta.confidence, method="wilson"
        )
        return float(wilson_interval.low), float(wilson_interval.high)


def data_intrusion_simulation(
    people: Keys,
    sampled: ArrayLike,
    *,
    draws: int | None = None,
    rng: np.random.Generator | None = None,
    confidence: float = 0.95,
) -> Intrusion:
    """How often a unique match is right, found by simulation: a check of θ if the population is known.

    Draw a person of the population. Look in the file for the records whose candidates meet theirs. Where there is
    exactly one, count whether it is that person's. Missing and uncertain cells match as in `matches` by the rule
    ``intersect``: the intruder knows of a person what the person's record would hold.

    Parameters
    ----------
    people : Keys
        The population, (N,).
    sampled : (N,) bool
        Who of them is in the file.
    draws : int, optional
        People drawn with replacement; without it everybody is tried once, and the rate is θ itself.
    rng : numpy Generator, optional
        For the draws; by default one with a fixed seed, so that a printed number can be printed again.
    confidence : float
        Of θ's interval and of the rate's.

    Raises
    ------
    DataError
        A `sampled` that is not one truth value a person, or that holds nobody; `draws` below one.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(8)
    >>> people = Keys({"age": rng.integers(18, 90, 4_000), "region": rng.integers(0, 40, 4_000)}, ["age", "region"])
    >>> tried = data_intrusion_simulation(people, rng.random(4_000) < 0.1)
    >>> abs(tried.rate - tried.theta.estimate) < 0.1
    True

    Notes
    -----
    Skinner & Elliot (2002). Where the population is not known, the same is done from within the file: remove a record,
    put it back with probability π, and match it; what that tends to is θ̂.
    """
    in_file = np.asarray(sampled)
    if in_file.shape != (people.n,) or in_file.dtype != np.bool_:
        array_text = f"{in_file.dtype} of shape {in_file.shape}"
        raise DataError(f"sampled must be {people.n:,} truth values, one a person; got {array_text}")
    if not in_file.any():
        raise DataError("sampled must hold somebody; nobody of the population is in the file")
    # Everybody counts once and the records of the file twice: the difference to everybody's matches is the file's.
    weighted_matches = np.asarray(matches(people, rule="intersect", weights=np.where(in_file, 2.0, 1.0)))
    file_matches = np.rint(weighted_matches - np.asarray(matches(people, rule="intersect"))).astype(np.int64)
    sizes = Sizes.of(file_matches[in_file])
    file_theta = theta(
        sizes.unique, sizes.pairs, triples=sizes.triples, fraction=float(in_file.mean()), confidence=confidence
    )
    drawn_people = np.arange(people.n)
    if draws is not None:
        if draws < 1:
            raise DataError(f"draws must be at least one person; got {draws!r}", value=draws)
        drawn_people = (np.random.default_rng(2002) if rng is None else rng).integers(people.n, size=draws)
    is_unique = file_matches[drawn_people] == 1
    return Intrusion(
        len(drawn_people), int(is_unique.sum()), int((is_unique & in_file[drawn_people]).sum()), file_theta
    )


@dataclass(frozen=True)
class Sizes:
    """The sizes of anonymity sets, or numbers of matches, over the records of a file.

    Parameters
    ----------
    records : int
        How many have one; deleted records have none.
    unique, below_5, below_10 : int
        Records of size 1, below 5 and below 10.
    smallest : int
        The least size; 0 without records.
    inverse : float
        The mean of 1/size: the chance to pick the right record if all of them are equally likely. Matches are not
        equally likely where values are missing. NaN without records.
    pairs, triples : float
        Records of size 2 over 2, and of size 3 over 3.

    Examples
    --------
    >>> import numpy as np
    >>> sizes = Sizes.of(np.array([1, 2, 2, 7]))
    >>> sizes.unique, sizes.below_5, sizes.pairs, round(sizes.inverse, 4)
    (1, 3, 1.0, 0.5357)
    """

    records: int
    unique: int
    below_5: int
    below_10: int
    smallest: int
    inverse: float
    pairs: float
    triples: float

    @classmethod
    def of(cls, sizes: NDArray[np.int64] | np.ma.MaskedArray[tuple[int], np.dtype[np.int64]]) -> Sizes:
        """The summary of one size for each record, masked where it is deleted."""
        return cls.of_counts(*np.unique(np.ma.compressed(sizes), return_counts=True))

    @classmethod
    def of_counts(cls, sizes: NDArray[np.int64], records: NDArray[np.int64]) -> Sizes:
        """The summary of some sizes, each with a number of records that have it; a size may come several times."""
        # rising, so that no sum depends on the order in which sizes come
        distinct_sizes, record_counts = by_size(sizes, records)
        total_records = int(record_counts.sum())
        return cls(
            total_records,
            int(record_counts[distinct_sizes == 1].sum()),
            int(record_counts[distinct_sizes < 5].sum()),
            int(record_counts[distinct_sizes < 10].sum()),
            int(distinct_sizes[0]) if total_records else 0,
            float((record_counts / distinct_sizes).sum()) / total_records if total_records else float("nan"),
            int(record_counts[distinct_sizes == 2].sum()) / 2,
            int(record_counts[distinct_sizes == 3].sum()) / 3,
        )

    @property
    def share(self) -> float:
        """Share of the records that are unique; NaN without records."""
        return self.unique / self.records if self.records else float("nan")

    @property
    def highest(self) -> float:
        """1/smallest, the largest of these chances; NaN without records."""
        return 1 / self.smallest if self.smallest else float("nan")

    def counts(self, sign: str) -> dict[str, int]:
        """Small sizes as fields of a JSON object; `sign` is what sizes are called, k or m."""
        return {f"{sign}1": self.unique, f"{sign}_lt_5": self.below_5, f"{sign}_lt_10": self.below_10}

    def numbers(self) -> dict[str, object]:
        """What an intruder who knows that a person is in the file would achieve."""
        return {"smallest": self.smallest or None, "prosecutor_mean": number(self.inverse)}


_CALIBRATED = 0.01  # share; a sum of weights that differs from the population by more causes a warning


@dataclass(frozen=True)
class Weighted:
    """Risk in people of the population, as the weights estimate it.

    Parameters
    ----------
    smallest : float
        The least estimated number of people who share a record's key variables, F̂ = Σw; NaN without records.
    below_5, below_10 : int
        Records whose F̂ is below 5, and below 10.
    unique : float
        Share of the population, by weight, whose records are unique in the file; NaN without records.
    expected : float
        Σ 1/F̂: how many records an intruder with a register of the population is expected to name correctly.
    """

    smallest: float
    below_5: int
    below_10: int
    unique: float
    expected: float

    @classmethod
    def of(
        cls,
        sizes: NDArray[np.int64],
        count: NDArray[np.int64],
        weight: NDArray[np.float64],
        sums: NDArray[np.float64],
        population: float,
    ) -> Weighted:
        """From sizes, records, weights, and F̂ of each distinct tuple."""
        return cls(
            float(sums.min()) if len(sums) else float("nan"),
            int(count[sums < 5].sum()),
            int(count[sums < 10].sum()),
            float(weight[sizes == 1].sum()) / population if len(sums) else float("nan"),
            float((count / sums).sum()),
        )

    def numbers(self) -> dict[str, object]:
        """The numbers under the stable names of JSON."""
        names = ("smallest", "lt_5", "lt_10", "unique", "expected")
        return {name: plain(value) for name, value in zip(names, astuple(self), strict=True)}


@dataclass(frozen=True)
class Scale:
    """Weights as people of the population: what they are multiplied by."""

    factor: float
    warnings: tuple[StatisticalWarning, ...]

    @classmethod
    def between(cls, keys: Keys, weights: str | ArrayLike, population: float) -> Scale:
        """From the weights that the keys hold to the population."""
        tuple_weights = keys.weight(weights if isinstance(weights, str) else "weights")
        total = float(tuple_weights.sum())
        warning_texts = []
        if abs(total / population - 1) > _CALIBRATED:
            warning_texts.append(
                f"the weights sum to {total:,.6g}, not to the population of {population:,.12g}; they are scaled to it"
            )
        if (tuple_weights * population / total < keys.tuples.count * (1 - 1e-9)).any():
            warning_texts.append(
                "some weights are below one person, as if respondents were sampled more than once; θ uses them as they"
                " are, but never lets the sum over pairs fall below zero"
            )
        return cls(population / total, tuple(StatisticalWarning(text) for text in warning_texts))

    def people(self, weight: Array) -> NDArray[np.float64]:
        """Weights as people of the population."""
        return np.asarray(weight * self.factor, dtype=np.float64)


def weighted_theta(
    sizes: NDArray[np.int64],
    count: NDArray[np.int64],
    weight: NDArray[np.float64],
    sums: NDArray[np.float64],
    *,
    fraction: float,
    confidence: float = 0.95,
) -> Theta:
    """θ where people had different chances to be in the file, known as weights 1/π_i.

    θ̂ = n₁ / (n₁ + Σ_{i: k_i = 2} (w_i - 1))

    A weight below one lowers the sum over pairs; that sum as a whole is kept from falling below zero.

    With equal weights 1/π this is `theta`, its interval too.

    Parameters
    ----------
    sizes : (distinct,) int
        k or m of each distinct tuple of keys.
    count : (distinct,) int
        Records with each.
    weight : (distinct,) float
        The sum of their weights, in people of the population.
    sums : (distinct,) float
        The sum of the weights of everybody who is counted in `sizes`.
    fraction : float
        Records over population.
    confidence : float
        Of the interval. Weights are taken as equal within triples, which makes it no shorter.

    Examples
    --------
    >>> import numpy as np
    >>> from naysay.microdata import theta
    >>> sizes = np.repeat([1, 2], [20, 10])
    >>> found = weighted_theta(sizes, sizes, sizes * 25.0, sizes * 25.0, fraction=0.04)
    >>> found.estimate == theta(20, 10, fraction=0.04).estimate
    True

    Notes
    -----
    Skinner & Carter (2003), Survey Methodology 29(2), 177-180. Over the cells of a population, the sum of
    (1/π_a - 1) + (1/π_b - 1) where just a and b are in the file has the expectation of (F - 1)I(f = 1).
    """
    is_unique, is_pair, is_triple = (sizes == size for size in (1, 2, 3))
    excess = np.maximum(sums - sizes, 0)  # people of the population who are expected beside the records
    wrong_matches = max(float((weight - count)[is_pair].sum()), 0.0)
    squared_excess = count * excess**2
    variance = float(squared_excess[is_pair].sum() / 2 + wrong_matches + squared_excess[is_triple].sum() * 2 / 9)
    pair_count = float(count[is_pair].sum()) / 2
    return theta_with_variance(float(count[is_unique].sum()), pair_count, wrong_matches, variance, fraction, confidence)


@dataclass(frozen=True)
class Informed:
    """How often an intruder who knows the complete keys of a person in the file picks that person's record.

    Parameters
    ----------
    exact : float
        For an intruder who picks among the records that show all of these keys: the share kept times the mean of 1/k.
    weighed : float
        For an intruder who picks a matching record with a chance in proportion to its 1/m: at least the mean over i of
        P_i = (1/m_i) / Σ 1/m_j, the sum being over the records j that match i. A record that fits many people is less
        likely that of one of them.
    most : float
        The number of distinct rows over the number of records: no intruder can do better with these keys, even with the
        keys of everybody else. Rows that show the same, gaps included, cannot be told apart.

    Each is an average over the people in the file; NaN where a policy leaves nobody in.
    """

    exact: float
    weighed: float
    most: float

    @property
    def least(self) -> float:
        """What the better of the two ways of picking achieves at least."""
        return max(self.exact, self.weighed)


def informed(keys: Keys, m: Array | None = None) -> Informed:
    """The success of an informed intruder, from below and from above.

    Parameters
    ----------
    keys : Keys
    m : (distinct,) int, optional
        Matches by the rule ``intersect``, where they are known: without uncertain cells all rules give the same.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, 36, 36, None]}, ["age"])
    >>> found = informed(keys)
    >>> found.exact, round(found.weighed, 3), found.most
    (0.5, 0.393, 0.75)

    Notes
    -----
    The true keys of i are among the candidates of i, so whoever is consistent with them matches i by ``intersect``: the
    sum in P_i is never too small, and P_i never too large. Other rules would leave out somebody.
    """
    is_kept, tuple_counts = keys.kept, keys.tuples.count
    record_count = int(tuple_counts[is_kept].sum())
    if not record_count:
        return Informed(float("nan"), float("nan"), float("nan"))
    exact_success = int(keys.complete.sum()) / record_count  # Σ 1/k over the records of one tuple is 1
    most_success = int(is_kept.sum()) / record_count
    if exact_success == most_success:  # everybody is kept: m = k, and all four numbers are the same
        return Informed(exact_success, exact_success, exact_success)
    if m is None:
        m = matches_of_tuples(keys, rule="intersect")
    inverse_matches = np.zeros(keys.distinct)
    inverse_matches[is_kept] = 1 / m[is_kept]
    inverse_sums = matches_of_tuples(keys, tuple_counts * inverse_matches, rule="intersect")
    weighed_success = (
        float((tuple_counts[is_kept] * inverse_matches[is_kept] / inverse_sums[is_kept]).sum()) / record_count
    )
    return Informed(exact_success, weighed_success, most_success)


def theta_cells(theta: Theta) -> tuple[str, str]:
    """θ and its interval with two significant digits; dashes where it is withheld or undefined."""
    if theta.withheld or math.isnan(theta.estimate):
        return DASH, DASH
    estimate_text, low_text, high_text = (
        np.format_float_positional(number, precision=2, fractional=False, trim="-")
        for number in (theta.estimate, *theta.interval)
    )
    return estimate_text, f"{low_text} to {high_text}"


def theta_percent(theta: Theta) -> str:
    """θ in percent; a dash where it is withheld or undefined."""
    return DASH if theta.withheld else percent(theta.estimate, 3)
