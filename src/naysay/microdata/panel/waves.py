"""Waves of a panel: rows of respondents in their months, and what they tell when they are merged into one row each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError, StatisticalWarning
from naysay.frames import is_frame
from naysay.microdata.keys.codes import (
    Table,
    check_names,
    engine_of,
    first_row,
    month_text,
    month_texts,
    months_of,
    one_month,
)
from naysay.microdata.keys.variables import check_one_kind, column_of
from naysay.show import Column, Content, Note, Result, Sentence
from naysay.show import Table as ShownTable


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
    def of(cls, waves: object, *, respondent: str, wave: str, number: str | None = None) -> Waves:
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
            _part_of(file_place, table, respondent, wave, month, number)
            for file_place, table, month in _tables(waves, wave)
        ]
        if not file_parts:
            raise DataError("at least one wave is needed; got none")
        named_parts = [(file_part.place, file_part.respondents) for file_part in file_parts]
        everybody, name_warnings = all_respondents(named_parts, respondent)
        places = pl.int_range(len(everybody), eager=True)
        coded_parts = tuple(
            replace(file_part, codes=file_part.respondents.replace_strict(everybody, places).to_numpy())
            for file_part in file_parts
        )
        panel_waves = cls(coded_parts, everybody, (respondent, wave), name_warnings)
        for file_part in coded_parts:
            panel_waves.check_once([file_part])
        return panel_waves

    @cached_property
    def variables(self) -> dict[str, tuple[Part, ...]]:
        """Every variable, and the files that hold it."""
        names = dict.fromkeys(name for part in self.parts for name in part.table.names if name not in self.keys)
        return {name: tuple(part for part in self.parts if name in part.table.names) for name in names}

    def check_once(self, parts: Sequence[Part]) -> None:
        """Raise where somebody has two rows in one wave."""
        respondent_codes, months = joined(parts)
        first_month = int(months.min())
        wave_slots = respondent_codes * (int(months.max()) - first_month + 1) + (months - first_month)
        slot_order = np.argsort(wave_slots, kind="stable")
        repeated_places = np.flatnonzero(np.diff(wave_slots[slot_order]) == 0)
        if len(repeated_places):
            earlier_row, later_row = sorted(slot_order[repeated_places[0] : repeated_places[0] + 2])
            file_place, file_row = _located(parts, later_row)
            both_rows = f"{row_of(*_located(parts, earlier_row))} and {row_of(file_place, file_row)}"
            same_text = (
                f"{both_rows} are the same respondent in {month_text(int(months[earlier_row]))} (keep one of them)"
            )
            raise DataError(f"a respondent answers a wave once; {same_text}", row=file_row, column=self.keys[0])

    def cells(self, name: str) -> tuple[pl.Series, NDArray[np.int64], NDArray[np.int64]]:
        """A variable over all files that hold it: its cells, and whose and of which month they are."""
        check_names([name], list(self.variables))
        file_parts = self.variables[name]
        columns = [column_of(file_part.table, name) for file_part in file_parts]
        column_types = list(dict.fromkeys(column.dtype for column in columns if column.dtype != pl.Null))
        if not all(column_type.is_numeric() for column_type in column_types):
            check_one_kind(column_types, name, " in every wave")
        cells = pl.concat([pl.DataFrame({name: column}) for column in columns], how="vertical_relaxed")[name]
        return cells, *joined(file_parts)

    def sorted_cells(self, name: str) -> tuple[pl.Series, NDArray[np.int64], NDArray[np.int64]]:
        """What is known of a variable, respondent by respondent, and month by month within each."""
        if len(self.variables.get(name, ())) > 1:
            self.check_once(self.variables[name])
        cells, codes, months = self.cells(name)
        is_known = cells.is_not_null().to_numpy()
        cells, codes, months = cells.filter(pl.Series(is_known)), codes[is_known], months[is_known]
        row_order = np.lexsort((months, codes))
        return cells.gather(row_order), codes[row_order], months[row_order]


def joined(parts: Sequence[Part]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Whose each row of several files is, and of which month."""
    return np.concatenate([part.codes for part in parts]), np.concatenate([part.months for part in parts])


def _located(parts: Sequence[Part], row: int) -> tuple[str, int]:
    """The file of a row that is counted over several files, and the row in that file."""
    for file_part in parts:
        if row < len(file_part.codes):
            return file_part.place, int(row)
        row -= len(file_part.codes)
    raise IndexError(row)


