"""The coefficients that make the answers most likely: Newton's method, with the outer product of scores where it must.

The log-likelihood of randomized answers is not concave. Where the observed information is not positive definite, the
outer product of the scores takes its place: it always is, and its expectation is that of Fisher scoring. It may have
several maxima, so that the search begins in several places.

Every start depends on the answers and on the space that the columns of the model span, and on nothing else: the same
starts come under another reference category, another order of the rows, another coding of the same factors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay._values import Floats
from naysay.estimate.likelihood import maximize
from naysay.regression.likelihood import Evaluated, Model

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
    compliance : (m, m) float, optional
        The same for covariates of who complies.

    References
    ----------
    Greenland & Mansournia (2015), Statistics in Medicine 34.
    """

    m: float
    mapping: Floats
    compliance: Floats | None = None

    @classmethod
    def of(cls, m: float, model: Model) -> Penalty:
        """The penalty for the covariates of a model, of which one may be constant."""
        compliance = None if model.w is None else cls._mapping(model.w, model.weight)
        return cls(m, cls._mapping(model.x, model.weight), compliance)

    @staticmethod
    def _mapping(x: Floats, weight: Floats) -> Floats:
        column_means = weight @ x / weight.sum()
        column_spreads = np.sqrt(np.maximum(weight @ x**2 / weight.sum() - column_means**2, 0.0))
        is_constant = column_spreads <= 1e-12 * np.abs(column_means)
        is_binary = np.array(
            [bool(np.isin(column[:1000], (0.0, 1.0)).all() and np.isin(column, (0.0, 1.0)).all()) for column in x.T]
        )
        mapping = np.diag(np.where(is_binary | is_constant, 1.0, column_spreads))
        if is_constant.any():
            mapping[int(is_constant.argmax())] = column_means
        return mapping

    def prior_terms(self, model: Model, theta: Floats) -> Evaluated:
        """What the priors add to the log-likelihood, its gradient and the information."""
        log_prior, gradient, information = 0.0, np.zeros(model.size), np.zeros((model.size, model.size))
        mappings = [self.mapping] * (model.t - 1) + ([] if self.compliance is None else [self.compliance] * model.q)
        for place, mapping in zip(model.places, mappings, strict=False):
            logits = mapping @ theta[place]
            logit_shares = scipy.special.expit(logits)
            log_prior += float((self.m * (logits / 2 - np.logaddexp(0, logits))).sum())
            gradient[place] = mapping.T @ (self.m * (0.5 - logit_shares))
            information[place, place] = mapping.T @ (mapping * (self.m * logit_shares * (1 - logit_shares))[:, None])
        return Evaluated(log_prior, gradient, information)


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
        finite_ends: list[tuple[Climb, int]] = []
        for climb, times_reached in sorted(climbs, key=lambda end: -end[0].height):
            if climb.endless.size:
                continue
            if finite_ends and finite_ends[-1][0].height - climb.height < _SAME:
                finite_ends[-1] = finite_ends[-1][0], finite_ends[-1][1] + times_reached
            else:
                finite_ends.append((climb, times_reached))
        endless_ends = [end for end in climbs if end[0].endless.size]
        highest_climbs = [max(endless_ends, key=lambda end: end[0].height)[0]] if endless_ends else []
        return cls(
            tuple(finite_ends), tuple((climb, sum(n for _, n in endless_ends)) for climb in highest_climbs), region
        )

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
        search_count = sum(times_reached for _, times_reached in (*self.finite, *self.endless))
        near_maxima = [climb for climb, _ in self.finite if climb.height > self.floor]
        w = min(2 if not near_maxima else len(near_maxima) + (self.above > _SAME), _MODES)
        return search_count > w + 2 and w * (search_count - 1) / (search_count - w - 2) <= w + 0.5

    def optimum(self, model: Model, penalty: Penalty | None) -> Optimum:
        """What is reported of them."""
        best_climb, times_reached = self.finite[0] if self.above <= self.region else self.endless[0]
        height_gaps = (
            best_climb.height - other_climb.height for other_climb, _ in self.finite if other_climb is not best_climb
        )
        search_count = sum(times_reached for _, times_reached in (*self.finite, *self.endless))
        endless_gap = self.above if _SAME < self.above <= self.region else 0.0
        search = Search(search_count, times_reached, tuple(height_gaps), endless_gap)
        log_likelihood = best_climb.height - (
            penalty.prior_terms(model, best_climb.theta).value if penalty is not None else 0.0
        )
        return Optimum(
            best_climb.theta, log_likelihood, best_climb.iterations, best_climb.bound, best_climb.endless, search
        )


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
    searched_model = model
    if len(model.x) >= 2 * _MANY:  # ends are found with some of the rows; from there a few steps are left
        searched_model = model.at(np.sort(np.random.default_rng(_MANY).choice(len(model.x), _MANY, replace=False)))
    start_points = starts(model)
    climbs: list[tuple[Climb, int]] = []
    while not (ends := Ends.of(climbs, region)).enough:
        climbs.append((_climb(searched_model, next(start_points), penalty, ends.floor, done=_NEAR), 1))
    if searched_model is model:
        if ends.finite:  # the highest maximum is climbed to the last digit
            (highest_climb, times_reached), *other_maxima = ends.finite
            last_climb = _climb(model, highest_climb.theta, penalty)
            last_climb = last_climb._replace(iterations=highest_climb.iterations + last_climb.iterations)
            ends = replace(ends, finite=((last_climb, times_reached), *other_maxima))
    else:
        full_climbs = [
            (_climb(model, climb.theta, penalty), times_reached) for climb, times_reached in ends.finite[:_FINISHED]
        ]
        if not any(not climb.endless.size for climb, _ in full_climbs):
            full_climbs += [(_climb(model, start, penalty), 1) for start in islice(starts(model), 3)]
        ends = Ends.of(full_climbs, region)
    return ends.optimum(model, penalty)


