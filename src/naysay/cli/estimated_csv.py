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
_CSV_LEVELS = [f"{each}{end}" for each in ("stratified", "pooled", "difference") for end in ("", "_standard_error")]

_NUMBERS = ("quantity", "estimate", "standard_error", "low", "high")
_BESIDE = ("n", "missing", "design", "method", "target")


def measured_csv(fits: Mapping[Any, Any], options: Options, *, by: str | None) -> str:
    """The numbers of each group; what a reader must know beside them goes to stderr."""
    rows: list[list[Any]] = [[*(["group"] if by else []), *_NUMBERS, *_BESIDE]]
    for group, fit in fits.items():
        found = fit.to_dict(options)
        beside = [found[name] for name in _BESIDE]
        shares = found.get("ranges", [])
        rows += [[*([group] if by else []), *each.values(), *beside] for each in [*found["estimates"], *shares]]
        for line in (*privacy.lines(fit.design), *found["warnings"]):
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
        found = printing.to_dict(fit, options)
        for name, numbers, beside in _rows(fit, found, compared):
            cells = [name, *numbers, found["n"], found["missing"], *beside, *(found[each] for each in _CSV_NAMED)]
            rows.append([*([group] if by else []), *cells])
        tested = [str(fit.comparison.test)] if fit.comparison is not None else []
        for line in [*tested, *printing.checks(fit, options), *found["warnings"]]:
            output.note(f"{by} = {group}: {line}" if by else line)
    if len(fits) > 1:
        output.note(str(estimate.differences(fits)))
    return csv_text(rows)


def _rows(fit: Estimate, found: dict[str, Any], compared: Sequence[str]) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """Each category, then each nuisance parameter: its name, its numbers, and those of the levels beside them."""
    for row, category in enumerate(fit.categories):
        numbers = [found["proportions"][row], found["standard_errors"][row], *found["intervals"][row]]
        levels = found.get("levels", {})  # a column holds one of the errors that JSON lists under their plural
        beside = [levels[name.replace("error", "errors")][row] for name in compared if levels]
        yield _checks.label(category), numbers, beside
    for name, each in found.get("nuisance", {}).items():
        yield name, [each["estimate"], each["standard_error"], *each["interval"]], []
