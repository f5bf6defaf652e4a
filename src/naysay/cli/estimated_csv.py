"""Estimates as CSV: proportions, and means, distributions and quantiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from naysay import _checks, estimate, privacy
from naysay.console import output
from naysay.estimate import Estimate, Options, printing
from naysay.show.text import csv_text

_CSV = ("category", "proportion", "standard_error", "low", "high", "n", "missing")
_CSV_NAMED = ("design", "method", "target", "standard_error_kind", "confidence", "interval_method")
_CSV_LEVELS = [
    f"{estimate_name}{end}"
    for estimate_name in ("stratified", "pooled", "difference")
    for end in ("", "_standard_error")
]

_NUMBERS = ("quantity", "estimate", "standard_error", "low", "high")
_BESIDE = ("n", "missing", "design", "method", "target")


def measured_csv(fits: Mapping[Any, Any], options: Options, *, by: str | None) -> str:
    """The numbers of each group; what a reader must know beside them goes to stderr."""
    rows: list[list[Any]] = [[*(["group"] if by else []), *_NUMBERS, *_BESIDE]]
    for group, fit in fits.items():
        content = fit.to_dict(options)
        beside = [content[name] for name in _BESIDE]
        shares = content.get("ranges", [])
        rows += [[*([group] if by else []), *numbers.values(), *beside] for numbers in [*content["estimates"], *shares]]
        for line in (*privacy.lines(fit.design), *content["warnings"]):
            output.note(f"{by} = {group}: {line}" if by else line)
    return csv_text(rows)


def estimates_csv(fits: Mapping[Any, Estimate], options: Options, *, by: str | None) -> str:
    """The numbers of each group; what a reader must know beside them goes to stderr."""
    design = next(iter(fits.values())).design
    compared = _CSV_LEVELS if design.assigned_by == "respondent" else []
    rows = [[*(["group"] if by else []), *_CSV, *compared, *_CSV_NAMED]]
    for line in privacy.lines(design):
        output.note(line)
    for group, fit in fits.items():
        content = printing.to_dict(fit, options)
        for name, numbers, beside in _rows(fit, content, compared):
            cells = [
                name,
                *numbers,
                content["n"],
                content["missing"],
                *beside,
                *(content[field_name] for field_name in _CSV_NAMED),
            ]
            rows.append([*([group] if by else []), *cells])
        tested = [str(fit.comparison.test)] if fit.comparison is not None else []
        for line in [*tested, *printing.checks(fit, options), *content["warnings"]]:
            output.note(f"{by} = {group}: {line}" if by else line)
    if len(fits) > 1:
        output.note(str(estimate.differences(fits)))
    return csv_text(rows)


def _rows(
    fit: Estimate, content: dict[str, Any], compared: Sequence[str]
) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """Each category, then each nuisance parameter: its name, its numbers, and those of the levels beside them."""
    for row, category in enumerate(fit.categories):
        numbers = [content["proportions"][row], content["standard_errors"][row], *content["intervals"][row]]
        levels = content.get("levels", {})  # a column holds one of the errors that JSON lists under their plural
        beside = [levels[name.replace("error", "errors")][row] for name in compared if levels]
        yield _checks.label(category), numbers, beside
    for name, parameter in content.get("nuisance", {}).items():
        yield name, [parameter["estimate"], parameter["standard_error"], *parameter["interval"]], []
