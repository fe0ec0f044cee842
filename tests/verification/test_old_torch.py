"""On a torch that is too old for simulated GPUs there is a sentence, and nothing of it is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import diagnose
from diagnose.simulation import LOWEST_TORCH

SOURCE = Path(diagnose.__file__).parents[1]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "diagnose", "run", "--simulate", "{script}"],
        ["-m", "diagnose", "run", "--simulate", "--verify=input-not-moved"],
        ["-m", "diagnose.simulation", "{script}"],
    ],
    ids=["simulate", "verify", "module"],
)
@pytest.mark.parametrize("version", ["2.0.1", "1.13.1+cu117", "2.12.9"])
def test_it_says_which_version_is_needed(tmp_path: Path, command: list[str], version: str) -> None:
    info = tmp_path / f"torch-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
    (tmp_path / "torch.py").write_text("raise SystemExit('torch was loaded')\n")
    script = tmp_path / "train.py"
    script.write_text("print('ran')\n")
    done = subprocess.run(
        [sys.executable, *(part.format(script=script) for part in command)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(SOURCE)])},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"simulated GPUs need torch 2.13 or later, and this is torch {version}" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_extra_asks_for_what_the_simulator_needs() -> None:
    bound = ".".join(map(str, LOWEST_TORCH))
    assert f'torch = ["torch>={bound}"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
