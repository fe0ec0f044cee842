"""Schema version 10: what is redacted is recorded; publishing writes it."""

from __future__ import annotations

revision = "10"
down_revision = "9"


def upgrade() -> None:
    """No table changes: `diagnose kb publish` writes the records."""
