"""Which further cells hide those that tell too much, and what can still be computed of each suppressed cell.

A table is a sum of its inner cells, so whoever sees the published cells knows a system of equations in the inner cells
that were not published. The least and the largest value of a cell under these equations is its interval: the audit.
A pattern protects a cell if its interval reaches far enough.

Two methods find patterns. The *hypercube* method adds an amount to some cells and takes it from others, so that every
sum stays: two categories of each variable, or a category and its totals, cross one another in such a set of cells. The
*optimum* is the cheapest pattern of all, by cutting planes (Fischetti & Salazar 2001): an integer program chooses
cells, the audit of its choice yields an inequality that it breaks, until the audit finds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, vstack

from naysay.errors import DataError
from naysay.microdata.tables.table import CellTable, Dimension, Rules

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_NEAR = 1e-6  # of the table's total: what solvers and sums of floats may miss


def intervals(table: CellTable, suppressed: Bools, *, knows: int | None = None) -> Floats:
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
        cell_intervals[cell] = audit.least(int(cell)), audit.most(int(cell))
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
    def of(cls, table: CellTable, suppressed: Bools, knows: int | None = None) -> _Audit:
        sums, values, inner = table.sums, table.values.reshape(-1), table.inner.reshape(-1)
        leaf = table.leaf_cells
        is_hidden = suppressed[leaf]
        if knows is not None:
            is_hidden = is_hidden & (np.arange(len(leaf)) != knows)
        unknown = np.flatnonzero(is_hidden)
        part = csr_array(sums[:, unknown])
        known_part = values - part @ inner[unknown]
        equation_cells = np.setdiff1d(np.flatnonzero(part.sum(axis=1)), leaf[unknown])
        is_open = suppressed[equation_cells]
        low = np.where(is_open, table.least, values[equation_cells]) - known_part[equation_cells]
        high = np.where(is_open, np.inf, values[equation_cells]) - known_part[equation_cells]
        floor = np.full(len(unknown), table.least)
        return cls(table, unknown, known_part, csr_array(part[equation_cells]), low, high, floor)

    def least(self, cell: int) -> float:
        return self._extreme(cell, 1.0)

    def most(self, cell: int) -> float:
        return self._extreme(cell, -1.0)

    def _extreme(self, cell: int, sign: float) -> float:
        part = self.table.sums[[cell]].toarray()[0, self.unknown]
        if not part.any():
            return float(self.known_part[cell])
        scale = 1.0 if self.table.counts else max(float(self.table.inner.max()), 1e-300) / 1e3
        solution = milp(
            sign * part,
            bounds=Bounds(self.floor / scale, np.inf),
            constraints=[LinearConstraint(self.rows, self.low / scale, self.high / scale)]
            if self.rows.shape[0]
            else [],
            integrality=np.full(len(part), int(self.table.counts)),
        )
        if solution.x is None and sign < 0 and solution.status in (3, 4):  # the true table fits, so it is unbounded
            return float("inf")
        if solution.x is None:
            raise DataError(f"the interval of cell {self.table.labels(cell)} was not found: {solution.message}")
        end = float(part @ solution.x) * scale + float(self.known_part[cell])
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

    suppressed: Bools
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

    def failures(self, suppressed: Bools) -> list[tuple[int, int | None]]:
        """The scenarios in which an interval does not reach far enough."""
        audits: dict[int | None, _Audit] = {}
        failed = []
        for cell, knows in self.scenarios():
            if knows is not None and not suppressed[self.table.leaf_cells[knows]]:
                continue
            audit = audits.setdefault(knows, _Audit.of(self.table, suppressed, knows))
            if audit.most(cell) < self.high[cell] - self.near or (
                self.low[cell] < self.values[cell] and audit.least(cell) > self.low[cell] + self.near
            ):
                failed.append((cell, knows))
        return failed

    def price(self, suppressed: Bools) -> float:
        """What a pattern costs beyond the cells that must be suppressed anyway."""
        return float(self.cost[suppressed & ~self.primary].sum())

    def refusal(self, cell: int) -> DataError:
        """What to say of a cell that nothing hides."""
        labels = ", ".join(self.table.labels(cell))
        complaint = f"no suppression of other cells hides ({labels})"
        return DataError(f"{complaint}: join it with a neighboring category (--hierarchy, or a coarser column)")


def _moves(dimension: Dimension, node: int) -> NDArray[np.int64]:
    """Changes of a variable's nodes that keep all of its sums and raise a node, (moves, nodes) of -1, 0 and 1."""
    members = dimension.members
    under = np.flatnonzero(members[node])
    beside = np.flatnonzero(members[node] == 0)
    single = members[:, under].T
    pairs = members[:, np.repeat(under, len(beside))] - members[:, np.tile(beside, len(under))]
    return np.vstack([single, pairs.T])


