"""Whether rows and columns of a table are independent, in every layer where there are layers.

Under the null hypothesis π_ijk = ρ_ik γ_j|k: a joint distribution of rows and layers, and one of the columns in each
layer. Where one of both is held, the likelihood is that of a table whose rows are summed with the held shares, and
concave in the other; so both are found in turns by the solver of `maximum_likelihood`.

The likelihood ratio follows χ² where no cell is near 0. Where some are, the parametric bootstrap draws surveys from the
null fit. Pearson's X² is the score of the null fit in the directions that leave independence: it needs no fit of the
table, and without randomization it is the familiar Σ (O - E)²/E. With survey weights neither is χ²: the eigenvalues of
the design-based over the model covariance of that score say by how much (Rao & Scott 1984, second order).

What people say under a fitted table: surveys drawn again, and the information that is expected of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from naysay._values import Floats, Integers
from naysay.crosstab.variables import first_words, question_ends
from naysay.design import Design
from naysay.design.drawing import GeneratorSource
from naysay.estimate.fitting import LISTED
from naysay.estimate.likelihood import evidence, information, inverse, maximize, tangent
from naysay.estimate.linear import Indicators
from naysay.responses.spaces import MISSING
from naysay.tally import Part, Tally

_RARE = 5.0  # expected people in a cell below which χ² is doubtful
_SETTLED = 1e-7  # of log-likelihood, gained by a turn


@dataclass(frozen=True)
class Independence:
    """A test that rows and columns are independent, in each layer.

    Parameters
    ----------
    likelihood_ratio : float
        2 (ℓ(π̂) - ℓ(π̃)), π̃ independent.
    degrees_of_freedom : int
        (rows - 1)(columns - 1), times the layers.
    p_value : float
        The one to read: by bootstrap where it was asked for, of Rao & Scott under survey weights, else of χ².
    reference : str
        What `p_value` rests on.
    chi2_p_value : float
        Of the likelihood ratio by χ²; NaN under survey weights.
    pearson, pearson_p_value : float
        X², and its p by χ² (by F of Rao & Scott under survey weights).
    smallest : float
        The fewest people expected in a cell, were rows and columns independent.
    design_effects : (df,) float
        Generalized design effects of Rao & Scott; none without survey weights.
    """

    likelihood_ratio: float
    degrees_of_freedom: int
    p_value: float
    reference: str
    chi2_p_value: float
    pearson: float
    pearson_p_value: float
    smallest: float
    design_effects: tuple[float, ...] = ()

    @property
    def rare(self) -> bool:
        """Whether a cell is so rare that χ² is doubtful."""
        return self.smallest < _RARE

    def __str__(self) -> str:
        return self.sentence("independence")

    def sentence(self, subject: str) -> str:
        """The test of a subject in one line."""
        sentence = (
            f"{subject}: LR = {self.likelihood_ratio:.2f} on {self.degrees_of_freedom} df, "
            f"p {_p(self.p_value)} ({self.reference})"
        )
        if self.reference.startswith("parametric"):
            sentence += f"; by χ² p {_p(self.chi2_p_value)}"
        return f"{sentence}; Pearson X² = {self.pearson:.2f}, p {_p(self.pearson_p_value)}"


def _p(value: float) -> str:
    return "not defined" if np.isnan(value) else "< 0.001" if value < 0.001 else f"= {value:.3f}"


def test(
    tally: Tally,
    shape: tuple[int, ...],
    log_likelihood: float,
    *,
    replicates: int = 0,
    rng: np.random.Generator | None = None,
    console: Console | None = None,
) -> Independence:
    """The test of a tally whose cells make a table of this shape, fitted with this log-likelihood."""
    answer_rows, answer_weights, _ = evidence(tally)
    null, null_log_likelihood = null_fit(answer_rows, answer_weights, shape)
    likelihood_ratio = max(2 * (log_likelihood - null_log_likelihood), 0.0)
    score = score_at(tally, shape, null)
    df, smallest_cell = score.degrees_of_freedom, float(null.min() * tally.effective)
    if tally.weighted:
        return Independence(
            likelihood_ratio,
            df,
            score.rao_scott(likelihood_ratio),
            f"F, Rao & Scott; mean design effect {score.effects.mean():.2f}",
            float("nan"),
            score.statistic,
            score.rao_scott(score.statistic),
            smallest_cell,
            tuple(score.effects.tolist()),
        )
    chi2_p_value, pearson_p_value = (
        float(scipy.stats.chi2.sf(value, df)) for value in (likelihood_ratio, score.statistic)
    )
    p_and_reference = chi2_p_value, "χ²"
    if replicates:

        def ratio_of(rows: Floats, weights: Floats) -> float:
            full_log_likelihood = maximize(rows, weights, tolerance=1e-4, polish=0).log_likelihood
            return 2 * (full_log_likelihood - null_fit(rows, weights, shape)[1])

        p_and_reference = bootstrap_p_value(
            tally, null, ratio_of, likelihood_ratio, replicates=replicates, rng=rng, console=console
        )
    return Independence(
        likelihood_ratio, df, *p_and_reference, chi2_p_value, score.statistic, pearson_p_value, smallest_cell
    )


def null_fit(rows: Floats, weights: Floats, shape: tuple[int, ...]) -> tuple[Floats, float]:
    """The most likely independent table, (cells,), and its log-likelihood.

    Parameters
    ----------
    rows, weights : (distinct, cells), (distinct,) float
    shape : (rows, columns) or (rows, columns, layers)
    """
    r, c, layer_count = (*shape, 1)[:3]
    row_tensor = rows.reshape(len(rows), r, c, layer_count)
    column_shares = np.full((c, layer_count), 1 / c)
    best_log_likelihood = -np.inf
    for _ in range(200):
        partial_rows = np.einsum("njck,ck->njk", row_tensor, column_shares).reshape(len(rows), r * layer_count)
        row_table = _most_likely(partial_rows, weights).reshape(r, layer_count)
        row_shares = _shares_within(row_table)
        partial_rows = np.einsum("njck,jk->nck", row_tensor, row_shares).reshape(len(rows), c * layer_count)
        column_table = _most_likely(partial_rows, weights).reshape(c, layer_count)
        column_shares = _shares_within(column_table)
        null_table = np.einsum("jk,ck->jck", row_shares, column_table).ravel()
        log_likelihood = float(weights @ np.log(rows @ null_table))
        if log_likelihood - best_log_likelihood < _SETTLED * max(1.0, 1e-6 * abs(log_likelihood)):
            break
        best_log_likelihood = log_likelihood
    return null_table, max(log_likelihood, best_log_likelihood)


def _most_likely(rows: Floats, weights: Floats) -> Floats:
    return maximize(rows, weights, tolerance=1e-7, polish=1).proportions


def _shares_within(table: Floats) -> Floats:
    """Shares within each layer; even where a layer is empty."""
    layer_totals = table.sum(axis=0)
    return np.where(layer_totals > 0, table / np.where(layer_totals > 0, layer_totals, 1.0), 1 / len(table))


class Score(NamedTuple):
    """The score of a table at its null fit, in the directions that leave independence.

    Parameters
    ----------
    score : (df,) float
    information : (df, df) float
        Less what the margins, which are fitted too, take of it.
    effects : (df,) float
        Generalized design effects: eigenvalues of the design-based over the model covariance.
    people : float
        Degrees of freedom of the design-based covariance.
    """

    score: Floats
    information: Floats
    effects: Floats
    people: float

    @property
    def degrees_of_freedom(self) -> int:
        """(rows - 1)(columns - 1), times the layers."""
        return len(self.score)

    @property
    def statistic(self) -> float:
        """Pearson's X²: sᵀI⁻s."""
        return float(self.score @ np.linalg.pinv(self.information, rcond=1e-11, hermitian=True) @ self.score)

    def rao_scott(self, statistic: float) -> float:
        """The p-value of a statistic by F, with the first two moments of the design effects."""
        effect_total = float(self.effects.sum())
        if not effect_total > 0:
            return float("nan")
        df = effect_total**2 / float((self.effects**2).sum())
        return float(scipy.stats.f.sf(statistic / effect_total, df, df * self.people))


