"""The month of birth, which a panel gives away although nobody was asked for it: ages change on birthdays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.keys.table import first_row
from naysay.microdata.panel.identifiers import beside
from naysay.microdata.panel.months import each_once, month_texts
from naysay.microdata.panel.waves import Waves
from naysay.show import Column, Content, Note, Sentence, Table, text

YEAR = 12
EVERY = (1 << YEAR) - 1
_OLDEST = 150

_PROBLEMS = FALLS, JUMPS, RESTS, NONE_FITS = (
    "age falls",
    "age rises by more than the months between allow",
    "age rises by less than the months between allow",
    "no month fits all ages",
)


@dataclass(frozen=True, eq=False)
class Birthdays:
    """Months of birth, as far as changes of age tell them.

    Parameters
    ----------
    table : pl.DataFrame
        One row for each respondent of the waves, sorted; `month_of_birth` is a list of candidates, 1 to 12, in the
        order of the calendar from the last wave with the old age; null where nothing is known.
    contradictions : pl.DataFrame
        Respondents whose ages contradict each other: the `problem`, and the `waves` with their `ages`. Their month is
        missing.
    warnings : tuple of StatisticalWarning
        About respondents who may be one person under two spellings.
    """

    table: pl.DataFrame
    contradictions: pl.DataFrame
    warnings: tuple[StatisticalWarning, ...] = ()

    @property
    def candidates(self) -> dict[int, int]:
        """How many respondents have one candidate, two, …; 0 counts those whose month is missing."""
        sizes = self.table["month_of_birth"].list.len().fill_null(0).value_counts(name="n").sort("month_of_birth")
        return {int(size): int(n) for size, n in sizes.iter_rows()}

    @property
    def _problems(self) -> dict[str, int]:
        return dict(self.contradictions["problem"].value_counts(sort=True).iter_rows())

    def beside(self, table: pl.DataFrame) -> pl.DataFrame:
        """A table of respondents with their months of birth as a further column, in its own order."""
        return beside(table, self.table)

    def to_dict(self) -> dict[str, Any]:
        """The counts as one JSON object; no respondent's values."""
        return {
            "respondents": self.table.height,
            "candidates": {str(size): n for size, n in self.candidates.items()},
            "contradictions": self._problems,
            "warnings": [str(warning) for warning in self.warnings],
        }

    def content(self) -> list[Content]:
        """How many months remain for how many respondents, and what contradicts itself; never a respondent's values."""
        n = max(self.table.height, 1)
        columns = (Column("month of birth", words=True), Column("respondents"), Column("share"))
        names = {
            size: _checks.several(size, "candidate", "candidates") if size else "missing" for size in self.candidates
        }
        rows = tuple((names[size], f"{number:,}", f"{number / n:.1%}") for size, number in self.candidates.items())
        problems = {what: _checks.several(n, "respondent", "respondents") for what, n in self._problems.items()}
        return [
            Table(columns, rows),
            *(
                Sentence(f"contradiction, taken as missing: {problem}: {people}")
                for problem, people in problems.items()
            ),
            *(Note(str(warning)) for warning in self.warnings),
        ]

    def __str__(self) -> str:
        return text(self.content())


