"""When something changed: what a panel tells of a marriage, a move or a first job beside the fact itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.matches import matches
from naysay.microdata.panel.columns import cells_at
from naysay.microdata.panel.identifiers import beside
from naysay.microdata.panel.months import each_once, month_texts
from naysay.microdata.panel.waves import Waves

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
    waves: Any,
    variable: str,
    *,
    to: Any = None,
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
    cells, codes, months = panel_waves.sorted_cells(variable)
    same = np.diff(codes) == 0
    differs = (cells != cells.shift(1)).slice(1).to_numpy()
    rows = np.flatnonzero(same & differs & _to(cells, to, variable)[1:])
    n, owner = len(panel_waves.respondents), codes[rows]
    # owners rise, so the first of each differs from the one before it, and the last from the one behind it
    ends = np.diff(owner, append=n) if which == "last" else np.diff(owner, prepend=-1)
    dated_rows = rows[ends > 0]
    least = int(months.min(initial=_SPAN))
    texts = month_texts(np.arange(least, months.max(initial=0) + 1)).to_list()

    def within(old: int, new: int) -> list[str]:
        return texts[old - least : new - least + 1]

    def outside(first: int, last: int) -> list[str | None] | None:
        return None if first == last else [*texts[: first - least + 1], *texts[last - least :], unchanged]

    dates = _month_lists(n, codes[dated_rows], months[dated_rows], months[dated_rows + 1], within)
    if unchanged is not None and len(codes):
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        ended = np.append(starts[1:], len(codes)) - 1
        unseen = _month_lists(n, codes[starts], months[starts], months[ended], outside)
        dates = pl.select(pl.coalesce(dates, unseen)).to_series()
    table = pl.DataFrame({respondent: panel_waves.respondents, name: dates})
    return Dated(table, name, len(dated_rows), len(rows), panel_waves.warnings)


def _to(cells: pl.Series, to: Any, variable: str) -> NDArray[np.bool_]:
    """Which cells hold a value that a change is asked for."""
    if to is None:
        return np.ones(len(cells), bool)
    target_values = list(to) if isinstance(to, list | tuple | set | frozenset) else [to]
    column_values = cells.unique().sort().to_list()
    for value in target_values:
        if value not in column_values:
            hint = _checks.nearest(value, column_values)
            if str(value) in map(str, column_values):
                hint = f"its values are of the type {type(column_values[0]).__name__}, not {type(value).__name__}"
            raise DataError(f"column {variable!r} never holds {value!r} ({hint})", column=variable, value=value)
    return cells.is_in(target_values).to_numpy()


def _month_lists(
    n: int, who: Whole, first: Whole, last: Whole, months_of_pair: Callable[[int, int], Sequence[str | None] | None]
) -> pl.Series:
    """The list that `months_of_pair` gives for the two months of each of some respondents; null for all others."""
    lists = each_once(first * _SPAN + last, lambda pair: months_of_pair(*divmod(pair, _SPAN)), pl.List(pl.String))
    places = np.full(n, -1)
    places[who] = np.arange(len(who))
    return cells_at(lists, places)


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


def gain(table: Any, keys: Sequence[str], *, variable: str, date: str, rule: str = "worst") -> Gain:
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
    every = Keys(table, [*keys, variable, date])
    key_lists = (list(keys), [*keys, variable], [*keys, date], [*keys, variable, date])
    alone = [int((matches(every.only(names), rule=rule) == 1).sum()) for names in key_lists]
    return Gain(tuple(keys), variable, date, every.n, *alone)
