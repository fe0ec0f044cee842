"""python repair.py: repairs scripts for the tests, on request.

A request is a line of JSON on standard input: a folder, and the name of a script in it; the answer a line on standard
output: status, what was printed (outcome, level and diff, as JSON), and errors. Runs are forked from a process that
has computed nothing, which pytest's has; torch is imported once for all requests.
"""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

from diagnose.processes import forked
from diagnose.repairing.model import Program
from diagnose.repairing.running.runner import Runner
from diagnose.repairing.running.warming import warm
from diagnose.repairing.searching import Limits, Search
from diagnose.repairing.workspace import Workspace

#: Seconds that one script may take.
LONGEST = 300


def repair(folder: Path, script: str) -> int:
    warm(folder / script)
    with tempfile.TemporaryDirectory() as home:
        runner = Runner(Program(folder, folder, script), Workspace(folder, Path(home)), 60)
        found = Search(runner, 2, Limits()).repair()
    level = found.proof.level if found.proof else ""
    print(json.dumps([found.outcome, level, found.diff]))
    return 0


def serve() -> None:
    warm(Path(__file__))
    for line in sys.stdin:
        folder, script = json.loads(line)
        (ended,) = forked([partial(repair, Path(folder), script)], LONGEST)
        print(json.dumps([ended.status, ended.output, ended.errors]), flush=True)


if __name__ == "__main__":
    serve()
