"""What gaps protect: the least of the three ways to count records that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from naysay.microdata.risk.measure import Case, OnRequest
from naysay.microdata.risk.readings import Readings, readings
from naysay.microdata.risk.written import DASH

__all__ = ["LeastReadings"]


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

    found: Readings

    @classmethod
    def asked(cls, case: Case) -> Self:
        return cls(readings(case.keys, rule=case.rule))

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        return (
            "What gaps protect: rows that show the same (k), that hold all that is shown (c), that may be the same (m)"
        )

    def cells(self) -> tuple[str, ...]:
        told = self.found
        counted = (told.least_k, self.alone, self.least_c, told.least_m)
        return tuple(DASH if each is None else f"{each:,}" for each in counted)

    @property
    def least_c(self) -> int | None:
        """The least c; None where the records have so many patterns of gaps that it would take long."""
        return None if self.found.long else self.found.least_c

    @property
    def alone(self) -> int:
        """Records that show what no other does, gaps included."""
        return int((self.found.same == 1).sum())

    def fields(self) -> dict[str, Any]:
        told = self.found
        return {"least_k": told.least_k, "k1": self.alone, "least_c": self.least_c, "least_m": told.least_m}
