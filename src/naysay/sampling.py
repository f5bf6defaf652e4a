"""Complex samples: weights, strata, clusters, finite populations, replicate weights and calibration.

A `Sampling` says which columns hold them. It makes `Rows`, one for each row of data, checked and calibrated, so that
weights sum to known margins of the population. Collapsed to distinct answers these are a `Sampled`: all that a tally
keeps, and the covariance of any weighted total.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._sampled import (
    FAY,
    KINDS,
    LONELY,
    Places,
    Plan,
    Replicates,
    Sampled,
    Units,
    joined,
    replicate_degrees,
    replicate_factors,
    restored,
    scales,
    stored,
)
from naysay._values import Array, Floats, Label
from naysay.errors import DataError

__all__ = [
    "KINDS",
    "LONELY",
    "Plan",
    "Replicates",
    "Rows",
    "Sampled",
    "Sampling",
    "Units",
    "joined",
    "restored",
    "stored",
]


Column: TypeAlias = Sequence[object] | Array
"""The cells of a column, one for each row."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sampling:
    """How a sample was drawn, described once and used for every question of the survey.

    Each column is a name, where answers come from a dataframe, or an array with one value for each row.

    Parameters
    ----------
    weights : column, optional
        Survey weights; 1 for everyone by default.
    strata : column, optional
    clusters : column, optional
        The primary sampling units. What was drawn within them is not told: the variance between them holds it.
    fpc : column, optional
        Finite population correction: the units (clusters, or people where there are none) in the stratum's population,
        or a share up to 1 of them that was drawn. It applies to sampling only; randomized answers stay random.
    replicates : sequence of column, or array (n, replicates), optional
        Columns of replicate weights.
    kind : {"bootstrap", "jackknife", "brr", "fay"}, optional
        What the replicate weights are. Alone, without `replicates`, they are made from strata and clusters.
    scale : float or (replicates,) float, optional
        Of replicate weights, where it is not the usual one of their kind.
    number : int
        Bootstrap replicates to make.
    fay : float
        The share of the weight that Fay's method leaves to the half that counts less.
    nest : bool
        Clusters are numbered anew in each stratum.
    lonely : {"error", "certainty", "center", "collapse"}
        What a stratum with a single cluster counts for: an error; nothing; its deviation from the mean of all
        clusters; or it is joined with the next stratum.
    totals : mapping of column to {class: population}, or sequence of such pairs
        Known totals to which weights are calibrated: of one column post-stratification, of several raking.

    Examples
    --------
    >>> drawn = Sampling(weights=[10, 10, 20, 20], strata=["n", "n", "s", "s"], clusters=[1, 2, 3, 4])
    >>> print(drawn.rows(4).collapsed([0, 0, 1, 1], 2))
    4 clusters in 2 strata
    """

    weights: Any = None
    strata: Any = None
    clusters: Any = None
    fpc: Any = None
    replicates: Any = None
    kind: str | None = None
    scale: ArrayLike | None = None
    number: int = 500
    fay: float = FAY
    nest: bool = False
    lonely: str = "error"
    totals: Mapping[Any, Mapping[Any, float]] | Sequence[tuple[Any, Mapping[Any, float]]] = ()

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in KINDS:
            raise DataError(f"the kind of replicate weights must be one of {', '.join(KINDS)}; got {self.kind!r}")
        if not 0 <= self.fay < 1:
            raise DataError(f"fay must be a share from 0 to below 1; got {self.fay!r}")
        if self.replicates is not None and len(self.replicates) < 2:
            raise DataError(f"at least 2 sets of replicate weights are needed; got {len(self.replicates)}")
        if self.replicates is not None and self.weights is None:
            raise DataError("replicate weights need the weights of the full sample beside them; give weights too")
        if self.replicates is not None and self.kind is None:
            raise DataError(f"say what the replicate weights are: kind must be one of {', '.join(KINDS)}")
        if self.scale is not None and self.replicates is None:
            raise DataError("a scale is for replicate weights that are given; name their columns, or leave it out")

    def weighted(self, weights: object) -> Sampling:
        """The same sample with weights that were named elsewhere."""
        if self.weights is not None:
            raise DataError("weights are named twice, once in the sampling; name them once")
        return replace(self, weights=weights)

    @property
    def margins(self) -> list[tuple[Any, Mapping[Any, float]]]:
        """The columns with known totals, and these."""
        return list(self.totals.items() if isinstance(self.totals, Mapping) else self.totals)

    @property
    def made(self) -> bool:
        """Whether replicate weights are to be made."""
        return self.kind is not None and self.replicates is None

    @property
    def labels(self) -> list[Any]:
        """The columns that tell units and classes apart."""
        label_columns = (self.strata, self.clusters, self.fpc, *(column for column, _ in self.margins))
        return [column for column in label_columns if column is not None]

    @property
    def replicate_columns(self) -> list[Any]:
        """The columns of replicate weights, where they are named."""
        return [] if self.replicates is None or isinstance(self.replicates, np.ndarray) else list(self.replicates)

    @property
    def columns(self) -> list[Any]:
        """All columns that it names."""
        weight_columns = [] if self.weights is None else [self.weights]
        return [*weight_columns, *self.labels, *self.replicate_columns]

    def rows(
        self,
        size: int,
        *,
        count: NDArray[np.number] | None = None,
        amounts: tuple[Floats, Floats] | None = None,
        column: Callable[[Column | str], Column] = lambda column_values: column_values,
        patterns: Floats | None = None,
    ) -> Rows:
        """The rows of the sample, checked and calibrated.

        Parameters
        ----------
        size : int
            Rows.
        count : (size,) int, optional
            How many people each row stands for.
        amounts : pair of (size,) float, optional
            Sums of the weights of each row's people and of their squares, where rows were added up already.
        column : callable
            The values of a column, (size,), where columns are names.
        patterns : (patterns, 1 + replicates) float, optional
            The weight and the replicate weights of the people behind the rows, where rows were added up: people may be
            added up here only if all replicates weigh them alike. By default those of the rows.

        Raises
        ------
        DataError
            Whatever cannot be; names the row, the stratum or the cluster.
        """
        people_per_row = np.ones(size) if count is None else np.asarray(count, dtype=float)
        if amounts is None:
            person_weights = np.ones(size) if self.weights is None else column(self.weights)
            person_weights = _checks.amounts(person_weights, what="weights", length=size)
            amounts = person_weights * people_per_row, person_weights**2 * people_per_row
        strata, clusters, fpc = (
            None if labels is None else column(labels) for labels in (self.strata, self.clusters, self.fpc)
        )
        rows = Rows.of(
            *amounts, people_per_row, strata=strata, clusters=clusters, fpc=fpc, nest=self.nest, lonely=self.lonely
        )
        if self.margins:
            numbered_margins = enumerate(self.margins, 1)
            calibration = Margins.of(
                [
                    (value if isinstance(value, str) else f"margin {i}", column(value), class_totals)
                    for i, (value, class_totals) in numbered_margins
                ]
            )
            if len(calibration.cell) != size:
                raise DataError(f"each margin must give a class to each of the {size} rows")
            # One margin is post-stratification, several are raking. Variances then rest on residuals.
            cell_sums = np.bincount(calibration.cell, rows.weight, len(calibration.design)).astype(float)
            row_factors = calibration.factors(cell_sums)[calibration.cell]
            rows = replace(
                rows, weight=rows.weight * row_factors, squared=rows.squared * row_factors**2, margins=calibration
            )
        if self.replicates is not None:
            return replace(rows, replication=self._given_replication(amounts[0], column, patterns))
        return rows if self.kind is None else rows.replicated(self.kind, number=self.number, fay=self.fay)

    def _given_replication(
        self, full: Floats, column: Callable[[Column | str], Column], patterns: Floats | None
    ) -> Replication:
        """The replicate weights that came with the data; `full` are the weights of the full sample."""
        size = len(full)
        if isinstance(self.replicates, np.ndarray):
            weight_matrix = np.asarray(self.replicates, dtype=float)
            if weight_matrix.ndim != 2 or len(weight_matrix) != size:
                raise DataError(
                    f"replicate weights must be an array with a row for each of the {size} answers; got one of shape "
                    f"{weight_matrix.shape}"
                )
            weight_columns = list(weight_matrix.T)
        else:
            weight_columns = [column(replicate_column) for replicate_column in self.replicates]
        replicate_weights = [
            _checks.amounts(column_weights, what=f"replicate weights {i}", length=size)
            for i, column_weights in enumerate(weight_columns, 1)
        ]
        weights = np.column_stack(replicate_weights)
        is_zero = weights.sum(axis=0) == 0
        if is_zero.any():
            raise DataError(f"replicate weights {int(is_zero.argmax()) + 1} are all zero")
        kind = str(self.kind)
        all_weights = np.column_stack([full, weights]) if patterns is None else patterns
        degrees = replicate_degrees(kind, all_weights[:, 0], all_weights[:, 1:], fay=self.fay, scale=self.scale)
        return Replication(kind, scales(kind, weights.shape[1], self.scale, self.fay), degrees, weights)


