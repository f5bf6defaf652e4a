"""What the estimate would be if an assumption failed: non-compliance, another probability than the one stated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from naysay.design import Answerable, Design, Samples
from naysay.errors import DataError
from naysay.estimate.linear import linear_map
from naysay.estimate.result import Estimate
from naysay.estimate.samples import shares_of_means
from naysay.responses import Labels
from naysay.tally import Channel

__all__ = ["behaviors", "noncompliance_band", "probability_band"]

Floats = NDArray[np.float64]

_AT_RANDOM = "answered at random"


def behaviors(design: Answerable) -> dict[str, Callable[[Channel], Floats]]:
    """How people could fail to comply with a design that randomizes, in words, and what they would answer.

    Where it is yes or no, they may always give the answer that speaks least for the first category, or any at
    random. Several categories, or a design that measures who denies, leave random answers. A negative survey, in which
    an answer can rule a category out, has none: what two options could do see `preference_band`.
    """
    if not isinstance(design, Design | Samples):
        return {}
    channels = [design.channel(name) for name in design.levels]
    measured = isinstance(design, Samples) and design.measures_compliance
    if not all(isinstance(each.space, Labels) for each in channels) or not any(map(_randomizes, channels)):
        return {}
    if len(design.categories) > 2 or measured:
        told = measured or all((each.matrix > 0).all() for each in channels)
        return {_AT_RANDOM: _random} if told else {}
    return {"gave the safest answer always": _least_incriminating, _AT_RANDOM: _random}


def _randomizes(design: Channel) -> bool:
    return bool((design.rows(design.space.listing()).max(axis=0) < 1).any())


def noncompliance_band(fit: Estimate, *, share: float = 0.1) -> Floats:
    """The range of each estimate, (t, 2), if up to a share of the respondents did not comply with the protocol.

    Non-compliers either always give the answer that speaks least for the first, sensitive category, or (with several
    categories only) answer at random; people asked directly are taken to comply. With a share δ of them
    λ = (1 - δ)Pπ + δq, so that the estimate is taken at (λ̂ - δq)/(1 - δ). Sampling error is not in the band.

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
    ends = [_estimated(fit, fit.design, share, answer) for answer in behaviors(fit.design).values() or [_random]]
    return _hull([_estimated(fit, fit.design), *ends])


def probability_band(fit: Estimate, *, designs: Sequence[Answerable] = ()) -> Floats | None:
    """The range of each estimate, (t, 2), over the range in which a probability of its design is known to lie.

    Parameters
    ----------
    fit : Estimate
        Of a design made with ``between=(low, high)``, or any.
    designs : sequence of Design
        The designs at the ends of the range, for those that were made without one: ``warner(p=0.69)``,
        ``warner(p=0.71)``.

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
    ends = (*fit.design.alternatives, *designs)
    return _hull([_estimated(fit, design) for design in (fit.design, *ends)]) if ends else None


def _hull(ends: list[Floats]) -> Floats:
    stacked = np.array(ends)
    return np.asarray(np.clip(np.column_stack([stacked.min(axis=0), stacked.max(axis=0)]), 0.0, 1.0))


def _estimated(
    fit: Estimate, design: Answerable, share: float = 0.0, answer: Callable[[Channel], Floats] | None = None
) -> Floats:
    """Moments of a design, (t,), if a share of the respondents who answer by chance gave other answers than its own."""
    means = []
    for part in (part for part in fit.tally.parts if part.weight.sum() > 0):
        own = np.asarray(part.weight @ part.design.space.statistic(part.codes) / part.weight.sum())
        moved = answer is not None and _randomizes(part.design)
        means.append((own - share * answer(part.design)) / (1 - share) if answer is not None and moved else own)
    if isinstance(design, Samples):
        return shares_of_means(design, fit.tally, means)
    estimated: Floats = linear_map(design.channel())(means[0])
    return estimated


def _least_incriminating(design: Channel) -> Floats:
    """What speaks least for the first category: all weight on the answer with the lowest odds of it."""
    matrix = design.rows(design.space.listing())
    odds = (matrix[:, 0] + 1e-300) / (matrix[:, 1:].max(axis=1) + 1e-300)
    return np.asarray(np.arange(len(matrix)) == odds.argmin(), dtype=float)


def _random(design: Channel) -> Floats:
    """Any answer that can come, each as often."""
    possible = design.rows(design.space.listing()).max(axis=1) > 0
    return np.asarray(possible / possible.sum(), dtype=float)
