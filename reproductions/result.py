"""What a reproduction holds: tables, what the source says beside what came out, pictures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from naysay import _checks
from naysay.errors import DataError

__all__ = ["Cell", "Check", "Measured", "Picture", "Reproduction", "Table"]

_SIGMAS = 4.0  # Monte Carlo errors by which a right number may miss; of ten thousand such numbers fewer than one does


class Measured(NamedTuple):
    """A simulated number with its Monte Carlo error, one standard error."""

    value: float
    error: float


Cell = str | int | float | Measured | None


@dataclass(frozen=True)
class Table:
    """Numbers in rows and columns.

    Parameters
    ----------
    name : str
        Its key in JSON.
    title : str
    columns : tuple of str
        The first is that of the rows' names.
    rows : tuple of tuple of Cell
        Numbers as they are; they are rounded only where they are shown.
    digits : int
        Shown after the point.

    Examples
    --------
    >>> Table("spread", "Spread", ("design", "s.d."), (("two coins", Measured(0.0662, 0.001)),)).to_dict()["rows"]
    [['two coins', {'value': 0.0662, 'error': 0.001}]]
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: int = 3

    def to_dict(self) -> dict[str, Any]:
        """The table as a JSON object, numbers not rounded."""
        rows = [[_plain(cell) for cell in row] for row in self.rows]
        return {"name": self.name, "title": self.title, "columns": list(self.columns), "rows": rows}

    def __str__(self) -> str:
        from reproductions import printing

        return printing.table_text(self)


@dataclass(frozen=True)
class Check:
    """One number of the source beside what came out.

    Parameters
    ----------
    what : str
    source : float
        As the source prints it, or as its corrected formula gives it.
    found : float
    error : float
        Monte Carlo error of what came out (and of the source, where that is simulated too); 0 where it is exact.
    rounding : float
        Half a unit of the last digit that the source prints.
    relation : {"is", "at least", "at most"}
        What the source says about the number.

    Examples
    --------
    >>> Check("s.e.", 0.066, 0.06612, error=0.0002).agrees, Check("s.e.", 0.066, 0.08).agrees
    (True, False)
    """

    what: str
    source: float
    found: float
    error: float = 0.0
    rounding: float = 1e-9
    relation: str = "is"

    @property
    def tolerance(self) -> float:
        """How far the number may lie from the source: four Monte Carlo errors and the source's rounding."""
        return _SIGMAS * self.error + self.rounding

    @property
    def agrees(self) -> bool:
        """Whether what came out is what the source says, within the tolerance."""
        away = self.found - self.source
        low, high = {"is": (away, away), "at least": (away, 0.0), "at most": (0.0, away)}[self.relation]
        return low >= -self.tolerance and high <= self.tolerance

    def to_dict(self) -> dict[str, Any]:
        """The check as a JSON object."""
        numbers = {name: _plain(getattr(self, name)) for name in ("source", "found", "error", "tolerance")}
        return {"what": self.what, "relation": self.relation, **numbers, "agrees": self.agrees}


@dataclass(frozen=True)
class Picture:
    """An image, drawn when it is wanted.

    Parameters
    ----------
    name : str
        Of its file, without the suffix.
    title : str
    draw : callable
        SVG text for a width in pixels.
    """

    name: str
    title: str
    draw: Callable[[int], str]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A source's results, computed again; made by `reproductions.reproduce`.

    Parameters
    ----------
    name, title : str
    source : str
        The citation.
    runs : int
        Surveys in each simulation.
    seed : int
        Repeats it, whatever the number of workers.
    tables : tuple of Table
    checks : tuple of Check
    pictures : tuple of Picture
    notes : tuple of str
        What a reader of the numbers must know.
    seconds : float
        How long it took.
    """

    name: str
    title: str
    source: str
    runs: int
    seed: int
    tables: tuple[Table, ...]
    checks: tuple[Check, ...]
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = math.nan

    @property
    def agreeing(self) -> int:
        """How many checks agree."""
        return sum(check.agrees for check in self.checks)

    def table(self, name: str) -> Table:
        """The table of that name.

        Raises
        ------
        DataError
            There is none, with the nearest name.
        """
        for table in self.tables:
            if table.name == name:
                return table
        raise DataError(f"no table is called {name!r}; {_checks.nearest(name, [each.name for each in self.tables])}")

    def to_dict(self) -> dict[str, Any]:
        """The reproduction as one JSON object; undefined numbers are None."""
        told = {name: getattr(self, name) for name in ("name", "title", "source", "runs", "seed")}
        return {
            **told,
            "seconds": _plain(self.seconds),
            "checks": [check.to_dict() for check in self.checks],
            "agreeing": self.agreeing,
            "tables": [table.to_dict() for table in self.tables],
            "notes": list(self.notes),
        }

    def to_markdown(self) -> str:
        """The tables for a page."""
        from reproductions import printing

        return printing.to_markdown(self)

    def __str__(self) -> str:
        from reproductions import printing

        return printing.to_text(self)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.agreeing} of {len(self.checks)} agree (runs {self.runs}, seed {self.seed})>"


def _plain(cell: Cell) -> Any:
    """A cell as JSON has it."""
    if isinstance(cell, Measured):
        return {"value": _plain(cell.value), "error": _plain(cell.error)}
    if isinstance(cell, float) and not math.isfinite(cell):
        return "inf" if cell > 0 else None
    return cell
