"""The tables, and the two kinds of database that hold them.

For each respondent the tables hold the survey, an id that the device drew, the day and the answers as sent. The tables
of those who run surveys, with password, sessions, tokens, log, drafts and dates, are not about respondents.

SQLite: one file, one writer, and a file that does not tell in which order answers came. PostgreSQL: rows are rewritten
in random order, because their places and transactions tell when they came.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import stat
import sys
import time
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Date,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from naysay.errors import DataError

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


logger = logging.getLogger("naysay.collect")

_PATIENCE = 5  # seconds that a connection waits for another
_READING = ("query_only = ON", f"busy_timeout = {1000 * _PATIENCE}")
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",  # an acknowledged answer survives a power cut
    "secure_delete = ON",  # what is deleted is overwritten with zeros
    f"busy_timeout = {1000 * _PATIENCE}",
    "wal_autocheckpoint = 200",
)


class SQLite:
    """What SQLite needs beside the tables."""

    fresh_id = "lower(hex(randomblob(16)))"
    snapshot: ClassVar[dict[str, str]] = {}  # every transaction is one

    def engine(self, url: URL, *, reading: bool) -> Engine:
        """Connections that write in one transaction at a time, durably, and wipe what they delete; or only read.

        Those that only read do not wait for a writer.
        """
        if reading:
            # SQLite leaves an empty -wal and a -shm beside a file that it only read. `immutable=1` would leave nothing,
            # but then it takes no locks: where a server starts meanwhile, a page could be read half old, half new.
            quoted_path = quote(str(Path(str(url.database)).absolute()))
            url = URL.create("sqlite", database=f"file:{quoted_path}", query={"mode": "ro", "uri": "true"})
        elif not _in_memory(url):
            _make_private(Path(str(url.database)))
        pragmas = _READING if reading else _PRAGMAS
        engine = create_engine(url, hide_parameters=True, connect_args={"check_same_thread": False})

        @event.listens_for(engine, "connect")
        def prepare(connection: sqlite3.Connection, _: object) -> None:
            connection.isolation_level = None  # so that the engine, not the driver, begins transactions
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}").close()

        event.listen(engine, "begin", _begin)
        return engine

    def hold(self, connection: Connection) -> None:
        """Nothing: what is read stays as it was when the transaction began."""

    def missing(self, url: URL) -> str | None:
        """The file of the database, if it is not there: SQLite would silently make it."""
        return None if _in_memory(url) or Path(str(url.database)).exists() else str(url.database)

    def settle(self, engine: Engine) -> None:
        """Rewrite the file in the order of the ids and empty the log of recent writes.

        Until the file is rewritten, rows in a page lie in the order in which they came, and so do pages in the file.
        """
        with contextlib.closing(engine.raw_connection()) as connection:
            cursor = connection.cursor()
            cursor.execute("VACUUM")
            latest_time = time.monotonic() + _PATIENCE
            # The pragma waits for readers, and fails at once while another connection writes the log back.
            while (
                is_busy := cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            ) and time.monotonic() < latest_time:
                time.sleep(0.05)
            cursor.close()
        if is_busy:  # the pragma reports a failure in its row and raises nothing
            raise DataError(
                "another program reads the database, so its log still tells in which order the latest answers came; "
                "end that program, then stop the server or close the survey again"
            )


def _in_memory(url: URL) -> bool:
    return not url.database or url.database == ":memory:"


def _make_private(path: Path) -> None:
    """Let only the owner read and write the file, and the two files that SQLite keeps beside it."""
    if not path.exists():
        path.touch(mode=0o600)
        return
    file_mode = stat.S_IMODE(path.stat().st_mode)
    if not file_mode & 0o077 or sys.platform == "win32":
        return
    problem = f"others on this computer could open {str(path)!r} (mode {file_mode:04o})"
    try:
        for file_path in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            if file_path.exists():
                file_path.chmod(0o600)
    except OSError as error:
        logger.warning("%s, and still can: %s; chmod 600 it", problem, error.strerror)
    else:
        logger.warning("%s; now only its owner can", problem)


def _begin(connection: Connection) -> None:
    only_reads = connection.get_execution_options().get("naysay_reading", False)
    connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")


_LOCK_NOT_AVAILABLE = "55P03"  # the code of PostgreSQL for a lock that was not given in time
_OPTIONS = "-c synchronous_commit=on -c statement_timeout=600s -c lock_timeout=5s"

# A new table under the old name would lose the rights that were granted on it. So rows wait in a temporary table, which
# is not written to the server's log; truncating gives the table new files, and all rows come from one transaction.
REWRITTEN = {
    "reply": "survey, id, day, answers",
    "invitation": "survey, code, taken",
    "spent": "survey, token",
    "untallied": "survey, id",
    "tally": "survey, question, beside, day, digest, cell, people",
    "report_count": "design, question, wave, level, what, place, people",
    "report_receipt": "digest, day",
}
"""The columns of the tables that are rewritten, with the keys first. Old versions of a tally tell what came last."""

# Replies are locked first. Whoever uses several of the tables in one transaction begins with the replies, too, so that
# neither can hold what the other one waits for.
_SETTLE = (
    "SET LOCAL statement_timeout = 0",
    *(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE" for table in REWRITTEN),
    *(
        statement
        for table, columns in REWRITTEN.items()
        for statement in (
            f"CREATE TEMPORARY TABLE settled_{table} ON COMMIT DROP AS SELECT {columns} FROM {table}",
            f"TRUNCATE {table}",
            f"INSERT INTO {table} ({columns}) SELECT {columns} FROM settled_{table} ORDER BY {columns}",
        )
    ),
)


class PostgreSQL:
    """What PostgreSQL needs beside the tables."""

    fresh_id = "replace(gen_random_uuid()::text, '-', '')"
    snapshot: ClassVar[dict[str, str]] = {"isolation_level": "REPEATABLE READ"}

    def engine(self, url: URL, *, reading: bool) -> Engine:
        """Connections that are tested before use, and do not wait for a server that is gone."""
        connection_options = f"{_OPTIONS} -c default_transaction_read_only=on" if reading else _OPTIONS
        return create_engine(
            url.set(drivername="postgresql+psycopg"),
            hide_parameters=True,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 5, "tcp_user_timeout": 20_000, "options": connection_options},
        )

    def hold(self, connection: Connection) -> None:
        """Keep `settle` out until a snapshot is read: a truncated table is empty even for snapshots from before.

        Locking is no query: the snapshot is taken after it, when no `settle` is under way.
        """
        connection.exec_driver_sql(f"LOCK TABLE {', '.join(REWRITTEN)} IN ACCESS SHARE MODE")

    def missing(self, url: URL) -> str | None:
        """None: PostgreSQL does not make a database when somebody mistypes its name."""
        return None

    def settle(self, engine: Engine) -> None:
        """Rewrite replies, invitations and spent tokens in the order of their keys, in one transaction."""
        try:
            with engine.begin() as connection:
                for statement in _SETTLE:
                    connection.execute(text(statement))
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                raise
            raise DataError(
                "another program reads the database, so rows still lie in the order in which the latest answers came; "
                "end that program, then stop the server or close the survey again"
            ) from None


BACKENDS: dict[str, type[SQLite] | type[PostgreSQL]] = {"sqlite": SQLite, "postgresql": PostgreSQL}


def address_of(url: str | Path) -> URL:
    """The address that a text or a path stands for, checked."""
    address_text = str(url) if "://" in str(url) else f"sqlite:///{url}"
    if address_text.startswith("postgres://"):  # many hosts write the address so
        address_text = f"postgresql://{address_text.removeprefix('postgres://')}"
    if (
        not address_text.startswith("sqlite") and address_text.count("@") > 1
    ):  # else a part of the password would be taken for the host
        raise DataError("the address of the database has several @; write each @ of a password as %40")
    try:
        address = make_url(address_text)
        has_backend = address.get_backend_name() in BACKENDS
    except (ArgumentError, ValueError):
        has_backend = False
    if not has_backend:
        raise DataError("a database is sqlite:///FILE or postgresql://USER@HOST/DATABASE; the address is neither")
    return address
