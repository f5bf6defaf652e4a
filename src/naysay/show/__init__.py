"""A small vocabulary for the content of results, and its rendering as text, HTML, Markdown, LaTeX and JSON.

A result holds numbers; it knows nothing of consoles and pages. It describes its content with the few kinds of
`content`. `text`, `html`, `markdown` and `latex` turn these into lines and markup; they know nothing of results.
`plain` turns numbers into what JSON can hold.
"""

from naysay.show.content import (
    Bar,
    Chart,
    Column,
    Content,
    Facts,
    Heading,
    Marked,
    Note,
    Picture,
    Points,
    Sentence,
    Table,
)
from naysay.show.result import Records, Result, html, latex, markdown, markdown_text, number, plain, show, text

__all__ = [
    "Bar",
    "Chart",
    "Column",
    "Content",
    "Facts",
    "Heading",
    "Marked",
    "Note",
    "Picture",
    "Points",
    "Records",
    "Result",
    "Sentence",
    "Table",
    "html",
    "latex",
    "markdown",
    "markdown_text",
    "number",
    "plain",
    "show",
    "text",
]
