"""Pages of what is done before a survey: a comparison of designs, a simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from naysay.planning import Comparison
from naysay.printing import Chart, Content, Points, Table
from naysay.report import finish, planning_charts, simulation_charts
from naysay.report.page import Section, html
from naysay.simulate import Simulation

__all__ = ["comparison_html", "simulation_html"]


def comparison_html(found: Comparison, *, title: str = "Designs beside one another", above: Sequence[str] = ()) -> str:
    """A comparison of designs as a page: error against respondents, precision against privacy, a table.

    Parameters
    ----------
    found : Comparison
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
    drawn = [
        Chart(lambda size, _, measure=measure: planning_charts.tradeoff(found, measure=measure, size=size))  # type: ignore[misc]
        for measure in planning_charts.MEASURES
        if _varies(found, measure)
    ]
    told, table, notes = found.sections()
    table = replace(table, caption="Standard errors and privacy of one answer")
    sections = [
        Section("Error and number of respondents", [Chart(lambda size, _: planning_charts.errors(found, size=size))]),
        *([Section("Precision against privacy", drawn)] if drawn else []),
        Section("The numbers", [table, notes]),
    ]
    return html(title, sections, lead=[f"{line}." for line in (*above, *told.items)])


def _varies(found: Comparison, measure: str) -> bool:
    """Whether a chart shows anything: at least two designs that differ in a finite measure."""
    options = found.options[0 if found.liars is None else 1 :]
    values = {planning_charts.privacy_of(option, measure) for option in options}
    return len({value for value in values if math.isfinite(value)}) > 1


def simulation_html(found: Simulation, *, title: str = "A survey, tried many times") -> str:
    """A simulation as a whole page: the estimates, every measure, the numbers.

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
    drawn = [
        Chart(lambda size, room, name=name: simulation_charts.measure(found, name, size=size, room=room))  # type: ignore[misc]
        for name in ("bias", "rmse", "coverage", "width")
    ]
    told, *tables, notes = found.sections()
    marks = "Lines at the marks: two Monte Carlo errors to each side."
    compared: list[Content] = [*drawn, Points((marks, *notes.items), small=True)]
    sections = [
        Section("Measures, estimator by estimator", compared),
        *(
            Section(f"Estimates: {name}", _estimator(found, name, table))
            for name, table in zip(found.runs, tables, strict=True)
        ),
    ]
    lead = [f"{line}." for line in told.items]
    return html(title, sections, lead=lead, facts=[(f"{found.replicates:,}", "surveys")])


def _estimator(found: Simulation, name: str, table: Table) -> list[Content]:
    """The plot and the numbers of one estimator."""
    rows = tuple((finish.full(category), *row[1:]) for category, row in zip(found.categories, table.rows, strict=True))
    return [
        Chart(lambda size, room: simulation_charts.spread(found, name, size=size, room=room)),
        replace(table, rows=rows, caption=f"{name}, each number with its Monte Carlo error"),
    ]
