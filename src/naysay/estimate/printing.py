"""An estimate as text, as HTML and as JSON: one table for all."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from naysay import _checks, privacy
from naysay.design import Levels, TwoOption
from naysay.estimate.intervals import Intervals
from naysay.estimate.levels import Comparison
from naysay.estimate.result import Estimate, is_pooled, number

__all__ = ["heading", "reservations", "table", "to_dict", "to_html", "to_text"]


def heading(fit: Estimate, found: Intervals) -> list[str]:
    """What stands above the numbers."""
    asked = fit.tally.question or "Estimate"
    missing = f"{fit.missing:,} missing" if fit.missing else "none missing"
    weighted = f", weighted (sum of weights {fit.tally.weight:,.6g})" if fit.tally.weighted else ""
    certificate = ""
    if fit.maximum is not None:
        certificate = f"; within {fit.maximum.total_gap:.1e} of the maximum log-likelihood"
    return [
        f"{asked}: {fit.design.name or fit.design.kind}",
        f"{fit.n:,} answers, {missing}{weighted}; target: the {fit.target}",
        f"{fit.method}; standard errors: {fit.standard_error_kind}{certificate}",
        f"{found.confidence:.4g} intervals: {found.method}",
    ]


def reservations(fit: Estimate, found: Intervals) -> list[str]:
    """Warnings of the estimate and of its intervals."""
    told = [str(warning) for warning in fit.warnings]
    if found.flagged.any():
        names = ", ".join(_checks.label(c) for c, flag in zip(fit.categories, found.flagged, strict=True) if flag)
        told.append(
            f"interval outside [0, 1], nearest boundary point shown: {names}; these answers hardly fit this design"
        )
    return told


def table(fit: Estimate, found: Intervals) -> Table:
    """The numbers, one row a category."""
    result = Table(show_edge=False, pad_edge=False, box=None, header_style="bold")
    result.add_column("category", overflow="fold", max_width=40)
    names = ["estimate", "s.e.", "low", "high"]
    columns = [fit.proportions, fit.standard_errors, found.bounds[:, 0], found.bounds[:, 1]]
    if fit.comparison is not None:
        other = fit.comparison.beside(fit)
        names += ["pooled" if is_pooled(other) else "stratified", "s.e.", "stratified-pooled", "s.e."]
        columns += [other.proportions, other.standard_errors, fit.comparison.difference, fit.comparison.standard_errors]
    if fit.sensitivity is not None:
        names += ["band low", "band high"]
        columns += [fit.sensitivity[:, 0], fit.sensitivity[:, 1]]
    for name in names:
        result.add_column(name, justify="right", no_wrap=True)
    for row, category in enumerate(fit.categories):
        result.add_row(Text(_checks.label(category)), *(_shown(column[row]) for column in columns))
    return result


def below(fit: Estimate, found: Intervals) -> list[str]:
    """What stands below the numbers: the test, the band, privacy, reservations."""
    lines = [str(fit.comparison.test)] if fit.comparison is not None else []
    if isinstance(fit.design, Levels) and fit.comparison is None:
        lines.append("stratified beside pooled: not available, some level alone does not tell all categories apart")
    if isinstance(fit.design, TwoOption) and fit.sensitivity is None:
        lines.append("band of preferences: takes long here, ask estimate.preference_band(design, tally)")
    if fit.sensitivity is not None:
        lines.append("band: what the share could be if people chose between two false categories as they like")
    lines += privacy.lines(fit.design)
    return lines + [f"note: {text}" for text in reservations(fit, found)]


def to_text(fit: Estimate, confidence: float = 0.95, method: str | None = None, width: int = 120) -> str:
    """The estimate as plain text."""
    found = fit.intervals(confidence, method=method)
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False)
    for line in heading(fit, found):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print()
    console.print(table(fit, found))
    console.print()
    for line in below(fit, found):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def to_html(fit: Estimate) -> str:
    """The estimate as HTML, for notebooks."""
    import html

    return f"<pre>{html.escape(to_text(fit))}</pre>"


def to_dict(fit: Estimate, confidence: float = 0.95, method: str | None = None) -> dict[str, Any]:
    """The estimate as one JSON object with stable names; undefined numbers are None."""
    found = fit.intervals(confidence, method=method)
    result: dict[str, Any] = {
        "question": fit.tally.question,
        "design": fit.design.name or fit.design.kind,
        "n": fit.n,
        "missing": fit.missing,
        "target": fit.target,
        "method": fit.method,
        "categories": [list(c) if isinstance(c, tuple) else c for c in fit.categories],
        "proportions": _numbers(fit.proportions),
        "standard_errors": _numbers(fit.standard_errors),
        "standard_error_kind": fit.standard_error_kind,
        "covariance": [_numbers(row) for row in fit.covariance],
        "intervals": [_numbers(row) for row in found.bounds],
        "confidence": confidence,
        "interval_method": found.method,
        "privacy": _privacy(fit),
        "warnings": reservations(fit, found),
    }
    if fit.comparison is not None:
        result["levels"] = _comparison(fit.comparison)
    if fit.sensitivity is not None:
        result["preference_band"] = [_numbers(row) for row in fit.sensitivity]
    return result


def _privacy(fit: Estimate) -> dict[str, Any]:
    told = {
        level: {
            "epsilon": "inf" if math.isinf(statement.epsilon) else number(statement.epsilon),
            "reason": statement.reason,
            "bits": number(statement.bits),
            "prior": statement.prior,
            "still_possible": list(statement.still_possible),
        }
        for level, statement in fit.privacy.items()
    }
    if None in told:
        return told[None]
    worst = max(fit.privacy.values(), key=lambda statement: (statement.epsilon, statement.bits))
    overall = next(told[level] for level, statement in fit.privacy.items() if statement is worst)
    return {**overall, "by_level": {str(level): value for level, value in told.items()}}


def _comparison(found: Comparison) -> dict[str, Any]:
    return {
        "stratified": _numbers(found.stratified.proportions),
        "stratified_standard_errors": _numbers(found.stratified.standard_errors),
        "pooled": _numbers(found.pooled.proportions),
        "pooled_standard_errors": _numbers(found.pooled.standard_errors),
        "difference": _numbers(found.difference),
        "difference_standard_errors": _numbers(found.standard_errors),
        "independence": {
            "statistic": number(found.test.statistic),
            "degrees_of_freedom": found.test.degrees_of_freedom,
            "p_value": number(found.test.p_value),
            "reference": found.test.reference,
        },
    }


def _numbers(values: np.ndarray) -> list[float | None]:
    return [number(float(value)) for value in values]


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"
