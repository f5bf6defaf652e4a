"""What a tally keeps of how its people were sampled, and the covariance of a weighted total.

An estimate is, to first order, a weighted total Σ w z of scores z: one score, of q numbers, for each distinct answer. A
sample gives deviations D, (deviations, q), with Cov(Σ w z) = DᵀD. The rows of D are

- for units in strata, sqrt((1 - f_h) n_h/(n_h - 1)) (t_i - t̄_h) of the units' totals t_i = Σ_{r in i} w_r z_r, where
  f_h is the share of its units that a stratum's sample holds (ultimate clusters; Hansen, Hurwitz & Madow 1953);
- for replicate weights, sqrt(c_b) (T_b - T) of the total under each set of weights.

People who are alike in stratum, weight and answer are one unit that is there several times. So independent people are
units too, and a plain tally is the special case of one stratum.

Replicate weights are the same sample weighed anew, given with a file or made from strata and clusters. Two parts of one
sample can be added, and a sample can be stored and restored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Array, Floats, JsonNode
from naysay.errors import DataError

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
        sampled_shares = np.where(self.fpc <= 1, self.fpc, self.sizes / np.where(self.fpc > 1, self.fpc, 1.0))
        return np.where(np.isnan(self.fpc), 0.0, sampled_shares)

    @property
    def degrees_of_freedom(self) -> float:
        """Units less strata, at least 1; of the strata that were not taken whole, if there are any."""
        is_partial = self.fractions < 1  # the others add no variance of sampling, however many units they have
        varying_strata = (self.sizes > 0) & (is_partial | (not is_partial.any()))
        return max(float(self.sizes[varying_strata].sum()) - len(np.unique(self.merged[varying_strata])), 1.0)

    @cached_property
    def merged(self) -> Places:
        """The stratum in which each stratum's variance is taken, (strata,): another one where lonely ones collapse."""
        stratum_places = np.arange(len(self.strata))
        if self.lonely != "collapse":
            return stratum_places
        present = np.flatnonzero(self.sizes > 0)
        for at, place in enumerate(present.tolist()):
            if self.sizes[place] <= 1 and len(present) > 1:  # the next one; the last joins the one before it
                merged_place = present[at + 1] if at + 1 < len(present) else present[at - 1]
                stratum_places[stratum_places == stratum_places[place]] = stratum_places[merged_place]
        return stratum_places

    @cached_property
    def factors(self) -> tuple[Floats, Floats]:
        """For each stratum (1 - f) n/(n - 1), and by how much its own mean is taken off: 1, or 0 where a unit is alone.

        Raises
        ------
        DataError
            Where a stratum has a single unit, is not taken whole, and nothing is said of it.
        """
        merged_sizes = np.bincount(self.merged, self.sizes, minlength=len(self.strata)).astype(float)
        stratum_sizes = merged_sizes[self.merged] if self.worth is None else self.worth
        is_lonely = (stratum_sizes == 1) & (self.fractions < 1)
        if is_lonely.any() and (self.lonely not in ("certainty", "center") or len(self.strata) == 1):
            names = [name for name, is_alone in zip(self.strata, is_lonely, strict=True) if is_alone]
            unit = "one cluster" if self.clusters is not None else "one person"
            if len(self.strata) == 1:
                raise DataError(f"a sample of only {unit} has no variance; are the clusters those of the sample?")
            raise DataError(
                f"stratum {_checks.listing_text(names)} has only {unit}, and so no variance of its own; join it with a "
                "stratum like it in your data, or say what it counts for: lonely='collapse' (joined with the next "
                "stratum), 'center' (its deviation from the mean of all) or 'certainty' (none, if it was certain to "
                "come)"
            )
        stratum_scale = np.where(
            stratum_sizes > 1,
            stratum_sizes / np.maximum(stratum_sizes - 1, 1.0),
            0.0 if self.lonely == "certainty" else 1.0,
        )
        return (1 - self.fractions) * stratum_scale, np.where(stratum_sizes > 1, 1.0, 0.0)


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
        unit_deviations = self.deviations(scores)
        return np.asarray(unit_deviations.T @ unit_deviations)


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
        cls, count: Array, weight: Floats, squared: Floats, *, stratum: Places | None = None, kish: bool = False
    ) -> Units:
        """Independent people of whom only each item's number, weight and squared weight are known, (items,).

        Half of an item's people stand for those above its mean weight and half for those below, so that the sums of
        weights and squares are those that were given. With `kish` their n of n/(n - 1) is (Σw)²/Σw² (Kish 1965).
        """
        people_counts = np.asarray(count, dtype=float)
        item_count, divisors = len(people_counts), np.maximum(people_counts, 1.0)
        mean_weights = weight / divisors
        weight_spread = np.sqrt(np.maximum(squared / divisors - mean_weights**2, 0.0))
        has_spread = weight_spread > 1e-9 * mean_weights
        item_of_unit = np.concatenate([np.arange(item_count), np.flatnonzero(has_spread)])
        unit_weights = np.concatenate(
            [mean_weights + has_spread * weight_spread, (mean_weights - weight_spread)[has_spread]]
        )
        many = np.concatenate([np.where(has_spread, people_counts / 2, people_counts), people_counts[has_spread] / 2])
        stratum_of_item = np.zeros(item_count, dtype=np.intp) if stratum is None else np.asarray(stratum)
        stratum_count = int(stratum_of_item.max(initial=0)) + 1
        stratum_names, no_populations = tuple(map(str, range(stratum_count))), np.full(stratum_count, np.nan)
        effective_size = np.array([weight.sum() ** 2 / squared.sum()]) if kish else None
        plan = Plan(
            stratum_of_item[item_of_unit], many, stratum_names, no_populations, None, "certainty", effective_size
        )
        # Written row by row: scipy takes several times as long to sort places into rows, also where they are sorted.
        totals = scipy.sparse.csr_array(
            (unit_weights, item_of_unit, np.arange(len(item_of_unit) + 1)), shape=(len(item_of_unit), item_count)
        )
        stratum_order = np.argsort(stratum_of_item, kind="stable")
        stratum_ends = np.bincount(stratum_of_item, minlength=stratum_count).cumsum()
        squares = scipy.sparse.csr_array(
            (squared[stratum_order], stratum_order, np.append(0, stratum_ends)), shape=(stratum_count, item_count)
        )
        return cls(
            plan,
            totals,
            squares,
            np.arange(item_count),
            np.zeros(item_count, dtype=np.intp),
            np.zeros((1, 0)),
            item_count,
        )

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
        has_item = self.item >= 0
        return np.bincount(self.item[has_item], values[has_item], minlength=self.items).astype(float)

    @property
    def degrees_of_freedom(self) -> float:
        return self.plan.degrees_of_freedom

    def deviations(self, scores: Floats) -> Floats:
        """D (units, q); scores are replaced by their residuals on the margins, where weights were calibrated."""
        z = np.vstack([scores, np.zeros((1, scores.shape[1]))])[self.item]  # -1 is the row of zeros
        if self.margins.shape[1]:
            root_weights = np.sqrt(self._column_weight)[:, None]
            row_margins = self.margins[self.cell]
            margin_slopes = np.linalg.lstsq(root_weights * row_margins, root_weights * z, rcond=1e-10)[0]
            z = z - row_margins @ margin_slopes
        plan = self.plan
        unit_totals, stratum_of_unit = self.totals @ z, plan.merged[plan.stratum]
        stratum_scale, mean_factors = plan.factors
        stratum_sizes = np.bincount(stratum_of_unit, plan.many, minlength=len(plan.strata))
        stratum_sums = [
            np.bincount(stratum_of_unit, plan.many * column, minlength=len(stratum_sizes)) for column in unit_totals.T
        ]
        stratum_means = np.column_stack(stratum_sums) / np.maximum(stratum_sizes, 1.0)[:, None]
        if plan.worth is not None:
            stratum_means[:] = 0.0
        elif (mean_factors == 0).any():  # units that are alone in their stratum, against the mean of all
            stratum_means[mean_factors == 0] = plan.many @ unit_totals / plan.many.sum()
        return np.asarray(
            np.sqrt(plan.many * stratum_scale[plan.stratum])[:, None] * (unit_totals - stratum_means[stratum_of_unit])
        )

    def take(self, items: NDArray[np.bool_] | Places) -> Units:
        place_of_item = np.full(self.items + 1, -1, dtype=np.intp)  # the last for people without an item
        item_places = np.arange(self.items)[items]
        place_of_item[item_places] = np.arange(len(item_places))
        return replace(self, item=place_of_item[self.item], items=len(item_places))

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
        unit_name = "clusters" if plan.clusters is not None else "people"
        text = f"{plan.sizes.sum():,.0f} {unit_name}"
        if len(plan.strata) > 1:
            text += f" in {len(plan.strata):,} strata"
        if np.isfinite(plan.fpc).any():
            text += ", finite population"
        return text + (", weights calibrated" if self.margins.shape[1] else "")


