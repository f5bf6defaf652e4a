"""Months: how files write them, and how they are counted."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.table import first_row

WAYS = "2009-03, 200903, or a date"
_EARLIEST, _LATEST = 1_000, 9_999
_MONTH, _DATE = r"^(\d{4})-?(\d{2})$", r"^(\d{4}-\d{2}-\d{2})(?:\D.*)?$"


def months_of(cells: pl.Series, *, column: str) -> NDArray[np.int64]:
    """Months since the year 0, (n,), as 12 · year + month − 1.

    Raises
    ------
    DataError
        A cell that is empty or no month, with its row.
    """
    year, month = _parts(cells, column)
    row = first_row((~month.is_between(1, 12) | ~year.is_between(_EARLIEST, _LATEST)).fill_null(value=True))
    if row is not None:
        cell_text = "is empty" if cells[row] in (None, "") else f"holds {str(cells[row])[:40]!r}"
        text = f"every row of a wave needs its month; column {column!r}, row {row + 1}, {cell_text} (write {WAYS})"
        raise DataError(text, row=row, column=column, value=cells[row])
    return (12 * year + month - 1).to_numpy()


def _parts(cells: pl.Series, column: str) -> tuple[pl.Series, pl.Series]:
    """Years and months of the year, null where a cell is no month."""
    if cells.dtype.is_temporal() and cells.dtype not in (pl.Time, pl.Duration):
        return cells.dt.year().cast(pl.Int64), cells.dt.month().cast(pl.Int64)
    if cells.dtype.is_numeric():
        whole = cells.cast(pl.Float64)
        number = whole.set(whole != whole.floor(), None).cast(pl.Int64, strict=False)
        number = number.set(~number.is_between(0, 100 * _LATEST + 99), None)
        return number // 100, number % 100
    if cells.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        texts = cells.cast(pl.String).str.strip_chars()
        days = texts.str.extract(_DATE).str.to_date("%Y-%m-%d", strict=False)  # null for the 30th of February
        month_groups = texts.str.extract_groups(_MONTH).struct
        year, month = (pl.Series(date_part, dtype=pl.Int64) for date_part in (days.dt.year(), days.dt.month()))
        return year.fill_null(month_groups[0].cast(pl.Int64)), month.fill_null(month_groups[1].cast(pl.Int64))
    raise DataError(f"the month of a wave is written as {WAYS}; column {column!r} holds {cells.dtype}", column=column)


def local(value: Any) -> Any:
    """A time as its own clock shows it: in UTC, to which polars moves it, it may lie in another month."""
    return value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value


def one_month(value: Any) -> int:
    """One month, counted like `months_of`."""
    try:
        return int(months_of(pl.Series([local(value)]), column="month")[0])
    except (DataError, TypeError):
        raise DataError(f"a month is written as {WAYS}; got {value!r}", value=value) from None


def month_text(month: int) -> str:
    """A month as 2009-03."""
    return f"{month // 12:04d}-{month % 12 + 1:02d}"


def month_texts(months: Sequence[int] | NDArray[np.int64]) -> pl.Series:
    """Months as 2009-03."""
    return each_once(months, month_text, pl.String())


def each_once(
    numbers: Sequence[int] | NDArray[np.int64], value_of: Callable[[int], Any], kind: pl.DataType
) -> pl.Series:
    """What `value_of` gives for each number; it is called once for each distinct number."""
    distinct, places = np.unique(np.asarray(numbers, np.int64), return_inverse=True)
    return pl.Series(list(map(value_of, distinct.tolist())), dtype=kind).gather(places)
