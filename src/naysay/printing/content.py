"""The vocabulary in which every result tells its content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Bar", "Chart", "Column", "Content", "Facts", "Heading", "Marked", "Note", "Points", "Sentence", "Table"]


@dataclass(frozen=True)
class Heading:
    """The title of what follows."""

    text: str


@dataclass(frozen=True)
class Sentence:
    """A line of text, or a paragraph of a page; small where it only explains."""

    text: str
    small: bool = False


@dataclass(frozen=True)
class Note:
    """A reservation that travels with the numbers."""

    text: str


@dataclass(frozen=True)
class Points:
    """Sentences, one below the other; small where they only explain."""

    items: tuple[str, ...]
    small: bool = False


@dataclass(frozen=True)
class Facts:
    """What numbers rest on, as pairs of a term and its value."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Bar:
    """A cell that is also drawn: a text, and a share of one as long as the bar is full."""

    text: str
    share: float

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Marked:
    """A cell that stands out on a page, by the style of its role, such as ``wrong``."""

    text: str
    role: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
    words : bool
        Whether it holds words, which stand at the left and are folded; numbers stand at the right and never are.
    width : int, optional
        The most letters of a line of words.
    role : str
        What its numbers are, such as ``estimate`` or ``truth``: pages give each role its color.
    """

    name: str
    words: bool = False
    width: int | None = None
    role: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells under named columns; the first column names the row.

    Parameters
    ----------
    columns : tuple of Column
    rows : tuple of tuple of (str, Bar or Marked)
    caption : str
        What the table shows, in one line above it.
    apart : int
        How many of the last rows are of another kind than those above, and set apart on a page.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | Bar | Marked, ...], ...]
    caption: str = ""
    apart: int = 0


@dataclass(frozen=True)
class Chart:
    """An image, drawn when a page needs it; text and JSON leave it out.

    Parameters
    ----------
    draw : callable
        SVG text for a width in pixels and a number of letters in a line of labels; of several images, one after the
        other.
    """

    draw: Callable[[int, int], str]


Content = Heading | Sentence | Note | Points | Facts | Table | Chart
