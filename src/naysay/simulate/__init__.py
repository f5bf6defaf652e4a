"""Simulated surveys: populations, people who may not follow the instructions, and many repetitions.

A `Population` says who is asked: a shape from the literature such as `normal` or `exponential`, `counts`, or a `column`
of real data. A `Behavior` says how many people lie, answer at random, or give no answer. `skewed` and `tied` say how
people choose a level. `replicate` repeats the survey; its result, a `Simulation`, shows how good the estimators are.
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
