"""A file as a table of polars, DuckDB or Spark, ready for its keys to be read."""

from __future__ import annotations

import importlib
import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from naysay import files
from naysay.errors import DataError
from naysay.microdata.commands import lines
from naysay.microdata.commands.risk_options import EngineName

__all__ = ["Source"]


@dataclass(frozen=True)
class Source:
    """A file, and which of its columns are read how.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        Those that keys are read from.
    plain : sequence of str
        Those of them that hold one value a cell.
    weight : str, optional
    na : sequence of str
        Cells that mean that nothing is known.
    separator : str
        Between the cells of a CSV file.
    encoding : str, optional
        Of a text file.
    codes : bool
        Whether codes of SPSS and Stata are read instead of their labels.
    """

    path: Path
    columns: Sequence[str]
    plain: Sequence[str]
    weight: str | None
    na: Sequence[str]
    separator: str
    encoding: str | None
    codes: bool

    def frame(self) -> pl.LazyFrame:
        """The columns as a lazy frame.

        Raises
        ------
        DataError
            A file that cannot be read, columns that it does not have, weights that are no numbers, decimal numbers
            among the keys of a text file.
        """
        frame = files.scan(
            self.path,
            separator=self.separator,
            encoding=self.encoding,
            codes=self.codes or [name for name in (self.weight,) if name is not None],
        )
        files.check_columns(frame, self.named)
        frame = frame.select(self.named)
        if self.weight is not None:
            frame = _weighed(frame, self.weight)
        frame = _without(frame, [name for name in self.columns if name != self.weight], self.na)
        schema = frame.collect_schema()
        texts = [name for name in self.plain if schema[name] == pl.String]
        objects = [name for name in self.plain if isinstance(schema[name], pl.Struct)]
        if objects:
            raise DataError(f"a key must hold values, or lists of them; {objects[0]!r} holds {schema[objects[0]]}")
        if files.kind(self.path) == "csv":
            numbers = [name for name in self.columns if schema[name] == pl.String]
            frame = _as_whole(frame, numbers, texts, "," if self.separator == ";" else ".")
        elif files.kind(self.path) == "jsonl":
            lines.check_one_kind(self.path, texts, encoding=self.encoding or "utf-8")
        return frame

    def mixed(self) -> dict[str, Any] | None:
        """The columns of JSON lines that hold values beside lists; None for every other file."""
        if files.kind(self.path) != "jsonl":
            return None
        with files.readable(self.path):
            return lines.columns(self.path, self.named, self.na, encoding=self.encoding or "utf-8")

    def _as_it_is(self, frame: pl.LazyFrame) -> bool:
        """Whether DuckDB reads the same from the file as from these columns, so that no copy is needed."""
        if self.na or files.kind(self.path) != "parquet" or set("*?[") & set(str(self.path)):
            return False
        return frame.collect_schema() == pl.scan_parquet(self.path).select(self.named).collect_schema()

    @property
    def named(self) -> list[str]:
        """All columns, each once."""
        return list(dict.fromkeys([*self.columns, *([] if self.weight is None else [self.weight])]))

    @contextmanager
    def on(self, engine: EngineName) -> Iterator[Any]:
        """The columns as a table of an engine, for as long as the context lasts."""
        try:
            frame = self.frame()
        except DataError:
            mixed = self.mixed()
            if mixed is None:
                raise
            if engine != "polars":
                raise DataError("lists beside values, and objects, are read with --engine polars only") from None
            yield mixed
            return
        if engine == "polars":
            yield frame
            return
        module = _needed({"duckdb": "duckdb", "spark": "pyspark.sql"}[engine], engine)
        if engine == "duckdb" and self._as_it_is(frame):
            yield from _duckdb(module, str(self.path))
            return
        with tempfile.TemporaryDirectory(prefix="naysay-") as folder:
            place = Path(folder) / "keys.parquet"
            frame.sink_parquet(place)  # streamed: the file may be larger than memory
            yield from (_duckdb if engine == "duckdb" else _spark)(module, str(place))


