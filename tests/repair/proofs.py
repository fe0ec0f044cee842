"""What is known of a patch of a program, as the tests ask it."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any


@cache
def _server(script: str) -> subprocess.Popen[str]:
    """A process that does one thing after the other, and ends with this one."""
    path, pipe = Path(__file__).parent / script, subprocess.PIPE
    made = subprocess.Popen([sys.executable, path], stdin=pipe, stdout=pipe, text=True)
    atexit.register(made.kill)
    return made


def told(script: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What the process of a script of this folder answers, both a line of JSON."""
    process = _server(script)
    assert process.stdin is not None and process.stdout is not None
    print(json.dumps(asked), file=process.stdin, flush=True)
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def proof(
    folder: Path,
    program: str,
    *edits: tuple[str, str],
    kind: str = "move-module",
    cause: str = "",
    stopgap: bool = False,
) -> tuple[str, dict[str, bool | None]]:
    """What is said of a program with some texts replaced; the edit stands where the first of them is."""
    (folder / "train.py").write_text(program)
    text = program
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    line = program[: program.index(edits[0][0])].count("\n") + 1
    asked = {
        "folder": str(folder),
        "script": "train.py",
        "edited": text,
        "line": line,
        "kind": kind,
        "cause": cause or "input-not-moved",
        "stopgap": stopgap,
    }
    found = told("prove.py", asked)
    assert "fault" not in found, found["fault"]
    return found["level"], found["guards"]
