"""The tables of those who run surveys: password, sessions, tokens, log, drafts, dates. None is about respondents."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Date, Integer, LargeBinary, String, Table, Text

from naysay.collect.storage.tables import metadata

__all__ = ["account", "deletion", "draft", "log", "plan", "session", "token"]

account = Table(
    "admin_account",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("password", String(255)),
    Column("setup", String(64)),
    Column("setup_until", BigInteger),
    Column("totp", String(64)),
    Column("totp_step", BigInteger),
)
"""One row. The password as Argon2 writes it, null until it is set; the hash of the one-time link that sets it, and its
end; the secret of the second factor, and the last step of 30 seconds whose code was used."""

session = Table(
    "admin_session",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("began", BigInteger, nullable=False),
    Column("seen", BigInteger, nullable=False),
)
"""Who is logged in: the SHA-256 of the cookie, and seconds since 1970."""

token = Table(
    "admin_token",
    metadata,
    Column("id", String(8), primary_key=True),
    Column("name", String(64), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("scopes", String(255), nullable=False),
    Column("survey", String(64)),
    Column("made", Date, nullable=False),
    Column("expires", Date),
    Column("used", Date),
)
"""What programs read with. `survey` is null where a token is for all of them."""

log = Table(
    "admin_log",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("who", String(80), nullable=False),
    Column("what", String(40), nullable=False),
    Column("about", String(64)),
    Column("detail", Text),
)
"""What was done to surveys, by whom and when; `about` is a survey, which may be deleted since."""

draft = Table(
    "admin_draft",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("key", String(32), nullable=False, unique=True),
    Column("content", LargeBinary, nullable=False),
    Column("made", Date, nullable=False),
)
"""Questionnaires that are checked and not yet open; whoever has the random key can preview one."""

plan = Table(
    "admin_plan",
    metadata,
    Column("survey", String(64), primary_key=True),
    Column("opens", Date),
    Column("closes", Date),
    Column("keeps", Date),
)
"""The first day and the last day of answers, and the last day on which they are kept (UTC)."""

deletion = Table(
    "admin_deletion",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False),
    Column("day", Date, nullable=False),
    Column("receipt", Text, nullable=False),
)
"""The receipts of deleted surveys. They hold counts, days and hashes, and no answer."""