def _duckdb(module: ModuleType, place: str) -> Iterator[Any]:
    with module.connect() as connection:
        try:
            yield connection.read_parquet(place)
        except RuntimeError as error:  # what DuckDB makes of Ctrl-C
            if "interrupted" not in str(error).lower():
                raise
            raise KeyboardInterrupt from None


def _spark(module: ModuleType, place: str) -> Iterator[Any]:
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it logs the traceback of a Ctrl-C
    running = module.SparkSession.getActiveSession()
    session = running or _started(module)
    try:
        yield session.read.parquet(place)
    finally:
        if running is None:
            session.stop()


def _started(module: ModuleType) -> Any:
    """A Spark of this machine, quiet."""
    builder = module.SparkSession.builder.master("local[*]").appName("naysay")
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except _needed("pyspark.errors", "spark").PySparkRuntimeError as error:
        raise DataError(f"Spark did not start; it needs Java 17 or later, found by JAVA_HOME ({error})") from None


def _needed(module: str, extra: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise DataError(
            f"--engine {extra} needs {error.name}, which is not installed; get it with: pip install 'naysay[{extra}]'"
        ) from None


def _without(frame: pl.LazyFrame, names: Sequence[str], na: Sequence[str]) -> pl.LazyFrame:
    """The frame with these cells missing, however they are typed; lists stay as they are."""
    schema = frame.collect_schema()
    flat = [name for name in dict.fromkeys(names) if na and not schema[name].is_nested()]
    return frame.with_columns(
        pl.when(_text(name, schema[name]).is_in(list(na))).then(None).otherwise(pl.col(name)).alias(name)
        for name in flat
    )


def _text(name: str, kind: pl.DataType) -> pl.Expr:
    """A cell as it is written on the command line: 9.0 as 9."""
    text = pl.col(name).cast(pl.String)
    return text.str.strip_suffix(".0") if kind.is_float() else text


def _weighed(frame: pl.LazyFrame, weight: str) -> pl.LazyFrame:
    """The frame with its weights as numbers; an error does not show whose weight it is."""
    try:
        return files.as_numbers(frame, weight, what="weights")
    except DataError as error:
        row = 0 if error.row is None else error.row
        raise DataError(
            f"column {weight!r}, row {row + 1}, holds a weight that is not a number; weights must be numbers",
            row=row,
            column=weight,
            value=error.value,
        ) from None


def _as_whole(frame: pl.LazyFrame, names: Sequence[str], keys: Sequence[str], point: str) -> pl.LazyFrame:
    """The frame with 40.0 as 40 in columns of numbers.

    Raises
    ------
    DataError
        Decimal numbers in a key: nearly everybody would have one of their own.
    """
    asked = [_decimals(name, point) for name in dict.fromkeys(names)]
    found = frame.select(asked).collect(engine="streaming") if asked else pl.DataFrame()
    whole = []
    for name in found.columns:
        every_is_a_number, broken, row = found[name][0].values()
        whole += [name] if every_is_a_number else []
        if every_is_a_number and broken and name in keys:
            raise DataError(
                f"values of a key must be shared to be matched; column {name!r} holds decimal numbers, as in row "
                f"{row + 1}: bin them first, for example into steps of 5 or 100, or round them",
                row=row,
                column=name,
            )
    return frame.with_columns(
        pl.col(name).str.strip_chars().str.replace(rf"^([+-]?\d+)[.{point}]0*$", "${1}") for name in whole
    )


def _decimals(name: str, point: str) -> pl.Expr:
    """Whether every text is a number, whether one is not whole, and where."""
    number = pl.col(name).str.strip_chars().str.replace(point, ".", literal=True).cast(pl.Float64, strict=False)
    empty = pl.col(name).is_null() | (pl.col(name) == "")
    broken = (number.is_finite() & (number != number.round())).fill_null(value=False)
    every = (number.is_not_null() | empty).all().alias("numbers")
    return pl.struct(every, broken.any().alias("broken"), broken.arg_max().alias("row")).alias(name)
