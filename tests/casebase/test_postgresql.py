"""The case base on PostgreSQL: a real server, the same answers as SQLite."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from casebase import postgresql_server as server
from casebase.test_index import report_of
from casebase.test_index_team import rows

from diagnose.casebase import index
from diagnose.casebase.connection import connect
from diagnose.casebase.index import StoredIncidents
from diagnose.casebase.store import Casebase, CasebaseError, load
from diagnose.compiling.build import build_into, remove_incidents, write_incidents, writing
from diagnose.model import Frame
from diagnose.ranking.neighbours import nearest

REQUIRED = os.environ.get("DIAGNOSE_REQUIRE_POSTGRESQL") == "1"
if not REQUIRED:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if server.programs() is None or server.user() is None:
        pytest.skip("no PostgreSQL server is installed", allow_module_level=True)


@pytest.fixture(scope="module")
def url(kb: Path) -> Iterator[str]:
    """kb/ written into a server that is started for it; a socket's path must be short."""
    with (
        tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder,
        server.running(Path(folder)) as found,
    ):
        build_into(kb, found)
        yield found


@pytest.fixture
def incidents(url: str, monkeypatch: pytest.MonkeyPatch) -> StoredIncidents:
    """The incidents as if they were too many to compare all of them."""
    monkeypatch.setattr(index, "SMALL", 0)
    return StoredIncidents(connect(url), "en")


def test_it_holds_what_the_compiled_file_holds(url: str, casebase: Casebase) -> None:
    base = load(url)
    assert dict(base.incidents) == dict(casebase.incidents)
    for part in ("wordings", "libraries", "families", "operands", "causes", "facts"):
        assert getattr(base.knowledge, part) == getattr(casebase.knowledge, part)
    assert base.fixes == casebase.fixes
    assert base.snippets == casebase.snippets
    assert load(url, "zh").causes == load(lang="zh").causes


def test_candidates_and_scores_are_those_of_sqlite(
    incidents: StoredIncidents, casebase: Casebase
) -> None:
    stored = casebase.incidents
    assert isinstance(stored, StoredIncidents)
    on_sqlite = StoredIncidents(stored._database, "en")
    for incident in stored.values():
        report = report_of(incident)
        assert incidents.candidates(report) == on_sqlite.candidates(report)
        assert nearest(report, incidents) == nearest(report, on_sqlite)


def test_candidates_come_from_a_gin_index(url: str) -> None:
    found = connect(url).rows("SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%lexemes%'")
    assert len(found) == 1
    assert "USING gin" in found[0][0]


def test_an_incident_comes_and_goes(url: str, incidents: StoredIncidents) -> None:
    before = list(incidents)
    with writing(url) as session:
        write_incidents(session, rows("ours", ["ours/loop.py:3 spin"], "our very own words"))
    report = report_of(incidents["ours"])
    found = nearest(report, incidents)[0]
    assert (found.id, found.similarity) == ("ours", 1.0)
    with writing(url) as session:
        remove_incidents(session, ["ours"])
    assert "ours" not in {match.id for match in nearest(report, incidents)}
    assert list(incidents) == before


def test_a_kb_can_be_written_again(url: str, kb: Path, casebase: Casebase) -> None:
    build_into(kb, url)
    assert dict(StoredIncidents(connect(url), "en")) == dict(casebase.incidents)


def test_writers_wait_for_each_other(url: str) -> None:
    def write(slug: str) -> None:
        with writing(url) as session:
            write_incidents(session, rows(slug, [f"ours/{slug}.py:3 spin", "ours/loop.py:3 spin"]))

    names = [f"ours-{number}" for number in range(6)]
    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    incidents = StoredIncidents(connect(url), "en")
    assert set(names) <= set(incidents)
    assert connect(url).rows(
        "SELECT documents FROM incident_term WHERE term = 'file:loop.py'"
    ) == connect(url).rows(
        "SELECT count(*) FROM incident_signature WHERE strpos(frames, 'ours:loop.py') > 0"
    )
    with writing(url) as session:
        assert remove_incidents(session, names) == len(names)


def test_an_incident_of_an_unknown_cause_is_refused(url: str, incidents: StoredIncidents) -> None:
    before = list(incidents)
    odd = rows("ours", ["ours/loop.py:3 spin"])
    odd[0].cause_id = "no-such-cause"  # type: ignore[union-attr]
    with pytest.raises(CasebaseError, match="cannot be written"), writing(url) as session:
        write_incidents(session, odd)
    assert list(incidents) == before


def test_reading_cannot_write(url: str) -> None:
    with pytest.raises(CasebaseError, match="read-only"):
        connect(url).rows("DELETE FROM incident_term")


@pytest.mark.parametrize("text", ["'a' | 'b'", "\\", "a:*", "'; DROP TABLE incident; --", "模型"])
def test_no_text_breaks_a_look_up(incidents: StoredIncidents, text: str) -> None:
    report = report_of(next(iter(incidents.values())))
    odd = rows("x", [f"{text}.py:1 {text}"], text)
    assert odd
    frames = tuple(Frame(f"{text}.py", 1, text) for _ in range(2))
    changed = type(report)("-", report.error, report.mismatch, frames, (text,))
    assert len(incidents.candidates(changed)) <= index.LIMIT
