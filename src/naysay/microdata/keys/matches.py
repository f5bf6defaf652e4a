"""Who is like whom: k, how many share all keys of a respondent; m, how many may be the same; and how many to expect.

For m the fastest of three algorithms is chosen by an estimate of its cost. `Cube` is taken where a table of all
combinations is small. `Join` is taken where keys have very many values and few patterns of missing cells: its work
grows with patterns × tuples. `Bitmaps` are taken otherwise: their work grows with the square of the tuples, and hardly
depends on the keys.

Records with gaps can be counted in three ways, k, c and m (`readings`); of these only k is a promise after suppression.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Array, Flags
from naysay.errors import DataError
from naysay.microdata.keys import counting
from naysay.microdata.keys.cells import CellSet, Tuples, by_size, grouped
from naysay.microdata.keys.codes import check_choice
from naysay.microdata.keys.counting import (
    BLOCK,
    RULES,
    Amounts,
    Bitmaps,
    Counter,
    Cube,
    Join,
    Pool,
    Questions,
    answers,
    combinations,
    combined,
    pool_of,
)
from naysay.microdata.keys.engines import AMOUNT, COUNT, Algebra, Frame, Remote, digit, pattern_of, patterns_in, symbol
from naysay.microdata.keys.variables import Keys, Progress

_MOST_CHANCES = 200_000_000  # combinations of candidates held in memory


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
    set_sizes = keys.tuples.count if weights is None else keys.weight(weights)
    return np.ma.MaskedArray(set_sizes[keys.owner], mask=~keys.complete[keys.owner])


def matches(
    keys: Keys,
    *,
    rule: str = "worst",
    weights: str | ArrayLike | None = None,
    algorithm: str | None = None,
    progress: Progress | None = None,
) -> Array:
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
    match_counts = matches_of_tuples(keys, keys.weight(weights), rule=rule, algorithm=algorithm, progress=progress)[
        keys.owner
    ]
    return np.asarray(match_counts) if keys.kept.all() else np.ma.MaskedArray(match_counts, mask=~keys.kept[keys.owner])


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
    all_matches = np.zeros(keys.distinct, pool.amount.dtype)
    all_matches[keys.kept] = pool_matches
    return all_matches


def consistent(keys: Keys, tuples: Array, others: Array) -> Flags:
    """Whether each of some tuples may be of the same person as another one: on no key are both known and differ."""
    may_match = np.ones(len(tuples), np.bool_)
    for variable, column in zip(keys.variables, keys.tuples.columns, strict=True):
        cells, other_cells = column[tuples].astype(np.int64), column[others].astype(np.int64)
        agrees = (cells == other_cells) | (cells == 0) | (other_cells == 0)
        has_sets = ~agrees & (np.maximum(cells, other_cells) > len(variable.cells.values))
        if has_sets.any():  # they agree if they share a candidate
            agreement_matrix = variable.cells.agreeing(by_value=False)
            shared_counts = agreement_matrix[cells[has_sets] - 1, other_cells[has_sets] - 1]
            agrees[has_sets] = np.asarray(shared_counts).ravel() > 0
        may_match &= agrees
    return may_match


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
    value_columns, owner_tuples, combination_chances = _candidate_combinations(pool)
    symbol_counts = tuple(pool.symbols(key_place) for key_place in range(len(value_columns)))
    first_rows, question_places = grouped(value_columns, symbol_counts)
    question_set = Questions(
        tuple(value_column[first_rows] for value_column in value_columns), np.arange(len(first_rows))
    )
    question_tuples = Tuples(question_set.symbols, symbol_counts, np.ones(len(first_rows), np.int64))
    expected_amount = np.bincount(question_places, combination_chances * pool.amount[owner_tuples], len(first_rows))
    likely_pool = Pool(
        question_tuples, expected_amount, tuple(CellSet.of(cell_set.values) for cell_set in pool.cells), "first"
    )
    question_counts = (
        counter_of(likely_pool, algorithm, progress).count(question_set) if len(question_set) else np.zeros(0)
    )
    expected_shared, self_matches = np.zeros(keys.distinct), np.ones(keys.distinct)
    expected_shared[keys.kept] = np.bincount(
        owner_tuples, combination_chances * question_counts[question_places], len(pool.tuples)
    )
    self_matches[keys.kept] = np.bincount(owner_tuples, combination_chances**2, len(pool.tuples))
    own_weights = np.ones(keys.n) if weights is None else keys.each_weight(weights)
    expected_counts = expected_shared[keys.owner] + own_weights * (1 - self_matches[keys.owner])
    return expected_counts if keys.kept.all() else np.ma.MaskedArray(expected_counts, mask=~keys.kept[keys.owner])


def _candidate_combinations(pool: Pool) -> tuple[list[Array], NDArray[np.intp], NDArray[np.float64]]:
    """Every combination of every tuple's candidates by columns, the tuple that it belongs to, and its chance."""
    total = combinations(pool).sum()
    if total > _MOST_CHANCES:
        raise DataError(
            f"candidates combine in {total:.3g} ways, more than {_MOST_CHANCES:,}; coarsen the keys or take fewer of"
            " them"
        )
    value_columns: list[Array] = list(pool.tuples.columns)
    owner_tuples, combination_chances = np.arange(len(pool.tuples)), np.ones(len(pool.tuples))
    for key_place, cell_set, _ in pool.several:
        value_columns, repeated_rows, candidate_chances = combined(value_columns, key_place, cell_set)
        owner_tuples = owner_tuples[repeated_rows]
        combination_chances = combination_chances[repeated_rows] * candidate_chances
    return value_columns, owner_tuples, combination_chances


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
        plan_text = f"{self.respondents:,} respondents, {self.distinct:,} distinct tuples,"
        plan_text += f" {self.patterns:,} patterns of missing keys"
        for cost in self.costs:
            choice_mark, room_text = "→" if cost.algorithm == self.chosen else " ", f"{cost.bytes / 2**20:,.0f} MB"
            plan_text += f"\n{choice_mark} {cost.algorithm:<6} about {cost.seconds:.2g} s, {room_text}: {cost.why}"
        return plan_text


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
    possible_costs = [cost for cost in costs if cost.bytes <= _ROOM]
    return Plan(
        (possible_costs or costs)[0].algorithm, tuple(costs), pool.tuples.n, len(pool.tuples), pool.tuples.patterns
    )


