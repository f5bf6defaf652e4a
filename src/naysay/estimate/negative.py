"""From negative to positive surveys: the three reconstructions of Bao, Luo & Zhang (2013).

What a sink in a negative survey tells, and what it costs.

A sink is the label that respondents name in place of a category that cannot be named.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from naysay._values import Floats
from naysay.design import Answerable
from naysay.design.base import check_design
from naysay.designs import negative
from naysay.designs.negative import is_uniform
from naysay.errors import DataError, NaysayError
from naysay.estimate.estimators import maximum_likelihood, moments, of_maximum
from naysay.estimate.likelihood import Maximum, answered_under, check_identified, evidence, expectation_step, maximize
from naysay.estimate.linear import indicator_variances
from naysay.estimate.result import Estimate
from naysay.tally import Tally

_PAPER_STOP = 1e-4
_UNIFORM_ONLY = (
    "NStoPS-II exists for the uniform negative survey with one answer and no weights; otherwise use "
    "maximum_likelihood, of which NStoPS-II is a special case"
)


def nstops(design: Answerable, tally: Tally) -> Estimate:
    """NStoPS: counts t_i = N - (t-1) r_i for the uniform negative survey, R Q⁻¹ in general; they may be negative.

    This is the moment estimate under its name in the paper. ``fit.counts`` holds the paper's numbers.

    Parameters
    ----------
    design : Design
        A negative survey with one answer, uniform or not.
    tally : Tally

    Returns
    -------
    Estimate

    Raises
    ------
    DataError
        If the design is not such a survey, or the tally was collected under another design.
    NotEstimable
        If the design cannot tell some proportions apart.

    References
    ----------
    Bao, Luo & Zhang (2013), equations 5 and 7.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.negative(("a", "b", "c", "d", "e"))
    >>> estimate.nstops(survey, survey.tally(count=[2, 8, 16, 29, 45])).counts.round(6)
    array([ 92.,  68.,  36., -16., -80.])
    """
    check_reconstructed(design, "NStoPS")
    return replace(moments(design, tally), method="NStoPS", made_by="nstops")


def nstops_i(design: Answerable, tally: Tally, *, tol: float | None = None, iterations: int = 1_000_000) -> Estimate:
    """NStoPS-I: the fixed point of t_j ← Σ_i r_i q_ji t_j / Σ_k q_ki t_k from equal counts, never negative.

    This is the EM algorithm, so it converges to the maximum-likelihood estimate, but slowly where a count goes to zero.

    Parameters
    ----------
    design : Design
        A negative survey with one answer, uniform or not.
    tally : Tally
        Without survey weights.
    tol : float, optional
        Stop when every count changes by less than this; by default 10⁻⁴, the paper's value.
    iterations : int
        The largest number of steps.

    Returns
    -------
    Estimate
        ``fit.path`` keeps the equal counts at the start and the counts after each step, (steps + 1, t).

    Raises
    ------
    DataError
        If the design is not such a survey, or the tally was collected under another design.
    NotEstimable
        If the design cannot tell some proportions apart.
    NaysayError
        If some count still changes by `tol` or more after `iterations` steps.

    References
    ----------
    Bao, Luo & Zhang (2013), figure 1, with each step renormalized; equation 12 for other designs.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.negative(("a", "b", "c", "d", "e"))
    >>> estimate.nstops_i(survey, survey.tally(count=[23, 22, 20, 18, 17])).counts.round(2)
    array([ 8., 12., 20., 28., 32.])
    """
    check_reconstructed(design, "NStoPS-I")
    answered_under(design, tally)
    check_identified(tally)
    likelihood_rows, weights, sampled = evidence(tally)
    total_weight, weight_shares = float(weights.sum()), weights / weights.sum()
    stop_change = _PAPER_STOP if tol is None else tol
    pi = np.full(likelihood_rows.shape[1], 1 / likelihood_rows.shape[1])
    path = [pi * total_weight]
    for _ in range(iterations):
        pi = expectation_step(likelihood_rows, weight_shares, pi)
        path.append(pi * total_weight)
        if np.abs(path[-1] - path[-2]).max() < stop_change:
            break
    else:
        raise NaysayError(
            f"NStoPS-I moves by {stop_change:g} or more after {iterations} steps; raise tol= or iterations="
        )
    fitted_chances = likelihood_rows @ pi
    gap = max(float((likelihood_rows.T @ (weight_shares / fitted_chances)).max() - 1), 0.0)
    log_likelihood = float(weights @ np.log(fitted_chances))
    undetermined = maximize(likelihood_rows, weights).undetermined
    maximum = Maximum(pi, log_likelihood, gap, total_weight * gap, len(path) - 1, undetermined)
    fit = of_maximum(design, tally, maximum, (likelihood_rows, weights, sampled), target="population")
    return replace(fit, method="NStoPS-I", made_by="nstops_i", path=np.array(path))


def nstops_ii(design: Answerable, tally: Tally) -> Estimate:
    """NStoPS-II: drop the categories whose count comes out negative, scale, repeat; uniform negative surveys only.

    t_i = (N' - (c'-1) r_i) N/N' over the c' categories kept, with N' the answers that name them. The result is the
    exact maximum-likelihood estimate, after finitely many steps. Where two or more categories were never named, all
    people belong to these categories. The answers do not determine how the people split; the result is the even split,
    with a warning.

    Parameters
    ----------
    design : Design
        The uniform negative survey with one answer.
    tally : Tally
        Without survey weights.

    Returns
    -------
    Estimate
        ``fit.path`` keeps the counts after each round, (rounds, t).

    Raises
    ------
    DataError
        If the design is not the uniform negative survey, or the tally was collected under another design or has survey
        weights.

    References
    ----------
    Bao, Luo & Zhang (2013), figure 3.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.negative(("a", "b", "c", "d", "e"))
    >>> estimate.nstops_ii(survey, survey.tally(count=[2, 8, 16, 29, 45])).counts.round(6)
    array([80., 20.,  0.,  0.,  0.])
    """
    check_reconstructed(design, "NStoPS-II")
    if tally.weighted:
        raise DataError(_UNIFORM_ONLY)
    answered_under(design, tally)
    named_counts = tally.counts.astype(float)
    total_count, is_left = named_counts.sum(), np.ones(len(named_counts), dtype=bool)
    round_counts: list[Floats] = []
    while not round_counts or (round_counts[-1] < 0).any():
        remaining_count = named_counts[is_left].sum()
        if remaining_count == 0:  # nobody named the categories left, so all people are in them: split evenly
            scaled_counts = np.where(is_left, total_count / is_left.sum(), 0.0)
        else:
            scaled_counts = np.where(
                is_left, (remaining_count - (is_left.sum() - 1) * named_counts) * total_count / remaining_count, 0.0
            )
        round_counts.append(scaled_counts)
        is_left &= scaled_counts >= 0
    fit = maximum_likelihood(design, tally)  # the same maximizer: its certificate, covariance and warnings hold
    shares = round_counts[-1] / round_counts[-1].sum()
    return replace(fit, method="NStoPS-II", made_by="nstops_ii", proportions=shares, path=np.array(round_counts))


def check_reconstructed(design: Answerable, method: str) -> None:
    """Raise unless the reconstruction is for this design."""
    check_design(design)
    if (refusal_text := unsuited(design, method)) is not None:
        raise DataError(refusal_text)


def unsuited(design: Answerable, method: str) -> str | None:
    """The reason why a reconstruction is not for a design; None where it is.

    The design must be a negative survey with one answer; for NStoPS-II it must also be uniform.
    """
    if method == "NStoPS-II":
        return None if is_uniform(design) else _UNIFORM_ONLY
    t = len(design.categories)
    channel = None if design.offer.several else design.channel()
    one_answer = channel is not None and channel.structure.tabular and channel.space.size == t
    if one_answer and not np.diagonal(design.channel().matrix).any():
        return None
    return (
        f"{method} is for negative surveys with one answer (a square matrix with zero diagonal); "
        f"{design.name or design.kind} is not one, use moments or maximum_likelihood"
    )


class Sink(NamedTuple):
    """What a sink tells, and what it costs.

    Parameters
    ----------
    category : label
        The category that cannot be named.
    response : label
        The label that respondents name in its place.
    level : label
        The level that has this sink, where respondents choose a level; else None.
    odds : float
        a/b: an answer that names the sink multiplies the odds of being a member by this factor.
    variance_ratio : float
        Variance of the category's estimate, divided by that of `designs.negative` with as many discards, if all
        categories are equally common.
    """

    category: Any
    response: Any
    odds: float
    variance_ratio: float
    level: Any = None


def sinks(design: Answerable) -> tuple[Sink, ...]:
    """The sinks of a negative survey in which some categories cannot be named; none in other designs.

    The chances with which labels are named show the sinks. A sink has another label than its category. Members name it
    with one chance, a, and all others with another chance, b. No other label is named by its own members.

    Parameters
    ----------
    design : Design or Levels

    Returns
    -------
    tuple of Sink

    Raises
    ------
    NotEstimable
        If the design cannot tell some proportions apart.

    Examples
    --------
    >>> from naysay import designs
    >>> (sink,) = sinks(designs.negative_sink(("a", "b", "c", "d"), sinks={"a": "none"}))
    >>> sink.category, sink.response, sink.odds, round(sink.variance_ratio, 3)
    ('a', 'none', 0.5, 4.407)
    """
    if design.offer.assigned_by == "researcher":
        return ()
    found_sinks = []
    for level, channel in design.parts.items():
        response_labels, categories = getattr(channel.space, "labels", ()), channel.categories
        if not channel.space.listable or len(response_labels) != len(categories) or len(categories) < 3:
            continue
        chances = channel.expected_statistic
        sink_places = [i for i, label in enumerate(response_labels) if str(label) != str(categories[i])]
        ordinary_diagonal = np.delete(np.diagonal(chances), sink_places)
        is_even = all(np.ptp(np.delete(chances[i], i)) < 1e-9 and chances[i, i - 1] for i in sink_places)
        if not sink_places or not is_even or len(ordinary_diagonal) < 2 or ordinary_diagonal.any():
            continue
        discards = round(float(chances[:, 0].sum()))
        variance_ratios = indicator_variances(channel) / indicator_variances(negative(categories, discards=discards))
        for i in sink_places:
            member_odds = float(chances[i, i] / chances[i, i - 1])  # of its members over any others
            found_sinks.append(
                Sink(categories[i], response_labels[i], member_odds, float(variance_ratios[i]), level=level)
            )
    return tuple(found_sinks)
