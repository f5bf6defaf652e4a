"""Score tests: whether answers fit one set of proportions, and whether several samples share one.

A sample's counts N are compared with the counts E = nPπ̃ that are expected at the most likely proportions π̃. The
residuals are r = (N - E)/√E. Along the directions that keep Σπ = 1, r moves with Z = nP/√E. The score sᵀI⁻s, with s =
Zᵀr and I = ZᵀZ, is the part of r that some proportions, negative ones included, could explain; the rest is Pearson's
X². Both follow χ² even if π̃ touches the boundary, where likelihood ratios do not (Rao 1948). Responses so rare that χ²
would fail are pooled. A sum of them is also linear in π, so that the model stays the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.design import Answerable
from naysay.estimate.information import answered_under, evidence, information, maximize
from naysay.estimate.linear import Floats, tangent
from naysay.printing import number
from naysay.tally import Channel, Part, Tally

__all__ = [
    "LISTED",
    "Counts",
    "GoodnessOfFit",
    "Scores",
    "agreement",
    "counted",
    "goodness_of_fit",
    "misfit",
    "plenty",
    "scores",
]

LISTED = 5_000
"""With up to so many responses, a sample is compared response by response."""

_RARE = 0.5  # responses with fewer expected answers are pooled; tests then held their size in random sparse surveys
_MANY = 5  # answers that a likelihood ratio needs per response, or per four categories' worth of them, to follow χ²


class Counts(NamedTuple):
    """Possible responses, rare ones pooled: their rows of the design (pools, t), N, E, and how many are rare."""

    rows: Floats
    observed: Floats
    expected: Floats
    pooled: int


class Scores(NamedTuple):
    """How n answers contradict the proportions: Σr², the score s, its information I, and free responses."""

    n: int
    squares: float
    score: Floats
    information: Floats
    free: int


def counted(part: Part, proportions: Floats, matrix: Floats | None = None) -> Counts:
    """The observed and the expected answers of one sample, for responses that can be listed."""
    listed = part.design.rows(part.design.space.listing()) if matrix is None else matrix
    possible = listed.max(axis=1) > 0
    rows, observed = listed[possible], Tally((part,)).counts[possible]
    expected = part.n * np.maximum(rows @ proportions, 0.0)
    order = np.argsort(expected, kind="stable")
    places = np.empty(len(order), dtype=int)
    places[order] = _pools(expected[order])
    each = np.column_stack([rows, observed, expected])
    pooled = np.zeros((int(places.max()) + 1, each.shape[1]))
    np.add.at(pooled, places, each)
    return Counts(pooled[:, :-2], pooled[:, -2], pooled[:, -1], int((expected < _RARE).sum()))


def _pools(expected: Floats) -> NDArray[np.intp]:
    """The pool of each response, (responses,), in ascending order. No pool expects too little, unless n is small."""
    places, pool, held = [], 0, 0.0
    for value in expected.tolist():
        places.append(pool)
        held += value
        if held >= _RARE:
            pool, held = pool + 1, 0.0
    return np.minimum(places, max(pool - 1, 0))  # the remainder joins the last pool


def scores(parts: Iterable[Part], proportions: Floats) -> list[Scores]:
    """The scores of several samples at the same proportions; from the observed ones if responses cannot be listed."""
    matrices: dict[int, tuple[Channel, Floats]] = {}  # holds the channel, too: else its id could be reused
    basis, found = tangent(len(proportions)), []
    for part in parts:
        design = part.design
        if design.space.size > LISTED:
            found.append(_observed(part, proportions, basis))
            continue
        if id(design) not in matrices:
            matrices[id(design)] = design, design.rows(design.space.listing())
        rows, observed, expected, _ = counted(part, proportions, matrices[id(design)][1])
        root = np.sqrt(expected)
        residuals, moved = (observed - expected) / root, (part.n * rows / root[:, None]) @ basis
        found.append(Scores(part.n, float(residuals @ residuals), moved.T @ residuals, moved.T @ moved, len(rows) - 1))
    return found


def _observed(part: Part, proportions: Floats, basis: Floats) -> Scores:
    rows, count = part.design.rows(part.codes), part.count.astype(float)
    slope = rows.T @ (count / (rows @ proportions))
    curvature = information(rows, count, proportions)
    return Scores(part.n, np.nan, basis.T @ slope, basis.T @ curvature @ basis, 0)


def misfit(samples: Sequence[Scores]) -> tuple[float, int]:
    """Pearson's X² for what one set of proportions cannot explain, and its degrees of freedom."""
    explained, rank = _explained(samples)
    return max(sum(each.squares for each in samples) - explained, 0.0), sum(each.free for each in samples) - rank


