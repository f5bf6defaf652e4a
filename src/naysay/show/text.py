"""Content as text: plain for consoles, Markdown (CommonMark with tables), and LaTeX (tables need booktabs).

Numbers as people read them, and as JSON and CSV can hold them.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from naysay.show.content import Chart, Content, Facts, Heading, Note, Points, Sentence, Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid

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
    >>> from naysay.show import Column, Note, Sentence, Table
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
    line_blocks: list[list[str]] = [[]]
    for part in content:
        part_lines = _lines(part, width)
        if isinstance(part, Table):
            line_blocks += [part_lines, []]
        else:
            line_blocks[-1] += part_lines
    return "\n\n".join("\n".join(block) for block in line_blocks if block)


def show(content: Iterable[Content], console: Console) -> None:
    """Print the content on a console, in color if it has colors. Captions are bold; sentences are never wrapped."""
    from rich.text import Text

    for part in content:
        if isinstance(part, Table):
            console.print(Text(part.caption, style="bold"), soft_wrap=True)
            console.print(_grid(part))
        else:
            for line in _lines(part, WIDTH):
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
    table_lines = _aligned_lines(part, width)
    if table_lines is None:
        from rich.console import Console

        buffer = io.StringIO()
        Console(file=buffer, width=width, color_system=None, legacy_windows=False).print(_grid(part))
        table_lines = buffer.getvalue().splitlines()
    return [*([part.caption] if part.caption else []), *(line.rstrip() for line in table_lines)]


def _aligned_lines(part: Table, width: int) -> list[str] | None:
    """The lines of a table whose cells need no folding; None if rich must lay it out.

    Rich takes 0.2 ms per cell: 12 seconds for a table of 10,000 categories.
    """
    from rich.cells import cell_len

    text_rows = [tuple(column.name for column in part.columns), *(tuple(map(str, row)) for row in part.rows)]
    # Such as a line break or a direction mark: rich must measure it.
    if not all(cell.isprintable() for row in text_rows for cell in row):
        return None
    column_widths = [max(map(cell_len, column_cells)) for column_cells in zip(*text_rows, strict=True)]
    is_too_wide = any(
        column_width > (column.width or column_width)
        for column_width, column in zip(column_widths, part.columns, strict=True)
    )
    if is_too_wide or sum(column_widths) + 2 * (len(column_widths) - 1) > width:
        return None
    table_lines = []
    for row in text_rows:
        row_cells = [cell if column.words else cell.rstrip() for cell, column in zip(row, part.columns, strict=True)]
        blanks = [
            " " * (column_width - cell_len(cell)) for column_width, cell in zip(column_widths, row_cells, strict=True)
        ]
        padded_cells = zip(row_cells, blanks, part.columns, strict=True)
        table_lines.append(
            "  ".join(cell + blank if column.words else blank + cell for cell, blank, column in padded_cells)
        )
    return table_lines


def _grid(table: Table) -> Grid:
    from rich.cells import cell_len
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(show_edge=False, pad_edge=False, box=None, header_style="bold")
    for column_place, column in enumerate(table.columns):
        if column.words:
            least_width = min(
                _LEAST, column.width or _LEAST, max((cell_len(str(row[column_place])) for row in table.rows), default=0)
            )
            grid.add_column(Text(column.name), overflow="fold", min_width=least_width, max_width=column.width)
        else:
            grid.add_column(Text(column.name), justify="right", no_wrap=True)
    for row in table.rows:
        # a Text: rich would read brackets in the users' text as markup
        grid.add_row(
            *(
                Text(str(cell), style=_STYLES.get(getattr(cell, "role", column.role), ""))
                for cell, column in zip(row, table.columns, strict=True)
            )
        )
    return grid


def number(value: float) -> float | None:
    """A JSON number; None if it is undefined or infinite.

    Examples
    --------
    >>> number(0.5), number(float("nan"))
    (0.5, None)
    """
    return float(value) if math.isfinite(value) else None


def fixed_decimals(value: float, places: int) -> str:
    """A number to so many decimals, the same on every processor.

    A value such as 0.1145 is computed a little above or below itself, and the last digit would follow that noise.

    Examples
    --------
    >>> fixed_decimals(0.1145, 3) == fixed_decimals(0.1145 - 1e-15, 3) == fixed_decimals(0.1145 + 1e-15, 3)
    True
    >>> fixed_decimals(-1e-17, 2)
    '0.00'
    """
    return f"{round(value, places + 6) + 0.0:.{places}f}"  # -0.0 + 0.0 is 0.0


def plain(value: object) -> Any:
    """A value made of arrays, tuples and numbers, as lists and JSON numbers; undefined numbers become None.

    Examples
    --------
    >>> plain({"shares": np.array([0.25, np.nan]), "names": ("a", 1)})
    {'shares': [0.25, None], 'names': ['a', 1]}
    """
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {key: plain(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [plain(element) for element in value]
    return number(value) if isinstance(value, float) else value


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV, without a line break after the last.

    Examples
    --------
    >>> print(csv_text([("category", "share"), ("a, b", 0.25)]))
    category,share
    "a, b",0.25
    """
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().removesuffix("\n")


_SPECIAL = re.compile(r"[\\`*_\[\]<>|&~]")
_LINE_MARKUP = re.compile(r"(?:[-+#=]|\d+[.)](?=\s|$))")  # at the beginning of a line it would be a list or a heading


