"""Expected matches: how many respondents share a respondent's values, where candidates have chances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay.errors import DataError
from naysay.microdata.keys.cells import Cells
from naysay.microdata.keys.tuples import Tuples, grouped
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.cost import counter_of
from naysay.microdata.matching.question import Asked, File, combinations, combined, file_of

__all__ = ["expected_matches"]

_MOST = 200_000_000  # combinations of candidates held in memory


def expected_matches(
    keys: Keys,
    *,
    weights: str | ArrayLike | None = None,
    algorithm: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> NDArray[np.float64]:
    """Expected number of respondents who share the values of each, (n,), herself included.

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
    weight = keys.weight(weights)
    file = file_of(keys, "first", weight)
    likely = _likely(file)
    nobody = not len(likely.asked)
    counts = np.zeros(0) if nobody else counter_of(likely.file, algorithm, progress).count(likely.asked)
    shared, alone = np.zeros(keys.distinct), np.ones(keys.distinct)
    shared[keys.kept] = np.bincount(likely.owner, likely.chance * counts[likely.place], len(file.tuples))
    alone[keys.kept] = np.bincount(likely.owner, likely.chance**2, len(file.tuples))
    own = np.ones(keys.n) if weights is None else keys.each_weight(weights)
    result = shared[keys.owner] + own * (1 - alone[keys.owner])
    return result if keys.kept.all() else np.ma.MaskedArray(result, mask=~keys.kept[keys.owner])


@dataclass(frozen=True, eq=False)
class _Likely:
    """Every combination of every tuple's candidates, `owner` the tuple, `place` the combination's own."""

    file: File
    asked: Asked
    owner: NDArray[np.intp]
    place: NDArray[np.intp]
    chance: NDArray[np.float64]


def _likely(file: File) -> _Likely:
    total = combinations(file).sum()
    if total > _MOST:
        raise DataError(
            f"candidates combine in {total:.3g} ways, more than {_MOST:,}; coarsen the keys or take fewer of them"
        )
    columns: list[NDArray[Any]] = list(file.tuples.columns)
    owner, chance = np.arange(len(file.tuples)), np.ones(len(file.tuples))
    for number, (cells, many) in enumerate(zip(file.cells, file.uncertain, strict=True)):
        if many:
            columns, repeat, likely = combined(columns, number, cells)
            owner, chance = owner[repeat], chance[repeat] * likely
    sizes = tuple(file.symbols(place) for place in range(len(columns)))
    first, place = grouped(columns, sizes)
    distinct = tuple(column[first] for column in columns)
    amount = np.bincount(place, chance * file.amount[owner], len(first))
    tuples = Tuples(distinct, sizes, np.ones(len(first), np.int64))
    values = tuple(Cells.of(cells.values) for cells in file.cells)
    return _Likely(File(tuples, amount, values, "first"), Asked(distinct, np.arange(len(first))), owner, place, chance)
