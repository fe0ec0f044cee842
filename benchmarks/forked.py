"""Programs in processes of their own, forked from one that has imported what they need."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from diagnose.simulation import run_script


def parser(about: str) -> argparse.ArgumentParser:
    """The options of a script that runs the programs of a folder; ``about`` is its docstring."""
    made = argparse.ArgumentParser(description=about.splitlines()[0])
    made.add_argument("folder", type=Path)
    made.add_argument("--warm", default="torch", help="modules to import before programs run")
    made.add_argument("--every", type=int, default=1, help="only each so many-th program")
    made.add_argument("--from", dest="first", type=int, default=0, help="beginning with this one")
    made.add_argument("--only", default="", help="programs whose names contain this")
    made.add_argument("-v", "--verbose", action="store_true", help="tell each that is not right")
    return made


def warm(modules: str) -> None:
    """Imports modules, with commas between their names; one that cannot be imported is told."""
    os.environ.update({"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"})
    for module in filter(None, modules.split(",")):
        try:
            importlib.import_module(module)
        except Exception as error:
            print(f"{module} is not imported: {error}", file=sys.stderr)


def link_data(source: Path, folder: str) -> None:
    """Links in a folder what lies beside programs and is neither a program nor a report of one."""
    for data in source.iterdir():
        if data.suffix not in (".py", ".txt", ".json"):
            Path(folder, data.name).symlink_to(data.resolve())


def script(
    program: Path,
    seconds: float,
    *,
    gpus: int,
    wording: Literal["new", "old"] = "new",
    args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> tuple[int, str, str]:
    """Runs a program in its folder on simulated GPUs, always with the same random numbers; its exit status
    (124 where it took too long) and what it printed on both streams."""
    out, err = program.with_name(".out"), program.with_name(".err")
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setsid()
            for stream, path in ((1, out), (2, err)):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.chdir(program.parent)
            os.environ.update(env or {})
            _seed()
            status = run_script(program.name, list(args), gpus=gpus, wording=wording)
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(status)
    status = wait(child, seconds)
    said = [path.read_text(errors="replace") if path.exists() else "" for path in (out, err)]
    return status, said[0], said[1]


def _seed() -> None:
    """Two runs of one program print the same."""
    import random

    import numpy
    import torch

    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)


def wait(child: int, seconds: float) -> int:
    """The exit status of a child, 124 where it took too long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 124
