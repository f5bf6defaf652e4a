"""The three shapes of which all charts are: marks in rows, bars in rows, and lines over two axes.

Each takes what it draws as data, and gives an SVG image. What is drawn names its role (see `inks`), never a color.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from naysay.printing.extra import need
from naysay.report import finish, labels
from naysay.report.inks import ink

__all__ = ["Axis", "Bars", "Line", "Mark", "lines", "marks_in_rows", "stacked_bars"]

_LETTER = 6.3  # width of an ordinary letter at the size of the labels, with something to spare
_LINE, _BAR, _STEP = 15, 16, 10
_RIGHT, _BOTTOM = 18, 48
_SHAPES = {"truth": "M-.16,-1L.16,-1L.16,1L-.16,1Z", "estimate": "circle", "pooled": "diamond"}
_SIZES = {"truth": 420, "estimate": 64}


@dataclass(frozen=True)
class Axis:
    """A scale and its ticks.

    Parameters
    ----------
    title : str
    domain : (float, float)
    form : str
        Of the ticks, as d3-format writes it; empty for Vega's own.
    ticks : int or sequence of float
        About how many, or which.
    log, nice : bool
        Whether the scale is logarithmic, and whether it ends at round numbers.
    words : str, optional
        A Vega expression for the ticks, in place of `form`.
    room : int
        Pixels for the ticks and the title of an upright axis.
    """

    title: str | None
    domain: tuple[float, float]
    form: str
    ticks: int | Sequence[float] = 5
    log: bool = False
    nice: bool = False
    words: str | None = None
    room: int = 66

    def encoded(self, channel: str, field: str, **more: Any) -> Any:
        """The channel ``X`` or ``Y`` of a chart for a field of its data."""
        alt = need("altair")
        ticks = {"tickCount": self.ticks} if isinstance(self.ticks, int) else {"values": list(self.ticks)}
        more |= ticks | ({"labelExpr": self.words} if self.words else {})
        kind = {"type": "log"} if self.log else {"zero": False}
        scale = alt.Scale(domain=list(self.domain), nice=self.nice, **kind)
        return getattr(alt, channel)(
            f"{field}:Q", scale=scale, axis=alt.Axis(title=self.title, format=self.form or alt.Undefined, **more)
        )

    def share(self, value: float) -> float:
        """How far along the axis a value lies, from 0 to 1."""
        low, high = map(math.log, self.domain) if self.log else self.domain
        return ((math.log(value) if self.log else value) - low) / (high - low)

    def at(self, share: float) -> float:
        """The value that lies there."""
        low, high = map(math.log, self.domain) if self.log else self.domain
        value = low + share * (high - low)
        return math.exp(value) if self.log else value


@dataclass(frozen=True, eq=False)
class Mark:
    """One kind of mark in rows: a value for each category, with intervals where there are some.

    Parameters
    ----------
    role : {"truth", "estimate", "pooled", "text", "muted"}
        Gives the color; and the shape, if no other is named.
    name : str
        For the legend.
    values : (t,) float
        NaN is left out.
    bounds : (t, 2) float, optional
    shape : str, optional
        As Vega names it.
    told : (t,) sequence of str, optional
        What is said of each value, in place of the value and its bounds.
    """

    role: str
    name: str
    values: ArrayLike
    bounds: ArrayLike | None = None
    shape: str = ""
    told: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Bars:
    """One bar for each category, of parts that lie side by side.

    Parameters
    ----------
    sign : str
        A letter at the left, which tells it from other bars of the category.
    ends : (t, kinds) float
        Where each part of each bar ends.
    told : for each category, a sequence of str
        What is said of each part.
    """

    sign: str
    ends: ArrayLike
    told: Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Line:
    """A line over two axes, with its name at its end; a single point is marked.

    Parameters
    ----------
    name : str
    x, y : (n,) float
    told : str
        Said of its name.
    points : (n,) sequence of str
        What is said of each point, where points are marked.
    role : str
    dashed : bool
    """

    name: str
    x: ArrayLike
    y: ArrayLike
    told: str
    points: Sequence[str] = ()
    role: str = "estimate"
    dashed: bool = False


def marks_in_rows(
    categories: Sequence[Any],
    marks: Sequence[Mark],
    axis: Axis,
    *,
    title: str,
    description: str,
    size: int,
    room: int,
    most: int = 3,
    labeled: bool = True,
    aim: float | None = None,
) -> str:
    """An SVG image with a row for each category, and marks with intervals along a common scale.

    Parameters
    ----------
    categories : (t,) sequence of label
        Any script and length; long ones are wrapped, then cut, and stand in full in the row's tooltip.
    marks : sequence of Mark
    axis : Axis
    title, description : str
        Read aloud for the whole image.
    size : int
        Width in pixels at which text has its natural size.
    room : int
        Letters in a line of a label.
    most : int
        Lines of a label, beyond which it is cut.
    labeled : bool
        False for an image beside another of the same categories and room: its rows stand level with theirs.
    aim : float, optional
        Where a line is drawn through all rows.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    alt = need("altair")
    compared = [mark for mark in marks if mark.role != "truth"]
    rows = _rows(categories, room, most, least=max(2 * _LINE, _STEP * len(compared)))
    left = rows.left if labeled else _RIGHT
    width = size - left - _RIGHT
    y = rows.upright()
    beside = _beside([mark.name for mark in marks], size - left) if labeled else len(marks)
    points = [point for mark in marks for point in _points(mark, rows, _offset(mark, compared))]
    names = [mark.name for mark in marks]
    color = alt.Color(
        "mark:N",
        scale=alt.Scale(domain=names, range=[ink(mark.role) for mark in marks]),
        legend=_legend(beside, symbolSize=90),
    )
    shapes = alt.Scale(domain=names, range=[mark.shape or _SHAPES[mark.role] for mark in marks])
    flush = {"labelFlush": False, "labelSeparation": 8}
    data = alt.Chart(alt.InlineData(values=points))
    line = alt.Chart(alt.InlineData(values=[] if aim is None else [{"aim": aim}]))
    chart = alt.layer(
        rows.between(y),
        line.mark_rule(color=ink("truth"), strokeWidth=1.5, aria=False).encode(x=axis.encoded("X", "aim", **flush)),
        data.transform_filter("datum.high > datum.low")
        .mark_rule(strokeWidth=2)
        .encode(x=axis.encoded("X", "low", **flush), x2="high:Q", y=y, color=color, description="told:N"),
        data.mark_point(filled=True, opacity=1).encode(
            x=axis.encoded("X", "value", **flush),
            y=y,
            color=color,
            shape=alt.Shape("mark:N", scale=shapes, legend=_legend(beside, symbolSize=90)),
            size=alt.Size("size:Q", scale=None),
            description="told:N",
        ),
        *([rows.named(y, gap=10)] if labeled else []),
    )
    padding = {"left": left, "right": _RIGHT, "top": 15 + 19 * -(-len(marks) // beside), "bottom": _BOTTOM}
    image = finish.drawn(chart, width=width, height=int(rows.ends[-1]), padding=padding)
    return finish.accessible(image, title, description)


def stacked_bars(
    categories: Sequence[Any],
    bars: Sequence[Bars],
    kinds: Mapping[str, str],
    axis: Axis,
    *,
    title: str,
    description: str,
    size: int,
    room: int,
    most: int = 4,
) -> str:
    """An SVG image with a row for each category, and in it bars of parts that follow one another.

    Parameters
    ----------
    categories : (t,) sequence of label
    bars : sequence of Bars
        Below one another in every row.
    kinds : {role: name}
        The parts of a bar, from the left to the right, with the roles of `inks.FILLS`.
    axis, title, description, size, room, most
        As in `marks_in_rows`.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    alt = need("altair")
    rows = _rows(categories, room, most, least=_BAR * len(bars) + 6)
    left = rows.left + _RIGHT
    width = size - left - _RIGHT
    y = rows.upright()
    parts, signs = [], []
    for place, bar in enumerate(bars):
        tops = rows.middles - _BAR * len(bars) / 2 + (_BAR + 1) * place
        signs += [{"y": top + _BAR / 2, "sign": bar.sign} for top in tops.tolist()]
        for name, top, ends, told in zip(
            rows.names, tops.tolist(), np.asarray(bar.ends, dtype=float), bar.told, strict=True
        ):
            every = zip(kinds.values(), pairwise([0.0, *ends.tolist()]), told, strict=True)
            parts += [
                {
                    "low": low,
                    "high": high,
                    "kind": kind,
                    "top": top,
                    "bottom": top + _BAR - 1,
                    "told": f"{name}, {bar.sign}: {said}",
                }
                for kind, (low, high), said in every
                if high > low
            ]
    beside = _beside(list(kinds.values()), size - left)
    legend = _legend(beside, symbolType="square", symbolSize=120, columnPadding=22)
    scale = alt.Scale(domain=list(kinds.values()), range=[ink(role) for role in kinds])
    drawn = alt.Chart(alt.InlineData(values=parts)).mark_rect(opacity=1)
    chart = alt.layer(
        drawn.encode(
            x=axis.encoded("X", "low", labelFlush=False, labelSeparation=8, grid=False),
            x2="high:Q",
            y=rows.upright("top"),
            y2="bottom:Q",
            color=alt.Color("kind:N", scale=scale, legend=legend),
            description="told:N",
        ),
        rows.between(y),
        rows.named(y, gap=26),
        alt.Chart(alt.InlineData(values=signs))
        .mark_text(align="right", fontSize=12, color=ink("muted"))
        .encode(x=alt.value(-8), y=y, text="sign:N"),
    )
    padding = {"left": left, "right": _RIGHT, "top": 17 + 19 * -(-len(kinds) // beside), "bottom": _BOTTOM}
    image = finish.drawn(chart, width=width, height=int(rows.ends[-1]), padding=padding)
    return finish.accessible(image, title, description)


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
    """An SVG image of lines over two axes, each with its name at its end; names are moved up where they would touch.

    Parameters
    ----------
    drawn : sequence of Line
    x, y : Axis
    title, description : str
        Read aloud for the whole image.
    size : int
        Width in pixels at which text has its natural size.
    height : int
        Of the plot.
    letters : int
        The most letters of a name.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    alt = need("altair")
    right = math.ceil(min(letters, max(labels.width(line.name) for line in drawn)) * _LETTER) + 20
    width = size - y.room - right
    points: list[dict[str, Any]] = []
    for place, line in enumerate(drawn):
        told = line.points or [""] * len(np.atleast_1d(line.x))
        coordinates = zip(np.atleast_1d(line.x).tolist(), np.atleast_1d(line.y).tolist(), told, strict=True)
        points += [
            {
                "x": a,
                "y": b,
                "line": place,
                "ink": ink(line.role),
                "dash": [6, 4] if line.dashed else [1, 0],
                "told": said,
            }
            for a, b, said in coordinates
        ]
    across, up = x.encoded("X", "x", grid=False), y.encoded("Y", "y")
    data = alt.Chart(alt.InlineData(values=points))
    color = alt.Color("ink:N", scale=None)
    named = alt.Chart(alt.InlineData(values=_ends(drawn, x, y, (width, height), letters)))
    chart = alt.layer(
        data.mark_line(strokeWidth=2, aria=False).encode(
            x=across, y=up, detail="line:N", color=color, strokeDash=alt.StrokeDash("dash", scale=None, type="nominal")
        ),
        data.transform_filter("datum.told != ''")
        .mark_point(filled=True, opacity=1, size=56)
        .encode(x=across, y=up, color=color, description="told:N"),
        named.mark_text(align="left", baseline="middle", dx=9, fontSize=12, color=ink("text")).encode(
            x=across, y=up, text="label:N", description="told:N"
        ),
    )
    padding = {"left": y.room, "right": right, "top": 12, "bottom": _BOTTOM}
    return finish.accessible(finish.drawn(chart, width=width, height=height, padding=padding), title, description)


def _ends(drawn: Sequence[Line], x: Axis, y: Axis, size: tuple[int, int], letters: int) -> list[dict[str, Any]]:
    """The names of lines at their ends."""
    last = [(float(np.atleast_1d(line.x)[-1]), float(np.atleast_1d(line.y)[-1])) for line in drawn]
    names = [labels.shortened(line.name, letters) for line in drawn]
    width, height = size
    starts = [x.share(a) * width for a, _ in last]
    spans = [(start, start + labels.width(name) * _LETTER + 18) for start, name in zip(starts, names, strict=True)]
    heights = finish.apart([y.share(b) for _, b in last], _LINE / height, spans)
    return [
        {"x": a, "y": y.at(share), "label": labels.isolated(name, line.name), "told": line.told}
        for line, name, (a, _), share in zip(drawn, names, last, heights.tolist(), strict=True)
    ]


class _Rows(NamedTuple):
    """Rows of an image, each as high as its label and its marks need."""

    names: list[str]
    lines: list[list[str]]
    ends: list[float]
    middles: Any

    @property
    def left(self) -> int:
        """Pixels for the labels."""
        return math.ceil(max(labels.width(line) for own in self.lines for line in own) * _LETTER) + 16

    def upright(self, field: str = "y") -> Any:
        """The channel Y for a field that holds heights."""
        alt = need("altair")
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[self.ends[-1], 0], nice=False, zero=False), axis=None)

    def between(self, y: Any) -> Any:
        """Rules between the rows."""
        alt = need("altair")
        data = alt.Chart(alt.InlineData(values=[{"y": end} for end in self.ends[:-1]]))
        return data.mark_rule(color=ink("grid"), strokeWidth=1, aria=False).encode(y=y)

    def named(self, y: Any, *, gap: int) -> Any:
        """Labels, line by line, each in the direction of its script, so far left of the plot."""
        alt = need("altair")
        words = [
            {
                "y": float(middle) - (len(own) - 1) * _LINE / 2,
                "label": "\n".join(labels.isolated(line, name) for line in own),
                "told": name,
            }
            for own, name, middle in zip(self.lines, self.names, self.middles, strict=True)
        ]
        text = alt.Chart(alt.InlineData(values=words)).mark_text(
            align="right", lineBreak="\n", lineHeight=_LINE, fontSize=12, color=ink("text")
        )
        return text.encode(x=alt.value(-gap), y=y, text="label:N", description="told:N")


