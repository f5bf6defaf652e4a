"""Charts of plans: precision against privacy, and error against the number of respondents.

Pages of what is done before a survey: a comparison of designs, a simulation.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from naysay.errors import DataError
from naysay.planning import Comparison, Option
from naysay.show import Chart
from naysay.show.charts import Line, lines
from naysay.show.finish import Axis
from naysay.show.page import Section, html

MEASURES = {
    "bits": "bits that an answer tells",
    "epsilon": "ε, in nats",
    "still_possible": "fewest categories left",
    "largest_odds": "largest posterior over prior odds",
}
"""Measures of privacy for the axis of a trade-off."""

_NEAR, _FAR = 10, 500  # ratios of an axis's ends: below the first it gets more ticks, above the second fewer


def tradeoff(comparison: Comparison, *, measure: str = "bits", size: int = 640) -> str:
    """An SVG image of the standard error against a measure of privacy, one point for each design.

    Parameters
    ----------
    comparison : Comparison
    measure : {"bits", "epsilon", "still_possible", "largest_odds"}
        Designs for which the measure is infinite or was not computed are left out.
    size : int
        Width in pixels at which text has its natural size.

    Raises
    ------
    DataError
        An unknown measure, or one that is infinite for all designs.
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
    # With liars, the first option is the direct question: leave it out.
    options = comparison.options[0 if comparison.liars is None else 1 :]
    values = {option: value for option in options if math.isfinite(value := privacy_of(option, measure))}
    if not values:
        raise DataError(f"{measure} is infinite for all of these designs; draw another measure of privacy")
    chart_lines = []
    for option, value in values.items():
        point_sentence = f"{option.name}: standard error {option.standard_error:.4f}, {MEASURES[measure]} {value:.4g}"
        chart_lines.append(Line(option.name, value, option.standard_error, option.name, points=(point_sentence,)))
    across = _privacy(list(values.values()), measure)
    up = Axis("standard error", (0, max(option.standard_error for option in values) * 1.08), ".3~f")
    heading = f"standard error of {comparison.category} against {MEASURES[measure]}, {comparison.n:,} respondents"
    return lines(
        chart_lines, across, up, title=heading, description="; ".join(line.points[0] for line in chart_lines), size=size
    )


def privacy_of(option: Option, measure: str) -> float:
    """The value of one of the `MEASURES` for a design."""
    return float(option.still_possible[0] if measure == "still_possible" else getattr(option, measure))


def _privacy(values: list[float], measure: str) -> Axis:
    """The axis of a measure of privacy, with some margin beyond the outermost points."""
    low, high = min(values), max(values)
    if measure == "largest_odds":
        room = (high / low) ** 0.05 if high > low else 1.5
        marked = _ticks(low / room, high * room)
        ticks = marked if len(marked) > 1 else 6
        return Axis(MEASURES[measure], (low / room, high * room), "~g", ticks=ticks, log=True)
    room = (high - low) * 0.05 if high > low else max(abs(high), 1.0) * 0.5
    ends = max(0.0, low - room) if low >= 0 else low - room, high + room
    if measure == "still_possible":
        return Axis(MEASURES[measure], ends, "d", ticks=range(math.ceil(ends[0]), math.floor(ends[1]) + 1))
    return Axis(MEASURES[measure], ends, "", ticks=6)


def errors(comparison: Comparison, *, size: int = 640) -> str:
    """An SVG image of the error against the number of respondents, one line for each design.

    With liars, the dashed line is the direct question, which levels off at its bias. Where a design's line is below it,
    randomizing pays.

    Parameters
    ----------
    comparison : Comparison
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
    numbers = _numbers(comparison)
    chart_lines = []
    for place, option in enumerate(comparison.options):
        direct = comparison.liars is not None and place == 0
        pays = "" if direct or option.pays_from is None else f", pays from {option.pays_from:,} respondents"
        line_sentence = f"{option.name}: {option.rmse:.4f} with {comparison.n:,} respondents{pays}"
        design_errors = np.hypot(option.bias, option.deviation / np.sqrt(numbers))
        chart_lines.append(
            Line(
                option.name,
                numbers,
                design_errors,
                line_sentence,
                role="pooled" if direct else "estimate",
                dashed=direct,
            )
        )
    kind = "standard error" if comparison.liars is None else "root mean square error"
    values = np.concatenate([np.ravel(line.y) for line in chart_lines])
    low, high = float(values.min()) / 1.15, float(values.max()) * 1.15
    first, last = float(numbers[0]), float(numbers[-1])
    return lines(
        chart_lines,
        Axis("respondents", (first, last), ",d", ticks=_ticks(first, last), log=True),
        Axis(kind, (low, high), ".3~f", ticks=_ticks(low, high), log=True),
        title=f"{kind} of {comparison.category} against the number of respondents",
        description="; ".join(line.told for line in chart_lines),
        size=size,
    )


def _numbers(comparison: Comparison) -> NDArray[np.float64]:
    """Numbers of respondents to draw: a decade around n, and around the numbers from which randomizing pays."""
    pays = [float(option.pays_from) for option in comparison.options if option.pays_from is not None]
    sample_sizes = [float(comparison.n), *(n for n in pays if n > 1)]
    low, high = max(10.0, min(sample_sizes) / 10), min(max(sample_sizes) * 10, comparison.n * 1e4)
    return np.geomspace(low, high, 60)


def _ticks(low: float, high: float) -> list[float]:
    """Ticks at 1, 2 and 5 times powers of ten; only powers of ten on a long axis, more ticks on a short one."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1,) if high / low > _FAR else (1, 2, 5) if high / low > _NEAR else (1, 2, 3, 5, 7)
    return [step * 10.0**power for power, step in itertools.product(powers, steps) if low <= step * 10.0**power <= high]


def comparison_html(
    comparison: Comparison, *, title: str = "Designs beside one another", above: Sequence[str] = ()
) -> str:
    """A comparison of designs as a page: error against respondents, precision against privacy, a table.

    Parameters
    ----------
    comparison : Comparison
    title : str
    above : sequence of str
        Sentences that stand first, such as what a plan reaches and with which power.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay import designs, planning
    >>> found = planning.compare([designs.warner(p=0.7), designs.two_coins()], (0.1, 0.9))
    >>> comparison_html(found).startswith("<!doctype html>")
    True
    """
    tradeoff_charts = [
        Chart(lambda size, _, measure=measure: tradeoff(comparison, measure=measure, size=size))  # type: ignore[misc]
        for measure in MEASURES
        if _varies(comparison, measure)
    ]
    assumptions, table, notes = comparison.sections()
    table = replace(table, caption="Standard errors and privacy of one answer")
    sections = [
        Section("Error and number of respondents", [Chart(lambda size, _: errors(comparison, size=size))]),
        *([Section("Precision against privacy", tradeoff_charts)] if tradeoff_charts else []),
        Section("The numbers", [table, notes]),
    ]
    return html(title, sections, lead=[f"{line}." for line in (*above, *assumptions.items)])


def _varies(comparison: Comparison, measure: str) -> bool:
    """Whether a chart shows anything: at least two designs that differ in a finite measure."""
    options = comparison.options[0 if comparison.liars is None else 1 :]
    values = {privacy_of(option, measure) for option in options}
    return len({value for value in values if math.isfinite(value)}) > 1
