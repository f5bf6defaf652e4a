"""One cell of a table of answers as the value of a question. Pure: a cell in, a value out, or a complaint.

A complaint is the rest of a sentence that begins with row and column. It says what must hold and what kind of thing
stands there, never the thing itself: it may be a true answer to a private question.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from naysay import _checks
from naysay.collect.answers import Check, check_of
from naysay.errors import DataError
from naysay.questionnaire import (
    Date,
    Decimal,
    Grid,
    Integer,
    Question,
    Ranking,
    Rating,
    SelectMultiple,
)
from naysay.responses import JOINER

__all__ = ["PARTS", "reader_of"]

PARTS = (Grid, SelectMultiple)
"""Kinds of questions that may have a column for each of their parts, ``question/part``."""

Read = Callable[[Any], Any]

_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_WORDS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


def reader_of(question: Question) -> Read:
    """What reads the cells of a question: None where a cell is empty.

    A private answer becomes its category (of numbers the bin), or the names of the choices that apply.

    Examples
    --------
    >>> read = reader_of(Rating(name="pain", label={"en": "How bad?"}))
    >>> read("4"), read("")
    (4, None)
    >>> read("bad")
    Traceback (most recent call last):
        ...
    naysay.errors.DataError: must be a whole number from 1 to 5; it is a text
    """
    shape = _shape(question)
    check = check_of(question) if getattr(question, "private", None) is None else _check_true(question)
    category = _category(question)

    def read(cell: Any) -> Any:
        if isinstance(cell, str | float) and _checks.is_missing(cell):
            return None
        value = None if cell is None else shape(cell)
        if value is None:
            return None
        problem = check(value)
        if problem is not None:
            raise DataError(f"{problem}; it is {_kind(cell)}")
        return category(value)

    return read


def _shape(question: Question) -> Read:
    """What turns a cell, text or not, into a value of the right kind, or leaves it for the check to refuse."""
    match question:
        case SelectMultiple():
            names = [choice.name for choice in question.choices]
            return lambda cell: _chosen(names, cell)
        case Grid():
            return lambda cell: _grid([row.name for row in question.rows], cell)
        case Ranking():
            return _listed
        case Integer() | Rating():
            return _whole
        case Decimal():
            return _number
        case Date():
            return _day
    return lambda cell: cell


def _listed(cell: Any) -> Any:
    if isinstance(cell, str):
        return [name.strip() for name in cell.split(JOINER)]
    return list(cell) if isinstance(cell, Sequence | set | frozenset) else cell


def _chosen(names: Sequence[str], cell: Any) -> Any:
    """The choices that apply, in their order."""
    if isinstance(cell, Mapping):
        said = {name: _yes(cell.get(name)) for name in names}
        if all(each is None for each in said.values()):
            return None
        if None in said.values():
            raise DataError("must say yes or no (1 or 0) for every choice, or for none of them")
        return [name for name in names if said[name]]
    listed = _listed(cell)
    if isinstance(listed, list) and set(map(str, listed)) <= set(names) and len(set(listed)) == len(listed):
        return [name for name in names if name in listed]
    return listed


def _yes(cell: Any) -> bool | None:
    if _checks.is_missing(cell):
        return None
    found = _WORDS.get(str(cell).strip().lower().removesuffix(".0"))
    if found is None:
        raise DataError(f"must be yes or no (1 or 0); it is {_kind(cell)}")
    return found


def _grid(rows: Sequence[str], cell: Any) -> Any:
    if not isinstance(cell, Mapping):
        return cell
    said = {name: None if _checks.is_missing(cell.get(name)) else cell[name] for name in rows}
    return None if all(each is None for each in said.values()) else said


def _whole(cell: Any) -> Any:
    if isinstance(cell, str) and _WHOLE.fullmatch(cell.strip()):
        return int(cell)
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _number(cell: Any) -> Any:
    if isinstance(cell, str) and _DECIMAL.fullmatch(cell.strip()):
        return float(cell)
    return cell


def _day(cell: Any) -> Any:
    if isinstance(cell, datetime.datetime):
        cell = cell.date()
    return cell.isoformat() if isinstance(cell, datetime.date) else cell


def _check_true(question: Question) -> Check:
    """What a true answer to a private question must be: the check of the same question asked plainly."""
    plain = check_of(question.model_copy(update={"private": None}))
    if not isinstance(question, Integer | Decimal):
        return plain
    top = question.bins[-1].below

    def check(value: Any) -> str | None:
        problem = plain(value)
        return problem or (None if top is None or value < top else f"must be a number below {top:g}")

    return check


def _category(question: Question) -> Read:
    if getattr(question, "private", None) is None or not isinstance(question, Integer | Decimal):
        return lambda value: value
    bins = question.bins
    return lambda value: next(each.name for each in bins if each.below is None or value < each.below)


def _kind(cell: Any) -> str:
    """What kind of thing stands in a cell."""
    kinds = ((bool, "a truth value"), (int | float, "a number"), (str, "a text"), (datetime.date, "a day"))
    return next((name for kind, name in kinds if isinstance(cell, kind)), "a list")
