"""Which further cells hide those that tell too much, and what can still be computed of each suppressed cell.

A table is a sum of its inner cells, so whoever sees the published cells knows a system of equations in the inner cells
that were not published. The least and the largest value of a cell under these equations is its interval: the audit.
A pattern protects a cell if its interval reaches far enough.

Two methods find patterns. The *hypercube* method adds an amount to some cells and takes it from others, so that every
sum stays: two categories of each variable, or a category and its totals, cross one another in such a set of cells. The
*optimum* is the cheapest pattern of all, by cutting planes (Fischetti & Salazar 2001): an integer program chooses
cells, the audit of its choice yields an inequality that it breaks, until the audit finds nothing.

What comes of it is a table as it may be published (`protect`), with the interval of every cell that is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, vstack

from naysay._values import Flags, Floats, JsonObject
from naysay.errors import DataError
from naysay.microdata.keys.codes import check_choice
from naysay.microdata.tables.table import CellTable, Dimension, Rules, summed
from naysay.show import Content, Facts, Note, Records, Sentence, page
from naysay.show.result import Printed, csv_text, grid, rounded_down

_ROUNDS, _NODES = 2_000, 200_000  # of integer programs, and of each one's nodes; no clock, so that answers repeat
_NEAR = 1e-6  # of the table's total: what solvers and sums of floats may miss


def intervals(table: CellTable, suppressed: Flags, *, knows: int | None = None) -> Floats:
    """The least and the largest value that each suppressed cell can have, given all others, (nodes, …, 2).

    Counts are whole, and an intruder uses that: their intervals are those of whole numbers. Where a total is
    suppressed, an interval may have no upper end. Published cells have their value twice.

    Parameters
    ----------
    table : CellTable
    suppressed : (nodes, …) bool
    knows : int, optional
        An inner cell whose value the intruder knows, being its only contributor; counted in the order of the cells.

    Examples
    --------
    >>> from naysay.microdata.tables import tabulate
    >>> counts = {"sex": list("ffmm"), "ill": list("ynyn"), "n": [1, 9, 4, 6]}
    >>> table = tabulate(counts, ["sex", "ill"], count="n")
    >>> hidden = np.zeros(table.shape, bool)
    >>> hidden[:2, :2] = True
    >>> intervals(table, hidden)[0, 0].tolist()
    [6.0, 9.0]
    """
    cell_intervals = np.repeat(table.values.reshape(-1, 1), 2, axis=1)
    audit = _Audit.of(table, suppressed.reshape(-1), knows)
    for cell in np.flatnonzero(suppressed.reshape(-1)):
        cell_intervals[cell] = audit.extreme(int(cell), 1.0), audit.extreme(int(cell), -1.0)
    return cell_intervals.reshape(*table.shape, 2)


@dataclass(frozen=True, eq=False)
class _Audit:
    """What an intruder knows of the inner cells that are not published: equations, and bounds."""

    table: CellTable
    unknown: NDArray[np.int64]
    known_part: Floats
    rows: csr_array
    low: Floats
    high: Floats
    floor: Floats

    @classmethod
    def of(cls, table: CellTable, suppressed: Flags, knows: int | None = None) -> _Audit:
        sum_matrix, cell_values, inner_values = table.sums, table.values.reshape(-1), table.inner.reshape(-1)
        leaf_cells = table.leaf_cells
        is_hidden = suppressed[leaf_cells]
        if knows is not None:
            is_hidden = is_hidden & (np.arange(len(leaf_cells)) != knows)
        unknown_cells = np.flatnonzero(is_hidden)
        unknown_sums = csr_array(sum_matrix[:, unknown_cells])
        known_part = cell_values - unknown_sums @ inner_values[unknown_cells]
        equation_cells = np.setdiff1d(np.flatnonzero(unknown_sums.sum(axis=1)), leaf_cells[unknown_cells])
        is_open = suppressed[equation_cells]
        low_ends = np.where(is_open, table.least, cell_values[equation_cells]) - known_part[equation_cells]
        high_ends = np.where(is_open, np.inf, cell_values[equation_cells]) - known_part[equation_cells]
        floor = np.full(len(unknown_cells), table.least)
        return cls(
            table, unknown_cells, known_part, csr_array(unknown_sums[equation_cells]), low_ends, high_ends, floor
        )

    def extreme(self, cell: int, sign: float) -> float:
        """The least value of a cell, or with a sign of -1 the largest."""
        unknown_sums = self.table.sums[[cell]].toarray()[0, self.unknown]
        if not unknown_sums.any():
            return float(self.known_part[cell])
        scale = 1.0 if self.table.counts else max(float(self.table.inner.max()), 1e-300) / 1e3
        solution = milp(
            sign * unknown_sums,
            bounds=Bounds(self.floor / scale, np.inf),
            constraints=[LinearConstraint(self.rows, self.low / scale, self.high / scale)]
            if self.rows.shape[0]
            else [],
            integrality=np.full(len(unknown_sums), int(self.table.counts)),
        )
        if solution.x is None and sign < 0 and solution.status in (3, 4):  # the true table fits, so it is unbounded
            return float("inf")
        if solution.x is None:
            raise DataError(f"the interval of cell {self.table.labels(cell)} was not found: {solution.message}")
        end = float(unknown_sums @ solution.x) * scale + float(self.known_part[cell])
        return round(end) if self.table.counts else end


@dataclass(frozen=True)
class Pattern:
    """Suppressed cells.

    Parameters
    ----------
    suppressed : (cells,) bool
    cost : float
    bound : float
        No pattern that protects costs less than this.
    """

    suppressed: Flags
    cost: float
    bound: float


class Problem:
    """What must be hidden, from whom, and what each cell costs.

    Parameters
    ----------
    table : CellTable
    rules : Rules
    cost : {"values", "cells"}
        What is lost by a cell: its value, or one.
    """

    def __init__(self, table: CellTable, rules: Rules, cost: Literal["values", "cells"]) -> None:
        self.table = table
        primary, low, high = table.primary(rules)
        self.primary, self.low, self.high = primary.reshape(-1), low.reshape(-1), high.reshape(-1)
        self.values = table.values.reshape(-1)
        self.free = table.contributors.reshape(-1) > 0  # zeros stay: everybody may know that they are empty
        self.cost = self.values.copy() if cost == "values" else np.ones(len(self.values))
        self.near = 0.0 if table.counts else _NEAR * float(self.values.max())

    @cached_property
    def attackers(self) -> Sequence[int | None]:
        """Everybody, and the only contributor of an inner cell, who knows its amount: inner cells by their number."""
        if self.table.counts:
            return (None,)
        is_alone = self.table.contributors.reshape(-1)[self.table.leaf_cells] == 1
        return (None, *np.flatnonzero(is_alone).tolist())

    def scenarios(self) -> Iterator[tuple[int, int | None]]:
        """Cells to hide, each from everybody who could compute it; an only contributor knows their own cell."""
        for cell in np.flatnonzero(self.primary).tolist():
            for knows in self.attackers:
                inner = self.table.sums[[cell]].indices
                if knows is None or not (knows in inner and self.table.contributors.reshape(-1)[cell] == 1):
                    yield cell, knows

    def failures(self, suppressed: Flags) -> list[tuple[int, int | None]]:
        """The scenarios in which an interval does not reach far enough."""
        audits: dict[int | None, _Audit] = {}
        failed_scenarios = []
        for cell, knows in self.scenarios():
            if knows is not None and not suppressed[self.table.leaf_cells[knows]]:
                continue
            scenario_audit = audits.setdefault(knows, _Audit.of(self.table, suppressed, knows))
            if scenario_audit.extreme(cell, -1.0) < self.high[cell] - self.near or (
                self.low[cell] < self.values[cell] and scenario_audit.extreme(cell, 1.0) > self.low[cell] + self.near
            ):
                failed_scenarios.append((cell, knows))
        return failed_scenarios

    def price(self, suppressed: Flags) -> float:
        """What a pattern costs beyond the cells that must be suppressed anyway."""
        return float(self.cost[suppressed & ~self.primary].sum())

    def pattern(self, suppressed: Flags, bound: float) -> Pattern:
        """A pattern with its cost."""
        return Pattern(suppressed, self.price(suppressed), min(bound, self.price(suppressed)))

    def refusal(self, cell: int) -> DataError:
        """What to say of a cell that nothing hides."""
        labels = ", ".join(self.table.labels(cell))
        complaint = f"no suppression of other cells hides ({labels})"
        return DataError(f"{complaint}: join it with a neighboring category (--hierarchy, or a coarser column)")


def _moves(dimension: Dimension, node: int) -> NDArray[np.int64]:
    """Changes of a variable's nodes that keep all of its sums and raise a node, (moves, nodes) of -1, 0 and 1."""
    members = dimension.members
    categories_under = np.flatnonzero(members[node])
    categories_beside = np.flatnonzero(members[node] == 0)
    single_moves = members[:, categories_under].T
    pairs = (
        members[:, np.repeat(categories_under, len(categories_beside))]
        - members[:, np.tile(categories_beside, len(categories_under))]
    )
    return np.vstack([single_moves, pairs.T])


