"""The tables. For each respondent they hold the survey, an id that the device drew, the day and the answers as sent."""

from __future__ import annotations

from sqlalchemy import Column, Date, LargeBinary, MetaData, String, Table, Text

__all__ = ["client_file", "metadata", "reply", "survey"]

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
