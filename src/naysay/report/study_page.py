"""Pages of what was tried before the survey: a comparison of designs, a simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from naysay.planning import Comparison
from naysay.planning import printing as plans
from naysay.report import labels, page, planning_charts, simulation_charts
from naysay.report.page import Section
from naysay.simulate import Simulation, Summary
from naysay.simulate import printing as simulations

__all__ = ["comparison_html", "simulation_html"]

_PHONE = 340

Plot = tuple[str, str]


def comparison_html(found: Comparison, *, title: str = "Designs beside one another") -> str:
    """A comparison of designs as a whole page: error against respondents, precision against privacy, the table.

    Parameters
    ----------
    found : Comparison
    title : str

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
    drawn = [
        _both(lambda size, measure=measure: planning_charts.tradeoff(found, measure=measure, size=size))  # type: ignore[misc]
        for measure in planning_charts.MEASURES
        if _varies(found, measure)
    ]
    names, rows = plans.cells(found)
    told = plans.above(found)
    return page.html(
        title,
        [
            _section("Error and number of respondents", [_both(lambda size: planning_charts.errors(found, size=size))]),
            *([_section("Precision against privacy", drawn)] if drawn else []),
            _section("The numbers", [], names, rows, "Standard errors and privacy of one answer", plans.below(found)),
        ],
        lead=[f"{line}." for line in told],
    )


def _varies(found: Comparison, measure: str) -> bool:
    """Whether there is something to see: two designs at least, that differ in a finite measure."""
    options = found.options[0 if found.liars is None else 1 :]
    values = {
        float(option.still_possible[0] if measure == "still_possible" else getattr(option, measure))
        for option in options
    }
    return len({value for value in values if math.isfinite(value)}) > 1


def simulation_html(found: Simulation, *, title: str = "A survey, tried many times") -> str:
    """A simulation as a whole page: where the estimates fell, every measure, the numbers.

    Parameters
    ----------
    found : Simulation
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
    sections = [_section(f"Estimates: {summary.estimator}", *_estimator(found, summary)) for summary in found.summaries]
    drawn = [
        _both(lambda size, name=name: simulation_charts.measure(found, name, size=size, room=_room(size)))  # type: ignore[misc]
        for name in ("bias", "rmse", "coverage", "width")
    ]
    told = [f"{line}." for line in simulations.heading(found)]
    marks = "Lines at the marks: two Monte Carlo errors to both sides."
    compared = _section("Measures, estimator by estimator", drawn, notes=[marks, *simulations.notes(found)])
    return page.html(title, [compared, *sections], lead=told, facts=[(f"{found.replicates:,}", "surveys")])


def _estimator(found: Simulation, summary: Summary) -> tuple[list[Plot], list[str], list[list[str]], str]:
    """Plot, names, rows and caption of one estimator."""
    plot = _both(lambda size: simulation_charts.spread(found, summary.estimator, size=size, room=_room(size)))
    names, rows = simulations.cells(found, summary)
    rows = [[labels.full(category), *row[1:]] for category, row in zip(found.categories, rows, strict=True)]
    return [plot], names, rows, f"{summary.estimator}, each number with its Monte Carlo error"


def _room(size: int) -> int:
    return 17 if size == _PHONE else 26


def _both(draw: Callable[[int], str]) -> Plot:
    """An image for a wide page, and one for a phone."""
    return draw(760), draw(_PHONE)


def _section(
    heading: str,
    plots: Sequence[Plot],
    names: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    caption: str = "",
    notes: Sequence[str] = (),
) -> Section:
    body = page._render("study.html", plots=plots, names=names, rows=rows, caption=caption, notes=notes)
    return Section(heading, body)
