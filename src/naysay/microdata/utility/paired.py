"""An original file and a release of it, variable by variable, in words that both share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.attack.register import frame_of, joined, recoding, texts
from naysay.microdata.keys.table import check_names
from naysay.microdata.keys.variables import positive

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_FEW = 20  # distinct numbers up to which each is a category of its own
_BINS = 10  # of about equally many people, for numbers with more distinct values


def _numeric(series: pl.Series) -> bool:
    return series.dtype.is_numeric()


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
        return _numeric(self.before)

    @classmethod
    def of(cls, before: pl.Series, after: pl.Series, recoded: Mapping[str, str] | None) -> Variable:
        """The categories of a variable, and what its released values say about them."""
        numbers = _numeric(before) and before.n_unique() > _FEW
        leaves = before.drop_nulls().unique().sort()
        names = texts(leaves).to_list()
        if numbers and recoded is None and _numeric(after):
            cuts, labels = _bins(before)
            x, y = _bin_codes(before, cuts), _bin_codes(after, cuts)
            return cls(before.name, before, after, x, y, np.eye(len(labels)), labels, labels)
        released_texts = texts(after)
        released = released_texts.drop_nulls().unique().sort().to_list()
        parent = recoded or {}
        place = {name: number for number, name in enumerate(released)}
        coverage = np.zeros((len(released), len(names)))
        for column, name in enumerate(names):
            row = place.get(parent.get(name, name))
            if row is not None:
                coverage[row, column] = 1.0
        extra_values = [
            name for name, row in place.items() if not coverage[row].any()
        ]  # values that the original does not have
        labels = tuple(names)
        if numbers:
            cuts, labels = _bins(before)
            coverage = coverage @ np.eye(len(labels))[_bin_codes(leaves, cuts)]
        if extra_values:
            coverage = np.hstack([coverage, np.eye(len(released))[:, [place[name] for name in extra_values]]])
            labels = (*labels, *extra_values)
        spread = coverage / coverage.sum(axis=1, keepdims=True)
        x = _bin_codes(before, cuts) if numbers else _codes_of(texts(before), names)
        y = _codes_of(released_texts, released)
        return cls(before.name, before, after, x, y, spread, labels, tuple(released), recoded)

    @cached_property
    def alike(self) -> tuple[Places, Places, tuple[str, ...]]:
        """Categories of both files at the level of the release, -1 for gaps, and their labels."""
        if self.recoded is None:
            category_of = np.append(self.spread.argmax(axis=1) if len(self.spread) else [], -1).astype(np.int64)
            return self.x, category_of[self.y], self.labels  # -1 finds the last, which stays a gap
        parent = texts(self.before).replace(dict(self.recoded))
        labels = sorted({*parent.drop_nulls().unique().to_list(), *self.released})
        return _codes_of(parent, labels), _codes_of(texts(self.after), labels), tuple(labels)

    @cached_property
    def numbers(self) -> tuple[Floats, Floats]:
        """Cells of both files as numbers, NaN where missing; a recoded value is the mean of the values it covers."""
        x = self.before.cast(pl.Float64).to_numpy()
        if self.recoded is None:
            return x, self.after.cast(pl.Float64, strict=False).to_numpy()
        under: dict[str, list[float]] = {}
        leaves = self.before.drop_nulls().unique()
        for value, name in zip(leaves.cast(pl.Float64).to_list(), texts(leaves).to_list(), strict=True):
            under.setdefault(self.recoded.get(name, name), []).append(value)
        middle = {name: float(np.mean(values)) for name, values in under.items()}
        return x, texts(self.after).replace_strict(middle, default=None, return_dtype=pl.Float64).to_numpy()


def _codes_of(series: pl.Series, names: Sequence[str]) -> Places:
    numbers = pl.int_range(0, len(names), eager=True)
    return series.replace_strict(
        pl.Series(names, dtype=pl.String), numbers, default=-1, return_dtype=pl.Int64
    ).to_numpy()


def _bins(series: pl.Series) -> tuple[Floats, tuple[str, ...]]:
    """Inner limits of bins of about equally many people, and the bins' names."""
    numbers = series.drop_nulls().cast(pl.Float64).to_numpy()
    cuts = np.unique(np.quantile(numbers, np.arange(1, _BINS) / _BINS))
    cuts = cuts[cuts < numbers.max()]
    ends = [f"{value:.6g}" for value in cuts]
    middle = [f"above {low} to {high}" for low, high in pairwise(ends)]
    return cuts, (f"up to {ends[0]}", *middle, f"above {ends[-1]}") if ends else ("any",)


def _bin_codes(series: pl.Series, cuts: Floats) -> Places:
    numbers = series.cast(pl.Float64, strict=False).to_numpy()
    return np.where(np.isnan(numbers), -1, np.searchsorted(cuts, numbers, side="left"))


def cells_as_labels(series: pl.Series, labels: Sequence[str]) -> pl.Series:
    """Cells as the labels of a design; a file may write the number 1 as 1 or as 1.0."""
    whole = {str(int(float(label))): label for label in labels if re.fullmatch(r"-?\d+\.0+", label)}
    return texts(series).replace(whole)


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
        before: Any,
        after: Any,
        *,
        variables: Sequence[str] | None = None,
        identity: str | None = None,
        synthetic: bool = False,
        weights: str | None = None,
    ) -> Pair:
        """Both files, checked; by default with all variables that both have, besides names and weights."""
        first, second = frame_of(before, what="the original"), frame_of(after, what="the release")
        rows = None if synthetic else joined(first, second, identity)
        apart = {identity, weights}
        shared = [name for name in first.columns if name in second.columns and name not in apart]
        if variables is not None:
            check_names(variables, first.columns)
            check_names(variables, second.columns, what="column of the release")
            shared = list(dict.fromkeys(variables))
        if not shared:
            raise DataError(f"the files share no variable; the release has {_checks.listing_text(second.columns)}")
        file_weights = [_weights(frame, weights) for frame in (first, second)]
        return cls(
            first,
            second,
            tuple(_variable(first, second, name, rows) for name in shared),
            rows,
            (file_weights[0], file_weights[1]),
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
    coarser = None if rows is None else recoding(before[name][rows[0]], after[name][rows[1]])
    return Variable.of(before[name], after[name], coarser)


def _weights(frame: pl.DataFrame, name: str | None) -> Floats:
    if name is None:
        return np.ones(frame.height)
    check_names([name], frame.columns)
    try:
        return positive(frame[name].cast(pl.Float64).to_numpy(), frame.height)
    except pl.exceptions.PolarsError:
        raise DataError(f"sampling weights must be numbers; column {name!r} is not", column=name) from None
