"""Local suppression: cells emptied where people stand out, few and cheap ones.

Which keys each unit keeps is decided in three ways, one for each reading of a gap: `strict` for k, `covered` for c and
`masks_by_matches` for m. The least number of suppressed cells is hard to find (Meyerson & Williams 2004). All ways go
through the sets of keys from the cheapest loss to the dearest, 2^q of them, and count the units projected on each set
once or a few times. In small files, classes that are too small also merge with the class that makes it cheapest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Floats
from naysay.errors import DataError
from naysay.microdata.keys.cells import Tuples
from naysay.microdata.keys.codes import check_names
from naysay.microdata.keys.counting import Pool, answers
from naysay.microdata.keys.engines import digit
from naysay.microdata.keys.matches import counter_of
from naysay.microdata.keys.variables import Keys
from naysay.microdata.protect.method import Cells, Done, Log, Method, Step, keyed
from naysay.microdata.protect.target import READINGS, Ints, Secret, Target, Units, prices, totals

if TYPE_CHECKING:
    from narwhals.typing import IntoLazyFrame

MOST_KEYS = 16
_ROUNDS = 4  # in which sets of equal cost compete; then they take turns


def strict(units: Units, least: int, costs: Sequence[float]) -> tuple[Ints, NDArray[np.bool_]]:
    """The mask of keys that each unit keeps so that every released class has `least` members, and whom nothing helps.

    A gap is a value of its own: a class is what reads the same, gaps included. From cheap to dear, each set of keys
    takes all units that are not safe yet and that are together enough on it, with those who show exactly that set
    already. Who is taken once is safe for good.

    Source: METHODS, protection, local suppression (a).
    """
    known_keys = units.known | _floor(costs)  # where a key must stay, a gap is one of its values
    keep_masks = known_keys.copy()
    is_bad = totals(units.shown_numbers(-1, np.arange(len(units))), units.count) < least
    for mask_level in levels(costs):
        for _ in range(_ROUNDS if len(mask_level) > 1 else 0):
            if not is_bad.any() or not _compete(units, known_keys, mask_level, keep_masks, is_bad, least):
                break
        if not is_bad.any():
            break
        for mask in mask_level:
            unit_numbers, alike_counts, still_bad = _around(units, known_keys, mask, keep_masks, is_bad)
            helped_units = unit_numbers[(alike_counts >= least) & still_bad]
            keep_masks[helped_units], is_bad[helped_units] = mask, False
    if is_bad.any() and units.single:
        _join(units, costs, keep_masks, is_bad)
    merged_masks = merge_classes(units, least, costs) if units.single and len(units) <= MOST_MERGED else None
    if merged_masks is not None and _lost(units, merged_masks, costs) < _lost(
        units, np.where(is_bad, _floor(costs), keep_masks), costs
    ):
        return merged_masks, np.zeros(len(units), bool)
    return keep_masks, is_bad


def meet_conditions(
    units: Units, least: int, costs: Sequence[float], keep: Ints, to_delete: NDArray[np.bool_], secret: Secret
) -> tuple[Ints, NDArray[np.bool_]]:
    """Masks that make every class meet conditions on sensitive columns, too; who is still left must be deleted.

    Units of classes that fail are taken again, from the cheapest loss to the dearest: by a set of keys on which they,
    with those who show exactly that set, are enough and meet the conditions. Classes are only ever joined as a whole
    with units that fail, so that nobody who is safe loses a cell. Deleting people moves the shares of all that
    closeness compares with, so it begins again until nothing fails.
    """
    keep, to_delete = keep.copy(), to_delete.copy()
    while True:
        remaining_units = np.flatnonzero(~to_delete)
        class_numbers = _released_numbers(units, keep, remaining_units)
        is_bad = np.zeros(len(units), bool)
        is_bad[remaining_units] = _failing(
            units, class_numbers, keep[remaining_units], remaining_units, to_delete, secret
        )
        if not is_bad.any():
            return keep, to_delete
        known_keys = units.known | _floor(costs)
        for level in levels(costs):
            for mask in level:
                unit_numbers = np.flatnonzero(
                    ~to_delete & ((is_bad & (known_keys & mask == mask)) | (~is_bad & (keep == mask)))
                )
                if not is_bad[unit_numbers].any():
                    continue
                shown_numbers = units.shown_numbers(mask, unit_numbers)
                has_enough = totals(shown_numbers, units.count[unit_numbers]) >= least
                fits = has_enough & ~_failing(
                    units, shown_numbers, np.full(len(unit_numbers), mask), unit_numbers, to_delete, secret
                )
                helped_units = unit_numbers[fits & is_bad[unit_numbers]]
                keep[helped_units], is_bad[helped_units] = mask, False
        if is_bad.any() and units.single:  # with all keys empty, households of different sizes still read differently
            _open_up(units, costs, keep, is_bad, to_delete, secret)
        if not is_bad.any():
            return keep, to_delete
        to_delete |= is_bad


def _failing(
    units: Units,
    group: NDArray[np.uint64],
    mask: Ints,
    unit_numbers: Ints,
    to_delete: NDArray[np.bool_],
    secret: Secret,
) -> NDArray[np.bool_]:
    """Which of some units have a member in a class that fails: alike, in units that are in one group."""
    members, classes, unit_starts = units.apart(group, mask, unit_numbers)
    is_present = np.zeros(len(units.member), bool)
    is_present[units.members(np.flatnonzero(~to_delete))[0]] = True
    is_failing = secret.failing(members, classes.view(np.int64), is_present)
    return np.logical_or.reduceat(is_failing, unit_starts) if len(unit_starts) else is_failing


def _open_up(
    units: Units,
    costs: Sequence[float],
    keep: Ints,
    bad: NDArray[np.bool_],
    to_delete: NDArray[np.bool_],
    secret: Secret,
) -> None:
    """Safe classes, the small ones first, lose all their keys to units that fail, if that is cheaper than these."""
    floor = _floor(costs)
    if floor:
        return  # where keys must stay, they tell classes apart that cannot be joined
    safe_units = np.flatnonzero(~bad & ~to_delete & (keep != 0))
    _, class_of_unit = np.unique(_released_numbers(units, keep, safe_units), return_inverse=True)
    is_opened = bad | (~to_delete & (keep == 0))
    key_costs = np.array(costs)
    saved_cost = key_costs.sum() * units.count[bad].sum()
    for number in np.argsort(np.bincount(class_of_unit, units.count[safe_units]), kind="stable"):
        class_units = safe_units[class_of_unit == number]
        saved_cost -= sum(
            key_costs[place] * units.count[class_units[keep[class_units] >> place & 1 > 0]].sum()
            for place in range(len(key_costs))
        )
        if saved_cost < 0:
            return
        is_opened[class_units] = True
        if is_opened[~to_delete].all():
            return
        unit_numbers = np.flatnonzero(is_opened)
        if not secret.failing(unit_numbers, np.zeros(len(unit_numbers), np.int64), ~to_delete).any():
            keep[is_opened], bad[is_opened] = 0, False
            return


def _lost(units: Units, keep: Ints, costs: Sequence[float]) -> float:
    """What the emptied cells cost."""
    gone = units.known & ~keep
    lost_cells = (units.count[gone >> place & 1 > 0].sum() for place in range(len(costs)))
    return float(sum(cost * cells for cost, cells in zip(costs, lost_cells, strict=True) if cells))


def _join(units: Units, costs: Sequence[float], keep: Ints, bad: NDArray[np.bool_]) -> None:
    """Those who are too few even with every key empty join the class that loses least by taking them in.

    They do not if others would lose more cells than their own records hold: then they are better deleted.
    """
    key_columns, key_costs = units.keys.tuples.columns, np.array(costs)
    for bad_unit in np.flatnonzero(bad):
        safe_units = np.flatnonzero(~bad)
        shared_masks, unit_costs = np.zeros(len(safe_units), np.int64), np.zeros(len(safe_units))
        for key_place, column in enumerate(key_columns):
            is_shared = (column[safe_units] == column[bad_unit]) & (keep[safe_units] >> key_place & 1 > 0)
            shared_masks |= is_shared.astype(np.int64) << key_place
            unit_costs[(keep[safe_units] >> key_place & 1 > 0) & ~is_shared] += key_costs[key_place]
        _, class_of_unit = np.unique(_released_numbers(units, keep, safe_units), return_inverse=True)
        class_costs = np.bincount(class_of_unit, unit_costs * units.count[safe_units])
        record_cost = key_costs[np.isfinite(key_costs)].sum() * units.count[bad_unit]
        if len(class_costs) and class_costs.min() <= record_cost:
            best = class_of_unit == class_costs.argmin()
            keep[safe_units[best]], keep[bad_unit], bad[bad_unit] = shared_masks[best], shared_masks[best][0], False


def _released_numbers(units: Units, keep: Ints, unit_numbers: Ints) -> NDArray[np.uint64]:
    """What tuples show with the keys that they keep, as numbers: the same text, the same number."""
    shown_numbers = np.zeros(len(unit_numbers), np.uint64)
    for mask in np.unique(keep[unit_numbers]).tolist():
        same_mask = keep[unit_numbers] == mask
        shown_numbers[same_mask] = units.shown_numbers(mask, unit_numbers[same_mask])
    return shown_numbers


def _around(
    units: Units, known_keys: Ints, mask: int, keep: Ints, bad: NDArray[np.bool_]
) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Units that are bad and know these keys, or show just them; how many read the same; which of them are bad."""
    unit_numbers = np.flatnonzero((bad & (known_keys & mask == mask)) | (~bad & (keep == mask)))
    return unit_numbers, totals(units.shown_numbers(mask, unit_numbers), units.count[unit_numbers]), bad[unit_numbers]


