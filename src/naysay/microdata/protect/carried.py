"""What a release carries of its designs: the codebook beside it, from which estimates know what was drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from naysay.design import Answerable
from naysay.files import Asked, Codebook, Entry, Original, Value, explained

__all__ = ["codebook"]


def codebook(
    title: str, digest: str, designs: Mapping[str, Answerable], original: Original, *, coded: bool
) -> Codebook:
    """The codebook of a release: an entry for each column that was drawn, with its design.

    Parameters
    ----------
    title, digest : str
        What the release is called, and its hash.
    designs : mapping of column to design
    original : Original
        The file that the release was made of, whose labels it keeps.
    coded : bool
        Whether cells of the release hold codes.
    """
    entries = []
    for name, design in designs.items():
        codes = {label: code for code, label in original.value_labels(name).items()}
        values = tuple(
            Value(_code(codes.get(str(label), label), place), str(label), str(label))
            for place, label in enumerate(design.categories, 1)
        )
        label = original.labels.get(name, name)
        entries.append(explained(Entry(name, name, label, "values", values, asked=Asked(design))))
    return Codebook(title, f"Release {title}", digest, "en", tuple(entries), coded=coded)


def _code(code: Any, place: int) -> int:
    """The code of a category in files of SPSS and Stata: its own where it is a whole number."""
    try:
        number = float(code)
    except (TypeError, ValueError):
        return place
    return int(number) if number.is_integer() else place
