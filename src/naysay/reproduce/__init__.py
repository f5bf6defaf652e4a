"""The results of the sources, computed again, and set beside what the sources say.

`reproduce` runs one of `SOURCES` and returns a `Reproduction`: tables, checks and pictures; `write` leaves it in a
folder. Seeds are fixed, so that the same numbers come out again.
"""

from naysay.reproduce.result import Check, Measured, Picture, Reproduction, Table
from naysay.reproduce.sources import SOURCES, Source, reproduce
from naysay.reproduce.writing import to_html, write

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
