"""The coefficients that make the answers most likely: Newton's method, with the outer product of scores where it must.

The log-likelihood of randomized answers is not concave. Where the observed information is not positive definite, the
outer product of the scores takes its place: it always is, and its expectation is that of Fisher scoring. It may have
several maxima, so that the search begins in several places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.regression.likelihood import Evaluated, Model
from naysay.regression.starts import is_concave, starts

Floats = NDArray[np.float64]

_DONE = 1e-12  # Newton decrement, twice the log-likelihood that a step can still gain
_NEAR = 1e-6  # the same, at the end of a search that is only compared with others; the highest goes on to _DONE
_LITTLE = 1e-4  # the same, where coefficients grow without end
_STEPS = 100
_HALVINGS = 30
_MANY = 5_000  # rows with which places are found, where there are twice as many or more
_FINISHED = 3  # maxima of those rows from which the search goes on with all of them
_MODES = 4  # maxima beyond which more do not ask for more searches: 46 are enough
_SAME = 1e-3  # difference of log-likelihoods that counts as none
_FAR = 18.0  # log odds beyond which a share is 0 or 1 to all digits that matter
_PACE = 0.5  # log odds that a step adds at least where coefficients grow without end: Newton's adds 1 there
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

    def prior_terms(self, model: Model, theta: Floats) -> Evaluated:
        """What the priors add to the log-likelihood, its gradient and the information."""
        beta, _ = model.split(theta)
        logits = beta @ self.mapping.T
        logit_shares = scipy.special.expit(logits)
        value = float((self.m * (logits / 2 - np.logaddexp(0, logits))).sum())
        gradient, information = np.zeros(model.size), np.zeros((model.size, model.size))
        p = len(self.mapping)
        for j in range(len(beta)):
            equation_slice = slice(j * p, (j + 1) * p)
            gradient[equation_slice] = self.mapping.T @ (self.m * (0.5 - logit_shares[j]))
            information[equation_slice, equation_slice] = self.mapping.T @ (
                self.mapping * (self.m * logit_shares[j] * (1 - logit_shares[j]))[:, None]
            )
        return Evaluated(value, gradient, information)


@dataclass(frozen=True)
class Search:
    """Where several searches ended that began in different places.

    Parameters
    ----------
    starts : int
        Places where a search began; 1 where the likelihood has one maximum at most.
    reached : int
        Searches that ended at the maximum that is reported.
    lower : tuple of float
        By how much other finite maxima lie below it, the highest first.
    above : float
        By how much the likelihood rises above it where coefficients grow without end; 0 where it was not found to.
    """

    starts: int
    reached: int
    lower: tuple[float, ...] = ()
    above: float = 0.0


@dataclass(frozen=True)
class Optimum:
    """The highest finite maximum of the likelihood that was found.

    Parameters
    ----------
    theta : (P,) float
    log_likelihood : float
        Without what priors add.
    iterations : int
        Of the search that found it.
    bound : (P,) bool
        Nuisance parameters at 0 or 1, towards which the likelihood still rises.
    endless : (P, k) float
        Directions in which the coefficients grow without end; k = 0 where the maximum is finite.
    search : Search
        How many searches there were, and whether they agree.
    """

    theta: Floats
    log_likelihood: float
    iterations: int
    bound: NDArray[np.bool_]
    endless: Floats
    search: Search


class Climb(NamedTuple):
    """Where one search ended: an `Optimum` with its height, the log-likelihood and what priors add."""

    theta: Floats
    height: float
    iterations: int
    bound: NDArray[np.bool_]
    endless: Floats


@dataclass(frozen=True)
class Ends:
    """Where searches ended, the highest first, each with how many did.

    Parameters
    ----------
    finite : tuple of (Climb, int)
        Maxima.
    endless : tuple of (Climb, int)
        The highest way up without end, where there is one.
    region : float
        By how much the log-likelihood is lower at the edge of the 95 % likelihood region than at its top.
    """

    finite: tuple[tuple[Climb, int], ...]
    endless: tuple[tuple[Climb, int], ...]
    region: float

    @classmethod
    def of(cls, climbs: Sequence[tuple[Climb, int]], region: float) -> Ends:
        """The ends of some searches."""
        finite: list[tuple[Climb, int]] = []
        for climb, times in sorted(climbs, key=lambda end: -end[0].height):
            if climb.endless.size:
                continue
            if finite and finite[-1][0].height - climb.height < _SAME:
                finite[-1] = finite[-1][0], finite[-1][1] + times
            else:
                finite.append((climb, times))
        endless = [end for end in climbs if end[0].endless.size]
        top = [max(endless, key=lambda end: end[0].height)[0]] if endless else []
        return cls(tuple(finite), tuple((climb, sum(n for _, n in endless)) for climb in top), region)

    @property
    def above(self) -> float:
        """By how much the way up without end is above the highest maximum; infinite where there is no maximum."""
        if not self.finite:
            return np.inf
        return max((float(climb.height - self.finite[0][0].height) for climb, _ in self.endless), default=-np.inf)

    @property
    def floor(self) -> float:
        """The height below which an end does not matter."""
        return self.finite[0][0].height - self.region if self.finite else -np.inf

    @property
    def enough(self) -> bool:
        """Whether no more searches are needed, by the rule that `solve` names."""
        searches = sum(times for _, times in (*self.finite, *self.endless))
        near_maxima = [climb for climb, _ in self.finite if climb.height > self.floor]
        w = min(2 if not near_maxima else len(near_maxima) + (self.above > _SAME), _MODES)
        return searches > w + 2 and w * (searches - 1) / (searches - w - 2) <= w + 0.5

    def optimum(self, model: Model, penalty: Penalty | None) -> Optimum:
        """What is reported of them."""
        climb, times = self.finite[0] if self.above <= self.region else self.endless[0]
        lower = (climb.height - other_climb.height for other_climb, _ in self.finite if other_climb is not climb)
        searches = sum(times for _, times in (*self.finite, *self.endless))
        above = self.above if _SAME < self.above <= self.region else 0.0
        search = Search(searches, times, tuple(lower), above)
        value = climb.height - (penalty.prior_terms(model, climb.theta).value if penalty is not None else 0.0)
        return Optimum(climb.theta, value, climb.iterations, climb.bound, climb.endless, search)


def solve(model: Model, penalty: Penalty | None = None) -> Optimum:
    """The highest finite maximum of the likelihood that several searches find.

    A maximum that lies far below a way up without end counts as none: if it is outside the 95 % likelihood region of
    that way, the way is returned, and `search.lower` says how far below the maximum is.

    How many searches there are follows Boender & Rinnooy Kan (1987), Bayesian stopping rules for multistart global
    optimization methods, Mathematical Programming 37: they go on until the number of maxima that is to be expected
    after r searches that found w, w (r - 1) / (r - w - 2), is at most w + 1/2; 7 searches for one maximum, 16 for two.
    """
    region = float(scipy.stats.chi2.ppf(0.95, model.size) / 2)
    if is_concave(model):
        return Ends.of([(_climb(model, next(starts(model)), penalty), 1)], region).optimum(model, penalty)
    part = model
    if len(model.x) >= 2 * _MANY:  # ends are found with some of the rows; from there a few steps are left
        part = model.at(np.sort(np.random.default_rng(_MANY).choice(len(model.x), _MANY, replace=False)))
    beginnings = starts(model)
    climbs: list[tuple[Climb, int]] = []
    while not (ends := Ends.of(climbs, region)).enough:
        climbs.append((_climb(part, next(beginnings), penalty, ends.floor, done=_NEAR), 1))
    if part is model:
        ends = _climb_top(ends, model, penalty)
    else:
        full_climbs = [(_climb(model, climb.theta, penalty), times) for climb, times in ends.finite[:_FINISHED]]
        if not any(not climb.endless.size for climb, _ in full_climbs):
            full_climbs += [(_climb(model, start, penalty), 1) for start in islice(starts(model), 3)]
        ends = Ends.of(full_climbs, region)
    return ends.optimum(model, penalty)


def _climb_top(ends: Ends, model: Model, penalty: Penalty | None) -> Ends:
    """The ends with the highest maximum climbed to the last digit."""
    if not ends.finite:
        return ends
    (top, times), *other_maxima = ends.finite
    climb = _climb(model, top.theta, penalty)
    return replace(ends, finite=((climb._replace(iterations=top.iterations + climb.iterations), times), *other_maxima))


def _climb(model: Model, theta: Floats, penalty: Penalty | None, floor: float = -np.inf, *, done: float = 0.0) -> Climb:
    """The end of the way up from a start, climbed to step by step; each raises the likelihood.

    `done` is the decrement at which a Newton step among ordinary log odds need not be taken.

    A way that will end below the floor is left early, and counts as one without end: what a Newton step can still gain
    is at most its decrement, on a parabola half of it, on the tail of a logit all of it.
    """
    at = _penalized_likelihood(model, theta, penalty, "observed")
    for steps in range(1, _STEPS + 1):
        bound = _bound(model, theta, at.gradient)
        step, decrement, newton = _step(model, theta, at, bound, penalty)
        if decrement < _DONE or (newton and decrement < done and not _far(model, theta, _FAR / 2)):
            break
        if penalty is None and decrement < _LITTLE and _far(model, theta, _FAR) and _far(model, step, _PACE):
            endless = _endless(model, at.information, bound)
            if endless.size:
                return Climb(theta, at.value, steps, bound, endless)
        if newton and at.value + 2 * decrement < floor:
            return Climb(theta, at.value, steps, bound, _without_nuisance(model, step))
        theta, at, has_moved = _line_search(model, theta, at, step, decrement, penalty)
        if not has_moved:  # floating point goes no further
            break
        if steps == _STEPS:  # still rising: between people who lie close together a coefficient grows slowly
            return Climb(theta, at.value, steps, bound, _without_nuisance(model, step))
    endless = np.zeros((model.size, 0))
    if penalty is None and _far(model, theta, _FAR / 2):
        endless = _endless(model, at.information, bound)
    return Climb(theta, at.value, steps, bound, endless)


def _penalized_likelihood(model: Model, theta: Floats, penalty: Penalty | None, kind: str | None) -> Evaluated:
    with np.errstate(divide="ignore", invalid="ignore"):
        likelihood = model.evaluate(theta, kind)
    if penalty is None:
        return likelihood
    prior_terms = penalty.prior_terms(model, theta)
    value, gradient = likelihood.value + prior_terms.value, likelihood.gradient + prior_terms.gradient
    return Evaluated(value, gradient, likelihood.information + prior_terms.information)


def _bound(model: Model, theta: Floats, gradient: Floats) -> NDArray[np.bool_]:
    """Nuisance parameters at an end of [0, 1] that want to go on."""
    bound = np.zeros(model.size, dtype=bool)
    nu = slice(model.size - model.q, model.size)
    bound[nu] = ((theta[nu] <= 0) & (gradient[nu] <= 0)) | ((theta[nu] >= 1) & (gradient[nu] >= 0))
    return bound


def _step(
    model: Model, theta: Floats, at: Evaluated, bound: NDArray[np.bool_], penalty: Penalty | None
) -> tuple[Floats, float, bool]:
    """The next step, its decrement gᵀ I⁻¹ g, and whether it is Newton's."""
    step, free = np.zeros(model.size), np.flatnonzero(~bound)
    free_step = _newton_direction(at.information[np.ix_(free, free)], at.gradient[free])
    newton = free_step is not None
    if free_step is None:
        outer = _penalized_likelihood(model, theta, penalty, "outer_product").information[np.ix_(free, free)]
        ridge = 1e-10 * np.maximum(np.diagonal(outer), 1e-10)
        free_step = _newton_direction(outer + np.diag(ridge), at.gradient[free])
    if free_step is None:
        scale = 1 / np.maximum(np.diagonal(at.information)[free], 1e-8 * len(model.x))
        free_step = np.abs(scale) * at.gradient[free]
    step[free] = free_step
    return step, float(step @ at.gradient), newton


