"""Content as plain text, for consoles and notebooks."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

from naysay.printing.content import Chart, Content, Facts, Heading, Note, Points, Sentence, Table

if TYPE_CHECKING:  # rich is imported when the first table is shown
    from rich.console import Console
    from rich.table import Table as Grid

__all__ = ["WIDTH", "show", "text"]

WIDTH = 120
"""Most letters in a line of a table."""

_STYLES = {"truth": "bold", "estimate": "bold cyan", "wrong": "yellow"}
_LEAST = 12  # a narrow console leaves at least this many letters to a column of words


def text(content: Iterable[Content], *, width: int = WIDTH) -> str:
    """The content as lines. A table has an empty line before its caption and after its last row.

    Parameters
    ----------
    content : iterable of Content
    width : int
        Letters in a line of a table; sentences are never wrapped.

    Examples
    --------
    >>> from naysay.printing import Column, Note, Sentence, Table
    >>> table = Table((Column("name", words=True), Column("share")), (("a", "0.25"), ("b", "0.75")))
    >>> print(text([Sentence("Two categories"), table, Note("made up")]))
    Two categories
    <BLANKLINE>
    name  share
    a      0.25
    b      0.75
    <BLANKLINE>
    note: made up
    """
    blocks: list[list[str]] = [[]]
    for each in content:
        lines = _lines(each, width)
        if isinstance(each, Table):
            blocks += [lines, []]
        else:
            blocks[-1] += lines
    return "\n\n".join("\n".join(block) for block in blocks if block)


def show(content: Iterable[Content], console: Console) -> None:
    """Print the content on a console, in color if it has colors. Captions are bold; sentences are never wrapped."""
    from rich.text import Text

    for each in content:
        if isinstance(each, Table):
            console.print(Text(each.caption, style="bold"), soft_wrap=True)
            console.print(_grid(each))
        else:
            for line in _lines(each, WIDTH):
                console.print(line, markup=False, highlight=False, soft_wrap=True)


def _lines(part: Content, width: int) -> list[str]:
    match part:
        case Table():
            return _table(part, width)
        case Heading() | Sentence():
            return part.text.splitlines()
        case Note():
            return [f"note: {part.text}"]
        case Points():
            return list(part.items)
        case Facts():
            return [f"{term}: {value}" for term, value in part.pairs]
        case Chart():
            return []
        case _:
            raise TypeError(f"no content is a {type(part).__name__}")


def _table(part: Table, width: int) -> list[str]:
    lines = _aligned(part, width)
    if lines is None:
        from rich.console import Console

        out = io.StringIO()
        Console(file=out, width=width, color_system=None, legacy_windows=False).print(_grid(part))
        lines = out.getvalue().splitlines()
    return [*([part.caption] if part.caption else []), *(line.rstrip() for line in lines)]


def _aligned(part: Table, width: int) -> list[str] | None:
    """The lines of a table whose cells need no folding; None if rich must lay it out.

    Rich takes 0.2 ms per cell: 12 seconds for a table of 10,000 categories.
    """
    from rich.cells import cell_len

    rows = [tuple(column.name for column in part.columns), *(tuple(map(str, row)) for row in part.rows)]
    # Such as a line break or a direction mark: rich must measure it.
    if not all(cell.isprintable() for row in rows for cell in row):
        return None
    widths = [max(map(cell_len, cells)) for cells in zip(*rows, strict=True)]
    wide = any(own > (column.width or own) for own, column in zip(widths, part.columns, strict=True))
    if wide or sum(widths) + 2 * (len(widths) - 1) > width:
        return None
    lines = []
    for row in rows:
        cells = [cell if column.words else cell.rstrip() for cell, column in zip(row, part.columns, strict=True)]
        blanks = [" " * (own - cell_len(cell)) for own, cell in zip(widths, cells, strict=True)]
        placed = zip(cells, blanks, part.columns, strict=True)
        lines.append("  ".join(cell + blank if column.words else blank + cell for cell, blank, column in placed))
    return lines


def _grid(table: Table) -> Grid:
    from rich.cells import cell_len
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(show_edge=False, pad_edge=False, box=None, header_style="bold")
    for place, column in enumerate(table.columns):
        if column.words:
            least = min(
                _LEAST, column.width or _LEAST, max((cell_len(str(row[place])) for row in table.rows), default=0)
            )
            grid.add_column(Text(column.name), overflow="fold", min_width=least, max_width=column.width)
        else:
            grid.add_column(Text(column.name), justify="right", no_wrap=True)
    for row in table.rows:
        roles = (getattr(cell, "role", column.role) for cell, column in zip(row, table.columns, strict=True))
        # a Text: rich would read brackets in the users' text as markup
        grid.add_row(*(Text(str(cell), style=_STYLES.get(role, "")) for cell, role in zip(row, roles, strict=True)))
    return grid
