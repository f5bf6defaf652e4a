"""The principles of estimation: unbiased moments, maximum likelihood, and both of them over levels.

Moments are unbiased, with one formula for every design, and may leave [0, 1]. Maximum likelihood has one solver for
every design, every mix of designs, and the boundary.

People who have something to hide may choose a more private level. Then only the proportionally weighted mean of the
levels' own estimates, `stratified`, still estimates the population; the likelihood of all levels together, `pooled`,
does not. Both estimates are therefore always shown, with their difference and a test. Do not use the p-value to choose
between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design import Answerable
from naysay.errors import DataError, NotEstimable
from naysay.estimate import compliance, samples
from naysay.estimate.fit import Cells, Fit, alike, certified, is_pooled
from naysay.estimate.fitting import check_levels, score_test
from naysay.estimate.likelihood import (
    KINDS,
    Evidence,
    Maximum,
    answered_under,
    answering,
    check_identified,
    checked_target,
    evidence,
    expected_information,
    information,
    inverse,
    likelihood_covariance,
    maximize,
    maximize_by,
    standard_error_kind,
    suspicions,
    warnings_of,
)
from naysay.estimate.linear import Indicators, LinearMaps, efficient_indicators, indicator_variances, indicators, named
from naysay.estimate.result import Comparison, Estimate, EvenEstimate
from naysay.tally import Channel, Part, Tally

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator


def maximum_likelihood(
    design: Answerable,
    tally: Tally,
    *,
    target: str = "population",
    tolerance: float = 1e-6,
    standard_errors: str | None = None,
) -> Estimate:
    """The proportions that make the answers most likely, always within [0, 1].

    They maximize Σ_r w_r log(L[r]·π) over the simplex, with likelihood rows L[r] and their weights w_r. The estimate is
    more precise than moments where an answer is a set of several categories. Where the design is square, it equals
    moments inside the simplex. For levels it is `pooled`.

    Parameters
    ----------
    design : Design or Levels
        The design under which the answers were given.
    tally : Tally
    target : {"population", "file"}
    tolerance : float
        The certificate: the log-likelihood is at most this far below its maximum.
    standard_errors : {"observed", "expected", "outer_product", "sandwich"}, optional
        What they rest on: the observed or the expected information, the outer product of the scores, or the sandwich of
        information and scores. The default is the observed information. With survey weights the default is the
        sandwich, and only the sandwich is valid.

    Returns
    -------
    Estimate
        ``fit.maximum`` holds the certificate. For several samples ``fit.nuisance`` holds the nuisance parameters. Where
        several proportions are equally likely, the most even ones are returned, with a warning and undefined standard
        errors.

    Raises
    ------
    NotEstimable
        If the design cannot tell some proportions apart, whatever the answers.

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
    if not tolerance > 0:
        raise DataError(f"tolerance must be positive, such as 1e-6; got {tolerance!r}")
    if design.offer.assigned_by == "lot":
        raise DataError(
            f"maximum_likelihood is not for {design.name or design.kind}; use estimate.{design.structure.estimates}"
        )
    if (reason_text := design.structure.moments_only) or tally.summed:
        raise DataError(f"{reason_text or 'this tally keeps sums'}; use estimate.moments")
    if (operator := design.structure.by_transform) is not None:
        return _by_transform(design, operator, tally, target, tolerance, standard_errors)
    error_kind = checked_kind(standard_errors, tally)
    make_general = partial(_general, design, tally, target, tolerance, error_kind)
    if design.offer.several or not tally.one_pattern or target != "population" or error_kind != "observed":
        return make_general()
    closed_form = named(tally.parts[0])
    return EvenEstimate(
        design=design,
        tally=tally,
        others=OTHERS,
        method="maximum likelihood",
        target=target,
        proportions=closed_form.maximum.proportions,
        standard_error_kind=standard_error_kind(error_kind, tally, target),
        made_by="maximum_likelihood",
        warnings=warnings_of([*reservations(tally.categories, closed_form.maximum, tolerance), *alike(tally)]),
        maximum=closed_form.maximum,
        named=closed_form,
        variances=closed_form.likelihood_variances,
        general=make_general,
        spread=lambda: make_general().covariance,
    )


