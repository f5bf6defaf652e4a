"""Key variables of a file, encoded once: what a curator asks about anonymity starts here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.candidates import Form, Plain
from naysay.microdata.cells import Cells, Codes, compact
from naysay.microdata.table import Table, check_names
from naysay.microdata.tuples import Tuples, grouped
from naysay.responses import cells_of

__all__ = ["POLICIES", "Keys", "Variable", "positive"]

POLICIES = ("wildcard", "category", "drop")
MISSING_LABEL = "(missing)"


@dataclass(frozen=True, eq=False)
class Variable:
    """One key variable: its distinct cells, and what a missing one means.

    Parameters
    ----------
    name : str
    cells : Cells
    policy : {"wildcard", "category", "drop"}
        A missing cell matches everything, is a value of its own, or deletes its respondent.
    """

    name: str
    cells: Cells
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
    ) -> None:
        names = _names(columns)
        forms = _forms(names, cells or {})
        policies = _policies(names, missing)
        source = Table.of(table)
        for name in names:
            check_names(forms[name].columns(name), source.names, what="column")
        if not source.n:
            raise DataError("at least one respondent is needed; the table has no rows")
        self._weights = None if weights is None else _weights(source, weights)
        self._weight_name = weights if isinstance(weights, str) else "weights"
        self._read(source, [(name, forms[name], policies[name]) for name in names])

    def _read(self, source: Table, asked: Iterable[tuple[str, Form, str]]) -> None:
        variables, codes = [], []
        for name, form, policy in asked:
            own, cells = form.read(source, name)
            variables.append(Variable(name, cells, policy))
            codes.append(compact(own, cells.size))
        self._set(tuple(variables), tuple(codes))

    def _set(self, variables: tuple[Variable, ...], codes: tuple[Codes, ...]) -> None:
        made = [_under(variable, own) for variable, own in zip(variables, codes, strict=True)]
        self.variables = tuple(variable for variable, _ in made)
        self._codes = tuple(own for _, own in made)
        sizes = tuple(variable.cells.size + 1 for variable in self.variables)
        first, owner = grouped(self._codes, sizes)
        self._owner = _checks.read_only(owner.astype(np.int32 if len(first) < 2**31 else np.int64))
        count = np.bincount(owner, minlength=len(first))
        weight = None if self._weights is None else np.bincount(owner, self._weights, len(first)).astype(np.float64)
        self.tuples = Tuples(tuple(own[first] for own in self._codes), sizes, count, weight)

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
        """The place of each respondent's tuple among the distinct ones, (n,)."""
        return self._owner

    def variable(self, name: str) -> Variable:
        """One of the key variables."""
        check_names([name], self.columns, what="key")
        return self.variables[self.columns.index(name)]

    def candidates(self, name: str) -> tuple[tuple[Any, ...], ...]:
        """The values that each respondent may hold on a key; none are listed where everything is possible."""
        cells = self.variable(name).cells
        every = [cells.candidates(cell) for cell in range(cells.size + 1)]
        column = self.tuples.columns[self.columns.index(name)]
        return tuple(every[cell] for cell in column[self.owner].tolist())

    def only(self, columns: Sequence[str]) -> Keys:
        """Some of the keys, from what is encoded already."""
        names = _names(columns)
        check_names(names, self.columns, what="key")
        places = [self.columns.index(name) for name in names]
        part = object.__new__(Keys)
        part.__dict__.update(self.__dict__)
        for cached in ("kept", "warnings"):
            part.__dict__.pop(cached, None)
        part.variables = tuple(self.variables[place] for place in places)
        part.tuples, moved = self.tuples.only(places)
        part._owner = moved[self._owner]
        return part

    @cached_property
    def kept(self) -> NDArray[np.bool_]:
        """Which distinct tuples are assessed: those without a missing cell under the policy "drop"."""
        kept = np.ones(self.distinct, bool)
        for variable, column in zip(self.variables, self.tuples.columns, strict=True):
            if variable.policy == "drop":
                kept &= column > 0
        return kept

    @cached_property
    def warnings(self) -> tuple[StatisticalWarning, ...]:
        """Reservations: keys that are constant, all different, or missing for everybody."""
        found = (_reservation(place, self) for place in range(len(self.variables)))
        return tuple(StatisticalWarning(text) for text in found if text)

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
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"keys are named by their columns; got {name!r}")
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise DataError(f"keys must differ; {twice!r} is named twice", column=twice)
    return names


def _forms(names: Sequence[str], cells: Mapping[str, Form]) -> dict[str, Form]:
    check_names(list(cells), names, what="key")
    for name, form in cells.items():
        if not isinstance(form, Form):
            raise DataError(
                f"the cells of {name!r} must be declared as Joined, Either, Between, Chances or Privatized;"
                f" got {form!r}"
            )
    return {name: cells.get(name, Plain()) for name in names}


def _policies(names: Sequence[str], missing: str | Mapping[str, str]) -> dict[str, str]:
    policies = dict.fromkeys(names, missing) if isinstance(missing, str) else {**missing}
    check_names(list(policies), names, what="key")
    for name, policy in policies.items():
        if policy not in POLICIES:
            raise DataError(
                f"missing cells of {name!r} can be one of {_checks.shown(POLICIES)}; got {policy!r}", column=name
            )
    return {name: policies.get(name, "wildcard") for name in names}


def _weights(source: Table, weights: str | ArrayLike) -> NDArray[np.float64]:
    if isinstance(weights, str):
        check_names([weights], source.names)
        weights = np.array(
            [np.nan if cell is None else cell for cell in cells_of(source.column(weights))], dtype=np.float64
        )
    return positive(weights, source.n)


def positive(weights: ArrayLike, n: int) -> NDArray[np.float64]:
    """Sampling weights (n,), after checking that they are positive numbers."""
    numbers = _checks.amounts(weights, what="weights", length=n)
    if (numbers == 0).any():
        row = int((numbers == 0).argmax())
        raise DataError(
            f"sampling weights must be positive; got 0 in row {row + 1} (leave respondents that stand for nobody out)",
            row=row,
            value=0.0,
        )
    return numbers


def _under(variable: Variable, codes: Codes) -> tuple[Variable, Codes]:
    """The variable and its codes, its missing cells a category where that is the policy."""
    gone = codes == 0
    if variable.policy != "category" or not gone.any():
        return variable, codes
    own, cells = len(variable.cells.values), variable.cells.with_category(MISSING_LABEL)
    moved = codes.astype(np.int64) + (codes > own)
    moved[gone] = own + 1
    return replace(variable, cells=cells), compact(moved, cells.size)


def _reservation(place: int, keys: Keys) -> str | None:
    name, column = keys.columns[place], keys.tuples.columns[place]
    held = np.bincount(column, keys.tuples.count)
    present = int((held[1:] > 0).sum())
    if present == 0:
        return f"key {name!r} is missing for everybody: it tells nobody apart"
    if present == 1 and not held[0]:
        return f"key {name!r} is the same for everybody: it tells nobody apart"
    if present > 1 and held[1:].max() == 1:
        return f"key {name!r} differs for all who have it: it names people, and should not be in a file to be released"
    return None
