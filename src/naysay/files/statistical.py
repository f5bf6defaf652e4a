"""Files of SPSS and Stata, written with the labels of variables and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from naysay.errors import DataError
from naysay.files.codebook import Codebook, Entry, Value
from naysay.files.kinds import PROGRAMS, library
from naysay.files.portable import cut, portable

__all__ = ["labels_of", "write_statistical"]

_ELLIPSIS = len("…".encode())
_LONGEST_TEXT = {"spss": 32_767, "stata": 2_000_000_000}  # bytes of one cell


class _Limits(NamedTuple):
    """What a label may be at most: of the file, of a variable, and in bytes of a value."""

    file: Callable[[str], str]
    variable: Callable[[str], str]
    value: int


_LIMITS = {
    "spss": _Limits(lambda text: cut(text, 64), lambda text: cut(text, 256), 120),
    "stata": _Limits(lambda text: _letters(text, 80), lambda text: _letters(text, 80), 30_000),
}


def _letters(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _value_label(value: Value, most: int) -> str:
    """What a value means, in so many bytes: the option is cut wherever it stands, and never the words around it."""
    option = value.label.strip() or value.name
    text = value.meaning or option
    excess = len(text.encode()) - most
    if excess <= 0 or not value.meaning:
        return cut(text, most)
    left = len(option.encode()) + -excess // max(text.count(option), 1)  # of each option, where levels name it again
    if left > _ELLIPSIS and option in text:
        return text.replace(option, cut(option, left))
    return cut(f"see the codebook: {option}", most)  # half a meaning would be another one


def labels_of(entry: Entry, labels: Mapping[Any, str], system: str) -> tuple[str, dict[Any, str]]:
    """The labels of a variable and of its codes, as long as the program takes them, where a file had these of its own.

    A label that is no value of the entry, by its text or by its code, stays as it is.
    """
    limits, values = _LIMITS[system], {each: value for value in entry.values for each in (value.code, value.name)}
    meanings = dict(labels)
    for code, label in labels.items():
        if value := values.get(label) or values.get(code):
            meaning = value.meaning.replace(value.label, label)
            meanings[code] = _value_label(replace(value, label=label, meaning=meaning), limits.value)
    return limits.variable(entry.label), meanings


def write_statistical(frame: pl.DataFrame, place: str, *, path: Path, system: str, book: Codebook | None) -> None:
    """Write a frame to a place; `path` is what the file is called, `system` spss or stata.

    Missing cells are system-missing, and in columns of texts empty. Names that the program would not take are changed,
    and the variable's label says what they were.
    """
    writer = library(path)
    _check_texts(frame, path, system)
    names = portable(frame.columns, system)
    entries = book.columns if book is not None else {}
    limits = _LIMITS[system]
    told: dict[str, Any] = {
        "column_labels": {
            there: limits.variable(entries[name].label if name in entries else name)
            for name, there in names.items()
            if name in entries or name != there
        },
        "variable_value_labels": {
            names[name]: {value.code: _value_label(value, limits.value) for value in entry.values}
            for name, entry in entries.items()
            if entry.holds in ("values", "numbers") and entry.values and name in names
        },
    }
    if book is not None:
        told["file_label"] = limits.file(f"{book.survey} {book.hash}" if system == "stata" else book.title)
    if system == "spss":
        told["variable_measure"] = {names[name]: entry.measure for name, entry in entries.items() if name in names}
        told["compress"] = path.suffix.lower() == ".zsav"
        if book is not None:
            told["note"] = [f"survey {book.survey}", f"hash {book.hash}"]
    write = writer.write_sav if system == "spss" else writer.write_dta
    try:
        write(_cells(frame).rename(names), place, **told)
    except (writer.ReadstatError, writer.PyreadstatError) as error:
        raise DataError(f"cannot write {str(path)!r} as a file of {PROGRAMS[system]}: {error}") from None


def _check_texts(frame: pl.DataFrame, path: Path, system: str) -> None:
    """Raise for a text that the program would cut."""
    for column in frame.select(pl.col(pl.String)):
        longest = column.str.len_bytes().max() or 0
        if isinstance(longest, int) and longest > _LONGEST_TEXT[system]:
            told = f"column {column.name!r} holds a text of {longest:,} bytes; a file of {PROGRAMS[system]} such as"
            raise DataError(f"{told} {path.name!r} takes {_LONGEST_TEXT[system]:,}: write .csv or .parquet instead")


def _cells(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with cells of the kinds that both programs know."""
    found = []
    for name, dtype in frame.schema.items():
        cell = pl.col(name)
        if dtype.is_float():
            cell = cell.fill_nan(None)
        elif dtype == pl.Boolean or (dtype.is_integer() and dtype.to_python() is int and _small(frame[name])):
            cell = cell.cast(pl.Int32)
        elif isinstance(dtype, pl.Datetime):
            cell = cell.dt.replace_time_zone(None)
        elif (dtype.is_temporal() and dtype != pl.Date) or dtype in (pl.Categorical, pl.Enum, pl.Null):
            cell = cell.cast(pl.String)
        found.append(cell)
    return frame.select(found)


def _small(column: pl.Series) -> bool:
    """Whether whole numbers fit where Stata keeps some of the largest for missing values."""
    low, high = column.min(), column.max()
    return not isinstance(low, int) or not isinstance(high, int) or (low > -(2**31) and high < 2**31 - 100)
