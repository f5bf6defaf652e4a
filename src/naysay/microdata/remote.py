"""Keys of a table that lives on a lazy engine: encoded, counted and matched there; only results are collected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.candidates import Form
from naysay.microdata.cells import Cells
from naysay.microdata.engines import Engine, Frame, engine_for
from naysay.microdata.relational import AMOUNT, digit
from naysay.microdata.table import Table, check_names
from naysay.microdata.tuples import Tuples

__all__ = ["COUNT", "WEIGHT", "Remote", "encoded"]

Under = Callable[[NDArray[Any], Cells], tuple[NDArray[Any], Cells]]
"""A policy for missing cells, applied to codes and cells."""

COUNT, WEIGHT = "naysay_count", "naysay_weight"
_RAW = "naysay_raw_{}"


@dataclass(frozen=True, eq=False)
class Remote:
    """Rows with their cell numbers, and the distinct tuples, on an engine.

    Parameters
    ----------
    engine : Engine
    rows : lazy frame
        The table with one column of cell numbers for each variable.
    tally : lazy frame
        Distinct tuples with the number of their respondents, and the sum of their weights.
    places : tuple of int
        Which columns of cell numbers are the variables in use.
    weighted : bool
    """

    engine: Engine
    rows: Frame
    tally: Frame
    places: tuple[int, ...]
    weighted: bool

    def only(self, places: Sequence[int]) -> Remote:
        """Some of the variables."""
        chosen = tuple(self.places[place] for place in places)
        return replace(self, tally=self.engine.kept(_tally(self.tally, chosen, self.weighted)), places=chosen)

    def collect(self, sizes: Sequence[int]) -> Tuples:
        """The distinct tuples, in lexicographic order."""
        table = self.engine.collected(self.tally)
        names = [digit(place) for place in self.places]
        table = table.sort(names)
        columns = tuple(
            table[name].to_numpy().astype(np.min_scalar_type(size)) for name, size in zip(names, sizes, strict=True)
        )
        weight = table[WEIGHT].to_numpy().astype(np.float64) if self.weighted else None
        return Tuples(columns, tuple(sizes), table[COUNT].to_numpy().astype(np.int64), weight)

    def file(self, *, weighted: bool) -> Frame:
        """The distinct tuples as the algebra wants them: digits in order and an amount."""
        amount = nw.col(WEIGHT if weighted else COUNT).alias(AMOUNT)
        cells = (nw.col(digit(place)).alias(digit(number)) for number, place in enumerate(self.places))
        return self.tally.select(*cells, nw.col(COUNT), amount)


def encoded(
    data: Any, name: str, asked: Iterable[tuple[str, Form, Under]], weights: str | None
) -> tuple[Remote, list[Cells]]:
    """The table encoded and counted on its engine, and the cells of each variable.

    `asked` holds for each variable its name, how it is written, and a function that applies its policy to cells and
    codes.
    """
    engine, frame = engine_for(name, data), nw.from_native(data)
    known = frame.collect_schema().names()
    if not len(engine.collected(frame.head(1))):
        raise DataError("at least one respondent is needed; the table has no rows")
    cells = []
    for place, (variable, form, under) in enumerate(asked):
        check_names(form.columns(variable), known)
        frame, own = _coded(engine, frame, variable, form, digit(place), under)
        cells.append(own)
    if weights is not None:
        check_names([weights], known)
        frame = _weighed(engine, frame, weights)
    tally = engine.kept(_tally(frame, range(len(cells)), weights is not None))
    return Remote(engine, frame, tally, tuple(range(len(cells))), weights is not None), cells


def _tally(frame: Frame, places: Sequence[int], weighted: bool) -> Frame:  # noqa: FBT001 (private)
    if COUNT not in frame.collect_schema().names():
        frame = frame.with_columns(nw.lit(1).cast(nw.Int64).alias(COUNT))
    sums = [nw.col(COUNT).sum().cast(nw.Int64), *([nw.col(WEIGHT).sum()] if weighted else [])]
    return frame.group_by(*(digit(place) for place in places)).agg(*sums)


def _weighed(engine: Engine, frame: Frame, weights: str) -> Frame:
    value = nw.col(weights).cast(nw.Float64)
    wrong = value.is_null() | value.is_nan() | ~value.is_finite() | (value <= 0)
    bad = engine.collected(frame.filter(wrong).select(weights).head(1))
    if len(bad):
        raise DataError(
            f"sampling weights must be positive; column {weights!r} holds {bad[weights][0]}", column=weights
        )
    return frame.with_columns(value.alias(WEIGHT))


def _coded(engine: Engine, frame: Frame, variable: str, form: Form, out: str, under: Under) -> tuple[Frame, Cells]:
    """The frame with the cell numbers of a variable, looked up in a table of its distinct raw cells."""
    columns = form.columns(variable)
    numbered, values = frame, {}
    for number, column in enumerate(columns):
        numbered, values[column] = _numbered(engine, numbered, column, _RAW.format(number))
    raw = [_RAW.format(number) for number in range(len(columns))]
    distinct = engine.collected(numbered.select(*raw).unique())
    cells_raw = {
        column: known.gather(distinct[name]) for (column, known), name in zip(values.items(), raw, strict=True)
    }
    codes, cells = under(*form.read(Table.of(pl.DataFrame(cells_raw)), variable))
    table = distinct.select(pl.col(raw).cast(pl.Int64)).with_columns(pl.Series(out, np.asarray(codes, np.int64)))
    joined = numbered.join(engine.lift(table), on=raw, how="inner")
    return joined.select(*frame.collect_schema().names(), out), cells


def _numbered(engine: Engine, frame: Frame, column: str, out: str) -> tuple[Frame, pl.Series]:
    """The frame with a number for each distinct value of a column, 0 for null, and the values by their number."""
    values = engine.collected(frame.select(column).unique())[column].drop_nulls()
    table = pl.DataFrame({f"{out}_value": values, out: pl.int_range(1, len(values) + 1, eager=True)})
    lifted = engine.lift(table, {f"{out}_value": column})
    joined = frame.join(lifted, left_on=column, right_on=f"{out}_value", how="left")
    number = nw.col(out).fill_null(0).cast(nw.Int64).alias(out)
    kept = [name for name in frame.collect_schema().names() if name != out]
    null = pl.Series(column, [None], dtype=values.dtype)
    return joined.select(*kept, number), null.append(values)
