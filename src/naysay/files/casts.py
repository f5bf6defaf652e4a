"""Columns as what a tally needs: text, numbers, booleans."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from naysay import _checks
from naysay.errors import DataError

_TRUE, _FALSE = ("1", "true", "t", "yes"), ("0", "false", "f", "no")


def check_columns(frame: pl.LazyFrame, names: Sequence[str]) -> None:
    """Raise unless the frame has all these columns; lists those that it has."""
    there = frame.collect_schema().names()
    for name in names:
        if name in there:
            continue
        problem = _checks.no_column(name, there)
        for separator, flag in ((";", "';'"), ("\t", "$'\\t'"), ("|", "'|'")):
            if len(there) == 1 and separator in there[0]:
                problem += f" (the file seems to be separated by {separator!r}: add --separator {flag})"
        raise DataError(problem, column=name)


def as_text(frame: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """The frame with these columns as text, 1.0 written as 1; lists stay."""
    schema = frame.collect_schema()
    return frame.with_columns(text_of(name, schema[name]) for name in names if not schema[name].is_nested())


def text_of(name: str, dtype: pl.DataType) -> pl.Expr:
    """One column as text, 1.0 written as 1."""
    cell = pl.col(name)
    if not dtype.is_float():
        return cell.cast(pl.String)
    cell = cell.fill_nan(None)
    whole = (cell == cell.round()) & (cell.abs() < 2**53)
    return pl.when(whole).then(cell.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(cell.cast(pl.String))


def as_numbers(frame: pl.LazyFrame, name: str, *, what: str) -> pl.LazyFrame:
    """The frame with this column as numbers.

    Raises
    ------
    DataError
        A cell that is no number, with its row.
    """
    dtype = frame.collect_schema()[name]
    if dtype.is_numeric():
        return frame
    number = pl.col(name).cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    _check_cells(frame, name, number.is_null(), f"which is not a number; {what} must be numbers")
    return frame.with_columns(number.alias(name))


def as_measured(frame: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """The frame with those of these columns as numbers that hold nothing else (1.0 as 1), and other texts as they are.

    An empty cell is missing in both.
    """
    schema = frame.collect_schema()
    texts = [name for name in names if schema[name] == pl.String]
    numbers = {name: pl.col(name).str.strip_chars().cast(pl.Float64, strict=False) for name in texts}
    cells = {name: (pl.col(name).is_not_null() & (pl.col(name) != "")) for name in texts}
    has_texts = frame.select((cells[name] & numbers[name].is_null()).any().alias(name) for name in texts).collect()
    frame = frame.with_columns(numbers[name].alias(name) for name in texts if not has_texts[name][0])
    number_columns = [name for name in texts if not has_texts[name][0]]
    whole = frame.select((pl.col(name) == pl.col(name).round()).all() for name in number_columns).collect()
    return frame.with_columns(pl.col(name).cast(pl.Int64) for name in number_columns if whole[name][0])


def as_booleans(frame: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """The frame with these columns as booleans, from 0 and 1, true and false, t and f, yes and no, in any case.

    Raises
    ------
    DataError
        A cell that is none of them, with its row.
    """
    frame = as_text(frame, names)
    values = dict.fromkeys(_TRUE, True) | dict.fromkeys(_FALSE, False)
    for name in names:
        cell = pl.col(name).str.to_lowercase().str.strip_chars()
        truth_value = cell.replace_strict(values, default=None, return_dtype=pl.Boolean)
        bad = truth_value.is_null() & cell.is_not_null() & (cell != "")
        _check_cells(frame, name, bad, "which is neither 0 nor 1, neither true nor false")
        frame = frame.with_columns(truth_value.alias(name))
    return frame


def _check_cells(frame: pl.LazyFrame, name: str, bad: pl.Expr, problem: str) -> None:
    """Raise for the first cell of a column that is bad."""
    first = frame.select(name).with_row_index("__naysay_row").filter(bad).head(1).collect()
    if first.height:
        row, value = first.row(0)
        cell_text = "is empty" if value is None or value == "" else f"holds {str(value)[:80]!r}"
        raise DataError(f"column {name!r}, row {row + 1}, {cell_text}, {problem}", column=name, row=row, value=value)
