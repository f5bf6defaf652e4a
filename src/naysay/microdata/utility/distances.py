"""How far the distributions of a release are from those of the original, beside what a fresh sample would show.

What was done to the cells of a file: changed, suppressed, made coarser, moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay.errors import DataError
from naysay.microdata.attack.register import texts
from naysay.microdata.risk.written import DASH, grid, share
from naysay.microdata.utility.paired import Pair, Variable
from naysay.show import Content, Facts, Sentence

Floats = NDArray[np.float64]
_PAIRS_IN_TABLE = 15  # pairs in a table
_EXACT = 400.0  # expected people up to which E√X is summed term by term


def variation(p: ArrayLike, other: ArrayLike) -> float:
    """Total variation distance of two distributions, ½ Σ abs(p - p'): the most by which any share differs.

    Parameters
    ----------
    p, other : (cells,) float

    Examples
    --------
    >>> round(variation([0.5, 0.5], [0.6, 0.4]), 3)
    0.1
    """
    return float(np.abs(np.asarray(p, float) - np.asarray(other, float)).sum() / 2)


def hellinger(p: ArrayLike, other: ArrayLike) -> float:
    """Hellinger distance of two distributions, √(1 - Σ √(p p')), from 0 to 1.

    Parameters
    ----------
    p, other : (cells,) float

    Examples
    --------
    >>> hellinger([1, 0], [0, 1]), hellinger([0.5, 0.5], [0.5, 0.5])
    (1.0, 0.0)
    """
    overlap = np.sqrt(np.asarray(p, float) * np.asarray(other, float)).sum()
    return float(np.sqrt(max(0.0, 1 - overlap)))


def expected_variation(p: ArrayLike, n: float, m: float) -> float:
    """What two samples of n and of m people from one population with shares p show on average, total variation.

    For two Poisson counts with mean λ, E|X - X'| = 2λ e^(-2λ) (I₀(2λ) + I₁(2λ)), with λ = h p (1 - p) here, h the
    harmonic mean of n and m: exact for rare cells, normal for common ones, and within 3 % between. Cells that the
    original does not show count as impossible, so the number is a little too low where many are rare.

    Parameters
    ----------
    p : (cells,) float
    n, m : float
        People in the samples; with weights, effective numbers.

    Examples
    --------
    >>> round(expected_variation([0.5, 0.5], 100, 100), 4)
    0.0563
    """
    shares = np.asarray(p, float)
    size = 2 / (1 / n + 1 / m)
    mean = size * shares * (1 - shares)
    return float((mean * (scipy.special.i0e(2 * mean) + scipy.special.i1e(2 * mean))).sum() / size)


def expected_hellinger(p: ArrayLike, n: float, m: float) -> float:
    """What two samples of n and of m people from one population with shares p show on average, Hellinger distance.

    √(1 - Σ E√(X/n) E√(X'/m)) with binomial X and X', independent.

    Parameters
    ----------
    p, n, m
        As in `expected_variation`.

    Examples
    --------
    >>> round(expected_hellinger([0.5, 0.5], 100, 100), 3)
    0.05
    """
    shares = np.asarray(p, float)
    return float(np.sqrt(max(0.0, 1 - (_root(shares, n) * _root(shares, m)).sum())))


def _root(p: Floats, n: float) -> Floats:
    """E√(X/n) for binomial X: summed for cells with few people, expanded to the third moment for others."""
    people = max(1, round(n))
    mean, free = people * p, 1 - p
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(mean) * (1 - free / (8 * mean) + free * (free - p) / (16 * mean**2))
        root -= np.sqrt(mean) * 15 * free**2 / (128 * mean**2)
    few = mean < _EXACT
    if few.any():
        number = np.arange(min(people, int(_EXACT + 12 * np.sqrt(_EXACT))) + 1)
        chance = scipy.stats.binom.pmf(number, people, p[few, None])
        root[few] = chance @ np.sqrt(number)
    return np.asarray(root / np.sqrt(people))


@dataclass(frozen=True)
class Distance:
    """How far a margin, or a table of two variables, moved.

    Parameters
    ----------
    variables : tuple of str
    variation, hellinger : float
    fresh_variation, fresh_hellinger : float
        What a fresh sample of as many people would show on average.
    """

    variables: tuple[str, ...]
    variation: float
    hellinger: float
    fresh_variation: float
    fresh_hellinger: float

    @classmethod
    def of(cls, variables: Sequence[Variable], p: Floats, other: Floats, sizes: tuple[float, float]) -> Distance:
        """The distances of two tables of the same cells."""
        return cls(
            tuple(variable.name for variable in variables),
            variation(p, other),
            hellinger(p, other),
            expected_variation(p, *sizes),
            expected_hellinger(p, *sizes),
        )


@dataclass(frozen=True)
class Distances:
    """Distances of margins and of tables of two variables.

    Parameters
    ----------
    margins, pairs : tuple of Distance
        Of the original's values; cells with a gap are left out, and a coarser value is spread evenly.
    """

    name = "distances"
    margins: tuple[Distance, ...]
    pairs: tuple[Distance, ...]

    @property
    def mean_pair(self) -> float:
        """Mean total variation over the tables of two variables; over margins where there is only one variable."""
        return float(np.mean([distance.variation for distance in self.pairs or self.margins]))

    @property
    def fresh_pair(self) -> float:
        """The same for a fresh sample."""
        return float(np.mean([distance.fresh_variation for distance in self.pairs or self.margins]))

    def content(self) -> list[Content]:
        pairs_by_excess = sorted(self.pairs, key=lambda distance: distance.fresh_variation - distance.variation)
        count_text = f"{min(len(pairs_by_excess), _PAIRS_IN_TABLE)} of {len(pairs_by_excess)}"
        pairs = f"Tables of two variables, {count_text}: first what moved most beside a fresh sample"
        return [
            _grid("Margins", self.margins),
            *([_grid(pairs, pairs_by_excess[:_PAIRS_IN_TABLE])] if pairs_by_excess else []),
            Sentence(
                "Total variation: the most by which the share of any group differs. Hellinger: more sensitive to "
                "rare cells. Fresh sample: what as many other people from the same population would show on "
                "average; a release need not be closer. People with a gap are left out, as an analyst would do, "
                "and a coarser value is spread evenly over what it covers.",
                small=True,
            ),
        ]

    def fields(self) -> dict[str, Any]:
        return {
            "mean_pair_variation": self.mean_pair,
            "mean_pair_fresh_sample": self.fresh_pair,
            "margins": [vars(distance) for distance in self.margins],
            "pairs": [vars(distance) for distance in self.pairs],
        }


def _grid(caption: str, rows: Sequence[Distance]) -> Any:
    names = ("variables", "total variation", "fresh sample", "Hellinger", "fresh sample (H)")
    cells = [
        (
            " × ".join(distance.variables),
            *map(share, (distance.variation, distance.fresh_variation, distance.hellinger, distance.fresh_hellinger)),
        )
        for distance in rows
    ]
    return grid(caption, names, cells)


def distances(pair: Pair) -> Distances:
    """Distances of all margins and all tables of two variables, weighted where the files are.

    Parameters
    ----------
    pair : Pair

    Returns
    -------
    Distances
        Without a variable that is missing for everybody in either file.
    """
    observed_variables = [
        variable for variable in pair.variables if (variable.x >= 0).any() and (variable.y >= 0).any()
    ]
    tables = (
        [_table_distance(pair, combination) for combination in combinations(observed_variables, number)]
        for number in (1, 2)
    )
    margins, pairs = (
        tuple(distance for distance in table_distances if distance is not None) for table_distances in tables
    )
    return Distances(margins, pairs)


def _table_distance(pair: Pair, variables: Sequence[Variable]) -> Distance | None:
    """The distance of one table; None where nobody has all of its variables."""
    before, after = (
        _cell_shares([getattr(variable, side) for variable in variables], weight, sizes)
        for side, weight, sizes in zip(
            "xy",
            pair.weights,
            ([len(variable.labels) for variable in variables], [len(variable.released) for variable in variables]),
            strict=True,
        )
    )
    if before is None or after is None:
        return None
    for axis, variable in enumerate(variables):
        after = np.moveaxis(np.tensordot(after, variable.spread, axes=(axis, 0)), -1, axis)
    complete_shares = [np.all([getattr(variable, side) >= 0 for variable in variables], axis=0).mean() for side in "xy"]
    sizes = pair.effective[0] * complete_shares[0], pair.effective[1] * complete_shares[1]
    return Distance.of(variables, before.ravel(), after.ravel(), sizes)


def _cell_shares(codes: Sequence[NDArray[np.int64]], weight: Floats, sizes: Sequence[int]) -> Floats | None:
    """Shares of each cell among people who have all of the variables."""
    is_complete = np.all([variable_codes >= 0 for variable_codes in codes], axis=0)
    if not is_complete.any():
        return None
    cell_numbers = np.ravel_multi_index([variable_codes[is_complete] for variable_codes in codes], tuple(sizes))
    counts = np.bincount(cell_numbers, weight[is_complete], int(np.prod(sizes))).reshape(sizes)
    return np.asarray(counts / counts.sum(), dtype=float)


def il1s(before: ArrayLike, after: ArrayLike) -> float:
    """Mean distance that a cell moved, in units of √2 standard deviations of its variable in the original (IL1s).

    IL1s = Σ abs(x - y) / (√2 sd_v), over the number of cells. A peer gives the sum; one that divides by abs(x) has
    no answer at zero.

    Parameters
    ----------
    before, after : (n, q) float
        Cells with a gap in either file are left out.

    Raises
    ------
    DataError
        Tables of different shape.

    Examples
    --------
    >>> round(il1s([[0.0], [2.0]], [[1.0], [1.0]]), 3)
    0.5

    Source: Mateo-Sanz, Sebé & Domingo-Ferrer (2004).
    """
    x, y = (np.atleast_2d(np.asarray(table, float)) for table in (before, after))
    if x.shape != y.shape:
        raise DataError(f"both tables must have the same cells; got shapes {x.shape} and {y.shape}")
    unit = np.sqrt(2) * np.nanstd(x, axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.where(x == y, 0.0, np.abs(x - y) / unit)
    known_in_both = ~np.isnan(x + y)
    return float(moved[known_in_both].mean()) if known_in_both.any() else float("nan")


def eigenvalue_loss(before: ArrayLike, after: ArrayLike) -> float:
    """How much the correlations' eigenvalues changed, Σ abs(e - e') / e.

    Parameters
    ----------
    before, after : (n, q) and (n', q) float
        Rows with a gap are left out.

    Examples
    --------
    >>> table = [[0, 0], [1, 1], [2, 1]]
    >>> eigenvalue_loss(table, table)
    0.0
    """
    eigenvalues = []
    for cells in (before, after):
        table = np.atleast_2d(np.asarray(cells, float))
        table = table[~np.isnan(table).any(axis=1)]
        if len(table) < 2 or not table.std(axis=0).all():
            return float("nan")
        eigenvalues.append(np.linalg.eigvalsh(np.atleast_2d(np.corrcoef(table, rowvar=False))))
    first, second = eigenvalues
    with np.errstate(divide="ignore", invalid="ignore"):
        return float((np.abs(first - second) / first).sum())


@dataclass(frozen=True)
class Change:
    """What was done to one variable.

    Parameters
    ----------
    name : str
    suppressed : int
        Cells that were known, and are gaps.
    changed : int
        Cells that hold another value; where the variable was recoded, of those that do not hold the recoded value.
    imputed : int
        Cells that were gaps, and hold a value.
    known : int
        Cells that were known.
    loss : float
        Mean share of the other original values that a cell may stand for: 0 for the value itself, 1 for a gap.
    recoded : int, optional
        Values that are left, where the variable was recoded.
    """

    name: str
    suppressed: int
    changed: int
    imputed: int
    known: int
    loss: float
    recoded: int | None = None

    @classmethod
    def of(cls, variable: Variable, rows: tuple[NDArray[Any], NDArray[Any]]) -> Change:
        """What was done between rows that belong together."""
        before, after = texts(variable.before)[rows[0]], texts(variable.after)[rows[1]]
        parents = variable.recoded
        expected = before if parents is None else before.replace(dict(parents))
        leaves = texts(variable.before.drop_nulls().unique()).to_list()
        leaf_counts: dict[str, int] = {}
        for name in leaves:
            parent = name if parents is None else parents.get(name, name)
            leaf_counts[parent] = leaf_counts.get(parent, 0) + 1
        covered = after.replace_strict(leaf_counts, default=1, return_dtype=pl.Int64).to_numpy()
        # of the leaves beside one's own, so that a value loses nothing and a gap everything
        cell_losses = np.where(after.is_null(), 1.0, (covered - 1) / max(1, len(leaves) - 1))
        was_known = before.is_not_null()
        return cls(
            variable.name,
            int((was_known & after.is_null()).sum()),
            int((was_known & after.is_not_null() & (expected != after)).sum()),
            int((~was_known & after.is_not_null()).sum()),
            int(was_known.sum()),
            float(cell_losses[was_known.to_numpy()].mean()) if was_known.any() else float("nan"),
            None if parents is None else len(set(parents.values())),
        )


@dataclass(frozen=True)
class Changes:
    """What was done to the cells of all variables.

    Parameters
    ----------
    variables : tuple of Change
    records, deleted, added : int
        Records that both files have, that only the original has, and that only the release has.
    il1s, eigenvalues : float
        Over variables that are numbers in both files; NaN where there are none.
    """

    name = "changes"
    variables: tuple[Change, ...]
    records: int
    deleted: int
    added: int
    il1s: float
    eigenvalues: float

    @property
    def loss(self) -> float:
        """Mean loss over the variables; a deleted record has lost all of its values."""
        mean_loss = float(np.nanmean([change.loss for change in self.variables]))
        return (mean_loss * self.records + self.deleted) / (self.records + self.deleted)

    def content(self) -> list[Content]:
        rows = [
            (
                change.name,
                f"{change.suppressed:,}",
                share(change.suppressed / change.known if change.known else float("nan")),
                f"{change.changed:,}",
                share(change.changed / change.known if change.known else float("nan")),
                DASH if change.recoded is None else f"{change.recoded} values",
                share(change.loss),
            )
            for change in self.variables
        ]
        names = ("variable", "suppressed", "share", "changed", "share (changed)", "recoded to", "loss")
        facts = [("records", f"{self.records:,} in both files, {self.deleted:,} deleted, {self.added:,} added")]
        if not np.isnan(self.il1s):
            facts.append(("numbers moved (IL1s)", f"{self.il1s:.4g}"))
        if not np.isnan(self.eigenvalues):
            facts.append(("eigenvalues of the correlations", f"{self.eigenvalues:.4g}"))
        explanation = (
            "Loss: mean share of the other values that a cell may stand for, 0 for the value itself and 1 for a gap. "
            "IL1s: mean distance that a number moved, in √2 standard deviations."
        )
        return [Facts(tuple(facts)), grid("Cells, by variable", names, rows), Sentence(explanation, small=True)]

    def fields(self) -> dict[str, Any]:
        plain_fields = {name: value for name, value in vars(self).items() if name != "variables"}
        return {**plain_fields, "loss": self.loss, "variables": [vars(change) for change in self.variables]}


def changes(pair: Pair) -> Changes:
    """What was done to each variable, between rows that belong to one record.

    Parameters
    ----------
    pair : Pair

    Raises
    ------
    DataError
        For synthetic records, which belong to nobody.
    """
    if pair.rows is None:
        raise DataError("synthetic records belong to nobody, so no cell of them was changed; compare distributions")
    numbers = [variable.numbers for variable in pair.variables if variable.numeric and _holds_numbers(variable)]
    mean_move, eigenvalues = float("nan"), float("nan")
    if numbers:
        x, y = (np.column_stack([variable_numbers[side] for variable_numbers in numbers]) for side in (0, 1))
        mean_move = il1s(x[pair.rows[0]], y[pair.rows[1]])
        eigenvalues = eigenvalue_loss(x, y) if len(numbers) > 1 else eigenvalues
    count = len(pair.rows[0])
    return Changes(
        tuple(Change.of(variable, pair.rows) for variable in pair.variables),
        count,
        pair.before.height - count,
        pair.after.height - count,
        mean_move,
        eigenvalues,
    )


def _holds_numbers(variable: Variable) -> bool:
    """Whether released cells are numbers, or stand for numbers."""
    known_cells: Sequence[Any] = variable.after.drop_nulls().to_list()
    return variable.after.dtype.is_numeric() or (variable.recoded is not None and bool(known_cells))
