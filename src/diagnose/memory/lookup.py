"""Looks a failure up in a store, through sqlite3 or a database's URL: importing SQLAlchemy would take
longer than the answer."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NoReturn, get_args

from diagnose.bulkhead import collecting, guarded
from diagnose.casebase.connection import (
    CasebaseError,
    Database,
    connect,
    displayed,
    is_url,
)
from diagnose.errors import DiagnoseError
from diagnose.model import Diagnosis, KnownFix, Outcome, Report, Seen

#: Must equal `diagnose.memory.schema.VERSION`.
SCHEMA_VERSION = "3"
#: Those whose failures and fixes are read as they are, until somebody writes and upgrades the store.
_READABLE = ("2", SCHEMA_VERSION)
#: Names no store, where one would be taken by default.
OFF = "none"
_VARIABLE = "DIAGNOSE_STORE"
_MOST_HOSTS = 20


class StoreError(DiagnoseError):
    """The store cannot be used; the message says why and what to do."""


def location(given: str | None = None) -> str | None:
    """Where the store is: as given, else $DIAGNOSE_STORE, else a file among the user's own data; a path or
    a database URL. None where there shall be none."""
    named = given or os.environ.get(_VARIABLE)
    if named:
        return None if named == OFF else named
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")  # noqa: PTH111
    # Where nobody knows whose process it is, there is no home.
    return None if home.startswith("~") else str(Path(home, "diagnose", "memory.sqlite"))


def url(where: str) -> str:
    """A store's location as a database URL."""
    return where if is_url(where) else f"sqlite:///{Path(where).absolute()}"


def seen(where: str | None, report: Report) -> Seen | None:
    """What a store remembers of the failure of a report; None where there is no store, or nothing in it.

    Raises:
        StoreError: it cannot be read.
    """
    if where is None or report.error is None:
        return None
    if not is_url(where) and not os.path.exists(where):  # noqa: PTH110  # an unreadable folder is none
        return None
    try:
        database = connect(url(where))
        _check(database, where)
        group = group_of(database, report)
        return of_group(database, group) if group is not None else None
    except CasebaseError as error:
        _raise(where, error)


def remembered(diagnosis: Diagnosis, where: str | None) -> Diagnosis:
    """An answer with what a store remembers; a fault of ours costs no more than that.

    Raises:
        StoreError: as `seen`.
    """
    with collecting() as pieces:
        found = guarded("seen", lambda: seen(where, diagnosis.report), None)
    return diagnosis._replace(seen=found, incomplete=(*diagnosis.incomplete, *pieces))


def group_of(database: Database, report: Report) -> str | None:
    """The group of a failure; a key that was divided by hand goes before the one that all share."""
    from diagnose.memory.key import digests  # most machines remember nothing

    for digest, version in digests(report):
        found = database.rows(
            "SELECT group_id FROM memory_key WHERE digest = :digest AND version = :version",
            digest=digest,
            version=version,
        )
        if found:
            return str(found[0][0])
    return None


def of_group(database: Database, group: str) -> Seen | None:
    """What is remembered of a group; None where there is no such group."""
    found = database.rows(
        "SELECT id, count, first, last, status, fixed_in FROM memory_group WHERE id = :id", id=group
    )
    if not found:
        return None
    id, count, first, last, status, fixed_in = found[0]
    hosts = database.rows(
        "SELECT value FROM memory_tally WHERE group_id = :id AND fact = 'host'"
        f" ORDER BY first, value LIMIT {_MOST_HOSTS}",
        id=group,
    )
    return Seen(
        id,
        count,
        first,
        last,
        tuple(host for (host,) in hosts),
        _fixes(database, group),
        status,
        fixed_in,
    )


def _fixes(database: Database, group: str) -> tuple[KnownFix, ...]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for fix, outcome, count in database.rows(
        "SELECT fix_id, outcome, count(*) FROM memory_outcome JOIN memory_fix ON fix_id = memory_fix.id"
        " WHERE group_id = :id GROUP BY fix_id, outcome",
        id=group,
    ):
        counts[fix][outcome] = count
    fixes = [
        KnownFix(*said, *(counts[id][outcome] for outcome in get_args(Outcome)))
        for id, *said in database.rows(
            "SELECT id, text, author, at, revision, link, cause FROM memory_fix WHERE group_id = :id",
            id=group,
        )
    ]
    return tuple(
        sorted(fixes, key=lambda fix: (fix.failed - 2 * fix.worked - fix.changed, -fix.at))
    )


def _check(database: Database, where: str) -> None:
    rows = database.rows("SELECT value FROM memory_meta WHERE key = 'schema'")
    version = rows[0][0] if rows else "none"
    if version not in _READABLE:
        raise StoreError(
            f"the store {displayed(where)} has schema version {version}, this diagnose reads version "
            f"{SCHEMA_VERSION}"
        )


def _raise(where: str, error: Exception) -> NoReturn:
    reason: Any = error.__cause__ or error
    raise StoreError(f"the store {displayed(where)} cannot be read: {reason}") from error
