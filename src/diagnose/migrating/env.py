"""What Alembic runs around revisions: they use the connection, and the transaction, that they are given."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