def hypercubes(problem: Problem) -> Pattern:
    """A pattern by hypercubes: for each cell to hide, the cheapest one that moves it far enough up and down.

    Raises
    ------
    DataError
        A cell that no hypercube hides.

    Source: Repsilber 1994; Giessing & Repsilber 2002, in Inference Control in Statistical Databases, 181-192.
    """
    table, suppressed = problem.table, problem.primary.copy()
    room_below = problem.values - table.least
    primary_cells = np.argsort(-problem.values * problem.primary, kind="stable")[: int(problem.primary.sum())]
    scenarios = set(problem.scenarios())
    for cell, knows in product(primary_cells.tolist(), problem.attackers):
        if (cell, knows) not in scenarios:
            continue
        is_barred = ~problem.free
        if knows is not None:
            if not suppressed[table.leaf_cells[knows]]:
                continue
            is_barred = is_barred | (np.arange(len(is_barred)) == table.leaf_cells[knows])
        needed_rise, needed_fall = problem.high[cell] - problem.values[cell], problem.values[cell] - problem.low[cell]
        dimension_moves = [
            _moves(dimension, int(node)).astype(float)
            for dimension, node in zip(table.dimensions, np.unravel_index(cell, table.shape), strict=True)
        ]
        move_sizes = [np.abs(axis_moves) for axis_moves in dimension_moves]
        blocks_rise, blocks_fall = (room_below < needed_rise).astype(float), (room_below < needed_fall).astype(float)
        # of each combination of moves, over its cells
        stuck_counts = summed((is_barred + blocks_rise + blocks_fall).reshape(table.shape), move_sizes)
        stuck_counts = stuck_counts + summed((blocks_fall - blocks_rise).reshape(table.shape), dimension_moves)
        cell_prices = np.where(suppressed | is_barred, 0.0, problem.cost)
        cube_prices = summed(cell_prices.reshape(table.shape), move_sizes)
        added_counts = summed((~suppressed).astype(float).reshape(table.shape), move_sizes)
        is_fitting = stuck_counts < 0.5  # no cell of it is barred, falls below its least, or rises with one that does
        if not is_fitting.any():
            raise problem.refusal(cell)
        cube_prices = np.where(is_fitting, cube_prices, np.inf)
        best = np.flatnonzero(cube_prices <= cube_prices.min() * (1 + 1e-12))
        best_cube = best[added_counts.reshape(-1)[best].argmin()]
        cube_cells = np.ones(1)
        for axis_sizes, place in zip(move_sizes, np.unravel_index(best_cube, cube_prices.shape), strict=True):
            cube_cells = np.multiply.outer(cube_cells, axis_sizes[place])
        suppressed |= cube_cells.reshape(-1) > 0
    return problem.pattern(suppressed, 0.0)