def markdown(content: Iterable[Content], *, heading: int = 3) -> str:
    r"""The content as Markdown. Text of users is escaped; charts are left out.

    Parameters
    ----------
    content : iterable of Content
    heading : int
        The level of its headings.

    Examples
    --------
    >>> from naysay.show import Column, Table
    >>> print(markdown([Table((Column("name", words=True), Column("share")), (("a|1", "0.25"),), caption="Two")]))
    Two
    <BLANKLINE>
    | name | share |
    | --- | ---: |
    | a\|1 | 0.25 |
    """
    return "\n\n".join("\n".join(lines) for lines in (_markdown_lines(part, heading) for part in content) if lines)


def markdown_text(text: str) -> str:
    r"""A text in one line, in which nothing is read as markup.

    Examples
    --------
    >>> print(markdown_text("1. <b>a_b</b>"))
    1\. \<b\>a\_b\</b\>
    """
    escaped_line = _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))
    return (
        _LINE_MARKUP.sub(lambda line_start: f"{line_start[0][:-1]}\\{line_start[0][-1]}", escaped_line, count=1)
        if _LINE_MARKUP.match(escaped_line)
        else escaped_line
    )


def _markdown_lines(part: Content, heading: int) -> list[str]:
    match part:
        case Table():
            head_cells = [markdown_text(column.name) for column in part.columns]
            rule_cells = ["---" if column.words else "---:" for column in part.columns]
            table_rows = [head_cells, rule_cells, *([markdown_text(str(cell)) for cell in row] for row in part.rows)]
            caption_lines = [markdown_text(part.caption), ""] if part.caption else []
            return [*caption_lines, *(f"| {' | '.join(row)} |" for row in table_rows)]
        case Heading():
            return [f"{'#' * heading} {markdown_text(part.text)}"]
        case Sentence():
            return [markdown_text(part.text)]
        case Note():
            return [f"> {markdown_text(part.text)}"]
        case Points():
            return [f"- {markdown_text(item)}" for item in part.items]
        case Facts():
            return [f"- **{markdown_text(term)}:** {markdown_text(value)}" for term, value in part.pairs]
        case Chart():
            return []
        case _:
            raise TypeError(f"no content is a {type(part).__name__}")


_ESCAPES = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "“": "``", "”": "''", "–": "--", "−": "$-$", "²": "$^2$"},
    **{"χ": r"$\chi$", "ε": r"$\varepsilon$", "λ": r"$\lambda$", "π": r"$\pi$", "∞": r"$\infty$", "≤": r"$\le$"},
    **{"≥": r"$\ge$", "×": r"$\times$", "…": r"\dots{}"},
}
_LATEX_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPES)))
_LATEX_NUMBER = re.compile(r"-(?=[\d.])")


def latex(content: Iterable[Content]) -> str:
    r"""The content as LaTeX. Text of users is escaped; charts are left out.

    Parameters
    ----------
    content : iterable of Content

    Examples
    --------
    >>> from naysay.show import Column, Table
    >>> print(latex([Table((Column("name", words=True), Column("share")), (("a_1", "-0.25"),), caption="50 %")]))
    \begin{table}
    \caption{50 \%}
    \begin{tabular}{lr}
    \toprule
    name & share \\
    \midrule
    a\_1 & $-$0.25 \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    return "\n".join(line for part in content for line in _latex_lines(part))


def _latex_lines(part: Content) -> list[str]:
    match part:
        case Table():
            return _latex_table(part)
        case Heading():
            return [f"\\subsection*{{{_escape_text(part.text)}}}"]
        case Sentence():
            return [_escape_text(line) + r"\\" for line in part.text.splitlines()]
        case Note():
            return [rf"\emph{{Note:}} {_escape_text(part.text)}\\"]
        case Points():
            return [r"\begin{itemize}", *(rf"\item {_escape_text(item)}" for item in part.items), r"\end{itemize}"]
        case Facts():
            return [rf"\emph{{{_escape_text(term)}:}} {_escape_text(value)}\\" for term, value in part.pairs]
        case Chart():
            return []
        case _:
            raise TypeError(f"no content is a {type(part).__name__}")


def _latex_table(part: Table) -> list[str]:
    """A floating table: words are aligned left, numbers right."""
    table_rows = [" & ".join(_latex_cell(str(cell)) for cell in row) + r" \\" for row in part.rows]
    if part.apart:
        table_rows.insert(len(table_rows) - part.apart, r"\midrule")
    return [
        r"\begin{table}",
        *([rf"\caption{{{_escape_text(part.caption)}}}"] if part.caption else []),
        rf"\begin{{tabular}}{{{''.join('l' if column.words else 'r' for column in part.columns)}}}",
        r"\toprule",
        " & ".join(_escape_text(column.name) for column in part.columns) + r" \\",
        r"\midrule",
        *table_rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def _latex_cell(text: str) -> str:
    """A cell. A negative number gets a minus sign, not a hyphen."""
    return (
        _LATEX_NUMBER.sub("$-$", text, count=1) if re.fullmatch(r"-?[\d.,]+(e[+-]?\d+)?", text) else _escape_text(text)
    )


def _escape_text(text: str) -> str:
    return _LATEX_SPECIAL.sub(lambda special_letter: _ESCAPES[special_letter[0]], text)
