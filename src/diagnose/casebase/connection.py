"""Read-only access to a case base: the compiled file through sqlite3, a team's database by its URL.

Importing SQLAlchemy takes longer than a whole diagnosis, hence sqlite3 for every SQLite file. Both
doors take the same SQL with named parameters and may be shared by threads; a forked process opens its
own connection.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from diagnose.errors import DiagnoseError

if TYPE_CHECKING:
    from sqlalchemy import Engine

Row = tuple[Any, ...]

#: Sessions cannot write, and no query is long enough to be worth compiling or sharing out.
_SESSION = "-c default_transaction_read_only=on -c jit=off -c max_parallel_workers_per_gather=0"


class CasebaseError(DiagnoseError):
    """The case base cannot be used; the message says why and what to do."""


class Database(Protocol):
    """Somewhere a case base stands; equal ones share a connection."""

    @property
    def dialect(self) -> str:
        """``sqlite`` or ``postgresql``."""
        ...

    @property
    def immutable(self) -> bool:
        """Whether nobody changes it while it is read."""
        ...

    def rows(self, sql: str, /, **values: Any) -> list[Row]:
        """The rows of a query. Raises `CasebaseError` where it fails."""
        ...


class SqliteFile(NamedTuple):
    """An SQLite file. An ``immutable`` one is never locked, so that it opens on read-only and network
    file systems too; ``stamp`` tells it from a later file of the same name."""

    path: Path
    immutable: bool
    stamp: tuple[int, ...] = ()

    @property
    def dialect(self) -> str:
        """The name that SQLAlchemy gives this kind of database."""
        return "sqlite"

    def rows(self, sql: str, /, **values: Any) -> list[Row]:
        """The rows of a query; JSON columns as text."""
        try:
            lock, connection = _sqlite(self, os.getpid())
            with lock:
                return connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise CasebaseError(f"the case base {self.path} cannot be read: {error}") from error


class PostgresqlDatabase(NamedTuple):
    """A PostgreSQL database, by its SQLAlchemy URL; every transaction is read-only."""

    url: str

    @property
    def dialect(self) -> str:
        """The name that SQLAlchemy gives this kind of database."""
        return "postgresql"

    @property
    def immutable(self) -> bool:
        """A server's database may change at any time."""
        return False

    def rows(self, sql: str, /, **values: Any) -> list[Row]:
        """The rows of a query; JSON columns as objects."""
        from sqlalchemy import text
        from sqlalchemy.exc import SQLAlchemyError

        try:
            with _engine(self.url, os.getpid()).connect() as connection:
                return [tuple(row) for row in connection.execute(text(sql), values)]
        except (SQLAlchemyError, ImportError) as error:
            reason = getattr(error, "orig", None) or error
            raise CasebaseError(
                f"the case base {displayed(self.url)} cannot be read: {reason}"
            ) from error


def is_url(location: Path | str) -> bool:
    """Whether a location is a database URL rather than a path."""
    return isinstance(location, str) and "://" in location


def displayed(location: Path | str) -> str:
    """A location as it may be shown: without the password of a URL."""
    if not is_url(location):
        return str(location)
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    with suppress(ArgumentError):
        return make_url(str(location)).render_as_string(hide_password=True)
    return f"{str(location).partition(':')[0]}://..."


def connect(location: Path | str) -> Database:
    """The database at a path or URL; nothing is opened yet.

    Raises:
        CasebaseError: there is no such file, or the URL is of another kind of database.
    """
    if not is_url(location):
        return _file(Path(location), immutable=True)
    url = str(location)
    if url.startswith("sqlite:///"):
        # A team's file changes while it is read: it is locked as SQLite wants, and has no stamp.
        return _file(Path(url.removeprefix("sqlite:///")), immutable=False)
    if url.startswith(("postgresql://", "postgresql+psycopg://")):
        # Plain `postgresql:` would make SQLAlchemy look for psycopg2.
        return PostgresqlDatabase(f"postgresql+psycopg://{url.partition('://')[2]}")
    raise CasebaseError(
        f"{displayed(url)} is no case base: a path, sqlite:///FILE or postgresql://... is wanted"
    )


def engine_of(url: str) -> Engine:
    """An engine that writes to a database, of the kinds that can be read.

    Raises:
        CasebaseError: the URL is none, or of another kind of database.
    """
    from sqlalchemy import create_engine, make_url
    from sqlalchemy.exc import ArgumentError

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
    return create_engine(parsed, pool_pre_ping=True)  # a server may have been started anew


def decoded(value: Any) -> Any:
    """A JSON column's value, whether the driver decodes it or not."""
    return json.loads(value) if isinstance(value, str) else value


def decoded_all(values: Sequence[Any]) -> list[Any]:
    """The values of one JSON column, decoded in one go, which takes half the time."""
    if all(isinstance(value, str) for value in values):
        return cast("list[Any]", json.loads(f"[{','.join(values)}]"))
    return [decoded(value) for value in values]


def _file(path: Path, *, immutable: bool) -> SqliteFile:
    if not path.is_file():
        raise CasebaseError(
            f"the case base {path} is missing: run `diagnose kb build`, or reinstall diagnose"
        )
    path = path.resolve()
    about = path.stat()
    stamp = (about.st_ino, about.st_mtime_ns, about.st_size) if immutable else (about.st_ino,)
    return SqliteFile(path, immutable, stamp)


@lru_cache(maxsize=8)
def _sqlite(file: SqliteFile, pid: int) -> tuple[threading.Lock, sqlite3.Connection]:
    """The process's connection to a file; ``pid`` keeps a fork off its parent's."""
    uri = f"{file.path.as_uri()}?mode=ro{'&immutable=1' if file.immutable else ''}"
    return threading.Lock(), sqlite3.connect(uri, uri=True, check_same_thread=False)


@lru_cache(maxsize=8)
def _engine(url: str, pid: int) -> Engine:
    """The process's pool of connections; ``pid`` keeps a fork off its parent's."""
    from sqlalchemy import create_engine

    return create_engine(
        url,
        isolation_level="AUTOCOMMIT",  # each query is one round trip
        connect_args={"options": _SESSION},
        pool_pre_ping=True,
    )
