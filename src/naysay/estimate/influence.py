"""What each unit of a sample adds to an estimate, so that you can compare estimates from one sample."""

from __future__ import annotations

import numpy as np

from naysay.estimate import samples
from naysay.estimate.information import evidence
from naysay.estimate.likelihood import certified, efficient_indicators
from naysay.estimate.linear import Floats, Indicators
from naysay.estimate.result import Estimate

__all__ = ["deviations"]


def deviations(fit: Estimate) -> Floats:
    """Deviations D of an estimate's sample, (deviations, t).

    DᵀD is its covariance. D_1ᵀD_2 is its covariance with another estimate from the same sample, such as that of
    another group. Where the population is finite, DᵀD lacks what the randomization adds to each estimate.
    """
    if fit.cells is not None:
        each = samples.influences(fit)
        own = {id(part): sampled for part, sampled in fit.tally.apart}
        t = len(fit.categories)
        return np.asarray(sum(own[id(part)].deviations(moved[:, :t]) for part, moved in each))
    if fit.level_weights is not None:
        parts = [(fit.level_weights.get(p.level, 0.0), Indicators.of(p, sampled)) for p, sampled in fit.tally.apart]
        return np.asarray(sum(z * one.sampled.deviations(one.influence) for z, one in parts if z > 0))
    terms = fit.indicators or efficient_indicators(*evidence(fit.tally), certified(fit))
    return terms.sampled.deviations(terms.influence)
