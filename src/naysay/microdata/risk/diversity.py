"""What an intruder learns about a sensitive variable without identifying anybody.

l-diversity: how many values it has among people who are alike. t-closeness: how far their values are from those of
everybody. δ-presence: how surely they are known to be in a study, or not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Array, Flags, Floats, Integers
from naysay.errors import DataError
from naysay.microdata.keys.cells import grouped
from naysay.microdata.keys.matches import matches_of_tuples
from naysay.microdata.keys.variables import Keys
from naysay.microdata.risk.measure import Case, Measure, OnRequest
from naysay.show.result import amount, share


@dataclass(frozen=True, eq=False)
class Diversity(Measure):
    """How many values a sensitive variable has among people who cannot be told apart.

    Parameters
    ----------
    sensitive : str
    keys : Keys
        The quasi-identifier and the sensitive variable.
    values : (distinct,) int
        Of each distinct tuple: values that occur in its anonymity set; 0 where none is known or the set is deleted.
    effective : (distinct,) float
        exp H of their shares: the number of equally common values that would be as uncertain; NaN where `values` is 0.
    sets : int
        Anonymity sets in which some sensitive value is known.
    sharing, matches_sharing : int
        Records whose anonymity set (whose matches) holds other people, none of them with another sensitive value.
        Whoever knows that somebody is among them knows that value.
    """

    name = "diversity"
    needs = ("sensitive",)
    columns = ("sets", "least distinct", "least entropy", "records sharing one (k>1)", "(m>1)")
    page_columns = ("groups", "fewest answers in one", "as many equally common", "one answer (k)", "one answer (m)")

    sensitive: str
    keys: Keys
    values: NDArray[np.int64]
    effective: Floats
    sets: int
    sharing: int
    matches_sharing: int

    @property
    def distinct(self) -> np.ma.MaskedArray[tuple[int], np.dtype[np.int64]]:
        """Distinct l of each respondent's anonymity set, (n,), masked where they are deleted or nothing is known."""
        distinct_counts = self.values[self.keys.owner]
        return np.ma.MaskedArray(distinct_counts, mask=distinct_counts == 0)

    @property
    def entropy(self) -> np.ma.MaskedArray[tuple[int], np.dtype[np.float64]]:
        """Entropy l of each respondent's anonymity set, (n,), exp of the entropy in nats, masked as `distinct`."""
        return np.ma.MaskedArray(self.effective[self.keys.owner], mask=self.values[self.keys.owner] == 0)

    @property
    def least_distinct(self) -> int:
        """The file is distinct l-diverse for this l; 0 where there are no sets."""
        return int(self.values[self.values > 0].min(initial=np.iinfo(np.int64).max)) if self.sets else 0

    @property
    def least_entropy(self) -> float:
        """The file is entropy l-diverse for this l; NaN where there are no sets."""
        return float(np.nanmin(self.effective)) if self.sets else float("nan")

    @classmethod
    def of(cls, case: Case) -> Diversity | None:
        return diversity(*case.sensitive) if case.sensitive else None

    @classmethod
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
        return f"Diversity of {measures[0].sensitive!r} where records are alike"

    def cells(self) -> tuple[str, ...]:
        number_texts = (f"{self.sets:,}", f"{self.least_distinct:,}", amount(self.least_entropy))
        return (*number_texts, f"{self.sharing:,}", f"{self.matches_sharing:,}")

    def numbers(self) -> dict[str, object]:
        return {
            "sensitive": self.sensitive,
            "sets": self.sets,
            "least_distinct": self.least_distinct or None,
            "least_entropy": self.least_entropy,
            "sharing": self.sharing,
            "matches_sharing": self.matches_sharing,
        }


