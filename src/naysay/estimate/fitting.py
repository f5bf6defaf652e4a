"""Score tests: whether answers fit one set of proportions, and whether several samples share one.

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

from naysay.design import Answerable
from naysay.estimate.information import answered_under, evidence, maximize
from naysay.estimate.linear import Floats, tangent
from naysay.responses.spaces import MISSING
from naysay.show import number
from naysay.tally import Channel, Part, Tally
from naysay.tally.part import unique_codes

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
    possible = likelihood_rows.max(axis=1) > 0
    answer_places = _response_places(part)
    scale = part.effective / part.weight.sum()
    observed, squared = (
        np.bincount(answer_places, values, minlength=len(likelihood_rows))[possible]
        for values in (part.weight * scale, part.weight_squared * scale**2)
    )
    rows = likelihood_rows[possible]
    expected = part.effective * np.maximum(rows @ proportions, 0.0)
    order = np.argsort(expected, kind="stable")
    places = np.empty(len(order), dtype=np.intp)
    places[order] = _pools(expected[order])
    response_columns = np.column_stack([rows, observed, expected, squared])
    pooled = np.zeros((int(places.max()) + 1, response_columns.shape[1]))
    np.add.at(pooled, places, response_columns)
    rare = int((expected < _RARE).sum())
    answer_pools = places[(np.cumsum(possible) - 1)[answer_places]]
    return Counts(pooled[:, :-3], pooled[:, -3], pooled[:, -2], rare, pooled[:, -1], answer_pools)


def _response_places(part: Part) -> NDArray[np.intp]:
    """The place of each distinct answer among all responses, (distinct,)."""
    listing = part.design.space.listing()
    distinct, inverse = unique_codes(np.vstack([listing, part.codes]))
    place = np.empty(len(distinct), dtype=np.intp)
    place[inverse[: len(listing)]] = np.arange(len(listing))
    return place[inverse[len(listing) :]]


def _pools(expected: Floats) -> NDArray[np.intp]:
    """The pool of each response, (responses,), in ascending order. No pool expects too little, unless n is small."""
    places, pool, pool_total = [], 0, 0.0
    for expected_count in expected.tolist():
        places.append(pool)
        pool_total += expected_count
        if pool_total >= _RARE:
            pool, pool_total = pool + 1, 0.0
    return np.minimum(places, max(pool - 1, 0))  # the remainder joins the last pool


def scores(parts: Iterable[Part], proportions: Floats) -> list[Scores]:
    """The scores of several samples at the same proportions.

    They are those of the observed answers if responses cannot be listed, or if people left out one of several
    questions: their answers are none of the listed responses.
    """
    matrices: dict[int, tuple[Channel, Floats]] = {}  # holds the channel, too: else its id could be reused
    basis, sample_scores = tangent(len(proportions)), []
    for part in parts:
        design = part.design
        if design.space.size > LISTED or _in_part(part):
            sample_scores.append(_observed_scores(part, proportions, basis))
            continue
        if id(design) not in matrices:
            matrices[id(design)] = design, design.rows(design.space.listing())
        counts, n = pooled_counts(part, proportions, matrices[id(design)][1]), part.effective
        root = np.sqrt(counts.expected)
        residuals, moved = (counts.observed - counts.expected) / root, (n * counts.rows / root[:, None]) @ basis
        heavy = (counts.squared + _SHRUNK) / (
            counts.observed + _SHRUNK
        )  # a pool's mean weight, each answer weighed by its own
        spread, information = moved.T @ (moved * heavy[:, None]), moved.T @ moved
        items = (moved / root[:, None])[counts.places] * (n / part.weight.sum())
        squares, score = float(residuals @ residuals), moved.T @ residuals
        sample_scores.append(Scores(n, squares, score, information, len(counts.rows) - 1, spread, items))
    return sample_scores


def _in_part(part: Part) -> bool:
    """Whether somebody left out one of several questions."""
    return part.design.space.answers > 1 and bool((part.codes == MISSING).any())


def _observed_scores(part: Part, proportions: Floats, basis: Floats) -> Scores:
    """The score from the answers that came; it counts them as the others do, with the variance that they show."""
    rows, scale = part.design.rows(part.codes), part.effective / part.weight.sum()
    likely = rows @ proportions
    ratios = rows @ basis / np.where(part.weight > 0, likely, 1.0)[:, None]
    count, squared = part.weight * scale, part.weight_squared * scale**2
    curved, spread = ratios.T @ (ratios * count[:, None]), ratios.T @ (ratios * squared[:, None])
    return Scores(part.effective, np.nan, ratios.T @ count, curved, 0, spread, ratios * scale)


def misfit(samples: Sequence[Scores]) -> tuple[float, int]:
    """Pearson's X² for what one set of proportions cannot explain, and its degrees of freedom."""
    explained, rank = _explained_part(samples)
    return max(sum(sample.squares for sample in samples) - explained, 0.0), sum(
        sample.free for sample in samples
    ) - rank


def agreement(samples: Sequence[Scores]) -> tuple[float, int]:
    """The score statistic of separate proportions for each sample against common ones, and its degrees of freedom."""
    common, shared = _explained_part(samples)
    separate_parts = [_explained_part([sample]) for sample in samples]
    return max(sum(value for value, _ in separate_parts) - common, 0.0), sum(
        rank for _, rank in separate_parts
    ) - shared