def _by_transform(
    design: Answerable, operator: LinearOperator, tally: Tally, target: str, tolerance: float, kind: str | None
) -> Estimate:
    """The estimate without likelihood rows; its variances are those of moments, which are at least as large."""
    if tally.weighted or kind is not None:
        request_text = "survey weights" if tally.weighted else f"standard_errors={kind!r}"
        size_text = f"{design.space.size:,} responses and {len(design.categories):,} categories"
        raise DataError(
            f"{request_text} would take likelihood rows of {size_text}, which are too many; use estimate.moments"
        )
    part = tally.parts[0]
    response_counts = np.zeros(design.space.size)
    response_counts[part.codes[:, 0]] = part.count
    maximum = maximize_by(operator, response_counts, tolerance=tolerance)
    by_moments = moments(design, tally, target=target)
    warning_texts = [*reservations(tally.categories, maximum, tolerance), *alike(tally), *suspicions(tally)]
    return replace(
        by_moments,
        method="maximum likelihood",
        proportions=maximum.proportions,
        standard_error_kind=f"those of {by_moments.standard_error_kind}; the likelihood's are at most as large",
        made_by="maximum_likelihood",
        warnings=warnings_of(warning_texts),
        maximum=maximum,
    )


def _general(design: Answerable, tally: Tally, target: str, tolerance: float, kind: str) -> Estimate:
    """The estimate from the solver that takes any likelihood rows, (answers, t)."""
    if design.structure.stacked:
        samples.stacked(design, tally, target)  # raises where a share is not estimable
    else:
        check_identified(tally)
    answer_evidence = evidence(tally)
    maximum = maximize(*answer_evidence[:2], tolerance=tolerance)
    pooled = design.offer.assigned_by == "respondent"
    fit = of_maximum(design, tally, maximum, answer_evidence, target=target, tolerance=tolerance, kind=kind)
    return replace(fit, method="pooled maximum likelihood", made_by="pooled") if pooled else fit


def of_maximum(
    design: Answerable,
    tally: Tally,
    maximum: Maximum,
    answer_evidence: Evidence,
    *,
    target: str,
    tolerance: float = np.inf,
    kind: str | None = None,
) -> Estimate:
    """The estimate at a maximum of the likelihood."""
    kind = checked_kind(kind, tally)
    proportions, stacked_cells = maximum.proportions, None
    if design.structure.stacked:  # the answers may determine shares even where they do not determine the cells
        determined_maximum = replace(maximum, undetermined=np.zeros((len(proportions), 0)))
        cell_covariance = _covariance(tally, determined_maximum, answer_evidence, target, kind, stacked=True)
        moved_cells = [maximize(*evidence(_answered(moved, tally))[:2]).proportions for moved in design.uncertain]
        moves = samples.moves_of(proportions, moved_cells)
        cell_covariance = cell_covariance + moves.T @ moves
        stacked_cells = Cells(design.cells, design.shares, design.nuisance, proportions, cell_covariance, moves)
        proportions, covariance = stacked_cells.estimates
        warning_texts = samples.reservations(design, tally, stacked_cells.values, maximum)
        warning_texts += compliance.reservations(design, tally)
    else:
        covariance = _covariance(tally, maximum, answer_evidence, target, kind)
        warning_texts = [*reservations(tally.categories, maximum, tolerance), *alike(tally), *suspicions(tally)]
    return Estimate(
        design=design,
        tally=tally,
        others=OTHERS,
        method="maximum likelihood",
        target=target,
        proportions=proportions,
        covariance=covariance,
        standard_error_kind=standard_error_kind(kind, tally, target),
        made_by="maximum_likelihood",
        warnings=warnings_of(warning_texts),
        maximum=maximum,
        cells=stacked_cells,
    )


