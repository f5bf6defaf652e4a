"""How a sample was drawn: which columns hold weights, strata, clusters, populations and replicate weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.sampling.replicates import FAY, KINDS, checked_degrees, scales
from naysay.sampling.rows import Replication, Rows
from naysay.sampling.sampled import Floats

__all__ = ["Sampling"]


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
        given = (self.strata, self.clusters, self.fpc, *(column for column, _ in self.margins))
        return [column for column in given if column is not None]

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
        column: Callable[[Any], Any] = lambda given: given,
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
            each = np.ones(size) if self.weights is None else column(self.weights)
            each = _checks.amounts(each, what="weights", length=size)
            amounts = each * people, each**2 * people
        labelled = {name: getattr(self, name) for name in ("strata", "clusters", "fpc")}
        given: Any = {name: None if value is None else column(value) for name, value in labelled.items()}
        rows = Rows.of(*amounts, people, **given, nest=self.nest, lonely=self.lonely)
        if self.margins:
            named = enumerate(self.margins, 1)
            rows = rows.calibrated(
                [
                    (value if isinstance(value, str) else f"margin {i}", column(value), known)
                    for i, (value, known) in named
                ]
            )
        if self.replicates is not None:
            return replace(rows, replication=self._given(amounts[0], column, patterns))
        return rows if self.kind is None else rows.replicated(self.kind, number=self.number, fay=self.fay)

    def _given(self, full: Floats, column: Callable[[Any], Any], patterns: Floats | None) -> Replication:
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
            columns = [column(each) for each in self.replicates]
        each = [
            _checks.amounts(values, what=f"replicate weights {i}", length=size) for i, values in enumerate(columns, 1)
        ]
        weights = np.column_stack(each)
        empty = weights.sum(axis=0) == 0
        if empty.any():
            raise DataError(f"replicate weights {int(empty.argmax()) + 1} are all zero")
        kind = str(self.kind)
        both = np.column_stack([full, weights]) if patterns is None else patterns
        degrees = checked_degrees(kind, both[:, 0], both[:, 1:], fay=self.fay, scale=self.scale)
        return Replication(kind, scales(kind, weights.shape[1], self.scale, self.fay), degrees, given=weights)
