"""The distribution of a number, by expectation maximization with smoothing: a display, beside the unbiased mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from naysay import _checks
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.estimate.information import answered_under, checked_target
from naysay.estimate.linear import Floats
from naysay.estimate.mean import QUANTITIES, Measured, Quantity, Row, mean
from naysay.tally import Tally

__all__ = ["Distribution", "distribution"]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The quantiles that are printed."""

_LARGEST = 4_000_000  # entries of P: a step of the algorithm takes milliseconds
_STEPS, _EVERY = 10_000, 10  # at most; the likelihood is looked at now and then
_REPLICATES, _SEED = 100, 2020


@dataclass(frozen=True, eq=False)
class Distribution(Measured):
    """A smoothed distribution over the points of the grid, and what redrawing the whole chain makes of it.

    Smoothing biases it, and no interval covers at its promise; the mean stands beside it, unbiased.

    Parameters
    ----------
    design : Design
    tally : Tally
    target : {"population"}
    points : (t,) float
        The points of the grid.
    shares : (t,) float
        At least zero, with sum one.
    smooth : bool
    """

    points: Floats
    shares: Floats
    smooth: bool

    quantity: ClassVar[str] = "distribution"

    @property
    def method(self) -> str:  # type: ignore[override]
        return f"display: expectation maximization{' with smoothing' if self.smooth else ''}, biased by design"

    @property
    def errors(self) -> str:
        return f"of quantiles, {_REPLICATES} bootstraps of the whole chain; of the mean, Wald"

    def quantile(self, p: Any) -> Floats:
        """The quantiles of the display, between points in proportion.

        Parameters
        ----------
        p : float or (q,) float
        """
        return np.asarray(_quantiles(self.points, self.shares[None], np.atleast_1d(p))[0])

    @cached_property
    def replicates(self) -> Floats:
        """The shares from answers that were drawn again, (replicates, t)."""
        part, rng = self.tally.parts[0], np.random.default_rng(_SEED)
        n = max(round(part.effective), 1)
        counts = rng.multinomial(n, part.weight / part.weight.sum(), size=_REPLICATES)
        return _maximized(part.design.rows(part.codes), counts / n * part.n, smooth=self.smooth)

    def rows(self, confidence: float = 0.95) -> list[Row]:
        tail = (1 - confidence) / 2
        drawn = _quantiles(self.points, self.replicates, np.array(QUANTILES))
        ends = np.quantile(drawn, [tail, 1 - tail], axis=0)
        numbers = zip(QUANTILES, self.quantile(QUANTILES), drawn.std(axis=0), *ends, strict=True)
        shown = [Row(f"p{100 * p:g} (display)", *map(float, rest)) for p, *rest in numbers]
        return [*shown, mean(self.design, self.tally).rows(confidence)[0]]

    def remarks(self) -> list[str]:
        return [
            "the distribution and its quantiles are a display: smoothing pulls them together, and their bands show "
            "how much chance moves them, not how far they are off; the mean is unbiased"
        ]

    def to_dict(self, options: Any = None) -> dict[str, Any]:
        return super().to_dict(options) | {"points": self.points.tolist(), "display": self.shares.tolist()}


def distribution(design: Answerable, tally: Tally, *, target: str = "population", smooth: bool = True) -> Distribution:
    """The distribution of a number as a display: expectation maximization, smoothed at each step.

    Each step takes π to π_j Σ_o (n_o/n) P(o | j)/(Pπ)_o; with `smooth` each share is then averaged with its
    neighbors by weights ¼, ½, ¼. It ends when a step raises the
    log-likelihood by less than a thousandth.

    Parameters
    ----------
    design : Design
        One of `designs.number` with ``aim="distribution"``, or any other whose categories are numbers in order.
    tally : Tally
        Of people who were drawn independently of each other.
    target : {"population"}
    smooth : bool
        Without it, the steps lead to the maximum of the likelihood, which is rough.

    Returns
    -------
    Distribution

    Raises
    ------
    DataError
        Levels, a complex sample, a file as target; categories that are no numbers, or too many of them.

    References
    ----------
    Li, Wang, Lopuhaä-Zwakenberg, Li & Škorić (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import designs
    >>> survey, rng = designs.number(low=0, high=1, epsilon=2, aim="distribution"), np.random.default_rng(5)
    >>> fit = distribution(survey, survey.tally(survey.randomize(rng.beta(5, 2, 20_000), rng=rng)))
    >>> fit.quantile(0.5).round(2)
    array([0.73])
    """
    answered_under(design, tally)
    checked_target(target)
    if target == "file" or design.several or tally.complex is not None:
        what = "a file" if target == "file" else "levels" if design.several else "a complex sample"
        raise DataError(f"a distribution is for a population, one design, and people drawn independently; got {what}")
    points = design.categories
    if any(isinstance(each, bool) or not isinstance(each, int | float) for each in points) or list(points) != sorted(
        points
    ):
        raise DataError(f"a distribution needs categories that are numbers in order; got {_checks.shown(points)}")
    part = tally.parts[0]
    if len(points) < 3:
        raise DataError("a distribution needs a grid of three points or more; use number(…, aim='distribution')")
    if part.summed or len(part.codes) * len(points) > _LARGEST:
        raise DataError(f"a distribution over {len(points):,} points takes too long; use a hierarchy, or fewer steps")
    shares = _maximized(part.design.rows(part.codes), part.weight[None] / part.weight.sum() * part.n, smooth=smooth)
    return Distribution(design, tally, target, np.array(points, dtype=float), _checks.read_only(shares[0]), smooth)


def _maximized(rows: Floats, counts: Floats, *, smooth: bool) -> Floats:
    """The shares for each row of counts, (replicates, t), all replicates at once."""
    shares = np.full((len(counts), rows.shape[1]), 1 / rows.shape[1])
    before = np.full(len(counts), -math.inf)
    going = np.arange(len(counts))
    for step in range(_STEPS):
        chances = shares[going] @ rows.T
        stepped = shares[going] * ((counts[going] / chances) @ rows)
        if smooth:
            padded = np.pad(stepped, ((0, 0), (1, 1)), mode="edge")
            stepped = (padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]) / 4
        shares[going] = stepped / stepped.sum(axis=1, keepdims=True)
        if step % _EVERY == 0:
            reached = (counts[going] * np.log(chances)).sum(axis=1)
            gained = reached - before[going] > 1e-3 * _EVERY
            before[going] = reached
            going = going[gained]
        if not len(going):
            break
    return shares


def _quantiles(points: Floats, shares: Floats, p: Floats) -> Floats:
    """The quantiles of each row of shares, (rows, q): the share of a point is spread evenly around it."""
    edges = np.concatenate([points[:1], (points[1:] + points[:-1]) / 2, points[-1:]])
    sums = np.pad(np.cumsum(shares, axis=1), ((0, 0), (1, 0)))
    return np.array([np.interp(p, row / row[-1], edges) for row in sums])


QUANTITIES["distribution"] = Quantity("distribution", distribution, "the distribution of a number, as a display", ())
