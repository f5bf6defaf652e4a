"""Moment estimates: unbiased, with one formula for every design. They may leave [0, 1]."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from naysay import _checks
from naysay.design import Answerable
from naysay.errors import DataError, NotEstimable
from naysay.estimate import samples
from naysay.estimate.even import EvenEstimate
from naysay.estimate.information import alike, answered_under, checked_target, suspicions, warnings_of
from naysay.estimate.linear import indicators, is_stacked, linear_map
from naysay.estimate.named import named
from naysay.estimate.result import Cells, Estimate
from naysay.tally import Tally

_NAMES_IN_WARNING = 24  # so many categories are named in a warning
_INSIDE = "maximum_likelihood stays inside"


def moments(design: Answerable, tally: Tally, *, target: str = "population", solution: str | None = None) -> Estimate:
    """The unbiased estimate π̂ = A⁺ T̄ under Σπ = 1, the mean of one unbiased indicator per respondent.

    T̄ is the mean of the answers' statistic, and A holds its expectation in each category. For the uniform negative
    survey π̂_i = 1 - (t-1) λ̂_i; for a square design π̂ = P⁻¹ λ̂; otherwise π̂ is least squares under the constraint.
    For levels this is `stratified`; for several samples A⁺ acts on their stacked means. The estimate may leave [0, 1]:
    a value below zero is the price of being unbiased.

    Parameters
    ----------
    design : Design or Levels
        The design under which the answers were given.
    tally : Tally
    target : {"population", "file"}
        With "file" only the randomization is random: use it for a fixed database that was randomized.
    solution : {"mean", "least_squares"}, optional
        A choice for two categories and answers that are numbers, such as in `designs.kuk` with several draws. "mean" is
        the published estimator from the mean of the answers; "least_squares" fits their frequencies. The default is the
        one with the smaller variance under this design when both categories are equally common. The default does not
        depend on the answers.

    Returns
    -------
    Estimate
        Its covariance has the divisor n - 1; with survey weights it is linearized.

    Raises
    ------
    NotEstimable
        If the design cannot tell some proportions apart.
    DataError
        If the tally was collected under another design, or the design does not have the solution asked for.

    References
    ----------
    Esponda (2006), equations 5-10; Esponda, Huerta & Guerrero (2016), propositions 1-2. Kuk (1990) for the mean.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> coins = designs.two_coins()
    >>> estimate.moments(coins, coins.tally(count=[65, 135])).proportions.round(3)
    array([0.15, 0.85])
    """
    answered_under(design, tally)
    checked_target(target)
    if design.assigned_by == "lot":
        raise DataError(f"moments is not for {design.name or design.kind}; use estimate.{design.estimates}")
    general = partial(_general, design, tally, target, solution)
    if design.several or not tally.pure or solution is not None:
        return general()
    closed_form = named(
        replace(tally.parts[0], design=design.channel())
    )  # candidates of an open domain are the design's
    errors = closed_form.spread(target)
    return EvenEstimate(
        design=design,
        tally=tally,
        method="moments (closed form)",
        target=target,
        proportions=closed_form.mean,
        standard_error_kind=f"moments, {_error_kind(design, tally, target)}",
        made_by="moments",
        warnings=warnings_of(_closed_form_warnings(design, tally, closed_form.mean, errors)),
        named=closed_form,
        variances=errors,
        general=general,
        spread=partial(closed_form.covariance, target),
    )


def _closed_form_warnings(
    design: Answerable, tally: Tally, proportions: np.ndarray, variances: np.ndarray
) -> list[str]:
    """Warnings about an estimate in closed form; under some designs no estimate stays inside [0, 1]."""
    inside = "cut off, their sums would be biased" if design.moments_only else _INSIDE
    return reservations(proportions, tally, variances, inside=inside, categories=design.categories)


def _general(design: Answerable, tally: Tally, target: str, solution: str | None) -> Estimate:
    """The mean of one indicator for each answer, (answers, t), or the cells that stacked samples tell."""
    levels, terms, stacked_cells = design.assigned_by == "respondent", None, None
    if is_stacked(design):
        if solution is not None:
            raise DataError("several samples are solved by least squares; leave `solution` out")
        stacked_cells = Cells(
            design.cells, design.shares, design.nuisance, *samples.stacked(design, tally, target).estimate_cells()
        )
        proportions, covariance = stacked_cells.estimates
        sentences = samples.reservations(design, tally, stacked_cells.values, None)
    else:
        terms = indicators(tally, solution)
        proportions, covariance = terms.mean, terms.covariance(target)
        inside = "pooled stays inside, but is biased if the choice goes with the category" if levels else _INSIDE
        sentences = reservations(proportions, tally, np.diagonal(covariance), inside=inside)
    return Estimate(
        design=design,
        tally=tally,
        method="stratified (proportional)" if levels else f"moments ({_solved_by(design, tally, solution)})",
        target=target,
        proportions=proportions,
        covariance=covariance,
        standard_error_kind=f"moments, {_error_kind(design, tally, target)}",
        made_by="stratified" if levels else "moments",
        warnings=warnings_of(sentences),
        indicators=terms,
        solution=solution,
        cells=stacked_cells,
    )


def _solved_by(design: Answerable, tally: Tally, solution: str | None) -> str:
    """How the answers are turned into proportions, in words."""
    if design.assigned_by == "researcher":
        return "stacked samples"
    if design.finer:
        return "of both answers"
    return min(linear_map(part.design, solution).structure for part in tally.parts if part.n)


def _error_kind(design: Answerable, tally: Tally, target: str) -> str:
    """What the standard errors rest on, in words."""
    if target == "file":
        return "randomization only"
    if tally.complex is not None:
        return tally.complex.by
    if tally.weighted:
        return "linearized for the weights"
    return "n - 1 in each sample" if design.assigned_by == "researcher" else "n - 1"


def each_sample(fit: Estimate) -> dict[Any, Estimate] | None:
    """The unbiased estimate of each sample by itself; None where a sample has none, or there is only one sample."""
    parts = samples.answering(fit.tally)
    if len(parts) < 2:
        return None
    alone = {part.level: Tally((replace(part, level=None),), weighted=fit.tally.weighted) for part in parts}
    try:
        return {name: moments(fit.design.channel(name), tally) for name, tally in alone.items()}
    except NotEstimable:
        return None


def reservations(
    proportions: np.ndarray,
    tally: Tally,
    variances: np.ndarray,
    *,
    inside: str = _INSIDE,
    categories: tuple[Any, ...] | None = None,
) -> list[str]:
    """Warnings that a reader of an unbiased estimate needs; `inside` names the estimate that stays in [0, 1]."""
    sentences = []
    names = [_checks.label(category) for category in categories or tally.categories]
    outside = [name for name, value in zip(names, proportions, strict=True) if not 0 <= value <= 1]
    if outside:
        sentences.append(f"outside [0, 1], as an unbiased estimate may be: {_first_names(outside)}; {inside}")
    below = [name for name, value in zip(names, variances, strict=True) if value < -1e-12]
    if below:
        sentences.append(
            f"the variance of the randomization comes out below zero, so few are the answers: {_first_names(below)}; "
            "intervals are those for a population"
        )
    if tally.n == 1:
        sentences.append("a single answer has no standard error")
    else:
        sentences += alike(tally)
    return [*sentences, *suspicions(tally)]


def _first_names(names: list[str]) -> str:
    """The names, or the first of very many."""
    more = f", and {len(names) - _NAMES_IN_WARNING:,} more" if len(names) > _NAMES_IN_WARNING else ""
    return ", ".join(names[:_NAMES_IN_WARNING]) + more
