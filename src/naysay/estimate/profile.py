"""Profile intervals: all values of one proportion that a likelihood ratio does not reject."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from naysay.errors import NaysayError, NotEstimable
from naysay.estimate.information import information, maximize
from naysay.estimate.linear import Floats, tangent

_BEYOND = 1 + 1e-9  # a share just above 1


def mean_profile(u: Floats, weight: Floats, n: float, quantile: float, extremes: Floats) -> tuple[float, float]:
    """The empirical-likelihood interval of a mean.

    All means c = Σ λ_r u_r with -2 log Π (λ_r / λ̂_r)^{n_r} ≤ quantile. On the upper side λ_r ∝ n_r/(θ - u_r) for some
    θ above every value that an answer could give; if even that θ is not rejected, the rest of the mass goes to that
    extreme answer, even if nobody gave it. (So for a square design this is the profile of the multinomial likelihood.)

    Parameters
    ----------
    u : (distinct,) float
        Values.
    weight : (distinct,) float
        How often each value occurs, or its weight.
    n : float
        The number of answers; the ratio is n times the weighted mean of logs.
    quantile : float
        Of χ² with one degree of freedom, times any variance ratio.
    extremes : (2,) float
        Smallest and largest value that any answer could have given.
    """
    values, inverse = np.unique(np.asarray(u).round(12), return_inverse=True)
    share = np.bincount(inverse, weight) / weight.sum()
    values, share = values[share > 0], share[share > 0]
    upper = _upper_end(values, share, n, quantile, max(float(extremes[1]), values[-1]))
    lower = -_upper_end(-values[::-1], share[::-1], n, quantile, max(-float(extremes[0]), -values[0]))
    return lower, upper


def _upper_end(values: Floats, share: Floats, n: float, quantile: float, extreme: float) -> float:
    span = float(extreme - values[0])
    if quantile <= 0 or span == 0:
        return float(share @ values)

    def tilted(distance: float) -> tuple[float, float]:
        """Ratio and mean of the tilt whose θ lies `distance` beyond the extreme value."""
        tilt = share / (extreme - values + distance)
        tilt = tilt / tilt.sum()
        return max(float(2 * n * share @ np.log(share / tilt)), 0.0), float(tilt @ values)

    observed = extreme <= values[-1]
    if not observed:  # θ may fall as far as the extreme value itself; from there on, mass moves to that value
        ratio, mean = tilted(0.0)
        if ratio <= quantile:
            moved = -np.expm1(-(quantile - ratio) / (2 * n))
            return float((1 - moved) * mean + moved * extreme)
    low, high = np.log(1e-14 * span), np.log(1e8 * span)
    if tilted(np.exp(low))[0] <= quantile:
        return extreme if observed else tilted(0.0)[1]
    if tilted(np.exp(high))[0] >= quantile:
        return float(share @ values)
    root = scipy.optimize.brentq(lambda log: np.sqrt(tilted(np.exp(log))[0]) - np.sqrt(quantile), low, high, xtol=1e-10)
    return tilted(np.exp(root))[1]


def simplex_profile(rows: Floats, weights: Floats, best: Floats, quantile: Floats) -> Floats:
    """Profile-likelihood bounds of every proportion over the simplex, (t, 2).

    It is used in two cases: answers can prove a category, so that no proportion may be negative; or the likelihood
    leaves a split open. With π_j held at c the other proportions are (1 - c)ρ, so that the rows c·L[:, j] + (1 -
    c)·L[:, others] make the profile a maximization of the same kind.

    Parameters
    ----------
    rows, weights : (distinct, t), (distinct,) float
        Likelihood rows and how often each occurred.
    best : (t,) float
        The maximizer.
    quantile : (t,) float
        Of χ² with one degree of freedom, times any variance ratio.
    """
    top = float(weights @ np.log(rows @ best))

    def excess(c: float, category: int) -> float:
        """How far the signed root of the likelihood ratio at π_j = c exceeds the root of the quantile."""
        others = np.delete(rows, category, axis=1)
        fixed_share_rows = c * rows[:, [category]] + (1 - c) * others
        if (fixed_share_rows.max(axis=1) <= 0).any():
            return 1e6
        try:
            log_likelihood = maximize(fixed_share_rows, weights, tolerance=1e-3, polish=0).log_likelihood
        except NaysayError:
            return 1e6
        return float(np.sqrt(max(2 * (top - log_likelihood), 0.0)) - np.sqrt(quantile[category]))

    def end(category: int, limit: float) -> float:
        if excess(limit, category) <= 0 or excess(best[category], category) >= 0:
            return limit
        return float(scipy.optimize.brentq(excess, best[category], limit, args=(category,), xtol=1e-6, rtol=1e-6))

    return np.array([[end(category, 0.0), end(category, 1.0)] for category in range(len(best))])


def likelihood_profile(rows: Floats, weights: Floats, start: Floats, quantile: Floats) -> Floats:
    """Profile-likelihood bounds of every proportion over {Σπ = 1, Lπ > 0}, (t, 2).

    Each bound solves for the point where the likelihood, maximized over the other proportions, has fallen by half the
    quantile (Venzon & Moolgavkar 1988).

    Parameters
    ----------
    rows, weights : (distinct, t), (distinct,) float
        Likelihood rows and how often each occurred.
    start : (t,) float
        Proportions with Lπ > 0.
    quantile : (t,) float
        Of χ² with one degree of freedom, times any variance ratio.
    """
    summit = summit_of(rows, weights, start, tangent(rows.shape[1]))
    unit_quantiles = list(zip(np.eye(len(quantile)), quantile.tolist(), strict=True))
    return np.array([[_bound(summit, sign * unit, q) @ unit for sign in (-1.0, 1.0)] for unit, q in unit_quantiles])


def told_summit(rows: Floats, weights: Floats, start: Floats) -> Summit:
    """The free maximum over cells, and the likelihood around it in the directions that the answers tell.

    Parameters
    ----------
    rows, weights : (distinct, cells), (distinct,) float
        Likelihood rows and how often each occurred.
    start : (cells,) float
        Cells with Lc > 0.
    """
    basis = tangent(rows.shape[1])
    _, values, vectors = np.linalg.svd(rows @ basis)
    rank = int((values > 1e-11 * max(values.max(initial=0.0), 1.0)).sum())
    return summit_of(rows, weights, start, np.asarray(basis @ vectors[:rank].T))


def share_profile(summit: Summit, above: Floats, below: Floats, quantile: float) -> tuple[float, float]:
    """Profile-likelihood bounds of a share of cells, above·c / below·c, over {Σc = 1, Lc > 0}.

    A share r is not rejected if (above - r below)·c can be 0 among the cells that are not rejected (Fieller 1954).
    Where the denominator can be 0 there too, nothing is known: the interval is all of [0, 1]. An interval that lies
    beyond 0 or 1 is given as a point just beyond.

    Parameters
    ----------
    summit : Summit
        Of the likelihood over cells.
    above, below : (cells,) float
        Numerator and denominator.
    quantile : float
        Of χ² with one degree of freedom, times any variance ratio.
    """

    def most(contrast: Floats) -> float:
        """The largest contrast·c that is not rejected."""
        return float(contrast @ _bound(summit, contrast, quantile))

    if (below == below[0]).all():  # a plain sum of cells
        return -most(-above) / below[0], most(above) / below[0]
    if -most(-below) <= 0:
        return 0.0, 1.0

    def farthest(share: float, sign: int) -> float:
        """The largest (sign 1) or smallest (sign -1) value of the contrast that is 0 at this share."""
        return sign * most(sign * (above - share * below))

    def root(sign: int) -> float:
        return float(scipy.optimize.brentq(farthest, 0.0, 1.0, args=(sign,), xtol=1e-9))

    low = 0.0 if farthest(0.0, -1) <= 0 else _BEYOND if farthest(1.0, -1) > 0 else root(-1)
    high = 1.0 if farthest(1.0, 1) >= 0 else 1 - _BEYOND if farthest(0.0, 1) < 0 else root(1)
    return low, high


class Summit(NamedTuple):
    """A likelihood around its maximum: the covariance is of the coordinates in the basis."""

    rows: Floats
    weights: Floats
    best: Floats
    basis: Floats
    covariance: Floats
    top: float


def summit_of(rows: Floats, weights: Floats, start: Floats, basis: Floats) -> Summit:
    """The free maximum and the likelihood around it, in the coordinates of a basis."""
    best = free_maximum(rows, weights, start, basis)
    covariance = np.asarray(np.linalg.inv(basis.T @ information(rows, weights, best) @ basis), dtype=float)
    return Summit(rows, weights, best, basis, covariance, float(weights @ np.log(rows @ best)))


def _bound(summit: Summit, contrast: Floats, quantile: float) -> Floats:
    """Where contrast·π is largest subject to ℓ(π) = top - quantile/2, by Newton's method."""
    rows, weights, best, basis, covariance, top = summit
    if quantile <= 0:
        return best
    along = contrast @ basis
    spread = float(np.sqrt(along @ covariance @ along))
    multiplier = np.sqrt(quantile) / spread
    pi = _inside(rows, best, basis @ (covariance @ along) * (np.sqrt(quantile) / spread))
    for _ in range(60):
        fitted = rows @ pi
        if (fitted <= 0).any():  # rounding moved it over the edge
            break
        slope = basis.T @ (rows.T @ (weights / fitted))
        curvature = basis.T @ information(rows, weights, pi) @ basis
        excess = float(weights @ np.log(fitted)) - top + quantile / 2
        solved = np.linalg.solve(curvature, np.column_stack([slope + multiplier * along, along]))
        pull = float(slope @ solved[:, 1])
        change = (-excess - float(slope @ solved[:, 0])) / pull
        step = basis @ (solved[:, 0] + solved[:, 1] * change)
        moved = _inside(rows, pi, step)
        settled = abs(excess) < max(1e-7, 1e-14 * abs(top)) and np.abs(step).max() < 1e-7
        multiplier, pi = max(multiplier + change, 0.1 * multiplier), moved
        if settled:
            return pi
    raise NotEstimable("the profile of the likelihood could not be followed; use method='wald' or 'bootstrap'")


