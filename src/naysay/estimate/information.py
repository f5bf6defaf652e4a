"""The evidence of a tally, the curvature of its likelihood, and the kinds of standard errors that rest on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naysay.design import Design
from naysay.errors import DataError
from naysay.estimate.linear import tangent
from naysay.estimate.solver import Maximum
from naysay.tally import Tally

__all__ = [
    "KINDS",
    "evidence",
    "expected_information",
    "information",
    "inverse",
    "likelihood_covariance",
    "standard_error_kind",
]

Floats = NDArray[np.float64]

KINDS = {
    "observed": "observed information",
    "expected": "expected information",
    "outer_product": "outer product of the scores",
    "sandwich": "sandwich",
}
"""What standard errors of likelihood estimates may rest on, and how it is called."""


def evidence(tally: Tally) -> tuple[Floats, Floats, Floats]:
    """Likelihood rows of all distinct answers, with the sums of their weights and of the squared weights.

    Weights are scaled to sum to the number of respondents, so that nothing depends on their unit; answers without
    weight are left out.
    """
    parts = [part for part in tally.parts if part.n]
    weight = np.concatenate([part.weight for part in parts]).astype(float)
    squared = np.concatenate([part.weight_squared for part in parts]).astype(float)
    scale = tally.n / weight.sum()
    heavy = weight > 0
    rows = np.vstack([part.design.rows(part.codes) for part in parts])
    if not heavy.all():
        rows, weight, squared = rows[heavy], weight[heavy], squared[heavy]
    return rows, weight * scale, squared * scale**2


def standard_error_kind(kind: str, *, weighted: bool, target: str) -> str:
    """The kind in words, as it is printed beside the numbers."""
    words = KINDS[kind] + (", linearized for the weights" if weighted else "")
    return words + (", randomization only" if target == "file" else "")


def information(rows: Floats, weights: Floats, proportions: Floats) -> Floats:
    """Observed Fisher information Σ_r w_r L[r]ᵀL[r] / (L[r]·π)², (t, t)."""
    scaled = rows * (np.sqrt(weights) / (rows @ proportions))[:, None]
    return np.asarray(scaled.T @ scaled)


def expected_information(tally: Tally, proportions: Floats) -> Floats:
    """Expected Fisher information Σ_g n_g Σ_y P_g[y]ᵀP_g[y] / (P_g[y]·π), (t, t), over the parts of a tally.

    Raises
    ------
    DataError
        Where there are too many responses to list.
    """
    total = np.zeros((len(proportions), len(proportions)))
    for part in tally.parts:
        if not isinstance(part.design, Design) or not part.design.space.listable:
            raise DataError(
                "the expected information needs responses that can be listed; use standard_errors='observed'"
            )
        matrix = part.design.matrix
        chances = matrix @ proportions
        possible = chances > 0
        total += part.n * (matrix[possible].T @ (matrix[possible] / chances[possible, None]))
    return total


def inverse(curvature: Floats) -> Floats:
    """Pseudo-inverse (t, t) of an information on the directions that keep Σπ = 1."""
    basis = tangent(len(curvature))
    return np.asarray(basis @ np.linalg.pinv(basis.T @ curvature @ basis, rcond=1e-12, hermitian=True) @ basis.T)


def likelihood_covariance(
    rows: Floats,
    weights: Floats,
    squared: Floats,
    maximum: Maximum,
    *,
    kind: str = "observed",
    curvature: Floats | None = None,
) -> Floats:
    """The covariance (t, t) of a likelihood estimate; NaN for proportions that are not determined.

    With I the information and J = Σ w² s sᵀ of the scores s: I⁻¹, J⁻¹ or I⁻¹JI⁻¹, on the directions that keep Σπ = 1.
    """
    pi = maximum.proportions
    scores = rows / (rows @ pi)[:, None] - 1
    bread = inverse(information(rows, weights, pi) if curvature is None else curvature)
    if kind == "outer_product":
        bread = inverse(scores.T @ (scores * weights[:, None]))
    covariance = np.array(bread)
    if kind == "sandwich":
        n = weights.sum() ** 2 / squared.sum()
        covariance = bread @ (scores.T @ (scores * squared[:, None])) @ bread * (n / max(n - 1, 1))
    open_ = maximum.open
    covariance[open_, :] = np.nan
    covariance[:, open_] = np.nan
    return covariance
