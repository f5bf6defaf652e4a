"""The variance per respondent: n times an estimator's covariance, for any design and proportions.

Sums over responses: over all of them, or over a sample if there are too many to list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design import Answerable, Design
from naysay.design.base import check_design, check_known
from naysay.design.drawing import GeneratorSource
from naysay.design.several import choice, number, place_of
from naysay.errors import DataError, NotEstimable
from naysay.estimate.estimators import design_variances
from naysay.estimate.fit import Cells
from naysay.estimate.likelihood import check_rank, checked_target, tangent
from naysay.estimate.linear import linear_map, products
from naysay.estimate.registry import ESTIMATORS, Estimator, default, suitable
from naysay.estimate.samples import slopes
from naysay.responses import Codes


@dataclass(frozen=True, eq=False)
class Variance:
    """The covariance of an estimator per respondent. Divided by n, it is the covariance with n answers.

    Parameters
    ----------
    names : (p,) tuple of label
        What is estimated: first the categories in their order, then the nuisance parameters of several samples.
    values : (p,) float
        Their true values.
    covariance : (p, p) float
        n times the covariance.
    kind : str
        How the covariance was computed.
    ask : Arguments
        The checked arguments, with the proportions of all kinds of people (the cells).
    across : (p, kinds) float
        n times the covariance between the values and the estimated proportions of the kinds.
    categories : int
        How many values, counted from the first, are proportions of categories.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> found = planning.variance(designs.two_coins(), (0.15, 0.85), estimator="moments")
    >>> found.standard_errors(200).round(4)
    array([0.0662, 0.0662])
    """

    names: tuple[Any, ...]
    values: Floats
    covariance: Floats
    kind: str
    ask: Arguments
    across: Floats
    categories: int

    @property
    def at(self) -> Floats:
        """The proportions of all kinds of people, (kinds,); the values themselves if each category is one kind."""
        return self.ask.proportions

    @property
    def moves(self) -> Floats:
        """The average error in the proportions of the kinds per unit of error in a value, (p, kinds)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.across / np.diagonal(self.covariance)[:, None])

    @property
    def each(self) -> Floats:
        """Variances of the values per respondent, (p,): n times the variances with n answers."""
        return np.maximum(np.diagonal(self.covariance), 0.0)

    def standard_errors(self, n: float) -> Floats:
        """Standard errors (p,) with n answers."""
        return np.asarray(np.sqrt(self.each / respondents(n)))

    def near_zero(self, n: float) -> tuple[Any, ...]:
        """The names of values within two standard errors of 0; a likelihood estimate is cut off at 0."""
        if not self.kind.startswith("maximum likelihood"):
            return ()
        near = self.values < 2 * self.standard_errors(n)
        return tuple(name for name, close in zip(self.names, near.tolist(), strict=True) if close)

    def place(self, name: Label | None = None) -> int:
        """The place of a value. Without a name, of two the first: by convention the sensitive one."""
        return place_among(self.names, name, self.categories)


def place_among(names: tuple[Label, ...], name: Label | None, categories: int) -> int:
    """The place of a name; without a name, the first of two categories."""
    if name is not None:
        return place_of(name, names)
    if categories > 2:
        raise DataError(f"name the category, one of {_checks.listing_text(map(_checks.label, names))}")
    return 0


_MOST = 5_000  # categories of a plan: it holds their covariance
_PRINCIPLES = ("likelihood", "moments", "weights")


class Arguments(NamedTuple):
    """The arguments of `variance`, checked."""

    proportions: Floats
    estimator: Estimator
    preferences: Floats
    target: str

    @property
    def averages(self) -> bool:
        """Whether the estimate is always the mean of one unbiased indicator per respondent."""
        return self.estimator.principle == "moments"


