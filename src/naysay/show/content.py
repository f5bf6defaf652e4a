"""The vocabulary with which every result describes its content."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from naysay.errors import DataError, need


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


@dataclass(frozen=True, repr=False)
class Picture:
    """A finished image, which notebooks show.

    Parameters
    ----------
    svg : str

    Examples
    --------
    >>> Picture("<svg/>")
    <a picture: a notebook shows it, .save("plot.svg") writes it>
    >>> Picture("<svg/>").save("plot.gif")
    Traceback (most recent call last):
    ...
    naysay.errors.DataError: a picture is saved as .svg or .png; got 'plot.gif'
    """

    svg: str

    def save(self, file: str | PathLike[str]) -> None:
        """Write the image to a file; its name ends in .svg or .png.

        Raises
        ------
        DataError
            Another ending.
        ExtraMissing
            A PNG without the extra ``plots``.
        """
        path = Path(file)
        if path.suffix == ".svg":
            path.write_text(self.svg, encoding="utf-8")
        elif path.suffix == ".png":
            plain_svg = re.sub(r"var\(--[\w-]+,([^)]*)\)", r"\1", self.svg)  # the converter knows no variables of CSS
            path.write_bytes(need("vl_convert").svg_to_png(plain_svg, scale=2))
        else:
            raise DataError(f"a picture is saved as .svg or .png; got {str(file)!r}")

    def __repr__(self) -> str:
        return '<a picture: a notebook shows it, .save("plot.svg") writes it>'

    def _repr_svg_(self) -> str:
        return self.svg


Content = Heading | Sentence | Note | Points | Facts | Table | Chart
