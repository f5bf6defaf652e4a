"""Samples and controls that together tell apart cells that no answer tells apart by itself.

The samples' designs P_g over the cells are stacked. A share of cells is estimable if it lies in the row space of the
stack. The sizes of the samples are fixed, so covariances add over the samples.

Controls say who does not comply. People of one type answer question and controls in a way of their own, whatever is
true of them. With ū the unbiased indicators of the question as if everybody complied, v what such people look like
there, and D a statistic of the controls whose mean is 0 among those who comply and 1 among the others,

    ρ̂ = D̄,   a_j = ū_j - ρ̂ v_j,   π̂_j = a_j / (1 - ρ̂).

D is the linear statistic of a control's answers that has the least variance among those who comply; where an answer is
impossible for them, it has none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy

from naysay import _checks
from naysay._values import Floats, Label
from naysay.design import Answerable, Design, Share
from naysay.design.base import answers_of
from naysay.design.several import check_shares
from naysay.errors import DataError
from naysay.estimate import inversion
from naysay.estimate.fit import Cells, Fit, alike
from naysay.estimate.inversion import EMPTY, foretold
from naysay.estimate.likelihood import (
    Maximum,
    answering,
    evidence,
    information,
    inverse,
    is_answering,
    likelihood_covariance,
    maximize,
    tangent,
)
from naysay.sampling import Sampled
from naysay.tally import Channel, Part, Tally

_TRACE = 1e-3  # of an answer
_RARE = 10  # people of a category in a sample that sees the truth; with fewer, the likelihood's interval held in .52
_SMALL = 1e-9  # singular values below this share of the largest count as zero
_NONE = 1e-10  # variances and distances below it are rounding


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
        part_triples = zip(self.parts, self.slopes, means, strict=True)
        cell_shifts = [
            part_slope @ (part_mean - part.design.expected_statistic @ self.centre)
            for part, part_slope, part_mean in part_triples
        ]
        return np.asarray(self.centre + np.sum(cell_shifts, axis=0))

    def estimate_cells(self) -> tuple[Floats, Floats]:
        """The cells (cells,) and their covariance (cells, cells)."""
        cells = self.cells([_mean(part, _statistic(part)) for part in self.parts])
        answer_influences = np.vstack(self.influences)
        corrected_squares = np.split(self.sampled.kept, np.cumsum([len(part.codes) for part in self.parts])[:-1])
        covariance = self.sampled.covariance(answer_influences)
        for part, part_slope, part_squares in zip(self.parts, self.slopes, corrected_squares, strict=True):
            if part_squares.any():  # a finite population takes off no randomization: Σ (T Tᵀ - Σ_j c_j A_j A_jᵀ)
                part_statistic, expected_statistic = _statistic(part), part.design.expected_statistic
                statistic_spread = (
                    part_statistic.T @ (part_statistic * part_squares[:, None])
                    - part_squares.sum() * (expected_statistic * cells) @ expected_statistic.T
                )
                covariance = covariance + part_slope @ statistic_spread @ part_slope.T / part.weight.sum() ** 2
        return cells, covariance

    @property
    def influences(self) -> list[Floats]:
        """The change of the cells per unit of weight on each answer, (distinct, cells), part by part."""
        part_statistics = [(part, _statistic(part)) for part in self.parts]
        statistics_and_slopes = zip(part_statistics, self.slopes, strict=True)
        return [(t - _mean(part, t)) @ slope.T / part.weight.sum() for (part, t), slope in statistics_and_slopes]


def moment_cells(design: Answerable, tally: Tally, target: str = "population") -> tuple[Floats, Floats, Floats]:
    """The cells (cells,) by moments, their covariance, with the error of estimated chances, and `Cells.moves`."""
    cells, covariance = stacked(design, tally, target).estimate_cells()
    moves = moves_of(cells, [stacked(moved, tally, target).estimate_cells()[0] for moved in design.uncertain])
    return cells, covariance + moves.T @ moves, moves


def moves_of(cells: Floats, moved: Sequence[Floats]) -> Floats:
    """`Cells.moves`, from the cells with each estimated number of a design a tenth of a standard error off."""
    return np.asarray(10 * (np.array(moved).reshape(-1, len(cells)) - cells))


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
    answered_parts = tuple(replace(part, design=design.channel(part.level)) for part in answering(tally))
    part_designs = [design.channel(part.level) for part in answered_parts]
    silent_samples = [
        str(sample_name) for sample_name in design.levels if sample_name not in {part.level for part in answered_parts}
    ]
    has_controls = all(controls_of(design, channel) for channel in part_designs)  # what is known of people is no sample
    part_sizes = np.array([part.weight.sum() if has_controls else part.n for part in answered_parts], dtype=float)
    solved_cells = _solve_cells(design, part_designs, part_sizes / part_sizes.sum(), silent_samples)
    return Stack(answered_parts, tally.drawn(by_part=True).take(is_answering(tally)), *solved_cells)


def slopes(design: Answerable, channels: Sequence[Design], sizes: Floats) -> tuple[Floats, ...]:
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
    design: Answerable, channels: Sequence[Design], sizes: Floats, silent: Sequence[str]
) -> tuple[tuple[Floats, ...], Floats, Floats]:
    """Slopes, centre and `Stack.determined_rows`: by controls, or by least squares with equal weight for answers."""
    basis, even_shares = tangent(len(design.cells)), np.full(len(design.cells), 1 / len(design.cells))
    size_roots = np.sqrt(sizes)
    stacked_statistics = (
        np.vstack([s * channel.expected_statistic for s, channel in zip(size_roots, channels, strict=True)]) @ basis
    )
    left_vectors, singular_values, right_vectors = np.linalg.svd(stacked_statistics, full_matrices=False)
    rank = int((singular_values > _SMALL * max(singular_values.max(initial=0.0), _SMALL)).sum())
    determined_rows = np.vstack([np.ones(len(even_shares)) / np.sqrt(len(even_shares)), right_vectors[:rank] @ basis.T])
    silent_text = f"nobody answered in sample {', '.join(silent)}" if silent else ""
    check_shares(design, determined_rows, advice=silent_text)
    channel_controls = [controls_of(design, channel) for channel in channels]
    if all(channel_controls):
        control_slopes = (controls.slope for controls in channel_controls if controls is not None)
        return (
            tuple(size * slope for size, slope in zip(sizes, control_slopes, strict=True)),
            even_shares,
            determined_rows,
        )
    stacked_solution = basis @ (right_vectors[:rank].T / singular_values[:rank]) @ left_vectors[:, :rank].T
    channel_ends = np.cumsum([channel.expected_statistic.shape[0] for channel in channels])
    part_slopes = tuple(
        s * solution_block
        for s, solution_block in zip(size_roots, np.split(stacked_solution, channel_ends[:-1], axis=1), strict=True)
    )
    return part_slopes, even_shares, determined_rows


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
    warning_texts = alike(tally)
    share_names = [_checks.label(share.name) for share in (*design.shares, *design.nuisance)]
    named_shares = list(zip(share_names, values.tolist(), strict=True))
    unknown_names = [share_name for share_name, value in named_shares if math.isnan(value)]
    outside_names = [
        share_name
        for share_name, value in named_shares
        if not -1e-9 <= value <= 1 + 1e-9 and share_name not in unknown_names
    ]
    edge_names = [share_name for share_name, value in named_shares if value <= 1e-9 or value >= 1 - 1e-9]
    if unknown_names:
        warning_texts.append(f"not determined by these answers: {', '.join(unknown_names)}")
    if outside_names and maximum is None:
        inside_text = "maximum_likelihood stays inside"
        warning_texts.append(
            f"outside [0, 1], as an unbiased estimate may be: {', '.join(outside_names)}; {inside_text}"
        )
    if maximum is not None and edge_names:
        warning_texts.append(
            f"at the boundary: {', '.join(edge_names)}; standard errors are unreliable there, see intervals"
        )
    empty_samples = [str(level) for level in design.levels if not any(p.n for p in tally.parts if p.level == level)]
    if empty_samples:
        warning_texts.append(f"nobody answered in sample {', '.join(empty_samples)}")
    for level, _, people in _seen_cells(design, tally):
        rare_names = [
            _checks.label(share.name) for share in design.shares if share.weights(design.cells)[0] @ people < _RARE
        ]
        if rare_names:
            warning_texts.append(
                f"in sample {level}, fewer than {_RARE} people are of: {', '.join(rare_names)}; intervals hold all "
                "that this sample alone allows"
            )
    return warning_texts


def _seen_cells(design: Answerable, tally: Tally) -> Iterator[tuple[str, Part, Floats]]:
    """Name, answers and people in each cell, (cells,), of every sample that tells how those of the others are meant.

    Its answers tell the cell of each person, whatever it is. Where all chances are known, no sample rests on another.
    """
    for part in answering(tally) if design.nuisance else ():
        if part.level is not None and part.design.space.listable:
            is_of_cell = part.design.rows(part.codes) > 0
            if ((part.design.matrix > 0).sum(axis=1) <= 1).all() and (is_of_cell.sum(axis=1) <= 1).all():
                yield part.level, part, part.weight @ is_of_cell


def _with_seen(ends: Floats, fit: Fit, confidence: float, shares: Sequence[Share]) -> Floats:
    """Intervals (shares, 2), extended to what a sample that sees the truth allows by itself, where it saw few people.

    How those few answer, or nobody, says next to nothing of how their category answers, so that the likelihood of all
    samples has no law to be judged by. The interval of Clopper & Pearson (1934) rests on no such law.
    """
    for _, part, people in _seen_cells(fit.design, fit.tally):
        sizes = np.array([share.weights(fit.design.cells) for share in shares]) @ people * part.effective / people.sum()
        inside, outside = sizes[:, 0], sizes[:, 1] - sizes[:, 0]
        is_rare = np.minimum(inside, outside) < _RARE
        alone = scipy.stats.beta.ppf(
            [(1 - confidence) / 2, (1 + confidence) / 2],
            np.column_stack([inside, inside + 1]),
            np.column_stack([outside + 1, outside]),
        )
        alone = np.where(np.isnan(alone), [0.0, 1.0], alone)  # of nobody, and of everybody
        ends[is_rare] = np.column_stack([np.fmin(ends[:, 0], alone[:, 0]), np.fmax(ends[:, 1], alone[:, 1])])[is_rare]
    return ends


def apart_from_likelihood(fit: Fit) -> bool:
    """Whether an estimate is by moments that differ from maximum likelihood."""
    return fit.maximum is None and overdetermined(fit)


def overdetermined(fit: Fit) -> bool:
    """Whether the samples' answers have more degrees of freedom than the estimate."""
    stack = stacked(fit.design, fit.tally, "population")
    answers = sum(
        int((part.design.rows(part.design.space.listing()).max(axis=1) > 0).sum()) - 1 for part in stack.parts
    )
    return answers > len(stack.determined_rows) - 1


