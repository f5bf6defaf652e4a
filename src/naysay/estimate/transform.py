"""Maximum likelihood without likelihood rows, where one transform gives the chances of all responses at once.

The problem is that of `naysay.estimate.information`: minimize φ(π) = Σ π - Σ_r s_r log (Pπ)_r over π ≥ 0, where s_r is
the share of response r. Its solution sums to one by itself. Each step is Newton's among the categories that may move,
projected onto π ≥ 0 (Bertsekas 1982). The step solves H d = -∇φ with H = Pᵀ diag(s / (Pπ)²) P by conjugate gradients,
which need nothing but products with P and Pᵀ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.estimate.information import Maximum
from naysay.estimate.linear import Floats

__all__ = ["maximize_by"]

_STEPS = 60
_SPARSE = 10  # with fewer answers than one for so many categories, a maximum is seldom unique, and steps are many
_PRODUCTS = 60  # conjugate gradients of one step: far from the maximum an exact step is not worth more
_SHORTEST = 2.0**-30  # part of a step: where rounding hides what is gained
_RIDGE = 1e-11  # added to the curvature, where πᵀHπ = 1, so that a flat direction stops no step
_FLAT = 1e-9  # curvature below this share of the largest counts as none
_SUFFICIENT = 1e-4  # of the decrease that the slope promises (Armijo)


def maximize_by(operator: Any, weights: Floats, *, tolerance: float = 1e-6) -> Maximum:
    """The proportions that make the answers most likely.

    Parameters
    ----------
    operator : scipy.sparse.linalg.LinearOperator (responses, t)
        P, by its products.
    weights : (responses,) float
        How often each response was given.
    tolerance : float
        Stop when W·gap, the certified deficit of log-likelihood, is at most this.

    Raises
    ------
    DataError
        Several proportions are equally likely, or nearly so: there are too few answers.
    """
    total, t = float(weights.sum()), operator.shape[1]
    shares, seen = weights / total, weights > 0
    if int(seen.sum()) * _SPARSE < t:
        raise DataError(f"{seen.sum():,} different answers say too little about {t:,} categories; use estimate.moments")
    pi = np.full(t, 1 / t)
    fitted = operator @ pi
    for done in range(1, _STEPS + 1):  # noqa: B007 (told in the result)
        ratio = np.divide(shares, fitted, out=np.zeros_like(fitted), where=seen)
        gradient = 1 - operator.T @ ratio
        gap = max(float(-gradient.min()), 0.0)
        # A category near zero that would fall is held there: else steps would stop at one such category after another.
        near = min(1e-3 / t, float(abs(pi - np.maximum(pi - gradient, 0.0)).max()))
        free = ~((pi <= near) & (gradient > 0))
        curvature = _curvature(operator, ratio / np.where(seen, fitted, 1.0), free)
        if total * gap <= tolerance:
            break
        slope = gradient[free]
        accuracy = min(0.1, float(np.linalg.norm(slope)) ** 0.5)  # so that errors are squared at each step
        step = np.where(free, 0.0, -pi)
        step[free] = scipy.sparse.linalg.cg(curvature, -slope, rtol=accuracy, maxiter=_PRODUCTS)[0]
        pi, fitted = _along(operator, shares, (pi, fitted), step, gradient)
    else:
        raise DataError(f"the likelihood is so flat that {_STEPS} steps do not reach its maximum; use estimate.moments")
    _check_determined(curvature)
    value = float(weights[seen] @ np.log(fitted[seen]))
    return Maximum(pi, value, gap, total * gap, done, np.zeros((t, 0)))


def _curvature(operator: Any, weights: Floats, free: NDArray[np.bool_]) -> Any:
    """H among the free categories."""

    def product(direction: Any) -> Floats:
        whole = np.zeros(len(free))
        whole[free] = np.ravel(direction)
        return np.asarray((operator.T @ (weights * (operator @ whole)))[free] + _RIDGE * whole[free])

    return scipy.sparse.linalg.LinearOperator((int(free.sum()),) * 2, matvec=product, dtype=float)


def _along(
    operator: Any, shares: Floats, here: tuple[Floats, Floats], step: Floats, gradient: Floats
) -> tuple[Floats, Floats]:
    """The proportions and their Pπ after as much of a step, projected onto π ≥ 0, as lowers φ enough."""
    (pi, fitted), seen, length = here, shares > 0, 1.0
    while True:
        moved = np.maximum(pi + length * step, 0.0)
        reached = operator @ moved
        if (reached[seen] > 0).all():
            gained = moved.sum() - 1 - shares[seen] @ np.log(reached[seen] / fitted[seen])
            if gained <= _SUFFICIENT * min(float(gradient @ (moved - pi)), 0.0) or length < _SHORTEST:
                return moved / moved.sum(), reached / moved.sum()
        length /= 2


def _check_determined(curvature: Any) -> None:
    """Raise where proportions can move without changing the likelihood."""
    if (t := curvature.shape[0]) < 3:
        return
    wanted: dict[str, Any] = {"k": 1, "tol": 1e-2, "return_eigenvectors": False}
    ends = [scipy.sparse.linalg.eigsh(curvature, which=which, **wanted) for which in ("SA", "LA")]
    least, largest = np.concatenate(ends).tolist()
    if least <= _FLAT * largest:
        raise DataError(f"many proportions of {t:,} categories make these answers equally likely; use estimate.moments")
