"""Several releases of one original, by risk and by utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from naysay.design import Answerable
from naysay.errors import DataError
from naysay.microdata.attack.aligned import frame_of
from naysay.microdata.attack.linkage import Linkage, link
from naysay.microdata.risk.written import DASH, Printed, grid, percent, share
from naysay.microdata.utility.measured import Utility, compare
from naysay.printing import Content, Sentence, plain
from naysay.printing.text import csv_text

__all__ = ["Release", "Tradeoff", "tradeoff"]


@dataclass(frozen=True)
class Release:
    """A release, what it kept, and what an intruder who has the original finds in it.

    Parameters
    ----------
    name : str
    utility : Utility
    attack : Linkage, optional
        None for synthetic records.
    """

    name: str
    utility: Utility
    attack: Linkage | None

    @property
    def risk(self) -> float:
        """The share of all people whom the strongest attack finds; NaN for synthetic records."""
        return float("nan") if self.attack is None else self.attack.strongest.of_all.value

    @property
    def distance(self) -> float:
        """Mean total variation over tables of two variables."""
        return self.utility.distances.mean_pair

    def cells(self) -> tuple[str, ...]:
        """The release as a row of a table."""
        changes = self.utility.changes
        return (
            self.name,
            percent(self.risk),
            DASH if changes is None else share(changes.loss),
            share(self.distance),
            f"{self.utility.propensity.ratio:.2f}",
            share(self.utility.estimates.mean_overlap),
        )

    def fields(self) -> dict[str, Any]:
        changes = self.utility.changes
        return {
            "release": self.name,
            "risk": self.risk,
            "loss": None if changes is None else changes.loss,
            "mean_pair_variation": self.distance,
            "pmse_ratio": self.utility.propensity.ratio,
            "mean_overlap": self.utility.estimates.mean_overlap,
        }


@dataclass(frozen=True)
class Tradeoff(Printed):
    """Releases of one original side by side.

    Parameters
    ----------
    keys : tuple of str
        What the intruder knows.
    before : float
        The share of all people who would be found in the original itself.
    fresh : float
        The mean total variation over tables of two variables that a fresh sample would show.
    releases : tuple of Release
    """

    keys: tuple[str, ...]
    before: float
    fresh: float
    releases: tuple[Release, ...]

    @property
    def best(self) -> tuple[Release, ...]:
        """Releases that no other one beats in risk and in utility at once, those with least risk first."""
        known = [each for each in self.releases if not np.isnan(each.risk)]
        kept = [
            each
            for each in known
            if not any(
                (other.risk, other.distance) != (each.risk, each.distance)
                and other.risk <= each.risk
                and other.distance <= each.distance
                for other in known
            )
        ]
        return tuple(sorted(kept, key=lambda each: each.risk))

    def content(self) -> list[Content]:
        names = ("release", "people found", "loss", "variation of pairs", "pMSE ratio", "overlap")
        told = (
            f"People found: by the strongest attack on {', '.join(self.keys)}, exact or nearest, of an intruder "
            f"who has the original; in the original itself {percent(self.before)}. Variation of pairs: mean total "
            f"variation of all tables of two variables; a fresh sample of people shows {share(self.fresh)}. No other "
            f"release has less of both than: {', '.join(each.name for each in self.best) or DASH}."
        )
        return [
            grid("Risk and utility", names, [each.cells() for each in self.releases]),
            Sentence(told, small=True),
        ]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as JSON can hold them."""
        told: dict[str, Any] = plain(
            {
                "keys": self.keys,
                "risk_before": self.before,
                "fresh_sample": self.fresh,
                "best": [each.name for each in self.best],
                "releases": [each.fields() | {"utility": each.utility.to_dict()} for each in self.releases],
            }
        )
        return told

    def to_csv(self) -> str:
        """A row for each release."""
        rows = [plain(each.fields()) for each in self.releases]
        return csv_text([list(rows[0]), *(list(row.values()) for row in rows)])


def tradeoff(
    before: Any,
    releases: Mapping[str, Any],
    keys: Sequence[str],
    *,
    id: str | None = None,
    synthetic: bool = False,
    most: int | None = 1_000,
    seed: int = 1,
    designs: Mapping[str, Mapping[str, Answerable]] | None = None,
    **asked: Any,
) -> Tradeoff:
    """Risk and utility of several releases of one original.

    Parameters
    ----------
    before : dataframe or mapping of columns
        The original.
    releases : mapping of name to dataframe or mapping of columns
    keys : sequence of str
        What an intruder knows of everybody. Those who have the original are the strongest: they know all keys as they
        were before.
    id : str, optional
        The column that names records.
    synthetic : bool
        Whether records belong to nobody; then there are no links, and the risk is not drawn.
    most : int, optional
        The most people attacked.
    seed : int
    designs : mapping of release to mapping of variable to design, optional
        The designs under which variables of a release were drawn.
    **asked
        As in `compare`.

    Raises
    ------
    DataError
        No release; files that do not fit.

    Examples
    --------
    >>> before = {"age": [23, 24, 35, 36] * 20, "gender": ["f", "m"] * 40, "row": list(range(80))}
    >>> coarse = before | {"age": ["20-29", "20-29", "30-39", "30-39"] * 20}
    >>> found = tradeoff(before, {"as it is": before, "coarse": coarse}, ["age", "gender"], id="row")
    >>> [(each.name, round(each.risk, 3)) for each in found.releases]
    [('as it is', 0.05), ('coarse', 0.05)]
    """
    if not releases:
        raise DataError("at least one release is needed; got none")
    original = frame_of(before, what="the original")
    known: dict[str, Any] = {"id": id, "most": most, "seed": seed}
    own = link(original, original, keys, **known)
    found = []
    for name, each in releases.items():
        file: pl.DataFrame = frame_of(each, what=f"release {name!r}")
        own_designs = (designs or {}).get(name)
        measured = compare(original, file, id=id, synthetic=synthetic, seed=seed, designs=own_designs, **asked)
        attacked = None if synthetic else link(file, original, keys, **known)
        found.append(Release(name, measured, attacked))
    return Tradeoff(tuple(keys), own.strongest.of_all.value, found[0].utility.distances.fresh_pair, tuple(found))
