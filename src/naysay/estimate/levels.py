"""Levels that respondents choose: stratified, pooled, and whether the choice depends on the category.

People who have something to hide may choose a more private level. Then only the proportionally weighted estimate still
estimates the population. Both estimates are therefore always shown, with their difference and a test. Do not use the
p-value to choose between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from naysay.design import Answerable
from naysay.errors import DataError, NotEstimable
from naysay.estimate.independence import check_levels, score_test
from naysay.estimate.information import answered_under, checked_target, evidence, information, inverse, warnings_of
from naysay.estimate.likelihood import certified, maximum_likelihood
from naysay.estimate.linear import Floats, Indicators, indicator_variances
from naysay.estimate.moments import moments
from naysay.estimate.named import named
from naysay.estimate.result import Comparison, Estimate, is_pooled, is_stratified
from naysay.tally import Part, Tally

_ALIKE = 1.05  # below this ratio of variances the choice of weights is not worth a sentence


def stratified(
    design: Answerable, tally: Tally, *, weights: str = "proportional", target: str = "population"
) -> Estimate:
    """The estimate that combines the levels' own unbiased estimates: π̂ = Σ_k z_k π̂_k.

    With proportional weights z_k = n_k/n, it is the mean of one unbiased indicator per respondent, and it is unbiased
    however people choose their level. Equal and variance weights are the paper's alternatives. They, and design
    weights, estimate the population only if the level is independent of the category.

    Parameters
    ----------
    design : Levels
    tally : Tally
    weights : {"proportional", "equal", "variance", "design"}
        With "design", z_k ∝ n_k / v_k, where v_k is the variance that the level's design gives an answer, whatever the
        answers are. Use it where levels were assigned, by the device or by a policy: it is then unbiased, and can be
        hundreds of times as precise.
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
    if weights == "proportional" and not tally.summed:
        fit = moments(design, tally, target=target)
        return replace(fit, warnings=(*fit.warnings, *warnings_of([*_level_sentences(design, tally), *_factor(tally)])))
    if weights not in ("proportional", "equal", "variance", "design"):
        raise DataError(f"weights must be 'proportional', 'equal', 'variance' or 'design'; got {weights!r}")
    return _combine_levels(design, tally, weights, target)


def _combine_levels(design: Answerable, tally: Tally, weights: str, target: str) -> Estimate:
    """Levels' own estimates under weights other than the numbers of answers, or from sums."""
    least = 1 + (weights == "variance" or tally.summed)
    parts = [part for part in tally.parts if part.n >= least]
    if not parts:
        raise DataError(f"{weights} weights need a level with at least two answers; use weights='proportional'")
    terms: list[Any] = [_terms(part, tally) for part in parts]
    z, sentences = np.full(len(parts), 1 / len(parts)), list[str]()
    if weights == "variance":
        z, sentences = _inverse_variances(parts, terms)
    elif weights == "design":
        z, sentences = design_weights(parts), _factor(tally)
    elif weights == "proportional":
        z, sentences = np.array([part.weight.sum() for part in parts]) / tally.weight, _factor(tally)
    choice_sentences = [
        f"{weights} weights estimate the population only if the choice of level is independent of the category"
    ] * (weights != "proportional")
    weighted_terms = [(share, term) for share, term in zip(z, terms, strict=True) if share > 0]
    proportions = np.sum([share * term.mean for share, term in weighted_terms], axis=0)
    covariance = np.sum([share**2 * term.covariance("population") for share, term in weighted_terms], axis=0)
    if weights == "proportional":  # how many people answer at each level is random, too
        level_deviations = np.array([term.mean - proportions for _, term in weighted_terms])
        covariance = covariance + level_deviations.T @ (level_deviations * z[:, None]) / max(tally.effective - 1, 1)
    if tally.complex is not None:  # units hold people of several levels
        sample_deviations = np.sum(
            [share * term.sampled.deviations(term.influence) for share, term in weighted_terms], axis=0
        )
        randomizations = [share**2 * term.randomization(term.sampled.kept) for share, term in weighted_terms]
        covariance = sample_deviations.T @ sample_deviations + np.sum(randomizations, axis=0)
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
        warnings=warnings_of([*_level_sentences(design, tally), *sentences, *choice_sentences]),
        made_by=f"stratified_{weights}",
        level_weights={part.level: share for part, share in zip(parts, z.tolist(), strict=True)},
    )


def _terms(part: Any, tally: Tally) -> Any:
    """The unbiased indicators of a level's answers; from their sums where these are all that is kept."""
    if tally.summed:
        return named(part)
    return Indicators.of(part, next(sampled for other_part, sampled in tally.apart if other_part is part))


def design_weights(parts: Sequence[Any]) -> Floats:
    """Weights of the levels, (levels,), from their sizes and designs alone, so that no answer biases them: n / v."""
    z = np.array([part.effective for part in parts]) / design_variances([part.design for part in parts])
    return np.asarray(z / z.sum())


def design_variances(channels: Sequence[Any]) -> Floats:
    """The variance v of an answer's indicator, by each design alone, (designs,).

    It is q*(1 - q*)/(p* - q*)², for a category that nobody has (T. Wang, Blocki, Li & Jha 2017), or if some design has
    no such number, the sum over equally common categories.
    """
    means = filter(None, (design.even_mean for design in channels))
    closed_forms = [beta * (1 - beta) / alpha**2 for alpha, beta in means if 0 < beta < 1 and alpha]
    if len(closed_forms) == len(channels):
        return np.array(closed_forms)
    return np.array([float(indicator_variances(design).sum()) for design in channels])


