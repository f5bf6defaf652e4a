"""Tables of users as frames of polars, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import narwhals as nw
import polars as pl

from naysay.errors import DataError
from naysay.frames import is_frame

__all__ = ["alike", "opened", "texts"]


def opened(table: Any) -> tuple[pl.DataFrame, Callable[[pl.DataFrame], Any]]:
    """The table in memory, and a function that gives a frame the kind that the table has.

    Raises
    ------
    DataError
        No table, one without rows, or columns of different length.
    """
    if isinstance(table, pl.LazyFrame):
        frame, back = table.collect(engine="streaming"), lambda found: found
    elif isinstance(table, pl.DataFrame):
        frame, back = table, lambda found: found
    elif isinstance(table, Mapping):
        lengths = {str(name): len(cells) for name, cells in table.items()}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name}: {length}" for name, length in lengths.items())
            raise DataError(f"columns must be equally long; got {shown}")
        frame = pl.DataFrame({str(name): pl.Series(str(name), list(cells)) for name, cells in table.items()})
        back = lambda found: found.to_dict(as_series=False)  # noqa: E731
    elif is_frame(table):
        eager = nw.from_native(table, eager_only=True)
        kind = eager.implementation
        frame = eager.to_polars()
        back = lambda found: nw.from_arrow(found, backend=kind).to_native()  # noqa: E731
    else:
        raise DataError(f"a dataframe, or a mapping of columns, is needed; got {type(table).__name__}")
    if not frame.height:
        raise DataError("at least one record is needed; the table has no rows")
    return frame, back


def texts(column: pl.Series) -> pl.Series:
    """A column as texts, 1.0 as ``1``, and empty texts as gaps; lists as they are."""
    if column.dtype.is_nested():
        return column
    if column.dtype.is_float():
        known = column.fill_nan(None)
        if bool(((known == known.round(0)) & (known.abs() < 2**53)).all()):
            return known.cast(pl.Int64).cast(pl.String)
    found = column.cast(pl.String)
    return found.set(found == "", None)


def alike(one: pl.Series, other: pl.Series) -> pl.Series:
    """Where two columns hold the same, gaps included."""
    if one.dtype == other.dtype and one.dtype.is_nested():
        return pl.Series(one.to_list(), dtype=pl.Object) == pl.Series(other.to_list(), dtype=pl.Object)
    return texts(one).eq_missing(texts(other))