def month_of_birth(
    waves: Any,
    *,
    age: str = "age",
    respondent: str = "respondent",
    wave: str = "wave",
    bounds: bool = False,
    year_of_birth: str | None = None,
) -> Birthdays:
    """The months in which each respondent may be born, from the waves between which their age changed.

    When the age changes from one wave to the next, the birthday lies in the months from the last wave with the old age
    to the first wave with the new one. Both months count, because the day of the interview is not known. The interval
    may pass the turn of the year. Candidates are the months that all changes allow. A missed wave makes the interval
    longer; a gap of eleven months or more tells nothing. Without a change, or where twelve months remain, nothing is
    known.

    Parameters
    ----------
    waves : dataframe, mapping of columns, sequence of these, or {month: dataframe}
        See `merge_waves`.
    age : str
        The column of ages in completed years.
    respondent, wave : str
    bounds : bool
        Use every age, not only changes. Somebody aged a in month w has had birthday a by then, and birthday a + 1 is
        still to come. Two waves a year apart with the same age tell the month; the year of birth may tell it, too.
    year_of_birth : str, optional
        The column of years of birth, with `bounds`.

    Raises
    ------
    DataError
        Ages that are not whole or not between 0 and 150, `year_of_birth` without `bounds`, and what `merge_waves`
        raises. Ages that fall, jump or contradict each other are no error: they are reported, and their month is
        missing.

    Examples
    --------
    >>> from naysay.microdata import panel
    >>> waves = {
    ...     "respondent": ["A", "A", "A", "A", "C", "C"],
    ...     "wave": ["2009-02", "2009-03", "2010-02", "2010-03", "2009-02", "2009-08"],
    ...     "age": [40, 41, 41, 42, 30, 30],
    ... }
    >>> panel.month_of_birth(waves).table.rows()
    [('A', [2, 3]), ('C', None)]

    Source: METHODS section 5, *Panels*; respondents A, B and C of Mulder, section 3.1.
    """
    if year_of_birth is not None and not bounds:
        raise DataError("the year of birth is used with bounds=True only; leave year_of_birth out, or ask for bounds")
    panel_waves = Waves.of(waves, respondent=respondent, wave=wave)
    ages = _Ages.of(panel_waves, age)
    possible, first = ages.by_bounds(panel_waves, year_of_birth)
    masks, start = (possible, first) if bounds else ages.by_changes()
    problem = ages.problems(possible)
    table = pl.DataFrame({respondent: panel_waves.respondents, "month_of_birth": _lists(masks, start, problem >= 0)})
    return Birthdays(table, _contradictions(panel_waves, ages, problem), panel_waves.warnings)


def _whole_numbers(cells: pl.Series, name: str, least: int, most: int) -> NDArray[np.int64]:
    """Known cells as whole numbers, also where a file holds them as text."""
    numbers = cells.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() | (numbers != numbers.round(0)) | ~numbers.is_between(least, most)).fill_null(value=True)
    if (row := first_row(wrong)) is not None:
        value = cells[row]
        problem = f"it holds {str(value)[:40]!r} (leave cells empty where nothing is known)"
        message = f"column {name!r} must hold whole numbers from {least} to {most}; {problem}"
        raise DataError(message, column=name, value=value)
    return numbers.cast(pl.Int64).to_numpy()


