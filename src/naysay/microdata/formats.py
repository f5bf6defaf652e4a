"""How numbers of risk are written: shares, percent and amounts in tables and sentences."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence

from naysay.show import Column, Points, Result, Table, text

DASH = "–"
"""The sign for a number that is withheld or undefined."""

WIDTH = 130
"""Characters in a line of a table of risk."""


class Printed(Result):
    """A result whose tables may be wider than those of estimates."""

    def __str__(self) -> str:
        return text(self.parts(), width=WIDTH)


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
