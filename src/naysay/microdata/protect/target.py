"""What a release must reach: how many people must read the same, in one of three readings of a gap."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.protect.conditions import Condition

READINGS = {
    "k": "records that read the same, a gap being a value of its own",
    "c": "records that hold, known, every value that a record shows",
    "m": "records that may be the same, a gap matching anything",
}
"""How matches of a released record are counted: k ≤ c ≤ m. Only k bounds what an intruder can do."""

_FORM = re.compile(r"\s*([a-z]+)\s*(>=|≥)\s*(\d+)\s*$")

COSTS = {"low": 0.5, "normal": 1.0, "high": 4.0, "must": float("inf")}


@dataclass(frozen=True)
class Target:
    """At least so many matches for every record, and conditions on what its class tells of sensitive columns.

    Examples
    --------
    >>> Target.of("k >= 3")
    Target(reading='k', least=3, conditions=())
    >>> str(Target.of("m>=5"))
    'm >= 5'
    >>> str(Target.of("k >= 3 and l(illness) >= 2"))
    'k >= 3 and l(illness) >= 2'
    """

    reading: str
    least: int
    conditions: tuple[Condition, ...] = ()

    @classmethod
    def of(cls, told: Any) -> Target:
        """The target that a text such as ``k >= 3`` names."""
        if isinstance(told, Target):
            return told
        size, *others = re.split(r"\s+and\s+", str(told))
        form_match = _FORM.match(size)
        if form_match is None or form_match[1] not in READINGS:
            readings = ", ".join(f"{name} ({what})" for name, what in READINGS.items())
            raise DataError(f"a target must be such as 'k >= 3', with one of {readings}; got {size!r}")
        least = int(form_match[3])
        if least < 2:
            raise DataError(f"a target must ask for 2 matches or more; got {str(told)!r}, which every file meets")
        conditions = tuple(map(Condition.of, others))
        if conditions and form_match[1] != "k":
            raise DataError(
                f"conditions are for classes that read the same: ask for k, not {form_match[1]}, beside them"
            )
        return cls(form_match[1], least, conditions)

    def form(self) -> str:
        """As a plan writes it."""
        return str(self)

    def __str__(self) -> str:
        return " and ".join([f"{self.reading} >= {self.least}", *map(str, self.conditions)])


def prices(keys: tuple[str, ...], importance: Any) -> list[float]:
    """What losing a cell of each key costs, from words (low, normal, high, must) or numbers.

    Raises
    ------
    DataError
        Importance of a variable that is no key, or a word or number that is none.
    """
    for name, key_importance in importance.items():
        if name not in keys:
            raise DataError(
                f"importance is for keys; {name!r} is none of them ({_checks.nearest(name, keys)})", column=name
            )
        good = (
            key_importance in COSTS
            if isinstance(key_importance, str)
            else isinstance(key_importance, int | float) and key_importance > 0
        )
        if not good:
            raise DataError(
                f"importance of {name!r} must be one of {_checks.listing_text(COSTS)}, or a number above 0; "
                f"got {key_importance!r}",
                column=name,
            )
    return [
        COSTS[key_importance]
        if isinstance(key_importance := importance.get(key, "normal"), str)
        else float(key_importance)
        for key in keys
    ]
