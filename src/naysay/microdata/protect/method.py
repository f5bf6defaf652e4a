"""What every method of protection is: a value with a name, its parameters, a promise, and a log of what it did.

It takes tables of users as frames of polars, and gives them back. The log says which cells are changed and suppressed,
by variable, and holds all that repeats it.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats, JsonNode, JsonObject
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.frames import is_frame
from naysay.microdata.keys.codes import check_names, engine_of, texts_of_values
from naysay.show import Content, Note, Points
from naysay.show.result import Printed, grid, percent

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame, IntoLazyFrame

Own = TypeVar("Own", bound="Random")


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A verb on a table.

    A method is a frozen value. `apply` never changes the table that it is given, and repeats itself exactly: whatever
    is random has a seed, which the log holds.
    """

    name: ClassVar[str]
    arithmetic: ClassVar[bool] = False
    """Whether it makes numbers that need not be values of the file. Value labels could then become false."""

    @property
    @abstractmethod
    def variables(self) -> tuple[str, ...]:
        """The columns that it changes."""

    @property
    @abstractmethod
    def promise(self) -> str:
        """What it promises, and what not, in one sentence."""

    @abstractmethod
    def done(self, frame: pl.DataFrame) -> Done:
        """The table after it, in memory."""

    @property
    def foretold(self) -> bool:
        """Whether the true value of a cell tells what it becomes, unless emptied; if not, exact matching fails."""
        return False

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return self.variables

    def prepared(self) -> Method:
        """The same method with all that it leaves to chance decided."""
        return self

    def apply(self, table: object) -> tuple[Any, Log]:
        """The table after it, and what was done.

        Parameters
        ----------
        table : dataframe or mapping of columns
            Any dataframe that narwhals takes, or a mapping; the result is of the same kind.

        Raises
        ------
        DataError
            Columns that the table does not have, or values that the method cannot take.
        """
        engine = engine_of(table)
        if engine is not None:
            return self.apply_on(engine, cast("IntoLazyFrame", table))
        frame, to_table_kind = opened(table)
        check_names(self.needs, frame.columns)
        prepared_method = self.prepared()
        done = prepared_method.done(frame)
        return to_table_kind(done.frame), Log((Step.of(prepared_method, frame, done),))

    def apply_on(self, engine: str, table: IntoLazyFrame) -> tuple[Any, Log]:
        """The same on a table of DuckDB or Spark."""
        raise DataError(
            f"{self.name!r} works on tables in memory; this one is lazy on {engine}: collect it first. There, recode, "
            "bins, intervals, dates, generalize and suppress work where the table is"
        )

    def form(self) -> JsonObject:
        """The method as plain data, as a plan holds it."""
        plain_form: JsonObject = {"method": self.name}
        for parameter in fields(self):
            value = plain_parameter(getattr(self, parameter.name))
            if value is not None and value != {} and (value != [] or parameter.name in ("keys", "variables")):
                plain_form[parameter.name] = value
        return plain_form

    @classmethod
    def of_form(cls, node: JsonNode, *, folder: Path | None = None) -> Method:
        """The method that a plan in some folder describes.

        Raises
        ------
        DataError
            A parameter that it does not have, or one that is missing.
        """
        parameter_names = [parameter.name for parameter in fields(cls)]
        parameters = {parameter_name: value for parameter_name, value in node.items() if parameter_name != "method"}
        for parameter_name in parameters:
            if parameter_name not in parameter_names:
                raise DataError(
                    f"{cls.name!r} has no parameter {parameter_name!r}; "
                    f"{_checks.nearest(parameter_name, parameter_names)}"
                )
        try:
            return cls(**parameters)
        except TypeError as error:
            raise DataError(f"the step {cls.name!r} is not complete: {str(error).partition('() ')[2]}") from None


@dataclass(frozen=True, kw_only=True)
class Random(Method):
    """A method that draws; without a seed it takes one from the operating system, and the log says which."""

    seed: int | None = None

    def prepared(self: Own) -> Own:
        return self if self.seed is not None else replace(self, seed=secrets.randbits(63))

    def rng(self, *stratum: int) -> np.random.Generator:
        """The numbers of this method; each stratum has its own."""
        return np.random.default_rng([0 if self.seed is None else self.seed, *stratum])


