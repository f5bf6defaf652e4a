"""Counts of reports that come without a survey, and what they are counted for."""

import sqlalchemy as sa
from alembic import op

from naysay.errors import DataError

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two tables, both empty."""
    op.create_table(
        "report_topic",
        sa.Column("design", sa.String(64), primary_key=True),
        sa.Column("question", sa.String(140), primary_key=True),
        sa.Column("wave", sa.String(140), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("opened", sa.Date, nullable=False),
        sa.Column("closed", sa.Date),
    )
    op.create_table(
        "report_count",
        sa.Column("design", sa.String(64), primary_key=True),
        sa.Column("question", sa.String(140), primary_key=True),
        sa.Column("wave", sa.String(140), primary_key=True),
        sa.Column("level", sa.String(140), primary_key=True),
        sa.Column("what", sa.String(8), primary_key=True),
        sa.Column("place", sa.BigInteger, primary_key=True),
        sa.Column("people", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Refuse, as for every version: the counts would be lost."""
    raise DataError("no migration goes back; restore a copy of the database instead")
