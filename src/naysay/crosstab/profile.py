"""Profile intervals of any smooth number of a table, over proportions that stay within [0, 1].

The bounds of ψ are its smallest and its largest value among the tables whose log-likelihood is within half a quantile
of the maximum. At the edge, where cells are 0 and standard errors mean little, the likelihood still holds; the delta
method does not (see ``docs/crosstab.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from naysay.estimate.information import information, inverse
from naysay.estimate.linear import Floats

__all__ = ["Likelihood", "Smooth"]

Smooth = Callable[[Floats], tuple[float, Floats]]
"""A number of the cells, and its gradient."""

_EDGE = 0.02  # how far starts are drawn inside, in shares of the even distribution
_WITHIN = 1e-3  # of log-likelihood, by which a bound may miss the quantile


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood of a table around its maximum.

    Parameters
    ----------
    rows, weights : (distinct, cells), (distinct,) float
        Likelihood rows of the answers, and how often each was given.
    best : (cells,) float
        The maximizer.
    """

    rows: Floats
    weights: Floats
    best: Floats

    def value(self, cells: Floats) -> float:
        """The log-likelihood of some cells."""
        return float(self.weights @ np.log(np.maximum(self.rows @ cells, 1e-300)))

    @cached_property
    def top(self) -> float:
        """The largest log-likelihood."""
        return self.value(self.best)

    @cached_property
    def inside(self) -> Floats:
        """Cells near the best ones, none of them empty."""
        return np.asarray((1 - _EDGE) * self.best + _EDGE / len(self.best))

    @cached_property
    def covariance(self) -> Floats:
        """The inverse observed information there, (cells, cells)."""
        return inverse(information(self.rows, self.weights, self.inside))

    def bounds(self, number: Smooth, quantile: float) -> tuple[float, float]:
        """The smallest and the largest value that the likelihood ratio does not reject.

        Parameters
        ----------
        number : callable
            Of cells (cells,): the value and its gradient.
        quantile : float
            Of χ² with one degree of freedom, times any variance ratio.

        Returns
        -------
        (float, float)
            NaN for a bound that was not found.
        """
        low, high = (self._end(number, quantile, sign) for sign in (-1.0, 1.0))
        return low, high

    def _end(self, number: Smooth, quantile: float, sign: float) -> float:
        found = (self._sought(number, quantile, sign, start) for start in self._starts(number, quantile, sign))
        known = [value for value in found if value is not None]
        return sign * max(sign * value for value in known) if known else float("nan")

    def _starts(self, number: Smooth, quantile: float, sign: float) -> list[Floats]:
        """Where to begin: most of the way to the bound of the tangent ellipsoid, and nearer."""
        along = self.covariance @ number(self.inside)[1]
        spread = np.sqrt(max(float(along @ information(self.rows, self.weights, self.inside) @ along), 1e-300))
        steps = (self.inside + sign * part * np.sqrt(quantile) / spread * along for part in (0.7, 0.2))
        least = 1e-4 / len(self.best)
        return [np.maximum(step, least) / np.maximum(step, least).sum() for step in steps]

    def _sought(self, number: Smooth, quantile: float, sign: float, start: Floats) -> float | None:
        """The bound from one start, by sequential quadratic programming; None where the search went astray."""
        scale = np.sqrt(np.maximum(np.diagonal(self.covariance), 1e-14))
        least = self.top - quantile / 2

        def cells(x: Floats) -> Floats:
            return np.asarray(self.best + scale * x)

        def slope(x: Floats) -> Floats:
            return np.asarray(self.rows.T @ (self.weights / np.maximum(self.rows @ cells(x), 1e-300)) * scale)

        minimize: Any = scipy.optimize.minimize
        options: Any = {"maxiter": 300, "ftol": 1e-9}
        constraints: Any = [
            {"type": "eq", "fun": lambda x: [cells(x).sum() - 1], "jac": lambda x: [scale]},
            {"type": "ineq", "fun": lambda x: self.value(cells(x)) - least, "jac": slope},
        ]
        with np.errstate(all="ignore"):
            found = minimize(
                lambda x: -sign * number(cells(x))[0],
                (start - self.best) / scale,
                jac=lambda x: np.asarray(-sign * number(cells(x))[1] * scale),
                method="SLSQP",
                bounds=scipy.optimize.Bounds(-self.best / scale, (1 - self.best) / scale),
                constraints=constraints,
                options=options,
            )
        value = number(cells(found.x))[0]
        good = (
            np.isfinite(value)
            and self.value(cells(found.x)) >= least - _WITHIN
            and abs(cells(found.x).sum() - 1) < 1e-6
        )
        return float(value) if good else None