def optimum(problem: Problem) -> Pattern:
    """The cheapest pattern that hides every cell, with the bound that proves it.

    A search that has used up its integer programs says how far it may be from the best.

    Parameters
    ----------
    problem : Problem

    Raises
    ------
    DataError
        A cell that no pattern hides.

    Source: Fischetti & Salazar 2001, Management Science 47, 1008-1027.
    """
    all_suppressed = problem.free | problem.primary
    for cell, _ in problem.failures(all_suppressed):
        raise problem.refusal(cell)
    best_pattern = all_suppressed
    with suppress(DataError):  # a cell that no hypercube hides
        best_pattern = min(hypercubes(problem).suppressed, all_suppressed, key=problem.price)
    scenarios = list(problem.scenarios())
    all_cuts: list[tuple[Floats, float]] = []
    proven_bound = 0.0
    for relaxed in (True, False):
        for _ in range(_ROUNDS):
            cell_choice, bound_now = _master(problem, all_cuts, relaxed=relaxed)
            proven_bound = max(proven_bound, bound_now)
            if not relaxed and proven_bound >= problem.price(best_pattern) - problem.near:
                return problem.pattern(best_pattern, math.inf)
            added_cuts = _broken_cuts(problem, cell_choice, scenarios)
            if not added_cuts and not relaxed:
                chosen_cells = cell_choice > 0.5
                failed = problem.failures(chosen_cells)
                if not failed:
                    best_pattern = (
                        chosen_cells if problem.price(chosen_cells) < problem.price(best_pattern) else best_pattern
                    )
                    return problem.pattern(best_pattern, proven_bound)
                # whole numbers are narrower than the cuts: one more cell is needed, whatever it is
                added_cuts = [((~chosen_cells & problem.free).astype(float), 1.0)]
            all_cuts += added_cuts
            if not added_cuts:
                break
    return problem.pattern(best_pattern, proven_bound)


