"""The vocabulary with which every result describes its content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """The title of the content that follows."""

    text: str


@dataclass(frozen=True)
class Sentence:
    """A line of text, or a paragraph of a page; `small` if it only explains."""

    text: str
    small: bool = False


@dataclass(frozen=True)
class Note:
    """A reservation that stays with the numbers."""

    text: str


@dataclass(frozen=True)
class Points:
    """Sentences, one below the other; `small` if they only explain."""

    items: tuple[str, ...]
    small: bool = False


@dataclass(frozen=True)
class Facts:
    """The basis of the numbers, as pairs of a term and its value."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Bar:
    """A cell that is also drawn as a bar: its text, and the filled share of the bar, from 0 to 1."""

    text: str
    share: float

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Marked:
    """A cell that stands out on a page in the style of its role, such as ``wrong``."""

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
        Whether it holds words. Words are aligned left and may be folded; numbers are aligned right and never folded.
    width : int, optional
        Most letters in a line of words.
    role : str
        What its numbers are, such as ``estimate`` or ``truth``. Pages give each role a color.
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
        How many of the last rows are of another kind than the rows above. A page sets them apart.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | Bar | Marked, ...], ...]
    caption: str = ""
    apart: int = 0


@dataclass(frozen=True)
class Chart:
    """An image. It is drawn when a page needs it; text and JSON leave it out.

    Parameters
    ----------
    draw : callable
        Takes a width in pixels and a number of letters for a line of labels, and returns SVG text. Several images
        follow one another in the text.
    """

    draw: Callable[[int, int], str]


Content = Heading | Sentence | Note | Points | Facts | Table | Chart
