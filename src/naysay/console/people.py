"""Assumptions about people, read from options: shares, and the levels that they choose."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from naysay import _checks, simulate
from naysay.errors import DataError

if TYPE_CHECKING:
    pass

Preferences = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="How people choose levels: uniform, skewed, skewed:open, tied:CATEGORY, or a share for each level, "
        "such as 0.5,0.3,0.2.",
    ),
]

Floats = NDArray[np.float64]


def numbers(text: str, option: str) -> tuple[float, ...]:
    """The numbers of one CSV record."""
    try:
        return tuple(float(cell) for cell in record_cells(text))
    except ValueError:
        raise DataError(f"{option} must be numbers with commas between them, such as 0.2,0.8; got {text!r}") from None


def record_cells(text: str) -> tuple[str, ...]:
    """The cells of one CSV record."""
    return tuple(next(csv.reader([text], skipinitialspace=True), []))


def shares_by_label(text: str, option: str) -> float | dict[str, float]:
    """One number, or numbers by category such as ``low=0.1,high=0.3``."""
    if "=" not in text:
        share_list = numbers(text, option)
        if len(share_list) != 1:
            raise DataError(f"{option} must be one share, or shares by category, such as high=0.3; got {text!r}")
        return share_list[0]
    result = {}
    for cell in record_cells(text):
        label, _, number = cell.rpartition("=")
        if not label:
            raise DataError(f"{option} must name a category in each of its shares, such as high=0.3; got {cell!r}")
        result[label] = numbers(number, option)[0]
    return result


def preferences_of(text: str | None, design: Any) -> Floats | Sequence[float] | None:
    """The preferences over levels that ``--preferences`` describes."""
    if text is None:
        return None
    if design.assigned_by != "respondent":
        raise DataError(f"{design.name or design.kind} offers no levels; leave --preferences out")
    name, _, argument = text.strip().partition(":")
    if name == "tied" and not argument:
        first_category = _checks.label(design.categories[0])
        raise DataError(f"--preferences tied needs the categories whose members hide, such as tied:{first_category}")
    preference_makers: dict[str, Any] = {
        "uniform": lambda: None,
        "skewed": lambda: simulate.skewed(design, toward=argument or "private"),
        "tied": lambda: simulate.tied(design, hiding=record_cells(argument)),
    }
    if name in preference_makers:
        return preference_makers[name]()  # type: ignore[no-any-return]
    if not name[:1].isdigit() and name[:1] not in (".", "-"):
        raise DataError(f"--preferences {text!r} is not known; {_checks.nearest(name, preference_makers)}")
    return numbers(text, "--preferences")
