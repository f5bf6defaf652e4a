"""Charts as SVG text, drawn offline. They work in color, in print, in dark mode and for screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from naysay.report import finish
from naysay.report.finish import Axis
from naysay.report.lines import Line, lines
from naysay.report.rows import Mark, marks_in_rows

__all__ = ["Mark", "changes", "convergence", "differences", "dots"]


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
    categories: Sequence[Any],
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
    true = np.asarray(truth, dtype=float)
    moved = [Mark("truth", "truth", np.zeros_like(true))]
    for mark in marks:
        bounds = None if mark.bounds is None else np.asarray(mark.bounds, dtype=float) - true[:, None]
        moved.append(replace(mark, values=np.asarray(mark.values, dtype=float) - true, bounds=bounds))
    axis = "distance from the truth, points"
    return _image(categories, moved, title, axis, signed=True, size=size, room=room, labeled=labeled)


def changes(
    categories: Sequence[Any], change: ArrayLike, bounds: ArrayLike, *, title: str, size: int = 640, room: int = 26
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
    categories: Sequence[Any], marks: Sequence[Mark], title: str, axis: str, *, signed: bool = False, **layout: Any
) -> str:
    """An image of shares, or of signed distances between shares, in rows."""

    def words(value: float, digits: int = 2) -> str:
        return f"{100 * value:+.{digits}f} points" if signed else f"{value:.{digits}%}"

    def tips(mark: Mark) -> list[str]:
        told = [words(value) for value in np.asarray(mark.values, dtype=float).tolist()]
        if mark.bounds is None:
            return told
        bounds = np.asarray(mark.bounds, dtype=float).tolist()
        return [f"{one}, {words(low)} to {words(high)}" for one, (low, high) in zip(told, bounds, strict=True)]

    drawn = [replace(mark, told=mark.told or tips(mark)) for mark in marks]
    description = "; ".join(
        f"{finish.full(category)}: "
        + ", ".join(f"{mark.name} {words(float(np.asarray(mark.values)[row]), 1)}" for mark in marks)
        for row, category in enumerate(categories)
    )
    return marks_in_rows(
        categories, drawn, _shares(marks, axis, signed=signed), title=title, description=description, **layout
    )


def _shares(marks: Sequence[Mark], title: str, *, signed: bool) -> Axis:
    """The axis for all marks and intervals; it includes zero."""
    ends = np.concatenate([np.ravel(each) for mark in marks for each in (mark.values, mark.bounds) if each is not None])
    low, high = min(0.0, float(np.nanmin(ends))), max(0.01, float(np.nanmax(ends)))
    nice = low == 0  # rounding the ends would add a whole step of the axis for a bound just below zero
    if signed or not nice:  # leave a margin, so that no mark lies on the edge
        room = (high - low) / (25 if signed else 50)
        low, high = low - room, high + room
    words = "datum.value == 0 ? '0' : format(100 * datum.value, '+.2~f')" if signed else None
    return Axis(title, (low, high), f".{0 if high - low > 0.05 else 1}%", nice=nice, words=words)


def convergence(path: ArrayLike, categories: Sequence[Any], *, title: str, size: int = 640) -> str:
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
    shares = steps / steps.sum(axis=1, keepdims=True)
    kept = np.unique(np.geomspace(1, len(shares), min(len(shares), 60)).round().astype(int)) - 1
    drawn = [
        Line(name, kept + 1, own[kept], f"{name}: {own[-1]:.2%}")
        for name, own in zip(map(finish.full, categories), shares.T, strict=True)
    ]
    x = Axis("step", (1, float(kept[-1]) + 1), "~s", ticks=10, log=True)
    y = Axis(None, (0, max(float(shares[kept].max()), 0.01)), ".0%", room=48)
    told = f"{len(steps) - 1} steps of the iteration"
    return lines(drawn, x, y, title=title, description=told, size=size, height=220, letters=18)
