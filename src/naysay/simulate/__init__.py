"""Simulated surveys: populations, people who may not follow the instructions, and many repetitions.

A `Population` says who is asked: a shape from the literature such as `normal` or `exponential`, `counts`, or a `column`
of real data. A `Behavior` says how many people lie, answer at random, or give no answer. `skewed` and `tied` say how
people choose a level. `replicate` repeats the survey; its result, a `Simulation`, shows how good the estimators are.
"""

from naysay.estimate import ESTIMATORS
from naysay.simulate.result import Measure, Runs, Simulation, Summary, replicate
from naysay.simulate.survey import (
    HONEST,
    POPULATIONS,
    Behavior,
    Population,
    Survey,
    column,
    counts,
    equal,
    exponential,
    log_normal,
    normal,
    population,
    shares,
    skewed,
    tied,
    uniform,
)

__all__ = [
    "ESTIMATORS",
    "HONEST",
    "POPULATIONS",
    "Behavior",
    "Measure",
    "Population",
    "Runs",
    "Simulation",
    "Summary",
    "Survey",
    "column",
    "counts",
    "equal",
    "exponential",
    "log_normal",
    "normal",
    "population",
    "replicate",
    "shares",
    "skewed",
    "tied",
    "uniform",
]
