"""A checkout whose kb/ is newer than its compiled case base says so; nothing else does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TRACE = (ROOT / "tests/traces/easyedit-memit-delta.txt").read_bytes()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, few: Path, few_compiled: Path) -> Path:
    """A checkout with a compiled case base."""
    checkout = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "src", checkout / "src", ignore=shutil.ignore_patterns("*.sqlite"))
    shutil.copytree(few, checkout / "kb")
    shutil.copyfile(few_compiled, checkout / "src/diagnose/casebase.sqlite")
    return checkout


@pytest.fixture
def checkout(made: Path, tmp_path: Path) -> Path:
    """One that a test may change; times of change are those of the original."""
    return shutil.copytree(made, tmp_path / "checkout")


def _run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DIAGNOSE_")}
    return subprocess.run(
        [sys.executable, "-m", "diagnose", *arguments],
        input=TRACE,
        capture_output=True,
        cwd=checkout,
        env={**environment, "PYTHONPATH": str(checkout / "src")},
    )


def _edit(checkout: Path) -> None:
    with (checkout / "kb/facts.toml").open("a", encoding="utf-8") as file:
        file.write("\n# edited\n")


def _add(checkout: Path) -> None:
    shutil.copytree(next((ROOT / "kb/cases").iterdir()), checkout / "kb/cases/one-more")


def _remove(checkout: Path) -> None:
    (next((checkout / "kb/cases").glob("*/trace.txt"))).unlink()


@pytest.mark.parametrize("change", [_edit, _add, _remove])
def test_a_change_is_told_below_the_same_answer_until_it_is_compiled(
    checkout: Path, change: Callable[[Path], None]
) -> None:
    before = _run(checkout)
    assert before.stderr == b""
    change(checkout)
    after = _run(checkout)
    assert (after.returncode, after.stdout) == (before.returncode, before.stdout)
    assert after.stderr.decode().count("\n") == 1
    assert "diagnose kb build" in after.stderr.decode()
    if change is _edit:
        done = _run(checkout, "kb", "build")
        assert (done.returncode, done.stderr) == (0, b"")
        assert _run(checkout).stderr == b""


def test_files_written_anew_with_the_same_contents_are_no_change(checkout: Path) -> None:
    compiled = checkout / "src/diagnose/casebase.sqlite"
    for path in (checkout / "kb").rglob("*.toml"):
        path.touch()
    later = (checkout / "kb/facts.toml").stat().st_mtime_ns
    assert compiled.stat().st_mtime_ns < later
    assert _run(checkout).stderr == b""
    assert compiled.stat().st_mtime_ns >= later  # the contents are not compared a second time


def test_of_a_case_base_that_was_chosen_nothing_is_said(checkout: Path) -> None:
    _edit(checkout)
    compiled = checkout / "src/diagnose/casebase.sqlite"
    done = subprocess.run(
        [sys.executable, "-m", "diagnose"],
        input=TRACE,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(checkout / "src"), "DIAGNOSE_CASEBASE": str(compiled)},
    )
    assert done.stderr == b""


def test_an_installed_package_has_no_kb_to_compare(checkout: Path) -> None:
    shutil.rmtree(checkout / "kb")
    done = _run(checkout)
    assert (done.returncode, done.stderr) == (0, b"")
