"""Run by Alembic: migrations on the connection that the store holds."""

from alembic import context

from naysay.collect.storage.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
