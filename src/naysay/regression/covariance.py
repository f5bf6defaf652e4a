"""Covariances of coefficients, of every kind, and what follows for the nuisance parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.design import Answerable
from naysay.errors import DataError
from naysay.estimate.result import Value
from naysay.regression.likelihood import Model
from naysay.regression.solving import Optimum, Penalty

Floats = NDArray[np.float64]

_LISTED = 10_000  # responses up to which the expected information is summed over all of them


def covariance(
    model: Model, optimum: Optimum, kind: str, penalty: Penalty | None, meat: Callable[[], Floats]
) -> Floats:
    """The covariance (P, P) of coefficients and nuisance parameters.

    With I the information and J the covariance of the sum of the scores, `meat`: I⁻¹, or the sandwich I⁻¹JI⁻¹. A
    nuisance parameter at 0 or 1 is held there: the others' covariance is given it, and its own is NaN.
    """
    if kind == "expected" and any(channel.space.size > _LISTED for channel in model.answers.channels):
        raise DataError("expected information needs all responses written out, and there are too many; use 'observed'")
    bread = model.evaluate(optimum.theta, "observed" if kind == "sandwich" else kind).information
    if penalty is not None:
        bread = bread + penalty.prior_terms(model, optimum.theta).information
    free = np.flatnonzero(~optimum.bound)
    inverse = np.linalg.inv(bread[np.ix_(free, free)])
    if kind == "sandwich":
        inverse = inverse @ meat()[np.ix_(free, free)] @ inverse
    full_matrix = np.full((model.size, model.size), np.nan)
    full_matrix[np.ix_(free, free)] = inverse
    return full_matrix


def nuisance(design: Answerable, model: Model, optimum: Optimum, covariance: Floats) -> dict[Any, Value]:
    """The nuisance shares of a design at the average of the people in the model."""
    if not design.nuisance:
        return {}
    _, nu = model.split(optimum.theta)
    shares, slopes = model.average(optimum.theta)
    chances = model.within.chances(nu)
    cells, cell_slopes = chances @ shares, chances @ slopes
    for k in range(model.q):
        cell_slopes[:, model.size - model.q + k] = model.within.chances(nu, k) @ shares
    free = ~optimum.bound
    value_of_share = {}
    for share in design.nuisance:
        above, below = share.weights(design.cells)
        value = float(above @ cells / (below @ cells))
        gradient = ((above - value * below) @ cell_slopes / (below @ cells))[free]
        is_inside = not optimum.bound[np.abs((above - value * below) @ cell_slopes) > 0].any()
        variance = float(gradient @ covariance[np.ix_(free, free)] @ gradient)
        value_of_share[share.name] = Value(value, float(np.sqrt(variance)) if is_inside else math.nan)
    return value_of_share
