"""A crosstab as a page: heat maps of the table and of each layer, then all its numbers."""

from __future__ import annotations

from naysay import _checks
from naysay.crosstab import Crosstab
from naysay.crosstab.printing import Options, title
from naysay.show import Chart, Content, Table
from naysay.show.charts import heat_map
from naysay.show.page import Section, html


def heat(found: Crosstab, *, confidence: float = 0.95, size: int = 640, room: int = 26) -> str:
    """A heat map of a crosstab: of rows and columns, or one for each layer, one after the other.

    Parameters
    ----------
    found : Crosstab
    confidence : float
        Of the interval that is said of each cell.
    size : int
        Width in pixels at which text has its natural size.
    room : int
        Letters in a line of a label.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    row, column, *more = found.variables
    layers = found.layers[1:] or found.layers
    shares, bounds = (
        each.reshape((*found.shape[:2], len(layers), *each.shape[len(found.shape) :]))
        for each in (found.proportions, found.interval(confidence))
    )
    images = []
    for place, layer in enumerate(layers):
        within = "" if layer is None else f", {more[0].column} = {_checks.label(layer)}"
        told = [
            [
                f"{shares[i, j, place]:.1%} ({low:.1%} to {high:.1%})"
                for j, (low, high) in enumerate(bounds[i, :, place])
            ]
            for i in range(len(row.labels))
        ]
        images.append(
            heat_map(
                row.labels,
                column.labels,
                shares[:, :, place],
                title=f"{row.column} and {column.column}{within}: percent of all",
                names=(row.column, f"{column.column}{within}, percent of all"),
                told=told,
                most=float(shares.max()),
                size=size,
                room=room,
            )
        )
    return "".join(images)


def crosstab_html(found: Crosstab, options: Options | None = None, *, heading: str | None = None) -> str:
    """A crosstab as a whole page: heat map, shares within rows, measures with their intervals, the test.

    Parameters
    ----------
    found : Crosstab
    options : Options, optional
    heading : str, optional
        By default the names of the variables.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs
    >>> from naysay.crosstab import Variable, crosstab
    >>> table = {"cheated": ["yes", "yes", "no", "no"], "sex": ["f", "m", "f", "m"], "n": [200, 90, 150, 160]}
    >>> found = crosstab(table, row=Variable("cheated", designs.warner(p=0.8)), column="sex", count="n")
    >>> page = crosstab_html(found)
    >>> page.startswith("<!doctype html>"), "yes, f: 36.1%" in page
    (True, True)
    """
    asked = options or Options()
    told: list[Content] = found.sections(asked)
    first = next(place for place, each in enumerate(told) if isinstance(each, Table))
    chart = Chart(lambda size, room: heat(found, confidence=asked.confidence, size=min(size, 640), room=room))
    sections = [Section("The table", [*told[:first], chart]), Section("The numbers", told[first:])]
    return html(heading or title(found), sections, facts=[(f"{found.n:,}", "people")])
