"""Uploads of reports that were counted today and yesterday, by a hash, so that one that is sent again is known."""

import sqlalchemy as sa
from alembic import op

from naysay.errors import DataError

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """An empty table."""
    op.create_table(
        "report_receipt",
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("digest", sa.String(64), primary_key=True),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Refuse, as for every version."""
    raise DataError("no migration goes back; restore a copy of the database instead")