def variance(
    design: Answerable,
    proportions: ArrayLike,
    *,
    estimator: str | None = None,
    preferences: ArrayLike | None = None,
    target: str = "population",
) -> Variance:
    """The covariance of an estimator per respondent, at given proportions.

    For moments it is E[u uᵀ] - ππᵀ, where u is the unbiased indicator of one respondent; this is exact. For maximum
    likelihood it is the inverse of the expected Fisher information Σ_y L[y]ᵀL[y] / (L[y]·π) on the directions that keep
    Σπ = 1. Estimates reach it as the number of answers grows.

    Parameters
    ----------
    design : Design, Levels or Samples
    proportions : (t,) float
        The assumed proportions of the population; for several samples, those of the cells. They sum to one.
    estimator : str, optional
        "maximum_likelihood" (default) or "moments"; for levels "stratified" (default), "stratified_equal",
        "stratified_variance" or "pooled".
    preferences : (levels,) or (levels, t) float, optional
        How often each level is chosen, overall or by category; or the share of people in each sample. Equal by default.
    target : {"population", "file"}
        With "file", people are fixed and only the randomization is random.

    Returns
    -------
    Variance

    Raises
    ------
    DataError
        Proportions or preferences that do not sum to one; an unknown estimator; preferences that depend on the
        category, with an estimator that they would bias.
    NotEstimable
        A design from which the proportions cannot be estimated.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> survey = designs.negative(("a", "b", "c", "d"))
    >>> planning.variance(survey, (0.4, 0.3, 0.2, 0.1)).standard_errors(1_000).round(4)
    array([0.0379, 0.0401, 0.042 , 0.0435])

    References
    ----------
    Esponda, Huerta & Guerrero (2016), propositions 2 and 3 as corrected.
    """
    check_design(design)
    check_known(design, "a plan")
    pi = _checks.probability_vector(proportions, len(design.cells), what="proportions")
    estimators = {candidate.name: candidate for candidate in suitable(design) if not candidate.published}
    estimator_name = estimator or default(design).name
    estimator_name = ESTIMATORS[estimator_name].under(design).name if estimator_name in ESTIMATORS else estimator_name
    if estimator_name not in estimators:
        raise DataError(
            f"for {design.name or design.kind} the estimators are {', '.join(estimators)}; got {estimator!r} "
            f"({_checks.nearest(estimator_name, estimators)})"
        )
    checked_target(target)
    return variance_of(design, Arguments(pi, estimators[estimator_name], choice(design, preferences), target))


def variance_of(design: Answerable, ask: Arguments) -> Variance:
    """The variance, computed from the channels that anybody uses."""
    used_places = [channel_place for channel_place, row in enumerate(ask.preferences) if row @ ask.proportions > 0]
    channels = tuple(design.parts.values())
    used_channels = [channels[channel_place] for channel_place in used_places]
    used_preferences = ask.preferences[used_places]
    if ask.estimator.principle not in _PRINCIPLES:
        raise DataError(f"no variance is known for {ask.estimator.name}; simulate it, or plan with another estimator")
    if design.structure.finer or design.offer.assigned_by == "researcher":
        return _stacked_samples(design, ask, used_channels, used_preferences[:, 0])
    if ask.averages:  # one unbiased indicator for each respondent, whichever channel they answer through
        pi = ask.proportions
        terms = [
            _channel_products(channel, row * pi) for channel, row in zip(used_channels, used_preferences, strict=True)
        ]
        covariance = np.sum([products for products, _ in terms], axis=0) - np.outer(pi, pi)
        return _variance_for_target(design, ask, covariance, _moments_kind("moments", terms))
    if not np.allclose(used_preferences, used_preferences[:, :1]):
        raise DataError(
            f"{ask.estimator.name} is biased if the choice of level depends on the category; "
            "plan with estimator='stratified'"
        )
    if ask.estimator.principle == "likelihood":
        check_rank(np.vstack([channel.expected_statistic for channel in used_channels]), design.categories)
        information = _information(used_channels, used_preferences[:, 0], ask.proportions)
        return _variance_for_target(design, ask, _inverse(information), _likelihood_kind(used_channels))
    return _weighted_levels(design, ask, used_channels, used_preferences[:, 0])


