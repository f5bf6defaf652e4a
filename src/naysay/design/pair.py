"""A question and its negative, drawn as a respondent sees them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from naysay.show import finish
from naysay.show.finish import ink

_WIDE, _LINE, _ROW, _EDGE = 360, 19, 28, 18
_ROOM = 44  # most letters in a line


def question_pair(asked: str, negated: str, categories: Sequence[Any]) -> str:
    """An SVG image of a question ("which applies?") above its negative, narrow enough for a phone.

    Parameters
    ----------
    asked : str
        The positive question.
    negated : str
        The same in the negative.
    categories : (t,) sequence of label

    Examples
    --------
    >>> svg = question_pair("I earn", "I do not earn", ("< 30k", "> 30k"))
    >>> svg[:4], "&lt; 30k" in svg
    ('<svg', True)
    """
    first, height = _card(asked, "Choose the one that applies.", categories, top=1)
    second, end = _card(negated, "Choose one that does not apply.", categories, top=height + 16)
    names = ", ".join(finish.full(category) for category in categories)
    told = f"Two questions with the same answers, {names}. First: {asked} Second: {negated}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {end + 1}" role="img" '
        f'aria-label="A question and its negative" style="max-width:{_WIDE}px;width:100%;height:auto" '
        f'font-family="system-ui, sans-serif" font-size="14"><title>A question and its negative</title>'
        f"<desc>{escape(told)}</desc>{first}{second}</svg>"
    )


def _card(asked: str, how: str, categories: Sequence[Any], *, top: int) -> tuple[str, int]:
    """One question as a card, and the height at which the card ends."""
    lines = finish.wrapped(asked, _ROOM)
    y, parts = top + 28, []
    for line in lines:
        parts.append(_text(line, _EDGE, y, "text", 'font-weight="600"', whole=asked))
        y += _LINE
    parts.append(_text(how, _EDGE, y, "muted", 'font-size="12"', whole=how))
    y += _ROW
    for category in categories:
        name = finish.full(category)
        circle = f'<circle cx="{_EDGE + 7}" cy="{y - 5}" r="7" style="fill:none;stroke:{ink("muted")}"/>'
        parts.append(circle + _text(finish.shortened(name, _ROOM - 4), _EDGE + 26, y, "text", "", whole=name))
        y += _ROW
    end = y - _ROW + 16
    frame = (
        f'<rect x="1" y="{top}" width="{_WIDE - 2}" height="{end - top}" rx="8" '
        f'style="fill:none;stroke:{ink("grid")}"/>'
    )
    return frame + "".join(parts), end


def _text(line: str, x: int, y: int, role: str, more: str, *, whole: str) -> str:
    shown = escape(finish.isolated(line, whole))
    return f'<text x="{x}" y="{y}" {more} style="fill:{ink(role)}">{shown}</text>'
