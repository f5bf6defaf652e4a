"""Columns as cell numbers: plain values, lists of candidates, and Python values mixed with collections of them.

The forms in which a file writes several candidates for one key.

A plain column needs no declaration: values, missing cells, and lists of candidates are read as they are. Every other
form is declared, never guessed: `Joined` texts, two columns (`Either`, `Between`), `Chances` beside the candidates, and
`Privatized` answers with the design under which they were given.
"""

from __future__ import annotations

import datetime
import decimal
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
from naysay.microdata.keys.table import Table, first_row
from naysay.responses import JOINER
from naysay.responses.spaces import key_of

_DENSE = 4_000_000  # a range of whole numbers up to this wide is coded by counting, not by sorting


def is_collection(cell: object) -> bool:
    """Whether a cell is a set of candidates."""
    return isinstance(cell, list | tuple | set | frozenset | dict | np.ndarray | pl.Series)


def codes_of_series(series: pl.Series, *, name: str) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Codes (n,), 0 where missing and 1 for the first value, and the values in their order.

    Raises
    ------
    DataError
        Floats that are not whole (the message says how to bin them); columns that hold no plain values.
    """
    kind = series.dtype
    if kind == pl.Object or isinstance(kind, pl.Struct):
        return codes_of_cells(series.to_list(), name=name)
    if kind == pl.Null:
        return np.zeros(len(series), np.uint8), ()
    if kind.is_float() or kind.is_decimal():
        series = _whole_numbers(series, name)
    if kind in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype.is_integer() and series.count():
        least, most = int(series.min()), int(series.max())  # type: ignore[arg-type]
        if most - least < _DENSE and most < 2**63:
            return _codes_by_counting(series, least, most)
    values = series.drop_nulls().unique().sort()
    if series.dtype == pl.String:
        values = values.filter(values != "")  # the empty text is missing
    numbers = pl.int_range(1, len(values) + 1, eager=True, dtype=pl.UInt32)
    codes = series.replace_strict(values, numbers, default=0, return_dtype=pl.UInt32)
    return codes.to_numpy(), tuple(values.to_list())


def _codes_by_counting(series: pl.Series, least: int, most: int) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Codes and values of whole numbers in a narrow range, by counting."""
    place = (series.cast(pl.Int64) - (least - 1)).fill_null(0).to_numpy()
    occurs = np.zeros(most - least + 2, np.bool_)
    occurs[place] = True
    occurs[0] = True  # code 0 stays free for missing cells, even where there are none
    rank = np.cumsum(occurs) - 1
    values = np.flatnonzero(occurs)[1:] + least - 1
    return rank.astype(np.min_scalar_type(int(rank[-1])))[place], tuple(values.tolist())


def _whole_numbers(series: pl.Series, name: str) -> pl.Series:
    numbers = series.cast(pl.Float64).fill_nan(None)
    row = first_row((numbers != numbers.round(0)) | numbers.is_infinite() | (numbers.abs() > 2**53))
    if row is not None:
        raise _not_whole_error(name, row, numbers[row])
    return numbers.cast(pl.Int64)


def _not_whole_error(name: str, row: int, value: object) -> DataError:
    place_text = f"key {name!r} holds a number in row {row + 1} that is not whole"
    message = (
        f"values of a key must be shared to be matched; {place_text}: "
        f"bin it first, for example {name} // 5 * 5, or round it"
    )
    return DataError(message, row=row, column=name, value=value)


