"""A table as it may be published, with the interval of every cell that is not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from naysay.microdata.keys.table import check_choice
from naysay.microdata.risk.written import Printed, grid
from naysay.microdata.tables.suppression import Pattern, Problem, hypercubes, intervals, optimum
from naysay.microdata.tables.table import CellTable, Rules
from naysay.show import Content, Facts, Note, Sentence, page
from naysay.show.text import csv_text

SUPPRESSED = "×"
_MOST_SHOWN = 600  # cells that are printed; more are for a program
_MOST_INTERVALS = 20


@dataclass(frozen=True, eq=False)
class ProtectedTable(Printed):
    """A table with suppressed cells, and what can still be computed of them.

    Parameters
    ----------
    table : CellTable
    rules : Rules
    method : {"optimal", "hypercube", "none"}
    primary : (nodes, …) bool
        Cells that tell too much of single contributors.
    suppressed : (nodes, …) bool
        These, and the cells that hide them.
    intervals : (nodes, …, 2) float
        The least and the largest value that each cell can have, given the published ones.
    cost, bound : float
        What the further cells cost, and what every pattern that protects costs at least.
    open_cells : int
        Cells that tell too much and whose interval does not reach far enough; 0 unless the method is "none".
    """

    table: CellTable
    rules: Rules
    method: str
    primary: NDArray[np.bool_]
    suppressed: NDArray[np.bool_]
    intervals: NDArray[np.float64]
    cost: float
    bound: float
    open_cells: int

    def rows(self) -> list[list[Any]]:
        """A row for each cell as it may be published: its categories and its value, None where it is suppressed."""
        values = np.where(self.suppressed, np.nan, self.table.values).reshape(-1).tolist()
        return [
            [*self.table.labels(cell), None if math.isnan(value) else self._number(value)]
            for cell, value in enumerate(values)
        ]

    def released(self) -> str:
        """The table as it may be published, as CSV: suppressed cells are empty, whatever the reason."""
        names = [dimension.name for dimension in self.table.dimensions]
        return csv_text([(*names, "count" if self.table.counts else "amount"), *self.rows()])

    def _number(self, value: float) -> float | int | None:
        if not math.isfinite(value):
            return None
        return round(value) if self.table.counts else value

    def _cells(self) -> list[dict[str, Any]]:
        state = np.where(self.primary, "primary", np.where(self.suppressed, "secondary", "published")).reshape(-1)
        ends, names = self.intervals.reshape(-1, 2).tolist(), [dimension.name for dimension in self.table.dimensions]
        return [
            {
                "cell": dict(zip(names, self.table.labels(cell), strict=True)),
                "value": self._number(value),
                "contributors": people,
                "status": str(state[cell]),
                "interval": [self._number(end) for end in ends[cell]],
            }
            for cell, (value, people) in enumerate(
                zip(self.table.values.reshape(-1).tolist(), self.table.contributors.reshape(-1).tolist(), strict=True)
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object with stable names, for the curator: it holds the values of suppressed cells, too."""
        rules = {"minimum": self.rules.minimum, "dominance": self.rules.dominance, "percent": self.rules.percent}
        return {
            "dimensions": [dimension.name for dimension in self.table.dimensions],
            "counts": self.table.counts,
            "rules": rules,
            "method": self.method,
            "primary": int(self.primary.sum()),
            "secondary": int((self.suppressed & ~self.primary).sum()),
            "cost": self.cost,
            "bound": self.bound,
            "open": self.open_cells,
            "cells": self._cells(),
        }

    def to_csv(self) -> str:
        """A row for each cell, for the curator: it holds the values of suppressed cells, too."""
        names = [dimension.name for dimension in self.table.dimensions]
        heads = (*names, "value", "contributors", "status", "low", "high")
        body = [
            (*cell["cell"].values(), cell["value"], cell["contributors"], cell["status"], *cell["interval"])
            for cell in self._cells()
        ]
        return csv_text([heads, *body])

    def content(self) -> list[Content]:
        """The table as it may be published, how it came about, and the intervals of what tells too much."""
        names = " × ".join(dimension.name for dimension in self.table.dimensions)
        further = int((self.suppressed & ~self.primary).sum())
        facts = Facts(
            (
                ("table", f"{names}, {self.table.values.size:,} cells with totals"),
                ("too telling", f"{int(self.primary.sum()):,} cells: {' or '.join(self.rules.sentences) or 'no rule'}"),
                ("suppressed beside them", f"{further:,} cells, by method {self.method!r}"),
            )
        )
        hidden = [None if cell else value for cell, value in zip(
            self.suppressed.reshape(-1).tolist(), self.table.values.reshape(-1).tolist(), strict=True)]  # fmt: skip
        cells = [SUPPRESSED if value is None else _number_text(value, counts=self.table.counts) for value in hidden]
        return [
            facts,
            *shown_cells(self.table, cells, "The table as it may be published"),
            *self._audit(),
            *self._caveats(),
        ]

    def _audit(self) -> list[Content]:
        ends = self.intervals.reshape(-1, 2)
        telling = np.flatnonzero(self.primary.reshape(-1))
        order = telling[np.argsort(ends[telling, 1] - ends[telling, 0], kind="stable")][:_MOST_INTERVALS]
        if not len(order):
            return []
        rows = [
            (
                " × ".join(self.table.labels(int(cell))),
                *(_number_text(end, counts=self.table.counts) for end in ends[cell]),
            )
            for cell in order
        ]
        title = "What can be computed of the cells that tell too much, narrowest first"
        return [grid(title, ("cell", "at least", "at most"), rows)]

    def _caveats(self) -> list[Content]:
        notes: list[Content] = []
        if self.open_cells:
            open_cells_text = (
                f"{self.open_cells:,} cells that tell too much can be computed too closely from the others"
            )
            notes.append(Note(f"{open_cells_text}: do not publish this table"))
        if self.method != "none" and self.cost > self.bound + 1e-6 * max(self.cost, 1):
            if self.method == "optimal":
                notes.append(
                    Note(f"the search ended early: the further cells cost {self.cost:,.6g}, at least {self.bound:,.6g}")
                )
            else:
                notes.append(Note("the hypercube method is quick and suppresses more than is needed; 'optimal' less"))
        intruder_knowledge = (
            "that every suppressed cell counts one person or more"
            if self.table.counts
            else "that no amount is negative"
        )
        notes.append(
            Sentence(
                f"The intervals are those of somebody who sees every published cell and knows {intruder_knowledge}"
                + ("" if self.table.counts else "; cells are also hidden from the only contributor of another cell")
                + ". Cells of other tables of the same people, and zeros, which stay, tell more.",
                small=True,
            )
        )
        return notes

    def page(self) -> str:
        """The same as one HTML page; it holds no value of a suppressed cell."""
        facts = [
            (f"{int(self.primary.sum()):,}", "cells tell too much of single contributors"),
            (f"{int(self.suppressed.sum()):,}", f"of {self.suppressed.size:,} cells are suppressed"),
            (f"{self.open_cells:,}", "of the telling cells can still be computed too closely"),
        ]
        title = "A table with suppressed cells"
        return page.html(title, [page.Section("The table", self.content())], facts=facts, flow=True)


