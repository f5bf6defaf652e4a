"""Ranking by a bitmap of the keys that occur, in compiled code; needs numba (the extra `fast`).

The rank of a key is the number of smaller ones that occur: those in the words before it, added up once, and those in
its own word, counted where they are asked for. The bitmap is an eighth of a byte a possible key, so it stays in a cache
where a table of ranks, 32 times as large, does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


def ranked_by_bits(key: NDArray[Any], span: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """The last row of each distinct key, in order; the rank of each row's key; and how many rows have each."""
    bits = np.zeros((span + 63) // 64, np.uint64)
    before = np.empty(len(bits), np.int32)
    distinct = _mark_keys(key, bits, before)
    row, rank = np.empty(distinct, np.int64), np.empty(len(key), np.int32)
    count = np.zeros(distinct, np.int64)
    _fill_ranks(key, bits, before, row, rank, count)
    return row, rank, count


@njit(cache=True, nogil=True)
def _mark_keys(key, bits, before):  # type: ignore[no-untyped-def]
    """Mark the keys that occur, and count those before each word."""
    for place in range(len(key)):
        row_key = np.uint64(key[place])
        bits[row_key >> np.uint64(6)] |= np.uint64(1) << (row_key & np.uint64(63))
    total = 0
    for word in range(len(bits)):
        before[word] = total
        total += _ones(bits[word])
    return total


@njit(cache=True, nogil=True)
def _fill_ranks(key, bits, before, row, rank, count):  # type: ignore[no-untyped-def]
    for place in range(len(key)):
        row_key = np.uint64(key[place])
        word = row_key >> np.uint64(6)
        lower = (np.uint64(1) << (row_key & np.uint64(63))) - np.uint64(1)
        key_rank = before[word] + _ones(bits[word] & lower)
        rank[place] = key_rank
        row[key_rank] = place
        count[key_rank] += 1


@njit(cache=True, nogil=True, inline="always")
def _ones(word):  # type: ignore[no-untyped-def]
    """The number of bits set, added up in parallel within the word."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
