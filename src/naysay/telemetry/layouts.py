"""How the responses of a design are written as whole numbers: their places in a list, or a bit for each category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naysay._values import Flags
from naysay.errors import DataError, NaysayError
from naysay.responses import WORD, Codes, Space
from naysay.responses.spaces import MISSING

Reports = NDArray[np.integer[Any]]
"""Reports, in ascending order: (n,) numbers, or the codes (n, words) of sets."""

_WIDTHS = (1, 2, 4, 8)  # bytes of a number: what NumPy, DuckDB and JavaScript read without unpacking
_WHOLE = np.uint64(2**WORD - 1)


def layout_of(space: Space) -> Layout:
    """The layout of the responses of a design.

    Raises
    ------
    DataError
        Responses that are no whole numbers, such as a pair of large sets.

    Examples
    --------
    >>> from naysay import designs
    >>> layout_of(designs.k_ary(range(300), epsilon=1).space).width
    2
    >>> layout_of(designs.unary(20, epsilon=1).space).width
    3
    """
    if space.numbered:
        return Numbered(space)
    if space.sets:
        return BitSets(space)
    raise DataError(
        "there are no batches for this design: its responses are neither numbered nor sets. Ask its questions apart, "
        "or tally answers from a table"
    )


@dataclass(frozen=True)
class Numbered:
    """Each report is the number of a response, in the order of the design's matrix rows."""

    space: Space

    @cached_property
    def width(self) -> int:
        """Bytes of a report."""
        return next(width for width in _WIDTHS if self.space.size <= 2 ** (8 * width))

    @property
    def report_description(self) -> str:
        """What a report is, for messages."""
        return f"a whole number from 0 to {self.space.size - 1:,}"

    def of_codes(self, codes: Codes) -> Reports:
        """Reports, in ascending order."""
        response_places = self.space.places(codes)
        if len(response_places) and response_places.min() < 0:
            raise DataError(f"a missing answer is no report; leave it out (answer {response_places.argmin() + 1})")
        return np.sort(response_places.astype(f"<u{self.width}"))

    def to_bytes(self, reports: Reports) -> bytes:
        return reports.tobytes()

    def of_bytes(self, body: bytes) -> Reports:
        return np.frombuffer(body, f"<u{self.width}")

    def of_json(self, cells: Sequence[object]) -> tuple[Reports, list[int]]:
        """Reports in ascending order, and the places of the cells that are none."""
        report_numbers: list[int] = []
        bad_places: list[int] = []
        for cell_place, cell in enumerate(cells):
            report_number = self._number(cell)
            (bad_places if report_number is None else report_numbers).append(
                cell_place if report_number is None else report_number
            )
        return np.sort(np.array(report_numbers, f"<u{self.width}")), bad_places

    def _number(self, cell: object) -> int | None:
        report_number = cell if isinstance(cell, int) and not isinstance(cell, bool) else None
        if isinstance(cell, str):
            cell_codes = _codes_of(self.space, cell)
            report_number = None if cell_codes is None else int(self.space.places(cell_codes)[0])
        return report_number if report_number is not None and 0 <= report_number < self.space.size else None

    def outside(self, reports: Reports) -> Flags:
        """Which reports the design cannot make, (n,)."""
        return np.asarray(reports >= self.space.size)

    def unordered(self, reports: Reports) -> Flags:
        """Which reports are less than the one before, (n - 1,)."""
        return np.asarray(reports[1:] < reports[:-1])

    def codes(self, reports: Reports) -> Codes:
        return self.space.at(reports.astype(np.int64))

    def plain(self, reports: Reports) -> list[Any]:
        """Reports as JSON writes them: numbers, or the texts that clients draw."""
        return list(reports.tolist())


