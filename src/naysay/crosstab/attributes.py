"""The joint distribution of any number of attributes, each answered under a design of its own.

An answer y of attribute d becomes its unbiased indicators h_d(y), one for each category. Of one person

    u = h_1(y_1) ⊗ ⋯ ⊗ h_D(y_D),    E[u | truth] = 1 in the true cell, and 0 elsewhere,

so that the mean of u is unbiased, and the mean of its squares gives every standard error. Both are sums over the
distinct answers, taken one axis after the other: no matrix over pairs of cells is built, and a million cells take a
second. A marginal of some attributes is the same with the answers to the others left out.

The interval of a cell holds all shares c with n (mean - c)² ≤ z² V(c), as the score interval of an estimate does: V(c)
= c S₁ + (1 - c) S₀ - c², where S₁ is the mean of u² of people in the cell, which the designs give, and S₀ that of all
others, with the estimated shares of the other cells and one person more in each. So a cell in which nobody seems to be
does not look certain. With weights, n is how many unweighted people would be as precise.

Source: Horey, Groat, Forrest & Esponda 2007 and Groat, Edwards, Horey, He & Forrest 2012 (several attributes, each
answered in the negative); errors by the second moment of u.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import scipy

from naysay import _checks
from naysay._values import Array, Floats, Label
from naysay.crosstab.query import HOW_MANY, WEIGHT, WEIGHT_SQUARED, channel_of, distinct_rows, indicators_of
from naysay.crosstab.variables import Variable, known_variables
from naysay.errors import DataError
from naysay.estimate.inversion import mean_squares, score_ends
from naysay.show import Column, Content, Note, Records, Result, Sentence, Table

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

MOST_ATTRIBUTED = 30_000_000
"""Cells of all attributes together, and combinations of answers (240 MB each)."""

_SHOWN = 20  # cells in print, the largest first


@dataclass(frozen=True, eq=False)
class Joint(Result):
    """The joint distribution of several attributes; see `joint`.

    Parameters
    ----------
    columns : tuple of str
        The D attributes.
    labels : tuple of tuple of label
        The categories of each.
    indicators : tuple of (answers, categories) float
        The unbiased indicators of the distinct answers to each.
    squares : tuple of (categories, categories) float
        The mean square of each indicator (column) of people in each category (row).
    people : (answers, …) int
        How many people gave each combination of answers.
    left_out : int
        People without an answer to some attribute.
    confidence : float
        Of the intervals that are printed.
    weight, weight_squared : (answers, …) float, optional
        The sums of these people's weights and of their squares; without weights both are `people`.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]
    indicators: tuple[Floats, ...]
    squares: tuple[Floats, ...]
    people: Array
    left_out: int = 0
    confidence: float = 0.95
    weight: Array | None = None
    weight_squared: Array | None = None

    @property
    def n(self) -> int:
        """People who answered every attribute."""
        return int(self.people.sum())

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, float, float]:
        """The share of the weight of each combination of answers, the squared weights, and what both sum to."""
        weight = self.people if self.weight is None else self.weight
        squared = self.people if self.weight_squared is None else self.weight_squared
        total = float(weight.sum())
        return weight / total, squared, total, float(squared.sum())

    @cached_property
    def proportions(self) -> Floats:
        """The unbiased share of each cell, (categories, …); they sum to one, and some may be negative."""
        return _fold(self._sums[0], self.indicators)

    @cached_property
    def standard_errors(self) -> Floats:
        """Of each cell, (categories, …): moments, n - 1, linearized in the weights; NaN for one person."""
        _, squared, total, squared_total = self._sums
        squares = _fold(squared, [indicators**2 for indicators in self.indicators])
        if self.weight is None:
            deviations = squares - total * self.proportions**2
        else:
            deviations = squares - 2 * self.proportions * _fold(squared, self.indicators)
            deviations += squared_total * self.proportions**2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sqrt(np.maximum(deviations, 0.0) * np.divide(self.n, self.n - 1.0)) / total)

    @property
    def _effective(self) -> Floats:
        """How many unweighted people are as precise, by cell: Kish's number, or fewer where weights go with answers."""
        shares, _, total, squared_total = self._sums
        if self.weight is None:
            return np.full(self.proportions.shape, float(self.n))
        kish = total**2 / squared_total
        plain = (_fold(shares, [indicators**2 for indicators in self.indicators]) - self.proportions**2) / kish
        linearized = self.standard_errors**2 * (1 - 1 / self.n)
        return np.asarray(kish / np.maximum(linearized / np.maximum(plain, 1e-300), 1.0))

    @cached_property
    def intervals(self) -> Floats:
        """Of each cell by itself, (categories, …, 2), cut to [0, 1]."""
        z = float(scipy.special.ndtri(0.5 + self.confidence / 2))
        inside = reduce(np.multiply.outer, [np.diagonal(squares) for squares in self.squares])
        effective = self._effective
        near = np.maximum(self.proportions, 0.0) * effective.max() + 1.0
        near /= near.sum()
        outside = np.maximum(_fold(near, self.squares) - near * inside, 0.0) / (1.0 - near)
        law = np.array([outside, inside - outside, np.full(near.shape, -1.0)]).reshape(3, -1)
        ends = score_ends(np.clip(self.proportions.ravel(), 0.0, 1.0), effective.ravel(), law, z**2)
        return np.clip(ends, 0.0, 1.0).reshape(*near.shape, 2)

    def marginal(self, *columns: str) -> Joint:
        """The joint distribution of some of the attributes, in this order."""
        for column in columns:
            if column not in self.columns:
                raise DataError(_checks.no_column(column, self.columns), column=column)
        if not columns or len(set(columns)) < len(columns):
            raise DataError(f"name different attributes, one at least; got {_checks.listing_text(columns)}")
        places = [self.columns.index(column) for column in columns]
        others = tuple(place for place in range(len(self.columns)) if place not in places)
        order = [sorted(places).index(place) for place in places]

        def margin(sums: Array) -> Array:
            return np.transpose(sums.sum(axis=others), order)

        return Joint(
            columns,
            tuple(self.labels[place] for place in places),
            tuple(self.indicators[place] for place in places),
            tuple(self.squares[place] for place in places),
            margin(self.people),
            self.left_out,
            self.confidence,
            None if self.weight is None else margin(self.weight),
            None if self.weight_squared is None else margin(self.weight_squared),
        )

    def parts(self) -> list[Content]:
        """The largest cells with their intervals."""
        cells = self.proportions.size
        order = np.argsort(-self.proportions, axis=None, kind="stable")[:_SHOWN]
        rows = []
        for place in order.tolist():
            cell = np.unravel_index(place, self.proportions.shape)
            share, error = float(self.proportions[cell]), float(self.standard_errors[cell])
            names = [_checks.label(labels[at]) for labels, at in zip(self.labels, cell, strict=True)]
            numbers = (share, error, *self.intervals[cell].tolist())
            rows.append((*names, *(f"{number:.4f}" for number in numbers)))
        shown = "" if cells <= _SHOWN else f"; the {_SHOWN} largest"
        people = "1 person" if self.n == 1 else f"{self.n:,} people"
        head = f"{' × '.join(self.columns)}: {cells:,} cells, {people} answered every attribute{shown}"
        heads = (*(Column(name, words=True) for name in self.columns), *map(Column, ("share", "s.e.", "low", "high")))
        notes = [Note("unbiased shares by moments, which may be negative; score intervals, each by itself")]
        if self.weight is not None:
            notes.append(Note("shares of the sum of the survey weights; people count as independent"))
        if self.left_out:
            notes.append(Note(f"{self.left_out:,} more people left an attribute out; not counted"))
        return [Sentence(head), Table(heads, tuple(rows)), *notes]

    def numbers(self) -> dict[str, object]:
        """Under the names of the JSON."""
        return {
            "columns": self.columns,
            "labels": [list(labels) for labels in self.labels],
            "n": self.n,
            "left_out": self.left_out,
            "proportions": self.proportions,
            "standard_errors": self.standard_errors,
            "intervals": self.intervals,
            "confidence": self.confidence,
        }

    def records(self) -> Records:
        """A row for each cell."""
        columns = (self.proportions[..., None], self.standard_errors[..., None], self.intervals)
        shares = np.concatenate(columns, axis=-1).reshape(-1, 4).tolist()
        names = (
            [labels[at] for labels, at in zip(self.labels, cell, strict=True)]
            for cell in np.ndindex(*self.proportions.shape)
        )
        rows = [[*cell_names, *numbers] for cell_names, numbers in zip(names, shares, strict=True)]
        return Records([*self.columns, "share", "standard_error", "low", "high"], rows)


