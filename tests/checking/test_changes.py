"""``check --since``, and the action that runs it, step by step."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
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
        if all(HOLDS[condition](given) for condition in step["if"].split(" && ")):
            variables = {key: filled(value, given) for key, value in step["env"].items()}
            found.append((step["run"], variables))
    return found


#: What the action's steps ask for.
HOLDS: dict[str, Callable[[dict[str, str]], bool]] = {
    "inputs.log == ''": lambda given: not given["log"],
    "inputs.log != ''": lambda given: bool(given["log"]),
    "inputs.comment == 'true'": lambda given: given["comment"] == "true",
    "github.event.pull_request.number": lambda given: True,
}
GITHUB = {
    "github.event.pull_request.number": "7",
    "github.repository": "team/train",
    "github.token": "t",
}


def filled(value: str, given: dict[str, str]) -> str:
    """The value of a variable of a step, which is one expression."""
    name = value.removeprefix("${{ ").removesuffix(" }}")
    return GITHUB[name] if name in GITHUB else given[name.removeprefix("inputs.")]


#: A stand-in for GitHub's program: keeps the comments of the pull request in a file, and lists them by
#: what it is asked for with the real jq.
GH = """\
import json, os, subprocess, sys, pathlib
held = pathlib.Path(os.environ["RUNNER_TEMP"], "comments.json")
comments = json.loads(held.read_text()) if held.exists() else []
words = sys.argv[1:]
path = next(word for word in words if word.startswith("repos/"))
body = next((word.partition("=")[2] for word in words if word.startswith("body=")), None)
assert os.environ["GH_TOKEN"] == "t" and path.startswith("repos/team/train/issues/")
if "--jq" in words:
    query = words[words.index("--jq") + 1]
    subprocess.run(["jq", "-r", query], input=json.dumps(comments), text=True, check=True)
elif "PATCH" in words:
    (one,) = [one for one in comments if str(one["id"]) == path.rpartition("/")[2]]
    one["body"] = body
else:
    assert path.endswith("/7/comments")
    comments.append({"id": 10 + len(comments), "user": {"type": "Bot"}, "body": body})
held.write_text(json.dumps(comments))
"""


def walked(folder: Path, inputs: dict[str, str], base: str = "") -> tuple[int, str, str]:
    """The exit status of the action's last step, what it printed, and the job's page."""
    runner = folder.parent / "runner"
    bin = runner / "diagnose" / "bin"
    bin.mkdir(parents=True, exist_ok=True)
    source = Path(diagnose.__file__).parents[1]
    (bin / "diagnose").write_text(
        f'#!/bin/sh\nPYTHONPATH={source} exec {sys.executable} -m diagnose "$@"\n'
    )
    (bin / "gh").write_text(f"#!{sys.executable}\n{GH}")
    for program in bin.iterdir():
        program.chmod(0o755)
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


HOSTILE = """\
Traceback (most recent call last):
  File "/w/@team/<!-- diagnose -->/train.py", line 3, in step
    loss = model(x)  # @team ``` </details> <script>
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! @team $(touch ran) `touch ran`
"""


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_the_action_keeps_one_comment_and_quotes_the_log(checkout: Path) -> None:
    comments = checkout.parent / "runner" / "comments.json"
    comments.parent.mkdir()
    others = [
        {"id": 1, "user": {"type": "User"}, "body": "<!-- diagnose -->\nnot ours"},
        {"id": 2, "user": {"type": "Bot"}, "body": "coverage"},
    ]
    comments.write_text(json.dumps(others))
    (checkout / "train.log").write_text(HOSTILE)
    asked = {"log": "train.log", "comment": "true"}
    assert walked(checkout, asked)[0] == 0
    *first, hostile = json.loads(comments.read_text())
    assert first == others
    assert hostile["body"].startswith("<!-- diagnose -->\n### RuntimeError in ")
    prose = re.sub(r"(?ms)^(`{3,}).*?^\1$|`[^`\n]*`", "", hostile["body"].partition("\n")[2])
    assert not re.search(r"@\w|<(?!/?(?:details|summary)>)(?<!\\<)", prose)
    assert not (checkout / "ran").exists()
    shutil.copy(ROOT / "tests/traces/easyedit-memit-delta.txt", checkout / "train.log")
    walked(checkout, asked)
    *first, edited = json.loads(comments.read_text())
    assert (first, edited["id"]) == (others, hostile["id"])
    assert "cross-shard-op" in edited["body"]
    walked(checkout, asked | {"comment": "false", "log": "train.log"})
    assert len(json.loads(comments.read_text())) == 3
