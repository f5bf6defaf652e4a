"""What a tally keeps of how its people were sampled, and the covariance of a weighted total.

An estimate is, to first order, a weighted total Σ w z of scores z: one score, of q numbers, for each distinct answer. A
sample gives deviations D, (deviations, q), with Cov(Σ w z) = DᵀD. The rows of D are

- for units in strata, sqrt((1 - f_h) n_h/(n_h - 1)) (t_i - t̄_h) of the units' totals t_i = Σ_{r in i} w_r z_r, where
  f_h is the share of its units that a stratum's sample holds (ultimate clusters; Hansen, Hurwitz & Madow 1953);
- for replicate weights, sqrt(c_b) (T_b - T) of the total under each set of weights.

People who are alike in stratum, weight and answer are one unit that is there several times. So independent people are
units too, and a plain tally is the special case of one stratum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError

__all__ = ["LONELY", "Floats", "Places", "Plan", "Sampled", "Units"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

LONELY = {
    "error": "an error",
    "certainty": "no variance: the unit was certain to come",
    "center": "its deviation from the mean of all units",
    "collapse": "joined with the next stratum",
}
"""What a stratum with a single unit, which has no variance of its own, may count for."""


@dataclass(frozen=True, eq=False)
class Plan:
    """The units of a sample; all groups of one file share it.

    Parameters
    ----------
    stratum : (units,) int
        The place of each unit's stratum.
    many : (units,) float
        How often each unit is there; 1 for a cluster.
    strata : tuple of str
        The names of the strata; one empty name where there are none.
    fpc : (strata,) float
        For a finite population: the units in each stratum, or if at most 1 the share of them that was drawn. NaN for an
        infinite one.
    clusters : tuple of str, optional
        The names of the units, where they are clusters.
    lonely : str
        What a stratum with a single unit counts for; see `LONELY`.
    worth : (strata,) float, optional
        The n of n/(n - 1) where it is not the number of units, but that of equally weighted ones as precise; scores of
        all sum to zero then, and no mean is taken off.
    """

    stratum: Places
    many: Floats
    strata: tuple[str, ...] = ("",)
    fpc: Floats = field(default_factory=lambda: np.array([np.nan]))
    clusters: tuple[str, ...] | None = None
    lonely: str = "error"
    worth: Floats | None = None

    @cached_property
    def sizes(self) -> Floats:
        """Units in each stratum, (strata,)."""
        return np.bincount(self.stratum, self.many, minlength=len(self.strata)).astype(float)

    @cached_property
    def fractions(self) -> Floats:
        """The share of its units that each stratum's sample holds, (strata,): 0 for an infinite population."""
        drawn = np.where(self.fpc <= 1, self.fpc, self.sizes / np.where(self.fpc > 1, self.fpc, 1.0))
        return np.where(np.isnan(self.fpc), 0.0, drawn)

    @property
    def degrees_of_freedom(self) -> float:
        """Units less strata, at least 1; of the strata that were not taken whole, if there are any."""
        partly = self.fractions < 1  # the others add no variance of sampling, however many units they have
        counted = (self.sizes > 0) & (partly | (not partly.any()))
        return max(float(self.sizes[counted].sum()) - len(np.unique(self.merged[counted])), 1.0)

    @cached_property
    def merged(self) -> Places:
        """The stratum in which each stratum's variance is taken, (strata,): another one where lonely ones collapse."""
        places = np.arange(len(self.strata))
        if self.lonely != "collapse":
            return places
        present = np.flatnonzero(self.sizes > 0)
        for at, place in enumerate(present.tolist()):
            if self.sizes[place] <= 1 and len(present) > 1:  # the next one; the last joins the one before it
                other = present[at + 1] if at + 1 < len(present) else present[at - 1]
                places[places == places[place]] = places[other]
        return places

    @cached_property
    def factors(self) -> tuple[Floats, Floats]:
        """For each stratum (1 - f) n/(n - 1), and by how much its own mean is taken off: 1, or 0 where a unit is alone.

        Raises
        ------
        DataError
            Where a stratum has a single unit, is not taken whole, and nothing is said of it.
        """
        joined = np.bincount(self.merged, self.sizes, minlength=len(self.strata)).astype(float)
        sizes = joined[self.merged] if self.worth is None else self.worth
        lonely = (sizes == 1) & (self.fractions < 1)
        if lonely.any() and (self.lonely not in ("certainty", "center") or len(self.strata) == 1):
            names = [name for name, alone in zip(self.strata, lonely, strict=True) if alone]
            unit = "one cluster" if self.clusters is not None else "one person"
            if len(self.strata) == 1:
                raise DataError(f"a sample of only {unit} has no variance; are the clusters those of the sample?")
            raise DataError(
                f"stratum {_checks.shown(names)} has only {unit}, and so no variance of its own; join it with a "
                "stratum like it in your data, or say what it counts for: lonely='collapse' (joined with the next "
                "stratum), 'center' (its deviation from the mean of all) or 'certainty' (none, if it was certain to "
                "come)"
            )
        scale = np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1.0), 0.0 if self.lonely == "certainty" else 1.0)
        return (1 - self.fractions) * scale, np.where(sizes > 1, 1.0, 0.0)