@dataclass(frozen=True, eq=False)
class _Ages:
    """Known ages, respondent by respondent and month by month.

    Parameters
    ----------
    n : int
        Respondents.
    age, codes, months : (known,) int
        Each age, whose it is, and of which month.
    follows : (known - 1,) bool
        Whether an age is followed by one of the same respondent.
    """

    n: int
    age: NDArray[np.int64]
    codes: NDArray[np.int64]
    months: NDArray[np.int64]
    follows: NDArray[np.bool_]

    @classmethod
    def of(cls, waves: Waves, name: str) -> _Ages:
        cells, codes, months = waves.sorted_cells(name)
        age = _whole_numbers(cells, name, 0, _OLDEST)
        return cls(len(waves.respondents), age, codes, months, np.diff(codes) == 0)

    @property
    def rises(self) -> tuple[NDArray[Any], ...]:
        """Of waves that follow one another: whose they are, the months between them, and by how much the age rises."""
        return tuple(values[self.follows] for values in (self.codes[1:], np.diff(self.months), np.diff(self.age)))

    def by_changes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each respondent a bit for every month that all changes allow, and the month to list them from."""
        codes, between, rise = self.rises
        tells = (rise != 0) & (between + 1 < YEAR)
        month = self.months[:-1][self.follows][tells] % YEAR
        masks, start = np.full(self.n, EVERY), np.zeros(self.n, np.int64)
        np.bitwise_and.at(masks, codes[tells], _around(month, between[tells] + 1))
        start[codes[tells]] = month  # numpy keeps the last assigned: the most recent change
        return masks, start

    def by_bounds(self, waves: Waves, year_of_birth: str | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The same from every age: born from 12 a + 12 to 12 a months before a wave in which the age was a."""
        most = np.iinfo(np.int64).max
        latest, earliest = np.full(self.n, most), np.full(self.n, -most)
        born = self.months - YEAR * self.age
        np.minimum.at(latest, self.codes, born)
        np.maximum.at(earliest, self.codes, born - YEAR)
        if year_of_birth is not None:
            cells, codes, _ = waves.sorted_cells(year_of_birth)
            years = _whole_numbers(cells, year_of_birth, 1_000, 9_999)
            np.minimum.at(latest, codes, YEAR * years + YEAR - 1)
            np.maximum.at(earliest, codes, YEAR * years)
        has_ages = latest < most
        start = np.where(has_ages, earliest, 0)
        length = np.clip(np.where(has_ages, latest, YEAR) - start + 1, 0, YEAR)
        return _around(start % YEAR, length), start % YEAR

    def problems(self, possible: NDArray[np.int64]) -> NDArray[np.int64]:
        """What contradicts itself in each respondent's ages, as a place in `_PROBLEMS`; -1 where nothing does.

        Judged by every age, not only by pairs of waves: 40, 41, 42 in three months may each follow the one before, but
        not all together. The months that all ages allow are among those that all changes allow.
        """
        codes, between, rise = self.rises
        slack = between - YEAR * rise
        problem_places = np.full(self.n, -1)
        problem_places[possible == 0] = _PROBLEMS.index(NONE_FITS)
        for problem, wrong in ((RESTS, slack > YEAR), (JUMPS, slack < -YEAR), (FALLS, rise < 0)):
            problem_places[codes[wrong]] = _PROBLEMS.index(problem)
        return problem_places


def _around(month: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """A bit for each of `length` months from `month` on; January follows December."""
    bits = (1 << length) - 1
    return ((bits << month) | (bits >> (YEAR - month))) & EVERY


def _lists(masks: NDArray[np.int64], start: NDArray[np.int64], wrong: NDArray[np.bool_]) -> pl.Series:
    """The months of each mask, in the order of the calendar from a month on."""

    def months(pair: int) -> list[int] | None:
        mask, first = divmod(pair, YEAR)
        return [(first + step) % YEAR + 1 for step in range(YEAR) if mask >> (first + step) % YEAR & 1] or None

    is_known = (masks > 0) & (masks < EVERY) & ~wrong
    return each_once(np.where(is_known, masks * YEAR + start, 0), months, pl.List(pl.Int64))


def _contradictions(waves: Waves, ages: _Ages, problem: NDArray[np.int64]) -> pl.DataFrame:
    """Respondents whose ages contradict each other, with every age, wave by wave."""
    wrong = problem[ages.codes] >= 0
    wrong_codes = pl.DataFrame({"code": np.flatnonzero(problem >= 0)})
    cells = {"code": ages.codes[wrong], "waves": month_texts(ages.months[wrong]), "ages": ages.age[wrong]}
    rows = pl.DataFrame(cells)
    wrong_rows = wrong_codes.join(
        rows.group_by("code").agg("waves", "ages"), on="code", how="left", maintain_order="left"
    )
    codes = wrong_rows["code"]
    return wrong_rows.select(
        waves.respondents.gather(codes).alias(waves.keys[0]),
        pl.Series("problem", [_PROBLEMS[place] for place in problem[codes.to_numpy()]], dtype=pl.String),
        pl.col("waves", "ages").fill_null([]),  # null where only years of birth are known, and differ
    )
