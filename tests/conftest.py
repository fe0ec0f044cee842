"""Fixtures for all tests: the case base compiled from kb/ as it stands, and small reports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from diagnose.casebase.build import build
from diagnose.casebase.store import Casebase, load

ROOT = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="rewrite the golden files")


@pytest.fixture
def renew(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--renew"))


@pytest.fixture(scope="session")
def kb() -> Path:
    return ROOT / "kb"


@pytest.fixture(scope="session", autouse=True)
def casebase_path(kb: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """kb/ compiled afresh; child processes find it through the environment."""
    path = tmp_path_factory.mktemp("casebase") / "casebase.sqlite"
    build(kb, path)
    os.environ["DIAGNOSE_CASEBASE"] = str(path)
    load.cache_clear()
    return path


@pytest.fixture(scope="session")
def casebase(casebase_path: Path) -> Casebase:
    return load(casebase_path)
