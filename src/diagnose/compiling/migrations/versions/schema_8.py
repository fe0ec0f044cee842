"""Schema version 8: the releases of libraries that have the bug of an incident are a table; libraries are
recorded with what logs call them, which publishing writes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "8"
down_revision = "7"


def upgrade() -> None:
    """Makes the table; a team's own incidents have none."""
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
