"""What changes between waves give away: the month of birth, as ages change on birthdays, and the date of a change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Array
from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.keys.codes import each_once, first_row, month_texts
from naysay.microdata.keys.matches import matches
from naysay.microdata.keys.variables import Keys
from naysay.microdata.panel.waves import Waves, beside, cells_at
from naysay.show import Column, Content, Note, Result, Sentence, Table
from naysay.show.result import percent

Which = Literal["first", "last"]
Whole = NDArray[np.int64]
_SPAN = 1_000_000  # more than there are months in all years of four digits


@dataclass(frozen=True, eq=False)
class Dated:
    """When a variable changed, as far as the waves tell.

    Parameters
    ----------
    table : pl.DataFrame
        One row for each respondent of the waves, sorted; the column `name` lists the months, as 2009-03, from the last
        wave with the old value to the first with the new one; null where no change was seen.
    name : str
    dated : int
        Respondents whose change has a date.
    changes : int
        All changes of that kind; one respondent can have several.
    warnings : tuple of StatisticalWarning
        About respondents who may be one person under two spellings.
    """

    table: pl.DataFrame
    name: str
    dated: int
    changes: int
    warnings: tuple[StatisticalWarning, ...] = ()

    def beside(self, table: pl.DataFrame) -> pl.DataFrame:
        """A table of respondents with the dates as a further column, in its own order."""
        return beside(table, self.table)


def when_changed(
    waves: object,
    variable: str,
    *,
    to: object = None,
    which: Which = "last",
    name: str | None = None,
    unchanged: str | None = None,
    respondent: str = "respondent",
    wave: str = "wave",
) -> Dated:
    """The months in which a variable of each respondent changed, as a key variable.

    The file does not tell the day of a wedding, but the waves before and after it do: it lies in the months from the
    last wave with the old value to the first with the new one, both included. Whoever has the register of marriages
    has those months as well.

    Parameters
    ----------
    waves : dataframe, mapping of columns, sequence of these, or {month: dataframe}
        See `merge_waves`.
    variable : str
        What changes: the civil status, the municipality, the occupation.
    to : optional
        Only changes to this value, or to one of a list of values, such as ``"married"``; by default any change.
    which : {"last", "first"}
        The most recent change, or the first, such as that to a first job.
    name : str, optional
        The new column; by default ``<variable>_changed``.
    unchanged : str, optional
        A name for months outside the panel, such as ``"outside"``. Respondents who were seen in two or more waves
        without a change then have this name as a candidate, beside the months outside their own waves: somebody who is
        single in April did not marry in March. By default their date is missing and matches every date, which
        understates the risk.
    respondent, wave : str

    Raises
    ------
    DataError
        A variable that the waves do not have, a value that it never takes, and what `merge_waves` raises.

    Examples
    --------
    >>> from naysay.microdata import panel
    >>> waves = {
    ...     "respondent": [1, 1, 1, 2, 2],
    ...     "wave": [200903, 200904, 200907, 200903, 200904],
    ...     "civil": ["single", "single", "married", "single", "single"],
    ... }
    >>> panel.when_changed(waves, "civil", to="married", name="wedding").table.rows()
    [(1, ['2009-04', '2009-05', '2009-06', '2009-07']), (2, None)]

    Source: El Emam et al. 2011, as Mulder, section 3, applies it; METHODS section 5.
    """
    if which not in ("first", "last"):
        raise DataError(f"which must be 'first' or 'last'; got {which!r}")
    panel_waves = Waves.of(waves, respondent=respondent, wave=wave)
    name = f"{variable}_changed" if name is None else name
    if name == respondent:
        raise DataError(f"the dates need a column of their own; {name!r} holds the respondents", column=name)
    cells, respondent_codes, months = panel_waves.sorted_cells(variable)
    same_respondent = np.diff(respondent_codes) == 0
    value_differs = (cells != cells.shift(1)).slice(1).to_numpy()
    is_asked = np.ones(len(cells), bool)
    if to is not None:
        target_values = list(to) if isinstance(to, list | tuple | set | frozenset) else [to]
        column_values = cells.unique().sort().to_list()
        for target_value in target_values:
            if target_value not in column_values:
                hint = _checks.nearest(target_value, column_values)
                if str(target_value) in map(str, column_values):
                    kinds = [type(value).__name__ for value in (column_values[0], target_value)]
                    hint = f"its values are of the type {kinds[0]}, not {kinds[1]}"
                raise DataError(
                    f"column {variable!r} never holds {target_value!r} ({hint})", column=variable, value=target_value
                )
        is_asked = cells.is_in(target_values).to_numpy()
    change_rows = np.flatnonzero(same_respondent & value_differs & is_asked[1:])
    n, row_owners = len(panel_waves.respondents), respondent_codes[change_rows]
    # owners rise, so the first of each differs from the one before it, and the last from the one behind it
    owner_steps = np.diff(row_owners, append=n) if which == "last" else np.diff(row_owners, prepend=-1)
    dated_rows = change_rows[owner_steps > 0]
    first_month = int(months.min(initial=_SPAN))
    month_labels = month_texts(np.arange(first_month, months.max(initial=0) + 1)).to_list()
    change_dates = _month_lists(
        n,
        respondent_codes[dated_rows],
        months[dated_rows],
        months[dated_rows + 1],
        lambda old, new: month_labels[old - first_month : new - first_month + 1],
    )
    if unchanged is not None and len(respondent_codes):
        first_rows = np.flatnonzero(np.diff(respondent_codes, prepend=-1))
        last_rows = np.append(first_rows[1:], len(respondent_codes)) - 1
        several = months[first_rows] < months[last_rows]  # who was seen in one wave only tells nothing
        first_rows, last_rows = first_rows[several], last_rows[several]
        unseen_dates = _month_lists(
            n,
            respondent_codes[first_rows],
            months[first_rows],
            months[last_rows],
            lambda first, last: [
                *month_labels[: first - first_month + 1],
                *month_labels[last - first_month :],
                unchanged,
            ],
        )
        change_dates = pl.select(pl.coalesce(change_dates, unseen_dates)).to_series()
    table = pl.DataFrame({respondent: panel_waves.respondents, name: change_dates})
    return Dated(table, name, len(dated_rows), len(change_rows), panel_waves.warnings)


def _month_lists(
    n: int, who: Whole, first: Whole, last: Whole, months_of_pair: Callable[[int, int], Sequence[str | None]]
) -> pl.Series:
    """The list that `months_of_pair` gives for the two months of each of some respondents; null for all others."""
    date_lists = each_once(first * _SPAN + last, lambda pair: months_of_pair(*divmod(pair, _SPAN)), pl.List(pl.String))
    list_places = np.full(n, -1)
    list_places[who] = np.arange(len(who))
    return cells_at(date_lists, list_places)


@dataclass(frozen=True)
class Gain:
    """How many respondents match only themselves on some keys, and with a variable, its date, or both beside them.

    Parameters
    ----------
    keys : tuple of str
    variable, date : str
    n : int
        Respondents.
    without, with_variable, with_date, with_both : int
        How many match only themselves: on the keys alone, with the current value, with its date, with both.
    """

    keys: tuple[str, ...]
    variable: str
    date: str
    n: int
    without: int
    with_variable: int
    with_date: int
    with_both: int

    @property
    def added(self) -> int:
        """Respondents whom the date makes unique, beyond the current value."""
        return self.with_both - self.with_variable


def gain(table: object, keys: Sequence[str], *, variable: str, date: str, rule: str = "worst") -> Gain:
    """How much uniqueness the date of a change adds over the current value.

    Parameters
    ----------
    table : dataframe or mapping of columns
        One row a respondent, as `Dated.beside` gives it.
    keys : sequence of str
        What the intruder knows anyway.
    variable, date : str
        The columns of the current value and of the months of its change.
    rule : {"worst", "intersect", "first"}
        See `matches`.

    Examples
    --------
    >>> from naysay.microdata import panel
    >>> table = {
    ...     "gender": ["f", "f", "f", "m"],
    ...     "civil": ["married", "married", "single", "single"],
    ...     "wedding": [["2009-03", "2009-04"], ["2009-06", "2009-07"], None, None],
    ... }
    >>> found = panel.gain(table, ["gender"], variable="civil", date="wedding")
    >>> found.without, found.with_variable, found.with_both, found.added
    (1, 2, 4, 2)
    """
    all_keys = Keys(table, [*keys, variable, date])
    key_lists = (list(keys), [*keys, variable], [*keys, date], [*keys, variable, date])
    unique_counts = [int((matches(all_keys.only(key_list), rule=rule) == 1).sum()) for key_list in key_lists]
    return Gain(tuple(keys), variable, date, all_keys.n, *unique_counts)


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
class Birthdays(Result):
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
        size_counts = self.table["month_of_birth"].list.len().fill_null(0).value_counts(name="n").sort("month_of_birth")
        return {int(candidate_count): int(n) for candidate_count, n in size_counts.iter_rows()}

    @property
    def _problems(self) -> dict[str, int]:
        return dict(self.contradictions["problem"].value_counts(sort=True).iter_rows())

    def beside(self, table: pl.DataFrame) -> pl.DataFrame:
        """A table of respondents with their months of birth as a further column, in its own order."""
        return beside(table, self.table)

    def numbers(self) -> dict[str, object]:
        """The counts; no respondent's values."""
        return {
            "respondents": self.table.height,
            "candidates": {str(size): n for size, n in self.candidates.items()},
            "contradictions": self._problems,
            "warnings": [str(warning) for warning in self.warnings],
        }

    def parts(self) -> list[Content]:
        """How many months remain for how many respondents, and what contradicts itself; never a respondent's values."""
        n = max(self.table.height, 1)
        table_columns = (Column("month of birth", words=True), Column("respondents"), Column("share"))
        table_rows = tuple(
            (
                _checks.several(size, "candidate", "candidates") if size else "missing",
                f"{people:,}",
                f"{percent(people / n, 1)}",
            )
            for size, people in self.candidates.items()
        )
        return [
            Table(table_columns, table_rows),
            *(
                Sentence(f"contradiction, taken as missing: {what}: {_checks.several(n, 'respondent', 'respondents')}")
                for what, n in self._problems.items()
            ),
            *(Note(str(warning)) for warning in self.warnings),
        ]


