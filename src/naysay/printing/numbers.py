"""Numbers as JSON and CSV can hold them."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["csv_text", "number", "plain"]


def number(value: float) -> float | None:
    """A JSON number; None if it is undefined or infinite.

    Examples
    --------
    >>> number(0.5), number(float("nan"))
    (0.5, None)
    """
    return float(value) if math.isfinite(value) else None


def plain(value: Any) -> Any:
    """A value made of arrays, tuples and numbers, as lists and JSON numbers; undefined numbers become None.

    Examples
    --------
    >>> plain({"shares": np.array([0.25, np.nan]), "names": ("a", 1)})
    {'shares': [0.25, None], 'names': ['a', 1]}
    """
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return number(value) if isinstance(value, float) else value


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV, without a line break after the last.

    Examples
    --------
    >>> print(csv_text([("category", "share"), ("a, b", 0.25)]))
    category,share
    "a, b",0.25
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().removesuffix("\n")
