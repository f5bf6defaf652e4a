"""The search behind ``naysay risk --search``: what is asked, and what it brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from naysay import microdata
from naysay.cli import output
from naysay.errors import DataError
from naysay.microdata import Contributions, Keys, Recodings, Search

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
    rule : str
    most : int, optional
    minutes : float, optional
    file : Path, optional
    """

    size: int
    rule: str
    most: int | None
    minutes: float | None
    file: Path | None

    def check(self, keys: int) -> None:
        """Raise for what can be known to be wrong before the file is read."""
        if not 1 <= self.size <= keys:
            raise DataError(
                f"--search must be a number of keys, from 1 to the {keys} that --keys names; got {self.size}"
            )
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
            most=self.most,
            minutes=self.minutes,
            file=self.file,
            progress=progress,
        )
        if found.stopped == "interrupted" or not found.complete:
            return Found(found, None, None)
        told = microdata.contributions(found, progress=progress)
        riskiest = keys.only(found.combinations[0].keys)
        return Found(found, told, microdata.recodings(riskiest, rule=self.rule, progress=progress))
