"""The replies to a survey as a table, for whoever estimates from them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from naysay.collect.published import Published
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.questionnaire import (
    Date,
    Decimal,
    Grid,
    Integer,
    Question,
    Questionnaire,
    Ranking,
    Rating,
    SelectMultiple,
)

__all__ = ["Replies"]

Row = tuple[datetime.date, str]


@dataclass(frozen=True)
class Replies:
    """What was sent to one survey, in the order of random ids, which are left out.

    Parameters
    ----------
    published : Published
        The survey, as it was published.
    rows : sequence of (date, str)
        The day and the answers, as canonical JSON, of each reply.

    Examples
    --------
    >>> from naysay.collect import Client, Published
    >>> from naysay.questionnaire import sample
    >>> published = Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"}))
    >>> Replies(published, ()).frame.height
    0
    """

    published: Published
    rows: Sequence[Row]

    @property
    def questionnaire(self) -> Questionnaire:
        """What was asked."""
        return self.published.questionnaire

    @property
    def private(self) -> dict[str, Answerable]:
        """The design of every private column, ``{column: design}``; see `level_of` for its level."""
        return {column: question.private.offer for question in self._private() for column in _columns(question)}

    def level_of(self, column: str) -> str | None:
        """The column with the levels of a private column, None where respondents had nothing to choose.

        Raises
        ------
        DataError
            Where the column is not private.
        """
        for question in self._private():
            if column in _columns(question):
                return None if question.private.levels == (None,) else f"{question.name}_level"
        raise DataError(f"there is no private column {column!r}; there are {sorted(self.private)}", column=column)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The day and all answers, a row for each reply.

        A plain question is a column of its name: numbers, texts, days, lists for several choices and rankings; a grid
        is ``question/row``. A private one is its response, with ``question_level`` where levels were offered; a
        private select multiple is ``question/choice`` for every choice, all at ``question_level``.
        """
        answers = [json.loads(text) for _, text in self.rows]
        columns = [pl.Series("day", [day for day, _ in self.rows], dtype=pl.Date)]
        for question in self.questionnaire.questions:
            columns += _series(question, [each[question.name] for each in answers])
        return pl.DataFrame(columns)

    def _private(self) -> Iterator[Any]:
        return (each for each in self.questionnaire.questions if getattr(each, "private", None) is not None)


def _columns(question: Any) -> list[str]:
    """The columns with the responses to a private question."""
    if isinstance(question, SelectMultiple):
        return [f"{question.name}/{choice.name}" for choice in question.choices]
    return [question.name]


def _series(question: Question, values: list[Any]) -> list[pl.Series]:
    name = question.name
    private = getattr(question, "private", None)
    if private is not None:
        return _private_series(question, values)
    match question:
        case Grid():
            rows = [row.name for row in question.rows]
            return [pl.Series(f"{name}/{row}", _each(values, row), dtype=pl.String) for row in rows]
        case SelectMultiple() | Ranking():
            return [pl.Series(name, values, dtype=pl.List(pl.String))]
        case Integer() | Rating():
            return [pl.Series(name, values, dtype=pl.Int64)]
        case Decimal():
            return [pl.Series(name, values, dtype=pl.Float64, strict=False)]
        case Date():
            return [pl.Series(name, [value and datetime.date.fromisoformat(value) for value in values], dtype=pl.Date)]
    return [pl.Series(name, values, dtype=pl.String)]


def _private_series(question: Any, values: list[Any]) -> list[pl.Series]:
    if isinstance(question, SelectMultiple):
        items = [choice.name for choice in question.choices]
        columns = {f"{question.name}/{item}": _each(values, item) for item in items}
    else:
        columns = {question.name: values}
    found = [pl.Series(column, _each(cells, "response"), dtype=pl.String) for column, cells in columns.items()]
    if question.private.levels == (None,):
        return found
    first = next(iter(columns.values()))
    return [*found, pl.Series(f"{question.name}_level", _each(first, "level"), dtype=pl.String)]


def _each(values: list[Any], key: str) -> list[Any]:
    return [None if value is None else value[key] for value in values]
