"""How a table writes its cells: columns read as cell numbers.

A plain column needs no declaration: values, missing cells, and lists of candidates are read as they are. Every other
form is declared, never guessed: `Joined` texts, two columns (`Either`, `Between`), `Chances` beside the candidates, and
`Privatized` answers with the design under which they were given. Months are read and written here, too.
"""

from __future__ import annotations

import datetime
import decimal
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Array, Floats, Integers, Label
from naysay.errors import AnswerError, DataError
from naysay.frames import is_frame
from naysay.microdata.keys.cells import CellSet
from naysay.responses import JOINER, cells_of
from naysay.responses.spaces import key_of

if TYPE_CHECKING:
    from naysay.design import Answerable

Cell = TypeVar("Cell")
_DENSE = 4_000_000  # a range of whole numbers up to this wide is coded by counting, not by sorting


def is_collection(cell: object) -> TypeGuard[Iterable[object]]:
    """Whether a cell is a set of candidates."""
    return isinstance(cell, list | tuple | set | frozenset | dict | np.ndarray | pl.Series)


def codes_of_series(series: pl.Series, *, name: str) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Codes (n,), 0 where missing and 1 for the first value, and the values in their order.

    Raises
    ------
    DataError
        Floats that are not whole (the message says how to bin them); columns that hold no plain values.
    """
    column_type = series.dtype
    if column_type == pl.Object or isinstance(column_type, pl.Struct):
        return codes_of_cells(series.to_list(), name=name)
    if column_type == pl.Null:
        return np.zeros(len(series), np.uint8), ()
    if column_type.is_float() or column_type.is_decimal():
        series = _whole_numbers(series, name)
    if column_type in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype.is_integer() and series.count():
        least_value, most_value = int(series.min()), int(series.max())  # type: ignore[arg-type]
        if most_value - least_value < _DENSE and most_value < 2**63:
            cell_places = (series.cast(pl.Int64) - (least_value - 1)).fill_null(0).to_numpy()
            occurs = np.zeros(most_value - least_value + 2, np.bool_)
            occurs[cell_places] = True
            occurs[0] = True  # code 0 stays free for missing cells, even where there are none
            rank = np.cumsum(occurs) - 1
            values = (np.flatnonzero(occurs)[1:] + least_value - 1).tolist()
            return rank.astype(np.min_scalar_type(int(rank[-1])))[cell_places], tuple(values)
    distinct_values = series.drop_nulls().unique().sort()
    if series.dtype == pl.String:
        distinct_values = distinct_values.filter(distinct_values != "")  # the empty text is missing
    value_numbers = pl.int_range(1, len(distinct_values) + 1, eager=True, dtype=pl.UInt32)
    cell_codes = series.replace_strict(distinct_values, value_numbers, default=0, return_dtype=pl.UInt32)
    return cell_codes.to_numpy(), tuple(distinct_values.to_list())


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


def codes_of_cells(cells: Sequence[object], *, name: str) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Codes (n,) and values of a list of Python values, after checking that they are of one kind."""
    plain_cells: list[Any] = [None] * len(cells)
    first_row_and_kind: tuple[int, str] | None = None
    for row, raw_cell in enumerate(cells):
        if _checks.is_missing(raw_cell):
            continue
        plain_cells[row], cell_kind = _plain_value_and_kind(raw_cell, row, name)
        first_row_and_kind = first_row_and_kind or (row, cell_kind)
        if cell_kind != first_row_and_kind[1]:
            first_text = f"a {first_row_and_kind[1]} in row {first_row_and_kind[0] + 1}"
            message = (
                f"values of a key must be of one kind; key {name!r} holds {first_text} and a {cell_kind} in row "
                f"{row + 1} (make them all texts, or all numbers)"
            )
            raise DataError(message, row=row, column=name, value=plain_cells[row])
    distinct_values = sorted({value for value in plain_cells if value is not None})
    number_of_value = {None: 0} | {value: value_number for value_number, value in enumerate(distinct_values, 1)}
    return np.array([number_of_value[value] for value in plain_cells], np.int64), tuple(distinct_values)