@dataclass(frozen=True, eq=False)
class Replication:
    """Replicate weights of rows, or factors of the weights of their units.

    Parameters
    ----------
    kind : str
    scale : (replicates,) float
    degrees : float
    weights : (rows, replicates) float, or with `by_unit` (replicates, units)
    by_unit : bool
    """

    kind: str
    scale: Floats
    degrees: float
    weights: Floats
    by_unit: bool = False


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a complex sample.

    Parameters
    ----------
    weight, squared : (rows,) float
        Sums of the weights of a row's people and of their squares.
    count : (rows,) float
        How many people a row stands for. Without clusters each of them is a unit, so that they must weigh alike.
    unit : (rows,) int
        The place of the row's unit in the plan.
    plan : Plan
    margins : Margins, optional
        Those to which the weights are calibrated.
    replication : Replication, optional
    """

    weight: Floats
    squared: Floats
    count: Floats
    unit: Places
    plan: Plan
    margins: Margins | None = None
    replication: Replication | None = None

    @classmethod
    def of(
        cls,
        weight: Floats,
        squared: Floats,
        count: NDArray[np.number],
        *,
        strata: Column | None = None,
        clusters: Column | None = None,
        fpc: Column | None = None,
        nest: bool = False,
        lonely: str = "error",
    ) -> Rows:
        """The rows, after all checks; see `Sampling` for what is given.

        Raises
        ------
        DataError
            Weights that are all zero, a missing stratum or cluster, a cluster in two strata, or a population that is
            smaller than its sample or differs within a stratum.
        """
        if lonely not in LONELY:
            raise DataError(f"lonely must be one of {', '.join(LONELY)}; got {lonely!r}")
        row_count = len(weight)
        people_per_row = np.asarray(count, dtype=float)
        if not weight.sum() > 0:
            raise DataError("the weights must not all be zero")
        stratum_names: tuple[str, ...] = ("",)
        stratum_of_row: Places = np.zeros(row_count, dtype=np.intp)
        if strata is not None:
            stratum_names, stratum_of_row = classes(_complete(strata, row_count, "stratum"))
        if clusters is None:
            stratum_of_unit, many = stratum_of_row, people_per_row
            cluster_names, unit_of_row = None, np.arange(row_count)
        else:
            cluster_names, unit_of_row, stratum_of_unit = _clusters(
                _complete(clusters, row_count, "cluster"), stratum_of_row, stratum_names, nest=nest
            )
            many = np.ones(len(cluster_names))
        stratum_populations = (
            np.full(len(stratum_names), np.nan)
            if fpc is None
            else _population(fpc, stratum_of_row, stratum_names, row_count)
        )
        plan = Plan(stratum_of_unit, many, stratum_names, stratum_populations, cluster_names, lonely)
        is_above = plan.fractions > 1 + 1e-12
        if is_above.any():
            at = int(is_above.argmax())
            of = f"stratum {plan.strata[at]!r}" if len(plan.strata) > 1 else "the population"
            units = "clusters" if plan.clusters is not None else "people"
            raise DataError(
                f"{of} has {plan.fpc[at]:g} {units} by its fpc, but {plan.sizes[at]:g} are in the sample; fpc counts "
                f"the {units} of the population, not of the sample"
            )
        return cls(weight, squared, people_per_row, unit_of_row, plan)

    def replicated(
        self, kind: str, *, number: int = 500, rng: np.random.Generator | None = None, fay: float = 0.5
    ) -> Rows:
        """The same rows with replicate weights made from their strata and clusters; see `naysay.sampling.KINDS`."""
        random_source = np.random.default_rng(1988) if rng is None else rng
        factors, scale = replicate_factors(kind, self.plan, number=number, rng=random_source, fay=fay)
        replication = Replication(kind, scale, self.plan.degrees_of_freedom, factors, by_unit=True)
        return replace(self, replication=replication)

    def collapsed(self, items: ArrayLike, size: int) -> Sampled:
        """What a tally keeps of them.

        Parameters
        ----------
        items : (rows,) int
            The item of each row, such as its distinct answer; -1 for rows without one, which stay in the sample.
        size : int
            How many items there are.
        """
        item = np.asarray(items, dtype=np.intp)
        cell_of_row = self.margins.cell if self.margins is not None else np.zeros(len(item), dtype=np.intp)
        is_counted = (item >= 0) | (self.margins is not None)  # people of other groups count where totals are known
        item_and_cell, pair_places = np.unique(
            np.column_stack([item[is_counted], cell_of_row[is_counted]]), axis=0, return_inverse=True
        )
        matrix_shape = (len(self.plan.stratum), len(item_and_cell))
        column_places, unit_of_row = pair_places.reshape(-1), self.unit[is_counted]
        person_weights = self.weight[is_counted] / (
            np.maximum(self.count[is_counted], 1.0) if self.plan.clusters is None else 1.0
        )
        totals = scipy.sparse.csr_array(
            scipy.sparse.coo_array((person_weights, (unit_of_row, column_places)), shape=matrix_shape)
        )
        square_entries = (self.squared[is_counted], (self.plan.stratum[unit_of_row], column_places))
        squares = scipy.sparse.csr_array(
            scipy.sparse.coo_array(square_entries, shape=(len(self.plan.strata), len(item_and_cell)))
        )
        margin_design = np.zeros((1, 0)) if self.margins is None else self.margins.design
        units = Units(self.plan, totals, squares, item_and_cell[:, 0], item_and_cell[:, 1], margin_design, size)
        return units if self.replication is None else self._replicate_items(self.replication, units, item)

    def _replicate_items(self, replication: Replication, units: Units, item: Places) -> Replicates:
        """The replicate weights of the items, each set calibrated as the full sample was."""
        cell_factors = np.ones((len(replication.scale), 1))  # of each set in each cell of the margins
        if self.margins is not None:
            cell_matrix = _summing(self.margins.cell, len(self.margins.design))
            replicate_sums = (
                (replication.weights[:, self.unit] * self.weight) @ cell_matrix.T
                if replication.by_unit
                else (cell_matrix @ replication.weights).T
            )
            cell_factors = np.array([self.margins.factors(cell_sums) for cell_sums in replicate_sums])
        if replication.by_unit:
            has_item = units.item >= 0
            item_totals = (replication.weights * self.plan.many) @ units.totals[:, has_item]
            item_totals = (item_totals * cell_factors[:, units.cell[has_item]]) @ _summing(
                units.item[has_item], units.items
            ).T
        else:
            row_has_item = item >= 0
            row_cells = 0 if self.margins is None else self.margins.cell[row_has_item]
            row_weights = replication.weights[row_has_item] * cell_factors.T[row_cells]
            item_totals = (_summing(item[row_has_item], units.items) @ row_weights).T
        item_fields = units.weight, units.squared, units.kept, replication.scale, replication.kind, replication.degrees
        return Replicates(np.asarray(item_totals), *item_fields, self.plan)


def _summing(place: Places, size: int) -> scipy.sparse.csr_array:
    """The sparse matrix (size, n) that sums n values by their places."""
    return scipy.sparse.csr_array((np.ones(len(place)), (place, np.arange(len(place)))), shape=(size, len(place)))


def _complete(values: Column, size: int, what: str) -> Column:
    """Labels of all rows, none missing."""
    if len(values) != size:
        raise DataError(f"there must be one {what} for each of the {size} rows; got {len(values)}")
    distinct_labels, label_places = distinct(values)
    is_empty = np.array([_checks.is_missing(value) for value in distinct_labels], dtype=bool)
    if is_empty.any():
        empty_row = int(is_empty[label_places].argmax())
        raise DataError(f"every row needs a {what}; row {empty_row + 1} of {size} has none", row=empty_row)
    return values


def _clusters(
    labels: Column, place: Places, strata: tuple[str, ...], *, nest: bool
) -> tuple[tuple[str, ...], Places, Places]:
    """The clusters, the cluster of each row, and the stratum of each cluster."""
    cluster_names, cluster_of_row = classes(labels)
    cluster_stratum_pairs, unit_of_row = np.unique(
        np.column_stack([cluster_of_row, place]), axis=0, return_inverse=True
    )
    if not nest and len(cluster_stratum_pairs) > len(cluster_names):
        repeated_place = int(np.flatnonzero(np.diff(cluster_stratum_pairs[:, 0]) == 0)[0])
        cluster = cluster_names[cluster_stratum_pairs[repeated_place, 0]]
        first, second = (strata[at] for at in cluster_stratum_pairs[repeated_place : repeated_place + 2, 1])
        raise DataError(
            f"a cluster must lie in one stratum; {cluster!r} occurs in {first!r} and in {second!r} (where clusters are "
            "numbered anew in each stratum, say nest=True, or --nest)",
            value=cluster,
        )
    return (
        tuple(cluster_names[at] for at in cluster_stratum_pairs[:, 0]),
        unit_of_row.reshape(-1),
        cluster_stratum_pairs[:, 1],
    )


def _population(fpc: Column, place: Places, names: tuple[str, ...], size: int) -> Floats:
    """The population of each stratum, one and the same on all of its rows."""
    row_populations = _checks.amounts(np.asarray(fpc), what="finite populations (fpc)", length=size)
    stratum_populations = np.zeros(len(names))
    stratum_populations[place] = row_populations
    differs = row_populations != stratum_populations[place]
    if differs.any():
        differing_row = int(differs.argmax())
        stratum_text = f"stratum {names[place[differing_row]]!r}" if len(names) > 1 else "the population"
        raise DataError(
            "fpc must be the same number on all rows of a stratum; "
            f"{stratum_text} has {row_populations[differing_row]:g} and {stratum_populations[place[differing_row]]:g}",
            row=differing_row,
        )
    if (row_populations == 0).any():
        raise DataError("fpc must be above zero: the units in each stratum, or the share of them that was drawn")
    return stratum_populations


_STEPS = 1_000
_NUMBERED = 2**62  # possible cells that an integer numbers; with more, those that hold people are numbered anew
_CLOSE = 1e-9  # of a margin's total, at which weights are calibrated


@dataclass(frozen=True, eq=False)
class Margins:
    """Known totals of a population by one classification (post-stratification) or by several (raking).

    Parameters
    ----------
    cell : (rows,) int
        The joint cell of each row: its combination of classes.
    design : (cells, p) float
        1 where a cell belongs to a class.
    totals : (p,) float
        The population of each class.
    blocks : tuple of slice
        The classes of each margin.
    """

    cell: Places
    design: Floats
    totals: Floats
    blocks: tuple[slice, ...]

    @classmethod
    def of(cls, margins: Sequence[tuple[str, Column, Mapping[Label, float]]]) -> Margins:
        """Of a name, the class of each row and the totals by class, for each margin.

        Raises
        ------
        DataError
            A class without a total, a total without people, totals that are not positive, or sums that differ.
        """
        classes_by_margin, margin_designs, margin_blocks = list[Places](), list[Floats](), list[slice]()
        class_totals, sums = list[float](), dict[str, float]()
        for margin_name, column, total_of_class in margins:
            total_by_label = {str(label): float(total) for label, total in total_of_class.items()}
            if len(total_by_label) < len(total_of_class):
                repeated_label = next(
                    label_text for label_text, times in Counter(map(str, total_of_class)).items() if times > 1
                )
                raise DataError(f"{margin_name!r} has two totals for {repeated_label!r}; give one", column=margin_name)
            classes_by_margin.append(_class_places(margin_name, column, total_by_label))
            margin_blocks.append(slice(len(class_totals), len(class_totals) + len(total_by_label)))
            class_totals.extend(total_by_label.values())
            sums[margin_name] = sum(total_by_label.values())
        low, high = min(sums, key=sums.__getitem__), max(sums, key=sums.__getitem__)
        if sums[high] > sums[low] * (1 + 1e-6):
            raise DataError(
                f"all margins must sum to one population; {high!r} sums to {sums[high]:g}, {low!r} to {sums[low]:g}"
            )
        cell_of_row, cell_count = np.zeros_like(classes_by_margin[0]), 1
        for margin_block, class_of_row in zip(margin_blocks, classes_by_margin, strict=True):
            class_count = margin_block.stop - margin_block.start
            if cell_count * class_count > _NUMBERED:
                present_cells, cell_of_row = np.unique(cell_of_row, return_inverse=True)
                cell_of_row, cell_count = cell_of_row.reshape(-1), len(present_cells)
            cell_of_row, cell_count = cell_of_row * class_count + class_of_row, cell_count * class_count
        _, first_rows, cell_of_row = np.unique(cell_of_row, return_index=True, return_inverse=True)
        for margin_block, class_of_row in zip(margin_blocks, classes_by_margin, strict=True):
            margin_designs.append(np.eye(margin_block.stop - margin_block.start)[class_of_row[first_rows]])
        return cls(cell_of_row.reshape(-1), np.hstack(margin_designs), np.array(class_totals), tuple(margin_blocks))

    def factors(self, weight: Floats) -> Floats:
        """The factor of the weights in each cell (cells,), from their sums in each cell.

        Iterative proportional fitting (Deming & Stephan 1940); exact after one step for one margin.

        Raises
        ------
        DataError
            Where no weights have these margins.
        """
        cell_factors = np.ones(len(weight))
        for _ in range(_STEPS):
            for margin_block in self.blocks:
                block_design = self.design[:, margin_block]
                class_sums = block_design.T @ (cell_factors * weight)
                class_ratios = np.divide(
                    self.totals[margin_block], class_sums, out=np.ones_like(class_sums), where=class_sums > 0
                )
                cell_factors = cell_factors * (block_design @ class_ratios)
            class_sums = self.design.T @ (cell_factors * weight)
            if np.abs(class_sums - self.totals).max() <= _CLOSE * self.totals.max():
                return cell_factors
        raise DataError(
            "the weights cannot be raked to these totals: some classes occur in too few combinations; join classes, or "
            "leave a margin out"
        )


def _class_places(name: str, column: Column, labels: Mapping[str, float]) -> Places:
    """The place of each row's class among those with a total.

    Each different value is looked at once; raise unless every row has a class with a total, and every total people.
    """
    bad_label = next((label for label, total in labels.items() if not 0 < total < np.inf), None)
    if bad_label is not None:
        raise DataError(
            f"the totals of {name!r} must be positive; got {labels[bad_label]:g} for {bad_label!r}", column=name
        )
    distinct_values, place_of_row = distinct(column)
    distinct_texts = [None if _checks.is_missing(value) else str(value) for value in distinct_values]
    is_empty = np.array([text is None for text in distinct_texts], dtype=bool)
    present_texts = [text for text in distinct_texts if text is not None]
    if is_empty.any():
        empty_row = int(is_empty[place_of_row].argmax())
        raise DataError(
            f"{name!r} must be known of everyone to whose totals weights are calibrated; row {empty_row + 1} is empty",
            column=name,
            row=empty_row,
        )
    for value in (text for text in present_texts if text not in labels):
        raise DataError(
            f"{name!r} has people in {value!r}, for which there is no total; totals are known of "
            f"{_checks.listing_text(labels)}",
            column=name,
            value=value,
        )
    for label in labels:
        if label not in present_texts:
            raise DataError(
                f"there is a total for {label!r} of {name!r}, but nobody of it in the sample; join it with a class "
                "like it",
                column=name,
                value=label,
            )
    place_of_label = {label: i for i, label in enumerate(labels)}
    return np.array([place_of_label[text] for text in present_texts], dtype=np.intp)[place_of_row]


def distinct(values: Column) -> tuple[list[Any], NDArray[np.intp]]:
    """The different values of a column, and the place of each row's value among them.

    Rows are looked at by numpy where it can sort them, which is many times as fast as one by one.
    """
    cell_array = np.asarray(values) if isinstance(values, np.ndarray) else None
    if cell_array is not None and cell_array.dtype.kind in "biuf":
        distinct_values, places = np.unique(cell_array, return_inverse=True)
        return distinct_values.tolist(), places.reshape(-1)
    place_of_key: dict[tuple[type, Any], int] = {}  # with the type: 1, 1.0 and True are equal values, but no one class
    row_cells = cell_array.tolist() if cell_array is not None else values
    typed_keys = ((str if isinstance(row, str) else type(row), row) for row in row_cells)  # NumPy's texts are texts
    place_of_row = np.fromiter(
        (place_of_key.setdefault(key, len(place_of_key)) for key in typed_keys), dtype=np.intp, count=len(row_cells)
    )
    return [value for _, value in place_of_key], place_of_row


def classes(values: Column) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """The distinct texts of some labels, sorted, and the place of each label among them."""
    distinct_values, place_of_row = distinct(values)
    class_names, class_places = np.unique(np.array([str(value) for value in distinct_values]), return_inverse=True)
    return tuple(class_names.tolist()), class_places.reshape(-1)[place_of_row]
