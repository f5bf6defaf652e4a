"""Charts of utility: risk against utility over releases, and how far margins moved."""

from __future__ import annotations

import numpy as np

from naysay.errors import DataError
from naysay.microdata.utility.distances import Distances
from naysay.microdata.utility.measured import Tradeoff
from naysay.show import charts
from naysay.show.charts import Line, lines
from naysay.show.finish import Axis
from naysay.show.rows import Mark


def picture(tradeoff: Tradeoff, *, size: int = 640) -> str:
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
    >>> svg = picture(utility.tradeoff(before, {"as it is": before}, ["age"], id="row", variables=["age"]))
    >>> svg[:4], "as it is: 5.00% of the people found" in svg
    ('<svg', True)
    """
    releases_with_risk = [release for release in tradeoff.releases if not np.isnan(release.risk)]
    if not releases_with_risk:
        raise DataError("synthetic records belong to nobody, so no share of people found can be drawn")
    point_texts = {
        release.name: (
            f"{release.name}: {release.risk:.2%} of the people found, mean total variation {release.distance:.4f}"
        )
        for release in releases_with_risk
    }
    distance_limit = max([*(release.distance for release in releases_with_risk), tradeoff.fresh]) * 1.12 or 0.01
    risk_limit = max([*(release.risk for release in releases_with_risk), tradeoff.before]) * 1.12 or 0.01
    best = tradeoff.best
    chart_lines = [
        Line("", [release.distance for release in best], [release.risk for release in best], "", role="grid"),
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
        chart_lines if len(best) > 1 else chart_lines[1:],
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
    names = [" × ".join(margin.variables) for margin in distances.margins]
    marks = [
        Mark("truth", "a fresh sample", [margin.fresh_variation for margin in distances.margins]),
        Mark("estimate", "the release", [margin.variation for margin in distances.margins]),
    ]
    axis = "total variation: the most by which a share differs"
    return charts.dots(names, marks, title="How far each margin moved", size=size, room=room, axis=axis)
