"""Results about keys, with what a file calls its variables in place of their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from naysay.microdata import Contributions, Recodings, RiskTable, Search

__all__ = ["Titles"]

Held = TypeVar("Held")


class Titles(dict[str, str]):
    """What keys are called, by name; a key without a title keeps its name, and so do keys with the same title.

    Examples
    --------
    >>> titles = Titles.of({"v1": "Age", "v2": "Job", "v3": "Job"})
    >>> titles["v1"], titles["v2"], titles["v4"]
    ('Age', 'Job (v2)', 'v4')
    """

    @classmethod
    def of(cls, told: Mapping[str, str]) -> Titles:
        """From what a file says; empty titles say nothing."""
        texts = [text.strip() for text in told.values()]
        given = zip(told, texts, strict=True)
        return cls({name: text if texts.count(text) == 1 else f"{text} ({name})" for name, text in given if text})

    def __missing__(self, name: str) -> str:
        return name

    def risk(self, found: RiskTable) -> RiskTable:
        """A table of risk."""
        rows = tuple(
            replace(
                row,
                keys=self._all(row.keys),
                missing={self[name]: policy for name, policy in row.missing.items()},
                measures=tuple(each.titled(self) for each in row.measures),
            )
            for row in found.quasi_identifiers
        )
        return replace(found, quasi_identifiers=rows, titles={})

    def search(self, found: Search) -> Search:
        """Combinations of a search."""
        return replace(found, combinations=tuple(self._keys(each) for each in found.combinations))

    def contributions(self, found: Contributions) -> Contributions:
        """What keys add."""
        return replace(found, keys=tuple(replace(each, key=self[each.key]) for each in found.keys))

    def recodings(self, found: Recodings) -> Recodings:
        """Coarser versions."""
        recoded = tuple(replace(each, key=self[each.key], after=self._keys(each.after)) for each in found.recodings)
        worst = None if found.worst is None else self._keys(found.worst)
        return replace(found, before=self._keys(found.before), recodings=recoded, worst=worst)

    def _keys(self, one: Any) -> Any:
        return replace(one, keys=self._all(one.keys))

    def _all(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self[name] for name in names)
