"""Schema version 5: the same tables. Rules name what a wording says, which an older reader would misread;
publishing writes them whole."""

from __future__ import annotations

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """Nothing of a team's own changes."""