def _climb(model: Model, theta: Floats, penalty: Penalty | None, floor: float = -np.inf, *, done: float = 0.0) -> Climb:
    """The end of the way up from a start, climbed to step by step; each raises the likelihood.

    `done` is the decrement at which a Newton step among ordinary log odds need not be taken.

    A way that will end below the floor is left early, and counts as one without end: what a Newton step can still gain
    is at most its decrement, on a parabola half of it, on the tail of a logit all of it.
    """
    at = _penalized_likelihood(model, theta, penalty, "observed")
    for step_count in range(1, _STEPS + 1):
        is_bound = _bound(model, theta, at.gradient)
        step, decrement, is_newton = _step(model, theta, at, is_bound, penalty)
        if decrement < _DONE or (is_newton and decrement < done and not _far(model, theta, _FAR / 2)):
            break
        if penalty is None and decrement < _LITTLE and _far(model, theta, _FAR) and _far(model, step, _PACE):
            endless_directions = _endless(model, at.information, is_bound)
            if endless_directions.size:
                return Climb(theta, at.value, step_count, is_bound, endless_directions)
        if is_newton and at.value + 2 * decrement < floor:
            return Climb(theta, at.value, step_count, is_bound, _without_nuisance(model, step))
        theta, at, has_moved = _line_search(model, theta, at, step, decrement, penalty)
        if not has_moved:  # floating point goes no further
            break
        if step_count == _STEPS:  # still rising: between people who lie close together a coefficient grows slowly
            return Climb(theta, at.value, step_count, is_bound, _without_nuisance(model, step))
    endless_directions = np.zeros((model.size, 0))
    if penalty is None and _far(model, theta, _FAR / 2):
        endless_directions = _endless(model, at.information, is_bound)
    return Climb(theta, at.value, step_count, is_bound, endless_directions)


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
    is_bound = np.zeros(model.size, dtype=bool)
    nuisance_slice = slice(model.size - model.bounded, model.size)
    is_bound[nuisance_slice] = ((theta[nuisance_slice] <= 0) & (gradient[nuisance_slice] <= 0)) | (
        (theta[nuisance_slice] >= 1) & (gradient[nuisance_slice] >= 0)
    )
    return is_bound


def _step(
    model: Model, theta: Floats, at: Evaluated, bound: NDArray[np.bool_], penalty: Penalty | None
) -> tuple[Floats, float, bool]:
    """The next step, its decrement gᵀ I⁻¹ g, and whether it is Newton's."""
    step, free_parameters = np.zeros(model.size), np.flatnonzero(~bound)
    free_step = _newton_direction(
        at.information[np.ix_(free_parameters, free_parameters)], at.gradient[free_parameters]
    )
    is_newton = free_step is not None
    if free_step is None:
        outer_product = _penalized_likelihood(model, theta, penalty, "outer_product").information[
            np.ix_(free_parameters, free_parameters)
        ]
        ridge = 1e-10 * np.maximum(np.diagonal(outer_product), 1e-10)
        free_step = _newton_direction(outer_product + np.diag(ridge), at.gradient[free_parameters])
    if free_step is None:
        diagonal_scale = 1 / np.maximum(np.diagonal(at.information)[free_parameters], 1e-8 * len(model.x))
        free_step = np.abs(diagonal_scale) * at.gradient[free_parameters]
    step[free_parameters] = free_step
    return step, float(step @ at.gradient), is_newton


