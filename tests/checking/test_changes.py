"""``check --since``, and the action that runs it, step by step."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import diagnose
from diagnose.casebase.store import Casebase
from diagnose.checking.answering import Wanted, answer
from diagnose.checking.changes import ChangeError

ROOT = Path(__file__).parents[2]
OLD = """\
import torch

model = torch.nn.Linear(2, 2).to("cuda")
print(model(torch.ones(1, 2)))
"""
NEW = OLD + "print(model(torch.zeros(1, 2)))\n"


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]
    ran = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return ran.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, casebase: Casebase) -> Path:
    """A file with one finding, to which a second is added."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "train.py").write_text(OLD)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "old")
    (folder / "train.py").write_text(NEW)
    monkeypatch.chdir(folder)
    return folder


def lines(capsys: pytest.CaptureFixture[str], since: str | None) -> list[tuple[str, int]]:
    """The file and line of each finding."""
    answer(["."], Wanted(form="json", since=since))
    found = json.loads(capsys.readouterr().out)["findings"]
    return [(one["file"], one["line"]) for one in found]


def test_only_changed_lines(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lines(capsys, None) == [("train.py", 4), ("train.py", 5)]
    assert lines(capsys, "HEAD") == [("train.py", 5)]
    git(checkout, "commit", "-qam", "new")
    assert lines(capsys, "HEAD") == []
    assert lines(capsys, "HEAD~1") == [("train.py", 5)]


def test_all_of_a_new_file(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "a [new] 文件.py").write_text(OLD)
    assert lines(capsys, "HEAD") == [("a [new] 文件.py", 4), ("train.py", 5)]


def test_where_the_value_meets_the_other_device(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line that is reported stays, the one that uses it comes."""
    (checkout / "train.py").write_text(
        OLD.replace("print(model(torch.ones(1, 2)))", "x = torch.ones(1, 2)")
    )
    git(checkout, "commit", "-qam", "half")
    (checkout / "train.py").write_text(
        OLD.replace("print(model(torch.ones(1, 2)))", "x = torch.ones(1, 2)\nprint(model(x))")
    )
    assert len(lines(capsys, "HEAD")) == 1


@pytest.mark.parametrize("base", ["missing", "--output=stolen", "HEAD:train.py"])
def test_no_such_commit(checkout: Path, base: str) -> None:
    with pytest.raises(ChangeError, match="what changed"):
        answer(["."], Wanted(since=base))
    assert not (checkout / "stolen").exists()


def test_nothing_of_the_repository_is_run(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(checkout, "config", "core.fsmonitor", "touch ran; false")
    git(checkout, "config", "diff.external", "touch ran; false")
    assert lines(capsys, "HEAD") == [("train.py", 5)]
    assert not (checkout / "ran").exists()


def steps(inputs: dict[str, str], base: str) -> list[tuple[str, dict[str, str]]]:
    """The scripts of the action that run with these inputs, each with its variables, but the installation."""
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    given = {name: one["default"] for name, one in action["inputs"].items()} | inputs
    given["base"] = given["base"].replace("${{ github.event.pull_request.base.sha }}", base)
    found = []
    for step in action["runs"]["steps"][1:]:
        assert "${{" not in step["run"]  # what a stranger names must not be a script
        if bool(given["log"]) == (step["if"] == "inputs.log != ''"):
            variables = {
                key: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
                for key, value in step["env"].items()
            }
            found.append((step["run"], variables))
    return found


def walked(folder: Path, inputs: dict[str, str], base: str = "") -> tuple[int, str, str]:
    """The exit status of the action's last step, what it printed, and the job's page."""
    runner = folder.parent / "runner"
    bin = runner / "diagnose" / "bin"
    bin.mkdir(parents=True)
    source = Path(diagnose.__file__).parents[1]
    (bin / "diagnose").write_text(
        f'#!/bin/sh\nPYTHONPATH={source} exec {sys.executable} -m diagnose "$@"\n'
    )
    (bin / "diagnose").chmod(0o755)
    page = runner / "page.md"
    status, printed = 0, ""
    for script, variables in steps(inputs, base):
        ran = subprocess.run(
            [
                shutil.which("bash") or "bash",
                "--noprofile",
                "--norc",
                "-eo",
                "pipefail",
                "-c",
                script,
            ],
            cwd=folder,
            env={
                **os.environ,
                "RUNNER_TEMP": str(runner),
                "GITHUB_STEP_SUMMARY": str(page),
                **variables,
            },
            capture_output=True,
            text=True,
        )
        status, printed = ran.returncode, printed + ran.stdout
    return status, printed, page.read_text() if page.exists() else ""


def test_the_action_checks_what_changed(checkout: Path) -> None:
    base = git(checkout, "rev-parse", "HEAD")
    git(checkout, "commit", "-qam", "new")
    status, printed, _ = walked(checkout, {}, base)
    assert status == 1
    (line,) = printed.splitlines()
    assert line.startswith("::warning file=train.py,line=5,")
    (run,) = json.loads((checkout / "diagnose.sarif").read_text())["runs"]
    assert len(run["results"]) == 1


def test_the_action_explains_a_log(checkout: Path) -> None:
    shutil.copy(ROOT / "tests/traces/easyedit-memit-delta.txt", checkout / "train.log")
    status, printed, page = walked(checkout, {"log": "train.log"})
    assert status == 0
    assert printed.startswith("::error file=")
    assert "cross-shard-op" in page
