"""Checks of user input. Each check is done once, where the input enters."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from naysay._values import Array, Floats, Integers
from naysay.errors import DataError, DesignError

MOST_PEOPLE = 2**53
"""The largest number of people: above it floating point skips whole numbers."""


def categories(labels: Iterable[object], *, least: int = 2, what: str = "categories") -> tuple[Any, ...]:
    """The labels as a tuple, after checks: there are enough, none is empty, and none occurs twice."""
    if isinstance(labels, str):
        raise DesignError(f"{what} must be several labels; got the single text {labels!r} (write a tuple of labels)")
    checked_labels: tuple[Any, ...] = tuple(
        label.item() if isinstance(label, np.generic) else label for label in labels
    )
    if len(checked_labels) < least:
        raise DesignError(
            f"at least {least} {what} are needed; got {len(checked_labels)}: {listing_text(checked_labels)}"
        )
    # A quick check for many texts, or many whole numbers; the slow loop below finds what is wrong.
    label_types = set(map(type, checked_labels))
    is_plain = label_types == {int} or (label_types == {str} and all(map(str.strip, checked_labels)))
    if is_plain and len(set(checked_labels)) == len(checked_labels):
        return checked_labels
    position_of_text: dict[str, int] = {}
    for position, label in enumerate(checked_labels):
        if not isinstance(label, Hashable):
            raise DesignError(
                f"{what} must be texts or numbers; number {position + 1} of {len(checked_labels)} is {label!r}"
            )
        text = str(label)
        if is_missing(label) or not text.strip():
            raise DesignError(f"{what} must not be empty; number {position + 1} of {len(checked_labels)} is {label!r}")
        if text in position_of_text:
            raise DesignError(
                f"{what} must differ; {text!r} is number {position_of_text[text] + 1} and number {position + 1}"
            )
        position_of_text[text] = position
    return checked_labels


def is_missing(value: object) -> bool:
    """Whether a cell holds no answer: None, NaN, a null of pandas, or an empty text."""
    if value is None or (isinstance(value, str) and value == ""):
        return True
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return type(value).__name__ in {"NAType", "NaTType"}


def label(category: object) -> str:
    """A category as text; a pair of answers as ``yes × low``."""
    return " × ".join(map(str, category)) if isinstance(category, tuple) else str(category)


def nearest(value: object, known_labels: Iterable[object]) -> str:
    """A hint that names the known label nearest to `value`, or lists what is known."""
    known_texts = [str(label) for label in known_labels]
    return _near_text_hint(value, known_texts) or f"known are {listing_text(known_texts)}"


def no_column(name: object, columns: Sequence[str], *, what: str = "column") -> str:
    """The words for a column, or another thing that has a name, that is not there, with those that are."""
    noun, _, noun_rest = what.partition(" ")
    name_parts = re.split(r"\s*[;|\s]\s*", str(name).strip())
    are_several = len(name_parts) > 1 and all(name_part in columns for name_part in name_parts)
    hint = f"write several with commas: {','.join(name_parts)}" if are_several else _near_text_hint(name, columns)
    sentence = f"there is no {what} {name!r}; the {noun}s{noun_rest and ' '}{noun_rest} are {listing_text(columns, 40)}"
    return sentence + (f" ({hint})" if hint else "")


def _near_text_hint(value: object, texts: Sequence[str]) -> str:
    """A question whether a near text was meant; empty where none is near."""
    close_texts = difflib.get_close_matches(str(value), texts, n=1, cutoff=0.6)
    if not close_texts:
        text_by_fold = {text.casefold().strip(): text for text in texts}
        folded_match = text_by_fold.get(str(value).casefold().strip())
        close_texts = [folded_match] if folded_match else []
    return f"did you mean {close_texts[0]!r}?" if close_texts else ""


def repeated(names: Sequence[str]) -> str | None:
    """The first name that stands there again.

    Examples
    --------
    >>> repeated(("a", "b", "a")), repeated(("a", "b"))
    ('a', None)
    """
    return next((name for place, name in enumerate(names) if name in names[:place]), None)


def listing_text(values: Iterable[object], most: int = 12) -> str:
    """A short listing of values for a message."""
    value_texts = [str(value) if len(str(value)) <= 60 else str(value)[:57] + "…" for value in values]
    more_text = f", … ({len(value_texts) - most} more)" if len(value_texts) > most else ""
    return ", ".join(repr(value_text) for value_text in value_texts[:most]) + more_text


def amounts(values: object, *, what: str, length: int | None = None) -> Floats:
    """Counts or weights as floats (n,), none of them negative, NaN or infinite."""
    try:
        result = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} must be numbers; {error}") from None
    if np.asarray(values).dtype == np.bool_:
        raise DataError(f"{what} must be numbers; got {listing_text(np.asarray(values).ravel().tolist())}")
    if result.ndim != 1:
        raise DataError(f"{what} must be one number for each answer; got an array of shape {result.shape}")
    if length is not None and len(result) != length:
        raise DataError(f"{what} must have one number for each of the {length} answers; got {len(result)}")
    is_bad = ~(np.isfinite(result) & (result >= 0))
    if is_bad.any():
        bad_row = int(is_bad.argmax())
        raise DataError(
            f"{what} must be finite and not negative; got {result[bad_row]:g} in place {bad_row + 1} of {len(result)}",
            row=bad_row,
            value=float(result[bad_row]),
        )
    return result


def probability_vector(values: ArrayLike, size: int, *, what: str) -> Floats:
    """Probabilities (size,), none negative, that sum to one."""
    try:
        result = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what} must be {size} probabilities; got {listing_text([values])}") from None
    if result.shape != (size,):
        raise DataError(f"{what} must have {size} probabilities; got {result.size}")
    if not np.isfinite(result).all() or (result < 0).any():
        raise DataError(f"{what} must not be negative or NaN; got {listing_text(result)}")
    if abs(result.sum() - 1) > 1e-9:  # typed decimals may miss one by more than rounding alone
        raise DataError(f"{what} must sum to one; they sum to {result.sum():.10g}")
    return result


def whole_number(value: object, least: int, most: int, *, what: str) -> int:
    """A whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise DesignError(f"{what} must be a whole number from {least} to {most}; got {value!r}")
    return int(value)


def confidence(value: object) -> float:
    """A level of confidence strictly between 0 and 1."""
    if not isinstance(value, int | float | np.number) or not 0 < value < 1:
        raise DataError(f"confidence must lie between 0 and 1, such as 0.95; got {value!r}")
    return float(value)


def read_only(array: Array) -> Array:
    """The same array, set read-only."""
    array.setflags(write=False)
    return array


def several(number: int, singular: str, plural: str) -> str:
    """A number with its noun: ``1 cell``, ``2 cells``."""
    return f"{number:,} {singular if number == 1 else plural}"


def whole(counts: Floats) -> Integers:
    """Counts as integers, after checking that they are whole."""
    is_fractional = counts != np.rint(counts)
    if is_fractional.any():
        bad_row = int(is_fractional.argmax())
        raise DataError(
            f"counts must be whole numbers; got {counts[bad_row]:g} in place {bad_row + 1} "
            "(survey weights go into weights=)",
            row=bad_row,
            value=float(counts[bad_row]),
        )
    if counts.sum() > MOST_PEOPLE:
        raise DataError(f"counts must sum to at most 2**53; they sum to {counts.sum():g}")
    return counts.astype(np.int64)


def group_order(group: object) -> tuple[bool, str]:
    """The key for sorting groups: the missing group first, then by text."""
    return group is not None, str(group)
