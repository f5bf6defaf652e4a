"""Charts with a row for each category: its label at the left, then marks with intervals, or bars of parts.

Charts that are drawn at once, for pages that are made while somebody waits; they fit any width.

Positions across are percentages, and words are the page's own. So letters keep their size on a phone, and one image
serves all screens. Colors come from the style sheet `style`; without scripts and style attributes, the strictest
content policy holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from naysay._values import Label
from naysay.errors import need
from naysay.show import finish
from naysay.show.finish import INKS, LETTER, LINE, Axis, data, image, ink
from naysay.show.result import template

_BAR, _STEP, _RIGHT_PADDING = 16, 10, 18
_FLUSH = {"labelFlush": False, "labelSeparation": 8}
_SHAPES = {"truth": "M-.16,-1L.16,-1L.16,1L-.16,1Z", "estimate": "circle", "pooled": "diamond"}
_SIZES = {"truth": 420, "estimate": 64}


@dataclass(frozen=True, eq=False)
class Mark:
    """One kind of mark in a chart: a value for each category, with or without intervals.

    Parameters
    ----------
    role : {"truth", "estimate", "pooled", "text", "muted"}
        Sets the color. For the first three roles it also sets the shape, unless `shape` is given.
    name : str
        Name in the legend.
    values : (t,) float
        NaN is left out.
    bounds : (t, 2) float, optional
    shape : str, optional
        A shape by its name in Vega.
    told : (t,) sequence of str, optional
        A text for each value, instead of the value and its bounds.
    """

    role: str
    name: str
    values: ArrayLike
    bounds: ArrayLike | None = None
    shape: str = ""
    told: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Bars:
    """One bar for each category; its parts lie side by side.

    Parameters
    ----------
    sign : str
        A letter at the left that distinguishes the bar from other bars of the category.
    ends : (t, kinds) float
        Where each part of each bar ends. Parts of width zero are left out.
    part_texts : for each category, a sequence of str
        A text for each part.
    """

    sign: str
    ends: ArrayLike
    part_texts: Sequence[Sequence[str]]


def marks_in_rows(
    categories: Sequence[Label],
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
    """An SVG image with a row for each category: marks with intervals along a common scale.

    Parameters
    ----------
    categories : (t,) sequence of label
        Any script and length; long ones are wrapped, then cut, and stand in full in the row's tooltip.
    marks : sequence of Mark
        The kinds of marks; `told` holds the text of each value.
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
        False for an image beside another one with the same categories and room: its rows then line up.
    aim : float, optional
        Value at which a line is drawn through all rows.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    compared_marks = [mark for mark in marks if mark.role != "truth"]
    category_rows = _rows(categories, room, most, least=max(2 * LINE, _STEP * len(compared_marks)))
    left_padding = category_rows.label_width if labeled else _RIGHT_PADDING
    mark_names = [mark.name for mark in marks]
    names_beside = _beside(mark_names, size - left_padding) if labeled else len(mark_names)
    aim_rule = data([{"aim": aim}]).mark_rule(color=ink("truth"), strokeWidth=1.5, aria=False)
    chart = need("altair").layer(
        category_rows.line_layer(),
        *([] if aim is None else [aim_rule.encode(x=axis.channel_encoding("X", "aim", **_FLUSH))]),
        *_mark_layers(
            marks,
            [point for mark in marks for point in _points(mark, category_rows, compared_marks)],
            axis,
            category_rows,
            names_beside,
        ),
        *([category_rows.label_layer(gap=10)] if labeled else []),
    )
    padding = {
        "left": left_padding,
        "right": _RIGHT_PADDING,
        "top": 15 + 19 * -(-len(marks) // names_beside),
        "bottom": 48,
    }
    return image(chart, size=size, height=category_rows.height, padding=padding, title=title, description=description)


def _points(mark: Mark, rows: _Rows, compared_marks: Sequence[Mark]) -> list[dict[str, Any]]:
    """The marks of one kind, with the text of each.

    Marks to be compared stand one above the other, so that none hides another. The mark of the truth spans them all.
    """
    mark_offset = 0.0 if mark.role == "truth" else _STEP * (compared_marks.index(mark) - (len(compared_marks) - 1) / 2)
    values = np.asarray(mark.values, dtype=float)
    mark_bounds = np.column_stack([values, values]) if mark.bounds is None else np.asarray(mark.bounds, dtype=float)
    row_marks = zip(rows.names, values.tolist(), mark_bounds.tolist(), rows.middles, mark.told, strict=True)
    mark_fields = {"mark": mark.name, "size": _SIZES.get(mark.role, 56)}
    return [
        {"y": y + mark_offset, "value": value, "low": low, "high": high, "told": f"{row_name}: {mark.name} {mark_text}"}
        | mark_fields
        for row_name, value, (low, high), y, mark_text in row_marks
        if not math.isnan(value)
    ]


def _mark_layers(
    marks: Sequence[Mark], points: Sequence[Mapping[str, object]], axis: Axis, rows: _Rows, beside: int
) -> list[Any]:
    """Intervals, and the marks on them."""
    alt = need("altair")
    mark_names, legend = [mark.name for mark in marks], _legend(beside, symbolSize=90)
    color_channel = alt.Color(
        "mark:N",
        scale=alt.Scale(domain=mark_names, range=[ink(drawn_mark.role) for drawn_mark in marks]),
        legend=legend,
    )
    shape_scale = alt.Scale(domain=mark_names, range=[mark.shape or _SHAPES[mark.role] for mark in marks])
    return [
        data(points)
        .transform_filter("datum.high > datum.low")
        .mark_rule(strokeWidth=2)
        .encode(
            x=axis.channel_encoding("X", "low", **_FLUSH),
            x2="high:Q",
            y=rows.y(),
            color=color_channel,
            description="told:N",
        ),
        data(points)
        .mark_point(filled=True, opacity=1)
        .encode(
            x=axis.channel_encoding("X", "value", **_FLUSH),
            y=rows.y(),
            color=color_channel,
            shape=alt.Shape("mark:N", scale=shape_scale, legend=legend),
            size=alt.Size("size:Q", scale=None),
            description="told:N",
        ),
    ]


def stacked_bars(
    categories: Sequence[Label],
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
    """An SVG image with a row for each category: bars whose parts follow one another.

    Parameters
    ----------
    categories : (t,) sequence of label
    bars : sequence of Bars
        The bars of every row, one below the other.
    kinds : {role: name}
        The parts of a bar from left to right, by role (see `inks.FILLS`).
    axis, title, description, size, room, most
        As in `marks_in_rows`.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    alt = need("altair")
    category_rows = _rows(categories, room, most, least=_BAR * len(bars) + 6)
    left_padding = category_rows.label_width + _RIGHT_PADDING
    kind_names = list(kinds.values())
    names_beside = _beside(kind_names, size - left_padding)
    legend = _legend(names_beside, symbolType="square", symbolSize=120)
    color_scale = alt.Scale(domain=kind_names, range=[ink(role) for role in kinds])
    bar_steps = [(_BAR + 1) * bar_place - _BAR * len(bars) / 2 for bar_place in range(len(bars))]
    bar_parts = [
        part
        for bar, bar_step in zip(bars, bar_steps, strict=True)
        for part in _parts(bar, bar_step, category_rows, kind_names)
    ]
    bar_signs = [
        {"y": row_middle + bar_step + _BAR / 2, "sign": bar.sign}
        for bar, bar_step in zip(bars, bar_steps, strict=True)
        for row_middle in category_rows.middles
    ]
    sign_layer = data(bar_signs).mark_text(align="right", fontSize=12, color=ink("muted"))
    chart = alt.layer(
        data(bar_parts)
        .mark_rect(opacity=1)
        .encode(
            x=axis.channel_encoding("X", "low", grid=False, **_FLUSH),
            x2="high:Q",
            y=category_rows.y("top"),
            y2="bottom:Q",
            color=alt.Color("kind:N", scale=color_scale, legend=legend),
            description="told:N",
        ),
        category_rows.line_layer(),
        category_rows.label_layer(gap=26),
        sign_layer.encode(x=alt.value(-8), y=category_rows.y(), text="sign:N"),
    )
    padding = {
        "left": left_padding,
        "right": _RIGHT_PADDING,
        "top": 17 + 19 * -(-len(kind_names) // names_beside),
        "bottom": 48,
    }
    return image(chart, size=size, height=category_rows.height, padding=padding, title=title, description=description)


def _parts(bar: Bars, step: float, rows: _Rows, kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The parts of one bar in every row, at this distance below the row's middle."""
    row_bars = zip(rows.names, rows.middles, np.asarray(bar.ends, dtype=float).tolist(), bar.part_texts, strict=True)
    for row_name, row_middle, bar_ends, part_texts in row_bars:
        top_and_bottom = {"top": row_middle + step, "bottom": row_middle + step + _BAR - 1}
        for kind, (low, high), part_text in zip(kinds, pairwise([0.0, *bar_ends]), part_texts, strict=True):
            if high > low:
                yield {
                    "low": low,
                    "high": high,
                    "kind": kind,
                    "told": f"{row_name}, {bar.sign}: {part_text}",
                } | top_and_bottom


class _Rows(NamedTuple):
    """The rows of an image. Each is as high as its label and its marks need."""

    names: list[str]
    lines: list[list[str]]
    ends: list[float]
    middles: list[float]

    @property
    def label_width(self) -> int:
        """Pixels for the labels."""
        return math.ceil(max(finish.width(line) for label_lines in self.lines for line in label_lines) * LETTER) + 16

    @property
    def height(self) -> int:
        """Pixels of all rows."""
        return int(self.ends[-1])

    def y(self, field: str = "y") -> Any:
        """The channel Y for a field that holds heights."""
        alt = need("altair")
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[self.height, 0], nice=False, zero=False), axis=None)

    def line_layer(self) -> Any:
        """Rules between the rows."""
        end_chart = data({"y": row_end} for row_end in self.ends[:-1])
        return end_chart.mark_rule(color=ink("grid"), strokeWidth=1, aria=False).encode(y=self.y())

    def label_layer(self, *, gap: int) -> Any:
        """Labels, line by line, at this distance left of the plot; each line has the direction of its script."""
        label_fields = [
            {
                "y": row_middle - (len(label_lines) - 1) * LINE / 2,
                "label": "\n".join(finish.isolated_line(line, row_name) for line in label_lines),
                "told": row_name,
            }
            for label_lines, row_name, row_middle in zip(self.lines, self.names, self.middles, strict=True)
        ]
        text_layer = data(label_fields).mark_text(
            align="right", lineBreak="\n", lineHeight=LINE, fontSize=12, color=ink("text")
        )
        return text_layer.encode(x=need("altair").value(-gap), y=self.y(), text="label:N", description="told:N")