def month_of_birth(
    waves: object,
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
    possible_masks, earliest_months = ages.by_bounds(panel_waves, year_of_birth)
    month_masks, start_months = (possible_masks, earliest_months) if bounds else ages.by_changes()
    problem_places = ages.problems(possible_masks)
    table = pl.DataFrame(
        {respondent: panel_waves.respondents, "month_of_birth": _lists(month_masks, start_months, problem_places >= 0)}
    )
    # whose ages contradict each other, with every age, wave by wave
    is_wrong = problem_places[ages.codes] >= 0
    age_rows = pl.DataFrame(
        {"code": ages.codes[is_wrong], "waves": month_texts(ages.months[is_wrong]), "ages": ages.age[is_wrong]}
    )
    wrong_codes = pl.Series("code", np.flatnonzero(problem_places >= 0))
    contradictions = wrong_codes.to_frame().join(
        age_rows.group_by("code").agg("waves", "ages"),
        on="code",
        how="left",
        maintain_order="left",
    )
    contradictions = contradictions.select(
        panel_waves.respondents.gather(wrong_codes).alias(respondent),
        pl.Series("problem", [_PROBLEMS[place] for place in problem_places[problem_places >= 0]], dtype=pl.String),
        pl.col("waves", "ages").fill_null([]),  # null where only years of birth are known, and differ
    )
    return Birthdays(table, contradictions, panel_waves.warnings)


def _whole_numbers(cells: pl.Series, name: str, least: int, most: int) -> NDArray[np.int64]:
    """Known cells as whole numbers, also where a file holds them as text."""
    cell_numbers = cells.cast(pl.Float64, strict=False)
    is_wrong = (
        cell_numbers.is_null() | (cell_numbers != cell_numbers.round(0)) | ~cell_numbers.is_between(least, most)
    ).fill_null(value=True)
    if (row := first_row(is_wrong)) is not None:
        value = cells[row]
        problem = f"it holds {str(value)[:40]!r} (leave cells empty where nothing is known)"
        message = f"column {name!r} must hold whole numbers from {least} to {most}; {problem}"
        raise DataError(message, column=name, value=value)
    return cell_numbers.cast(pl.Int64).to_numpy()


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
        age_cells, codes, months = waves.sorted_cells(name)
        known_ages = _whole_numbers(age_cells, name, 0, _OLDEST)
        return cls(len(waves.respondents), known_ages, codes, months, np.diff(codes) == 0)

    @property
    def rises(self) -> tuple[Array, ...]:
        """Of waves that follow one another: whose they are, the months between them, and by how much the age rises."""
        return tuple(values[self.follows] for values in (self.codes[1:], np.diff(self.months), np.diff(self.age)))

    def by_changes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each respondent a bit for every month that all changes allow, and the month to list them from."""
        respondent_codes, months_between, age_rises = self.rises
        tells_month = (age_rises != 0) & (months_between + 1 < YEAR)
        first_months = self.months[:-1][self.follows][tells_month] % YEAR
        month_masks, start_months = np.full(self.n, EVERY), np.zeros(self.n, np.int64)
        np.bitwise_and.at(
            month_masks, respondent_codes[tells_month], _around(first_months, months_between[tells_month] + 1)
        )
        # numpy keeps the last assigned: the most recent change
        start_months[respondent_codes[tells_month]] = first_months
        return month_masks, start_months

    def by_bounds(self, waves: Waves, year_of_birth: str | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The same from every age: born from 12 a + 12 to 12 a months before a wave in which the age was a."""
        largest_number = np.iinfo(np.int64).max
        latest_births, earliest_births = np.full(self.n, largest_number), np.full(self.n, -largest_number)
        birth_limits = self.months - YEAR * self.age
        np.minimum.at(latest_births, self.codes, birth_limits)
        np.maximum.at(earliest_births, self.codes, birth_limits - YEAR)
        if year_of_birth is not None:
            year_cells, respondent_codes, _ = waves.sorted_cells(year_of_birth)
            birth_years = _whole_numbers(year_cells, year_of_birth, 1_000, 9_999)
            np.minimum.at(latest_births, respondent_codes, YEAR * birth_years + YEAR - 1)
            np.maximum.at(earliest_births, respondent_codes, YEAR * birth_years)
        has_ages = latest_births < largest_number
        start_months = np.where(has_ages, earliest_births, 0)
        month_counts = np.clip(np.where(has_ages, latest_births, YEAR) - start_months + 1, 0, YEAR)
        return _around(start_months % YEAR, month_counts), start_months % YEAR

    def problems(self, possible: NDArray[np.int64]) -> NDArray[np.int64]:
        """What contradicts itself in each respondent's ages, as a place in `_PROBLEMS`; -1 where nothing does.

        Judged by every age, not only by pairs of waves: 40, 41, 42 in three months may each follow the one before, but
        not all together. The months that all ages allow are among those that all changes allow.
        """
        respondent_codes, months_between, age_rises = self.rises
        month_slack = months_between - YEAR * age_rises
        problem_places = np.full(self.n, -1)
        problem_places[possible == 0] = _PROBLEMS.index(NONE_FITS)
        for problem_name, is_wrong in (
            (RESTS, month_slack > YEAR),
            (JUMPS, month_slack < -YEAR),
            (FALLS, age_rises < 0),
        ):
            problem_places[respondent_codes[is_wrong]] = _PROBLEMS.index(problem_name)
        return problem_places


def _around(month: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """A bit for each of `length` months from `month` on; January follows December."""
    bits = (1 << length) - 1
    return ((bits << month) | (bits >> (YEAR - month))) & EVERY


def _lists(masks: NDArray[np.int64], start: NDArray[np.int64], wrong: NDArray[np.bool_]) -> pl.Series:
    """The months of each mask, in the order of the calendar from a month on."""

    def months(pair: int) -> list[int] | None:
        month_mask, first_month = divmod(pair, YEAR)
        return [
            (first_month + step) % YEAR + 1 for step in range(YEAR) if month_mask >> (first_month + step) % YEAR & 1
        ] or None

    is_known = (masks > 0) & (masks < EVERY) & ~wrong
    return each_once(np.where(is_known, masks * YEAR + start, 0), months, pl.List(pl.Int64))
