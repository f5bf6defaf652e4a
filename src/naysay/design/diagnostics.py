"""What must hold of answers whatever the proportions are: a client that is broken, or lies, shows in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["Diagnostic", "of_counts", "uniform"]

_RARE = 5  # cells that expect fewer answers are joined
_PAIRS = 10  # with fewer expected pairs of equal hashes, nothing can be said about them
SUSPICIOUS = 1e-4
"""A p-value below this becomes a warning."""


@dataclass(frozen=True)
class Diagnostic:
    """A test of the clients, not of the proportions.

    Parameters
    ----------
    about : str
        What was tested, in words.
    statistic : float
        Pearson's X².
    degrees_of_freedom : float
    p_value : float
    """

    about: str
    statistic: float
    degrees_of_freedom: float
    p_value: float

    @property
    def suspicious(self) -> bool:
        """Whether honest clients would hardly ever show this."""
        return self.p_value < SUSPICIOUS

    def __str__(self) -> str:
        value = "< 0.0001" if self.p_value < SUSPICIOUS else f"= {self.p_value:.3g}"
        return f"{self.about}: X² = {self.statistic:.1f} on {self.degrees_of_freedom:.0f} df, p {value}"


def uniform(counts: NDArray[np.int64], cells: int, about: str) -> Diagnostic | None:
    """Pearson's test that all cells are equally likely; `counts` holds those that came.

    With few answers a cell X² is not χ². Its first two moments under the hypothesis are exact, and a scaled χ² that has
    them gives the p-value.
    """
    n = int(counts.sum())
    if cells < 2 or n < 2 or n * (n - 1) / (2 * cells) < _PAIRS:
        return None
    statistic = cells / n * float((counts.astype(float) ** 2).sum()) - n
    df, spread = cells - 1, (n - 1) / n  # variance 2 df (n - 1)/n
    p = float(scipy.special.chdtrc(df / spread, statistic / spread))
    return Diagnostic(about, statistic, df, p)


def of_counts(observed: NDArray[np.int64], chances: NDArray[np.float64], about: str) -> Diagnostic | None:
    """Pearson's test of counts against known chances; neighbors that expect few answers are joined."""
    expected = observed.sum() * chances
    places, pool, held = np.zeros(len(expected), dtype=int), 0, 0.0
    for place, value in enumerate(expected.tolist()):
        places[place] = pool
        held += value
        if held >= _RARE:
            pool, held = pool + 1, 0.0
    places = np.minimum(places, max(pool - 1, 0))  # the remainder joins the last pool
    if places[-1] == 0:
        return None
    seen, hoped = np.bincount(places, observed), np.bincount(places, expected)
    statistic = float(((seen - hoped) ** 2 / hoped).sum())
    return Diagnostic(about, statistic, places[-1], float(scipy.special.chdtrc(places[-1], statistic)))
