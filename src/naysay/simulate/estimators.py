"""The estimators that a simulation tries, by name, and which of them suit a design."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from naysay import _checks, estimate
from naysay.design import Answerable, Levels
from naysay.errors import DataError
from naysay.estimate import Estimate
from naysay.estimate.negative import check_reconstructed
from naysay.tally import Tally

__all__ = ["ESTIMATORS", "estimators"]

Estimator = Callable[[Answerable, Tally, str], Estimate]


def _maximum_likelihood(design: Answerable, tally: Tally, target: str) -> Estimate:
    return estimate.maximum_likelihood(design, tally, target=target)


def _moments(design: Answerable, tally: Tally, target: str) -> Estimate:
    return estimate.moments(design, tally, target=target)


def _nstops(design: Answerable, tally: Tally, target: str) -> Estimate:
    return estimate.nstops(design, tally)


def _nstops_i(design: Answerable, tally: Tally, target: str) -> Estimate:
    return estimate.nstops_i(design, tally)


def _nstops_ii(design: Answerable, tally: Tally, target: str) -> Estimate:
    return estimate.nstops_ii(design, tally)


def _stratified(design: Answerable, tally: Tally, target: str) -> Estimate:
    return estimate.stratified(design, tally, target=target)


def _equal(design: Answerable, tally: Tally, target: str) -> Estimate:
    return estimate.stratified(design, tally, weights="equal", target=target)


def _by_variance(design: Answerable, tally: Tally, target: str) -> Estimate:
    return estimate.stratified(design, tally, weights="variance", target=target)


def _pooled(design: Answerable, tally: Tally, target: str) -> Estimate:
    return estimate.pooled(design, tally, target=target)


ESTIMATORS: dict[str, Estimator] = {
    "maximum_likelihood": _maximum_likelihood,
    "moments": _moments,
    "nstops": _nstops,
    "nstops_i": _nstops_i,
    "nstops_ii": _nstops_ii,
    "stratified": _stratified,
    "stratified_equal": _equal,
    "stratified_variance": _by_variance,
    "pooled": _pooled,
}
"""Estimators by name; those of NStoPS are for negative surveys with one answer, the last four for levels."""

_RECONSTRUCTIONS = {"nstops": "NStoPS", "nstops_i": "NStoPS-I", "nstops_ii": "NStoPS-II"}
_FOR_LEVELS = ("stratified", "stratified_equal", "stratified_variance", "pooled")


def estimators(design: Answerable, wanted: Sequence[str] | None, *, target: str) -> tuple[str, ...]:
    """The names of the estimators to try, or those that suit the design where none are wanted.

    Raises
    ------
    DataError
        No name, one that is not known or given twice, or that of an estimator which this design or target has not.

    Examples
    --------
    >>> from naysay import designs
    >>> estimators(designs.warner(p=0.7), None, target="population")
    ('maximum_likelihood', 'moments')
    """
    if wanted is None:
        return ("stratified", "pooled") if isinstance(design, Levels) else ("maximum_likelihood", "moments")
    names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    if not names or len(set(names)) < len(names):
        raise DataError(f"name each estimator once, at least one; got {_checks.shown(names)}")
    for name in names:
        _check_suits(name, design, target)
    return names


def _check_suits(name: str, design: Answerable, target: str) -> None:
    if name not in ESTIMATORS:
        raise DataError(f"no estimator is called {name!r}; {_checks.nearest(name, ESTIMATORS)}", value=name)
    if name in _FOR_LEVELS and not isinstance(design, Levels):
        raise DataError(f"{name} is for levels; {design.name or design.kind} offers none, use moments", value=name)
    if name in _RECONSTRUCTIONS:
        check_reconstructed(design, _RECONSTRUCTIONS[name])
        if target == "file":
            raise DataError(f"{name} is for a population; for a file use moments or maximum_likelihood", value=name)
