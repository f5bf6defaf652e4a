"""How often an intruder who knows a person's true keys finds that person's record in a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.codes import Form, Plain, is_collection
from naysay.microdata.keys.table import Table, check_names, texts_of_values
from naysay.microdata.keys.tuples import Tuples, grouped
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.matches import matches_of_tuples

Counts = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class InformedIntruder:
    """The success of an intruder who knows that a person is in the file, and the person's true keys.

    Parameters
    ----------
    success : (people,) float
        For each person of the original: the probability that the record picked is theirs; 0 where the release does not
        hold their record.
    at_risk : (people,) bool
        Whose number of matches m was below `below` in the original.
    below : int
    """

    success: NDArray[np.float64]
    at_risk: Truths
    below: int

    def __post_init__(self) -> None:
        for name in ("success", "at_risk"):
            object.__setattr__(self, name, _checks.read_only(getattr(self, name)))

    @property
    def mean(self) -> float:
        """The mean over all people of the original."""
        return float(self.success.mean())

    @property
    def highest(self) -> float:
        """The largest of these probabilities."""
        return float(self.success.max())

    @property
    def people_at_risk(self) -> int:
        """How many people had m below `below` in the original."""
        return int(self.at_risk.sum())

    @property
    def mean_at_risk(self) -> float:
        """The mean over those at risk in the original; NaN where there were none."""
        return float(self.success[self.at_risk].mean()) if self.at_risk.any() else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """The numbers as fields of a JSON object."""
        return {
            "mean": self.mean,
            "highest": self.highest,
            "below": self.below,
            "people_at_risk": self.people_at_risk,
            "mean_at_risk": self.mean_at_risk if self.people_at_risk else None,
        }


def informed(
    original: Any,
    released: Any,
    keys: Sequence[str],
    *,
    below: int = 3,
    recoded: Mapping[str, Mapping[Any, Any]] | None = None,
    rows: ArrayLike | None = None,
    cells: Mapping[str, Form] | None = None,
) -> InformedIntruder:
    """How often an intruder who knows the true keys of a person picks that person's record of a release.

    The intruder takes the released records that are consistent with what the original holds of their target, and among
    these the ones with the fewest gaps; of several that remain, one at random. Only keys that the original knows count:
    where it has a gap, the intruder knows nothing. With the original as its own release, this is the success *before*.

    Parameters
    ----------
    original, released : dataframe or mapping of columns
        One row a person, in the same order, unless `rows` is given.
    keys : sequence of str
        What the intruder knows.
    below : int
        People are at risk if their number of matches m in the original is below this.
    recoded : {key: {value: value}}, optional
        What values of the original became in the release, for keys that were recoded: intruders know the recoding, too.
    rows : (released,) int, optional
        Which row of the original each released record was, counted from 0, where some were left out or all were moved.
    cells : {key: form}, optional
        How sets of candidates are written, see `Keys`.

    Raises
    ------
    DataError
        Tables of different lengths without `rows`, rows that are not those of different people, keys that a table does
        not have.

    Examples
    --------
    >>> original = {"age": [40, 40, 36, 23], "sex": ["f", "f", "m", "m"]}
    >>> released = {"age": [40, 40, None, None], "sex": ["f", "f", "m", "m"]}
    >>> informed(original, original, ["age", "sex"]).mean
    0.75
    >>> found = informed(original, released, ["age", "sex"])
    >>> found.success
    array([0.5, 0.5, 0.5, 0.5])
    >>> found.highest, found.people_at_risk, found.mean_at_risk
    (0.5, 4, 0.5)

    Notes
    -----
    Values match if they are equal. After noise, swaps, random rounding or microaggregation the right record is not
    found by equal values, and a success near 0 says nothing: `naysay.microdata.attack` finds the nearest record.

    A record is suppressed in vain if another one, with fewer gaps, does not fit its person: this is why emptying two
    records of a file protects nobody else, although m is at least 3 for everybody then. No strategy beats 1/k, with k
    records that show the same, gaps included; see `readings`.
    """
    people, release = Table.of(original), Table.of(released)
    person = _person_of_record(people.n, release.n, rows)
    stacked_keys = Keys(_stacked_columns(people, release, keys, recoded or {}, cells or {}), keys, cells=cells)
    owner = stacked_keys.owner.astype(np.int64)
    truth, released_tuples = owner[: people.n], owner[people.n :]
    amount = np.bincount(released_tuples, minlength=stacked_keys.distinct)
    true_tuples = np.unique(truth)
    vague, number = np.full(stacked_keys.distinct, -1), np.zeros(stacked_keys.distinct, np.int64)
    for pattern_tuples, places in _patterns(stacked_keys.tuples, true_tuples):
        vague[pattern_tuples], number[pattern_tuples] = _fewest_gaps(
            stacked_keys, pattern_tuples, np.flatnonzero(amount), amount, places
        )
    right = _consistent(stacked_keys, truth[person], released_tuples) & (
        _uncertain_keys(stacked_keys, released_tuples, truth[person]) == vague[truth[person]]
    )
    success = np.zeros(people.n)
    success[person[right]] = 1 / number[truth[person[right]]]
    people_counts = np.bincount(truth, minlength=stacked_keys.distinct)
    return InformedIntruder(success, (matches_of_tuples(stacked_keys, people_counts)[truth] < below), below)


def _person_of_record(n: int, records: int, rows: ArrayLike | None) -> Counts:
    """The row of the original that each released record was."""
    if rows is None:
        if n != records:
            message = (
                "a release has the rows of the original in the same order, or rows= says which row each record was"
            )
            raise DataError(f"{message}; got {records:,} records for {n:,} people")
        return np.arange(n)
    person = np.asarray(rows)
    fits = person.dtype.kind in "iu" and person.shape == (records,)
    if not fits or (person < 0).any() or (person >= n).any() or len(np.unique(person)) < len(person):
        message = f"rows must be {records:,} different rows of the original, from 0 to {n - 1:,}"
        raise DataError(f"{message}, one for each released record")
    return person.astype(np.int64)


def _stacked_columns(
    people: Table,
    release: Table,
    keys: Sequence[str],
    recoded: Mapping[str, Mapping[Any, Any]],
    cells: Mapping[str, Form],
) -> dict[str, Any]:
    """The columns of the original above those of the release, of one type each."""
    check_names([*recoded], keys, what="key")
    columns = {}
    for name in dict.fromkeys(column for key in keys for column in cells.get(key, Plain()).columns(key)):
        for table in (people, release):
            check_names([name], table.names)
        above, below = people.column(name), release.column(name)
        if name in recoded:
            above = _recoded(above, recoded[name])
        columns[name] = _stacked_column(above, below)
    return columns


def _recoded(column: pl.Series | list[Any], into: Mapping[Any, Any]) -> pl.Series | list[Any]:
    """A column with other values; all of them as texts if some become texts. Sets become sets."""
    texts = any(isinstance(value, str) for value in into.values())
    if isinstance(column, pl.Series) and not column.dtype.is_nested():
        if not texts:
            return column.replace([*into], [*into.values()])
        old = pl.Series([*into], dtype=column.dtype).cast(pl.String)
        return column.cast(pl.String).replace(old, pl.Series(map(str, into.values()), dtype=pl.String))

    def recoded_cell(cell: Any) -> Any:
        if is_collection(cell):
            return list(dict.fromkeys(map(recoded_cell, cell)))
        value = into.get(cell, cell)
        return str(value) if texts and not _checks.is_missing(value) else value

    return [None if _checks.is_missing(cell) else recoded_cell(cell) for cell in column]


def _stacked_column(above: pl.Series | list[Any], below: pl.Series | list[Any]) -> pl.Series | list[Any]:
    if not isinstance(above, pl.Series) or not isinstance(below, pl.Series):
        return [*above, *below]
    kinds = {above.dtype, below.dtype} - {pl.Null}
    if (len(kinds) > 1 and pl.String in kinds) or {type(dtype) for dtype in kinds} & {pl.Categorical, pl.Enum}:
        above, below = texts_of_values(above), texts_of_values(below)  # a recoded key often is a text where it was none
    frames = [column.rename("cells").to_frame() for column in (above, below)]
    return pl.concat(frames, how="vertical_relaxed")["cells"]


def _patterns(tuples: Tuples, rows: Counts) -> Iterator[tuple[Counts, list[int]]]:
    """Some tuples by the keys that they know."""
    known_columns = [column[rows] > 0 for column in tuples.columns]
    first, pattern = grouped(known_columns, [2] * len(known_columns))
    for number, row in enumerate(first):
        yield rows[pattern == number], [place for place, known_column in enumerate(known_columns) if known_column[row]]


def _fewest_gaps(
    keys: Keys, asked_tuples: Counts, file: Counts, amount: Counts, places: Sequence[int]
) -> tuple[Counts, Counts]:
    """For each tuple asked: the fewest gaps of a record of the file that fits it on some keys, and how many have them.

    All tuples asked know these keys. Of the file, records with the same gaps are looked up together.
    """
    fewest, number = np.full(len(asked_tuples), -1), np.zeros(len(asked_tuples), np.int64)
    columns = [keys.tuples.columns[place][file] for place in places]
    uncertain = [
        column > len(keys.variables[place].cells.values) for place, column in zip(places, columns, strict=True)
    ]
    vague = np.sum(
        [(column == 0) | is_uncertain for column, is_uncertain in zip(columns, uncertain, strict=True)],
        axis=0,
        dtype=int,
    )
    vague = np.broadcast_to(vague, len(file))
    for gaps in np.unique(vague):
        open_places = np.flatnonzero(number == 0)
        for file_tuples, known_places in _patterns(keys.tuples, file[vague == gaps]):
            shared_places = [place for place in places if place in known_places]
            number[open_places] += _fitting_amounts(keys, asked_tuples[open_places], file_tuples, amount, shared_places)
        fewest[open_places[number[open_places] > 0]] = gaps
    return fewest, number


def _fitting_amounts(keys: Keys, asked_tuples: Counts, file: Counts, amount: Counts, places: Sequence[int]) -> Counts:
    """How many records of the file fit each tuple on keys that both know."""
    if not places:
        return np.full(len(asked_tuples), amount[file].sum())
    part_tuples, place = keys.tuples.take(np.concatenate([asked_tuples, file])).only(places)
    part_keys = keys.of_tuples([keys.variables[key_place] for key_place in places], part_tuples)
    fitting_amount = np.bincount(place[len(asked_tuples) :], amount[file], len(part_tuples)).astype(np.int64)
    return np.asarray(
        matches_of_tuples(part_keys, fitting_amount, rule="intersect")[place[: len(asked_tuples)]], np.int64
    )


def _uncertain_keys(keys: Keys, tuples: Counts, truth: Counts) -> Counts:
    """How many keys a tuple does not show for certain, of those that the truth knows."""
    uncertain_count = np.zeros(len(tuples), np.int64)
    for variable, column in zip(keys.variables, keys.tuples.columns, strict=True):
        shown_codes = column[tuples]
        uncertain_count += ((shown_codes == 0) | (shown_codes > len(variable.cells.values))) & (column[truth] > 0)
    return uncertain_count


def _consistent(keys: Keys, truth: Counts, released_tuples: Counts) -> Truths:
    """Whether what a record shows may be the truth, on every key."""
    fits = np.ones(len(truth), np.bool_)
    for variable, column in zip(keys.variables, keys.tuples.columns, strict=True):
        true_codes, released_codes = column[truth].astype(np.int64), column[released_tuples].astype(np.int64)
        fits &= (
            (true_codes == 0)
            | (released_codes == 0)
            | (true_codes == released_codes)
            | _share_candidate(variable.cells, true_codes, released_codes)
        )
    return fits


def _share_candidate(cells: Any, first_code: Counts, second_code: Counts) -> Truths:
    """Whether two cells that differ share a candidate."""
    if cells.certain:
        return np.zeros(len(first_code), np.bool_)
    is_shared = np.zeros(len(first_code), np.bool_)
    known_rows = np.flatnonzero((first_code > 0) & (second_code > 0))
    if len(known_rows):
        is_shared[known_rows] = (
            np.asarray(cells.agreeing(by_value=False)[first_code[known_rows] - 1, second_code[known_rows] - 1]).ravel()
            > 0
        )
    return is_shared
