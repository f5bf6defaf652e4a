"""Columns as numbers of cells: plain values, lists of candidates, and Python values beside collections of them."""

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

__all__ = [
    "COLLECTIONS",
    "Read",
    "assembled",
    "codes_of_cells",
    "codes_of_series",
    "is_collection",
    "of_lists",
    "of_mixed",
]

COLLECTIONS = (list, tuple, set, frozenset, dict, np.ndarray, pl.Series)

_DENSE = 4_000_000  # a range of whole numbers up to this wide is coded by counting, not by sorting


def is_collection(cell: object) -> bool:
    """Whether a cell is a set of candidates."""
    return isinstance(cell, COLLECTIONS)


def codes_of_series(series: pl.Series, *, name: str) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Codes (n,), 0 where missing and 1 for the first value, and the values in their order.

    Raises
    ------
    DataError
        Floats that are not whole: say how to bin them. Columns that hold no plain values.
    """
    kind = series.dtype
    if kind == pl.Object or isinstance(kind, pl.Struct):
        return codes_of_cells(series.to_list(), name=name)
    if kind == pl.Null:
        return np.zeros(len(series), np.uint8), ()
    if kind.is_float() or kind.is_decimal():
        series = _whole(series, name)
    if series.dtype.is_integer():
        return _codes_of_integers(series)
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype == pl.String:
        texts = series.drop_nulls().unique().sort()
        texts = texts.filter(texts != "")  # the empty text is missing
        codes = series.cast(pl.Enum(texts), strict=False).to_physical()
        return (codes.cast(pl.Int64) + 1).fill_null(0).cast(pl.UInt32).to_numpy(), tuple(texts.to_list())
    values = series.drop_nulls().unique().sort()
    return _looked_up(series, values), tuple(values.to_list())


def _looked_up(series: pl.Series, values: pl.Series) -> NDArray[Any]:
    table = pl.DataFrame({"value": values, "code": pl.int_range(1, len(values) + 1, eager=True, dtype=pl.UInt32)})
    found = series.alias("value").to_frame().join(table, on="value", how="left", maintain_order="left")
    return found["code"].fill_null(0).to_numpy()


def _codes_of_integers(series: pl.Series) -> tuple[NDArray[Any], tuple[Any, ...]]:
    least, most = series.min(), series.max()
    if least is None or most is None:
        return np.zeros(len(series), np.uint8), ()
    if int(most) - int(least) >= _DENSE or int(most) >= 2**63:  # type: ignore[arg-type]
        values = series.drop_nulls().unique().sort()
        return _looked_up(series, values), tuple(values.to_list())
    place = (series.cast(pl.Int64) - int(least) + 1).fill_null(0).to_numpy()  # type: ignore[arg-type]
    seen = np.zeros(int(most) - int(least) + 2, np.bool_)  # type: ignore[arg-type]
    seen[place] = True
    seen[0] = False
    rank = np.cumsum(seen)
    rank[0] = 0
    values_seen = np.flatnonzero(seen) + int(least) - 1  # type: ignore[arg-type]
    return rank.astype(np.min_scalar_type(int(rank[-1])))[place], tuple(values_seen.tolist())


def _whole(series: pl.Series, name: str) -> pl.Series:
    numbers = series.cast(pl.Float64).fill_nan(None)
    wrong = (numbers != numbers.round(0)) | numbers.is_infinite() | (numbers.abs() > 2**53)
    if wrong.any():
        row = int(wrong.fill_null(value=False).arg_max() or 0)
        raise _not_whole(name, row, numbers[row])
    return numbers.cast(pl.Int64)


def _not_whole(name: str, row: int, value: object) -> DataError:
    return DataError(
        f"values of a key must be shared to be matched; key {name!r} holds a number in row {row + 1} that is not"
        f" whole: bin it first, for example {name} // 5 * 5, or round it",
        row=row,
        column=name,
        value=value,
    )


def codes_of_cells(cells: Sequence[Any], *, name: str) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Codes (n,) and values of a list of Python values, after checking that they are of one kind."""
    codes = np.zeros(len(cells), np.int64)
    known: dict[Any, int] = {}
    first: tuple[int, str] | None = None
    for row, raw in enumerate(cells):
        if _checks.is_missing(raw):
            continue
        value, kind = _plain(raw, row, name)
        if first is None:
            first = (row, kind)
        elif kind != first[1]:
            raise _mixed(name, first, (row, kind), value)
        codes[row] = known.setdefault(value, len(known) + 1)
    values: list[Any] = sorted(known)
    rank = np.zeros(len(known) + 1, np.int64)
    for place, value in enumerate(values):
        rank[known[value]] = place + 1
    return rank[codes], tuple(values)


