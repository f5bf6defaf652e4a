"""Calibration: weights whose sums over known margins are those of the population."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import DataError
from naysay.sampling.sampled import Floats, Places

_STEPS = 1_000
_NUMBERED = 2**62  # possible cells that an integer numbers; with more, those that hold people are numbered anew
_CLOSE = 1e-9  # of a margin's total, at which weights are calibrated


@dataclass(frozen=True, eq=False)
class Margins:
    """Known totals of a population by one classification (post-stratification) or by several (raking).

    Parameters
    ----------
    cell : (rows,) int
        The joint cell of each row: its combination of classes.
    design : (cells, p) float
        1 where a cell belongs to a class.
    totals : (p,) float
        The population of each class.
    blocks : tuple of slice
        The classes of each margin.
    """

    cell: Places
    design: Floats
    totals: Floats
    blocks: tuple[slice, ...]

    @classmethod
    def of(cls, margins: Sequence[tuple[str, Sequence[Any], Mapping[Any, float]]]) -> Margins:
        """Of a name, the class of each row and the totals by class, for each margin.

        Raises
        ------
        DataError
            A class without a total, a total without people, totals that are not positive, or sums that differ.
        """
        codes, designs, blocks = list[Places](), list[Floats](), list[slice]()
        totals, sums = list[float](), dict[str, float]()
        for name, column, total_of_class in margins:
            labels = {str(label): float(total) for label, total in total_of_class.items()}
            if len(labels) < len(total_of_class):
                repeated_label = next(text for text, times in Counter(map(str, total_of_class)).items() if times > 1)
                raise DataError(f"{name!r} has two totals for {repeated_label!r}; give one", column=name)
            codes.append(_class_places(name, column, labels))
            blocks.append(slice(len(totals), len(totals) + len(labels)))
            totals.extend(labels.values())
            sums[name] = sum(labels.values())
        low, high = min(sums, key=sums.__getitem__), max(sums, key=sums.__getitem__)
        if sums[high] > sums[low] * (1 + 1e-6):
            raise DataError(
                f"all margins must sum to one population; {high!r} sums to {sums[high]:g}, {low!r} to {sums[low]:g}"
            )
        cell, possible = np.zeros_like(codes[0]), 1
        for block, code in zip(blocks, codes, strict=True):
            size = block.stop - block.start
            if possible * size > _NUMBERED:
                present, cell = np.unique(cell, return_inverse=True)
                cell, possible = cell.reshape(-1), len(present)
            cell, possible = cell * size + code, possible * size
        _, first_rows, cell = np.unique(cell, return_index=True, return_inverse=True)
        for block, code in zip(blocks, codes, strict=True):
            designs.append(np.eye(block.stop - block.start)[code[first_rows]])
        return cls(cell.reshape(-1), np.hstack(designs), np.array(totals), tuple(blocks))

    def factors(self, weight: Floats) -> Floats:
        """The factor of the weights in each cell (cells,), from their sums in each cell.

        Iterative proportional fitting (Deming & Stephan 1940); exact after one step for one margin.

        Raises
        ------
        DataError
            Where no weights have these margins.
        """
        factors = np.ones(len(weight))
        for _ in range(_STEPS):
            for block in self.blocks:
                block_design = self.design[:, block]
                sums = block_design.T @ (factors * weight)
                ratio = np.divide(self.totals[block], sums, out=np.ones_like(sums), where=sums > 0)
                factors = factors * (block_design @ ratio)
            sums = self.design.T @ (factors * weight)
            if np.abs(sums - self.totals).max() <= _CLOSE * self.totals.max():
                return factors
        raise DataError(
            "the weights cannot be raked to these totals: some classes occur in too few combinations; join classes, or "
            "leave a margin out"
        )


def _class_places(name: str, column: Any, labels: Mapping[str, float]) -> Places:
    """The place of each row's class among those with a total.

    Each different value is looked at once; raise unless every row has a class with a total, and every total people.
    """
    bad_label = next((label for label, total in labels.items() if not 0 < total < np.inf), None)
    if bad_label is not None:
        raise DataError(
            f"the totals of {name!r} must be positive; got {labels[bad_label]:g} for {bad_label!r}", column=name
        )
    distinct_values, place_of_row = distinct(column)
    texts = [None if _checks.is_missing(value) else str(value) for value in distinct_values]
    empty = np.array([text is None for text in texts], dtype=bool)
    present = [text for text in texts if text is not None]
    if empty.any():
        row = int(empty[place_of_row].argmax())
        raise DataError(
            f"{name!r} must be known of everyone to whose totals weights are calibrated; row {row + 1} is empty",
            column=name,
            row=row,
        )
    for value in (text for text in present if text not in labels):
        raise DataError(
            f"{name!r} has people in {value!r}, for which there is no total; totals are known of "
            f"{_checks.listing_text(labels)}",
            column=name,
            value=value,
        )
    for label in labels:
        if label not in present:
            raise DataError(
                f"there is a total for {label!r} of {name!r}, but nobody of it in the sample; join it with a class "
                "like it",
                column=name,
                value=label,
            )
    place = {label: i for i, label in enumerate(labels)}
    return np.array([place[text] for text in present], dtype=np.intp)[place_of_row]


def distinct(values: Any) -> tuple[list[Any], NDArray[np.intp]]:
    """The different values of a column, and the place of each row's value among them.

    Rows are looked at by numpy where it can sort them, which is many times as fast as one by one.
    """
    column = np.asarray(values) if isinstance(values, np.ndarray) else None
    if column is not None and column.dtype.kind in "biuf":
        distinct_values, places = np.unique(column, return_inverse=True)
        return distinct_values.tolist(), places.reshape(-1)
    place_of_key: dict[tuple[type, Any], int] = {}  # with the type: 1, 1.0 and True are equal values, but no one class
    rows = column.tolist() if column is not None else values
    keys = ((str if isinstance(row, str) else type(row), row) for row in rows)  # NumPy's texts are texts
    place_of_row = np.fromiter(
        (place_of_key.setdefault(key, len(place_of_key)) for key in keys), dtype=np.intp, count=len(rows)
    )
    return [value for _, value in place_of_key], place_of_row


def classes(values: Any) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """The distinct texts of some labels, sorted, and the place of each label among them."""
    distinct_values, place_of_row = distinct(values)
    names, places = np.unique(np.array([str(value) for value in distinct_values]), return_inverse=True)
    return tuple(names.tolist()), places.reshape(-1)[place_of_row]
