"""python prove.py FOLDER SCRIPT EDITED [STOPGAP]: the proof of an edited script, as JSON; run by the tests.

Runs are forked from this process, which must not have computed anything; pytest's has.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from diagnose.repairing.model import Candidate, Program, Terms
from diagnose.repairing.proving import Reference
from diagnose.repairing.running import Runner
from diagnose.repairing.warming import warm
from diagnose.repairing.workspace import Workspace


def main(folder: Path, script: str, edited: Path, line: int, kind: str) -> None:
    warm(folder / script)
    with tempfile.TemporaryDirectory() as home:
        runner = Runner(Program(folder, folder, script), Workspace(folder, Path(home)), 60)
        texts = {script: edited.read_text()}
        ran = runner.run(texts, Terms(2))
        assert ran.passed, ran.errors
        edit = Candidate("input-not-moved", "", kind, "", script, line, "")
        proof = Reference(runner, 2).prove(texts, ran, [edit])
    print(json.dumps([proof.level, {guard.id: guard.holds for guard in proof.guards}]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
