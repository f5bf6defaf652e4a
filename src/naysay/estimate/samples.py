"""Several samples: together they tell apart cells that no sample tells apart by itself.

The samples' designs P_g over the cells are stacked. A share of cells is estimable if it lies in the row space of the
stack. The sizes of the samples are fixed, so covariances add over the samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy

from naysay import _checks
from naysay.design import Answerable, Share
from naysay.errors import DataError, NotEstimable
from naysay.estimate import profile
from naysay.estimate.information import Maximum, alike, evidence, information, inverse, likelihood_covariance, maximize
from naysay.estimate.linear import Floats, tangent
from naysay.estimate.result import Cells, Estimate
from naysay.estimate.score import EMPTY, foretold
from naysay.sampling import Sampled
from naysay.tally import Channel, Part, Tally

_SMALL = 1e-9  # singular values below this share of the largest count as zero


class Stack(NamedTuple):
    """The stacked parts with answers; the cells are ĉ = centre + Σ_g slope_g (T̄_g - A_g centre).

    T̄_g is the mean of the statistic in part g, and A_g holds its expectation in each cell.

    Parameters
    ----------
    parts : tuple of Part
    sampled : Sampled
        How the people behind the answers of all parts were sampled.
    slopes : tuple of (cells, d) float
    centre : (cells,) float
    determined_rows : (rank, cells) float
        Orthonormal rows that span what the answers tell of the cells.
    """

    parts: tuple[Part, ...]
    sampled: Sampled
    slopes: tuple[Floats, ...]
    centre: Floats
    determined_rows: Floats

    def cells(self, means: Sequence[Floats]) -> Floats:
        """The cells (cells,), if the parts' statistics have these means."""
        steps = zip(self.parts, self.slopes, means, strict=True)
        shifts = [slope @ (mean - part.design.expected_statistic @ self.centre) for part, slope, mean in steps]
        return np.asarray(self.centre + np.sum(shifts, axis=0))

    def estimate_cells(self) -> tuple[Floats, Floats]:
        """The cells (cells,) and their covariance (cells, cells)."""
        cells = self.cells([_mean(part, _statistic(part)) for part in self.parts])
        scores = np.vstack(self.influences)
        corrected_squares = np.split(self.sampled.kept, np.cumsum([len(part.codes) for part in self.parts])[:-1])
        covariance = self.sampled.covariance(scores)
        for part, slope, squared in zip(self.parts, self.slopes, corrected_squares, strict=True):
            if squared.any():  # a finite population takes off no randomization: Σ (T Tᵀ - Σ_j c_j A_j A_jᵀ)
                statistic, expected = _statistic(part), part.design.expected_statistic
                spread = statistic.T @ (statistic * squared[:, None]) - squared.sum() * (expected * cells) @ expected.T
                covariance = covariance + slope @ spread @ slope.T / part.weight.sum() ** 2
        return cells, covariance

    @property
    def influences(self) -> list[Floats]:
        """The change of the cells per unit of weight on each answer, (distinct, cells), part by part."""
        part_statistics = [(part, _statistic(part)) for part in self.parts]
        statistics_and_slopes = zip(part_statistics, self.slopes, strict=True)
        return [(t - _mean(part, t)) @ slope.T / part.weight.sum() for (part, t), slope in statistics_and_slopes]


def shares_of_means(design: Answerable, tally: Tally, means: Sequence[Floats]) -> Floats:
    """The categories' shares, (t,), if the statistics had these means instead of the tally's."""
    stack = stacked(design, tally, "population")
    nothing = np.zeros((len(stack.centre),) * 2)
    return Cells(design.cells, design.shares, (), stack.cells(means), nothing).values


