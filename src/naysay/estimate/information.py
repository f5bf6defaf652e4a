"""The likelihood of a tally: its evidence, its maximum over the simplex with a certificate, and its curvature.

The problem: maximize Σ_r w_r log(L[r]·π) over π ≥ 0, Σπ = 1, with likelihood rows L[r], weights w_r and W = Σ w_r.

The method is sequential quadratic programming on the likelihood rows (Kim, Carbonetto, Stephens & Anitescu 2020,
mix-SQP). Each step solves a non-negative least-squares problem of size t exactly, then searches along the line. The
certificate is gap = max_j (1/W) Σ_r w_r L[r, j] / (L[r]·π) - 1. By concavity the log-likelihood is within W·gap of its
maximum.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.design import Answerable
from naysay.design.base import check_design
from naysay.errors import DataError, NaysayError, StatisticalWarning
from naysay.estimate.linear import Floats, tangent
from naysay.sampling import Sampled
from naysay.tally import Tally

_FLOOR = 64 * np.finfo(float).eps  # a relative gap below this is only rounding
_NEAR = 1e-9  # at this relative gap the set of positive proportions is settled
_PATIENCE = 25  # after so many steps without progress near the maximum, rounding is the cause
_FLAT = 1e-9  # curvature below this share of the largest counts as none

TARGETS = ("population", "file")

KINDS = {
    "observed": "observed information",
    "expected": "expected information",
    "outer_product": "outer product of the scores",
    "sandwich": "sandwich",
}
"""Kinds of standard errors of likelihood estimates, and the words for each."""


Evidence = tuple[Floats, Floats, Sampled]
"""Likelihood rows (distinct, t), their weights (distinct,), and how the people were sampled."""


def evidence(tally: Tally) -> Evidence:
    """Likelihood rows of all distinct answers, with the sums of their weights, and how the people were sampled.

    Weights are scaled to sum to the number of respondents, so that nothing depends on their unit. Answers whose weight
    is zero are left out.
    """
    parts = [part for part in tally.parts if part.n]
    weight = np.concatenate([part.weight for part in parts]).astype(float)
    scale = tally.n / weight.sum()
    heavy = weight > 0
    rows = np.vstack([part.design.rows(part.codes) for part in parts])
    rows = rows if heavy.all() else rows[heavy]
    return rows, weight[heavy] * scale, tally.drawn(kish=True).take(heavy).scaled(scale)


@dataclass(frozen=True)
class Maximum:
    """A maximum of the likelihood.

    Parameters
    ----------
    proportions : (t,) float
        The maximizer; where several are equally likely, the one nearest to equal shares.
    log_likelihood : float
    gap : float
        The certificate: the log-likelihood is at most `total_gap` below its maximum.
    total_gap : float
        W·gap.
    iterations : int
    undetermined : (t, q) float
        Orthonormal directions in which the proportions can move without changing the likelihood; q = 0 if the
        maximizer is unique.
    """

    proportions: Floats
    log_likelihood: float
    gap: float
    total_gap: float
    iterations: int
    undetermined: Floats

    @property
    def open(self) -> NDArray[np.bool_]:
        """Categories whose proportions the likelihood leaves open, (t,)."""
        return np.asarray(np.abs(self.undetermined).max(axis=1, initial=0.0) > 1e-6)


def maximize(
    rows: Floats, weights: Floats, *, tolerance: float = 1e-6, polish: int = 3, iterations: int = 1_000
) -> Maximum:
    """The proportions that make the answers most likely.

    Parameters
    ----------
    rows : (distinct, t) float
        Likelihood rows, one for each distinct answer.
    weights : (distinct,) float
        How often each was given.
    tolerance : float
        Stop when W·gap, the certified deficit of log-likelihood, is at most this.
    polish : int
        Steps beyond the tolerance; where the problem is regular, each step squares the error.
    iterations : int
        The largest number of steps.

    Returns
    -------
    Maximum
        Its `total_gap` exceeds the tolerance only where floating point allows no more (billions of answers).

    Raises
    ------
    NaysayError
        If the search does not come near a maximum.
    """
    has_weight = weights > 0
    scale = rows[has_weight].max(axis=1)
    scaled, total = rows[has_weight] / scale[:, None], float(weights[has_weight].sum())
    shares = weights[has_weight] / total
    pi = np.full(rows.shape[1], 1 / rows.shape[1])
    needed = max(tolerance / total, _FLOOR)
    best, stalled, polish = np.inf, 0, polish + 1
    for done in range(1, iterations + 1):  # noqa: B007 (told in the result)
        fitted = scaled @ pi
        gradient = scaled.T @ (shares / fitted)
        gap = float(gradient.max() - 1)
        stalled = 0 if gap < best / 4 else stalled + 1
        polish -= gap <= needed
        if gap <= needed and (polish <= 0 or stalled):
            break
        if gap <= _NEAR and stalled > _PATIENCE:
            break  # floating point allows no more; the result states the gap that was reached
        best = min(best, gap)
        pi = _step(scaled, shares, fitted, gradient, pi)
    else:
        if gap > _NEAR:
            raise NaysayError(f"maximum likelihood did not get near its maximum in {iterations} steps (gap {gap:.1e})")
    pi, undetermined = _most_even(scaled, shares, pi, gradient)
    value = float(total * shares @ np.log(scaled @ pi) + weights[has_weight] @ np.log(scale))
    gap = max(gap, 0.0)
    return Maximum(pi, value, gap, total * gap, done, undetermined)


def _step(rows: Floats, shares: Floats, fitted: Floats, gradient: Floats, pi: Floats) -> Floats:
    """One step: the exact minimum of the quadratic model over π ≥ 0, then a backtracking line search."""
    curvature = _curvature(rows, shares, fitted)
    if gradient.max() - 1 < _NEAR:  # the non-negative least squares below stops short of this precision
        finished = _face_step(curvature, gradient, pi)
        if finished is not None and (rows @ finished > 0).all():
            return finished
    target = _model_minimum(curvature, 2 * gradient - 1)
    direction = np.zeros_like(pi) if target is None else target - pi
    slope = float((1 - gradient) @ direction)
    if slope >= 0:
        return expectation_step(rows, shares, pi)
    change = rows @ direction
    value = -shares @ np.log(fitted)
    length = 1.0
    for _ in range(40):
        moved = fitted + length * change
        if (moved > 0).all():
            gained = -shares @ np.log(moved) + length * direction.sum() - value
            if gained <= 1e-4 * length * slope or (length == 1.0 and abs(slope) < 1e-13):
                stepped = np.maximum(pi + length * direction, 0.0)
                return np.asarray(stepped / stepped.sum())
        length /= 2
    return expectation_step(rows, shares, pi)


def _face_step(curvature: Floats, gradient: Floats, pi: Floats) -> Floats | None:
    """Newton's step among the categories that are positive or would grow; it stops where the first becomes zero."""
    free = (pi > 0) | (gradient > 1)
    while True:
        step = np.zeros_like(pi)
        try:
            with warnings.catch_warnings():  # no warning: directions are flat where the answers cannot tell cells apart
                warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
                step[free] = scipy.linalg.solve(curvature[np.ix_(free, free)], gradient[free] - 1, assume_a="pos")
        except (np.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
            return None
        stuck = (pi <= 0) & (step < 0)
        if not stuck.any():
            break
        free &= ~stuck
    falling = step < 0
    limits = np.where(falling, -pi / np.where(falling, step, -1.0), np.inf)
    length = min(1.0, float(limits.min()))
    moved = np.maximum(pi + length * step, 0.0)
    if length < 1:
        moved[limits.argmin()] = 0.0
    return np.asarray(moved / moved.sum())


def _curvature(rows: Floats, shares: Floats, fitted: Floats) -> Floats:
    """Σ_r w_r L[r]ᵀL[r] / (L[r]·π)², the observed information per answer."""
    weighted = rows * (np.sqrt(shares) / fitted)[:, None]
    return weighted.T @ weighted


def _model_minimum(curvature: Floats, linear: Floats) -> Floats | None:
    """The minimizer over y ≥ 0 of ½ yᵀHy - cᵀy, as a non-negative least-squares problem in the Cholesky factor of H."""
    ridge = 1e-12 * np.trace(curvature) / len(curvature)
    try:
        factor = scipy.linalg.cholesky(curvature + ridge * np.eye(len(curvature)), check_finite=False)
        goal = scipy.linalg.solve_triangular(factor, linear, trans="T", check_finite=False)
        solution, _ = scipy.optimize.nnls(factor, goal)
    except (np.linalg.LinAlgError, RuntimeError):
        return None
    return np.asarray(solution)


def expectation_step(rows: Floats, shares: Floats, pi: Floats) -> Floats:
    """One step of EM: π_j ← π_j Σ_r w_r L[r, j] / (L[r]·π); never lowers the likelihood."""
    moved = pi * (rows.T @ (shares / (rows @ pi)))
    return np.asarray(moved / moved.sum())


def _most_even(rows: Floats, shares: Floats, pi: Floats, gradient: Floats) -> tuple[Floats, Floats]:
    """The maximizer that is nearest to equal shares, and the directions that the likelihood leaves open."""
    free = np.flatnonzero(gradient >= 1 - 1e-7)
    curvature = _curvature(rows[:, free], shares, rows @ pi)
    values, vectors = np.linalg.eigh(curvature)
    flat = vectors[:, values <= _FLAT * max(values.max(), 1e-300)]
    undetermined = np.zeros((len(pi), flat.shape[1]))
    undetermined[free] = flat
    if not flat.shape[1]:
        return pi, undetermined
    even = pi.copy()
    base = pi[free] - flat @ (flat.T @ pi[free])  # nearest to 0, and so to equal shares, along the flat directions
    if base.min() < 0:
        base = base + flat @ _least_distance(flat, -base)
    even[free] = np.maximum(base, 0.0)
    return even / even.sum(), undetermined


def _least_distance(directions: Floats, bounds: Floats) -> Floats:
    """The shortest y subject to directions @ y ≥ bounds (Lawson & Hanson 1974, chapter 23)."""
    stacked = np.vstack([directions.T, bounds])
    goal = np.zeros(len(stacked))
    goal[-1] = 1.0
    dual, _ = scipy.optimize.nnls(stacked, goal)
    residual = stacked @ dual - goal
    return np.asarray(-residual[:-1] / residual[-1])


def standard_error_kind(kind: str, tally: Tally, target: str) -> str:
    """The kind in the words that are printed beside the numbers."""
    by = "linearized for the weights" if tally.complex is None else tally.complex.by
    words = KINDS[kind] + (f", {by}" if tally.weighted else "")
    return words + (", randomization only" if target == "file" else "")


def information(rows: Floats, weights: Floats, proportions: Floats) -> Floats:
    """Observed Fisher information Σ_r w_r L[r]ᵀL[r] / (L[r]·π)², (t, t)."""
    return _curvature(rows, weights, rows @ proportions)


def expected_information(tally: Tally, proportions: Floats) -> Floats:
    """Expected Fisher information Σ_g n_g Σ_y P_g[y]ᵀP_g[y] / (P_g[y]·π), (t, t), over the parts of a tally.

    Raises
    ------
    DataError
        If there are too many responses to list.
    """
    total = np.zeros((len(proportions), len(proportions)))
    for part in tally.parts:
        if not part.design.space.listable:
            raise DataError(
                "the expected information needs responses that can be listed; use standard_errors='observed'"
            )
        matrix = part.design.matrix
        chances = matrix @ proportions
        possible = chances > 0
        total += part.n * (matrix[possible].T @ (matrix[possible] / chances[possible, None]))
    return total


def inverse(curvature: Floats) -> Floats:
    """Pseudo-inverse (t, t) of an information matrix on the directions that keep Σπ = 1."""
    basis = tangent(len(curvature))
    return np.asarray(basis @ np.linalg.pinv(basis.T @ curvature @ basis, rcond=1e-12, hermitian=True) @ basis.T)


def likelihood_covariance(
    rows: Floats,
    weights: Floats,
    sampled: Sampled,
    maximum: Maximum,
    *,
    kind: str = "observed",
    curvature: Floats | None = None,
) -> Floats:
    """The covariance (t, t) of a likelihood estimate; NaN for proportions that are not determined.

    Let I be the information, and J the covariance of the sum of the scores s (for independent people Σ w² s sᵀ). The
    covariance is I⁻¹, J⁻¹ (outer product) or I⁻¹JI⁻¹ (sandwich), on the directions that keep Σπ = 1.
    """
    pi = maximum.proportions
    scores = rows / (rows @ pi)[:, None] - 1
    bread = inverse(information(rows, weights, pi) if curvature is None else curvature)
    if kind == "outer_product":
        bread = inverse(scores.T @ (scores * weights[:, None]))
    covariance = np.array(bread)
    if kind == "sandwich":
        covariance = sampled.covariance(scores @ bread)
    open_ = maximum.open
    covariance[open_, :] = np.nan
    covariance[:, open_] = np.nan
    return covariance


def checked_target(target: str) -> str:
    """The target, if it is a known one; otherwise raise `DataError`."""
    if target not in TARGETS:
        raise DataError(f"target must be 'population' or 'file'; got {target!r}")
    return target


def answered_under(design: Answerable, tally: Tally) -> None:
    """Raise unless every answer of the tally was given under the design, or under one of its levels or samples."""
    if not isinstance(tally, Tally):
        raise DataError(f"a tally is needed, made by design.tally(answers); got {type(tally).__name__}")
    check_design(design)
    offered = [design.channel(level) for level in design.levels]
    for part in tally.parts:
        if part.design not in offered:
            raise DataError(
                f"the answers were given under {getattr(part.design, 'name', part.design)!s}, "
                f"not under {design.name or design.kind}; estimate with the design that was used"
            )


def alike(tally: Tally) -> list[str]:
    """The warning for a tally in which everybody gave the same answer, although other answers were possible."""
    same = all(part.alike for part in tally.parts if part.n)
    return ["all answers are alike: the standard errors say nothing, see intervals"] if same else []


def suspicions(tally: Tally) -> list[str]:
    """Warnings about answers that the design's own clients would hardly ever give, whatever is true of people."""
    client_tests = ((part.level, part.design.diagnosed(part)) for part in tally.parts if part.n)
    return [
        f"{'' if level is None else f'at level {level} '}a client is broken or lies; it should hold that {test}"
        for level, test in client_tests
        if test is not None and test.suspicious
    ]


def warnings_of(sentences: Iterable[str]) -> tuple[StatisticalWarning, ...]:
    """The warnings that an estimate carries, from their texts."""
    return tuple(map(StatisticalWarning, sentences))
