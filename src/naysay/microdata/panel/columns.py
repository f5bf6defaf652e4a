"""Columns of waves: of one kind, and null where nothing is known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import Table
from naysay.microdata.panel.months import local

__all__ = ["column_of", "in_one", "taken"]


def column_of(table: Table, name: str) -> pl.Series:
    """A column, null where nothing is known: nulls, NaN and empty texts.

    Raises
    ------
    DataError
        A column of Python values of several kinds.
    """
    cells = table.column(name)
    if not isinstance(cells, pl.Series):
        plain = [None if _checks.is_missing(cell) else local(cell) for cell in cells]
        known = [cell for cell in plain if cell is not None]
        numbers = (int, float, np.number)
        kinds = {"number" if isinstance(cell, numbers) else type(cell).__name__ for cell in known}
        _check_one_kind(sorted(kinds), name)
        cells = pl.Series(name, plain, strict=False)
    if cells.dtype.is_float():
        return cells.fill_nan(None)
    if cells.dtype in (pl.Categorical, pl.Enum):
        cells = cells.cast(pl.String)
    return cells.set(cells == "", None) if cells.dtype == pl.String else cells


def in_one(columns: Sequence[pl.Series], name: str) -> pl.Series:
    """The cells of several files under one another."""
    kinds = list(dict.fromkeys(column.dtype for column in columns if column.dtype != pl.Null))
    if not all(kind.is_numeric() for kind in kinds):
        _check_one_kind(kinds, name, " in every wave")
    return pl.concat([pl.DataFrame({name: column}) for column in columns], how="vertical_relaxed")[name]


def _check_one_kind(kinds: Collection[Any], name: str, where: str = "") -> None:
    if len(kinds) > 1:
        raise DataError(
            f"column {name!r} must hold values of one kind{where}; it holds {_checks.shown(kinds)}"
            " (make them all texts, or all numbers)",
            column=name,
        )


def taken(cells: pl.Series, places: NDArray[np.integer[Any]]) -> pl.Series:
    """The cells at these places, null where a place is -1."""
    at = pl.Series(places, dtype=pl.Int64)
    return cells.gather(at.set(at < 0, None))  # polars would count -1 from the end