def stacked(design: Answerable, tally: Tally, target: str) -> Stack:
    """The samples' designs, stacked and solved by least squares with equal weight for every answer.

    Raises
    ------
    NotEstimable
        If a share lies outside the row space of the stack.
    DataError
        If the target is a file.
    """
    if target == "file":
        raise DataError("several samples estimate the population that they were drawn from; leave target='file' out")
    parts = tuple(replace(part, design=design.channel(part.level)) for part in answering(tally))
    channels = [part.design for part in parts]
    silent = [str(name) for name in design.levels if name not in {part.level for part in parts}]
    sizes = np.array([part.n for part in parts], dtype=float)
    solved = _solve_cells(design, channels, sizes / sizes.sum(), silent)
    answered = np.concatenate([np.full(len(part.codes), part.weight.sum() > 0) for part in tally.parts])
    return Stack(parts, tally.drawn(by_part=True).take(answered), *solved)


def answering(tally: Tally) -> list[Part]:
    """The parts whose answers carry weight."""
    return [part for part in tally.parts if part.weight.sum() > 0]


def slopes(design: Answerable, channels: Sequence[Channel], sizes: Floats) -> tuple[Floats, ...]:
    """For each sample, how the cells move with the mean of its statistic, (cells, d); see `moments`.

    Parameters
    ----------
    design : Design or Samples
    channels : sequence of Design
        The designs of the samples that have answers.
    sizes : (samples,) float
        The samples' shares of the respondents.
    """
    return _solve_cells(design, channels, sizes, ())[0]


def _solve_cells(
    design: Answerable, channels: Sequence[Channel], sizes: Floats, silent: Sequence[str]
) -> tuple[tuple[Floats, ...], Floats, Floats]:
    """Slopes, centre and `Stack.told`, by least squares with equal weight for every answer."""
    basis, centre = tangent(len(design.cells)), np.full(len(design.cells), 1 / len(design.cells))
    scales = np.sqrt(sizes)
    stacked = np.vstack([s * channel.expected_statistic for s, channel in zip(scales, channels, strict=True)]) @ basis
    left_vectors, values, right = np.linalg.svd(stacked, full_matrices=False)
    rank = int((values > _SMALL * max(values.max(initial=0.0), _SMALL)).sum())
    determined_rows = np.vstack([np.ones(len(centre)) / np.sqrt(len(centre)), right[:rank] @ basis.T])
    for share in (*design.shares, *design.nuisance):
        _check_estimable(share, design, determined_rows, rank, silent)
    solution = basis @ (right[:rank].T / values[:rank]) @ left_vectors[:, :rank].T
    ends = np.cumsum([channel.expected_statistic.shape[0] for channel in channels])
    part_slopes = tuple(s * block for s, block in zip(scales, np.split(solution, ends[:-1], axis=1), strict=True))
    return part_slopes, centre, determined_rows


def _check_estimable(
    share: Share, design: Answerable, determined_rows: Floats, rank: int, silent: Sequence[str]
) -> None:
    """Raise `NotEstimable` unless numerator and denominator of a share lie in the span of `determined_rows`."""
    for weights in share.weights(design.cells):
        undetermined_part = weights - determined_rows.T @ (determined_rows @ weights)
        if np.abs(undetermined_part).max() < 1e-8:
            continue
        contrast = undetermined_part / np.abs(undetermined_part).max()
        up = [_checks.label(cell) for cell, value in zip(design.cells, contrast, strict=True) if value > 1e-9]
        down = [_checks.label(cell) for cell, value in zip(design.cells, contrast, strict=True) if value < -1e-9]
        advice = (
            f"nobody answered in sample {', '.join(silent)}" if silent else "the samples must differ in their designs"
        )
        raise NotEstimable(
            f"the answers cannot tell the share of {_checks.label(share.name)!r}: people can move between "
            f"{_checks.listing_text(up)} and {_checks.listing_text(down)} without changing any response probability "
            f"(rank {rank} of {len(design.cells) - 1}); {advice}",
            contrast=contrast.tolist(),
            rank=rank,
        )


def _mean(part: Part, statistic: Floats) -> Floats:
    """The weighted mean of a part's statistic, (d,)."""
    return np.asarray(part.weight @ statistic / part.weight.sum())