def score_at(tally: Tally, shape: tuple[int, ...], null: Floats) -> Score:
    """The score of a tally at an independent table; see `Score`."""
    margin_directions, leaving_directions = _directions(shape, null)
    answer_rows, answer_weights, sampled = evidence(tally)
    curvature = cell_information(tally, null)
    cross_information = margin_directions.T @ curvature @ leaving_directions
    leaving_directions = (
        leaving_directions
        - margin_directions
        @ np.linalg.pinv(margin_directions.T @ curvature @ margin_directions, rcond=1e-11, hermitian=True)
        @ cross_information
    )
    leaving_scores = curvature @ leaving_directions
    score_information = leaving_directions.T @ leaving_scores
    effects = np.ones(len(score_information))
    if tally.weighted:
        design_covariance = (
            leaving_scores.T @ indicators_at(tally, null, inverse(curvature)).covariance("population") @ leaving_scores
        )
        information_inverse = np.linalg.pinv(score_information, rcond=1e-11, hermitian=True)
        effects = np.sort(np.clip(np.linalg.eigvals(information_inverse @ design_covariance).real, 0.0, None))[::-1]
    score = answer_weights @ ((answer_rows / (answer_rows @ null)[:, None] - 1) @ leaving_directions)
    return Score(score, score_information, effects, sampled.degrees_of_freedom)


