"""PostgreSQL: rows are rewritten in random order, because their places and transactions tell when they came."""

from __future__ import annotations

from typing import ClassVar

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import URL

_OPTIONS = "-c synchronous_commit=on -c statement_timeout=600s -c lock_timeout=5s"

# A new table under the old name would lose the rights that were granted on it. So rows wait in a temporary table, which
# is not written to the server's log; truncating gives the table new files, and all rows come from one transaction.
_REWRITTEN = {
    "reply": "survey, id, day, answers",
    "invitation": "survey, code, taken",
    "spent": "survey, token",
    "untallied": "survey, id",
    "tally": "survey, question, beside, day, digest, cell, people",
    "report_count": "design, question, wave, level, what, place, people",
    "report_receipt": "digest, day",
}
"""The columns of the tables that are rewritten, with the keys first. Old versions of a tally tell what came last."""

_SETTLE = (
    "SET LOCAL statement_timeout = 0",
    *(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE" for table in _REWRITTEN),  # in the order in which others lock them
    *(
        statement
        for table, columns in _REWRITTEN.items()
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
        connection.exec_driver_sql(f"LOCK TABLE {', '.join(_REWRITTEN)} IN ACCESS SHARE MODE")

    def missing(self, url: URL) -> str | None:
        """None: PostgreSQL does not make a database when somebody mistypes its name."""
        return None

    def settle(self, engine: Engine) -> None:
        """Rewrite replies, invitations and spent tokens in the order of their keys, in one transaction."""
        with engine.begin() as connection:
            for statement in _SETTLE:
                connection.execute(text(statement))