def codes_of_cells(cells: Sequence[Any], *, name: str) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Codes (n,) and values of a list of Python values, after checking that they are of one kind."""
    plain_cells: list[Any] = [None] * len(cells)
    first: tuple[int, str] | None = None
    for row, raw in enumerate(cells):
        if _checks.is_missing(raw):
            continue
        plain_cells[row], kind = _plain_value_and_kind(raw, row, name)
        first = first or (row, kind)
        if kind != first[1]:
            kinds_text = f"a {first[1]} in row {first[0] + 1} and a {kind} in row {row + 1}"
            message = (
                f"values of a key must be of one kind; key {name!r} holds {kinds_text} "
                "(make them all texts, or all numbers)"
            )
            raise DataError(message, row=row, column=name, value=plain_cells[row])
    values = sorted({value for value in plain_cells if value is not None})
    number = {None: 0} | {value: place for place, value in enumerate(values, 1)}
    return np.array([number[value] for value in plain_cells], np.int64), tuple(values)


def _plain_value_and_kind(raw: Any, row: int, name: str) -> tuple[Any, str]:
    """A value as a plain Python object, and its kind."""
    value: Any = raw.item() if isinstance(raw, np.generic) else raw
    if isinstance(value, bool):
        return value, "true or false"
    if isinstance(value, int):
        return value, "number"
    if isinstance(value, float | decimal.Decimal):
        number = float(value)
        if not abs(number) <= 2**53 or number != int(number):
            raise _not_whole_error(name, row, value)
        return int(number), "number"
    if isinstance(value, str):
        return value, "text"
    if isinstance(value, datetime.datetime):
        return value, "time"
    if isinstance(value, datetime.date):
        return value, "date"
    if isinstance(value, datetime.time | datetime.timedelta):
        return value, type(value).__name__
    type_text = f"key {name!r} holds a {type(value).__name__} in row {row + 1}"
    message = f"a key must hold numbers, texts, dates, or lists of them; {type_text}"
    raise DataError(message, row=row, column=name, value=raw)


Read = tuple[NDArray[Any], CellSet]
"""The cell number of each row, and the distinct cells."""


def of_column(column: pl.Series | Sequence[Any], name: str) -> Read:
    """Cells of a column as it is: values, or lists and collections of candidates."""
    if isinstance(column, pl.Series):
        if isinstance(column.dtype, pl.List | pl.Array):
            return of_lists(column.cast(pl.List(column.dtype.inner)), name)
        codes, values = codes_of_series(column, name=name)
    elif any(is_collection(cell) for cell in column):
        return of_mixed(column, name)
    else:
        codes, values = codes_of_cells(column, name=name)
    return codes, CellSet.of(values)


def of_lists(lists: pl.Series, name: str) -> Read:
    """Cells of a column of lists, each list a set of candidates."""
    present_lists = lists.drop_nulls()
    rows = np.flatnonzero(lists.is_not_null().to_numpy())
    lengths = present_lists.list.len().to_numpy()
    if (empty := first_row(lengths == 0)) is not None:
        raise _empty_set_error(name, int(rows[empty]))
    codes, values = codes_of_series(present_lists.explode(), name=name)
    owner = np.repeat(np.arange(len(present_lists)), lengths)
    if (unknown := first_row(codes == 0)) is not None:
        raise _empty_set_error(name, int(rows[owner[unknown]]))
    texts = (
        pl.DataFrame({"owner": owner, "code": codes.astype(np.int64)})
        .unique(maintain_order=True)
        .group_by("owner", maintain_order=True)
        .agg(pl.col("code").cast(pl.String))
        .select(pl.col("code").list.join(","))["code"]
    )
    distinct = texts.unique().sort()
    sets = [[int(part) - 1 for part in text.split(",")] for text in distinct.to_list()]
    places = np.zeros(len(lists), np.int64)
    places[rows] = 1 + texts.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int64)
    return assembled(places, sets, values)


def of_mixed(cells: Sequence[Any], name: str) -> Read:
    """Cells of a list of Python values and collections of them."""
    candidates: list[Any] = []
    owner: list[int] = []
    chances: list[float] = []
    for row, cell in enumerate(cells):
        if not is_collection(cell):
            members, likely = ([] if _checks.is_missing(cell) else [cell]), None
        else:
            members = _members(cell)
            likely = _probabilities(list(cell.values()), name, row) if isinstance(cell, dict) else None
            if not members or any(_checks.is_missing(member) for member in members):
                raise _empty_set_error(name, row)
        candidates += members
        owner += [row] * len(members)
        chances += likely or [1 / len(members) for _ in members]
    codes, values = codes_of_cells(candidates, name=name)
    return _cells_by_owner(codes, np.array(owner, np.int64), np.array(chances), values, len(cells))


def _members(cell: Any) -> list[Any]:
    """The candidates of a collection, each once and in order. Sets have no order, so their values are sorted."""
    unordered = isinstance(cell, set | frozenset)
    members = cell.to_list() if isinstance(cell, pl.Series) else cell.tolist() if isinstance(cell, np.ndarray) else cell
    return sorted(members, key=lambda value: (str(type(value)), value)) if unordered else list(dict.fromkeys(members))


def _probabilities(values: list[Any], name: str, row: int) -> list[float]:
    try:
        return list(_checks.probability_vector(values, len(values), what=f"chances of {name!r} in row {row + 1}"))
    except DataError as error:
        raise DataError(str(error), row=row, column=name) from None


def _cells_by_owner(
    codes: NDArray[Any], owner: NDArray[np.int64], chances: NDArray[np.float64], values: Sequence[Any], n: int
) -> Read:
    places = np.zeros(n, np.int64)
    set_numbers: dict[Any, int] = {}
    bounds = np.flatnonzero(np.diff(owner, prepend=-1, append=-1))
    for start, stop in pairwise(bounds):
        codes_and_chances = zip(codes[start:stop].tolist(), chances[start:stop].tolist(), strict=True)
        cell = tuple((code - 1, chance) for code, chance in codes_and_chances if chance)
        places[owner[start]] = set_numbers.setdefault(cell, len(set_numbers) + 1)
    sets = [[code for code, _ in cell] for cell in set_numbers]
    return assembled(places, sets, values, [[chance for _, chance in cell] for cell in set_numbers])


def assembled(
    places: NDArray[Any],
    sets: Sequence[Any],
    values: Sequence[Any] | NDArray[Any],
    chances: Sequence[Any] | None = None,
) -> Read:
    """Cell numbers and cells. `places` numbers the set of each row from 1, with 0 for missing.

    A set of one candidate becomes that value.
    """
    labels = values.tolist() if isinstance(values, np.ndarray) else values
    set_places = [index for index, candidates in enumerate(sets) if len(candidates) != 1]
    number = np.array([0, *(1 + int(candidates[0]) if len(candidates) else 0 for candidates in sets)], np.int64)
    number[1:][set_places] = len(labels) + 1 + np.arange(len(set_places))
    likely = None if chances is None else [chances[index] for index in set_places]
    return number[places], CellSet.of(labels, [sets[index] for index in set_places], likely)


def _empty_set_error(name: str, row: int) -> DataError:
    message = f"a set of candidates must not be empty or hold an empty one; key {name!r} does in row {row + 1}"
    return DataError(f"{message} (leave the whole cell missing where nothing is known)", row=row, column=name)


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
            message = f"candidates joined by {self.separator!r} must be texts; column {name!r} holds {series.dtype}"
            raise DataError(message, column=name)
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
        (first_code, second_code), values = _common_codes(table, self.columns(name), name)
        codes = np.where(first_code > 0, first_code, second_code)
        is_set = (first_code > 0) & (second_code > 0) & (first_code != second_code)
        width = len(values) + 1
        pairs, places = np.unique(first_code[is_set] * width + second_code[is_set], return_inverse=True)
        codes[is_set] = len(values) + 1 + places
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
        (low, high), values = _common_codes(table, self.columns(name), name)
        whole_bounds = [_whole_number(value) for value in values]
        number = np.array([0, *(bound or 0 for bound in whole_bounds)], dtype=np.int64)
        broken = np.array([False, *(bound is None for bound in whole_bounds)])
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
        all_values = np.unique(np.concatenate([np.zeros(0, np.int64), *ranges]))
        return assembled(
            codes + (len(pairs) == len(bounds)),
            [np.searchsorted(all_values, candidates) for candidates in ranges],
            all_values,
        )

    def _check(self, *checks: tuple[NDArray[np.bool_], str, str | None]) -> None:
        for wrong, what, column in checks:
            if (row := first_row(wrong)) is not None:
                message = f"columns {self.low!r} and {self.high!r}, row {row + 1}: {what}"
                raise DataError(message, row=row, column=column)


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
        for row, (cell, chances) in enumerate(
            zip(*(_cell_list(table, column_name) for column_name in self.columns(name)), strict=True)
        ):
            if not isinstance(cell, list):
                cells.append(cell)
                continue
            if not isinstance(chances, list) or len(chances) != len(cell):
                requirement = (
                    f"one probability for each candidate of {name!r}; row {row + 1} has {len(cell)} candidates"
                )
                raise DataError(f"column {self.column!r} must hold {requirement}", row=row, column=self.column)
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
        raw_responses = _cell_list(table, name)
        levels = [None] * len(raw_responses) if self.level is None else _cell_list(table, self.level)
        pair_numbers: dict[Any, int] = {}
        pairs = zip(map(key_of, raw_responses), levels, strict=True)
        places = np.array([pair_numbers.setdefault(pair, len(pair_numbers)) for pair in pairs], dtype=np.int64)
        rows = np.unique(places, return_index=True)[1]
        likelihood, missing = self._likelihood(raw_responses, levels, rows, name)
        chances = (likelihood > 0).astype(np.float64)
        if self.prior is not None:
            t = len(self.design.categories)
            chances = likelihood * _checks.probability_vector(self.prior, t, what="prior")
        codes = np.where(missing, 0, np.cumsum(~missing))
        sets = [np.flatnonzero(category_chances) for category_chances in chances[~missing]]
        likely = [
            category_chances[category_chances > 0] / category_chances.sum() for category_chances in chances[~missing]
        ]
        return assembled(codes[places], sets, self.design.categories, likely)

    def _likelihood(
        self, raw_responses: list[Any], levels: list[Any], rows: NDArray[np.intp], name: str
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Likelihood rows of the distinct answers, and which of them are missing."""
        level = None if self.level is None else [levels[row] for row in rows]
        try:
            responses = self.design.encode([raw_responses[row] for row in rows], level)
        except AnswerError as error:
            row = int(rows[error.row or 0])
            column = self.level if error.about == "level" and self.level is not None else name
            what = "an answer" if error.about == "answer" else f"a {error.about}"
            raise DataError(
                f"column {column!r}, row {row + 1}, holds {what} that the design cannot have given;"
                f" its categories are {_checks.listing_text(self.design.categories, 40)}",
                row=row,
                column=column,
                value=error.value,
            ) from None
        likelihood = self.design.likelihood(responses)
        impossible = first_row(likelihood.max(axis=1, initial=0.0) <= 0)
        if impossible is not None:
            row = int(rows[impossible])
            message = f"column {name!r}, row {row + 1}, holds an answer that no category of the design can give"
            raise DataError(message, row=row, column=name)
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


def _cell_list(table: Table, name: str) -> list[Any]:
    column = table.column(name)
    cells = column.to_list() if isinstance(column, pl.Series) else column
    return [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in cells]


def _common_codes(table: Table, columns: Sequence[str], name: str) -> tuple[list[NDArray[Any]], tuple[Any, ...]]:
    """Codes of several columns, numbered by the values that occur in any of them."""
    coded_columns = [codes_of_cells(_cell_list(table, column), name=column) for column in columns]
    all_values = [value for _, values in coded_columns for value in values]
    shared_codes, values = codes_of_cells(all_values, name=name)
    starts = np.cumsum([0, *(len(column_values) for _, column_values in coded_columns)])
    tables = [np.concatenate([[0], shared_codes[start:stop]]) for start, stop in pairwise(starts)]
    return [table[codes] for table, (codes, _) in zip(tables, coded_columns, strict=True)], values
