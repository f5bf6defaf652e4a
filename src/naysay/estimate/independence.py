"""Tests of whether the level that people choose depends on their category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from naysay.design import Answerable
from naysay.design.base import check_design
from naysay.design.drawing import GeneratorSource
from naysay.errors import DataError
from naysay.estimate import fitting
from naysay.estimate.information import answered_under, evidence, maximize
from naysay.estimate.linear import Floats, rank_of
from naysay.tally import Part, Tally

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
        value = "< 0.001" if self.p_value < 0.001 else f"= {self.p_value:.3f}"
        if self.p_value <= self.floor:
            value = f"≤ {self.floor:.3g}"
        return (
            f"independence of level and category: {self.test} = {self.statistic:.2f} on {self.degrees_of_freedom} df, "
            f"p {value} ({self.reference})"
        )


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
    parts = [part for part in tally.parts if part.n]
    ranks = [rank_of(part.design.expected_statistic) for part in parts]
    df = sum(ranks) - rank_of(np.vstack([part.design.expected_statistic for part in parts]))
    untested = _no_test_result(tally, df)
    if untested is not None:
        return untested
    if tally.weighted:
        raise DataError(f"weighted answers have a score test only; leave reference={reference!r} out")
    statistic, together, at_boundary = _ratio([(part.design.rows(part.codes), part.weight) for part in parts])
    if reference == "bootstrap":
        source = np.random.default_rng(SEED) if rng is None else rng
        return _bootstrap_test(parts, together, statistic, df, replicates, source)
    trusted = not at_boundary and all(map(fitting.plenty, parts))
    name = "χ²" if trusted else "χ², doubtful here: a fit touches the boundary or a level is small"
    return IndependenceTest(statistic, df, float(scipy.stats.chi2.sf(statistic, df)), name)


def score_test(tally: Tally, pooled: Floats | None = None) -> IndependenceTest:
    """The score test of a tally by level; `pooled` are the pooled proportions (t,), if they are known already."""
    untested = _no_test_result(tally, 0)
    if untested is not None:
        return untested
    if pooled is None:
        rows, weights, _ = evidence(tally)
        pooled = maximize(rows, weights, tolerance=1e-4, polish=0).proportions
    levels = [part for part in tally.parts if part.weight.sum() > 0]
    scores = fitting.scores(levels, pooled)
    if not tally.weighted:
        statistic, df = fitting.agreement(scores)
        return (
            IndependenceTest(statistic, df, float(scipy.stats.chi2.sf(statistic, df)), "χ²", "score")
            if df
            else _TOO_LITTLE
        )
    covariance, worth = None, tally.effective - 1
    if tally.complex is not None:
        if len(levels) * len(pooled) > _MOST:
            return IndependenceTest(float("nan"), 0, float("nan"), "too many levels for answers that are weighted")
        answered = np.concatenate([np.full(len(part.codes), part.weight.sum() > 0) for part in tally.parts])
        covariance, worth = tally.complex.take(answered).covariance, tally.complex.degrees_of_freedom
    agreement = fitting.rao_scott(scores, worth, covariance)
    return IndependenceTest(*agreement, "score") if agreement.degrees_of_freedom else _TOO_LITTLE


def _no_test_result(tally: Tally, df: int) -> IndependenceTest | None:
    """The result that states why a tally cannot be tested; None where it can."""
    if sum(part.n > 0 for part in tally.parts) < 2:
        return IndependenceTest(float("nan"), 0, float("nan"), "answers at one level only")
    return None


def _ratio(evidence_by_level: list[tuple[Floats, Floats]]) -> tuple[float, Floats, bool]:
    """The likelihood ratio, the fit of all levels together, and whether any fit touches the boundary."""
    rows = np.vstack([rows for rows, _ in evidence_by_level])
    weights = np.concatenate([weights for _, weights in evidence_by_level])
    together = maximize(rows, weights, tolerance=1e-4, polish=0)
    apart = [maximize(rows, weights, tolerance=1e-4, polish=0) for rows, weights in evidence_by_level]
    ratio = 2 * (sum(fit.log_likelihood for fit in apart) - together.log_likelihood)
    boundary = any((fit.proportions <= 1e-9).any() for fit in (*apart, together))
    return max(float(ratio), 0.0), together.proportions, boundary


def _bootstrap_test(
    parts: list[Part], proportions: Floats, statistic: float, df: int, replicates: int, rng: np.random.Generator
) -> IndependenceTest:
    """The test by parametric bootstrap, stopped once enough replicates exceed the statistic."""
    exceeded = replicates_done = 0
    while replicates_done < replicates and exceeded < _ENOUGH:
        exceeded += _ratio([_redraw_level(part, proportions, rng) for part in parts])[0] >= statistic - 1e-9
        replicates_done += 1
    settled = exceeded >= _ENOUGH
    p_value = exceeded / replicates_done if settled else (exceeded + 1) / (replicates_done + 1)
    early = "stopped early after " if replicates_done < replicates else ""
    name = f"parametric bootstrap, {early}{replicates_done} replicates"
    return IndependenceTest(statistic, df, p_value, name, floor=1 / (replicates_done + 1))


def _redraw_level(part: Part, proportions: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Simulated evidence of a level whose people are drawn from the pooled proportions."""
    design: Any = part.design
    if design.space.size <= 5_000:  # all counts in one draw: the same law, and a seed gives the numbers printed before
        rows = design.matrix
        counts = rng.multinomial(part.n, rows @ proportions / (rows @ proportions).sum())
        has_answers = counts > 0
        return rows[has_answers], counts[has_answers].astype(float)
    truth = rng.choice(len(proportions), size=part.n, p=proportions / proportions.sum())
    redrawn_part = Part.of(design, design.draw(truth, GeneratorSource(rng)), count=np.ones(part.n, dtype=np.int64))
    return design.rows(redrawn_part.codes), redrawn_part.weight


def check_levels(design: Answerable) -> None:
    """Raise unless the design offers levels."""
    needed = "this needs an offer of levels, such as negative_levels()"
    check_design(design, needed_text=needed)
    if design.assigned_by != "respondent":
        raise DataError(f"{needed}; got {design.name or design.kind}")
