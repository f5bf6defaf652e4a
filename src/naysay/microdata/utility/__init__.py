"""What a release kept of its original: cells, distributions, estimates, and whether the two can be told apart."""

from naysay.microdata.utility.changes import Change, Changes, eigenvalue_loss, il1s
from naysay.microdata.utility.distances import (
    Distance,
    Distances,
    expected_hellinger,
    expected_variation,
    hellinger,
    variation,
)
from naysay.microdata.utility.estimated import Estimated, overlap
from naysay.microdata.utility.estimates import Estimates
from naysay.microdata.utility.measured import Utility, compare
from naysay.microdata.utility.propensity import Propensity
from naysay.microdata.utility.tradeoff import Release, Tradeoff, tradeoff

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
