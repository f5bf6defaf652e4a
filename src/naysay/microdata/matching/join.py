"""Matches as relational algebra: the join of patterns, the same on polars, DuckDB and Spark.

Tuples are grouped by their pattern, the set of keys that they know. A question of pattern A and tuples of pattern B can
only differ on the keys A ∩ B that both know. So

1. for each pattern A the file is reduced to the keys of A and counted: every tuple becomes one row (A, values on A);
2. every question becomes one row (A, values on C) for each distinct C = A ∩ B;
3. the two are joined on equality, and the counts of a question's rows are added.

A tuple of pattern B meets a question exactly once, at C = A ∩ B. Uncertain cells are replaced, after 1, by the symbols
that they agree with. The cost is patterns × tuples. Values are packed into whole numbers, digit v of size s_v, so that
reducing to a pattern is a product with 0 or 1 and joins compare integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.microdata.keys.cells import CellSet
from naysay.microdata.keys.engines import AMOUNT, Frame, digit
from naysay.microdata.keys.tuples import grouped
from naysay.microdata.matching.question import Amounts, Pool, Questions

_SIDE = "naysay_pattern"
_MOST = 2**62
_AT_ONCE = 4_000_000  # reduced tuples held in memory
_KEY, _PATTERN_WORD, _NEW, _ON = "naysay_key_{}", "naysay_known_{}", "naysay_new", "naysay_on_{}"


def symbol(place: int) -> str:
    """The column of a variable's symbol in a question."""
    return f"naysay_symbol_{place}"


