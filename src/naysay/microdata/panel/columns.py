"""Columns of waves: of one kind, and null where nothing is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import Table
from naysay.microdata.panel.months import local

__all__ = ["column_of", "in_one"]


def column_of(table: Table, name: str) -> pl.Series:
    """A column, null where nothing is known: nulls, NaN and empty texts.

    Raises
    ------
    DataError
        A column of Python values of several kinds.
    """
    cells = table.column(name)
    if not isinstance(cells, pl.Series):
        cells = _of_one_kind(cells, name)
    if cells.dtype.is_float():
        return cells.fill_nan(None)
    if cells.dtype in (pl.Categorical, pl.Enum):
        cells = cells.cast(pl.String)
    return cells.set(cells == "", None) if cells.dtype == pl.String else cells


def _of_one_kind(cells: Sequence[Any], name: str) -> pl.Series:
    """Python values as a series, after checking that they are of one kind."""
    plain = [None if _checks.is_missing(cell) else local(cell) for cell in cells]
    kinds = {
        "number" if isinstance(cell, int | float | np.number) else type(cell).__name__
        for cell in plain
        if cell is not None
    }
    if len(kinds) > 1:
        raise DataError(
            f"column {name!r} must hold values of one kind; it holds"
            f" {_checks.shown(sorted(kinds))} (make them all texts, or all numbers)",
            column=name,
        )
    return pl.Series(name, plain, strict=False)


def in_one(columns: Sequence[pl.Series], name: str) -> pl.Series:
    """The cells of several files under one another."""
    kinds = list(dict.fromkeys(column.dtype for column in columns if column.dtype != pl.Null))
    if len(kinds) > 1 and not all(kind.is_numeric() for kind in kinds):
        raise DataError(
            f"column {name!r} must hold values of one kind in every wave; it holds {_checks.shown(kinds)}"
            " (make them all texts, or all numbers)",
            column=name,
        )
    return pl.concat([pl.DataFrame({name: column}) for column in columns], how="vertical_relaxed")[name]
