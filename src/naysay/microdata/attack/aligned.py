"""Two files of the same people: their cells in one writing, which rows belong together, what was recoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.table import check_names

__all__ = ["frame_of", "joined", "recoding", "texts"]

Places = NDArray[np.int64]


def frame_of(data: Any, *, what: str) -> pl.DataFrame:
    """Any table in memory as a polars frame; empty texts and NaN are missing, categories are texts."""
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
    if isinstance(data, Mapping):
        data = pl.DataFrame({name: list(cells) for name, cells in data.items()}, strict=False)
    if not isinstance(data, pl.DataFrame):
        try:
            data = pl.DataFrame(data)
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            raise DataError(f"{what} must be a table, such as a dataframe; got {type(data).__name__}") from None
    if not data.height:
        raise DataError(f"{what} has no rows; a file of at least one person is needed")
    kinds = pl.selectors
    table: pl.DataFrame = data.with_columns(kinds.categorical().cast(pl.String), kinds.enum().cast(pl.String))
    return table.with_columns(kinds.float().fill_nan(None), kinds.string().replace("", None))


def texts(series: pl.Series) -> pl.Series:
    """Cells as texts: whole numbers without a point, so that 40 in one file is 40.0 in the other."""
    if series.dtype.is_float():
        whole = series.drop_nulls()
        if (whole == whole.round(0)).all() and (whole.abs() < 2**53).all():
            series = series.cast(pl.Int64)
    return series.cast(pl.String)


def joined(before: pl.DataFrame, after: pl.DataFrame, identity: str | None) -> tuple[Places, Places]:
    """Rows of both files that belong to one record: by a column that names records, or by their order.

    Raises
    ------
    DataError
        Names that are missing or stand twice; files of different length without a column of names.
    """
    if identity is None:
        if before.height != after.height:
            raise DataError(
                f"the original has {before.height:,} rows and the release {after.height:,}, so rows do not say which "
                "records belong together; name the column that does (id, --id), or say that records are synthetic"
            )
        return np.arange(before.height), np.arange(after.height)
    names = []
    for frame, what in ((before, "the original"), (after, "the release")):
        check_names([identity], frame.columns)
        own = texts(frame[identity])
        if own.null_count() or own.n_unique() < len(own):
            row = int((own.is_null() | ~own.is_first_distinct()).arg_true()[0])
            told = "is missing" if own[row] is None else "stands twice"
            raise DataError(f"a record's name must be unique; in {what} that of row {row + 1} {told}", row=row)
        names.append(pl.DataFrame({"name": own}).with_row_index(f"row {what}"))
    both = names[0].join(names[1], on="name", maintain_order="left")
    if not both.height:
        raise DataError(f"no name in column {identity!r} stands in both files; is it the right column?")
    return both["row the original"].to_numpy().astype(np.int64), both["row the release"].to_numpy().astype(np.int64)


def recoding(before: pl.Series, after: pl.Series) -> dict[str, str] | None:
    """The released value of each original value, from cells that belong together.

    None unless each original value always becomes one value, and fewer values come out than went in: a recoding. Of
    numbers it must also keep the order, which noise on numbers that all differ does not. Gaps of either say nothing.
    """
    pairs = pl.DataFrame({"x": before, "y": after}).drop_nulls().unique().sort("x")
    one = pairs["x"].n_unique() == pairs.height
    numbers = before.dtype.is_numeric() and after.dtype.is_numeric()
    renamed = not numbers and not texts(pairs["y"]).is_in(texts(pairs["x"]).implode()).all()
    if not one or not (renamed or pairs["y"].n_unique() < pairs.height) or (numbers and not pairs["y"].is_sorted()):
        return None
    return dict(zip(texts(pairs["x"]).to_list(), texts(pairs["y"]).to_list(), strict=True))
