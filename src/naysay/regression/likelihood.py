"""The likelihood of answers beside covariates: its value, scores and curvature, for every design at once.

A respondent with covariates x is in category j with π_j ∝ exp(x·β_j), β = 0 for the reference. An answer with
likelihood row M = L Q(ν) has f = M·π. With r_j = π_j M_j / f, the chance of the category given the answer, the score of
the linear predictor j is r_j - π_j; that of ν_k is Σ_j π_j ∂_k M_j / f. So all rows are one array of scores (d, n) and
one of curvatures (d, d, n) over d = t - 1 + q predictors, and a nuisance parameter is a predictor whose covariate is 1.

Cells within a category: what a design with nuisance parameters adds to the likelihood of an answer.

The channels of some designs tell finer cells apart than the categories, such as carriers who lie. Given their category,
people are taken to be in each cell with the same chance, whatever their covariates: Q(ν) = P(cell | category), of shape
(cells, t). So the likelihood of an answer with row L is (L Q(ν)) · π(z): that of a plain design with rows L Q(ν).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Answerable, Design, Share
from naysay.errors import DesignError

Floats = NDArray[np.float64]
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
    """

    x: Floats
    offset: Floats | None
    answer: Places
    weight: Floats
    answers: Answers
    within: Within
    reference: int

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
        return (self.t - 1) * int(self.x.shape[1]) + self.q

    @cached_property
    def fixed_table(self) -> _Table:
        """The likelihood rows of a design without nuisance parameters: the same in every step of a search."""
        return _Table.of(self, np.zeros(0))

    @cached_property
    def free(self) -> list[int]:
        """The categories other than the reference."""
        return [j for j in range(self.t) if j != self.reference]

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients (t - 1, p) and nuisance parameters (q,)."""
        edge = theta.size - self.q
        return theta[:edge].reshape(self.t - 1, -1), theta[edge:]

    def at(self, rows: NDArray[np.intp] | slice) -> Model:
        """The same model of some of the rows."""
        offset = None if self.offset is None else self.offset[rows]
        return replace(self, x=self.x[rows], offset=offset, answer=self.answer[rows], weight=self.weight[rows])

    def with_columns(self, x: Floats) -> Model:
        """The same people with other covariates."""
        return replace(self, x=x)

    def average(self, theta: Floats) -> tuple[Floats, Floats]:
        """The mean of π over the rows by their weights, (t,), and its derivatives, (t, P)."""
        p, total = self.x.shape[1], float(self.weight.sum())
        mean, slopes = np.zeros(self.t), np.zeros((self.t, self.size))
        for rows in self._runs():
            pi = self.shares(theta, self.x[rows], None if self.offset is None else self.offset[rows])
            heavy = pi * self.weight[rows]
            mean += heavy.sum(axis=1)
            for place, k in enumerate(self.free):
                own = -heavy * pi[k]
                own[k] += heavy[k]
                slopes[:, place * p : (place + 1) * p] += own @ self.x[rows]
        return mean / total, slopes / total

    def shares(self, theta: Floats, x: Floats | None = None, offset: Floats | None = None) -> Floats:
        """π of each row, (t, n)."""
        beta, _ = self.split(theta)
        eta = beta @ (self.x if x is None else x).T
        added = self.offset if x is None else offset
        return self._softmax(eta if added is None else eta + added)

    def _softmax(self, eta: Floats) -> Floats:
        full = np.zeros((self.t, eta.shape[1]))
        full[self.free] = eta
        full -= full.max(axis=0)
        np.exp(full, out=full)
        full /= full.sum(axis=0)
        return full

    def evaluate(self, theta: Floats, kind: str | None = "observed") -> Evaluated:
        """The log-likelihood, its gradient, and the information of a kind; without a kind only the value."""
        value, gradient = 0.0, np.zeros(self.size)
        information = np.zeros((self.size, self.size))
        for rows, piece in self._pieces(theta):
            weight = self.weight[rows]
            value += float(weight @ np.log(piece.f))
            if kind is not None:
                x = self.x[rows]
                gradient += self._summed(piece.scores * weight, x)
                self._add(information, piece.curvature(kind), weight, x)
        lower = np.tril(information)
        return Evaluated(value, gradient, lower + np.tril(lower, -1).T)

    def scores(self, theta: Floats) -> Floats:
        """The score of every row, without its weight, (n, P)."""
        found = np.empty((len(self.x), self.size))
        p = self.x.shape[1]
        for rows, piece in self._pieces(theta):
            for j in range(self.t - 1):
                found[rows, j * p : (j + 1) * p] = piece.scores[j][:, None] * self.x[rows]
            found[rows, self.size - self.q :] = piece.scores[self.t - 1 :].T
        return found

    def summed(self, theta: Floats, kind: str, weight: Floats) -> Floats:
        """The curvatures of a kind, added up with other weights, (P, P)."""
        found = np.zeros((self.size, self.size))
        for rows, piece in self._pieces(theta):
            self._add(found, piece.curvature(kind), weight[rows], self.x[rows])
        lower = np.tril(found)
        return np.asarray(lower + np.tril(lower, -1).T)

    def _runs(self) -> Iterator[slice]:
        """Rows at a time."""
        size = min(max(_PRODUCT // self.x.shape[1] ** 2, _CHUNK >> 4), _CHUNK)
        return (slice(start, start + size) for start in range(0, len(self.x), size))

    def _pieces(self, theta: Floats) -> Iterator[tuple[slice, Piece]]:
        """Runs of rows, each with what its answers tell at these parameters."""
        beta, nu = self.split(theta)
        table = _Table.of(self, nu) if self.q else self.fixed_table
        for rows in self._runs():
            eta = beta @ self.x[rows].T
            if self.offset is not None:
                eta += self.offset[rows]
            yield rows, Piece(self, table, self.answer[rows], self._softmax(eta))

    def _summed(self, scores: Floats, x: Floats) -> Floats:
        edge = self.t - 1
        return np.concatenate([(scores[:edge] @ x).ravel(), scores[edge:].sum(axis=1)])

    def _add(self, found: Floats, curvature: Callable[[int, int], Floats], weight: Floats, x: Floats) -> None:
        """Add Σ w h x xᵀ over the rows to the lower half of the information."""
        p, edge = x.shape[1], self.t - 1
        for a in range(edge + self.q):
            for b in range(a + 1):
                h = curvature(a, b) * weight
                if a < edge:
                    found[a * p : (a + 1) * p, b * p : (b + 1) * p] += (x.T * h) @ x
                elif b < edge:
                    found[edge * p + a - edge, b * p : (b + 1) * p] += h @ x
                else:
                    found[edge * p + a - edge, edge * p + b - edge] += h.sum()


class _Table(NamedTuple):
    """Rows M = L Q(ν) of the distinct answers, with their derivatives by ν.

    Parameters
    ----------
    m : (t, distinct) float
    first : (q, t, distinct) float
    second : {(k, l): (t, distinct) float}
        Where they are not zero.
    listed : callable
        For each channel, M and its first derivatives for all its responses.
    """

    m: Floats
    first: Floats
    second: dict[tuple[int, int], Floats]
    listed: Callable[[], list[tuple[Floats, Floats]]]

    @classmethod
    def of(cls, model: Model, nu: Floats) -> _Table:
        """The table at some nuisance parameters."""
        within, q = model.within, model.q
        chances = within.chances(nu)
        slopes = [within.chances(nu, k) for k in range(q)]
        rows = model.answers.rows

        def both(rows: Floats) -> tuple[Floats, Floats]:
            first = [(rows @ slope).T for slope in slopes]
            return np.ascontiguousarray((rows @ chances).T), np.array(first).reshape(q, within.shape[1], len(rows))

        bent = {(k, each): within.chances(nu, k, each) for k in range(q) for each in range(k)}
        second = {pair: (rows @ curve).T for pair, curve in bent.items() if curve.any()}
        return cls(*both(rows), second, lambda: [both(each) for each in model.answers.listings()])


class Piece:
    """What the answers of a run of rows tell: f, the scores of the predictors and their curvature."""

    def __init__(self, model: Model, table: _Table, answer: Places, pi: Floats) -> None:
        self.model, self.table, self.answer, self.pi = model, table, answer, pi
        joint = table.m.take(answer, axis=1)
        joint *= pi
        self.f = joint.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.r = joint / self.f
            self.own = [(pi * first.take(answer, axis=1)) / self.f for first in table.first]

    @cached_property
    def scores(self) -> Floats:
        """The derivatives of log f by each predictor, (d, rows)."""
        free = self.model.free
        found = np.empty((len(free) + len(self.own), len(self.f)))
        np.subtract(self.r[free], self.pi[free], out=found[: len(free)])
        for k, own in enumerate(self.own):
            found[len(free) + k] = own.sum(axis=0)
        return found

    def curvature(self, kind: str) -> Callable[[int, int], Floats]:
        """For two predictors, how much their curvature each row adds to the information of a kind, (rows,)."""
        if kind == "outer_product":
            return lambda a, b: np.asarray(self.scores[a] * self.scores[b])
        if kind in ("expected", "randomization"):
            found = self._expected(known=kind == "randomization")
            return lambda a, b: np.asarray(found[a, b])
        return self._observed

    def _observed(self, a: int, b: int) -> Floats:
        """- ∂² log f, for predictors a ≥ b."""
        free, edge = self.model.free, self.model.t - 1
        if a < edge:
            j, k, pi, r = free[a], free[b], self.pi, self.r
            found = r[j] * r[k] - pi[j] * pi[k]
            return np.asarray(found + pi[j] - r[j] if a == b else found)
        score = self.scores[a]
        if b < edge:  # ∂ of r - π by ν
            return np.asarray(self.r[free[b]] * score - self.own[a - edge][free[b]])
        bent = self.table.second.get((a - edge, b - edge))
        found = score * self.scores[b]
        return np.asarray(
            found if bent is None else found - (self.pi * bent.take(self.answer, axis=1)).sum(axis=0) / self.f
        )

    def _expected(self, *, known: bool) -> Floats:
        """The variance of the scores over all responses y of each row's channel, (d, d, rows).

        That is Σ_y ∂f_y ∂f_yᵀ / f_y. With the category known only the randomization is left: the scores' means m_j
        given the category vary no more, and Σ_j π_j m_j m_jᵀ is taken off.
        """
        free, part = self.model.free, self.model.answers.part[self.answer]
        d = len(free) + len(self.own)
        found = np.zeros((d, d, len(self.f)))
        for place, (m, first) in enumerate(self.table.listed()):
            here = np.flatnonzero(part == place)
            if not here.size:
                continue
            pi = self.pi[:, here]
            means = np.zeros((self.model.t, d, here.size))
            for y in range(m.shape[1]):
                f = m[:, y] @ pi
                slopes = np.vstack([pi[free] * (m[free, y][:, None] - f), first[:, :, y] @ pi])
                with np.errstate(divide="ignore", invalid="ignore"):
                    score = np.where(f > 0, slopes / f, 0.0)
                found[:, :, here] += slopes[:, None] * score
                if known:
                    means += m[:, y][:, None, None] * score
            if known:
                found[:, :, here] -= np.einsum("jn,jan,jbn->abn", pi, means, means)
        return found


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
    told : tuple of str
        What is taken to be the same for everyone, in words.
    """

    parameters: tuple[Share, ...]
    paths: dict[tuple[int, int], Path]
    shape: tuple[int, int]
    told: tuple[str, ...]

    def chances(self, nu: Floats, *by: int) -> Floats:
        """Q(ν), (cells, t), or its derivative by the parameters in these places."""
        found = np.zeros(self.shape)
        for place, path in self.paths.items():
            inside = [k for k, _ in path]
            if len(set(by)) == len(by) and set(by) <= set(inside):  # linear in each: second derivatives are zero
                factors = ((1.0 if up else -1.0) if k in by else nu[k] if up else 1 - nu[k] for k, up in path)
                found[place] = float(np.prod(list(factors)))
        return found


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
        found = np.zeros(self.shape)
        if len(by) < 2:  # linear in γ
            share = 1.0 if by else nu[0]
            found[self.cheaters], found[self.others] = share, -share
        if not by:
            for cell, category in self.paths:
                found[cell, category] += cell != self.cheaters
        return found


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
    found = within(design)
    if [share.name for share in found.parameters] != ["cheaters"]:
        raise DesignError(
            f"cheaters='CDM' needs cheating_detection or cheating_detection_symmetric; {design.name or design.kind} "
            "has no cheaters"
        )
    (cheaters,), (others,) = (
        [cell for (cell, _), path in found.paths.items() if path == ((0, up),)] for up in (True, False)
    )
    told = ("the share of “cheaters” among everybody (CDM)",)
    return Evenly(found.parameters, found.paths, found.shape, told, cheaters, others)


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
    >>> found.told
    ('“truth-tellers” within “yes”',)
    """
    cells, t = design.cells, len(design.categories)
    reached = []
    for share in design.shares:
        above, below = share.weights(cells)
        reached.append(np.flatnonzero((above > 0) | (below == 0)))  # its own cells, and those of no category
    groups: list[dict[tuple[int, ...], list[tuple[int, bool]]]] = [{tuple(each): []} for each in reached]
    used: list[Share] = []
    told: list[str] = []
    for share in design.nuisance:
        of, among = (each.astype(bool) for each in share.weights(cells))
        split = [_split(group, of, among, len(used)) for group in groups]
        if any(len(new) > len(old) for new, old in zip(split, groups, strict=True)):
            where = [j for j in range(t) if len(split[j]) > len(groups[j])]
            names = " and ".join(f"“{_checks.label(design.categories[j])}”" for j in where)
            told.append(f"“{_checks.label(share.name)}” within {names}")
            groups, used = split, [*used, share]
    for group in itertools.chain.from_iterable(groups):
        if len(group) > 1:
            names = _checks.shown(cells[place] for place in group)
            raise DesignError(f"regression needs a nuisance parameter that tells the cells {names} apart")
    paths = {(cell, j): tuple(path) for j, group in enumerate(groups) for (cell,), path in group.items()}
    return Within(tuple(used), paths, (len(cells), t), tuple(told))


def _split(
    groups: dict[tuple[int, ...], list[tuple[int, bool]]], of: NDArray[np.bool_], among: NDArray[np.bool_], k: int
) -> dict[tuple[int, ...], list[tuple[int, bool]]]:
    """The groups of one category, each divided where a share holds a part of it."""
    found: dict[tuple[int, ...], list[tuple[int, bool]]] = {}
    for group, path in groups.items():
        inside = tuple(cell for cell in group if of[cell])
        outside = tuple(cell for cell in group if not of[cell])
        if inside and outside and among[list(group)].all():
            found |= {inside: [*path, (k, True)], outside: [*path, (k, False)]}
        else:
            found[group] = path
    return found
