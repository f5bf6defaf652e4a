"""Tests: whether answers fit their design, whether samples share proportions, and whether levels go with categories.

A sample's counts N are compared with the counts E = nPπ̃ that are expected at the most likely proportions π̃. The
residuals are r = (N - E)/√E. Along the directions that keep Σπ = 1, r moves with Z = nP/√E. The score sᵀI⁻s, with s =
Zᵀr and I = ZᵀZ, is the part of r that some proportions, negative ones included, could explain; the rest is Pearson's
X². Both follow χ² even if π̃ touches the boundary, where likelihood ratios do not (Rao 1948). Responses so rare that χ²
would fail are pooled. A sum of them is also linear in π, so that the model stays the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay._counts import unique_codes
from naysay._values import Floats
from naysay.design import Answerable
from naysay.design.base import check_design
from naysay.design.drawing import GeneratorSource
from naysay.errors import DataError
from naysay.estimate.likelihood import (
    TOLERANCE,
    Maximum,
    answered_under,
    answering,
    evidence,
    is_answering,
    maximize,
    rank_of,
    tangent,
)
from naysay.responses.spaces import MISSING
from naysay.show import number
from naysay.tally import Channel, Part, Tally

LISTED = 5_000
"""With up to so many responses, a sample is compared response by response."""

ALIKE = "the answers are too few to compare, or all alike"
"""Why there is no test where nothing varies."""

_RARE = 0.5  # responses with fewer expected answers are pooled; tests then held their size in random sparse surveys
_SHRUNK = 5  # answers of weight 1 that are added to each pool, so that few answers do not tell its variance alone
_MANY = 5  # answers that a likelihood ratio needs per response, or per four categories' worth of them, to follow χ²


class Counts(NamedTuple):
    """Possible responses, rare ones pooled, in numbers of equally weighted answers.

    Their rows of the design (pools, t), N, E, how many are rare, Σw² in each pool, and each distinct answer's pool.
    """

    rows: Floats
    observed: Floats
    expected: Floats
    pooled: int
    squared: Floats
    places: NDArray[np.intp]


class Scores(NamedTuple):
    """How n answers contradict the proportions: Σr², the score s, its information I, free responses, and Cov(s).

    The covariance is that of people who were drawn independently; it equals the information where they weigh alike.
    `items` holds what each distinct answer adds to the score per unit of weight, (distinct, t - 1).
    """

    n: float
    squares: float
    score: Floats
    information: Floats
    free: int
    covariance: Floats
    items: Floats


class Agreement(NamedTuple):
    """A test of samples against common proportions: the statistic, its degrees of freedom, p and its law."""

    statistic: float
    degrees_of_freedom: int
    p_value: float
    law: str


def pooled_counts(part: Part, proportions: Floats, matrix: Floats | None = None) -> Counts:
    """The observed and the expected answers of one sample, for responses that can be listed.

    With survey weights they are in numbers of equally weighted answers that would be as precise (Kish 1965).
    """
    likelihood_rows = part.design.rows(part.design.space.listing()) if matrix is None else matrix
    is_possible = likelihood_rows.max(axis=1) > 0
    response_codes = part.design.space.listing()
    distinct_codes, code_places = unique_codes(np.vstack([response_codes, part.codes]))
    place_of_code = np.empty(len(distinct_codes), dtype=np.intp)
    place_of_code[code_places[: len(response_codes)]] = np.arange(len(response_codes))
    answer_places = place_of_code[code_places[len(response_codes) :]]
    weight_scale = part.effective / part.weight.sum()
    observed_counts, squared_weights = (
        np.bincount(answer_places, scaled_weights, minlength=len(likelihood_rows))[is_possible]
        for scaled_weights in (part.weight * weight_scale, part.weight_squared * weight_scale**2)
    )
    possible_rows = likelihood_rows[is_possible]
    expected_counts = part.effective * np.maximum(possible_rows @ proportions, 0.0)
    expected_order = np.argsort(expected_counts, kind="stable")
    response_pools = np.empty(len(expected_order), dtype=np.intp)
    response_pools[expected_order] = _pools(expected_counts[expected_order])
    response_columns = np.column_stack([possible_rows, observed_counts, expected_counts, squared_weights])
    pooled_columns = np.zeros((int(response_pools.max()) + 1, response_columns.shape[1]))
    np.add.at(pooled_columns, response_pools, response_columns)
    observed, expected, squared = pooled_columns[:, -3:].T
    rare_count = int((expected_counts < _RARE).sum())
    answer_pools = response_pools[(np.cumsum(is_possible) - 1)[answer_places]]
    return Counts(pooled_columns[:, :-3], observed, expected, rare_count, squared, answer_pools)


def _pools(expected: Floats) -> NDArray[np.intp]:
    """The pool of each response, (responses,), in ascending order. No pool expects too little, unless n is small."""
    pool_places, pool_number, pool_total = [], 0, 0.0
    for expected_count in expected.tolist():
        pool_places.append(pool_number)
        pool_total += expected_count
        if pool_total >= _RARE:
            pool_number, pool_total = pool_number + 1, 0.0
    return np.minimum(pool_places, max(pool_number - 1, 0))  # the remainder joins the last pool


def scores(parts: Iterable[Part], proportions: Floats) -> list[Scores]:
    """The scores of several samples at the same proportions.

    They are those of the observed answers if responses cannot be listed, or if people left out one of several
    questions: their answers are none of the listed responses.
    """
    design_matrices: dict[int, tuple[Channel, Floats]] = {}  # holds the channel, too: else its id could be reused
    basis, sample_scores = tangent(len(proportions)), []
    for part in parts:
        design = part.design
        if design.space.size > LISTED or _in_part(part):
            sample_scores.append(_observed_scores(part, proportions, basis))
            continue
        if id(design) not in design_matrices:
            design_matrices[id(design)] = design, design.rows(design.space.listing())
        counts = pooled_counts(part, proportions, design_matrices[id(design)][1])
        sample_scores.append(_listed_scores(part, counts, basis))
    return sample_scores


def _listed_scores(part: Part, counts: Counts, basis: Floats) -> Scores:
    """The scores of a sample from the counts of all its responses, pooled where they are rare."""
    n, expected_root = part.effective, np.sqrt(counts.expected)
    residuals = (counts.observed - counts.expected) / expected_root
    slopes = (n * counts.rows / expected_root[:, None]) @ basis
    pool_weights = (counts.squared + _SHRUNK) / (counts.observed + _SHRUNK)  # each answer weighed by its own weight
    return Scores(
        n,
        float(residuals @ residuals),
        slopes.T @ residuals,
        slopes.T @ slopes,
        len(counts.rows) - 1,
        slopes.T @ (slopes * pool_weights[:, None]),
        (slopes / expected_root[:, None])[counts.places] * (n / part.weight.sum()),
    )


def _in_part(part: Part) -> bool:
    """Whether somebody left out one of several questions."""
    return part.design.space.answers > 1 and bool((part.codes == MISSING).any())


def _observed_scores(part: Part, proportions: Floats, basis: Floats) -> Scores:
    """The score from the answers that came; it counts them as the others do, with the variance that they show."""
    likelihood_rows, weight_scale = part.design.rows(part.codes), part.effective / part.weight.sum()
    answer_chances = likelihood_rows @ proportions
    score_ratios = likelihood_rows @ basis / np.where(part.weight > 0, answer_chances, 1.0)[:, None]
    scaled_counts, squared_weights = part.weight * weight_scale, part.weight_squared * weight_scale**2
    score_information = score_ratios.T @ (score_ratios * scaled_counts[:, None])
    score_covariance = score_ratios.T @ (score_ratios * squared_weights[:, None])
    return Scores(
        part.effective,
        np.nan,
        score_ratios.T @ scaled_counts,
        score_information,
        0,
        score_covariance,
        score_ratios * weight_scale,
    )


def misfit(samples: Sequence[Scores]) -> tuple[float, int]:
    """Pearson's X² for what one set of proportions cannot explain, and its degrees of freedom."""
    explained, rank = _explained_part(samples)
    return max(sum(sample.squares for sample in samples) - explained, 0.0), sum(
        sample.free for sample in samples
    ) - rank


