"""What is on its way into the database, and what becomes of it.

Invitations are marked as taken in one transaction, and their tokens spent in another; nothing connects the two.

Counts of reports stand beside the surveys. What came together, when, and from whom is not kept. An upload that names an
id leaves a receipt for a day, so that it is not counted again if it is sent again.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, Date, String, bindparam, delete, func, select, text, update

from naysay.collect.storage import tables
from naysay.collect.storage.tables import report_receipt, report_topic
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


def public(survey: bytes) -> str | None:
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


_ADD = text(
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
            _ADD, [{**cell._asdict(), "people": people} for cell, people in sorted(total_counts.items())]
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
