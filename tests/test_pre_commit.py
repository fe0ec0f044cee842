""".pre-commit-config.yaml, run by pre-commit itself: each hook stops what it is there to stop."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compiling.small import written

pytest.importorskip("pre_commit", reason="pre-commit is not installed")

ROOT = Path(__file__).parents[1]
CONFIG = ".pre-commit-config.yaml"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a little of the real one, whose .venv-test is the environment of this test."""
    for name in (CONFIG, "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    written(tmp_path / "kb")
    (tmp_path / ".venv-test").symlink_to(sys.prefix)
    (tmp_path / ".gitignore").write_text(".venv-test\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/tidy.py").write_text('"""Nothing to mend."""\n')
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    return tmp_path


def git(checkout: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=checkout, check=True)


def run(checkout: Path, hook: str) -> subprocess.CompletedProcess[str]:
    """What pre-commit says of all files; no address can be reached, should a hook want one."""
    git(checkout, "add", "--all")
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--all-files", hook],
        cwd=checkout,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PRE_COMMIT_HOME": str(checkout / ".git/pre-commit"),
            "PYTHONPATH": str(ROOT / "src"),
            "https_proxy": "http://127.0.0.1:9",
            "http_proxy": "http://127.0.0.1:9",
        },
    )


@pytest.mark.parametrize("hook", ["ruff-check", "ruff-format", "imports", "kb"])
def test_a_tidy_checkout_passes(checkout: Path, hook: str) -> None:
    done = run(checkout, hook)
    assert done.returncode == 0, done.stdout
    assert "Passed" in done.stdout


def test_lint_is_stopped(checkout: Path) -> None:
    (checkout / "src/tidy.py").write_text('"""Something to mend."""\n\nimport os\n')
    done = run(checkout, "ruff-check")
    assert done.returncode == 1
    assert "F401" in done.stdout


def test_format_is_mended_and_the_commit_stopped(checkout: Path) -> None:
    path = checkout / "src/tidy.py"
    path.write_text('"""Nothing to mend."""\nx   =   1\n')
    assert run(checkout, "ruff-format").returncode == 1
    assert path.read_text() == '"""Nothing to mend."""\n\nx = 1\n'


def test_a_mistake_in_kb_is_stopped(checkout: Path) -> None:
    beliefs = checkout / "kb/beliefs.toml"
    beliefs.write_text(
        beliefs.read_text(encoding="utf-8") + "\n[no-such-cause]\n", encoding="utf-8"
    )
    done = run(checkout, "kb")
    assert done.returncode == 1
    assert "beliefs.toml" in done.stdout
    assert "no-such-cause" in done.stdout


def test_nothing_is_fetched() -> None:
    text = (ROOT / CONFIG).read_text(encoding="utf-8")
    assert "://" not in text
    assert set(re.findall(r"repo: (\S+)", text)) == {"local"}
    assert set(re.findall(r"language: (\S+)", text)) == {"system"}
