"""Schema version 1 of the store: reports, failures and their keys, what fixed them, merges by hand."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    """Makes the tables."""
    _reports(sa.String(), sa.Integer())
    _what_people_wrote(sa.String(), sa.Integer())


def _reports(text: sa.String, number: sa.Integer) -> None:
    op.create_table(
        "memory_meta",
        sa.Column("key", text, primary_key=True),
        sa.Column("value", text, nullable=False),
    )
    op.create_table(
        "memory_group",
        sa.Column("id", text, primary_key=True),
        sa.Column("cause", text, index=True),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("words", text, nullable=False),
        sa.Column("count", number, nullable=False),
        sa.Column("first", number, nullable=False),
        sa.Column("last", number, nullable=False, index=True),
        sa.Column("status", text, nullable=False),
        sa.Column("fixed_in", text),
        sa.Column("merged", text, sa.ForeignKey("memory_group.id")),
    )
    op.create_table(
        "memory_key",
        sa.Column("digest", text, primary_key=True),
        sa.Column("version", number, primary_key=True),
        _group(),
    )
    op.create_table(
        "memory_report",
        sa.Column("id", text, primary_key=True),
        sa.Column("group_id", text, sa.ForeignKey("memory_group.id")),
        sa.Column("received", number, nullable=False),
        sa.Column("expires", number, index=True),
        sa.Column("key", text),
        sa.Column("exact", text),
        sa.Column("message", text),
        sa.Column("job", text),
        sa.Column("host", text),
        sa.Column("versions", sa.JSON(), nullable=False),
        sa.Column("removed", sa.JSON(), nullable=False),
        sa.Column("input", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("group_id", "job"),
    )
    for name, columns in (
        ("of_group", ["received"]),
        ("variants", ["exact", "message"]),
        ("hosts", ["host", "received"]),
    ):
        op.create_index(f"memory_report_{name}", "memory_report", ["group_id", *columns])
    op.create_table(
        "memory_rank",
        sa.Column("report_id", text, _of("memory_report"), primary_key=True),
        sa.Column("rank", number, primary_key=True),
    )


def _what_people_wrote(text: sa.String, number: sa.Integer) -> None:
    op.create_table(
        "memory_fix",
        sa.Column("id", text, primary_key=True),
        _group(),
        sa.Column("text", text, nullable=False),
        sa.Column("author", text, nullable=False),
        sa.Column("at", number, nullable=False),
        sa.Column("revision", text),
        sa.Column("link", text),
        sa.Column("cause", text),
    )
    op.create_table(
        "memory_outcome",
        sa.Column("id", text, primary_key=True),
        sa.Column("fix_id", text, _of("memory_fix"), nullable=False, index=True),
        sa.Column("outcome", text, nullable=False),
        sa.Column("author", text, nullable=False),
        sa.Column("at", number, nullable=False),
    )
    op.create_table(
        "memory_token",
        sa.Column("id", text, primary_key=True),
        sa.Column("digest", text, nullable=False, unique=True),
        sa.Column("name", text, nullable=False),
        sa.Column("scopes", text, nullable=False),
        sa.Column("created", number, nullable=False),
        sa.Column("expires", number),
    )
    op.create_table(
        "memory_merge",
        sa.Column("id", text, primary_key=True),
        sa.Column("kind", text, nullable=False),
        sa.Column("kept", text, sa.ForeignKey("memory_group.id"), nullable=False, index=True),
        sa.Column("other", text, sa.ForeignKey("memory_group.id"), nullable=False, index=True),
        sa.Column("agreed", sa.JSON(), nullable=False),
        sa.Column("author", text, nullable=False),
        sa.Column("at", number, nullable=False),
    )


def _group() -> sa.Column[str]:
    key = sa.ForeignKey("memory_group.id")
    return sa.Column("group_id", sa.String(), key, nullable=False, index=True)


def _of(table: str) -> sa.ForeignKey:
    return sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
