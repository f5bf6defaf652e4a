"""The table of risk: for each quasi-identifier who stands out, and how sure an intruder could be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.errors import DataError, StatisticalWarning
from naysay.microdata.keys.candidates import Form
from naysay.microdata.keys.variables import Keys
from naysay.microdata.matching.matches import anonymity_of_tuples, matches_of_tuples
from naysay.microdata.population.informed import Informed, informed
from naysay.microdata.population.sizes import Sizes
from naysay.microdata.population.theta import Theta, sampling_fraction, theta_of
from naysay.microdata.population.weighted import Scale, Weighted, weighted_theta
from naysay.microdata.risk.diversity import Diversity, diversity

__all__ = ["Listwise", "Matches", "QuasiIdentifier", "Records", "RiskTable", "risk_table"]

Policies = str | Mapping[str, str]
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Listwise:
    """Anonymity sets of the records that have all keys; the others are deleted.

    Parameters
    ----------
    deleted : int
        Records with a key missing or uncertain.
    sizes : Sizes
        k over the records kept.
    theta : Theta
    weighted : Weighted, optional
    """

    deleted: int
    sizes: Sizes
    theta: Theta
    weighted: Weighted | None = None

    @property
    def kept(self) -> int:
        """Records with all keys."""
        return self.sizes.records

    @property
    def pr_su_kept(self) -> float:
        """Share of the kept records that are unique in the sample; NaN where none is kept."""
        return self.sizes.unique / self.kept if self.kept else float("nan")

    @property
    def pr_su_all(self) -> float:
        """Share of all records that are kept and unique in the sample."""
        return self.sizes.unique / (self.kept + self.deleted)


@dataclass(frozen=True)
class Matches:
    """Numbers of matches, over every record that the policies leave in.

    Parameters
    ----------
    rule : {"worst", "intersect", "first"}
        How uncertain cells match.
    sizes : Sizes
        m over the records.
    theta : Theta
        A heuristic: matching is not transitive, so pairs are not sets.
    informed : Informed
        How often an intruder picks the right record who knows all keys of somebody in the file.
    weighted : Weighted, optional
    """

    rule: str
    sizes: Sizes
    theta: Theta
    informed: Informed
    weighted: Weighted | None = None

    @property
    def pr_su(self) -> float:
        """Share of the records that match only themselves; NaN where there are none."""
        return self.sizes.unique / self.sizes.records if self.sizes.records else float("nan")


@dataclass(frozen=True, eq=False)
class Records:
    """k and m of every respondent on one quasi-identifier, held once for each distinct tuple of keys.

    Parameters
    ----------
    keys : Keys
    k, m : (distinct,) int
    gone : (distinct,) bool
        Whether listwise deletion deletes the tuple.
    """

    keys: Keys
    k: NDArray[np.int64]
    gone: NDArray[np.bool_]
    m: NDArray[np.int64]

    @property
    def anonymity(self) -> np.ma.MaskedArray[tuple[int], np.dtype[np.int64]]:
        """k, (n,), masked where a respondent is deleted."""
        return np.ma.MaskedArray(self.k[self.keys.owner], mask=self.gone[self.keys.owner])

    @property
    def matches(self) -> np.ma.MaskedArray[tuple[int], np.dtype[np.int64]]:
        """m, (n,), masked where a policy leaves a respondent out."""
        return np.ma.MaskedArray(self.m[self.keys.owner], mask=~self.keys.kept[self.keys.owner])


@dataclass(frozen=True)
class QuasiIdentifier:
    """One row of the table.

    Parameters
    ----------
    keys : tuple of str
    missing : {key: policy}
        Where the policy is not the default, ``wildcard``.
    listwise : Listwise
    matches : Matches
    diversity : Diversity, optional
        Of a sensitive variable.
    warnings : tuple of StatisticalWarning
    records : Records, optional
        k and m of every respondent, where they were asked for.
    """

    keys: tuple[str, ...]
    missing: Mapping[str, str]
    listwise: Listwise
    matches: Matches
    diversity: Diversity | None = None
    warnings: tuple[StatisticalWarning, ...] = ()
    records: Records | None = field(default=None, repr=False)


@dataclass(frozen=True)
class RiskTable:
    """Tables 3 and 4 of the paper, for any list of quasi-identifiers.

    Parameters
    ----------
    n : int
        Records in the file.
    population : float, optional
        People from whom they are a sample; None where that was not told.
    quasi_identifiers : tuple of QuasiIdentifier
    confidence : float
        Of θ's intervals.
    weighted : bool
        Whether sampling weights entered.
    warnings : tuple of StatisticalWarning
        About the whole.
    """

    n: int
    population: float | None
    quasi_identifiers: tuple[QuasiIdentifier, ...]
    confidence: float = 0.95
    weighted: bool = False
    warnings: tuple[StatisticalWarning, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """The table as one JSON object with stable names; undefined numbers are None."""
        from naysay.microdata import printing

        return printing.to_dict(self)

    def __str__(self) -> str:
        from naysay.microdata import printing

        return printing.to_text(self)

    def _repr_html_(self) -> str:
        from naysay.microdata import printing

        return printing.to_html(self)


def risk_table(
    table: Any,
    quasi_identifiers: Sequence[Sequence[str]],
    *,
    population: float | None = None,
    rule: str = "worst",
    missing: Policies | Sequence[Policies] = "wildcard",
    cells: Mapping[str, Form] | None = None,
    weights: str | ArrayLike | None = None,
    sensitive: str | None = None,
    confidence: float = 0.95,
    records: bool = False,
    progress: Progress | None = None,
) -> RiskTable:
    """Who stands out, on which key variables, and how sure an intruder could be.

    For each quasi-identifier: after listwise deletion the records alone in their anonymity set (k = 1) and in sets
    below 5 and 10, as shares of the kept and of all; over everybody the same on the number of matches m, where missing
    cells match everything; and θ, the probability that a match with a unique record is the right person.

    Parameters
    ----------
    table : dataframe or mapping of columns, (n,) rows, or Keys
        One row a respondent. Keys have their policies, cells and weights already, and are not read again.
    quasi_identifiers : sequence of sequences of str
        The key variables of each.
    population : float, optional
        People from whom the respondents are a sample, at least as many. Only θ and weights need it: without it θ is
        withheld.
    rule : {"worst", "intersect", "first"}
        How uncertain cells match, see `matches`.
    missing : str, {key: str}, or a sequence of these
        "wildcard" (matches everything; the default), "category" or "drop", for all keys or for some. With a sequence
        the results under each stand side by side.
    cells : {key: form}
        How sets of candidates are written, see `Keys`.
    weights : str or (n,) float, optional
        How many people each respondent stands for: numbers in people of the population beside those in records, and θ
        for unequal chances to be in the file.
    sensitive : str, optional
        A variable whose diversity within anonymity sets is told, see `diversity`.
    confidence : float
        Of θ's intervals.
    records : bool
        Whether each quasi-identifier keeps k and m of every respondent.
    progress : callable, optional
        Called with a quasi-identifier, as ``age + gender``, and the share of its work that is done, from 0 to 1.

    Raises
    ------
    DataError
        Keys that the table does not have or that are named twice, no quasi-identifier, a population smaller than the
        file, weights that are not positive or come without a population, and what `Keys` raises.

    Examples
    --------
    >>> people = {"age": [40, 36, None, 40, 23, 23], "gender": ["Male", "Female", "Male", None, "Male", "Male"]}
    >>> found = risk_table(people, [["age"], ["age", "gender"]], population=1_000)
    >>> both = found.quasi_identifiers[1]
    >>> both.listwise.deleted, both.listwise.sizes.unique, both.matches.sizes.unique
    (2, 2, 1)
    >>> both.listwise.theta.withheld
    True

    Notes
    -----
    Mulder, Ensuring anonymity in survey panel research, tables 3 and 4; Skinner & Elliot (2002).
    """
    asked = _asked(quasi_identifiers)
    _checks.confidence(confidence)
    given: Any = population
    people: float | None = given.item() if isinstance(given, np.generic) else given
    if people is None and weights is not None:
        raise DataError("weights count people of a population; give population= (--population) beside them")
    rows: list[QuasiIdentifier] = []
    for policy in _policies(missing):
        keys = _encoded(table, asked, policy, cells, weights, sensitive)
        if people is not None:
            sampling_fraction(keys.n, people)
        scale = None if weights is None or people is None else Scale.between(keys, weights, people)
        for names in asked:
            part = keys.only(names)
            counted = _Counted.of(part, rule, scale, _reporter(names, progress))
            found = None if sensitive is None else diversity(keys.only([*names, sensitive]), sensitive)
            row = counted.row(people, confidence, found)
            rows.append(replace(row, records=Records(part, counted.k, counted.gone, counted.m)) if records else row)
    notes = () if scale is None else scale.warnings
    return RiskTable(keys.n, people, tuple(rows), confidence, weights is not None, notes)


def _asked(quasi_identifiers: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    if isinstance(quasi_identifiers, str) or any(isinstance(names, str) for names in quasi_identifiers):
        raise DataError(
            f"quasi-identifiers are lists of keys, as [['age'], ['age', 'gender']]; got {quasi_identifiers!r}"
        )
    asked = [tuple(names) for names in quasi_identifiers]
    if not asked:
        raise DataError("at least one quasi-identifier is needed, as [['age', 'gender']]; got none")
    return asked


def _policies(missing: Policies | Sequence[Policies]) -> list[str | Mapping[str, str]]:
    policies = [missing] if isinstance(missing, str | Mapping) else list(missing)
    if not policies:
        raise DataError("at least one policy for missing cells is needed, as 'wildcard'; got none")
    return policies


def _encoded(
    table: Any,
    asked: Sequence[Sequence[str]],
    policy: str | Mapping[str, str],
    cells: Mapping[str, Form] | None,
    weights: str | ArrayLike | None,
    sensitive: str | None,
) -> Keys:
    """All keys that are asked for, and the sensitive variable, encoded once."""
    names = list(dict.fromkeys(name for each in asked for name in each))
    if sensitive in names:
        raise DataError(f"the sensitive variable must not be a key; {sensitive!r} is both", column=sensitive)
    every = names if sensitive is None else [*names, sensitive]
    if isinstance(table, Keys):
        if policy != "wildcard" or cells or not isinstance(weights, str | None):
            raise DataError("keys that are read have their policies, cells and weights; give them to Keys(...) instead")
        if weights is not None and table.remote is None:
            table.each_weight(weights)  # raises where they hold none of that name
        return table.only(every)
    policies = dict.fromkeys(names, policy) if isinstance(policy, str) else policy
    return Keys(table, every, missing=policies, cells=cells, weights=weights)


def _reporter(names: Sequence[str], progress: Progress | None) -> Callable[[float], None] | None:
    """Progress on one quasi-identifier, told at once that it begins."""
    if progress is None:
        return None
    name = " + ".join(names)
    progress(name, 0.0)
    return partial(progress, name)


@dataclass(frozen=True, eq=False)
class _Counted:
    """k and m of each distinct tuple of one quasi-identifier, and the weights behind them."""

    keys: Keys
    rule: str
    k: NDArray[Any]
    gone: NDArray[np.bool_]
    m: NDArray[Any]
    own: NDArray[np.float64] | None = None
    k_sums: NDArray[np.float64] | None = None
    m_sums: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, keys: Keys, rule: str, scale: Scale | None, progress: Callable[[float], None] | None) -> _Counted:
        k, gone = anonymity_of_tuples(keys)
        m = matches_of_tuples(keys, rule=rule, progress=progress)
        if scale is None:
            return cls(keys, rule, k, gone, m)
        k_sums = scale.people(anonymity_of_tuples(keys, weights=scale.name)[0])
        m_sums = scale.people(matches_of_tuples(keys, rule=rule, weights=scale.name, progress=progress))
        return cls(keys, rule, k, gone, m, scale.people(keys.tuples.weight), k_sums, m_sums)

    @property
    def informed(self) -> Informed:
        """How often an informed intruder is right; m is by ``intersect`` wherever all rules are one."""
        one_rule = self.rule == "intersect" or all(each.cells.certain for each in self.keys.variables)
        return informed(self.keys, self.gone, self.m if one_rule else None)

    def row(self, population: float | None, confidence: float, found: Diversity | None) -> QuasiIdentifier:
        """One row of the table."""
        measured = partial(_measured, self.keys.tuples.count, self.own, population=population, confidence=confidence)
        listwise = measured(self.k, self.k_sums, ~self.gone)
        sizes, theta, weighted = measured(self.m, self.m_sums, self.keys.kept)
        policies = {each.name: each.policy for each in self.keys.variables if each.policy != "wildcard"}
        return QuasiIdentifier(
            self.keys.columns,
            policies,
            Listwise(self.keys.n - listwise[0].records, *listwise),
            Matches(self.rule, sizes, theta, self.informed, weighted),
            found,
            self.keys.warnings,
        )


def _measured(
    count: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
    sizes: NDArray[Any],
    sums: NDArray[np.float64] | None,
    keep: NDArray[np.bool_],
    *,
    population: float | None,
    confidence: float,
) -> tuple[Sizes, Theta, Weighted | None]:
    """The sizes over the tuples kept, θ, and both in people of the population."""
    sizes, count = sizes[keep], count[keep]
    found = Sizes.counted(sizes, count)
    if weight is None or sums is None or population is None:
        return found, theta_of(found, population, confidence), None
    fraction = sampling_fraction(max(found.records, 1), population)
    weight, sums = weight[keep], sums[keep]
    told = weighted_theta(sizes, count, weight, sums, fraction=fraction, confidence=confidence)
    return found, told, Weighted.of(sizes, count, weight, sums, population)
