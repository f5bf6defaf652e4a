"""The waves of a panel, whatever their files look like: rows of respondents, each in its month."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError, StatisticalWarning
from naysay.frames import is_frame
from naysay.microdata.keys.table import Table, check_names, engine_of, first_row
from naysay.microdata.panel import identifiers
from naysay.microdata.panel.columns import column_of, in_one
from naysay.microdata.panel.months import month_text, months_of, one_month


@dataclass(frozen=True, eq=False)
class Part:
    """One file of waves.

    Parameters
    ----------
    place : str
        How messages call it: empty where there is only one.
    table : Table
    respondents : pl.Series
        Who answered, (rows,): texts or whole numbers, as `identifiers.normal` writes them.
    months : (rows,) int
        When, counted by `months.months_of`.
    codes : (rows,) int
        The places of the respondents among those of all files, sorted.
    """

    place: str
    table: Table
    respondents: pl.Series
    months: NDArray[np.int64]
    codes: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Waves:
    """All waves of a panel.

    Parameters
    ----------
    parts : tuple of Part
    respondents : pl.Series
        Everybody who has a row, each once, sorted.
    keys : (respondent, wave)
        The names of those columns.
    warnings : tuple of StatisticalWarning
        About respondents who may be one person under two spellings.
    """

    parts: tuple[Part, ...]
    respondents: pl.Series
    keys: tuple[str, str]
    warnings: tuple[StatisticalWarning, ...] = ()

    @classmethod
    def of(cls, waves: Any, *, respondent: str, wave: str, number: str | None = None) -> Waves:
        """The waves in one long table, in a sequence of tables, or in a mapping of month to table.

        Parameters
        ----------
        waves : dataframe, mapping of columns, sequence of these, or {month or name: dataframe}
            Rows and tables may come in any order: their months say when they are from.
        respondent, wave : str
            The columns that hold who answered, and in which month.
        number : str, optional
            A column that numbers the waves; checked to rise with the months.

        Raises
        ------
        DataError
            Rows without a month or respondent, respondents that are texts in one wave and numbers in another, a
            respondent twice in a wave, wave numbers that run against the months.
        """
        if respondent == wave:
            raise DataError(f"respondents and months are two columns; got {wave!r} for both", column=wave)
        file_parts = [
            _part_of(place, table, respondent, wave, month, number) for place, table, month in _tables(waves, wave)
        ]
        if not file_parts:
            raise DataError("at least one wave is needed; got none")
        named_parts = [(part.place, part.respondents) for part in file_parts]
        everybody, doubts = identifiers.everybody(named_parts, respondent)
        code = pl.DataFrame({"who": everybody, "code": pl.int_range(len(everybody), eager=True)})
        who = (part.respondents.alias("who").to_frame() for part in file_parts)
        codes = (
            part_people.join(code, on="who", how="left", maintain_order="left")["code"].to_numpy()
            for part_people in who
        )
        parts = tuple(replace(part, codes=part_codes) for part, part_codes in zip(file_parts, codes, strict=True))
        panel_waves = cls(parts, everybody, (respondent, wave), doubts)
        for part in parts:
            panel_waves.check_once([part])
        return panel_waves

    @cached_property
    def variables(self) -> dict[str, tuple[Part, ...]]:
        """Every variable, and the files that hold it."""
        names = dict.fromkeys(name for part in self.parts for name in part.table.names if name not in self.keys)
        return {name: tuple(part for part in self.parts if name in part.table.names) for name in names}

    def check_once(self, parts: Sequence[Part]) -> None:
        """Raise where somebody has two rows in one wave."""
        codes, months = joined(parts)
        first = int(months.min())
        slots = codes * (int(months.max()) - first + 1) + (months - first)
        order = np.argsort(slots, kind="stable")
        twice = np.flatnonzero(np.diff(slots[order]) == 0)
        if len(twice):
            one, other = sorted(order[twice[0] : twice[0] + 2])
            place, row = _located(parts, other)
            both = f"{identifiers.row_of(*_located(parts, one))} and {identifiers.row_of(place, row)}"
            same = f"{both} are the same respondent in {month_text(int(months[one]))} (keep one of them)"
            raise DataError(f"a respondent answers a wave once; {same}", row=row, column=self.keys[0])

    def cells(self, name: str) -> tuple[pl.Series, NDArray[np.int64], NDArray[np.int64]]:
        """A variable over all files that hold it: its cells, and whose and of which month they are."""
        check_names([name], list(self.variables))
        parts = self.variables[name]
        return in_one([column_of(part.table, name) for part in parts], name), *joined(parts)

    def sorted_cells(self, name: str) -> tuple[pl.Series, NDArray[np.int64], NDArray[np.int64]]:
        """What is known of a variable, respondent by respondent, and month by month within each."""
        if len(self.variables.get(name, ())) > 1:
            self.check_once(self.variables[name])
        cells, codes, months = self.cells(name)
        is_known = cells.is_not_null().to_numpy()
        cells, codes, months = cells.filter(pl.Series(is_known)), codes[is_known], months[is_known]
        order = np.lexsort((months, codes))
        return cells.gather(order), codes[order], months[order]


def joined(parts: Sequence[Part]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Whose each row of several files is, and of which month."""
    return np.concatenate([part.codes for part in parts]), np.concatenate([part.months for part in parts])


