"""Schema version 7: the same tables. The names of torch hold what the analysis of whole files knows of
torch and its libraries, without which it would see less; publishing writes it."""

from __future__ import annotations

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """Nothing of a team's own changes."""