def agreement(samples: Sequence[Scores]) -> tuple[float, int]:
    """The score statistic of separate proportions for each sample against common ones, and its degrees of freedom."""
    common, shared = _explained(samples)
    own = [_explained([each]) for each in samples]
    return max(sum(value for value, _ in own) - common, 0.0), sum(rank for _, rank in own) - shared


def _explained(samples: Sequence[Scores]) -> tuple[float, int]:
    """sᵀI⁻s of the samples together, and the rank of I."""
    values, vectors = np.linalg.eigh(np.sum([each.information for each in samples], axis=0))
    told = values > 1e-11 * max(values.max(), sum(each.n for each in samples))
    along = vectors[:, told].T @ np.sum([each.score for each in samples], axis=0)
    return float(along**2 @ (1 / values[told])), int(told.sum())


def plenty(part: Part) -> bool:
    """Whether a sample has enough answers for the likelihood ratio to follow χ² inside the simplex."""
    return part.n >= _MANY * min(part.design.space.size, 4 * len(part.design.categories))


@dataclass(frozen=True)
class GoodnessOfFit:
    """A test of the answers against those that the design expects.

    A small p-value says that the protocol was not followed, or that an assumption of the design fails. A large p-value
    is no evidence that both hold.

    Parameters
    ----------
    pearson : float
        X² = Σ (N - E)²/E₀. E₀ is expected at the most likely proportions; E, at those that make X² least. The latter
        may be negative, so that the test keeps its size where an estimate is 0; elsewhere E = E₀.
    deviance : float
        G² = 2 Σ N log(N/E₀).
    degrees_of_freedom : int
        The number of response probabilities that the design leaves free, minus the number of estimated ones.
    p_value, deviance_p_value : float
        The p-values of X² and G², by χ²; that of G² is NaN where an estimate is 0.
    reference : str
        The distribution of X², and how many rare responses were pooled for it.
    """

    pearson: float
    deviance: float
    degrees_of_freedom: int
    p_value: float
    deviance_p_value: float
    reference: str = "χ²"

    def __str__(self) -> str:
        value = "< 0.001" if self.p_value < 0.001 else f"= {self.p_value:.3f}"
        pooled = "" if self.reference == "χ²" else f" ({self.reference})"
        return (
            f"fit: Pearson X² = {self.pearson:.2f}, deviance G² = {self.deviance:.2f} on {self.degrees_of_freedom} df, "
            f"p {value}{pooled}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The test as a JSON object."""
        return {**asdict(self), "deviance_p_value": number(self.deviance_p_value)}


def goodness_of_fit(design: Answerable, tally: Tally) -> GoodnessOfFit | None:
    """Pearson's test and the deviance of a design that expects more of the answers than it estimates.

    For the extended crosswise model it is the test of λ₁ + λ₂ = 1. It cannot detect people who answer at random.

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
    if design.assigned_by == "respondent" or tally.weighted or any(part.design.space.size > LISTED for part in parts):
        return None
    if tally.free < len(design.categories):
        return None  # nothing is left to test; the fit below would take long with many proportions
    rows, weights, _ = evidence(tally)
    proportions = maximize(rows, weights).proportions
    pearson, df = misfit(scores(parts, proportions))
    if df <= 0:
        return None
    compared = [counted(part, proportions) for part in parts]
    observed, expected = (
        np.concatenate(each) for each in ([c.observed for c in compared], [c.expected for c in compared])
    )
    logs = np.log(observed / expected, out=np.zeros_like(observed), where=observed > 0)
    deviance = max(2 * float(observed @ logs), 0.0)
    of_deviance = float(scipy.stats.chi2.sf(deviance, df)) if proportions.min() > 1e-9 else math.nan
    rare = sum(each.pooled for each in compared)
    law = f"χ², {rare} rare responses pooled" if rare else "χ²"
    return GoodnessOfFit(pearson, deviance, df, float(scipy.stats.chi2.sf(pearson, df)), of_deviance, law)
