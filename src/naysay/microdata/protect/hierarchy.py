"""Hierarchies: what each value of a variable becomes on coarser and coarser levels."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.protect.method import Method
from naysay.microdata.protect.recoding import Coarser, ordered
from naysay.microdata.protect.tables import texts

__all__ = ["Generalize", "Hierarchy", "hierarchy_of_numbers", "nesting", "rows_of_csv"]


@dataclass(frozen=True)
class Hierarchy:
    """Levels of a variable, each coarser than the one before.

    Parameters
    ----------
    levels : mapping of value to (levels,) sequence of label
        For each value, written as a text, its labels from the finest level to the coarsest, where all are one.

    Raises
    ------
    DataError
        A value without one of its labels, a label with two parents, a last level of several labels.

    Examples
    --------
    >>> jobs = Hierarchy({"nurse": ["care", "any"], "doctor": ["care", "any"], "smith": ["craft", "any"]})
    >>> jobs.height
    2
    >>> jobs.at("nurse", 1)
    'care'
    """

    levels: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        known = {str(leaf): tuple(map(str, labels)) for leaf, labels in self.levels.items()}
        object.__setattr__(self, "levels", known)
        if not known:
            raise DataError("a hierarchy needs at least one value")
        height = len(next(iter(known.values())))
        if not height:
            raise DataError("a hierarchy needs a level above its values")
        for leaf, labels in known.items():
            if len(labels) != height or not all(label.strip() for label in labels):
                told = f"{leaf!r} has {sum(bool(label.strip()) for label in labels)}"
                raise DataError(f"every value of a hierarchy needs its {height} coarser labels; {told}", value=leaf)
        for level in range(height - 1):
            above: dict[str, tuple[str, str]] = {}
            for leaf, labels in known.items():
                parent, first = above.setdefault(labels[level], (labels[level + 1], leaf))
                if parent != labels[level + 1]:
                    told = f"{labels[level]!r} is in {parent!r} (as of {first!r}) and in {labels[level + 1]!r}"
                    raise DataError(f"a label must have one parent; {told} (as of {leaf!r})", value=labels[level])
        last = sorted({labels[-1] for labels in known.values()})
        if len(last) > 1:
            told = f"the last level of a hierarchy must be one label; got {_checks.shown(last)}"
            raise DataError(f"{told}: add a level such as 'any'", value=last[1])

    @property
    def height(self) -> int:
        """Levels above the values themselves."""
        return len(next(iter(self.levels.values())))

    def at(self, value: str, level: int) -> str:
        """The label of a value at a level; at level 0 the value."""
        return value if level == 0 else self.levels[value][level - 1]

    def check(self, values: Sequence[str], name: str) -> None:
        """Raise for the first value that the hierarchy does not hold."""
        missed = [value for value in values if value not in self.levels]
        blank = next((leaf for leaf in self.levels if missed and leaf.strip() in missed and leaf != leaf.strip()), None)
        if blank is not None:
            told = f"the hierarchy of {name!r} holds {blank!r}, and the file {blank.strip()!r}"
            raise DataError(f"{told}: take the blank out of the hierarchy", column=name, value=blank)
        if missed:
            told = f"the hierarchy of {name!r} does not hold {_checks.shown(missed)}, which the file does"
            raise DataError(f"{told}; add a row for each", column=name, value=missed[0])

    def numbers(self, values: Sequence[str]) -> NDArray[np.int64]:
        """The group of each value at each level, (height + 1, values), counted from 0."""
        found = [np.arange(len(values))]
        for level in range(1, self.height + 1):
            labels = [self.at(value, level) for value in values]
            order = {label: number for number, label in enumerate(dict.fromkeys(labels))}
            found.append(np.array([order[label] for label in labels]))
        return np.array(found, np.int64)

    def shares(self, values: Sequence[str]) -> NDArray[np.float64]:
        """The share of the hierarchy's values that stand under the group of each value at each level."""
        leaves = list(self.levels)
        groups = self.numbers(leaves)
        place = {leaf: number for number, leaf in enumerate(leaves)}
        under = np.array([np.bincount(own)[own] / len(leaves) for own in groups])
        found: NDArray[np.float64] = under[:, [place[value] for value in values]]
        return found

    def form(self) -> dict[str, list[str]]:
        """The levels as plain data."""
        return {leaf: list(labels) for leaf, labels in self.levels.items()}

    @classmethod
    def read(cls, path: Path, *, separator: str = ",") -> Hierarchy:
        """The hierarchy of a CSV file without a header: a row for each value, a column for each level.

        Raises
        ------
        DataError
            A file that cannot be read, rows of different length, a value twice.

        Notes
        -----
        Blanks around labels are left out. See `rows_of_csv` for what spreadsheet programs write.
        """
        rows = rows_of_csv(path, separator)
        known: dict[str, list[str]] = {}
        for number, (leaf, *cells) in rows:
            if len(cells) + 1 != len(rows[0][1]) or not cells:
                told = f"row {number} has {len(cells) + 1} of {max(len(rows[0][1]), 2)}"
                raise DataError(f"every row of the hierarchy {str(path)!r} needs its cells; {told}", row=number - 1)
            labels = [label.strip() for label in cells]
            if leaf in known and known[leaf] != labels:
                told = f"the hierarchy {str(path)!r} has {leaf!r} twice, with other labels in row {number}"
                raise DataError(told, row=number - 1, value=leaf)
            known[leaf] = labels
        try:
            return cls(known)
        except DataError as error:
            last = [labels[-1] for labels in known.values()]
            if len(last) > 2 and last[0] != last[1] and len(set(last[1:])) == 1:
                told = f"the hierarchy {str(path)!r} begins with a header, {_checks.shown(rows[0][1])}"
                raise DataError(
                    f"{told}: remove that row, so that each row is a value with its labels", row=0
                ) from None
            raise DataError(f"the hierarchy {str(path)!r}: {error}", value=error.value) from None


