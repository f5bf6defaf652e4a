"""The likelihood of a tally: its evidence, its maximum over the simplex with a certificate, and its curvature.

The problem: maximize Σ_r w_r log(L[r]·π) over π ≥ 0, Σπ = 1, with likelihood rows L[r], weights w_r and W = Σ w_r.

The method is sequential quadratic programming on the likelihood rows (Kim, Carbonetto, Stephens & Anitescu 2020,
mix-SQP). Each step solves a non-negative least-squares problem of size t exactly, then searches along the line. The
certificate is gap = max_j (1/W) Σ_r w_r L[r, j] / (L[r]·π) - 1. By concavity the log-likelihood is within W·gap of
its maximum.

Where one transform gives the chances of all responses at once, `maximize_by` needs no likelihood rows. It minimizes
φ(π) = Σ π - Σ_r s_r log (Pπ)_r over π ≥ 0, where s_r is the share of response r; the solution sums to one by itself.
Each step is Newton's among the categories that may move, projected onto π ≥ 0 (Bertsekas 1982). It solves H d = -∇φ
with H = Pᵀ diag(s / (Pπ)²) P by conjugate gradients, which need nothing but products with P and Pᵀ.

What must hold of answers whatever the proportions are is in `client_test`: a client that is broken, or lies, shows.
`check_identified` says whether the answers can tell the proportions apart at all.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay._values import Floats, Label
from naysay.design import Answerable
from naysay.design.algebra import Remembered
from naysay.design.base import check_design
from naysay.design.lot import Grouped
from naysay.design.pure import AffineHash, Unary, binomial
from naysay.design.several import opposed
from naysay.errors import DataError, NaysayError, NotEstimable, StatisticalWarning
from naysay.sampling import Sampled
from naysay.tally import Channel, Part, Sums, Tally

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

_FLOOR = 64 * np.finfo(float).eps  # a relative gap below this is only rounding
_NEAR = 1e-9  # at this relative gap the set of positive proportions is settled
_PATIENCE = 25  # after so many steps without progress near the maximum, rounding is the cause
_FLAT = 1e-9  # curvature below this share of the largest counts as none

TOLERANCE = 1e-6
"""How far the log-likelihood may stay below its maximum, unless you say otherwise."""

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
    answered_parts = [part for part in tally.parts if part.n]
    answer_weights = np.concatenate([part.weight for part in answered_parts]).astype(float)
    weight_scale = tally.n / answer_weights.sum()
    has_weight = answer_weights > 0
    likelihood_rows = np.vstack([part.design.rows(part.codes) for part in answered_parts])
    likelihood_rows = likelihood_rows if has_weight.all() else likelihood_rows[has_weight]
    return (
        likelihood_rows,
        answer_weights[has_weight] * weight_scale,
        tally.drawn(kish=True).take(has_weight).scaled(weight_scale),
    )


def answering(tally: Tally) -> list[Part]:
    """The parts whose answers carry weight."""
    return [part for part in tally.parts if part.weight.sum() > 0]


def is_answering(tally: Tally) -> NDArray[np.bool_]:
    """Whether each distinct answer of a tally lies in a part whose answers carry weight, (distinct,)."""
    return np.concatenate([np.full(len(part.codes), part.weight.sum() > 0) for part in tally.parts])


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
    tolerance : float
        The `tolerance` of `maximize`; infinite where another way led to the maximum.
    """

    proportions: Floats
    log_likelihood: float
    gap: float
    total_gap: float
    iterations: int
    undetermined: Floats
    tolerance: float = np.inf

    @property
    def open(self) -> NDArray[np.bool_]:
        """Categories whose proportions the likelihood leaves open, (t,)."""
        return np.asarray(np.abs(self.undetermined).max(axis=1, initial=0.0) > 1e-6)


