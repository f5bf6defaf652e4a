"""Tokens with which programs read: what each may read, of which survey, and until when."""

from __future__ import annotations

import datetime
import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import delete, insert, select, update

from naysay.collect.storage import Store, today
from naysay.collect.storage.tables import token as table
from naysay.collect.survey.submission import Refusal
from naysay.errors import DataError

SCOPES = {
    "read:aggregates": "counts, estimates and their intervals",
    "read:export": "every reply, as the export has it",
}
"""What a token may be good for. None contains another."""

_FORM = re.compile(r"naysay_[0-9a-f]{8}_[A-Za-z0-9_-]{43}")
_LONGEST = 64


@dataclass(frozen=True)
class Token:
    """What is known of a token; its secret is shown once, and only a hash of it is stored.

    Parameters
    ----------
    id : str
        Eight characters, also the middle of the secret.
    name : str
        Who or what uses it.
    scopes : tuple of str
        Of `SCOPES`.
    survey : str or None
        The only survey that it reads; None for all.
    made, expires, used : date
        The days (UTC) on which it was made, is good for the last time, and was used last.
    """

    id: str
    name: str
    scopes: tuple[str, ...]
    survey: str | None
    made: datetime.date
    expires: datetime.date | None
    used: datetime.date | None


def create(
    store: Store,
    name: str,
    *,
    scopes: Iterable[str],
    survey: str | None = None,
    expires: datetime.date | None = None,
) -> tuple[Token, str]:
    """A new token and its secret, which cannot be shown again.

    Parameters
    ----------
    store : Store
    name : str
        Who or what uses it.
    scopes : iterable of str
        Of `SCOPES`.
    survey : str, optional
        The only survey that it reads; by default it reads all of them.
    expires : date, optional
        The last day (UTC) on which it is good.

    Raises
    ------
    DataError
        The name is empty or too long, a scope or the survey does not exist, or the last day is over.

    Examples
    --------
    >>> store = Store("sqlite://")
    >>> token, secret = create(store, "our dashboard", scopes=["read:aggregates"])
    >>> check(store, secret, scope="read:aggregates", survey="sample").name
    'our dashboard'
    >>> check(store, secret, scope="read:export", survey="sample")
    Traceback (most recent call last):
    naysay.collect.survey.submission.Refusal: this token is not good for read:export
    >>> store.dispose()
    """
    name, scope_names = name.strip(), set(scopes)
    if not 0 < len(name) <= _LONGEST or not name.isprintable():
        raise DataError(f"a token needs a name of at most {_LONGEST} characters in one line; got {name[:80]!r}")
    if not scope_names or scope_names - set(SCOPES):
        wrong_text = f"; got {', '.join(sorted(scope_names - set(SCOPES)))}" if scope_names else "; got none"
        raise DataError(f"a token must be good for some of {', '.join(SCOPES)}{wrong_text}")
    if expires is not None and expires < today():
        raise DataError(f"the last day of a token must not be over; got {expires}")
    if survey is not None:
        store.published(survey)
    token_id = secrets.token_hex(4)
    secret = f"naysay_{token_id}_{secrets.token_urlsafe(32)}"
    token = Token(
        token_id, name, tuple(scope for scope in SCOPES if scope in scope_names), survey, today(), expires, None
    )
    token_row = {**vars(token), "scopes": " ".join(token.scopes), "digest": _digest(secret)}
    with store.engine.begin() as connection:
        connection.execute(insert(table).values(**token_row))
    return token, secret


def listed(store: Store) -> tuple[Token, ...]:
    """All tokens by name."""
    with store.reading() as connection:
        return tuple(
            _token(token_row) for token_row in connection.execute(select(table).order_by(table.c.name, table.c.id))
        )


def revoke(store: Store, token: str) -> Token:
    """Delete a token: whoever has its secret reads nothing more.

    Parameters
    ----------
    store : Store
    token : str
        Its id, or its name where no other token has that name.

    Raises
    ------
    DataError
        No token, or several, are meant.
    """
    all_tokens = listed(store)
    matching_tokens = [candidate for candidate in all_tokens if token == candidate.id] or [
        candidate for candidate in all_tokens if token == candidate.name
    ]
    if len(matching_tokens) != 1:
        tokens_text = ", ".join(f"{candidate.id} ({candidate.name})" for candidate in all_tokens) or "none"
        raise DataError(
            f"there must be one token {token!r}, and there are {len(matching_tokens)}; there are: {tokens_text}"
        )
    with store.engine.begin() as connection:
        connection.execute(delete(table).filter_by(id=matching_tokens[0].id))
    return matching_tokens[0]


def check(store: Store, secret: str | None, *, scope: str, survey: str | None = None) -> Token:
    """The token with this secret, if it may be used for this.

    Parameters
    ----------
    store : Store
    secret : str or None
        What stands behind ``Bearer`` in the request.
    scope : str
        What is asked for, of `SCOPES`.
    survey : str, optional
        Of which survey; without it, the token must be for all of them.

    Raises
    ------
    Refusal
        ``unauthorized``: no such token, or its last day is over. ``forbidden``: it is for something else. Whether the
        survey exists makes no difference.
    """
    day = today()
    token_row = None
    if secret is not None and _FORM.fullmatch(secret):
        with store.reading() as connection:  # by its hash, so that the time of the search tells nothing
            token_row = connection.execute(select(table).filter_by(digest=_digest(secret))).first()
    if token_row is None or (token_row.expires is not None and token_row.expires < day):
        raise Refusal("unauthorized", "this needs a token that is good today: Authorization: Bearer naysay_…")
    token = _token(token_row)
    if scope not in token.scopes:
        raise Refusal("forbidden", f"this token is not good for {scope}")
    if token.survey is not None and token.survey != survey:
        raise Refusal("forbidden", "this token is for another survey")
    if token.used != day:
        with store.engine.begin() as connection:
            connection.execute(update(table).filter_by(id=token.id).values(used=day))
    return token


def _digest(secret: str) -> str:
    """A plain hash is enough: the secret has 256 random bits, so nobody finds it by trying."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _token(row: object) -> Token:
    field_names = Token.__dataclass_fields__
    token_fields = {field_name: getattr(row, field_name) for field_name in field_names}
    return Token(**{**token_fields, "scopes": tuple(str(token_fields["scopes"]).split())})