class Sampled(ABC):
    """How the people behind some items, such as distinct answers, were sampled."""

    @property
    @abstractmethod
    def weight(self) -> Floats:
        """Sum of the weights of each item, (items,)."""

    @property
    @abstractmethod
    def squared(self) -> Floats:
        """Sum of the squares of the weights of each item, (items,)."""

    @property
    @abstractmethod
    def kept(self) -> Floats:
        """Squares of weights whose randomization the finite population took off with the sampling, (items,).

        A correction 1 - f takes a share f of all variance off, but that of randomized answers stays, even in a census:
        add Σ kept · V with V the randomization variance of each item's score.
        """

    @property
    @abstractmethod
    def degrees_of_freedom(self) -> float:
        """Of the covariance: units less strata, or those of the replicates."""

    @abstractmethod
    def deviations(self, scores: Floats) -> Floats:
        """D (deviations, q) of scores (items, q), with DᵀD the covariance of their weighted total."""

    @abstractmethod
    def take(self, items: NDArray[np.bool_] | Places) -> Sampled:
        """The same sample with some items only; people with others stay in it, and count zero."""

    @abstractmethod
    def scaled(self, factor: float) -> Sampled:
        """The same sample with all weights multiplied."""

    @abstractmethod
    def shares_plan(self, other: Sampled) -> bool:
        """Whether both are groups of one sample, so that their deviations line up."""

    @property
    @abstractmethod
    def by(self) -> str:
        """What variances rest on, in words."""

    @property
    def sentence(self) -> str:
        """The sample and its degrees of freedom, in words."""
        return f"sample: {self}; {self.degrees_of_freedom:,.0f} df"

    def covariance(self, scores: Floats) -> Floats:
        """The design-based covariance (q, q) of the weighted total of scores (items, q).

        Take the scores as centered: Σ w z = 0.

        Examples
        --------
        >>> import numpy as np
        >>> from naysay.sampling import Sampling
        >>> rows = Sampling(weights=[10, 10, 20, 20], clusters=["a", "a", "b", "c"]).rows(4)
        >>> sampled = rows.collapsed(np.array([0, 1, 1, 0]), 2)  # the first and the last gave answer 0
        >>> sampled.covariance(np.array([[0.5], [-0.5]]))
        array([[300.]])
        """
        found = self.deviations(scores)
        return np.asarray(found.T @ found)


