"""l-diversity: what an intruder learns about a sensitive variable without identifying anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.tuples import grouped
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.matches import matches_of_tuples
from naysay.microdata.risk.measure import Case, Measure
from naysay.microdata.risk.written import amount
from naysay.printing import number

__all__ = ["Diversity", "diversity"]

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
    variable, others = keys.variable(sensitive), [name for name in keys.columns if name != sensitive]
    if not others:
        raise DataError(f"a quasi-identifier is needed beside the sensitive variable {sensitive!r}", column=sensitive)
    if variable.policy != "wildcard":
        told = f"missing cells of the sensitive variable {sensitive!r} tell nothing, so their policy must be 'wildcard'"
        raise DataError(f"{told}; got {variable.policy!r}", column=sensitive)
    part = keys.only(others)
    _, group = keys.tuples.only([keys.columns.index(name) for name in others])
    code = keys.tuples.columns[keys.columns.index(sensitive)].astype(np.int64)
    known = (code > 0) & (code <= len(variable.cells.values)) & part.complete[group]
    values, effective = _of_groups(group[known], code[known], keys.tuples.count[known], len(part.tuples))
    alone = (values[group] == 1) & known & (part.tuples.count[group] > 1)
    # if the sensitive variable as one more key removes no match, no two of the people who match differ in it
    m = matches_of_tuples(part, rule="intersect")[group]
    same = matches_of_tuples(keys, rule="intersect") == m
    return Diversity(
        sensitive,
        keys,
        values[group],
        effective[group],
        int((values > 0).sum()),
        int(keys.tuples.count[alone].sum()),
        int(keys.tuples.count[same & (code > 0) & (m > 1)].sum()),
    )


def _of_groups(
    group: NDArray[np.intp], code: NDArray[np.int64], count: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.int64], Floats]:
    """Values that occur in each group, and exp of the entropy of their shares."""
    first, place = grouped([group, code], [groups, int(code.max(initial=0)) + 1])
    own = np.bincount(place, count)
    group = group[first]
    total = np.bincount(group, own, groups)
    share = own / total[group]
    values = np.bincount(group, minlength=groups)
    return values, np.where(values > 0, np.exp(np.bincount(group, -share * np.log(share), groups)), np.nan)
