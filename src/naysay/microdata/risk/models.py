"""What models of the population say about each quasi-identifier: measures that a table has on request."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.matches import matches_of_tuples
from naysay.microdata.population import individual, loglinear, snb, uniques, zayatz
from naysay.microdata.population.individual import IndividualRisk, Suda, household_risk, individual_risk
from naysay.microdata.population.loglinear import LogLinear
from naysay.microdata.population.uniques import Sample, Uniques
from naysay.microdata.risk.measure import Case, OnRequest
from naysay.microdata.risk.written import DASH, amount, percent, share
from naysay.show import number

MODELS: Mapping[str, Callable[..., Uniques]] = {"pitman": uniques.pitman, "zayatz": zayatz.zayatz, "snb": snb.snb}
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


def _between(interval: tuple[float, float]) -> str:
    """An interval of numbers of people; a dash without one."""
    low, high = interval
    return DASH if math.isnan(low) else f"{low:,.0f} to {high:,.0f}"


@dataclass(frozen=True)
class _Modeled(OnRequest):
    """People unique in the population, by one of `MODELS`."""

    needs = ("population",)
    columns = ("unique people", "interval", "of the population", "of k=1")
    page_columns: ClassVar[tuple[str, ...]] = ("unique people", "of the population", "of those alone in the file")
    known_as: ClassVar[str]

    estimate: Uniques
    weighted: bool = False

    @classmethod
    def asked(cls, case: Case) -> Self | None:
        set_sizes = case.keys.tuples.count[case.keys.complete]
        if case.population is None or not len(set_sizes):
            return None
        sample = Sample.of(set_sizes, case.population)
        return cls(MODELS[cls.name](sample, confidence=case.confidence), case.scale is not None)

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        return f"People unique in the population, by {cls.known_as}"

    def _row(self, write_share: Callable[[float], str]) -> tuple[str, ...]:
        if self.estimate.withheld:
            return (DASH,) * len(self.columns)
        estimate = self.estimate
        return (
            f"{estimate.people:,.0f}",
            _between(estimate.interval),
            write_share(estimate.share),
            write_share(estimate.right),
        )

    def cells(self) -> tuple[str, ...]:
        return self._row(share)

    def page_cells(self) -> tuple[str, ...]:
        people, spread, *shares = self._row(percent)
        return (people, spread, *shares) if "between" in self.page_columns else (people, *shares)

    def fields(self) -> dict[str, Any]:
        return self.estimate.fields()

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
        f"Pitman: {uniques.ASSUMPTION}.",
        "Of k=1: how many who are unique in the file are so in the population.",
    )


class Zayatz(_Modeled):
    """People unique in the population, by Zayatz' method."""

    name, known_as = "zayatz", "Zayatz' method"
    explanation = (f"Zayatz: {zayatz.ASSUMPTION}; no interval: {zayatz.WITHOUT}.",)


class Snb(_Modeled):
    """People unique in the population, by the shifted negative binomial model."""

    name, known_as = "snb", "the shifted negative binomial model"
    explanation = (f"Negative binomial: {snb.ASSUMPTION}; no interval: {snb.WITHOUT}.",)


@dataclass(frozen=True)
class LogLinearModel(OnRequest):
    """Records that are unique in the population, and right matches, by a log-linear model."""

    name = "loglinear"
    needs = ("population",)
    columns = ("unique (τ₁)", "interval", "right matches (τ₂)", "interval", "unique people", "B₁", "model")
    explanation = (
        f"Log-linear: {loglinear.ASSUMPTION}; of the records with k=1, τ₁ are unique in the population and τ₂ matches"
        " are right. B₁: check of fit, standardized; above 2 the model is too simple and τ too large.",
    )
    page_columns = ("unique people", "of those alone", "between", "right matches", "fit", "model")

    estimate: LogLinear
    weighted: bool = False
    titles: Mapping[str, str] = field(default_factory=dict, repr=False)

    def titled(self, titles: Mapping[str, str]) -> Self:
        return replace(self, titles=titles)

    @classmethod
    def asked(cls, case: Case) -> Self | None:
        if case.population is None or not case.keys.complete.any():
            return None
        estimate = loglinear.loglinear(case.keys, population=case.population, confidence=case.confidence)
        return cls(estimate, case.scale is not None)

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        return "Unique records and right matches, by a Poisson log-linear model"

    def cells(self) -> tuple[str, ...]:
        fit = self.estimate.fit
        if fit is None:
            return (DASH,) * len(self.columns)
        matches = (amount(fit.correct), _spread(self.estimate.correct_interval))
        first = (amount(fit.unique), _spread(self.estimate.interval))
        return (*first, *matches, f"{self.estimate.people:,.0f}", f"{fit.check:.1f}", fit.titled_name(self.titles))

    def page_cells(self) -> tuple[str, ...]:
        unique, spread, matches, _, people, *fit = self.cells()
        return (people, unique, spread, matches, *fit)

    def fields(self) -> dict[str, Any]:
        return self.estimate.fields()

    @property
    def reservation(self) -> str:
        if self.estimate.reason:
            return f"loglinear is withheld: {self.estimate.reason}"
        return f"loglinear {UNEQUAL}" if self.weighted else ""


def _spread(interval: tuple[float, float]) -> str:
    return " to ".join(map(amount, interval))


