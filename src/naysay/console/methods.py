"""The names of estimators and interval methods in commands: all that `naysay.estimate` registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from naysay.estimate import ESTIMATORS, METHODS, QUANTITIES

if TYPE_CHECKING:
    EstimatorName = str
    EstimatedName = str
    IntervalName = str
    TriedInterval = str
else:  # typer checks a Literal, and lists it
    EstimatorName = Literal[tuple(ESTIMATORS)]
    EstimatedName = Literal[(*ESTIMATORS, *QUANTITIES)]
    IntervalName = Literal[tuple(METHODS)]
    TriedInterval = Literal[(*METHODS, "usual")]


def estimators(*, published: bool = True, quantities: bool = False) -> str:
    """All estimators, as the help of ``--estimator`` lists them: those of the literature, and of numbers, if asked for.

    Examples
    --------
    >>> estimators()
    'maximum_likelihood (default), moments; for negative surveys with one answer nstops, ...; for levels ...'
    """
    single, levels, negative = list[str](), list[str](), list[str]()
    for estimator in ESTIMATORS.values():
        group_names = negative if estimator.published else single if "nobody" in estimator.assigned_by else levels
        group_names.append(estimator.name + (" (default)" if estimator.default_for else ""))
    published_text = f"; for negative surveys with one answer {', '.join(negative)}" if published else ""
    quantities_text = f"; for numbers and hierarchies {', '.join(QUANTITIES)}" if quantities else ""
    return f"{', '.join(single)}{published_text}; for levels {', '.join(levels)}{quantities_text}."
