"""Tallies beside the replies: each reply is counted once, in the transaction that takes it off the list of new ones."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, insert, select, text, tuple_, update

from naysay.collect.storage import tables
from naysay.collect.storage.replies import Row

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
    reply, untallied = tables.reply.c, tables.untallied.c
    # Another server that counts at the same time takes other replies. In a join SQLite would read all replies.
    fresh_ids = select(untallied.survey, untallied.id).limit(most).with_for_update(skip_locked=True)
    query = select(reply.survey, reply.id, reply.day, reply.answers).where(
        tuple_(reply.survey, reply.id).in_(fresh_ids)
    )
    reply_rows = connection.execute(query).all()
    for survey in sorted({row.survey for row in reply_rows}):
        add_counts(
            connection, survey, count(survey, [(row.day, row.answers) for row in reply_rows if row.survey == survey])
        )
    if reply_rows:
        deletion = delete(tables.untallied).where(
            untallied.survey == bindparam("its_survey"), untallied.id == bindparam("its_id")
        )
        connection.execute(deletion, [{"its_survey": row.survey, "its_id": row.id} for row in reply_rows])
    return len(reply_rows)


def add_counts(connection: Connection, survey: str, counts: Mapping[Key, int]) -> None:
    """Add counts to the tallies of a survey, in the order of the keys, so that no two servers wait for each other."""
    tally_rows = [
        {"survey": survey, **key._asdict(), "digest": _digest(key.cell), "people": people}
        for key, people in sorted(counts.items())
    ]
    if tally_rows:
        connection.execute(
            _ADD, sorted(tally_rows, key=lambda tally_row: [tally_row[name] for name in (*Key._fields[:3], "digest")])
        )


def _digest(cell: str) -> str:
    return hashlib.blake2b(cell.encode(), digest_size=16).hexdigest()


def stored_counts(connection: Connection, survey: str, *, beside: Iterable[str] | None) -> Counter[Key]:
    """The tallies of a survey, those with groups only where they are made by one of `beside`; None for all."""
    column = tables.tally.c
    query = select(column.question, column.beside, column.day, column.cell, column.people).filter_by(survey=survey)
    if beside is not None:
        query = query.where(column.beside.in_(["", *beside]))
    return Counter({Key(*key): int(people) for *key, people in connection.execute(query)})


def uncounted_rows(connection: Connection, survey: str) -> list[Row]:
    """The replies to a survey that no tally counts yet."""
    fresh = select(tables.untallied.c.id).filter_by(survey=survey)
    query = select(tables.reply.c.day, tables.reply.c.answers).filter_by(survey=survey)
    query = query.where(tables.reply.c.id.in_(fresh))
    return [(day, answers) for day, answers in connection.execute(query)]


def rows(connection: Connection, survey: str, *, size: int = 10_000) -> Iterator[list[Row]]:
    """All replies to a survey, in pieces."""
    query = select(tables.reply.c.day, tables.reply.c.answers).filter_by(survey=survey)
    result_rows = connection.execute(query.execution_options(yield_per=size))
    for piece in result_rows.partitions(size):
        yield [(day, answers) for day, answers in piece]


def restart(connection: Connection, survey: str) -> int:
    """Forget the tallies of a survey, so that all its replies are counted again; how many there are."""
    for table in (tables.tally, tables.untallied):
        connection.execute(delete(table).filter_by(survey=survey))
    every = select(tables.reply.c.survey, tables.reply.c.id).filter_by(survey=survey)
    connection.execute(insert(tables.untallied).from_select(["survey", "id"], every))
    return int(
        connection.execute(select(func.count()).select_from(tables.untallied).filter_by(survey=survey)).scalar_one()
    )


def renew_ids(connection: Connection, survey: str) -> None:
    """Give new replies fresh random ids, here and where they are stored."""
    old_ids = connection.execute(select(tables.untallied.c.id).filter_by(survey=survey)).scalars().all()
    id_pairs = [{"old": id, "new": secrets.token_hex(16)} for id in old_ids]
    for table in (tables.reply, tables.untallied) if id_pairs else ():
        id_update = (
            update(table).where(table.c.survey == survey, table.c.id == bindparam("old")).values(id=bindparam("new"))
        )
        connection.execute(id_update, id_pairs)
