"""The measure of matches: for every record, how many records may be the same person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from naysay.microdata.population.informed import Informed, informed
from naysay.microdata.population.sizes import Sizes
from naysay.microdata.population.theta import Theta
from naysay.microdata.population.weighted import Weighted
from naysay.microdata.risk.measure import Case, Measure
from naysay.microdata.risk.written import percent, share, spanned, theta_cells, theta_percent
from naysay.printing import number

__all__ = ["Matches"]


@dataclass(frozen=True)
class Matches(Measure):
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
    everywhere = True
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
        return self.sizes.unique / self.sizes.records if self.sizes.records else float("nan")

    @classmethod
    def of(cls, case: Case) -> Self:
        sizes, theta, weighted = case.on_m
        # m by another rule than `intersect` leaves out people who may be the target; see `informed`.
        one_rule = case.rule == "intersect" or all(each.cells.certain for each in case.keys.variables)
        known = informed(case.keys, case.m if one_rule else None)
        return cls(case.rule, sizes, theta, known, weighted)

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        rules = ", ".join(dict.fromkeys(each.rule for each in found))
        gaps = "matches everything" + (" unless a policy says otherwise" if policies else "")
        return f"Number of matches (m) of everybody; what is missing {gaps}; rule: {rules}"

    def cells(self) -> tuple[str, ...]:
        return (*self._row(share), *theta_cells(self.theta))

    def _row(self, written: Callable[[float], str]) -> tuple[str, ...]:
        sizes, pick = self.sizes, spanned(self.informed.least, self.informed.most, written)
        counts = map("{:,}".format, (sizes.records, sizes.unique, sizes.below_5, sizes.below_10))
        return (*counts, written(self.pr_su), written(sizes.inverse), pick)

    def fields(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "records": self.sizes.records,
            "m1": self.sizes.unique,
            "m_lt_5": self.sizes.below_5,
            "m_lt_10": self.sizes.below_10,
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

    def page_cells(self) -> tuple[str, ...]:
        return (*self._row(percent), theta_percent(self.theta))