def _tables(waves: object, wave: str) -> Iterator[tuple[str, object, int | None]]:
    """Each table with what messages call it, and its month where that is said beside it."""
    if (
        isinstance(waves, Mapping)
        and waves
        and all(isinstance(wave_table, Mapping) or is_frame(wave_table) for wave_table in waves.values())
    ):
        for wave_name, table in waves.items():
            try:
                month = one_month(wave_name)
            except DataError:  # no month, but the table may have a column of months
                if wave not in (
                    table if isinstance(table, Mapping) else nw.from_native(table).collect_schema().names()
                ):
                    raise
                month = None
            yield f"wave {wave_name}" if month is not None else str(wave_name), table, month
    elif isinstance(waves, Sequence) and not isinstance(waves, str):
        for table_number, table in enumerate(waves):
            yield f"table {table_number + 1}" if len(waves) > 1 else "", table, None
    else:
        yield "", waves, None


def _part_of(place: str, data: object, respondent: str, wave: str, month: int | None, number: str | None) -> Part:
    """One file, its respondents not yet numbered among those of all files."""
    is_lazy = engine_of(data) is not None
    table = Table.of(nw.from_native(data).collect(backend="polars") if is_lazy else data)  # type: ignore[call-overload]
    if not table.n:
        raise DataError(f"{place or 'the table'} has no rows")
    with_month = month is None or wave in table.names
    column_names = [respondent, *([wave] if with_month else []), *([] if number is None else [number])]
    try:
        check_names(column_names, table.names)
        months = months_of(column_of(table, wave), column=wave) if with_month else np.full(table.n, month, np.int64)
        if month is not None and (clash_row := first_row(months != month)) is not None:
            raise DataError(
                f"it holds {month_text(int(months[clash_row]))} in row {clash_row + 1}", row=clash_row, column=wave
            )
        if number is not None:
            wave_numbers = column_of(table, number).cast(pl.Float64, strict=False)
            if (row := first_row(wave_numbers.is_null())) is not None:
                raise DataError(f"waves must be numbered; column {number!r}, row {row + 1}, holds no number", row=row)
            # they rise with the months
            pairs = pl.DataFrame({"number": wave_numbers, "month": months}).unique().sort("number", "month")
            fault_place = first_row((pairs["number"].diff() == 0) | (pairs["month"].diff() <= 0))
            if fault_place is not None:
                later_text, former_text = (
                    f"number {wave_number:g} is of {month_text(pair_month)}"
                    for wave_number, pair_month in (pairs.row(fault_place), pairs.row(fault_place - 1))
                )
                advice = f"correct column {number!r} or the months"
                raise DataError(f"waves are out of order: {later_text}, but {former_text} ({advice})", column=number)
        people = _plain_respondents(column_of(table, respondent), respondent)
        if (row := first_row(people.is_null())) is not None:
            raise DataError(f"every row needs its respondent; column {respondent!r}, row {row + 1}, is empty", row=row)
        return Part(place, table, people, months, np.zeros(0, np.int64))
    except DataError as error:
        if not place:
            raise
        raise DataError(f"{place}: {error}", row=error.row, column=error.column, value=error.value) from None


def cells_at(cells: pl.Series, places: NDArray[np.integer]) -> pl.Series:
    """The cells at these places, null where a place is -1."""
    cell_places = pl.Series(places, dtype=pl.Int64)
    return cells.gather(cell_places.set(cell_places < 0, None))  # polars would count -1 from the end


Named = Sequence[tuple[str, pl.Series]]
"""What messages call each file, and who answered in it."""

_NUMBER = r"^[+-]?\d+(\.0+)?$"
_JOINED = "naysay_respondent"
_ALIKE = "respondents must be named alike in every wave"
_THOUSANDS = r"^[+-]?\d{1,3}([ .,'’]\d{3})+$"


def normal(cells: pl.Series) -> pl.Series:
    """Identifiers without characters that are surely no part of a name.

    Spaces at the ends and invisible marks go. Runs of spaces of any kind (non-breaking, narrow) become one plain space.
    A letter that Unicode composes in two ways is written in one.
    """
    plain_texts = cells.str.normalize("NFC").str.replace_all(r"\p{Cf}", "").str.replace_all(r"[\s\p{Z}]+", " ")
    # U+2212 is the typographic minus sign
    plain_texts = plain_texts.str.strip_chars().str.replace(r"^\x{2212}(\d)", "-$1")
    return plain_texts.set(plain_texts == "", None)


