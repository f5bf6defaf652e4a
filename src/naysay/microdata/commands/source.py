"""A file as a table of polars, DuckDB or Spark, ready for its keys to be read."""

from __future__ import annotations

import importlib
import json
import logging
import re
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
from naysay.microdata.commands.risk_options import RiskOptions


@dataclass(frozen=True)
class Source:
    """A file, and how each of its columns is read.

    Parameters
    ----------
    options : Options
        Which file it is, how it is written, and which column holds its weights.
    columns : sequence of str
        The columns that keys are read from.
    plain : sequence of str
        The ones among them that hold one value a cell.
    na : sequence of str
        Cells that mean missing.
    """

    options: RiskOptions
    columns: Sequence[str]
    plain: Sequence[str]
    na: Sequence[str]

    def frame(self) -> pl.LazyFrame:
        """The columns as a lazy frame.

        Raises
        ------
        DataError
            A file that cannot be read, columns that it does not have, weights that are no numbers, decimal numbers
            among the keys of a text file.
        """
        options, weight = self.options, self.options.weight
        codes = options.codes or ([] if weight is None else [weight])
        frame = files.scan(
            options.file, separator=options.separator, encoding=options.encoding, codes=codes, table=options.table
        )
        files.check_columns(frame, self.named)
        frame = frame.select(self.named)
        if weight is not None:
            frame = _weights_as_numbers(frame, weight)
        frame = _without(frame, [name for name in self.columns if name != weight], self.na)
        schema = frame.collect_schema()
        texts = [name for name in self.plain if schema[name] == pl.String]
        objects = [name for name in self.plain if isinstance(schema[name], pl.Struct)]
        if objects:
            raise DataError(f"a key must hold values, or lists of them; {objects[0]!r} holds {schema[objects[0]]}")
        if files.kind(options.file) == "csv":
            numbers = [name for name in self.columns if schema[name] == pl.String]
            frame = _as_whole(frame, numbers, texts, "," if options.separator == ";" else ".")
        elif files.kind(options.file) == "jsonl":
            _check_one_kind(options.file, texts, encoding=options.encoding or "utf-8")
        return frame

    def _as_it_is(self, frame: pl.LazyFrame) -> bool:
        """Whether DuckDB reads the same from the file as from these columns, so that no copy is needed."""
        path = self.options.file
        if self.na or files.kind(path) != "parquet" or set("*?[") & set(str(path)):
            return False
        return frame.collect_schema() == pl.scan_parquet(path).select(self.named).collect_schema()

    @property
    def named(self) -> list[str]:
        """All columns, each once."""
        weight = self.options.weight
        return list(dict.fromkeys([*self.columns, *([] if weight is None else [weight])]))

    @contextmanager
    def table(self) -> Iterator[Any]:
        """The columns as a table of the engine that was asked for, for as long as the context lasts."""
        options, engine = self.options, self.options.engine
        try:
            frame = self.frame()
        except DataError:
            mixed = None
            if files.kind(options.file) == "jsonl":
                with files.readable(options.file):
                    encoding = options.encoding or "utf-8"
                    mixed = _cells_of_lines(options.file, self.named, self.na, encoding=encoding)
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
            yield from _duckdb(module, str(options.file))
            return
        with tempfile.TemporaryDirectory(prefix="naysay-") as folder:
            place = Path(folder) / "keys.parquet"
            frame.sink_parquet(place)  # streamed: the file may be larger than memory
            yield from (_duckdb if engine == "duckdb" else _spark)(module, str(place))


def _duckdb(module: ModuleType, place: str) -> Iterator[Any]:
    with module.connect() as connection:
        try:
            yield connection.read_parquet(place)
        except RuntimeError as error:  # DuckDB turns Ctrl-C into this
            if "interrupted" not in str(error).lower():
                raise
            raise KeyboardInterrupt from None


def _spark(module: ModuleType, place: str) -> Iterator[Any]:
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it logs the traceback of a Ctrl-C
    running = module.SparkSession.getActiveSession()
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    builder = module.SparkSession.builder.master("local[*]").appName("naysay")
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session = running or builder.getOrCreate()
    except _needed("pyspark.errors", "spark").PySparkRuntimeError as error:
        raise DataError(f"Spark did not start; it needs Java 17 or later, found by JAVA_HOME ({error})") from None
    try:
        yield session.read.parquet(place)
    finally:
        if running is None:
            session.stop()


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
    texts = {name: pl.col(name).cast(pl.String) for name in flat}
    # on the command line a decimal number is written without its zeros: 9.0 as 9
    texts |= {name: texts[name].str.strip_suffix(".0") for name in flat if schema[name].is_float()}
    return frame.with_columns(pl.when(~text.is_in(list(na))).then(name) for name, text in texts.items())


