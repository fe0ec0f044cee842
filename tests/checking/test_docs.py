"""The hook is one that pre-commit takes."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import yaml
from checking.test_command import check

ROOT = Path(__file__).parents[2]
HOOKS = ROOT / ".pre-commit-hooks.yaml"


def test_the_hook_is_one(project: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-manifest", HOOKS], check=True, cwd=ROOT
    )
    (hook,) = yaml.safe_load(HOOKS.read_text())
    program, command = shlex.split(hook["entry"])
    assert program == "diagnose"
    run = subprocess.run(
        [sys.executable, "-m", program, command, "--fix", "model/mask.py", "train.py"],
        cwd=project, capture_output=True, timeout=60,
    )  # fmt: skip
    assert run.returncode == 0
    assert check("model/mask.py", cwd=project).returncode == 0
