"""Schema version 9: what calls of libraries do and what repairs say are recorded; publishing writes it."""

from __future__ import annotations

revision = "9"
down_revision = "8"


def upgrade() -> None:
    """No table changes: `diagnose kb publish` writes the records."""
