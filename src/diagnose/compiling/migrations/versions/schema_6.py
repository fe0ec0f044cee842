"""Schema version 6: the same tables. The names of torch (kb/torch.toml) are a record of their own, without
which a reader would see less in a line; publishing writes it."""

from __future__ import annotations

revision = "6"
down_revision = "5"


def upgrade() -> None:
    """Nothing of a team's own changes."""