def _located(parts: Sequence[Part], row: int) -> tuple[str, int]:
    """The file of a row that is counted over several files, and the row in that file."""
    for part in parts:
        if row < len(part.codes):
            return part.place, int(row)
        row -= len(part.codes)
    raise IndexError(row)


def _tables(waves: Any, wave: str) -> Iterator[tuple[str, Any, int | None]]:
    """Each table with what messages call it, and its month where that is said beside it."""
    tables = list(waves.values()) if isinstance(waves, Mapping) else []
    if tables and all(isinstance(wave_table, Mapping) or is_frame(wave_table) for wave_table in tables):
        for name, table in waves.items():
            month = _month_of(name, table, wave)
            yield f"wave {name}" if month is not None else str(name), table, month
    elif isinstance(waves, Sequence) and not isinstance(waves, str):
        for place, table in enumerate(waves):
            yield f"table {place + 1}" if len(waves) > 1 else "", table, None
    else:
        yield "", waves, None


def _month_of(name: Any, table: Any, wave: str) -> int | None:
    """The month that a table is named after; None where the table has a column of months."""
    try:
        return one_month(name)
    except DataError:
        if wave in (table if isinstance(table, Mapping) else nw.from_native(table).collect_schema().names()):
            return None
        raise


def _part_of(place: str, data: Any, respondent: str, wave: str, month: int | None, number: str | None) -> Part:
    """One file, its respondents not yet numbered among those of all files."""
    table = Table.of(nw.from_native(data).collect(backend="polars") if engine_of(data) else data)
    if not table.n:
        raise DataError(f"{place or 'the table'} has no rows")
    with_month = month is None or wave in table.names
    column_names = [respondent, *([wave] if with_month else []), *([] if number is None else [number])]
    try:
        check_names(column_names, table.names)
        months = months_of(column_of(table, wave), column=wave) if with_month else np.full(table.n, month, np.int64)
        if month is not None and (row := first_row(months != month)) is not None:
            raise DataError(f"it holds {month_text(int(months[row]))} in row {row + 1}", row=row, column=wave)
        if number is not None:
            _check_numbers(table, number, months)
        return Part(place, table, identifiers.read(table, respondent), months, np.zeros(0, np.int64))
    except DataError as error:
        if not place:
            raise
        raise DataError(f"{place}: {error}", row=error.row, column=error.column, value=error.value) from None


def _check_numbers(table: Table, number: str, months: NDArray[np.int64]) -> None:
    """Raise unless the numbers of waves rise with their months."""
    numbers = column_of(table, number).cast(pl.Float64, strict=False)
    if (row := first_row(numbers.is_null())) is not None:
        raise DataError(f"waves must be numbered; column {number!r}, row {row + 1}, holds no number", row=row)
    pairs = pl.DataFrame({"number": numbers, "month": months}).unique().sort("number", "month")
    place = first_row((pairs["number"].diff() == 0) | (pairs["month"].diff() <= 0))
    if place is not None:
        former, later = pairs.row(place - 1), pairs.row(place)
        one, other = (f"number {value:g} is of {month_text(month)}" for value, month in (later, former))
        advice = f"correct column {number!r} or the months"
        raise DataError(f"waves are out of order: {one}, but {other} ({advice})", column=number)