def diversity(keys: Keys, sensitive: str) -> Diversity:
    """Distinct and entropy l-diversity of a sensitive variable within anonymity sets.

    A large anonymity set protects a name, not a fact: where all of its members share one sensitive value, an intruder
    who knows that a person is among them knows it of them. Distinct l is the number of values in the set, entropy l =
    exp H.

    Missing and uncertain sensitive cells are ignored: they neither add a value nor exclude one. Matches follow the rule
    ``intersect``, under which the fewest sets have a single value.

    Parameters
    ----------
    keys : Keys
        The quasi-identifier and, among its columns, the sensitive variable.
    sensitive : str
        Its name.

    Raises
    ------
    DataError
        A sensitive variable that is not among the keys, or the only one, or whose missing cells are not wildcards.

    Examples
    --------
    >>> people = {"age": [30, 30, 30, 40, 40, 40], "illness": ["flu", "flu", "flu", "flu", "asthma", None]}
    >>> found = diversity(Keys(people, ["age", "illness"]), "illness")
    >>> found.distinct
    masked_array(data=[1, 1, 1, 2, 2, 2], ...)
    >>> found.least_distinct, round(found.least_entropy, 3), found.sharing
    (1, 1.0, 3)

    Notes
    -----
    Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), l-diversity, ACM TKDD 1(1), 3.
    """
    variable, (other_keys, set_of_tuple, sensitive_codes, is_known) = keys.variable(sensitive), _sets(keys, sensitive)
    if variable.policy != "wildcard":
        message = (
            f"missing cells of the sensitive variable {sensitive!r} tell nothing, so their policy must be 'wildcard'"
        )
        raise DataError(f"{message}; got {variable.policy!r}", column=sensitive)
    known_sets, known_codes, sets = set_of_tuple[is_known], sensitive_codes[is_known], len(other_keys.tuples)
    first_rows, pair_places = grouped([known_sets, known_codes], [sets, int(known_codes.max(initial=0)) + 1])
    set_of_pair = known_sets[first_rows]
    pair_counts = np.bincount(pair_places, keys.tuples.count[is_known])
    pair_shares = pair_counts / np.bincount(set_of_pair, pair_counts, sets)[set_of_pair]
    distinct_counts = np.bincount(set_of_pair, minlength=sets)
    entropies = np.bincount(set_of_pair, -pair_shares * np.log(pair_shares), sets)
    effective_counts = np.where(distinct_counts > 0, np.exp(entropies), np.nan)
    shares_value = (distinct_counts[set_of_tuple] == 1) & is_known & (other_keys.tuples.count[set_of_tuple] > 1)
    # if the sensitive variable as one more key removes no match, no two of the people who match differ in it
    m = matches_of_tuples(other_keys, rule="intersect")[set_of_tuple]
    keeps_matches = matches_of_tuples(keys, rule="intersect") == m
    return Diversity(
        sensitive,
        keys,
        distinct_counts[set_of_tuple],
        effective_counts[set_of_tuple],
        int((distinct_counts > 0).sum()),
        int(keys.tuples.count[shares_value].sum()),
        int(keys.tuples.count[keeps_matches & (sensitive_codes > 0) & (m > 1)].sum()),
    )


def _sets(keys: Keys, sensitive: str) -> tuple[Keys, Integers, Integers, Flags]:
    """The keys without the sensitive variable; of each tuple: its anonymity set, sensitive value, and if it counts."""
    sensitive_cells, other_names = keys.variable(sensitive).cells, [name for name in keys.columns if name != sensitive]
    if not other_names:
        raise DataError(f"a quasi-identifier is needed beside the sensitive variable {sensitive!r}", column=sensitive)
    other_keys = keys.only(other_names)
    _, set_of_tuple = keys.tuples.only([keys.columns.index(key_name) for key_name in other_names])
    codes = keys.tuples.columns[keys.columns.index(sensitive)].astype(np.int64)
    is_known = (codes > 0) & (codes <= len(sensitive_cells.values)) & other_keys.complete[set_of_tuple]
    return other_keys, set_of_tuple, codes, is_known


@dataclass(frozen=True, eq=False)
class Closeness(OnRequest):
    """How far the answers within an anonymity set are from those of all records.

    Parameters
    ----------
    sensitive : str
    ordered : bool
        Whether the distance counts steps between values in their order.
    keys : Keys
        The quasi-identifier and the sensitive variable.
    distances : (distinct,) float
        Of the anonymity set of each distinct tuple, from 0 to 1; NaN where no sensitive value is known in it.
    """

    name = "closeness"
    needs = ("sensitive",)
    columns = ("t (largest distance)", "mean over records", "records with t > 0.2", "t > 0.5")
    explanation = (
        "t: the largest distance between the sensitive values of an anonymity set and those of all; 0 alike, 1 apart.",
    )
    page_columns = ("farthest group (t)", "mean distance", "people in groups above 0.2", "above 0.5")

    sensitive: str
    ordered: bool
    keys: Keys
    distances: Floats

    @property
    def distance(self) -> Floats:
        """Of each respondent's anonymity set, (n,)."""
        return np.asarray(self.distances[self.keys.owner], np.float64)

    @property
    def largest(self) -> float:
        """The file is t-close for this t; NaN where no set is known."""
        return float(np.nanmax(self.distances)) if np.isfinite(self.distances).any() else float("nan")

    @property
    def mean(self) -> float:
        """The mean over the records of sets with a known value."""
        is_known = np.isfinite(self.distances)
        count = self.keys.tuples.count[is_known]
        return float((self.distances[is_known] * count).sum() / count.sum()) if is_known.any() else float("nan")

    def above(self, bound: float) -> int:
        """Records whose set is farther than this."""
        return int(self.keys.tuples.count[np.nan_to_num(self.distances) > bound].sum())

    @classmethod
    def measure_case(cls, case: Case) -> Self | None:
        ordered = issubclass(cls, OrderedCloseness)
        return None if case.sensitive is None else cls(*_closeness_parts(*case.sensitive, ordered=ordered))

    @classmethod
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
        distance_text = "in steps of their order" if measures[0].ordered else "all values equally far apart"
        return f"Closeness of {measures[0].sensitive!r} in anonymity sets to the file; {distance_text}"

    def cells(self) -> tuple[str, ...]:
        return (share(self.largest), share(self.mean), f"{self.above(0.2):,}", f"{self.above(0.5):,}")

    def numbers(self) -> dict[str, object]:
        return {"sensitive": self.sensitive, "t": self.largest, "mean": self.mean}

    def of_each(self) -> dict[str, Array]:
        return {"distance": self.distance}


