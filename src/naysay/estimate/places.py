"""Maps: shares of the cells of a grid, or of categories over time, beside their errors.

Cells are in the order of a Z curve, so that each four in a row, and each four of these, are a square: a hierarchy with
a fanout of 4 over them is a quad tree. A share of a rectangle is a sum s of cells, with variance sᵀ Cov s.

A map of K cells marks those that are told from empty ones, so that it marks no empty cell with the confidence c: one by
one at c, it would mark some in nearly every map. So each one-sided test is at 1 - (1 - c)/K (Bonferroni): the interval
of the estimate and Wald's must both lie above 0. Of few answers Wald's marks too many where all are alike (.55 of
maps), and the other where a large ε makes false answers rare (.18).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats, Label
from naysay.errors import DataError
from naysay.estimate.fit import Fit
from naysay.estimate.intervals import intervals
from naysay.estimate.mean import Measured
from naysay.estimate.ranges import Ranges
from naysay.show import Chart, Column, Content, Note, Records, Result, Sentence, Table

_MOST_CELLS = 100_000
_BOTH = ("proportions", "standard_errors")
_SIDE = 455  # pixels of each of two maps that stand side by side
_SHOWN = 20  # cells in print, the largest first


@dataclass(frozen=True)
class Grid:
    """A map of square cells, each a category such as ``r2c5``; rows go from north to south, columns from west to east.

    Parameters
    ----------
    rows, columns : int

    Examples
    --------
    >>> from naysay import designs
    >>> grid = Grid(2, 3)
    >>> grid.cells
    ('r1c1', 'r1c2', 'r2c1', 'r2c2', 'r1c3', 'r2c3')
    >>> flat = designs.negative(grid.cells, discards=2)
    """

    rows: int
    columns: int

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            _checks.whole_number(getattr(self, name), 1, _MOST_CELLS, what=f"the {name} of a grid")
        if self.rows * self.columns > _MOST_CELLS:
            raise DataError(f"a grid has at most {_MOST_CELLS:,} cells; got {self.rows} × {self.columns}")

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Row and column of each cell, from 0, along a Z curve, (t, 2)."""
        row_places, column_places = (axis.ravel() for axis in np.indices((self.rows, self.columns)))
        keys = np.zeros(len(row_places), dtype=np.int64)
        for bit in range(max(self.rows, self.columns).bit_length()):
            keys |= ((column_places >> bit) & 1) << (2 * bit) | ((row_places >> bit) & 1) << (2 * bit + 1)
        order = np.argsort(keys)
        return np.column_stack([row_places[order], column_places[order]])

    @cached_property
    def cells(self) -> tuple[str, ...]:
        """The labels of the cells, in the order of `places`; the categories of a design."""
        return tuple(f"r{row + 1}c{column + 1}" for row, column in self.places.tolist())

    def rectangle(self, rows: tuple[int, int], columns: tuple[int, int]) -> Floats:
        """1 for each cell within these rows and columns, first and last included and counted from 1, (t,)."""
        ends = np.array([rows, columns])
        if (ends[:, 0] > ends[:, 1]).any() or (ends < 1).any() or (ends[:, 1] > (self.rows, self.columns)).any():
            raise DataError(
                f"a rectangle has a first and a last row and column within {self.rows} × {self.columns}; got rows "
                f"{rows} and columns {columns}"
            )
        return np.asarray(((self.places >= ends[:, 0] - 1) & (self.places <= ends[:, 1] - 1)).all(axis=1).astype(float))

    def share(self, fit: Fit | Measured, rows: tuple[int, int], columns: tuple[int, int]) -> tuple[float, float]:
        """The share of people within a rectangle, and its standard error.

        Parameters
        ----------
        fit : Estimate or Ranges
            Of a design over `cells`.
        rows, columns : (int, int)
            First and last, counted from 1.
        """
        shares, covariance = self._numbers(fit, self.rectangle(rows, columns)[:, None])
        return float(shares[0]), math.sqrt(max(float(covariance[0, 0]), 0.0))

    def heat_map(self, fit: Fit | Measured, *, confidence: float = 0.95) -> HeatMap:
        """The estimate as a map: shares and standard errors of all cells; see `HeatMap`."""
        shares, errors, lows = np.full((3, self.rows, self.columns), np.nan)
        at = tuple(self.places.T)
        if isinstance(fit, Ranges):
            shares[at] = fit.proportions
            errors[at] = [
                math.sqrt(max(float(fit.covariance(column[:, None])[0, 0]), 0.0)) for column in np.eye(len(self.cells))
            ]
            lows[at] = shares[at] - scipy.special.ndtri(0.5 + _of_each(confidence, len(self.cells)) / 2) * errors[at]
        else:
            values, covariance = self._numbers(fit, np.eye(len(self.cells)))
            shares[at], errors[at] = values, np.sqrt(np.maximum(np.diagonal(covariance), 0))
            lows[at] = _lows(cast("Fit", fit), confidence, len(self.cells))  # `_numbers` takes nothing else
        rows, columns = (tuple(range(1, size + 1)) for size in (self.rows, self.columns))
        return HeatMap(("row", "column"), rows, columns, shares, errors, lows, confidence)

    def _numbers(self, fit: Fit | Measured, sums: Floats) -> tuple[Floats, Floats]:
        """Sums of the shares, (q,), and their covariance, (q, q)."""
        if not isinstance(fit, Fit | Ranges) or tuple(fit.design.categories) != self.cells:
            raise DataError(
                f"the categories of the design must be the {len(self.cells)} cells of this grid in their order, "
                f"{self.cells[0]} to {self.cells[-1]}"
            )
        covariance = fit.covariance(sums) if isinstance(fit, Ranges) else sums.T @ fit.covariance @ sums
        return np.asarray(sums.T @ fit.proportions), np.asarray(covariance)


