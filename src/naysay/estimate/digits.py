"""Digits in print: two of the standard error, and the estimate to the same decimal. JSON and CSV keep all."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay.estimate.result import Estimate, alike

__all__ = ["decimals", "decimals_of", "reliable_errors", "reliable_nuisance", "shown"]

Floats = NDArray[np.float64]

_FEWEST, _MOST = 2, 9


def decimals(errors: ArrayLike) -> int | None:
    """Decimals that show two digits of the smallest of some standard errors; None where none is above zero.

    Examples
    --------
    >>> decimals([0.0341, 0.2]), decimals([0.00012]), decimals([0.0])
    (3, 5, None)
    """
    given = np.asarray(errors, dtype=float)
    usable = given[np.isfinite(given) & (given > 0)]
    if not usable.size:
        return None
    return min(max(1 - math.floor(math.log10(usable.min())), _FEWEST), _MOST)


def decimals_of(fit: Estimate) -> int:
    """Decimals for everything about an estimate; where it has no standard error, those of a plain share of n."""
    found = decimals([*reliable_errors(fit), *reliable_nuisance(fit).values()])
    return decimals([0.5 / math.sqrt(max(fit.n, 1))]) or _FEWEST if found is None else found


def reliable_errors(fit: Estimate) -> Floats:
    """The standard errors that mean something, (t,); NaN at the boundary, and where all answers are alike."""
    return np.where(_reliable(fit, fit.proportions), fit.standard_errors, np.nan)


def reliable_nuisance(fit: Estimate) -> dict[str, float]:
    """The standard errors of the nuisance parameters that mean something, NaN elsewhere."""
    pairs = ((name, each, bool(_reliable(fit, np.array(each.value)))) for name, each in fit.nuisance.items())
    return {name: each.standard_error if keep else math.nan for name, each, keep in pairs}


def _reliable(fit: Estimate, values: Floats) -> NDArray[np.bool_]:
    if alike(fit.tally):
        return np.zeros(values.shape, dtype=bool)
    inside = (values > 1e-9) & (values < 1 - 1e-9)
    return np.asarray(inside if fit.maximum is not None else np.ones(values.shape, dtype=bool))


def shown(value: float, places: int) -> str:
    """A number to so many decimals; a dash where it is undefined."""
    return "–" if math.isnan(value) else f"{value:.{places}f}"
