"""The replies to a survey: as a table, and as tallies beside them.

Each reply is counted once, in the transaction that takes it off the list of new ones.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl
from sqlalchemy import Connection, bindparam, delete, select, text, tuple_

from naysay.collect.questionnaire import Question, Questionnaire
from naysay.collect.questionnaire.privacy import private_questions
from naysay.collect.storage import tables
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


_ADD = text(
    "INSERT INTO tally (survey, question, beside, day, digest, cell, people) "
    "VALUES (:survey, :question, :beside, :day, :digest, :cell, :people) "
    "ON CONFLICT (survey, question, beside, day, digest) DO UPDATE SET people = tally.people + excluded.people"
)


class Key(NamedTuple):
    """What is counted: a question, what makes groups beside it, a day, and a cell as JSON; each empty where unused."""

    question: str
    beside: str
    day: str
    cell: str


Count = Callable[[str, Sequence[Row]], Mapping[Key, int]]
"""Counts replies to a survey of this name."""


def fold(connection: Connection, count: Count, *, most: int) -> int:
    """Count at most so many new replies, in the transaction of a connection; how many were counted."""
    reply_columns, untallied_columns = tables.reply.c, tables.untallied.c
    # Another server that counts at the same time takes other replies. In a join SQLite would read all replies.
    fresh_ids = select(untallied_columns.survey, untallied_columns.id).limit(most).with_for_update(skip_locked=True)
    reply_query = select(reply_columns.survey, reply_columns.id, reply_columns.day, reply_columns.answers).where(
        tuple_(reply_columns.survey, reply_columns.id).in_(fresh_ids)
    )
    reply_rows = connection.execute(reply_query).all()
    for survey in sorted({reply_row.survey for reply_row in reply_rows}):
        counts = count(survey, [(row.day, row.answers) for row in reply_rows if row.survey == survey])
        tally_rows = [
            {"survey": survey, **key._asdict(), "digest": _digest(key.cell), "people": people}
            for key, people in counts.items()
        ]
        # in the order of the keys, so that no two servers wait for each other
        tally_rows.sort(key=lambda row: [row[field_name] for field_name in (*Key._fields[:3], "digest")])
        if tally_rows:
            connection.execute(_ADD, tally_rows)
    if reply_rows:
        deletion = delete(tables.untallied).where(
            untallied_columns.survey == bindparam("its_survey"), untallied_columns.id == bindparam("its_id")
        )
        connection.execute(
            deletion, [{"its_survey": reply_row.survey, "its_id": reply_row.id} for reply_row in reply_rows]
        )
    return len(reply_rows)


def _digest(cell: str) -> str:
    return hashlib.blake2b(cell.encode(), digest_size=16).hexdigest()


def stored_counts(connection: Connection, survey: str, *, beside: Iterable[str] | None) -> Counter[Key]:
    """The tallies of a survey, those with groups only where they are made by one of `beside`; None for all."""
    tally_columns = tables.tally.c
    tally_query = select(
        tally_columns.question, tally_columns.beside, tally_columns.day, tally_columns.cell, tally_columns.people
    ).filter_by(survey=survey)
    if beside is not None:
        tally_query = tally_query.where(tally_columns.beside.in_(["", *beside]))
    return Counter({Key(*key_fields): int(people) for *key_fields, people in connection.execute(tally_query)})


def uncounted_rows(connection: Connection, survey: str) -> list[Row]:
    """The replies to a survey that no tally counts yet."""
    uncounted_ids = select(tables.untallied.c.id).filter_by(survey=survey)
    reply_query = select(tables.reply.c.day, tables.reply.c.answers).filter_by(survey=survey)
    reply_query = reply_query.where(tables.reply.c.id.in_(uncounted_ids))
    return [(day, answers) for day, answers in connection.execute(reply_query)]


def rows(connection: Connection, survey: str, *, size: int = 10_000) -> Iterator[list[Row]]:
    """All replies to a survey, in pieces."""
    reply_query = select(tables.reply.c.day, tables.reply.c.answers).filter_by(survey=survey)
    result_rows = connection.execute(reply_query.execution_options(yield_per=size))
    for row_piece in result_rows.partitions(size):
        yield [(day, answers) for day, answers in row_piece]
