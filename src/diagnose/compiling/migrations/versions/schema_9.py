"""Schema version 9: what calls of libraries do and what a repair says are recorded; publishing writes them."""

from __future__ import annotations

revision = "9"
down_revision = "8"


def upgrade() -> None:
    """No table changes: `diagnose cases publish` writes the records."""