def _statistic(part: Part) -> Floats:
    """The linear statistic of a part's answers, (distinct, d)."""
    statistic = part.design.space.statistic(part.codes)
    if np.isnan(statistic).any():
        raise DataError("answers to only one of two questions have no moments; use maximum_likelihood")
    return np.asarray(statistic)


def reservations(design: Answerable, tally: Tally, values: Floats, maximum: Maximum | None) -> list[str]:
    """Warnings that a reader of shares of cells, (shares,), needs."""
    sentences = alike(tally)
    names = [_checks.label(share.name) for share in (*design.shares, *design.nuisance)]
    pairs = list(zip(names, values.tolist(), strict=True))
    unknown = [name for name, value in pairs if math.isnan(value)]
    outside = [name for name, value in pairs if not -1e-9 <= value <= 1 + 1e-9 and name not in unknown]
    edge = [name for name, value in pairs if value <= 1e-9 or value >= 1 - 1e-9]
    if unknown:
        sentences.append(f"not determined by these answers: {', '.join(unknown)}")
    if outside and maximum is None:
        stays = "maximum_likelihood stays inside"
        sentences.append(f"outside [0, 1], as an unbiased estimate may be: {', '.join(outside)}; {stays}")
    if maximum is not None and edge:
        sentences.append(f"at the boundary: {', '.join(edge)}; standard errors are unreliable there, see intervals")
    empty = [str(level) for level in design.levels if not any(p.n for p in tally.parts if p.level == level)]
    if empty:
        sentences.append(f"nobody answered in sample {', '.join(empty)}")
    return sentences


def apart_from_likelihood(fit: Estimate) -> bool:
    """Whether an estimate is by moments that differ from maximum likelihood."""
    return fit.maximum is None and overdetermined(fit)


def overdetermined(fit: Estimate) -> bool:
    """Whether the samples' answers have more degrees of freedom than the estimate."""
    stack = stacked(fit.design, fit.tally, "population")
    answers = sum(
        int((part.design.rows(part.design.space.listing()).max(axis=1) > 0).sum()) - 1 for part in stack.parts
    )
    return answers > len(stack.determined_rows) - 1


def wald(fit: Estimate, confidence: float, shares: Sequence[Share], *, within: bool = True) -> Floats:
    """Wald intervals of some shares of a fit, (shares, 2): estimate ± standard errors times the quantile of t.

    With `within`, an estimate beyond 0 or 1 gets the interval of an estimate at that end.
    """
    stacked_cells = fit.cells_of_samples
    places = [stacked_cells.shares.index(share) for share in shares]
    quantile = np.sqrt(scipy.stats.f.ppf(confidence, 1, _degrees_of_freedom(fit)))
    values = np.clip(stacked_cells.values, 0.0, 1.0) if within else stacked_cells.values
    half = quantile * np.sqrt(np.diagonal(stacked_cells.covariance_of_shares))
    return np.column_stack([values - half, values + half])[places]


def bounds(fit: Estimate, confidence: float, shares: Sequence[Share], *, within: bool = True) -> Floats:
    """Profile-likelihood intervals of some shares of a fit, (shares, 2).

    The reference is F(1, df), with the degrees of freedom that the share's variance is worth. Where a possible answer
    never came, each possible answer of its sample gets half an answer more, for the interval only. With `within`, the
    likelihood is that of answers as the most likely cells foretell them, where some of these cells are 0: answers that
    lie beyond what the design allows make no share more certain.
    """
    stacked_cells = fit.cells_of_samples
    rows, weights = _pad_answers(fit.tally)
    best = maximize(rows, weights, tolerance=1e-6).proportions
    if within and (best < EMPTY).any():
        rows, weights = foretold(fit.tally, best)
    start = 0.999 * best + 0.001 / len(best)
    quantile = scipy.stats.f.ppf(confidence, 1, _degrees_of_freedom(fit)) * _variance_ratios(fit)
    summit = profile.told_summit(rows, weights, start)
    weights_of = [share.weights(stacked_cells.cells) for share in shares]
    ends: list[tuple[float, float]] = []
    for share, (above, below) in zip(shares, weights_of, strict=True):
        first = weights_of[0]
        if len(ends) == 1 and np.array_equal(first[0] + above, below) and np.array_equal(first[1], below):
            ends.append((1 - ends[0][1], 1 - ends[0][0]))  # the second share is the complement of the first
        else:
            ends.append(profile.share_profile(summit, above, below, float(quantile[stacked_cells.shares.index(share)])))
    return np.array(ends)


