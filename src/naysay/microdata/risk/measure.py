"""What a measure of risk is: numbers about each quasi-identifier, and every form in which they are shown.

A measure is a frozen dataclass in a file of its own and stands in `table.MEASURES`. Text, JSON, CSV and the page for
the board read its members; none of them knows a measure by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.microdata.keys.variables import Keys, Progress
from naysay.microdata.matching.matches import matches_of_tuples
from naysay.microdata.population.theta import Scale, Sizes, Theta, Weighted, sampling_fraction, theta_of, weighted_theta

__all__ = ["Case", "Measure", "Measured", "OnRequest"]


class Measure(ABC):
    """What a table of risk reports about one quasi-identifier.

    Attributes
    ----------
    name : str
        The field of JSON, and what stands before the point in columns of CSV.
    columns : tuple of str
        Of the text table, behind the name of the quasi-identifier.
    explanation : tuple of str
        Sentences that say what the columns mean.
    everywhere : bool
        Whether each table has it, even if nobody asked for it.
    page_title : str
        The caption of its table on the page for the board. Its readers are no statisticians. By default it is the
        caption of the text table.
    page_columns : tuple of str
        The columns of that table; by default those of the text.
    """

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    explanation: ClassVar[tuple[str, ...]] = ()
    everywhere: ClassVar[bool] = False
    page_title: ClassVar[str] = ""
    page_columns: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def of(cls, case: Case) -> Self | None:
        """The measure on a quasi-identifier; None where nobody asked for it."""

    @classmethod
    @abstractmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        """The caption of the text table; `policies` says whether some missing cells do not match everything."""

    @abstractmethod
    def cells(self) -> tuple[str, ...]:
        """The row of the text table, one cell for each of `columns`."""

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """The fields of JSON with stable names, also the columns of CSV; empty where others hold its numbers."""

    def page_cells(self) -> tuple[str, ...]:
        """The row of the table on the page."""
        return self.cells()

    @property
    def reservation(self) -> str:
        """Why some of the numbers should not be used; empty if they may."""
        return ""

    def of_each(self) -> dict[str, NDArray[Any]]:
        """What the measure says of each respondent, by name, (n,); most say nothing."""
        return {}

    def titled(self, titles: Mapping[str, str]) -> Measure:
        """The same measure with other words for keys, where its cells name them; `titles` has a word for each."""
        return self


class OnRequest(Measure):
    """A measure that a table has only if it is asked for by name.

    Attributes
    ----------
    needs : tuple of str
        What must be given with it: "population", "sensitive".
    """

    needs: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def of(cls, case: Case) -> Self | None:
        return cls.asked(case) if cls.name in case.also and case.keys.kept.any() else None

    @classmethod
    @abstractmethod
    def asked(cls, case: Case) -> Self | None:
        """The measure, which was asked for; None where the records do not allow it."""


class Measured(NamedTuple):
    """Sizes of the records that are kept, θ, and both in people of the population where there are weights."""

    sizes: Sizes
    theta: Theta
    weighted: Weighted | None


@dataclass(frozen=True, eq=False)
class Case:
    """One quasi-identifier, as measures see it; what several of them need is counted once.

    Parameters
    ----------
    keys : Keys
        Its key variables.
    rule : {"worst", "intersect", "first"}
    population : float, optional
    scale : Scale, optional
        Where there are sampling weights.
    confidence : float
        Of θ's intervals.
    sensitive : (Keys, str), optional
        The keys with the sensitive variable, and its name.
    progress : callable, optional
    also : tuple of str
        Names of the measures on request that were asked for.
    households : (n,) series, optional
        Which household each respondent belongs to.
    """

    keys: Keys
    rule: str
    population: float | None
    scale: Scale | None
    confidence: float
    sensitive: tuple[Keys, str] | None
    progress: Progress | None
    also: tuple[str, ...] = ()
    households: pl.Series | None = None

    @property
    def k(self) -> NDArray[np.int64]:
        """The anonymity set of each distinct tuple."""
        return self.keys.tuples.count

    @cached_property
    def m(self) -> NDArray[Any]:
        """The matches of each distinct tuple."""
        return matches_of_tuples(self.keys, rule=self.rule, progress=self.progress)

    @cached_property
    def on_k(self) -> Measured:
        """Over the records that have every key."""
        return self._measured(self.k, self.keys.tuples.weight, self.keys.complete)

    @cached_property
    def on_m(self) -> Measured:
        """Over everybody whom no policy leaves out."""
        m, weight = self.m, self.keys.tuples.weight
        if self.scale is not None:
            weight = matches_of_tuples(self.keys, weight, rule=self.rule, progress=self.progress)
        return self._measured(m, weight, self.keys.kept)

    def _measured(self, sizes: NDArray[Any], sums: Any, keep: NDArray[np.bool_]) -> Measured:
        sizes, count = sizes[keep], self.keys.tuples.count[keep]
        found = Sizes.counted(sizes, count)
        if self.scale is None or self.population is None:
            return Measured(found, theta_of(found, self.population, self.confidence), None)
        fraction = sampling_fraction(max(found.records, 1), self.population)
        weight, sums = self.scale.people(self.keys.tuples.weight)[keep], self.scale.people(sums)[keep]
        told = weighted_theta(sizes, count, weight, sums, fraction=fraction, confidence=self.confidence)
        return Measured(found, told, Weighted.of(sizes, count, weight, sums, self.population))
