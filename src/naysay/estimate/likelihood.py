"""Maximum likelihood: one solver for every design, every mix of designs, and the boundary."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Answerable, Levels
from naysay.errors import DataError, StatisticalWarning
from naysay.estimate.linear import Indicators, check_rank, tangent
from naysay.estimate.result import Estimate, answered_under, checked_target, warning
from naysay.estimate.solver import Maximum, maximize
from naysay.tally import Tally

__all__ = ["evidence", "maximum_likelihood"]

Floats = NDArray[np.float64]


def maximum_likelihood(
    design: Answerable, tally: Tally, *, target: str = "population", tolerance: float = 1e-6
) -> Estimate:
    """The proportions that make the answers most likely, within [0, 1] always.

    maximizes Σ_r w_r log(L[r]·π) over the simplex. More precise than moments where an answer is a set of several
    categories, and equal to it inside the simplex where the design is square. For levels this is `pooled`.

    Parameters
    ----------
    design : Design or Levels
        Under which the answers were given.
    tally : Tally
    target : {"population", "file"}
    tolerance : float
        Certified: the log-likelihood is at most this far below its maximum.

    Returns
    -------
    Estimate
        ``fit.maximum`` holds the certificate. Standard errors from the observed information, a sandwich where there
        are survey weights. Where several proportions are equally likely the most even ones are returned, flagged, with
        undefined standard errors.

    Raises
    ------
    NotEstimable
        If the design cannot tell some proportions apart whatever the answers.

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
    check_identified(tally)
    rows, weights, squared = evidence(tally)
    maximum = maximize(rows, weights, tolerance=tolerance)
    method = "pooled maximum likelihood" if isinstance(design, Levels) else "maximum likelihood"
    return of_maximum(
        design, tally, maximum, (rows, weights, squared), method=method, target=target, tolerance=tolerance
    )


def of_maximum(
    design: Answerable,
    tally: Tally,
    maximum: Maximum,
    seen: tuple[Floats, Floats, Floats],
    *,
    method: str,
    target: str,
    tolerance: float = np.inf,
    path: Floats | None = None,
) -> Estimate:
    """The estimate at a maximum of the likelihood."""
    kind = "observed information" if not tally.weighted else "sandwich, linearized for the weights"
    if target == "file":
        kind += ", randomization only"
    return Estimate(
        design=design,
        tally=tally,
        method=method,
        target=target,
        proportions=maximum.proportions,
        covariance=_covariance(tally, maximum, seen, target),
        standard_error_kind=kind,
        warnings=tuple(reservations(tally.categories, maximum, tolerance)),
        maximum=maximum,
        path=path,
    )


def _covariance(tally: Tally, maximum: Maximum, seen: tuple[Floats, Floats, Floats], target: str) -> Floats:
    """The covariance (t, t) for a target; for a file without what drawing the respondents adds."""
    if target == "file" and tally.weighted:
        return efficient_indicators(*seen, maximum).covariance("file")
    covariance = likelihood_covariance(*seen, maximum, weighted=tally.weighted)
    if target == "file":
        pi = maximum.proportions
        return covariance - (np.diag(pi) - np.outer(pi, pi)) / tally.n
    return covariance


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


def check_identified(tally: Tally) -> None:
    """Raise `NotEstimable` if the designs of a tally together cannot tell some proportions apart."""
    designs = {id(part.design): part.design for part in tally.parts if part.n}
    stacked = np.vstack([design.expected_statistic for design in designs.values()])
    check_rank(stacked, tally.categories)


def information(rows: Floats, weights: Floats, proportions: Floats) -> Floats:
    """Observed Fisher information Σ_r w_r L[r]ᵀL[r] / (L[r]·π)², (t, t)."""
    scaled = rows * (np.sqrt(weights) / (rows @ proportions))[:, None]
    return np.asarray(scaled.T @ scaled)


def likelihood_covariance(
    rows: Floats, weights: Floats, squared: Floats, maximum: Maximum, *, weighted: bool
) -> Floats:
    """Inverse information on the directions that keep Σπ = 1; NaN for proportions that are not determined."""
    pi = maximum.proportions
    basis = tangent(len(pi))
    observed = basis.T @ information(rows, weights, pi) @ basis
    bread = basis @ np.linalg.pinv(observed, rcond=1e-12, hermitian=True) @ basis.T
    covariance = bread
    if weighted:
        scores = rows / (rows @ pi)[:, None] - 1
        n = weights.sum() ** 2 / squared.sum()
        covariance = bread @ (scores.T @ (scores * squared[:, None])) @ bread * (n / max(n - 1, 1))
    open_ = maximum.open
    covariance = np.array(covariance)
    covariance[open_, :] = np.nan
    covariance[:, open_] = np.nan
    return covariance


def efficient_indicators(rows: Floats, weights: Floats, squared: Floats, maximum: Maximum) -> Indicators:
    """Each answer's indicator of its category under the model: π plus its influence on the estimate.

    Their mean is the estimate and their spread its variance, as of the unbiased indicators of moments.
    """
    bread = likelihood_covariance(rows, weights, squared, maximum, weighted=False)
    scores = rows / (rows @ maximum.proportions)[:, None] - 1
    return Indicators(maximum.proportions + weights.sum() * (scores @ bread), weights, weights, squared)


def model_covariance(fit: Estimate) -> Floats:
    """The covariance (t, t) of a likelihood estimate under its model alone: no weights, a population."""
    return likelihood_covariance(*evidence(fit.tally), certified(fit), weighted=False)


def certified(fit: Estimate) -> Maximum:
    """The maximum that a likelihood estimate stands on."""
    if fit.maximum is None:
        raise DataError(f"{fit.method} is no likelihood estimate")
    return fit.maximum


def reservations(categories: tuple[Any, ...], maximum: Maximum, tolerance: float) -> list[StatisticalWarning]:
    """What a reader of a maximum-likelihood estimate must be told."""
    told = []
    if maximum.total_gap > tolerance:
        told.append(
            warning(f"floating point ended the search {maximum.total_gap:.1e} of log-likelihood from the maximum")
        )
    open_ = maximum.open
    if open_.any():
        told.append(
            warning(
                f"not determined by these answers: how shares split between {_named(categories, open_)}; "
                "the most even split is shown, without standard errors"
            )
        )
    zero = (maximum.proportions <= 1e-12) & ~open_
    if zero.any():
        told.append(
            warning(
                f"at the boundary, 0: {_named(categories, zero)}; standard errors are unreliable there, see intervals"
            )
        )
    return told


def _named(categories: tuple[Any, ...], chosen: NDArray[np.bool_]) -> str:
    return ", ".join(_checks.label(category) for category, keep in zip(categories, chosen, strict=True) if keep)
