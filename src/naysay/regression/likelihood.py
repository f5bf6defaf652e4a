"""The likelihood of answers beside covariates: its value, scores and curvature, for every design at once.

A respondent with covariates x is in category j with π_j ∝ exp(x·β_j), β = 0 for the reference. An answer with
likelihood row M = L Q(ν) has f = M·π. With r_j = π_j M_j / f, the chance of the category given the answer, the score of
the linear predictor j is r_j - π_j; that of ν_k is Σ_j π_j ∂_k M_j / f. So all rows are one array of scores (d, n) and
one of curvatures (d, d, n) over d = t - 1 + q predictors, and a nuisance parameter is a predictor whose covariate is 1.

The channels of some designs tell finer cells apart than the categories, such as carriers who lie. Given their category,
people are taken to be in each cell with the same chance, whatever their covariates: Q(ν) = P(cell | category), of shape
(cells, t). So the likelihood of an answer with row L is (L Q(ν)) · π(z): that of a plain design with rows L Q(ν).
Who complies may have covariates w of its own, logit ν_k = w·γ_k. Then each person has a Q, and γ takes the place of ν.

Rows that are alike in answer and covariates are counted as one where that pays.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats
from naysay.design import Answerable, Design, Share
from naysay.errors import DesignError

Places = NDArray[np.intp]
_CHUNK = 1 << 13  # rows at a time: what a step needs of them stays in the processor's cache
_PRODUCT = 1 << 19  # multiplications up to which a matrix product stays on one core; more cores only slow small ones


class Answers(NamedTuple):
    """Distinct answers, and all that could have been given in their place.

    Parameters
    ----------
    rows : (distinct, cells) float
        Likelihood rows.
    part : (distinct,) int
        The channel through which each came.
    channels : tuple of Design
    """

    rows: Floats
    part: Places
    channels: tuple[Design, ...]

    def listings(self) -> tuple[Floats, ...]:
        """For each channel the rows of all its responses, (responses, cells)."""
        return tuple(channel.rows(channel.space.listing()) for channel in self.channels)


class Evaluated(NamedTuple):
    """The likelihood at some parameters.

    Parameters
    ----------
    value : float
        The log-likelihood.
    gradient : (P,) float
    information : (P, P) float
    """

    value: float
    gradient: Floats
    information: Floats


@dataclass(frozen=True, eq=False)
class Model:
    """Answers beside covariates; parameters are β, (t - 1) × p, one equation after the other, and then ν, (q,).

    With covariates of who complies these are γ, q × m, in the place of ν.

    Parameters
    ----------
    x : (n, p) float
    offset : (n,) float, optional
        Added to each linear predictor.
    answer : (n,) int
        The place of each row's answer among the distinct ones.
    weight : (n,) float
    answers : Answers
    within : Within
    reference : int
        The place of the category whose coefficients are 0.
    w : (n, m) float, optional
        Covariates of who complies; None where ν is the same for everybody.
    beside : (t, n) float, optional
        How likely something else that people told is in each category, up to a factor of each row.
    """

    x: Floats
    offset: Floats | None
    answer: Places
    weight: Floats
    answers: Answers
    within: Within
    reference: int
    w: Floats | None = None
    beside: Floats | None = None

    @property
    def t(self) -> int:
        """Categories."""
        return self.within.shape[1]

    @property
    def q(self) -> int:
        """Nuisance parameters."""
        return len(self.within.parameters)

    @property
    def size(self) -> int:
        """Parameters, P."""
        return (self.t - 1) * int(self.x.shape[1]) + self.q * (1 if self.w is None else int(self.w.shape[1]))

    @property
    def bounded(self) -> int:
        """Parameters within [0, 1], which are the last: ν without covariates."""
        return self.q if self.w is None else 0

    @cached_property
    def fixed_table(self) -> _Table:
        """The likelihood rows of a design without nuisance parameters: the same in every step of a search."""
        return _Table.of(self, np.zeros(0), slice(None))

    @cached_property
    def free(self) -> list[int]:
        """The categories other than the reference."""
        return [j for j in range(self.t) if j != self.reference]

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients (t - 1, p) and nuisance parameters ν (q,), or γ (q, m) where they have covariates."""
        coefficient_count = (self.t - 1) * self.x.shape[1]
        nuisance = theta[coefficient_count:]
        beta = theta[:coefficient_count].reshape(self.t - 1, -1)
        return beta, nuisance if self.w is None else nuisance.reshape(self.q, -1)

    def nuisance(self, theta: Floats, rows: NDArray[np.intp] | slice) -> Floats:
        """ν of everybody, (q,), or of each of some rows, (q, rows)."""
        _, nu = self.split(theta)
        return nu if self.w is None else np.asarray(scipy.special.expit(nu @ self.w[rows].T))

    def log_odds(self, theta: Floats) -> Floats:
        """The largest log odds of each row, (n,): between two categories, whichever is the reference, or of ν."""
        beta, gamma = self.split(theta)
        eta = beta @ self.x.T
        spread = np.maximum(eta.max(axis=0), 0.0) - np.minimum(eta.min(axis=0), 0.0)
        return np.asarray(spread if self.w is None else np.maximum(spread, np.abs(gamma @ self.w.T).max(axis=0)))

    def predictor_columns(self, rows: NDArray[np.intp] | slice) -> list[Floats]:
        """What each predictor has coefficients of: x, and for the nuisance parameters w, or 1."""
        x = self.x[rows]
        return [x] * (self.t - 1) + [np.ones((len(x), 1)) if self.w is None else self.w[rows]] * self.q

    @property
    def places(self) -> list[slice]:
        """Where the coefficients of each predictor stand among the parameters."""
        sizes = [columns.shape[1] for columns in self.predictor_columns(slice(1))]
        return [slice(end - size, end) for size, end in zip(sizes, itertools.accumulate(sizes), strict=True)]

    def at(self, rows: NDArray[np.intp] | slice) -> Model:
        """The same model of some of the rows."""
        offset, w = (None if column is None else column[rows] for column in (self.offset, self.w))
        beside = None if self.beside is None else self.beside[:, rows]
        piece = replace(self, x=self.x[rows], answer=self.answer[rows], weight=self.weight[rows])
        return replace(piece, offset=offset, w=w, beside=beside)

    def average(self, theta: Floats) -> tuple[Floats, Floats]:
        """The mean of π over the rows by their weights, (t,), and its derivatives, (t, P)."""
        p, total_weight = self.x.shape[1], float(self.weight.sum())
        mean_shares, share_slopes = np.zeros(self.t), np.zeros((self.t, self.size))
        for rows in self._runs():
            pi = self.shares(theta, self.x[rows], None if self.offset is None else self.offset[rows])
            weighted_shares = pi * self.weight[rows]
            mean_shares += weighted_shares.sum(axis=1)
            for equation_place, k in enumerate(self.free):
                logit_slopes = -weighted_shares * pi[k]
                logit_slopes[k] += weighted_shares[k]
                share_slopes[:, equation_place * p : (equation_place + 1) * p] += logit_slopes @ self.x[rows]
        return mean_shares / total_weight, share_slopes / total_weight

    def cells(self, theta: Floats) -> tuple[Floats, Floats]:
        """The mean chance of each cell over the rows by their weights, (cells,), and its derivatives, (cells, P)."""
        total_weight, cells = float(self.weight.sum()), self.within.shape[0]
        cell_shares, cell_slopes = np.zeros(cells), np.zeros((cells, self.size))
        for rows in self._runs():
            piece = self.at(rows)
            pi, (chances, slopes) = piece.shares(theta), _cell_chances(self, theta, rows)[:2]
            weighted = pi * piece.weight
            joint = chances.reshape(cells, self.t, -1) * weighted
            by_predictor = [joint[:, k] - joint.sum(axis=1) * pi[k] for k in self.free]
            by_predictor += [(slope.reshape(cells, self.t, -1) * weighted).sum(axis=1) for slope in slopes]
            cell_shares += joint.sum(axis=(1, 2))
            for place, by, columns in zip(self.places, by_predictor, self.predictor_columns(rows), strict=True):
                cell_slopes[:, place] += by @ columns
        return cell_shares / total_weight, cell_slopes / total_weight

    def shares(self, theta: Floats, x: Floats | None = None, offset: Floats | None = None) -> Floats:
        """π of each row, (t, n)."""
        beta, _ = self.split(theta)
        eta = beta @ (self.x if x is None else x).T
        row_offset = self.offset if x is None else offset
        return self._softmax(eta if row_offset is None else eta + row_offset)

    def _softmax(self, eta: Floats) -> Floats:
        chances = np.zeros((self.t, eta.shape[1]))
        chances[self.free] = eta
        chances -= chances.max(axis=0)
        np.exp(chances, out=chances)
        chances /= chances.sum(axis=0)
        return chances

    def evaluate(self, theta: Floats, kind: str | None = "observed") -> Evaluated:
        """The log-likelihood, its gradient, and the information of a kind; without a kind only the value."""
        log_likelihood, gradient = 0.0, np.zeros(self.size)
        information = np.zeros((self.size, self.size))
        for rows, piece in self._pieces(theta):
            row_weights = self.weight[rows]
            log_likelihood += float(row_weights @ np.log(piece.f))
            if kind is not None:
                for place, scores, columns in zip(
                    self.places, piece.scores * row_weights, self.predictor_columns(rows), strict=True
                ):
                    gradient[place] += scores @ columns
                self._add(information, piece.curvature(kind), row_weights, rows)
        lower_half = np.tril(information)
        return Evaluated(log_likelihood, gradient, lower_half + np.tril(lower_half, -1).T)

    def scores(self, theta: Floats) -> Floats:
        """The score of every row, without its weight, (n, P)."""
        row_scores = np.empty((len(self.x), self.size))
        for rows, piece in self._pieces(theta):
            for place, scores, columns in zip(self.places, piece.scores, self.predictor_columns(rows), strict=True):
                row_scores[rows, place] = scores[:, None] * columns
        return row_scores

    def posteriors(self, theta: Floats) -> tuple[Floats, Floats]:
        """The chance of each category given what a row holds, (t, n), and its derivatives by ν over it, (q, t, n)."""
        chances, slopes = np.empty((self.t, len(self.x))), np.empty((self.q, self.t, len(self.x)))
        for rows, piece in self._pieces(theta):
            chances[:, rows] = piece.r
            for k, slope in enumerate(piece.own):
                slopes[k, :, rows] = slope
        return chances, slopes

    def weighted_information(self, theta: Floats, kind: str, weight: Floats) -> Floats:
        """The curvatures of a kind, added up with other weights, (P, P)."""
        information = np.zeros((self.size, self.size))
        for rows, piece in self._pieces(theta):
            self._add(information, piece.curvature(kind), weight[rows], rows)
        lower_half = np.tril(information)
        return np.asarray(lower_half + np.tril(lower_half, -1).T)

    def _runs(self) -> Iterator[slice]:
        """Rows at a time."""
        run_size = min(max(_PRODUCT // self.x.shape[1] ** 2, _CHUNK >> 4), _CHUNK)
        return (slice(start, start + run_size) for start in range(0, len(self.x), run_size))

    def _pieces(self, theta: Floats) -> Iterator[tuple[slice, Piece]]:
        """Runs of rows, each with what its answers tell at these parameters."""
        beta, _ = self.split(theta)
        table = None if self.w is not None else _Table.of(self, theta, slice(None)) if self.q else self.fixed_table
        for rows in self._runs():
            eta = beta @ self.x[rows].T
            if self.offset is not None:
                eta += self.offset[rows]
            row_table = _Table.of(self, theta, rows) if table is None else table
            beside = None if self.beside is None else self.beside[:, rows]
            yield rows, Piece(self, row_table, self.answer[rows], self._softmax(eta), beside)

    def _add(self, information: Floats, curvature: Callable[[int, int], Floats], weight: Floats, rows: slice) -> None:
        """Add Σ w h x xᵀ over the rows to the lower half of the information."""
        places, columns = self.places, self.predictor_columns(rows)
        for a in range(len(places)):
            for b in range(a + 1):
                information[places[a], places[b]] += (columns[a].T * (curvature(a, b) * weight)) @ columns[b]


def _cell_chances(
    model: Model, theta: Floats, rows: NDArray[np.intp] | slice
) -> tuple[Floats, list[Floats], dict[tuple[int, int], Floats]]:
    """Q(ν) of everybody, (cells, t), or of each of some rows, (cells, t, rows), and its derivatives by predictors.

    The first derivatives in a list, the second ones that may not be zero by pair.
    """
    within, q, nu = model.within, model.q, model.nuisance(theta, rows)
    slopes = [within.chances(nu, k) for k in range(q)]
    curves = {(k, j): within.chances(nu, k, j) for k in range(q) for j in range(k)}
    if model.w is not None:  # ν is a logit's inverse, with the derivatives ν (1 - ν) and ν (1 - ν)(1 - 2ν)
        pace = nu * (1 - nu)
        curves = {(k, j): curve * pace[k] * pace[j] for (k, j), curve in curves.items()}
        slopes = [slope * pace[k] for k, slope in enumerate(slopes)]
        curves |= {(k, k): slope * (1 - 2 * nu[k]) for k, slope in enumerate(slopes)}
    return within.chances(nu), slopes, {pair: curve for pair, curve in curves.items() if curve.any()}


class _Table(NamedTuple):
    """Rows M = L Q(ν) of the distinct answers, or of a run of rows that have covariates of ν, and their derivatives.

    Parameters
    ----------
    m : (t, distinct) float
    first_slopes : (q, t, distinct) float
    second : {(k, l): (t, distinct) float}
        Where they are not zero.
    chances : (1 + q, cells, t, 1 or rows) float
        Q and its first derivatives.
    """

    m: Floats
    first_slopes: Floats
    second: dict[tuple[int, int], Floats]
    chances: Floats

    @classmethod
    def of(cls, model: Model, theta: Floats, rows: NDArray[np.intp] | slice) -> _Table:
        """The table at some parameters."""
        cell_chances, slopes, curves = _cell_chances(model, theta, rows)
        answer_rows = model.answers.rows if model.w is None else model.answers.rows[model.answer[rows]]

        def of_answers(chances: Floats) -> Floats:
            product = (answer_rows @ chances).T if model.w is None else np.einsum("ic,cti->ti", answer_rows, chances)
            return np.ascontiguousarray(product)

        m = of_answers(cell_chances)
        return cls(
            m,
            np.array([of_answers(slope) for slope in slopes]).reshape(model.q, *m.shape),
            {pair: of_answers(curve) for pair, curve in curves.items()},
            np.array([cell_chances, *slopes]).reshape(1 + model.q, *model.within.shape, -1),
        )


class Piece:
    """What the answers of a run of rows tell: f, the scores of the predictors and their curvature."""

    def __init__(self, model: Model, table: _Table, answer: Places, pi: Floats, beside: Floats | None = None) -> None:
        self.model, self.table, self.answer, self.pi = model, table, answer, pi
        self.column = answer if model.w is None else np.arange(len(answer))  # of the table
        self.prior = pi if beside is None else pi * beside
        joint_chances = table.m.take(self.column, axis=1)
        joint_chances *= self.prior
        self.f = joint_chances.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.r = joint_chances / self.f
            self.own = [
                (self.prior * first_slopes.take(self.column, axis=1)) / self.f for first_slopes in table.first_slopes
            ]

    @cached_property
    def scores(self) -> Floats:
        """The derivatives of log f by each predictor, (d, rows)."""
        free_categories = self.model.free
        derivatives = np.empty((len(free_categories) + len(self.own), len(self.f)))
        np.subtract(self.r[free_categories], self.pi[free_categories], out=derivatives[: len(free_categories)])
        for k, nuisance_slopes in enumerate(self.own):
            derivatives[len(free_categories) + k] = nuisance_slopes.sum(axis=0)
        return derivatives

    def curvature(self, kind: str) -> Callable[[int, int], Floats]:
        """For two predictors, how much their curvature each row adds to the information of a kind, (rows,)."""
        if kind == "outer_product":
            return lambda a, b: np.asarray(self.scores[a] * self.scores[b])
        if kind in ("expected", "randomization"):
            expected_curvature = self._expected(category_known=kind == "randomization")
            return lambda a, b: np.asarray(expected_curvature[a, b])
        return self._observed

    def _observed(self, a: int, b: int) -> Floats:
        """- ∂² log f, for predictors a ≥ b."""
        free_categories, equation_count = self.model.free, self.model.t - 1
        if a < equation_count:
            j, k, pi, r = free_categories[a], free_categories[b], self.pi, self.r
            information = r[j] * r[k] - pi[j] * pi[k]
            return np.asarray(information + pi[j] - r[j] if a == b else information)
        score = self.scores[a]
        if b < equation_count:  # ∂ of r - π by ν
            return np.asarray(self.r[free_categories[b]] * score - self.own[a - equation_count][free_categories[b]])
        second_slopes = self.table.second.get((a - equation_count, b - equation_count))
        information = score * self.scores[b]
        return np.asarray(
            information
            if second_slopes is None
            else information - (self.prior * second_slopes.take(self.column, axis=1)).sum(axis=0) / self.f
        )

    def _expected(self, *, category_known: bool) -> Floats:
        """The variance of the scores over all responses y of each row's channel, (d, d, rows).

        That is Σ_y ∂f_y ∂f_yᵀ / f_y. With the category known only the randomization is left: the scores' means m_j
        given the category vary no more, and Σ_j π_j m_j m_jᵀ is taken off.
        """
        free_categories, channel_places = self.model.free, self.model.answers.part[self.answer]
        d = len(free_categories) + len(self.own)
        score_variances = np.zeros((d, d, len(self.f)))
        for channel_place, listing in enumerate(self.model.answers.listings()):
            channel_rows = np.flatnonzero(channel_places == channel_place)
            if not channel_rows.size:
                continue
            pi, chances = self.pi[:, channel_rows], self.table.chances
            chances = chances if self.model.w is None else chances[..., channel_rows]
            category_means = np.zeros((self.model.t, d, channel_rows.size))
            for response_row in listing:
                m, *first_slopes = np.einsum("c,kcti->kti", response_row, chances)
                f = (m * pi).sum(axis=0)
                response_slopes = np.vstack(
                    [
                        pi[free_categories] * (m[free_categories] - f),
                        *((slope * pi).sum(axis=0) for slope in first_slopes),
                    ]
                )
                with np.errstate(divide="ignore", invalid="ignore"):
                    response_scores = np.where(f > 0, response_slopes / f, 0.0)
                score_variances[:, :, channel_rows] += response_slopes[:, None] * response_scores
                if category_known:
                    category_means += m[:, None] * response_scores
            if category_known:
                score_variances[:, :, channel_rows] -= np.einsum("jn,jan,jbn->abn", pi, category_means, category_means)
        return score_variances


Path = tuple[tuple[int, bool], ...]

CHEATERS = {
    "within": "the same share of everyone in the category within which they are",
    "CDM": "the same share of everybody, taken off the honest others: the CDM of RRreg (Heck & Moshagen 2018)",
}
"""Which share of whom cheaters are, whatever people's covariates."""


@dataclass(frozen=True)
class Within:
    """P(cell | category), each entry a product of ν_k and 1 - ν_k.

    Parameters
    ----------
    parameters : tuple of Share
        The shares that split categories, each with the same chance in every category that it splits.
    paths : {(cell, category): tuple of (k, bool)}
        The chances whose product the entry is: ν_k, or with False 1 - ν_k.
    shape : (cells, t)
    assumptions : tuple of str
        What is taken to be the same for everyone, in words.
    """

    parameters: tuple[Share, ...]
    paths: dict[tuple[int, int], Path]
    shape: tuple[int, int]
    assumptions: tuple[str, ...]

    def chances(self, nu: Floats, *by: int) -> Floats:
        """Q(ν), (cells, t), or its derivative by the parameters in these places; for ν (q, rows) of each row."""
        cell_chances = np.zeros((*self.shape, *nu.shape[1:]))
        for cell_and_category, path in self.paths.items():
            path_parameters = [k for k, _ in path]
            # linear in each: second derivatives are zero
            if len(set(by)) == len(by) and set(by) <= set(path_parameters):
                path_factors = ((1.0 if up else -1.0) if k in by else nu[k] if up else 1 - nu[k] for k, up in path)
                cell_chances[cell_and_category] = math.prod(path_factors)
        return cell_chances


@dataclass(frozen=True)
class Evenly(Within):
    """Cheaters who are a share γ of everybody, whatever the covariates, and lack among the honest others.

    The cells have the chances π, 1 - π - γ and γ: Q(ν) takes γ off one cell and adds it to another in every category.
    So an entry may be negative, and with π > 1 - γ a chance may be; P(response | category), L Q(ν), is none the less
    from 0 to 1 for the designs that have cheaters.

    Parameters
    ----------
    cheaters, others : int
        The cells.
    """

    cheaters: int
    others: int

    def chances(self, nu: Floats, *by: int) -> Floats:
        cell_chances = np.zeros(self.shape)
        if len(by) < 2:  # linear in γ
            share = 1.0 if by else nu[0]
            cell_chances[self.cheaters], cell_chances[self.others] = share, -share
        if not by:
            for cell, category in self.paths:
                cell_chances[cell, category] += cell != self.cheaters
        return cell_chances


def evenly(design: Answerable) -> Evenly:
    """The cells of a design with cheaters, who are a share of everybody.

    Raises
    ------
    DesignError
        A design without cheaters.

    Examples
    --------
    >>> from naysay import designs
    >>> evenly(designs.cheating_detection(p=(0.25, 0.75))).chances(np.array([0.1]))
    array([[ 1. ,  0. ],
           [-0.1,  0.9],
           [ 0.1,  0.1]])
    """
    cells_within = within(design)
    if [share.name for share in cells_within.parameters] != ["cheaters"]:
        raise DesignError(
            f"cheaters='CDM' needs cheating_detection or cheating_detection_symmetric; {design.name or design.kind} "
            "has no cheaters"
        )
    (cheater_cell,), (other_cell,) = (
        [cell for (cell, _), path in cells_within.paths.items() if path == ((0, up),)] for up in (True, False)
    )
    assumptions = ("the share of “cheaters” among everybody (CDM)",)
    return Evenly(
        cells_within.parameters, cells_within.paths, cells_within.shape, assumptions, cheater_cell, other_cell
    )


def within(design: Answerable) -> Within:
    """How the cells of a design lie within its categories.

    Raises
    ------
    DesignError
        Cells of one category that no nuisance parameter of the design tells apart.

    Examples
    --------
    >>> from naysay import designs
    >>> found = within(designs.stochastic_lie_detector(p=(0.2, 0.8)))
    >>> found.chances(np.array([0.75]))
    array([[0.75, 0.  ],
           [0.  , 1.  ],
           [0.25, 0.  ]])
    >>> found.assumptions
    ('“truth-tellers” within “yes”',)
    """
    cells, t = design.cells, len(design.categories)
    reached_cells = []
    for share in design.shares:
        above, below = share.weights(cells)
        reached_cells.append(np.flatnonzero((above > 0) | (below == 0)))  # its own cells, and those of no category
    groups_by_category: list[dict[tuple[int, ...], list[tuple[int, bool]]]] = [
        {tuple(cell_places): []} for cell_places in reached_cells
    ]
    used_shares: list[Share] = []
    assumptions: list[str] = []
    for share in design.nuisance:
        in_part, in_whole = (share_weights.astype(bool) for share_weights in share.weights(cells))
        split_groups = [
            _split(category_groups, in_part, in_whole, len(used_shares)) for category_groups in groups_by_category
        ]
        if any(
            len(split_paths) > len(group_paths)
            for split_paths, group_paths in zip(split_groups, groups_by_category, strict=True)
        ):
            split_categories = [j for j in range(t) if len(split_groups[j]) > len(groups_by_category[j])]
            category_names = " and ".join(f"“{_checks.label(design.categories[j])}”" for j in split_categories)
            assumptions.append(f"“{_checks.label(share.name)}” within {category_names}")
            groups_by_category, used_shares = split_groups, [*used_shares, share]
    for cell_group in itertools.chain.from_iterable(groups_by_category):
        if len(cell_group) > 1:
            cell_names = _checks.listing_text(cells[cell_place] for cell_place in cell_group)
            raise DesignError(
                f"regression needs a nuisance parameter that tells the cells {cell_names} apart; without one, compare "
                "groups: naysay estimate --by COLUMN (counts of a list without `types` have regression.regress_list)"
            )
    cell_paths = {
        (cell, j): tuple(path)
        for j, category_groups in enumerate(groups_by_category)
        for (cell,), path in category_groups.items()
    }
    return Within(tuple(used_shares), cell_paths, (len(cells), t), tuple(assumptions))


def _split(
    groups: dict[tuple[int, ...], list[tuple[int, bool]]], of: NDArray[np.bool_], among: NDArray[np.bool_], k: int
) -> dict[tuple[int, ...], list[tuple[int, bool]]]:
    """The groups of one category, each divided where a share holds a part of it."""
    split_groups: dict[tuple[int, ...], list[tuple[int, bool]]] = {}
    for cell_group, path in groups.items():
        cells_inside = tuple(cell for cell in cell_group if of[cell])
        cells_outside = tuple(cell for cell in cell_group if not of[cell])
        if cells_inside and cells_outside and among[list(cell_group)].all():
            split_groups |= {cells_inside: [*path, (k, True)], cells_outside: [*path, (k, False)]}
        else:
            split_groups[cell_group] = path
    return split_groups


_LEAST = 5_000  # rows below which nothing is gained
_TRIED = 2_000
_PAYS = 0.5  # the share of distinct rows, among those that are tried, above which counting costs more than it saves


def collapse_rows(model: Model, squared: Floats) -> tuple[Model, Floats]:
    """The model with each kind of row once, and with it the sums of squared weights.

    Some rows are tried first: where covariates are continuous, nearly all are distinct, and the model stays as it is.
    """
    n = len(model.x)
    if n < _LEAST:
        return model, squared
    tried_rows = pl.DataFrame(_columns(model, slice(None, None, max(n // _TRIED, 1))))
    if tried_rows.n_unique() / len(tried_rows) > _PAYS:
        return model, squared
    key_columns, amount_columns = _columns(model, slice(None)), {"weight": model.weight, "squared": squared}
    grouped_rows = pl.DataFrame(key_columns | amount_columns).group_by(list(key_columns), maintain_order=True)
    distinct_rows = grouped_rows.agg(pl.col("weight").sum(), pl.col("squared").sum())
    x = np.ascontiguousarray(distinct_rows.select([f"x{i}" for i in range(model.x.shape[1])]).to_numpy())
    w = None
    if model.w is not None:
        w = np.ascontiguousarray(distinct_rows.select([f"w{i}" for i in range(model.w.shape[1])]).to_numpy())
    offset = None if model.offset is None else distinct_rows["offset"].to_numpy()
    answer, weight = distinct_rows["answer"].to_numpy(), distinct_rows["weight"].to_numpy()
    return replace(model, x=x, offset=offset, answer=answer, weight=weight, w=w), distinct_rows["squared"].to_numpy()


def _columns(model: Model, rows: slice) -> dict[str, NDArray[np.number]]:
    """What makes rows alike."""
    key_columns: dict[str, NDArray[np.number]] = {"answer": model.answer[rows]}
    key_columns |= {f"x{i}": np.ascontiguousarray(column) for i, column in enumerate(model.x[rows].T)}
    if model.w is not None:
        key_columns |= {f"w{i}": np.ascontiguousarray(column) for i, column in enumerate(model.w[rows].T)}
    return key_columns if model.offset is None else key_columns | {"offset": model.offset[rows]}