def _factor(tally: Tally) -> list[str]:
    """What the two valid kinds of weights cost, for levels that differ in their finite ε."""
    parts = [part for part in tally.parts if part.n]
    means = [part.design.even_mean or (0, 0) for part in parts]
    if len(parts) < 2 or not all(0 < beta < 1 and alpha > 0 for alpha, beta in means):
        return []
    level_variances = design_variances([part.design for part in parts]) / [part.effective for part in parts]
    proportional_weights, best_weights = (
        np.array([part.weight.sum() for part in parts]) / tally.weight,
        design_weights(parts),
    )
    factor = float(proportional_weights**2 @ level_variances / (best_weights**2 @ level_variances))
    if factor < _ALIKE:
        return []
    return [
        f"proportional weights have {factor:.3g} times the variance of design weights; only proportional weights are "
        "unbiased if people choose their level, and design weights are for levels that were assigned"
    ]


def _error_kind(tally: Tally) -> str:
    return " within levels, n - 1" if tally.complex is None else f", {tally.complex.by}"


def _inverse_variances(parts: list[Part], terms: list[Indicators]) -> tuple[Floats, list[str]]:
    """Weights of the levels (levels,), in inverse proportion to the traces of their covariances, and warnings."""
    traces = np.array([np.trace(term.covariance("population")) for term in terms])
    usable = traces > 0
    if not usable.any():
        raise DataError("at every level all answers are alike, so no variance is known; use weights='proportional'")
    sentences = []
    if not usable.all():
        level_names = ", ".join(str(part.level) for part, keep in zip(parts, usable, strict=True) if not keep)
        sentences.append(f"all answers are alike at level {level_names}, whose variance is unknown: left out")
    sentences.append("variance weights come from the same data, which biases the estimate somewhat")
    z = np.where(usable, 1 / np.where(usable, traces, 1), 0)
    return z / z.sum(), sentences


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
    bias_sentence = "pooled is biased if the choice of level goes with the category; see stratified beside it"
    return replace(fit, warnings=(*fit.warnings, *warnings_of([*_level_sentences(design, tally), bias_sentence])))


def compare(fit: Estimate) -> Comparison | None:
    """Stratified beside pooled, for the answers of an estimate; None where a level by itself is not estimable."""
    design, tally = fit.design, fit.tally
    try:
        stratified_fit = fit if is_stratified(fit) else stratified(design, tally, target=fit.target)
    except NotEstimable:
        return None
    if design.moments_only or tally.summed:
        return None
    pooled_fit = fit if is_pooled(fit) else pooled(design, tally, target=fit.target)
    return Comparison(
        stratified=stratified_fit,
        pooled=pooled_fit,
        difference=stratified_fit.proportions - pooled_fit.proportions,
        standard_errors=difference_errors(stratified_fit, pooled_fit),
        test=score_test(tally, pooled_fit.proportions),
    )


def difference_errors(stratified_fit: Estimate, pooled_fit: Estimate) -> Floats:
    """Standard errors of stratified - pooled, (t,), from the influence of each answer on both."""
    tally, pi = stratified_fit.tally, pooled_fit.proportions
    if tally.n < 2:
        return np.full(len(stratified_fit.categories), np.nan)
    rows, weights, _ = evidence(tally)
    bread = inverse(information(rows, weights, pi)) * weights.sum()
    bread[:, certified(pooled_fit).open] = np.nan
    first, total, squares = np.zeros((3, len(pi)))
    heavy = mass = 0.0
    deviations: Any = 0.0
    randomization: Any = 0.0
    for part, sampled in tally.apart:  # level by level, so that memory holds only one level at a time
        level_indicators, has_weight = Indicators.of(part, sampled), part.weight > 0
        likelihood_rows = part.design.rows(part.codes)
        influence = (
            _influence(stratified_fit, part.level, level_indicators)
            - (likelihood_rows / (likelihood_rows @ pi)[:, None]) @ bread
        )
        if tally.complex is not None:  # same target for each person, so only randomization differs
            influence = np.where(has_weight[:, None], influence, 0.0) / tally.weight
            deviations, randomization = (
                deviations + sampled.deviations(influence),
                randomization + sampled.kept @ influence**2,
            )
            continue
        influence, weight, squared = influence[has_weight], part.weight[has_weight], part.weight_squared[has_weight]
        first += weight @ influence
        total += squared @ influence
        squares += squared @ influence**2
        mass, heavy = mass + weight.sum(), heavy + squared.sum()
    if tally.complex is not None:
        return np.asarray(np.sqrt((deviations**2).sum(axis=0) + randomization))
    mean = first / mass
    centred = np.maximum(squares - 2 * mean * total + mean**2 * heavy, 0.0)
    return np.asarray(np.sqrt(centred * tally.n / (tally.n - 1)) / mass)


def _influence(stratified_fit: Estimate, level: Any, level_indicators: Indicators) -> Floats:
    """Influence of each answer at a level on the stratified estimate, per respondent."""
    if stratified_fit.level_weights is None:
        return level_indicators.u - stratified_fit.proportions
    share = level_indicators.weight.sum() / stratified_fit.tally.weight
    return np.asarray(
        stratified_fit.level_weights.get(level, 0.0) / share * (level_indicators.u - level_indicators.mean)
    )


def _level_sentences(design: Answerable, tally: Tally) -> list[str]:
    """Warnings about levels at which nobody, or only one person, answered."""
    sizes: dict[Any, int] = dict.fromkeys(design.levels, 0)
    for part in tally.parts:
        sizes[part.level] = sizes.get(part.level, 0) + part.n
    few = {n: ", ".join(str(level) for level, size in sizes.items() if size == n) for n in (0, 1)}
    words = {0: "nobody chose level", 1: "a single answer at level"}
    return [f"{words[n]} {levels}" for n, levels in few.items() if levels]