def _answered(design: Answerable, tally: Tally) -> Tally:
    """The same answers under another design with the same samples."""
    return replace(tally, parts=tuple(replace(part, design=design.channel(part.level)) for part in tally.parts))


def checked_kind(kind: str | None, tally: Tally) -> str:
    """The kind of standard errors; by default the sandwich with survey weights, else the observed information."""
    default_kind = "sandwich" if tally.weighted else "observed"
    if kind is not None and kind not in KINDS:
        raise DataError(f"standard_errors must be one of {', '.join(KINDS)}; got {kind!r}")
    if tally.weighted and kind not in (None, "sandwich"):
        raise DataError(f"with survey weights only the sandwich is valid; got standard_errors={kind!r}")
    return kind or default_kind


def _covariance(
    tally: Tally, maximum: Maximum, answer_evidence: Evidence, target: str, kind: str, *, stacked: bool = False
) -> Floats:
    """The covariance (t, t) for a target; that for a file leaves out what drawing the respondents adds."""
    if target == "file" and tally.weighted:
        return efficient_indicators(*answer_evidence, maximum).covariance("file")
    if (
        tally.complex is not None and (corrected_squares := answer_evidence[2].kept).any()
    ):  # a census still has the randomization
        randomization = (
            _randomization(tally, answer_evidence, maximum.proportions)
            if stacked
            else efficient_indicators(*answer_evidence, maximum).randomization(corrected_squares)
        )
        return likelihood_covariance(*answer_evidence, maximum, kind=kind) + randomization
    curvature = expected_information(tally, maximum.proportions) if kind == "expected" else None
    covariance = likelihood_covariance(*answer_evidence, maximum, kind=kind, curvature=curvature)
    if target == "file":
        pi = maximum.proportions
        return covariance - (np.diag(pi) - np.outer(pi, pi)) / tally.n
    return covariance


def _randomization(tally: Tally, answer_evidence: Evidence, cells: Floats) -> Floats:
    """What the randomization adds to the covariance of cells, (cells, cells), where a finite population took it off.

    It is Σ_r w_r² (s_r s_rᵀ - Σ_c π_c m_c m_cᵀ), with the scores s and their means m_c among the people of each cell.
    """
    inverse_information = inverse(information(*answer_evidence[:2], cells))
    score_covariance, weight_scale = np.zeros_like(inverse_information), tally.n / tally.weight

    def chance_ratios(rows: Floats) -> Floats:
        fitted_chances = (rows @ cells)[:, None]
        return np.asarray(np.divide(rows, fitted_chances, out=np.ones_like(rows), where=fitted_chances > 0))

    for part, part_sample in tally.apart:
        corrected_squares = part_sample.kept * weight_scale**2
        answer_scores = chance_ratios(part.design.rows(part.codes)) - 1
        possible_rows = part.design.rows(part.design.space.listing())
        cell_means = possible_rows.T @ chance_ratios(possible_rows) - 1
        score_covariance += (
            answer_scores.T @ (answer_scores * corrected_squares[:, None])
            - corrected_squares.sum() * (cell_means.T * cells) @ cell_means
        )
    return np.asarray(inverse_information @ score_covariance @ inverse_information)


def reservations(categories: Sequence[Label], maximum: Maximum, tolerance: float) -> list[str]:
    """Warnings that a reader of a maximum-likelihood estimate needs."""
    warning_texts = []
    if maximum.total_gap > tolerance:
        warning_texts.append(
            f"floating point ended the search {maximum.total_gap:.1e} of log-likelihood from the maximum"
        )
    is_open = maximum.open
    if is_open.any():
        warning_texts.append(
            f"not determined by these answers: how shares split between {_category_names(categories, is_open)}; "
            "the most even split is shown, without standard errors"
        )
    is_zero = (maximum.proportions <= 1e-12) & ~is_open
    if is_zero.any():
        warning_texts.append(
            f"at the boundary, 0: {_category_names(categories, is_zero)}; "
            "standard errors are unreliable there, see intervals"
        )
    return warning_texts


