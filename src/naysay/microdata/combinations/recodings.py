"""Which recoding of a key variable would buy most: wider bins, values at an end together, rare categories together.

Numbers only: no file is changed, and no value is named.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.combinations.finished import Combination
from naysay.microdata.combinations.lattice import all_keys
from naysay.microdata.combinations.search import ROWS_SHOWN, SIGN, Search, check_how
from naysay.microdata.keys.table import check_names
from naysay.microdata.keys.variables import Keys
from naysay.microdata.panel.months import months_of
from naysay.microdata.risk.written import DASH, Printed, grid
from naysay.show import Content, Sentence

_TAILS = (0.01, 0.02, 0.05, 0.1)  # shares of the respondents at an end, or in a rare category
_WIDTHS = 6  # of bins, at most
_ISO = re.compile(r"\d{4}-\d{2}(-\d{2}.*)?$")
_MONTHS = ((1, "to the month"), (3, "to the quarter"), (12, "to the year"))
Into = NDArray[np.int64]


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
    into : (values,) int, optional
        The number of the new value for each value; None where the key is left out.
    """

    key: str
    told: str
    values: tuple[int, int]
    after: Combination
    into: Into | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Recodings(Printed):
    """Recodings of a quasi-identifier's keys: those that buy most first; of equal ones, those that keep most values.

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

    def to_dict(self) -> dict[str, Any]:
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
                    "after": recoding.after.to_dict(),
                }
                for recoding in self.recodings
            ],
        }

    def cells(self, most: int) -> list[list[str]]:
        """A row for each of the first recodings: what is done, values before and after, m = 1, k = 1, and bought."""
        return [
            [
                f"{recoding.key}: {recoding.told}",
                f"{recoding.values[0]:,}",
                f"{recoding.values[1]:,}" if recoding.values[1] else DASH,
                f"{recoding.after.m.unique:,}",
                f"{recoding.after.k.unique:,}",
                f"{self.bought(recoding):,}",
            ]
            for recoding in self.recodings[:most]
        ]

    def content(self) -> list[Content]:
        """The recodings that buy most."""
        before, sign = self.before, SIGN[self.measure]
        now_text = f"now m = 1 for {before.m.unique:,}, k = 1 for {before.k.unique:,}"
        title = f"Which recoding would buy most on {' + '.join(before.keys)}; {now_text}"
        columns = ("recoding", "values", "then", "m=1", "k=1", "bought")
        bought = f"Bought: respondents with {sign} = 1 now and not then, on these keys. No file is changed."
        return [grid(title, columns, self.cells(ROWS_SHOWN), width=48), Sentence(bought)]


def recodings(
    keys: Keys,
    *,
    rule: str = "worst",
    measure: str = "matches",
    orders: Mapping[str, Sequence[Any]] | None = None,
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
    for number, variable in enumerate(keys.variables):
        if progress is not None:
            progress(variable.name, number / len(keys.variables))
        values = len(variable.cells.values)
        for description, into in _recodings_of_key(keys, variable.name, (orders or {}).get(variable.name)):
            after = all_keys(keys.merged(variable.name, into), rule)
            possible_recodings.append(Recoding(variable.name, description, (values, int(into.max()) + 1), after, into))
        if len(keys.columns) > 1:
            without_key = all_keys(keys.only([name for name in keys.columns if name != variable.name]), rule)
            possible_recodings.append(Recoding(variable.name, "left out", (values, 0), without_key))
    possible_recodings.sort(
        key=lambda recoding: (
            recoding.after.unique(measure),
            recoding.after.m.below_5,
            -recoding.values[1],
            recoding.key,
        )
    )
    return Recodings(rule, measure, before, tuple(possible_recodings))


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
    best = ranked_recodings.best
    if best is None or (search.measure == "anonymity" and not search.keys.variable(best.key).cells.certain):
        return None
    coarse = search.keys.merged(best.key, best.into)  # type: ignore[arg-type]
    worst: Combination | None = None
    for combination in search.combinations:
        if worst is not None and combination.unique(search.measure) <= worst.unique(search.measure):
            break
        has_key = best.key in combination.keys
        most -= has_key
        if most < 0:
            return None
        after = all_keys(coarse.only(combination.keys), search.rule) if has_key else combination
        if worst is None or after.unique(search.measure) > worst.unique(search.measure):
            worst = after
    return worst


def _recodings_of_key(keys: Keys, name: str, order: Sequence[Any] | None) -> Iterator[tuple[str, Into]]:
    """Recodings of one key: what is done, and the number of the new value for each value.

    A missing value stays apart where it is a category: None, the last of the values, is neither number nor date.
    """
    cells = keys.variable(name).cells
    values = [value for value in cells.values if value is not None]
    if len(values) < 3:
        return
    numbers, months = _numbers(values), _months(values)
    cell_counts = np.bincount(keys.tuples.columns[keys.columns.index(name)], keys.tuples.count, cells.size + 1)[1:]
    people = cell_counts @ cells.likely  # a set of candidates counts in parts, by its chances
    shares = people[: len(values)] / (cell_counts.sum() - people[len(values) :].sum())
    if order is not None:
        rank_of_value = {value: place for place, value in enumerate(order)}
        if absent := len(set(values) - set(rank_of_value)):
            absent_text = f"it leaves out {absent:,} of {len(values):,}"
            raise DataError(f"the order of {name!r} must name all of its values; {absent_text}", column=name)
        ranks = np.array([rank_of_value[value] for value in values], np.int64)
        ways: Iterable[tuple[str, Into]] = ((f"neighbors, {width} together", ranks // width) for width in (2, 3, 4))
    elif numbers is not None:
        high, low = np.argsort(-numbers), np.argsort(numbers)
        ways = chain(
            _bins(numbers),
            _merged_tails("the highest {} together", high, shares),
            _merged_tails("the lowest {} together", low, shares),
        )
    elif months is not None:
        ways = ((description, months // width) for width, description in _MONTHS)
    else:
        ways = _merged_tails("those below {} each together", np.arange(len(values)), shares, per_category=True)
    for description, into in ways:
        dense = np.unique(into, return_inverse=True)[1].astype(np.int64)
        group_count = int(dense.max()) + 1
        if 1 < group_count < len(values):
            yield description, np.append(dense, np.full(len(cells.values) - len(values), group_count))


def _numbers(values: Sequence[Any]) -> NDArray[np.float64] | None:
    """The values as numbers; texts that are numbers count as numbers. None for anything else."""
    if any(isinstance(value, bool) or not isinstance(value, int | str) for value in values):
        return None
    try:
        numbers = np.array([float(value) for value in values])
    except (ValueError, OverflowError):
        return None
    return numbers if np.isfinite(numbers).all() else None


def _months(values: Sequence[Any]) -> Into | None:
    """The months of dates, counted from the year 0; texts that are dates count as dates. None for anything else."""
    if all(isinstance(value, datetime.date) for value in values):
        return np.array([12 * value.year + value.month - 1 for value in values])
    if not all(isinstance(value, str) and _ISO.match(value) for value in values):
        return None
    try:
        return months_of(pl.Series(values), column="")
    except DataError:
        return None


def _bins(numbers: NDArray[np.float64]) -> list[tuple[str, Into]]:
    """Bins 1, 2, 5, 10 … wide, from the narrowest that merges any values."""
    binnings = []
    widest = float(np.ptp(numbers))
    for power in range(math.floor(math.log10(widest)) + 1):
        for width in (step * 10**power for step in (1, 2, 5)):
            into = np.floor(numbers / width).astype(np.int64)
            if 1 < len(np.unique(into)) < len(numbers) and 2 * width <= widest:
                binnings.append((f"bins {width:,} wide", into))
    chosen_places = np.unique(np.linspace(0, len(binnings) - 1, min(_WIDTHS, len(binnings))).round().astype(int))
    return [binnings[place] for place in chosen_places.tolist()]


def _merged_tails(
    template: str, order: NDArray[np.intp], shares: NDArray[np.float64], *, per_category: bool = False
) -> Iterator[tuple[str, Into]]:
    """The first values in an order merged into one, up to each tail that merges more than the one before.

    A tail is the share that the merged values hold together or, with `per_category`, the share that every one stays
    below.
    """
    before, cumulated_shares = 1, np.cumsum(shares[order])
    for tail in _TAILS:
        few = order[shares[order] < tail if per_category else cumulated_shares <= tail + 1e-12]
        if len(few) > before:
            before = len(few)
            into = np.arange(len(order))
            into[few] = few[0]
            yield template.format(f"{tail:.0%}".replace("%", " %")), into
