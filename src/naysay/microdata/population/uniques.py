"""How many people are unique in the population, as a model says from a sample: the result that all models share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay.errors import DataError
from naysay.microdata.population.theta import FEWEST, sampling_fraction
from naysay.printing import number

__all__ = ["Sample", "Uniques"]

NOWHERE = (math.nan, math.nan)


@dataclass(frozen=True, eq=False)
class Sample:
    """How often each size of an anonymity set occurs in a file, and the population that it is a sample of.

    Parameters
    ----------
    sizes : (distinct,) int
        Rising sizes, from 1.
    cells : (distinct,) int
        How many anonymity sets have each.
    population : float
        People.
    """

    sizes: NDArray[np.int64]
    cells: NDArray[np.int64]
    population: float

    @classmethod
    def of(cls, sizes: ArrayLike, population: float) -> Sample:
        """From the size of each anonymity set.

        Raises
        ------
        DataError
            Sizes that are no whole numbers above zero, a population smaller than the file.
        """
        given = np.asarray(sizes)
        if given.ndim != 1 or given.dtype.kind not in "iu" or not given.size or given.min() < 1:
            raise DataError("sizes of anonymity sets are whole numbers above zero, one a set, and at least one set")
        values, cells = np.unique(given.astype(np.int64), return_counts=True)
        sampling_fraction(int((values * cells).sum()), population)
        return cls(values, cells.astype(np.int64), float(population))

    @property
    def records(self) -> int:
        """Records n."""
        return int((self.sizes * self.cells).sum())

    @property
    def sets(self) -> int:
        """Anonymity sets u."""
        return int(self.cells.sum())

    @property
    def fraction(self) -> float:
        """Share π of the population that is in the file."""
        return self.records / self.population

    def of_size(self, size: int) -> int:
        """How many sets have a size."""
        return int(self.cells[self.sizes == size].sum())

    @property
    def reason(self) -> str:
        """Why no model can answer; empty if they may."""
        if self.fraction == 1:
            return ""
        if self.sets == self.records:
            return "all records are unique: nothing tells how often people are alike"
        if self.sets == 1:
            return "all records are alike"
        least = min(self.of_size(1), self.of_size(2))
        if least < FEWEST:
            return f"fewer than {FEWEST} unique records, or fewer than {FEWEST} pairs"
        return ""


@dataclass(frozen=True)
class Uniques:
    """How many people are unique in the population on some keys, as a model estimates it.

    Parameters
    ----------
    model, assumption : str
        Its name, and what it takes for granted.
    people : float
        U, people who share their keys with nobody in the population; NaN where the model has no answer.
    interval : (float, float)
        Of the given confidence; NaN where there is none.
    sample : Sample
    parameters : {name: number}
        Of the fitted model.
    reason : str
        Why the number is withheld; empty if it is not.
    without : str
        Why there is no interval; empty if there is one.
    confidence : float
    """

    model: str
    assumption: str
    people: float
    interval: tuple[float, float]
    sample: Sample
    parameters: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    without: str = ""
    confidence: float = 0.95

    @property
    def withheld(self) -> bool:
        """Whether tables leave the number out."""
        return bool(self.reason)

    @property
    def share(self) -> float:
        """U/N, the share of the population that is unique."""
        return self.people / self.sample.population

    @property
    def right(self) -> float:
        """πU/n₁: how many of the records that are unique in the file are unique in the population; NaN without any."""
        unique = self.sample.of_size(1)
        return self.sample.fraction * self.people / unique if unique else math.nan

    def fields(self) -> dict[str, Any]:
        """The fields of a JSON object; undefined numbers are None."""
        return {
            "people": number(self.people),
            "people_interval": [number(bound) for bound in self.interval],
            "share": number(self.share),
            "unique_right": number(self.right),
            "withheld": self.reason or None,
            "interval_missing": self.without or None,
            "parameters": {name: number(value) for name, value in self.parameters.items()},
        }
