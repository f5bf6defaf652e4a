"""How far a release is from its original: both variable by variable, what became of cells, and their distributions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
import polars as pl
import scipy
from numpy.typing import ArrayLike

from naysay import _checks
from naysay._values import Array, Floats
from naysay.errors import DataError
from naysay.microdata.attack.register import Places, frame_of, joined, recoding, texts
from naysay.microdata.keys.codes import check_names
from naysay.microdata.keys.variables import positive
from naysay.show import Content, Facts, Sentence, Table
from naysay.show.result import DASH, grid, share

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
    cell_shares = np.asarray(p, float)
    harmonic_size = 2 / (1 / n + 1 / m)
    mean_counts = harmonic_size * cell_shares * (1 - cell_shares)
    return float(
        (mean_counts * (scipy.special.i0e(2 * mean_counts) + scipy.special.i1e(2 * mean_counts))).sum() / harmonic_size
    )


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
    cell_shares = np.asarray(p, float)
    return float(np.sqrt(max(0.0, 1 - (_root(cell_shares, n) * _root(cell_shares, m)).sum())))


def _root(p: Floats, n: float) -> Floats:
    """E√(X/n) for binomial X: summed for cells with few people, expanded to the third moment for others."""
    sample_size = max(1, round(n))
    mean_counts, free = sample_size * p, 1 - p
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_roots = np.sqrt(mean_counts) * (1 - free / (8 * mean_counts) + free * (free - p) / (16 * mean_counts**2))
        mean_roots -= np.sqrt(mean_counts) * 15 * free**2 / (128 * mean_counts**2)
    is_small = mean_counts < _EXACT
    if is_small.any():
        people_counts = np.arange(min(sample_size, int(_EXACT + 12 * np.sqrt(_EXACT))) + 1)
        count_chances = scipy.stats.binom.pmf(people_counts, sample_size, p[is_small, None])
        mean_roots[is_small] = count_chances @ np.sqrt(people_counts)
    return np.asarray(mean_roots / np.sqrt(sample_size))


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

    def parts(self) -> list[Content]:
        pairs_by_excess = sorted(self.pairs, key=lambda distance: distance.fresh_variation - distance.variation)
        count_text = f"{min(len(pairs_by_excess), _PAIRS_IN_TABLE)} of {len(pairs_by_excess)}"
        pairs_caption = f"Tables of two variables, {count_text}: first what moved most beside a fresh sample"
        return [
            _grid("Margins", self.margins),
            *([_grid(pairs_caption, pairs_by_excess[:_PAIRS_IN_TABLE])] if pairs_by_excess else []),
            Sentence(
                "Total variation: the most by which the share of any group differs. Hellinger: more sensitive to "
                "rare cells. Fresh sample: the average distance of another sample of as many people from the same "
                "population; a release need not be closer than that. People with a gap are left out, as an analyst "
                "would do, and a coarser value is spread evenly over what it covers.",
                small=True,
            ),
        ]

    def numbers(self) -> dict[str, object]:
        return {
            "mean_pair_variation": self.mean_pair,
            "mean_pair_fresh_sample": self.fresh_pair,
            "margins": [vars(distance) for distance in self.margins],
            "pairs": [vars(distance) for distance in self.pairs],
        }


def _grid(caption: str, rows: Sequence[Distance]) -> Table:
    column_titles = ("variables", "total variation", "fresh sample", "Hellinger", "fresh sample (H)")
    cell_rows = [
        (
            " × ".join(distance.variables),
            *map(share, (distance.variation, distance.fresh_variation, distance.hellinger, distance.fresh_hellinger)),
        )
        for distance in rows
    ]
    return grid(caption, column_titles, cell_rows)


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
    distance_lists = (
        [_table_distance(pair, combination) for combination in combinations(observed_variables, variable_count)]
        for variable_count in (1, 2)
    )
    margins, pairs = (
        tuple(distance for distance in table_distances if distance is not None) for table_distances in distance_lists
    )
    return Distances(margins, pairs)


def _table_distance(pair: Pair, variables: Sequence[Variable]) -> Distance | None:
    """The distance of one table; None where nobody has all of its variables."""
    shares, sizes = [], []
    for side, values, weight, effective in zip(
        ("x", "y"), ("labels", "released"), pair.weights, pair.effective, strict=True
    ):
        codes = [getattr(variable, side) for variable in variables]
        counts = [len(getattr(variable, values)) for variable in variables]
        is_complete = np.all([variable_codes >= 0 for variable_codes in codes], axis=0)
        if not is_complete.any():
            return None
        cell_numbers = np.ravel_multi_index([variable_codes[is_complete] for variable_codes in codes], counts)
        cell_weights = np.bincount(cell_numbers, weight[is_complete], int(np.prod(counts))).reshape(counts)
        shares.append(cell_weights / cell_weights.sum())
        sizes.append(effective * is_complete.mean())
    p, other = shares
    for axis, variable in enumerate(variables):
        other = np.moveaxis(np.tensordot(other, variable.spread, axes=(axis, 0)), -1, axis)
    p, other = p.ravel(), other.ravel()
    return Distance(
        tuple(variable.name for variable in variables),
        variation(p, other),
        hellinger(p, other),
        expected_variation(p, *sizes),
        expected_hellinger(p, *sizes),
    )


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
    cell_units = np.sqrt(2) * np.nanstd(x, axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        cell_moves = np.where(x == y, 0.0, np.abs(x - y) / cell_units)
    known_in_both = ~np.isnan(x + y)
    return float(cell_moves[known_in_both].mean()) if known_in_both.any() else float("nan")


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
    eigenvalue_sets = []
    for cells in (before, after):
        table = np.atleast_2d(np.asarray(cells, float))
        table = table[~np.isnan(table).any(axis=1)]
        if len(table) < 2 or not table.std(axis=0).all():
            return float("nan")
        eigenvalue_sets.append(np.linalg.eigvalsh(np.atleast_2d(np.corrcoef(table, rowvar=False))))
    original_eigenvalues, released_eigenvalues = eigenvalue_sets
    with np.errstate(divide="ignore", invalid="ignore"):
        return float((np.abs(original_eigenvalues - released_eigenvalues) / original_eigenvalues).sum())


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
    def of(cls, variable: Variable, rows: tuple[Array, Array]) -> Change:
        """What was done between rows that belong together."""
        original_texts, released_texts = texts(variable.before)[rows[0]], texts(variable.after)[rows[1]]
        parents = variable.recoded
        expected_texts = original_texts if parents is None else original_texts.replace(dict(parents))
        original_values = texts(variable.before.drop_nulls().unique()).to_list()
        leaf_counts: dict[str, int] = {}
        for leaf_name in original_values:
            parent_name = leaf_name if parents is None else parents.get(leaf_name, leaf_name)
            leaf_counts[parent_name] = leaf_counts.get(parent_name, 0) + 1
        covered_leaves = released_texts.replace_strict(leaf_counts, default=1, return_dtype=pl.Int64).to_numpy()
        # of the leaves beside one's own, so that a value loses nothing and a gap everything
        cell_losses = np.where(released_texts.is_null(), 1.0, (covered_leaves - 1) / max(1, len(original_values) - 1))
        was_known = original_texts.is_not_null()
        return cls(
            variable.name,
            int((was_known & released_texts.is_null()).sum()),
            int((was_known & released_texts.is_not_null() & (expected_texts != released_texts)).sum()),
            int((~was_known & released_texts.is_not_null()).sum()),
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

    def parts(self) -> list[Content]:
        change_rows = [
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
        column_titles = ("variable", "suppressed", "share", "changed", "share (changed)", "recoded to", "loss")
        facts = [("records", f"{self.records:,} in both files, {self.deleted:,} deleted, {self.added:,} added")]
        if not np.isnan(self.il1s):
            facts.append(("numbers moved (IL1s)", f"{self.il1s:.4g}"))
        if not np.isnan(self.eigenvalues):
            facts.append(("eigenvalues of the correlations", f"{self.eigenvalues:.4g}"))
        explanation = (
            "Loss: mean share of the other values that a cell may stand for, 0 for the value itself and 1 for a gap. "
            "IL1s: mean distance that a number moved, in √2 standard deviations."
        )
        return [
            Facts(tuple(facts)),
            grid("Cells, by variable", column_titles, change_rows),
            Sentence(explanation, small=True),
        ]

    def numbers(self) -> dict[str, object]:
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
    # of variables whose released cells are numbers, or stand for numbers
    number_pairs = [
        variable.numbers
        for variable in pair.variables
        if variable.numeric
        and (variable.after.dtype.is_numeric() or (variable.recoded is not None and variable.after.count() > 0))
    ]
    mean_move, loss_of_eigenvalues = float("nan"), float("nan")
    if number_pairs:
        x, y = (np.column_stack([variable_numbers[side] for variable_numbers in number_pairs]) for side in (0, 1))
        mean_move = il1s(x[pair.rows[0]], y[pair.rows[1]])
        loss_of_eigenvalues = eigenvalue_loss(x, y) if len(number_pairs) > 1 else loss_of_eigenvalues
    record_count = len(pair.rows[0])
    return Changes(
        tuple(Change.of(variable, pair.rows) for variable in pair.variables),
        record_count,
        pair.before.height - record_count,
        pair.after.height - record_count,
        mean_move,
        loss_of_eigenvalues,
    )


_FEW = 20  # distinct numbers up to which each is a category of its own
_BINS = 10  # of about equally many people, for numbers with more distinct values


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable of both files.

    Parameters
    ----------
    name : str
    before, after : (n,) and (n',) polars series
    x : (n,) int
        The category of each original cell; -1 is a gap.
    y : (n',) int
        The released value of each cell of the release; -1 is a gap.
    spread : (released, categories) float
        For each released value, its share in each category: rows sum to one. A value that stands for several
        categories is spread evenly over the original values that it covers.
    labels : tuple of str
        The categories: values of the original, or bins of numbers.
    released : tuple of str
    recoded : {str: str}, optional
        The released value of each original value, where the variable was recoded.
    """

    name: str
    before: pl.Series
    after: pl.Series
    x: Places
    y: Places
    spread: Floats
    labels: tuple[str, ...]
    released: tuple[str, ...]
    recoded: Mapping[str, str] | None = None

    @property
    def numeric(self) -> bool:
        """Whether the original holds numbers."""
        return self.before.dtype.is_numeric()

    @classmethod
    def of(cls, before: pl.Series, after: pl.Series, recoded: Mapping[str, str] | None) -> Variable:
        """The categories of a variable, and what its released values say about them."""
        is_binned = before.dtype.is_numeric() and before.n_unique() > _FEW
        original_values = before.drop_nulls().unique().sort()
        original_names = texts(original_values).to_list()
        if is_binned and recoded is None and after.dtype.is_numeric():
            bin_cuts, labels = _bins(before)
            x, y = _bin_codes(before, bin_cuts), _bin_codes(after, bin_cuts)
            return cls(before.name, before, after, x, y, np.eye(len(labels)), labels, labels)
        released_texts = texts(after)
        released_names = released_texts.drop_nulls().unique().sort().to_list()
        parent_of = recoded or {}
        row_of = {name: row_number for row_number, name in enumerate(released_names)}
        coverage = np.zeros((len(released_names), len(original_names)))
        for original_number, name in enumerate(original_names):
            coverage_row = row_of.get(parent_of.get(name, name))
            if coverage_row is not None:
                coverage[coverage_row, original_number] = 1.0
        # values that the original does not have
        extra_values = [name for name, coverage_row in row_of.items() if not coverage[coverage_row].any()]
        labels = tuple(original_names)
        if is_binned:
            bin_cuts, labels = _bins(before)
            coverage = coverage @ np.eye(len(labels))[_bin_codes(original_values, bin_cuts)]
        if extra_values:
            coverage = np.hstack([coverage, np.eye(len(released_names))[:, [row_of[name] for name in extra_values]]])
            labels = (*labels, *extra_values)
        spread = coverage / coverage.sum(axis=1, keepdims=True)
        x = _bin_codes(before, bin_cuts) if is_binned else _codes_of(texts(before), original_names)
        y = _codes_of(released_texts, released_names)
        return cls(before.name, before, after, x, y, spread, labels, tuple(released_names), recoded)

    @cached_property
    def alike(self) -> tuple[Places, Places, tuple[str, ...]]:
        """Categories of both files at the level of the release, -1 for gaps, and their labels."""
        if self.recoded is None:
            category_of = np.append(self.spread.argmax(axis=1) if len(self.spread) else [], -1).astype(np.int64)
            return self.x, category_of[self.y], self.labels  # -1 finds the last, which stays a gap
        parent_cells = texts(self.before).replace(dict(self.recoded))
        shared_labels = sorted({*parent_cells.drop_nulls().unique().to_list(), *self.released})
        return _codes_of(parent_cells, shared_labels), _codes_of(texts(self.after), shared_labels), tuple(shared_labels)

    @cached_property
    def numbers(self) -> tuple[Floats, Floats]:
        """Cells of both files as numbers, NaN where missing; a recoded value is the mean of the values it covers."""
        x = self.before.cast(pl.Float64).to_numpy()
        if self.recoded is None:
            return x, self.after.cast(pl.Float64, strict=False).to_numpy()
        values_under: dict[str, list[float]] = {}
        original_values = self.before.drop_nulls().unique()
        for value, leaf_name in zip(
            original_values.cast(pl.Float64).to_list(), texts(original_values).to_list(), strict=True
        ):
            values_under.setdefault(self.recoded.get(leaf_name, leaf_name), []).append(value)
        middle_of = {parent_name: float(np.mean(leaf_values)) for parent_name, leaf_values in values_under.items()}
        return x, texts(self.after).replace_strict(middle_of, default=None, return_dtype=pl.Float64).to_numpy()


