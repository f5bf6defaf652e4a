"""How a reproduction is simulated: how often, from which seed, on how many processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from naysay import simulate
from naysay.design import Answerable
from naysay.simulate import Population, Simulation
from reproductions.result import Measured

__all__ = ["Setting", "largest", "ratio_of_spreads"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Setting:
    """What a reproduction is run with.

    Parameters
    ----------
    runs : int
        Surveys in each simulation.
    seed : int
    workers : int
        Processes.
    console : rich Console, optional
        Where progress is shown.
    """

    runs: int
    seed: int
    workers: int = 1
    console: Console | None = field(default=None, repr=False)

    def surveys(self, design: Answerable, people: Population, *, place: int, **options: Any) -> Simulation:
        """A simulation with the seed of its place in the reproduction.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C: half a reproduction would be compared with a whole source.
        """
        found = simulate.replicate(
            design,
            people,
            replicates=self.runs,
            seed=self.of(place),
            workers=self.workers,
            console=self.console,
            **options,
        )
        if found.interrupted:
            raise KeyboardInterrupt
        return found

    def of(self, place: int) -> int:
        """The seed of the simulation at some place: far from those of neighboring seeds."""
        return int(np.random.SeedSequence([self.seed, place]).generate_state(1, np.uint64)[0])

    def rng(self, place: int) -> np.random.Generator:
        """A generator for what is drawn at some place."""
        return np.random.default_rng(self.of(place))


def ratio_of_spreads(one: Floats, other: Floats) -> Measured:
    """The ratio of two standard deviations, averaged over the categories, of independent estimates (runs, t) each.

    Its Monte Carlo error is that of the linearized ratio, survey by survey, as neither the categories of one survey
    need be independent nor the estimates normal.
    """
    above, below = one.var(axis=0, ddof=1), other.var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.sqrt(above / below)
        moved = [
            ((each - each.mean(axis=0)) ** 2 / variance - 1) @ ratios / (2 * len(ratios))
            for each, variance in ((one, above), (other, below))
        ]
    error = np.sqrt(sum(influence.var() / len(influence) for influence in moved))
    return Measured(float(ratios.mean()), float(error))


def largest(values: Floats, errors: Floats) -> float:
    """The largest of some numbers that should be zero, in Monte Carlo errors."""
    known = errors > 0
    return float(np.abs(values[known] / errors[known]).max(initial=0.0))
