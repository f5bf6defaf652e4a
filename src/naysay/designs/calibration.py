"""Designs whose probabilities are estimated: from people of whom both the truth and the answer are known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Label
from naysay.design import Samples, Share, Table
from naysay.design.drawing import table_weights
from naysay.designs.catalog import call, family
from naysay.errors import DesignError, NotEstimable
from naysay.responses import Labels

_STEP = Fraction(1, 10)  # of a standard error, as `Samples.uncertain` wants it
SURVEY, VALIDATED = "survey", "validated"
"""The samples of `double_sampling`."""


@family(
    "Esponda (2006), after eq. 6; Kuha & Skinner (1997)",
    assumes=("people in the survey answer as those of the calibration sample do",),
)
def calibrated(
    counts: ArrayLike, *, categories: Sequence[Label], responses: Sequence[Label] | None = None, negative: bool = False
) -> Samples:
    """How people answer, estimated from a calibration sample in which the truth of each person is known.

    P̂[i, j] = c_ij / m_j. Estimates under it carry both errors: with A the inverse of P̂, their covariance is
    A [Σ_λ/n + Σ_j π_j² Σ_{P_j}/m_j] Aᵀ. With as many responses as categories and estimates inside [0, 1], they maximize
    the joint likelihood of both samples, too.

    Parameters
    ----------
    counts : (responses, t) int
        How many people of each category (column) of the calibration sample gave each response (row).
    categories : (t,) sequence of label
    responses : sequence of label, optional
        The categories by default.
    negative : bool
        Whether nobody can name their own category: a chance of 0 that is known, not estimated.

    Raises
    ------
    DesignError
        Counts of another shape, a category of nobody or a response that nobody gave; under `negative`, people who named
        their own category; answers that do not tell the categories apart.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> seen = [[0, 30, 45], [60, 0, 55], [40, 70, 0]]  # of 100 people in each category
    >>> survey = designs.calibrated(seen, categories=("a", "b", "c"), negative=True)
    >>> fit = estimate.moments(survey, survey.tally(count=[270, 380, 350]))
    >>> fit.proportions.round(3), fit.standard_errors.round(3)
    (array([0.288, 0.335, 0.376]), array([0.071, 0.047, 0.054]))
    """
    names = _checks.categories(categories, least=2, what="categories")
    labels = names if responses is None else _checks.categories(responses, least=2, what="responses")
    seen = _whole_counts(counts, (len(labels), len(names)))
    is_possible = np.ones(seen.shape, dtype=np.bool_)
    if negative:
        if labels != names:
            raise DesignError("negative=True is for responses that are the categories; leave responses out")
        np.fill_diagonal(is_possible, val=False)
        if seen[~is_possible].any():
            place = int(np.argmax(np.diagonal(seen)))
            raise DesignError(
                f"{seen[place, place]} people of the calibration sample named their own category "
                f"{_checks.label(names[place])!r}, which a negative survey rules out; leave negative=True out"
            )
    for axis, labels_of_axis, what in ((0, names, "nobody of category"), (1, labels, "nobody gave the response")):
        if not seen.sum(axis=axis).all():
            missing_label = _checks.label(labels_of_axis[int(np.argmin(seen.sum(axis=axis)))])
            raise DesignError(f"{what} {missing_label!r} in the calibration sample: its chances stay unknown")
    chances = [
        [Fraction(int(count), int(size)) for count, size in zip(row, seen.sum(axis=0), strict=True)] for row in seen
    ]
    survey = Samples.of(
        {None: _table(chances, names, labels)},
        uncertain=tuple(
            Samples.of({None: _table(moved, names, labels)}) for moved in _moved(chances, seen, is_possible)
        ),
        name=call("calibrated", negative=negative or None),
        notes=(f"standard errors and intervals carry the error of the chances, from {int(seen.sum()):,} people",),
    )
    try:
        survey.check_identified()
    except NotEstimable as error:
        raise DesignError(f"the calibration sample does not tell the categories apart: {error}") from None
    return survey


@family("Tenenbein (1970)", assumes=("both samples are drawn from one population",))
def double_sampling(categories: Sequence[Label], *, responses: Sequence[Label] | None = None) -> Samples:
    """A survey, and a part of its sample in which the truth was found out, too: one likelihood of both.

    Its cells are pairs of a category and a response. In the sample "survey" the response is seen; in "validated" both
    are, written as the cell. How people answer is estimated beside the shares. The validated people then tell about the
    population, too, not only how people answer.

    Parameters
    ----------
    categories : (t,) sequence of label
    responses : sequence of label, optional
        The categories by default.

    Examples
    --------
    >>> from naysay import designs, estimate
    >>> survey = designs.double_sampling(("yes", "no"))
    >>> survey.cells
    ('yes says yes', 'yes says no', 'no says yes', 'no says no')
    >>> answers = ["yes", "no", *survey.cells]
    >>> sample = ["survey"] * 2 + ["validated"] * 4
    >>> tally = survey.tally(answers, sample=sample, count=[380, 620, 50, 10, 20, 120])
    >>> estimate.maximum_likelihood(survey, tally).proportions.round(3)
    array([0.316, 0.684])
    """
    names = _checks.categories(categories, least=2, what="categories")
    labels = names if responses is None else _checks.categories(responses, least=2, what="responses")
    cells = [f"{_checks.label(name)} says {_checks.label(label)}" for name in names for label in labels]
    says = [[Fraction(place % len(labels) == row) for place in range(len(cells))] for row in range(len(labels))]
    itself = [[Fraction(place == row) for place in range(len(cells))] for row in range(len(cells))]
    return Samples.of(
        {SURVEY: _table(says, cells, labels), VALIDATED: _table(itself, cells, cells)},
        shares=[
            Share(name, tuple(cells[place * len(labels) : (place + 1) * len(labels)]))
            for place, name in enumerate(names)
        ],
        nuisance=[
            Share(
                f"{_checks.label(label)} if {_checks.label(name)}",
                (cell,),
                among=tuple(cells[start : start + len(labels)]),
            )
            for start, name in zip(range(0, len(cells), len(labels)), names, strict=True)
            for label, cell in zip(labels[:-1], cells[start : start + len(labels) - 1], strict=True)
        ],
    )


def _whole_counts(counts: ArrayLike, shape: tuple[int, int]) -> NDArray[np.int64]:
    """The counts as whole numbers of people, (responses, t)."""
    count_array = np.asarray(counts, dtype=float)
    if count_array.shape != shape:
        raise DesignError(
            f"counts must have a row for each of {shape[0]} responses and a column for each of {shape[1]} categories; "
            f"got an array of shape {count_array.shape}"
        )
    if not (np.isfinite(count_array) & (count_array >= 0) & (count_array == np.floor(count_array))).all():
        raise DesignError("counts must be whole numbers of people, 0 or more")
    return count_array.astype(np.int64)


def _moved(
    chances: Sequence[Sequence[Fraction]], seen: NDArray[np.int64], is_possible: NDArray[np.bool_]
) -> Iterator[list[list[Fraction]]]:
    """The chances with one column a tenth of a standard error towards one response.

    Σ_P = Σ_i p_i (e_i - p)(e_i - p)ᵀ, so moves towards e_i by sqrt(p_i / m) make it up; each is a mixture, and stays
    possible. In their lengths each possible response counts two people more, z²/2, as in Wilson's interval: a
    response that few gave or nobody is not known to be that rare.
    """
    sizes = seen.sum(axis=0)
    smooth = np.where(is_possible, seen + 2.0, 0.0)
    smooth /= smooth.sum(axis=0)
    for i, j in np.argwhere(is_possible).tolist():
        length = _STEP * Fraction(math.sqrt(smooth[i, j] / sizes[j])).limit_denominator(10**6)
        yield [
            [
                chance + length * ((row == i) - chance) if column == j else chance
                for column, chance in enumerate(chance_row)
            ]
            for row, chance_row in enumerate(chances)
        ]


def _table(chances: Sequence[Sequence[Fraction]], categories: Sequence[Label], responses: Sequence[Label]) -> Table:
    return Table(
        categories=tuple(categories),
        space=Labels(tuple(responses)),
        weights=table_weights(chances, columns=categories),
    )
