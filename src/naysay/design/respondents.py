"""What respondents decide themselves: which level they choose, and what they state instead of the truth.

Both are probabilities given the category, as in the design itself, and both come before it. If people state category i
with probability S[i, j] when j is true, responses have probabilities λ = P S π. Each level takes its share of λ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design.base import Answerable, check_design
from naysay.errors import DataError

Floats = NDArray[np.float64]


def choice(design: Answerable, preferences: ArrayLike | None = None) -> Floats:
    """P(level | category), shape (levels, t); columns sum to one. For several samples: P(sample | cell).

    Parameters
    ----------
    design : Design, Levels or Samples
    preferences : (levels,) or (levels, t) float, optional
        One vector for everybody; or one column for each category, if the choice depends on the category. Equal by
        default.

    Raises
    ------
    DataError
        The design has no levels, or the preferences have another shape, are negative or do not sum to one.

    Examples
    --------
    >>> from naysay import designs
    >>> choice(designs.negative_levels(("a", "b", "c")), (0.25, 0.75))
    array([[0.25, 0.25, 0.25],
           [0.75, 0.75, 0.75]])
    """
    check_design(design)
    levels, t = len(design.levels), len(design.cells)
    if preferences is None:
        return np.full((levels, t), 1 / levels)
    if not design.several:
        raise DataError(f"{design.name or design.kind} offers no levels; leave preferences out")
    given = np.asarray(preferences)
    if given.ndim < 2:
        return np.tile(_checks.probability_vector(preferences, levels, what="preferences")[:, None], t)
    if given.shape != (levels, t):
        raise DataError(
            f"preferences must be {levels} probabilities, one a level, or {levels} rows (levels) and {t} columns "
            f"(categories); got an array of shape {given.shape}"
        )
    if design.assigned_by != "respondent":
        raise DataError("people are put into samples by chance, whatever their cell; give one share for each sample")
    for category, column in zip(design.categories, given.T, strict=True):
        _checks.probability_vector(column, levels, what=f"preferences of {_checks.label(category)!r}")
    return given.astype(np.float64)


def lies(categories: Sequence[Any], share_of: float, *, among: Sequence[Any] | None = None, says: Any = None) -> Floats:
    """P(stated category | true category), shape (t, t), where a share of people do not state the truth.

    Parameters
    ----------
    categories : (t,) sequence of label
    share_of : float
        The share who lie among people whose category is in `among`, from 0 to 1.
    among : sequence of label, optional
        The categories whose members lie. By default all categories; members of `says` tell the truth in any case.
    says : label, optional
        What liars say, such as "no" for people who deny. Without it they say each other category equally often.

    Raises
    ------
    DataError
        A share outside [0, 1]; labels that are no categories.

    Examples
    --------
    >>> lies(("yes", "no"), 0.25, says="no")
    array([[0.75, 0.  ],
           [0.25, 1.  ]])
    """
    labels, t = tuple(categories), len(categories)
    said = None if says is None else place_of(says, labels)
    liars = [place_of(label, labels) for label in (labels if among is None else among)]
    amount = share(share_of, what="the share of liars")
    stated = np.eye(t)
    for place in liars:
        instead = [said] if said is not None else [other for other in range(t) if other != place]
        if place != said:
            stated[place, place] -= amount
            stated[instead, place] += amount / len(instead)
    return stated


def whole_people(proportions: Floats, n: int) -> NDArray[np.int64]:
    """Whole counts (t,) of n people, as close to the proportions as possible: a fixed file."""
    exact = proportions * n
    whole = np.floor(exact + 1e-9).astype(np.int64)
    missing = n - int(whole.sum())
    # A stable sort gives ties to the first categories, so that the file is the same on every machine.
    whole[np.argsort(whole - exact, kind="stable")[:missing]] += 1
    return whole


def place_of(label: Any, categories: Sequence[Any]) -> int:
    """The place of a category, named by itself or by its text."""
    texts = [_checks.label(category) for category in categories]
    if _checks.label(label) not in texts:
        raise DataError(f"{label!r} is no category; {_checks.nearest(_checks.label(label), texts)}", value=label)
    return texts.index(_checks.label(label))


def number(value: Any, holds: Callable[[Any], bool], *, must: str, hint: str = "") -> float:
    """The number, if `holds` is true of it. The message says what must hold, what came, and a hint."""
    # True is an int to Python. NaN fails every comparison, so `holds` rejects it.
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not holds(value):
        raise DataError(f"{must}; got {value!r}{hint}", value=value)
    return float(value)


def positive(value: Any, *, what: str, hint: str = "") -> float:
    """A finite number above 0."""
    return number(value, lambda it: 0 < it < np.inf, must=f"{what} must be above 0", hint=hint)


def share(value: Any, *, what: str) -> float:
    """A share of people, from 0 to 1."""
    return number(value, lambda it: 0 <= it <= 1, must=f"{what} must lie in [0, 1]")
