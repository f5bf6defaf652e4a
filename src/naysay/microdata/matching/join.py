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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import add
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.microdata.keys.cells import CellSet
from naysay.microdata.keys.engines import AMOUNT, digit
from naysay.microdata.keys.tuples import grouped
from naysay.microdata.matching.question import Amounts, Pool, Questions

__all__ = [
    "AMOUNT",
    "Algebra",
    "Join",
    "digit",
    "intersections",
    "pattern_of",
    "patterns_in",
    "patterns_of",
    "symbol",
    "words_of",
]

_SIDE = "naysay_pattern"
_MOST = 2**62


def symbol(place: int) -> str:
    """The column of a variable's symbol in a question."""
    return f"naysay_symbol_{place}"


def pattern_of(places: Sequence[int], name: Callable[[int], str], out: str) -> list[nw.Expr]:
    """Which keys are known, as bits of one number for every 62 keys."""
    return [
        _sum(
            [
                nw.when(nw.col(name(p)) > 0).then(nw.lit(1 << (p % 62), nw.Int64)).otherwise(nw.lit(0, nw.Int64))
                for p in chunk
            ]
        ).alias(f"{out}_{number}")
        for number, chunk in enumerate(_chunks(places))
    ]


def patterns_in(table: pl.DataFrame, variables: int, out: str) -> NDArray[np.bool_]:
    """The rows of such numbers as booleans (patterns, variables)."""
    every = np.zeros((len(table), variables), np.bool_)
    for number, chunk in enumerate(_chunks(range(variables))):
        bits = table[f"{out}_{number}"].cast(pl.Int64).to_numpy()
        every[:, chunk] = (bits[:, None] >> (np.array(chunk) % 62)) & 1 == 1
    return every


def _chunks(places: Sequence[int]) -> list[list[int]]:
    return [list(places[start : start + 62]) for start in range(0, len(places), 62)]