def _plain_value_and_kind(raw: object, row: int, name: str) -> tuple[Any, str]:
    """A value as a plain Python object, and its kind."""
    plain_cell: Any = raw.item() if isinstance(raw, np.generic) else raw
    if isinstance(plain_cell, bool):
        return plain_cell, "true or false"
    if isinstance(plain_cell, int):
        return plain_cell, "number"
    if isinstance(plain_cell, float | decimal.Decimal):
        float_number = float(plain_cell)
        if not abs(float_number) <= 2**53 or float_number != int(float_number):
            raise _not_whole_error(name, row, plain_cell)
        return int(float_number), "number"
    if isinstance(plain_cell, str):
        return plain_cell, "text"
    if isinstance(plain_cell, datetime.datetime):
        return plain_cell, "time"
    if isinstance(plain_cell, datetime.date):
        return plain_cell, "date"
    if isinstance(plain_cell, datetime.time | datetime.timedelta):
        return plain_cell, type(plain_cell).__name__
    type_text = f"key {name!r} holds a {type(plain_cell).__name__} in row {row + 1}"
    message = f"a key must hold numbers, texts, dates, or lists of them; {type_text}"
    raise DataError(message, row=row, column=name, value=raw)


Read = tuple[NDArray[Any], CellSet]
"""The cell number of each row, and the distinct cells."""


def of_column(column: pl.Series | Sequence[object], name: str) -> Read:
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
    present_rows = np.flatnonzero(lists.is_not_null().to_numpy())
    list_lengths = present_lists.list.len().to_numpy()
    if (empty_place := first_row(list_lengths == 0)) is not None:
        raise _empty_set_error(name, int(present_rows[empty_place]))
    candidate_codes, distinct_values = codes_of_series(present_lists.explode(), name=name)
    owner_places = np.repeat(np.arange(len(present_lists)), list_lengths)
    if (unknown_place := first_row(candidate_codes == 0)) is not None:
        raise _empty_set_error(name, int(present_rows[owner_places[unknown_place]]))
    set_texts = (
        pl.DataFrame({"owner": owner_places, "code": candidate_codes.astype(np.int64)})
        .unique(maintain_order=True)
        .group_by("owner", maintain_order=True)
        .agg(pl.col("code").cast(pl.String))
        .select(pl.col("code").list.join(","))["code"]
    )
    distinct_texts = set_texts.unique().sort()
    candidate_sets = [
        [int(code_text) - 1 for code_text in set_text.split(",")] for set_text in distinct_texts.to_list()
    ]
    set_of_row = np.zeros(len(lists), np.int64)
    set_of_row[present_rows] = 1 + set_texts.cast(pl.Enum(distinct_texts)).to_physical().to_numpy().astype(np.int64)
    return assembled(set_of_row, candidate_sets, distinct_values)


def of_mixed(cells: Sequence[object], name: str) -> Read:
    """Cells of a list of Python values and collections of them."""
    all_candidates: list[Any] = []
    owner_rows: list[int] = []
    all_chances: list[float] = []
    for row, cell in enumerate(cells):
        if not is_collection(cell):
            cell_members, cell_chances = ([] if _checks.is_missing(cell) else [cell]), None
        else:
            cell_members, cell_chances = _members(cell), None
            if isinstance(cell, dict):
                what = f"chances of {name!r} in row {row + 1}"
                try:
                    cell_chances = list(_checks.probability_vector(list(cell.values()), len(cell), what=what))
                except DataError as error:
                    raise DataError(str(error), row=row, column=name) from None
            if not cell_members or any(_checks.is_missing(member) for member in cell_members):
                raise _empty_set_error(name, row)
        all_candidates += cell_members
        owner_rows += [row] * len(cell_members)
        all_chances += cell_chances or [1 / len(cell_members) for _ in cell_members]
    candidate_codes, distinct_values = codes_of_cells(all_candidates, name=name)
    set_of_row = np.zeros(len(cells), np.int64)
    set_numbers: dict[tuple[tuple[int, float], ...], int] = {}
    owner_bounds = np.flatnonzero(np.diff(np.array(owner_rows, np.int64), prepend=-1, append=-1))
    for start, stop in pairwise(owner_bounds):
        codes_and_chances = zip(candidate_codes[start:stop].tolist(), all_chances[start:stop], strict=True)
        candidate_set = tuple((code - 1, chance) for code, chance in codes_and_chances if chance)
        set_of_row[owner_rows[start]] = set_numbers.setdefault(candidate_set, len(set_numbers) + 1)
    candidate_sets = [[code for code, _ in candidate_set] for candidate_set in set_numbers]
    set_chances = [[chance for _, chance in candidate_set] for candidate_set in set_numbers]
    return assembled(set_of_row, candidate_sets, distinct_values, set_chances)


