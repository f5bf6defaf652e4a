"""Comparison of groups: differences with their covariance, and a test of whether all groups are alike.

What each unit of a sample adds to an estimate, so that you can compare estimates from one sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats, Label
from naysay.errors import DataError
from naysay.estimate import fitting, samples
from naysay.estimate.assumptions import check_estimate
from naysay.estimate.estimators import unbounded
from naysay.estimate.fit import certified, decimals, number_text, reliable_errors
from naysay.estimate.likelihood import answering, evidence, is_answering, maximize, rank_of, tangent
from naysay.estimate.linear import Indicators, efficient_indicators, unbiased
from naysay.estimate.result import Estimate
from naysay.show import Column, Sentence, Table, plain, text
from naysay.show.content import Content
from naysay.tally import Part, Tally

_MOST = 10_000  # the covariance of all differences is built up to so many rows: 800 MB
_USUAL = "χ²"  # the law of a test that prints no law beside p
_FEW = 500  # up to so many rows Wald's test inverts it, where some group's covariance is singular

_NO_COVARIANCE = "the covariance of some group is not defined"
_TOO_LARGE = "too many differences for Wald's test, as the covariance of some group cannot be inverted"


@dataclass(frozen=True, eq=False)
class Differences:
    """Each group's proportions minus those of a reference group, and a test of whether all groups are alike.

    Parameters
    ----------
    reference : label
        The group that the others are compared with.
    groups : tuple of label
        The G - 1 others.
    categories : tuple of label
    difference : (G - 1, t) float
    covariances : (G, t, t) float
        Of each group's own proportions, the reference group first.
    reliable : (G - 1, t) bool
        True where both standard errors can be trusted: neither estimate is at the boundary.
    test : str
        The kind of test: a likelihood ratio, a score test, or Wald's.
    statistic : float
    degrees_of_freedom : int
    p_value : float
        NaN where it cannot be computed.
    joint : (G t, G t) float, optional
        Covariance of all groups' proportions, where they share the units of a complex sample, or estimated chances.
    denominator : float
        Degrees of freedom of the covariances: infinite, except for a complex sample, whose intervals use t.
    law : str
        The law that gives p. Where p is NaN, the reason.
    """

    reference: Any
    groups: tuple[Any, ...]
    categories: tuple[Any, ...]
    difference: Floats
    covariances: Floats
    reliable: NDArray[np.bool_]
    test: str
    statistic: float
    degrees_of_freedom: int
    p_value: float
    joint: Floats | None = None
    denominator: float = math.inf
    law: str = ""

    @cached_property
    def standard_errors(self) -> Floats:
        """Of the differences, (G - 1, t)."""
        if self.joint is not None:
            return np.asarray(np.sqrt(np.diagonal(self.covariance)).reshape(self.difference.shape))
        variances = np.diagonal(self.covariances, axis1=1, axis2=2)
        return np.asarray(np.sqrt(variances[1:] + variances[0]))

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of the differences in row order, ((G - 1) t, (G - 1) t); they share the reference group.

        Raises
        ------
        DataError
            If it would be very large. `covariances` holds the parts that it is made of.
        """
        difference_count = self.difference.size
        if difference_count > _MOST:
            raise DataError(
                f"the covariance of {len(self.groups):,} differences of {len(self.categories)} categories has "
                f"{difference_count:,} rows and columns ({8e-9 * difference_count**2:,.1f} GB); use .covariances, "
                "(groups, categories, categories): the covariance of two differences is that of the reference group"
            )
        return (
            _independent_contrasts(self.covariances)
            if self.joint is None
            else _joint_contrasts(self.joint, len(self.categories))
        )

    def interval(self, confidence: float = 0.95) -> Floats:
        """Intervals of the differences, (G - 1, t, 2), from the normal law; for complex samples from t."""
        half_widths = scipy.stats.t(self.denominator).ppf(0.5 + confidence / 2) * self.standard_errors
        return np.stack([self.difference - half_widths, self.difference + half_widths], axis=-1)

    def __str__(self) -> str:
        if math.isnan(self.p_value):
            return f"equality of the groups: no test ({self.law})"
        p_text = "< 0.001" if self.p_value < 0.001 else f"= {self.p_value:.3f}"
        law_text = "" if self.law == _USUAL else f" ({self.law})"
        test_text = f"{self.test} = {self.statistic:.2f} on {self.degrees_of_freedom} df, p {p_text}{law_text}"
        caution_text = "; Wald's test finds differences too often in small groups" if self.test == "Wald" else ""
        return f"equality of the groups: {test_text}{caution_text}"


