"""Exact power of the printed interval, where one of two answers tells one of two categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from naysay.design import Answerable
from naysay.planning.variance import Variance

__all__ = ["PrintedInterval"]

_LARGEST = 20_000  # answers up to which powers are summed exactly; with more the normal law is near
_TAIL = 1e-12  # probability of counts that are left out at each end


@dataclass(frozen=True)
class PrintedInterval:
    """The interval of Agresti and Coull that an estimate from two answers prints, and how often it excludes a value.

    Parameters
    ----------
    given : float
        The share of people who give the first answer.
    null : float
        The same share if the proportion were the null value.
    ends : (float, float)
        The least and the largest share that any people give; an interval outside them shrinks to the nearer one.
    confidence : float

    References
    ----------
    Agresti & Coull (1998), The American Statistician 52.
    """

    given: float
    null: float
    ends: tuple[float, float]
    confidence: float

    @classmethod
    def of(
        cls, design: Answerable, found: Variance, place: int, null: float, confidence: float
    ) -> PrintedInterval | None:
        """The interval of one value; None where the estimate prints another kind."""
        channel: Any = next(iter(design.parts.values()))
        two = len(found.at) == len(found.names) == 2 and not design.several and channel.tabular
        if not two or channel.space.size != 2 or found.ask.target != "population":
            return None
        chances = channel.matrix[0]
        value = chances[place] * null + chances[1 - place] * (1 - null)
        ends = float(chances.min()), float(chances.max())
        return cls(float(chances @ found.at), float(np.clip(value, *ends)), ends, confidence)

    def power(self, n: int) -> float | None:
        """How often it excludes the null value with n answers; None for very many."""
        if n > _LARGEST:
            return None
        law = scipy.stats.binom(n, self.given)
        counts = np.arange(max(law.ppf(_TAIL) - 1, 0), min(law.isf(_TAIL) + 1, n) + 1)
        z = float(scipy.stats.norm.ppf(0.5 + self.confidence / 2))
        center = (counts + z**2 / 2) / (n + z**2)
        half = z * np.sqrt(center * (1 - center) / (n + z**2))
        low, high = np.clip(center - half, *self.ends), np.clip(center + half, *self.ends)
        return float(law.pmf(counts) @ ((self.null < low) | (self.null > high)))

    def needed(self, power: float, start: int) -> int | None:
        """The first number of answers from `start` on that reaches the power, and with one tenth more; else None."""
        n = start
        while n <= _LARGEST:
            tenth = range(n + n // 10 + 1, n - 1, -1)
            short = next((each for each in tenth if (self.power(each) or 0.0) < power), None)
            if short is None:
                return n
            n = short + 1
        return None
