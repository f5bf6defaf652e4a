"""What is on its way into the database, and what becomes of it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass


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