def _master(problem: Problem, cuts: Sequence[tuple[Floats, float]], *, relaxed: bool) -> tuple[Floats, float]:
    """The cheapest choice of cells that breaks no cut, in shares of cells if relaxed; and a bound of its cost."""
    least_choice, most_choice = problem.primary.astype(float), (problem.free | problem.primary).astype(float)
    cell_prices = np.where(problem.primary, 0.0, problem.cost)
    price_scale = max(float(cell_prices.max()), 1e-300)
    cut_constraints = []
    if cuts:
        rows = csr_array(np.array([row for row, _ in cuts]))
        cut_constraints = [LinearConstraint(rows, np.array([least for _, least in cuts]), np.inf)]
    solution = milp(
        cell_prices / price_scale,
        bounds=Bounds(least_choice, most_choice),
        constraints=cut_constraints,
        integrality=np.full(len(cell_prices), int(not relaxed)),
        options={"mip_rel_gap": 0.0, "node_limit": _NODES},
    )
    if solution.x is None:
        raise DataError(f"the search for the cheapest pattern stopped without one: {solution.message}")
    bound = solution.fun if relaxed or solution.mip_dual_bound is None else solution.mip_dual_bound
    return np.asarray(solution.x), float(bound) * price_scale


def _broken_cuts(
    problem: Problem, cell_choice: Floats, scenarios: Sequence[tuple[int, int | None]]
) -> list[tuple[Floats, float]]:
    """Inequalities that every protecting pattern keeps and this choice breaks, one for each scenario that fails.

    A scenario asks for a change of the inner cells that moves its cell by an amount and every other cell only as far as
    it is suppressed. The dual of the largest such move prices the room of each cell: the priced room must suffice.
    """
    table, cell_values = problem.table, problem.values
    limit_matrix = csr_array(vstack([table.sums, -table.sums]))
    broken_cuts = []
    for cell, knows in scenarios:
        for sign, needed_move in (
            (1.0, problem.high[cell] - cell_values[cell]),
            (-1.0, cell_values[cell] - problem.low[cell]),
        ):
            if needed_move <= problem.near:
                continue
            fall_limits = (cell_values - table.least).clip(min=0.0) / needed_move
            rise_limits = np.full(len(cell_values), (2 * cell_values.max() + needed_move) / needed_move)
            if knows is not None:
                known_cell = table.leaf_cells[knows]
                fall_limits[known_cell] = rise_limits[known_cell] = 0.0
            solution = linprog(  # type: ignore[call-overload]  # its stubs do not know sparse rows
                -sign * table.sums[[cell]].toarray()[0],
                A_ub=limit_matrix,
                b_ub=np.concatenate([rise_limits * cell_choice, fall_limits * cell_choice]),
                bounds=(None, None),
                method="highs",
            )
            if solution.status != 0:
                raise DataError(f"the move of cell {table.labels(cell)} was not found: {solution.message}")
            if -solution.fun >= 1 - 1e-6:
                continue
            price = -solution.ineqlin.marginals
            cut_row = price[: len(cell_values)] * rise_limits + price[len(cell_values) :] * fall_limits
            cut_row = np.minimum(cut_row, 1.0)
            if knows is not None:
                cut_row[known_cell] = 0.0
            broken_cuts.append((cut_row, 1.0))
    return broken_cuts