def _plain_respondents(cells: pl.Series, respondent: str) -> pl.Series:
    """Identifiers of a column as texts or whole numbers; null where there is none."""
    if cells.dtype == pl.String:
        return normal(cells)
    if cells.dtype.is_float():
        if (row := first_row((cells != cells.round(0)) | (cells.abs() > 2**53))) is not None:
            raise DataError(f"respondents are named by whole numbers or texts; row {row + 1} has {cells[row]}", row=row)
        return cells.cast(pl.Int64)
    if not cells.dtype.is_integer() and cells.dtype != pl.Null:
        raise DataError(f"respondents are named by whole numbers or texts; column {respondent!r} holds {cells.dtype}")
    if int(cells.max() or 0) >= 2**63:  # type: ignore[arg-type]
        raise DataError(f"column {respondent!r} holds numbers beyond 63 bits; make them texts", column=respondent)
    return cells.cast(pl.Int64)


def all_respondents(named: Named, respondent: str) -> tuple[pl.Series, tuple[StatisticalWarning, ...]]:
    """Everybody, each once and sorted, and a warning of names that may be of one person.

    Names may be of one person if they differ in capital letters or in marks between thousands alone.

    Raises
    ------
    DataError
        One respondent surely has two names, or the files name respondents in two ways.
    """
    first_place, name_type = named[0][0], named[0][1].dtype
    other_place = next((file_place for file_place, cells in named if cells.dtype != name_type), None)
    if other_place is not None:
        first_kind, other_kind = ("texts", "numbers") if name_type == pl.String else ("numbers", "texts")
        problem = (
            f"column {respondent!r} holds {first_kind} in {first_place} and {other_kind} in {other_place} "
            "(make them all texts)"
        )
        raise DataError(f"{_ALIKE}; {problem}", column=respondent)
    all_names = pl.concat([cells for _, cells in named]).unique().sort()
    if name_type != pl.String:
        return all_names, ()
    # texts, as all cells of CSV files are, may show that respondents changed their type between waves
    number_names = all_names.filter(all_names.str.contains(_NUMBER))
    alike_count, row_pair = _count_alike(named, number_names, _plain_numbers(number_names))
    if alike_count:
        ways_text = "are one number written in two ways, such as 7, 07, +7 and 7.0 (write it alike)"
        raise DataError(f"{_ALIKE}; in column {respondent!r}, {row_pair} {ways_text}", column=respondent)
    number_flags = [(file_place, cells.str.contains(_NUMBER)) for file_place, cells in named]
    number_files = [file_place for file_place, cells in number_flags if cells.all() and len(cells)]
    text_files = [file_place for file_place, cells in number_flags if not cells.any()]
    if number_files and text_files:
        problem = f"column {respondent!r} holds numbers in {number_files[0]} and other texts in {text_files[0]}"
        advice = "write them alike, or put a letter before the numbers if both are meant"
        raise DataError(f"{_ALIKE}; {problem} ({advice})", column=respondent)
    has_marks = all_names.str.contains(_THOUSANDS)
    plain_names = all_names.str.to_lowercase().zip_with(~has_marks, all_names.str.replace_all(r"[ .,'’]", ""))
    alike_count, row_pair = _count_alike(named, all_names, _plain_numbers(plain_names))
    warning = (
        f"{alike_count:,} respondents in column {respondent!r} differ from others only in capital letters or in marks"
        f" between thousands, as those in {row_pair}; they count as different people (write them alike if they are not)"
    )
    return all_names, (StatisticalWarning(warning),) if alike_count else ()


def _plain_numbers(texts: pl.Series) -> pl.Series:
    """Texts, those that are numbers without leading zeros, a plus sign and .0."""
    plain_texts = texts.str.replace(r"\.0+$", "").str.replace(r"^(-?)\+?0*(\d)", "${1}${2}")
    return plain_texts.zip_with(texts.str.contains(_NUMBER), texts)


def _count_alike(named: Named, texts: pl.Series, plain: pl.Series) -> tuple[int, str]:
    """How many texts have a plain form that others have too, and the first rows of two of them; never a name."""
    repeated_texts = (
        pl.DataFrame({"text": texts, "plain": plain}).filter(plain.is_duplicated()).sort("plain", "text")["text"]
    )
    rows_by_text = (
        ((file_place, first_row(cells == text)) for file_place, cells in named) for text in repeated_texts[:2]
    )
    row_texts = (
        next(row_of(file_place, row) for file_place, row in file_rows if row is not None) for file_rows in rows_by_text
    )
    return len(repeated_texts), " and ".join(row_texts)