def _members(cell: Iterable[object]) -> list[Any]:
    """The candidates of a collection, each once and in order. Sets have no order, so their values are sorted."""
    is_unordered = isinstance(cell, set | frozenset)
    members = cell.to_list() if isinstance(cell, pl.Series) else cell.tolist() if isinstance(cell, np.ndarray) else cell
    return (
        sorted(members, key=lambda value: (str(type(value)), value)) if is_unordered else list(dict.fromkeys(members))
    )


def assembled(
    places: Integers,
    sets: Sequence[Sequence[int] | Integers],
    values: Sequence[Label] | Array,
    chances: Sequence[Sequence[float] | Floats] | None = None,
) -> Read:
    """Cell numbers and cells. `places` numbers the set of each row from 1, with 0 for missing.

    A set of one candidate becomes that value.
    """
    value_labels = values.tolist() if isinstance(values, np.ndarray) else values
    set_places = [set_place for set_place, candidate_set in enumerate(sets) if len(candidate_set) != 1]
    first_members = [1 + int(candidate_set[0]) if len(candidate_set) else 0 for candidate_set in sets]
    cell_of_set = np.array([0, *first_members], np.int64)
    cell_of_set[1:][set_places] = len(value_labels) + 1 + np.arange(len(set_places))
    set_chances = None if chances is None else [chances[set_place] for set_place in set_places]
    return cell_of_set[places], CellSet.of(value_labels, [sets[set_place] for set_place in set_places], set_chances)


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
        joined_texts = series.cast(pl.String).replace("", None)
        return of_lists(joined_texts.str.split(self.separator).list.eval(pl.element().str.strip_chars()), name)


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
        (first_code, second_code), shared_values = _common_codes(table, self.columns(name), name)
        cell_codes = np.where(first_code > 0, first_code, second_code)
        is_set = (first_code > 0) & (second_code > 0) & (first_code != second_code)
        code_span = len(shared_values) + 1
        code_pairs, pair_places = np.unique(first_code[is_set] * code_span + second_code[is_set], return_inverse=True)
        cell_codes[is_set] = len(shared_values) + 1 + pair_places
        candidate_sets = np.column_stack([code_pairs // code_span - 1, code_pairs % code_span - 1])
        return cell_codes, CellSet.of(shared_values, candidate_sets.tolist())


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
        (low_codes, high_codes), bound_values = _common_codes(table, self.columns(name), name)
        whole_bounds = [_whole_number(value) for value in bound_values]
        number_of_code = np.array([0, *(whole_bound or 0 for whole_bound in whole_bounds)], dtype=np.int64)
        is_broken = np.array([False, *(whole_bound is None for whole_bound in whole_bounds)])
        bound_gaps = number_of_code[high_codes] - number_of_code[low_codes]
        one_text = "one bound is missing; give both, or neither where nothing is known"
        for is_wrong, fault_text, column in (
            (is_broken[low_codes], "the low bound must be a whole number, and is not", self.low),
            (is_broken[high_codes], "the high bound must be a whole number, and is not", self.high),
            ((low_codes > 0) != (high_codes > 0), one_text, None),
            (bound_gaps < 0, "the low bound lies above the high one", None),
            (bound_gaps >= WIDEST, f"it spans more than {WIDEST:,} values; bin them first", None),
        ):
            if (row := first_row(is_wrong)) is not None:
                message = f"columns {self.low!r} and {self.high!r}, row {row + 1}: {fault_text}"
                raise DataError(message, row=row, column=column)
        code_span = len(bound_values) + 1
        code_pairs, pair_places = np.unique(low_codes * code_span + high_codes, return_inverse=True)
        pair_bounds = np.column_stack(
            [number_of_code[code_pairs // code_span], number_of_code[code_pairs % code_span]]
        )[code_pairs > 0]
        candidate_ranges = [np.arange(low_bound, high_bound + 1) for low_bound, high_bound in pair_bounds]
        all_values = np.unique(np.concatenate([np.zeros(0, np.int64), *candidate_ranges]))
        return assembled(
            pair_places + (len(code_pairs) == len(pair_bounds)),
            [np.searchsorted(all_values, candidate_range) for candidate_range in candidate_ranges],
            all_values,
        )


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
        mixed_cells: list[Any] = []
        for row, (raw_cell, cell_chances) in enumerate(
            zip(*(_cell_list(table, column_name) for column_name in self.columns(name)), strict=True)
        ):
            if not isinstance(raw_cell, list):
                mixed_cells.append(raw_cell)
                continue
            if not isinstance(cell_chances, list) or len(cell_chances) != len(raw_cell):
                requirement = (
                    f"one probability for each candidate of {name!r}; row {row + 1} has {len(raw_cell)} candidates"
                )
                raise DataError(f"column {self.column!r} must hold {requirement}", row=row, column=self.column)
            mixed_cells.append(dict(zip(raw_cell, cell_chances, strict=True)))
        return of_mixed(mixed_cells, name)


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
        chosen_levels = [None] * len(raw_responses) if self.level is None else _cell_list(table, self.level)
        pair_numbers: dict[tuple[object, object], int] = {}
        answers_and_levels = zip(map(key_of, raw_responses), chosen_levels, strict=True)
        pair_places = np.array(
            [pair_numbers.setdefault(answer_and_level, len(pair_numbers)) for answer_and_level in answers_and_levels],
            dtype=np.int64,
        )
        pair_rows = np.unique(pair_places, return_index=True)[1]
        likelihood_rows, is_missing = self._likelihood(raw_responses, chosen_levels, pair_rows, name)
        answer_chances = (likelihood_rows > 0).astype(np.float64)
        if self.prior is not None:
            t = len(self.design.categories)
            answer_chances = likelihood_rows * _checks.probability_vector(self.prior, t, what="prior")
        answer_codes = np.where(is_missing, 0, np.cumsum(~is_missing))
        category_sets = [np.flatnonzero(category_chances) for category_chances in answer_chances[~is_missing]]
        set_chances = [
            category_chances[category_chances > 0] / category_chances.sum()
            for category_chances in answer_chances[~is_missing]
        ]
        return assembled(answer_codes[pair_places], category_sets, self.design.categories, set_chances)

    def _likelihood(
        self, raw_responses: list[object], levels: Sequence[object], rows: NDArray[np.intp], name: str
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Likelihood rows of the distinct answers, and which of them are missing."""
        row_levels = None if self.level is None else [levels[row] for row in rows]
        try:
            responses = self.design.encode([raw_responses[row] for row in rows], row_levels)
        except AnswerError as error:
            row = int(rows[error.row or 0])
            column_name = self.level if error.about == "level" and self.level is not None else name
            what = "an answer" if error.about == "answer" else f"a {error.about}"
            raise DataError(
                f"column {column_name!r}, row {row + 1}, holds {what} that the design cannot have given;"
                f" its categories are {_checks.listing_text(self.design.categories, 40)}",
                row=row,
                column=column_name,
                value=error.value,
            ) from None
        likelihood_rows = self.design.likelihood(responses)
        impossible_place = first_row(likelihood_rows.max(axis=1, initial=0.0) <= 0)
        if impossible_place is not None:
            row = int(rows[impossible_place])
            message = f"column {name!r}, row {row + 1}, holds an answer that no category of the design can give"
            raise DataError(message, row=row, column=name)
        return likelihood_rows, np.asarray(responses.missing)


def _whole_number(value: object) -> int | None:
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
    coded_columns = [codes_of_cells(_cell_list(table, column_name), name=column_name) for column_name in columns]
    all_values = [value for _, values in coded_columns for value in values]
    shared_codes, values = codes_of_cells(all_values, name=name)
    column_starts = np.cumsum([0, *(len(column_values) for _, column_values in coded_columns)])
    code_tables = [np.concatenate([[0], shared_codes[start:stop]]) for start, stop in pairwise(column_starts)]
    return [table[column_codes] for table, (column_codes, _) in zip(code_tables, coded_columns, strict=True)], values


def engine_of(data: object) -> str | None:
    """The engine of a lazy table, such as duckdb, spark or dask; None if polars can compute on it."""
    if isinstance(data, Mapping | pl.DataFrame | pl.LazyFrame) or not is_frame(data):
        return None
    frame = nw.from_native(data)
    if not isinstance(frame, nw.LazyFrame):
        return None
    return frame.implementation.name.lower().replace("pyspark_connect", "spark").replace("pyspark", "spark")


def first_row(wrong: pl.Series | NDArray[np.bool_]) -> int | None:
    """The first row for which this is true, counted from 0; None where there is none."""
    rows = pl.Series(wrong).arg_true()
    return int(rows[0]) if len(rows) else None


def check_names(names: Sequence[str], known_names: Sequence[str], *, what: str = "column") -> None:
    """Raise for the first name that the table does not have, and suggest the nearest name that it has."""
    for name in names:
        if name not in known_names:
            raise DataError(_checks.no_column(name, known_names, what=what), column=str(name))


def check_choice(word: str, choices: Sequence[str], *, what: str) -> None:
    """Raise for a word that is not among the few known ones."""
    if word not in choices:
        raise DataError(f"{what} must be one of {_checks.listing_text(choices)}; got {word!r}")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, as polars series where they are of one type and as lists of Python values otherwise."""

    data: Any
    names: tuple[str, ...]
    n: int

    @classmethod
    def of(cls, data: object) -> Table:
        """The table behind a mapping of columns or a dataframe that polars can hold."""
        if isinstance(data, Mapping):
            named_columns = {str(column_name): _cells(values) for column_name, values in data.items()}
            column_lengths = {column_name: len(values) for column_name, values in named_columns.items()}
            if len(set(column_lengths.values())) > 1:
                lengths_text = ", ".join(f"{column_name}: {length}" for column_name, length in column_lengths.items())
                raise DataError(f"columns must be equally long; got {lengths_text}")
            return cls(named_columns, tuple(named_columns), next(iter(column_lengths.values()), 0))
        if isinstance(data, pl.LazyFrame):
            row_count = int(data.select(pl.len()).collect(engine="streaming").item())
            return cls(data, tuple(data.collect_schema().names()), row_count)
        if not is_frame(data):
            raise DataError(f"a dataframe, or a mapping of columns, is needed; got {type(data).__name__}")
        frame = nw.from_native(data, eager_only=True)  # type: ignore[type-var]  # it refuses lazy frames
        return cls(frame, tuple(frame.columns), len(frame))

    def column(self, name: str) -> pl.Series | list[Any]:
        """The cells of a column."""
        if isinstance(self.data, dict):
            cells: pl.Series | list[Any] = self.data[name]
            return cells
        if isinstance(self.data, pl.LazyFrame):
            return self.data.select(name).collect(engine="streaming")[name]
        series = self.data[name]
        plain_cells: pl.Series | list[Any] = series.to_list() if series.dtype == nw.Object else series.to_polars()
        return plain_cells


def _cells(values: object) -> pl.Series | list[Any]:
    """A column of a mapping: a series where its type is plain, otherwise its cells as Python values."""
    if isinstance(values, pl.Series):
        return values
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iufbU":
        masked = isinstance(values, np.ma.MaskedArray)
        return cells_of(values) if masked else pl.Series(values)  # type: ignore[return-value]
    cells = cells_of(values)
    if isinstance(cells, np.ndarray):
        raise DataError(f"a column must hold one cell for each respondent; got an array of shape {cells.shape}")
    return cells


def texts_of_values(column: pl.Series) -> pl.Series:
    """Cells as texts by their value, 53 and 53.0 both as ``53``; empty texts are gaps, and lists stay as they are."""
    if column.dtype.is_nested():
        return column
    if column.dtype.is_float():
        column = column.fill_nan(None)
    texts = column.cast(pl.String).str.replace(r"^(-?\d+)\.0+$", "$1")
    return texts.set(texts == "", None)


MONTH_WAYS = "2009-03, 200903, or a date"
_EARLIEST_YEAR, _LATEST_YEAR = 1_000, 9_999
_MONTH_FORM, _DATE_FORM = r"^(\d{4})-?(\d{2})$", r"^(\d{4}-\d{2}-\d{2})(?:\D.*)?$"


def months_of(cells: pl.Series, *, column: str) -> NDArray[np.int64]:
    """Months since the year 0, (n,), as 12 · year + month − 1.

    Raises
    ------
    DataError
        A cell that is empty or no month, with its row.
    """
    year, month = _years_and_months(cells, column)
    row = first_row((~month.is_between(1, 12) | ~year.is_between(_EARLIEST_YEAR, _LATEST_YEAR)).fill_null(value=True))
    if row is not None:
        cell_text = "is empty" if cells[row] in (None, "") else f"holds {str(cells[row])[:40]!r}"
        problem = (
            f"every row of a wave needs its month; column {column!r}, row {row + 1}, {cell_text} (write {MONTH_WAYS})"
        )
        raise DataError(problem, row=row, column=column, value=cells[row])
    return (12 * year + month - 1).to_numpy()


def _years_and_months(cells: pl.Series, column: str) -> tuple[pl.Series, pl.Series]:
    """Years and months of the year, null where a cell is no month."""
    if cells.dtype.is_temporal() and cells.dtype not in (pl.Time, pl.Duration):
        return cells.dt.year().cast(pl.Int64), cells.dt.month().cast(pl.Int64)
    if cells.dtype.is_numeric():
        cell_numbers = cells.cast(pl.Float64)
        month_numbers = cell_numbers.set(cell_numbers != cell_numbers.floor(), None).cast(pl.Int64, strict=False)
        month_numbers = month_numbers.set(~month_numbers.is_between(0, 100 * _LATEST_YEAR + 99), None)
        return month_numbers // 100, month_numbers % 100
    if cells.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        cell_texts = cells.cast(pl.String).str.strip_chars()
        # null for the 30th of February
        cell_days = cell_texts.str.extract(_DATE_FORM).str.to_date("%Y-%m-%d", strict=False)
        month_groups = cell_texts.str.extract_groups(_MONTH_FORM).struct
        year, month = (
            pl.Series(date_part, dtype=pl.Int64) for date_part in (cell_days.dt.year(), cell_days.dt.month())
        )
        return year.fill_null(month_groups[0].cast(pl.Int64)), month.fill_null(month_groups[1].cast(pl.Int64))
    raise DataError(
        f"the month of a wave is written as {MONTH_WAYS}; column {column!r} holds {cells.dtype}", column=column
    )


def one_month(value: object) -> int:
    """One month, counted like `months_of`."""
    try:
        return int(months_of(pl.Series([local(value)]), column="month")[0])
    except (DataError, TypeError):
        raise DataError(f"a month is written as {MONTH_WAYS}; got {value!r}", value=value) from None


def month_text(month: int) -> str:
    """A month as 2009-03."""
    return f"{month // 12:04d}-{month % 12 + 1:02d}"


def month_texts(months: Sequence[int] | NDArray[np.int64]) -> pl.Series:
    """Months as 2009-03."""
    return each_once(months, month_text, pl.String())


def each_once(
    numbers: Sequence[int] | NDArray[np.int64], value_of: Callable[[int], object], kind: pl.DataType
) -> pl.Series:
    """What `value_of` gives for each number; it is called once for each distinct number."""
    distinct_numbers, number_places = np.unique(np.asarray(numbers, np.int64), return_inverse=True)
    return pl.Series(list(map(value_of, distinct_numbers.tolist())), dtype=kind).gather(number_places)


def local(value: Cell) -> Cell:
    """A time as its own clock shows it: in UTC, to which polars moves it, it may lie in another month."""
    return value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value
