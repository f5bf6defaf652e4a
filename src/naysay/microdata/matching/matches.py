"""How many respondents share all keys of a respondent, how many may be the same, and how many to expect.

Which algorithm to use: what each would cost on a file, and why one is chosen.

`Cube` is taken where a table of all combinations is small. `Join` is taken where keys have very many values and few
patterns of missing cells: its work grows with patterns × tuples. `Bitmaps` are taken otherwise: their work grows with
the square of the tuples, and hardly depends on the keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.cells import CellSet
from naysay.microdata.keys.tuples import Tuples, grouped
from naysay.microdata.keys.variables import Keys, Progress
from naysay.microdata.matching import bitmaps
from naysay.microdata.matching.bitmaps import BLOCK, Bitmaps, Cube
from naysay.microdata.matching.join import Join
from naysay.microdata.matching.question import (
    Amounts,
    Counter,
    Pool,
    Questions,
    answers,
    combinations,
    combined,
    pool_of,
)

_MOST = 200_000_000  # combinations of candidates held in memory


def anonymity(keys: Keys, *, weights: str | ArrayLike | None = None) -> np.ma.MaskedArray:
    """Size k of each respondent's anonymity set, (n,), masked where a key is missing or uncertain.

    k_i is the number of respondents with the same values as i on every key, after listwise deletion: respondents who
    miss a key, or have several candidates for it, are deleted. With weights, k_i is the sum of their weights: an
    estimate of how many people of the population share the values.

    Parameters
    ----------
    keys : Keys
    weights : (n,) float or str, optional
        Sampling weights, or the name of those that the keys hold.

    Returns
    -------
    masked array (n,)
        Integers; floats with weights.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [23, 23, 40, None]}, ["age"])
    >>> microdata.anonymity(keys)
    masked_array(data=[2, 2, 1, --], ...)
    >>> microdata.anonymity(keys, weights=[1.5, 2.0, 3.0, 1.0])
    masked_array(data=[3.5, 3.5, 3.0, --], ...)

    Source: Mulder, listwise deletion.
    """
    amount = keys.tuples.count if weights is None else keys.weight(weights)
    return np.ma.MaskedArray(amount[keys.owner], mask=~keys.complete[keys.owner])


def matches(
    keys: Keys,
    *,
    rule: str = "worst",
    weights: str | ArrayLike | None = None,
    algorithm: str | None = None,
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Number of matches m of each respondent, (n,), at least 1.

    A respondent matches i unless a key is known of both and differs. A missing key therefore matches everything.
    Without missing and uncertain cells m = k, and m ≥ k wherever k exists.

    Parameters
    ----------
    keys : Keys
    rule : {"worst", "intersect", "first"}
        What an uncertain cell means. `worst`: an intruder knows the true value; m is the least number of matches over
        i's own candidates, each taken as known. `intersect`: two cells match if they share a candidate; it understates
        the risk. `first`: the first candidate of i is taken as known.
    weights : (n,) float or str, optional
        Sampling weights, or the name of those that the keys hold: the result estimates how many people of the
        population match.
    algorithm : {"cube", "join", "bitmap"}, optional
        By default the one that `explain` estimates to be fastest. All give the same numbers.
    progress : callable, optional
        Called with the share of the work that is done, from 0 to 1.

    Returns
    -------
    array (n,)
        Integers; floats with weights; masked where the policy "drop" deletes a respondent.

    Examples
    --------
    >>> from naysay import microdata
    >>> table = {"year": [1970, 1970, 1970, None], "month": [[3, 4], 4, 3, [5, 3]]}
    >>> keys = microdata.Keys(table, ["year", "month"])
    >>> microdata.matches(keys)
    array([2, 2, 3, 1])
    >>> microdata.matches(keys, rule="intersect")
    array([4, 2, 3, 3])

    Source: Mulder, number of matches; METHODS section 5 for uncertain cells.
    """
    amount = matches_of_tuples(keys, keys.weight(weights), rule=rule, algorithm=algorithm, progress=progress)[
        keys.owner
    ]
    return np.asarray(amount) if keys.kept.all() else np.ma.MaskedArray(amount, mask=~keys.kept[keys.owner])


def matches_of_tuples(
    keys: Keys,
    amount: Amounts | None = None,
    *,
    rule: str = "worst",
    algorithm: str | None = None,
    progress: Progress | None = None,
) -> Amounts:
    """M of each distinct tuple, (distinct,), 0 where the policy "drop" deletes it.

    Each tuple counts by its respondents, or by an `amount` of its own, (distinct,).
    """
    pool = pool_of(keys, rule, amount)
    if not len(pool.tuples):
        return np.zeros(keys.distinct, pool.amount.dtype)
    # without gaps and sets only equal tuples match, and tuples are distinct: m is k
    pool_matches = (
        pool.amount if algorithm is None and pool.plain else answers(pool, counter_of(pool, algorithm, progress))
    )
    if len(pool_matches) == keys.distinct:
        return pool_matches
    result = np.zeros(keys.distinct, pool.amount.dtype)
    result[keys.kept] = pool_matches
    return result


