"""Who is logged in. The browser keeps a random secret in a cookie; the database keeps its hash, and since when."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import delete, insert, or_, select, update

from naysay.collect.storage import Store
from naysay.collect.storage.tables import session as table

IDLE = 1_800
"""Seconds without a request after which a session ends."""

LONGEST = 43_200
"""Seconds after which a session ends in any case."""

_NOTED = 60  # seconds between two notes that a session is in use: not every request writes


@dataclass(frozen=True)
class Session:
    """Somebody who is logged in."""

    secret: str

    @property
    def form_token(self) -> str:
        """What every form of this session carries, so that no other page can send one."""
        return hashlib.sha256(b"form" + self.secret.encode()).hexdigest()

    def has_sent_form(self, token: str) -> bool:
        """Whether a form with this token came from a page of this session."""
        return hmac.compare_digest(self.form_token.encode(), token.encode())


class Sessions:
    """The sessions in a database, so that several servers share them.

    Parameters
    ----------
    store : Store
    clock : callable
        Seconds since 1970.

    Examples
    --------
    >>> now = [0.0]
    >>> sessions = Sessions(Store("sqlite://"), clock=lambda: now[0])
    >>> secret = sessions.begin().secret
    >>> now[0] = IDLE
    >>> sessions.find(secret) is None, sessions.find("made up") is None
    (False, True)
    >>> now[0] = 2 * IDLE + 1
    >>> sessions.find(secret) is None
    True
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock

    def begin(self) -> Session:
        """A new session, under a secret that nobody chose: a cookie that came with the login is not taken over."""
        session, now = Session(secrets.token_urlsafe(32)), int(self._clock())
        is_over = or_(table.c.seen < now - IDLE, table.c.began < now - LONGEST)
        with self._store.engine.begin() as connection:
            connection.execute(delete(table).where(is_over))
            connection.execute(insert(table).values(digest=_digest(session.secret), began=now, seen=now))
        return session

    def find(self, secret: str) -> Session | None:
        """The session of a cookie; None where there is none, or its time is over."""
        now, secret_digest = int(self._clock()), _digest(secret)
        with self._store.reading() as connection:
            session_row = connection.execute(
                select(table.c.began, table.c.seen).filter_by(digest=secret_digest)
            ).first()
        if session_row is None or now - session_row.seen > IDLE or now - session_row.began > LONGEST:
            return None
        if now - session_row.seen >= _NOTED:
            with self._store.engine.begin() as connection:
                connection.execute(update(table).filter_by(digest=secret_digest).values(seen=now))
        return Session(secret)

    def end(self, secret: str) -> None:
        """Log out."""
        with self._store.engine.begin() as connection:
            connection.execute(delete(table).filter_by(digest=_digest(secret)))

    def end_all(self) -> None:
        """Log everybody out."""
        with self._store.engine.begin() as connection:
            connection.execute(delete(table))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
