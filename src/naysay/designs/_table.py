"""From probabilities, or from the steps of a protocol, to a table design, in one line for every family."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from naysay import _checks
from naysay.design import Branch, Do, Fork, Pattern, Protocol, Say, Step, Table, draw_lots
from naysay.design.channels import compact
from naysay.design.exact import as_fraction, table_weights, whole_weights
from naysay.design.pattern import MANY
from naysay.design.protocol import probabilities
from naysay.errors import DesignError
from naysay.responses import Labels

__all__ = [
    "HONESTLY",
    "SENSITIVE",
    "YES_NO",
    "ask",
    "by_lot",
    "chance",
    "of_pattern",
    "of_probabilities",
    "of_steps",
    "of_weights",
    "truth",
    "truthfully",
    "two",
]

YES_NO = ("yes", "no")


def of_probabilities(
    matrix: Any, categories: Sequence[Any], responses: Sequence[Any] | None = None, **fields: Any
) -> Table | Pattern:
    """The design with this matrix of probabilities (responses, t), read exactly as written."""
    labels = _checks.categories(categories)
    widths = {len(row) for row in matrix}
    if widths != {len(labels)}:
        raise DesignError(
            f"each row of the matrix must have {len(labels)} entries, one a category; got {sorted(widths)}"
        )
    return of_weights(table_weights(matrix, columns=labels), labels, responses, **fields)


def of_weights(
    weights: Any, categories: Sequence[Any], responses: Sequence[Any] | None = None, **fields: Any
) -> Table | Pattern:
    """The design with these integer weights (responses, t); responses are the categories unless named."""
    labels = _checks.categories(categories)
    reported = labels if responses is None else tuple(responses)
    return compact(Table(categories=labels, space=Labels(reported), weights=np.asarray(weights), **fields))


def of_pattern(own: int, other: int, categories: Sequence[Any], first: Step, **fields: Any) -> Table | Pattern:
    """The design that answers the true category with weight `own`, and each other one with weight `other`."""
    labels = tuple(categories)
    told = {"protocol": Protocol(first), **fields}
    design = Pattern.of(labels, own, other, **told)
    return design if len(labels) > MANY else of_weights(design.weights, labels, **told)


def of_steps(
    first: Step,
    categories: Sequence[Any],
    responses: Sequence[Any] | None = None,
    *,
    yes_no: bool = False,
    **fields: Any,
) -> Table:
    """The design that a respondent follows step by step; its probabilities are read from the steps."""
    labels = _checks.categories(categories)
    reported = labels if responses is None else tuple(responses)
    weights = whole_weights(*probabilities(first, labels, reported), columns=labels)
    space = Labels(reported, yes_no=yes_no)
    return Table(categories=labels, space=space, weights=weights, protocol=Protocol(first), **fields)


def two(categories: Sequence[Any]) -> tuple[Any, Any]:
    """Two categories, the sensitive one first."""
    labels = _checks.categories(categories)
    if len(labels) != 2:
        raise DesignError(f"this design takes two categories, the sensitive one first; got {len(labels)}")
    return labels[0], labels[1]


SENSITIVE = "Is the sensitive statement true of you?"
TRUTHFULLY = "say truthfully which category is yours"
HONESTLY = "say truthfully whether the sensitive statement is true of you"


def ask(*ways: tuple[Any, Step], question: str = SENSITIVE, told: str = "") -> Fork:
    """A question that people answer to themselves, and what each category does then: (category, step)."""
    branches = (Branch(_checks.label(category), step, members=(category,)) for category, step in ways)
    return Fork(question, tuple(branches), told)


def truth(categories: Sequence[Any]) -> Fork:
    """Every category says its own name."""
    ways = [(category, Say(category)) for category in categories]
    if len(categories) == 2:
        return ask(*ways, told=HONESTLY)
    return ask(*ways, question="Which category is yours?", told=TRUTHFULLY)


def truthfully(categories: Sequence[Any]) -> Step:
    """The same, told in words where a way for each category would be too many to write down."""
    return Do(TRUTHFULLY) if len(categories) > MANY else truth(categories)


def by_lot(categories: Sequence[Any]) -> Step:
    """Any category, each with the same chance; told in words where they are many."""
    t = len(categories)
    if t > MANY:
        return Do(f"let the device draw lots, unseen by anybody else; the list of {t} outcomes says which to say")
    return draw_lots(*((Fraction(1, t), Say(category)) for category in categories))


def chance(value: Any, *, name: str, inside: bool = False) -> Fraction:
    """A probability as it is written, in [0, 1], or strictly inside."""
    exact = as_fraction(value, what=name)
    if not 0 <= exact <= 1 or (inside and exact in (0, 1)):
        raise DesignError(f"{name} must lie {'strictly between 0 and 1' if inside else 'in [0, 1]'}; got {value!r}")
    return exact
