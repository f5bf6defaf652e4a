"""People unique in the population, by a Poisson log-linear model of the table of keys (Skinner & Shlomo 2008)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.table import check_names
from naysay.microdata.keys.tuples import packed
from naysay.microdata.keys.variables import Keys
from naysay.microdata.population.theta import FEWEST, sampling_fraction
from naysay.show import number

ASSUMPTION = "people with each combination of keys are Poisson, their mean log-linear, and all were equally likely"
MOST = 20_000_000  # cells of a table that is fitted; several arrays of this size are held
FITS = 2.0  # a standardized check of fit below this is chance

Floats = NDArray[np.float64]
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
        low = min(value - z * error for value, error in ends)
        return max(low, 0.0), max(value + z * error for value, error in ends)

    def fields(self) -> dict[str, Any]:
        """The fields of a JSON object; undefined numbers are None."""
        fit = self.fit
        return {
            "unique": None if fit is None else number(fit.unique),
            "unique_interval": [number(bound) for bound in self.interval],
            "correct": None if fit is None else number(fit.correct),
            "correct_interval": [number(bound) for bound in self.correct_interval],
            "people": number(self.people),
            "model": None if fit is None else [list(term) for term in fit.terms],
            "check": None if fit is None else number(fit.check),
            "cells": self.combinations,
            "withheld": self.reason or None,
        }


def loglinear(
    keys: Keys,
    *,
    population: float,
    terms: Sequence[Sequence[str]] | None = None,
    impossible: Sequence[Mapping[str, Any]] = (),
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
    complete, tuples = keys.complete, keys.tuples
    records = int(tuples.count[complete].sum())
    fraction = sampling_fraction(max(records, 1), population)
    shape = [len(variable.cells.values) for variable in keys.variables]
    size, unique = math.prod(shape), int((tuples.count[complete] == 1).sum())
    place = packed([column[complete].astype(np.int64) - 1 for column in tuples.columns], shape) if records else None
    reason = _reason(size, unique, fraction)
    if reason or place is None:
        return LogLinear((), 0, size, records, unique, fraction, confidence, reason)
    count = np.zeros(size)
    count[place] = tuples.count[complete]
    table = _Table(keys.columns, count.reshape(shape), fraction, _possible(keys, shape, impossible))
    if (table.count[~table.possible] > 0).any():
        raise DataError("combinations that are named as impossible occur in the file")
    path, ends = ((table.fit(_places_of_terms(keys, terms)),), 1) if terms is not None else _forward(table)
    return LogLinear(path, ends, size, records, unique, fraction, confidence, "")


def _reason(size: int, unique: int, fraction: float) -> str:
    if fraction == 1:
        return "the file is the population: nothing is to be estimated"
    if unique < FEWEST:
        return f"fewer than {FEWEST} unique records"
    return f"{size:,} combinations of keys are more than {MOST:,}: use fewer or coarser keys" if size > MOST else ""


@dataclass(frozen=True, eq=False)
class _Table:
    """The table of keys, and models of it."""

    names: tuple[str, ...]
    count: Floats
    fraction: float
    possible: NDArray[np.bool_]

    def fit(self, terms: Sequence[tuple[int, ...]]) -> Fit:
        """The model with these interactions and all main effects."""
        inside = set().union(*terms) if terms else set()
        margins = (*terms, *((place,) for place in range(self.count.ndim) if place not in inside))
        return self._fit_of_means(terms, fitted_means(self.count, margins, self.possible))

    def _fit_of_means(self, terms: Sequence[tuple[int, ...]], mean: Floats) -> Fit:
        part = self.fraction
        people_outside = (1 - part) / part * mean[self.count == 1]  # γμ: people outside the file
        none = np.exp(-people_outside)
        some = np.where(
            people_outside > 1e-8,
            -np.expm1(-people_outside) / np.maximum(people_outside, 1e-300),
            1 - people_outside / 2,
        )
        return Fit(
            tuple(tuple(self.names[place] for place in term) for term in terms),
            _check_of_fit(self.count, mean, part),
            float(none.sum()),
            float(some.sum()),
            math.sqrt(float((none * (1 - none)).sum())),
            math.sqrt(float((some * (1 - some)).sum())),
        )


def _check_of_fit(count: Floats, mean: Floats, part: float) -> float:
    """B₁ over its standard error; (f - μ) and (f - μ)² - f are uncorrelated, with variances μ and 2μ²."""
    rate = mean / part
    weight = rate * np.exp(-rate) * (1 - part)
    half = (1 - part) / (2 * part)
    residual = count - mean
    variance = float((weight**2 * (mean + 2 * half**2 * mean**2)).sum())
    return (
        float((weight * (residual + half * (residual**2 - count))).sum()) / math.sqrt(variance)
        if variance
        else math.nan
    )


def fitted_means(
    count: Floats, margins: Sequence[tuple[int, ...]], possible: NDArray[np.bool_] | None = None
) -> Floats:
    """The means that share some margins with a table, by iterative proportional fitting."""
    mean = np.ones(count.shape) if possible is None else possible.astype(np.float64)
    summed_axes = [tuple(axis for axis in range(count.ndim) if axis not in margin) for margin in margins]
    margin_totals = [count.sum(axis=axes, keepdims=True) for axes in summed_axes]
    for _ in range(500):
        largest_change = 0.0
        for axes, total in zip(summed_axes, margin_totals, strict=True):
            mean_totals = mean.sum(axis=axes, keepdims=True)
            ratio = np.divide(total, mean_totals, out=np.zeros_like(total), where=mean_totals > 0)
            largest_change = max(largest_change, float(np.abs(ratio - 1)[total > 0].max(initial=0)))
            mean *= ratio
        if largest_change < 1e-9:
            break
    return mean


def _forward(table: _Table) -> tuple[tuple[Fit, ...], int]:
    """Models from independence on, and how many of the last may be right."""
    path, terms = [table.fit(())], list[tuple[int, ...]]()
    for pair in sorted(combinations(range(table.count.ndim), 2), key=lambda two: -_information(table.count, two)):
        if path[-1].check < FITS:
            break
        terms.append(pair)
        path.append(table.fit(tuple(terms)))
    return tuple(path), 2 if len(path) > 1 and path[-1].check < -FITS else 1


def _information(count: Floats, pair: tuple[int, ...]) -> float:
    """What two keys tell of each other beyond chance: χ² of independence over its mean."""
    pair_counts = count.sum(axis=tuple(axis for axis in range(count.ndim) if axis not in pair))
    expected_counts = np.outer(pair_counts.sum(axis=1), pair_counts.sum(axis=0)) / pair_counts.sum()
    square = float(
        np.divide(
            (pair_counts - expected_counts) ** 2,
            expected_counts,
            out=np.zeros_like(pair_counts),
            where=expected_counts > 0,
        ).sum()
    )
    return float(square / max((pair_counts.shape[0] - 1) * (pair_counts.shape[1] - 1), 1))


def _places_of_terms(keys: Keys, terms: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], ...]:
    for term in terms:
        check_names(list(term), keys.columns, what="key")
    return tuple(tuple(sorted({keys.columns.index(name) for name in term})) for term in terms)


def _possible(keys: Keys, shape: Sequence[int], impossible: Sequence[Mapping[str, Any]]) -> NDArray[np.bool_]:
    is_possible = np.ones(tuple(shape), np.bool_)
    for combination in impossible:
        cell_index: list[Any] = [slice(None)] * len(shape)
        for name, value in combination.items():
            values = keys.variable(name).cells.values
            if value not in values:
                raise DataError(f"{value!r} is no value of the key {name!r}", column=name, value=value)
            cell_index[keys.columns.index(name)] = values.index(value)
        is_possible[tuple(cell_index)] = False
    return is_possible
