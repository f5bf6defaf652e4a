"""Counting by bitmaps in compiled code, on all cores; needs numba (the extra `fast`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

__all__ = ["add_matches"]

_CHUNK = 256  # questions that one thread takes at a time


def add_matches(block: Any, symbols: NDArray[np.int32], total: NDArray[Any]) -> None:
    """Add what matches in a block (a `bitmaps.Block`) to the total of each question, in place."""
    some = block.maps.any(axis=1)
    planes = _planes(block.amount)
    _add(block.maps, some, block.start, block.row, block.amount, planes, block.single, symbols, total)


def _planes(amount: NDArray[Any]) -> NDArray[np.uint64]:
    """A bitmap for each binary place of whole amounts, (places, words); none of others."""
    places = int(amount.max()).bit_length() if amount.dtype.kind in "iu" else 0
    bits = np.array([(amount >> place) & 1 == 1 for place in range(places)], bool).reshape(places, len(amount))
    return np.packbits(bits, axis=1, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)


@njit(parallel=True, cache=True, nogil=True)
def _add(  # type: ignore[no-untyped-def]
    maps, some, start, row, amount, planes, single, symbols, total
):
    asked, variables = symbols.shape
    for chunk in prange((asked + _CHUNK - 1) // _CHUNK):
        rows = np.empty(variables, np.int64)
        for question in range(chunk * _CHUNK, min(asked, (chunk + 1) * _CHUNK)):
            possible = True
            for place in range(variables):
                rows[place] = row[start[place] + symbols[question, place]]
                if not some[rows[place]]:
                    possible = False
                    break
            if possible:
                total[question] += _found(maps, rows, amount, planes, single)


@njit(cache=True, nogil=True)
def _found(maps, rows, amount, planes, single):  # type: ignore[no-untyped-def]
    """The sum of the amounts of the tuples that all of some bitmaps hold."""
    result = amount[0] * 0
    for word in range(maps.shape[1]):
        left = maps[rows[0], word]
        for place in range(1, len(rows)):
            if left == 0:
                break
            left &= maps[rows[place], word]
        if single:
            result += _ones(left)
        elif left != 0 and 0 < len(planes) < _ones(left):  # many tuples: a popcount for each place is less work
            for place in range(len(planes)):
                result += _ones(left & planes[place, word]) << place
        else:
            while left != 0:
                lowest = left & (~left + np.uint64(1))
                result += amount[word * 64 + _ones(lowest - np.uint64(1))]
                left ^= lowest
    return result


@njit(cache=True, nogil=True, inline="always")
def _ones(word):  # type: ignore[no-untyped-def]
    """The number of bits set, added up in parallel within the word."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
