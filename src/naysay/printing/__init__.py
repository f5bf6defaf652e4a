"""What results tell, in a small vocabulary, and how it becomes text and JSON.

A result holds numbers and knows no console and no page. It tells its content in the few kinds of `content`; `text` and
`html` turn these into lines and into HTML, and know no result. `plain` turns numbers into what JSON can hold.
"""

from naysay.printing.content import Bar, Chart, Column, Content, Facts, Heading, Marked, Note, Points, Sentence, Table
from naysay.printing.html import html
from naysay.printing.numbers import number, plain
from naysay.printing.text import show, text

__all__ = [
    "Bar",
    "Chart",
    "Column",
    "Content",
    "Facts",
    "Heading",
    "Marked",
    "Note",
    "Points",
    "Sentence",
    "Table",
    "html",
    "number",
    "plain",
    "show",
    "text",
]
