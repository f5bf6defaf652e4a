"""What an analysis returns, and every form that its content takes: text, Markdown, LaTeX, HTML, CSV, JSON, frames."""

from __future__ import annotations

import csv
import functools
import io
import itertools
import json
import math
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from naysay.errors import ExtraMissing, need
from naysay.show.content import Bar, Chart, Column, Content, Facts, Heading, Note, Points, Sentence, Table

if TYPE_CHECKING:
    from polars import DataFrame
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
    >>> fixed_decimals(-1e-17, 2), fixed_decimals(-0.004, 2)
    ('0.00', '0.00')
    """
    return f"{round(round(value, places + 6), places) + 0.0:.{places}f}"  # -0.0 + 0.0 is 0.0


def rounded_up(value: float, digits: int = 3) -> str:
    """A number with a few digits that is never less than the value: a bound that is printed must hold.

    Examples
    --------
    >>> rounded_up(2.33333), rounded_up(math.inf), rounded_up(4.0), rounded_up(1234.5)
    ('2.34', '∞', '4', '1240')
    """
    if math.isinf(value) or value == 0:
        return "∞" if value else "0"
    rounding_unit = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    above = math.ceil(value / rounding_unit - 1e-9) * rounding_unit
    return f"{above:.{digits}g}" if abs(above) < 10**digits else f"{above:.0f}"


def rounded_down(value: float, digits: int = 3) -> str:
    """A number of 0 or more with a few digits that is never more than the value, for what is said to be at least so.

    Examples
    --------
    >>> rounded_down(2.33667), rounded_down(math.inf), rounded_down(4.0), rounded_down(1236.7)
    ('2.33', '∞', '4', '1230')
    """
    return rounded_up(-value, digits).removeprefix("-")


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


WIDE, PHONE = (760, 26), (340, 17)
"""Width in pixels and letters in a line of labels, for charts on a wide screen and on a phone."""


def html(content: Iterable[Content]) -> str:
    """The content as HTML. Text of users is escaped; charts are drawn for wide screens and for phones.

    Parameters
    ----------
    content : iterable of Content

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay.show import Note, Sentence
    >>> print(html([Sentence("1 < 2", small=True), Note("made up")]))
    <p class="small">1 &lt; 2</p>
    <ul class="notes">
    <li>made up</li>
    </ul>
    <BLANKLINE>
    """
    content_runs = [
        (content_kind.__name__, list(run_parts)) for content_kind, run_parts in itertools.groupby(content, type)
    ]
    return template("naysay.show", "content.html", runs=content_runs, kinds=_kinds, wide=WIDE, phone=PHONE)


def notebook(content: Sequence[Content]) -> str:
    """The content for a notebook: HTML, or lines of text if Jinja2 is not installed.

    Examples
    --------
    >>> from naysay.show import Sentence
    >>> notebook([Sentence("1 < 2")]).strip()
    '<p>1 &lt; 2</p>'
    """
    try:
        return html(content)
    except ExtraMissing:  # Jupyter installs Jinja2, but the kernel of another notebook may lack it
        return f"<pre>{escape(text(content))}</pre>"


def template(package: str, name: str, **values: object) -> str:
    """A package's template, filled with values; values are escaped."""
    return str(_environment(need("jinja2"), package).get_template(name).render(values))


