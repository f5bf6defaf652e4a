"""Local suppression: cells emptied where people stand out, few and cheap ones.

Suppression until enough records may be the same, a gap matching anything: m, which is no promise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import check_names
from naysay.microdata.keys.tuples import Tuples
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.matches import counter_of
from naysay.microdata.matching.question import Pool, answers
from naysay.microdata.protect import greedy
from naysay.microdata.protect.conditions import Secret
from naysay.microdata.protect.engines import suppress_on_engine
from naysay.microdata.protect.greedy import covered, levels
from naysay.microdata.protect.log import Done, Log
from naysay.microdata.protect.method import Method
from naysay.microdata.protect.tables import keyed
from naysay.microdata.protect.target import READINGS, Target, prices
from naysay.microdata.protect.units import Ints, Units, totals


def masks_by_matches(units: Units, least: int, costs: Sequence[float]) -> tuple[Ints, NDArray[np.bool_]]:
    """The mask of keys that each tuple keeps, so that it may be `least` people, and those who could not be helped.

    A record that lost more than half of its keys is no match of another: emptying `least` - 1 records would otherwise
    give everybody their matches, and protect nobody.
    """
    for variable in units.keys.variables:
        if not variable.cells.certain:
            complaint = (
                f"the target m is for keys that hold one value a cell; {variable.name!r} holds sets of candidates"
            )
            raise DataError(f"{complaint}; ask for the target 'k >= {least}'", column=variable.name)
    keep, unit_numbers = units.known.copy(), np.arange(len(units))
    masks = [mask for level in levels(costs) for mask in level if 2 * mask.bit_count() >= len(costs)]
    while (bad := matches_of(units, keep, unit_numbers, keep) < least).any():
        before = keep.copy()
        for mask in masks:
            still_bad = np.flatnonzero(bad & (keep & mask == mask) & (keep != mask))
            if len(still_bad):
                enough = still_bad[matches_of(units, keep, still_bad, np.full(len(still_bad), mask)) >= least]
                keep[enough] = mask
                bad = matches_of(units, keep, unit_numbers, keep) < least
        if (keep == before).all():  # records that would have to lose more than half: the way of c helps them, too
            return covered(units, least, costs)
    return keep, bad


def matches_of(units: Units, keep: Ints, asked_tuples: Ints, masks: Ints) -> Ints:
    """How many may be the same as some tuples that show these keys, in the file as it is suppressed."""
    tuples = units.keys.tuples
    lost, q = np.bitwise_count(units.known & ~keep), len(tuples.columns)
    amount = np.where(lost * 2 > q, 0, tuples.count)
    own_count = np.where(lost * 2 > q, tuples.count, 0)[asked_tuples]  # it is a match of itself
    columns = tuple(np.where(keep >> place & 1, column, 0) for place, column in enumerate(tuples.columns))
    cells = tuple(variable.cells for variable in units.keys.variables)
    symbols = tuple(
        np.where(masks >> place & 1, column[asked_tuples], 0) for place, column in enumerate(tuples.columns)
    )
    pool_columns = tuple(
        np.append(*pair) for pair in zip(columns, symbols, strict=True)
    )  # the pool must hold their gaps
    amounts = np.append(amount, np.zeros(len(asked_tuples), np.int64))
    distinct, place = Tuples(pool_columns, tuples.sizes, amounts).only(
        range(q)
    )  # what was emptied may read the same now
    pool = Pool(distinct, distinct.count, cells, "first")
    match_counts: Ints = answers(pool, counter_of(pool, None))[place[len(columns[0]) :]] + own_count
    return match_counts


_WAYS = {"k": greedy.strict, "c": greedy.covered, "m": masks_by_matches}


@dataclass(frozen=True, kw_only=True)
class Suppress(Method):
    """Cells of keys emptied until everybody has enough matches.

    Parameters
    ----------
    keys : sequence of str
    target : str or Target
        ``k >= 3`` by default: as many records must read the same, a gap being a value of its own. ``c >= …`` and
        ``m >= …`` lose fewer cells and promise nothing (see `naysay.microdata.protect.READINGS`).
    importance : mapping of key to {"low", "normal", "high", "must"} or float
        What losing one of its cells costs; "must" stays as it is.
    sets : sequence of sequences of keys, or int
        The sets of keys that an intruder may know, each of which must reach the target; an int stands for all sets of
        so many keys. By default one set, all keys.
    strata : sequence of str
        Columns within whose values the target must be reached, and which stay as they are.
    unit, order : str, optional
        The column that says which rows belong together, a household or a person over waves, and the one that orders
        them. The target then counts units.
    related : mapping of column to key, optional
        Columns that tell of a key, such as schooling in years of the degree: they are emptied where it is.

    Raises
    ------
    DataError
        A target that cannot be reached, with how near it comes; a column that would be emptied.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> table = {"age": [40, 40, 36, 36], "job": ["nurse", "nurse", "cook", "smith"]}
    >>> safe, log = protect.Suppress(keys=["age", "job"], target="k >= 2").apply(table)
    >>> safe["job"]
    ['nurse', 'nurse', None, None]

    Source: METHODS, sections 1 and 3.
    """

    name: ClassVar[str] = "suppress"
    keys: Sequence[str]
    target: Target | str = "k >= 3"
    importance: Mapping[str, Any] = field(default_factory=dict)
    sets: Sequence[Sequence[str]] | int = ()
    strata: Sequence[str] = ()
    unit: str | None = None
    order: str | None = None
    related: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.keys, str):
            raise DataError(f"keys are a list of column names; got the single text {self.keys!r}")
        object.__setattr__(self, "keys", tuple(self.keys))
        object.__setattr__(self, "strata", tuple(self.strata))
        object.__setattr__(self, "target", Target.of(self.target))
        prices(tuple(self.keys), self.importance)
        for condition in Target.of(self.target).conditions:
            if condition.column in (*self.keys, *self.strata):
                complaint = f"{condition.column!r} is a key and cannot be the sensitive column of {condition}"
                raise DataError(complaint, column=condition.column)
        for name in self.strata:
            if name in self.keys:
                raise DataError(f"a stratum stays as it is and a key may be emptied; {name!r} is named as both")
        if isinstance(self.sets, int):
            _checks.whole_number(self.sets, 1, len(self.keys), what="sets")
        else:
            object.__setattr__(self, "sets", tuple(tuple(key_set) for key_set in self.sets))
            for key_set in self.sets:
                check_names(key_set, self.keys, what="key")
        check_names(list(self.related.values()), self.keys, what="key")
        for name in self.related:
            if name in (*self.keys, *self.strata):
                raise DataError(f"a related column is emptied along with a key; {name!r} is a key or a stratum itself")

    @property
    def foretold(self) -> bool:
        return True

    @property
    def variables(self) -> tuple[str, ...]:
        return (*self.keys, *self.related)

    @property
    def needs(self) -> tuple[str, ...]:
        secrets = [condition.column for condition in Target.of(self.target).conditions]
        units = (column for column in (self.unit, self.order) if column is not None)
        return (*self.keys, *self.related, *self.strata, *secrets, *units)

    @property
    def promise(self) -> str:
        goal = Target.of(self.target)
        who = "record" if self.unit is None else f"unit of {self.unit!r}"
        if goal.reading == "k":
            promise_start = (
                f"every {who} reads like {goal.least - 1} others or more: whoever knows these keys, and no more,"
            )
            alike = "every class of them" if self.unit is None else "every class of people alike in such units"
            also = "".join(f"; {condition} in {alike}" for condition in goal.conditions)
            return f"{promise_start} picks the right one with a probability of at most 1/{goal.least}{also}"
        return f"{goal}: {READINGS[goal.reading]}; it bounds no intruder's success, k would"

    @property
    def asked(self) -> list[tuple[str, ...]]:
        """The sets of keys that must reach the target."""
        keys = tuple(self.keys)
        if isinstance(self.sets, int):
            return list(combinations(keys, self.sets))
        return [tuple(key_set) for key_set in self.sets] or [keys]

    def done(self, frame: pl.DataFrame) -> Done:
        keys = Keys(keyed(frame, [*self.keys, *self.strata]), [*self.keys, *self.strata])
        units = Units.of(frame, keys, unit=self.unit, order=self.order)
        keep, to_delete = masks(self, units)
        keep, to_delete = self._meet_conditions(frame, units, keep, to_delete)
        keep_of_row, is_deleted = keep[units.row_unit], to_delete[units.row_unit]
        columns = [
            pl.select(pl.when(pl.Series((keep_of_row >> place & 1) > 0)).then(frame[name])).to_series().alias(name)
            for place, name in enumerate(self.keys)
        ]
        released_frame = frame.with_columns(columns)
        emptied = {key: released_frame[key].is_null() & frame[key].is_not_null() for key in set(self.related.values())}
        released_frame = released_frame.with_columns(
            pl.select(pl.when(~emptied[key]).then(frame[name])).to_series().alias(name)
            for name, key in self.related.items()
        )
        rows = None
        if is_deleted.any():
            rows = np.flatnonzero(~is_deleted)
            released_frame = released_frame[rows]
        self._check_columns(frame, released_frame)
        return Done(released_frame, rows, self.notes(int(units.count[to_delete].sum())))

    def _meet_conditions(
        self, frame: pl.DataFrame, units: Units, keep: Ints, to_delete: NDArray[np.bool_]
    ) -> tuple[Ints, NDArray[np.bool_]]:
        """Masks that meet the conditions of the target on sensitive columns, too."""
        goal = Target.of(self.target)
        if not goal.conditions:
            return keep, to_delete
        if len(self.asked) > 1:
            raise DataError(f"conditions such as {goal.conditions[0]} are for one set of keys")
        costs = [*prices(tuple(self.keys), self.importance), *(float("inf") for _ in self.strata)]
        secret = Secret.of(frame, goal.conditions, np.asarray(units.row_member, np.int64), len(units.member))
        keep, to_delete = greedy.meet_conditions(units, goal.least, costs, keep, to_delete, secret)
        _check_deleted(self, units, to_delete, goal, costs)
        return keep, to_delete

    def apply_on(self, engine: str, table: Any) -> tuple[Any, Log]:
        if Target.of(self.target).conditions:
            raise DataError(f"conditions on sensitive columns are met in memory; collect the {engine} table")
        if self.related:
            raise DataError(f"related columns are emptied in memory; collect the {engine} table")
        if self.unit is not None:
            raise DataError(f"households and persons over waves are protected in memory; collect the {engine} table")
        suppressed_table, step = suppress_on_engine(self, table, self.strata, lambda units: masks(self, units))
        return suppressed_table, Log((replace(step, notes=self.notes(step.deleted)),))

    def notes(self, deleted: int) -> tuple[str, ...]:
        """What must be said about it."""
        notes = []
        if deleted:
            what = _checks.several(deleted, "record", "records") if self.unit is None else f"{deleted:,} units"
            few = "too few others, or too many alike," if Target.of(self.target).conditions else "too few others"
            notes.append(f"{what} found {few} even with every key empty, and had to be deleted")
        if Target.of(self.target).reading == "m":
            notes.append(
                "m counts whom a gap may hide, and is no promise: emptying a few records gives everybody matches; "
                "look at k and at the informed intruder, or ask for k"
            )
        return tuple(notes)

    def _check_columns(self, before: pl.DataFrame, after: pl.DataFrame) -> None:
        """Raise if nothing is left of a column, or of the file."""
        if not after.height:
            raise DataError(f"the target {self.target} would delete every record; recode the keys first, or take fewer")
        for name in self.keys:
            had = before[name].count()
            if had and not after[name].count():
                complaint = f"suppression would empty column {name!r}: none of its {had:,} cells would stay"
                raise DataError(
                    f"{complaint}; recode it first, give it more importance, or leave it out of the file", column=name
                )


def masks(method: Suppress, units: Units) -> tuple[Ints, NDArray[np.bool_]]:
    """The keys that each unit keeps, and the units that no suppression helps and that must be deleted.

    Raises
    ------
    DataError
        Fewer units than the target asks for, or units that cannot be helped because a key must stay.
    """
    goal, names = Target.of(method.target), tuple(method.keys)
    if not units.single and goal.reading != "k":
        complaint = f"{goal.reading} is for people; households and persons over waves have k"
        raise DataError(f"{complaint}: ask for the target 'k >= {goal.least}'")
    if goal.least > units.total:
        raise DataError(f"the target {goal} needs {goal.least:,} records or more; the file has {units.total:,}")
    costs = [*prices(names, method.importance), *(float("inf") for _ in method.strata)]
    strata = range(len(names), len(costs))
    sets = [[*(names.index(name) for name in key_set), *strata] for key_set in method.asked]
    keep, to_delete = np.full(len(units), (1 << len(costs)) - 1), np.zeros(len(units), bool)
    strategy = _WAYS[goal.reading]
    while True:  # what one set of keys loses may make others stand out; masks only shrink, so this ends
        before = keep.copy()
        for places in sets:
            part_masks, bad = strategy(
                units.part(places, keep, ~to_delete), goal.least, [costs[place] for place in places]
            )
            for bit, place in enumerate(places):
                keep &= ~np.where(part_masks >> bit & 1, 0, 1 << place)
            to_delete |= bad
        if (keep == before).all() or len(sets) == 1:
            break
    _check_deleted(method, units, to_delete, goal, costs)
    return keep, to_delete


def _check_deleted(
    method: Suppress, units: Units, to_delete: NDArray[np.bool_], goal: Target, costs: Sequence[float]
) -> None:
    """Raise if units cannot be helped because keys must stay; a few that are alone even when empty are deleted."""
    stay = [name for name, cost in zip((*method.keys, *method.strata), costs, strict=True) if np.isinf(cost)]
    if not to_delete.any() or not stay:
        return
    mask = sum(1 << place for place, cost in enumerate(costs) if np.isinf(cost))
    alike = totals(units.shown_numbers(mask, np.arange(len(units))), units.count)
    who = int(units.count[to_delete].sum())
    near = int(alike[to_delete].min())
    if near >= goal.least and not goal.conditions:
        return  # others who could read like them have enough company on finer values: these few are deleted
    complaint = f"the target {goal} cannot be reached: {who:,} of {units.total:,} records stay below it"
    ways = "recode them first, give them less importance than 'must', or ask for less"
    raise DataError(
        f"{complaint}, the nearest to {goal.reading} >= {near} even when all other keys are empty; in the way stand "
        f"{_checks.listing_text(stay)}, which must stay: {ways}",
        column=stay[0],
    )
