"""Tables from users, read one column at a time: any eager dataframe, a lazy polars frame, or a mapping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.frames import is_frame
from naysay.responses import cells_of


def engine_of(data: Any) -> str | None:
    """The engine of a lazy table, such as duckdb, spark or dask; None if polars can compute on it."""
    if isinstance(data, Mapping | pl.DataFrame | pl.LazyFrame) or not is_frame(data):
        return None
    frame = nw.from_native(data)
    if not isinstance(frame, nw.LazyFrame):
        return None
    return frame.implementation.name.lower().replace("pyspark_connect", "spark").replace("pyspark", "spark")


def first_row(wrong: pl.Series | NDArray[np.bool_]) -> int | None:
    """The first row for which this is true, counted from 0; None where there is none."""
    rows = pl.Series(wrong).arg_true()
    return int(rows[0]) if len(rows) else None


def check_names(names: Sequence[str], known_names: Sequence[str], *, what: str = "column") -> None:
    """Raise for the first name that the table does not have, and suggest the nearest name that it has."""
    for name in names:
        if name not in known_names:
            raise DataError(_checks.no_column(name, known_names, what=what), column=str(name))


def check_choice(word: str, choices: Sequence[str], *, what: str) -> None:
    """Raise for a word that is not among the few known ones."""
    if word not in choices:
        raise DataError(f"{what} must be one of {_checks.listing_text(choices)}; got {word!r}")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, as polars series where they are of one type and as lists of Python values otherwise."""

    data: Any
    names: tuple[str, ...]
    n: int

    @classmethod
    def of(cls, data: Any) -> Table:
        """The table behind a mapping of columns or a dataframe that polars can hold."""
        if isinstance(data, Mapping):
            columns = {str(name): _cells(values) for name, values in data.items()}
            lengths = {name: len(values) for name, values in columns.items()}
            if len(set(lengths.values())) > 1:
                lengths_text = ", ".join(f"{name}: {length}" for name, length in lengths.items())
                raise DataError(f"columns must be equally long; got {lengths_text}")
            return cls(columns, tuple(columns), next(iter(lengths.values()), 0))
        if isinstance(data, pl.LazyFrame):
            rows = int(data.select(pl.len()).collect(engine="streaming").item())
            return cls(data, tuple(data.collect_schema().names()), rows)
        if not is_frame(data):
            raise DataError(f"a dataframe, or a mapping of columns, is needed; got {type(data).__name__}")
        frame = nw.from_native(data, eager_only=True)
        return cls(frame, tuple(frame.columns), len(frame))

    def column(self, name: str) -> pl.Series | list[Any]:
        """The cells of a column."""
        if isinstance(self.data, dict):
            cells: pl.Series | list[Any] = self.data[name]
            return cells
        if isinstance(self.data, pl.LazyFrame):
            return self.data.select(name).collect(engine="streaming")[name]
        series = self.data[name]
        plain: pl.Series | list[Any] = series.to_list() if series.dtype == nw.Object else series.to_polars()
        return plain


def _cells(values: Any) -> pl.Series | list[Any]:
    """A column of a mapping: a series where its type is plain, otherwise its cells as Python values."""
    if isinstance(values, pl.Series):
        return values
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iufbU":
        masked = isinstance(values, np.ma.MaskedArray)
        return cells_of(values) if masked else pl.Series(values)  # type: ignore[return-value]
    cells = cells_of(values)
    if isinstance(cells, np.ndarray):
        raise DataError(f"a column must hold one cell for each respondent; got an array of shape {cells.shape}")
    return cells


def texts_of_values(column: pl.Series) -> pl.Series:
    """Cells as texts by their value, 53 and 53.0 both as ``53``; empty texts are gaps, and lists stay as they are."""
    if column.dtype.is_nested():
        return column
    if column.dtype.is_float():
        column = column.fill_nan(None)
    texts = column.cast(pl.String).str.replace(r"^(-?\d+)\.0+$", "$1")
    return texts.set(texts == "", None)
