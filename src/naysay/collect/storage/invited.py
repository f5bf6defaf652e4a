"""Invitations in the database: marked as taken in one transaction, spent in another; nothing connects the two."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select, update

from naysay.collect.storage import tables

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


def spend(connection: Connection, tokens: Iterable[tuple[str, str]]) -> None:
    """Spend tokens, with their surveys, in the transaction that stores their replies, but not in the replies' order."""
    spent_rows = [{"survey": survey, "token": token} for survey, token in sorted(tokens)]
    if spent_rows:
        connection.execute(insert(tables.spent), spent_rows)


def invited_counts(connection: Connection) -> dict[str, tuple[int, int]]:
    """How many are invited to each survey that invites, and how many of them have taken a token."""
    invitation_columns = tables.invitation.c
    of_survey = tables.issuer.outerjoin(tables.invitation, invitation_columns.survey == tables.issuer.c.survey)
    count_query = select(
        tables.issuer.c.survey, func.count(invitation_columns.code), func.count(invitation_columns.taken)
    )
    count_rows = connection.execute(count_query.select_from(of_survey).group_by(tables.issuer.c.survey))
    return {survey: (invited_count, taken_count) for survey, invited_count, taken_count in count_rows}
