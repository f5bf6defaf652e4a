"""Surveys tried before they are fielded: populations, people who do as they like, and many repetitions.

A `Population` is who is asked (`normal`, `exponential`, … as in the literature, `counts`, or a `column` of real data);
a `Behavior` says how many lie, answer at random, or give no answer; `skewed` and `tied` are ways of choosing a level.
`replicate` repeats the survey, and its `Simulation` says how good the estimators are.
"""

from naysay.estimate import ESTIMATORS
from naysay.simulate.behavior import *  # noqa: F403
from naysay.simulate.behavior import __all__ as _behavior
from naysay.simulate.populations import *  # noqa: F403
from naysay.simulate.populations import __all__ as _populations
from naysay.simulate.replicate import replicate
from naysay.simulate.result import Measure, Runs, Simulation, Summary
from naysay.simulate.survey import Survey

__all__ = ["ESTIMATORS", "Measure", "Runs", "Simulation", "Summary", "Survey", "replicate"]
__all__ += [*_behavior, *_populations]  # noqa: PLE0604 (lists of texts)
