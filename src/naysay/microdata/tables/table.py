"""Tables of counts or amounts with their totals, and which of their cells tell about single contributors.

A table of counts is also published with noise (`noisy`): then it is differentially private.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, kron

from naysay import _checks
from naysay._values import Array, Flags, Floats
from naysay.design.drawing import Source, as_fraction, source_of
from naysay.errors import DataError
from naysay.microdata.keys.codes import check_names
from naysay.microdata.protect.hierarchies import Hierarchy
from naysay.microdata.protect.method import opened, texts
from naysay.show import Content, Facts, Records, Sentence, page
from naysay.show.result import Printed, grid, rounded_up

MISSING = "(missing)"
TOTAL = "Total"
_TOTALS = ("total", "totals", "all", "sum")
MOST_CELLS = 200_000
_MOST_SHOWN = 600  # cells that are printed; more are for a program


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
        for category_label in categories:
            if category_label.lower() in _TOTALS:
                complaint = f"{category_label!r} of {name!r} reads like a total"
                raise DataError(f"{complaint}: leave totals out, they are added up here (or rename the category)")
        if hierarchy is None:
            members = np.vstack([np.eye(len(categories)), np.ones(len(categories))])
            return cls(name, (*categories, TOTAL), members.astype(np.int64))
        known_leaves = list(hierarchy.levels)
        hierarchy.check([category_label for category_label in categories if category_label != MISSING], name)
        has_gaps = MISSING in categories and MISSING not in known_leaves
        leaf_labels = [*known_leaves, MISSING] if has_gaps else known_leaves
        node_labels, node_rows = list(leaf_labels), list(np.eye(len(leaf_labels), dtype=np.int64))
        for level in range(1, hierarchy.height + 1):
            parent_labels = [hierarchy.at(leaf, level) if leaf in hierarchy.levels else None for leaf in leaf_labels]
            for group_label in dict.fromkeys(filter(None, parent_labels)):
                is_last = level == hierarchy.height
                node_row = np.array(
                    [is_last or parent_label == group_label for parent_label in parent_labels], np.int64
                )
                if is_last or node_row.sum() > 1:  # a group of one category is that category once more
                    node_labels.append(group_label)
                    node_rows.append(node_row)
        return cls(name, tuple(node_labels), np.array(node_rows))


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
        for rule_words, rule_percent in (("p of the p % rule", self.percent), ("margin", self.margin)):
            if rule_percent is not None and not 0 < rule_percent <= 100:
                raise DataError(f"{rule_words} must be above 0 and at most 100 percent; got {rule_percent}")

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

    @property
    def names(self) -> list[str]:
        """What the dimensions are called."""
        return [dimension.name for dimension in self.dimensions]

    @cached_property
    def values(self) -> Floats:
        """All cells, (nodes, …)."""
        return summed(self.inner, [dimension.members for dimension in self.dimensions])

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

    def cell_parts(self, cells: Sequence[str], title: str) -> list[Content]:
        """The cells, as they are written, in rows and columns: the last variable is in the columns."""
        if len(cells) > _MOST_SHOWN:
            return [Sentence(f"{title}: {len(cells):,} cells are too many to print; --out FILE writes them.")]
        *row_dimensions, last_dimension = self.dimensions
        row_names = [" × ".join(row_part) for row_part in product(*(row_part.nodes for row_part in row_dimensions))]
        width = len(last_dimension.nodes)
        body = [(name, *cells[place * width : (place + 1) * width]) for place, name in enumerate(row_names)]
        corner = " × ".join(self.names[:-1]) or last_dimension.name
        return [grid(title, (corner, *last_dimension.nodes), body)]

    def primary(self, rules: Rules) -> tuple[Flags, Floats, Floats]:
        """The cells that tell too much, and the levels below and above which their intervals must reach, (nodes, …).

        A table of counts must leave open that a cell holds the minimum. A table of amounts must leave open as much as
        the rule is broken by (Hundepool et al. 2012, table 4.2); below as much as above.
        """
        cell_values, contributor_counts = self.values, self.contributors
        has_few = (contributor_counts > 0) & (contributor_counts < rules.minimum)
        if self.counts:
            if rules.dominance is not None or rules.percent is not None:
                raise DataError("dominance and the p % rule are for amounts; a table of counts has the minimum")
            return (
                has_few,
                cell_values.copy(),
                np.where(has_few, cell_values + rules.minimum - contributor_counts, cell_values),
            )
        needed_margins = np.where(has_few, cell_values * rules.margin / 100, 0.0)
        broken_rules: list[tuple[Flags, Floats]] = []  # which cells break it, and by how much
        if rules.dominance is not None:
            most, dominant_percent = rules.dominance
            largest_sum = self.largest[..., :most].sum(axis=-1)
            is_broken = largest_sum > cell_values * dominant_percent / 100
            broken_rules.append((is_broken, largest_sum * 100 / dominant_percent - cell_values))
        if rules.percent is not None:
            largest = self.largest[..., 0]
            others_sum = cell_values - self.largest[..., :2].sum(axis=-1)
            is_broken = others_sum < largest * rules.percent / 100 - 1e-9 * largest
            broken_rules.append((is_broken, largest * rules.percent / 100 - others_sum))
        is_telling = has_few.copy()
        for is_broken, excess in broken_rules:
            is_telling |= is_broken & (contributor_counts > 0)
            exceeding_margins = np.maximum(needed_margins, excess)
            needed_margins = np.where(is_broken & (contributor_counts > 0), exceeding_margins, needed_margins)
        return is_telling, np.maximum(cell_values - needed_margins, 0.0), cell_values + needed_margins


def summed(inner: Array, members: Sequence[Array]) -> Array:
    """An array of inner cells as sums of them, along each axis in turn, by the (sums, cells) members of each."""
    for axis, axis_members in enumerate(members):
        inner = np.moveaxis(np.tensordot(axis_members, inner, axes=(1, axis)), 0, axis)
    return inner


def tabulate(
    table: object,
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
    role_columns = [column_name for column_name in (value, count, unit) if column_name is not None]
    check_names([*by, *role_columns], frame.columns)
    if not by or len({*by, *role_columns}) < len(by) + len(role_columns):
        raise DataError(
            f"a table needs different columns in different roles; got {_checks.listing_text([*by, *role_columns])}"
        )
    if count is not None and (value is not None or unit is not None):
        raise DataError("a table that is counted already holds neither amounts nor units: leave 'count' or those out")
    column_texts = {column_name: texts(frame[column_name]).fill_null(MISSING) for column_name in by}
    dimensions = [
        Dimension.of(column_name, texts_of_column.unique().sort().to_list(), (hierarchies or {}).get(column_name))
        for column_name, texts_of_column in column_texts.items()
    ]
    for column_name in hierarchies or {}:
        if column_name not in by:
            raise DataError(
                f"a hierarchy is for a column of the table; {column_name!r} is none of them", column=column_name
            )
    inner_shape = tuple(len(dimension.categories) for dimension in dimensions)
    cell_count = int(np.prod([len(dimension.nodes) for dimension in dimensions], dtype=float))
    if cell_count > MOST_CELLS:
        raise DataError(
            f"the table would have {cell_count:,} cells with its totals, more than {MOST_CELLS:,}: coarsen it"
        )
    column_codes = [
        texts_of_column.replace_strict(
            {label: category_place for category_place, label in enumerate(dimension.categories)}, return_dtype=pl.Int64
        )
        for dimension, texts_of_column in zip(dimensions, column_texts.values(), strict=True)
    ]
    inner_places = np.asarray(np.ravel_multi_index([code.to_numpy() for code in column_codes], inner_shape), np.int64)
    row_amounts = (
        np.ones(frame.height) if value is count is None else _amounts(frame, value or count or "", whole=value is None)
    )
    inner_sums = np.asarray(np.bincount(inner_places, row_amounts, int(np.prod(inner_shape))), np.float64).reshape(
        inner_shape
    )
    member_matrices = [dimension.members for dimension in dimensions]
    if value is None and unit is None:
        contributor_counts = summed(inner_sums, member_matrices)
        return CellTable(
            dimensions, inner_sums, contributor_counts.astype(np.int64), np.zeros((*contributor_counts.shape, 0)), True
        )
    row_owners = np.arange(frame.height)
    if unit is not None:
        if frame[unit].null_count():
            row = frame[unit].is_null().arg_max() or 0
            raise DataError(f"every row needs its {unit!r}; row {row + 1} has none", row=row, column=unit)
        row_owners = frame[unit].rank("dense").to_numpy().astype(np.int64)
    contributor_counts, largest_contributions = _contributions(
        inner_places, row_owners, row_amounts, dimensions, inner_shape, largest if value is not None else 0
    )
    return CellTable(dimensions, inner_sums, contributor_counts, largest_contributions, value is None)


def _amounts(frame: pl.DataFrame, name: str, *, whole: bool) -> Floats:
    """The numbers of a column, at least zero; counts are whole."""
    amount_numbers = texts(frame[name]).cast(pl.Float64, strict=False).fill_nan(None)
    is_bad = (
        amount_numbers.is_null()
        | (amount_numbers < 0)
        | amount_numbers.is_infinite()
        | ((amount_numbers != amount_numbers.round()) if whole else False)
    )
    if is_bad.any():
        bad_row = is_bad.arg_max() or 0
        what = "counts must be whole and at least 0" if whole else "amounts must be numbers of at least 0"
        raise DataError(
            f"{what}; row {bad_row + 1} of {name!r} holds {frame[name][bad_row]!r}", row=bad_row, column=name
        )
    return amount_numbers.to_numpy()


def _contributions(
    place: NDArray[np.int64],
    owner: NDArray[np.int64],
    amount: Floats,
    dimensions: Sequence[Dimension],
    shape: tuple[int, ...],
    top: int,
) -> tuple[NDArray[np.int64], Floats]:
    """How many units each cell holds, and the largest of their sums: a unit in several cells of a sum is one in it."""
    table_shape = tuple(len(dimension.nodes) for dimension in dimensions)
    rows = pl.DataFrame({"cell": np.zeros(len(place), np.int64), "owner": owner, "amount": amount})
    rows = rows.with_columns(
        pl.Series(f"category {axis}", categories) for axis, categories in enumerate(np.unravel_index(place, shape))
    )
    for axis, dimension in enumerate(dimensions):  # each row once in every cell that holds it
        nodes, categories = np.nonzero(dimension.members)
        node_table = pl.DataFrame({f"category {axis}": categories, "node": nodes})
        rows = rows.join(node_table, on=f"category {axis}").with_columns(
            cell=pl.col("cell") * len(dimension.nodes) + pl.col("node")
        )
        rows = rows.drop("node", f"category {axis}")
    owner_sums = rows.group_by("cell", "owner").agg(pl.col("amount").sum())
    cell_contributors = owner_sums.group_by("cell").agg(pl.len(), pl.col("amount").top_k(top).sort(descending=True))
    contributor_counts = np.zeros(int(np.prod(table_shape)), np.int64)
    largest_sums = np.zeros((int(np.prod(table_shape)), top))
    contributor_counts[cell_contributors["cell"].to_numpy()] = cell_contributors["len"].to_numpy()
    for rank_number in range(top):
        largest_sums[cell_contributors["cell"].to_numpy(), rank_number] = (
            cell_contributors["amount"].list.get(rank_number, null_on_oob=True).fill_null(0)
        )
    return contributor_counts.reshape(table_shape), largest_sums.reshape(*table_shape, top)


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

    def records(self) -> Records:
        """A row for each cell: categories, noisy count, its standard error."""
        errors = self.standard_errors.reshape(-1).tolist()
        cell_rows = [
            [*self.table.labels(cell), value, errors[cell]]
            for cell, value in enumerate(self.values.reshape(-1).tolist())
        ]
        return Records([*self.table.names, "count", "standard_error"], cell_rows)

    def released(self) -> str:
        """The table as CSV, all of which may be published."""
        return self.to_csv()

    def numbers(self) -> dict[str, object]:
        """As one JSON object with stable names; it holds no true count."""
        cell_forms = [
            {"cell": dict(zip(self.table.names, labels, strict=True)), "count": count, "standard_error": error}
            for *labels, count, error in self.records().rows
        ]
        return {"dimensions": self.table.names, "epsilon": self.epsilon, "cells": cell_forms}

    def parts(self) -> list[Content]:
        """The noisy table, and what it promises."""
        cell_error, total_error = self.standard_errors.reshape(-1)[[0, -1]]
        table_facts = (
            ("table", " × ".join(self.table.names)),
            ("ε", f"{self.epsilon:g}"),
            ("standard error", f"{cell_error:.3g} of a cell, {total_error:.3g} of the total"),
        )
        cell_texts = [f"{value:,}" for value in self.values.reshape(-1).tolist()]
        promise_text = (
            f"Whether one row is in the file or not changes the chance of any such table by a factor of at most "
            f"{rounded_up(math.exp(self.epsilon), 4)}. That holds for one table: two tables of the same people add "
            "their ε. The categories are those of the file and are taken as known to everybody."
        )
        return [
            Facts(table_facts),
            *self.table.cell_parts(cell_texts, "Counts with noise"),
            Sentence(promise_text, small=True),
        ]

    def page(self) -> str:
        """The same as one HTML page."""
        return page.html("A table with noise", [page.Section("The table", self.parts())], flow=True)


def noisy(
    table: CellTable, *, epsilon: float | str | Fraction, rng: np.random.Generator | Source | None = None
) -> NoisyTable:
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
    exact_epsilon = as_fraction(epsilon, what="epsilon")
    if (
        not 0 < exact_epsilon <= 50
        or exact_epsilon.denominator > _MOST_DENOMINATOR
        or exact_epsilon.numerator > _MOST_DENOMINATOR
    ):
        raise DataError(f"epsilon must be above 0, at most 50, and have few digits, such as 0.5; got {epsilon!r}")
    source = source_of(rng)
    noise = np.array(
        [_noise_number(exact_epsilon.numerator, exact_epsilon.denominator, source) for _ in range(table.inner.size)],
        np.int64,
    )
    inner = table.inner.astype(np.int64) + noise.reshape(table.inner.shape)
    values = (table.sums.astype(np.int64) @ inner.reshape(-1)).reshape(table.shape)
    return NoisyTable(table, float(exact_epsilon), values)


def _noise_number(over: int, under: int, source: Source) -> int:
    """A whole number with P(x) ∝ e^(−|x| · over/under), drawn exactly."""
    while True:
        remainder_part = int(source.below(under, 1)[0])
        if not _survives(remainder_part, under, source):
            continue
        whole_part = 0
        while _survives(1, 1, source):
            whole_part += 1
        noise_size = (remainder_part + under * whole_part) // over
        is_negative = int(source.below(2, 1)[0])
        if noise_size or not is_negative:  # zero once, not twice
            return -noise_size if is_negative else noise_size


def _survives(over: int, under: int, source: Source) -> bool:
    """True with the probability e^(−over/under), at most one in the exponent."""
    turn = 1
    while int(source.below(under * turn, 1)[0]) < over:
        turn += 1
    return turn % 2 == 1
