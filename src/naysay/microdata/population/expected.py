"""Expected matches: how many respondents share a respondent's values, where candidates have chances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay.errors import DataError
from naysay.microdata.keys.cells import CellSet
from naysay.microdata.keys.tuples import Tuples, grouped
from naysay.microdata.keys.variables import Keys, Progress
from naysay.microdata.matching.cost import counter_of
from naysay.microdata.matching.question import Pool, Questions, combinations, combined, pool_of

__all__ = ["expected_matches"]

_MOST = 200_000_000  # combinations of candidates held in memory


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
