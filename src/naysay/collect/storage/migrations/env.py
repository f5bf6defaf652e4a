"""Run by Alembic: migrations on the connection that the store holds."""

from alembic import context

from naysay.collect.storage.tables import metadata

if __name__ == "env_py":  # Alembic runs this file under that name; a plain import does nothing
    context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
    context.run_migrations()
