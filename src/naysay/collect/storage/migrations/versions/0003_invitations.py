"""Invitations: the key of each survey that invites, which invitations were taken, and which tokens are spent."""

import sqlalchemy as sa
from alembic import op

from naysay.errors import DataError

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Three tables."""
    op.create_table(
        "issuer",
        sa.Column("survey", sa.String(64), primary_key=True),
        sa.Column("key", sa.LargeBinary, nullable=False),
        sa.Column("again", sa.Integer, nullable=False),
    )
    op.create_table(
        "invitation",
        sa.Column("survey", sa.String(64), primary_key=True),
        sa.Column("code", sa.String(64), primary_key=True),
        sa.Column("taken", sa.String(64)),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "spent",
        sa.Column("survey", sa.String(64), primary_key=True),
        sa.Column("token", sa.String(32), primary_key=True),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Refuse: whoever has a token could answer a second time."""
    raise DataError("no migration forgets which tokens are spent; naysay survey delete does")
