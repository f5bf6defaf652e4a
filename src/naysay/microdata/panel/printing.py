"""What became of a panel, as text; never a respondent's values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from naysay import _checks

if TYPE_CHECKING:
    from naysay.microdata.panel.birthdays import Birthdays
    from naysay.microdata.panel.merge import Merged

__all__ = ["birthdays", "merged"]


def merged(found: Merged) -> str:
    """Who is kept, the table of missing values, and attendance by wave."""
    aside = (
        (found.background_only, "with background answers only"),
        (found.without_background, "without background"),
        (found.without_any, "without any answer"),
    )
    told = ", ".join(f"{number:,} {what}" for number, what in aside if number)
    complete = found.missing.filter(found.missing["missing"] == 0)["variable"].to_list()
    gaps = found.missing.filter(found.missing["missing"] > 0)
    waves, present = found.attendance, found.attendance["present"].to_numpy()
    lines = [
        f"{found.respondents:,} respondents in {_checks.several(waves.height, 'wave', 'waves')},"
        f" {waves['wave'][0]} to {waves['wave'][-1]}",
        f"kept: {found.kept:,}; set aside: {told or 'nobody'}",
        f"at a time: {int(present.min()):,} to {int(present.max()):,};"
        f" entered after the first wave: {waves['entered'][1:].sum():,}; left: {waves['left'].sum():,}",
        "",
    ]
    if gaps.height:
        lines += _grid(("variable", "missing", "share", "never asked"), _rows(found, gaps.rows()))
    if complete:
        lines.append(f"complete: {', '.join(complete)}")
    lines += [f"note: {warning}" for warning in found.warnings]
    return "\n".join(lines)


def _rows(found: Merged, gaps: Iterable[tuple[str, int, float, int]]) -> Iterable[tuple[str, ...]]:
    for variable, missing, share, asked in gaps:
        yield variable, f"{missing:,}", f"{share:.3f}", f"{found.kept - asked:,}"


def birthdays(found: Birthdays) -> str:
    """How many months remain for how many respondents, and what contradicts itself."""
    n = max(found.table.height, 1)
    rows = [
        (_checks.several(size, "candidate", "candidates") if size else "missing", f"{number:,}", f"{number / n:.1%}")
        for size, number in found.candidates.items()
    ]
    lines = _grid(("month of birth", "respondents", "share"), rows)
    for problem, number in found.contradictions["problem"].value_counts(sort=True).iter_rows():
        lines.append(
            f"contradiction, taken as missing: {problem}: {_checks.several(number, 'respondent', 'respondents')}"
        )
    lines += [f"note: {warning}" for warning in found.warnings]
    return "\n".join(lines)


def _grid(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Columns under their heads, the first to the left, numbers to the right."""
    cells = [heads, *rows]
    widths = [max(len(row[place]) for row in cells) for place in range(len(heads))]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
