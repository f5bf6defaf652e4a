"""The account of those who run surveys: a password, a one-time link that sets the first one, a second factor.

Who is logged in: the browser keeps a random secret in a cookie; the database keeps its hash, and since when.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import re
import secrets
import threading
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pyotp
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from sqlalchemy import delete, insert, or_, select, update

from naysay.collect.server.guard import Tries
from naysay.collect.storage import Store
from naysay.collect.storage.tables import account as table
from naysay.collect.storage.tables import session as session_table
from naysay.errors import DataError

SHORTEST, LONGEST = 12, 1_000  # characters of a password
SETUP = 86_400  # seconds for which the link that sets the first password is good
_STEP = 30  # seconds for which a code of the second factor is shown
_SECRET = re.compile("[A-Z2-7]{32}")
_ARGON2 = PasswordHasher()  # Argon2id; 64 MiB and about 50 ms for a try
Wrong = Literal["password", "code", "tries"]
"""What was wrong with a try to log in; the code only where the password was right."""

_ONE_AT_A_TIME = threading.Lock()  # so that many tries at once take neither memory nor processors from respondents


class Account:
    """The one account of a database.

    Parameters
    ----------
    store : Store
    clock : callable
        Seconds since 1970.

    Examples
    --------
    >>> account = Account(Store("sqlite://"))
    >>> key = account.setup()
    >>> account.set_password("correct horse battery", key=key)
    >>> account.is_right("correct horse battery"), account.is_right("correct horse")
    (True, False)
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock

    @property
    def has_password(self) -> bool:
        """Whether the password is set."""
        return self._read_column("password") is not None

    @property
    def has_second_factor(self) -> bool:
        """Whether logging in also needs a code."""
        return self._read_column("totp") is not None

    def setup(self) -> str | None:
        """The key of a link that sets the first password, once; an earlier key is void. None where there is one.

        It is good for a day.
        """
        link_key = secrets.token_urlsafe(32)
        with self._store.engine.begin() as connection:
            account_row = connection.execute(select(table.c.password)).first()
            if account_row is None:
                connection.execute(insert(table).values(id=1))
            elif account_row.password is not None:
                return None
            connection.execute(update(table).values(setup=_digest(link_key), setup_until=int(self._clock()) + SETUP))
        return link_key

    def is_setup(self, key: str) -> bool:
        """Whether the first password can be set with this key."""
        good_until = self._read_column("setup_until")
        is_key = hmac.compare_digest(self._read_column("setup") or "", _digest(key))
        return is_key and not self.has_password and good_until is not None and self._clock() < good_until

    def set_password(self, password: str, *, key: str | None = None) -> None:
        """Set the password, and log everybody out.

        Parameters
        ----------
        password : str
            At least 12 characters.
        key : str, optional
            Of the link that sets the first password; with it, no password is replaced.

        Raises
        ------
        DataError
            The password is too short, or the key is void.
        """
        password = unicodedata.normalize("NFKC", password)  # keyboards compose the same letters in several ways
        if not SHORTEST <= len(password) <= LONGEST:
            raise DataError(f"a password must have {SHORTEST} to {LONGEST:,} characters; got {len(password):,}")
        if len(set(password)) < 5:
            raise DataError("a password must have at least 5 different characters; take a few words at random")
        password_hash = _ARGON2.hash(password)
        first_conditions = () if key is None else (table.c.password.is_(None), table.c.setup == _digest(key))
        if key is not None and not self.is_setup(key):
            raise DataError("this link is void: it was used, is older than a day, or the server was started again")
        with self._store.engine.begin() as connection:
            if key is None and connection.execute(select(table.c.id)).first() is None:
                connection.execute(insert(table).values(id=1))
            password_update = connection.execute(
                update(table).where(*first_conditions).values(password=password_hash, setup=None, setup_until=None)
            )
            if not password_update.rowcount:
                raise DataError("this link was used a moment ago; log in with the password that was set")
            connection.execute(delete(session_table))

    def is_right(self, password: str, code: str | None = None) -> bool:
        """Whether this is the password, with the code of the second factor if there is one.

        A wrong try takes as long as a right one, also where no password is set. A code is good once.
        """
        return self.wrong(password, code) is None

    def wrong(self, password: str, code: str | None = None, *, codes: Tries | None = None) -> Wrong | None:
        """What is wrong with a password and a code; None where both are right.

        Parameters
        ----------
        password : str
        code : str, optional
            Of the second factor.
        codes : Tries, optional
            How many wrong codes may be tried. Without one left, even the right code is refused, and stays unused.
        """
        password_hash = self._read_column("password")
        typed_password = unicodedata.normalize("NFKC", password)[: LONGEST + 1]
        with _ONE_AT_A_TIME:
            try:
                _ARGON2.verify(password_hash or _decoy(), typed_password)
                is_right = password_hash is not None
            except VerificationError:
                is_right = False
        totp_secret = self._read_column("totp")
        if not is_right:
            return "password"
        if totp_secret is None:
            return None
        if codes is not None and codes.take():  # before the code is compared: many may ask at once
            return "tries"
        if not self._spend(totp_secret, code or ""):
            return "code"
        if codes is not None:
            codes.give_back()
        return None

    def start_second_factor(self, secret: str, code: str) -> None:
        """Ask for a code at every login from now on, and log everybody out.

        Raises
        ------
        DataError
            The code is not the one that belongs to the secret now.
        """
        code_step = self._step_of(secret, code) if _SECRET.fullmatch(secret) else None
        if code_step is None:
            raise DataError("this is not the code that the app shows now; see that the phone's clock is right")
        with self._store.engine.begin() as connection:
            connection.execute(update(table).values(totp=secret, totp_step=code_step))
            connection.execute(delete(session_table))

    def stop_second_factor(self) -> None:
        """Ask for the password only."""
        with self._store.engine.begin() as connection:
            connection.execute(update(table).values(totp=None, totp_step=None))

    def _step_of(self, secret: str, code: str) -> int | None:
        """The step of 30 seconds to which a code belongs: this one, the last, or the next; clocks differ."""
        now = int(self._clock())
        for step_offset in (-1, 0, 1):
            if hmac.compare_digest(
                pyotp.TOTP(secret).at(now + _STEP * step_offset).encode(), code.replace(" ", "").encode()
            ):
                return now // _STEP + step_offset
        return None

    def _spend(self, secret: str, code: str) -> bool:
        """Whether a code is right, and later than the last one that was used: nobody reuses one that they saw."""
        code_step = self._step_of(secret, code)
        if code_step is None:
            return False
        is_unused = or_(table.c.totp_step.is_(None), table.c.totp_step < code_step)
        with self._store.engine.begin() as connection:
            return connection.execute(update(table).where(is_unused).values(totp_step=code_step)).rowcount == 1

    def _read_column(self, column: str) -> Any:
        with self._store.reading() as connection:
            return connection.execute(select(table.c[column])).scalar()