@dataclass(frozen=True, eq=False)
class OrderedCloseness(Closeness):
    """The same for values in an order, such as incomes: how many steps shares must move."""

    name = "ordered_closeness"


def closeness(keys: Keys, sensitive: str, *, ordered: bool = False) -> Closeness:
    """t-closeness: the distance of each anonymity set's sensitive values from those of the whole file.

    Parameters
    ----------
    keys : Keys
        The quasi-identifier and, among its columns, the sensitive variable. Only records with every key and a known
        sensitive value count.
    sensitive : str
    ordered : bool
        False: half the sum of the absolute differences of shares. True: the mean absolute difference of cumulated
        shares over the steps between neighboring values (the earth mover's distance). Values must be numbers, or texts
        of numbers.

    Raises
    ------
    DataError
        A sensitive variable that is not among the keys, or the only one; ordered texts that are no numbers.

    Examples
    --------
    >>> from naysay import microdata
    >>> people = {"age": [30, 30, 40, 40], "income": [1, 1, 1, 3]}
    >>> found = closeness(microdata.Keys(people, ["age", "income"]), "income")
    >>> found.largest, found.distance.tolist()
    (0.25, [0.25, 0.25, 0.25, 0.25])

    Notes
    -----
    Li, Li & Venkatasubramanian (2007), t-closeness: privacy beyond k-anonymity and l-diversity, ICDE, 106-115.
    """
    return Closeness(*_closeness_parts(keys, sensitive, ordered=ordered))


