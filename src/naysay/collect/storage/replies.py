"""The replies to a survey as a table, from which answers are counted."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from naysay.collect.survey.published import Published
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.questionnaire import Question, Questionnaire
from naysay.questionnaire.statements import private_questions

Row = tuple[datetime.date, str]


@dataclass(frozen=True)
class Replies:
    """The replies to one survey, in the order of their random ids; the ids are left out.

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
        return {
            column: private.offer
            for question, private in private_questions(self.questionnaire)
            for column in _columns(question)
        }

    def level_of(self, column: str) -> str | None:
        """The column with the levels of a private column; None where respondents had no levels to choose from.

        Raises
        ------
        DataError
            The column is not private.
        """
        for question, private in private_questions(self.questionnaire):
            if column in _columns(question):
                return None if private.levels == (None,) else f"{question.name}_level"
        raise DataError(f"there is no private column {column!r}; there are {sorted(self.private)}", column=column)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The day and all answers, a row for each reply.

        A plain question is a column of its name: numbers, texts, days, lists for several choices and rankings; a grid
        is ``question/row``. A private question is a column of responses, and ``question_level`` where levels were
        offered. A private select multiple has a column ``question/choice`` for every choice, all at ``question_level``.
        """
        answers = [json.loads(text) for _, text in self.rows]
        columns = [pl.Series("day", [day for day, _ in self.rows], dtype=pl.Date)]
        for question in self.questionnaire.questions:
            columns += _series(question, [reply[question.name] for reply in answers])
        return pl.DataFrame(columns)


def _columns(question: Question) -> list[str]:
    """The columns with the responses to a private question."""
    return [f"{question.name}/{part}" for part in question.parts] or [question.name]


def _series(question: Question, values: list[Any]) -> list[pl.Series]:
    if question.privacy is None:
        dtype: Any = pl.List(pl.String) if question.stored is list else question.stored
        columns = question.columns(values)
        return [pl.Series(name, cells, dtype=dtype, strict=dtype is not float) for name, cells in columns.items()]
    parts = [_values_at(values, part) for part in question.parts] or [values]
    response_series = [
        pl.Series(column, _values_at(cells, "response"), dtype=pl.String)
        for column, cells in zip(_columns(question), parts, strict=True)
    ]
    if question.privacy.levels != (None,):
        response_series.append(pl.Series(f"{question.name}_level", _values_at(parts[0], "level"), dtype=pl.String))
    return response_series


def _values_at(values: list[Any], key: str) -> list[Any]:
    return [None if value is None else value[key] for value in values]
