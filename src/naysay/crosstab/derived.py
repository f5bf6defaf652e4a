"""Numbers that are read from an estimated table, each with an interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from naysay.crosstab.measures import Measured, cramers_v
from naysay.crosstab.profile import Likelihood, Smooth
from naysay.estimate import Estimate
from naysay.estimate.information import evidence, maximize
from naysay.estimate.linear import Floats

__all__ = ["Derived"]

_CERTAIN = 1e-9


@dataclass(frozen=True, eq=False)
class Derived:
    """What is read from an estimate of a table: by its likelihood, or by the delta method from moments.

    Parameters
    ----------
    fit : Estimate
    shape : tuple of int
        Rows, columns and layers.
    """

    fit: Estimate
    shape: tuple[int, ...]

    @property
    def method(self) -> str:
        """Of the intervals."""
        return "delta" if self.fit.maximum is None else "profile"

    @cached_property
    def likelihood(self) -> Likelihood:
        """The likelihood of the cells, around its maximum."""
        rows, weights, _ = evidence(self.fit.tally)
        best = self.fit.maximum.proportions if self.fit.maximum is not None else maximize(rows, weights).proportions
        return Likelihood(rows, weights, best)

    def sliced(self, layer: int | None) -> Floats:
        """The estimated table (rows, columns) of a layer, or over all layers."""
        return self._table(self.fit.proportions, layer)

    def _table(self, shares: Floats, layer: int | None) -> Floats:
        table = shares.reshape((*self.shape, 1)[:3])
        return np.asarray(table.sum(axis=2) if layer is None else table[:, :, layer])

    def _number(self, measured: Measured, layer: int | None) -> Smooth:
        """A measure of a layer as a number of all categories."""

        def number(shares: Floats) -> tuple[float, Floats]:
            value, slope = measured(self._table(shares, layer))
            gradient = np.zeros((*self.shape, 1)[:3])
            if layer is None:
                gradient += slope[:, :, None]
            else:
                gradient[:, :, layer] = slope
            return value, gradient.ravel()

        return number

    def _of_cells(self, number: Smooth) -> Smooth:
        """A number of the categories as one of the cells, of which the categories are shares."""
        found = self.fit.cells
        if found is None:
            return number
        above, below = (
            np.array(each) for each in zip(*(s.weights(found.cells) for s in found.categories), strict=True)
        )

        def of_cells(cells: Floats) -> tuple[float, Floats]:
            whole = np.maximum(below @ cells, _CERTAIN)
            shares = above @ cells / whole
            value, gradient = number(shares)
            return value, np.asarray(gradient @ ((above - shares[:, None] * below) / whole[:, None]))

        return of_cells

    def found(
        self, measured: Measured, layer: int | None, confidence: float, ends: tuple[float, float]
    ) -> tuple[float, tuple[float, float]]:
        """The value of a measure with its interval, within the ends of its scale."""
        number = self._number(measured, layer)
        with np.errstate(all="ignore"):
            value = number(self.fit.proportions)[0]
        if self.fit.maximum is None:
            return value, self._delta(number, confidence, ends)
        of_cells = self._of_cells(number)
        low, high = self.likelihood.bounds(of_cells, self._quantile(of_cells, confidence))
        low, high = (end if np.isnan(bound) else bound for bound, end in zip((low, high), ends, strict=True))
        return value, (max(min(low, value), ends[0]), min(max(high, value), ends[1]))

    def _quantile(self, number: Smooth, confidence: float) -> float:
        """What the likelihood ratio is referred to: χ², or under weights F times design-based over model variance."""
        if not self.fit.tally.weighted:
            return float(scipy.stats.chi2.ppf(confidence, 1))
        gradient = number(self.likelihood.inside)[1]
        model = float(gradient @ self.likelihood.covariance @ gradient)
        ratio = float(gradient @ self._design_covariance @ gradient) / max(model, 1e-300)
        return float(scipy.stats.f.ppf(confidence, 1, self.fit.tally.sampled.degrees_of_freedom)) * ratio

    @cached_property
    def _design_covariance(self) -> Floats:
        """The design-based covariance of the cells, (cells, cells), near the maximum."""
        tally, likelihood = self.fit.tally, self.likelihood
        rows = np.vstack([part.design.rows(part.codes) for part in tally.parts if len(part.codes)])
        scores = rows / (rows @ likelihood.inside)[:, None] - 1
        middle = tally.sampled.covariance(scores) * (tally.n / tally.weight) ** 2
        return likelihood.covariance @ middle @ likelihood.covariance

    def _delta(self, number: Smooth, confidence: float, ends: tuple[float, float]) -> tuple[float, float]:
        """Value ± z standard errors; on Fisher's scale where the number lies between -1 and 1."""
        with np.errstate(all="ignore"):
            value, gradient = number(self.fit.proportions)
            half = scipy.stats.norm.ppf(0.5 + confidence / 2) * np.sqrt(gradient @ self.fit.covariance @ gradient)
            if ends[0] < 0:
                bounds = np.tanh(np.arctanh(value) + np.array([-1, 1]) * half / (1 - value**2))
            else:
                bounds = np.clip(value + np.array([-1, 1]) * half, *ends)
        return float(bounds[0]), float(bounds[1])

    def cramers_v(self, layer: int | None, confidence: float) -> tuple[float, tuple[float, float]]:
        """Cramér's V with its interval: all V with which V̂² is compatible as a noncentral χ².

        V̂²/s² is taken for a noncentral χ² with (rows - 1)(columns - 1) degrees of freedom and noncentrality V²/s²,
        where s is the standard error of V̂. Without randomization this is what intervals of V commonly are; it holds at
        V = 0 too, where V̂ has no normal distribution.
        """
        number = self._number(cramers_v, layer)
        value = number(self.fit.proportions)[0]
        if self.fit.maximum is None:
            variance = self._variance(number(self.fit.proportions)[1], self.fit.covariance)
        else:
            of_cells = self._of_cells(number)
            weighted = self.fit.tally.weighted
            covariance = self._design_covariance if weighted else self.likelihood.covariance
            variance = self._variance(of_cells(self.likelihood.inside)[1], covariance)
        if not variance > 0:
            return value, (0.0, 1.0)
        df = (self.shape[0] - 1) * (self.shape[1] - 1)
        tail = (1 - confidence) / 2
        statistic = value**2 / variance
        ends = [_noncentrality(statistic, df, chance) for chance in (1 - tail, tail)]
        low, high = (float(min(np.sqrt(end * variance), 1.0)) for end in ends)
        return value, (min(low, value), max(high, value))

    @staticmethod
    def _variance(gradient: Floats, covariance: Floats) -> float:
        return float(gradient @ covariance @ gradient)


def _noncentrality(statistic: float, df: int, chance: float) -> float:
    """The noncentrality at which so small a statistic, or a smaller one, has this chance; 0 where none has."""

    def excess(noncentrality: float) -> float:
        return float(scipy.stats.ncx2.cdf(statistic, df, noncentrality)) - chance

    if statistic <= 0 or scipy.stats.chi2.cdf(statistic, df) <= chance:
        return 0.0
    return float(scipy.optimize.brentq(excess, 1e-12, 4 * statistic + 100))
