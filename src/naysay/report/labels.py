"""Labels of any script and any length, fitted into a chart."""

from __future__ import annotations

import itertools
import unicodedata
from typing import Any

from naysay import _checks

__all__ = ["full", "isolated", "shortened", "width", "wrapped"]

_LEFT, _RIGHT, _END = "\u2066", "\u2067", "\u2069"  # Unicode isolates: left to right, right to left, and their end


def full(label: Any) -> str:
    """The label as one line of text; a pair of categories is joined by ×."""
    return " ".join("".join(c if c.isprintable() else " " for c in _checks.label(label)).split())


def width(text: str) -> float:
    """The width of a text in ordinary letters: East Asian characters count nearly two, combining marks nothing."""
    return sum(map(_width, text))


def _width(character: str) -> float:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return 0.0
    return 1.8 if unicodedata.east_asian_width(character) in "WF" else 1.0


def wrapped(text: str, room: float, *, lines: int = 3) -> list[str]:
    """The text in at most this many lines of this width; an ellipsis shows that it was cut."""
    result: list[str] = []
    rest = text
    while rest and len(result) < lines:
        line = _cut(rest, room)
        rest = rest[len(line) :].strip()
        result.append(line.strip())
    if rest:
        result[-1] = shortened(result[-1] + " " + rest, room)
    return result or [""]


def shortened(text: str, room: float) -> str:
    """The text; or as much of it as fits, with an ellipsis."""
    if width(text) <= room:
        return text
    return _fitting(text, room - 1).rstrip() + "…"


def _cut(text: str, room: float) -> str:
    """As much of the text as fits; it is cut at a space if one is in the second half of that part."""
    head = _fitting(text, room)
    if len(head) == len(text) or text[len(head)].isspace():
        return head
    space = head.rfind(" ")
    return head[:space] if space > len(head) // 3 else head


def _fitting(text: str, room: float) -> str:
    fitting = sum(used <= room for used in itertools.accumulate(map(_width, text)))
    # Keep at least one letter, even if it is too wide: otherwise wrapping would never end.
    return text[: max(fitting, 1)]


def isolated(line: str, whole: str) -> str:
    """The line in the writing direction of the whole label, isolated from the text around it."""
    directed = (kind for kind in map(unicodedata.bidirectional, whole) if kind in ("L", "R", "AL"))
    return (_LEFT if next(directed, "L") == "L" else _RIGHT) + line + _END
