"""A crosstab as a page: heat maps of the table and of each layer, then all its numbers."""

from __future__ import annotations

from naysay import _checks
from naysay.crosstab import Crosstab
from naysay.crosstab.printing import CrosstabPrint, title
from naysay.show import Chart, Content, Table
from naysay.show.charts import heat_map
from naysay.show.page import Section, html


def heat(crosstab: Crosstab, *, confidence: float = 0.95, size: int = 640, room: int = 26) -> str:
    """A heat map of a crosstab: of rows and columns, or one for each layer, one after the other.

    Parameters
    ----------
    crosstab : Crosstab
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
    row, column, *layer_variables = crosstab.variables
    layers = crosstab.layers[1:] or crosstab.layers
    shares, bounds = (
        numbers.reshape((*crosstab.shape[:2], len(layers), *numbers.shape[len(crosstab.shape) :]))
        for numbers in (crosstab.proportions, crosstab.interval(confidence))
    )
    images = []
    for place, layer in enumerate(layers):
        within = "" if layer is None else f", {layer_variables[0].column} = {_checks.label(layer)}"
        cell_texts = [
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
                told=cell_texts,
                most=float(shares.max()),
                size=size,
                room=room,
            )
        )
    return "".join(images)


def crosstab_html(crosstab: Crosstab, options: CrosstabPrint | None = None, *, heading: str | None = None) -> str:
    """A crosstab as a whole page: heat map, shares within rows, measures with their intervals, the test.

    Parameters
    ----------
    crosstab : Crosstab
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
    page_options = options or CrosstabPrint()
    contents: list[Content] = crosstab.sections(page_options)
    table_place = next(place for place, content in enumerate(contents) if isinstance(content, Table))
    chart = Chart(lambda size, room: heat(crosstab, confidence=page_options.confidence, size=min(size, 640), room=room))
    sections = [Section("The table", [*contents[:table_place], chart]), Section("The numbers", contents[table_place:])]
    return html(heading or title(crosstab), sections, facts=[(f"{crosstab.n:,}", "people")])