@functools.cache
def _decoy() -> str:
    """What passwords are compared with where none is set, so that the time of a try does not tell."""
    return _ARGON2.hash(secrets.token_hex())


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()


IDLE = 1_800
"""Seconds without a request after which a session ends."""

LONGEST_SESSION = 43_200
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
        is_over = or_(session_table.c.seen < now - IDLE, session_table.c.began < now - LONGEST_SESSION)
        with self._store.engine.begin() as connection:
            connection.execute(delete(session_table).where(is_over))
            connection.execute(insert(session_table).values(digest=_digest(session.secret), began=now, seen=now))
        return session

    def find(self, secret: str, *, noted: bool = True) -> Session | None:
        """The session of a cookie; None where there is none, or its time is over. `noted` begins its time again."""
        now, secret_digest = int(self._clock()), _digest(secret)
        with self._store.reading() as connection:
            session_row = connection.execute(
                select(session_table.c.began, session_table.c.seen).filter_by(digest=secret_digest)
            ).first()
        if session_row is None or now - session_row.seen > IDLE or now - session_row.began > LONGEST_SESSION:
            return None
        if noted and now - session_row.seen >= _NOTED:
            with self._store.engine.begin() as connection:
                connection.execute(update(session_table).filter_by(digest=secret_digest).values(seen=now))
        return Session(secret)

    def end(self, secret: str) -> None:
        """Log out."""
        with self._store.engine.begin() as connection:
            connection.execute(delete(session_table).filter_by(digest=_digest(secret)))

    def end_all(self) -> None:
        """Log everybody out."""
        with self._store.engine.begin() as connection:
            connection.execute(delete(session_table))
