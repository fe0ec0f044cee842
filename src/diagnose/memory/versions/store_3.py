"""Schema version 3 of the store: all changes by hand in one table, and counts of requests."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Makes the tables; merges and splits move into the first."""
    text, number = sa.String(), sa.Integer()
    change = op.create_table(
        "memory_change",
        sa.Column("id", text, primary_key=True),
        sa.Column("kind", text, nullable=False),
        sa.Column("subject", text, nullable=False, index=True),
        sa.Column("other", text, index=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("author", text, nullable=False),
        sa.Column("at", number, nullable=False),
    )
    op.create_index("memory_change_latest", "memory_change", ["at", "id"])
    old = ("id", "kind", "kept", "other", "agreed", "author", "at")
    merges = sa.table("memory_merge", *map(sa.column, old))
    op.get_bind().execute(change.insert().from_select(change.c.keys(), sa.select(merges)))
    op.drop_table("memory_merge")
    op.create_table(
        "memory_hit",
        sa.Column("name", text, primary_key=True),
        sa.Column("count", number, nullable=False),
        sa.Column("until", number, nullable=False, index=True),
    )
