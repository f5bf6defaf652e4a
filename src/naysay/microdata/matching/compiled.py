"""Counting by bitmaps in compiled code, on all cores; needs numba (the extra `fast`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

_CHUNK = 256  # questions that one thread takes at a time


def add_matches(block: Any, questions: Any, total: NDArray[Any]) -> None:
    """Add what matches in a block (a `bitmaps.Block`) to the total of each question (`bitmaps.Asked`), in place."""
    planes = np.zeros((0, block.maps.shape[1]), np.uint64) if block.single else _planes(block.amount)
    symbols, starts, shared = questions.compact
    _add(block.maps, block.row, block.amount, planes, block.single, symbols, starts, shared, total)


def _planes(amount: NDArray[Any]) -> NDArray[np.uint64]:
    """A bitmap for each binary place of whole amounts, (places, words); none of others."""
    places = int(amount.max()).bit_length() if amount.dtype.kind in "iu" else 0
    bits = np.array([(amount >> place) & 1 == 1 for place in range(places)], bool).reshape(places, len(amount))
    return np.packbits(bits, axis=1, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)


@njit(parallel=True, cache=True, nogil=True)
def _add(  # type: ignore[no-untyped-def]
    maps, row, amount, planes, single, symbols, starts, shared, total
):
    """Walk the questions in order; what the first symbols of one leave is kept for the next, which may share them."""
    question_count, words = len(starts) - 1, maps.shape[1]
    most = np.diff(starts).max()
    for chunk in prange((question_count + _CHUNK - 1) // _CHUNK):
        remaining_maps = np.empty((most + 1, words), np.uint64)  # what is left after so many symbols
        remaining_maps[0] = maps[0]
        cuts, dead = 0, False  # how many rows stand, and whether nothing is in the last of them
        first = chunk * _CHUNK
        for question in range(first, min(question_count, first + _CHUNK)):
            common = 0 if question == first else shared[question]
            if dead and common >= cuts:
                continue
            cuts, dead = common, False
            for place in range(starts[question] + common, starts[question + 1]):
                cuts += 1
                dead = not _cut(remaining_maps, cuts, maps, row[symbols[place]])
                if dead:
                    break
            if not dead:
                total[question] += _sum(remaining_maps[cuts], amount, planes, single)


@njit(cache=True, nogil=True, inline="always")
def _cut(remaining_maps, cut, maps, bitmap):  # type: ignore[no-untyped-def]
    """Write what the row before shares with a bitmap into a row; whether that is anything."""
    any_bits = np.uint64(0)
    for word in range(maps.shape[1]):
        common_bits = remaining_maps[cut - 1, word] & maps[bitmap, word]
        remaining_maps[cut, word] = common_bits
        any_bits |= common_bits
    return any_bits != 0


@njit(cache=True, nogil=True)
def _sum(bitmap, amount, planes, single):  # type: ignore[no-untyped-def]
    """The sum of the amounts of the tuples that a bitmap holds."""
    result = amount[0] * 0
    if single:
        ones = np.int64(0)
        for word in range(len(bitmap)):
            ones += _ones(bitmap[word])
        return result + ones
    if len(planes) > 0:
        for place in range(len(planes)):
            ones = np.int64(0)
            for word in range(len(bitmap)):
                ones += _ones(bitmap[word] & planes[place, word])
            result += ones << place
        return result
    for word in range(len(bitmap)):
        remaining_bits = bitmap[word]
        while remaining_bits != 0:
            lowest = remaining_bits & (~remaining_bits + np.uint64(1))
            result += amount[word * 64 + _ones(lowest - np.uint64(1))]
            remaining_bits ^= lowest
    return result


@njit(cache=True, nogil=True, inline="always")
def _ones(word):  # type: ignore[no-untyped-def]
    """The number of bits set, added up in parallel within the word."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
