"""A simulation as text and as JSON."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from naysay import _checks
from naysay.design import Levels

if TYPE_CHECKING:  # which prints itself by this module
    from naysay.simulate.result import Simulation, Summary

__all__ = ["cells", "heading", "notes", "to_dict", "to_text"]

_WIDTH = 120
_NAMES = {
    "bias": "bias",
    "standard_deviation": "s.d.",
    "rmse": "rmse",
    "mean_standard_error": "mean s.e.",
    "coverage": "coverage",
    "width": "width",
}


def heading(found: Simulation) -> list[str]:
    """What was simulated."""
    survey = found.survey
    done = f"{found.replicates:,} surveys"
    if found.interrupted:
        done = f"interrupted: {found.replicates:,} of {found.asked:,} surveys"
    who = f"the same {survey.n:,} people each time" if survey.target == "file" else f"{survey.n:,} people each"
    lines = [
        f"{survey.design.name or survey.design.kind}: {done}, {who}; target: the {survey.target}",
        f"Population: {survey.population.name}; {survey.behavior}",
    ]
    if isinstance(survey.design, Levels):
        shares = survey.preferences @ survey.population.proportions
        tied = "" if np.allclose(survey.preferences, survey.preferences[:, :1]) else ", going with the category"
        levels = (f"{level}: {share:.3g}" for level, share in zip(survey.design.levels, shares, strict=True))
        lines.append(f"Levels chosen: {', '.join(levels)}{tied}")
    return [*lines, f"Seed {found.seed}; {found.seconds:.1f} s"]


def notes(found: Simulation) -> list[str]:
    """What a reader of the numbers must know."""
    lines = ["±: Monte Carlo error, one standard error of the number before it"]
    for summary in found.summaries:
        gone = found.replicates - summary.used
        if gone:
            problem = found.runs[summary.estimator].problem
            lines.append(f"{summary.estimator} gave no result in {gone:,} of {found.replicates:,} surveys: {problem}")
    return lines


def to_text(found: Simulation) -> str:
    """The simulation as plain text: one table for each estimator."""
    out = io.StringIO()
    console = Console(file=out, width=_WIDTH, color_system=None, legacy_windows=False)
    for summary in found.summaries:
        methods = ", ".join(summary.interval_methods) or "none"
        line = f"{summary.estimator}; {found.confidence:.4g} intervals: {methods}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)
        console.print(_table(found, summary))
        console.print()
    shown = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join([*heading(found), "", *shown, *notes(found)])


def _table(found: Simulation, summary: Summary) -> Table:
    names, rows = cells(found, summary)
    result = Table(show_edge=False, pad_edge=False, box=None, header_style="bold")
    result.add_column(names[0], overflow="fold", max_width=24)
    for name in names[1:]:
        result.add_column(name, justify="right", no_wrap=True)
    for category, *numbers in rows:
        result.add_row(Text(category), *numbers)
    return result


def cells(found: Simulation, summary: Summary) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and one row for each category."""
    measures = [getattr(summary, name) for name in _NAMES]
    rows = []
    for row, category in enumerate(found.categories):
        numbers = [_shown(float(each.values[row]), float(each.errors[row])) for each in measures]
        rows.append([_checks.label(category), f"{found.truth[row]:.4f}", *numbers])
    return ["category", "truth", *_NAMES.values()], rows


def _shown(value: float, error: float) -> str:
    """A number with its Monte Carlo error: ``0.9510 ±.0048``."""
    if math.isnan(value):
        return "–"
    return f"{value:.4f} ±" + ("–" if math.isnan(error) else f"{error:.4f}".removeprefix("0"))


def to_dict(found: Simulation) -> dict[str, Any]:
    """The simulation as one JSON object; undefined numbers are None."""
    survey = found.survey
    levels = isinstance(survey.design, Levels)
    return {
        "design": survey.design.name or survey.design.kind,
        "n": survey.n,
        "replicates": found.replicates,
        "asked": found.asked,
        "interrupted": found.interrupted,
        "seed": found.seed,
        "seconds": found.seconds,
        "target": survey.target,
        "population": survey.population.name,
        "behavior": str(survey.behavior),
        "categories": [list(each) if isinstance(each, tuple) else each for each in found.categories],
        "truth": found.truth.tolist(),
        "preferences": survey.preferences.tolist() if levels else None,
        "confidence": found.confidence,
        "estimators": [_summary(summary) for summary in found.summaries],
        "notes": notes(found)[1:],
    }


def _summary(summary: Summary) -> dict[str, Any]:
    told: dict[str, Any] = {"estimator": summary.estimator, "used": summary.used}
    told["interval_methods"] = list(summary.interval_methods)
    for name in _NAMES:
        measure = getattr(summary, name)
        told[name] = _numbers(measure.values)
        told[f"{name}_monte_carlo_error"] = _numbers(measure.errors)
    return told


def _numbers(values: np.ndarray) -> list[float | None]:
    return [None if math.isnan(value) else float(value) for value in values]
