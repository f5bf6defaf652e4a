"""People unique in the population, by a Poisson log-linear model of the table of keys (Skinner & Shlomo 2008)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Self

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay._values import Floats, Label
from naysay.errors import DataError
from naysay.microdata.keys.cells import packed
from naysay.microdata.keys.codes import check_names
from naysay.microdata.keys.variables import Keys
from naysay.microdata.risk.measure import Case, OnRequest
from naysay.microdata.risk.theta import FEWEST, sampling_fraction
from naysay.microdata.risk.uniques import UNEQUAL
from naysay.show.result import DASH, amount

ASSUMPTION = "people with each combination of keys are Poisson, their mean log-linear, and all were equally likely"
MOST = 20_000_000  # cells of a table that is fitted; several arrays of this size are held
FITS = 2.0  # a standardized check of fit below this is chance

Margins = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Fit:
    """One log-linear model of the table.

    Parameters
    ----------
    terms : tuple of tuple of str
        The interactions, beside the main effects.
    check : float
        B₁ over its Poisson standard error: above zero the model is too simple and τ too large; below, too rich.
    unique, correct : float
        τ₁, records unique in the file that are unique in the population, and τ₂, the expected number of right matches
        for these records.
    error, correct_error : float
        Standard errors of the realized numbers, the means of the cells taken as known.
    """

    terms: tuple[tuple[str, ...], ...]
    check: float
    unique: float
    correct: float
    error: float
    correct_error: float

    @property
    def name(self) -> str:
        """The interactions in words."""
        return self.titled_name({})

    def titled_name(self, titles: Mapping[str, str]) -> str:
        """The interactions, with other words for the keys."""
        terms = (" × ".join(titles.get(name, name) for name in term) for term in self.terms)
        return ", ".join(terms) or "independence"


@dataclass(frozen=True)
class LogLinear:
    """What log-linear models say of a file: the models that were tried, and the range of the last.

    Parameters
    ----------
    path : tuple of Fit
        Independence, then with one more interaction each.
    ends : int
        How many models at the end of `path` may be right: the last, or two where the check of fit changes its sign
        from one to the other.
    combinations : int
        Cells of the table.
    records, sample_unique : int
        Records with every key, and those of them that are unique in the file.
    fraction, confidence : float
    reason : str
        Why the numbers are withheld; empty if they are not.
    """

    path: tuple[Fit, ...]
    ends: int
    combinations: int
    records: int
    sample_unique: int
    fraction: float
    confidence: float
    reason: str

    @property
    def fit(self) -> Fit | None:
        """The model taken, which of those that may be right fits best; None where there is none."""
        return min(self._ends, key=lambda model: abs(model.check), default=None)

    @property
    def _ends(self) -> tuple[Fit, ...]:
        """The models that may be right."""
        return self.path[len(self.path) - self.ends :]

    @property
    def people(self) -> float:
        """U = τ₁/π, people unique in the population; NaN where there is no answer."""
        return self.fit.unique / self.fraction if self.fit else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Of τ₁: from the lower bound of the richest to the upper bound of the simplest model that may be right."""
        return self._interval([(model.unique, model.error) for model in self._ends])

    @property
    def correct_interval(self) -> tuple[float, float]:
        """Of τ₂, alike."""
        return self._interval([(model.correct, model.correct_error) for model in self._ends])

    def _interval(self, ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
        if not ends:
            return math.nan, math.nan
        z = float(scipy.stats.norm.ppf((1 + self.confidence) / 2))
        low_bound = min(value - z * error for value, error in ends)
        return max(low_bound, 0.0), max(value + z * error for value, error in ends)

    def numbers(self) -> dict[str, object]:
        """The numbers under the stable names of JSON."""
        fit = self.fit
        return {
            "unique": None if fit is None else fit.unique,
            "unique_interval": self.interval,
            "correct": None if fit is None else fit.correct,
            "correct_interval": self.correct_interval,
            "people": self.people,
            "model": None if fit is None else [list(term) for term in fit.terms],
            "check": None if fit is None else fit.check,
            "cells": self.combinations,
            "withheld": self.reason or None,
        }


def loglinear(
    keys: Keys,
    *,
    population: float,
    terms: Sequence[Sequence[str]] | None = None,
    impossible: Sequence[Mapping[str, Label]] = (),
    confidence: float = 0.95,
) -> LogLinear:
    """How many records unique in the file are unique in the population, and how many matches are right.

    F_c ~ Poisson(λ_c), f_c ~ Poisson(μ_c), μ = πλ; with γ = (1-π)/π, over the cells with f_c = 1,
    τ₁ = Σ exp(-γμ_c), τ₂ = Σ (1 - exp(-γμ_c))/(γμ_c)

    The means are fitted to all combinations of keys, also those that nobody has, by iterative proportional fitting.
    From independence on, the pair of keys that tells most of each other is added, until the check of fit B₁ is no more
    than chance. If it changes its sign before, the truth lies between two models, and the interval spans both. It takes
    one of these models as right: in a small sample the check sees little, and values that the sample holds once are
    overstated, so that τ₁ is too low.

    Parameters
    ----------
    keys : Keys
        Records with a gap are set aside, as for k.
    population : float
    terms : sequence of sequences of str, optional
        The interactions of one model, in place of a search.
    impossible : sequence of {key: value}, optional
        Combinations that cannot occur, such as ``{"age": 10, "marital": "married"}``; they are left out of the fit.
    confidence : float

    Raises
    ------
    DataError
        A population smaller than the file, interactions of unknown keys, impossible values that somebody has.

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import microdata
    >>> rng = np.random.default_rng(6)
    >>> table = {"age": rng.geometric(0.05, 900), "job": rng.geometric(0.1, 900)}
    >>> found = loglinear(microdata.Keys(table, ["age", "job"]), population=9_000)
    >>> found.fit.name, round(found.fit.unique, 1), [round(bound, 1) for bound in found.interval]
    ('independence', 69.6, [58.3, 80.9])

    Notes
    -----
    Skinner & Holmes (1998); Elamir & Skinner (2006); Skinner & Shlomo (2008), Assessing identification risk in survey
    microdata using log-linear models, JASA 103(483), 989-1001.
    """
    is_complete, tuples = keys.complete, keys.tuples
    record_count = int(tuples.count[is_complete].sum())
    fraction = sampling_fraction(max(record_count, 1), population)
    table_shape = [len(variable.cells.values) for variable in keys.variables]
    cell_count, unique_count = math.prod(table_shape), int((tuples.count[is_complete] == 1).sum())
    reason = ""
    if fraction == 1:
        reason = "the file is the population: nothing is to be estimated"
    elif unique_count < FEWEST:
        reason = f"fewer than {FEWEST} unique records"
    elif cell_count > MOST:
        reason = f"{cell_count:,} combinations of keys are more than {MOST:,}: use fewer or coarser keys"
    if reason:
        return LogLinear((), 0, cell_count, record_count, unique_count, fraction, confidence, reason)
    cell_counts = np.zeros(cell_count)
    cell_places = packed([column[is_complete].astype(np.int64) - 1 for column in tuples.columns], table_shape)
    cell_counts[cell_places] = tuples.count[is_complete]
    cell_table = _Table(
        keys.columns, cell_counts.reshape(table_shape), fraction, _possible(keys, table_shape, impossible)
    )
    if (cell_table.count[~cell_table.possible] > 0).any():
        raise DataError("combinations that are named as impossible occur in the file")
    if terms is None:
        models, pair_terms = [cell_table.fit(())], list[tuple[int, ...]]()
        key_pairs = combinations(range(len(table_shape)), 2)
        for pair in sorted(key_pairs, key=lambda key_pair: -_information(cell_counts.reshape(table_shape), key_pair)):
            if models[-1].check < FITS:
                break
            pair_terms.append(pair)
            models.append(cell_table.fit(tuple(pair_terms)))
        model_path, end_count = tuple(models), 2 if len(models) > 1 and models[-1].check < -FITS else 1
    else:
        for term in terms:
            check_names(list(term), keys.columns, what="key")
        key_places = tuple(tuple(sorted({keys.columns.index(name) for name in term})) for term in terms)
        model_path, end_count = (cell_table.fit(key_places),), 1
    return LogLinear(model_path, end_count, cell_count, record_count, unique_count, fraction, confidence, "")


@dataclass(frozen=True, eq=False)
class _Table:
    """The table of keys, and models of it."""

    names: tuple[str, ...]
    count: Floats
    fraction: float
    possible: NDArray[np.bool_]

    def fit(self, terms: Sequence[tuple[int, ...]]) -> Fit:
        """The model with these interactions and all main effects."""
        keys_in_terms = set().union(*terms) if terms else set()
        margins = (*terms, *((key_place,) for key_place in range(self.count.ndim) if key_place not in keys_in_terms))
        mean, part = fitted_means(self.count, margins, self.possible), self.fraction
        people_outside = (1 - part) / part * mean[self.count == 1]  # γμ: people outside the file
        chance_alone = np.exp(-people_outside)
        chance_right = np.where(
            people_outside > 1e-8,
            -np.expm1(-people_outside) / np.maximum(people_outside, 1e-300),
            1 - people_outside / 2,
        )
        return Fit(
            tuple(tuple(self.names[key_place] for key_place in term) for term in terms),
            _check_of_fit(self.count, mean, part),
            float(chance_alone.sum()),
            float(chance_right.sum()),
            math.sqrt(float((chance_alone * (1 - chance_alone)).sum())),
            math.sqrt(float((chance_right * (1 - chance_right)).sum())),
        )


def _check_of_fit(count: Floats, mean: Floats, part: float) -> float:
    """B₁ over its standard error; (f - μ) and (f - μ)² - f are uncorrelated, with variances μ and 2μ²."""
    rate = mean / part
    weight = rate * np.exp(-rate) * (1 - part)
    half = (1 - part) / (2 * part)
    residual = count - mean
    variance = float((weight**2 * (mean + 2 * half**2 * mean**2)).sum())
    misfit = float((weight * (residual + half * (residual**2 - count))).sum())
    return misfit / math.sqrt(variance) if variance else math.nan


def fitted_means(
    count: Floats, margins: Sequence[tuple[int, ...]], possible: NDArray[np.bool_] | None = None
) -> Floats:
    """The means that share some margins with a table, by iterative proportional fitting."""
    cell_means = np.ones(count.shape) if possible is None else possible.astype(np.float64)
    summed_axes = [tuple(axis for axis in range(count.ndim) if axis not in margin) for margin in margins]
    margin_totals = [count.sum(axis=margin_axes, keepdims=True) for margin_axes in summed_axes]
    for _ in range(500):
        largest_change = 0.0
        for margin_axes, margin_total in zip(summed_axes, margin_totals, strict=True):
            mean_totals = cell_means.sum(axis=margin_axes, keepdims=True)
            ratio = np.divide(margin_total, mean_totals, out=np.zeros_like(margin_total), where=mean_totals > 0)
            largest_change = max(largest_change, float(np.abs(ratio - 1)[margin_total > 0].max(initial=0)))
            cell_means *= ratio
        if largest_change < 1e-9:
            break
    return cell_means


def _information(count: Floats, pair: tuple[int, ...]) -> float:
    """What two keys tell of each other beyond chance: χ² of independence over its mean."""
    pair_counts = count.sum(axis=tuple(axis for axis in range(count.ndim) if axis not in pair))
    expected_counts = np.outer(pair_counts.sum(axis=1), pair_counts.sum(axis=0)) / pair_counts.sum()
    squared_gaps, no_gaps = (pair_counts - expected_counts) ** 2, np.zeros_like(pair_counts)
    chi_square = np.divide(squared_gaps, expected_counts, out=no_gaps, where=expected_counts > 0).sum()
    return float(chi_square / max((pair_counts.shape[0] - 1) * (pair_counts.shape[1] - 1), 1))


def _possible(keys: Keys, shape: Sequence[int], impossible: Sequence[Mapping[str, Label]]) -> NDArray[np.bool_]:
    is_possible = np.ones(tuple(shape), np.bool_)
    for combination in impossible:
        cell_index: list[slice | int] = [slice(None)] * len(shape)
        for key_name, value in combination.items():
            known_values = keys.variable(key_name).cells.values
            if value not in known_values:
                raise DataError(f"{value!r} is no value of the key {key_name!r}", column=key_name, value=value)
            cell_index[keys.columns.index(key_name)] = known_values.index(value)
        is_possible[tuple(cell_index)] = False
    return is_possible


@dataclass(frozen=True)
class LogLinearModel(OnRequest):
    """Records that are unique in the population, and right matches, by a log-linear model."""

    name = "loglinear"
    needs = ("population",)
    columns = ("unique (τ₁)", "interval", "right matches (τ₂)", "interval", "unique people", "B₁", "model")
    explanation = (
        f"Log-linear: {ASSUMPTION}; of the records with k=1, τ₁ are unique in the population and τ₂ matches"
        " are right. B₁: check of fit, standardized; above 2 the model is too simple and τ too large.",
    )
    page_columns = ("unique people", "of those alone", "between", "right matches", "fit", "model")

    estimate: LogLinear
    weighted: bool = False
    titles: Mapping[str, str] = field(default_factory=dict, repr=False)

    def titled(self, titles: Mapping[str, str]) -> Self:
        return replace(self, titles=titles)

    @classmethod
    def measure_case(cls, case: Case) -> Self | None:
        if case.population is None or not case.keys.complete.any():
            return None
        estimate = loglinear(case.keys, population=case.population, confidence=case.confidence)
        return cls(estimate, case.scale is not None)

    @classmethod
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
        return "Unique records and right matches, by a Poisson log-linear model"

    def cells(self) -> tuple[str, ...]:
        fit = self.estimate.fit
        if fit is None:
            return (DASH,) * len(self.columns)
        matches = (amount(fit.correct), _spread(self.estimate.correct_interval))
        first = (amount(fit.unique), _spread(self.estimate.interval))
        return (*first, *matches, f"{self.estimate.people:,.0f}", f"{fit.check:.1f}", fit.titled_name(self.titles))

    def page_cells(self) -> tuple[str, ...]:
        unique_text, interval_text, matches_text, _, people_text, *fit_texts = self.cells()
        return (people_text, unique_text, interval_text, matches_text, *fit_texts)

    def numbers(self) -> dict[str, object]:
        return self.estimate.numbers()

    @property
    def reservation(self) -> str:
        if self.estimate.reason:
            return f"loglinear is withheld: {self.estimate.reason}"
        return f"loglinear {UNEQUAL}" if self.weighted else ""


def _spread(interval: tuple[float, float]) -> str:
    return " to ".join(map(amount, interval))
