"""Texts that a spreadsheet would take for formulas, written so that it does not, and read back as they were."""

from __future__ import annotations

import polars as pl

# A formula may also begin in the middle of a text: a spreadsheet that separates cells by semicolons or tabs splits a
# file of commas there, and takes a new line for a new row. Spaces before it are skipped, full-width signs taken too.
_AT = r"(^|[;,|\t\n\r])"
_FORMULA = r"('*[^\S\t\n\r]*[=+\-@＝＋－＠])"


def escaped(name: str) -> pl.Expr:
    """A column of texts with an apostrophe before each formula, and before what looks escaped already.

    Examples
    --------
    >>> frame = pl.DataFrame({"said": ["=1+1", "'=1+1", "a;=1+1", "1+1", "'t was"]})
    >>> marked = frame.select(escaped("said"))
    >>> marked["said"].to_list()
    ["'=1+1", "''=1+1", "a;'=1+1", '1+1', "'t was"]
    >>> marked.select(unescaped("said")).equals(frame)
    True
    """
    return pl.col(name).str.replace_all(_AT + _FORMULA, "$1'$2")


def unescaped(name: str) -> pl.Expr:
    """The column of texts from which `escaped` was made."""
    return pl.col(name).str.replace_all(f"{_AT}'{_FORMULA}", "$1$2")
