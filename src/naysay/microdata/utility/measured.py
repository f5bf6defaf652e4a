"""The utility of a release: everything that is measured of it, in one result.

Several releases of one original, by risk and by utility.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from naysay.design import Answerable
from naysay.errors import DataError
from naysay.microdata.attack.linkage import Linkage, link
from naysay.microdata.attack.register import frame_of
from naysay.microdata.risk.written import DASH, WIDTH, Printed, grid, percent, share
from naysay.microdata.utility.distances import Changes, Distances, changes, distances
from naysay.microdata.utility.estimates import Estimates, estimates
from naysay.microdata.utility.paired import Pair
from naysay.microdata.utility.propensity import Propensity, propensity
from naysay.show import Content, Facts, Heading, Note, Sentence, plain, text
from naysay.show.text import csv_text

Measure = Changes | Distances | Propensity | Estimates


@dataclass(frozen=True)
class Utility(Printed):
    """What a release kept of its original.

    Parameters
    ----------
    records, released : int
        People in the original and in the release.
    weighted : bool
    changes : Changes, optional
        None for synthetic records.
    distances : Distances
    propensity : Propensity
    estimates : Estimates
    """

    records: int
    released: int
    weighted: bool
    changes: Changes | None
    distances: Distances
    propensity: Propensity
    estimates: Estimates

    @property
    def measures(self) -> dict[str, Measure]:
        """Each measure, under the heading that introduces it."""
        measure_of = {
            "What was done to the cells": self.changes,
            "Distributions": self.distances,
            "Can the files be told apart?": self.propensity,
            "Estimates": self.estimates,
        }
        return {heading: measure for heading, measure in measure_of.items() if measure is not None}

    def content(self) -> list[Content]:
        weighted = " All numbers are weighted." if self.weighted else ""
        facts = (("people", f"{self.records:,} in the original, {self.released:,} in the release.{weighted}"),)
        return [
            Facts(facts),
            *(part for heading, measure in self.measures.items() for part in (Heading(heading), *measure.content())),
            *map(Note, self.reservations),
        ]

    def __str__(self) -> str:
        first, *later_blocks = self.content()
        parts = [[first]]
        for content_block in later_blocks:  # an empty line before each heading
            parts = [*parts, []] if isinstance(content_block, Heading) else parts
            parts[-1].append(content_block)
        return "\n\n".join(text(part, width=WIDTH) for part in parts)

    @property
    def reservations(self) -> list[str]:
        """What stays with the numbers."""
        if self.changes is not None:
            return []
        return ["records are taken as synthetic: they belong to nobody, so no cell is compared with another"]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as JSON can hold them."""
        count_fields = {"records": self.records, "released": self.released, "weighted": self.weighted}
        return plain(count_fields | {measure.name: measure.fields() for measure in self.measures.values()})  # type: ignore[no-any-return]

    def to_csv(self) -> str:
        """A row for each number: what it measures, of which variables, and its value."""
        rows: list[tuple[Any, ...]] = [("measure", "of", "value")]
        for change in () if self.changes is None else self.changes.variables:
            rows += [
                (name, change.name, getattr(change, name)) for name in ("suppressed", "changed", "imputed", "loss")
            ]
        for distance in (*self.distances.margins, *self.distances.pairs):
            variables_text = " × ".join(distance.variables)
            names = ("variation", "fresh_variation", "hellinger", "fresh_hellinger")
            rows += [(name, variables_text, getattr(distance, name)) for name in names]
        rows.append(("pmse_ratio", self.propensity.model, self.propensity.ratio))
        for estimate in (
            *self.estimates.plain,
            *self.estimates.named,
            *(undone_estimate for _, undone_estimate in self.estimates.undone),
        ):
            estimate_name = f"{estimate.group}: {estimate.name}" if estimate.group else estimate.name
            rows += [("difference", estimate_name, estimate.difference), ("overlap", estimate_name, estimate.overlap)]
        return csv_text(rows)