def differences(fits: Mapping[Any, Estimate], *, reference: Any = ..., independent: bool = False) -> Differences:
    """The differences between groups that were estimated one by one.

    Groups count as independent, so their variances add. Groups of one complex sample are the exception: they share its
    units, and their covariance is that of the sample. Tally them together, by `design.tally(…, by=)`: tallies that were
    made one by one do not show which units they share. Groups under one design whose chances are estimated share the
    error of these chances, too: it moves both, and a difference by what it moves one more than the other.

    One test asks whether all groups have equal proportions. For maximum likelihood under one design it is the
    likelihood ratio of one common set of proportions against one set per group. Where an estimate is at the boundary,
    a group is small, people have survey weights or chose levels, this ratio would not follow χ², and the score
    statistic replaces it. The score statistic compares the answers, so it also serves moments of weighted people. Other
    moments are compared by their differences, with the covariance that all groups together give an answer; so small
    groups do not look more certain than they are. In a complex sample the sample gives the law of either statistic (Rao
    & Scott 1984). Groups under different designs are compared by Wald's test. It finds differences too often where
    groups are small, and says so.

    Parameters
    ----------
    fits : {group: Estimate}
        Two or more, all about the same categories.
    reference : label, optional
        The group to compare with; by default the first group that has a name.
    independent : bool
        Say that groups with clusters, strata, replicate weights or a finite population, whose tallies were made one by
        one, are samples of their own, such as those of two countries; or that estimated chances of different designs
        come from different people.

    Raises
    ------
    DataError
        If there are fewer than two groups, the reference is unknown, the groups' categories differ, or complex samples
        were tallied one by one, or chances of different designs estimated, and are not said to be independent.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.warner(p=0.8)
    >>> fits = {
    ...     g: estimate.maximum_likelihood(survey, survey.tally(count=n))
    ...     for g, n in {"a": [300, 700], "b": [420, 580]}.items()
    ... }
    >>> found = estimate.differences(fits)
    >>> found.difference.round(3), found.standard_errors.round(4)
    (array([[ 0.2, -0.2]]), array([[0.0355, 0.0355]]))
    >>> print(found)
    equality of the groups: LR = 31.36 on 1 df, p < 0.001
    """
    group_names = list(fits)
    if len(group_names) < 2:
        raise DataError(f"differences need two groups or more; got {len(group_names)}")
    for fit in fits.values():
        check_estimate(fit)
    named_groups = [group_name for group_name in group_names if group_name is not None]
    reference_group = (named_groups or group_names)[0] if reference is ... else reference
    if reference_group not in fits:
        raise DataError(f"the reference must be one of the groups; got {reference_group!r}")
    categories = fits[reference_group].categories
    if any(fit.categories != categories for fit in fits.values()):
        raise DataError("the groups must be about the same categories")
    other_groups = [group_name for group_name in group_names if group_name != reference_group]
    ordered_fits = [fits[reference_group], *(fits[group_name] for group_name in other_groups)]
    group_proportions = np.array([fit.proportions for fit in ordered_fits])
    group_covariances = np.array([fit.covariance for fit in ordered_fits])
    is_reliable = np.isfinite([reliable_errors(fit) for fit in ordered_fits])
    complex_samples = [fit.tally.complex for fit in ordered_fits if fit.tally.complex is not None]
    denominator = min((complex_sample.degrees_of_freedom for complex_sample in complex_samples), default=math.inf)
    shares_sample = len(complex_samples) == len(ordered_fits) and all(
        complex_samples[0].shares_plan(complex_sample) for complex_sample in complex_samples
    )
    if complex_samples and not shares_sample and not independent:
        raise DataError(
            "the groups' tallies of complex samples were made one by one, so that nothing shows which clusters, strata "
            "or replicates they share; tally groups of one sample together, by design.tally(…, by=…); if each group is "
            "a sample of its own, say independent=True"
        )
    uncertain_designs = [fit.design for fit in ordered_fits if fit.design.uncertain]
    if any(design != uncertain_designs[0] for design in uncertain_designs) and not independent:
        raise DataError(
            "the groups' designs have different estimated chances, and nothing shows whether these come from the same "
            "people; give all groups one design; if the chances come from different people, say independent=True"
        )
    shares_chances = len(uncertain_designs) > 1
    if (complex_samples or shares_chances) and len(ordered_fits) * len(categories) > _MOST:
        raise DataError(
            f"{len(ordered_fits):,} groups of {len(categories)} categories are too many to compare in a complex "
            f"sample, or under estimated chances; groups × categories must be at most {_MOST:,}"
        )
    joint_covariance = _joint(ordered_fits, shares_sample=shares_sample) if shares_sample or shares_chances else None
    test_name, equality_test = _equality(ordered_fits, joint_covariance, denominator, shares_sample=shares_sample)
    return Differences(
        reference=reference_group,
        groups=tuple(other_groups),
        categories=categories,
        difference=group_proportions[1:] - group_proportions[0],
        covariances=group_covariances,
        reliable=is_reliable[1:] & is_reliable[0],
        test=test_name,
        statistic=equality_test.statistic,
        degrees_of_freedom=equality_test.degrees_of_freedom,
        p_value=equality_test.p_value,
        joint=joint_covariance,
        denominator=denominator,
        law=equality_test.law,
    )


