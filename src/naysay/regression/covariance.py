"""Covariances of coefficients, of every kind, and what follows for the nuisance parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.design import Answerable
from naysay.errors import DataError
from naysay.estimate.result import Value
from naysay.regression.likelihood import Model
from naysay.regression.solving import Optimum, Penalty

__all__ = ["covariance", "nuisance"]

Floats = NDArray[np.float64]


def covariance(model: Model, found: Optimum, kind: str, squared: Floats, penalty: Penalty | None) -> Floats:
    """The covariance (P, P) of coefficients and nuisance parameters.

    With I the information and J = Σ w² s sᵀ of the scores s: I⁻¹, or I⁻¹JI⁻¹ n/(n - 1). A nuisance parameter at 0 or 1
    is held there: the others' covariance is given it, and its own is NaN.
    """
    if kind == "expected" and not all(channel.space.listable for channel in model.answers.channels):
        raise DataError("expected information needs all responses written out, and there are too many; use 'observed'")
    bread = model.evaluate(found.theta, "observed" if kind == "sandwich" else kind).information
    if penalty is not None:
        bread = bread + penalty.added(model, found.theta).information
    free = np.flatnonzero(~found.bound)
    inverse = np.linalg.inv(bread[np.ix_(free, free)])
    if kind == "sandwich":
        meat = model.meat(found.theta, squared)[np.ix_(free, free)]
        n = model.weight.sum() ** 2 / squared.sum()
        inverse = inverse @ meat @ inverse * (n / max(n - 1, 1))
    whole = np.full((model.size, model.size), np.nan)
    whole[np.ix_(free, free)] = inverse
    return whole


def nuisance(design: Answerable, model: Model, found: Optimum, covariance: Floats) -> dict[Any, Value]:
    """The nuisance shares of a design at the average of the people in the model."""
    if not design.nuisance:
        return {}
    _, nu = model.split(found.theta)
    shares, slopes = model.average(found.theta)
    chances = model.within.chances(nu)
    cells, moved = chances @ shares, chances @ slopes
    for k in range(model.q):
        moved[:, model.size - model.q + k] = model.within.chances(nu, k) @ shares
    free = ~found.bound
    told = {}
    for share in design.nuisance:
        above, below = share.weights(design.cells)
        value = float(above @ cells / (below @ cells))
        gradient = ((above - value * below) @ moved / (below @ cells))[free]
        known = not found.bound[np.abs((above - value * below) @ moved) > 0].any()
        variance = float(gradient @ covariance[np.ix_(free, free)] @ gradient)
        told[share.name] = Value(value, np.sqrt(variance) if known else np.nan)
    return told