def _closeness_parts(keys: Keys, sensitive: str, *, ordered: bool) -> tuple[str, bool, Keys, Floats]:
    variable, (other_keys, set_of_tuple, sensitive_codes, is_known) = keys.variable(sensitive), _sets(keys, sensitive)
    value_count, known_rows = len(variable.cells.values), np.flatnonzero(is_known)
    if ordered:
        try:
            numbers = np.array([float(value) for value in variable.cells.values])
        except (TypeError, ValueError):
            message = f"{sensitive!r} holds texts, which have no order: ask for closeness, or give it numbers"
            raise DataError(message, column=sensitive) from None
        # the place of each value in the order of numbers: as texts, 10 would stand before 9
        value_ranks = np.append(0, 1 + np.argsort(np.argsort(numbers, kind="stable"), kind="stable"))
        sensitive_codes = value_ranks[np.where(sensitive_codes > value_count, 0, sensitive_codes)]
    known_counts = keys.tuples.count[known_rows].astype(np.float64)
    table_shape = (other_keys.distinct, max(value_count, 1))
    value_counts = scipy.sparse.csr_array(
        (known_counts, (set_of_tuple[known_rows], sensitive_codes[known_rows] - 1)), shape=table_shape
    )
    set_sizes = np.asarray(value_counts.sum(axis=1), np.float64)
    set_distances = np.full(other_keys.distinct, np.nan)
    known_sets = np.flatnonzero(set_sizes)
    file_shares = value_counts.sum(axis=0) / max(set_sizes.sum(), 1)
    block_count = max(1, len(known_sets) * table_shape[1] // 4_000_000)  # dense rows, a few at a time
    for set_block in np.array_split(known_sets, block_count):
        share_gaps = value_counts[set_block].toarray() / set_sizes[set_block, None] - file_shares
        if ordered:
            steps_moved = np.abs(np.cumsum(share_gaps, axis=1))[:, :-1].sum(axis=1)
            set_distances[set_block] = steps_moved / max(table_shape[1] - 1, 1)
        else:
            set_distances[set_block] = np.abs(share_gaps).sum(axis=1) / 2
    return sensitive, ordered, keys, set_distances[set_of_tuple]


@dataclass(frozen=True, eq=False)
class Presence(OnRequest):
    """The share of people with one of two values in each anonymity set, such as of those of a register who are studied.

    Parameters
    ----------
    sensitive : str
    value : label
        The second of the two values in their order: "yes" of "no" and "yes", 1 of 0 and 1.
    keys : Keys
        The quasi-identifier and the sensitive variable.
    shares : (distinct,) float
        Of the anonymity set of each distinct tuple; NaN where no sensitive value is known in it.
    """

    name = "presence"
    needs = ("sensitive",)
    columns = ("least share (δ min)", "largest share (δ max)", "records with certainty")
    explanation = ("δ: the share of people with this value in an anonymity set; at 0 and 1 an intruder is certain.",)
    page_columns = ("least share in a group", "largest share", "people of whom it is certain")

    sensitive: str
    value: Any
    keys: Keys
    shares: Floats

    @property
    def least(self) -> float:
        """The least share of any set; NaN where no set is known."""
        return float(np.nanmin(self.shares)) if np.isfinite(self.shares).any() else float("nan")

    @property
    def largest(self) -> float:
        """The largest share of any set; NaN where no set is known."""
        return float(np.nanmax(self.shares)) if np.isfinite(self.shares).any() else float("nan")

    @property
    def certain(self) -> int:
        """Records whose set has one value only."""
        return int(self.keys.tuples.count[(self.shares == 0) | (self.shares == 1)].sum())

    @classmethod
    def measure_case(cls, case: Case) -> Self | None:
        return None if case.sensitive is None else cls(*_presence_parts(*case.sensitive))

    @classmethod
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
        return f"Presence: the share of {measures[0].sensitive!r} = {measures[0].value} in anonymity sets"

    def cells(self) -> tuple[str, ...]:
        return (share(self.least), share(self.largest), amount(self.certain))

    def numbers(self) -> dict[str, object]:
        variable_fields = {"sensitive": self.sensitive, "value": str(self.value)}
        return variable_fields | {"least": self.least, "largest": self.largest, "certain": self.certain}

    def of_each(self) -> dict[str, Array]:
        return {"presence": np.asarray(self.shares[self.keys.owner], np.float64)}


def presence(keys: Keys, sensitive: str) -> Presence:
    """δ-presence: the share of people with one value of a variable of two in each anonymity set.

    The file is a public list, such as a register, with a column that says who is in a study. Whoever sees which people
    of the list are alike knows of each of them with this probability that they are in the study.

    Parameters
    ----------
    keys : Keys
        The quasi-identifier and, among its columns, the variable. Only records with every key and a known value count.
    sensitive : str

    Raises
    ------
    DataError
        A variable that is not among the keys, or the only one, or that has not two values.

    Examples
    --------
    >>> from naysay import microdata
    >>> people = {"age": [30, 30, 30, 40, 40], "study": ["yes", "no", "no", "yes", "no"]}
    >>> found = presence(microdata.Keys(people, ["age", "study"]), "study")
    >>> found.value, round(found.least, 3), found.largest
    ('yes', 0.333, 0.5)

    Notes
    -----
    Nergiz, Atzori & Clifton (2007), Hiding the presence of individuals from shared databases, SIGMOD.
    """
    return Presence(*_presence_parts(keys, sensitive))


def _presence_parts(keys: Keys, sensitive: str) -> tuple[str, Any, Keys, Floats]:
    sensitive_values = keys.variable(sensitive).cells.values
    if len(sensitive_values) != 2:
        message = (
            f"presence needs a variable of two values, such as yes and no; {sensitive!r} has {len(sensitive_values):,}"
        )
        raise DataError(f"{message}: {_checks.listing_text(sensitive_values)}", column=sensitive)
    other_keys, set_of_tuple, sensitive_codes, is_known = _sets(keys, sensitive)
    known_counts, member_counts = (
        np.bincount(set_of_tuple[is_counted], keys.tuples.count[is_counted], other_keys.distinct)
        for is_counted in (is_known, is_known & (sensitive_codes == 2))
    )
    set_shares = np.where(known_counts > 0, member_counts / np.maximum(known_counts, 1), np.nan)
    return sensitive, sensitive_values[1], keys, set_shares[set_of_tuple]
