"""Content as HTML, for pages."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from html import escape
from types import ModuleType
from typing import Any

from naysay.errors import ExtraMissing, need
from naysay.show.content import Bar, Content, Table
from naysay.show.text import text

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
