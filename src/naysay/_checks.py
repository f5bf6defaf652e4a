"""Checks of user input. Each check is done once, where the input enters."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naysay.errors import DataError, DesignError


def categories(labels: Iterable[Any], *, least: int = 2, what: str = "categories") -> tuple[Any, ...]:
    """The labels as a tuple, after checks: there are enough, none is empty, and none occurs twice."""
    if isinstance(labels, str):
        raise DesignError(f"{what} must be several labels; got the single text {labels!r} (write a tuple of labels)")
    result = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    if len(result) < least:
        raise DesignError(f"at least {least} {what} are needed; got {len(result)}: {listing_text(result)}")
    # A quick check for many texts, or many whole numbers; the slow loop below finds what is wrong.
    kinds = set(map(type, result))
    is_plain = kinds == {int} or (kinds == {str} and all(map(str.strip, result)))
    if is_plain and len(set(result)) == len(result):
        return result
    position_of_text: dict[str, int] = {}
    for position, label in enumerate(result):
        if not isinstance(label, Hashable):
            raise DesignError(f"{what} must be texts or numbers; number {position + 1} of {len(result)} is {label!r}")
        text = str(label)
        if is_missing(label) or not text.strip():
            raise DesignError(f"{what} must not be empty; number {position + 1} of {len(result)} is {label!r}")
        if text in position_of_text:
            raise DesignError(
                f"{what} must differ; {text!r} is number {position_of_text[text] + 1} and number {position + 1}"
            )
        position_of_text[text] = position
    return result


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
    texts = [str(label) for label in known_labels]
    return _near_text_hint(value, texts) or f"known are {listing_text(texts)}"


def no_column(name: object, columns: Sequence[str], *, what: str = "column") -> str:
    """The words for a column, or another thing that has a name, that is not there, with those that are."""
    noun, _, noun_rest = what.partition(" ")
    parts = re.split(r"\s*[;|\s]\s*", str(name).strip())
    several = len(parts) > 1 and all(part in columns for part in parts)
    hint = f"write several with commas: {','.join(parts)}" if several else _near_text_hint(name, columns)
    sentence = f"there is no {what} {name!r}; the {noun}s{noun_rest and ' '}{noun_rest} are {listing_text(columns, 40)}"
    return sentence + (f" ({hint})" if hint else "")


def _near_text_hint(value: object, texts: Sequence[str]) -> str:
    """A question whether a near text was meant; empty where none is near."""
    close = difflib.get_close_matches(str(value), texts, n=1, cutoff=0.6)
    if not close:
        text_by_fold = {text.casefold().strip(): text for text in texts}
        match = text_by_fold.get(str(value).casefold().strip())
        close = [match] if match else []
    return f"did you mean {close[0]!r}?" if close else ""


def listing_text(values: Iterable[object], most: int = 12) -> str:
    """A short listing of values for a message."""
    items = [str(value) if len(str(value)) <= 60 else str(value)[:57] + "…" for value in values]
    more_text = f", … ({len(items) - most} more)" if len(items) > most else ""
    return ", ".join(repr(item) for item in items[:most]) + more_text


def amounts(values: ArrayLike, *, what: str, length: int | None = None) -> NDArray[np.float64]:
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
        row = int(is_bad.argmax())
        raise DataError(
            f"{what} must be finite and not negative; got {result[row]:g} in place {row + 1} of {len(result)}",
            row=row,
            value=float(result[row]),
        )
    return result


def probability_vector(values: ArrayLike, size: int, *, what: str) -> NDArray[np.float64]:
    """Probabilities (size,), none negative, that sum to one."""
    try:
        result = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what} must be {size} probabilities; got {listing_text([values])}") from None
    if result.shape != (size,):
        raise DataError(f"{what} must have {size} probabilities; got an array of shape {result.shape}")
    if not np.isfinite(result).all() or (result < 0).any():
        raise DataError(f"{what} must not be negative or NaN; got {listing_text(result)}")
    if abs(result.sum() - 1) > 1e-9:  # typed decimals may miss one by more than rounding alone
        raise DataError(f"{what} must sum to one; they sum to {result.sum():.10g}")
    return result


def whole_number(value: Any, least: int, most: int, *, what: str) -> int:
    """A whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise DesignError(f"{what} must be a whole number from {least} to {most}; got {value!r}")
    return int(value)


def confidence(value: Any) -> float:
    """A level of confidence strictly between 0 and 1."""
    if not isinstance(value, int | float | np.number) or not 0 < value < 1:
        raise DataError(f"confidence must lie between 0 and 1, such as 0.95; got {value!r}")
    return float(value)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, set read-only."""
    array.setflags(write=False)
    return array


def several(number: int, singular: str, plural: str) -> str:
    """A number with its noun: ``1 cell``, ``2 cells``."""
    return f"{number:,} {singular if number == 1 else plural}"
