"""Weighted least squares on a tree whose levels were measured apart: each group is the sum of its groups below.

Going up, a group's own measurement and the sum of those below are averaged by their precision; going down, what is
left over is shared among siblings by their variances. On a tree this is the least-squares solution, in linear time
(Hay, Rastogi, Miklau & Suciu 2010, here for any variances and for groups that are not full). All shares together are 1.
The solution is linear in the measurements; `weights` gives the coefficients of any sum of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from naysay.estimate.linear import Floats

__all__ = ["Tree"]


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
        after, below = [np.full(self.sizes[-1], self.variances[-1])], [np.zeros(0)]
        for size, variance in zip(self.sizes[-2::-1], self.variances[-2::-1], strict=True):
            summed = self._summed(after[0], size)
            after.insert(0, 1 / (1 / variance + 1 / summed))
            below.insert(0, summed)
        return after, below

    def _summed(self, values: Floats, groups: int) -> Floats:
        """The sums over the groups of the level above, (groups, …)."""
        found: Floats = np.add.reduceat(values, np.arange(0, self.fanout * groups, self.fanout), axis=0)
        return found

    def _spread_out(self, values: Floats, size: int) -> Floats:
        """Each group's value for all groups of the level below, (size, …)."""
        return np.asarray(np.repeat(values, self.fanout, axis=0)[:size])

    def _shares(self, level: int) -> Floats:
        """The share of what is left over that each group of a level takes among its siblings."""
        after, below = self._spread
        if level == 0:
            return np.asarray(after[0] / after[0].sum())
        return np.asarray(after[level] / self._spread_out(below[level - 1], self.sizes[level]))

    def consistent(self, measured: Sequence[Floats]) -> Floats:
        """The shares of the finest groups that fit all levels best, (sizes[-1],)."""
        after, below = self._spread
        up = [measured[-1]]
        for level in range(len(self.sizes) - 2, -1, -1):
            own, rest = measured[level] / self.variances[level], self._summed(up[0], self.sizes[level]) / below[level]
            up.insert(0, after[level] * (own + rest))
        found = up[0] + self._shares(0) * (1 - up[0].sum())
        for level in range(1, len(self.sizes)):
            left = found - self._summed(up[level], self.sizes[level - 1])
            found = up[level] + self._shares(level) * self._spread_out(left, self.sizes[level])
        return np.asarray(found)

    def weights(self, sums: Floats) -> list[Floats]:
        """How much each measurement weighs in sums of the solution, (groups, q) for each level.

        Parameters
        ----------
        sums : (sizes[-1], q) float
            The coefficients of each sum: of the finest groups that it adds, such as 1 within a range and 0 outside.
        """
        after, below = self._spread
        own: list[Floats] = []
        rest = sums
        for level in range(len(self.sizes) - 1, 0, -1):  # the steps of `consistent`, each transposed, in reverse
            upper = self._summed(self._shares(level)[:, None] * rest, self.sizes[level - 1])
            own.insert(0, rest - self._spread_out(upper, self.sizes[level]))
            rest = upper
        own.insert(0, rest - (self._shares(0)[:, None] * rest).sum(axis=0))
        found = []
        for level, size in enumerate(self.sizes):
            if level:
                ratio = (after[level - 1] / below[level - 1])[:, None]
                own[level] = own[level] + self._spread_out(ratio * own[level - 1], size)
            found.append(own[level] * (after[level] / self.variances[level])[:, None])
        return found
