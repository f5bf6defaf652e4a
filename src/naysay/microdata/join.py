"""Matches by the join of patterns, on polars in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.microdata.question import Amounts, Asked, File
from naysay.microdata.relational import AMOUNT, Algebra, digit, symbol
from naysay.microdata.tuples import grouped

__all__ = ["Join", "patterns_of"]

_AT_ONCE = 4_000_000  # reduced tuples held in memory


def patterns_of(columns: tuple[NDArray[Any], ...]) -> NDArray[np.bool_]:
    """Distinct patterns of known variables, (patterns, variables)."""
    known = [np.asarray(column > 0) for column in columns]
    rows, _ = grouped(known, [2] * len(known))
    return np.column_stack([each[rows] for each in known])


@dataclass(frozen=True, eq=False)
class Join:
    """A file ready to be asked, some patterns at a time."""

    file: File
    progress: Callable[[float], None] | None = field(default=None, repr=False)

    @cached_property
    def _tally(self) -> pl.LazyFrame:
        columns = {digit(p): column.astype(np.int64) for p, column in enumerate(self.file.tuples.columns)}
        return pl.DataFrame(columns | {AMOUNT: self.file.amount}).lazy()

    def count(self, asked: Asked) -> Amounts:
        file = self.file
        algebra = Algebra.of(
            file.cells, file.uncertain, lambda table: nw.from_native(table.lazy()), by_value=file.by_value
        )
        patterns, wanted = patterns_of(self.file.tuples.columns), patterns_of(asked.symbols)
        columns = {symbol(p): np.asarray(column, np.int64) for p, column in enumerate(asked.symbols)}
        questions = pl.DataFrame(columns | {"naysay_id": np.arange(len(asked))}).lazy()
        result = np.zeros(len(asked), self.file.amount.dtype)
        step = max(1, _AT_ONCE // max(len(self.file.tuples), 1))
        for start in range(0, len(wanted), step):
            found = algebra.matched(
                nw.from_native(self._tally),
                nw.from_native(questions),
                identity=["naysay_id"],
                patterns=patterns,
                asked=wanted[start : start + step],
            ).collect()
            result[found["naysay_id"].to_numpy()] = found[AMOUNT].to_numpy()
            if self.progress is not None:
                self.progress(min(1.0, (start + step) / len(wanted)))
        return result
