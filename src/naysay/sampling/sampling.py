"""How a sample was drawn: which columns hold weights, strata, clusters, populations and replicate weights.

Rows of a complex sample: the weight and the unit of each, checked and calibrated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.sampling.raking import Margins, classes, distinct
from naysay.sampling.sampled import (
    FAY,
    KINDS,
    LONELY,
    Floats,
    Places,
    Plan,
    Replicates,
    Sampled,
    Units,
    replicate_degrees,
    replicate_factors,
    scales,
)


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

    def weighted(self, weights: Any) -> Sampling:
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
        weights = [] if self.weights is None else [self.weights]
        return [*weights, *self.labels, *self.replicate_columns]

    def rows(
        self,
        size: int,
        *,
        count: NDArray[np.number] | None = None,
        amounts: tuple[Floats, Floats] | None = None,
        column: Callable[[Any], Any] = lambda column_values: column_values,
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
        people = np.ones(size) if count is None else np.asarray(count, dtype=float)
        if amounts is None:
            person_weights = np.ones(size) if self.weights is None else column(self.weights)
            person_weights = _checks.amounts(person_weights, what="weights", length=size)
            amounts = person_weights * people, person_weights**2 * people
        column_by_role = {name: getattr(self, name) for name in ("strata", "clusters", "fpc")}
        labels_by_role: Any = {name: None if value is None else column(value) for name, value in column_by_role.items()}
        rows = Rows.of(*amounts, people, **labels_by_role, nest=self.nest, lonely=self.lonely)
        if self.margins:
            numbered_margins = enumerate(self.margins, 1)
            rows = rows.calibrated(
                [
                    (value if isinstance(value, str) else f"margin {i}", column(value), class_totals)
                    for i, (value, class_totals) in numbered_margins
                ]
            )
        if self.replicates is not None:
            return replace(rows, replication=self._replication_from_data(amounts[0], column, patterns))
        return rows if self.kind is None else rows.replicated(self.kind, number=self.number, fay=self.fay)

    def _replication_from_data(
        self, full: Floats, column: Callable[[Any], Any], patterns: Floats | None
    ) -> Replication:
        """The replicate weights that came with the data; `full` are the weights of the full sample."""
        size = len(full)
        if isinstance(self.replicates, np.ndarray):
            matrix = np.asarray(self.replicates, dtype=float)
            if matrix.ndim != 2 or len(matrix) != size:
                raise DataError(
                    f"replicate weights must be an array with a row for each of the {size} answers; got one of shape "
                    f"{matrix.shape}"
                )
            columns = list(matrix.T)
        else:
            columns = [column(replicate_column) for replicate_column in self.replicates]
        replicate_weights = [
            _checks.amounts(values, what=f"replicate weights {i}", length=size) for i, values in enumerate(columns, 1)
        ]
        weights = np.column_stack(replicate_weights)
        empty = weights.sum(axis=0) == 0
        if empty.any():
            raise DataError(f"replicate weights {int(empty.argmax()) + 1} are all zero")
        kind = str(self.kind)
        all_weights = np.column_stack([full, weights]) if patterns is None else patterns
        degrees = replicate_degrees(kind, all_weights[:, 0], all_weights[:, 1:], fay=self.fay, scale=self.scale)
        return Replication(kind, scales(kind, weights.shape[1], self.scale, self.fay), degrees, weights=weights)


@dataclass(frozen=True, eq=False)
class Replication:
    """Replicate weights of rows: a matrix (rows, replicates), or factors of the units' weights (replicates, units).

    Parameters
    ----------
    kind : str
    scale : (replicates,) float
    degrees : float
    weights, factors : array, optional
        One of the two.
    """

    kind: str
    scale: Floats
    degrees: float
    weights: Floats | None = None
    factors: Floats | None = None


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
        strata: Sequence[Any] | None = None,
        clusters: Sequence[Any] | None = None,
        fpc: ArrayLike | None = None,
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
        size = len(weight)
        people = np.asarray(count, dtype=float)
        if not weight.sum() > 0:
            raise DataError("the weights must not all be zero")
        names: tuple[str, ...] = ("",)
        place: Places = np.zeros(size, dtype=np.intp)
        if strata is not None:
            names, place = classes(_complete(strata, size, "stratum"))
        if clusters is None:
            stratum, many, unit, labels = place, people, np.arange(size), None
        else:
            labels, unit, stratum = _clusters(_complete(clusters, size, "cluster"), place, names, nest=nest)
            many = np.ones(len(labels))
        populations = np.full(len(names), np.nan) if fpc is None else _population(fpc, place, names, size)
        plan = Plan(stratum, many, names, populations, labels, lonely)
        _check_population(plan)
        return cls(weight, squared, people, unit, plan)

    def calibrated(self, margins: Sequence[tuple[str, Sequence[Any], Mapping[Any, float]]]) -> Rows:
        """The same rows with weights whose sums over the margins are known totals.

        One margin is post-stratification, several are raking. Variances then rest on residuals, and replicate weights
        are calibrated one by one.

        Parameters
        ----------
        margins : sequence of (name, classes, totals)
            The class of each row, and ``{class: population}``.
        """
        calibration = Margins.of(margins)
        if len(calibration.cell) != len(self.weight):
            raise DataError(f"each margin must give a class to each of the {len(self.weight)} rows")
        sums = np.bincount(calibration.cell, self.weight, len(calibration.design)).astype(float)
        factor = calibration.factors(sums)[calibration.cell]
        return replace(self, weight=self.weight * factor, squared=self.squared * factor**2, margins=calibration)

    def replicated(
        self, kind: str, *, number: int = 500, rng: np.random.Generator | None = None, fay: float = 0.5
    ) -> Rows:
        """The same rows with replicate weights made from their strata and clusters; see `naysay.sampling.KINDS`."""
        source = np.random.default_rng(1988) if rng is None else rng
        factors, scale = replicate_factors(kind, self.plan, number=number, rng=source, fay=fay)
        replication = Replication(kind, scale, self.plan.degrees_of_freedom, factors=factors)
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
        cells = self.margins.cell if self.margins is not None else np.zeros(len(item), dtype=np.intp)
        is_counted = (item >= 0) | (self.margins is not None)  # people of other groups count where totals are known
        column, place = np.unique(np.column_stack([item[is_counted], cells[is_counted]]), axis=0, return_inverse=True)
        shape, columns, unit = (len(self.plan.stratum), len(column)), place.reshape(-1), self.unit[is_counted]
        person_weights = self.weight[is_counted] / (
            np.maximum(self.count[is_counted], 1.0) if self.plan.clusters is None else 1.0
        )
        totals = scipy.sparse.csr_array(scipy.sparse.coo_array((person_weights, (unit, columns)), shape=shape))
        squared = (self.squared[is_counted], (self.plan.stratum[unit], columns))
        squares = scipy.sparse.csr_array(scipy.sparse.coo_array(squared, shape=(len(self.plan.strata), len(column))))
        margins = np.zeros((1, 0)) if self.margins is None else self.margins.design
        units = Units(self.plan, totals, squares, column[:, 0], column[:, 1], margins, size)
        return units if self.replication is None else self._replicate_items(units, item)

    def _replicate_items(self, units: Units, item: Places) -> Replicates:
        """The replicate weights of the items, each set calibrated as the full sample was."""
        replication: Any = self.replication
        if replication.factors is not None:
            has_item = units.item >= 0
            totals = (replication.factors * self.plan.many) @ units.totals[:, has_item]
            totals = (totals * self._cell_factors[:, units.cell[has_item]]) @ _summing(
                units.item[has_item], units.items
            ).T
        else:
            rows = item >= 0
            row_weights = replication.weights[rows] * (
                1.0 if self.margins is None else self._cell_factors.T[self.margins.cell[rows]]
            )
            totals = (_summing(item[rows], units.items) @ row_weights).T
        fields = units.weight, units.squared, units.kept, replication.scale, replication.kind, replication.degrees
        return Replicates(np.asarray(totals), *fields, self.plan)

    @cached_property
    def _cell_factors(self) -> Floats:
        """By what each set of replicate weights is multiplied in each cell of the margins, (replicates, cells)."""
        replication: Any = self.replication
        if self.margins is None:
            return np.ones((len(replication.scale), 1))
        cells = _summing(self.margins.cell, len(self.margins.design))
        if replication.factors is not None:
            sums = (replication.factors[:, self.unit] * self.weight) @ cells.T
        else:
            sums = (cells @ replication.given).T
        return np.array([self.margins.factors(cell_sums) for cell_sums in sums])


def _summing(place: Places, size: int) -> scipy.sparse.csr_array:
    """The sparse matrix (size, n) that sums n values by their places."""
    return scipy.sparse.csr_array((np.ones(len(place)), (place, np.arange(len(place)))), shape=(size, len(place)))


def _complete(values: Any, size: int, what: str) -> Any:
    """Labels of all rows, none missing."""
    if len(values) != size:
        raise DataError(f"there must be one {what} for each of the {size} rows; got {len(values)}")
    distinct_labels, place = distinct(values)
    empty = np.array([_checks.is_missing(value) for value in distinct_labels], dtype=bool)
    if empty.any():
        row = int(empty[place].argmax())
        raise DataError(f"every row needs a {what}; row {row + 1} of {size} has none", row=row)
    return values


def _clusters(
    labels: Any, place: Places, strata: tuple[str, ...], *, nest: bool
) -> tuple[tuple[str, ...], Places, Places]:
    """The clusters, the cluster of each row, and the stratum of each cluster."""
    names, cluster_of_row = classes(labels)
    pairs, unit = np.unique(np.column_stack([cluster_of_row, place]), axis=0, return_inverse=True)
    if not nest and len(pairs) > len(names):
        repeated_place = int(np.flatnonzero(np.diff(pairs[:, 0]) == 0)[0])
        cluster = names[pairs[repeated_place, 0]]
        first, second = (strata[at] for at in pairs[repeated_place : repeated_place + 2, 1])
        raise DataError(
            f"a cluster must lie in one stratum; {cluster!r} occurs in {first!r} and in {second!r} (where clusters are "
            "numbered anew in each stratum, say nest=True, or --nest)",
            value=cluster,
        )
    return tuple(names[at] for at in pairs[:, 0]), unit.reshape(-1), pairs[:, 1]


def _population(fpc: ArrayLike, place: Places, names: tuple[str, ...], size: int) -> Floats:
    """The population of each stratum, one and the same on all of its rows."""
    row_populations = _checks.amounts(np.asarray(fpc), what="finite populations (fpc)", length=size)
    stratum_populations = np.zeros(len(names))
    stratum_populations[place] = row_populations
    differs = row_populations != stratum_populations[place]
    if differs.any():
        row = int(differs.argmax())
        stratum_text = f"stratum {names[place[row]]!r}" if len(names) > 1 else "the population"
        raise DataError(
            "fpc must be the same number on all rows of a stratum; "
            f"{stratum_text} has {row_populations[row]:g} and {stratum_populations[place[row]]:g}",
            row=row,
        )
    if (row_populations == 0).any():
        raise DataError("fpc must be above zero: the units in each stratum, or the share of them that was drawn")
    return stratum_populations


def _check_population(plan: Plan) -> None:
    """Raise where a stratum has more units than its population."""
    above = plan.fractions > 1 + 1e-12
    if above.any():
        at = int(above.argmax())
        of = f"stratum {plan.strata[at]!r}" if len(plan.strata) > 1 else "the population"
        units = "clusters" if plan.clusters is not None else "people"
        raise DataError(
            f"{of} has {plan.fpc[at]:g} {units} by its fpc, but {plan.sizes[at]:g} are in the sample; fpc counts the "
            f"{units} of the population, not of the sample"
        )
