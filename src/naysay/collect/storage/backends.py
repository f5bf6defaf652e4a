"""The two kinds of database, and the address of one.

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

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from naysay.errors import DataError

log = logging.getLogger("naysay.collect")

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
        log.warning("%s, and still can: %s; chmod 600 it", problem, error.strerror)
    else:
        log.warning("%s; now only its owner can", problem)


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