KINDS = ("bootstrap", "jackknife", "brr", "fay")
"""Replicate weights that are known by name."""

FAY = 0.5
"""The share of its weight that the less weighted half keeps in Fay's method, unless another is said."""

_DEPENDENT = 1e-5  # replicates that differ by less from a sum of others add no rank; R's survey has the same bound
_OFF = 0.1  # shares differ by less than this if weights were adjusted after the halves were drawn


@dataclass(frozen=True, eq=False)
class Replicates(Sampled):
    """The weight of each item under each set of replicate weights.

    Each set is scaled to the full sum of weights, so that for a mean the deviations are exactly those of the mean under
    each set. They are taken from the full estimate, not from the mean of the replicates.

    Parameters
    ----------
    totals : (replicates, items) float
    full : (items,) float
        The weight of each item in the full sample.
    square : (items,) float
        Sums of the squares of people's weights.
    remains : (items,) float
        See `Sampled.kept`.
    scale : (replicates,) float
        Cov = Σ scale_b (T_b - T)(T_b - T)ᵀ.
    kind : str
    degrees : float
        Degrees of freedom.
    whole : object
        What all groups of one sample have in common.
    """

    totals: Floats
    full: Floats
    square: Floats
    remains: Floats
    scale: Floats
    kind: str
    degrees: float
    whole: object

    @property
    def weight(self) -> Floats:
        return self.full

    @property
    def squared(self) -> Floats:
        return self.square

    @property
    def kept(self) -> Floats:
        return self.remains

    @property
    def degrees_of_freedom(self) -> float:
        return self.degrees

    def deviations(self, scores: Floats) -> Floats:
        replicate_sums = self.totals.sum(axis=1)
        weight_ratios = np.divide(
            self.full.sum(), replicate_sums, out=np.zeros_like(replicate_sums), where=replicate_sums > 0
        )
        centered_totals = (self.totals @ scores) * weight_ratios[:, None] - self.full @ scores
        return np.asarray(np.sqrt(self.scale)[:, None] * centered_totals)

    def spread(self, estimates: Floats, full: Floats) -> Floats:
        """The covariance (q, q) of estimates (replicates, q) that were made again under each set of weights."""
        scaled_changes = np.sqrt(self.scale)[:, None] * (estimates - full)
        return np.asarray(scaled_changes.T @ scaled_changes)

    def take(self, items: NDArray[np.bool_] | Places) -> Replicates:
        fields = {name: getattr(self, name)[items] for name in ("full", "square", "remains")}
        return replace(self, totals=self.totals[:, items], **fields)

    def scaled(self, factor: float) -> Replicates:
        fields = {name: getattr(self, name) * factor**2 for name in ("square", "remains")}
        return replace(self, totals=self.totals * factor, full=self.full * factor, **fields)

    def shares_plan(self, other: Sampled) -> bool:
        return isinstance(other, Replicates) and self.whole is other.whole

    @property
    def by(self) -> str:
        return f"by {self.kind} replicate weights"

    def __str__(self) -> str:
        return f"{len(self.totals):,} {self.kind} replicate weights"


