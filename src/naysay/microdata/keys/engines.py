"""Tables that live on DuckDB or Spark: encoded, counted and matched there; only results are collected."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.candidates import Form
from naysay.microdata.keys.cells import CellSet
from naysay.microdata.keys.table import Table, check_names
from naysay.microdata.keys.tuples import Tuples

__all__ = ["COUNT", "WEIGHT", "DuckDB", "Engine", "Remote", "Spark", "encoded", "engine_for"]

Frame = nw.LazyFrame[Any]


class Engine(ABC):
    """A place where tables live and are computed on."""

    name: str

    @abstractmethod
    def lift(self, table: pl.DataFrame, like: dict[str, str] | None = None) -> Frame:
        """A small table of ours on the engine; `like` names columns of the data whose types to take."""

    @abstractmethod
    def kept(self, frame: Frame) -> Frame:
        """The frame, computed once and kept on the engine."""

    @abstractmethod
    def collected(self, frame: Frame) -> pl.DataFrame:
        """The rows of a result."""


@dataclass(frozen=True, eq=False)
class DuckDB(Engine):
    """A relation of DuckDB; what is kept becomes a temporary table of its connection."""

    native: Any
    name = "duckdb"

    def lift(self, table: pl.DataFrame, like: dict[str, str] | None = None) -> Frame:
        naysay_table = table.to_arrow()  # DuckDB finds it by this name
        return self._made("SELECT * FROM naysay_table", self.native, naysay_table)

    def kept(self, frame: Frame) -> Frame:
        return self._made("SELECT * FROM naysay_source", frame.to_native(), None)

    def _made(self, query: str, native: Any, naysay_table: Any) -> Frame:
        made = f"naysay_{secrets.token_hex(8)}"
        native.query("naysay_source", f"CREATE TEMP TABLE {made} AS {query}")
        result: Frame = nw.from_native(native.query("naysay_source", f"SELECT * FROM {made}"))
        return result

    def collected(self, frame: Frame) -> pl.DataFrame:
        native: pl.DataFrame = frame.to_native().pl()
        return native


@dataclass(frozen=True, eq=False)
class Spark(Engine):
    """A Spark dataframe; what is kept is persisted in its session."""

    native: Any
    name = "spark"

    def lift(self, table: pl.DataFrame, like: dict[str, str] | None = None) -> Frame:
        from pyspark.sql import types

        kinds: dict[Any, Any] = {pl.Int64: types.LongType(), pl.Int32: types.LongType(), pl.Float64: types.DoubleType()}
        theirs = {name: self.native.schema[source].dataType for name, source in (like or {}).items()}
        fields = [
            types.StructField(name, theirs.get(name) or kinds[type(kind)], nullable=True)
            for name, kind in table.schema.items()
        ]
        made: Frame = nw.from_native(self.native.sparkSession.createDataFrame(table.rows(), types.StructType(fields)))
        return made

    def kept(self, frame: Frame) -> Frame:
        persisted: Frame = nw.from_native(frame.to_native().persist())
        return persisted

    def collected(self, frame: Frame) -> pl.DataFrame:
        native = frame.to_native()
        columns: Sequence[tuple[Any, ...]] = [tuple(row) for row in native.collect()]
        return pl.DataFrame(columns, schema=native.columns, orient="row", infer_schema_length=None)


def engine_for(name: str, native: Any) -> Engine:
    """The engine of that name, for a table that lives there."""
    if name == "duckdb":
        return DuckDB(native)
    if name == "spark":
        return Spark(native)
    raise DataError(
        f"keys are read from frames in memory, from polars, DuckDB and Spark; this one is lazy on {name}: collect it"
        " first, or write it to Parquet and scan that"
    )


Under = Callable[[NDArray[Any], CellSet], tuple[NDArray[Any], CellSet]]
"""A policy for missing cells, applied to codes and cells."""

AMOUNT, COUNT, WEIGHT = "naysay_amount", "naysay_count", "naysay_weight"
_MOST = 300_000_000  # tuples in memory
_RAW, _VALUE = "naysay_raw_{}", "naysay_value"


def digit(place: int) -> str:
    """The column of a variable's cell."""
    return f"naysay_cell_{place}"


