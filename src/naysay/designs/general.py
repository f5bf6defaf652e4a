"""Designs for any question: the truth, pure noise, any matrix, an offer of levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from naysay import _checks
from naysay.design import Answerable, Design, Do, Levels, Protocol, Subset
from naysay.designs.catalog import by_lot, family, of_pattern, of_probabilities, truthfully
from naysay.errors import DesignError


@family("direct questioning", assumes=("people answer truthfully although everybody can see their answer",))
def direct(categories: Sequence[Any]) -> Design:
    """The direct question: the response is the true category.

    P = I. It gives no privacy; other designs are compared with it.

    Parameters
    ----------
    categories : (t,) sequence of label

    Examples
    --------
    >>> direct(("yes", "no")).matrix
    array([[1., 0.],
           [0., 1.]])
    """
    labels = _checks.categories(categories)
    return of_pattern(1, 0, labels, truthfully(labels), notes=("this reveals your answer",))


@family("noise, for mixtures")
def uniform(categories: Sequence[Any], *, discards: int | None = None) -> Design:
    """Pure noise: every response is equally likely, whatever the truth.

    P[i, j] = 1/t. Alone, the answer says nothing, and nothing can be estimated. In a `mix`, it gives deniability.

    Parameters
    ----------
    categories : (t,) sequence of label
    discards : int, optional
        The response is a set of this many categories instead of one category. Mix it with ``negative(discards=k)``.

    Examples
    --------
    >>> uniform(("a", "b", "c", "d")).matrix[0]
    array([0.25, 0.25, 0.25, 0.25])
    """
    labels = _checks.categories(categories)
    if discards is not None:
        discards = _checks.whole_number(discards, 1, len(labels) - 1, what="discards")
        lots = Do(f"draw {discards} of the {len(labels)} categories by lot, and name them")
        return Subset.of(labels, discards, truthful=False, protocol=Protocol(lots))
    return of_pattern(1, 1, labels, by_lot(labels))


@family("any matrix")
def custom(matrix: Any, *, categories: Sequence[Any] | None = None, responses: Sequence[Any] | None = None) -> Design:
    """The design with any matrix of probabilities.

    Parameters
    ----------
    matrix : (responses, t) float, str or Fraction
        P(response | category); columns sum to one. Decimals are read as written; ``"1/3"`` is exact.
    categories : (t,) sequence of label, optional
        ``1 … t`` by default.
    responses : (responses,) sequence of label, optional
        By default the categories, or ``1 … m`` if there are more or fewer responses than categories.

    Raises
    ------
    DesignError
        A column that does not sum to one, or entries outside [0, 1].

    Examples
    --------
    >>> custom([[0.8, 0.1], [0.2, 0.9]], categories=("yes", "no")).denominator
    10
    """
    try:
        rows = [list(row) for row in matrix]
    except TypeError:
        raise DesignError(
            f"the matrix must be rows of probabilities, one row for each response; got {matrix!r}"
        ) from None
    if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
        raise DesignError("the matrix must have rows (responses) of one length t, the number of categories")
    labels = tuple(range(1, len(rows[0]) + 1)) if categories is None else _checks.categories(categories)
    if len(labels) != len(rows[0]):
        raise DesignError(f"the matrix has {len(rows[0])} columns; name that many categories, got {len(labels)}")
    if responses is None and len(rows) != len(labels):
        responses = tuple(range(1, len(rows) + 1))
    return of_probabilities(rows, labels, responses, name="custom()")


@family("Esponda, Huerta & Guerrero (2016)")
def levels(offer: Mapping[Any, Answerable] | None = None, **named: Answerable) -> Levels:
    """An offer of designs by name, from which each respondent chooses a level of privacy.

    Parameters
    ----------
    offer : {name: Design}
        The levels, most private first, all with the same categories.

    Raises
    ------
    DesignError
        No level, or levels with different categories.

    Examples
    --------
    >>> from naysay import designs
    >>> levels({"masked": designs.warner(p=0.7), "open": direct(("yes", "no"))}).levels
    ('masked', 'open')
    """
    designs_by_level: dict[Any, Any] = {**(offer or {}), **named}
    levels_design = Levels.of(designs_by_level)
    calls = ", ".join(f"{level}={design.name or design.kind}" for level, design in designs_by_level.items())
    return replace(levels_design, name=f"levels({calls})")
