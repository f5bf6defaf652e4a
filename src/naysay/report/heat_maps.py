"""Heat maps: a table of shares as a grid, darker where more people are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from naysay.errors import need
from naysay.report import finish
from naysay.report.finish import LETTER, LINE, data, image, ink

__all__ = ["heat_map"]

_CELL = 44  # height of a row
_FULL = 0.6  # how dark the fullest cell is: letters stay legible on it


def heat_map(
    rows: Sequence[Any],
    columns: Sequence[Any],
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
    >>> svg[:4], "yes, m: 20.0%" in svg
    ('<svg', True)
    """
    alt = need("altair")
    shares = np.asarray(values, dtype=float)
    across = [finish.full(each) for each in columns]
    down = [finish.full(each) for each in rows]
    fitted = [finish.shortened(each, room) for each in down]
    left = math.ceil(max(map(finish.width, fitted)) * LETTER) + 24
    width = (size - left - 8) / len(across)
    height = _CELL * len(down)
    top = 2 * LINE + 12
    largest = most if most is not None else float(np.nanmax(shares, initial=0.0))
    cells: list[dict[str, Any]] = []
    for i, j in itertools.product(range(len(down)), range(len(across))):
        share = float(shares[i, j])
        if math.isnan(share):
            continue
        said = told[i][j] if told else f"{share:.1%}"
        cells.append(
            {
                "x": j * width + 1,
                "x2": (j + 1) * width - 1,
                "y": i * _CELL + 1,
                "y2": (i + 1) * _CELL - 1,
                "dark": 0.04 + (_FULL - 0.04) * max(share, 0.0) / max(largest, 1e-12),
                "share": f"{100 * share:.1f}",
                "told": f"{down[i]}, {across[j]}: {said}",
            }
        )

    def place(channel: str, field: str, end: float) -> Any:
        scale = alt.Scale(domain=[0, end], range=[0, end], nice=False, zero=False)
        return getattr(alt, channel)(f"{field}:Q", scale=scale, axis=None)

    x, y = place("X", "x", size - left - 8), place("Y", "y", height)
    boxes = (
        data(cells)
        .mark_rect(color=ink("estimate"))
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", fillOpacity=alt.FillOpacity("dark:Q", scale=None), description="told:N")
    )
    middles = [cell | {"x": (cell["x"] + cell["x2"]) / 2, "y": (cell["y"] + cell["y2"]) / 2} for cell in cells]
    numbers = data(middles).mark_text(fontSize=12, color=ink("text"), aria=False).encode(x=x, y=y, text="share:N")
    heads = [
        {"x": (j + 0.5) * width, "y": -10, "label": finish.shortened(each, max(width / LETTER - 1, 2)), "told": each}
        for j, each in enumerate(across)
    ]
    sides = [
        {"x": -8, "y": (i + 0.5) * _CELL, "label": finish.isolated(own, each), "told": each}
        for i, (own, each) in enumerate(zip(fitted, down, strict=True))
    ]
    named = [{"x": 0, "y": -10 - LINE - 4, "label": " × ".join(filter(None, names)), "told": title}]
    words = [
        data(heads).mark_text(fontSize=12, color=ink("text")),
        data(sides).mark_text(fontSize=12, color=ink("text"), align="right"),
        data(named).mark_text(fontSize=12, color=ink("muted"), align="left"),
    ]
    written = [each.encode(x=x, y=y, text="label:N", description="told:N") for each in words]
    description = "; ".join(str(cell["told"]) for cell in cells)
    padding = {"left": left, "right": 8, "top": top, "bottom": 8}
    return image(
        alt.layer(boxes, numbers, *written),
        size=size,
        height=height,
        padding=padding,
        title=title,
        description=description,
    )
