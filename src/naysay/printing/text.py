"""Content as plain text, for consoles and notebooks."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

from naysay.printing.content import Chart, Content, Facts, Heading, Note, Points, Sentence, Table

if TYPE_CHECKING:  # loaded with a first table
    from rich.console import Console
    from rich.table import Table as Grid

__all__ = ["WIDTH", "show", "text"]

WIDTH = 120
"""Letters in a line of a table."""

_STYLES = {"truth": "bold", "estimate": "bold cyan", "wrong": "yellow"}
_LEAST = 12  # letters of a column of words, below which a narrow console does not press it


def text(content: Iterable[Content], *, width: int = WIDTH) -> str:
    """The content as lines; a table has an empty line before its caption and after its last row.

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
    """Print the content on a console, in colors where it has them; captions are bold, and sentences never wrapped."""
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
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=width, color_system=None, legacy_windows=False).print(_grid(part))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return [part.caption, *lines] if part.caption else lines


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
            grid.add_column(column.name, overflow="fold", min_width=least, max_width=column.width)
        else:
            grid.add_column(column.name, justify="right", no_wrap=True)
    for row in table.rows:
        roles = (getattr(cell, "role", column.role) for cell, column in zip(row, table.columns, strict=True))
        # Text, for what users wrote is no markup
        grid.add_row(*(Text(str(cell), style=_STYLES.get(role, "")) for cell, role in zip(row, roles, strict=True)))
    return grid
