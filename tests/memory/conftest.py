"""A store on SQLite, and one on a PostgreSQL server that is started for it; a clock that stands still."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from casebase import postgresql_server as server
from sqlalchemy import create_engine

from diagnose.casebase.store import Casebase
from diagnose.memory.redaction import Redacted, redactor
from diagnose.memory.schema import Base
from diagnose.memory.store import Store
from diagnose.model import Diagnosis
from diagnose.pipeline import diagnose

CASES = Path(__file__).parents[2] / "kb" / "cases"


class Clock:
    """Seconds since 1970; a test moves it."""

    def __init__(self) -> None:
        self.now = 1_793_700_000  # 3 Nov 2026

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    if os.environ.get("DIAGNOSE_REQUIRE_POSTGRESQL") != "1":
        pytest.importorskip("psycopg", reason="psycopg is not installed")
        if server.programs() is None or server.user() is None:
            pytest.skip("no PostgreSQL server is installed")
    with (
        tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder,
        server.running(Path(folder)) as url,
    ):
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The location of an empty store."""
    if request.param == "sqlite":
        yield str(tmp_path / "memory.sqlite")
        return
    url = request.getfixturevalue("postgresql")
    yield url
    engine = create_engine(url)
    Base.metadata.drop_all(engine)
    engine.dispose()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def redact(casebase: Casebase) -> Callable[[str], Redacted]:
    return redactor(casebase.redaction().rules)


@pytest.fixture
def store(where: str, redact: Callable[[str], Redacted], clock: Clock) -> Iterator[Store]:
    made = Store(where, redact, clock)
    yield made
    made.close()


def trace(case: str) -> str:
    """What an incident's program printed."""
    return (CASES / case / "trace.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def answered(casebase: Casebase) -> Callable[[str], Diagnosis]:
    """The answer to a text."""
    return lambda text: diagnose(text, casebase=casebase)
