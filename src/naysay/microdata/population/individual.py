"""The risk of each record if an intruder has a register of the population (Benedetti & Franconi 1998)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.variables import Keys

__all__ = ["ASSUMPTION", "WITHOUT", "IndividualRisk", "household_risk", "individual_risk"]

ASSUMPTION = "given a class in the file, its people outside the file are negative binomial around the weights' estimate"
WITHOUT = "it rests on estimated numbers of people, whose error one file does not tell; for unique records it is low"

_SMALL = 0.05  # the sampled share of a class below which the series takes too many terms
_FEW = 64  # the records of a class up to which the recursion is taken then
_TERMS = 100_000

Floats = NDArray[np.float64]


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
    f, total = np.broadcast_arrays(np.asarray(sizes, np.float64), np.asarray(people, np.float64))
    if f.size and (f.min() < 1 or not np.isfinite(f).all()):
        raise DataError("sizes must be numbers of records, from 1")
    if total.size and (not np.isfinite(total).all() or total.min() <= 0):
        raise DataError("people must be numbers above zero, one for each size")
    # a pair as one complex number: sorted as one, not as two columns
    pairs, place = np.unique(f.ravel() + 1j * np.minimum(f / total, 1).ravel(), return_inverse=True)
    f, p = pairs.real, pairs.imag
    result = np.empty(len(f))
    few = (p < _SMALL) & (f <= _FEW)
    result[few], result[~few] = _recursion(f[few], p[few]), _series(f[~few], p[~few])
    return result[np.asarray(place).ravel()].reshape(np.shape(sizes))


def _series(f: Floats, p: Floats) -> Floats:
    """(p/f) Σ_j Π_{i ≤ j} i(1-p)/(f+i)."""
    total, term, left = np.ones(len(f)), np.ones(len(f)), np.arange(len(f))
    for i in range(1, _TERMS):
        term[left] *= i * (1 - p[left]) / (f[left] + i)
        total[left] += term[left]
        left = left[term[left] > 1e-17 * total[left]]
        if not len(left):
            break
    return p / f * total


def _recursion(f: Floats, p: Floats) -> Floats:
    """r₁ = p/(1-p) log(1/p), r_f = p/(1-p) (1/(f-1) - r_{f-1}), which loses no digits while p is small."""
    odds = p / (1 - p)
    found = odds * -np.log(p)
    result = found.copy()
    for size in range(2, int(f.max(initial=1)) + 1):
        found = odds * (1 / (size - 1) - found)
        result[f == size] = found[f == size]
    return result


def household_risk(risk: ArrayLike, households: Sequence[Any] | pl.Series) -> Floats:
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
    own = np.nan_to_num(np.asarray(risk, np.float64))
    if own.ndim != 1 or len(own) != len(households):
        raise DataError(f"one household for each respondent is needed; got {len(households):,} for {len(own):,}")
    if own.size and (own.min() < 0 or own.max() > 1):
        raise DataError("risks must be probabilities, from 0 to 1")
    codes = pl.Series(households).rank("dense").to_numpy().astype(np.float64)
    alone = np.isnan(codes)
    codes[alone] = len(codes) + np.arange(int(alone.sum()))
    _, place = np.unique(codes, return_inverse=True)
    with np.errstate(divide="ignore"):
        kept = np.bincount(place, np.log1p(-own))
    return _checks.read_only(-np.expm1(kept)[place])
