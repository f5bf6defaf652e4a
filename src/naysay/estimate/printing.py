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
from naysay.design import Levels, Samples, TwoOption, protocols
from naysay.estimate import samples
from naysay.estimate.assumptions import NONCOMPLIERS, behaviors
from naysay.estimate.digits import decimals, decimals_of, reliable_errors, reliable_nuisance, shown
from naysay.estimate.groups import Differences
from naysay.estimate.intervals import Intervals, nuisance_intervals
from naysay.estimate.levels import Comparison
from naysay.estimate.result import Estimate, is_pooled, number

__all__ = [
    "NONCOMPLIANCE",
    "checks",
    "differences_dict",
    "differences_text",
    "heading",
    "reservations",
    "table",
    "to_dict",
    "to_html",
    "to_text",
]

FEW = 30
"""Answers, or their worth under weights, from which on the coverage of weighted intervals was measured."""

NONCOMPLIANCE = 0.1
"""The share of respondents whose non-compliance is shown by default."""


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
    if fit.tally.weighted and fit.tally.effective < FEW:
        told.append(f"the weights leave the worth of {fit.tally.effective:.0f} answers; intervals hold from {FEW} on")
    if found.flagged.any():
        names = ", ".join(_checks.label(c) for c, flag in zip(fit.categories, found.flagged, strict=True) if flag)
        misfit = "; these answers hardly fit this design" if found.misfit else ""
        told.append(f"interval outside [0, 1], nearest boundary point shown: {names}{misfit}")
    return told


def table(fit: Estimate, found: Intervals) -> Table:
    """The numbers, one row a category."""
    result = Table(show_edge=False, pad_edge=False, box=None, header_style="bold")
    result.add_column("category", overflow="fold", max_width=40)
    names = ["estimate", "s.e.", "low", "high"]
    columns = [fit.proportions, reliable_errors(fit), found.bounds[:, 0], found.bounds[:, 1]]
    if fit.comparison is not None:
        other = fit.comparison.beside(fit)
        names += ["pooled" if is_pooled(other) else "stratified", "s.e.", "stratified-pooled", "s.e."]
        columns += [
            other.proportions,
            reliable_errors(other),
            fit.comparison.difference,
            fit.comparison.standard_errors,
        ]
    if fit.unbounded is not None:
        names += ["moments", "s.e."]
        columns += [fit.unbounded.proportions, fit.unbounded.standard_errors]
    if fit.sensitivity is not None:
        names += ["band low", "band high"]
        columns += [fit.sensitivity[:, 0], fit.sensitivity[:, 1]]
    for name in names:
        result.add_column(name, justify="right", no_wrap=True)
    places = decimals_of(fit)
    for row, category in enumerate(fit.categories):
        result.add_row(Text(_checks.label(category)), *(shown(column[row], places) for column in columns))
    nuisance = nuisance_intervals(fit, confidence=found.confidence, method=found.method)
    errors = reliable_nuisance(fit)
    for name, value in fit.nuisance.items():
        beside = fit.unbounded.nuisance[name] if fit.unbounded is not None else ()
        numbers = (value.value, errors[name], *nuisance[name], *beside)
        result.add_row(Text(str(name)), *(shown(number, places) for number in numbers))
    return result


def checks(fit: Estimate, noncompliance: float, noncompliers: str = "anyone") -> list[str]:
    """What the estimate rests on, and what it would be otherwise, a line each."""
    lines = [*_by_sample(fit), *_fit(fit), *_bands(fit, noncompliance, noncompliers)]
    lines += fit.design.notes if isinstance(fit.design, Samples) else ()
    assumed = assumptions(fit)
    return lines + ([f"assumes: {'; '.join(assumed)}"] if assumed else [])


