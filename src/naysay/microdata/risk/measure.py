"""What a measure of risk is: numbers about each quasi-identifier, and every form in which they are shown.

A measure is a frozen dataclass in a file of its own and stands in `table.MEASURES`. Text, JSON, CSV and the page for
the board read its members; none of them knows a measure by name.

Who is unique: the measures of k after listwise deletion, of m over everybody, and of both in people.

What gaps protect: the least of the three ways to count records that are alike.

Households as one record each: who knows a household knows all of its members.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.microdata.keys.table import Table, check_names, first_row
from naysay.microdata.keys.variables import Keys, Progress
from naysay.microdata.matching.matches import matches_of_tuples
from naysay.microdata.panel.columns import column_of, composite
from naysay.microdata.population.theta import (
    Informed,
    Scale,
    Sizes,
    Theta,
    Weighted,
    informed,
    sampling_fraction,
    theta_of,
    weighted_theta,
)
from naysay.microdata.risk.readings import Readings, readings
from naysay.microdata.risk.written import DASH, amount, percent, share, spanned, theta_cells, theta_percent
from naysay.show import number


class Measure(ABC):
    """What a table of risk reports about one quasi-identifier.

    Attributes
    ----------
    name : str
        The field of JSON, and what stands before the point in columns of CSV.
    columns : tuple of str
        Of the text table, behind the name of the quasi-identifier.
    explanation : tuple of str
        Sentences that say what the columns mean.
    everywhere : bool
        Whether each table has it, even if nobody asked for it.
    page_title : str
        The caption of its table on the page for the board. Its readers are no statisticians. By default it is the
        caption of the text table.
    page_columns : tuple of str
        The columns of that table; by default those of the text.
    """

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    explanation: ClassVar[tuple[str, ...]] = ()
    everywhere: ClassVar[bool] = False
    page_title: ClassVar[str] = ""
    page_columns: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def of(cls, case: Case) -> Self | None:
        """The measure on a quasi-identifier; None where nobody asked for it."""

    @classmethod
    @abstractmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        """The caption of the text table; `policies` says whether some missing cells do not match everything."""

    @abstractmethod
    def cells(self) -> tuple[str, ...]:
        """The row of the text table, one cell for each of `columns`."""

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """The fields of JSON with stable names, also the columns of CSV; empty where others hold its numbers."""

    def page_cells(self) -> tuple[str, ...]:
        """The row of the table on the page."""
        return self.cells()

    @property
    def reservation(self) -> str:
        """Why some of the numbers should not be used; empty if they may."""
        return ""

    def of_each(self) -> dict[str, NDArray[Any]]:
        """What the measure says of each respondent, by name, (n,); most say nothing."""
        return {}

    def titled(self, titles: Mapping[str, str]) -> Measure:
        """The same measure with other words for keys, where its cells name them; `titles` has a word for each."""
        return self


class OnRequest(Measure):
    """A measure that a table has only if it is asked for by name.

    Attributes
    ----------
    needs : tuple of str
        What must be given with it: "population", "sensitive".
    """

    needs: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def of(cls, case: Case) -> Self | None:
        return cls.asked(case) if cls.name in case.also and case.keys.kept.any() else None

    @classmethod
    @abstractmethod
    def asked(cls, case: Case) -> Self | None:
        """The measure, which was asked for; None where the records do not allow it."""


class Measured(NamedTuple):
    """Sizes of the records that are kept, θ, and both in people of the population where there are weights."""

    sizes: Sizes
    theta: Theta
    weighted: Weighted | None


@dataclass(frozen=True, eq=False)
class Case:
    """One quasi-identifier, as measures see it; what several of them need is counted once.

    Parameters
    ----------
    keys : Keys
        Its key variables.
    rule : {"worst", "intersect", "first"}
    population : float, optional
    scale : Scale, optional
        Where there are sampling weights.
    confidence : float
        Of θ's intervals.
    sensitive : (Keys, str), optional
        The keys with the sensitive variable, and its name.
    progress : callable, optional
    also : tuple of str
        Names of the measures on request that were asked for.
    households : (n,) series, optional
        Which household each respondent belongs to.
    """

    keys: Keys
    rule: str
    population: float | None
    scale: Scale | None
    confidence: float
    sensitive: tuple[Keys, str] | None
    progress: Progress | None
    also: tuple[str, ...] = ()
    households: pl.Series | None = None

    @property
    def k(self) -> NDArray[np.int64]:
        """The anonymity set of each distinct tuple."""
        return self.keys.tuples.count

    @cached_property
    def m(self) -> NDArray[Any]:
        """The matches of each distinct tuple."""
        return matches_of_tuples(self.keys, rule=self.rule, progress=self.progress)

    @cached_property
    def on_k(self) -> Measured:
        """Over the records that have every key."""
        return self._measure_sizes(self.k, self.keys.tuples.weight, self.keys.complete)

    @cached_property
    def on_m(self) -> Measured:
        """Over everybody whom no policy leaves out."""
        m, weight = self.m, self.keys.tuples.weight
        if self.scale is not None:
            weight = matches_of_tuples(self.keys, weight, rule=self.rule, progress=self.progress)
        return self._measure_sizes(m, weight, self.keys.kept)

    def _measure_sizes(self, sizes: NDArray[Any], sums: Any, keep: NDArray[np.bool_]) -> Measured:
        sizes, count = sizes[keep], self.keys.tuples.count[keep]
        size_summary = Sizes.of_counts(sizes, count)
        if self.scale is None or self.population is None:
            return Measured(size_summary, theta_of(size_summary, self.population, self.confidence), None)
        fraction = sampling_fraction(max(size_summary.records, 1), self.population)
        weight, sums = self.scale.people(self.keys.tuples.weight)[keep], self.scale.people(sums)[keep]
        theta = weighted_theta(sizes, count, weight, sums, fraction=fraction, confidence=self.confidence)
        return Measured(size_summary, theta, Weighted.of(sizes, count, weight, sums, self.population))


class _Unique(Measure):
    """A measure of how many records are how much alone; its `row` is written with four digits, or in percent."""

    everywhere = True
    theta: Theta

    @abstractmethod
    def row(self, written: Callable[[float], str]) -> tuple[str, ...]:
        """The cells before θ; `written` writes a share."""

    def cells(self) -> tuple[str, ...]:
        return (*self.row(share), *theta_cells(self.theta))

    def page_cells(self) -> tuple[str, ...]:
        return (*self.row(percent), theta_percent(self.theta))


@dataclass(frozen=True)
class Listwise(_Unique):
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

    name = "listwise"
    columns = ("deleted", "kept", "k=1", "k<5", "k<10", "Pr(SU) kept", "Pr(SU) all", "mean 1/k", "θ", "interval")
    explanation = ("Pr(SU): share that is unique in the file.",)
    page_title = "People with the same keys (k), those with a gap set aside"
    page_columns = ("set aside", "kept", "k=1", "k<5", "k<10", "share alone", "of all", "mean 1/k", "θ")

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
        return self.sizes.share

    @property
    def pr_su_all(self) -> float:
        """Share of all records that are kept and unique in the sample."""
        return self.sizes.unique / (self.kept + self.deleted)

    @classmethod
    def of(cls, case: Case) -> Self:
        return cls(case.keys.n - case.on_k.sizes.records, *case.on_k)

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        return "Listwise deletion: anonymity sets (k) of the records that have every key"

    def row(self, written: Callable[[float], str]) -> tuple[str, ...]:
        sizes = self.sizes
        counts = (self.deleted, self.kept, sizes.unique, sizes.below_5, sizes.below_10)
        return (*map("{:,}".format, counts), *map(written, (self.pr_su_kept, self.pr_su_all, sizes.inverse)))

    def fields(self) -> dict[str, Any]:
        return {
            "deleted": self.deleted,
            "kept": self.kept,
            **self.sizes.counts("k"),
            "pr_su_kept": number(self.pr_su_kept),
            "pr_su_all": number(self.pr_su_all),
            **self.theta.fields(),
            **self.sizes.fields(),
            "prosecutor_highest": number(self.sizes.highest),
            **({} if self.weighted is None else {"weighted": self.weighted.fields()}),
        }


@dataclass(frozen=True)
class Matches(_Unique):
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
        How often an intruder picks the right record if they know all keys of somebody in the file.
    weighted : Weighted, optional
    """

    name = "matches"
    columns = ("records", "m=1", "m<5", "m<10", "Pr(SU)", "mean 1/m", "informed", "θ", "interval")
    explanation = (
        "Informed: how often an intruder who knows all keys of a person in the file picks the right record, at least"
        " and at most.",
        "Mean 1/m: what that would be if all matches were equally likely; where values are missing they are not.",
        "Mean 1/k: how often an exact match is right, of the records kept.",
    )
    page_title = "People who may be the same (m), gaps allowed for"
    page_columns = ("people", "m=1", "m<5", "m<10", "share", "mean 1/m", "right pick", "θ")

    rule: str
    sizes: Sizes
    theta: Theta
    informed: Informed
    weighted: Weighted | None = None

    @property
    def pr_su(self) -> float:
        """Share of the records that match only themselves; NaN where there are none."""
        return self.sizes.share

    @classmethod
    def of(cls, case: Case) -> Self:
        sizes, theta, weighted = case.on_m
        # m by another rule than `intersect` leaves out people who may be the target; see `informed`.
        one_rule = case.rule == "intersect" or all(variable.cells.certain for variable in case.keys.variables)
        informed_success = informed(case.keys, case.m if one_rule else None)
        return cls(case.rule, sizes, theta, informed_success, weighted)

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        rules = ", ".join(dict.fromkeys(measure.rule for measure in found))
        gaps = "matches everything" + (" unless a policy says otherwise" if policies else "")
        return f"Number of matches (m) of everybody; what is missing {gaps}; rule: {rules}"

    def row(self, written: Callable[[float], str]) -> tuple[str, ...]:
        sizes, pick = self.sizes, spanned(self.informed.least, self.informed.most, written)
        counts = map("{:,}".format, (sizes.records, sizes.unique, sizes.below_5, sizes.below_10))
        return (*counts, written(self.pr_su), written(sizes.inverse), pick)

    def fields(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "records": self.sizes.records,
            **self.sizes.counts("m"),
            "pr_su": number(self.pr_su),
            "informed_least": number(self.informed.least),
            "informed_most": number(self.informed.most),
            "informed_exact": number(self.informed.exact),
            "informed_weighed": number(self.informed.weighed),
            **self.theta.fields(),
            "theta_heuristic": True,
            **self.sizes.fields(),
            "prosecutor_highest": number(self.sizes.highest),
            **({} if self.weighted is None else {"weighted": self.weighted.fields()}),
        }


