"""How the database came to be what it is: run when a store is opened, from nothing or from any earlier version."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

__all__ = ["upgrade"]


def upgrade(connection: Connection) -> None:
    """Bring the database of a connection, in its transaction, to the newest version."""
    from alembic import command  # it announces its plugins to the log when it is imported
    from alembic.config import Config

    settings = Config()
    settings.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    settings.set_main_option("path_separator", "os")
    settings.attributes["connection"] = connection
    command.upgrade(settings, "head")
