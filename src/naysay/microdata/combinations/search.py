"""The search for dangerous combinations: every set of up to q key variables, ranked by how many stand out on it.

How long it takes is found by trying a few of each size (`search_plan`). For the worst combination it is asked which
recoding of a key would buy most (`recodings`): wider bins, values at an end together, rare categories together. No file
is changed, and no value is named.
"""

from __future__ import annotations

import datetime
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import JsonObject, Label
from naysay.errors import DataError
from naysay.microdata.combinations.lattice import Combination, Finished, Lattice, Trial, all_keys, number_of
from naysay.microdata.keys.codes import check_choice, check_names, months_of
from naysay.microdata.keys.counting import RULES, adder
from naysay.microdata.keys.matches import HISTOGRAM_MEASURES
from naysay.microdata.keys.variables import Keys
from naysay.microdata.risk.theta import sampling_fraction, theta_cells
from naysay.show import Content, Heading, Note, Sentence
from naysay.show.result import DASH, Printed, explained, grid, percent, share

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
        sizes_text = f"all of up to {self.complete}" if self.complete else "not even all single keys"
        return (
            f"{self.left:,} of {self.asked:,} combinations were not counted ({self.reason or 'stopped'}); finished:"
            f" {sizes_text}. There may be worse ones among the rest"
        )

    @property
    def by_size(self) -> list[tuple[int, tuple[Combination, ...]]]:
        """The finished combinations of each number of keys."""
        return [(size, done) for size in range(1, self.size + 1) if (done := self.of(size))]

    def numbers(self) -> dict[str, object]:
        """The search as one JSON object with stable names; undefined numbers are None."""
        return {
            "keys": list(self.keys.columns),
            **{name: getattr(self, name) for name in ("n", "size", "rule", "measure", "population", "asked")},
            "finished": len(self.combinations),
            "complete": self.complete,
            "stopped": self.stopped or None,
            "combinations": [self._combination(combination) for combination in self.combinations],
        }

    def _combination(self, combination: Combination) -> JsonObject:
        fields = combination.to_dict()
        if self.population is not None:
            on_k, on_m = combination.thetas(self.population, confidence=self.confidence)
            fields["listwise"] |= on_k.numbers()
            fields["matches"] |= on_m.numbers()
        return fields

    def parts(self) -> list[Content]:
        """What the search tells: the most dangerous combinations, and what the number of keys does."""
        on_m, on_k = ([], []) if self.population is None else (["θ on m"], ["θ on k"])
        columns = ["m=1", "m<5", "Pr(SU)", "mean 1/m", *on_m, "deleted", "k=1", "k<5", "Pr(SU) all", "exact", *on_k]
        shown_combinations, sign = self.combinations[:ROWS_SHOWN], SIGN[self.measure]
        keys_text = _checks.several(len(self.keys.columns), "key", "keys")
        searched_text = f"{self.asked:,} combinations of up to {self.size} of {keys_text}"
        title = f"The {len(shown_combinations)} on which most stand out, ranked by {sign} = 1"
        columns_of_sizes = ("keys", "finished", "least", "median", "most", "on")
        by_size = f"Respondents with {sign} = 1, by the number of keys"
        size_rows = ((f"{size}", *self._spread(done)) for size, done in self.by_size)
        meaning = (
            "Mean 1/m: the chance to pick the right record if all matches were equally likely. Exact: how often an"
            " intruder who knows all keys of a person in the file finds the right record by an exact match.",
        )
        theta_text = f"θ: as in the table of risk; {DASH}: none, or withheld."
        return [
            Heading(f"Search for dangerous combinations: {searched_text}; {self.n:,} respondents; rule: {self.rule}"),
            *([Note(self.unfinished)] if self.left else []),
            grid(title, ["combination", *columns], map(self._cells, shown_combinations), width=48),
            explained(meaning),
            *([] if self.population is None else [Sentence(theta_text)]),
            grid(by_size, columns_of_sizes, size_rows, width=48),
        ]

    def _cells(self, combination: Combination) -> list[str]:
        match_cells = [
            f"{combination.m.unique:,}",
            f"{combination.m.below_5:,}",
            share(combination.pr_su),
            share(combination.m.inverse),
        ]
        count_cells = [f"{number:,}" for number in (combination.deleted, combination.k.unique, combination.k.below_5)]
        listwise_cells = [*count_cells, share(combination.pr_su_all), share(combination.exact)]
        if self.population is not None:
            on_k, on_m = (theta_cells(theta)[0] for theta in combination.thetas(self.population))
            match_cells, listwise_cells = [*match_cells, on_m], [*listwise_cells, on_k]
        return [" + ".join(combination.keys), *match_cells, *listwise_cells]

    def _spread(self, combinations: Sequence[Combination]) -> list[str]:
        unique_counts = sorted(combination.unique(self.measure) for combination in combinations)
        spread_counts = (len(combinations), unique_counts[0], unique_counts[len(unique_counts) // 2], unique_counts[-1])
        return [*(f"{value:,}" for value in spread_counts), " + ".join(combinations[0].keys)]


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
    limit: object = most
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise DataError(f"most must be a number of combinations, at least 1; got {most!r}", value=most)
    if minutes is not None and (isinstance(minutes, bool) or not 0 < minutes < math.inf):
        raise DataError(f"minutes must be positive; got {minutes!r}", value=minutes)
    _checks.confidence(confidence)
    if population is not None:
        sampling_fraction(keys.n, population)
    lattice = Lattice(keys, rule, size)
    adder(4 * size * lattice.rows**2)  # compile before the search: an import that Ctrl-C cuts short cannot be repeated
    with Finished(keys, rule, None if file is None else Path(file)) as finished:
        stopped = "interrupted"
        # one Ctrl-C may be raised twice: by polars, which watches for it while it computes, and then by Python
        with suppress(KeyboardInterrupt):
            try:
                stopped = _run(lattice, size, finished, most, minutes, progress)
            except KeyboardInterrupt:
                time.sleep(0)  # a second Ctrl-C is raised here
    place_of_key = {key_name: key_place for key_place, key_name in enumerate(keys.columns)}

    def danger(combination: Combination) -> tuple[Any, ...]:
        first_sizes, second_sizes = (
            (combination.k, combination.m) if measure == "anonymity" else (combination.m, combination.k)
        )
        unique_counts = (-first_sizes.unique, -first_sizes.below_5, -first_sizes.below_10, -second_sizes.unique)
        return (*unique_counts, len(combination.keys), [place_of_key[key_name] for key_name in combination.keys])

    ranked_combinations = tuple(
        sorted((combination for combination in finished.done.values() if len(combination.keys) <= size), key=danger)
    )
    combination_count = number_of(len(keys.columns), size)
    return Search(keys, size, rule, measure, ranked_combinations, combination_count, stopped, population, confidence)


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
            advice_text = "Count the first with most (--most), give it time with minutes (--minutes), or search smaller"
            limit_text = "a search that takes more than a day needs a limit"
            raise DataError(f"{limit_text}; this one has {plan}. {advice_text} combinations ({plan.smaller})")
    start_time, columns = time.monotonic(), lattice.keys.columns
    combination_count = number_of(len(columns), size)
    done_before = sum(len(key_names) <= size for key_names in finished.done)
    all_places = chain.from_iterable(map(lattice.combinations, range(1, size + 1)))  # the smallest first
    named_places = (
        (tuple(columns[key_place] for key_place in sorted(key_places)), key_places) for key_places in all_places
    )
    pending_places = (names_and_places for names_and_places in named_places if names_and_places[0] not in finished.done)
    for count_now, (key_names, key_places) in enumerate(pending_places):
        if most is not None and count_now >= most:
            return "most"
        if minutes is not None and time.monotonic() - start_time > 60 * minutes:
            return "minutes"
        if progress is not None:
            progress(" + ".join(key_names), (done_before + count_now) / combination_count)
        finished.add(lattice.combination_on(key_places))
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
        return "; ".join(
            f"up to {key_count}: {sum(self.combinations[:key_count]):,}, about {spoken(sum(self.seconds[:key_count]))}"
            for key_count in range(max(1, self.size - 3), self.size)
        )


def spoken(seconds: float) -> str:
    """A length of time as people say it."""
    for unit_seconds, unit_name in ((86_400 * 365.25, "years"), (86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit_seconds:
            return f"{seconds / unit_seconds:,.0f} {unit_name}"
    return f"{max(seconds, 1):.0f} seconds" if seconds >= 1.5 else "a second"


def check(keys: Keys, size: object, rule: str, measure: str = "matches") -> None:
    """Raise for a size, rule or measure that no search can have."""
    key_count = len(keys.columns)
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= key_count:
        raise DataError(f"size must be a number of keys, from 1 to {key_count}; got {size!r}", value=size)
    check_how(rule, measure)


def check_how(rule: str, measure: str = "matches") -> None:
    """Raise for an unknown rule or measure."""
    check_choice(rule, RULES, what="rule")
    check_choice(measure, HISTOGRAM_MEASURES, what="measure")


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
    lattice, variable_count = Trial(keys, rule, size), len(keys.columns)
    rng, start_time, trial_seconds = np.random.default_rng(variable_count), time.monotonic(), 0.0
    combination_counts, size_seconds = [], []
    for key_count in range(1, size + 1):
        done_count = sum(len(key_names) == key_count for key_names in finished.done)
        combination_counts.append(math.comb(variable_count, key_count) - done_count)
        if combination_counts[-1] and time.monotonic() - start_time < _PATIENCE:
            trial_seconds = 0.0
            for _ in range(_TRIALS):
                places = tuple(sorted(rng.choice(variable_count, key_count, replace=False).tolist()))
                lattice.part(places[:-1])  # in a search the beginning of a combination is counted already
                trial_start = time.perf_counter()
                lattice.combination_on(places)
                trial_seconds += (time.perf_counter() - trial_start) / _TRIALS
        size_seconds.append(combination_counts[-1] * trial_seconds)
    return SearchPlan(variable_count, size, tuple(combination_counts), tuple(size_seconds))


_TAILS = (0.01, 0.02, 0.05, 0.1)  # shares of the respondents at an end, or in a rare category
_WIDTHS = 6  # of bins, at most
_ISO = re.compile(r"\d{4}-\d{2}(-\d{2}.*)?$")
_MONTHS = ((1, "to the month"), (3, "to the quarter"), (12, "to the year"))
Into = NDArray[np.int64]


FREE = 0.05
"""The share of a key's information that a recoding may lose at most to count as free."""


@dataclass(frozen=True)
class Recoding:
    """A coarser way to publish one key variable, and who would still stand out.

    Parameters
    ----------
    key : str
    told : str
        What would be done, such as ``bins 5 wide`` or ``the highest 5 % together``.
    values : (int, int)
        Distinct values before and after; 0 after where the key is left out.
    after : Combination
        Who stands out on all keys, with this one recoded.
    lost : float
        The share of the key's information (its entropy among those who show it) that the coarser values do not hold.
    into : (values,) int, optional
        The number of the new value for each value; None where the key is left out.
    """

    key: str
    told: str
    values: tuple[int, int]
    after: Combination
    lost: float = 1.0
    into: Into | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Recodings(Printed):
    """Recodings of a quasi-identifier's keys: those that buy most first.

    Of equal ones, those come first that leave fewest respondents with m < 5, then those that keep most values.

    Parameters
    ----------
    rule : {"worst", "intersect", "first"}
    measure : {"matches", "anonymity"}
        What they are ranked by.
    before : Combination
        Who stands out on all keys as they are.
    recodings : tuple of Recoding
    worst : Combination, optional
        The worst of all combinations that a search counted, once `best` is published; see `everywhere`.
    """

    rule: str
    measure: str
    before: Combination
    recodings: tuple[Recoding, ...]
    worst: Combination | None = None

    @property
    def best(self) -> Recoding | None:
        """The coarser version that buys most; None where none buys anything."""
        best_recoding = next((recoding for recoding in self.recodings if recoding.into is not None), None)
        return best_recoding if best_recoding is not None and self.bought(best_recoding) else None

    def bought(self, each: Recoding) -> int:
        """Respondents who stand out now and would not with the recoding."""
        return self.before.unique(self.measure) - each.after.unique(self.measure)

    def is_free(self, each: Recoding) -> bool:
        """Whether a recoding buys something and loses next to nothing: Mulder, section 4, says always to do it."""
        return self.bought(each) > 0 and each.lost <= FREE

    def numbers(self) -> dict[str, object]:
        """As one JSON object with stable names; undefined numbers are None."""
        return {
            "rule": self.rule,
            "measure": self.measure,
            "before": self.before.to_dict(),
            "worst": None if self.worst is None else self.worst.to_dict(),
            "recodings": [
                {
                    "key": recoding.key,
                    "told": recoding.told,
                    "values_before": recoding.values[0],
                    "values_after": recoding.values[1],
                    "bought": self.bought(recoding),
                    "lost": recoding.lost,
                    "free": self.is_free(recoding),
                    "after": recoding.after.to_dict(),
                }
                for recoding in self.recodings
            ],
        }

    def cells(self, most: int) -> list[list[str]]:
        """A row for each of the first recodings, and for free ones behind them.

        It holds what is done, values before and after, m = 1, k = 1, what is bought, and what is lost.
        """
        return [
            [
                f"{recoding.key}: {recoding.told}",
                f"{recoding.values[0]:,}",
                f"{recoding.values[1]:,}" if recoding.values[1] else DASH,
                f"{recoding.after.m.unique:,}",
                f"{recoding.after.k.unique:,}",
                f"{self.bought(recoding):,}",
                f"{percent(recoding.lost, 1)}{', free' if self.is_free(recoding) else ''}",
            ]
            for place, recoding in enumerate(self.recodings)
            if place < most or self.is_free(recoding)
        ]

    def parts(self) -> list[Content]:
        """The recodings that buy most."""
        before, sign = self.before, SIGN[self.measure]
        now_text = f"now m = 1 for {before.m.unique:,}, k = 1 for {before.k.unique:,}"
        title = f"Which recoding would buy most on {' + '.join(before.keys)}; {now_text}"
        column_titles = ("recoding", "values", "then", "m=1", "k=1", "bought", "lost")
        lost_text = (
            "Lost: the share of the key's information that goes; free: something is bought, and at most "
            f"{percent(FREE, 0)} lost. No file is changed."
        )
        return [
            grid(title, column_titles, self.cells(ROWS_SHOWN), width=48),
            Sentence(f"Bought: respondents with {sign} = 1 now and not then, on these keys."),
            Sentence(lost_text),
        ]


def recodings(
    keys: Keys,
    *,
    rule: str = "worst",
    measure: str = "matches",
    orders: Mapping[str, Sequence[Label]] | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Recodings:
    """What coarser versions of each key would do to the number of respondents who stand out on all of these keys.

    Numbers are put into bins of several widths, or those at an end are merged. Dates are cut to months, quarters and
    years. Numbers and dates count as such where they are written as text, too, such as 2009-03-31. Of other values, the
    rare ones are merged or, where you give their order, neighbors. A missing value stays apart where it is a category.
    Leaving the key out is listed as well: no recoding of the key can do more. One key is recoded at a time. Coarser
    values never lower k or m.

    Parameters
    ----------
    keys : Keys
        A quasi-identifier, such as the riskiest that a `search` found: ``keys.only(found.combinations[0].keys)``.
    rule : {"worst", "intersect", "first"}
        How uncertain cells match, see `matches`.
    measure : {"matches", "anonymity"}
        Ranked by respondents with m = 1, or with k = 1.
    orders : {key: sequence of values}, optional
        The order of values that are neither numbers nor dates, such as levels of education.
    progress : callable, optional
        Called with each key, and the share of the work that is done.

    Raises
    ------
    DataError
        An unknown rule, measure or key, an order that leaves out a value.

    Examples
    --------
    >>> people = {"age": [40, 41, 42, 43, 60, 61], "gender": ["f", "f", "m", "m", "m", "m"]}
    >>> found = recodings(Keys(people, ["age", "gender"]))
    >>> found.before.m.unique, found.recodings[0].key, found.recodings[0].told
    (6, 'age', 'bins 2 wide')
    >>> [(each.told, each.values[1]) for each in found.recodings if each.key == "age"]
    [('bins 2 wide', 3), ('bins 5 wide', 2), ('bins 10 wide', 2), ('left out', 0)]
    """
    check_how(rule, measure)
    check_names(list(orders or {}), keys.columns, what="key")
    before, possible_recodings = all_keys(keys, rule), []
    tuples = keys.tuples
    for key_place, variable in enumerate(keys.variables):
        if progress is not None:
            progress(variable.name, key_place / len(keys.variables))
        value_count = len(variable.cells.values)
        people_by_cell = np.bincount(tuples.columns[key_place], tuples.count, variable.cells.size + 1)[1:]
        people_by_value = people_by_cell @ variable.cells.likely
        for description, into in _recodings_of_key(keys, variable.name, (orders or {}).get(variable.name)):
            after = all_keys(keys.merged(variable.name, into), rule)
            possible_recodings.append(
                Recoding(
                    variable.name,
                    description,
                    (value_count, int(into.max()) + 1),
                    after,
                    1 - _entropy(np.bincount(into, people_by_value).astype(np.float64)) / _entropy(people_by_value),
                    into,
                )
            )
        if len(keys.columns) > 1:
            without_key = all_keys(
                keys.only([key_name for key_name in keys.columns if key_name != variable.name]), rule
            )
            possible_recodings.append(Recoding(variable.name, "left out", (value_count, 0), without_key))
    possible_recodings.sort(
        key=lambda recoding: (
            recoding.after.unique(measure),
            recoding.after.m.below_5,
            -recoding.values[1],
            recoding.key,
        )
    )
    return Recodings(rule, measure, before, tuple(possible_recodings))


def _entropy(people: NDArray[np.float64]) -> float:
    """The entropy of counts of people by value, in bits."""
    shares = people[people > 0] / people.sum()
    return float(-(shares * np.log2(shares)).sum())


def everywhere(search: Search, ranked_recodings: Recodings, *, most: int = 100) -> Combination | None:
    """The combination of a search on which most people stand out once the best coarser version is published.

    Coarser values never make more people stand out. So the combinations that hold the key are counted again from the
    worst on, until no other can be worse.

    Parameters
    ----------
    search : Search
    ranked_recodings : Recodings
        Of one of its combinations.
    most : int
        Combinations to count again, at most.

    Returns
    -------
    Combination or None
        None where nothing is bought, where `most` are not enough, or where the search ranks by k and the key is
        uncertain for somebody: a coarser value may then be certain, and more people are kept.
    """
    best_recoding = ranked_recodings.best
    if best_recoding is None or (
        search.measure == "anonymity" and not search.keys.variable(best_recoding.key).cells.certain
    ):
        return None
    coarse_keys = search.keys.merged(best_recoding.key, best_recoding.into)  # type: ignore[arg-type]
    worst: Combination | None = None
    for combination in search.combinations:
        if worst is not None and combination.unique(search.measure) <= worst.unique(search.measure):
            break
        has_key = best_recoding.key in combination.keys
        most -= has_key
        if most < 0:
            return None
        recoded_combination = all_keys(coarse_keys.only(combination.keys), search.rule) if has_key else combination
        if worst is None or recoded_combination.unique(search.measure) > worst.unique(search.measure):
            worst = recoded_combination
    return worst


def _recodings_of_key(keys: Keys, name: str, order: Sequence[Label] | None) -> Iterator[tuple[str, Into]]:
    """Recodings of one key: what is done, and the number of the new value for each value.

    A missing value stays apart where it is a category: None, the last of the values, is neither number nor date.
    """
    cell_set = keys.variable(name).cells
    known_values = [value for value in cell_set.values if value is not None]
    if len(known_values) < 3:
        return
    numbers, months = _numbers(known_values), None  # months of dates, from the year 0; texts may be dates, too
    if all(isinstance(value, datetime.date) for value in known_values):
        months = np.array([12 * value.year + value.month - 1 for value in known_values])
    elif all(isinstance(value, str) and _ISO.match(value) for value in known_values):
        with suppress(DataError):
            months = months_of(pl.Series(known_values), column="")
    cell_counts = np.bincount(keys.tuples.columns[keys.columns.index(name)], keys.tuples.count, cell_set.size + 1)[1:]
    value_counts = cell_counts @ cell_set.likely  # a set of candidates counts in parts, by its chances
    value_shares = value_counts[: len(known_values)] / (cell_counts.sum() - value_counts[len(known_values) :].sum())
    if order is not None:
        rank_of_value = {value: value_rank for value_rank, value in enumerate(order)}
        if absent_count := len(set(known_values) - set(rank_of_value)):
            absent_text = f"it leaves out {absent_count:,} of {len(known_values):,}"
            raise DataError(f"the order of {name!r} must name all of its values; {absent_text}", column=name)
        value_ranks = np.array([rank_of_value[value] for value in known_values], np.int64)
        ways: Iterable[tuple[str, Into]] = (
            (f"neighbors, {bin_width} together", value_ranks // bin_width) for bin_width in (2, 3, 4)
        )
    elif numbers is not None:
        from_highest, from_lowest = np.argsort(-numbers), np.argsort(numbers)
        ways = chain(
            _bins(numbers),
            _merged_tails("the highest {} together", from_highest, value_shares),
            _merged_tails("the lowest {} together", from_lowest, value_shares),
        )
    elif months is not None:
        ways = ((description, months // bin_width) for bin_width, description in _MONTHS)
    else:
        ways = _merged_tails(
            "those below {} each together", np.arange(len(known_values)), value_shares, per_category=True
        )
    for description, into in ways:
        dense_numbers = np.unique(into, return_inverse=True)[1].astype(np.int64)
        group_count = int(dense_numbers.max()) + 1
        if 1 < group_count < len(known_values):
            yield description, np.append(dense_numbers, np.full(len(cell_set.values) - len(known_values), group_count))


def _numbers(values: Sequence[Label | None]) -> NDArray[np.float64] | None:
    """The values as numbers; texts that are numbers count as numbers. None for anything else."""
    if any(isinstance(value, bool) or not isinstance(value, int | str) for value in values):
        return None
    try:
        numbers = np.array([float(value) for value in values if isinstance(value, int | str)])
    except (ValueError, OverflowError):
        return None
    return numbers if np.isfinite(numbers).all() else None


def _bins(numbers: NDArray[np.float64]) -> list[tuple[str, Into]]:
    """Bins 1, 2, 5, 10 … wide, from the narrowest that merges any values."""
    binnings = []
    number_range = float(np.ptp(numbers))
    for power in range(math.floor(math.log10(number_range)) + 1):
        for bin_width in (step * 10**power for step in (1, 2, 5)):
            into = np.floor(numbers / bin_width).astype(np.int64)
            if 1 < len(np.unique(into)) < len(numbers) and 2 * bin_width <= number_range:
                binnings.append((f"bins {bin_width:,} wide", into))
    chosen_places = np.unique(np.linspace(0, len(binnings) - 1, min(_WIDTHS, len(binnings))).round().astype(int))
    return [binnings[place] for place in chosen_places.tolist()]


def _merged_tails(
    template: str, order: NDArray[np.intp], shares: NDArray[np.float64], *, per_category: bool = False
) -> Iterator[tuple[str, Into]]:
    """The first values in an order merged into one, up to each tail that merges more than the one before.

    A tail is the share that the merged values hold together or, with `per_category`, the share that every one stays
    below.
    """
    merged_before, cumulated_shares = 1, np.cumsum(shares[order])
    for tail_share in _TAILS:
        tail_places = order[shares[order] < tail_share if per_category else cumulated_shares <= tail_share + 1e-12]
        if len(tail_places) > merged_before:
            merged_before = len(tail_places)
            into = np.arange(len(order))
            into[tail_places] = tail_places[0]
            yield template.format(f"{tail_share:.0%}".replace("%", " %")), into
