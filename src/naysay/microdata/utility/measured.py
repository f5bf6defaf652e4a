"""The utility of a release in one result, several releases by risk and utility, and their pages and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from naysay.design import Answerable
from naysay.errors import DataError
from naysay.microdata.attack.linkage import Linkage, link
from naysay.microdata.attack.register import frame_of
from naysay.microdata.utility.distances import Changes, Distances, Pair, changes, distances
from naysay.microdata.utility.estimates import Estimates, Propensity, estimates, propensity
from naysay.show import Chart, Content, Facts, Heading, Note, Records, Sentence, charts, page, text
from naysay.show.charts import Line, lines
from naysay.show.finish import Axis
from naysay.show.page import Section
from naysay.show.result import DASH, RISK_WIDTH, Printed, csv_text, grid, percent, share
from naysay.show.rows import Mark

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

    records: int = field()  # type: ignore[assignment]  # a number, so that rows are `measure_records`
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

    def parts(self) -> list[Content]:
        weights_text = " All numbers are weighted." if self.weighted else ""
        facts = (("people", f"{self.records:,} in the original, {self.released:,} in the release.{weights_text}"),)
        return [
            Facts(facts),
            *(
                content_block
                for heading, measure in self.measures.items()
                for content_block in (Heading(heading), *measure.parts())
            ),
            *map(Note, self.reservations),
        ]

    def __str__(self) -> str:
        first_block, *later_blocks = self.parts()
        block_groups = [[first_block]]
        for content_block in later_blocks:  # an empty line before each heading
            block_groups = [*block_groups, []] if isinstance(content_block, Heading) else block_groups
            block_groups[-1].append(content_block)
        return "\n\n".join(text(block_group, width=RISK_WIDTH) for block_group in block_groups)

    @property
    def reservations(self) -> list[str]:
        """What stays with the numbers."""
        if self.changes is not None:
            return []
        return ["records are taken as synthetic: they belong to nobody, so no cell is compared with another"]

    def numbers(self) -> dict[str, object]:
        counts = {"records": self.records, "released": self.released, "weighted": self.weighted}
        return counts | {measure.name: measure.numbers() for measure in self.measures.values()}

    def measure_records(self) -> Records:
        """A row for each number: what it measures, of which variables, and its value."""
        csv_rows: list[tuple[str, str, float]] = []
        for change in () if self.changes is None else self.changes.variables:
            csv_rows += [
                (measure_name, change.name, getattr(change, measure_name))
                for measure_name in ("suppressed", "changed", "imputed", "loss")
            ]
        for distance in (*self.distances.margins, *self.distances.pairs):
            variables_text = " × ".join(distance.variables)
            measure_names = ("variation", "fresh_variation", "hellinger", "fresh_hellinger")
            csv_rows += [
                (measure_name, variables_text, getattr(distance, measure_name)) for measure_name in measure_names
            ]
        csv_rows.append(("pmse_ratio", self.propensity.model, self.propensity.ratio))
        for estimate in (
            *self.estimates.plain,
            *self.estimates.named,
            *(undone_estimate for _, undone_estimate in self.estimates.undone),
        ):
            estimate_name = f"{estimate.group}: {estimate.name}" if estimate.group else estimate.name
            csv_rows += [
                ("difference", estimate_name, estimate.difference),
                ("overlap", estimate_name, estimate.overlap),
            ]
        return Records(("measure", "of", "value"), csv_rows)

    def to_csv(self) -> str:
        column_names, rows = self.measure_records()
        return csv_text([column_names, *rows])

    def to_frame(self) -> pl.DataFrame:
        return self.measure_records().to_frame()


def compare(
    before: object,
    after: object,
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

    def numbers(self) -> dict[str, object]:
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

    def parts(self) -> list[Content]:
        column_titles = ("release", "people found", "loss", "variation of pairs", "pMSE ratio", "overlap")
        explanation = (
            f"People found: by the strongest attack on {', '.join(self.keys)}, exact or nearest, of an intruder "
            f"who has the original; in the original itself {percent(self.before)}. Variation of pairs: mean total "
            f"variation of all tables of two variables; a fresh sample of people shows {share(self.fresh)}. No other "
            f"release has less of both than: {', '.join(release.name for release in self.best) or DASH}."
        )
        return [
            grid("Risk and utility", column_titles, [release.cells() for release in self.releases]),
            Sentence(explanation, small=True),
        ]

    def numbers(self) -> dict[str, object]:
        return {
            "keys": self.keys,
            "risk_before": self.before,
            "fresh_sample": self.fresh,
            "best": [release.name for release in self.best],
            "releases": [release.numbers() | {"utility": release.utility.numbers()} for release in self.releases],
        }

    def records(self) -> Records:
        """A row for each release."""
        release_rows = [release.numbers() for release in self.releases]
        return Records(list(release_rows[0]), [list(release_row.values()) for release_row in release_rows])


def tradeoff(
    before: object,
    releases: Mapping[str, object],
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
    original_frame = frame_of(before, what="the original")
    attack_options: dict[str, Any] = {"id": id, "most": most, "seed": seed}
    attack_on_original = link(original_frame, original_frame, keys, **attack_options)
    measured_releases = []
    for release_name, release_table in releases.items():
        release_frame: pl.DataFrame = frame_of(release_table, what=f"release {release_name!r}")
        release_designs = (designs or {}).get(release_name)
        utility = compare(
            original_frame, release_frame, id=id, synthetic=synthetic, seed=seed, designs=release_designs, **asked
        )
        linkage = None if synthetic else link(release_frame, original_frame, keys, **attack_options)
        measured_releases.append(Release(release_name, utility, linkage))
    return Tradeoff(
        tuple(keys),
        attack_on_original.strongest.of_all.value,
        measured_releases[0].utility.distances.fresh_pair,
        tuple(measured_releases),
    )


def utility_html(utility: Utility, *, title: str = "What this release kept") -> str:
    """What a release kept of its original, as a whole page.

    Parameters
    ----------
    utility : Utility
    title : str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay.microdata import utility
    >>> table = {"age": [20, 30, 40, 50] * 5}
    >>> utility_html(utility.compare(table, table)).startswith("<!doctype html>")
    True
    """
    facts = [
        (f"{utility.released:,}", "people in the release"),
        *(
            [(f"{100 * utility.changes.loss:.1f} %", "of what cells tell was lost")]
            if utility.changes is not None
            else []
        ),
        (
            f"{utility.distances.mean_pair:.3f}",
            f"mean total variation of pairs; a fresh sample {utility.distances.fresh_pair:.3f}",
        ),
        (f"{utility.propensity.ratio:.2f}", f"pMSE ratio; a fresh sample {utility.propensity.fresh:.2f}"),
    ]
    sections = []
    for heading, measure in utility.measures.items():
        section_content: list[Content] = list(measure.parts())
        if measure is utility.distances:
            section_content.insert(0, Chart(lambda size, room: margin_moves(utility.distances, size=size, room=room)))
        sections.append(Section(heading, section_content))
    weights_text = "All numbers are weighted." if utility.weighted else ""
    return page.html(
        title, sections, lead=[*([weights_text] if weights_text else []), *utility.reservations], facts=facts, flow=True
    )


def tradeoff_html(tradeoff: Tradeoff, *, title: str = "Which release?") -> str:
    """Risk against utility over releases, as a whole page.

    Parameters
    ----------
    tradeoff : Tradeoff
    title : str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    tradeoff_charts = [Chart(lambda size, room: tradeoff_chart(tradeoff, size=size))] if tradeoff.best else []
    lead_text = (
        "A release should lie low and to the left: few people are found in it, and its tables are close to those of "
        "the original. Left of the dashed line it is closer than a fresh sample of other people would be."
    )
    sections = [
        Section("Risk against utility", [*tradeoff_charts, *tradeoff.parts()]),
        *(
            Section(
                release.name,
                [content_block for measure in release.utility.measures.values() for content_block in measure.parts()],
            )
            for release in tradeoff.releases
        ),
    ]
    facts = [
        (f"{len(tradeoff.releases)}", "releases"),
        (f"{100 * tradeoff.before:.1f} %", "of the people found in the original"),
    ]
    return page.html(title, sections, lead=[lead_text], facts=facts, flow=True)


