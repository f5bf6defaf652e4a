"""PostgreSQL: rows are rewritten in random order, because their places and transactions tell when they came."""

from __future__ import annotations

from sqlalchemy import Engine, create_engine, text
from sqlalchemy.engine import URL

__all__ = ["PostgreSQL"]

_OPTIONS = "-c synchronous_commit=on -c statement_timeout=600s -c lock_timeout=5s"

# A new table under the old name would lose the rights that were granted on it. So rows wait in a temporary table, which
# is not written to the server's log; truncating gives the table new files, and all rows come from one transaction.
_SETTLE = (
    "SET LOCAL statement_timeout = 0",
    "LOCK TABLE reply IN ACCESS EXCLUSIVE MODE",
    "CREATE TEMPORARY TABLE settled ON COMMIT DROP AS SELECT survey, id, day, answers FROM reply",
    "TRUNCATE reply",
    "INSERT INTO reply (survey, id, day, answers) SELECT survey, id, day, answers FROM settled ORDER BY survey, id",
)


class PostgreSQL:
    """What PostgreSQL needs beside the tables."""

    fresh_id = "replace(gen_random_uuid()::text, '-', '')"

    def engine(self, url: URL, *, reading: bool) -> Engine:
        """Connections that are tested before use, and do not wait for a server that is gone."""
        options = f"{_OPTIONS} -c default_transaction_read_only=on" if reading else _OPTIONS
        return create_engine(
            url.set(drivername="postgresql+psycopg"),
            hide_parameters=True,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 5, "tcp_user_timeout": 20_000, "options": options},
        )

    def missing(self, url: URL) -> str | None:
        """None: PostgreSQL does not make a database when somebody mistypes its name."""
        return None

    def settle(self, engine: Engine) -> None:
        """Rewrite all replies in the order of their ids, in one transaction."""
        with engine.begin() as connection:
            for statement in _SETTLE:
                connection.execute(text(statement))
