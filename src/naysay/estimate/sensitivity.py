"""What preferences between false categories could do to a two-option estimate."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.design import Answerable, TwoOption
from naysay.errors import DataError
from naysay.tally import Tally

__all__ = ["preference_band", "quick"]

Floats = NDArray[np.float64]


_QUICK = 50_000  # unknowns × programs that take about a second


def quick(design: Answerable) -> bool:
    """Whether a design has a band of preferences that is soon computed."""
    if not isinstance(design, TwoOption):
        return False
    t, s = len(design.categories), design.shown
    return (math.comb(t, s) * s + math.comb(t, s - 1) * (s - 1)) * 2 * t <= _QUICK


def preference_band(design: Answerable, tally: Tally) -> Floats:
    """The lowest and highest share of each category over all ways of choosing between false categories, (t, 2).

    Shown a set of which the categories F are false for her, a respondent rejects i ∈ F with an unknown chance q(i | F).
    With φ(i, F) = q(i | F)(1 - π(F)) the answer shares are linear in (π, φ), so each end is one linear program:

        C(t, s) λ_i = Σ_F φ(i, F),  Σ_{i ∈ F} φ(i, F) = 1 - π(F) ≥ 0,  φ ≥ 0, π ≥ 0, Σπ = 1,

    over the sets F of s categories (all shown are false) and of s - 1 (the true one is shown). For s = 2 these are the
    θ_ik of Esponda (2006). The band holds sampling error fixed: it says what a misused coin could do. Where chance has
    carried the answers beyond all preferences, it is computed at the nearest answer shares that some preferences give.

    Parameters
    ----------
    design : Design
        From `designs.two_option`.
    tally : Tally

    Returns
    -------
    (t, 2) float
        Shares of one, within [0, 1].

    Raises
    ------
    DataError
        If the design is not from `designs.two_option`.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.two_option(("a", "b", "c", "d"))
    >>> estimate.preference_band(survey, survey.tally(count=[280, 240, 260, 220])).round(3)
    array([[0.  , 0.44],
           [0.  , 0.52],
           [0.  , 0.48],
           [0.  , 0.56]])
    """
    if not isinstance(design, TwoOption):
        raise DataError("the band of preferences is for the two-option scheme; make the design with two_option()")
    t, s = len(design.categories), design.shown
    shares = _answer_shares(design, tally)
    program = _Program.of(t, s, shares)
    bounds = [[program.end(category, sign) for sign in (1, -1)] for category in range(t)]
    return np.asarray(np.clip(bounds, 0.0, 1.0))


def _answer_shares(design: TwoOption, tally: Tally) -> Floats:
    part = tally.parts[0]
    weights = np.zeros(len(design.categories))
    weights[part.codes[:, 0]] = part.weight
    return np.asarray(weights / weights.sum())


class _Program:
    """The linear program over (π, φ): columns are the t proportions, then one φ(i, F) for each member of each F."""

    def __init__(self, equalities: Any, right: Floats) -> None:
        self._equalities = equalities
        self._right = right

    @classmethod
    def of(cls, t: int, s: int, shares: Floats) -> _Program:
        """The program for these answer shares, moved as little as makes it feasible."""
        false_sets = [f for size in (s - 1, s) for f in itertools.combinations(range(t), size)]
        entries: list[tuple[int, int]] = []  # all coefficients are 1
        column = t
        for row, false in enumerate(false_sets, start=t):
            entries += [(row, category) for category in false]  # Σ_i φ(i, F) + π(F) = 1
            for category in false:
                entries += [(category, column), (row, column)]
                column += 1
        last = t + len(false_sets)
        entries += [(last, category) for category in range(t)]
        rows, columns = np.array(entries).T
        equalities = scipy.sparse.csr_array((np.ones(len(entries)), (rows, columns)), shape=(last + 1, column))
        right = np.concatenate([math.comb(t, s) * shares, np.ones(len(false_sets) + 1)])
        right[:t] += _least_move(equalities, right, t)
        return cls(equalities, right)

    def end(self, category: int, sign: int) -> float:
        """The smallest (sign 1) or largest (sign -1) proportion of a category."""
        cost = np.zeros(self._equalities.shape[1])
        cost[category] = sign
        return float(sign * _solved(cost, self._equalities, self._right).fun)


def _least_move(equalities: Any, right: Floats, t: int) -> Floats:
    """The least change, in sum of absolute values, of the answer shares that makes the program feasible."""
    size = equalities.shape[1]
    spare = scipy.sparse.eye_array(equalities.shape[0], t)
    cost = np.concatenate([np.zeros(size), np.ones(2 * t)])
    found = _solved(cost, scipy.sparse.hstack([equalities, -spare, spare], format="csr"), right).x
    return np.asarray(found[size : size + t] - found[size + t :], dtype=float)


def _solved(cost: Floats, equalities: Any, right: Floats) -> Any:
    return scipy.optimize.linprog(cost, A_eq=equalities, b_eq=right, bounds=(0, None), method="highs")