def _joint(fits: list[Estimate], *, shares_sample: bool) -> Floats:
    """Covariance (G t, G t) of groups that share the units of one sample, estimated chances, or both.

    Groups g and h under the same estimated chances covary by M_gᵀM_h, with M as `Cells.moves_of_categories`.
    """
    t = len(fits[0].categories)
    joint_covariance = np.zeros((len(fits) * t,) * 2)
    if shares_sample:
        sample_deviations = np.hstack([deviations(fit) for fit in fits])
        joint_covariance += sample_deviations.T @ sample_deviations
    for design in dict.fromkeys(fit.design for fit in fits if fit.design.uncertain):
        moves = np.hstack(
            [
                fit.cells_of_samples.moves_of_categories
                if fit.design == design
                else np.zeros((len(design.uncertain), t))
                for fit in fits
            ]
        )
        joint_covariance += moves.T @ moves
    for group_place, fit in enumerate(fits):  # a group's own covariance includes what its randomization adds
        group_slice = slice(group_place * t, (group_place + 1) * t)
        joint_covariance[group_slice, group_slice] = fit.covariance
    return np.asarray(joint_covariance)


def _joint_contrasts(joint: Floats, t: int) -> Floats:
    """Covariance of the differences of all groups from the first, ((G - 1) t, (G - 1) t)."""
    group_count = len(joint) // t
    contrast_matrix = np.hstack([-np.tile(np.eye(t), (group_count - 1, 1)), np.eye((group_count - 1) * t)])
    return np.asarray(contrast_matrix @ joint @ contrast_matrix.T)


def _quadratic_test(statistic: float, df: int, denominator: float) -> fitting.Agreement:
    """The test by χ², or by F where the covariance has finite degrees of freedom (Korn & Graubard 1990)."""
    second_df = denominator - df + 1
    if not math.isfinite(statistic):
        return fitting.Agreement(statistic, df, math.nan, _TOO_LARGE if df else _NO_COVARIANCE)
    if df <= 0 or second_df <= 0:
        reason_text = f"{df} differences are more than the {denominator:.0f} degrees of freedom of the sample can test"
        return fitting.Agreement(statistic, df, math.nan, fitting.ALIKE if df <= 0 else reason_text)
    if math.isinf(denominator):
        return fitting.Agreement(statistic, df, float(scipy.stats.chi2.sf(statistic, df)), _USUAL)
    p_value = float(scipy.stats.f.sf(statistic * second_df / (denominator * df), df, second_df))
    return fitting.Agreement(statistic, df, p_value, f"F({df}, {second_df:.0f})")