def agreement(samples: Sequence[Scores]) -> tuple[float, int]:
    """The score statistic of separate proportions for each sample against common ones, and its degrees of freedom."""
    common_part, common_rank = _explained_part(samples)
    separate_parts = [_explained_part([sample]) for sample in samples]
    return max(sum(value for value, _ in separate_parts) - common_part, 0.0), sum(
        rank for _, rank in separate_parts
    ) - common_rank


def together(samples: Sequence[Scores]) -> Scores:
    """The scores of several samples, such as the levels of one group, as those of one."""
    *added_fields, answer_scores = zip(*samples, strict=True)
    return Scores._make([*(np.sum(values, axis=0) for values in added_fields), np.vstack(answer_scores)])


def rao_scott(
    samples: Sequence[Scores], worth: float, covariance: Callable[[Floats], Floats] | None = None
) -> Agreement:
    """The statistic of `agreement`, with its law where the covariance of the scores is not their information.

    The statistic sᵀMs is a sum of χ² variates, weighted by the eigenvalues of M Cov(s). Its reference is the F with the
    same mean and variance (Rao & Scott 1984, second order), and with the degrees of freedom of the sample.

    Parameters
    ----------
    worth : float
        The degrees of freedom of the sample.
    covariance : callable, optional
        The covariance of the weighted total of values of the distinct answers of all samples, as the people behind them
        were drawn; None if independently of each other.
    """
    statistic, df = agreement(samples)
    if not df:
        return Agreement(statistic, 0, math.nan, ALIKE)
    sample_inverses = [np.linalg.pinv(sample.information, rcond=1e-11, hermitian=True) for sample in samples]
    informations = [sample.information for sample in samples]
    common_inverse = np.linalg.pinv(np.sum(informations, axis=0), rcond=1e-11, hermitian=True)
    if covariance is None:  # by blocks: M is the block diagonal of the samples' I⁻, minus the common I⁻ everywhere
        separate_products = [
            sample_inverse @ sample.covariance for sample_inverse, sample in zip(sample_inverses, samples, strict=True)
        ]
        common_products = [common_inverse @ sample.covariance for sample in samples]
        total_product = np.sum(common_products, axis=0)
        product_pairs = list(zip(separate_products, common_products, strict=True))
        mean = float(sum(np.trace(a - b) for a, b in product_pairs))
        square = float(
            sum(np.trace(a @ a - 2 * a @ b) for a, b in product_pairs) + np.trace(total_product @ total_product)
        )
    else:
        quadratic_form = scipy.linalg.block_diag(*sample_inverses) - np.tile(
            common_inverse, (len(samples), len(samples))
        )
        answer_scores = [sample.items for sample in samples]
        residual_scores = scipy.linalg.block_diag(*answer_scores) - np.vstack(answer_scores) @ (
            common_inverse @ np.hstack(informations)
        )
        effects = quadratic_form @ covariance(residual_scores)
        mean, square = float(np.trace(effects)), float((effects * effects.T).sum())
    return Agreement(statistic, df, *second_order(statistic, mean, square, worth))


