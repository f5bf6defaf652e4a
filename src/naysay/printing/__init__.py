"""A small vocabulary for the content of results, and its rendering as text, HTML, LaTeX and JSON.

A result holds numbers; it knows nothing of consoles and pages. It describes its content with the few kinds of
`content`. `text`, `html` and `latex` turn these into lines, HTML and LaTeX; they know nothing of results. `plain` turns
numbers into what JSON can hold.
"""

from naysay.printing.content import *  # noqa: F403
from naysay.printing.content import __all__ as _content
from naysay.printing.html import html
from naysay.printing.latex import latex
from naysay.printing.numbers import number, plain
from naysay.printing.text import show, text

__all__ = ["html", "latex", "number", "plain", "show", "text"]
__all__ += [*_content]  # noqa: PLE0604 (a list of texts)
