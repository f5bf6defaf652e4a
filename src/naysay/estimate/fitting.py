"""Whether the answers look as the design says that they must."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.design import Answerable, Design, Levels
from naysay.errors import NotEstimable
from naysay.estimate import profile
from naysay.estimate.information import evidence
from naysay.estimate.linear import rank_of
from naysay.estimate.result import answered_under
from naysay.estimate.solver import maximize
from naysay.tally import Part, Tally

__all__ = ["GoodnessOfFit", "goodness_of_fit"]

Floats = NDArray[np.float64]

_LISTED = 5_000  # responses up to which a design is compared response by response


@dataclass(frozen=True)
class GoodnessOfFit:
    """Answers against those that the design expects at the most likely proportions, which may be negative here.

    A small p-value says that the protocol was not followed, or that an assumption of the design fails; a large one is
    no evidence that they hold.

    Parameters
    ----------
    pearson, deviance : float
        X² = Σ (N - E)²/E and G² = 2 Σ N log(N/E).
    degrees_of_freedom : int
        Response probabilities that the design leaves free, less those that are estimated.
    p_value, deviance_p_value : float
        Of X² and G², by χ².
    """

    pearson: float
    deviance: float
    degrees_of_freedom: int
    p_value: float
    deviance_p_value: float

    def __str__(self) -> str:
        value = "< 0.001" if self.p_value < 0.001 else f"= {self.p_value:.3f}"
        return (
            f"fit: Pearson X² = {self.pearson:.2f}, deviance G² = {self.deviance:.2f} on {self.degrees_of_freedom} df, "
            f"p {value}"
        )


def goodness_of_fit(design: Answerable, tally: Tally) -> GoodnessOfFit | None:
    """Pearson's test and the deviance of a design that expects more of the answers than it estimates.

    For the extended crosswise model it is the test of λ₁ + λ₂ = 1, blind to people who answer at random.

    Parameters
    ----------
    design : Design or Samples
        For an offer of levels see `independence_test`.
    tally : Tally

    Returns
    -------
    GoodnessOfFit or None
        None where nothing can be tested: as many free response probabilities as proportions, survey weights, more
        responses than can be listed, or levels.

    Raises
    ------
    DataError
        If the tally was collected under another design.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.extended_crosswise(prevalence=0.2)
    >>> tally = survey.tally(["same", "different"] * 2, sample=[1, 1, 2, 2], count=[190, 310, 290, 210])
    >>> print(estimate.goodness_of_fit(survey, tally))
    fit: Pearson X² = 1.67, deviance G² = 1.67 on 1 df, p = 0.197
    """
    answered_under(design, tally)
    parts = [part for part in tally.parts if part.n]
    if (
        isinstance(design, Levels)
        or tally.weighted
        or any(not isinstance(p.design, Design) or p.design.space.size > _LISTED for p in parts)
    ):
        return None
    matrices = [_possible(part) for part in parts]
    df = sum(len(matrix) - 1 for matrix, _ in matrices) - rank_of(np.vstack([matrix for matrix, _ in matrices]))
    if df <= 0:
        return None
    proportions = _unbounded(tally)
    observed = np.concatenate([counts for _, counts in matrices])
    expected = np.concatenate([counts.sum() * (matrix @ proportions) for matrix, counts in matrices])
    return _compared(observed, expected, df)


def _unbounded(tally: Tally) -> Floats:
    """The most likely proportions where they may be negative, so that the test keeps its size at the boundary."""
    rows, weights, _ = evidence(tally)
    bounded = maximize(rows, weights).proportions
    if bounded.min() > 1e-9:
        return bounded
    try:
        best = profile.told_summit(rows, weights, 0.999 * bounded + 0.001 / len(bounded)).best
    except NotEstimable:  # too few different answers
        return bounded
    chances = np.concatenate([_possible(part)[0] @ best for part in tally.parts if part.n])
    return best if chances.min() >= 0 else bounded


def _possible(part: Part) -> tuple[Floats, Floats]:
    """Rows of the matrix that some category can give, and how often each response came."""
    design = part.design
    listing = design.space.listing()
    matrix = design.rows(listing)
    counts = Tally((part,)).counts.astype(float)
    possible = matrix.max(axis=1) > 0
    return matrix[possible], counts[possible]


def _compared(observed: Floats, expected: Floats, df: int) -> GoodnessOfFit:
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.where(expected > 0, (observed - expected) ** 2 / expected, 0.0)
        logs = np.where(observed > 0, observed * np.log(observed / expected), 0.0)
    pearson, deviance = float(squares.sum()), max(2 * float(logs.sum()), 0.0)
    p_values = [float(scipy.stats.chi2.sf(value, df)) if math.isfinite(value) else 0.0 for value in (pearson, deviance)]
    return GoodnessOfFit(pearson, deviance, df, p_values[0], p_values[1])