def _rows(categories: Sequence[Label], room: int, most: int, *, least: int) -> _Rows:
    row_names = [finish.label_line(category) for category in categories]
    lines_by_row = [finish.wrapped_lines(name, room, lines=most) for name in row_names]
    row_heights = [max(least, len(label_lines) * LINE) + 8 for label_lines in lines_by_row]
    row_ends = [float(end) for end in accumulate(row_heights)]
    return _Rows(
        row_names, lines_by_row, row_ends, [end - height / 2 for end, height in zip(row_ends, row_heights, strict=True)]
    )


def _legend(columns: int, **symbols: object) -> Any:
    # Fonts differ in width by about a tenth. A gap between the columns keeps a name from touching the next mark.
    return need("altair").Legend(
        orient="top", direction="horizontal", title=None, columns=columns, columnPadding=24, offset=8, **symbols
    )


def _beside(names: Sequence[str], width: int) -> int:
    """How many names of a legend fit side by side: all, or as many as fit if each is as wide as the widest."""
    name_widths = [finish.width(name) * LETTER + 44 for name in names]
    return len(names) if sum(name_widths) <= width else max(1, int(width / max(name_widths)))


_TICKS = 5
_FEW = 8  # columns: fewer do not fill the width, since a single day is no wall
_STEPS = (1, 2, 2.5, 5, 10)


