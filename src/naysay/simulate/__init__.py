"""Surveys tried before they are fielded: populations, people who do as they like, and many repetitions.

A `Population` is who is asked (`normal`, `exponential`, … as in the literature, `counts`, or a `column` of real data);
a `Behavior` is who lies, answers at random or not at all; `skewed` and `tied` are ways of choosing a level.
`replicate` repeats the survey, and its `Simulation` says how good the estimators are.
"""

from naysay.estimate import ESTIMATORS
from naysay.simulate.behavior import HONEST, Behavior, skewed, tied
from naysay.simulate.populations import (
    POPULATIONS,
    Population,
    column,
    counts,
    equal,
    exponential,
    log_normal,
    normal,
    population,
    shares,
    uniform,
)
from naysay.simulate.replicate import replicate
from naysay.simulate.result import Measure, Runs, Simulation, Summary
from naysay.simulate.survey import Survey

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
