"""Runs programs on simulated GPUs, in processes forked from this one, which has what they need."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import forked

from .model import Ran

LIMIT = 200
#: Where the traces say that the programs and the libraries were.
PROJECT, LIBRARIES = "/home/user/project", "/opt/conda/envs/train/lib/python3.11/site-packages"


def run(
    text: str,
    name: str,
    gpus: int,
    wording: Literal["new", "old"] = "new",
    args: tuple[str, ...] = (),
    env: tuple[tuple[str, str], ...] = (),
) -> Ran:
    """What a program's text gives; its paths are told as `PROJECT` and `LIBRARIES`."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, f"{name}.py")
        program.write_text(text, encoding="utf-8")
        status, *said = forked.script(
            program, LIMIT, gpus=gpus, wording=wording, args=args, env=dict(env)
        )
        told = [_told(one, Path(folder).resolve()) for one in said]
        return Ran(status, told[0][-20_000:], told[1][-60_000:])


def _told(text: str, folder: Path) -> str:
    """A text without the paths of this machine."""
    text = text.replace(str(folder), PROJECT)
    for path in sorted(filter(None, sys.path), key=len, reverse=True):
        if path.endswith("site-packages"):
            text = text.replace(path, LIBRARIES)
    return text.replace(os.__file__.rpartition("/")[0], LIBRARIES.rpartition("/")[0])