def _pad_answers(tally: Tally) -> tuple[Floats, Floats]:
    """Likelihood rows and weights; where a possible answer never came, each possible one gets half an answer more."""
    rows, weights = [], []
    scale = tally.n / tally.weight
    for part in answering(tally):
        likelihood_rows, amounts = part.design.rows(part.codes), part.weight.astype(float) * scale
        possible = part.design.rows(part.design.space.listing())
        possible = possible[possible.max(axis=1) > 0]
        if len(possible) > len(likelihood_rows):
            likelihood_rows, amounts = (
                np.vstack([likelihood_rows, possible]),
                np.concatenate([amounts, np.full(len(possible), 0.5)]),
            )
        rows.append(likelihood_rows)
        weights.append(amounts)
    return np.vstack(rows), np.concatenate(weights)


def influences(fit: Estimate) -> list[tuple[Part, Floats]]:
    """Each part with the change of every share per unit of weight on each of its answers, (distinct, shares)."""
    stacked_cells = fit.cells_of_samples
    if fit.maximum is None:
        stack = stacked(fit.design, fit.tally, "population")
        pairs = zip(answering(fit.tally), stack.influences, strict=True)
        return [(part, influence @ stacked_cells.gradients.T) for part, influence in pairs]
    rows, weights, _ = evidence(fit.tally)
    bread = inverse(information(rows, weights, stacked_cells.proportions)) * (fit.n / fit.tally.weight)
    part_rows = [(part, part.design.rows(part.codes)) for part in answering(fit.tally)]
    scores = ((part, rows / (rows @ stacked_cells.proportions)[:, None] - 1) for part, rows in part_rows)
    return [(part, score @ bread @ stacked_cells.gradients.T) for part, score in scores]


def _degrees_of_freedom(fit: Estimate) -> Floats:
    """2 V²/Var(V) for the variance V of each share (Satterthwaite 1946), in the same way as for means of indicators.

    With survey weights, a sample counts as many answers as an unweighted sample of equal precision (Kish 1965).
    """
    variance, spread = np.zeros((2, len(fit.cells_of_samples.shares)))
    for part, influence in influences(fit):
        share = part.weight / part.weight.sum()
        squares = ((influence - share @ influence) * part.weight.sum()) ** 2
        second = share @ squares
        variance += second / part.effective
        spread += share @ (squares - second) ** 2 / part.effective**3
    with np.errstate(divide="ignore", invalid="ignore"):
        df = 2 * variance**2 / spread
    most = 1e9 if fit.tally.complex is None else fit.tally.complex.degrees_of_freedom
    return np.clip(np.where(np.isfinite(df), df, np.inf), 1.0, most)


def _variance_ratios(fit: Estimate) -> Floats:
    """Linearized variance divided by the model's, (shares,): 1 without survey weights (Rao & Scott)."""
    stacked_cells = fit.cells_of_samples
    if not fit.tally.weighted:
        return np.ones(len(stacked_cells.shares))
    answer_evidence = evidence(fit.tally)
    free = replace(maximize(*answer_evidence[:2]), undetermined=np.zeros((len(stacked_cells.cells), 0)))
    model = stacked_cells.gradients @ likelihood_covariance(*answer_evidence, free) @ stacked_cells.gradients.T
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.diagonal(stacked_cells.covariance_of_shares) / np.diagonal(model)
    return np.where(np.isfinite(ratio) & (ratio > 0), ratio, 1.0)
