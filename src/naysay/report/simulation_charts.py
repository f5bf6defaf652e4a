"""Charts of simulations: a measure of each estimator, category by category, with its Monte Carlo error."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from naysay.errors import DataError
from naysay.printing.extra import need
from naysay.report import charts, finish, labels
from naysay.report.inks import INKS
from naysay.simulate import Simulation

__all__ = ["measure", "spread"]

_LINE, _LETTER = 15, 6.3
_STYLES = (
    ("estimate", "circle"),
    ("pooled", "diamond"),
    ("text", "square"),
    ("muted", "triangle-up"),
    ("estimate", "cross"),
    ("pooled", "triangle-down"),
)
_AXES = {
    "bias": "bias, points",
    "standard_deviation": "standard deviation, points",
    "rmse": "root mean square error, points",
    "mean_standard_error": "mean standard error, points",
    "coverage": "coverage of the intervals",
    "width": "width of the intervals, points",
}


def spread(found: Simulation, estimator: str, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of the truth beside where the estimates fell: their mean, and the middle 95 of 100.

    Parameters
    ----------
    found : Simulation
    estimator : str
    size : int
        Width in pixels at which text has its natural size.
    room : int
        Letters in a line of a label.

    Raises
    ------
    DataError
        An estimator that was not simulated.
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, simulate
    >>> found = simulate.replicate(designs.two_coins(), (0.2, 0.8), n=100, replicates=50, seed=1)
    >>> spread(found, "moments")[:4]
    '<svg'
    """
    found.summary(estimator)
    estimates = found.runs[estimator].proportions
    estimates = estimates[np.isfinite(estimates).all(axis=1)]
    middle = np.quantile(estimates, [0.025, 0.975], axis=0).T
    marks = [
        charts.Mark("truth", "truth", found.truth),
        charts.Mark("estimate", f"{estimator}: mean and 95 of 100", estimates.mean(axis=0), middle),
    ]
    title = f"{estimator}: {len(estimates):,} estimates beside the truth"
    return charts.dots(found.categories, marks, title=title, size=size, room=room, axis="share")


class _Row(NamedTuple):
    category: str
    estimator: str
    value: float
    error: float
    y: float


