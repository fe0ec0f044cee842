"""A store opened: its tables, made or brought to today's version, and its transactions."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event, inspect
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from diagnose.casebase.connection import CasebaseError, displayed, engine_of
from diagnose.memory import lookup, schema
from diagnose.memory.lookup import StoreError
from diagnose.memory.records import What
from diagnose.memory.redaction import Redacted
from diagnose.migrating import migrate

#: Seconds that a writer waits for his turn.
_BUSY = 30
#: The longest name that anybody gives.
NAME = 200
Redact = Callable[[str], Redacted]


class Transactions:
    """A store at a path or database URL, in which each method is one transaction.

    Args:
        where: its location.
        redact: takes out of a text what nobody else may read.
        now: the clock, in seconds since 1970.

    Raises:
        StoreError: it cannot be opened, or holds a schema version that there is no way from.
    """

    def __init__(self, where: str, redact: Redact, now: Callable[[], float] = time.time) -> None:
        self.where = where
        self._redact = redact
        self._now: Callable[[], int] = lambda: int(now())
        self._url = lookup.url(where)
        try:
            if self._url.startswith("sqlite:///"):
                Path(self._url.removeprefix("sqlite:///")).parent.mkdir(
                    mode=0o700, parents=True, exist_ok=True
                )
            self._engine = _prepared(engine_of(self._url))
            self._upgrade()
        except CasebaseError as error:
            raise StoreError(f"the store {displayed(where)} cannot be opened: {error}") from error
        except (SQLAlchemyError, ImportError, OSError) as error:
            raise StoreError(
                f"the store {displayed(where)} cannot be opened: {_reason(error)}"
            ) from error

    @property
    def shown(self) -> str:
        """Its location as it may be shown: without a password."""
        return displayed(self.where)

    def close(self) -> None:
        """Gives its connections back; a forked process opens its own."""
        self._engine.dispose()

    def ready(self) -> None:
        """Raises `StoreError` where it cannot be read."""
        with self._reading() as session:
            session.get(schema.MetaRow, "schema")

    def _log(
        self,
        session: Session,
        what: What,
        by: str,
        subject: str = "",
        other: str | None = None,
        **details: object,
    ) -> None:
        """Writes down who changes what, in the transaction that changes it."""
        row = {"kind": what, "subject": subject, "other": other, "details": details}
        id = f"{time.time_ns():x}{secrets.token_hex(4)}"  # those of one second are in order, too
        session.add(schema.ChangeRow(id=id, at=self._now(), author=by[:NAME], **row))

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        with self._session() as session, session.begin():
            session.connection(execution_options={"writes": True})
            yield session

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        with self._session() as session, session.begin():
            yield session

    @contextmanager
    def _session(self) -> Iterator[Session]:
        try:
            with Session(self._engine) as session:
                yield session
        except (SQLAlchemyError, CasebaseError) as error:
            raise StoreError(
                f"the store {displayed(self.where)} cannot be used: {_reason(error)}"
            ) from error

    def _upgrade(self) -> None:
        """Makes the tables, or brings those of an older version to today's."""
        if not inspect(self._engine).has_table(schema.MetaRow.__tablename__):
            schema.Base.metadata.create_all(self._engine)
        with Session(self._engine) as session, session.begin():
            connection = session.connection(execution_options={"writes": True})
            row = session.get(schema.MetaRow, "schema")
            if row is None:
                session.add(schema.MetaRow(key="schema", value=str(schema.VERSION)))
            elif row.value != str(schema.VERSION):
                if not row.value.isdecimal() or int(row.value) > schema.VERSION:
                    raise StoreError(
                        f"the store {displayed(self.where)} holds schema version {row.value}, this "
                        f"diagnose writes version {schema.VERSION}"
                    )
                migrate(connection, Path(__file__).with_name("versions"), int(row.value))
                session.merge(schema.MetaRow(key="schema", value=str(schema.VERSION)))


def _prepared(engine: Engine) -> Engine:
    """A writer waits for his turn, not for ever; SQLite has one at a time, and readers who never wait."""
    busy = int(_BUSY * 1000)
    if engine.url.get_backend_name() != "sqlite":

        @event.listens_for(engine, "connect")
        def waits(connection: Any, _: Any) -> None:
            connection.execute(f"SET lock_timeout = {busy}")
            connection.commit()

        return engine

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin below
        connection.execute(f"PRAGMA busy_timeout = {busy}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begun(connection: Any) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _reason(error: BaseException) -> str:
    return str(getattr(error, "orig", None) or error).strip()
