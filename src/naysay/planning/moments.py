"""Second moments of what is reported, where the responses can be listed and where they cannot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naysay.design import Design, Mixture, Product, Subset, Then, WeightedSubset
from naysay.design.drawing import GeneratorSource
from naysay.design.subsets import symmetric_sums
from naysay.responses import Codes

__all__ = ["DRAWS", "closed", "drawn", "few", "indicator_products", "second_moments"]

Floats = NDArray[np.float64]

DRAWS = 100_000
"""Responses drawn where they are too many to list and no closed form does without."""

_SEED = 1965
_FEW = 20_000  # responses that are listed; beyond them a closed form is quicker
_ENTRIES = 30_000_000  # of an array of second moments


def few(design: Design) -> bool:
    """Whether all responses of a design are listed here."""
    return design.space.listable and design.space.size <= _FEW


def closed(design: Design) -> bool:
    """Whether the second moments of a design have a closed form here, and fit into memory."""
    if len(design.expected_statistic) ** 2 * len(design.categories) > _ENTRIES:
        return False
    if isinstance(design, Mixture):
        return all(closed(component) for component in design.components)
    if isinstance(design, Then):
        return closed(design.second)
    if isinstance(design, Product):
        return closed(design.first) and closed(design.second)
    return isinstance(design, Subset | WeightedSubset) or few(design)


def second_moments(design: Design) -> Floats:
    """E[T Tᵀ | X = j] of the linear statistic T for each category j, shape (t, d, d).

    For k discards the joint inclusion k(k-1)/((t-1)(t-2)) of two false categories, in closed form; a lottery averages,
    a second question multiplies.
    """
    if isinstance(design, Mixture):
        parts = zip(design.weights, design.components, strict=True)
        return np.asarray(sum(weight * second_moments(part) for weight, part in parts)) / sum(design.weights)
    if isinstance(design, Then):
        return np.asarray(np.tensordot(design.first.matrix.T, second_moments(design.second), axes=1))
    if isinstance(design, Product):
        one, two = second_moments(design.first), second_moments(design.second)
        both = np.einsum("iab,jcd->ijacbd", one, two)
        size = one.shape[1] * two.shape[1]
        return np.asarray(both.reshape(len(one) * len(two), size, size))
    if isinstance(design, Subset):
        return _subset(design)
    if isinstance(design, WeightedSubset):
        return _weighted(design)
    codes = design.space.listing()
    statistic = design.space.statistic(codes)
    return np.asarray(np.einsum("yj,ya,yb->jab", design.rows(codes), statistic, statistic, optimize=True))


def _subset(design: Subset) -> Floats:
    """k(k-1)/(m(m-1)) off the diagonal and k/m on it, for m candidates; 0 where the true category is one of the two."""
    t, k = len(design.categories), design.discards
    m = t - design.truthful
    joint = np.full((t, t), k * (k - 1) / (m * (m - 1)) if m > 1 else 0.0)
    np.fill_diagonal(joint, k / m)
    every = np.tile(joint, (t, 1, 1))
    if design.truthful:
        places = np.arange(t)
        every[places, places, :] = 0.0
        every[places, :, places] = 0.0
    return every


def _weighted(design: WeightedSubset) -> Floats:
    """w_a w_b e_{k-2}(w without a, b, j) / e_k(w without j) for two false categories a and b."""
    w, k, t = design.weights, design.discards, len(design.weights)
    every = np.zeros((t, t, t))
    for j in range(t):
        every[j][np.diag_indices(t)] = design.expected_statistic[:, j]
        total = symmetric_sums(w[:j] + w[j + 1 :], k)[-1]
        for a in range(t):
            for b in range(a) if k > 1 and a != j else ():
                if b != j:
                    rest = [weight for place, weight in enumerate(w) if place not in (a, b, j)]
                    every[j, a, b] = every[j, b, a] = w[a] * w[b] * symmetric_sums(rest, k - 2)[-1] / total
    return every


def drawn(design: Design) -> tuple[Codes, Floats]:
    """Responses of people who are equally often in every category, by a fixed seed, and their likelihood rows.

    To stand for other proportions π each is weighted by L·π over its mean: one set of draws serves all π, so that what
    is computed from it is smooth in π.
    """
    t = len(design.categories)
    codes = design.draw(np.resize(np.arange(t), DRAWS), GeneratorSource(np.random.default_rng(_SEED)))
    return codes, design.rows(codes)


def indicator_products(design: Design, measure: Floats, constant: Floats, slope: Floats) -> Floats:
    """Σ_j measure_j E[u uᵀ | X = j] of the indicators u = constant + slope T, shape (t, t)."""
    if few(design):
        codes = design.space.listing()
        u = constant + design.space.statistic(codes) @ slope.T
        return np.asarray(u.T @ (u * (design.rows(codes) @ measure)[:, None]))
    if closed(design):
        squares = np.tensordot(measure, second_moments(design), axes=1)
        mean = design.expected_statistic @ measure
        crossed = np.outer(constant, slope @ mean)
        return np.asarray(
            slope @ squares @ slope.T + crossed + crossed.T + measure.sum() * np.outer(constant, constant)
        )
    codes, rows = drawn(design)
    u = constant + design.space.statistic(codes) @ slope.T
    weight = rows @ measure / rows.mean(axis=1) / len(rows)
    return np.asarray(u.T @ (u * weight[:, None]))
