"""Charts of simulations: measures of each estimator by category, with Monte Carlo errors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from naysay.errors import DataError
from naysay.show import Chart, Content, Points, Table, charts, finish
from naysay.show.finish import Axis
from naysay.show.page import Section, html
from naysay.show.rows import Mark, marks_in_rows
from naysay.simulate import Simulation

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


def spread(simulation: Simulation, estimator: str, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of the truth and the estimates: their mean, and the range of the middle 95 %.

    Parameters
    ----------
    simulation : Simulation
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
    simulation.summary(estimator)
    estimates = simulation.runs[estimator].proportions
    estimates = estimates[np.isfinite(estimates).all(axis=1)]
    middle = np.quantile(estimates, [0.025, 0.975], axis=0).T
    marks = [
        charts.Mark("truth", "truth", simulation.truth),
        charts.Mark("estimate", f"{estimator}: mean and 95 of 100", estimates.mean(axis=0), middle),
    ]
    title = f"{estimator}: {len(estimates):,} estimates beside the truth"
    return charts.dots(simulation.categories, marks, title=title, size=size, room=room, axis="share")


def measure(simulation: Simulation, name: str, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of one measure: a mark for each estimator in each category, with twice its Monte Carlo error.

    Parameters
    ----------
    simulation : Simulation
        A simulation with at most six estimators.
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
    coverage = name == "coverage"
    unit, aim = (1.0, simulation.confidence) if coverage else (100.0, 0.0 if name == "bias" else None)
    marks = []
    for (role, shape), summary in zip(_STYLES * len(simulation.runs), simulation.summaries, strict=False):
        numbers = getattr(summary, name)
        errors = np.nan_to_num(numbers.errors)
        bounds = numbers.values[:, None] + 2 * errors[:, None] * [-1.0, 1.0]
        bounds = np.clip(bounds, 0.0, 1.0) if coverage else bounds
        pairs = zip(numbers.values.tolist(), errors.tolist(), strict=True)
        mark_texts = [f"{v:.1%} ± {e:.1%}" if coverage else f"{100 * v:.2f} ± {100 * e:.2f} points" for v, e in pairs]
        marks.append(Mark(role, summary.estimator, unit * numbers.values, unit * bounds, shape=shape, told=mark_texts))
    ends = [float(end) for mark in marks for end in np.ravel(np.asarray(mark.bounds)) if math.isfinite(end)]
    ends.append(0.0 if aim is None else aim)
    low, high = min(ends), max(ends)
    edge = max(high - low, 1e-6) * 0.04
    domain = (low if aim is None and low == 0 else low - edge, high + edge)
    description = "; ".join(
        f"{finish.label_line(category)}: " + ", ".join(f"{mark.name} {mark.told[row]}" for mark in marks)
        for row, category in enumerate(simulation.categories)
    )
    return marks_in_rows(
        simulation.categories,
        marks,
        Axis(_AXES[name], domain, ".0%" if coverage else ".3~f", ticks=6),
        title=f"{_AXES[name]}, {simulation.replicates:,} surveys",
        description=description,
        size=size,
        room=room,
        aim=aim,
    )


def simulation_html(simulation: Simulation, *, title: str = "A survey, tried many times") -> str:
    """A simulation as a whole page: the estimates, every measure, the numbers.

    Parameters
    ----------
    simulation : Simulation
    title : str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, simulate
    >>> found = simulate.replicate(designs.two_coins(), (0.2, 0.8), n=100, replicates=50, seed=1)
    >>> simulation_html(found).startswith("<!doctype html>")
    True
    """
    measure_charts = [
        Chart(lambda size, room, name=name: measure(simulation, name, size=size, room=room))  # type: ignore[misc]
        for name in ("bias", "rmse", "coverage", "width")
    ]
    basis_points, *tables, notes = simulation.sections()
    marks = "Lines at the marks: two Monte Carlo errors to each side."
    measure_contents: list[Content] = [*measure_charts, Points((marks, *notes.items), small=True)]
    sections = [
        Section("Measures, estimator by estimator", measure_contents),
        *(
            Section(f"Estimates: {name}", _estimator(simulation, name, table))
            for name, table in zip(simulation.runs, tables, strict=True)
        ),
    ]
    lead = [f"{line}." for line in basis_points.items]
    return html(title, sections, lead=lead, facts=[(f"{simulation.replicates:,}", "surveys")])


def _estimator(simulation: Simulation, name: str, table: Table) -> list[Content]:
    """The plot and the numbers of one estimator."""
    rows = tuple(
        (finish.label_line(category), *row[1:]) for category, row in zip(simulation.categories, table.rows, strict=True)
    )
    return [
        Chart(lambda size, room: spread(simulation, name, size=size, room=room)),
        replace(table, rows=rows, caption=f"{name}, each number with its Monte Carlo error"),
    ]