def _weights_as_numbers(frame: pl.LazyFrame, weight: str) -> pl.LazyFrame:
    """The frame with its weights as numbers; an error names the row, and does not show the weight."""
    try:
        return files.as_numbers(frame, weight, what="weights")
    except DataError as error:
        row = 0 if error.row is None else error.row
        problem = f"column {weight!r}, row {row + 1}, holds a weight that is not a number; weights must be numbers"
        raise DataError(problem, row=row, column=weight, value=error.value) from None


def _as_whole(frame: pl.LazyFrame, names: Sequence[str], keys: Sequence[str], point: str) -> pl.LazyFrame:
    """The frame with 40.0 as 40 in columns of numbers.

    Raises
    ------
    DataError
        Decimal numbers in a key: nearly every respondent would have a value of their own.
    """
    decimal_checks = [_decimals(name, point) for name in dict.fromkeys(names)]
    check_results = frame.select(decimal_checks).collect(engine="streaming") if decimal_checks else pl.DataFrame()
    whole_columns = []
    for name in check_results.columns:
        every_is_a_number, broken, row = check_results[name][0].values()
        whole_columns += [name] if every_is_a_number else []
        if every_is_a_number and broken and name in keys:
            problem = f"column {name!r} holds decimal numbers, as in row {row + 1}"
            advice = "bin them first, for example into steps of 5 or 100, or round them"
            raise DataError(f"values of a key must be shared to be matched; {problem}: {advice}", row=row, column=name)
    return frame.with_columns(
        pl.col(name).str.strip_chars().str.replace(rf"^([+-]?\d+)[.{point}]0*$", "${1}") for name in whole_columns
    )


def _decimals(name: str, point: str) -> pl.Expr:
    """Whether every text is a number, whether one is not whole, and where."""
    number = pl.col(name).str.strip_chars().str.replace(point, ".", literal=True).cast(pl.Float64, strict=False)
    empty = pl.col(name).is_null() | (pl.col(name) == "")
    broken = (number.is_finite() & (number != number.round())).fill_null(value=False)
    every = (number.is_not_null() | empty).all().alias("numbers")
    return pl.struct(every, broken.any().alias("broken"), broken.arg_max().alias("row")).alias(name)


def _cells_of_lines(
    path: Path, names: Sequence[str], na: Sequence[str], *, encoding: str
) -> dict[str, list[Any]] | None:
    """Some columns of a file of JSON lines as Python values, cells that mean missing as None.

    A typed reader refuses cells of several kinds: a value beside lists of candidates, or an object, which is a set of
    candidates with their chances, such as ``{"March": 0.75, "April": 0.25}``.
    None where no column holds objects, or lists beside values: then something else is wrong with the file.
    """
    try:
        rows = [json.loads(line) for line in path.read_text(encoding=encoding).splitlines() if line.strip()]
        if not set(names) <= {name for row in rows for name in row}:
            return None
    except (ValueError, TypeError):
        return None
    cells_of = {name: [row.get(name) for row in rows] for name in names}
    known_cells = ([cell for cell in cells if cell is not None] for cells in cells_of.values())
    kinds = ({type(cell) if isinstance(cell, list | dict) else None for cell in cells} for cells in known_cells)
    if not any(dict in cell_kinds or len(cell_kinds) > 1 for cell_kinds in kinds):
        return None
    return {
        name: [None if not isinstance(cell, list | dict) and str(cell) in na else cell for cell in cells]
        for name, cells in cells_of.items()
    }


def _check_one_kind(path: Path, names: Sequence[str], *, encoding: str) -> None:
    """Raise where a column of texts holds something else, too: the reader made text of it silently."""
    other_kinds = {
        name: re.compile(r'(?<!\\)"' + re.escape(json.dumps(name)[1:-1]) + r'"\s*:\s*[-\d\[{]') for name in names
    }
    with path.open(encoding=encoding) as file:
        for row, line in enumerate(file):
            for name, pattern in other_kinds.items():
                if pattern.search(line):
                    problem = f"column {name!r} holds texts, and something else in row {row + 1}"
                    advice = "make them all texts, or all numbers"
                    raise DataError(f"values of a key must be of one kind; {problem} ({advice})", row=row, column=name)
