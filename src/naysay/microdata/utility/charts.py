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


def picture(found: Tradeoff, *, size: int = 640) -> str:
    """An SVG image of risk against utility, one point for each release; the best ones are joined by a line.

    Parameters
    ----------
    found : Tradeoff
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
    known = [each for each in found.releases if not np.isnan(each.risk)]
    if not known:
        raise DataError("synthetic records belong to nobody, so no share of people found can be drawn")
    told = {
        each.name: f"{each.name}: {each.risk:.2%} of the people found, mean total variation {each.distance:.4f}"
        for each in known
    }
    wide = max([*(each.distance for each in known), found.fresh]) * 1.12 or 0.01
    high = max([*(each.risk for each in known), found.before]) * 1.12 or 0.01
    best = found.best
    drawn = [
        Line("", [each.distance for each in best], [each.risk for each in best], "", role="grid"),
        Line(
            "fresh sample",
            [found.fresh, found.fresh],
            [0, high],
            "what a fresh sample shows",
            role="muted",
            dashed=True,
        ),
        Line(
            "original",
            [0, wide],
            [found.before, found.before],
            "people found in the original",
            role="muted",
            dashed=True,
        ),
        *(Line(each.name, each.distance, each.risk, told[each.name], points=(told[each.name],)) for each in known),
    ]
    across = Axis("mean total variation of tables of two variables", (0, wide), ".3~f")
    up = Axis("people found", (0, high), ".0%" if high > 0.1 else ".1%")
    return lines(
        drawn if len(best) > 1 else drawn[1:],
        across,
        up,
        title="Risk against utility",
        description="; ".join(told.values()),
        size=size,
    )


def moved(found: Distances, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of how far each margin moved, beside what a fresh sample would show.

    Parameters
    ----------
    found : Distances
    size, room : int
        As in `charts.dots`.
    """
    names = [" × ".join(each.variables) for each in found.margins]
    marks = [
        Mark("truth", "a fresh sample", [each.fresh_variation for each in found.margins]),
        Mark("estimate", "the release", [each.variation for each in found.margins]),
    ]
    axis = "total variation: the most by which a share differs"
    return charts.dots(names, marks, title="How far each margin moved", size=size, room=room, axis=axis)
