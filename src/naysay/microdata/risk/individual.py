"""The risk of each record: an intruder with a register, members of households, and special uniques (SUDA)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Array, Flags, Floats
from naysay.errors import DataError
from naysay.microdata.keys.codes import check_choice
from naysay.microdata.keys.matches import matches_of_tuples
from naysay.microdata.keys.variables import Keys, Progress
from naysay.microdata.risk.measure import Case, OnRequest, ShareRow
from naysay.microdata.risk.theta import FEWEST
from naysay.show.result import DASH, amount

ASSUMPTION = "given a class in the file, its people outside the file are negative binomial around the weights' estimate"
WITHOUT = "it rests on estimated numbers of people, whose error one file does not tell; for unique records it is low"

_SMALL = 0.05  # the sampled share of a class below which the series takes too many terms
_FEW = 64  # the records of a class up to which the recursion is taken then
_TERMS = 100_000


@dataclass(frozen=True, eq=False)
class IndividualRisk:
    """The probability that an intruder with a register of the population picks the right person for a record.

    Parameters
    ----------
    keys : Keys
    of_tuples : (distinct,) float
        Of the records of each distinct tuple of keys; NaN where a policy leaves them out.
    """

    keys: Keys
    of_tuples: Floats

    @property
    def risk(self) -> Floats:
        """Of each respondent, (n,)."""
        return np.asarray(self.of_tuples[self.keys.owner], np.float64)

    @property
    def expected(self) -> float:
        """Their sum: how many records such an intruder is expected to name correctly."""
        return float(np.nansum(self.of_tuples * self.keys.tuples.count))

    @property
    def highest(self) -> float:
        """The largest; NaN without records."""
        return float(np.nanmax(self.of_tuples)) if self.keys.kept.any() else float("nan")


def individual_risk(sizes: ArrayLike, people: ArrayLike) -> Floats:
    """E 1/F, the mean of one over the people who share the keys of a record, given the file.

    r = p^f ∫₀¹ s^{f-1} (1 - (1-p)s)^{-f} ds, p = f/F̂

    Parameters
    ----------
    sizes : (any,) int
        f, records with the same keys (or matches m, where values are missing).
    people : (any,) float
        F̂, the estimated number of people with these keys: the sum of the weights of these records. Where it is not
        above f, the class is taken to be in the file as a whole.

    Raises
    ------
    DataError
        Sizes below one, numbers of people that are not above zero.

    Examples
    --------
    >>> individual_risk([1, 2, 2000], [10, 20, 2000 / 0.03]).round(8).tolist()
    [0.25584279, 0.08268413, 1.501e-05]

    Notes
    -----
    Benedetti & Franconi (1998); F - f given f is negative binomial (f, p). With f = 1 and a small p it is too low
    (Rinott 2003).
    """
    f, population_sizes = np.broadcast_arrays(np.asarray(sizes, np.float64), np.asarray(people, np.float64))
    if f.size and (f.min() < 1 or not np.isfinite(f).all()):
        raise DataError("sizes must be numbers of records, from 1")
    if population_sizes.size and (not np.isfinite(population_sizes).all() or population_sizes.min() <= 0):
        raise DataError("people must be numbers above zero, one for each size")
    # a pair as one complex number: sorted as one, not as two columns
    size_pairs, pair_places = np.unique(
        f.ravel() + 1j * np.minimum(f / population_sizes, 1).ravel(), return_inverse=True
    )
    f, p = size_pairs.real, size_pairs.imag
    pair_risks = np.empty(len(f))
    has_few = (p < _SMALL) & (f <= _FEW)
    pair_risks[has_few], pair_risks[~has_few] = _recursion(f[has_few], p[has_few]), _series(f[~has_few], p[~has_few])
    return pair_risks[np.asarray(pair_places).ravel()].reshape(np.shape(sizes))


def _series(f: Floats, p: Floats) -> Floats:
    """(p/f) Σ_j Π_{i ≤ j} i(1-p)/(f+i)."""
    series_sums, term, active_rows = np.ones(len(f)), np.ones(len(f)), np.arange(len(f))
    for i in range(1, _TERMS):
        term[active_rows] *= i * (1 - p[active_rows]) / (f[active_rows] + i)
        series_sums[active_rows] += term[active_rows]
        active_rows = active_rows[term[active_rows] > 1e-17 * series_sums[active_rows]]
        if not len(active_rows):
            break
    return p / f * series_sums


def _recursion(f: Floats, p: Floats) -> Floats:
    """r₁ = p/(1-p) log(1/p), r_f = p/(1-p) (1/(f-1) - r_{f-1}), which loses no digits while p is small."""
    odds = p / (1 - p)
    size_risk = odds * -np.log(p)
    record_risks = size_risk.copy()
    for size in range(2, int(f.max(initial=1)) + 1):
        size_risk = odds * (1 / (size - 1) - size_risk)
        record_risks[f == size] = size_risk[f == size]
    return record_risks


def household_risk(risk: ArrayLike, households: Sequence[object] | pl.Series) -> Floats:
    """The probability that somebody of a household is recognized, for each respondent: 1 - Π (1 - r_i).

    Parameters
    ----------
    risk : (n,) float
        Of each respondent; NaN counts as none.
    households : (n,) labels
        Which household each belongs to; a missing label is a household of one.

    Raises
    ------
    DataError
        A household for fewer or more respondents than there are, risks outside [0, 1].

    Examples
    --------
    >>> household_risk([0.5, 0.5, 0.1], ["a", "a", "b"]).round(2).tolist()
    [0.75, 0.75, 0.1]

    Notes
    -----
    Members are taken as independent. A household can also stand out as a whole: see `households`.
    """
    person_risk = np.nan_to_num(np.asarray(risk, np.float64))
    if person_risk.ndim != 1 or len(person_risk) != len(households):
        raise DataError(
            f"one household for each respondent is needed; got {len(households):,} for {len(person_risk):,}"
        )
    if person_risk.size and (person_risk.min() < 0 or person_risk.max() > 1):
        raise DataError("risks must be probabilities, from 0 to 1")
    household_codes = pl.Series(households).rank("dense").to_numpy().astype(np.float64)
    without_household = np.isnan(household_codes)
    household_codes[without_household] = len(household_codes) + np.arange(int(without_household.sum()))
    _, household_places = np.unique(household_codes, return_inverse=True)
    with np.errstate(divide="ignore"):
        log_unrecognized = np.bincount(household_places, np.log1p(-person_risk))
    return _checks.read_only(-np.expm1(log_unrecognized)[household_places])


READINGS = ("matches", "anonymity")

FRACTION = 0.01
"""The share of a population in the file that DIS takes where it is not known, as the DIS fraction of others."""

_MOST_SETS = 200_000  # sets of keys that are counted
_LONGEST = 5


@dataclass(frozen=True, eq=False)
class Suda:
    """Scores of special uniques.

    Parameters
    ----------
    keys : Keys
    most : int
        The largest number of keys in a set.
    measure : {"matches", "anonymity"}
    sets : (most + 1,) int
        Minimal sample uniques of each size: pairs of a record and a smallest set of keys on which it is alone.
    of_tuples : (distinct,) float
        s, the score of the record of each tuple: the more and the smaller its sets, the larger; 0 without any.
    held : (distinct, keys) float
        The part of the score from sets that hold each key.
    risk : (distinct,) float
        DIS, the probability that a match with the record is right, as scores share out θ.
    unique, pairs : float
        Records alone on all keys, and pairs.
    fraction : float
        ρ, the share of the population that is in the file, as DIS was told.
    """

    keys: Keys
    most: int
    measure: str
    sets: NDArray[np.int64]
    of_tuples: Floats
    held: Floats
    risk: Floats
    unique: float
    pairs: float
    fraction: float

    @property
    def score(self) -> Floats:
        """The score of each respondent, (n,)."""
        return np.asarray(self.of_tuples[self.keys.owner], np.float64)

    @property
    def dis(self) -> Floats:
        """DIS of each respondent, (n,)."""
        return np.asarray(self.risk[self.keys.owner], np.float64)

    @property
    def contributions(self) -> dict[str, float]:
        """For each key, the share of all scores from sets that hold it; NaN where nobody is alone."""
        total_score = self.of_tuples.sum()
        key_shares = self.held.sum(axis=0) / total_score if total_score else np.full(len(self.keys.columns), np.nan)
        return dict(zip(self.keys.columns, map(float, key_shares), strict=True))

    @property
    def records(self) -> int:
        """Records with a score."""
        return int((self.of_tuples > 0).sum())

    @property
    def reason(self) -> str:
        """Why DIS is withheld; empty if it is not."""
        if self.pairs >= FEWEST:
            return ""
        return f"only {self.pairs:,.6g} pair{'' if self.pairs == 1 else 's'}; at least {FEWEST} are needed"


def suda(
    keys: Keys,
    *,
    most: int | None = None,
    measure: str = "matches",
    fraction: float = FRACTION,
    progress: Progress | None = None,
) -> Suda:
    """How special each unique record is: scores of the smallest sets of keys on which it is alone.

    s = Σ_S Π_{j=|S|}^{M-1} (q - j), over the minimal sets S of at most M of q keys

    Parameters
    ----------
    keys : Keys
    most : int, optional
        M; by default five, or all keys if there are fewer.
    measure : {"matches", "anonymity"}
        What a gap is. "matches": it may be anything, so a record is alone if nobody else can be the same. "anonymity",
        the reading of SUDA2: it is a value that others do not have, and is in no set.
    fraction : float
        ρ, the share of the population in the file, for DIS.
    progress : callable, optional

    Raises
    ------
    DataError
        A number of keys that is not from 1 to their number, more sets of keys than can be counted, a fraction that is
        not between 0 and 1.

    Examples
    --------
    >>> from naysay import microdata
    >>> table = {"age": [40, 36, 36, 23], "sex": ["f", "f", "m", "m"]}
    >>> found = suda(microdata.Keys(table, ["age", "sex"]))
    >>> found.score.tolist(), found.sets.tolist()
    ([1.0, 1.0, 1.0, 1.0], [0, 2, 2])
    >>> found.contributions
    {'age': 1.0, 'sex': 0.5}

    Notes
    -----
    Elliot, Manning & Ford (2002); Manning, Haglin & Keane (2008). DIS = 1/(1 + (n₁/D - n₁)/(s^Q A)) with
    D = n₁ρ/(n₁ρ + 2n₂(1-ρ)), Q = 1 + (8 - q)/20 and A = Σ s^{-Q} over scores above zero.
    """
    check_choice(measure, READINGS, what="measure")
    width = len(keys.columns)
    largest_size = min(width, _LONGEST) if most is None else most
    if not 1 <= largest_size <= width:
        raise DataError(f"most must be a number of keys, from 1 to {width}; got {most!r}", value=most)
    if not 0 < fraction < 1:
        raise DataError(f"fraction must be a share of the population, between 0 and 1; got {fraction!r}")
    set_count = sum(math.comb(width, set_size) for set_size in range(1, largest_size + 1))
    if set_count > _MOST_SETS:
        raise DataError(
            f"{set_count:,} sets of up to {largest_size} of {width} keys are too many; ask for fewer with most="
        )
    tuple_sizes = _sizes_on_keys(keys, range(width), measure)
    unique_tuples = np.flatnonzero((tuple_sizes == 1) & keys.kept)
    tuple_scores, key_scores, sets_by_size = _scores_of_tuples(keys, unique_tuples, largest_size, measure, progress)
    of_tuples, of_keys = np.zeros(keys.distinct), np.zeros((keys.distinct, width))
    of_tuples[unique_tuples], of_keys[unique_tuples] = tuple_scores, key_scores
    pairs = float(keys.tuples.count[(tuple_sizes == 2) & keys.kept].sum()) / 2
    risk = np.zeros(keys.distinct)
    risk[unique_tuples] = scores(tuple_scores, unique=len(unique_tuples), pairs=pairs, keys=width, fraction=fraction)
    return Suda(
        keys, largest_size, measure, sets_by_size, of_tuples, of_keys, risk, float(len(unique_tuples)), pairs, fraction
    )


def scores(score: Floats, *, unique: float, pairs: float, keys: int, fraction: float = 0.01) -> Floats:
    """DIS of unique records from their scores, 0 where a score is 0."""
    if not unique or not (score > 0).any():
        return np.zeros(len(score))
    wrong_matches = 2 * pairs * (1 - fraction) / fraction  # n₁/D - n₁
    score_power = 1 + (8 - keys) / 20
    raised_scores = np.where(score > 0, score, 1.0) ** score_power
    inverse_total = float((1 / raised_scores)[score > 0].sum())
    return np.where(score > 0, 1 / (1 + wrong_matches / (raised_scores * inverse_total)), 0.0)


def _scores_of_tuples(
    keys: Keys, unique_tuples: NDArray[np.intp], most: int, measure: str, progress: Progress | None
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """The score of each unique tuple, its part by key, and the number of minimal sets by size."""
    width = len(keys.columns)
    tuple_scores, key_scores = np.zeros(len(unique_tuples)), np.zeros((len(unique_tuples), width))
    sets_by_size = np.zeros(most + 1, np.int64)
    smaller_unique: dict[tuple[int, ...], Flags] = {}
    done_count, set_count = 0, sum(math.comb(width, set_size) for set_size in range(1, most + 1))
    for set_size in range(1, most + 1):
        set_score = float(math.prod(width - key_count for key_count in range(set_size, most)))
        unique_now = {}
        for key_places in combinations(range(width), set_size):
            is_unique: Flags = (_sizes_on_keys(keys, key_places, measure) == 1)[unique_tuples]
            if measure == "anonymity":  # a gap is a value that no set holds
                for place in key_places:
                    is_unique &= keys.tuples.columns[place][unique_tuples] > 0
            unique_on_parts = [
                smaller_unique[part_places]
                for part_places in combinations(key_places, set_size - 1)
                if part_places in smaller_unique
            ]
            is_minimal = is_unique & ~np.logical_or.reduce([np.zeros(len(unique_tuples), np.bool_), *unique_on_parts])
            tuple_scores += set_score * is_minimal
            key_scores[:, key_places] += set_score * is_minimal[:, None]
            sets_by_size[set_size] += int(is_minimal.sum())
            if is_unique.any():
                unique_now[key_places] = is_unique
            done_count += 1
            if progress is not None:
                progress(done_count / set_count)
        smaller_unique = unique_now
    return tuple_scores, key_scores, sets_by_size


def _sizes_on_keys(keys: Keys, places: range | tuple[int, ...], measure: str) -> NDArray[np.int64]:
    """How many records are like each tuple on some keys."""
    part_tuples, part_places = keys.tuples.only(places)
    if measure == "anonymity":
        return np.asarray(part_tuples.count[part_places])
    part_keys = keys.of_tuples([keys.variables[key_place] for key_place in places], part_tuples)
    return np.asarray(matches_of_tuples(part_keys, rule="intersect")[part_places])


@dataclass(frozen=True)
class Individual(OnRequest, ShareRow):
    """The risk of each record before an intruder with a register of the population."""

    name = "individual"
    needs = ("population",)
    columns = ("expected right (Σ r)", "mean r", "highest r", "r > 0.1", "r > 0.5")
    explanation = (f"r: the mean of 1/F, {ASSUMPTION}; no interval: {WITHOUT}.",)
    page_columns = ("expected to be named", "mean chance", "highest", "above 10 %", "above 50 %")

    record_risks: IndividualRisk

    @classmethod
    def measure_case(cls, case: Case) -> Self | None:
        keys = case.keys
        if case.population is None:
            return None
        people_alike = case.m * (case.population / max(int(keys.tuples.count[keys.kept].sum()), 1))
        if case.scale is not None:
            people_alike = case.scale.people(matches_of_tuples(keys, keys.tuples.weight, rule=case.rule))
        tuple_risks = np.full(keys.distinct, np.nan)
        tuple_risks[keys.kept] = individual_risk(case.m[keys.kept], people_alike[keys.kept])
        return cls(IndividualRisk(keys, tuple_risks))

    @classmethod
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
        return "Individual risk: an intruder with a register of the population"

    def row(self, write_share: Callable[[float], str]) -> tuple[str, ...]:
        record_risks, keys = self.record_risks, self.record_risks.keys
        tuple_counts, tuple_risks = keys.tuples.count[keys.kept], record_risks.of_tuples[keys.kept]
        counts_above = (int(tuple_counts[tuple_risks > risk_bound].sum()) for risk_bound in (0.1, 0.5))
        share_texts = map(write_share, (record_risks.expected / int(tuple_counts.sum()), record_risks.highest))
        return (amount(record_risks.expected), *share_texts, *map("{:,}".format, counts_above))

    def numbers(self) -> dict[str, object]:
        return {
            "expected": self.record_risks.expected,
            "highest": self.record_risks.highest,
            "interval_missing": WITHOUT,
        }

    def of_each(self) -> dict[str, Array]:
        return {"individual risk": self.record_risks.risk}


@dataclass(frozen=True)
class Households(OnRequest, ShareRow):
    """The risk that somebody of a household is recognized."""

    name = "household"
    needs = ("population",)
    columns = ("households", "expected (persons)", "mean", "highest")
    explanation = ("Household: 1 - Π (1 - r) over its members, taken as independent, for each person.",)
    page_columns = ("households", "found through one of theirs", "mean chance", "highest")

    households: int
    risk: NDArray[np.float64]

    @classmethod
    def measure_case(cls, case: Case) -> Self | None:
        individual_measure = Individual.measure_case(case)
        if individual_measure is None or case.households is None:
            return None
        person_risk = household_risk(individual_measure.record_risks.risk, case.households)
        return cls(int(case.households.n_unique()), person_risk)

    @classmethod
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
        return "Household risk: somebody of the household is recognized"

    def row(self, write_share: Callable[[float], str]) -> tuple[str, ...]:
        risk_texts = map(write_share, (float(self.risk.mean()), float(self.risk.max())))
        return (f"{self.households:,}", amount(float(self.risk.sum())), *risk_texts)

    def numbers(self) -> dict[str, object]:
        return {"households": self.households, "expected": float(self.risk.sum()), "highest": float(self.risk.max())}

    def of_each(self) -> dict[str, Array]:
        return {"household risk": self.risk}


@dataclass(frozen=True)
class Special(OnRequest, ShareRow):
    """Special uniques: on how few keys records are alone."""

    name = "suda"
    columns = ("records", "fewest keys", "sets by size", "key in most", "highest DIS", "Σ DIS")
    explanation = (
        "SUDA: sets of keys, none larger than needed, on which a record is alone; DIS: θ shared out among the records"
        " by their scores, no interval: it shares out θ, whose interval stands beside it.",
    )
    page_columns = ("people", "on how few keys", "sets of 1, 2, … keys", "key in most of them", "highest chance", "sum")

    suda_scores: Suda
    titles: Mapping[str, str] = field(default_factory=dict, repr=False)

    def titled(self, titles: Mapping[str, str]) -> Self:
        return replace(self, titles=titles)

    @classmethod
    def measure_case(cls, case: Case) -> Self | None:
        record_count = int(case.keys.tuples.count[case.keys.kept].sum())
        has_fraction = case.population is not None and case.population > record_count
        fraction = record_count / case.population if has_fraction and case.population else FRACTION
        return cls(suda(case.keys, fraction=fraction, progress=case.progress))

    @classmethod
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
        return f"Special uniques: alone on up to {max(measure.suda_scores.most for measure in measures)} keys"

    def row(self, write_share: Callable[[float], str]) -> tuple[str, ...]:
        suda_scores = self.suda_scores
        if not suda_scores.records:
            return ("0", *(DASH,) * (len(self.columns) - 1))
        key_shares = suda_scores.contributions
        top_key = max(key_shares, key=lambda key_name: key_shares[key_name])
        top_text = f"{self.titles.get(top_key, top_key)} ({100 * key_shares[top_key]:.0f} %)"
        sizes_text = ", ".join(f"{set_count:,}" for set_count in suda_scores.sets[1:].tolist())
        set_texts = (f"{suda_scores.records:,}", f"{np.flatnonzero(suda_scores.sets)[0]}", sizes_text, top_text)
        if suda_scores.reason:
            return (*set_texts, DASH, DASH)
        return (*set_texts, write_share(float(suda_scores.risk.max())), amount(float(suda_scores.risk.sum())))

    def numbers(self) -> dict[str, object]:
        suda_scores = self.suda_scores
        return {
            "records": suda_scores.records,
            "sets": suda_scores.sets[1:].tolist(),
            "contributions": suda_scores.contributions,
            "dis_fraction": suda_scores.fraction,
            "dis_highest": float(suda_scores.risk.max(initial=0)),
            "dis_sum": float(suda_scores.risk.sum()),
            "dis_withheld": suda_scores.reason or None,
        }

    def of_each(self) -> dict[str, Array]:
        return {"SUDA score": self.suda_scores.score, "DIS": self.suda_scores.dis}

    @property
    def reservation(self) -> str:
        return f"DIS is withheld: {self.suda_scores.reason}" if self.suda_scores.reason else ""
