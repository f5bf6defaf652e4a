"""What links the rows of two files: their order, and the numbers that name them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.microdata.protect.log import Done
from naysay.microdata.protect.method import Method, Random
from naysay.microdata.protect.numbers import several
from naysay.microdata.protect.tables import texts

_FEWEST = 10  # cells from which a column that differs for all names people, and not by chance
_IDENTITY = re.compile(r"(?i)(^|_|\b)(id|nr|no|num|number|pid|person|respondent|case|caseid|key|uuid|index)(_|\d|\b|$)")


@dataclass(frozen=True, kw_only=True)
class Shuffle(Random):
    """Rows in random order.

    In the order of the original, a row is linked with the same row of any other release, and with what somebody saw or
    sorted: the order is a name.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> sorted(protect.Shuffle().apply({"age": [40, 36, 23]})[0]["age"])
    [23, 36, 40]
    """

    name: ClassVar[str] = "shuffle"

    @property
    def foretold(self) -> bool:
        return True

    @property
    def variables(self) -> tuple[str, ...]:
        return ()

    @property
    def promise(self) -> str:
        return "the place of a row tells nothing"

    def done(self, frame: pl.DataFrame) -> Done:
        rows = self.order(frame.height)
        return Done(frame[rows], rows)

    def order(self, rows: int) -> NDArray[np.int64]:
        """The old place of each row, (rows,)."""
        return self.rng().permutation(rows)


@dataclass(frozen=True, kw_only=True)
class Renumber(Method):
    """New numbers in place of the ones that name people or households: 1, 2, … in the order of rows.

    Rows that had one number have one again. After `Shuffle` the new numbers say nothing about the old ones.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> protect.Renumber(columns=["id"]).apply({"id": [907, 311, 907]})[0]
    {'id': [1, 2, 1]}
    """

    name: ClassVar[str] = "renumber"
    columns: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns, "renumbering"))

    @property
    def foretold(self) -> bool:
        return True

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def promise(self) -> str:
        return "old numbers, which other files have, are gone"

    def done(self, frame: pl.DataFrame) -> Done:
        return Done(frame.with_columns(_number_values(frame[name]) for name in self.columns))


def numbers_of_people(frame: pl.DataFrame, names: Iterable[str]) -> list[str]:
    """Those of some columns that differ for all, and are numbers or codes of people rather than measures or words.

    Whole numbers are such if they leave few gaps, or if the column is called so; texts if they hold no blank.

    Examples
    --------
    >>> frame = pl.DataFrame(
    ...     {"id": range(20), "income": range(0, 20_000, 1_000), "mail": [f"{i}@x.org" for i in range(20)]}
    ... )
    >>> numbers_of_people(frame, frame.columns)
    ['id', 'mail']
    """
    numbering_columns = []
    for name in names:
        cells = frame[name].drop_nulls()
        if (
            len(cells) < _FEWEST
            or 2 * len(cells) < frame.height
            or cells.dtype.is_temporal()
            or cells.dtype.is_nested()
        ):
            continue
        number = cells.cast(pl.Float64, strict=False)
        if number.has_nulls():
            code = not texts(cells).str.contains(r"\s").any()
        else:
            code = bool(number.max() - number.min() < 2 * len(cells)) or _IDENTITY.search(name) is not None  # type: ignore[operator]
        numbering_columns += [name] if code else []
    return numbering_columns


def _number_values(column: pl.Series) -> pl.Series:
    """Numbers in the order in which values come first, as texts where the column held texts; gaps stay."""
    cells = texts(column)
    order = cells.drop_nulls().unique(maintain_order=True).to_list()
    kind = pl.String if column.dtype in (pl.String, pl.Enum, pl.Categorical) else pl.Int64
    numbers = pl.Series(range(1, len(order) + 1), dtype=pl.Int64).cast(kind)
    return cells.replace_strict(order, numbers, default=None, return_dtype=kind).alias(column.name)
