"""Fixtures for all tests: the case base compiled from kb/ as it stands, and small reports."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from flask import Flask
from hypothesis import settings
from jinja2 import FileSystemBytecodeCache

from diagnose import bulkhead
from diagnose.casebase.store import Casebase, load
from diagnose.compiling.build import build

ROOT = Path(__file__).parents[1]

#: No example fails because the machine was busy: a hang is pytest-timeout's.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

#: What --renew may write: the golden files, and pages that show answers. Nothing else that git keeps.
RENEWED = ("tests/", "docs/", "README.md", "CONTRIBUTING.md", "SKILL.md", "llms.txt")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_TRUNC | os.O_APPEND


def _protect(renewed: tuple[str, ...]) -> None:
    """Refuses this process to write, remove or replace a file of the checkout that git keeps."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return  # not a checkout
    kept = {name for name in listed.stdout.split("\0") if not name.startswith(renewed)}
    paths = {str(ROOT / name) for name in kept}

    def look(event: str, args: tuple[object, ...]) -> None:
        if event == "open":
            changed = args[:1] if isinstance(args[2], int) and args[2] & _WRITES else ()
        elif event in ("os.rename", "os.remove", "os.truncate"):
            changed = args[:2]
        else:
            return
        for path in changed:
            if isinstance(path, str | os.PathLike) and os.path.abspath(path) in paths:  # noqa: PTH100
                raise PermissionError(f"a test would change {path}")

    sys.addaudithook(look)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="rewrite the golden files")


def pytest_configure(config: pytest.Config) -> None:
    """Golden files are written by the tree that they belong to, and by no other that is installed; no
    program's hook gives up an answer because the machine is busy.
    """
    config.option.diagnose = "off"  # of diagnose's own plugin: what fails here is diagnose itself
    os.environ["DIAGNOSE_HOOK_SECONDS"] = "600"
    os.environ["DIAGNOSE_STORE"] = "none"  # what somebody remembers on this machine is no matter
    _protect(RENEWED if config.getoption("--renew") else ())
    code = Path(bulkhead.__file__)
    if config.getoption("--renew") and not code.is_relative_to(ROOT):
        raise pytest.UsageError(f"--renew writes to {ROOT}, and diagnose comes from {code.parent}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """What was imported and collected is nobody's garbage: no test's collection goes through it."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def renew(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--renew"))


@pytest.fixture(scope="session")
def kb() -> Path:
    return ROOT / "kb"


@pytest.fixture(scope="session")
def once(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, Callable[[Path], object]], Path]:
    """The file of a name that the first worker to ask for it makes for all."""
    among = tmp_path_factory.getbasetemp()
    folder = among.parent if "PYTEST_XDIST_WORKER" in os.environ else among

    def made(name: str, make: Callable[[Path], object]) -> Path:
        path = folder / name
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                make(path)
        return path

    return made


@pytest.fixture(scope="session", autouse=True)
def casebase_path(kb: Path, once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """kb/ compiled afresh, unless $COMPILED is; child processes find it through the environment."""
    path = Path(os.environ.get("COMPILED") or once("casebase.sqlite", partial(build, kb)))
    os.environ["DIAGNOSE_CASEBASE"] = str(path)
    load.cache_clear()
    return path


@pytest.fixture(scope="session")
def few(kb: Path, once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """kb/ with few incidents, which is read and compiled sooner; nobody changes it."""

    def most(folder: str, names: list[str]) -> set[str]:
        return set(sorted(names)[3:]) if Path(folder).name == "cases" else set()

    return once("few", partial(shutil.copytree, kb, ignore=most))


@pytest.fixture(scope="session")
def few_compiled(few: Path, once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """The case base of `few`."""
    return once("few.sqlite", partial(build, few))


@pytest.fixture(scope="session", autouse=True)
def templates(once: Callable[[str, Callable[[Path], object]], Path]) -> None:
    """What Jinja compiles of a template serves the apps of all tests."""
    kept = FileSystemBytecodeCache(str(once("templates", Path.mkdir)))
    Flask.jinja_options = {**Flask.jinja_options, "bytecode_cache": kept}


@pytest.fixture(scope="module", autouse=True)
def no_loop() -> None:
    """No module leaves an event loop running: whether the next one can start its own would be chance."""
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()


@pytest.fixture(autouse=True)
def no_fault(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A fault that a bulkhead has kept from the answer fails the test, unless it is marked `faults`."""
    faults: list[str] = []

    def place(error: BaseException) -> str:
        faults.append(real(error))
        return faults[-1]

    real = bulkhead.place
    monkeypatch.setattr(bulkhead, "place", place)
    yield
    if request.node.get_closest_marker("faults") is None:
        assert faults == []


@pytest.fixture(scope="session")
def casebase(casebase_path: Path) -> Casebase:
    return load(casebase_path)