def row_of(place: str, row: int) -> str:
    """A row as messages call it, counted from 1."""
    return f"row {row + 1}" + (f" of {place}" if place else "")


def beside(table: pl.DataFrame, respondent_facts: pl.DataFrame) -> pl.DataFrame:
    """A table of respondents, in its own order, with what was found of each.

    Names are compared as `normal` writes them. Where one side holds numbers and the other texts, as a CSV file does of
    everything, texts that are numbers are compared as numbers; other texts name nobody on the other side.

    Raises
    ------
    DataError
        A table that names nobody of the waves, writes one number in two ways, or has the new column already.
    """
    respondent, *fact_columns = respondent_facts.columns
    check_names([respondent], table.columns)
    clashing_name = next((fact_column for fact_column in fact_columns if fact_column in table.columns), None)
    if clashing_name is not None:
        raise DataError(f"the table has a column {clashing_name!r} already; rename it", column=clashing_name)
    table_respondents = _plain_respondents(column_of(Table.of(table), respondent), respondent)
    wave_respondents = respondent_facts[respondent]
    if (table_respondents.dtype == pl.String) != (wave_respondents.dtype == pl.String):
        table_respondents, wave_respondents = (
            _numbers_in_one_way(cells, respondent) for cells in (table_respondents, wave_respondents)
        )
        if not table_respondents.is_in(wave_respondents.implode()).any():
            problem = f"one holds numbers in {respondent!r}, the other texts, none of which is one of these numbers"
            requirement = f"respondents must be named alike in the table and in the waves; {problem}"
            raise DataError(f"{requirement} (write both files from the same waves)", column=respondent)
    right_table = respondent_facts.select(wave_respondents.alias(_JOINED), *fact_columns)
    left_table = table.with_columns(table_respondents.alias(_JOINED))
    return left_table.join(right_table, on=_JOINED, how="left", maintain_order="left").drop(_JOINED)


def _numbers_in_one_way(cells: pl.Series, respondent: str) -> pl.Series:
    """Respondents as texts in which each number is written in one way only."""
    cell_texts = cells.cast(pl.String)
    number_texts = _plain_numbers(cell_texts)
    is_wrong = cell_texts.is_not_null() & number_texts.is_duplicated() & ~cell_texts.is_duplicated()
    if (row := first_row(is_wrong)) is not None:
        problem = f"one number in {respondent!r} is written in two ways, one of them in row {row + 1}"
        advice = "write every number in one way, or make all of them texts in both files"
        raise DataError(f"respondents must be named alike in the table and in the waves; {problem} ({advice})")
    return number_texts


