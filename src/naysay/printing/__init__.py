"""What results tell, in a small vocabulary, and how it becomes text and JSON.

A result holds numbers and knows no console and no page. It tells its content in the few kinds of `content`; `text` and
`html` turn these into lines and into HTML, and know no result. `plain` turns numbers into what JSON can hold.
"""

from naysay.printing.content import *  # noqa: F403
from naysay.printing.content import __all__ as _content
from naysay.printing.html import html
from naysay.printing.numbers import number, plain
from naysay.printing.text import show, text

__all__ = ["html", "number", "plain", "show", "text"]
__all__ += [*_content]  # noqa: PLE0604 (a list of texts)
