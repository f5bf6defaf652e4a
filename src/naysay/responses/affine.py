"""The space of affine reports: a linear hash over a prime field, and one value of it, as one whole number.

Category v has digits v_0 … v_{m-1} in base g. A hash is a vector α of m digits whose highest non-zero digit is 1;
h(v) = Σ α_i v_i mod g. There are (g^m - 1)/(g - 1) hashes. A report says "the hash of my category is y". Sums over all
reports, or over all categories, run digit by digit (the discrete Radon transform), so that no table is made.

A space in which a report is a few whole numbers, for designs with too many responses to name.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay import _checks
from naysay._values import Array
from naysay.errors import AnswerError, DesignError
from naysay.responses.spaces import JOINER, MISSING, Codes, OneNumber, Space, cells_of

NAMED = 2**48
"""How many numbers stand for the texts of an open domain."""

_EXACT = 2**53  # largest code: integers up to here are exact in every language's floating point
_TABLE = 2**22  # a table of all hashes of all categories has at most this many entries
_DENSE, _MANY = 2**24, 64  # up to so many reports × categories, for so many sums, a matrix product is the quickest
_TILE = (4_096, 32)  # reports × names that are compared at once, so that they stay in the cache
_BLOCK = 2**21  # entries of one block of hashes, so that it stays in the cache


def name_of(text: str) -> int:
    """The 48-bit number that stands for a text: the first six bytes of SHA-256 of its NFC form in UTF-8.

    Examples
    --------
    >>> name_of("example.org") == name_of("example.org"), name_of("example.org") < 2**48
    (True, True)
    """
    octets = unicodedata.normalize("NFC", text).encode("utf-8")
    return int.from_bytes(hashlib.sha256(octets).digest()[:6], "big")


def prime(number: int) -> bool:
    """Whether a whole number is prime.

    Examples
    --------
    >>> [n for n in range(12) if prime(n)]
    [2, 3, 5, 7, 11]
    """
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


@dataclass(frozen=True, eq=False)
class Affine(OneNumber):
    """A hash and one of its values: s · g + y, for hash number s and value y.

    Hash 0 is α = (1). Then come blocks of g^L hashes with leading digit L; their lower digits are the place within the
    block, in base g.

    Parameters
    ----------
    labels : tuple of label
        The categories; for an open domain, the candidates.
    base : int
        g, a prime.
    named : bool
        Whether any text may be a category; its number is then `name_of` the text.

    Examples
    --------
    >>> space = Affine(("a", "b", "c", "d"), 2)
    >>> space.size, space.statistic(space.listing()).astype(int).tolist()
    (6, [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 1, 0]])
    """

    labels: tuple[Any, ...]
    base: int
    named: bool = False

    def __post_init__(self) -> None:
        if not prime(self.base):
            raise DesignError(f"the base of an affine design must be a prime; got {self.base!r}")
        if self.size > _EXACT:
            raise DesignError(f"base {self.base} makes more than 2**53 reports for this many categories; take a less")

    def __eq__(self, other: object) -> bool:
        """Whether reports mean the same; the candidates of an open domain change no report."""
        return isinstance(other, Affine) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.base, self.named, () if self.named else self.labels

    @cached_property
    def digits(self) -> int:
        """m, the least number of digits in which all categories differ."""
        domain_size, digit_count, vector_count = NAMED if self.named else len(self.labels), 1, self.base
        while vector_count < domain_size:
            digit_count, vector_count = digit_count + 1, vector_count * self.base
        return digit_count

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The number of each category, (t,)."""
        if self.named:
            return np.array([name_of(str(label)) for label in self.labels], dtype=np.int64)
        return np.arange(len(self.labels), dtype=np.int64)

    @cached_property
    def hashes(self) -> int:
        """How many hashes there are."""
        return int((self.base**self.digits - 1) // (self.base - 1))

    @cached_property
    def size(self) -> int:
        return self.base * self.hashes

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """The number of the first hash of each leading digit, (m,)."""
        return np.array([(self.base**lead - 1) // (self.base - 1) for lead in range(self.digits)], dtype=np.int64)

    def coefficients(self, hashes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Each hash's α, read as one number in base g, (n,)."""
        powers = self.base ** np.arange(self.digits, dtype=np.int64)
        lead = np.searchsorted(self._starts, hashes, side="right") - 1
        return np.asarray(powers[lead] + hashes - self._starts[lead])

    def values(self, hashes: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The hash of each number; the two arrays are broadcast."""
        if not self.named and self._all is not None:
            return self._all[hashes, numbers]
        return self._computed_values(hashes, numbers)

    @cached_property
    def _all(self) -> NDArray[np.int64] | None:
        """The hashes of all categories, (hashes, t), where they are few."""
        if self.hashes * len(self.labels) > _TABLE:
            return None
        kind = np.uint8 if self.base <= 256 else np.int64
        return self._computed_values(np.arange(self.hashes)[:, None], self.numbers).astype(kind)

    def _computed_values(self, hashes: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        alpha_left, number_left, digit_sum = self.coefficients(hashes), numbers, np.zeros((), dtype=np.int64)
        for _ in range(self.digits):
            alpha_left, alpha_digit = np.divmod(alpha_left, self.base)
            number_left, number_digit = np.divmod(number_left, self.base)
            digit_sum = digit_sum + alpha_digit * number_digit
        return np.asarray(digit_sum % self.base)

    def encode(self, values: object) -> Codes:
        if isinstance(values, np.ndarray) and values.ndim == 1 and np.issubdtype(values.dtype, np.integer):
            response_numbers = values.astype(np.int64)
            is_wrong = (response_numbers < 0) | (response_numbers >= self.size) | (response_numbers != values)
            if is_wrong.any():
                self._refuse(values.tolist(), int(is_wrong.argmax()))
            return response_numbers.reshape(-1, 1)
        response_cells = list(cells_of(values))
        response_numbers = np.full(len(response_cells), MISSING, dtype=np.int64)
        for row_number, response_cell in enumerate(response_cells):
            if not _checks.is_missing(response_cell):
                response_numbers[row_number] = self._number(response_cell, response_cells, row_number)
        return response_numbers.reshape(-1, 1)

    def _number(self, cell: object, cells: list[object], row: int) -> int:
        text = str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
        if not (text.isascii() and text.isdigit() and len(text) <= 16 and int(text) < self.size):
            self._refuse(cells, row)
        return int(text)

    def _refuse(self, cells: list[object], row: int) -> None:
        problem = f"is {str(cells[row])[:80]!r}; a report of this design is a whole number from 0 to {self.size - 1:,}"
        raise AnswerError(problem, row=row, total=len(cells), value=cells[row])

    def decode(self, codes: Codes) -> Array:
        is_missing = self.missing(codes)
        if not is_missing.any():
            return codes[:, 0]
        response_numbers = codes[:, 0].astype(object)
        response_numbers[is_missing] = None
        return response_numbers

    def texts(self, codes: Codes) -> list[str | None]:
        return [None if code == MISSING else str(code) for code in codes[:, 0].tolist()]

    def statistic(self, codes: Codes) -> NDArray[np.float64]:
        hash_numbers, hash_values = np.divmod(codes[:, 0], self.base)
        speaks_for: NDArray[np.float64] = (
            self.values(hash_numbers[:, None], self.numbers) == hash_values[:, None]
        ).astype(np.float64)
        speaks_for[self.missing(codes)] = np.nan
        return speaks_for

    def total(self, codes: Codes, amounts: Array) -> Array:
        """Σ amount · T over these reports, (t,), exact for integers: C_v = Σ_α N[α, α·v]."""
        hash_numbers, hash_values = np.divmod(codes[:, 0], self.base)
        if self.named:
            return self._total_of_names(hash_numbers, hash_values, amounts)
        report_counts = np.zeros((self.hashes, self.base), dtype=amounts.dtype)
        np.add.at(report_counts, (hash_numbers, hash_values), amounts)
        if not self._sweeping:
            category_totals: Array = np.zeros(len(self.labels), dtype=amounts.dtype)
            for hash_block in _blocks(self.hashes, len(self.labels)):
                block_hashes = np.arange(hash_block.start, hash_block.stop)[:, None]
                category_totals += np.take_along_axis(
                    report_counts[hash_block], self.values(block_hashes, self.numbers), axis=1
                ).sum(axis=0)
            return category_totals
        count_grid = np.zeros((self.base, self.base**self.digits), dtype=amounts.dtype)
        count_grid[:, self.coefficients(np.arange(self.hashes))] = report_counts.T
        return self._swept(count_grid, 1, np.add)[0, : len(self.labels)]

    def added(self, codes: Codes, values: NDArray[np.float64]) -> NDArray[np.float64]:
        is_dense = len(codes) * len(self.labels) <= _DENSE and values.shape[1] >= _MANY
        if is_dense or not self._sweeping:
            return super().added(codes, values)
        report_sums = np.empty((len(codes), values.shape[1]))
        for column_number, value_column in enumerate(values.T):
            report_sums[:, column_number] = self.over_supports(value_column, np.add, 0.0)[codes[:, 0]]
        return report_sums

    def _total_of_names(self, hashes: NDArray[np.int64], values: NDArray[np.int64], amounts: Array) -> Array:
        """Σ amount over the reports whose hash of a category has the reported value: (h - y) / g is whole, (t,).

        The sum over digits is a product of matrices, in single precision. It is below m g² / g, so that its error stays
        far below the 1/g by which other fractions differ from whole numbers.
        """
        float_type = np.float32 if self.digits * self.base**2 < 2**18 else np.float64
        ones_column = np.ones(len(self.labels), dtype=np.int64)
        name_digits: Array = np.column_stack([self._in_digits(self.numbers), ones_column]).astype(float_type)
        category_totals, (tile_rows, tile_columns) = np.zeros(len(self.labels), dtype=amounts.dtype), _TILE
        for report_start in range(0, len(hashes), tile_rows):
            report_block = slice(report_start, report_start + tile_rows)
            hash_digits = np.vstack([self._in_digits(self.coefficients(hashes[report_block])).T, -values[report_block]])
            scaled_digits: Array = (hash_digits / self.base).astype(float_type)
            block_amounts = amounts[report_block]
            are_ones = (block_amounts == 1).all()
            for name_start in range(0, len(name_digits), tile_columns):
                hash_ratios: NDArray[np.float64] = name_digits[name_start : name_start + tile_columns] @ scaled_digits
                is_hit = np.abs(hash_ratios - np.rint(hash_ratios)) < 0.25 / self.base
                hit_sums = (
                    [np.count_nonzero(hit_row) for hit_row in is_hit]
                    if are_ones
                    else is_hit.astype(amounts.dtype) @ block_amounts
                )
                category_totals[name_start : name_start + tile_columns] += hit_sums
        return category_totals

    def _in_digits(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The digits of numbers in the base, the lowest first, (n, m)."""
        powers = self.base ** np.arange(self.digits, dtype=np.int64)
        return np.asarray(numbers[:, None] // powers % self.base)

    def over_supports(self, values: Array, join: np.ufunc, nothing: float) -> Array:
        """For each possible report, the values of the categories that it speaks for, joined: (size,).

        ``join`` is `numpy.add` for sums or `numpy.maximum` for the largest; `nothing` is what no category has.
        """
        if not self._sweeping:
            joined_values = np.full((self.hashes, self.base), nothing, dtype=np.asarray(values).dtype)
            for hash_block in _blocks(self.hashes, len(self.labels)):
                block_hashes = np.arange(hash_block.start, hash_block.stop)[:, None]
                hash_values = self.values(block_hashes, self.numbers)
                join.at(joined_values, (block_hashes, hash_values), values)
            return joined_values.ravel()
        value_grid = np.full((self.base, self.base**self.digits), nothing, dtype=np.asarray(values).dtype)
        value_grid[0, : len(self.labels)] = values
        swept_grid = self._swept(value_grid, -1, join)
        return np.ascontiguousarray(swept_grid[:, self.coefficients(np.arange(self.hashes))].T).ravel()

    @property
    def quick(self) -> bool:
        """Whether sums over supports take few steps: digit by digit, or from a table of all hashes."""
        return not self.named and (self._sweeping or self._all is not None)

    @property
    def _sweeping(self) -> bool:
        """Whether going digit by digit takes fewer steps than hashing each category by each hash."""
        return not self.named and self.digits * self.base ** (self.digits + 2) <= self.hashes * len(self.labels)

    def _swept(self, grid: Array, sign: int, join: np.ufunc) -> Array:
        """F[… v_i …, y] = join over α_i of F[… α_i …, y ± α_i v_i], for one digit after the other."""
        g, digit_values = self.base, np.arange(self.base)
        for digit_number in range(self.digits):
            grid_before = grid.reshape(g, -1, g, g**digit_number)
            grid_after = np.empty_like(grid_before)
            for target_digit in range(g):
                joined_values = grid_before[:, :, 0]
                for source_digit in range(1, g):
                    joined_values = join(
                        joined_values,
                        grid_before[(digit_values + sign * source_digit * target_digit) % g, :, source_digit],
                    )
                grid_after[:, :, target_digit] = joined_values
            grid = grid_after.reshape(g, -1)
        return grid

    def at_random(self, n: int, below: Callable[[int, int], NDArray[np.int64]]) -> Codes:
        return below(self.size, n).reshape(-1, 1)

    def form(self) -> dict[str, Any]:
        return {"space": "affine", "labels": list(self.labels), "base": self.base, "named": self.named}


def _blocks(rows: int, columns: int) -> Iterable[slice]:
    step = max(1, _BLOCK // max(columns, 1))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


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

    def encode(self, values: object) -> Codes:
        response_cells = cells_of(values)
        number_rows = [
            self._encode_cell(response_cell, row_number, len(response_cells))
            for row_number, response_cell in enumerate(response_cells)
        ]
        return np.array(number_rows, dtype=np.int64).reshape(-1, self.width)

    def _encode_cell(self, cell: object, row: int, total: int) -> Sequence[int]:
        if isinstance(cell, str) or not isinstance(cell, Sequence | np.ndarray):
            if _checks.is_missing(cell):
                return [MISSING] * self.width
            cell = str(cell).split(JOINER)
        try:
            numbers = [int(number_text) for number_text in cell]
        except (TypeError, ValueError):
            numbers = []
        if len(numbers) != self.width or any(
            not 0 <= n < number_limit for n, number_limit in zip(numbers, self.limits, strict=True)
        ):
            limits_text = " and ".join(map(str, self.limits))
            problem = f"is {str(cell)[:80]!r}; it must be {self.width} whole numbers joined by ';', below {limits_text}"
            raise AnswerError(problem, row=row, total=total, value=cell)
        return numbers

    def decode(self, codes: Codes) -> Array:
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
