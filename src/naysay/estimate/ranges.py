"""Shares of ranges, the distribution and quantiles of ordered categories, from the answers of a hierarchy.

Weighted least squares on a tree whose levels were measured apart: each group is the sum of its groups below.

Going up, a group's own measurement and the sum of those below are averaged by their precision; going down, what is
left over is shared among siblings by their variances. On a tree this is the least-squares solution, in linear time
(Hay, Rastogi, Miklau & Suciu 2010, here for any variances and for groups that are not full). All shares together are 1.
The solution is linear in the measurements; `weights` gives the coefficients of any sum of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design import Answerable, Grouped
from naysay.errors import DataError
from naysay.estimate.fit import number_text
from naysay.estimate.likelihood import answered_under, answering, checked_target
from naysay.estimate.mean import Measured, Row
from naysay.estimate.result import PrintOptions
from naysay.responses import Labels
from naysay.show import Column, Content, Table
from naysay.tally import Tally

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
"""The quantiles that are printed."""

_CUTS, _FEWEST, _MOST = 2**20, 32, 128  # cuts × categories: so many take seconds; cuts of a band; more widen it
_DRAWS, _SEED = 5_000, 2019  # normal vectors for the quantile of a band's largest deviation


@dataclass(frozen=True, eq=False)
class Band:
    """A confidence band of the distribution function: it holds at all cuts at once.

    Parameters
    ----------
    cuts : (cuts,) int
        The number of categories below each cut, increasing.
    share, low, high : (cuts,) float
        The share of people below each cut, and the ends of the band, which never decrease.
    critical : float
        By how many standard errors the band is wide to each side.
    """

    cuts: NDArray[np.int64]
    share: Floats
    low: Floats
    high: Floats
    critical: float


@dataclass(frozen=True, eq=False)
class Ranges(Measured):
    """Consistent shares of all categories of a hierarchy, with the covariance of any sums of them.

    Parameters
    ----------
    design : Hierarchy
    tally : Tally
    target : {"population", "file"}
    proportions : (t,) float
        Shares of the categories that fit all levels; they sum to one and may be negative.
    tree : Tree
    """

    proportions: Floats
    tree: Tree

    quantity: ClassVar[str] = "ranges"
    method: ClassVar[str] = "weighted least squares over the levels"
    errors: ClassVar[str] = "of quantiles, the inverse of a simultaneous band; of ranges, Wald"

    @cached_property
    def _parts(self) -> list[Any]:
        return [self.tally.by_level[level] for level in self.design.levels]

    def covariance(self, sums: Floats) -> Floats:
        """The covariance (q, q) of sums of the shares, from the answers themselves.

        The estimate of a sum is a mean over the people of each level, of numbers that are linear in the level's answer;
        so its variance is theirs.

        Parameters
        ----------
        sums : (t, q) float
            0 or 1: which categories each sum adds.
        """
        covariance, part_scores = np.zeros((sums.shape[1],) * 2), []
        for part, part_weights in zip(self._parts, self.tree.weights(sums), strict=True):
            alpha, _ = part.design.design.structure.even_mean
            answer_numbers = part.design.space.added(part.codes, part_weights) / alpha
            answer_scores = (answer_numbers - part.weight @ answer_numbers / part.weight.sum()) / part.weight.sum()
            if self.tally.complex is not None:
                part_scores.append(answer_scores)
            elif part.n > 1:
                covariance += part.n / (part.n - 1) * ((answer_scores * part.weight_squared[:, None]).T @ answer_scores)
            else:
                covariance += math.nan
        if self.tally.complex is not None:
            covariance = self.tally.complex.covariance(np.vstack(part_scores))
        if self.target == "file":  # lot and randomization are left: what people themselves vary is taken off
            sum_means = sums.T @ self.proportions
            people_covariance = sums.T @ (self.proportions[:, None] * sums) - np.outer(sum_means, sum_means)
            covariance = covariance - people_covariance / self.tally.effective
        return covariance

    def range(self, low: Label, high: Label, confidence: float = 0.95) -> Row:
        """The share of people whose category lies from `low` to `high`, both included.

        Parameters
        ----------
        low, high : label
        confidence : float

        Returns
        -------
        Row
            Estimate, standard error, and the ends of a Wald interval cut to [0, 1].
        """
        first_place, last_place = (self._place(end_category) for end_category in (low, high))
        if first_place > last_place:
            raise DataError(f"a range goes from a category to a later one; got {low!r} to {high!r}", value=low)
        return self._row(first_place, last_place + 1, confidence)

    def _row(self, first: int, end: int, confidence: float) -> Row:
        labels = self.design.categories
        range_indicator = np.zeros((len(labels), 1))
        range_indicator[first:end] = 1
        standard_error = math.sqrt(max(float(self.covariance(range_indicator)[0, 0]), 0.0))
        range_share = float(self.proportions[first:end].sum())
        half_width = scipy.stats.norm.ppf(0.5 + _checks.confidence(confidence) / 2) * standard_error
        interval_ends = np.clip([range_share - half_width, range_share + half_width], 0, 1)
        end_names = [_checks.label(labels[end_place]) for end_place in (first, end - 1)]
        return Row(" to ".join(dict.fromkeys(end_names)), range_share, standard_error, *interval_ends.tolist())

    def _place(self, label: Label) -> int:
        category_place = int(Labels(self.design.categories).encode([label], what="category")[0, 0])
        if category_place < 0:
            raise DataError("a range needs two categories", value=label)
        return category_place

    @cached_property
    def _cuts(self) -> NDArray[np.int64]:
        """The cuts of the band: all, or where there are many, those that the estimate spreads evenly, and even ones."""
        t = len(self.proportions)
        most_cuts = min(max(_FEWEST, _CUTS // t), _MOST)
        if t - 1 <= most_cuts:
            return np.arange(1, t)
        rising_shares = scipy.optimize.isotonic_regression(np.cumsum(self.proportions)).x
        spread_cuts = np.searchsorted(rising_shares, np.linspace(0, 1, most_cuts - most_cuts // 4 + 2)[1:-1]) + 1
        even_cuts = np.linspace(0, t, most_cuts // 4 + 2)[1:-1].round().astype(np.int64)
        return np.unique(np.clip(np.concatenate([spread_cuts, even_cuts]), 1, t - 1))

    @cached_property
    def _cumulative(self) -> tuple[Floats, Floats, Floats]:
        """The share below each cut, its standard error, and normal draws of the largest deviation, (draws,)."""
        is_below = (np.arange(len(self.proportions))[:, None] < self._cuts).astype(float)
        covariance = self.covariance(is_below)
        standard_errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        error_scale = np.where(standard_errors > 0, standard_errors, 1.0)
        eigenvalues, eigenvectors = np.linalg.eigh(covariance / np.outer(error_scale, error_scale))
        covariance_root = eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))
        normal_draws = np.random.default_rng(_SEED).standard_normal((_DRAWS, len(eigenvalues)))
        return (
            np.cumsum(self.proportions)[self._cuts - 1],
            standard_errors,
            np.abs(normal_draws @ covariance_root.T).max(axis=1),
        )

    def band(self, confidence: float = 0.95) -> Band:
        """The confidence band of the distribution function, which holds at all cuts at once.

        Parameters
        ----------
        confidence : float

        Returns
        -------
        Band
            With few categories every cut; otherwise chosen ones, between which the function cannot decrease.
        """
        cumulative_shares, standard_errors, largest_deviations = self._cumulative
        critical = float(np.quantile(largest_deviations, _checks.confidence(confidence)))
        low_ends = np.maximum.accumulate(np.clip(cumulative_shares - critical * standard_errors, 0, 1))
        high_ends = np.minimum.accumulate(np.clip(cumulative_shares + critical * standard_errors, 0, 1)[::-1])[::-1]
        return Band(self._cuts, cumulative_shares, low_ends, high_ends, critical)

    def quantile(self, p: Any, confidence: float = 0.95) -> Row:
        """The first category at or below which a share `p` of people lie, with the interval that the band gives.

        All quantiles that you read from one estimate hold at once, since the band does.

        Parameters
        ----------
        p : float
            Strictly between 0 and 1.
        confidence : float

        Returns
        -------
        Row
            The estimate, from the nearest rising function to the estimated one; there is no standard error.
        """
        if not isinstance(p, int | float) or not 0 < p < 1:
            raise DataError(f"p must lie strictly between 0 and 1; got {p!r}", value=p)
        band, labels = self.band(confidence), self.design.categories
        rising_shares = scipy.optimize.isotonic_regression(np.cumsum(self.proportions)).x
        all_cuts = np.concatenate([[0], band.cuts, [len(labels)]])
        first_place = all_cuts[np.searchsorted(band.high, p)]  # below the cut before the first one that may reach p
        last_place = all_cuts[np.searchsorted(band.low, p) + 1] - 1
        best_place = min(int(np.searchsorted(rising_shares, p)), len(labels) - 1)
        best_place = min(max(best_place, int(first_place)), int(last_place))
        return Row(f"p{100 * p:g}", labels[best_place], math.nan, labels[int(first_place)], labels[int(last_place)])

    def rows(self, confidence: float = 0.95) -> list[Row]:
        return [self.quantile(p, confidence) for p in QUANTILES]

    def beside(self, confidence: float) -> list[Content]:
        range_rows = self._widest(confidence)
        table_rows = tuple(
            (range_row.name, *(number_text(number, 4) for number in range_row[1:])) for range_row in range_rows
        )
        return [Table(tuple(map(Column, ("range", "share", "s.e.", "low", "high"))), table_rows)]

    def _widest(self, confidence: float) -> list[Row]:
        """The ranges that the groups of the first level are."""
        t, group_width = len(self.proportions), self._parts[0].design.width
        return [
            self._row(first_place, min(first_place + group_width, t), confidence)
            for first_place in range(0, t, group_width)
        ]

    def numbers(self, options: PrintOptions | None = None) -> dict[str, object]:
        confidence = (options or PrintOptions()).confidence
        return super().numbers(options) | {"ranges": [row._asdict() for row in self._widest(confidence)]}


def ranges(design: Answerable, tally: Tally, *, target: str = "population") -> Ranges:
    """Shares of ranges, the distribution and quantiles, from the answers of a hierarchy.

    Each level gives unbiased shares of its groups. Weighted least squares makes them agree: each group is the sum of
    its groups below, and all sum to one. The weights come from the designs and the numbers of answers alone, so that
    every range stays unbiased.

    Parameters
    ----------
    design : Hierarchy
        See `designs.hierarchy`.
    tally : Tally
        With answers at every level.
    target : {"population", "file"}
        With "file" the people are fixed; the lot of levels and the randomization are random.

    Returns
    -------
    Ranges
        Its `range`, `quantile` and `band` have intervals.

    Raises
    ------
    DataError
        If the design is no hierarchy, or nobody answered at some level.

    References
    ----------
    Hay, Rastogi, Miklau & Suciu (2010); Cormode, Kulkarni & Srivastava (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import designs
    >>> survey, rng = designs.hierarchy(64, epsilon=2), np.random.default_rng(1)
    >>> said = survey.randomize(rng.binomial(63, 0.3, 20_000), rng=rng)
    >>> fit = ranges(survey, survey.tally(said, level=said.level))
    >>> fit.quantile(0.5)[1:]
    (19, nan, 18, 19)
    """
    answered_under(design, tally)
    checked_target(target)
    fanout = getattr(design, "fanout", None)
    if design.structure.estimates != "ranges" or fanout is None:
        raise DataError(f"ranges need a hierarchy, such as hierarchy(epsilon=1); got {design.name or design.kind}")
    answered_levels = {part.level for part in answering(tally)}
    empty_levels = [level for level in design.levels if level not in answered_levels]
    if empty_levels:
        raise DataError(
            f"every level of a hierarchy needs answers; level {_checks.listing_text(empty_levels)} has none",
            value=empty_levels,
        )
    measured_shares, share_variances = [], []  # of the groups of each level; as each has where few people are in it
    for level in design.levels:
        part, channel = tally.by_level[level], cast("Grouped", design.channel(level))
        alpha, beta = channel.design.structure.even_mean or (math.nan, math.nan)
        measured_shares.append((part.total()[0] / part.weight.sum() - beta) / alpha)
        share_variances.append(beta * (1 - beta) / (alpha**2 * part.effective))
    tree = Tree(fanout, tuple(map(len, measured_shares)), tuple(share_variances))
    consistent_shares = _checks.read_only(tree.consistent(measured_shares))
    if not np.isfinite(consistent_shares).all():
        raise DataError("the shares of a hierarchy must be finite numbers")
    return Ranges(design, tally, target, consistent_shares, tree)


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree and how exactly each level was measured.

    Parameters
    ----------
    fanout : int
        B, how many groups of the next level a group holds; the last one of a level may hold fewer.
    sizes : tuple of int
        How many groups each level has, the coarsest first.
    variances : tuple of float
        The variance of one group's measurement at each level.

    Examples
    --------
    >>> tree = Tree(2, (2, 3), (1.0, 1.0))
    >>> tree.consistent([np.array([0.6, 0.6]), np.array([0.3, 0.1, 0.5])]).round(3)
    array([0.343, 0.143, 0.514])
    """

    fanout: int
    sizes: tuple[int, ...]
    variances: tuple[float, ...]

    @cached_property
    def _spread(self) -> tuple[list[Floats], list[Floats]]:
        """For each level the variance of each group after going up, and the summed variance of the groups below."""
        upward_variances, summed_variances = [np.full(self.sizes[-1], self.variances[-1])], [np.zeros(0)]
        for group_count, group_variance in zip(self.sizes[-2::-1], self.variances[-2::-1], strict=True):
            summed_variance = self._sum_by_parent(upward_variances[0], group_count)
            upward_variances.insert(0, 1 / (1 / group_variance + 1 / summed_variance))
            summed_variances.insert(0, summed_variance)
        return upward_variances, summed_variances

    def _sum_by_parent(self, values: Floats, groups: int) -> Floats:
        """The sums over the groups of the level above, (groups, …)."""
        sums: Floats = np.add.reduceat(values, np.arange(0, self.fanout * groups, self.fanout), axis=0)
        return sums

    def _spread_out(self, values: Floats, size: int) -> Floats:
        """Each group's value for all groups of the level below, (size, …)."""
        return np.asarray(np.repeat(values, self.fanout, axis=0)[:size])

    def _shares(self, level: int) -> Floats:
        """The share of what is left over that each group of a level takes among its siblings."""
        upward_variances, summed_variances = self._spread
        if level == 0:
            return np.asarray(upward_variances[0] / upward_variances[0].sum())
        return np.asarray(upward_variances[level] / self._spread_out(summed_variances[level - 1], self.sizes[level]))

    def consistent(self, measured: Sequence[Floats]) -> Floats:
        """The shares of the finest groups that fit all levels best, (sizes[-1],)."""
        upward_variances, summed_variances = self._spread
        upward_shares = [measured[-1]]
        for level in range(len(self.sizes) - 2, -1, -1):
            measured_part = measured[level] / self.variances[level]
            part_below = self._sum_by_parent(upward_shares[0], self.sizes[level]) / summed_variances[level]
            upward_shares.insert(0, upward_variances[level] * (measured_part + part_below))
        level_shares = upward_shares[0] + self._shares(0) * (1 - upward_shares[0].sum())
        for level in range(1, len(self.sizes)):
            remainder = level_shares - self._sum_by_parent(upward_shares[level], self.sizes[level - 1])
            level_shares = upward_shares[level] + self._shares(level) * self._spread_out(remainder, self.sizes[level])
        return np.asarray(level_shares)

    def weights(self, sums: Floats) -> list[Floats]:
        """How much each measurement weighs in sums of the solution, (groups, q) for each level.

        Parameters
        ----------
        sums : (sizes[-1], q) float
            The coefficients of each sum: of the finest groups that it adds, such as 1 within a range and 0 outside.
        """
        upward_variances, summed_variances = self._spread
        level_weights: list[Floats] = []
        level_coefficients = sums
        for level in range(len(self.sizes) - 1, 0, -1):  # the steps of `consistent`, each transposed, in reverse
            parent_coefficients = self._sum_by_parent(
                self._shares(level)[:, None] * level_coefficients, self.sizes[level - 1]
            )
            level_weights.insert(0, level_coefficients - self._spread_out(parent_coefficients, self.sizes[level]))
            level_coefficients = parent_coefficients
        level_weights.insert(0, level_coefficients - (self._shares(0)[:, None] * level_coefficients).sum(axis=0))
        weights_by_level = []
        for level, group_count in enumerate(self.sizes):
            if level:
                variance_ratios = (upward_variances[level - 1] / summed_variances[level - 1])[:, None]
                level_weights[level] = level_weights[level] + self._spread_out(
                    variance_ratios * level_weights[level - 1], group_count
                )
            weights_by_level.append(level_weights[level] * (upward_variances[level] / self.variances[level])[:, None])
        return weights_by_level