@dataclass(frozen=True)
class BitSets:
    """Each report is a set of categories: category c is bit c, as one number of ceil(t / 8) bytes.

    What its methods give is said at those of `Numbered`.
    """

    space: Any

    @cached_property
    def width(self) -> int:
        return -(-len(self.space.labels) // 8)

    @property
    def report_description(self) -> str:
        return f"a set of {self.space.sized} of {len(self.space.labels):,} categories"

    def of_codes(self, codes: Codes) -> Reports:
        is_missing = self.space.missing(codes)
        if is_missing.any():
            raise DataError(f"a missing answer is no report; leave it out (answer {is_missing.argmax() + 1})")
        return np.asarray(codes[np.lexsort(codes.T)])  # the last word is the highest

    def to_bytes(self, reports: Reports) -> bytes:
        """Words of `WORD` bits each, put together to words of 64 bits."""
        packed_words = np.zeros((len(reports), -(-self.width // 8) + 1), "<u8")
        for word_place, code_word in enumerate(reports.T.astype(np.uint64)):
            first_word, bit_shift = divmod(WORD * word_place, 64)
            packed_words[:, first_word] |= code_word << np.uint64(bit_shift)
            if bit_shift:
                packed_words[:, first_word + 1] |= code_word >> np.uint64(64 - bit_shift)
        return packed_words.view(np.uint8)[:, : self.width].tobytes()

    def of_bytes(self, body: bytes) -> Reports:
        """Words of `WORD` bits each, cut out of words of 64 bits; a set with bits beyond the categories is missing."""
        report_octets = np.frombuffer(body, np.uint8).reshape(-1, self.width)
        padded_octets = np.zeros((len(report_octets), 8 * (-(-self.width // 8) + 1)), np.uint8)
        padded_octets[:, : self.width] = report_octets
        packed_words, code_words = padded_octets.view("<u8"), np.empty((self.space.width, len(report_octets)), np.int64)
        for word_place in range(self.space.width):
            first_word, bit_shift = divmod(WORD * word_place, 64)
            code_word = packed_words[:, first_word] >> np.uint64(bit_shift)
            if bit_shift:
                code_word |= packed_words[:, first_word + 1] << np.uint64(64 - bit_shift)
            code_words[word_place] = code_word & _WHOLE
        used_bits = len(self.space.labels) - 8 * (self.width - 1)
        if used_bits < 8:
            code_words[0, (report_octets[:, -1] >> used_bits) > 0] = MISSING
        return code_words.T

    def of_json(self, cells: Sequence[object]) -> tuple[Reports, list[int]]:
        cell_codes = [_codes_of(self.space, cell) if isinstance(cell, str) else None for cell in cells]
        good_codes = [codes for codes in cell_codes if codes is not None]
        codes = np.vstack([np.empty((0, self.space.width), np.int64), *good_codes])
        return self.of_codes(codes), [cell_place for cell_place, codes in enumerate(cell_codes) if codes is None]

    def outside(self, reports: Reports) -> Flags:
        is_outside = self.space.missing(reports)
        if (self.space.least, self.space.most) != (0, len(self.space.labels)):
            set_sizes = self.space.sizes(reports)
            is_outside = is_outside | (set_sizes < self.space.least) | (set_sizes > self.space.most)
        return np.asarray(is_outside)

    def unordered(self, reports: Reports) -> Flags:
        is_less, is_same = np.zeros(max(len(reports) - 1, 0), bool), np.ones(max(len(reports) - 1, 0), bool)
        for code_word in reports.T[::-1]:
            is_less |= is_same & (code_word[1:] < code_word[:-1])
            is_same &= code_word[1:] == code_word[:-1]
            if not is_same.any():
                break
        is_present = reports[:, 0] != MISSING  # the others are refused for another reason
        return np.asarray(is_less & is_present[1:] & is_present[:-1])

    def codes(self, reports: Reports) -> Codes:
        return reports.astype(np.int64, copy=False)

    def plain(self, reports: Reports) -> list[Any]:
        return list(self.space.texts(reports))


Layout: TypeAlias = Numbered | BitSets
"""How the responses of one design are written, which is all that a batch needs to know about them."""


def _codes_of(space: Space, text: str) -> Codes | None:
    """The code of a response as a client writes it; None for any other text."""
    try:
        codes = space.encode([text])
    except NaysayError:
        return None
    return None if space.missing(codes)[0] else codes
