"""How often an attack is right: shares with intervals, beside the same attack on people who are not in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from naysay.microdata.risk.written import percent

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_DRAWS = 2_000


@dataclass(frozen=True)
class Share:
    """A share with its interval; NaN where nobody is counted.

    Parameters
    ----------
    value : float
    interval : (float, float)
    n : int
        People counted.
    method : {"Wilson", "cluster bootstrap"}
    """

    value: float
    interval: tuple[float, float]
    n: int
    method: str = "Wilson"

    def __str__(self) -> str:
        if not self.n:
            return "nobody"
        low, high = self.interval
        return f"{percent(self.value)} ({percent(low)} to {percent(high)})"

    def fields(self) -> dict[str, Any]:
        return {"share": self.value, "interval": list(self.interval), "n": self.n, "method": self.method}


def share_of(
    right: ArrayLike, clusters: NDArray[Any] | None = None, *, confidence: float = 0.95, seed: int = 1
) -> Share:
    """The mean of chances to be right, with an interval.

    Wilson's interval of a binomial share. A pick among several candidates is right with a chance, and counts by it;
    the interval is then a little too wide. With clusters, such as households, whole clusters are drawn again (2,000
    times), and the interval holds the middle of the means; where all are right or all wrong a bootstrap has no width,
    and Wilson's interval for as many people as there are clusters stands instead.

    Parameters
    ----------
    right : (n,) float
    clusters : (n,) int, optional

    Examples
    --------
    >>> share_of([1.0] * 8 + [0.0] * 2).interval
    (0.4901..., 0.9433...)

    Source: Wilson (1927).
    """
    chance = np.asarray(right, dtype=float)
    n = len(chance)
    if not n:
        return Share(float("nan"), (float("nan"), float("nan")), 0)
    value = float(chance.mean())
    if clusters is None:
        return Share(value, _wilson(value, n, confidence), n)
    _, place = np.unique(clusters, return_inverse=True)
    size, total = np.bincount(place).astype(float), np.bincount(place, chance)
    if value in (0.0, 1.0):
        return Share(value, _wilson(value, len(size), confidence), n, "cluster bootstrap")
    cluster_draws = np.random.default_rng(seed).integers(0, len(size), (_DRAWS, len(size)))
    means = total[cluster_draws].sum(axis=1) / size[cluster_draws].sum(axis=1)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Share(value, (float(low), float(high)), n, "cluster bootstrap")


def _wilson(value: float, n: float, confidence: float) -> tuple[float, float]:
    z = float(scipy.special.ndtri((1 + confidence) / 2))
    middle, half = value + z**2 / (2 * n), z * np.sqrt(value * (1 - value) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    return max(0.0, float((middle - half) / scale)), min(1.0, float((middle + half) / scale))


@dataclass(frozen=True, eq=False)
class Linked:
    """What an attack did for each person of a register.

    Parameters
    ----------
    made : (n,) bool
        Whether it named a record.
    right : (n,) float
        The chance that this record is the person's.
    tried : (n,) bool, optional
        For whom it was tried; by default for everybody.
    """

    made: Flags
    right: Floats
    tried: Flags | None = None


@dataclass(frozen=True)
class Success:
    """How well one attack did.

    Parameters
    ----------
    name : str
    of_links : Share
        Right links among links made for people who are in the release.
    of_all : Share
        Right links among all people who are in the release.
    control : Share
        Links made among people who are not in the release; each of them is wrong.
    believed : float
        Right links among all links made, of people who are in the release or not: what a link is worth to an intruder
        who does not know who is in the file.
    """

    name: str
    of_links: Share
    of_all: Share
    control: Share
    believed: float

    @classmethod
    def of(
        cls, name: str, found: Linked, inside: Flags, clusters: NDArray[Any] | None, *, confidence: float, seed: int
    ) -> Success:
        """The shares, from what was done for each person; `inside` says who is in the release."""

        def share_among(rows: Flags, values: Floats) -> Share:
            row_clusters = None if clusters is None else clusters[rows]
            return share_of(values[rows], row_clusters, confidence=confidence, seed=seed)

        right = np.where(found.made & inside, found.right, 0.0)
        links_made, tried = int(found.made.sum()), np.ones(len(inside), bool) if found.tried is None else found.tried
        return cls(
            name,
            share_among(found.made & inside, right),
            share_among(tried & inside, right),
            share_among(tried & ~inside, found.made.astype(float)),
            float(right.sum() / links_made) if links_made else float("nan"),
        )

    def fields(self) -> dict[str, Any]:
        return {
            "attack": self.name,
            "right_of_links": self.of_links.fields(),
            "right_of_all": self.of_all.fields(),
            "control_links": self.control.fields(),
            "right_of_links_with_control": self.believed,
        }