def wald(fit: Fit, confidence: float, shares: Sequence[Share], *, within: bool = True) -> Floats:
    """Wald intervals of some shares of a fit, (shares, 2): estimate ± standard errors times the quantile of t.

    With `within`, an estimate beyond 0 or 1 gets the interval of an estimate at that end.
    """
    stacked_cells = fit.cells_of_samples
    share_places = [stacked_cells.shares.index(share) for share in shares]
    quantile = np.sqrt(scipy.stats.f.ppf(confidence, 1, _degrees_of_freedom(fit)))
    interval_centers = np.clip(stacked_cells.values, 0.0, 1.0) if within else stacked_cells.values
    half_widths = quantile * np.sqrt(np.diagonal(stacked_cells.covariance_of_shares))
    ends = np.column_stack([interval_centers - half_widths, interval_centers + half_widths])[share_places]
    return _with_seen(ends, fit, confidence, shares) if within else ends


def fieller(fit: Fit, z: float, shares: Sequence[Share], *, within: bool = True) -> Floats:
    """Fieller's (1954) intervals of some shares of a fit, (shares, 2): all x that |N - xB| ≤ z se(N - xB) allows.

    N is the numerator of a share and B its denominator, by moments, for a likelihood estimate too. Where the data do
    not tell B from 0, any x is allowed.
    """
    cells = fit.cells_of_samples
    if fit.maximum is not None:
        unbounded = moment_cells(fit.design, fit.tally, fit.target)
        cells = Cells(cells.cells, cells.categories, cells.nuisance, *unbounded)
    share_ends = []
    for share in shares:
        numerator_weights, denominator_weights = share.weights(cells.cells)
        above, below = float(numerator_weights @ cells.proportions), float(denominator_weights @ cells.proportions)
        if within:
            above = below * min(max(above / below, 0.0), 1.0)
        share_weights = np.array([numerator_weights, denominator_weights])
        (above_variance, common), (_, below_variance) = z**2 * (share_weights @ cells.covariance @ share_weights.T)
        square, middle, rest = below**2 - below_variance, above * below - common, above**2 - above_variance
        if square <= 0:
            share_ends.append((-np.inf, np.inf))
            continue
        root = math.sqrt(max(middle**2 - square * rest, 0.0))
        share_ends.append(((middle - root) / square, (middle + root) / square))
    return np.array(share_ends)


