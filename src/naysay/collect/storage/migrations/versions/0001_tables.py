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
