"""What is known of a patch of a program, as the tests ask it."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from functools import cache
from pathlib import Path


@cache
def prover() -> subprocess.Popen[str]:
    """A process that proves one script after the other, and ends with this one."""
    script = Path(__file__).parent / "prove.py"
    pipe = subprocess.PIPE
    made = subprocess.Popen([sys.executable, script], stdin=pipe, stdout=pipe, text=True)
    atexit.register(made.kill)
    return made


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
    process = prover()
    assert process.stdin is not None and process.stdout is not None
    print(json.dumps(asked), file=process.stdin, flush=True)
    told = json.loads(process.stdout.readline())
    assert "fault" not in told, told["fault"]
    return told["level"], told["guards"]
