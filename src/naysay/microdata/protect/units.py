"""What is protected: people, households or persons over waves, each with the keys that an intruder may know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import check_names
from naysay.microdata.keys.tuples import Tuples
from naysay.microdata.keys.variables import Keys

Ints = NDArray[np.int64]
Packed = NDArray[np.uint64]

_BITS = 64
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def totals(keys: Packed, amount: Ints) -> Ints:
    """For each key the sum of the amounts of all that equal it, (n,); compiled where numba is installed."""
    try:
        from naysay.microdata.protect import compiled
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
    row_unit: NDArray[Any]
    row_member: NDArray[Any]
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
        check_names([unit, *([] if order is None else [order])], frame.columns)
        for name in (unit, *([] if order is None else [order])):
            if frame[name].null_count():
                row = frame[name].is_null().arg_max()
                raise DataError(f"every row needs its {name!r}; row {(row or 0) + 1} has none", column=name, row=row)
        unit_of_row = frame[unit].rank("dense").to_numpy().astype(np.int64) - 1
        wave = (
            np.zeros(len(unit_of_row), np.int64)
            if order is None
            else frame[order].rank("dense").to_numpy().astype(np.int64)
        )
        rows = np.lexsort([wave, unit_of_row])
        if order is not None and len(rows) > 1:
            twice = (np.diff(unit_of_row[rows]) == 0) & (np.diff(wave[rows]) == 0)
            if twice.any():
                row = int(rows[1:][twice][0])
                repeat_sentence = (
                    f"row {row + 1} repeats {order!r} = {frame[order][row]} of {unit!r} = {frame[unit][row]}"
                )
                raise DataError(
                    f"a unit must have one row for each {order!r}; {repeat_sentence}", row=row, column=order
                )
        start = np.flatnonzero(np.diff(unit_of_row[rows], prepend=-1))
        members = np.asarray(keys.owner)[rows].astype(np.int64)
        row_member = np.empty(len(rows), np.int64)
        row_member[rows] = np.arange(len(rows))
        return cls(keys, members, start, np.ones(len(start), np.int64), unit_of_row, row_member, order is not None)

    @classmethod
    def of_tuples(cls, keys: Keys) -> Units:
        """People, grouped by their tuples."""
        tuple_numbers = np.arange(keys.distinct)
        owner = keys.owner if keys.remote is None else tuple_numbers
        return cls(keys, tuple_numbers, tuple_numbers, keys.tuples.count, owner, owner)

    def __post_init__(self) -> None:
        tuples = self.keys.tuples
        object.__setattr__(self, "cells", _Cells.of(tuples))
        object.__setattr__(self, "single", len(self.member) == len(self.start) == len(tuples))
        known_bits = np.zeros(len(tuples), np.int64)
        for place, column in enumerate(tuples.columns):
            known_bits |= (column > 0).astype(np.int64) << place
        unit_bits = known_bits if self.single else np.bitwise_or.reduceat(known_bits[self.member], self.start)
        object.__setattr__(self, "known", _checks.read_only(unit_bits))

    cells: _Cells = None  # type: ignore[assignment]
    single: bool = True
    known: Ints = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.start)

    @property
    def total(self) -> int:
        """How many people, or households, there are."""
        return int(self.count.sum())

    def part(self, places: Sequence[int], keep: Ints, is_present: NDArray[np.bool_]) -> Units:
        """Some of the keys, of which each unit shows what it keeps; units that are not there count for nothing."""
        if is_present.all() and len(places) == len(self.keys.variables) and not (self.known & ~keep).any():
            return self
        tuples = self.keys.tuples
        mask = keep if self.single else np.repeat(keep, np.diff(np.append(self.start, len(self.member))))
        columns = tuple(np.where(mask >> place & 1, tuples.columns[place][self.member], 0) for place in places)
        part_tuples = Tuples(
            columns, tuple(tuples.sizes[place] for place in places), np.ones(len(self.member), np.int64)
        )
        keys = self.keys.of_tuples([self.keys.variables[place] for place in places], part_tuples)
        member_numbers, count = np.arange(len(self.member)), np.where(is_present, self.count, 0)
        return Units(keys, member_numbers, self.start, count, self.row_unit, self.row_member, self.ordered)

    def shown_numbers(self, mask: int, unit_numbers: Ints) -> Packed:
        """What some units show on the keys in a mask, as numbers that are equal where it is."""
        if self.single:
            return self.cells.under(mask, unit_numbers)
        return self._gather_members(unit_numbers, lambda rows: self.cells.under(mask, rows))

    def together(self, tuple_numbers: Packed) -> Packed:
        """What units show whose members' tuples have these numbers."""
        return self._gather_members(np.arange(len(self)), lambda rows: tuple_numbers[rows])

    def members(self, unit_numbers: Ints) -> tuple[Ints, Ints, Ints]:
        """The members of some units, where those of each begin among them, and how many each has."""
        length = np.diff(np.append(self.start, len(self.member)))[unit_numbers]
        begin = np.cumsum(length) - length
        return np.arange(length.sum()) + np.repeat(self.start[unit_numbers] - begin, length), begin, length

    def apart(self, group: Packed, mask: Ints, unit_numbers: Ints) -> tuple[Ints, Packed, Ints]:
        """The members of some units, what each shows within the group of its unit, and where those of each unit begin.

        Each unit shows the keys of its mask. Members that read the same are one in the eyes of an intruder; with an
        order, only those in the same place.
        """
        rows, begin, length = self.members(unit_numbers)
        if self.single:
            return rows, group, begin
        masks, member_numbers = np.repeat(mask, length), np.zeros(len(rows), np.uint64)
        for unit_mask in np.unique(mask).tolist():
            member_numbers[masks == unit_mask] = self.cells.under(unit_mask, self.member[rows[masks == unit_mask]])
        place = np.arange(len(rows)) - np.repeat(begin, length) if self.ordered else np.zeros(len(rows), np.int64)
        return (
            rows,
            _mix_bits(
                np.repeat(group, length) + _mix_bits(member_numbers + _mix_bits(place.astype(np.uint64) + np.uint64(1)))
            ),
            begin,
        )

    def _gather_members(self, unit_numbers: Ints, numbers_of: Callable[[Ints], Packed]) -> Packed:
        """Members as one number: the sum of what each shows, mixed with its place where the order tells."""
        rows, begin, length = self.members(unit_numbers)
        place = np.arange(len(rows)) - np.repeat(begin, length) if self.ordered else np.zeros(len(rows), np.int64)
        member_numbers = _mix_bits(numbers_of(self.member[rows]) + _mix_bits(place.astype(np.uint64) + np.uint64(1)))
        return _mix_bits(np.add.reduceat(member_numbers, begin)) + length.astype(np.uint64)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Tuples as numbers of 64 bits, exact where their cells fit into them, and hashed where not."""

    packed: Packed | None
    bits: tuple[np.uint64, ...]
    columns: Sequence[NDArray[Any]]

    @classmethod
    def of(cls, tuples: Tuples) -> _Cells:
        widths = [max(int(size - 1).bit_length(), 1) for size in tuples.sizes]
        if sum(widths) > _BITS:
            return cls(None, (), tuples.columns)
        packed, at, bits = np.zeros(len(tuples), np.uint64), 0, []
        for column, width in zip(tuples.columns, widths, strict=True):
            packed |= column.astype(np.uint64) << np.uint64(at)
            bits.append(np.uint64(((1 << width) - 1) << at))
            at += width
        return cls(packed, tuple(bits), tuples.columns)

    def under(self, mask: int, rows: Ints) -> Packed:
        if self.packed is not None:
            mask_bits = np.uint64(0)
            for place, column_bits in enumerate(self.bits):
                mask_bits |= column_bits if mask >> place & 1 else np.uint64(0)
            return self.packed[rows] & mask_bits
        total = np.zeros(len(rows), np.uint64)
        for place, column in enumerate(self.columns):
            if mask >> place & 1:
                total += _mix_bits(column[rows].astype(np.uint64) + (np.uint64(place + 1) << np.uint64(40)))
        return total


def _mix_bits(keys: Packed) -> Packed:
    """The finisher of splitmix64: equal keys stay equal, and sums of different ones hardly ever meet."""
    keys = (keys ^ (keys >> np.uint64(30))) * _MIX[0]
    keys = (keys ^ (keys >> np.uint64(27))) * _MIX[1]
    return keys ^ (keys >> np.uint64(31))