def _compete(
    units: Units, known_keys: Ints, level: Sequence[int], keep: Ints, bad: NDArray[np.bool_], least: int
) -> int:
    """Sets of equal cost: each unit goes where most are alike, and stays there if enough came."""
    best_counts, best_masks = np.zeros(len(units), np.int64), np.full(len(units), -1)
    for mask in level:
        unit_numbers, alike_counts, still_bad = _around(units, known_keys, mask, keep, bad)
        is_better = still_bad & (alike_counts >= least) & (alike_counts > best_counts[unit_numbers])
        best_counts[unit_numbers[is_better]], best_masks[unit_numbers[is_better]] = alike_counts[is_better], mask
    helped_count = 0
    for mask in level:
        unit_numbers = np.flatnonzero((best_masks == mask) | (~bad & (keep == mask)))
        alike_counts = totals(units.shown_numbers(mask, unit_numbers), units.count[unit_numbers])
        helped_units = unit_numbers[(alike_counts >= least) & bad[unit_numbers]]
        keep[helped_units], bad[helped_units] = mask, False
        helped_count += len(helped_units)
    return helped_count


def covered(units: Units, least: int, costs: Sequence[float]) -> tuple[Ints, NDArray[np.bool_]]:
    """The same so that `least` units hold, known, every value that a unit shows (c): gaps of others do not count.

    Whoever knows the true value behind a gap may still tell people apart: c is no bound of their success.
    """
    keep_masks, to_delete = strict(units, least, costs)
    keep_masks = np.where(to_delete, _floor(costs), keep_masks)
    while True:
        wider_masks = _refund_cells(units, least, costs, keep_masks)
        if (wider_masks == keep_masks).all():
            return keep_masks, shown_by(units, keep_masks) < least
        keep_masks = wider_masks


