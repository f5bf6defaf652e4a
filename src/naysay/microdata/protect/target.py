"""What a release must reach: how many must read the same, and what their class must leave open.

A target counts matches in one of three readings of a gap. Its conditions are l-diversity, t-closeness and δ-presence of
sensitive columns. What is counted are units: people, households, or persons over waves, each with the keys that an
intruder may know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from naysay import _checks
from naysay._values import Array, Flags, Floats
from naysay.errors import DataError
from naysay.microdata.keys.cells import Tuples
from naysay.microdata.keys.codes import check_names
from naysay.microdata.keys.variables import Keys
from naysay.microdata.protect.method import texts

READINGS = {
    "k": "records that read the same, a gap being a value of its own",
    "c": "records that hold, known, every value that a record shows",
    "m": "records that may be the same, a gap matching anything",
}
"""How matches of a released record are counted: k ≤ c ≤ m. Only k bounds what an intruder can do."""

_FORM = re.compile(r"\s*([a-z]+)\s*(>=|≥)\s*(\d+)\s*$")

COSTS = {"low": 0.5, "normal": 1.0, "high": 4.0, "must": float("inf")}


@dataclass(frozen=True)
class Target:
    """At least so many matches for every record, and conditions on what its class tells of sensitive columns.

    Examples
    --------
    >>> Target.of("k >= 3")
    Target(reading='k', least=3, conditions=())
    >>> str(Target.of("m>=5"))
    'm >= 5'
    >>> str(Target.of("k >= 3 and l(illness) >= 2"))
    'k >= 3 and l(illness) >= 2'
    """

    reading: str
    least: int
    conditions: tuple[Condition, ...] = ()

    @classmethod
    def of(cls, target: Target | str) -> Target:
        """The target that a text such as ``k >= 3`` names."""
        if isinstance(target, Target):
            return target
        size_text, *condition_texts = re.split(r"\s+and\s+", str(target))
        form_match = _FORM.match(size_text)
        if form_match is None or form_match[1] not in READINGS:
            readings = ", ".join(f"{name} ({what})" for name, what in READINGS.items())
            raise DataError(f"a target must be such as 'k >= 3', with one of {readings}; got {size_text!r}")
        least_matches = int(form_match[3])
        if least_matches < 2:
            raise DataError(f"a target must ask for 2 matches or more; got {str(target)!r}, which every file meets")
        conditions = tuple(map(Condition.of, condition_texts))
        if conditions and form_match[1] != "k":
            raise DataError(
                f"conditions are for classes that read the same: ask for k, not {form_match[1]}, beside them"
            )
        return cls(form_match[1], least_matches, conditions)

    def form(self) -> str:
        """As a plan writes it."""
        return str(self)

    def __str__(self) -> str:
        return " and ".join([f"{self.reading} >= {self.least}", *map(str, self.conditions)])


def prices(keys: tuple[str, ...], importance: Mapping[str, object]) -> list[float]:
    """What losing a cell of each key costs, from words (low, normal, high, must) or numbers.

    Raises
    ------
    DataError
        Importance of a variable that is no key, or a word or number that is none.
    """
    cost_of_key = dict.fromkeys(keys, COSTS["normal"])
    for key_name, key_importance in importance.items():
        if key_name not in keys:
            raise DataError(
                f"importance is for keys; {key_name!r} is none of them ({_checks.nearest(key_name, keys)})",
                column=key_name,
            )
        if isinstance(key_importance, str) and key_importance in COSTS:
            cost_of_key[key_name] = COSTS[key_importance]
        elif isinstance(key_importance, int | float) and key_importance > 0:
            cost_of_key[key_name] = float(key_importance)
        else:
            raise DataError(
                f"importance of {key_name!r} must be one of {_checks.listing_text(COSTS)}, or a number above 0; "
                f"got {key_importance!r}",
                column=key_name,
            )
    return [cost_of_key[key] for key in keys]


CONDITIONS = {
    "l(COLUMN) >= 2": "so many distinct values",
    "entropy_l(COLUMN) >= 2": "as uncertain as so many equally common values",
    "recursive_l(COLUMN, 3) >= 2": "the most common value less than 3 times the sum of the l-th and rarer ones",
    "t(COLUMN) <= 0.2": "shares within a total variation distance of those of the file",
    "ordered_t(COLUMN) <= 0.2": "the same for ordered values, by the earth mover's distance",
    "presence(COLUMN, VALUE) <= 0.5": "at most this share with that value, such as of people who are in a study",
    "presence(COLUMN, VALUE) >= 0.1": "at least this share",
}
"""What may be asked of every released class beside its size, as it is written."""

_CONDITION_FORM = re.compile(
    r"\s*(?P<measure>[a-z_]+)\s*\(\s*(?P<column>[^(),]+?)\s*(?:,\s*(?P<detail>[^(),]+?)\s*)?\)"
    r"\s*(?P<sign>>=|≥|<=|≤)\s*(?P<bound>\d*\.?\d+)\s*$"
)
_MOST_HELD = 4_000_000  # numbers of classes by values that are held at once
_NEAR = 1e-9


@dataclass(frozen=True)
class Condition:
    """A bound on what a released class tells of a sensitive column.

    Parameters
    ----------
    measure : {"l", "entropy_l", "recursive_l", "t", "ordered_t", "presence"}
    column : str
    bound : float
    factor : float, optional
        c of recursive (c, l)-diversity.
    value : str, optional
        Whose share δ-presence bounds, as the file writes it.
    lower : bool
        Whether it is bounded from below.

    Examples
    --------
    >>> str(Condition.of("recursive_l(illness, 3)>=2"))
    'recursive_l(illness, 3) >= 2'

    Source: Machanavajjhala et al. 2007; Li, Li & Venkatasubramanian 2007; Nergiz, Atzori & Clifton 2007 (δ-presence).
    """

    measure: str
    column: str
    bound: float
    factor: float | None = None
    value: str | None = None
    lower: bool = False

    @classmethod
    def of(cls, text: str) -> Condition:
        """The condition that a text such as ``l(illness) >= 2`` names."""
        form_match = _CONDITION_FORM.match(text)
        condition_choices = ", ".join(f"{written_form!r} ({what})" for written_form, what in CONDITIONS.items())
        if form_match is None or form_match["measure"] not in {
            condition_text.partition("(")[0] for condition_text in CONDITIONS
        }:
            raise DataError(f"a condition must be one of {condition_choices}; got {text.strip()!r}")
        measure, bound, detail = form_match["measure"], float(form_match["bound"]), form_match["detail"]
        is_presence, is_lower = measure == "presence", form_match["sign"] in (">=", "≥")
        is_fraction = measure.endswith("t") or is_presence
        is_number = detail is not None and re.fullmatch(r"\d*\.?\d+", detail) is not None
        fits = detail is not None if is_presence else is_number if measure == "recursive_l" else detail is None
        if not fits or (not is_presence and is_lower == is_fraction):
            raise DataError(f"a condition must be one of {condition_choices}; got {text.strip()!r}")
        factor = float(detail) if measure == "recursive_l" else None
        needs_whole = measure in ("l", "recursive_l")
        if (
            (is_fraction and not 0 < bound < 1)
            or (not is_fraction and bound <= 1)
            or (needs_whole and bound != round(bound))
        ):
            least = "between 0 and 1" if is_fraction else "whole and 2 or more" if needs_whole else "above 1"
            raise DataError(f"the bound of {measure} must be {least}; got {text.strip()!r}")
        if factor is not None and factor <= 0:
            raise DataError(f"c of recursive_l must be above 0; got {text.strip()!r}")
        return cls(
            measure, form_match["column"], bound, factor, detail if is_presence else None, is_presence and is_lower
        )

    def __str__(self) -> str:
        sign = ">=" if self.lower or self.measure.endswith("l") else "<="
        detail = f", {self.value}" if self.value is not None else "" if self.factor is None else f", {self.factor:g}"
        return f"{self.measure}({self.column}{detail}) {sign} {self.bound:g}"

    def holds(self, class_counts: Floats, file_counts: Floats) -> Flags:
        """Whether classes meet it: (classes, values) people with each value, in their order, and (values,) of all.

        A class of which no value is known tells none, and meets it.
        """
        class_sizes = class_counts.sum(axis=1)
        is_empty = np.asarray(class_sizes == 0)
        if self.measure == "l":
            return np.asarray(is_empty | ((class_counts > 0).sum(axis=1) >= self.bound))
        value_shares = class_counts / np.maximum(class_sizes, 1)[:, None]
        if self.measure == "presence":  # the second of two values is the one that is asked about
            member = value_shares[:, 1]
            return np.asarray(is_empty | (member >= self.bound - _NEAR if self.lower else member <= self.bound + _NEAR))
        if self.measure == "entropy_l":
            entropy = -(value_shares * np.log(np.where(value_shares > 0, value_shares, 1))).sum(axis=1)
            return np.asarray(is_empty | (np.exp(entropy) >= self.bound - _NEAR))
        if self.measure == "recursive_l":
            falling_counts = -np.sort(-class_counts, axis=1)
            rare = falling_counts[:, round(self.bound) - 1 :].sum(axis=1)
            return np.asarray(is_empty | (falling_counts[:, 0] < (self.factor or 0) * rare))
        share_gaps = value_shares - file_counts / max(file_counts.sum(), 1)
        if self.measure == "t":
            distance = np.abs(share_gaps).sum(axis=1) / 2
        else:
            distance = np.abs(np.cumsum(share_gaps, axis=1))[:, :-1].sum(axis=1) / max(class_counts.shape[1] - 1, 1)
        return np.asarray(is_empty | (distance <= self.bound + _NEAR))


@dataclass(frozen=True, eq=False)
class Secret:
    """Sensitive columns of a frame, by the members of units that its rows are.

    Parameters
    ----------
    conditions : sequence of Condition
    people_tables : for each condition, (members, values) people
    """

    conditions: Sequence[Condition]
    people_tables: Sequence[csr_array]

    @classmethod
    def of(
        cls, frame: pl.DataFrame, conditions: Sequence[Condition], member: NDArray[np.int64], members: int
    ) -> Secret:
        """The columns of a frame, whose rows are these members."""
        check_names([checked_condition.column for checked_condition in conditions], frame.columns)
        people_tables = []
        for condition in conditions:
            sensitive_column = frame[condition.column]
            if condition.value is None:
                value_codes = _ranks(sensitive_column, ordered=condition.measure == "ordered_t")
            else:
                cell_texts = texts(sensitive_column)
                is_equal = (cell_texts == condition.value).fill_null(value=False)
                if not is_equal.any():
                    present_texts = cell_texts.drop_nulls().unique().sort().to_list()
                    raise DataError(
                        f"{condition.column!r} never holds {condition.value!r}; "
                        f"{_checks.nearest(condition.value, present_texts)}",
                        column=condition.column,
                    )
                value_codes = is_equal.to_numpy().astype(np.int64)
            is_known = sensitive_column.is_not_null().to_numpy()
            table_shape = (members, 2 if condition.value is not None else int(value_codes[is_known].max(initial=0)) + 1)
            people_tables.append(
                csr_array((np.ones(int(is_known.sum())), (member[is_known], value_codes[is_known])), shape=table_shape)
            )
        return cls(conditions, people_tables)

    def failing(self, member_numbers: NDArray[np.int64], group: NDArray[np.int64], everybody: Flags) -> Flags:
        """Which of some members are in a class, given by a number for each of them, that fails a condition."""
        _, class_places = np.unique(group, return_inverse=True)
        is_failing = np.zeros(int(class_places.max(initial=-1)) + 1, bool)
        class_members = csr_array(
            (np.ones(len(member_numbers)), (class_places, member_numbers)),
            shape=(len(is_failing), self.people_tables[0].shape[0]),
        )
        for condition, people_table in zip(self.conditions, self.people_tables, strict=True):
            file_counts = np.asarray(people_table[np.flatnonzero(everybody)].sum(axis=0), np.float64).reshape(-1)
            class_counts = csr_array(class_members @ people_table)
            block_size = max(1, _MOST_HELD // max(people_table.shape[1], 1))
            for block_start in range(0, len(is_failing), block_size):
                part = class_counts[block_start : block_start + block_size].toarray()
                is_failing[block_start : block_start + block_size] |= ~condition.holds(part, file_counts)
        return np.asarray(is_failing[class_places])


def _ranks(column: pl.Series, *, ordered: bool) -> NDArray[np.int64]:
    """Values as numbers from 0 in their order; texts of numbers are ordered as numbers."""
    if column.dtype == pl.String or not (column.dtype.is_numeric() or isinstance(column.dtype, pl.Enum)):
        cell_texts = texts(column)
        cell_numbers = cell_texts.cast(pl.Float64, strict=False)
        if ordered and cell_numbers.null_count() > cell_texts.null_count():
            complaint = f"{column.name!r} holds texts, which have no order"
            raise DataError(f"{complaint}: ask for t({column.name}), or give it numbers", column=column.name)
        column = cell_numbers if ordered else cell_texts
    ranks = (column.to_physical() if isinstance(column.dtype, pl.Enum) else column).rank("dense")
    return ranks.fill_null(1).to_numpy().astype(np.int64) - 1


def unmet(
    frame: pl.DataFrame,
    keys: Sequence[str],
    conditions: Sequence[Condition],
    *,
    unit: str | None = None,
    order: str | None = None,
) -> int:
    """How many rows of a frame are in a class, gaps being values, that fails a condition.

    Rows are in one class if they read the same, and so do the households or persons that they belong to.
    """
    if not conditions or not frame.height:
        return 0
    number = pl.struct([texts(frame[name]).alias(name) for name in keys]).rank("dense")
    row_class = frame.select(number).to_series().to_numpy().astype(np.int64)
    if unit is not None:
        unit_rows = pl.DataFrame(
            {"unit": frame[unit], "own": row_class, "at": row_class if order is None else frame[order]}
        )
        unit_text = pl.col("own").sort_by("at").cast(pl.String).str.join(" ").over("unit")
        row_place = pl.lit(0) if order is None else pl.col("at").rank("dense").over("unit")
        row_class = (
            unit_rows.select(pl.struct(unit_text.alias("whole"), "own", row_place.alias("place")).rank("dense"))
            .to_series()
            .to_numpy()
        )
    row_numbers = np.arange(frame.height)
    secret = Secret.of(frame, conditions, row_numbers, frame.height)
    return int(secret.failing(row_numbers, row_class.astype(np.int64), row_numbers >= 0).sum())


Ints = NDArray[np.int64]
Packed = NDArray[np.uint64]

_BITS = 64
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def totals(keys: Packed, amount: Ints) -> Ints:
    """For each key the sum of the amounts of all that equal it, (n,); compiled where numba is installed."""
    try:
        from naysay.microdata import compiled
    except ModuleNotFoundError:
        _, place = np.unique(keys, return_inverse=True)
        return np.bincount(place, amount)[place].astype(np.int64)
    sums: Ints = compiled.totals(keys, amount)
    return sums


@dataclass(frozen=True, eq=False)
class Units:
    """Units of a file, counted by what they show on some keys.

    A unit is a distinct tuple of cells, with the people who have it; or, where rows belong together, all rows of a
    household as a multiset, or all waves of a person in their order.

    Parameters
    ----------
    keys : Keys
    member : (members,) int
        The tuple of each member, the members of one unit next to one another.
    start : (units,) int
        Where the members of each unit begin.
    count : (units,) int
        How many people, or households, each unit stands for.
    row_unit, row_member : (rows,) int
        The unit, and the member, that each row of the frame is.
    ordered : bool
        Whether the order of members tells: waves do, members of a household do not.
    """

    keys: Keys
    member: Ints
    start: Ints
    count: Ints
    row_unit: Array
    row_member: Array
    ordered: bool = False

    @classmethod
    def of(cls, frame: pl.DataFrame, keys: Keys, *, unit: str | None = None, order: str | None = None) -> Units:
        """The units of a frame that the keys were read from.

        Raises
        ------
        DataError
            Rows without a unit, a person who is in one wave twice.
        """
        if unit is None:
            if order is not None:
                raise DataError(
                    "an order of rows needs their unit: name the column that says which rows belong together"
                )
            return cls.of_tuples(keys)
        needed_columns = [unit] if order is None else [unit, order]
        check_names(needed_columns, frame.columns)
        for needed_column in needed_columns:
            if frame[needed_column].null_count():
                faulty_row = frame[needed_column].is_null().arg_max()
                raise DataError(
                    f"every row needs its {needed_column!r}; row {(faulty_row or 0) + 1} has none",
                    column=needed_column,
                    row=faulty_row,
                )
        unit_of_row = frame[unit].rank("dense").to_numpy().astype(np.int64) - 1
        wave_of_row = (
            np.zeros(len(unit_of_row), np.int64)
            if order is None
            else frame[order].rank("dense").to_numpy().astype(np.int64)
        )
        sorted_rows = np.lexsort([wave_of_row, unit_of_row])
        if order is not None and len(sorted_rows) > 1:
            is_repeated = (np.diff(unit_of_row[sorted_rows]) == 0) & (np.diff(wave_of_row[sorted_rows]) == 0)
            if is_repeated.any():
                faulty_row = int(sorted_rows[1:][is_repeated][0])
                repeat_sentence = (
                    f"row {faulty_row + 1} repeats {order!r} = {frame[order][faulty_row]} "
                    f"of {unit!r} = {frame[unit][faulty_row]}"
                )
                raise DataError(
                    f"a unit must have one row for each {order!r}; {repeat_sentence}", row=faulty_row, column=order
                )
        unit_starts = np.flatnonzero(np.diff(unit_of_row[sorted_rows], prepend=-1))
        tuple_of_member = np.asarray(keys.owner)[sorted_rows].astype(np.int64)
        row_member = np.empty(len(sorted_rows), np.int64)
        row_member[sorted_rows] = np.arange(len(sorted_rows))
        return cls(
            keys,
            tuple_of_member,
            unit_starts,
            np.ones(len(unit_starts), np.int64),
            unit_of_row,
            row_member,
            order is not None,
        )

    @classmethod
    def of_tuples(cls, keys: Keys) -> Units:
        """People, grouped by their tuples."""
        tuple_numbers = np.arange(keys.distinct)
        owner = keys.owner if keys.remote is None else tuple_numbers
        return cls(keys, tuple_numbers, tuple_numbers, keys.tuples.count, owner, owner)

    @cached_property
    def cells(self) -> _Cells:
        """What each tuple shows."""
        return _Cells.of(self.keys.tuples)

    @cached_property
    def single(self) -> bool:
        """Whether each unit is one tuple."""
        return len(self.member) == len(self.start) == len(self.keys.tuples)

    @cached_property
    def known(self) -> Ints:
        """The keys that each unit knows, as bits."""
        known_bits = np.zeros(len(self.keys.tuples), np.int64)
        for place, column in enumerate(self.keys.tuples.columns):
            known_bits |= (column > 0).astype(np.int64) << place
        return _checks.read_only(
            known_bits if self.single else np.bitwise_or.reduceat(known_bits[self.member], self.start)
        )

    def __len__(self) -> int:
        return len(self.start)

    @property
    def total(self) -> int:
        """How many people, or households, there are."""
        return int(self.count.sum())

    def part(self, places: Sequence[int], keep: Ints, is_present: Flags) -> Units:
        """Some of the keys, of which each unit shows what it keeps; units that are not there count for nothing."""
        if is_present.all() and len(places) == len(self.keys.variables) and not (self.known & ~keep).any():
            return self
        tuples = self.keys.tuples
        mask = keep if self.single else np.repeat(keep, np.diff(np.append(self.start, len(self.member))))
        shown_columns = tuple(
            np.where(mask >> key_place & 1, tuples.columns[key_place][self.member], 0) for key_place in places
        )
        part_tuples = Tuples(
            shown_columns, tuple(tuples.sizes[key_place] for key_place in places), np.ones(len(self.member), np.int64)
        )
        part_keys = self.keys.of_tuples([self.keys.variables[key_place] for key_place in places], part_tuples)
        member_numbers, count = np.arange(len(self.member)), np.where(is_present, self.count, 0)
        return Units(part_keys, member_numbers, self.start, count, self.row_unit, self.row_member, self.ordered)

    def shown_numbers(self, mask: int, unit_numbers: Ints) -> Packed:
        """What some units show on the keys in a mask, as numbers that are equal where it is."""
        if self.single:
            return self.cells.under(mask, unit_numbers)
        return self._gather_members(unit_numbers, lambda rows: self.cells.under(mask, rows))

    def together(self, tuple_numbers: Packed) -> Packed:
        """What units show whose members' tuples have these numbers."""
        return self._gather_members(np.arange(len(self)), lambda rows: tuple_numbers[rows])

    def members(self, unit_numbers: Ints) -> tuple[Ints, Ints, Ints, Packed]:
        """The members of some units, where those of each begin among them, how many each has, and their place in it.

        The place is mixed, and the same for all where the order of members does not tell.
        """
        unit_sizes = np.diff(np.append(self.start, len(self.member)))[unit_numbers]
        unit_starts = np.cumsum(unit_sizes) - unit_sizes
        places_in_unit = np.arange(unit_sizes.sum()) - np.repeat(unit_starts, unit_sizes)
        member_places = np.repeat(self.start[unit_numbers], unit_sizes) + places_in_unit
        told_places = places_in_unit if self.ordered else np.zeros(len(places_in_unit), np.int64)
        return member_places, unit_starts, unit_sizes, _mix_bits(told_places.astype(np.uint64) + np.uint64(1))

    def apart(self, group: Packed, mask: Ints, unit_numbers: Ints) -> tuple[Ints, Packed, Ints]:
        """The members of some units, what each shows within the group of its unit, and where those of each unit begin.

        Each unit shows the keys of its mask. Members that read the same are one in the eyes of an intruder; with an
        order, only those in the same place.
        """
        member_places, unit_starts, unit_sizes, mixed_places = self.members(unit_numbers)
        if self.single:
            return member_places, group, unit_starts
        member_masks, member_numbers = np.repeat(mask, unit_sizes), np.zeros(len(member_places), np.uint64)
        for unit_mask in np.unique(mask).tolist():
            member_numbers[member_masks == unit_mask] = self.cells.under(
                unit_mask, self.member[member_places[member_masks == unit_mask]]
            )
        class_numbers = _mix_bits(np.repeat(group, unit_sizes) + _mix_bits(member_numbers + mixed_places))
        return member_places, class_numbers, unit_starts

    def _gather_members(self, unit_numbers: Ints, numbers_of: Callable[[Ints], Packed]) -> Packed:
        """Members as one number: the sum of what each shows, mixed with its place where the order tells."""
        member_places, unit_starts, unit_sizes, mixed_places = self.members(unit_numbers)
        member_numbers = _mix_bits(numbers_of(self.member[member_places]) + mixed_places)
        return _mix_bits(np.add.reduceat(member_numbers, unit_starts)) + unit_sizes.astype(np.uint64)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Tuples as numbers of 64 bits, exact where their cells fit into them, and hashed where not."""

    packed: Packed | None
    bits: tuple[np.uint64, ...]
    columns: Sequence[Array]

    @classmethod
    def of(cls, tuples: Tuples) -> _Cells:
        bit_widths = [max(int(size - 1).bit_length(), 1) for size in tuples.sizes]
        if sum(bit_widths) > _BITS:
            return cls(None, (), tuples.columns)
        packed_cells, bit_place, column_bits = np.zeros(len(tuples), np.uint64), 0, []
        for column, bit_width in zip(tuples.columns, bit_widths, strict=True):
            packed_cells |= column.astype(np.uint64) << np.uint64(bit_place)
            column_bits.append(np.uint64(((1 << bit_width) - 1) << bit_place))
            bit_place += bit_width
        return cls(packed_cells, tuple(column_bits), tuples.columns)

    def under(self, mask: int, rows: Ints) -> Packed:
        if self.packed is not None:
            mask_bits = np.uint64(0)
            for key_place, column_bits in enumerate(self.bits):
                mask_bits |= column_bits if mask >> key_place & 1 else np.uint64(0)
            return self.packed[rows] & mask_bits
        mixed_sums = np.zeros(len(rows), np.uint64)
        for key_place, key_column in enumerate(self.columns):
            if mask >> key_place & 1:
                mixed_sums += _mix_bits(
                    key_column[rows].astype(np.uint64) + (np.uint64(key_place + 1) << np.uint64(40))
                )
        return mixed_sums


def _mix_bits(keys: Packed) -> Packed:
    """The finisher of splitmix64: equal keys stay equal, and sums of different ones hardly ever meet."""
    keys = (keys ^ (keys >> np.uint64(30))) * _MIX[0]
    keys = (keys ^ (keys >> np.uint64(27))) * _MIX[1]
    return keys ^ (keys >> np.uint64(31))
