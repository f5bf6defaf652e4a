"""Second moments of the linear statistic under a design: what variances are made of, listed or in closed form."""

from __future__ import annotations

import itertools
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from naysay._counts import Channel
from naysay._values import Floats
from naysay.design.algebra import Mixture, Remembered
from naysay.design.base import Product, Then
from naysay.design.channels import Subset, WeightedSubset, symmetric_sums
from naysay.design.pure import AffineHash, SubsetSelection, Unary

_ENTRIES = 30_000_000  # largest array of second moments, in entries (240 MB)


def second_moments(design: Channel) -> Floats | None:
    """E[T Tᵀ | X = j] of the linear statistic T for each category j, (t, d, d).

    None where it would be too large, or where there are too many responses to list and there is no closed form.
    """
    if design.space.dimension**2 * len(design.categories) > _ENTRIES:
        return None
    return _second_moments(design)


@singledispatch
def products(design: Channel, measure: Floats) -> Floats | None:
    """Σ_j measure_j E[T Tᵀ | X = j], (d, d); None where `second_moments` is None and there is no closed form."""
    moments = second_moments(design)
    return None if moments is None else np.asarray(np.tensordot(measure, moments, axes=1))


@products.register
def _(design: Remembered, measure: Floats) -> Floats | None:
    return products(design.wave, measure)


@products.register
def _(design: SubsetSelection, measure: Floats) -> Floats:
    t, k, total = len(design.categories), design.size, measure.sum()
    p, q = map(float, design.named_chances)
    chance_with_truth = p * (k - 1) / (t - 1)
    chance_of_others = (p * (k - 1) * (k - 2) + (1 - p) * k * (k - 1)) / ((t - 1) * (t - 2)) if t > 2 else 0.0
    pair = measure[:, None] + measure
    return _pairs(pair * chance_with_truth, (total - pair) * chance_of_others, q * total + (p - q) * measure)


@products.register
def _(design: Unary, measure: Floats) -> Floats:
    """Bits are independent given the category: E[T_u T_v] = q² + (π_u + π_v) q (p - q)."""
    p, q = map(float, design.named_chances)
    total = measure.sum()
    product_matrix = q * q * total + q * (p - q) * (measure[:, None] + measure)
    np.fill_diagonal(product_matrix, q * total + (p - q) * measure)
    return np.asarray(product_matrix)


@products.register
def _(design: AffineHash, measure: Floats) -> Floats | None:
    """E[T_u T_v] depends on the share of the line through u and v: hashes that agree there agree on all of it."""
    if design.named:
        return None  # the line through two names holds texts that are no candidates
    g, vector_count, category_numbers = design.base, design.base**design.space.digits, design.space.numbers
    p, other_chance = design.inside / design.whole, design.outside / design.whole
    chance_of_two = (vector_count // g - 1) / (vector_count - 1)
    chance_of_three = (vector_count // g**2 - 1) / (vector_count - 1) if design.space.digits > 1 else 0.0
    line_sums = measure[:, None] + measure
    padded_measure = np.zeros(vector_count)
    padded_measure[: len(measure)] = measure
    for step in range(2, g):
        line_sums += padded_measure[_combine_digits(category_numbers, step, g)]
    alike = chance_of_three * p + (chance_of_two - chance_of_three) * other_chance
    _, q = map(float, design.named_chances)
    diagonal_moments = q * measure.sum() + (p - q) * measure
    return _pairs(
        alike * measure.sum(), (chance_of_two - chance_of_three) * (p - other_chance) * line_sums, diagonal_moments
    )


def _combine_digits(numbers: NDArray[np.int64], step: int, base: int) -> NDArray[np.int64]:
    """U + step (v - u), digit by digit modulo the base, for all pairs of numbers."""
    combined_numbers, digit_weight, digits_left = np.zeros((len(numbers),) * 2, dtype=np.int64), 1, numbers
    while digits_left.any():
        digits_left, last_digits = np.divmod(digits_left, base)
        combined_numbers += digit_weight * ((last_digits[:, None] + step * (last_digits - last_digits[:, None])) % base)
        digit_weight *= base
    return combined_numbers


def _pairs(alike: Floats | float, apart: Floats | float, diagonal: Floats) -> Floats:
    """A matrix with these entries off its diagonal, `alike` + `apart`, and with this diagonal."""
    result = np.array(np.broadcast_to(alike + apart, (len(diagonal),) * 2))
    np.fill_diagonal(result, diagonal)
    return result


@singledispatch
def _second_moments(design: Channel) -> Floats | None:
    if not design.structure.listed:
        return None
    codes = design.space.listing()
    statistic = design.space.statistic(codes)
    return np.asarray(np.einsum("yj,ya,yb->jab", design.rows(codes), statistic, statistic, optimize=True))


@_second_moments.register
def _(design: Remembered) -> Floats | None:
    return second_moments(design.wave)


@_second_moments.register
def _(design: Mixture) -> Floats | None:
    component_moments = [second_moments(component) for component in design.components]
    weighted_moments = [
        weight * moments
        for weight, moments in zip(design.weights, component_moments, strict=True)
        if moments is not None
    ]
    return (
        np.asarray(sum(weighted_moments)) / sum(design.weights)
        if len(weighted_moments) == len(component_moments)
        else None
    )


@_second_moments.register
def _(design: Then) -> Floats | None:
    last = second_moments(design.second)
    return None if last is None else np.asarray(np.tensordot(design.first.matrix.T, last, axes=1))


@_second_moments.register
def _(design: Product) -> Floats | None:
    of_first, of_second = second_moments(design.first), second_moments(design.second)
    if of_first is None or of_second is None:
        return None
    size = of_first.shape[1] * of_second.shape[1]
    pair_moments = np.einsum("iab,jcd->ijacbd", of_first, of_second)
    return np.asarray(pair_moments.reshape(len(design.categories), size, size))


@_second_moments.register
def _(design: Subset) -> Floats:
    """k(k-1)/(m(m-1)) off the diagonal and k/m on it, for m candidates; 0 for the true category."""
    t, k, m = len(design.categories), design.discards, design.candidates
    joint_chances = np.full((t, t), k * (k - 1) / (m * (m - 1)) if m > 1 else 0.0)
    np.fill_diagonal(joint_chances, k / m)
    all_moments = np.tile(joint_chances, (t, 1, 1))
    if design.truthful:
        category_places = np.arange(t)
        all_moments[category_places, category_places, :] = 0.0
        all_moments[category_places, :, category_places] = 0.0
    return all_moments


@_second_moments.register
def _(design: WeightedSubset) -> Floats:
    """w_a w_b e_{k-2}(w without a, b, j) / e_k(w without j) for two false categories a and b."""
    w, k, t = design.weights, design.discards, len(design.weights)
    all_moments = np.zeros((t, t, t))
    for j in range(t):
        np.fill_diagonal(all_moments[j], design.expected_statistic[:, j])
        other_places = [place for place in range(t) if place != j]
        for a, b in itertools.combinations(other_places, 2) if k > 1 else ():
            other_weights = [weight for place, weight in enumerate(w) if place not in (a, b, j)]
            all_moments[j, a, b] = all_moments[j, b, a] = (
                w[a] * w[b] * symmetric_sums(other_weights, k - 2)[-1] / design.totals[j]
            )
    return all_moments
