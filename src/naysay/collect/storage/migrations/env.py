"""Run by Alembic: migrations on the connection that the store holds."""

from alembic import context

from naysay.collect.storage.tables import metadata

if __name__ == "env_py":  # the name under which Alembic runs this file; to be imported it does nothing
    context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
    context.run_migrations()