def bounds(fit: Fit, confidence: float, shares: Sequence[Share], *, within: bool = True) -> Floats:
    """Profile-likelihood intervals of some shares of a fit, (shares, 2).

    The reference is F(1, df), with the degrees of freedom that the share's variance is worth. Where a possible answer
    never came, each possible one of its sample gets some of an answer more, for the interval only. With `within`, the
    likelihood is that of answers as the most likely cells foretell them, where some of these cells are 0: answers that
    lie beyond what the design allows make no share more certain.
    """
    stacked_cells = fit.cells_of_samples
    likelihood_rows, weights = _pad_answers(fit.design, fit.tally)
    best_cells = maximize(likelihood_rows, weights, tolerance=1e-6).proportions
    if within and (best_cells < EMPTY).any():
        likelihood_rows, weights = foretold(fit.tally, best_cells)
    start_cells = 0.999 * best_cells + 0.001 / len(best_cells)
    quantile = scipy.stats.f.ppf(confidence, 1, _degrees_of_freedom(fit)) * _variance_ratios(fit)
    summit = inversion.told_summit(likelihood_rows, weights, start_cells)
    weights_of = [share.weights(stacked_cells.cells) for share in shares]
    share_ends: list[tuple[float, float]] = []
    for share, (numerator_weights, denominator_weights) in zip(shares, weights_of, strict=True):
        first_weights = weights_of[0]
        if (
            len(share_ends) == 1
            and np.array_equal(first_weights[0] + numerator_weights, denominator_weights)
            and np.array_equal(first_weights[1], denominator_weights)
        ):
            # the second share is the complement of the first
            share_ends.append((1 - share_ends[0][1], 1 - share_ends[0][0]))
        else:
            share_ends.append(
                inversion.share_profile(
                    summit, numerator_weights, denominator_weights, float(quantile[stacked_cells.shares.index(share)])
                )
            )
    return _with_seen(np.array(share_ends), fit, confidence, shares) if within else np.array(share_ends)


