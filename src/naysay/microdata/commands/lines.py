"""JSON lines whose cells are of several kinds: a value beside lists of candidates, which a typed reader refuses.

An object is a set of candidates with their chances, such as ``{"March": 0.75, "April": 0.25}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from naysay.errors import DataError

__all__ = ["check_one_kind", "columns"]


def columns(path: Path, names: Sequence[str], na: Sequence[str], *, encoding: str) -> dict[str, list[Any]] | None:
    """Some columns of a file of JSON lines as Python values, cells that mean missing as None.

    None where no column holds objects, or lists beside values: the file has another fault than that.
    """
    try:
        rows = [json.loads(line) for line in path.read_text(encoding=encoding).splitlines() if line.strip()]
        known = list(dict.fromkeys(name for row in rows for name in row))
    except (ValueError, TypeError):
        return None
    if not set(names) <= set(known) or not any(_mixed([row.get(name) for row in rows]) for name in names):
        return None
    return {
        name: [None if not isinstance(cell, list | dict) and str(cell) in na else cell for cell in cells]
        for name, cells in ((name, [row.get(name) for row in rows]) for name in names)
    }


def _mixed(cells: Sequence[Any]) -> bool:
    kinds = {type(cell) if isinstance(cell, list | dict) else None for cell in cells if cell is not None}
    return dict in kinds or len(kinds) > 1


def check_one_kind(path: Path, names: Sequence[str], *, encoding: str) -> None:
    """Raise where a column that was read as text holds something else, which the reader made text without a word."""
    other = {name: re.compile(r'(?<!\\)"' + re.escape(json.dumps(name)[1:-1]) + r'"\s*:\s*[-\d\[{]') for name in names}
    with path.open(encoding=encoding) as file:
        for row, line in enumerate(file):
            for name, pattern in other.items():
                if pattern.search(line):
                    raise DataError(
                        f"values of a key must be of one kind; column {name!r} holds texts, and something else in row "
                        f"{row + 1} (make them all texts, or all numbers)",
                        row=row,
                        column=name,
                    )