def _category_names(categories: Sequence[Label], is_named: NDArray[np.bool_]) -> str:
    return ", ".join(_checks.label(category) for category, keep in zip(categories, is_named, strict=True) if keep)


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
    if design.offer.assigned_by == "lot":
        raise DataError(f"moments is not for {design.name or design.kind}; use estimate.{design.structure.estimates}")
    make_general = partial(_general_moments, design, tally, target, solution)
    if design.offer.several or not tally.pure or solution is not None:
        return make_general()
    # candidates of an open domain are the design's
    closed_form = named(replace(tally.parts[0], design=design.channel()))
    proportion_variances = closed_form.spread(target)
    # Under some designs no estimate stays inside [0, 1].
    inside_text = "cut off, their sums would be biased" if design.structure.moments_only else _INSIDE
    warning_texts = moment_reservations(
        closed_form.mean, tally, proportion_variances, inside=inside_text, categories=design.categories
    )
    return EvenEstimate(
        design=design,
        tally=tally,
        others=OTHERS,
        method="moments (closed form)",
        target=target,
        proportions=closed_form.mean,
        standard_error_kind=f"moments, {_moment_error_kind(design, tally, target)}",
        made_by="moments",
        warnings=warnings_of(warning_texts),
        named=closed_form,
        variances=proportion_variances,
        general=make_general,
        spread=partial(closed_form.covariance, target),
    )


def _general_moments(design: Answerable, tally: Tally, target: str, solution: str | None) -> Estimate:
    """The mean of one indicator for each answer, (answers, t), or the cells that stacked samples tell."""
    has_levels, terms, stacked_cells = design.offer.assigned_by == "respondent", None, None
    maps = LinearMaps(solution)
    if design.structure.stacked:
        if solution is not None:
            raise DataError("several samples are solved by least squares; leave `solution` out")
        stacked_cells = Cells(
            design.cells, design.shares, design.nuisance, *samples.moment_cells(design, tally, target)
        )
        proportions, covariance = stacked_cells.estimates
        solved_by = "of both answers" if design.space.answers == 2 else "inverse"
        solved_by = "stacked samples" if design.offer.assigned_by == "researcher" else solved_by
        warning_texts = samples.reservations(design, tally, stacked_cells.values, None)
        warning_texts += compliance.reservations(design, tally)
    else:
        terms = indicators(tally, maps)
        solved_by = min(maps(part).structure for part in tally.parts if part.n)
        proportions, covariance = terms.mean, terms.covariance(target)
        inside_text = (
            "pooled stays inside, but is biased if the choice goes with the category" if has_levels else _INSIDE
        )
        warning_texts = moment_reservations(proportions, tally, np.diagonal(covariance), inside=inside_text)
    return Estimate(
        design=design,
        tally=tally,
        others=OTHERS,
        method="stratified (proportional)" if has_levels else f"moments ({solved_by})",
        target=target,
        proportions=proportions,
        covariance=covariance,
        standard_error_kind=f"moments, {_moment_error_kind(design, tally, target)}",
        made_by="stratified" if has_levels else "moments",
        warnings=warnings_of(warning_texts),
        indicators=terms,
        solution=solution,
        cells=stacked_cells,
        maps=maps,
    )


def _moment_error_kind(design: Answerable, tally: Tally, target: str) -> str:
    """What the standard errors rest on, in words."""
    if target == "file":
        return "randomization only"
    if tally.complex is not None:
        return tally.complex.by
    if tally.weighted:
        return "linearized for the weights"
    return "n - 1 in each sample" if design.offer.assigned_by == "researcher" else "n - 1"


