"""Levels that respondents choose: stratified, pooled, and whether the choice depends on the category.

People who have something to hide may choose a more private level. Then only the proportionally weighted estimate still
estimates the population. Both estimates are therefore always shown, with their difference and a test. Do not use the
p-value to choose between them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from naysay.design import Answerable
from naysay.errors import DataError, NotEstimable
from naysay.estimate.independence import check_levels, score_test
from naysay.estimate.information import answered_under, checked_target, evidence, information, inverse, warnings_of
from naysay.estimate.likelihood import certified, maximum_likelihood
from naysay.estimate.linear import Floats, Indicators
from naysay.estimate.moments import moments
from naysay.estimate.result import Comparison, Estimate, is_pooled, is_stratified
from naysay.tally import Part, Tally

__all__ = ["compare", "difference_errors", "pooled", "stratified"]


def stratified(
    design: Answerable, tally: Tally, *, weights: str = "proportional", target: str = "population"
) -> Estimate:
    """The estimate that combines the levels' own unbiased estimates: π̂ = Σ_k z_k π̂_k.

    With proportional weights z_k = n_k/n, it is the mean of one unbiased indicator per respondent, and it is unbiased
    however people choose their level. Equal and variance weights are the paper's alternatives. They estimate the
    population only if the choice of level is independent of the category.

    Parameters
    ----------
    design : Levels
    tally : Tally
    weights : {"proportional", "equal", "variance"}
    target : {"population", "file"}

    Returns
    -------
    Estimate
        ``fit.comparison`` puts `pooled` beside it.

    Raises
    ------
    DataError
        If the design offers no levels, the tally was collected under another design, or `weights` is unknown.
    NotEstimable
        If a level that has answers cannot tell some proportions apart by itself.

    References
    ----------
    Esponda, Huerta & Guerrero (2016), "Individual Defined Privacy", proposition 3 as corrected.

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import designs, estimate
    >>> choice = designs.negative_levels(("a", "b", "c", "d"))
    >>> truth, rng = np.repeat(["a", "b", "c", "d"], [400, 300, 200, 100]), np.random.default_rng(0)
    >>> fit = estimate.stratified(choice, choice.tally(choice.randomize(truth, rng=rng)))
    >>> bool((abs(fit.proportions - [0.4, 0.3, 0.2, 0.1]) < 4 * fit.standard_errors).all())
    True
    """
    check_levels(design)
    answered_under(design, tally)
    checked_target(target)
    if weights == "proportional":
        fit = moments(design, tally, target=target)
        return replace(fit, warnings=(*fit.warnings, *warnings_of(_levels_told(design, tally))))
    if weights not in ("equal", "variance"):
        raise DataError(f"weights must be 'proportional', 'equal' or 'variance'; got {weights!r}")
    return _combined(design, tally, weights, target)


def _combined(design: Answerable, tally: Tally, weights: str, target: str) -> Estimate:
    """Levels' own estimates under equal or inverse-variance weights."""
    parts = [part for part in tally.parts if part.n > (weights == "variance")]
    if not parts:
        raise DataError("variance weights need a level with at least two answers; use weights='proportional'")
    terms = [Indicators.of(part, own) for part, own in tally.apart if part.n > (weights == "variance")]
    z, told = np.full(len(parts), 1 / len(parts)), list[str]()
    if weights == "variance":
        z, told = _inverse_variances(parts, terms)
    independent = (
        f"{weights} weights estimate the population only if the choice of level is independent of the category"
    )
    used = [(share, term) for share, term in zip(z, terms, strict=True) if share > 0]
    proportions = np.sum([share * term.mean for share, term in used], axis=0)
    covariance = np.sum([share**2 * term.covariance("population") for share, term in used], axis=0)
    if tally.complex is not None:  # units hold people of several levels
        found = np.sum([share * term.sampled.deviations(term.influence) for share, term in used], axis=0)
        kept = [share**2 * term.randomization(term.sampled.kept) for share, term in used]
        covariance = found.T @ found + np.sum(kept, axis=0)
    if target == "file":  # who answers at which level stays random, so subtract only once what drawing the people adds
        covariance = covariance - (np.diag(proportions) - np.outer(proportions, proportions)) / tally.n
    return Estimate(
        design=design,
        tally=tally,
        method=f"stratified ({weights})",
        target=target,
        proportions=proportions,
        covariance=covariance,
        standard_error_kind=f"moments{_error_kind(tally) if target == 'population' else ', randomization only'}",
        warnings=warnings_of([*_levels_told(design, tally), *told, independent]),
        made_by=f"stratified_{weights}",
        level_weights={part.level: share for part, share in zip(parts, z.tolist(), strict=True)},
    )


def _error_kind(tally: Tally) -> str:
    return " within levels, n - 1" if tally.complex is None else f", {tally.complex.by}"


