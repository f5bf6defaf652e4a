"""A reproduction as plain text and as Markdown: the same tables, what the source says beside what came out."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from reproductions.result import Cell, Check, Measured, Reproduction, Table

__all__ = ["cells", "check_cells", "heading", "remarks", "table_text", "to_markdown", "to_text"]

_WIDTH = 120
CHECKED = ("", "the source", "naysay", "±", "agrees")


def heading(found: Reproduction) -> str:
    """How the numbers came about."""
    return f"{found.runs:,} surveys in each simulation, seed {found.seed}"


def remarks(found: Reproduction) -> list[str]:
    """What a reader of the numbers must know, and how much agrees."""
    lines = list(found.notes)
    if any(check.error for check in found.checks):
        lines.insert(
            0, "±: Monte Carlo error, one standard error; a number agrees within four of them and the rounding"
        )
    return [*lines, f"{found.agreeing} of {len(found.checks)} agree"]


def cells(table: Table) -> list[list[str]]:
    """The rows as they are shown."""
    return [[_shown(cell, table.digits) for cell in row] for row in table.rows]


def check_cells(checks: Sequence[Check]) -> list[list[str]]:
    """The checks as rows under `CHECKED`."""
    rows = []
    for check in checks:
        relation = "" if check.relation == "is" else f"{check.relation} "
        error = f"{check.error:.2g}" if check.error else "exact"
        said = [f"{relation}{_number(check.source)}", _number(check.found), error]
        rows.append([check.what, *said, "yes" if check.agrees else "NO"])
    return rows


def _shown(cell: Cell, digits: int) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, Measured):
        return f"{_shown(cell.value, digits)} ±{_shown(cell.error, digits).removeprefix('0')}"
    if isinstance(cell, float):
        return "–" if math.isnan(cell) else "∞" if math.isinf(cell) else f"{cell:.{digits}f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def _number(value: float) -> str:
    if math.isinf(value):
        return "∞"
    return f"{value:,.4f}".rstrip("0").rstrip(".") if abs(value) < 1e6 else f"{value:.3g}"


def to_text(found: Reproduction) -> str:
    """The reproduction as plain text."""
    tables = [f"{table_text(table)}\n" for table in found.tables]
    checks = _text(CHECKED, check_cells(found.checks))
    return "\n".join([found.title, found.source, heading(found), "", *tables, checks, "", *remarks(found)])


def table_text(table: Table) -> str:
    """A table as plain text, under its title."""
    return f"{table.title}\n{_text(table.columns, cells(table))}"


def _text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    out = io.StringIO()
    Console(file=out, width=_WIDTH, color_system=None, legacy_windows=False).print(_grid(columns, rows))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Grid:
    result = Grid(show_edge=False, pad_edge=False, box=None, header_style="bold")
    result.add_column(columns[0], overflow="fold")
    for name in columns[1:]:
        result.add_column(name, justify="right", no_wrap=len(columns) > 2)
    for first, *numbers in rows:
        result.add_row(Text(first), *map(Text, numbers))
    return result


def to_markdown(found: Reproduction) -> str:
    """The reproduction as tables of Markdown, what the source says beside what came out first."""
    parts = [f"{heading(found)}.", _markdown(CHECKED, check_cells(found.checks))]
    parts += ["\n".join(f"- {line}" for line in remarks(found))]
    for table in found.tables:
        parts += [f"**{table.title}**", _markdown(table.columns, cells(table))]
    return "\n\n".join(parts) + "\n"


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---", *["--:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
