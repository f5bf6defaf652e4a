"""What is on its way into the database, and what becomes of it.

Invitations are marked as taken in one transaction, and their tokens spent in another; nothing connects the two.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, func, select, update

from naysay.collect.storage import tables


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
