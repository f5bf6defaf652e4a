"""What a release kept of its original: cells, distributions, estimates, and whether the two can be told apart."""

from naysay.microdata.utility.distances import (
    Change,
    Changes,
    Distance,
    Distances,
    eigenvalue_loss,
    expected_hellinger,
    expected_variation,
    hellinger,
    il1s,
    variation,
)
from naysay.microdata.utility.estimates import Estimated, Estimates, Propensity, overlap
from naysay.microdata.utility.measured import Release, Tradeoff, Utility, compare, tradeoff

__all__ = [
    "Change",
    "Changes",
    "Distance",
    "Distances",
    "Estimated",
    "Estimates",
    "Propensity",
    "Release",
    "Tradeoff",
    "Utility",
    "compare",
    "eigenvalue_loss",
    "expected_hellinger",
    "expected_variation",
    "hellinger",
    "il1s",
    "overlap",
    "tradeoff",
    "variation",
]
