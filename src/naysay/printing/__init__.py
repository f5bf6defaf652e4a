"""What results tell, in a small vocabulary, and how it becomes text, HTML, LaTeX and JSON.

A result holds numbers and knows no console and no page. It tells its content in the few kinds of `content`; `text`,
`html` and `latex` turn these into lines, into HTML and into LaTeX, and know no result. `plain` turns numbers into what
JSON can hold.
"""

from naysay.printing.content import *  # noqa: F403
from naysay.printing.content import __all__ as _content
from naysay.printing.html import html
from naysay.printing.latex import latex
from naysay.printing.numbers import number, plain
from naysay.printing.text import show, text

__all__ = ["html", "latex", "number", "plain", "show", "text"]
__all__ += [*_content]  # noqa: PLE0604 (a list of texts)
