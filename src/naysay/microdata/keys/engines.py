"""Tables on DuckDB or Spark. They are encoded, counted and matched there, and only results are collected."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from naysay.errors import DataError
from naysay.microdata.keys.cells import CellSet
from naysay.microdata.keys.codes import Form
from naysay.microdata.keys.table import Table, check_names
from naysay.microdata.keys.tuples import Tuples

Frame = nw.LazyFrame[Any]

KeySpec = tuple[str, Form, str]
"""A key variable to be read: its name, how it is written, and the policy for its missing cells."""


@dataclass(frozen=True, eq=False)
class DuckDB:
    """A relation of DuckDB; what is kept becomes a temporary table of its connection."""

    native: Any
    name = "duckdb"

    def lift(self, table: pl.DataFrame, like: dict[str, str] | None = None) -> Frame:
        """A small table from memory on the engine; `like` names the columns of the data whose types it takes."""
        return self._temporary_table("SELECT * FROM naysay_table", self.native, table.to_arrow())

    def persist(self, frame: Frame) -> Frame:
        """The frame, computed once and kept on the engine."""
        return self._temporary_table("SELECT * FROM naysay_source", frame.to_native(), None)

    def _temporary_table(self, query: str, native: Any, naysay_table: Any) -> Frame:
        # DuckDB finds `naysay_table` by the name of the parameter: do not rename it.
        table_name = f"naysay_{secrets.token_hex(8)}"  # one connection may hold the tables of several keys
        native.query("naysay_source", f"CREATE TEMP TABLE {table_name} AS {query}")
        result: Frame = nw.from_native(native.query("naysay_source", f"SELECT * FROM {table_name}"))
        return result

    def collected(self, frame: Frame) -> pl.DataFrame:
        """The rows of a result."""
        native: pl.DataFrame = frame.to_native().pl()
        return native


@dataclass(frozen=True, eq=False)
class Spark:
    """A Spark dataframe; what is kept is persisted in its session."""

    native: Any
    name = "spark"

    def lift(self, table: pl.DataFrame, like: dict[str, str] | None = None) -> Frame:
        from pyspark.sql import types

        kinds: dict[Any, Any] = {pl.Int64: types.LongType(), pl.Int32: types.LongType(), pl.Float64: types.DoubleType()}
        kinds[pl.String] = types.StringType()
        source_types = {name: self.native.schema[source].dataType for name, source in (like or {}).items()}
        column_types = {name: source_types.get(name) or kinds[type(kind)] for name, kind in table.schema.items()}
        fields = [types.StructField(name, kind, nullable=True) for name, kind in column_types.items()]
        lifted_frame: Frame = nw.from_native(
            self.native.sparkSession.createDataFrame(table.rows(), types.StructType(fields))
        )
        return lifted_frame

    def persist(self, frame: Frame) -> Frame:
        persisted: Frame = nw.from_native(frame.to_native().persist())
        return persisted

    def collected(self, frame: Frame) -> pl.DataFrame:
        native = frame.to_native()
        rows = list(map(tuple, native.collect()))
        return pl.DataFrame(rows, schema=native.columns, orient="row", infer_schema_length=None)


Engine = DuckDB | Spark
"""A place where tables live and are computed on."""


def engine_for(name: str, native: Any) -> Engine:
    """The engine of that name, for a table that lives there."""
    if name not in ("duckdb", "spark"):
        raise DataError(
            f"keys are read from frames in memory, from polars, DuckDB and Spark; this one is lazy on {name}: collect"
            " it first, or write it to Parquet and scan that"
        )
    return DuckDB(native) if name == "duckdb" else Spark(native)


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
        return replace(self, source=self.tally, places=tuple(self.places[place] for place in places))

    @cached_property
    def tally(self) -> Frame:
        """Distinct tuples with the number of their respondents and the sum of their weights, counted when needed."""
        frame = self.source
        if COUNT not in frame.collect_schema().names():
            frame = frame.with_columns(nw.lit(1).cast(nw.Int64).alias(COUNT))
        sums = [nw.col(COUNT).sum().cast(nw.Int64), *([nw.col(WEIGHT).sum()] if self.weighted else [])]
        return self.engine.persist(frame.group_by(*map(digit, self.places)).agg(*sums))

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
        names = [digit(place) for place in self.places]
        table = self.engine.collected(self.tally).sort(names)
        pairs = zip(names, sizes, strict=True)
        columns = tuple(table[name].to_numpy().astype(np.min_scalar_type(size)) for name, size in pairs)
        weight = table[WEIGHT].to_numpy().astype(np.float64) if self.weighted else None
        return Tuples(columns, tuple(sizes), table[COUNT].to_numpy().astype(np.int64), weight)

    def file(self, *, weighted: bool) -> Frame:
        """The distinct tuples in the form that `Algebra` takes: cell numbers in order, and an amount."""
        amount = nw.col(WEIGHT if weighted else COUNT).alias(AMOUNT)
        cells = (nw.col(digit(place)).alias(digit(number)) for number, place in enumerate(self.places))
        return self.tally.select(*cells, nw.col(COUNT), amount)


def encoded(data: Any, name: str, key_specs: Sequence[KeySpec], weights: str | None) -> tuple[Remote, list[CellSet]]:
    """The table encoded and counted on its engine, and the cells of each variable."""
    engine, frame = engine_for(name, data), nw.from_native(data)
    column_names = frame.collect_schema().names()
    if not len(engine.collected(frame.head(1))):
        raise DataError("at least one respondent is needed; the table has no rows")
    cells, source = [], frame
    for place, (variable, form, policy) in enumerate(key_specs):
        check_names(form.columns(variable), column_names)
        distinct = engine.collected(source.select(*form.columns(variable)).unique())
        codes, cell_set = form.read(Table.of(distinct), variable)
        codes, cell_set = cell_set.under(policy, codes)
        numbered_cells = distinct.with_columns(pl.Series(digit(place), np.asarray(codes, np.int64)))
        frame = _with_codes(engine, frame, numbered_cells, form.columns(variable), digit(place))
        cells.append(cell_set)
    if weights is not None:
        check_names([weights], column_names)
        frame = _with_weights(engine, frame, weights)
    return Remote(engine, frame, frame, tuple(range(len(cells))), weights is not None), cells


def _with_weights(engine: Engine, frame: Frame, weights: str) -> Frame:
    value = nw.col(weights).cast(nw.Float64)
    is_wrong = value.is_null() | value.is_nan() | ~value.is_finite() | (value <= 0)
    bad_rows = engine.collected(frame.filter(is_wrong).select(weights).head(1))
    if len(bad_rows):
        message = f"sampling weights must be positive numbers; column {weights!r} holds one that is not"
        raise DataError(message, column=weights, value=bad_rows[weights][0])
    return frame.with_columns(value.alias(WEIGHT))


def _with_codes(
    engine: Engine, frame: Frame, distinct_cells: pl.DataFrame, columns: Sequence[str], code_name: str
) -> Frame:
    """The frame with the cell numbers of a variable, looked up in a table of its distinct raw cells."""
    if len(columns) == 1:
        (column,) = columns
        null = distinct_cells.filter(pl.col(column).is_null())[code_name]
        table = distinct_cells.filter(pl.col(column).is_not_null())
        return _with_entries(engine, frame, column, table, code_name, null=int(null[0]) if len(null) else 0)
    wide_frame, numbers = frame, [_RAW.format(place) for place in range(len(columns))]
    for column, number in zip(columns, numbers, strict=True):
        values = distinct_cells[column].drop_nulls().unique()
        table = pl.DataFrame({column: values, number: pl.int_range(1, len(values) + 1, eager=True)})
        distinct_cells = distinct_cells.join(table, on=column, how="left").with_columns(pl.col(number).fill_null(0))
        wide_frame = _with_entries(engine, wide_frame, column, table, number, null=0)
    joined_frame = wide_frame.join(engine.lift(distinct_cells.select(*numbers, code_name)), on=numbers, how="inner")
    return joined_frame.select(*frame.collect_schema().names(), code_name)


def _with_entries(engine: Engine, frame: Frame, column: str, table: pl.DataFrame, out: str, *, null: int) -> Frame:
    """The frame with the entry of a table for each value of a column.

    A join never matches nulls, so they get a value of their own.
    """
    lifted = engine.lift(table.rename({column: _VALUE}), {_VALUE: column})
    joined_frame = frame.join(lifted, left_on=column, right_on=_VALUE, how="left")
    return joined_frame.select(*frame.collect_schema().names(), nw.col(out).fill_null(null).cast(nw.Int64).alias(out))
