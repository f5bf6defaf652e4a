"""Intruders: who might try, how likely it is that they succeed, and how often one is right in a release.

Pr(identification) = Pr(attempt) · Pr(success | attempt)

The file determines the second factor; the first is a judgment about people, and must be given. Elliot & Dale (1999) ask
of every intruder what drives them, what they have at hand, and what they want to find. Three answers are named here.
Each reads the table of risk in its own way.

An informed intruder knows the true keys of a person, and looks for them in a release whose keys were changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay._values import Flags
from naysay.errors import DataError
from naysay.microdata.keys.codes import Form, Plain, Table, check_choice, check_names, is_collection, texts_of_values
from naysay.microdata.keys.matches import consistent, matches_of_tuples
from naysay.microdata.keys.variables import Keys
from naysay.microdata.risk.table import QuasiIdentifier
from naysay.show import Content, Result, Sentence
from naysay.show.result import rounded_up

Counts = NDArray[np.int64]
Value = TypeVar("Value")


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
    at_risk: Flags
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
    original: object,
    released: object,
    keys: Sequence[str],
    *,
    below: int = 3,
    recoded: Mapping[str, Mapping[Value, object]] | None = None,
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
    people_table, release_table = Table.of(original), Table.of(released)
    person_of_record = _person_of_record(people_table.n, release_table.n, rows)
    stacked_keys = Keys(
        _stacked_columns(people_table, release_table, keys, recoded or {}, cells or {}), keys, cells=cells
    )
    tuple_of_row = stacked_keys.owner.astype(np.int64)
    tuple_of_person, released_tuples = tuple_of_row[: people_table.n], tuple_of_row[people_table.n :]
    released_counts = np.bincount(released_tuples, minlength=stacked_keys.distinct)
    true_tuples = np.unique(tuple_of_person)
    fewest_gaps, fitting_counts = np.full(stacked_keys.distinct, -1), np.zeros(stacked_keys.distinct, np.int64)
    for pattern_tuples, known_places in stacked_keys.tuples.by_pattern(true_tuples):
        fewest_gaps[pattern_tuples], fitting_counts[pattern_tuples] = _fewest_gaps(
            stacked_keys, pattern_tuples, np.flatnonzero(released_counts), released_counts, known_places
        )
    true_tuple = tuple_of_person[person_of_record]
    has_fewest = _uncertain_keys(stacked_keys, released_tuples, true_tuple) == fewest_gaps[true_tuple]
    is_right = consistent(stacked_keys, true_tuple, released_tuples) & has_fewest
    success_chances = np.zeros(people_table.n)
    success_chances[person_of_record[is_right]] = 1 / fitting_counts[true_tuple[is_right]]
    people_counts = np.bincount(tuple_of_person, minlength=stacked_keys.distinct)
    at_risk = matches_of_tuples(stacked_keys, people_counts)[tuple_of_person] < below
    return InformedIntruder(success_chances, at_risk, below)


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
    recoded: Mapping[str, Mapping[Value, object]],
    cells: Mapping[str, Form],
) -> dict[str, pl.Series | list[Any]]:
    """The columns of the original above those of the release, of one type each."""
    check_names([*recoded], keys, what="key")
    stacked_columns: dict[str, pl.Series | list[Any]] = {}
    for column_name in dict.fromkeys(
        column for key_name in keys for column in cells.get(key_name, Plain()).columns(key_name)
    ):
        for table in (people, release):
            check_names([column_name], table.names)
        above, below = people.column(column_name), release.column(column_name)
        if column_name in recoded:
            above = _recoded(above, recoded[column_name])
        if not isinstance(above, pl.Series) or not isinstance(below, pl.Series):
            stacked_columns[column_name] = [*above, *below]
            continue
        kinds = {above.dtype, below.dtype} - {pl.Null}
        if (len(kinds) > 1 and pl.String in kinds) or {type(dtype) for dtype in kinds} & {pl.Categorical, pl.Enum}:
            # a recoded key often is a text where it was none
            above, below = texts_of_values(above), texts_of_values(below)
        cell_frames = [column.rename("cells").to_frame() for column in (above, below)]
        stacked_columns[column_name] = pl.concat(cell_frames, how="vertical_relaxed")["cells"]
    return stacked_columns


def _recoded(column: pl.Series | Sequence[object], into: Mapping[Value, object]) -> pl.Series | list[object]:
    """A column with other values; all of them as texts if some become texts. Sets become sets."""
    has_texts = any(isinstance(value, str) for value in into.values())
    if isinstance(column, pl.Series) and not column.dtype.is_nested():
        if not has_texts:
            return column.replace([*into], [*into.values()])
        old_texts = pl.Series([*into], dtype=column.dtype).cast(pl.String)
        return column.cast(pl.String).replace(old_texts, pl.Series(map(str, into.values()), dtype=pl.String))

    values_now: dict[object, object] = dict(into.items())

    def recoded_cell(cell: object) -> object:
        if is_collection(cell):
            return list(dict.fromkeys(map(recoded_cell, cell)))
        recoded_value = values_now.get(cell, cell)
        return str(recoded_value) if has_texts and not _checks.is_missing(recoded_value) else recoded_value

    return [None if _checks.is_missing(cell) else recoded_cell(cell) for cell in column]


def _fewest_gaps(
    keys: Keys, asked_tuples: Counts, file: Counts, amount: Counts, places: Sequence[int]
) -> tuple[Counts, Counts]:
    """For each tuple asked: the fewest gaps of a record of the file that fits it on some keys, and how many have them.

    All tuples asked know these keys. Of the file, records with the same gaps are looked up together.
    """
    fewest_gaps, fitting_counts = np.full(len(asked_tuples), -1), np.zeros(len(asked_tuples), np.int64)
    code_columns = [keys.tuples.columns[key_place][file] for key_place in places]
    gap_flags = [
        (code_column == 0) | (code_column > len(keys.variables[key_place].cells.values))
        for key_place, code_column in zip(places, code_columns, strict=True)
    ]
    gap_counts = np.broadcast_to(np.sum(gap_flags, axis=0, dtype=int), len(file))
    for gap_count in np.unique(gap_counts):
        open_places = np.flatnonzero(fitting_counts == 0)
        for file_tuples, known_places in keys.tuples.by_pattern(file[gap_counts == gap_count]):
            shared_places = [key_place for key_place in places if key_place in known_places]
            fitting_counts[open_places] += _fitting_amounts(
                keys, asked_tuples[open_places], file_tuples, amount, shared_places
            )
        fewest_gaps[open_places[fitting_counts[open_places] > 0]] = gap_count
    return fewest_gaps, fitting_counts


def _fitting_amounts(keys: Keys, asked_tuples: Counts, file: Counts, amount: Counts, places: Sequence[int]) -> Counts:
    """How many records of the file fit each tuple on keys that both know."""
    if not places:
        return np.full(len(asked_tuples), amount[file].sum())
    part_tuples, part_places = keys.tuples.take(np.concatenate([asked_tuples, file])).only(places)
    part_keys = keys.of_tuples([keys.variables[key_place] for key_place in places], part_tuples)
    fitting_amount = np.bincount(part_places[len(asked_tuples) :], amount[file], len(part_tuples)).astype(np.int64)
    return np.asarray(
        matches_of_tuples(part_keys, fitting_amount, rule="intersect")[part_places[: len(asked_tuples)]], np.int64
    )


def _uncertain_keys(keys: Keys, tuples: Counts, truth: Counts) -> Counts:
    """How many keys a tuple does not show for certain, of those that the truth knows."""
    uncertain_count = np.zeros(len(tuples), np.int64)
    for variable, code_column in zip(keys.variables, keys.tuples.columns, strict=True):
        shown_codes = code_column[tuples]
        uncertain_count += ((shown_codes == 0) | (shown_codes > len(variable.cells.values))) & (code_column[truth] > 0)
    return uncertain_count


@dataclass(frozen=True)
class Scenario:
    """An intruder, and what counts as success for them.

    Parameters
    ----------
    name : str
    motivation, means, target : str
        What drives them, what they have, and whom they look for.
    reading : {"prosecutor", "journalist", "register"}
        "prosecutor": they know that their target is in the file. "journalist": they look for anybody whom they can
        name. "register": they link a register of the whole population.
    """

    name: str
    motivation: str
    means: str
    target: str
    reading: str

    def __post_init__(self) -> None:
        check_choice(self.reading, [*_READINGS], what="reading")

    def success(self, row: QuasiIdentifier) -> float:
        """Pr(success | attempt) on a quasi-identifier; NaN where the file does not determine it."""
        return _READINGS[self.reading][0](row)

    def most(self, row: QuasiIdentifier) -> float:
        """An upper bound of Pr(success | attempt); equal to `success` if the file determines it."""
        return row.matches.informed.most if self.reading == "prosecutor" else self.success(row)

    @property
    def basis(self) -> str:
        """What the probability of success is, in words."""
        return _READINGS[self.reading][1]


_READINGS: dict[str, tuple[Callable[[QuasiIdentifier], float], str]] = {
    "prosecutor": (
        lambda row: row.matches.informed.least,
        "what the better of two ways to pick achieves at least: the record that shows all keys, or matches by 1/m",
    ),
    "journalist": (
        lambda row: math.nan if row.matches.theta.withheld else row.matches.theta.estimate,
        "θ, in place of uniqueness in the population: somebody fits one record only, and it is theirs",
    ),
    "register": (
        lambda row: row.matches.theta.fraction * row.matches.pr_su,
        "recall over the list, share of the population times Pr(SU): a person of it is in the file, and alone",
    ),
}

_NAMED = (
    Scenario(
        "acquaintance",
        "curiosity about one person, or a grudge",
        "knows the key variables of a friend, neighbor or colleague, and that they took part",
        "that one person",
        "prosecutor",
    ),
    Scenario(
        "demonstration",
        "to show in public that the file is not safe",
        "looks up whoever is unusual in directories and social media",
        "anybody who fits a single record",
        "journalist",
    ),
    Scenario(
        "register",
        "to enrich a list of customers or citizens",
        "a database of the population that holds names and the key variables",
        "everybody in the list",
        "register",
    ),
)
SCENARIOS: Mapping[str, Scenario] = MappingProxyType({named_scenario.name: named_scenario for named_scenario in _NAMED})
"""The named scenarios."""

_READERS = {"prosecutor": "acquaintance", "journalist": "demonstration"}  # other names of two scenarios


@dataclass(frozen=True)
class Identification(Result):
    """The probability that an intruder tries and succeeds.

    Parameters
    ----------
    scenario : Scenario
    attempt : float
        Pr(attempt), as it was judged.
    success : float
        Pr(success | attempt), from the file; NaN where the file does not determine it. Of an acquaintance it is what
        such an intruder achieves at least.
    most : float
        What Pr(success | attempt) cannot exceed.
    """

    scenario: Scenario
    attempt: float
    success: float
    most: float

    @property
    def probability(self) -> float:
        """Pr(attempt) · Pr(success | attempt); NaN where success is undetermined."""
        return self.attempt * self.success

    @property
    def highest(self) -> float:
        """What the probability cannot exceed."""
        return self.attempt * self.most

    def numbers(self) -> dict[str, object]:
        return {
            "attempt": self.attempt,
            "success": self.success,
            "probability": self.probability,
            "success_at_most": self.most,
            "probability_at_most": self.highest,
        }

    def parts(self) -> list[Content]:
        basis = self.scenario.basis
        if math.isnan(self.probability):
            return [Sentence(f"Pr(success | attempt) is withheld or undefined for this file; it would be {basis}")]
        least_text = f"Pr(identification) = {self.attempt:.3g} × {self.success:.3g} = {self.probability:.3g}"
        most_text = f" at least, and {rounded_up(self.highest)} at most" if self.most > self.success else ""
        return [Sentence(f"{least_text}{most_text}; Pr(success | attempt) is {basis}")]


def scenario(name: str | Scenario) -> Scenario:
    """The scenario of that name; "prosecutor" and "journalist" mean "acquaintance" and "demonstration".

    Raises
    ------
    DataError
        A name that is not among `SCENARIOS`.

    Examples
    --------
    >>> scenario("register").target
    'everybody in the list'
    """
    if isinstance(name, Scenario):
        return name
    name = _READERS.get(name, name)
    if name not in SCENARIOS:
        raise DataError(f"there is no scenario {name!r}; {_checks.nearest(name, SCENARIOS)}", value=name)
    return SCENARIOS[name]


def identification(row: QuasiIdentifier, name: str | Scenario, *, attempt: float) -> Identification:
    """Pr(identification) = Pr(attempt) · Pr(success | attempt) on one quasi-identifier.

    Parameters
    ----------
    row : QuasiIdentifier
        A row of a `risk_table`.
    name : str or Scenario
        "acquaintance" (the prosecutor: the target is known to be in the file), "demonstration" (the journalist: anybody
        will do), "register" (everybody in a list of the population is linked), or a scenario of your own.
    attempt : float
        Pr(attempt), over whatever time is meant: a judgment that no file can make.

    Raises
    ------
    DataError
        An unknown scenario, or an `attempt` outside [0, 1].

    Examples
    --------
    >>> from naysay import microdata
    >>> people = {"age": [40, 36, 36, 23], "gender": ["f", "m", "m", "m"]}
    >>> (row,) = microdata.risk_table(people, [["age", "gender"]], population=1_000).quasi_identifiers
    >>> found = microdata.identification(row, "acquaintance", attempt=0.1)
    >>> found.success, round(found.probability, 4), round(found.highest, 4)
    (0.75, 0.075, 0.075)

    Notes
    -----
    Elliot & Dale (1999), Scenarios of attack: the data intruder's perspective on statistical disclosure risk,
    Netherlands Official Statistics 14, 6-10; El Emam & Dankar (2008), JAMIA 15(5), 627-637, for prosecutor and
    journalist.
    """
    intruder_scenario = scenario(name)
    return Identification(
        intruder_scenario, probability(attempt), intruder_scenario.success(row), intruder_scenario.most(row)
    )


def probability(attempt: object) -> float:
    """Pr(attempt), after checking that it is a probability."""
    if isinstance(attempt, bool) or not isinstance(attempt, int | float | np.number) or not 0 <= attempt <= 1:
        raise DataError(f"attempt must be a probability, from 0 to 1; got {attempt!r}", value=attempt)
    return float(attempt)