def _rows(categories: Sequence[Any], room: int, most: int, *, least: int) -> _Rows:
    names = [labels.full(category) for category in categories]
    lines = [labels.wrapped(name, room, lines=most) for name in names]
    heights = [float(max(least, len(own) * _LINE) + 8) for own in lines]
    ends = list(accumulate(heights))
    return _Rows(names, lines, ends, np.array(ends) - np.array(heights) / 2)


def _points(mark: Mark, rows: _Rows, offset: float) -> list[dict[str, Any]]:
    """The marks of one kind, with what is said of each."""
    values = np.asarray(mark.values, dtype=float)
    bounds = np.column_stack([values, values]) if mark.bounds is None else np.asarray(mark.bounds, dtype=float)
    every = zip(rows.names, values.tolist(), bounds.tolist(), rows.middles.tolist(), mark.told, strict=True)
    shared = {"mark": mark.name, "size": _SIZES.get(mark.role, 56)}
    return [
        {"y": y + offset, "value": value, "low": low, "high": high, "told": f"{name}: {mark.name} {said}"} | shared
        for name, value, (low, high), y, said in every
        if not math.isnan(value)
    ]


def _offset(mark: Mark, compared: Sequence[Mark]) -> float:
    """Marks above one another, so that they do not hide each other; the truth spans them all."""
    return 0.0 if mark.role == "truth" else _STEP * (compared.index(mark) - (len(compared) - 1) / 2)


def _legend(columns: int, **symbols: Any) -> Any:
    return need("altair").Legend(orient="top", direction="horizontal", title=None, columns=columns, offset=8, **symbols)


def _beside(names: Sequence[str], width: int) -> int:
    """How many names of a legend fit beside one another: all, or as many as have the room of the widest."""
    widths = [labels.width(name) * _LETTER + 30 for name in names]
    return len(names) if sum(widths) <= width else max(1, int(width / max(widths)))