def joint(
    data: IntoFrame | Mapping[str, Iterable[object]],
    attributes: Iterable[Variable],
    *,
    weights: str | None = None,
    count: str | None = None,
    confidence: float = 0.95,
) -> Joint:
    """The joint distribution of any number of attributes, each answered under its own design, with all errors.

    Parameters
    ----------
    data : dataframe or mapping of columns
        One row for each person.
    attributes : iterable of Variable
        Columns with their designs, or plain ones. With a column of levels, each answer is read under the level that its
        person chose.
    weights, count : str, optional
        The columns of survey weights, and of how many people each row stands for.
    confidence : float

    Returns
    -------
    Joint

    Raises
    ------
    DataError
        Columns that are not there, answers that a design cannot give, more than 30 million cells, designs whose chances
        are estimated, or which rest on several columns.
    NotEstimable
        A design that does not tell its categories apart.

    Examples
    --------
    >>> from naysay import designs
    >>> from naysay.crosstab import Variable, joint
    >>> place, mode = designs.negative(("north", "south", "west")), designs.negative(("car", "bus", "foot"))
    >>> said = {"place": ["south", "west", "south", "north"], "mode": ["bus", "bus", "foot", "car"]}
    >>> found = joint(said, [Variable("place", place), Variable("mode", mode)])
    >>> found.proportions.sum().round(9), found.marginal("mode").proportions.round(2)
    (np.float64(1.0), array([0.5, 0. , 0.5]))
    """
    _checks.confidence(confidence)
    variables = tuple(attributes)
    columns = tuple(variable.column for variable in variables)
    if not columns or len(set(columns)) < len(columns):
        raise DataError(f"name different attributes, one at least; got {_checks.listing_text(columns)}")
    variables = tuple(
        replace(variable, design=variable.known, categories=None) for variable in known_variables(variables, data)
    )
    for variable in variables:
        if variable.controls or variable.known.cells != variable.labels:
            raise DataError(
                f"column {variable.column!r}: controls and designs of several samples have no indicator of each "
                "answer; cross two or three such attributes by crosstab, --row and --column",
                column=variable.column,
            )
    _check_size([len(variable.labels) for variable in variables], "cells")
    _check_size([max(len(variable.labels) for variable in variables)] * 2, "pairs of categories of one attribute")
    rows, left_out = distinct_rows(data, variables, (), weights=weights, count=count)
    indexed = [_indexed(rows, variable) for variable in variables]
    shape = [len(indicators) for _, indicators, _ in indexed]
    _check_size(shape, "combinations of answers")
    places = np.ravel_multi_index([answer_places for answer_places, _, _ in indexed], shape)

    def sums(column: str) -> Array:
        return np.bincount(places, rows[column].to_numpy(), minlength=math.prod(shape)).reshape(shape)

    labels = tuple(variable.labels for variable in variables)
    _, indicators, squares = zip(*indexed, strict=True)
    weighted = () if weights is None else (sums(WEIGHT), sums(WEIGHT_SQUARED))
    return Joint(columns, labels, indicators, squares, sums(HOW_MANY), left_out, confidence, *weighted)


