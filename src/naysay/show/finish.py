"""What all charts share: axes, labels that do not touch, and the step from a chart to an accessible image.

The colors of charts and pages.

Labels of any script and any length, fitted into a chart.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from naysay import _checks
from naysay._values import Floats, Label
from naysay.errors import need

LETTER, LINE = 6.3, 15
"""Width of an ordinary letter of a label (rounded up), and height of a line of labels, in pixels."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Noto Sans', sans-serif"
_SVG = "http://www.w3.org/2000/svg"


def label_heights(values: ArrayLike, gap: float, spans: Sequence[tuple[float, float]] | None = None) -> Floats:
    """Heights for labels at these values. A label moves up if it would touch one below.

    Give `spans`, the start and end of each label across, if some labels stand side by side and cannot touch.
    """
    heights = np.array(values, dtype=float)
    placed_labels: list[int] = []
    for label in np.argsort(heights, kind="stable").tolist():
        for other_label in sorted(placed_labels, key=heights.__getitem__):
            is_beside = spans is not None and (
                spans[label][1] <= spans[other_label][0] or spans[other_label][1] <= spans[label][0]
            )
            if not is_beside and abs(heights[other_label] - heights[label]) < gap:
                heights[label] = heights[other_label] + gap
        placed_labels.append(label)
    return heights


@dataclass(frozen=True)
class Axis:
    """A scale and its ticks.

    Parameters
    ----------
    title : str
    domain : (float, float)
    form : str
        Format of the ticks in the syntax of d3-format; empty for Vega's default.
    ticks : int or sequence of float
        The approximate number of ticks, or their values.
    log, nice : bool
        Whether the scale is logarithmic; whether it ends at round numbers.
    words : str, optional
        A Vega expression for the ticks, instead of `form`.
    room : int
        Pixels for the ticks and the title of a vertical axis.
    """

    title: str | None
    domain: tuple[float, float]
    form: str
    ticks: int | Sequence[float] = 5
    log: bool = False
    nice: bool = False
    words: str | None = None
    room: int = 66

    def channel_encoding(self, channel: str, field: str, **axis_options: object) -> Any:
        """The channel ``X`` or ``Y`` of a chart for a field of its data."""
        alt = need("altair")
        tick_words = self.words
        if tick_words is None and self.form.endswith("%"):  # "20 %", as in tables and sentences
            tick_words = f"replace(format(datum.value, '{self.form}'), '%', '\u00a0%')"
        tick_options = {"tickCount": self.ticks} if isinstance(self.ticks, int) else {"values": list(self.ticks)}
        axis_options |= tick_options | ({"labelExpr": tick_words} if tick_words else {})
        scale_options = {"type": "log"} if self.log else {"zero": False}
        axis_scale = alt.Scale(domain=list(self.domain), nice=self.nice, **scale_options)
        return getattr(alt, channel)(
            f"{field}:Q",
            scale=axis_scale,
            axis=alt.Axis(title=self.title, format=self.form or alt.Undefined, **axis_options),
        )

    def share(self, value: float) -> float:
        """The place of a value along the axis, from 0 to 1."""
        low, high = map(math.log, self.domain) if self.log else self.domain
        return ((math.log(value) if self.log else value) - low) / (high - low)

    def at(self, share: float) -> float:
        """The value at a place along the axis."""
        low, high = map(math.log, self.domain) if self.log else self.domain
        value = low + share * (high - low)
        return math.exp(value) if self.log else value


class Drawable(Protocol):
    """A chart of altair, of one layer or several."""

    def properties(self, **properties: object) -> Any:
        """The chart with its size, padding and such."""


def data(rows: Iterable[Mapping[str, object]]) -> Any:
    """A chart of these rows, still without a mark."""
    alt = need("altair")
    return alt.Chart(alt.InlineData(values=list(rows)))


def image(chart: Drawable, *, size: int, height: int, padding: dict[str, int], title: str, description: str) -> str:
    """The chart as SVG, with a text for screen readers, and colors that a page can change.

    Sizes are set, never measured, so that the image does not depend on installed fonts.
    """
    alt, converter = need("altair"), need("vl_convert")
    plot_width = size - padding["left"] - padding["right"]
    configured_chart = (
        chart.properties(width=plot_width, height=height, padding=padding, autosize=alt.AutoSizeParams(type="none"))
        .configure(background="transparent")
        .configure_view(stroke=None)
        .configure_axis(
            gridColor=ink("grid"),
            domain=False,
            ticks=False,
            labelColor=ink("muted"),
            titleColor=ink("muted"),
            titleFontWeight="normal",
            labelFontSize=12,
            titleFontSize=12,
            labelPadding=6,
            labelSeparation=4,
            titlePadding=8,
        )
        .configure_legend(labelColor=ink("text"), labelFontSize=12, labelLimit=0, padding=0)
    )
    svg_root = ET.fromstring(converter.vegalite_to_svg(configured_chart.to_dict(), allowed_base_urls=[]))
    _tidy(svg_root)
    for attribute_name in ("width", "height", "version"):
        svg_root.attrib.pop(attribute_name, None)
    _, _, svg_width, _ = svg_root.attrib["viewBox"].split()
    svg_root.attrib |= {"role": "img", "aria-label": title, "font-family": FONT}
    svg_root.attrib["style"] = f"max-width:{svg_width}px;width:100%;height:auto;overflow:visible"
    svg_root[:0] = [_words("title", title), _words("desc", description)]
    ET.register_namespace("", _SVG)  # register it for each image: other libraries also claim the empty prefix
    return ET.tostring(svg_root, encoding="unicode")