def _newton_direction(information: Floats, gradient: Floats) -> Floats | None:
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


def _line_search(
    model: Model, theta: Floats, at: Evaluated, step: Floats, decrement: float, penalty: Penalty | None
) -> tuple[Floats, Evaluated, bool]:
    """The first of shorter and shorter steps that raises the likelihood."""
    nu = slice(model.size - model.q, model.size)
    current_spread, moved = (_spread(model.split(parameters)[0] @ model.x.T) for parameters in (theta, step))
    longest = float((moved / np.maximum(current_spread, 8.0)).max(initial=0.0))
    length = 1 / max(longest, 1.0)  # a logit moves by no more than 8 at once, or than it is far: incomes have outliers
    for _ in range(_HALVINGS):
        trial_theta = theta + length * step
        trial_theta[nu] = np.clip(trial_theta[nu], 0.0, 1.0)
        is_full_step = length == 1 / max(longest, 1.0)  # a shorter step is likely not the last: its value comes first
        trial_evaluated = _penalized_likelihood(model, trial_theta, penalty, "observed" if is_full_step else None)
        if np.isfinite(trial_evaluated.value) and trial_evaluated.value >= at.value + 1e-4 * min(
            length, 1.0
        ) * decrement * (length < 1):
            return (
                trial_theta,
                trial_evaluated if is_full_step else _penalized_likelihood(model, trial_theta, penalty, "observed"),
                True,
            )
        length /= 2
    return theta, at, False


