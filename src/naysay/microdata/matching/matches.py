"""Anonymity sets and matches: how many respondents share all keys of a respondent, and how many may be the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay.microdata.keys.variables import Keys, Progress
from naysay.microdata.matching.cost import counter_of
from naysay.microdata.matching.question import Amounts, answers, pool_of

__all__ = ["anonymity", "matches", "matches_of_tuples"]


def anonymity(keys: Keys, *, weights: str | ArrayLike | None = None) -> np.ma.MaskedArray:
    """Size k of each respondent's anonymity set, (n,), masked where a key is missing or uncertain.

    k_i is the number of respondents with the same values as i on every key, after listwise deletion: respondents who
    miss a key, or have several candidates for it, are deleted. With weights it is the sum of theirs, an estimate of how
    many people of the population share the values.

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
        What an uncertain cell means. `worst`: an intruder knows the true value, so the least number of matches over
        i's own candidates, each taken as known. `intersect`: candidate sets meet; it understates the risk. `first`: the
        first candidate of i is taken as known.
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
    result = np.zeros(keys.distinct, pool.amount.dtype)
    result[keys.kept] = answers(pool, counter_of(pool, algorithm, progress)) if len(pool.tuples) else 0
    return result
