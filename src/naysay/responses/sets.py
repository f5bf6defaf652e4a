"""Spaces of sets, stored as one bit per label."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay.errors import AnswerError, DesignError
from naysay.responses.spaces import MISSING, Codes, Labels, Space, cells_of, key_of, membership_of, unknown_label

JOINER = ";"
_WORD_BLOCK = 2**16  # words that are counted at a time, so that they stay in the cache
_FEW = 48  # so few words are counted bit by bit
WORD = 62  # labels per int64 word of a set: sign bit free, so that -1 can mean missing


@dataclass(frozen=True)
class Subsets(Space):
    """A set of labels, stored as one bit per label.

    Parameters
    ----------
    labels : sequence of label
        The t labels from which sets are formed.
    least, most : int
        Smallest and largest size of a set.

    Examples
    --------
    >>> space = Subsets(("a", "b", "c", "d"), 2, 2)
    >>> codes = space.encode([{"a", "c"}, "b;d", None])
    >>> space.texts(codes)
    ['a;c', 'b;d', None]
    >>> space.statistic(codes[:2]).astype(int)
    array([[1, 0, 1, 0],
           [0, 1, 0, 1]])
    """

    labels: tuple[Any, ...]
    least: int
    most: int
    sets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", _checks.categories(self.labels))
        if not 0 <= self.least <= self.most <= len(self.labels):
            raise DesignError(f"set sizes must rise from 0 to {len(self.labels)}; got {self.least} to {self.most}")

    @property
    def width(self) -> int:
        return -(-len(self.labels) // WORD)

    @property
    def size(self) -> int:
        return sum(math.comb(len(self.labels), size) for size in range(self.least, self.most + 1))

    @property
    def constant_sum(self) -> bool:
        return self.least == self.most

    @cached_property
    def _single(self) -> Labels:
        return Labels(self.labels)

    @property
    def sized(self) -> str:
        """The allowed sizes in words."""
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"

    def encode(self, values: Any) -> Codes:
        cells = cells_of(values)
        if isinstance(cells, np.ndarray):
            membership, missing = membership_of(cells, self.labels)
            codes = self.pack(membership & ~missing[:, None])
            codes[missing, 0] = MISSING
            return self._check_sizes(codes, cells)
        code_of_key: dict[Any, tuple[int, ...]] = {}
        keys = [key_of(cell) for cell in cells]
        for row, (key, cell) in enumerate(zip(keys, cells, strict=True)):
            if key not in code_of_key:
                code_of_key[key] = self._encode_cell(cell, row, len(cells))
        rows = [code_of_key[key] for key in keys]
        return self._check_sizes(np.array(rows, dtype=np.int64).reshape(-1, self.width), cells)

    def _encode_cell(self, cell: Any, row: int, total: int) -> tuple[int, ...]:
        words = [0] * self.width
        if _checks.is_missing(cell):
            words[0] = MISSING
            return tuple(words)
        for label in self._members(cell, row, total):
            position = self._single.position(label)
            if position is None or position == MISSING:
                raise unknown_label([label], self.labels, row=row, total=total, what="response")
            bit = 1 << (position % WORD)
            if words[position // WORD] & bit:
                raise AnswerError(f"names {label!r} twice in {cell!r}", row=row, total=total, value=cell)
            words[position // WORD] |= bit
        return tuple(words)

    def _members(self, cell: Any, row: int, total: int) -> Sequence[Any]:
        if isinstance(cell, str) and not cell.strip(JOINER):
            return []  # a lone joiner is how a text says "the empty set": an empty text is a missing answer
        if isinstance(cell, str):
            holding = [label for label in self.labels if JOINER in str(label)]
            if JOINER in cell and holding:
                raise AnswerError(
                    f"is {cell!r}, which cannot be split at ';' because the label {holding[0]!r} holds one; "
                    "rename the label, or give sets, lists or boolean columns",
                    row=row,
                    total=total,
                    value=cell,
                )
            return [part.strip() if self._single.position(part) is None else part for part in cell.split(JOINER)]
        return list(cell) if isinstance(cell, Iterable) else [cell]

    def _check_sizes(self, codes: Codes, cells: Sequence[Any] | NDArray[Any]) -> Codes:
        sizes = self.statistic(codes).sum(axis=1)
        wrong = ((sizes < self.least) | (sizes > self.most)) & ~self.missing(codes)
        if wrong.any():
            row = int(wrong.argmax())
            problem = (
                "is empty" if sizes[row] == 0 else f"names {_checks.several(int(sizes[row]), 'category', 'categories')}"
            )
            if sizes[row] == len(self.labels):
                problem = "names every category, so that no category is left"
            raise AnswerError(
                f"{problem}; it must be a set of {self.sized} of the {len(self.labels)} categories",
                row=row,
                total=len(codes),
                value=cells[row],
            )
        return codes

    def pack(self, membership: NDArray[np.bool_]) -> Codes:
        """Codes of a boolean membership array (n, t)."""
        codes = np.zeros((len(membership), self.width), dtype=np.int64)
        for position in range(len(self.labels)):
            codes[:, position // WORD] |= membership[:, position].astype(np.int64) << (position % WORD)
        return codes

    def decode(self, codes: Codes) -> NDArray[Any]:
        result = np.empty((len(codes), len(self.labels)), dtype=bool)
        for position in range(len(self.labels)):
            result[:, position] = (codes[:, position // WORD] >> (position % WORD)) & 1
        result[self.missing(codes)] = False
        return result

    def texts(self, codes: Codes) -> list[str | None]:
        names = [str(label) for label in self.labels]
        return [
            None if gone else JOINER.join(itertools.compress(names, row)) or JOINER
            for row, gone in zip(self.decode(codes).tolist(), self.missing(codes).tolist(), strict=True)
        ]

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        result = self.decode(codes).astype(np.float64)
        result[self.missing(codes)] = np.nan
        return result

    def frequencies(self, codes: Codes) -> NDArray[np.int64]:
        """How many of these sets hold each label, (t,)."""
        return _bits_set(codes).ravel()[: len(self.labels)]

    def sizes(self, codes: Codes) -> NDArray[np.int64]:
        counts = np.zeros(len(codes), dtype=np.int64)
        for column in codes.T:
            counts += np.bitwise_count(column)
        return counts

    def _all_codes(self) -> Codes:
        t = len(self.labels)
        sets = [
            members for size in range(self.least, self.most + 1) for members in itertools.combinations(range(t), size)
        ]
        membership = np.zeros((len(sets), t), dtype=bool)
        for row, members in enumerate(sets):
            membership[row, list(members)] = True
        return self.pack(membership)

    def at_random(self, n: int, below: Callable[[int, int], NDArray[np.int64]]) -> Codes:
        if not self.constant_sum:
            return super().at_random(n, below)
        t = len(self.labels)
        needed = np.full(n, self.least, dtype=np.int64)
        membership = np.zeros((n, t), dtype=bool)
        for place in range(t):  # take each with chance (still needed) / (still to come)
            membership[:, place] = below(t - place, n) < needed
            needed -= membership[:, place]
        return self.pack(membership)

    def form(self) -> dict[str, Any]:
        return {"space": "subsets", "labels": list(self.labels), "least": self.least, "most": self.most}


@dataclass(frozen=True)
class Bits(Subsets):
    """Any set of labels, one bit each. The empty set and the full set are also reports.

    Examples
    --------
    >>> Bits(("a", "b")).size
    4
    """

    least: int = 0
    most: int = -1

    def __post_init__(self) -> None:
        object.__setattr__(self, "most", len(tuple(self.labels)))
        super().__post_init__()

    @property
    def numbered(self) -> bool:
        """False: a bit for each label is the number, for every client alike."""
        return False

    def form(self) -> dict[str, Any]:
        return {"space": "bits", "labels": list(self.labels)}


def _bits_set(words: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many rows have each bit of each word set, (words, WORD).

    A full adder turns three words into one of the same weight and one of twice the weight, for all bits at once.
    """
    counts, places = np.zeros((words.shape[1], WORD), dtype=np.int64), np.arange(WORD)
    for start in range(0, len(words), _WORD_BLOCK):
        plane, weight = words[start : start + _WORD_BLOCK], 1
        while len(plane):
            carries = []
            while len(plane) > _FEW:
                third = len(plane) // 3
                a, b, c = plane[:third], plane[third : 2 * third], plane[2 * third : 3 * third]
                either = a ^ b
                carries.append((a & b) | (either & c))
                plane = np.concatenate([either ^ c, plane[3 * third :]])
            counts += weight * ((plane[:, :, None] >> places) & 1).sum(axis=0)
            plane, weight = np.concatenate(carries) if carries else plane[:0], 2 * weight
    return counts
