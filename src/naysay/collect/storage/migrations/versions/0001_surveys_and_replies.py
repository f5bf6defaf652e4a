"""Surveys, the clients that they were published with, and replies."""

import sqlalchemy as sa
from alembic import op

from naysay.errors import DataError

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Three tables."""
    op.create_table(
        "survey",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("client", sa.String(16), nullable=False),
        sa.Column("published", sa.LargeBinary, nullable=False),
        sa.Column("opened", sa.Date, nullable=False),
        sa.Column("closed", sa.Date),
    )
    op.create_table(
        "client_file",
        sa.Column("client", sa.String(16), primary_key=True),
        sa.Column("name", sa.String(255), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "reply",
        sa.Column("survey", sa.String(64), primary_key=True),
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("answers", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Refuse: there is no version before these tables."""
    raise DataError("no migration deletes answers; naysay survey delete does")