def _directions(shape: tuple[int, ...], null: Floats) -> tuple[Floats, Floats]:
    """Directions in which an independent table stays so, (cells, margins), and those that leave independence.

    The first are the derivatives by rows with layers, and by columns within layers; the second, with them, span all.
    """
    r, c, layer_count = (*shape, 1)[:3]
    null_table = null.reshape(r, c, layer_count)
    layer_totals = null_table.sum(axis=(0, 1))
    row_table, column_shares = null_table.sum(axis=1), _shares_within(null_table.sum(axis=0))
    leaving_directions: list[Floats] = []
    margin_directions = [
        (row_table_change[:, None, :] * column_shares).ravel()
        for row_table_change in tangent(r * layer_count).T.reshape(-1, r, layer_count)
    ]
    for layer in range(layer_count):
        layer_indicator = np.eye(layer_count)[layer]
        for column_change in tangent(c).T:
            margin_directions.append((row_table[:, None, :] * column_change[:, None] * layer_indicator).ravel())
            leaving_directions += [
                (np.outer(row_change, column_change)[:, :, None] * layer_indicator * layer_totals).ravel()
                for row_change in tangent(r).T
            ]
    return np.array(margin_directions).T, np.array(leaving_directions).T


SEED = 2016
"""Seed where no generator is given, so that a printed number can be printed again."""

_ENOUGH = 20  # exceedances after which a p-value is settled (Besag & Clifford 1991)


def bootstrap_p_value(
    tally: Tally,
    null: Floats,
    statistic: Callable[[Floats, Floats], float],
    observed: float,
    *,
    replicates: int,
    rng: np.random.Generator | None,
    console: Console | None,
) -> tuple[float, str]:
    """The p-value of a statistic of likelihood rows and weights, and how it was found.

    As many people as in the tally answer again, at the same levels, and leave out the same questions. It ends once
    enough replicates exceeded what was observed, or by Ctrl-C with those that were drawn.
    """
    random_source = np.random.default_rng(SEED) if rng is None else rng
    surveys = [
        _Survey.of(part.design, int(n), left_out, null)
        for part in tally.parts
        if part.n
        for left_out, n in _patterns(part, part.count)
    ]
    is_hidden = console is None or not console.is_terminal
    progress_columns = TextColumn("surveys drawn again"), BarColumn(), MofNCompleteColumn()
    times_exceeded = surveys_drawn = 0
    with Progress(*progress_columns, console=console, transient=True, disable=is_hidden) as progress:
        progress_task = progress.add_task("", total=replicates)
        try:
            while surveys_drawn < replicates and times_exceeded < _ENOUGH:
                survey_rows, survey_weights = zip(*(survey.draw(random_source) for survey in surveys), strict=True)
                times_exceeded += statistic(np.vstack(survey_rows), np.concatenate(survey_weights)) >= observed - 1e-6
                surveys_drawn += 1
                progress.update(progress_task, completed=surveys_drawn)
        except KeyboardInterrupt:
            if console is not None:
                console.print(f"interrupted after {surveys_drawn:,} of {replicates:,} surveys", highlight=False)
    if not surveys_drawn:
        return float("nan"), "parametric bootstrap, interrupted before its first survey"
    is_settled = times_exceeded >= _ENOUGH
    ending_text = ", ended early" if surveys_drawn < replicates else ""
    p_value = times_exceeded / surveys_drawn if is_settled else (times_exceeded + 1) / (surveys_drawn + 1)
    return p_value, f"parametric bootstrap, {surveys_drawn:,} replicates{ending_text}"


