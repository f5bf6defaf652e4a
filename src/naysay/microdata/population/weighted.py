"""Risk in people of the population, as sampling weights estimate it."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay.errors import StatisticalWarning
from naysay.microdata.keys.variables import Keys
from naysay.microdata.population.theta import Theta, told_by
from naysay.printing import plain

__all__ = ["Scale", "Weighted", "weighted_theta"]

_CALIBRATED = 0.01  # share; a sum of weights that differs from the population by more causes a warning


@dataclass(frozen=True)
class Weighted:
    """Risk in people of the population, as the weights estimate it.

    Parameters
    ----------
    smallest : float
        The least estimated number of people who share a record's key variables, F̂ = Σw; NaN without records.
    below_5, below_10 : int
        Records whose F̂ is below 5, and below 10.
    unique : float
        Share of the population, by weight, whose records are unique in the file; NaN without records.
    expected : float
        Σ 1/F̂: how many records an intruder with a register of the population is expected to name correctly.
    """

    smallest: float
    below_5: int
    below_10: int
    unique: float
    expected: float

    @classmethod
    def of(
        cls,
        sizes: NDArray[np.int64],
        count: NDArray[np.int64],
        weight: NDArray[np.float64],
        sums: NDArray[np.float64],
        population: float,
    ) -> Weighted:
        """From sizes, records, weights, and F̂ of each distinct tuple."""
        return cls(
            float(sums.min()) if len(sums) else float("nan"),
            int(count[sums < 5].sum()),
            int(count[sums < 10].sum()),
            float(weight[sizes == 1].sum()) / population if len(sums) else float("nan"),
            float((count / sums).sum()),
        )

    def fields(self) -> dict[str, Any]:
        """The fields of a JSON object, with stable names."""
        names = ("smallest", "lt_5", "lt_10", "unique", "expected")
        return {name: plain(value) for name, value in zip(names, astuple(self), strict=True)}


@dataclass(frozen=True)
class Scale:
    """Weights as people of the population: what they are multiplied by."""

    factor: float
    warnings: tuple[StatisticalWarning, ...]

    @classmethod
    def between(cls, keys: Keys, weights: str | ArrayLike, population: float) -> Scale:
        """From the weights that the keys hold to the population."""
        weight = keys.weight(weights if isinstance(weights, str) else "weights")
        total = float(weight.sum())
        told = []
        if abs(total / population - 1) > _CALIBRATED:
            told.append(
                f"the weights sum to {total:,.6g}, not to the population of {population:,.12g}; they are scaled to it"
            )
        if (weight * population / total < keys.tuples.count * (1 - 1e-9)).any():
            told.append(
                "some weights are below one person, as if respondents were sampled more than once; θ uses them as they"
                " are, but never lets the sum over pairs fall below zero"
            )
        return cls(population / total, tuple(StatisticalWarning(text) for text in told))

    def people(self, weight: Any) -> NDArray[np.float64]:
        """Weights as people of the population."""
        return np.asarray(weight * self.factor, dtype=np.float64)


def weighted_theta(
    sizes: NDArray[np.int64],
    count: NDArray[np.int64],
    weight: NDArray[np.float64],
    sums: NDArray[np.float64],
    *,
    fraction: float,
    confidence: float = 0.95,
) -> Theta:
    """θ where people had different chances to be in the file, known as weights 1/π_i.

    θ̂ = n₁ / (n₁ + Σ_{i: k_i = 2} (w_i - 1))

    A weight below one lowers the sum over pairs; that sum as a whole is kept from falling below zero.

    With equal weights 1/π this is `theta`, its interval too.

    Parameters
    ----------
    sizes : (distinct,) int
        k or m of each distinct tuple of keys.
    count : (distinct,) int
        Records with each.
    weight : (distinct,) float
        The sum of their weights, in people of the population.
    sums : (distinct,) float
        The sum of the weights of everybody who is counted in `sizes`.
    fraction : float
        Records over population.
    confidence : float
        Of the interval. Weights are taken as equal within triples, which makes it no shorter.

    Examples
    --------
    >>> import numpy as np
    >>> from naysay.microdata import theta
    >>> sizes = np.repeat([1, 2], [20, 10])
    >>> found = weighted_theta(sizes, sizes, sizes * 25.0, sizes * 25.0, fraction=0.04)
    >>> found.estimate == theta(20, 10, fraction=0.04).estimate
    True

    Notes
    -----
    Skinner & Carter (2003), Survey Methodology 29(2), 177-180. Over the cells of a population, the sum of
    (1/π_a - 1) + (1/π_b - 1) where just a and b are in the file has the expectation of (F - 1)I(f = 1).
    """
    unique, pair, triple = (sizes == size for size in (1, 2, 3))
    excess = np.maximum(sums - sizes, 0)  # people of the population who are expected beside the records
    wrong = max(float((weight - count)[pair].sum()), 0.0)
    square = count * excess**2
    variance = float(square[pair].sum() / 2 + wrong + square[triple].sum() * 2 / 9)
    pairs = float(count[pair].sum()) / 2
    return told_by(float(count[unique].sum()), pairs, wrong, variance, fraction, confidence)
