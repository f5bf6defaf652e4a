"""A small vocabulary for the content of results, and its rendering as text, HTML, Markdown, LaTeX and JSON.

A result holds numbers; it knows nothing of consoles and pages. It describes its content with the few kinds of
`content`. `text`, `html`, `markdown` and `latex` turn these into lines and markup; they know nothing of results.
`plain` turns numbers into what JSON can hold.
"""

from naysay._lazy import loader

__getattr__, __dir__, __all__ = loader(__name__, __file__)