def _independent_contrasts(covariances: Floats) -> Floats:
    """Covariance of the differences of independent groups from the first, ((G - 1) t, (G - 1) t)."""
    other_count, t = len(covariances) - 1, covariances.shape[1]
    covariance_blocks = np.tile(covariances[0], (other_count, other_count))
    for group_place, group_covariance in enumerate(covariances[1:]):
        block_slice = slice(group_place * t, (group_place + 1) * t)
        covariance_blocks[block_slice, block_slice] += group_covariance
    return np.asarray(covariance_blocks)


def _equality(
    fits: list[Estimate], joint: Floats | None, denominator: float, *, shares_sample: bool
) -> tuple[str, fitting.Agreement]:
    """The test of whether all groups are alike, and its name; `joint` is their covariance, if they share something."""
    same_estimator = all(fit.design == fits[0].design and fit.made_by == fits[0].made_by for fit in fits)
    is_complex = any(fit.tally.complex is not None for fit in fits)
    if same_estimator and all(map(_plain, fits)):
        return _likelihoods(fits, np.array([fit.proportions for fit in fits]))
    if same_estimator and all(map(_compares_answers, fits)):
        return "score", _scores(fits, denominator, one_sample=shares_sample)
    # Estimates that stop at 0 differ less than the answers do, so that a test by their differences hardly rejects.
    unbiased_fits = [(unbounded(fit) or fit) if same_estimator and fit.maximum is not None else fit for fit in fits]
    if joint is not None and any(
        unbiased_fit is not original_fit for unbiased_fit, original_fit in zip(unbiased_fits, fits, strict=True)
    ):
        joint = _joint(unbiased_fits, shares_sample=shares_sample)
    group_proportions = np.array([fit.proportions for fit in unbiased_fits])
    group_covariances = np.array([fit.covariance for fit in unbiased_fits])
    are_alike = same_estimator and np.isfinite(group_covariances).all()
    shared_covariances = _alike_covariances(unbiased_fits) if are_alike else None
    if not is_complex:
        if shared_covariances is None and joint is not None:
            contrasts = _joint_contrasts(joint, group_proportions.shape[1])
            group_differences = (group_proportions[1:] - group_proportions[0]).ravel()
            return "Wald", _quadratic_test(*_quadratic(group_differences, contrasts), math.inf)
        if shared_covariances is None:
            return "Wald", _quadratic_test(*_wald(group_proportions, group_covariances), math.inf)
        statistic, df = _wald(group_proportions, shared_covariances.covariances)
        worth, note = shared_covariances.worth, shared_covariances.note
        if math.isinf(worth):
            return "score", _quadratic_test(statistic, df, math.inf)
        if df <= 0 or worth <= 0 or not math.isfinite(statistic):
            reason_text = fitting.ALIKE if df <= 0 else _NO_COVARIANCE
            return "score", fitting.Agreement(statistic, df, math.nan, reason_text)
        p_value = float(scipy.stats.f.sf(statistic / df, df, worth))
        return "score", fitting.Agreement(statistic, df, p_value, f"F({df}, {worth:.0f}){note}")
    contrast_covariance = (
        _independent_contrasts(group_covariances)
        if joint is None
        else _joint_contrasts(joint, group_proportions.shape[1])
    )
    return _test_of_samples(group_proportions, contrast_covariance, shared_covariances, denominator)