def _newton_direction(information: Floats, gradient: Floats) -> Floats | None:
    """I⁻¹ g, None unless I is positive definite."""
    diagonal = np.diagonal(information)
    if not (np.isfinite(information).all() and (diagonal > 0).all()):
        return None
    diagonal_scale = 1 / np.sqrt(diagonal)
    try:
        cholesky_factor = scipy.linalg.cho_factor(information * diagonal_scale * diagonal_scale[:, None], lower=True)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(diagonal_scale * scipy.linalg.cho_solve(cholesky_factor, diagonal_scale * gradient))


def _line_search(
    model: Model, theta: Floats, at: Evaluated, step: Floats, decrement: float, penalty: Penalty | None
) -> tuple[Floats, Evaluated, bool]:
    """The first of shorter and shorter steps that raises the likelihood."""
    nuisance_slice = slice(model.size - model.bounded, model.size)
    current_spread, step_spread = (model.log_odds(parameters) for parameters in (theta, step))
    longest = float((step_spread / np.maximum(current_spread, 8.0)).max(initial=0.0))
    length = 1 / max(longest, 1.0)  # a logit moves by no more than 8 at once, or than it is far: incomes have outliers
    for _ in range(_HALVINGS):
        trial_theta = theta + length * step
        trial_theta[nuisance_slice] = np.clip(trial_theta[nuisance_slice], 0.0, 1.0)
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
    return bool(model.log_odds(theta).max(initial=0.0) > bound)


def _without_nuisance(model: Model, step: Floats) -> Floats:
    """The direction of a step of the coefficients alone, (P, 1)."""
    direction = step.copy()
    direction[model.size - model.bounded :] = 0.0
    return direction[:, None]


def _endless(model: Model, information: Floats, bound: NDArray[np.bool_]) -> Floats:
    """Directions of the coefficients that the likelihood hardly notices any more.

    They are compared with the information that plain answers at even odds would carry.
    """
    even_covariance = (np.eye(model.t - 1) - 1 / model.t) / model.t
    scaling = np.kron(np.linalg.inv(np.linalg.cholesky(even_covariance)).T, _column_root(model.x, model.weight))
    if model.w is not None:
        scaling = scipy.linalg.block_diag(scaling, np.kron(2 * np.eye(model.q), _column_root(model.w, model.weight)))
    coefficient_count = len(scaling)
    scaled_information = scaling.T @ information[:coefficient_count, :coefficient_count] @ scaling
    eigenvalues, directions = np.linalg.eigh(scaled_information)
    endless_directions = scaling @ directions[:, eigenvalues < _FLAT]
    return np.asarray(np.vstack([endless_directions, np.zeros((model.bounded, endless_directions.shape[1]))]))


def _column_root(x: Floats, weight: Floats) -> Floats:
    """What turns columns into ones whose weighted products are those of a unit matrix, (p, p)."""
    eigenvalues, eigenvectors = np.linalg.eigh((x.T * weight) @ x)
    return np.asarray(eigenvectors / np.sqrt(np.maximum(eigenvalues, eigenvalues.max() * 1e-14)))


_EDGE = 0.02  # where shares and nuisance parameters start that alone would be at 0 or 1
_SPREADS = (0.5, 1.0, 1.5)  # standard deviations of the linear predictors of random starts
_SEED = 1987


def is_concave(model: Model) -> bool:
    """Whether the log-likelihood has one maximum at most: each answer points at one category, or nothing is compared.

    Then log f is a multinomial logarithm. With a constant alone, f is linear in the shares.
    """
    if model.q:
        return False
    answer_rows = model.answers.rows @ model.within.chances(np.zeros(0))
    is_plain = ((answer_rows > 0).sum(axis=1) == 1) | (np.ptp(answer_rows, axis=1) == 0)
    is_constant = model.x.shape[1] == 1 and float(np.ptp(model.x)) == 0 and model.offset is None
    return is_constant or bool(is_plain[np.unique(model.answer[model.weight > 0])].all())


