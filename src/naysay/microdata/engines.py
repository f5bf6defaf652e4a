"""Lazy engines: what DuckDB and Spark do in their own ways, so that the rest is one algebra."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import polars as pl

from naysay.errors import DataError

__all__ = ["DuckDB", "Engine", "Spark", "engine_for"]

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
