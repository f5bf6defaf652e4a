"""A space in which a report is a few whole numbers, for designs with too many responses to name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import AnswerError, DesignError
from naysay.responses.sets import JOINER
from naysay.responses.spaces import MISSING, Codes, Space, cells_of

__all__ = ["Numbers"]

_LARGEST = 2**62  # largest limit of one number: codes are signed 64-bit integers


@dataclass(frozen=True)
class Numbers(Space):
    """A few whole numbers, such as the seed of a hash and one bit; as text ``17;1``.

    A kind of design makes its own space from this class by defining the linear `statistic`.

    Parameters
    ----------
    labels : tuple of label
        The categories that the statistic is about.
    limits : tuple of int
        Each number is at least 0 and below its limit.
    """

    labels: tuple[Any, ...]
    limits: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.limits or not all(1 <= limit <= _LARGEST for limit in self.limits):
            raise DesignError(f"limits must be whole numbers from 1 to 2**62, one or more; got {self.limits!r}")

    @property
    def width(self) -> int:
        return len(self.limits)

    @property
    def size(self) -> int:
        return math.prod(self.limits)

    def encode(self, values: Any) -> Codes:
        cells = cells_of(values)
        rows = [self._encode_cell(cell, row, len(cells)) for row, cell in enumerate(cells)]
        return np.array(rows, dtype=np.int64).reshape(-1, self.width)

    def _encode_cell(self, cell: Any, row: int, total: int) -> Sequence[int]:
        if isinstance(cell, str) or not isinstance(cell, Sequence | np.ndarray):
            if _checks.is_missing(cell):
                return [MISSING] * self.width
            cell = str(cell).split(JOINER)
        try:
            numbers = [int(number) for number in cell]
        except (TypeError, ValueError):
            numbers = []
        if len(numbers) != self.width or any(not 0 <= n < top for n, top in zip(numbers, self.limits, strict=True)):
            below = " and ".join(map(str, self.limits))
            problem = f"is {str(cell)[:80]!r}; it must be {self.width} whole numbers joined by ';', below {below}"
            raise AnswerError(problem, row=row, total=total, value=cell)
        return numbers

    def decode(self, codes: Codes) -> NDArray[Any]:
        return np.array(self.texts(codes), dtype=object)

    def texts(self, codes: Codes) -> list[str | None]:
        gone = self.missing(codes).tolist()
        return [None if no else JOINER.join(map(str, row)) for row, no in zip(codes.tolist(), gone, strict=True)]

    @property
    def numbered(self) -> bool:
        return self.size <= _LARGEST

    def places(self, codes: Codes) -> NDArray[np.int64]:
        gone = self.missing(codes)
        return np.where(gone, MISSING, np.ravel_multi_index(tuple(np.where(gone[:, None], 0, codes).T), self.limits))

    def at(self, places: NDArray[np.int64]) -> Codes:
        return np.column_stack(np.unravel_index(places, self.limits)).astype(np.int64)

    def _all_codes(self) -> Codes:
        return np.indices(self.limits, dtype=np.int64).reshape(self.width, -1).T

    def form(self) -> dict[str, Any]:
        return {"space": "numbers", "labels": list(self.labels), "limits": list(self.limits)}
