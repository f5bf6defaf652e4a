"""Tables of users as frames of polars, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import narwhals as nw
import polars as pl

from naysay.errors import DataError
from naysay.frames import is_frame
from naysay.microdata.keys.table import texts_of_values


def opened(table: Any) -> tuple[pl.DataFrame, Callable[[pl.DataFrame], Any]]:
    """The table in memory, and a function that gives a frame the kind that the table has.

    Raises
    ------
    DataError
        No table, one without rows, or columns of different length.
    """
    if isinstance(table, pl.LazyFrame):
        frame, back = table.collect(engine="streaming"), lambda result_frame: result_frame
    elif isinstance(table, pl.DataFrame):
        frame, back = table, lambda result_frame: result_frame
    elif isinstance(table, Mapping):
        lengths = {str(name): len(cells) for name, cells in table.items()}
        if len(set(lengths.values())) > 1:
            lengths_text = ", ".join(f"{name}: {length}" for name, length in lengths.items())
            raise DataError(f"columns must be equally long; got {lengths_text}")
        frame = pl.DataFrame([_column(str(name), list(cells)) for name, cells in table.items()])
        back = lambda result_frame: result_frame.to_dict(as_series=False)  # noqa: E731
    elif is_frame(table):
        eager = nw.from_native(table, eager_only=True)
        kind = eager.implementation
        frame = eager.to_polars()
        back = lambda result_frame: nw.from_arrow(result_frame, backend=kind).to_native()  # noqa: E731
    else:
        raise DataError(f"a dataframe, or a mapping of columns, is needed; got {type(table).__name__}")
    if not frame.height:
        raise DataError("at least one record is needed; the table has no rows")
    return frame, back


def texts(column: pl.Series) -> pl.Series:
    """A column as texts, 1.0 as ``1``, and empty texts as gaps; lists as they are."""
    if column.dtype.is_nested() or column.dtype.is_float():
        return texts_of_values(column)
    cell_texts = column.cast(pl.String)
    return cell_texts.set(cell_texts == "", None)


def alike(first_column: pl.Series, second_column: pl.Series) -> pl.Series:
    """Where two columns hold the same values, gaps included: 53 and 53.0 are the same, a list and a text are not."""
    if first_column.dtype.is_nested() or second_column.dtype.is_nested():
        pairs = zip(first_column.to_list(), second_column.to_list(), strict=True)
        return pl.Series([mine == theirs for mine, theirs in pairs], dtype=pl.Boolean)
    return texts_of_values(first_column).eq_missing(texts_of_values(second_column))


def keyed(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """The frame with measures that are not whole as texts: after noise or coding, equal ones still are one value."""
    measures = [name for name in names if name in frame.columns and frame[name].dtype.is_float()]
    filled_cells = {name: frame[name].fill_nan(None).drop_nulls() for name in measures}
    return frame.with_columns(
        texts_of_values(frame[name]).alias(name)
        for name in measures
        if (filled_cells[name] != filled_cells[name].round(0)).any()
    )


def _column(name: str, cells: list[Any]) -> pl.Series:
    """A column of plain Python values; whole numbers among others are numbers like them."""
    try:
        return pl.Series(name, cells)
    except (TypeError, pl.exceptions.PolarsError):
        if all(cell is None or isinstance(cell, int | float) for cell in cells):
            return pl.Series(name, cells, dtype=pl.Float64, strict=False)
        kinds = ", ".join(dict.fromkeys(type(cell).__name__ for cell in cells if cell is not None))
        complaint = f"column {name!r} holds values of several kinds ({kinds}); write all of them as one kind"
        raise DataError(complaint, column=name) from None
