"""Sums over equal keys by hashing, in compiled code; needs numba (the extra `fast`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, inline="always")
def _start(key, mask):  # type: ignore[no-untyped-def]
    mixed = (key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed ^ (mixed >> np.uint64(29))) & mask


@njit(cache=True, nogil=True)
def totals(keys: Any, amount: Any) -> Any:
    """For each key the sum of the amounts of all that equal it, (n,)."""
    bits = np.uint64(4)
    while (1 << bits) < 2 * len(keys):
        bits += np.uint64(1)
    mask = np.uint64((1 << bits) - 1)
    slot_keys = np.zeros(1 << bits, np.uint64)
    sums = np.full(1 << bits, -1, np.int64)  # -1: the slot is free
    slot = np.empty(len(keys), np.int64)
    for row in range(len(keys)):
        place = _start(keys[row], mask)
        while sums[place] != -1 and slot_keys[place] != keys[row]:
            place = (place + np.uint64(1)) & mask
        if sums[place] == -1:
            slot_keys[place] = keys[row]
            sums[place] = 0
        sums[place] += amount[row]
        slot[row] = place
    for row in range(len(keys)):
        slot[row] = sums[slot[row]]
    return slot


@njit(cache=True, nogil=True)
def places(keys: Any) -> Any:
    """The number of each key among the distinct ones, in the order in which they come, (n,)."""
    bits = np.uint64(4)
    while (1 << bits) < 2 * len(keys):
        bits += np.uint64(1)
    mask = np.uint64((1 << bits) - 1)
    slot_keys = np.zeros(1 << bits, np.uint64)
    number = np.full(1 << bits, -1, np.int64)
    key_numbers = np.empty(len(keys), np.int64)
    distinct = 0
    for row in range(len(keys)):
        place = _start(keys[row], mask)
        while number[place] != -1 and slot_keys[place] != keys[row]:
            place = (place + np.uint64(1)) & mask
        if number[place] == -1:
            slot_keys[place] = keys[row]
            number[place] = distinct
            distinct += 1
        key_numbers[row] = number[place]
    return key_numbers