@dataclass(frozen=True, eq=False)
class Merged(Result):
    """A panel as one table, and what became of its respondents.

    Parameters
    ----------
    table : pl.DataFrame
        One row for each respondent who is kept, sorted; the most recent known value of each variable.
    respondents : int
        Everybody who has a row in some wave.
    background_only : int
        Respondents set aside because they answered nothing beside the background variables.
    without_background : int
        Respondents set aside because they only answered other questions.
    without_any : int
        Respondents set aside of whom nothing is known.
    missing : pl.DataFrame
        For each variable, over the kept: `missing`, how many have no value; their `share`; and `asked`, how many have a
        row where it was fielded. The others were never asked, for example in a module for a subsample.
    attendance : pl.DataFrame
        For each wave, of everybody: `present`; `entered`, there for the first time; `left`, there for the last time
        before the last wave; `away`, without a row though there before and after.
    warnings : tuple of StatisticalWarning
        About respondents who may be one person under two spellings.
    """

    table: pl.DataFrame
    respondents: int
    background_only: int
    without_background: int
    without_any: int
    missing: pl.DataFrame
    attendance: pl.DataFrame
    warnings: tuple[StatisticalWarning, ...] = ()

    @property
    def kept(self) -> int:
        """Respondents in the table."""
        return self.table.height

    def numbers(self) -> dict[str, object]:
        """The counts; no respondent's values."""
        counts = ("respondents", "kept", "background_only", "without_background", "without_any")
        return {
            **{name: getattr(self, name) for name in counts},
            "missing": self.missing.to_dicts(),
            "attendance": self.attendance.to_dicts(),
            "warnings": [str(warning) for warning in self.warnings],
        }

    def parts(self) -> list[Content]:
        """Who is kept, what is missing, and attendance by wave; never a respondent's values."""
        aside_groups = (
            (self.background_only, "with background answers only"),
            (self.without_background, "without background"),
            (self.without_any, "without any answer"),
        )
        aside_text = ", ".join(f"{group_size:,} {group_text}" for group_size, group_text in aside_groups if group_size)
        wave_table, present_counts = self.attendance, self.attendance["present"].to_numpy()
        waves_text = _checks.several(wave_table.height, "wave", "waves")
        moves_text = (
            f"entered after the first wave: {wave_table['entered'][1:].sum():,}; left: {wave_table['left'].sum():,}"
        )
        complete_variables = self.missing.filter(pl.col("missing") == 0)["variable"].to_list()
        table_columns = (Column("variable", words=True), *map(Column, ("missing", "share", "never asked")))
        table_rows = tuple(
            (variable_name, f"{missing_count:,}", f"{share:.3f}", f"{self.kept - asked_count:,}")
            for variable_name, missing_count, share, asked_count in self.missing.filter(pl.col("missing") > 0).rows()
        )
        return [
            Sentence(
                f"{self.respondents:,} respondents in {waves_text}, {wave_table['wave'][0]} to {wave_table['wave'][-1]}"
            ),
            Sentence(f"kept: {self.kept:,}; set aside: {aside_text or 'nobody'}"),
            Sentence(f"at a time: {int(present_counts.min()):,} to {int(present_counts.max()):,}; {moves_text}"),
            *([ShownTable(table_columns, table_rows)] if table_rows else []),
            *([Sentence(f"complete: {', '.join(complete_variables)}")] if complete_variables else []),
            *(Note(str(warning)) for warning in self.warnings),
        ]


def merge_waves(
    waves: object,
    *,
    respondent: str = "respondent",
    wave: str = "wave",
    background: Sequence[str] | None = None,
    number: str | None = None,
) -> Merged:
    """One row for each respondent of a panel, with the most recent known value of every variable.

    The last wave that knows a variable counts. So somebody who left keeps what was known then, and a question that was
    skipped once keeps its older answer. Three groups are set aside and counted: respondents of whom only the background
    is known (members of the household, by proxy), those without any background, and those without any answer. A release
    would tell an intruder nothing new about them.

    Parameters
    ----------
    waves : dataframe, mapping of columns, sequence of these, or {month: dataframe}
        One row a respondent and wave: one long table, one table a wave, or tables of background and modules, in any
        order; any dataframe. None, NaN, null and the empty text are unknown; "not applicable" is a value.
    respondent, wave : str
        The columns that hold who answered, and in which month: 2009-03, 200903, or a date.
    background : sequence of str, optional
        The background variables; all others are answers to questionnaires. By default only respondents of whom nothing
        is known are set aside.
    number : str, optional
        A column that numbers the waves; checked to rise with the months, and left out of the table.

    Raises
    ------
    DataError
        A respondent twice in a wave; rows without respondent or month; respondents that are numbers in one wave and
        texts in another; wave numbers that run against the months; a variable of two kinds; nobody left to keep.

    Examples
    --------
    >>> from naysay.microdata import panel
    >>> waves = {
    ...     "2009-01": {"respondent": [1, 2, 3], "job": ["clerk", "nurse", None], "sport": [None, "judo", None]},
    ...     "2009-02": {"respondent": [1, 2], "job": ["baker", None], "sport": ["none", None]},
    ... }
    >>> merged = panel.merge_waves(waves, background=["job"])
    >>> merged.table.rows()
    [(1, 'baker', 'none'), (2, 'nurse', 'judo')]
    >>> merged.respondents, merged.kept, merged.without_any
    (3, 2, 1)

    Source: Mulder, section 3.1 and table 1; METHODS section 5, *Panels*.
    """
    panel_waves = Waves.of(waves, respondent=respondent, wave=wave, number=number)
    variable_names = [variable_name for variable_name in panel_waves.variables if variable_name != number]
    if not variable_names:
        raise DataError(f"there is nothing to merge: the waves hold no column beside {respondent!r} and {wave!r}")
    latest_cells, is_known, was_asked = _latest(panel_waves, variable_names)
    is_kept, *aside_masks = _groups(is_known, variable_names, background)
    table = pl.DataFrame({respondent: panel_waves.respondents, **latest_cells}).filter(pl.Series(is_kept))
    background_only, without_background, without_any = (int(mask.sum()) for mask in aside_masks)
    missing_counts, asked_counts = (
        [int((mask & is_kept).sum()) for mask in variable_masks] for variable_masks in (~is_known, was_asked)
    )
    missing_shares = [missing_count / table.height for missing_count in missing_counts]
    missing_table = pl.DataFrame(
        {"variable": variable_names, "missing": missing_counts, "share": missing_shares, "asked": asked_counts}
    )
    return Merged(
        table,
        len(panel_waves.respondents),
        background_only,
        without_background,
        without_any,
        missing_table,
        _attendance(panel_waves),
        panel_waves.warnings,
    )