def hypercubes(problem: Problem) -> Pattern:
    """A pattern by hypercubes: for each cell to hide, the cheapest one that moves it far enough up and down.

    Raises
    ------
    DataError
        A cell that no hypercube hides.

    Source: Repsilber 1994; Giessing & Repsilber 2002, in Inference Control in Statistical Databases, 181-192.
    """
    table, suppressed = problem.table, problem.primary.copy()
    room = problem.values - table.least
    cells = np.argsort(-problem.values * problem.primary, kind="stable")[: int(problem.primary.sum())]
    scenarios = set(problem.scenarios())
    for cell, knows in product(cells.tolist(), problem.attackers):
        if (cell, knows) not in scenarios:
            continue
        is_barred = ~problem.free
        if knows is not None:
            if not suppressed[table.leaf_cells[knows]]:
                continue
            is_barred = is_barred | (np.arange(len(is_barred)) == table.leaf_cells[knows])
        up, down = problem.high[cell] - problem.values[cell], problem.values[cell] - problem.low[cell]
        moves = [
            _moves(dimension, int(node)).astype(float)
            for dimension, node in zip(table.dimensions, np.unravel_index(cell, table.shape), strict=True)
        ]
        size = [np.abs(axis_moves) for axis_moves in moves]
        rise, fall = (room < up).astype(float), (room < down).astype(float)
        stuck = _sums_over_moves(size, is_barred + rise + fall, table.shape) + _sums_over_moves(
            moves, fall - rise, table.shape
        )
        price = _sums_over_moves(size, np.where(suppressed | is_barred, 0.0, problem.cost), table.shape)
        number = _sums_over_moves(size, (~suppressed).astype(float), table.shape)
        fits = stuck < 0.5  # no cell of it is barred, falls below its least, or rises with one that does
        if not fits.any():
            raise problem.refusal(cell)
        price = np.where(fits, price, np.inf)
        best = np.flatnonzero(price <= price.min() * (1 + 1e-12))
        best_cube = best[number.reshape(-1)[best].argmin()]
        cube = np.ones(1)
        for axis_sizes, place in zip(size, np.unravel_index(best_cube, price.shape), strict=True):
            cube = np.multiply.outer(cube, axis_sizes[place])
        suppressed |= cube.reshape(-1) > 0
    return Pattern(suppressed, problem.price(suppressed), 0.0)


def _sums_over_moves(moves: Sequence[Floats], amount: Floats, shape: tuple[int, ...]) -> Floats:
    """The sum of an amount over the cells of every combination of moves, each cell with its sign."""
    move_sums = amount.reshape(shape)
    for axis, axis_moves in enumerate(moves):
        move_sums = np.moveaxis(np.tensordot(axis_moves, move_sums, axes=(1, axis)), 0, axis)
    return move_sums


