"""What is compiled, and needs numba (the extra `fast`): ranks of keys, counts by bitmaps, totals by hashing.

The rank of a key is the number of smaller ones that occur: those in the words of a bitmap before it, added up once,
and those in its own word, counted where asked for. The bitmap is an eighth of a byte a possible key, so it stays in
a cache where a table of ranks, 32 times as large, does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from naysay._values import Array


def ranked_by_bits(key: Array, span: int) -> tuple[Array, Array, NDArray[np.int64]]:
    """The last row of each distinct key, in order; the rank of each row's key; and how many rows have each."""
    key_bits = np.zeros((span + 63) // 64, np.uint64)
    keys_before = np.empty(len(key_bits), np.int32)
    distinct_count = _mark_keys(key, key_bits, keys_before)
    distinct_rows, row_ranks = np.empty(distinct_count, np.int64), np.empty(len(key), np.int32)
    row_counts = np.zeros(distinct_count, np.int64)
    _fill_ranks(key, key_bits, keys_before, distinct_rows, row_ranks, row_counts)
    return distinct_rows, row_ranks, row_counts


@njit(cache=True, nogil=True)
def _mark_keys(key, bits, before):  # type: ignore[no-untyped-def]
    """Mark the keys that occur, and count those before each word."""
    for row_number in range(len(key)):
        row_key = np.uint64(key[row_number])
        bits[row_key >> np.uint64(6)] |= np.uint64(1) << (row_key & np.uint64(63))
    key_count = 0
    for word_number in range(len(bits)):
        before[word_number] = key_count
        key_count += _ones(bits[word_number])
    return key_count


@njit(cache=True, nogil=True)
def _fill_ranks(key, bits, before, row, rank, count):  # type: ignore[no-untyped-def]
    for row_number in range(len(key)):
        row_key = np.uint64(key[row_number])
        word_number = row_key >> np.uint64(6)
        lower_bits = (np.uint64(1) << (row_key & np.uint64(63))) - np.uint64(1)
        key_rank = before[word_number] + _ones(bits[word_number] & lower_bits)
        rank[row_number] = key_rank
        row[key_rank] = row_number
        count[key_rank] += 1


@njit(cache=True, nogil=True, inline="always")
def _ones(word):  # type: ignore[no-untyped-def]
    """The number of bits set, added up in parallel within the word."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


_CHUNK = 256  # questions that one thread takes at a time


def add_matches(block: Any, questions: Any, total: Array) -> None:
    """Add what matches in a `counting.Block` to the total of each of `counting.DistinctQuestions`, in place."""
    # a bitmap for each binary place of whole amounts, (places, words); none of others
    has_places = not block.single and block.amount.dtype.kind in "iu"
    place_count = int(block.amount.max()).bit_length() if has_places else 0
    plane_bits = np.array([(block.amount >> place) & 1 == 1 for place in range(place_count)], bool)
    plane_bits = plane_bits.reshape(place_count, len(block.amount))
    planes = np.packbits(plane_bits, axis=1, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)
    symbols, question_starts, shared_counts = questions.compact
    _add(block.maps, block.row, block.amount, planes, block.single, symbols, question_starts, shared_counts, total)


@njit(parallel=True, cache=True, nogil=True)
def _add(  # type: ignore[no-untyped-def]
    maps, row, amount, planes, single, symbols, starts, shared, total
):
    """Walk the questions in order; what the first symbols of one leave is kept for the next, which may share them."""
    question_count, word_count = len(starts) - 1, maps.shape[1]
    most_symbols = np.diff(starts).max()
    for chunk in prange((question_count + _CHUNK - 1) // _CHUNK):
        remaining_maps = np.empty((most_symbols + 1, word_count), np.uint64)  # what is left after so many symbols
        remaining_maps[0] = maps[0]
        cut_count, is_empty = 0, False  # how many rows stand, and whether nothing is in the last of them
        first_question = chunk * _CHUNK
        for question in range(first_question, min(question_count, first_question + _CHUNK)):
            shared_count = 0 if question == first_question else shared[question]
            if is_empty and shared_count >= cut_count:
                continue
            cut_count, is_empty = shared_count, False
            for symbol_place in range(starts[question] + shared_count, starts[question + 1]):
                cut_count += 1
                is_empty = not _cut(remaining_maps, cut_count, maps, row[symbols[symbol_place]])
                if is_empty:
                    break
            if not is_empty:
                total[question] += _sum(remaining_maps[cut_count], amount, planes, single)


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
    total_amount = amount[0] * 0
    if single:
        bit_count = np.int64(0)
        for word_place in range(len(bitmap)):
            bit_count += _ones(bitmap[word_place])
        return total_amount + bit_count
    if len(planes) > 0:
        for binary_place in range(len(planes)):
            bit_count = np.int64(0)
            for word_place in range(len(bitmap)):
                bit_count += _ones(bitmap[word_place] & planes[binary_place, word_place])
            total_amount += bit_count << binary_place
        return total_amount
    for word_place in range(len(bitmap)):
        remaining_bits = bitmap[word_place]
        while remaining_bits != 0:
            lowest_bit = remaining_bits & (~remaining_bits + np.uint64(1))
            total_amount += amount[word_place * 64 + _ones(lowest_bit - np.uint64(1))]
            remaining_bits ^= lowest_bit
    return total_amount


@njit(cache=True, nogil=True)
def totals(keys: Array, amount: Array) -> Array:
    """For each key the sum of the amounts of all that equal it, (n,)."""
    slot_bits = np.uint64(4)
    while (1 << slot_bits) < 2 * len(keys):
        slot_bits += np.uint64(1)
    slot_mask = np.uint64((1 << slot_bits) - 1)
    slot_keys = np.zeros(1 << slot_bits, np.uint64)
    slot_sums = np.full(1 << slot_bits, -1, np.int64)  # -1: the slot is free
    row_slots = np.empty(len(keys), np.int64)
    for row in range(len(keys)):
        mixed_bits = (keys[row] ^ (keys[row] >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        slot_place = (mixed_bits ^ (mixed_bits >> np.uint64(29))) & slot_mask
        while slot_sums[slot_place] != -1 and slot_keys[slot_place] != keys[row]:
            slot_place = (slot_place + np.uint64(1)) & slot_mask
        if slot_sums[slot_place] == -1:
            slot_keys[slot_place] = keys[row]
            slot_sums[slot_place] = 0
        slot_sums[slot_place] += amount[row]
        row_slots[row] = slot_place
    for row in range(len(keys)):
        row_slots[row] = slot_sums[row_slots[row]]
    return row_slots
