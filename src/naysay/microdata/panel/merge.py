"""Waves merged into one row a respondent: what a release of the panel tells about each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.keys.codes import check_names, month_texts
from naysay.microdata.panel.waves import Part, Waves, cells_at, joined
from naysay.show import Column, Content, Note, Result, Sentence, Table


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
            *([Table(table_columns, table_rows)] if table_rows else []),
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
        last_rows[respondent_codes[known_rows]] = (
            known_rows  # of several rows of one respondent numpy keeps the last assigned, the newest
        )
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