def style() -> str:
    """The style sheet of these charts, and of pages of results, in light, in dark and in print."""
    return template("naysay.show", "quick.css", inks=INKS)


def rows(
    names: Sequence[str],
    marks: Sequence[Mark],
    *,
    title: str,
    band: ArrayLike | None = None,
    bars: bool = False,
    percent: bool = True,
    places: int | None = None,
    ranges: bool = True,
) -> str:
    """A row for each name: a mark with its interval, or a bar from zero.

    Parameters
    ----------
    names : (t,) sequence of str
    marks : sequence of Mark
        The first one's values stand at the end of each row.
    title : str
        Read aloud for the whole image.
    band : (t, 2) float, optional
        Pale, behind the marks.
    bars : bool
        Whether the first mark is a bar.
    percent : bool
        Whether values are shares.
    places : int, optional
        Decimals of the values at the end of each row.
    ranges : bool
        Whether the ends of the first mark's intervals stand there, too.

    Examples
    --------
    >>> drawn = rows(("<yes>", "no"), [Mark("estimate", "estimate", (0.3, 0.7), ((0.2, 0.4), (0.6, 0.8)))], title="A")
    >>> "&lt;yes&gt;" in drawn, "30.0 %" in drawn, "style=" in drawn
    (True, True, False)
    """
    band_bounds = None if band is None else np.asarray(band, dtype=float)
    number_arrays = [numbers for mark in marks for numbers in (mark.values, mark.bounds) if numbers is not None]
    band_arrays = [] if band_bounds is None else [band_bounds]
    row_scale = _Scale.around(np.concatenate([np.ravel(numbers) for numbers in [*number_arrays, *band_arrays]]))
    first_mark = marks[0]
    first_values = np.asarray(first_mark.values, dtype=float)
    rows_of_fields = [
        {
            "name": row_name,
            "value": _number_text(float(first_values[row_place]), percent=percent, places=places),
            "range": None
            if first_mark.bounds is None or not ranges
            else _range(np.asarray(first_mark.bounds)[row_place], percent=percent),
            "bar": row_scale.span(0.0, float(first_values[row_place])) if bars else None,
            "band": None if band_bounds is None else row_scale.span(*band_bounds[row_place].tolist()),
            "marks": [
                row_scale.row_mark(mark, row_place)
                for mark in (marks[1:] if bars and first_mark.bounds is None else marks)
            ],
        }
        for row_place, row_name in enumerate(names)
    ]
    description = "; ".join(f"{row_fields['name']}: {row_fields['value']}" for row_fields in rows_of_fields)
    tick_labels = [
        (row_scale.place(tick), _number_text(tick, percent=percent, places=row_scale.places(percent=percent)))
        for tick in row_scale.ticks
    ]
    legend_entries = [(mark.role, mark.name) for mark in marks] if len(marks) > 1 else []
    return template(
        "naysay.show",
        "quick_rows.html",
        rows=rows_of_fields,
        ticks=tick_labels,
        legend=legend_entries,
        title=title,
        description=description,
    ).strip()


