"""Counts with noise: a table that is differentially private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.design.drawing import Source, source_of
from naysay.design.exact import as_fraction
from naysay.errors import DataError
from naysay.microdata.risk.written import Printed
from naysay.microdata.tables.release import shown_cells
from naysay.microdata.tables.table import CellTable
from naysay.show import Content, Facts, Sentence, page
from naysay.show.text import csv_text

_MOST_DENOMINATOR = 10**6


@dataclass(frozen=True, eq=False)
class NoisyTable(Printed):
    """Counts with two-sided geometric noise on each inner cell; totals are added up from them.

    Parameters
    ----------
    table : CellTable
        What was counted: the true values.
    epsilon : float
        Adding or leaving out one row changes the chance of any published table by at most the factor e^ε.
    values : (nodes, …) int
        The noisy counts, also below zero.
    """

    table: CellTable
    epsilon: float
    values: NDArray[np.int64]

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Of each cell: √(inner cells in it · 2α)/(1 − α), α = e^−ε."""
        alpha = math.exp(-self.epsilon)
        inner = self.table.sums.sum(axis=1).reshape(self.table.shape)
        return np.asarray(np.sqrt(inner * 2 * alpha) / (1 - alpha), np.float64)

    def _rows(self) -> list[list[Any]]:
        errors = self.standard_errors.reshape(-1).tolist()
        return [
            [*self.table.labels(cell), value, errors[cell]]
            for cell, value in enumerate(self.values.reshape(-1).tolist())
        ]

    def released(self) -> str:
        """The table as CSV: categories, noisy count, its standard error."""
        names = [dimension.name for dimension in self.table.dimensions]
        return csv_text([(*names, "count", "standard_error"), *self._rows()])

    to_csv = released

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object with stable names; it holds no true count."""
        names = [dimension.name for dimension in self.table.dimensions]
        cells = [
            {"cell": dict(zip(names, labels, strict=True)), "count": count, "standard_error": error}
            for *labels, count, error in self._rows()
        ]
        return {"dimensions": names, "epsilon": self.epsilon, "cells": cells}

    def content(self) -> list[Content]:
        """The noisy table, and what it promises."""
        names = " × ".join(dimension.name for dimension in self.table.dimensions)
        cell_error, total_error = self.standard_errors.reshape(-1)[[0, -1]]
        facts = (
            ("table", names),
            ("ε", f"{self.epsilon:g}"),
            ("standard error", f"{cell_error:.3g} of a cell, {total_error:.3g} of the total"),
        )
        cells = [f"{value:,}" for value in self.values.reshape(-1).tolist()]
        promise = (
            f"Whether one row is in the file or not changes the chance of any such table by a factor of at most "
            f"{math.exp(self.epsilon):.4g}. That holds for one table: two tables of the same people add their ε. The "
            "categories are those of the file and are taken as known to everybody."
        )
        return [Facts(facts), *shown_cells(self.table, cells, "Counts with noise"), Sentence(promise, small=True)]

    def page(self) -> str:
        """The same as one HTML page."""
        return page.html("A table with noise", [page.Section("The table", self.content())], flow=True)


def noisy(table: CellTable, *, epsilon: Any, rng: np.random.Generator | Source | None = None) -> NoisyTable:
    """The table with noise that makes it ε-differentially private for each row.

    Each inner cell gets an independent X with P(X = x) ∝ e^(−ε|x|). A row is in one inner cell, so the whole table
    costs ε once. The draw is exact, in whole numbers, from the operating system's randomness.

    Parameters
    ----------
    table : CellTable
        Of counts of rows, not of units.
    epsilon : number
        Read as it is written: 0.1 is 1/10.
    rng : optional
        A generator, for simulations only: whoever knows its seed removes the noise.

    Raises
    ------
    DataError
        A table of amounts or of units; an ε that is not above 0, above 50, or not a fraction of small numbers.

    Examples
    --------
    >>> from naysay.microdata.tables import tabulate
    >>> table = tabulate({"sex": list("ffm")}, ["sex"])
    >>> found = noisy(table, epsilon=1)
    >>> int(found.values[:2].sum() - found.values[2])
    0

    Source: Ghosh, Roughgarden & Sundararajan 2009 (the mechanism); Canonne, Kamath & Steinke 2020, algorithm 2 (the
    draw).
    """
    if not table.counts or (table.contributors != table.values).any():
        raise DataError("noise is for counts of rows: leave amounts and units out, or suppress cells instead")
    step = as_fraction(epsilon, what="epsilon")
    if not 0 < step <= 50 or step.denominator > _MOST_DENOMINATOR or step.numerator > _MOST_DENOMINATOR:
        raise DataError(f"epsilon must be above 0, at most 50, and have few digits, such as 0.5; got {epsilon!r}")
    noise = geometric_noise(table.inner.size, step.numerator, step.denominator, source_of(rng))
    inner = table.inner.astype(np.int64) + noise.reshape(table.inner.shape)
    values = (table.sums.astype(np.int64) @ inner.reshape(-1)).reshape(table.shape)
    return NoisyTable(table, float(step), values)


def geometric_noise(size: int, over: int, under: int, source: Source) -> NDArray[np.int64]:
    """Independent whole numbers with P(x) ∝ e^(−|x| · over/under), drawn exactly, (size,)."""
    return np.array([_noise_number(over, under, source) for _ in range(size)], np.int64)


def _noise_number(over: int, under: int, source: Source) -> int:
    while True:
        part = int(source.below(under, 1)[0])
        if not _survives(part, under, source):
            continue
        whole = 0
        while _survives(1, 1, source):
            whole += 1
        size = (part + under * whole) // over
        negative = int(source.below(2, 1)[0])
        if size or not negative:  # zero once, not twice
            return -size if negative else size


def _survives(over: int, under: int, source: Source) -> bool:
    """True with the probability e^(−over/under), at most one in the exponent."""
    turn = 1
    while int(source.below(under * turn, 1)[0]) < over:
        turn += 1
    return turn % 2 == 1
