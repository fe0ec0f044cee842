"""Another project is called ``diagnose`` on PyPI: where it is installed beside ours, one line says so."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import diagnose
from diagnose.installation import needs, overwritten

TRACE = (Path(__file__).parent / "traces/easyedit-memit-delta.txt").read_bytes()


def test_the_other_project_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "diagnose-5.0.1.dist-info").mkdir()
    (tmp_path / "diagnose_tools-1.0.dist-info").mkdir()
    sentence = overwritten(tmp_path) or ""
    assert "diagnose 5.0.1" in sentence
    assert "pip uninstall diagnose" in sentence


def test_our_own_distribution_is_no_other(tmp_path: Path) -> None:
    (tmp_path / "torch_diagnose-0.1.0.dist-info").mkdir()
    assert overwritten(tmp_path) is None


def test_an_answer_is_given_and_the_notice_follows_it(tmp_path: Path) -> None:
    package = Path(diagnose.__file__).parent
    shutil.copytree(package, tmp_path / "diagnose", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "diagnose-5.0.1.dist-info").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "diagnose"],
        input=TRACE,
        capture_output=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
    )
    assert done.returncode == 0
    assert b"Do" in done.stdout
    assert done.stderr.count(b"diagnose 5.0.1") == 1


def test_an_extra_is_asked_for_by_our_own_name() -> None:
    assert needs("pydantic", "authoring").endswith("pip install 'torch-diagnose[authoring]'")
