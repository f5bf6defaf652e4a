"""Whether the answers look as the design says that they must."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy

from naysay.design import Answerable
from naysay.estimate import score_tests
from naysay.estimate.information import answered_under, evidence, maximize
from naysay.printing import number
from naysay.tally import Tally

__all__ = ["GoodnessOfFit", "goodness_of_fit"]


@dataclass(frozen=True)
class GoodnessOfFit:
    """Answers against those that the design expects.

    A small p-value says that the protocol was not followed, or that an assumption of the design fails; a large one is
    no evidence that they hold.

    Parameters
    ----------
    pearson : float
        X² = Σ (N - E)²/E₀, with E₀ expected at the most likely proportions and E at those that make X² least. These
        may be negative, so that the test keeps its size where an estimate is 0; elsewhere E = E₀.
    deviance : float
        G² = 2 Σ N log(N/E₀).
    degrees_of_freedom : int
        Response probabilities that the design leaves free, less those that are estimated.
    p_value, deviance_p_value : float
        Of X² and G², by χ²; G² has none (NaN) where an estimate is 0.
    reference : str
        The law of X², and how many rare responses were pooled for it.
    """

    pearson: float
    deviance: float
    degrees_of_freedom: int
    p_value: float
    deviance_p_value: float
    reference: str = "χ²"

    def __str__(self) -> str:
        value = "< 0.001" if self.p_value < 0.001 else f"= {self.p_value:.3f}"
        pooled = "" if self.reference == "χ²" else f" ({self.reference})"
        return (
            f"fit: Pearson X² = {self.pearson:.2f}, deviance G² = {self.deviance:.2f} on {self.degrees_of_freedom} df, "
            f"p {value}{pooled}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The test as a JSON object."""
        return {**asdict(self), "deviance_p_value": number(self.deviance_p_value)}


def goodness_of_fit(design: Answerable, tally: Tally) -> GoodnessOfFit | None:
    """Pearson's test and the deviance of a design that expects more of the answers than it estimates.

    For the extended crosswise model it is the test of λ₁ + λ₂ = 1, blind to people who answer at random.

    Parameters
    ----------
    design : Design or Samples
        For an offer of levels see `independence_test`.
    tally : Tally

    Returns
    -------
    GoodnessOfFit or None
        None where nothing can be tested: as many free response probabilities as proportions, survey weights, more
        responses than can be listed, or levels.

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
    fit: Pearson X² = 1.67, deviance G² = 1.67 on 1 df, p = 0.197
    """
    answered_under(design, tally)
    parts = [part for part in tally.parts if part.n]
    if (
        design.assigned_by == "respondent"
        or tally.weighted
        or any(part.design.space.size > score_tests.LISTED for part in parts)
    ):
        return None
    if sum(part.design.space.size - 1 for part in parts) < len(design.categories):
        return None  # as many proportions as answers tell, and a long search for them where there are many
    rows, weights, _ = evidence(tally)
    proportions = maximize(rows, weights).proportions
    pearson, df = score_tests.misfit(score_tests.scores(parts, proportions))
    if df <= 0:
        return None
    compared = [score_tests.counted(part, proportions) for part in parts]
    observed, expected = (
        np.concatenate(each) for each in ([c.observed for c in compared], [c.expected for c in compared])
    )
    logs = np.log(observed / expected, out=np.zeros_like(observed), where=observed > 0)
    deviance = max(2 * float(observed @ logs), 0.0)
    of_deviance = float(scipy.stats.chi2.sf(deviance, df)) if proportions.min() > 1e-9 else math.nan
    rare = sum(each.pooled for each in compared)
    law = f"χ², {rare} rare responses pooled" if rare else "χ²"
    return GoodnessOfFit(pearson, deviance, df, float(scipy.stats.chi2.sf(pearson, df)), of_deviance, law)