def each_sample(fit: Estimate) -> dict[Any, Estimate] | None:
    """The unbiased estimate of each sample by itself; None where a sample has none, or there is only one sample."""
    answered_parts = answering(fit.tally)
    if len(answered_parts) < 2:
        return None
    tally_by_sample = {
        part.level: Tally((replace(part, level=None),), weighted=fit.tally.weighted) for part in answered_parts
    }
    try:
        return {
            sample_name: moments(fit.design.channel(sample_name), sample_tally)
            for sample_name, sample_tally in tally_by_sample.items()
        }
    except NotEstimable:
        return None


def moment_reservations(
    proportions: np.ndarray,
    tally: Tally,
    variances: np.ndarray,
    *,
    inside: str = _INSIDE,
    categories: Sequence[Label] | None = None,
) -> list[str]:
    """Warnings that a reader of an unbiased estimate needs; `inside` names the estimate that stays in [0, 1]."""
    warning_texts = []
    category_names = [_checks.label(category) for category in categories or tally.categories]
    outside_names = [
        category_name for category_name, value in zip(category_names, proportions, strict=True) if not 0 <= value <= 1
    ]
    if outside_names:
        warning_texts.append(f"outside [0, 1], as an unbiased estimate may be: {_first_names(outside_names)}; {inside}")
    negative_names = [
        category_name for category_name, value in zip(category_names, variances, strict=True) if value < -1e-12
    ]
    if negative_names:
        warning_texts.append(
            "the variance of the randomization comes out below zero, so few are the answers: "
            f"{_first_names(negative_names)}; intervals are those for a population"
        )
    if tally.n == 1:
        warning_texts.append("a single answer has no standard error")
    else:
        warning_texts += alike(tally)
    return [*warning_texts, *suspicions(tally)]


def _first_names(names: list[str]) -> str:
    """The names, or the first of very many."""
    more = f", and {len(names) - _NAMES_IN_WARNING:,} more" if len(names) > _NAMES_IN_WARNING else ""
    return ", ".join(names[:_NAMES_IN_WARNING]) + more


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
    least_answers = 1 + (weights == "variance" or tally.summed)
    level_parts = [part for part in tally.parts if part.n >= least_answers]
    if not level_parts:
        raise DataError(f"{weights} weights need a level with at least two answers; use weights='proportional'")
    level_terms: list[Any] = (
        [named(part) for part in level_parts]
        if tally.summed
        else [Indicators.of(part, part_sample) for part, part_sample in tally.apart if part.n >= least_answers]
    )
    z, weight_sentences = np.full(len(level_parts), 1 / len(level_parts)), list[str]()
    if weights == "variance":
        z, weight_sentences = _inverse_variances(level_parts, level_terms)
    elif weights == "design":
        z, weight_sentences = design_weights(level_parts), _factor(tally)
    elif weights == "proportional":
        z, weight_sentences = np.array([part.weight.sum() for part in level_parts]) / tally.weight, _factor(tally)
    choice_sentences = [
        f"{weights} weights estimate the population only if the choice of level is independent of the category"
    ] * (weights != "proportional")
    weighted_terms = [
        (level_weight, term) for level_weight, term in zip(z, level_terms, strict=True) if level_weight > 0
    ]
    proportions = np.sum([level_weight * term.mean for level_weight, term in weighted_terms], axis=0)
    covariance = np.sum(
        [level_weight**2 * term.covariance("population") for level_weight, term in weighted_terms], axis=0
    )
    if weights == "proportional":  # how many people answer at each level is random, too
        level_deviations = np.array([term.mean - proportions for _, term in weighted_terms])
        covariance = covariance + level_deviations.T @ (level_deviations * z[:, None]) / max(tally.effective - 1, 1)
    if tally.complex is not None:  # units hold people of several levels
        sample_deviations = np.sum(
            [level_weight * term.sampled.deviations(term.influence) for level_weight, term in weighted_terms], axis=0
        )
        randomizations = [
            level_weight**2 * term.randomization(term.sampled.kept) for level_weight, term in weighted_terms
        ]
        covariance = sample_deviations.T @ sample_deviations + np.sum(randomizations, axis=0)
    if target == "file":  # who answers at which level stays random, so subtract only once what drawing the people adds
        covariance = covariance - (np.diag(proportions) - np.outer(proportions, proportions)) / tally.n
    sampling_text = " within levels, n - 1" if tally.complex is None else f", {tally.complex.by}"
    return Estimate(
        design=design,
        tally=tally,
        others=OTHERS,
        method=f"stratified ({weights})",
        target=target,
        proportions=proportions,
        covariance=covariance,
        standard_error_kind=f"moments{sampling_text if target == 'population' else ', randomization only'}",
        warnings=warnings_of([*_level_sentences(design, tally), *weight_sentences, *choice_sentences]),
        made_by=f"stratified_{weights}",
        level_weights={part.level: level_weight for part, level_weight in zip(level_parts, z.tolist(), strict=True)},
    )


