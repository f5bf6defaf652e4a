"""What preferences between false categories could do to a two-option estimate."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.optimize import linprog

from naysay.design import Answerable, TwoOption
from naysay.errors import DataError
from naysay.tally import Tally

__all__ = ["applies", "preference_band"]

Floats = NDArray[np.float64]


def applies(design: Answerable) -> bool:
    """Whether a design has a band of preferences."""
    return isinstance(design, TwoOption)


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
    false_sets = [f for size in (s - 1, s) for f in itertools.combinations(range(t), size)]
    equalities, right = _program(t, s, false_sets, shares)
    slack = _least_slack(equalities, right, t)
    right = right.copy()
    right[:t] += slack
    bounds = [[_end(equalities, right, category, sign) for sign in (1, -1)] for category in range(t)]
    return np.clip(np.array(bounds), 0.0, 1.0)


def _answer_shares(design: TwoOption, tally: Tally) -> Floats:
    part = tally.parts[0]
    weights = np.zeros(len(design.categories))
    weights[part.codes[:, 0]] = part.weight
    return weights / weights.sum()


def _program(
    t: int, s: int, false_sets: list[tuple[int, ...]], shares: Floats
) -> tuple[scipy.sparse.csr_array, Floats]:
    """Equalities over (π, φ): t for the answer shares, one for each false set, one for the sum of π."""
    entries: list[tuple[int, int, float]] = []
    column = t
    for place, false in enumerate(false_sets):
        row = t + place
        entries += [(row, category, 1.0) for category in false]  # Σ_i φ(i, F) + π(F) = 1
        for category in false:
            entries += [(category, column, 1.0), (row, column, 1.0)]
            column += 1
    last = t + len(false_sets)
    entries += [(last, category, 1.0) for category in range(t)]
    rows, columns, values = (np.array(part) for part in zip(*entries, strict=True))
    matrix = scipy.sparse.csr_array((values, (rows.astype(int), columns.astype(int))), shape=(last + 1, column))
    shown = float(np.prod([(t - i) / (i + 1) for i in range(s)]))
    right = np.concatenate([shown * shares, np.ones(len(false_sets) + 1)])
    return matrix, right


def _least_slack(equalities: scipy.sparse.csr_array, right: Floats, t: int) -> Floats:
    """The least change (in sum of absolute values) of the answer shares that makes the program feasible."""
    size = equalities.shape[1]
    spare = scipy.sparse.vstack([scipy.sparse.eye_array(t), scipy.sparse.csr_array((equalities.shape[0] - t, t))])
    matrix = scipy.sparse.hstack([equalities, -spare, spare]).tocsr()
    cost = np.concatenate([np.zeros(size), np.ones(2 * t)])
    found = linprog(cost, A_eq=matrix, b_eq=right, bounds=(0, None), method="highs")
    return np.asarray(found.x[size : size + t] - found.x[size + t :])


def _end(equalities: scipy.sparse.csr_array, right: Floats, category: int, sign: int) -> float:
    cost = np.zeros(equalities.shape[1])
    cost[category] = sign
    found = linprog(cost, A_eq=equalities, b_eq=right, bounds=(0, None), method="highs")
    return float(sign * found.fun)
