"""Estimates of the population from the answers.

`moments` is unbiased; `maximum_likelihood` stays inside [0, 1]. `nstops`, `nstops_i` and `nstops_ii` are the same
principles under the names of the negative-survey literature. `stratified` and `pooled` are for levels that respondents
choose. Each returns an `Estimate`. `mean` is for numbers. `independence_test` tests whether the chosen level depends
on the category.
"""

from naysay.estimate.assumptions import noncompliance_band, preference_band, probability_band
from naysay.estimate.changes import RULES, Change, change
from naysay.estimate.estimators import ESTIMATORS, Estimator, default, suitable
from naysay.estimate.fitting import GoodnessOfFit, goodness_of_fit
from naysay.estimate.groups import Differences, differences
from naysay.estimate.heavy import HeavyHitters, heavy_hitters
from naysay.estimate.independence import IndependenceTest, independence_test
from naysay.estimate.intervals import METHODS, IntervalMethod
from naysay.estimate.levels import pooled, stratified
from naysay.estimate.leverage import leverage
from naysay.estimate.likelihood import maximum_likelihood
from naysay.estimate.mean import (
    QUANTITIES,
    Distribution,
    Mean,
    Measured,
    Quantity,
    default_quantity,
    distribution,
    mean,
)
from naysay.estimate.moments import moments
from naysay.estimate.negative import nstops, nstops_i, nstops_ii
from naysay.estimate.projection import Projected, projected
from naysay.estimate.ranges import Band, Ranges, ranges
from naysay.estimate.result import Comparison, Estimate, Intervals, Options

__all__ = [
    "ESTIMATORS",
    "METHODS",
    "QUANTITIES",
    "RULES",
    "Band",
    "Change",
    "Comparison",
    "Differences",
    "Distribution",
    "Estimate",
    "Estimator",
    "GoodnessOfFit",
    "HeavyHitters",
    "IndependenceTest",
    "IntervalMethod",
    "Intervals",
    "Mean",
    "Measured",
    "Options",
    "Projected",
    "Quantity",
    "Ranges",
    "change",
    "default",
    "default_quantity",
    "differences",
    "distribution",
    "goodness_of_fit",
    "heavy_hitters",
    "independence_test",
    "leverage",
    "maximum_likelihood",
    "mean",
    "moments",
    "noncompliance_band",
    "nstops",
    "nstops_i",
    "nstops_ii",
    "pooled",
    "preference_band",
    "probability_band",
    "projected",
    "ranges",
    "stratified",
    "suitable",
]