def _floor(costs: Sequence[float]) -> int:
    """The keys that must stay."""
    return sum(1 << place for place, cost in enumerate(costs) if np.isinf(cost))


def shown_by(units: Units, keep: Ints) -> Ints:
    """The number c of each unit: how many show all that it shows."""
    shown_counts = np.zeros(len(units), np.int64)
    for mask in np.unique(keep).tolist():
        unit_numbers = np.flatnonzero(keep & mask == mask)
        is_exact = keep[unit_numbers] == mask
        shown_counts[unit_numbers[is_exact]] = totals(
            units.shown_numbers(mask, unit_numbers), units.count[unit_numbers]
        )[is_exact]
    return shown_counts


def _refund_cells(units: Units, least: int, costs: Sequence[float], keep: Ints) -> Ints:
    """Cells given back, dearest first, to all who are enough when they show them; others can only gain."""
    keep = keep.copy()
    for place in sorted(range(len(costs)), key=lambda key_place: -costs[key_place]):
        key_bit = 1 << place
        has_lost = (units.known & ~keep & key_bit) > 0
        for mask in np.unique(keep[has_lost]).tolist():
            wider_mask = mask | key_bit
            may_widen = has_lost & (keep == mask)
            unit_numbers = np.flatnonzero(may_widen | (keep & wider_mask == wider_mask))
            alike = totals(units.shown_numbers(wider_mask, unit_numbers), units.count[unit_numbers])
            keep[unit_numbers[(alike >= least) & may_widen[unit_numbers]]] = wider_mask
    return keep


