"""Unbiased estimation: each answer becomes an unbiased indicator u of its respondent's category.

With T(y) the statistic of an answer y, u = c + B T(y), E[u | X = j] = e_j (the unit vector) and Σu = 1. So the mean of
u is unbiased for the proportions, whatever the mix of designs and levels. The structure of the design decides how B is
computed (closed form, inverse, or least squares under Σπ = 1); each way gives a map of this one form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Answerable, Design
from naysay.errors import DataError, NotEstimable
from naysay.sampling import Sampled
from naysay.tally import Channel, Part, Tally

Floats = NDArray[np.float64]
"""An array of numbers."""

_SOLUTIONS = ("mean", "least_squares")
_NOTHING = 1e-11  # singular values below this count as zero
_SUMS = ("count", "weight", "weight_squared")


@dataclass(frozen=True)
class LinearMap:
    """u = constant + slope @ T.

    Parameters
    ----------
    constant : (t,) float
    slope : (t, d) float
    structure : str
        How it was found: closed form, inverse, constrained least squares, or mean of answers.
    """

    constant: Floats
    slope: Floats
    structure: str

    def __call__(self, statistic: Floats) -> Floats:
        return self.constant + statistic @ self.slope.T


@dataclass(frozen=True)
class Indicators:
    """The unbiased indicators of distinct answers, and how many people gave them.

    Parameters
    ----------
    u : (distinct, t) float
    count : (distinct,) float
    weight, weight_squared : (distinct,) float
        Sums of survey weights and of their squares; without survey weights both equal the count.
    sampled : Sampled
        How these people were sampled.
    """

    u: Floats
    count: Floats
    weight: Floats
    weight_squared: Floats
    sampled: Sampled

    @property
    def n(self) -> float:
        """Respondents."""
        return float(self.count.sum())

    @property
    def effective(self) -> float:
        """Unweighted answers that would be as precise (Kish 1965)."""
        return float(self.weight.sum() ** 2 / self.weight_squared.sum())

    @property
    def mean(self) -> Floats:
        """The weighted mean of u, (t,): the estimate."""
        return np.asarray(self.weight @ self.u / self.weight.sum())

    @classmethod
    def of(cls, part: Part, sampled: Sampled) -> Indicators:
        """The unbiased indicators of a part's answers."""
        count, weight, squared = (getattr(part, name).astype(float) for name in _SUMS)
        return cls(unbiased(part), count, weight, squared, sampled)

    @property
    def influence(self) -> Floats:
        """The change of the mean per unit of weight on each answer, (distinct, t)."""
        return np.asarray((self.u - self.mean) / self.weight.sum())

    def covariance(self, target: str) -> Floats:
        """Estimated covariance of the mean (t, t), linearized.

        For a population it is the covariance under the sampling; for independent people this is
        n/(n-1) Σw²(u - ū)(u - ū)ᵀ/(Σw)². The correction for a finite population must not shrink the randomization, so
        that part is put back. For a file, where only the randomization is random, it is Σw²(uuᵀ - Diag u)/(Σw)².
        """
        if target == "file":
            return self.randomization(self.weight_squared)
        if self.n < 2:
            return np.full((self.u.shape[1],) * 2, np.nan)
        return np.asarray(self.sampled.covariance(self.influence) + self.randomization(self.sampled.kept))

    def randomization(self, squared: Floats) -> Floats:
        """The covariance (t, t) that the randomization of answers adds, for sums of squared weights (distinct,)."""
        if not squared.any():
            return np.zeros((self.u.shape[1],) * 2)
        covariance = self.u.T @ (self.u * squared[:, None]) - np.diag(squared @ self.u)
        return np.asarray(covariance / self.weight.sum() ** 2)

    @property
    def variances(self) -> Floats:
        """Estimated variances of the mean for a population, (t,)."""
        return np.asarray(np.diagonal(self.covariance("population")))


def indicator_variances(design: Design) -> Floats:
    """Variance of one answer's unbiased indicator of each category, (t,), if all categories are equally common.

    Divided by n, it is the variance of the estimated proportion. The responses must be few enough to list.

    Raises
    ------
    NotEstimable
        If the design cannot tell some proportions apart.
    """
    u = linear_map(design)(design.space.statistic(design.space.listing()))
    return _variances(u, design.matrix)


def is_stacked(design: Answerable) -> bool:
    """Whether proportions are shares of cells that several samples, or the answers to two questions, tell together.

    It is false where respondents choose their level: each level is then read by itself, whoever chooses it.
    """
    return design.assigned_by == "researcher" or design.finer


def tangent(t: int) -> Floats:
    """An orthonormal basis (t, t - 1) of the directions that keep Σπ = 1."""
    return np.asarray(scipy.linalg.helmert(t).T)


