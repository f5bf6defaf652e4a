"""What the curator draws: the answers of a column, by a design, and whole records, from trees.

The post-randomization method (PRAM) and the negative release of a column are designs of naysay. The released file
carries its design, and estimates from it are unbiased, with standard errors that know what was drawn. Columns of
synthetic records are drawn one after the other, each from trees of those before it.
"""

from __future__ import annotations

import importlib
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from naysay import _checks, designs, privacy
from naysay._values import Floats
from naysay.design import Design
from naysay.errors import DataError, DesignError
from naysay.microdata.keys.codes import check_choice, check_names
from naysay.microdata.protect.method import Done, OfColumns, Random, rows_of_strata, several, texts

_FEWEST = 10  # records; values of fewer come back in every release
_MANY = 30  # values up to which a predictor is split category by category


@dataclass(frozen=True, kw_only=True)
class Synthesize(OfColumns, Random):
    """New records: the first column from its margin, each other one from a tree of the columns before it.

    The release holds no column but these. A value is drawn from the records in the same leaf, so rare combinations
    come back: the notes count the records that repeat a combination that is unique in the file, beside what another
    half of the same people repeats.

    Parameters
    ----------
    columns : sequence of str
        In the order in which they are drawn.
    least : int
        Records in a leaf.
    rows : int, optional
        How many records; by default as many as the file has.
    smooth : bool
        Numbers are drawn between two neighbors of a leaf instead of being copied.
    drop : bool
        Leave out records that repeat a unique combination.
    seed : int, optional

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> table = {"sex": ["f", "m"] * 20, "job": ["nurse", "smith"] * 20}
    >>> safe, log = protect.Synthesize(columns=["sex", "job"], seed=1).apply(table)
    >>> set(zip(safe["sex"], safe["job"])) == {("f", "nurse"), ("m", "smith")}
    True

    Notes
    -----
    Needs scikit-learn (the extra `protect`). Source: Reiter 2005.
    """

    name: ClassVar[str] = "synthesize"
    promise = "no record is that of a person, and some combinations are: the notes say how many; nothing is guaranteed"
    least: int = 5
    rows: int | None = None
    smooth: bool = False
    drop: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "synthesis"))
        _checks.whole_number(self.least, 1, 2**31, what="least")
        if self.rows is not None:
            _checks.whole_number(self.rows, 1, 2**31, what="rows")

    def done(self, frame: pl.DataFrame) -> Done:
        try:
            importlib.import_module("sklearn")
        except ModuleNotFoundError as error:
            complaint = f"synthetic records need {error.name}, which is not installed"
            raise DataError(f"{complaint}; get it with: pip install 'naysay[protect]'") from None
        self._check(frame)
        rng, n = self.rng(), self.rows or frame.height
        source_rows = np.sort(rng.integers(0, frame.height, n))
        source_places = {self.columns[0]: source_rows}
        drawn_columns = {self.columns[0]: frame[self.columns[0]].gather(source_rows)}
        for number, column_name in enumerate(self.columns[1:], 1):
            earlier_names = list(self.columns[:number])
            file_predictors = _predictors(frame, earlier_names)
            record_predictors = np.column_stack(
                [_predictors(frame, [earlier_name])[source_places[earlier_name]] for earlier_name in earlier_names]
            )
            source_places[column_name] = self._leaves(frame[column_name], file_predictors, record_predictors, rng)
            drawn_columns[column_name] = self._values(frame[column_name], source_places[column_name], rng)
        drawn_frame = pl.DataFrame([column.alias(column_name) for column_name, column in drawn_columns.items()])
        is_repeated, unique_count = _repeats(frame.select(self.columns), drawn_frame)
        repeated_count, half_unique_count = _halves(frame.select(self.columns), rng)
        notes = [
            (
                f"{int(is_repeated.sum()):,} records repeat one of {unique_count:,} combinations "
                "that are unique in the file"
            ),
            (
                f"of the {half_unique_count:,} unique in one half of the people, "
                f"{repeated_count:,} stand in the other half"
            ),
        ]
        left_out_names = [column_name for column_name in frame.columns if column_name not in self.columns]
        if left_out_names:
            notes.append(f"columns that are not synthesized are left out: {_checks.listing_text(left_out_names)}")
        if self.drop:
            drawn_frame = drawn_frame.filter(~pl.Series(is_repeated))
            notes.append("these records were left out")
        return Done(drawn_frame, np.zeros(0, np.intp), tuple(notes))

    def _check(self, frame: pl.DataFrame) -> None:
        least_rows = max(2 * self.least, _FEWEST)
        if frame.height < least_rows:
            complaint = f"synthesis needs {least_rows} records or more, and the file has {frame.height}"
            raise DataError(f"{complaint}: of so few, the new records would be the people themselves")
        for column_name in self.columns:
            column = frame[column_name]
            if column.dtype.is_nested():
                raise DataError(
                    f"{column_name!r} holds sets of candidates, which trees do not take", column=column_name
                )
            is_discrete = not column.dtype.is_float()
            if is_discrete and column.count() > 20 and column.drop_nulls().n_unique() == column.count():
                complaint = (
                    f"{column_name!r} differs in every record: it is an identifier, and would come back as it is"
                )
                raise DataError(f"{complaint}; leave it out, or coarsen it", column=column_name)

    def _leaves(
        self, column: pl.Series, file_predictors: Floats, record_predictors: Floats, rng: np.random.Generator
    ) -> NDArray[np.intp]:
        """For each new record a record of the file in the same leaf."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        target_texts = texts(column).fill_null("\0").to_numpy()
        target_numbers = column.cast(pl.Float64, strict=False).fill_nan(None) if column.dtype.is_numeric() else None
        tree_seed = int(rng.integers(2**31))
        if target_numbers is not None and column.n_unique() > _MANY and not target_numbers.null_count():
            tree: Any = DecisionTreeRegressor(min_samples_leaf=self.least, random_state=tree_seed)
            tree.fit(file_predictors, target_numbers.to_numpy())
        else:
            tree = DecisionTreeClassifier(min_samples_leaf=self.least, random_state=tree_seed)
            with warnings.catch_warnings():  # many categories for few records are no regression
                warnings.simplefilter("ignore", UserWarning)
                tree.fit(file_predictors, target_texts)
        file_leaves, record_leaves = tree.apply(file_predictors), tree.apply(record_predictors)
        leaf_order = np.argsort(file_leaves, kind="stable")
        leaf_starts = np.searchsorted(file_leaves[leaf_order], record_leaves, side="left")
        leaf_stops = np.searchsorted(file_leaves[leaf_order], record_leaves, side="right")
        source_rows: NDArray[np.intp] = leaf_order[
            leaf_starts + (rng.random(len(record_leaves)) * (leaf_stops - leaf_starts)).astype(np.int64)
        ]
        return source_rows

    def _values(self, column: pl.Series, place: NDArray[np.intp], rng: np.random.Generator) -> pl.Series:
        """The values of these records; smoothed ones lie between a value and its neighbor in the file."""
        if not self.smooth or not column.dtype.is_float():
            return column.gather(place)
        file_numbers = column.fill_null(float("nan")).to_numpy()
        distinct_numbers = np.unique(file_numbers[~np.isnan(file_numbers)])
        copied_numbers = file_numbers[place]
        neighbor_numbers = distinct_numbers[
            np.minimum(np.searchsorted(distinct_numbers, copied_numbers, side="right"), len(distinct_numbers) - 1)
        ]
        # the highest has a neighbor below only
        next_highest = distinct_numbers[max(len(distinct_numbers) - 2, 0)]
        neighbor_numbers = np.where(neighbor_numbers == copied_numbers, next_highest, neighbor_numbers)
        return pl.Series(
            copied_numbers + rng.random(len(copied_numbers)) * (neighbor_numbers - copied_numbers)
        ).fill_nan(None)


def _predictors(frame: pl.DataFrame, names: Sequence[str]) -> Floats:
    """Predictors as numbers: measures as they are, categories of few values each a column of 0 and 1."""
    predictor_columns = []
    for name in names:
        column = frame[name]
        if column.dtype.is_numeric() and column.dtype != pl.Boolean and column.n_unique() > _MANY:
            number = column.cast(pl.Float64).fill_nan(None)
            predictor_columns += [
                number.fill_null(number.median() or 0).to_numpy(),
                number.is_null().to_numpy().astype(float),
            ]
            continue
        cell_texts = texts(column).fill_null("\0")
        distinct_texts = cell_texts.unique().sort().to_list()
        if len(distinct_texts) <= _MANY:
            predictor_columns += [(cell_texts == value).to_numpy().astype(float) for value in distinct_texts]
        else:
            predictor_columns.append(cell_texts.rank("dense").to_numpy().astype(float))
    return np.column_stack(predictor_columns)


def _repeats(frame: pl.DataFrame, drawn_frame: pl.DataFrame) -> tuple[NDArray[np.bool_], int]:
    """Which new records repeat a combination that is unique in the file, and how many are unique there."""
    column_names = frame.columns
    file_texts, drawn_texts = (
        table.select(texts(table[column_name]).fill_null("\0").alias(column_name) for column_name in column_names)
        for table in (frame, drawn_frame)
    )
    unique_rows = file_texts.filter(pl.struct(column_names).is_unique()).with_columns(naysay_alone=pl.lit(value=True))
    is_repeated = drawn_texts.join(unique_rows, on=column_names, how="left", maintain_order="left")[
        "naysay_alone"
    ].fill_null(value=False)
    return is_repeated.to_numpy(), unique_rows.height


def _halves(frame: pl.DataFrame, rng: np.random.Generator) -> tuple[int, int]:
    """How many of those unique in one half of the file stand in the other half, and how many are unique there."""
    order = rng.permutation(frame.height)
    first_half, second_half = frame[order[: frame.height // 2]], frame[order[frame.height // 2 :]]
    met, unique = _repeats(first_half, second_half.unique())
    return int(met.sum()), unique


@dataclass(frozen=True)
class Combined:
    """An estimate from synthetic copies, and its standard error; NaN where the variance came out negative."""

    estimate: float
    variance: float

    @property
    def standard_error(self) -> float:
        """The square root of the variance."""
        return float(np.sqrt(self.variance)) if self.variance >= 0 else float("nan")


def combined(
    estimates: ArrayLike,
    variances: ArrayLike,
    *,
    kind: Literal["partially", "fully", "one"] = "partially",
    ratio: float = 1.0,
) -> Combined:
    """One estimate from those of m synthetic copies.

    With q̄ and v̄ the means over the copies and b the variance between them: T = b/m + v̄ for partially synthetic data
    (Reiter 2003); (1 + 1/m)·b − v̄ for fully synthetic data (Raghunathan, Reiter & Rubin 2003), which can be negative;
    v̄·(1 + ratio) from one copy (Raab et al. 2016), ratio being n of the file over n of the copy.

    Parameters
    ----------
    estimates, variances : (m,) float
    kind : {"partially", "fully", "one"}
    ratio : float

    Examples
    --------
    >>> found = combined([0.52, 0.48, 0.50], [0.0004, 0.0004, 0.0004])
    >>> round(found.estimate, 3), round(found.standard_error, 4)
    (0.5, 0.0231)
    """
    check_choice(kind, ("partially", "fully", "one"), what="kind")
    q, v = np.atleast_1d(np.asarray(estimates, float)), np.atleast_1d(np.asarray(variances, float))
    if q.shape != v.shape or q.ndim != 1:
        raise DataError(f"estimates and variances must be alike; got shapes {q.shape} and {v.shape}")
    if kind == "one":
        return Combined(float(q.mean()), float(v.mean() * (1 + ratio)))
    if len(q) < 2:
        raise DataError(f"{kind} synthetic data needs two copies or more; got {len(q)} (kind='one' takes one)")
    between, m = float(q.var(ddof=1)), len(q)
    variance = between / m + v.mean() if kind == "partially" else (1 + 1 / m) * between - v.mean()
    return Combined(float(q.mean()), float(variance))


_FINE = 10**9  # invariant matrices are rounded to this, so that they are exact
_POOR = 1e3  # a condition number above it: joint tables cannot be undone


@dataclass(frozen=True, kw_only=True)
class _RandomizedColumn(Random):
    """A column whose cells are drawn by a design, record by record."""

    variable: str
    categories: Sequence[str] = ()
    gaps: Literal["keep", "category"] = "keep"
    within: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", tuple(map(str, self.categories)))
        object.__setattr__(self, "within", (self.within,) if isinstance(self.within, str) else tuple(self.within))
        check_choice(self.gaps, ("keep", "category"), what="gaps")
        if self.variable in self.within:
            raise DataError(f"{self.variable!r} is drawn, and cannot be a stratum of its own")

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.variable,)

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.variable, *self.within)

    @abstractmethod
    def design(self, labels: tuple[str, ...], shares: Floats) -> Design:
        """The design over these categories, of which the file holds these shares."""

    def done(self, frame: pl.DataFrame) -> Done:
        check_names(self.needs, frame.columns)
        cell_texts = texts(frame[self.variable])
        if cell_texts.dtype.is_nested():
            raise DataError(f"{self.variable!r} holds sets of candidates, which no design draws from")
        missing_label = "missing"
        if self.gaps == "category":
            if missing_label in cell_texts.unique().to_list():
                raise DataError(f"{self.variable!r} holds the text 'missing' beside gaps; recode one of them")
            cell_texts = cell_texts.fill_null(missing_label)
        category_labels = self._labels(frame[self.variable], cell_texts)
        is_known = cell_texts.is_not_null().to_numpy()
        place = cell_texts.replace_strict(
            {label: at for at, label in enumerate(category_labels)}, default=-1, return_dtype=pl.Int64
        )
        label_counts = np.bincount(place.to_numpy()[is_known], minlength=len(category_labels))
        column_design = self.design(category_labels, label_counts / max(label_counts.sum(), 1))
        drawn_cells: list[str | None] = [None] * frame.height
        for stratum_number, stratum_rows in enumerate(rows_of_strata(frame, self.within)):
            rows_of_stratum = stratum_rows[is_known[stratum_rows]]  # each stratum has numbers of its own
            truth = cell_texts.gather(rows_of_stratum).to_list()
            drawn_texts = column_design.randomize(truth, rng=self.rng(stratum_number)).texts()
            for row, cell in zip(rows_of_stratum.tolist(), drawn_texts, strict=True):
                drawn_cells[row] = cell
        drawn_column = pl.Series(self.variable, drawn_cells, dtype=pl.String)
        column_type = frame.schema[self.variable]
        if column_type.is_integer() and self.gaps == "keep":
            drawn_column = drawn_column.cast(column_type)
        design_notes = notes_of_design(self.variable, column_design, label_counts)
        return Done(frame.with_columns(drawn_column), None, design_notes, {self.variable: column_design})

    def _labels(self, column: pl.Series, cells: pl.Series) -> tuple[str, ...]:
        cell_labels = cells.drop_nulls().unique().sort().to_list()
        if isinstance(column.dtype, pl.Enum):
            cell_labels = [label for label in column.dtype.categories.to_list() if label in cell_labels]
        unknown_labels = [label for label in cell_labels if self.categories and label not in self.categories]
        if unknown_labels:
            raise DataError(f"column {self.variable!r} holds {unknown_labels[0]!r}, which is none of its categories")
        category_labels = tuple(self.categories) or tuple(cell_labels)
        if len(category_labels) < 2:
            raise DataError(
                f"answers are drawn from two categories or more; {self.variable!r} holds {len(category_labels)}"
            )
        if len(category_labels) > 1_000:
            complaint = (
                f"{self.variable!r} holds {len(category_labels):,} different values "
                "and looks like an identifier or a measure"
            )
            raise DataError(f"{complaint}; recode it first, or leave it out")
        return category_labels


@dataclass(frozen=True, kw_only=True)
class Pram(_RandomizedColumn):
    """Categories replaced at random, with known probabilities P (Gouweleeuw et al. 1998).

    Parameters
    ----------
    variable : str
    keep : float, optional
        The probability that a category stays; the others are equally likely.
    matrix : sequence of rows, optional
        Instead: P[i][j] = P(category i is released | category j is true), columns summing to one; decimals are exact.
    categories : sequence of str
        Their order; by default sorted as texts.
    invariant : bool
        R = QP in place of P, so that the shares of the file stay right on average without any correction. Joint tables
        can then often not be undone; the notes say how far.
    gaps : {"keep", "category"}
        Gaps stay, or "missing" is a category like others.
    within : sequence of str
        Strata; each draws from numbers of its own, from one P.
    seed : int, optional

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Pram(variable="job", keep=0.8, seed=1).apply({"job": ["cook", "nurse", None, "cook"]})
    >>> safe["job"]
    ['cook', 'nurse', None, 'cook']
    >>> log.steps[0].designs["job"].matrix
    array([[0.8, 0.2],
           [0.2, 0.8]])

    Source: Gouweleeuw et al. 1998; METHODS, section 3.
    """

    name: ClassVar[str] = "pram"
    promise = "no value is certain to be true; estimates made with the design are unbiased, naive counts are not"
    keep: float | None = None
    matrix: Sequence[Sequence[Any]] = ()
    invariant: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "matrix", tuple(tuple(row) for row in self.matrix))
        if (self.keep is None) == (not self.matrix):
            raise DataError(f"say how {self.variable!r} is drawn: by keep, or by a matrix")
        if self.keep is not None and not 0 <= self.keep < 1:
            raise DataError(f"keep must be a probability below 1; got {self.keep!r}")
        if self.matrix and not self.categories:
            raise DataError(f"a matrix needs its categories in their order; name those of {self.variable!r}")

    def design(self, labels: tuple[str, ...], shares: Floats) -> Design:
        matrix_rows: Any = self.matrix
        if self.keep is not None:
            stay_chance = Fraction(str(self.keep))
            other_chance = (1 - stay_chance) / (len(labels) - 1)
            matrix_rows = [
                [stay_chance if i == j else other_chance for j in range(len(labels))] for i in range(len(labels))
            ]
        try:
            column_design = designs.custom(matrix_rows, categories=labels)
        except DesignError as error:
            raise DataError(f"the probabilities of {self.variable!r} cannot be: {error}") from None
        if len(column_design.space.labels) != len(labels):
            raise DataError(f"the matrix of {self.variable!r} must have a row for each of its {len(labels)} categories")
        column_design = _invariant(column_design, labels, shares) if self.invariant else column_design
        if np.linalg.cond(column_design.matrix) > 1e12:
            raise DataError(
                f"the matrix of {self.variable!r} is singular: nothing can be estimated; raise its diagonal"
            )
        return column_design


@dataclass(frozen=True, kw_only=True)
class Negative(_RandomizedColumn):
    """A negative release: each record says a category that is *not* its own.

    Parameters
    ----------
    variable : str
    categories, gaps, within, seed
        As in `Pram`.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> safe, log = protect.Negative(variable="job", seed=1).apply({"job": ["cook", "nurse", "smith"]})
    >>> any(a == b for a, b in zip(safe["job"], ["cook", "nurse", "smith"]))
    False

    Source: Esponda, Huerta & Guerrero 2016.
    """

    name: ClassVar[str] = "negative"
    promise = "each record names a category that is not its own; estimates made with the design are unbiased"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.categories and len(self.categories) < 3:
            raise DataError(f"a negative release of two categories gives the other one away; got {self.categories!r}")

    def design(self, labels: tuple[str, ...], shares: Floats) -> Design:
        if len(labels) < 3:
            raise DataError(f"a negative release of two categories gives the other one away; {self.variable!r} has two")
        return designs.negative(labels)


def _invariant(pram_design: Design, labels: tuple[str, ...], shares: Floats) -> Design:
    """R = QP with Q[k, l] = P[l, k]·T_k / Σ_m P[l, m]·T_m, in whole parts of 10⁹: R·T = T."""
    p = np.asarray(pram_design.matrix, float)
    joint_shares = p * shares
    total = joint_shares.sum(axis=1, keepdims=True)
    q = np.divide(joint_shares, total, out=np.zeros_like(joint_shares), where=total > 0).T
    r = q @ p
    for empty in np.flatnonzero(shares == 0):
        r[:, empty] = np.eye(len(shares))[empty]
    numerators = np.floor(r * _FINE + 0.5).astype(np.int64)
    numerators[np.arange(len(numerators)), np.arange(len(numerators))] += _FINE - numerators.sum(axis=0)
    return designs.custom(
        [[Fraction(int(numerator), _FINE) for numerator in row] for row in numerators], categories=labels
    )


def notes_of_design(name: str, design: Design, count: NDArray[np.int64]) -> tuple[str, ...]:
    """What a design costs: its condition, its least diagonal, ε, and the largest standard error that it adds."""
    p = np.asarray(design.matrix, float)
    n, category_shares = int(count.sum()), count / max(count.sum(), 1)
    inverse_matrix = np.linalg.inv(p)
    spread = np.diag(p @ category_shares) - (p * category_shares) @ p.T
    added_errors = np.sqrt(np.maximum(np.diag(inverse_matrix @ spread @ inverse_matrix.T), 0) / max(n, 1))
    condition_number = float(np.linalg.cond(p))
    epsilon = privacy.epsilon(design)
    design_notes = [
        f"{name}: condition {condition_number:.4g}, least diagonal {np.diag(p).min():.4g}, ε = "
        f"{'∞' if np.isinf(epsilon) else f'{epsilon:.3g}'}; the largest standard error it adds to a share is "
        f"{added_errors.max():.4f}"
    ]
    if condition_number > _POOR:
        design_notes.append(
            f"{name}: joint tables cannot be undone with such a condition; use P itself, not the invariant form"
        )
    return tuple(design_notes)
