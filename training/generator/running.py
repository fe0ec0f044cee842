"""Runs programs on simulated GPUs, in processes forked from this one, which has what they need."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from diagnose.simulation import run_script

from .model import Ran

LIMIT = 200
#: Where the traces say that the programs and the libraries were.
PROJECT, LIBRARIES = "/home/user/project", "/opt/conda/envs/train/lib/python3.11/site-packages"


def run(
    text: str,
    name: str,
    gpus: int,
    wording: str = "new",
    args: tuple[str, ...] = (),
    env: tuple[tuple[str, str], ...] = (),
) -> Ran:
    """What a program's text gives; its paths are told as `PROJECT` and `LIBRARIES`."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, f"{name}.py")
        program.write_text(text, encoding="utf-8")
        out, err = Path(folder, ".out"), Path(folder, ".err")
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _child(program, gpus, wording, args, dict(env), out, err)
        status = _wait(child)
        said = [p.read_text(errors="replace") if p.exists() else "" for p in (out, err)]
        told = [_told(one, Path(folder).resolve()) for one in said]
        return Ran(status, told[0][-20_000:], told[1][-60_000:])


def _child(
    program: Path,
    gpus: int,
    wording: str,
    args: tuple[str, ...],
    env: dict[str, str],
    out: Path,
    err: Path,
) -> None:
    """The rest of a forked process."""
    status = 1
    try:
        os.setsid()
        for stream, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(program.parent)
        os.environ.update(env)
        _seed()
        status = run_script(program.name, args, gpus=gpus, wording=wording)  # type: ignore[arg-type]
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(status)


def _seed() -> None:
    """Two runs of one program print the same."""
    import random

    import numpy
    import torch

    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)


def _wait(child: int) -> int:
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 124


def _told(text: str, folder: Path) -> str:
    """A text without the paths of this machine."""
    text = text.replace(str(folder), PROJECT)
    for path in sorted(filter(None, sys.path), key=len, reverse=True):
        if path.endswith("site-packages"):
            text = text.replace(path, LIBRARIES)
    return text.replace(os.__file__.rpartition("/")[0], LIBRARIES.rpartition("/")[0])