def _stacked_samples(design: Answerable, ask: Arguments, used_channels: list[Design], shares: Floats) -> Variance:
    """The variance for shares of cells, to which each sample contributes its own equations."""
    if ask.target == "file":
        raise DataError("several samples estimate the population that they were drawn from; leave target='file' out")
    cell_shares = ask.proportions
    sample_slopes = slopes(design, used_channels, shares)  # raises where a share is not estimable
    if ask.averages:  # Σ_g B_g Cov(T | sample g) B_gᵀ / q_g; the slopes B_g solve the stacked equations
        sample_equations = (
            (channel, sample_slope, -sample_slope @ (channel.expected_statistic @ cell_shares))
            for channel, sample_slope in zip(used_channels, sample_slopes, strict=True)
        )
        sample_terms = [
            indicator_products(channel, cell_shares, constant, sample_slope)
            for channel, sample_slope, constant in sample_equations
        ]
        covariance = np.sum(
            [products / sample_share for (products, _), sample_share in zip(sample_terms, shares, strict=True)], axis=0
        )
        variance_kind = _moments_kind("moments of stacked samples", sample_terms)
    else:
        variance_kind = _likelihood_kind(used_channels)
        # An answer that never comes, though some cell could give it, shows at the first time that the cell has people:
        # the limit of the variance for ever fewer of them.
        never = [
            rows[(rows @ cell_shares <= 0) & (rows.max(axis=1) > 0)]
            for rows in (channel.matrix for channel in used_channels if channel.structure.listed)
        ]
        basis = scipy.linalg.null_space(np.vstack([np.ones((1, len(cell_shares))), *never]))
        reduced = basis.T @ _information(used_channels, shares, cell_shares) @ basis
        covariance = basis @ np.linalg.pinv(reduced, rcond=1e-12, hermitian=True) @ basis.T
    cell_estimates = Cells(design.cells, design.shares, design.nuisance, cell_shares, covariance)
    share_gradients, share_covariance = cell_estimates.gradients @ covariance, cell_estimates.covariance_of_shares
    names = tuple(estimated_share.name for estimated_share in cell_estimates.shares)
    return Variance(
        names, cell_estimates.values, share_covariance, variance_kind, ask, share_gradients, len(design.categories)
    )


def _weighted_levels(design: Answerable, ask: Arguments, used_channels: list[Design], shares: Floats) -> Variance:
    """Σ z_k² V_k / q_k: each level's own estimate has weight z_k, and a share q_k chooses level k."""
    pi = ask.proportions
    level_covariances = [_channel_products(channel, pi)[0] - np.outer(pi, pi) for channel in used_channels]
    weight_kind = ask.estimator.options["weights"]
    z = np.ones(len(used_channels))
    if weight_kind == "variance":
        z = shares / np.array([np.trace(level_covariance) for level_covariance in level_covariances])
    if weight_kind == "design":
        z = shares / design_variances(used_channels)
    level_weights = (z / z.sum()) ** 2 / shares
    weighted_covariance = np.sum(
        [weight * covariance for weight, covariance in zip(level_weights, level_covariances, strict=True)], axis=0
    )
    return _variance_for_target(
        design, ask, np.asarray(weighted_covariance), "moments within levels, many answers at each"
    )


def _channel_products(design: Design, measure: Floats) -> tuple[Floats, bool]:
    if (t := len(design.categories)) > _MOST:
        raise DataError(
            f"the covariance of {t:,} proportions has too many entries; plan with fewer categories, since the variance "
            "of one hardly depends on their number"
        )
    mapping = linear_map(design)
    return indicator_products(design, measure, mapping.constant, mapping.slope)


def _variance_for_target(design: Answerable, ask: Arguments, covariance: Floats, kind: str) -> Variance:
    if ask.target == "file":
        pi = ask.proportions  # for a fixed file, subtract what drawing one respondent from the population contributes
        covariance, kind = covariance - (np.diag(pi) - np.outer(pi, pi)), f"{kind}, randomization only"
    return Variance(design.categories, ask.proportions, covariance, kind, ask, covariance, len(design.categories))


