"""Tables on DuckDB or Spark. They are encoded, counted and matched there, and only results are collected.

Matches are relational algebra, the join of patterns, the same on polars, DuckDB and Spark. Tuples are grouped by their
pattern, the set of keys that they know. A question of pattern A and tuples of pattern B can only differ on the keys
A ∩ B that both know. So

1. for each pattern A the file is reduced to the keys of A and counted: every tuple becomes one row (A, values on A);
2. every question becomes one row (A, values on C) for each distinct C = A ∩ B;
3. the two are joined on equality, and the counts of a question's rows are added.

A tuple of pattern B meets a question exactly once, at C = A ∩ B. Uncertain cells are replaced, after 1, by the symbols
that they agree with. The cost is patterns × tuples. Values are packed into whole numbers, digit v of size s_v, so that
reducing to a pattern is a product with 0 or 1 and joins compare integers.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay._values import Array
from naysay.errors import DataError
from naysay.microdata.keys.cells import CellSet, Tuples
from naysay.microdata.keys.codes import Form, Table, check_names

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
        table_frame: Frame = nw.from_native(native.query("naysay_source", f"SELECT * FROM {table_name}"))
        return table_frame

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

        spark_types: dict[Any, Any] = {pl.Int64: types.LongType(), pl.Int32: types.LongType()}
        spark_types |= {pl.Float64: types.DoubleType(), pl.String: types.StringType()}
        source_types = {
            column_name: self.native.schema[source_name].dataType for column_name, source_name in (like or {}).items()
        }
        column_types = {
            column_name: source_types.get(column_name) or spark_types[type(polars_type)]
            for column_name, polars_type in table.schema.items()
        }
        column_fields = [
            types.StructField(column_name, spark_type, nullable=True)
            for column_name, spark_type in column_types.items()
        ]
        lifted_frame: Frame = nw.from_native(
            self.native.sparkSession.createDataFrame(table.rows(), types.StructType(column_fields))
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
        counted_frame = self.source
        if COUNT not in counted_frame.collect_schema().names():
            counted_frame = counted_frame.with_columns(nw.lit(1).cast(nw.Int64).alias(COUNT))
        sums = [nw.col(COUNT).sum().cast(nw.Int64), *([nw.col(WEIGHT).sum()] if self.weighted else [])]
        return self.engine.persist(counted_frame.group_by(*map(digit, self.places)).agg(*sums))

    def collect(self, sizes: Sequence[int]) -> Tuples:
        """The distinct tuples, in lexicographic order.

        Raises
        ------
        DataError
            More of them than memory holds.
        """
        distinct_count = int(self.engine.collected(self.tally.select(nw.col(COUNT).count().alias(COUNT)))[COUNT][0])
        if distinct_count > _MOST:
            raise DataError(
                f"{distinct_count:,} distinct tuples are too many to collect from {self.engine.name}; ask for"
                " algorithm='join', by which it counts their matches itself, or coarsen the keys"
            )
        column_names = [digit(place) for place in self.places]
        tuple_table = self.engine.collected(self.tally).sort(column_names)
        names_and_sizes = zip(column_names, sizes, strict=True)
        columns = tuple(
            tuple_table[column_name].to_numpy().astype(np.min_scalar_type(size))
            for column_name, size in names_and_sizes
        )
        tuple_weights = tuple_table[WEIGHT].to_numpy().astype(np.float64) if self.weighted else None
        return Tuples(columns, tuple(sizes), tuple_table[COUNT].to_numpy().astype(np.int64), tuple_weights)

    def file(self, *, weighted: bool) -> Frame:
        """The distinct tuples in the form that `Algebra` takes: cell numbers in order, and an amount."""
        amount = nw.col(WEIGHT if weighted else COUNT).alias(AMOUNT)
        cell_columns = (
            nw.col(digit(column_place)).alias(digit(key_place)) for key_place, column_place in enumerate(self.places)
        )
        return self.tally.select(*cell_columns, nw.col(COUNT), amount)


def encoded(data: Any, name: str, key_specs: Sequence[KeySpec], weights: str | None) -> tuple[Remote, list[CellSet]]:
    """The table encoded and counted on its engine, and the cells of each variable."""
    engine, frame = engine_for(name, data), nw.from_native(data)
    column_names = frame.collect_schema().names()
    if not len(engine.collected(frame.head(1))):
        raise DataError("at least one respondent is needed; the table has no rows")
    cell_sets, raw_frame = [], frame
    for key_place, (key_name, form, policy) in enumerate(key_specs):
        check_names(form.columns(key_name), column_names)
        distinct_rows = engine.collected(raw_frame.select(*form.columns(key_name)).unique())
        cell_codes, cell_set = form.read(Table.of(distinct_rows), key_name)
        cell_codes, cell_set = cell_set.under(policy, cell_codes)
        numbered_cells = distinct_rows.with_columns(pl.Series(digit(key_place), np.asarray(cell_codes, np.int64)))
        frame = _with_codes(engine, frame, numbered_cells, form.columns(key_name), digit(key_place))
        cell_sets.append(cell_set)
    if weights is not None:
        check_names([weights], column_names)
        weight_column = nw.col(weights).cast(nw.Float64)
        is_wrong = weight_column.is_null() | weight_column.is_nan() | ~weight_column.is_finite() | (weight_column <= 0)
        bad_rows = engine.collected(frame.filter(is_wrong).select(weights).head(1))
        if len(bad_rows):
            message = f"sampling weights must be positive numbers; column {weights!r} holds one that is not"
            raise DataError(message, column=weights, value=bad_rows[weights][0])
        frame = frame.with_columns(weight_column.alias(WEIGHT))
    return Remote(engine, frame, frame, tuple(range(len(cell_sets))), weights is not None), cell_sets


def _with_codes(
    engine: Engine, frame: Frame, distinct_cells: pl.DataFrame, columns: Sequence[str], code_name: str
) -> Frame:
    """The frame with the cell numbers of a variable, looked up in a table of its distinct raw cells."""
    if len(columns) == 1:
        (column_name,) = columns
        null_codes = distinct_cells.filter(pl.col(column_name).is_null())[code_name]
        known_cells = distinct_cells.filter(pl.col(column_name).is_not_null())
        return _with_entries(
            engine, frame, column_name, known_cells, code_name, null=int(null_codes[0]) if len(null_codes) else 0
        )
    wide_frame, number_names = frame, [_RAW.format(place) for place in range(len(columns))]
    for column_name, number_name in zip(columns, number_names, strict=True):
        distinct_values = distinct_cells[column_name].drop_nulls().unique()
        numbers_of_values = pl.DataFrame(
            {column_name: distinct_values, number_name: pl.int_range(1, len(distinct_values) + 1, eager=True)}
        )
        distinct_cells = distinct_cells.join(numbers_of_values, on=column_name, how="left").with_columns(
            pl.col(number_name).fill_null(0)
        )
        wide_frame = _with_entries(engine, wide_frame, column_name, numbers_of_values, number_name, null=0)
    joined_frame = wide_frame.join(
        engine.lift(distinct_cells.select(*number_names, code_name)), on=number_names, how="inner"
    )
    return joined_frame.select(*frame.collect_schema().names(), code_name)


def _with_entries(engine: Engine, frame: Frame, column: str, table: pl.DataFrame, out: str, *, null: int) -> Frame:
    """The frame with the entry of a table for each value of a column.

    A join never matches nulls, so they get a value of their own.
    """
    lifted_table = engine.lift(table.rename({column: _VALUE}), {_VALUE: column})
    joined_frame = frame.join(lifted_table, left_on=column, right_on=_VALUE, how="left")
    return joined_frame.select(*frame.collect_schema().names(), nw.col(out).fill_null(null).cast(nw.Int64).alias(out))


_SIDE = "naysay_pattern"
_LARGEST_WORD = 2**62
_KEY, _PATTERN_WORD, _NEW, _ON = "naysay_key_{}", "naysay_known_{}", "naysay_new", "naysay_on_{}"


def symbol(place: int) -> str:
    """The column of a variable's symbol in a question."""
    return f"naysay_symbol_{place}"


