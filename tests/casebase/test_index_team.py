"""A team's own case base in a database: written by URL, read while it changes."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from casebase.test_index import report_of

from diagnose.casebase import index
from diagnose.casebase.connection import connect, displayed
from diagnose.casebase.schema import IncidentRow, IncidentSourceRow, IncidentTextRow
from diagnose.casebase.store import CasebaseError, default_location, default_path, load
from diagnose.compiling.build import (
    InvalidKbError,
    build_into,
    remove_incidents,
    write_incidents,
    writing,
)
from diagnose.ranking.neighbours import nearest

URL = "https://example.org/ours/1"


def rows(
    slug: str, frames: list[str], message: str = "ours"
) -> list[IncidentRow | IncidentTextRow | IncidentSourceRow]:
    """A team's incident."""
    texts = {"title": f"Ours: {slug}", "saw": "s", "was": "w", "mended": "m"}
    return [
        IncidentRow(
            id=slug, position=0, cause_id="rank-device", exception="RuntimeError", message=message,
            op=None, argument=None, devices=["cpu"], libraries=["ourlib"], frames=frames,
            fixes=[], versions={}, gpus=1, reproduce="",
        ),
        *(IncidentTextRow(incident_id=slug, lang=lang, **texts) for lang in ("en", "zh")),
        IncidentSourceRow(incident_id=slug, position=0, url=URL, supports="all"),
    ]  # fmt: skip


@pytest.fixture
def team(casebase_path: Path, tmp_path: Path) -> str:
    """A writable copy of the case base."""
    path = tmp_path / "team.sqlite"
    shutil.copy(casebase_path, path)
    return f"sqlite:///{path}"


def contents(url: str) -> dict[str, list[tuple[object, ...]]]:
    """What a case base holds, index included, but for its revision."""
    database = connect(url)
    found = {
        table: database.rows(f"SELECT * FROM {table} ORDER BY 1, 2")
        for table in ("incident", "incident_text", "incident_source", "incident_signature", "cause")
    }
    found["terms"] = database.rows(
        "SELECT term, documents FROM incident_term WHERE documents <> 0 ORDER BY term"
    )
    return found


@pytest.mark.parametrize("small", [0, 512])
def test_an_incident_is_found_as_soon_as_it_is_written(
    team: str, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "SMALL", small)
    base = load(team)
    report = report_of(next(iter(base.incidents.values())))
    nearest(report, base.incidents)
    with writing(team) as session:
        write_incidents(session, rows("ours", ["ours/loop.py:3 spin"], "our very own words"))
    found = nearest(report_of(base.incidents["ours"]), base.incidents)[0]
    assert (found.id, found.similarity, found.url, found.cause) == ("ours", 1.0, URL, "rank-device")
    assert list(base.incidents)[-1] == "ours"


def test_a_replaced_incident_is_found_by_its_new_terms_only(
    team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "SMALL", 0)
    base = load(team)
    for frame, message in (("ours/old.py:3 before", "was"), ("ours/new.py:3 after", "became")):
        with writing(team) as session:
            write_incidents(session, rows("ours", [frame], message))
        last = report_of(base.incidents["ours"])
        if message == "was":
            first = last
    assert "ours" in {one.id for one in base.incidents.candidates(last)}
    old = base.incidents.candidates(first)
    assert "ours" not in {one.id for one in old if "old.py" in one.signature.frames}
    database = connect(team)
    match = "SELECT count(*) FROM incident_index WHERE incident_index MATCH :term"
    assert database.rows(match, term='"call:before"') == [(0,)]
    assert database.rows(match, term='"call:after"') == [(1,)]


def test_what_is_removed_leaves_no_trace(team: str) -> None:
    before = contents(team)
    with writing(team) as session:
        write_incidents(session, rows("ours", ["ours/loop.py:3 spin"]))
    assert contents(team) != before
    with writing(team) as session:
        assert remove_incidents(session, ["ours", "never-there"]) == 1
    assert contents(team) == before


def test_nothing_is_written_where_a_block_fails(team: str) -> None:
    before = contents(team)
    with pytest.raises(RuntimeError, match="stop"), writing(team) as session:
        write_incidents(session, rows("ours", ["ours/loop.py:3 spin"]))
        raise RuntimeError("stop")
    assert contents(team) == before


def test_a_kb_is_written_anew_and_a_teams_incidents_stay(few: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'fresh.sqlite'}"
    build_into(few, url)
    first = contents(url)
    with writing(url) as session:
        write_incidents(session, rows("ours", ["ours/loop.py:3 spin"]))
    build_into(few, url)
    load.cache_clear()
    assert "ours" in load(url).incidents
    with writing(url) as session:
        remove_incidents(session, ["ours"])
    assert contents(url) == first


def test_a_database_holds_what_the_compiled_file_holds(
    few: Path, few_compiled: Path, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'fresh.sqlite'}"
    build_into(few, url)
    base, casebase = load(url), load(few_compiled)
    assert dict(base.incidents) == dict(casebase.incidents)
    for part in ("wordings", "libraries", "families", "causes", "facts", "operands", "marks"):
        assert getattr(base.knowledge, part) == getattr(casebase.knowledge, part)
    assert (base.fixes, base.snippets) == (casebase.fixes, casebase.snippets)
    assert base.digest == casebase.digest


def test_a_kb_with_mistakes_changes_nothing(kb: Path, tmp_path: Path, team: str) -> None:
    broken = tmp_path / "kb"
    shutil.copytree(kb, broken)
    (broken / "causes" / "rank-device.py").write_text("def mistake(:\n", encoding="utf-8")
    before = contents(team)
    with pytest.raises(InvalidKbError):
        build_into(broken, team)
    assert contents(team) == before


def test_another_schema_version_is_not_written_to(few: Path, team: str) -> None:
    with sqlite3.connect(team.removeprefix("sqlite:///")) as connection:
        connection.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
    connection.close()
    with pytest.raises(CasebaseError, match="schema version 1"):
        build_into(few, team)


def test_reading_cannot_write(team: str) -> None:
    with pytest.raises(CasebaseError, match="readonly"):
        connect(team).rows("DELETE FROM incident")


def test_the_environment_names_a_path_or_a_url(
    team: str, casebase_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert default_location() == default_path() == casebase_path
    monkeypatch.setenv("DIAGNOSE_CASEBASE", team)
    assert default_location() == team
    with pytest.raises(CasebaseError, match="not a file"):
        default_path()
    load.cache_clear()
    try:
        assert load().incidents
    finally:
        load.cache_clear()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://me:secret@db/x", "is no case base"),
        ("sqlite:////nowhere/at/all.sqlite", "is missing"),
        ("postgresql://me:secret@127.0.0.1:1/x", "cannot be read"),
        ("postgresql://me:secret@[/x", "cannot be read"),
    ],
)
def test_an_unusable_url_gets_a_sentence_without_its_password(url: str, sentence: str) -> None:
    with pytest.raises(CasebaseError, match=sentence) as caught:
        load(url)
    assert "secret" not in str(caught.value)
    assert "secret" not in displayed(url)