def _scores(fits: list[Estimate], denominator: float, *, one_sample: bool) -> fitting.Agreement:
    """The score test of answers with survey weights, of several levels, or of a complex sample."""
    tallies = [fit.tally for fit in fits]
    evidences = [evidence(tally) for tally in tallies]
    group_weights = [
        weights / weights.sum() * tally.effective for (_, weights, _), tally in zip(evidences, tallies, strict=True)
    ]
    likelihood_rows = np.vstack([group_evidence[0] for group_evidence in evidences])
    pooled_proportions = maximize(likelihood_rows, np.concatenate(group_weights), tolerance=1e-4, polish=0).proportions
    group_scores = [fitting.together(fitting.scores(answering(tally), pooled_proportions)) for tally in tallies]
    if not fitting.agreement(group_scores)[1]:
        return fitting.Agreement(0.0, 0, math.nan, fitting.ALIKE)
    if all(tally.complex is None for tally in tallies):
        return fitting.rao_scott(group_scores, sum(map(np.sum, group_weights)) - len(fits))
    group_ends = np.cumsum([len(group.items) for group in group_scores])[:-1]

    def covariance(values: Floats) -> Floats:
        by_group = [
            tally.drawn().take(is_answering(tally)).deviations(group_sums)
            for tally, group_sums in zip(tallies, np.split(values, group_ends), strict=True)
        ]
        sample_deviations = [np.sum(by_group, axis=0)] if one_sample else by_group
        return np.asarray(
            np.sum([group_deviations.T @ group_deviations for group_deviations in sample_deviations], axis=0)
        )

    return fitting.rao_scott(group_scores, denominator, covariance)


def _test_of_samples(
    proportions: Floats, contrasts: Floats, shared: _AlikeCovariances | None, denominator: float
) -> tuple[str, fitting.Agreement]:
    """The test of groups of complex samples whose differences have the covariance `contrasts`, and its name.

    The quadratic form is that of independent people, who vary alike in all groups; the sample gives its law.
    """
    group_differences = (proportions[1:] - proportions[0]).ravel()
    if shared is None or not np.isfinite(contrasts).all():
        return "Wald", _quadratic_test(*_quadratic(group_differences, contrasts), denominator)
    model_covariance = _independent_contrasts(shared.covariances)
    statistic, df = _quadratic(group_differences, model_covariance)
    effects = np.linalg.pinv(model_covariance, rcond=1e-10, hermitian=True) @ contrasts
    mean, square = float(np.trace(effects)), float((effects * effects.T).sum())
    if not df:
        return "score", fitting.Agreement(math.nan, 0, math.nan, fitting.ALIKE)
    return "score", fitting.Agreement(statistic, df, *fitting.second_order(statistic, mean, square, denominator))


class _AlikeCovariances(NamedTuple):
    """Covariances (G, t, t) of the groups' proportions if answers vary alike in all groups, and what they are worth.

    `worth` are degrees of freedom: infinite where squares are taken about what all groups have in common. `note` says
    what a reader of the test must know.
    """

    covariances: Floats
    worth: float
    note: str = ""


class _Spread(NamedTuple):
    """How the answers at a level vary in one group.

    `moments` (t, t) is the weighted sum of squares and products of what an answer moves, `squared` the sum of the
    squared weights, and `scale` times the variance of one answer is what they add to that of the group's proportions.
    """

    level: Any
    moments: Floats
    squared: float
    people: int
    scale: float


def _alike_covariances(fits: list[Estimate]) -> _AlikeCovariances | None:
    """The covariances of the groups' proportions if all groups are alike; None where that is not known.

    An answer at a level then varies alike in all groups. So small groups are judged by what all show: too few people do
    not show a rare answer, and the group's own covariance would be too small.
    """
    if any(fit.tally.summed or len(fit.categories) > _FEW for fit in fits):
        return None
    if fits[0].cells is not None:
        return _alike_by_samples(fits)
    group_weights = [fit.tally.weight for fit in fits]
    mean_proportions = np.average([fit.proportions for fit in fits], axis=0, weights=group_weights)
    spreads_by_group = [list(_spreads(fit, mean_proportions)) for fit in fits]
    levels = {spread.level for group_spreads in spreads_by_group for spread in group_spreads}
    moments_by_level = {}
    for level in levels:
        level_spreads = [spread for group in spreads_by_group for spread in group if spread.level == level]
        level_people = sum(spread.people for spread in level_spreads)
        # means about which the squares are taken
        lost_degrees = 1 if fits[0].level_weights is None else len(level_spreads)
        degrees_factor = level_people / max(level_people - lost_degrees, 1)
        moments_by_level[level] = (
            degrees_factor
            * np.sum([spread.moments for spread in level_spreads], axis=0)
            / sum(spread.squared for spread in level_spreads)
        )
    group_covariances = np.array(
        [
            np.sum([spread.scale * moments_by_level[spread.level] for spread in group_spreads], axis=0)
            for group_spreads in spreads_by_group
        ]
    )
    is_weighted = any(fit.tally.weighted for fit in fits)
    worth = sum(fit.tally.effective for fit in fits) - len(fits) * len(levels) if is_weighted else math.inf
    return _AlikeCovariances(group_covariances, worth)