@dataclass(frozen=True, kw_only=True)
class OfColumns(Method):
    """A method that changes some columns, each named once."""

    columns: Sequence[str]

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.columns)


def several(names: str | Sequence[str], what: str) -> tuple[str, ...]:
    """Names of variables as a tuple, one at least and each once."""
    column_names = (names,) if isinstance(names, str) else tuple(names)
    if not column_names or len(set(column_names)) < len(column_names):
        raise DataError(f"{what} needs one variable or more, each named once; got {names!r}")
    return column_names


def rows_of_strata(frame: pl.DataFrame, within: Sequence[str]) -> list[NDArray[np.intp]]:
    """The rows of each stratum, in the order of its values; all rows where nothing divides them."""
    if not within:
        return [np.arange(frame.height)]
    strata = frame.select(pl.struct(within).rank("dense")).to_series().to_numpy()
    return [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]


def numbers_of(frame: pl.DataFrame, name: str, *, what: str) -> Floats:
    """A column as numbers, NaN where it has a gap; texts are read as the numbers that they write.

    Raises
    ------
    DataError
        A value that is no number, with its row.
    """
    column = frame[name]
    if column.dtype.is_numeric() and column.dtype != pl.Boolean:
        return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    cell_texts = column.cast(pl.String, strict=False)
    cell_texts = cell_texts.set(cell_texts == "", None)
    cell_numbers = cell_texts.str.strip_chars().cast(pl.Float64, strict=False)
    is_wrong = cell_numbers.is_null() & cell_texts.is_not_null()
    if is_wrong.any():
        wrong_row = is_wrong.arg_max() or 0
        complaint = (
            f"column {name!r}, row {wrong_row + 1}, holds {str(cell_texts[wrong_row])[:60]!r}, which is not a number"
        )
        way_out = f"{what} needs numbers; say which cells are missing (--na), or recode the column by a hierarchy"
        raise DataError(f"{complaint}; {way_out}", row=wrong_row, column=name, value=cell_texts[wrong_row])
    return cell_numbers.fill_null(float("nan")).to_numpy()


def plain_parameter(value: object) -> object:
    """A parameter in the words of a plan."""
    if hasattr(value, "form"):
        return value.form()
    if isinstance(value, tuple | list):
        return [plain_parameter(part) for part in value]
    if isinstance(value, Mapping):
        return {str(name): plain_parameter(part) for name, part in value.items()}
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True, eq=False)
class Done:
    """What a method gives: the new table, the rows of the old one that are in it, and what must be said.

    `rows` is None where every row stays in its place; an empty array where no row is one of the old ones. `designs` are
    those under which columns were drawn.
    """

    frame: pl.DataFrame
    rows: NDArray[np.intp] | None = None
    notes: tuple[str, ...] = ()
    designs: Mapping[str, Answerable] = field(default_factory=dict)


@dataclass(frozen=True)
class Cells:
    """What became of one column: cells that differ now, and those of them that are gaps now.

    `cells` counts those that held something before, in the rows that stayed; None where rows are new.
    """

    variable: str
    cells: int
    changed: int
    suppressed: int


