"""One receipt for each upload of reports, whatever day the server that wrote it had."""

import sqlalchemy as sa
from alembic import op

from naysay.errors import DataError

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The digest alone is the key; of two receipts of one upload the later day stays."""
    op.execute(
        "DELETE FROM report_receipt WHERE EXISTS (SELECT 1 FROM report_receipt AS later "
        "WHERE later.digest = report_receipt.digest AND later.day > report_receipt.day)"
    )
    if op.get_bind().dialect.name == "postgresql":  # a new table would lose the rights that were granted on it
        op.drop_constraint("report_receipt_pkey", "report_receipt", type_="primary")
        op.create_primary_key("report_receipt_pkey", "report_receipt", ["digest"])
        return
    op.rename_table("report_receipt", "report_receipt_before")
    op.create_table(
        "report_receipt",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("day", sa.Date, nullable=False),
        sqlite_with_rowid=False,
    )
    op.execute("INSERT INTO report_receipt (digest, day) SELECT digest, day FROM report_receipt_before")
    op.drop_table("report_receipt_before")


def downgrade() -> None:
    """Refuse, as for every version."""
    raise DataError("no migration goes back; restore a copy of the database instead")