def _alike_by_samples(fits: list[Estimate]) -> _AlikeCovariances:
    """The same for several samples: an answer in a sample varies about the group's own mean.

    Groups may differ in shares beside the categories', such as that of cheaters, so that their means may differ, too.
    """
    stacks = [samples.stacked(fit.design, fit.tally, "population") for fit in fits]
    mean_cells = np.average(
        [stack.estimate_cells()[0] for stack in stacks], axis=0, weights=[fit.tally.weight for fit in fits]
    )
    level_sums: dict[Any, Any] = {}
    for part in (part for stack in stacks for part in stack.parts):
        part_statistic = part.design.space.statistic(part.codes)
        centered_statistic = part_statistic - part.weight @ part_statistic / part.weight.sum()
        square_sums, squared_weights, level_degrees = level_sums.get(part.level, (0.0, 0.0, 0))
        part_squares = centered_statistic.T @ (centered_statistic * part.weight_squared[:, None])
        level_sums[part.level] = (
            square_sums + part_squares,
            squared_weights + part.weight_squared.sum(),
            level_degrees + part.n - 1,
        )
    people_by_level = {
        level: sum(p.n for stack in stacks for p in stack.parts if p.level == level) for level in level_sums
    }
    moments_by_level = {
        level: square_sums / squared_weights * people_by_level[level] / max(level_degrees, 1)
        for level, (square_sums, squared_weights, level_degrees) in level_sums.items()
    }
    group_covariances = []
    for fit, stack in zip(fits, stacks, strict=True):
        cell_covariance = sum(
            part_slope
            @ moments_by_level[part.level]
            @ part_slope.T
            * (part.weight_squared.sum() / part.weight.sum() ** 2)
            for part, part_slope in zip(stack.parts, stack.slopes, strict=True)
        )
        group_covariances.append(
            replace(fit.cells_of_samples, proportions=mean_cells, covariance=np.asarray(cell_covariance)).estimates[1]
        )
    lost_degrees = sum(len(stack.parts) for stack in stacks)
    is_weighted = any(fit.tally.weighted for fit in fits)
    note_text = "; rejects too often if weights go with the answers" if is_weighted else ""
    return _AlikeCovariances(
        np.array(group_covariances), sum(fit.tally.effective for fit in fits) - lost_degrees, note_text
    )


def _spreads(fit: Estimate, centre: Floats) -> Iterator[_Spread]:
    """The spread of each level of a group; `centre` are the proportions of all groups together, (t,)."""
    for part in answering(fit.tally):
        part_weight, squared_weights = part.weight.sum(), part.weight_squared
        variance_scale = squared_weights.sum() / part_weight**2
        unbiased_rows = unbiased(part, fit.linear_maps)
        if fit.level_weights is not None:
            unbiased_rows = unbiased_rows - part.weight @ unbiased_rows / part_weight
            variance_scale *= fit.level_weights.get(part.level, 0.0) ** 2
        else:
            variance_scale *= (part_weight / fit.tally.weight) ** 2
            unbiased_rows = unbiased_rows if fit.target == "file" else unbiased_rows - centre
        answer_moments = unbiased_rows.T @ (unbiased_rows * squared_weights[:, None])
        if fit.target == "file" and fit.level_weights is None:  # only the randomization is random
            answer_moments = answer_moments - np.diag(squared_weights @ unbiased_rows)
        yield _Spread(part.level, answer_moments, float(squared_weights.sum()), part.n, float(variance_scale))


