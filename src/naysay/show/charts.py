"""Charts as SVG text, drawn offline. They work in color, in print, in dark mode and for screen readers.

Dots of shares, lines over two axes with names at their ends, and heat maps; each by itself, or in a section of a page.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from naysay._values import Label
from naysay.errors import need
from naysay.show import Chart, Column, Content, Points, Table, finish
from naysay.show.finish import INKS, LETTER, LINE, Axis, data, image, ink, label_heights
from naysay.show.page import Section
from naysay.show.rows import Mark, marks_in_rows

__all__ = ["Line", "Mark", "changes", "convergence", "differences", "dots", "heat_map", "lines", "ranks"]


def dots(
    categories: Sequence[Label],
    marks: Sequence[Mark],
    *,
    title: str,
    size: int = 640,
    room: int = 26,
    lines: int = 3,
    axis: str = "share of the respondents",
) -> str:
    """An SVG image with one row for each category: dots with intervals along a common scale.

    Parameters
    ----------
    categories : (t,) sequence of label
        Any script and length; long ones are wrapped, then cut, and stand in full in the row's tooltip.
    marks : sequence of Mark
        Shares from 0 to 1; NaN is left out.
    title : str
        Read aloud for the whole image.
    size : int
        Width in pixels at which text has its natural size.
    room : int
        Letters in a line of a label.
    lines : int
        Lines of a label, beyond which it is cut.
    axis : str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> svg = dots(("a", "b"), [Mark("estimate", "estimate", (0.3, 0.7), ((0.2, 0.4), (0.6, 0.8)))], title="A survey")
    >>> svg[:4], "A survey" in svg
    ('<svg', True)
    """
    return _image(categories, marks, title, axis, size=size, room=room, most=lines)


def differences(
    categories: Sequence[Label],
    marks: Sequence[Mark],
    truth: ArrayLike,
    *,
    title: str,
    size: int = 300,
    room: int = 26,
    labeled: bool = True,
) -> str:
    """An SVG image such as `dots`, of the distance of marks from the truth, in percentage points.

    Parameters
    ----------
    categories, marks, title, size, room
        As in `dots`.
    truth : (t,) float
    labeled : bool
        False for an image beside `dots` with the same categories and room: its rows then line up.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> svg = differences(("a", "b"), [Mark("estimate", "estimate", (0.3, 0.7))], (0.25, 0.75), title="A survey")
    >>> svg[:4], "+5.0 points" in svg
    ('<svg', True)
    """
    true_shares = np.asarray(truth, dtype=float)
    distance_marks = [Mark("truth", "truth", np.zeros_like(true_shares))]
    for mark in marks:
        distance_bounds = None if mark.bounds is None else np.asarray(mark.bounds, dtype=float) - true_shares[:, None]
        distance_marks.append(
            replace(mark, values=np.asarray(mark.values, dtype=float) - true_shares, bounds=distance_bounds)
        )
    axis_title = "distance from the truth, points"
    return _image(categories, distance_marks, title, axis_title, signed=True, size=size, room=room, labeled=labeled)


def changes(
    categories: Sequence[Label], change: ArrayLike, bounds: ArrayLike, *, title: str, size: int = 640, room: int = 26
) -> str:
    """An SVG image such as `dots`, of changes with their intervals around zero, in percentage points.

    Parameters
    ----------
    categories, title, size, room
        As in `dots`.
    change : (t,) float
    bounds : (t, 2) float

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> svg = changes(("a", "b"), (0.05, -0.05), ((0.01, 0.09), (-0.09, -0.01)), title="Since spring")
    >>> svg[:4], "+5.0 points" in svg
    ('<svg', True)
    """
    marks = [Mark("estimate", "change", change, bounds)]
    return _image(categories, marks, title, "change, points", signed=True, size=size, room=room)


def _image(
    categories: Sequence[Label], marks: Sequence[Mark], title: str, axis: str, *, signed: bool = False, **layout: Any
) -> str:
    """An image of shares, or of signed distances between shares, in rows."""

    def share_text(value: float, digits: int = 2) -> str:
        return f"{100 * value:+.{digits}f} points" if signed else f"{100 * value:.{digits}f}\u00a0%"

    def tips(mark: Mark) -> list[str]:
        value_texts = [share_text(value) for value in np.asarray(mark.values, dtype=float).tolist()]
        if mark.bounds is None:
            return value_texts
        value_bounds = np.asarray(mark.bounds, dtype=float).tolist()
        return [
            f"{value_text}, {share_text(low)} to {share_text(high)}"
            for value_text, (low, high) in zip(value_texts, value_bounds, strict=True)
        ]

    labeled_marks = [replace(mark, told=mark.told or tips(mark)) for mark in marks]
    description = "; ".join(
        f"{finish.label_line(category)}: "
        + ", ".join(f"{mark.name} {share_text(float(np.asarray(mark.values)[category_place]), 1)}" for mark in marks)
        for category_place, category in enumerate(categories)
    )
    return marks_in_rows(
        categories, labeled_marks, _shares(marks, axis, signed=signed), title=title, description=description, **layout
    )


def _shares(marks: Sequence[Mark], title: str, *, signed: bool) -> Axis:
    """The axis for all marks and intervals; it includes zero."""
    mark_ends = np.concatenate(
        [np.ravel(numbers) for mark in marks for numbers in (mark.values, mark.bounds) if numbers is not None]
    )
    axis_low, axis_high = min(0.0, float(np.nanmin(mark_ends))), max(0.01, float(np.nanmax(mark_ends)))
    is_nice = axis_low == 0  # rounding the ends would add a whole step of the axis for a bound just below zero
    if signed or not is_nice:  # leave a margin, so that no mark lies on the edge
        axis_margin = (axis_high - axis_low) / (25 if signed else 50)
        axis_low, axis_high = axis_low - axis_margin, axis_high + axis_margin
    label_expression = "datum.value == 0 ? '0' : format(100 * datum.value, '+.2~f')" if signed else None
    return Axis(
        title,
        (axis_low, axis_high),
        f".{0 if axis_high - axis_low > 0.05 else 1}%",
        nice=is_nice,
        words=label_expression,
    )


def ranks(categories: Sequence[Label], places: ArrayLike, bounds: ArrayLike, *, size: int = 640, room: int = 26) -> str:
    """An SVG image with one row for each category: its rank, and the ranks that it may have.

    Parameters
    ----------
    categories : (t,) sequence of label
    places : (t,) int
        1 for the first.
    bounds : (t, 2) int
        The lowest and highest rank of each.
    size, room : int
        As in `dots`.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> svg = ranks(("Ada", "Ben"), (1, 2), ((1, 2), (1, 2)))
    >>> svg[:4], "Ada: rank 1, possible 1 to 2" in svg
    ('<svg', True)
    """
    t = len(categories)
    rank_pairs = np.asarray(bounds, dtype=int).tolist()
    tips = [
        f"rank {place}, possible {low} to {high}"
        for place, (low, high) in zip(np.asarray(places).tolist(), rank_pairs, strict=True)
    ]
    description = "; ".join(
        f"{finish.label_line(category)}: {tip}" for category, tip in zip(categories, tips, strict=True)
    )
    axis = Axis("rank", (0.7, t + 0.3), "d", ticks=range(1, t + 1, math.ceil(t / 12)))
    mark = Mark("estimate", "rank of the estimate", places, bounds, told=tips)
    title = "ranks, and those that are possible"
    return marks_in_rows(categories, [mark], axis, title=title, description=description, size=size, room=room)


def convergence(path: ArrayLike, categories: Sequence[Label], *, title: str, size: int = 640) -> str:
    """An SVG image of the shares after each step of an iterative method, one line for each category.

    Parameters
    ----------
    path : (steps, t) float
        Counts after each step, such as `Estimate.path`.
    categories : (t,) sequence of label
    title : str
        Read aloud for the whole image.
    size : int
        Width in pixels at which text has its natural size.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> svg = convergence([(50, 50), (40, 60), (35, 65)], ("a", "b"), title="A survey")
    >>> svg[:4], "2 steps" in svg
    ('<svg', True)
    """
    steps = np.asarray(path, dtype=float)
    step_shares = steps / steps.sum(axis=1, keepdims=True)
    step_places = np.unique(np.geomspace(1, len(step_shares), min(len(step_shares), 60)).round().astype(int)) - 1
    share_lines = [
        Line(
            category_name,
            step_places + 1,
            category_shares[step_places],
            f"{category_name}: {100 * category_shares[-1]:.2f}\u00a0%",
        )
        for category_name, category_shares in zip(map(finish.label_line, categories), step_shares.T, strict=True)
    ]
    x = Axis("step", (1, float(step_places[-1]) + 1), "~s", ticks=10, log=True)
    y = Axis(None, (0, max(float(step_shares[step_places].max()), 0.01)), ".0%", room=48)
    step_count_text = f"{len(steps) - 1} steps of the iteration"
    return lines(share_lines, x, y, title=title, description=step_count_text, size=size, height=220, letters=18)


@dataclass(frozen=True, eq=False)
class Line:
    """A line over two axes with its name at its end; or a point, if it has only one place.

    Parameters
    ----------
    name : str
    x, y : (n,) float
    told : str
        A remark on its name, for the tooltip.
    points : (n,) sequence of str
        A text for each point, if points are marked.
    role : str
        Of `inks.INKS`.
    dashed : bool
    bounds : (n, 2) float, optional
        A band around the line.
    """

    name: str
    x: ArrayLike
    y: ArrayLike
    told: str
    points: Sequence[str] = ()
    role: str = "estimate"
    dashed: bool = False
    bounds: ArrayLike | None = None

    @property
    def places(self) -> list[tuple[float, float]]:
        """The points that the line goes through."""
        return list(zip(np.atleast_1d(self.x).tolist(), np.atleast_1d(self.y).tolist(), strict=True))


def lines(
    drawn: Sequence[Line],
    x: Axis,
    y: Axis,
    *,
    title: str,
    description: str,
    size: int,
    height: int = 260,
    letters: int = 26,
) -> str:
    """An SVG image of lines over two axes, each with its name at its end. Names move up if they would touch.

    Parameters
    ----------
    drawn : sequence of Line
    x, y : Axis
    title, description : str
        Read aloud for the whole image.
    size : int
        Width in pixels at which text has its natural size.
    height : int
        Height of the plot in pixels.
    letters : int
        Most letters of a name.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> steps, share = Axis("step", (1, 3), "d"), Axis("share", (0, 1), ".0%")
    >>> svg = lines(
    ...     [Line("a", (1, 2, 3), (0.2, 0.3, 0.3), "a: 30 %")], steps, share, title="A", description="", size=640
    ... )
    >>> svg[:4], "a: 30 %" in svg
    ('<svg', True)
    """
    alt = need("altair")
    right_padding = math.ceil(min(letters, max(finish.width(line.name) for line in drawn)) * LETTER) + 20
    x_channel, y_channel = x.channel_encoding("X", "x", grid=False), y.channel_encoding("Y", "y")
    color_channel = alt.Color("ink:N", scale=None)
    point_chart = data(row for line_place, line in enumerate(drawn) for row in _rows(line, line_place))
    name_layer = data(_names(drawn, x, y, (size - y.room - right_padding, height), letters))
    dash_channel = alt.StrokeDash("dash", scale=None, type="nominal")
    chart = alt.layer(
        *_bands(drawn, x_channel, y, color_channel),
        point_chart.mark_line(strokeWidth=2, aria=False).encode(
            x=x_channel, y=y_channel, detail="line:N", color=color_channel, strokeDash=dash_channel
        ),
        point_chart.transform_filter("datum.told != ''")
        .mark_point(filled=True, opacity=1, size=56)
        .encode(x=x_channel, y=y_channel, color=color_channel, description="told:N"),
        name_layer.mark_text(align="left", baseline="middle", dx=9, fontSize=12, color=ink("text")).encode(
            x=x_channel, y=y_channel, text="label:N", description="told:N"
        ),
    )
    padding = {"left": y.room, "right": right_padding, "top": 12, "bottom": 48}
    return image(chart, size=size, height=height, padding=padding, title=title, description=description)


def _bands(chart_lines: Sequence[Line], across: object, y: Axis, color: object) -> list[Any]:
    """The areas around those lines that have bounds."""
    band_points = [
        {"x": x, "low": low, "high": high, "line": line_place, "ink": ink(line.role)}
        for line_place, line in enumerate(chart_lines)
        if line.bounds is not None
        for (x, _), (low, high) in zip(line.places, np.asarray(line.bounds, dtype=float).tolist(), strict=True)
        if low <= high
    ]
    band_area = data(band_points).mark_area(opacity=0.2, aria=False)
    return (
        [band_area.encode(x=across, y=y.channel_encoding("Y", "low"), y2="high:Q", detail="line:N", color=color)]
        if band_points
        else []
    )


def _rows(line: Line, place: int) -> list[dict[str, Any]]:
    line_fields = {"line": place, "ink": ink(line.role), "dash": [6, 4] if line.dashed else [1, 0]}
    point_texts = line.points or [""] * len(line.places)
    return [
        {"x": x, "y": y, "told": point_text} | line_fields
        for (x, y), point_text in zip(line.places, point_texts, strict=True)
    ]


def _names(chart_lines: Sequence[Line], x: Axis, y: Axis, size: tuple[int, int], letters: int) -> list[dict[str, Any]]:
    """The names of lines, drawn at their ends."""
    end_points = [line.places[-1] for line in chart_lines]
    line_labels = [finish.short_text(line.name, letters) for line in chart_lines]
    label_starts = [x.share(across) * size[0] for across, _ in end_points]
    label_spans = [
        (start, start + finish.width(line_label) * LETTER + 18)
        for start, line_label in zip(label_starts, line_labels, strict=True)
    ]
    label_places = label_heights([y.share(height) for _, height in end_points], LINE / size[1], label_spans).tolist()
    return [
        {"x": across, "y": y.at(label_place), "label": finish.isolated_line(line_label, line.name), "told": line.told}
        for line, line_label, (across, _), label_place in zip(
            chart_lines, line_labels, end_points, label_places, strict=True
        )
    ]


_CELL = 44  # height of a row
_FULL = 0.6  # how dark the fullest cell is: letters stay legible on it


def heat_map(
    rows: Sequence[Label],
    columns: Sequence[Label],
    values: ArrayLike,
    *,
    title: str,
    names: tuple[str, str] = ("", ""),
    told: Sequence[Sequence[str]] = (),
    most: float | None = None,
    size: int = 640,
    room: int = 26,
) -> str:
    """An SVG image of a table: a cell for each pair of categories, with its share written in it.

    Parameters
    ----------
    rows, columns : sequence of label
        Any script and length; long ones are cut, and stand in full in the tooltip of the cells.
    values : (rows, columns) float
        Shares; NaN stays blank.
    title : str
        Read aloud for the whole image.
    names : (str, str)
        Of the rows and of the columns.
    told : (rows, columns) str, optional
        Said of each cell, in place of its share.
    most : float, optional
        The share of the darkest cell, so that several images can be compared; by default the largest.
    size : int
        Width in pixels at which text has its natural size.
    room : int
        Letters in a line of a label.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> svg = heat_map(("yes", "no"), ("f", "m"), [[0.1, 0.2], [0.4, 0.3]], title="Cheating and sex")
    >>> svg[:4], "yes, m: 20.0\u00a0%" in svg
    ('<svg', True)
    """
    alt = need("altair")
    cell_shares = np.asarray(values, dtype=float)
    column_names = [finish.label_line(column) for column in columns]
    row_names = [finish.label_line(row) for row in rows]
    short_labels = [finish.short_text(row_name, room) for row_name in row_names]
    left_padding = math.ceil(max(map(finish.width, short_labels)) * LETTER) + 24
    cell_width = (size - left_padding - 8) / len(column_names)
    plot_height = _CELL * len(row_names)
    top_padding = 2 * LINE + 12
    largest_share = most if most is not None else float(np.nanmax(cell_shares, initial=0.0))
    cells: list[dict[str, Any]] = []
    for i, j in itertools.product(range(len(row_names)), range(len(column_names))):
        cell_share = float(cell_shares[i, j])
        if math.isnan(cell_share):
            continue
        cell_text = told[i][j] if told else f"{100 * cell_share:.1f}\u00a0%"
        cells.append(
            {
                "x": j * cell_width + 1,
                "x2": (j + 1) * cell_width - 1,
                "y": i * _CELL + 1,
                "y2": (i + 1) * _CELL - 1,
                "dark": 0.04 + (_FULL - 0.04) * max(cell_share, 0.0) / max(largest_share, 1e-12),
                "share": f"{100 * cell_share:.1f}",
                "told": f"{row_names[i]}, {column_names[j]}: {cell_text}",
            }
        )

    def axis_channel(channel: str, field: str, end: float) -> Any:
        scale = alt.Scale(domain=[0, end], range=[0, end], nice=False, zero=False)
        return getattr(alt, channel)(f"{field}:Q", scale=scale, axis=None)

    x, y = axis_channel("X", "x", size - left_padding - 8), axis_channel("Y", "y", plot_height)
    cell_boxes = (
        data(cells)
        .mark_rect(color=ink("estimate"))
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", fillOpacity=alt.FillOpacity("dark:Q", scale=None), description="told:N")
    )
    cell_middles = [cell | {"x": (cell["x"] + cell["x2"]) / 2, "y": (cell["y"] + cell["y2"]) / 2} for cell in cells]
    number_layer = (
        data(cell_middles).mark_text(fontSize=12, color=ink("text"), aria=False).encode(x=x, y=y, text="share:N")
    )
    column_heads = [
        {
            "x": (j + 0.5) * cell_width,
            "y": -10,
            "label": finish.short_text(column_name, max(cell_width / LETTER - 1, 2)),
            "told": column_name,
        }
        for j, column_name in enumerate(column_names)
    ]
    row_heads = [
        {"x": -8, "y": (i + 0.5) * _CELL, "label": finish.isolated_line(short_label, row_label), "told": row_label}
        for i, (short_label, row_label) in enumerate(zip(short_labels, row_names, strict=True))
    ]
    title_cells = [{"x": 0, "y": -10 - LINE - 4, "label": " × ".join(filter(None, names)), "told": title}]
    label_layers = [
        data(column_heads).mark_text(fontSize=12, color=ink("text")),
        data(row_heads).mark_text(fontSize=12, color=ink("text"), align="right"),
        data(title_cells).mark_text(fontSize=12, color=ink("muted"), align="left"),
    ]
    text_layers = [layer.encode(x=x, y=y, text="label:N", description="told:N") for layer in label_layers]
    description = "; ".join(str(cell["told"]) for cell in cells)
    padding = {"left": left_padding, "right": 8, "top": top_padding, "bottom": 8}
    return image(
        alt.layer(cell_boxes, number_layer, *text_layers),
        size=size,
        height=plot_height,
        padding=padding,
        title=title,
        description=description,
    )


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
        table_columns = (Column(names[0], words=True), *map(Column, names[1:]))
        content.append(Table(table_columns, tuple(map(tuple, rows)), heading))
    return Section(heading, [*content, *([Points(tuple(notes), small=True)] if notes else [])])
