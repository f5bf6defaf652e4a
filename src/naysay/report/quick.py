"""Charts that are drawn at once, for pages that are made while somebody waits; they fit any width.

Positions across are percentages, and words are the page's own. So letters keep their size on a phone, and one image
serves all screens. Colors come from the style sheet `style`; without scripts and style attributes, the strictest
content policy holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from naysay.printing.html import template
from naysay.report.finish import INKS
from naysay.report.rows import Mark

__all__ = ["columns", "rows", "style"]

_TICKS = 5
_FEW = 8  # columns: fewer do not fill the width, since a single day is no wall
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class _Placed:
    """A mark in a row, in percent of its width."""

    role: str
    at: float | None
    low: float | None = None
    high: float | None = None


def style() -> str:
    """The style sheet of these charts, and of pages of results, in light, in dark and in print."""
    return template("naysay.report", "quick.css", inks=INKS)


def rows(
    names: Sequence[str],
    marks: Sequence[Mark],
    *,
    title: str,
    band: ArrayLike | None = None,
    bars: bool = False,
    percent: bool = True,
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

    Examples
    --------
    >>> drawn = rows(("<yes>", "no"), [Mark("estimate", "estimate", (0.3, 0.7), ((0.2, 0.4), (0.6, 0.8)))], title="A")
    >>> "&lt;yes&gt;" in drawn, "30.0 %" in drawn, "style=" in drawn
    (True, True, False)
    """
    behind = None if band is None else np.asarray(band, dtype=float)
    ends = [each for mark in marks for each in (mark.values, mark.bounds) if each is not None]
    scale = _Scale.around(np.concatenate([np.ravel(each) for each in [*ends, *([] if behind is None else [behind])]]))
    first = marks[0]
    values = np.asarray(first.values, dtype=float)
    told = [
        {
            "name": name,
            "value": _told(float(values[row]), percent=percent),
            "range": None if first.bounds is None else _range(np.asarray(first.bounds)[row], percent=percent),
            "bar": scale.span(0.0, float(values[row])) if bars else None,
            "band": None if behind is None else scale.span(*behind[row].tolist()),
            "marks": [scale.placed(mark, row) for mark in (marks[1:] if bars and first.bounds is None else marks)],
        }
        for row, name in enumerate(names)
    ]
    description = "; ".join(f"{each['name']}: {each['value']}" for each in told)
    ticks = [
        (scale.place(tick), _told(tick, percent=percent, places=scale.places(percent=percent))) for tick in scale.ticks
    ]
    legend = [(mark.role, mark.name) for mark in marks] if len(marks) > 1 else []
    return template(
        "naysay.report", "quick_rows.html", rows=told, ticks=ticks, legend=legend, title=title, description=description
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
    counts = np.array([list(each) for each in parts.values()], dtype=float)
    totals = counts.sum(axis=0)
    scale = _Scale.around(totals)
    height, width = 120.0, 100 / max(len(names), _FEW)
    unit = height / (scale.high or 1)
    drawn, tops = [], np.zeros(len(names))
    for part, (name, own) in enumerate(zip(parts, counts, strict=True)):
        for place, count in enumerate(own.tolist()):
            tops[place] += count
            if count:
                told = f"{names[place]}: {count:,.0f}" + (f" · {name}" if len(parts) > 1 else "")
                drawn.append(
                    (place * width + 0.1 * width, height - tops[place] * unit, 0.8 * width, count * unit, part, told)
                )
    step = max(1, math.ceil(len(names) / 6))
    labels = [((place + 0.5) * width, name) for place, name in enumerate(names) if place % step == 0]
    ticks = [(height - tick * unit, f"{tick:,.0f}") for tick in scale.ticks if tick == round(tick)]
    most = int(totals.max()) if len(names) else 0
    return template(
        "naysay.report",
        "quick_columns.html",
        **{"drawn": drawn, "labels": labels, "ticks": ticks, "height": height, "title": title},
        legend=list(enumerate(parts)) if len(parts) > 1 else [],
        description=f"{totals.sum():,.0f} in {len(names)} columns, at most {most:,} in one",
    ).strip()


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float
    ticks: Sequence[float]

    @classmethod
    def around(cls, values: Any) -> _Scale:
        """A scale that holds zero and all these values, with round ticks."""
        known = np.asarray(values, dtype=float)
        known = known[np.isfinite(known)]
        low, high = min(0.0, *known.tolist(), 0.0), max(0.0, *known.tolist(), 0.0)
        reach = (high - low) or 1.0
        size = 10 ** math.floor(math.log10(reach / _TICKS))
        step = next(size * each for each in _STEPS if reach / (size * each) <= _TICKS)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) or 1
        return cls(first * step, last * step, [round(tick * step, 12) for tick in range(first, last + 1)])

    def places(self, *, percent: bool) -> int:
        """Decimals with which ticks differ."""
        step = (self.ticks[1] - self.ticks[0]) * (100 if percent else 1)
        return next(places for places in range(10) if abs(round(step, places) - step) < 1e-9)

    def place(self, value: float) -> float:
        return round(100 * (value - self.low) / (self.high - self.low), 3)

    def span(self, start: float, end: float) -> tuple[float, float] | None:
        if not (math.isfinite(start) and math.isfinite(end)):
            return None
        low, high = sorted((self.place(start), self.place(end)))
        return low, round(high - low, 3)

    def placed(self, mark: Mark, row: int) -> _Placed:
        value = float(np.asarray(mark.values, dtype=float)[row])
        ends = (math.nan, math.nan) if mark.bounds is None else np.asarray(mark.bounds, dtype=float)[row].tolist()
        at, low, high = (self.place(each) if math.isfinite(each) else None for each in (value, *ends))
        return _Placed(mark.role, at, low, high)


def _told(value: float, *, percent: bool, places: int | None = None) -> str:
    if not math.isfinite(value):
        return "–"
    if percent:
        return f"{100 * value:.{1 if places is None else places}f} %".replace("-", "−")
    return (f"{value:,.4g}" if places is None else f"{value:,.{places}f}").replace("-", "−")


def _range(ends: Any, *, percent: bool) -> str | None:
    low, high = (float(each) for each in ends)
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    return f"{_told(low, percent=percent).removesuffix(' %')} to {_told(high, percent=percent)}"