def _by_sample(fit: Estimate) -> list[str]:
    if fit.by_sample is None:
        return []
    places = decimals_of(fit)
    each = (
        f"{name} {shown(one.proportions[0], places)} ({shown(reliable_errors(one)[0], places)})"
        for name, one in fit.by_sample.items()
    )
    return [f"“{_checks.label(fit.categories[0])}” by sample (s.e.): {', '.join(each)}"]


def _fit(fit: Estimate) -> list[str]:
    if fit.goodness_of_fit is not None:
        return [str(fit.goodness_of_fit)]
    untested = fit.tally.weighted and isinstance(fit.design, Samples) and samples.overdetermined(fit)
    return ["fit: not tested, the answers are weighted"] if untested else []


def _bands(fit: Estimate, noncompliance: float, noncompliers: str) -> list[str]:
    """What the estimate would be if people did not comply, or a probability were another one."""
    lines = []
    compliance = fit.noncompliance(noncompliance, noncompliers)
    if compliance is not None:
        how = f"{NONCOMPLIERS[noncompliers]} {' or '.join(behaviors(fit.design))}"
        lines.append(
            f"if up to {noncompliance:.3g} of the respondents did not comply ({how}): {_ranges(fit, compliance)}"
        )
    if fit.probability_band is not None:
        lines.append(f"over the stated range of the prevalence: {_ranges(fit, fit.probability_band)}")
    return lines


def _ranges(fit: Estimate, band: np.ndarray) -> str:
    places = decimals_of(fit)
    each = [
        f"“{_checks.label(category)}” from {shown(low, places)} to {shown(high, places)}"
        for category, (low, high) in zip(fit.categories, band.tolist(), strict=True)
    ]
    return f"{', '.join(each[:1] if len(each) == 2 else each)} (by moments, before sampling error)"


def assumptions(fit: Estimate) -> list[str]:
    """What the designs of an estimate assume, each once."""
    return list(dict.fromkeys(text for _, protocol in protocols(fit.design) for text in protocol.assumes))


def below(
    fit: Estimate, found: Intervals, noncompliance: float = NONCOMPLIANCE, noncompliers: str = "anyone"
) -> list[str]:
    """What stands below the numbers: the test, the band, privacy, reservations."""
    lines = [str(fit.comparison.test)] if fit.comparison is not None else []
    if isinstance(fit.design, Levels) and fit.comparison is None:
        lines.append("stratified beside pooled: not available, some level alone does not tell all categories apart")
    if isinstance(fit.design, TwoOption) and fit.sensitivity is None:
        lines.append("band of preferences: takes long here, ask estimate.preference_band(design, tally)")
    if fit.sensitivity is not None:
        lines.append("band: what the share could be if people chose between two false categories as they like")
    lines += checks(fit, noncompliance, noncompliers) + privacy.lines(fit.design, fit.nuisance_shares)
    return lines + [f"note: {text}" for text in reservations(fit, found)]


def to_text(
    fit: Estimate,
    confidence: float = 0.95,
    method: str | None = None,
    *,
    noncompliance: float = NONCOMPLIANCE,
    noncompliers: str = "anyone",
    width: int = 120,
) -> str:
    """The estimate as plain text."""
    found = fit.intervals(confidence, method=method)
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False)
    for line in heading(fit, found):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print()
    console.print(table(fit, found))
    console.print()
    for line in below(fit, found, noncompliance, noncompliers):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def to_html(fit: Estimate) -> str:
    """The estimate as HTML, for notebooks."""
    import html

    return f"<pre>{html.escape(to_text(fit))}</pre>"


def to_dict(
    fit: Estimate,
    confidence: float = 0.95,
    method: str | None = None,
    *,
    noncompliance: float = NONCOMPLIANCE,
    noncompliers: str = "anyone",
) -> dict[str, Any]:
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
    band = fit.noncompliance(noncompliance, noncompliers)
    if band is not None:
        bounds = [_numbers(row) for row in band]
        result["noncompliance"] = {"share": noncompliance, "noncompliers": noncompliers, "bounds": bounds}
    return result | _checked(fit, found)


