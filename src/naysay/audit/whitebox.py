"""The whole sampler of a small design, draw by draw: its exact chances, and the random numbers that it reads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.design import Answerable, Design
from naysay.errors import DesignError
from naysay.responses import Responses

__all__ = ["Walked", "walked"]

_MOST = 20_000  # paths of draws for each category


@dataclass(frozen=True)
class Walked:
    """What a sampler does, over all random numbers that it could read.

    Parameters
    ----------
    chances : {category: {response: Fraction}}
        Exact; responses as text.
    bounds : {category: set of tuple of int}
        The sequences of bounds below which integers were drawn. One sequence for all categories means that neither the
        number of random bytes nor the time that they take tells anything.
    """

    chances: dict[Any, dict[str, Fraction]]
    bounds: dict[Any, set[tuple[int, ...]]]


class _Script:
    """A source whose integers are given beforehand; beyond them it draws 0, and notes the bounds."""

    def __init__(self, given: tuple[int, ...]) -> None:
        self.given, self.bounds = given, []  # type: tuple[int, ...], list[int]

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        drawn = []
        for _ in range(size):
            place = len(self.bounds)
            self.bounds.append(bound)
            drawn.append(self.given[place] if place < len(self.given) else 0)
        return np.array(drawn, dtype=np.int64)


def walked(design: Answerable, level: Any = None) -> Walked:
    """Every path through a design's sampler, for every category.

    An integer below a bound is uniform by the rule ``integer``, whatever bytes are rejected. So the chances of a path
    are one over the product of its bounds, and their sums are exact.

    Parameters
    ----------
    design : Design, Levels or Samples
    level : label, optional
        The level or sample; needed where the design has some.

    Raises
    ------
    DesignError
        More than 20,000 paths for a category: use `audit` instead.

    Examples
    --------
    >>> from naysay import designs
    >>> found = walked(designs.warner(p=0.75))
    >>> found.chances["yes"], found.bounds["yes"]
    ({'yes': Fraction(3, 4), 'no': Fraction(1, 4)}, {(4,)})
    """
    channel = design.channel(level)
    chances: dict[Any, dict[str, Fraction]] = {}
    bounds: dict[Any, set[tuple[int, ...]]] = {}
    for place, category in enumerate(channel.categories):
        found, read = chances.setdefault(category, {}), bounds.setdefault(category, set())
        for path, said in _paths(channel, place):
            found[said] = found.get(said, Fraction(0)) + Fraction(1, math.prod(path))
            read.add(path)
    return Walked(chances, bounds)


def _paths(channel: Design, place: int) -> Iterator[tuple[tuple[int, ...], str]]:
    """The bounds of the draws on each path, and the response at its end; the last draw moves first."""
    given: tuple[int, ...] = ()
    while True:
        script = _Script(given)
        (said,) = Responses(channel.drawn(np.array([place]), script), channel.space).texts()
        path = tuple(script.bounds)
        if math.prod(path) > _MOST:
            raise DesignError(
                f"{channel.name or 'this design'} has more than {_MOST:,} paths of draws; audit it instead"
            )
        yield path, str(said)
        drawn = [*given, *[0] * (len(path) - len(given))][: len(path)]
        while drawn and drawn[-1] + 1 == path[len(drawn) - 1]:
            drawn.pop()
        if not drawn:
            return
        drawn[-1] += 1
        given = tuple(drawn)
