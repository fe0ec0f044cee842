"""A team's database outlives a change of the schema: a planted newer diagnose migrates it and its incidents."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from casebase import postgresql_server as server
from casebase.test_index_team import rows
from compiling.small import written
from sqlalchemy import create_engine, make_url

from diagnose.casebase import schema
from diagnose.casebase.connection import connect
from diagnose.compiling.build import build, build_into, write_incidents, writing
from diagnose.compiling.migrations import OLDEST, VERSIONS
from diagnose.migrating import migrate

pytest.importorskip("alembic", reason="Alembic is not installed")

ROOT = Path(__file__).parents[2]
NEXT = schema.VERSION + 1
REVISION = f'''
"""Says who looks after an incident; planted by a test."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "{NEXT}", "{schema.VERSION}"


def upgrade():
    op.add_column("incident", sa.Column("keeper", sa.String(), nullable=False, server_default="all"))
'''


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kb/ that is soon compiled."""
    return written(tmp_path_factory.mktemp("small") / "kb")


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source of a diagnose of the next schema version, with one more column and its revision."""
    source = tmp_path_factory.mktemp("newer") / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("*.sqlite"))
    _replace(
        source / "diagnose/casebase/schema.py",
        (f"VERSION = {schema.VERSION}", f"VERSION = {NEXT}"),
        ("    reproduce: Mapped[str]", '    keeper: Mapped[str] = mapped_column(default="all")\n    reproduce: Mapped[str]'),
    )  # fmt: skip
    _replace(
        source / "diagnose/casebase/store.py",
        (f'SCHEMA_VERSION = "{schema.VERSION}"', f'SCHEMA_VERSION = "{NEXT}"'),
    )
    _revision(source).write_text(REVISION, encoding="utf-8")
    return source


def _revision(source: Path) -> Path:
    return source / f"diagnose/compiling/migrations/versions/schema_{NEXT}.py"


def _replace(path: Path, *changes: tuple[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def published(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of today's schema with an incident of the team's own; each test gets a copy."""
    path = tmp_path_factory.mktemp("published") / "team.sqlite"
    _publish(small, f"sqlite:///{path}")
    return path


@pytest.fixture(scope="module")
def template(small: Path) -> Iterator[str]:
    """The same on a PostgreSQL server that is started for it."""
    if os.environ.get("DIAGNOSE_REQUIRE_POSTGRESQL") != "1":
        pytest.importorskip("psycopg", reason="psycopg is not installed")
        if server.programs() is None or server.user() is None:
            pytest.skip("no PostgreSQL server is installed")
    with (
        tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder,
        server.running(Path(folder)) as url,
    ):
        _administer(url, "CREATE DATABASE published")
        _publish(small, _database(url, "published"))
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of today's schema with an incident of the team's own."""
    if request.param == "sqlite":
        path = shutil.copy(request.getfixturevalue("published"), tmp_path / "team.sqlite")
        yield f"sqlite:///{path}"
        return
    url = request.getfixturevalue("template")
    _administer(url, "CREATE DATABASE ours TEMPLATE published")
    yield _database(url, "ours")
    _administer(url, "DROP DATABASE ours WITH (FORCE)")


def _administer(url: str, statement: str) -> None:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()


def _database(url: str, name: str) -> str:
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def _publish(kb: Path, url: str) -> None:
    build_into(kb, url)
    with writing(url) as session:
        write_incidents(session, _own())


def _own() -> list[schema.Base]:
    """An incident of the team's, of a cause of `small`."""
    incident, *texts = rows("ours", ["ours/loop.py:3 spin"], "our very own words")
    incident.cause_id = "one"
    return [incident, *texts]


def _run(source: Path, *arguments: str, url: str = "") -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DIAGNOSE_")}
    environment |= {"DIAGNOSE_CASEBASE": url} if url else {}
    return subprocess.run(
        [sys.executable, "-m", "diagnose", *arguments],
        capture_output=True,
        text=True,
        env={**environment, "PYTHONPATH": str(source)},
    )


def _version(url: str) -> str:
    [(version,)] = connect(url).rows("SELECT value FROM meta WHERE key = 'schema'")
    return str(version)


def _ours(url: str) -> list[tuple[object, ...]]:
    return [
        row
        for table, key in (("incident", "id"), ("incident_text", "incident_id"))
        for row in connect(url).rows(
            f"SELECT {key}, {'message' if key == 'id' else 'title'} FROM {table} WHERE {key} = 'ours'"
        )
    ]


def test_publish_migrates_and_the_teams_incident_stays(team: str, newer: Path, small: Path) -> None:
    before = _ours(team)
    assert len(before) == 3  # itself, and its texts in two languages
    for _ in range(2):  # the second time there is nothing to migrate
        done = _run(newer, "kb", "publish", "--kb", str(small), "-o", team)
        assert done.returncode == 0, done.stderr
        assert _version(team) == str(NEXT)
        assert _ours(team) == before
        assert connect(team).rows("SELECT keeper FROM incident WHERE id = 'ours'") == [("all",)]
    listed = _run(newer, "explain", "ours", url=team)
    assert listed.returncode == 0, listed.stderr
    assert "Ours: ours" in listed.stdout

    # The older diagnose neither reads nor writes what it does not understand, and says so.
    for refused in (
        _run(ROOT / "src", "kb", "publish", "--kb", str(small), "-o", team),
        _run(ROOT / "src", "explain", url=team),
    ):
        assert refused.returncode == 2
        assert f"schema version {NEXT}" in refused.stderr
        assert "Traceback" not in refused.stderr
    assert _ours(team) == before


def test_without_publish_an_older_database_is_left_alone(team: str, newer: Path) -> None:
    before = _ours(team)
    script = (
        "import sys\nfrom diagnose.compiling.build import writing\nwith writing(sys.argv[1]): pass"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, team],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(newer)},
    )
    assert "`diagnose kb publish` migrates it" in done.stderr
    read = _run(newer, "explain", url=team)
    assert read.returncode == 2
    assert "run `diagnose kb publish`" in read.stderr
    assert (_version(team), _ours(team)) == (str(schema.VERSION), before)


def test_a_revision_that_fails_leaves_all_as_it_was(
    team: str, newer: Path, small: Path, tmp_path: Path
) -> None:
    broken = shutil.copytree(newer, tmp_path / "broken")
    with _revision(broken).open("a", encoding="utf-8") as file:
        file.write('    op.execute("DELETE FROM incident")\n    op.execute("no such statement")\n')
    before = _ours(team)
    done = _run(broken, "kb", "publish", "--kb", str(small), "-o", team)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert (_version(team), _ours(team)) == (str(schema.VERSION), before)
    with writing(team) as session:  # today's diagnose still writes it
        write_incidents(session, _own())


def test_a_version_that_there_is_no_way_from_is_refused(team: str, small: Path) -> None:
    with writing(team) as session:
        session.merge(schema.MetaRow(key="schema", value=str(OLDEST - 1)))
    done = _run(ROOT / "src", "kb", "publish", "--kb", str(small), "-o", team)
    assert done.returncode == 2
    assert f"schema version {OLDEST - 1}" in done.stderr
    assert "migrates" not in done.stderr


def test_the_revisions_make_what_the_schema_declares(tmp_path: Path, small: Path) -> None:
    """Who changes the schema is reminded of the revision."""
    migrated, declared = tmp_path / "migrated.sqlite", tmp_path / "declared.sqlite"
    engine = create_engine(f"sqlite:///{migrated}")
    with engine.begin() as connection:
        migrate(connection, VERSIONS, None)
    engine.dispose()
    build(small, declared)
    assert _tables(migrated) - {"alembic_version"} == _tables(declared)
    for table in _tables(declared):
        assert _columns(migrated, table) == _columns(declared, table)
    statement = (
        "SELECT sql FROM sqlite_master WHERE type = 'trigger' OR sql LIKE '%VIRTUAL%' ORDER BY 1"
    )
    assert connect(migrated).rows(statement) == connect(declared).rows(statement)
    assert connect(migrated).rows("SELECT version_num FROM alembic_version") == [
        (str(schema.VERSION),)
    ]


def _tables(path: Path) -> set[str]:
    return {
        name
        for (name,) in connect(path).rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    }


def _columns(path: Path, table: str) -> list[tuple[object, ...]]:
    """Name, place in the primary key and nullability; kinds of numbers are spelled by SQLAlchemy's version."""
    return connect(path).rows(
        f"SELECT name, \"notnull\", pk FROM pragma_table_info('{table}') ORDER BY 1"
    )