def _checked(fit: Estimate, found: Intervals) -> dict[str, Any]:
    """Nuisance parameters, the unbounded estimate, fit and bands, where there are any."""
    told: dict[str, Any] = {"assumptions": assumptions(fit)}
    if fit.nuisance:
        ends = nuisance_intervals(fit, confidence=found.confidence, method=found.method)
        told["nuisance"] = {
            str(name): {
                "estimate": number(value.value),
                "standard_error": number(value.standard_error),
                "interval": _numbers(np.array(ends[name])),
            }
            for name, value in fit.nuisance.items()
        }
    if fit.unbounded is not None:
        unbounded = (fit.unbounded.proportions, fit.unbounded.standard_errors)
        told["moments"] = dict(zip(("proportions", "standard_errors"), map(_numbers, unbounded), strict=True))
    if fit.by_sample is not None:
        told["by_sample"] = {
            str(name): {"proportions": _numbers(one.proportions), "standard_errors": _numbers(one.standard_errors)}
            for name, one in fit.by_sample.items()
        }
    if fit.goodness_of_fit is not None:
        told["goodness_of_fit"] = fit.goodness_of_fit.to_dict()
    if fit.probability_band is not None:
        told["probability_band"] = [_numbers(row) for row in fit.probability_band]
    return told


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
    apart = "by_sample" if isinstance(fit.design, Samples) else "by_level"
    return {**overall, apart: {str(level): value for level, value in told.items()}}


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
            "test": found.test.test,
        },
    }


def _numbers(values: np.ndarray) -> list[float | None]:
    return [number(float(value)) for value in values]


def differences_text(found: Differences, confidence: float = 0.95, *, most: int = 30) -> str:
    """Differences between groups as plain text, the listing left out where there are more than so many groups."""
    if len(found.groups) >= most:
        return f"{len(found.groups) + 1} groups, too many to list their differences\n{found}"
    grid = Table(show_edge=False, pad_edge=False, box=None, header_style="bold")
    for name in ("group", "category"):
        grid.add_column(name, overflow="fold", max_width=40)
    for name in (f"less {_group(found.reference)}", "s.e.", "low", "high"):
        grid.add_column(name, justify="right", no_wrap=True)
    ends = np.where(found.reliable[..., None], found.interval(confidence), np.nan)
    errors = np.where(found.reliable, found.standard_errors, np.nan)
    places = decimals(errors) or 4
    for row, group in enumerate(found.groups):
        for column, category in enumerate(found.categories):
            numbers = (found.difference[row, column], errors[row, column], *ends[row, column])
            grid.add_row(
                Text(_group(group)), Text(_checks.label(category)), *(shown(float(value), places) for value in numbers)
            )
    out = io.StringIO()
    Console(file=out, width=120, color_system=None, legacy_windows=False).print(grid)
    lines = [
        f"Differences from {_group(found.reference)}; {confidence:.4g} normal intervals",
        "",
        *out.getvalue().splitlines(),
    ]
    return "\n".join([*(line.rstrip() for line in lines), "", str(found)])


def _group(name: Any) -> str:
    return "(missing)" if name is None else str(name)


def differences_dict(found: Differences, confidence: float = 0.95, *, most: int = 30) -> dict[str, Any]:
    """Differences between groups as one JSON object; undefined numbers are None, the covariance of very many too."""
    ends = found.interval(confidence)
    return {
        "reference": found.reference,
        "groups": list(found.groups),
        "differences": [_numbers(row) for row in found.difference],
        "standard_errors": [_numbers(row) for row in found.standard_errors],
        "intervals": [[_numbers(pair) for pair in row] for row in ends],
        "covariance": [_numbers(row) for row in found.covariance] if len(found.groups) < most else None,
        "equality": {
            "test": found.test,
            "statistic": number(found.statistic),
            "degrees_of_freedom": found.degrees_of_freedom,
            "p_value": number(found.p_value),
        },
    }
