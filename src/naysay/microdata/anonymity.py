"""Anonymity sets: how many respondents share all of a respondent's keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay.microdata.keys import Keys

__all__ = ["anonymity", "anonymity_of_tuples"]


def anonymity(keys: Keys, *, weights: str | ArrayLike | None = None) -> np.ma.MaskedArray:
    """Size k of each respondent's anonymity set, (n,), masked where a key is missing or uncertain.

    k_i is the number of respondents with the same values as i on every key, after listwise deletion: who misses a key,
    or has several candidates for it, is deleted. With weights it is the sum of theirs, an estimate of how many people
    of the population share the values.

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
    amount, gone = anonymity_of_tuples(keys, weights=weights)
    return np.ma.MaskedArray(amount[keys.owner], mask=gone[keys.owner])


def anonymity_of_tuples(
    keys: Keys, *, weights: str | ArrayLike | None = None
) -> tuple[NDArray[np.int64] | NDArray[np.float64], NDArray[np.bool_]]:
    """K of each distinct tuple, (distinct,), and whether its respondents are deleted."""
    weight = keys.weight(weights)
    gone = ~keys.kept
    for variable, column in zip(keys.variables, keys.tuples.columns, strict=True):
        gone = gone | (column == 0) | (column > len(variable.cells.values))
    return (keys.tuples.count if weight is None else weight), gone