def words_of(sizes: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Variables and their place values, so that the packed digits of each word stay below 2⁶²."""
    words: list[list[tuple[int, int]]] = [[]]
    span = 1
    for place, size in enumerate(sizes):
        if span * size > _MOST:
            words.append([])
            span = 1
        words[-1].append((place, span))
        span *= size
    return words


def intersections(patterns: NDArray[np.bool_], asked: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """For each pattern asked about (rows of booleans), its distinct intersections with those of the file."""
    return [np.unique(patterns & one, axis=0) for one in asked]


@dataclass(frozen=True, eq=False)
class Algebra:
    """The join for one file on one engine.

    Parameters
    ----------
    sizes : tuple of int
        Symbols of each variable, the unknown one included.
    relations : {place: table}
        For uncertain variables a table (cell, symbol) of what agrees, with (0, 0) for missing.
    lift : callable
        Brings a small polars table to the engine.
    """

    sizes: tuple[int, ...]
    relations: dict[int, pl.DataFrame]
    lift: Callable[[pl.DataFrame], nw.LazyFrame[Any]]

    @classmethod
    def of(
        cls,
        cells: Sequence[CellSet],
        uncertain: Sequence[bool],
        lift: Callable[[pl.DataFrame], nw.LazyFrame[Any]],
        *,
        by_value: bool,
    ) -> Algebra:
        """The join for these cells, of which the uncertain ones agree with several symbols."""
        relations = {
            place: _relation(own, by_value=by_value)
            for place, (own, many) in enumerate(zip(cells, uncertain, strict=True))
            if many
        }
        return cls(tuple(1 + (len(own.values) if by_value else own.size) for own in cells), relations, lift)

    def matched(
        self,
        file: nw.LazyFrame[Any],
        questions: nw.LazyFrame[Any],
        *,
        identity: Sequence[str],
        patterns: NDArray[np.bool_],
        asked: NDArray[np.bool_],
    ) -> nw.LazyFrame[Any]:
        """The amount that matches each question, for questions of the patterns `asked`.

        `file` has digits and amounts, `questions` have symbols and are told apart by the columns `identity`.
        """
        words = [f"naysay_key_{number}" for number in range(len(words_of(self.sizes)))]
        left = self._questions(questions, identity, patterns, asked)
        right = self._reduced(file, asked)
        pairs = left.join(right, on=[_SIDE, *words], how="inner")
        return pairs.group_by(*identity).agg(nw.col(AMOUNT).sum())

    def _reduced(self, file: nw.LazyFrame[Any], asked: NDArray[np.bool_]) -> nw.LazyFrame[Any]:
        """Step 1: the file reduced to each pattern asked about."""
        frame = self._masked(file, asked)
        for place, relation in self.relations.items():
            table = self.lift(relation.rename({"cell": symbol(place), "symbol": "naysay_new"}))
            frame = frame.join(table, on=symbol(place), how="inner").drop(symbol(place))
            frame = frame.rename({"naysay_new": symbol(place)})
        words = self._words({p: nw.col(symbol(p)) for p in self._places})
        frame = frame.select(nw.col(_SIDE), nw.col(AMOUNT), *words)
        return frame.group_by(_SIDE, *(f"naysay_key_{n}" for n in range(len(words)))).agg(nw.col(AMOUNT).sum())

    def _masked(self, file: nw.LazyFrame[Any], asked: NDArray[np.bool_]) -> nw.LazyFrame[Any]:
        """The file once for each pattern, 0 where the pattern does not know."""
        if len(asked) == 1:
            cells = {symbol(p): nw.col(digit(p)) if asked[0, p] else nw.lit(0, nw.Int64) for p in self._places}
            return file.select(
                nw.col(AMOUNT), nw.lit(0, nw.Int64).alias(_SIDE), *(each.alias(p) for p, each in cells.items())
            )
        masks = pl.DataFrame(
            {_SIDE: np.arange(len(asked))} | {f"naysay_on_{p}": asked[:, p].astype(np.int64) for p in self._places}
        )
        return file.join(self.lift(masks), how="cross").with_columns(
            **{symbol(p): nw.col(digit(p)) * nw.col(f"naysay_on_{p}") for p in self._places}
        )

    def _questions(
        self,
        questions: nw.LazyFrame[Any],
        identity: Sequence[str],
        patterns: NDArray[np.bool_],
        asked: NDArray[np.bool_],
    ) -> nw.LazyFrame[Any]:
        """Step 2: each question once for every set of keys that it shares with some tuples."""
        common = intersections(patterns, asked)
        side = np.repeat(np.arange(len(asked)), [len(each) for each in common])
        stacked = np.concatenate(common)
        table = pl.DataFrame(
            _bits(asked[side], "naysay_known")
            | {_SIDE: side}
            | {f"naysay_on_{p}": stacked[:, p].astype(np.int64) for p in self._places}
        )
        known = pattern_of(self._places, symbol, "naysay_known")
        on = [f"naysay_known_{number}" for number in range(len(known))]
        frame = questions.with_columns(*known).join(self.lift(table), on=on, how="inner")
        words = self._words({p: nw.col(symbol(p)) * nw.col(f"naysay_on_{p}") for p in self._places})
        return frame.select(*(nw.col(name) for name in identity), nw.col(_SIDE), *words)

    @property
    def _places(self) -> range:
        return range(len(self.sizes))

    def _words(self, digits: dict[int, nw.Expr]) -> list[nw.Expr]:
        return [
            _sum([digits[place] * stride for place, stride in word]).alias(f"naysay_key_{number}")
            for number, word in enumerate(words_of(self.sizes))
        ]


def _relation(cells: CellSet, *, by_value: bool) -> pl.DataFrame:
    """The symbols that each cell agrees with, as pairs of numbers; missing goes with unknown."""
    agree = cells.agreeing(by_value=by_value).tocoo()
    pairs = {"cell": np.append(agree.col + 1, 0), "symbol": np.append(agree.row + 1, 0)}
    return pl.DataFrame(pairs, schema={"cell": pl.Int64, "symbol": pl.Int64})


def _bits(patterns: NDArray[np.bool_], out: str) -> dict[str, NDArray[np.int64]]:
    """Patterns as `pattern_of` writes them."""
    chunks = _chunks(range(patterns.shape[1]))
    return {
        f"{out}_{number}": (patterns[:, chunk].astype(np.int64) << (np.array(chunk) % 62)).sum(axis=1)
        for number, chunk in enumerate(chunks)
    }


def _sum(terms: list[nw.Expr]) -> nw.Expr:
    return reduce(add, terms)


_AT_ONCE = 4_000_000  # reduced tuples held in memory


def patterns_of(columns: tuple[NDArray[Any], ...]) -> NDArray[np.bool_]:
    """Distinct patterns of known variables, (patterns, variables)."""
    known = [np.asarray(column > 0) for column in columns]
    rows, _ = grouped(known, [2] * len(known))
    return np.column_stack([each[rows] for each in known])


@dataclass(frozen=True, eq=False)
class Join:
    """A pool ready to be asked, some patterns at a time."""

    pool: Pool
    progress: Callable[[float], None] | None = field(default=None, repr=False)

    @cached_property
    def _tally(self) -> pl.LazyFrame:
        columns = {digit(p): column.astype(np.int64) for p, column in enumerate(self.pool.tuples.columns)}
        return pl.DataFrame(columns | {AMOUNT: self.pool.amount}).lazy()

    def count(self, asked: Questions) -> Amounts:
        pool = self.pool
        algebra = Algebra.of(
            pool.cells, pool.uncertain, lambda table: nw.from_native(table.lazy()), by_value=pool.by_value
        )
        patterns, wanted = patterns_of(self.pool.tuples.columns), patterns_of(asked.symbols)
        columns = {symbol(p): np.asarray(column, np.int64) for p, column in enumerate(asked.symbols)}
        questions = pl.DataFrame(columns | {"naysay_id": np.arange(len(asked))}).lazy()
        result = np.zeros(len(asked), self.pool.amount.dtype)
        step = max(1, _AT_ONCE // max(len(self.pool.tuples), 1))
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