def tradeoff_chart(tradeoff: Tradeoff, *, size: int = 640) -> str:
    """An SVG image of risk against utility, one point for each release; the best ones are joined by a line.

    Parameters
    ----------
    tradeoff : Tradeoff
    size : int
        Width in pixels at which text has its natural size.

    Raises
    ------
    DataError
        If there is no release with a risk.
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay.microdata import utility
    >>> before = {"age": [23, 24, 35, 36] * 20, "row": list(range(80))}
    >>> svg = tradeoff_chart(utility.tradeoff(before, {"as it is": before}, ["age"], id="row", variables=["age"]))
    >>> svg[:4], "as it is: 5.00\u00a0% of the people found" in svg
    ('<svg', True)
    """
    releases_with_risk = [release for release in tradeoff.releases if not np.isnan(release.risk)]
    if not releases_with_risk:
        raise DataError("synthetic records belong to nobody, so no share of people found can be drawn")
    point_texts = {
        release.name: (
            f"{release.name}: {percent(release.risk, 2)} of the people found, mean total variation "
            f"{release.distance:.4f}"
        )
        for release in releases_with_risk
    }
    distance_limit = max([*(release.distance for release in releases_with_risk), tradeoff.fresh]) * 1.12 or 0.01
    risk_limit = max([*(release.risk for release in releases_with_risk), tradeoff.before]) * 1.12 or 0.01
    best_releases = tradeoff.best
    chart_lines = [
        Line(
            "",
            [release.distance for release in best_releases],
            [release.risk for release in best_releases],
            "",
            role="grid",
        ),
        Line(
            "fresh sample",
            [tradeoff.fresh, tradeoff.fresh],
            [0, risk_limit],
            "what a fresh sample shows",
            role="muted",
            dashed=True,
        ),
        Line(
            "original",
            [0, distance_limit],
            [tradeoff.before, tradeoff.before],
            "people found in the original",
            role="muted",
            dashed=True,
        ),
        *(
            Line(
                release.name,
                release.distance,
                release.risk,
                point_texts[release.name],
                points=(point_texts[release.name],),
            )
            for release in releases_with_risk
        ),
    ]
    distance_axis = Axis("mean total variation of tables of two variables", (0, distance_limit), ".3~f")
    risk_axis = Axis("people found", (0, risk_limit), ".0%" if risk_limit > 0.1 else ".1%")
    return lines(
        chart_lines if len(best_releases) > 1 else chart_lines[1:],
        distance_axis,
        risk_axis,
        title="Risk against utility",
        description="; ".join(point_texts.values()),
        size=size,
    )


def margin_moves(distances: Distances, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of how far each margin moved, beside what a fresh sample would show.

    Parameters
    ----------
    distances : Distances
    size, room : int
        As in `charts.dots`.
    """
    margin_names = [" × ".join(margin.variables) for margin in distances.margins]
    marks = [
        Mark("truth", "a fresh sample", [margin.fresh_variation for margin in distances.margins]),
        Mark("estimate", "the release", [margin.variation for margin in distances.margins]),
    ]
    axis_title = "total variation: the most by which a share differs"
    return charts.dots(margin_names, marks, title="How far each margin moved", size=size, room=room, axis=axis_title)
