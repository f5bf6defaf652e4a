"""The coefficients that make the answers most likely: Newton's method, with the outer product of scores where it must.

The log-likelihood of randomized answers is not concave. Where the observed information is not positive definite, the
outer product of the scores takes its place: it always is, and its expectation is that of Fisher scoring.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.regression.likelihood import Evaluated, Model

__all__ = ["Optimum", "Penalty", "solve"]

Floats = NDArray[np.float64]

_DONE = 1e-12  # Newton decrement, twice the log-likelihood that a step can still gain
_LITTLE = 1e-6  # the same, where coefficients grow without end
_STEPS = 100
_HALVINGS = 30
_MANY = 20_000  # rows from which on the search begins with a part of them
_FAR = 30.0  # a linear predictor beyond which a share is 0 or 1 to all digits that matter
_FLAT = 1e-7  # information below this share of what plain answers at even odds would carry counts as none


@dataclass(frozen=True)
class Penalty:
    """Log-F(m, m) priors on the coefficients of centered covariates, as if m answers more were split evenly.

    The log-density of a coefficient θ is m θ/2 - m log(1 + exp θ). With m = 1 it takes the place of Firth's (1993)
    correction, which it equals for a single proportion, and is finite where the maximum of the likelihood is not.

    Parameters
    ----------
    m : float
    mapping : (p, p) float
        From the coefficients of one equation to those that the priors are about: of covariates that are centered, the
        constant being the logit at their means, and measured in standard deviations where they are not 0 and 1.

    References
    ----------
    Greenland & Mansournia (2015), Statistics in Medicine 34.
    """

    m: float
    mapping: Floats

    @classmethod
    def of(cls, m: float, x: Floats, weight: Floats) -> Penalty:
        """The penalty for covariates (n, p), of which one may be constant."""
        mean = weight @ x / weight.sum()
        spread = np.sqrt(np.maximum(weight @ x**2 / weight.sum() - mean**2, 0.0))
        constant = spread <= 1e-12 * np.abs(mean)
        binary = np.array(
            [bool(np.isin(column[:1000], (0.0, 1.0)).all() and np.isin(column, (0.0, 1.0)).all()) for column in x.T]
        )
        mapping = np.diag(np.where(binary | constant, 1.0, spread))
        if constant.any():
            mapping[int(constant.argmax())] = mean
        return cls(m, mapping)

    def added(self, model: Model, theta: Floats) -> Evaluated:
        """What the priors add to the log-likelihood, its gradient and the information."""
        beta, _ = model.split(theta)
        each = beta @ self.mapping.T
        share = scipy.special.expit(each)
        value = float((self.m * (each / 2 - np.logaddexp(0, each))).sum())
        gradient, information = np.zeros(model.size), np.zeros((model.size, model.size))
        p = len(self.mapping)
        for j in range(len(beta)):
            own = slice(j * p, (j + 1) * p)
            gradient[own] = self.mapping.T @ (self.m * (0.5 - share[j]))
            information[own, own] = self.mapping.T @ (self.mapping * (self.m * share[j] * (1 - share[j]))[:, None])
        return Evaluated(value, gradient, information)


@dataclass(frozen=True)
class Optimum:
    """A maximum of the likelihood.

    Parameters
    ----------
    theta : (P,) float
    log_likelihood : float
        Without what priors add.
    iterations : int
    bound : (P,) bool
        Nuisance parameters at 0 or 1, towards which the likelihood still rises.
    endless : (P, k) float
        Directions in which the coefficients grow without end; k = 0 where the maximum is finite.
    """

    theta: Floats
    log_likelihood: float
    iterations: int
    bound: NDArray[np.bool_]
    endless: Floats


def solve(model: Model, start: Floats, penalty: Penalty | None = None) -> Optimum:
    """The maximum of the likelihood, from a start."""
    stride = len(model.x) // _MANY
    theta, before = start, 0
    if stride > 1:  # near the maximum after a few steps that cost little
        first = _climbed(model.at(slice(None, None, stride)), theta, penalty)
        if not first.endless.size:
            theta, before = first.theta, first.iterations
    found = _climbed(model, theta, penalty)
    return Optimum(found.theta, found.log_likelihood, before + found.iterations, found.bound, found.endless)


def _climbed(model: Model, theta: Floats, penalty: Penalty | None) -> Optimum:
    """The maximum, climbed to step by step; each raises the likelihood."""
    at = _penalized(model, theta, penalty, "observed")
    for done in range(1, _STEPS + 1):
        bound = _bound(model, theta, at.gradient)
        step, decrement = _step(model, theta, at, bound, penalty)
        if decrement < _DONE or (decrement < _LITTLE and _far(model, theta, _FAR)):
            break
        theta, at, moved = _moved(model, theta, at, step, decrement, penalty)
        if not moved:  # floating point goes no further
            break
        if done == _STEPS:  # still rising: between people who lie close together a coefficient grows slowly
            return Optimum(theta, at.value, done, bound, _without_nuisance(model, step))
    value = at.value - (penalty.added(model, theta).value if penalty is not None else 0.0)
    endless = np.zeros((model.size, 0))
    if penalty is None and _far(model, theta, _FAR / 3):
        endless = _endless(model, at.information, bound)
    return Optimum(theta, value, done, bound, endless)


def _penalized(model: Model, theta: Floats, penalty: Penalty | None, kind: str | None) -> Evaluated:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = model.evaluate(theta, kind)
    if penalty is None:
        return found
    added = penalty.added(model, theta)
    value, gradient = found.value + added.value, found.gradient + added.gradient
    return Evaluated(value, gradient, found.information + added.information)


def _bound(model: Model, theta: Floats, gradient: Floats) -> NDArray[np.bool_]:
    """Nuisance parameters at an end of [0, 1] that want to go on."""
    bound = np.zeros(model.size, dtype=bool)
    nu = slice(model.size - model.q, model.size)
    bound[nu] = ((theta[nu] <= 0) & (gradient[nu] <= 0)) | ((theta[nu] >= 1) & (gradient[nu] >= 0))
    return bound


def _step(
    model: Model, theta: Floats, at: Evaluated, bound: NDArray[np.bool_], penalty: Penalty | None
) -> tuple[Floats, float]:
    """The next step and its decrement gᵀ I⁻¹ g."""
    step, free = np.zeros(model.size), np.flatnonzero(~bound)
    found = _solved(at.information[np.ix_(free, free)], at.gradient[free])
    if found is None:
        outer = _penalized(model, theta, penalty, "outer_product").information[np.ix_(free, free)]
        ridge = 1e-10 * np.maximum(np.diagonal(outer), 1e-10)
        found = _solved(outer + np.diag(ridge), at.gradient[free])
    if found is None:
        scale = 1 / np.maximum(np.diagonal(at.information)[free], 1e-8 * len(model.x))
        found = np.abs(scale) * at.gradient[free]
    step[free] = found
    return step, float(step @ at.gradient)


def _solved(information: Floats, gradient: Floats) -> Floats | None:
    """I⁻¹ g, None unless I is positive definite."""
    diagonal = np.diagonal(information)
    if not (np.isfinite(information).all() and (diagonal > 0).all()):
        return None
    scale = 1 / np.sqrt(diagonal)
    try:
        factor = scipy.linalg.cho_factor(information * scale * scale[:, None], lower=True)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(scale * scipy.linalg.cho_solve(factor, scale * gradient))


def _moved(
    model: Model, theta: Floats, at: Evaluated, step: Floats, decrement: float, penalty: Penalty | None
) -> tuple[Floats, Evaluated, bool]:
    """The first of shorter and shorter steps that raises the likelihood."""
    nu = slice(model.size - model.q, model.size)
    some = model.x[:: max(len(model.x) // 2000, 1)].T
    now, moved = (np.abs(model.split(each)[0] @ some) for each in (theta, step))
    longest = float((moved / np.maximum(now, 8.0)).max(initial=0.0))
    length = 1 / max(longest, 1.0)  # a logit moves by no more than 8 at once, or than it is far: incomes have outliers
    for _ in range(_HALVINGS):
        tried = theta + length * step
        tried[nu] = np.clip(tried[nu], 0.0, 1.0)
        there = _penalized(model, tried, penalty, "observed")
        if np.isfinite(there.value) and there.value >= at.value + 1e-4 * min(length, 1.0) * decrement * (length < 1):
            return tried, there, True
        length /= 2
    return theta, at, False


def _far(model: Model, theta: Floats, bound: float) -> bool:
    """Whether a linear predictor of some respondents is beyond a bound."""
    beta, _ = model.split(theta)
    eta = beta @ model.x.T
    return bool(np.abs(eta if model.offset is None else eta + model.offset).max(initial=0.0) > bound)


def _without_nuisance(model: Model, step: Floats) -> Floats:
    """The direction of a step of the coefficients alone, (P, 1)."""
    found = step.copy()
    found[model.size - model.q :] = 0.0
    return found[:, None]


def _endless(model: Model, information: Floats, bound: NDArray[np.bool_]) -> Floats:
    """Directions of the coefficients that the likelihood hardly notices any more.

    They are compared with the information that plain answers at even odds would carry.
    """
    p, equations = model.x.shape[1], model.t - 1
    plain = (model.x.T * model.weight) @ model.x / 4
    values, vectors = np.linalg.eigh(plain)
    root = vectors / np.sqrt(np.maximum(values, values.max() * 1e-14))
    whole = np.kron(np.eye(equations), root)
    edge = equations * p
    own = whole.T @ information[:edge, :edge] @ whole
    found, directions = np.linalg.eigh(own)
    return np.asarray(
        np.vstack([whole @ directions[:, found < _FLAT], np.zeros((model.q, int((found < _FLAT).sum())))])
    )