def levels(costs: Sequence[float]) -> Iterator[list[int]]:
    """Sets of keys as masks, those of equal cost together, from the cheapest loss to the dearest.

    A key whose cost is infinite is in each of them.
    """
    if len(costs) > MOST_KEYS:
        raise DataError(f"suppression goes through every set of keys, of at most {MOST_KEYS}; got {len(costs)} keys")
    masks_by_cost: dict[float, list[int]] = {}
    for mask in range(1 << len(costs)):
        lost_cost = sum(cost for place, cost in enumerate(costs) if not mask >> place & 1)
        if np.isfinite(lost_cost):
            masks_by_cost.setdefault(round(lost_cost, 9), []).append(mask)
    for lost_cost in sorted(masks_by_cost):
        yield masks_by_cost[lost_cost]


MOST_MERGED = 1_500
"""Tuples up to which all pairs are compared."""


def merge_classes(units: Units, least: int, costs: Sequence[float]) -> Ints | None:
    """The mask of keys that each tuple keeps; None where some cannot be helped.

    Each step takes the pair of classes, one of them too small, whose merging empties the fewest cells (by their costs).
    Other than `greedy.strict` it may break up classes that are large enough, which pays where most are too small.
    """
    shown_codes = np.column_stack([column.astype(np.int64) for column in units.keys.tuples.columns])
    class_sizes, key_costs = units.count.astype(float), np.array(costs)
    class_of_tuple, is_alive = np.arange(len(shown_codes)), np.ones(len(shown_codes), bool)
    is_small = class_sizes < least
    class_numbers = np.arange(len(shown_codes))
    merge_costs = np.full((len(shown_codes), len(shown_codes)), np.inf)
    for row in np.flatnonzero(is_small):
        merge_costs[row] = _merge_cost(shown_codes, class_sizes, key_costs, row)
    merge_costs[class_numbers, class_numbers] = np.inf
    best_partner = merge_costs.argmin(axis=1)
    while is_small.any():
        rows = np.flatnonzero(is_small)
        small_class = rows[merge_costs[rows, best_partner[rows]].argmin()]
        other_class = best_partner[small_class]
        if not np.isfinite(merge_costs[small_class, other_class]):
            return None
        shown_codes[other_class] = np.where(
            shown_codes[small_class] == shown_codes[other_class], shown_codes[small_class], 0
        )
        class_sizes[other_class] += class_sizes[small_class]
        class_of_tuple[class_of_tuple == small_class] = other_class
        is_alive[small_class] = is_small[small_class] = False
        is_small[other_class] = class_sizes[other_class] < least
        merge_costs[small_class], merge_costs[:, small_class] = np.inf, np.inf
        merged_costs = np.where(is_alive, _merge_cost(shown_codes, class_sizes, key_costs, other_class), np.inf)
        merged_costs[other_class] = np.inf
        merge_costs[other_class] = merged_costs if is_small[other_class] else np.inf
        merge_costs[is_small, other_class] = merged_costs[is_small]
        merge_costs[other_class, other_class] = np.inf
        stale_classes = np.flatnonzero(
            is_small
            & (
                (best_partner == small_class)
                | (best_partner == other_class)
                | (merge_costs[class_numbers, other_class] < merge_costs[class_numbers, best_partner])
            )
        )
        best_partner[stale_classes] = merge_costs[stale_classes].argmin(axis=1)
        best_partner[other_class] = merge_costs[other_class].argmin()
    is_kept = (shown_codes[class_of_tuple] > 0) | np.isinf(key_costs)
    masks: Ints = (is_kept.astype(np.int64) << np.arange(is_kept.shape[1])).sum(axis=1)
    return masks


