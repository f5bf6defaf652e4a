"""Columns left out of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from naysay.errors import DataError
from naysay.microdata.protect.log import Done
from naysay.microdata.protect.method import Method
from naysay.microdata.protect.numbers import several

__all__ = ["Drop", "naming"]


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
    foretold: ClassVar[bool] = True
    columns: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "leaving out"))

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
    >>> naming(pl.DataFrame({"id": [1, 2, 3], "age": [36, 36, 40], "weight": [0.5, 0.7, 1.1]}))
    ['id']
    """
    found = []
    for column in frame:
        known = column.drop_nulls()
        whole = not column.dtype.is_float() or bool((known == known.round(0)).all())
        if whole and not column.dtype.is_nested() and len(known) > 1 and known.n_unique() == len(known):
            found.append(column.name)
    return found