def _check_size(shape: Sequence[int], what: str) -> None:
    if math.prod(shape) > MOST_ATTRIBUTED:
        raise DataError(
            f"{' × '.join(map(str, shape))} {what} are more than {MOST_ATTRIBUTED:,}; name fewer attributes at once, "
            "or merge categories"
        )


def _indexed(rows: pl.DataFrame, variable: Variable) -> tuple[Array, Floats, Floats]:
    """The place of each row's answer among the distinct ones of a column, (rows,), their indicators and `squares`."""
    keys = [variable.column] if variable.level is None else [variable.column, variable.level]
    answers = rows.select(keys).unique(maintain_order=True)
    places = rows.select(keys).join(answers.with_row_index("_place"), on=keys, how="left", maintain_order="left")
    levels = [None] * answers.height if variable.level is None else answers[variable.level].cast(pl.String).to_list()
    indicators, squares = np.zeros((answers.height, len(variable.labels))), np.zeros((len(variable.labels),) * 2)
    people = np.bincount(places["_place"].to_numpy(), rows[HOW_MANY].to_numpy())
    for level in dict.fromkeys(levels):
        members = np.flatnonzero([other == level for other in levels])
        channel = channel_of(variable, level)
        indicators[members] = indicators_of(channel, variable.column, answers[variable.column].gather(members))
        squares += people[members].sum() / people.sum() * mean_squares(channel)
    return places["_place"].to_numpy(), indicators, squares


def _fold(people: Floats, indicators: Sequence[Floats]) -> Floats:
    """The sum over all combinations of answers, one axis after the other, (categories, …)."""
    for axis, of_axis in enumerate(indicators):
        people = np.moveaxis(np.tensordot(of_axis.T, people, (1, axis)), 0, axis)
    return np.ascontiguousarray(people)
