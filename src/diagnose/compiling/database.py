"""A database opened to be written: the kinds that can be, their schema version, one writer at a time."""

from __future__ import annotations

from sqlalchemy import Engine, inspect, text
from sqlalchemy.orm import Session

from diagnose.casebase import schema
from diagnose.casebase.connection import CasebaseError, displayed
from diagnose.compiling.migrations import OLDEST, VERSIONS
from diagnose.migrating import migrate


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
    migrate(session.connection(), VERSIONS, int(version.value))
