"""Charts as SVG text: drawn offline, read in color, in print, in the dark, and aloud."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from naysay.printing.extra import need
from naysay.report import finish, labels
from naysay.report.inks import INKS

__all__ = ["Mark", "convergence", "differences", "dots"]

_SHAPES = {"truth": "M-.16,-1L.16,-1L.16,1L-.16,1Z", "estimate": "circle", "pooled": "diamond"}
_SIZES = {"truth": 420, "estimate": 64, "pooled": 56}
_LETTER = 6.3  # width of an ordinary letter at the size of the labels, with something to spare
_LINE = 15


@dataclass(frozen=True)
class Mark:
    """One kind of mark in a chart: a value for each category, with intervals where there are some.

    Parameters
    ----------
    role : {"truth", "estimate", "pooled"}
        Gives color and shape.
    name : str
        For the legend.
    values : (t,) float
    bounds : (t, 2) float, optional
    """

    role: str
    name: str
    values: ArrayLike
    bounds: ArrayLike | None = None


def dots(
    categories: Sequence[Any],
    marks: Sequence[Mark],
    *,
    title: str,
    size: int = 640,
    room: int = 26,
    lines: int = 3,
    axis: str = "share of the respondents",
) -> str:
    """An SVG image with one row for each category, dots with intervals along a common scale.

    Parameters
    ----------
    categories : (t,) sequence of label
        Any script and length; long ones are wrapped, then cut, and stand in full in the row's tooltip.
    marks : sequence of Mark
        Shares of one; NaN is left out.
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
    return _image(categories, marks, title, _Layout(size, room, axis, lines=lines))


