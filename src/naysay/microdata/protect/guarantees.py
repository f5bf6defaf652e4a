"""What a file guarantees: the least k, c and m of its records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naysay.microdata.keys.codes import Form
from naysay.microdata.keys.variables import Keys
from naysay.microdata.protect.tables import keyed, opened
from naysay.microdata.protect.units import Ints, Units, totals
from naysay.microdata.risk.readings import readings

__all__ = ["Guarantee", "guarantee"]


@dataclass(frozen=True)
class Guarantee:
    """The fewest matches of any record, in three readings of a gap; k ≤ c ≤ m.

    Parameters
    ----------
    records : int
        People; households, where rows were read as units.
    k : int
        Fewest that read the same, gaps included. Whoever knows the keys, even everybody's, picks the right record with
        a probability of at most 1/k.
    c : int, optional
        Fewest that hold, known, all that a record shows. No bound: true values behind gaps tell records apart.
    m : int, optional
        Fewest that may be the same, a gap matching anything. No bound either.
    below : (int, int, int)
        Records for which k, c and m are below the asked level.
    least : int
        That level.

    c and m are None for units of several rows.
    """

    records: int
    k: int
    c: int | None
    m: int | None
    below: tuple[int, int | None, int | None]
    least: int

    def of(self, reading: str) -> int | None:
        """The least count in one reading."""
        return {"k": self.k, "c": self.c, "m": self.m}[reading]

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object with stable names."""
        below = dict(zip(("k", "c", "m"), self.below, strict=True))
        return {"records": self.records, "k": self.k, "c": self.c, "m": self.m, "least": self.least, "below": below}


def guarantee(
    table: Any,
    keys: Sequence[str],
    *,
    least: int = 3,
    unit: str | None = None,
    order: str | None = None,
    cells: dict[str, Form] | None = None,
) -> Guarantee:
    """The least k, c and m of a table's records, and how many records are below a level.

    Parameters
    ----------
    table : dataframe or mapping of columns
    keys : sequence of str
    least : int
        The level.
    unit, order : str, optional
        The column that says which rows belong to one household or person, and the one that orders them, such as a wave.
    cells : mapping of name to Form, optional
        How a key writes its candidates, as in `naysay.microdata.Keys`.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> found = protect.guarantee({"age": [40, 36, 36, None], "sex": ["f", "m", "m", "m"]}, ["age", "sex"], least=2)
    >>> found.k, found.c, found.m, found.below
    (1, 1, 1, (2, 1, 1))
    """
    frame, _ = opened(table)
    read = Keys(keyed(frame, [name for name in keys if name not in (cells or {})]), list(keys), cells=cells)
    return of_units(Units.of(frame, read, unit=unit, order=order), least)


def of_units(units: Units, least: int) -> Guarantee:
    """The same of units that are counted already."""
    k = totals(units.shown(-1, np.arange(len(units))), units.count)
    c: Ints | None = None
    m: Ints | None = None
    if units.single:
        found = readings(units.keys)
        c, m = found.showing, found.possible
    below = tuple(None if each is None else int(units.count[each < least].sum()) for each in (k, c, m))
    fewest = tuple(None if each is None else int(each.min()) for each in (k, c, m))
    return Guarantee(units.total, fewest[0] or 0, fewest[1], fewest[2], (below[0] or 0, below[1], below[2]), least)
