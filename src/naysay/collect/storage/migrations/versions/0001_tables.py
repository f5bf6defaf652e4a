"""All tables, as `naysay.collect.storage.tables` describes them."""

from alembic import op

from naysay.collect.storage.tables import metadata

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The tables of the first version.

    No database of it is released yet, so it follows what `tables` says. A version that changes the tables of released
    databases must first write them out here, as they are now: ``tests/collect/first_version.sql`` holds them.
    """
    metadata.create_all(op.get_bind())
    if op.get_bind().dialect.name == "postgresql":  # its statistics would keep answers that are deleted
        for table, column in (("reply", "answers"), ("tally", "cell")):
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0")