def maximize(
    rows: Floats, weights: Floats, *, tolerance: float = TOLERANCE, polish: int = 3, iterations: int = 1_000
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
    row_scale = rows[has_weight].max(axis=1)
    scaled_rows, total_weight = rows[has_weight] / row_scale[:, None], float(weights[has_weight].sum())
    weight_shares = weights[has_weight] / total_weight
    pi = np.full(rows.shape[1], 1 / rows.shape[1])
    needed_gap = max(tolerance / total_weight, _FLOOR)
    best_gap, stalled_steps, polish = np.inf, 0, polish + 1
    for steps_done in range(1, iterations + 1):  # noqa: B007 (told in the result)
        fitted_chances = scaled_rows @ pi
        gradient = scaled_rows.T @ (weight_shares / fitted_chances)
        gap = float(gradient.max() - 1)
        stalled_steps = 0 if gap < best_gap / 4 else stalled_steps + 1
        polish -= gap <= needed_gap
        if gap <= needed_gap and (polish <= 0 or stalled_steps):
            break
        if gap <= _NEAR and stalled_steps > _PATIENCE:
            break  # floating point allows no more; the result states the gap that was reached
        best_gap = min(best_gap, gap)
        pi = _step(scaled_rows, weight_shares, fitted_chances, gradient, pi)
    else:
        if gap > _NEAR:
            raise NaysayError(f"maximum likelihood did not get near its maximum in {iterations} steps (gap {gap:.1e})")
    pi, undetermined = _most_even(scaled_rows, weight_shares, pi, gradient)
    log_likelihood = float(
        total_weight * weight_shares @ np.log(scaled_rows @ pi) + weights[has_weight] @ np.log(row_scale)
    )
    gap = max(gap, 0.0)
    return Maximum(pi, log_likelihood, gap, total_weight * gap, steps_done, undetermined, tolerance)


def _step(rows: Floats, shares: Floats, fitted: Floats, gradient: Floats, pi: Floats) -> Floats:
    """One step: the exact minimum of the quadratic model over π ≥ 0, then a backtracking line search."""
    curvature = _curvature(rows, shares, fitted)
    if gradient.max() - 1 < _NEAR:  # the non-negative least squares below stops short of this precision
        face_proportions = _face_step(curvature, gradient, pi)
        if face_proportions is not None and (rows @ face_proportions > 0).all():
            return face_proportions
    model_minimum = _model_minimum(curvature, 2 * gradient - 1)
    direction = np.zeros_like(pi) if model_minimum is None else model_minimum - pi
    slope = float((1 - gradient) @ direction)
    if slope >= 0:
        return expectation_step(rows, shares, pi)
    chance_change = rows @ direction
    start_loss = -shares @ np.log(fitted)
    step_length = 1.0
    for _ in range(40):
        moved_chances = fitted + step_length * chance_change
        if (moved_chances > 0).all():
            loss_change = -shares @ np.log(moved_chances) + step_length * direction.sum() - start_loss
            if loss_change <= 1e-4 * step_length * slope or (step_length == 1.0 and abs(slope) < 1e-13):
                stepped_proportions = np.maximum(pi + step_length * direction, 0.0)
                return np.asarray(stepped_proportions / stepped_proportions.sum())
        step_length /= 2
    return expectation_step(rows, shares, pi)


def _face_step(curvature: Floats, gradient: Floats, pi: Floats) -> Floats | None:
    """Newton's step among the categories that are positive or would grow; it stops where the first becomes zero."""
    is_free = (pi > 0) | (gradient > 1)
    while True:
        step = np.zeros_like(pi)
        try:
            with warnings.catch_warnings():  # no warning: directions are flat where the answers cannot tell cells apart
                warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
                step[is_free] = scipy.linalg.solve(
                    curvature[np.ix_(is_free, is_free)], gradient[is_free] - 1, assume_a="pos"
                )
        except (np.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
            return None
        is_stuck = (pi <= 0) & (step < 0)
        if not is_stuck.any():
            break
        is_free &= ~is_stuck
    is_falling = step < 0
    step_limits = np.where(is_falling, -pi / np.where(is_falling, step, -1.0), np.inf)
    step_length = min(1.0, float(step_limits.min()))
    moved_proportions = np.maximum(pi + step_length * step, 0.0)
    if step_length < 1:
        moved_proportions[step_limits.argmin()] = 0.0
    return np.asarray(moved_proportions / moved_proportions.sum())


def _curvature(rows: Floats, shares: Floats, fitted: Floats) -> Floats:
    """Σ_r w_r L[r]ᵀL[r] / (L[r]·π)², the observed information per answer."""
    weighted = rows * (np.sqrt(shares) / fitted)[:, None]
    return weighted.T @ weighted


def _model_minimum(curvature: Floats, linear: Floats) -> Floats | None:
    """The minimizer over y ≥ 0 of ½ yᵀHy - cᵀy, as a non-negative least-squares problem in the Cholesky factor of H."""
    ridge = 1e-12 * np.trace(curvature) / len(curvature)
    try:
        cholesky_factor = scipy.linalg.cholesky(curvature + ridge * np.eye(len(curvature)), check_finite=False)
        goal = scipy.linalg.solve_triangular(cholesky_factor, linear, trans="T", check_finite=False)
        solution, _ = scipy.optimize.nnls(cholesky_factor, goal)
    except (np.linalg.LinAlgError, RuntimeError):
        return None
    return np.asarray(solution)


def expectation_step(rows: Floats, shares: Floats, pi: Floats) -> Floats:
    """One step of EM: π_j ← π_j Σ_r w_r L[r, j] / (L[r]·π); never lowers the likelihood."""
    moved = pi * (rows.T @ (shares / (rows @ pi)))
    return np.asarray(moved / moved.sum())


def _most_even(rows: Floats, shares: Floats, pi: Floats, gradient: Floats) -> tuple[Floats, Floats]:
    """The maximizer that is nearest to equal shares, and the directions that the likelihood leaves open."""
    free_places = np.flatnonzero(gradient >= 1 - 1e-7)
    curvature = _curvature(rows[:, free_places], shares, rows @ pi)
    eigenvalues, eigenvectors = np.linalg.eigh(curvature)
    flat_directions = eigenvectors[:, eigenvalues <= _FLAT * max(eigenvalues.max(), 1e-300)]
    undetermined = np.zeros((len(pi), flat_directions.shape[1]))
    undetermined[free_places] = flat_directions
    if not flat_directions.shape[1]:
        return pi, undetermined
    even_proportions = pi.copy()
    # nearest to 0, and so to equal shares, along the flat directions
    base_proportions = pi[free_places] - flat_directions @ (flat_directions.T @ pi[free_places])
    if base_proportions.min() < 0:
        base_proportions = base_proportions + flat_directions @ _least_distance(flat_directions, -base_proportions)
    even_proportions[free_places] = np.maximum(base_proportions, 0.0)
    return even_proportions / even_proportions.sum(), undetermined


def _least_distance(directions: Floats, bounds: Floats) -> Floats:
    """The shortest y subject to directions @ y ≥ bounds (Lawson & Hanson 1974, chapter 23)."""
    stacked_bounds = np.vstack([directions.T, bounds])
    goal = np.zeros(len(stacked_bounds))
    goal[-1] = 1.0
    dual_solution, _ = scipy.optimize.nnls(stacked_bounds, goal)
    residual = stacked_bounds @ dual_solution - goal
    return np.asarray(-residual[:-1] / residual[-1])


def tangent(t: int) -> Floats:
    """An orthonormal basis (t, t - 1) of the directions that keep Σπ = 1."""
    return np.asarray(scipy.linalg.helmert(t).T)


def standard_error_kind(kind: str, tally: Tally, target: str) -> str:
    """The kind in the words that are printed beside the numbers."""
    sampling_text = "linearized for the weights" if tally.complex is None else tally.complex.by
    kind_text = KINDS[kind] + (f", {sampling_text}" if tally.weighted else "")
    return kind_text + (", randomization only" if target == "file" else "")


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
    total_information = np.zeros((len(proportions), len(proportions)))
    for part in tally.parts:
        if not part.design.space.listable:
            raise DataError(
                "the expected information needs responses that can be listed; use standard_errors='observed'"
            )
        design_matrix = part.design.matrix
        response_chances = design_matrix @ proportions
        is_possible = response_chances > 0
        total_information += part.n * (
            design_matrix[is_possible].T @ (design_matrix[is_possible] / response_chances[is_possible, None])
        )
    return total_information


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
    answer_scores = rows / (rows @ pi)[:, None] - 1
    inverse_information = inverse(information(rows, weights, pi) if curvature is None else curvature)
    if kind == "outer_product":
        inverse_information = inverse(answer_scores.T @ (answer_scores * weights[:, None]))
    covariance = np.array(inverse_information)
    if kind == "sandwich":
        covariance = sampled.covariance(answer_scores @ inverse_information)
    is_open = maximum.open
    covariance[is_open, :] = np.nan
    covariance[:, is_open] = np.nan
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
    offered_designs = [design.channel(level) for level in design.levels]
    for part in tally.parts:
        if part.design not in offered_designs:
            raise DataError(
                f"the answers were given under {getattr(part.design, 'name', part.design)!s}, "
                f"not under {design.name or design.kind}; estimate with the design that was used"
            )


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
    expected_counts = observed.sum() * chances
    pool_places, pool_place, pool_total = np.zeros(len(expected_counts), dtype=int), 0, 0.0
    for cell_place, expected_count in enumerate(expected_counts.tolist()):
        pool_places[cell_place] = pool_place
        pool_total += expected_count
        if pool_total >= _RARE:
            pool_place, pool_total = pool_place + 1, 0.0
    pool_places = np.minimum(pool_places, max(pool_place - 1, 0))  # the remainder joins the last pool
    if pool_places[-1] == 0:
        return None
    pool_counts, pool_expected = np.bincount(pool_places, observed), np.bincount(pool_places, expected_counts)
    statistic = float(((pool_counts - pool_expected) ** 2 / pool_expected).sum())
    return Diagnostic(about, statistic, pool_places[-1], float(scipy.special.chdtrc(pool_places[-1], statistic)))


@singledispatch
def client_test(design: Channel, part: Part | Sums) -> Diagnostic | None:
    """The test of something that holds of these answers whatever the proportions are; None where there is none.

    A client that is broken, or lies, shows in it.
    """
    return None


@client_test.register
def _(design: Grouped, part: Part | Sums) -> Diagnostic | None:
    return client_test(design.design, part)


@client_test.register
def _(design: Remembered, part: Part | Sums) -> Diagnostic | None:
    return client_test(design.wave, part)


@client_test.register
def _(design: Unary, part: Part | Sums) -> Diagnostic | None:
    """One bit of chance p and t - 1 bits of chance q, whatever the truth."""
    t, (p, q) = len(design.categories), map(float, design.named_chances)
    size_counts = (
        part.sizes
        if isinstance(part, Sums)
        else np.bincount(design.space.sizes(part.codes), part.count, minlength=t + 1)
    )
    other_bit_chances = np.pad(binomial(t - 1, q), 1)
    size_chances = p * other_bit_chances[:-1] + (1 - p) * other_bit_chances[1:]
    return of_counts(np.rint(size_counts).astype(np.int64), size_chances, "sizes of sets come as often as published")


@client_test.register
def _(design: AffineHash, part: Part | Sums) -> Diagnostic | None:
    """Every hash is equally likely, whatever the truth."""
    if isinstance(part, Sums):
        return None
    distinct_hashes, hash_places = np.unique(part.codes[:, 0] // design.base, return_inverse=True)
    hash_counts = np.rint(np.bincount(hash_places, part.count, minlength=len(distinct_hashes))).astype(np.int64)
    return uniform(hash_counts, design.space.hashes, "all hashes are equally common")


def suspicions(tally: Tally) -> list[str]:
    """Warnings about answers that the design's own clients would hardly ever give, whatever is true of people."""
    client_tests = ((part.level, client_test(part.design, part)) for part in tally.parts if part.n)
    return [
        f"{'' if level is None else f'at level {level} '}a client is broken or lies; it should hold that {test}"
        for level, test in client_tests
        if test is not None and test.suspicious
    ]


def warnings_of(sentences: Iterable[str]) -> tuple[StatisticalWarning, ...]:
    """The warnings that an estimate carries, from their texts."""
    return tuple(map(StatisticalWarning, sentences))


_STEPS = 60
_SPARSE = 10  # with fewer answers than one for so many categories, a maximum is seldom unique, and steps are many
_PRODUCTS = 60  # conjugate gradients of one step: far from the maximum an exact step is not worth more
_SHORTEST = 2.0**-30  # part of a step: where rounding hides what is gained
_RIDGE = 1e-11  # added to the curvature, where πᵀHπ = 1, so that a flat direction stops no step
_SUFFICIENT = 1e-4  # of the decrease that the slope promises (Armijo)


def maximize_by(operator: LinearOperator, weights: Floats, *, tolerance: float = 1e-6) -> Maximum:
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
    total_weight, t = float(weights.sum()), operator.shape[1]
    weight_shares, is_observed = weights / total_weight, weights > 0
    if int(is_observed.sum()) * _SPARSE < t:
        raise DataError(
            f"{is_observed.sum():,} different answers say too little about {t:,} categories; use estimate.moments"
        )
    pi = np.full(t, 1 / t)
    fitted_chances = operator @ pi
    for steps_done in range(1, _STEPS + 1):  # noqa: B007 (told in the result)
        share_ratios = np.divide(weight_shares, fitted_chances, out=np.zeros_like(fitted_chances), where=is_observed)
        gradient = 1 - operator.T @ share_ratios
        gap = max(float(-gradient.min()), 0.0)
        # A category near zero that would fall is held there: else steps would stop at one such category after another.
        zero_limit = min(1e-3 / t, float(abs(pi - np.maximum(pi - gradient, 0.0)).max()))
        is_free = ~((pi <= zero_limit) & (gradient > 0))
        curvature = _curvature_operator(operator, share_ratios / np.where(is_observed, fitted_chances, 1.0), is_free)
        if total_weight * gap <= tolerance:
            break
        free_gradient = gradient[is_free]
        step_accuracy = min(0.1, float(np.linalg.norm(free_gradient)) ** 0.5)  # so that errors are squared at each step
        step = np.where(is_free, 0.0, -pi)
        step[is_free] = scipy.sparse.linalg.cg(curvature, -free_gradient, rtol=step_accuracy, maxiter=_PRODUCTS)[0]
        pi, fitted_chances = _along(operator, weight_shares, (pi, fitted_chances), step, gradient)
    else:
        raise DataError(f"the likelihood is so flat that {_STEPS} steps do not reach its maximum; use estimate.moments")
    if t >= 3:  # otherwise there are too few to find eigenvalues by products
        eigsh_options: dict[str, Any] = {"k": 1, "tol": 1e-2, "return_eigenvectors": False}
        least_curvature, largest_curvature = (
            float(scipy.sparse.linalg.eigsh(curvature, which=which, **eigsh_options)[0]) for which in ("SA", "LA")
        )
        if least_curvature <= _FLAT * largest_curvature:
            raise DataError(
                f"many proportions of {t:,} categories make these answers equally likely; use estimate.moments"
            )
    log_likelihood = float(weights[is_observed] @ np.log(fitted_chances[is_observed]))
    return Maximum(pi, log_likelihood, gap, total_weight * gap, steps_done, np.zeros((t, 0)))


def _curvature_operator(operator: LinearOperator, weights: Floats, free: NDArray[np.bool_]) -> LinearOperator:
    """H among the free categories."""

    def product(direction: Floats) -> Floats:
        full_direction = np.zeros(len(free))
        full_direction[free] = np.ravel(direction)
        return np.asarray((operator.T @ (weights * (operator @ full_direction)))[free] + _RIDGE * full_direction[free])

    return scipy.sparse.linalg.LinearOperator((int(free.sum()),) * 2, matvec=product, dtype=float)


def _along(
    operator: LinearOperator, shares: Floats, start_point: tuple[Floats, Floats], step: Floats, gradient: Floats
) -> tuple[Floats, Floats]:
    """The proportions and their Pπ after as much of a step, projected onto π ≥ 0, as lowers φ enough."""
    (pi, fitted), is_observed, step_length = start_point, shares > 0, 1.0
    while True:
        next_pi = np.maximum(pi + step_length * step, 0.0)
        next_fitted = operator @ next_pi
        if (next_fitted[is_observed] > 0).all():
            change_of_phi = (
                next_pi.sum() - 1 - shares[is_observed] @ np.log(next_fitted[is_observed] / fitted[is_observed])
            )
            if change_of_phi <= _SUFFICIENT * min(float(gradient @ (next_pi - pi)), 0.0) or step_length < _SHORTEST:
                return next_pi / next_pi.sum(), next_fitted / next_pi.sum()
        step_length /= 2


_NOTHING = 1e-11  # singular values below this count as zero


def rank_of(expected: Floats) -> int:
    """Rank of the expected statistic on the proportions that sum to one; t - 1 tells all of them apart."""
    singular_values = np.linalg.svd(expected @ tangent(expected.shape[1]), compute_uv=False)
    return int((singular_values > _NOTHING * max(1.0, singular_values.max(initial=0.0))).sum())


def check_rank(expected: Floats, categories: Sequence[Label]) -> None:
    """Raise `NotEstimable` unless the expected statistic tells all proportions apart."""
    t = len(categories)
    basis = tangent(t)
    rank = rank_of(expected)
    if rank == t - 1:
        return
    _, _, singular_rows = np.linalg.svd(expected @ basis, full_matrices=True)
    contrast = basis @ singular_rows[-1]
    leading_entry = contrast[np.flatnonzero(np.abs(contrast) > 1e-9)[0]]
    contrast = contrast / np.abs(contrast).max() * np.sign(leading_entry)
    growing_text, shrinking_text = opposed(categories, contrast)
    raise NotEstimable(
        f"the answers cannot tell {growing_text} from {shrinking_text}: "
        f"shares can move between them without changing any response probability (rank {rank}, {t - 1} needed); "
        "merge these categories or change the design",
        contrast=contrast.tolist(),
        rank=rank,
    )


def check_identified(tally: Tally) -> None:
    """Raise `NotEstimable` if the designs of a tally together cannot tell some proportions apart."""
    designs = {id(part.design): part.design for part in tally.parts if part.n}
    if any(design.structure.plainly_apart for design in designs.values()):
        return
    stacked_statistics = np.vstack([design.expected_statistic for design in designs.values()])
    check_rank(stacked_statistics, tally.categories)
