"""python search.py FOLDER SCRIPT PATCH LINE: repairs a script, trying a patch first; prints the diff; run by
the tests.

Runs are forked from this process, which must not have computed anything; pytest's has.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from diagnose.repair.model import Candidate, Program
from diagnose.repair.runs.preload import warm
from diagnose.repair.runs.runner import Runner
from diagnose.repair.search import Limits, Search
from diagnose.repair.workspace import Workspace


def main(folder: Path, script: str, patch: Path, line: int) -> None:
    warm(folder / script)
    first = Candidate(
        "created-without-device", "", "move-tensor-at-line", "", script, line, patch.read_text()
    )
    with tempfile.TemporaryDirectory() as home:
        runner = Runner(Program(folder, folder, script), Workspace(folder, Path(home)), 60)
        repair = Search(runner, 2, Limits(), alternatives=True).repair([first])
    print(repair.diff)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