def _inverse_variances(parts: list[Part], terms: list[Indicators]) -> tuple[Floats, list[str]]:
    """Weights of the levels (levels,), in inverse proportion to the traces of their covariances, and warnings."""
    traces = np.array([np.trace(term.covariance("population")) for term in terms])
    usable = traces > 0
    if not usable.any():
        raise DataError("at every level all answers are alike, so no variance is known; use weights='proportional'")
    told = []
    if not usable.all():
        gone = ", ".join(str(part.level) for part, keep in zip(parts, usable, strict=True) if not keep)
        told.append(f"all answers are alike at level {gone}, whose variance is unknown: left out")
    told.append("variance weights come from the same data, which biases the estimate somewhat")
    z = np.where(usable, 1 / np.where(usable, traces, 1), 0)
    return z / z.sum(), told


def pooled(design: Answerable, tally: Tally, *, target: str = "population", tolerance: float = 1e-6) -> Estimate:
    """The maximum-likelihood estimate over all levels together.

    It is efficient if the choice of level is independent of the category, and biased if the choice depends on it.

    Parameters
    ----------
    design : Levels
    tally : Tally
    target : {"population", "file"}
    tolerance : float
        The certificate: the log-likelihood is at most this far below its maximum.

    Returns
    -------
    Estimate
        ``fit.comparison`` puts `stratified` beside it.

    Raises
    ------
    DataError
        If the design offers no levels, or the tally was collected under another design.
    NotEstimable
        If all levels together cannot tell some proportions apart.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> choice = designs.negative_levels(("a", "b", "c"))
    >>> tally = choice.tally(["a", "b", "c", "a;b"], level=[1, 1, 1, 2])
    >>> estimate.pooled(choice, tally).proportions.round(3)
    array([0.18, 0.18, 0.64])
    """
    check_levels(design)
    fit = maximum_likelihood(design, tally, target=target, tolerance=tolerance)
    told = "pooled is biased if the choice of level goes with the category; see stratified beside it"
    return replace(fit, warnings=(*fit.warnings, *warnings_of([*_levels_told(design, tally), told])))


def compare(fit: Estimate) -> Comparison | None:
    """Stratified beside pooled, for the answers of an estimate; None where a level by itself is not estimable."""
    design, tally = fit.design, fit.tally
    try:
        apart = fit if is_stratified(fit) else stratified(design, tally, target=fit.target)
    except NotEstimable:
        return None
    together = fit if is_pooled(fit) else pooled(design, tally, target=fit.target)
    return Comparison(
        stratified=apart,
        pooled=together,
        difference=apart.proportions - together.proportions,
        standard_errors=difference_errors(apart, together),
        test=score_test(tally, together.proportions),
    )


def difference_errors(apart: Estimate, together: Estimate) -> Floats:
    """Standard errors of stratified - pooled, (t,), from the influence of each answer on both."""
    tally, pi = apart.tally, together.proportions
    if tally.n < 2:
        return np.full(len(apart.categories), np.nan)
    rows, weights, _ = evidence(tally)
    bread = inverse(information(rows, weights, pi)) * weights.sum()
    bread[:, certified(together).open] = np.nan
    first, total, squares = np.zeros((3, len(pi)))
    heavy = mass = 0.0
    moved: Any = 0.0
    kept: Any = 0.0
    for part, sampled in tally.apart:  # level by level, so that memory holds only one level at a time
        piece, used = Indicators.of(part, sampled), part.weight > 0
        own = part.design.rows(part.codes)
        influence = _influence(apart, part.level, piece) - (own / (own @ pi)[:, None]) @ bread
        if tally.complex is not None:  # same target for each person, so only randomization differs
            influence = np.where(used[:, None], influence, 0.0) / tally.weight
            moved, kept = moved + sampled.deviations(influence), kept + sampled.kept @ influence**2
            continue
        influence, weight, squared = influence[used], part.weight[used], part.weight_squared[used]
        first += weight @ influence
        total += squared @ influence
        squares += squared @ influence**2
        mass, heavy = mass + weight.sum(), heavy + squared.sum()
    if tally.complex is not None:
        return np.asarray(np.sqrt((moved**2).sum(axis=0) + kept))
    mean = first / mass
    centred = np.maximum(squares - 2 * mean * total + mean**2 * heavy, 0.0)
    return np.asarray(np.sqrt(centred * tally.n / (tally.n - 1)) / mass)


def _influence(apart: Estimate, level: Any, piece: Indicators) -> Floats:
    """Influence of each answer at a level on the stratified estimate, per respondent."""
    if apart.level_weights is None:
        return piece.u - apart.proportions
    share = piece.weight.sum() / apart.tally.weight
    return np.asarray(apart.level_weights.get(level, 0.0) / share * (piece.u - piece.mean))


def _levels_told(design: Answerable, tally: Tally) -> list[str]:
    """Warnings about levels at which nobody, or only one person, answered."""
    sizes: dict[Any, int] = dict.fromkeys(design.levels, 0)
    for part in tally.parts:
        sizes[part.level] = sizes.get(part.level, 0) + part.n
    few = {n: ", ".join(str(level) for level, size in sizes.items() if size == n) for n in (0, 1)}
    words = {0: "nobody chose level", 1: "a single answer at level"}
    return [f"{words[n]} {levels}" for n, levels in few.items() if levels]
