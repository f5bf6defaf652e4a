"""Content as Markdown (CommonMark with tables), for files that people edit."""

from __future__ import annotations

import re
from collections.abc import Iterable

from naysay.printing.content import Chart, Content, Facts, Heading, Note, Points, Sentence, Table

__all__ = ["markdown", "markdown_text"]

_SPECIAL = re.compile(r"[\\`*_\[\]<>|&~]")
_FIRST = re.compile(r"(?:[-+#=]|\d+[.)](?=\s|$))")  # at the beginning of a line it would be a list or a heading


def markdown(content: Iterable[Content], *, heading: int = 3) -> str:
    r"""The content as Markdown. Text of users is escaped; charts are left out.

    Parameters
    ----------
    content : iterable of Content
    heading : int
        The level of its headings.

    Examples
    --------
    >>> from naysay.printing import Column, Table
    >>> print(markdown([Table((Column("name", words=True), Column("share")), (("a|1", "0.25"),), caption="Two")]))
    Two
    <BLANKLINE>
    | name | share |
    | --- | ---: |
    | a\|1 | 0.25 |
    """
    return "\n\n".join("\n".join(lines) for lines in (_lines(each, heading) for each in content) if lines)


def markdown_text(text: str) -> str:
    r"""A text in one line, in which nothing is read as markup.

    Examples
    --------
    >>> print(markdown_text("1. <b>a_b</b>"))
    1\. \<b\>a\_b\</b\>
    """
    line = _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))
    return _FIRST.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", line, count=1) if _FIRST.match(line) else line


def _lines(part: Content, heading: int) -> list[str]:
    match part:
        case Table():
            return _table(part)
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


def _table(part: Table) -> list[str]:
    head = [markdown_text(column.name) for column in part.columns]
    ruled = ["---" if column.words else "---:" for column in part.columns]
    rows = [head, ruled, *([markdown_text(str(cell)) for cell in row] for row in part.rows)]
    caption = [markdown_text(part.caption), ""] if part.caption else []
    return [*caption, *(f"| {' | '.join(row)} |" for row in rows)]