@dataclass(frozen=True)
class Step:
    """What one method did.

    Parameters
    ----------
    method : Method
        With its seed, where it drew.
    rows : int
        Before it.
    deleted : int
    columns : tuple of Cells
        Of the columns that it changes.
    notes : tuple of str
    designs : mapping of column to design
        Under which columns were drawn; estimates need them.
    """

    method: Method
    rows: int
    deleted: int
    columns: tuple[Cells, ...]
    notes: tuple[str, ...] = ()
    designs: Mapping[str, Answerable] = field(default_factory=dict)

    @classmethod
    def of(cls, method: Method, before: pl.DataFrame, done: Done) -> Step:
        """What differs between a table and what a method made of it."""
        rows_before = before if done.rows is None else before[done.rows]
        new_rows = done.rows is not None and not len(done.rows)
        column_cells = []
        for column_name in method.variables:
            if new_rows or column_name not in done.frame.columns:
                column_cells.append(Cells(column_name, before[column_name].count(), before[column_name].count(), 0))
                continue
            texts_before, texts_after = texts(rows_before[column_name]), texts(done.frame[column_name])
            suppressed_count = int((texts_before.is_not_null() & texts_after.is_null()).sum())
            column_cells.append(
                Cells(
                    column_name,
                    int(texts_before.count()),
                    int((~alike(rows_before[column_name], done.frame[column_name])).sum()),
                    suppressed_count,
                )
            )
        deleted_count = 0 if done.rows is None or new_rows else before.height - len(done.rows)
        return cls(method, before.height, deleted_count, tuple(column_cells), done.notes, done.designs)

    def to_dict(self) -> JsonObject:
        """As one JSON object with stable names."""
        cells = {column.variable: {"cells": column.cells, "changed": column.changed, "suppressed": column.suppressed}
                 for column in self.columns}  # fmt: skip
        json_fields = {"step": self.method.form(), "rows": self.rows, "deleted": self.deleted, "columns": cells}
        return json_fields | {"notes": list(self.notes)}


@dataclass(frozen=True)
class Log(Printed):
    """What the steps of a plan did, in their order.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> table = {"age": [40, 36, 36, 36], "job": ["nurse", "cook", "cook", "cook"]}
    >>> safe, log = protect.Suppress(keys=["age", "job"], target="k >= 2").apply(table)
    >>> safe["age"], log.suppressed
    ([36, 36, 36], 0)
    """

    steps: tuple[Step, ...]

    def __add__(self, other: Log) -> Log:
        return Log((*self.steps, *other.steps))

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    @property
    def methods(self) -> tuple[Method, ...]:
        """The steps with their seeds: applied again, they give the same table."""
        return tuple(step.method for step in self.steps)

    @property
    def designs(self) -> dict[str, Answerable]:
        """The design of every column that was drawn."""
        return {name: design for step in self.steps for name, design in step.designs.items()}

    @property
    def changed(self) -> int:
        """Cells that differ now; a cell that two steps change counts twice."""
        return sum(column.changed for step in self.steps for column in step.columns)

    @property
    def suppressed(self) -> int:
        """Cells that are gaps now, and were not."""
        return sum(column.suppressed for step in self.steps for column in step.columns)

    @property
    def deleted(self) -> int:
        """Records that are gone."""
        return sum(step.deleted for step in self.steps)

    def repeat(self, table: object) -> Any:
        """The same table again, from the one that it was made of."""
        for method in self.methods:
            table, _ = method.apply(table)
        return table

    def numbers(self) -> dict[str, object]:
        """As one JSON object with stable names."""
        return {"steps": [step.to_dict() for step in self.steps]}

    def parts(self) -> list[Content]:
        """A row for each column of each step, what each step promises, and notes."""
        table_rows = [
            [f"{step_number}. {step.method.name}: {column.variable}", f"{column.cells:,}", f"{column.changed:,}",
             f"{column.suppressed:,}", percent(column.suppressed / column.cells) if column.cells else "–"]
            for step_number, step in enumerate(self.steps, 1) for column in step.columns
        ]  # fmt: skip
        cell_table = grid(
            "What was done, cell by cell", ["step", "cells", "changed", "suppressed", "share"], table_rows
        )
        step_promises = []
        for step_number, step in enumerate(self.steps, 1):
            # whoever knows the seed can undo what was drawn: it stands in the log only
            parameters = [
                f"{parameter_name} = {value}"
                for parameter_name, value in step.method.form().items()
                if isinstance(value, str | int | float) and parameter_name not in ("method", "seed")
            ]
            parameter_text = f" ({', '.join(parameters)})" if parameters else ""
            step_promises.append(f"{step_number}. {step.method.name}{parameter_text}: {step.method.promise}")
        notes = [Note(f"{step.method.name}: {text}") for step in self.steps for text in step.notes]
        deletion_notes = [
            Note(f"{step.method.name}: {_checks.several(step.deleted, 'record', 'records')} of {step.rows:,} deleted")
            for step in self.steps if step.deleted
        ]  # fmt: skip
        return [cell_table, Points(tuple(step_promises), small=True), *deletion_notes, *notes]


