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
        _checks.whole(self.least, 1, 2**31, what="least")
        if self.rows is not None:
            _checks.whole(self.rows, 1, 2**31, what="rows")

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
        drawn = np.sort(rng.integers(0, frame.height, n))
        place = {self.columns[0]: drawn}
        made = {self.columns[0]: frame[self.columns[0]].gather(drawn)}
        for number, name in enumerate(self.columns[1:], 1):
            before = list(self.columns[:number])
            seen = _encoded(frame, before)
            asked = np.column_stack([_encoded(frame, [each])[place[each]] for each in before])
            place[name] = self._leaves(frame[name], seen, asked, rng)
            made[name] = self._values(frame[name], place[name], rng)
        made_frame = pl.DataFrame([column.alias(name) for name, column in made.items()])
        repeated, unique = _repeated(frame.select(self.columns), made_frame)
        half, twin = _halves(frame.select(self.columns), rng)
        notes = [
            f"{int(repeated.sum()):,} records repeat one of {unique:,} combinations that are unique in the file",
            f"of the {twin:,} unique in one half of the people, {half:,} stand in the other half",
        ]
        left = [name for name in frame.columns if name not in self.columns]
        if left:
            notes.append(f"columns that are not synthesized are left out: {_checks.shown(left)}")
        if self.drop:
            made_frame = made_frame.filter(~pl.Series(repeated))
            notes.append("these records were left out")
        return Done(made_frame, np.zeros(0, np.intp), tuple(notes))

    @staticmethod
    def _check_installed() -> None:
        try:
            importlib.import_module("sklearn")
        except ModuleNotFoundError as error:
            told = f"synthetic records need {error.name}, which is not installed"
            raise DataError(f"{told}; get it with: pip install 'naysay[protect]'") from None

    def _check(self, frame: pl.DataFrame) -> None:
        need = max(2 * self.least, _FEWEST)
        if frame.height < need:
            told = f"synthesis needs {need} records or more, and the file has {frame.height}"
            raise DataError(f"{told}: of so few, the new records would be the people themselves")
        for name in self.columns:
            column = frame[name]
            if column.dtype.is_nested():
                raise DataError(f"{name!r} holds sets of candidates, which trees do not take", column=name)
            whole = not column.dtype.is_float()
            if whole and column.count() > 20 and column.drop_nulls().n_unique() == column.count():
                told = f"{name!r} differs in every record: it is an identifier, and would come back as it is"
                raise DataError(f"{told}; leave it out, or coarsen it", column=name)

    def _leaves(self, column: pl.Series, seen: Floats, asked: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
        """For each new record a record of the file in the same leaf."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        target = texts(column).fill_null("\0").to_numpy()
        number = column.cast(pl.Float64, strict=False).fill_nan(None) if column.dtype.is_numeric() else None
        state = int(rng.integers(2**31))
        if number is not None and column.n_unique() > _MANY and not number.null_count():
            tree: Any = DecisionTreeRegressor(min_samples_leaf=self.least, random_state=state)
            tree.fit(seen, number.to_numpy())
        else:
            tree = DecisionTreeClassifier(min_samples_leaf=self.least, random_state=state)
            with warnings.catch_warnings():  # many categories for few records are no regression
                warnings.simplefilter("ignore", UserWarning)
                tree.fit(seen, target)
        leaf, wanted = tree.apply(seen), tree.apply(asked)
        order = np.argsort(leaf, kind="stable")
        start = np.searchsorted(leaf[order], wanted, side="left")
        stop = np.searchsorted(leaf[order], wanted, side="right")
        found: NDArray[np.intp] = order[start + (rng.random(len(wanted)) * (stop - start)).astype(np.int64)]
        return found

    def _values(self, column: pl.Series, place: NDArray[np.intp], rng: np.random.Generator) -> pl.Series:
        """The values of these records; smoothed ones lie between a value and its neighbor in the file."""
        if not self.smooth or not column.dtype.is_float():
            return column.gather(place)
        values = column.fill_null(float("nan")).to_numpy()
        known = np.unique(values[~np.isnan(values)])
        own = values[place]
        above = known[np.minimum(np.searchsorted(known, own, side="right"), len(known) - 1)]
        above = np.where(above == own, known[max(len(known) - 2, 0)], above)  # the highest has a neighbor below only
        return pl.Series(own + rng.random(len(own)) * (above - own)).fill_nan(None)


def _encoded(frame: pl.DataFrame, names: Sequence[str]) -> Floats:
    """Predictors as numbers: measures as they are, categories of few values each a column of 0 and 1."""
    found = []
    for name in names:
        column = frame[name]
        if column.dtype.is_numeric() and column.dtype != pl.Boolean and column.n_unique() > _MANY:
            number = column.cast(pl.Float64).fill_nan(None)
            found += [number.fill_null(number.median() or 0).to_numpy(), number.is_null().to_numpy().astype(float)]
            continue
        cells = texts(column).fill_null("\0")
        values = cells.unique().sort().to_list()
        if len(values) <= _MANY:
            found += [(cells == value).to_numpy().astype(float) for value in values]
        else:
            found.append(cells.rank("dense").to_numpy().astype(float))
    return np.column_stack(found)


def _repeated(frame: pl.DataFrame, made: pl.DataFrame) -> tuple[NDArray[np.bool_], int]:
    """Which new records repeat a combination that is unique in the file, and how many are unique there."""
    names = frame.columns
    own = frame.select(texts(frame[name]).fill_null("\0").alias(name) for name in names)
    alone = own.filter(pl.struct(names).is_unique()).with_columns(naysay_alone=pl.lit(value=True))
    asked = made.select(texts(made[name]).fill_null("\0").alias(name) for name in names)
    met = asked.join(alone, on=names, how="left", maintain_order="left")["naysay_alone"].fill_null(value=False)
    return met.to_numpy(), alone.height


def _halves(frame: pl.DataFrame, rng: np.random.Generator) -> tuple[int, int]:
    """How many of those unique in one half of the file stand in the other half, and how many are unique there."""
    order = rng.permutation(frame.height)
    one, other = frame[order[: frame.height // 2]], frame[order[frame.height // 2 :]]
    met, unique = _repeated(one, other.unique())
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
    whole = between / m + v.mean() if kind == "partially" else (1 + 1 / m) * between - v.mean()
    return Combined(float(q.mean()), float(whole))