def second_order(statistic: float, mean: float, square: float, worth: float) -> tuple[float, str]:
    """The p-value of a quadratic form sᵀMs, and its law, from tr(M Cov s) and tr((M Cov s)²).

    Where s does not vary, p is NaN, and in place of a law stands the reason.
    """
    if min(mean, square, worth) <= 0:
        return math.nan, ALIKE
    first_df = mean**2 / square
    second_df = first_df * worth
    return float(
        scipy.stats.f.sf(statistic / mean, first_df, second_df)
    ), f"Rao–Scott F({first_df:.3g}, {second_df:.3g})"


def _explained_part(samples: Sequence[Scores]) -> tuple[float, int]:
    """sᵀI⁻s of the samples together, and the rank of I."""
    eigenvalues, eigenvectors = np.linalg.eigh(np.sum([sample.information for sample in samples], axis=0))
    is_determined = eigenvalues > 1e-11 * max(eigenvalues.max(), sum(sample.n for sample in samples))
    projected_score = eigenvectors[:, is_determined].T @ np.sum([sample.score for sample in samples], axis=0)
    return float(projected_score**2 @ (1 / eigenvalues[is_determined])), int(is_determined.sum())


def plenty(part: Part) -> bool:
    """Whether a sample has enough answers for the likelihood ratio to follow χ² inside the simplex."""
    return part.n >= _MANY * min(part.design.space.size, 4 * len(part.design.categories))