def together(samples: Sequence[Scores]) -> Scores:
    """The scores of several samples, such as the levels of one group, as those of one."""
    columns: dict[str, Any] = {name: [getattr(sample, name) for sample in samples] for name in Scores._fields}
    items = np.vstack(columns.pop("items"))
    return Scores(**{name: np.sum(values, axis=0) for name, values in columns.items()}, items=items)


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
    inverses = [np.linalg.pinv(sample.information, rcond=1e-11, hermitian=True) for sample in samples]
    informations = [sample.information for sample in samples]
    common = np.linalg.pinv(np.sum(informations, axis=0), rcond=1e-11, hermitian=True)
    if covariance is None:  # by blocks: M is the block diagonal of the samples' I⁻, minus the common I⁻ everywhere
        apart = [form @ sample.covariance for form, sample in zip(inverses, samples, strict=True)]
        shared = [common @ sample.covariance for sample in samples]
        total = np.sum(shared, axis=0)
        pairs = list(zip(apart, shared, strict=True))
        mean = float(sum(np.trace(a - b) for a, b in pairs))
        square = float(sum(np.trace(a @ a - 2 * a @ b) for a, b in pairs) + np.trace(total @ total))
    else:
        form = scipy.linalg.block_diag(*inverses) - np.tile(common, (len(samples), len(samples)))
        items = [sample.items for sample in samples]
        alone = scipy.linalg.block_diag(*items) - np.vstack(items) @ (common @ np.hstack(informations))
        effects = form @ covariance(alone)
        mean, square = float(np.trace(effects)), float((effects * effects.T).sum())
    return Agreement(statistic, df, *second_order(statistic, mean, square, worth))


def second_order(statistic: float, mean: float, square: float, worth: float) -> tuple[float, str]:
    """The p-value of a quadratic form sᵀMs, and its law, from tr(M Cov s) and tr((M Cov s)²).

    Where s does not vary, p is NaN, and in place of a law stands the reason.
    """
    if min(mean, square, worth) <= 0:
        return math.nan, ALIKE
    first = mean**2 / square
    second = first * worth
    return float(scipy.stats.f.sf(statistic / mean, first, second)), f"Rao–Scott F({first:.3g}, {second:.3g})"


def _explained_part(samples: Sequence[Scores]) -> tuple[float, int]:
    """sᵀI⁻s of the samples together, and the rank of I."""
    values, vectors = np.linalg.eigh(np.sum([sample.information for sample in samples], axis=0))
    is_determined = values > 1e-11 * max(values.max(), sum(sample.n for sample in samples))
    along = vectors[:, is_determined].T @ np.sum([sample.score for sample in samples], axis=0)
    return float(along**2 @ (1 / values[is_determined])), int(is_determined.sum())


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
        value = "< 0.001" if self.p_value < 0.001 else f"= {self.p_value:.3f}"
        pooled = "" if self.reference == "χ²" else f" ({self.reference})"
        tested = f"p of X² {value}{pooled}"
        if f"{self.pearson:.2f}" != f"{self.least:.2f}":
            tested = f"p {value}{pooled} of the least X² ({self.least:.2f}, at shares outside [0, 1])"
        return (
            f"fit: Pearson X² = {self.pearson:.2f}, deviance G² = {self.deviance:.2f} on {self.degrees_of_freedom} df, "
            f"{tested}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The test as a JSON object."""
        return {**asdict(self), "deviance_p_value": number(self.deviance_p_value)}


def goodness_of_fit(design: Answerable, tally: Tally) -> GoodnessOfFit | None:
    """Pearson's test and the deviance of a design that expects more of the answers than it estimates.

    For the extended crosswise model it is the test of λ₁ + λ₂ = 1. It cannot detect people who answer at random.

    Parameters
    ----------
    design : Design or Samples
        For an offer of levels see `independence_test`.
    tally : Tally

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
    parts = [part for part in tally.parts if part.n]
    if design.assigned_by == "respondent" or tally.weighted:
        return None
    if any(part.design.space.size > LISTED or _in_part(part) for part in parts):
        return None
    if tally.free < len(design.categories):
        return None  # nothing is left to test; the fit below would take long with many proportions
    rows, weights, _ = evidence(tally)
    proportions = maximize(rows, weights).proportions
    sample_scores = scores(parts, proportions)
    least, df = misfit(sample_scores)
    if df <= 0:
        return None
    pearson = sum(sample.squares for sample in sample_scores) if proportions.min() <= 1e-9 else least
    part_counts = [pooled_counts(part, proportions) for part in parts]
    observed, expected = (
        np.concatenate(count_arrays)
        for count_arrays in ([c.observed for c in part_counts], [c.expected for c in part_counts])
    )
    logs = np.log(observed / expected, out=np.zeros_like(observed), where=observed > 0)
    deviance = max(2 * float(observed @ logs), 0.0)
    of_deviance = float(scipy.stats.chi2.sf(deviance, df)) if proportions.min() > 1e-9 else math.nan
    rare = sum(counts.pooled for counts in part_counts)
    law = f"χ², {rare} rare responses pooled" if rare else "χ²"
    return GoodnessOfFit(pearson, deviance, df, float(scipy.stats.chi2.sf(least, df)), of_deviance, law, least)
