"""Events that tell two truths apart: sought on one half of the reports, judged on the other.

An event is a set of values of one feature. With probability 1 - α, ε is above

    ln(low(k, n) / high(k', n)),

where k of n reports of one truth and k' of n reports of the other are in the event, and low and high are the bounds of
Clopper and Pearson (1934) at level α / 2 each. An ε-private client keeps this below ε for every event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from naysay.audit.features import Codes, Feature

__all__ = ["Event", "detectable", "judged", "lower_bound", "sought"]

Floats = NDArray[np.float64]

_CUTS = 256  # sizes of events that are tried for each feature
_POWER = 0.9


@dataclass(frozen=True)
class Event:
    """A set of values of one feature.

    Parameters
    ----------
    feature : Feature
    inside : (values,) bool
    """

    feature: Feature
    inside: NDArray[np.bool_]

    def count(self, rows: Codes) -> int:
        """How many of these reports are in the event."""
        return int(self.inside[self.feature.codes[rows]].sum())

    def __str__(self) -> str:
        held = [value for value, chosen in zip(self.feature.values, self.inside, strict=True) if chosen]
        if len(held) > 3:
            return f"{self.feature.name}: {len(held):,} of its values"
        return f"{self.feature.name}: {' or '.join(map(_shown, held))}"


def _shown(value: object) -> str:
    text = value.decode("utf-8", errors="backslashreplace") if isinstance(value, bytes) else str(value)
    return repr(text if len(text) <= 40 else text[:39] + "…")


def lower_bound(k: int, other: int, n: int, alpha: float) -> float:
    """ε that two counts of n reports each show at confidence 1 - α; -∞ where they show none.

    Examples
    --------
    >>> round(lower_bound(1534, 564, 10_000, 0.01), 3)
    0.835
    """
    low = stats.beta.ppf(alpha / 2, k, n - k + 1) if k else 0.0
    high = stats.beta.isf(alpha / 2, other + 1, n - other) if other < n else 1.0
    return float(np.log(low) - np.log(high)) if low > 0 else -np.inf


def sought(features: Sequence[Feature], rows: Codes, others: Codes, alpha: float) -> Event:
    """The event that tells the truth of `rows` from that of `others` best.

    For each feature a first half of the reports orders its values by how much more often they come under the one truth,
    and the second half says how far down that order the event should reach. Without the second half, a feature that
    never takes a value twice would always seem best.
    """
    first, second = rows[0::2], rows[1::2]
    one, two = others[0::2], others[1::2]
    found: list[tuple[float, Event]] = []
    for each in features:
        size = len(each.values)
        order = _ordered(_counts(each, first, size), _counts(each, one, size))
        here, there = (np.cumsum(_counts(each, part, size)[order]) for part in (second, two))
        cuts = np.unique(np.linspace(0, size - 1, min(size, _CUTS)).astype(int))
        bounds = _approximate(here[cuts], there[cuts], len(second), len(two), alpha)
        place = int(bounds.argmax())
        inside = np.zeros(size, dtype=bool)
        inside[order[: cuts[place] + 1]] = True
        found.append((float(bounds[place]), Event(each, inside)))
    return max(found, key=lambda each: each[0])[1]


def _counts(feature: Feature, rows: Codes, size: int) -> Codes:
    return np.bincount(feature.codes[rows], minlength=size)


def _ordered(here: Codes, there: Codes) -> Codes:
    """Values of a feature, those first that tell the one truth from the other most surely."""
    low, high = _wilson(here, here.sum(), -1.0), _wilson(there, there.sum(), 1.0)
    return np.asarray(np.argsort(-np.log(np.maximum(low, 1e-300)) + np.log(high), kind="stable"))


def _approximate(here: Codes, there: Codes, n: int, m: int, alpha: float) -> Floats:
    """About `lower_bound`, for many events at once."""
    reach = float(stats.norm.isf(alpha / 2))
    low, high = _wilson(here, n, -reach), _wilson(there, m, reach)
    return np.asarray(np.log(np.maximum(low, 1e-300)) - np.log(high))


def _wilson(count: Codes, n: float, reach: float) -> Floats:
    """One end of Wilson's interval of a share, `reach` standard errors away."""
    share = count / n
    half = reach * np.sqrt(share * (1 - share) / n + reach**2 / (4 * n**2))
    return np.asarray((share + reach**2 / (2 * n) + half) / (1 + reach**2 / n))


def judged(event: Event, rows: Codes, others: Codes, alpha: float) -> tuple[int, int, float]:
    """Reports of either truth in an event, and the ε that they show."""
    k, other = event.count(rows), event.count(others)
    return k, other, lower_bound(k, other, min(len(rows), len(others)), alpha)


def detectable(epsilon: float, share: float, n: int, alpha: float) -> float | None:
    """The true ε that n reports of either truth would have shown to be above `epsilon`, with probability .9.

    None if no event of this share can show one: e^ε times the share of the other truth would be more than all reports
    of the one truth.

    Parameters
    ----------
    epsilon : float
        The ε that is claimed.
    share : float
        Of the reports of the other truth that are in the event.
    n : int
    alpha : float

    Examples
    --------
    >>> import math
    >>> round(detectable(1.0, 1 / (math.exp(1.1) + 15), 50_100, 0.01), 3)
    1.1
    """
    share = max(share, 0.5 / n)
    certain, powerful = stats.norm.isf(alpha / 2), stats.norm.isf(1 - _POWER)

    def gap(true: float) -> float:
        here = min(share * np.exp(true), 1 - 0.5 / n)
        one, two = np.sqrt((1 - here) / here), np.sqrt((1 - share) / share)
        needed = certain * (one + two) + powerful * np.hypot(one, two)
        return float((true - epsilon) * np.sqrt(n) - needed)

    most = -float(np.log(share))
    if most <= epsilon or gap(most) < 0:
        return None
    return float(optimize.brentq(gap, epsilon, most))
