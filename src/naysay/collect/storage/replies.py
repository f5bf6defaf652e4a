"""The replies to a survey as a table, from which answers are counted."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from naysay.collect.questionnaire import Question, Questionnaire
from naysay.collect.questionnaire.privacy import private_questions
from naysay.collect.survey.published import Published
from naysay.design import Answerable
from naysay.errors import DataError

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
    >>> from naysay.collect.questionnaire import sample
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
        reply_answers = [json.loads(answers_text) for _, answers_text in self.rows]
        frame_columns = [pl.Series("day", [reply_day for reply_day, _ in self.rows], dtype=pl.Date)]
        for question in self.questionnaire.questions:
            frame_columns += _series(question, [reply[question.name] for reply in reply_answers])
        return pl.DataFrame(frame_columns)


def _columns(question: Question) -> list[str]:
    """The columns with the responses to a private question."""
    return [f"{question.name}/{part_name}" for part_name in question.parts] or [question.name]


def _series(question: Question, values: list[Any]) -> list[pl.Series]:
    if question.privacy is None:
        dtype: Any = pl.List(pl.String) if question.stored is list else question.stored
        columns = question.columns(values)
        return [
            pl.Series(column_name, cells, dtype=dtype, strict=dtype is not float)
            for column_name, cells in columns.items()
        ]
    part_values = [_values_at(values, part_name) for part_name in question.parts] or [values]
    response_series = [
        pl.Series(column, _values_at(cells, "response"), dtype=pl.String)
        for column, cells in zip(_columns(question), part_values, strict=True)
    ]
    if question.privacy.levels != (None,):
        response_series.append(
            pl.Series(f"{question.name}_level", _values_at(part_values[0], "level"), dtype=pl.String)
        )
    return response_series


def _values_at(values: list[Any], key: str) -> list[Any]:
    return [None if value is None else value[key] for value in values]
