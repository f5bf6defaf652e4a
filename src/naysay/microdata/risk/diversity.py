"""l-diversity: what an intruder learns about a sensitive variable without identifying anybody.

t-closeness: how far the sensitive values of people who are alike are from those of everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.tuples import grouped
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.matches import matches_of_tuples
from naysay.microdata.risk.measure import Case, Measure, OnRequest
from naysay.microdata.risk.written import amount, share
from naysay.show import number

Floats = NDArray[np.float64]


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
        values = self.values[self.keys.owner]
        return np.ma.MaskedArray(values, mask=values == 0)

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
        return None if case.sensitive is None else diversity(*case.sensitive)

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        return f"Diversity of {found[0].sensitive!r} where records are alike"

    def cells(self) -> tuple[str, ...]:
        numbers = (f"{self.sets:,}", f"{self.least_distinct:,}", amount(self.least_entropy))
        return (*numbers, f"{self.sharing:,}", f"{self.matches_sharing:,}")

    def fields(self) -> dict[str, Any]:
        return {
            "sensitive": self.sensitive,
            "sets": self.sets,
            "least_distinct": self.least_distinct or None,
            "least_entropy": number(self.least_entropy),
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
    variable, other_names = keys.variable(sensitive), [name for name in keys.columns if name != sensitive]
    if not other_names:
        raise DataError(f"a quasi-identifier is needed beside the sensitive variable {sensitive!r}", column=sensitive)
    if variable.policy != "wildcard":
        message = (
            f"missing cells of the sensitive variable {sensitive!r} tell nothing, so their policy must be 'wildcard'"
        )
        raise DataError(f"{message}; got {variable.policy!r}", column=sensitive)
    other_keys = keys.only(other_names)
    _, group = keys.tuples.only([keys.columns.index(name) for name in other_names])
    code = keys.tuples.columns[keys.columns.index(sensitive)].astype(np.int64)
    is_known = (code > 0) & (code <= len(variable.cells.values)) & other_keys.complete[group]
    values, effective = _values_and_entropy(
        group[is_known], code[is_known], keys.tuples.count[is_known], len(other_keys.tuples)
    )
    shares_value = (values[group] == 1) & is_known & (other_keys.tuples.count[group] > 1)
    # if the sensitive variable as one more key removes no match, no two of the people who match differ in it
    m = matches_of_tuples(other_keys, rule="intersect")[group]
    keeps_matches = matches_of_tuples(keys, rule="intersect") == m
    return Diversity(
        sensitive,
        keys,
        values[group],
        effective[group],
        int((values > 0).sum()),
        int(keys.tuples.count[shares_value].sum()),
        int(keys.tuples.count[keeps_matches & (code > 0) & (m > 1)].sum()),
    )


def _values_and_entropy(
    group: NDArray[np.intp], code: NDArray[np.int64], count: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.int64], Floats]:
    """Values that occur in each group, and exp of the entropy of their shares."""
    first, place = grouped([group, code], [groups, int(code.max(initial=0)) + 1])
    value_counts = np.bincount(place, count)
    group = group[first]
    total = np.bincount(group, value_counts, groups)
    share = value_counts / total[group]
    values = np.bincount(group, minlength=groups)
    return values, np.where(values > 0, np.exp(np.bincount(group, -share * np.log(share), groups)), np.nan)


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
    def asked(cls, case: Case) -> Self | None:
        ordered = issubclass(cls, OrderedCloseness)
        return None if case.sensitive is None else cls(*_closeness_parts(*case.sensitive, ordered=ordered))

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        distance_text = "in steps of their order" if found[0].ordered else "all values equally far apart"
        return f"Closeness of {found[0].sensitive!r} in anonymity sets to the file; {distance_text}"

    def cells(self) -> tuple[str, ...]:
        return (share(self.largest), share(self.mean), f"{self.above(0.2):,}", f"{self.above(0.5):,}")

    def fields(self) -> dict[str, Any]:
        return {"sensitive": self.sensitive, "t": number(self.largest), "mean": number(self.mean)}

    def of_each(self) -> dict[str, NDArray[Any]]:
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
    variable, other_names = keys.variable(sensitive), [name for name in keys.columns if name != sensitive]
    if not other_names:
        raise DataError(f"a quasi-identifier is needed beside the sensitive variable {sensitive!r}", column=sensitive)
    other_keys = keys.only(other_names)
    _, group = keys.tuples.only([keys.columns.index(name) for name in other_names])
    code, values = keys.tuples.columns[keys.columns.index(sensitive)].astype(np.int64), len(variable.cells.values)
    if ordered:
        code = np.append(0, _ranks_of_values(variable.cells.values, sensitive))[np.where(code > values, 0, code)]
    known_rows = np.flatnonzero((code > 0) & (code <= values) & other_keys.complete[group])
    count, shape = keys.tuples.count[known_rows].astype(np.float64), (other_keys.distinct, max(values, 1))
    value_counts = scipy.sparse.csr_array((count, (group[known_rows], code[known_rows] - 1)), shape=shape)
    sizes = np.asarray(value_counts.sum(axis=1), np.float64)
    distances = np.full(other_keys.distinct, np.nan)
    known_sets = np.flatnonzero(sizes)
    file_shares = value_counts.sum(axis=0) / max(sizes.sum(), 1)
    for block in np.array_split(
        known_sets, max(1, len(known_sets) * shape[1] // 4_000_000)
    ):  # dense rows, a few at a time
        share_gaps = value_counts[block].toarray() / sizes[block, None] - file_shares
        if ordered:
            distances[block] = np.abs(np.cumsum(share_gaps, axis=1))[:, :-1].sum(axis=1) / max(shape[1] - 1, 1)
        else:
            distances[block] = np.abs(share_gaps).sum(axis=1) / 2
    return sensitive, ordered, keys, distances[group]


def _ranks_of_values(values: Sequence[Any], sensitive: str) -> NDArray[np.int64]:
    """The place of each value in the order of numbers, from 1: as texts, 10 would stand before 9."""
    try:
        numbers = np.array([float(value) for value in values])
    except (TypeError, ValueError):
        message = f"{sensitive!r} holds texts, which have no order: ask for closeness, or give it numbers"
        raise DataError(message, column=sensitive) from None
    return np.argsort(np.argsort(numbers, kind="stable"), kind="stable") + 1