@dataclass(frozen=True, eq=False)
class HeatMap(Result):
    """Shares beside their standard errors, as two heat maps.

    Parameters
    ----------
    names : (str, str)
        Of rows and columns.
    rows, columns : tuple of label
    shares, errors : (rows, columns) float
    lows : (rows, columns) float
        Low ends that all hold together; a cell whose low end is 0 stays blank in the map of shares: it is not told from
        an empty one.
    confidence : float
        That no empty cell of the map is told.
    """

    names: tuple[str, str]
    rows: tuple[Label, ...]
    columns: tuple[Label, ...]
    shares: Floats
    errors: Floats
    lows: Floats
    confidence: float = 0.95

    @property
    def told(self) -> NDArray[np.bool_]:
        """The cells that are told from empty ones, (rows, columns)."""
        return np.asarray(self.lows > 0)

    def parts(self) -> list[Content]:
        """Both maps, and the largest cells."""
        told = self.told
        shown = int(told.sum())
        order = [place for place in np.argsort(-self.shares, axis=None, kind="stable").tolist() if told.flat[place]]
        rows = tuple(
            (
                _checks.label(self.rows[place // len(self.columns)]),
                _checks.label(self.columns[place % len(self.columns)]),
                f"{self.shares.flat[place]:.4f}",
                f"{self.errors.flat[place]:.4f}",
            )
            for place in order[:_SHOWN]
        )
        limit = f"; the {_SHOWN} largest of them" if shown > _SHOWN else ""
        heads = (*(Column(name, words=True) for name in self.names), Column("share"), Column("s.e."))
        return [
            Sentence(f"{shown:,} of {told.size:,} cells are told from empty ones, {self.confidence:g} for all{limit}"),
            Chart(self._draw),
            *([Table(heads, rows)] if rows else []),
            Note("first map: shares in percent, blank where not told from 0; second map: their standard errors"),
        ]

    def _draw(self, size: int, room: int) -> str:
        from naysay.show import charts

        darkest = float(np.nanmax([self.shares, self.errors], initial=0.0))  # one scale for both
        maps = {"shares, %": np.where(self.told, self.shares, np.nan), "standard errors, points": self.errors}
        row_name, column_name = self.names
        return "".join(
            charts.heat_map(
                self.rows,
                self.columns,
                values,
                title=title,
                names=(f"{title}: {row_name}", column_name),
                most=darkest,
                size=min(size, _SIDE),
                room=room,
            )
            for title, values in maps.items()
        )

    def numbers(self) -> dict[str, object]:
        """Under the names of the JSON."""
        return {
            "rows": self.rows,
            "columns": self.columns,
            "shares": self.shares,
            "standard_errors": self.errors,
            "told": self.told,
        }

    def records(self) -> Records:
        """A row for each cell."""
        cells = [
            [self.rows[i], self.columns[j], float(self.shares[i, j]), float(self.errors[i, j]), bool(self.told[i, j])]
            for i, j in np.ndindex(*self.shares.shape)
        ]
        return Records([*self.names, "share", "standard_error", "told"], cells)


def heat_map(fits: Mapping[Any, Fit], *, name: str = "group", confidence: float = 0.95) -> HeatMap:
    """Estimates of several groups, such as hours, as a heat map: a row for each group, a column for each category.

    Parameters
    ----------
    fits : {group: Estimate}
        Under designs with the same categories.
    name : str
        What the groups are.
    confidence : float
        That no empty cell of the map is told; see `HeatMap`.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> noise = designs.gaussian_negative(("low", "middle", "high", "loud"), sigma=1.5)
    >>> counts = {8: [240, 826, 674, 260], 20: [260, 674, 826, 240]}
    >>> fits = {hour: estimate.moments(noise, noise.tally(count=count)) for hour, count in counts.items()}
    >>> heat_map(fits, name="hour").told.tolist()
    [[True, True, False, False], [False, False, True, True]]
    """
    groups: Sequence[Any] = tuple(fits)
    if not groups or len({tuple(fit.categories) for fit in fits.values()}) > 1:
        raise DataError("a heat map is of one group at least, all with the same categories")
    shares, errors = (np.array([getattr(fit, what) for fit in fits.values()]) for what in _BOTH)
    categories = tuple(fits[groups[0]].categories)
    lows = np.array([_lows(fit, confidence, shares.size) for fit in fits.values()])
    return HeatMap((name, "category"), tuple(groups), categories, shares, errors, lows, confidence)


def _of_each(confidence: float, cells: int) -> float:
    """The two-sided confidence of each interval, so that the low ends of all cells hold together (Bonferroni)."""
    _checks.confidence(confidence)
    return 1 - 2 * (1 - confidence) / max(cells, 2)


def _lows(fit: Fit, confidence: float, cells: int) -> Floats:
    """The low ends of the shares of one estimate among all cells of a map, (t,)."""
    of_each = _of_each(confidence, cells)
    walds = intervals(fit, of_each, method="wald").bounds[:, 0]
    return np.fmin(intervals(fit, of_each).bounds[:, 0], walds)
