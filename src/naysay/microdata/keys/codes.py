"""Columns as cell numbers: plain values, lists of candidates, and Python values mixed with collections of them."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.cells import CellSet
from naysay.microdata.keys.table import first_row

__all__ = ["Read", "assembled", "codes_of_cells", "of_column", "of_lists", "of_mixed"]

_DENSE = 4_000_000  # a range of whole numbers up to this wide is coded by counting, not by sorting


def is_collection(cell: object) -> bool:
    """Whether a cell is a set of candidates."""
    return isinstance(cell, list | tuple | set | frozenset | dict | np.ndarray | pl.Series)


def codes_of_series(series: pl.Series, *, name: str) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Codes (n,), 0 where missing and 1 for the first value, and the values in their order.

    Raises
    ------
    DataError
        Floats that are not whole (the message says how to bin them); columns that hold no plain values.
    """
    kind = series.dtype
    if kind == pl.Object or isinstance(kind, pl.Struct):
        return codes_of_cells(series.to_list(), name=name)
    if kind == pl.Null:
        return np.zeros(len(series), np.uint8), ()
    if kind.is_float() or kind.is_decimal():
        series = _whole(series, name)
    if kind in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype.is_integer() and series.count():
        least, most = int(series.min()), int(series.max())  # type: ignore[arg-type]
        if most - least < _DENSE and most < 2**63:
            return _counted(series, least, most)
    values = series.drop_nulls().unique().sort()
    if series.dtype == pl.String:
        values = values.filter(values != "")  # the empty text is missing
    numbers = pl.int_range(1, len(values) + 1, eager=True, dtype=pl.UInt32)
    codes = series.replace_strict(values, numbers, default=0, return_dtype=pl.UInt32)
    return codes.to_numpy(), tuple(values.to_list())


def _counted(series: pl.Series, least: int, most: int) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Codes and values of whole numbers in a narrow range, by counting."""
    place = (series.cast(pl.Int64) - (least - 1)).fill_null(0).to_numpy()
    seen = np.zeros(most - least + 2, np.bool_)
    seen[place] = True
    seen[0] = True  # code 0 stays free for missing cells, even where there are none
    rank = np.cumsum(seen) - 1
    values = np.flatnonzero(seen)[1:] + least - 1
    return rank.astype(np.min_scalar_type(int(rank[-1])))[place], tuple(values.tolist())


def _whole(series: pl.Series, name: str) -> pl.Series:
    numbers = series.cast(pl.Float64).fill_nan(None)
    row = first_row((numbers != numbers.round(0)) | numbers.is_infinite() | (numbers.abs() > 2**53))
    if row is not None:
        raise _not_whole(name, row, numbers[row])
    return numbers.cast(pl.Int64)


def _not_whole(name: str, row: int, value: object) -> DataError:
    held = f"key {name!r} holds a number in row {row + 1} that is not whole"
    told = (
        f"values of a key must be shared to be matched; {held}: bin it first, for example {name} // 5 * 5, or round it"
    )
    return DataError(told, row=row, column=name, value=value)


def codes_of_cells(cells: Sequence[Any], *, name: str) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Codes (n,) and values of a list of Python values, after checking that they are of one kind."""
    held: list[Any] = [None] * len(cells)
    first: tuple[int, str] | None = None
    for row, raw in enumerate(cells):
        if _checks.is_missing(raw):
            continue
        held[row], kind = _plain(raw, row, name)
        first = first or (row, kind)
        if kind != first[1]:
            there = f"a {first[1]} in row {first[0] + 1} and a {kind} in row {row + 1}"
            told = (
                f"values of a key must be of one kind; key {name!r} holds {there} (make them all texts, or all numbers)"
            )
            raise DataError(told, row=row, column=name, value=held[row])
    values = sorted({value for value in held if value is not None})
    number = {None: 0} | {value: place for place, value in enumerate(values, 1)}
    return np.array([number[value] for value in held], np.int64), tuple(values)


def _plain(raw: Any, row: int, name: str) -> tuple[Any, str]:
    """A value as a plain Python object, and its kind."""
    value: Any = raw.item() if isinstance(raw, np.generic) else raw
    if isinstance(value, bool):
        return value, "true or false"
    if isinstance(value, int):
        return value, "number"
    if isinstance(value, float | decimal.Decimal):
        number = float(value)
        if not abs(number) <= 2**53 or number != int(number):
            raise _not_whole(name, row, value)
        return int(number), "number"
    if isinstance(value, str):
        return value, "text"
    if isinstance(value, datetime.datetime):
        return value, "time"
    if isinstance(value, datetime.date):
        return value, "date"
    if isinstance(value, datetime.time | datetime.timedelta):
        return value, type(value).__name__
    held = f"key {name!r} holds a {type(value).__name__} in row {row + 1}"
    told = f"a key must hold numbers, texts, dates, or lists of them; {held}"
    raise DataError(told, row=row, column=name, value=raw)


Read = tuple[NDArray[Any], CellSet]
"""The cell number of each row, and the distinct cells."""


