"""The register of families (name, source, assumptions), and tables made from probabilities or from steps."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

import numpy as np

from naysay import _checks
from naysay.design import (
    Answerable,
    Both,
    Branch,
    Design,
    Do,
    Fork,
    Pattern,
    Protocol,
    Samples,
    Say,
    Step,
    Table,
    draw_lots,
)
from naysay.design.channels import LEAST, MANY, compact
from naysay.design.exact import as_fraction, table_weights, whole_weights
from naysay.design.protocol import probabilities
from naysay.design.pure import MOST_NUMBERED
from naysay.errors import DesignError
from naysay.responses import Labels

P = ParamSpec("P")
A = TypeVar("A", bound=Answerable)


FAMILIES: dict[str, Callable[..., Answerable]] = {}
"""Every family that a design call may name."""

SOURCES: dict[str, str] = {}
"""Author and year of each family."""

ASSUMPTIONS: dict[str, tuple[str, ...]] = {}
"""What each family assumes, beyond people following the protocol."""


def family(source: str, *, assumes: tuple[str, ...] = ()) -> Callable[[Callable[P, A]], Callable[P, A]]:
    """Register a function as a family. Its designs then carry their call, their source and their assumptions.

    Parameters
    ----------
    source : str
        Author and year.
    assumes : tuple of str
        The assumptions, each in a few words.
    """

    def register(make: Callable[P, A]) -> Callable[P, A]:
        own = {name: each.default for name, each in inspect.signature(make).parameters.items()}

        @functools.wraps(make)
        def made(*arguments: P.args, **named: P.kwargs) -> A:
            inspect.signature(make).bind(*arguments, **named)
            try:
                design = make(*arguments, **named)
            except (TypeError, AttributeError, LookupError) as error:
                raise DesignError(f"the arguments of {make.__name__} are of the wrong kind: {error}") from None
            if not design.name:  # the name shows every argument that is not a default; categories are stored beside it
                shown = {key: value for key, value in named.items() if key != "categories" and value is not own[key]}
                design = replace(design, name=call(make.__name__, **shown))
            return _told(design, source, assumes)

        FAMILIES[make.__name__], SOURCES[make.__name__], ASSUMPTIONS[make.__name__] = made, source, assumes
        return made

    return register


def _told(design: A, source: str, assumes: tuple[str, ...]) -> A:
    """The design with source and assumptions in its protocol; for samples, in the protocol of each sample."""
    if isinstance(design, Samples):
        return replace(design, designs=tuple(_told(part, source, assumes) for part in design.designs))
    if isinstance(design, Both):
        return replace(design, **{half: _told(getattr(design, half), source, assumes) for half in ("first", "second")})
    if not isinstance(design, Design) or design.protocol is None:
        return design
    protocol = design.protocol
    assumed = tuple(dict.fromkeys((*protocol.assumes, *assumes)))
    return replace(design, protocol=replace(protocol, source=protocol.source or source, assumes=assumed))


def call(family: str, **arguments: Any) -> str:
    """A design as a call, such as ``warner(p=0.7)``. Arguments that are None are left out."""
    given = ", ".join(f"{name}={_written(value)}" for name, value in arguments.items() if value is not None)
    return f"{family}({given})"


def _written(value: Any) -> str:
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_written, value))}{',' if len(value) == 1 else ''})"
    return str(value) if isinstance(value, Fraction) else repr(value)


YES_NO = ("yes", "no")


def domain(categories: Sequence[Any] | int) -> tuple[Any, ...]:
    """The categories as labels; a whole number t stands for 0 … t - 1."""
    if isinstance(categories, bool):
        raise DesignError(f"categories must be labels, or how many there are; got {categories}")
    if isinstance(categories, int):
        return tuple(range(_checks.whole(categories, 2, MOST_NUMBERED, what="the number of categories")))
    return _checks.categories(categories)


def capped(epsilon: Any, a: int, b: int) -> tuple[str, ...]:
    """The note for an ε so large that integers up to 2⁵³ cannot reach it."""
    short = float(as_fraction(epsilon)) - math.log(a / b) > 1e-9
    return (f"ε = {math.log(a / b):.4g} is the largest that can be drawn, less than asked",) if short else ()


def of_probabilities(
    matrix: Any, categories: Sequence[Any], responses: Sequence[Any] | None = None, **fields: Any
) -> Table | Pattern:
    """The design with this matrix of probabilities (responses, t), read exactly as written."""
    labels = _checks.categories(categories)
    widths = {len(row) for row in matrix}
    if widths != {len(labels)}:
        raise DesignError(
            f"each row of the matrix must have {len(labels)} entries, one for each category; got {sorted(widths)}"
        )
    return of_weights(table_weights(matrix, columns=labels), labels, responses, **fields)


def of_weights(
    weights: Any, categories: Sequence[Any], responses: Sequence[Any] | None = None, **fields: Any
) -> Table | Pattern:
    """The design with these integer weights (responses, t). Responses are the categories unless they are named."""
    labels = _checks.categories(categories)
    reported = labels if responses is None else tuple(responses)
    return compact(Table(categories=labels, space=Labels(reported), weights=np.asarray(weights), **fields))


def of_pattern(own: int, other: int, categories: Sequence[Any], first: Step, **fields: Any) -> Table | Pattern:
    """The design in which the true category has weight `own`, and each other category has weight `other`."""
    fields = {"protocol": Protocol(first), **fields}
    design = Pattern.of(categories, own, other, **fields)
    return design if len(categories) >= LEAST else of_weights(design.weights, categories, **fields)


def of_steps(
    first: Step,
    categories: Sequence[Any],
    responses: Sequence[Any] | None = None,
    *,
    yes_no: bool = False,
    **fields: Any,
) -> Table:
    """The design that these steps make. Its probabilities are read from the steps."""
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
    """A question that people answer to themselves, and the next step of each category: (category, step)."""
    branches = (Branch(_checks.label(category), step, members=(category,)) for category, step in ways)
    return Fork(question, tuple(branches), told)


def truth(categories: Sequence[Any]) -> Fork:
    """Every category says its own name."""
    ways = ((category, Say(category)) for category in categories)
    asked = (SENSITIVE, HONESTLY) if len(categories) == 2 else ("Which category is yours?", TRUTHFULLY)
    return ask(*ways, question=asked[0], told=asked[1])


def truthfully(categories: Sequence[Any]) -> Step:
    """The same, told in words where there are too many categories for one branch each."""
    return Do(TRUTHFULLY) if len(categories) > MANY else truth(categories)


def by_lot(categories: Sequence[Any]) -> Step:
    """Lots between all categories, each with the same chance; told in words where there are many."""
    if (t := len(categories)) > MANY:
        return Do(f"let the device draw lots, unseen by anybody else; the list of {t} outcomes says which to say")
    return draw_lots(*((Fraction(1, t), Say(category)) for category in categories))


def chance(value: Any, *, name: str, inside: bool = False) -> Fraction:
    """A probability, read as written; in [0, 1], or with `inside` strictly between 0 and 1."""
    exact = as_fraction(value, what=name)
    if not 0 <= exact <= 1 or (inside and exact in (0, 1)):
        raise DesignError(f"{name} must lie {'strictly between 0 and 1' if inside else 'in [0, 1]'}; got {value!r}")
    return exact
