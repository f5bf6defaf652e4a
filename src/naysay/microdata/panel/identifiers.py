"""Who answered: one person under one name, however files write it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.keys.table import Table, check_names, first_row
from naysay.microdata.panel.columns import column_of

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
    plain_texts = plain_texts.str.strip_chars().str.replace(
        r"^\x{2212}(\d)", "-$1"
    )  # U+2212, the typographic minus sign
    return plain_texts.set(plain_texts == "", None)


def read(table: Table, respondent: str) -> pl.Series:
    """Who answered, as texts or whole numbers."""
    cells = _plain(column_of(table, respondent), respondent)
    if (row := first_row(cells.is_null())) is not None:
        raise DataError(f"every row needs its respondent; column {respondent!r}, row {row + 1}, is empty", row=row)
    return cells


def _plain(cells: pl.Series, respondent: str) -> pl.Series:
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


def everybody(named: Named, respondent: str) -> tuple[pl.Series, tuple[StatisticalWarning, ...]]:
    """Everybody, each once and sorted, and a warning of names that may be of one person.

    Names may be of one person if they differ in capital letters or in marks between thousands alone.

    Raises
    ------
    DataError
        One respondent surely has two names, or the files name respondents in two ways.
    """
    first, kind = named[0][0], named[0][1].dtype
    other = next((place for place, cells in named if cells.dtype != kind), None)
    if other is not None:
        one, two = ("texts", "numbers") if kind == pl.String else ("numbers", "texts")
        problem = f"column {respondent!r} holds {one} in {first} and {two} in {other} (make them all texts)"
        raise DataError(f"{_ALIKE}; {problem}", column=respondent)
    every = pl.concat([cells for _, cells in named]).unique().sort()
    if kind != pl.String:
        return every, ()
    _check_numbers(named, every.filter(every.str.contains(_NUMBER)), respondent)
    marked = every.str.contains(_THOUSANDS)
    plain = every.str.to_lowercase().zip_with(~marked, every.str.replace_all(r"[ .,'’]", ""))
    number, pair = _count_alike(named, every, _number(plain))
    warning = (
        f"{number:,} respondents in column {respondent!r} differ from others only in capital letters or in marks"
        f" between thousands, as those in {pair}; they count as different people (write them alike if they are not)"
    )
    return every, (StatisticalWarning(warning),) if number else ()


def _check_numbers(named: Named, numbers: pl.Series, respondent: str) -> None:
    """Raise where texts, as all cells of CSV files are, show that respondents changed their type between waves."""
    number, pair = _count_alike(named, numbers, _number(numbers))
    if number:
        ways = "are one number written in two ways, such as 7, 07, +7 and 7.0 (write it alike)"
        raise DataError(f"{_ALIKE}; in column {respondent!r}, {pair} {ways}", column=respondent)
    number_flags = [(place, cells.str.contains(_NUMBER)) for place, cells in named]
    number_files = [place for place, cells in number_flags if cells.all() and len(cells)]
    text_files = [place for place, cells in number_flags if not cells.any()]
    if number_files and text_files:
        problem = f"column {respondent!r} holds numbers in {number_files[0]} and other texts in {text_files[0]}"
        advice = "write them alike, or put a letter before the numbers if both are meant"
        raise DataError(f"{_ALIKE}; {problem} ({advice})", column=respondent)


def _number(texts: pl.Series) -> pl.Series:
    """Texts, those that are numbers without leading zeros, a plus sign and .0."""
    plain = texts.str.replace(r"\.0+$", "").str.replace(r"^(-?)\+?0*(\d)", "${1}${2}")
    return plain.zip_with(texts.str.contains(_NUMBER), texts)


def _count_alike(named: Named, texts: pl.Series, plain: pl.Series) -> tuple[int, str]:
    """How many texts have a plain form that others have too, and the first rows of two of them; never a name."""
    twice = pl.DataFrame({"text": texts, "plain": plain}).filter(plain.is_duplicated()).sort("plain", "text")["text"]
    rows_by_text = (((place, first_row(cells == text)) for place, cells in named) for text in twice[:2])
    rows = (next(row_of(place, row) for place, row in file_rows if row is not None) for file_rows in rows_by_text)
    return len(twice), " and ".join(rows)


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
    respondent, *new = respondent_facts.columns
    check_names([respondent], table.columns)
    clashing_name = next((name for name in new if name in table.columns), None)
    if clashing_name is not None:
        raise DataError(f"the table has a column {clashing_name!r} already; rename it", column=clashing_name)
    table_respondents, wave_respondents = (
        _plain(column_of(Table.of(table), respondent), respondent),
        respondent_facts[respondent],
    )
    if (table_respondents.dtype == pl.String) != (wave_respondents.dtype == pl.String):
        table_respondents, wave_respondents = (
            _numbers_in_one_way(cells, respondent) for cells in (table_respondents, wave_respondents)
        )
        if not table_respondents.is_in(wave_respondents.implode()).any():
            problem = f"one holds numbers in {respondent!r}, the other texts, none of which is one of these numbers"
            requirement = f"respondents must be named alike in the table and in the waves; {problem}"
            raise DataError(f"{requirement} (write both files from the same waves)", column=respondent)
    right_table = respondent_facts.select(wave_respondents.alias(_JOINED), *new)
    left_table = table.with_columns(table_respondents.alias(_JOINED))
    return left_table.join(right_table, on=_JOINED, how="left", maintain_order="left").drop(_JOINED)


def _numbers_in_one_way(cells: pl.Series, respondent: str) -> pl.Series:
    """Respondents as texts in which each number is written in one way only."""
    texts = cells.cast(pl.String)
    numbers = _number(texts)
    wrong = texts.is_not_null() & numbers.is_duplicated() & ~texts.is_duplicated()
    if (row := first_row(wrong)) is not None:
        problem = f"one number in {respondent!r} is written in two ways, one of them in row {row + 1}"
        advice = "write every number in one way, or make all of them texts in both files"
        raise DataError(f"respondents must be named alike in the table and in the waves; {problem} ({advice})")
    return numbers
