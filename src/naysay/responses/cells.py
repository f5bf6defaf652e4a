"""Answers as they come, in lists, arrays and columns: their cells, and the words for cells that are no answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import AnswerError, DataError

__all__ = ["cells_of", "columns_of"]


def cells_of(values: Any) -> list[Any] | NDArray[Any]:
    """Answers as a list of cells, or as the 2-d array that they came in."""
    if isinstance(values, str):
        raise DataError(f"answers must be a sequence, one entry for each respondent; got the single text {values!r}")
    if isinstance(values, np.ma.MaskedArray):
        cells = zip(values.data.tolist(), np.ma.getmaskarray(values).tolist(), strict=True)
        return [None if gone else cell for cell, gone in cells]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method) and not isinstance(values, np.ndarray):
            return list(getattr(values, method)())
    if isinstance(values, np.ndarray):
        return values if values.ndim == 2 else list(values.tolist())
    try:
        return list(values)
    except TypeError:
        raise DataError(
            f"answers must be a sequence, one entry for each respondent; got {type(values).__name__}"
        ) from None


def columns_of(values: Any, first: int = 1, second: int = 1) -> tuple[Any, Any]:
    """The answers to two questions, split into `first` and `second` columns; several columns make a tuple.

    `values` is a tuple of sequences, or an array (n, columns).
    """
    size = first + second
    columns = values if isinstance(values, tuple) else ()
    if isinstance(values, np.ndarray) and values.ndim == 2:
        columns = tuple(values.T)
    if len(columns) != size:
        told = {2: ("two", "(first, second)"), 3: ("three", "(first, second, third)")}
        number, shape = told.get(size, (str(size), "(first, second, …)"))
        raise DataError(
            f"{number} questions to one person need {number} columns: a tuple {shape} or an array of shape (n, {size})"
        )
    one, two = columns[:first], columns[first:]
    return one[0] if first == 1 else one, two[0] if second == 1 else two


def key_of(cell: Any) -> Any:
    """The cell as a dictionary key."""
    key = tuple(cell) if isinstance(cell, list | np.ndarray) else frozenset(cell) if isinstance(cell, set) else cell
    try:
        hash(key)
    except TypeError:
        return repr(cell)
    return key


def membership_of(cells: NDArray[Any], labels: Sequence[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """From a 2-d array of 0/1, booleans or empty cells: membership (n, t), and which rows are missing."""
    if cells.shape[1] != len(labels):
        raise DataError(
            f"a boolean array of answers must have one column for each of the {len(labels)} categories; "
            f"got shape {cells.shape}"
        )
    if cells.dtype == bool:
        return cells, np.zeros(len(cells), dtype=bool)
    empty = np.vectorize(_checks.is_missing, otypes=[bool])(cells) if cells.size else np.zeros(cells.shape, dtype=bool)
    missing = empty.all(axis=1)
    partial = empty.any(axis=1) & ~missing
    if partial.any():
        row = int(partial.argmax())
        problem = f"is only partly filled; give all {len(labels)} columns or none"
        raise AnswerError(problem, row=row, total=len(cells), value=cells[row].tolist())
    filled = np.where(empty, 0, cells.astype(object))
    if not np.isin(filled, [0, 1]).all():
        raise DataError("a 2-d array of answers must hold booleans (or 0 and 1), one column for each category")
    return np.asarray(filled, dtype=bool), np.asarray(missing)


def word_of(value: Any) -> str:
    """A cell as a word: True becomes ``true``; 1.0, as a number or as text, becomes ``1``."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    word = str(value).strip().casefold()
    return word[:-2] if word in ("1.0", "0.0") else word


def unknown_label(
    values: Sequence[Any], labels: Sequence[Any], *, row: int, total: int, what: str, words: bool = False
) -> AnswerError:
    """The error for reports that are no labels. It names the first, its row, and other unknown reports.

    With `words`, the message adds that words for yes and no are understood.
    """
    found = list(dict.fromkeys(str(value)[:80] for value in values))
    others = f"; also found: {_checks.shown(found[1:], 8)}" if len(found) > 1 else ""
    known = _checks.nearest(values[0], labels) + (" (or yes and no, true and false, 1 and 0)" if words else "")
    several = [part.strip() for part in found[0].split(";")]
    if len(several) > 1 and set(several) <= {str(label) for label in labels}:
        known = f"it names {len(several)} and the design takes one (discards={len(several)} would take them)"
    problem = f"is {found[0]!r}, which is not a {what} here; {known}{others}"
    return AnswerError(problem, row=row, total=total, value=values[0])
