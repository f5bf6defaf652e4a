"""Synthetic records: columns drawn one after the other, each from trees of those before it."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import check_choice
from naysay.microdata.protect.log import Done
from naysay.microdata.protect.method import Random
from naysay.microdata.protect.numbers import several
from naysay.microdata.protect.tables import texts

Floats = NDArray[np.float64]
_FEWEST = 10  # records; values of fewer come back in every release
_MANY = 30  # values up to which a predictor is split category by category


@dataclass(frozen=True, kw_only=True)
class Synthesize(Random):
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
    columns: Sequence[str]
    least: int = 5
    rows: int | None = None
    smooth: bool = False
    drop: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "synthesis"))
        _checks.whole_number(self.least, 1, 2**31, what="least")
        if self.rows is not None:
            _checks.whole_number(self.rows, 1, 2**31, what="rows")

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def promise(self) -> str:
        return "no record is that of a person, and some combinations are: the notes say how many; nothing is guaranteed"

    def done(self, frame: pl.DataFrame) -> Done:
        self._check_installed()
        self._check(frame)
        rng, n = self.rng(), self.rows or frame.height
        source_rows = np.sort(rng.integers(0, frame.height, n))
        place = {self.columns[0]: source_rows}
        drawn_columns = {self.columns[0]: frame[self.columns[0]].gather(source_rows)}
        for number, name in enumerate(self.columns[1:], 1):
            before = list(self.columns[:number])
            file_predictors = _predictors(frame, before)
            record_predictors = np.column_stack(
                [_predictors(frame, [earlier_name])[place[earlier_name]] for earlier_name in before]
            )
            place[name] = self._leaves(frame[name], file_predictors, record_predictors, rng)
            drawn_columns[name] = self._values(frame[name], place[name], rng)
        drawn_frame = pl.DataFrame([column.alias(name) for name, column in drawn_columns.items()])
        is_repeated, unique = _repeats(frame.select(self.columns), drawn_frame)
        half, twin = _halves(frame.select(self.columns), rng)
        notes = [
            f"{int(is_repeated.sum()):,} records repeat one of {unique:,} combinations that are unique in the file",
            f"of the {twin:,} unique in one half of the people, {half:,} stand in the other half",
        ]
        left_out_names = [name for name in frame.columns if name not in self.columns]
        if left_out_names:
            notes.append(f"columns that are not synthesized are left out: {_checks.listing_text(left_out_names)}")
        if self.drop:
            drawn_frame = drawn_frame.filter(~pl.Series(is_repeated))
            notes.append("these records were left out")
        return Done(drawn_frame, np.zeros(0, np.intp), tuple(notes))

    @staticmethod
    def _check_installed() -> None:
        try:
            importlib.import_module("sklearn")
        except ModuleNotFoundError as error:
            complaint = f"synthetic records need {error.name}, which is not installed"
            raise DataError(f"{complaint}; get it with: pip install 'naysay[protect]'") from None

    def _check(self, frame: pl.DataFrame) -> None:
        least_rows = max(2 * self.least, _FEWEST)
        if frame.height < least_rows:
            complaint = f"synthesis needs {least_rows} records or more, and the file has {frame.height}"
            raise DataError(f"{complaint}: of so few, the new records would be the people themselves")
        for name in self.columns:
            column = frame[name]
            if column.dtype.is_nested():
                raise DataError(f"{name!r} holds sets of candidates, which trees do not take", column=name)
            whole = not column.dtype.is_float()
            if whole and column.count() > 20 and column.drop_nulls().n_unique() == column.count():
                complaint = f"{name!r} differs in every record: it is an identifier, and would come back as it is"
                raise DataError(f"{complaint}; leave it out, or coarsen it", column=name)

    def _leaves(
        self, column: pl.Series, file_predictors: Floats, record_predictors: Floats, rng: np.random.Generator
    ) -> NDArray[np.intp]:
        """For each new record a record of the file in the same leaf."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        target = texts(column).fill_null("\0").to_numpy()
        number = column.cast(pl.Float64, strict=False).fill_nan(None) if column.dtype.is_numeric() else None
        state = int(rng.integers(2**31))
        if number is not None and column.n_unique() > _MANY and not number.null_count():
            tree: Any = DecisionTreeRegressor(min_samples_leaf=self.least, random_state=state)
            tree.fit(file_predictors, number.to_numpy())
        else:
            tree = DecisionTreeClassifier(min_samples_leaf=self.least, random_state=state)
            with warnings.catch_warnings():  # many categories for few records are no regression
                warnings.simplefilter("ignore", UserWarning)
                tree.fit(file_predictors, target)
        file_leaves, record_leaves = tree.apply(file_predictors), tree.apply(record_predictors)
        order = np.argsort(file_leaves, kind="stable")
        start = np.searchsorted(file_leaves[order], record_leaves, side="left")
        stop = np.searchsorted(file_leaves[order], record_leaves, side="right")
        source_rows: NDArray[np.intp] = order[
            start + (rng.random(len(record_leaves)) * (stop - start)).astype(np.int64)
        ]
        return source_rows

    def _values(self, column: pl.Series, place: NDArray[np.intp], rng: np.random.Generator) -> pl.Series:
        """The values of these records; smoothed ones lie between a value and its neighbor in the file."""
        if not self.smooth or not column.dtype.is_float():
            return column.gather(place)
        values = column.fill_null(float("nan")).to_numpy()
        distinct_numbers = np.unique(values[~np.isnan(values)])
        copied_numbers = values[place]
        above = distinct_numbers[
            np.minimum(np.searchsorted(distinct_numbers, copied_numbers, side="right"), len(distinct_numbers) - 1)
        ]
        above = np.where(
            above == copied_numbers, distinct_numbers[max(len(distinct_numbers) - 2, 0)], above
        )  # the highest has a neighbor below only
        return pl.Series(copied_numbers + rng.random(len(copied_numbers)) * (above - copied_numbers)).fill_nan(None)


def _predictors(frame: pl.DataFrame, names: Sequence[str]) -> Floats:
    """Predictors as numbers: measures as they are, categories of few values each a column of 0 and 1."""
    predictors = []
    for name in names:
        column = frame[name]
        if column.dtype.is_numeric() and column.dtype != pl.Boolean and column.n_unique() > _MANY:
            number = column.cast(pl.Float64).fill_nan(None)
            predictors += [number.fill_null(number.median() or 0).to_numpy(), number.is_null().to_numpy().astype(float)]
            continue
        cells = texts(column).fill_null("\0")
        values = cells.unique().sort().to_list()
        if len(values) <= _MANY:
            predictors += [(cells == value).to_numpy().astype(float) for value in values]
        else:
            predictors.append(cells.rank("dense").to_numpy().astype(float))
    return np.column_stack(predictors)


def _repeats(frame: pl.DataFrame, drawn_frame: pl.DataFrame) -> tuple[NDArray[np.bool_], int]:
    """Which new records repeat a combination that is unique in the file, and how many are unique there."""
    names = frame.columns
    file_texts = frame.select(texts(frame[name]).fill_null("\0").alias(name) for name in names)
    unique_rows = file_texts.filter(pl.struct(names).is_unique()).with_columns(naysay_alone=pl.lit(value=True))
    drawn_texts = drawn_frame.select(texts(drawn_frame[name]).fill_null("\0").alias(name) for name in names)
    met = drawn_texts.join(unique_rows, on=names, how="left", maintain_order="left")["naysay_alone"].fill_null(
        value=False
    )
    return met.to_numpy(), unique_rows.height


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
