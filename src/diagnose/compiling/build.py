"""Writes case bases: kb/ compiled into the SQLite file that the package reads, or into a database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import create_engine, delete, func, select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from diagnose.casebase import schema
from diagnose.casebase.connection import CasebaseError, displayed, engine_of
from diagnose.casebase.signature import held_terms, signature
from diagnose.compiling.database import begin, version_of
from diagnose.compiling.kberror import KbError
from diagnose.errors import DiagnoseError
from diagnose.outputs import replacing

if TYPE_CHECKING:
    from diagnose.compiling.source import Source

#: Tables of incidents, in an order in which they can be emptied.
_INCIDENT_TABLES = (
    (schema.SignatureRow, schema.SignatureRow.incident_id),
    (schema.IncidentReleaseRow, schema.IncidentReleaseRow.incident_id),
    (schema.IncidentSourceRow, schema.IncidentSourceRow.incident_id),
    (schema.IncidentTextRow, schema.IncidentTextRow.incident_id),
    (schema.IncidentRow, schema.IncidentRow.id),
)
#: Tables of everything else, which is always written whole; not `meta`.
_REFERENCE_TABLES = (
    schema.CauseFixRow,
    schema.CauseTextRow,
    schema.CauseRow,
    schema.RecordRow,
    schema.TextRow,
    schema.SnippetRow,
)
_INCIDENT_ROWS = (
    schema.IncidentRow,
    schema.IncidentTextRow,
    schema.IncidentSourceRow,
    schema.IncidentReleaseRow,
)
_BATCH = 1000


class InvalidKbError(DiagnoseError):
    """kb/ has mistakes; ``problems`` lists them all."""

    def __init__(self, problems: tuple[KbError, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def build(kb: Path, target: Path) -> int:
    """Compiles the folder ``kb`` into the file ``target``, which is replaced in one step or not at all.

    Returns:
        The number of rows written.

    Raises:
        InvalidKbError: the source has mistakes; nothing is written.
        CasebaseError: the file cannot be written; an earlier one stays.
    """
    return write(_read(kb), target)


def write(source: Source, target: Path, *, incidents: bool = True) -> int:
    """As `build`, of a kb/ that was read, and with its incidents or without."""
    rows = _checked(source, incidents=incidents)
    try:
        with replacing(target) as unfinished:
            engine = create_engine(f"sqlite:///{unfinished}")
            try:
                schema.Base.metadata.create_all(engine)
                with Session(engine) as session:
                    _write(session, rows)
                    session.commit()
            finally:
                engine.dispose()
    except (OSError, SQLAlchemyError) as error:
        reason = getattr(error, "strerror", None) or getattr(error, "orig", None) or error
        raise CasebaseError(f"the case base {target} cannot be written: {reason}") from error
    return len(rows)


def build_into(kb: Path, url: str) -> int:
    """Writes the folder ``kb`` into the database at ``url``, in one transaction.

    Makes the tables where there are none, and migrates those of an older schema version. Causes, texts
    and rules become those of ``kb``; incidents of the same id are replaced, and all others (a team's
    own) stay.

    Returns:
        The number of rows written.

    Raises:
        InvalidKbError: the source has mistakes; nothing is written.
        CasebaseError: the database cannot be written, holds a schema version that there is no way from,
            or keeps an incident whose cause ``kb`` does not have; nothing is written.
    """
    return write_into(_read(kb), url)


def write_into(source: Source, url: str) -> int:
    """As `build_into`, of a kb/ that was read."""
    rows = _checked(source)
    with writing(url, migrating=True) as session:
        for table in _REFERENCE_TABLES:
            session.execute(delete(table))
        _write(session, rows)
    return len(rows)


@contextmanager
def writing(url: str, *, migrating: bool = False) -> Iterator[Session]:
    """A transaction on the case base at ``url``, whose tables are made where there are none.

    It is committed when the block ends well. Writers wait for each other; readers see all of it or
    nothing. With ``migrating`` tables of an older schema version become today's in it; the block has to
    write all but the incidents anew.

    Raises:
        CasebaseError: as `build_into`.
    """
    try:
        engine = engine_of(url)
        try:
            if version_of(engine) is None:  # the tables of an older version are the migration's
                schema.Base.metadata.create_all(engine)
            with Session(engine) as session:
                begin(session, url, migrating=migrating)
                yield session
                session.commit()
        finally:
            engine.dispose()
    except (SQLAlchemyError, ImportError) as error:
        reason = str(getattr(error, "orig", None) or error).strip()
        raise CasebaseError(
            f"the case base {displayed(url)} cannot be written: {reason}"
        ) from error


def write_incidents(session: Session, rows: Iterable[schema.Base]) -> None:
    """Adds incidents with their texts, sources and releases, and indexes them; those of the same id are
    replaced.

    A replaced incident keeps its position, a new one gets the next; the positions of ``rows`` only
    say their order.
    """
    of_kind: dict[type[schema.Base], list[schema.Base]] = defaultdict(list)
    for row in rows:
        of_kind[type(row)].append(row)
    incidents = sorted(
        (row for row in of_kind[schema.IncidentRow] if isinstance(row, schema.IncidentRow)),
        key=lambda row: row.position,
    )
    places = _remove(session, [incident.id for incident in incidents])
    last = session.scalar(select(func.max(schema.IncidentRow.position)))
    following = -1 if last is None else last
    following = max([following, *places.values()])
    for incident in incidents:
        if incident.id in places:
            incident.position = places[incident.id]
        else:
            incident.position = following = following + 1
    urls = {
        row.incident_id: row.url
        for row in reversed(of_kind[schema.IncidentSourceRow])
        if isinstance(row, schema.IncidentSourceRow)
    }
    signatures = [_signature(incident, urls[incident.id]) for incident in incidents]
    session.add_all(incidents)
    session.add_all(of_kind[schema.IncidentTextRow])
    session.add_all(of_kind[schema.IncidentSourceRow])
    session.add_all(of_kind[schema.IncidentReleaseRow])
    session.add_all(signatures)
    session.flush()
    _count_terms(session, [row.terms for row in signatures], 1)


def remove_incidents(session: Session, ids: Collection[str]) -> int:
    """Removes incidents from the case base and its index; returns how many there were."""
    return len(_remove(session, ids))


def _read(kb: Path) -> Source:
    # Imported here: who only adds incidents to a database needs no pydantic.
    from diagnose.compiling.source import read

    return read(kb)


def _checked(source: Source, *, incidents: bool = True) -> list[schema.Base]:
    if source.problems:
        raise InvalidKbError(source.problems)
    return source.rows(incidents=incidents)


def _write(session: Session, rows: Sequence[schema.Base]) -> None:
    """All rows of a kb/; the tables other than those of the incidents must be empty."""
    for row in rows:
        if isinstance(row, schema.MetaRow):
            session.merge(row)
        elif not isinstance(row, _INCIDENT_ROWS):
            session.add(row)
    write_incidents(session, (row for row in rows if isinstance(row, _INCIDENT_ROWS)))


def _signature(incident: schema.IncidentRow, url: str) -> schema.SignatureRow:
    found = signature(incident.frames, incident.message, incident.libraries)
    held = set(held_terms(found, incident.op, incident.argument))
    recorded = signature(**(incident.recorded or {"frames": (), "message": "", "libraries": ()}))
    if recorded.frames:
        held.update(held_terms(recorded, None, None))
    return schema.SignatureRow(
        position=incident.position,
        incident_id=incident.id,
        cause_id=incident.cause_id,
        url=url,
        frames=found.frames,
        message=found.message,
        libraries=" ".join(sorted(found.libraries)),
        recorded_frames=recorded.frames,
        recorded_message=recorded.message,
        recorded_libraries=" ".join(sorted(recorded.libraries)),
        terms=" ".join(sorted(held)),
    )


def _remove(session: Session, ids: Collection[str]) -> dict[str, int]:
    """Removes incidents; returns the positions of those that were there."""
    places: dict[str, int] = {}
    wanted = list(ids)
    for start in range(0, len(wanted), _BATCH):
        some = wanted[start : start + _BATCH]
        old = session.execute(
            select(
                schema.SignatureRow.incident_id,
                schema.SignatureRow.position,
                schema.SignatureRow.terms,
            ).where(schema.SignatureRow.incident_id.in_(some))
        ).all()
        if not old:
            continue
        places |= {incident: position for incident, position, _ in old}
        _count_terms(session, [line for _, _, line in old], -1)
        for table, key in _INCIDENT_TABLES:
            session.execute(delete(table).where(key.in_(some)))
    return places


def _count_terms(session: Session, lines: Iterable[str], sign: int) -> None:
    """Counts the incidents that hold each term up (1) or down (-1)."""
    counts = Counter(term for line in lines for term in line.split())
    if counts:
        session.execute(
            text(
                "INSERT INTO incident_term (term, documents) VALUES (:term, :documents)"
                " ON CONFLICT (term) DO UPDATE"
                " SET documents = incident_term.documents + excluded.documents"
            ),
            [{"term": term, "documents": sign * n} for term, n in sorted(counts.items())],
        )
