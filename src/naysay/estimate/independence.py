"""Whether the level that people choose goes with their category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.design import Answerable, Levels
from naysay.design.drawing import GeneratorSource
from naysay.errors import DataError
from naysay.estimate.linear import rank_of
from naysay.estimate.result import answered_under
from naysay.estimate.solver import maximize
from naysay.tally import Part, Tally

__all__ = ["IndependenceTest", "check_levels", "independence_test"]

Floats = NDArray[np.float64]

SEED = 2016
"""Seed of Monte Carlo parts for which no generator is given, so that a printed number can be printed again."""

_SMALL = 5  # expected answers per response category below which the χ² reference is not trusted
_AFFORDABLE = 1e8  # distinct answers × categories × replicates that "auto" spends on a bootstrap
_ENOUGH = 20  # exceedances after which a bootstrap p-value is settled (Besag & Clifford 1991)


@dataclass(frozen=True)
class IndependenceTest:
    """A test of whether the choice of level goes with the category.

    Not rejecting is no evidence of independence, and lying is invisible to it.

    Parameters
    ----------
    statistic : float
        Likelihood ratio: levels apart against levels together.
    degrees_of_freedom : int
        (levels answered at - 1)(t - 1), less what a level cannot tell apart by itself.
    p_value : float
        NaN when fewer than two levels were answered at.
    reference : str
        χ², or the parametric bootstrap with its replicates: fewer where enough exceeded to settle p.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    reference: str

    def __str__(self) -> str:
        if np.isnan(self.p_value):
            return f"independence of level and category: no test ({self.reference})"
        value = "< 0.001" if self.p_value < 0.001 else f"= {self.p_value:.3f}"
        return (
            f"independence of level and category: LR = {self.statistic:.2f} on {self.degrees_of_freedom} df, "
            f"p {value} ({self.reference})"
        )


def independence_test(
    design: Answerable,
    tally: Tally,
    *,
    reference: str = "auto",
    replicates: int = 199,
    rng: np.random.Generator | None = None,
) -> IndependenceTest:
    """The likelihood-ratio test that the chosen level is independent of the true category.

    LR = 2 (Σ_k ℓ_k(π̂_k) - ℓ(π̂)), levels fitted apart against together. The χ² reference holds inside the simplex with
    many answers at each level; otherwise p comes from the parametric bootstrap under the pooled fit.

    Parameters
    ----------
    design : Levels
    tally : Tally
        Without survey weights.
    reference : {"auto", "chi2", "bootstrap"}
    replicates : int
        At most so many bootstrap samples; fewer when p is settled early.
    rng : numpy Generator, optional
        By default one with a fixed seed.

    Returns
    -------
    IndependenceTest
        With p NaN where fewer than two levels were answered at, or there are survey weights.

    Raises
    ------
    DataError
        If the design is no offer of levels, the tally was collected under another one, or there is no such reference.

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
    parts = [part for part in tally.parts if part.n]
    t = len(design.categories)
    ranks = [rank_of(part.design.expected_statistic) for part in parts]
    df = sum(ranks) - rank_of(np.vstack([part.design.expected_statistic for part in parts]))
    if len(parts) < 2:
        return IndependenceTest(float("nan"), 0, float("nan"), "answers at one level only")
    if tally.weighted:
        return IndependenceTest(float("nan"), df, float("nan"), "survey weights make the ratio no likelihood ratio")
    statistic, together, at_boundary = _ratio([(part.design.rows(part.codes), part.weight) for part in parts])
    small = any(part.n < _SMALL * min(part.design.space.size, 4 * t) for part in parts)
    work = sum(len(part.codes) for part in parts) * t * replicates
    trusted = not at_boundary and not small
    if reference == "chi2" or (reference == "auto" and (trusted or work > _AFFORDABLE)):
        name = "χ²" if trusted else "χ², doubtful here: a fit touches the boundary or a level is small"
        return IndependenceTest(statistic, df, float(scipy.stats.chi2.sf(statistic, df)), name)
    source = np.random.default_rng(SEED) if rng is None else rng
    p_value, drawn = _bootstrap_p(parts, together, statistic, replicates, source)
    ended = "stopped early after " if drawn < replicates else ""
    return IndependenceTest(statistic, df, p_value, f"parametric bootstrap, {ended}{drawn} replicates")


def _ratio(evidence_by_level: list[tuple[Floats, Floats]]) -> tuple[float, Floats, bool]:
    """The likelihood ratio, the fit of all levels together, and whether any fit touches the boundary."""
    rows = np.vstack([rows for rows, _ in evidence_by_level])
    weights = np.concatenate([weights for _, weights in evidence_by_level])
    together = maximize(rows, weights, tolerance=1e-4, polish=0)
    apart = [maximize(rows, weights, tolerance=1e-4, polish=0) for rows, weights in evidence_by_level]
    ratio = 2 * (sum(fit.log_likelihood for fit in apart) - together.log_likelihood)
    boundary = any((fit.proportions <= 1e-9).any() for fit in (*apart, together))
    return max(float(ratio), 0.0), together.proportions, boundary


def _bootstrap_p(
    parts: list[Part], proportions: Floats, statistic: float, replicates: int, rng: np.random.Generator
) -> tuple[float, int]:
    """The p-value by parametric bootstrap, stopped once enough replicates exceed the statistic."""
    exceeded = drawn = 0
    for drawn in range(1, replicates + 1):
        redrawn = [_redrawn(part, proportions, rng) for part in parts]
        exceeded += _ratio(redrawn)[0] >= statistic - 1e-9
        if exceeded >= _ENOUGH:
            return exceeded / drawn, drawn
    return (exceeded + 1) / (drawn + 1), drawn


def _redrawn(part: Part, proportions: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Evidence of a level as it would be if its people were drawn from the pooled proportions."""
    design: Any = part.design
    if design.space.size <= 5_000:
        rows = design.matrix
        counts = rng.multinomial(part.n, rows @ proportions / (rows @ proportions).sum())
        seen = counts > 0
        return rows[seen], counts[seen].astype(float)
    truth = rng.choice(len(proportions), size=part.n, p=proportions / proportions.sum())
    again = Part.of(design, design.draw(truth, GeneratorSource(rng)), count=np.ones(part.n, dtype=np.int64))
    return design.rows(again.codes), again.weight


def check_levels(design: Answerable) -> None:
    """Raise unless the design is an offer of levels."""
    if not isinstance(design, Levels):
        raise DataError(f"this needs an offer of levels, as negative_levels(); got {getattr(design, 'name', design)!s}")
