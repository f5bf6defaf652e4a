"""The search behind ``naysay risk --search``: what is asked, and what it brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from naysay import microdata
from naysay.console import output
from naysay.errors import DataError
from naysay.microdata import Contributions, Keys, Recodings, Search
from naysay.microdata.combinations.recodings import everywhere
from naysay.microdata.keys.table import check_names

__all__ = ["Asked", "Found"]

_LONG = 60.0  # seconds from which a search says beforehand how long it should take


@dataclass(frozen=True)
class Found:
    """What a search found; contributions and recodings only where it was not interrupted.

    Parameters
    ----------
    search : Search
    contributions : Contributions, optional
    recodings : Recodings, optional
        Of the most dangerous combination.
    """

    search: Search
    contributions: Contributions | None
    recodings: Recodings | None


@dataclass(frozen=True)
class Asked:
    """A search that is asked for.

    Parameters
    ----------
    size : int
        The largest number of keys in a combination.
    measure : str
    orders : {key: texts}
        The order of the values of a key, for recodings.
    most : int, optional
    minutes : float, optional
    file : Path, optional
    rule : str
    population : float, optional
        For θ of each combination, which is left out where respondents have weights: it would need equal chances.
    confidence : float
    """

    size: int
    measure: str
    orders: Mapping[str, Sequence[str]]
    most: int | None
    minutes: float | None
    file: Path | None
    rule: str
    population: float | None
    confidence: float

    def check(self, keys: Sequence[str]) -> None:
        """Raise for what can be known to be wrong before the file is read."""
        if not 1 <= self.size <= len(keys):
            raise DataError(
                f"--search must be a number of keys, from 1 to the {len(keys)} that --keys names; got {self.size}"
            )
        check_names(list(self.orders), keys, what="key")
        if self.file is not None and not self.file.parent.is_dir():
            raise DataError(f"there is no folder {str(self.file.parent)!r} to write to")

    def answer(self, keys: Keys, progress: Callable[[str, float], None] | None) -> Found:
        """Count, and say before how long it will take where that is long."""
        if self.file is None or not self.file.exists():
            plan = microdata.search_plan(keys, size=self.size, rule=self.rule)
            if plan.time > _LONG:
                output.note(f"{plan}; smaller: {plan.smaller}")
        found = microdata.search(
            keys,
            size=self.size,
            rule=self.rule,
            measure=self.measure,
            population=self.population,
            confidence=self.confidence,
            most=self.most,
            minutes=self.minutes,
            file=self.file,
            progress=progress,
        )
        if found.stopped == "interrupted" or not found.complete:
            return Found(found, None, None)
        told = microdata.contributions(found, progress=progress)
        riskiest = keys.only(found.combinations[0].keys)
        orders = {name: _values(riskiest, name, self.orders[name]) for name in riskiest.columns if name in self.orders}
        coarser = microdata.recodings(riskiest, rule=self.rule, measure=self.measure, orders=orders, progress=progress)
        return Found(found, told, replace(coarser, worst=everywhere(found, coarser)))


def _values(keys: Keys, name: str, texts: Sequence[str]) -> list[Any]:
    """The values of a key that are written so: files other than CSV hold numbers and truth values."""
    written = {str(value): value for value in keys.variable(name).cells.values if value is not None}
    return [written.get(text, text) for text in texts]