def _pad_answers(design: Answerable, tally: Tally) -> tuple[Floats, Floats]:
    """Likelihood rows and weights; where a possible answer never came, each possible one gets some of an answer more.

    It gets half an answer, and a trace where many answers are left to those who do not comply.
    """
    row_blocks, weight_blocks, added_amount = [], [], _TRACE if design.structure.tells_types else 0.5
    weight_scale = tally.n / tally.weight
    for part in answering(tally):
        likelihood_rows, answer_amounts = part.design.rows(part.codes), part.weight.astype(float) * weight_scale
        possible_rows = part.design.rows(part.design.space.listing())
        possible_rows = possible_rows[possible_rows.max(axis=1) > 0]
        if len(possible_rows) > len(likelihood_rows):
            likelihood_rows = np.vstack([likelihood_rows, possible_rows])
            answer_amounts = np.concatenate([answer_amounts, np.full(len(possible_rows), added_amount)])
        row_blocks.append(likelihood_rows)
        weight_blocks.append(answer_amounts)
    return np.vstack(row_blocks), np.concatenate(weight_blocks)


def influences(fit: Fit) -> list[tuple[Part, Floats]]:
    """Each part with the change of every share per unit of weight on each of its answers, (distinct, shares)."""
    stacked_cells = fit.cells_of_samples
    if fit.maximum is None:
        stack = stacked(fit.design, fit.tally, "population")
        part_influences = zip(answering(fit.tally), stack.influences, strict=True)
        return [(part, influence @ stacked_cells.gradients.T) for part, influence in part_influences]
    likelihood_rows, weights, _ = evidence(fit.tally)
    inverse_information = inverse(information(likelihood_rows, weights, stacked_cells.proportions)) * (
        fit.n / fit.tally.weight
    )
    part_rows = [(part, part.design.rows(part.codes)) for part in answering(fit.tally)]
    part_scores = (
        (part, answer_rows / (answer_rows @ stacked_cells.proportions)[:, None] - 1) for part, answer_rows in part_rows
    )
    return [
        (part, answer_scores @ inverse_information @ stacked_cells.gradients.T) for part, answer_scores in part_scores
    ]


