"""Tallies, which replies they do not count yet, and what is shown to others; all replies are to be counted."""

import sqlalchemy as sa
from alembic import op

from naysay.errors import DataError

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Three tables; a server that starts counts the replies that are there."""
    op.create_table(
        "untallied",
        sa.Column("survey", sa.String(64), primary_key=True),
        sa.Column("id", sa.String(32), primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tally",
        sa.Column("survey", sa.String(64), primary_key=True),
        sa.Column("question", sa.String(140), primary_key=True),
        sa.Column("beside", sa.String(140), primary_key=True),
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("digest", sa.String(32), primary_key=True),
        sa.Column("cell", sa.Text, nullable=False),
        sa.Column("people", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "shared",
        sa.Column("survey", sa.String(64), primary_key=True),
        sa.Column("link", sa.String(64)),
        sa.Column("beside", sa.String(140), nullable=False),
        sa.Column("least", sa.BigInteger, nullable=False),
        sa.Column("shown", sa.LargeBinary, nullable=False),
    )
    op.execute("INSERT INTO untallied (survey, id) SELECT survey, id FROM reply")


def downgrade() -> None:
    """Refuse, as for every version: what is shared would be forgotten, and shown again from the beginning."""
    raise DataError("no migration goes back; restore a copy of the database instead")
