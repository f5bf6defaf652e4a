"""From responses to tallies, and the groups that tallies are made for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay import _checks
from naysay.errors import AnswerError, DataError, NotEstimable
from naysay.responses import Codes, Responses, Space
from naysay.tally.tally import Asked, Part, Tally

__all__ = ["answered", "counted", "counts_of", "group_order", "in_group", "of_responses", "parts_of", "whole"]

_MOST = 2**53  # people: beyond it floating point skips whole numbers


def of_responses(
    asked: Asked, responses: Responses, *, weights: ArrayLike | None = None, count: ArrayLike | None = None
) -> Tally:
    """The tally of encoded responses."""
    size = len(responses)
    people = np.ones(size, dtype=np.int64)
    if count is not None:
        people = whole(_checks.amounts(count, what="counts", length=size))
    each = np.ones(size) if weights is None else _checks.amounts(weights, what="weights", length=size)
    parts = parts_of(asked, responses, people, each * people, each * each * people)
    return answered(Tally(parts, weighted=weights is not None), rows=size)


def parts_of(
    asked: Asked,
    responses: Responses,
    count: NDArray[np.int64],
    weight: NDArray[np.float64],
    squared: NDArray[np.float64],
) -> tuple[Part, ...]:
    """One part for each level on offer, levels that nobody chose included."""
    parts = []
    for level in asked.levels:
        chosen, codes = asked.codes_at(level, responses)
        weights = (weight[chosen], squared[chosen])
        parts.append(Part.of(asked.channel(level), codes, level=level, count=count[chosen], weights=weights))
    return tuple(parts)


def answered(tally: Tally, *, rows: int) -> Tally:
    """The tally of so many rows itself, if anybody answered."""
    if tally.n == 0:
        came = "all counts are 0" if rows else "there are none"
        if tally.missing:
            came = "the one answer is missing" if tally.missing == 1 else f"all {tally.missing} are missing"
        raise DataError(f"at least one answer is needed; {came}")
    if tally.weighted and tally.weight == 0:
        raise DataError("the weights of the answers must not all be zero")
    return tally


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


def counted(said: Mapping[Any, float], space: Space) -> tuple[Any, NDArray[np.float64]]:
    """Answers and how many people gave each, from ``{response: count}``."""
    answers: Any = list(said)
    if space.answers == 2 and answers:
        answers = tuple(map(list, zip(*answers, strict=True)))
    return answers, _checks.amounts(list(said.values()), what="counts")


def group_order(group: Any) -> tuple[bool, str]:
    """Key by which groups are sorted: the missing one first, then by their text."""
    return group is not None, str(group)


@contextmanager
def in_group(group: Any) -> Iterator[None]:
    """Errors inside are told with the name of the group."""
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


def counts_of(values: ArrayLike, space: Space) -> tuple[Codes, NDArray[np.float64]]:
    """Codes and counts, from counts in the order of the design's responses."""
    amounts = _checks.amounts(values, what="counts")
    codes = space.listing()
    if len(amounts) != len(codes):
        raise DataError(f"counts must have one number for each of the {len(codes)} responses; got {len(amounts)}")
    return codes, amounts
