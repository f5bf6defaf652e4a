"""What a measure of risk is, and the measures that every table has.

A measure is a frozen dataclass: numbers about a quasi-identifier, and every form in which they are shown. Text, JSON,
CSV and the page for the board read its members; none of them knows a measure by name. Here are those of who is unique:
k after listwise deletion, m over everybody, and both in people; and what gaps protect.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay._values import Array
from naysay.microdata.keys.matches import Readings, matches_of_tuples, readings
from naysay.microdata.keys.variables import Keys, Progress
from naysay.microdata.risk.theta import (
    Informed,
    Scale,
    Sizes,
    Theta,
    Weighted,
    informed,
    sampling_fraction,
    theta_cells,
    theta_of,
    theta_percent,
    weighted_theta,
)
from naysay.show.result import DASH, amount, percent, share, spanned


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
    needs : tuple of str
        Without which of the fields of a case there is no such measure: "population", "sensitive".
    """

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    explanation: ClassVar[tuple[str, ...]] = ()
    everywhere: ClassVar[bool] = False
    page_title: ClassVar[str] = ""
    page_columns: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def of(cls, case: Case) -> Self | None:
        """The measure on a quasi-identifier; None where nobody asked for it."""

    @classmethod
    @abstractmethod
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
        """The caption of the text table; `policies` says whether some missing cells do not match everything."""

    @abstractmethod
    def cells(self) -> tuple[str, ...]:
        """The row of the text table, one cell for each of `columns`."""

    @abstractmethod
    def numbers(self) -> dict[str, object]:
        """Its numbers under the stable names of JSON, also the columns of CSV; empty where others hold them."""

    def page_cells(self) -> tuple[str, ...]:
        """The row of the table on the page."""
        return self.cells()

    @property
    def reservation(self) -> str:
        """Why some of the numbers should not be used; empty if they may."""
        return ""

    def of_each(self) -> dict[str, Array]:
        """What the measure says of each respondent, by name, (n,); most say nothing."""
        return {}

    def titled(self, titles: Mapping[str, str]) -> Measure:
        """The same measure with other words for keys, where its cells name them; `titles` has a word for each."""
        return self


class OnRequest(Measure):
    """A measure that a table has only if it is asked for by name."""

    @classmethod
    def of(cls, case: Case) -> Self | None:
        return cls.measure_case(case) if cls.name in case.also and case.keys.kept.any() else None

    @classmethod
    @abstractmethod
    def measure_case(cls, case: Case) -> Self | None:
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
    def m(self) -> Array:
        """The matches of each distinct tuple."""
        return matches_of_tuples(self.keys, rule=self.rule, progress=self.progress)

    @cached_property
    def on_k(self) -> Measured:
        """Over the records that have every key."""
        return self._measure_sizes(self.k, self.keys.tuples.weight, self.keys.complete)

    @cached_property
    def on_m(self) -> Measured:
        """Over everybody whom no policy leaves out."""
        m, weight_sums = self.m, self.keys.tuples.weight
        if self.scale is not None:
            weight_sums = matches_of_tuples(self.keys, weight_sums, rule=self.rule, progress=self.progress)
        return self._measure_sizes(m, weight_sums, self.keys.kept)

    def _measure_sizes(self, sizes: Array, sums: Array | None, keep: NDArray[np.bool_]) -> Measured:
        weights = self.keys.tuples.weight
        sizes, kept_counts = sizes[keep], self.keys.tuples.count[keep]
        size_summary = Sizes.of_counts(sizes, kept_counts)
        if self.scale is None or self.population is None or weights is None or sums is None:
            return Measured(size_summary, theta_of(size_summary, self.population, self.confidence), None)
        fraction = sampling_fraction(max(size_summary.records, 1), self.population)
        kept_weights, sums = self.scale.people(weights)[keep], self.scale.people(sums)[keep]
        theta = weighted_theta(sizes, kept_counts, kept_weights, sums, fraction=fraction, confidence=self.confidence)
        return Measured(size_summary, theta, Weighted.of(sizes, kept_counts, kept_weights, sums, self.population))


