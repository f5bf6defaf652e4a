"""The forms in which a file writes several candidates for one key.

A plain column needs no declaration: values, missing cells, and lists of candidates are read as they are. Every other
form is declared, never guessed: `Joined` texts, two columns (`Either`, `Between`), `Chances` beside the candidates, and
`Privatized` answers with the design under which they were given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.design import Answerable
from naysay.errors import AnswerError, DataError
from naysay.microdata.keys.cells import CellSet
from naysay.microdata.keys.codes import Read, assembled, codes_of_cells, of_column, of_lists, of_mixed
from naysay.microdata.keys.table import Table, first_row
from naysay.responses import JOINER
from naysay.responses.spaces import key_of

__all__ = ["Between", "Chances", "Either", "Form", "Joined", "Plain", "Privatized"]

WIDEST = 100_000  # candidates of one cell


class Form(ABC):
    """A way of writing what a cell may hold."""

    def columns(self, name: str) -> tuple[str, ...]:
        """The columns of the table that the variable `name` is read from."""
        return (name,)

    @abstractmethod
    def read(self, table: Table, name: str) -> Read:
        """The cell number of each row, and the distinct cells."""


@dataclass(frozen=True)
class Plain(Form):
    """Values and missing cells. Where a column holds lists, their entries are the candidates.

    A mapping ``{value: chance}`` in place of a list gives candidates with their probabilities.
    """

    def read(self, table: Table, name: str) -> Read:
        return of_column(table.column(name), name)


@dataclass(frozen=True)
class Joined(Form):
    """Candidates in one text, joined by a separator: ``March;April``.

    Examples
    --------
    >>> from naysay import microdata
    >>> table = {"month": ["March;April", "May", None]}
    >>> keys = microdata.Keys(table, ["month"], cells={"month": microdata.Joined()})
    >>> microdata.matches(keys, rule="intersect")
    array([2, 2, 3])
    """

    separator: str = JOINER

    def read(self, table: Table, name: str) -> Read:
        column = table.column(name)
        series = column if isinstance(column, pl.Series) else pl.Series(name, column, strict=False)
        if series.dtype == pl.Null:
            return of_column(series, name)
        if series.dtype not in (pl.String, pl.Categorical, pl.Enum):
            told = f"candidates joined by {self.separator!r} must be texts; column {name!r} holds {series.dtype}"
            raise DataError(told, column=name)
        texts = series.cast(pl.String).replace("", None)
        return of_lists(texts.str.split(self.separator).list.eval(pl.element().str.strip_chars()), name)


@dataclass(frozen=True)
class Either(Form):
    """Two candidates in two columns. Where one of them is missing, the value is known to be the other.

    Examples
    --------
    >>> from naysay import microdata
    >>> table = {"from_month": [3, 4, 5], "to_month": [4, None, 5]}
    >>> keys = microdata.Keys(table, ["month"], cells={"month": microdata.Either("from_month", "to_month")})
    >>> microdata.matches(keys, rule="intersect")
    array([2, 2, 1])
    """

    one: str
    other: str

    def columns(self, name: str) -> tuple[str, ...]:
        return (self.one, self.other)

    def read(self, table: Table, name: str) -> Read:
        (one, other), values = _in_common(table, self.columns(name), name)
        codes = np.where(one > 0, one, other)
        both = (one > 0) & (other > 0) & (one != other)
        width = len(values) + 1
        pairs, places = np.unique(one[both] * width + other[both], return_inverse=True)
        codes[both] = len(values) + 1 + places
        sets = np.column_stack([pairs // width - 1, pairs % width - 1])
        return codes, CellSet.of(values, sets.tolist())


@dataclass(frozen=True)
class Between(Form):
    """Every whole number from one column to another, both included, is a candidate.

    Examples
    --------
    >>> from naysay import microdata
    >>> table = {"low": [30, 34, 40], "high": [35, 36, 40]}
    >>> keys = microdata.Keys(table, ["age"], cells={"age": microdata.Between("low", "high")})
    >>> microdata.matches(keys, rule="intersect")
    array([2, 2, 1])
    """

    low: str
    high: str

    def columns(self, name: str) -> tuple[str, ...]:
        return (self.low, self.high)

    def read(self, table: Table, name: str) -> Read:
        (low, high), values = _in_common(table, self.columns(name), name)
        whole = [_whole_number(value) for value in values]
        number = np.array([0, *(each or 0 for each in whole)], dtype=np.int64)
        broken = np.array([False, *(each is None for each in whole)])
        self._check(
            (broken[low], "the low bound must be a whole number, and is not", self.low),
            (broken[high], "the high bound must be a whole number, and is not", self.high),
            ((low > 0) != (high > 0), "one bound is missing; give both, or neither where nothing is known", None),
            (number[low] > number[high], "the low bound lies above the high one", None),
            (number[high] - number[low] >= WIDEST, f"it spans more than {WIDEST:,} values; bin them first", None),
        )
        width = len(values) + 1
        pairs, codes = np.unique(low * width + high, return_inverse=True)
        bounds = np.column_stack([number[pairs // width], number[pairs % width]])[pairs > 0]
        ranges = [np.arange(least, most + 1) for least, most in bounds]
        every = np.unique(np.concatenate([np.zeros(0, np.int64), *ranges]))
        return assembled(codes + (len(pairs) == len(bounds)), [np.searchsorted(every, each) for each in ranges], every)

    def _check(self, *checks: tuple[NDArray[np.bool_], str, str | None]) -> None:
        for wrong, what, column in checks:
            if (row := first_row(wrong)) is not None:
                told = f"columns {self.low!r} and {self.high!r}, row {row + 1}: {what}"
                raise DataError(told, row=row, column=column)


@dataclass(frozen=True)
class Chances(Form):
    """Lists of candidates, with a second column of lists that holds their probabilities.

    Examples
    --------
    >>> from naysay import microdata
    >>> table = {"month": [[3, 4], [3]], "chance": [[0.75, 0.25], [1.0]]}
    >>> keys = microdata.Keys(table, ["month"], cells={"month": microdata.Chances("chance")})
    >>> microdata.expected_matches(keys)
    array([1.75, 1.75])
    """

    column: str

    def columns(self, name: str) -> tuple[str, ...]:
        return (name, self.column)

    def read(self, table: Table, name: str) -> Read:
        cells: list[Any] = []
        for row, (cell, chances) in enumerate(zip(*(_listed(table, each) for each in self.columns(name)), strict=True)):
            if not isinstance(cell, list):
                cells.append(cell)
                continue
            if not isinstance(chances, list) or len(chances) != len(cell):
                told = f"one probability for each candidate of {name!r}; row {row + 1} has {len(cell)} candidates"
                raise DataError(f"column {self.column!r} must hold {told}", row=row, column=self.column)
            cells.append(dict(zip(cell, chances, strict=True)))
        return of_mixed(cells, name)


@dataclass(frozen=True)
class Privatized(Form):
    """Answers given under a design: candidates are the categories under which the answer is possible.

    A negative answer leaves the categories that it does not rule out. An answer that is possible under every category
    leaves them all.

    Parameters
    ----------
    design : Design or Levels
    level : str, optional
        Column of the chosen levels.
    prior : (t,) float, optional
        Proportions of the categories; the candidates then carry their posterior probabilities.

    Examples
    --------
    >>> from naysay import designs, microdata
    >>> income = designs.negative(("low", "middle", "high"))
    >>> table = {"income": ["low", "high", None]}
    >>> keys = microdata.Keys(table, ["income"], cells={"income": microdata.Privatized(income)})
    >>> keys.candidates("income")
    (('middle', 'high'), ('low', 'middle'), ())
    """

    design: Answerable
    level: str | None = None
    prior: ArrayLike | None = None

    def columns(self, name: str) -> tuple[str, ...]:
        return (name,) if self.level is None else (name, self.level)

    def read(self, table: Table, name: str) -> Read:
        said = _listed(table, name)
        levels = [None] * len(said) if self.level is None else _listed(table, self.level)
        known: dict[Any, int] = {}
        pairs = zip(map(key_of, said), levels, strict=True)
        places = np.array([known.setdefault(pair, len(known)) for pair in pairs], dtype=np.int64)
        rows = np.unique(places, return_index=True)[1]
        likelihood, missing = self._likelihood(said, levels, rows, name)
        chances = (likelihood > 0).astype(np.float64)
        if self.prior is not None:
            t = len(self.design.categories)
            chances = likelihood * _checks.probability_vector(self.prior, t, what="prior")
        codes = np.where(missing, 0, np.cumsum(~missing))
        sets = [np.flatnonzero(each) for each in chances[~missing]]
        likely = [each[each > 0] / each.sum() for each in chances[~missing]]
        return assembled(codes[places], sets, self.design.categories, likely)

    def _likelihood(
        self, said: list[Any], levels: list[Any], rows: NDArray[np.intp], name: str
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Likelihood rows of the distinct answers, and which of them are missing."""
        level = None if self.level is None else [levels[row] for row in rows]
        try:
            responses = self.design.encode([said[row] for row in rows], level)
        except AnswerError as error:
            row = int(rows[error.row or 0])
            column = self.level if error.about == "level" and self.level is not None else name
            what = "an answer" if error.about == "answer" else f"a {error.about}"
            raise DataError(
                f"column {column!r}, row {row + 1}, holds {what} that the design cannot have given;"
                f" its categories are {_checks.shown(self.design.categories, 40)}",
                row=row,
                column=column,
                value=error.value,
            ) from None
        likelihood = self.design.likelihood(responses)
        impossible = first_row(likelihood.max(axis=1, initial=0.0) <= 0)
        if impossible is not None:
            row = int(rows[impossible])
            told = f"column {name!r}, row {row + 1}, holds an answer that no category of the design can give"
            raise DataError(told, row=row, column=name)
        return likelihood, np.asarray(responses.missing)


def _whole_number(value: Any) -> int | None:
    """A bound as a whole number; None if it is not whole."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return int(number) if number.is_integer() and abs(number) <= 2**53 else None


def _listed(table: Table, name: str) -> list[Any]:
    column = table.column(name)
    cells = column.to_list() if isinstance(column, pl.Series) else column
    return [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in cells]


def _in_common(table: Table, columns: Sequence[str], name: str) -> tuple[list[NDArray[Any]], tuple[Any, ...]]:
    """Codes of several columns, numbered by the values that occur in any of them."""
    read = [codes_of_cells(_listed(table, column), name=column) for column in columns]
    every = [value for _, values in read for value in values]
    shared, values = codes_of_cells(every, name=name)
    starts = np.cumsum([0, *(len(own) for _, own in read)])
    tables = [np.concatenate([[0], shared[start:stop]]) for start, stop in pairwise(starts)]
    return [table[codes] for table, (codes, _) in zip(tables, read, strict=True)], values