def packed(digits: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """Digits (columns of an engine, or arrays) as whole numbers below 2⁶², as few as hold them all."""
    words: list[Any] = [0]
    span = 1
    for column, size in zip(digits, sizes, strict=True):
        if span * size > _MOST:
            words.append(0)
            span = 1
        words[-1] = column * span + words[-1]
        span *= size
    return words


def pattern_of(columns: Iterable[str]) -> list[nw.Expr]:
    """Which keys are known, as the bits of one number for every 62 keys."""
    known_flags = [(nw.col(name) > 0).cast(nw.Int64) for name in columns]
    return [
        word.alias(_PATTERN_WORD.format(number))
        for number, word in enumerate(packed(known_flags, [2] * len(known_flags)))
    ]


def patterns_in(table: pl.DataFrame, variables: int) -> NDArray[np.bool_]:
    """The rows of such numbers as booleans (patterns, variables)."""
    words = [table[_PATTERN_WORD.format(place // 62)].cast(pl.Int64).to_numpy() for place in range(variables)]
    return np.column_stack([word >> (place % 62) & 1 == 1 for place, word in enumerate(words)])


@dataclass(frozen=True, eq=False)
class Algebra:
    """The join for one file on one engine.

    Parameters
    ----------
    sizes : tuple of int
        Symbols of each variable, the unknown one included.
    relations : {place: (cells, symbols)}
        For uncertain variables the pairs of numbers that agree, with (0, 0) for missing.
    lift : callable
        Brings a small polars table to the engine.
    """

    sizes: tuple[int, ...]
    relations: dict[int, tuple[NDArray[Any], NDArray[Any]]]
    lift: Callable[[pl.DataFrame], Frame]

    @classmethod
    def of(
        cls,
        cells: Sequence[CellSet],
        uncertain: Sequence[bool],
        lift: Callable[[pl.DataFrame], Frame],
        *,
        by_value: bool,
    ) -> Algebra:
        """The join for these cells, of which the uncertain ones agree with several symbols."""
        places = (place for place, is_uncertain in enumerate(uncertain) if is_uncertain)
        agree = {place: cells[place].agreeing(by_value=by_value).tocoo() for place in places}
        # A missing cell (0) agrees with the unknown symbol (0), which no relation between values would say.
        relations = {
            place: (np.append(matrix.col + 1, 0), np.append(matrix.row + 1, 0)) for place, matrix in agree.items()
        }
        return cls(
            tuple(1 + (len(cell_set.values) if by_value else cell_set.size) for cell_set in cells), relations, lift
        )

    def matching_amounts(
        self,
        file: Frame,
        questions: Frame,
        *,
        identity: Sequence[str],
        patterns: NDArray[np.bool_],
        asked_patterns: NDArray[np.bool_],
    ) -> Frame:
        """The amount that matches each question, for questions of the patterns `asked_patterns`.

        `file` has digits and amounts, `questions` have symbols and are told apart by the columns `identity`.
        """
        question_rows = self._question_rows(questions, identity, patterns, asked_patterns)
        pairs = question_rows.join(self._reduced_file(file, asked_patterns), on=[_SIDE, *self._keys], how="inner")
        return pairs.group_by(*identity).agg(nw.col(AMOUNT).sum())

    def with_other_symbols(
        self, frame: Frame, place: int, old_symbols: NDArray[Any], new_symbols: NDArray[Any]
    ) -> Frame:
        """The frame with other symbols of one variable: a row for each pair of its old symbol and a new one."""
        table = pl.DataFrame(
            {symbol(place): old_symbols, _NEW: new_symbols}, schema=dict.fromkeys([symbol(place), _NEW], pl.Int64)
        )
        joined_frame = frame.join(self.lift(table), on=symbol(place), how="inner")
        return joined_frame.drop(symbol(place)).rename({_NEW: symbol(place)})

    def _reduced_file(self, file: Frame, asked_patterns: NDArray[np.bool_]) -> Frame:
        """Step 1: the file, counted for each pattern asked about, with 0 for keys that the pattern does not know."""
        known_flags: list[Any] = [nw.col(_ON.format(p)) for p in self._places]
        if len(asked_patterns) == 1:  # one pattern needs no join
            frame, known_flags = (
                file.with_columns(nw.lit(0, nw.Int64).alias(_SIDE)),
                asked_patterns[0].astype(int).tolist(),
            )
        else:
            frame = file.join(self.lift(_pattern_masks(np.arange(len(asked_patterns)), asked_patterns)), how="cross")
        frame = frame.with_columns(**{symbol(p): nw.col(digit(p)) * known_flags[p] for p in self._places})
        for place, relation in self.relations.items():
            frame = self.with_other_symbols(frame, place, *relation)
        frame = frame.select(_SIDE, AMOUNT, *self._words([nw.col(symbol(p)) for p in self._places]))
        return frame.group_by(_SIDE, *self._keys).agg(nw.col(AMOUNT).sum())

    def _question_rows(
        self, questions: Frame, identity: Sequence[str], patterns: NDArray[np.bool_], asked_patterns: NDArray[np.bool_]
    ) -> Frame:
        """Step 2: each question once for every set of keys that it shares with some tuples."""
        common_patterns = [np.unique(patterns & asked_pattern, axis=0) for asked_pattern in asked_patterns]
        side = np.repeat(np.arange(len(asked_patterns)), [len(pattern_rows) for pattern_rows in common_patterns])
        table = _pattern_masks(side, np.concatenate(common_patterns))
        words = packed(list(asked_patterns[side].T.astype(np.int64)), [2] * len(self.sizes))
        pattern_words = {_PATTERN_WORD.format(number): pl.Series(word) for number, word in enumerate(words)}
        frame = questions.with_columns(*pattern_of(map(symbol, self._places)))
        frame = frame.join(self.lift(table.with_columns(**pattern_words)), on=list(pattern_words), how="inner")
        shared_symbols = [nw.col(symbol(p)) * nw.col(_ON.format(p)) for p in self._places]
        return frame.select(*identity, _SIDE, *self._words(shared_symbols))

    @property
    def _places(self) -> range:
        return range(len(self.sizes))

    @property
    def _keys(self) -> list[str]:
        """The columns in which the symbols of a row are packed."""
        return [_KEY.format(number) for number in range(len(packed(self.sizes, self.sizes)))]

    def _words(self, symbols: Sequence[nw.Expr]) -> list[nw.Expr]:
        return [word.alias(name) for name, word in zip(self._keys, packed(symbols, self.sizes), strict=True)]


def _pattern_masks(side: NDArray[Any], patterns: NDArray[np.bool_]) -> pl.DataFrame:
    """Patterns with their numbers, 1 in the column of each key that they know."""
    mask_columns = {_ON.format(place): column for place, column in enumerate(patterns.T.astype(np.int64))}
    return pl.DataFrame({_SIDE: side} | mask_columns)


def patterns_of(columns: tuple[NDArray[Any], ...]) -> NDArray[np.bool_]:
    """Distinct patterns of known variables, (patterns, variables)."""
    known_columns = [np.asarray(column > 0) for column in columns]
    rows, _ = grouped(known_columns, [2] * len(known_columns))
    return np.column_stack([known_column[rows] for known_column in known_columns])


@dataclass(frozen=True, eq=False)
class Join:
    """A pool ready to be asked, some patterns at a time."""

    pool: Pool
    progress: Callable[[float], None] | None = field(default=None, repr=False)

    def count(self, question_set: Questions) -> Amounts:
        pool = self.pool
        algebra = Algebra.of(
            pool.cells, pool.uncertain, lambda table: nw.from_native(table.lazy()), by_value=pool.by_value
        )
        patterns, asked_patterns = patterns_of(pool.tuples.columns), patterns_of(question_set.symbols)
        digits = {digit(p): column.astype(np.int64) for p, column in enumerate(pool.tuples.columns)}
        file = pl.DataFrame(digits | {AMOUNT: pool.amount}).lazy()
        columns = {symbol(p): np.asarray(column, np.int64) for p, column in enumerate(question_set.symbols)}
        questions = pl.DataFrame(columns | {"naysay_id": np.arange(len(question_set))}).lazy()
        result = np.zeros(len(question_set), pool.amount.dtype)
        step = max(1, _AT_ONCE // max(len(pool.tuples), 1))
        for start in range(0, len(asked_patterns), step):
            question_amounts = algebra.matching_amounts(
                nw.from_native(file),
                nw.from_native(questions),
                identity=["naysay_id"],
                patterns=patterns,
                asked_patterns=asked_patterns[start : start + step],
            ).collect()
            result[question_amounts["naysay_id"].to_numpy()] = question_amounts[AMOUNT].to_numpy()
            if self.progress is not None:
                self.progress(min(1.0, (start + step) / len(asked_patterns)))
        return result
