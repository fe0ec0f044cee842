"""The tables of the store, for SQLite and PostgreSQL alike; a case base may stand beside them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    Dialect,
    ForeignKey,
    Index,
    String,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

#: Raised with every change that an older diagnose would misread; versions/ has a revision for each.
VERSION = 3

Table = dict[str, Any]


class Text(TypeDecorator[str]):
    """Any text: what a database has no room for, NUL and halves of a character, is replaced."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The text as it is written, and as it is compared."""
        if value is None:
            return None
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


class Base(DeclarativeBase):
    """Declarative base: maps dicts to JSON. Times are seconds since 1970."""

    type_annotation_map = {Table: JSON, str: Text}  # noqa: RUF012


class MetaRow(Base):
    """Facts about the store itself: its schema version."""

    __tablename__ = "memory_meta"
    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class GroupRow(Base):
    """One failure, however often it was reported. ``facts`` are of its first report: the key's, and what is
    shown of it. Counts are kept here, so that a list of groups counts nothing. ``merged`` names the group
    that this one has become part of."""

    __tablename__ = "memory_group"
    id: Mapped[str] = mapped_column(primary_key=True)
    cause: Mapped[str | None] = mapped_column(index=True)
    facts: Mapped[Table]
    words: Mapped[str]
    count: Mapped[int] = mapped_column(default=0)
    first: Mapped[int]
    last: Mapped[int]
    status: Mapped[str] = mapped_column(default="open")
    fixed_in: Mapped[str | None]
    merged: Mapped[str | None] = mapped_column(ForeignKey("memory_group.id"))
    __table_args__ = (
        # Lists, the latest first: of all, and of one status.
        Index("memory_group_latest", "merged", "last", "id"),
        Index("memory_group_by_status", "merged", "status", "last", "id"),
    )


class KeyRow(Base):
    """Which group a key belongs to; ``version`` is of the function that made the key."""

    __tablename__ = "memory_key"
    digest: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    group: Mapped[str] = mapped_column("group_id", ForeignKey("memory_group.id"), index=True)


class ReportRow(Base):
    """One input that was diagnosed, redacted. ``input`` is packed: text, files and replies; ``expires`` is
    None for those that are kept. A ``job`` is reported once, whatever the number of its ranks."""

    __tablename__ = "memory_report"
    id: Mapped[str] = mapped_column(primary_key=True)
    group: Mapped[str | None] = mapped_column("group_id", ForeignKey("memory_group.id"))
    received: Mapped[int]
    expires: Mapped[int | None] = mapped_column(index=True)
    key: Mapped[str | None]
    exact: Mapped[str | None]
    message: Mapped[str | None]
    job: Mapped[str | None]
    host: Mapped[str | None]
    versions: Mapped[Table]
    removed: Mapped[Table]
    input: Mapped[bytes]
    __table_args__ = (
        UniqueConstraint("group_id", "job"),
        Index("memory_report_latest", "group_id", "received", "id"),
        Index("memory_report_variant", "group_id", "exact"),
    )


class RankRow(Base):
    """A rank that a report is of."""

    __tablename__ = "memory_rank"
    report: Mapped[str] = mapped_column(
        "report_id", ForeignKey("memory_report.id", ondelete="CASCADE"), primary_key=True
    )
    rank: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class TallyRow(Base):
    """How many reports of a failure have a value of a fact, counted as they come: no page counts reports,
    and the count stays when they are evicted. ``fact`` is one of `diagnose.memory.tallies.Fact`; ``first``
    is when the value was first met, ``said`` a message that shows it."""

    __tablename__ = "memory_tally"
    group: Mapped[str] = mapped_column("group_id", ForeignKey("memory_group.id"), primary_key=True)
    fact: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int]
    first: Mapped[int]
    said: Mapped[str | None]


class FixRow(Base):
    """What fixed a failure, in one person's words."""

    __tablename__ = "memory_fix"
    id: Mapped[str] = mapped_column(primary_key=True)
    group: Mapped[str] = mapped_column("group_id", ForeignKey("memory_group.id"), index=True)
    text: Mapped[str]
    author: Mapped[str]
    at: Mapped[int]
    revision: Mapped[str | None]
    link: Mapped[str | None]
    cause: Mapped[str | None]


class OutcomeRow(Base):
    """What came of a fix when somebody tried it: worked as written, changed, failed."""

    __tablename__ = "memory_outcome"
    id: Mapped[str] = mapped_column(primary_key=True)
    fix: Mapped[str] = mapped_column(
        "fix_id", ForeignKey("memory_fix.id", ondelete="CASCADE"), index=True
    )
    outcome: Mapped[str]
    author: Mapped[str]
    at: Mapped[int]


class TokenRow(Base):
    """Who may write: the digest of a token, never the token itself."""

    __tablename__ = "memory_token"
    id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    scopes: Mapped[str]
    created: Mapped[int]
    expires: Mapped[int | None]


class ChangeRow(Base):
    """What somebody has changed by hand, for good: ids, which may be of what has gone, and no text of a
    report. ``kind`` is one of `diagnose.memory.records.What`, which says what ``subject``, ``other`` and
    ``details`` are."""

    __tablename__ = "memory_change"
    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    subject: Mapped[str] = mapped_column(index=True)
    other: Mapped[str | None] = mapped_column(index=True)
    details: Mapped[Table]
    author: Mapped[str]
    at: Mapped[int]
    __table_args__ = (Index("memory_change_latest", "at", "id"),)


class HitRow(Base):
    """How many requests were counted under a name in a window of time that ends at ``until``."""

    __tablename__ = "memory_hit"
    name: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int]
    until: Mapped[int] = mapped_column(index=True)