@dataclass(frozen=True)
class People(Measure):
    """Risk in people of the population, beside the records; JSON holds it in ``listwise`` and in ``matches``.

    Parameters
    ----------
    listwise, matches : Weighted
    """

    name = "people"
    columns = ("least F̂", "F̂<5", "F̂<10", "share unique", "Σ 1/F̂", "least F̂ (m)", "F̂<5", "F̂<10", "Σ 1/F̂")
    page_title = "In people of the population (F̂), as the weights estimate it"

    listwise: Weighted
    matches: Weighted

    @classmethod
    def of(cls, case: Case) -> Self | None:
        k_weighted, m_weighted = case.on_k.weighted, case.on_m.weighted
        return None if k_weighted is None or m_weighted is None else cls(k_weighted, m_weighted)

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        return "In people of the population, as the weights estimate it"

    def cells(self) -> tuple[str, ...]:
        listwise, matches = self.listwise, self.matches
        first = (
            amount(listwise.smallest),
            f"{listwise.below_5:,}",
            f"{listwise.below_10:,}",
            share(listwise.unique),
            amount(listwise.expected),
        )
        return (
            *first,
            amount(matches.smallest),
            f"{matches.below_5:,}",
            f"{matches.below_10:,}",
            amount(matches.expected),
        )

    def fields(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class LeastReadings(OnRequest):
    """The least k, c and m of the records."""

    name = "readings"
    columns = ("least k", "records at k=1", "least c", "least m")
    explanation = (
        "Least k: how many records at least show the same, gaps included; nobody finds a person by these keys with a"
        " probability above 1/k. c: those that hold, known, all that a record shows. m: those that may be the same, of"
        " which a gap makes many; neither is a promise.",
    )
    page_title = "What gaps protect"
    page_columns = ("rows alike, at least (k)", "rows that nobody shares", "known alike (c)", "possibly alike (m)")

    readings: Readings

    @classmethod
    def asked(cls, case: Case) -> Self:
        return cls(readings(case.keys, rule=case.rule))

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        return (
            "What gaps protect: rows that show the same (k), that hold all that is shown (c), that may be the same (m)"
        )

    def cells(self) -> tuple[str, ...]:
        table_readings = self.readings
        least_counts = (table_readings.least_k, self.alone, self.least_c, table_readings.least_m)
        return tuple(DASH if least_count is None else f"{least_count:,}" for least_count in least_counts)

    @property
    def least_c(self) -> int | None:
        """The least c; None where the records have so many patterns of gaps that it would take long."""
        return None if self.readings.long else self.readings.least_c

    @property
    def alone(self) -> int:
        """Records that show what no other does, gaps included."""
        return int((self.readings.same == 1).sum())

    def fields(self) -> dict[str, Any]:
        table_readings = self.readings
        return {
            "least_k": table_readings.least_k,
            "k1": self.alone,
            "least_c": self.least_c,
            "least_m": table_readings.least_m,
        }


_BETWEEN = ";"


def households(
    table: Any, keys: Sequence[str], *, by: str, own: Sequence[str] = (), missing: Literal["any", "all"] = "any"
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
    source = Table.of(table)
    check_names([by, *keys, *own], source.names)
    home = column_of(source, by)
    if (row := first_row(home.is_null())) is not None:
        raise DataError(f"everybody needs a household; column {by!r} is empty in row {row + 1}", row=row, column=by)
    member = composite(table, keys, missing=missing) if len(keys) > 1 else column_of(source, keys[0]).cast(pl.String)
    frame = pl.DataFrame({"home": home, "member": member.str.replace_all(r"([\\;])", r"\$1")})
    frame = frame.with_columns(column_of(source, name).alias(f"own {name}") for name in own)
    rows = frame.group_by("home", maintain_order=True).agg(
        pl.when(pl.col("member").null_count() == 0).then(pl.col("member").sort().str.join(_BETWEEN)).alias("members"),
        *(pl.col(f"own {name}").n_unique().alias(f"values {name}") for name in own),
        *(pl.col(f"own {name}").first() for name in own),
    )
    for name in own:
        if (place := first_row(rows[f"values {name}"] > 1)) is not None:
            message = f"a key of a household must be alike for all of its members; {name!r} differs within a household"
            raise DataError(f"{message} (the {place + 1}. that comes)", column=name)
    return Keys({"members": rows["members"], **{name: rows[f"own {name}"] for name in own}}, ["members", *own])