def _far(model: Model, theta: Floats, bound: float) -> bool:
    """Whether coefficients, or a step of them, make the log odds of some respondents larger than a bound."""
    return bool(_spread(model.split(theta)[0] @ model.x.T).max(initial=0.0) > bound)


def _spread(eta: Floats) -> Floats:
    """The largest log odds between two categories, (n,), whichever is the reference."""
    return np.asarray(np.maximum(eta.max(axis=0), 0.0) - np.minimum(eta.min(axis=0), 0.0))


def _without_nuisance(model: Model, step: Floats) -> Floats:
    """The direction of a step of the coefficients alone, (P, 1)."""
    direction = step.copy()
    direction[model.size - model.q :] = 0.0
    return direction[:, None]


def _endless(model: Model, information: Floats, bound: NDArray[np.bool_]) -> Floats:
    """Directions of the coefficients that the likelihood hardly notices any more.

    They are compared with the information that plain answers at even odds would carry.
    """
    p, equations = model.x.shape[1], model.t - 1
    values, vectors = np.linalg.eigh((model.x.T * model.weight) @ model.x)
    root = vectors / np.sqrt(np.maximum(values, values.max() * 1e-14))
    even = (np.eye(equations) - 1 / model.t) / model.t
    scaling = np.kron(np.linalg.inv(np.linalg.cholesky(even)).T, root)
    edge = equations * p
    scaled_information = scaling.T @ information[:edge, :edge] @ scaling
    eigenvalues, directions = np.linalg.eigh(scaled_information)
    return np.asarray(
        np.vstack([scaling @ directions[:, eigenvalues < _FLAT], np.zeros((model.q, int((eigenvalues < _FLAT).sum())))])
    )
