"""Who answered: one person under one name, however files write it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.keys.table import Table, check_names, first_row
from naysay.microdata.panel.columns import column_of

__all__ = ["Named", "beside", "check", "doubts", "normal", "read", "row_of"]

Named = Sequence[tuple[str, pl.Series]]
"""What messages call each file, and who answered in it."""

_NUMBER = r"^[+-]?\d+(\.0+)?$"
_JOINED = "naysay_respondent"
_ALIKE = "respondents must be named alike in every wave"
_THOUSANDS = r"^[+-]?\d{1,3}([ .,'’]\d{3})+$"


def normal(cells: pl.Series) -> pl.Series:
    """Identifiers without what is surely no part of a name.

    Spaces at the ends, spaces of other kinds (non-breaking, narrow), marks that nobody sees, and the letters of one
    alphabet composed in two ways.
    """
    seen = cells.str.normalize("NFC").str.replace_all(r"\p{Cf}", "").str.replace_all(r"[\s\p{Z}]+", " ")
    seen = seen.str.strip_chars().str.replace(r"^\x{2212}(\d)", "-$1")  # a minus sign of its own kind
    return seen.set(seen == "", None)


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


def check(named: Named, respondent: str) -> None:
    """Raise where one respondent has surely two names, or the files name respondents in two ways."""
    first, kind = named[0][0], named[0][1].dtype
    other = next((place for place, cells in named if cells.dtype != kind), None)
    if other is not None:
        one, two = ("texts", "numbers") if kind == pl.String else ("numbers", "texts")
        held = f"column {respondent!r} holds {one} in {first} and {two} in {other} (make them all texts)"
        raise DataError(f"{_ALIKE}; {held}", column=respondent)
    if kind == pl.String:
        _check_numbers(named, respondent)


def _check_numbers(named: Named, respondent: str) -> None:
    """Raise where texts, as all cells of CSV files are, show that respondents changed their type between waves."""
    everybody = _everybody(named)
    numbers = everybody.filter(everybody.str.contains(_NUMBER))
    if not len(numbers):
        return
    number, pair = _alike(named, numbers, _number(numbers))
    if number:
        ways = "are one number written in two ways, such as 7, 07, +7 and 7.0 (write it alike)"
        raise DataError(f"{_ALIKE}; in column {respondent!r}, {pair} {ways}", column=respondent)
    shares = [(place, float(cells.str.contains(_NUMBER).mean() or 0)) for place, cells in named]  # type: ignore[arg-type]
    whole, none = ([place for place, share in shares if share == wanted] for wanted in (1, 0))
    if whole and none:
        held = f"column {respondent!r} holds numbers in {whole[0]} and other texts in {none[0]}"
        advice = "write them alike, or put a letter before the numbers if both are meant"
        raise DataError(f"{_ALIKE}; {held} ({advice})", column=respondent)


def doubts(named: Named, respondent: str) -> tuple[StatisticalWarning, ...]:
    """Warn of names that differ in capital letters or marks between thousands alone: they may be of one person."""
    if named[0][1].dtype != pl.String:
        return ()
    everybody = _everybody(named)
    plain = pl.DataFrame({"text": everybody}).select(
        pl.when(pl.col("text").str.contains(_THOUSANDS))
        .then(pl.col("text").str.replace_all(r"[ .,'’]", ""))
        .otherwise(pl.col("text").str.to_lowercase())
    )
    number, pair = _alike(named, everybody, _number(plain["text"]))
    warning = (
        f"{number:,} respondents in column {respondent!r} differ from others only in capital letters or in marks"
        f" between thousands, as those in {pair}; they count as different people (write them alike if they are not)"
    )
    return (StatisticalWarning(warning),) if number else ()


def _everybody(named: Named) -> pl.Series:
    return pl.concat([cells for _, cells in named]).unique().sort()


def _number(texts: pl.Series) -> pl.Series:
    """Texts, those that are numbers without leading zeros, a plus sign and .0."""
    return pl.select(
        pl.when(texts.str.contains(_NUMBER))
        .then(texts.str.replace(r"\.0+$", "").str.replace(r"^(-?)\+?0*(\d)", "${1}${2}"))
        .otherwise(texts)
    ).to_series()


def _alike(named: Named, texts: pl.Series, plain: pl.Series) -> tuple[int, str]:
    """How many texts have a plain form that others have too, and the first rows of two of them; never a name."""
    twice = pl.DataFrame({"text": texts, "plain": plain}).filter(plain.is_duplicated()).sort("plain", "text")["text"]
    found = [
        next(row_of(place, int((cells == text).arg_max() or 0)) for place, cells in named if (cells == text).any())
        for text in twice[:2]
    ]
    return len(twice), " and ".join(found)


def row_of(place: str, row: int) -> str:
    """A row as messages call it, counted from 1."""
    return f"row {row + 1}" + (f" of {place}" if place else "")


def beside(table: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """A table of respondents, in its own order, with what was found of each.

    Names are compared as `normal` writes them. Where one side holds numbers and the other texts, as a CSV file does of
    everything, they are compared as numbers.

    Raises
    ------
    DataError
        A table that names respondents differently, or has the new column already.
    """
    respondent, *new = found.columns
    check_names([respondent], table.columns)
    taken = next((name for name in new if name in table.columns), None)
    if taken is not None:
        raise DataError(f"the table has a column {taken!r} already; rename it", column=taken)
    own, theirs = _plain(column_of(Table.of(table), respondent), respondent), found[respondent]
    if (own.dtype == pl.String) != (theirs.dtype == pl.String):
        own, theirs = (_whole(cells, respondent) for cells in (own, theirs))
    right = found.select(theirs.alias(_JOINED), *new)
    left = table.with_columns(own.alias(_JOINED))
    return left.join(right, on=_JOINED, how="left", maintain_order="left").drop(_JOINED)


def _whole(cells: pl.Series, respondent: str) -> pl.Series:
    """Respondents as whole numbers, where all of them are."""
    texts = cells.cast(pl.String)
    numbers = _number(texts).cast(pl.Int64, strict=False)
    wrong = texts.is_not_null() & (numbers.is_null() | numbers.is_duplicated() & ~texts.is_duplicated())
    if (row := first_row(wrong)) is not None:
        other = f"a text that is no number, or one number in two ways, in row {row + 1}"
        held = f"one holds numbers in {respondent!r}, the other {other} (make them all texts, or all numbers)"
        raise DataError(f"respondents must be named alike in the table and in the waves; {held}", column=respondent)
    return numbers