def design_weights(parts: Sequence[Part]) -> Floats:
    """Weights of the levels, (levels,), from their sizes and designs alone, so that no answer biases them: n / v."""
    z = np.array([part.effective for part in parts]) / design_variances([part.design for part in parts])
    return np.asarray(z / z.sum())


def design_variances(channels: Sequence[Channel]) -> Floats:
    """The variance v of an answer's indicator, by each design alone, (designs,).

    It is q*(1 - q*)/(p* - q*)², for a category that nobody has (T. Wang, Blocki, Li & Jha 2017), or if some design has
    no such number, the sum over equally common categories.
    """
    even_means = filter(None, (design.structure.even_mean for design in channels))
    closed_forms = [beta * (1 - beta) / alpha**2 for alpha, beta in even_means if 0 < beta < 1 and alpha]
    if len(closed_forms) == len(channels):
        return np.array(closed_forms)
    return np.array([float(indicator_variances(design).sum()) for design in channels])


def _factor(tally: Tally) -> list[str]:
    """What the two valid kinds of weights cost, for levels that differ in their finite ε."""
    answered_parts = [part for part in tally.parts if part.n]
    even_means = [part.design.structure.even_mean or (0, 0) for part in answered_parts]
    if len(answered_parts) < 2 or not all(0 < beta < 1 and alpha > 0 for alpha, beta in even_means):
        return []
    level_variances = design_variances([part.design for part in answered_parts]) / [
        part.effective for part in answered_parts
    ]
    proportional_weights = np.array([part.weight.sum() for part in answered_parts]) / tally.weight
    best_weights = design_weights(answered_parts)
    variance_factor = float(proportional_weights**2 @ level_variances / (best_weights**2 @ level_variances))
    if variance_factor < _ALIKE:
        return []
    return [
        f"proportional weights have {variance_factor:.3g} times the variance of design weights; "
        "only proportional weights are unbiased if people choose their level, "
        "and design weights are for levels that were assigned"
    ]


