"""What is proposed for a program that fails in this process."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from forked import command

from diagnose import tracing
from diagnose.repair.synthesis.candidates import candidates
from diagnose.repair.workspace import Workspace
from diagnose.simulation import run_script


def added(diff: str) -> tuple[str, ...]:
    """The new lines of a diff."""
    rows = [row for row in diff.splitlines() if row[:1] == "+" and row[:3] != "+++"]
    return tuple(row[1:].strip() for row in rows)


def repaired(folder: Path, program: str) -> tuple[str, str, str]:
    """What `diagnose fix` makes of a program: outcome, level and diff."""
    (folder / "train.py").write_text(program)
    done = command(folder, "fix", "--format", "json", "train.py")
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    return found["outcome"], found["level"] or "", found["diff"]


def proposed(folder: Path, program: str) -> list[tuple[str, ...]]:
    """The new lines of the edits that a program's failure speaks for."""
    user, home = folder / "user", folder / "home"
    user.mkdir()
    (user / "train.py").write_text(program)
    found: list[tuple[str, ...]] = []
    workspace = Workspace(user, home)
    script = workspace.fresh({}) / "train.py"

    def failed(error: BaseException) -> None:
        found.extend(added(one.patch) for one in candidates(error, workspace)[0])

    run_script(script, gpus=2, beside=tracing.trace, failed=failed)
    torch.set_default_device(None)
    return found
