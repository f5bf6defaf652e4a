"""The search for dangerous combinations: every set of up to q key variables, ranked by how many stand out on it.

How long a search for dangerous combinations takes, found by trying a few of each size.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.combinations.finished import Combination, Finished
from naysay.microdata.combinations.lattice import Lattice, Places, Trial, number_of
from naysay.microdata.keys.table import check_choice
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.bitmaps import adder
from naysay.microdata.matching.histogram import MEASURES
from naysay.microdata.matching.question import RULES
from naysay.microdata.population.theta import sampling_fraction
from naysay.microdata.risk.written import DASH, Printed, explained, grid, share, theta_cells
from naysay.show import Content, Heading, Note, Sentence

LONGEST = 24 * 3600.0
"""Seconds that a search may be expected to take before it asks for a limit."""

ROWS_SHOWN = 20
"""Rows of a table of combinations in text."""

SIGN = {"matches": "m", "anonymity": "k"}
"""The sign of each measure that combinations are ranked by."""

_STOPPED = {"": "", "interrupted": "interrupted", "minutes": "its time was up", "most": "as many as were asked for"}


@dataclass(frozen=True, eq=False)
class Search(Printed):
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
        The finished ones, ranked; ties go by fewer keys, then by the order of the keys.
    asked : int
        The number of combinations in all.
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
        finished_counts = np.bincount(
            [len(combination.keys) for combination in self.combinations], minlength=self.size + 1
        )
        all_counts = [math.comb(len(self.keys.columns), key_count) for key_count in range(1, self.size + 1)]
        return next(
            (place for place, number in enumerate(all_counts) if finished_counts[place + 1] < number), self.size
        )

    def of(self, size: int) -> tuple[Combination, ...]:
        """The combinations of exactly so many keys, ranked."""
        return tuple(combination for combination in self.combinations if len(combination.keys) == size)

    @property
    def reason(self) -> str:
        """Why not all are finished, in words; empty if they are."""
        return _STOPPED[self.stopped]

    @property
    def unfinished(self) -> str:
        """What a search that stopped has not done; empty where it did everything."""
        if not self.left:
            return ""
        sizes = f"all of up to {self.complete}" if self.complete else "not even all single keys"
        return (
            f"{self.left:,} of {self.asked:,} combinations were not counted ({self.reason or 'stopped'}); finished:"
            f" {sizes}. There may be worse ones among the rest"
        )

    @property
    def by_size(self) -> list[tuple[int, tuple[Combination, ...]]]:
        """The finished combinations of each number of keys."""
        return [(size, done) for size in range(1, self.size + 1) if (done := self.of(size))]

    def to_dict(self) -> dict[str, Any]:
        """The search as one JSON object with stable names; undefined numbers are None."""
        return {
            "keys": list(self.keys.columns),
            **{name: getattr(self, name) for name in ("n", "size", "rule", "measure", "population", "asked")},
            "finished": len(self.combinations),
            "complete": self.complete,
            "stopped": self.stopped or None,
            "combinations": [self._combination(combination) for combination in self.combinations],
        }

    def _combination(self, combination: Combination) -> dict[str, Any]:
        fields = combination.to_dict()
        if self.population is not None:
            on_k, on_m = combination.thetas(self.population, confidence=self.confidence)
            fields["listwise"] |= on_k.fields()
            fields["matches"] |= on_m.fields()
        return fields

    def content(self) -> list[Content]:
        """What the search tells: the most dangerous combinations, and what the number of keys does."""
        on_m, on_k = ([], []) if self.population is None else (["θ on m"], ["θ on k"])
        columns = ["m=1", "m<5", "Pr(SU)", "mean 1/m", *on_m, "deleted", "k=1", "k<5", "Pr(SU) all", "exact", *on_k]
        top, sign = self.combinations[:ROWS_SHOWN], SIGN[self.measure]
        keys_text = _checks.several(len(self.keys.columns), "key", "keys")
        searched = f"{self.asked:,} combinations of up to {self.size} of {keys_text}"
        title = f"The {len(top)} on which most stand out, ranked by {sign} = 1"
        columns_of_sizes = ("keys", "finished", "least", "median", "most", "on")
        by_size = f"Respondents with {sign} = 1, by the number of keys"
        sizes = ((f"{size}", *self._spread(done)) for size, done in self.by_size)
        meaning = (
            "Mean 1/m: the chance to pick the right record if all matches were equally likely. Exact: how often an"
            " intruder who knows all keys of a person in the file finds the right record by an exact match.",
        )
        theta = f"θ: as in the table of risk; {DASH}: none, or withheld."
        return [
            Heading(f"Search for dangerous combinations: {searched}; {self.n:,} respondents; rule: {self.rule}"),
            *([Note(self.unfinished)] if self.left else []),
            grid(title, ["combination", *columns], map(self._cells, top), width=48),
            explained(meaning),
            *([] if self.population is None else [Sentence(theta)]),
            grid(by_size, columns_of_sizes, sizes, width=48),
        ]

    def _cells(self, combination: Combination) -> list[str]:
        matches = [
            f"{combination.m.unique:,}",
            f"{combination.m.below_5:,}",
            share(combination.pr_su),
            share(combination.m.inverse),
        ]
        counts = [f"{number:,}" for number in (combination.deleted, combination.k.unique, combination.k.below_5)]
        listwise = [*counts, share(combination.pr_su_all), share(combination.exact)]
        if self.population is not None:
            on_k, on_m = (theta_cells(theta)[0] for theta in combination.thetas(self.population))
            matches, listwise = [*matches, on_m], [*listwise, on_k]
        return [" + ".join(combination.keys), *matches, *listwise]

    def _spread(self, combinations: Sequence[Combination]) -> list[str]:
        numbers = sorted(combination.unique(self.measure) for combination in combinations)
        counts = (len(combinations), numbers[0], numbers[len(numbers) // 2], numbers[-1])
        return [*(f"{value:,}" for value in counts), " + ".join(combinations[0].keys)]


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

    Each combination has the sizes k after listwise deletion and the numbers of matches m over everybody, as in
    `risk_table`; counts of small combinations are reused for larger ones. Small combinations come first, and among
    those of one size the keys that tell most people apart. If the search is interrupted, or its time is up, it returns
    what is finished, ranked.

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
        The most combinations to count now.
    minutes : float, optional
        The most time to take.
    file : path, optional
        Where finished combinations are written, and read again when the same search goes on. It may be the file of a
        search of smaller combinations. It holds numbers of respondents and names of keys, no values.
    progress : callable, optional
        Called with each combination, such as ``age + gender``, and the share of them that is done, from 0 to 1.

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
    check(keys, size, rule, measure)
    _check_limits(most, minutes)
    _checks.confidence(confidence)
    if population is not None:
        sampling_fraction(keys.n, population)
    lattice = Lattice(keys, rule, size)
    adder(4 * size * lattice.rows**2)  # compile before the search: an import that Ctrl-C cuts short cannot be repeated
    with Finished(keys, rule, None if file is None else Path(file)) as finished:
        stopped = _interruptible(lambda: _run(lattice, size, finished, most, minutes, progress))
    place = {name: number for number, name in enumerate(keys.columns)}

    def danger(combination: Combination) -> tuple[Any, ...]:
        first, second = (combination.k, combination.m) if measure == "anonymity" else (combination.m, combination.k)
        sizes = (-first.unique, -first.below_5, -first.below_10, -second.unique)
        return (*sizes, len(combination.keys), [place[name] for name in combination.keys])

    ranked = tuple(
        sorted((combination for combination in finished.done.values() if len(combination.keys) <= size), key=danger)
    )
    combination_count = number_of(len(keys.columns), size)
    return Search(keys, size, rule, measure, ranked, combination_count, stopped, population, confidence)


def _interruptible(work: Callable[[], str]) -> str:
    """Why the work stopped, Ctrl-C among the reasons.

    One Ctrl-C may be raised twice: by polars, which watches for it while it computes, and then by Python.
    """
    with suppress(KeyboardInterrupt):
        try:
            return work()
        except KeyboardInterrupt:
            time.sleep(0)  # a second Ctrl-C is raised here
    return "interrupted"


def _check_limits(most: Any, minutes: Any) -> None:
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise DataError(f"most must be a number of combinations, at least 1; got {most!r}", value=most)
    if minutes is not None and (isinstance(minutes, bool) or not 0 < minutes < math.inf):
        raise DataError(f"minutes must be positive; got {minutes!r}", value=minutes)


def _run(
    lattice: Lattice,
    size: int,
    finished: Finished,
    most: int | None,
    minutes: float | None,
    progress: Callable[[str, float], None] | None,
) -> str:
    """Count what is not finished, and return why the count stopped."""
    if most is None and minutes is None:
        plan = planned(lattice.keys, size, lattice.rule, finished)
        if plan.time > LONGEST:
            advice = "Count the first with most (--most), give it time with minutes (--minutes), or search smaller"
            needs = "a search that takes more than a day needs a limit"
            raise DataError(f"{needs}; this one has {plan}. {advice} combinations ({plan.smaller})")
    start_time, columns = time.monotonic(), lattice.keys.columns
    total = number_of(len(columns), size)
    done_before = sum(len(names) <= size for names in finished.done)
    all_places = chain.from_iterable(map(lattice.combinations, range(1, size + 1)))  # the smallest first
    named_places = ((tuple(columns[place] for place in sorted(places)), places) for places in all_places)
    pending_places = (names_and_places for names_and_places in named_places if names_and_places[0] not in finished.done)
    for count_now, (names, places) in enumerate(pending_places):
        if most is not None and count_now >= most:
            return "most"
        if minutes is not None and time.monotonic() - start_time > 60 * minutes:
            return "minutes"
        if progress is not None:
            progress(" + ".join(names), (done_before + count_now) / total)
        finished.add(lattice.combination_on(places))
    return ""


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
        parts = [(key_count, sum(self.combinations[:key_count]), sum(self.seconds[:key_count])) for key_count in sizes]
        return "; ".join(
            f"up to {key_count}: {number:,}, about {spoken(seconds)}" for key_count, number, seconds in parts[-3:]
        )


def spoken(seconds: float) -> str:
    """A length of time as people say it."""
    for unit, name in ((86_400 * 365.25, "years"), (86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.0f} {name}"
    return f"{max(seconds, 1):.0f} seconds" if seconds >= 1.5 else "a second"


def check(keys: Keys, size: Any, rule: str, measure: str = "matches") -> None:
    """Raise for a size, rule or measure that no search can have."""
    key_count = len(keys.columns)
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= key_count:
        raise DataError(f"size must be a number of keys, from 1 to {key_count}; got {size!r}", value=size)
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
    rng, start_time, trial_seconds = np.random.default_rng(variables), time.monotonic(), 0.0
    numbers, seconds = [], []
    for number in range(1, size + 1):
        done_count = sum(len(names) == number for names in finished.done)
        numbers.append(math.comb(variables, number) - done_count)
        if numbers[-1] and time.monotonic() - start_time < _PATIENCE:
            trial_places = [rng.choice(variables, number, replace=False) for _ in range(_TRIALS)]
            trial_seconds = float(
                np.mean([_seconds_of_trial(lattice, tuple(sorted(places.tolist()))) for places in trial_places])
            )
        seconds.append(numbers[-1] * trial_seconds)
    return SearchPlan(variables, size, tuple(numbers), tuple(seconds))


def _seconds_of_trial(lattice: Trial, places: Places) -> float:
    """Seconds for one combination whose beginning is counted already, as it is in a search."""
    lattice.part(places[:-1])
    start_time = time.perf_counter()
    lattice.combination_on(places)
    return time.perf_counter() - start_time
