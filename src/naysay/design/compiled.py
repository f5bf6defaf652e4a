"""The sets of subset selection, from integers drawn before, in compiled code; needs numba (the extra `fast`)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def write_sets(
    candidate_draws: NDArray[np.int64],
    first: int,
    truth: NDArray[np.int64],
    place: NDArray[np.int64],
    codes: NDArray[np.int64],
    word: int,
) -> None:  # pragma: no cover (coverage does not see compiled code; a test holds it to the plain one)
    """Write the set of each row into `codes`, which holds zeros; see `SubsetSelection.rule`.

    `candidate_draws` holds the integers of each step, (k, n), the first of them at most `first`. `place` is the drawn
    category that the truth replaces, or -1.
    """
    k, n = candidate_draws.shape
    is_taken = np.zeros(first + k + 1, dtype=np.uint8)
    set_members = np.empty(k, dtype=np.int64)
    for row in range(n):
        for step in range(k):
            candidate = candidate_draws[step, row]
            if is_taken[candidate]:
                candidate = first + step
            is_taken[candidate] = 1
            set_members[step] = candidate
        for step in range(k):
            candidate = set_members[step]
            is_taken[candidate] = 0
            category = candidate + 1 if candidate >= truth[row] else candidate
            if step == place[row]:
                category = truth[row]
            codes[row, category // word] |= 1 << (category % word)
