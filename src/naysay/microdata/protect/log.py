"""What was done to a table: cells changed and suppressed, by variable, and all that repeats it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from naysay import _checks
from naysay.design import Answerable
from naysay.microdata.protect.tables import alike, texts
from naysay.microdata.risk.written import Printed, grid, percent
from naysay.show import Content, Note, Points


class Verb(Protocol):
    """What a log knows of a method."""

    name: ClassVar[str]

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns that it changes."""

    @property
    def promise(self) -> str:
        """What it promises."""

    def form(self) -> dict[str, Any]:
        """The method as plain data."""

    def apply(self, table: Any) -> tuple[Any, Log]:
        """The table after it, and what was done."""


@dataclass(frozen=True, eq=False)
class Done:
    """What a method gives: the new table, the rows of the old one that are in it, and what must be said.

    `rows` is None where every row stays in its place; an empty array where no row is one of the old ones. `designs` are
    those under which columns were drawn.
    """

    frame: pl.DataFrame
    rows: NDArray[np.intp] | None = None
    notes: tuple[str, ...] = ()
    designs: Mapping[str, Answerable] = field(default_factory=dict)


@dataclass(frozen=True)
class Cells:
    """What became of one column: cells that differ now, and those of them that are gaps now.

    `cells` counts those that held something before, in the rows that stayed; None where rows are new.
    """

    variable: str
    cells: int
    changed: int
    suppressed: int


@dataclass(frozen=True)
class Step:
    """What one method did.

    Parameters
    ----------
    method : Verb
        With its seed, where it drew.
    rows : int
        Before it.
    deleted : int
    columns : tuple of Cells
        Of the columns that it changes.
    notes : tuple of str
    designs : mapping of column to design
        Under which columns were drawn; estimates need them.
    """

    method: Verb
    rows: int
    deleted: int
    columns: tuple[Cells, ...]
    notes: tuple[str, ...] = ()
    designs: Mapping[str, Answerable] = field(default_factory=dict)

    @classmethod
    def of(cls, method: Verb, before: pl.DataFrame, done: Done) -> Step:
        """What differs between a table and what a method made of it."""
        old = before if done.rows is None else before[done.rows]
        new_rows = done.rows is not None and not len(done.rows)
        column_cells = []
        for name in method.variables:
            if new_rows or name not in done.frame.columns:
                column_cells.append(Cells(name, before[name].count(), before[name].count(), 0))
                continue
            was, now = texts(old[name]), texts(done.frame[name])
            gone = int((was.is_not_null() & now.is_null()).sum())
            column_cells.append(Cells(name, int(was.count()), int((~alike(old[name], done.frame[name])).sum()), gone))
        deleted = 0 if done.rows is None or new_rows else before.height - len(done.rows)
        return cls(method, before.height, deleted, tuple(column_cells), done.notes, done.designs)

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object with stable names."""
        cells = {column.variable: {"cells": column.cells, "changed": column.changed, "suppressed": column.suppressed}
                 for column in self.columns}  # fmt: skip
        json_fields = {"step": self.method.form(), "rows": self.rows, "deleted": self.deleted, "columns": cells}
        return json_fields | {"notes": list(self.notes)}


@dataclass(frozen=True)
class Log(Printed):
    """What the steps of a plan did, in their order.

    Examples
    --------
    >>> from naysay.microdata import protect
    >>> table = {"age": [40, 36, 36, 36], "job": ["nurse", "cook", "cook", "cook"]}
    >>> safe, log = protect.Suppress(keys=["age", "job"], target="k >= 2").apply(table)
    >>> safe["age"], log.suppressed
    ([36, 36, 36], 0)
    """

    steps: tuple[Step, ...]

    def __add__(self, other: Log) -> Log:
        return Log((*self.steps, *other.steps))

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    @property
    def methods(self) -> tuple[Verb, ...]:
        """The steps with their seeds: applied again, they give the same table."""
        return tuple(step.method for step in self.steps)

    @property
    def designs(self) -> dict[str, Answerable]:
        """The design of every column that was drawn."""
        return {name: design for step in self.steps for name, design in step.designs.items()}

    @property
    def changed(self) -> int:
        """Cells that differ now; a cell that two steps change counts twice."""
        return sum(column.changed for step in self.steps for column in step.columns)

    @property
    def suppressed(self) -> int:
        """Cells that are gaps now, and were not."""
        return sum(column.suppressed for step in self.steps for column in step.columns)

    @property
    def deleted(self) -> int:
        """Records that are gone."""
        return sum(step.deleted for step in self.steps)

    def repeat(self, table: Any) -> Any:
        """The same table again, from the one that it was made of."""
        for method in self.methods:
            table, _ = method.apply(table)
        return table

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object with stable names."""
        return {"steps": [step.to_dict() for step in self.steps]}

    def content(self) -> list[Content]:
        """A row for each column of each step, what each step promises, and notes."""
        rows = [
            [f"{number}. {step.method.name}: {column.variable}", f"{column.cells:,}", f"{column.changed:,}",
             f"{column.suppressed:,}", percent(column.suppressed / column.cells) if column.cells else "–"]
            for number, step in enumerate(self.steps, 1) for column in step.columns
        ]  # fmt: skip
        table = grid("What was done, cell by cell", ["step", "cells", "changed", "suppressed", "share"], rows)
        promises = [
            f"{number}. {_method_text(step.method)}: {step.method.promise}" for number, step in enumerate(self.steps, 1)
        ]
        notes = [Note(f"{step.method.name}: {text}") for step in self.steps for text in step.notes]
        gone = [
            Note(f"{step.method.name}: {_checks.several(step.deleted, 'record', 'records')} of {step.rows:,} deleted")
            for step in self.steps if step.deleted
        ]  # fmt: skip
        return [table, Points(tuple(promises), small=True), *gone, *notes]


def _method_text(method: Verb) -> str:
    """A method with its plain parameters, such as ``bins (variable = age, width = 5)``."""
    plain = {name: value for name, value in method.form().items() if isinstance(value, str | int | float)}
    plain.pop("method")
    plain.pop("seed", None)  # whoever knows it can undo what was drawn: it stands in the log only
    return (
        f"{method.name} ({', '.join(f'{name} = {value}' for name, value in plain.items())})" if plain else method.name
    )
