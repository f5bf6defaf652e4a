"""The sets of subset selection, from integers drawn before, in compiled code; needs numba (the extra `fast`)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def chosen(
    drawn: NDArray[np.int64],
    first: int,
    truth: NDArray[np.int64],
    place: NDArray[np.int64],
    codes: NDArray[np.int64],
    word: int,
) -> None:  # pragma: no cover (coverage does not see compiled code; a test holds it to the plain one)
    """Write the set of each row into `codes`, which holds zeros; see `SubsetSelection.rule`.

    `drawn` holds the integers of each step, (k, n), the first of them at most `first`. `place` is the drawn category
    that the truth replaces, or -1.
    """
    k, n = drawn.shape
    taken = np.zeros(first + k + 1, dtype=np.uint8)
    found = np.empty(k, dtype=np.int64)
    for row in range(n):
        for step in range(k):
            candidate = drawn[step, row]
            if taken[candidate]:
                candidate = first + step
            taken[candidate] = 1
            found[step] = candidate
        for step in range(k):
            candidate = found[step]
            taken[candidate] = 0
            category = candidate + 1 if candidate >= truth[row] else candidate
            if step == place[row]:
                category = truth[row]
            codes[row, category // word] |= 1 << (category % word)