def scales(kind: str, number: int, scale: ArrayLike | None, fay: float = FAY) -> Floats:
    """The scale of each of a number of replicates, (replicates,); what a kind of replicates has, where none is given.

    Bootstrap and balanced repeated replication 1/R, with Fay's share ρ 1/(R (1 - ρ)²), and the jackknife of one
    stratum, which leaves one unit out, (R - 1)/R.
    """
    if scale is None:
        usual_scales = {"jackknife": (number - 1) / number, "fay": 1 / (number * (1 - fay) ** 2)}
        return np.full(number, usual_scales.get(kind, 1 / number))
    scale_array = _checks.amounts(np.atleast_1d(np.asarray(scale)), what="scales of replicates")
    if len(scale_array) not in (1, number):
        raise DataError(f"scale must be one number, or one for each of the {number} replicates; got {len(scale_array)}")
    if not scale_array.any():
        raise DataError("scales of replicates must not all be zero: all standard errors would be")
    return np.full(number, scale_array[0]) if len(scale_array) == 1 else scale_array


def replicate_degrees(kind: str, full: Floats, weights: Floats, *, fay: float, scale: ArrayLike | None) -> float:
    """The degrees of freedom of given replicate weights: their rank less one, at least 1.

    The rank is that of the rows of the whole file, as R's survey counts it. Rows that were added up, such as those of
    one answer, have a smaller one.

    Parameters
    ----------
    full : (rows,) float
        Weights of the full sample.
    weights : (rows, replicates) float
    fay : float
        The share that Fay's method is said to leave.
    scale : optional
        The given scale; None where that of the kind is used, so that the weights must be of this kind.

    Raises
    ------
    DataError
        Weights whose usual scale would be wrong: of the jackknife, made within strata; of half samples, with another
        share of the weight than was said.
    """
    column_lengths = np.sqrt(np.einsum("ij,ij->j", weights, weights))
    cosines = weights.T @ weights / np.outer(column_lengths, column_lengths)
    degrees = int((np.linalg.eigvalsh(cosines) > _DEPENDENT**2).sum()) - 1
    number = weights.shape[1]
    if scale is None and kind == "jackknife" and degrees < number - 1:
        raise DataError(
            f"the {number} jackknife weights have {degrees} degrees of freedom, so they leave units out within strata; "
            "give the scale of each replicate, (n - 1)/n for the n units of its stratum: scale=[...], or "
            "--replicate-scale if it is the same number for all"
        )
    if scale is None and kind in ("brr", "fay"):
        weight_ratios = np.divide(weights, full[:, None], out=np.ones_like(weights), where=full[:, None] > 0)
        # The share of their weight that replicates leave to people who count less: the median of medians.
        medians = [np.median(column[column < 1]) if (column < 1).any() else 1.0 for column in weight_ratios.T]
        share_left = float(np.median(medians))
        fay_share = fay if kind == "fay" else 0.0
        if abs(share_left - fay_share) > _OFF:
            raise DataError(
                f"{kind} weights must leave the half that counts less {fay_share:g} of its weight; these leave it "
                f"about {share_left:.2g}: say the kind 'brr' for 0, 'fay' for {FAY:g} (fay= for another), or give the "
                "scale, 1/(R (1 - share)²) for R replicates (scale=, or --replicate-scale)"
            )
    return float(max(degrees, 1))


