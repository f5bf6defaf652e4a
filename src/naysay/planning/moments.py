"""Sums over responses: over all of them, or over a sample if there are too many to list."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naysay.design import Design
from naysay.design.drawing import GeneratorSource
from naysay.responses import Codes

__all__ = ["DRAWS", "drawn", "indicator_products"]

Floats = NDArray[np.float64]

DRAWS = 100_000
"""How many responses are drawn if there are too many to list and there is no closed form."""

_SEED = 1965


def drawn(design: Design) -> tuple[Codes, Floats]:
    """Responses (drawn with a fixed seed) of people spread equally over the categories, and their likelihood rows.

    For other proportions π, weight each response by L·π divided by the mean of its row L. One set of draws then serves
    all π, so that results are smooth in π.
    """
    t = len(design.categories)
    codes = design.draw(np.resize(np.arange(t), DRAWS), GeneratorSource(np.random.default_rng(_SEED)))
    return codes, design.rows(codes)


def indicator_products(design: Design, measure: Floats, constant: Floats, slope: Floats) -> tuple[Floats, bool]:
    """Σ_j measure_j E[u uᵀ | X = j] of the indicators u = constant + slope T, (t, t), and whether it is exact."""
    if design.listed and not design.pure:
        codes = design.space.listing()
        u, weight = constant + design.space.statistic(codes) @ slope.T, design.rows(codes) @ measure
        return np.asarray(u.T @ (u * weight[:, None])), True
    if (squares := design.products(measure)) is not None:
        crossed = np.outer(constant, slope @ (design.expected_statistic @ measure))
        fixed = measure.sum() * np.outer(constant, constant)
        return np.asarray(slope @ squares @ slope.T + crossed + crossed.T + fixed), True
    codes, rows = drawn(design)
    u, weight = constant + design.space.statistic(codes) @ slope.T, rows @ measure / rows.mean(axis=1) / len(rows)
    return np.asarray(u.T @ (u * weight[:, None])), False