@dataclass(frozen=True, eq=False)
class _Survey:
    """People who answered the same questions of a part, to be drawn again from the null fit."""

    design: Design
    n: int
    left_out: NDArray[np.bool_]
    null: Floats
    rows: Floats | None
    chances: Floats | None

    @classmethod
    def of(cls, design: Design, n: int, left_out: NDArray[np.bool_], null: Floats) -> _Survey:
        if design.space.size > LISTED:
            return cls(design, n, left_out, null, None, None)
        response_codes = design.space.listing()
        response_chances = design.rows(response_codes) @ null
        answer_rows = design.rows(_with_blanks(design, response_codes, left_out))
        return cls(design, n, left_out, null, answer_rows, response_chances / response_chances.sum())

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Likelihood rows of the answers that came, and how many."""
        if self.rows is not None and self.chances is not None:
            response_counts = rng.multinomial(self.n, self.chances)
            return self.rows[response_counts > 0], response_counts[response_counts > 0].astype(float)
        true_cells = rng.choice(len(self.null), size=self.n, p=self.null / self.null.sum())
        drawn_codes = _with_blanks(self.design, self.design.draw(true_cells, GeneratorSource(rng)), self.left_out)
        drawn_part = Part.of(self.design, drawn_codes, count=np.ones(self.n, dtype=np.int64))
        return self.design.rows(drawn_part.codes), drawn_part.weight


def _with_blanks(design: Design, codes: NDArray[np.int64], left_out: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Joint answers in which some questions are left out."""
    if not left_out.any():
        return codes
    blanked_codes = np.array(codes)
    blanked_codes[:, question_ends(design)[:-1][left_out]] = MISSING
    return blanked_codes


def _patterns(part: Part, amounts: Floats | Integers) -> list[tuple[NDArray[np.bool_], float]]:
    """Which questions were left out together, (variables,), and the sum of the amounts of the answers that do."""
    patterns, pattern_places = np.unique(first_words(part) == MISSING, axis=0, return_inverse=True)
    return list(zip(patterns, np.bincount(pattern_places.ravel(), amounts).tolist(), strict=True))


def cell_information(tally: Tally, cells: Floats) -> Floats:
    """The information (cells, cells) that is expected of a tally at these cells, with the questions that were left out.

    The observed one where answers are too many to list.
    """
    total_information = np.zeros((len(cells),) * 2)
    for part in tally.parts:
        if not part.n:
            continue
        design, answer_weights = part.design, part.weight * tally.n / tally.weight
        if design.space.size > LISTED:
            total_information += information(design.rows(part.codes), answer_weights, cells)
            continue
        response_codes = design.space.listing()
        response_chances = design.rows(response_codes) @ cells
        for pattern, pattern_weight in _patterns(part, answer_weights):
            response_rows = design.rows(_with_blanks(design, response_codes, pattern))[response_chances > 0]
            total_information += pattern_weight * information(
                response_rows, response_chances[response_chances > 0], cells
            )
    return total_information


def information_of_more(tally: Tally, cells: Floats, people_added: Floats) -> Floats:
    """What more people would add to the outer product of the scores, (cells, cells).

    Of them, `people_added` are in each cell.
    """
    total_information = np.zeros((len(cells),) * 2)
    for part in tally.parts:
        if part.n and part.design.space.size <= LISTED:
            likelihood_rows = part.design.matrix
            likelihood_rows = likelihood_rows[likelihood_rows @ cells > 0]
            row_weights = (
                part.weight.sum() / tally.weight * (likelihood_rows @ people_added) / (likelihood_rows @ cells) ** 2
            )
            total_information += likelihood_rows.T @ (likelihood_rows * row_weights[:, None])
    return total_information


def indicators_at(tally: Tally, cells: Floats, bread: Floats) -> Indicators:
    """Each answer's indicator of its cell if these were the cells, and `bread` the inverse of the information there.

    Their covariance is that of the cells under the sampling design.
    """
    answer_rows, answer_weights, sampled = evidence(tally)
    cell_scores = answer_rows / (answer_rows @ cells)[:, None] - 1
    return Indicators(
        cells + answer_weights.sum() * cell_scores @ bread, answer_weights, answer_weights, sampled.squared, sampled
    )
