"""Schema version 2 of the store: what of a failure's reports is counted, and indexes for lists."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter

import sqlalchemy as sa
from alembic import op

from diagnose.memory.tallies import Counted, tallies

revision = "2"
down_revision = "1"
#: Index of version 1 -> its table; index of today -> its table and columns.
_OLD = {
    "ix_memory_group_last": "memory_group",
    "memory_report_of_group": "memory_report",
    "memory_report_variants": "memory_report",
    "memory_report_hosts": "memory_report",
}
_NEW: Mapping[str, tuple[str, list[str]]] = {
    "memory_group_latest": ("memory_group", ["merged", "last", "id"]),
    "memory_group_by_status": ("memory_group", ["merged", "status", "last", "id"]),
    "memory_report_latest": ("memory_report", ["group_id", "received", "id"]),
    "memory_report_variant": ("memory_report", ["group_id", "exact"]),
}


def upgrade() -> None:
    """Makes the table, counts what is there, and changes the indexes."""
    text, number = sa.String(), sa.Integer()
    tally = op.create_table(
        "memory_tally",
        sa.Column("group_id", text, sa.ForeignKey("memory_group.id"), primary_key=True),
        sa.Column("fact", text, primary_key=True),
        sa.Column("value", text, primary_key=True),
        sa.Column("count", number, nullable=False),
        sa.Column("first", number, nullable=False),
        sa.Column("said", text),
    )
    for name, table in _OLD.items():
        op.drop_index(name, table)
    for name, (table, columns) in _NEW.items():
        op.create_index(name, table, columns)
    report = sa.table(
        "memory_report",
        *map(sa.column, ("group_id", "received", "host")),
        sa.column("versions", sa.JSON()),
        *map(sa.column, ("exact", "message")),
    )
    reports = sa.select(report).where(report.c.group_id.is_not(None)).order_by(report.c.group_id)
    for group, rows in groupby(op.get_bind().execute(reports), itemgetter(0)):
        counted = tallies(Counted(*row[1:]) for row in rows)
        op.bulk_insert(tally, [{"group_id": group, **one._asdict()} for one in counted])
