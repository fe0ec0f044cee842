"""The tables of the case base, for SQLite and PostgreSQL alike.

What is queried or joined has a table; short ordered lists of strings (devices, frames, literals) are
JSON columns, since nothing ever asks for one element of them. The full-text index over the incidents
is each database's own (FTS5; a tsvector with GIN): it hangs on the table as DDL and follows its rows.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import DDL, JSON, ForeignKey, event
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

#: Raised with every change that an older reader would misread.
VERSION = 10

#: Named, because SQLAlchemy before 2.0.31 cannot read a generic type of several arguments from a string.
Strings = list[str]
Table = dict[str, Any]


def _references(column: str) -> ForeignKey:
    """A foreign key that is checked at the end of a transaction, so that rows can be replaced."""
    return ForeignKey(column, deferrable=True, initially="DEFERRED")


class Base(DeclarativeBase):
    """Declarative base: maps lists and dicts to JSON."""

    type_annotation_map = {Strings: JSON, Table: JSON}  # noqa: RUF012


class MetaRow(Base):
    """Facts about the case base itself: schema version, the digest of kb/ it was built from, and a
    revision that rises with every change of the incidents."""

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
    data: Mapped[Table]


class TextRow(Base):
    """A short text that is looked up by kind, id and language: facts and fixes."""

    __tablename__ = "text"
    kind: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    lang: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]


class SnippetRow(Base):
    """A part of the verification snippets and programs (kb/verification)."""

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
    edits: Mapped[str]
    weights: Mapped[Table]
    example: Mapped[str]


class CauseTextRow(Base):
    """A root cause in one language; ``rather`` maps a neighbouring cause to what would show it."""

    __tablename__ = "cause_text"
    cause_id: Mapped[str] = mapped_column(_references("cause.id"), primary_key=True)
    lang: Mapped[str] = mapped_column(primary_key=True)
    title: Mapped[str]
    why: Mapped[str]
    tell: Mapped[str]
    rather: Mapped[Table]


class CauseFixRow(Base):
    """One fix of a cause, with an example of the changed code and its sentence in each language."""

    __tablename__ = "cause_fix"
    cause_id: Mapped[str] = mapped_column(_references("cause.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    before: Mapped[str | None]
    after: Mapped[str | None]
    command: Mapped[str | None]
    titles: Mapped[Table]


class IncidentRow(Base):
    """A documented incident, without its texts."""

    __tablename__ = "incident"
    position: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(unique=True)
    cause_id: Mapped[str] = mapped_column(_references("cause.id"), index=True)
    exception: Mapped[str | None]
    message: Mapped[str]
    op: Mapped[str | None]
    argument: Mapped[str | None]
    devices: Mapped[Strings]
    libraries: Mapped[Strings]
    frames: Mapped[Strings]
    fixes: Mapped[Strings]
    versions: Mapped[Table]
    gpus: Mapped[int]
    reproduce: Mapped[str]
    #: Frames, message and libraries of the traceback that ``reproduce`` printed; empty without one.
    recorded: Mapped[Table] = mapped_column(default=dict)
    #: What no source shows, each with how it was inferred.
    inferred: Mapped[Strings] = mapped_column(default=list)


class IncidentTextRow(Base):
    """A documented incident in one language."""

    __tablename__ = "incident_text"
    incident_id: Mapped[str] = mapped_column(_references("incident.id"), primary_key=True)
    lang: Mapped[str] = mapped_column(primary_key=True)
    title: Mapped[str]
    saw: Mapped[str]
    was: Mapped[str]
    mended: Mapped[str]


class IncidentSourceRow(Base):
    """An address that supports facts of an incident."""

    __tablename__ = "incident_source"
    incident_id: Mapped[str] = mapped_column(_references("incident.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    url: Mapped[str]
    supports: Mapped[str]


class IncidentReleaseRow(Base):
    """The releases of a library that have the bug of an incident."""

    __tablename__ = "incident_release"
    incident_id: Mapped[str] = mapped_column(_references("incident.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    library: Mapped[str]
    bad: Mapped[str]
    fixed: Mapped[str | None]
    change: Mapped[str | None]


class SignatureRow(Base):
    """What of an incident is compared with a report (`diagnose.casebase.signature`): narrow, so that
    many are read at once. ``recorded_...`` are of the traceback that its program printed, empty where
    there is none. Words and names are separated by spaces; ``terms`` is what the full-text
    index holds of the incident."""

    __tablename__ = "incident_signature"
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    incident_id: Mapped[str] = mapped_column(_references("incident.id"), unique=True)
    cause_id: Mapped[str]
    url: Mapped[str]
    frames: Mapped[str]
    message: Mapped[str]
    libraries: Mapped[str]
    recorded_frames: Mapped[str]
    recorded_message: Mapped[str]
    recorded_libraries: Mapped[str]
    terms: Mapped[str]


class TermRow(Base):
    """In how many incidents a term stands; rare terms are what candidates are looked up by."""

    __tablename__ = "incident_term"
    term: Mapped[str] = mapped_column(primary_key=True)
    documents: Mapped[int]


# Terms hold letters, digits and _.:- only; they are in lower case before they come here.
_INDEX = {
    "sqlite": (
        "CREATE VIRTUAL TABLE incident_index USING fts5("
        "terms, content='', detail=none, columnsize=0, tokenize=\"ascii tokenchars '_.:-'\")",
        "CREATE TRIGGER incident_index_insert AFTER INSERT ON incident_signature BEGIN"
        " INSERT INTO incident_index (rowid, terms) VALUES (new.position, new.terms); END",
        "CREATE TRIGGER incident_index_delete AFTER DELETE ON incident_signature BEGIN"
        " INSERT INTO incident_index (incident_index, rowid, terms)"
        " VALUES ('delete', old.position, old.terms); END",
    ),
    "postgresql": (
        "ALTER TABLE incident_signature ADD COLUMN lexemes tsvector NOT NULL"
        " GENERATED ALWAYS AS (array_to_tsvector(string_to_array(terms, ' '))) STORED",
        # fastupdate would collect new entries in a list that every look-up goes through.
        "CREATE INDEX incident_signature_lexemes ON incident_signature USING gin (lexemes)"
        " WITH (fastupdate = off)",
    ),
}
for _dialect, _statements in _INDEX.items():
    for _statement in _statements:
        _ddl = DDL(_statement)  # type: ignore[no-untyped-call]
        event.listen(SignatureRow.__table__, "after_create", _ddl.execute_if(dialect=_dialect))
