"""The researcher's side: codes are drawn, handed out as links, and known in the database by their hashes alone."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import rbcl
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from naysay.collect.invitations import voprf
from naysay.collect.invitations.issuing import CODE
from naysay.collect.storage import Store, tables
from naysay.collect.storage.invited import digest
from naysay.errors import DataError

MOST = 1_000_000
"""The most invitations at once."""


@dataclass(frozen=True)
class Counts:
    """How far a survey has come, in numbers that name nobody.

    Parameters
    ----------
    invited : int
        Invitations that are out.
    taken : int
        How many of them have taken a token: their device has begun. Remind the others.
    replies : int
        How many have answered.
    again : int
        Invitations that were replaced although a token had been taken. So many replies, at most, may be second ones.
    """

    invited: int
    taken: int
    replies: int
    again: int


def codes(count: int) -> tuple[str, ...]:
    """Fresh codes of invitations; none can be guessed.

    Raises
    ------
    DataError
        No count, or one beyond `MOST`.

    Examples
    --------
    >>> [len(code) for code in codes(2)]
    [22, 22]
    """
    if not 1 <= count <= MOST:
        raise DataError(f"invite at least 1 person and at most {MOST:,} at once; got {count:,}")
    return tuple(secrets.token_urlsafe(16) for _ in range(count))


def link(base: str, survey: str, code: str) -> str:
    """The link of an invitation. What stands behind the # is not sent when the page is loaded, so no log has it.

    Examples
    --------
    >>> link("https://example.org/", "sample", "0123456789012345678901")
    'https://example.org/s/sample#0123456789012345678901'
    """
    return f"{base.rstrip('/')}/s/{survey}#{code}"


def code_of(text: str) -> str:
    """The code in a link, or the code itself.

    Raises
    ------
    DataError
        There is none in the text.

    Examples
    --------
    >>> code_of("https://example.org/s/sample#0123456789012345678901")
    '0123456789012345678901'
    """
    code = text.strip().rpartition("#")[2]
    if not CODE.fullmatch(code):
        raise DataError(f"an invitation ends in # and 22 letters or digits; got {text.strip()!r}")
    return code


def invite(store: Store, survey: str, count: int) -> tuple[str, ...]:
    """Codes of new invitations to a survey; hand them out as links (see `link`), for nobody can find them again.

    A survey that nobody has answered yet asks for invitations from the first ones on, and gets a new hash.

    Parameters
    ----------
    store : Store
        A database that may be changed.
    survey : str
    count : int

    Raises
    ------
    DataError
        There is no such survey, it is closed, or it was answered through an open link.

    Examples
    --------
    >>> import tempfile
    >>> from naysay.collect import Client, Published
    >>> from naysay.questionnaire import sample
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder + "/answers.db")
    ...     store.open(Published.of(sample(), client=Client({"survey.html": b"<!doctype html>"})))
    ...     drawn = invite(store, "sample", 3)
    ...     found = counts(store, "sample")
    ...     store.dispose()
    >>> found
    Counts(invited=3, taken=0, replies=0, again=0)
    """
    fresh_codes = codes(count)
    enlist(store, survey, fresh_codes)
    return fresh_codes


def enlist(store: Store, survey: str, fresh_codes: Sequence[str]) -> None:
    """Let codes in that were drawn before, for whoever must write them down first.

    Raises
    ------
    DataError
        See `invite`.
    """
    survey_row = next((candidate for candidate in store.surveys() if candidate.name == survey), None)
    if survey_row is not None and survey_row.closed is not None:
        raise DataError(f"survey {survey!r} is closed; open it again, then invite: naysay survey open {survey}")
    if store.published(survey).key is None:
        key = bytes(rbcl.crypto_core_ristretto255_scalar_random())
        with contextlib.suppress(IntegrityError):  # somebody else invites at this moment, and was first
            store.restrict(survey, key, voprf.public(key).hex())
    rows = [{"survey": survey, "code": code} for code in sorted(map(digest, fresh_codes))]
    with store.engine.begin() as connection:
        connection.execute(insert(tables.invitation), rows)


def counts(store: Store, survey: str) -> Counts | None:
    """How many are invited, have taken a token, and have answered; None where anybody with the link can answer.

    Raises
    ------
    DataError
        There is no such survey.
    """
    survey_row = next((candidate for candidate in store.surveys() if candidate.name == survey), None)
    if survey_row is None or survey_row.invited is None or survey_row.taken is None:
        store.published(survey)  # says which surveys there are
        return None
    with store.reading() as connection:
        again_count = connection.execute(select(tables.issuer.c.again).filter_by(survey=survey)).scalar_one()
    return Counts(survey_row.invited, survey_row.taken, survey_row.replies, again_count)


def untaken(store: Store, survey: str, invitation_codes: Sequence[str]) -> list[bool]:
    """Whether each of these invitations still waits for its person to begin.

    Raises
    ------
    DataError
        One of them was not made for this survey, or was replaced.
    """
    columns = tables.invitation.c
    with store.reading() as connection:
        invitation_rows = connection.execute(select(columns.code, columns.taken).where(columns.survey == survey))
        waits = {code: blinded_digest is None for code, blinded_digest in invitation_rows}
    for code in invitation_codes:
        if digest(code) not in waits:
            raise DataError(f"the invitation {code!r} is not one of {survey!r}, or was replaced")
    return [waits[digest(code)] for code in invitation_codes]


def replace(store: Store, survey: str, code: str, *, although_taken: bool = False) -> str:
    """The code of a new invitation in place of a lost one, which is good no more.

    Nobody can know which reply came with a token. So whoever took a token with the lost invitation may have answered,
    and may answer once more with the new one. This is refused unless `although_taken` allows it. It is counted as
    `again`.

    Raises
    ------
    DataError
        The invitation is not known, or a token was taken with it.
    """
    columns = tables.invitation.c
    conditions = columns.survey == survey, columns.code == digest(code)
    [fresh] = codes(1)
    with store.engine.begin() as connection:
        row = connection.execute(select(columns.taken).where(*conditions).with_for_update()).first()
        if row is None:
            raise DataError(f"the invitation {code!r} is not one of {survey!r}, or was replaced already")
        if row.taken is not None and not although_taken:
            raise DataError(
                "a token was taken with this invitation, and nobody can tell whether an answer has come with it; a new "
                "invitation may so mean a second answer: allow it with --taken, and it is counted"
            )
        connection.execute(delete(tables.invitation).where(*conditions))
        connection.execute(insert(tables.invitation).values(survey=survey, code=digest(fresh)))
        again_count = tables.issuer.c.again + int(row.taken is not None)
        connection.execute(update(tables.issuer).where(tables.issuer.c.survey == survey).values(again=again_count))
    store.settle()
    return fresh