def differences(
    categories: Sequence[Any],
    marks: Sequence[Mark],
    truth: ArrayLike,
    *,
    title: str,
    size: int = 300,
    room: int = 26,
    labeled: bool = True,
) -> str:
    """An SVG image like `dots` of how far marks lie from the truth, in percentage points.

    Parameters
    ----------
    categories, marks, title, size, room
        As in `dots`.
    truth : (t,) float
    labeled : bool
        False for an image beside `dots` of the same categories and room: its rows stand level with theirs.

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
    true = np.asarray(truth, dtype=float)
    moved = [Mark("truth", "truth", np.zeros_like(true))]
    for mark in marks:
        bounds = None if mark.bounds is None else np.asarray(mark.bounds, dtype=float) - true[:, None]
        moved.append(Mark(mark.role, mark.name, np.asarray(mark.values, dtype=float) - true, bounds))
    axis = "distance from the truth, points"
    return _image(categories, moved, title, _Layout(size, room, axis, signed=True, labeled=labeled))


class _Layout(NamedTuple):
    size: int
    room: int
    axis: str
    signed: bool = False
    labeled: bool = True
    lines: int = 3

    def stacked(self, marks: Sequence[Mark], width: int) -> bool:
        """Whether the legend needs a line for each mark; not where rows must stand level with another image."""
        return not self.signed and sum(labels.width(mark.name) * _LETTER + 30 for mark in marks) > width

    def said(self, value: float, digits: int = 2) -> str:
        """A value in words."""
        return f"{100 * value:+.{digits}f} points" if self.signed else f"{value:.{digits}%}"


def _image(categories: Sequence[Any], marks: Sequence[Mark], title: str, layout: _Layout) -> str:
    names = [labels.full(category) for category in categories]
    lines = [labels.wrapped(name, layout.room, lines=layout.lines) for name in names]
    heights = [max(2, len(own)) * _LINE + 8 for own in lines]
    middles = np.cumsum(heights) - np.array(heights) / 2
    rows = [
        row for place, mark in enumerate(marks) for row in _rows(mark, names, middles + _offset(place, marks), layout)
    ]
    left, words = 18, []
    if layout.labeled:
        left = math.ceil(max(labels.width(line) for own in lines for line in own) * _LETTER) + 16
        words = _words(names, lines, middles)
    width = layout.size - left - 18
    legend = {"direction": "vertical"} if layout.stacked(marks, width) else {"direction": "horizontal"}
    chart = _layers(rows, words, marks, np.cumsum(heights).tolist(), layout, legend)
    top = 34 + (_LINE + 4) * (len(marks) - 1 if legend["direction"] == "vertical" else 0)
    padding = {"left": left, "right": 18, "top": top, "bottom": 48}
    drawn = finish.drawn(chart, width=width, height=int(sum(heights)), padding=padding)
    return finish.accessible(drawn, title, _description(names, marks, layout))


def _words(names: list[str], lines: list[list[str]], middles: Any) -> list[dict[str, Any]]:
    """Labels, line by line, each in the direction of its script."""
    return [
        {
            "y": float(middle) - (len(own) - 1) * _LINE / 2,
            "label": "\n".join(labels.isolated(line, name) for line in own),
            "told": name,
        }
        for own, name, middle in zip(lines, names, middles, strict=True)
    ]


def _offset(place: int, marks: Sequence[Mark]) -> float:
    """Estimates above one another, so that their marks do not hide each other; the truth spans them all."""
    compared = [mark.role for mark in marks if mark.role != "truth"]
    role = marks[place].role
    return 0.0 if role == "truth" else 10.0 * (compared.index(role) - (len(compared) - 1) / 2)


def _rows(mark: Mark, names: list[str], heights: Any, layout: _Layout) -> list[dict[str, Any]]:
    values = np.asarray(mark.values, dtype=float)
    bounds = np.column_stack([values, values]) if mark.bounds is None else np.asarray(mark.bounds, dtype=float)
    result: list[dict[str, Any]] = []
    for name, value, (low, high), y in zip(names, values.tolist(), bounds.tolist(), heights.tolist(), strict=True):
        if math.isnan(value):
            continue
        told = f"{name}: {mark.name} {layout.said(value)}"
        if mark.bounds is not None:
            told += f", {layout.said(low)} to {layout.said(high)}"
        result.append(
            {
                "y": y,
                "value": value,
                "low": low,
                "high": high,
                "mark": mark.name,
                "size": _SIZES[mark.role],
                "told": told,
            }
        )
    return result


def _layers(
    rows: list[dict[str, Any]],
    words: list[dict[str, Any]],
    marks: Sequence[Mark],
    ends: list[float],
    layout: _Layout,
    placed: dict[str, str],
) -> Any:
    """The chart: rules between rows, intervals, points in their order, labels at the left."""
    alt = need("altair")
    y = alt.Y("y:Q", scale=alt.Scale(domain=[ends[-1], 0], nice=False, zero=False), axis=None)
    low = min([0.0, *(min(row["low"], row["value"]) for row in rows)])
    high = max([0.01, *(max(row["high"], row["value"]) for row in rows)])
    nice = low == 0  # a little below zero must not cost a whole step of the axis
    if layout.signed or not nice:  # no mark on the edge
        room = (high - low) / (25 if layout.signed else 50)
        low, high = low - room, high + room
    form = f".{0 if high - low > 0.05 else 1}%"
    signed = "datum.value == 0 ? '0' : format(100 * datum.value, '+.2~f')" if layout.signed else alt.Undefined
    scale = alt.Scale(domain=[low, high], nice=nice)
    ticks = alt.Axis(format=form, labelExpr=signed, tickCount=5, title=layout.axis, labelFlush=False, labelSeparation=8)
    domain = [mark.name for mark in marks]
    colors = alt.Scale(domain=domain, range=[INKS[mark.role][0] for mark in marks])
    shapes = alt.Scale(domain=domain, range=[_SHAPES[mark.role] for mark in marks])
    legend = alt.Legend(orient="top", title=None, symbolSize=90, offset=8, **placed)
    data = alt.Chart(alt.InlineData(values=rows))
    between = alt.Chart(alt.InlineData(values=[{"y": end} for end in ends[:-1]]))
    named = alt.Chart(alt.InlineData(values=words))
    color = alt.Color("mark:N", scale=colors, legend=legend)
    return alt.layer(
        between.mark_rule(color=INKS["grid"][0], strokeWidth=1, aria=False).encode(y=y),
        data.transform_filter("datum.high > datum.low")
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q", scale=scale, axis=ticks), x2="high:Q", y=y, color=color, description="told:N"),
        data.mark_point(filled=True, opacity=1).encode(
            x=alt.X("value:Q", scale=scale, axis=ticks),
            y=y,
            color=color,
            shape=alt.Shape("mark:N", scale=shapes, legend=legend),
            size=alt.Size("size:Q", scale=None),
            description="told:N",
        ),
        named.mark_text(align="right", lineBreak="\n", lineHeight=_LINE, fontSize=12, color=INKS["text"][0]).encode(
            x=alt.value(-10), y=y, text="label:N", description="told:N"
        ),
    )


def convergence(path: ArrayLike, categories: Sequence[Any], *, title: str, size: int = 640) -> str:
    """An SVG image of the shares after each step of an iterative method, one line for each category.

    Parameters
    ----------
    path : (steps, t) float
        Counts after each step, as `Estimate.path`.
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
    alt = need("altair")
    steps = np.asarray(path, dtype=float)
    shares = steps / steps.sum(axis=1, keepdims=True)
    kept = np.unique(np.geomspace(1, len(shares), min(len(shares), 60)).round().astype(int)) - 1
    names = [labels.full(category) for category in categories]
    rows = [
        {"step": int(step) + 1, "value": float(shares[step, place]), "place": place}
        for step in kept
        for place in range(len(names))
    ]
    top = max(float(shares[kept].max()), 0.01)
    heights = finish.apart(shares[-1], top * _LINE / 200)
    ends = [
        {"step": int(kept[-1]) + 1, "value": float(heights[place]), "told": f"{name}: {shares[-1, place]:.2%}"}
        | {"label": labels.isolated(labels.shortened(name, 18), name)}
        for place, name in enumerate(names)
    ]
    x = alt.X("step:Q", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(title="step", grid=False, format="~s"))
    y = alt.Y("value:Q", scale=alt.Scale(domain=[0, top]), axis=alt.Axis(format=".0%", title=None, tickCount=5))
    lines = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(color=INKS["estimate"][0], strokeWidth=1.5)
        .encode(x=x, y=y, detail="place:N")
    )
    words = (
        alt.Chart(alt.InlineData(values=ends))
        .mark_text(align="left", dx=6, fontSize=12, color=INKS["text"][0])
        .encode(x=x, y=y, text="label:N", description="told:N")
    )
    right = math.ceil(min(18.0, max(map(labels.width, names))) * _LETTER) + 16
    padding = {"left": 48, "right": right, "top": 12, "bottom": 48}
    drawn = finish.drawn(alt.layer(lines, words), width=size - 48 - right, height=220, padding=padding)
    return finish.accessible(drawn, title, f"{len(steps) - 1} steps of the iteration")


def _description(names: list[str], marks: Sequence[Mark], layout: _Layout) -> str:
    """What the chart shows, category by category, for who cannot see it."""
    columns = [np.asarray(mark.values, dtype=float).tolist() for mark in marks]
    return "; ".join(
        f"{name}: "
        + ", ".join(f"{mark.name} {layout.said(column[row], 1)}" for mark, column in zip(marks, columns, strict=True))
        for row, name in enumerate(names)
    )
