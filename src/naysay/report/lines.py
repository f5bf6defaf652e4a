"""Lines and points over two axes, each with its name at its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from naysay.errors import need
from naysay.report import finish
from naysay.report.finish import LETTER, LINE, Axis, apart, data, image, ink

__all__ = ["Line", "lines"]


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
    right = math.ceil(min(letters, max(finish.width(line.name) for line in drawn)) * LETTER) + 20
    across, up, color = x.encoded("X", "x", grid=False), y.encoded("Y", "y"), alt.Color("ink:N", scale=None)
    points = data(row for place, line in enumerate(drawn) for row in _rows(line, place))
    named = data(_names(drawn, x, y, (size - y.room - right, height), letters))
    dash = alt.StrokeDash("dash", scale=None, type="nominal")
    chart = alt.layer(
        *_bands(drawn, across, y, color),
        points.mark_line(strokeWidth=2, aria=False).encode(
            x=across, y=up, detail="line:N", color=color, strokeDash=dash
        ),
        points.transform_filter("datum.told != ''")
        .mark_point(filled=True, opacity=1, size=56)
        .encode(x=across, y=up, color=color, description="told:N"),
        named.mark_text(align="left", baseline="middle", dx=9, fontSize=12, color=ink("text")).encode(
            x=across, y=up, text="label:N", description="told:N"
        ),
    )
    padding = {"left": y.room, "right": right, "top": 12, "bottom": 48}
    return image(chart, size=size, height=height, padding=padding, title=title, description=description)


def _bands(drawn: Sequence[Line], across: Any, y: Axis, color: Any) -> list[Any]:
    """The areas around those lines that have bounds."""
    ends = [
        {"x": x, "low": low, "high": high, "line": place, "ink": ink(line.role)}
        for place, line in enumerate(drawn)
        if line.bounds is not None
        for (x, _), (low, high) in zip(line.places, np.asarray(line.bounds, dtype=float).tolist(), strict=True)
        if low <= high
    ]
    area = data(ends).mark_area(opacity=0.2, aria=False)
    return [area.encode(x=across, y=y.encoded("Y", "low"), y2="high:Q", detail="line:N", color=color)] if ends else []


def _rows(line: Line, place: int) -> list[dict[str, Any]]:
    shared = {"line": place, "ink": ink(line.role), "dash": [6, 4] if line.dashed else [1, 0]}
    told = line.points or [""] * len(line.places)
    return [{"x": x, "y": y, "told": said} | shared for (x, y), said in zip(line.places, told, strict=True)]


def _names(drawn: Sequence[Line], x: Axis, y: Axis, size: tuple[int, int], letters: int) -> list[dict[str, Any]]:
    """The names of lines, drawn at their ends."""
    ends = [line.places[-1] for line in drawn]
    shown = [finish.shortened(line.name, letters) for line in drawn]
    starts = [x.share(across) * size[0] for across, _ in ends]
    spans = [(start, start + finish.width(name) * LETTER + 18) for start, name in zip(starts, shown, strict=True)]
    heights = apart([y.share(up) for _, up in ends], LINE / size[1], spans).tolist()
    return [
        {"x": across, "y": y.at(share), "label": finish.isolated(name, line.name), "told": line.told}
        for line, name, (across, _), share in zip(drawn, shown, ends, heights, strict=True)
    ]