@dataclass(frozen=True, eq=False)
class Units(Sampled):
    """Units in strata, and the weight that each item has in each of them.

    A column is an item, or an item within one cell of the margins to which weights were calibrated.

    Parameters
    ----------
    plan : Plan
    totals : (units, columns) sparse
        Sums of weights; of one unit, where the same unit is there several times.
    squares : (strata, columns) sparse
        Sums of the squares of the weights of people, over all units.
    item : (columns,) int
        The item of each column; -1 for none: people without an answer, or of another group.
    cell : (columns,) int
        The calibration cell of each column.
    margins : (cells, p) float
        To which totals the cells add; p = 0 without calibration.
    items : int
    """

    plan: Plan
    totals: scipy.sparse.csr_array
    squares: scipy.sparse.csr_array
    item: Places
    cell: Places
    margins: Floats
    items: int

    @classmethod
    def independent(
        cls, count: NDArray[Any], weight: Floats, squared: Floats, *, stratum: Places | None = None, kish: bool = False
    ) -> Units:
        """Independent people of whom only each item's number, weight and squared weight are known, (items,).

        Half of an item's people stand for those above its mean weight and half for those below, so that the sums of
        weights and squares are those that were given. With `kish` their n of n/(n - 1) is (Σw)²/Σw² (Kish 1965).
        """
        given = np.asarray(count, dtype=float)
        size, often = len(given), np.maximum(given, 1.0)
        mean = weight / often
        spread = np.sqrt(np.maximum(squared / often - mean**2, 0.0))
        apart = spread > 1e-9 * mean
        place = np.concatenate([np.arange(size), np.flatnonzero(apart)])
        each = np.concatenate([mean + apart * spread, (mean - spread)[apart]])
        many = np.concatenate([np.where(apart, given / 2, given), given[apart] / 2])
        strata = np.zeros(size, dtype=np.intp) if stratum is None else np.asarray(stratum)
        number = int(strata.max(initial=0)) + 1
        names, nothing = tuple(map(str, range(number))), np.full(number, np.nan)
        worth = np.array([weight.sum() ** 2 / squared.sum()]) if kish else None
        plan = Plan(strata[place], many, names, nothing, None, "certainty", worth)
        # Written row by row: scipy takes several times as long to sort places into rows, also where they are sorted.
        totals = scipy.sparse.csr_array((each, place, np.arange(len(place) + 1)), shape=(len(place), size))
        order, ends = np.argsort(strata, kind="stable"), np.bincount(strata, minlength=number).cumsum()
        squares = scipy.sparse.csr_array((squared[order], order, np.append(0, ends)), shape=(number, size))
        return cls(plan, totals, squares, np.arange(size), np.zeros(size, dtype=np.intp), np.zeros((1, 0)), size)

    @property
    def weight(self) -> Floats:
        return self._by_item(self._column_weight)

    @property
    def squared(self) -> Floats:
        return self._by_item(np.asarray(self.squares.sum(axis=0)))

    @property
    def kept(self) -> Floats:
        return self._by_item(self.squares.T @ self.plan.fractions)

    @cached_property
    def _column_weight(self) -> Floats:
        return np.asarray(self.totals.T @ self.plan.many)

    def _by_item(self, values: Floats) -> Floats:
        inside = self.item >= 0
        return np.bincount(self.item[inside], values[inside], minlength=self.items).astype(float)

    @property
    def degrees_of_freedom(self) -> float:
        return self.plan.degrees_of_freedom

    def deviations(self, scores: Floats) -> Floats:
        """D (units, q); scores are replaced by their residuals on the margins, where weights were calibrated."""
        z = np.vstack([scores, np.zeros((1, scores.shape[1]))])[self.item]  # -1 is the row of zeros
        if self.margins.shape[1]:
            root = np.sqrt(self._column_weight)[:, None]
            fitted = self.margins[self.cell]
            slope = np.linalg.lstsq(root * fitted, root * z, rcond=1e-10)[0]
            z = z - fitted @ slope
        plan = self.plan
        totals, stratum = self.totals @ z, plan.merged[plan.stratum]
        scale, own = plan.factors
        counted = np.bincount(stratum, plan.many, minlength=len(plan.strata))
        summed = [np.bincount(stratum, plan.many * column, minlength=len(counted)) for column in totals.T]
        means = np.column_stack(summed) / np.maximum(counted, 1.0)[:, None]
        if plan.worth is not None:
            means[:] = 0.0
        elif (own == 0).any():  # units that are alone in their stratum, against the mean of all
            means[own == 0] = plan.many @ totals / plan.many.sum()
        return np.asarray(np.sqrt(plan.many * scale[plan.stratum])[:, None] * (totals - means[stratum]))

    def take(self, items: NDArray[np.bool_] | Places) -> Units:
        place = np.full(self.items + 1, -1, dtype=np.intp)  # the last for people without an item
        kept = np.arange(self.items)[items]
        place[kept] = np.arange(len(kept))
        return replace(self, item=place[self.item], items=len(kept))

    def scaled(self, factor: float) -> Units:
        if factor == 1:
            return self
        return replace(self, totals=self.totals * factor, squares=self.squares * factor**2)

    def shares_plan(self, other: Sampled) -> bool:
        return isinstance(other, Units) and self.plan is other.plan

    @property
    def by(self) -> str:
        return "linearized for the sample"

    def __str__(self) -> str:
        plan = self.plan
        units = "clusters" if plan.clusters is not None else "people"
        text = f"{plan.sizes.sum():,.0f} {units}"
        if len(plan.strata) > 1:
            text += f" in {len(plan.strata):,} strata"
        if np.isfinite(plan.fpc).any():
            text += ", finite population"
        return text + (", weights calibrated" if self.margins.shape[1] else "")
