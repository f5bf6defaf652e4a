"""The tables. For each respondent they hold the survey, an id that the device drew, the day and the answers as sent.

The tables of those who run surveys: password, sessions, tokens, log, drafts, dates. None is about respondents.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Date, Integer, LargeBinary, MetaData, String, Table, Text

metadata = MetaData()

survey = Table(
    "survey",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("hash", String(64), nullable=False),
    Column("client", String(16), nullable=False),
    Column("published", LargeBinary, nullable=False),
    Column("opened", Date, nullable=False),
    Column("closed", Date),
)
"""A survey as it was published, byte for byte; `closed` is null while it takes answers."""

client_file = Table(
    "client_file",
    metadata,
    Column("client", String(16), primary_key=True),
    Column("name", String(255), primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
"""The files of the clients that open surveys were published with: an upgrade of naysay does not change them."""

reply = Table(
    "reply",
    metadata,
    Column("survey", String(64), primary_key=True),
    Column("id", String(32), primary_key=True),
    Column("day", Date, nullable=False),
    Column("answers", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""One respondent's answers as canonical JSON. The key is survey and random id, so that no row number tells when."""

issuer = Table(
    "issuer",
    metadata,
    Column("survey", String(64), primary_key=True),
    Column("key", LargeBinary, nullable=False),
    Column("again", Integer, nullable=False),
)
"""The private key with which invitations become tokens, whose public half is in the survey's bytes. And how many
invitations were replaced after a token had been taken with them."""

invitation = Table(
    "invitation",
    metadata,
    Column("survey", String(64), primary_key=True),
    Column("code", String(64), primary_key=True),
    Column("taken", String(64)),
    sqlite_with_rowid=False,
)
"""The SHA-256 of an invitation's code; whether a token was taken, as the SHA-256 of what the device had blinded."""

spent = Table(
    "spent",
    metadata,
    Column("survey", String(64), primary_key=True),
    Column("token", String(32), primary_key=True),
    sqlite_with_rowid=False,
)
"""Tokens that came with a reply. Nothing here names the reply, or the invitation that a token was taken with."""

untallied = Table(
    "untallied",
    metadata,
    Column("survey", String(64), primary_key=True),
    Column("id", String(32), primary_key=True),
    sqlite_with_rowid=False,
)
"""The replies that no tally counts yet. It is empty a second after the last reply, and whenever rows are rewritten."""

tally = Table(
    "tally",
    metadata,
    Column("survey", String(64), primary_key=True),
    Column("question", String(140), primary_key=True),
    Column("beside", String(140), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("digest", String(32), primary_key=True),
    Column("cell", Text, nullable=False),
    Column("people", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
"""How many gave each answer. A cell is JSON: an answer, its level, and the group to which people belong by `beside`.

Its digest is in the key, because PostgreSQL takes no long text there. Only replies and levels are counted by day.
"""

shared = Table(
    "shared",
    metadata,
    Column("survey", String(64), primary_key=True),
    Column("link", String(64)),
    Column("beside", String(140), nullable=False),
    Column("least", BigInteger, nullable=False),
    Column("shown", LargeBinary, nullable=False),
)
"""What others may see of a survey: the SHA-256 of the link, null once it is revoked, and tallies as last shown."""

report_topic = Table(
    "report_topic",
    metadata,
    Column("design", String(64), primary_key=True),
    Column("question", String(140), primary_key=True),
    Column("wave", String(140), primary_key=True),
    Column("content", LargeBinary, nullable=False),
    Column("opened", Date, nullable=False),
    Column("closed", Date),
)
"""What reports are counted for: a design by its hash and as JSON, a question and a wave; `closed` is null while they
are."""

report_count = Table(
    "report_count",
    metadata,
    Column("design", String(64), primary_key=True),
    Column("question", String(140), primary_key=True),
    Column("wave", String(140), primary_key=True),
    Column("level", String(140), primary_key=True),
    Column("what", String(8), primary_key=True),
    Column("place", BigInteger, primary_key=True),
    Column("people", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
"""How often each report came. `what` is "report", or where sums are kept "named" (how often a category was named) and
"size" (how often a set had this size). No batch, no time and no sender is kept."""

report_receipt = Table(
    "report_receipt",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("day", Date, nullable=False),
    sqlite_with_rowid=False,
)
"""Uploads that named an id and were counted, today or yesterday: the SHA-256 of the id and the body. Older ones go when
the database is settled."""

OF_SURVEY = (reply, untallied, tally, shared)
"""The tables of what respondents sent, and of what is told of it."""


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
