"""The measure of listwise deletion: anonymity sets of those who have every key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from naysay.microdata.population.sizes import Sizes
from naysay.microdata.population.theta import Theta
from naysay.microdata.population.weighted import Weighted
from naysay.microdata.risk.measure import Case, Measure
from naysay.microdata.risk.written import percent, share, theta_cells, theta_percent
from naysay.printing import number

__all__ = ["Listwise"]


@dataclass(frozen=True)
class Listwise(Measure):
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
    everywhere = True
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
        return self.sizes.unique / self.kept if self.kept else float("nan")

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

    def cells(self) -> tuple[str, ...]:
        return (*self._row(share), *theta_cells(self.theta))

    def _row(self, written: Callable[[float], str]) -> tuple[str, ...]:
        sizes = self.sizes
        counts = (self.deleted, self.kept, sizes.unique, sizes.below_5, sizes.below_10)
        return (*map("{:,}".format, counts), *map(written, (self.pr_su_kept, self.pr_su_all, sizes.inverse)))

    def fields(self) -> dict[str, Any]:
        return {
            "deleted": self.deleted,
            "kept": self.kept,
            "k1": self.sizes.unique,
            "k_lt_5": self.sizes.below_5,
            "k_lt_10": self.sizes.below_10,
            "pr_su_kept": number(self.pr_su_kept),
            "pr_su_all": number(self.pr_su_all),
            **self.theta.fields(),
            **self.sizes.fields(),
            "prosecutor_highest": number(self.sizes.highest),
            **({} if self.weighted is None else {"weighted": self.weighted.fields()}),
        }

    def page_cells(self) -> tuple[str, ...]:
        return (*self._row(percent), theta_percent(self.theta))