def of_column(column: pl.Series | Sequence[Any], name: str) -> Read:
    """Cells of a column as it is: values, or lists and collections of candidates."""
    if isinstance(column, pl.Series):
        if isinstance(column.dtype, pl.List | pl.Array):
            return of_lists(column.cast(pl.List(column.dtype.inner)), name)
        codes, values = codes_of_series(column, name=name)
    elif any(is_collection(cell) for cell in column):
        return of_mixed(column, name)
    else:
        codes, values = codes_of_cells(column, name=name)
    return codes, CellSet.of(values)


def of_lists(lists: pl.Series, name: str) -> Read:
    """Cells of a column of lists, each list a set of candidates."""
    known = lists.drop_nulls()
    rows = np.flatnonzero(lists.is_not_null().to_numpy())
    lengths = known.list.len().to_numpy()
    if (empty := first_row(lengths == 0)) is not None:
        raise _empty(name, int(rows[empty]))
    codes, values = codes_of_series(known.explode(), name=name)
    owner = np.repeat(np.arange(len(known)), lengths)
    if (unknown := first_row(codes == 0)) is not None:
        raise _empty(name, int(rows[owner[unknown]]))
    texts = (
        pl.DataFrame({"owner": owner, "code": codes.astype(np.int64)})
        .unique(maintain_order=True)
        .group_by("owner", maintain_order=True)
        .agg(pl.col("code").cast(pl.String))
        .select(pl.col("code").list.join(","))["code"]
    )
    distinct = texts.unique().sort()
    sets = [[int(part) - 1 for part in text.split(",")] for text in distinct.to_list()]
    places = np.zeros(len(lists), np.int64)
    places[rows] = 1 + texts.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int64)
    return assembled(places, sets, values)


def of_mixed(cells: Sequence[Any], name: str) -> Read:
    """Cells of a list of Python values and collections of them."""
    candidates: list[Any] = []
    owner: list[int] = []
    chances: list[float] = []
    for row, cell in enumerate(cells):
        if not is_collection(cell):
            members, likely = ([] if _checks.is_missing(cell) else [cell]), None
        else:
            members = _members(cell)
            likely = _probabilities(list(cell.values()), name, row) if isinstance(cell, dict) else None
            if not members or any(_checks.is_missing(member) for member in members):
                raise _empty(name, row)
        candidates += members
        owner += [row] * len(members)
        chances += likely or [1 / len(members) for _ in members]
    codes, values = codes_of_cells(candidates, name=name)
    return _grouped(codes, np.array(owner, np.int64), np.array(chances), values, len(cells))


def _members(cell: Any) -> list[Any]:
    """The candidates of a collection, each once and in order. Sets have no order, so their values are sorted."""
    unordered = isinstance(cell, set | frozenset)
    members = cell.to_list() if isinstance(cell, pl.Series) else cell.tolist() if isinstance(cell, np.ndarray) else cell
    return sorted(members, key=lambda value: (str(type(value)), value)) if unordered else list(dict.fromkeys(members))


def _probabilities(values: list[Any], name: str, row: int) -> list[float]:
    try:
        return list(_checks.probability_vector(values, len(values), what=f"chances of {name!r} in row {row + 1}"))
    except DataError as error:
        raise DataError(str(error), row=row, column=name) from None


def _grouped(
    codes: NDArray[Any], owner: NDArray[np.int64], chances: NDArray[np.float64], values: Sequence[Any], n: int
) -> Read:
    places = np.zeros(n, np.int64)
    known: dict[Any, int] = {}
    bounds = np.flatnonzero(np.diff(owner, prepend=-1, append=-1))
    for start, stop in pairwise(bounds):
        held = zip(codes[start:stop].tolist(), chances[start:stop].tolist(), strict=True)
        cell = tuple((code - 1, chance) for code, chance in held if chance)
        places[owner[start]] = known.setdefault(cell, len(known) + 1)
    sets = [[code for code, _ in cell] for cell in known]
    return assembled(places, sets, values, [[chance for _, chance in cell] for cell in known])


def assembled(
    places: NDArray[Any],
    sets: Sequence[Any],
    values: Sequence[Any] | NDArray[Any],
    chances: Sequence[Any] | None = None,
) -> Read:
    """Cell numbers and cells. `places` numbers the set of each row from 1, with 0 for missing.

    A set of one candidate becomes that value.
    """
    labels = values.tolist() if isinstance(values, np.ndarray) else values
    several = [index for index, each in enumerate(sets) if len(each) != 1]
    number = np.array([0, *(1 + int(each[0]) if len(each) else 0 for each in sets)], np.int64)
    number[1:][several] = len(labels) + 1 + np.arange(len(several))
    likely = None if chances is None else [chances[index] for index in several]
    return number[places], CellSet.of(labels, [sets[index] for index in several], likely)


def _empty(name: str, row: int) -> DataError:
    told = f"a set of candidates must not be empty or hold an empty one; key {name!r} does in row {row + 1}"
    return DataError(f"{told} (leave the whole cell missing where nothing is known)", row=row, column=name)
