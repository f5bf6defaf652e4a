"""What commands on files of people read: lists on the command line, and files as tables.

Files that are compared are held in memory (`Reading`); one whose risk is measured may stay with its engine (`Source`).
Cells that may mean missing although nobody says so, such as -9, 99 or 'refused', are named: they count as values.
"""

from __future__ import annotations

import csv
import importlib
import json
import logging
import math
import re
import shlex
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from naysay import _checks, files
from naysay.console import output
from naysay.console.options import record_text
from naysay.errors import DataError
from naysay.files.text import as_gaps, hash_of
from naysay.microdata.commands.options import RiskOptions
from naysay.microdata.keys.codes import texts_of_values
from naysay.microdata.keys.variables import Keys
from naysay.microdata.protect.hierarchies import rows_of_csv
from naysay.microdata.protect.recoding import Areas

_AREAS = re.compile(
    r"\s*people\s*\(\s*(?P<column>[^(),]+?)\s*,\s*(?P<file>[^(),]+?)\s*\)\s*(?:>=|≥)\s*(?P<least>\d[\d,]*)\s*"
)


def record(text: str, *, option: str) -> tuple[str, ...]:
    """The names that one CSV record lists."""
    try:
        rows = list(csv.reader([text], strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise DataError(f"{option} must be one CSV record, such as 'age,gender'; {error}") from None
    names = tuple(rows[0]) if rows else ()
    if not names or not all(name.strip() for name in names):
        raise DataError(f"{option} must list names with commas, such as 'age,gender'; got {text!r}")
    return names


def missing_texts(na: str | None) -> tuple[str, ...]:
    """The cells that mean missing, as ``--na`` lists them."""
    return () if na is None else record(na, option="--na")


def key_sets(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """The sets of keys that ``--keys`` lists, one for each time it is given.

    Raises
    ------
    DataError
        A key that a set names twice, or a set that stands twice, in whatever order.
    """
    sets: list[tuple[str, ...]] = []
    for option_text in texts:
        key_names = record(option_text, option="--keys")
        repeated_key = _checks.repeated(key_names)
        if repeated_key is not None:
            raise DataError(
                f"{repeated_key!r} is named twice in --keys {option_text!r}; name each key once", column=repeated_key
            )
        same_keys = next((other for other in sets if set(other) == set(key_names)), None)
        if same_keys is not None:
            problem = f"--keys lists the same keys twice, as {','.join(same_keys)!r} and as {option_text!r}"
            raise DataError(f"{problem}: what an intruder knows has no order; give each set once")
        sets.append(key_names)
    return sets


def named_values(texts: Iterable[str], *, option: str, example: str) -> dict[str, str]:
    """The values of ``NAME=VALUE`` options, by name."""
    value_of: dict[str, str] = {}
    for option_text in texts:
        name, sign, value = option_text.partition("=")
        if not sign or not name or not value:
            raise DataError(f"{option} must be NAME=VALUE, such as {example}; got {option_text!r}")
        if name in value_of:
            raise DataError(f"{option} is given twice for {name!r}")
        value_of[name] = value
    return value_of


_WORDS = ["na", "n/a", "nan", "null", "missing", "unknown", "refused", "?", "-", "."]
_LOW = [*(f"-{digit}" for digit in range(1, 10)), *(f"-{digit}{digit}" for digit in range(6, 10)),
        "-97", "-98", "-997", "-998", "-999", "-9997", "-9998", "-9999"]  # fmt: skip
_HIGH = ["97", "98", "99", "997", "998", "999", "9997", "9998", "9999", "99997", "99998", "99999"]
_MOST_CODES = 12


class MissingCode(NamedTuple):
    """A cell that may mean missing: how it is written, in which column, and in how many rows."""

    text: str
    column: str
    rows: int
    file: str = ""

    def __str__(self) -> str:
        where = f" of {self.file}" if self.file else ""
        return f"{self.text!r} in {_checks.several(self.rows, 'row', 'rows')} of {self.column!r}{where}"


def codes_in_frame(
    frame: pl.DataFrame | pl.LazyFrame, columns: Iterable[str], *, declared: Sequence[str] = (), file: str = ""
) -> list[MissingCode]:
    """Such cells of some columns of a table, but for those that are declared; lists are not looked into."""
    table, schema = frame.lazy(), frame.collect_schema()
    missing_codes = []
    for column_name in dict.fromkeys(columns):
        if not schema[column_name].is_nested():
            cell_counts = table.group_by(column_name).len().collect(engine="streaming")
            missing_codes += _codes(
                column_name, texts_of_values(cell_counts[column_name]), cell_counts["len"], declared, file
            )
    return missing_codes


def codes_in_keys(keys: Keys, columns: Iterable[str]) -> list[MissingCode]:
    """Such cells of some key variables."""
    missing_codes = []
    for key_name in dict.fromkeys(columns):
        key_values = [value for value in keys.variable(key_name).cells.values if value is not None]
        value_texts = texts_of_values(pl.Series(key_values, strict=False))
        if key_values and _missing_texts(value_texts):
            key_tuples = keys.only([key_name]).tuples
            row_counts = np.bincount(key_tuples.columns[0], key_tuples.count, len(key_values) + 1)[
                1 : len(key_values) + 1
            ]
            missing_codes += _codes(key_name, value_texts, pl.Series(row_counts.astype(np.int64)), (), "")
    return missing_codes


def note_codes(codes: Sequence[MissingCode]) -> None:
    """Say on stderr which cells may mean missing, where there are such."""
    codes_sentence = sentence(codes)
    if codes_sentence is not None:
        output.note(codes_sentence)


def sentence(codes: Sequence[MissingCode]) -> str | None:
    """What to say about such cells, and which option declares them; None where there are none."""
    if not codes:
        return None
    codes_record = shlex.quote(record_text(list(dict.fromkeys(code.text for code in codes))))
    code_texts = [str(code) for code in codes[:_MOST_CODES]] + (
        [f"{len(codes) - _MOST_CODES:,} more"] if codes[_MOST_CODES:] else []
    )
    explanation = "they count as values of their own; if they do mean missing, say"
    return f"cells that may mean missing: {', '.join(code_texts)}; {explanation} --na {codes_record}"


def _codes(name: str, cells: pl.Series, rows: pl.Series, declared: Sequence[str], file: str) -> list[MissingCode]:
    is_undeclared = cells.is_not_null() & ~cells.is_in(list(declared))
    rows_of_text = dict(
        pl.DataFrame([cells.alias("text"), rows.alias("rows")]).filter(is_undeclared).group_by("text").sum().rows()
    )
    return [
        MissingCode(cell_text, name, rows_of_text[cell_text], file)
        for cell_text in _missing_texts(pl.Series(list(rows_of_text), dtype=pl.String))
    ]


def _missing_texts(texts: pl.Series) -> list[str]:
    """Those of the texts that often mean missing.

    They are words such as 'refused'; -9 where no other number is negative; 99 far above all other numbers; and both if
    they are the only numbers among words.
    """
    cell_numbers = texts.cast(pl.Float64, strict=False)
    are_words = texts.str.to_lowercase().is_in(_WORDS)
    missing_texts = texts.filter(are_words).sort().to_list()
    number_table = (
        pl.DataFrame([texts.alias("text"), cell_numbers.alias("number")])
        .filter(cell_numbers.is_finite())
        .sort("number")
    )
    if (cell_numbers.is_null() & ~are_words).any() and set(number_table["text"]) <= {*_LOW, *_HIGH}:
        return missing_texts + number_table["text"].to_list()
    negative_texts = number_table.filter(pl.col("number") < 0)["text"].to_list()
    nonnegative_rows = number_table.filter(pl.col("number") >= 0).rows()
    if any(cell_text not in _HIGH for cell_text, _ in nonnegative_rows) and set(negative_texts) <= set(_LOW):
        missing_texts += negative_texts
    largest_number = None
    for cell_text, number in nonnegative_rows:
        if cell_text in _HIGH and largest_number is not None and number > largest_number + 2:
            missing_texts.append(cell_text)
        else:
            largest_number = number
    return missing_texts


RECORD = "row of the original"


@dataclass(frozen=True)
class Reading:
    """How files are written.

    Parameters
    ----------
    separator : str
    encoding : str, optional
    codes : bool
    na : sequence of str
        Cells that mean missing.
    original_table : str, optional
        Of the original, where it is a database.
    """

    separator: str
    encoding: str | None
    codes: bool
    na: Sequence[str]
    original_table: str | None = None

    def table(self, path: Path) -> pl.DataFrame:
        """All columns: those that hold only numbers as numbers, other texts as they are."""
        with files.readable(path):
            frame = files.scan(path, separator=self.separator, encoding=self.encoding, codes=self.codes)
            plain_columns = [name for name, kind in frame.collect_schema().items() if not kind.is_nested()]
            return files.as_measured(as_gaps(frame, plain_columns, self.na), plain_columns).collect()

    def released(
        self, path: Path, original: Path, rows: int, *, role: str, identity: str | None, synthetic: bool
    ) -> pl.DataFrame:
        """A release in which `RECORD` says which of the rows of the original each one was.

        The log beside a release of `naysay protect`, a plan that repeats it, says that. Without such a log the rows
        must have one order. Where they are not as many, or after a change of either file, the column is left out.

        Raises
        ------
        DataError
            Files that are swapped, by the log beside one of them; a log that is that of another original, unless a
            column names people; or one that says that this column was numbered anew.
        """
        log_path, swapped_log_path = (Path(f"{file}.log.toml") for file in (path, original))
        if swapped_log_path.is_file() and _original_hash(swapped_log_path) == hash_of(path):
            raise DataError(
                f"the two files are swapped: by its log {original.name!r} is a release of {path.name!r}; name "
                f"{original.name!r} as the release, and {path.name!r} as the {role}"
            )
        table, original_rows = self.table(path), pl.int_range(rows, eager=True)
        if log_path.is_file() and (identity is not None or not synthetic):
            original_rows = self._rows_of_log(log_path, path, original, original_rows, identity)
        if table.height != len(original_rows):
            return table
        return table.with_columns(original_rows.cast(pl.UInt32).alias(RECORD))

    def _rows_of_log(
        self, log_path: Path, path: Path, original: Path, original_rows: pl.Series, identity: str | None
    ) -> pl.Series:
        """The row of the original that each row of a release was, by its log; all, where a column names people."""
        from naysay.microdata.protect.plan import Plan
        from naysay.microdata.protect.recoding import Renumber, Shuffle

        plan = Plan.read(log_path)
        if identity is not None:
            if any(isinstance(step, Renumber) and identity in step.columns for step in plan.steps):
                raise DataError(
                    f"{identity!r} was numbered anew in {path.name!r}, so it names other records than in the original; "
                    "leave --id out: the log beside the release says which rows belong together"
                )
            return original_rows
        log_fields = tomllib.loads(log_path.read_text(encoding="utf-8")).get("log", {})
        if _original_hash(log_path) not in (None, hash_of(original)):
            raise DataError(
                f"{log_path.name!r} is the log of a release of another file than {original.name!r}, so nothing "
                "says which rows belong together; name the column that does (--id)"
            )
        step_kinds = [type(step) for step in plan.steps]
        kinds_from_shuffle = step_kinds[step_kinds.index(Shuffle) :] if Shuffle in step_kinds else []
        # rows that were left out after a shuffle moved others: then only the plan itself says which row is whose
        if "rows_left_out" not in log_fields or not set(kinds_from_shuffle) <= {Shuffle, Renumber}:
            original_file = files.Original.read(
                original,
                table=self.original_table,
                separator=self.separator,
                encoding=self.encoding,
                missing=plan.missing,
            )
            return plan.run(original_file.frame)[2]
        original_rows = original_rows.filter(~original_rows.is_in(log_fields["rows_left_out"]))
        for step in plan.steps:
            if isinstance(step, Shuffle):
                original_rows = step.done(original_rows.to_frame()).frame.to_series()
        return original_rows


def _original_hash(log_path: Path) -> str | None:
    """The hash of the original that a log names."""
    log_fields: dict[str, Any] = tomllib.loads(log_path.read_text(encoding="utf-8")).get("log", {})
    original_hash: str | None = log_fields.get("source", {}).get("sha256")
    return original_hash


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
        options, weight_column = self.options, self.options.weight
        codes = options.codes or ([] if weight_column is None else [weight_column])
        frame = files.scan(
            options.file, separator=options.separator, encoding=options.encoding, codes=codes, table=options.table
        )
        files.check_columns(frame, self.named)
        frame = frame.select(self.named)
        if weight_column is not None:
            frame = _weights_as_numbers(frame, weight_column)
        key_columns = [column_name for column_name in self.columns if column_name != weight_column]
        frame = as_gaps(frame, key_columns, self.na)
        schema = frame.collect_schema()
        text_keys = [column_name for column_name in self.plain if schema[column_name] == pl.String]
        object_keys = [column_name for column_name in self.plain if isinstance(schema[column_name], pl.Struct)]
        if object_keys:
            raise DataError(
                f"a key must hold values, or lists of them; {object_keys[0]!r} holds {schema[object_keys[0]]}"
            )
        if files.kind(options.file) == "csv":
            text_columns = [column_name for column_name in self.columns if schema[column_name] == pl.String]
            frame = _as_whole(frame, text_columns, text_keys, "," if options.separator == ";" else ".")
        elif files.kind(options.file) == "jsonl":
            _check_one_kind(options.file, text_keys, encoding=options.encoding or "utf-8")
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
        weight_column = self.options.weight
        return list(dict.fromkeys([*self.columns, *([] if weight_column is None else [weight_column])]))

    @contextmanager
    def table(self) -> Iterator[Any]:
        """The columns as a table of the engine that was asked for, for as long as the context lasts."""
        options, engine = self.options, self.options.engine
        try:
            frame = self.frame()
        except DataError:
            mixed_cells = None
            if files.kind(options.file) == "jsonl":
                with files.readable(options.file):
                    encoding = options.encoding or "utf-8"
                    mixed_cells = _cells_of_lines(options.file, self.named, self.na, encoding=encoding)
            if mixed_cells is None:
                raise
            if engine != "polars":
                raise DataError("lists beside values, and objects, are read with --engine polars only") from None
            yield mixed_cells
            return
        if engine == "polars":
            yield frame
            return
        module = _needed({"duckdb": "duckdb", "spark": "pyspark.sql"}[engine], engine)
        if engine == "duckdb" and self._as_it_is(frame):
            yield from _duckdb(module, str(options.file))
            return
        with tempfile.TemporaryDirectory(prefix="naysay-") as folder:
            parquet_path = Path(folder) / "keys.parquet"
            frame.sink_parquet(parquet_path)  # streamed: the file may be larger than memory
            yield from (_duckdb if engine == "duckdb" else _spark)(module, str(parquet_path))


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
    running_session = module.SparkSession.getActiveSession()
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    builder = module.SparkSession.builder.master("local[*]").appName("naysay")
    for setting_name, value in settings.items():
        builder = builder.config(setting_name, value)
    try:
        session = running_session or builder.getOrCreate()
    except _needed("pyspark.errors", "spark").PySparkRuntimeError as error:
        raise DataError(f"Spark did not start; it needs Java 17 or later, found by JAVA_HOME ({error})") from None
    try:
        yield session.read.parquet(place)
    finally:
        if running_session is None:
            session.stop()


def _needed(module: str, extra: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise DataError(
            f"--engine {extra} needs {error.name}, which is not installed; get it with: pip install 'naysay[{extra}]'"
        ) from None


def _weights_as_numbers(frame: pl.LazyFrame, weight: str) -> pl.LazyFrame:
    """The frame with its weights as numbers; an error names the row, and does not show the weight."""
    try:
        return files.as_numbers(frame, weight, what="weights")
    except DataError as error:
        row_index = 0 if error.row is None else error.row
        problem = (
            f"column {weight!r}, row {row_index + 1}, holds a weight that is not a number; weights must be numbers"
        )
        raise DataError(problem, row=row_index, column=weight, value=error.value) from None


def _as_whole(frame: pl.LazyFrame, names: Sequence[str], keys: Sequence[str], point: str) -> pl.LazyFrame:
    """The frame with 40.0 as 40 in columns of numbers.

    Raises
    ------
    DataError
        Decimal numbers in a key: nearly every respondent would have a value of their own.
    """
    decimal_checks = []  # whether every text is a number, whether one is not whole, and where
    for column_name in dict.fromkeys(names):
        plain_text = pl.col(column_name).str.strip_chars().str.replace(point, ".", literal=True)
        number = plain_text.cast(pl.Float64, strict=False)
        is_empty = pl.col(column_name).is_null() | (pl.col(column_name) == "")
        has_decimals = (number.is_finite() & (number != number.round())).fill_null(value=False)
        all_numbers = (number.is_not_null() | is_empty).all().alias("numbers")
        first_and_any = (has_decimals.any().alias("broken"), has_decimals.arg_max().alias("row"))
        decimal_checks.append(pl.struct(all_numbers, *first_and_any).alias(column_name))
    check_results = frame.select(decimal_checks).collect(engine="streaming") if decimal_checks else pl.DataFrame()
    whole_columns = []
    for column_name in check_results.columns:
        every_is_a_number, has_decimals, row_index = check_results[column_name][0].values()
        whole_columns += [column_name] if every_is_a_number else []
        if every_is_a_number and has_decimals and column_name in keys:
            problem = f"column {column_name!r} holds decimal numbers, as in row {row_index + 1}"
            advice = "bin them first, for example into steps of 5 or 100, or round them"
            raise DataError(
                f"values of a key must be shared to be matched; {problem}: {advice}", row=row_index, column=column_name
            )
    return frame.with_columns(
        pl.col(column_name).str.strip_chars().str.replace(rf"^([+-]?\d+)[.{point}]0*$", "${1}")
        for column_name in whole_columns
    )


def _cells_of_lines(
    path: Path, names: Sequence[str], na: Sequence[str], *, encoding: str
) -> dict[str, list[Any]] | None:
    """Some columns of a file of JSON lines as Python values, cells that mean missing as None.

    A typed reader refuses cells of several kinds: a value beside lists of candidates, or an object, which is a set of
    candidates with their chances, such as ``{"March": 0.75, "April": 0.25}``.
    None where no column holds objects, or lists beside values: then something else is wrong with the file.
    """
    try:
        line_objects = [json.loads(line) for line in path.read_text(encoding=encoding).splitlines() if line.strip()]
        if not set(names) <= {column_name for line_object in line_objects for column_name in line_object}:
            return None
    except (ValueError, TypeError):
        return None
    cells_of = {column_name: [line_object.get(column_name) for line_object in line_objects] for column_name in names}
    known_cells = ([cell for cell in cells if cell is not None] for cells in cells_of.values())
    kinds = ({type(cell) if isinstance(cell, list | dict) else None for cell in cells} for cells in known_cells)
    if not any(dict in cell_kinds or len(cell_kinds) > 1 for cell_kinds in kinds):
        return None
    return {
        column_name: [None if not isinstance(cell, list | dict) and str(cell) in na else cell for cell in cells]
        for column_name, cells in cells_of.items()
    }


def _check_one_kind(path: Path, names: Sequence[str], *, encoding: str) -> None:
    """Raise where a column of texts holds something else, too: the reader made text of it silently."""
    other_kinds = {
        column_name: re.compile(r'(?<!\\)"' + re.escape(json.dumps(column_name)[1:-1]) + r'"\s*:\s*[-\d\[{]')
        for column_name in names
    }
    with path.open(encoding=encoding) as file:
        for row_index, line in enumerate(file):
            for column_name, pattern in other_kinds.items():
                if pattern.search(line):
                    problem = f"column {column_name!r} holds texts, and something else in row {row_index + 1}"
                    advice = "make them all texts, or all numbers"
                    raise DataError(
                        f"values of a key must be of one kind; {problem} ({advice})", row=row_index, column=column_name
                    )


def areas(rule: str, *, separator: str) -> Areas:
    """The rule on areas that a text such as ``people(town, towns.csv) >= 100000`` names.

    The file has a row for each area: its name as the data write it, and the people who live there. A first row whose
    second cell has no digit is a header.

    Raises
    ------
    DataError
        Another text, or a file that cannot be read, that has no area, other cells, or an area twice.
    """
    form_match = _AREAS.fullmatch(rule)
    if form_match is None:
        raise DataError(f"a rule on areas must be such as 'people(town, towns.csv) >= 100000'; got {rule.strip()!r}")
    path, people = form_match["file"], dict[str, float]()
    for row_number, row_cells in rows_of_csv(Path(path), separator):
        where = f"row {row_number} of {path!r}"
        if len(row_cells) != 2:
            raise DataError(f"{where} must have two cells, an area and its people; it has {len(row_cells)}")
        area, number_text = (cell.strip() for cell in row_cells)
        if row_number == 1 and not re.search(r"\d", number_text):
            continue
        try:
            number = float(number_text)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            raise DataError(
                f"{where}: the people of {area!r} must be a number from 0 on, without commas, such as 120000; "
                f"got {number_text!r}"
            )
        if area in people:
            raise DataError(f"{where} names {area!r} again; give each area one row")
        people[area] = number
    if not people:
        raise DataError(f"{path!r} names no area; give each area a row, such as: city,120000")
    least = int(form_match["least"].replace(",", ""))
    if least < 2:
        raise DataError(f"the threshold of {rule.strip()!r} must be 2 people or more; got {least}")
    return Areas(variable=form_match["column"], people=people, least=least)
