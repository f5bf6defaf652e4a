"""How many respondents share all keys of a respondent, how many may be the same, and how many to expect."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay.errors import DataError
from naysay.microdata.keys.cells import CellSet
from naysay.microdata.keys.tuples import Tuples, grouped
from naysay.microdata.keys.variables import Keys, Progress
from naysay.microdata.matching.cost import counter_of
from naysay.microdata.matching.question import Amounts, Pool, Questions, answers, combinations, combined, pool_of

__all__ = ["anonymity", "expected_matches", "matches", "matches_of_tuples"]

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
    counted = pool.amount if algorithm is None and pool.plain else answers(pool, counter_of(pool, algorithm, progress))
    if len(counted) == keys.distinct:
        return counted
    result = np.zeros(keys.distinct, pool.amount.dtype)
    result[keys.kept] = counted
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
    columns, owner, chance = _combined(pool)
    sizes = tuple(pool.symbols(place) for place in range(len(columns)))
    first, place = grouped(columns, sizes)
    asked = Questions(tuple(column[first] for column in columns), np.arange(len(first)))
    tuples = Tuples(asked.symbols, sizes, np.ones(len(first), np.int64))
    amount = np.bincount(place, chance * pool.amount[owner], len(first))
    likely = Pool(tuples, amount, tuple(CellSet.of(cells.values) for cells in pool.cells), "first")
    counts = counter_of(likely, algorithm, progress).count(asked) if len(asked) else np.zeros(0)
    shared, alone = np.zeros(keys.distinct), np.ones(keys.distinct)
    shared[keys.kept] = np.bincount(owner, chance * counts[place], len(pool.tuples))
    alone[keys.kept] = np.bincount(owner, chance**2, len(pool.tuples))
    own = np.ones(keys.n) if weights is None else keys.each_weight(weights)
    result = shared[keys.owner] + own * (1 - alone[keys.owner])
    return result if keys.kept.all() else np.ma.MaskedArray(result, mask=~keys.kept[keys.owner])


def _combined(pool: Pool) -> tuple[list[NDArray[Any]], NDArray[np.intp], NDArray[np.float64]]:
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