def starts(model: Model) -> Iterator[Floats]:
    """Parameters (P,) to begin from: the shares of everybody, two estimates by moments, and then random ones forever.

    The shares of everybody ignore the covariates. Moments regress unbiased indicators of the categories on the
    covariates by least squares, and take logits of what comes out, away from the ends. A random start adds linear
    predictors that are normal with standard deviations of 0.5 to 1.5.
    """
    answer_weights = np.bincount(model.answer, model.weight, minlength=len(model.answers.rows)).astype(float)
    cell_shares = maximize(
        model.answers.rows[answer_weights > 0], answer_weights[answer_weights > 0], tolerance=1e-2
    ).proportions
    nu, category_shares = _inside(model, cell_shares)
    answer_rows = model.answers.rows @ model.within.chances(nu)
    moments = (model.x.T * model.weight) @ model.x
    column_scale = 1 / np.sqrt(np.maximum(np.diagonal(moments), np.finfo(float).tiny))
    eigenvalues, eigenvectors = np.linalg.eigh(moments * column_scale * column_scale[:, None])
    is_present = eigenvalues > 1e-12 * eigenvalues.max()
    # directions (p, rank) of coefficients whose linear predictors are orthonormal over the people
    whitening = column_scale[:, None] * eigenvectors[:, is_present] / np.sqrt(eigenvalues[is_present])
    moment_inverse = whitening @ whitening.T
    row_indicators = _indicators(answer_rows, answer_weights, category_shares)[model.answer]
    fitted_shares = model.x @ (moment_inverse @ (model.x.T @ (row_indicators * model.weight[:, None])))
    common_shares = np.broadcast_to(category_shares, fitted_shares.shape)
    for start_shares, least_share in ((common_shares, _EDGE), (fitted_shares, _EDGE), (fitted_shares, 5 * _EDGE)):
        beta = _coefficients(model, moment_inverse, np.maximum(start_shares, least_share))
        yield np.concatenate([beta.ravel(), _of_everybody(model, nu)])
    common_coefficients = _coefficients(model, moment_inverse, np.maximum(common_shares, _EDGE))
    random_axes = _axes(model, whitening, row_indicators @ np.arange(model.t))
    rng = np.random.default_rng(_SEED)
    while True:
        for spread in _SPREADS:
            random_terms = spread * rng.normal(size=(model.t, random_axes.shape[1])) @ random_axes.T
            beta = common_coefficients + (random_terms - random_terms[model.reference])[model.free]
            yield np.concatenate([beta.ravel(), _of_everybody(model, rng.uniform(0.1, 0.9, model.q))])


def _of_everybody(model: Model, nu: Floats) -> Floats:
    """Nuisance parameters that are the same for everybody; with covariates the coefficients nearest to their logits."""
    if model.w is None:
        return nu
    root = np.sqrt(model.weight)
    constant = np.linalg.lstsq(model.w * root[:, None], root, rcond=None)[0]
    return np.outer(scipy.special.logit(nu), constant).ravel()


def _inside(model: Model, cells: Floats) -> tuple[Floats, Floats]:
    """Nuisance parameters and shares of the categories from shares of cells."""
    nu, category_shares = np.empty(model.q), np.zeros(model.t)
    holder_counts = Counter(cell for cell, _ in model.within.paths)  # a cell of no category lies within all of them
    for cell, category in model.within.paths:
        category_shares[category] += cells[cell] / holder_counts[cell]
    for k in range(model.q):
        path_cells = {
            cell: up for (cell, _), path in model.within.paths.items() for share_place, up in path if share_place == k
        }
        whole_share = sum(cells[cell] for cell in path_cells)
        part_share = sum(cells[cell] for cell, up in path_cells.items() if up)
        nu[k] = np.clip(part_share / whole_share, _EDGE, 1 - _EDGE) if whole_share > _EDGE else 0.5
    return nu, category_shares


def _indicators(rows: Floats, heavy: Floats, shares: Floats) -> Floats:
    """What each distinct answer says of each category, (distinct, t), with the category itself as its mean.

    The score s = L / f has the mean I e_j in category j, I the mean of s sᵀ; so I⁻¹ s has the mean e_j.
    """
    f = rows @ np.maximum(shares, _EDGE)
    answer_scores = rows / np.where(f > 0, f, 1.0)[:, None]
    information = (answer_scores.T * heavy) @ answer_scores / heavy.sum()
    return np.asarray(answer_scores @ np.linalg.pinv(information, rcond=1e-9, hermitian=True))


def _coefficients(model: Model, inverse: Floats, shares: Floats) -> Floats:
    """Coefficients (t - 1, p) whose linear predictors are nearest to the logits of shares (n, t)."""
    logits = np.log(shares)
    eta = logits[:, model.free] - logits[:, [model.reference]]
    if model.offset is not None:
        eta = eta - model.offset[:, None]
    return np.asarray((inverse @ (model.x.T @ (eta * model.weight[:, None]))).T)


def _axes(model: Model, white: Floats, answers: Floats) -> Floats:
    """Directions (p, rank) of coefficients that follow from the data, each with linear predictors of mean square 1.

    They diagonalize Σ w c x xᵀ beside Σ w x xᵀ, where c is the leverage of a row and its answer as a number: other
    columns that span the same space give the same linear predictors.
    """
    z = model.x @ white
    c = model.weight * ((z**2).sum(axis=1) * model.weight.sum() / z.shape[1] + answers)
    _, rotation = np.linalg.eigh((z.T * c) @ z)
    signs = np.where(c @ (z @ rotation) < 0, -1.0, 1.0)
    return np.asarray(white @ (rotation * signs) * np.sqrt(model.weight.sum()))
