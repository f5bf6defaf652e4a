"""What makes a function a family: its name, its source and its assumptions are known wherever designs are named."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

import numpy as np

from naysay.design import Answerable, Both, Design, Samples
from naysay.errors import DesignError

__all__ = ["ASSUMPTIONS", "FAMILIES", "SOURCES", "call", "family"]

P = ParamSpec("P")
A = TypeVar("A", bound=Answerable)


FAMILIES: dict[str, Callable[..., Answerable]] = {}
"""Every family that a design call may name."""

SOURCES: dict[str, str] = {}
"""Author and year of each family."""

ASSUMPTIONS: dict[str, tuple[str, ...]] = {}
"""What each family assumes, beyond people following the protocol."""


def family(source: str, *, assumes: tuple[str, ...] = ()) -> Callable[[Callable[P, A]], Callable[P, A]]:
    """Register a function as a family; its designs know their call, their source and what they assume.

    Parameters
    ----------
    source : str
        Author and year.
    assumes : tuple of str
        What must hold, each in a few words.
    """

    def register(make: Callable[P, A]) -> Callable[P, A]:
        @functools.wraps(make)
        def made(*arguments: P.args, **named: P.kwargs) -> A:
            inspect.signature(make).bind(*arguments, **named)
            try:
                design = make(*arguments, **named)
            except (TypeError, AttributeError, LookupError) as error:
                raise DesignError(f"the arguments of {make.__name__} are of the wrong kind: {error}") from None
            name = design.name or call(make.__name__, **_shown(make, named))
            return _told(replace(design, name=name), source, assumes)

        FAMILIES[make.__name__], SOURCES[make.__name__], ASSUMPTIONS[make.__name__] = made, source, assumes
        return made

    return register


def _shown(make: Callable[..., Any], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments that a call must show to be understood."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(make).parameters.items()}
    return {name: value for name, value in named.items() if name != "categories" and value is not defaults[name]}


def _told(design: A, source: str, assumes: tuple[str, ...]) -> A:
    """The design with its source and assumptions beside its steps; those of samples stand with each of them."""
    if isinstance(design, Samples):
        parts = tuple(_told(part, source, assumes) for part in design.designs)
        return replace(design, designs=parts)
    if isinstance(design, Both):
        return replace(design, **{half: _told(getattr(design, half), source, assumes) for half in ("first", "second")})
    if not isinstance(design, Design) or design.protocol is None:
        return design
    protocol = design.protocol
    assumed = tuple(dict.fromkeys((*protocol.assumes, *assumes)))
    return replace(design, protocol=replace(protocol, source=protocol.source or source, assumes=assumed))


def call(family: str, **arguments: Any) -> str:
    """A design as a call, such as ``warner(p=0.7)``; arguments that are None are left out."""
    given = ", ".join(f"{name}={_written(value)}" for name, value in arguments.items() if value is not None)
    return f"{family}({given})"


def _written(value: Any) -> str:
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, tuple | list):
        inner = ", ".join(map(_written, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return str(value) if isinstance(value, Fraction) else repr(value)
