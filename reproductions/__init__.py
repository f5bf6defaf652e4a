"""The results of the sources, computed again, and set beside what the sources say.

`reproduce` runs one of `SOURCES` and returns a `Reproduction`: tables, checks and pictures; `write` leaves it in a
folder. Seeds are fixed, so that the same numbers come out again.
"""

from reproductions.result import Check, Measured, Picture, Reproduction, Table
from reproductions.sources import SOURCES, Source, reproduce
from reproductions.writing import to_html, write

__all__ = [
    "SOURCES",
    "Check",
    "Measured",
    "Picture",
    "Reproduction",
    "Source",
    "Table",
    "reproduce",
    "to_html",
    "write",
]