def optimum(problem: Problem, *, rounds: int = 2_000, nodes: int = 200_000) -> Pattern:
    """The cheapest pattern that hides every cell, with the bound that proves it.

    Parameters
    ----------
    problem : Problem
    rounds, nodes : int
        The most integer programs, and the most nodes of each; a search that stops there says how far it may be from
        the best. Neither depends on a clock.

    Raises
    ------
    DataError
        A cell that no pattern hides.

    Source: Fischetti & Salazar 2001, Management Science 47, 1008-1027.
    """
    everything = problem.free | problem.primary
    for cell, _ in problem.failures(everything):
        raise problem.refusal(cell)
    try:
        best: Bools | None = hypercubes(problem).suppressed
    except DataError:
        best = None
    best = everything if best is None or problem.price(everything) < problem.price(best) else best
    scenarios = list(problem.scenarios())
    cuts: list[tuple[Floats, float]] = []
    bound = 0.0
    for relaxed in (True, False):
        for _ in range(rounds):
            cell_choice, bound_now = _master(problem, cuts, relaxed=relaxed, nodes=nodes)
            bound = max(bound, bound_now)
            if not relaxed and bound >= problem.price(best) - problem.near:
                return Pattern(best, problem.price(best), problem.price(best))
            added_cuts = _broken_cuts(problem, cell_choice, scenarios)
            if not added_cuts and not relaxed:
                suppressed = cell_choice > 0.5
                failed = problem.failures(suppressed)
                if not failed:
                    best = suppressed if problem.price(suppressed) < problem.price(best) else best
                    return Pattern(best, problem.price(best), min(bound, problem.price(best)))
                # whole numbers are narrower than the cuts: one more cell is needed, whatever it is
                added_cuts = [((~suppressed & problem.free).astype(float), 1.0)]
            cuts += added_cuts
            if not added_cuts:
                break
    return Pattern(best, problem.price(best), min(bound, problem.price(best)))


def _master(
    problem: Problem, cuts: Sequence[tuple[Floats, float]], *, relaxed: bool, nodes: int
) -> tuple[Floats, float]:
    """The cheapest choice of cells that breaks no cut, in shares of cells if relaxed; and a bound of its cost."""
    low, high = problem.primary.astype(float), (problem.free | problem.primary).astype(float)
    price = np.where(problem.primary, 0.0, problem.cost)
    scale = max(float(price.max()), 1e-300)
    constraints = []
    if cuts:
        rows = csr_array(np.array([row for row, _ in cuts]))
        constraints = [LinearConstraint(rows, np.array([least for _, least in cuts]), np.inf)]
    solution = milp(
        price / scale,
        bounds=Bounds(low, high),
        constraints=constraints,
        integrality=np.full(len(price), int(not relaxed)),
        options={"mip_rel_gap": 0.0, "node_limit": nodes},
    )
    if solution.x is None:
        raise DataError(f"the search for the cheapest pattern stopped without one: {solution.message}")
    bound = solution.fun if relaxed or solution.mip_dual_bound is None else solution.mip_dual_bound
    return np.asarray(solution.x), float(bound) * scale


def _broken_cuts(
    problem: Problem, cell_choice: Floats, scenarios: Sequence[tuple[int, int | None]]
) -> list[tuple[Floats, float]]:
    """Inequalities that every protecting pattern keeps and this choice breaks, one for each scenario that fails.

    A scenario asks for a change of the inner cells that moves its cell by an amount and every other cell only as far as
    it is suppressed. The dual of the largest such move prices the room of each cell: the priced room must suffice.
    """
    table, values = problem.table, problem.values
    rooms = csr_array(vstack([table.sums, -table.sums]))
    cuts = []
    for cell, knows in scenarios:
        for sign, needed_move in ((1.0, problem.high[cell] - values[cell]), (-1.0, values[cell] - problem.low[cell])):
            if needed_move <= problem.near:
                continue
            fall = (values - table.least).clip(min=0.0) / needed_move
            rise = np.full(len(values), (2 * values.max() + needed_move) / needed_move)
            if knows is not None:
                leaf = table.leaf_cells[knows]
                fall[leaf] = rise[leaf] = 0.0
            solution = linprog(  # type: ignore[call-overload]  # its stubs do not know sparse rows
                -sign * table.sums[[cell]].toarray()[0],
                A_ub=rooms,
                b_ub=np.concatenate([rise * cell_choice, fall * cell_choice]),
                bounds=(None, None),
                method="highs",
            )
            if solution.status != 0:
                raise DataError(f"the move of cell {table.labels(cell)} was not found: {solution.message}")
            if -solution.fun >= 1 - 1e-6:
                continue
            price = -solution.ineqlin.marginals
            row = price[: len(values)] * rise + price[len(values) :] * fall
            row = np.minimum(row, 1.0)
            if knows is not None:
                row[leaf] = 0.0
            cuts.append((row, 1.0))
    return cuts