def _merge_cost(shown_codes: NDArray[np.int64], count: Floats, price: Floats, row: int | np.intp) -> Floats:
    """What merging each class with that of a row would cost."""
    differs = shown_codes != shown_codes[row]
    with np.errstate(invalid="ignore"):
        row_cost = np.where(differs & (shown_codes[row] > 0), price, 0.0).sum(axis=1) * count[row]
        class_costs = np.where(differs & (shown_codes > 0), price, 0.0).sum(axis=1) * count
    return np.asarray(row_cost + class_costs, float)


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
    keep_masks, unit_numbers = units.known.copy(), np.arange(len(units))
    tried_masks = [mask for level in levels(costs) for mask in level if 2 * mask.bit_count() >= len(costs)]
    while (is_bad := matches_of(units, keep_masks, unit_numbers, keep_masks) < least).any():
        masks_before = keep_masks.copy()
        for mask in tried_masks:
            still_bad = np.flatnonzero(is_bad & (keep_masks & mask == mask) & (keep_masks != mask))
            if len(still_bad):
                enough = still_bad[matches_of(units, keep_masks, still_bad, np.full(len(still_bad), mask)) >= least]
                keep_masks[enough] = mask
                is_bad = matches_of(units, keep_masks, unit_numbers, keep_masks) < least
        if (keep_masks == masks_before).all():
            # records that would have to lose more than half: the way of c helps them, too
            return covered(units, least, costs)
    return keep_masks, is_bad


def matches_of(units: Units, keep: Ints, asked_tuples: Ints, masks: Ints) -> Ints:
    """How many may be the same as some tuples that show these keys, in the file as it is suppressed."""
    tuples = units.keys.tuples
    lost_counts, q = np.bitwise_count(units.known & ~keep), len(tuples.columns)
    pool_counts = np.where(lost_counts * 2 > q, 0, tuples.count)
    own_count = np.where(lost_counts * 2 > q, tuples.count, 0)[asked_tuples]  # it is a match of itself
    key_cells = tuple(variable.cells for variable in units.keys.variables)
    pool_columns = tuple(  # the pool must hold the gaps of those who are asked about
        np.append(np.where(keep >> place & 1, column, 0), np.where(masks >> place & 1, column[asked_tuples], 0))
        for place, column in enumerate(tuples.columns)
    )
    joint_counts = np.append(pool_counts, np.zeros(len(asked_tuples), np.int64))
    # what was emptied may read the same now
    pool_tuples, pool_place = Tuples(pool_columns, tuples.sizes, joint_counts).only(range(q))
    pool = Pool(pool_tuples, pool_tuples.count, key_cells, "first")
    match_counts: Ints = answers(pool, counter_of(pool, None))[pool_place[len(keep) :]] + own_count
    return match_counts


