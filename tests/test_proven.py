"""Real mistakes of public repositories: a small program of the same shape fails on simulated GPUs, and runs there
after the first edit of the answer to its traceback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import forked
import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytest.importorskip("torch")
HERE = Path(__file__).with_name("proven")
ORIGINS = tomllib.loads((HERE / "origins.toml").read_text(encoding="utf-8"))
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}


def simulated(project: Path) -> subprocess.CompletedProcess[str]:
    return forked.simulation(project, "--gpus", "2", "--wording", "old", "main.py")


def answer(trace: str, project: Path) -> dict[str, Any]:
    """The answer to a traceback of somebody else's machine, with the files of the program."""
    (project.parent / "trace.txt").write_text(trace.replace(str(project), "/home/user/project"))
    words = ("--source", str(project), "--format", "json", "trace.txt")
    answered: dict[str, Any] = json.loads(forked.command(project.parent, *words).stdout)
    return answered


@pytest.fixture(scope="module", params=sorted(ORIGINS))
def failed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A program's name, its folder, and what it printed when it failed."""
    project = tmp_path_factory.mktemp(request.param) / "project"
    shutil.copytree(HERE / request.param, project)
    run = simulated(project)
    assert run.returncode == 1
    return request.param, project, run.stderr


def test_the_program_fails_as_its_repository_did(failed: tuple[str, Path, str]) -> None:
    name, _, trace = failed
    assert trace.rstrip().endswith(ORIGINS[name]["error"])


def test_the_first_edit_makes_the_program_run(
    failed: tuple[str, Path, str], request: pytest.FixtureRequest
) -> None:
    name, project, trace = failed
    if wrong := ORIGINS[name].get("wrong"):
        request.applymarker(pytest.mark.xfail(reason=wrong, raises=AssertionError, strict=True))
    patch = answer(trace, project)["causes"][0]["fixes"][0]["patch"]
    assert patch, "the first fix is no edit of the program"
    (edited,) = project.rglob(patch.split()[1].removeprefix("a/"))
    subprocess.run(["git", "apply"], cwd=edited.parent, input=patch, text=True, check=True)
    run = simulated(project)
    assert run.returncode == 0, run.stderr
    plain = forked.ended(project, "python", NO_GPU, words=["main.py"])
    assert plain.returncode == 0, plain.stderr
