"""Schema version 8: the releases of libraries that have the bug of an incident are a table, what was
inferred of an incident is a column; libraries are recorded with what logs call them, which publishing
writes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "8"
down_revision = "7"


def upgrade() -> None:
    """Makes the table and the column; a team's own incidents have nothing there."""
    op.add_column("incident", sa.Column("inferred", sa.JSON(), nullable=False, server_default="[]"))
    op.create_table(
        "incident_release",
        sa.Column(
            "incident_id",
            sa.String(),
            sa.ForeignKey("incident.id", deferrable=True, initially="DEFERRED"),
            primary_key=True,
        ),
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("library", sa.String(), nullable=False),
        sa.Column("bad", sa.String(), nullable=False),
        sa.Column("fixed", sa.String()),
        sa.Column("change", sa.String()),
    )
