"""Plans as text."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from naysay import _checks

if TYPE_CHECKING:  # which prints itself by this module
    from naysay.planning.comparison import Comparison, Option

__all__ = ["above", "below", "cells", "comparison", "grid", "text"]

_WIDTH = 120


def grid(first: str, names: list[str]) -> Table:
    """An empty table: words at the left, numbers at the right."""
    result = Table(show_edge=False, pad_edge=False, box=None, header_style="bold")
    result.add_column(first, overflow="fold", max_width=44)
    for name in names:
        result.add_column(name, justify="right", no_wrap=True)
    return result


def text(above: list[str], table: Table, below: list[str]) -> str:
    """Lines, a table and lines, as plain text."""
    out = io.StringIO()
    console = Console(file=out, width=_WIDTH, color_system=None, legacy_windows=False)
    console.print(table)
    shown = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join([*above, "", *shown, "", *below]).rstrip()


def comparison(found: Comparison) -> str:
    """A comparison as a table with what a reader must know."""
    return text(above(found), _table(found), below(found))


def above(found: Comparison) -> list[str]:
    """What stands above the numbers."""
    lines = [f"Proportion of {found.category!r}, assumed to be {found.proportion:.4g}; {found.n:,} respondents answer"]
    if found.liars is not None:
        says = "another category" if found.liars.says is None else repr(_checks.label(found.liars.says))
        lines.append(
            f"A share of {found.liars.share:.4g} of those in {found.category!r} says {says} to the direct question, "
            f"{found.liars.under_design:.4g} under a randomized design"
        )
    return lines


def _table(found: Comparison) -> Table:
    names, rows = cells(found)
    result = grid(names[0], names[1:])
    for name, *numbers in rows:
        result.add_row(Text(name), *numbers)
    return result


def cells(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and one row for each design."""
    lied = found.liars is not None
    names = ["design", "s.e.", *(["bias", "rmse", "pays from n"] if lied else [])]
    names += ["n needed"] if found.wanted is not None else []
    rows = []
    for option in found.options:
        row = [option.name, f"{option.standard_error:.4f}"]
        if lied:
            row += [f"{option.bias:.4f}", f"{option.rmse:.4f}", _pays(option, found)]
        if found.wanted is not None:
            row.append("none reaches it" if option.needed is None else f"{option.needed:,}")
        rows.append([*row, *_private(option)])
    return [*names, "categories left", "bits", "ε", "largest odds"], rows


def _pays(option: Option, found: Comparison) -> str:
    if option is found.options[0]:
        return "–"
    return "never" if option.pays_from is None else f"{option.pays_from:,}"


def _private(option: Option) -> list[str]:
    few, many = option.still_possible
    return [
        f"{few}" if few == many else f"{few} to {many}",
        "–" if math.isnan(option.bits) else f"{option.bits:.3f}",
        _infinite(option.epsilon),
        _infinite(option.largest_odds),
    ]


def _infinite(value: float) -> str:
    return "–" if math.isnan(value) else "∞" if math.isinf(value) else f"{value:.3g}"


def _unreached(found: Comparison, wanted: float) -> str:
    """Why some designs do not reach a wanted precision."""
    never = [option for option in found.options if option.needed is None]
    biased = [option.name for option in never if abs(option.bias) >= wanted]
    told = [f"the bias of {', '.join(biased)} alone is as large"] if biased else []
    rest = [option.name for option in never if abs(option.bias) < wanted]
    if rest:
        told.append(f"{', '.join(rest)} would need more respondents than there are people")
    return f"; none reaches it: {'; '.join(told)}" if told else ""


def below(found: Comparison) -> list[str]:
    """What a reader of the numbers must know."""
    lines = [
        "categories left, bits and odds: from one answer alone, under a uniform prior; of an offer of levels the bits "
        "as they are chosen, the rest of the most revealing level",
    ]
    if found.wanted is not None:
        what = "root mean square error" if found.liars is not None else "standard error"
        lines.append(f"n needed: for a {what} of {found.wanted:g}{_unreached(found, found.wanted)}")
    if found.liars is not None:
        lines.append(
            "pays from n: with so many respondents or more the design errs less than the direct question; the bias of "
            "the direct question does not shrink with n"
        )
    kinds: dict[str, Any] = dict.fromkeys(option.kind for option in found.options)
    return [*lines, f"standard errors: {'; '.join(kinds)}"]
