"""What was done to the cells of a file: changed, suppressed, made coarser, moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from naysay.errors import DataError
from naysay.microdata.attack.aligned import texts
from naysay.microdata.risk.written import DASH, grid, share
from naysay.microdata.utility.paired import Pair, Variable
from naysay.printing import Content, Facts, Sentence

__all__ = ["Change", "Changes", "changes", "eigenvalue_loss", "il1s"]

Floats = NDArray[np.float64]


def il1s(before: ArrayLike, after: ArrayLike) -> float:
    """Mean distance that a cell moved, in units of √2 standard deviations of its variable in the original (IL1s).

    IL1s = Σ abs(x - y) / (√2 sd_v), over the number of cells. A peer gives the sum; one that divides by abs(x) has
    no answer at zero.

    Parameters
    ----------
    before, after : (n, q) float
        Cells with a gap in either file are left out.

    Raises
    ------
    DataError
        Tables of different shape.

    Examples
    --------
    >>> round(il1s([[0.0], [2.0]], [[1.0], [1.0]]), 3)
    0.5

    Source: Mateo-Sanz, Sebé & Domingo-Ferrer (2004).
    """
    x, y = (np.atleast_2d(np.asarray(each, float)) for each in (before, after))
    if x.shape != y.shape:
        raise DataError(f"both tables must have the same cells; got shapes {x.shape} and {y.shape}")
    unit = np.sqrt(2) * np.nanstd(x, axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.where(x == y, 0.0, np.abs(x - y) / unit)
    known = ~np.isnan(x + y)
    return float(moved[known].mean()) if known.any() else float("nan")


def eigenvalue_loss(before: ArrayLike, after: ArrayLike) -> float:
    """How much the correlations' eigenvalues changed, Σ abs(e - e') / e.

    Parameters
    ----------
    before, after : (n, q) and (n', q) float
        Rows with a gap are left out.

    Examples
    --------
    >>> table = [[0, 0], [1, 1], [2, 1]]
    >>> eigenvalue_loss(table, table)
    0.0
    """
    found = []
    for each in (before, after):
        table = np.atleast_2d(np.asarray(each, float))
        table = table[~np.isnan(table).any(axis=1)]
        if len(table) < 2 or not table.std(axis=0).all():
            return float("nan")
        found.append(np.linalg.eigvalsh(np.atleast_2d(np.corrcoef(table, rowvar=False))))
    first, second = found
    with np.errstate(divide="ignore", invalid="ignore"):
        return float((np.abs(first - second) / first).sum())


@dataclass(frozen=True)
class Change:
    """What was done to one variable.

    Parameters
    ----------
    name : str
    suppressed : int
        Cells that were known, and are gaps.
    changed : int
        Cells that hold another value; where the variable was recoded, of those that do not hold the recoded value.
    imputed : int
        Cells that were gaps, and hold a value.
    known : int
        Cells that were known.
    loss : float
        Mean share of the other original values that a cell may stand for: 0 for the value itself, 1 for a gap.
    recoded : int, optional
        Values that are left, where the variable was recoded.
    """

    name: str
    suppressed: int
    changed: int
    imputed: int
    known: int
    loss: float
    recoded: int | None = None

    @classmethod
    def of(cls, variable: Variable, rows: tuple[NDArray[Any], NDArray[Any]]) -> Change:
        """What was done between rows that belong together."""
        before, after = texts(variable.before)[rows[0]], texts(variable.after)[rows[1]]
        parents = variable.recoded
        expected = before if parents is None else before.replace(dict(parents))
        leaves = texts(variable.before.drop_nulls().unique()).to_list()
        under: dict[str, int] = {}
        for name in leaves:
            parent = name if parents is None else parents.get(name, name)
            under[parent] = under.get(parent, 0) + 1
        covered = after.replace_strict(under, default=1, return_dtype=pl.Int64).to_numpy()
        # of the leaves beside one's own, so that a value loses nothing and a gap everything
        each = np.where(after.is_null(), 1.0, (covered - 1) / max(1, len(leaves) - 1))
        known = before.is_not_null()
        return cls(
            variable.name,
            int((known & after.is_null()).sum()),
            int((known & after.is_not_null() & (expected != after)).sum()),
            int((~known & after.is_not_null()).sum()),
            int(known.sum()),
            float(each[known.to_numpy()].mean()) if known.any() else float("nan"),
            None if parents is None else len(set(parents.values())),
        )


@dataclass(frozen=True)
class Changes:
    """What was done to the cells of all variables.

    Parameters
    ----------
    variables : tuple of Change
    records, deleted, added : int
        Records that both files have, that only the original has, and that only the release has.
    il1s, eigenvalues : float
        Over variables that are numbers in both files; NaN where there are none.
    """

    name = "changes"
    variables: tuple[Change, ...]
    records: int
    deleted: int
    added: int
    il1s: float
    eigenvalues: float

    @property
    def loss(self) -> float:
        """Mean loss over the variables; a deleted record has lost all of its values."""
        own = float(np.nanmean([each.loss for each in self.variables]))
        return (own * self.records + self.deleted) / (self.records + self.deleted)

    def content(self) -> list[Content]:
        rows = [
            (
                each.name,
                f"{each.suppressed:,}",
                share(each.suppressed / each.known if each.known else float("nan")),
                f"{each.changed:,}",
                share(each.changed / each.known if each.known else float("nan")),
                DASH if each.recoded is None else f"{each.recoded} values",
                share(each.loss),
            )
            for each in self.variables
        ]
        names = ("variable", "suppressed", "share", "changed", "share (changed)", "recoded to", "loss")
        facts = [("records", f"{self.records:,} in both files, {self.deleted:,} deleted, {self.added:,} added")]
        if not np.isnan(self.il1s):
            facts.append(("numbers moved (IL1s)", f"{self.il1s:.4g}"))
        if not np.isnan(self.eigenvalues):
            facts.append(("eigenvalues of the correlations", f"{self.eigenvalues:.4g}"))
        told = (
            "Loss: mean share of the other values that a cell may stand for, 0 for the value itself and 1 for a gap. "
            "IL1s: mean distance that a number moved, in √2 standard deviations."
        )
        return [Facts(tuple(facts)), grid("Cells, by variable", names, rows), Sentence(told, small=True)]

    def fields(self) -> dict[str, Any]:
        found = {name: value for name, value in vars(self).items() if name != "variables"}
        return {**found, "loss": self.loss, "variables": [vars(each) for each in self.variables]}


def changes(pair: Pair) -> Changes:
    """What was done to each variable, between rows that belong to one record.

    Parameters
    ----------
    pair : Pair

    Raises
    ------
    DataError
        For synthetic records, which belong to nobody.
    """
    if pair.rows is None:
        raise DataError("synthetic records belong to nobody, so no cell of them was changed; compare distributions")
    numbers = [each.numbers for each in pair.variables if each.numeric and _number(each)]
    moved, eigenvalues = float("nan"), float("nan")
    if numbers:
        x, y = (np.column_stack([each[side] for each in numbers]) for side in (0, 1))
        moved = il1s(x[pair.rows[0]], y[pair.rows[1]])
        eigenvalues = eigenvalue_loss(x, y) if len(numbers) > 1 else eigenvalues
    count = len(pair.rows[0])
    return Changes(
        tuple(Change.of(each, pair.rows) for each in pair.variables),
        count,
        pair.before.height - count,
        pair.after.height - count,
        moved,
        eigenvalues,
    )


def _number(variable: Variable) -> bool:
    """Whether released cells are numbers, or stand for numbers."""
    known: Sequence[Any] = variable.after.drop_nulls().to_list()
    return variable.after.dtype.is_numeric() or (variable.recoded is not None and bool(known))