@dataclass(frozen=True, eq=False)
class Remote:
    """Rows with their cell numbers, and the distinct tuples, on an engine.

    Parameters
    ----------
    engine : Engine
    rows : lazy frame
        The table with one column of cell numbers for each variable.
    source : lazy frame
        What the distinct tuples are counted from: the rows, or the tuples of more variables.
    places : tuple of int
        Which columns of cell numbers are the variables in use.
    weighted : bool
    """

    engine: Engine
    rows: Frame
    source: Frame
    places: tuple[int, ...]
    weighted: bool

    def only(self, places: Sequence[int]) -> Remote:
        """Some of the variables."""
        chosen = tuple(self.places[place] for place in places)
        return replace(self, source=self.tally, places=chosen)

    @cached_property
    def tally(self) -> Frame:
        """Distinct tuples with the number of their respondents and the sum of their weights, counted when needed."""
        return self.engine.kept(_tally(self.source, self.places, weighted=self.weighted))

    def collect(self, sizes: Sequence[int]) -> Tuples:
        """The distinct tuples, in lexicographic order.

        Raises
        ------
        DataError
            More of them than memory holds.
        """
        distinct = int(self.engine.collected(self.tally.select(nw.col(COUNT).count().alias(COUNT)))[COUNT][0])
        if distinct > _MOST:
            raise DataError(
                f"{distinct:,} distinct tuples are too many to collect from {self.engine.name}; ask for"
                " algorithm='join', by which it counts their matches itself, or coarsen the keys"
            )
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
) -> tuple[Remote, list[CellSet]]:
    """The table encoded and counted on its engine, and the cells of each variable.

    `asked` holds for each variable its name, how it is written, and a function that applies its policy to cells and
    codes.
    """
    engine, frame = engine_for(name, data), nw.from_native(data)
    known = frame.collect_schema().names()
    if not len(engine.collected(frame.head(1))):
        raise DataError("at least one respondent is needed; the table has no rows")
    cells = []
    source = frame
    for place, each in enumerate(asked):
        check_names(each[1].columns(each[0]), known)
        frame, own = _coded(engine, source, frame, each, digit(place))
        cells.append(own)
    if weights is not None:
        check_names([weights], known)
        frame = _weighed(engine, frame, weights)
    return Remote(engine, frame, frame, tuple(range(len(cells))), weights is not None), cells


def _tally(frame: Frame, places: Sequence[int], *, weighted: bool) -> Frame:
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
            f"sampling weights must be positive numbers; column {weights!r} holds one that is not",
            column=weights,
            value=bad[weights][0],
        )
    return frame.with_columns(value.alias(WEIGHT))


def _coded(
    engine: Engine, source: Frame, frame: Frame, asked: tuple[str, Form, Under], out: str
) -> tuple[Frame, CellSet]:
    """The frame with the cell numbers of a variable, looked up in a table of the distinct raw cells of the source."""
    variable, form, under = asked
    columns = form.columns(variable)
    distinct = engine.collected(source.select(*columns).unique())
    codes, cells = under(*form.read(Table.of(distinct), variable))
    known = distinct.with_columns(pl.Series(out, np.asarray(codes, np.int64)))
    if len(columns) == 1:
        (column,) = columns
        null = known.filter(pl.col(column).is_null())[out]
        table = known.filter(pl.col(column).is_not_null())
        return _looked_up(engine, frame, column, table, out, null=int(null[0]) if len(null) else 0), cells
    wide, numbers = frame, [_RAW.format(place) for place in range(len(columns))]
    for column, number in zip(columns, numbers, strict=True):
        values = distinct[column].drop_nulls().unique()
        table = pl.DataFrame({column: values, number: pl.int_range(1, len(values) + 1, eager=True)})
        known = known.join(table, on=column, how="left").with_columns(pl.col(number).fill_null(0))
        wide = _looked_up(engine, wide, column, table, number, null=0)
    joined = wide.join(engine.lift(known.select(*numbers, out)), on=numbers, how="inner")
    return joined.select(*frame.collect_schema().names(), out), cells


def _looked_up(engine: Engine, frame: Frame, column: str, table: pl.DataFrame, out: str, *, null: int) -> Frame:
    """The frame with what a table says of each value of a column; joins leave nulls alone, so they are told apart."""
    lifted = engine.lift(table.rename({column: _VALUE}), {_VALUE: column})
    joined = frame.join(lifted, left_on=column, right_on=_VALUE, how="left")
    return joined.select(*frame.collect_schema().names(), nw.col(out).fill_null(null).cast(nw.Int64).alias(out))
