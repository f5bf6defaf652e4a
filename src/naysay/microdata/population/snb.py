"""People unique in the population, by a shifted negative binomial law of class sizes (Chen & Keller-McNulty 1998)."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import expit

from naysay.microdata.population.uniques import NOWHERE, Sample, Uniques

ASSUMPTION = "class sizes minus one are negative binomial, and the number of classes is Haas & Stokes' estimate"
WITHOUT = "the error of the estimated number of classes is not known"
LEAST = 0.1  # the fraction below which the number of classes is far off


def snb(sample: Sample, *, confidence: float = 0.95, among: float | None = None) -> Uniques:
    """The number of people unique in the population, U = K β^α.

    With d = (1-π)(1-β), α and β solve E n₁ = Kπ (β/(1-d))^α (1 + αd/(1-d)) and
    E n₂ = ½Kπ² α(1-β) β^α (1-d)^{-α-2} (2 - (1-α)d). K is `classes`, unless `among` gives it. Below a fraction of
    `LEAST`, K fails, and the number is withheld.

    Examples
    --------
    >>> import numpy as np
    >>> found = snb(Sample.of(np.repeat([1, 2, 3, 9], [300, 80, 30, 20]), 4_000))
    >>> round(found.people), round(found.parameters["classes"])
    (711, 1269)

    Notes
    -----
    Chen & Keller-McNulty (1998), Estimation of identification disclosure risk in microdata, Journal of Official
    Statistics 14(1), 79-95.
    """
    unique = float(sample.of_size(1))
    if sample.fraction == 1:
        return Uniques("snb", ASSUMPTION, unique, (unique, unique), sample, confidence=confidence)
    reason = sample.reason
    if not reason and sample.fraction < LEAST:
        reason = f"less than {LEAST:g} of the population is in the file: the number of classes cannot be told"
    if sample.sets in (1, sample.records):
        return Uniques("snb", ASSUMPTION, math.nan, NOWHERE, sample, {}, reason, WITHOUT, confidence)
    number = classes(sample) if among is None else among
    alpha, beta, is_solved = _solve_equations(sample, number)
    if not is_solved:
        reason = reason or "no negative binomial law has so many unique records and pairs"
    parameters = {"alpha": alpha, "beta": beta, "classes": number}
    people = number * beta**alpha if is_solved else math.nan
    return Uniques("snb", ASSUMPTION, people, NOWHERE, sample, parameters, reason, WITHOUT, confidence)


def classes(sample: Sample) -> float:
    """The number K of classes in the population, by the modified estimator of Shlosser.

    K = u + n₁ [Σ jπ²(1-π²)^{j-1} n_j / Σ (1-π)^j((1+π)^j - 1) n_j] [Σ (1-π)^j n_j / Σ jπ(1-π)^{j-1} n_j]²

    Notes
    -----
    Haas & Stokes (1998), Estimating the number of classes in a finite population, JASA 93(444), 1475-1487.
    """
    part, j, cells = sample.fraction, sample.sizes.astype(np.float64), sample.cells
    outside = (1 - part) ** j
    above = (j * part**2 * (1 - part**2) ** (j - 1) * cells).sum()
    # (1-π)^j (1+π)^j is (1-π²)^j: the power of 1 + π alone would overflow
    below = (((1 - part**2) ** j - outside) * cells).sum()
    ratio = (outside * cells).sum() / (j * part * (1 - part) ** (j - 1) * cells).sum()
    return float(sample.sets + sample.of_size(1) * above / below * ratio**2)


def _solve_equations(sample: Sample, number: float) -> tuple[float, float, bool]:
    """α and β from the two equations, and whether both hold."""
    solutions = [
        scipy.optimize.least_squares(_equation_errors, start, args=(sample, number), xtol=1e-15, ftol=1e-15, gtol=1e-15)
        for start in product((-2.0, 0.0, 2.0), (-4.0, -1.0, 1.0))
    ]
    best = min(solutions, key=lambda solution: solution.cost)
    return math.exp(best.x[0]), float(expit(best.x[1])), bool(np.abs(best.fun).max() < 1e-6)


def _equation_errors(place: NDArray[np.float64], sample: Sample, number: float) -> NDArray[np.float64]:
    """By how much each expected number misses the counted one, as logarithms."""
    alpha, beta = math.exp(np.clip(place[0], -30, 30)), float(np.clip(expit(place[1]), 1e-300, 1 - 1e-15))
    part = sample.fraction
    d = (1 - part) * (1 - beta)
    shared = math.log(number * part) + alpha * (math.log(beta) - math.log1p(-d))
    ones = shared + math.log1p(alpha * d / (1 - d))
    twos = shared + math.log(part / 2 * alpha * (1 - beta)) - 2 * math.log1p(-d) + math.log(2 - (1 - alpha) * d)
    log_counts = np.log([max(sample.of_size(1), 0.5), max(sample.of_size(2), 0.5)])
    return np.array([ones, twos]) - log_counts