def columns(names: Sequence[str], parts: Mapping[str, Sequence[int]], *, title: str) -> str:
    """A column for each name, such as a day, of parts that stand on one another, such as levels.

    Parameters
    ----------
    names : (k,) sequence of str
    parts : {name: (k,) counts}
    title : str
        Read aloud for the whole image.

    Examples
    --------
    >>> drawn = columns(("Mon", "Tue"), {"open": (3, 4), "private": (1, 0)}, title="Replies")
    >>> drawn.count("<rect"), "Mon" in drawn
    (5, True)
    """
    count_table = np.array([list(part_counts) for part_counts in parts.values()], dtype=float)
    column_totals = count_table.sum(axis=0)
    count_scale = _Scale.around(column_totals)
    plot_height, column_width = 120.0, 100 / max(len(names), _FEW)
    unit_height = plot_height / (count_scale.high or 1)
    rectangles, column_tops = [], np.zeros(len(names))
    for part_place, (part_name, column_counts) in enumerate(zip(parts, count_table, strict=True)):
        for column_place, count in enumerate(column_counts.tolist()):
            column_tops[column_place] += count
            if count:
                tooltip = f"{names[column_place]}: {count:,.0f}" + (f" · {part_name}" if len(parts) > 1 else "")
                rectangles.append(
                    (
                        column_place * column_width + 0.1 * column_width,
                        plot_height - column_tops[column_place] * unit_height,
                        0.8 * column_width,
                        count * unit_height,
                        part_place,
                        tooltip,
                    )
                )
    label_step = max(1, math.ceil(len(names) / 6))
    column_labels = [
        ((column_place + 0.5) * column_width, column_name)
        for column_place, column_name in enumerate(names)
        if column_place % label_step == 0
    ]
    tick_labels = [
        (plot_height - tick * unit_height, f"{tick:,.0f}") for tick in count_scale.ticks if tick == round(tick)
    ]
    largest_total = int(column_totals.max()) if len(names) else 0
    return template(
        "naysay.show",
        "quick_columns.html",
        **{"drawn": rectangles, "labels": column_labels, "ticks": tick_labels, "height": plot_height, "title": title},
        legend=list(enumerate(parts)) if len(parts) > 1 else [],
        description=f"{column_totals.sum():,.0f} in {len(names)} columns, at most {largest_total:,} in one",
    ).strip()


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float
    ticks: Sequence[float]

    @classmethod
    def around(cls, values: ArrayLike) -> _Scale:
        """A scale that holds zero and all these values, with round ticks."""
        finite_values = np.asarray(values, dtype=float)
        finite_values = finite_values[np.isfinite(finite_values)]
        low, high = min(0.0, *finite_values.tolist(), 0.0), max(0.0, *finite_values.tolist(), 0.0)
        scale_reach = (high - low) or 1.0
        power_of_ten = 10 ** math.floor(math.log10(scale_reach / _TICKS))
        tick_step = next(power_of_ten * factor for factor in _STEPS if scale_reach / (power_of_ten * factor) <= _TICKS)
        first_tick, last_tick = math.floor(low / tick_step + 1e-9), math.ceil(high / tick_step - 1e-9) or 1
        return cls(
            first_tick * tick_step,
            last_tick * tick_step,
            [round(tick * tick_step, 12) for tick in range(first_tick, last_tick + 1)],
        )

    def places(self, *, percent: bool) -> int:
        """Decimals with which ticks differ."""
        tick_step = (self.ticks[1] - self.ticks[0]) * (100 if percent else 1)
        return next(places for places in range(10) if abs(round(tick_step, places) - tick_step) < 1e-9)

    def place(self, value: float) -> float:
        return round(100 * (value - self.low) / (self.high - self.low), 3)

    def span(self, start: float, end: float) -> tuple[float, float] | None:
        if not (math.isfinite(start) and math.isfinite(end)):
            return None
        low, high = sorted((self.place(start), self.place(end)))
        return low, round(high - low, 3)

    def row_mark(self, mark: Mark, row: int) -> dict[str, object]:
        """A mark in a row, in percent of its width."""
        value = float(np.asarray(mark.values, dtype=float)[row])
        bound_ends = (math.nan, math.nan) if mark.bounds is None else np.asarray(mark.bounds, dtype=float)[row].tolist()
        places = (self.place(end) if math.isfinite(end) else None for end in (value, *bound_ends))
        return {"role": mark.role, **dict(zip(("at", "low", "high"), places, strict=True))}


def _number_text(value: float, *, percent: bool, places: int | None = None) -> str:
    if not math.isfinite(value):
        return "–"
    if percent:
        return f"{100 * value:.{1 if places is None else places}f} %".replace("-", "−")
    return (f"{value:,.4g}" if places is None else f"{value:,.{places}f}").replace("-", "−")


def _range(ends: Iterable[float], *, percent: bool) -> str | None:
    low, high = (float(end) for end in ends)
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    return f"{_number_text(low, percent=percent).removesuffix(' %')} to {_number_text(high, percent=percent)}"
