"""What is on its way into the database, and what becomes of it.

Invitations are marked as taken in one transaction, and their tokens spent in another; nothing connects the two.

Counts of reports stand beside the surveys. What came together, when, and from whom is not kept. An upload that names an
id leaves a receipt for a day, so that it is not counted again if it is sent again.

Then the replies to a survey: as a table, and as tallies beside them. Each reply is counted once, in the transaction
that takes it off the list of new ones.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl
from sqlalchemy import Connection, Date, String, bindparam, delete, func, select, text, tuple_, update

from naysay.collect.questionnaire import Question, Questionnaire
from naysay.collect.questionnaire.privacy import private_questions
from naysay.collect.storage import tables
from naysay.collect.storage.tables import report_receipt, report_topic
from naysay.collect.survey.published import Published
from naysay.design import Answerable
from naysay.errors import DataError
from naysay.telemetry.batches import Topic


@dataclass(frozen=True)
class Reply:
    """A submission on its way into the database: which survey, under which hash, and its answers as canonical JSON."""

    survey: str
    hash: str
    id: str
    answers: str
    day: datetime.date
    token: str | None = None
    """What is spent with it, in a survey that invites."""


@dataclass(frozen=True)
class Outcome:
    """What became of a reply or of an invitation, and the day.

    A reply is ``stored``, ``repeated``, ``conflict``, ``closed``, ``wrong_survey`` or ``spent``; an invitation is
    ``taken``, ``used``, ``uninvited`` or ``closed``; reports are ``counted``, ``repeated`` or ``closed``.
    """

    what: str
    day: datetime.date


def outcome_of(
    reply: Reply,
    standing: tuple[str, bool] | None,
    stored_replies: dict[tuple[str, str], tuple[str, datetime.date]],
    fresh: dict[tuple[str, str], Reply],
    spent_tokens: set[tuple[str, str | None]],
) -> Outcome:
    """What becomes of one reply; a fresh reply joins those to be stored."""
    reply_key = (reply.survey, reply.id)
    if reply_key in stored_replies:  # a repeated reply is acknowledged even if the survey has been closed since
        stored_answers, stored_day = stored_replies[reply_key]
        return Outcome("repeated" if stored_answers == reply.answers else "conflict", stored_day)
    if standing is None or not standing[1]:
        return Outcome("closed", reply.day)
    if standing[0] != reply.hash:
        return Outcome("wrong_survey", reply.day)
    if (reply.survey, reply.token) in spent_tokens:
        return Outcome("spent", reply.day)
    fresh[reply_key] = reply
    if reply.token is not None:
        spent_tokens.add((reply.survey, reply.token))
    stored_replies[reply_key] = reply.answers, reply.day  # the same id may come twice in one group
    return Outcome("stored", reply.day)


TABLES = (tables.issuer, tables.invitation, tables.spent)
"""What goes with a survey that invites."""


@dataclass(frozen=True)
class Taking:
    """A device that takes a token: for which survey, with which invitation, and what it had blinded; both hashed."""

    survey: str
    code: str
    blinded: str


def digest(secret: str | bytes) -> str:
    """The SHA-256 by which an invitation, or what was blinded, is known here.

    Examples
    --------
    >>> digest("code")[:8]
    '5694d08a'
    """
    return hashlib.sha256(secret.encode() if isinstance(secret, str) else secret).hexdigest()


def public_key_in(survey: bytes) -> str | None:
    """The key in a survey's bytes, in hexadecimal; None where anybody with the link can answer."""
    invitation_form = json.loads(survey).get("invitations")
    return None if invitation_form is None else str(invitation_form["key"])


def take(connection: Connection, taking: Taking, standing: tuple[str, bool] | None) -> str:
    """Mark an invitation as taken: ``taken``, or ``used`` by somebody else, ``uninvited`` or ``closed``.

    The device that has taken it may ask again, with the same element: what it gets is the same token.
    """
    if standing is None or not standing[1]:
        return "closed"
    same_invitation = tables.invitation.c.survey == taking.survey, tables.invitation.c.code == taking.code
    taking_update = update(tables.invitation).where(*same_invitation, tables.invitation.c.taken.is_(None))
    if connection.execute(taking_update.values(taken=taking.blinded)).rowcount:
        return "taken"
    invitation_row = connection.execute(select(tables.invitation.c.taken).where(*same_invitation)).first()
    if invitation_row is None:
        return "uninvited"
    return "taken" if invitation_row.taken == taking.blinded else "used"


def spent_tokens(connection: Connection, tokens: Collection[str]) -> set[tuple[str, str | None]]:
    """Which of the tokens that come with replies are spent, with their surveys."""
    if not tokens:
        return set()
    spent_columns = tables.spent.c
    spent_rows = connection.execute(
        select(spent_columns.survey, spent_columns.token).where(spent_columns.token.in_(tokens))
    )
    return {(survey, token) for survey, token in spent_rows}


