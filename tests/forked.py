"""What tests run in a process that has imported torch already: server.py's works."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


@cache
def _server() -> subprocess.Popen[str]:
    """A process that does one thing after the other, and ends with this one."""
    path, pipe = Path(__file__).with_name("server.py"), subprocess.PIPE
    made = subprocess.Popen([sys.executable, path], stdin=pipe, stdout=pipe, text=True)
    atexit.register(made.kill)
    return made


def ended(
    folder: Path, work: str, variables: Mapping[str, str] | None = None, **given: Any
) -> subprocess.CompletedProcess[str]:
    """A work of server.py, done in a folder with more variables of the environment."""
    process = _server()
    assert process.stdin is not None and process.stdout is not None
    asked = {"folder": str(folder), "work": work, "given": given, "variables": variables or {}}
    print(json.dumps(asked), file=process.stdin, flush=True)
    done = json.loads(process.stdout.readline())
    return subprocess.CompletedProcess(work, done["status"], done["output"], done["errors"])


def printed(folder: Path, work: str, **given: Any) -> str:
    """What a work prints that ends well."""
    done = ended(folder, work, **given)
    assert done.returncode == 0, done.stderr
    return done.stdout


def command(folder: Path, *words: str, **given: Any) -> subprocess.CompletedProcess[str]:
    """A command of diagnose's."""
    return ended(folder, "command", words=words, **given)


def simulation(folder: Path, *words: str, **given: Any) -> subprocess.CompletedProcess[str]:
    """What `python -m diagnose.simulation` does."""
    return ended(folder, "simulation", words=words, **given)
