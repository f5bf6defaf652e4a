"""How numbers of risk are written: in tables, in sentences, and in JSON."""

from __future__ import annotations

import math
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from naysay.microdata.population.theta import Theta
from naysay.show import Column, Content, Points, Table, text
from naysay.show.html import notebook

DASH = "–"
"""The sign for a number that is withheld or undefined."""

WIDTH = 130
"""Characters in a line of a table of risk."""


class Printed(ABC):
    """A result that is printed as its content."""

    @abstractmethod
    def content(self) -> list[Content]:
        """What the result tells."""

    def __str__(self) -> str:
        return text(self.content(), width=WIDTH)

    def _repr_html_(self) -> str:
        return notebook(self.content())


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
    below = "<\u00a0" if 0 < 100 * value < smallest / 2 else ""
    return f"{below}{smallest if below else 100 * value:.{digits}f}\u00a0%"


def amount(value: float) -> str:
    """A number of people, or of values, that need not be whole."""
    return DASH if math.isnan(value) else f"{value:,.4g}"


def spanned(least: float, most: float, write_share: Callable[[float], str]) -> str:
    """At least and at most, or one number where both are written alike."""
    low, high = write_share(least), write_share(most)
    return low if low == high else f"{low} to {high}"


def theta_cells(theta: Theta) -> tuple[str, str]:
    """θ and its interval with two significant digits; dashes where it is withheld or undefined."""
    if theta.withheld or math.isnan(theta.estimate):
        return DASH, DASH
    value, low, high = (
        np.format_float_positional(number, precision=2, fractional=False, trim="-")
        for number in (theta.estimate, *theta.interval)
    )
    return value, f"{low} to {high}"


def theta_percent(theta: Theta) -> str:
    """θ in percent; a dash where it is withheld or undefined."""
    return DASH if theta.withheld else percent(theta.estimate, 3)


def grid(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, width: int | None = 40, words: bool = False
) -> Table:
    """A table whose first column names the row; the others hold numbers, or words."""
    first, *others = columns
    heads = (Column(first, words=True, width=width), *(Column(name, words=words) for name in others))
    return Table(heads, tuple(map(tuple, rows)), caption)


def explained(sentences: Iterable[str]) -> Points:
    """What columns mean, in lines that are no wider than a table."""
    return Points(tuple(textwrap.wrap(" ".join(sentences), 109, subsequent_indent="  ")))
