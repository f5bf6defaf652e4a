"""The measure in people: risk in the population, estimated from sampling weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from naysay.microdata.population.weighted import Weighted
from naysay.microdata.risk.measure import Case, Measure
from naysay.microdata.risk.written import amount, share

__all__ = ["People"]


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
        own, every = case.on_k.weighted, case.on_m.weighted
        return None if own is None or every is None else cls(own, every)

    @classmethod
    def title(cls, found: Sequence[Self], *, policies: bool) -> str:
        return "In people of the population, as the weights estimate it"

    def cells(self) -> tuple[str, ...]:
        own, every = self.listwise, self.matches
        first = (amount(own.smallest), f"{own.below_5:,}", f"{own.below_10:,}", share(own.unique), amount(own.expected))
        return (*first, amount(every.smallest), f"{every.below_5:,}", f"{every.below_10:,}", amount(every.expected))

    def fields(self) -> dict[str, Any]:
        return {}