def linear_map(design: Channel, solution: str | None = None) -> LinearMap:
    """The unbiased linear map of a design.

    Where there are more answers than categories, several maps are unbiased. For two categories and numbers as answers,
    such as counts of red cards, the default is the map with the smaller variance when both categories are equally
    common. The design alone makes this choice, not the answers, so the estimate stays unbiased.

    Parameters
    ----------
    design : Channel
    solution : {"mean", "least_squares"}, optional
        The mean of the numbers that were answered, or least squares on the frequencies of the answers.

    Raises
    ------
    NotEstimable
        If the design cannot tell some proportions apart; the error holds the contrast and the rank.
    DataError
        If the solution is unknown, or is "mean" for a design without two categories and three or more numeric answers.
    """
    if solution not in (None, *_SOLUTIONS):
        raise DataError(f"solution must be {' or '.join(map(repr, _SOLUTIONS))}; got {solution!r}")
    if solution is None and design.pure and plainly_apart(design):
        return _usual_map(design)
    expected = design.expected_statistic
    if not plainly_apart(design):
        check_rank(expected, design.categories)
    mean = _mean_of_answers(design, expected) if solution != "least_squares" else None
    if solution == "mean":
        if mean is None:
            raise DataError("the mean is for two categories and answers that are numbers, such as in kuk(draws=5)")
        return mean
    usual_map = _usual_map(design) if solution is None else _least_squares(design, expected)
    if mean is None:
        return usual_map
    return min(
        usual_map, mean, key=lambda candidate_map: float(_variances(candidate_map(np.eye(len(expected))), expected)[0])
    )


def _usual_map(design: Channel) -> LinearMap:
    """The map in closed form, by the inverse, or by least squares under Σπ = 1."""
    if design.even_mean is not None:
        (alpha, beta), t = design.even_mean, len(design.categories)
        return LinearMap(np.full(t, -beta / alpha), np.eye(t) / alpha, "closed form")
    return _least_squares(design, design.expected_statistic)


def _least_squares(design: Channel, expected: Floats) -> LinearMap:
    t = expected.shape[1]
    if design.space.one_label and len(expected) == t:
        return LinearMap(np.zeros(t), scipy.linalg.inv(expected), "inverse")
    basis = tangent(t)
    reduced = expected @ basis
    factor = scipy.linalg.cho_factor(reduced.T @ reduced)
    slope = basis @ scipy.linalg.cho_solve(factor, reduced.T)
    centre = np.full(t, 1 / t)
    return LinearMap(centre - slope @ (expected @ centre), slope, "constrained least squares")


def _mean_of_answers(design: Channel, expected: Floats) -> LinearMap | None:
    """The map (y - E[y | 2]) / (E[y | 1] - E[y | 2]), for two categories and more than two answers that are numbers."""
    labels = design.space.labels
    numbers = all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels)
    if not design.space.one_label or expected.shape[1] != 2 or len(labels) < 3 or not numbers:
        return None
    values = np.array(labels, dtype=float)
    first, second = values @ expected
    if abs(first - second) < 1e-12 * np.abs(values).max():
        return None
    slope = values / (first - second)
    low = second / (first - second)
    return LinearMap(np.array([-low, 1 + low]), np.vstack([slope, -slope]), "mean of answers")


def _variances(u: Floats, chances: Floats) -> Floats:
    """Variance of the indicators of one answer, (t,), if all categories are equally common."""
    chance = chances.mean(axis=1)
    return np.asarray(chance @ u**2 - (chance @ u) ** 2)


def rank_of(expected: Floats) -> int:
    """Rank of the expected statistic on the proportions that sum to one; t - 1 tells all of them apart."""
    values = np.linalg.svd(expected @ tangent(expected.shape[1]), compute_uv=False)
    return int((values > _NOTHING * max(1.0, values.max(initial=0.0))).sum())


def plainly_apart(design: Channel) -> bool:
    """Whether the mean of the statistic is αI + β11ᵀ with α ≠ 0: all proportions can then be told apart."""
    return design.even_mean is not None and abs(design.even_mean[0]) > _NOTHING


def check_rank(expected: Floats, categories: tuple[Any, ...]) -> None:
    """Raise `NotEstimable` unless the expected statistic tells all proportions apart."""
    t = len(categories)
    basis = tangent(t)
    rank = rank_of(expected)
    if rank == t - 1:
        return
    _, _, rows = np.linalg.svd(expected @ basis, full_matrices=True)
    contrast = basis @ rows[-1]
    leading = contrast[np.flatnonzero(np.abs(contrast) > 1e-9)[0]]
    contrast = contrast / np.abs(contrast).max() * np.sign(leading)
    up = [_checks.label(label) for label, value in zip(categories, contrast, strict=True) if value > 1e-9]
    down = [_checks.label(label) for label, value in zip(categories, contrast, strict=True) if value < -1e-9]
    raise NotEstimable(
        f"the answers cannot tell {_checks.listing_text(up)} from {_checks.listing_text(down)}: shares can move "
        f"between them without changing any response probability (rank {rank}, {t - 1} needed); "
        "merge these categories or change the design",
        contrast=contrast.tolist(),
        rank=rank,
    )


def indicators(tally: Tally, solution: str | None = None) -> Indicators:
    """The unbiased indicators of all distinct answers in all parts of a tally."""
    parts = [part for part in tally.parts if part.n]
    u = np.vstack([unbiased(part, solution) for part in parts])
    count, weight, squared = (np.concatenate([getattr(part, name) for part in parts]).astype(float) for name in _SUMS)
    heavy = weight > 0
    return Indicators(u[heavy], count[heavy], weight[heavy], squared[heavy], tally.sampled.take(heavy))


def unbiased(part: Part, solution: str | None = None) -> Floats:
    """The unbiased indicators (distinct, t) of one part's answers."""
    try:
        statistic = part.design.space.statistic(part.codes)
        if np.isnan(statistic).any():
            raise DataError("answers to only one of two questions have no unbiased indicator; use maximum_likelihood")
        return linear_map(part.design, solution)(statistic)
    except NotEstimable as error:
        if part.level is None:
            raise
        raise NotEstimable(f"at level {part.level!r} {error}", contrast=error.contrast, rank=error.rank) from None
