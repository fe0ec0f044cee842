"""What is known of a patch of a program, as the tests ask it."""

from __future__ import annotations

import json
from pathlib import Path

from forked import printed


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
    cause = cause or "input-not-moved"
    given = {"edited": text, "line": line, "kind": kind, "cause": cause, "stopgap": stopgap}
    found = json.loads(printed(folder, "proof", **given))
    return found["level"], found["guards"]
