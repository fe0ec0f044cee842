"""A database opened to be written: the kinds that can be, their schema version, one writer at a time."""

from __future__ import annotations

from sqlalchemy import Engine, create_engine, inspect, make_url, text
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import Session

from diagnose.casebase import schema
from diagnose.casebase.connection import CasebaseError, displayed
from diagnose.compiling.migrations import OLDEST, migrate


def engine_of(url: str) -> Engine:
    """An engine for the kinds of database that a case base can be read from."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise CasebaseError(f"{displayed(url)} is no database URL") from error
    if parsed.drivername == "postgresql":  # SQLAlchemy would look for psycopg2
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in {"sqlite", "postgresql+psycopg"}:
        raise CasebaseError(
            f"{displayed(url)} is no case base: sqlite:///FILE or postgresql://... is wanted"
        )
    return create_engine(parsed)


def version_of(engine: Engine) -> str | None:
    """The schema version of a database; None where no case base was written yet."""
    if not inspect(engine).has_table(schema.MetaRow.__tablename__):
        return None
    with Session(engine) as session:
        found = session.get(schema.MetaRow, "schema")
        return found.value if found else None


def begin(session: Session, url: str, *, migrating: bool) -> None:
    """Raises the revision, which makes other writers wait, and brings the schema to today's version."""
    session.execute(
        text(
            "INSERT INTO meta (key, value) VALUES ('revision', '1') ON CONFLICT (key) DO UPDATE"
            " SET value = CAST(CAST(meta.value AS integer) + 1 AS varchar)"
        )
    )
    version = session.get(schema.MetaRow, "schema")
    if version is None or version.value == str(schema.VERSION):
        return
    older = version.value.isdecimal() and OLDEST <= int(version.value) < schema.VERSION
    if not older or not migrating:
        raise CasebaseError(
            f"the case base {displayed(url)} holds schema version {version.value}, this diagnose writes "
            f"version {schema.VERSION}" + ("; `diagnose kb publish` migrates it" if older else "")
        )
    migrate(session.connection(), int(version.value))
