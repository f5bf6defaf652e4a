"""How long a search for dangerous combinations takes, found by trying a few of each size."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from naysay.errors import DataError
from naysay.microdata.combinations.finished import Finished
from naysay.microdata.combinations.lattice import Places, Trial
from naysay.microdata.keys.table import check_choice
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.histogram import MEASURES
from naysay.microdata.matching.question import RULES

__all__ = ["SearchPlan", "check", "check_how", "planned", "search_plan"]

_TRIALS = 3  # combinations tried for each number of keys
_PATIENCE = 2.0  # seconds for all trials


@dataclass(frozen=True)
class SearchPlan:
    """How many combinations a search has, and about how long it takes on this machine.

    Parameters
    ----------
    variables : int
        Key variables to choose from.
    size : int
        The largest number of keys in a combination.
    combinations : tuple of int
        How many there are of 1 … size keys.
    seconds : tuple of float
        How long those should take, judged by trying a few.
    """

    variables: int
    size: int
    combinations: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def number(self) -> int:
        """All combinations."""
        return sum(self.combinations)

    @property
    def time(self) -> float:
        """Seconds that they should take."""
        return sum(self.seconds)

    def __str__(self) -> str:
        return (
            f"{self.number:,} combinations of up to {self.size} of {self.variables} keys, about {spoken(self.time)} on"
            " this machine"
        )

    @property
    def smaller(self) -> str:
        """What searches of fewer keys would take."""
        sizes = range(1, self.size)
        parts = [(each, sum(self.combinations[:each]), sum(self.seconds[:each])) for each in sizes]
        return "; ".join(f"up to {each}: {number:,}, about {spoken(seconds)}" for each, number, seconds in parts[-3:])


def spoken(seconds: float) -> str:
    """A length of time as people say it."""
    for unit, name in ((86_400 * 365.25, "years"), (86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.0f} {name}"
    return f"{max(seconds, 1):.0f} seconds" if seconds >= 1.5 else "a second"


def check(keys: Keys, size: Any, rule: str, measure: str = "matches") -> None:
    """Raise for a size, rule or measure that no search can have."""
    every = len(keys.columns)
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= every:
        raise DataError(f"size must be a number of keys, from 1 to {every}; got {size!r}", value=size)
    check_how(rule, measure)


def check_how(rule: str, measure: str = "matches") -> None:
    """Raise for an unknown rule or measure."""
    check_choice(rule, RULES, what="rule")
    check_choice(measure, MEASURES, what="measure")


def search_plan(keys: Keys, *, size: int = 3, rule: str = "worst") -> SearchPlan:
    """How many combinations a search has, and about how long it would take, from trying a few of each size.

    Parameters
    ----------
    keys : Keys
    size : int
    rule : {"worst", "intersect", "first"}

    Examples
    --------
    >>> people = {"age": [40, 36, 40, 40], "gender": ["f", "m", "m", "m"], "job": ["a", "a", "b", "a"]}
    >>> search_plan(Keys(people, ["age", "gender", "job"]), size=2).combinations
    (3, 3)
    """
    check(keys, size, rule)
    return planned(keys, size, rule, Finished(keys, rule, None))


def planned(keys: Keys, size: int, rule: str, finished: Finished) -> SearchPlan:
    """The combinations that are not finished, and the time for them."""
    lattice, variables = Trial(keys, rule, size), len(keys.columns)
    rng, begun, each = np.random.default_rng(variables), time.monotonic(), 0.0
    numbers, seconds = [], []
    for number in range(1, size + 1):
        done = sum(len(names) == number for names in finished.done)
        numbers.append(math.comb(variables, number) - done)
        if numbers[-1] and time.monotonic() - begun < _PATIENCE:
            chosen = [rng.choice(variables, number, replace=False) for _ in range(_TRIALS)]
            each = float(np.mean([_tried(lattice, tuple(sorted(places.tolist()))) for places in chosen]))
        seconds.append(numbers[-1] * each)
    return SearchPlan(variables, size, tuple(numbers), tuple(seconds))


def _tried(lattice: Trial, places: Places) -> float:
    """Seconds for one combination whose beginning is counted already, as it is in a search."""
    lattice.part(places[:-1])
    begun = time.perf_counter()
    lattice.counted(places)
    return time.perf_counter() - begun
