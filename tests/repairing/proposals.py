"""What is proposed for a program that fails in this process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import torch

from diagnose import tracing
from diagnose.repairing.proposing.candidates import candidates
from diagnose.repairing.workspace import Workspace
from diagnose.simulation import run_script


def added(diff: str) -> tuple[str, ...]:
    """The new lines of a diff."""
    rows = [row for row in diff.splitlines() if row[:1] == "+" and row[:3] != "+++"]
    return tuple(row[1:].strip() for row in rows)


def repaired(folder: Path, program: str) -> tuple[str, str, str]:
    """What a process of its own makes of a program: outcome, level and diff."""
    (folder / "train.py").write_text(program)
    command = [sys.executable, Path(__file__).parent / "repair.py", folder, "train.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    outcome, level, diff = json.loads(done.stdout)["train.py"]
    return outcome, level, diff


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
