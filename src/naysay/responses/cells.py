"""Reading what people handed in: columns, lists, boolean arrays, with their missing cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import AnswerError, DataError

__all__ = ["TRUTH", "cells_of", "columns_of", "key_of", "membership_of", "truth_of", "unknown_label", "word_of"]

TRUTH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
"""Words for yes and no, in lower case."""


def cells_of(values: Any) -> list[Any] | NDArray[Any]:
    """Answers as a list of cells, or as the 2-d array that they came in."""
    if isinstance(values, str):
        raise DataError(f"answers must be a sequence, one entry a respondent; got the single text {values!r}")
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
        raise DataError(f"answers must be a sequence, one entry a respondent; got {type(values).__name__}") from None


def columns_of(values: Any) -> tuple[Any, Any]:
    """Two columns of answers, from a pair of sequences or an (n, 2) array."""
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 2:
        return values[:, 0], values[:, 1]
    if isinstance(values, tuple) and len(values) == 2:
        return values
    raise DataError("two questions to one person need two columns: a tuple (first, second) or an array of shape (n, 2)")


def key_of(cell: Any) -> Any:
    """The cell as a dictionary key."""
    key = tuple(cell) if isinstance(cell, list | np.ndarray) else frozenset(cell) if isinstance(cell, set) else cell
    try:
        hash(key)
    except TypeError:
        return repr(cell)
    return key


def membership_of(cells: NDArray[Any], labels: Sequence[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Boolean membership (n, t) and which rows are missing, from a 2-d array of 0/1, booleans or empty cells."""
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
        problem = f"is filled in part; give all {len(labels)} columns or none"
        raise AnswerError(problem, row=row, total=len(cells), value=cells[row].tolist())
    filled = np.where(empty, 0, cells.astype(object))
    if not np.isin(filled, [0, 1]).all():
        raise DataError("a 2-d array of answers must hold booleans (or 0 and 1), one column a category")
    return np.asarray(filled, dtype=bool), np.asarray(missing)


def word_of(value: Any) -> str:
    """A cell as a word: 1.0 is ``1``, as a number or as text, True is ``true``."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    word = str(value).strip().casefold()
    return word[:-2] if word in ("1.0", "0.0") else word


def truth_of(label: Any) -> bool | None:
    """Whether a label says yes (True) or no (False); None where it says neither."""
    return TRUTH.get(word_of(label))


def unknown_label(
    values: Sequence[Any], labels: Sequence[Any], *, row: int, total: int, what: str, words: bool = False
) -> AnswerError:
    """The error for reports that are no labels: the first one in its row, and what else was found.

    With `words` those for yes and no are understood, and said to be.
    """
    found = list(dict.fromkeys(str(value)[:80] for value in values))
    others = f"; found beside it: {_checks.shown(found[1:], 8)}" if len(found) > 1 else ""
    known = _checks.nearest(values[0], labels) + (" (or yes and no, true and false, 1 and 0)" if words else "")
    several = [part.strip() for part in found[0].split(";")]
    if len(several) > 1 and set(several) <= {str(label) for label in labels}:
        known = f"it names {len(several)} and the design takes one (discards={len(several)} would take them)"
    problem = f"is {found[0]!r}, which is not a {what} here; {known}{others}"
    return AnswerError(problem, row=row, total=total, value=values[0])
