"""Programs in processes of their own, forked from one that has imported what they need."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import time
from pathlib import Path


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
