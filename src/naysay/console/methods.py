"""How commands name estimators and interval methods: all that `naysay.estimate` registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from naysay.estimate import ESTIMATORS, METHODS

__all__ = ["EstimatorName", "IntervalName", "TriedInterval", "estimators"]

if TYPE_CHECKING:
    EstimatorName = str
    IntervalName = str
    TriedInterval = str
else:  # typer checks a Literal, and lists it
    EstimatorName = Literal[tuple(ESTIMATORS)]
    IntervalName = Literal[tuple(METHODS)]
    TriedInterval = Literal[(*METHODS, "usual")]


def estimators(*, published: bool = True) -> str:
    """All estimators, as the help of ``--estimator`` lists them; on request without those of the literature.

    Examples
    --------
    >>> estimators()
    'maximum_likelihood (default), moments, nstops, ...; for levels stratified (default), ...'
    """
    names: dict[bool, list[str]] = {False: [], True: []}
    for each in (found for found in ESTIMATORS.values() if published or not found.published):
        names["nobody" not in each.assigned_by].append(each.name + (" (default)" if each.default_for else ""))
    return f"{', '.join(names[False])}; for levels {', '.join(names[True])}."