def replicate_factors(
    kind: str, plan: Plan, *, number: int, rng: np.random.Generator, fay: float = FAY
) -> tuple[Floats, Floats]:
    """Factors of the units' weights (replicates, units), and the scale of each replicate.

    Jackknife: each unit left out in turn, the others of its stratum weighing n_h/(n_h - 1) as much. Bootstrap: n_h - 1
    units of each stratum drawn again (Rao & Wu 1988). Balanced repeated replication: two units a stratum, one of which
    counts double, in the patterns of a Hadamard matrix (McCarthy 1969); with Fay's share ρ, 2 - ρ and ρ.

    Raises
    ------
    DataError
        A stratum with a single unit, or, where halves are balanced, not two.
    """
    if kind not in KINDS:
        raise DataError(f"replicate weights must be one of {', '.join(KINDS)}; got {kind!r}")
    stratum_of_unit = plan.merged[plan.stratum]
    stratum_sizes = np.bincount(stratum_of_unit, plan.many, minlength=len(plan.strata)).astype(float)
    finite_correction = np.sqrt(1 - plan.fractions[plan.stratum])
    _ = plan.factors  # tells a stratum with a single unit
    if kind == "jackknife":
        unit_places = np.flatnonzero(stratum_sizes[stratum_of_unit] > 1)
        n = stratum_sizes[stratum_of_unit[unit_places]]
        in_same_stratum = stratum_of_unit[unit_places][:, None] == stratum_of_unit
        factors = np.where(in_same_stratum, (n / (n - 1))[:, None], 1.0)
        unit_factor = (plan.many[unit_places] - 1) / plan.many[unit_places] * n / (n - 1)
        factors[np.arange(len(unit_places)), unit_places] = unit_factor  # one of several that are alike is left out
        return factors, (1 - plan.fractions[plan.stratum[unit_places]]) * (n - 1) / n * plan.many[unit_places]
    if kind == "bootstrap":
        factors = np.ones((number, len(stratum_of_unit)))
        for stratum_place in np.flatnonzero(stratum_sizes > 1):
            in_stratum = stratum_of_unit == stratum_place
            n = stratum_sizes[stratum_place]
            times_drawn = rng.multinomial(round(n) - 1, plan.many[in_stratum] / n, size=number)
            factors[:, in_stratum] = 1 + finite_correction[in_stratum] * (
                times_drawn / plan.many[in_stratum] * n / (n - 1) - 1
            )
        return factors, np.full(number, 1 / number)
    return _halves(plan, stratum_of_unit, stratum_sizes, fay if kind == "fay" else 0.0, finite_correction)


