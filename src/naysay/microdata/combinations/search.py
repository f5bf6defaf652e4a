"""The search for dangerous combinations: every set of up to q key variables, ranked by how many stand out on it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.combinations.finished import Combination, Finished
from naysay.microdata.combinations.lattice import Lattice, Places, Shelf, Unknown, number_of
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.bitmaps import adder
from naysay.microdata.matching.histogram import MEASURES
from naysay.microdata.matching.question import RULES
from naysay.microdata.population.theta import sampling_fraction

__all__ = ["LONGEST", "Combination", "Search", "SearchPlan", "search", "search_plan"]

LONGEST = 24 * 3600.0
"""Seconds that a search may be expected to take before it asks for a limit."""

_TRIALS = 3  # of each number of keys
_PATIENCE = 2.0  # seconds for all trials
_STOPPED = {
    "": "",
    "interrupted": "interrupted",
    "minutes": "its time was up",
    "most": "as many as were asked for",
}


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
        What those should take, from trying a few.
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


@dataclass(frozen=True, eq=False)
class Search:
    """Combinations of key variables, the most dangerous first.

    Parameters
    ----------
    keys : Keys
    size : int
        The largest number of keys in a combination.
    rule : {"worst", "intersect", "first"}
    measure : {"matches", "anonymity"}
        What they are ranked by: respondents with m = 1, or with k = 1.
    combinations : tuple of Combination
        What is finished, ranked; ties by fewer keys, then in the order of the keys.
    asked : int
        How many there are in all.
    stopped : {"", "interrupted", "minutes", "most"}
        Why not all are finished.
    population : float, optional
        People from whom the respondents are a sample: with it, tables and JSON give θ of each combination.
    confidence : float
        Of θ's intervals.
    """

    keys: Keys
    size: int
    rule: str
    measure: str
    combinations: tuple[Combination, ...]
    asked: int
    stopped: str = ""
    population: float | None = None
    confidence: float = 0.95

    @property
    def n(self) -> int:
        """Respondents."""
        return self.keys.n

    @property
    def left(self) -> int:
        """Combinations that were not counted."""
        return self.asked - len(self.combinations)

    @property
    def complete(self) -> int:
        """The largest number of keys up to which every combination is finished."""
        done = np.bincount([len(each.keys) for each in self.combinations], minlength=self.size + 1)
        every = [math.comb(len(self.keys.columns), each) for each in range(1, self.size + 1)]
        return next((each for each, number in enumerate(every) if done[each + 1] < number), self.size)

    def of(self, size: int) -> tuple[Combination, ...]:
        """The combinations of exactly so many keys, ranked."""
        return tuple(each for each in self.combinations if len(each.keys) == size)

    @property
    def reason(self) -> str:
        """Why not all are finished, in words; empty if they are."""
        return _STOPPED[self.stopped]

    def to_dict(self) -> dict[str, Any]:
        """The search as one JSON object with stable names; undefined numbers are None."""
        from naysay.microdata import search_printing

        return search_printing.to_dict(self)

    def __str__(self) -> str:
        from naysay.microdata import search_printing

        return search_printing.to_text(self)

    def _repr_html_(self) -> str:
        from naysay.microdata import search_printing

        return search_printing.to_html(self)


def search(
    keys: Keys,
    *,
    size: int = 3,
    rule: str = "worst",
    measure: str = "matches",
    population: float | None = None,
    confidence: float = 0.95,
    most: int | None = None,
    minutes: float | None = None,
    file: str | Path | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Search:
    """Every combination of up to so many keys, ranked by the respondents who stand out on it.

    For each the sizes k after listwise deletion and the numbers of matches m over everybody, as in `risk_table`, but
    with the counting of small combinations carried over to the larger ones. Small combinations come first, and among
    those of one size the keys that tell most apart. When it is interrupted, or its time is up, what is finished is
    returned, ranked.

    Parameters
    ----------
    keys : Keys
        All key variables to choose from. Weights are not used: name a combination in `risk_table` for its weighted θ.
    size : int
        The largest number of keys in a combination.
    rule : {"worst", "intersect", "first"}
        How uncertain cells match, see `matches`.
    measure : {"matches", "anonymity"}
        Ranked by respondents with m = 1, or with k = 1.
    population : float, optional
        People from whom the respondents are a sample: then each combination has its θ, as in `risk_table` without
        weights.
    confidence : float
        Of θ's intervals.
    most : int, optional
        Combinations to count now, at most.
    minutes : float, optional
        Time to count, at most.
    file : path, optional
        Where finished combinations are written, and read when the same search goes on. It may be a file of a search
        of smaller combinations. It holds numbers of respondents and names of keys, no values.
    progress : callable, optional
        Called with each combination, as ``age + gender``, and the share of them that is done, from 0 to 1.

    Raises
    ------
    DataError
        A `size` below one or above the number of keys; an unknown rule or measure; limits that are not positive; a
        file of another search; a population smaller than the file; a search that would take more than a day, where no
        limit is given.

    Examples
    --------
    >>> people = {"age": [40, 36, 40, 40], "gender": ["f", "m", "m", "m"], "job": ["a", "a", "b", "a"]}
    >>> found = search(Keys(people, ["age", "gender", "job"]), size=2)
    >>> len(found.combinations), found.combinations[0].keys, found.combinations[0].m.unique
    (6, ('age', 'gender'), 2)
    >>> [each.keys for each in found.of(1)]
    [('age',), ('gender',), ('job',)]
    """
    _check(keys, size, rule, measure, most, minutes)
    _checks.confidence(confidence)
    if population is not None:
        sampling_fraction(keys.n, population)
    lattice = Lattice(keys, rule)
    adder(4 * size * lattice.rows**2)  # imports what compiles: an import that Ctrl-C cuts short cannot be repeated
    with Finished(keys, rule, None if file is None else Path(file)) as finished:
        stopped = _interruptible(lambda: _run(lattice, size, finished, most, minutes, progress))
    done = [each for each in finished.done.values() if len(each.keys) <= size]
    asked = number_of(len(keys.columns), size)
    ranked = _ranked(keys, done, measure)
    return Search(keys, size, rule, measure, ranked, asked, stopped, population, confidence)


def _interruptible(work: Callable[[], str]) -> str:
    """Why the work stopped, Ctrl-C among the reasons.

    One Ctrl-C may be raised twice: by polars, which watches for it while it computes, and then by Python.
    """
    try:
        try:
            return work()
        except KeyboardInterrupt:
            time.sleep(0)  # where the second one comes up
            return "interrupted"
    except KeyboardInterrupt:
        return "interrupted"


def _check(keys: Keys, size: Any, rule: str, measure: str, most: Any, minutes: Any) -> None:
    every = len(keys.columns)
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= every:
        raise DataError(f"size must be a number of keys, from 1 to {every}; got {size!r}", value=size)
    if rule not in RULES:
        raise DataError(f"rule must be one of {_checks.shown(RULES)}; got {rule!r}")
    if measure not in MEASURES:
        raise DataError(f"measure must be one of {_checks.shown(MEASURES)}; got {measure!r}")
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise DataError(f"most must be a number of combinations, at least 1; got {most!r}", value=most)
    if minutes is not None and (isinstance(minutes, bool) or not 0 < minutes < math.inf):
        raise DataError(f"minutes must be positive; got {minutes!r}", value=minutes)


def _check_time(plan: SearchPlan) -> None:
    if plan.time > LONGEST:
        raise DataError(
            f"a search that takes more than a day needs a limit; this one has {plan}. Count the first with most"
            f" (--most), give it time with minutes (--minutes), or search smaller combinations ({plan.smaller})"
        )


def _run(
    lattice: Lattice,
    size: int,
    finished: Finished,
    most: int | None,
    minutes: float | None,
    progress: Callable[[str, float], None] | None,
) -> str:
    """Count what is not finished; why it stopped."""
    if most is None and minutes is None:
        _check_time(_planned(lattice, size, finished))
    shelf, begun = Shelf.of_lattice(lattice, size), time.monotonic()
    total = number_of(len(lattice.keys.columns), size)
    before = sum(len(names) <= size for names in finished.done)
    for counted, (names, places) in enumerate(_missing(lattice, size, finished)):
        if most is not None and counted >= most:
            return "most"
        if minutes is not None and time.monotonic() - begun > 60 * minutes:
            return "minutes"
        if progress is not None:
            progress(" + ".join(names), (before + counted) / total)
        finished.add(Combination(names, lattice.n, *lattice.counted(places, shelf)))
    return ""


def _missing(lattice: Lattice, size: int, finished: Finished) -> Iterator[tuple[tuple[str, ...], Places]]:
    """Combinations that are not finished, the smallest first, with their names in the order of the keys."""
    for number in range(1, size + 1):
        for places in lattice.combinations(number):
            names = tuple(lattice.keys.columns[place] for place in sorted(places))
            if names not in finished.done:
                yield names, places


def _ranked(keys: Keys, found: list[Combination], measure: str) -> tuple[Combination, ...]:
    place = {name: number for number, name in enumerate(keys.columns)}

    def danger(each: Combination) -> tuple[Any, ...]:
        first, second = (each.k, each.m) if measure == "anonymity" else (each.m, each.k)
        sizes = (-first.unique, -first.below_5, -first.below_10, -second.unique)
        return (*sizes, len(each.keys), [place[name] for name in each.keys])

    return tuple(sorted(found, key=danger))


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
    _check(keys, size, rule, "matches", None, None)
    return _planned(Lattice(keys, rule), size, Finished(keys, rule, None))


def _planned(lattice: Lattice, size: int, finished: Finished) -> SearchPlan:
    """The combinations that are not finished, and the time for them."""
    variables = len(lattice.keys.columns)
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


def _tried(lattice: Lattice, places: Places) -> float:
    """Seconds for one combination whose beginning is counted already, as it is in a search."""
    lattice.group(places[:-1])
    begun = time.perf_counter()
    lattice.counted(places, Unknown(lattice))
    return time.perf_counter() - begun
