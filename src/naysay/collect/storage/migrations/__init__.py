"""The versions of the database. Opening a store brings it up to date, from nothing or from any earlier version."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from naysay.errors import DataError

__all__ = ["check", "upgrade"]

_VERSIONS = sorted(path.name.partition("_")[0] for path in (Path(__file__).parent / "versions").glob("[0-9]*.py"))


def check(connection: Connection) -> None:
    """Raise unless the database of a connection has the newest version and can be read without changes.

    Raises
    ------
    DataError
        The database is older or newer than this naysay, or was not made by naysay.
    """
    version = _version(connection)
    if version is None:
        raise DataError("the database holds no surveys; is it the right one? A server makes one: naysay serve")
    if version != _VERSIONS[-1]:
        raise DataError(f"the database is of version {version}, an earlier one; naysay serve brings it up to date")


def _version(connection: Connection) -> str | None:
    """The version of a database; None where naysay did not make it."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    versions = [str(row[0]) for row in connection.execute(text("SELECT version_num FROM alembic_version"))]
    version = ", ".join(sorted(versions))
    if version not in _VERSIONS:  # nor two at once, of which this naysay knows one
        raise DataError(
            f"the database is of version {version or None}, which this naysay does not know; it was made by a newer "
            "one: upgrade naysay"
        )
    return version


def upgrade(connection: Connection) -> None:
    """Bring the database of a connection, in its transaction, to the newest version."""
    if _version(connection) == _VERSIONS[-1]:
        return
    from alembic import command  # a late import: Alembic announces its plugins in the log when it is imported
    from alembic.config import Config

    alembic_settings = Config()
    alembic_settings.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    alembic_settings.set_main_option("path_separator", "os")
    alembic_settings.attributes["connection"] = connection
    command.upgrade(alembic_settings, "head")