def _moments_kind(what: str, terms: Sequence[tuple[Floats, bool]]) -> str:
    return f"{what}, exact" if all(is_exact for _, is_exact in terms) else f"{what}, by {DRAWS:,} drawn responses"


def _likelihood_kind(used_channels: list[Design]) -> str:
    how = "" if all(channel.structure.listed for channel in used_channels) else f", by {DRAWS:,} drawn responses"
    return f"maximum likelihood, expected information{how}"


def _information(used_channels: list[Design], shares: Floats, pi: Floats) -> Floats:
    """Expected Fisher information of one respondent, averaged over the channels, (cells, cells)."""
    total_information = np.zeros((len(pi), len(pi)))
    for channel_design, channel_share in zip(used_channels, shares, strict=True):
        if channel_design.structure.listed:
            likelihood_rows = channel_design.rows(channel_design.space.listing())
            response_weights = np.ones(len(likelihood_rows))
        else:
            _, likelihood_rows = draw_responses(channel_design)
            response_weights = 1 / likelihood_rows.mean(axis=1) / len(likelihood_rows)
        response_chances = likelihood_rows @ pi
        # leave out responses that never come: they add nothing, and would divide by zero
        can_come = response_chances > 0
        total_information += channel_share * (
            likelihood_rows[can_come].T
            @ (likelihood_rows[can_come] * (response_weights[can_come] / response_chances[can_come])[:, None])
        )
    return total_information


def _inverse(information: Floats) -> Floats:
    """The inverse on the directions that keep Σπ = 1."""
    basis = tangent(len(information))
    reduced = basis.T @ information @ basis
    values, vectors = np.linalg.eigh(reduced)
    if values[0] <= 1e-12 * values[-1]:
        raise NotEstimable(
            "at these proportions some response never comes, and without it the answers cannot tell all categories "
            "apart; plan with proportions above 0"
        )
    wide = basis @ vectors
    return np.asarray(wide @ (wide / values).T)


def respondents(n: float) -> float:
    """A number of respondents: at least one."""
    return number(n, lambda people: 1 <= people < np.inf, must="n must be at least one respondent")


DRAWS = 100_000
"""How many responses are drawn if there are too many to list and there is no closed form."""

_SEED = 1965


def draw_responses(design: Design) -> tuple[Codes, Floats]:
    """Responses (drawn with a fixed seed) of people spread equally over the categories, and their likelihood rows.

    For other proportions π, weight each response by L·π divided by the mean of its row L. One set of draws then serves
    all π, so that results are smooth in π.
    """
    t = len(design.categories)
    codes = design.draw(np.resize(np.arange(t), DRAWS), GeneratorSource(np.random.default_rng(_SEED)))
    return codes, design.rows(codes)


def indicator_products(design: Design, measure: Floats, constant: Floats, slope: Floats) -> tuple[Floats, bool]:
    """Σ_j measure_j E[u uᵀ | X = j] of the indicators u = constant + slope T, (t, t), and whether it is exact."""
    if design.structure.listed and not design.structure.pure:
        codes = design.space.listing()
        u, response_weights = constant + design.space.statistic(codes) @ slope.T, design.rows(codes) @ measure
        return np.asarray(u.T @ (u * response_weights[:, None])), True
    if (statistic_products := products(design, measure)) is not None:
        cross_products = np.outer(constant, slope @ (design.expected_statistic @ measure))
        fixed = measure.sum() * np.outer(constant, constant)
        return np.asarray(slope @ statistic_products @ slope.T + cross_products + cross_products.T + fixed), True
    codes, rows = draw_responses(design)
    response_weights = rows @ measure / rows.mean(axis=1) / len(rows)
    u = constant + design.space.statistic(codes) @ slope.T
    return np.asarray(u.T @ (u * response_weights[:, None])), False