@functools.cache
def _environment(jinja: ModuleType, package: str) -> Any:
    return jinja.Environment(
        loader=jinja.PackageLoader(package, "templates"),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _kinds(table: Table) -> list[str]:
    """The style of each column: for bars, for words, or of its role. The column that names the rows has none."""
    first_row = table.rows[0] if table.rows else [""] * len(table.columns)
    column_kinds = [
        "bar" if isinstance(cell, Bar) else "words" if column.words else column.role
        for column, cell in zip(table.columns, first_row, strict=True)
    ]
    return ["" if table.columns[0].words else column_kinds[0], *column_kinds[1:]]


class Records(NamedTuple):
    """A table of unrounded numbers: the names of its columns, which may repeat, and its rows."""

    names: Sequence[str]
    rows: Sequence[Sequence[object]]

    def to_csv(self) -> str:
        """The table as CSV, without a line break after the last row."""
        return csv_text([self.names, *(plain(list(row)) for row in self.rows)])

    def to_frame(self) -> DataFrame:
        """The table as a dataframe of Polars."""
        from polars import DataFrame

        return DataFrame([plain(list(row)) for row in self.rows], schema=list(self.names), orient="row")


class Result(ABC):
    """What an analysis returns.

    A subclass has `parts`, how it reads, and `numbers`, under the stable names of its JSON. Where it is a table of
    numbers it has `records`, too. What decides how it is printed, such as a level of confidence, is a field of it, or
    a parameter with a default.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from naysay.show import Note, Sentence
    >>> @dataclass(frozen=True)
    ... class Share(Result):
    ...     share: float
    ...
    ...     def parts(self):
    ...         return [Sentence(f"one in {1 / self.share:.0f}"), Note("made up")]
    ...
    ...     def numbers(self):
    ...         return {"share": self.share}
    >>> print(Share(0.25))
    one in 4
    note: made up
    >>> print(Share(0.25).to_csv())
    share
    0.25
    >>> Share(float("nan")).to_dict(), Share(0.25).remarks()
    ({'share': None}, ['made up'])
    """

    @abstractmethod
    def parts(self) -> Sequence[Content]:
        """How it reads, in the vocabulary of `naysay.show`."""

    @abstractmethod
    def numbers(self) -> dict[str, object]:
        """Its numbers by stable names: arrays, numbers and labels, and lists or mappings of them."""

    def records(self) -> Records:
        """Its numbers as a table: by default one row of all of them."""
        numbers_by_name = self.numbers()
        return Records(list(numbers_by_name), [list(numbers_by_name.values())])

    def remarks(self) -> list[str]:
        """What a reader must know beside the numbers, a line each: its points and notes."""
        remark_parts = [part for part in self.parts() if isinstance(part, Points | Note)]
        return [line for part in remark_parts for line in (part.items if isinstance(part, Points) else (part.text,))]

    def to_dict(self) -> dict[str, Any]:
        """The numbers as one JSON object; undefined and infinite ones are None."""
        json_object: dict[str, Any] = plain(self.numbers())
        return json_object

    def to_json(self) -> str:
        """The numbers as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)

    def to_csv(self) -> str:
        """The records as CSV, without a line break after the last."""
        return self.records().to_csv()

    def to_frame(self) -> DataFrame:
        """The records as a dataframe of Polars."""
        return self.records().to_frame()

    def to_html(self) -> str:
        """The parts as HTML. Charts need the extra ``plots``."""
        return html(self.parts())

    def to_markdown(self) -> str:
        """The parts as Markdown."""
        return markdown(self.parts())

    def to_latex(self) -> str:
        """The parts as LaTeX."""
        return latex(self.parts())

    def __str__(self) -> str:
        return text(self.parts())

    def _repr_html_(self) -> str:
        return notebook(self.parts())


DASH = "–"
"""The sign for a number that is withheld or undefined."""

RISK_WIDTH = 130
"""Characters in a line of a table of risk."""


class Printed(Result):
    """A result whose tables may be wider than those of estimates."""

    def __str__(self) -> str:
        return text(self.parts(), width=RISK_WIDTH)


def share(value: float) -> str:
    """A share with four digits; one that is above zero never reads as zero.

    Examples
    --------
    >>> share(0.25), share(0.0), share(0.00002)
    ('0.2500', '0.0000', '<0.0001')
    """
    return DASH if math.isnan(value) else "<0.0001" if 0 < value < 0.00005 else f"{value:.4f}"


def percent(value: float, digits: int = 2) -> str:
    r"""A share in percent, on one line with its sign; a dash where it is undefined.

    A share above zero never reads as zero, because "0.00 %" says that there is no risk.

    Examples
    --------
    >>> [percent(value).replace("\u00a0", " ") for value in (0.25, 0.0, 0.00004)]
    ['25.00 %', '0.00 %', '< 0.01 %']
    """
    if math.isnan(value):
        return DASH
    smallest = 10.0**-digits
    below_sign = "<\u00a0" if 0 < 100 * value < smallest / 2 else ""
    return f"{below_sign}{smallest if below_sign else 100 * value:.{digits}f}\u00a0%"


def amount(value: float) -> str:
    """A number of people, or of values, that need not be whole."""
    return DASH if math.isnan(value) else f"{value:,.4g}"


def spanned(least: float, most: float, write_share: Callable[[float], str]) -> str:
    """At least and at most, or one number where both are written alike."""
    least_text, most_text = write_share(least), write_share(most)
    return least_text if least_text == most_text else f"{least_text} to {most_text}"


def grid(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, width: int | None = 40, words: bool = False
) -> Table:
    """A table whose first column names the row; the others hold numbers, or words."""
    first_title, *other_titles = columns
    head_columns = (
        Column(first_title, words=True, width=width),
        *(Column(column_title, words=words) for column_title in other_titles),
    )
    return Table(head_columns, tuple(map(tuple, rows)), caption)


def explained(sentences: Iterable[str]) -> Points:
    """What columns mean, in lines that are no wider than a table."""
    return Points(tuple(textwrap.wrap(" ".join(sentences), 109, subsequent_indent="  ")))