def _likelihoods(fits: list[Estimate], proportions: Floats) -> tuple[str, fitting.Agreement]:
    """The likelihood ratio, or where it would not follow χ² the score."""
    answered_parts = [part for fit in fits for part in fit.tally.parts if part.n]
    pooled_part = Part.of(
        answered_parts[0].design,
        np.vstack([p.codes for p in answered_parts]),
        count=np.concatenate([p.count for p in answered_parts]),
    )
    common_maximum = maximize(*evidence(Tally((pooled_part,)))[:2], tolerance=1e-6)
    is_inside = min(float(proportions.min()), float(common_maximum.proportions.min())) > 1e-9
    if not is_inside or not all(map(fitting.plenty, answered_parts)):
        score = fitting.agreement(fitting.scores(answered_parts, common_maximum.proportions))
        return "score", _quadratic_test(*score, math.inf)
    separate_likelihood = sum(_log_likelihood(fit) for fit in fits)
    df = (len(fits) - 1) * rank_of(pooled_part.design.expected_statistic)
    return "LR", _quadratic_test(max(2 * (separate_likelihood - common_maximum.log_likelihood), 0.0), df, math.inf)


def _wald(proportions: Floats, covariances: Floats) -> tuple[float, int]:
    """Wald's statistic of equal proportions and its degrees of freedom, group by group: Σ_g (π̂_g - π̄)ᵀV_g⁻(π̂_g - π̄).

    Here π̄ is the mean weighted by precision. The sum equals the quadratic form of all differences in their joint
    covariance. That covariance itself is inverted only where a group's own covariance is singular.
    """
    group_count, t = proportions.shape
    if not np.isfinite(covariances).all():
        return math.nan, 0
    basis = tangent(t)
    reduced_covariances, reduced_proportions = basis.T @ covariances @ basis, proportions @ basis
    reduced_eigenvalues = np.linalg.eigvalsh(reduced_covariances)
    if (reduced_eigenvalues[:, 0] > 1e-10 * reduced_eigenvalues.max()).all():
        group_precisions = np.linalg.inv(reduced_covariances)
        precision_mean = np.linalg.solve(
            group_precisions.sum(axis=0), np.einsum("gij,gj->i", group_precisions, reduced_proportions)
        )
        return float(
            np.einsum(
                "gi,gij,gj->",
                reduced_proportions - precision_mean,
                group_precisions,
                reduced_proportions - precision_mean,
            )
        ), (group_count - 1) * (t - 1)
    if (group_count - 1) * t > _FEW:
        return math.nan, (group_count - 1) * (t - 1)
    return _quadratic((proportions[1:] - proportions[0]).ravel(), _independent_contrasts(covariances))


def _quadratic(difference: Floats, covariance: Floats) -> tuple[float, int]:
    """Wald's statistic of differences with this covariance, and the rank of the covariance."""
    if not np.isfinite(covariance).all():
        return math.nan, 0
    df = int(np.linalg.matrix_rank(covariance, tol=1e-12))
    return float(difference @ np.linalg.pinv(covariance, rcond=1e-10, hermitian=True) @ difference), df


def _plain(fit: Estimate) -> bool:
    """Whether an estimate is maximum likelihood under a single design, for a population, without survey weights."""
    return (
        not fit.design.offer.several
        and fit.maximum is not None
        and fit.target == "population"
        and not fit.tally.weighted
    )


def _compares_answers(fit: Estimate) -> bool:
    """Whether an estimate's groups are compared by the answers themselves.

    So are likelihoods, and moments of people who weigh differently, for a population without shares beside the
    categories'. A finite population would shrink the variance of the score, also what randomization adds to it.
    """
    finite = fit.tally.complex is not None and bool(fit.tally.complex.kept.any())
    likely = fit.maximum is not None or fit.tally.weighted
    return likely and fit.cells is None and fit.level_weights is None and fit.target == "population" and not finite


def _log_likelihood(fit: Estimate) -> float:
    if fit.maximum is not None and fit.maximum.total_gap <= 1e-6:
        return fit.maximum.log_likelihood
    return maximize(*evidence(fit.tally)[:2], tolerance=1e-6).log_likelihood