def _cube(pool: Pool) -> Cost:
    combination_count = counting.cube_cells(pool)
    axis_count = sum(pool.gaps) + sum(pool.uncertain)
    why = f"{combination_count:.3g} combinations × {axis_count} open keys"
    seconds = _CELL * combination_count * (1 + axis_count) + _LOOK_UP * pool.questions + _AXIS_PAIR * pool.agreements
    return Cost("cube", seconds, 8.0 * combination_count + 50.0 * pool.agreements, why)


def _join(pool: Pool) -> Cost:
    question_count, pattern_count = pool.questions, pool.tuples.patterns
    reduced_rows = pattern_count * (pool.spread + question_count)
    why = f"{pattern_count:,} patterns × {len(pool.tuples):,} tuples, {question_count:.3g} questions"
    seconds = _ROW * reduced_rows + pattern_count * (_PATTERN + _ROW * pool.agreements)
    return Cost(
        "join", seconds, 200.0 * min(reduced_rows, 4e6 + pool.spread + question_count) + 50.0 * pool.agreements, why
    )


def _bitmap(pool: Pool) -> Cost:
    question_count, block_count = pool.questions, max(1, -(-len(pool.tuples) // BLOCK))
    built_bits = block_count * BLOCK * float(sum(min(size, BLOCK) for size in pool.tuples.sizes))
    # where keys are missing, few words end early
    keys_missing = sum(float((column == 0).mean()) for column in pool.tuples.columns) if len(pool.tuples) else 0.0
    block_seconds = (_BLOCK_COMPILED if find_spec("numba") else _BLOCK) + _OPEN * keys_missing
    why = f"{question_count:.3g} questions × {block_count:,} blocks of {BLOCK:,} tuples"
    uncertain_cells = [cell_set for _, cell_set, _ in pool.several]
    united_sets = [] if pool.by_value else uncertain_cells
    united_words = 64.0 * block_count * sum(len(cell_set.members) for cell_set in united_sets)
    wide_bits = BLOCK * float(
        sum(len(cell_set.values) + (0 if pool.by_value else cell_set.size / 8) for cell_set in uncertain_cells)
    )
    seconds = (
        _STARTING
        + block_seconds * question_count * block_count
        + _BIT * (built_bits + wide_bits * block_count)
        + _MEMBER * pool.candidate_count
        + _WORD * united_words
    )
    bytes_needed = (
        64.0 * min(question_count, 4e6)
        + 3 * min(wide_bits, 1.0 * BLOCK * pool.candidate_count)
        + 24 * pool.candidate_count / block_count
    )
    return Cost("bitmap", seconds, bytes_needed, why)


def counter_of(pool: Pool, algorithm: str | None, progress: Progress | None = None) -> Counter:
    """The algorithm asked for, or the one with the least estimated cost, ready to count."""
    algorithm_name = algorithm or _plan(pool).chosen
    if algorithm_name not in ALGORITHMS:
        raise DataError(f"algorithm must be one of {_checks.listing_text(ALGORITHMS)}; got {algorithm_name!r}")
    if algorithm_name == "cube":
        return Cube.of(pool)
    return Join(pool, progress) if algorithm_name == "join" else Bitmaps(pool, progress)


HISTOGRAM_MEASURES = ("anonymity", "matches")


class Histogram(NamedTuple):
    """Sizes, rising, and how many respondents have each."""

    sizes: Array
    respondents: NDArray[np.int64]


def histogram(
    keys: Keys,
    *,
    measure: str = "matches",
    rule: str = "worst",
    weights: str | None = None,
    algorithm: str | None = None,
    progress: Progress | None = None,
) -> Histogram:
    """How many respondents have each size k, or each number of matches m, without those who are deleted.

    It works wherever the table is. From DuckDB and Spark it collects the distinct tuples, not the rows. With
    ``algorithm="join"`` it collects neither, and the engine does all the work.

    Parameters
    ----------
    keys : Keys
    measure : {"matches", "anonymity"}
    rule, weights, algorithm, progress
        As in `matches`.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, 36, None, 23, 23]}, ["age"])
    >>> microdata.histogram(keys, measure="anonymity")
    Histogram(sizes=array([1, 2]), respondents=array([2, 2]))
    """
    check_choice(measure, HISTOGRAM_MEASURES, what="measure")
    if keys.remote is not None and algorithm == "join" and measure == "matches":
        engine_matches = matches_on_engine(keys, keys.remote, rule, weighted=weights is not None)
        size_table = engine_matches.group_by(AMOUNT).agg(nw.col(COUNT).sum())
        size_rows = keys.remote.engine.collected(size_table).sort(AMOUNT)
        return Histogram(size_rows[AMOUNT].to_numpy(), size_rows[COUNT].to_numpy().astype(np.int64))
    weight = keys.weight(weights)
    tuple_sizes, is_counted = keys.tuples.count if weight is None else weight, keys.complete
    if measure == "matches":
        tuple_sizes = matches_of_tuples(keys, weight, rule=rule, algorithm=algorithm, progress=progress)
        is_counted = keys.kept
    return Histogram(*by_size(tuple_sizes[is_counted], keys.tuples.count[is_counted]))


def attached(keys: Keys, *, rule: str = "worst", algorithm: str | None = None) -> Any:
    """The table of keys on DuckDB or Spark with two more columns, k and m of each respondent, on the same engine.

    k is null where a key is missing or uncertain, m where the policy "drop" deletes the respondent.

    Parameters
    ----------
    keys : Keys
        Of a DuckDB relation or a Spark dataframe. (For a table in memory `anonymity` and `matches` are in row order.)
    rule, algorithm
        As in `matches`; ``algorithm="join"`` never collects the distinct tuples.

    Returns
    -------
    DuckDB relation or Spark dataframe
    """
    remote = keys.remote
    if remote is None:
        raise DataError("a table in memory keeps its order: add microdata.anonymity(keys) and matches(keys) to it")
    digit_columns = [digit(column_place) for column_place in remote.places]
    if algorithm == "join":
        digit_names = {digit(key_place): name for key_place, name in enumerate(digit_columns)}
        engine_matches = matches_on_engine(keys, remote, rule, weighted=False).rename(digit_names | {AMOUNT: "m"})
        certain_cells = [
            nw.col(n).is_between(1, len(v.cells.values)) for n, v in zip(digit_columns, keys.variables, strict=True)
        ]
        anonymity_column = nw.when(nw.all_horizontal(*certain_cells, ignore_nulls=False)).then(nw.col(COUNT)).alias("k")
        measure_table = remote.tally.select(*digit_columns, anonymity_column).join(
            engine_matches.select(*digit_columns, "m"), on=digit_columns, how="left"
        )
    else:
        code_columns = {
            name: code_column.astype(np.int64)
            for name, code_column in zip(digit_columns, keys.tuples.columns, strict=True)
        }
        k, m = pl.Series(keys.tuples.count), pl.Series(matches_of_tuples(keys, rule=rule, algorithm=algorithm))
        is_complete, is_kept = pl.Series(keys.complete), pl.Series(keys.kept)
        sized_tuples = pl.DataFrame(code_columns).with_columns(
            k=pl.when(is_complete).then(k), m=pl.when(is_kept).then(m)
        )
        measure_table = remote.engine.lift(sized_tuples)
    naysay_columns = [name for name in remote.rows.collect_schema().names() if name.startswith("naysay_")]
    return remote.rows.join(measure_table, on=digit_columns, how="left").drop(*naysay_columns).to_native()


def matches_on_engine(keys: Keys, remote: Remote, rule: str, *, weighted: bool) -> Frame:
    """M of each distinct tuple, computed by its engine: digits, respondents and the amount that matches."""
    check_choice(rule, RULES, what="rule")
    tuple_file = remote.file(weighted=weighted)
    for key_place, variable in enumerate(keys.variables):
        if variable.policy == "drop":
            tuple_file = tuple_file.filter(nw.col(digit(key_place)) > 0)
    cell_sets = [variable.cells for variable in keys.variables]
    is_uncertain = [not cell_set.certain for cell_set in cell_sets]
    key_places = range(len(cell_sets))
    algebra = Algebra.of(cell_sets, is_uncertain, remote.engine.lift, by_value=rule != "intersect")
    pattern_table = remote.engine.collected(tuple_file.select(*pattern_of(map(digit, key_places))).unique())
    patterns = patterns_in(pattern_table, len(cell_sets))
    identity = [*map(digit, key_places), COUNT]
    questions = tuple_file.select(
        *identity, *(nw.col(digit(key_place)).alias(symbol(key_place)) for key_place in key_places)
    )
    for key_place in key_places:
        if is_uncertain[key_place] and rule != "intersect":
            questions = algebra.with_other_symbols(questions, key_place, *cell_sets[key_place].known_pairs(rule))
    question_columns = [*identity, *map(symbol, key_places)]
    question_amounts = algebra.matching_amounts(
        tuple_file, questions, identity=question_columns, patterns=patterns, asked_patterns=patterns
    )
    return question_amounts.group_by(*identity).agg(nw.col(AMOUNT).min())


Counts = NDArray[np.int64]

_LONG = 1e9  # patterns times tuples


@dataclass(frozen=True, eq=False)
class Readings:
    """k, c and m of every record of a table, held once for each distinct tuple of keys: k ≤ c ≤ m.

    Parameters
    ----------
    keys : Keys
    rule : {"worst", "intersect", "first"}
        How uncertain cells match.
    same : (distinct,) int
        k: records that show the same, a gap being a value of its own. Whatever an intruder knows of the keys, they pick
        the right record of these with probability at most 1/k.
    possible : (distinct,) int
        m: records that may be the same person, where a gap may be anything.

    Notes
    -----
    c and m are no bounds of an intruder's success. Two emptied records raise m to 3 for everybody, and protect nobody.
    """

    keys: Keys
    rule: str
    same: Counts
    possible: Counts

    @cached_property
    def showing(self) -> Counts:
        """Number c of each distinct tuple: records that hold, known, all that it shows. Gaps of others do not count."""
        keys, tuples = self.keys, self.keys.tuples
        showing_counts = np.zeros(keys.distinct, np.int64)
        for pattern_rows, known_places in tuples.by_pattern(np.flatnonzero(keys.kept)):
            known_columns = (tuples.columns[key_place] > 0 for key_place in known_places)
            holding = np.flatnonzero(np.logical_and.reduce([keys.kept, *known_columns]))
            if not known_places:
                showing_counts[pattern_rows] = tuples.count[holding].sum()
                continue
            part_tuples, part_places = tuples.take(holding).only(known_places)
            part_keys = keys.of_tuples([keys.variables[key_place] for key_place in known_places], part_tuples)
            match_counts = matches_of_tuples(part_keys, rule=self.rule)[part_places]
            showing_counts[pattern_rows] = match_counts[np.searchsorted(holding, pattern_rows)]
        return showing_counts

    @property
    def long(self) -> bool:
        """Whether c takes long: it is counted once for each pattern of gaps."""
        return float(self.keys.tuples.patterns) * self.keys.distinct > _LONG

    @property
    def k(self) -> Counts:
        """Size k of each respondent, (n,)."""
        return np.asarray(self.same[self.keys.owner], np.int64)

    @property
    def c(self) -> Counts:
        """Number c of each respondent, (n,)."""
        return np.asarray(self.showing[self.keys.owner], np.int64)

    @property
    def m(self) -> Counts:
        """Number m of each respondent, (n,)."""
        return np.asarray(self.possible[self.keys.owner], np.int64)

    @property
    def least_k(self) -> int:
        """The least k: the guarantee of a release; 0 where the policy "drop" leaves nobody in."""
        return self._least(self.same)

    @property
    def least_c(self) -> int:
        """The least c."""
        return self._least(self.showing)

    @property
    def least_m(self) -> int:
        """The least m."""
        return self._least(self.possible)

    def _least(self, sizes: Counts) -> int:
        return int(sizes[self.keys.kept].min()) if self.keys.kept.any() else 0


def readings(keys: Keys, *, rule: str = "worst") -> Readings:
    """k, c and m of a table: three answers to how many records are like one that has gaps.

    Parameters
    ----------
    keys : Keys
        Records that the policy "drop" leaves out have 0.
    rule : {"worst", "intersect", "first"}
        How uncertain cells match, see `matches`; for k two sets of candidates are alike if they are equal.

    Examples
    --------
    >>> from naysay import microdata
    >>> keys = microdata.Keys({"age": [40, 40, 40, None], "sex": ["f", "f", None, "m"]}, ["age", "sex"])
    >>> found = readings(keys)
    >>> found.k, found.c, found.m
    (array([2, 2, 1, 1]), array([2, 2, 3, 1]), array([3, 3, 4, 2]))
    >>> found.least_k
    1

    Notes
    -----
    Where the rule takes a candidate as known (``worst``, ``first``), it does so for c, too.
    """
    return Readings(keys, rule, np.where(keys.kept, keys.tuples.count, 0), matches_of_tuples(keys, rule=rule))
