"""Charts for other uses: as a dark image of its own, or in a section with a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from naysay.show import Chart, Column, Content, Points, Table
from naysay.show.finish import INKS
from naysay.show.page import Section


def dark(svg: str) -> str:
    """The image for a dark page that does not set the chart's colors, such as a page of a code host.

    Parameters
    ----------
    svg : str
        One of the charts. Where a page sets no colors, it has the light ones.

    Examples
    --------
    >>> dark('<svg style="fill:var(--chart-text,#1c2024)"/>')
    '<svg style="fill:var(--chart-text,#e8eaed)"/>'
    """
    return re.sub(r"var\(--chart-(\w+),[^)]*\)", lambda ink: f"var(--chart-{ink[1]},{INKS[ink[1]][1]})", svg)


def section(
    heading: str,
    *,
    plots: Sequence[Callable[[int], str]] = (),
    names: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    notes: Sequence[str] = (),
) -> Section:
    """A part of a page: images for a wide screen and for a phone, a table, remarks.

    Parameters
    ----------
    heading : str
    plots : sequence of callable
        Each takes a width in pixels and draws an SVG image.
    names : sequence of str
        Names of the table's columns.
    rows : sequence of sequence of str
    notes : sequence of str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> section("Spread", names=("design", "s.d."), rows=[("two coins", "0.066")]).heading
    'Spread'
    """
    content: list[Content] = [Chart(lambda size, _, plot=plot: plot(size)) for plot in plots]  # type: ignore[misc]
    if rows:
        columns = (Column(names[0], words=True), *map(Column, names[1:]))
        content.append(Table(columns, tuple(map(tuple, rows)), heading))
    return Section(heading, [*content, *([Points(tuple(notes), small=True)] if notes else [])])