def shown_cells(table: CellTable, cells: Sequence[str], title: str) -> list[Content]:
    """The cells of a table as rows and columns: the last variable is in the columns."""
    if len(cells) > _MOST_SHOWN:
        return [Sentence(f"{title}: {len(cells):,} cells are too many to print; --out FILE writes them.")]
    *rows, last = table.dimensions
    names = [" × ".join(row_part) for row_part in product(*(row_part.nodes for row_part in rows))]
    width = len(last.nodes)
    body = [(name, *cells[place * width : (place + 1) * width]) for place, name in enumerate(names)]
    return [grid(title, (" × ".join(dimension.name for dimension in rows) or last.name, *last.nodes), body)]


def _number_text(value: float, *, counts: bool) -> str:
    if math.isinf(value):
        return "any"
    return f"{value:,.0f}" if counts else f"{value:,.6g}"


def protect(
    table: CellTable,
    *,
    rules: Rules | None = None,
    method: Literal["optimal", "hypercube", "none"] = "optimal",
    cost: Literal["values", "cells"] = "values",
) -> ProtectedTable:
    """The table with every cell suppressed that tells too much, and with others so that it cannot be computed.

    Parameters
    ----------
    table : CellTable
    rules : Rules, optional
    method : {"optimal", "hypercube", "none"}
        The cheapest pattern, by integer programming; a quick one; or the telling cells alone, to see what they give
        away.
    cost : {"values", "cells"}
        What is lost by a suppressed cell: its value, or one.

    Raises
    ------
    DataError
        A cell that no suppression hides.

    Examples
    --------
    >>> from naysay.microdata.tables import tabulate
    >>> counts = {"region": list("aaabbb"), "job": list("xyzxyz"), "n": [1, 9, 5, 7, 6, 4]}
    >>> found = protect(tabulate(counts, ["region", "job"], count="n"))
    >>> found.suppressed[:2, :3].astype(int).tolist(), found.cost
    ([[1, 0, 1], [1, 0, 1]], 16.0)
    """
    check_choice(method, ("optimal", "hypercube", "none"), what="method")
    check_choice(cost, ("values", "cells"), what="cost")
    rules = rules or Rules()
    problem = Problem(table, rules, cost)
    if method == "none" or not problem.primary.any():
        pattern = Pattern(problem.primary, 0.0, 0.0)
    else:
        pattern = optimum(problem) if method == "optimal" else hypercubes(problem)
    failing_cells = {cell for cell, _ in problem.failures(pattern.suppressed)}
    shape = table.shape
    return ProtectedTable(
        table,
        rules,
        method,
        problem.primary.reshape(shape),
        pattern.suppressed.reshape(shape),
        intervals(table, pattern.suppressed.reshape(shape)),
        pattern.cost,
        pattern.bound,
        len(failing_cells),
    )
