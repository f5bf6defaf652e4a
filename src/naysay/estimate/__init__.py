"""Estimates of the population from the answers.

`moments` is unbiased; `maximum_likelihood` stays inside [0, 1]. `nstops`, `nstops_i` and `nstops_ii` are the same
principles under the names of the negative-survey literature. `stratified` and `pooled` are for levels that respondents
choose. Each returns an `Estimate`. `mean` is for numbers. `independence_test` tests whether the chosen level depends
on the category. `Grid` makes cells of a map the categories, and `heat_map` draws shares beside their errors.
"""

from naysay.estimate.assumptions import (
    answer_bounds,
    bounds_interval,
    least_share,
    leverage,
    noncompliance_band,
    preference_band,
    probability_band,
)
from naysay.estimate.changes import RULES, Change, change
from naysay.estimate.estimators import maximum_likelihood, moments, pooled, stratified
from naysay.estimate.fit import Intervals, projected
from naysay.estimate.fitting import GoodnessOfFit, IndependenceTest, goodness_of_fit, independence_test
from naysay.estimate.groups import Differences, differences
from naysay.estimate.heavy import HeavyHitters, heavy_hitters
from naysay.estimate.intervals import METHODS, IntervalMethod
from naysay.estimate.mean import Distribution, Mean, Measured, distribution, mean
from naysay.estimate.negative import nstops, nstops_i, nstops_ii
from naysay.estimate.paper import methods_text
from naysay.estimate.places import Grid, HeatMap, heat_map
from naysay.estimate.ranges import Band, Ranges, ranges
from naysay.estimate.ranks import Ranks, ranks
from naysay.estimate.registry import ESTIMATORS, QUANTITIES, Estimator, Quantity, default, default_quantity, suitable
from naysay.estimate.result import Comparison, Estimate, PrintOptions, Projected
from naysay.estimate.validation import Validated, Validation, validation

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
    "Grid",
    "HeatMap",
    "HeavyHitters",
    "IndependenceTest",
    "IntervalMethod",
    "Intervals",
    "Mean",
    "Measured",
    "PrintOptions",
    "Projected",
    "Quantity",
    "Ranges",
    "Ranks",
    "Validated",
    "Validation",
    "answer_bounds",
    "bounds_interval",
    "change",
    "default",
    "default_quantity",
    "differences",
    "distribution",
    "goodness_of_fit",
    "heat_map",
    "heavy_hitters",
    "independence_test",
    "least_share",
    "leverage",
    "maximum_likelihood",
    "mean",
    "methods_text",
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
    "ranks",
    "stratified",
    "suitable",
    "validation",
]
