"""Columns of sets as cell numbers: lists of candidates, or Python values beside collections of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.cells import Cells
from naysay.microdata.scalars import codes_of_cells, codes_of_series, is_collection

__all__ = ["Read", "assembled", "of_lists", "of_mixed"]

Read = tuple[NDArray[Any], Cells]
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
    return number[places], Cells.of(labels, [sets[index] for index in several], likely)


def _empty(name: str, row: int) -> DataError:
    return DataError(
        f"a set of candidates must not be empty or hold an empty one; key {name!r} does in row {row + 1}"
        " (leave the whole cell missing where nothing is known)",
        row=row,
        column=name,
    )