_WAYS = {"k": strict, "c": covered, "m": masks_by_matches}


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
    foretold = True
    keys: Sequence[str]
    target: Target | str = "k >= 3"
    importance: Mapping[str, str | float] = field(default_factory=dict)
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
        for column_name in self.strata:
            if column_name in self.keys:
                raise DataError(f"a stratum stays as it is and a key may be emptied; {column_name!r} is named as both")
        if isinstance(self.sets, int):
            _checks.whole_number(self.sets, 1, len(self.keys), what="sets")
        else:
            object.__setattr__(self, "sets", tuple(tuple(key_set) for key_set in self.sets))
            for key_set in self.sets:
                check_names(key_set, self.keys, what="key")
        check_names(list(self.related.values()), self.keys, what="key")
        for column_name in self.related:
            if column_name in (*self.keys, *self.strata):
                raise DataError(
                    f"a related column is emptied along with a key; {column_name!r} is a key or a stratum itself"
                )

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
        unit_words = "record" if self.unit is None else f"unit of {self.unit!r}"
        if goal.reading == "k":
            promise_start = (
                f"every {unit_words} reads like {goal.least - 1} others or more: whoever knows these keys, and no more,"
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
        return list(map(tuple, self.sets)) or [keys]

    def done(self, frame: pl.DataFrame) -> Done:
        keys = Keys(keyed(frame, [*self.keys, *self.strata]), [*self.keys, *self.strata])
        units = Units.of(frame, keys, unit=self.unit, order=self.order)
        keep_masks, to_delete = masks(self, units)
        goal = Target.of(self.target)
        if goal.conditions:
            if len(self.asked) > 1:
                raise DataError(f"conditions such as {goal.conditions[0]} are for one set of keys")
            key_costs = [*prices(tuple(self.keys), self.importance), *(float("inf") for _ in self.strata)]
            secret = Secret.of(frame, goal.conditions, np.asarray(units.row_member, np.int64), len(units.member))
            keep_masks, to_delete = meet_conditions(units, goal.least, key_costs, keep_masks, to_delete, secret)
            _check_deleted(self, units, to_delete, goal, key_costs)
        keep_of_row, is_deleted = keep_masks[units.row_unit], to_delete[units.row_unit]
        released_frame = frame.with_columns(
            pl.when(pl.Series((keep_of_row >> place & 1) > 0)).then(pl.col(key_name)).alias(key_name)
            for place, key_name in enumerate(self.keys)
        )
        emptied_cells = {
            emptied_key: released_frame[emptied_key].is_null() & frame[emptied_key].is_not_null()
            for emptied_key in set(self.related.values())
        }
        released_frame = released_frame.with_columns(
            pl.when(~emptied_cells[emptied_key]).then(pl.col(related_name)).alias(related_name)
            for related_name, emptied_key in self.related.items()
        )
        remaining_rows = None
        if is_deleted.any():
            remaining_rows = np.flatnonzero(~is_deleted)
            released_frame = released_frame[remaining_rows]
        self._check_columns(frame, released_frame)
        return Done(released_frame, remaining_rows, self.notes(int(units.count[to_delete].sum())))

    def apply_on(self, engine: str, table: IntoLazyFrame) -> tuple[Any, Log]:
        if Target.of(self.target).conditions:
            raise DataError(f"conditions on sensitive columns are met in memory; collect the {engine} table")
        if self.related:
            raise DataError(f"related columns are emptied in memory; collect the {engine} table")
        if self.unit is not None:
            raise DataError(f"households and persons over waves are protected in memory; collect the {engine} table")
        # decided on distinct tuples, whose masks are joined back
        keys = Keys(table, [*self.keys, *self.strata])
        remote_keys = keys.remote
        if remote_keys is None:
            raise DataError("this table is in memory: apply the method to it")
        keep_masks, to_delete = masks(self, Units.of_tuples(keys))
        tuples, digit_names = keys.tuples, [digit(key_place) for key_place in remote_keys.places]
        keep_columns = {f"naysay_keep_{key_place}": keep_masks >> key_place & 1 for key_place in range(len(self.keys))}
        cells = {
            digit_name: column.astype(np.int64) for digit_name, column in zip(digit_names, tuples.columns, strict=True)
        }
        tuple_masks = pl.DataFrame(cells | keep_columns | {"naysay_left": to_delete.astype(np.int64)})
        joined_rows = remote_keys.rows.join(remote_keys.engine.lift(tuple_masks), on=digit_names, how="inner").filter(
            nw.col("naysay_left") == 0
        )
        emptied_columns = [
            nw.when(nw.col(f"naysay_keep_{key_place}") == 1).then(nw.col(variable_name)).alias(variable_name)
            for key_place, variable_name in enumerate(self.keys)
        ]
        names = nw.from_native(table).collect_schema().names()
        suppressed_table = joined_rows.with_columns(*emptied_columns).select(*names)
        step = self.step(keys, keep_masks, to_delete)
        return suppressed_table.to_native(), Log((step,))

    def step(self, keys: Keys, keep_masks: Ints, to_delete: NDArray[np.bool_]) -> Step:
        """What is logged where it is decided on distinct tuples, by the masks of keys that they keep."""
        tuples, column_cells = keys.tuples, []
        for key_place, key_name in enumerate(self.keys):
            was_filled = (tuples.columns[key_place] > 0) & ~to_delete
            suppressed_count = int(tuples.count[was_filled & (keep_masks >> key_place & 1 == 0)].sum())
            filled_count = int(tuples.count[was_filled].sum())
            column_cells.append(Cells(key_name, filled_count, suppressed_count, suppressed_count))
        deleted_count = int(tuples.count[to_delete].sum())
        return Step(self, keys.n, deleted_count, tuple(column_cells), self.notes(deleted_count))

    def notes(self, deleted: int) -> tuple[str, ...]:
        """What must be said about it."""
        suppression_notes = []
        if deleted:
            deleted_words = _checks.several(deleted, "record", "records") if self.unit is None else f"{deleted:,} units"
            few = "too few others, or too many alike," if Target.of(self.target).conditions else "too few others"
            suppression_notes.append(f"{deleted_words} found {few} even with every key empty, and had to be deleted")
        if Target.of(self.target).reading == "m":
            suppression_notes.append(
                "m counts whom a gap may hide, and is no promise: emptying a few records gives everybody matches; "
                "look at k and at the informed intruder, or ask for k"
            )
        return tuple(suppression_notes)

    def _check_columns(self, before: pl.DataFrame, after: pl.DataFrame) -> None:
        """Raise if nothing is left of a column, or of the file."""
        if not after.height:
            raise DataError(f"the target {self.target} would delete every record; recode the keys first, or take fewer")
        for key_name in self.keys:
            filled_before = before[key_name].count()
            if filled_before and not after[key_name].count():
                complaint = (
                    f"suppression would empty column {key_name!r}: none of its {filled_before:,} cells would stay"
                )
                raise DataError(
                    f"{complaint}; recode it first, give it more importance, or leave it out of the file",
                    column=key_name,
                )


def masks(method: Suppress, units: Units) -> tuple[Ints, NDArray[np.bool_]]:
    """The keys that each unit keeps, and the units that no suppression helps and that must be deleted.

    Raises
    ------
    DataError
        Fewer units than the target asks for, or units that cannot be helped because a key must stay.
    """
    goal, key_names = Target.of(method.target), tuple(method.keys)
    if not units.single and goal.reading != "k":
        complaint = f"{goal.reading} is for people; households and persons over waves have k"
        raise DataError(f"{complaint}: ask for the target 'k >= {goal.least}'")
    if goal.least > units.total:
        raise DataError(f"the target {goal} needs {goal.least:,} records or more; the file has {units.total:,}")
    key_costs = [*prices(key_names, method.importance), *(float("inf") for _ in method.strata)]
    strata = range(len(key_names), len(key_costs))
    place_sets = [[*(key_names.index(name) for name in key_set), *strata] for key_set in method.asked]
    keep_masks, to_delete = np.full(len(units), (1 << len(key_costs)) - 1), np.zeros(len(units), bool)
    strategy = _WAYS[goal.reading]
    while True:  # what one set of keys loses may make others stand out; masks only shrink, so this ends
        masks_before = keep_masks.copy()
        for key_places in place_sets:
            part_masks, is_bad = strategy(
                units.part(key_places, keep_masks, ~to_delete),
                goal.least,
                [key_costs[key_place] for key_place in key_places],
            )
            for key_bit, key_place in enumerate(key_places):
                keep_masks &= ~np.where(part_masks >> key_bit & 1, 0, 1 << key_place)
            to_delete |= is_bad
        if (keep_masks == masks_before).all() or len(place_sets) == 1:
            break
    _check_deleted(method, units, to_delete, goal, key_costs)
    return keep_masks, to_delete


def _check_deleted(
    method: Suppress, units: Units, to_delete: NDArray[np.bool_], goal: Target, costs: Sequence[float]
) -> None:
    """Raise if units cannot be helped because keys must stay; a few that are alone even when empty are deleted."""
    staying_keys = [name for name, cost in zip((*method.keys, *method.strata), costs, strict=True) if np.isinf(cost)]
    if not to_delete.any() or not staying_keys:
        return
    alike_counts = totals(units.shown_numbers(_floor(costs), np.arange(len(units))), units.count)
    deleted_count = int(units.count[to_delete].sum())
    nearest_count = int(alike_counts[to_delete].min())
    if nearest_count >= goal.least and not goal.conditions:
        return  # others who could read like them have enough company on finer values: these few are deleted
    complaint = f"the target {goal} cannot be reached: {deleted_count:,} of {units.total:,} records stay below it"
    ways_out = "recode them first, give them less importance than 'must', or ask for less"
    raise DataError(
        f"{complaint}, the nearest to {goal.reading} >= {nearest_count} even when all other keys are empty; "
        f"in the way stand {_checks.listing_text(staying_keys)}, which must stay: {ways_out}",
        column=staying_keys[0],
    )