def _latest(waves: Waves, names: Sequence[str]) -> tuple[dict[str, pl.Series], NDArray[np.bool_], NDArray[np.bool_]]:
    """The most recent known value of each variable, for everybody; whether it is known, and was asked, (names, n)."""
    n = len(waves.respondents)
    row_orders: dict[tuple[Part, ...], NDArray[np.intp]] = {}
    latest_cells, is_known, was_asked = {}, np.zeros((len(names), n), bool), np.zeros((len(names), n), bool)
    for variable_number, variable_name in enumerate(names):
        file_parts = waves.variables[variable_name]
        cells, respondent_codes, months = waves.cells(variable_name)
        if file_parts not in row_orders:
            if len(file_parts) > 1:
                waves.check_once(file_parts)
            row_orders[file_parts] = np.argsort(months, kind="stable")
        has_cell, month_numbers = cells.is_not_null().to_numpy(), months - months.min()
        last_rows = np.full(n, -1)
        known_rows = row_orders[file_parts][has_cell[row_orders[file_parts]]]
        # of several rows of one respondent numpy keeps the last assigned, the newest
        last_rows[respondent_codes[known_rows]] = known_rows
        latest_cells[variable_name] = cells_at(cells, last_rows).alias(variable_name)
        is_known[variable_number] = last_rows >= 0
        was_fielded = np.bincount(month_numbers, weights=has_cell) > 0  # months in which somebody answered
        was_asked[variable_number, respondent_codes[was_fielded[month_numbers]]] = True
    return latest_cells, is_known, was_asked


def _groups(
    is_known: NDArray[np.bool_], names: Sequence[str], background: Sequence[str] | None
) -> tuple[NDArray[np.bool_], ...]:
    """Who is kept, and who is set aside: with background answers only, without background, without any answer."""
    if isinstance(background, str):
        raise DataError(f"background is a list of columns; got the single text {background!r} (write [{background!r}])")
    background_names = list(names if background is None else background)
    check_names(background_names, names)
    other_names = [name for name in names if name not in background_names]
    has_background, has_other = (
        np.logical_or.reduce(is_known[[names.index(variable_name) for variable_name in column_group]])
        for column_group in (background_names, other_names)
    )
    is_kept = has_background & has_other if background is not None else has_background
    if not is_kept.any():
        raise DataError(
            "nobody is left: no respondent has both background variables and another answer; background is"
            f" {_checks.listing_text(background_names)},"
            f" other answers are {_checks.listing_text(other_names) or 'none'}"
        )
    return is_kept, has_background & ~is_kept, has_other & ~has_background, ~has_background & ~has_other


def _attendance(waves: Waves) -> pl.DataFrame:
    """Who is there in each month that has a wave."""
    respondent_codes, months = joined(waves.parts)
    months, month_numbers = np.unique(months, return_inverse=True)
    attended_slots = np.sort(respondent_codes * len(months) + month_numbers)
    attended_slots = attended_slots[np.diff(attended_slots, prepend=-1) > 0]
    slot_owners, slot_months = attended_slots // len(months), attended_slots % len(months)
    first_slots = np.flatnonzero(np.diff(slot_owners, prepend=-1))
    first_months, last_months = slot_months[first_slots], slot_months[np.append(first_slots[1:], len(slot_months)) - 1]
    present_counts, entered_counts, ended_counts = (
        np.bincount(month_places, minlength=len(months)) for month_places in (slot_months, first_months, last_months)
    )
    member_counts = np.cumsum(entered_counts) - np.cumsum(ended_counts) + ended_counts
    left_counts, away_counts = np.append(ended_counts[:-1], 0), member_counts - present_counts
    count_columns = {"present": present_counts, "entered": entered_counts, "left": left_counts, "away": away_counts}
    return pl.DataFrame({"wave": month_texts(months), **count_columns})
