"""Maximum likelihood: one solver for every design, every mix of designs, and the boundary.

Maximum likelihood without likelihood rows, where one transform gives the chances of all responses at once.

The problem is that of `naysay.estimate.information`: minimize φ(π) = Σ π - Σ_r s_r log (Pπ)_r over π ≥ 0, where s_r is
the share of response r. Its solution sums to one by itself. Each step is Newton's among the categories that may move,
projected onto π ≥ 0 (Bertsekas 1982). The step solves H d = -∇φ with H = Pᵀ diag(s / (Pπ)²) P by conjugate gradients,
which need nothing but products with P and Pᵀ.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.estimate import samples
from naysay.estimate.even import EvenEstimate
from naysay.estimate.information import (
    KINDS,
    Evidence,
    Maximum,
    alike,
    answered_under,
    checked_target,
    evidence,
    expected_information,
    information,
    inverse,
    likelihood_covariance,
    maximize,
    standard_error_kind,
    suspicions,
    warnings_of,
)
from naysay.estimate.linear import Floats, Indicators, check_rank, is_stacked, plainly_apart
from naysay.estimate.moments import moments
from naysay.estimate.named import named
from naysay.estimate.result import Cells, Estimate
from naysay.sampling import Sampled
from naysay.tally import Tally


def maximum_likelihood(
    design: Answerable,
    tally: Tally,
    *,
    target: str = "population",
    tolerance: float = 1e-6,
    standard_errors: str | None = None,
) -> Estimate:
    """The proportions that make the answers most likely, always within [0, 1].

    They maximize Σ_r w_r log(L[r]·π) over the simplex, with likelihood rows L[r] and their weights w_r. The estimate is
    more precise than moments where an answer is a set of several categories. Where the design is square, it equals
    moments inside the simplex. For levels it is `pooled`.

    Parameters
    ----------
    design : Design or Levels
        The design under which the answers were given.
    tally : Tally
    target : {"population", "file"}
    tolerance : float
        The certificate: the log-likelihood is at most this far below its maximum.
    standard_errors : {"observed", "expected", "outer_product", "sandwich"}, optional
        What they rest on: the observed or the expected information, the outer product of the scores, or the sandwich of
        information and scores. The default is the observed information. With survey weights the default is the
        sandwich, and only the sandwich is valid.

    Returns
    -------
    Estimate
        ``fit.maximum`` holds the certificate. For several samples ``fit.nuisance`` holds the nuisance parameters. Where
        several proportions are equally likely, the most even ones are returned, with a warning and undefined standard
        errors.

    Raises
    ------
    NotEstimable
        If the design cannot tell some proportions apart, whatever the answers.

    References
    ----------
    Bao, Luo & Zhang (2013) for the uniform negative survey, where this is NStoPS-II; Kim et al. (2020).

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.negative(("a", "b", "c", "d", "e"))
    >>> fit = estimate.maximum_likelihood(survey, survey.tally(count=[2, 8, 16, 29, 45]))
    >>> fit.counts.round(6)
    array([80., 20.,  0.,  0.,  0.])
    """
    answered_under(design, tally)
    checked_target(target)
    if not tolerance > 0:
        raise DataError(f"tolerance must be positive, such as 1e-6; got {tolerance!r}")
    if design.assigned_by == "lot":
        raise DataError(f"maximum_likelihood is not for {design.name or design.kind}; use estimate.{design.estimates}")
    if (reason := design.moments_only) or tally.summed:
        raise DataError(f"{reason or 'this tally keeps sums'}; use estimate.moments")
    if design.by_transform is not None:
        return _by_transform(design, tally, target, tolerance, standard_errors)
    kind = checked_kind(standard_errors, tally)
    general = partial(_general, design, tally, target, tolerance, kind)
    if design.several or not tally.one_pattern or target != "population" or kind != "observed":
        return general()
    closed_form = named(tally.parts[0])
    return EvenEstimate(
        design=design,
        tally=tally,
        method="maximum likelihood",
        target=target,
        proportions=closed_form.maximum.proportions,
        standard_error_kind=standard_error_kind(kind, tally, target),
        made_by="maximum_likelihood",
        warnings=warnings_of([*reservations(tally.categories, closed_form.maximum, tolerance), *alike(tally)]),
        maximum=closed_form.maximum,
        named=closed_form,
        variances=closed_form.likelihood_variances,
        general=general,
        spread=lambda: general().covariance,
    )


def _by_transform(design: Answerable, tally: Tally, target: str, tolerance: float, kind: str | None) -> Estimate:
    """The estimate without likelihood rows; its variances are those of moments, which are at least as large."""
    if tally.weighted or kind is not None:
        request_text = "survey weights" if tally.weighted else f"standard_errors={kind!r}"
        size = f"{design.space.size:,} responses and {len(design.categories):,} categories"
        raise DataError(
            f"{request_text} would take likelihood rows of {size}, which are too many; use estimate.moments"
        )
    part = tally.parts[0]
    weights = np.zeros(design.space.size)
    weights[part.codes[:, 0]] = part.count
    maximum, by_moments = (
        maximize_by(design.by_transform, weights, tolerance=tolerance),
        moments(design, tally, target=target),
    )
    sentences = [*reservations(tally.categories, maximum, tolerance), *alike(tally), *suspicions(tally)]
    return replace(
        by_moments,
        method="maximum likelihood",
        proportions=maximum.proportions,
        standard_error_kind=f"those of {by_moments.standard_error_kind}; the likelihood's are at most as large",
        made_by="maximum_likelihood",
        warnings=warnings_of(sentences),
        maximum=maximum,
    )


def _general(design: Answerable, tally: Tally, target: str, tolerance: float, kind: str) -> Estimate:
    """The estimate from the solver that takes any likelihood rows, (answers, t)."""
    if is_stacked(design):
        samples.stacked(design, tally, target)  # raises where a share is not estimable
    else:
        check_identified(tally)
    answer_evidence = evidence(tally)
    maximum = maximize(*answer_evidence[:2], tolerance=tolerance)
    pooled = design.assigned_by == "respondent"
    fit = of_maximum(design, tally, maximum, answer_evidence, target=target, tolerance=tolerance, kind=kind)
    return replace(fit, method="pooled maximum likelihood", made_by="pooled") if pooled else fit


def of_maximum(
    design: Answerable,
    tally: Tally,
    maximum: Maximum,
    answer_evidence: Evidence,
    *,
    target: str,
    tolerance: float = np.inf,
    kind: str | None = None,
) -> Estimate:
    """The estimate at a maximum of the likelihood."""
    kind = checked_kind(kind, tally)
    proportions, stacked_cells = maximum.proportions, None
    if is_stacked(design):  # the answers may determine shares even where they do not determine the cells
        free = replace(maximum, undetermined=np.zeros((len(proportions), 0)))
        cells = _covariance(tally, free, answer_evidence, target, kind, stacked=True)
        stacked_cells = Cells(design.cells, design.shares, design.nuisance, proportions, cells)
        proportions, covariance = stacked_cells.estimates
        sentences = samples.reservations(design, tally, stacked_cells.values, maximum)
    else:
        covariance = _covariance(tally, maximum, answer_evidence, target, kind)
        sentences = [*reservations(tally.categories, maximum, tolerance), *alike(tally), *suspicions(tally)]
    return Estimate(
        design=design,
        tally=tally,
        method="maximum likelihood",
        target=target,
        proportions=proportions,
        covariance=covariance,
        standard_error_kind=standard_error_kind(kind, tally, target),
        made_by="maximum_likelihood",
        warnings=warnings_of(sentences),
        maximum=maximum,
        cells=stacked_cells,
    )


def checked_kind(kind: str | None, tally: Tally) -> str:
    """The kind of standard errors; by default the sandwich with survey weights, else the observed information."""
    valid = "sandwich" if tally.weighted else "observed"
    if kind is not None and kind not in KINDS:
        raise DataError(f"standard_errors must be one of {', '.join(KINDS)}; got {kind!r}")
    if tally.weighted and kind not in (None, "sandwich"):
        raise DataError(f"with survey weights only the sandwich is valid; got standard_errors={kind!r}")
    return kind or valid


def _covariance(
    tally: Tally, maximum: Maximum, answer_evidence: Evidence, target: str, kind: str, *, stacked: bool = False
) -> Floats:
    """The covariance (t, t) for a target; that for a file leaves out what drawing the respondents adds."""
    if target == "file" and tally.weighted:
        return efficient_indicators(*answer_evidence, maximum).covariance("file")
    if (
        tally.complex is not None and (corrected_squares := answer_evidence[2].kept).any()
    ):  # a census still has the randomization
        randomization = (
            _randomization(tally, answer_evidence, maximum.proportions)
            if stacked
            else efficient_indicators(*answer_evidence, maximum).randomization(corrected_squares)
        )
        return likelihood_covariance(*answer_evidence, maximum, kind=kind) + randomization
    curvature = expected_information(tally, maximum.proportions) if kind == "expected" else None
    covariance = likelihood_covariance(*answer_evidence, maximum, kind=kind, curvature=curvature)
    if target == "file":
        pi = maximum.proportions
        return covariance - (np.diag(pi) - np.outer(pi, pi)) / tally.n
    return covariance


def _randomization(tally: Tally, answer_evidence: Evidence, cells: Floats) -> Floats:
    """What the randomization adds to the covariance of cells, (cells, cells), where a finite population took it off.

    It is Σ_r w_r² (s_r s_rᵀ - Σ_c π_c m_c m_cᵀ), with the scores s and their means m_c among the people of each cell.
    """
    bread = inverse(information(*answer_evidence[:2], cells))
    total, scale = np.zeros_like(bread), tally.n / tally.weight

    def ratios(rows: Floats) -> Floats:
        fitted = (rows @ cells)[:, None]
        return np.asarray(np.divide(rows, fitted, out=np.ones_like(rows), where=fitted > 0))

    for part, sampled in tally.apart:
        corrected_squares, score = sampled.kept * scale**2, ratios(part.design.rows(part.codes)) - 1
        possible = part.design.rows(part.design.space.listing())
        means = possible.T @ ratios(possible) - 1
        total += score.T @ (score * corrected_squares[:, None]) - corrected_squares.sum() * (means.T * cells) @ means
    return np.asarray(bread @ total @ bread)


def check_identified(tally: Tally) -> None:
    """Raise `NotEstimable` if the designs of a tally together cannot tell some proportions apart."""
    designs = {id(part.design): part.design for part in tally.parts if part.n}
    if any(plainly_apart(design) for design in designs.values()):
        return
    stacked = np.vstack([design.expected_statistic for design in designs.values()])
    check_rank(stacked, tally.categories)


def efficient_indicators(rows: Floats, weights: Floats, sampled: Sampled, maximum: Maximum) -> Indicators:
    """Each answer's indicator of its category under the model: π plus its influence on the estimate.

    Their mean is the estimate and their spread gives its variance, as with the unbiased indicators of moments.
    """
    bread = likelihood_covariance(rows, weights, sampled, maximum)
    scores = rows / (rows @ maximum.proportions)[:, None] - 1
    u = maximum.proportions + weights.sum() * (scores @ bread)
    return Indicators(u, weights, weights, sampled.squared, sampled)


def certified(fit: Estimate) -> Maximum:
    """The maximum of a likelihood estimate; raise `DataError` for any other estimate."""
    if fit.maximum is None:
        raise DataError(f"{fit.method} is not a likelihood estimate")
    return fit.maximum


def reservations(categories: tuple[Any, ...], maximum: Maximum, tolerance: float) -> list[str]:
    """Warnings that a reader of a maximum-likelihood estimate needs."""
    sentences = []
    if maximum.total_gap > tolerance:
        sentences.append(f"floating point ended the search {maximum.total_gap:.1e} of log-likelihood from the maximum")
    open_ = maximum.open
    if open_.any():
        sentences.append(
            f"not determined by these answers: how shares split between {_category_names(categories, open_)}; "
            "the most even split is shown, without standard errors"
        )
    zero = (maximum.proportions <= 1e-12) & ~open_
    if zero.any():
        sentences.append(
            f"at the boundary, 0: {_category_names(categories, zero)}; "
            "standard errors are unreliable there, see intervals"
        )
    return sentences


def _category_names(categories: tuple[Any, ...], is_named: NDArray[np.bool_]) -> str:
    return ", ".join(_checks.label(category) for category, keep in zip(categories, is_named, strict=True) if keep)


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
    shares, is_observed = weights / total, weights > 0
    if int(is_observed.sum()) * _SPARSE < t:
        raise DataError(
            f"{is_observed.sum():,} different answers say too little about {t:,} categories; use estimate.moments"
        )
    pi = np.full(t, 1 / t)
    fitted = operator @ pi
    for done in range(1, _STEPS + 1):  # noqa: B007 (told in the result)
        ratio = np.divide(shares, fitted, out=np.zeros_like(fitted), where=is_observed)
        gradient = 1 - operator.T @ ratio
        gap = max(float(-gradient.min()), 0.0)
        # A category near zero that would fall is held there: else steps would stop at one such category after another.
        near = min(1e-3 / t, float(abs(pi - np.maximum(pi - gradient, 0.0)).max()))
        free = ~((pi <= near) & (gradient > 0))
        curvature = _curvature(operator, ratio / np.where(is_observed, fitted, 1.0), free)
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
    value = float(weights[is_observed] @ np.log(fitted[is_observed]))
    return Maximum(pi, value, gap, total * gap, done, np.zeros((t, 0)))


def _curvature(operator: Any, weights: Floats, free: NDArray[np.bool_]) -> Any:
    """H among the free categories."""

    def product(direction: Any) -> Floats:
        full_direction = np.zeros(len(free))
        full_direction[free] = np.ravel(direction)
        return np.asarray((operator.T @ (weights * (operator @ full_direction)))[free] + _RIDGE * full_direction[free])

    return scipy.sparse.linalg.LinearOperator((int(free.sum()),) * 2, matvec=product, dtype=float)


def _along(
    operator: Any, shares: Floats, start_point: tuple[Floats, Floats], step: Floats, gradient: Floats
) -> tuple[Floats, Floats]:
    """The proportions and their Pπ after as much of a step, projected onto π ≥ 0, as lowers φ enough."""
    (pi, fitted), is_observed, length = start_point, shares > 0, 1.0
    while True:
        next_pi = np.maximum(pi + length * step, 0.0)
        next_fitted = operator @ next_pi
        if (next_fitted[is_observed] > 0).all():
            change_of_phi = (
                next_pi.sum() - 1 - shares[is_observed] @ np.log(next_fitted[is_observed] / fitted[is_observed])
            )
            if change_of_phi <= _SUFFICIENT * min(float(gradient @ (next_pi - pi)), 0.0) or length < _SHORTEST:
                return next_pi / next_pi.sum(), next_fitted / next_pi.sum()
        length /= 2


def _check_determined(curvature: Any) -> None:
    """Raise where proportions can move without changing the likelihood."""
    if (t := curvature.shape[0]) < 3:
        return
    eigsh_options: dict[str, Any] = {"k": 1, "tol": 1e-2, "return_eigenvectors": False}
    ends = [scipy.sparse.linalg.eigsh(curvature, which=which, **eigsh_options) for which in ("SA", "LA")]
    least, largest = np.concatenate(ends).tolist()
    if least <= _FLAT * largest:
        raise DataError(f"many proportions of {t:,} categories make these answers equally likely; use estimate.moments")
