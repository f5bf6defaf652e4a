"""Replicate weights: the same sample weighed anew, given with a file or made from strata and clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.sampling.sampled import Floats, Places, Plan, Sampled

__all__ = ["KINDS", "Replicates", "checked_degrees", "made", "scales"]

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
        sums = self.totals.sum(axis=1)
        ratio = np.divide(self.full.sum(), sums, out=np.zeros_like(sums), where=sums > 0)
        moved = (self.totals @ scores) * ratio[:, None] - self.full @ scores
        return np.asarray(np.sqrt(self.scale)[:, None] * moved)

    def spread(self, estimates: Floats, full: Floats) -> Floats:
        """The covariance (q, q) of estimates (replicates, q) that were made again under each set of weights."""
        moved = np.sqrt(self.scale)[:, None] * (estimates - full)
        return np.asarray(moved.T @ moved)

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
    if kind not in KINDS:
        raise DataError(f"replicate weights must be one of {', '.join(KINDS)}; got {kind!r}")
    if scale is None:
        usual = {"jackknife": (number - 1) / number, "fay": 1 / (number * (1 - fay) ** 2)}
        return np.full(number, usual.get(kind, 1 / number))
    given = _checks.amounts(np.atleast_1d(np.asarray(scale)), what="scales of replicates")
    if len(given) not in (1, number):
        raise DataError(f"scale must be one number, or one for each of the {number} replicates; got {len(given)}")
    if not given.any():
        raise DataError("scales of replicates must not all be zero: all standard errors would be")
    return np.full(number, given[0]) if len(given) == 1 else given


def checked_degrees(kind: str, full: Floats, weights: Floats, *, fay: float, scale: ArrayLike | None) -> float:
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
    length = np.sqrt(np.einsum("ij,ij->j", weights, weights))
    cosines = weights.T @ weights / np.outer(length, length)
    degrees = int((np.linalg.eigvalsh(cosines) > _DEPENDENT**2).sum()) - 1
    number = weights.shape[1]
    if scale is None and kind == "jackknife" and degrees < number - 1:
        raise DataError(
            f"the {number} jackknife weights have {degrees} degrees of freedom, so they leave units out within strata; "
            "give the scale of each replicate, (n - 1)/n for the n units of its stratum: scale=[...], or "
            "--replicate-scale if it is the same number for all"
        )
    if scale is None and kind in ("brr", "fay"):
        share = _share_left(full, weights)
        said = fay if kind == "fay" else 0.0
        if abs(share - said) > _OFF:
            raise DataError(
                f"{kind} weights must leave the half that counts less {said:g} of its weight; these leave it about "
                f"{share:.2g}: say the kind 'brr' for 0, 'fay' for {FAY:g} (fay= for another), or give the scale, "
                "1/(R (1 - share)²) for R replicates (scale=, or --replicate-scale)"
            )
    return float(max(degrees, 1))


def _share_left(full: Floats, weights: Floats) -> float:
    """The share of their weight that replicates leave to people who count less: the median of medians."""
    ratio = np.divide(weights, full[:, None], out=np.ones_like(weights), where=full[:, None] > 0)
    return float(np.median([np.median(column[column < 1]) if (column < 1).any() else 1.0 for column in ratio.T]))


def made(kind: str, plan: Plan, *, number: int, rng: np.random.Generator, fay: float = FAY) -> tuple[Floats, Floats]:
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
    own = plan.merged[plan.stratum]
    sizes = np.bincount(own, plan.many, minlength=len(plan.strata)).astype(float)
    left = np.sqrt(1 - plan.fractions[plan.stratum])
    _ = plan.factors  # tells a stratum with a single unit
    if kind == "jackknife":
        places = np.flatnonzero(sizes[own] > 1)
        n = sizes[own[places]]
        same = own[places][:, None] == own
        factors = np.where(same, (n / (n - 1))[:, None], 1.0)
        gone = (plan.many[places] - 1) / plan.many[places] * n / (n - 1)
        factors[np.arange(len(places)), places] = gone  # one of several that are alike is left out
        return factors, (1 - plan.fractions[plan.stratum[places]]) * (n - 1) / n * plan.many[places]
    if kind == "bootstrap":
        factors = np.ones((number, len(own)))
        for place in np.flatnonzero(sizes > 1):
            inside = own == place
            n = sizes[place]
            drawn = rng.multinomial(round(n) - 1, plan.many[inside] / n, size=number)
            factors[:, inside] = 1 + left[inside] * (drawn / plan.many[inside] * n / (n - 1) - 1)
        return factors, np.full(number, 1 / number)
    return _halves(plan, own, sizes, fay if kind == "fay" else 0.0, left)


def _halves(plan: Plan, own: Places, sizes: Floats, fay: float, left: Floats) -> tuple[Floats, Floats]:
    """Balanced half samples."""
    wrong = [plan.strata[place] for place in np.flatnonzero((sizes > 0) & (sizes != 2))]
    if wrong or (plan.many != 1).any():
        which = f"; stratum {_checks.shown(wrong)} has not" if wrong else ""
        raise DataError(f"balanced half samples need two clusters in each stratum{which}; use jackknife or bootstrap")
    present = np.flatnonzero(sizes)
    order = 1 << int(np.ceil(np.log2(len(present) + 1)))  # the first column, all ones, is left out
    signs = scipy.linalg.hadamard(order)[:, 1 : len(present) + 1].astype(float)
    factors = np.ones((order, len(own)))
    for column, place in enumerate(present):
        first, second = np.flatnonzero(own == place)
        swing = (1 - fay) * signs[:, column]
        factors[:, first], factors[:, second] = 1 + left[first] * swing, 1 - left[second] * swing
    return factors, np.full(order, 1 / (order * (1 - fay) ** 2))