SUPPRESSED = "×"
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
    primary: Flags
    suppressed: Flags
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
        return csv_text([(*self.table.names, "count" if self.table.counts else "amount"), *self.rows()])

    def _number(self, value: float) -> float | int | None:
        if not math.isfinite(value):
            return None
        return round(value) if self.table.counts else value

    def _cells(self) -> list[JsonObject]:
        cell_states = np.where(self.primary, "primary", np.where(self.suppressed, "secondary", "published")).reshape(-1)
        interval_ends = self.intervals.reshape(-1, 2).tolist()
        return [
            {
                "cell": dict(zip(self.table.names, self.table.labels(cell_number), strict=True)),
                "value": self._number(cell_value),
                "contributors": people,
                "status": str(cell_states[cell_number]),
                "interval": [self._number(end) for end in interval_ends[cell_number]],
            }
            for cell_number, (cell_value, people) in enumerate(
                zip(self.table.values.reshape(-1).tolist(), self.table.contributors.reshape(-1).tolist(), strict=True)
            )
        ]

    def numbers(self) -> dict[str, object]:
        """As one JSON object with stable names, for the curator: it holds the values of suppressed cells, too."""
        rule_fields = {"minimum": self.rules.minimum, "dominance": self.rules.dominance, "percent": self.rules.percent}
        return {
            "dimensions": self.table.names,
            "counts": self.table.counts,
            "rules": rule_fields,
            "method": self.method,
            "primary": int(self.primary.sum()),
            "secondary": int((self.suppressed & ~self.primary).sum()),
            "cost": self.cost,
            "bound": self.bound,
            "open": self.open_cells,
            "cells": self._cells(),
        }

    def records(self) -> Records:
        """A row for each cell, for the curator: it holds the values of suppressed cells, too."""
        cell_rows = [
            (*cell["cell"].values(), cell["value"], cell["contributors"], cell["status"], *cell["interval"])
            for cell in self._cells()
        ]
        return Records((*self.table.names, "value", "contributors", "status", "low", "high"), cell_rows)

    def parts(self) -> list[Content]:
        """The table as it may be published, how it came about, and the intervals of what tells too much."""
        secondary_count = int((self.suppressed & ~self.primary).sum())
        table_facts = Facts(
            (
                ("table", f"{' × '.join(self.table.names)}, {self.table.values.size:,} cells with totals"),
                ("too telling", f"{int(self.primary.sum()):,} cells: {' or '.join(self.rules.sentences) or 'no rule'}"),
                ("suppressed beside them", f"{secondary_count:,} cells, by method {self.method!r}"),
            )
        )
        cell_texts = [
            SUPPRESSED if is_hidden else _number_text(cell_value, counts=self.table.counts)
            for is_hidden, cell_value in zip(self.suppressed.flat, self.table.values.flat, strict=True)
        ]
        interval_ends = self.intervals.reshape(-1, 2)
        telling = np.flatnonzero(self.primary.reshape(-1))
        narrowest_cells = telling[np.argsort(interval_ends[telling, 1] - interval_ends[telling, 0], kind="stable")][
            :_MOST_INTERVALS
        ]
        interval_rows = [
            (
                " × ".join(self.table.labels(int(cell_number))),
                *(_number_text(end, counts=self.table.counts) for end in interval_ends[cell_number]),
            )
            for cell_number in narrowest_cells
        ]
        title = "What can be computed of the cells that tell too much, narrowest first"
        return [
            table_facts,
            *self.table.cell_parts(cell_texts, "The table as it may be published"),
            *([grid(title, ("cell", "at least", "at most"), interval_rows)] if interval_rows else []),
            *self._caveats(),
        ]

    def _caveats(self) -> list[Content]:
        table_notes: list[Content] = []
        if self.open_cells:
            open_cells_text = (
                f"{self.open_cells:,} cells that tell too much can be computed too closely from the others"
            )
            table_notes.append(Note(f"{open_cells_text}: do not publish this table"))
        if self.method != "none" and self.cost > self.bound + 1e-6 * max(self.cost, 1):
            if self.method == "optimal":
                least = rounded_down(self.bound, 6)
                table_notes.append(
                    Note(f"the search ended early: the further cells cost {self.cost:,.6g}, at least {least}")
                )
            else:
                table_notes.append(
                    Note("the hypercube method is quick and suppresses more than is needed; 'optimal' less")
                )
        intruder_knowledge = (
            "that every suppressed cell counts one person or more"
            if self.table.counts
            else "that no amount is negative"
        )
        table_notes.append(
            Sentence(
                f"The intervals are those of somebody who sees every published cell and knows {intruder_knowledge}"
                + ("" if self.table.counts else "; cells are also hidden from the only contributor of another cell")
                + ". Cells of other tables of the same people, and zeros, which stay, tell more.",
                small=True,
            )
        )
        return table_notes

    def page(self) -> str:
        """The same as one HTML page; it holds no value of a suppressed cell."""
        page_facts = [
            (f"{int(self.primary.sum()):,}", "cells tell too much of single contributors"),
            (f"{int(self.suppressed.sum()):,}", f"of {self.suppressed.size:,} cells are suppressed"),
            (f"{self.open_cells:,}", "of the telling cells can still be computed too closely"),
        ]
        title = "A table with suppressed cells"
        return page.html(title, [page.Section("The table", self.parts())], facts=page_facts, flow=True)


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
    table_shape = table.shape
    return ProtectedTable(
        table,
        rules,
        method,
        problem.primary.reshape(table_shape),
        pattern.suppressed.reshape(table_shape),
        intervals(table, pattern.suppressed.reshape(table_shape)),
        pattern.cost,
        pattern.bound,
        len(failing_cells),
    )
