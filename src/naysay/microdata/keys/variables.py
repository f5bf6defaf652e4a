"""The key variables of a table: what an intruder may know of each respondent.

Several columns can make one key (`composite`), and the members of a household one record (`households`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Array
from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.keys.cells import CellSet, Tuples, compact, tallied
from naysay.microdata.keys.codes import Form, Plain, Table, check_names, engine_of, first_row, local
from naysay.microdata.keys.engines import KeySpec, Remote, encoded
from naysay.responses import cells_of

POLICIES = ("wildcard", "category", "drop", "impute")
_DONORS = 5  # fewer alike respondents than these would only copy one another

Progress = Callable[[float], None]
"""A function that is called with the share of the work that is done, from 0 to 1."""


@dataclass(frozen=True, eq=False)
class Variable:
    """One key variable: its distinct cells, and the policy for missing ones.

    Parameters
    ----------
    name : str
    cells : CellSet
    policy : {"wildcard", "category", "drop", "impute"}
        A missing cell matches everything, is a value of its own, deletes its respondent, or takes the value of somebody
        who is like them otherwise, respectively.
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
    missing : {"wildcard", "category", "drop", "impute"} or mapping of name to these
        What a missing cell means: it matches everything (default), is a category of its own, deletes the respondent, or
        is filled with the value of a respondent drawn among those who are alike on the other keys (hot deck; the same
        table gives the same draw).
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
        table: object,
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
        self._owner: Array | None = None
        self.remote: Remote | None = None
        if (engine := engine_of(table)) is not None:  # counted there: only distinct tuples are collected, when needed
            if any(policy == "impute" for _, _, policy in key_specs):
                raise DataError(f"missing cells are imputed in memory, not on {engine}; collect the table first")
            if weights is not None and not isinstance(weights, str):
                raise DataError(f"on {engine} weights are named by their column; got {type(weights).__name__}")
            self.remote, cell_sets = encoded(table, engine, key_specs, weights)
            keys_and_cells = zip(key_specs, cell_sets, strict=True)
            self.variables = tuple(Variable(name, cell_set, policy) for (name, _, policy), cell_set in keys_and_cells)
            return
        source = Table.of(table)
        if not source.n:
            raise DataError("at least one respondent is needed; the table has no rows")
        variables, code_columns = [], []
        for key_name, form, policy in key_specs:
            check_names(form.columns(key_name), source.names)
            column_codes, cell_set = form.read(source, key_name)
            column_codes, cell_set = cell_set.under(policy, column_codes)
            variables.append(Variable(key_name, cell_set, policy))
            code_columns.append(compact(column_codes, cell_set.size))
            if progress is not None:
                progress(len(code_columns) / len(key_specs))
        code_columns = _imputed(variables, code_columns)
        self._weights = None if weights is None else _weights(source, weights)
        self.variables = tuple(variables)
        first_rows, owner, tuple_counts = tallied(code_columns, self.sizes)
        self._owner = _checks.read_only(owner)
        tuple_weights = None
        if self._weights is not None:
            tuple_weights = np.bincount(owner, self._weights, len(first_rows)).astype(np.float64)
        tuple_columns = tuple(column_codes[first_rows] for column_codes in code_columns)
        self.tuples = Tuples(tuple_columns, self.sizes, tuple_counts, tuple_weights)

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
        cell_set = self.variable(name).cells
        cell_candidates = [cell_set.candidates(cell) for cell in range(cell_set.size + 1)]
        code_column = self.tuples.columns[self.columns.index(name)]
        return tuple(cell_candidates[cell] for cell in code_column[self.owner].tolist())

    def only(self, columns: Sequence[str]) -> Keys:
        """Some of the keys, from what is encoded already."""
        key_names = _names(columns)
        if key_names == self.columns:
            return self
        check_names(key_names, self.columns, what="key")
        key_places = [self.columns.index(key_name) for key_name in key_names]
        some_variables = [self.variables[key_place] for key_place in key_places]
        has_tuples = "tuples" in self.__dict__  # asking for them would collect a table on an engine
        some_keys = self.of_tuples(some_variables, *(self.tuples.only(key_places) if has_tuples else ()))
        some_keys.remote = None if self.remote is None else self.remote.only(key_places)
        return some_keys

    def of_tuples(
        self, variables: Sequence[Variable], tuples: Tuples | None = None, moved: Array | None = None
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
        old_variable, key_place = self.variable(name), self.columns.index(name)
        merged_cells, cell_numbers = old_variable.cells.merged(np.asarray(into, np.int64))
        code_columns, column_sizes, merged_variables = list(self.tuples.columns), list(self.sizes), list(self.variables)
        code_columns[key_place] = compact(cell_numbers[code_columns[key_place]], merged_cells.size)
        column_sizes[key_place] = merged_cells.size + 1
        merged_variables[key_place] = Variable(name, merged_cells, old_variable.policy)
        merged_tuples = Tuples(tuple(code_columns), tuple(column_sizes), self.tuples.count, self.tuples.weight)
        return self.of_tuples(merged_variables, *merged_tuples.only(range(len(code_columns))))

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
        for key_name, code_column in zip(self.columns, self.tuples.columns, strict=True):
            cell_counts = np.bincount(code_column, self.tuples.count)
            value_count = int((cell_counts[1:] > 0).sum())
            if not value_count:
                warning_texts.append(f"key {key_name!r} is missing for everybody: it tells nobody apart")
            elif value_count == 1 and not cell_counts[0]:
                warning_texts.append(f"key {key_name!r} is the same for everybody: it tells nobody apart")
            elif value_count > 1 and cell_counts[1:].max() == 1:
                warning_text = f"key {key_name!r} differs for all who have it: it names people"
                warning_texts.append(f"{warning_text}, and should not be in a file to be released")
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
    key_names = tuple(columns)
    if not key_names:
        raise DataError("at least one key is needed; got none")
    for key_place, key_name in enumerate(key_names):
        if not isinstance(key_name, str):
            raise DataError(f"keys are named by their columns; got {key_name!r}")
        if key_name in key_names[:key_place]:
            raise DataError(f"keys must differ; {key_name!r} is named twice", column=key_name)
    return key_names


def _key_specs(names: Sequence[str], missing: str | Mapping[str, str], cells: Mapping[str, Form]) -> list[KeySpec]:
    """Each key with its form and its policy, after checking both."""
    policies = dict.fromkeys(names, missing) if isinstance(missing, str) else missing
    check_names([*cells, *policies], names, what="key")
    for key_name, form in cells.items():
        if not isinstance(form, Form):
            raise DataError(
                f"the cells of {key_name!r} must be declared as Joined, Either, Between, Chances or Privatized;"
                f" got {form!r}"
            )
    for key_name, policy in policies.items():
        if policy not in POLICIES:
            message = f"missing cells of {key_name!r} can be one of {_checks.listing_text(POLICIES)}; got {policy!r}"
            raise DataError(message, column=key_name)
    return [(key_name, cells.get(key_name, Plain()), policies.get(key_name, "wildcard")) for key_name in names]


def _imputed(variables: Sequence[Variable], code_columns: list[Array]) -> list[Array]:
    """The codes with missing cells filled where a key says so, by a hot deck.

    A donor is drawn among the respondents who show the same on all other keys, or where fewer than `_DONORS` do, on all
    but the last of them, and so on. Values are those before any was filled, so that the order of the keys changes only
    who is alike.
    """
    rng = np.random.default_rng(0)  # fixed, so that a printed number can be reproduced
    filled_columns = list(code_columns)
    for place, variable in enumerate(variables):
        codes = np.asarray(code_columns[place])
        pending = np.flatnonzero(codes == 0)
        if variable.policy != "impute" or not len(pending):
            continue
        if len(pending) == len(codes):
            raise DataError(f"nobody shows {variable.name!r}, so that nothing can be imputed", column=variable.name)
        filled = codes.copy()
        others = [np.asarray(column) for other, column in enumerate(code_columns) if other != place]
        donors = np.flatnonzero(codes)
        for alike in range(len(others), -1, -1):
            group_of_row = (
                np.unique(np.column_stack(others[:alike]), axis=0, return_inverse=True)[1].reshape(-1)
                if alike
                else np.zeros(len(codes), dtype=np.int64)
            )
            sorted_donors = donors[np.argsort(group_of_row[donors], kind="stable")]
            donor_groups = group_of_row[sorted_donors]
            starts = np.searchsorted(donor_groups, group_of_row[pending], "left")
            numbers = np.searchsorted(donor_groups, group_of_row[pending], "right") - starts
            has_donors = numbers >= (_DONORS if alike else 1)
            drawn = starts[has_donors] + rng.integers(0, numbers[has_donors])
            filled[pending[has_donors]] = codes[sorted_donors[drawn]]
            pending = pending[~has_donors]
        filled_columns[place] = _checks.read_only(filled)
    return filled_columns


def _weights(source: Table, weights: str | ArrayLike) -> NDArray[np.float64]:
    if isinstance(weights, str):
        check_names([weights], source.names)
        weight_name, cells = weights, [np.nan if cell is None else cell for cell in cells_of(source.column(weights))]
        try:
            weights = np.array(cells, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(
                f"sampling weights must be numbers; column {weight_name!r} is not", column=weight_name
            ) from None
    return positive(weights, source.n)


def positive(weights: ArrayLike, n: int) -> NDArray[np.float64]:
    """Sampling weights (n,), after checking that they are positive numbers."""
    raw_weights = np.asarray(weights)
    is_plain = raw_weights.dtype.kind in "iuf" and raw_weights.shape == (n,)
    if is_plain and (row := first_row(~(np.isfinite(raw_weights) & (raw_weights > 0)))) is not None:
        message = f"sampling weights must be positive numbers; the one in row {row + 1} is not"
        message += " (leave out respondents who stand for nobody)"
        raise DataError(message, row=row, value=float(raw_weights[row]))
    return _checks.amounts(weights, what="weights", length=n)


_BETWEEN, _UNKNOWN = "|", "?"


def column_of(table: Table, name: str) -> pl.Series:
    """A column, null where nothing is known: nulls, NaN and empty texts.

    Raises
    ------
    DataError
        A column of Python values of several kinds.
    """
    cells = table.column(name)
    if not isinstance(cells, pl.Series):
        plain_cells = [None if _checks.is_missing(cell) else local(cell) for cell in cells]
        known_cells = [cell for cell in plain_cells if cell is not None]
        number_types = (int, float, np.number)
        kind_names = {"number" if isinstance(cell, number_types) else type(cell).__name__ for cell in known_cells}
        check_one_kind(sorted(kind_names), name)
        cells = pl.Series(name, plain_cells, strict=False)
    if cells.dtype.is_float():
        return cells.fill_nan(None)
    if cells.dtype in (pl.Categorical, pl.Enum):
        cells = cells.cast(pl.String)
    return cells.set(cells == "", None) if cells.dtype == pl.String else cells


def check_one_kind(kinds: Collection[object], name: str, where: str = "") -> None:
    """Raise unless the cells of a column are of one kind."""
    if len(kinds) > 1:
        raise DataError(
            f"column {name!r} must hold values of one kind{where}; it holds {_checks.listing_text(kinds)}"
            " (make them all texts, or all numbers)",
            column=name,
        )


def composite(table: object, columns: Sequence[str], *, missing: Literal["any", "all"] = "any") -> pl.Series:
    """Several columns as one key variable, (n,): whoever knows one part of the answer knows them all.

    For example, seventeen fields of education, each ticked or not, are one variable; its value is the ticked fields.

    Parameters
    ----------
    table : dataframe or mapping of columns, (n,) rows
    columns : sequence of str
        Its parts, in order.
    missing : {"any", "all"}
        "any": the key is missing where any part is, and matches everything there. "all": the key is missing only where
        all parts are; elsewhere a missing part is a value of its own, written ``?``.

    Returns
    -------
    pl.Series of text
        The parts joined by ``|``; a backslash stands before a ``|``, ``?`` or backslash that a part holds itself.

    Raises
    ------
    DataError
        Fewer than two columns, or columns that the table does not have.

    Examples
    --------
    >>> from naysay.microdata import panel
    >>> table = {"law": [1, 0, None], "medicine": [0, 1, 1], "arts": [1, 0, 0]}
    >>> panel.composite(table, ["law", "medicine", "arts"]).to_list()
    ['1|0|1', '0|1|0', None]
    >>> panel.composite(table, ["law", "medicine", "arts"], missing="all").to_list()
    ['1|0|1', '0|1|0', '?|1|0']

    Source: Mulder, section 3.2 (religion, social media, language and educational field).
    """
    if isinstance(columns, str) or len(set(columns)) < 2:
        raise DataError(f"a composite needs two or more columns; got {columns!r}")
    if missing not in ("any", "all"):
        raise DataError(f"a composite is missing where 'any' part is, or where 'all' are; got {missing!r}")
    source_table = Table.of(table)
    check_names(list(columns), source_table.names)
    cells_of = {column_name: column_of(source_table, column_name) for column_name in columns}
    for column_name, series in cells_of.items():
        are_whole = series.dtype.is_float() and bool((series == series.round(0)).all())  # 1.0 is written as 1
        cells_of[column_name] = (
            (series.cast(pl.Int64) if are_whole else series).cast(pl.String).str.replace_all(r"([\\|?])", r"\$1")
        )
    part_frame = pl.DataFrame(cells_of)
    joined_parts = pl.concat_str(pl.col(columns).fill_null(_UNKNOWN), separator=_BETWEEN)
    missing_rule = pl.any_horizontal if missing == "any" else pl.all_horizontal
    return part_frame.select(pl.when(~missing_rule(pl.col(columns).is_null())).then(joined_parts).alias("composite"))[
        "composite"
    ]


def households(
    table: object, keys: Sequence[str], *, by: str, own: Sequence[str] = (), missing: Literal["any", "all"] = "any"
) -> Keys:
    """Keys of households: the multiset of the keys of their members, and keys of their own.

    A household can stand out although none of its members does. What is asked of people's keys can be asked of these:
    k, m, θ and models of the population then count households.

    Parameters
    ----------
    table : dataframe or mapping of columns
        One row a person.
    keys : sequence of str
        What an intruder knows of each member.
    by : str
        The column that says to which household a person belongs.
    own : sequence of str
        Keys of the household, such as its region, alike for all of its members.
    missing : {"any", "all"}
        "any": the members' key is missing, and may be anything, where a key of one member is missing. "all": a missing
        key of a member is a value of its own, unless the member has no other.

    Raises
    ------
    DataError
        People without a household, keys of the household that differ between its members.

    Examples
    --------
    >>> from naysay import microdata
    >>> people = {"home": [1, 1, 2, 2, 3], "age": [40, 8, 8, 40, 40], "sex": ["f", "m", "m", "f", "f"]}
    >>> found = households(people, ["age", "sex"], by="home")
    >>> microdata.anonymity(found).tolist()
    [2, 2, 1]
    """
    source_table = Table.of(table)
    check_names([by, *keys, *own], source_table.names)
    household_column = column_of(source_table, by)
    if (row := first_row(household_column.is_null())) is not None:
        raise DataError(f"everybody needs a household; column {by!r} is empty in row {row + 1}", row=row, column=by)
    member_keys = (
        composite(table, keys, missing=missing) if len(keys) > 1 else column_of(source_table, keys[0]).cast(pl.String)
    )
    member_frame = pl.DataFrame({"home": household_column, "member": member_keys.str.replace_all(r"([\\;])", r"\$1")})
    member_frame = member_frame.with_columns(
        column_of(source_table, own_name).alias(f"own {own_name}") for own_name in own
    )
    household_rows = member_frame.group_by("home", maintain_order=True).agg(
        pl.when(pl.col("member").null_count() == 0).then(pl.col("member").sort().str.join(";")).alias("members"),
        *(pl.col(f"own {own_name}").n_unique().alias(f"values {own_name}") for own_name in own),
        *(pl.col(f"own {own_name}").first() for own_name in own),
    )
    for own_name in own:
        if (household_place := first_row(household_rows[f"values {own_name}"] > 1)) is not None:
            message = (
                f"a key of a household must be alike for all of its members; {own_name!r} differs within a household"
            )
            raise DataError(f"{message} (the {household_place + 1}. that comes)", column=own_name)
    return Keys(
        {"members": household_rows["members"], **{own_name: household_rows[f"own {own_name}"] for own_name in own}},
        ["members", *own],
    )