def _inside(rows: Floats, pi: Floats, step: Floats) -> Floats:
    """π moved along the step; it stops before the edge where an answer becomes impossible."""
    fitted, change = rows @ pi, rows @ step
    falling = change < 0
    longest = float((fitted[falling] / -change[falling]).min()) if falling.any() else np.inf
    return pi + step * min(1.0, 0.9 * longest)


def free_maximum(rows: Floats, weights: Floats, start: Floats, basis: Floats) -> Floats:
    """The maximizer over {Σπ = 1, Lπ > 0} along a basis of directions, where proportions may be negative.

    Raises
    ------
    NotEstimable
        If the likelihood has no maximum there: too few different answers.
    """
    pi = start
    for _ in range(200):
        fitted = rows @ pi
        slope = basis.T @ (rows.T @ (weights / fitted))
        curvature = basis.T @ information(rows, weights, pi) @ basis
        try:
            step = basis @ np.linalg.solve(curvature, slope)
        except np.linalg.LinAlgError:
            break
        decrement = float(slope @ (basis.T @ step))
        if decrement < 1e-11:
            return pi
        pi = pi + _length(fitted, rows @ step, weights, decrement) * step
        if np.abs(pi).max() > 1e4:
            break
    raise NotEstimable(
        "a profile interval needs every proportion to be determined by the answers alone; there are too few different "
        "answers here, use method='agresti_coull', 'wald' or 'bootstrap'"
    )


def _length(fitted: Floats, change: Floats, weights: Floats, decrement: float) -> float:
    """A step length that keeps Lπ > 0 and raises the likelihood."""
    value, length = float(weights @ np.log(fitted)), 1.0
    for _ in range(60):
        next_fitted = fitted + length * change
        sufficient_likelihood = value + 1e-4 * length * decrement - 1e-10 * abs(value)
        if (next_fitted > 0).all() and float(weights @ np.log(next_fitted)) >= sufficient_likelihood:
            return length
        length /= 2
    return 0.0
