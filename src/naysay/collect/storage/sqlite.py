"""SQLite: one file, one writer, and a file that does not tell in which order answers came."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from naysay.errors import DataError

__all__ = ["SQLite"]

_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",  # an acknowledged answer survives a power cut
    "secure_delete = ON",  # what is deleted is overwritten with zeros
    "busy_timeout = 5000",
    "wal_autocheckpoint = 200",
)


class SQLite:
    """What SQLite needs beside the tables."""

    fresh_id = "lower(hex(randomblob(16)))"

    def engine(self, url: URL) -> Engine:
        """Connections that write in one transaction at a time, durably, and wipe what they delete."""
        if url.database and url.database != ":memory:":
            Path(url.database).touch(mode=0o600)  # SQLite gives its other files the same rights
        engine = create_engine(url, hide_parameters=True, connect_args={"check_same_thread": False})
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
        return engine

    def settle(self, engine: Engine) -> None:
        """Rewrite the file in the order of the ids and empty the log of recent writes.

        Rows of one page lie in the order in which they came, and so do pages in the file, until it is rewritten.
        """
        with contextlib.closing(engine.raw_connection()) as connection:
            cursor = connection.cursor()
            cursor.execute("VACUUM")
            busy, *_ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            cursor.close()
        if busy:  # it says so and raises nothing
            raise DataError(
                "another program reads the database, so its log still tells in which order the latest answers came; "
                "end that program, then stop the server or close the survey again"
            )


def _prepare(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where the engine says so
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    reading = connection.get_execution_options().get("naysay_reading", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
