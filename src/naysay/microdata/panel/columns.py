"""Columns of waves: cells of one kind, nulls where nothing is known, and several columns as one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import Table, check_names
from naysay.microdata.panel.months import local

_BETWEEN, _UNKNOWN = "|", "?"


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
        known_cells = [cell for cell in plain if cell is not None]
        numbers = (int, float, np.number)
        kinds = {"number" if isinstance(cell, numbers) else type(cell).__name__ for cell in known_cells}
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
            f"column {name!r} must hold values of one kind{where}; it holds {_checks.listing_text(kinds)}"
            " (make them all texts, or all numbers)",
            column=name,
        )


def cells_at(cells: pl.Series, places: NDArray[np.integer[Any]]) -> pl.Series:
    """The cells at these places, null where a place is -1."""
    at = pl.Series(places, dtype=pl.Int64)
    return cells.gather(at.set(at < 0, None))  # polars would count -1 from the end


def composite(table: Any, columns: Sequence[str], *, missing: Literal["any", "all"] = "any") -> pl.Series:
    """Several columns as one key variable, (n,): whoever knows one part of the answer knows them all.

    For example, seventeen fields of education, each ticked or not, are one variable; its value is the ticked fields.

    Parameters
    ----------
    table : dataframe or mapping of columns, (n,) rows
    columns : sequence of str
        Its parts, in order.
    missing : {"any", "all"}
        "any": the key is missing where any part is, and matches everything there. "all": the key is missing only where
        all parts are; elsewhere a missing part is a value of its own, written ``?``.

    Returns
    -------
    pl.Series of text
        The parts joined by ``|``; a backslash stands before a ``|``, ``?`` or backslash that a part holds itself.

    Raises
    ------
    DataError
        Fewer than two columns, or columns that the table does not have.

    Examples
    --------
    >>> from naysay.microdata import panel
    >>> table = {"law": [1, 0, None], "medicine": [0, 1, 1], "arts": [1, 0, 0]}
    >>> panel.composite(table, ["law", "medicine", "arts"]).to_list()
    ['1|0|1', '0|1|0', None]
    >>> panel.composite(table, ["law", "medicine", "arts"], missing="all").to_list()
    ['1|0|1', '0|1|0', '?|1|0']

    Source: Mulder, section 3.2 (religion, social media, language and educational field).
    """
    if isinstance(columns, str) or len(set(columns)) < 2:
        raise DataError(f"a composite needs two or more columns; got {columns!r}")
    if missing not in ("any", "all"):
        raise DataError(f"a composite is missing where 'any' part is, or where 'all' are; got {missing!r}")
    source = Table.of(table)
    check_names(list(columns), source.names)
    cells = {name: column_of(source, name) for name in columns}
    for name, series in cells.items():
        whole = series.dtype.is_float() and bool((series == series.round(0)).all())  # 1.0 is written as 1
        cells[name] = (series.cast(pl.Int64) if whole else series).cast(pl.String).str.replace_all(r"([\\|?])", r"\$1")
    parts = pl.DataFrame(cells)
    joined = pl.concat_str(pl.col(columns).fill_null(_UNKNOWN), separator=_BETWEEN)
    gone = pl.any_horizontal if missing == "any" else pl.all_horizontal
    return parts.select(pl.when(~gone(pl.col(columns).is_null())).then(joined).alias("composite"))["composite"]