def _halves(
    plan: Plan, stratum_of_unit: Places, sizes: Floats, fay: float, finite_correction: Floats
) -> tuple[Floats, Floats]:
    """Balanced half samples."""
    unpaired_strata = [plan.strata[stratum_place] for stratum_place in np.flatnonzero((sizes > 0) & (sizes != 2))]
    if unpaired_strata or (plan.many != 1).any():
        stratum_text = f"; stratum {_checks.listing_text(unpaired_strata)} has not" if unpaired_strata else ""
        raise DataError(
            f"balanced half samples need two clusters in each stratum{stratum_text}; use jackknife or bootstrap"
        )
    present_strata = np.flatnonzero(sizes)
    replicate_count = 1 << int(np.ceil(np.log2(len(present_strata) + 1)))  # the first column, all ones, is left out
    signs = scipy.linalg.hadamard(replicate_count)[:, 1 : len(present_strata) + 1].astype(float)
    factors = np.ones((replicate_count, len(stratum_of_unit)))
    for sign_column, stratum_place in enumerate(present_strata):
        first_unit, second_unit = np.flatnonzero(stratum_of_unit == stratum_place)
        swing = (1 - fay) * signs[:, sign_column]
        factors[:, first_unit] = 1 + finite_correction[first_unit] * swing
        factors[:, second_unit] = 1 - finite_correction[second_unit] * swing
    return factors, np.full(replicate_count, 1 / (replicate_count * (1 - fay) ** 2))


Either = TypeVar("Either")
Both = tuple[Either, Either]


def joined(first: Sampled, second: Sampled, places: tuple[Places, Places], items: int) -> Sampled:
    """Two parts of one sample together, with the place of each one's items among those of both.

    Strata of one name are one stratum, clusters of one name in it one cluster; people add up.

    Raises
    ------
    DataError
        Samples of two kinds, calibrated weights, or populations that differ.
    """
    if isinstance(first, Replicates) and isinstance(second, Replicates):
        if first.kind != second.kind or not np.array_equal(first.scale, second.scale):
            raise DataError(
                f"the replicate weights differ: {first} and {second}; both tallies must have the same ones, of one "
                "scale"
            )
        replicate_totals, (full, square, remains) = np.zeros((len(first.scale), items)), np.zeros((3, items))
        for replicates, item_places in zip((first, second), places, strict=True):
            replicate_totals[:, item_places] += replicates.totals
            full[item_places] += replicates.full
            square[item_places] += replicates.square
            remains[item_places] += replicates.remains
        degrees = max(first.degrees, second.degrees)
        return Replicates(replicate_totals, full, square, remains, first.scale, first.kind, degrees, object())
    if not isinstance(first, Units) or not isinstance(second, Units):
        raise DataError("replicate weights add only to replicate weights; count both tallies with the same sampling")
    if first.margins.shape[1] or second.margins.shape[1]:
        raise DataError("weights were calibrated to totals of the whole; tally all rows at once")
    joint_plan, unit_places, stratum_places = _plans(first.plan, second.plan)
    column_places = places[0][first.item], places[1][second.item]
    totals = _sum_of_matrices(
        (first.totals, second.totals), unit_places, column_places, (len(joint_plan.stratum), items)
    )
    squares = _sum_of_matrices(
        (first.squares, second.squares), stratum_places, column_places, (len(joint_plan.strata), items)
    )
    return Units(joint_plan, totals, squares, np.arange(items), np.zeros(items, dtype=np.intp), np.zeros((1, 0)), items)


def _sum_of_matrices(
    matrices: Both[scipy.sparse.csr_array], rows: Both[Places], columns: Both[Places], shape: tuple[int, int]
) -> scipy.sparse.csr_array:
    """Two sparse matrices in a larger one, their rows and columns at these places."""
    matrix_entries = [matrix.tocoo() for matrix in matrices]
    entry_rows = np.concatenate([place[entry.row] for place, entry in zip(rows, matrix_entries, strict=True)])
    entry_columns = np.concatenate([place[entry.col] for place, entry in zip(columns, matrix_entries, strict=True)])
    entry_values = np.concatenate([entry.data for entry in matrix_entries])
    return scipy.sparse.csr_array(scipy.sparse.coo_array((entry_values, (entry_rows, entry_columns)), shape=shape))


