"""kb/ compiles, its two readers agree, and every mistake is told with file, key and reason."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

import pytest
from compiling.small import written
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from diagnose._toml import loads
from diagnose.casebase import schema, store
from diagnose.compiling import source
from diagnose.compiling.build import InvalidKbError, build
from diagnose.compiling.digest import digest
from diagnose.compiling.source import read
from diagnose.naming.descriptions import Descriptions
from diagnose.outputs import replacing

ROOT = Path(__file__).parents[2]
SHARED = Path(__file__).parents[3] / "shared"


def test_kb_has_no_mistakes(kb: Path) -> None:
    assert [str(problem) for problem in read(kb).problems] == []


@pytest.mark.skipif(not (SHARED / "taxonomy.toml").exists(), reason="the taxonomy is not at hand")
def test_ids_are_those_of_the_taxonomy(casebase: store.Casebase) -> None:
    taxonomy = loads((SHARED / "taxonomy.toml").read_text(encoding="utf-8"))
    assert set(casebase.causes) == set(taxonomy["causes"])
    assert set(casebase.fixes) == set(taxonomy["fixes"])
    families = {rule.family for rule in casebase.knowledge.families}
    assert families <= set(taxonomy["families"])


def test_an_unfinished_case_base_is_never_packed(tmp_path: Path) -> None:
    """Two builds of one tree may overlap: what one of them is writing is gone when the other looks for it."""
    project = loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (left_out,) = project["tool"]["hatch"]["build"]["exclude"]
    with replacing(tmp_path / "casebase.sqlite") as unfinished:
        for name in (unfinished.name, f"{unfinished.name}-journal"):
            assert fnmatch(f"/src/diagnose/{name}", left_out)


def test_both_readers_see_the_same(casebase_path: Path, casebase: store.Casebase) -> None:
    """The command line's sqlite3 reader against the SQLAlchemy schema."""
    engine = create_engine(f"sqlite:///{casebase_path}")
    with Session(engine) as session:
        causes = session.scalars(select(schema.CauseRow).order_by(schema.CauseRow.position)).all()
        texts = {
            row.cause_id: row
            for row in session.scalars(select(schema.CauseTextRow)).all()
            if row.lang == "en"
        }
        assert [c.id for c in causes] == list(casebase.causes)
        for row in causes:
            cause = casebase.causes[row.id]
            assert (cause.prior, cause.gpus, dict(cause.weights)) == (
                row.prior,
                row.gpus,
                row.weights,
            )
            assert (cause.title, cause.why) == (texts[row.id].title, texts[row.id].why)
            fixes = session.scalars(
                select(schema.CauseFixRow)
                .where(schema.CauseFixRow.cause_id == row.id)
                .order_by(schema.CauseFixRow.position)
            ).all()
            assert [(f.kind, f.title, f.after) for f in cause.fixes] == [
                (f.kind, f.titles["en"], f.after) for f in fixes
            ]
        incidents = session.scalars(select(schema.IncidentRow)).all()
        assert {i.id: i.cause_id for i in incidents} == {
            i.id: i.cause for i in casebase.incidents.values()
        }
        for row in incidents:
            incident = casebase.incidents[row.id]
            assert list(incident.frames) == row.frames
            assert incident.message == row.message
            assert list(incident.inferred) == row.inferred
        releases = session.scalars(select(schema.IncidentReleaseRow)).all()
        assert {(r.incident_id, r.library, r.bad, r.fixed, r.change) for r in releases} == {
            (i.id, *release) for i in casebase.incidents.values() for release in i.releases
        }
    engine.dispose()
    assert str(schema.VERSION) == store.SCHEMA_VERSION


def test_both_languages_are_there(casebase_path: Path, casebase: store.Casebase) -> None:
    chinese = store.load(casebase_path, "zh")
    assert set(chinese.causes) == set(casebase.causes)
    for key, cause in chinese.causes.items():
        assert cause.title != casebase.causes[key].title
        assert any("\u4e00" <= c <= "\u9fff" for c in cause.title + cause.why)


def test_the_compiled_file_cannot_be_written_through_the_store(casebase_path: Path) -> None:
    before = casebase_path.read_bytes()
    store.load.cache_clear()
    casebase_path.chmod(0o444)
    try:
        assert store.load(casebase_path).causes
    finally:
        casebase_path.chmod(0o644)
    assert casebase_path.read_bytes() == before
    assert not list(casebase_path.parent.glob("*-journal")) + list(
        casebase_path.parent.glob("*-wal")
    )


