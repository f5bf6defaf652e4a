"""Numbers as people read them, and as JSON and CSV can hold them."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["csv_text", "fixed", "number", "plain"]


def number(value: float) -> float | None:
    """A JSON number; None if it is undefined or infinite.

    Examples
    --------
    >>> number(0.5), number(float("nan"))
    (0.5, None)
    """
    return float(value) if math.isfinite(value) else None


def fixed(value: float, places: int) -> str:
    """A number to so many decimals, the same on every processor.

    A value such as 0.1145 is computed a little above or below itself, and the last digit would follow that noise.

    Examples
    --------
    >>> fixed(0.1145, 3) == fixed(0.1145 - 1e-15, 3) == fixed(0.1145 + 1e-15, 3)
    True
    >>> fixed(-1e-17, 2)
    '0.00'
    """
    return f"{round(value, places + 6) + 0.0:.{places}f}"  # -0.0 + 0.0 is 0.0


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