def invited_counts(connection: Connection) -> dict[str, tuple[int, int]]:
    """How many are invited to each survey that invites, and how many of them have taken a token."""
    invitation_columns = tables.invitation.c
    of_survey = tables.issuer.outerjoin(tables.invitation, invitation_columns.survey == tables.issuer.c.survey)
    count_query = select(
        tables.issuer.c.survey, func.count(invitation_columns.code), func.count(invitation_columns.taken)
    )
    count_rows = connection.execute(count_query.select_from(of_survey).group_by(tables.issuer.c.survey))
    return {survey: (invited_count, taken_count) for survey, invited_count, taken_count in count_rows}


_ADD_REPORTS = text(
    "INSERT INTO report_count (design, question, wave, level, what, place, people) "
    "VALUES (:design, :question, :wave, :level, :what, :place, :people) "
    "ON CONFLICT (design, question, wave, level, what, place) "
    "DO UPDATE SET people = report_count.people + excluded.people"
)
_RECEIVED = text(  # another server, whose day may be another one, may write the same receipt at this moment: it waits
    "INSERT INTO report_receipt (digest, day) VALUES (:digest, :day) "
    "ON CONFLICT (digest) DO UPDATE SET day = excluded.day WHERE report_receipt.day < :since"
).bindparams(bindparam("day", type_=Date), bindparam("since", type_=Date), bindparam("digest", type_=String))
_RECEIPT_LIFETIME = datetime.timedelta(days=1)  # a receipt of yesterday is still known
TOPIC = (report_topic.c.design, report_topic.c.question, report_topic.c.wave)


class Cell(NamedTuple):
    """One counter: a topic, a level (empty where there is none), and what is counted, by its number."""

    design: str
    question: str
    wave: str
    level: str
    what: str
    place: int


@dataclass(frozen=True)
class Reports:
    """What the batches of one request add to the counters."""

    counts: Mapping[Cell, int]
    day: datetime.date
    receipt: str = ""
    """The SHA-256 of the upload's id and body; empty where it named no id."""

    @property
    def size(self) -> int:
        """How many reports these are. Where sums are kept, each is counted once under its size."""
        return sum(people for cell, people in self.counts.items() if cell.what != "named")


def add_reports(connection: Connection, group: Sequence[Reports]) -> list[Outcome]:
    """Add reports to the counters: those of one request all, or none where one of its topics is not open.

    An upload with a receipt that is known is ``repeated``, and adds nothing.
    """
    topic_query = select(*TOPIC).where(report_topic.c.closed.is_(None)).with_for_update(read=True)
    open_now = {Topic(*topic_row) for topic_row in connection.execute(topic_query)} if group else set()
    open_flags = [{Topic(*cell[:3]) for cell in upload.counts} <= open_now for upload in group]
    fresh_receipts = _write_receipts(
        connection, [upload for upload, is_open in zip(group, open_flags, strict=True) if is_open and upload.receipt]
    )
    total_counts: Counter[Cell] = Counter()
    outcomes = []
    for upload, is_open in zip(group, open_flags, strict=True):
        is_repeated = is_open and bool(upload.receipt) and upload.receipt not in fresh_receipts
        fresh_receipts.discard(upload.receipt)  # the same upload may come twice in one group
        outcomes.append(Outcome("repeated" if is_repeated else "counted" if is_open else "closed", upload.day))
        if is_open and not is_repeated:
            total_counts.update(upload.counts)
    if total_counts:  # in the order of the keys, so that no two servers wait for each other
        connection.execute(
            _ADD_REPORTS, [{**cell._asdict(), "people": people} for cell, people in sorted(total_counts.items())]
        )
    return outcomes


def _write_receipts(connection: Connection, uploads: Sequence[Reports]) -> set[str]:
    """Write receipts; those that were not known. In their order, so that no two servers wait for each other."""
    new_receipts = set()
    for receipt, day in sorted({upload.receipt: upload.day for upload in uploads}.items()):
        receipt_row = {"digest": receipt, "day": day, "since": day - _RECEIPT_LIFETIME}
        if connection.execute(_RECEIVED, receipt_row).rowcount:
            new_receipts.add(receipt)
    return new_receipts


def forget_receipts(connection: Connection, day: datetime.date) -> None:
    """Delete the receipts of the days before yesterday."""
    connection.execute(delete(report_receipt).where(report_receipt.c.day < day - _RECEIPT_LIFETIME))


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


_ADD_TO_TALLY = text(
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
            {
                "survey": survey,
                **key._asdict(),
                "digest": hashlib.blake2b(key.cell.encode(), digest_size=16).hexdigest(),
                "people": people,
            }
            for key, people in counts.items()
        ]
        # in the order of the keys, so that no two servers wait for each other
        tally_rows.sort(key=lambda row: [row[field_name] for field_name in (*Key._fields[:3], "digest")])
        if tally_rows:
            connection.execute(_ADD_TO_TALLY, tally_rows)
    if reply_rows:
        deletion = delete(tables.untallied).where(
            untallied_columns.survey == bindparam("its_survey"), untallied_columns.id == bindparam("its_id")
        )
        connection.execute(
            deletion, [{"its_survey": reply_row.survey, "its_id": reply_row.id} for reply_row in reply_rows]
        )
    return len(reply_rows)


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