@dataclass(frozen=True)
class Individual(OnRequest):
    """The risk of each record before an intruder with a register of the population."""

    name = "individual"
    needs = ("population",)
    columns = ("expected right (Σ r)", "mean r", "highest r", "r > 0.1", "r > 0.5")
    explanation = (f"r: the mean of 1/F, {individual.ASSUMPTION}; no interval: {individual.WITHOUT}.",)
    page_columns = ("expected to be named", "mean chance", "highest", "above 10 %", "above 50 %")

    record_risks: IndividualRisk

    @classmethod
    def asked(cls, case: Case) -> Self | None:
        keys = case.keys
        if case.population is None:
            return None
        people = case.m * (case.population / max(int(keys.tuples.count[keys.kept].sum()), 1))
        if case.scale is not None:
            people = case.scale.people(matches_of_tuples(keys, keys.tuples.weight, rule=case.rule))
        risk = np.full(keys.distinct, np.nan)
        risk[keys.kept] = individual_risk(case.m[keys.kept], people[keys.kept])
        return cls(IndividualRisk(keys, risk))

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        return "Individual risk: an intruder with a register of the population"

    def _row(self, write_share: Callable[[float], str]) -> tuple[str, ...]:
        record_risks, count = self.record_risks, self.record_risks.keys.tuples.count[self.record_risks.keys.kept]
        above = (int(count[record_risks.of_tuples[record_risks.keys.kept] > bound].sum()) for bound in (0.1, 0.5))
        mean = record_risks.expected / int(count.sum())
        return (
            amount(record_risks.expected),
            write_share(mean),
            write_share(record_risks.highest),
            *map("{:,}".format, above),
        )

    def cells(self) -> tuple[str, ...]:
        return self._row(share)

    def page_cells(self) -> tuple[str, ...]:
        return self._row(percent)

    def fields(self) -> dict[str, Any]:
        return {
            "expected": number(self.record_risks.expected),
            "highest": number(self.record_risks.highest),
            "interval_missing": individual.WITHOUT,
        }

    def of_each(self) -> dict[str, NDArray[Any]]:
        return {"individual risk": self.record_risks.risk}


@dataclass(frozen=True)
class Households(OnRequest):
    """The risk that somebody of a household is recognized."""

    name = "household"
    needs = ("population",)
    columns = ("households", "expected (persons)", "mean", "highest")
    explanation = ("Household: 1 - Π (1 - r) over its members, taken as independent, for each person.",)
    page_columns = ("households", "found through one of theirs", "mean chance", "highest")

    households: int
    risk: NDArray[np.float64]

    @classmethod
    def asked(cls, case: Case) -> Self | None:
        individual_measure = Individual.asked(case)
        if individual_measure is None or case.households is None:
            return None
        return cls(
            int(case.households.n_unique()), household_risk(individual_measure.record_risks.risk, case.households)
        )

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        return "Household risk: somebody of the household is recognized"

    def _row(self, write_share: Callable[[float], str]) -> tuple[str, ...]:
        numbers = map(write_share, (float(self.risk.mean()), float(self.risk.max())))
        return (f"{self.households:,}", amount(float(self.risk.sum())), *numbers)

    def cells(self) -> tuple[str, ...]:
        return self._row(share)

    def page_cells(self) -> tuple[str, ...]:
        return self._row(percent)

    def fields(self) -> dict[str, Any]:
        return {"households": self.households, "expected": float(self.risk.sum()), "highest": float(self.risk.max())}

    def of_each(self) -> dict[str, NDArray[Any]]:
        return {"household risk": self.risk}


@dataclass(frozen=True)
class Special(OnRequest):
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
    def asked(cls, case: Case) -> Self | None:
        records = int(case.keys.tuples.count[case.keys.kept].sum())
        has_fraction = case.population is not None and case.population > records
        fraction = records / case.population if has_fraction and case.population else individual.FRACTION
        return cls(individual.suda(case.keys, fraction=fraction, progress=case.progress))

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        return f"Special uniques: alone on up to {max(measure.suda_scores.most for measure in found)} keys"

    def _row(self, write_share: Callable[[float], str]) -> tuple[str, ...]:
        suda_scores = self.suda_scores
        if not suda_scores.records:
            return ("0", *(DASH,) * (len(self.columns) - 1))
        shares = suda_scores.contributions
        key = max(shares, key=lambda name: shares[name])
        sizes = ", ".join(f"{set_count:,}" for set_count in suda_scores.sets[1:].tolist())
        risk = (
            (DASH, DASH)
            if suda_scores.reason
            else (write_share(float(suda_scores.risk.max())), amount(float(suda_scores.risk.sum())))
        )
        fewest = int(np.flatnonzero(suda_scores.sets)[0])
        return (
            f"{suda_scores.records:,}",
            f"{fewest}",
            sizes,
            f"{self.titles.get(key, key)} ({100 * shares[key]:.0f} %)",
            *risk,
        )

    def cells(self) -> tuple[str, ...]:
        return self._row(share)

    def page_cells(self) -> tuple[str, ...]:
        return self._row(percent)

    def fields(self) -> dict[str, Any]:
        suda_scores = self.suda_scores
        return {
            "records": suda_scores.records,
            "sets": suda_scores.sets[1:].tolist(),
            "contributions": {name: number(value) for name, value in suda_scores.contributions.items()},
            "dis_fraction": suda_scores.fraction,
            "dis_highest": number(float(suda_scores.risk.max(initial=0))),
            "dis_sum": number(float(suda_scores.risk.sum())),
            "dis_withheld": suda_scores.reason or None,
        }

    def of_each(self) -> dict[str, NDArray[Any]]:
        return {"SUDA score": self.suda_scores.score, "DIS": self.suda_scores.dis}

    @property
    def reservation(self) -> str:
        return f"DIS is withheld: {self.suda_scores.reason}" if self.suda_scores.reason else ""
