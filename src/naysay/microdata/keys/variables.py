"""Key variables of a file, encoded once. Every question about anonymity starts here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.keys.cells import CellSet, compact
from naysay.microdata.keys.codes import Form, Plain
from naysay.microdata.keys.engines import KeySpec, Remote, encoded
from naysay.microdata.keys.table import Table, check_names, engine_of, first_row
from naysay.microdata.keys.tuples import Tuples, tallied
from naysay.responses import cells_of

POLICIES = ("wildcard", "category", "drop")

Progress = Callable[[float], None]
"""A function that is called with the share of the work that is done, from 0 to 1."""


@dataclass(frozen=True, eq=False)
class Variable:
    """One key variable: its distinct cells, and the policy for missing ones.

    Parameters
    ----------
    name : str
    cells : CellSet
    policy : {"wildcard", "category", "drop"}
        A missing cell matches everything, is a value of its own, or deletes its respondent, respectively.
    """

    name: str
    cells: CellSet
    policy: str = "wildcard"


class Keys:
    """Key variables (a quasi-identifier) of the respondents of a file.

    Parameters
    ----------
    table : dataframe or mapping
        Any dataframe that narwhals takes, eager or lazy, or a mapping of columns. None, NaN, null and the empty text
        are missing; a list is a set of candidate values; "not applicable" is a value like others.
    columns : sequence of str
        The key variables.
    missing : {"wildcard", "category", "drop"} or mapping of name to these
        What a missing cell means: it matches everything (default), is a category of its own, or deletes the respondent.
    cells : mapping of name to Form, optional
        How a variable writes its candidates, where not as plain values and lists: `Joined`, `Either`, `Between`,
        `Chances`, `Privatized`.
    weights : str or (n,) float, optional
        Sampling weights, all positive: a column, or the numbers.
    progress : callable, optional
        Called with the share of the keys that are read, from 0 to 1.

    Raises
    ------
    DataError
        Keys that the table does not have, floats that are not whole, values of different kinds in one column, empty
        sets of candidates, weights that are not positive, a table without rows.

    Examples
    --------
    >>> from naysay import microdata
    >>> table = {"age": [40, 36, None, 40, 23, 23], "gender": ["M", "F", "M", None, "M", "M"]}
    >>> keys = microdata.Keys(table, ["age", "gender"])
    >>> keys
    <Keys: age, gender; 6 respondents, 5 distinct>
    >>> microdata.anonymity(keys)
    masked_array(data=[1, 1, --, --, 2, 2], ...)
    >>> microdata.matches(keys)
    array([3, 1, 5, 3, 3, 3])
    >>> microdata.matches(keys.only(["gender"]))
    array([5, 2, 5, 6, 5, 5])
    """

    def __init__(
        self,
        table: Any,
        columns: Sequence[str],
        *,
        missing: str | Mapping[str, str] = "wildcard",
        cells: Mapping[str, Form] | None = None,
        weights: str | ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> None:
        key_specs = _key_specs(_names(columns), missing, cells or {})
        self._weight_name = weights if isinstance(weights, str) else "weights"
        self._weights: NDArray[np.float64] | None = None
        self._owner: NDArray[Any] | None = None
        self.remote: Remote | None = None
        engine = engine_of(table)
        if engine is None:
            self._read_in_memory(Table.of(table), key_specs, weights, progress)
        else:
            self._read_on_engine(engine, table, key_specs, weights)

    def _read_in_memory(
        self, source: Table, key_specs: Sequence[KeySpec], weights: str | ArrayLike | None, progress: Progress | None
    ) -> None:
        """Encode a table in memory."""
        if not source.n:
            raise DataError("at least one respondent is needed; the table has no rows")
        variables, codes = [], []
        for name, form, policy in key_specs:
            check_names(form.columns(name), source.names)
            column_codes, cells = form.read(source, name)
            column_codes, cells = cells.under(policy, column_codes)
            variables.append(Variable(name, cells, policy))
            codes.append(compact(column_codes, cells.size))
            if progress is not None:
                progress(len(codes) / len(key_specs))
        self._weights = None if weights is None else _weights(source, weights)
        self.variables = tuple(variables)
        first, owner, count = tallied(codes, self.sizes)
        self._owner = _checks.read_only(owner)
        weight = None if self._weights is None else np.bincount(owner, self._weights, len(first)).astype(np.float64)
        self.tuples = Tuples(tuple(column_codes[first] for column_codes in codes), self.sizes, count, weight)

    def _read_on_engine(
        self, engine: str, data: Any, key_specs: Sequence[KeySpec], weights: str | ArrayLike | None
    ) -> None:
        """Encode and count a table on its engine. Only its distinct tuples are collected, when they are needed."""
        if weights is not None and not isinstance(weights, str):
            raise DataError(f"on {engine} weights are named by their column; got {type(weights).__name__}")
        self.remote, cells = encoded(data, engine, key_specs, weights)
        self.variables = tuple(
            Variable(name, cell_set, policy) for (name, _, policy), cell_set in zip(key_specs, cells, strict=True)
        )

    @cached_property
    def tuples(self) -> Tuples:
        """Distinct tuples of cells and how many respondents have each."""
        if self.remote is None:
            raise AttributeError("tuples")  # a table in memory sets them when it is read
        return self.remote.collect(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of each variable, the missing one included."""
        return tuple(variable.cells.size + 1 for variable in self.variables)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the key variables."""
        return tuple(variable.name for variable in self.variables)

    @property
    def n(self) -> int:
        """Respondents."""
        return self.tuples.n

    @property
    def distinct(self) -> int:
        """How many distinct tuples of cells there are."""
        return len(self.tuples)

    @property
    def owner(self) -> NDArray[np.integer[Any]]:
        """The place of each respondent's tuple among the distinct ones, (n,).

        Raises
        ------
        DataError
            For a table on an engine, whose rows have no order: ask for `histogram` or `attached`.
        """
        if self._owner is None:
            raise DataError(
                "rows on DuckDB and Spark have no order; ask for microdata.histogram(keys), or for microdata.attached("
                "keys), the table with k and m of each respondent"
            )
        return self._owner

    def variable(self, name: str) -> Variable:
        """One of the key variables."""
        check_names([name], self.columns, what="key")
        return self.variables[self.columns.index(name)]

    def candidates(self, name: str) -> tuple[tuple[Any, ...], ...]:
        """The values that each respondent may hold on a key; none are listed where everything is possible."""
        cells = self.variable(name).cells
        cell_candidates = [cells.candidates(cell) for cell in range(cells.size + 1)]
        column = self.tuples.columns[self.columns.index(name)]
        return tuple(cell_candidates[cell] for cell in column[self.owner].tolist())

    def only(self, columns: Sequence[str]) -> Keys:
        """Some of the keys, from what is encoded already."""
        names = _names(columns)
        if names == self.columns:
            return self
        check_names(names, self.columns, what="key")
        places = [self.columns.index(name) for name in names]
        variables = [self.variables[place] for place in places]
        has_tuples = "tuples" in self.__dict__  # asking for them would collect a table on an engine
        some_keys = self.of_tuples(variables, *(self.tuples.only(places) if has_tuples else ()))
        some_keys.remote = None if self.remote is None else self.remote.only(places)
        return some_keys

    def of_tuples(
        self, variables: Sequence[Variable], tuples: Tuples | None = None, moved: NDArray[Any] | None = None
    ) -> Keys:
        """Keys of the same respondents, their tuples already counted; `moved` holds the new place of each old tuple."""
        some_keys = object.__new__(Keys)
        some_keys.variables, some_keys.remote = tuple(variables), None
        some_keys._weights, some_keys._weight_name = self._weights, self._weight_name
        some_keys._owner = None if self._owner is None or moved is None else moved[self._owner]
        if tuples is not None:
            some_keys.tuples = tuples
        return some_keys

    def merged(self, name: str, into: ArrayLike) -> Keys:
        """The same keys with some values of one of them merged: its value number i becomes value number into[i].

        Sets of candidates become sets of the new values; what is missing stays missing. The new values are numbers.

        Parameters
        ----------
        name : str
        into : (values,) int
            For each value, in the order of ``variable(name).cells.values``, a number from 0.
        """
        old_variable, place = self.variable(name), self.columns.index(name)
        cells, number = old_variable.cells.merged(np.asarray(into, np.int64))
        columns, sizes, variables = list(self.tuples.columns), list(self.sizes), list(self.variables)
        columns[place], sizes[place] = compact(number[columns[place]], cells.size), cells.size + 1
        variables[place] = Variable(name, cells, old_variable.policy)
        merged_tuples = Tuples(tuple(columns), tuple(sizes), self.tuples.count, self.tuples.weight)
        return self.of_tuples(variables, *merged_tuples.only(range(len(columns))))

    @cached_property
    def kept(self) -> NDArray[np.bool_]:
        """Which distinct tuples are assessed: those without a missing cell under the policy "drop"."""
        is_kept = np.ones(self.distinct, bool)
        for variable, column in zip(self.variables, self.tuples.columns, strict=True):
            if variable.policy == "drop":
                is_kept &= column > 0
        return is_kept

    @cached_property
    def complete(self) -> NDArray[np.bool_]:
        """Which distinct tuples listwise deletion keeps: those whose keys are all known for certain."""
        is_complete = self.kept.copy()
        for variable, column in zip(self.variables, self.tuples.columns, strict=True):
            is_complete &= (column > 0) & (column <= len(variable.cells.values))
        return is_complete

    @cached_property
    def warnings(self) -> tuple[StatisticalWarning, ...]:
        """Warnings about keys that are constant, all different, or missing for everybody."""
        warning_texts = []
        for name, column in zip(self.columns, self.tuples.columns, strict=True):
            cell_counts = np.bincount(column, self.tuples.count)
            present = int((cell_counts[1:] > 0).sum())
            if not present:
                warning_texts.append(f"key {name!r} is missing for everybody: it tells nobody apart")
            elif present == 1 and not cell_counts[0]:
                warning_texts.append(f"key {name!r} is the same for everybody: it tells nobody apart")
            elif present > 1 and cell_counts[1:].max() == 1:
                names = f"key {name!r} differs for all who have it: it names people"
                warning_texts.append(f"{names}, and should not be in a file to be released")
        return tuple(StatisticalWarning(text) for text in warning_texts)

    @overload
    def weight(self, weights: None) -> None: ...
    @overload
    def weight(self, weights: str | ArrayLike) -> NDArray[np.float64]: ...
    def weight(self, weights: str | ArrayLike | None) -> NDArray[np.float64] | None:
        """Sum of the sampling weights over each distinct tuple, (distinct,); None without weights."""
        if weights is None:
            return None
        if isinstance(weights, str) and weights == self._weight_name and self.tuples.weight is not None:
            return self.tuples.weight
        return np.bincount(self.owner, self.each_weight(weights), self.distinct).astype(np.float64)

    def each_weight(self, weights: str | ArrayLike) -> NDArray[np.float64]:
        """The sampling weight of each respondent, (n,)."""
        if not isinstance(weights, str):
            return positive(weights, self.n)
        if self._weights is None or weights != self._weight_name:
            raise DataError(f"these keys hold no weights {weights!r}; name them in Keys(..., weights={weights!r})")
        return self._weights

    def __repr__(self) -> str:
        return f"<Keys: {', '.join(self.columns)}; {self.n} respondents, {self.distinct} distinct>"


def _names(columns: Sequence[str]) -> tuple[str, ...]:
    if isinstance(columns, str):
        raise DataError(f"keys are a list of column names; got the single text {columns!r} (write [{columns!r}])")
    names = tuple(columns)
    if not names:
        raise DataError("at least one key is needed; got none")
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise DataError(f"keys are named by their columns; got {name!r}")
        if name in names[:place]:
            raise DataError(f"keys must differ; {name!r} is named twice", column=name)
    return names


def _key_specs(names: Sequence[str], missing: str | Mapping[str, str], cells: Mapping[str, Form]) -> list[KeySpec]:
    """Each key with its form and its policy, after checking both."""
    policies = dict.fromkeys(names, missing) if isinstance(missing, str) else missing
    check_names([*cells, *policies], names, what="key")
    for name, form in cells.items():
        if not isinstance(form, Form):
            raise DataError(
                f"the cells of {name!r} must be declared as Joined, Either, Between, Chances or Privatized;"
                f" got {form!r}"
            )
    for name, policy in policies.items():
        if policy not in POLICIES:
            message = f"missing cells of {name!r} can be one of {_checks.listing_text(POLICIES)}; got {policy!r}"
            raise DataError(message, column=name)
    return [(name, cells.get(name, Plain()), policies.get(name, "wildcard")) for name in names]


def _weights(source: Table, weights: str | ArrayLike) -> NDArray[np.float64]:
    if isinstance(weights, str):
        check_names([weights], source.names)
        name, cells = weights, [np.nan if cell is None else cell for cell in cells_of(source.column(weights))]
        try:
            weights = np.array(cells, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(f"sampling weights must be numbers; column {name!r} is not", column=name) from None
    return positive(weights, source.n)


def positive(weights: ArrayLike, n: int) -> NDArray[np.float64]:
    """Sampling weights (n,), after checking that they are positive numbers."""
    numbers = np.asarray(weights)
    plain = numbers.dtype.kind in "iuf" and numbers.shape == (n,)
    if plain and (row := first_row(~(np.isfinite(numbers) & (numbers > 0)))) is not None:
        message = f"sampling weights must be positive numbers; the one in row {row + 1} is not"
        message += " (leave out respondents who stand for nobody)"
        raise DataError(message, row=row, value=float(numbers[row]))
    return _checks.amounts(weights, what="weights", length=n)