def _codes_of(series: pl.Series, names: Sequence[str]) -> Places:
    name_codes = pl.int_range(0, len(names), eager=True)
    return series.replace_strict(
        pl.Series(names, dtype=pl.String), name_codes, default=-1, return_dtype=pl.Int64
    ).to_numpy()


def _bins(series: pl.Series) -> tuple[Floats, tuple[str, ...]]:
    """Inner limits of bins of about equally many people, and the bins' names."""
    cell_numbers = series.drop_nulls().cast(pl.Float64).to_numpy()
    bin_cuts = np.unique(np.quantile(cell_numbers, np.arange(1, _BINS) / _BINS))
    bin_cuts = bin_cuts[bin_cuts < cell_numbers.max()]
    end_texts = [f"{bin_cut:.6g}" for bin_cut in bin_cuts]
    middle_names = [f"above {low_text} to {high_text}" for low_text, high_text in pairwise(end_texts)]
    return bin_cuts, (f"up to {end_texts[0]}", *middle_names, f"above {end_texts[-1]}") if end_texts else ("any",)


def _bin_codes(series: pl.Series, cuts: Floats) -> Places:
    cell_numbers = series.cast(pl.Float64, strict=False).to_numpy()
    return np.where(np.isnan(cell_numbers), -1, np.searchsorted(cuts, cell_numbers, side="left"))