def expected_matches(
    keys: Keys,
    *,
    weights: str | ArrayLike | None = None,
    algorithm: str | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """Expected number of respondents who share the values of each, (n,), each included.

    1 + Σ_{i' ≠ i} Π_v Σ_c P(x_iv = c) P(x_i'v = c), cells independent; a missing cell agrees with everything, as in
    `matches`. Candidates without chances are equally likely. For a negative answer the chances are its posterior
    (`Privatized` with a prior).

    Parameters
    ----------
    keys : Keys
    weights, algorithm, progress
        As in `matches`; with weights respondents count by their weights.

    Returns
    -------
    array (n,) of float
        Masked where the policy "drop" deletes a respondent.

    Raises
    ------
    DataError
        Candidates that combine in too many ways.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"month": [{3: 0.75, 4: 0.25}, 3, 3, None]}, ["month"])
    >>> microdata.expected_matches(keys)
    array([3.5 , 3.75, 3.75, 4.  ])

    Source: METHODS section 5, expected counts.
    """
    pool = pool_of(keys, "first", keys.weight(weights))
    columns, owner, chance = _candidate_combinations(pool)
    sizes = tuple(pool.symbols(place) for place in range(len(columns)))
    first, place = grouped(columns, sizes)
    question_set = Questions(tuple(column[first] for column in columns), np.arange(len(first)))
    tuples = Tuples(question_set.symbols, sizes, np.ones(len(first), np.int64))
    amount = np.bincount(place, chance * pool.amount[owner], len(first))
    likely = Pool(tuples, amount, tuple(CellSet.of(cells.values) for cells in pool.cells), "first")
    counts = counter_of(likely, algorithm, progress).count(question_set) if len(question_set) else np.zeros(0)
    expected_shared, self_matches = np.zeros(keys.distinct), np.ones(keys.distinct)
    expected_shared[keys.kept] = np.bincount(owner, chance * counts[place], len(pool.tuples))
    self_matches[keys.kept] = np.bincount(owner, chance**2, len(pool.tuples))
    own_weights = np.ones(keys.n) if weights is None else keys.each_weight(weights)
    result = expected_shared[keys.owner] + own_weights * (1 - self_matches[keys.owner])
    return result if keys.kept.all() else np.ma.MaskedArray(result, mask=~keys.kept[keys.owner])


def _candidate_combinations(pool: Pool) -> tuple[list[NDArray[Any]], NDArray[np.intp], NDArray[np.float64]]:
    """Every combination of every tuple's candidates by columns, the tuple that it belongs to, and its chance."""
    total = combinations(pool).sum()
    if total > _MOST:
        raise DataError(
            f"candidates combine in {total:.3g} ways, more than {_MOST:,}; coarsen the keys or take fewer of them"
        )
    columns: list[NDArray[Any]] = list(pool.tuples.columns)
    owner, chance = np.arange(len(pool.tuples)), np.ones(len(pool.tuples))
    for place, cells, _ in pool.several:
        columns, repeat, likely = combined(columns, place, cells)
        owner, chance = owner[repeat], chance[repeat] * likely
    return columns, owner, chance


ALGORITHMS = ("cube", "join", "bitmap")
_ROOM = 2 * 2**30  # bytes that an array of combinations may take

# Nanoseconds of one step, measured by benchmarks/risk.py on two cores. They decide by their ratios alone. These differ
# from machine to machine by a factor of two or three, which matters only where either choice is about as fast.
_NS = 1e-9
_CELL, _AXIS_PAIR, _LOOK_UP = 2 * _NS, 20 * _NS, 20 * _NS  # cube
_ROW, _PATTERN = 40 * _NS, 4_000_000 * _NS  # join
_BLOCK, _BLOCK_COMPILED, _BIT, _MEMBER, _WORD = 500 * _NS, 25 * _NS, 0.3 * _NS, 30 * _NS, 1 * _NS  # bitmaps
_STARTING = 20_000_000 * _NS  # bitmaps
_OPEN = 20 * _NS  # bitmaps: a block and a key that nobody knows, which leaves more of its words to be read


@dataclass(frozen=True)
class Cost:
    """The cost of one algorithm: seconds on a machine like the measured one, bytes of memory, and what causes them."""

    algorithm: str
    seconds: float
    bytes: float
    why: str


@dataclass(frozen=True)
class Plan:
    """The choice among algorithms for one file and rule, to be printed.

    Parameters
    ----------
    chosen : str
        The algorithm taken.
    costs : tuple of Cost
        All of them, the cheapest first.
    respondents, distinct, patterns : int
        The numbers from which costs were estimated.
    """

    chosen: str
    costs: tuple[Cost, ...]
    respondents: int
    distinct: int
    patterns: int

    def __str__(self) -> str:
        text = f"{self.respondents:,} respondents, {self.distinct:,} distinct tuples,"
        text += f" {self.patterns:,} patterns of missing keys"
        for cost in self.costs:
            mark, room = "→" if cost.algorithm == self.chosen else " ", f"{cost.bytes / 2**20:,.0f} MB"
            text += f"\n{mark} {cost.algorithm:<6} about {cost.seconds:.2g} s, {room}: {cost.why}"
        return text


def explain(keys: Keys, *, rule: str = "worst") -> Plan:
    """What `matches` would do with these keys, and the estimated cost of each algorithm.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, None, 23], "gender": ["M", "F", "F"]}, ["age", "gender"])
    >>> microdata.explain(keys).chosen
    'cube'
    """
    return _plan(pool_of(keys, rule, None))


def _plan(pool: Pool) -> Plan:
    costs = sorted((_cube(pool), _join(pool), _bitmap(pool)), key=lambda cost: cost.seconds)
    possible = [cost for cost in costs if cost.bytes <= _ROOM]
    return Plan((possible or costs)[0].algorithm, tuple(costs), pool.tuples.n, len(pool.tuples), pool.tuples.patterns)


def _cube(pool: Pool) -> Cost:
    cells = bitmaps.combinations(pool)
    axes = sum(pool.gaps) + sum(pool.uncertain)
    why = f"{cells:.3g} combinations × {axes} open keys"
    seconds = _CELL * cells * (1 + axes) + _LOOK_UP * pool.questions + _AXIS_PAIR * pool.agreements
    return Cost("cube", seconds, 8.0 * cells + 50.0 * pool.agreements, why)


def _join(pool: Pool) -> Cost:
    question_count, patterns = pool.questions, pool.tuples.patterns
    rows = patterns * (pool.spread + question_count)
    why = f"{patterns:,} patterns × {len(pool.tuples):,} tuples, {question_count:.3g} questions"
    seconds = _ROW * rows + patterns * (_PATTERN + _ROW * pool.agreements)
    return Cost("join", seconds, 200.0 * min(rows, 4e6 + pool.spread + question_count) + 50.0 * pool.agreements, why)


def _bitmap(pool: Pool) -> Cost:
    question_count, blocks = pool.questions, max(1, -(-len(pool.tuples) // BLOCK))
    built_bits = blocks * BLOCK * float(sum(min(size, BLOCK) for size in pool.tuples.sizes))
    block_seconds = _seconds_per_block(pool)
    why = f"{question_count:.3g} questions × {blocks:,} blocks of {BLOCK:,} tuples"
    uncertain_cells = [cells for _, cells, _ in pool.several]
    united_words = (
        0.0 if pool.by_value else 64.0 * blocks * sum(len(cells.members) for cells in uncertain_cells)
    )  # words
    wide_bits = BLOCK * float(
        sum(len(cells.values) + (0 if pool.by_value else cells.size / 8) for cells in uncertain_cells)
    )
    seconds = (
        _STARTING
        + block_seconds * question_count * blocks
        + _BIT * (built_bits + wide_bits * blocks)
        + _MEMBER * pool.candidate_count
        + _WORD * united_words
    )
    room = (
        64.0 * min(question_count, 4e6)
        + 3 * min(wide_bits, 1.0 * BLOCK * pool.candidate_count)
        + 24 * pool.candidate_count / blocks
    )
    return Cost("bitmap", seconds, room, why)


def _seconds_per_block(pool: Pool) -> float:
    """Seconds of one question about one block of bitmaps: where keys are missing, few words end early."""
    missing = sum(float((column == 0).mean()) for column in pool.tuples.columns) if len(pool.tuples) else 0.0
    return (_BLOCK_COMPILED if find_spec("numba") else _BLOCK) + _OPEN * missing


def counter_of(pool: Pool, algorithm: str | None, progress: Progress | None = None) -> Counter:
    """The algorithm asked for, or the one with the least estimated cost, ready to count."""
    algorithm_name = algorithm or _plan(pool).chosen
    if algorithm_name not in ALGORITHMS:
        raise DataError(f"algorithm must be one of {_checks.listing_text(ALGORITHMS)}; got {algorithm_name!r}")
    if algorithm_name == "cube":
        return Cube.of(pool)
    return Join(pool, progress) if algorithm_name == "join" else Bitmaps(pool, progress)
