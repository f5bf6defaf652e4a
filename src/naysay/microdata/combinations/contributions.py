"""What each key variable adds to the risk: alone, as the last key, and on average over combinations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from naysay.errors import DataError
from naysay.microdata.combinations.lattice import all_keys
from naysay.microdata.combinations.search import SIGN, Search
from naysay.microdata.risk.written import Printed, explained, grid, share
from naysay.printing import Content, plain

__all__ = ["Contribution", "Contributions", "contributions"]


@dataclass(frozen=True)
class Contribution:
    """What one key adds to the share of respondents who stand out.

    Parameters
    ----------
    key : str
    alone : float
        The share on this key by itself.
    last : float
        By how much the share on all keys would fall without it.
    averaged : float
        By how much it raises the share on average when it joins 0 … size - 1 other keys. The number of others is drawn
        first, each number equally likely, and then that many keys. If `size` counts all keys, this is the Shapley
        value.
    """

    key: str
    alone: float
    last: float
    averaged: float


@dataclass(frozen=True)
class Contributions(Printed):
    """What the keys of a search add, the largest average first.

    Parameters
    ----------
    measure : {"matches", "anonymity"}
    size : int
        The largest number of keys in the combinations that were averaged over: those that the search finished.
    every : float
        The share of respondents who stand out on all keys.
    mean : float
        The mean share over all combinations of exactly `size` keys.
    keys : tuple of Contribution
    """

    measure: str
    size: int
    every: float
    mean: float
    keys: tuple[Contribution, ...]

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object with stable names; undefined numbers are None."""
        return dict(plain(asdict(self)))

    def content(self) -> list[Content]:
        """What each key adds, and what the columns mean."""
        title = f"What each key adds to the share with {SIGN[self.measure]} = 1; on all keys it is {share(self.every)}"
        rows = ((each.key, share(each.alone), share(each.last), share(each.averaged)) for each in self.keys)
        meaning = (
            "Alone: on this key only. Last: what all keys would lose without it. Averaged: what it adds when it joins"
            f" 0 to {self.size - 1} others picked at random.",
        )
        return [grid(title, ("key", "alone", "last", "averaged"), rows, width=48), explained(meaning)]


def contributions(found: Search, *, progress: Callable[[str, float], None] | None = None) -> Contributions:
    """What each key variable of a search adds to the share of respondents who stand out.

    Let U(S) be that share on the keys S, and p the number of keys. A key v adds U({v}) alone; U(all) - U(all but v)
    last; and on average

        φ_v = (1/q) Σ_{s < q} mean of U(S + v) - U(S) over the combinations S of s keys without v,

    where q is the largest size that the search finished. The averages add up: Σ_v φ_v = (p/q) · mean of U over the
    combinations of q keys; with q = p they are Shapley values, and add up to U(all). A key that tells people apart only
    together with other keys looks harmless alone. Two keys that tell the same look harmless last, because each replaces
    the other. The average is fair to both kinds.

    Parameters
    ----------
    found : Search
        Its measure and its rule are used.
    progress : callable, optional
        Called with each key and the share of the work that is done.

    Raises
    ------
    DataError
        A search that did not finish the keys one by one.

    Examples
    --------
    >>> from naysay import microdata
    >>> people = {"age": [40, 36, 40, 40], "gender": ["f", "m", "m", "m"], "job": ["a", "a", "b", "a"]}
    >>> found = microdata.search(microdata.Keys(people, ["age", "gender", "job"]))
    >>> told = contributions(found)
    >>> told.every, [(each.key, each.alone, each.last, round(each.averaged, 3)) for each in told.keys]
    (1.0, [('age', 0.25, 0.5, 0.333), ('gender', 0.25, 0.5, 0.333), ('job', 0.25, 0.5, 0.333)])

    Notes
    -----
    Shapley (1953), A value for n-person games; cut at q keys, because an intruder who knows all is rare.
    """
    size = found.complete
    if not size:
        raise DataError(
            "contributions need a search that finished at least each key alone; this one did not: let it go on"
        )
    shares = {frozenset(each.keys): each.unique(found.measure) / found.n for each in found.combinations}
    nobody = shares[frozenset()] = float(found.n == 1)
    columns = found.keys.columns
    averaged = _averaged(shares, columns, size)
    every = _share(found, columns)
    told = []
    for number, key in enumerate(columns):
        if progress is not None:
            progress(f"without {key}", number / len(columns))
        rest = tuple(name for name in columns if name != key)
        without = _share(found, rest) if rest else nobody
        told.append(Contribution(key, shares[frozenset([key])], every - without, averaged[key]))
    mean = float(np.mean([share for keys, share in shares.items() if len(keys) == size]))
    told.sort(key=lambda each: -each.averaged)
    return Contributions(found.measure, size, every, mean, tuple(told))


def _averaged(shares: dict[frozenset[str], float], columns: tuple[str, ...], size: int) -> dict[str, float]:
    sums = dict.fromkeys(columns, 0.0)
    for keys, found in shares.items():
        if 0 < len(keys) <= size:
            ways = math.comb(len(columns) - 1, len(keys) - 1)
            for key in keys:
                sums[key] += (found - shares[keys - {key}]) / ways
    return {key: value / size for key, value in sums.items()}


def _share(found: Search, columns: tuple[str, ...]) -> float:
    return all_keys(found.keys.only(columns), found.rule).unique(found.measure) / found.n
