"""Intruders: who might try, and how likely it is that the attempt succeeds.

Pr(identification) = Pr(attempt) · Pr(success | attempt)

The file determines the second factor; the first is a judgment about people, and must be given. Elliot & Dale (1999) ask
of every intruder what drives them, what they have at hand, and what they want to find. Three answers are named here.
Each reads the table of risk in its own way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.keys.table import check_choice
from naysay.microdata.risk.table import QuasiIdentifier
from naysay.show import number


@dataclass(frozen=True)
class Scenario:
    """An intruder, and what counts as success for them.

    Parameters
    ----------
    name : str
    motivation, means, target : str
        What drives them, what they have, and whom they look for.
    reading : {"prosecutor", "journalist", "register"}
        "prosecutor": they know that their target is in the file. "journalist": they look for anybody whom they can
        name. "register": they link a register of the whole population.
    """

    name: str
    motivation: str
    means: str
    target: str
    reading: str

    def __post_init__(self) -> None:
        check_choice(self.reading, [*_READINGS], what="reading")

    def success(self, row: QuasiIdentifier) -> float:
        """Pr(success | attempt) on a quasi-identifier; NaN where the file does not determine it."""
        return _READINGS[self.reading][0](row)

    def most(self, row: QuasiIdentifier) -> float:
        """An upper bound of Pr(success | attempt); equal to `success` if the file determines it."""
        return row.matches.informed.most if self.reading == "prosecutor" else self.success(row)

    @property
    def basis(self) -> str:
        """What the probability of success is, in words."""
        return _READINGS[self.reading][1]


_READINGS: dict[str, tuple[Callable[[QuasiIdentifier], float], str]] = {
    "prosecutor": (
        lambda row: row.matches.informed.least,
        "what the better of two ways to pick achieves at least: the record that shows all keys, or matches by 1/m",
    ),
    "journalist": (
        lambda row: math.nan if row.matches.theta.withheld else row.matches.theta.estimate,
        "θ, in place of uniqueness in the population: somebody fits one record only, and it is theirs",
    ),
    "register": (
        lambda row: row.matches.theta.fraction * row.matches.pr_su,
        "recall over the list, share of the population times Pr(SU): a person of it is in the file, and alone",
    ),
}

_NAMED = (
    Scenario(
        "acquaintance",
        "curiosity about one person, or a grudge",
        "knows the key variables of a friend, neighbor or colleague, and that they took part",
        "that one person",
        "prosecutor",
    ),
    Scenario(
        "demonstration",
        "to show in public that the file is not safe",
        "looks up whoever is unusual in directories and social media",
        "anybody who fits a single record",
        "journalist",
    ),
    Scenario(
        "register",
        "to enrich a list of customers or citizens",
        "a database of the population that holds names and the key variables",
        "everybody in the list",
        "register",
    ),
)
SCENARIOS: Mapping[str, Scenario] = MappingProxyType({named_scenario.name: named_scenario for named_scenario in _NAMED})
"""The named scenarios."""

_READERS = {"prosecutor": "acquaintance", "journalist": "demonstration"}  # other names of two scenarios


@dataclass(frozen=True)
class Identification:
    """The probability that an intruder tries and succeeds.

    Parameters
    ----------
    scenario : Scenario
    attempt : float
        Pr(attempt), as it was judged.
    success : float
        Pr(success | attempt), from the file; NaN where the file does not determine it. Of an acquaintance it is what
        such an intruder achieves at least.
    most : float
        What Pr(success | attempt) cannot exceed.
    """

    scenario: Scenario
    attempt: float
    success: float
    most: float

    @property
    def probability(self) -> float:
        """Pr(attempt) · Pr(success | attempt); NaN where success is undetermined."""
        return self.attempt * self.success

    @property
    def highest(self) -> float:
        """What the probability cannot exceed."""
        return self.attempt * self.most

    def to_dict(self) -> dict[str, Any]:
        """The probabilities as one JSON object with stable names; undefined numbers are None."""
        return {
            "attempt": self.attempt,
            "success": number(self.success),
            "probability": number(self.probability),
            "success_at_most": number(self.most),
            "probability_at_most": number(self.highest),
        }

    def __str__(self) -> str:
        basis = self.scenario.basis
        if math.isnan(self.probability):
            return f"Pr(success | attempt) is withheld or undefined for this file; it would be {basis}"
        least = f"Pr(identification) = {self.attempt:.3g} × {self.success:.3g} = {self.probability:.3g}"
        most = f" at least, and {self.highest:.3g} at most" if self.most > self.success else ""
        return f"{least}{most}; Pr(success | attempt) is {basis}"


def scenario(name: str | Scenario) -> Scenario:
    """The scenario of that name; "prosecutor" and "journalist" mean "acquaintance" and "demonstration".

    Raises
    ------
    DataError
        A name that is not among `SCENARIOS`.

    Examples
    --------
    >>> scenario("register").target
    'everybody in the list'
    """
    if isinstance(name, Scenario):
        return name
    name = _READERS.get(name, name)
    if name not in SCENARIOS:
        raise DataError(f"there is no scenario {name!r}; {_checks.nearest(name, SCENARIOS)}", value=name)
    return SCENARIOS[name]


def identification(row: QuasiIdentifier, name: str | Scenario, *, attempt: float) -> Identification:
    """Pr(identification) = Pr(attempt) · Pr(success | attempt) on one quasi-identifier.

    Parameters
    ----------
    row : QuasiIdentifier
        A row of a `risk_table`.
    name : str or Scenario
        "acquaintance" (the prosecutor: the target is known to be in the file), "demonstration" (the journalist: anybody
        will do), "register" (everybody in a list of the population is linked), or a scenario of your own.
    attempt : float
        Pr(attempt), over whatever time is meant: a judgment that no file can make.

    Raises
    ------
    DataError
        An unknown scenario, or an `attempt` outside [0, 1].

    Examples
    --------
    >>> from naysay import microdata
    >>> people = {"age": [40, 36, 36, 23], "gender": ["f", "m", "m", "m"]}
    >>> (row,) = microdata.risk_table(people, [["age", "gender"]], population=1_000).quasi_identifiers
    >>> found = microdata.identification(row, "acquaintance", attempt=0.1)
    >>> found.success, round(found.probability, 4), round(found.highest, 4)
    (0.75, 0.075, 0.075)

    Notes
    -----
    Elliot & Dale (1999), Scenarios of attack: the data intruder's perspective on statistical disclosure risk,
    Netherlands Official Statistics 14, 6-10; El Emam & Dankar (2008), JAMIA 15(5), 627-637, for prosecutor and
    journalist.
    """
    intruder_scenario = scenario(name)
    return Identification(
        intruder_scenario, probability(attempt), intruder_scenario.success(row), intruder_scenario.most(row)
    )


def probability(attempt: Any) -> float:
    """Pr(attempt), after checking that it is a probability."""
    if isinstance(attempt, bool) or not isinstance(attempt, int | float | np.number) or not 0 <= attempt <= 1:
        raise DataError(f"attempt must be a probability, from 0 to 1; got {attempt!r}", value=attempt)
    return float(attempt)
