"""Retrieval: the same nearest incidents as by comparing all, from any size and any input."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from rapidfuzz import fuzz

from diagnose.casebase import index
from diagnose.casebase.index import StoredIncidents
from diagnose.casebase.signature import (
    Signature,
    held_terms,
    of_incident,
    of_recording,
    signature,
    wanted_terms,
)
from diagnose.casebase.store import Casebase, load
from diagnose.model import Failure, Frame, Incident, Mismatch, Report
from diagnose.parsing import parse
from diagnose.ranking.causes import INCIDENT_FLOOR
from diagnose.ranking.neighbours import nearest

TRACES = sorted((Path(__file__).parents[1] / "traces").glob("*.txt"))


def report_of(incident: Incident) -> Report:
    """What somebody reports to whom the incident happens, on other lines and another GPU."""
    frames = (frame.rpartition(" ") for frame in incident.frames)
    return Report(
        "-",
        Failure("RuntimeError", incident.message.replace("cuda:0", "cuda:3"), "device-placement"),
        Mismatch(incident.devices, incident.op, incident.argument, "-"),
        tuple(Frame(f"/srv/{place}", 7, function) for place, _, function in frames),
        incident.libraries,
    )


@pytest.fixture
def reports(casebase: Casebase) -> list[Report]:
    parsed = [
        parse(
            path.read_text(encoding="utf-8"),
            path.name,
            knowledge=casebase.knowledge,
        )
        for path in TRACES
    ]
    return [*parsed, *(report_of(incident) for incident in casebase.incidents.values())]


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, casebase: Casebase) -> StoredIncidents:
    """The incidents as if they were too many to compare all of them."""
    monkeypatch.setattr(index, "SMALL", 0)
    incidents = casebase.incidents
    assert isinstance(incidents, StoredIncidents)
    return StoredIncidents(incidents._database, casebase.lang)


def test_stored_incidents_are_ranked_as_those_in_memory(
    casebase: Casebase, reports: list[Report]
) -> None:
    in_memory = dict(casebase.incidents)
    for report in reports[::4]:
        found = nearest(report, casebase.incidents)
        assert found == nearest(report, in_memory)
        assert len(found) == len(in_memory)


def documented_similarity(mine: Signature, known: Signature) -> float:
    """docs/ranking.md: frames 0.5 by token_sort_ratio, message 0.3 by ratio, libraries 0.2 by Jaccard
    where there are any; what documents less than 0.8 is never wholly alike."""
    shuffled = " ".join(reversed(known.frames.split()))
    both = mine.libraries | known.libraries
    parts = [
        (0.5, fuzz.token_sort_ratio(mine.frames, shuffled) / 100, bool(known.frames)),
        (0.3, fuzz.ratio(mine.message, known.message) / 100, bool(known.message)),
        (0.2, len(mine.libraries & known.libraries) / len(both) if both else 0.0, bool(both)),
    ]
    total = sum(share for share, _, held in parts if held)
    return sum(share * score for share, score, held in parts if held) / max(total, 0.8)


def test_similarity_is_what_the_documentation_says(
    casebase: Casebase, reports: list[Report]
) -> None:
    """docs/ranking.md: frames 0.5 by token_sort_ratio, message 0.3 by ratio, libraries 0.2
    by Jaccard; what documents less than 0.8 is never wholly alike."""
    report = reports[0]
    mine = signature(
        [f"{f.file} {f.function}" for f in report.frames],
        report.error.message if report.error else "",
        report.libraries,
    )
    for match in nearest(report, casebase.incidents):
        incident = casebase.incidents[match.id]
        known = [of_incident(incident)]
        known += [of_recording(incident.recorded)] if incident.recorded else []
        expected = max(documented_similarity(mine, one) for one in known)
        assert match.similarity == pytest.approx(expected, abs=0.0006)
        assert match.cause == casebase.incidents[match.id].cause


def test_the_index_names_the_nearest_incident(
    casebase: Casebase, large: StoredIncidents, reports: list[Report]
) -> None:
    for report in reports:
        candidates = large.candidates(report)
        assert len(candidates) <= index.LIMIT
        assert len(candidates) < len(casebase.incidents)
        exact, found = nearest(report, casebase.incidents), nearest(report, large)
        # Where several are exactly as near any of them will do, and below the floor none counts.
        slack = 0.0 if exact[0].similarity >= INCIDENT_FLOOR else 0.05
        assert found[0].similarity >= exact[0].similarity - slack, report
        assert found[0] in exact


def test_fewer_candidates_are_the_best_of_more(
    large: StoredIncidents, reports: list[Report]
) -> None:
    few, more = (large.candidates(reports[0], limit=limit) for limit in (6, 60))
    assert 0 < len(few) <= 6
    assert {one.id for one in few} < {one.id for one in more}


def test_the_work_for_a_report_is_bounded(
    large: StoredIncidents, reports: list[Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    original = type(large._database).rows

    def rows(self: object, sql: str, /, **values: object) -> list[tuple[object, ...]]:
        asked.append(sql)
        return original(self, sql, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(type(large._database), "rows", rows)
    monkeypatch.setattr(index, "POSTINGS", 0)
    large.candidates(reports[0])
    assert asked[-1].count("MATCH") <= 3  # one term for each group, however common
    assert len(asked) <= 4


HOSTILE = [
    '" OR 1=1 --',
    "'); DROP TABLE incident; --",
    "a & !b | (c <-> d):*",
    "NEAR(x y, 2) AND NOT z^*",
    "\x00\x1b[31m\udcff\u202e",
    "模型.py 🦙",
    "x" * 100_000,
    ":weight0 ? %s %(a)s {0} $1",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_a_look_up(large: StoredIncidents, text: str) -> None:
    report = Report(
        "-",
        Failure("RuntimeError", text),
        Mismatch((text,), text, text, text),
        (Frame(text, 1, text), Frame(f"/a/{text}.py", 2, "f")),
        (text,),
    )
    assert len(large.candidates(report)) <= index.LIMIT
    assert len(large) > 0


@pytest.mark.parametrize("text", HOSTILE)
def test_terms_hold_nothing_that_an_index_could_read_as_syntax(text: str) -> None:
    found = signature([f"{text}.py:3 {text}"], text, [text])
    groups = wanted_terms(found, text, text)
    for term in [*held_terms(found, text, text), *(t for group in groups for t in group)]:
        assert term == term.lower()
        assert all(c.isalnum() or c in "_.:-" for c in term), term
        assert len(term) <= 120


def test_what_an_incident_holds_is_what_its_report_asks_for(casebase: Casebase) -> None:
    for incident in casebase.incidents.values():
        found = of_incident(incident)
        wanted = {t for g in wanted_terms(found, incident.op, incident.argument) for t in g}
        assert set(held_terms(found, incident.op, incident.argument)) <= wanted


def test_stored_incidents_are_a_mapping(casebase: Casebase, casebase_path: Path) -> None:
    load.cache_clear()
    incidents = load(casebase_path).incidents
    one = list(casebase.incidents)[3]
    assert incidents[one] == casebase.incidents[one]
    assert one in incidents
    assert "no-such-incident" not in incidents
    with pytest.raises(KeyError):
        incidents["'; DROP TABLE incident; --"]
    assert len(incidents) == len(list(incidents)) == len(casebase.incidents)
    assert list(incidents.values()) == [casebase.incidents[key] for key in incidents]
    assert casebase._replace(incidents={}).incidents == {}


def test_an_answer_needs_neither_sqlalchemy_nor_all_incidents(casebase_path: Path) -> None:
    program = (
        "import sys\n"
        "from diagnose.pipeline import diagnose\n"
        "from diagnose.casebase.store import load\n"
        "answer = diagnose(sys.stdin.read())\n"
        "assert answer.nearest, answer\n"
        "assert 'sqlalchemy' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=TRACES[0].read_text(encoding="utf-8"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_threads_share_a_case_base(large: StoredIncidents, reports: list[Report]) -> None:
    def top(report: Report) -> str:
        return nearest(report, large)[0].id

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(top, reports)) == [top(report) for report in reports]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_reads_through_a_connection_of_its_own(
    large: StoredIncidents, reports: list[Report]
) -> None:
    """Parent and child read at once; a shared file position would give either the other's pages."""
    expected = [match.id for match in nearest(reports[0], large)]
    child = os.fork()
    same = all([m.id for m in nearest(reports[0], large)] == expected for _ in range(50))
    if child == 0:
        os._exit(0 if same else 1)
    assert same
    assert os.waitpid(child, 0)[1] == 0


def test_the_compiled_file_has_one_index_entry_an_incident(
    casebase: Casebase, casebase_path: Path, read: Callable[[str], list[tuple[object, ...]]]
) -> None:
    (term, documents), *_ = read(
        "SELECT term, documents FROM incident_term WHERE term LIKE 'library:%' ORDER BY 2 DESC"
    )
    holders = read(f"SELECT rowid FROM incident_index WHERE incident_index MATCH '\"{term}\"'")
    library = str(term).partition(":")[2]
    known = [i for i in casebase.incidents.values() if library in map(str.lower, i.libraries)]
    assert len(holders) == documents == len(known) > 1


@pytest.fixture
def read(casebase_path: Path) -> Callable[[str], list[tuple[object, ...]]]:
    def rows(sql: str) -> list[tuple[object, ...]]:
        connection = sqlite3.connect(casebase_path)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    return rows
