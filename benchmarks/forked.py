"""Programs in processes of their own, forked from one that has imported what they need."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
import time
from pathlib import Path


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
