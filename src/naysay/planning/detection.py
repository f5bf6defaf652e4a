"""Which categories exist at all: the least share that stands out of the noise, before a survey and after it."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Design
from naysay.errors import DataError
from naysay.estimate.result import Estimate
from naysay.planning.variance import respondents

__all__ = ["detectable", "standing_out"]


def detectable(design: Design, *, n: float, confidence: float = 0.95) -> float:
    """The least estimated share that shows that a category exists: z_{1-α/t} √(q*(1 - q*)/n) / (p* - q*).

    If nobody has a category, its estimate exceeds this with a chance of at most α/t. So with a chance of at least 1 - α
    no category out of all t appears by noise alone.

    Parameters
    ----------
    design : Design
        A design with a finite ε for any number of categories: k-ary, subset selection, affine or unary.
    n : int
        Respondents who answer.
    confidence : float
        1 - α, for all categories together.

    Raises
    ------
    DataError
        Another design; fewer than one respondent.

    Examples
    --------
    >>> from naysay import designs
    >>> [round(detectable(designs.frequency(1024, epsilon=1), n=n), 4) for n in (10_000, 1_000_000)]
    [0.0756, 0.0076]
    """
    known = getattr(design, "even_mean", None)
    if known is None or not (known[0] > 0 and 0 < known[1] < 1):
        raise DataError("a least share is known for k_ary, subset_selection, affine and unary designs with a finite ε")
    alpha, q = known
    tail = (1 - _checks.confidence(confidence)) / max(len(design.categories), 1)
    return float(-scipy.special.ndtri(tail) * np.sqrt(q * (1 - q) / respondents(n)) / alpha)


def standing_out(fit: Estimate, *, confidence: float = 0.95) -> NDArray[np.bool_]:
    """Which categories exist for sure, (t,): their estimates exceed the least share that stands out of the noise.

    Parameters
    ----------
    fit : Estimate
        Unbiased, such as from `estimate.moments`.
    confidence : float
        For all categories together.

    Raises
    ------
    DataError
        A likelihood estimate, or a design without such a least share.

    Examples
    --------
    >>> import numpy as np
    >>> from naysay import designs, estimate
    >>> survey, rng = designs.frequency(1024, epsilon=2), np.random.default_rng(4)
    >>> said = survey.randomize(np.resize([3, 7, 7, 7], 20_000), rng=rng)
    >>> np.flatnonzero(standing_out(estimate.moments(survey, survey.tally(said))))
    array([3, 7])
    """
    if fit.maximum is not None:
        raise DataError("a likelihood estimate is never below 0, so that noise moves it up; use estimate.moments")
    least = detectable(fit.design.channel(), n=fit.tally.effective, confidence=confidence)
    return np.asarray(fit.proportions > least)
