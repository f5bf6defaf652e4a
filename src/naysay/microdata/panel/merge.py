"""Waves merged into one row a respondent: what a release of the panel tells about each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.keys.table import check_names
from naysay.microdata.panel.columns import cells_at
from naysay.microdata.panel.months import month_texts
from naysay.microdata.panel.waves import Part, Waves, joined
from naysay.show import Column, Content, Note, Sentence, Table, text


@dataclass(frozen=True, eq=False)
class Merged:
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

    def to_dict(self) -> dict[str, Any]:
        """The counts as one JSON object; no respondent's values."""
        counts = ("respondents", "kept", "background_only", "without_background", "without_any")
        return {
            **{name: getattr(self, name) for name in counts},
            "missing": self.missing.to_dicts(),
            "attendance": self.attendance.to_dicts(),
            "warnings": [str(warning) for warning in self.warnings],
        }

    def content(self) -> list[Content]:
        """Who is kept, what is missing, and attendance by wave; never a respondent's values."""
        aside = (
            (self.background_only, "with background answers only"),
            (self.without_background, "without background"),
            (self.without_any, "without any answer"),
        )
        aside_text = ", ".join(f"{number:,} {what}" for number, what in aside if number)
        waves, present = self.attendance, self.attendance["present"].to_numpy()
        number = _checks.several(waves.height, "wave", "waves")
        moves_text = f"entered after the first wave: {waves['entered'][1:].sum():,}; left: {waves['left'].sum():,}"
        complete = self.missing.filter(pl.col("missing") == 0)["variable"].to_list()
        columns = (Column("variable", words=True), *map(Column, ("missing", "share", "never asked")))
        rows = tuple(
            (name, f"{missing_count:,}", f"{share:.3f}", f"{self.kept - asked_count:,}")
            for name, missing_count, share, asked_count in self.missing.filter(pl.col("missing") > 0).rows()
        )
        return [
            Sentence(f"{self.respondents:,} respondents in {number}, {waves['wave'][0]} to {waves['wave'][-1]}"),
            Sentence(f"kept: {self.kept:,}; set aside: {aside_text or 'nobody'}"),
            Sentence(f"at a time: {int(present.min()):,} to {int(present.max()):,}; {moves_text}"),
            *([Table(columns, rows)] if rows else []),
            *([Sentence(f"complete: {', '.join(complete)}")] if complete else []),
            *(Note(str(warning)) for warning in self.warnings),
        ]

    def __str__(self) -> str:
        return text(self.content())


def merge_waves(
    waves: Any,
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
    names = [name for name in panel_waves.variables if name != number]
    if not names:
        raise DataError(f"there is nothing to merge: the waves hold no column beside {respondent!r} and {wave!r}")
    columns, is_known, was_asked = _latest(panel_waves, names)
    is_kept, *aside = _groups(is_known, names, background)
    table = pl.DataFrame({respondent: panel_waves.respondents, **columns}).filter(pl.Series(is_kept))
    only, without, nothing = (int(mask.sum()) for mask in aside)
    missing_counts, asked_counts = ([int((mask & is_kept).sum()) for mask in which] for which in (~is_known, was_asked))
    shares = [missing_count / table.height for missing_count in missing_counts]
    missing = pl.DataFrame({"variable": names, "missing": missing_counts, "share": shares, "asked": asked_counts})
    return Merged(
        table,
        len(panel_waves.respondents),
        only,
        without,
        nothing,
        missing,
        _attendance(panel_waves),
        panel_waves.warnings,
    )


def _latest(waves: Waves, names: Sequence[str]) -> tuple[dict[str, pl.Series], NDArray[np.bool_], NDArray[np.bool_]]:
    """The most recent known value of each variable, for everybody; whether it is known, and was asked, (names, n)."""
    n = len(waves.respondents)
    orders: dict[tuple[Part, ...], NDArray[np.intp]] = {}
    columns, is_known, was_asked = {}, np.zeros((len(names), n), bool), np.zeros((len(names), n), bool)
    for place, name in enumerate(names):
        parts = waves.variables[name]
        cells, codes, months = waves.cells(name)
        if parts not in orders:
            if len(parts) > 1:
                waves.check_once(parts)
            orders[parts] = np.argsort(months, kind="stable")
        has_cell, month = cells.is_not_null().to_numpy(), months - months.min()
        last = np.full(n, -1)
        rows = orders[parts][has_cell[orders[parts]]]
        last[codes[rows]] = rows  # of several rows of one respondent numpy keeps the last assigned, the newest
        columns[name] = cells_at(cells, last).alias(name)
        is_known[place] = last >= 0
        fielded = np.bincount(month, weights=has_cell) > 0  # months in which somebody answered
        was_asked[place, codes[fielded[month]]] = True
    return columns, is_known, was_asked


def _groups(
    is_known: NDArray[np.bool_], names: Sequence[str], background: Sequence[str] | None
) -> tuple[NDArray[np.bool_], ...]:
    """Who is kept, and who is set aside: with background answers only, without background, without any answer."""
    if isinstance(background, str):
        raise DataError(f"background is a list of columns; got the single text {background!r} (write [{background!r}])")
    background_names = list(names if background is None else background)
    check_names(background_names, names)
    others = [name for name in names if name not in background_names]
    has_background, has_other = (
        np.logical_or.reduce(is_known[[names.index(column) for column in column_group]])
        for column_group in (background_names, others)
    )
    is_kept = has_background & has_other if background is not None else has_background
    if not is_kept.any():
        raise DataError(
            "nobody is left: no respondent has both background variables and another answer; background is"
            f" {_checks.listing_text(background_names)}, other answers are {_checks.listing_text(others) or 'none'}"
        )
    return is_kept, has_background & ~is_kept, has_other & ~has_background, ~has_background & ~has_other


def _attendance(waves: Waves) -> pl.DataFrame:
    """Who is there in each month that has a wave."""
    codes, months = joined(waves.parts)
    months, places = np.unique(months, return_inverse=True)
    rows = np.sort(codes * len(months) + places)
    rows = rows[np.diff(rows, prepend=-1) > 0]
    who, when = rows // len(months), rows % len(months)
    starts = np.flatnonzero(np.diff(who, prepend=-1))
    first, last = when[starts], when[np.append(starts[1:], len(when)) - 1]
    present, entered, ended = (np.bincount(month_places, minlength=len(months)) for month_places in (when, first, last))
    members = np.cumsum(entered) - np.cumsum(ended) + ended
    left_counts, away = np.append(ended[:-1], 0), members - present
    counts = {"present": present, "entered": entered, "left": left_counts, "away": away}
    return pl.DataFrame({"wave": month_texts(months), **counts})