class ShareRow(Measure):
    """A measure whose shares are written with four digits in the text table, and in percent on the page."""

    @abstractmethod
    def row(self, write_share: Callable[[float], str]) -> tuple[str, ...]:
        """The cells of its row, as `write_share` writes shares."""

    def cells(self) -> tuple[str, ...]:
        return self.row(share)

    def page_cells(self) -> tuple[str, ...]:
        return self.row(percent)


class _Unique(ShareRow):
    """A measure of how many records are how much alone: its row, and θ."""

    everywhere = True
    theta: Theta

    def cells(self) -> tuple[str, ...]:
        return (*super().cells(), *theta_cells(self.theta))

    def page_cells(self) -> tuple[str, ...]:
        return (*super().page_cells(), theta_percent(self.theta))


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
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
        return "Listwise deletion: anonymity sets (k) of the records that have every key"

    def row(self, write_share: Callable[[float], str]) -> tuple[str, ...]:
        sizes = self.sizes
        counts = (self.deleted, self.kept, sizes.unique, sizes.below_5, sizes.below_10)
        return (*map("{:,}".format, counts), *map(write_share, (self.pr_su_kept, self.pr_su_all, sizes.inverse)))

    def numbers(self) -> dict[str, object]:
        return {
            "deleted": self.deleted,
            "kept": self.kept,
            **self.sizes.counts("k"),
            "pr_su_kept": self.pr_su_kept,
            "pr_su_all": self.pr_su_all,
            **self.theta.numbers(),
            **self.sizes.numbers(),
            "prosecutor_highest": self.sizes.highest,
            **({} if self.weighted is None else {"weighted": self.weighted.numbers()}),
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
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
        rules_text = ", ".join(dict.fromkeys(measure.rule for measure in measures))
        gaps_text = "matches everything" + (" unless a policy says otherwise" if policies else "")
        return f"Number of matches (m) of everybody; what is missing {gaps_text}; rule: {rules_text}"

    def row(self, write_share: Callable[[float], str]) -> tuple[str, ...]:
        sizes, pick_text = self.sizes, spanned(self.informed.least, self.informed.most, write_share)
        count_texts = map("{:,}".format, (sizes.records, sizes.unique, sizes.below_5, sizes.below_10))
        return (*count_texts, write_share(self.pr_su), write_share(sizes.inverse), pick_text)

    def numbers(self) -> dict[str, object]:
        return {
            "rule": self.rule,
            "records": self.sizes.records,
            **self.sizes.counts("m"),
            "pr_su": self.pr_su,
            "informed_least": self.informed.least,
            "informed_most": self.informed.most,
            "informed_exact": self.informed.exact,
            "informed_weighed": self.informed.weighed,
            **self.theta.numbers(),
            "theta_heuristic": True,
            **self.sizes.numbers(),
            "prosecutor_highest": self.sizes.highest,
            **({} if self.weighted is None else {"weighted": self.weighted.numbers()}),
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
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
        return "In people of the population, as the weights estimate it"

    def cells(self) -> tuple[str, ...]:
        listwise, matches = self.listwise, self.matches
        least_k, *k_below = amount(listwise.smallest), f"{listwise.below_5:,}", f"{listwise.below_10:,}"
        least_m, *m_below = amount(matches.smallest), f"{matches.below_5:,}", f"{matches.below_10:,}"
        listwise_cells = (least_k, *k_below, share(listwise.unique), amount(listwise.expected))
        return (*listwise_cells, least_m, *m_below, amount(matches.expected))

    def numbers(self) -> dict[str, object]:
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
    def measure_case(cls, case: Case) -> Self:
        return cls(readings(case.keys, rule=case.rule))

    @classmethod
    def title(cls, measures: Sequence[Self], *, policies: bool) -> str:
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

    def numbers(self) -> dict[str, object]:
        table_readings = self.readings
        return {
            "least_k": table_readings.least_k,
            "k1": self.alone,
            "least_c": self.least_c,
            "least_m": table_readings.least_m,
        }
