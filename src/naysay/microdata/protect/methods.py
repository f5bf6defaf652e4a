"""All methods by the names that plans call them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.protect.dropping import Drop
from naysay.microdata.protect.identity import Renumber, Shuffle
from naysay.microdata.protect.lattice import Generalize
from naysay.microdata.protect.method import Method
from naysay.microdata.protect.numbers import Microaggregate, Noise, RankSwap, Round
from naysay.microdata.protect.pram import Negative, Pram
from naysay.microdata.protect.recoding import Bins, Bottom, Dates, Intervals, Recode, Top
from naysay.microdata.protect.suppression import Suppress
from naysay.microdata.protect.synthetic import Synthesize

_RECODING = (Recode, Bins, Intervals, Dates, Generalize)
_NUMBERS = (Top, Bottom, Round, Noise, Microaggregate)
_RANDOMIZED = (Pram, Negative)

METHODS: dict[str, type[Method]] = {
    method_class.name: method_class
    for method_class in (Drop, *_RECODING, Suppress, *_NUMBERS, RankSwap, *_RANDOMIZED, Synthesize, Shuffle, Renumber)
}
"""A new method is a class in a file of its own, and its name here."""


def method_of(node: Mapping[str, Any], *, folder: Path | None = None) -> Method:
    """The method that one step of a plan describes.

    Examples
    --------
    >>> method_of({"method": "bins", "variable": "age", "width": 5})
    Bins(variable='age', width=5, base=0, keep=())
    """
    name = node.get("method")
    if name not in METHODS:
        raise DataError(f"a step must name one of the methods {_checks.listing_text(METHODS, 40)}; got {name!r}")
    return METHODS[str(name)].of_form(node, folder=folder)