def cells_as_labels(series: pl.Series, labels: Sequence[str]) -> pl.Series:
    """Cells as the labels of a design; a file may write the number 1 as 1 or as 1.0."""
    label_of = {str(int(float(label))): label for label in labels if re.fullmatch(r"-?\d+\.0+", label)}
    return texts(series).replace(label_of)


@dataclass(frozen=True, eq=False)
class Pair:
    """An original file and its release.

    Parameters
    ----------
    before, after : polars frames
    variables : tuple of Variable
    rows : (paired,) int, (paired,) int, or None
        Rows that belong to one record; None for synthetic records, which belong to nobody.
    weights : (n,) float, (n',) float
        Sampling weights of both files; ones without.
    weighted : bool
    """

    before: pl.DataFrame
    after: pl.DataFrame
    variables: tuple[Variable, ...]
    rows: tuple[Places, Places] | None
    weights: tuple[Floats, Floats]
    weighted: bool

    @classmethod
    def of(
        cls,
        before: object,
        after: object,
        *,
        variables: Sequence[str] | None = None,
        identity: str | None = None,
        synthetic: bool = False,
        weights: str | None = None,
    ) -> Pair:
        """Both files, checked; by default with all variables that both have, besides names and weights."""
        original_frame, release_frame = frame_of(before, what="the original"), frame_of(after, what="the release")
        paired_rows = None if synthetic else joined(original_frame, release_frame, identity)
        excluded_names = {identity, weights}
        shared_names = [
            column_name
            for column_name in original_frame.columns
            if column_name in release_frame.columns and column_name not in excluded_names
        ]
        if variables is not None:
            check_names(variables, original_frame.columns)
            check_names(variables, release_frame.columns, what="column of the release")
            shared_names = list(dict.fromkeys(variables))
        if not shared_names:
            raise DataError(
                f"the files share no variable; the release has {_checks.listing_text(release_frame.columns)}"
            )
        return cls(
            original_frame,
            release_frame,
            tuple(_variable(original_frame, release_frame, column_name, paired_rows) for column_name in shared_names),
            paired_rows,
            (_weights(original_frame, weights), _weights(release_frame, weights)),
            weights is not None,
        )

    @property
    def effective(self) -> tuple[float, float]:
        """Effective numbers of people, (Σw)²/Σw², of both files."""
        first, second = (float(file_weights.sum() ** 2 / (file_weights**2).sum()) for file_weights in self.weights)
        return first, second


def _variable(before: pl.DataFrame, after: pl.DataFrame, name: str, rows: tuple[Places, Places] | None) -> Variable:
    for frame in (before, after):
        if frame[name].dtype.is_nested():
            problem = f"column {name!r} holds {frame[name].dtype}; utility is measured on columns of single values"
            raise DataError(problem, column=name)
    parent_of = None if rows is None else recoding(before[name][rows[0]], after[name][rows[1]])
    return Variable.of(before[name], after[name], parent_of)


def _weights(frame: pl.DataFrame, name: str | None) -> Floats:
    if name is None:
        return np.ones(frame.height)
    check_names([name], frame.columns)
    try:
        return positive(frame[name].cast(pl.Float64).to_numpy(), frame.height)
    except pl.exceptions.PolarsError:
        raise DataError(f"sampling weights must be numbers; column {name!r} is not", column=name) from None
