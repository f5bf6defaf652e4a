"""One simulated survey: from the population and its behavior to the tally of the answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naysay.design import Answerable, Design
from naysay.design.drawing import GeneratorSource, Source
from naysay.errors import DesignError
from naysay.responses import Codes
from naysay.simulate.behavior import Behavior
from naysay.simulate.populations import Population
from naysay.tally import Part, Tally

__all__ = ["Survey"]

Floats = NDArray[np.float64]

_LISTED = 20_000  # up to this many responses over all levels, counts are drawn at once; above it, person by person


@dataclass(frozen=True, eq=False)
class Survey:
    """The survey that is repeated.

    Parameters
    ----------
    design : Design, Levels or Samples
    population : Population
        Its proportions are in the order of the design's categories, or of its cells.
    n : int
        People who are asked.
    preferences : (levels, t) float
        P(level | category).
    behavior : Behavior
    target : {"population", "file"}
        With "file", the same people are asked every time.
    """

    design: Answerable
    population: Population
    n: int
    preferences: Floats
    behavior: Behavior
    target: str

    @property
    def truth(self) -> Floats:
        """The proportions to be estimated, (t,): those of the population, or of the fixed file."""
        people = self._file / self.n if self.target == "file" else self.population.proportions
        return self.design.proportions_of(people)

    @cached_property
    def _file(self) -> NDArray[np.int64]:
        return self.population.people(self.n)

    @cached_property
    def cells(self) -> tuple[_Outcomes, ...] | None:
        """The chances of every outcome, level by level; None if there are too many responses to list."""
        channels = list(self.design.parts.values())
        if not all(each.space.listable for each in channels) or sum(each.space.size for each in channels) > _LISTED:
            return None
        stated = self.behavior.stated(self.design.cells)
        silent = self.behavior.silent(self.design.cells)
        cells = []
        for level, channel, chosen in zip(self.design.levels, channels, self.preferences, strict=True):
            codes = channel.space.listing()
            codes = codes[np.lexsort(codes.T[::-1])]  # sorted, as a tally stores them
            own = channel.rows(codes)
            possible = own.max(axis=1) > 0
            noise = self.behavior.at_random * possible[:, None] / possible.sum()
            said = (1 - self.behavior.at_random) * own @ stated + noise
            cells.append(_Outcomes(level, channel, codes, said * (1 - silent) * chosen, silent * chosen))
        return tuple(cells)

    @cached_property
    def _chances(self) -> Floats:
        """P(outcome | category), (outcomes, t): the responses of all levels one below the other, then no answer."""
        cells = self.cells or ()
        stacked = np.vstack([*(each.said for each in cells), *(each.nothing[None] for each in cells)])
        return np.asarray(stacked / stacked.sum(axis=0))

    def draw(self, rng: np.random.Generator) -> Tally:
        """The tally of one survey."""
        if self.cells is None:
            return Tally(tuple(self._people(rng)))
        if self.target == "file":
            happened = rng.multinomial(self._file, self._chances.T).sum(axis=0)
        else:
            happened = rng.multinomial(self.n, self._chances @ self.population.proportions)
        ends = np.cumsum([len(each.codes) for each in self.cells])
        counted = np.split(happened, ends)
        nothing = counted.pop()
        return Tally(
            tuple(each.part(count, int(gone)) for each, count, gone in zip(self.cells, counted, nothing, strict=True))
        )

    def _people(self, rng: np.random.Generator) -> list[Part]:
        """The parts of a tally that is drawn person by person."""
        t = len(self.design.cells)
        held = self._file if self.target == "file" else rng.multinomial(self.n, self.population.proportions)
        truth = np.repeat(np.arange(t), held)
        level = _picked(self.preferences, truth, rng)
        silent = rng.random(self.n) < self.behavior.silent(self.design.cells)[truth]
        stated = _picked(self.behavior.stated(self.design.cells), truth, rng)
        noise = rng.random(self.n) < self.behavior.at_random
        parts, source = [], GeneratorSource(rng)
        for place, (name, channel) in enumerate(self.design.parts.items()):
            here = (level == place) & ~silent
            codes = channel.draw(stated[here & ~noise], source)
            if (here & noise).any():
                codes = np.vstack([codes, _noise(channel, int((here & noise).sum()), source)])
            gone = int(((level == place) & silent).sum())
            part = Part.of(channel, codes, level=name, count=np.ones(len(codes), dtype=np.int64))
            parts.append(replace(part, missing=gone, missing_weight=gone))
        return parts


class _Outcomes(NamedTuple):
    """One level: its responses, P(response | category), and P(no answer | category)."""

    level: Any
    channel: Design
    codes: Codes
    said: Floats
    nothing: Floats

    def part(self, count: NDArray[np.int64], missing: int) -> Part:
        seen = count > 0
        people = count[seen]
        weight = people.astype(float)
        return Part(self.channel, self.level, self.codes[seen], people, weight, weight, missing, missing)


def _picked(chances: Floats, truth: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """For each person, one row drawn from the column of `chances` (rows, t) that belongs to their category."""
    sums = np.cumsum(chances / chances.sum(axis=0), axis=0)
    drawn = rng.random(len(truth))
    result = np.zeros(len(truth), dtype=np.int64)
    for category in np.unique(truth).tolist():
        here = truth == category
        result[here] = np.searchsorted(sums[:-1, category], drawn[here], side="right")
    return result


def _noise(channel: Design, n: int, source: Source) -> Codes:
    """Random responses of the design, each equally likely."""
    try:
        return channel.space.at_random(n, source.below)
    except DesignError:
        raise DesignError(
            f"{channel.name or channel.kind} has too many responses to list; leave out people who answer at random"
        ) from None