def deviations(fit: Estimate) -> Floats:
    """Deviations D of an estimate's sample, (deviations, t).

    DᵀD is its covariance. D_1ᵀD_2 is its covariance with another estimate from the same sample, such as that of
    another group. Where the population is finite, DᵀD lacks what the randomization adds to each estimate.
    """
    if fit.cells is not None:
        part_influences = samples.influences(fit)
        sampled_of_part = {id(part): sampled for part, sampled in fit.tally.apart}
        t = len(fit.categories)
        return np.asarray(
            sum(sampled_of_part[id(part)].deviations(influence[:, :t]) for part, influence in part_influences)
        )
    if fit.level_weights is not None:
        weighted_terms = [
            (fit.level_weights.get(p.level, 0.0), Indicators.of(p, sampled)) for p, sampled in fit.tally.apart
        ]
        return np.asarray(sum(z * term.sampled.deviations(term.influence) for z, term in weighted_terms if z > 0))
    terms = fit.indicators or efficient_indicators(*evidence(fit.tally), certified(fit))
    return terms.sampled.deviations(terms.influence)


def differences_text(differences: Differences, confidence: float = 0.95, *, most: int = 30) -> str:
    """Differences between groups as plain text; with more than `most` groups the listing is left out."""
    return text(differences_content(differences, confidence, most=most))


def differences_content(
    differences: Differences, confidence: float = 0.95, *, most: int = 30, percent: bool = False
) -> list[Content]:
    """Differences between groups in the vocabulary of `naysay.show`; without the listing as in the text.

    With `percent` they are in percentage points, as pages tell shares.
    """
    if len(differences.groups) >= most:
        return [
            Sentence(f"{len(differences.groups) + 1} groups, too many to list their differences"),
            Sentence(str(differences)),
        ]
    law_name = "normal" if math.isinf(differences.denominator) else "t"
    heading_text = f"Differences from {_group(differences.reference)}; {confidence:.4g} {law_name} intervals"
    points_text = ", points" if percent else ""
    column_names = (f"less {_group(differences.reference)}{points_text}", "s.e.", "low", "high")
    standard_errors = np.where(differences.reliable, differences.standard_errors, np.nan)
    interval_ends = np.where(differences.reliable[..., None], differences.interval(confidence), np.nan)
    number_array = np.concatenate(
        [differences.difference[..., None], standard_errors[..., None], interval_ends], axis=-1
    )
    decimal_places = decimals(standard_errors) or 4
    if percent:
        number_array, decimal_places = 100 * number_array, max(decimal_places - 2, 0)
    table_rows = tuple(
        (_group(group), _checks.label(category), *(number_text(value, decimal_places) for value in numbers))
        for group, group_numbers in zip(differences.groups, number_array.tolist(), strict=True)
        for category, numbers in zip(differences.categories, group_numbers, strict=True)
    )
    word_columns = (Column("group", words=True, width=40), Column("category", words=True, width=40))
    table = Table((*word_columns, *map(Column, column_names)), table_rows)
    return [Sentence(heading_text), table, Sentence(str(differences))]


def _group(name: Label) -> str:
    return "(missing)" if name is None else str(name)


def differences_dict(differences: Differences, confidence: float = 0.95, *, most: int = 30) -> dict[str, Any]:
    """Differences between groups as one JSON object.

    Undefined numbers are None. With more than `most` groups the covariance is None too.
    """
    json_content: dict[str, Any] = plain(
        {
            "reference": differences.reference,
            "groups": differences.groups,
            "differences": differences.difference,
            "standard_errors": differences.standard_errors,
            "intervals": differences.interval(confidence),
            "covariance": differences.covariance if len(differences.groups) < most else None,
            "equality": {
                **{
                    field_name: getattr(differences, field_name)
                    for field_name in ("test", "statistic", "degrees_of_freedom", "p_value")
                },
                "law": None if math.isnan(differences.p_value) else differences.law,
            },
        }
    )
    return json_content