@pytest.fixture
def broken(kb: Path, tmp_path: Path) -> Path:
    """A copy of kb/ to make mistakes in."""
    copy = tmp_path / "kb"
    shutil.copytree(kb, copy)
    return copy


@pytest.mark.parametrize(
    ("file", "old", "new", "key", "reason"),
    [
        (
            "causes/rank-device.toml",
            'id = "rank-device"',
            'id = "rank"',
            "id",
            "must be 'rank-device'",
        ),
        ("causes/rank-device.toml", "[en]", "[eng]", "en", "is missing"),
        ("causes/rank-device.toml", "[[fixes]]", "[[fixes]]\nfoo = 1", "fixes[0].foo", "not a key"),
        ("facts.toml", "pair = '^cpu$'", "pair = '('", "pair", "not a regular expression"),
        ("beliefs.toml", "[rank-device]", "[rank-devices]", "rank-devices", "not a known cause"),
        ("beliefs.toml", "says-devices0 =", "says-nothing =", "says-nothing", "not a known fact"),
        ("corrections.toml", "training =", "rotary =", "rotary", "beliefs.toml does not name"),
        (
            "operands.toml",
            'mat1 = "input"',
            'mat1 = "inputs"',
            "mat1",
            "allowed: 'input', 'weight'",
        ),
        ("fixes.toml", "[move-input]", "move-input", "-", "is no TOML"),
    ],
)
def test_a_mistake_is_told_with_file_key_and_reason(
    broken: Path, file: str, old: str, new: str, key: str, reason: str
) -> None:
    path = broken / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    told = [p for p in read(broken).problems if p.file == file]
    assert any(p.key.endswith(key) and reason in p.reason for p in told), told


def test_all_mistakes_are_told_at_once_and_nothing_is_written(broken: Path, tmp_path: Path) -> None:
    (broken / "causes" / "rank-device.py").write_text("def mistake(:\n")
    (broken / "causes" / "meta-tensor.py").unlink()
    target = tmp_path / "out.sqlite"
    target.write_bytes(b"precious")
    with pytest.raises(InvalidKbError) as caught:
        build(broken, target)
    assert {p.file for p in caught.value.problems} == {
        "causes/rank-device.py",
        "causes/meta-tensor.py",
    }
    assert target.read_bytes() == b"precious"
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".out")] == []


def test_a_file_that_cannot_be_read_is_one_mistake(broken: Path) -> None:
    """Not one more for every weight and question that names a fact."""
    with (broken / "facts.toml").open("a", encoding="utf-8") as facts:
        facts.write("[[[")
    [problem] = read(broken).problems
    assert problem.file == "facts.toml"


def test_an_incident_needs_an_https_source_and_known_ids(broken: Path) -> None:
    folder = sorted((broken / "cases").iterdir())[0]
    path = folder / "case.toml"
    text = path.read_text(encoding="utf-8").replace("https://", "http://")
    path.write_text(text, encoding="utf-8")
    reasons = [p.reason for p in read(broken).problems]
    assert "must be an https address" in reasons


def test_the_digest_follows_the_content(broken: Path, kb: Path, casebase_path: Path) -> None:
    assert digest(broken) == digest(kb) == store.load(casebase_path).digest
    (broken / "fixes.toml").write_text("", encoding="utf-8")
    assert digest(broken) != digest(kb)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "is missing"), (b"no database at all", "cannot be read"), (b"", "cannot be read")],
)
def test_an_unusable_file_gets_a_sentence(
    tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    path = tmp_path / "casebase.sqlite"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(store.CasebaseError, match=sentence):
        store.load(path)


def test_another_schema_version_is_refused(casebase_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    shutil.copy(casebase_path, path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    connection.close()
    with pytest.raises(store.CasebaseError, match="schema version 0"):
        store.load(path)


def test_what_was_counted_of_the_same_texts_is_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb, real, calls = written(tmp_path / "kb"), source.counted, []

    def counted(texts: Iterable[tuple[str, str]]) -> Descriptions:
        calls.append(texts)
        return real(texts)

    def built(name: str) -> object:
        build(kb, tmp_path / name)
        return store.load(tmp_path / name).knowledge.descriptions()

    monkeypatch.setattr(source, "counted", counted)
    first = built("first.sqlite")
    monkeypatch.setenv("DIAGNOSE_CASEBASE", str(tmp_path / "first.sqlite"))
    assert built("again.sqlite") == first
    assert len(calls) == 1
    cause = kb / "causes/one.toml"
    cause.write_text(cause.read_text(encoding="utf-8").replace("Because.", "Vexing."), "utf-8")
    assert built("other.sqlite") != first
    assert len(calls) == 2