def opened(table: object) -> tuple[pl.DataFrame, Callable[[pl.DataFrame], Any]]:
    """The table in memory, and a function that gives a frame the kind that the table has.

    Raises
    ------
    DataError
        No table, one without rows, or columns of different length.
    """
    if isinstance(table, pl.LazyFrame):
        frame, to_table_kind = table.collect(engine="streaming"), lambda result_frame: result_frame
    elif isinstance(table, pl.DataFrame):
        frame, to_table_kind = table, lambda result_frame: result_frame
    elif isinstance(table, Mapping):
        column_lengths = {str(column_name): len(column_cells) for column_name, column_cells in table.items()}
        if len(set(column_lengths.values())) > 1:
            lengths_text = ", ".join(f"{column_name}: {length}" for column_name, length in column_lengths.items())
            raise DataError(f"columns must be equally long; got {lengths_text}")
        frame = pl.DataFrame(
            [_column(str(column_name), list(column_cells)) for column_name, column_cells in table.items()]
        )
        to_table_kind = lambda result_frame: result_frame.to_dict(as_series=False)  # noqa: E731
    elif is_frame(table):
        eager_frame = nw.from_native(cast("IntoDataFrame", table), eager_only=True)
        backend_kind = eager_frame.implementation
        frame = eager_frame.to_polars()
        to_table_kind = lambda result_frame: nw.from_arrow(result_frame, backend=backend_kind).to_native()  # noqa: E731
    else:
        raise DataError(f"a dataframe, or a mapping of columns, is needed; got {type(table).__name__}")
    if not frame.height:
        raise DataError("at least one record is needed; the table has no rows")
    return frame, to_table_kind


def texts(column: pl.Series) -> pl.Series:
    """A column as texts, 1.0 as ``1``, and empty texts as gaps; lists as they are."""
    if column.dtype.is_nested() or column.dtype.is_float():
        return texts_of_values(column)
    cell_texts = column.cast(pl.String)
    return cell_texts.set(cell_texts == "", None)


def alike(first_column: pl.Series, second_column: pl.Series) -> pl.Series:
    """Where two columns hold the same values, gaps included: 53 and 53.0 are the same, a list and a text are not."""
    if first_column.dtype.is_nested() or second_column.dtype.is_nested():
        pairs = zip(first_column.to_list(), second_column.to_list(), strict=True)
        return pl.Series([mine == theirs for mine, theirs in pairs], dtype=pl.Boolean)
    return texts_of_values(first_column).eq_missing(texts_of_values(second_column))


def keyed(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """The frame with measures that are not whole as texts: after noise or coding, equal ones still are one value."""
    measure_names = [key_name for key_name in names if key_name in frame.columns and frame[key_name].dtype.is_float()]
    filled_cells = {key_name: frame[key_name].fill_nan(None).drop_nulls() for key_name in measure_names}
    return frame.with_columns(
        texts_of_values(frame[key_name]).alias(key_name)
        for key_name in measure_names
        if (filled_cells[key_name] != filled_cells[key_name].round(0)).any()
    )


def _column(name: str, cells: list[object]) -> pl.Series:
    """A column of plain Python values; whole numbers among others are numbers like them."""
    try:
        return pl.Series(name, cells)
    except (TypeError, pl.exceptions.PolarsError):
        if all(cell is None or isinstance(cell, int | float) for cell in cells):
            return pl.Series(name, cells, dtype=pl.Float64, strict=False)
        kinds = ", ".join(dict.fromkeys(type(cell).__name__ for cell in cells if cell is not None))
        complaint = f"column {name!r} holds values of several kinds ({kinds}); write all of them as one kind"
        raise DataError(complaint, column=name) from None