def compare(
    before: Any,
    after: Any,
    *,
    variables: Sequence[str] | None = None,
    id: str | None = None,
    synthetic: bool = False,
    weights: str | None = None,
    formulas: Sequence[str] = (),
    designs: Mapping[str, Answerable] | None = None,
    model: str = "pairs",
    seed: int = 1,
) -> Utility:
    """What a release kept of its original: cells, distributions, whether the two can be told apart, and estimates.

    Parameters
    ----------
    before, after : dataframe or mapping of columns
        The original and the release.
    variables : sequence of str, optional
        By default all columns that both have.
    id : str, optional
        The column that names records. Without it, rows belong together in their order.
    synthetic : bool
        Whether the records of the release belong to nobody.
    weights : str, optional
        The column of sampling weights in both files.
    formulas : sequence of str
        Regressions, such as ``income ~ age + C(region)``; they need the extra ``regression``.
    designs : mapping of variable to design
        The designs under which variables were released: PRAM, or a negative question. Their estimates are undone.
    model : {"pairs", "tree"}
        Of the propensity score.
    seed : int
        For what a tree is compared with.

    Returns
    -------
    Utility

    Raises
    ------
    DataError
        Files of different length without `id`, names that stand twice, variables that one of them does not have,
        weights that are not positive numbers.

    Examples
    --------
    >>> before = {"age": [23, 24, 35, 36] * 20, "gender": ["f", "m"] * 40}
    >>> after = {"age": ["20-29", "20-29", "30-39", "30-39"] * 20, "gender": [None, *["m", "f"] * 39, "m"]}
    >>> found = compare(before, after, variables=["age"])
    >>> found.changes.variables[0].recoded, round(found.changes.loss, 3), round(found.distances.mean_pair, 3)
    (2, 0.333, 0.0)
    """
    pair = Pair.of(before, after, variables=variables, identity=id, synthetic=synthetic, weights=weights)
    return Utility(
        pair.before.height,
        pair.after.height,
        pair.weighted,
        None if pair.rows is None else changes(pair),
        distances(pair),
        propensity(pair, model=model, seed=seed),
        estimates(pair, formulas, designs),
    )


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
        releases_with_risk = [release for release in self.releases if not np.isnan(release.risk)]
        best_releases = [
            release
            for release in releases_with_risk
            if not any(
                (other.risk, other.distance) != (release.risk, release.distance)
                and other.risk <= release.risk
                and other.distance <= release.distance
                for other in releases_with_risk
            )
        ]
        return tuple(sorted(best_releases, key=lambda release: release.risk))

    def content(self) -> list[Content]:
        names = ("release", "people found", "loss", "variation of pairs", "pMSE ratio", "overlap")
        explanation = (
            f"People found: by the strongest attack on {', '.join(self.keys)}, exact or nearest, of an intruder "
            f"who has the original; in the original itself {percent(self.before)}. Variation of pairs: mean total "
            f"variation of all tables of two variables; a fresh sample of people shows {share(self.fresh)}. No other "
            f"release has less of both than: {', '.join(release.name for release in self.best) or DASH}."
        )
        return [
            grid("Risk and utility", names, [release.cells() for release in self.releases]),
            Sentence(explanation, small=True),
        ]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as JSON can hold them."""
        json_fields: dict[str, Any] = plain(
            {
                "keys": self.keys,
                "risk_before": self.before,
                "fresh_sample": self.fresh,
                "best": [release.name for release in self.best],
                "releases": [release.fields() | {"utility": release.utility.to_dict()} for release in self.releases],
            }
        )
        return json_fields

    def to_csv(self) -> str:
        """A row for each release."""
        rows = [plain(release.fields()) for release in self.releases]
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
    attack_options: dict[str, Any] = {"id": id, "most": most, "seed": seed}
    attack_on_original = link(original, original, keys, **attack_options)
    measured_releases = []
    for name, release_table in releases.items():
        file: pl.DataFrame = frame_of(release_table, what=f"release {name!r}")
        release_designs = (designs or {}).get(name)
        utility = compare(original, file, id=id, synthetic=synthetic, seed=seed, designs=release_designs, **asked)
        linkage = None if synthetic else link(file, original, keys, **attack_options)
        measured_releases.append(Release(name, utility, linkage))
    return Tradeoff(
        tuple(keys),
        attack_on_original.strongest.of_all.value,
        measured_releases[0].utility.distances.fresh_pair,
        tuple(measured_releases),
    )