def measure(found: Simulation, name: str, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of one measure: a mark for each estimator in each category, with twice its Monte Carlo error.

    Parameters
    ----------
    found : Simulation
        With at most six estimators.
    name : {"bias", "standard_deviation", "rmse", "mean_standard_error", "coverage", "width"}
    size : int
        Width in pixels at which text has its natural size.
    room : int
        Letters in a line of a label.

    Raises
    ------
    DataError
        An unknown measure.
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, simulate
    >>> found = simulate.replicate(designs.two_coins(), (0.2, 0.8), n=100, replicates=50, seed=1)
    >>> svg = measure(found, "coverage")
    >>> svg[:4], "coverage of the intervals" in svg
    ('<svg', True)
    """
    if name not in _AXES:
        raise DataError(f"the measures are {', '.join(_AXES)}; got {name!r}")
    estimators = list(found.runs)
    names = [labels.full(category) for category in found.categories]
    lines = [labels.wrapped(each, room) for each in names]
    heights = [max(_LINE * max(2, len(own)), 11 * len(estimators)) + 10 for own in lines]
    middles = np.cumsum(heights) - np.array(heights) / 2
    rows = _rows(found, name, names, middles)
    left = math.ceil(max(labels.width(line) for own in lines for line in own) * _LETTER) + 16
    beside = _beside(estimators, size - left)
    frame = _Frame(estimators, np.cumsum(heights).tolist(), beside)
    chart = _layers(rows, charts._words(names, lines, middles), frame, found, name)
    padding = {"left": left, "right": 22, "top": 16 + 18 * -(-len(estimators) // beside), "bottom": 48}
    drawn = finish.drawn(chart, width=size - left - 22, height=int(sum(heights)), padding=padding)
    title = f"{_AXES[name]}, {found.replicates:,} surveys"
    return finish.accessible(drawn, title, "; ".join(_told(row, name) for row in rows))


def _beside(estimators: list[str], room: float) -> int:
    """How many names of the legend fit beside one another."""
    widest = max(labels.width(name) for name in estimators) * _LETTER + 26
    return max(1, min(len(estimators), int(room / widest)))


class _Frame(NamedTuple):
    """What stands around the marks: names in the legend, ends of the rows, names beside one another."""

    estimators: list[str]
    ends: list[float]
    beside: int


def _rows(found: Simulation, name: str, names: list[str], middles: Any) -> list[_Row]:
    result = []
    for place, summary in enumerate(found.summaries):
        each = getattr(summary, name)
        offset = 11.0 * (place - (len(found.runs) - 1) / 2)
        for category, value, error, y in zip(names, each.values, each.errors, middles, strict=True):
            if math.isfinite(value):
                result.append(_Row(category, summary.estimator, float(value), float(error), float(y + offset)))
    return result


def _told(row: _Row, name: str) -> str:
    error = 0.0 if math.isnan(row.error) else row.error
    if name == "coverage":
        return f"{row.category}: {row.estimator} {row.value:.1%} ± {error:.1%}"
    return f"{row.category}: {row.estimator} {100 * row.value:.2f} ± {100 * error:.2f} points"


def _layers(rows: list[_Row], words: list[dict[str, Any]], frame: _Frame, found: Simulation, name: str) -> Any:
    """The line that is aimed at, rules between rows, Monte Carlo errors, marks, labels."""
    alt = need("altair")
    values = [_plain(row, name, 1.0 if name == "coverage" else 100.0) for row in rows]
    aim = {"coverage": found.confidence, "bias": 0.0}.get(name)
    low, high = _domain(values, aim, zero=name not in ("coverage", "bias"))
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[frame.ends[-1], 0], nice=False, zero=False), axis=None)
    between = alt.Chart(alt.InlineData(values=[{"y": end} for end in frame.ends[:-1]]))
    line = alt.Chart(alt.InlineData(values=[] if aim is None else [{"aim": aim}]))
    named = alt.Chart(alt.InlineData(values=words))
    return alt.layer(
        between.mark_rule(color=INKS["grid"][0], strokeWidth=1, aria=False).encode(y=y),
        line.mark_rule(color=INKS["truth"][0], strokeWidth=1.5, aria=False).encode(x=alt.X("aim:Q", scale=scale)),
        *_marks(values, frame, scale, y, name),
        named.mark_text(align="right", lineBreak="\n", lineHeight=_LINE, fontSize=12, color=INKS["text"][0]).encode(
            x=alt.value(-10), y=y, text="label:N", description="told:N"
        ),
    )


def _marks(values: list[dict[str, Any]], frame: _Frame, scale: Any, y: Any, name: str) -> list[Any]:
    """Monte Carlo errors and the marks of the estimators, told apart by color and shape."""
    alt = need("altair")
    styles = [_STYLES[place % len(_STYLES)] for place in range(len(frame.estimators))]
    colors = alt.Scale(domain=frame.estimators, range=[INKS[ink][0] for ink, _ in styles])
    shapes = alt.Scale(domain=frame.estimators, range=[shape for _, shape in styles])
    legend = alt.Legend(orient="top", title=None, direction="horizontal", columns=frame.beside, symbolSize=80, offset=8)
    form = ".0%" if name == "coverage" else ".3~f"
    axis = alt.Axis(format=form, tickCount=6, title=_AXES[name], labelFlush=False)
    color = alt.Color("estimator:N", scale=colors, legend=legend)
    shape = alt.Shape("estimator:N", scale=shapes, legend=legend)
    data = alt.Chart(alt.InlineData(values=values))
    low, value = (alt.X(each, scale=scale, axis=axis) for each in ("low:Q", "value:Q"))
    return [
        data.mark_rule(strokeWidth=2).encode(x=low, x2="high:Q", y=y, color=color, description="told:N"),
        data.mark_point(filled=True, opacity=1, size=56).encode(
            x=value, y=y, color=color, shape=shape, description="told:N"
        ),
    ]


def _plain(row: _Row, name: str, unit: float) -> dict[str, Any]:
    error = 0.0 if math.isnan(row.error) else 2 * row.error
    low, high = row.value - error, row.value + error
    if name == "coverage":
        low, high = max(low, 0.0), min(high, 1.0)
    return {
        "estimator": row.estimator,
        "y": row.y,
        "value": unit * row.value,
        "low": unit * low,
        "high": unit * high,
        "told": _told(row, name),
    }


def _domain(values: list[dict[str, Any]], aim: float | None, *, zero: bool) -> tuple[float, float]:
    aims = [] if aim is None else [aim]
    low = min([row["low"] for row in values] + aims + ([0.0] if zero else []))
    high = max([row["high"] for row in values] + aims)
    room = max(high - low, 1e-6) * 0.04
    return (low if zero and low == 0 else low - room), high + room
