"""Tables of counts or amounts with their totals, and the cells of them that tell about single contributors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, kron

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import check_names
from naysay.microdata.protect.lattice import Hierarchy
from naysay.microdata.protect.tables import opened, texts

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MISSING = "(missing)"
TOTAL = "Total"
_TOTALS = ("total", "totals", "all", "sum")
MOST_CELLS = 200_000


@dataclass(frozen=True, eq=False)
class Dimension:
    """One variable of a table: its categories, and all that they are added up to.

    Parameters
    ----------
    name : str
    nodes : (nodes,) sequence of str
        The categories first, then the sums of them, the total of all last.
    members : (nodes, categories) int
        1 where a category is part of a node. The first rows are the identity.
    """

    name: str
    nodes: Sequence[str]
    members: NDArray[np.int64]

    @property
    def categories(self) -> Sequence[str]:
        """The nodes that are no sums."""
        return self.nodes[: self.members.shape[1]]

    @classmethod
    def of(cls, name: str, categories: Sequence[str], hierarchy: Hierarchy | None = None) -> Dimension:
        """The categories, the groups that a hierarchy makes of them, and the total.

        Raises
        ------
        DataError
            A category that is itself a total, or that the hierarchy does not hold.
        """
        for label in categories:
            if label.lower() in _TOTALS:
                complaint = f"{label!r} of {name!r} reads like a total"
                raise DataError(f"{complaint}: leave totals out, they are added up here (or rename the category)")
        if hierarchy is None:
            members = np.vstack([np.eye(len(categories)), np.ones(len(categories))])
            return cls(name, (*categories, TOTAL), members.astype(np.int64))
        known_leaves = list(hierarchy.levels)
        hierarchy.check([label for label in categories if label != MISSING], name)
        leaves = [*known_leaves, *(label for label in categories if label == MISSING and label not in known_leaves)]
        nodes, rows = list(leaves), list(np.eye(len(leaves), dtype=np.int64))
        for level in range(1, hierarchy.height + 1):
            above = [hierarchy.at(leaf, level) if leaf in hierarchy.levels else None for leaf in leaves]
            for label in dict.fromkeys(parent for parent in above if parent is not None):
                last = level == hierarchy.height
                row = np.array([last or parent == label for parent in above], np.int64)
                if last or row.sum() > 1:  # a group of one category is that category once more
                    nodes.append(label)
                    rows.append(row)
        return cls(name, tuple(nodes), np.array(rows))


@dataclass(frozen=True)
class Rules:
    """What makes a cell tell too much about single contributors: the primary rules.

    Parameters
    ----------
    minimum : int
        Fewer contributors than this (and more than none) are too few; 1 switches the rule off.
    dominance : (int, float), optional
        (n, k): the n largest contributors hold more than k percent of the cell.
    percent : float, optional
        The p % rule: the second largest contributor, who knows their own amount, comes within p percent of the largest.
    margin : float
        Percent of a cell's amount that must stay open below and above it where only `minimum` makes it too telling.

    Raises
    ------
    DataError
        A number that the rule cannot have.
    """

    minimum: int = 3
    dominance: tuple[int, float] | None = None
    percent: float | None = None
    margin: float = 30.0

    def __post_init__(self) -> None:
        _checks.whole_number(self.minimum, 1, 2**31, what="minimum")
        if self.dominance is not None:
            _checks.whole_number(self.dominance[0], 1, 100, what="n of the dominance rule")
            if not 0 < self.dominance[1] < 100:
                raise DataError(f"k of the dominance rule must lie between 0 and 100 percent; got {self.dominance[1]}")
        for what, value in (("p of the p % rule", self.percent), ("margin", self.margin)):
            if value is not None and not 0 < value <= 100:
                raise DataError(f"{what} must be above 0 and at most 100 percent; got {value}")

    @property
    def sentences(self) -> tuple[str, ...]:
        """The rules in words."""
        rule_sentences = [f"fewer than {self.minimum} contributors"] if self.minimum > 1 else []
        if self.dominance is not None:
            rule_sentences.append(f"the {self.dominance[0]} largest hold more than {self.dominance[1]:g} %")
        if self.percent is not None:
            rule_sentences.append(f"the second largest knows the largest to within {self.percent:g} %")
        return tuple(rule_sentences)


@dataclass(frozen=True, eq=False)
class CellTable:
    """A table with all its totals.

    Parameters
    ----------
    dimensions : sequence of Dimension
    inner : (categories, …) float
        Counts, or amounts, of the cells that are no sums.
    contributors : (nodes, …) int
        How many people (units) each cell holds, of all nodes.
    largest : (nodes, …, top) float
        The largest contributions to each cell, in falling order; empty for counts.
    counts : bool
        Whether the cells count: then they are whole, and a table of people.
    """

    dimensions: Sequence[Dimension]
    inner: Floats
    contributors: NDArray[np.int64]
    largest: Floats
    counts: bool

    @cached_property
    def values(self) -> Floats:
        """All cells, (nodes, …)."""
        return _with_sums(self.inner, [dimension.members for dimension in self.dimensions])

    @property
    def shape(self) -> tuple[int, ...]:
        """Nodes of each dimension."""
        return tuple(len(dimension.nodes) for dimension in self.dimensions)

    @cached_property
    def sums(self) -> csr_array:
        """Each cell as a sum of inner cells, (cells, inner cells) of 0 and 1, both in the order of their arrays."""
        sum_matrix = csr_array([[1.0]])
        for dimension in self.dimensions:
            sum_matrix = csr_array(kron(sum_matrix, csr_array(dimension.members.astype(np.float64))))
        sum_matrix.eliminate_zeros()  # kron keeps blocks whole
        return sum_matrix

    @cached_property
    def leaf_cells(self) -> NDArray[np.intp]:
        """Where each inner cell stands among all cells."""
        return np.asarray(np.ravel_multi_index(tuple(np.indices(self.inner.shape)), self.shape)).reshape(-1)

    @property
    def least(self) -> float:
        """What everybody knows of a suppressed cell: at least 1 in a table of counts, where no zero is suppressed."""
        return 1.0 if self.counts else 0.0

    def labels(self, cell: int) -> tuple[str, ...]:
        """The nodes of a cell, which is counted in the order of the array."""
        places = np.unravel_index(cell, self.shape)
        return tuple(dimension.nodes[int(place)] for dimension, place in zip(self.dimensions, places, strict=True))

    def primary(self, rules: Rules) -> tuple[Bools, Floats, Floats]:
        """The cells that tell too much, and the levels below and above which their intervals must reach, (nodes, …).

        A table of counts must leave open that a cell holds the minimum. A table of amounts must leave open as much as
        the rule is broken by (Hundepool et al. 2012, table 4.2); below as much as above.
        """
        value, people = self.values, self.contributors
        few = (people > 0) & (people < rules.minimum)
        if self.counts:
            if rules.dominance is not None or rules.percent is not None:
                raise DataError("dominance and the p % rule are for amounts; a table of counts has the minimum")
            return few, value.copy(), np.where(few, value + rules.minimum - people, value)
        short = np.where(few, value * rules.margin / 100, 0.0)
        telling = few.copy()
        if rules.dominance is not None:
            most, share = rules.dominance
            largest_sum = self.largest[..., :most].sum(axis=-1)
            is_broken = (people > 0) & (largest_sum > value * share / 100)
            telling |= is_broken
            short = np.where(is_broken, np.maximum(short, largest_sum * 100 / share - value), short)
        if rules.percent is not None:
            first = self.largest[..., 0]
            others_sum = value - self.largest[..., :2].sum(axis=-1)
            is_broken = (people > 0) & (others_sum < first * rules.percent / 100 - 1e-9 * first)
            telling |= is_broken
            short = np.where(is_broken, np.maximum(short, first * rules.percent / 100 - others_sum), short)
        return telling, np.maximum(value - short, 0.0), value + short


def _with_sums(inner: NDArray[Any], members: Sequence[NDArray[np.int64]]) -> NDArray[Any]:
    """An array of inner cells with all sums, along each axis in turn."""
    for axis, axis_members in enumerate(members):
        inner = np.moveaxis(np.tensordot(axis_members, inner, axes=(1, axis)), 0, axis)
    return inner


def tabulate(
    table: Any,
    by: Sequence[str],
    *,
    value: str | None = None,
    count: str | None = None,
    unit: str | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    largest: int = 2,
) -> CellTable:
    """The table of a file of people: counts, or the sums of an amount, with all totals.

    Parameters
    ----------
    table : dataframe or mapping of columns
        A row for each person, or with `count` for each cell.
    by : sequence of str
        The columns whose values make the cells. A gap is a category of its own.
    value : str, optional
        The amount that is added up, at least zero; without it people are counted.
    count : str, optional
        How many people each row stands for, in a table that is counted already.
    unit : str, optional
        Who contributes: rows with one value are one household, or one firm. By default each row is a contributor.
    hierarchies : mapping of str to Hierarchy, optional
        Sums between the categories and the total.
    largest : int
        How many of the largest contributions each cell keeps, of amounts.

    Raises
    ------
    DataError
        Amounts or counts that are missing or below zero, totals among the categories, more than 200,000 cells.

    Examples
    --------
    >>> people = {"region": list("nnnnss"), "ill": ["yes", "no", "no", "no", "no", "no"]}
    >>> tabulate(people, ["region", "ill"]).values.astype(int).tolist()
    [[3, 1, 4], [2, 0, 2], [5, 1, 6]]
    """
    frame, _ = opened(table)
    by = tuple(by)
    roles = [name for name in (value, count, unit) if name is not None]
    check_names([*by, *roles], frame.columns)
    if not by or len({*by, *roles}) < len(by) + len(roles):
        raise DataError(
            f"a table needs different columns in different roles; got {_checks.listing_text([*by, *roles])}"
        )
    if count is not None and (value is not None or unit is not None):
        raise DataError("a table that is counted already holds neither amounts nor units: leave 'count' or those out")
    cells = {name: texts(frame[name]).fill_null(MISSING) for name in by}
    dimensions = [
        Dimension.of(name, column.unique().sort().to_list(), (hierarchies or {}).get(name))
        for name, column in cells.items()
    ]
    for name in hierarchies or {}:
        if name not in by:
            raise DataError(f"a hierarchy is for a column of the table; {name!r} is none of them", column=name)
    shape = tuple(len(dimension.categories) for dimension in dimensions)
    nodes = int(np.prod([len(dimension.nodes) for dimension in dimensions], dtype=float))
    if nodes > MOST_CELLS:
        raise DataError(f"the table would have {nodes:,} cells with its totals, more than {MOST_CELLS:,}: coarsen it")
    codes = [
        column.replace_strict({label: place for place, label in enumerate(dimension.categories)}, return_dtype=pl.Int64)
        for dimension, column in zip(dimensions, cells.values(), strict=True)
    ]
    place = np.asarray(np.ravel_multi_index([code.to_numpy() for code in codes], shape), np.int64)
    amount = (
        np.ones(frame.height) if value is count is None else _amounts(frame, value or count or "", whole=value is None)
    )
    inner = np.asarray(np.bincount(place, amount, int(np.prod(shape))), np.float64).reshape(shape)
    members = [dimension.members for dimension in dimensions]
    if value is None and unit is None:
        people = _with_sums(inner, members)
        return CellTable(dimensions, inner, people.astype(np.int64), np.zeros((*people.shape, 0)), True)
    owner = np.arange(frame.height) if unit is None else _owners(frame, unit)
    people, top = _contributions(place, owner, amount, dimensions, shape, largest if value is not None else 0)
    return CellTable(dimensions, inner, people, top, value is None)


def _amounts(frame: pl.DataFrame, name: str, *, whole: bool) -> Floats:
    """The numbers of a column, at least zero; counts are whole."""
    number = texts(frame[name]).cast(pl.Float64, strict=False).fill_nan(None)
    bad = number.is_null() | (number < 0) | number.is_infinite() | ((number != number.round()) if whole else False)
    if bad.any():
        row = bad.arg_max() or 0
        what = "counts must be whole and at least 0" if whole else "amounts must be numbers of at least 0"
        raise DataError(f"{what}; row {row + 1} of {name!r} holds {frame[name][row]!r}", row=row, column=name)
    return number.to_numpy()


def _owners(frame: pl.DataFrame, unit: str) -> NDArray[np.int64]:
    if frame[unit].null_count():
        row = frame[unit].is_null().arg_max() or 0
        raise DataError(f"every row needs its {unit!r}; row {row + 1} has none", row=row, column=unit)
    return frame[unit].rank("dense").to_numpy().astype(np.int64) - 1


def _contributions(
    place: NDArray[np.int64],
    owner: NDArray[np.int64],
    amount: Floats,
    dimensions: Sequence[Dimension],
    shape: tuple[int, ...],
    top: int,
) -> tuple[NDArray[np.int64], Floats]:
    """How many units each cell holds, and the largest of their sums: a unit in several cells of a sum is one in it."""
    nodes = tuple(len(dimension.nodes) for dimension in dimensions)
    above = [
        [np.flatnonzero(column) for column in dimension.members.T] for dimension in dimensions
    ]  # nodes with each category
    depth = [max(map(len, axis_nodes)) for axis_nodes in above]
    reach = [
        np.array([[*column, *[-1] * (most - len(column))] for column in axis_nodes])
        for axis_nodes, most in zip(above, depth, strict=True)
    ]
    places = np.unravel_index(place, shape)
    parts = []
    for turn in np.ndindex(*depth):  # each row once in every cell that holds it
        node = [axis_reach[at, number] for axis_reach, at, number in zip(reach, places, turn, strict=True)]
        is_inside = np.all([axis_node >= 0 for axis_node in node], axis=0)
        cell = np.ravel_multi_index([axis_node[is_inside] for axis_node in node], nodes)
        parts.append(pl.DataFrame({"cell": cell, "owner": owner[is_inside], "amount": amount[is_inside]}))
    shares = pl.concat(parts).group_by("cell", "owner").agg(pl.col("amount").sum())
    cells = shares.group_by("cell").agg(pl.len(), pl.col("amount").top_k(top).sort(descending=True))
    people, largest = np.zeros(int(np.prod(nodes)), np.int64), np.zeros((int(np.prod(nodes)), top))
    people[cells["cell"].to_numpy()] = cells["len"].to_numpy()
    for number in range(top):
        largest[cells["cell"].to_numpy(), number] = cells["amount"].list.get(number, null_on_oob=True).fill_null(0)
    return people.reshape(nodes), largest.reshape(*nodes, top)
