"""Charts of plans: precision against privacy, and error against the number of respondents."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from naysay.errors import DataError
from naysay.planning import Comparison, Option
from naysay.printing.extra import need
from naysay.report import finish, labels
from naysay.report.inks import INKS

__all__ = ["MEASURES", "errors", "tradeoff"]

MEASURES = {
    "bits": "bits that an answer tells",
    "epsilon": "ε, in nats",
    "still_possible": "fewest categories left",
    "largest_odds": "largest posterior over prior odds",
}
"""Measures of privacy that a trade-off can be drawn against."""

_LOGARITHMIC = ("largest_odds",)
_HEIGHT = 260
_LETTER, _LINE = 6.3, 15
_NEAR, _FAR = 10, 500  # ratios of the ends of a logarithmic axis


class _Point(NamedTuple):
    name: str
    x: float
    y: float


def tradeoff(found: Comparison, *, measure: str = "bits", size: int = 640) -> str:
    """An SVG image of the standard error against a measure of privacy, one point for each design.

    Parameters
    ----------
    found : Comparison
    measure : {"bits", "epsilon", "still_possible", "largest_odds"}
        Designs for which it is infinite or was not computed are left out.
    size : int
        Width in pixels at which text has its natural size.

    Raises
    ------
    DataError
        An unknown measure, or one that is finite for no design.
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> found = planning.compare([designs.warner(p=p) for p in (0.6, 0.8)], (0.1, 0.9))
    >>> svg = tradeoff(found)
    >>> svg[:4], "warner(p=0.8)" in svg
    ('<svg', True)
    """
    if measure not in MEASURES:
        raise DataError(f"a trade-off is drawn against {', '.join(MEASURES)}; got {measure!r}")
    points = [
        _Point(option.name, _of(option, measure), option.standard_error)
        for option in _randomized(found)
        if math.isfinite(_of(option, measure))
    ]
    if not points:
        raise DataError(f"{measure} is infinite for all of these designs; draw another measure of privacy")
    heading = f"standard error of {found.category} against {MEASURES[measure]}, {found.n:,} respondents"
    return _scatter(points, heading, measure, size=size)


def _randomized(found: Comparison) -> list[Option]:
    """The designs themselves, without the direct question that they are compared with."""
    return list(found.options[0 if found.liars is None else 1 :])


def _of(option: Option, measure: str) -> float:
    return float(option.still_possible[0] if measure == "still_possible" else getattr(option, measure))


def _scatter(points: list[_Point], title: str, measure: str, *, size: int) -> str:
    alt = need("altair")
    logarithmic, axis = measure in _LOGARITHMIC, MEASURES[measure]
    left, right = 66, math.ceil(min(26.0, max(labels.width(point.name) for point in points)) * _LETTER) + 20
    width = size - left - right
    low, high = _range([point.x for point in points], logarithmic=logarithmic)
    x_scale = alt.Scale(type="log" if logarithmic else "linear", domain=[low, high], nice=False, zero=False)
    top = max(point.y for point in points) * 1.08
    y_scale = alt.Scale(domain=[0, top], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=_axis(measure, low, high))
    y = alt.Y("y:Q", scale=y_scale, axis=alt.Axis(title="standard error", tickCount=5, format=".3~f"))
    rows = [
        {"x": point.x, "y": point.y, "told": f"{point.name}: standard error {point.y:.4f}, {axis} {point.x:.4g}"}
        for point in points
    ]
    words = _placed(points, lambda value: width * _share(value, low, high, logarithmic=logarithmic), top)
    data = alt.Chart(alt.InlineData(values=rows))
    marks = data.mark_point(filled=True, opacity=1, size=64, color=INKS["estimate"][0]).encode(
        x=x, y=y, description="told:N"
    )
    named = (
        alt.Chart(alt.InlineData(values=words))
        .mark_text(align="left", baseline="middle", dx=9, fontSize=12, color=INKS["text"][0])
        .encode(x=x, y=y, text="label:N", description="told:N")
    )
    padding = {"left": left, "right": right, "top": 12, "bottom": 48}
    drawn = finish.drawn(alt.layer(marks, named), width=width, height=_HEIGHT, padding=padding)
    return finish.accessible(drawn, title, "; ".join(str(row["told"]) for row in rows))


def _axis(measure: str, low: float, high: float) -> Any:
    alt = need("altair")
    if measure == "still_possible":
        whole = list(range(math.ceil(low), math.floor(high) + 1))
        return alt.Axis(title=MEASURES[measure], grid=False, format="d", values=whole)
    if measure in _LOGARITHMIC:
        values = _ticks(low, high)
        marked = {"values": values} if len(values) > 1 else {"tickCount": 6}
        return alt.Axis(title=MEASURES[measure], grid=False, format="~g", **marked)
    return alt.Axis(title=MEASURES[measure], grid=False, tickCount=6)


def _range(values: list[float], *, logarithmic: bool) -> tuple[float, float]:
    """The ends of an axis, with some room beside the outermost points."""
    low, high = min(values), max(values)
    if logarithmic:
        room = (high / low) ** 0.05 if high > low else 1.5
        return low / room, high * room
    room = (high - low) * 0.05 if high > low else max(abs(high), 1.0) * 0.5
    return max(0.0, low - room) if low >= 0 else low - room, high + room


def _share(value: float, low: float, high: float, *, logarithmic: bool) -> float:
    if logarithmic:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def _placed(points: list[_Point], pixels: Any, top: float) -> list[dict[str, Any]]:
    """A label right of each point, moved up where it would cover another label."""
    taken: list[tuple[float, float, float]] = []
    words = []
    for point in sorted(points, key=lambda each: each.y):
        text = labels.shortened(point.name, 26)
        start, height = pixels(point.x), point.y / top * _HEIGHT
        end = start + labels.width(text) * _LETTER + 18
        for a, b, level in sorted(taken, key=lambda each: each[2]):
            if start < b and a < end and abs(level - height) < _LINE:
                height = level + _LINE
        taken.append((start, end, height))
        shown = labels.isolated(text, point.name)
        words.append({"x": point.x, "y": height / _HEIGHT * top, "label": shown, "told": point.name})
    return words


def errors(found: Comparison, *, size: int = 640) -> str:
    """An SVG image of the error against the number of respondents, one line for each design.

    With liars the direct question is the dashed line: it levels off at its bias, and where a design falls below it,
    randomizing pays.

    Parameters
    ----------
    found : Comparison
    size : int
        Width in pixels at which text has its natural size.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> found = planning.compare([designs.warner(p=0.8)], (0.1, 0.9), liars=planning.Liars(0.5))
    >>> svg = errors(found)
    >>> svg[:4], "root mean square error" in svg
    ('<svg', True)
    """
    numbers = _numbers(found)
    rows, ends = _lines(found, numbers)
    left, right = 66, math.ceil(min(26.0, max(labels.width(option.name) for option in found.options)) * _LETTER) + 20
    kind = "standard error" if found.liars is None else "root mean square error"
    values = [row["y"] for row in rows]
    low, high = min(values) / 1.15, max(values) * 1.15
    heights = finish.apart([math.log(end["y"]) for end in ends], math.log(high / low) * _LINE / _HEIGHT)
    named = [end | {"y": math.exp(height)} for end, height in zip(ends, heights.tolist(), strict=True)]
    padding = {"left": left, "right": right, "top": 12, "bottom": 48}
    chart = _curves(rows, named, _log_axes(numbers, low, high, kind))
    drawn = finish.drawn(chart, width=size - left - right, height=_HEIGHT, padding=padding)
    title = f"{kind} of {found.category} against the number of respondents"
    return finish.accessible(drawn, title, "; ".join(end["told"] for end in ends))


def _log_axes(numbers: list[float], low: float, high: float, kind: str) -> tuple[Any, Any]:
    """Respondents and error, both on logarithmic scales, where an error that falls with √n is a straight line."""
    alt = need("altair")
    x = alt.X(
        "n:Q",
        scale=alt.Scale(type="log", domain=[numbers[0], numbers[-1]], nice=False),
        axis=alt.Axis(title="respondents", grid=False, format=",d", values=_ticks(numbers[0], numbers[-1])),
    )
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(title=kind, format=".3~f", values=_ticks(low, high)),
    )
    return x, y


def _curves(rows: list[dict[str, Any]], named: list[dict[str, Any]], axes: tuple[Any, Any]) -> Any:
    """Lines, that of the direct question dashed, with names at their ends."""
    alt = need("altair")
    x, y = axes
    data = alt.Chart(alt.InlineData(values=rows))
    lines = [
        data.transform_filter(f"datum.direct == {str(direct).lower()}")
        .mark_line(color=INKS[ink][0], strokeWidth=2, strokeDash=dash)
        .encode(x=x, y=y, detail="name:N")
        for direct, ink, dash in ((False, "estimate", [1, 0]), (True, "pooled", [6, 4]))
    ]
    words = (
        alt.Chart(alt.InlineData(values=named))
        .mark_text(align="left", baseline="middle", dx=8, fontSize=12, color=INKS["text"][0])
        .encode(x=x, y=y, text="label:N", description="told:N")
    )
    return alt.layer(*lines, words)


def _numbers(found: Comparison) -> list[float]:
    """Numbers of respondents to draw: a decade around what was asked, and around where randomizing pays."""
    pays = [float(option.pays_from) for option in found.options if option.pays_from is not None]
    wanted = [float(found.n), *(n for n in pays if n > 1)]
    low, high = max(10.0, min(wanted) / 10), min(max(wanted) * 10, found.n * 1e4)
    return [float(value) for value in np.geomspace(low, high, 60)]


def _ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten; powers of ten alone where there would be many, more where few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1,) if high / low > _FAR else (1, 2, 5) if high / low > _NEAR else (1, 2, 3, 5, 7)
    return [step * 10.0**power for power, step in itertools.product(powers, steps) if low <= step * 10.0**power <= high]


def _lines(found: Comparison, numbers: list[float]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Points of the lines, and their ends with names."""
    rows: list[dict[str, Any]] = []
    ends: list[dict[str, Any]] = []
    for place, option in enumerate(found.options):
        direct = found.liars is not None and place == 0
        own = [math.hypot(option.bias, option.deviation / math.sqrt(n)) for n in numbers]
        rows += [
            {"n": n, "y": value, "name": option.name, "direct": direct} for n, value in zip(numbers, own, strict=True)
        ]
        pays = "" if direct or option.pays_from is None else f", pays from {option.pays_from:,} respondents"
        told = f"{option.name}: {option.rmse:.4f} with {found.n:,} respondents{pays}"
        shown = labels.isolated(labels.shortened(option.name, 26), option.name)
        ends.append({"n": numbers[-1], "y": own[-1], "label": shown, "told": told})
    return rows, ends