_INK = re.compile(r"var\(--chart-\w+,(#\w+)\)")
_NOISE = ("role", "aria-roledescription", "aria-hidden", "pointer-events", "class", "font-family")


_PLACES = {"transform", "d", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "viewBox", "fill-opacity"}
_LONG = re.compile(r"-?\d*\.\d{3,}(?:e-?\d+)?|-?\d+e-\d+")


def _hundredth(place: re.Match[str]) -> str:
    """A hundredth of a pixel; first a billionth, so that no noise decides where a place is halfway between two."""
    return str(round(round(float(place[0]), 9), 2) + 0.0).removesuffix(".0")


def _words(tag: str, text: str) -> ET.Element:
    element = ET.Element(f"{{{_SVG}}}{tag}")
    element.text = text
    return element


def _tidy(element: ET.Element) -> None:
    for child in list(element):
        is_unseen = child.get("display") == "none" or child.get("opacity") == "0" or child.get("class") == "background"
        _tidy(child)
        if is_unseen or (child.tag == f"{{{_SVG}}}g" and not len(child)):
            element.remove(child)
    aria_label = element.attrib.pop("aria-label", None)
    for attribute_name in _NOISE:
        element.attrib.pop(attribute_name, None)
    if element.get("opacity") == "1":
        del element.attrib["opacity"]
    style_parts = []
    for attribute_name in ("fill", "stroke"):
        if ink_match := _INK.fullmatch(element.get(attribute_name, "")):
            style_parts.append(f"{attribute_name}:{ink_match[0]}")
            # Viewers that do not know CSS variables ignore the style, and use this attribute.
            element.set(attribute_name, ink_match[1])
    if style_parts:
        element.set("style", ";".join(style_parts))
    if aria_label and not len(element.findall(f"{{{_SVG}}}g")):
        element.insert(0, _words("title", aria_label))
    for attribute_name in _PLACES & element.attrib.keys():
        element.set(attribute_name, _LONG.sub(_hundredth, element.attrib[attribute_name]))


INKS = {
    "text": ("#1c2024", "#e8eaed"),
    "muted": ("#5c646c", "#a3abb3"),
    "grid": ("#dfe3e6", "#33393f"),
    "estimate": ("#0072b2", "#56b4e9"),
    "pooled": ("#d55e00", "#e69f00"),
    "truth": ("#1c2025", "#e8eaee"),
}
"""Colors by role, on light and on dark. They are Okabe & Ito's, which people with any color vision tell apart.

A chart uses the style variable ``--chart-role``, which a page may set; the light color is its default.
"""

FILLS = {
    "alone": ("#a50f15", "#ff7a6b"),
    "few": ("#e6550e", "#c2592b"),
    "some": ("#fdae6b", "#7d4a2c"),
    "many": ("#c5d6e3", "#3b5365"),
    "deleted": ("#e9e9e6", "#2a2d2f"),
}
"""Colors of areas by role, on light and on dark: the fewer people, the paler the area, in gray print too.

Areas are large and lie side by side, so they need less contrast with the paper than letters.
"""


def ink(role: str) -> str:
    """The color of a role: the one that the page sets, otherwise the light one.

    Examples
    --------
    >>> ink("estimate")
    'var(--chart-estimate,#0072b2)'
    """
    return f"var(--chart-{role},{(INKS | FILLS)[role][0]})"


# Unicode isolates: left to right, right to left, and their end
_LEFT_TO_RIGHT, _RIGHT_TO_LEFT, _ISOLATE_END = "\u2066\u2067\u2069"


def label_line(label: Label) -> str:
    """The label as one line of text; a pair of categories is joined by ×."""
    return " ".join("".join(c if c.isprintable() else " " for c in _checks.label(label)).split())


def width(text: str) -> float:
    """The width of a text in ordinary letters: East Asian characters count nearly two, combining marks nothing."""
    return sum(map(_width, text))


def _width(character: str) -> float:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return 0.0
    return 1.8 if unicodedata.east_asian_width(character) in "WF" else 1.0


def wrapped_lines(text: str, room: float, *, lines: int = 3) -> list[str]:
    """The text in at most this many lines of this width; an ellipsis shows that it was cut."""
    text_lines: list[str] = []
    text_left = text
    while text_left and len(text_lines) < lines:
        line = _cut(text_left, room)
        text_left = text_left[len(line) :].strip()
        text_lines.append(line.strip())
    if text_left:
        text_lines[-1] = short_text(text_lines[-1] + " " + text_left, room)
    return text_lines or [""]


def short_text(text: str, room: float) -> str:
    """The text; or as much of it as fits, with an ellipsis."""
    if width(text) <= room:
        return text
    return _fitting(text, room - 1).rstrip() + "…"


def _cut(text: str, room: float) -> str:
    """As much of the text as fits; it is cut at a space if one is in the second half of that part."""
    fitting_text = _fitting(text, room)
    if len(fitting_text) == len(text) or text[len(fitting_text)].isspace():
        return fitting_text
    space_place = fitting_text.rfind(" ")
    return fitting_text[:space_place] if space_place > len(fitting_text) // 3 else fitting_text


def _fitting(text: str, room: float) -> str:
    fitting_letters = sum(width_used <= room for width_used in itertools.accumulate(map(_width, text)))
    # Keep at least one letter, even if it is too wide: otherwise wrapping would never end.
    return text[: max(fitting_letters, 1)]


def isolated_line(line: str, whole_label: str) -> str:
    """The line in the writing direction of the whole label, isolated from the text around it."""
    directions = (kind for kind in map(unicodedata.bidirectional, whole_label) if kind in ("L", "R", "AL"))
    return (_LEFT_TO_RIGHT if next(directions, "L") == "L" else _RIGHT_TO_LEFT) + line + _ISOLATE_END