def rows_of_csv(path: Path, separator: str) -> list[tuple[int, list[str]]]:
    """The rows of a CSV file that a person edited, with their numbers from 1, without those that are empty.

    Programs of countries with a decimal comma write semicolons: they are read, too, and tabs, where commas are expected
    and semicolons or tabs give each row as many cells, and more of them.

    Raises
    ------
    DataError
        A file that cannot be read, or is not UTF-8.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except UnicodeError:
        raise DataError(f"{str(path)!r} is not UTF-8: save it as 'CSV UTF-8' in the spreadsheet program") from None
    except OSError as error:
        raise DataError(f"cannot read the hierarchy {str(path)!r}: {error.strerror or error}") from None
    rows = _split(text, separator)
    if isinstance(rows, csv.Error):
        raise DataError(f"cannot read the hierarchy {str(path)!r}: {rows}")
    for mark in (";", "\t") if separator == "," else ():
        others = _split(text, mark)
        if isinstance(others, csv.Error):
            continue
        uneven = _width(rows) == 1 and min(len(row) for _, row in others) > 1
        if uneven or _width(others) > max(1, _width(rows)):
            rows = others
    return rows


def _split(text: str, mark: str) -> list[tuple[int, list[str]]] | csv.Error:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
    except csv.Error as error:
        return error
    return [(number, row) for number, row in enumerate(rows, 1) if any(cell.strip() for cell in row)]


def _width(rows: Sequence[tuple[int, Sequence[str]]]) -> int:
    """The cells of each row; 0 where they are not equally many."""
    widths = {len(row) for _, row in rows}
    return widths.pop() if len(widths) == 1 else 0


def nesting(values: Sequence[float]) -> list[float]:
    """Widths of bins for whole numbers, each a multiple of the one before and narrower than the whole range.

    Examples
    --------
    >>> nesting(range(18, 96))
    [5, 10, 20, 40]
    """
    span = max(values, default=0) - min(values, default=0) + 1
    known = [width for width in (5, 10, 20, 40, 200, 1_000, 5_000, 20_000, 100_000) if width < span]
    return list(known) or [max(span, 2)]


def hierarchy_of_numbers(values: Sequence[float], *, widths: Sequence[float] = ()) -> Hierarchy:
    """Bins of rising width over whole numbers, each width a multiple of the one before, and all together.

    Examples
    --------
    >>> hierarchy_of_numbers([18, 23, 41], widths=[5, 20]).levels["23"]
    ('20 to 24', '20 to 39', 'any')
    """
    known = sorted({int(value) for value in values})
    widths = widths or nesting(known)
    for low, high in pairwise(widths):
        if high % low:
            raise DataError(f"bins must nest: each width a multiple of the one before; got {low:g} and then {high:g}")
    levels = {}
    for value in known:
        lows = [int(value // width * width) for width in widths]
        bins = [f"{low} to {low + int(width) - 1}" for low, width in zip(lows, widths, strict=True)]
        levels[str(value)] = [*bins, "any"]
    return Hierarchy(levels)


@dataclass(frozen=True, kw_only=True)
class Generalize(Coarser):
    """Values replaced by their labels at a level of a hierarchy.

    Parameters
    ----------
    variable : str
    level : int
        From 0, where values stay, to the height of the hierarchy, where all are one.
    hierarchy : Hierarchy, mapping or path of a CSV file

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> jobs = protect.Hierarchy({"nurse": ["care", "any"], "smith": ["craft", "any"]})
    >>> safe, log = protect.Generalize(variable="job", level=1, hierarchy=jobs).apply({"job": ["smith", None, "nurse"]})
    >>> safe["job"]
    ['craft', None, 'care']
    """

    name: ClassVar[str] = "generalize"
    level: int
    hierarchy: Any

    def __post_init__(self) -> None:
        own = self.hierarchy if isinstance(self.hierarchy, Hierarchy) else Hierarchy(self.hierarchy)
        object.__setattr__(self, "hierarchy", own)
        _checks.whole(self.level, 0, own.height, what=f"level of {self.variable!r}")

    def values(self, frame: pl.DataFrame) -> pl.Series:
        cells = texts(frame[self.variable])
        self.hierarchy.check(cells.drop_nulls().unique().sort().to_list(), self.variable)
        found = [None if cell is None else self.hierarchy.at(cell, self.level) for cell in cells.to_list()]
        return ordered(found, [self.hierarchy.at(leaf, self.level) for leaf in self.hierarchy.levels])

    @classmethod
    def of_form(cls, node: Mapping[str, Any], *, folder: Path | None = None) -> Method:
        """As of any method; a hierarchy may be the path of a CSV file, from the folder of the plan."""
        given = dict(node)
        if isinstance(given.get("hierarchy"), str):
            given["hierarchy"] = Hierarchy.read((folder or Path()) / given["hierarchy"])
        return super().of_form(given)