@dataclass(frozen=True)
class GoodnessOfFit:
    """A test of the answers against those that the design expects.

    A small p-value says that the protocol was not followed, or that an assumption of the design fails. A large p-value
    is no evidence that both hold.

    Parameters
    ----------
    pearson : float
        X² = Σ (N - E)²/E, where E is expected at the most likely proportions: those that are printed.
    deviance : float
        G² = 2 Σ N log(N/E).
    degrees_of_freedom : int
        The number of response probabilities that the design leaves free, minus the number of estimated ones.
    p_value, deviance_p_value : float
        The p-values of `least` and of G², by χ²; that of G² is NaN where an estimate is 0.
    reference : str
        The distribution of `least`, and how many rare responses were pooled for it.
    least : float
        The X² of the proportions that make it least, by the weights 1/E. They may be negative, so that the test keeps
        its size where an estimate is 0. Elsewhere it is X² itself.
    """

    pearson: float
    deviance: float
    degrees_of_freedom: int
    p_value: float
    deviance_p_value: float
    reference: str = "χ²"
    least: float = math.nan

    def __str__(self) -> str:
        p_text = "< 0.001" if self.p_value < 0.001 else f"= {self.p_value:.3f}"
        reference_text = "" if self.reference == "χ²" else f" ({self.reference})"
        test_text = f"p of X² {p_text}{reference_text}"
        if f"{self.pearson:.2f}" != f"{self.least:.2f}":
            test_text = f"p {p_text}{reference_text} of the least X² ({self.least:.2f}, at shares outside [0, 1])"
        return (
            f"fit: Pearson X² = {self.pearson:.2f}, deviance G² = {self.deviance:.2f} on {self.degrees_of_freedom} df, "
            f"{test_text}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The test as a JSON object."""
        return {**asdict(self), "deviance_p_value": number(self.deviance_p_value)}


def goodness_of_fit(design: Answerable, tally: Tally, *, maximum: Maximum | None = None) -> GoodnessOfFit | None:
    """Pearson's test and the deviance of a design that expects more of the answers than it estimates.

    For the extended crosswise model it is the test of λ₁ + λ₂ = 1. It cannot detect people who answer at random.

    Parameters
    ----------
    design : Design or Samples
        For an offer of levels see `independence_test`.
    tally : Tally
    maximum : Maximum, optional
        Where the likelihood of these answers has its maximum, if that is known.

    Returns
    -------
    GoodnessOfFit or None
        None where nothing can be tested: as many free response probabilities as proportions, survey weights, more
        responses than can be listed, people who left out one of several questions, or levels.

    Raises
    ------
    DataError
        If the tally was collected under another design.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.extended_crosswise(prevalence=0.2)
    >>> tally = survey.tally(["same", "different"] * 2, sample=[1, 1, 2, 2], count=[190, 310, 290, 210])
    >>> print(estimate.goodness_of_fit(survey, tally))
    fit: Pearson X² = 1.67, deviance G² = 1.67 on 1 df, p of X² = 0.197
    """
    answered_under(design, tally)
    answered_parts = [part for part in tally.parts if part.n]
    if design.offer.assigned_by == "respondent" or tally.weighted:
        return None
    if any(part.design.space.size > LISTED or _in_part(part) for part in answered_parts):
        return None
    if tally.free < len(design.categories):
        return None  # nothing is left to test; the fit below would take long with many proportions
    if maximum is None or maximum.tolerance != TOLERANCE:  # a coarser maximum is not good enough, a finer one another
        maximum = maximize(*evidence(tally)[:2])
    proportions = maximum.proportions
    basis = tangent(len(proportions))
    part_counts = [pooled_counts(part, proportions) for part in answered_parts]
    sample_scores = [
        _listed_scores(part, counts, basis) for part, counts in zip(answered_parts, part_counts, strict=True)
    ]
    least, df = misfit(sample_scores)
    if df <= 0:
        return None
    pearson = sum(sample.squares for sample in sample_scores) if proportions.min() <= 1e-9 else least
    observed_counts, expected_counts = (
        np.concatenate(count_arrays)
        for count_arrays in ([c.observed for c in part_counts], [c.expected for c in part_counts])
    )
    log_ratios = np.log(
        observed_counts / expected_counts, out=np.zeros_like(observed_counts), where=observed_counts > 0
    )
    deviance = max(2 * float(observed_counts @ log_ratios), 0.0)
    of_deviance = float(scipy.stats.chi2.sf(deviance, df)) if proportions.min() > 1e-9 else math.nan
    rare_count = sum(counts.pooled for counts in part_counts)
    law_text = f"χ², {rare_count} rare responses pooled" if rare_count else "χ²"
    return GoodnessOfFit(pearson, deviance, df, float(scipy.stats.chi2.sf(least, df)), of_deviance, law_text, least)


SEED = 2016
"""Seed of Monte Carlo parts if you give no generator, so that a printed number can be reproduced."""

_MOST = 400  # weighted answers are tested only up to so many proportions, summed over all levels
_ENOUGH = 20  # after so many exceedances a bootstrap p-value is settled (Besag & Clifford 1991)


@dataclass(frozen=True)
class IndependenceTest:
    """A test of whether the choice of level depends on the category.

    If the test does not reject, that is no evidence of independence. The test cannot see lies.

    Parameters
    ----------
    statistic : float
        It compares levels fitted apart with levels fitted together.
    degrees_of_freedom : int
        (levels with answers - 1)(t - 1), minus the contrasts that a level cannot tell apart by itself.
    p_value : float
        NaN where there is no test, such as with answers at fewer than two levels; `reference` then states the reason.
    reference : str
        The law that gives p: χ², F for weighted answers, or the parametric bootstrap with its number of replicates.
        The bootstrap stops early when enough replicates exceed the statistic to settle p.
    test : {"score", "LR"}
        The statistic: the score, or the likelihood ratio.
    floor : float
        The smallest p that the reference can give: 0 for χ², 1/(replicates + 1) for the bootstrap.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    reference: str
    test: str = "LR"
    floor: float = 0.0

    def __str__(self) -> str:
        if np.isnan(self.p_value):
            return f"independence of level and category: no test ({self.reference})"
        p_text = "< 0.001" if self.p_value < 0.001 else f"= {self.p_value:.3f}"
        if self.p_value <= self.floor:
            p_text = f"≤ {self.floor:.3g}"
        return (
            f"independence of level and category: {self.test} = {self.statistic:.2f} on {self.degrees_of_freedom} df, "
            f"p {p_text} ({self.reference})"
        )


_ONE_LEVEL = IndependenceTest(float("nan"), 0, float("nan"), "answers at one level only")
_TOO_LITTLE = IndependenceTest(float("nan"), 0, float("nan"), "the levels tell too little by themselves")


def independence_test(
    design: Answerable,
    tally: Tally,
    *,
    reference: str = "auto",
    replicates: int = 199,
    rng: np.random.Generator | None = None,
) -> IndependenceTest:
    """The test that the chosen level is independent of the true category.

    The score statistic is Σ_k s_kᵀI_k⁻s_k - sᵀI⁻s, with the levels' scores s_k and informations I_k at the pooled fit.
    It measures how much better each level's answers would be explained by proportions of its own. It follows χ²
    wherever the shares lie, also at zero. Where very few people answered at a level, it errs on the side of not
    rejecting.

    Parameters
    ----------
    design : Levels
    tally : Tally
        With survey weights, or from a complex sample, the law of the score is corrected (Rao & Scott 1984).
    reference : {"auto", "chi2", "bootstrap"}
        The statistic and its law. "auto": the score, by χ². The two others take the likelihood ratio
        2 (Σ_k ℓ_k(π̂_k) - ℓ(π̂)) of levels fitted apart against levels fitted together. "chi2" refers it to χ², which
        holds inside the simplex with many answers at each level. "bootstrap" refers it to the parametric bootstrap
        under the pooled fit.
    replicates : int
        The largest number of bootstrap samples; fewer are drawn when p is settled early.
    rng : numpy Generator, optional
        By default a generator with a fixed seed.

    Returns
    -------
    IndependenceTest
        Its p is NaN where answers came at fewer than two levels.

    Raises
    ------
    DataError
        If the design offers no levels, the tally was collected under another design, or `reference` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import designs, estimate
    >>> choice = designs.negative_levels(("a", "b", "c"))
    >>> truth, rng = np.repeat(["a", "b", "c"], [500, 300, 200]), np.random.default_rng(3)
    >>> hiding = np.where(truth == "c", 1, 2)  # members of c all choose the most private level
    >>> tally = choice.tally(choice.randomize(truth, level=hiding, rng=rng))
    >>> estimate.independence_test(choice, tally).p_value < 0.01
    True
    """
    check_levels(design)
    answered_under(design, tally)
    if reference not in ("auto", "chi2", "bootstrap"):
        raise DataError(f"reference must be 'auto', 'chi2' or 'bootstrap'; got {reference!r}")
    if reference == "auto":
        return score_test(tally)
    answered_parts = [part for part in tally.parts if part.n]
    part_ranks = [rank_of(part.design.expected_statistic) for part in answered_parts]
    df = sum(part_ranks) - rank_of(np.vstack([part.design.expected_statistic for part in answered_parts]))
    if len(answered_parts) < 2:
        return _ONE_LEVEL
    if tally.weighted:
        raise DataError(f"weighted answers have a score test only; leave reference={reference!r} out")
    statistic, pooled_proportions, at_boundary = _ratio(
        [(part.design.rows(part.codes), part.weight) for part in answered_parts]
    )
    if reference == "bootstrap":
        bootstrap_rng = np.random.default_rng(SEED) if rng is None else rng
        return _bootstrap_test(answered_parts, pooled_proportions, statistic, df, replicates, bootstrap_rng)
    is_trusted = not at_boundary and all(map(plenty, answered_parts))
    reference_text = "χ²" if is_trusted else "χ², doubtful here: a fit touches the boundary or a level is small"
    return IndependenceTest(statistic, df, float(scipy.stats.chi2.sf(statistic, df)), reference_text)


def score_test(tally: Tally, pooled: Floats | None = None) -> IndependenceTest:
    """The score test of a tally by level; `pooled` are the pooled proportions (t,), if they are known already."""
    if sum(part.n > 0 for part in tally.parts) < 2:
        return _ONE_LEVEL
    if pooled is None:
        likelihood_rows, weights, _ = evidence(tally)
        pooled = maximize(likelihood_rows, weights, tolerance=1e-4, polish=0).proportions
    level_parts = answering(tally)
    level_scores = scores(level_parts, pooled)
    if not tally.weighted:
        statistic, df = agreement(level_scores)
        return (
            IndependenceTest(statistic, df, float(scipy.stats.chi2.sf(statistic, df)), "χ²", "score")
            if df
            else _TOO_LITTLE
        )
    covariance, sample_df = None, tally.effective - 1
    if tally.complex is not None:
        if len(level_parts) * len(pooled) > _MOST:
            return IndependenceTest(float("nan"), 0, float("nan"), "too many levels for answers that are weighted")
        answered_sample = tally.complex.take(is_answering(tally))
        covariance, sample_df = answered_sample.covariance, tally.complex.degrees_of_freedom
    level_agreement = rao_scott(level_scores, sample_df, covariance)
    return IndependenceTest(*level_agreement, "score") if level_agreement.degrees_of_freedom else _TOO_LITTLE


def _ratio(evidence_by_level: list[tuple[Floats, Floats]]) -> tuple[float, Floats, bool]:
    """The likelihood ratio, the fit of all levels together, and whether any fit touches the boundary."""
    likelihood_rows = np.vstack([likelihood_rows for likelihood_rows, _ in evidence_by_level])
    weights = np.concatenate([weights for _, weights in evidence_by_level])
    pooled_maximum = maximize(likelihood_rows, weights, tolerance=1e-4, polish=0)
    level_maxima = [
        maximize(likelihood_rows, weights, tolerance=1e-4, polish=0) for likelihood_rows, weights in evidence_by_level
    ]
    likelihood_ratio = 2 * (sum(fit.log_likelihood for fit in level_maxima) - pooled_maximum.log_likelihood)
    at_boundary = any((fit.proportions <= 1e-9).any() for fit in (*level_maxima, pooled_maximum))
    return max(float(likelihood_ratio), 0.0), pooled_maximum.proportions, at_boundary


def _bootstrap_test(
    parts: list[Part], proportions: Floats, statistic: float, df: int, replicates: int, rng: np.random.Generator
) -> IndependenceTest:
    """The test by parametric bootstrap, stopped once enough replicates exceed the statistic."""
    exceedance_count = replicates_done = 0
    while replicates_done < replicates and exceedance_count < _ENOUGH:
        exceedance_count += _ratio([_redraw_level(part, proportions, rng) for part in parts])[0] >= statistic - 1e-9
        replicates_done += 1
    is_settled = exceedance_count >= _ENOUGH
    p_value = exceedance_count / replicates_done if is_settled else (exceedance_count + 1) / (replicates_done + 1)
    early_text = "stopped early after " if replicates_done < replicates else ""
    reference_text = f"parametric bootstrap, {early_text}{replicates_done} replicates"
    return IndependenceTest(statistic, df, p_value, reference_text, floor=1 / (replicates_done + 1))


def _redraw_level(part: Part, proportions: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Simulated evidence of a level whose people are drawn from the pooled proportions."""
    design: Any = part.design
    if design.space.size <= 5_000:  # all counts in one draw: the same law, and a seed gives the numbers printed before
        response_rows = design.matrix
        redrawn_counts = rng.multinomial(part.n, response_rows @ proportions / (response_rows @ proportions).sum())
        has_answers = redrawn_counts > 0
        return response_rows[has_answers], redrawn_counts[has_answers].astype(float)
    true_places = rng.choice(len(proportions), size=part.n, p=proportions / proportions.sum())
    redrawn_part = Part.of(
        design, design.draw(true_places, GeneratorSource(rng)), count=np.ones(part.n, dtype=np.int64)
    )
    return design.rows(redrawn_part.codes), redrawn_part.weight


def check_levels(design: Answerable) -> None:
    """Raise unless the design offers levels."""
    needed_text = "this needs an offer of levels, such as negative_levels()"
    check_design(design, needed_text=needed_text)
    if design.offer.assigned_by != "respondent":
        raise DataError(f"{needed_text}; got {design.name or design.kind}")
