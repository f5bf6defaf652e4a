"""One cell of a table of answers as the value of a question. Pure: a cell in, a value out, or a complaint.

A complaint is the rest of a sentence that begins with row and column. It says what must hold and what kind of thing
stands there, never the thing itself: it may be a true answer to a private question.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from naysay import _checks
from naysay.errors import DataError
from naysay.questionnaire import Question
from naysay.questionnaire.kinds.base import described

__all__ = ["reader_of"]


def reader_of(question: Question) -> Callable[[Any], Any]:
    """What reads the cells of a question: None where a cell is empty.

    A private answer becomes its category (of numbers the bin), or the names of the choices that apply.

    Examples
    --------
    >>> from naysay.questionnaire import Rating
    >>> read = reader_of(Rating(name="pain", label={"en": "How bad?"}))
    >>> read("4"), read("")
    (4, None)
    >>> read("bad")
    Traceback (most recent call last):
        ...
    naysay.errors.DataError: must be a whole number from 1 to 5; it is a text
    """
    private = question.privacy is not None

    def read(cell: Any) -> Any:
        if cell is None or (isinstance(cell, str | float) and _checks.is_missing(cell)):
            return None
        value = question.value_of(cell)
        if value is None:
            return None
        problem = question.complaint(value) or (question.uncategorized(value) if private else None)
        if problem is not None:
            raise DataError(f"{problem}; it is {described(cell)}")
        return question.category_of(value) if private and not question.parts else value

    return read
