"""Means, distributions and quantiles as CSV."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from naysay import privacy
from naysay.console import output
from naysay.estimate import Options
from naysay.printing.numbers import csv_text

__all__ = ["measured_csv"]

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
