"""Checks of counts that users give, and the groups that tallies are made for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naysay.errors import AnswerError, DataError, NotEstimable

__all__ = ["group_order", "in_group", "whole"]

_MOST = 2**53  # largest number of people: above it floating point skips whole numbers


def whole(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Counts as integers, after checking that they are whole."""
    fractional = counts != np.rint(counts)
    if fractional.any():
        row = int(fractional.argmax())
        raise DataError(
            f"counts must be whole numbers; got {counts[row]:g} in place {row + 1} (survey weights go into weights=)",
            row=row,
            value=float(counts[row]),
        )
    if counts.sum() > _MOST:
        raise DataError(f"counts must sum to at most 2**53; they sum to {counts.sum():g}")
    return counts.astype(np.int64)


def group_order(group: Any) -> tuple[bool, str]:
    """The key for sorting groups: the missing group first, then by text."""
    return group is not None, str(group)


@contextmanager
def in_group(group: Any) -> Iterator[None]:
    """Put the name of the group in front of errors raised inside."""
    try:
        yield
    except AnswerError:
        raise
    except (DataError, NotEstimable) as error:
        if group is None:
            raise
        told = f"in group {group!r} {error}"
        if isinstance(error, NotEstimable):
            raise NotEstimable(told, contrast=error.contrast, rank=error.rank) from None
        raise DataError(told, row=error.row, column=error.column, value=error.value) from None
