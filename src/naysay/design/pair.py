"""A question and its negative, drawn as a respondent sees them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from naysay.show import finish
from naysay.show.finish import ink

_WIDE, _LINE, _ROW, _EDGE = 360, 19, 28, 18
_ROOM = 44  # most letters in a line


def question_pair(question_text: str, negation_text: str, categories: Sequence[Any]) -> str:
    """An SVG image of a question ("which applies?") above its negative, narrow enough for a phone.

    Parameters
    ----------
    question_text : str
        The positive question.
    negation_text : str
        The same in the negative.
    categories : (t,) sequence of label

    Examples
    --------
    >>> svg = question_pair("I earn", "I do not earn", ("< 30k", "> 30k"))
    >>> svg[:4], "&lt; 30k" in svg
    ('<svg', True)
    """
    first, height = _card(question_text, "Choose the one that applies.", categories, top=1)
    second, end = _card(negation_text, "Choose one that does not apply.", categories, top=height + 16)
    names = ", ".join(finish.label_line(category) for category in categories)
    description = f"Two questions with the same answers, {names}. First: {question_text} Second: {negation_text}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {end + 1}" role="img" '
        f'aria-label="A question and its negative" style="max-width:{_WIDE}px;width:100%;height:auto" '
        f'font-family="system-ui, sans-serif" font-size="14"><title>A question and its negative</title>'
        f"<desc>{escape(description)}</desc>{first}{second}</svg>"
    )


def _card(question_text: str, instruction: str, categories: Sequence[Any], *, top: int) -> tuple[str, int]:
    """One question as a card, and the height at which the card ends."""
    lines = finish.wrapped_lines(question_text, _ROOM)
    y, parts = top + 28, []
    for line in lines:
        parts.append(_text(line, _EDGE, y, "text", 'font-weight="600"', whole=question_text))
        y += _LINE
    parts.append(_text(instruction, _EDGE, y, "muted", 'font-size="12"', whole=instruction))
    y += _ROW
    for category in categories:
        name = finish.label_line(category)
        circle = f'<circle cx="{_EDGE + 7}" cy="{y - 5}" r="7" style="fill:none;stroke:{ink("muted")}"/>'
        parts.append(circle + _text(finish.short_text(name, _ROOM - 4), _EDGE + 26, y, "text", "", whole=name))
        y += _ROW
    end = y - _ROW + 16
    frame = (
        f'<rect x="1" y="{top}" width="{_WIDE - 2}" height="{end - top}" rx="8" '
        f'style="fill:none;stroke:{ink("grid")}"/>'
    )
    return frame + "".join(parts), end


def _text(line: str, x: int, y: int, role: str, more: str, *, whole: str) -> str:
    escaped_line = escape(finish.isolated_line(line, whole))
    return f'<text x="{x}" y="{y}" {more} style="fill:{ink(role)}">{escaped_line}</text>'
