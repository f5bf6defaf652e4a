"""The demonstration's tables on a terminal."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from naysay.demo.results import Result
from naysay.errors import DataError
from naysay.estimate import Estimate

__all__ = ["say", "show"]


def say(console: Console, text: str) -> None:
    """A line of text, not wrapped."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def show(result: Result, console: Console) -> None:
    """One question as a table: truth beside estimate, in percent."""
    fit, beside = result.fit, result.fit.comparison
    if beside is None:
        raise DataError("the demo compares stratified with pooled; its questions offer levels that are estimable alone")
    table = Table(title=Text(result.question.title, style="bold"), title_justify="left", box=None, pad_edge=False)
    table.add_column("percent", overflow="fold", min_width=12, max_width=40)
    for name in ("truth", "estimate", "s.e.", "95 % interval", "pooled", "s.e.", "diff.", "s.e."):
        table.add_column(name, justify="right", no_wrap=True)
    shares = np.column_stack(
        [
            result.question.truth,
            fit.proportions,
            fit.standard_errors,
            result.found.bounds,
            beside.pooled.proportions,
            beside.pooled.standard_errors,
            beside.difference,
            beside.standard_errors,
        ]
    )
    for category, row, holding in zip(fit.categories, (100 * shares).tolist(), result.holds, strict=True):
        truth, share, error, low, high, *compared = (f"{value:.2f}" for value in row)
        table.add_row(
            Text(str(category)),
            Text(truth, style="bold"),
            Text(share, style="bold cyan"),
            error,
            Text(f"{low}–{high} ") if holding else Text(f"{low}–{high}!", style="yellow"),
            *compared,
        )
    console.print(table)
    say(console, f"{beside.test}")
    say(console, f"{_given_away(fit)}\n")


def _given_away(fit: Estimate) -> str:
    """What one answer at each level tells, in one line."""
    told = [
        f"{level}: reveals the answer" if each.still_possible[0] == 1 else f"{level}: {each.still_possible[0]} left"
        for level, each in fit.privacy.items()
    ]
    return f"privacy by level, ε = ∞ throughout; of {len(fit.categories)} categories {', '.join(told)}"