def _degrees_of_freedom(fit: Fit) -> Floats:
    """2 V²/Var(V) for the variance V of each share (Satterthwaite 1946), in the same way as for means of indicators.

    With survey weights, a sample counts as many answers as an unweighted sample of equal precision (Kish 1965).
    """
    share_variances, variance_spreads = np.zeros((2, len(fit.cells_of_samples.shares)))
    for part, influence in influences(fit):
        weight_shares = part.weight / part.weight.sum()
        squared_deviations = ((influence - weight_shares @ influence) * part.weight.sum()) ** 2
        second_moment = weight_shares @ squared_deviations
        share_variances += second_moment / part.effective
        variance_spreads += weight_shares @ (squared_deviations - second_moment) ** 2 / part.effective**3
    with np.errstate(divide="ignore", invalid="ignore"):
        df = 2 * share_variances**2 / variance_spreads
    most_df = 1e9 if fit.tally.complex is None else fit.tally.complex.degrees_of_freedom
    return np.clip(np.where(np.isfinite(df), df, np.inf), 1.0, most_df)


def _variance_ratios(fit: Fit) -> Floats:
    """Variance divided by the model's, (shares,), with survey weights or estimated chances (Rao & Scott); 1 without."""
    stacked_cells = fit.cells_of_samples
    if not fit.tally.weighted and not fit.design.uncertain:
        return np.ones(len(stacked_cells.shares))
    answer_evidence = evidence(fit.tally)
    determined_maximum = replace(maximize(*answer_evidence[:2]), undetermined=np.zeros((len(stacked_cells.cells), 0)))
    model_covariance = (
        stacked_cells.gradients
        @ likelihood_covariance(*answer_evidence, determined_maximum)
        @ stacked_cells.gradients.T
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        variance_ratios = np.diagonal(stacked_cells.covariance_of_shares) / np.diagonal(model_covariance)
    return np.where(np.isfinite(variance_ratios) & (variance_ratios > 0), variance_ratios, 1.0)


class Signal(NamedTuple):
    """What one control shows: D = shift + slope · T, of the values that its answers give it.

    Parameters
    ----------
    slope : (d,) float
    shift : float
    values : (responses,) float
        D of each response that somebody can give.
    comply, others : (responses,) float
        How likely each response is from those who comply, and from the others.
    """

    slope: Floats
    shift: float
    values: Floats
    comply: Floats
    others: Floats

    @property
    def variances(self) -> Floats:
        """Var D among those who comply and among the others, (2,)."""
        chances = np.array([self.comply, self.others])
        return np.asarray(chances @ self.values**2 - (chances @ self.values) ** 2)

    @property
    def cut(self) -> float:
        """The value of D above which an answer is telling: between two values, or 0 where compliers give one only."""
        return _NONE if self.variances[0] < _NONE else float(self.values.min() + self.values.max()) / 2

    @property
    def chances(self) -> Floats:
        """How likely a telling answer is from those who comply, and from the others, (2,)."""
        return np.array([self.comply, self.others]) @ (self.values > self.cut)

    @property
    def has_two_values(self) -> bool:
        """Whether D takes two values."""
        low, high = self.values.min(), self.values.max()
        return bool(
            np.abs(np.where(self.values > self.cut, high, low) - self.values).max() < 1e-9 * max(high - low, 1.0)
        )


class Controls(NamedTuple):
    """A sample's question, what people who do not comply look like there, and its controls.

    Parameters
    ----------
    question : Channel
    labels : tuple of label
        The categories.
    indicators : (t, d) float
        U, so that u = centre + U (T - A centre) for equal shares `centre`.
    look : (t,) float
        v, the mean indicators of people who do not comply.
    signals : tuple of Signal
    """

    question: Channel
    labels: tuple[Label, ...]
    indicators: Floats
    look: Floats
    signals: tuple[Signal, ...]

    @property
    def slope(self) -> Floats:
        """How the cells move with the means of the statistics of all answers, (cells, d)."""
        signal_slopes = [signal.slope / len(self.signals) for signal in self.signals]
        share_slope = np.concatenate([np.zeros(self.indicators.shape[1]), *signal_slopes])
        category_slopes = np.pad(self.indicators, ((0, 0), (0, len(share_slope) - self.indicators.shape[1])))
        return np.vstack([category_slopes - np.outer(self.look, share_slope), share_slope])

    @property
    def variances(self) -> Floats:
        """Var D̄ of one person who complies, and of one who does not, (2,)."""
        return np.asarray(np.sum([signal.variances for signal in self.signals], axis=0) / len(self.signals) ** 2)

    def values(self, statistic: Floats) -> Floats:
        """D of the answer to each control, (controls, answers), from the statistics of all answers."""
        values_by_control, start = [], self.indicators.shape[1]
        for signal in self.signals:
            end = start + len(signal.slope)
            values_by_control.append(signal.shift + statistic[:, start:end] @ signal.slope)
            start = end
        return np.array(values_by_control)

    @property
    def chances(self) -> Floats:
        """How likely some telling answer is from those who comply, and from the others, (2,)."""
        return np.asarray(1 - np.prod([1 - signal.chances for signal in self.signals], axis=0))

    @property
    def rules_out(self) -> bool:
        """Whether those who comply never name what is true of them, in the question as in the controls."""
        t, space = len(self.look), self.question.space
        return tuple(space.labels)[:t] == self.labels and bool(
            (np.diagonal(self.question.expected_statistic)[:t] == 0).all()
        )


def controls_of(design: Answerable, channel: Design) -> Controls | None:
    """The question and the controls that the answers of a sample hold; None where it is no such sample.

    The last answers are controls if all who comply answer them alike. There is one cell of people who do not comply.
    """
    t, answers = len(design.categories), answers_of(channel)
    complying_cells = [list(design.cells).index(cell) for share in design.shares for cell in share.of]
    if len(answers) < 2 or complying_cells != list(range(t)) or len(design.cells) != t + 1:
        return None
    question, *control_parts = answers
    signals = [_signal(part, t) for part in control_parts]
    expected, centre, basis = question.expected_statistic, np.full(t, 1 / t), tangent(t)
    indicators = basis @ np.linalg.pinv(expected[:, :t] @ basis, rcond=_NONE)
    if any(signal is None for signal in signals) or np.linalg.matrix_rank(expected[:, :t] @ basis, tol=_NONE) < t - 1:
        return None
    look = centre + indicators @ (expected[:, t] - expected[:, :t] @ centre)
    return Controls(
        question, tuple(design.categories), indicators, look, tuple(signal for signal in signals if signal is not None)
    )


def _signal(control: Channel, t: int) -> Signal | None:
    """D of one control; None where it depends on the category, or tells nothing."""
    expected = control.expected_statistic
    if np.abs(expected[:, :t] - expected[:, :1]).max() > _NONE:
        return None
    response_codes = control.space.listing()
    chances, statistic = control.rows(response_codes), control.space.statistic(response_codes)
    difference = expected[:, t] - expected[:, 0]
    if np.abs(difference).max() < _NONE:
        return None
    spread = statistic.T @ (statistic * chances[:, :1]) - np.outer(expected[:, 0], expected[:, 0])
    eigenvalues, eigenvectors = np.linalg.eigh(spread)
    still_directions = eigenvectors[:, eigenvalues < _NONE]
    slope = still_directions @ (still_directions.T @ difference)
    if np.abs(slope).max(initial=0.0) < 1e-7:  # all answers are possible for those who comply
        slope = np.linalg.pinv(spread, rcond=_NONE, hermitian=True) @ difference
    slope = slope / (slope @ difference)
    is_possible = chances.max(axis=1) > 0
    shift = -float(slope @ expected[:, 0])
    values = shift + statistic[is_possible] @ slope
    return Signal(slope, shift, values, chances[is_possible, 0], chances[is_possible, t])
