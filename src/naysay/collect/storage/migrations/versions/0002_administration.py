"""Password, sessions, tokens, log, drafts and dates of those who run surveys."""

import sqlalchemy as sa
from alembic import op

from naysay.errors import DataError

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Seven tables; those of surveys and replies stay as they are."""
    op.create_table(
        "admin_account",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("password", sa.String(255)),
        sa.Column("setup", sa.String(64)),
        sa.Column("setup_until", sa.BigInteger),
        sa.Column("totp", sa.String(64)),
        sa.Column("totp_step", sa.BigInteger),
    )
    op.create_table(
        "admin_session",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("began", sa.BigInteger, nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "admin_token",
        sa.Column("id", sa.String(8), primary_key=True),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("scopes", sa.String(255), nullable=False),
        sa.Column("survey", sa.String(64)),
        sa.Column("made", sa.Date, nullable=False),
        sa.Column("expires", sa.Date),
        sa.Column("used", sa.Date),
    )
    op.create_table(
        "admin_log",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("who", sa.String(80), nullable=False),
        sa.Column("what", sa.String(40), nullable=False),
        sa.Column("about", sa.String(64)),
        sa.Column("detail", sa.Text),
    )
    op.create_table(
        "admin_draft",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("key", sa.String(32), nullable=False, unique=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("made", sa.Date, nullable=False),
    )
    op.create_table(
        "admin_plan",
        sa.Column("survey", sa.String(64), primary_key=True),
        sa.Column("opens", sa.Date),
        sa.Column("closes", sa.Date),
        sa.Column("keeps", sa.Date),
    )
    op.create_table(
        "admin_deletion",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("receipt", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Refuse: the log must not vanish."""
    raise DataError("no migration deletes the log of what was done; restore a backup of the earlier version")
