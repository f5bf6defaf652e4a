"""Columns left out of a release."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from naysay.errors import DataError
from naysay.microdata.protect.log import Done
from naysay.microdata.protect.method import Method
from naysay.microdata.protect.numbers import several

_MOST = 8  # members of a household, on average
_HOUSEHOLD = re.compile(r"(?i)(^|_)(hh|hid|hhid|idhh)(_|\d|$)|house|haus|famil|dwelling|wohnung")


@dataclass(frozen=True, kw_only=True)
class Drop(Method):
    """Columns left out, such as numbers of respondents.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> protect.Drop(columns=["id"]).apply({"id": [1, 2], "age": [36, 40]})[0]
    {'age': [36, 40]}
    """

    name: ClassVar[str] = "drop"
    columns: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "leaving out"))

    @property
    def foretold(self) -> bool:
        return True

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def promise(self) -> str:
        return "nobody learns what is not there"

    def done(self, frame: pl.DataFrame) -> Done:
        if frame.width == len(self.columns):
            raise DataError("no column would be left; leave out fewer")
        return Done(frame.drop(self.columns))


def naming(frame: pl.DataFrame) -> list[str]:
    """The columns that differ for all who have them, measures apart: they name people.

    Examples
    --------
    >>> naming(pl.DataFrame({"id": [1, 2, 3], "age": [36, 36, 40], "weight": ["0.5", "0.7", "1.1"]}))
    ['id']
    """
    naming_columns = []
    for column in frame:
        filled_cells = column.drop_nulls()
        number = (
            filled_cells.cast(pl.Float64, strict=False)
            if filled_cells.dtype.is_float() or filled_cells.dtype == pl.String
            else None
        )
        is_whole = number is None or bool(number.has_nulls() or (number == number.round(0)).all())
        if (
            is_whole
            and not column.dtype.is_nested()
            and len(filled_cells) > 1
            and filled_cells.n_unique() == len(filled_cells)
        ):
            naming_columns.append(column.name)
    return naming_columns


def grouping(frame: pl.DataFrame, keys: Collection[str]) -> list[str]:
    """The columns, no keys, that seem to say which rows are one household.

    Each value stands in a few rows, and these stand next to one another or the name says so.

    Examples
    --------
    >>> grouping(pl.DataFrame({"group": [1, 1, 2, 3, 3, 3], "age": [36, 40, 36, 41, 40, 7]}), ["age"])
    ['group']
    """
    grouping_columns = []
    for column in frame:
        filled_cells = column.drop_nulls()
        if column.name in keys or column.dtype.is_nested() or not len(filled_cells):
            continue
        values = filled_cells.n_unique()
        few = values > 1 and values < len(filled_cells) <= _MOST * values
        if few and (filled_cells.rle_id().max() == values - 1 or _HOUSEHOLD.search(column.name)):
            grouping_columns.append(column.name)
    return grouping_columns