def _plain(raw: Any, row: int, name: str) -> tuple[Any, str]:
    """A value as plain Python has it, and what kind it is."""
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
    raise DataError(
        f"a key must hold numbers, texts, dates, or lists of them; key {name!r} holds a {type(value).__name__}"
        f" in row {row + 1}",
        row=row,
        column=name,
        value=raw,
    )


def _mixed(name: str, first: tuple[int, str], other: tuple[int, str], value: Any) -> DataError:
    return DataError(
        f"values of a key must be of one kind; key {name!r} holds a {first[1]} in row {first[0] + 1} and"
        f" a {other[1]} in row {other[0] + 1} (make them all texts, or all numbers)",
        row=other[0],
        column=name,
        value=value,
    )


Read = tuple[NDArray[Any], CellSet]
"""The cell number of each row, and the distinct cells."""


def of_lists(lists: pl.Series, name: str) -> Read:
    """Cells of a column of lists, each list a set of candidates."""
    known = lists.drop_nulls()
    rows = np.flatnonzero(lists.is_not_null().to_numpy())
    lengths = known.list.len().to_numpy()
    if (lengths == 0).any():
        raise _empty(name, int(rows[int((lengths == 0).argmax())]))
    codes, values = codes_of_series(known.explode(), name=name)
    owner = np.repeat(np.arange(len(known)), lengths)
    if (codes == 0).any():
        raise _empty(name, int(rows[owner[int((codes == 0).argmax())]]))
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
    """The candidates of a collection, each once, in order; sets have none, so theirs is the order of the values."""
    unordered = isinstance(cell, set | frozenset)
    members = cell.to_list() if isinstance(cell, pl.Series) else cell.tolist() if isinstance(cell, np.ndarray) else cell
    return sorted(members, key=lambda value: (str(type(value)), value)) if unordered else list(dict.fromkeys(members))


def _probabilities(values: list[Any], name: str, row: int) -> list[float]:
    try:
        chances = _checks.probability_vector(values, len(values), what=f"chances of {name!r} in row {row + 1}")
    except DataError as error:
        raise DataError(str(error), row=row, column=name) from None
    return [float(chance) for chance in chances]


def _grouped(
    codes: NDArray[Any], owner: NDArray[np.int64], chances: NDArray[np.float64], values: Sequence[Any], n: int
) -> Read:
    places = np.zeros(n, np.int64)
    known: dict[Any, int] = {}
    bounds = np.flatnonzero(np.diff(owner, prepend=-1, append=-1))
    for start, stop in pairwise(bounds):
        members = [
            (code, chance) for code, chance in zip(codes[start:stop], chances[start:stop], strict=True) if chance
        ]
        cell = tuple((int(code) - 1, float(chance)) for code, chance in members)
        places[owner[start]] = known.setdefault(cell, len(known) + 1)
    sets = [[code for code, _ in cell] for cell in known]
    return assembled(places, sets, values, [[chance for _, chance in cell] for cell in known])


def assembled(
    places: NDArray[Any],
    sets: Sequence[Any],
    values: Sequence[Any] | NDArray[Any],
    chances: Sequence[Any] | None = None,
) -> Read:
    """Cell numbers and cells where `places` says which set a row holds (from 1; 0: missing); singletons are values."""
    labels = values.tolist() if isinstance(values, np.ndarray) else values
    single = np.array([len(each) == 1 for each in sets], bool)
    number = np.zeros(len(sets) + 1, np.int64)
    number[1:][single] = [1 + int(each[0]) for each, alone in zip(sets, single, strict=True) if alone]
    number[1:][~single] = len(labels) + 1 + np.arange(int((~single).sum()))
    several = [index for index, alone in enumerate(single) if not alone]
    likely = None if chances is None else [chances[index] for index in several]
    return number[places], CellSet.of(labels, [sets[index] for index in several], likely)


def _empty(name: str, row: int) -> DataError:
    return DataError(
        f"a set of candidates must not be empty or hold an empty one; key {name!r} does in row {row + 1}"
        " (leave the whole cell missing where nothing is known)",
        row=row,
        column=name,
    )
