"""What the estimate would be if an assumption failed: non-compliance, another probability than the one stated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from naysay.design import Answerable, Design, Samples
from naysay.errors import DataError
from naysay.estimate.linear import linear_map
from naysay.estimate.result import Estimate
from naysay.estimate.samples import shares_of_means
from naysay.responses import Labels
from naysay.tally import Channel, Part

__all__ = ["has_noncompliance_band", "noncompliance_band", "probability_band"]

Floats = NDArray[np.float64]


def has_noncompliance_band(design: Answerable) -> bool:
    """Whether non-compliance is a question for a design of two categories that randomizes, and does not measure it."""
    if len(design.categories) != 2 or (isinstance(design, Samples) and design.measures_compliance):
        return False
    if not isinstance(design, Design | Samples):
        return False
    return all(_asked(design.channel(name)) for name in design.levels)


def _asked(design: Design) -> bool:
    """Whether a design reports labels, by chance."""
    return isinstance(design.space, Labels) and bool((design.matrix.max(axis=0) < 1).any())


def noncompliance_band(fit: Estimate, *, share: float = 0.1) -> Floats:
    """The range of each estimate, (t, 2), if up to a share of the respondents did not comply with the protocol.

    Non-compliers either always give the answer that speaks least for the first, sensitive category, or answer at
    random. With a share δ of them λ = (1 - δ)Pπ + δq, so that the estimate is taken at (λ̂ - δq)/(1 - δ). Sampling error
    is not in the band.

    Parameters
    ----------
    fit : Estimate
        Of a design that reports labels.
    share : float
        δ at most, in [0, 1).

    Returns
    -------
    (t, 2) float
        Within [0, 1].

    Raises
    ------
    DataError
        A share outside [0, 1), or a design that reports other things than labels.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.warner(p=0.7)
    >>> fit = estimate.moments(survey, survey.tally(count=[380, 620]))
    >>> noncompliance_band(fit, share=0.1).round(4)
    array([[0.1667, 0.3056],
           [0.6944, 0.8333]])
    """
    if not 0 <= share < 1:
        raise DataError(f"the share of those who do not comply must lie in [0, 1); got {share!r}")
    if not all(isinstance(fit.design.channel(name).space, Labels) for name in fit.design.levels):
        raise DataError("non-compliance is assessed for designs that report one label")
    answers = (_nobody, _least_incriminating, _random)
    return _hull([_estimated(fit, fit.design, share * (answer is not _nobody), answer) for answer in answers])


def probability_band(fit: Estimate) -> Floats | None:
    """The range of each estimate, (t, 2), over the range in which a probability of its design is known to lie.

    Parameters
    ----------
    fit : Estimate
        Of a design made with ``between=(low, high)``.

    Returns
    -------
    (t, 2) float, or None
        Within [0, 1]; None where the design states no range.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.crosswise(prevalence=0.25, between=(0.23, 0.27))
    >>> fit = estimate.moments(survey, survey.tally(count=[380, 620]))
    >>> probability_band(fit).round(4)
    array([[0.7222, 0.7609],
           [0.2391, 0.2778]])
    """
    if not fit.design.alternatives:
        return None
    return _hull([_estimated(fit, design) for design in (fit.design, *fit.design.alternatives)])


def _hull(ends: list[Floats]) -> Floats:
    stacked = np.array(ends)
    return np.asarray(np.clip(np.column_stack([stacked.min(axis=0), stacked.max(axis=0)]), 0.0, 1.0))


def _nobody(design: Channel) -> Floats:
    """No answer at all."""
    return np.zeros(design.space.size)


def _estimated(
    fit: Estimate, design: Answerable, share: float = 0.0, answer: Callable[[Channel], Floats] = _nobody
) -> Floats:
    """Moments of a design, (t,), if a share of the respondents gave other answers than its own."""
    parts = [part for part in fit.tally.parts if part.n]
    means = [(_mean(part) - share * answer(part.design)) / (1 - share) for part in parts]
    if isinstance(design, Samples):
        under = tuple(replace(part, design=design.channel(part.level)) for part in fit.tally.parts)
        return shares_of_means(design, replace(fit.tally, parts=under), means)
    moved: Floats = linear_map(design.channel())(means[0])
    return moved


def _mean(part: Part) -> Floats:
    return np.asarray(part.weight @ part.design.space.statistic(part.codes) / part.weight.sum())


def _least_incriminating(design: Channel) -> Floats:
    """All weight on the answer with the lowest odds of the first category."""
    matrix = design.rows(design.space.listing())
    odds = (matrix[:, 0] + 1e-300) / (matrix[:, 1:].max(axis=1) + 1e-300)
    return np.asarray(np.arange(len(matrix)) == odds.argmin(), dtype=float)


def _random(design: Channel) -> Floats:
    """Every possible answer alike."""
    possible = design.rows(design.space.listing()).max(axis=1) > 0
    return np.asarray(possible / possible.sum(), dtype=float)