def _plans(first: Plan, second: Plan) -> tuple[Plan, Both[Places], Both[Places]]:
    """Both plans together, and the places of each one's units and strata in it."""
    if (first.clusters is None) != (second.clusters is None) or first.lonely != second.lonely:
        raise DataError("the two tallies were sampled differently; count both with the same sampling")
    stratum_names = tuple(dict.fromkeys((*first.strata, *second.strata)))
    place_of_stratum = {name: at for at, name in enumerate(stratum_names)}
    fpc = np.full(len(stratum_names), np.nan)
    moved_strata = (
        np.array([place_of_stratum[name] for name in first.strata]),
        np.array([place_of_stratum[name] for name in second.strata]),
    )
    fpc[moved_strata[0]] = first.fpc
    for name, at, population in zip(second.strata, moved_strata[1].tolist(), second.fpc.tolist(), strict=True):
        if name in first.strata and not np.array_equal(fpc[at], population, equal_nan=True):
            raise DataError(
                f"stratum {name!r} has a population (fpc) of {fpc[at]:g} in one tally and {population:g} in the other"
            )
        fpc[at] = population
    joint_strata = np.concatenate(
        [new_places[plan.stratum] for plan, new_places in zip((first, second), moved_strata, strict=True)]
    )
    many = np.concatenate([first.many, second.many])
    first_size = len(first.stratum)
    if first.clusters is None or second.clusters is None:
        unit_places = np.arange(first_size), first_size + np.arange(len(second.stratum))
        return Plan(joint_strata, many, stratum_names, fpc, None, first.lonely), unit_places, moved_strata
    unit_keys = list(zip(joint_strata.tolist(), (*first.clusters, *second.clusters), strict=True))
    unit_of_key = {unit_key: at for at, unit_key in enumerate(dict.fromkeys(unit_keys))}
    joint_unit_places = np.array([unit_of_key[unit_key] for unit_key in unit_keys], dtype=np.intp)
    stratum_of_unit = np.array([unit_key[0] for unit_key in unit_of_key], dtype=np.intp)
    plan = Plan(
        stratum_of_unit,
        np.ones(len(unit_of_key)),
        stratum_names,
        fpc,
        tuple(unit_key[1] for unit_key in unit_of_key),
        first.lonely,
    )
    return plan, (joint_unit_places[:first_size], joint_unit_places[first_size:]), moved_strata


def stored(sampled: Sampled) -> tuple[dict[str, Any], dict[str, Array]]:
    """A sample as a JSON object and arrays, for a file."""
    if isinstance(sampled, Replicates):
        arrays = {name: getattr(sampled, name) for name in ("totals", "full", "square", "remains", "scale")}
        return {"kind": sampled.kind, "degrees": sampled.degrees}, arrays
    if not isinstance(sampled, Units):
        raise TypeError(f"no sample that can be stored: {type(sampled).__name__}")
    plan = sampled.plan
    json_head = {"strata": plan.strata, "clusters": plan.clusters, "lonely": plan.lonely, "items": sampled.items}
    arrays = {name: getattr(plan, name) for name in ("stratum", "many", "fpc")}
    arrays |= {name: getattr(sampled, name) for name in ("item", "cell", "margins")}
    for name in ("totals", "squares"):
        sparse_matrix = getattr(sampled, name)
        arrays |= {
            f"{name}_{matrix_part}": getattr(sparse_matrix, matrix_part)
            for matrix_part in ("data", "indices", "indptr")
        }
    return json_head, arrays


def restored(head: JsonNode, arrays: Mapping[str, Array]) -> Sampled:
    """The sample that was `stored`."""
    if "kind" in head:
        replicate_fields = {name: arrays[name] for name in ("totals", "full", "square", "remains", "scale")}
        return Replicates(**replicate_fields, kind=head["kind"], degrees=head["degrees"], whole=object())
    cluster_names = None if head["clusters"] is None else tuple(head["clusters"])
    plan = Plan(arrays["stratum"], arrays["many"], tuple(head["strata"]), arrays["fpc"], cluster_names, head["lonely"])
    column_count = len(arrays["item"])

    def matrix(name: str, rows: int) -> scipy.sparse.csr_array:
        matrix_parts = tuple(arrays[f"{name}_{matrix_part}"] for matrix_part in ("data", "indices", "indptr"))
        return scipy.sparse.csr_array(matrix_parts, shape=(rows, column_count))

    totals, squares = matrix("totals", len(plan.stratum)), matrix("squares", len(plan.strata))
    return Units(plan, totals, squares, arrays["item"], arrays["cell"], arrays["margins"], head["items"])
