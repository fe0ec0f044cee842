"""The tables of the case base, for SQLite and PostgreSQL alike.

What is queried or joined has a table; short ordered lists of strings (devices, frames, literals) are
JSON columns, since nothing ever asks for one element of them.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

#: Raised with every change that an older reader would misread.
VERSION = 1

Strings = list[str]


class Base(DeclarativeBase):
    """Declarative base: maps lists and dicts to JSON."""

    type_annotation_map = {list[str]: JSON, dict[str, Any]: JSON}  # noqa: RUF012


class MetaRow(Base):
    """Facts about the file itself: schema version and the digest of kb/ it was built from."""

    __tablename__ = "meta"
    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class RecordRow(Base):
    """Reference data that is always read whole, in the order of its file: wordings, libraries,
    families, operands and fact rules, each the JSON form of its value object in `diagnose.model`."""

    __tablename__ = "record"
    kind: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str]
    data: Mapped[dict[str, Any]]


class TextRow(Base):
    """A short text that is looked up by kind, id and language: facts and fixes."""

    __tablename__ = "text"
    kind: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    lang: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]


class SnippetRow(Base):
    """A part of the verification programs (kb/verification/*.py)."""

    __tablename__ = "snippet"
    name: Mapped[str] = mapped_column(primary_key=True)
    source: Mapped[str]


class CauseRow(Base):
    """A root cause, without its texts."""

    __tablename__ = "cause"
    position: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(unique=True)
    prior: Mapped[float]
    gpus: Mapped[int]
    checks: Mapped[Strings]
    weights: Mapped[dict[str, Any]]
    example: Mapped[str]


class CauseTextRow(Base):
    """A root cause in one language; ``rather`` maps a neighbouring cause to what would show it."""

    __tablename__ = "cause_text"
    cause_id: Mapped[str] = mapped_column(ForeignKey("cause.id"), primary_key=True)
    lang: Mapped[str] = mapped_column(primary_key=True)
    title: Mapped[str]
    why: Mapped[str]
    tell: Mapped[str]
    rather: Mapped[dict[str, Any]]


class CauseFixRow(Base):
    """One fix of a cause, with an example of the changed code and its sentence in each language."""

    __tablename__ = "cause_fix"
    cause_id: Mapped[str] = mapped_column(ForeignKey("cause.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    before: Mapped[str | None]
    after: Mapped[str | None]
    command: Mapped[str | None]
    titles: Mapped[dict[str, Any]]


class IncidentRow(Base):
    """A documented incident, without its texts."""

    __tablename__ = "incident"
    position: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(unique=True)
    cause_id: Mapped[str] = mapped_column(ForeignKey("cause.id"), index=True)
    exception: Mapped[str | None]
    message: Mapped[str]
    op: Mapped[str | None]
    argument: Mapped[str | None]
    devices: Mapped[Strings]
    libraries: Mapped[Strings]
    frames: Mapped[Strings]
    fixes: Mapped[Strings]
    versions: Mapped[dict[str, Any]]
    gpus: Mapped[int]
    reproduce: Mapped[str]


class IncidentTextRow(Base):
    """A documented incident in one language."""

    __tablename__ = "incident_text"
    incident_id: Mapped[str] = mapped_column(ForeignKey("incident.id"), primary_key=True)
    lang: Mapped[str] = mapped_column(primary_key=True)
    title: Mapped[str]
    saw: Mapped[str]
    was: Mapped[str]
    mended: Mapped[str]


class IncidentSourceRow(Base):
    """An address that supports facts of an incident."""

    __tablename__ = "incident_source"
    incident_id: Mapped[str] = mapped_column(ForeignKey("incident.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    url: Mapped[str]
    supports: Mapped[str]
