"""Runs programs on simulated GPUs, in processes forked from this one, which has what they need."""

from __future__ import annotations

import gc
import importlib
import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import forked

from diagnose.preload import warm

from .model import Ran

Wording = Literal["new", "old"]
LIMIT = 200
#: Where the traces say that the programs and the libraries were.
PROJECT, LIBRARIES = "/home/user/project", "/opt/conda/envs/train/lib/python3.11/site-packages"


def run(
    text: str,
    name: str,
    gpus: int,
    wording: Wording = "new",
    args: tuple[str, ...] = (),
    env: tuple[tuple[str, str], ...] = (),
) -> Ran:
    """What a program's text gives; its paths are told as `PROJECT` and `LIBRARIES`."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, f"{name}.py")
        program.write_text(text, encoding="utf-8")
        _prepare(program)
        status, *said = forked.script(
            program, LIMIT, gpus=gpus, wording=wording, args=args, env=dict(env)
        )
        said = [one.replace(str(Path(folder).resolve()), PROJECT) for one in said]
        return Ran(status, told(said[0])[-20_000:], told(said[1])[-60_000:])


def _prepare(program: Path) -> None:
    """Imports here what the program needs, so that its process has it already.

    The first optimizer imports torch._dynamo, a second or more in every process that has not got it. What
    is frozen here is neither visited nor copied when a process collects its garbage.
    """
    importlib.import_module("torch._dynamo")
    warm(program)
    _renew_streams()
    gc.freeze()


def _renew_streams() -> None:
    """Lets handlers of libraries that were imported in silence print to what a program's process has."""
    known = [logging.getLogger(name) for name in logging.root.manager.loggerDict]
    for handler in {one for logger in (logging.root, *known) for one in logger.handlers}:
        if type(handler) is logging.StreamHandler:
            handler.stream = sys.stderr  # setStream would flush the one that is closed


def told(text: str) -> str:
    """A text with `LIBRARIES` for the paths of this machine."""
    for path in sorted(filter(None, sys.path), key=len, reverse=True):
        if path.endswith("site-packages"):
            text = text.replace(path, LIBRARIES)
    return text.replace(os.__file__.rpartition("/")[0], LIBRARIES.rpartition("/")[0])