def packed_words(digits: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """Digits (columns of an engine, or arrays) as whole numbers below 2⁶², as few as hold them all."""
    words: list[Any] = [0]
    word_span = 1
    for column, size in zip(digits, sizes, strict=True):
        if word_span * size > _LARGEST_WORD:
            words.append(0)
            word_span = 1
        words[-1] = column * word_span + words[-1]
        word_span *= size
    return words


def pattern_of(columns: Iterable[str]) -> list[nw.Expr]:
    """Which keys are known, as the bits of one number for every 62 keys."""
    known_flags = [(nw.col(column_name) > 0).cast(nw.Int64) for column_name in columns]
    return [
        pattern_word.alias(_PATTERN_WORD.format(word_number))
        for word_number, pattern_word in enumerate(packed_words(known_flags, [2] * len(known_flags)))
    ]


def patterns_in(table: pl.DataFrame, variables: int) -> NDArray[np.bool_]:
    """The rows of such numbers as booleans (patterns, variables)."""
    pattern_words = [
        table[_PATTERN_WORD.format(key_place // 62)].cast(pl.Int64).to_numpy() for key_place in range(variables)
    ]
    return np.column_stack(
        [pattern_word >> (key_place % 62) & 1 == 1 for key_place, pattern_word in enumerate(pattern_words)]
    )


@dataclass(frozen=True, eq=False)
class Algebra:
    """The join for one file on one engine.

    Parameters
    ----------
    sizes : tuple of int
        Symbols of each variable, the unknown one included.
    relations : {place: (cells, symbols)}
        For uncertain variables the pairs of numbers that agree, with (0, 0) for missing.
    lift : callable
        Brings a small polars table to the engine.
    """

    sizes: tuple[int, ...]
    relations: dict[int, tuple[Array, Array]]
    lift: Callable[[pl.DataFrame], Frame]

    @classmethod
    def of(
        cls,
        cells: Sequence[CellSet],
        uncertain: Sequence[bool],
        lift: Callable[[pl.DataFrame], Frame],
        *,
        by_value: bool,
    ) -> Algebra:
        """The join for these cells, of which the uncertain ones agree with several symbols."""
        uncertain_places = (key_place for key_place, is_uncertain in enumerate(uncertain) if is_uncertain)
        agreement_matrices = {
            key_place: cells[key_place].agreeing(by_value=by_value).tocoo() for key_place in uncertain_places
        }
        # A missing cell (0) agrees with the unknown symbol (0), which no relation between values would say.
        relations = {
            key_place: (np.append(agreement_matrix.col + 1, 0), np.append(agreement_matrix.row + 1, 0))
            for key_place, agreement_matrix in agreement_matrices.items()
        }
        return cls(
            tuple(1 + (len(cell_set.values) if by_value else cell_set.size) for cell_set in cells), relations, lift
        )

    def matching_amounts(
        self,
        file: Frame,
        questions: Frame,
        *,
        identity: Sequence[str],
        patterns: NDArray[np.bool_],
        asked_patterns: NDArray[np.bool_],
    ) -> Frame:
        """The amount that matches each question, for questions of the patterns `asked_patterns`.

        `file` has digits and amounts, `questions` have symbols and are told apart by the columns `identity`.
        """
        question_rows = self._question_rows(questions, identity, patterns, asked_patterns)
        matching_pairs = question_rows.join(
            self._reduced_file(file, asked_patterns), on=[_SIDE, *self._keys], how="inner"
        )
        return matching_pairs.group_by(*identity).agg(nw.col(AMOUNT).sum())

    def with_other_symbols(self, frame: Frame, place: int, old_symbols: Array, new_symbols: Array) -> Frame:
        """The frame with other symbols of one variable: a row for each pair of its old symbol and a new one."""
        symbol_table = pl.DataFrame(
            {symbol(place): old_symbols, _NEW: new_symbols}, schema=dict.fromkeys([symbol(place), _NEW], pl.Int64)
        )
        joined_frame = frame.join(self.lift(symbol_table), on=symbol(place), how="inner")
        return joined_frame.drop(symbol(place)).rename({_NEW: symbol(place)})

    def _reduced_file(self, file: Frame, asked_patterns: NDArray[np.bool_]) -> Frame:
        """Step 1: the file, counted for each pattern asked about, with 0 for keys that the pattern does not know."""
        known_flags: list[Any] = [nw.col(_ON.format(p)) for p in self._places]
        if len(asked_patterns) == 1:  # one pattern needs no join
            pattern_frame, known_flags = (
                file.with_columns(nw.lit(0, nw.Int64).alias(_SIDE)),
                asked_patterns[0].astype(int).tolist(),
            )
        else:
            pattern_frame = file.join(
                self.lift(_pattern_masks(np.arange(len(asked_patterns)), asked_patterns)), how="cross"
            )
        pattern_frame = pattern_frame.with_columns(
            **{symbol(p): nw.col(digit(p)) * known_flags[p] for p in self._places}
        )
        for key_place, symbol_relation in self.relations.items():
            pattern_frame = self.with_other_symbols(pattern_frame, key_place, *symbol_relation)
        pattern_frame = pattern_frame.select(_SIDE, AMOUNT, *self._words([nw.col(symbol(p)) for p in self._places]))
        return pattern_frame.group_by(_SIDE, *self._keys).agg(nw.col(AMOUNT).sum())

    def _question_rows(
        self, questions: Frame, identity: Sequence[str], patterns: NDArray[np.bool_], asked_patterns: NDArray[np.bool_]
    ) -> Frame:
        """Step 2: each question once for every set of keys that it shares with some tuples."""
        common_patterns = [np.unique(patterns & asked_pattern, axis=0) for asked_pattern in asked_patterns]
        pattern_numbers = np.repeat(
            np.arange(len(asked_patterns)), [len(pattern_rows) for pattern_rows in common_patterns]
        )
        mask_table = _pattern_masks(pattern_numbers, np.concatenate(common_patterns))
        words = packed_words(list(asked_patterns[pattern_numbers].T.astype(np.int64)), [2] * len(self.sizes))
        pattern_words = {
            _PATTERN_WORD.format(word_number): pl.Series(word_column) for word_number, word_column in enumerate(words)
        }
        question_frame = questions.with_columns(*pattern_of(map(symbol, self._places)))
        question_frame = question_frame.join(
            self.lift(mask_table.with_columns(**pattern_words)), on=list(pattern_words), how="inner"
        )
        shared_symbols = [nw.col(symbol(p)) * nw.col(_ON.format(p)) for p in self._places]
        return question_frame.select(*identity, _SIDE, *self._words(shared_symbols))

    @property
    def _places(self) -> range:
        return range(len(self.sizes))

    @property
    def _keys(self) -> list[str]:
        """The columns in which the symbols of a row are packed."""
        return [_KEY.format(word_number) for word_number in range(len(packed_words(self.sizes, self.sizes)))]

    def _words(self, symbols: Sequence[nw.Expr]) -> list[nw.Expr]:
        return [
            packed_word.alias(word_name)
            for word_name, packed_word in zip(self._keys, packed_words(symbols, self.sizes), strict=True)
        ]


def _pattern_masks(side: Array, patterns: NDArray[np.bool_]) -> pl.DataFrame:
    """Patterns with their numbers, 1 in the column of each key that they know."""
    mask_columns = {
        _ON.format(key_place): mask_column for key_place, mask_column in enumerate(patterns.T.astype(np.int64))
    }
    return pl.DataFrame({_SIDE: side} | mask_columns)
