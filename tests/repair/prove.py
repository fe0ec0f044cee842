"""python prove.py: proofs of edited scripts for the tests, a JSON object a line in, one out.

Runs are forked from this process, which must not have computed anything; pytest's has. It imports torch
once for all of them.
"""

from __future__ import annotations

import json
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from diagnose.repair.model import Candidate, Program, Terms
from diagnose.repair.runs.preload import warm
from diagnose.repair.runs.runner import Runner
from diagnose.repair.verification.proof import Reference
from diagnose.repair.workspace import Workspace


def proof(
    folder: Path, script: str, edited: str, line: int, kind: str, cause: str, stopgap: bool
) -> dict[str, Any]:
    """What is known of a script with another text: ``level`` and ``guards``."""
    warm(folder / script)
    with tempfile.TemporaryDirectory() as home:
        runner = Runner(Program(folder, folder, script), Workspace(folder, Path(home)), 60)
        texts = {script: edited}
        ran = runner.run(texts, Terms(2))
        assert ran.passed, ran.errors
        edit = Candidate(cause, "", kind, "", script, line, "", stopgap)
        found = Reference(runner, 2).prove(texts, ran, [edit])
    return {"level": found.level, "guards": {guard.id: guard.holds for guard in found.guards}}


def main() -> None:
    for row in sys.stdin:
        asked = json.loads(row)
        try:
            told = proof(Path(asked.pop("folder")), **asked)
        except Exception:
            told = {"fault": traceback.format_exc()}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
