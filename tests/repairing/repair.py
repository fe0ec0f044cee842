"""python repair.py FOLDER SCRIPT...: repairs scripts, each on its own; prints of each its outcome, its level
and its diff, as JSON; run by the tests.

Runs are forked from this process, which must not have computed anything; pytest's has.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from diagnose.repairing.model import Program
from diagnose.repairing.running.runner import Runner
from diagnose.repairing.running.warming import warm
from diagnose.repairing.searching import Limits, Search
from diagnose.repairing.workspace import Workspace


def main(folder: Path, scripts: list[str]) -> None:
    told = {}
    for script in scripts:
        warm(folder / script)
        with tempfile.TemporaryDirectory() as home:
            runner = Runner(Program(folder, folder, script), Workspace(folder, Path(home)), 60)
            repair = Search(runner, 2, Limits()).repair()
        level = repair.proof.level if repair.proof else ""
        told[script] = [repair.outcome, level, repair.diff]
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