def _inverse_variances(parts: list[Part], terms: list[Indicators]) -> tuple[Floats, list[str]]:
    """Weights of the levels (levels,), in inverse proportion to the traces of their covariances, and warnings."""
    covariance_traces = np.array([np.trace(term.covariance("population")) for term in terms])
    has_variance = covariance_traces > 0
    if not has_variance.any():
        raise DataError("at every level all answers are alike, so no variance is known; use weights='proportional'")
    warning_texts = []
    if not has_variance.all():
        level_names = ", ".join(str(part.level) for part, keep in zip(parts, has_variance, strict=True) if not keep)
        warning_texts.append(f"all answers are alike at level {level_names}, whose variance is unknown: left out")
    warning_texts.append("variance weights come from the same data, which biases the estimate somewhat")
    z = np.where(has_variance, 1 / np.where(has_variance, covariance_traces, 1), 0)
    return z / z.sum(), warning_texts


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
        stratified_fit = fit if fit.maximum is None else stratified(design, tally, target=fit.target)
    except NotEstimable:
        return None
    if design.structure.moments_only or tally.summed:
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
    evidence_rows, weights, _ = evidence(tally)
    inverse_information = inverse(information(evidence_rows, weights, pi)) * weights.sum()
    inverse_information[:, certified(pooled_fit).open] = np.nan
    influence_total, cross_total, square_total = np.zeros((3, len(pi)))
    total_weight_squared = total_weight = 0.0
    influence_deviations: Any = 0.0
    randomization: Any = 0.0
    for part, part_sample in tally.apart:  # level by level, so that memory holds only one level at a time
        level_indicators, has_weight = Indicators.of(part, part_sample), part.weight > 0
        likelihood_rows = part.design.rows(part.codes)
        influence = (
            _influence(stratified_fit, part.level, level_indicators)
            - (likelihood_rows / (likelihood_rows @ pi)[:, None]) @ inverse_information
        )
        if tally.complex is not None:  # same target for each person, so only randomization differs
            influence = np.where(has_weight[:, None], influence, 0.0) / tally.weight
            influence_deviations = influence_deviations + part_sample.deviations(influence)
            randomization = randomization + part_sample.kept @ influence**2
            continue
        influence = influence[has_weight]
        weight = part.weight[has_weight]
        weight_squared = part.weight_squared[has_weight]
        influence_total += weight @ influence
        cross_total += weight_squared @ influence
        square_total += weight_squared @ influence**2
        total_weight, total_weight_squared = total_weight + weight.sum(), total_weight_squared + weight_squared.sum()
    if tally.complex is not None:
        return np.asarray(np.sqrt((influence_deviations**2).sum(axis=0) + randomization))
    mean_influence = influence_total / total_weight
    centered_squares = np.maximum(
        square_total - 2 * mean_influence * cross_total + mean_influence**2 * total_weight_squared, 0.0
    )
    return np.asarray(np.sqrt(centered_squares * tally.n / (tally.n - 1)) / total_weight)


def _influence(stratified_fit: Estimate, level: Label, level_indicators: Indicators) -> Floats:
    """Influence of each answer at a level on the stratified estimate, per respondent."""
    if stratified_fit.level_weights is None:
        return level_indicators.u - stratified_fit.proportions
    share = level_indicators.weight.sum() / stratified_fit.tally.weight
    return np.asarray(
        stratified_fit.level_weights.get(level, 0.0) / share * (level_indicators.u - level_indicators.mean)
    )


def _level_sentences(design: Answerable, tally: Tally) -> list[str]:
    """Warnings about levels at which nobody, or only one person, answered."""
    level_sizes: dict[Any, int] = dict.fromkeys(design.levels, 0)
    for part in tally.parts:
        level_sizes[part.level] = level_sizes.get(part.level, 0) + part.n
    levels_by_size = {
        n: ", ".join(str(level) for level, level_size in level_sizes.items() if level_size == n) for n in (0, 1)
    }
    size_texts = {0: "nobody chose level", 1: "a single answer at level"}
    return [f"{size_texts[n]} {level_names}" for n, level_names in levels_by_size.items() if level_names]


def unbounded(fit: Fit) -> Estimate | None:
    """The unbiased estimate from the same answers; None where there is none."""
    try:
        return moments(fit.design, fit.tally, target=fit.target)
    except (NotEstimable, DataError):  # answers to only one of two questions have no moments
        return None


OTHERS = {"comparison": compare, "unbounded": unbounded, "by_sample": each_sample}
"""The other estimates that stand beside an estimate, and how they are made from it."""
